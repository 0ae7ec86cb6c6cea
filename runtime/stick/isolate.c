/* A child for each session: what it keeps, who ends it, what it leaves. */
#include "runtime/stick/isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/file.h"
#include "base/temp.h"
#include "sim/compiler/front/clang.h"

enum {
    TICK_MS = 50,
    GRACE_MS = 10000,
    /* Exit statuses that LLVM and the C library do not use. */
    UNCONFINED = 99,
    FIRST_VALUE = UNCONFINED + 1
};

void isolate_warn(const isolate_config *c)
{
    confine_report r;

    confine_probe(&r);
    if (*r.missing)
        log_warn(
            c->log,
            "this system cannot keep kernels of strangers from everything: "
            "%s",
            r.missing);
}

/* --- in the child -------------------------------------------------------- */

typedef struct {
    const char **list;
    size_t n, cap;
} paths;

static void add(arena *a, paths *p, const char *path)
{
    *arena_append(a, p->list, p->n, p->cap) = path;
}

/* Each of a list with colons that is absolute. */
static void add_each(arena *a, paths *p, const char *list)
{
    char *rest = list ? arena_strdup(a, list) : NULL, *one;

    while (rest && (one = strsep(&rest, ":")))
        if (*one == '/')
            add(a, p, one);
}

/* Where clang is, if it is none of the system's: its folder and its libraries.
 */
static void add_clang(arena *a, paths *p)
{
    const char *path = getenv("PATH");
    char *rest = path ? arena_strdup(a, path) : NULL, *one;

    while (rest && (one = strsep(&rest, ":"))) {
        char *real = realpath(file_join(a, one, FE_CLANG), NULL);
        const char *bin = real ? file_dirname(a, real) : NULL;

        free(real);
        if (!bin)
            continue;
        add(a, p, bin);
        add(a, p, arena_printf(a, "%s/../lib", bin));
        return;
    }
}

static vpu_status confine(const isolate_config *c, int link,
                          const isolate_session *s, vpu_error *err)
{
    paths read = {0}, write = {0};
    const int keep[] = {link, c->log_fd};
    confine_report r;

    add_clang(s->arena, &read);
    add_each(s->arena, &read, getenv("LD_LIBRARY_PATH"));
    if (c->kernels)
        add(s->arena, &read, c->kernels);
    if (c->cache) {
        add(s->arena, &read, file_dirname(s->arena, c->cache));
        add(s->arena, &write, c->cache);
    }
    add(s->arena, &write, s->dir);
    return confine_self(&(confine_config){.read = read.list,
                                          .n_read = read.n,
                                          .write = write.list,
                                          .n_write = write.n,
                                          .keep = keep,
                                          .n_keep = 2},
                        &r, err);
}

/* A session of its own: no terminal it could type into, and one group for all
 * that it starts. */
static bool leave_parent(const isolate_session *s)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    return setsid() >= 0 && nothing >= 0 && dup2(nothing, 0) == 0 &&
           !setenv("TMPDIR", s->dir, 1);
}

static _Noreturn void run_child(const isolate_config *c, int link,
                                int (*body)(void *), void *arg,
                                const isolate_session *s, const sigset_t *mask)
{
    vpu_error err;
    int value;

    if (c->begin)
        c->begin();
    pthread_sigmask(SIG_SETMASK, mask, NULL);
    if (!leave_parent(s))
        err_set(&err, VPU_ERR_IO, "%s", strerror(errno));
    else if (!confine(c, link, s, &err)) {
        value = body(arg);
        fflush(NULL); /* the log */
        _exit(FIRST_VALUE + value);
    }
    log_warn(c->log, "a session's process: %s", err.msg);
    _exit(UNCONFINED);
}

/* --- in the parent ------------------------------------------------------- */

vpu_status isolate_start(const isolate_config *c, int link, int (*body)(void *),
                         void *arg, isolate_session *out, vpu_error *err)
{
    pid_t parent = getpid();
    sigset_t all, before;
    vpu_status st;
    int why;

    *out = (isolate_session){.arena = arena_create(0)};
    st = temp_dir(out->arena, "vpu-stick-", &out->dir, err);
    if (st) {
        arena_destroy(out->arena);
        return st;
    }
    /* What it leaves running is ours to wait for. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    /* A handler must not come between its start and our knowing of it. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    out->pid = fork();
    why = errno;
    if (!out->pid) {
        child_follow(parent);
        run_child(c, link, body, arg, out, &before);
    }
    if (out->pid > 0)
        child_add(out->pid, true);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (out->pid > 0)
        return VPU_OK;
    temp_dir_remove(out->dir);
    arena_destroy(out->arena);
    return err_set(err, VPU_ERR_IO, "no process for a session: %s",
                   strerror(why));
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
           info.si_pid;
}

/* Ends of itself, or of our patience. */
static void watch(const isolate_config *c, pid_t pid, void (*tick)(void *user),
                  void *user)
{
    struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    int64_t deadline = INT64_MAX;

    while (!has_ended(pid)) {
        if (deadline == INT64_MAX && c->stop && *c->stop) {
            kill(pid, SIGTERM);
            deadline = clock_ms() + GRACE_MS;
        }
        if (clock_ms() > deadline)
            kill(pid, SIGKILL);
        poll(&end, 1, TICK_MS); /* just a pause where there is no pidfd */
        if (tick)
            tick(user);
    }
    if (end.fd >= 0)
        close(end.fd);
}

/* The group is the process's own as long as it is not waited for. */
static int reap(pid_t pid)
{
    int status = 0;

    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child_forget(pid);
    while (waitpid(-pid, NULL, 0) > 0 || errno == EINTR)
        ;
    return status;
}

/* Whatever the status is, it is the word of code that may be a stranger's: it
 * says how this session ended, and nothing about the next one. */
static vpu_status judge(const isolate_config *c, int status, int *value,
                        vpu_error *err)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

    if (code >= FIRST_VALUE && code <= FIRST_VALUE + ISOLATE_MAX_VALUE) {
        *value = code - FIRST_VALUE;
        return VPU_OK;
    }
    if (code == UNCONFINED)
        return err_set(err, VPU_ERR_FAULT,
                       "its process could not give up its rights");
    if (c->stop && *c->stop)
        return err_set(err, VPU_ERR_STOPPED, "the session was ended");
    if (WIFSIGNALED(status) && sigabbrev_np(WTERMSIG(status)))
        return err_set(err, VPU_ERR_FAULT, "its process was ended by SIG%s",
                       sigabbrev_np(WTERMSIG(status)));
    if (WIFSIGNALED(status))
        return err_set(err, VPU_ERR_FAULT, "its process was ended by signal %d",
                       WTERMSIG(status));
    return err_set(err, VPU_ERR_FAULT, "its process ended with status %d",
                   code);
}

vpu_status isolate_wait(const isolate_config *c, isolate_session *s,
                        void (*tick)(void *user), void *user, int *value,
                        vpu_error *err)
{
    int status;

    watch(c, s->pid, tick, user);
    status = reap(s->pid);
    temp_dir_remove(s->dir);
    arena_destroy(s->arena);
    *s = (isolate_session){0};
    return judge(c, status, value, err);
}
