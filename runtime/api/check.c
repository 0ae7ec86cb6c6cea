/* Graphs under the checkers. */
#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "runtime/check/suppress.h"

enum { MOST_FINDINGS = 100, RANDOM_ORDERS = 4 };

struct vpu_findings {
    arena *arena;
    vpu_graph *graph;
    layer_check_report report;
    const char *text, *json, *sarif; /* NULL: not made yet */
};

typedef struct {
    vpu_graph *g;
    const vpu_check_options *o;
    arena *a;
    vpu_findings *made;
} checking;

/* Contents of the inputs, which the caller writes again for each run, or has
 * written. */
static vpu_status fill(void *user, const backend *b, vpu_error *err)
{
    const checking *c = user;
    vpu_status st = c->o->fill ? c->o->fill(c->o->user, c->g, err) : VPU_OK;

    if (!st)
        st = api_graph_check_inputs(c->g, err);
    return st ? st : api_graph_fill(c->g, b, err);
}

/* What nobody said, if it is behind a finding. */
static void hint(const checking *c)
{
    const layer_check_report *r = &c->made->report;

    for (uint32_t i = 0; i < r->n_findings; i++)
        if (api_graph_names_output(c->g, r->findings[i].text)) {
            api_graph_hint(c->g, r->findings[i].text);
            return;
        }
}

static vpu_status check_graph(void *user, vpu_error *err)
{
    checking *c = user;
    vpu_graph *g = c->g;
    const vpu_check_options *o = c->o;
    layer_check_suppressions *known = NULL;
    layer_check_config cfg = {
        .run = api_graph_config(g),
        .max_findings = o->max_findings ? o->max_findings : MOST_FINDINGS,
        .orders = o->orders,
        .n_random = o->random_orders ? o->random_orders : RANDOM_ORDERS,
        .seed = o->seed ? o->seed : 1,
        .strict = o->strict_align ? CHECK_BIT(CHECK_ALIGN) : 0,
        .fill = fill,
        .fill_user = c};
    vpu_status st;

    cfg.run.how.cancel = &g->cancel;
    cfg.run.device = "";  /* of the simulator's own */
    cfg.run.debug = NULL; /* their code is another one */
    c->a = arena_create(0);
    c->made = arena_new(c->a, vpu_findings);
    c->made->arena = c->a;
    st = check_set_parse(o->checks ? o->checks : "default", &cfg.enabled, err);
    if (!st && o->suppress)
        st = layer_check_suppressions_read(o->suppress, c->a, &known, err);
    cfg.suppressions = known;
    if (!st)
        st = layer_check(&cfg, &g->g, c->a, &c->made->report, err);
    if (!st)
        hint(c);
    return st;
}

vpu_status vpu_graph_check(vpu_findings **out, vpu_graph *self,
                           const vpu_check_options *options, vpu_error *err)
{
    vpu_check_options o;
    checking c = {.g = self, .o = &o};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(self, "graph", err);
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_check_options", err);
    if (!st && !(vpu_context_capabilities(self->context) & VPU_CAN_CHECK))
        st = err_set(err, VPU_ERR_UNSUPPORTED,
                     "backend %s has no checkers; sim has", self->context->id);
    if (!st)
        st = api_graph_seal(self, err);
    if (!st)
        st = api_hosts_refuse(
            self, "checkers would not see what it does to memory", err);
    if (!st && !o.fill)
        st = api_graph_check_inputs(self, err);
    if (st)
        return st;
    atomic_store(&self->cancel, false);
    st = oom_guard(check_graph, &c, err);
    if (st) {
        arena_destroy(c.a);
        return st;
    }
    c.made->graph = api_graph_keep(self);
    *out = c.made;
    return VPU_OK;
}

void vpu_findings_free(vpu_findings *findings)
{
    vpu_graph *g;

    if (!findings)
        return;
    g = findings->graph;
    arena_destroy(findings->arena);
    vpu_graph_free(g);
}

/* --- one by one ----------------------------------------------------------- */

size_t vpu_findings_count(const vpu_findings *findings)
{
    return findings ? findings->report.n_findings : 0;
}

size_t vpu_findings_error_count(const vpu_findings *findings)
{
    return findings ? findings->report.n_errors : 0;
}

static const layer_check_shown *finding_at(const vpu_findings *f, size_t i)
{
    return i < vpu_findings_count(f) ? &f->report.findings[i] : NULL;
}

const char *vpu_findings_checker(const vpu_findings *findings, size_t i)
{
    const layer_check_shown *x = finding_at(findings, i);

    return x ? check_name(x->kind) : NULL;
}

const char *vpu_findings_text(const vpu_findings *findings, size_t i)
{
    const layer_check_shown *x = finding_at(findings, i);

    return x ? x->text : NULL;
}

const char *vpu_findings_kernel(const vpu_findings *findings, size_t i)
{
    const layer_check_shown *x = finding_at(findings, i);

    return x && *x->kernel ? x->kernel : NULL;
}

const char *vpu_findings_file(const vpu_findings *findings, size_t i)
{
    const layer_check_shown *x = finding_at(findings, i);

    return x ? x->file : NULL;
}

uint32_t vpu_findings_line(const vpu_findings *findings, size_t i)
{
    const layer_check_shown *x = finding_at(findings, i);

    return x ? x->line : 0;
}

uint64_t vpu_findings_times(const vpu_findings *findings, size_t i)
{
    const layer_check_shown *x = finding_at(findings, i);

    return x ? x->count : 0;
}

uint32_t vpu_findings_is_note(const vpu_findings *findings, size_t i)
{
    const layer_check_shown *x = finding_at(findings, i);

    return x && x->note;
}

double vpu_findings_seconds(const vpu_findings *findings)
{
    return findings ? findings->report.seconds : 0;
}

double vpu_findings_launch_seconds(const vpu_findings *findings)
{
    return findings ? findings->report.run_s : 0;
}

/* --- all of them ---------------------------------------------------------- */

static vpu_status print_all(void *user, vpu_error *err)
{
    vpu_findings *f = user;
    const graph *g = &f->graph->g;
    str text = {.arena = f->arena}, json = text, sarif = text;

    (void)err;
    layer_check_print_text(&f->report, g, f->arena, &text);
    layer_check_print_json(&f->report, g, &json);
    layer_check_print_sarif(&f->report, &sarif);
    f->json = str_text(&json);
    f->sarif = str_text(&sarif);
    f->text = str_text(&text);
    return VPU_OK;
}

static bool is_printed(vpu_findings *f)
{
    return f && (f->text || !oom_guard(print_all, f, NULL));
}

const char *vpu_findings_report(vpu_findings *findings)
{
    return is_printed(findings) ? findings->text : NULL;
}

const char *vpu_findings_json(vpu_findings *findings)
{
    return is_printed(findings) ? findings->json : NULL;
}

const char *vpu_findings_sarif(vpu_findings *findings)
{
    return is_printed(findings) ? findings->sarif : NULL;
}

vpu_status vpu_checkers_check(const char *text, vpu_error *err)
{
    check_set set;
    vpu_status st = api_need(text, "text", err);

    return st ? st : check_set_parse(text, &set, err);
}
