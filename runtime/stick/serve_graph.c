/* Graphs and FIFOs of a session: the commands of graphMonitor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/word.h"
#include "runtime/blob/blob.h"
#include "runtime/blob/wire.h"
#include "runtime/stick/serve_priv.h"

static vpu_status send_status(stick_session *s, uint32_t status, vpu_error *err)
{
    uint32_t monitor;
    uint8_t bytes[4];
    vpu_status st = xlink_find(s->xlink, "graphMonitor", &monitor, 0, err);

    word_set(bytes, status);
    return st ? st : stick_session_send(s, monitor, bytes, sizeof bytes, err);
}

/* What a fault makes of a status. */
static uint32_t maybe(const stick_session *s, stick_fault_kind k,
                      uint32_t status)
{
    const stick_fault *f = stick_session_fault(s, k);

    return f ? f->number : status;
}

static stick_graph_slot *graph_by_id(stick_session *s, uint32_t id)
{
    for (int i = 0; i < MAX_GRAPHS; i++)
        if (s->graphs[i].used && s->graphs[i].id == id)
            return &s->graphs[i];
    return NULL;
}

static stick_fifo_slot *fifo_by_id(stick_session *s, uint32_t id)
{
    for (int i = 0; i < MAX_FIFOS; i++)
        if (s->fifos[i].used && s->fifos[i].id == id)
            return &s->fifos[i];
    return NULL;
}

static void forget_program(stick_graph_slot *g)
{
    stick_program_free(g->loaded.program);
    free(g->loaded.ms);
    g->loaded = (stick_loaded){0};
}

void stick_session_forget(stick_session *s)
{
    for (int i = 0; i < MAX_GRAPHS; i++)
        forget_program(&s->graphs[i]);
}

/* --- graphs -------------------------------------------------------------- */

/* Its data comes next, and the status after it; without a place for a graph
 * the status comes now. */
static vpu_status expect_data(stick_session *s, const mvnc_command *c,
                              vpu_error *err)
{
    stick_graph_slot *g = graph_by_id(s, c->id);

    for (int i = 0; i < MAX_GRAPHS && !g; i++)
        if (!s->graphs[i].used)
            g = &s->graphs[i];
    if (!g)
        return send_status(s, MVNC_STATUS_OUT_OF_RESOURCES, err);
    g->used = true;
    g->id = c->id;
    g->executors = c->executors;
    memcpy(g->stream, c->stream, sizeof g->stream);
    g->wants = c->type == MVNC_GRAPH_VERIFY ? WANTS_HEADER : WANTS_BLOB;
    return VPU_OK;
}

/* As far as is known what a stick looks at [U]. */
static uint32_t check_header(const xlink_packet *p)
{
    const uint8_t *h = p->data;

    if (p->bytes < BLOB_HEADER || word_get(h + 52) != BLOB_MAGIC)
        return MVNC_STATUS_INTERNAL;
    return blob_wire_known_version(word_get(h + 60), word_get(h + 64)) &&
                   word_get(h + 60) >= 5
               ? MVNC_STATUS_SUCCESS
               : MVNC_STATUS_UNSUPPORTED;
}

static uint32_t status_of(vpu_status st)
{
    switch (st) {
    case VPU_OK:
        return MVNC_STATUS_SUCCESS;
    case VPU_ERR_UNSUPPORTED:
        return MVNC_STATUS_UNSUPPORTED;
    case VPU_ERR_LIMIT:
    case VPU_ERR_NOMEM:
        return MVNC_STATUS_OUT_OF_MEMORY;
    default:
        return MVNC_STATUS_INTERNAL;
    }
}

static void tell(stick_session *s, const char *text)
{
    uint32_t console;

    log_warn(s->config->log, "%s", text);
    if (!xlink_find(s->xlink, "console", &console, 0, NULL))
        stick_session_send(s, console, text, (uint32_t)strlen(text), NULL);
}

/* What kernels print, by the thread that runs them. */
static void print(void *user, const char *text, size_t n)
{
    stick_session *s = user;
    uint32_t console;

    if (n && n <= MVNC_CONSOLE_STREAM &&
        !xlink_find(s->xlink, "console", &console, 0, NULL))
        stick_session_send(s, console, text, (uint32_t)n, NULL);
}

static uint32_t load(stick_session *s, stick_graph_slot *g, const void *file,
                     size_t n)
{
    stick_program_config cfg = {.kernels = s->config->kernels,
                                .n_threads = s->config->n_threads,
                                .timeout_s = s->config->timeout_s,
                                .desc = s->config->desc,
                                .noise = s->config->noise,
                                .no_cache = s->config->no_cache,
                                .log = s->config->log,
                                .print = print,
                                .print_user = s};
    vpu_error err;
    vpu_status st;

    stick_jobs_wait(s->jobs);
    forget_program(g);
    st = stick_program_load(file, n, &cfg, &g->loaded.program, &err);
    g->loaded.executors = g->executors;
    if (!st) {
        g->loaded.ms =
            calloc((size_t)stick_program_about(g->loaded.program).n_stages + 2,
                   sizeof *g->loaded.ms);
        if (!g->loaded.ms) {
            err_set(&err, st = VPU_ERR_NOMEM, "no memory for times");
            forget_program(g);
        }
    }
    if (st)
        tell(s, err.msg);
    return status_of(st);
}

/* The three packets come even when it failed. Networks of several inputs are
 * one tensor of bytes: what sticks say of them is not known [U]. */
static vpu_status describe(stick_session *s, const stick_graph_slot *g,
                           uint32_t stream, vpu_error *err)
{
    stick_program_info about = {0};
    uint8_t in[MVNC_TENSOR] = {0}, out[MVNC_TENSOR] = {0}, stages[4];
    vpu_status st;

    if (g->loaded.program) {
        about = stick_program_about(g->loaded.program);
        mvnc_encode_tensor(
            &(mvnc_tensor){1, 1, about.input_bytes, 1, about.input_bytes}, in);
        mvnc_encode_tensor(
            &(mvnc_tensor){1, 1, about.output_bytes, 1, about.output_bytes},
            out);
    }
    word_set(stages, about.n_stages);
    st = stick_session_send(s, stream, in, sizeof in, err);
    if (!st)
        st = stick_session_send(s, stream, out, sizeof out, err);
    return st ? st : stick_session_send(s, stream, stages, sizeof stages, err);
}

vpu_status stick_session_blob(stick_session *s, const char *name,
                              uint32_t stream, xlink_packet p, vpu_error *err)
{
    stick_graph_slot *g = NULL;
    uint32_t status;
    vpu_status st;

    for (int i = 0; i < MAX_GRAPHS && !g; i++)
        if (s->graphs[i].used && s->graphs[i].wants &&
            !strcmp(s->graphs[i].stream, name))
            g = &s->graphs[i];
    if (!g)
        return stick_session_release(s, stream, err);
    if (g->wants == WANTS_HEADER) {
        g->wants = WANTS_NOTHING;
        status = maybe(s, STICK_FAULT_verify_status, check_header(&p));
        g->used = !status; /* hosts take nothing back that was refused */
        st = stick_session_release(s, stream, err);
        return st ? st : send_status(s, status, err);
    }
    g->wants = WANTS_NOTHING;
    status = maybe(s, STICK_FAULT_alloc_status, load(s, g, p.data, p.bytes));
    st = stick_session_release(s, stream, err);
    if (!st)
        st = describe(s, g, stream, err);
    if (status) {
        forget_program(g);
        g->used = false;
    }
    return st ? st : send_status(s, status, err);
}

static uint32_t fits(const stick_session *s, const stick_graph_slot *g)
{
    if (!g || !g->loaded.program)
        return MVNC_STATUS_INVALID_HANDLE;
    return stick_session_memory(s) > MAX_MEMORY ? MVNC_STATUS_OUT_OF_MEMORY
                                                : MVNC_STATUS_SUCCESS;
}

static uint32_t forget_graph(stick_session *s, uint32_t id)
{
    stick_graph_slot *g = graph_by_id(s, id);

    if (!g)
        return MVNC_STATUS_INVALID_HANDLE;
    stick_jobs_wait(s->jobs);
    forget_program(g);
    g->used = false;
    g->wants = WANTS_NOTHING;
    return MVNC_STATUS_SUCCESS;
}

/* --- FIFOs --------------------------------------------------------------- */

static uint32_t add_fifo(stick_session *s, const mvnc_command *c)
{
    uint32_t stream;

    for (int i = 0; i < MAX_FIFOS; i++)
        if (s->fifos[i].used && !strcmp(s->fifos[i].stream, c->stream))
            return MVNC_STATUS_INVALID_HANDLE; /* packets go to one */
    if (fifo_by_id(s, c->id) || c->host_reads == c->host_writes ||
        !c->tensor.bytes || !c->elements ||
        xlink_find(s->xlink, c->stream, &stream, 0, NULL))
        return MVNC_STATUS_INVALID_HANDLE;
    for (int i = 0; i < MAX_FIFOS; i++) {
        stick_fifo_slot *f = &s->fifos[i];

        if (f->used)
            continue;
        *f = (stick_fifo_slot){.used = true,
                               .host_writes = c->host_writes,
                               .id = c->id,
                               .bytes = c->tensor.bytes,
                               .stream_id = stream};
        memcpy(f->stream, c->stream, sizeof f->stream);
        return MVNC_STATUS_SUCCESS;
    }
    return MVNC_STATUS_OUT_OF_RESOURCES;
}

static vpu_status release_oldest(stick_session *s, stick_fifo_slot *f,
                                 vpu_error *err)
{
    f->first = (f->first + 1) % XLINK_MAX_PACKETS;
    f->n_waiting--;
    return stick_session_release(s, f->stream_id, err);
}

/* The host closes the stream next, which waits for all releases. */
static vpu_status remove_fifo(stick_session *s, uint32_t id, vpu_error *err)
{
    stick_fifo_slot *f = fifo_by_id(s, id);
    vpu_status st = VPU_OK;

    if (!f)
        return send_status(s, MVNC_STATUS_INVALID_HANDLE, err);
    stick_jobs_wait(s->jobs);
    while (f->n_waiting && !st)
        st = release_oldest(s, f, err);
    f->used = false;
    return st ? st : send_status(s, MVNC_STATUS_SUCCESS, err);
}

/* An element, or the word that ends them; of elements of 4 bytes only what
 * follows tells which. */
vpu_status stick_session_element(stick_session *s, const char *name,
                                 uint32_t stream, xlink_packet p,
                                 vpu_error *err)
{
    bool end = p.bytes == 4 && word_get(p.data) == MVNC_STOP;

    for (int i = 0; i < MAX_FIFOS; i++) {
        stick_fifo_slot *f = &s->fifos[i];

        if (!f->used || !f->host_writes || strcmp(f->stream, name))
            continue;
        /* Releases go by age: those that wait go first. */
        for (vpu_status st = VPU_OK; end && f->bytes != 4 && f->n_waiting;)
            if ((st = release_oldest(s, f, err)))
                return st;
        if (end && f->bytes != 4)
            break;
        f->waiting[(f->first + f->n_waiting++) % XLINK_MAX_PACKETS] = p;
        return VPU_OK;
    }
    return stick_session_release(s, stream, err);
}

/* --- inferences ---------------------------------------------------------- */

/* The status at once, the result later [U]. */
static vpu_status trigger(stick_session *s, const mvnc_command *c,
                          vpu_error *err)
{
    stick_graph_slot *g = graph_by_id(s, c->id);
    stick_fifo_slot *in = fifo_by_id(s, c->input),
                    *out = fifo_by_id(s, c->output);
    uint32_t bytes, status = MVNC_STATUS_SUCCESS;
    vpu_status st;
    void *input;

    if (!g || !g->loaded.program || !in || !in->host_writes || !out ||
        out->host_writes)
        return send_status(s, MVNC_STATUS_INVALID_HANDLE, err);
    if (!in->n_waiting)
        return send_status(s, MVNC_STATUS_OUT_OF_RESOURCES, err);
    bytes = stick_program_about(g->loaded.program).input_bytes;
    input = malloc(bytes ? bytes : 1);
    if (!input || in->waiting[in->first].bytes != bytes)
        status = input ? MVNC_STATUS_INTERNAL : MVNC_STATUS_OUT_OF_MEMORY;
    else if (bytes)
        memcpy(input, in->waiting[in->first].data, bytes);
    st = release_oldest(s, in, err);
    status = maybe(s, STICK_FAULT_trigger_status, status);
    if (!st)
        st = send_status(s, status, err);
    if (st || status) {
        free(input);
        return st;
    }
    if (!stick_jobs_add(s->jobs, &g->loaded, input, out->stream_id)) {
        stick_jobs_wait(s->jobs);
        if (!stick_jobs_add(s->jobs, &g->loaded, input, out->stream_id))
            free(input);
    }
    return VPU_OK;
}

/* Data, then a status. */
static vpu_status answer(stick_session *s, const mvnc_command *c,
                         uint32_t stream, vpu_error *err)
{
    stick_graph_slot *g = graph_by_id(s, c->id);
    char text[MVNC_DEBUG] = {0};
    float none[2] = {0};
    const void *data = none;
    uint32_t n = sizeof none;
    vpu_status st;

    stick_jobs_wait(s->jobs);
    if (c->type == MVNC_GRAPH_GET_DEBUG_DATA) {
        if (g)
            memcpy(text, g->loaded.message, sizeof text);
        data = text;
        n = sizeof text;
    } else if (g && g->loaded.program) {
        data = g->loaded.ms;
        n = (stick_program_about(g->loaded.program).n_stages + 2) * 4;
    }
    st = stick_session_send(s, stream, data, n, err);
    return st ? st
              : send_status(
                    s, g ? MVNC_STATUS_SUCCESS : MVNC_STATUS_INVALID_HANDLE,
                    err);
}

/* --- commands ------------------------------------------------------------ */

vpu_status stick_session_command(stick_session *s, uint32_t stream,
                                 xlink_packet p, vpu_error *err)
{
    mvnc_command c;
    vpu_error problem;
    vpu_status bad = mvnc_decode(p.data, p.bytes, &c, &problem);
    vpu_status st = stick_session_release(s, stream, err);

    if (st)
        return st;
    if (bad) {
        tell(s, problem.msg);
        return send_status(s, MVNC_STATUS_NOT_IMPLEMENTED, err);
    }
    switch (c.type) {
    case MVNC_GRAPH_VERIFY:
    case MVNC_GRAPH_ALLOCATE:
        return expect_data(s, &c, err);
    case MVNC_GRAPH_ALLOCATION_VERIFY:
        return send_status(
            s, maybe(s, STICK_FAULT_fit_status, fits(s, graph_by_id(s, c.id))),
            err);
    case MVNC_GRAPH_BUFFER_ALLOCATE:
        return send_status(s, add_fifo(s, &c), err);
    case MVNC_GRAPH_BUFFER_DEALLOCATE:
        return remove_fifo(s, c.id, err);
    case MVNC_GRAPH_TRIGGER:
        return trigger(s, &c, err);
    case MVNC_GRAPH_DEALLOCATE:
        return send_status(s, forget_graph(s, c.id), err);
    default:
        return answer(s, &c, stream, err);
    }
}
