/* What bounds a launch, and what would help. */
#include "runtime/advice/advice.h"

#include "runtime/advice/bounds.h"
#include "runtime/advice/path.h"
#include "runtime/report/report_priv.h"

/* --- bounds --------------------------------------------------------------- */

void report_bounds_text(const report_source *r, const backend_launch *l,
                        str *out)
{
    bound_set b = bound_of(l, r->desc);
    double cycles = (double)l->exec.profile.cycles;

    str_printf(out, "  %-26s", "bounds");
    for (int k = 0; k < BOUND_N_KINDS; k++)
        str_printf(out, "%s %s %llu (%.0f %%)", k ? "," : "",
                   bound_name((bound_kind)k), (unsigned long long)b.cycles[k],
                   100 * (double)b.cycles[k] / cycles);
    str_printf(out,
               "\n  %-26s %s, %.2f times that; DDR moves %.2f times "
               "the bytes asked for, SHAVEs are %.0f %% balanced\n",
               "bound by", bound_name(b.binding),
               cycles / (double)b.cycles[b.binding], bound_amplification(l),
               100 * bound_balance(l));
}

void report_bounds_json(const report_source *r, const backend_launch *l,
                        json_t *o)
{
    bound_set b = bound_of(l, r->desc);
    json_t *list = json_object();

    for (int k = 0; k < BOUND_N_KINDS; k++)
        json_object_set_new(list, bound_name((bound_kind)k),
                            json_integer((json_int_t)b.cycles[k]));
    json_object_set_new(o, "bounds", list);
    json_object_set_new(o, "bound_by", json_string(bound_name(b.binding)));
    json_object_set_new(o, "ddr_amplification",
                        json_real(bound_amplification(l)));
    json_object_set_new(o, "balance", json_real(bound_balance(l)));
}

/* --- the critical path ---------------------------------------------------- */

/* False: the steps are not known. */
static bool find_path(const report_source *r, const backend_launch *l,
                      path_result *out)
{
    return l->steps && mach_record_complete(l->steps) &&
           !path_of(l->steps, r->desc, out, NULL);
}

void report_path_text(const report_source *r, const backend_launch *l, str *out)
{
    arena *a = arena_create(0);
    path_result p;
    uint32_t line;
    const char *file;

    if (find_path(r, l, &p)) {
        const char *where = advice_place(l, a, &file, &line)
                                ? arena_printf(a, "%s:%u", file, line)
                                : NULL;

        str_printf(out, "  %-26s ", "critical path");
        path_text(&p, where, out);
        str_printf(out, "; ends on SHAVE %u, others up to %llu cycles before\n",
                   p.shave, (unsigned long long)p.slack_most);
    }
    arena_destroy(a);
}

void report_path_json(const report_source *r, const backend_launch *l,
                      json_t *o)
{
    arena *a;
    json_t *kinds;
    path_result p;
    const char *file;
    uint32_t line;

    if (!find_path(r, l, &p))
        return;
    a = arena_create(0);
    kinds = json_object();
    if (!advice_place(l, a, &file, &line))
        line = 0;
    for (int k = 0; k < PATH_N_KINDS; k++)
        if (p.cycles[k])
            json_object_set_new(kinds, path_name(k),
                                json_integer((json_int_t)p.cycles[k]));
    json_object_set_new(o, "critical_path",
                        json_pack("{s:o, s:I, s:I, s:s, s:I}", "cycles_by_kind",
                                  kinds, "shave", (json_int_t)p.shave, "slack",
                                  (json_int_t)p.slack_most, "file",
                                  line ? file : "", "line", (json_int_t)line));
    arena_destroy(a);
}

/* --- findings ------------------------------------------------------------- */

/* False: nothing is known. */
static bool advise(const report_source *r, arena *a, advice_findings *out)
{
    vpu_error err;

    return r->timing != EXEC_NO_TIMING &&
           !advice_of(r->graph, r->run, r->desc, a, out, &err) && out->known;
}

static double ms_of(const report_source *r, uint64_t cycles)
{
    return mach_desc_seconds(r->desc, cycles) * 1e3;
}

static void put_finding(const report_source *r, const advice_finding *f,
                        uint32_t number, str *out)
{
    const char *name = r->graph->launches[f->launch].name;
    uint64_t gain = f->before - f->after;

    str_printf(out, "  %u. %s", number, name);
    if (f->line)
        str_printf(out, ", %s:%u", f->file, f->line);
    str_printf(out, ": about %.3f of %.3f ms (%.0f %%) [%s]\n     %s\n",
               ms_of(r, gain), ms_of(r, f->before),
               100 * (double)gain / (double)f->before, f->rule, f->text);
    str_printf(out,
               "     shown by: vpu whatif with the same options and "
               "--knob %s\n",
               f->knob);
}

void report_advice_text(const report_source *r, str *out)
{
    arena *a = arena_create(0);
    advice_findings f;

    if (advise(r, a, &f)) {
        str_puts(out, f.n ? "advice, what saves most first\n"
                          : "advice: none; nothing that is known saves a "
                            "fiftieth\n");
        for (uint32_t i = 0; i < f.n; i++)
            put_finding(r, &f.list[i], i + 1, out);
    }
    arena_destroy(a);
}

static json_t *finding_json(const report_source *r, const advice_finding *f)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:s, s:I, s:I, s:f, s:s, s:s}",
                     "stage", r->graph->launches[f->launch].name, "rule",
                     f->rule, "file", f->file, "line", (json_int_t)f->line,
                     "cause", f->cause, "cycles", (json_int_t)f->before,
                     "estimate", (json_int_t)f->after, "gain",
                     (double)(f->before - f->after) / (double)f->before, "text",
                     f->text, "knob", f->knob);
}

void report_advice_json(const report_source *r, json_t *o)
{
    arena *a = arena_create(0);
    advice_findings f;

    if (advise(r, a, &f)) {
        json_t *list = json_array();

        for (uint32_t i = 0; i < f.n; i++)
            json_array_append_new(list, finding_json(r, &f.list[i]));
        json_object_set_new(o, "advice", list);
    }
    arena_destroy(a);
}
