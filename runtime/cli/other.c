/* Runs through the table of backends, and their report. */
#include "runtime/cli/other.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/cli/cli.h"
#include "runtime/graph/io.h"
#include "base/file.h"
#include "base/str.h"

typedef struct {
    const other_run *r;
    arena *a;
    const backend_ops *ops;
    const backend_caps *caps;
    void *self;
    backend_result *results; /* repeat rows of n_launches */
} session;

/* Of launch i, over the repetitions. */
static double median_seconds(const session *s, uint32_t i)
{
    double *t = arena_array(s->a, double, s->r->repeat);

    for (uint32_t k = 0; k < s->r->repeat; k++) {
        double v = s->results[k * s->r->g->n_launches + i].seconds;
        uint32_t at = k;

        for (; at && t[at - 1] > v; at--)
            t[at] = t[at - 1];
        t[at] = v;
    }
    return t[s->r->repeat / 2];
}

static uint64_t groups(const graph_launch *l)
{
    uint64_t n = 1;

    for (int d = 0; d < 3; d++)
        n *= l->local[d] ? l->global[d] / l->local[d] : 0;
    return n;
}

static void text_report(const session *s, str *o)
{
    const graph *g = s->r->g;
    double all = 0;

    str_printf(o, "layer %s (%s form), backend %s, device %s%s\n", g->layer,
               g->form, s->ops->name, s->caps->device,
               s->caps->promoted ? ", halves promoted to float" : "");
    for (uint32_t i = 0; i < g->n_launches; i++) {
        const graph_launch *l = &g->launches[i];
        double t = median_seconds(s, i);

        all += t;
        str_printf(o, "%s: kernel %s, %llu work-groups of %ux%ux%u\n", l->name,
                   l->entry, (unsigned long long)groups(l), l->local[0],
                   l->local[1], l->local[2]);
        str_printf(o, "  %-26s %.6f ms%s\n", "time", t * 1e3,
                   s->caps->timed ? "" : " (host clock)");
        if (s->caps->cycles)
            str_printf(o, "  %-26s %llu\n", "cycles",
                       (unsigned long long)s->results[i].cycles);
    }
    if (g->n_launches > 1)
        str_printf(o, "all stages: %.6f ms\n", all * 1e3);
}

static json_t *stage_json(const session *s, uint32_t i)
{
    const graph_launch *l = &s->r->g->launches[i];
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(l->name));
    json_object_set_new(o, "kernel", json_string(l->entry));
    json_object_set_new(o, "groups", json_integer((json_int_t)groups(l)));
    json_object_set_new(o, "local",
                        json_pack("[i,i,i]", (int)l->local[0], (int)l->local[1],
                                  (int)l->local[2]));
    json_object_set_new(o, "seconds", json_real(median_seconds(s, i)));
    if (s->caps->cycles)
        json_object_set_new(o, "cycles",
                            json_integer((json_int_t)s->results[i].cycles));
    return o;
}

static void json_report(const session *s, str *out)
{
    const graph *g = s->r->g;
    json_t *stages = json_array(), *o;
    char *text;

    for (uint32_t i = 0; i < g->n_launches; i++)
        json_array_append_new(stages, stage_json(s, i));
    o = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:b,s:o}", "layer", g->layer,
                  "type", g->type, "form", g->form, "backend", s->ops->name,
                  "device", s->caps->device, "version", s->caps->version,
                  "promoted", (int)s->caps->promoted, "device_clock",
                  (int)s->caps->timed, "stages", stages);
    text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    str_printf(out, "%s\n", text);
    free(text);
    json_decref(o);
}

static vpu_status fill(session *s, vpu_error *err)
{
    const graph *g = s->r->g;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        arena_mark m = arena_save(s->a);
        unsigned char *data;

        if (!s->r->inputs[i])
            continue;
        data = arena_array(s->a, unsigned char, g->buffers[i].bytes);
        st = graph_input_fill(&g->buffers[i], s->r->inputs[i], data, err);
        if (!st)
            st = s->ops->write(s->self, i, data, err);
        arena_restore(s->a, m);
    }
    return st;
}

static vpu_status save(session *s, const str *json, vpu_error *err)
{
    const graph *g = s->r->g;
    void **data = arena_array(s->a, void *, g->n_buffers + 1);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        if (g->buffers[i].role != GRAPH_OUTPUT)
            continue;
        data[i] = arena_array(s->a, unsigned char, g->buffers[i].bytes);
        st = s->ops->read(s->self, i, data[i], err);
    }
    if (!st)
        st = graph_output_save(s->r->output, g, data, err);
    if (!st)
        st = file_write(file_join(s->a, s->r->output, "report.json"),
                        json->data, json->n, err);
    return st;
}

/* Drivers print what kernels print themselves, on standard output, some when
 * the queue is closed: while this holds, it goes to standard error. */
static int redirect(void)
{
    int kept;

    fflush(stdout);
    kept = dup(1);
    if (kept >= 0)
        dup2(2, 1);
    return kept;
}

static void restore(int kept)
{
    fflush(stdout);
    if (kept >= 0) {
        dup2(kept, 1);
        close(kept);
    }
}

static vpu_status run(session *s, str *report, vpu_error *err)
{
    uint32_t n = s->r->g->n_launches;
    vpu_status st = VPU_OK;
    str json = {0};

    s->caps = s->ops->caps(s->self);
    s->results = arena_array(s->a, backend_result, s->r->repeat * n + 1);
    for (uint32_t k = 0; k < s->r->repeat && !st; k++) {
        st = fill(s, err);
        if (!st)
            st = s->ops->run(s->self, 0, n, s->results + k * n, err);
    }
    if (st)
        return st;
    json_report(s, &json);
    if (s->r->output)
        st = save(s, &json, err);
    if (s->r->json)
        str_add(report, json.data, json.n);
    else
        text_report(s, report);
    str_free(&json);
    return st;
}

vpu_status other_run_all(const other_run *r, backend_config *cfg,
                         vpu_error *err)
{
    session s = {.r = r, .a = arena_create(0)};
    vpu_status st = backend_find(r->id, &s.ops, &cfg->device, err);
    int kept = r->json ? redirect() : -1;
    str report = {0};

    if (!st)
        st = s.ops->open(cfg, r->g, &s.self, err);
    if (!st) {
        st = run(&s, &report, err);
        s.ops->close(s.self);
    }
    if (r->json)
        restore(kept);
    if (!st) {
        cli_progress_done();
        cli_put(stdout, str_text(&report), report.n);
    }
    str_free(&report);
    arena_destroy(s.a);
    return st;
}
