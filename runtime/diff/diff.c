/* Both sides launch by launch, comparing what each launch wrote. */
#include "runtime/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/diff/record.h"

typedef struct {
    const diff_side *sides[2];
    const graph *g;
    const diff_options *o;
    arena *a;
    diff_report *r;
    size_t cap;
    void *data[2]; /* the largest tensor each */
    vpu_error *err;
} runner;

/* A side's failure is a verdict, not an error of ours. */
static bool failed(runner *x, int side)
{
    x->r->verdict = DIFF_NOT_RUN;
    x->r->failed = x->sides[side]->label;
    return false;
}

static const diff_rule *rule_of(const runner *x, const char *name)
{
    const diff_rule *found = NULL;

    for (uint32_t i = 0; i < x->o->n_rules; i++)
        if (!strcmp(x->o->rules[i].name, name))
            found = &x->o->rules[i];
    return found;
}

static vpu_status check_rules(const runner *x)
{
    for (uint32_t i = 0; i < x->o->n_rules; i++) {
        const diff_rule *rule = &x->o->rules[i];
        const graph_buffer *b = NULL;

        for (uint32_t k = 0; k < x->g->n_buffers; k++)
            if (!strcmp(x->g->buffers[k].name, rule->name))
                b = &x->g->buffers[k];
        if (!b)
            return err_set(x->err, VPU_ERR_INVALID,
                           "a tolerance for '%s': layer '%s' has no such "
                           "tensor",
                           rule->name, x->g->layer);
        if (rule->typed && b->bytes % tensor_dtype_bytes(rule->dtype))
            return err_set(x->err, VPU_ERR_INVALID,
                           "'%s' has %llu bytes, no whole number of %s",
                           rule->name, (unsigned long long)b->bytes,
                           tensor_dtype_name(rule->dtype));
    }
    return VPU_OK;
}

/* What to compare a buffer as. */
static tensor_desc desc_of(const runner *x, const graph_buffer *b,
                           diff_tolerance *tol)
{
    const diff_rule *rule = rule_of(x, b->name);
    tensor_desc d = b->desc;

    *tol = rule ? rule->tolerance : x->o->tolerance;
    if (b->untyped) {
        d = (tensor_desc){.dtype = TENSOR_U8, .rank = 1};
        if (rule && rule->typed)
            d.dtype = rule->dtype;
        else
            *tol = (diff_tolerance){0};
        d.dims[0] = (uint32_t)(b->bytes / tensor_dtype_bytes(d.dtype));
    }
    return d;
}

static vpu_status judge(runner *x, diff_tensor *t, const tensor_desc *d)
{
    diff_watch watch;
    vpu_status st;

    diff_map_init(x->g, t->launch, t->buffer, d, x->o->provenance, &t->map);
    if (x->o->no_places)
        return diff_compare(d, x->data[0], x->data[1], &t->tolerance, NULL,
                            &t->result, x->err);
    diff_places_init(&t->map, d, x->a, &t->places, &watch);
    st = diff_compare(d, x->data[0], x->data[1], &t->tolerance, &watch,
                      &t->result, x->err);
    t->located = !st && t->result.n_diff &&
                 diff_map_who(&t->map, t->result.first.index, &t->first) &&
                 diff_map_who(&t->map, t->result.worst.index, &t->worst);
    return st;
}

/* False: *st tells, or a side failed. */
static bool compare(runner *x, uint32_t buffer, uint32_t launch, bool *equal,
                    vpu_status *st)
{
    const graph_buffer *b = &x->g->buffers[buffer];
    diff_tensor *t;
    tensor_desc d;
    size_t n = x->r->n_tensors;

    for (int s = 0; s < 2; s++)
        if (x->sides[s]->ops->read(x->sides[s]->self, buffer, x->data[s],
                                   &x->r->error))
            return failed(x, s);
    t = arena_append(x->a, x->r->tensors, n, x->cap);
    x->r->n_tensors = (uint32_t)n;
    *t = (diff_tensor){.name = b->name,
                       .buffer = buffer,
                       .launch = launch,
                       .output = b->role == GRAPH_OUTPUT};
    d = desc_of(x, b, &t->tolerance);
    *st = judge(x, t, &d);
    *equal = t->result.equal;
    if (!*st && t->output && !t->result.equal)
        x->r->verdict = DIFF_DIFFERENT;
    return !*st;
}

static bool launch(runner *x, uint32_t first, uint32_t n)
{
    backend_result *results = arena_array(x->a, backend_result, n + 1);

    for (int s = 0; s < 2; s++) {
        if (x->sides[s]->ops->run(x->sides[s]->self, first, n, results,
                                  &x->r->error))
            return failed(x, s);
        for (uint32_t i = 0; i < n; i++)
            *(s ? &x->r->stages[first + i].b : &x->r->stages[first + i].a) =
                results[i];
    }
    return true;
}

static vpu_status by_stage(runner *x)
{
    vpu_status st = VPU_OK;

    for (uint32_t l = 0; l < x->g->n_launches; l++) {
        diff_stage *s = &x->r->stages[l];

        if (!launch(x, l, 1))
            return VPU_OK;
        s->compared = s->equal = true;
        for (uint32_t i = 0; i < x->g->n_buffers; i++) {
            bool equal;

            if (!diff_writes(&x->g->launches[l], i))
                continue;
            if (!compare(x, i, l, &equal, &st))
                return st;
            s->equal &= equal;
        }
        if (!s->equal && x->r->first_stage < 0)
            x->r->first_stage = (int32_t)l;
    }
    return VPU_OK;
}

static vpu_status at_once(runner *x)
{
    vpu_status st = VPU_OK;
    bool equal;

    if (!launch(x, 0, x->g->n_launches))
        return VPU_OK;
    for (uint32_t i = 0; i < x->g->n_buffers; i++) {
        uint32_t last = x->g->n_launches;

        if (x->g->buffers[i].role != GRAPH_OUTPUT)
            continue;
        while (last && !diff_writes(&x->g->launches[last - 1], i))
            last--;
        if (!compare(x, i, last ? last - 1 : x->g->n_launches, &equal, &st))
            return st;
    }
    return VPU_OK;
}

static bool give_inputs(runner *x, void *const *inputs)
{
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < x->g->n_buffers; i++)
            if (x->g->buffers[i].role == GRAPH_INPUT &&
                x->sides[s]->ops->write(x->sides[s]->self, i, inputs[i],
                                        &x->r->error))
                return failed(x, s);
    return true;
}

static vpu_status get_memory(runner *x)
{
    uint64_t most = 1;

    for (uint32_t i = 0; i < x->g->n_buffers; i++)
        if (x->g->buffers[i].bytes > most)
            most = x->g->buffers[i].bytes;
    for (int s = 0; s < 2; s++) {
        x->data[s] = malloc(most);
        if (!x->data[s])
            return err_set(x->err, VPU_ERR_NOMEM,
                           "no memory for a tensor of %llu bytes",
                           (unsigned long long)most);
    }
    return VPU_OK;
}

static void start_report(runner *x)
{
    diff_report *r = x->r;

    memset(r, 0, sizeof *r);
    r->layer = x->g->layer;
    r->type = x->g->type;
    r->a = x->sides[0]->label;
    r->b = x->sides[1]->label;
    r->caps_a = *x->sides[0]->ops->caps(x->sides[0]->self);
    r->caps_b = *x->sides[1]->ops->caps(x->sides[1]->self);
    r->by_stage = r->caps_a.stages && r->caps_b.stages && !x->o->outputs_only;
    r->first_stage = -1;
    r->n_stages = x->g->n_launches;
    r->stages = arena_array(x->a, diff_stage, r->n_stages + 1);
    for (uint32_t l = 0; l < r->n_stages; l++) {
        r->stages[l].name = x->g->launches[l].name;
        r->stages[l].kernel = x->g->launches[l].entry;
    }
}

vpu_status diff_run(const diff_side *a, const diff_side *b, const graph *g,
                    void *const *inputs, const diff_options *o, arena *mem,
                    diff_report *out, vpu_error *err)
{
    runner x = {
        .sides = {a, b}, .g = g, .o = o, .a = mem, .r = out, .err = err};
    vpu_status st;

    start_report(&x);
    st = check_rules(&x);
    if (!st)
        st = get_memory(&x);
    if (!st && give_inputs(&x, inputs))
        st = out->by_stage ? by_stage(&x) : at_once(&x);
    free(x.data[0]);
    free(x.data[1]);
    return st;
}
