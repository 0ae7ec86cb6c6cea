/* Accesses of all items of a loop at once (sim/compiler/check/rows.h). Loads
 * that change no words have to be inside their memory, and of local memory
 * written. Stores to buffers have to go on with runs (runs.c), or be to bytes
 * that nobody used in this launch. No two rows of stores have a byte in common,
 * so it does not matter that each is noted for all its items before the next
 * one is. All rows are noted, or none. */
#include "sim/check/session_priv.h"

/* Fewer items are as fast one by one. */
enum {
    LEAST_ITEMS = 32,
    MAX_ROWS = 4096,
    MAX_IN_VAIN = 16,
    ITEM = 1 << SHADOW_ITEM_SHIFT
};

/* Elements of a row that follow each other; the word that the first gets. */
typedef struct {
    uint32_t *words;
    uint32_t offset, n, element, word;
} piece;

void check_rows_forget(check_session *s)
{
    for (size_t i = 0; i < s->rows.n; i++)
        s->rows.rows[i].region->rows_to = 0;
    s->rows.n = 0;
    s->rows.lost = false;
}

uint32_t check_on_ask(sim_wg *wg, uint32_t item, uint32_t nx, uint32_t ny,
                      uint32_t nz)
{
    check_session *s = check_session_of(wg);
    check_rows *t = &s->rows;
    uint64_t n = 1;

    check_rows_forget(s);
    t->first = item;
    t->items[0] = nx;
    t->items[1] = ny;
    t->items[2] = nz;
    for (int d = 0; d < 3 && n; d++)
        n = t->items[d] > s->n_items ? 0 : n * t->items[d];
    return n >= LEAST_ITEMS && n <= s->n_items && item <= s->n_items - n &&
           !s->every_access && !s->pending.bytes && s->phase == MACH_COMP &&
           t->in_vain <= MAX_IN_VAIN;
}

/* --- where the accesses are ---------------------------------------------- */

static int64_t way(const check_session *s, const uint32_t *by, int d)
{
    return (int64_t)(int32_t)by[d] * ((int64_t)s->rows.items[d] - 1);
}

/* Are all addresses, the first of which is `off` behind where the pointer comes
 * from, inside its memory? */
static bool is_inside(const check_session *s, const sim_site *at, uint32_t off,
                      const uint32_t *by)
{
    const sim_object *o = &s->sites->objects[at->object];
    uint64_t limit = o->kind == SIM_MEM_ARG ? s->limits[o->index] : o->bytes;
    int64_t from = off, to = off;

    for (int d = 0; d < 3; d++)
        *(way(s, by, d) < 0 ? &from : &to) += way(s, by, d);
    return from >= 0 && (uint64_t)to + at->bytes <= limit;
}

static bool is_aligned(const check_session *s, const sim_site *at,
                       uint32_t addr, const uint32_t *by)
{
    for (int d = 0; d < 3; d++)
        addr |= s->rows.items[d] > 1 ? by[d] : 0;
    return !(addr & (at->align - 1));
}

/* --- loads --------------------------------------------------------------- */

/* Local memory that nobody writes before the next barrier: has this group
 * written it? What items share is looked at once. */
static bool is_written(const check_session *s, const sim_site *at,
                       uint32_t addr, const uint32_t *by)
{
    uint32_t words = s->sites->objects[at->object].element ? 1 : at->bytes;
    uint32_t n[3], floor = s->wg->check.floor;
    bool all = true;

    for (int d = 0; d < 3; d++)
        n[d] = by[d] ? s->rows.items[d] : 1;
    for (uint32_t z = 0; z < n[2]; z++)
        for (uint32_t y = 0; y < n[1]; y++) {
            uint32_t first = addr + z * by[2] + y * by[1];
            const uint32_t *w = s->shadow + first;

            for (uint32_t x = 0; x < n[0]; x++, w += (int32_t)by[0])
                for (uint32_t k = 0; k < words; k++)
                    all &= w[k] >= floor && w[k] & SHADOW_INIT;
        }
    return all;
}

/* --- stores -------------------------------------------------------------- */

/* Did nobody use these elements in this launch? Then the next use of each
 * changes no more than its words. */
static bool is_unused(const piece *p)
{
    const uint32_t *w = p->words;
    uint32_t used = 0;

    for (uint32_t i = 0; i < p->n; i++, w += p->element)
        for (uint32_t k = 0; k < p->element; k++)
            used |= (w[k] & ~(uint32_t)SHADOW_INIT) | (w[k] ^ w[0]);
    return !used;
}

static void use(const piece *p)
{
    uint32_t *w = p->words, word = p->word;

    for (uint32_t i = 0; i < p->n; i++, word += ITEM)
        for (uint32_t k = 0; k < p->element; k++)
            *w++ = word;
}

/* The row's part of one block; note: else only whether it may be. */
static bool take(check_session *s, const check_region *r, piece *p, bool note)
{
    if (r->runs &&
        runs_take(r, p->offset, p->element, p->n, p->word, ITEM, note))
        return true;
    runs_make(s, r->address + p->offset, 1);
    p->words = s->shadow + r->address + p->offset;
    if (!note)
        return is_unused(p);
    use(p);
    return true;
}

/* The blocks of a row, one after the other. */
static bool each_block(check_session *s, const check_row *w, bool note)
{
    uint32_t left = w->n;
    piece p = {.offset = w->at,
               .element = w->element,
               .word = s->wg->check.interval[CLOCK_GLOBAL] |
                       w->item << SHADOW_ITEM_SHIFT};

    for (; left; left -= p.n) {
        p.n = (SIM_RUN_BYTES - p.offset % SIM_RUN_BYTES) / p.element;
        p.n = p.n < left ? p.n : left;
        if (!take(s, w->region, &p, note))
            return false;
        p.offset += p.n * p.element;
        p.word += p.n * ITEM;
    }
    return true;
}

/* Rows in one buffer go up, so that no two have a byte in common. */
static bool wait_row(check_session *s, check_row w)
{
    check_rows *t = &s->rows;

    if (t->n == MAX_ROWS || w.at % w.element || w.at < w.region->rows_to ||
        !each_block(s, &w, false))
        return false;
    w.region->rows_to = (uint64_t)w.at + (uint64_t)w.n * w.element;
    *arena_append(s->arena, t->rows, t->n, t->cap) = w;
    return true;
}

/* Stores of all items: a row in the first direction that has several, as often
 * as the others have. */
static bool wait_rows(check_session *s, const sim_site *at, uint32_t addr,
                      const uint32_t *by)
{
    check_region *r = s->regions[s->sites->objects[at->object].index];
    uint32_t n[3] = {1, 1, 1}, step[3] = {0}, dims = 0;

    for (int d = 0; d < 3; d++)
        if (s->rows.items[d] > 1) {
            n[dims] = s->rows.items[d];
            step[dims++] = by[d];
        }
    if (!r || r->blank || r->shared || step[0] != at->bytes)
        return false;
    addr -= r->address;
    for (uint32_t z = 0; z < n[2]; z++)
        for (uint32_t y = 0; y < n[1]; y++)
            if (!wait_row(s, (check_row){.region = r,
                                         .at = addr + z * step[2] + y * step[1],
                                         .n = n[0],
                                         .element = at->bytes,
                                         .item = s->rows.first +
                                                 (z * n[1] + y) * n[0]}))
                return false;
    return true;
}

/* --- what code tells ----------------------------------------------------- */

static bool is_usual(check_session *s, const sim_site *at, uint32_t addr,
                     uint32_t root, const uint32_t *by)
{
    if (!is_inside(s, at, addr - root, by) || !is_aligned(s, at, addr, by))
        return false;
    if (at->kind == SITE_STORE)
        return wait_rows(s, at, addr, by);
    return !sim_object_is_local(&s->sites->objects[at->object]) ||
           is_written(s, at, addr, by);
}

void check_on_row(sim_wg *wg, uint32_t site, uint32_t addr, uint32_t root,
                  uint32_t x, uint32_t y, uint32_t z)
{
    check_session *s = check_session_of(wg);
    const uint32_t by[3] = {x, y, z};

    if (!s->rows.lost)
        s->rows.lost = !is_usual(s, &s->sites->sites[site], addr, root, by);
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
