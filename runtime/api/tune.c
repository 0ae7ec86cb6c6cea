/* Local sizes: tuned, taken from a file, asked for. */
#include "base/file.h"
#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "runtime/graph/local.h"
#include "runtime/tune/tune.h"

typedef struct {
    vpu_graph *g;
    const vpu_tune_options *o;
    arena *a;
} tuning;

static vpu_status run_hosts(void *user, const backend *b, uint32_t launch,
                            vpu_error *err)
{
    return api_hosts_run(user, b, launch, NULL, err);
}

/* A backend of its own, so that the graph's outputs stay. */
static vpu_status tune(void *user, vpu_error *err)
{
    tuning *t = user;
    vpu_graph *g = t->g;
    const vpu_tune_options *o = t->o;
    tune_file file = {.n = 0};
    tune_config cfg = {.run = g->cfg,
                       .ops = g->context->ops,
                       .mode = o->mode ? (tune_mode)o->mode : TUNE_NORMAL,
                       .shaves_too = o->shaves_too,
                       .file = &file,
                       .fill = api_graph_fill,
                       .fill_user = g,
                       .before = run_hosts};
    tune_report report;
    vpu_status st = VPU_OK;

    cfg.file_arena = t->a = arena_create(0);
    api_result_settle(g);
    if (o->file && file_exists(o->file))
        st = tune_file_read(o->file, t->a, &file, err);
    if (!st)
        st = tune_graph(&cfg, &g->g, t->a, &report, err);
    if (!st && o->file)
        st = tune_file_write(&file, o->file, err);
    return st;
}

vpu_status vpu_graph_tune(vpu_graph *self, const vpu_tune_options *options,
                          vpu_error *err)
{
    vpu_tune_options o;
    tuning t = {.g = self, .o = &o};
    vpu_status st = api_need(self, "graph", err);

    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_tune_options", err);
    if (!st)
        st = api_check_enum(o.mode, VPU_TUNE_EXHAUSTIVE, "mode", err);
    if (!st)
        st = api_graph_check_ready(self, err);
    if (st)
        return st;
    atomic_store(&self->cancel, false);
    st = oom_guard(tune, &t, err);
    arena_destroy(t.a);
    return st;
}

vpu_status api_graph_take_tuned(vpu_graph *g, vpu_error *err)
{
    const vpu_context *c = g->context;
    tune_file file;
    uint32_t n;
    vpu_status st;

    if (!c->tuned)
        return VPU_OK;
    st = tune_file_read(c->tuned, g->arena, &file, err);
    if (!st)
        st = tune_apply(&file, c->ops, &g->cfg, &g->g, g->arena, &n, err);
    if (!st && !n)
        log_note(c->cfg.log,
                 "tuned %s: none of its sizes is for this layer, shape and "
                 "machine; vpu tune --file %s finds one",
                 c->tuned, c->tuned);
    return st;
}

vpu_status api_graph_take_local(vpu_graph *g, vpu_error *err)
{
    const char *local = g->context->local;

    return local ? graph_set_local(&g->g, local, g->arena, err) : VPU_OK;
}

/* --- asked for ------------------------------------------------------------ */

/* NULL: it has none, or none yet. */
static const graph_launch *launch_of(const vpu_operation *op)
{
    const graph *g = &op->graph->g;

    if (op->kernel)
        return api_operation_launch(op);
    for (uint32_t i = 0; i < op->n_launches; i++)
        if (!graph_is_internal(&g->launches[op->launch + i]))
            return &g->launches[op->launch + i];
    return op->n_launches ? &g->launches[op->launch] : NULL;
}

static const graph_launch *asked_launch(const vpu_operation *op,
                                        uint32_t dimension)
{
    return op && dimension < 3 ? launch_of(op) : NULL;
}

uint32_t vpu_operation_local(const vpu_operation *operation, uint32_t dimension)
{
    const graph_launch *l = asked_launch(operation, dimension);

    return l ? l->local[dimension] : 0;
}

uint32_t vpu_operation_global(const vpu_operation *operation,
                              uint32_t dimension)
{
    const graph_launch *l = asked_launch(operation, dimension);

    return l ? l->global[dimension] : 0;
}
