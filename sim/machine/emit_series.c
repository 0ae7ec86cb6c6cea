/* See emit_series.h. */
#include "sim/machine/emit_series.h"

#include <stdlib.h>
#include <string.h>

void emit_series_init(emit_series *s, uint32_t n, uint32_t n_windows,
                      uint32_t log)
{
    *s = (emit_series){.n = n, .n_windows = n_windows, .log = log};
    s->sums = calloc((size_t)n * n_windows, sizeof *s->sums);
    s->used = calloc(n, sizeof *s->used);
    if (!s->sums || !s->used)
        emit_series_free(s);
}

void emit_series_free(emit_series *s)
{
    free(s->sums);
    free(s->used);
    s->sums = NULL;
    s->used = NULL;
}

/* All series of a window. */
static uint64_t *window(const emit_series *s, uint64_t i)
{
    return s->sums + i * s->n;
}

static void double_windows(emit_series *s)
{
    uint32_t half = s->n_windows / 2;

    for (uint32_t i = 0; i < half; i++)
        for (uint32_t k = 0; k < s->n; k++)
            window(s, i)[k] = window(s, 2 * i)[k] + window(s, 2 * i + 1)[k];
    memset(window(s, half), 0, (size_t)half * s->n * sizeof *s->sums);
    s->log++;
}

/* Makes the window with cycle `last` be there. */
static void reach(emit_series *s, uint64_t last)
{
    while (last >> s->log >= s->n_windows)
        double_windows(s);
}

static uint64_t end_of_window(const emit_series *s, uint64_t t, uint64_t end)
{
    uint64_t stop = ((t >> s->log) + 1) << s->log;

    return stop < end ? stop : end;
}

void emit_series_rate(emit_series *s, uint32_t at, uint64_t begin, uint64_t end,
                      uint64_t rate)
{
    if (!s->sums || !rate || end <= begin)
        return;
    reach(s, end - 1);
    s->used[at] = true;
    while (begin < end) {
        uint64_t stop = end_of_window(s, begin, end);

        window(s, begin >> s->log)[at] += rate * (stop - begin);
        begin = stop;
    }
}

void emit_series_rates(emit_series *s, uint64_t begin, uint64_t end,
                       const uint64_t *rates)
{
    if (!s->sums || end <= begin)
        return;
    reach(s, end - 1);
    memset(s->used, true, s->n * sizeof *s->used);
    while (begin < end) {
        uint64_t stop = end_of_window(s, begin, end);
        uint64_t *w = window(s, begin >> s->log);

        for (uint32_t k = 0; k < s->n; k++)
            w[k] += rates[k] * (stop - begin);
        begin = stop;
    }
}

void emit_series_spread(emit_series *s, uint32_t at, uint64_t begin,
                        uint64_t end, uint64_t amount)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t length = end > begin ? end - begin : 0, t = begin, given = 0;

    if (!s->sums || !amount)
        return;
    reach(s, length ? end - 1 : begin);
    s->used[at] = true;
    if (!length)
        window(s, begin >> s->log)[at] += amount;
    while (t < end) {
        uint64_t stop = end_of_window(s, t, end);
        uint64_t due = (uint64_t)((wide)amount * (stop - begin) / length);

        window(s, t >> s->log)[at] += due - given;
        given = due;
        t = stop;
    }
}

void emit_series_join(emit_series *s, uint32_t to, uint32_t from)
{
    if (!s->sums || !s->used[from])
        return;
    s->used[to] = true;
    for (uint32_t i = 0; i < s->n_windows; i++)
        window(s, i)[to] += window(s, i)[from];
}

uint64_t emit_series_sum(const emit_series *s, uint32_t at)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; s->sums && s->used[at] && i < s->n_windows; i++)
        sum += window(s, i)[at];
    return sum;
}

/* Of window i; of the last one with what came at the very end. */
static uint64_t amount_until(const emit_series *s, uint32_t at, uint64_t i,
                             bool is_last)
{
    uint64_t sum = window(s, i)[at];

    for (i++; is_last && i < s->n_windows; i++)
        sum += window(s, i)[at];
    return sum;
}

void emit_series_write(const emit_series *s, uint32_t at, trc_writer *w,
                       trc_track track, uint64_t start, uint64_t cycles,
                       double one)
{
    double last = -1;

    for (uint64_t i = 0; s->sums && i < s->n_windows; i++) {
        uint64_t begin = i << s->log, end = end_of_window(s, begin, cycles);
        double mean;

        if (begin >= cycles)
            break;
        mean = (double)amount_until(s, at, i, end == cycles) / one /
               (double)(end - begin);
        if (mean != last)
            trc_count_real(w, track, start + begin, mean);
        last = mean;
    }
    trc_count_real(w, track, start + cycles, 0);
}
