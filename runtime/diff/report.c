/* Reports of a comparison; see report.h. */
#include "base/oom.h"
#include "runtime/diff/report.h"

#include "runtime/json/jsontext.h"
#include <jansson.h>
#include <libxml/xmlwriter.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BAD_GROUPS = 8 };

/* --- text ---------------------------------------------------------------- */

static void add_side(str *out, const char *letter, const char *id,
                     const backend_caps *c)
{
    str_printf(out, "%s  %-24s %s%s%s", letter, id, c->device,
               c->version && *c->version ? ", " : "",
               c->version ? c->version : "");
    if (c->n_shaves)
        str_printf(out, ", %u SHAVE%s", c->n_shaves,
                   c->n_shaves == 1 ? "" : "s");
    str_puts(out, "\n");
    if (c->promoted)
        str_puts(out, "   halves promoted to float: rounding differs in the "
                      "last places\n");
}

static void add_time(str *out, const backend_result *r, const backend_caps *c)
{
    if (r->cycles)
        str_printf(out, " %14llu", (unsigned long long)r->cycles);
    else
        str_printf(out, " %14s", "-");
    str_printf(out, " %11.3f ms%s", r->seconds * 1e3, c->timed ? " " : "*");
}

/* Stages of both sides are the same ones. */
static void add_pairs(const diff_report *r, str *out)
{
    const diff_report_side *a = &r->sides[0], *b = &r->sides[1];

    str_printf(out, "\n%-32s %14s %11s %18s %11s\n", "stage", "a cycles",
               "a time", "b cycles", "b time");
    for (uint32_t i = 0; i < r->graph->n_launches; i++) {
        const diff_launch *l = &r->launches[i];

        str_printf(out, "%-32.32s", r->graph->launches[i].name);
        add_time(out, &a->results[i], &a->caps);
        add_time(out, &b->results[i], &b->caps);
        str_printf(out, "%s%s\n", l->deviates ? "  deviates" : "",
                   l->too_slow ? "  slower" : "");
    }
}

static void add_stages(const diff_report *r, int side, str *out)
{
    const diff_report_side *s = &r->sides[side];

    str_printf(out, "\nstage of %c%23s %14s %11s\n", 'a' + side, "", "cycles",
               "time");
    for (uint32_t i = 0; i < s->graph->n_launches; i++) {
        str_printf(out, "%-32.32s", s->graph->launches[i].name);
        add_time(out, &s->results[i], &s->caps);
        str_printf(out, "%s\n",
                   !side && r->launches[i].deviates ? "  deviates" : "");
    }
}

static void add_slowdown(const diff_report *r, str *out)
{
    double by = diff_slowdown(r);

    if (by <= 0)
        return;
    str_printf(out, "cycles: a takes %.4g times those of b", by);
    if (r->max_slowdown > 0)
        str_printf(out, ", the limit is %.4g%s", r->max_slowdown,
                   r->beyond_limit ? ": SLOWER" : "");
    str_puts(out, "\n");
}

static void add_budget(const diff_report *r, str *out)
{
    if (r->cycle_budget)
        str_printf(out, "cycles: a takes %llu, the budget is %llu%s\n",
                   (unsigned long long)r->sides[0].cycles,
                   (unsigned long long)r->cycle_budget,
                   r->over_budget ? ": SLOWER" : "");
}

static void add_launches(const diff_report *r, str *out)
{
    if (r->paired)
        add_pairs(r, out);
    for (int k = 0; k < 2 && !r->paired; k++)
        add_stages(r, k, out);
    if (!r->sides[0].caps.timed || !r->sides[1].caps.timed)
        str_puts(out, "* by the host's clock\n");
    if (r->sides[0].caps.n_shaves && r->sides[1].caps.n_shaves &&
        r->sides[0].caps.n_shaves != r->sides[1].caps.n_shaves)
        str_puts(out, "the sides have other numbers of SHAVEs; --shaves N "
                      "gives both as many\n");
    add_slowdown(r, out);
    add_budget(r, out);
    str_puts(out, "\n");
}

static void add_index(str *out, const tensor_desc *d, const diff_place *p)
{
    str_puts(out, "[");
    for (uint32_t k = 0; k < d->rank; k++)
        str_printf(out, "%s%u", k ? "," : "", p->at[k]);
    str_puts(out, "]");
}

static void add_place(str *out, const char *what, const tensor_desc *d,
                      const diff_place *p)
{
    str_printf(out, "  %-22s ", what);
    add_index(out, d, p);
    str_printf(out, ": %.9g instead of %.9g, %.3g apart, %llu ULP",
               p->element.value_a, p->element.value_b, p->element.apart,
               (unsigned long long)p->element.ulp);
    if (p->group_known)
        str_printf(out, "; work-group (%llu, %llu, %llu)",
                   (unsigned long long)p->group[0],
                   (unsigned long long)p->group[1],
                   (unsigned long long)p->group[2]);
    if (p->item_known)
        str_printf(out, ", work-item (%u, %u, %u)", p->item[0], p->item[1],
                   p->item[2]);
    str_puts(out, "\n");
}

static void add_classes(str *out, const diff_result *r)
{
    str_printf(out, "  %-22s", "elements by ULP");
    for (int k = 0; k < DIFF_ULP_CLASSES; k++) {
        unsigned long long n = r->ulp_classes[k];

        if (!n)
            continue;
        if (k < 2)
            str_printf(out, "  %d: %llu", k, n);
        else
            str_printf(out, "  %llu..%llu: %llu", 1ULL << (k - 1),
                       (1ULL << (k - 1)) * 2 - 1, n);
    }
    if (r->n_nan_a || r->n_nan_b)
        str_printf(out, "  NaN: %llu in a, %llu in b",
                   (unsigned long long)r->n_nan_a,
                   (unsigned long long)r->n_nan_b);
    str_puts(out, "\n");
}

static void add_metrics(str *out, const diff_buffer *d)
{
    static const char *const names[] = {"min pixel accuracy",
                                        "average pixel accuracy",
                                        "wrong values", "pixel-wise L2"};
    const diff_metrics *m = &d->result.metrics, *limit = &d->tolerance.limits;
    double values[] = {m->min_accuracy, m->average_accuracy, m->wrong, m->l2};
    double limits[] = {limit->min_accuracy, limit->average_accuracy,
                       limit->wrong, limit->l2};

    for (int k = 0; k < 4; k++) {
        str_printf(out, "  %-22s %.4g %%", names[k], values[k]);
        if (d->tolerance.by_metrics)
            str_printf(out, " (limit %g %%)%s", limits[k],
                       values[k] <= limits[k] ? "" : " beyond");
        str_puts(out, "\n");
    }
}

static int more_bad(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;

    if (a[1] != b[1])
        return a[1] < b[1] ? 1 : -1;
    return a[0] > b[0] ? 1 : -1;
}

static void add_groups(str *out, const diff_report *r, const diff_buffer *d)
{
    const graph_launch *l = &r->graph->launches[d->launch];
    uint64_t(*bad)[2], n = 0;

    if (!d->bad_in_group || !d->n_bad_groups)
        return;
    bad = malloc(d->n_bad_groups * sizeof *bad);
    for (uint64_t g = 0; bad && g < d->n_groups; g++)
        if (d->bad_in_group[g]) {
            bad[n][0] = g;
            bad[n++][1] = d->bad_in_group[g];
        }
    if (!bad)
        return;
    qsort(bad, n, sizeof *bad, more_bad);
    str_printf(out, "  %-22s %llu of %llu:", "work-groups with them",
               (unsigned long long)n, (unsigned long long)d->n_groups);
    for (uint64_t k = 0; k < n && k < MAX_BAD_GROUPS; k++) {
        uint64_t nx = l->global[0] / l->local[0];
        uint64_t ny = l->global[1] / l->local[1];

        str_printf(out, " (%llu, %llu, %llu): %llu%s",
                   (unsigned long long)(bad[k][0] % nx),
                   (unsigned long long)(bad[k][0] / nx % ny),
                   (unsigned long long)(bad[k][0] / nx / ny),
                   (unsigned long long)bad[k][1], k + 1 < n ? "," : "");
    }
    str_puts(out, n > MAX_BAD_GROUPS ? " …\n" : "\n");
    free(bad);
}

static void add_buffer(str *out, const diff_report *r, const diff_buffer *d,
                       bool verbose)
{
    const graph_buffer *b = graph_buffer_at(r->graph, d->buffer);
    arena *a = arena_create(0);

    str_printf(out, "%s %s: ", b->name, tensor_desc_text(a, &b->desc));
    arena_destroy(a);
    if (!d->result.n_bits)
        str_puts(out, "equal, bit for bit\n");
    else if (d->result.equal)
        str_printf(out,
                   "equal within the tolerance, %llu of %llu not bit for bit\n",
                   (unsigned long long)d->result.n_bits,
                   (unsigned long long)d->result.n_elements);
    else
        str_printf(out, "DIFFERENT, %llu of %llu elements (%.3g %%)\n",
                   (unsigned long long)d->result.n_diff,
                   (unsigned long long)d->result.n_elements,
                   100.0 * (double)d->result.n_diff /
                       (double)d->result.n_elements);
    if (d->result.equal && (!verbose || !d->result.n_bits))
        return;
    if (d->result.n_diff) {
        add_place(out, "first", &b->desc, &d->first);
        add_place(out, "farthest apart", &b->desc, &d->worst);
        add_place(out, "most ULP", &b->desc, &d->worst_ulp);
    }
    add_classes(out, &d->result);
    add_metrics(out, d);
    add_groups(out, r, d);
}

void diff_report_text(const diff_report *r, bool verbose, str *out)
{
    add_side(out, "a", r->sides[0].id, &r->sides[0].caps);
    add_side(out, "b", r->sides[1].id, &r->sides[1].caps);
    add_launches(r, out);
    for (uint32_t i = 0; i < r->n_buffers; i++)
        if (verbose || r->buffers[i].output || !r->buffers[i].result.equal)
            add_buffer(out, r, &r->buffers[i], verbose);
    if (r->first_deviating >= 0 && r->graph->n_launches > 1)
        str_printf(out, "first stage that deviates: %s%s\n",
                   r->graph->launches[r->first_deviating].name,
                   r->by_stage ? "" : " (only outputs were compared)");
    if (r->not_traced)
        str_printf(out, "work-groups not known: %s\n", r->not_traced);
    str_printf(out, "%s: %s\n",
               !r->equal     ? "DIFFERENT"
               : r->too_slow ? "SLOWER"
                             : "equal",
               r->summary);
}

/* --- JSON ---------------------------------------------------------------- */

static json_t *u64(uint64_t v)
{
    return json_integer((json_int_t)v);
}

/* JSON has no infinities and no NaN. */
static json_t *number(double x)
{
    if (isnan(x))
        return json_string("nan");
    if (isinf(x))
        return json_string(x > 0 ? "inf" : "-inf");
    return json_real(x);
}

static json_t *side_json(const diff_report_side *s)
{
    const backend_caps *c = &s->caps;
    json_t *o = json_object(), *differs = json_array();

    for (uint32_t i = 0; i < c->n_differs; i++)
        json_array_append_new(differs, json_string(c->differs[i]));
    json_object_set_new(o, "id", json_string(s->id));
    json_object_set_new(o, "device", json_string(c->device ? c->device : ""));
    json_object_set_new(o, "version",
                        json_string(c->version ? c->version : ""));
    json_object_set_new(o, "promoted", json_boolean(c->promoted));
    json_object_set_new(o, "device_times", json_boolean(c->timed));
    json_object_set_new(o, "shaves",
                        c->n_shaves ? u64(c->n_shaves) : json_null());
    json_object_set_new(o, "cycles", s->cycles ? u64(s->cycles) : json_null());
    json_object_set_new(o, "not_as_recorded", differs);
    return o;
}

static json_t *place_json(const tensor_desc *d, const diff_place *p)
{
    json_t *o = json_object(), *at = json_array(), *v;

    for (uint32_t k = 0; k < d->rank; k++)
        json_array_append_new(at, u64(p->at[k]));
    json_object_set_new(o, "index", at);
    json_object_set_new(o, "offset", u64(p->element.index));
    json_object_set_new(o, "a", number(p->element.value_a));
    json_object_set_new(o, "b", number(p->element.value_b));
    json_object_set_new(o, "apart", number(p->element.apart));
    json_object_set_new(o, "ulp", u64(p->element.ulp));
    v = json_array();
    for (int k = 0; k < 3; k++)
        json_array_append_new(v, u64(p->group[k]));
    json_object_set_new(o, "work_group", p->group_known ? v : json_null());
    if (!p->group_known)
        json_decref(v);
    v = json_array();
    for (int k = 0; k < 3; k++)
        json_array_append_new(v, u64(p->item[k]));
    json_object_set_new(o, "work_item", p->item_known ? v : json_null());
    if (!p->item_known)
        json_decref(v);
    return o;
}

static json_t *groups_json(const diff_buffer *d)
{
    json_t *o = json_object();
    char key[24];

    for (uint64_t g = 0; g < d->n_groups; g++)
        if (d->bad_in_group[g]) {
            snprintf(key, sizeof key, "%llu", (unsigned long long)g);
            json_object_set_new(o, key, u64(d->bad_in_group[g]));
        }
    return o;
}

static json_t *buffer_json(const diff_report *r, const diff_buffer *d)
{
    const graph_buffer *b = graph_buffer_at(r->graph, d->buffer);
    const diff_metrics *m = &d->result.metrics;
    json_t *o = json_object(), *ulp = json_array();
    int last = DIFF_ULP_CLASSES;

    json_object_set_new(o, "name", json_string(b->name));
    json_object_set_new(o, "stage",
                        json_string(r->graph->launches[d->launch].name));
    json_object_set_new(o, "output", json_boolean(d->output));
    json_object_set_new(o, "equal", json_boolean(d->result.equal));
    json_object_set_new(o, "elements", u64(d->result.n_elements));
    json_object_set_new(o, "different", u64(d->result.n_diff));
    json_object_set_new(o, "not_bit_for_bit", u64(d->result.n_bits));
    if (d->result.n_diff) {
        json_object_set_new(o, "first", place_json(&b->desc, &d->first));
        json_object_set_new(o, "worst", place_json(&b->desc, &d->worst));
        json_object_set_new(o, "worst_ulp",
                            place_json(&b->desc, &d->worst_ulp));
    }
    json_object_set_new(o, "nan_a", u64(d->result.n_nan_a));
    json_object_set_new(o, "nan_b", u64(d->result.n_nan_b));
    while (last && !d->result.ulp_classes[last - 1])
        last--;
    for (int k = 0; k < last; k++)
        json_array_append_new(ulp, u64(d->result.ulp_classes[k]));
    json_object_set_new(o, "ulp_classes", ulp);
    json_object_set_new(o, "min_pixel_accuracy", number(m->min_accuracy));
    json_object_set_new(o, "average_pixel_accuracy",
                        number(m->average_accuracy));
    json_object_set_new(o, "wrong_values", number(m->wrong));
    json_object_set_new(o, "pixel_wise_l2", number(m->l2));
    if (d->bad_in_group)
        json_object_set_new(o, "different_by_work_group", groups_json(d));
    return o;
}

static void add_result(json_t *o, const char *side, const backend_result *r)
{
    char key[16];

    snprintf(key, sizeof key, "%s_seconds", side);
    json_object_set_new(o, key, number(r->seconds));
    snprintf(key, sizeof key, "%s_cycles", side);
    json_object_set_new(o, key, r->cycles ? u64(r->cycles) : json_null());
}

static json_t *launch_json(const diff_report *r, uint32_t i)
{
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(r->graph->launches[i].name));
    add_result(o, "a", &r->sides[0].results[i]);
    if (r->paired)
        add_result(o, "b", &r->sides[1].results[i]);
    json_object_set_new(o, "deviates", json_boolean(r->launches[i].deviates));
    json_object_set_new(o, "too_slow", json_boolean(r->launches[i].too_slow));
    return o;
}

/* Of a stage that a does not have. */
static json_t *launch_of_b_json(const diff_report *r, uint32_t i)
{
    const diff_report_side *b = &r->sides[1];
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(b->graph->launches[i].name));
    add_result(o, "b", &b->results[i]);
    return o;
}

void diff_report_json(const diff_report *r, str *out)
{
    json_t *o = json_object(), *buffers = json_array(), *stages = json_array();
    double by = diff_slowdown(r);

    for (uint32_t i = 0; i < r->graph->n_launches; i++)
        json_array_append_new(stages, launch_json(r, i));
    for (uint32_t i = 0; i < r->sides[1].graph->n_launches && !r->paired; i++)
        json_array_append_new(stages, launch_of_b_json(r, i));
    for (uint32_t i = 0; i < r->n_buffers; i++)
        json_array_append_new(buffers, buffer_json(r, &r->buffers[i]));
    json_object_set_new(o, "verdict",
                        json_string(!r->equal     ? "different"
                                    : r->too_slow ? "slower"
                                                  : "equal"));
    json_object_set_new(o, "summary", json_string(r->summary));
    json_object_set_new(o, "layer", json_string(r->graph->layer));
    json_object_set_new(o, "a", side_json(&r->sides[0]));
    json_object_set_new(o, "b", side_json(&r->sides[1]));
    json_object_set_new(o, "slowdown", by > 0 ? json_real(by) : json_null());
    json_object_set_new(o, "max_slowdown",
                        r->max_slowdown > 0 ? json_real(r->max_slowdown)
                                            : json_null());
    json_object_set_new(o, "cycle_budget",
                        r->cycle_budget
                            ? json_integer((json_int_t)r->cycle_budget)
                            : json_null());
    json_object_set_new(o, "by_stage", json_boolean(r->by_stage));
    json_object_set_new(
        o, "first_deviating_stage",
        r->first_deviating < 0
            ? json_null()
            : json_string(r->graph->launches[r->first_deviating].name));
    json_object_set_new(o, "stages", stages);
    json_object_set_new(o, "buffers", buffers);
    jsontext_add(out, o, JSONTEXT_EXACT);
}

/* --- JUnit --------------------------------------------------------------- */

#define X(text) BAD_CAST(text)

/* A JUnit file in the making; texts lie in the arena. */
typedef struct {
    const diff_report *r;
    str *out;
    xmlBuffer *buffer;
    xmlTextWriter *writer;
    arena *a;
} junit;

static void junit_attribute(const junit *j, const char *name, const char *value)
{
    str text = {.arena = j->a};

    str_puts_xml(&text, value);
    xmlTextWriterWriteAttribute(j->writer, X(name), X(str_text(&text)));
}

static void junit_case(const junit *j, const diff_buffer *d)
{
    const diff_report *r = j->r;
    xmlTextWriter *w = j->writer;
    str text = {.arena = j->a}, figures = text, clean = text;

    str_printf(&text, "%s of %s, %s against %s",
               graph_buffer_at(r->graph, d->buffer)->name,
               r->graph->launches[d->launch].name, r->sides[0].id,
               r->sides[1].id);
    xmlTextWriterStartElement(w, X("testcase"));
    junit_attribute(j, "classname", r->graph->layer);
    junit_attribute(j, "name", str_text(&text));
    if (!d->result.equal) {
        add_buffer(&figures, r, d, true);
        str_puts_xml(&clean, str_text(&figures));
        xmlTextWriterStartElement(w, X("failure"));
        junit_attribute(j, "message", r->summary);
        xmlTextWriterWriteString(w, X(str_text(&clean)));
        xmlTextWriterEndElement(w);
    }
    xmlTextWriterEndElement(w);
}

static bool has_limit(const diff_report *r)
{
    return r->max_slowdown > 0 || r->cycle_budget;
}

static void junit_cycles(const junit *j)
{
    const diff_report *r = j->r;
    xmlTextWriter *w = j->writer;
    str text = {.arena = j->a};

    str_printf(&text, "cycles, %s against %s", r->sides[0].id, r->sides[1].id);
    xmlTextWriterStartElement(w, X("testcase"));
    junit_attribute(j, "classname", r->graph->layer);
    junit_attribute(j, "name", str_text(&text));
    if (r->too_slow) {
        xmlTextWriterStartElement(w, X("failure"));
        junit_attribute(j, "message", r->summary);
        xmlTextWriterEndElement(w);
    }
    xmlTextWriterEndElement(w);
}

static vpu_status junit_all(void *user, vpu_error *err)
{
    junit *j = user;
    const diff_report *r = j->r;
    xmlTextWriter *w;
    uint32_t bad = 0;

    (void)err;
    j->a = arena_create(0);
    j->buffer = xmlBufferCreate();
    j->writer = w = xmlNewTextWriterMemory(j->buffer, 0);
    for (uint32_t i = 0; i < r->n_buffers; i++)
        bad += !r->buffers[i].result.equal;
    bad += r->too_slow;
    xmlTextWriterSetIndent(w, 1);
    xmlTextWriterStartDocument(w, NULL, "UTF-8", NULL);
    xmlTextWriterStartElement(w, X("testsuite"));
    xmlTextWriterWriteAttribute(w, X("name"), X("vpu diff"));
    xmlTextWriterWriteFormatAttribute(w, X("tests"), "%u",
                                      r->n_buffers + has_limit(r));
    xmlTextWriterWriteFormatAttribute(w, X("failures"), "%u", bad);
    for (uint32_t i = 0; i < r->n_buffers; i++)
        junit_case(j, &r->buffers[i]);
    if (has_limit(r))
        junit_cycles(j);
    xmlTextWriterEndDocument(w);
    xmlTextWriterFlush(w);
    str_add(j->out, j->buffer->content, j->buffer->use);
    return VPU_OK;
}

static void junit_free(void *user)
{
    junit *j = user;

    if (j->writer)
        xmlFreeTextWriter(j->writer);
    if (j->buffer)
        xmlBufferFree(j->buffer);
    arena_destroy(j->a);
}

void diff_report_junit(const diff_report *r, str *out)
{
    junit j = {.r = r, .out = out};

    oom_finally(junit_all, junit_free, &j, NULL);
}
