/* Questions with networks: two Copy stages, each from an input of its own to an
 * output, which any firmware can run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/word.h"
#include "runtime/blob/plan.h"
#include "runtime/blob/stage.h"
#include "runtime/survey/survey_priv.h"

enum {
    LOADING_MS = 20000,
    RESULT_MS = 10000,
    PACKETS_MS = 500,
    FIRST_ID = 90, /* of graphs asked about, far from those of sessions */
    NO_STAGE = 250,
    SHAVES = 7,
    SLICES = 9
};

/* --- the network --------------------------------------------------------- */

static vpu_status build(const survey_state *v, uint32_t stage, blob *b,
                        str *bytes, vpu_error *err)
{
    static const plan_tensor tensors[] = {
        {.name = "large", BLOB_INPUT, BLOB_F16, 0x4321, 4, {256, 256, 8, 1}},
        {.name = "small", BLOB_INPUT, BLOB_F16, 0x4321, 4, {7, 5, 3, 1}},
        {.name = "large copy",
         BLOB_OUTPUT,
         BLOB_F16,
         0x4321,
         4,
         {256, 256, 8, 1}},
        {.name = "small copy", BLOB_OUTPUT, BLOB_F16, 0x4321, 4, {7, 5, 3, 1}}};
    static const uint32_t of[2][2] = {{0, 2}, {1, 3}};
    const plan_stage stages[] = {
        {.type = STAGE_COPY, .tensors = of[0], .n_tensors = 2},
        {.type = stage, .tensors = of[1], .n_tensors = 2}};
    const plan p = {.release =
                        blob_release_of(xlink_last_release(v->config->layout)),
                    .n_slices = SLICES,
                    .n_shaves = SHAVES,
                    .tensors = tensors,
                    .n_tensors = 4,
                    .stages = stages,
                    .n_stages = 2};
    vpu_status st = plan_blob(&p, v->arena, b, err);

    return st ? st : blob_build(b, bytes, err);
}

/* --- inferences ---------------------------------------------------------- */

/* Halves of a pattern; every output is an input's copy, at its own place. */
static void fill(const blob *b, uint32_t which, uint8_t *in, uint8_t *out)
{
    memset(out, 0, b->outputs_size);
    for (uint32_t i = 0; i < b->inputs_size; i += 2) {
        uint32_t half =
            0x3c00 | ((((i * 2654435761u >> 12) + which * 77) & 0x3ff));

        in[i] = (uint8_t)half;
        in[i + 1] = (uint8_t)(half >> 8);
    }
    for (uint32_t k = 0; k < b->n_inputs; k++)
        memcpy(out + b->outputs[k].offset, in + b->inputs[k].offset,
               blob_desc_bytes(&b->inputs[k].desc));
}

static bool copied(const blob *b, const uint8_t *want, const uint8_t *got)
{
    for (uint32_t k = 0; k < b->n_outputs; k++)
        if (memcmp(want + b->outputs[k].offset, got + b->outputs[k].offset,
                   blob_desc_bytes(&b->outputs[k].desc)))
            return false;
    return true;
}

/* The times of one inference, from the packets; ms since the TRIGGER. */
static void tell_inference(survey_state *v, const mvnc_graph *g, size_t from)
{
    survey_watch *w = &v->watch;
    survey_packet input, ack, trigger, status, release, result;
    size_t sent = survey_find(
        w, from, survey_on(SURVEY_ASKED, XLINK_WRITE, g->input), &input);
    size_t acked =
        survey_find(w, sent, survey_any(SURVEY_ANSWERED, XLINK_WRITE), &ack);
    size_t asked =
        survey_find(w, sent,
                    (survey_pattern){SURVEY_ASKED, XLINK_WRITE,
                                     v->mvnc->monitor, MVNC_GRAPH_TRIGGER},
                    &trigger);
    size_t answered = survey_find(
        w, asked, survey_on(SURVEY_RECEIVED, XLINK_WRITE, v->mvnc->monitor),
        &status);
    size_t freed = survey_find(
        w, sent, survey_on(SURVEY_RECEIVED, XLINK_READ_REL, g->input),
        &release);
    size_t done = survey_find(
        w, asked, survey_on(SURVEY_RECEIVED, XLINK_WRITE, g->output), &result);

    while (acked != SIZE_MAX && ack.header.id != input.header.id)
        acked = survey_find(w, acked + 1,
                            survey_any(SURVEY_ANSWERED, XLINK_WRITE), &ack);
    if (acked != SIZE_MAX)
        survey_see(v, SURVEY_link_rate, SURVEY_NOTED,
                   "%u bytes acknowledged after %.2f ms, %.0f MB/s",
                   input.header.size, survey_ms(&input, &ack),
                   input.header.size * 1e-3 / survey_ms(&input, &ack));
    if (answered != SIZE_MAX && done != SIZE_MAX)
        survey_see(v, SURVEY_graph_trigger, survey_whether(answered < done),
                   "answered after %.2f ms, the result after %.2f ms",
                   survey_ms(&trigger, &status), survey_ms(&trigger, &result));
    if (freed != SIZE_MAX && done != SIZE_MAX)
        survey_see(v, SURVEY_graph_input, survey_whether(freed < done),
                   "%.2f ms from TRIGGER, the result %.2f ms",
                   survey_ms(&trigger, &release), survey_ms(&trigger, &result));
    else if (done != SIZE_MAX)
        survey_miss(v, SURVEY_graph_input, SURVEY_NO_ANSWER,
                    "not released before the second result");
}

static vpu_status tell_times(survey_state *v, mvnc_graph *g, double host_ms,
                             vpu_error *err)
{
    uint32_t n = g->info.n_stages + 2;
    float *ms = arena_array(v->arena, float, n);
    vpu_status st;
    str text = {0};
    double sum = 0;

    st = mvnc_timings(g, ms, err);
    for (uint32_t i = 0; i < n && !st; i++) {
        str_printf(&text, "%s%g", i ? " " : "", (double)ms[i]);
        sum += i + 2 < n ? (double)ms[i] : 0;
    }
    if (!st)
        survey_see(v, SURVEY_graph_times,
                   survey_whether((double)ms[n - 1] >= sum * 0.999 &&
                                  (double)ms[n - 1] <= host_ms),
                   "%s; the host waited %.2f ms", str_text(&text), host_ms);
    str_free(&text);
    return survey_failed(v, SURVEY_graph_times, st, err);
}

static vpu_status tell_debug(survey_state *v, mvnc_graph *g, vpu_error *err)
{
    char text[MVNC_DEBUG + 1];
    vpu_status st = mvnc_debug(g, text, err);
    str shown = {0};

    for (size_t i = 0; !st && text[i]; i++)
        str_printf(&shown, text[i] >= 32 && text[i] < 127 ? "%c" : "\\x%02x",
                   (unsigned char)text[i]);
    if (!st)
        survey_see(v, SURVEY_graph_debug, survey_whether(!*text), "'%s'",
                   str_text(&shown));
    str_free(&shown);
    return survey_failed(v, SURVEY_graph_debug, st, err);
}

/* Two are on their way at once. */
static vpu_status infer_twice(survey_state *v, mvnc_graph *g, const blob *b,
                              vpu_error *err)
{
    uint8_t *in = arena_array(v->arena, uint8_t, b->inputs_size);
    uint8_t *got = arena_array(v->arena, uint8_t, b->outputs_size), *want[2];
    size_t from = survey_packets(&v->watch);
    uint64_t start = survey_now_ms();
    vpu_status st = VPU_OK;
    bool first = false, second = false, swapped = false;
    double host_ms;

    for (uint32_t i = 0; i < 2 && !st; i++) {
        want[i] = arena_array(v->arena, uint8_t, b->outputs_size);
        fill(b, i, in, want[i]);
        st = mvnc_infer(g, in, err);
    }
    if (!st)
        st = mvnc_result(g, got, RESULT_MS, err);
    if (!st) {
        first = copied(b, want[0], got);
        swapped = copied(b, want[1], got);
        st = mvnc_result(g, got, RESULT_MS, err);
        second = !st && copied(b, want[1], got);
    }
    host_ms = (double)(survey_now_ms() - start) + 1;
    tell_inference(v, g, from);
    if (st)
        return st;
    survey_see(v, SURVEY_graph_order, survey_whether(first && second), "%s",
               first && second ? "in order, each its inputs' copy"
               : swapped       ? "the second first"
                               : "neither result is its inputs' copy");
    st = tell_times(v, g, host_ms, err);
    return st ? st : tell_debug(v, g, err);
}

/* --- the graph ----------------------------------------------------------- */

static void tell_loading(survey_state *v)
{
    static const mvnc_graph_type commands[] = {
        MVNC_GRAPH_VERIFY, MVNC_GRAPH_ALLOCATE, MVNC_GRAPH_ALLOCATION_VERIFY};
    double ms[3] = {0};
    size_t at = 0;

    for (int i = 0; i < 3; i++) {
        survey_packet asked, answered;

        at = survey_find(&v->watch, at,
                         (survey_pattern){SURVEY_ASKED, XLINK_WRITE,
                                          v->mvnc->monitor, commands[i]},
                         &asked);
        at = survey_find(
            &v->watch, at,
            survey_on(SURVEY_RECEIVED, XLINK_WRITE, v->mvnc->monitor),
            &answered);
        if (at == SIZE_MAX)
            return;
        ms[i] = survey_ms(&asked, &answered);
    }
    survey_see(v, SURVEY_graph_load, SURVEY_NOTED, "%.2f, %.2f, %.2f ms", ms[0],
               ms[1], ms[2]);
}

static bool flat(const mvnc_tensor *t, uint32_t bytes)
{
    return t->batch == 1 && t->channels == 1 && t->w == bytes && t->h == 1 &&
           t->bytes == bytes;
}

static void tell_descriptors(survey_state *v, const mvnc_graph_info *g,
                             const blob *b)
{
    const mvnc_tensor *i = &g->input, *o = &g->output;

    survey_see(
        v, SURVEY_graph_descriptors,
        survey_whether(flat(i, b->inputs_size) && flat(o, b->outputs_size)),
        "in %u, %u, %u, %u, %u; out %u, %u, %u, %u, %u; %u stages; the "
        "blob has %u and %u bytes, 2 stages",
        i->batch, i->channels, i->w, i->h, i->bytes, o->batch, o->channels,
        o->w, o->h, o->bytes, g->n_stages, b->inputs_size, b->outputs_size);
}

static bool fits(const mvnc_graph_info *g, const blob *b)
{
    return g->input.bytes == b->inputs_size &&
           g->output.bytes == b->outputs_size && g->n_stages == b->n_stages;
}

static void tell_memory(survey_state *v, const uint32_t used[3])
{
    survey_see(v, SURVEY_device_memory,
               survey_whether(used[1] > used[0] && used[2] == used[0]),
               "%u, %u, %u bytes", used[0], used[1], used[2]);
}

static vpu_status with_graph(survey_state *v, const blob *b, const str *bytes,
                             uint32_t used[3], vpu_error *err)
{
    mvnc_graph *g;
    vpu_status st = mvnc_graph_create(
        v->mvnc, bytes->data, bytes->n,
        &(const mvnc_graph_config){
            .executors = 1, .elements = 2, .loading_ms = LOADING_MS},
        &g, err);

    tell_loading(v);
    if (st)
        return st;
    tell_descriptors(v, &g->info, b);
    st = mvnc_used_memory(v->mvnc, &used[1], err);
    if (!st && !fits(&g->info, b))
        err_set(err, st = VPU_ERR_MISMATCH,
                "the stick's sizes are not the blob's");
    if (!st)
        st = infer_twice(v, g, b, err);
    if (st) /* RESET will do */
        return st;
    return mvnc_graph_destroy(g, err);
}

/* What the rest waits for; a reason for those that nothing was seen of. */
static vpu_status end_graph(survey_state *v, vpu_status st,
                            const vpu_error *err)
{
    static const survey_id ids[] = {
        SURVEY_device_memory, SURVEY_graph_load,  SURVEY_graph_descriptors,
        SURVEY_graph_trigger, SURVEY_graph_input, SURVEY_graph_order,
        SURVEY_graph_times,   SURVEY_graph_debug, SURVEY_link_rate};

    for (size_t i = 0; st && i < sizeof ids / sizeof *ids; i++)
        survey_miss(v, ids[i], SURVEY_NO_ANSWER, "%s", err->msg);
    return st;
}

vpu_status survey_graph(survey_state *v, vpu_error *err)
{
    uint32_t used[3] = {0};
    str bytes = {0};
    blob b;
    vpu_status st = build(v, STAGE_COPY, &b, &bytes, err);

    if (!st)
        st = mvnc_used_memory(v->mvnc, &used[0], err);
    if (!st)
        st = with_graph(v, &b, &bytes, used, err);
    if (!st)
        st = mvnc_used_memory(v->mvnc, &used[2], err);
    if (!st)
        tell_memory(v, used);
    str_free(&bytes);
    return end_graph(v, st, err);
}

/* --- blobs that are wrong ------------------------------------------------ */

static vpu_status get_status(survey_state *v, unsigned ms, uint32_t *status,
                             vpu_error *err)
{
    uint8_t bytes[4];
    vpu_status st = mvnc_get(v->mvnc,
                             &(const mvnc_expected){.stream = v->mvnc->monitor,
                                                    .n = sizeof bytes,
                                                    .timeout_ms = ms,
                                                    .what = "a status"},
                             bytes, err);

    if (!st)
        *status = word_get(bytes);
    return st;
}

/* A VERIFY that the stick has answered. */
typedef struct {
    mvnc_command command;
    uint32_t stream; /* of the graph, open */
    uint32_t status;
} verified;

/* Opens the graph's stream and sends VERIFY and the header. */
static vpu_status verify(survey_state *v, uint32_t id, const str *bytes,
                         verified *out, vpu_error *err)
{
    mvnc_command *c = &out->command;
    uint8_t command[MVNC_MAX_COMMAND];
    vpu_status st;

    *c = (mvnc_command){.type = MVNC_GRAPH_VERIFY, .id = id, .executors = 1};
    snprintf(c->stream, sizeof c->stream, "graphBuffer%u", id);
    st = xlink_open(v->mvnc->xlink, c->stream, (uint32_t)bytes->n, &out->stream,
                    v->mvnc->config.timeout_ms, err);
    if (!st)
        st = mvnc_send(v->mvnc, v->mvnc->monitor, command,
                       mvnc_encode(c, command), "VERIFY", err);
    if (!st)
        st = mvnc_send(v->mvnc, out->stream, bytes->data, BLOB_HEADER,
                       "the blob's header", err);
    return st ? st
              : get_status(v, v->mvnc->config.timeout_ms, &out->status, err);
}

/* Where the header is spoiled: byte, value, what we assume is answered. */
static const struct {
    survey_id id;
    uint32_t at, value, assumed;
} spoiled[] = {{SURVEY_verify_magic, 52, BLOB_MAGIC + 1, MVNC_STATUS_INTERNAL},
               {SURVEY_verify_version, 60, 7, MVNC_STATUS_UNSUPPORTED},
               {SURVEY_verify_size, 56, 1u << 20, MVNC_STATUS_SUCCESS},
               {SURVEY_verify_elf, 0, 0x21212121, MVNC_STATUS_SUCCESS}};
enum { N_SPOILED = sizeof spoiled / sizeof *spoiled };

vpu_status survey_verify(survey_state *v, vpu_error *err)
{
    vpu_status st = VPU_OK;
    verified answer;
    str bytes = {0};
    blob b;

    for (uint32_t i = 0; i < N_SPOILED && !st; i++) {
        str_free(&bytes);
        st = build(v, STAGE_COPY, &b, &bytes, err);
        if (st)
            break;
        word_set((uint8_t *)bytes.data + spoiled[i].at, spoiled[i].value);
        st = verify(v, FIRST_ID + i, &bytes, &answer, err);
        if (!st)
            survey_see(v, spoiled[i].id,
                       survey_whether(answer.status == spoiled[i].assumed),
                       "%u, %s", answer.status,
                       mvnc_status_text(answer.status));
        st = survey_failed(v, spoiled[i].id, st, err);
    }
    str_free(&bytes);
    return st;
}

/* Packets of a stream that are there, or come soon. */
static unsigned count_packets(survey_state *v, uint32_t stream)
{
    xlink_packet p;
    unsigned n = 0;

    while (n < 8 && !xlink_read(v->mvnc->xlink, stream, &p, PACKETS_MS, NULL) &&
           !xlink_release(v->mvnc->xlink, stream, v->mvnc->config.timeout_ms,
                          NULL))
        n++;
    return n;
}

static vpu_status allocate(survey_state *v, const str *bytes, vpu_error *err)
{
    uint8_t out[MVNC_MAX_COMMAND];
    uint32_t status;
    verified answer;
    unsigned n;
    vpu_status st = verify(v, FIRST_ID, bytes, &answer, err);

    if (st)
        return st;
    if (answer.status) {
        survey_see(v, SURVEY_allocate_stage, SURVEY_DIFFERS,
                   "VERIFY refused it already: %u, %s", answer.status,
                   mvnc_status_text(answer.status));
        return VPU_OK;
    }
    answer.command.type = MVNC_GRAPH_ALLOCATE;
    st = mvnc_send(v->mvnc, v->mvnc->monitor, out,
                   mvnc_encode(&answer.command, out), "ALLOCATE", err);
    if (!st)
        st = mvnc_send(v->mvnc, answer.stream, bytes->data, (uint32_t)bytes->n,
                       "the blob", err);
    if (!st)
        st = get_status(v, LOADING_MS, &status, err);
    if (st)
        return st;
    n = count_packets(v, answer.stream);
    survey_see(v, SURVEY_allocate_stage,
               survey_whether(n == 3 && status == MVNC_STATUS_UNSUPPORTED),
               "%u packets, %u, %s", n, status, mvnc_status_text(status));
    return VPU_OK;
}

vpu_status survey_allocate(survey_state *v, vpu_error *err)
{
    str bytes = {0};
    blob b;
    vpu_status st = build(v, NO_STAGE, &b, &bytes, err);

    if (!st)
        st = allocate(v, &bytes, err);
    str_free(&bytes);
    return survey_failed(v, SURVEY_allocate_stage, st, err);
}
