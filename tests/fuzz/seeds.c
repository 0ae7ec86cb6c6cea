/* The fuzzers' first inputs: seeds DIR writes DIR/NAME_fuzz/SEED for those that
 * our own writers make. Nothing here is kept in the repository, so seeds follow
 * the formats; hand-written ones are in corpus/. Run from the top folder. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <turbojpeg.h>
#include <zip.h>

#include "base/file.h"
#include "base/trace/writer.h"
#include "include/vpusim/vpu.h"
#include "runtime/graph/npy.h"
#include "runtime/graphfile/names.h"
#include "runtime/stick/usbip_wire.h"
#include "runtime/tune/tune_file.h"
#include "sim/compiler/kernel.h"
#include "sim/compiler/store/object.h"
#include "sim/exec/exec.h"
#include "tests/support/small_net.h"

static arena *a;
static const char *top;
static vpu_error err;

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "seeds: %s: %s\n", what, err.msg);
    exit(1);
}

static const char *path_of(const char *target, const char *name)
{
    const char *dir = arena_printf(a, "%s/%s_fuzz", top, target);

    mkdir(dir, 0777);
    return arena_printf(a, "%s/%s", dir, name);
}

static void put(const char *target, const char *name, const void *data,
                size_t n)
{
    const char *path = path_of(target, name);

    need(!file_write(path, data, n, &err), path);
}

static void copy(const char *target, const char *name, const char *from)
{
    size_t n;
    char *data;

    need(!file_read(from, 1 << 20, a, &data, &n, &err), from);
    put(target, name, data, n);
}

/* --- kernels ------------------------------------------------------------- */

static const char kernel[] =
    "__kernel void k(__global const half *src, __global half *dst,\n"
    "                __local half *tmp, int n)\n"
    "{\n"
    "    int i = get_local_id(0);\n"
    "    half s = 0;\n"
    "    tmp[i] = src[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int j = 0; j < n; j++)\n"
    "        s += tmp[j & 7] * (half)0.5h;\n"
    "    dst[get_global_id(0)] = i & 1 ? s : exp(s);\n"
    "}\n";

static const struct {
    const char *name, *text;
} texts[] = {
    {"barrier", kernel},
    {"vector", "__kernel void k(__global const half *src, __global half *dst)\n"
               "{\n"
               "    int i = get_global_id(0);\n"
               "    half8 x = vload8(i, src);\n"
               "    vstore8(x * x + (half8)1.5h, i, dst);\n"
               "}\n"},
    {"integers", "__kernel void k(__global uint *d, int n)\n"
                 "{\n"
                 "    int i = get_global_id(0);\n"
                 "    uint4 v = (uint4)(i, n, 3, 4);\n"
                 "    long w = (long)i * n;\n"
                 "    v = v << 3 ^ v.wzyx;\n"
                 "    d[i] = v.s0 % 7 + (uint)(w >> 32) + mad24(i, n, 5);\n"
                 "}\n"},
    {"private", "__kernel void k(__global float *d)\n"
                "{\n"
                "    float t[4];\n"
                "    int i = get_global_id(0);\n"
                "    for (int j = 0; j < 4; j++)\n"
                "        t[j] = d[i] + j;\n"
                "    d[i] = t[i & 3] / (1 + fabs(t[1]));\n"
                "}\n"},
    {"branches", "int f(int x) { return x > 3 ? x / 3 : -x; }\n"
                 "__kernel void k(__global int *d, char c)\n"
                 "{\n"
                 "    int i = get_global_id(0);\n"
                 "    switch (d[i] & 3) {\n"
                 "    case 0: d[i] = f(i); break;\n"
                 "    case 1: if (c) return;\n"
                 "    default: while (d[i] < 9) d[i] += 2;\n"
                 "    }\n"
                 "    atomic_add(d, 1);\n"
                 "}\n"},
};

/* What is loaded of a kernel, for an engine whose hooks are not called here. */
static void host_object(const kernel_source *source, const char *name)
{
    kernel_compile_config cfg = {.user.no_cache = true, .hooks = &exec_hooks};
    sim_kernel *k;

    need(!kernel_compile(source, &cfg, a, &k, &err), name);
    put("loader", name, k->object, k->object_bytes);
    kernel_release(k);
}

static void kernels(void)
{
    static const kernel_compile_config cfg = {.user.no_cache = true};
    const kernel_source source = {.path = arena_printf(a, "%s/k.cl", top)};
    const uint8_t *part;
    kernel_bin bin;
    size_t size;

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        put("text", texts[k].name, texts[k].text, strlen(texts[k].text));
        need(!file_write(source.path, texts[k].text, strlen(texts[k].text),
                         &err),
             source.path);
        need(!kernel_build_bin(&source, &cfg, a, &bin, &err), texts[k].name);
        put("bin", arena_printf(a, "%s.bin", texts[k].name), bin.bytes, bin.n);
        host_object(&source, texts[k].name);
        need(object_find(bin.bytes, bin.n, ".vpusim.program", &part, &size),
             "a .bin's program");
        put("bin", texts[k].name, part, size);
        need(object_find(bin.bytes, bin.n, ".vpusim.source", &part, &size),
             "a .bin's text");
        put("bin", arena_printf(a, "%s.i", texts[k].name), part, size);
    }
    remove(source.path);
}

/* --- traces -------------------------------------------------------------- */

static void bundles_in(trc_writer *w, trc_track device)
{
    trc_track row = trc_track_slices(w, device, "SHAVE 0 bundles", TRC_CYCLES);

    for (uint64_t i = 0; i < 4; i++) {
        trc_arg args[] = {TRC_UINT("bundle", i),
                          TRC_UINT("group", 0),
                          TRC_UINT("issue cycle", 3 * i),
                          TRC_TEXT("place", "0.3"),
                          TRC_TEXT("file", "k.cl"),
                          TRC_UINT("line", 2 + i % 2),
                          TRC_UINT("latency", 7),
                          TRC_UINT("reads", i / 2),
                          TRC_UINT("waited", 2),
                          TRC_TEXT("because", "waits for i1 (ld at 0, 7)"),
                          TRC_UINT("DDR stall", 9),
                          TRC_TEXT("LSU0", "ld.u16.global i1, [i2]")};

        trc_slice(
            w, row, 10 + 3 * i, 11 + 3 * i,
            &(trc_event){.name = "ld.u16.global", .args = args, .n_args = 12});
    }
    trc_instant(w, row, 30, &(trc_event){.name = "cut off"});
}

/* A finding and the line it is about. */
static void advice_in(trc_writer *w)
{
    trc_track own = trc_track_group(w, 0, "vpusim");
    trc_arg line[] = {TRC_TEXT("file", "k.cl"), TRC_UINT("line", 2),
                      TRC_TEXT("text", "    x[0] /* a */ = 1.0h; // \"")};
    trc_arg finding[] = {TRC_UINT("rank", 1),
                         TRC_TEXT("stage", "k"),
                         TRC_TEXT("rule", "dma"),
                         TRC_TEXT("file", "k.cl"),
                         TRC_UINT("line", 2),
                         TRC_TEXT("cause", "DDR stall"),
                         TRC_UINT("cycles", 300),
                         TRC_UINT("estimate", 100),
                         TRC_TEXT("text", "copy what a work-group needs"),
                         TRC_TEXT("knob", "dma-form")};

    trc_instant(w, trc_track_slices(w, own, "source", TRC_CYCLES), 0,
                &(trc_event){.name = "text", .args = line, .n_args = 3});
    trc_instant(w, trc_track_slices(w, own, "advice", TRC_CYCLES), 0,
                &(trc_event){.name = "advice", .args = finding, .n_args = 10});
}

static void trace_file(const char *target, const char *name, trc_format format)
{
    trc_writer *w;
    trc_track device, shave, count, group, banks[2];
    trc_arg args[] = {TRC_UINT("bytes", 64), TRC_REAL("share", 0.5),
                      TRC_TEXT("line", "k.cl:3")};
    trc_event e = {.name = "run", .args = args, .n_args = 3};

    need(!trc_writer_create(NULL, &w, &err), "a trace");
    need(!trc_writer_add(w, format, path_of(target, name), &err), name);
    device = trc_track_group(w, 0, "device");
    shave = trc_track_slices(w, device, "SHAVE 0", TRC_CYCLES);
    count = trc_track_counter(w, device, "DDR bytes/cycle", TRC_CYCLES,
                              TRC_UNIT_BYTES);
    group = trc_track_group(w, device, "DDR banks");
    banks[0] = trc_track_counter(w, group, "bank 0", TRC_CYCLES, TRC_UNIT_NONE);
    banks[1] = trc_track_counter(w, group, "bank 1", TRC_CYCLES, TRC_UNIT_NONE);
    for (uint64_t i = 0; i < 4; i++) {
        trc_count_real(w, banks[i % 2], 100 * i, 0.1 * (double)i);
        e.flow = i == 0   ? TRC_FLOW_START
                 : i == 3 ? TRC_FLOW_END
                          : TRC_FLOW_STEP;
        e.flow_id = 1;
        trc_begin(w, shave, 100 * i, &e);
        trc_slice(w, shave, 100 * i + 10, 100 * i + 20,
                  &(trc_event){.name = "group", .numbered = true, .number = i});
        trc_end(w, shave, 100 * i + 50, NULL, 0);
        trc_count(w, count, 100 * i, (int64_t)i);
    }
    bundles_in(w, device);
    advice_in(w);
    trc_note(w, "about", "a seed");
    need(!trc_writer_commit(w, &err), name);
}

static void traces(void)
{
    static const struct {
        const char *name;
        trc_format format;
    } forms[] = {{"perfetto", TRC_PERFETTO}, {"json", TRC_CHROME_JSON}};

    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        trace_file("trace", forms[k].name, forms[k].format);
        trace_file("copy", forms[k].name, forms[k].format);
    }
}

/* --- networks ------------------------------------------------------------ */

static void networks(void)
{
    const uint8_t *data;
    size_t n;
    blob b;

    for (uint32_t batch = 1; batch < 3; batch++) {
        small_net(a, batch, &b);
        small_bytes(&b, a, &data, &n);
        put("network", arena_printf(a, "net%u", batch), data, n);
        put("blob", arena_printf(a, "net%u", batch), data, n);
    }
    small_loop(a, &b);
    small_bytes(&b, a, &data, &n);
    put("network", "loop", data, n);
}

/* --- sticks -------------------------------------------------------------- */

/* fuzz_link.h: the layout, how answers are wrong, which are; then a script. */
enum { HEAD = 8 };

static void scripts(void)
{
    /* stick_fuzz: a stream each, a blob, commands, an element, the end. */
    static const uint8_t stick[] = {0, 1, 0, 0, 0x11, 1, 0, 0, 0x22, 2,
                                    0, 3, 0, 0, 0x33, 0, 1, 0, 0,    0,
                                    0, 4, 4, 1, 5,    0, 7, 8, 6,    1};
    /* mvnc_fuzz: packets of the sizes a host waits for. */
    static const uint8_t mvnc[] = {0, 0, 1, 0, 0,    2, 5,    3, 0, 0, 0, 1, 8,
                                   0, 2, 1, 9, 0x11, 2, 0x12, 4, 1, 6, 3, 7, 9};
    uint8_t bytes[HEAD + sizeof stick + sizeof mvnc];

    for (uint8_t layout = 0; layout < 3; layout++) {
        memset(bytes, 0, HEAD);
        bytes[0] = layout;
        memcpy(bytes + HEAD, stick, sizeof stick);
        put("stick", arena_printf(a, "script%u", layout), bytes,
            HEAD + sizeof stick);
        memcpy(bytes + HEAD, mvnc, sizeof mvnc);
        put("mvnc", arena_printf(a, "script%u", layout), bytes,
            HEAD + sizeof mvnc);
    }
}

static uint8_t *number(uint8_t *p, uint32_t v)
{
    for (int k = 0; k < 4; k++)
        p[k] = (uint8_t)(v >> (24 - 8 * k));
    return p + 4;
}

static uint8_t *urb(uint8_t *p, uint32_t seqnum, uint32_t in, uint32_t endpoint,
                    uint32_t length, const uint8_t setup[8])
{
    uint8_t *end = p + USBIP_HEADER_BYTES;

    memset(p, 0, USBIP_HEADER_BYTES);
    p = number(p, USBIP_CMD_SUBMIT);
    p = number(p, seqnum);
    p = number(p, 1 << 16 | 2);
    p = number(p, in);
    p = number(p, endpoint);
    p = number(p, 0);
    number(p, length);
    memcpy(end - 8, setup, 8);
    return end;
}

/* The list; an import, the device's descriptor, bytes to it, and taken back. */
static void imports(void)
{
    static const uint8_t none[8], descriptor[8] = {0x80, 6, 0, 1, 0, 0, 18, 0};
    uint8_t bytes[1024] = {1}, *p = bytes + 1;

    usbip_put_op(p, USBIP_REQ_DEVLIST, 0);
    put("usbip", "list", bytes, 1 + USBIP_OP_BYTES);
    usbip_put_op(p, USBIP_REQ_IMPORT, 0);
    p += USBIP_OP_BYTES;
    memcpy(p, "1-1", 4);
    p += USBIP_BUSID_BYTES;
    p = urb(p, 1, 1, 0, 18, descriptor);
    p = urb(p, 2, 0, 1, 16, none);
    p += 16;
    p = urb(p, 3, 1, 1, 512, none);
    memset(p, 0, USBIP_HEADER_BYTES);
    number(p, USBIP_CMD_UNLINK);
    number(p + 4, 4);
    number(p + 20, 3);
    put("usbip", "import", bytes, (size_t)(p + USBIP_HEADER_BYTES - bytes));
}

/* Two rows of tuned sizes. */
static void tuned_sizes(void)
{
    const tune_entry rows[] = {{.key = {0x123456789abcdef, 7, 9, {40, 24, 1}},
                                .choice = {.local = {40, 2, 1}},
                                .cost = 33403,
                                .cycles = true,
                                .entry = "grn"},
                               {.key = {1, 2, 3, {512, 1, 1}},
                                .choice = {.local = {8, 1, 1}, .shaves = 4},
                                .cost = 1500,
                                .entry = "relu"}};
    tune_file f = {.n = 0};
    str text = {0};

    tune_file_put(&f, a, &rows[0]);
    tune_file_put(&f, a, &rows[1]);
    tune_file_print(&f, &text);
    put("tune", "rows", str_text(&text), text.n);
    str_free(&text);
}

/* --- graphs -------------------------------------------------------------- */

/* y = tanh(x) + w: a constant, something between, two operations. */
static vpu_graph *make_graph(vpu_context *c)
{
    static const float w[3] = {1, 2, 3};
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_tensor *x, *two[2];
    vpu_operation *op;
    vpu_graph *g;

    need(!vpu_graph_create(&g, c, &err), "a graph");
    t.shape = "3:f32";
    t.role = VPU_ROLE_INPUT;
    need(!vpu_graph_tensor(g, &t, &x, &err), "an input");
    t.role = VPU_ROLE_CONSTANT;
    t.data = w;
    need(!vpu_graph_tensor(g, &t, &two[1], &err), "a constant");
    o.inputs = &x;
    o.n_inputs = 1;
    need(!vpu_graph_add(g, "tanh", &o, &op, &err), "tanh");
    two[0] = vpu_operation_output(op, 0);
    o.inputs = two;
    o.n_inputs = 2;
    o.output_role = VPU_ROLE_OUTPUT;
    need(!vpu_graph_add(g, "add", &o, &op, &err), "add");
    return g;
}

/* The file, and its manifest behind the lengths of the other sections. */
static void graphs(void)
{
    container c = {.kind = &graphfile_kind, .path = "a graph", .err = &err};
    str seed = {0};
    vpu_context *context;
    vpu_graph *g;
    const void *data;
    size_t n;

    need(!vpu_context_create(&context, NULL, &err), "a context");
    g = make_graph(context);
    need(!vpu_graph_save(g, path_of("graph_file", "whole"), NULL, &err),
         "a graph's file");
    need(!container_load(path_of("graph_file", "whole"), &graphfile_kind, a,
                         &data, &n, &err),
         "a graph's file again");
    c.p = data;
    c.n = n;
    need(!container_check(&c), "a graph's sections");
    str_add(&seed, &(char){(char)(c.n_sections - 1)}, 1);
    for (uint32_t i = 1; i < c.n_sections; i++)
        str_add(&seed, &(char){(char)container_at(&c, i).bytes}, 1);
    str_add(&seed, container_at(&c, 0).data, container_at(&c, 0).bytes);
    put("graph_file", "manifest", seed.data, seed.n);
    str_free(&seed);
    vpu_graph_free(g);
    vpu_context_free(context);
}

/* --- inputs -------------------------------------------------------------- */

/* Behind the head that input_fuzz.c reads. */
static void put_input(const char *name, unsigned how, unsigned w, unsigned h,
                      const char *rest, const void *data, size_t n)
{
    str s = {.arena = a};

    str_add(
        &s,
        (char[]){(char)how, (char)(w - 1), (char)(h - 1), (char)strlen(rest)},
        4);
    str_puts(&s, rest);
    str_add(&s, data, n);
    put("input", name, s.data, s.n);
}

static void archives(void)
{
    static const float x[6] = {1, 2, 3};
    const tensor t = {{.dtype = TENSOR_F32, .rank = 1, .dims = {6}},
                      (void *)(uintptr_t)x};
    const char *path = arena_printf(a, "%s/x.npz", top);
    const char *array = arena_printf(a, "%s/x.npy", top);
    char *data;
    size_t n;

    need(!npy_write(array, &t, &err), array);
    for (int i = 0; i < 2; i++) {
        zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);

        need(z &&
                 zip_file_add(z, "a.npy", zip_source_file(z, array, 0, -1),
                              0) == 0 &&
                 zip_file_add(z, "b.npy", zip_source_file(z, array, 0, -1),
                              0) == 1 &&
                 !zip_set_file_compression(
                     z, 1, i ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) &&
                 !zip_close(z),
             path);
        need(!file_read(path, 1 << 16, a, &data, &n, &err), path);
        put_input(i ? "deflated" : "stored", 0 | 2 << 2, 6, 1, "b", data, n);
        put_input(i ? "two" : "pair", 0 | 2 << 2, 6, 1, "", data, n);
    }
    remove(path);
    remove(array);
}

static void pictures(void)
{
    static const png_uint_32 formats[] = {PNG_FORMAT_RGB, PNG_FORMAT_GRAY,
                                          PNG_FORMAT_RGBA,
                                          PNG_FORMAT_LINEAR_RGB};
    static const char *const rests[] = {"mean=104,117,123,scale=58",
                                        "grey=repeat", "alpha=drop,order=bgr",
                                        "scale=255"};
    uint8_t pixels[16 * 16 * 8], out[1 << 14];

    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 7);
    for (int i = 0; i < 4; i++) {
        png_image image = {.version = PNG_IMAGE_VERSION,
                           .width = 16,
                           .height = 16,
                           .format = formats[i]};
        png_alloc_size_t n = sizeof out;

        need(png_image_write_to_memory(&image, out, &n, 0, pixels, 0, NULL),
             image.message);
        put_input(arena_printf(a, "png%d", i), 1 | 2 << 2 | 2 << 4, 16, 16,
                  rests[i], out, n);
    }
    for (int i = 0; i < 3; i++) {
        tjhandle tj = tjInitCompress();
        unsigned char *to = out;
        unsigned long n = sizeof out;

        need(!tjCompress2(tj, pixels, 16, 0, 16, i ? TJPF_RGB : TJPF_GRAY, &to,
                          &n, i ? TJSAMP_420 : TJSAMP_GRAY, 80,
                          TJFLAG_NOREALLOC | (i > 1 ? TJFLAG_PROGRESSIVE : 0)),
             "JPEG");
        put_input(arena_printf(a, "jpg%d", i), 2 | 1 << 2 | 3 << 4, 16, 16,
                  i ? "scale=255" : "grey=repeat", to, n);
        tjDestroy(tj);
    }
}

static void inputs(void)
{
    archives();
    pictures();
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: seeds DIR\n", stderr);
        return 2;
    }
    top = argv[1];
    a = arena_create(0);
    kernels();
    traces();
    networks();
    scripts();
    imports();
    tuned_sizes();
    graphs();
    inputs();
    copy("desc", "ma2x8x.xml", "sim/machine/ma2x8x.xml");
    arena_destroy(a);
    return 0;
}
