/* See edits.h. */
#include "runtime/whatif/edits_priv.h"

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

static uint64_t copied(const whatif_work *w, mach_phase p)
{
    return w->copies[p][WHATIF_IN].n + w->copies[p][WHATIF_OUT].n;
}

static bool has_phases(const whatif_work *w)
{
    return copied(w, MACH_PRE) || copied(w, MACH_POST) || w->issue[MACH_PRE] ||
           w->issue[MACH_POST];
}

/* --- other steps ---------------------------------------------------------- */

/* What a group of the new launch does, but for its share of the work. */
typedef struct {
    whatif_work w; /* of all of them */
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

/* As many lines as part k of n has, on the banks that the groups there use. */
static void put_banks(const whatif_work *w, uint64_t k, uint64_t n,
                      mach_mem_counts *m)
{
    const uint64_t *like =
        w->parts[(uint64_t)((double)k * w->n_parts / (double)n)];
    uint64_t all = 0, here = 0, before = 0;

    for (int b = 0; b < MACH_MAX_BANKS; b++) {
        all += w->banks[b];
        here += like[b];
    }
    all = part(all, k, n);
    for (int b = 0; b < MACH_MAX_BANKS && here; b++) {
        uint64_t until = before + like[b];

        m->bank_lines[b] =
            (uint32_t)((double)all * (double)until / (double)here) -
            (uint32_t)((double)all * (double)before / (double)here);
        before = until;
    }
}

static mach_mem_counts memory_part(const whatif_work *w, uint64_t k, uint64_t n)
{
    mach_mem_counts m = {
        .load_l1_hits = part32(w->mem[WHATIF_L1_HITS], k, n),
        .load_l2_hits = part32(w->mem[WHATIF_L2_HITS], k, n),
        .load_fills = part32(w->mem[WHATIF_LOAD_FILLS], k, n),
        .stores = part32(w->mem[WHATIF_STORES], k, n),
        .store_fills = part32(w->mem[WHATIF_STORE_FILLS], k, n),
        .write_backs = part32(w->mem[WHATIF_WRITE_BACKS], k, n),
        .load_bytes = part(w->mem[WHATIF_LOAD_BYTES], k, n),
        .store_bytes = part(w->mem[WHATIF_STORE_BYTES], k, n),
        .loads_behind = part32(w->mem[WHATIF_LOADS_BEHIND], k, n),
        .lines_before = part32(w->mem[WHATIF_LINES_BEFORE], k, n)};

    put_banks(w, k, n, &m);
    whatif_settle(&m);
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

/* As many as a group has on average, but in all no more than MOST_RUNS: longer
 * ones are told from several by nothing but the time a replay takes. */
static uint64_t runs_of_group(const form *f)
{
    enum { MOST_RUNS = 8192 };
    uint64_t n = f->w.runs / f->n_groups, most = MOST_RUNS / f->n_groups;

    return n < most ? n : most;
}

static void put_runs(writing *x, uint64_t group, mach_phase p)
{
    const form *f = x->f;
    uint64_t n = p == MACH_COMP ? runs_of_group(f) : 1;

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
    const whatif_traffic *t = &x->f->w.copies[p][way];
    uint64_t per_group = t->n / x->f->n_groups;
    uint64_t n = per_group ? per_group : 1, all = x->f->n_groups * n;
    uint64_t done = 0;

    for (uint64_t k = 0; k < n && t->bytes; k++) {
        mach_step s = {.kind = MACH_STEP_DMA};
        uint32_t lines = part32(t->lines, group * n + k, all);

        s.detail.dma =
            (mach_transfer){.bytes = part(t->bytes, group * n + k, all),
                            .lines = lines ? lines : 1,
                            .to_cmx = way == WHATIF_IN};
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
    n = put_copies(x, group, p, WHATIF_IN);
    n += put_copies(x, group, p, WHATIF_OUT);
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

static vpu_status replay_form(const whatif_launch *l, const form *f,
                              const mach_desc *desc, mach_profile *out,
                              vpu_error *err)
{
    mach_record *r = mach_record_create(WHATIF_EDIT_BYTES);
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

/* --- what edits share ----------------------------------------------------- */

struct whatif_shared {
    arena *a;
    bool added_up, sampled;
    whatif_work w;
    uint64_t sample_cycles; /* of the sample's groups, taken for the launch */
};

whatif_shared *whatif_share(arena *a)
{
    whatif_shared *x = arena_new(a, whatif_shared);

    *x = (whatif_shared){.a = a};
    return x;
}

static const whatif_work *work_of(const mach_record *steps, whatif_shared *x)
{
    if (!x->added_up)
        x->w = whatif_work_of(steps, x->a);
    x->added_up = true;
    return &x->w;
}

/* --- the edits ------------------------------------------------------------ */

typedef struct {
    const whatif_launch *l;
    const mach_desc *desc;
    const mach_launch *launch;
    whatif_work w;
    whatif_shared *shared;
    arena *scratch;
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
        for (int way = 0; way < WHATIF_N_WAYS; way++) {
            whatif_traffic *t = &f->w.copies[p][way];

            t->lines = scale(t->lines, f->n_groups, n_before);
            t->n = scale(t->n, f->n_groups, n_before);
        }
}

/* Local memory of one of so many groups instead. Of a kernel with copies it is
 * what they fill, as arrays of a fixed size have room for other groups than the
 * launch's; else all it takes. */
static uint64_t local_for(const editing *x, uint64_t n_groups)
{
    uint64_t copied = 0;

    for (int p = 0; p < MACH_N_PHASES; p++)
        for (int way = 0; way < WHATIF_N_WAYS; way++)
            copied += x->w.copies[p][way].bytes;
    if (!copied)
        return scale(x->launch->local_bytes, x->w.n_groups, n_groups);
    return copied / n_groups * (x->launch->double_buffered ? 2 : 1);
}

/* Loads and stores become copies of the bytes they touch. */
static bool make_dma_form(const editing *x, uint64_t n_groups, form *out)
{
    whatif_traffic t[WHATIF_N_WAYS];
    uint64_t bytes = x->w.mem[WHATIF_LOAD_BYTES] + x->w.mem[WHATIF_STORE_BYTES],
             own;

    if (!x->l->sample || !x->l->sample->n || !bytes || has_phases(&x->w) ||
        copied(&x->w, MACH_COMP))
        return false;
    *out = (form){.w = x->w, .n_groups = n_groups, .double_buffered = true};
    whatif_touched(
        x->l, &x->w, n_groups,
        (uint32_t)(x->desc->dma_line_overhead * x->desc->dma_bus_bytes),
        x->scratch, t);
    own = local_for(x, n_groups);
    out->local_bytes = own + 2 * (t[WHATIF_IN].bytes + t[WHATIF_OUT].bytes);
    if (out->local_bytes > x->desc->ocl_local_budget) {
        out->double_buffered = false;
        out->one_buffer = true;
        out->local_bytes = own + t[WHATIF_IN].bytes + t[WHATIF_OUT].bytes;
    }
    memset(out->w.mem, 0, sizeof out->w.mem);
    memset(out->w.banks, 0, sizeof out->w.banks);
    out->w.runs = 0;
    for (int way = 0; way < WHATIF_N_WAYS; way++)
        out->w.copies[way == WHATIF_IN ? MACH_PRE : MACH_POST][way] =
            (whatif_traffic){.n = n_groups * t[way].n,
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
    const whatif_traffic *in, *late;

    *out = (form){.w = x->w,
                  .n_groups = n_groups,
                  .double_buffered = true,
                  .local_bytes = 2 * local_for(x, n_groups)};
    scale_lines(out, x->w.n_groups);
    in = out->w.copies[MACH_COMP];
    late = in + WHATIF_OUT;
    out->w.copies[MACH_PRE][WHATIF_IN] = *in;
    out->w.copies[MACH_POST][WHATIF_OUT] = *late;
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

static bool (*const makers[])(const editing *x, uint64_t n_groups,
                              form *out) = {
    [WHATIF_DMA_FORM] = make_dma_form,
    [WHATIF_GROUPS] = make_groups,
    [WHATIF_PHASES] = make_phases,
    [WHATIF_TWO_BUFFERS] = make_two_buffers,
    [WHATIF_N_EDITS] = NULL};

/* --- edits that leave the groups as they are ------------------------------ */

/* Of the lines that loads fetch, as many less as were in L2 before. */
static bool without_crowds(const editing *x, whatif_rest *left)
{
    const exec_sample *sample = x->l->sample;
    uint64_t lines = x->w.mem[WHATIF_LOAD_FILLS] +
                     x->w.mem[WHATIF_STORE_FILLS] +
                     x->w.mem[WHATIF_WRITE_BACKS];
    mach_crowding c;

    if (!sample || !sample->n || !lines ||
        mach_crowding_of(x->desc, sample->n_shaves, sample->list, sample->n, &c,
                         NULL) ||
        !c.avoidable)
        return false;
    left->fills = 1 - (double)c.avoidable / (double)c.fills;
    left->lines = 1 - (double)x->w.mem[WHATIF_LOAD_FILLS] / (double)lines *
                          (1 - left->fills);
    return true;
}

static bool without_waste(const editing *x, waste_kind k, whatif_rest *left)
{
    left->issue = 1 - x->l->waste[k];
    return left->issue < 1;
}

/* False: the edit is none of these, or leaves everything. */
static bool leave(const editing *x, whatif_edit e, whatif_rest *left)
{
    *left = (whatif_rest){1, 1, 1, 1, 0};
    switch (e) {
    case WHATIF_SETS:
        return without_crowds(x, left);
    case WHATIF_BANKS:
        left->n_banks = (uint32_t)x->desc->ddr_banks;
        return x->w.mem[WHATIF_LOAD_FILLS] || x->w.mem[WHATIF_STORE_FILLS];
    case WHATIF_DIVISIONS:
        return without_waste(x, WASTE_DIVISIONS, left);
    case WHATIF_BRANCHES:
        return without_waste(x, WASTE_BRANCHES, left);
    case WHATIF_SPILLS:
        return without_waste(x, WASTE_SPILLS, left);
    default:
        return false;
    }
}

/* Of the SHAVEs of a launch that has many groups so many each: what an edit
 * leaves of their time, it leaves of the launch's. */
enum { SAMPLE_GROUPS = 256 };

/* What is n of the sample is x->w.n_groups / sampled of the launch. */
static uint64_t of_launch(const editing *x, uint64_t n, uint64_t sampled)
{
    return scale(n, x->w.n_groups, sampled);
}

static void extrapolate(const editing *x, mach_profile *p)
{
    uint64_t fixed = x->desc->layer_fixed, sampled = p->groups;

    if (!sampled || sampled >= x->w.n_groups || p->cycles < fixed)
        return;
    p->cycles = fixed + of_launch(x, p->cycles - fixed, sampled);
    for (uint32_t i = 0; i < x->launch->n_shaves; i++)
        for (int c = 0; c < MACH_N_CAUSES; c++)
            p->by_cause[i][c] = of_launch(x, p->by_cause[i][c], sampled);
    p->groups = x->w.n_groups;
}

/* The sample's time before and after, as shares of the launch's. */
static vpu_status replay_sample(const editing *x, const whatif_rest *left,
                                mach_profile *out, vpu_error *err)
{
    mach_record *r = whatif_keep(x->l->steps, left, SAMPLE_GROUPS);
    vpu_status st = mach_record_replay(r, x->desc, NULL, NULL, out, err);

    mach_record_free(r);
    if (!st)
        extrapolate(x, out);
    return st;
}

/* What the sample takes as it is. */
static vpu_status replay_all(const editing *x, uint64_t *cycles, vpu_error *err)
{
    const whatif_rest all = {1, 1, 1, 1, 0};
    mach_profile p;
    vpu_status st = VPU_OK;

    if (!x->shared->sampled) {
        st = replay_sample(x, &all, &p, err);
        x->shared->sample_cycles = st ? 0 : p.cycles;
        x->shared->sampled = !st;
    }
    *cycles = x->shared->sample_cycles;
    return st;
}

static vpu_status replay_left(const editing *x, const whatif_rest *left,
                              whatif_edited *out, vpu_error *err)
{
    mach_profile whole = {0};
    uint64_t before = 0;
    bool sampled =
        x->w.n_groups > (uint64_t)SAMPLE_GROUPS * x->launch->n_shaves;
    vpu_status st = replay_sample(x, left, &out->profile, err);

    out->n_groups = x->w.n_groups;
    out->local_bytes = x->launch->local_bytes;
    if (st || !sampled)
        return st;
    /* Where groups differ the sample's pace is not the launch's. */
    whole.cycles = x->l->cycles;
    st = replay_all(x, &before, err);
    if (!st && !whole.cycles)
        st = mach_record_replay(x->l->steps, x->desc, NULL, NULL, &whole, err);
    if (!st && before)
        out->profile.cycles = scale(out->profile.cycles, whole.cycles, before);
    return st;
}

/* --- the best of them ----------------------------------------------------- */

/* Numbers of groups that are tried: those there are, and so many quarters of
 * the SHAVEs'. Fewer groups than SHAVEs have longer lines to copy. */
static const uint32_t quarters[] = {0,  1,  2,  3,  4,  6,  8,   12,
                                    16, 24, 32, 48, 64, 96, 128, 256};

static uint64_t candidate(const editing *x, size_t i)
{
    return quarters[i] ? (uint64_t)quarters[i] * x->launch->n_shaves / 4
                       : x->w.n_groups;
}

static uint64_t moved(const whatif_work *w, int way)
{
    uint64_t n = 0;

    for (int p = 0; p < MACH_N_PHASES; p++)
        n += w->copies[p][way].bytes;
    return n;
}

/* More are not tried: their replays take long, and so many small groups are
 * never the best. */
enum { MOST_GROUPS = 4096 };

static vpu_status try_all(const editing *x, whatif_edit e, bool *possible,
                          whatif_edited *out, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < sizeof quarters / sizeof *quarters && !st; i++) {
        uint64_t n = candidate(x, i);
        mach_profile p = {0};
        form f;

        if (!n || n > x->l->n_items || n > MOST_GROUPS ||
            !makers[e](x, n, &f) || f.local_bytes > x->desc->ocl_local_budget)
            continue;
        st = replay_form(x->l, &f, x->desc, &p, err);
        if (!st && (!*possible || p.cycles < out->profile.cycles)) {
            *possible = true;
            *out =
                (whatif_edited){p, n, f.local_bytes, moved(&f.w, WHATIF_IN) / n,
                                moved(&f.w, WHATIF_OUT) / n};
        }
    }
    return st;
}

bool whatif_edit_cuts(whatif_edit e)
{
    return makers[e] != NULL;
}

void whatif_launch_of(const graph_launch *l, const backend_launch *run,
                      arena *scratch, whatif_launch *out)
{
    const isa_function *programs[SIM_N_VARIANTS] = {NULL}, *f;

    *out = (whatif_launch){.steps = run->steps,
                           .sample = run->sample,
                           .n_items = (uint64_t)l->global[0] * l->global[1] *
                                      l->global[2],
                           .conversion = l->text != NULL};
    f = run->kernel && !kernel_programs(run->kernel, scratch, programs, NULL)
            ? programs[run->exec.variant]
            : NULL;
    for (int k = 0; k < WASTE_N_KINDS && f; k++)
        out->waste[k] = waste_share(f, (waste_kind)k, scratch);
}

typedef struct {
    const whatif_launch *l;
    whatif_edit e;
    const mach_desc *desc;
    bool *possible;
    whatif_edited *out;
} request;

static vpu_status edit_work(const request *q, const editing *x, vpu_error *err)
{
    whatif_rest left;

    if (!x->w.n_groups)
        return VPU_OK;
    if (makers[q->e])
        return try_all(x, q->e, q->possible, q->out, err);
    *q->possible = leave(x, q->e, &left);
    return *q->possible ? replay_left(x, &left, q->out, err) : VPU_OK;
}

static vpu_status edit(void *user, arena *scratch, vpu_error *err)
{
    const request *q = user;
    whatif_shared *shared = q->l->shared ? q->l->shared : whatif_share(scratch);
    const editing x = {.l = q->l,
                       .desc = q->desc,
                       .launch = mach_record_launch(q->l->steps),
                       .w = *work_of(q->l->steps, shared),
                       .shared = shared,
                       .scratch = scratch};

    return edit_work(q, &x, err);
}

vpu_status whatif_edit_launch(const whatif_launch *l, whatif_edit e,
                              const mach_desc *desc, bool *possible,
                              whatif_edited *out, vpu_error *err)
{
    request q = {l, e, desc, possible, out};

    *possible = false;
    *out = (whatif_edited){.n_groups = 0};
    if (l->conversion || e == WHATIF_LAYOUT) {
        *possible = l->conversion && e == WHATIF_LAYOUT;
        return VPU_OK;
    }
    if (!mach_record_complete(l->steps))
        return err_set(err, VPU_ERR_INVALID,
                       "not all steps of the launch are recorded");
    return oom_scratch(edit, &q, err);
}
