/* Work in a child of its own, for what may hang, end the program or leave the
 * process in disorder. The child counts what it covers in the fuzzer's own
 * counters, which lie in shared memory from the first call on. */
#ifndef VPU_TESTS_FUZZ_FUZZ_CHILD_H
#define VPU_TESTS_FUZZ_FUZZ_CHILD_H

#include <errno.h>
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* From where to where the linker puts the counters of
 * -fsanitize=fuzzer-no-link. Not as C's externs: the compiler has its own
 * symbols of these names, and would call them something else. */
__asm__(".pushsection .data\n"
        ".balign 8\n"
        "fuzz_counters: .quad __start___sancov_cntrs, __stop___sancov_cntrs\n"
        ".popsection\n");
extern uintptr_t fuzz_counters[2];

/* What the sanitizers and libFuzzer itself end a process with. */
enum { FUZZ_CRASHED = 77 };

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "exitcode=77:detect_leaks=0";
}

/* Whole pages of counters alone; those at the edges stay as they are. */
static inline void fuzz_share_counters(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (fuzz_counters[0] + page - 1) & ~(page - 1);
    uintptr_t to = fuzz_counters[1] & ~(page - 1);
    size_t n = to - from;
    uint8_t *copy;

    if (to <= from)
        return;
    copy = malloc(n);
    memcpy(copy, (void *)from, n);
    if (mmap((void *)from, n, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        abort();
    memcpy((void *)from, copy, n);
    free(copy);
}

/* What it says is of no interest, what a sanitizer says is. */
static inline void fuzz_quiet(void)
{
    int report = dup(2), null = open("/dev/null", O_WRONLY);

    dup2(null, 1);
    dup2(null, 2);
    close(null);
    __sanitizer_set_report_fd((void *)(intptr_t)report);
}

/* run(data, n) in a child, for so long at most. Being too slow is no crime;
 * dying of anything else is. */
static inline void fuzz_child(void (*run)(const uint8_t *data, size_t n),
                              const uint8_t *data, size_t n, unsigned ms)
{
    static bool shared;
    struct itimerval limit = {.it_value = {ms / 1000, ms % 1000 * 1000}};
    int status;
    pid_t pid;

    if (!shared)
        fuzz_share_counters();
    shared = true;
    pid = fork();
    if (pid < 0)
        abort();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        signal(SIGALRM, SIG_DFL);
        setitimer(ITIMER_REAL, &limit, NULL);
        fuzz_quiet();
        run(data, n);
        _exit(0);
    }
    while (waitpid(pid, &status, 0) != pid) /* libFuzzer's timer interrupts */
        if (errno != EINTR)
            abort();
    kill(-pid, SIGKILL); /* its own children */
    if (WIFSIGNALED(status) ? WTERMSIG(status) == SIGALRM
                            : WEXITSTATUS(status) != FUZZ_CRASHED)
        return;
    fprintf(stderr, "fuzz_child: the child ended with wait status %#x\n",
            (unsigned)status);
    abort();
}

/* An empty folder of the fuzzer's own, some levels deep; to be called before
 * the first child. scripts/fuzz removes TMPDIR. */
static inline char *fuzz_folder(void)
{
    const char *base = getenv("TMPDIR");
    static char dir[4096];

    snprintf(dir, sizeof dir - 16, "%s/fuzz-XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(dir))
        abort();
    strcat(dir, "/a");
    if (mkdir(dir, 0700))
        abort();
    strcat(dir, "/b");
    if (mkdir(dir, 0700))
        abort();
    return dir;
}

#endif
