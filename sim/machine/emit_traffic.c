/* A tensor gets its series with its first byte. There are EMIT_LAUNCH_TENSORS
 * tracks at most; which tensors have most traffic is known at the end, so more
 * are kept until then. */
#include "sim/machine/emit_traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/emit_series.h"

enum { KEPT = 64, OTHERS = KEPT, CACHES, N_NAMES, N_WINDOWS = 256 };
/* Cycles of the first windows: as a power of two. */
enum { FIRST_LOG = 4 };

struct emit_traffic {
    const mach_launch *launch;
    emit_series series;     /* of name k: 2 * k read, 2 * k + 1 written */
    uint32_t tensors[KEPT]; /* buffers of the launch, in order of use */
    uint32_t n;
    uint32_t last; /* of tensors, that was asked for last */
};

emit_traffic *emit_traffic_create(const mach_launch *launch)
{
    emit_traffic *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->launch = launch;
    emit_series_init(&x->series, 2 * N_NAMES, N_WINDOWS, FIRST_LOG);
    return x;
}

static uint32_t name_of(emit_traffic *x, uint64_t place)
{
    const mach_launch *l = x->launch;
    uint32_t i, k;

    if (place == EMIT_NO_PLACE)
        return OTHERS;
    i = mach_buffer_at(l->buffers, l->n_buffers, (uint32_t)place);
    if (i == l->n_buffers)
        return OTHERS;
    if (x->n && x->tensors[x->last] == i)
        return x->last;
    for (k = 0; k < x->n && x->tensors[k] != i;)
        k++;
    if (k == KEPT)
        return OTHERS;
    if (k == x->n)
        x->tensors[x->n++] = i;
    x->last = k;
    return k;
}

void emit_traffic_tensor(emit_traffic *x, uint64_t place, uint64_t begin,
                         uint64_t end, uint64_t bytes, bool written)
{
    if (x)
        emit_series_spread(&x->series, 2 * name_of(x, place) + written, begin,
                           end, bytes);
}

void emit_traffic_caches(emit_traffic *x, uint64_t begin, uint64_t end,
                         uint64_t bytes_read, uint64_t bytes_written)
{
    if (!x)
        return;
    emit_series_spread(&x->series, 2 * CACHES, begin, end, bytes_read);
    emit_series_spread(&x->series, 2 * CACHES + 1, begin, end, bytes_written);
}

/* --- the end ------------------------------------------------------------- */

enum { MAX_NAME = 200 }; /* of longer ones the beginning */

typedef struct {
    uint32_t k; /* of tensors */
    uint64_t bytes;
    const char *name;
} ranked;

typedef struct {
    emit_traffic *x;
    trc_writer *w;
    trc_track group;
    uint64_t cycles;
} writing;

static bool same_name(const char *a, const char *b)
{
    return !strncmp(a, b, MAX_NAME);
}

static void join(emit_traffic *x, uint32_t to, uint32_t from)
{
    emit_series_join(&x->series, 2 * to, 2 * from);
    emit_series_join(&x->series, 2 * to + 1, 2 * from + 1);
}

static uint64_t bytes_of(const emit_traffic *x, uint32_t k)
{
    return emit_series_sum(&x->series, 2 * k) +
           emit_series_sum(&x->series, 2 * k + 1);
}

/* Most traffic first. */
static int by_bytes(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->k < y->k ? -1 : x->k > y->k;
}

/* Tensors of one name become one, which would have the same track; one that is
 * called as the rest is belongs there. Returns how many are left. */
static uint32_t rank(emit_traffic *x, ranked list[KEPT])
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < x->n; k++) {
        const char *name = x->launch->buffers[x->tensors[k]].name;
        uint32_t same = 0;

        while (same < n && !same_name(list[same].name, name))
            same++;
        if (same_name(name, "others") || same_name(name, "caches"))
            join(x, OTHERS, k);
        else if (same < n)
            join(x, list[same].k, k);
        else
            list[n++] = (ranked){.k = k, .name = name};
    }
    for (uint32_t i = 0; i < n; i++)
        list[i].bytes = bytes_of(x, list[i].k);
    qsort(list, n, sizeof *list, by_bytes);
    return n;
}

static void name_track(char to[MAX_NAME + 16], const char *name, int way)
{
    snprintf(to, MAX_NAME + 16, "%.*s %s", MAX_NAME, name,
             way ? "written" : "read");
}

/* Both directions, as far as there was anything. */
static void write_name(const writing *to, uint32_t k, const char *name)
{
    char track[MAX_NAME + 16];

    for (int way = 0; way < 2; way++) {
        if (!emit_series_sum(&to->x->series, 2 * k + (uint32_t)way))
            continue;
        name_track(track, name, way);
        emit_series_write(&to->x->series, 2 * k + (uint32_t)way, to->w,
                          trc_track_counter(to->w, to->group, track, TRC_CYCLES,
                                            TRC_UNIT_NONE),
                          to->x->launch->start_cycle, to->cycles, 1);
    }
}

/* Launches of a network have other tensors each. */
static bool has_room(const writing *to, const char *name)
{
    uint32_t n = trc_track_children(to->w, to->group);
    char track[MAX_NAME + 16];

    for (int way = 0; way < 2; way++) {
        name_track(track, name, way);
        if (trc_track_exists(to->w, to->group, track))
            return true;
    }
    return n + 2 <= 2 * EMIT_TRACE_TENSORS;
}

static void write_all(const writing *to)
{
    ranked list[KEPT];
    uint32_t n = rank(to->x, list), written = 0;

    for (uint32_t i = 0; i < n; i++)
        if (written < EMIT_LAUNCH_TENSORS && has_room(to, list[i].name)) {
            write_name(to, list[i].k, list[i].name);
            written++;
        } else {
            join(to->x, OTHERS, list[i].k);
        }
    write_name(to, OTHERS, "others");
    write_name(to, CACHES, "caches");
}

void emit_traffic_destroy(emit_traffic *x, trc_writer *w, trc_track device,
                          uint64_t cycles)
{
    uint64_t all = 0;

    if (!x)
        return;
    for (uint32_t k = 0; k < N_NAMES; k++)
        all += bytes_of(x, k);
    if (cycles && all)
        write_all(
            &(writing){x, w, trc_track_group(w, device, "buffers"), cycles});
    emit_series_free(&x->series);
    free(x);
}
