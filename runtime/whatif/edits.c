/* See edits.h. */
#include "runtime/whatif/edits.h"

#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "sim/machine/cache.h"
#include "sim/machine/crowding.h"

static const struct {
    const char *name, *about;
} texts[] = {
    [WHATIF_NO_EDIT] = {"", ""},
#define WHATIF_EDIT(id, name, about) [WHATIF_##id] = {name, about},
#include "runtime/whatif/edits.def"
};

const char *whatif_edit_name(whatif_edit e)
{
    return texts[e].name;
}

const char *whatif_edit_about(whatif_edit e)
{
    return texts[e].about;
}

/* --- what there is to do -------------------------------------------------- */

enum { IN, OUT, N_WAYS };

/* Transfers in one direction. */
typedef struct {
    uint64_t n, bytes, lines;
} traffic;

/* The work of a launch, all groups together. */
typedef struct {
    uint64_t n_groups, issue[MACH_N_PHASES], runs;
    uint64_t mem[10], banks[MACH_MAX_BANKS]; /* of mach_mem_counts, in order */
    traffic copies[MACH_N_PHASES][N_WAYS];
} work;

enum {
    L1_HITS,
    L2_HITS,
    LOAD_FILLS,
    STORES,
    STORE_FILLS,
    WRITE_BACKS,
    LOAD_BYTES,
    STORE_BYTES,
    LOADS_BEHIND,
    LINES_BEFORE
};

static void add_memory(work *w, const mach_mem_counts *m)
{
    w->mem[L1_HITS] += m->load_l1_hits;
    w->mem[L2_HITS] += m->load_l2_hits;
    w->mem[LOAD_FILLS] += m->load_fills;
    w->mem[STORES] += m->stores;
    w->mem[STORE_FILLS] += m->store_fills;
    w->mem[WRITE_BACKS] += m->write_backs;
    w->mem[LOAD_BYTES] += m->load_bytes;
    w->mem[STORE_BYTES] += m->store_bytes;
    w->mem[LOADS_BEHIND] += m->loads_behind;
    w->mem[LINES_BEFORE] += m->lines_before;
    for (int b = 0; b < MACH_MAX_BANKS; b++)
        w->banks[b] += m->bank_lines[b];
}

static void add_step(work *w, mach_phase *phase, const mach_step *s)
{
    traffic *t;

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
        t = &w->copies[*phase][s->detail.dma.to_cmx ? IN : OUT];
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

static work work_of(const mach_record *r)
{
    work w = {0};

    for (uint32_t i = 0; i < mach_record_launch(r)->n_shaves; i++) {
        mach_record_cursor c = mach_record_steps(r, i);
        mach_phase phase = MACH_COMP;
        mach_step s;

        while (mach_record_next(&c, &s))
            add_step(&w, &phase, &s);
    }
    return w;
}

static uint64_t copied(const work *w, mach_phase p)
{
    return w->copies[p][IN].n + w->copies[p][OUT].n;
}

static bool has_phases(const work *w)
{
    return copied(w, MACH_PRE) || copied(w, MACH_POST) || w->issue[MACH_PRE] ||
           w->issue[MACH_POST];
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

/* Different bytes of the spans, and how many runs of them there are. */
static traffic merge(span *list, size_t n)
{
    traffic t = {0};
    uint32_t end = 0;

    qsort(list, n, sizeof *list, by_place);
    for (size_t k = 0; k < n; k++) {
        if (!t.lines || list[k].from > end) {
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

/* What the sample's first accesses of that many bytes touch. Where it is
 * shorter, as if the rest were like it. */
static void touched(const exec_sample *x, uint64_t bytes, traffic out[N_WAYS])
{
    span *lists[N_WAYS];
    size_t n[N_WAYS] = {0};
    uint64_t seen = 0;

    for (int way = 0; way < N_WAYS; way++)
        lists[way] = oom_malloc((x->n + 1) * sizeof *lists[way]);
    for (uint32_t k = 0; k < x->n && seen < bytes; k++) {
        uint32_t at = MACH_ACCESS_ADDR(x->list[k]);
        uint32_t size = MACH_ACCESS_BYTES(x->list[k]);
        int way = MACH_ACCESS_IS_STORE(x->list[k]) ? OUT : IN;

        lists[way][n[way]++] = (span){at, at + size};
        seen += size;
    }
    for (int way = 0; way < N_WAYS; way++) {
        traffic t = merge(lists[way], n[way]);
        double more = seen && seen < bytes ? (double)bytes / (double)seen : 1;

        out[way] = (traffic){.n = t.bytes != 0,
                             .bytes = (uint64_t)((double)t.bytes * more),
                             .lines = (uint64_t)((double)t.lines * more)};
        free(lists[way]);
    }
}

/* --- other steps ---------------------------------------------------------- */

/* What a group of the new launch does, but for its share of the work. */
typedef struct {
    work w; /* of all of them */
    uint64_t n_groups, local_bytes;
    bool double_buffered, one_buffer;
} form;

/* Part k of n equal parts of all. */
static uint64_t part(uint64_t all, uint64_t k, uint64_t n)
{
    uint64_t rest = all % n;

    return all / n + rest * (k + 1) / n - rest * k / n;
}

static uint32_t part32(uint64_t all, uint64_t k, uint64_t n)
{
    uint64_t x = part(all, k, n);

    return x > UINT32_MAX ? UINT32_MAX : (uint32_t)x;
}

static mach_mem_counts memory_part(const work *w, uint64_t k, uint64_t n)
{
    mach_mem_counts m = {.load_l1_hits = part32(w->mem[L1_HITS], k, n),
                         .load_l2_hits = part32(w->mem[L2_HITS], k, n),
                         .load_fills = part32(w->mem[LOAD_FILLS], k, n),
                         .stores = part32(w->mem[STORES], k, n),
                         .store_fills = part32(w->mem[STORE_FILLS], k, n),
                         .write_backs = part32(w->mem[WRITE_BACKS], k, n),
                         .load_bytes = part(w->mem[LOAD_BYTES], k, n),
                         .store_bytes = part(w->mem[STORE_BYTES], k, n),
                         .loads_behind = part32(w->mem[LOADS_BEHIND], k, n),
                         .lines_before = part32(w->mem[LINES_BEFORE], k, n)};

    for (int b = 0; b < MACH_MAX_BANKS; b++)
        m.bank_lines[b] = part32(w->banks[b], k, n);
    return m;
}

typedef struct {
    mach_record *to;
    const form *f;
    uint32_t shave;
} writing;

static void put(writing *x, mach_step_kind kind, uint64_t id)
{
    mach_record_add(x->to, x->shave,
                    &(const mach_step){.kind = kind, .id = id});
}

static void put_runs(writing *x, uint64_t group, mach_phase p)
{
    const form *f = x->f;
    uint64_t n = p == MACH_COMP ? f->w.runs / f->n_groups : 1;

    for (uint64_t k = 0; k < (n ? n : 1); k++) {
        uint64_t all = f->n_groups * (n ? n : 1), at = group * (n ? n : 1) + k;
        mach_step s = {.kind = MACH_STEP_RUN,
                       .issue_cycles = part(f->w.issue[p], at, all)};

        if (p == MACH_COMP)
            s.detail.mem = memory_part(&f->w, at, all);
        mach_record_add(x->to, x->shave, &s);
    }
}

/* As many as each group has now, one at least. How many it were. */
static uint64_t put_copies(writing *x, uint64_t group, mach_phase p, int way)
{
    const traffic *t = &x->f->w.copies[p][way];
    uint64_t per_group = t->n / x->f->n_groups;
    uint64_t n = per_group ? per_group : 1, all = x->f->n_groups * n;
    uint64_t done = 0;

    for (uint64_t k = 0; k < n && t->bytes; k++) {
        mach_step s = {.kind = MACH_STEP_DMA};
        uint32_t lines = part32(t->lines, group * n + k, all);

        s.detail.dma =
            (mach_transfer){.bytes = part(t->bytes, group * n + k, all),
                            .lines = lines ? lines : 1,
                            .to_cmx = way == IN};
        if (!s.detail.dma.bytes)
            continue;
        mach_record_add(x->to, x->shave, &s);
        done++;
    }
    return done;
}

static void put_phase(writing *x, uint64_t group, mach_phase p)
{
    uint64_t n;

    put(x, MACH_STEP_PHASE, p);
    put_runs(x, group, p);
    n = put_copies(x, group, p, IN);
    n += put_copies(x, group, p, OUT);
    if (p == MACH_COMP && n)
        put(x, MACH_STEP_WAIT, n);
}

static void put_group(writing *x, uint64_t group)
{
    put(x, MACH_STEP_GROUP, group);
    if (x->f->double_buffered || x->f->one_buffer) {
        put_phase(x, group, MACH_PRE);
        put_phase(x, group, MACH_COMP);
        put_phase(x, group, MACH_POST);
    } else {
        put_phase(x, group, MACH_COMP);
    }
}

/* Room for the steps of an edit; it is one work-group's share of a record that
 * was kept, so it fits where that did. */
enum { EDIT_BYTES = 256 << 20 };

static vpu_status replay_form(const whatif_launch *l, const form *f,
                              const mach_desc *desc, mach_profile *out,
                              vpu_error *err)
{
    mach_record *r = mach_record_create(EDIT_BYTES);
    mach_launch like = *mach_record_launch(l->steps);
    uint32_t n = like.n_shaves;
    vpu_status st;

    like.n_groups = f->n_groups;
    like.double_buffered = f->double_buffered;
    like.one_buffer = f->one_buffer;
    like.local_bytes = (uint32_t)f->local_bytes;
    mach_record_begin(r, &like);
    for (uint32_t i = 0; i < n; i++) {
        writing x = {r, f, i};

        for (uint64_t g = f->n_groups * i / n; g < f->n_groups * (i + 1) / n;
             g++)
            put_group(&x, g);
    }
    st = mach_record_replay(r, desc, NULL, NULL, out, err);
    mach_record_free(r);
    return st;
}

/* --- less of it ----------------------------------------------------------- */

/* Multiplies, and hands what is lost by rounding on to the next. */
typedef struct {
    double by, left;
} scaling;

static uint64_t scaled(scaling *x, uint64_t n)
{
    double y = (double)n * x->by + x->left;
    uint64_t whole = (uint64_t)(y + 1e-6);

    x->left = y - (double)whole;
    return whole;
}

enum { N_COUNTS = 8 };

/* One for each field, so that each sum is right. */
typedef struct {
    scaling issue, memory[N_COUNTS], banks[MACH_MAX_BANKS];
} scalings;

static void scale_step(scalings *x, mach_step *s)
{
    mach_mem_counts *m = &s->detail.mem;
    uint32_t *const counts[] = {
        &m->load_l1_hits, &m->load_l2_hits, &m->load_fills,   &m->stores,
        &m->store_fills,  &m->write_backs,  &m->loads_behind, &m->lines_before};

    s->issue_cycles = scaled(&x->issue, s->issue_cycles);
    if (s->kind != MACH_STEP_RUN)
        return;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = (uint32_t)scaled(&x->memory[i], *counts[i]);
    for (int b = 0; b < MACH_MAX_BANKS; b++)
        m->bank_lines[b] = (uint32_t)scaled(&x->banks[b], m->bank_lines[b]);
}

static void scale_shave(const mach_record *r, uint32_t shave, double issue,
                        double accesses, mach_record *to)
{
    mach_record_cursor c = mach_record_steps(r, shave);
    scalings x = {.issue.by = issue};
    mach_step s;

    for (int i = 0; i < N_COUNTS; i++)
        x.memory[i].by = accesses;
    for (int b = 0; b < MACH_MAX_BANKS; b++)
        x.banks[b].by = accesses;
    while (mach_record_next(&c, &s)) {
        scale_step(&x, &s);
        mach_record_add(to, shave, &s);
    }
}

mach_record *whatif_scaled(const mach_record *r, double issue, double accesses)
{
    mach_record *to;

    if (!mach_record_complete(r))
        return NULL;
    to = mach_record_create(EDIT_BYTES);
    mach_record_begin(to, mach_record_launch(r));
    for (uint32_t i = 0; i < mach_record_launch(r)->n_shaves; i++)
        scale_shave(r, i, issue, accesses, to);
    return to;
}

/* --- the edits ------------------------------------------------------------ */

typedef struct {
    const whatif_launch *l;
    const mach_desc *desc;
    const mach_launch *launch;
    work w;
} editing;

static uint64_t scale(uint64_t x, uint64_t by, uint64_t over)
{
    double y = (double)x * (double)by / (double)over;

    return y < 9e18 ? (uint64_t)y : UINT64_MAX / 2;
}

/* Longer lines, as a group of several rows has, not more of them. */
static void scale_lines(form *f, uint64_t n_before)
{
    for (int p = 0; p < MACH_N_PHASES; p++)
        for (int way = 0; way < N_WAYS; way++) {
            traffic *t = &f->w.copies[p][way];

            t->lines = scale(t->lines, f->n_groups, n_before);
            t->n = scale(t->n, f->n_groups, n_before);
        }
}

/* The kernel's own local memory, for so many groups instead. */
static uint64_t local_for(const editing *x, uint64_t n_groups)
{
    return scale(x->launch->local_bytes, x->w.n_groups, n_groups);
}

/* Loads and stores become copies of the bytes they touch. */
static bool make_dma_form(const editing *x, uint64_t n_groups, form *out)
{
    traffic t[N_WAYS];
    uint64_t bytes = x->w.mem[LOAD_BYTES] + x->w.mem[STORE_BYTES], own;

    if (!x->l->sample || !x->l->sample->n || !bytes || has_phases(&x->w) ||
        copied(&x->w, MACH_COMP))
        return false;
    *out = (form){.w = x->w, .n_groups = n_groups, .double_buffered = true};
    touched(x->l->sample, bytes / n_groups, t);
    own = local_for(x, n_groups);
    out->local_bytes = own + 2 * (t[IN].bytes + t[OUT].bytes);
    if (out->local_bytes > x->desc->ocl_local_budget) {
        out->double_buffered = false;
        out->one_buffer = true;
        out->local_bytes = own + t[IN].bytes + t[OUT].bytes;
    }
    memset(out->w.mem, 0, sizeof out->w.mem);
    memset(out->w.banks, 0, sizeof out->w.banks);
    out->w.runs = 0;
    for (int way = 0; way < N_WAYS; way++)
        out->w.copies[way == IN ? MACH_PRE : MACH_POST][way] =
            (traffic){.n = n_groups * t[way].n,
                      .bytes = t[way].bytes * n_groups,
                      .lines = t[way].lines * n_groups};
    return true;
}

static bool make_groups(const editing *x, uint64_t n_groups, form *out)
{
    *out = (form){.w = x->w,
                  .n_groups = n_groups,
                  .double_buffered = x->launch->double_buffered,
                  .one_buffer = x->launch->one_buffer,
                  .local_bytes = local_for(x, n_groups)};
    scale_lines(out, x->w.n_groups);
    return n_groups != x->w.n_groups;
}

static bool make_phases(const editing *x, uint64_t n_groups, form *out)
{
    const traffic *in, *late;

    *out = (form){.w = x->w,
                  .n_groups = n_groups,
                  .double_buffered = true,
                  .local_bytes = 2 * local_for(x, n_groups)};
    scale_lines(out, x->w.n_groups);
    in = out->w.copies[MACH_COMP];
    late = in + OUT;
    out->w.copies[MACH_PRE][IN] = *in;
    out->w.copies[MACH_POST][OUT] = *late;
    memset(out->w.copies[MACH_COMP], 0, sizeof out->w.copies[MACH_COMP]);
    return copied(&x->w, MACH_COMP) && !has_phases(&x->w);
}

static bool make_two_buffers(const editing *x, uint64_t n_groups, form *out)
{
    *out = (form){.w = x->w,
                  .n_groups = n_groups,
                  .double_buffered = true,
                  .local_bytes = 2 * local_for(x, n_groups)};
    scale_lines(out, x->w.n_groups);
    return x->launch->one_buffer;
}

/* Of the lines that loads fetch, as many less as were in L2 before. */
static bool make_sets(const editing *x, uint64_t n_groups, form *out)
{
    const exec_sample *sample = x->l->sample;
    uint64_t lines =
        x->w.mem[LOAD_FILLS] + x->w.mem[STORE_FILLS] + x->w.mem[WRITE_BACKS];
    uint64_t fewer;
    mach_crowding c;

    if (n_groups != x->w.n_groups || !sample || !sample->n || !lines ||
        mach_crowding_of(x->desc, sample->n_shaves, sample->list, sample->n, &c,
                         NULL) ||
        !c.avoidable)
        return false;
    make_groups(x, n_groups, out);
    fewer = scale(x->w.mem[LOAD_FILLS], c.avoidable, c.fills);
    out->w.mem[LOAD_FILLS] -= fewer;
    out->w.mem[L2_HITS] += fewer;
    for (int b = 0; b < MACH_MAX_BANKS; b++)
        out->w.banks[b] = scale(x->w.banks[b], lines - fewer, lines);
    return true;
}

static bool (*const makers[])(const editing *x, uint64_t n_groups,
                              form *out) = {
    [WHATIF_DMA_FORM] = make_dma_form,
    [WHATIF_GROUPS] = make_groups,
    [WHATIF_PHASES] = make_phases,
    [WHATIF_TWO_BUFFERS] = make_two_buffers,
    [WHATIF_SETS] = make_sets};

/* Numbers of groups that are tried: those there are, and so many quarters of
 * the SHAVEs'. Fewer groups than SHAVEs have longer lines to copy. */
static const uint32_t quarters[] = {0,  1,  2,  3,  4,  6,  8,   12,
                                    16, 24, 32, 48, 64, 96, 128, 256};

static uint64_t candidate(const editing *x, size_t i)
{
    return quarters[i] ? (uint64_t)quarters[i] * x->launch->n_shaves / 4
                       : x->w.n_groups;
}

static vpu_status try_all(const editing *x, whatif_edit e, bool *possible,
                          whatif_edited *out, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < sizeof quarters / sizeof *quarters && !st; i++) {
        uint64_t n = candidate(x, i);
        mach_profile p = {0};
        form f;

        if (!n || n > x->l->n_items || !makers[e](x, n, &f) ||
            f.local_bytes > x->desc->ocl_local_budget)
            continue;
        st = replay_form(x->l, &f, x->desc, &p, err);
        if (!st && (!*possible || p.cycles < out->profile.cycles)) {
            *possible = true;
            *out = (whatif_edited){p, n, f.local_bytes};
        }
    }
    return st;
}

typedef struct {
    const whatif_launch *l;
    whatif_edit e;
    const mach_desc *desc;
    bool *possible;
    whatif_edited *out;
} request;

static vpu_status edit(void *user, vpu_error *err)
{
    const request *q = user;
    const editing x = {.l = q->l,
                       .desc = q->desc,
                       .launch = mach_record_launch(q->l->steps),
                       .w = work_of(q->l->steps)};

    return x.w.n_groups ? try_all(&x, q->e, q->possible, q->out, err) : VPU_OK;
}

vpu_status whatif_edit_launch(const whatif_launch *l, whatif_edit e,
                              const mach_desc *desc, bool *possible,
                              whatif_edited *out, vpu_error *err)
{
    request q = {l, e, desc, possible, out};

    *possible = false;
    *out = (whatif_edited){.n_groups = 0};
    if (!mach_record_complete(l->steps))
        return err_set(err, VPU_ERR_INVALID,
                       "not all steps of the launch are recorded");
    return oom_guard(edit, &q, err);
}
