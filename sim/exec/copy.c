/* Strided copies between two places of the device's memory. */
#include "sim/exec/copy.h"

#include <string.h>

/* One side's position in its lines. */
typedef struct {
    uint32_t line, at, width, pitch; /* address of the line, offset in it */
} walker;

static void step(walker *w, uint32_t n)
{
    w->at += n;
    if (w->at == w->width) {
        w->at = 0;
        w->line += w->pitch;
    }
}

static void copy_plane(const copy_shape *s, uint32_t plane, uint8_t *window)
{
    walker src = {s->src + plane * s->src_plane, 0, s->src_width, s->src_pitch};
    walker dst = {s->dst + plane * s->dst_plane, 0, s->dst_width, s->dst_pitch};
    uint32_t left = s->bytes;

    while (left) {
        uint32_t n = left;

        if (src.width - src.at < n)
            n = src.width - src.at;
        if (dst.width - dst.at < n)
            n = dst.width - dst.at;
        memmove(window + (uint32_t)(dst.line + dst.at),
                window + (uint32_t)(src.line + src.at), n);
        step(&src, n);
        step(&dst, n);
        left -= n;
    }
}

bool copy_run(const copy_shape *s, uint8_t *window)
{
    if (s->bytes && (!s->src_width || !s->dst_width))
        return false;
    for (uint32_t p = 0; s->bytes && p < s->planes; p++)
        copy_plane(s, p, window);
    return true;
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
