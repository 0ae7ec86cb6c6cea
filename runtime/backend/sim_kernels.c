/* The kernels of a graph on the simulator: compiled or loaded, checked against
 * their bindings. */
#include "runtime/backend/sim_priv.h"

#include <string.h>

#include "base/clock.h"
#include "runtime/backend/args.h"

/* How launch l is to be compiled for checking; NULL = as always. */
static const sim_checking *checking_of(sim_graph *b, const graph_launch *l)
{
    const backend_check *c = b->cfg->check;
    size_t i = (size_t)(l - b->g->launches);
    sim_checking *x;

    if (!c)
        return NULL;
    x = &b->stages[i].checking;
    x->barriers = c->orders;
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

static vpu_status load_as(sim_graph *b, const graph_launch *l,
                          const source *src, bool track_lines,
                          const sim_checking *checking, const sim_hooks *hooks,
                          sim_kernel **out, vpu_error *err)
{
    sim_compile_config cfg = {.user = b->cfg->compile,
                              .track_lines = track_lines,
                              .debug = track_lines ? NULL : b->cfg->debug,
                              .checking = checking,
                              .hooks = hooks,
                              .log = b->cfg->log};

    if (l->text) {
        cfg.debug = NULL;       /* in no file */
        cfg.user.n_options = 0; /* those are for the user's kernels */
        return sim_kernel_compile_text(src->path, l->text, l->entry, &cfg, b->a,
                                       out, err);
    }
    if (src->kind == SOURCE_OUR_BIN)
        return sim_kernel_load(src->path, src->file, src->n_bytes, l->entry,
                               &cfg, b->a, out, err);
    return sim_kernel_compile(src->path, l->entry, &cfg, b->a, out, err);
}

static vpu_status load(sim_graph *b, const graph_launch *l, const source *src,
                       bool track_lines, sim_kernel **out, vpu_error *err)
{
    return load_as(b, l, src, track_lines, checking_of(b, l), hooks_of(b->cfg),
                   out, err);
}

/* The arguments as exec takes them. */
static vpu_status bind_args(sim_graph *b, const graph_launch *l, sim_stage *s,
                            vpu_error *err)
{
    const sim_kernel *k = s->kernel;
    backend_arg *args;
    vpu_status st =
        backend_args_bind(b->g, l, k, b->cfg->log, b->a, &args, err);

    s->values = arena_array(b->a, exec_value, k->n_args + 1);
    for (uint32_t i = 0; i < k->n_args && !st; i++) {
        exec_value *v = &s->values[i];

        switch (args[i].kind) {
        case BACKEND_ARG_SCALAR:
            memcpy(v->u.raw, args[i].raw, sizeof args[i].raw);
            break;
        case BACKEND_ARG_LOCAL:
            v->u.bytes = args[i].bytes;
            break;
        case BACKEND_ARG_BUFFER:
            v->u.address = b->addresses[args[i].buffer] + args[i].offset;
            break;
        }
    }
    return st;
}

/* The first of the launch's files that has the kernel. Concatenated binaries
 * are one file to the device; here each is a source of its own. */
static vpu_status find_kernel(sim_graph *b, const graph_launch *l, sim_stage *s,
                              vpu_error *err)
{
    vpu_status st = VPU_ERR_IO;

    if (l->text) {
        s->src = (source){.path = l->sources[0]};
        return load(b, l, &s->src, false, &s->kernel, err);
    }
    if (l->bin) {
        s->src = (source){SOURCE_OUR_BIN, l->sources[0], l->bin, l->n_bin};
        return load(b, l, &s->src, false, &s->kernel, err);
    }
    for (uint32_t i = 0; i < l->n_sources; i++) {
        st = source_find(l->sources[i], b->cfg->source_dir, b->a, &s->src, err);
        if (!st)
            st = load(b, l, &s->src, false, &s->kernel, err);
        if (!st)
            return VPU_OK;
    }
    return st;
}

vpu_status sim_load_kernels(sim_graph *b, vpu_error *err)
{
    const graph *g = b->g;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        sim_stage *s = &b->stages[i];
        double start = clock_seconds();

        st = find_kernel(b, &g->launches[i], s, err);
        s->result.compile_s = clock_seconds() - start;
        s->result.kernel = s->kernel;
        if (!st)
            st = bind_args(b, &g->launches[i], s, err);
        if (!st && b->checker)
            st = load_as(b, &g->launches[i], &s->src, false, NULL, &exec_hooks,
                         &s->plain, err);
    }
    return st;
}

vpu_status sim_load_tracking(sim_graph *b, const graph_launch *l,
                             const sim_stage *s, sim_kernel **out,
                             vpu_error *err)
{
    return load(b, l, &s->src, true, out, err);
}
