/* The device's side of a stick against a hostile host: streams, commands, blobs
 * that are nearly right. */
#include <stdio.h>

#include "runtime/blob/plan.h"
#include "runtime/blob/stage.h"
#include "runtime/link/mvnc_wire.h"
#include "runtime/stick/stick.h"
#include "tests/fuzz/fuzz_link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A permutation, a conversion and a copy. */
static const str *good_blob(void)
{
    static str bytes;
    static const plan_tensor tensors[] = {
        {"in", BLOB_INPUT, BLOB_U8, 0x4321, 4, {4, 3, 2, 1}, NULL, false, 0, 0},
        {"", BLOB_BSS, BLOB_F16, 0x4321, 4, {4, 3, 2, 1}, NULL, false, 0, 0},
        {"", BLOB_BSS, BLOB_F16, 0x4213, 4, {2, 4, 3, 1}, NULL, false, 0, 0},
        {"out",
         BLOB_OUTPUT,
         BLOB_F16,
         0x4213,
         4,
         {2, 4, 3, 1},
         NULL,
         false,
         0,
         0}};
    static const uint32_t convert[] = {0x3f800000, 0, 0, 1};
    static const uint32_t permute[] = {
        2, 0, 1, 3, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    static const uint32_t used[][2] = {{0, 1}, {1, 2}, {2, 3}};
    const plan_stage stages[] = {{STAGE_CONVERT, convert, 4, used[0], 2},
                                 {STAGE_PERMUTE, permute, 8, used[1], 2},
                                 {STAGE_COPY, NULL, 0, used[2], 2}};
    plan p = {blob_release_of(CONFIG_2022_3), 9, 7, tensors, 4, stages, 3};
    arena *a;
    blob b;

    if (bytes.n)
        return &bytes;
    a = arena_create(0);
    if (plan_blob(&p, a, &b, NULL) || blob_build(&b, &bytes, NULL))
        __builtin_trap();
    arena_destroy(a);
    return &bytes;
}

static void write_packet(fuzz_link *l, uint32_t stream, const void *data,
                         uint32_t n)
{
    xlink_header h = {.event = XLINK_WRITE, .stream = stream, .size = n};

    fuzz_event(l, &h, data);
}

static void write_blob(fuzz_link *l, uint32_t stream)
{
    const str *good = good_blob();
    uint8_t bytes[8192];
    uint32_t n = (uint32_t)good->n, changes = fuzz_byte(l) & 7;

    memcpy(bytes, good->data, n);
    for (uint32_t i = 0; i < changes; i++) {
        uint32_t at = fuzz_word(l) % n;

        bytes[at] = fuzz_byte(l);
    }
    if (fuzz_byte(l) & 1)
        n = BLOB_HEADER;
    write_packet(l, stream, bytes, n);
}

static void write_command(fuzz_link *l, uint32_t stream)
{
    mvnc_command c = {.type = fuzz_byte(l) % 10, .id = fuzz_byte(l) & 3};
    uint8_t bytes[MVNC_MAX_COMMAND];
    uint32_t n;

    snprintf(c.stream, sizeof c.stream,
             c.type == MVNC_GRAPH_BUFFER_ALLOCATE ? "FIFO%u" : "graphBuffer%u",
             c.id);
    c.input = fuzz_byte(l) & 3;
    c.output = fuzz_byte(l) & 3;
    c.elements = fuzz_byte(l) & 3;
    c.tensor = (mvnc_tensor){1, 1, 1, 1, fuzz_byte(l)};
    c.host_reads = c.id & 1;
    c.host_writes = !c.host_reads;
    n = mvnc_encode(&c, bytes);
    write_packet(l, stream, bytes, n ? n : 8);
}

static void create(fuzz_link *l)
{
    static const char *const names[] = {
        "deviceMonitor", "graphMonitor", "graphBuffer0", "FIFO0",
        "FIFO1",         "console",      "graphBuffer1", "FIFO2"};
    uint8_t which = fuzz_byte(l);
    xlink_header h = {.event = XLINK_CREATE_STREAM,
                      .stream = fuzz_byte(l) & 15,
                      .size = (fuzz_word(l) + 1) * 64};

    strcpy(h.name, names[which & 7]);
    fuzz_event(l, &h, NULL);
}

static bool script(fuzz_link *l)
{
    xlink_header h = {.stream = 0};
    uint8_t op, bytes[256];
    uint32_t stream;

    if (l->at >= l->bytes)
        return false;
    op = fuzz_byte(l);
    stream = op >> 4;
    switch (op & 7) {
    case 0:
        create(l);
        break;
    case 1:
    case 2:
        write_command(l, stream);
        break;
    case 3:
        write_blob(l, stream);
        break;
    case 4: /* an element, or a command of the device */
        memset(bytes, fuzz_byte(l) & 15, sizeof bytes);
        write_packet(l, stream, bytes, fuzz_byte(l));
        break;
    case 5:
        h.event = fuzz_byte(l) & 1 ? XLINK_READ_REL : XLINK_CLOSE_STREAM;
        h.stream = stream;
        h.size = fuzz_byte(l);
        fuzz_event(l, &h, NULL);
        break;
    case 6:
        h.event = fuzz_byte(l) % 16             ? XLINK_PING
                  : l->layout == XLINK_LAYOUT_C ? XLINK_DROP
                                                : XLINK_RESET;
        fuzz_event(l, &h, NULL);
        break;
    default: /* a header of any bytes */
        for (size_t i = 0; i < xlink_header_size(l->layout); i++)
            bytes[i] = fuzz_byte(l);
        str_add(&l->in, bytes, xlink_header_size(l->layout));
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    stick_config c = {.timeout_ms = 20, .ping_ms = 20, .n_threads = 1};
    xlink_header ping = {.event = XLINK_PING};
    fuzz_link l;
    stick_end how;
    vpu_error err;

    if (!fuzz_link_init(&l, data, n, script))
        return 0;
    c.layout = l.layout;
    fuzz_event(&l, &ping, NULL);
    stick_serve(&l.base, &c, &how, &err);
    fuzz_link_end(&l);
    return 0;
}
