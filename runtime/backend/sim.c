/* The simulator behind the table of operations: buffers on the device, kernels
 * compiled, launches run one after the other; and its extras. */
#include <string.h>

#include "base/clock.h"
#include "base/oom.h"
#include "runtime/backend/sim_priv.h"

static vpu_status sim_probe(arena *a, backend_device **list, uint32_t *n,
                            vpu_error *err)
{
    mach_desc desc;
    vpu_status st = mach_desc_load(NULL, a, &desc, err);

    *n = 0;
    if (st)
        return st;
    *list = arena_new(a, backend_device);
    **list = (backend_device){
        .id = "sim",
        .name = arena_printf(a, "simulated %s, %llu SHAVEs", desc.machine,
                             (unsigned long long)desc.num_shaves),
        .version = VPU_VERSION,
        .memory_bytes = desc.ddr_bytes,
        .half = true,
        .usable = true};
    *n = 1;
    return VPU_OK;
}

static void sim_close(void *self)
{
    backend_sim_graph *b = self;

    if (!b)
        return;
    for (uint32_t i = 0; i < b->graph->n_launches && b->stages; i++) {
        kernel_release(b->stages[i].kernel);
        kernel_release(b->stages[i].plain);
        mach_record_free(b->stages[i].steps);
    }
    check_close(b->checker);
    memory_destroy(b->mem);
    exec_threads_destroy(b->threads);
    exec_scratch_free(&b->scratch);
    arena_destroy(b->arena);
}

static void *buffer(void *self, uint32_t i)
{
    backend_sim_graph *b = self;

    return memory_window(b->mem) + b->addresses[i];
}

/* Bytes from k on whose bits are all `set`. */
static uint64_t run_of(const uint8_t *bits, uint64_t k, uint64_t n, bool set)
{
    const uint8_t whole = set ? 0xff : 0;
    uint64_t first = k;

    while (k < n && (bits[k / 8] >> k % 8 & 1) == set)
        k += k % 8 == 0 && n - k >= 8 && bits[k / 8] == whole ? 8 : 1;
    return k - first;
}

/* What of a buffer is there before the first launch. */
static void tell_checker(backend_sim_graph *b, uint32_t i)
{
    const graph_buffer *x = &b->graph->buffers[i];
    const uint8_t *bits = x->init ? x->init_written : NULL;
    uint32_t at = b->addresses[i];
    bool all = bits ? run_of(bits, 0, x->bytes, true) == x->bytes
                    : x->role == GRAPH_INPUT || x->init;

    check_buffer(b->checker, x->name, i, at, x->bytes, all);
    for (uint64_t k = 0, n; bits && !all && k < x->bytes; k += n) {
        n = run_of(bits, k, x->bytes, true);
        check_filled(b->checker, at + (uint32_t)k, n);
        n += run_of(bits, k + n, x->bytes, false);
    }
}

static uint32_t alignment_of(const graph *g)
{
    for (uint32_t i = 0; i < g->n_launches; i++)
        if (g->launches[i].program)
            return BACKEND_PROGRAM_ALIGN;
    return MEMORY_ALIGN;
}

/* Under checkers and debuggers each buffer has memory of its own, so that what
 * goes beside one is seen. Checkers have memory of theirs, and no time: places
 * do not matter. */
static vpu_status place_buffers(backend_sim_graph *b, vpu_error *err)
{
    const graph *g = b->graph;
    bool shares = g->shared_bytes && !b->cfg->debug && !b->cfg->check;
    uint32_t shared = 0, align = alignment_of(g);
    vpu_status st = VPU_OK;

    if (shares)
        st = memory_alloc(b->mem, "the memory of virtual tensors",
                          g->shared_bytes, &shared, err);
    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        const graph_buffer *x = &g->buffers[i];

        if (shares && x->shares) {
            b->addresses[i] = shared + (uint32_t)x->offset;
            continue;
        }
        st = memory_alloc_at(b->mem,
                             &(memory_wanted){x->name, x->bytes, align,
                                              b->cfg->check ? NULL : x->place},
                             &b->addresses[i], err);
        if (!st && x->init)
            memcpy(buffer(b, i), x->init, x->bytes);
        if (!st && b->checker)
            tell_checker(b, i);
    }
    return st;
}

/* Outputs have again what stood there before the first run. */
static void begin_again(backend_sim_graph *b)
{
    const graph *g = b->graph;

    for (uint32_t i = 0; i < g->n_buffers; i++)
        if (g->buffers[i].role == GRAPH_OUTPUT && g->buffers[i].init)
            memcpy(buffer(b, i), g->buffers[i].init, g->buffers[i].bytes);
}

static vpu_status open_memory(backend_sim_graph *b, vpu_error *err)
{
    const backend_check *c = b->cfg->check;
    vpu_status st = b->cfg->debug || c
                        ? memory_create_roomy(b->desc, &b->mem, err)
                        : memory_create(b->desc, &b->mem, err);

    if (!st && c && !c->orders)
        st = check_open(b->mem, &(check_config){c->enabled, c->again},
                        &b->checker, err);
    return st ? st : place_buffers(b, err);
}

static vpu_status fill_graph(void *user, vpu_error *err)
{
    backend_sim_graph *b = user;
    const graph *g = b->graph;
    bool timed = b->cfg->how.timing != EXEC_NO_TIMING;
    vpu_status st = VPU_OK;

    b->addresses = arena_array(b->arena, uint32_t, g->n_buffers + 1);
    b->stages = arena_array(b->arena, backend_sim_stage, g->n_launches + 1);
    b->desc = b->cfg->desc ? b->cfg->desc : &b->own_desc;
    if (!b->cfg->desc)
        st = mach_desc_load(NULL, b->arena, &b->own_desc, err);
    if (st)
        return st;
    b->caps = (backend_caps){.device = arena_strdup(b->arena, b->desc->machine),
                             .version = VPU_VERSION,
                             .stages = true,
                             .n_shaves = b->cfg->how.n_shaves
                                             ? b->cfg->how.n_shaves
                                             : (uint32_t)b->desc->num_shaves,
                             .timed = timed,
                             .cycles = timed};
    for (uint32_t i = 0; i < g->n_launches && timed; i++)
        if (!g->launches[i].native)
            b->stages[i].result.sample = b->stages[i].sample =
                arena_new(b->arena, exec_sample);
    st = open_memory(b, err);
    return st ? st : backend_sim_load_kernels(b, err);
}

/* VPU_ERR_LIMIT, too: the buffers exceed the device's DDR. A shortage of memory
 * is caught here, where what is open already can be closed. */
static vpu_status sim_open(const backend_config *cfg, const graph *g,
                           void **self, vpu_error *err)
{
    arena *a;
    backend_sim_graph *b;
    vpu_status st;

    *self = NULL;
    if (cfg->device && *cfg->device)
        return err_set(err, VPU_ERR_INVALID,
                       "backend sim has no device '%s': its id is sim",
                       cfg->device);
    a = arena_create(0);
    b = arena_new(a, backend_sim_graph);
    b->arena = a;
    b->cfg = cfg;
    b->graph = g;
    b->trace = cfg->trace;
    b->threads = exec_threads_create();
    st = oom_guard(fill_graph, b, err);
    if (st)
        sim_close(b);
    else
        *self = b;
    return st;
}

static const backend_caps *sim_caps(const void *self)
{
    return &((const backend_sim_graph *)self)->caps;
}

static vpu_status sim_write(void *self, uint32_t i, const void *data,
                            vpu_error *err)
{
    const backend_sim_graph *b = self;

    (void)err;
    memcpy(buffer(self, i), data, b->graph->buffers[i].bytes);
    return VPU_OK;
}

/* Element by element, in the order of its dims. */
static void read_layer(backend_sim_graph *b, const graph_layer_output *o,
                       uint8_t *to)
{
    const tensor_desc *d = &o->as.desc;
    const uint8_t *from = (const uint8_t *)buffer(b, o->buffer) + o->offset;
    uint32_t bytes = tensor_dtype_bytes(d->dtype), at[TENSOR_MAX_RANK] = {0};
    uint32_t k;

    do {
        uint64_t offset = 0;

        for (k = 0; k < d->rank; k++)
            offset += (uint64_t)at[k] * o->strides[k];
        memcpy(to, from + offset, bytes);
        to += bytes;
        for (k = d->rank; k > 0 && ++at[k - 1] == d->dims[k - 1]; k--)
            at[k - 1] = 0;
    } while (k > 0);
}

static vpu_status sim_read(void *self, uint32_t i, void *data, vpu_error *err)
{
    backend_sim_graph *b = self;

    (void)err;
    if (i >= b->graph->n_buffers) {
        read_layer(b, &b->graph->layers[i - b->graph->n_buffers], data);
        return VPU_OK;
    }
    memcpy(data, buffer(self, i), b->graph->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status sim_run(void *self, uint32_t first, uint32_t n,
                          backend_result *results, vpu_error *err)
{
    backend_sim_graph *b = self;
    vpu_status st = VPU_OK;

    if (!first)
        begin_again(b);
    for (uint32_t i = 0; i < n && !st; i++) {
        double start = clock_seconds();
        uint64_t cycles;

        st = backend_sim_run_launch(b, first + i, err);
        cycles = b->stages[first + i].result.exec.profile.cycles;
        results[i] =
            b->caps.cycles
                ? (backend_result){mach_desc_seconds(b->desc, cycles), cycles}
                : (backend_result){clock_seconds() - start, 0};
    }
    return st;
}

static void sim_cancel(void *self)
{
    const backend_sim_graph *b = self;

    if (b->threads)
        exec_threads_hurry(b->threads);
}

/* --- extras -------------------------------------------------------------- */

static void trace_to(void *self, trc_writer *w)
{
    backend_sim_graph *b = self;

    b->trace = w;
}

static uint32_t address(const void *self, uint32_t i)
{
    return ((const backend_sim_graph *)self)->addresses[i];
}

static const memory *memory_of(const void *self)
{
    return ((const backend_sim_graph *)self)->mem;
}

static const backend_launch *launch(const void *self, uint32_t i)
{
    return &((const backend_sim_graph *)self)->stages[i].result;
}

static void observers(void *self, const exec_observer *const *list, uint32_t n)
{
    backend_sim_graph *b = self;

    b->observers = list;
    b->n_observers = n;
}

static void profile(void *self, const char *name, bool on)
{
    backend_sim_graph *b = self;

    b->profile = on ? name : NULL;
}

static void begin_at(void *self, uint64_t first)
{
    backend_sim_graph *b = self;

    b->first = first;
}

static void keep_steps(void *self, uint64_t bytes)
{
    backend_sim_graph *b = self;

    b->steps_bytes = bytes / (b->graph->n_launches ? b->graph->n_launches : 1);
}

static check_session *checker(void *self)
{
    return ((backend_sim_graph *)self)->checker;
}

const backend_ops backend_sim_ops = {
    .name = "sim",
    .called = "the simulator",
    .about = "the simulated VPU",
    .probe = sim_probe,
    .open = sim_open,
    .close = sim_close,
    .caps = sim_caps,
    .write = sim_write,
    .read = sim_read,
    .run = sim_run,
    .cancel = sim_cancel,
    .extras = BACKEND_MACHINE | BACKEND_WINDOW | BACKEND_NATIVE |
              BACKEND_LAYERS | BACKEND_PROGRAM,
    .trace = &(const backend_trace_ops){trace_to},
    .inspect = &(const backend_inspect_ops){buffer, address, memory_of, launch,
                                            backend_sim_rebind},
    .observe =
        &(const backend_observe_ops){observers, profile, begin_at, keep_steps},
    .order = &(const backend_order_ops){backend_sim_run_in_order, checker}};
