/* The steps of what a SHAVE has run; see settle.h. */
#include "sim/exec/settle.h"

#include <string.h>

#include "base/oom.h"

/* Compiled code logs what the cache model reads. */
_Static_assert(SIM_LOG_ENTRY(1, 2, 1) == MACH_ACCESS(1, 2, 1),
               "access log and cache model disagree");

void settle_note_store(const exec_shave *s, uint32_t addr, uint32_t bytes)
{
    EXEC_FOR_OBSERVERS(s, o, stored)
        o->stored(o->user, s->group, addr, bytes);
}

static void note_stores(const exec_shave *s)
{
    for (uint64_t k = 0; k < s->wg.log_n; k++)
        if (MACH_ACCESS_IS_STORE(s->log[k]))
            settle_note_store(s, MACH_ACCESS_ADDR(s->log[k]),
                              MACH_ACCESS_BYTES(s->log[k]));
}

void settle_sample(exec_shave *s, const uint64_t *list, uint64_t n)
{
    exec_sample_add(s->sample, memory_places(s->mem), list, n);
    if (s->sample->n == EXEC_SAMPLE_ACCESSES)
        s->sample = NULL;
}

static void look_up(exec_shave *s, const uint64_t *list, uint64_t n)
{
    if (s->sample && n)
        settle_sample(s, list, n);
    if (s->sees.stores)
        note_stores(s);
    if (s->profile)
        profile_feed(s->profile, s->cache, list, n);
    else if (exec_timed(s))
        mach_cache_run(s->cache, list, n);
}

/* A step of that kind at the queue's end. */
mach_step *settle_push(exec_shave *s, mach_step_kind kind)
{
    mach_step *step = mach_queue_push(s->queue, kind);

    if (!step)
        oom_raise(sizeof *step);
    return step;
}

/* flush: it is the launch's last, nothing but write-backs. */
const mach_step *settle_push_run(exec_shave *s, uint64_t cycles, bool flush)
{
    mach_step *step = settle_push(s, MACH_STEP_RUN);

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
        settle_push(s, MACH_STEP_GROUP)->id = group;
        *settle_push(s, MACH_STEP_RUN) = *like;
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
    settle_push(s, MACH_STEP_GROUP)->id = group;
    if (!cycles)
        return;
    step = settle_push_run(s, cycles, false);
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
    uint32_t n;

    if (!k || s->wg.row.ran[k].more || !joins_unlooked(s))
        return 0;
    if (*row <= k)
        *row = row_end(s, k);
    n = mach_cache_again(s->cache, s->log + s->log_from,
                         s->wg.row.ran[k].log_end - s->log_from, *row - k - 1);
    return n ? join(s, s->ran_group[k + 1], n) : 0;
}

/* The step of a group whose accesses are looked up. last: it is the SHAVE's
 * last group, and has a step more, of lines written back. */
static void settle_group(exec_shave *s, uint64_t group, uint64_t cycles,
                         bool last)
{
    if (exec_timed(s))
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
static void settle_groups(exec_shave *s)
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

void settle_log(exec_shave *s)
{
    settle_groups(s);
    look_up(s, s->log + s->log_from, s->wg.log_n - s->log_from);
    s->wg.log_n = s->log_from = 0;
}

/* Everything since the last step becomes one. */
void settle_run(exec_shave *s)
{
    settle_log(s);
    if (s->unstepped)
        settle_push(s, MACH_STEP_GROUP)->id = s->group;
    s->unstepped = false;
    s->joinable = NULL;
    if (!s->wg.cycles)
        return;
    if (s->wg.cycles > s->wg.max_cycles)
        fault_raise(FAULT_LIMIT, 0);
    if (exec_timed(s))
        settle_push_run(s, s->wg.cycles, false);
    charge(s, s->wg.cycles);
    s->wg.cycles = 0;
}
