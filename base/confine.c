/* Landlock, capabilities, descriptors; the order is what matters: a step may
 * need what a later one takes away. */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine_priv.h"

/* --- Landlock ------------------------------------------------------------ */

/* Of newer kernels than the headers may be. */
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define NET_TCP 3ULL      /* bind, connect */
#define SCOPE_OTHERS 3ULL /* abstract sockets, signals */

enum {
    ABI_REFER = 2,
    ABI_TRUNCATE = 3,
    ABI_TCP = 4,
    ABI_IOCTL = 5,
    ABI_SCOPE = 6
};

/* As the newest of these kernels has it; older ones take zeros they do not
 * know. */
typedef struct {
    uint64_t fs, net, scoped;
} ruleset;

/* Of a folder; a file has those in FILE_RIGHTS alone. */
#define FS_READ                                                  \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | \
     LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_WRITE                                                     \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |    \
     LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |  \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REFER | FS_TRUNCATE)
#define FS_DEVICE (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE)
#define FILE_RIGHTS \
    (FS_DEVICE | LANDLOCK_ACCESS_FS_EXECUTE | FS_TRUNCATE | FS_IOCTL_DEV)

/* What programs need, clang for one. Not all of /etc, /home, /root, /var: what
 * the process can read it can tell whoever it serves. Other processes' memory
 * and environments in /proc are not its own to read under Landlock. */
static const char *const system_paths[] = {"/usr",
                                           "/bin",
                                           "/sbin",
                                           "/lib",
                                           "/lib32",
                                           "/lib64",
                                           "/opt",
                                           "/nix/store",
                                           "/gnu/store",
                                           "/etc/ld.so.cache",
                                           "/etc/ld.so.preload",
                                           "/etc/alternatives",
                                           "/etc/localtime",
                                           "/etc/passwd",
                                           "/etc/nsswitch.conf",
                                           "/proc",
                                           "/sys/devices/system",
                                           "/dev/urandom",
                                           "/dev/random",
                                           "/dev/zero"};
enum { N_SYSTEM = sizeof system_paths / sizeof *system_paths };

static int landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
                       LANDLOCK_CREATE_RULESET_VERSION);

    return abi > 0 ? (int)abi : 0;
}

static ruleset handled(int abi)
{
    ruleset r = {.fs = LANDLOCK_ACCESS_FS_REFER - 1};

    if (abi >= ABI_REFER)
        r.fs |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= ABI_TRUNCATE)
        r.fs |= FS_TRUNCATE;
    if (abi >= ABI_TCP)
        r.net = NET_TCP;
    if (abi >= ABI_IOCTL)
        r.fs |= FS_IOCTL_DEV;
    if (abi >= ABI_SCOPE)
        r.scoped = SCOPE_OTHERS;
    return r;
}

/* missing_is_fine: else it is an error that it cannot be opened. */
static vpu_status allow(int rules, const char *path, uint64_t rights,
                        bool missing_is_fine, vpu_error *err)
{
    struct landlock_path_beneath_attr rule = {
        .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat sb;
    int why = 0;

    if (rule.parent_fd < 0)
        return missing_is_fine
                   ? VPU_OK
                   : err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
    rule.allowed_access = rights;
    if (!fstat(rule.parent_fd, &sb) && !S_ISDIR(sb.st_mode))
        rule.allowed_access &= FILE_RIGHTS;
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule,
                0))
        why = errno;
    close(rule.parent_fd);
    return why ? err_set(err, VPU_ERR_IO, "%s: Landlock takes no rule: %s",
                         path, strerror(why))
               : VPU_OK;
}

static vpu_status allow_all(int rules, const confine_config *c, uint64_t known,
                            vpu_error *err)
{
    vpu_status st =
        allow(rules, "/dev/null", known & (FS_DEVICE | FS_TRUNCATE), true, err);

    for (size_t i = 0; i < N_SYSTEM && !st; i++)
        st = allow(rules, system_paths[i], known & FS_READ, true, err);
    for (size_t i = 0; i < c->n_read && !st; i++)
        st = allow(rules, c->read[i], known & FS_READ, true, err);
    for (size_t i = 0; i < c->n_write && !st; i++)
        st = allow(rules, c->write[i], known & FS_WRITE, false, err);
    return st;
}

static vpu_status restrict_files(const confine_config *c, int abi,
                                 vpu_error *err)
{
    ruleset attr = handled(abi);
    int rules =
        (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    vpu_status st;

    if (rules < 0)
        return err_set(err, VPU_ERR_IO, "Landlock, ABI %d, takes no rules: %s",
                       abi, strerror(errno));
    st = allow_all(rules, c, attr.fs, err);
    if (!st && syscall(SYS_landlock_restrict_self, rules, 0))
        st = err_set(err, VPU_ERR_IO, "Landlock refuses: %s", strerror(errno));
    close(rules);
    return st;
}

/* --- rights, limits, descriptors ----------------------------------------- */

/* Also those that a program of root's would have again: what is not in the
 * bounding set is gone. Without CAP_SETPCAP there is nothing to take from it.
 */
static vpu_status drop_capabilities(vpu_error *err)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

    if (!geteuid())
        setgroups(0, NULL); /* fails without the right to: then they stay */
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
        prctl(PR_CAPBSET_DROP, cap);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &head, none))
        return err_set(err, VPU_ERR_IO, "capabilities stay: %s",
                       strerror(errno));
    return VPU_OK;
}

enum { MAX_FILES = 1 << 20 }; /* fs.nr_open, unless somebody changed it */

/* From first to last, both included. */
static void close_between(unsigned first, unsigned last)
{
    if (first > last || !close_range(first, last, 0))
        return;
    /* A kernel before 5.9: as many as it lets a process have. */
    if (last >= MAX_FILES)
        last = MAX_FILES - 1;
    for (unsigned fd = first; fd <= last; fd++)
        close((int)fd);
}

static void close_others(const confine_config *c)
{
    unsigned from = 3;

    for (;;) {
        unsigned next = UINT32_MAX;

        for (size_t i = 0; i < c->n_keep; i++)
            if (c->keep[i] >= (int)from && (unsigned)c->keep[i] < next)
                next = (unsigned)c->keep[i];
        close_between(from, next == UINT32_MAX ? next : next - 1);
        if (next == UINT32_MAX)
            return;
        from = next + 1;
    }
}

/* --- the whole ----------------------------------------------------------- */

void confine_probe(confine_report *r)
{
    *r = (confine_report){.landlock = landlock_abi(),
                          .seccomp = confine_can_filter()};
    if (!r->landlock)
        strcat(r->missing, "files and other processes (no Landlock)");
    else if (r->landlock < ABI_SCOPE)
        snprintf(r->missing, sizeof r->missing,
                 "signals to other processes of this user (Landlock ABI %d, %d "
                 "has it)",
                 r->landlock, ABI_SCOPE);
    if (!r->seccomp)
        strcat(strcat(r->missing, *r->missing ? ", " : ""),
               "the network and other system calls (no seccomp filter)");
}

vpu_status confine_self(const confine_config *c, confine_report *r,
                        vpu_error *err)
{
    const struct rlimit none = {0, 0};
    vpu_status st = VPU_OK;

    confine_probe(r);
    close_others(c);
    if (setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return err_set(err, VPU_ERR_IO, "rights cannot be given up: %s",
                       strerror(errno));
    if (r->landlock)
        st = restrict_files(c, r->landlock, err);
    if (!st)
        st = drop_capabilities(err);
    if (!st && r->seccomp)
        st = confine_filter(err);
    return st;
}
