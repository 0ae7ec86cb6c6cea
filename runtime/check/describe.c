/* Sentences about findings. */
#include "runtime/check/describe.h"

#include <string.h>

#include "runtime/diff/compare.h"

/* Names of a tensor's dims, outermost first, by its rank. */
static const char *dim_name(const tensor_desc *d, uint32_t k)
{
    static const char *const names[] = {"N", "C", "D", "H", "W"};
    static const char *const of4[] = {"B", "F", "Y", "X"};
    static const char *const of3[] = {"F", "Y", "X"};
    static const char *const of2[] = {"B", "F"};

    return d->rank == 4   ? of4[k]
           : d->rank == 3 ? of3[k]
           : d->rank == 2 ? of2[k]
           : d->rank == 1 ? "X"
                          : names[k];
}

/* The dimension whose neighbours are neighbours in memory. */
static uint32_t innermost(const tensor_desc *d)
{
    return d->layout == TENSOR_CHANNEL_MINOR && d->rank >= 3
               ? (d->rank == 3 ? 0 : 1)
               : d->rank - 1;
}

void layer_check_put_element(const tensor_desc *d, int64_t offset, str *out,
                             str *beyond)
{
    int64_t size = tensor_dtype_bytes(d->dtype);
    int64_t i = offset >= 0 ? offset / size : (offset - size + 1) / size;
    int64_t n = (int64_t)tensor_elements(d), inside = i, extra;
    uint32_t at[TENSOR_MAX_RANK], in;

    if (!d->rank)
        return;
    inside = i < 0 ? 0 : i >= n ? n - 1 : i;
    extra = i - inside;
    in = innermost(d);
    diff_unravel(d, (uint64_t)inside, at);
    for (uint32_t k = 0; k < d->rank; k++)
        str_printf(out, "%c%lld", k ? ',' : '[',
                   (long long)at[k] + (k == in ? extra : 0));
    str_puts(out, "]");
    if (extra)
        str_printf(beyond, "%lld element%s %s of dimension %s",
                   (long long)(extra < 0 ? -extra : extra),
                   extra == 1 || extra == -1 ? "" : "s",
                   extra < 0 ? "before the start" : "past the end",
                   dim_name(d, in));
}

static void describe_buffer(const check_finding *f, const graph *g, str *out)
{
    const check_memory *m = &f->memory;
    const graph_buffer *b =
        m->buffer < g->n_buffers ? &g->buffers[m->buffer] : NULL;
    str at = {0}, beyond = {0};

    if (b && !b->untyped)
        layer_check_put_element(&b->desc, m->offset, &at, &beyond);
    if (*m->arg)
        str_printf(out, " '%s' (%s%s", m->arg, m->name, str_text(&at));
    else
        str_printf(out, " %s%s (", m->name, str_text(&at));
    if (beyond.n)
        str_printf(out, "%s%s", *m->arg ? ": " : "", str_text(&beyond));
    else
        str_printf(out, "%s%lld of %lld bytes", *m->arg ? ": byte " : "byte ",
                   (long long)m->offset, (long long)m->bytes);
    str_puts(out, ")");
    str_free(&at);
    str_free(&beyond);
}

static void describe_array(const check_finding *f, str *out)
{
    static const char *const kinds[] = {[SIM_MEM_ARG] = "local_data",
                                        [SIM_MEM_LOCAL] = "__local array",
                                        [SIM_MEM_CONSTANT] = "__constant array",
                                        [SIM_MEM_PRIVATE] = "private array"};
    const check_memory *m = &f->memory;

    if (!*m->name) {
        str_printf(out, " a %s", kinds[m->kind]);
        return;
    }
    str_printf(out, " '%s'", m->name);
    if (f->element_bytes && m->offset >= 0 && m->offset < m->bytes)
        str_printf(out, "[%lld]", (long long)(m->offset / f->element_bytes));
    str_printf(out, " (%s of %lld bytes, byte %lld)", kinds[m->kind],
               (long long)m->bytes, (long long)m->offset);
}

/* "… the end of": the memory's name follows. */
static bool leads_on(const char *text)
{
    static const char *const words[] = {" of", " from", " in"};
    size_t n = strlen(text);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t m = strlen(words[i]);

        if (n > m && !strcmp(text + n - m, words[i]))
            return true;
    }
    return text[n - 1] == ':';
}

static char *sentence(const check_finding *f, const graph *g, arena *a)
{
    const check_memory *m = &f->memory;
    str s = {0};
    char *text;

    if (f->kind == CHECK_UNWRITTEN) {
        str_printf(&s, "%s, the first is", f->text);
        describe_buffer(f, g, &s);
    } else {
        str_puts(&s, f->text);
        if (m->kind != SIM_MEM_UNKNOWN && !leads_on(f->text))
            str_puts(&s, ":");
        if (m->kind == SIM_MEM_ARG && !m->local)
            describe_buffer(f, g, &s);
        else if (m->kind != SIM_MEM_UNKNOWN)
            describe_array(f, &s);
    }
    text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

/* --- who ----------------------------------------------------------------- */

uint64_t layer_check_groups(const graph_launch *l, uint32_t n[3])
{
    uint64_t all = 1;

    for (int d = 0; d < 3; d++) {
        n[d] = l->local[d] ? l->global[d] / l->local[d] : 0;
        all *= n[d];
    }
    return all;
}

void layer_check_split(uint64_t linear, const uint32_t n[3], uint32_t out[3])
{
    out[0] = (uint32_t)(linear % n[0]);
    out[1] = (uint32_t)(linear / n[0] % n[1]);
    out[2] = (uint32_t)(linear / n[0] / n[1]);
}

static char *who(const check_finding *f, const check_party *p, arena *a)
{
    uint32_t item[3], group[3];

    if (!p->has_group)
        return arena_strdup(a, "");
    layer_check_split(p->group, f->groups, group);
    layer_check_split(p->item, f->local, item);
    if (!p->has_item)
        return arena_printf(a, "work-group (%u,%u,%u)", group[0], group[1],
                            group[2]);
    return arena_printf(a,
                        "work-item (%u,%u,%u) of work-group (%u,%u,%u), global "
                        "id (%u,%u,%u)",
                        item[0], item[1], item[2], group[0], group[1], group[2],
                        group[0] * f->local[0] + item[0],
                        group[1] * f->local[1] + item[1],
                        group[2] * f->local[2] + item[2]);
}

static const sim_place *copy_place(const sim_place *p, arena *a)
{
    sim_place *c;

    if (!p)
        return NULL;
    c = arena_new(a, sim_place);
    *c = (sim_place){arena_strdup(a, p->file), p->line, p->col,
                     copy_place(p->in, a)};
    return c;
}

void layer_check_describe(const check_finding *f, const graph *g, arena *a,
                          layer_check_shown *out)
{
    const graph_launch *l =
        f->launch < g->n_launches ? &g->launches[f->launch] : NULL;
    const check_party *o = &f->other;

    *out = (layer_check_shown){.kind = f->kind,
                               .stage = l ? l->name : "",
                               .kernel = arena_strdup(a, f->kernel),
                               .at = copy_place(f->by.at, a),
                               .text = sentence(f, g, a),
                               .note = f->note,
                               .who = who(f, &f->by, a),
                               .buffer = arena_strdup(a, f->memory.name),
                               .offset = f->memory.offset,
                               .address = f->memory.address,
                               .count = f->count,
                               .has_group = f->by.has_group,
                               .has_item = f->by.has_item};
    if (out->at) {
        out->file = out->at->file;
        out->line = out->at->line;
        out->col = out->at->col;
    } else {
        out->file = l ? l->file : "";
        out->line = l ? l->line : 0;
    }
    if (f->by.has_group)
        layer_check_split(f->by.group, f->groups, out->group);
    if (f->by.has_item)
        layer_check_split(f->by.item, f->local, out->local);
    for (int d = 0; d < 3; d++)
        out->global[d] = out->group[d] * f->local[d] + out->local[d];
    if (!o->what)
        return;
    out->other.at = copy_place(o->at, a);
    out->other.text = o->has_group
                          ? arena_printf(a, "%s %s", who(f, o, a), o->what)
                          : arena_strdup(a, o->what);
}
