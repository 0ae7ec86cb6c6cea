/* Runs a layer for its checkers, as often as it takes. */
#include "runtime/check/layer.h"

#include <string.h>

#include "base/clock.h"
#include "runtime/check/describe.h"
#include "runtime/check/orders.h"
#include "runtime/check/suppress.h"

typedef struct {
    const layer_check_config *cfg;
    const graph *g;
    backend_check check;
    backend_config run;
    backend b;
    double run_s;
} pass;

static check_session *checker(const backend *b)
{
    return b->ops->order->checker(b->self);
}

static vpu_status run_pass(pass *p, vpu_error *err)
{
    double start;
    vpu_status st;

    p->run = p->cfg->run;
    p->run.check = &p->check;
    p->run.trace = NULL;
    st = backend_open(backend_offering(BACKEND_ORDER | BACKEND_INSPECT),
                      &p->run, p->g, &p->b, err);
    if (!st && p->cfg->fill)
        st = p->cfg->fill(p->cfg->fill_user, &p->b, err);
    start = clock_seconds();
    if (!st)
        st = backend_run_all(&p->b, p->g, err);
    for (uint32_t i = 0; i < p->g->n_buffers && !st; i++)
        if (p->g->buffers[i].role == GRAPH_OUTPUT && !p->g->buffers[i].init)
            check_written(checker(&p->b), i,
                          tensor_dtype_bytes(p->g->buffers[i].desc.dtype));
    p->run_s = clock_seconds() - start;
    if (!st && p->cfg->ended)
        p->cfg->ended(p->cfg->fill_user, checker(&p->b));
    if (p->b.self)
        check_end(checker(&p->b));
    return st;
}

/* What a second run is for: launches to compile with taint, *any of them. */
static bool *to_follow(pass *p, arena *a, bool *any)
{
    bool *taint = arena_array(a, bool, p->g->n_launches + 1);

    *any = false;
    for (uint32_t i = 0; i < p->g->n_launches; i++) {
        taint[i] = check_needs_taint(checker(&p->b), i);
        *any |= taint[i];
    }
    return taint;
}

/* Into the report, unless it is known or one too many. */
static void add(const layer_check_config *cfg, const layer_check_shown *x,
                layer_check_shown *shown, layer_check_report *out)
{
    bool note = (x->note || check_is_note(x->kind)) &&
                !(cfg->strict & CHECK_BIT(x->kind));
    uint32_t n = note ? out->n_findings - out->n_errors : out->n_errors;

    if (layer_check_suppressed(cfg->suppressions, x)) {
        out->suppressed++;
    } else if (cfg->max_findings && n == cfg->max_findings) {
        out->dropped++;
    } else {
        shown[out->n_findings] = *x;
        shown[out->n_findings++].note = note;
        out->n_errors += !note;
    }
}

static void collect(const pass *p, const layer_check_shown *orders,
                    uint32_t n_orders, arena *a, layer_check_report *out)
{
    const check_session *s = checker(&p->b);
    size_t n;
    const check_finding *f = check_findings(s, &n);
    layer_check_shown *shown =
        arena_array(a, layer_check_shown, n + n_orders + 1);

    out->dropped = check_dropped(s);
    out->findings = shown;
    for (size_t i = 0; i < n; i++) {
        layer_check_shown x;

        layer_check_describe(&f[i], p->g, a, &x);
        add(p->cfg, &x, shown, out);
    }
    for (uint32_t i = 0; i < n_orders; i++)
        add(p->cfg, &orders[i], shown, out);
}

static void count(const graph *g, layer_check_report *out)
{
    out->n_launches = g->n_launches;
    for (uint32_t i = 0; i < g->n_launches; i++) {
        uint32_t n[3];

        out->n_groups += layer_check_groups(&g->launches[i], n);
    }
}

vpu_status layer_check(const layer_check_config *cfg, const graph *g, arena *a,
                       layer_check_report *out, vpu_error *err)
{
    pass first = {.cfg = cfg, .g = g, .check = {.enabled = cfg->enabled}};
    pass second = first, *last = &first;
    double start = clock_seconds();
    bool follow = false;
    layer_check_orders_config how = {cfg->n_random, cfg->seed};
    layer_check_orders_result orders = {0};
    vpu_status st;

    *out = (layer_check_report){.enabled = cfg->enabled, .runs = 1};
    st = run_pass(&first, err);
    if (!st) {
        second.check.taint = to_follow(&first, a, &follow);
        follow &=
            (cfg->enabled & (CHECK_BIT(CHECK_UNINIT) | CHECK_BIT(CHECK_STALE) |
                             CHECK_BIT(CHECK_CONVERT))) != 0;
    }
    if (!st && (follow || check_needs_again(checker(&first.b)))) {
        second.check.again = checker(&first.b);
        last = &second;
        out->runs = 2;
        st = run_pass(&second, err);
    }
    if (!st && cfg->orders && cfg->enabled & CHECK_BIT(CHECK_ORDER) &&
        check_ran_all(checker(&first.b)))
        st = layer_check_orders(cfg, &how, g, a, &orders, err);
    if (!st) {
        out->n_orders = orders.n_orders;
        collect(last, orders.findings, orders.n, a, out);
        count(g, out);
    }
    backend_close(&second.b);
    backend_close(&first.b);
    out->seconds = clock_seconds() - start;
    out->run_s = first.run_s + second.run_s;
    return st;
}
