/* See buffers.h. */
#include "sim/machine/buffers.h"

#include <stdlib.h>

/* Of those at one place the longest comes last, and is found. */
static int by_place(const void *a, const void *b)
{
    const mach_buffer *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

void mach_buffers_sort(mach_buffer *buffers, uint32_t n)
{
    if (n)
        qsort(buffers, n, sizeof *buffers, by_place);
}

uint32_t mach_buffer_at(const mach_buffer *buffers, uint32_t n, uint32_t place)
{
    uint32_t lo = 0, hi = n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (buffers[mid].place <= place)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo || place - buffers[lo - 1].place >= buffers[lo - 1].bytes)
        return n;
    return lo - 1;
}

/* What n things, a pitch apart, add to an address at least and at most. Pitches
 * are signed: a kernel may walk backwards. */
static void spread(int64_t n, uint32_t pitch, int64_t *lo, int64_t *hi)
{
    int64_t far = (n - 1) * (int32_t)pitch;

    *lo += far < 0 ? far : 0;
    *hi += far > 0 ? far : 0;
}

bool mach_walk_range(const mach_walk *w, uint32_t *first, uint32_t *last)
{
    int64_t lo = w->addr, hi = w->addr, lines, tail;

    if (!w->bytes || !w->planes || !w->width)
        return false;
    lines = ((int64_t)w->bytes + w->width - 1) / w->width;
    tail = w->bytes - (lines - 1) * w->width;
    spread(lines, w->pitch, &lo, &hi);
    /* The last line may be shorter; where lines overlap or go backwards, the
     * end is another one's. */
    hi = w->addr + (lines - 1) * (int32_t)w->pitch + tail;
    if (lines > 1) {
        int64_t full = w->addr, none = 0;

        spread(lines - 1, w->pitch, &none, &full);
        hi = full + w->width > hi ? full + w->width : hi;
    }
    if (lo < 0 || hi > INT64_C(1) << 32)
        return false;
    spread(w->planes, w->plane_pitch, &lo, &hi);
    if (lo < 0 || hi > INT64_C(1) << 32)
        return false;
    *first = (uint32_t)lo;
    *last = (uint32_t)(hi - 1);
    return true;
}
