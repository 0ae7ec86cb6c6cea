/* Any bytes as an editor's. What begins with '#' goes to the debug adapter as
 * it is; else each line is a message, which gets its header here, and the next
 * one follows when the adapter has nothing more to say. A launch request gets a
 * kernel of a few lines, whatever it asks for. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/dap/dap.h"
#include "runtime/graph/layer.h"
#include "tests/fuzz/fuzz_child.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { MAX_MESSAGES = 40, QUIET_MS = 3, LAUNCH_MS = 5000 };

static const char binding[] =
    "<CustomLayer name=\"T\" type=\"MVCL\" version=\"1\">\n"
    "<Kernel entry=\"k\"><Source filename=\"k.cl\"/><Parameters>\n"
    "<Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "<Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "</Parameters><WorkSizes dim=\"input,0\" global=\"X,Y,1\" "
    "local=\"8,1,1\"/></Kernel></CustomLayer>\n";
static const char kernel[] =
    "typedef struct { int a; float2 v; } both;\n"
    "float scaled(float x, int by)\n{\n    return x * by;\n}\n"
    "__kernel void k(__global const half *src, __global half *dst)\n{\n"
    "    __local half tile[8];\n"
    "    int l = get_local_id(0), at = get_global_id(0);\n"
    "    both pair = {l, (float2)(0.5f, l)};\n"
    "    tile[l] = src[at];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    printf(\"%d\\n\", l);\n"
    "    dst[at] = scaled(tile[7 - l], pair.a);\n"
    "}\n";

static char *folder;

static void put(const char *name, const char *text)
{
    char path[8192];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f))
        abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    signal(SIGPIPE, SIG_IGN);
    folder = fuzz_folder();
    put("layer.xml", binding);
    put("k.cl", kernel);
    return 0;
}

/* --- the session --------------------------------------------------------- */

typedef struct {
    arena *a;
    mach_desc desc;
    graph_layer layer;
} session;

static vpu_status fill(void *user, uint32_t i, void *data, vpu_error *err)
{
    const session *s = user;

    (void)err;
    memset(data, 60, s->layer.graph->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status open_layer(void *user, const dap_launch *l,
                             const log_sink *log, debug_config *out,
                             vpu_error *err)
{
    static const char *const shapes[] = {"in0=1x2x2x16"};
    session *s = user;
    const char *path[1];
    graph_layer_texts texts = {.bindings = {path, 1}, .shapes = {shapes, 1}};
    vpu_status st;

    s->a = arena_create(0);
    path[0] = arena_printf(s->a, "%s/layer.xml", folder);
    st = backend_machine(NULL, NULL, 0, 0, s->a, &s->desc, err);
    if (!st)
        st = graph_layer_bind(&texts, s->a, log, &s->layer, err);
    if (st)
        return st;
    *out = (debug_config){.graph = s->layer.graph,
                          .run = {.desc = &s->desc},
                          .fill = fill,
                          .user = s};
    for (uint32_t k = 0; k < l->n_words; k++)
        out->bundles |= !strcmp(l->words[k], "--bundles");
    return VPU_OK;
}

static void close_layer(void *user)
{
    arena_destroy(((session *)user)->a);
}

static void *serve(void *config)
{
    const dap_config *cfg = config;
    vpu_error err;

    dap_serve(cfg, &err);
    close(cfg->out);
    return NULL;
}

/* --- the editor ---------------------------------------------------------- */

/* All that it says until it is quiet; behind a launch, until that is answered,
 * or what was meant to be one. */
static void listen_to(int from, bool launched)
{
    struct pollfd f = {.fd = from, .events = POLLIN};
    char text[1 << 16];
    ssize_t n;

    while (poll(&f, 1, launched ? LAUNCH_MS : QUIET_MS) > 0) {
        n = read(from, text, sizeof text - 1);
        if (n <= 0)
            return;
        text[n] = 0;
        launched &= !strstr(text, "\"success\"");
    }
}

static void say(int to, const void *bytes, size_t n)
{
    while (n) {
        ssize_t did = write(to, bytes, n);

        if (did <= 0)
            return;
        bytes = (const char *)bytes + did;
        n -= (size_t)did;
    }
}

static void say_lines(int to, int from, const char *text)
{
    for (int k = 0; *text && k < MAX_MESSAGES; k++) {
        size_t n = strcspn(text, "\n");
        char head[64], *line = strndup(text, n);

        snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", n);
        say(to, head, strlen(head));
        say(to, text, n);
        listen_to(from, strstr(line, "\"launch\"") != NULL);
        free(line);
        text += n + (text[n] == '\n');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    session s = {0};
    dap_config cfg = {
        .open = open_layer, .close = close_layer, .patience = 1, .user = &s};
    char *text = malloc(n + 1);
    int in[2], out[2];
    pthread_t server;
    char ignored[4096];

    if (!text || pipe(in) || pipe(out))
        abort();
    memcpy(text, data, n);
    text[n] = 0;
    cfg.in = in[0];
    cfg.out = out[1];
    if (n >= 1 << 15 || pthread_create(&server, NULL, serve, &cfg))
        close(out[1]);
    else if (*text == '#')
        say(in[1], text + 1, n - 1);
    else
        say_lines(in[1], out[0], text);
    close(in[1]);
    while (read(out[0], ignored, sizeof ignored) > 0)
        ;
    if (n < 1 << 15)
        pthread_join(server, NULL);
    close(in[0]);
    close(out[0]);
    free(text);
    return 0;
}
