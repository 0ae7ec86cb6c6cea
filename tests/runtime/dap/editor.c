/* See editor.h. */
#include "tests/runtime/dap/editor.h"

#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/graph/io.h"
#include "runtime/graph/layer.h"
#include "tests/runtime/debug/twist.h"

enum { PATIENCE_MS = 5000 };

static struct {
    pthread_t server;
    int to, from, seq;
    json_t *events, *responses;
    /* the session */
    arena *a;
    mach_desc desc;
    graph_layer layer;
    bool bundles;
} ed;

static vpu_status fill(void *user, uint32_t i, void *data, vpu_error *err)
{
    (void)user;
    return graph_input_fill(&ed.layer.graph->buffers[i], "ramp", data, err);
}

static vpu_status open_layer(void *user, const dap_launch *l,
                             const log_sink *log, debug_config *out,
                             vpu_error *err)
{
    static const char *const shapes[] = {"in0=1x3x2x16"};
    static const char *const params[] = {"bias=0.25"};
    const graph_layer_texts texts = {.bindings = {l->words, 1},
                                     .shapes = {shapes, 1},
                                     .params = {params, 1}};
    vpu_status st;

    (void)user;
    ed.a = arena_create(0);
    st = backend_machine(NULL, NULL, 0, 0, ed.a, &ed.desc, err);
    if (!st)
        st = graph_layer_bind(&texts, ed.a, log, &ed.layer, err);
    if (st)
        return st;
    *out = (debug_config){
        .graph = ed.layer.graph, .run = {.desc = &ed.desc}, .fill = fill};
    for (uint32_t k = 1; k < l->n_words; k++)
        out->bundles |= !strcmp(l->words[k], "--bundles");
    return VPU_OK;
}

static void close_layer(void *user)
{
    (void)user;
    arena_destroy(ed.a);
    ed.a = NULL;
}

static dap_config config = {
    .open = open_layer, .close = close_layer, .patience = 1};

static void *serve(void *user)
{
    vpu_error err;

    (void)user;
    ck_assert_msg(!dap_serve(&config, &err), "%s", err.msg);
    close(config.out);
    return NULL;
}

void editor_open(void)
{
    int in[2], out[2];

    signal(SIGPIPE, SIG_IGN);
    ck_assert(!pipe(in) && !pipe(out));
    config.in = in[0];
    config.out = out[1];
    ed.to = in[1];
    ed.from = out[0];
    ed.seq = 0;
    ed.events = json_array();
    ed.responses = json_array();
    ck_assert(!pthread_create(&ed.server, NULL, serve, NULL));
}

void editor_close(void)
{
    struct timespec begin, end;
    json_t *m;

    close(ed.to);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while ((m = editor_read()))
        json_decref(m);
    ck_assert(!pthread_join(ed.server, NULL));
    clock_gettime(CLOCK_MONOTONIC, &end);
    ck_assert_msg((double)(end.tv_sec - begin.tv_sec) +
                          1e-9 * (double)(end.tv_nsec - begin.tv_nsec) <
                      1,
                  "the end of the input took too long");
    close(config.in);
    close(ed.from);
    json_decref(ed.events);
    json_decref(ed.responses);
}

void editor_bytes(const char *bytes, size_t n)
{
    while (n) {
        ssize_t did = write(ed.to, bytes, n);

        ck_assert_int_gt(did, 0);
        bytes += did;
        n -= (size_t)did;
    }
}

void editor_text(const char *text)
{
    char head[64];
    int n = snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n",
                     strlen(text));

    editor_bytes(head, (size_t)n);
    editor_bytes(text, strlen(text));
}

int editor_send(const char *command, const char *args)
{
    char *text = arena_printf(
        twist.arena,
        "{'seq': %d, 'type': 'request', 'command': '%s', 'arguments': %s}",
        ++ed.seq, command, args ? args : "{}");

    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    editor_text(text);
    return ed.seq;
}

static bool get(char *out, size_t n)
{
    while (n) {
        struct pollfd f = {.fd = ed.from, .events = POLLIN};
        ssize_t got;

        ck_assert_msg(poll(&f, 1, PATIENCE_MS) == 1, "the server is silent");
        got = read(ed.from, out, n);
        if (got <= 0)
            return false;
        out += got;
        n -= (size_t)got;
    }
    return true;
}

json_t *editor_read(void)
{
    char head[256], *text;
    size_t n = 0, bytes;
    json_t *m;

    while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0) {
        ck_assert_uint_lt(n, sizeof head - 1);
        if (!get(head + n, 1)) {
            ck_assert_msg(!n, "the server ended within a header");
            return NULL;
        }
        n++;
    }
    head[n] = 0;
    ck_assert_int_eq(sscanf(head, "Content-Length: %zu\r\n\r\n", &bytes), 1);
    text = malloc(bytes + 1);
    ck_assert(get(text, bytes));
    m = json_loadb(text, bytes, 0, NULL);
    ck_assert_msg(m != NULL, "no JSON: %.*s", (int)bytes, text);
    free(text);
    return m;
}

static json_t *next(void)
{
    json_t *m = editor_read();

    ck_assert_msg(m != NULL, "the server has ended");
    json_array_append_new(
        strcmp(json_string_value(json_object_get(m, "type")), "event") != 0
            ? ed.responses
            : ed.events,
        m);
    return m;
}

json_t *editor_response(int seq)
{
    json_t *m;

    do
        m = next();
    while (json_object_get(m, "event") ||
           json_integer_value(json_object_get(m, "request_seq")) != seq);
    return m;
}

json_t *editor_ask(const char *command, const char *args)
{
    json_t *m = editor_response(editor_send(command, args));

    ck_assert_msg(json_is_true(json_object_get(m, "success")), "%s %s: %s",
                  command, args ? args : "", json_dumps(m, 0));
    ck_assert_str_eq(json_string_value(json_object_get(m, "command")), command);
    return json_object_get(m, "body");
}

static void check_refused(json_t *m, const char *words)
{
    const char *text = json_string_value(json_object_get(m, "message"));

    ck_assert_msg(json_is_false(json_object_get(m, "success")) && text &&
                      strstr(text, words),
                  "not refused with '%s': %s", words, json_dumps(m, 0));
}

void editor_refused(const char *command, const char *args, const char *words)
{
    if (command)
        check_refused(editor_response(editor_send(command, args)), words);
    else
        check_refused(editor_response(0), words);
}

json_t *editor_event(const char *name)
{
    for (;;) {
        json_t *e;
        size_t k;

        json_array_foreach(ed.events, k, e)
        {
            if (strcmp(json_string_value(json_object_get(e, "event")), name) !=
                0)
                continue;
            json_array_append(ed.responses, e); /* keeps it */
            json_array_remove(ed.events, k);
            return json_object_get(e, "body");
        }
        next();
    }
}

int editor_kept(const char *name)
{
    json_t *e;
    size_t k;
    int n = 0;

    json_array_foreach(ed.events, k, e) n +=
        !strcmp(json_string_value(json_object_get(e, "event")), name);
    return n;
}

void editor_launch(const char *more)
{
    json_t *m;
    int seq;

    editor_ask("initialize", "{'adapterID': 'vpu'}");
    editor_event("initialized");
    seq = editor_send("launch",
                      arena_printf(twist.arena, "{'program': '%s/layer.xml'%s}",
                                   twist.dir, more));
    m = editor_response(seq);
    ck_assert(json_is_true(json_object_get(m, "success")));
    editor_ask("configurationDone", NULL);
}

json_t *editor_at(json_t *of, const char *path)
{
    char name[64];

    while (of && *path) {
        size_t n = strcspn(path + 1, ".[") + 1;

        if (*path == '[') {
            of = json_array_get(of, (size_t)atoi(path + 1));
        } else {
            snprintf(name, sizeof name, "%.*s", (int)n - (*path == '.'),
                     path + (*path == '.'));
            of = json_object_get(of, name);
        }
        path += n;
    }
    return of;
}

int editor_frame(void)
{
    json_t *body = editor_ask("stackTrace", "{'threadId': 1, 'levels': 1}");

    return (int)json_integer_value(editor_at(body, "stackFrames[0].id"));
}

void editor_stops(const char *reason, int line)
{
    json_t *body = editor_event("stopped");

    ck_assert_str_eq(json_string_value(json_object_get(body, "reason")),
                     reason);
    body = editor_ask("stackTrace", "{'threadId': 1}");
    ck_assert_int_eq(json_integer_value(editor_at(body, "stackFrames[0].line")),
                     line);
}

const char *editor_value(const char *expression)
{
    json_t *body = editor_ask(
        "evaluate",
        arena_printf(twist.arena, "{'expression': '%s', 'context': 'watch'}",
                     expression));

    return json_string_value(json_object_get(body, "result"));
}
