/* Running both sides and comparing; see diff.h. */
#include "runtime/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/diff/record.h"
#include "runtime/diff/report.h"
#include "runtime/diff/trace_back.h"

typedef struct {
    const diff_side *side;
    const char *letter;
    backend b;
    const backend_caps *caps;
} opened;

typedef struct {
    const graph *g;
    const diff_config *cfg;
    arena *mem;
    diff_report *r;
    opened sides[2];
    size_t cap;
    void *data[2]; /* heap, as large as the largest buffer compared */
    vpu_error *err;
} run;

static vpu_status of_side(const run *x, const opened *o, vpu_status st)
{
    return st ? err_in(x->err, st, "%s (%s)", o->letter, o->side->id) : st;
}

static vpu_status open_side(run *x, opened *o)
{
    vpu_status st =
        backend_open(o->side->ops, o->side->cfg, x->g, &o->b, x->err);

    for (uint32_t i = 0; i < x->g->n_buffers && !st; i++)
        if (x->g->buffers[i].role == GRAPH_INPUT)
            st = o->b.ops->write(o->b.self, i, x->cfg->inputs[i], x->err);
    if (!st)
        o->caps = o->b.ops->caps(o->b.self);
    return of_side(x, o, st);
}

static diff_tolerance tolerance_of(const run *x, const graph_buffer *b)
{
    diff_tolerance t = {0};

    for (uint32_t k = 0; k < x->cfg->n_rules; k++) {
        const diff_rule *rule = &x->cfg->rules[k];

        if (!rule->output ||
            (b->role == GRAPH_OUTPUT && !strcmp(rule->output, b->name)))
            t = rule->tolerance;
    }
    return t;
}

static void place(const tensor_desc *d, const diff_element *e, diff_place *p)
{
    p->element = *e;
    diff_unravel(d, e->index, p->at);
}

static vpu_status compare(run *x, uint32_t buffer, uint32_t launch)
{
    const graph_buffer *b = &x->g->buffers[buffer];
    const diff_pair pair = {&b->desc, x->data[0], x->data[1]};
    diff_buffer *d;
    vpu_status st = VPU_OK;
    size_t n = x->r->n_buffers;

    d = arena_append(x->mem, x->r->buffers, n, x->cap);
    *d = (diff_buffer){.buffer = buffer,
                       .launch = launch,
                       .output = b->role == GRAPH_OUTPUT,
                       .tolerance = tolerance_of(x, b)};
    for (int k = 0; k < 2 && !st; k++) {
        const opened *o = &x->sides[k];

        st = of_side(x, o,
                     o->b.ops->read(o->b.self, buffer, x->data[k], x->err));
    }
    if (!st)
        st = diff_compare(&pair, &d->tolerance, NULL, &d->result, x->err);
    if (st)
        return st;
    x->r->n_buffers = (uint32_t)n;
    if (d->result.n_diff) {
        place(&b->desc, &d->result.first, &d->first);
        place(&b->desc, &d->result.worst, &d->worst);
        place(&b->desc, &d->result.worst_ulp, &d->worst_ulp);
    }
    if (!d->result.equal) {
        if (x->r->equal && x->cfg->heat_map)
            st = diff_heat_map(x->cfg->heat_map, &pair, x->err);
        x->r->equal = false;
        x->r->launches[launch].deviates = true;
        if (x->r->first_deviating < 0)
            x->r->first_deviating = launch;
        if (!st && !x->cfg->no_groups)
            st = diff_trace_back(x->r, x->cfg, d, &pair, x->mem, x->err);
    }
    return st;
}

/* The launch that last writes a buffer; n_launches: none. */
static uint32_t writer_of(const graph *g, uint32_t buffer)
{
    for (uint32_t i = g->n_launches; i-- > 0;)
        if (diff_writes(&g->launches[i], buffer))
            return i;
    return g->n_launches;
}

static vpu_status run_both(run *x, uint32_t first, uint32_t n)
{
    backend_result *results = arena_array(x->mem, backend_result, n + 1);
    vpu_status st = VPU_OK;

    for (int k = 0; k < 2 && !st; k++) {
        const opened *o = &x->sides[k];

        memset(results, 0, n * sizeof *results);
        st = of_side(x, o, backend_run(&o->b, first, n, results, x->err));
        for (uint32_t i = 0; i < n; i++)
            *(k ? &x->r->launches[first + i].result_b
                : &x->r->launches[first + i].result_a) = results[i];
    }
    return st;
}

/* Buffers a launch writes for the last time, each once. */
static vpu_status compare_written(run *x, uint32_t launch, bool all)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < x->g->n_buffers && !st; i++) {
        const graph_buffer *b = &x->g->buffers[i];

        if (writer_of(x->g, i) != launch)
            continue;
        if (b->role == GRAPH_OUTPUT ||
            (all && b->role == GRAPH_SCRATCH && !b->untyped))
            st = compare(x, i, launch);
    }
    return st;
}

static vpu_status run_and_compare(run *x)
{
    bool stages = x->sides[0].caps->stages && x->sides[1].caps->stages;
    vpu_status st = VPU_OK;

    x->r->by_stage = stages && !x->cfg->outputs_only;
    if (!x->r->by_stage)
        st = run_both(x, 0, x->g->n_launches);
    for (uint32_t i = 0; i < x->g->n_launches && !st; i++) {
        if (x->r->by_stage)
            st = run_both(x, i, 1);
        if (!st)
            st = compare_written(x, i, x->r->by_stage);
    }
    return st;
}

static const char *index_text(arena *a, const tensor_desc *d,
                              const diff_place *p)
{
    const char *s = "[";

    for (uint32_t k = 0; k < d->rank; k++)
        s = arena_printf(a, "%s%s%u", s, k ? "," : "", p->at[k]);
    return arena_printf(a, "%s]", s);
}

static const char *differing(const run *x, const diff_buffer *d)
{
    const graph_buffer *b = &x->g->buffers[d->buffer];
    const char *s;

    if (!d->result.n_diff)
        return arena_printf(x->mem, "%s: beyond the limits of mvNCCheck",
                            b->name);
    s = arena_printf(x->mem,
                     "%s: %llu of %llu differ, first at %s: %g instead of %g",
                     b->name, (unsigned long long)d->result.n_diff,
                     (unsigned long long)d->result.n_elements,
                     index_text(x->mem, &b->desc, &d->first),
                     d->first.element.value_a, d->first.element.value_b);
    if (d->first.group_known)
        s = arena_printf(x->mem, "%s, work-group (%llu, %llu, %llu)", s,
                         (unsigned long long)d->first.group[0],
                         (unsigned long long)d->first.group[1],
                         (unsigned long long)d->first.group[2]);
    return s;
}

static void summarise(run *x)
{
    uint64_t n = 0, bits = 0;

    for (uint32_t i = 0; i < x->r->n_buffers; i++) {
        const diff_buffer *d = &x->r->buffers[i];

        n += d->result.n_elements;
        bits += d->result.n_bits;
        if (d->result.equal || x->r->equal)
            continue;
        x->r->summary = differing(x, d);
        if (x->g->n_launches > 1)
            x->r->summary = arena_printf(x->mem, "%s, stage %s", x->r->summary,
                                         x->g->launches[d->launch].name);
        return;
    }
    x->r->summary =
        bits ? arena_printf(x->mem,
                            "%llu elements, %llu not the same bits but within "
                            "tolerance",
                            (unsigned long long)n, (unsigned long long)bits)
             : arena_printf(x->mem, "%llu elements, bit for bit",
                            (unsigned long long)n);
    if (x->r->caps_a.promoted || x->r->caps_b.promoted)
        x->r->summary =
            arena_printf(x->mem, "%s (halves promoted)", x->r->summary);
}

vpu_status diff_run(const graph *g, const diff_side sides[2],
                    const diff_config *cfg, arena *mem, diff_report *report,
                    vpu_error *err)
{
    run x = {.g = g,
             .cfg = cfg,
             .mem = mem,
             .r = report,
             .sides = {{.side = &sides[0], .letter = "a"},
                       {.side = &sides[1], .letter = "b"}},
             .err = err};
    uint64_t most = 1;
    vpu_status st = VPU_OK;

    *report = (diff_report){.graph = g,
                            .id_a = sides[0].id,
                            .id_b = sides[1].id,
                            .equal = true,
                            .first_deviating = -1,
                            .summary = ""};
    report->launches = arena_array(mem, diff_launch, g->n_launches + 1);
    for (uint32_t i = 0; i < g->n_buffers; i++)
        if (g->buffers[i].bytes > most)
            most = g->buffers[i].bytes;
    for (int k = 0; k < 2 && !st; k++) {
        x.data[k] = malloc(most);
        st = x.data[k] ? open_side(&x, &x.sides[k])
                       : err_set(err, VPU_ERR_NOMEM,
                                 "no memory for %llu bytes of a tensor",
                                 (unsigned long long)most);
    }
    if (!st) {
        report->caps_a = *x.sides[0].caps;
        report->caps_b = *x.sides[1].caps;
        report->caps_a.device = arena_strdup(mem, report->caps_a.device);
        report->caps_b.device = arena_strdup(mem, report->caps_b.device);
        report->caps_a.version = arena_strdup(mem, report->caps_a.version);
        report->caps_b.version = arena_strdup(mem, report->caps_b.version);
        st = run_and_compare(&x);
    }
    if (!st)
        summarise(&x);
    for (int k = 0; k < 2; k++) {
        backend_close(&x.sides[k].b);
        free(x.data[k]);
    }
    return st;
}
