/* A use is written when the next but one of its buffers begins: a SHAVE begins
 * its phases ahead of the common clock, so transfers of the use before may end
 * later than what is told first. */
#include "sim/machine/emit_local.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/machine/emit_series.h"

enum { N_SLOTS = 2, N_WINDOWS = 256, FIRST_LOG = 4 };

typedef struct {
    bool open;
    uint64_t group, begin, end;
    uint64_t limit; /* the next use begins there; 0 = not yet known */
} use;

typedef struct {
    use once, slots[N_SLOTS], before[N_SLOTS];
    uint64_t n_groups; /* begun */
    uint32_t running;  /* slot of the phase that runs */
    trc_track once_track, slot_tracks[N_SLOTS];
} shave_local;

struct emit_local {
    trc_writer *w;
    uint64_t start;
    uint32_t n_shaves;
    bool merged;
    uint32_t once_bytes, slot_bytes;
    uint32_t budget; /* bytes a group may use */
    trc_track device;
    emit_series in_use; /* byte cycles by SHAVE */
    shave_local shaves[MACH_MAX_SHAVES];
};

static void count_bytes(emit_local *m, const mach_launch *l)
{
    uint64_t known = 0;

    for (uint32_t i = 0; i < l->n_locals; i++) {
        uint32_t n = l->locals[i].bytes;

        if (l->locals[i].doubled)
            m->slot_bytes += n;
        known += l->locals[i].doubled ? 2 * (uint64_t)n : n;
    }
    /* What alignment adds, or nobody named, is there once. */
    m->once_bytes = l->local_bytes - 2 * m->slot_bytes;
    if (known > l->local_bytes) {
        m->once_bytes = l->local_bytes;
        m->slot_bytes = 0;
    }
}

emit_local *emit_local_create(trc_writer *w, trc_track device,
                              const mach_launch *launch, uint32_t budget,
                              bool merged)
{
    emit_local *m = launch->local_bytes ? calloc(1, sizeof *m) : NULL;
    char name[32];

    if (!m)
        return NULL;
    m->w = w;
    m->start = launch->start_cycle;
    m->n_shaves = launch->n_shaves;
    m->merged = merged;
    m->budget = budget;
    m->device = device;
    if (!merged && budget)
        emit_series_init(&m->in_use, m->n_shaves, N_WINDOWS, FIRST_LOG);
    count_bytes(m, launch);
    for (uint32_t i = 0; i < launch->n_shaves; i++) {
        shave_local *s = &m->shaves[i];

        snprintf(name, sizeof name, "SHAVE %u local", i);
        if (m->once_bytes)
            s->once_track = trc_track_slices(w, device, name, TRC_CYCLES);
        for (unsigned k = 0; k < N_SLOTS && m->slot_bytes; k++) {
            snprintf(name, sizeof name, "SHAVE %u local %u", i, k);
            s->slot_tracks[k] = trc_track_slices(w, device, name, TRC_CYCLES);
        }
    }
    return m;
}

static void write_use(emit_local *m, const shave_local *s, trc_track track,
                      use *u, bool whole)
{
    uint32_t bytes = u == &s->once ? m->once_bytes : m->slot_bytes;
    trc_arg arg = TRC_UINT("bytes", bytes);
    trc_event e = {.name = whole ? "local" : "group",
                   .numbered = !whole,
                   .number = u->group,
                   .args = &arg,
                   .n_args = 1};

    if (u->open && track)
        emit_series_rate(&m->in_use, (uint32_t)(s - m->shaves), u->begin,
                         u->end, bytes);
    if (u->open && track)
        trc_slice(m->w, track, m->start + u->begin, m->start + u->end, &e);
    u->open = false;
}

static void write_counters(const emit_local *m, uint64_t cycles)
{
    trc_track group = trc_track_group(m->w, m->device, "local memory");
    char name[32];

    for (uint32_t i = 0; i < m->n_shaves; i++) {
        snprintf(name, sizeof name, "SHAVE %u", i);
        emit_series_write(
            &m->in_use, i, m->w,
            trc_track_counter(m->w, group, name, TRC_CYCLES, TRC_UNIT_NONE),
            m->start, cycles, m->budget);
    }
}

void emit_local_destroy(emit_local *m, uint64_t cycles)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->n_shaves; i++) {
        shave_local *s = &m->shaves[i];

        write_use(m, s, s->once_track, &s->once, true);
        for (unsigned k = 0; k < N_SLOTS; k++) {
            write_use(m, s, s->slot_tracks[k], &s->before[k], false);
            write_use(m, s, s->slot_tracks[k], &s->slots[k], m->merged);
        }
    }
    if (cycles && m->in_use.sums)
        write_counters(m, cycles);
    emit_series_free(&m->in_use);
    free(m);
}

static void begin_use(use *u, uint64_t t, uint64_t group)
{
    *u = (use){.open = true, .group = group, .begin = t, .end = t};
}

static void extend(use *u, uint64_t t)
{
    if (u->limit && t > u->limit)
        t = u->limit;
    if (u->open && t > u->end)
        u->end = t;
}

static use *find_group(shave_local *s, uint64_t group)
{
    for (unsigned k = 0; k < N_SLOTS; k++)
        if (s->slots[k].open && s->slots[k].group == group)
            return &s->slots[k];
    for (unsigned k = 0; k < N_SLOTS; k++)
        if (s->before[k].open && s->before[k].group == group)
            return &s->before[k];
    return NULL;
}

void emit_local_phase(emit_local *m, uint32_t shave, uint64_t t, uint64_t group)
{
    shave_local *s;
    use *u;

    if (!m)
        return;
    s = &m->shaves[shave];
    if (!s->once.open)
        begin_use(&s->once, t, group);
    if (!m->slot_bytes)
        return;
    if (!(u = find_group(s, group))) {
        u = &s->slots[s->n_groups % N_SLOTS];
        s->n_groups++;
        if (!m->merged && u->open) {
            use *last = &s->before[u - s->slots];

            write_use(m, s, s->slot_tracks[u - s->slots], last, false);
            *last = *u;
            last->limit = t;
            u->open = false;
        }
        if (!u->open)
            begin_use(u, t, group);
        u->group = group;
    }
    s->running = (uint32_t)(u - s->slots);
}

void emit_local_phase_end(emit_local *m, uint32_t shave, uint64_t t)
{
    if (!m)
        return;
    extend(&m->shaves[shave].once, t);
    extend(&m->shaves[shave].slots[m->shaves[shave].running], t);
}

bool emit_local_merges(const emit_local *m)
{
    return !m || (m->merged && !m->slot_bytes);
}

void emit_local_groups(emit_local *m, uint32_t shave, uint64_t begin,
                       uint64_t end)
{
    emit_local_phase(m, shave, begin, 0);
    emit_local_phase_end(m, shave, end);
}

void emit_local_transfer(emit_local *m, uint32_t shave, uint64_t t,
                         uint64_t group)
{
    use *u;

    if (!m)
        return;
    extend(&m->shaves[shave].once, t);
    if ((u = find_group(&m->shaves[shave], group)))
        extend(u, t);
}
