/* The host's side of mvnc against the virtual stick: packets, results, every
 * fault, hostile blobs. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/word.h"
#include "runtime/blob/network.h"
#include "runtime/link/mvnc.h"
#include "tests/runtime/stick/stick_rig.h"

/* Two stages, no conversions. */
static const bound_request mvn = {
    .folder = "mvn", .shapes = {"in0=1x4x8x16"}, .params = {"eps=0.001"}};

/* As fast as the memory. */
static const bound_request large = {.folder = "grn",
                                    .layer = "GRNDma",
                                    .shapes = {"in0=1x24x512x512"},
                                    .params = {"bias=1"}};

static arena *a;
static bound layer;
static blob net;
static str bytes;
static vpu_error err;

#define OK(call) ck_assert_msg(!(call), "%s", err.msg)

static void setup(void)
{
    a = arena_create(0);
    bytes = (str){0};
    rig_blob(a, &mvn, &layer, &net, &bytes);
}

static void teardown(void)
{
    str_free(&bytes);
    arena_destroy(a);
}

static uint32_t buffer_of(graph_role role)
{
    for (uint32_t i = 0; i < layer.graph->n_buffers; i++)
        if (layer.graph->buffers[i].role == role)
            return i;
    ck_abort();
}

/* --- packets ------------------------------------------------------------- */

/* Payloads of logged sessions (docs/usb.md, "Dumps"). */
START_TEST(worked_payloads)
{
    uint8_t out[MVNC_MAX_COMMAND], want[MVNC_MAX_COMMAND] = {2};
    mvnc_command c = {.type = MVNC_GRAPH_TRIGGER, .output = 1}, again;
    const mvnc_tensor t = {1, 3, 4, 8, 96};

    want[0x4c] = 1;
    ck_assert_uint_eq(mvnc_encode(&c, out), 84);
    ck_assert_mem_eq(out, want, 84);

    c = (mvnc_command){
        .type = MVNC_GRAPH_VERIFY, .stream = "graphBuffer0", .executors = 2};
    memset(want, 0, sizeof want);
    want[0] = 3;
    memcpy(want + 8, "graphBuffer0", 12);
    want[0x50] = 2;
    ck_assert_uint_eq(mvnc_encode(&c, out), 84);
    ck_assert_mem_eq(out, want, 84);

    c = (mvnc_command){.type = MVNC_GRAPH_BUFFER_ALLOCATE,
                       .stream = "FIFO0",
                       .elements = 4,
                       .tensor = t,
                       .host_writes = true};
    memset(want, 0, sizeof want);
    memcpy(want, "\5\0\0\0\0\0\0\0FIFO0", 13);
    want[0x48] = 4;
    memcpy(want + 0x4c, "\1\0\0\0\3\0\0\0\4\0\0\0\10\0\0\0\x60\0\0\0\0\1", 22);
    ck_assert_uint_eq(mvnc_encode(&c, out), 100);
    ck_assert_mem_eq(out, want, 100);
    memset(out + 14, 0xee, 50); /* garbage behind the name */
    OK(mvnc_decode(out, 100, &again, &err));
    ck_assert_str_eq(again.stream, "FIFO0");
    ck_assert(again.host_writes && !again.host_reads);
    ck_assert_int_eq(mvnc_decode(out, 99, &again, &err), VPU_ERR_PARSE);
    out[0] = 9;
    ck_assert_int_eq(mvnc_decode(out, 100, &again, &err), VPU_ERR_PARSE);
    memset(out + 8, 'x', 64);
    out[0] = 0;
    ck_assert_int_eq(mvnc_decode(out, 100, &again, &err), VPU_ERR_PARSE);
}
END_TEST

/* Graphs, FIFOs, memory, executors; the firmware's version; the tensor's
 * bounds.
 */
START_TEST(capabilities)
{
    const mvnc_capabilities c = {1, 2, 0x30000, 4, {5, 6, 7, 8}, {9, 10}};
    static const uint8_t want[MVNC_CAPABILITIES] = {
        [0] = 1,  [4] = 2,  [10] = 3, [12] = 4, [16] = 5,
        [20] = 6, [24] = 7, [28] = 8, [32] = 9, [36] = 10};
    uint8_t out[MVNC_CAPABILITIES] = {0};
    mvnc_capabilities again;

    mvnc_encode_capabilities(&c, out);
    ck_assert_mem_eq(out, want, sizeof want);
    again = mvnc_decode_capabilities(out);
    ck_assert_mem_eq(&again, &c, sizeof c);
}
END_TEST

/* What the host sends: requests but releases, in order. */
typedef struct {
    char list[64][32];
    int n;
    int released; /* by the host */
} requests;

static void note_request(void *user, bool sent, const xlink_header *h,
                         const void *payload, uint32_t n)
{
    requests *r = user;

    if (!sent || h->response || r->n == 64)
        return;
    if (h->event == XLINK_READ_REL)
        r->released++;
    else if (h->event == XLINK_CREATE_STREAM)
        snprintf(r->list[r->n++], 32, "CREATE %.15s %u", h->name, h->size);
    else if (h->event == XLINK_WRITE && n == 4)
        snprintf(r->list[r->n++], 32, "WRITE %u %08x", h->stream,
                 word_get(payload));
    else if (h->event == XLINK_WRITE)
        snprintf(r->list[r->n++], 32, "WRITE %u %u", h->stream, n);
    else
        snprintf(r->list[r->n++], 32, "%s %u", xlink_event_name(h->event),
                 h->stream);
}

static const mvnc_config patient = {.timeout_ms = 20000, .dead_ms = 20000};

/* The packets, their sizes and the ids of streams of docs/usb.md, "A session,
 * packet by packet". */
START_TEST(life_cycle)
{
    uint32_t in = (uint32_t)layer.graph->buffers[0].bytes;
    requests seen = {0};
    const xlink_watch watch = {note_request, &seen};
    mvnc_config c = patient;
    float heat[MVNC_N_THERMAL], ms[4];
    uint8_t *out = malloc(in);
    char text[MVNC_DEBUG + 1];
    mvnc_graph_info about;
    uint32_t used;
    rig_stick r;
    mvnc_graph *g;
    mvnc *m;
    int at = 0; /* in what was seen */

    c.layout = (xlink_layout)_i;
    c.watch = &watch;
    rig_stick_start(&r, c.layout, NULL);
    OK(mvnc_open(r.host_end, &c, &m, &err));
    ck_assert_uint_eq(mvnc_caps(m)->max_memory, 507510776);
    ck_assert_uint_eq(mvnc_caps(m)->firmware[1], 0x2480);
    OK(mvnc_set(m, MVNC_SET_POWER_CONFIG, 0, &err));
    OK(mvnc_set(m, MVNC_ENABLE_ASYNC_DMA, 1, &err));
    OK(mvnc_graph_create(m, bytes.data, bytes.n,
                         &(const mvnc_graph_config){1, 2, 60000}, &g, &err));
    about = mvnc_graph_about(g);
    ck_assert_uint_eq(about.n_stages, 2);
    ck_assert_uint_eq(about.input.bytes, in);
    for (int k = 0; k < 3; k++) {
        OK(mvnc_infer(g, layer.data[0], &err));
        OK(mvnc_result(g, out, 20000, &err));
        ck_assert_mem_eq(out, layer.data[buffer_of(GRAPH_OUTPUT)], in);
    }
    OK(mvnc_timings(g, ms, &err));
    ck_assert(ms[0] > 0 && ms[1] > 0 && ms[2] >= 0);
    ck_assert(ms[3] >= ms[0] + ms[1] - 1e-6f);
    OK(mvnc_debug(g, text, &err));
    OK(mvnc_thermal(m, heat, &err));
    ck_assert(heat[0] == 0 && heat[1] > 0 && heat[1] < 100);
    OK(mvnc_used_memory(m, &used, &err));
    ck_assert_uint_ge(used, 2 * in);
    OK(mvnc_graph_destroy(g, &err));
    OK(mvnc_close(m, &err));
    rig_stick_end(&r);
    ck_assert_int_eq(r.how, STICK_RESET);
    free(out);

#define NEXT(...)                                 \
    do {                                          \
        char want[32];                            \
        snprintf(want, sizeof want, __VA_ARGS__); \
        ck_assert_int_lt(at, seen.n);             \
        ck_assert_str_eq(seen.list[at], want);    \
        at++;                                     \
    } while (0)
    NEXT("PING 0");
    NEXT("CREATE deviceMonitor 2048");
    NEXT("WRITE 0 8");
    NEXT("CREATE graphMonitor 4096");
    NEXT("WRITE 0 8");
    NEXT("WRITE 0 8");
    NEXT("CREATE graphBuffer0 %u", (unsigned)(bytes.n + 63) / 64 * 64);
    NEXT("WRITE 1 84");
    NEXT("WRITE 2 132");
    NEXT("WRITE 1 84");
    NEXT("WRITE 2 %u", (unsigned)bytes.n);
    NEXT("WRITE 1 84");
    NEXT("CREATE FIFO0 %u", (2 * in + 63) / 64 * 64);
    NEXT("WRITE 1 100");
    NEXT("CREATE FIFO1 64");
    NEXT("WRITE 1 100");
    for (int k = 0; k < 3; k++) {
        NEXT("WRITE 3 %u", in);
        NEXT("WRITE 1 84");
    }
    NEXT("WRITE 1 8"); /* times, debug text */
    NEXT("WRITE 1 8");
    NEXT("WRITE 0 8"); /* heat, memory */
    NEXT("WRITE 0 8");
    NEXT("WRITE 3 0000dead"); /* no more inputs */
    NEXT("WRITE 1 8");
    NEXT("CLOSE_STREAM 3");
    NEXT("WRITE 1 8");
    NEXT("CLOSE_STREAM 4");
    NEXT("WRITE 1 84");
    NEXT("CLOSE_STREAM 2");
    NEXT("CLOSE_STREAM 0");
    NEXT("CLOSE_STREAM 1");
    NEXT("RESET 0");
    ck_assert_int_eq(at, seen.n);
    /* Capabilities, heat, memory; 3 statuses and 3 descriptions of the graph,
     * 2 of FIFOs; 3 statuses and results; 2 answers of 2; 3 statuses. */
    ck_assert_int_eq(seen.released, 3 + 6 + 2 + 6 + 4 + 3);
}
END_TEST

/* Up to `elements` on their way, results in the order of the triggers. */
START_TEST(several_on_their_way)
{
    uint32_t n = (uint32_t)layer.graph->buffers[0].bytes;
    uint8_t *zeros = calloc(1, n), *out = malloc(n);
    mvnc_config c = patient;
    mvnc_graph *g;
    rig_stick r;
    mvnc *m;

    c.ping_ms = 5;
    rig_stick_start(&r, c.layout, NULL);
    OK(mvnc_open(r.host_end, &c, &m, &err));
    OK(mvnc_graph_create(m, bytes.data, bytes.n,
                         &(const mvnc_graph_config){4, 4, 60000}, &g, &err));
    for (int k = 0; k < 20; k++) {
        OK(mvnc_infer(g, k % 2 ? zeros : layer.data[0], &err));
        if (k < 3)
            continue;
        OK(mvnc_result(g, out, 20000, &err));
        ck_assert_int_eq(!memcmp(out, layer.data[buffer_of(GRAPH_OUTPUT)], n),
                         k % 2);
    }
    OK(mvnc_close(m, &err)); /* with results nobody took */
    rig_stick_end(&r);
    ck_assert_int_eq(r.how, STICK_RESET);
    free(zeros);
    free(out);
}
END_TEST

/* What the stages of the last of eight inferences took, all on their way at
 * once or one after the other. */
static void time_stages(uint32_t executors, uint32_t at_once, float *ms)
{
    uint32_t n = (uint32_t)layer.graph->buffers[0].bytes;
    uint8_t *out = malloc(n);
    mvnc_graph *g;
    rig_stick r;
    mvnc *m;

    rig_stick_start(&r, patient.layout, NULL);
    OK(mvnc_open(r.host_end, &patient, &m, &err));
    OK(mvnc_graph_create(m, bytes.data, bytes.n,
                         &(const mvnc_graph_config){executors, 8, 60000}, &g,
                         &err));
    for (uint32_t k = 0; k < 8 / at_once; k++) {
        for (uint32_t i = 0; i < at_once; i++)
            OK(mvnc_infer(g, layer.data[0], &err));
        for (uint32_t i = 0; i < at_once; i++)
            OK(mvnc_result(g, out, 20000, &err));
    }
    OK(mvnc_timings(g, ms, &err));
    OK(mvnc_close(m, &err));
    rig_stick_end(&r);
    free(out);
}

/* Two executors share the memory: a stage takes longer when both are busy, at
 * most twice as long. One executor runs one inference, whatever waits. */
START_TEST(times_of_inferences_at_once)
{
    float alone[3], one[3], busy[3];

    str_free(&bytes);
    bytes = (str){0};
    rig_blob(a, &large, &layer, &net, &bytes);
    ck_assert_uint_eq(net.n_stages, 1);
    time_stages(2, 1, alone);
    time_stages(1, 8, one);
    ck_assert_float_eq(one[0], alone[0]);
    time_stages(2, 8, busy);
    ck_assert_float_gt(busy[0], 1.2f * alone[0]);
    ck_assert_float_le(busy[0], 2 * alone[0]);
}
END_TEST

/* --- faults -------------------------------------------------------------- */

static const mvnc_config hasty = {
    .timeout_ms = 400, .ping_ms = 0, .dead_ms = 300};

/* Everything a host does, to the first error; mvnc_close always. */
static vpu_status session(rig_stick *r, const mvnc_config *c)
{
    uint32_t n = (uint32_t)layer.graph->buffers[0].bytes;
    uint8_t *out = malloc(n);
    mvnc_graph *g = NULL;
    mvnc *m = NULL;
    float ms[4];
    vpu_error later;
    vpu_status st = mvnc_open(r->host_end, c, &m, &err), closing;

    if (!st)
        st = mvnc_graph_create(m, bytes.data, bytes.n,
                               &(const mvnc_graph_config){1, 2, 20000}, &g,
                               &err);
    for (int k = 0; k < 2 && !st; k++) {
        st = mvnc_infer(g, layer.data[0], &err);
        if (!st)
            st = mvnc_result(g, out, c->ping_ms ? 5000 : 1000, &err);
        if (!st && memcmp(out, layer.data[buffer_of(GRAPH_OUTPUT)], n))
            ck_abort_msg("a wrong result");
    }
    if (!st)
        st = mvnc_timings(g, ms, &err);
    if (!st)
        st = mvnc_graph_destroy(g, &err);
    closing = mvnc_close(m, &later);
    if (!st && closing)
        err = later;
    free(out);
    return st ? st : closing;
}

static const struct {
    const char *fault;
    vpu_status st;
    const char *says; /* part of the message; "" = cut anywhere, so that the
                         status may also be VPU_ERR_IO */
} faults[] = {
    {"create-too-big", VPU_ERR_NOMEM, "deviceMonitor"},
    {"create-too-big:3", VPU_ERR_NOMEM, "graphBuffer0"},
    {"create-nack", VPU_ERR_MISMATCH, "deviceMonitor"},
    {"create-nack:4", VPU_ERR_MISMATCH, "FIFO0"},
    {"write-nack", VPU_ERR_MISMATCH, "GET_CAPABILITIES"},
    {"write-nack:3", VPU_ERR_MISMATCH, "the blob's header"},
    {"write-no-ack:4", VPU_ERR_LIMIT, "ALLOCATE"},
    {"no-release", VPU_ERR_LIMIT, "the blob: stream 2: no room"},
    {"close-nack", VPU_ERR_MISMATCH, "CLOSE_STREAM"},
    {"no-reset", VPU_ERR_LIMIT, "RESET"},
    {"verify-status", VPU_ERR_MISMATCH, "VERIFY: the stick answered 3, unsup"},
    {"alloc-status", VPU_ERR_MISMATCH, "ALLOCATE: the stick answered 9"},
    {"fit-status", VPU_ERR_NOMEM, "ALLOCATION_VERIFY: the stick answered 10"},
    {"trigger-status:5", VPU_ERR_MISMATCH, "TRIGGER: the stick answered 5"},
    {"capabilities-size", VPU_ERR_MISMATCH,
     "sent 36 bytes, expected the reply"},
    {"result-size", VPU_ERR_MISMATCH, "sent 1 bytes, expected the output"},
    {"no-result:2", VPU_ERR_LIMIT, "did not send the output within 1000 ms"},
    {"vanish", VPU_ERR_IO, ""},
    {"stall", VPU_ERR_LIMIT, ""},
    {"one-transfer", VPU_OK, ""},
    {"short-packet", VPU_ERR_IO, "39 of 40 bytes"},
    {"corrupt-header", VPU_ERR_IO, "type"},
    {"corrupt-flags", VPU_ERR_IO, "flags"},
    {"wrong-id:2", VPU_ERR_LIMIT, "no answer in time"},
    {"unknown-stream", VPU_ERR_IO, "expected an open stream"},
    {"slow-link", VPU_OK, ""}};
enum { N_FAULTS = sizeof faults / sizeof *faults };

/* A clear error in time, and the next session works. */
START_TEST(every_fault)
{
    const int f = _i / XLINK_N_LAYOUTS;
    mvnc_config c = hasty;
    rig_stick r;

    c.layout = (xlink_layout)(_i % XLINK_N_LAYOUTS);
    for (int again = 0; again < 2; again++) {
        vpu_status want = again ? VPU_OK : faults[f].st, st;
        double start = clock_seconds();

        if (again)
            c = (mvnc_config){.layout = c.layout,
                              .timeout_ms = patient.timeout_ms};
        rig_stick_start(&r, c.layout, again ? NULL : faults[f].fault);
        st = session(&r, &c);
        ck_assert_msg(st == want ||
                          (want && !*faults[f].says && st == VPU_ERR_IO),
                      "%s: %d: %s", faults[f].fault, st, err.msg);
        ck_assert_msg(again || !want || strstr(err.msg, faults[f].says),
                      "%s: %s", faults[f].fault, err.msg);
        ck_assert_msg(want == VPU_OK || clock_seconds() - start < 6, "%s: %f s",
                      faults[f].fault, clock_seconds() - start);
        rig_stick_end(&r);
    }
}
END_TEST

START_TEST(pings_without_acks_end_the_session)
{
    mvnc_config c = hasty;
    double start = clock_seconds();
    rig_stick r;
    mvnc *m;
    uint32_t used;
    vpu_status st;

    c.ping_ms = 20;
    rig_stick_start(&r, c.layout, "no-watchdog-ack:3");
    OK(mvnc_open(r.host_end, &c, &m, &err));
    do {
        struct timespec pause = {0, 10000000};

        nanosleep(&pause, NULL);
        st = mvnc_used_memory(m, &used, &err);
    } while ((!st || st == VPU_ERR_LIMIT) && clock_seconds() - start < 5);
    ck_assert_int_eq(st, VPU_ERR_IO);
    ck_assert_msg(strstr(err.msg, "watchdog's pings: no ack within 300 ms"),
                  "%s", err.msg);
    ck_assert(mvnc_close(m, &err));
    rig_stick_end(&r);
    ck_assert(clock_seconds() - start < 6);
}
END_TEST

/* A host that pings once and then no more, as one that was killed; and one that
 * goes on. */
START_TEST(a_host_that_stops_its_pings_is_forgotten)
{
    struct timespec pause = {1, 0};
    mvnc_config c = hasty;
    double start;
    rig_stick r;
    mvnc *m;

    c.ping_ms = 600000;
    rig_stick_prepare(&r, c.layout, NULL);
    r.config.watchdog_s = 0.4;
    rig_stick_run(&r);
    OK(mvnc_open(r.host_end, &c, &m, &err));
    start = clock_seconds();
    pthread_join(r.thread, NULL);
    r.thread = pthread_self(); /* it has ended */
    ck_assert_int_eq(r.how, STICK_RESET);
    ck_assert(clock_seconds() - start < 5);
    mvnc_close(m, NULL);
    transport_close(r.host_end);
    transport_close(r.device_end);

    c.ping_ms = 50;
    rig_stick_prepare(&r, c.layout, NULL);
    r.config.watchdog_s = 0.4;
    rig_stick_run(&r);
    OK(mvnc_open(r.host_end, &c, &m, &err));
    nanosleep(&pause, NULL);
    OK(mvnc_close(m, &err));
    rig_stick_end(&r);
    ck_assert_int_eq(r.how, STICK_RESET);
}
END_TEST

static void send_request(transport *t, xlink_event event, uint32_t id)
{
    const xlink_header h = {.event = event, .id = id, .flags = XLINK_FLAG_ACK};
    uint8_t wire[256];
    size_t sent;

    OK(xlink_encode(XLINK_LAYOUT_B, &h, wire, sizeof wire, &err));
    OK(transport_write(t, wire, xlink_header_size(XLINK_LAYOUT_B), &sent, 5000,
                       &err));
}

/* RESET of a host that reads nothing any more: the reboot does not wait for
 * it. */
START_TEST(a_reset_does_not_wait_for_readers)
{
    double start;
    rig_stick r;

    rig_stick_start(&r, XLINK_LAYOUT_B, NULL);
    for (uint32_t i = 0; i < 400; i++) /* more answers than the link holds */
        send_request(r.host_end, XLINK_PING, 10 + i);
    send_request(r.host_end, XLINK_RESET, 30000);
    start = clock_seconds();
    pthread_join(r.thread, NULL);
    ck_assert(clock_seconds() - start < 5);
    ck_assert_int_eq(r.how, STICK_RESET);
    transport_close(r.host_end);
    transport_close(r.device_end);
}
END_TEST

/* Unplugged at any byte. */
START_TEST(vanishing_anywhere)
{
    for (unsigned at = 1; at < 12000; at += 397) {
        char fault[32];
        double start = clock_seconds();
        rig_stick r;

        snprintf(fault, sizeof fault, "vanish:%u", at);
        rig_stick_start(&r, (xlink_layout)_i, fault);
        ck_assert_int_eq(session(&r, &(mvnc_config){.layout = (xlink_layout)_i,
                                                    .timeout_ms = 5000}),
                         VPU_ERR_IO);
        ck_assert(clock_seconds() - start < 4);
        rig_stick_end(&r);
    }
}
END_TEST

START_TEST(a_wait_can_be_interrupted)
{
    atomic_bool stop;
    mvnc_config c = patient;
    uint8_t *out = malloc(layer.graph->buffers[0].bytes);
    double start;
    mvnc_graph *g;
    rig_stick r;
    mvnc *m;

    atomic_init(&stop, false);
    c.stop = &stop;
    rig_stick_start(&r, c.layout, "no-result");
    OK(mvnc_open(r.host_end, &c, &m, &err));
    OK(mvnc_graph_create(m, bytes.data, bytes.n,
                         &(const mvnc_graph_config){1, 2, 60000}, &g, &err));
    OK(mvnc_infer(g, layer.data[0], &err));
    atomic_store(&stop, true);
    start = clock_seconds();
    ck_assert_int_eq(mvnc_result(g, out, 100000, &err), VPU_ERR_IO);
    ck_assert_msg(strstr(err.msg, "interrupted"), "%s", err.msg);
    OK(mvnc_close(m, &err));
    ck_assert(clock_seconds() - start < 3);
    rig_stick_end(&r);
    ck_assert_int_eq(r.how, STICK_RESET); /* left clean */
    free(out);
}
END_TEST

/* --- blobs --------------------------------------------------------------- */

/* Whatever is loaded, the stick lives: it takes the good one afterwards. */
START_TEST(hostile_blobs)
{
    str bad = {0};
    mvnc_graph *g;
    rig_stick r;
    mvnc *m;
    int refused = 0;

    rig_stick_start(&r, XLINK_LAYOUT_B, NULL);
    OK(mvnc_open(r.host_end,
                 &(mvnc_config){.layout = XLINK_LAYOUT_B, .timeout_ms = 20000},
                 &m, &err));
    for (uint32_t at = 56; at < 1000; at += 4) {
        str_free(&bad);
        str_add(&bad, bytes.data, bytes.n);
        memset(bad.data + at, at & 4 ? 0xff : 0x41, 4);
        if (mvnc_graph_create(m, bad.data, bad.n,
                              &(const mvnc_graph_config){1, 2, 60000}, &g,
                              &err))
            refused++;
        else
            OK(mvnc_graph_destroy(g, &err));
    }
    ck_assert_int_gt(refused, 100);
    ck_assert(mvnc_graph_create(m, bytes.data, BLOB_HEADER,
                                &(const mvnc_graph_config){1, 2, 9999}, &g,
                                &err));
    OK(mvnc_graph_create(m, bytes.data, bytes.n,
                         &(const mvnc_graph_config){1, 2, 60000}, &g, &err));
    OK(mvnc_close(m, &err));
    rig_stick_end(&r);
    str_free(&bad);
}
END_TEST

/* A blob whose header was refused has no place among the graphs. */
START_TEST(refused_headers)
{
    const mvnc_graph_config cfg = {1, 2, 60000};
    mvnc_graph *g;
    rig_stick r;
    mvnc *m;

    rig_stick_start(&r, XLINK_LAYOUT_B, NULL);
    OK(mvnc_open(r.host_end,
                 &(mvnc_config){.layout = XLINK_LAYOUT_B, .timeout_ms = 20000},
                 &m, &err));
    for (uint32_t i = 0; i < mvnc_caps(m)->max_graphs; i++) {
        str bad = {0};

        str_add(&bad, bytes.data, bytes.n);
        word_set((uint8_t *)bad.data + 60, 7); /* the version */
        ck_assert_int_eq(mvnc_graph_create(m, bad.data, bad.n, &cfg, &g, &err),
                         VPU_ERR_MISMATCH);
        str_free(&bad);
    }
    OK(mvnc_graph_create(m, bytes.data, bytes.n, &cfg, &g, &err));
    OK(mvnc_close(m, &err));
    rig_stick_end(&r);
}
END_TEST

/* A stage no virtual stick runs: the status a stick gives. */
START_TEST(stages_it_does_not_run)
{
    mvnc_graph *g;
    rig_stick r;
    mvnc *m;

    ((blob_stage *)net.stages)[1].type = 69; /* MTCNN */
    str_free(&bytes);
    OK(blob_build(&net, &bytes, &err));
    rig_stick_start(&r, XLINK_LAYOUT_A, NULL);
    OK(mvnc_open(r.host_end, &patient, &m, &err));
    ck_assert_int_eq(mvnc_graph_create(m, bytes.data, bytes.n,
                                       &(const mvnc_graph_config){1, 2, 60000},
                                       &g, &err),
                     VPU_ERR_MISMATCH);
    ck_assert_msg(strstr(err.msg, "answered 3, unsupported network element"),
                  "%s", err.msg);
    OK(mvnc_close(m, &err));
    rig_stick_end(&r);
}
END_TEST

/* Without what our compiler adds, kernels are files like another's: found by
 * name among .cl files. */
START_TEST(kernels_of_another_compiler)
{
    uint32_t n = (uint32_t)layer.graph->buffers[0].bytes;
    uint8_t *out = malloc(n);
    int hidden = 0;

    for (char *p = bytes.data;
         (p = memmem(p, (size_t)(bytes.data + bytes.n - p), ".vpusim.", 8));
         hidden++)
        *p = 'x';
    ck_assert_int_gt(hidden, 0);
    for (int k = 0; k < 2; k++) {
        mvnc_graph *g = NULL;
        rig_stick r;
        mvnc *m;

        rig_stick_prepare(&r, XLINK_LAYOUT_A, NULL);
        r.config.kernels = k ? "kernels/mvn" : NULL;
        rig_stick_run(&r);
        OK(mvnc_open(r.host_end, &patient, &m, &err));
        ck_assert_int_eq(mvnc_graph_create(
                             m, bytes.data, bytes.n,
                             &(const mvnc_graph_config){1, 2, 60000}, &g, &err),
                         k ? VPU_OK : VPU_ERR_MISMATCH);
        if (k) {
            OK(mvnc_infer(g, layer.data[0], &err));
            OK(mvnc_result(g, out, 20000, &err));
            ck_assert_mem_eq(out, layer.data[buffer_of(GRAPH_OUTPUT)], n);
        } else {
            ck_assert_ptr_nonnull(strstr(err.msg, "answered 3"));
        }
        OK(mvnc_close(m, &err));
        rig_stick_end(&r);
    }
    free(out);
}
END_TEST

/* What a model calls its inputs and outputs stands in the blob, unless two have
 * the same name. */
START_TEST(names_of_the_model)
{
    graph_buffer *x = layer.graph->buffers;
    uint32_t o = buffer_of(GRAPH_OUTPUT);

    ck_assert_str_eq(net.inputs[0].name, "in0");
    x[0].label = "data";
    x[o].label = "norm";
    ck_assert_str_eq(network_name(layer.graph, 0), "data");
    ck_assert_str_eq(network_name(layer.graph, o), "norm");
    x[o].role = GRAPH_INPUT;
    x[o].label = "data";
    ck_assert_str_eq(network_name(layer.graph, 0), x[0].name);
    ck_assert_str_eq(network_name(layer.graph, o), x[o].name);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stick");
    TCase *t = tcase_create("stick");
    SRunner *r;
    int bad;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 300);
    tcase_add_test(t, worked_payloads);
    tcase_add_test(t, capabilities);
    tcase_add_loop_test(t, life_cycle, 0, XLINK_N_LAYOUTS);
    tcase_add_test(t, several_on_their_way);
    tcase_add_test(t, times_of_inferences_at_once);
    tcase_add_loop_test(t, every_fault, 0, N_FAULTS * XLINK_N_LAYOUTS);
    tcase_add_test(t, pings_without_acks_end_the_session);
    tcase_add_test(t, a_host_that_stops_its_pings_is_forgotten);
    tcase_add_test(t, a_reset_does_not_wait_for_readers);
    tcase_add_loop_test(t, vanishing_anywhere, 0, XLINK_N_LAYOUTS);
    tcase_add_test(t, a_wait_can_be_interrupted);
    tcase_add_test(t, hostile_blobs);
    tcase_add_test(t, refused_headers);
    tcase_add_test(t, stages_it_does_not_run);
    tcase_add_test(t, kernels_of_another_compiler);
    tcase_add_test(t, names_of_the_model);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    bad = srunner_ntests_failed(r);
    srunner_free(r);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
