/* The loop over a SHAVE's groups, and the hooks compiled code calls. */
#include "sim/exec/shave.h"

#include <string.h>

#include "base/oom.h"
#include "sim/exec/copy.h"
#include "sim/exec/order.h"
#include "sim/exec/print.h"
#include "sim/exec/settle.h"
#include "sim/machine/host.h"

enum {
    MAX_PRINTED = 4 << 20, /* bytes of printf output of one group */
    /* Groups of a round, and cycles behind which no other one begins: between
     * rounds progress is told, what groups have printed is passed on, and
     * somebody who wants no more of it is heard. */
    MOST_GROUPS = 2048,
    MOST_CYCLES = 1 << 20,
    FAR_CYCLES = 16 * MOST_CYCLES /* from the limit */
};

static exec_shave *shave_of(sim_wg *wg)
{
    return (exec_shave *)wg;
}

/* --- rows ---------------------------------------------------------------- */

/* The next n groups have ended, and another one runs. */
static void pass_groups(exec_shave *s, uint32_t n)
{
    s->group += n * s->stride;
    s->next += n * s->stride;
    s->wg.ids[SIM_ID_GROUP] += n * s->wg.row.stride;
    s->done += n;
    s->left -= n;
    s->n_unsettled += n;
}

/* The groups of the row's entries have ended, and another one runs. */
static void pass_in_row(exec_shave *s)
{
    for (; s->n_ran < s->wg.row.ended; s->n_ran++) {
        const sim_ran *ran = &s->wg.row.ran[s->n_ran];
        uint32_t n = ran->more + 1;

        s->ran_group[s->n_ran] = s->group;
        s->uncharged += n * ran->cycles;
        pass_groups(s, n);
    }
}

/* The running group is its row's last one. */
static void end_row(exec_shave *s)
{
    pass_in_row(s);
    s->wg.row.n = 0;
}

/* --- hooks --------------------------------------------------------------- */

void exec_flush(sim_wg *wg, uint64_t *log)
{
    exec_shave *s = shave_of(wg);

    (void)log;
    end_row(s);
    settle_log(s);
    if (atomic_load_explicit(s->stop, memory_order_relaxed))
        fault_raise(FAULT_LIMIT, 0);
}

static void note_copy(const exec_shave *s, const copy_shape *c)
{
    for (uint32_t plane = 0; plane < c->planes; plane++) {
        uint32_t at = c->dst + plane * c->dst_plane, left = c->bytes;

        for (; left; at += c->dst_pitch) {
            uint32_t n = left < c->dst_width ? left : c->dst_width;

            settle_note_store(s, at, n);
            left -= n;
        }
    }
}

/* What the transfer that was made last returns: an event given to it, or else
 * its own number. */
static uint32_t event_of(exec_shave *s, uint32_t given)
{
    if (!given || given >= s->transfers)
        return s->transfers;
    copy_join(&s->joined, given, s->transfers);
    return given;
}

uint32_t exec_dma(sim_wg *wg, uint64_t *log, const sim_dma *a)
{
    exec_shave *s = shave_of(wg);
    copy_shape c = copy_shape_of(a);
    copy_result done;
    mach_step *step;
    mach_walk ddr;
    uint32_t local;

    (void)log;
    settle_run(s);
    done = copy_run(&c, memory_window(s->mem));
    if (done)
        fault_raise(done == COPY_NO_WIDTH ? FAULT_COPY : FAULT_COPY_OUTSIDE,
                    a->line);
    if (s->sees.stores && !a->to_cmx)
        note_copy(s, &c);
    s->transfers++;
    if (!exec_timed(s))
        return event_of(s, a->event);
    ddr = copy_side(&c, !a->to_cmx);
    ddr.addr = mach_place_of(memory_places(s->mem), ddr.addr);
    local = (a->to_cmx ? c.dst : c.src) - s->cmx;
    step = settle_push(s, MACH_STEP_DMA);
    step->detail.dma =
        (mach_transfer){.bytes = (uint64_t)c.bytes * c.planes,
                        .lines = copy_lines(&c),
                        .to_cmx = a->to_cmx,
                        .ddr = ddr,
                        .local = local < s->fill_bytes ? local + 1 : 0,
                        .src_line = a->line};
    if (s->profile)
        profile_dma_step(s->profile, step->detail.dma.bytes);
    return event_of(s, a->event);
}

uint32_t exec_wait_end(const sim_wg *wg, uint32_t n)
{
    const exec_shave *s = (const exec_shave *)wg;

    return copy_wait_end(&s->joined, n < s->transfers ? n : s->transfers);
}

void exec_wait(sim_wg *wg, uint64_t *log, uint32_t n)
{
    exec_shave *s = shave_of(wg);
    uint32_t end = exec_wait_end(wg, n);

    (void)log;
    settle_run(s);
    copy_waited(&s->joined, end);
    if (exec_timed(s))
        settle_push(s, MACH_STEP_WAIT)->id = end;
    if (s->profile)
        profile_wait_step(s->profile);
}

void exec_touch(sim_wg *wg, uint32_t addr, uint32_t bytes, uint32_t is_store)
{
    exec_shave *s = shave_of(wg);

    settle_log(s);
    if (is_store && s->sees.stores)
        settle_note_store(s, addr, bytes);
    while (bytes && exec_timed(s)) {
        uint32_t n = 64 - addr % 64;

        n = n > bytes ? bytes : n;
        if (s->sample)
            settle_sample(s, &(uint64_t){MACH_ACCESS(addr, n, is_store)}, 1);
        if (is_store)
            mach_cache_store(s->cache, addr, n);
        else
            mach_cache_load(s->cache, addr, n);
        addr += n;
        bytes -= n;
    }
    if (s->profile)
        profile_touched(s->profile, s->cache);
}

void exec_print(sim_wg *wg, uint32_t format, uint32_t args, uint32_t n)
{
    exec_shave *s = shave_of(wg);

    if (s->printed.n >= MAX_PRINTED)
        return;
    if (s->launch->how.print_prefix)
        print_format_prefixed(memory_window(s->mem), wg->ids + SIM_ID_GROUP,
                              format, args, n, &s->printed);
    else
        print_format(memory_window(s->mem), format, args, n, &s->printed);
    if (s->sees.prints && s->launch->print) { /* at once: one thread */
        s->launch->print(s->launch->print_user, s->printed.data, s->printed.n);
        s->printed.n = 0;
    }
    if (s->printed.n >= MAX_PRINTED)
        str_printf(&s->printed,
                   "\n[printf: more than %d bytes of one work-group: the rest "
                   "is left out]\n",
                   MAX_PRINTED);
}

void exec_divergence(sim_wg *wg, uint32_t line)
{
    (void)wg;
    fault_raise(FAULT_DIVERGENCE, line);
}

void exec_unreachable(sim_wg *wg, uint32_t line)
{
    (void)wg;
    fault_raise(FAULT_UNREACHABLE, line);
}

void exec_limit(sim_wg *wg)
{
    (void)wg;
    fault_raise(FAULT_LIMIT, 0);
}

static void hook_line(sim_wg *wg, const char *site, uint32_t x, uint32_t y,
                      uint32_t z)
{
    const exec_shave *s = shave_of(wg);
    const uint32_t id[3] = {x, y, z};

    EXEC_FOR_OBSERVERS(s, o, line)
        o->line(o->user, site, id);
}

static void hook_var(sim_wg *wg, const char *what, uint8_t *at)
{
    const exec_shave *s = shave_of(wg);

    EXEC_FOR_OBSERVERS(s, o, var)
        o->var(o->user, what, at);
}

void exec_leave(void)
{
    fault_raise(FAULT_STOPPED, 0);
}

const sim_hooks exec_hooks = {
#define HOOK_EVERY(returns, name, parameters) .name = exec_##name,
#define HOOK_COPIES(returns, name, parameters) .name = exec_##name,
#include "sim/compiler/abi/hooks.def"
    .line = hook_line, .var = hook_var};

/* --- groups -------------------------------------------------------------- */

static bool present(const exec_shave_code *c)
{
    return c->fn || c->interp;
}

static void on_bundle(void *user, const isa_function *f, uint64_t cycle,
                      const isa_instr *in, uint32_t n)
{
    const exec_shave *s = user;

    EXEC_FOR_OBSERVERS(s, o, bundle)
        o->bundle(o->user, f, cycle, in, n);
}

/* Does an observer look at the bundles of this group? */
static bool sees_bundles(const exec_shave *s)
{
    EXEC_FOR_OBSERVERS(s, o, bundle)
        return true;
    return false;
}

static uint64_t interpret(exec_shave *s, mach_phase p, const interp_code *code,
                          const uint8_t *args)
{
    interp_job job = {.hooks = &exec_hooks,
                      .wg = &s->wg,
                      .window = memory_window(s->mem),
                      .args = args,
                      .log = s->log,
                      .scratch = s->interpreted,
                      .watch = {.profile = s->profile,
                                .bundle = sees_bundles(s) ? on_bundle : NULL,
                                .user = s}};

    if (s->profile)
        profile_phase(s->profile, s->group, p);
    return interp_group(code, &job);
}

static void phase(exec_shave *s, mach_phase p, const exec_shave_code *code,
                  const uint8_t *args)
{
    bool named = present(&s->pre) || present(&s->post);
    uint64_t cycles = 0;

    if (!present(code))
        return;
    if (named && exec_timed(s))
        settle_push(s, MACH_STEP_PHASE)->id = p;
    s->transfers = 0;
    s->joined = (copy_joined){.n = 0};
    s->phase = p;
    EXEC_FOR_OBSERVERS(s, o, phase_begin)
        o->phase_begin(o->user, &s->wg, p,
                       code->interp ? interp_function(code->interp) : NULL);
    s->wg.row.n = 0; /* the group is alone */
    if (code->interp)
        cycles = interpret(s, p, code->interp, args);
    else
        code->fn(&s->wg, memory_window(s->mem), args, s->log);
    s->wg.row.ended = 0;
    settle_run(s);
    EXEC_FOR_OBSERVERS(s, o, phase_end)
        o->phase_end(o->user, &s->wg, p, cycles);
}

/* What the group printed so far joins the others'. */
static void end_prints(exec_shave *s)
{
    if (s->printed.n && s->prints)
        print_log_add(s->prints, s->group, s->printed.data, s->printed.n);
    s->printed.n = 0;
}

static void overrun(exec_shave *s, const cmx_guard *g)
{
    const uint8_t *cmx = memory_window(s->mem) + s->cmx;
    uint32_t at = g->from;

    while (cmx[at] == CMX_FILL)
        at++;
    if (s->broken)
        return;
    s->broken = g;
    s->broken_group = s->group;
    s->broken_at = s->cmx + at;
    if (s->launch->how.overruns == EXEC_OVERRUN_NOTE)
        return;
    s->scope.address = s->broken_at;
    fault_raise(FAULT_LOCAL, 0);
}

/* Nobody wrote behind an array. Groups may be a hundred nanoseconds long. */
static void check_guards(exec_shave *s)
{
    const uint8_t *cmx = memory_window(s->mem) + s->cmx;

    for (uint32_t k = 0; k < s->n_guards; k++) {
        const uint8_t *p = cmx + s->guards[k].from;
        uint64_t all = UINT64_MAX, word;

        for (uint32_t i = 0; i < SIM_LOCAL_GUARD; i += sizeof word) {
            memcpy(&word, p + i, sizeof word);
            all &= word;
        }
        for (uint32_t i = SIM_LOCAL_GUARD; i < s->guards[k].bytes; i++)
            all &= p[i] | ~(uint64_t)UINT8_MAX;
        if (all != UINT64_MAX)
            overrun(s, &s->guards[k]);
    }
}

/* Group i of the window among all of the launch. */
static uint64_t group_in(const exec_window *w, const uint32_t groups[3],
                         uint64_t i)
{
    uint64_t x = w->first[0] + i % w->n[0];
    uint64_t y = w->first[1] + i / w->n[0] % w->n[1];
    uint64_t z = w->first[2] + i / w->n[0] / w->n[1];

    return (z * groups[1] + y) * groups[0] + x;
}

/* At place s->next of an order that is not plain. */
static uint64_t next_group(const exec_shave *s)
{
    const exec_launch *l = s->launch;
    uint64_t i;

    if (l->only_group)
        return *l->only_group;
    if (l->list)
        return l->list[s->next];
    i = exec_order_at(l->how.order, l->how.seed, s->n_groups, s->next);
    return l->window ? group_in(l->window, l->groups, i) : i;
}

/* The SHAVE's next group begins. */
static INLINE void begin_group(exec_shave *s)
{
    const uint32_t *n = s->launch->groups;
    uint32_t *at = s->wg.ids + SIM_ID_GROUP;
    uint64_t before = s->group;

    s->group = s->plain ? s->next : next_group(s);
    s->running = true;
    if (s->done && s->group == before + 1 && at[0] + 1 < n[0]) {
        at[0]++; /* divisions take longer than small groups */
    } else {
        at[0] = (uint32_t)(s->group % n[0]);
        at[1] = (uint32_t)(s->group / n[0] % n[1]);
        at[2] = (uint32_t)(s->group / n[0] / n[1]);
    }
    if (s->fill_bytes)
        memset(memory_window(s->mem) + s->cmx, CMX_FILL, s->fill_bytes);
}

static void run_group(exec_shave *s)
{
    const uint8_t *args = s->args[s->done & 1];

    begin_group(s);
    settle_push(s, MACH_STEP_GROUP)->id = s->group;
    EXEC_FOR_OBSERVERS(s, o, group_begin)
        o->group_begin(o->user, &s->wg, s->next, s->group, args);
    phase(s, MACH_PRE, &s->pre, args);
    phase(s, MACH_COMP, &s->main, args);
    phase(s, MACH_POST, &s->post, args);
    if (s->n_guards)
        check_guards(s);
    end_prints(s);
    EXEC_FOR_OBSERVERS(s, o, group_end)
        o->group_end(o->user, &s->wg);
    s->done++;
    s->running = false;
    s->next += s->stride;
}

/* Is there room in the log for another group like the last one? */
static bool log_has_room(const exec_shave *s, uint64_t before)
{
    return s->wg.log_n + 2 * (s->wg.log_n - before) <=
           SIM_LOG_ENTRIES - SIM_LOG_AT_ONCE;
}

/* How many groups may still run before the queue has the steps it may have, if
 * each makes two. Of groups in rows most share them with others. */
static INLINE uint32_t groups_to_room(const exec_shave *s)
{
    uint32_t n = s->queue->n - s->queue->head;
    uint32_t left = n < s->room ? s->room - n : 0;

    left = s->rows && s->far ? 4 * left : (left + 1) / 2;
    return left > s->n_unsettled ? left - s->n_unsettled : 0;
}

static INLINE bool has_next(const exec_shave *s)
{
    return s->next < s->end && s->left &&
           (!s->batches || s->charged + s->uncharged < MOST_CYCLES) &&
           groups_to_room(s);
}

static void stop_if_told(const exec_shave *s)
{
    if (atomic_load_explicit(s->stop, memory_order_relaxed))
        fault_raise(FAULT_LIMIT, 0);
}

/* The watch may change max_cycles at any time, so a charge is an atomic
 * operation, which takes as long as a small group: one for all of a batch. */
static void note_cycles(exec_shave *s)
{
    uint64_t left =
        atomic_load_explicit(&s->wg.max_cycles, memory_order_relaxed);

    s->uncharged += s->wg.cycles;
    if (s->uncharged > left) { /* told to stop, it has ended all the same */
        s->running &= !atomic_load_explicit(s->stop, memory_order_relaxed);
        fault_raise(FAULT_LIMIT, 0);
    }
    s->wg.cycles = 0;
    s->unstepped = false;
    s->n_unsettled++;
}

static void lessen(uint64_t *n, uint64_t most)
{
    *n = most < *n ? most : *n;
}

/* How many groups the next call may run: as many as would run without a look
 * at anything else. */
static uint64_t row_length(const exec_shave *s)
{
    uint64_t n = s->left;

    lessen(&n, groups_to_room(s));
    lessen(&n, s->launch->groups[0] - s->wg.ids[SIM_ID_GROUP]);
    lessen(&n, s->end - s->next);
    if (n > 1 && s->stride > 1) {
        lessen(&n, (s->end - s->next - 1) / s->stride + 1);
        lessen(&n, (s->launch->groups[0] - s->wg.ids[SIM_ID_GROUP] - 1) /
                           s->stride +
                       1);
    }
    return n;
}

/* How many entries these may have. */
static uint32_t row_entries(const exec_shave *s, uint64_t n)
{
    uint64_t room = SIM_LOG_ENTRIES - SIM_LOG_AT_ONCE;

    lessen(&n, SIM_ROW - s->n_ran);
    if (n > 1 && s->log_each) {
        room = room > s->wg.log_n ? room - s->wg.log_n : 0;
        lessen(&n, room / s->log_each > 1 ? room / s->log_each - 1 : 1);
    }
    return (uint32_t)n;
}

/* The row that begins with the group that begins. */
static void begin_row(exec_shave *s)
{
    uint64_t left =
        atomic_load_explicit(&s->wg.max_cycles, memory_order_relaxed);
    uint64_t most = MOST_CYCLES - s->charged - s->uncharged;
    uint64_t n = s->rows ? row_length(s) : 1;

    left = left > s->uncharged ? left - s->uncharged : 0;
    s->wg.row.most = left < most ? left + 1 : most;
    s->wg.row.n = s->n_ran + row_entries(s, n);
    s->wg.row.moved = n > 2 ? (uint32_t)n - 2 : 0;
    s->wg.row.stride = (uint32_t)s->stride;
}

/* The call has come back; `before`: where its accesses begin in the log. The
 * last group of its row is still the one that runs. Returns where its accesses
 * begin, or those of the entry it belongs to. */
static uint64_t end_call(exec_shave *s, uint64_t before)
{
    sim_row *row = &s->wg.row;
    uint32_t last = row->ended - 1;

    if (row->ended <= s->n_ran) { /* it has written no entries */
        row->ran[s->n_ran] = (sim_ran){s->wg.cycles, (uint32_t)s->wg.log_n, 0};
        last = s->n_ran;
    }
    row->ended = last;
    if (last > s->n_ran)
        before = row->ran[last - 1].log_end;
    end_row(s);
    s->ran_group[last] = s->group;
    if (row->ran[last].more) {
        s->uncharged += row->ran[last].more * row->ran[last].cycles;
        pass_groups(s, row->ran[last].more);
    }
    if (before <= s->wg.log_n)
        s->log_each = (uint32_t)(s->wg.log_n - before);
    return before;
}

/* Groups of which only the steps matter, and no callback, phase or limit. */
static void run_batch(exec_shave *s)
{
    uint8_t *window = memory_window(s->mem);
    uint64_t before;

    s->phase = MACH_COMP;
    do {
        before = s->wg.log_n;
        stop_if_told(s);
        begin_group(s);
        begin_row(s);
        s->transfers = 0;
        s->joined.n = 0;
        s->unstepped = true;
        s->main.fn(&s->wg, window, s->args[s->done & 1], s->log);
        before = end_call(s, before);
        if (s->unstepped) {
            note_cycles(s);
            s->wg.row.ended = ++s->n_ran;
        } else {
            settle_run(s);
        }
        if (s->n_guards)
            check_guards(s);
        end_prints(s);
        s->done++;
        s->left--;
        s->running = false;
        s->next += s->stride;
    } while (s->n_ran < SIM_ROW && before <= s->wg.log_n &&
             log_has_room(s, before) && has_next(s));
    settle_log(s);
}

/* A group stopped. An observer may be more interested in the rest than in this
 * one: then the launch goes on. */
static bool pass_over(exec_shave *s)
{
    static const struct {
        fault_kind fault;
        exec_stop_kind stop;
    } kinds[] = {{FAULT_ACCESS, EXEC_STOP_ACCESS},
                 {FAULT_DIVERGENCE, EXEC_STOP_DIVERGENCE},
                 {FAULT_COPY, EXEC_STOP_COPY},
                 {FAULT_COPY_OUTSIDE, EXEC_STOP_COPY}};
    exec_stop why = {.address = s->scope.address,
                     .line = s->scope.line,
                     .write = s->scope.write};

    for (size_t k = 0; s->sees.stops && k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].fault == s->scope.kind) {
            why.kind = kinds[k].stop;
            s->scope.kind = FAULT_NONE;
            s->wg.cycles = 0;
            end_prints(s);
            s->running = false;
            s->done++;
            s->next += s->stride;
            EXEC_FOR_OBSERVERS(s, o, stopped)
                o->stopped(o->user, &s->wg, &why);
            return true;
        }
    return false;
}

/* The host is short of memory somewhere below exec_shave_run. */
static void leave_short(oom_scope *scope, size_t wanted)
{
    (void)scope;
    (void)wanted;
    fault_raise(FAULT_MEMORY, 0);
}

/* A fault comes back here, and so does a shortage of memory, which has left the
 * scope: it is entered anew. */
static void run_groups(exec_shave *s, oom_scope *short_of)
{
    if (sigsetjmp(s->scope.env, 0)) {
        bool is_short = s->scope.kind == FAULT_MEMORY;

        end_row(s);

        if (is_short)
            oom_enter(short_of);
        if (!pass_over(s)) {
            fault_arm(NULL);
            s->printed.n = is_short ? 0 : s->printed.n;
            end_prints(s);
            return;
        }
    }
    fault_arm(&s->scope);
    while (has_next(s)) {
        stop_if_told(s);
        if (s->batches)
            run_batch(s);
        else
            run_group(s);
    }
    s->queue->ended = s->next >= s->end;
    if (s->queue->ended && s->done && exec_timed(s)) {
        mach_cache_flush(s->cache); /* dirty lines leave the cache */
        settle_push_run(s, s->wg.cycles, true);
    }
    fault_arm(NULL);
}

/* Groups see each other's atomics by rounds, and the SHAVE's own limit may be
 * reached before the clock's where a round is longer. */
static bool is_far(const exec_shave *s)
{
    return !s->launch->kernel->global_atomics &&
           atomic_load_explicit(&s->wg.max_cycles, memory_order_relaxed) >
               FAR_CYCLES;
}

void exec_shave_run(exec_shave *s)
{
    oom_scope short_of = {.leave = leave_short};
    uint32_t before = s->queue->n - s->queue->head;

    s->left = MOST_GROUPS;
    s->charged = 0;
    s->joinable = NULL; /* the engine may have begun it */
    s->far = is_far(s);
    if (before < s->room) /* without, the queue grows step by step */
        mach_queue_reserve(s->queue, s->room - before);
    oom_enter(&short_of);
    run_groups(s, &short_of);
    oom_exit(&short_of);
    if (s->record)
        mach_record_take(s->record, s->recorded_as,
                         s->queue->items + s->queue->head + before,
                         s->queue->n - s->queue->head - before);
}
