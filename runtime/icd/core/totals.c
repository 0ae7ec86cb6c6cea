/* What a program's launches came to, kernel by kernel: a table of lines, JSON.
 */
#include <string.h>

#include "base/oom.h"
#include "runtime/icd/core/core_priv.h"
#include "runtime/json/jsontext.h"
#include "runtime/report/profile.h"

/* A kernel is one by its name and its program's first text: programs are often
 * built again and again. */
struct core_total {
    core_total *next;
    const char *name, *text;
    bool linked; /* of several texts: which one a line is of is not known */
    uint64_t launches;
    uint32_t n_shaves; /* of the last */
    sim_variant_kind variant;
    uint64_t cycles, shave_cycles, causes[MACH_N_CAUSES];
    uint64_t load, store, dma_in, dma_out, ddr;
    exec_profile_row *rows;
    size_t n, cap;
};

static core_total *total_of(core_machine *m, const core_launch *l)
{
    core_made *made = l->unit->kernels;
    core_total **at = &m->totals;

    while (made && made->kernel != l->kernel)
        made = made->next;
    if (made && made->total)
        return made->total;
    while (*at && (strcmp((*at)->name, l->kernel->name) ||
                   strcmp((*at)->text, l->unit->sources->text)))
        at = &(*at)->next;
    if (!*at) {
        *at = arena_new(m->arena, core_total);
        (*at)->name = arena_strdup(m->arena, l->kernel->name);
        (*at)->text = arena_strdup(m->arena, l->unit->sources->text);
        (*at)->linked = l->unit->n_sources > 1;
    }
    if (made)
        made->total = *at;
    return *at;
}

void core_count(core_machine *m, const core_launch *l, const exec_result *r)
{
    core_total *t = total_of(m, l);
    const mach_profile *p = &r->profile;

    t->launches++;
    t->n_shaves = l->n_shaves;
    t->variant = r->variant;
    t->cycles += p->cycles;
    t->shave_cycles += p->cycles * l->n_shaves;
    t->load += p->load_bytes;
    t->store += p->store_bytes;
    t->dma_in += p->dma_in_bytes;
    t->dma_out += p->dma_out_bytes;
    t->ddr += p->ddr_bytes;
    for (uint32_t i = 0; i < MACH_MAX_SHAVES; i++)
        for (int c = 0; c < MACH_N_CAUSES; c++)
            t->causes[c] += p->by_cause[i][c];
}

static exec_profile_row *row_like(core_machine *m, core_total *t,
                                  const exec_profile_row *r)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->rows[i].place == r->place && t->rows[i].phase == r->phase &&
            t->rows[i].line == r->line)
            return &t->rows[i];
    *arena_append(m->arena, t->rows, t->n, t->cap) = (exec_profile_row){
        .place = r->place, .phase = r->phase, .line = r->line};
    return &t->rows[t->n - 1];
}

void core_count_lines(core_machine *m, const core_launch *l,
                      const exec_profile *p)
{
    core_total *t = total_of(m, l);

    for (uint32_t i = 0; i < p->n; i++) {
        const exec_profile_row *from = &p->rows[i];
        exec_profile_row *to = row_like(m, t, from);

        for (int c = 0; c < MACH_N_CAUSES; c++)
            to->cycles[c] += from->cycles[c];
        to->executions += from->executions;
        to->load_bytes += from->load_bytes;
        to->store_bytes += from->store_bytes;
        to->dma_bytes += from->dma_bytes;
    }
}

/* --- telling -------------------------------------------------------------- */

static void put(json_t *o, const char *name, uint64_t v)
{
    json_object_set_new(o, name, json_integer((json_int_t)v));
}

static report_profile_stage lines_of(const core_total *t,
                                     const exec_profile *rows, arena *a)
{
    return (report_profile_stage){
        .name =
            arena_printf(a, "%llu launch%s", (unsigned long long)t->launches,
                         t->launches == 1 ? "" : "es"),
        .kernel = t->name,
        .variant = sim_variant_name(t->variant),
        .path = CORE_TEXT_NAME,
        .text = t->linked ? "" : t->text,
        .n_shaves = t->n_shaves,
        .shave_cycles = t->shave_cycles,
        .rows = rows};
}

static json_t *total_json(const core_total *t, arena *a)
{
    const exec_profile rows = {t->rows, (uint32_t)t->n};
    const report_profile_stage lines = lines_of(t, &rows, a);
    json_t *o = json_object(), *causes = json_object();

    json_object_set_new(o, "kernel", jsontext_string(t->name));
    put(o, "launches", t->launches);
    put(o, "shaves", t->n_shaves);
    json_object_set_new(o, "variant", jsontext_string(lines.variant));
    put(o, "cycles", t->cycles);
    put(o, "load_bytes", t->load);
    put(o, "store_bytes", t->store);
    put(o, "dma_in_bytes", t->dma_in);
    put(o, "dma_out_bytes", t->dma_out);
    put(o, "ddr_bytes", t->ddr);
    for (int c = 0; c < MACH_N_CAUSES; c++)
        if (t->causes[c])
            put(causes, mach_cause_name((mach_cause)c), t->causes[c]);
    json_object_set_new(o, "cycles_by_cause", causes);
    if (t->n)
        json_object_set_new(o, "profile", report_profile_rows(&lines));
    return o;
}

typedef struct {
    core_machine *m;
    const core_summary *s;
    uint32_t most;
    str *table, *json;
} telling;

static void tell_json(const telling *x, arena *a)
{
    json_t *o = json_object(), *kernels = json_array();

    put(o, "contexts", x->s->contexts);
    put(o, "launches", x->s->launches);
    put(o, "failed", x->s->failed);
    put(o, "findings", x->s->findings);
    put(o, "cycles", x->s->cycles);
    put(o, "clk_mhz", x->m->desc.clk_mhz);
    for (const core_total *t = x->m->totals; t; t = t->next)
        json_array_append_new(kernels, total_json(t, a));
    json_object_set_new(o, "kernels", kernels);
    jsontext_add(x->json, o, JSONTEXT_EXACT);
}

static vpu_status tell(void *user, vpu_error *err)
{
    telling *x = user;
    arena *a = arena_create(0);

    (void)err;
    if (x->json)
        tell_json(x, a);
    for (const core_total *t = x->m->totals; t && x->table; t = t->next) {
        const exec_profile rows = {t->rows, (uint32_t)t->n};
        const report_profile_stage lines = lines_of(t, &rows, a);

        if (t->n)
            report_profile_table(&lines, x->most, x->table);
    }
    arena_destroy(a);
    return VPU_OK;
}

vpu_status core_tell(core_machine *m, const core_summary *s, uint32_t most,
                     str *table, str *json, vpu_error *err)
{
    return oom_guard(tell, &(telling){m, s, most, table, json}, err);
}
