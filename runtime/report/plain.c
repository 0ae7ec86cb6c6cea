/* The report of backends that tell times alone, or cycles of whole launches. */
#include <jansson.h>
#include <stdlib.h>

#include "runtime/report/report_priv.h"

#include "runtime/json/jsontext.h"
static const backend_caps *caps_of(const report_source *r)
{
    return r->run->ops->caps(r->run->self);
}

/* Of launch i, over the repetitions. */
static double median_seconds(const report_source *r, uint32_t i)
{
    double t[REPORT_MAX_REPEAT];

    for (uint32_t k = 0; k < r->repeat; k++) {
        double v = r->results[k * r->graph->n_launches + i].seconds;
        uint32_t at = k;

        for (; at && t[at - 1] > v; at--)
            t[at] = t[at - 1];
        t[at] = v;
    }
    return t[r->repeat / 2];
}

static uint64_t groups(const graph_launch *l)
{
    uint64_t n = 1;

    for (int d = 0; d < 3; d++)
        n *= l->local[d] ? l->global[d] / l->local[d] : 0;
    return n;
}

void report_batch_text(const graph *g, str *out)
{
    if (g->batch > 1)
        str_printf(out, "batch of %u: %s\n", g->batch,
                   g->by_item ? "each stage runs once per item, as on the "
                                "device (--batch device)"
                              : "each stage runs once over all items (--batch "
                                "whole)");
}

void report_hosts_text(const report_source *r, uint32_t i, str *out)
{
    const graph *g = r->graph;

    for (uint32_t k = 0; k < g->n_hosts && r->hosts; k++)
        if (g->hosts[k].before == i)
            str_printf(out, "%s: a function of the host\n  %-26s %.6f ms\n",
                       g->hosts[k].name, "time of the host", r->hosts[k] * 1e3);
}

void report_hosts_json(const report_source *r, json_t *o)
{
    const graph *g = r->graph;
    json_t *list;

    if (!g->n_hosts || !r->hosts)
        return;
    list = json_array();
    for (uint32_t k = 0; k < g->n_hosts; k++)
        json_array_append_new(
            list, json_pack("{s:s,s:I,s:I,s:f}", "name", g->hosts[k].name,
                            "before", (json_int_t)g->hosts[k].before, "cycles",
                            (json_int_t)0, "host_s", r->hosts[k]));
    json_object_set_new(o, "hosts", list);
}

void report_plain_text(const report_source *r, str *o)
{
    const graph *g = r->graph;
    double all = 0;

    str_printf(o, "layer %s (%s form), backend %s, device %s", g->layer,
               g->form, r->run->ops->name, caps_of(r)->device);
    if (caps_of(r)->n_shaves)
        str_printf(o, ", %u SHAVE%s", caps_of(r)->n_shaves,
                   caps_of(r)->n_shaves == 1 ? "" : "s");
    str_printf(o, "%s\n",
               caps_of(r)->promoted ? ", halves promoted to float" : "");
    report_batch_text(g, o);
    for (uint32_t i = 0; i < g->n_launches; i++) {
        const graph_launch *l = &g->launches[i];
        double t = median_seconds(r, i);

        all += t;
        report_hosts_text(r, i, o);
        str_printf(o, "%s: kernel %s, %llu work-groups of %ux%ux%u\n", l->name,
                   l->entry, (unsigned long long)groups(l), l->local[0],
                   l->local[1], l->local[2]);
        str_printf(o, "  %-26s %.6f ms%s\n", "time", t * 1e3,
                   caps_of(r)->timed ? "" : " (host clock)");
        if (caps_of(r)->cycles)
            str_printf(o, "  %-26s %llu\n", "cycles",
                       (unsigned long long)r->results[i].cycles);
    }
    report_hosts_text(r, g->n_launches, o);
    report_operations_text(r, o);
    if (g->n_launches > 1)
        str_printf(o, "all stages: %.6f ms\n", all * 1e3);
}

static json_t *stage_json(const report_source *r, uint32_t i)
{
    const graph_launch *l = &r->graph->launches[i];
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(l->name));
    json_object_set_new(o, "kernel", json_string(l->entry));
    json_object_set_new(o, "groups", json_integer((json_int_t)groups(l)));
    json_object_set_new(o, "local",
                        json_pack("[i,i,i]", (int)l->local[0], (int)l->local[1],
                                  (int)l->local[2]));
    json_object_set_new(o, "seconds", json_real(median_seconds(r, i)));
    if (caps_of(r)->cycles)
        json_object_set_new(o, "cycles",
                            json_integer((json_int_t)r->results[i].cycles));
    return o;
}

void report_plain_json(const report_source *r, str *out)
{
    const graph *g = r->graph;
    json_t *stages = json_array(), *o;

    for (uint32_t i = 0; i < g->n_launches; i++)
        json_array_append_new(stages, stage_json(r, i));
    o = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:b,s:o}", "layer", g->layer,
                  "type", g->type, "form", g->form, "backend",
                  r->run->ops->name, "device", caps_of(r)->device, "version",
                  caps_of(r)->version, "promoted", (int)caps_of(r)->promoted,
                  "device_clock", (int)caps_of(r)->timed, "stages", stages);
    if (caps_of(r)->n_shaves)
        json_object_set_new(o, "shaves", json_integer(caps_of(r)->n_shaves));
    report_hosts_json(r, o);
    report_operations_json(r, o);
    jsontext_add(out, o, 10);
}
