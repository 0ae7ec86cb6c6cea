/* Graphs on a stick: loading, inferences, forgetting. */
#include "runtime/link/mvnc_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/word.h"
#include "runtime/blob/blob.h"

static vpu_status send_command(mvnc *m, const mvnc_command *c, vpu_error *err)
{
    uint8_t bytes[MVNC_MAX_COMMAND];
    uint32_t n = mvnc_encode(c, bytes);

    return mvnc_send(m, m->monitor, bytes, n, mvnc_graph_name(c->type), err);
}

static vpu_status get_status(mvnc *m, uint32_t type, unsigned timeout_ms,
                             vpu_error *err)
{
    char what[64];
    xlink_packet p;
    uint32_t status;
    vpu_status st;

    snprintf(what, sizeof what, "the status of %s", mvnc_graph_name(type));
    st = mvnc_take(m,
                   &(const mvnc_expected){.stream = m->monitor,
                                          .timeout_ms = timeout_ms,
                                          .what = what},
                   &p, err);
    if (st)
        return st;
    status = p.bytes < 4 ? MVNC_STATUS_INTERNAL : word_get(p.data);
    if (p.bytes < 4)
        st = err_set(err, VPU_ERR_MISMATCH,
                     "the stick sent %u bytes, expected %s: 4 bytes", p.bytes,
                     what);
    else if (status)
        st = err_set(err,
                     status == MVNC_STATUS_OUT_OF_MEMORY ? VPU_ERR_NOMEM
                                                         : VPU_ERR_MISMATCH,
                     "%s: the stick answered %u, %s", mvnc_graph_name(type),
                     status, mvnc_status_text(status));
    if (xlink_release(m->xlink, m->monitor, m->config.timeout_ms,
                      st ? NULL : err))
        return st ? st : VPU_ERR_IO;
    return st;
}

/* A command that has nothing between itself and its status. */
static vpu_status command(mvnc *m, const mvnc_command *c, vpu_error *err)
{
    vpu_status st = send_command(m, c, err);

    return st ? st : get_status(m, c->type, m->config.timeout_ms, err);
}

/* --- loading ------------------------------------------------------------- */

static mvnc_command graph_command(const mvnc_graph *g, mvnc_graph_type type)
{
    mvnc_command c = {.type = type, .id = g->id, .executors = g->executors};

    snprintf(c.stream, sizeof c.stream, "graphBuffer%u", g->id);
    return c;
}

/* Three packets on the graph's stream, even when it failed; then the status. */
static vpu_status read_about(mvnc_graph *g, unsigned loading_ms, vpu_error *err)
{
    mvnc *m = g->mvnc;
    uint8_t in[MVNC_TENSOR], out[MVNC_TENSOR], stages[4];
    vpu_status st =
        mvnc_get(m,
                 &(const mvnc_expected){.stream = g->blob,
                                        .n = sizeof in,
                                        .timeout_ms = loading_ms,
                                        .what = "the input's descriptor"},
                 in, err);

    if (!st)
        st = mvnc_get(m,
                      &(const mvnc_expected){.stream = g->blob,
                                             .n = sizeof out,
                                             .timeout_ms = m->config.timeout_ms,
                                             .what = "the output's descriptor"},
                      out, err);
    if (!st)
        st = mvnc_get(m,
                      &(const mvnc_expected){.stream = g->blob,
                                             .n = sizeof stages,
                                             .timeout_ms = m->config.timeout_ms,
                                             .what = "the number of stages"},
                      stages, err);
    if (!st)
        st = get_status(m, MVNC_GRAPH_ALLOCATE, m->config.timeout_ms, err);
    if (st)
        return st;
    g->info = (mvnc_graph_info){mvnc_decode_tensor(in), mvnc_decode_tensor(out),
                                word_get(stages)};
    g->allocated = true;
    return VPU_OK;
}

/* The steps of docs/usb.md, "Loading a graph". */
static vpu_status load(mvnc_graph *g, const void *file, size_t n,
                       unsigned loading_ms, vpu_error *err)
{
    mvnc *m = g->mvnc;
    mvnc_command c = graph_command(g, MVNC_GRAPH_VERIFY);
    vpu_status st = xlink_open(m->xlink, c.stream, (uint32_t)n, &g->blob,
                               m->config.timeout_ms, err);

    g->blob_open = !st;
    if (st)
        return err_in(err, st, "opening stream '%s' of %zu bytes", c.stream, n);
    st = send_command(m, &c, err);
    if (!st)
        st = mvnc_send(m, g->blob, file, BLOB_HEADER, "the blob's header", err);
    if (!st)
        st = get_status(m, MVNC_GRAPH_VERIFY, m->config.timeout_ms, err);
    c.type = MVNC_GRAPH_ALLOCATE;
    if (!st)
        st = send_command(m, &c, err);
    if (!st)
        st = mvnc_send(m, g->blob, file, (uint32_t)n, "the blob", err);
    if (!st)
        st = read_about(g, loading_ms, err);
    c.type = MVNC_GRAPH_ALLOCATION_VERIFY;
    return st ? st : command(m, &c, err);
}

static bool sound(const mvnc_tensor *t)
{
    return t->bytes && t->batch && t->channels && t->w && t->h;
}

static vpu_status open_fifo(mvnc_graph *g, const mvnc_tensor *t, bool input,
                            uint32_t elements, vpu_error *err)
{
    mvnc *m = g->mvnc;
    mvnc_command c = {.type = MVNC_GRAPH_BUFFER_ALLOCATE,
                      .id = m->next_fifo++,
                      .elements = elements,
                      .tensor = *t,
                      .host_reads = !input,
                      .host_writes = input};
    uint32_t *stream = input ? &g->input : &g->output;
    uint64_t size = input ? (uint64_t)t->bytes * elements : MVNC_RESULT_STREAM;
    vpu_status st;

    if (!sound(t) || size > UINT32_MAX - XLINK_SIZE_UNIT)
        return err_set(err, VPU_ERR_MISMATCH,
                       "the stick describes the %s as n %u c %u w %u h %u, %u "
                       "bytes",
                       input ? "input" : "output", t->batch, t->channels, t->w,
                       t->h, t->bytes);
    snprintf(c.stream, sizeof c.stream, "FIFO%u", c.id);
    *(input ? &g->input_id : &g->output_id) = c.id;
    st = xlink_open(m->xlink, c.stream, (uint32_t)size, stream,
                    m->config.timeout_ms, err);
    if (st)
        return err_in(err, st, "opening stream '%s' of %llu bytes", c.stream,
                      (unsigned long long)size);
    *(input ? &g->input_open : &g->output_open) = true;
    st = command(m, &c, err);
    *(input ? &g->input_there : &g->output_there) = !st;
    return st;
}

vpu_status mvnc_graph_create(mvnc *m, const void *file, size_t n,
                             const mvnc_graph_config *config, mvnc_graph **out,
                             vpu_error *err)
{
    mvnc_graph *g;
    vpu_status st;

    if (n < BLOB_HEADER || n > UINT32_MAX - XLINK_SIZE_UNIT ||
        !config->elements)
        return err_set(err, VPU_ERR_INVALID,
                       "a blob of %zu bytes, %u elements: expected at least %d "
                       "bytes, an element",
                       n, config->elements, BLOB_HEADER);
    if (n > m->caps.max_memory)
        return err_set(err, VPU_ERR_NOMEM,
                       "a blob of %zu bytes, the stick has %u", n,
                       m->caps.max_memory);
    if (config->executors > m->caps.max_executors)
        return err_set(err, VPU_ERR_INVALID, "%u executors, the stick has %u",
                       config->executors, m->caps.max_executors);
    g = calloc(1, sizeof *g);
    if (!g)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a graph");
    g->mvnc = m;
    g->executors = config->executors;
    pthread_mutex_lock(&m->monitor_lock);
    g->id = m->next_graph++;
    g->next = m->graphs;
    m->graphs = g;
    st = load(g, file, n, config->loading_ms, err);
    if (!st)
        st = open_fifo(g, &g->info.input, true, config->elements, err);
    if (!st)
        st = open_fifo(g, &g->info.output, false, config->elements, err);
    pthread_mutex_unlock(&m->monitor_lock);
    if (st)
        mvnc_graph_destroy(g, NULL);
    else
        *out = g;
    return st;
}

mvnc_graph_info mvnc_graph_about(const mvnc_graph *g)
{
    return g->info;
}

/* --- forgetting ---------------------------------------------------------- */

/* The first error stays. */
/* The first error counts. */
static void note(vpu_status *first, vpu_status st, const vpu_error *from,
                 vpu_error *err)
{
    if (*first || !st)
        return;
    *first = st;
    if (err)
        *err = *from;
}

static vpu_status close_one(mvnc_graph *g, uint32_t stream, bool *is_open,
                            unsigned timeout_ms, vpu_error *err)
{
    bool was = *is_open;

    *is_open = false;
    return was && timeout_ms
               ? xlink_close(g->mvnc->xlink, stream, timeout_ms, err)
               : VPU_OK;
}

void mvnc_graph_forget(mvnc_graph *g, unsigned timeout_ms)
{
    mvnc *m = g->mvnc;

    pthread_mutex_lock(&m->monitor_lock);
    for (mvnc_graph **p = &m->graphs; *p; p = &(*p)->next)
        if (*p == g) {
            *p = g->next;
            break;
        }
    pthread_mutex_unlock(&m->monitor_lock);
    if (close_one(g, g->input, &g->input_open, timeout_ms, NULL) ||
        close_one(g, g->output, &g->output_open, timeout_ms, NULL))
        timeout_ms = 0; /* waits must not add up */
    close_one(g, g->blob, &g->blob_open, timeout_ms, NULL);
    free(g);
}

static vpu_status drop_fifo(mvnc_graph *g, bool input, vpu_error *err)
{
    mvnc *m = g->mvnc;
    mvnc_command c = {.type = MVNC_GRAPH_BUFFER_DEALLOCATE,
                      .id = input ? g->input_id : g->output_id};
    uint8_t stop[4];
    vpu_status st = VPU_OK;

    word_set(stop, MVNC_STOP);
    if (input)
        st =
            mvnc_send(m, g->input, stop, sizeof stop, "the end of inputs", err);
    return st ? st : command(m, &c, err);
}

vpu_status mvnc_graph_destroy(mvnc_graph *g, vpu_error *err)
{
    mvnc_command c = {.type = MVNC_GRAPH_DEALLOCATE};
    unsigned timeout_ms;
    vpu_status st = VPU_OK;
    vpu_error e;
    mvnc *m;

    if (!g)
        return VPU_OK;
    m = g->mvnc;
    c.id = g->id;
    timeout_ms = m->config.timeout_ms;
    pthread_mutex_lock(&m->monitor_lock);
    if (g->input_there)
        note(&st, drop_fifo(g, true, &e), &e, err);
    if (!st)
        note(&st, close_one(g, g->input, &g->input_open, timeout_ms, &e), &e,
             err);
    if (!st && g->output_there)
        note(&st, drop_fifo(g, false, &e), &e, err);
    if (!st)
        note(&st, close_one(g, g->output, &g->output_open, timeout_ms, &e), &e,
             err);
    if (!st && g->allocated)
        note(&st, command(m, &c, &e), &e, err);
    if (!st)
        note(&st, close_one(g, g->blob, &g->blob_open, timeout_ms, &e), &e,
             err);
    pthread_mutex_unlock(&m->monitor_lock);
    mvnc_graph_forget(g, st ? 0 : timeout_ms);
    return st;
}

/* --- inferences ---------------------------------------------------------- */

vpu_status mvnc_infer(mvnc_graph *g, const void *input, vpu_error *err)
{
    mvnc *m = g->mvnc;
    mvnc_command c = {.type = MVNC_GRAPH_TRIGGER,
                      .id = g->id,
                      .input = g->input_id,
                      .output = g->output_id};
    vpu_status st =
        mvnc_send(m, g->input, input, g->info.input.bytes, "the input", err);

    if (st)
        return st;
    pthread_mutex_lock(&m->monitor_lock);
    st = command(m, &c, err);
    pthread_mutex_unlock(&m->monitor_lock);
    return st;
}

vpu_status mvnc_result(mvnc_graph *g, void *output, unsigned run_ms,
                       vpu_error *err)
{
    return mvnc_get(g->mvnc,
                    &(const mvnc_expected){.stream = g->output,
                                           .n = g->info.output.bytes,
                                           .timeout_ms = run_ms,
                                           .what = "the output"},
                    output, err);
}

/* Data, then the status. */
static vpu_status question(mvnc_graph *g, mvnc_graph_type type, void *out,
                           uint32_t n, const char *what, vpu_error *err)
{
    mvnc *m = g->mvnc;
    mvnc_command c = {.type = type, .id = g->id};
    vpu_status st, status;
    vpu_error e;

    pthread_mutex_lock(&m->monitor_lock);
    st = send_command(m, &c, err);
    if (!st) {
        st = mvnc_get(m,
                      &(const mvnc_expected){.stream = m->monitor,
                                             .n = n,
                                             .timeout_ms = m->config.timeout_ms,
                                             .what = what},
                      out, err);
        if (!st || st == VPU_ERR_MISMATCH) {
            status = get_status(m, type, m->config.timeout_ms, &e);
            note(&st, status, &e, err);
        }
    }
    pthread_mutex_unlock(&m->monitor_lock);
    return st;
}

vpu_status mvnc_timings(mvnc_graph *g, float *out, vpu_error *err)
{
    uint64_t n = 4 * ((uint64_t)g->info.n_stages + 2);

    if (n > UINT32_MAX)
        return err_set(err, VPU_ERR_MISMATCH, "the stick says %u stages",
                       g->info.n_stages);
    return question(g, MVNC_GRAPH_GET_TIMING_DATA, out, (uint32_t)n,
                    "the times", err);
}

vpu_status mvnc_debug(mvnc_graph *g, char out[MVNC_DEBUG + 1], vpu_error *err)
{
    out[MVNC_DEBUG] = 0;
    return question(g, MVNC_GRAPH_GET_DEBUG_DATA, out, MVNC_DEBUG,
                    "the debug text", err);
}
