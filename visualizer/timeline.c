/* Building the columns: every event is put at its place as it comes, nothing
 * is sorted or gone through again. */
#include "visualizer/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "visualizer/columns.h"
#include "visualizer/names.h"
#include "visualizer/shapes.h"

/* As tl_grow; the timeline knows that memory ran out. */
static bool grow(tl_timeline *tl, void *items, uint64_t *cap, size_t size)
{
    if (!tl_grow(items, cap, size))
        tl->failed = true;
    return !tl->failed;
}

vpu_status tl_init(tl_timeline *tl, vpu_error *err)
{
    memset(tl, 0, sizeof *tl);
    tl->names = tl_names_create();
    tl->shapes = tl_shapes_create();
    if (slots_init(&tl->row_slots) && tl->names && tl->shapes)
        return VPU_OK;
    tl_free(tl);
    return err_set(err, VPU_ERR_NOMEM, "no memory for a timeline");
}

static void free_lane(tl_lane *l)
{
    free(l->packed);
    free(l->blocks);
    if (l->tail)
        free(l->tail->values);
    free(l->tail);
    free(l->block_begin);
    free(l->sums);
    free(l->args);
}

void tl_free(tl_timeline *tl)
{
    if (!tl)
        return;
    for (uint32_t i = 0; i < tl->n_rows; i++) {
        tl_row *r = &tl->rows[i];

        for (uint32_t k = 0; r->lanes && k < TL_MAX_LANES; k++)
            free_lane(&r->lanes[k]);
        free(r->lanes);
        if (r->counter) {
            free(r->counter->time);
            free(r->counter->value);
            free(r->counter->integral);
            free(r->counter->highest);
        }
        free(r->counter);
        free(r->heat);
    }
    free(tl->rows);
    free(tl->instants);
    slots_free(&tl->row_slots);
    free(tl->blob);
    tl_names_free(tl->names);
    tl_shapes_free(tl->shapes);
    memset(tl, 0, sizeof *tl);
}

/* --- memory -------------------------------------------------------------- */

static uint64_t lane_bytes(const tl_lane *l)
{
    uint64_t tail =
        l->tail ? sizeof *l->tail + l->tail->cap_values * sizeof(uint64_t) : 0;

    return l->n_packed + l->n_args + tail +
           l->n_blocks * (sizeof *l->blocks + l->n_classes * sizeof *l->sums) +
           l->n_block_begin * sizeof *l->block_begin;
}

uint64_t tl_bytes(const tl_timeline *tl)
{
    uint64_t n =
        tl->n_rows * (sizeof *tl->rows + TL_MAX_LANES * sizeof(tl_lane)) +
        tl->n_instants * sizeof *tl->instants + tl->n_blob +
        (tl->names ? tl->names->bytes : 0) +
        (tl->shapes ? tl_shapes_bytes(tl->shapes) : 0);

    for (uint32_t i = 0; i < tl->n_rows; i++) {
        const tl_row *r = &tl->rows[i];

        for (uint32_t k = 0; r->lanes && k < r->n_lanes; k++)
            n += lane_bytes(&r->lanes[k]);
        if (r->counter)
            n += r->counter->n_values *
                 (sizeof *r->counter->time + sizeof *r->counter->value);
    }
    return n;
}

/* --- names --------------------------------------------------------------- */

tl_name tl_intern(tl_timeline *tl, const char *text, size_t n)
{
    return tl_names_add(tl->names, text, n);
}

const char *tl_text(const tl_timeline *tl, tl_name name)
{
    return name < tl->names->n ? tl->names->text[name] : "";
}

tl_class tl_class_of(const tl_timeline *tl, tl_name name)
{
    return (tl_class)tl->names->class[name < tl->names->n ? name : 0];
}

/* --- rows ---------------------------------------------------------------- */

static uint32_t *row_slot(tl_timeline *tl, uint64_t uuid)
{
    for (uint64_t at = slots_hash(&tl->row_slots, uuid, 0);; at++) {
        uint32_t *slot = slots_at(&tl->row_slots, at);

        if (!*slot || tl->rows[*slot - 1].uuid == uuid)
            return slot;
    }
}

static uint64_t hash_of_row(const slots *s, const void *user, uint32_t i)
{
    const tl_row *rows = user;

    return slots_hash(s, rows[i - 1].uuid, 0);
}

static bool grow_rows(tl_timeline *tl)
{
    uint64_t cap = tl->cap_rows;

    if (tl->n_rows == cap && !grow(tl, &tl->rows, &cap, sizeof *tl->rows))
        return false;
    tl->cap_rows = (uint32_t)cap;
    if (!slots_reserve(&tl->row_slots, tl->n_rows, hash_of_row, tl->rows)) {
        tl->failed = true;
        return false;
    }
    return true;
}

uint32_t tl_row_at(tl_timeline *tl, uint64_t uuid)
{
    uint32_t *slot = row_slot(tl, uuid);

    if (*slot)
        return *slot - 1;
    if (!grow_rows(tl))
        return UINT32_MAX;
    tl->rows[tl->n_rows] =
        (tl_row){.kind = TL_ROW_OTHER, .uuid = uuid, .name = tl_text(tl, 0)};
    *row_slot(tl, uuid) = ++tl->n_rows;
    return tl->n_rows - 1;
}

static bool numbered(const char *name, const char *stem, uint32_t *index)
{
    size_t n = strlen(stem);
    char *end;

    if (strncmp(name, stem, n) || name[n] < '0' || name[n] > '9')
        return false;
    *index = (uint32_t)strtoul(name + n, &end, 10);
    return !*end;
}

/* "SHAVE 3 local", "SHAVE 3 local 1"; what: " local" */
static bool part_of(const char *name, const char *what, uint32_t *index)
{
    const char *at = strstr(name, what);
    size_t n = strlen(what);
    char shave[24];

    if (!at || (at[n] && at[n] != ' ') || (size_t)(at - name) >= sizeof shave)
        return false;
    memcpy(shave, name, (size_t)(at - name));
    shave[at - name] = 0;
    return numbered(shave, "SHAVE ", index);
}

void tl_row_describe(tl_timeline *tl, uint32_t row, uint64_t parent,
                     const char *name, bool counter)
{
    tl_row *r;

    if (row >= tl->n_rows)
        return;
    r = &tl->rows[row];
    r->parent = parent;
    r->name = tl_text(tl, tl_intern(tl, name, strlen(name)));
    if (r->lanes || r->counter)
        return; /* events came first: what it is stands */
    if (counter)
        r->kind = TL_ROW_COUNTER;
    else if (tl->clk_mhz && numbered(name, "SHAVE ", &r->index))
        r->kind = TL_ROW_SHAVE;
    else if (tl->clk_mhz && numbered(name, "DMA ", &r->index))
        r->kind = TL_ROW_DMA;
    else if (tl->clk_mhz && part_of(name, " local", &r->index))
        r->kind = TL_ROW_LOCAL;
    else if (tl->clk_mhz && part_of(name, " slack", &r->index))
        r->kind = TL_ROW_SLACK;
    else if (tl->clk_mhz && part_of(name, " bundles", &r->index))
        r->kind = TL_ROW_BUNDLES;
    else if (tl->clk_mhz && !strcmp(name, "critical path"))
        r->kind = TL_ROW_PATH;
    else if (tl->clk_mhz && !strcmp(name, "stages"))
        r->kind = TL_ROW_STAGES;
}

/* --- slices -------------------------------------------------------------- */

static bool push(tl_timeline *tl, tl_lane *l, uint64_t t, tl_name name,
                 uint32_t number)
{
    if (name > UINT16_MAX) {
        tl->n_nameless++;
        name = 0;
    }
    if (!tl_put_slice(l, t, name, number)) {
        tl->failed = true;
        return false;
    }
    l->open = true;
    return true;
}

static void close_slice(tl_timeline *tl, tl_lane *l, uint64_t t)
{
    l->open = false;
    if (!tl_put_end(l, t, tl->names->class))
        tl->failed = true;
}

/* "comp 7": 4 and 7. Only what can be put together again: no leading zeros,
 * below 2^32 - 1. */
static size_t split_number(const char *name, size_t n, uint32_t *number)
{
    size_t at = n;
    uint64_t value = 0, scale = 1;

    *number = TL_NO_NUMBER;
    while (at && name[at - 1] >= '0' && name[at - 1] <= '9' && n - at < 10) {
        value += (uint64_t)(name[--at] - '0') * scale;
        scale *= 10;
    }
    if (at == n || at < 2 || name[at - 1] != ' ' || value >= UINT32_MAX ||
        (name[at] == '0' && n - at > 1))
        return n;
    *number = (uint32_t)value;
    return at - 1;
}

static uint64_t forward(tl_timeline *tl, tl_row *r, uint64_t t)
{
    tl->n_events++;
    if (t < r->last) {
        tl->n_backwards++;
        t = r->last;
    }
    r->last = t;
    if (t > tl->end)
        tl->end = t;
    return t;
}

/* As forward, of what the timeline shows. */
static uint64_t appear(tl_timeline *tl, tl_row *r, uint64_t t)
{
    t = forward(tl, r, t);
    if (!tl->has_first || t < tl->first)
        tl->first = t;
    tl->has_first = true;
    return t;
}

static bool make_lanes(tl_timeline *tl, tl_row *r)
{
    if (!r->lanes && !(r->lanes = calloc(TL_MAX_LANES, sizeof *r->lanes)))
        tl->failed = true;
    /* Said to be a counter's, but slices are on it. */
    if (r->kind == TL_ROW_COUNTER)
        r->kind = TL_ROW_OTHER;
    return r->lanes;
}

tl_name tl_split_name(tl_timeline *tl, const char *name, uint32_t *number)
{
    return tl_intern(tl, name, split_number(name, strlen(name), number));
}

void tl_add_begin(tl_timeline *tl, uint32_t row, uint64_t t, const char *name)
{
    uint32_t number;
    tl_name id = tl_split_name(tl, name, &number);

    tl_add_split(tl, row, t, id, number);
}

void tl_add_split(tl_timeline *tl, uint32_t row, uint64_t t, tl_name id,
                  uint32_t number)
{
    tl_row *r = row < tl->n_rows ? &tl->rows[row] : NULL;
    uint32_t lane;

    if (!r || tl->failed || r->counter || !make_lanes(tl, r))
        return;
    t = appear(tl, r, t);
    lane = r->depth;
    if (r->kind == TL_ROW_SHAVE && tl_class_of(tl, id) < TL_N_CAUSES)
        lane = 1;
    if (r->depth == sizeof r->stack || lane >= TL_MAX_LANES ||
        r->lanes[lane].open || !push(tl, &r->lanes[lane], t, id, number))
        lane = UINT8_MAX; /* not kept, but its end must match */
    if (lane == UINT8_MAX)
        tl->n_unmatched++;
    else if (lane >= r->n_lanes)
        r->n_lanes = lane + 1;
    if (r->depth < sizeof r->stack)
        r->stack[r->depth] = (uint8_t)lane;
    r->depth++;
}

/* A phase with its causes as arguments only, as at the levels groups and
 * summary: they become slices of the cause lane. On the critical path transfers
 * are among them. */
static void spread_causes(tl_timeline *tl, tl_row *r, uint64_t end)
{
    tl_lane *phases = &r->lanes[0], *causes = &r->lanes[1];
    uint64_t t = tl_begin(phases, phases->n_slices - 1);
    tl_class last = r->kind == TL_ROW_PATH ? TL_OTHER : TL_N_CAUSES;
    tl_arg args[32];
    size_t n;

    if (causes->open ||
        (causes->n_slices && tl_begin(causes, causes->n_slices - 1) >= t))
        return;
    n = tl_slice_args(tl, phases, phases->n_slices - 1, args, 32);
    for (size_t i = 0; i < n && t < end; i++) {
        uint64_t ticks = args[i].number;

        if (args[i].kind != TL_ARG_UINT || !ticks ||
            tl_class_of(tl, args[i].name) >= last)
            continue;
        if (!push(tl, causes, t, args[i].name, TL_NO_NUMBER))
            return;
        t = ticks < end - t ? t + ticks : end;
        close_slice(tl, causes, t);
        r->spread = true;
        r->n_lanes = 2;
    }
}

void tl_add_end(tl_timeline *tl, uint32_t row, uint64_t t)
{
    tl_row *r = row < tl->n_rows ? &tl->rows[row] : NULL;
    uint32_t lane;

    if (!r || tl->failed)
        return;
    if (!r->depth || !r->lanes) {
        tl->n_unmatched++;
        return;
    }
    t = forward(tl, r, t);
    r->depth--;
    lane = r->depth < sizeof r->stack ? r->stack[r->depth] : UINT8_MAX;
    if (lane == UINT8_MAX)
        return;
    close_slice(tl, &r->lanes[lane], t);
    if (tl_has_causes(r) && lane == 0)
        spread_causes(tl, r, t);
}

/* --- heat maps ------------------------------------------------------------ */

enum { MAX_HEAT = 64 }; /* lanes */

/* The group that a counter is a lane of; UINT32_MAX: none. */
static uint32_t heat_of(tl_timeline *tl, const tl_row *r)
{
    const tl_row *group;
    uint32_t slot;

    if (r->kind != TL_ROW_COUNTER || !r->counter || !r->counter->n_values ||
        r->parent == r->uuid || !(slot = *row_slot(tl, r->parent)))
        return UINT32_MAX;
    group = &tl->rows[slot - 1];
    return !group->lanes && !group->counter && group->n_heat < MAX_HEAT &&
                   (!strcmp(group->name, "DDR banks") ||
                    !strcmp(group->name, "local memory"))
               ? slot - 1
               : UINT32_MAX;
}

static void find_heat(tl_timeline *tl)
{
    for (uint32_t i = 0; i < tl->n_rows && !tl->failed; i++) {
        uint32_t at = heat_of(tl, &tl->rows[i]);
        tl_row *group;

        if (at == UINT32_MAX)
            continue;
        group = &tl->rows[at];
        if (!group->heat &&
            !(group->heat = calloc(MAX_HEAT, sizeof *group->heat))) {
            tl->failed = true;
            return;
        }
        group->kind = TL_ROW_HEAT;
        group->heat[group->n_heat++] = i;
        tl->rows[i].kind = TL_ROW_HEAT_LANE;
    }
}

void tl_finish(tl_timeline *tl)
{
    for (uint32_t i = 0; i < tl->n_rows; i++) {
        tl_row *r = &tl->rows[i];

        while (r->depth)
            tl_add_end(tl, i, r->kind == TL_ROW_OTHER ? tl->end : r->last);
    }
    if (tl->clk_mhz)
        find_heat(tl);
}

/* --- counters ------------------------------------------------------------ */

void tl_add_value(tl_timeline *tl, uint32_t row, uint64_t t, double value)
{
    tl_row *r = row < tl->n_rows ? &tl->rows[row] : NULL;
    tl_counter *c;
    uint64_t cap;

    if (!r || tl->failed || r->lanes ||
        (!r->counter && !(r->counter = calloc(1, sizeof *r->counter))))
        return;
    c = r->counter;
    r->kind = TL_ROW_COUNTER;
    if (value != value) /* NaN would poison every sum behind it */
        value = 0;
    t = appear(tl, r, t);
    if (c->n_values == c->cap_values) {
        cap = c->cap_values;
        if (!grow(tl, &c->time, &cap, sizeof *c->time))
            return;
        if (!grow(tl, &c->value, &c->cap_values, sizeof *c->value))
            return;
    }
    if (c->n_values)
        c->integral_now +=
            c->value[c->n_values - 1] * (double)(t - c->time[c->n_values - 1]);
    if (c->n_values % TL_BLOCK == 0) {
        uint64_t block = c->n_values / TL_BLOCK;

        cap = c->cap_blocks;
        if (block == cap &&
            (!grow(tl, &c->integral, &cap, sizeof *c->integral) ||
             !grow(tl, &c->highest, &c->cap_blocks, sizeof *c->highest)))
            return;
        c->integral[block] = c->integral_now;
        c->highest[block] = value;
    }
    if (value > c->highest[c->n_values / TL_BLOCK])
        c->highest[c->n_values / TL_BLOCK] = value;
    if (!c->n_values || value > c->max)
        c->max = value;
    if (!c->n_values || value < c->min)
        c->min = value;
    c->time[c->n_values] = t;
    c->value[c->n_values++] = value;
}

void tl_add_instant(tl_timeline *tl, uint32_t row, uint64_t t, const char *name,
                    const tl_args *args)
{
    uint64_t arg_at = tl->n_blob;

    if (row >= tl->n_rows || tl->failed)
        return;
    if (tl->n_instants == tl->cap_instants &&
        !grow(tl, &tl->instants, &tl->cap_instants, sizeof *tl->instants))
        return;
    while (tl->cap_blob - tl->n_blob < TL_ARG_BYTES(args->n))
        if (!grow(tl, &tl->blob, &tl->cap_blob, 1))
            return;
    tl->n_blob += tl_pack_args(tl->blob + arg_at, args);
    tl->instants[tl->n_instants++] =
        (tl_instant){.row = row,
                     .time = forward(tl, &tl->rows[row], t),
                     .name = tl_intern(tl, name, strlen(name)),
                     .arg_at = arg_at};
}

/* --- arguments ----------------------------------------------------------- */

void tl_add_args(tl_timeline *tl, uint32_t row, const tl_args *args)
{
    tl_row *r = row < tl->n_rows ? &tl->rows[row] : NULL;

    if (!r || tl->failed || !r->depth || r->depth > sizeof r->stack ||
        r->stack[r->depth - 1] == UINT8_MAX)
        return;
    if (!tl_put_args(&r->lanes[r->stack[r->depth - 1]], tl->shapes, args))
        tl->failed = true;
}
