/* Waiting for a child whose time and memory are limited. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"

/* It is looked at so often. */
enum { LOOK_MS = 50, LOOKS_A_SECOND = 20 };

/* The memory this process may write to, in bytes: what RLIMIT_DATA counts. */
static uint64_t data_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f)
        return 0;
    if (fscanf(f, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
        pages = 0;
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void child_default_signals(void)
{
    struct sigaction sa;
    sigset_t none;

    for (int s = 1; s < NSIG; s++)
        if (!sigaction(s, NULL, &sa) && sa.sa_handler != SIG_IGN)
            signal(s, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void child_bound(const child_limits *limits)
{
    struct rlimit r;

    if (!limits->bytes)
        return;
    r.rlim_cur = r.rlim_max = data_bytes() + limits->bytes;
    setrlimit(RLIMIT_DATA, &r);
}

/* The processor's time it has used, in seconds; 0 when it has ended. */
static double used(pid_t pid)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { END, DONE };

typedef struct {
    struct pollfd fds[2];
    const child_signs *signs;
    bool is_past; /* or nobody asks */
    int waited_ms;
} watched;

/* Until it ends or is done, or for LOOK_MS: then false. */
static bool is_over(watched *w)
{
    int left = LOOK_MS;

    while (left > 0) {
        int ms = w->is_past ? left : 1 + w->waited_ms / 50;

        ms = ms < left ? ms : left;
        if (poll(w->fds, 2, ms) > 0)
            return true;
        left -= ms;
        if (!w->is_past) {
            w->waited_ms += ms;
            w->is_past = w->signs->is_past(w->signs->user);
        }
    }
    return false;
}

/* Until it ends or is done, or until one of the limits is met. */
static child_end watch(pid_t pid, const child_limits *limits,
                       const child_signs *signs)
{
    watched w = {{{.fd = pidfd_open(pid, 0), .events = POLLIN},
                  {.fd = signs ? signs->done : -1, .events = POLLIN}},
                 .signs = signs,
                 .is_past = !signs || !signs->is_past};
    child_end how = CHILD_ENDED;
    const double idle_s = limits->idle > 0 ? limits->idle : CHILD_IDLE_SECONDS;
    double now, before = -1;
    int idle = 0;

    while (w.fds[END].fd >= 0 && how == CHILD_ENDED && !is_over(&w)) {
        now = used(pid);
        idle = now > before ? 0 : idle + 1;
        before = now;
        if (limits->seconds > 0 && now > limits->seconds)
            how = CHILD_TIME;
        else if (idle >= idle_s * LOOKS_A_SECOND)
            how = CHILD_IDLE;
    }
    if (w.fds[END].fd >= 0)
        close(w.fds[END].fd);
    return how == CHILD_ENDED && w.fds[DONE].revents & POLLIN ? CHILD_DONE
                                                              : how;
}

child_end child_wait(pid_t pid, const child_limits *limits,
                     const child_signs *signs, int *status)
{
    child_end how = watch(pid, limits, signs);
    int rc;

    if (how == CHILD_DONE)
        return how;
    if (how != CHILD_ENDED)
        kill(pid, SIGKILL);
    do
        rc = waitpid(pid, status, 0) < 0 ? errno : 0;
    while (rc == EINTR);
    errno = rc;
    return rc ? CHILD_LOST : how;
}
