/* The copy hands over its result in a file in memory; what it and the libraries
 * in it print goes to another one. */
#include "base/task.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/oom.h"

enum { OUT_OF_MEMORY = 3, MAX_RESULT = 1 << 30, MAX_MESSAGES = 1 << 20 };

/* A thread of a host may hold a lock that no pthread_atfork handler frees: that
 * of an allocator (tcmalloc's, AddressSanitizer's of GCC 12). Nobody frees it
 * in the copy, and the copy waits for ever. The next copy is made at another
 * moment, so a copy that does nothing is given up early, the last one late:
 * it may wait for a slow machine. */
enum { TRIES = 4, EARLY_SECONDS = 2 };

typedef struct {
    uint32_t whole; /* 1: the rest is there */
    vpu_status status;
    vpu_error err;
    uint64_t n;
} head;

typedef struct {
    int result, messages;
} files;

/* --- in the copy --------------------------------------------------------- */

static void leave_short(oom_scope *s, size_t wanted)
{
    (void)s;
    (void)wanted;
    _exit(OUT_OF_MEMORY);
}

static _Noreturn void work_apart(const task_job *job, const files *f)
{
    const struct rlimit no_core = {0, 0};
    unsigned char *out = NULL;
    size_t n = 0;
    arena *a;
    head h = {.whole = 1};
    oom_scope short_of = {.leave = leave_short};

    child_default_signals();
    setrlimit(RLIMIT_CORE, &no_core);
    oom_enter(&short_of);
    child_bound(&job->limits);
    if (!getenv("VPU_DUMP"))
        dup2(f->messages, STDERR_FILENO);
    a = arena_create(0);
    h.status = job->work(job->user, a, &out, &n, &h.err);
    if (!h.status && n > MAX_RESULT)
        h.status = err_set(&h.err, VPU_ERR_INTERNAL,
                           "a result of %zu bytes, expected %d at most", n,
                           MAX_RESULT);
    h.n = h.status ? 0 : n;
    if (!file_fd_put(f->result, &h, sizeof h) ||
        !file_fd_put(f->result, out, h.n))
        _exit(OUT_OF_MEMORY);
    fflush(stderr);
    _exit(0);
}

/* --- in the process itself ----------------------------------------------- */

bool task_says_short(const char *messages)
{
    static const char *const words[] = {"bad_alloc",
                                        "out of memory",
                                        "Cannot allocate memory",
                                        "failed to map segment", /* ld.so */
                                        "cannot map zero-fill pages",
                                        "Failed to mmap"}; /* of a sanitizer */

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(messages, words[i]))
            return true;
    return false;
}

static vpu_status start(const task_job *job, const files *f, pid_t *pid,
                        vpu_error *err)
{
    const pid_t self = getpid();
    sigset_t all, before;
    int why;

    /* A handler must neither run in the copy nor come between its start and our
     * knowing of it. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (job->held)
        pthread_mutex_lock(job->held);
    *pid = fork();
    why = errno;
    if (job->held)
        pthread_mutex_unlock(job->held);
    if (!*pid) {
        child_follow(self);
        work_apart(job, f);
    }
    if (*pid > 0)
        child_add(*pid, false);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return *pid < 0 ? err_set(err, VPU_ERR_IO, "no process for it: %s",
                              strerror(why))
                    : VPU_OK;
}

/* What became of it, without a result. */
static vpu_status explain(child_end how, int status, const char *messages,
                          const child_limits *limits, task_end *end,
                          vpu_error *err)
{
    bool is_short =
        (WIFEXITED(status) && WEXITSTATUS(status) == OUT_OF_MEMORY) ||
        task_says_short(messages);

    if (how == CHILD_TIME) {
        *end = TASK_TIME;
        return err_set(err, VPU_ERR_LIMIT,
                       "took more than %g s of the processor's time",
                       limits->seconds);
    }
    if (how == CHILD_ENDED && is_short) {
        *end = TASK_MEMORY;
        return err_set(err, VPU_ERR_LIMIT, "needed more than %llu MB of memory",
                       (unsigned long long)limits->bytes >> 20);
    }
    if (how == CHILD_IDLE)
        return err_set(err, VPU_ERR_INTERNAL, "did nothing for %d s",
                       CHILD_IDLE_SECONDS);
    if (how == CHILD_LOST)
        return err_set(err, VPU_ERR_IO, "waitpid: %s", strerror(errno));
    return err_set(err, VPU_ERR_INTERNAL, "ended with %s %d%s%.512s",
                   WIFSIGNALED(status) ? "signal" : "status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                   *messages ? ": " : "", messages);
}

/* The process of the job has ended: its result, or what became of it. */
static vpu_status take(const task_job *job, const files *f, child_end how,
                       int status, arena *a, task_result *out, vpu_error *err)
{
    arena *scratch = arena_create(0);
    size_t got, n_messages;
    char *all, *messages;
    const head *h;
    vpu_status st;

    all = file_fd_get(f->result, sizeof(head) + MAX_RESULT, scratch, &got);
    messages = file_fd_get(f->messages, MAX_MESSAGES, scratch, &n_messages);
    h = (const head *)all;
    /* Whole, whoever waited for the process. */
    if ((how == CHILD_ENDED || how == CHILD_LOST) && all && got >= sizeof *h &&
        h->whole && h->n == got - sizeof *h) {
        out->end = TASK_DONE;
        out->n = (size_t)h->n;
        out->bytes = arena_push(a, out->n + 1, 1, 64);
        memcpy(out->bytes, h + 1, out->n);
        st = h->status;
        if (st && err)
            *err = h->err;
    } else {
        st = explain(how, status, messages ? messages : "", &job->limits,
                     &out->end, err);
    }
    arena_destroy(scratch);
    return st;
}

/* again: the copy did nothing, and another one may be luckier. */
static vpu_status try(const task_job *job, bool last, arena *a,
                      task_result *out, bool *again, vpu_error *err)
{
    const files f = {memfd_create("vpu-result", MFD_CLOEXEC),
                     memfd_create("vpu-messages", MFD_CLOEXEC)};
    child_limits limits = job->limits;
    child_end how = CHILD_LOST;
    int status = 0;
    vpu_status st;
    pid_t pid = 0;

    limits.idle = last ? 0 : EARLY_SECONDS;
    st =
        f.result < 0 || f.messages < 0
            ? err_set(err, VPU_ERR_IO, "no file in memory: %s", strerror(errno))
            : start(job, &f, &pid, err);
    if (!st) {
        how = child_wait(pid, &limits, &status);
        child_forget(pid);
    }
    *again = !last && how == CHILD_IDLE;
    if (!st && !*again)
        st = take(job, &f, how, status, a, out, err);
    if (f.result >= 0)
        close(f.result);
    if (f.messages >= 0)
        close(f.messages);
    return st;
}

vpu_status task_run(const task_job *job, arena *a, task_result *out,
                    vpu_error *err)
{
    bool again = true;
    vpu_status st = VPU_OK;

    *out = (task_result){.end = TASK_DIED};
    for (int i = 1; again; i++)
        st = try(job, i == TRIES, a, out, &again, err);
    return st;
}
