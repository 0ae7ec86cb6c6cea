/* See crowd.h. */
#include "runtime/advice/crowd.h"

#include "sim/machine/cache.h"

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

/* --- banks ---------------------------------------------------------------- */

/* The buffer that most of the sample's accesses go to; NULL: none that is
 * known. */
static const exec_sample_buffer *most_used(const exec_sample *x)
{
    uint32_t uses[EXEC_SAMPLE_BUFFERS] = {0}, best = 0;

    for (uint32_t k = 0; k < x->n; k++) {
        const exec_sample_buffer *b =
            exec_sample_buffer_at(x, MACH_ACCESS_ADDR(x->list[k]));

        if (b)
            uses[b - x->buffers]++;
    }
    for (uint32_t i = 1; i < x->n_buffers; i++)
        if (uses[i] > uses[best])
            best = i;
    return uses[best] ? &x->buffers[best] : NULL;
}

enum { DISTANCES = 256 };

/* The distance that comes most often between accesses of the buffer that follow
 * each other, of its first ones. */
static uint32_t step_of(const exec_sample *x, const exec_sample_buffer *b)
{
    uint32_t places[DISTANCES], n = 0;

    for (uint32_t k = 0; k < x->n && n < DISTANCES; k++)
        if (exec_sample_buffer_at(x, MACH_ACCESS_ADDR(x->list[k])) == b)
            places[n++] = MACH_ACCESS_ADDR(x->list[k]);
    return n > 1 ? usual_distance(places, n) : 0;
}

void crowd_banks(const exec_sample *x, const mach_desc *desc, str *out)
{
    const exec_sample_buffer *b = x ? most_used(x) : NULL;
    uint64_t round = desc->ddr_banks * desc->ddr_row_bytes;
    uint32_t step;

    if (!b)
        return;
    step = step_of(x, b);
    str_printf(out, "accesses to %s", b->name);
    if (step && step <= INT32_MAX)
        str_printf(out, " lie %u bytes apart", step);
    if (step && step <= INT32_MAX && step % round == 0)
        str_printf(out,
                   ", a multiple of the %llu banks' rows of %llu bytes, so "
                   "that they meet in one bank",
                   (unsigned long long)desc->ddr_banks,
                   (unsigned long long)desc->ddr_row_bytes);
}
