/* Accesses of all items of a loop at once (sim/compiler/check/rows.h): a row
 * each, an element after the other. Loads of memory nobody writes have to be
 * inside it. Stores have to go on with runs (runs.c), whose blocks then are as
 * they would be store by store: no two rows have a block in common, so only the
 * order of items within a row matters. All rows, or none, are noted. */
#include "sim/check/session_priv.h"

enum { MAX_ROWS = 4096, MAX_IN_VAIN = 16 };

void rows_forget(check_session *s)
{
    for (size_t i = 0; i < s->rows.n; i++)
        s->rows.rows[i].region->rows_to = 0;
    s->rows.n = 0;
    s->rows.lost = false;
}

uint32_t check_on_ask(sim_wg *wg, uint32_t n, uint32_t item)
{
    check_session *s = check_session_of(wg);
    check_rows *t = &s->rows;

    rows_forget(s);
    if (s->every_access || s->pending.bytes || s->phase != MACH_COMP ||
        t->in_vain > MAX_IN_VAIN || n > s->n_items || item > s->n_items - n)
        return 0;
    t->items = n;
    t->first = item;
    return 1;
}

/* Are all addresses inside what the argument points to, and aligned? Then
 * *last is how far the last one is from the first. */
static bool is_inside(const check_session *s, const sim_site *at, uint32_t off,
                      uint32_t step)
{
    uint64_t limit = s->limits[s->sites->objects[at->object].index];
    int64_t last = (int64_t)off + (int64_t)(int32_t)step * (s->rows.items - 1);
    int64_t from = last < off ? last : off, to = last < off ? off : last;

    return from >= 0 && (uint64_t)to + at->bytes <= limit;
}

/* The blocks of a row, one after the other. */
static bool each_block(const check_session *s, const check_row *w, bool note)
{
    uint32_t off = w->offset, left = s->rows.items, item = s->rows.first;
    uint32_t step = 1u << SHADOW_ITEM_SHIFT;
    uint32_t interval = s->wg->check.interval[CLOCK_GLOBAL];

    while (left) {
        uint32_t k = (SIM_RUN_BYTES - off % SIM_RUN_BYTES) / w->element;

        k = k < left ? k : left;
        if (!runs_take(w->region, off, w->element, k,
                       interval | item << SHADOW_ITEM_SHIFT, step, note))
            return false;
        off += k * w->element;
        item += k;
        left -= k;
    }
    return true;
}

static bool wait_row(check_session *s, check_region *r, uint32_t off,
                     uint32_t element)
{
    check_rows *t = &s->rows;
    check_row w = {r, off, element};

    if (!r || !r->runs || off % element || off / SIM_RUN_BYTES < r->rows_to ||
        t->n == MAX_ROWS || !each_block(s, &w, false))
        return false;
    r->rows_to =
        ((uint64_t)off + (uint64_t)t->items * element - 1) / SIM_RUN_BYTES + 1;
    *arena_append(s->arena, t->rows, t->n, t->cap) = w;
    return true;
}

void check_on_row(sim_wg *wg, uint32_t site, uint32_t addr, uint32_t root,
                  uint32_t step)
{
    check_session *s = check_session_of(wg);
    const sim_site *at = &s->sites->sites[site];
    check_rows *t = &s->rows;

    if (t->lost)
        return;
    t->lost =
        (addr | step) & (at->align - 1) || !is_inside(s, at, addr - root, step);
    if (!t->lost && at->kind == SITE_STORE) {
        check_region *r = s->regions[s->sites->objects[at->object].index];

        t->lost = step != at->bytes ||
                  !wait_row(s, r, r ? addr - r->address : 0, at->bytes);
    }
}

uint32_t check_on_rows(sim_wg *wg)
{
    check_session *s = check_session_of(wg);
    check_rows *t = &s->rows;
    bool lost = t->lost;

    for (size_t i = 0; i < t->n && !lost; i++)
        each_block(s, &t->rows[i], true);
    rows_forget(s);
    t->loops += !lost;
    if (lost)
        t->in_vain++;
    else if (t->in_vain)
        t->in_vain--;
    return !lost;
}
