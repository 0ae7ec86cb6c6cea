/* The loop over a SHAVE's groups, and the hooks compiled code calls. */
#include "sim/exec/shave.h"

#include <string.h>

#include "base/oom.h"
#include "sim/exec/copy.h"
#include "sim/exec/order.h"
#include "sim/exec/print.h"
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

/* Compiled code logs what the cache model reads. */
_Static_assert(SIM_LOG_ENTRY(1, 2, 1) == MACH_ACCESS(1, 2, 1),
               "access log and cache model disagree");

static exec_shave *shave_of(sim_wg *wg)
{
    return (exec_shave *)wg;
}

static bool timed(const exec_shave *s)
{
    return s->launch->how.timing != EXEC_NO_TIMING;
}

/* For each observer that has this callback and looks at the group. */
#define FOR_OBSERVERS(s, o, callback)                                         \
    for (uint32_t each = 0; each < (s)->launch->n_observers; each++)          \
        for (const exec_observer *o = observer_of(s, each); o && o->callback; \
             o = NULL)

static const exec_observer *observer_of(const exec_shave *s, uint32_t i)
{
    const exec_observer *o = s->launch->observers[i];

    return !o->group || *o->group == s->group ? o : NULL;
}

static void note_store(const exec_shave *s, uint32_t addr, uint32_t bytes)
{
    FOR_OBSERVERS(s, o, stored)
        o->stored(o->user, s->group, addr, bytes);
}

static void note_stores(const exec_shave *s)
{
    for (uint64_t k = 0; k < s->wg.log_n; k++)
        if (MACH_ACCESS_IS_STORE(s->log[k]))
            note_store(s, MACH_ACCESS_ADDR(s->log[k]),
                       MACH_ACCESS_BYTES(s->log[k]));
}

static void add_to_sample(exec_shave *s, const uint64_t *list, uint64_t n)
{
    exec_sample_add(s->sample, memory_places(s->mem), list, n);
    if (s->sample->n == EXEC_SAMPLE_ACCESSES)
        s->sample = NULL;
}

static void look_up(exec_shave *s, const uint64_t *list, uint64_t n)
{
    if (s->sample && n)
        add_to_sample(s, list, n);
    if (s->sees.stores)
        note_stores(s);
    if (s->profile)
        profile_feed(s->profile, s->cache, list, n);
    else if (timed(s))
        mach_cache_run(s->cache, list, n);
}

/* A step of that kind at the queue's end. */
static mach_step *push(exec_shave *s, mach_step_kind kind)
{
    mach_step *step = mach_queue_push(s->queue, kind);

    if (!step)
        oom_raise(sizeof *step);
    return step;
}

/* flush: it is the launch's last, nothing but write-backs. */
static const mach_step *push_run(exec_shave *s, uint64_t cycles, bool flush)
{
    mach_step *step = push(s, MACH_STEP_RUN);

    step->issue_cycles = cycles;
    if (s->launch->how.timing == EXEC_TRANSACTIONS &&
        !mach_cache_take_misses(s->cache, step))
        fault_raise(FAULT_MISSES, 0);
    if (!s->profile)
        mach_cache_take_to(s->cache, &step->detail.mem);
    else if (flush)
        step->detail.mem = profile_flush_step(s->profile, s->cache);
    else
        step->detail.mem = profile_run_step(s->profile);
    return step;
}

void exec_charge(sim_wg *wg, uint64_t cycles)
{
    uint64_t left = atomic_load(&wg->max_cycles);

    /* The watchdog may make it 0 at any time, which has to stay. */
    while (left != UINT64_MAX &&
           !atomic_compare_exchange_weak(
               &wg->max_cycles, &left, left - (cycles < left ? cycles : left)))
        ;
}

static void charge(exec_shave *s, uint64_t cycles)
{
    s->charged += cycles;
    exec_charge(&s->wg, cycles);
}

/* --- steps of a batch ---------------------------------------------------- */

static bool did_like(exec_shave *s, const mach_step *like, uint64_t cycles)
{
    return like->issue_cycles == cycles &&
           mach_cache_take_same(s->cache, &like->detail.mem);
}

/* What the group did, where some group has done the same and no line of DDR was
 * moved; the cache has forgotten it then. NULL: none has. */
static const mach_step *find_like(exec_shave *s, uint64_t cycles)
{
    const mach_step *beyond = &s->likes[EXEC_LIKES];

    if (s->joinable == beyond && did_like(s, beyond, cycles))
        return beyond;
    for (uint32_t n = 0, k = s->last_like; n < s->n_likes; n++, k++) {
        k = k < s->n_likes ? k : 0;
        if (did_like(s, &s->likes[k], cycles)) {
            s->last_like = k;
            return &s->likes[k];
        }
    }
    return NULL;
}

/* A step that does not stay is in the queue itself; so are those of rounds on
 * whose length something hangs, since steps are counted there. */
static void push_like(exec_shave *s, uint64_t group, const mach_step *like)
{
    bool joins = s->joinable == like && mach_queue_join(s->queue, group);

    s->joinable = like;
    if (joins)
        return;
    if (like == &s->likes[EXEC_LIKES] || !s->far) {
        push(s, MACH_STEP_GROUP)->id = group;
        *push(s, MACH_STEP_RUN) = *like;
    } else if (!mach_queue_push_like(s->queue, group, like)) {
        oom_raise(sizeof *like);
    }
}

/* The queue's last group, which is new there, does what others may do. */
static void keep_like(exec_shave *s, uint64_t group)
{
    mach_queue *q = s->queue;
    mach_step *like = &s->likes[s->n_likes];

    *like = q->items[q->n - 1];
    if (s->n_likes < EXEC_LIKES)
        s->last_like = s->n_likes++;
    q->n -= 2;
    push_like(s, group, like);
}

/* joins: the group's steps are those made here, and no more. */
static void make_steps(exec_shave *s, uint64_t group, uint64_t cycles,
                       bool joins)
{
    const mach_step *step = joins ? find_like(s, cycles) : NULL;

    if (step) {
        push_like(s, group, step);
        return;
    }
    s->joinable = NULL;
    push(s, MACH_STEP_GROUP)->id = group;
    if (!cycles)
        return;
    step = push_run(s, cycles, false);
    if (joins && !mach_moves_lines(&step->detail.mem))
        keep_like(s, group);
}

/* The end of the groups from s->wg.row.ran[k] on that have as many cycles and
 * accesses each, and numbers in a row; without the last one of all. None but
 * the last of them has others behind it that have no entry. */
static uint32_t row_end(const exec_shave *s, uint32_t k)
{
    const sim_ran *ran = s->wg.row.ran, like = ran[k];
    const uint64_t *group = s->ran_group;
    uint64_t distance = group[k] - group[k - 1];
    uint32_t entries = like.log_end - ran[k - 1].log_end;
    uint32_t end = s->n_ran - (s->next >= s->end), n = k + 1;

    while (n < end && !((ran[n].cycles ^ like.cycles) |
                        (group[n] - group[n - 1] - distance) |
                        (ran[n].log_end - ran[n - 1].log_end - entries)))
        n++;
    return n;
}

/* Whether groups like the queue's last one may join it without being looked
 * up. */
static bool joins_unlooked(const exec_shave *s)
{
    return s->joinable && !s->sample && !s->joinable->detail.mem.load_l2_hits;
}

/* The next n groups join the queue's last one, the first of them `group`.
 * Returns how many have. */
static uint32_t join(exec_shave *s, uint64_t group, uint32_t n)
{
    if (!n || !mach_queue_join(s->queue, group))
        return 0;
    return mach_queue_join_more(s->queue, n - 1) ? n : 1;
}

/* Most small groups touch the lines that the one before did. Returns how many
 * behind s->wg.row.ran[k] join the queue's last group, the k-th or one like it,
 * without being looked up. *row: the end of a row found before. */
static uint32_t join_entries(exec_shave *s, uint32_t k, uint32_t *row)
{
    if (!k || s->wg.row.ran[k].more || !joins_unlooked(s))
        return 0;
    if (*row <= k)
        *row = row_end(s, k);
    return join(s, s->ran_group[k + 1],
                mach_cache_again(s->cache, s->log + s->log_from,
                                 s->wg.row.ran[k].log_end - s->log_from,
                                 *row - k - 1));
}

/* The step of a group whose accesses are looked up. last: it is the SHAVE's
 * last group, and has a step more, of lines written back. */
static void settle_group(exec_shave *s, uint64_t group, uint64_t cycles,
                         bool last)
{
    if (timed(s))
        make_steps(s, group, cycles, s->joins && cycles && !last);
}

static void move(uint64_t *list, const uint32_t *by, uint32_t n, uint32_t times)
{
    for (uint32_t i = 0; i < n; i++)
        list[i] = MACH_ACCESS(MACH_ACCESS_ADDR(list[i]) + times * by[i],
                              MACH_ACCESS_BYTES(list[i]),
                              MACH_ACCESS_IS_STORE(list[i]));
}

/* Groups of a row whose accesses go on evenly. */
typedef struct {
    uint64_t list[SIM_MOVED]; /* those of the group settled last */
    uint32_t by[SIM_MOVED], n;
    bool settles;           /* mach_cache_settles */
    const mach_step *quiet; /* what one does that asks for the lines of the one
                               before; NULL: not known */
} moved_row;

static void begin_moved(const exec_shave *s, uint32_t k, moved_row *m)
{
    const sim_ran *ran = &s->wg.row.ran[k];
    const uint64_t *second = s->log + ran[-1].log_end;

    m->n = ran->log_end - ran[-1].log_end;
    for (uint32_t i = 0; i < m->n; i++)
        m->by[i] = MACH_ACCESS_ADDR(second[i]) -
                   MACH_ACCESS_ADDR(second[i - (int64_t)m->n]);
    memcpy(m->list, second, m->n * sizeof *second);
    m->settles = mach_cache_settles(s->cache, m->list, m->n);
    m->quiet = NULL;
}

/* Of the next groups of the row, `most` at most, those that ask for the lines
 * of the one settled last: they need not be looked up. Returns how many. */
static uint32_t settle_quiet(exec_shave *s, moved_row *m, uint64_t group,
                             uint32_t most)
{
    bool joins = joins_unlooked(s);
    uint32_t n;

    if (!most || !(joins || m->quiet))
        return 0;
    n = mach_cache_moved(s->cache, m->list, m->by, m->n, most);
    /* An access of two lines would count twice: here none is. */
    if (n && joins && m->settles && s->joinable != &s->likes[EXEC_LIKES])
        m->quiet = s->joinable;
    if (joins || !n)
        return join(s, group, n);
    push_like(s, group, m->quiet);
    return 1 + join(s, group + s->stride, n - 1);
}

/* The groups behind s->wg.row.ran[k] that have no entry; ends: the last of them
 * is the SHAVE's. */
static void settle_moved(exec_shave *s, uint32_t k, bool ends)
{
    const sim_ran *ran = &s->wg.row.ran[k];
    uint64_t group = s->ran_group[k] + s->stride;
    moved_row m;

    begin_moved(s, k, &m);
    for (uint32_t left = ran->more; left;) {
        uint32_t n = settle_quiet(s, &m, group, left - ends);

        left -= n;
        group += n * s->stride;
        if (!left)
            return;
        move(m.list, m.by, m.n, n + 1);
        look_up(s, m.list, m.n);
        settle_group(s, group, ran->cycles, ends && left == 1);
        left--;
        group += s->stride;
    }
}

/* Makes the steps of the groups that have run. */
static void settle(exec_shave *s)
{
    uint32_t row = 0;

    for (uint32_t k = 0; k < s->n_ran; k++) {
        const sim_ran *ran = &s->wg.row.ran[k];
        bool ends = k + 1 == s->n_ran && s->next >= s->end;

        look_up(s, s->log + s->log_from, ran->log_end - s->log_from);
        settle_group(s, s->ran_group[k], ran->cycles, ends && !ran->more);
        k += join_entries(s, k, &row);
        ran = &s->wg.row.ran[k];
        ends = k + 1 == s->n_ran && s->next >= s->end;
        if (ran->more)
            settle_moved(s, k, ends);
        s->log_from = ran->log_end;
    }
    if (!s->n_ran)
        return;
    s->n_ran = s->n_unsettled = s->wg.row.ended = 0;
    charge(s, s->uncharged);
    s->uncharged = 0;
}

static void feed_cache(exec_shave *s)
{
    settle(s);
    look_up(s, s->log + s->log_from, s->wg.log_n - s->log_from);
    s->wg.log_n = s->log_from = 0;
}

/* Everything since the last step becomes one. */
static void end_run(exec_shave *s)
{
    feed_cache(s);
    if (s->unstepped)
        push(s, MACH_STEP_GROUP)->id = s->group;
    s->unstepped = false;
    s->joinable = NULL;
    if (!s->wg.cycles)
        return;
    if (s->wg.cycles > s->wg.max_cycles)
        fault_raise(FAULT_LIMIT, 0);
    if (timed(s))
        push_run(s, s->wg.cycles, false);
    charge(s, s->wg.cycles);
    s->wg.cycles = 0;
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
    feed_cache(s);
    if (atomic_load_explicit(s->stop, memory_order_relaxed))
        fault_raise(FAULT_LIMIT, 0);
}

static void note_copy(const exec_shave *s, const copy_shape *c)
{
    for (uint32_t plane = 0; plane < c->planes; plane++) {
        uint32_t at = c->dst + plane * c->dst_plane, left = c->bytes;

        for (; left; at += c->dst_pitch) {
            uint32_t n = left < c->dst_width ? left : c->dst_width;

            note_store(s, at, n);
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
    end_run(s);
    done = copy_run(&c, memory_window(s->mem));
    if (done)
        fault_raise(done == COPY_NO_WIDTH ? FAULT_COPY : FAULT_COPY_OUTSIDE,
                    a->line);
    if (s->sees.stores && !a->to_cmx)
        note_copy(s, &c);
    s->transfers++;
    if (!timed(s))
        return event_of(s, a->event);
    ddr = copy_side(&c, !a->to_cmx);
    ddr.addr = mach_place_of(memory_places(s->mem), ddr.addr);
    local = (a->to_cmx ? c.dst : c.src) - s->cmx;
    step = push(s, MACH_STEP_DMA);
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
    end_run(s);
    copy_waited(&s->joined, end);
    if (timed(s))
        push(s, MACH_STEP_WAIT)->id = end;
    if (s->profile)
        profile_wait_step(s->profile);
}

void exec_touch(sim_wg *wg, uint32_t addr, uint32_t bytes, uint32_t is_store)
{
    exec_shave *s = shave_of(wg);

    feed_cache(s);
    if (is_store && s->sees.stores)
        note_store(s, addr, bytes);
    while (bytes && timed(s)) {
        uint32_t n = 64 - addr % 64;

        n = n > bytes ? bytes : n;
        if (s->sample)
            add_to_sample(s, &(uint64_t){MACH_ACCESS(addr, n, is_store)}, 1);
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

    FOR_OBSERVERS(s, o, line)
        o->line(o->user, site, id);
}

static void hook_var(sim_wg *wg, const char *what, uint8_t *at)
{
    const exec_shave *s = shave_of(wg);

    FOR_OBSERVERS(s, o, var)
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

    FOR_OBSERVERS(s, o, bundle)
        o->bundle(o->user, f, cycle, in, n);
}

/* Does an observer look at the bundles of this group? */
static bool sees_bundles(const exec_shave *s)
{
    FOR_OBSERVERS(s, o, bundle)
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
    if (named && timed(s))
        push(s, MACH_STEP_PHASE)->id = p;
    s->transfers = 0;
    s->joined = (copy_joined){.n = 0};
    s->phase = p;
    FOR_OBSERVERS(s, o, phase_begin)
        o->phase_begin(o->user, &s->wg, p,
                       code->interp ? interp_function(code->interp) : NULL);
    s->wg.row.n = 0; /* the group is alone */
    if (code->interp)
        cycles = interpret(s, p, code->interp, args);
    else
        code->fn(&s->wg, memory_window(s->mem), args, s->log);
    s->wg.row.ended = 0;
    end_run(s);
    FOR_OBSERVERS(s, o, phase_end)
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
    push(s, MACH_STEP_GROUP)->id = s->group;
    FOR_OBSERVERS(s, o, group_begin)
        o->group_begin(o->user, &s->wg, s->next, s->group, args);
    phase(s, MACH_PRE, &s->pre, args);
    phase(s, MACH_COMP, &s->main, args);
    phase(s, MACH_POST, &s->post, args);
    if (s->n_guards)
        check_guards(s);
    end_prints(s);
    FOR_OBSERVERS(s, o, group_end)
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
            end_run(s);
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
    feed_cache(s);
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
            FOR_OBSERVERS(s, o, stopped)
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
    if (s->queue->ended && s->done && timed(s)) {
        mach_cache_flush(s->cache); /* dirty lines leave the cache */
        push_run(s, s->wg.cycles, true);
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
    oom_enter(&short_of);
    run_groups(s, &short_of);
    oom_exit(&short_of);
    if (s->record)
        mach_record_take(s->record, s->recorded_as,
                         s->queue->items + s->queue->head + before,
                         s->queue->n - s->queue->head - before);
}
