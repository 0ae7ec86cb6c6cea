/* What bounds a launch, what its time was waited for, and what would help. */
#include "base/file.h"
#include "runtime/advice/bounds.h"
#include "runtime/report/report_priv.h"

/* --- finding out ---------------------------------------------------------- */

static void look_at(const report_source *r, const backend_launch *l, arena *a,
                    report_stage_insight *out)
{
    out->has_path = l->steps && mach_record_complete(l->steps) &&
                    !path_of(l->steps, r->desc, &out->path, NULL);
    if (!out->has_path || !advice_place(l, a, &out->file, &out->line))
        out->line = 0;
}

const report_insight *report_insight_of(const report_source *r, arena *a)
{
    uint32_t n = r->graph->n_launches;
    report_stage_insight *stages = arena_array(a, report_stage_insight, n + 1);
    report_insight *x = arena_new(a, report_insight);

    x->stages = stages;
    if (r->timing == EXEC_NO_TIMING)
        return x;
    for (uint32_t i = 0; i < n; i++)
        look_at(r, backend_launch_of(r->run, i), a, &stages[i]);
    if (advice_of(r->graph, r->run, r->desc, a, &x->advice, NULL))
        x->advice.known = false;
    return x;
}

/* --- bounds, and the critical path ---------------------------------------- */

static void path_row(const report_stage_insight *x, str *out)
{
    str where = {0};

    if (x->line)
        str_printf(&where, "%s:%u", x->file, x->line);
    str_printf(out, "  %-26s ", "critical path");
    path_text(&x->path, x->line ? str_text(&where) : NULL, out);
    str_printf(out,
               "; ends on SHAVE %u, others up to %llu cycles before; slack of "
               "work-groups %llu to %llu\n",
               x->path.shave, (unsigned long long)x->path.slack_most,
               (unsigned long long)x->path.group_slack[0],
               (unsigned long long)x->path.group_slack[1]);
    str_free(&where);
}

void report_bounds_text(const report_source *r, uint32_t i,
                        const report_insight *x, str *out)
{
    const backend_launch *l = backend_launch_of(r->run, i);
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
    if (x->stages[i].has_path)
        path_row(&x->stages[i], out);
}

static json_t *path_json(const report_stage_insight *x)
{
    json_t *kinds = json_object();

    for (int k = 0; k < PATH_N_KINDS; k++)
        if (x->path.cycles[k])
            json_object_set_new(kinds, path_name(k),
                                json_integer((json_int_t)x->path.cycles[k]));
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:s, s:I}", "cycles_by_kind",
                     kinds, "shave", (json_int_t)x->path.shave, "slack",
                     (json_int_t)x->path.slack_most, "group_slack_least",
                     (json_int_t)x->path.group_slack[0], "group_slack_most",
                     (json_int_t)x->path.group_slack[1], "file",
                     x->line ? x->file : "", "line", (json_int_t)x->line);
}

void report_bounds_json(const report_source *r, uint32_t i,
                        const report_insight *x, json_t *o)
{
    const backend_launch *l = backend_launch_of(r->run, i);
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
    if (x->stages[i].has_path)
        json_object_set_new(o, "critical_path", path_json(&x->stages[i]));
}

/* --- findings ------------------------------------------------------------- */

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

void report_advice_text(const report_source *r, const report_insight *x,
                        str *out)
{
    const advice_findings *f = &x->advice;

    if (!f->known)
        return;
    str_puts(out, f->n ? "advice, what saves most first\n"
                       : "advice: none; nothing that is known saves a "
                         "fiftieth\n");
    for (uint32_t i = 0; i < f->n; i++)
        put_finding(r, &f->list[i], i + 1, out);
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

void report_advice_json(const report_source *r, const report_insight *x,
                        json_t *o)
{
    json_t *list;

    if (!x->advice.known)
        return;
    list = json_array();
    for (uint32_t i = 0; i < x->advice.n; i++)
        json_array_append_new(list, finding_json(r, &x->advice.list[i]));
    json_object_set_new(o, "advice", list);
}

/* --- in the trace --------------------------------------------------------- */

static void put_instant(const report_source *r, const advice_finding *f,
                        uint32_t rank, uint64_t at, trc_writer *w)
{
    trc_track track = trc_track_slices(w, trc_track_group(w, 0, "vpusim"),
                                       "advice", TRC_CYCLES);
    const trc_arg args[] = {
        TRC_UINT("rank", rank),
        TRC_TEXT("stage", r->graph->launches[f->launch].name),
        TRC_TEXT("rule", f->rule),
        TRC_TEXT("file", file_basename(f->file)),
        TRC_UINT("line", f->line),
        TRC_TEXT("cause", f->cause),
        TRC_UINT("cycles", f->before),
        TRC_UINT("estimate", f->after),
        TRC_TEXT("text", f->text),
        TRC_TEXT("knob", f->knob)};

    trc_instant(w, track, at,
                &(trc_event){.name = "advice",
                             .args = args,
                             .n_args = sizeof args / sizeof *args});
}

/* Launch by launch, since a track does not go back in time. */
void report_advice_trace(const report_source *r, trc_writer *w)
{
    const advice_findings *f = r->insight ? &r->insight->advice : NULL;
    uint64_t begin = 0;

    if (!f || !f->known || trc_writer_level(w) == TRC_SUMMARY)
        return;
    for (uint32_t l = 0; l < r->graph->n_launches; l++) {
        for (uint32_t i = 0; i < f->n; i++)
            if (f->list[i].launch == l)
                put_instant(r, &f->list[i], i + 1, begin, w);
        begin += backend_launch_of(r->run, l)->exec.profile.cycles;
    }
}
