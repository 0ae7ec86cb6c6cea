/* Slices by their names: the next one that holds a text, and how many do. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/view.h"

static bool holds(const char *text, const char *part)
{
    for (; *text; text++) {
        size_t i = 0;

        while (part[i] && tolower((unsigned char)text[i]) ==
                              tolower((unsigned char)part[i]))
            i++;
        /* "comp 2" is not in "comp 20": numbers match whole. */
        if (!part[i] && !(i && isdigit((unsigned char)part[i - 1]) &&
                          isdigit((unsigned char)text[i])))
            return true;
    }
    return !*part;
}

/* What is looked for, and which way. */
typedef struct {
    const char *text;
    bool numbers; /* the text has some, so numbers of slices are compared too */
    int dir;      /* 1 forwards, -1 backwards */
} search;

static bool matches(const view *v, const search *s, const tl_lane *l,
                    uint64_t i)
{
    char name[300];

    if (!s->numbers || !l->has_numbers)
        return holds(tl_text(v->tl, tl_name_of(l, i)), s->text);
    tl_slice_name(v->tl, l, i, name, sizeof name);
    return holds(name, s->text);
}

/* The first match in a lane at or after t, or backwards the last before t. */
static bool search_lane(const view *v, const search *s, const tl_lane *l,
                        uint64_t t, uint64_t *slice)
{
    uint64_t i = tl_count_before(l, t);

    if (s->dir > 0) {
        for (; i < l->n_slices; i++)
            if (matches(v, s, l, i)) {
                *slice = i;
                return true;
            }
        return false;
    }
    while (i-- > 0)
        if (matches(v, s, l, i)) {
            *slice = i;
            return true;
        }
    return false;
}

/* Matches are in order of (time, row, lane). */
static bool search_from(const view *v, const search *s, uint64_t t,
                        int64_t after, view_slice *out)
{
    uint64_t best = 0;
    int64_t key = -1;
    bool found = false;

    for (uint32_t k = 0; k < v->n_rows; k++) {
        const tl_row *r = &v->tl->rows[v->rows[k].row];

        for (uint32_t lane = 0; r->lanes && lane < r->n_lanes; lane++) {
            int64_t place = (int64_t)k * TL_MAX_LANES + lane;
            uint64_t i, begin;
            /* Those at t itself count when their place is on the far side. */
            bool inside = s->dir > 0 ? place > after : place < after;

            if (v->rows[k].hidden ||
                !search_lane(v, s, &r->lanes[lane],
                             t + (s->dir > 0 ? !inside : inside), &i))
                continue;
            begin = tl_begin(&r->lanes[lane], i);
            if (found &&
                (s->dir > 0 ? begin > best || (begin == best && place > key)
                            : begin < best || (begin == best && place < key)))
                continue;
            found = true;
            best = begin;
            key = place;
            *out = (view_slice){v->rows[k].row, lane, i};
        }
    }
    return found;
}

/* The selection's time and place, else time t. */
static void place_of(const view *v, double t, uint64_t *at, int64_t *after)
{
    const view_slice *s = &v->selection;

    *at = t > 0 ? (uint64_t)fmin(t, 1e19) : 0;
    *after = -1;
    if (!v->has_selection)
        return;
    *at = tl_begin(&v->tl->rows[s->row].lanes[s->lane], s->slice);
    for (uint32_t k = 0; k < v->n_rows; k++)
        if (v->rows[k].row == s->row)
            *after = (int64_t)k * TL_MAX_LANES + s->lane;
}

static search search_of(const char *text, int dir)
{
    return (search){.text = text,
                    .numbers = strpbrk(text, "0123456789") != NULL,
                    .dir = dir};
}

bool view_search_from(const view *v, const char *text, int dir, double t,
                      view_slice *out)
{
    uint64_t at;
    int64_t after;
    search s = search_of(text, dir);

    if (!*text)
        return false;
    place_of(v, t, &at, &after);
    return search_from(v, &s, at, after, out) ||
           search_from(v, &s, dir > 0 ? 0 : v->tl->end + 1,
                       dir > 0 ? -1 : INT64_MAX, out);
}

bool view_search(const view *v, const char *text, int dir, view_slice *out)
{
    return view_search_from(v, text, dir, dir > 0 ? 0 : (double)v->tl->end + 1,
                            out);
}

/* --- how many ------------------------------------------------------------- */

void view_hits_begin(view_hits *h, const view *v, const char *text, double t)
{
    *h = (view_hits){.on = *text, .done = !*text};
    snprintf(h->text, sizeof h->text, "%s", text);
    place_of(v, t, &h->t, &h->place);
}

/* As matches, each name asked once where numbers do not count. */
static bool is_hit(view_hits *h, const view *v, const search *s,
                   const tl_lane *l, uint64_t i)
{
    uint32_t name = tl_name_of(l, i), shift = name % 4 * 2;
    uint8_t *known = &h->known[name / 4 % sizeof h->known];

    if (s->numbers && l->has_numbers)
        return matches(v, s, l, i);
    if (!(*known >> shift & 3))
        *known |= (uint8_t)((matches(v, s, l, i) ? 1 : 2) << shift);
    return (*known >> shift & 3) == 1;
}

static void count_hit(view_hits *h, const view *v, const tl_lane *l)
{
    int64_t place = (int64_t)h->row * TL_MAX_LANES + h->lane;
    uint64_t begin = tl_begin(l, h->slice);

    h->total++;
    h->before += begin < h->t || (begin == h->t && place < h->place);
    h->at |= v->has_selection && v->selection.row == v->rows[h->row].row &&
             v->selection.lane == h->lane && v->selection.slice == h->slice;
}

bool view_hits_step(view_hits *h, const view *v, uint64_t slices)
{
    search s = search_of(h->text, 1);

    for (; h->on && !h->done && h->row < v->n_rows; h->row++, h->lane = 0) {
        const tl_row *r = &v->tl->rows[v->rows[h->row].row];

        for (; r->lanes && !v->rows[h->row].hidden && h->lane < r->n_lanes;
             h->lane++, h->slice = 0)
            for (; h->slice < r->lanes[h->lane].n_slices; h->slice++) {
                if (!slices--)
                    return true;
                if (is_hit(h, v, &s, &r->lanes[h->lane], h->slice))
                    count_hit(h, v, &r->lanes[h->lane]);
            }
    }
    h->done = true;
    return false;
}
