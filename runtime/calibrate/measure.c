/* See measure.h. */
#include "runtime/calibrate/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backend/binaries.h"
#include "runtime/calibrate/model.h"
#include "runtime/import/import.h"
#include "runtime/link/xlink_wire.h"

/* The orders in which an inference goes through the cases: what one leaves
 * behind (caches, temperature) is not always the same one's burden. The first
 * is the list's own, which the model runs. */
static void shuffle(uint32_t *order, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n; i-- > 1 && seed;) {
        size_t k;

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        k = (size_t)((seed >> 33) % (i + 1));
        if (k != i) {
            uint32_t x = order[i];

            order[i] = order[k];
            order[k] = x;
        }
    }
}

/* --- a stick's blob ------------------------------------------------------- */

/* g as a stick is given it: the blob, and what it is as a graph. */
static vpu_status as_blob(const measure_config *cfg, graph *g, arena *a,
                          graph **out, vpu_error *err)
{
    const backend_stick_options *o = cfg->run.stick;
    backend_blob_config how = {.binaries = {.compile = cfg->run.compile,
                                            .simulator = !cfg->folder,
                                            .log = cfg->run.log},
                               .release = o->release,
                               .n_shaves = cfg->n_shaves};
    xlink_layout layout;
    str bytes = {0};
    blob b;
    vpu_status st = cfg->ops->stick->layout(o, &layout, err);

    if (!st && !how.release)
        how.release = xlink_last_release(layout);
    if (!st)
        st = backend_blob(g, &how, a, &b, &bytes, err);
    if (!st) {
        const char *copy = arena_memdup(a, bytes.data, bytes.n);
        blob *read = arena_new(a, blob);

        *out = arena_new(a, graph);
        st = blob_parse(copy, bytes.n, "the cases", a, read, err);
        if (!st)
            st = import_blob(read,
                             &(const import_config){.kernels = cfg->folder}, a,
                             *out, err);
        (*out)->blob = copy;
        (*out)->n_blob = bytes.n;
    }
    str_free(&bytes);
    return st;
}

/* --- statistics ----------------------------------------------------------- */

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static double median(double *list, uint32_t n)
{
    qsort(list, n, sizeof *list, by_value);
    return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

/* 1.4826 times the median of distances is the deviation of a normal one. */
static measure_time sum_up(double *list, uint32_t n, arena *a)
{
    double middle = median(list, n), sum = 0, squares = 0, allowed;
    double *distances = arena_array(a, double, n);
    measure_time t = {0};

    for (uint32_t i = 0; i < n; i++)
        distances[i] = fabs(list[i] - middle);
    allowed = 4 * 1.4826 * median(distances, n);
    for (uint32_t i = 0; i < n; i++)
        if (fabs(list[i] - middle) <= allowed) {
            sum += list[i];
            t.n_used++;
        }
    t.seconds = sum / t.n_used;
    for (uint32_t i = 0; i < n; i++)
        if (fabs(list[i] - middle) <= allowed)
            squares += (list[i] - t.seconds) * (list[i] - t.seconds);
    if (t.n_used > 1 && t.seconds > 0)
        t.error = sqrt(squares / (t.n_used - 1) / t.n_used) / t.seconds;
    return t;
}

/* --- runs ----------------------------------------------------------------- */

typedef struct {
    const measure_config *cfg;
    measure_result *out;
    double *times; /* n_times of each case */
    uint32_t done;
    arena *a;
} measuring;

static vpu_status take_times(measuring *m, const backend *b, const graph *g,
                             const uint32_t *order, vpu_error *err)
{
    backend_result *results = arena_array(m->a, backend_result, g->n_launches);
    const log_step step = {.of = "calibrate",
                           .units = "runs",
                           .done = m->done,
                           .total = m->out->n_times};
    vpu_status st = VPU_OK;

    log_progress(m->cfg->run.log, &step);
    if (b->ops->caps(b->self)->stages)
        for (uint32_t i = 0; i < g->n_launches && !st; i++)
            st = backend_run(b, i, 1, &results[i], err);
    else
        st = backend_run(b, 0, g->n_launches, results, err);
    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        if (!(results[i].seconds > 0))
            return err_set(err, VPU_ERR_MISMATCH, "%s: the device told no time",
                           m->out->cases[order[i]].name);
        m->times[(size_t)order[i] * m->out->n_times + m->done] =
            results[i].seconds;
    }
    m->done++;
    return st;
}

/* What does not tell a temperature is measured all the same. */
static void note_temperature(measuring *m, const backend *b)
{
    const backend_stick_ops *stick = b->ops->stick;
    measure_result *out = m->out;
    double now = 0;

    if (!stick || stick->temperature(b->self, &now, NULL) || !(now > 0))
        return;
    if (out->coldest == 0 || now < out->coldest)
        out->coldest = now;
    if (now > out->hottest)
        out->hottest = now;
}

/* One order, from the opening to the closing of the device. */
static vpu_status run_order(measuring *m, uint32_t number, vpu_error *err)
{
    const measure_config *cfg = m->cfg;
    uint32_t *order = arena_array(m->a, uint32_t, m->out->n_cases);
    graph *g;
    backend b = {0};
    vpu_status st = VPU_OK;

    shuffle(order, m->out->n_cases, number ? cfg->seed + number : 0);
    g = design_graph(m->out->cases, order, m->out->n_cases, cfg->folder, m->a);
    if (backend_extras(cfg->ops) & BACKEND_STICK)
        st = as_blob(cfg, g, m->a, &g, err);
    if (!number)
        m->out->graph = g;
    if (!st)
        st = backend_open(cfg->ops, &cfg->run, g, &b, err);
    if (!st && !cfg->ops->caps(b.self)->timed)
        st = err_set(err, VPU_ERR_UNSUPPORTED,
                     "'%s' tells no times of its own; sim and usb do",
                     cfg->ops->name);
    if (!st) {
        m->out->device = arena_strdup(m->a, cfg->ops->caps(b.self)->device);
        st = model_fill(&b, g, m->a, err);
        note_temperature(m, &b);
    }
    for (uint32_t i = 0; i < cfg->repeats && !st; i++)
        st = cfg->run.how.cancel && atomic_load(cfg->run.how.cancel)
                 ? err_set(err, VPU_ERR_STOPPED, "stopped")
                 : take_times(m, &b, g, order, err);
    if (!st)
        note_temperature(m, &b);
    backend_close(&b);
    return st;
}

vpu_status measure_run(const measure_config *cfg, arena *a, measure_result *out,
                       vpu_error *err)
{
    measuring m = {.cfg = cfg, .out = out, .a = a};
    vpu_status st = VPU_OK;

    *out = (measure_result){.n_times = cfg->orders * cfg->repeats};
    out->cases = design_cases(cfg->n_shaves, a, &out->n_cases);
    out->times = arena_array(a, measure_time, out->n_cases);
    m.times = arena_array(a, double, out->n_cases * out->n_times);
    for (uint32_t i = 0; i < cfg->orders && !st; i++)
        st = run_order(&m, i, err);
    for (size_t i = 0; i < out->n_cases && !st; i++)
        out->times[i] = sum_up(&m.times[i * out->n_times], out->n_times, a);
    return st;
}
