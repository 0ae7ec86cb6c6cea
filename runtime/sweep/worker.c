/* A worker's two sides: what the process does, and what its parent asks. */
#include "runtime/sweep/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/oom.h"

enum { MAX_SAID = 4096, GRACE_MS = 2000 };
/* What a worker may gain, code of many layers and memory in pieces, before
 * another one takes its place. */
enum { MAX_GROWTH = 256 << 20 };

/* --- both sides ----------------------------------------------------------- */

static bool put_all(int fd, const void *data, size_t n)
{
    const char *p = data;

    while (n) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

static bool get_all(int fd, void *data, size_t n)
{
    char *p = data;

    while (n) {
        ssize_t k = recv(fd, p, n, 0);

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

#define OWN "/proc/self/statm"

static uint64_t resident_bytes(const char *statm)
{
    FILE *f = fopen(statm, "re");
    unsigned long long all, resident = 0;

    if (f && fscanf(f, "%llu %llu", &all, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* --- the process ---------------------------------------------------------- */

typedef struct {
    const sweep_store *store;
    const sweep_workers_config *config;
    int fd;
    uint64_t first_bytes; /* of memory, before any point */
    uint64_t number;      /* of the point, a line of n bytes */
    const char *line;
    size_t n;
    sweep_answer answer;
    arena *a;
} process;

/* In front of a point's line. */
typedef struct {
    uint64_t number, n;
} heading;

/* Of a command line that is refused, standard error has the reason. */
static const char *reason(process *p, const vpu_error *err)
{
    sweep_worker self = {.said = 2};

    return err->msg[0] ? err->msg : sweep_worker_said(&self, p->a);
}

static vpu_status settle(process *p, const sweep_point *x, vpu_status st,
                         json_t *figures, vpu_error *err)
{
    vpu_error why = *err;

    if (!st) {
        p->answer.kind = SWEEP_DONE;
        return sweep_store_put(p->store, x->name, figures, err);
    }
    if (st == VPU_ERR_STOPPED) {
        p->answer.kind = SWEEP_STOPPED;
        return VPU_OK;
    }
    p->answer.kind = SWEEP_FAILED;
    p->answer.retires |= st == VPU_ERR_NOMEM;
    return sweep_store_put_failure(p->store, x, reason(p, &why), err);
}

static vpu_status parse(process *p, sweep_point *out, vpu_error *err)
{
    return sweep_point_parse(p->line, p->n, &p->store->manifest, SWEEP_POINTS,
                             p->number, p->a, out, err);
}

static vpu_status compute(void *user, vpu_error *err)
{
    process *p = user;
    sweep_point x;
    json_t *figures = NULL;
    vpu_status st = parse(p, &x, err);

    if (st)
        return st;
    if (ftruncate(2, 0) || lseek(2, 0, SEEK_SET))
        return err_set(err, VPU_ERR_IO, "standard error of a worker: %s",
                       strerror(errno));
    *err = (vpu_error){0};
    st = p->config->compute(p->config->user, &x.words, &figures, err);
    fflush(stderr);
    return settle(p, &x, st, figures, err);
}

/* Memory that is short has cost this point only, but who knows what is lost. */
static vpu_status compute_guarded(process *p, vpu_error *err)
{
    vpu_status st = oom_guard(compute, p, err);
    sweep_point x;
    vpu_error why = *err;

    if (st != VPU_ERR_NOMEM)
        return st;
    p->answer.kind = SWEEP_FAILED;
    p->answer.retires = 1;
    st = parse(p, &x, err);
    return st ? st : sweep_store_put_failure(p->store, &x, why.msg, err);
}

static bool answer_one(process *p)
{
    heading h;
    char *line;
    arena_mark m = arena_save(p->a);
    vpu_error err = {0};
    vpu_status st;

    if (!get_all(p->fd, &h, sizeof h))
        return false;
    line = arena_array(p->a, char, h.n + 1);
    if (!get_all(p->fd, line, h.n))
        return false;
    p->line = line;
    p->n = h.n;
    p->number = h.number;
    p->answer = (sweep_answer){0};
    st = compute_guarded(p, &err);
    if (st) {
        p->answer.kind = SWEEP_BROKEN;
        p->answer.err = err;
    }
    arena_restore(p->a, m);
    if (resident_bytes(OWN) > p->first_bytes + MAX_GROWTH)
        p->answer.retires = 1;
    return put_all(p->fd, &p->answer, sizeof p->answer);
}

static vpu_status answer_all(void *user, vpu_error *err)
{
    process *p = user;

    (void)err;
    p->a = arena_create(0);
    p->first_bytes = resident_bytes(OWN);
    while (answer_one(p) && !p->answer.retires &&
           p->answer.kind < SWEEP_STOPPED)
        ;
    return VPU_OK;
}

static _Noreturn void be_worker(process *p, int said)
{
    int nothing = open("/dev/null", O_RDWR);
    char *files = NULL;
    vpu_error err;

    dup2(nothing, 0);
    dup2(nothing, 1);
    dup2(said, 2);
    if (p->config->begin)
        p->config->begin(p->config->user);
    if (asprintf(&files, "%s/files", p->store->dir) < 0 || chdir(files)) {
        dprintf(2, "%s/files: %s\n", p->store->dir, strerror(errno));
        _exit(1);
    }
    free(files);
    oom_guard(answer_all, p, &err);
    if (p->answer.kind == SWEEP_STOPPED && p->config->end)
        p->config->end(p->config->user);
    _exit(0);
}

/* --- its parent ----------------------------------------------------------- */

static vpu_status make_channels(sweep_worker *w, int pair[2], vpu_error *err)
{
    *w = (sweep_worker){.fd = -1, .said = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return err_set(err, VPU_ERR_IO, "no channel to a process: %s",
                       strerror(errno));
    w->said = memfd_create("said", MFD_CLOEXEC);
    if (w->said >= 0)
        return VPU_OK;
    close(pair[0]);
    close(pair[1]);
    return err_set(err, VPU_ERR_IO, "no file in memory: %s", strerror(errno));
}

vpu_status sweep_worker_start(sweep_worker *w, const sweep_store *s,
                              const sweep_workers_config *config,
                              const sweep_worker *others, size_t n,
                              vpu_error *err)
{
    process p = {.store = s, .config = config};
    pid_t parent = getpid();
    int pair[2];
    vpu_status st = make_channels(w, pair, err);

    if (st)
        return st;
    fflush(NULL);
    w->pid = fork();
    if (!w->pid) {
        child_follow(parent);
        for (size_t i = 0; i < n; i++)
            if (others[i].pid && &others[i] != w)
                close(others[i].fd);
        close(pair[0]);
        p.fd = pair[1];
        be_worker(&p, w->said);
    }
    close(pair[1]);
    w->fd = pair[0];
    if (w->pid > 0) {
        child_add(w->pid, false);
        return VPU_OK;
    }
    w->pid = 0;
    close(w->fd);
    close(w->said);
    return err_set(err, VPU_ERR_IO, "no process: %s", strerror(errno));
}

bool sweep_worker_send(sweep_worker *w, const char *line, size_t n)
{
    const heading h = {w->number, n};

    w->busy = true;
    w->over = NULL;
    w->asked = false;
    w->since = clock_seconds();
    free(w->line);
    w->line = oom_malloc(n + 1);
    memcpy(w->line, line, n);
    w->line[n] = 0;
    w->n = n;
    return put_all(w->fd, &h, sizeof h) && put_all(w->fd, line, n);
}

bool sweep_worker_receive(sweep_worker *w, sweep_answer *out)
{
    return get_all(w->fd, out, sizeof *out);
}

/* It ends by itself when there is nothing more to read. */
int sweep_worker_end(sweep_worker *w, bool force)
{
    int status = 0;
    double from = clock_seconds();
    pid_t ended = 0;

    close(w->fd);
    if (force)
        kill(w->pid, SIGKILL);
    while (!(ended = waitpid(w->pid, &status, force ? 0 : WNOHANG)) ||
           (ended < 0 && errno == EINTR)) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (!force && clock_seconds() - from > GRACE_MS / 1e3) {
            kill(w->pid, SIGKILL);
            force = true;
        }
    }
    child_forget(w->pid);
    close(w->said);
    free(w->line);
    *w = (sweep_worker){.fd = -1, .said = -1};
    return status;
}

uint64_t sweep_worker_bytes(const sweep_worker *w)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/statm", (int)w->pid);
    return resident_bytes(path);
}

const char *sweep_worker_said(const sweep_worker *w, arena *a)
{
    char *text = arena_array(a, char, MAX_SAID + 1);
    ssize_t n = pread(w->said, text, MAX_SAID, 0);

    while (n > 0 && strchr("\n\r", text[n - 1]))
        n--;
    text[n > 0 ? n : 0] = 0;
    return text;
}
