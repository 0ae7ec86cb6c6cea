/* Sets a launch up: SHAVEs, their code. */
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "sim/exec/cmx.h"
#include "sim/exec/exec.h"
#include "sim/exec/relay.h"
#include "sim/exec/rounds.h"
#include "sim/exec/stuck.h"
#include "sim/exec/tensors.h"

static const char *const timing_names[] = {[EXEC_FLOWS] = "flow",
                                           [EXEC_TRANSACTIONS] = "transaction",
                                           [EXEC_NO_TIMING] = "none"};

const char *exec_timing_name(exec_timing t)
{
    return timing_names[t];
}

/* --- setting up ---------------------------------------------------------- */

static vpu_status check_window(const exec_launch *l, vpu_error *err)
{
    const exec_window *w = l->window;

    for (int d = 0; d < 3; d++)
        if (!w->n[d] || (uint64_t)w->first[d] + w->n[d] > l->groups[d])
            return err_set(err, VPU_ERR_INVALID,
                           "%s: dimension %d of the window is %u groups from "
                           "%u on, the launch has %u",
                           l->name, d, w->n[d], w->first[d], l->groups[d]);
    return VPU_OK;
}

/* After the sizes. */
static vpu_status check_place(const exec_launch *l, vpu_error *err)
{
    if (l->work_dim > 3)
        return err_set(err, VPU_ERR_INVALID, "%s: %u dimensions, at most 3",
                       l->name, l->work_dim);
    for (uint32_t d = 0; d < 3; d++) {
        uint64_t n = (uint64_t)l->groups[d] * l->local[d];

        if (l->work_dim && d >= l->work_dim && n > 1)
            return err_set(err, VPU_ERR_INVALID,
                           "%s: %llu items in dimension %u of %u", l->name,
                           (unsigned long long)n, d, l->work_dim);
        if (l->offset[d] + n > UINT64_C(1) << 32)
            return err_set(err, VPU_ERR_INVALID,
                           "%s: dimension %u has %llu items from %u on: ids "
                           "have 32 bits",
                           l->name, d, (unsigned long long)n, l->offset[d]);
    }
    return VPU_OK;
}

static vpu_status check_launch(const exec_launch *l, const mach_desc *d,
                               vpu_error *err)
{
    const sim_kernel *k = l->kernel;
    uint64_t items = 1;
    vpu_status st;

    if (!l->how.n_shaves || l->how.n_shaves > d->num_shaves)
        return err_set(err, VPU_ERR_INVALID,
                       "%u SHAVEs asked for, the machine has %llu",
                       l->how.n_shaves, (unsigned long long)d->num_shaves);
    for (int i = 0; i < 3; i++) {
        if (!l->local[i] || !l->groups[i])
            return err_set(err, VPU_ERR_INVALID,
                           "%s: dimension %d has %u groups of %u work-items",
                           l->name, i, l->groups[i], l->local[i]);
        if (k->reqd_local[i] && k->reqd_local[i] != l->local[i])
            return err_set(err, VPU_ERR_INVALID,
                           "%s: kernel '%s' requires a local size of %ux%ux%u, "
                           "the launch has %ux%ux%u",
                           l->name, k->name, k->reqd_local[0], k->reqd_local[1],
                           k->reqd_local[2], l->local[0], l->local[1],
                           l->local[2]);
        items *= l->local[i];
        if (items > UINT32_MAX ||
            (uint64_t)l->groups[i] * l->local[i] > UINT32_MAX)
            return err_set(err, VPU_ERR_LIMIT,
                           "%s: the grid has 2^32 work-items or more in one "
                           "dimension or group",
                           l->name);
    }
    if (l->groups[0] > UINT64_MAX / l->groups[1] / l->groups[2])
        return err_set(err, VPU_ERR_LIMIT, "%s: too many groups", l->name);
    st = check_place(l, err);
    return !st && l->window ? check_window(l, err) : st;
}

/* Nobody looks at single groups. */
static bool has_batches(const rounds_launch *r)
{
    const exec_launch *l = r->launch;
    bool looks = r->profile || l->turns != EXEC_APART ||
                 !r->codes[r->variant].fn || cmx_has_phases(l->kernel);

    for (uint32_t i = 0; i < l->n_observers; i++) {
        const exec_observer *o = l->observers[i];

        looks |= o->group_begin || o->group_end || o->phase_begin ||
                 o->phase_end || o->stored || o->line || o->var || o->bundle ||
                 o->stopped || o->prints_at_once || o->watch;
    }
    return !looks;
}

static void set_up_shave(rounds_launch *r, uint32_t i, const cmx_layout *c,
                         uint32_t const_base, uint64_t n_groups, arena *a)
{
    const exec_launch *l = r->launch;
    exec_shave *s = &r->shaves[i];
    uint64_t n = r->n_shaves;

    s->launch = l;
    s->sees = r->sees;
    s->mem = r->mem;
    s->main = r->codes[r->variant];
    s->pre = r->codes[SIM_PRELOAD];
    s->post = r->codes[SIM_POSTWRITE];
    s->interpreted =
        arena_push(a, r->interpreted_bytes, 1, _Alignof(max_align_t));
    s->profile = profile_of_shave(r->profile, i);
    s->record = r->record;
    s->recorded_as = i;
    s->cmx = memory_cmx(r->mem, i);
    s->fill_bytes = (uint32_t)c->span;
    s->batches = has_batches(r);
    s->joins = s->batches && l->how.timing == EXEC_FLOWS;
    s->n_groups = n_groups;
    s->plain = l->how.order == EXEC_SEQUENTIAL && !l->only_group && !l->list &&
               !l->window;
    /* Where groups see each other, rounds stay what they are. */
    s->rows =
        s->batches && s->plain && !s->fill_bytes && !l->kernel->global_atomics;
    s->stop = &r->stop;
    s->prints = r->prints;
    s->scope.window = memory_window(r->mem);
    s->scope.reserved = MEMORY_RESERVED;
    s->scope.code = l->kernel->code;
    s->scope.code_bytes = l->kernel->code_bytes;
    if (r->desc->wg_split) {
        s->next = i;
        s->end = n_groups;
        s->stride = n;
    } else {
        s->next = n_groups * i / n;
        s->end = n_groups * (i + 1) / n;
        s->stride = 1;
    }
    if (l->first && !l->only_group) { /* one SHAVE: the order is its own */
        s->next = s->done = l->first;
    }
    s->wg.max_cycles = l->how.max_cycles ? l->how.max_cycles : UINT64_MAX;
    for (int d = 0; d < 3; d++) {
        s->wg.ids[SIM_ID_LOCAL_SIZE + d] = l->local[d];
        s->wg.ids[SIM_ID_N_GROUPS + d] = l->groups[d];
        s->wg.ids[SIM_ID_OFFSET + d] = l->offset[d];
    }
    s->wg.ids[SIM_ID_WORK_DIM] = l->work_dim ? l->work_dim : 3;
    s->wg.local_base = s->cmx;
    s->wg.stack_base = (uint32_t)(s->cmx + c->stack);
    s->wg.kept_base = (uint32_t)(s->cmx + c->kept);
    s->wg.const_base = const_base;
    for (int slot = 0; slot < 2; slot++)
        s->args[slot] = cmx_args(l, c, slot, s->cmx, a);
}

static void make_steps(rounds_launch *r, interp_code *c, arena *a)
{
    interp_make_steps(c, r->sees.bundles, a);
    if (interp_scratch_size(c) > r->interpreted_bytes)
        r->interpreted_bytes = interp_scratch_size(c);
}

static vpu_status find_codes(rounds_launch *r, arena *a, vpu_error *err)
{
    const sim_kernel *k = r->launch->kernel;
    const isa_function *programs[SIM_N_VARIANTS];
    vpu_status st = VPU_OK;

    for (int v = 0; v < SIM_N_VARIANTS; v++)
        r->codes[v] = (exec_shave_code){.fn = k->variants[v].fn};
    if (r->launch->how.engine == EXEC_COMPILED)
        return sim_lacks_code(k, r->launch->local)
                   ? err_set(err, VPU_ERR_INTERNAL,
                             "%s: kernel '%s' was not compiled for groups of "
                             "%u",
                             r->launch->name, k->name, r->launch->local[0])
                   : VPU_OK;
    st = kernel_programs(k, a, programs, err);
    for (int v = 0; v < SIM_N_VARIANTS && !st; v++) {
        interp_code *c = NULL;

        if (programs[v])
            st = interp_prepare(programs[v], k->args_bytes, a, &c, err);
        r->codes[v] = (exec_shave_code){.interp = c};
        if (!st && c &&
            sim_runs_variant(k, (sim_variant_kind)v, r->launch->local))
            make_steps(r, c, a);
    }
    return st;
}

/* What the observers need and look at. */
static vpu_status meet_observers(rounds_launch *r, vpu_error *err)
{
    const exec_launch *l = r->launch;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < l->n_observers && !st; i++) {
        const exec_observer *o = l->observers[i];

        st = exec_meets(o->name, o->needs, &l->how, l->kernel, err);
        if (!st && o->trace && r->trace)
            st = err_set(err, VPU_ERR_INVALID,
                         "%s: a launch has one timeline, another observer "
                         "writes it",
                         o->name);
        if (o->trace)
            r->trace = o->trace;
        if (o->sample)
            r->sample = o->sample;
        if (o->steps)
            r->record = o->steps;
        r->in_order |= o->needs & EXEC_NEED_ORDER;
        r->sees.stores |= o->stored != NULL;
        r->sees.prints |= o->prints_at_once;
        r->sees.stops |= o->stopped != NULL;
        r->sees.bundles |= o->bundle != NULL;
        r->profiled |= o->profile != NULL;
    }
    return st;
}

static void start_profile(rounds_launch *r, arena *a)
{
    const sim_variant_kind kinds[MACH_N_PHASES] = {[MACH_PRE] = SIM_PRELOAD,
                                                   [MACH_COMP] = r->variant,
                                                   [MACH_POST] = SIM_POSTWRITE};
    const isa_function *programs[MACH_N_PHASES];

    for (int k = 0; k < MACH_N_PHASES; k++)
        programs[k] = r->codes[kinds[k]].interp
                          ? interp_function(r->codes[kinds[k]].interp)
                          : NULL;
    r->profile = profile_create(r->desc, programs, r->n_shaves, a);
}

static vpu_status place_constants(rounds_launch *r, uint32_t *base,
                                  vpu_error *err)
{
    const sim_kernel *k = r->launch->kernel;
    vpu_status st;

    *base = 0;
    if (!k->const_bytes)
        return VPU_OK;
    st = memory_alloc(r->mem, "__constant data", k->const_bytes, base, err);
    if (!st)
        memcpy(memory_window(r->mem) + *base, k->const_data, k->const_bytes);
    return st;
}

/* --- running ------------------------------------------------------------- */

static void note_fault(const rounds_launch *r, exec_result *result)
{
    for (uint32_t i = 0; r->faulted && i < r->n_shaves; i++)
        if (r->shaves[i].scope.kind != FAULT_NONE) {
            result->fault_group = r->shaves[i].group;
            result->fault_address = r->shaves[i].scope.address;
            result->stuck_line = r->shaves[i].wg.line;
            result->stuck_col = r->shaves[i].wg.col;
            break;
        }
    stuck_list(r->shaves, r->n_shaves, result);
}

/* As mach_run, without time. */
static vpu_status run_untimed(const mach_launch *ml, vpu_error *err)
{
    mach_queue queues[MACH_MAX_SHAVES] = {0};
    vpu_status st = VPU_OK;
    bool more = true;

    while (more && !st) {
        st = ml->refill(ml->user, queues, ml->n_shaves, err);
        more = false;
        for (uint32_t i = 0; i < ml->n_shaves; i++) {
            more |= !queues[i].ended;
            queues[i].n = queues[i].head = 0;
        }
    }
    for (uint32_t i = 0; i < ml->n_shaves; i++)
        free(queues[i].items);
    return st;
}

static vpu_status tell_profile(const rounds_launch *r, const mach_profile *all,
                               arena *a, vpu_error *err)
{
    exec_profile rows;
    vpu_status st = profile_finish(r->profile, all, a, &rows, err);

    for (uint32_t i = 0; i < r->launch->n_observers && !st; i++)
        if (r->launch->observers[i]->profile)
            r->launch->observers[i]->profile(r->launch->observers[i]->user,
                                             &rows);
    return st;
}

typedef struct {
    rounds_launch *r;
    const mach_launch *ml;
    mach_profile *profile;
} replay;

static vpu_status run_replay(void *user, vpu_error *err)
{
    const replay *p = user;

    return p->r->launch->how.timing == EXEC_NO_TIMING
               ? run_untimed(p->ml, err)
               : mach_run(p->r->desc, p->ml, p->r->trace, p->profile, err);
}

static vpu_status run_rounds(rounds_launch *r, const cmx_layout *c,
                             exec_result *result, arena *a, vpu_error *err)
{
    const exec_launch *l = r->launch;
    mach_launch ml = {.name = l->name,
                      .kernel = l->kernel->name,
                      .source = l->kernel->source,
                      .n_shaves = r->n_shaves,
                      .double_buffered =
                          cmx_has_phases(l->kernel) && !result->one_buffer,
                      .one_buffer = result->one_buffer,
                      .n_groups = result->n_groups,
                      .local_bytes = result->local_bytes,
                      .max_cycles = l->how.max_cycles,
                      .refill = rounds_refill,
                      .user = r,
                      .start_cycle = l->start_cycle,
                      .transactions = l->how.timing == EXEC_TRANSACTIONS,
                      .watch = relay_watch(profile_watch(r->profile), l, a)};
    vpu_status st;

    if (r->record)
        mach_record_begin(r->record, &ml);
    if (!l->window && !l->list && !l->only_group)
        for (int i = 0; i < 3; i++) {
            ml.group_size[i] = l->local[i];
            ml.grid[i] = l->groups[i];
        }
    if (r->trace) {
        cmx_name_parts(l, c, &ml, a);
        exec_tensors_place(l, r->mem, &ml, a);
    }
    r->next = arena_array(a, mach_queue, r->n_shaves);
    fault_install();
    rounds_start(r);
    /* A shortage of memory must not leave threads at work behind. */
    st = oom_guard(run_replay, &(replay){r, &ml, &result->profile}, err);
    result->groups_s = r->groups_s;
    rounds_end(r);
    fault_uninstall();
    if (!r->gave_up)
        rounds_deliver_prints(r, true);
    if (st) {
        if (r->record)
            mach_record_spoil(r->record);
        note_fault(r, result);
        return st;
    }
    rounds_note_overrun(r);
    return r->profile ? tell_profile(r, &result->profile, a, err) : VPU_OK;
}

typedef struct {
    rounds_launch r;
    exec_result *result;
    cmx_layout c;
    const cmx_guard *guards;
    uint32_t n_guards;
    uint32_t const_base;
    exec_scratch own, *scratch; /* the launch's, or own */
    arena *a;
} setting;

static uint64_t count_groups(const exec_launch *l)
{
    const uint32_t *n = l->window ? l->window->n : l->groups;

    return l->only_group ? 1
           : l->list     ? l->n_list
                         : (uint64_t)n[0] * n[1] * n[2];
}

static vpu_status set_up_and_run(void *user, vpu_error *err)
{
    setting *x = user;
    rounds_launch *r = &x->r;
    const exec_launch *l = r->launch;
    vpu_status st;

    x->scratch = l->scratch ? l->scratch : &x->own;
    x->a = exec_scratch_arena(x->scratch);
    r->threads = l->threads ? l->threads : exec_threads_create();
    r->prints = l->print ? print_log_create() : NULL;
    st = find_codes(r, x->a, err);
    if (st)
        return st;
    r->n_shaves = l->only_group ? 1 : l->how.n_shaves;
    r->shaves = arena_array(x->a, exec_shave, r->n_shaves);
    x->n_guards = cmx_guards(l, &x->c, x->a, &x->guards);
    if (r->profiled)
        start_profile(r, x->a);
    x->result->variant = r->variant;
    x->result->factor = l->kernel->variants[r->variant].factor;
    x->result->local_bytes = (uint32_t)x->c.total;
    x->result->one_buffer = cmx_has_phases(l->kernel) && x->c.copies == 1;
    if (r->sample)
        exec_sample_begin(r->sample, r->mem, r->n_shaves);
    r->turn = l->how.seed;
    x->result->n_groups = count_groups(l);
    for (uint32_t i = 0; i < r->n_shaves && !st; i++) {
        set_up_shave(r, i, &x->c, x->const_base, x->result->n_groups, x->a);
        r->shaves[i].guards = x->guards;
        r->shaves[i].n_guards = x->n_guards;
        st = exec_scratch_cache(x->scratch, i, r->desc, r->n_shaves,
                                &r->shaves[i].cache, err);
        if (st)
            break;
        mach_cache_set_places(r->shaves[i].cache, memory_places(r->mem));
        if (l->how.timing == EXEC_TRANSACTIONS)
            mach_cache_record(r->shaves[i].cache);
    }
    if (l->how.timing != EXEC_NO_TIMING)
        r->shaves[0].sample = r->sample;
    return st ? st : run_rounds(r, &x->c, x->result, x->a, err);
}

static void tear_down(setting *x)
{
    rounds_launch *r = &x->r;

    for (uint32_t i = 0; i < r->n_shaves && r->shaves; i++)
        str_free(&r->shaves[i].printed);
    if (!r->launch->threads)
        exec_threads_destroy(r->threads);
    print_log_destroy(r->prints);
    profile_free(r->profile);
    exec_scratch_free(&x->own);
    if (x->scratch)
        exec_scratch_give_back(x->scratch);
}

vpu_status exec_run(memory *mem, const mach_desc *desc, const exec_launch *l,
                    exec_result *result, vpu_error *err)
{
    setting x = {.r = {.launch = l, .desc = desc, .mem = mem},
                 .result = result};
    size_t n_buffers = memory_count(mem);
    vpu_status st = check_launch(l, desc, err);

    memset(result, 0, sizeof *result);
    if (!st)
        st = meet_observers(&x.r, err);
    if (st)
        return st;
    x.r.variant = sim_pick_variant(l->kernel, l->local);
    st = cmx_lay_out(l, x.r.variant, desc, mem, &x.c, err);
    if (!st)
        st = place_constants(&x.r, &x.const_base, err);
    if (st)
        return st;
    st = oom_guard(set_up_and_run, &x, err);
    tear_down(&x);
    memory_release(mem, n_buffers);
    return st;
}
