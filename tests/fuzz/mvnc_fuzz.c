/* The host's side of mvnc against a hostile stick. */
#include <stdlib.h>

#include "base/word.h"
#include "runtime/link/mvnc.h"
#include "tests/fuzz/fuzz_link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MOST = 4096 };

/* Packets of the sizes a host waits for, releases of what it sent. */
static bool script(fuzz_link *l)
{
    static const uint8_t sizes[] = {4, 20, 40, 104, 120, 8, 12, 0};
    uint8_t op, bytes[256] = {0};
    xlink_header h = {.event = XLINK_WRITE};

    if (l->at >= l->bytes)
        return false;
    op = fuzz_byte(l);
    h.stream = op >> 4;
    switch (op & 3) {
    case 0:
    case 1:
        h.size = sizes[fuzz_byte(l) & 7];
        for (uint32_t i = 0; i + 4 <= h.size; i += 4)
            word_set(bytes + i, op & 4 ? fuzz_word(l) : op & 8 ? 1 : 0);
        break;
    case 2:
        h.event = XLINK_READ_REL;
        h.size = fuzz_word(l);
        break;
    default:
        if (!(fuzz_byte(l) & 15)) {
            for (size_t i = 0; i < xlink_header_size(l->layout); i++)
                bytes[i] = fuzz_byte(l);
            str_add(&l->in, bytes, xlink_header_size(l->layout));
            return true;
        }
        h.size = fuzz_byte(l);
    }
    fuzz_event(l, &h, bytes);
    return true;
}

static void infer(mvnc_graph *g)
{
    mvnc_graph_info about = mvnc_graph_about(g);
    uint8_t *buffer;
    float *ms;
    char text[MVNC_DEBUG + 1];
    vpu_error err;

    if (about.input.bytes > MOST || about.output.bytes > MOST ||
        about.n_stages > MOST)
        return;
    buffer = calloc(1, MOST);
    ms = calloc(about.n_stages + 2, sizeof *ms);
    if (!mvnc_infer(g, buffer, &err))
        mvnc_result(g, buffer, 10, &err);
    mvnc_timings(g, ms, &err);
    mvnc_debug(g, text, &err);
    free(buffer);
    free(ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    mvnc_config c = {.timeout_ms = 10, .dead_ms = 10};
    char file[256] = {0};
    mvnc_graph *g;
    uint32_t used;
    vpu_error err;
    fuzz_link l;
    mvnc *m;

    if (!fuzz_link_init(&l, data, n, script))
        return 0;
    c.layout = l.layout;
    c.ping_ms = l.how & 0x80 ? 5 : 0;
    if (!mvnc_open(&l.base, &c, &m, &err)) {
        mvnc_used_memory(m, &used, &err);
        if (!mvnc_graph_create(m, file, sizeof file,
                               &(const mvnc_graph_config){1, 2, 10}, &g,
                               &err)) {
            infer(g);
            mvnc_graph_destroy(g, &err);
        }
        mvnc_close(m, &err);
    }
    fuzz_link_end(&l);
    return 0;
}
