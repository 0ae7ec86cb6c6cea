/* The plug-in's side of a graph: inputs and outputs in memory shared with a
 * child that lives for one check or one run. */
#include "runtime/backend/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/str.h"
#include "runtime/backend/host_priv.h"

#define MAX_PRINTED ((size_t)1 << 20) /* of what it may print */
enum { SHOWN = 1500, CHECK_SECONDS = 60 };

typedef struct {
    arena *a;
    const backend_config *cfg;
    const graph *g;
    plugin_job job;
    void *memory; /* shared: plugin_shared, then the tensors */
    size_t bytes;
    void **data; /* of the graph's buffers; NULL where there is none */
    backend_caps caps;
    bool ran;
} host;

static const backend_caps *host_caps(const void *self)
{
    return &((const host *)self)->caps;
}

static void host_close(void *self)
{
    host *h = self;

    if (!h)
        return;
    if (h->memory)
        munmap(h->memory, h->bytes);
    arena_destroy(h->a);
}

static vpu_status host_probe(arena *a, backend_device **list, uint32_t *n,
                             vpu_error *err)
{
    (void)err;
    *list = arena_new(a, backend_device);
    *n = 1;
    **list = (backend_device){.id = "host",
                              .name = "C plug-in",
                              .version = "interface 1",
                              .half = true,
                              .why = "needs a file: host:FILE.so, made with "
                                     "vpu_plugin.h"};
    return VPU_OK;
}

/* --- the child and its end ----------------------------------------------- */

static const char *const steps[HOST_N_STEPS] = {
    "loading", "init", "formats", "shape", "execute", "destroy"};

static _Noreturn void start_child(const plugin_job *j, int output, pid_t parent)
{
    static char lines[1024];
    struct rlimit none = {0, 0}, some = {MAX_PRINTED, MAX_PRINTED};
    int in = open("/dev/null", O_RDONLY);
    sigset_t all;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    setpgid(0, 0); /* so that its own children can be ended, too */
    for (int sig = 1; sig < NSIG; sig++) /* SIGKILL and SIGSTOP stay */
        signal(sig, SIG_DFL);
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &some);
    dup2(in, 0);
    dup2(output, 1);
    dup2(output, 2);
    setvbuf(stdout, lines, _IOLBF, sizeof lines); /* crashes lose none */
    plugin_child(j);
}

/* Waits up to seconds (0 = as long as it takes). False: it had to be killed. */
static bool wait_for(pid_t pid, double seconds, int *status)
{
    const double start = clock_seconds();
    struct timespec nap = {0, 100000};

    while (waitpid(pid, status, WNOHANG) != pid) {
        if (seconds > 0 && clock_seconds() - start > seconds) {
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL);
            while (waitpid(pid, status, 0) < 0 && errno == EINTR)
                ;
            return false;
        }
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < 10000000)
            nap.tv_nsec += nap.tv_nsec / 4;
    }
    kill(-pid, SIGKILL); /* what it may have left behind */
    return true;
}

/* What the child printed: the user's, or part of a message. */
static void printed(const host *h, int output, bool failed, str *s)
{
    char text[SHOWN + 1];
    off_t at = 0;
    ssize_t n;

    while ((n = pread(output, text, SHOWN, at)) > 0) {
        text[n] = 0;
        if (failed) {
            while (n && text[n - 1] == '\n')
                text[--n] = 0;
            str_printf(s, "; it printed: %s", text);
            return;
        }
        if (h->cfg->print)
            h->cfg->print(h->cfg->print_user, text, (size_t)n);
        at += n;
    }
}

static vpu_status judge(const host *h, bool in_time, int status, double limit,
                        const char *tail, vpu_error *err)
{
    const plugin_job *j = &h->job;
    const plugin_shared *s = j->shared;
    const char *step = steps[s->step < HOST_N_STEPS ? s->step : 0];

    if (!in_time)
        return err_set(err, VPU_ERR_LIMIT,
                       "%s: still in %s of layer '%s' after %g s: stopped%s",
                       j->path, step, j->layer.name, limit, tail);
    if (WIFSIGNALED(status))
        return err_set(err, VPU_ERR_PLUGIN,
                       "%s: ended by signal %d (%s) in %s of layer '%s'%s",
                       j->path, WTERMSIG(status), strsignal(WTERMSIG(status)),
                       step, j->layer.name, tail);
    if (!s->done)
        return err_set(err, VPU_ERR_PLUGIN,
                       "%s: left with exit status %d in %s of layer '%s'%s",
                       j->path, WEXITSTATUS(status), step, j->layer.name, tail);
    if (s->status)
        return err_set(err, (vpu_status)s->status, "%s%s", s->message, tail);
    return VPU_OK;
}

static vpu_status run_child(host *h, double limit, vpu_error *err)
{
    int output = memfd_create("plug-in", MFD_CLOEXEC), status = 0;
    pid_t parent = getpid(), pid;
    vpu_status st;
    bool in_time;
    str tail = {0};

    memset(h->job.shared, 0, sizeof *h->job.shared);
    fflush(stdout);
    fflush(stderr);
    pid = output < 0 ? -1 : fork();
    if (pid == 0)
        start_child(&h->job, output, parent);
    if (pid < 0) {
        st = err_set(err, VPU_ERR_IO, "%s: no process for it: %s", h->job.path,
                     strerror(errno));
        if (output >= 0)
            close(output);
        return st;
    }
    child_add(pid, true);
    in_time = wait_for(pid, limit, &status);
    child_forget(pid);
    h->job.shared->message[sizeof h->job.shared->message - 1] = 0;
    printed(h, output,
            !in_time || WIFSIGNALED(status) || !h->job.shared->done ||
                h->job.shared->status,
            &tail);
    st = judge(h, in_time, status, limit, str_text(&tail), err);
    str_free(&tail);
    close(output);
    return st;
}

/* --- opening ------------------------------------------------------------- */

/* "in<port>" as the graph calls the inputs of a layer. */
static bool is_port(const graph_buffer *b)
{
    char name[32];

    snprintf(name, sizeof name, "in%u", b->port);
    return !strcmp(name, b->name) || (!strncmp(name, b->name, strlen(name)) &&
                                      b->name[strlen(name)] == '@');
}

static vpu_status add_tensor(host *h, uint32_t i, bool output, vpu_error *err)
{
    const graph_buffer *b = &h->g->buffers[i];
    plugin_tensor *list = output ? h->job.out : h->job.in;
    uint32_t *n = output ? &h->job.n_out : &h->job.n_in, at;

    if (*n == HOST_MAX_PORTS)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "layer '%s' has more than %d %s; plug-ins get no more",
                       h->g->layer, HOST_MAX_PORTS,
                       output ? "outputs" : "inputs");
    /* By port, whatever the order of the graph's buffers. */
    for (at = (*n)++; at && b->port < list[at - 1].port; at--)
        list[at] = list[at - 1];
    list[at] =
        (plugin_tensor){.name = b->name, .port = b->port, .desc = b->desc};
    return VPU_OK;
}

static vpu_status collect(host *h, vpu_error *err)
{
    vpu_plugin_blob *blobs =
        arena_array(h->a, vpu_plugin_blob, h->g->n_buffers + 1);
    vpu_status st = VPU_OK;

    h->job.layer.blobs = blobs;
    for (uint32_t i = 0; i < h->g->n_buffers && !st; i++) {
        const graph_buffer *b = &h->g->buffers[i];

        if (b->role == GRAPH_INPUT || (b->role == GRAPH_CONST && is_port(b)))
            st = add_tensor(h, i, false, err);
        else if (b->role == GRAPH_OUTPUT)
            st = add_tensor(h, i, true, err);
        else if (b->role == GRAPH_CONST)
            blobs[h->job.layer.n_blobs++] = (vpu_plugin_blob){
                b->name, b->init, b->bytes, (uint32_t)b->desc.dtype};
    }
    return st;
}

/* Memory that parent and child have: what both write, then each tensor. */
static vpu_status share(host *h, vpu_error *err)
{
    size_t at = (sizeof(plugin_shared) + 4095) & ~(size_t)4095;
    char *base;

    h->bytes = at;
    for (uint32_t i = 0; i < h->g->n_buffers; i++)
        h->bytes += (h->g->buffers[i].bytes + 4095) & ~(size_t)4095;
    base = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return err_set(err, VPU_ERR_NOMEM,
                       "no %zu bytes to share with the plug-in: %s", h->bytes,
                       strerror(errno));
    h->memory = base;
    h->job.shared = h->memory;
    for (uint32_t i = 0; i < h->g->n_buffers; i++) {
        const graph_buffer *b = &h->g->buffers[i];

        for (uint32_t k = 0; k < 2 * HOST_MAX_PORTS; k++) {
            plugin_tensor *t = k < HOST_MAX_PORTS
                                   ? &h->job.in[k]
                                   : &h->job.out[k - HOST_MAX_PORTS];

            if (t->name == b->name) {
                t->data = h->data[i] = base + at;
                if (b->init)
                    memcpy(t->data, b->init, b->bytes);
            }
        }
        at += (b->bytes + 4095) & ~(size_t)4095;
    }
    return VPU_OK;
}

static void add_param(host *h, const char *name, const char *value, size_t *cap)
{
    vpu_plugin_layer *l = &h->job.layer;
    vpu_plugin_param *list = (vpu_plugin_param *)(uintptr_t)l->params;
    size_t n = l->n_params;

    if (n == *cap)
        list = arena_grow(h->a, list, n, cap, sizeof *list);
    list[n] = (vpu_plugin_param){name, value};
    l->params = list;
    l->n_params = (uint32_t)n + 1;
}

/* What the binding made of the layer first, so that the layer's own parameters
 * of the same name count. */
static void params(host *h)
{
    size_t cap = 0;

    for (uint32_t i = 0; i < h->g->n_launches; i++) {
        const graph_launch *l = &h->g->launches[i];

        for (uint32_t k = 0; k < l->n_args; k++)
            if (l->args[k].kind == GRAPH_ARG_INT)
                add_param(
                    h, l->args[k].name,
                    arena_printf(h->a, "%lld", (long long)l->args[k].integer),
                    &cap);
            else if (l->args[k].kind == GRAPH_ARG_FLOAT)
                add_param(h, l->args[k].name,
                          arena_printf(h->a, "%.9g", (double)l->args[k].real),
                          &cap);
        for (int d = 0; d < 3; d++)
            add_param(h, arena_printf(h->a, "@global%d", d),
                      arena_printf(h->a, "%u", l->global[d]), &cap);
    }
    for (uint32_t i = 0; i < h->cfg->n_params; i++) {
        const char *text = h->cfg->params[i], *eq = strchr(text, '=');

        if (eq)
            add_param(h, arena_strndup(h->a, text, (size_t)(eq - text)), eq + 1,
                      &cap);
    }
}

static vpu_status host_open(const backend_config *cfg, const graph *g,
                            void **self, vpu_error *err)
{
    arena *a = arena_create(0);
    host *h = arena_new(a, host);
    vpu_status st = VPU_OK;

    *self = NULL;
    h->a = a;
    h->cfg = cfg;
    h->g = g;
    h->data = arena_array(a, void *, g->n_buffers + 1);
    h->job.path = cfg->device;
    h->job.layer.type = g->type;
    h->job.layer.name = g->layer;
    if (!cfg->device || !*cfg->device)
        st = err_set(err, VPU_ERR_INVALID,
                     "host: no plug-in given; expected host:FILE.so");
    for (uint32_t i = 1; i < g->n_launches && !st; i++)
        if (strcmp(g->launches[i].layer, g->launches[0].layer))
            st = err_set(err, VPU_ERR_UNSUPPORTED,
                         "a plug-in defines one layer; these are %s", g->layer);
    if (!st)
        st = collect(h, err);
    if (!st)
        st = share(h, err);
    if (!st) {
        params(h);
        st = run_child(
            h, cfg->how.timeout_s > 0 ? cfg->how.timeout_s : CHECK_SECONDS,
            err);
    }
    if (st) {
        host_close(h);
        return st;
    }
    h->caps.device = arena_strdup(a, h->job.shared->name);
    h->caps.version = arena_strdup(a, h->job.shared->version);
    *self = h;
    return VPU_OK;
}

/* --- tensors and runs ---------------------------------------------------- */

static vpu_status host_write(void *self, uint32_t i, const void *data,
                             vpu_error *err)
{
    host *h = self;

    if (i >= h->g->n_buffers || h->g->buffers[i].role != GRAPH_INPUT)
        return err_set(err, VPU_ERR_INVALID,
                       "buffer %u is no input of the plug-in", i);
    memcpy(h->data[i], data, h->g->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status host_read(void *self, uint32_t i, void *data, vpu_error *err)
{
    host *h = self;

    if (i >= h->g->n_buffers || !h->data[i])
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "a plug-in has inputs and outputs only, not '%s'",
                       i < h->g->n_buffers ? h->g->buffers[i].name : "?");
    memcpy(data, h->data[i], h->g->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status host_run(void *self, uint32_t first, uint32_t n,
                           backend_result *results, vpu_error *err)
{
    host *h = self;
    vpu_status st;

    if (first || n != h->g->n_launches)
        return err_set(err, VPU_ERR_INVALID,
                       "a plug-in runs all %u launches at once, not %u from %u",
                       h->g->n_launches, n, first);
    memset(results, 0, n * sizeof *results);
    h->job.execute = true;
    st = run_child(h, h->cfg->how.timeout_s * n, err);
    if (!st && n)
        results[n - 1].seconds = h->job.shared->seconds;
    return st;
}

const backend_ops backend_host_ops = {
    .name = "host",
    .called = "plug-ins",
    .about = "a C plug-in that says what a layer should compute",
    .probe = host_probe,
    .open = host_open,
    .close = host_close,
    .caps = host_caps,
    .write = host_write,
    .read = host_read,
    .run = host_run,
    .extras = BACKEND_PARAMS,
};
