/* Gaps between placed items. Those that live at a step of the next one are
 * found in a tree by steps when they are few, and in a list of all by address
 * when they are many, so that neither a long graph nor a wide one is slow. */
#include "runtime/pool/gaps.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Below this share of all that is placed, sorting what the tree finds is
 * cheaper than a walk along the list. */
enum { TREE_SHARE = 128, TREE_LEAST = 32 };

typedef struct {
    uint64_t offset, end;
    uint32_t first, last;
} placed;

struct pool_gaps {
    const pool_ranked *items;
    uint32_t n;
    uint32_t *place;  /* [n]: of an item, among all by their first step */
    uint32_t *firsts; /* [n]: the first steps, by place */
    placed *by_place; /* [n] */
    uint32_t width;   /* a power of two, n or more */
    /* [2 * width]: a heap of the largest end of life below, as last step + 1;
     * 0 = nobody is placed there. Leaf of a place: width + place. */
    uint64_t *latest;
    placed *list; /* all that is placed, by offset */
    uint32_t n_list;
    placed *found; /* [n]: what the tree gave */
    uint32_t n_found, most;
};

/* The gap that suits an item best, of those seen so far. */
typedef struct {
    uint64_t bytes, alignment;
    uint64_t cursor; /* everything below is taken, or seen */
    uint64_t room, offset;
    bool fits;
} fit;

typedef struct {
    uint32_t first, item;
} by_first;

static int compare_firsts(const void *left, const void *right)
{
    const by_first *l = left, *r = right;

    if (l->first != r->first)
        return l->first < r->first ? -1 : 1;
    return l->item < r->item ? -1 : l->item > r->item;
}

static int compare_placed(const void *left, const void *right)
{
    const placed *l = left, *r = right;

    return l->offset < r->offset ? -1 : l->offset > r->offset;
}

pool_gaps *pool_gaps_create(arena *a, const pool_ranked *items, uint32_t n)
{
    by_first *sorted = arena_array(a, by_first, n);
    pool_gaps *g = arena_new(a, pool_gaps);

    *g = (pool_gaps){.items = items, .n = n, .width = 1};
    while (g->width < n)
        g->width *= 2;
    g->place = arena_array(a, uint32_t, n);
    g->firsts = arena_array(a, uint32_t, n);
    g->by_place = arena_array(a, placed, n);
    g->latest = arena_array(a, uint64_t, 2 * (size_t)g->width);
    g->list = arena_array(a, placed, n);
    g->found = arena_array(a, placed, n);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = (by_first){items[i].first, i};
    qsort(sorted, n, sizeof *sorted, compare_firsts);
    for (uint32_t p = 0; p < n; p++) {
        g->place[sorted[p].item] = p;
        g->firsts[p] = sorted[p].first;
    }
    return g;
}

/* Add what is placed below a node, begins before the place `until` and lives at
 * `first` or later; false when that is too much. */
static bool collect(pool_gaps *g, uint32_t node, uint32_t from, uint32_t size,
                    uint32_t until, uint32_t first)
{
    if (from >= until || g->latest[node] <= first)
        return true;
    if (size == 1) {
        if (g->n_found == g->most)
            return false;
        g->found[g->n_found++] = g->by_place[from];
        return true;
    }
    size /= 2;
    return collect(g, 2 * node, from, size, until, first) &&
           collect(g, 2 * node + 1, from + size, size, until, first);
}

/* Places of items that begin at this step or before. */
static uint32_t places_until(const pool_gaps *g, uint32_t step)
{
    uint32_t low = 0, high = g->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (g->firsts[middle] <= step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The next of those that live at the same time, by offset. */
static void look_before(fit *f, const placed *p)
{
    if (p->offset > f->cursor) {
        uint64_t at = (f->cursor + f->alignment - 1) & ~(f->alignment - 1);
        uint64_t room = p->offset - f->cursor;

        if (at < p->offset && p->offset - at >= f->bytes &&
            (!f->fits || room < f->room)) {
            f->fits = true;
            f->room = room;
            f->offset = at;
        }
    }
    if (p->end > f->cursor)
        f->cursor = p->end;
}

/* All of the list that live at a step of the item. Whether one does is hard to
 * foresee for a processor, so there is no branch. */
static void filter(pool_gaps *g, const pool_ranked *it)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < g->n_list; k++) {
        g->found[n] = g->list[k];
        n += (g->list[k].first <= it->last) & (g->list[k].last >= it->first);
    }
    g->n_found = n;
}

static uint64_t find_gap(pool_gaps *g, const pool_ranked *it)
{
    fit f = {.bytes = it->bytes, .alignment = it->alignment};

    g->n_found = 0;
    g->most = g->n_list / TREE_SHARE;
    if (g->most < TREE_LEAST)
        g->most = g->n_list < TREE_LEAST ? g->n_list : TREE_LEAST;
    if (collect(g, 1, 0, g->width, places_until(g, it->last), it->first)) {
        qsort(g->found, g->n_found, sizeof *g->found, compare_placed);
    } else {
        filter(g, it);
    }
    for (uint32_t k = 0; k < g->n_found; k++)
        look_before(&f, &g->found[k]);
    if (f.fits)
        return f.offset;
    return (f.cursor + f.alignment - 1) & ~(f.alignment - 1);
}

static void put(pool_gaps *g, uint32_t item, uint64_t offset)
{
    const pool_ranked *it = &g->items[item];
    placed p = {offset, offset + it->bytes, it->first, it->last};
    uint64_t life = (uint64_t)it->last + 1;
    uint32_t low = 0, high = g->n_list;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (g->list[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(g->list + low + 1, g->list + low,
            (g->n_list - low) * sizeof *g->list);
    g->list[low] = p;
    g->n_list++;
    g->by_place[g->place[item]] = p;
    for (uint32_t k = g->width + g->place[item]; k; k /= 2)
        if (g->latest[k] < life)
            g->latest[k] = life;
}

uint64_t pool_gaps_fill(pool_gaps *g, const uint32_t *order, uint64_t limit,
                        uint64_t *offsets)
{
    uint64_t peak = 0;

    g->n_list = 0;
    memset(g->latest, 0, 2 * (size_t)g->width * sizeof *g->latest);
    for (uint32_t k = 0; k < g->n && peak <= limit; k++) {
        uint32_t item = order[k];

        offsets[item] = find_gap(g, &g->items[item]);
        put(g, item, offsets[item]);
        if (offsets[item] + g->items[item].bytes > peak)
            peak = offsets[item] + g->items[item].bytes;
    }
    return peak <= limit ? peak : UINT64_MAX;
}
