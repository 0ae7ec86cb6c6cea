/* What a confined process cannot do, and what it still can: each tried in a
 * child that has confined itself. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"

#define CLANG "clang-" VPU_LLVM

static char top[] = "/tmp/vpu-confine-XXXXXX"; /* "out", "in", "read" in it */
static confine_report kernel;

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    ck_assert(f && fputs(text, f) >= 0 && !fclose(f));
}

static void setup(void)
{
    strcpy(top + sizeof top - 7, "XXXXXX");
    ck_assert(mkdtemp(top) && !chdir(top));
    ck_assert(!mkdir("in", 0700) && !mkdir("out", 0700) &&
              !mkdir("read", 0700));
    put("out/secret", "secret");
    put("in/mine", "mine");
    put("read/me", "text");
}

static int remove_one(const char *path, const struct stat *sb, int flag,
                      struct FTW *ftw)
{
    (void)sb;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void teardown(void)
{
    nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* In a child Check is not there. */
#define WANT(x)                                                \
    do {                                                       \
        if (!(x)) {                                            \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #x, \
                    strerror(errno));                          \
            return 1;                                          \
        }                                                      \
    } while (0)
#define FAILS(x, why) WANT((errno = 0, (x) == -1) && errno == (why))

static const int *kept;
static size_t n_kept;

static int confined(int (*body)(void))
{
    static const char *const in[] = {"in"}, *const read[] = {"read", "none"};
    confine_config c = {read, 2, in, 1, kept, n_kept};
    confine_report r;
    vpu_error err;

    if (confine_self(&c, &r, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 2;
    }
    return body();
}

/* The body's value, 128 and more for a signal; it ends in 60 s. */
static int try(int (*body)(void))
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (!pid) {
        alarm(60);
        _exit(confined(body));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- files --------------------------------------------------------------- */

static int try_outside(void)
{
    FAILS(open("out/new", O_WRONLY | O_CREAT, 0600), EACCES);
    FAILS(open("out/secret", O_WRONLY), EACCES);
    FAILS(open("out/secret", O_RDONLY | O_TRUNC), EACCES);
    FAILS(open("out/secret", O_RDONLY), EACCES);
    FAILS(open("out", O_RDONLY | O_DIRECTORY), EACCES);
    FAILS(unlink("out/secret"), EACCES);
    FAILS(mkdir("out/d", 0700), EACCES);
    FAILS(rmdir("read"), EACCES);
    FAILS(symlink("x", "out/link"), EACCES);
    WANT(rename("out/secret", "in/secret") == -1);
    WANT(rename("in/mine", "out/mine") == -1);
    WANT(link("out/secret", "in/secret") == -1);
    FAILS(open("read/new", O_WRONLY | O_CREAT, 0600), EACCES);
    FAILS(open("read/me", O_WRONLY), EACCES);
    FAILS(open("in/../out/secret", O_RDONLY), EACCES);
    return 0;
}

static void nothing_happened(void)
{
    struct stat sb;

    ck_assert(!stat("out/secret", &sb) && sb.st_size == 6);
    ck_assert(!stat("read/me", &sb) && sb.st_size == 4);
    ck_assert(!stat("in/mine", &sb));
    ck_assert(access("out/new", F_OK) && access("out/mine", F_OK));
}

START_TEST(files_outside)
{
    ck_assert_int_eq(try(try_outside), 0);
    nothing_happened();
}
END_TEST

static int try_inside(void)
{
    char text[8] = {0};
    int fd;

    WANT((fd = open("read/me", O_RDONLY)) >= 0);
    WANT(read(fd, text, 4) == 4 && !strcmp(text, "text"));
    WANT((fd = open("in/new", O_RDWR | O_CREAT | O_EXCL, 0600)) >= 0);
    WANT(write(fd, "abc", 3) == 3 && !ftruncate(fd, 1) && !close(fd));
    WANT((fd = open("in/new", O_WRONLY | O_TRUNC)) >= 0 && !close(fd));
    WANT(!mkdir("in/d", 0700) && !rename("in/new", "in/newer"));
    WANT(!unlink("in/newer") && !rmdir("in/d"));
    WANT((fd = open("/dev/null", O_WRONLY)) >= 0 && write(fd, "x", 1) == 1);
    WANT((fd = open("/dev/urandom", O_RDONLY)) >= 0);
    WANT((fd = open("/proc/self/maps", O_RDONLY)) >= 0);
    return 0;
}

START_TEST(files_inside)
{
    ck_assert_int_eq(try(try_inside), 0);
}
END_TEST

static int exec_of(const char *program)
{
    execl(program, program, (char *)NULL);
    return errno;
}

/* What it writes it cannot run. */
static int try_exec(void)
{
    WANT(exec_of("in/mine") == EACCES);
    WANT(exec_of("out/secret") == EACCES);
    return 0;
}

START_TEST(programs_of_its_own)
{
    ck_assert(!chmod("in/mine", 0700) && !chmod("out/secret", 0700));
    ck_assert_int_eq(try(try_exec), 0);
}
END_TEST

static int try_parent(void)
{
    FAILS(kill(getppid(), 0), EPERM);
    return 0;
}

START_TEST(signals_to_others)
{
    ck_assert_int_eq(try(try_parent), 0);
}
END_TEST

static int try_environ(void)
{
    char name[64];

    snprintf(name, sizeof name, "/proc/%d/environ", (int)getppid());
    WANT(open(name, O_RDONLY) == -1);
    return 0;
}

START_TEST(memory_of_others)
{
    ck_assert_int_eq(try(try_environ), 0);
}
END_TEST

/* --- calls --------------------------------------------------------------- */

/* Those the headers may not have yet, or that aarch64 has not. */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#endif
#ifndef SYS_removexattrat
#define SYS_removexattrat 466
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif
#ifdef __aarch64__
#define SYS_chmod -1
#define SYS_chown -1
#define SYS_lchown -1
#define SYS_mknod -1
#define SYS_modify_ldt -1
#define SYS_iopl -1
#define SYS_ioperm -1
#define SYS_create_module -1
#define HERE(x86_64, aarch64) (aarch64)
#else
#define HERE(x86_64, aarch64) (x86_64)
#endif

static const struct {
    const char *name;
    int number, header;
} calls[] = {
#define CONFINE_CALL(name, x86_64, aarch64, why) \
    {#name, HERE(x86_64, aarch64), SYS_##name},
#include "base/confine_calls.def"
};
enum { N_CALLS = sizeof calls / sizeof *calls };

START_TEST(the_table_has_the_headers_numbers)
{
    for (size_t i = 0; i < N_CALLS; i++)
        ck_assert_msg(calls[i].number == calls[i].header, "%s: %d, %d expected",
                      calls[i].name, calls[i].number, calls[i].header);
}
END_TEST

static int try_calls(void)
{
    for (size_t i = 0; i < N_CALLS; i++) {
        if (calls[i].number < 0)
            continue;
        errno = 0;
        if (syscall(calls[i].number, -1, -1, -1, -1, -1, -1) == -1 &&
            errno == EPERM)
            continue;
        fprintf(stderr, "%s: %s\n", calls[i].name, strerror(errno));
        return 1;
    }
    return 0;
}

START_TEST(refused_calls)
{
    ck_assert_int_eq(try(try_calls), 0);
}
END_TEST

static int old_socket; /* made before; not connected */
static struct sockaddr_in server_at;

static int try_network(void)
{
    FAILS(socket(AF_INET, SOCK_STREAM, 0), EPERM);
    FAILS(socket(AF_INET6, SOCK_DGRAM, 0), EPERM);
    FAILS(socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
    WANT(connect(old_socket, (struct sockaddr *)&server_at, sizeof server_at) ==
         -1);
    WANT(errno == EPERM || errno == EACCES);
    WANT(bind(old_socket, (struct sockaddr *)&server_at, sizeof server_at) ==
         -1);
    WANT(errno == EPERM || errno == EACCES);
    return 0;
}

START_TEST(network)
{
    int server = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t n = sizeof server_at;

    server_at = (struct sockaddr_in){.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ck_assert(!bind(server, (struct sockaddr *)&server_at, n) &&
              !listen(server, 1) &&
              !getsockname(server, (struct sockaddr *)&server_at, &n));
    old_socket = socket(AF_INET, SOCK_STREAM, 0);
    kept = &old_socket;
    n_kept = 1;
    ck_assert_int_eq(try(try_network), 0);
    /* Nothing but the confinement was in the way. */
    ck_assert(!connect(old_socket, (struct sockaddr *)&server_at, n));
    close(old_socket);
    close(server);
}
END_TEST

static int pair[2];

/* The link of a session: bytes both ways, cut at the end. */
static int try_link(void)
{
    char c;

    WANT(recv(pair[1], &c, 1, 0) == 1 && c == 'x');
    WANT(send(pair[1], "y", 1, MSG_NOSIGNAL) == 1);
    WANT(!shutdown(pair[1], SHUT_RDWR));
    FAILS(fcntl(pair[0], F_GETFD), EBADF);
    return 0;
}

START_TEST(what_is_kept_works)
{
    char c;

    ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    kept = pair + 1;
    n_kept = 1;
    ck_assert_int_eq(send(pair[0], "x", 1, 0), 1);
    ck_assert_int_eq(try(try_link), 0);
    ck_assert(recv(pair[0], &c, 1, 0) == 1 && c == 'y');
}
END_TEST

static int terminal_fd;

static int try_arguments(void)
{
    struct rlimit some = {10, 10};

    FAILS(ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM);
    FAILS(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), EPERM);
    FAILS(syscall(SYS_clone3, NULL, 0), ENOSYS);
    FAILS(ioctl(terminal_fd, TIOCSTI, "x"), EPERM);
    FAILS(syscall(SYS_ioctl, terminal_fd, TIOCSTI | 1ULL << 32, "x"), EPERM);
    FAILS(prlimit(getppid(), RLIMIT_NOFILE, &some, NULL), EPERM);
    WANT(!prlimit(0, RLIMIT_NOFILE, NULL, &some));
    return 0;
}

START_TEST(refused_arguments)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);

    ck_assert(master >= 0 && !grantpt(master) && !unlockpt(master));
    terminal_fd = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(terminal_fd, 0);
    kept = &terminal_fd;
    n_kept = 1;
    ck_assert_int_eq(try(try_arguments), 0);
}
END_TEST

#ifdef __x86_64__
/* getpid by the entry of 32-bit programs. */
static long getpid_32(void)
{
    long result = 20;

    __asm__ volatile("int $0x80"
                     : "+a"(result)
                     :
                     : "r8", "r9", "r10", "r11", "memory");
    return (int)result;
}

static int try_other_entries(void)
{
    FAILS(syscall(0x40000000 | SYS_getpid), EPERM);
    WANT(getpid_32() == -EPERM);
    return 0;
}

/* A kernel without that entry ends who tries it. */
static bool has_32_bits(void)
{
    pid_t pid = fork();
    int status = 1;

    if (!pid)
        _exit(getpid_32() != getpid());
    return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

START_TEST(other_entries)
{
    ck_assert_int_eq(try(try_other_entries), 0);
}
END_TEST
#endif

/* --- what goes on -------------------------------------------------------- */

static int run_clang(const char *words)
{
    char command[512];
    int status;

    snprintf(command, sizeof command, CLANG " %s >in/said 2>&1", words);
    status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* With its temporary folder inside: as the compiler starts it. */
static int try_clang(void)
{
    struct stat sb;

    setenv("TMPDIR", "in", 1);
    WANT(run_clang("--version") == 0);
    WANT(run_clang("-x cl -cl-std=CL1.2 -target spir64 -emit-llvm -c "
                   "-o in/k.bc read/k.cl") == 0);
    WANT(!stat("in/k.bc", &sb) && sb.st_size > 100);
    WANT(!kernel.landlock ||
         run_clang("-x cl -target spir64 -c -o in/k.bc out/k.cl") != 0);
    return 0;
}

START_TEST(clang_compiles)
{
    put("read/k.cl", "kernel void k(global int *p) { *p = 1; }\n");
    put("out/k.cl", "kernel void k(global int *p) { *p = 1; }\n");
    ck_assert_int_eq(try(try_clang), 0);
}
END_TEST

static int try_child(void)
{
    pid_t pid = fork();
    int status;

    if (!pid) {
        execlp("sleep", "sleep", "60", (char *)NULL);
        _exit(1);
    }
    WANT(pid > 0 && !kill(pid, SIGKILL));
    WANT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    return 0;
}

START_TEST(own_children_can_be_ended)
{
    ck_assert_int_eq(try(try_child), 0);
}
END_TEST

static void *thread(void *arg)
{
    void *memory = malloc(1 << 20);
    bool refused = socket(AF_INET, SOCK_STREAM, 0) == -1 && errno == EPERM;

    free(memory);
    *(bool *)arg = memory && (refused || !kernel.seccomp);
    return NULL;
}

static int try_threads(void)
{
    pthread_t id[8];
    bool good[8] = {false};

    for (int i = 0; i < 8; i++)
        WANT(!pthread_create(&id[i], NULL, thread, &good[i]));
    WANT(!pthread_kill(id[0], 0));
    for (int i = 0; i < 8; i++)
        WANT(!pthread_join(id[i], NULL) && good[i]);
    return 0;
}

START_TEST(threads_work_and_are_confined)
{
    ck_assert_int_eq(try(try_threads), 0);
}
END_TEST

static bool has_capability(int which)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3];

    ck_assert(!syscall(SYS_capget, &head, now));
    return now[0].effective >> which & 1;
}

static bool may_drop; /* capabilities that programs of root's have again */

static int try_state(void)
{
    static const char *const lines[] = {
        "NoNewPrivs:\t1\n", "CapInh:\t0000000000000000\n",
        "CapPrm:\t0000000000000000\n", "CapEff:\t0000000000000000\n",
        "CapAmb:\t0000000000000000\n"};
    char text[8192] = {0};
    struct rlimit core;
    int fd = open("/proc/self/status", O_RDONLY);

    WANT(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        WANT(strstr(text, lines[i]));
    WANT(!kernel.seccomp || strstr(text, "Seccomp:\t2\n"));
    WANT(!may_drop || strstr(text, "CapBnd:\t0000000000000000\n"));
    WANT(!getrlimit(RLIMIT_CORE, &core) && !core.rlim_max);
    return 0;
}

START_TEST(no_right_is_left)
{
    may_drop = has_capability(CAP_SETPCAP);
    ck_assert_int_eq(try(try_state), 0);
}
END_TEST

static int try_descriptors(void)
{
    for (int fd = 3; fd < 1024; fd++)
        WANT((fcntl(fd, F_GETFD) >= 0) == (fd == 100 || fd == 7));
    return 0;
}

START_TEST(others_descriptors_are_closed)
{
    static const int two[] = {100, -1, 7};

    ck_assert(dup2(2, 7) == 7 && dup2(2, 8) == 8 && dup2(2, 100) == 100 &&
              dup2(2, 900) == 900);
    kept = two;
    n_kept = 3;
    ck_assert_int_eq(try(try_descriptors), 0);
}
END_TEST

START_TEST(a_folder_that_is_not_there)
{
    static const char *const none[] = {"in", "none"};
    confine_config c = {.write = none, .n_write = 2};
    int result[2];
    vpu_error err = {0};

    ck_assert(!pipe(result));
    if (!fork()) {
        confine_report r;
        const int keep[] = {result[1]};

        c.keep = keep;
        c.n_keep = 1;
        confine_self(&c, &r, &err);
        _exit(write(result[1], &err, sizeof err) != sizeof err);
    }
    close(result[1]);
    for (size_t at = 0; at < sizeof err;) {
        ssize_t n = read(result[0], (char *)&err + at, sizeof err - at);

        ck_assert_int_gt(n, 0);
        at += (size_t)n;
    }
    ck_assert_int_eq(err.code, VPU_ERR_IO);
    ck_assert_msg(strstr(err.msg, "none: No such file"), "%s", err.msg);
}
END_TEST

START_TEST(the_report_says_what_is_missing)
{
    ck_assert_int_eq(*kernel.missing != 0,
                     kernel.landlock < 6 || !kernel.seccomp);
    ck_assert_int_eq(strstr(kernel.missing, "Landlock") != NULL,
                     kernel.landlock < 6);
    ck_assert_int_eq(strstr(kernel.missing, "seccomp") != NULL,
                     !kernel.seccomp);
}
END_TEST

/* --- which, on this kernel ----------------------------------------------- */

static void add_all(TCase *t, const TTest *const *tests, size_t n, bool there,
                    const char *why)
{
    for (size_t i = 0; there && i < n; i++)
        tcase_add_test(t, tests[i]);
    if (!there) /* scripts/run-tests counts it */
        printf("skipped %zu: %s\n", n, why);
}

#define ADD(t, there, why, ...)                                       \
    do {                                                              \
        const TTest *const list[] = {__VA_ARGS__};                    \
        add_all(t, list, sizeof list / sizeof *list, (there), (why)); \
    } while (0)

int main(void)
{
    Suite *s = suite_create("confine");
    TCase *t = tcase_create("confine");
    SRunner *r;
    int bad;

    confine_probe(&kernel);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    ADD(t, kernel.landlock > 0, "this kernel has no Landlock", files_outside,
        programs_of_its_own, memory_of_others, a_folder_that_is_not_there);
    ADD(t, kernel.landlock >= 6, "this kernel's Landlock knows no signals",
        signals_to_others);
    ADD(t, kernel.seccomp, "this kernel has no seccomp filter", refused_calls,
        refused_arguments);
    ADD(t, kernel.seccomp, "this kernel has no seccomp filter", network);
#ifdef __x86_64__
    ADD(t, kernel.seccomp && has_32_bits(),
        "this kernel has no seccomp filter, or no 32-bit calls", other_entries);
#endif
    ADD(t, true, "", files_inside, the_table_has_the_headers_numbers,
        what_is_kept_works, clang_compiles, own_children_can_be_ended,
        threads_work_and_are_confined, no_right_is_left,
        others_descriptors_are_closed, the_report_says_what_is_missing);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    bad = srunner_ntests_failed(r);
    srunner_free(r);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
