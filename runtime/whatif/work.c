/* What a launch did, added up. */
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/whatif/edits_priv.h"
#include "sim/machine/cache.h"

static void add_memory(whatif_work *w, const mach_mem_counts *m)
{
    w->mem[WHATIF_L1_HITS] += m->load_l1_hits;
    w->mem[WHATIF_L2_HITS] += m->load_l2_hits;
    w->mem[WHATIF_LOAD_FILLS] += m->load_fills;
    w->mem[WHATIF_STORES] += m->stores;
    w->mem[WHATIF_STORE_FILLS] += m->store_fills;
    w->mem[WHATIF_WRITE_BACKS] += m->write_backs;
    w->mem[WHATIF_LOAD_BYTES] += m->load_bytes;
    w->mem[WHATIF_STORE_BYTES] += m->store_bytes;
    w->mem[WHATIF_LOADS_BEHIND] += m->loads_behind;
    w->mem[WHATIF_LINES_BEFORE] += m->lines_before;
    for (int b = 0; b < MACH_MAX_BANKS; b++)
        w->banks[b] += m->bank_lines[b];
}

static void add_step(whatif_work *w, mach_phase *phase, const mach_step *s)
{
    whatif_traffic *t;

    switch (s->kind) {
    case MACH_STEP_GROUP:
        w->n_groups++;
        *phase = MACH_COMP;
        break;
    case MACH_STEP_PHASE:
        *phase = (mach_phase)s->id;
        break;
    case MACH_STEP_RUN:
        w->issue[*phase] += s->issue_cycles;
        w->runs += *phase == MACH_COMP;
        add_memory(w, &s->detail.mem);
        break;
    case MACH_STEP_DMA:
        t = &w->copies[*phase][s->detail.dma.to_cmx ? WHATIF_IN : WHATIF_OUT];
        t->n++;
        t->bytes += s->detail.dma.bytes;
        t->lines += s->detail.dma.lines;
        w->issue[*phase] += s->issue_cycles;
        break;
    case MACH_STEP_WAIT:
        w->issue[*phase] += s->issue_cycles;
        break;
    }
}

enum { MOST_PARTS = 4096 };

static void add_banks(whatif_work *w, uint64_t group, uint64_t n_groups,
                      const mach_step *s)
{
    uint64_t part =
        group < n_groups ? group * w->n_parts / n_groups : w->n_parts - 1;

    for (int b = 0; b < MACH_MAX_BANKS && s->kind == MACH_STEP_RUN; b++)
        w->parts[part][b] += s->detail.mem.bank_lines[b];
}

whatif_work whatif_work_of(const mach_record *r, arena *a)
{
    uint64_t n = mach_record_launch(r)->n_groups;
    whatif_work w = {.n_parts =
                         n < MOST_PARTS ? (uint32_t)n : (uint32_t)MOST_PARTS};

    if (!n)
        return w;
    w.parts = arena_push(a, w.n_parts, sizeof *w.parts, 8);
    for (uint32_t i = 0; i < mach_record_launch(r)->n_shaves; i++) {
        mach_record_cursor c = mach_record_steps(r, i);
        mach_phase phase = MACH_COMP;
        mach_step s;

        while (mach_record_next(&c, &s)) {
            add_step(&w, &phase, &s);
            add_banks(&w, w.n_groups ? w.n_groups - 1 : 0, n, &s);
        }
    }
    return w;
}

/* --- which bytes a group touches ------------------------------------------ */

typedef struct {
    uint32_t from, to;
} span;

static int by_place(const void *a, const void *b)
{
    uint32_t x = ((const span *)a)->from, y = ((const span *)b)->from;

    return (x > y) - (x < y);
}

/* Different bytes of the spans, and how many runs of them there are; spans that
 * are at most gap bytes apart are one with what lies between them. */
static whatif_traffic merge(span *list, size_t n, uint32_t gap)
{
    whatif_traffic t = {0};
    uint32_t end = 0;

    qsort(list, n, sizeof *list, by_place);
    for (size_t k = 0; k < n; k++) {
        if (!t.lines || (list[k].from > end && list[k].from - end > gap)) {
            t.lines++;
            end = list[k].from;
        }
        if (list[k].to > end) {
            t.bytes += list[k].to - end;
            end = list[k].to;
        }
    }
    return t;
}

/* What the sample's first accesses of that many bytes touch; loads that are
 * gap bytes apart are copied with what lies between them, which no store may.
 * How many bytes of accesses the sample has, at most those. */
static uint64_t touch(const exec_sample *x, uint64_t bytes, uint32_t gap,
                      arena *a, whatif_traffic out[WHATIF_N_WAYS])
{
    span *lists[WHATIF_N_WAYS];
    size_t n[WHATIF_N_WAYS] = {0};
    uint64_t seen = 0;

    for (int way = 0; way < WHATIF_N_WAYS; way++)
        lists[way] = arena_array(a, span, x->n + 1);
    for (uint32_t k = 0; k < x->n && seen < bytes; k++) {
        uint32_t at = MACH_ACCESS_ADDR(x->list[k]);
        uint32_t size = MACH_ACCESS_BYTES(x->list[k]);
        int way = MACH_ACCESS_IS_STORE(x->list[k]) ? WHATIF_OUT : WHATIF_IN;
        span *before = n[way] ? &lists[way][n[way] - 1] : NULL;

        /* Most go on where the one before ended. */
        if (before && before->to == at)
            before->to += size;
        else
            lists[way][n[way]++] = (span){at, at + size};
        seen += size;
    }
    for (int way = 0; way < WHATIF_N_WAYS; way++) {
        out[way] = merge(lists[way], n[way], way == WHATIF_IN ? gap : 0);
    }
    return seen;
}

static void scale_traffic(whatif_traffic *t, double by)
{
    t->bytes = (uint64_t)((double)t->bytes * by);
    t->lines = (uint64_t)((double)t->lines * by);
}

/* Where groups become smaller than they are, a part of what one touches now,
 * since it stores at its end what it loaded at its beginning. Where the sample
 * ends within a group, the rest of its loads counts as like those before, and
 * its stores as new each. */
void whatif_touched(const whatif_launch *l, const whatif_work *w,
                    uint64_t n_groups, uint32_t gap, arena *scratch,
                    whatif_traffic out[WHATIF_N_WAYS])
{
    uint64_t bytes = w->mem[WHATIF_LOAD_BYTES] + w->mem[WHATIF_STORE_BYTES];
    uint64_t apart = n_groups < w->n_groups ? n_groups : w->n_groups;
    uint64_t window = bytes / apart,
             seen = touch(l->sample, window, gap, scratch, out);
    uint64_t stored = w->mem[WHATIF_STORE_BYTES] / apart;

    if (seen && seen < window) {
        scale_traffic(&out[WHATIF_IN], (double)window / (double)seen);
        out[WHATIF_OUT].bytes = stored;
    }
    for (int way = 0; way < WHATIF_N_WAYS; way++) {
        scale_traffic(&out[way], (double)apart / (double)n_groups);
        if (!out[way].lines)
            out[way].lines = 1;
        out[way].n = out[way].bytes != 0;
    }
}
