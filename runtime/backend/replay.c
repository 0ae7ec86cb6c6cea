/* A recording as a device: it gives back what came out then, to a run that
 * means the same (runtime/record/meaning.h). */
#include <string.h>

#include "base/str.h"
#include "runtime/backend/identity.h"
#include "runtime/backend/ops.h"
#include "runtime/record/meaning.h"

typedef struct {
    arena *a;
    const graph *g;
    recording r;
    recording_match match;
    const char *path;
    backend_caps caps;
    bool *given;    /* inputs written */
    int32_t so_far; /* launches run, as recording_content.launch */
} replay;

static const backend_caps *replay_caps(const void *self)
{
    return &((const replay *)self)->caps;
}

static void replay_close(void *self)
{
    if (self)
        arena_destroy(((replay *)self)->a);
}

static vpu_status replay_probe(arena *a, backend_device **list, uint32_t *n,
                               vpu_error *err)
{
    (void)err;
    *list = arena_new(a, backend_device);
    *n = 1;
    **list = (backend_device){.id = "replay",
                              .name = "recording",
                              .version = "format 2",
                              .half = true,
                              .why = "needs a file: replay:FILE, made with "
                                     "vpu record"};
    return VPU_OK;
}

/* The contents of buffer i of the graph at or before a launch. */
static const recording_content *content_of(const replay *p, uint32_t i,
                                           int32_t launch)
{
    uint32_t at = p->match.buffers[i];

    return at == RECORDING_NO_BUFFER ? NULL : recording_find(&p->r, at, launch);
}

/* What an input or a constant held, in the layout of the graph's; NULL: it was
 * not recorded. */
static const char *before(const replay *p, uint32_t i)
{
    const recording_content *c = content_of(p, i, RECORDING_BEFORE);
    const tensor_desc *now = &p->g->buffers[i].desc, *was;
    void *moved;

    if (!c)
        return NULL;
    was = &p->r.buffers[c->buffer].desc;
    if (was->layout == now->layout)
        return c->data;
    moved = arena_push(p->a, p->g->buffers[i].bytes, 1, 64);
    tensor_relayout(was, c->data, now->layout, moved);
    return moved;
}

/* Recorded constants against those of the graph, inputs when they come. */
static vpu_status same_bytes(const replay *p, uint32_t i, const void *data,
                             vpu_error *err)
{
    const graph_buffer *b = &p->g->buffers[i];
    uint32_t size = tensor_dtype_bytes(b->desc.dtype);
    uint64_t first = 0, n = b->bytes / size, n_differ = 0;
    arena_mark mark = arena_save(p->a);
    const char *was = before(p, i);

    for (uint64_t k = was ? n : 0; k-- > 0;)
        if (memcmp(was + k * size, (const char *)data + k * size, size)) {
            first = k;
            n_differ++;
        }
    arena_restore(p->a, mark);
    if (!n_differ)
        return VPU_OK;
    return err_set(err, VPU_ERR_MISMATCH,
                   "%s: %s '%s' is not the recorded one: %llu of %llu elements "
                   "differ, the first is number %llu; expected what vpu record "
                   "was given",
                   p->path, b->role == GRAPH_CONST ? "data" : "input", b->name,
                   (unsigned long long)n_differ, (unsigned long long)n,
                   (unsigned long long)first);
}

static vpu_status check(replay *p, const backend_config *cfg, vpu_error *err)
{
    recording now;
    vpu_status st = backend_identity(cfg, p->g, p->a, &now, err);

    if (!st && cfg->exact_source)
        st = recording_same(&p->r, &now, err);
    if (!st)
        st = recording_meaning(&p->r, &now, p->a, &p->match, err);
    if (st)
        return err_in(err, st, "%s cannot stand for this run", p->path);
    for (uint32_t i = 0; i < p->g->n_buffers && !st; i++)
        if (p->g->buffers[i].init)
            st = same_bytes(p, i, p->g->buffers[i].init, err);
    for (uint32_t i = 0; i < p->match.n_differs && !st; i++)
        log_note(cfg->log, "%s: %s", p->path, p->match.differs[i]);
    return st;
}

/* Of a simulated machine; 0 = not known. */
static uint32_t shaves_of(const recording *r)
{
    unsigned long long n = 0;

    for (uint32_t i = 0; i < r->n_machine; i++)
        if (!strncmp(r->machine[i], "shaves=", 7) &&
            !str_to_u64(r->machine[i] + 7, &n))
            n = 0;
    return n <= UINT32_MAX ? (uint32_t)n : 0;
}

static vpu_status replay_open(const backend_config *cfg, const graph *g,
                              void **self, vpu_error *err)
{
    arena *a = arena_create(0);
    replay *p = arena_new(a, replay);
    bool timed = false, cycles = false;
    vpu_status st;

    *self = NULL;
    p->a = a;
    p->g = g;
    p->path = cfg->device;
    p->so_far = RECORDING_BEFORE;
    p->given = arena_array(a, bool, g->n_buffers + 1);
    if (!cfg->device || !*cfg->device)
        st = err_set(err, VPU_ERR_INVALID,
                     "replay: no recording given; expected replay:FILE");
    else
        st = recording_read(cfg->device, a, &p->r, err);
    if (!st)
        st = check(p, cfg, err);
    if (st) {
        replay_close(p);
        return st;
    }
    for (uint32_t i = 0; i < p->r.n_launches; i++) {
        timed |= p->r.launches[i].seconds >= 0;
        cycles |= p->r.launches[i].cycles > 0;
    }
    p->caps = (backend_caps){.device = arena_printf(a, "recording of %s %s",
                                                    p->r.backend, p->r.device),
                             .version = p->r.version,
                             .stages = p->r.stages && p->match.stages,
                             .promoted = p->r.promoted,
                             .timed = timed,
                             .cycles = cycles,
                             .n_shaves = shaves_of(&p->r),
                             .max_slowdown = p->r.max_slowdown,
                             .differs = p->match.differs,
                             .n_differs = p->match.n_differs};
    *self = p;
    return VPU_OK;
}

static vpu_status replay_write(void *self, uint32_t i, const void *data,
                               vpu_error *err)
{
    replay *p = self;
    vpu_status st;

    if (i >= p->g->n_buffers || p->g->buffers[i].role != GRAPH_INPUT)
        return err_set(err, VPU_ERR_INVALID,
                       "buffer %u is no input of the recording", i);
    st = same_bytes(p, i, data, err);
    if (!st)
        p->given[i] = true;
    return st;
}

static vpu_status replay_read(void *self, uint32_t i, void *data,
                              vpu_error *err)
{
    const replay *p = self;
    const recording_content *c =
        i < p->g->n_buffers ? content_of(p, i, p->so_far) : NULL;

    if (i < p->g->n_buffers && p->g->buffers[i].init)
        memcpy(data, p->g->buffers[i].init, p->g->buffers[i].bytes);
    else if (c)
        memcpy(data, c->data, p->g->buffers[i].bytes);
    else
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s has no contents of '%s' after launch %d", p->path,
                       i < p->g->n_buffers ? p->g->buffers[i].name : "?",
                       p->so_far);
    return VPU_OK;
}

static backend_result result_of(const recording_launch *l)
{
    return (backend_result){l->seconds > 0 ? l->seconds : 0, l->cycles};
}

/* Recorded stages are others than the graph's: their sum is that of its last.
 */
static void all_in_last(const replay *p, backend_result *results, uint32_t n)
{
    memset(results, 0, n * sizeof *results);
    for (uint32_t i = 0; n && i < p->r.n_launches; i++) {
        backend_result r = result_of(&p->r.launches[i]);

        results[n - 1].seconds += r.seconds;
        results[n - 1].cycles += r.cycles;
    }
}

static vpu_status replay_run(void *self, uint32_t first, uint32_t n,
                             backend_result *results, vpu_error *err)
{
    replay *p = self;

    if (first > p->g->n_launches || n > p->g->n_launches - first ||
        (!p->caps.stages && n != p->g->n_launches))
        return err_set(err, VPU_ERR_INVALID, "%s: launches %u to %u of %u%s",
                       p->path, first, first + n, p->g->n_launches,
                       p->caps.stages ? "" : ", recorded all at once");
    for (uint32_t i = 0; i < p->g->n_buffers; i++)
        if (p->g->buffers[i].role == GRAPH_INPUT && !p->given[i])
            return err_set(err, VPU_ERR_INVALID, "%s: input '%s' was not given",
                           p->path, p->g->buffers[i].name);
    if (p->match.stages) {
        for (uint32_t i = 0; i < n; i++)
            results[i] = result_of(&p->r.launches[first + i]);
        p->so_far = (int32_t)(first + n) - 1;
    } else {
        all_in_last(p, results, n);
        p->so_far = (int32_t)p->r.n_launches - 1;
    }
    return VPU_OK;
}

const backend_ops backend_replay_ops = {
    .name = "replay",
    .called = "recordings",
    .about = "a recording made with vpu record",
    .probe = replay_probe,
    .open = replay_open,
    .close = replay_close,
    .caps = replay_caps,
    .write = replay_write,
    .read = replay_read,
    .run = replay_run,
    .extras = BACKEND_PARAMS | BACKEND_RECORDED,
};
