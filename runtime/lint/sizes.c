/* Work sizes and local memory against the device, as far as they are known. */
#include <string.h>

#include "runtime/lint/lint_priv.h"
#include "sim/exec/exec.h"

static void constants(config_text t, const char *path, uint32_t out[3])
{
    config_expr list, items[3];
    size_t n = 0;

    for (int d = 0; d < 3; d++)
        out[d] = 0;
    if (!t.text)
        return;
    list = config_text_expr(t, path);
    if (config_expr_split(&list, 3, items, &n, NULL))
        return;
    for (size_t d = 0; d < 3; d++) {
        int32_t v = 1; /* left out */

        if (d < n && config_expr_eval(&items[d], NULL, 0, &v, NULL))
            v = 0;
        out[d] = v > 0 ? (uint32_t)v : 0;
    }
}

static void know(lint_stage *s)
{
    const graph_launch *x = s->launch;

    if (x) {
        memcpy(s->global, x->global, sizeof s->global);
        memcpy(s->local, x->local, sizeof s->local);
        return;
    }
    constants(s->binding->global, s->layer->path, s->global);
    constants(s->binding->local, s->layer->path, s->local);
}

static bool all_known(const uint32_t v[3])
{
    return v[0] && v[1] && v[2];
}

/* Where a size is said; that of the kernel when the file leaves it open. */
static config_text said(const lint_stage *s, config_text t)
{
    return t.line ? t : (config_text){.line = s->binding->line};
}

static void check_remainder(lint_state *l, const lint_stage *s)
{
    const config_text global = said(s, s->binding->global);
    const config_text local = said(s, s->binding->local);
    const uint32_t *reqd = s->kernel->reqd_local;

    for (int d = 0; d < 3; d++)
        if (s->global[d] && s->local[d] && s->global[d] % s->local[d])
            lint_report(
                l, LINT_WORK_SIZE, s->layer->path, global.line, global.col,
                "dimension %d: global size %u is not a multiple of the "
                "local size %u: the last %u work-items do not run",
                d, s->global[d], s->local[d], s->global[d] % s->local[d]);
    for (int d = 0; reqd[0] && d < 3; d++)
        if (s->local[d] && s->local[d] != reqd[d])
            lint_report(l, LINT_WORK_SIZE, s->layer->path, local.line,
                        local.col,
                        "dimension %d: the local size is %u, but "
                        "reqd_work_group_size of kernel '%s' says %u",
                        d, s->local[d], s->kernel->name, reqd[d]);
}

/* Told from a tenth on: below that other things matter more. */
static void check_split(lint_state *l, const lint_stage *s)
{
    static const uint32_t shaves[] = {16, 7};
    const config_kernel *k = s->binding;
    const config_text global = said(s, k->global);
    uint64_t groups = 1;
    str text = {0};

    if (!all_known(s->global) || !all_known(s->local))
        return;
    for (int d = 0; d < 3; d++)
        groups *= s->global[d] / s->local[d];
    for (int i = 0; i < 2 && groups; i++) {
        uint64_t n = k->max_shaves && k->max_shaves < shaves[i] ? k->max_shaves
                                                                : shaves[i];
        uint64_t most = (groups + n - 1) / n;

        if (groups * 10 > most * n * 9)
            continue;
        str_printf(&text,
                   "%s on %llu SHAVEs the busiest has %llu of them and %.0f %% "
                   "of the SHAVEs' time is idle if all take equally long",
                   text.n ? ";" : "", (unsigned long long)n,
                   (unsigned long long)most,
                   100.0 * (1 - (double)groups / (double)(most * n)));
    }
    if (text.n)
        lint_report(l, LINT_SPLIT, s->layer->path, global.line, global.col,
                    "%llu work-groups:%s", (unsigned long long)groups,
                    str_text(&text));
    str_free(&text);
}

/* Groups of one item are meant to do their own loop. */
static void check_multiple(lint_state *l, const lint_stage *s)
{
    const sim_variant *v = &s->kernel->variants[SIM_VECTORIZED];
    const config_text local = said(s, s->binding->local);
    const uint32_t *n = s->local;

    if (v->present && n[0] && n[0] % v->factor &&
        !(n[0] == 1 && n[1] == 1 && n[2] == 1))
        lint_report(l, LINT_LOCAL_MULTIPLE, s->layer->path, local.line,
                    local.col,
                    "local size %u of dimension 0 is not a multiple of %u: the "
                    "scalar variant of kernel '%s' runs, not the vectorized "
                    "one",
                    n[0], v->factor, s->kernel->name);
}

/* Bytes of a __local argument: as bound, else as far as constant. */
static uint32_t local_bytes(const lint_stage *s, const char *name)
{
    uint32_t bytes = 0;

    for (uint32_t i = 0; s->launch && i < s->launch->n_args; i++)
        if (!strcmp(s->launch->args[i].name, name) &&
            s->launch->args[i].kind == GRAPH_ARG_LOCAL)
            return s->launch->args[i].bytes;
    for (size_t i = 0; i < s->binding->n_bindings; i++) {
        const config_binding *b = &s->binding->bindings[i];
        config_expr e;
        int32_t v;

        if (b->kind != CONFIG_LOCAL_DATA || strcmp(b->arg, name) ||
            !b->size.text)
            continue;
        e = config_text_expr(b->size, s->layer->path);
        if (!config_expr_eval(&e, NULL, 0, &v, NULL) && v > 0)
            bytes = (uint32_t)v;
    }
    return bytes;
}

/* What is not known counts as nothing, so this is never too much. */
static void check_memory(lint_state *l, const lint_stage *s)
{
    exec_value *values =
        arena_array(l->arena, exec_value, s->kernel->n_args + 1);
    exec_launch x = {.kernel = s->kernel, .values = values};
    sim_variant_kind variant;
    uint64_t budget = l->cfg->local_budget;
    uint32_t need, twice;
    str list = {0}, both = {0};

    for (uint32_t i = 0; i < s->kernel->n_args; i++)
        if (s->kernel->args[i].space == SIM_ARG_LOCAL)
            values[i].as.bytes = local_bytes(s, s->kernel->args[i].name);
    for (int d = 0; d < 3; d++)
        x.local[d] = all_known(s->local) ? s->local[d] : 0;
    variant = s->kernel->variants[SIM_VECTORIZED].present && x.local[0] &&
                      !(x.local[0] % s->kernel->variants[SIM_VECTORIZED].factor)
                  ? SIM_VECTORIZED
                  : SIM_SCALAR;
    need = exec_local_bytes(&x, variant, budget, &list);
    twice = exec_local_bytes(&x, variant, UINT64_MAX, &both);
    if (need > budget)
        lint_report(l, LINT_LOCAL_MEMORY, s->layer->path, s->binding->line, 0,
                    "kernel '%s' needs %u bytes of local memory per "
                    "work-group, the device has %llu:%s",
                    s->kernel->name, need, (unsigned long long)budget,
                    str_text(&list));
    else if (twice > budget)
        lint_report(
            l, LINT_LOCAL_MEMORY, s->layer->path, s->binding->line, 0,
            "kernel '%s' has one buffer, for two need %u bytes of local "
            "memory, the device has %llu; copies do not overlap with "
            "computation:%s",
            s->kernel->name, twice, (unsigned long long)budget,
            str_text(&both));
    str_free(&list);
    str_free(&both);
}

void lint_check_sizes(lint_state *l, lint_stage *s)
{
    know(s);
    l->sizes |= s->launch != NULL;
    check_remainder(l, s);
    check_split(l, s);
    check_multiple(l, s);
    check_memory(l, s);
}
