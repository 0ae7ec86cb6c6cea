/* Stages of a blob that have no kernel. A network has hundreds: a line each. */
#include "runtime/report/report_priv.h"

/* "NCE 71 %, 12 descriptors": what the stage's units were busy with. */
static void add_units(const report_source *r, const mach_profile *p, str *out)
{
    double all = p->cycles ? (double)p->cycles : 1;
    uint64_t shaves = 0;

    for (uint32_t i = 0; i < MACH_MAX_SHAVES && i < r->desc->num_shaves; i++)
        shaves += p->by_cause[i][MACH_CAUSE_ISSUE] ? 1 : 0;
    if (p->nce_descriptors)
        str_printf(out, ", NCE %.0f %% in %llu descriptor%s",
                   (double)p->nce_cycles / all * 100,
                   (unsigned long long)p->nce_descriptors,
                   p->nce_descriptors == 1 ? "" : "s");
    if (shaves)
        str_printf(out, ", %llu SHAVE%s", (unsigned long long)shaves,
                   shaves == 1 ? "" : "s");
    if (p->ddr_bytes)
        str_printf(out, ", DDR %.1f KiB", (double)p->ddr_bytes / 1024);
}

void report_native_text(const report_source *r, uint32_t i, str *out)
{
    const graph_launch *l = &r->graph->launches[i];
    const mach_profile *p = &backend_launch_of(r->run, i)->exec.profile;

    str_printf(out, "%s: %s", l->name, l->type);
    if (r->timing != EXEC_NO_TIMING) {
        str_printf(out, ", %llu cycles (%.3f ms)",
                   (unsigned long long)p->cycles,
                   mach_desc_seconds(r->desc, p->cycles) * 1e3);
        add_units(r, p, out);
    }
    str_puts(out, "\n");
}

void report_native_json(const report_source *r, uint32_t i, json_t *o)
{
    const graph_launch *l = &r->graph->launches[i];
    const backend_launch *s = backend_launch_of(r->run, i);
    const mach_profile *p = &s->exec.profile;

    json_object_set_new(o, "name", json_string(l->name));
    json_object_set_new(o, "type", json_string(l->type));
    if (r->timing != EXEC_NO_TIMING) {
        json_object_set_new(o, "cycles", json_integer((json_int_t)p->cycles));
        json_object_set_new(
            o, "ms", json_real(mach_desc_seconds(r->desc, p->cycles) * 1e3));
        json_object_set_new(o, "nce_cycles",
                            json_integer((json_int_t)p->nce_cycles));
        json_object_set_new(o, "nce_descriptors",
                            json_integer((json_int_t)p->nce_descriptors));
        json_object_set_new(o, "ddr_bytes",
                            json_integer((json_int_t)p->ddr_bytes));
    }
    json_object_set_new(o, "host_run_s", json_real(s->run_s));
}
