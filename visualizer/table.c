/* Counts slices in two passes over the chosen lanes: figures of each group,
 * then the lengths of the groups for which there is room. */
#include <stdlib.h>
#include <string.h>

#include "visualizer/table_priv.h"

enum { SLOTS = 4 * TABLE_MAX_LINES, NOTHING = UINT32_MAX };

typedef enum { COUNT, COLLECT, SELECT } pass;

typedef struct {
    table_line line;
    uint64_t at, kept; /* its lengths in w->lengths */
    bool exact;
} group;

struct table_work {
    const view *v;
    table_result result;                /* but for its lines */
    uint32_t *shaves, n_shaves;         /* chosen rows */
    uint32_t of_kind[TL_ROW_OTHER + 1]; /* how many are chosen */
    group *groups;
    uint32_t n_groups, cap_groups;
    uint32_t slots[SLOTS]; /* group + 1 */
    uint32_t last;         /* group of the slice before */
    table_key last_key;
    pass pass;
    uint32_t row, lane; /* where counting is; row: of result.rows */
    uint64_t slice, behind;
    bool inside;     /* of a lane */
    tl_cursor walk;  /* phases' causes */
    uint32_t select; /* group whose percentiles are next */
    uint64_t *lengths;
    uint64_t n_all, n_done; /* slices of all lanes */
};

/* --- what is counted ------------------------------------------------------ */

bool table_has_lane(table_grouping g, const tl_row *r, uint32_t lane)
{
    if (!r->lanes || lane >= r->n_lanes)
        return false;
    switch (g) {
    case TABLE_STAGE:
        return r->kind == TL_ROW_STAGES && !lane;
    case TABLE_PHASE:
        return r->kind == TL_ROW_SHAVE && !lane;
    case TABLE_CAUSE:
        return r->kind == TL_ROW_SHAVE && lane == 1;
    default:
        return true;
    }
}

table_key table_key_of(table_grouping g, const view *v, const tl_row *r,
                       uint32_t lane, uint64_t slice)
{
    const tl_lane *l = &r->lanes[lane];
    table_key k = {.name = tl_text(v->tl, tl_name_of(l, slice)),
                   .kind = r->kind,
                   .causes = tl_has_causes(r) && lane};

    if (g == TABLE_PHASE)
        k.stage = facts_stage_at(&v->facts, tl_begin(l, slice))->name;
    return k;
}

static bool same_key(const table_key *a, const table_key *b)
{
    /* The timeline has each text once. */
    return a->name == b->name && a->stage == b->stage && a->kind == b->kind &&
           a->causes == b->causes;
}

static table_key key_of_line(const table_line *l)
{
    return (table_key){l->stage, l->name, l->kind, l->causes};
}

uint64_t table_first(const tl_lane *l, uint64_t from, uint64_t *behind)
{
    uint64_t i = tl_count_before(l, from);

    *behind = tl_count_before(l, *behind);
    return i && tl_end(l, i - 1) > from ? i - 1 : i;
}

/* --- groups --------------------------------------------------------------- */

static uint32_t hash_of(const table_key *k)
{
    uint64_t h = (uint64_t)(uintptr_t)k->name * 0x9e3779b97f4a7c15u;

    h = (h ^ (uint64_t)(uintptr_t)k->stage) * 0x9e3779b97f4a7c15u;
    h = (h ^ (uint64_t)k->kind ^ (k->causes ? 64u : 0u)) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

static bool add_group(struct table_work *w, const table_key *k)
{
    if (w->n_groups == w->cap_groups) {
        uint32_t cap = w->cap_groups ? 2 * w->cap_groups : 32;
        group *more = realloc(w->groups, cap * sizeof *more);

        if (!more)
            return false;
        w->groups = more;
        w->cap_groups = cap;
    }
    w->groups[w->n_groups++] = (group){.line = {.name = k->name,
                                                .stage = k->stage,
                                                .kind = k->kind,
                                                .causes = k->causes,
                                                .longest = {.row = NOTHING}}};
    return true;
}

/* NULL: no memory. */
static group *group_of(struct table_work *w, table_key k, tl_class class)
{
    uint32_t at = hash_of(&k), i;

    if (w->n_groups && same_key(&k, &w->last_key))
        return &w->groups[w->last];
    w->last_key = k;
    for (; (i = w->slots[at % SLOTS]); at++) {
        table_key other = key_of_line(&w->groups[i - 1].line);

        if (same_key(&k, &other)) {
            w->last = i - 1;
            return &w->groups[w->last];
        }
    }
    if (w->n_groups >= TABLE_MAX_LINES) { /* the one for all others */
        k = (table_key){.name = "", .kind = TL_ROW_OTHER};
        if (w->n_groups == TABLE_MAX_LINES && !add_group(w, &k))
            return NULL;
        w->last = TABLE_MAX_LINES;
        w->groups[w->last].line.rest = true;
        return &w->groups[w->last];
    }
    if (!add_group(w, &k))
        return NULL;
    w->last = w->n_groups - 1;
    w->groups[w->last].line.class = class;
    w->slots[at % SLOTS] = w->n_groups;
    return &w->groups[w->last];
}

/* --- a slice -------------------------------------------------------------- */

static int bucket_of(uint64_t length)
{
    int b = length ? 64 - __builtin_clzll(length) : 0;

    return b < TABLE_BUCKETS ? b : TABLE_BUCKETS - 1;
}

static void add_causes(table_line *l, const uint64_t before[TL_N_CLASSES],
                       const uint64_t after[TL_N_CLASSES])
{
    for (int c = 0; c < TL_N_CAUSES; c++)
        l->cause[c] += after[c] - before[c];
}

/* Of [from, to): a phase's are below it, a stage's on all SHAVEs. */
static void count_causes(struct table_work *w, const tl_row *r, table_line *l,
                         uint64_t from, uint64_t to)
{
    uint64_t before[TL_N_CLASSES] = {0}, after[TL_N_CLASSES];
    const tl_timeline *tl = w->v->tl;

    if (w->result.look.grouping == TABLE_PHASE && to > from) {
        tl_walk(tl, &r->lanes[1], &w->walk, from, before);
        tl_walk(tl, &r->lanes[1], &w->walk, to, after);
        add_causes(l, before, after);
    }
    if (w->result.look.grouping == TABLE_STAGE)
        for (uint32_t i = 0; i < w->n_shaves; i++) {
            tl_sums(tl, &tl->rows[w->shaves[i]].lanes[1], from, to, after);
            add_causes(l, before, after);
        }
}

static void count_slice(struct table_work *w, group *g, const tl_row *r)
{
    const tl_lane *lane = &r->lanes[w->lane];
    uint64_t begin = tl_begin(lane, w->slice);
    uint64_t length = tl_length(lane, w->slice), end = begin + length;
    uint64_t from = begin > w->result.from ? begin : w->result.from;
    uint64_t to = end < w->result.to ? end : w->result.to;
    table_line *l = &g->line;

    if (w->result.look.grouping == TABLE_STAGE && !l->kernel)
        l->kernel = facts_stage_at(&w->v->facts, begin)->kernel;
    if (begin >= w->result.from) {
        l->min = !l->count || length < l->min ? length : l->min;
        l->max = length > l->max ? length : l->max;
        l->count++;
        l->whole += length;
        l->histogram[bucket_of(length)]++;
        w->result.n_slices++;
    }
    if (l->longest.row == NOTHING ||
        length > tl_length(view_lane_of(w->v, &l->longest), l->longest.slice))
        l->longest =
            (view_slice){(uint32_t)(r - w->v->tl->rows), w->lane, w->slice};
    if (to > from) {
        l->total += to - from;
        count_causes(w, r, l, from, to);
    }
}

static bool see_slice(struct table_work *w, const tl_row *r)
{
    const tl_lane *lane = &r->lanes[w->lane];
    group *g = group_of(
        w, table_key_of(w->result.look.grouping, w->v, r, w->lane, w->slice),
        tl_class_of(w->v->tl, tl_name_of(lane, w->slice)));

    if (!g)
        return false;
    if (w->pass == COUNT)
        count_slice(w, g, r);
    else if (g->exact && tl_begin(lane, w->slice) >= w->result.from)
        w->lengths[g->at + g->kept++] = tl_length(lane, w->slice);
    return true;
}

/* --- steps ---------------------------------------------------------------- */

/* To the next lane that counts; false: there is none. */
static bool next_lane(struct table_work *w)
{
    const table_result *res = &w->result;

    for (; w->row < res->n_rows; w->row++, w->lane = 0) {
        const tl_row *r = &w->v->tl->rows[res->rows[w->row]];

        for (; r->lanes && w->lane < r->n_lanes; w->lane++) {
            if (!table_has_lane(res->look.grouping, r, w->lane))
                continue;
            w->behind = res->to;
            w->slice = table_first(&r->lanes[w->lane], res->from, &w->behind);
            w->walk = (tl_cursor){0};
            w->inside = true;
            return true;
        }
    }
    return false;
}

static int by_count(const void *a, const void *b, void *groups)
{
    uint64_t x = ((const group *)groups)[*(const uint32_t *)a].line.count;
    uint64_t y = ((const group *)groups)[*(const uint32_t *)b].line.count;

    return x < y ? -1 : x > y;
}

/* Room for lengths, to groups of few slices first. */
static bool give_room(struct table_work *w)
{
    uint32_t *order = calloc(w->n_groups + 1, sizeof *order);
    uint64_t used = 0;

    for (uint32_t i = 0; order && i < w->n_groups; i++)
        order[i] = i;
    if (order)
        qsort_r(order, w->n_groups, sizeof *order, by_count, w->groups);
    for (uint32_t i = 0; order && i < w->n_groups; i++) {
        group *g = &w->groups[order[i]];

        if (g->line.count > TABLE_EXACT - used)
            break;
        g->exact = true;
        g->at = used;
        used += g->line.count;
    }
    free(order);
    w->lengths = order ? malloc((used + 1) * sizeof *w->lengths) : NULL;
    return w->lengths;
}

static void select_group(struct table_work *w)
{
    group *g = &w->groups[w->select++];

    if (g->exact)
        table_percentiles(&g->line, w->lengths + g->at, g->kept);
    else
        table_estimate(&g->line);
}

static void free_work(struct table_work *w)
{
    if (!w)
        return;
    free(w->result.rows);
    free(w->shaves);
    free(w->groups);
    free(w->lengths);
    free(w);
}

static void free_result(table_result *r)
{
    free(r->rows);
    free(r->lines);
    *r = (table_result){0};
}

static void give_up(table *t)
{
    free_work(t->work);
    t->work = NULL;
    free_result(&t->shown);
    t->failed = true;
}

static void finish(table *t)
{
    struct table_work *w = t->work;
    table_line *lines = calloc(w->n_groups + 1, sizeof *lines);
    double span = (double)(w->result.to - w->result.from);

    if (!lines) {
        give_up(t);
        return;
    }
    for (uint32_t i = 0; i < w->n_groups; i++) {
        uint32_t rows = w->of_kind[w->groups[i].line.kind];

        lines[i] = w->groups[i].line;
        lines[i].share =
            rows && span > 0 ? (double)lines[i].total / (span * rows) : 0;
    }
    free_result(&t->shown);
    t->shown = w->result;
    t->shown.there = true;
    t->shown.lines = lines;
    t->shown.n_lines = w->n_groups;
    w->result.rows = NULL;
    free_work(w);
    t->work = NULL;
    table_order(&t->shown);
}

/* The slices of a lane; how many. 0: the pass has ended. */
static bool walk(struct table_work *w, uint64_t *slices)
{
    while (*slices && (w->inside || next_lane(w))) {
        const tl_row *r = &w->v->tl->rows[w->result.rows[w->row]];
        /* A stage asks all SHAVEs. */
        uint64_t cost = w->result.look.grouping == TABLE_STAGE ? 64 : 1;

        for (; w->slice < w->behind && *slices; w->slice++) {
            if (!see_slice(w, r))
                return false;
            *slices -= cost < *slices ? cost : *slices;
            w->n_done++;
        }
        if (w->slice >= w->behind) {
            w->inside = false;
            w->lane++;
        }
    }
    return true;
}

bool table_step(table *t, uint64_t slices)
{
    struct table_work *w = t->work;

    if (!w)
        return false;
    while (slices && w->pass != SELECT) {
        if (!walk(w, &slices)) {
            give_up(t);
            return false;
        }
        if (w->inside || w->row < w->result.n_rows)
            continue;
        w->row = w->lane = 0;
        w->pass++;
        if (w->pass == COLLECT && !give_room(w)) {
            give_up(t);
            return false;
        }
    }
    while (slices && w->select < w->n_groups) {
        uint64_t cost = w->groups[w->select].kept + 1;

        select_group(w);
        slices -= cost < slices ? cost : slices;
    }
    if (w->pass != SELECT || w->select < w->n_groups)
        return true;
    finish(t);
    return false;
}

/* --- begin ---------------------------------------------------------------- */

static void stretch_of(const view *v, uint64_t *from, uint64_t *to)
{
    *from = v->has_range ? v->range_from : (uint64_t)v->from;
    *to = v->has_range ? v->range_to : (uint64_t)v->to;
    if (!v->has_range && (double)*to < v->to)
        (*to)++;
    if (*to > v->tl->end)
        *to = v->tl->end;
    if (*to < *from)
        *to = *from;
}

static bool is_chosen(const view *v, const view_row *r)
{
    return r->h > 0 && v->tl->rows[r->row].lanes && view_in_area(v, r->row);
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    return ((h ^ x) * UINT64_C(0x100000001b3)) ^ (h >> 29);
}

/* Of all that makes a table another one. */
static uint64_t sign(const view *v, const table_look *look)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325), from, to;

    stretch_of(v, &from, &to);
    h = mix(mix(mix(h, from), to), (uint64_t)look->grouping);
    h = mix(mix(h, v->tl->n_events), v->has_range && v->has_area);
    h = mix(h, (uint64_t)(uintptr_t)v->tl);
    for (uint32_t i = 0; i < v->n_rows; i++)
        if (is_chosen(v, &v->rows[i]))
            h = mix(h, v->rows[i].row + UINT64_C(1));
    return h ? h : 1;
}

static struct table_work *begin(const view *v, const table_look *look)
{
    struct table_work *w = calloc(1, sizeof *w);
    table_result *r = w ? &w->result : NULL;

    if (!w)
        return NULL;
    w->v = v;
    r->look = *look;
    r->area = v->has_range && v->has_area;
    stretch_of(v, &r->from, &r->to);
    r->rows = calloc(v->n_rows + 1, sizeof *r->rows);
    w->shaves = calloc(v->n_rows + 1, sizeof *w->shaves);
    if (!r->rows || !w->shaves) {
        free_work(w);
        return NULL;
    }
    for (uint32_t i = 0; i < v->n_rows; i++) {
        const tl_row *row = &v->tl->rows[v->rows[i].row];
        bool stage = look->grouping == TABLE_STAGE;

        if (is_chosen(v, &v->rows[i]) && row->kind == TL_ROW_SHAVE)
            w->shaves[w->n_shaves++] = v->rows[i].row;
        if (stage ? row->kind == TL_ROW_STAGES && row->lanes
                  : is_chosen(v, &v->rows[i])) {
            r->rows[r->n_rows++] = v->rows[i].row;
            w->of_kind[row->kind]++;
        }
    }
    for (uint32_t i = 0; i < r->n_rows; i++) {
        const tl_row *row = &v->tl->rows[r->rows[i]];

        for (uint32_t k = 0; k < row->n_lanes; k++)
            if (table_has_lane(look->grouping, row, k)) {
                uint64_t behind = r->to;
                uint64_t first = table_first(&row->lanes[k], r->from, &behind);

                w->n_all += behind > first ? behind - first : 0;
            }
    }
    return w;
}

void table_want(table *t, const view *v, const table_look *look)
{
    uint64_t now = sign(v, look);
    bool again = t->shown.look.column != look->column ||
                 t->shown.look.reversed != look->reversed;

    if (now != t->counted) {
        free_work(t->work);
        t->failed = false;
        t->counted = now;
        t->work = begin(v, look);
        if (!t->work)
            give_up(t);
        return;
    }
    if (t->work) {
        t->work->result.look = *look;
    } else if (again) {
        t->shown.look = *look;
        table_order(&t->shown);
    }
}

vpu_status table_make(table *t, const view *v, const table_look *look,
                      vpu_error *err)
{
    table_want(t, v, look);
    while (table_step(t, UINT64_MAX))
        ;
    return t->failed ? err_set(err, VPU_ERR_NOMEM,
                               "no memory for a table of the slices")
                     : VPU_OK;
}

void table_clear(table *t)
{
    free_work(t->work);
    free_result(&t->shown);
    *t = (table){0};
}

double table_progress(const table *t)
{
    const struct table_work *w = t->work;

    return !w ? 1 : w->n_all ? (double)w->n_done / (2 * (double)w->n_all) : 0;
}
