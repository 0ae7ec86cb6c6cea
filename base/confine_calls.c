/* The filter of system calls: a list of what is refused. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine_priv.h"

#if defined(__x86_64__)
#define HAVE_FILTER 1
#define ARCH AUDIT_ARCH_X86_64
#define CONFINE_CALL(name, x86_64, aarch64, why) x86_64,
#elif defined(__aarch64__)
#define HAVE_FILTER 1
#define ARCH AUDIT_ARCH_AARCH64
#define CONFINE_CALL(name, x86_64, aarch64, why) aarch64,
#else
#define HAVE_FILTER 0
#define ARCH 0
#define CONFINE_CALL(name, x86_64, aarch64, why) -1,
#endif

static const int refused[] = {
#include "base/confine_calls.def"
};
enum { N_REFUSED = sizeof refused / sizeof *refused };

/* x32's calls have this bit, and the same architecture. */
#define X32_BIT 0x40000000u

/* Of clone: with a namespace of its own a process has all capabilities. */
#define NAMESPACES                                                            \
    ((uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
                CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET))

#define REFUSE(why) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (why))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(field) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The low half of an argument: both architectures are little-endian, and the
 * kernel looks at no more of these. */
#define LOAD_ARG(n)                    \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
             offsetof(struct seccomp_data, args) + 8 * (n))
/* Go on behind `no` more instructions unless it is n. */
#define UNLESS(n, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (n), 0, (no))

static const struct sock_filter head[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0), /* i386's entry */
    REFUSE(EPERM),
    LOAD(nr),
#ifdef __x86_64__
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
    REFUSE(EPERM),
#endif
};

static const struct sock_filter tail[] = {
    /* Its flags lie in memory, which a filter cannot read; the C library goes
     * on with clone then. */
    UNLESS(SYS_clone3, 1), REFUSE(ENOSYS), UNLESS(SYS_clone, 4), LOAD_ARG(0),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1), REFUSE(EPERM),
    ALLOW,
    /* Characters for the terminal, as if its user had typed them. */
    UNLESS(SYS_ioctl, 5), LOAD_ARG(1),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0), UNLESS(TIOCLINUX, 1),
    REFUSE(EPERM), ALLOW,
    /* Limits of other processes. */
    UNLESS(SYS_prlimit64, 4), LOAD_ARG(0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0), REFUSE(EPERM), ALLOW, ALLOW};

enum {
    N_HEAD = sizeof head / sizeof *head,
    N_TAIL = sizeof tail / sizeof *tail,
    N_MAX = N_HEAD + 2 * N_REFUSED + N_TAIL
};

static unsigned short write_program(struct sock_filter out[N_MAX])
{
    struct sock_filter *at = out;

    memcpy(at, head, sizeof head);
    at += N_HEAD;
    for (int i = 0; i < N_REFUSED; i++) {
        const struct sock_filter row[] = {UNLESS((uint32_t)refused[i], 1),
                                          REFUSE(EPERM)};

        if (refused[i] < 0)
            continue;
        memcpy(at, row, sizeof row);
        at += 2;
    }
    memcpy(at, tail, sizeof tail);
    return (unsigned short)(at - out + N_TAIL);
}

bool confine_can_filter(void)
{
    uint32_t action = SECCOMP_RET_ERRNO;

    return HAVE_FILTER &&
           !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}

vpu_status confine_filter(vpu_error *err)
{
    struct sock_filter program[N_MAX];
    struct sock_fprog p = {write_program(program), program};

    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                &p))
        return err_set(err, VPU_ERR_IO, "seccomp refuses the filter: %s",
                       strerror(errno));
    return VPU_OK;
}
