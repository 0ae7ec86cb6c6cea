/* Running both sides and comparing; see diff.h. */
#include "runtime/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/diff/pairing.h"
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
    const graph *g; /* a's */
    diff_pairing pairing;
    const diff_config *cfg;
    arena *mem;
    diff_report *r;
    opened sides[2];
    bool layers; /* both sides read what layers of a network have written */
    size_t cap;
    void *data[2]; /* heap, as large as the largest buffer compared */
    vpu_error *err;
} run;

static vpu_status of_side(const run *x, const opened *o, vpu_status st)
{
    return st ? err_in(x->err, st, "%s (%s)", o->letter, o->side->id) : st;
}

static bool has_run(const opened *o)
{
    return o->side->kept && o->side->kept->results;
}

static vpu_status open_side(run *x, opened *o)
{
    const graph *g = o->side->graph;
    vpu_status st = VPU_OK;

    if (has_run(o)) {
        o->b = o->side->kept->b;
        o->caps = o->b.ops->caps(o->b.self);
        return VPU_OK;
    }
    st = backend_open(o->side->ops, o->side->cfg, g, &o->b, x->err);
    for (uint32_t i = 0; i < g->n_buffers && !st; i++)
        if (g->buffers[i].role == GRAPH_INPUT)
            st = o->b.ops->write(o->b.self, i, o->side->inputs[i], x->err);
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
    const graph_buffer *b = graph_buffer_at(x->g, buffer);
    const uint32_t places[2] = {buffer, x->pairing.buffers[buffer]};
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
                     o->b.ops->read(o->b.self, places[k], x->data[k], x->err));
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

static vpu_status run_side(run *x, int k, uint32_t first, uint32_t n)
{
    const opened *o = &x->sides[k];

    return of_side(
        x, o,
        backend_run(&o->b, first, n, x->r->sides[k].results + first, x->err));
}

static vpu_status run_all(run *x)
{
    vpu_status st = VPU_OK;

    for (int k = 0; k < 2 && !st; k++) {
        const opened *o = &x->sides[k];
        uint32_t n = o->side->graph->n_launches;
        diff_kept *kept = o->side->kept;

        if (has_run(o)) {
            memcpy(x->r->sides[k].results, kept->results,
                   n * sizeof *kept->results);
            continue;
        }
        st = run_side(x, k, 0, n);
        if (!st && kept)
            *kept = (diff_kept){o->b, x->r->sides[k].results};
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
        if (x->pairing.buffers[i] != DIFF_UNPAIRED &&
            (b->role == GRAPH_OUTPUT ||
             (all && b->role == GRAPH_SCRATCH && !b->untyped)))
            st = compare(x, i, launch);
    }
    for (uint32_t i = 0; i < x->g->n_layers && x->layers && !st; i++) {
        uint32_t at = x->g->n_buffers + i;

        if (all && x->g->layers[i].launch == launch &&
            x->pairing.buffers[at] != DIFF_UNPAIRED)
            st = compare(x, at, launch);
    }
    return st;
}

static vpu_status run_and_compare(run *x)
{
    bool stages = x->sides[0].caps->stages && x->sides[1].caps->stages &&
                  x->pairing.stages;
    vpu_status st = VPU_OK;

    x->r->by_stage = stages && !x->cfg->outputs_only;
    x->layers = backend_extras(x->sides[0].b.ops) &
                backend_extras(x->sides[1].b.ops) & BACKEND_LAYERS;
    if (!x->r->by_stage)
        st = run_all(x);
    for (uint32_t i = 0; i < x->g->n_launches && !st; i++) {
        for (int k = 0; k < 2 && !st && x->r->by_stage; k++)
            st = run_side(x, k, i, 1);
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
    const graph_buffer *b = graph_buffer_at(x->g, d->buffer);
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

/* Halves have 11 bits, and a few operations' roundings add up: an element that
 * is off by more than this share of the largest one is no matter of rounding.
 */
static const double ROUNDING_SHARE = 1.0 / 64;

/* What makes promoted halves differ, by rounding and by more. */
static void tell_promotion(run *x, const diff_result *d)
{
    bool rounding = d->worst.apart <= ROUNDING_SHARE * d->max_abs_b;

    for (int k = 0; k < 2; k++)
        if (x->r->sides[k].caps.promoted)
            x->r->summary = arena_printf(
                x->mem, "%s; side %s computes halves as floats%s",
                x->r->summary, x->sides[k].letter,
                rounding ? ", which rounds less often (--tolerance)"
                         : ": are bytes counted by hand (width * 2), not by "
                           "sizeof?");
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
        tell_promotion(x, &d->result);
        return;
    }
    x->r->summary =
        bits ? arena_printf(x->mem,
                            "%llu elements, %llu not the same bits but within "
                            "tolerance",
                            (unsigned long long)n, (unsigned long long)bits)
             : arena_printf(x->mem, "%llu elements, bit for bit",
                            (unsigned long long)n);
    if (x->r->sides[0].caps.promoted || x->r->sides[1].caps.promoted)
        x->r->summary =
            arena_printf(x->mem, "%s (halves promoted)", x->r->summary);
}

/* --- cycles -------------------------------------------------------------- */

vpu_status diff_rule_parse(const char *text, arena *a, diff_rule *out,
                           vpu_error *err)
{
    static const char *const words[] = {"ulp", "abs", "rel", "nan", "zero"};
    const char *eq = strchr(text, '=');
    size_t n = eq ? (size_t)(eq - text) : 0;

    *out = (diff_rule){0};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (n == strlen(words[k]) && !strncmp(text, words[k], n))
            n = 0;
    if (n && !memchr(text, ',', n)) {
        out->output = arena_strndup(a, text, n);
        text = eq + 1;
    }
    return diff_tolerance_parse(text, &out->tolerance, err);
}

double diff_slowdown(const diff_report *r)
{
    return r->sides[0].cycles && r->sides[1].cycles
               ? (double)r->sides[0].cycles / (double)r->sides[1].cycles
               : 0;
}

static bool is_slower(const diff_report *r, uint64_t a, uint64_t b)
{
    return a && b && (double)a > r->max_slowdown * (double)b;
}

static void tell_budget(run *x)
{
    diff_report *r = x->r;

    r->summary =
        arena_printf(x->mem, "%s; %llu cycles, the budget is %llu", r->summary,
                     (unsigned long long)r->sides[0].cycles,
                     (unsigned long long)r->cycle_budget);
}

/* The stage that is slower, or all of them. */
static void tell_slower(run *x)
{
    const diff_report *r = x->r;
    double by = diff_slowdown(r);
    const char *of = "";

    for (uint32_t i = 0; i < x->g->n_launches && by <= r->max_slowdown; i++)
        if (r->launches[i].too_slow) {
            by = (double)r->sides[0].results[i].cycles /
                 (double)r->sides[1].results[i].cycles;
            of = arena_printf(x->mem, ", stage %s", x->g->launches[i].name);
        }
    x->r->summary =
        arena_printf(x->mem, "%s; %.4g times the cycles, the limit is %.4g%s",
                     r->summary, by, r->max_slowdown, of);
}

static void judge_cycles(run *x)
{
    diff_report *r = x->r;

    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < r->sides[k].graph->n_launches; i++)
            r->sides[k].cycles += r->sides[k].results[i].cycles;
    r->over_budget = r->cycle_budget && r->sides[0].cycles > r->cycle_budget;
    r->too_slow = r->over_budget;
    if (r->max_slowdown <= 0)
        return;
    r->beyond_limit = is_slower(r, r->sides[0].cycles, r->sides[1].cycles);
    for (uint32_t i = 0; r->by_stage && i < x->g->n_launches; i++) {
        diff_launch *l = &r->launches[i];

        l->too_slow = is_slower(r, r->sides[0].results[i].cycles,
                                r->sides[1].results[i].cycles);
        r->beyond_limit |= l->too_slow;
    }
    r->too_slow |= r->beyond_limit;
}

/* The limit that counts, and whether it can be judged. */
static vpu_status find_limit(run *x)
{
    diff_report *r = x->r;
    bool known = r->sides[0].caps.cycles && r->sides[1].caps.cycles;

    r->cycle_budget = x->cfg->cycle_budget;
    if (r->cycle_budget && !r->sides[0].caps.cycles)
        return err_set(x->err, VPU_ERR_UNSUPPORTED,
                       "a budget of %llu cycles, but a (%s) counts none; "
                       "expected the simulator with its timing, or a "
                       "recording of it",
                       (unsigned long long)r->cycle_budget, r->sides[0].id);
    r->max_slowdown = x->cfg->max_slowdown > 0 ? x->cfg->max_slowdown
                                               : r->sides[1].caps.max_slowdown;
    if (known || x->cfg->max_slowdown <= 0 || x->cfg->slowdown_if_known) {
        r->max_slowdown = known ? r->max_slowdown : 0;
        return VPU_OK;
    }
    for (int k = 0; k < 2; k++)
        if (!r->sides[k].caps.cycles)
            return err_set(
                x->err, VPU_ERR_UNSUPPORTED,
                "a limit of %gx the cycles, but %s (%s) counts none; "
                "expected the simulator with its timing, or a "
                "recording of it",
                x->cfg->max_slowdown, x->sides[k].letter, r->sides[k].id);
    return VPU_OK;
}

static void begin_side(run *x, int k, const diff_side *side)
{
    x->sides[k] = (opened){.side = side, .letter = k ? "b" : "a"};
    x->r->sides[k] =
        (diff_report_side){.id = side->id,
                           .graph = side->graph,
                           .inputs = side->inputs,
                           .results = arena_array(x->mem, backend_result,
                                                  side->graph->n_launches + 1)};
}

static void keep_caps(run *x, int k)
{
    backend_caps *c = &x->r->sides[k].caps;
    const char **differs;

    *c = *x->sides[k].caps;
    c->device = arena_strdup(x->mem, c->device);
    c->version = arena_strdup(x->mem, c->version);
    differs = arena_array(x->mem, const char *, c->n_differs + 1);
    for (uint32_t i = 0; i < c->n_differs; i++)
        differs[i] = arena_strdup(x->mem, c->differs[i]);
    c->differs = differs;
}

static uint64_t largest(const graph *g)
{
    uint64_t most = 1;

    for (uint32_t i = 0; i < g->n_buffers; i++)
        if (g->buffers[i].bytes > most)
            most = g->buffers[i].bytes;
    for (uint32_t i = 0; i < g->n_layers; i++)
        if (g->layers[i].as.bytes > most)
            most = g->layers[i].as.bytes;
    return most;
}

static vpu_status open_both(run *x)
{
    uint64_t most = largest(x->g);
    vpu_status st = VPU_OK;

    for (int k = 0; k < 2 && !st; k++) {
        x->data[k] = malloc(most);
        st = x->data[k] ? open_side(x, &x->sides[k])
                        : err_set(x->err, VPU_ERR_NOMEM,
                                  "no memory for %llu bytes of a tensor",
                                  (unsigned long long)most);
    }
    for (int k = 0; k < 2 && !st; k++)
        keep_caps(x, k);
    return st;
}

vpu_status diff_run(const diff_side sides[2], const diff_config *cfg,
                    arena *mem, diff_report *report, vpu_error *err)
{
    const graph *g = sides[0].graph;
    run x = {.g = g, .cfg = cfg, .mem = mem, .r = report, .err = err};
    vpu_status st;

    *report = (diff_report){
        .graph = g, .equal = true, .first_deviating = -1, .summary = ""};
    report->launches = arena_array(mem, diff_launch, g->n_launches + 1);
    for (int k = 0; k < 2; k++)
        begin_side(&x, k, &sides[k]);
    st = diff_pair_graphs(g, sides[1].graph, mem, &x.pairing, err);
    report->paired = x.pairing.stages;
    if (!st)
        st = open_both(&x);
    if (!st)
        st = find_limit(&x);
    if (!st)
        st = run_and_compare(&x);
    if (!st) {
        judge_cycles(&x);
        summarise(&x);
        if (report->over_budget)
            tell_budget(&x);
        if (report->beyond_limit)
            tell_slower(&x);
    }
    for (int k = 0; k < 2; k++) {
        if (!has_run(&x.sides[k]))
            backend_close(&x.sides[k].b);
        free(x.data[k]);
    }
    return st;
}
