/* Adds up the running sums of the SHAVEs' rows; transfers that overlap
 * computation are found by a sweep over slices. */
#include "visualizer/stats.h"

#include <string.h>

const char *stats_resource(tl_class cause)
{
    static const char *const resources[TL_N_CAUSES] = {
        [TL_ISSUE] = "",
        [TL_L2] = "L2 cache",
        [TL_DDR] = "DDR, by loads",
        [TL_STORE] = "DDR, by stores",
        [TL_DMA_SETUP] = "descriptors",
        [TL_DMA_WAIT] = "DMA transfers",
        [TL_DISPATCH] = "work-group start",
        [TL_IDLE] = "no group left"};

    return cause < TL_N_CAUSES ? resources[cause] : "";
}

static void add_shave(const tl_timeline *tl, uint32_t row, stats *s)
{
    uint64_t sums[TL_N_CLASSES], covered = 0, *mine;

    if (s->n_shaves == STATS_MAX_SHAVES)
        return;
    tl_sums(tl, &tl->rows[row].lanes[1], s->from, s->to, sums);
    mine = s->shave_cause[s->n_shaves];
    s->shave_row[s->n_shaves++] = row;
    for (int c = 0; c < TL_N_CAUSES; c++) {
        mine[c] = sums[c];
        s->cause[c] += sums[c];
        covered += sums[c];
    }
    s->uncovered += s->to - s->from - covered;
}

static void balance(stats *s)
{
    uint64_t most = 0, all = 0;

    for (uint32_t i = 0; i < s->n_shaves; i++) {
        uint64_t busy = 0;

        for (int c = 0; c < TL_N_CAUSES; c++)
            busy += c == TL_IDLE ? 0 : s->shave_cause[i][c];
        most = busy > most ? busy : most;
        all += busy;
    }
    if (all)
        s->imbalance = (double)most * s->n_shaves / (double)all - 1;
}

/* --- overlap of transfers and computation -------------------------------- */

typedef struct {
    const tl_lane *l;
    uint64_t i;
    bool dma;
} sweep_lane;

/* Whether the lane counts at t; *next: when that may change. */
static bool counts_at(const tl_timeline *tl, sweep_lane *w, uint64_t t,
                      uint64_t *next)
{
    uint64_t begin, end;

    for (;; w->i++) {
        if (w->i >= w->l->n_slices)
            return false;
        begin = tl_begin(w->l, w->i);
        end = begin + tl_length(w->l, w->i);
        if (end > t)
            break;
    }
    if (begin > t) {
        *next = begin < *next ? begin : *next;
        return false;
    }
    *next = end < *next ? end : *next;
    return w->dma || tl_class_of(tl, tl_name_of(w->l, w->i)) == TL_ISSUE;
}

static void sweep(const tl_timeline *tl, const bool *rows, stats *s)
{
    sweep_lane lanes[2 * STATS_MAX_SHAVES];
    uint32_t n = 0;
    uint64_t slices = 0;

    for (uint32_t i = 0; i < tl->n_rows && n < 2 * STATS_MAX_SHAVES; i++) {
        const tl_row *r = &tl->rows[i];
        uint32_t k = r->kind == TL_ROW_SHAVE ? 1 : 0;
        uint64_t a;

        if (!r->lanes || (rows && !rows[i]) ||
            (r->kind != TL_ROW_SHAVE && r->kind != TL_ROW_DMA))
            continue;
        a = tl_count_before(&r->lanes[k], s->from + 1);
        lanes[n++] =
            (sweep_lane){&r->lanes[k], a ? a - 1 : 0, r->kind == TL_ROW_DMA};
        slices += tl_count_before(&r->lanes[k], s->to) - a;
    }
    s->has_overlap = n && slices <= STATS_MAX_SWEEP;
    for (uint64_t t = s->from; s->has_overlap && t < s->to;) {
        uint64_t next = s->to;
        bool moving = false, issuing = false;

        for (uint32_t i = 0; i < n; i++) {
            bool counts = counts_at(tl, &lanes[i], t, &next);

            moving |= counts && lanes[i].dma;
            issuing |= counts && !lanes[i].dma;
        }
        s->transferring += moving ? next - t : 0;
        s->overlapped += moving && issuing ? next - t : 0;
        t = next;
    }
}

void stats_of_rows(const tl_timeline *tl, const bool *rows, uint64_t from,
                   uint64_t to, stats *s)
{
    uint64_t sums[TL_N_CLASSES];

    memset(s, 0, sizeof *s);
    s->from = from;
    s->to = to > from ? to : from;
    for (uint32_t i = 0; i < tl->n_rows; i++) {
        const tl_row *r = &tl->rows[i];

        if (rows && !rows[i])
            continue;
        if (r->kind == TL_ROW_SHAVE && r->lanes)
            add_shave(tl, i, s);
        if (r->kind == TL_ROW_DMA && r->lanes) {
            s->n_channels++;
            tl_sums(tl, &r->lanes[0], from, s->to, sums);
            for (int c = 0; c < TL_N_CLASSES; c++)
                s->dma_busy += sums[c];
        }
        if (r->kind == TL_ROW_COUNTER && r->counter &&
            !strcmp(r->name, "DDR bytes/cycle")) {
            s->has_ddr = true;
            tl_mean(r->counter, from, s->to, &s->ddr_mean, &s->ddr_peak);
        }
    }
    balance(s);
    sweep(tl, rows, s);
}

void stats_of(const tl_timeline *tl, uint64_t from, uint64_t to, stats *s)
{
    stats_of_rows(tl, NULL, from, to, s);
}
