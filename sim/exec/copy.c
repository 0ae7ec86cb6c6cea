/* Strided copies between two places of the device's memory. */
#include "sim/exec/copy.h"

#include <string.h>

#include "sim/compiler/abi/hostabi.h"

#define ADDRESSES ((int64_t)1 << 32)

copy_shape copy_shape_of(const sim_dma *args)
{
    return (copy_shape){.dst = args->dst,
                        .src = args->src,
                        .bytes = args->bytes,
                        .src_width = args->src_width,
                        .dst_width = args->dst_width,
                        .src_pitch = args->src_pitch,
                        .dst_pitch = args->dst_pitch,
                        .planes = args->planes,
                        .src_plane = args->src_plane,
                        .dst_plane = args->dst_plane};
}

/* One side's position in its lines. Pitches are signed: a kernel may walk
 * backwards. */
typedef struct {
    int64_t line; /* its address */
    int32_t pitch;
    uint32_t at, width; /* offset in the line */
} walker;

static walker begin(uint32_t address, uint32_t plane, uint32_t plane_pitch,
                    uint32_t width, uint32_t pitch)
{
    return (walker){.line = address + (int64_t)plane * (int32_t)plane_pitch,
                    .pitch = (int32_t)pitch,
                    .width = width};
}

static void step(walker *w, uint32_t n)
{
    w->at += n;
    if (w->at == w->width) {
        w->at = 0;
        w->line += w->pitch;
    }
}

/* Beyond the last address there is nothing; to begin again at the first would
 * be a copy nobody asked for. */
static bool is_inside(const walker *w, uint32_t n)
{
    return w->line + w->at >= 0 && w->line + w->at + n <= ADDRESSES;
}

static bool copy_plane(const copy_shape *s, uint32_t plane, uint8_t *window)
{
    walker src = begin(s->src, plane, s->src_plane, s->src_width, s->src_pitch);
    walker dst = begin(s->dst, plane, s->dst_plane, s->dst_width, s->dst_pitch);
    uint32_t left = s->bytes;

    while (left) {
        uint32_t n = left;

        if (src.width - src.at < n)
            n = src.width - src.at;
        if (dst.width - dst.at < n)
            n = dst.width - dst.at;
        if (!is_inside(&src, n) || !is_inside(&dst, n))
            return false;
        memmove(window + dst.line + dst.at, window + src.line + src.at, n);
        step(&src, n);
        step(&dst, n);
        left -= n;
    }
    return true;
}

copy_result copy_run(const copy_shape *s, uint8_t *window)
{
    if (s->bytes && (!s->src_width || !s->dst_width))
        return COPY_NO_WIDTH;
    if (s->bytes == SIM_DMA_TOO_LARGE)
        return COPY_OUTSIDE;
    for (uint32_t p = 0; s->bytes && p < s->planes; p++)
        if (!copy_plane(s, p, window))
            return COPY_OUTSIDE;
    return COPY_DONE;
}

static uint64_t side_lines(uint32_t bytes, uint32_t width, uint32_t pitch)
{
    if (!width || width == pitch || width >= bytes)
        return 1;
    return (bytes + (uint64_t)width - 1) / width;
}

uint32_t copy_lines(const copy_shape *s)
{
    uint64_t a = side_lines(s->bytes, s->src_width, s->src_pitch);
    uint64_t b = side_lines(s->bytes, s->dst_width, s->dst_pitch);
    uint64_t n = (a > b ? a : b) * (s->planes ? s->planes : 1);

    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

mach_walk copy_side(const copy_shape *s, bool destination)
{
    mach_walk w = {.bytes = s->planes ? s->bytes : 0, .planes = s->planes};

    w.addr = destination ? s->dst : s->src;
    w.width = destination ? s->dst_width : s->src_width;
    w.pitch = destination ? s->dst_pitch : s->src_pitch;
    w.plane_pitch = destination ? s->dst_plane : s->src_plane;
    return w;
}

/* --- events -------------------------------------------------------------- */

/* Entries whose transfers were waited for say nothing any more. */
static void drop_waited(copy_joined *j)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < j->n; i++)
        if (j->list[i].last > j->waited)
            j->list[kept++] = j->list[i];
    j->n = kept;
}

void copy_join(copy_joined *j, uint32_t event, uint32_t number)
{
    uint32_t i = 0;

    while (i < j->n && j->list[i].event != event)
        i++;
    if (i == COPY_MAX_JOINED) { /* two become one, for the sooner event */
        i = 0;
        event = event < j->list[0].event ? event : j->list[0].event;
    }
    if (i == j->n)
        j->n++;
    j->list[i].event = event;
    j->list[i].last = number;
}

uint32_t copy_wait_end(const copy_joined *j, uint32_t n)
{
    uint32_t end = n;

    for (uint32_t i = 0; i < j->n; i++)
        if (j->list[i].event <= n && j->list[i].last > end)
            end = j->list[i].last;
    return end;
}

void copy_waited(copy_joined *j, uint32_t last)
{
    j->waited = last > j->waited ? last : j->waited;
    drop_waited(j);
}
