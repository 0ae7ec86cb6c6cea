/* Packets as lines. */
#include "runtime/link/xlink_log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/oom.h"
#include "base/word.h"
#include "runtime/link/mvnc_wire.h"

enum { KEPT = 12, LINE = 240, LAST = LINE + 40 };

struct xlink_log {
    xlink_log_config c;
    xlink_watch watch;
    struct timespec start;
    pthread_mutex_t lock; /* all below */
    uint64_t n;
    char last[KEPT][LAST];
    struct {
        uint32_t id;
        char name[XLINK_NAME_BYTES];
    } streams[XLINK_MAX_STREAMS]; /* as last opened; "" = free */
};

static uint64_t now(const xlink_log *l)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)(t.tv_sec - l->start.tv_sec) * 1000000000 +
           (uint64_t)t.tv_nsec - (uint64_t)l->start.tv_nsec;
}

/* Names come with the answer to CREATE_STREAM, which has the id. */
static void learn(xlink_log *l, const xlink_header *h)
{
    int at = -1;

    if (h->event != XLINK_CREATE_STREAM || !h->response ||
        !(h->flags & XLINK_FLAG_ACK))
        return;
    for (int i = 0; i < XLINK_MAX_STREAMS; i++)
        if (l->streams[i].name[0] ? l->streams[i].id == h->stream : at < 0)
            at = i;
    if (at < 0)
        return;
    l->streams[at].id = h->stream;
    memcpy(l->streams[at].name, h->name, XLINK_NAME_BYTES);
}

static const char *stream_name(const xlink_log *l, uint32_t id)
{
    for (int i = 0; i < XLINK_MAX_STREAMS; i++)
        if (l->streams[i].name[0] && l->streams[i].id == id)
            return l->streams[i].name;
    return NULL;
}

/* What a WRITE carries, as far as its stream tells. */
static const char *content(const xlink_log *l, bool sent, const char *stream,
                           const void *payload, uint32_t n)
{
    bool from_host = sent != l->c.device;
    const char *name = NULL;

    if (n < 4)
        return n ? "data" : "nothing";
    if (!strcmp(stream, "deviceMonitor"))
        name = from_host ? mvnc_device_name(word_get(payload)) : "reply";
    else if (!strcmp(stream, "graphMonitor"))
        name = from_host ? mvnc_graph_name(word_get(payload))
               : n == 4  ? mvnc_status_text(word_get(payload))
                         : "reply";
    else if (!strcmp(stream, "console"))
        name = "text";
    return name ? name : "data";
}

static void name_of(const xlink_log *l, bool sent, const xlink_header *h,
                    const void *payload, uint32_t n, char out[LINE])
{
    const char *stream = h->name[0] ? h->name : stream_name(l, h->stream);

    if (h->event == XLINK_WRITE && !h->response && stream)
        snprintf(out, LINE, "%s: %s", stream,
                 content(l, sent, stream, payload, n));
    else if (stream && h->event != XLINK_PING && h->event != XLINK_RESET &&
             (!h->response || h->event == XLINK_CREATE_STREAM))
        snprintf(out, LINE, "%s", stream);
    else
        out[0] = 0;
}

typedef struct {
    xlink_log *l;
    bool sent;
    const xlink_header *h;
    const void *payload;
    uint32_t n;
} packet;

static vpu_status note(void *user, vpu_error *err)
{
    const packet *p = user;
    xlink_log *l = p->l;
    const xlink_header *h = p->h;
    uint64_t ns = now(l);
    char name[LINE], both[LINE];
    str text = {0};

    (void)err;
    learn(l, h);
    name_of(l, p->sent, h, p->payload, p->n, name);
    xlink_text(l->c.layout, h, p->payload, p->n, &text);
    snprintf(l->last[l->n++ % KEPT], LAST,
             "%" PRIu64 ".%06" PRIu64 " %s %.*s%s%.*s", ns / 1000000000,
             ns / 1000 % 1000000, p->sent ? "->" : "<-", LINE / 2, name,
             name[0] ? ": " : "", LINE / 2, str_text(&text));
    if (l->c.file)
        fprintf(l->c.file, "%" PRIu64 ".%06" PRIu64 " %s %s%s%s\n",
                ns / 1000000000, ns / 1000 % 1000000, p->sent ? "->" : "<-",
                name, name[0] ? ": " : "", str_text(&text));
    if (l->c.packet) {
        snprintf(both, sizeof both, "%s %s%s%.*s", xlink_event_name(h->event),
                 h->response ? "response" : "request", name[0] ? " " : "",
                 LINE / 2, name);
        l->c.packet(l->c.user, ns, p->sent, both, p->n);
    }
    str_free(&text);
    return VPU_OK;
}

/* A packet for which there is no memory is left out. */
static void seen(void *user, bool sent, const xlink_header *h,
                 const void *payload, uint32_t n)
{
    xlink_log *l = user;
    packet p = {l, sent, h, payload, n};

    pthread_mutex_lock(&l->lock);
    oom_guard(note, &p, NULL);
    pthread_mutex_unlock(&l->lock);
}

vpu_status xlink_log_create(const xlink_log_config *c, xlink_log **out,
                            vpu_error *err)
{
    xlink_log *l = calloc(1, sizeof *l);

    if (!l)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a log");
    l->c = *c;
    l->watch = (xlink_watch){seen, l};
    clock_gettime(CLOCK_MONOTONIC, &l->start);
    pthread_mutex_init(&l->lock, NULL);
    *out = l;
    return VPU_OK;
}

void xlink_log_free(xlink_log *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

const xlink_watch *xlink_log_watch(const xlink_log *l)
{
    return &l->watch;
}

void xlink_log_last(xlink_log *l, vpu_error *err)
{
    size_t at = strlen(err->msg);

    pthread_mutex_lock(&l->lock);
    for (uint64_t i = l->n > KEPT ? l->n - KEPT : 0; i < l->n; i++) {
        int n = snprintf(err->msg + at, sizeof err->msg - at, "%s\n  %s",
                         i + KEPT == l->n || !i ? "\nlast packets:" : "",
                         l->last[i % KEPT]);

        if (n < 0 || (size_t)n >= sizeof err->msg - at)
            break;
        at += (size_t)n;
    }
    pthread_mutex_unlock(&l->lock);
}
