/* Accesses of all items of a loop at once (sim/compiler/check/rows.h): a row
 * each, an element after the other. Loads of memory nobody writes have to be
 * inside it. Stores have to go on with runs (runs.c), or be to bytes that
 * nobody used in this launch. No two rows of stores have a byte in common, so
 * it does not matter that each is noted for all items before the next one is.
 * All rows are noted, or none. */
#include "sim/check/session_priv.h"

enum { MAX_ROWS = 4096, MAX_IN_VAIN = 16, ITEM = 1 << SHADOW_ITEM_SHIFT };

/* Elements of a row that are in one block; the word that the first gets. */
typedef struct {
    uint32_t offset, n, element, word;
} piece;

void check_rows_forget(check_session *s)
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

    check_rows_forget(s);
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

/* Did nobody use these elements in this launch? Then the next use of each
 * changes no more than its words. */
static bool is_unused(const check_session *s, const check_region *r,
                      const piece *p)
{
    const uint32_t *words = s->shadow + r->address + p->offset;
    uint32_t used = 0;

    for (uint32_t i = 0; i < p->n; i++, words += p->element)
        for (uint32_t k = 0; k < p->element; k++)
            used |= (words[k] & ~(uint32_t)SHADOW_INIT) | (words[k] ^ words[0]);
    return !used;
}

static void use(const check_session *s, const check_region *r, const piece *p)
{
    uint32_t *words = s->shadow + r->address + p->offset, word = p->word;

    for (uint32_t i = 0; i < p->n; i++, word += ITEM)
        for (uint32_t k = 0; k < p->element; k++)
            *words++ = word;
}

/* The row's part of one block; note: else only whether it may be. */
static bool take(check_session *s, const check_row *w, const piece *p,
                 bool note)
{
    const check_region *r = w->region;

    if (r->runs &&
        runs_take(r, p->offset, p->element, p->n, p->word, ITEM, note))
        return true;
    runs_make(s, r->address + p->offset, 1);
    if (!note)
        return is_unused(s, r, p);
    use(s, r, p);
    return true;
}

/* The blocks of a row, one after the other. */
static bool each_block(check_session *s, const check_row *w, bool note)
{
    uint32_t item = s->rows.first, left = s->rows.items;
    piece p = {.offset = w->offset, .element = w->element};

    for (; left; left -= p.n, item += p.n, p.offset += p.n * p.element) {
        p.word = s->wg->check.interval[CLOCK_GLOBAL] | item
                                                           << SHADOW_ITEM_SHIFT;
        p.n = (SIM_RUN_BYTES - p.offset % SIM_RUN_BYTES) / p.element;
        p.n = p.n < left ? p.n : left;
        if (!take(s, w, &p, note))
            return false;
    }
    return true;
}

/* Rows in one buffer go up, so that no two have a byte in common. */
static bool wait_row(check_session *s, check_region *r, uint32_t off,
                     uint32_t element)
{
    check_rows *t = &s->rows;
    check_row w = {r, off, element};

    if (!r || r->blank || r->shared || off % element || off < r->rows_to ||
        t->n == MAX_ROWS || !each_block(s, &w, false))
        return false;
    r->rows_to = (uint64_t)off + (uint64_t)t->items * element;
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
    check_rows_forget(s);
    t->loops += !lost;
    if (lost)
        t->in_vain++;
    else if (t->in_vain)
        t->in_vain--;
    return !lost;
}
