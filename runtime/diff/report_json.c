/* The report as JSON. What JSON has no number for is a text: "inf", "nan". */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/diff/report_priv.h"

static json_t *number(double v)
{
    if (isnan(v))
        return json_string("nan");
    if (isinf(v))
        return json_string(v < 0 ? "-inf" : "inf");
    return json_real(v);
}

/* 64 bits: JSON readers may not take more than 53, so as they are, and as a
 * text above. */
static json_t *count(uint64_t v)
{
    return v >> 53 ? json_sprintf("%llu", (unsigned long long)v)
                   : json_integer((json_int_t)v);
}

static json_t *text(const char *s)
{
    json_t *j = json_string(s ? s : "");

    return j ? j : json_string("(not UTF-8)");
}

static json_t *triple(const uint32_t *v)
{
    return json_pack("[I, I, I]", (json_int_t)v[0], (json_int_t)v[1],
                     (json_int_t)v[2]);
}

static json_t *element(const diff_tensor *t, const diff_element *e,
                       const diff_writer *w)
{
    json_t *j = json_object(), *index = json_array();
    uint32_t at[TENSOR_MAX_RANK];

    diff_unravel(&t->result.desc, e->index, at);
    for (uint32_t i = 0; i < t->result.desc.rank; i++)
        json_array_append_new(index, json_integer(at[i]));
    json_object_set_new(j, "index", index);
    json_object_set_new(j, "value", number(e->a));
    json_object_set_new(j, "expected", number(e->b));
    json_object_set_new(j, "ulp", count(e->ulp));
    json_object_set_new(j, "apart", number(e->apart));
    if (w) {
        json_object_set_new(j, "group", triple(w->group));
        json_object_set_new(j, "item", triple(w->local));
        json_object_set_new(j, "global", triple(w->global));
    }
    return j;
}

static json_t *groups(const diff_groups *g)
{
    json_t *j = json_object(), *list = json_array();

    for (uint32_t i = 0; i < g->n_cells; i++)
        if (g->failed[i])
            json_array_append_new(list, json_pack("[I, o]",
                                                  (json_int_t)(i * g->per_cell),
                                                  count(g->failed[i])));
    json_object_set_new(j, "groups", triple(g->groups));
    json_object_set_new(j, "groups_per_cell", count(g->per_cell));
    json_object_set_new(j, "failed", list);
    return j;
}

static json_t *metrics(const diff_tensor *t)
{
    json_t *j = json_object();
    diff_metric_row rows[4];

    diff_metric_rows(t, rows);
    for (int i = 0; i < 4; i++)
        json_object_set_new(j, rows[i].key,
                            json_pack("{s:o, s:o, s:b}", "percent",
                                      number(rows[i].value), "limit",
                                      number(rows[i].limit), "pass",
                                      rows[i].value <= rows[i].limit));
    return j;
}

static json_t *classes(const diff_result *r)
{
    json_t *list = json_array();
    int last = DIFF_ULP_CLASSES;

    while (last > 1 && !r->ulp_classes[last - 1])
        last--;
    for (int c = 0; c < last; c++)
        json_array_append_new(list, count(r->ulp_classes[c]));
    return list;
}

static json_t *tensor_json(const diff_report *report, const diff_tensor *t,
                           arena *a)
{
    const diff_result *r = &t->result;
    json_t *j = json_object();

    json_object_set_new(j, "name", text(t->name));
    json_object_set_new(j, "stage",
                        t->launch < report->n_stages
                            ? text(report->stages[t->launch].name)
                            : json_null());
    json_object_set_new(j, "output", json_boolean(t->output));
    json_object_set_new(j, "type", text(tensor_desc_text(a, &r->desc)));
    json_object_set_new(j, "tolerance",
                        text(diff_tolerance_text(&t->tolerance, a)));
    json_object_set_new(j, "equal", json_boolean(r->equal));
    json_object_set_new(j, "elements", count(r->n));
    json_object_set_new(j, "different", count(r->n_diff));
    json_object_set_new(j, "different_bits", count(r->n_bits));
    json_object_set_new(j, "nan", count(r->n_nan_a));
    json_object_set_new(j, "nan_expected", count(r->n_nan_b));
    json_object_set_new(j, "zeros_of_unlike_sign", count(r->n_zero_sign));
    json_object_set_new(j, "max_ulp", count(r->max_ulp));
    json_object_set_new(j, "ulp_histogram", classes(r));
    json_object_set_new(j, "metrics", metrics(t));
    json_object_set_new(j, "who_wrote", text(t->map.rule));
    if (!r->n_diff)
        return j;
    json_object_set_new(j, "first",
                        element(t, &r->first, t->located ? &t->first : NULL));
    json_object_set_new(j, "worst",
                        element(t, &r->worst, t->located ? &t->worst : NULL));
    json_object_set_new(j, "worst_ulp", element(t, &r->worst_ulp, NULL));
    if (t->places.groups.n_cells)
        json_object_set_new(j, "failure_map", groups(&t->places.groups));
    return j;
}

static json_t *side(const char *label, const backend_caps *c)
{
    return json_pack("{s:o, s:o, s:o, s:b}", "name", text(label), "device",
                     text(c->device), "version", text(c->version), "promoted",
                     c->promoted);
}

static void set_time(json_t *j, const char *key, const backend_result *x,
                     const backend_caps *c)
{
    json_t *t = json_object();

    if (c->cycles)
        json_object_set_new(t, "cycles", count(x->cycles));
    json_object_set_new(t, "seconds", number(x->seconds));
    json_object_set_new(t, "of_the_device", json_boolean(c->timed));
    json_object_set_new(j, key, t);
}

static json_t *stages(const diff_report *r)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < r->n_stages; i++) {
        const diff_stage *s = &r->stages[i];
        json_t *j = json_object();

        json_object_set_new(j, "name", text(s->name));
        json_object_set_new(j, "kernel", text(s->kernel));
        if (s->compared)
            json_object_set_new(j, "equal", json_boolean(s->equal));
        set_time(j, "a", &s->a, &r->caps_a);
        set_time(j, "b", &s->b, &r->caps_b);
        json_array_append_new(list, j);
    }
    return list;
}

void diff_report_json(const diff_report *r, str *out)
{
    static const char *const verdicts[] = {"equal", "different", "not run"};
    json_t *j = json_object(), *tensors = json_array();
    arena *a = arena_create(0);
    char *dump;

    json_object_set_new(j, "layer", text(r->layer));
    json_object_set_new(j, "type", text(r->type));
    json_object_set_new(j, "a", side(r->a, &r->caps_a));
    json_object_set_new(j, "b", side(r->b, &r->caps_b));
    json_object_set_new(j, "verdict", text(verdicts[r->verdict]));
    if (r->verdict == DIFF_NOT_RUN) {
        json_object_set_new(j, "error", text(r->error.msg));
        json_object_set_new(j, "failed", text(r->failed));
    }
    json_object_set_new(j, "by_stage", json_boolean(r->by_stage));
    json_object_set_new(j, "first_stage",
                        r->first_stage < 0
                            ? json_null()
                            : text(r->stages[r->first_stage].name));
    for (uint32_t i = 0; i < r->n_tensors; i++)
        json_array_append_new(tensors, tensor_json(r, &r->tensors[i], a));
    json_object_set_new(j, "tensors", tensors);
    json_object_set_new(j, "stages", stages(r));
    dump = json_dumps(j, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    str_puts(out, dump ? dump : "{}");
    str_puts(out, "\n");
    free(dump);
    json_decref(j);
    arena_destroy(a);
}
