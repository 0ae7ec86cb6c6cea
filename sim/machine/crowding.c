/* See crowding.h: the list is looked up twice, in L2 as it is, and in one of
 * the same size with a single set. */
#include "sim/machine/crowding.h"

#include <stdlib.h>
#include <string.h>

#include "sim/machine/cache.h"

static uint64_t fills_of(mach_cache *c, const uint64_t *list, size_t n,
                         mach_step *step)
{
    mach_cache_record(c);
    mach_cache_run(c, list, n);
    if (!mach_cache_take_misses(c, step))
        step->n_misses = 0;
    return mach_cache_take(c).load_fills;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static uint32_t set_of(const mach_crowding *c, uint32_t line_bytes,
                       uint32_t place)
{
    return place / line_bytes & (c->n_sets - 1);
}

/* The set with most load fills; the first of equal ones. */
static uint32_t fullest_set(const mach_crowding *c, uint32_t line_bytes,
                            const mach_step *step, uint32_t *fills)
{
    uint32_t best = 0;

    memset(fills, 0, c->n_sets * sizeof *fills);
    for (uint32_t i = 0; i < step->n_misses; i++)
        if (step->misses[i].kind == MACH_LOAD_FILL)
            fills[set_of(c, line_bytes, step->misses[i].addr)]++;
    for (uint32_t set = 1; set < c->n_sets; set++)
        if (fills[set] > fills[best])
            best = set;
    return best;
}

static void add_line(mach_crowding *c, uint32_t place)
{
    for (uint32_t i = 0; i < c->n_lines; i++)
        if (c->lines[i] == place)
            return;
    if (c->n_lines < MACH_CROWD)
        c->lines[c->n_lines++] = place;
}

static vpu_status find_crowd(mach_crowding *c, uint32_t line_bytes,
                             const mach_step *step, vpu_error *err)
{
    uint32_t *fills = calloc(c->n_sets, sizeof *fills), set;

    if (!fills)
        return err_set(err, VPU_ERR_NOMEM, "no memory for counts of sets");
    set = fullest_set(c, line_bytes, step, fills);
    free(fills);
    for (uint32_t i = 0; i < step->n_misses; i++)
        if ((step->misses[i].kind == MACH_LOAD_FILL ||
             step->misses[i].kind == MACH_STORE_FILL) &&
            set_of(c, line_bytes, step->misses[i].addr) == set)
            add_line(c, step->misses[i].addr);
    qsort(c->lines, c->n_lines, sizeof *c->lines, ascending);
    return VPU_OK;
}

vpu_status mach_crowding_of(const mach_desc *desc, uint32_t n_sharing,
                            const uint64_t *list, size_t n, mach_crowding *out,
                            vpu_error *err)
{
    mach_desc one_set = *desc;
    mach_cache *as_is = NULL, *ideal = NULL;
    mach_step step = {.misses = NULL};
    uint32_t line = (uint32_t)desc->l2_line;
    vpu_status st = mach_cache_create(desc, n_sharing, &as_is, err);

    *out = (mach_crowding){.n_ways = (uint32_t)desc->l2_ways};
    if (!st) {
        out->n_sets = mach_cache_l2_sets(as_is);
        one_set.l2_ways = desc->l2_ways * out->n_sets;
        one_set.l2_bytes = one_set.l2_ways * line * n_sharing;
        st = mach_cache_create(&one_set, n_sharing, &ideal, err);
    }
    if (!st) {
        uint64_t fills = fills_of(ideal, list, n, &step);

        free(step.misses);
        out->fills = fills_of(as_is, list, n, &step);
        out->avoidable = out->fills > fills ? out->fills - fills : 0;
        st = find_crowd(out, line, &step, err);
        free(step.misses);
    }
    mach_cache_destroy(as_is);
    mach_cache_destroy(ideal);
    return st;
}
