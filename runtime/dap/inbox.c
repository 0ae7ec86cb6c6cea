/* The thread that reads: from bytes to messages in a list. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/dap/server.h"

enum { MAX_LINE = 512, BUFFER = 1 << 16 };

typedef struct {
    dap_inbox *box;
    uint8_t bytes[BUFFER];
    size_t at, n;
} source;

/* --- the list ------------------------------------------------------------ */

/* The request that a cancel means waits behind others: it will not be done. */
static void cancel(dap_inbox *b, const json_t *m)
{
    const char *command = dap_text(m, "command");
    json_int_t id =
        dap_number(json_object_get(m, "arguments"), "requestId", -1);

    if (!command || strcmp(command, "cancel") != 0 || id < 0)
        return;
    for (dap_message *x = b->first; x; x = x->next)
        if (x->json && dap_number(x->json, "seq", -1) == id)
            x->cancelled = true;
}

static void put(dap_inbox *b, json_t *json, const char *why)
{
    dap_message *m = calloc(1, sizeof *m);

    if (!m) {
        json_decref(json);
        return;
    }
    m->json = json;
    m->why = why;
    pthread_mutex_lock(&b->lock);
    if (json)
        cancel(b, json);
    *b->last = m;
    b->last = &m->next;
    atomic_store(b->attention, true);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

dap_message *dap_inbox_take(dap_inbox *b, bool wait)
{
    dap_message *m;

    pthread_mutex_lock(&b->lock);
    while (wait && !b->first && !b->ended)
        pthread_cond_wait(&b->changed, &b->lock);
    m = b->first;
    if (m) {
        b->first = m->next;
        if (!b->first)
            b->last = &b->first;
    }
    pthread_mutex_unlock(&b->lock);
    return m;
}

bool dap_inbox_ended(dap_inbox *b)
{
    bool ended;

    pthread_mutex_lock(&b->lock);
    ended = b->ended && !b->first;
    pthread_mutex_unlock(&b->lock);
    return ended;
}

void dap_message_free(dap_message *m)
{
    json_decref(m->json);
    free(m);
}

/* --- bytes --------------------------------------------------------------- */

/* More of them; false: there are none, or nobody wants them. Behind
 * `disconnect` little time is left for more. */
static bool more(source *s)
{
    struct pollfd fds[2] = {{.fd = s->box->in, .events = POLLIN},
                            {.fd = s->box->wake[0], .events = POLLIN}};
    int ms = s->box->leaving ? (int)(1e3 * s->box->patience) : -1, got;
    ssize_t n;

    do {
        while ((got = poll(fds, 2, ms)) < 0 && errno == EINTR)
            ;
        if (!got || fds[1].revents)
            return false;
        n = read(s->box->in, s->bytes, sizeof s->bytes);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    s->at = 0;
    s->n = n > 0 ? (size_t)n : 0;
    return n > 0;
}

static int next(source *s)
{
    return s->at < s->n || more(s) ? s->bytes[s->at++] : -1;
}

/* A line without its end; of a long one the end alone. Its length; -1: none. */
static int read_line(source *s, char line[MAX_LINE])
{
    int n = 0, c;

    while ((c = next(s)) >= 0 && c != '\n') {
        if (n == MAX_LINE - 1) {
            n = MAX_LINE / 2;
            memmove(line, line + MAX_LINE - 1 - n, (size_t)n);
        }
        line[n++] = (char)c;
    }
    if (n && line[n - 1] == '\r')
        n--;
    line[n] = 0;
    return c < 0 ? -1 : n;
}

/* The number of a Content-Length, which may stand behind what is left of a
 * message that was not understood; -1: the line is another. */
static long long length_in(const char *line)
{
    static const char name[] = "Content-Length:";
    const char *at = strcasestr(line, name);
    char *end;
    long long n;

    if (!at)
        return -1;
    errno = 0;
    n = strtoll(at + sizeof name - 1, &end, 10);
    if (errno || n < 0 || end == at + sizeof name - 1 || *end)
        return (long long)DAP_MAX_MESSAGE + 1;
    return n;
}

/* The length that the next header gives; -1: the input ends. What is no header
 * is skipped, and told once. */
static long long read_header(source *s)
{
    char line[MAX_LINE];
    long long length = -1;
    bool told = false, any = false;
    int n;

    while ((n = read_line(s, line)) >= 0) {
        long long l = length_in(line);

        if (l > DAP_MAX_MESSAGE) {
            put(s->box, NULL,
                "Content-Length is no number of bytes up to 16 MiB");
            length = -1;
            told = true;
        } else if (l >= 0) {
            length = l;
            told = false;
        } else if (!n && length >= 0) {
            return length;
        } else if (!n && any && !told) {
            put(s->box, NULL, "a header without Content-Length");
            told = true;
        }
        any = n > 0;
    }
    return -1;
}

static bool read_message(source *s)
{
    long long n = read_header(s), got = 0;
    char *text;
    const char *command;
    json_t *json;
    json_error_t why;

    if (n < 0)
        return false;
    text = malloc((size_t)n + 1);
    for (int c; text && got < n && (c = next(s)) >= 0;)
        text[got++] = (char)c;
    if (!text || got < n) {
        free(text);
        return false;
    }
    json = json_loadb(text, (size_t)n, 0, &why);
    free(text);
    if (json && !json_is_object(json)) {
        json_decref(json);
        json = NULL;
    }
    command = dap_text(json, "command");
    s->box->leaving |= command && !strcmp(command, "disconnect");
    put(s->box, json, json ? NULL : "the message is no JSON object");
    return true;
}

/* --- the thread ---------------------------------------------------------- */

/* The input has ended: whoever works must end soon. */
static void wait_for_end(dap_inbox *b)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)b->patience;
    until.tv_nsec += (long)((b->patience - (double)(time_t)b->patience) * 1e9);
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_mutex_lock(&b->lock);
    b->ended = true;
    atomic_store(b->attention, true);
    pthread_cond_broadcast(&b->changed);
    while (!b->done && b->late && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&b->changed, &b->lock, &until);
    if (!b->done && b->late)
        b->late(b->user);
    pthread_mutex_unlock(&b->lock);
}

static void *read_all(void *user)
{
    source *s = user;

    while (read_message(s))
        ;
    wait_for_end(s->box);
    free(s);
    return NULL;
}

vpu_status dap_inbox_open(dap_inbox *b, const dap_config *cfg,
                          atomic_bool *attention, vpu_error *err)
{
    source *s = calloc(1, sizeof *s);
    int rc = ENOMEM;

    *b = (dap_inbox){.in = cfg->in,
                     .attention = attention,
                     .late = cfg->late,
                     .patience = cfg->patience,
                     .user = cfg->user};
    b->last = &b->first;
    if (!s || pipe2(b->wake, O_CLOEXEC)) {
        free(s);
        return err_set(err, VPU_ERR_IO, "no pipe: %s", strerror(errno));
    }
    s->box = b;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    rc = pthread_create(&b->reader, NULL, read_all, s);
    if (!rc)
        return VPU_OK;
    free(s);
    close(b->wake[0]);
    close(b->wake[1]);
    return err_set(err, VPU_ERR_IO, "no thread: %s", strerror(rc));
}

void dap_inbox_close(dap_inbox *b)
{
    dap_message *m;

    pthread_mutex_lock(&b->lock);
    b->done = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    while (write(b->wake[1], "", 1) < 0 && errno == EINTR)
        ;
    pthread_join(b->reader, NULL);
    while ((m = dap_inbox_take(b, false)))
        dap_message_free(m);
    close(b->wake[0]);
    close(b->wake[1]);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
}
