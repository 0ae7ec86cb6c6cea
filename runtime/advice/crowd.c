/* See crowd.h. */
#include "runtime/advice/crowd.h"

/* The distance that comes most often between neighbours among n lines. */
static uint32_t usual_distance(const uint32_t *lines, uint32_t n)
{
    uint32_t best = 0, best_times = 0;

    for (uint32_t i = 1; i < n; i++) {
        uint32_t times = 0, distance = lines[i] - lines[i - 1];

        for (uint32_t k = 1; k < n; k++)
            times += lines[k] - lines[k - 1] == distance;
        if (times > best_times) {
            best_times = times;
            best = distance;
        }
    }
    return best;
}

/* The lines are ascending, so those of a buffer follow each other. */
void crowd_lines(const exec_sample *x, const mach_crowding *c, str *out)
{
    uint32_t n;

    for (uint32_t i = 0; i < c->n_lines; i += n) {
        const exec_sample_buffer *b = exec_sample_buffer_at(x, c->lines[i]);

        for (n = 1; i + n < c->n_lines &&
                    exec_sample_buffer_at(x, c->lines[i + n]) == b;)
            n++;
        str_printf(out, "%s%u%s of %s", i ? ", " : "", n,
                   i        ? ""
                   : n == 1 ? " line"
                            : " lines",
                   b ? b->name : "other data");
        if (n > 1)
            str_printf(out, " (%u bytes apart)",
                       usual_distance(&c->lines[i], n));
    }
}
