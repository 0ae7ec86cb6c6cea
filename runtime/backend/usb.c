/* A graph as a blob on a stick. */
#include "runtime/backend/ops.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/backend/binaries.h"
#include "runtime/backend/usb_link.h"
#include "runtime/link/mvnc.h"

enum { EXECUTORS = 1, ELEMENTS = 2 };

typedef struct {
    arena *a;
    const backend_config *cfg;
    const graph *g;
    backend_caps caps;
    backend_usb_session s;
    blob b;
    mvnc_graph *graph;
    uint8_t *input, *output;
    float *ms;
    uint32_t *offsets; /* of the graph's inputs and outputs in these */
    uint64_t clock;    /* ns of the trace's stages */
} stick;

static vpu_status probe(arena *a, backend_device **list, uint32_t *n,
                        vpu_error *err)
{
    usb_stick *found = NULL;
    uint32_t n_found = 0;
    vpu_error why;
    vpu_status st = usb_list(a, &found, &n_found, &why);

    if (st == VPU_ERR_NOMEM)
        return err_set(err, st, "%s", why.msg);
    *list = arena_array(a, backend_device, n_found + 1);
    *n = n_found ? n_found : 1;
    for (uint32_t i = 0; i < n_found; i++)
        (*list)[i] = (backend_device){
            .id = arena_printf(a, "usb:%s", found[i].name),
            .name = arena_printf(a, "Myriad X stick, %s, %s",
                                 found[i].booted ? "booted" : "not booted",
                                 found[i].speed),
            .version = "layout as its firmware's",
            .half = true,
            .usable = found[i].usable,
            .why = found[i].why};
    if (!n_found)
        **list = (backend_device){
            .id = "usb",
            .why =
                st ? arena_strdup(a, why.msg)
                   : "no stick is plugged in (a virtual one: vpu stick, then "
                     "usb:unix:PATH or usb:tcp:ADDRESS:PORT)"};
    return VPU_OK;
}

/* --- the blob ------------------------------------------------------------ */

static config_release release_of(const stick *t)
{
    return t->cfg->stick && t->cfg->stick->release
               ? t->cfg->stick->release
               : xlink_last_release(t->s.layout);
}

/* As many as the vendor's plug-in gives a network, unless told. */
static uint32_t shaves_of(const backend_config *c)
{
    return c->stick && c->stick->n_shaves ? c->stick->n_shaves : 7;
}

static vpu_status make_blob(stick *t, str *bytes, vpu_error *err)
{
    const backend_config *c = t->cfg;
    const backend_blob_config cfg = {.binaries = {.source_dir = c->source_dir,
                                                  .compile = c->compile,
                                                  .simulator = t->s.is_virtual,
                                                  .log = c->log},
                                     .release = release_of(t),
                                     .n_shaves = shaves_of(c)};

    if (t->g->blob) { /* as it is */
        str_add(bytes, t->g->blob, t->g->n_blob);
        return blob_parse(t->g->blob, t->g->n_blob, "the blob", t->a, &t->b,
                          err);
    }
    return backend_blob(t->g, &cfg, t->a, &t->b, bytes, err);
}

static vpu_status find_places(stick *t, vpu_error *err)
{
    t->offsets = arena_array(t->a, uint32_t, t->g->n_buffers + 1);
    for (uint32_t i = 0; i < t->g->n_buffers; i++) {
        const graph_buffer *x = &t->g->buffers[i];
        bool in = x->role == GRAPH_INPUT;
        const blob_io *list = in ? t->b.inputs : t->b.outputs;
        uint32_t n = in ? t->b.n_inputs : t->b.n_outputs, k = 0;

        if (!in && x->role != GRAPH_OUTPUT)
            continue;
        if (t->g->blob)
            k = x->port;
        while (!t->g->blob && k < n &&
               strcmp(list[k].name, network_name(t->g, i)))
            k++;
        if (k >= n || list[k].offset + x->bytes >
                          (in ? t->b.inputs_size : t->b.outputs_size))
            return err_set(err, VPU_ERR_MISMATCH,
                           "the blob has no '%s' of %llu bytes", x->name,
                           (unsigned long long)x->bytes);
        t->offsets[i] = list[k].offset;
    }
    return VPU_OK;
}

static vpu_status load(stick *t, const str *bytes, vpu_error *err)
{
    mvnc_graph_info about;
    vpu_status st = mvnc_graph_create(
        t->s.mvnc, bytes->data, bytes->n,
        &(const mvnc_graph_config){.executors = EXECUTORS,
                                   .elements = ELEMENTS,
                                   .loading_ms = USB_LOADING_MS},
        &t->graph, err);

    if (st)
        return st;
    about = mvnc_graph_about(t->graph);
    if (about.input.bytes != t->b.inputs_size ||
        about.output.bytes != t->b.outputs_size ||
        about.n_stages != t->b.n_stages)
        return err_set(err, VPU_ERR_MISMATCH,
                       "the stick says %u bytes in, %u out, %u stages; the "
                       "blob has %u, %u, %u",
                       about.input.bytes, about.output.bytes, about.n_stages,
                       t->b.inputs_size, t->b.outputs_size, t->b.n_stages);
    t->input = arena_array(t->a, uint8_t, (size_t)about.input.bytes + 1);
    t->output = arena_array(t->a, uint8_t, (size_t)about.output.bytes + 1);
    t->ms = arena_array(t->a, float, (size_t)about.n_stages + 2);
    return VPU_OK;
}

/* --- opening ------------------------------------------------------------- */

static void stick_close(void *self)
{
    stick *t = self;
    vpu_error err;
    vpu_status st;

    if (!t)
        return;
    st = t->s.failed ? VPU_OK : mvnc_graph_destroy(t->graph, &err);
    if (st)
        log_warn(t->cfg->log, "closing the stick: %s", err.msg);
    backend_usb_session_close(&t->s);
    arena_destroy(t->a);
}

static vpu_status stick_open(const backend_config *cfg, const graph *g,
                             void **self, vpu_error *err)
{
    arena *a = arena_create(0);
    stick *t = arena_new(a, stick);
    str bytes = {0};
    vpu_status st;

    *self = NULL;
    t->a = a;
    t->cfg = cfg;
    t->g = g;
    st = backend_usb_session_choose(&t->s, cfg->device, cfg->stick, cfg->log,
                                    err);
    t->s.trace = cfg->trace;
    if (!st)
        st = make_blob(t, &bytes, err);
    if (!st)
        st = find_places(t, err);
    if (!st)
        st = backend_usb_session_open(&t->s, cfg->print, cfg->print_user, err);
    if (!st) {
        st = load(t, &bytes, err);
        if (st)
            backend_usb_session_explain(&t->s, err);
    }
    str_free(&bytes);
    if (st) {
        stick_close(t);
        return st;
    }
    t->caps = (backend_caps){.device = t->s.is_virtual ? "virtual stick"
                                                       : "Myriad X stick",
                             .version = t->s.about,
                             .n_shaves = shaves_of(cfg),
                             .timed = true};
    *self = t;
    return VPU_OK;
}

static const backend_caps *stick_caps(const void *self)
{
    return &((const stick *)self)->caps;
}

/* --- running ------------------------------------------------------------- */

static vpu_status stick_write(void *self, uint32_t i, const void *data,
                              vpu_error *err)
{
    stick *t = self;

    if (t->g->buffers[i].role != GRAPH_INPUT)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "'%s' cannot be written on a stick",
                       t->g->buffers[i].name);
    memcpy(t->input + t->offsets[i], data, t->g->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status stick_read(void *self, uint32_t i, void *data, vpu_error *err)
{
    stick *t = self;

    if (t->g->buffers[i].role != GRAPH_OUTPUT)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "'%s' cannot be read from a stick",
                       t->g->buffers[i].name);
    memcpy(data, t->output + t->offsets[i], t->g->buffers[i].bytes);
    return VPU_OK;
}

/* Of launch i. A blob's stage has one time for all of its launches: the first
 * one's, in the order they run. */
static double ms_of(const stick *t, uint32_t i)
{
    const graph_launch *l = t->g->launches;
    uint32_t stage = t->g->blob ? l[i].line : i;

    for (uint32_t k = 0; k < i && t->g->blob && t->g->n_launches > 1; k++)
        if (l[k].line == stage)
            return 0;
    return stage < t->b.n_stages ? (double)t->ms[stage] : 0;
}

static void trace_stages(stick *t)
{
    trc_writer *w = t->cfg->trace;
    trc_track track;

    if (!w)
        return;
    track =
        trc_track_slices(w, trc_track_group(w, 0, "stick"), "stages", TRC_NS);
    for (uint32_t i = 0; i < t->g->n_launches; i++) {
        double ms = ms_of(t, i);
        uint64_t ns = ms > 0 ? (uint64_t)(ms * 1e6) : 0;
        trc_event e = {.name = t->g->launches[i].name};

        trc_slice(w, track, t->clock, t->clock + ns, &e);
        t->clock += ns;
    }
}

static unsigned run_ms(const stick *t)
{
    double ms = t->cfg->how.timeout_s * 1e3 * (t->g->n_launches + 1);

    return !t->cfg->how.timeout_s || ms > 2e9 ? 2000000000 : (unsigned)ms + 1;
}

static vpu_status infer(stick *t, vpu_error *err)
{
    vpu_status st = mvnc_infer(t->graph, t->input, err);

    if (!st)
        st = mvnc_result(t->graph, t->output, run_ms(t), err);
    if (st == VPU_ERR_MISMATCH) {
        char why[MVNC_DEBUG + 1] = {0};
        size_t n = strlen(err->msg);

        if (!mvnc_debug(t->graph, why, NULL) && *why)
            snprintf(err->msg + n, sizeof err->msg - n, "; the stick says: %s",
                     why);
    }
    return st ? st : mvnc_timings(t->graph, t->ms, err);
}

static vpu_status stick_run(void *self, uint32_t first, uint32_t n,
                            backend_result *results, vpu_error *err)
{
    stick *t = self;
    vpu_error local;
    vpu_status st;

    if (first || n != t->g->n_launches)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "a stick runs all launches of a graph at once");
    st = infer(t, &local);
    if (st) {
        backend_usb_session_explain(&t->s, &local);
        if (err)
            *err = local;
        return st;
    }
    for (uint32_t i = 0; i < n; i++)
        results[i] = (backend_result){.seconds = ms_of(t, i) * 1e-3};
    trace_stages(t);
    return VPU_OK;
}

static vpu_status temperature(void *self, double *celsius, vpu_error *err)
{
    float told[MVNC_N_THERMAL] = {0};
    vpu_status st = mvnc_thermal(((stick *)self)->s.mvnc, told, err);

    *celsius = (double)told[1]; /* behind the level of throttling */
    return st;
}

const backend_ops backend_usb_ops = {
    .name = "usb",
    .called = "sticks",
    .about = "a Myriad X stick, or vpu stick",
    .probe = probe,
    .open = stick_open,
    .close = stick_close,
    .caps = stick_caps,
    .write = stick_write,
    .read = stick_read,
    .extras = BACKEND_TRACE | BACKEND_NATIVE,
    .run = stick_run,
    .stick = &(const backend_stick_ops){backend_usb_layout, backend_usb_reset,
                                        temperature}};
