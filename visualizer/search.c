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

/* Slices are in order of (begin, row and lane, number in it). */
typedef struct {
    uint64_t begin;
    int64_t place;
    uint64_t slice; /* of the lane at the place */
} moment;

static bool is_before(moment a, moment b)
{
    return a.begin != b.begin   ? a.begin < b.begin
           : a.place != b.place ? a.place < b.place
                                : a.slice < b.slice;
}

/* The first slice of a lane that is behind a moment; backwards the number of
 * those that are before it. */
static uint64_t start_in(const tl_lane *l, int64_t place, moment at, int dir)
{
    bool later = place < at.place; /* those at its time are before it */

    if (place == at.place)
        return at.slice + (dir > 0);
    return tl_count_before(l, at.begin + later);
}

/* The first match in a lane behind a moment, or backwards the last before it.
 */
static bool search_lane(const view *v, const search *s, const tl_lane *l,
                        uint64_t i, uint64_t *slice)
{
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

static bool search_from(const view *v, const search *s, moment at,
                        view_slice *out)
{
    moment best = {0};
    bool found = false;

    for (uint32_t k = 0; k < v->n_rows; k++) {
        const tl_row *r = &v->tl->rows[v->rows[k].row];

        for (uint32_t lane = 0; r->lanes && lane < r->n_lanes; lane++) {
            const tl_lane *l = &r->lanes[lane];
            moment here = {.place = (int64_t)k * TL_MAX_LANES + lane};

            if (view_is_hidden(v, &v->rows[k]) ||
                !search_lane(v, s, l, start_in(l, here.place, at, s->dir),
                             &here.slice))
                continue;
            here.begin = tl_begin(l, here.slice);
            if (found && is_before(best, here) == (s->dir > 0))
                continue;
            found = true;
            best = here;
            *out = (view_slice){v->rows[k].row, lane, here.slice};
        }
    }
    return found;
}

/* The selection's, else the one before all that begin at t. */
static moment place_of(const view *v, double t)
{
    const view_slice *s = &v->selection;
    moment at = {.begin = t > 0 ? (uint64_t)fmin(t, 1e19) : 0, .place = -1};

    if (!v->has_selection)
        return at;
    at.begin = tl_begin(view_lane_of(v, s), s->slice);
    at.slice = s->slice;
    for (uint32_t k = 0; k < v->n_rows; k++)
        if (v->rows[k].row == s->row)
            at.place = (int64_t)k * TL_MAX_LANES + s->lane;
    return at;
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
    moment end = {.begin = v->tl->end + 1, .place = -1};
    search s = search_of(text, dir);

    if (!*text)
        return false;
    return search_from(v, &s, place_of(v, t), out) ||
           search_from(v, &s, dir > 0 ? (moment){.place = -1} : end, out);
}

bool view_search(const view *v, const char *text, int dir, view_slice *out)
{
    return view_search_from(v, text, dir, dir > 0 ? 0 : (double)v->tl->end + 1,
                            out);
}

/* --- how many ------------------------------------------------------------- */

void view_hits_begin(view_hits *h, const view *v, const char *text, double t)
{
    moment at;

    *h = (view_hits){.on = *text, .done = !*text};
    snprintf(h->text, sizeof h->text, "%s", text);
    at = place_of(v, t);
    h->begin = at.begin;
    h->place = at.place;
    h->after = at.slice;
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
    moment here = {tl_begin(l, h->slice),
                   (int64_t)h->row * TL_MAX_LANES + h->lane, h->slice};

    h->total++;
    h->before += is_before(here, (moment){h->begin, h->place, h->after});
    h->at |= v->has_selection && v->selection.row == v->rows[h->row].row &&
             v->selection.lane == h->lane && v->selection.slice == h->slice;
}

bool view_hits_step(view_hits *h, const view *v, uint64_t slices)
{
    search s = search_of(h->text, 1);

    for (; h->on && !h->done && h->row < v->n_rows; h->row++, h->lane = 0) {
        const tl_row *r = &v->tl->rows[v->rows[h->row].row];

        for (; r->lanes && !view_is_hidden(v, &v->rows[h->row]) &&
               h->lane < r->n_lanes;
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
