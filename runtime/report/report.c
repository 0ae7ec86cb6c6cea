/* Reports: the same figures, two forms. */
#include "runtime/report/report.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/oom.h"
#include "runtime/json/jsontext.h"
#include "runtime/report/notes.h"
#include "runtime/report/outputs.h"
#include "runtime/report/profile.h"
#include "runtime/report/report_priv.h"

static uint64_t total_cycles(const report_source *r)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < r->graph->n_launches; i++)
        n += backend_launch_of(r->run, i)->exec.profile.cycles;
    return n;
}

uint64_t report_cause_sum(const backend_launch *s, mach_cause c)
{
    return mach_profile_sum(&s->exec.profile, s->n_shaves, c);
}

static void add_bytes(str *out, const char *what, uint64_t n)
{
    if (n >= 10 << 20)
        str_printf(out, "  %-26s %.1f MiB\n", what, (double)n / (1 << 20));
    else if (n >= 10 << 10)
        str_printf(out, "  %-26s %.1f KiB\n", what, (double)n / (1 << 10));
    else
        str_printf(out, "  %-26s %llu B\n", what, (unsigned long long)n);
}

static void add_local(str *out, const exec_result *e)
{
    add_bytes(out, "local memory per group", e->local_bytes);
    if (e->one_buffer)
        str_printf(out,
                   "  %-26s one: two do not fit, so preload, computation and "
                   "postwrite take turns\n",
                   "buffers");
}

/* Those that wait where they stand, as those "not vectorized" are told of. */
static void add_copies(str *out, const sim_kernel *k)
{
    for (uint32_t i = 0; i < k->n_copies; i++)
        if (k->copies[i].why)
            str_printf(out, "  %-26s %s:%u: %s\n", "copy in no phase",
                       k->source, k->copies[i].line, k->copies[i].why);
}

static json_t *copies_json(const sim_kernel *k)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < k->n_copies; i++) {
        const sim_copy *c = &k->copies[i];
        json_t *o = json_pack(
            "{s:i,s:s,s:s,s:s}", "line", (int)c->line, "array", c->array, "to",
            c->in ? "local" : "global", "phase",
            c->phase == SIM_SCALAR ? "compute" : sim_variant_name(c->phase));

        if (c->why)
            json_object_set_new(
                o, "why",
                json_sprintf("%s:%u: %s", k->source, c->line, c->why));
        json_array_append_new(list, o);
    }
    return list;
}

static void add_causes(str *out, const backend_launch *s)
{
    double all = (double)s->exec.profile.cycles * s->n_shaves;

    str_puts(out, "  SHAVE time                ");
    for (int c = 0; c < MACH_N_CAUSES; c++) {
        double share =
            (double)report_cause_sum(s, (mach_cause)c) / (all ? all : 1);

        if (share >= 0.0005)
            str_printf(out, " %s %.1f %%", mach_cause_name((mach_cause)c),
                       share * 100);
    }
    str_puts(out, "\n");
}

static void add_notes(const report_source *r, uint32_t i, str *out)
{
    report_notes n = {.n = 0};

    report_notes_of(r, i, &n);
    for (uint32_t k = 0; k < n.n; k++)
        str_printf(out, "  %-26s %s\n", k ? "" : "note",
                   str_text(&n.list[k].text));
    report_notes_free(&n);
}

static json_t *notes_json(const report_source *r, uint32_t i)
{
    report_notes n = {.n = 0};
    json_t *list = json_array();

    report_notes_of(r, i, &n);
    for (uint32_t k = 0; k < n.n; k++)
        json_array_append_new(list,
                              json_pack("{s:s,s:s}", "id", n.list[k].id, "text",
                                        str_text(&n.list[k].text)));
    report_notes_free(&n);
    return list;
}

static void add_stage(const report_source *r, uint32_t i,
                      const report_insight *x, str *out)
{
    const graph_launch *l = &r->graph->launches[i];
    const backend_launch *s = backend_launch_of(r->run, i);
    const exec_result *e = &s->exec;
    const mach_profile *p = &e->profile;

    if (l->native) {
        report_native_text(r, i, out);
        return;
    }
    str_printf(out, "%s: kernel %s, %s", l->name, l->entry,
               sim_variant_name(e->variant));
    if (e->factor > 1)
        str_printf(out, " by %u", e->factor);
    str_printf(out, ", %llu work-groups of %ux%ux%u on %u SHAVEs\n",
               (unsigned long long)e->n_groups, l->local[0], l->local[1],
               l->local[2], s->n_shaves);
    if (r->timing == EXEC_NO_TIMING) {
        str_printf(out, "  %-26s not asked for (--timing none)\n", "cycles");
        add_local(out, e);
        return;
    }
    str_printf(out, "  %-26s %llu (%.3f ms at %llu MHz)\n", "cycles",
               (unsigned long long)p->cycles,
               mach_desc_seconds(r->desc, p->cycles) * 1e3,
               (unsigned long long)r->desc->clk_mhz);
    str_printf(
        out, "  %-26s %llu (operations, then bytes / bandwidth, no overlap)\n",
        "trivial estimate", (unsigned long long)p->baseline_cycles);
    str_printf(out, "  %-26s %.1f %%\n", "SHAVE utilisation",
               p->utilisation * 100);
    add_causes(out, s);
    report_bounds_text(r, i, x, out);
    add_bytes(out, "DMA in", p->dma_in_bytes);
    add_bytes(out, "DMA out", p->dma_out_bytes);
    add_bytes(out, "loaded by kernels", p->load_bytes);
    add_bytes(out, "stored by kernels", p->store_bytes);
    add_bytes(out, "DDR traffic", p->ddr_bytes);
    add_local(out, e);
    if (s->kernel->not_vectorized)
        str_printf(out, "  %-26s %s\n", "not vectorized",
                   s->kernel->not_vectorized);
    add_copies(out, s->kernel);
    add_notes(r, i, out);
}

static double ms_of(const report_source *r, double cycles)
{
    return cycles / (double)r->desc->clk_mhz / 1e3;
}

static void add_executors(const report_source *r, uint64_t cycles, str *out)
{
    const mach_executors_result *x = &r->executors;

    str_printf(out,
               "%u executor%s: an inference takes %.3f ms (%.3f ms alone, "
               "%.3f ms of them to begin and end it), one ends every %.3f ms, "
               "%.1f a second\n",
               r->n_executors, r->n_executors == 1 ? "" : "s",
               ms_of(r, x->latency),
               ms_of(r, (double)(cycles + r->desc->inference_fixed)),
               ms_of(r, (double)r->desc->inference_fixed), ms_of(r, x->period),
               1e3 / ms_of(r, x->period));
}

static void write_text(const report_source *r, const report_insight *x,
                       str *out)
{
    uint64_t n = total_cycles(r);

    str_printf(out, "layer %s (%s form), machine %s\n", r->graph->layer,
               r->graph->form, r->desc->machine);
    report_batch_text(r->graph, out);
    for (uint32_t i = 0; i < r->graph->n_launches; i++) {
        report_hosts_text(r, i, out);
        add_stage(r, i, x, out);
    }
    report_hosts_text(r, r->graph->n_launches, out);
    report_outputs_text(r, out);
    report_operations_text(r, out);
    if (r->graph->n_launches > 1 && r->timing != EXEC_NO_TIMING)
        str_printf(out, "all stages: %llu cycles (%.3f ms)\n",
                   (unsigned long long)n, mach_desc_seconds(r->desc, n) * 1e3);
    if (r->n_executors)
        add_executors(r, n, out);
    report_advice_text(r, x, out);
}

static json_t *u64(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static void add_times(const report_source *r, const backend_launch *s,
                      json_t *o)
{
    const mach_profile *p = &s->exec.profile;
    json_t *causes = json_object();

    json_object_set_new(o, "cycles", u64(p->cycles));
    json_object_set_new(o, "ms",
                        json_real(mach_desc_seconds(r->desc, p->cycles) * 1e3));
    json_object_set_new(o, "baseline_cycles", u64(p->baseline_cycles));
    json_object_set_new(o, "utilisation", json_real(p->utilisation));
    json_object_set_new(o, "dma_in_bytes", u64(p->dma_in_bytes));
    json_object_set_new(o, "dma_out_bytes", u64(p->dma_out_bytes));
    json_object_set_new(o, "dma_transfers", u64(p->transfers));
    json_object_set_new(o, "load_bytes", u64(p->load_bytes));
    json_object_set_new(o, "store_bytes", u64(p->store_bytes));
    json_object_set_new(o, "ddr_bytes", u64(p->ddr_bytes));
    for (int c = 0; c < MACH_N_CAUSES; c++)
        json_object_set_new(causes, mach_cause_name((mach_cause)c),
                            u64(report_cause_sum(s, (mach_cause)c)));
    json_object_set_new(o, "shave_cycles_by_cause", causes);
}

static json_t *stage_json(const report_source *r, uint32_t i,
                          const report_insight *x)
{
    const graph_launch *l = &r->graph->launches[i];
    const backend_launch *s = backend_launch_of(r->run, i);
    const exec_result *e = &s->exec;
    json_t *o = json_object(), *profile;

    if (l->native) {
        report_native_json(r, i, o);
        return o;
    }
    json_object_set_new(o, "name", json_string(l->name));
    json_object_set_new(o, "kernel", json_string(l->entry));
    json_object_set_new(o, "variant",
                        json_string(sim_variant_name(e->variant)));
    json_object_set_new(o, "factor", u64(e->factor));
    json_object_set_new(o, "groups", u64(e->n_groups));
    json_object_set_new(o, "local",
                        json_pack("[i,i,i]", (int)l->local[0], (int)l->local[1],
                                  (int)l->local[2]));
    json_object_set_new(o, "shaves", u64(s->n_shaves));
    if (r->timing != EXEC_NO_TIMING) {
        add_times(r, s, o);
        report_bounds_json(r, i, x, o);
    }
    json_object_set_new(o, "local_bytes", u64(e->local_bytes));
    json_object_set_new(o, "one_buffer", json_boolean(e->one_buffer));
    json_object_set_new(o, "not_vectorized",
                        s->kernel->not_vectorized
                            ? json_string(s->kernel->not_vectorized)
                            : json_null());
    json_object_set_new(o, "copies", copies_json(s->kernel));
    json_object_set_new(o, "notes", notes_json(r, i));
    json_object_set_new(o, "from_cache", json_boolean(s->kernel->from_cache));
    json_object_set_new(o, "host_compile_s", json_real(s->compile_s));
    json_object_set_new(o, "host_run_s", json_real(s->run_s));
    json_object_set_new(o, "host_engine_s", json_real(s->engine_s));
    profile = report_profile_json(r, i);
    if (profile)
        json_object_set_new(o, "profile", profile);
    return o;
}

static void write_json(const report_source *r, const report_insight *x,
                       str *out)
{
    uint64_t n = total_cycles(r);
    json_t *stages = json_array(), *o;

    for (uint32_t i = 0; i < r->graph->n_launches; i++)
        json_array_append_new(stages, stage_json(r, i, x));
    o = json_pack("{s:s,s:s,s:s,s:s,s:I,s:s,s:o}", "layer", r->graph->layer,
                  "type", r->graph->type, "form", r->graph->form, "machine",
                  r->desc->machine, "clk_mhz", (json_int_t)r->desc->clk_mhz,
                  "timing", exec_timing_name(r->timing), "stages", stages);
    if (r->graph->batch > 1) {
        json_object_set_new(o, "batch", u64(r->graph->batch));
        json_object_set_new(o, "batch_by_item",
                            json_boolean(r->graph->by_item));
    }
    if (r->timing != EXEC_NO_TIMING) {
        json_object_set_new(o, "cycles", u64(n));
        json_object_set_new(o, "ms",
                            json_real(mach_desc_seconds(r->desc, n) * 1e3));
    }
    if (r->n_executors)
        json_object_set_new(
            o, "executors",
            json_pack("{s:I,s:f,s:f}", "count", (json_int_t)r->n_executors,
                      "latency_ms", ms_of(r, r->executors.latency), "period_ms",
                      ms_of(r, r->executors.period)));
    report_outputs_json(r, o);
    report_hosts_json(r, o);
    report_operations_json(r, o);
    report_advice_json(r, x, o);
    jsontext_add(out, o, 10);
}

/* --- both ----------------------------------------------------------------- */

typedef struct {
    const report_source *r;
    str *out;
    void (*write)(const report_source *r, const report_insight *x, str *out);
} report;

static vpu_status make(void *user, arena *scratch, vpu_error *err)
{
    const report *p = user;

    (void)err;
    p->write(p->r,
             p->r->insight ? p->r->insight : report_insight_of(p->r, scratch),
             p->out);
    return VPU_OK;
}

void report_text(const report_source *r, str *out)
{
    if (r->run->ops->inspect)
        oom_scratch(make, &(report){r, out, write_text}, NULL);
    else
        report_plain_text(r, out);
}

void report_json(const report_source *r, str *out)
{
    if (r->run->ops->inspect)
        oom_scratch(make, &(report){r, out, write_json}, NULL);
    else
        report_plain_json(r, out);
}
