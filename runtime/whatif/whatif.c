/* Runs of a graph on changed machines. */
#include "runtime/whatif/whatif.h"

#include "runtime/graph/local.h"
#include "runtime/whatif/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/oom.h"

/* The launches of a run with some knobs turned, step by step: what they take
 * with further ones that steps do not depend on is a replay. */
typedef struct {
    mach_record *steps;
    whatif_launch launch; /* with a sample of our own */
} kept;

typedef struct {
    kept *launches;             /* NULL: nothing is kept */
    const whatif_knob **turned; /* those that steps depend on */
    size_t n_turned;
} basis;

/* That of the machine as it is, and that of the last other one. */
enum { PLAIN, LAST, N_BASES };

typedef struct {
    const whatif_config *cfg;
    const graph *g;
    arena *a;
    basis bases[N_BASES];
    exec_profile *lines;           /* of each launch; NULL: not known yet */
    uint64_t runs, replays, total; /* so far; 0 = not known */
} asking;

/* --- one run -------------------------------------------------------------- */

static vpu_status change(mach_desc *d, backend_config *run,
                         const whatif_knob *k, arena *a, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < k->n_settings && !st; i++)
        st = mach_desc_set(d, a, k->settings[i], err);
    if (k->shaves)
        run->how.n_shaves = k->shaves;
    if (k->reverse)
        run->how.order = EXEC_REVERSE;
    return st ? err_in(err, st, "what if %s", k->name) : VPU_OK;
}

static void add_launch(whatif_outcome *to, const mach_profile *p,
                       uint32_t n_shaves)
{
    to->shave_cycles += p->cycles * n_shaves;
    for (int c = 0; c < MACH_N_CAUSES; c++)
        to->causes[c] += mach_profile_sum(p, n_shaves, (mach_cause)c);
}

/* Launch i; what is kept of it, unless that is NULL. */
static vpu_status run_launch(asking *x, const backend *b, uint32_t i, kept *to,
                             whatif_outcome *out, uint64_t *cycles,
                             vpu_error *err)
{
    const exec_observer keep = {.name = "what if",
                                .steps = to ? to->steps : NULL};
    const exec_observer *const list[] = {&keep};
    const backend_launch *l;
    backend_result result = {0};
    vpu_status st;

    b->ops->observe->observers(b->self, list, 1);
    st = backend_run(b, i, 1, &result, err);
    b->ops->observe->observers(b->self, NULL, 0);
    if (st)
        return st;
    *cycles = result.cycles;
    out->cycles += result.cycles;
    l = backend_launch_of(b, i);
    if (l->kernel)
        add_launch(out, &l->exec.profile, l->n_shaves);
    if (!to)
        return VPU_OK;
    whatif_launch_of(&x->g->launches[i], l, x->a, &to->launch);
    to->launch.steps = to->steps;
    if (l->sample)
        to->launch.sample = arena_memdup(x->a, l->sample, sizeof *l->sample);
    return VPU_OK;
}

static vpu_status run_open(asking *x, const backend *b, const basis *keep,
                           whatif_outcome *out, vpu_error *err)
{
    uint64_t *launches = arena_array(x->a, uint64_t, x->g->n_launches + 1);
    vpu_status st = x->cfg->fill(x->cfg->fill_user, b, err);

    for (uint32_t i = 0; i < x->g->n_launches && !st; i++)
        st = run_launch(x, b, i, keep ? &keep->launches[i] : NULL, out,
                        &launches[i], err);
    out->launches = launches;
    return st;
}

static void tell_progress(const asking *x)
{
    const log_step step = {.of = "what if",
                           .units = "machines",
                           .done = x->runs + x->replays,
                           .total = x->total};

    log_progress(x->cfg->run.log, &step);
}

/* The machine with n knobs turned. */
static vpu_status turn(asking *x, const whatif_knob *const *knobs, size_t n,
                       backend_config *run, mach_desc *desc, vpu_error *err)
{
    vpu_status st = VPU_OK;

    *run = x->cfg->run;
    *desc = *x->cfg->run.desc;
    run->desc = desc;
    for (size_t i = 0; i < n && !st; i++)
        st = change(desc, run, knobs[i], x->a, err);
    return st;
}

/* The graph with the knobs' local sizes. */
static vpu_status take_local(const asking *x, const whatif_knob *const *knobs,
                             size_t n, graph *out, vpu_error *err)
{
    vpu_status st = VPU_OK;

    *out = *x->g;
    for (size_t i = 0; i < n && !st; i++) {
        if (!knobs[i]->local)
            continue;
        out->launches = arena_memdup(x->a, out->launches,
                                     out->n_launches * sizeof *out->launches);
        st = graph_set_local(out, knobs[i]->local, x->a, err);
    }
    return st;
}

/* A whole run; its steps are kept in `keep` unless that is NULL. */
static vpu_status run_with(asking *x, const whatif_knob *const *knobs, size_t n,
                           const basis *keep, whatif_outcome *out,
                           vpu_error *err)
{
    backend_config run;
    mach_desc desc;
    graph g;
    backend b = {0};
    vpu_status st = turn(x, knobs, n, &run, &desc, err);

    *out = (whatif_outcome){0};
    if (!st)
        st = take_local(x, knobs, n, &g, err);
    if (!st)
        st = backend_open(x->cfg->ops, &run, &g, &b, err);
    if (!st)
        st = run_open(x, &b, keep, out, err);
    backend_close(&b);
    x->runs++;
    return st;
}

/* --- replays -------------------------------------------------------------- */

/* Bytes of steps of one launch: half a million work-groups. What is larger is
 * run anew each time. */
enum { RECORD_BYTES = 128 << 20 };

bool whatif_is_replayed(const whatif_knob *k)
{
    if (k->shaves || k->reverse || k->local)
        return false;
    for (uint32_t i = 0; i < k->n_settings; i++) {
        char key[64];
        size_t n = strcspn(k->settings[i], "=");

        if (n >= sizeof key)
            return false;
        memcpy(key, k->settings[i], n);
        key[n] = 0;
        if (mach_record_depends(key))
            return false;
    }
    return true;
}

/* Those of the n knobs that steps depend on, in order. */
static size_t others(const whatif_knob *const *knobs, size_t n,
                     const whatif_knob **out)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (!whatif_is_replayed(knobs[i]))
            out[k++] = knobs[i];
    return k;
}

static bool is_complete(const asking *x, const basis *b)
{
    if (!b->launches)
        return false;
    for (uint32_t i = 0; i < x->g->n_launches; i++)
        if (!mach_record_complete(b->launches[i].steps))
            return false;
    return true;
}

static void open_basis(asking *x, basis *b)
{
    b->launches = arena_array(x->a, kept, x->g->n_launches + 1);
    b->turned = arena_array(x->a, const whatif_knob *, x->cfg->max_steps + 2);
    for (uint32_t i = 0; i < x->g->n_launches; i++)
        b->launches[i].steps = mach_record_create(RECORD_BYTES);
}

static void close_bases(asking *x)
{
    for (int k = 0; k < N_BASES; k++)
        for (uint32_t i = 0; i < x->g->n_launches && x->bases[k].launches; i++)
            mach_record_free(x->bases[k].launches[i].steps);
}

/* The knob of the n that edits, that scales; NULL: none. */
static const whatif_knob *editing(const whatif_knob *const *knobs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (knobs[i]->edit)
            return knobs[i];
    return NULL;
}

static bool scaling(const whatif_knob *const *knobs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (knobs[i]->scale.on)
            return true;
    return false;
}

/* The steps of launch i with what the knobs leave of them; NULL: as they are.
 * To be freed. */
static mach_record *scale_steps(const asking *x, uint32_t i, const kept *from,
                                const whatif_knob *const *knobs, size_t n)
{
    double issue = 1, stall = 1;

    if (!scaling(knobs, n))
        return NULL;
    for (size_t k = 0; k < n; k++)
        if (knobs[k]->scale.on)
            lines_scale(x->g, i, x->lines ? &x->lines[i] : NULL,
                        &knobs[k]->scale, &issue, &stall);
    return whatif_scaled(from->steps, issue, stall);
}

/* Launch i in another form, or as it is where that does not apply. */
static vpu_status replay_launch(const asking *x, uint32_t i, const kept *from,
                                const whatif_knob *const *knobs, size_t n,
                                const mach_desc *desc, mach_profile *p,
                                uint64_t *groups, vpu_error *err)
{
    mach_record *less = scale_steps(x, i, from, knobs, n);
    whatif_launch l = from->launch;
    const whatif_knob *edit = editing(knobs, n);
    whatif_edited edited = {.n_groups = 0};
    bool possible = false;
    vpu_status st = VPU_OK;

    if (less)
        l.steps = less;
    if (edit)
        st = whatif_edit_launch(&l, edit->edit, desc, &possible, &edited, err);
    *p = edited.profile;
    *groups = possible ? edited.n_groups : UINT64_MAX;
    if (!st && !possible)
        st = mach_record_replay(l.steps, desc, NULL, NULL, p, err);
    mach_record_free(less);
    return st;
}

static vpu_status replay(asking *x, const basis *from,
                         const whatif_knob *const *knobs, size_t n,
                         whatif_outcome *out, vpu_error *err)
{
    uint64_t *launches = arena_array(x->a, uint64_t, x->g->n_launches + 1);
    uint64_t *groups = arena_array(x->a, uint64_t, x->g->n_launches + 1);
    backend_config run;
    mach_desc desc;
    vpu_status st = turn(x, knobs, n, &run, &desc, err);

    *out = (whatif_outcome){.replayed = true,
                            .launches = launches,
                            .groups = editing(knobs, n) ? groups : NULL};
    for (uint32_t i = 0; i < x->g->n_launches && !st; i++) {
        const kept *k = &from->launches[i];
        mach_profile p;

        if (run.how.cancel && atomic_load(run.how.cancel))
            return err_set(err, VPU_ERR_STOPPED, "stopped");
        st = replay_launch(x, i, k, knobs, n, &desc, &p, &groups[i], err);
        if (st)
            break;
        launches[i] = p.cycles;
        out->cycles += p.cycles;
        add_launch(out, &p, mach_record_launch(k->steps)->n_shaves);
    }
    x->replays++;
    return st;
}

/* Does an edit apply to a launch? */
static bool changes_something(const asking *x, const whatif_outcome *o)
{
    for (uint32_t i = 0; i < x->g->n_launches && o->groups; i++)
        if (o->groups[i] != UINT64_MAX)
            return true;
    return false;
}

static const basis *find_basis(const asking *x, const whatif_knob *const *apart,
                               size_t n)
{
    for (int k = 0; k < N_BASES; k++) {
        const basis *b = &x->bases[k];

        if (b->n_turned == n && !memcmp(b->turned, apart, n * sizeof *apart) &&
            is_complete(x, b))
            return b;
    }
    return NULL;
}

static bool needs_lines(const whatif_knob *const *knobs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (knobs[i]->scale.line)
            return true;
    return false;
}

/* What the graph takes with n knobs turned, the last of which is tried. What
 * edits steps is answered by replays alone; where there are too many steps to
 * keep, not at all: cycles are UINT64_MAX then. */
static vpu_status take(asking *x, const whatif_knob *const *knobs, size_t n,
                       whatif_outcome *out, vpu_error *err)
{
    const whatif_knob **apart = arena_array(x->a, const whatif_knob *, n + 1);
    size_t n_apart = others(knobs, n, apart);
    bool edited = editing(knobs, n) || scaling(knobs, n);
    basis *to = &x->bases[n_apart ? LAST : PLAIN];
    const basis *from = find_basis(x, apart, n_apart);
    vpu_status st = VPU_OK;

    tell_progress(x);
    if (!x->lines && needs_lines(knobs, n))
        st = lines_learn(x->cfg, x->g, x->a, &x->lines, err);
    if (st)
        return st;
    if (from)
        return replay(x, from, knobs, n, out, err);
    if (n && !edited && !whatif_is_replayed(knobs[n - 1]))
        return run_with(x, knobs, n, NULL, out, err);
    memcpy(to->turned, apart, n_apart * sizeof *apart);
    to->n_turned = n_apart;
    st =
        run_with(x, edited ? apart : knobs, edited ? n_apart : n, to, out, err);
    if (st || !edited)
        return st;
    if (is_complete(x, to))
        return replay(x, to, knobs, n, out, err);
    *out = (whatif_outcome){.cycles = UINT64_MAX};
    return VPU_OK;
}

/* --- singles, and one after another --------------------------------------- */

static int by_cycles(const void *a, const void *b)
{
    const whatif_row *x = a, *y = b;

    if (x->outcome.cycles != y->outcome.cycles)
        return x->outcome.cycles < y->outcome.cycles ? -1 : 1;
    return (x->knob > y->knob) - (x->knob < y->knob);
}

static vpu_status ask_singles(asking *x, whatif_report *out, vpu_error *err)
{
    size_t n = x->cfg->n_knobs;
    whatif_row *rows = arena_array(x->a, whatif_row, n + 1);
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < n && !st; i++) {
        const whatif_knob *k = &x->cfg->knobs[i];
        whatif_row *row = &rows[out->n_rows];

        row->knob = k;
        st = take(x, &k, 1, &row->outcome, err);
        out->n_rows += row->outcome.cycles != UINT64_MAX &&
                       (!k->edit || changes_something(x, &row->outcome));
    }
    if (!st)
        qsort(rows, out->n_rows, sizeof *rows, by_cycles);
    out->rows = rows;
    return st;
}

/* Two that say the same thing differently are not turned both. */
static bool are_apart(const whatif_knob *x, const whatif_knob *y)
{
    return x != y && !(x->shaves && y->shaves) && !(x->reverse && y->reverse) &&
           !(x->edit && y->edit);
}

static bool is_worth_it(uint64_t cycles, uint64_t before)
{
    return cycles < before && before - cycles >= before / 100;
}

/* The knob that saves most on top of the n that are turned; NULL: none is worth
 * it. */
static vpu_status next_step(asking *x, const whatif_knob **turned, size_t n,
                            uint64_t before, whatif_row *best, vpu_error *err)
{
    vpu_status st = VPU_OK;

    *best = (whatif_row){.outcome.cycles = UINT64_MAX};
    for (size_t i = 0; i < x->cfg->n_knobs && !st; i++) {
        const whatif_knob *k = turned[n] = &x->cfg->knobs[i];
        whatif_outcome now;
        bool apart = true;

        for (size_t j = 0; j < n; j++)
            apart &= are_apart(turned[j], k);
        if (!apart)
            continue;
        st = take(x, turned, n + 1, &now, err);
        if (!st && now.cycles < best->outcome.cycles)
            *best = (whatif_row){k, now};
    }
    if (!is_worth_it(best->outcome.cycles, before))
        best->knob = NULL;
    return st;
}

static vpu_status ask_steps(asking *x, whatif_report *out, vpu_error *err)
{
    uint32_t most = x->cfg->max_steps;
    const whatif_knob **turned =
        arena_array(x->a, const whatif_knob *, most + 1);
    whatif_row *steps = arena_array(x->a, whatif_row, most + 1);
    uint64_t before = out->before.cycles;
    vpu_status st = VPU_OK;

    out->steps = steps;
    if (!most || !out->n_rows ||
        !is_worth_it(out->rows->outcome.cycles, before))
        return VPU_OK;
    steps[out->n_steps++] = out->rows[0];
    while (out->n_steps < most) {
        size_t n = out->n_steps;

        turned[n - 1] = steps[n - 1].knob;
        st = next_step(x, turned, n, steps[n - 1].outcome.cycles, &steps[n],
                       err);
        if (st || !steps[n].knob)
            return st;
        out->n_steps++;
    }
    return VPU_OK;
}

typedef struct {
    asking *x;
    whatif_report *out;
} question;

static vpu_status ask(void *user, vpu_error *err)
{
    const question *q = user;
    vpu_status st;

    for (int k = 0; k < N_BASES; k++)
        open_basis(q->x, &q->x->bases[k]);
    st = take(q->x, NULL, 0, &q->out->before, err);
    if (!st)
        st = ask_singles(q->x, q->out, err);
    if (!st)
        st = ask_steps(q->x, q->out, err);
    return st;
}

vpu_status whatif_ask(const whatif_config *cfg, const graph *g, arena *a,
                      whatif_report *out, vpu_error *err)
{
    asking x = {.cfg = cfg, .g = g, .a = a};
    vpu_status st;

    *out = (whatif_report){0};
    x.total = cfg->max_steps ? 0 : cfg->n_knobs + 1;
    st = oom_guard(ask, &(question){&x, out}, err);
    close_bases(&x);
    out->runs = x.runs;
    out->replays = x.replays;
    return st;
}

mach_cause whatif_main_cause(const whatif_outcome *x)
{
    int best = 0;

    for (int c = 1; c < MACH_N_CAUSES; c++)
        if (x->causes[c] > x->causes[best])
            best = c;
    return (mach_cause)best;
}
