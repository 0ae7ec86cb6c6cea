/* The copy hands over its result in a file in memory; what it and the libraries
 * in it print goes to another one. An early copy gets its input in a third one,
 * and a byte through a pipe once it is whole. */
#include "base/task.h"

#include <errno.h>
#include <fcntl.h>
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

/* Statuses of a copy that has no result. */
enum { OUT_OF_MEMORY = 3, NOT_PREPARED = 4 };
enum { MAX_RESULT = 1 << 30, MAX_MESSAGES = 1 << 20 };

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

/* done: a byte when the result is whole. input, go: of an early copy; else -1.
 */
typedef struct {
    int result, messages, done[2], input, go[2];
} files;

struct task_copy {
    files f;
    pid_t pid;
    bool was_given, has_input; /* of an early one */
};

/* --- in the copy --------------------------------------------------------- */

static void leave_short(oom_scope *s, size_t wanted)
{
    (void)s;
    (void)wanted;
    _exit(OUT_OF_MEMORY);
}

/* The end of the process that is waited for ends this one (child_follow). */
static void wait_for_input(const task_job *job, const files *f, arena *a)
{
    char go;
    ssize_t n;

    if (!job->prepare(job->user))
        _exit(NOT_PREPARED);
    do
        n = read(f->go[0], &go, 1);
    while (n < 0 && errno == EINTR);
    job->input->bytes = n == 1 ? (unsigned char *)file_fd_get(
                                     f->input, SIZE_MAX / 2, a, &job->input->n)
                               : NULL;
    if (!job->input->bytes)
        _exit(NOT_PREPARED);
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
    if (!getenv("VPU_DUMP"))
        dup2(f->messages, STDERR_FILENO);
    a = arena_create(0);
    if (f->input >= 0)
        wait_for_input(job, f, a);
    child_bound(&job->limits);
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
    _exit(write(f->done[1], "", 1) != 1);
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
    if (how != CHILD_TIME && how != CHILD_IDLE && all && got >= sizeof *h &&
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

static void close_one(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void close_files(const files *f)
{
    close_one(f->result);
    close_one(f->messages);
    close_one(f->done[0]);
    close_one(f->done[1]);
    close_one(f->input);
    close_one(f->go[0]);
    close_one(f->go[1]);
}

static bool open_files(files *f, bool early)
{
    *f = (files){memfd_create("vpu-result", MFD_CLOEXEC),
                 memfd_create("vpu-messages", MFD_CLOEXEC),
                 {-1, -1},
                 early ? memfd_create("vpu-input", MFD_CLOEXEC) : -1,
                 {-1, -1}};
    return f->result >= 0 && f->messages >= 0 && !pipe2(f->done, O_CLOEXEC) &&
           (!early || (f->input >= 0 && !pipe2(f->go, O_CLOEXEC)));
}

static vpu_status make(const task_job *job, bool early, task_copy *out,
                       vpu_error *err)
{
    vpu_status st = VPU_OK;

    if (!open_files(&out->f, early))
        st = err_set(err, VPU_ERR_IO, "no file in memory: %s", strerror(errno));
    if (!st)
        st = start(job, &out->f, &out->pid, err);
    if (st)
        close_files(&out->f);
    return st;
}

/* Waits for its end. *again: it did nothing, and another one may be luckier. */
static vpu_status finish(const task_job *job, const task_copy *c, bool last,
                         arena *a, task_result *out, bool *again,
                         vpu_error *err)
{
    const child_signs signs = {.done = c->f.done[0]};
    child_limits limits = job->limits;
    int status = 0;
    child_end how;
    vpu_status st = VPU_OK;

    limits.idle = last ? 0 : EARLY_SECONDS;
    how = child_wait(c->pid, &limits, &signs, &status);
    if (how == CHILD_DONE)
        child_leave(c->pid);
    else
        child_forget(c->pid);
    *again = !last &&
             (how == CHILD_IDLE || (how == CHILD_ENDED && WIFEXITED(status) &&
                                    WEXITSTATUS(status) == NOT_PREPARED));
    if (!*again)
        st = take(job, &c->f, how, status, a, out, err);
    close_files(&c->f);
    return st;
}

/* --- early copies --------------------------------------------------------- */

task_copy *task_begin(const task_job *job)
{
    task_copy *c = calloc(1, sizeof *c);

    if (c && make(job, true, c, NULL)) {
        free(c);
        c = NULL;
    }
    return c;
}

void task_drop(task_copy *c)
{
    if (!c)
        return;
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    child_forget(c->pid);
    close_files(&c->f);
    free(c);
}

void task_give(const task_job *job, task_copy *c)
{
    if (c->was_given)
        return;
    c->was_given = true;
    c->has_input = file_fd_put(c->f.input, job->input->bytes, job->input->n) &&
                   write(c->f.go[1], "", 1) == 1;
}

/* A copy that does not take what it is given ends by itself, or is idle. */
static vpu_status run_early(const task_job *job, task_copy *c, arena *a,
                            task_result *out, bool *again, vpu_error *err)
{
    vpu_status st = VPU_OK;

    *again = true;
    task_give(job, c);
    if (c->has_input) {
        st = finish(job, c, false, a, out, again, err);
        free(c);
    } else {
        task_drop(c);
    }
    return st;
}

vpu_status task_run(const task_job *job, task_copy *early, arena *a,
                    task_result *out, vpu_error *err)
{
    bool again = true;
    vpu_status st = VPU_OK;

    *out = (task_result){.end = TASK_DIED};
    if (early)
        st = run_early(job, early, a, out, &again, err);
    for (int i = 1; again; i++) {
        task_copy c;

        again = false;
        st = make(job, false, &c, err);
        if (!st)
            st = finish(job, &c, i == TRIES, a, out, &again, err);
    }
    return st;
}
