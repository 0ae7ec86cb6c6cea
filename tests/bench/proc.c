/* fork-free process running: posix_spawn, a pipe, wait4. */
#include "base/clock.h"
#include "tests/bench/proc.h"
#include "tests/bench/quiet.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void die(const char *words, const char *why)
{
    fprintf(stderr, "bench: %s: %s\n", words, why);
    exit(1);
}

/* A process counts as its own peak what the process had that started it, so
 * that is set back to what there is now. */
static void forget_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, "5", 1) != 1)
        die("/proc/self/clear_refs", "cannot be written");
    close(fd);
}

static pid_t start(const char *words, int *from)
{
    char *copy = strdup(words), *save = NULL, *argv[PROC_MAX_ARGS + 1];
    posix_spawn_file_actions_t fa;
    int n = 0, ends[2];
    pid_t pid;

    for (char *w = strtok_r(copy, " ", &save); w && n < PROC_MAX_ARGS;
         w = strtok_r(NULL, " ", &save))
        argv[n++] = w;
    argv[n] = NULL;
    if (!n || pipe(ends))
        die(words, "cannot start");
    forget_peak();
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, ends[1], 1);
    posix_spawn_file_actions_addclose(&fa, ends[0]);
    posix_spawn_file_actions_addclose(&fa, ends[1]);
    if (posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ))
        die(words, "cannot start");
    posix_spawn_file_actions_destroy(&fa);
    close(ends[1]);
    free(copy);
    *from = ends[0];
    return pid;
}

static void read_all(int fd, char *out)
{
    char rest[4096];
    size_t n = 0;
    ssize_t got;

    for (;;) {
        size_t room = PROC_OUT_BYTES - 1 - n;

        got = read(fd, room ? out + n : rest, room ? room : sizeof rest);
        if (got <= 0)
            break;
        n += room ? (size_t)got : 0;
    }
    out[n] = 0;
    close(fd);
}

void proc_run(const char *words, proc_result *r)
{
    proc_run_findings(words, 0, r);
}

static double seconds_of(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

void proc_run_findings(const char *words, int worst, proc_result *r)
{
    for (uint32_t i = 1; !proc_run_once(words, worst, i, r); i++)
        ;
}

static void run(const char *words, int worst, proc_result *r)
{
    struct rusage used;
    double begin;
    int status, fd;
    pid_t pid;

    begin = clock_seconds();
    pid = start(words, &fd);
    read_all(fd, r->out);
    if (wait4(pid, &status, 0, &used) != pid)
        die(words, "lost");
    r->wall_s = clock_seconds() - begin;
    r->cpu_s = seconds_of(&used.ru_utime) + seconds_of(&used.ru_stime);
    r->peak_kib = used.ru_maxrss;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > worst)
        die(words, "failed");
}

bool proc_run_once(const char *words, int worst, uint32_t times, proc_result *r)
{
    bool began = quiet_wait(), again;

    run(words, worst, r);
    again = !quiet_stayed(r->wall_s, times, &r->alone);
    r->alone &= began;
    return !again;
}

void proc_run_now(const char *words, int worst, proc_result *r)
{
    run(words, worst, r);
    r->alone = false;
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

double proc_median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
