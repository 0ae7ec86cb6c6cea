/* Two graphs compared. */
#include <math.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/api/layout.h"
#include "runtime/diff/report.h"

struct vpu_diff {
    arena *arena;
    vpu_graph *graphs[2];
    graph apart[2]; /* theirs, in which nothing shares memory: what the report
                       is of */
    diff_report report;
    bool verbose;
    const char *text, *json, *junit; /* NULL: not made yet */
};

typedef struct {
    vpu_graph *graphs[2];
    const vpu_diff_options *o;
    arena *a;
    backend_config cfg[2];
    vpu_diff *made;
} comparing;

/* The contents of one graph's tensor as they lie in the other's. */
static void *contents_for(const comparing *c, const vpu_tensor *from,
                          const vpu_tensor *to)
{
    char *packed = api_tensor_contents(from), *all;

    if (from->has_gaps) {
        packed = arena_push(c->a, from->bytes, 1, 64);
        api_layout_copy(from, api_tensor_contents(from), packed, false);
    }
    if (!to->has_gaps)
        return packed;
    all = arena_push(c->a, api_tensor_memory_bytes(to), 1, 64);
    memset(all, 0, api_tensor_memory_bytes(to));
    api_layout_copy(to, all + to->offset, packed, true);
    return all;
}

/* For each buffer of the second graph, the contents of the graph's input of
 * that name, or, where it has none such, of its own. What does not fit is told
 * when the two are paired. */
static vpu_status pair_inputs(const comparing *c, void **inputs, vpu_error *err)
{
    const vpu_graph *b = c->graphs[1];

    for (uint32_t i = 0; i < b->g.n_buffers; i++) {
        const graph_buffer *x = &b->g.buffers[i];
        const vpu_tensor *t, *own = b->tensors[i];

        if (x->role != GRAPH_INPUT)
            continue;
        t = vpu_graph_tensor_named(c->graphs[0], x->name);
        if (!t || t->role != VPU_ROLE_INPUT || t->bytes != b->tensors[i]->bytes)
            t = own->written ? own : NULL;
        if (!t)
            return err_set(err, VPU_ERR_MISMATCH,
                           "the reference has an input %s of %llu bytes, the "
                           "graph has none like it, and it was never written",
                           x->name, (unsigned long long)b->tensors[i]->bytes);
        inputs[i] = contents_for(c, t, b->tensors[i]);
    }
    return VPU_OK;
}

static vpu_status make_sides(comparing *c, diff_side sides[2], vpu_error *err)
{
    for (int k = 0; k < 2; k++) {
        const vpu_graph *g = c->graphs[k];
        void **inputs = arena_array(c->a, void *, g->g.n_buffers + 1);

        for (uint32_t i = 0; i < g->g.n_buffers && !k; i++)
            inputs[i] = api_graph_input(g, i);
        if (k) {
            vpu_status st = pair_inputs(c, inputs, err);

            if (st)
                return st;
        }
        c->cfg[k] = api_graph_config(g);
        c->cfg[k].debug = NULL;
        c->cfg[k].how.cancel = &c->graphs[0]->cancel;
        c->made->apart[k] = g->g;
        c->made->apart[k].shared_bytes = 0;
        sides[k] = (diff_side){.id = g->context->id,
                               .ops = g->context->ops,
                               .cfg = &c->cfg[k],
                               .graph = &c->made->apart[k],
                               .inputs = inputs};
    }
    return VPU_OK;
}

static vpu_status compare_graphs(void *user, vpu_error *err)
{
    comparing *c = user;
    const vpu_diff_options *o = c->o;
    diff_side sides[2];
    diff_rule *rules;
    vpu_status st = VPU_OK;

    c->a = arena_create(0);
    c->made = arena_new(c->a, vpu_diff);
    c->made->arena = c->a;
    c->made->verbose = o->verbose;
    rules = arena_array(c->a, diff_rule, o->n_tolerances + 1);
    for (size_t i = 0; i < o->n_tolerances && !st; i++)
        st = diff_rule_parse(o->tolerances[i], c->a, &rules[i], err);
    if (!st)
        st = make_sides(c, sides, err);
    if (!st) {
        const diff_config cfg = {.rules = rules,
                                 .n_rules = (uint32_t)o->n_tolerances,
                                 .outputs_only = o->outputs_only,
                                 .no_groups = o->no_groups,
                                 .max_slowdown = o->max_slowdown,
                                 .slowdown_if_known = o->slowdown_if_known,
                                 .cycle_budget = o->cycle_budget,
                                 .heat_map = o->heat_map,
                                 .run = &c->cfg[0]};

        st = diff_run(sides, &cfg, c->a, &c->made->report, err);
    }
    return st;
}

vpu_status vpu_diff_create(vpu_diff **out, vpu_graph *self,
                           vpu_graph *reference,
                           const vpu_diff_options *options, vpu_error *err)
{
    vpu_diff_options o;
    comparing c = {.graphs = {self, reference}, .o = &o};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(self, "graph", err);
    if (!st)
        st = api_need(reference, "reference", err);
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_diff_options", err);
    if (!st && o.n_tolerances)
        st = api_need(o.tolerances, "tolerances", err);
    for (int k = 0; k < 2 && !st; k++)
        st = c.graphs[k]->resized
                 ? err_set(err, VPU_ERR_UNSUPPORTED,
                           "graph %c was resized: graphs are compared at the "
                           "shapes they were made for",
                           'a' + k)
                 : api_graph_seal(c.graphs[k], err);
    for (int k = 0; k < 2 && !st; k++)
        st = api_hosts_refuse(c.graphs[k],
                              "a comparison runs kernels alone: compare the "
                              "parts before and behind it",
                              err);
    if (!st && (isnan(o.max_slowdown) || o.max_slowdown < 0))
        st =
            err_set(err, VPU_ERR_INVALID, "max_slowdown is %g", o.max_slowdown);
    if (!st)
        st = api_graph_check_inputs(self, err);
    if (!st) {
        atomic_store(&self->cancel, false);
        st = oom_guard(compare_graphs, &c, err);
    }
    if (st) {
        arena_destroy(c.a);
        return st;
    }
    for (int k = 0; k < 2; k++)
        c.made->graphs[k] = api_graph_keep(c.graphs[k]);
    *out = c.made;
    return VPU_OK;
}

void vpu_diff_free(vpu_diff *diff)
{
    vpu_graph *graphs[2];

    if (!diff)
        return;
    memcpy(graphs, diff->graphs, sizeof graphs);
    arena_destroy(diff->arena);
    vpu_graph_free(graphs[0]);
    vpu_graph_free(graphs[1]);
}

uint32_t vpu_diff_equal(const vpu_diff *diff)
{
    return diff && diff->report.equal;
}

uint32_t vpu_diff_too_slow(const vpu_diff *diff)
{
    return diff && diff->report.too_slow;
}

uint64_t vpu_diff_count(const vpu_diff *diff)
{
    uint64_t n = 0;

    for (uint32_t i = 0; diff && i < diff->report.n_buffers; i++)
        n += diff->report.buffers[i].result.n_diff;
    return n;
}

const char *vpu_diff_summary(const vpu_diff *diff)
{
    return diff ? diff->report.summary : NULL;
}

static vpu_status print_all(void *user, vpu_error *err)
{
    vpu_diff *d = user;
    str text = {.arena = d->arena}, json = text, junit = text;

    (void)err;
    diff_report_text(&d->report, d->verbose, &text);
    diff_report_json(&d->report, &json);
    diff_report_junit(&d->report, &junit);
    d->json = str_text(&json);
    d->junit = str_text(&junit);
    d->text = str_text(&text);
    return VPU_OK;
}

static bool is_printed(vpu_diff *d)
{
    return d && (d->text || !oom_guard(print_all, d, NULL));
}

const char *vpu_diff_text(vpu_diff *diff)
{
    return is_printed(diff) ? diff->text : NULL;
}

const char *vpu_diff_json(vpu_diff *diff)
{
    return is_printed(diff) ? diff->json : NULL;
}

const char *vpu_diff_junit(vpu_diff *diff)
{
    return is_printed(diff) ? diff->junit : NULL;
}

/* --- tolerances ----------------------------------------------------------- */

static vpu_status parse_tolerance(void *user, vpu_error *err)
{
    arena *a = arena_create(0);
    diff_rule rule;
    vpu_status st = diff_rule_parse(user, a, &rule, err);

    arena_destroy(a);
    return st;
}

vpu_status vpu_diff_check_tolerance(const char *text, vpu_error *err)
{
    vpu_status st = api_need(text, "text", err);

    return st ? st : oom_guard(parse_tolerance, (void *)(uintptr_t)text, err);
}
