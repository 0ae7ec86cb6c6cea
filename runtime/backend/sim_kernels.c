/* The kernels of a graph on the simulator: compiled or loaded, checked against
 * their bindings. */
#include "runtime/backend/sim_priv.h"

#include <string.h>

#include "base/clock.h"
#include "runtime/backend/args.h"

/* How launch l is to be compiled for checking; NULL = as always. */
static const sim_checking *checking_of(backend_sim_graph *b,
                                       const graph_launch *l)
{
    const backend_check *c = b->cfg->check;
    size_t i = (size_t)(l - b->graph->launches);
    sim_checking *x;

    if (!c)
        return NULL;
    x = &b->stages[i].checking;
    x->barriers = c->orders || !check_set_accesses(c->enabled);
    x->taint = c->taint && c->taint[i];
    x->nan = c->enabled & CHECK_BIT(CHECK_NAN);
    return x;
}

static const sim_hooks *hooks_of(const backend_config *cfg)
{
    return !cfg->check          ? &exec_hooks
           : cfg->check->orders ? &order_hooks
                                : &check_hooks;
}

/* What a kernel tells besides doing its work. */
typedef struct {
    bool track_lines;
    bool any_size; /* of a group, not that of the launch alone */
    const sim_checking *checking;
    const sim_hooks *hooks;
} instrumentation;

static vpu_status load_as(backend_sim_graph *b, const graph_launch *l,
                          const backend_source *src, const instrumentation *w,
                          sim_kernel **out, vpu_error *err)
{
    kernel_compile_config cfg = {
        .user = backend_source_options(l, &b->cfg->compile, b->arena),
        .track_lines = w->track_lines,
        .debug = w->track_lines ? NULL : b->cfg->debug,
        .checking = w->checking,
        .hooks = w->hooks,
        .local = w->any_size ? NULL : l->local,
        .log = b->cfg->log};
    const kernel_source source = backend_source_kernel(src, l);

    cfg.user.structures = l->program;
    if (src->built_in)
        cfg.debug = NULL; /* in no file */
    return kernel_compile(&source, &cfg, b->arena, out, err);
}

static vpu_status load(backend_sim_graph *b, const graph_launch *l,
                       const backend_source *src, bool track_lines,
                       sim_kernel **out, vpu_error *err)
{
    return load_as(b, l, src,
                   &(const instrumentation){.track_lines = track_lines,
                                            .checking = checking_of(b, l),
                                            .hooks = hooks_of(b->cfg)},
                   out, err);
}

/* The arguments as exec takes them. */
static vpu_status bind_args(backend_sim_graph *b, const graph_launch *l,
                            backend_sim_stage *s, vpu_error *err)
{
    const sim_kernel *k = s->kernel;
    const backend_binding binding = {
        .graph = b->graph, .launch = l, .kernel = k, .log = b->cfg->log};
    backend_arg *args;
    vpu_status st = backend_args_bind(&binding, b->arena, &args, err);

    s->values = arena_array(b->arena, exec_value, k->n_args + 1);
    for (uint32_t i = 0; i < k->n_args && !st; i++) {
        exec_value *v = &s->values[i];

        switch (args[i].kind) {
        case BACKEND_ARG_SCALAR:
            memcpy(v->as.raw, args[i].raw, sizeof args[i].raw);
            break;
        case BACKEND_ARG_LOCAL:
            v->as.bytes = args[i].bytes;
            break;
        case BACKEND_ARG_BUFFER:
            v->as.address = b->addresses[args[i].buffer] + args[i].offset;
            break;
        }
    }
    return st;
}

/* Into the place that the values have. */
vpu_status backend_sim_rebind(void *self, uint32_t i, vpu_error *err)
{
    backend_sim_graph *b = self;
    backend_sim_stage *s = &b->stages[i];
    exec_value *values = s->values;
    arena_mark m = arena_save(b->arena);
    vpu_status st = bind_args(b, &b->graph->launches[i], s, err);

    if (!st)
        memcpy(values, s->values, s->kernel->n_args * sizeof *values);
    s->values = values;
    arena_restore(b->arena, m);
    return st;
}

/* The first of the launch's files that has the kernel. Concatenated binaries
 * are one file to the device; here each is a source of its own. */
static vpu_status find_kernel(backend_sim_graph *b, const graph_launch *l,
                              backend_sim_stage *s, vpu_error *err)
{
    vpu_status st = VPU_ERR_IO;

    for (uint32_t i = 0; i < backend_source_count(l); i++) {
        st =
            backend_source_of(l, i, b->cfg->source_dir, b->arena, &s->src, err);
        if (!st)
            st = load(b, l, &s->src, false, &s->kernel, err);
        if (!st)
            return VPU_OK;
    }
    return st;
}

vpu_status backend_sim_load_kernels(backend_sim_graph *b, vpu_error *err)
{
    const graph *g = b->graph;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        backend_sim_stage *s = &b->stages[i];
        double start = clock_seconds();

        if (g->launches[i].native)
            continue;
        st = find_kernel(b, &g->launches[i], s, err);
        s->result.compile_s = clock_seconds() - start;
        s->result.kernel = s->kernel;
        if (!st)
            st = bind_args(b, &g->launches[i], s, err);
        if (!st && b->checker)
            st = load_as(b, &g->launches[i], &s->src,
                         &(const instrumentation){.hooks = &exec_hooks},
                         &s->plain, err);
    }
    return st;
}

/* Hosts change sizes between runs. A launch that does so once may do so again:
 * then for all sizes. */
vpu_status backend_sim_fit_kernel(backend_sim_graph *b, uint32_t i,
                                  vpu_error *err)
{
    const graph_launch *l = &b->graph->launches[i];
    backend_sim_stage *s = &b->stages[i];
    sim_kernel *k;
    vpu_status st;

    if (!sim_lacks_code(s->kernel, l->local))
        return VPU_OK;
    st = load_as(
        b, l, &s->src,
        &(const instrumentation){.any_size = true, .hooks = hooks_of(b->cfg)},
        &k, err);
    if (st)
        return st;
    kernel_release(s->kernel);
    s->kernel = k;
    s->result.kernel = k;
    return VPU_OK;
}

vpu_status backend_sim_load_tracking(backend_sim_graph *b,
                                     const graph_launch *l,
                                     const backend_sim_stage *s,
                                     sim_kernel **out, vpu_error *err)
{
    return load(b, l, &s->src, true, out, err);
}
