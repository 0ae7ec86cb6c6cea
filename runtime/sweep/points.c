/* Which values the points of a manifest take: products, samples, one dimension
 * at a time. */
#include "runtime/sweep/points.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/sweep/ranges.h"
#include "runtime/sweep/samples.h"

struct sweep_plan {
    const sweep_manifest *m;
    uint32_t *axis;  /* of each dimension: its number among those that vary */
    uint32_t *latin; /* n_samples strata for each dimension */
};

/* Those of the product; the rounds of halving stay at their first value. */
static bool varies(const sweep_manifest *m, size_t d)
{
    return m->method != SWEEP_HALVING || d != m->by;
}

static uint64_t product(const sweep_manifest *m)
{
    uint64_t n = 1;

    for (size_t d = 0; d < m->n_dims && n <= SWEEP_MAX_POINTS; d++)
        if (varies(m, d))
            n *= m->dims[d].n;
    return n;
}

static uint64_t neighbours(const sweep_manifest *m)
{
    uint64_t n = 1;

    for (size_t d = 0; d < m->n_dims; d++)
        n += m->dims[d].n - 1;
    return n;
}

vpu_status sweep_points_count(const sweep_manifest *m, uint64_t *out,
                              vpu_error *err)
{
    switch (m->method) {
    case SWEEP_RANDOM:
    case SWEEP_LATIN:
    case SWEEP_SOBOL:
        *out = m->n_samples;
        break;
    case SWEEP_ONE_AT_A_TIME:
        *out = neighbours(m);
        break;
    default:
        *out = product(m);
    }
    if (sweep_points_candidates(m, *out) <= SWEEP_MAX_POINTS)
        return VPU_OK;
    return err_at(err, VPU_ERR_LIMIT, m->path, m->method_line, 0,
                  "the %s has more than %d points; fewer values, or `method "
                  "random N`",
                  sweep_method_name(m->method), SWEEP_MAX_POINTS);
}

uint64_t sweep_points_candidates(const sweep_manifest *m, uint64_t count)
{
    return m->method == SWEEP_HALVING ? count * m->dims[m->by].n : count;
}

sweep_plan *sweep_plan_open(const sweep_manifest *m, arena *a)
{
    sweep_plan *p = arena_new(a, sweep_plan);

    p->m = m;
    p->axis = arena_array(a, uint32_t, m->n_dims + 1);
    for (size_t d = 0, k = 0; d < m->n_dims; d++)
        p->axis[d] = m->dims[d].n == 1 ? 0 : (uint32_t)k++;
    if (m->method == SWEEP_LATIN) {
        p->latin = arena_array(a, uint32_t, m->n_dims * m->n_samples + 1);
        for (size_t d = 0; d < m->n_dims; d++)
            samples_shuffle(m->seed, (uint32_t)d, m->n_samples,
                            p->latin + d * m->n_samples);
    }
    return p;
}

/* The last dimension changes fastest, the rounds of halving slowest. */
static void grid_values(const sweep_manifest *m, uint64_t i, sweep_value *out)
{
    for (size_t d = m->n_dims; d-- > 0;) {
        out[d] = (sweep_value){0};
        if (!varies(m, d))
            continue;
        out[d].choice = (size_t)(i % m->dims[d].n);
        i /= m->dims[d].n;
    }
    if (m->method == SWEEP_HALVING)
        out[m->by].choice = (size_t)i;
}

/* Point 0 has the first values; each further one another value of one
 * dimension. */
static void neighbour_values(const sweep_manifest *m, uint64_t i,
                             sweep_value *out)
{
    memset(out, 0, m->n_dims * sizeof *out);
    for (size_t d = 0; d < m->n_dims && i; d++) {
        if (i < m->dims[d].n) {
            out[d].choice = (size_t)i;
            return;
        }
        i -= m->dims[d].n - 1;
    }
}

/* u in 0 .. 1, 1 excluded, as a value. */
static sweep_value at_fraction(const sweep_dimension *d, double u)
{
    sweep_value v = {0};

    if (d->n) {
        v.choice = (size_t)(u * (double)d->n);
        v.choice = v.choice < d->n ? v.choice : d->n - 1;
    } else if (d->whole) {
        v.number = floor(d->low + u * (d->high - d->low + 1));
        v.number = v.number > d->high ? d->high : v.number;
    } else {
        v.number = d->low + u * (d->high - d->low);
    }
    return v;
}

static double fraction(const sweep_plan *p, uint64_t i, size_t d)
{
    const sweep_manifest *m = p->m;

    switch (m->method) {
    case SWEEP_LATIN:
        return (p->latin[d * m->n_samples + i] +
                samples_random(m->seed, (uint32_t)d, i)) /
               m->n_samples;
    case SWEEP_SOBOL:
        return samples_sobol(p->axis[d], (uint32_t)i);
    default:
        return samples_random(m->seed, (uint32_t)d, i);
    }
}

void sweep_plan_values(sweep_plan *p, uint64_t i, sweep_value *out)
{
    const sweep_manifest *m = p->m;

    switch (m->method) {
    case SWEEP_ONE_AT_A_TIME:
        neighbour_values(m, i, out);
        break;
    case SWEEP_GRID:
    case SWEEP_HALVING:
        grid_values(m, i, out);
        break;
    default:
        for (size_t d = 0; d < m->n_dims; d++)
            out[d] = at_fraction(&m->dims[d], fraction(p, i, d));
    }
}

const char *sweep_value_text(const sweep_dimension *d, const sweep_value *v,
                             arena *a)
{
    if (d->n)
        return d->choices[v->choice].text;
    return sweep_number_text(a, v->number, d->whole);
}

static void add_range_words(const sweep_dimension *d, const sweep_value *v,
                            arena *a, sweep_words *out)
{
    const char *text = sweep_value_text(d, v, a);

    out->items[out->n++] = arena_strdup(a, d->option);
    out->items[out->n++] =
        d->key ? arena_printf(a, "%s=%s", d->key, text) : arena_strdup(a, text);
}

sweep_words sweep_point_words(const sweep_manifest *m,
                              const sweep_value *values, arena *a)
{
    sweep_words out = {0};
    size_t n = 1;

    for (size_t d = 0; d < m->n_dims; d++)
        n += m->dims[d].n ? m->dims[d].choices[values[d].choice].words.n : 2;
    out.items = arena_array(a, char *, n);
    for (size_t d = 0; d < m->n_dims; d++) {
        const sweep_dimension *x = &m->dims[d];

        if (!x->n)
            add_range_words(x, &values[d], a, &out);
        for (size_t k = 0; x->n && k < x->choices[values[d].choice].words.n;
             k++)
            out.items[out.n++] = x->choices[values[d].choice].words.items[k];
    }
    return out;
}
