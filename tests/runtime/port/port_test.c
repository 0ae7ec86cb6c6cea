/* Layers moved from the GPU to the VPU. The program itself compares each with
 * what it was, bit for bit; here are random kernels, for which it must be equal
 * in every form, for other shapes, and under the checkers, and named ones, for
 * which it must say what moves and why something does not.
 *
 * VPU_SEEDS=FIRST:COUNT runs other random kernels; VPU_SHOW=1 prints them. */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/terminal.h"

static terminal p;

static void setup(void)
{
    terminal_open(&p);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* --- random kernels -------------------------------------------------------- */

/* One work-item makes: an element, the channels behind a pixel, a line, or a
 * column. */
typedef enum { ELEMENT, CHANNELS, LINE, COLUMN, N_ITEMS } item;

/* How the input's column depends on the output's. */
typedef enum { SAME, STRIDED, WINDOW, BORDERED, CLAMPED, TURNED, N_WALKS } walk;

/* How the input's channel depends on the output's. */
typedef enum { OWN, ALL, TURNED_ROUND, FIRST, N_CHANNELS } channels;

typedef struct {
    uint64_t state;
    item item;
    walk x, y;
    channels f;
    uint32_t window; /* elements of WINDOW and BORDERED */
    bool slopes;     /* a second input, a number for each channel */
    bool condition;  /* stores under a condition that always holds */
    bool floats;
    const char *in, *out; /* formats */
    bool local;           /* the file gives a local size */
    uint32_t dims[4];     /* of the output */
} kernel;

static uint32_t pick(kernel *k, uint32_t n)
{
    k->state = k->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(k->state >> 33) % n;
}

static void make(kernel *k, uint64_t seed)
{
    static const char *const formats[] = {"BFYX", "BYXF", "YXFB", "FYXB"};

    *k = (kernel){.state = seed * 0x9e3779b97f4a7c15u + 1};
    for (int i = 0; i < 8; i++)
        pick(k, 2);
    k->item = (item)pick(k, N_ITEMS);
    k->x = (walk)pick(k, N_WALKS);
    k->y = (walk)pick(k, N_WALKS);
    k->f = (channels)pick(k, N_CHANNELS);
    k->window = 2 + pick(k, 2);
    k->slopes = !pick(k, 3);
    k->condition = !pick(k, 5);
    k->floats = !pick(k, 4);
    k->dims[0] = 1 + pick(k, 2);
    k->dims[1] = 2 * (1 + pick(k, 3));
    k->dims[2] = 3 + pick(k, 6);
    k->dims[3] = pick(k, 2) ? 8 * (1 + pick(k, 3)) : 5 + pick(k, 14);
    /* MVCL has no format with a batch innermost. */
    k->in = formats[pick(k, k->dims[0] > 1 ? 2 : 4)];
    k->out = formats[pick(k, k->dims[0] > 1 ? 2 : 4)];
    k->local = !pick(k, 4);
}

static uint32_t input_size(const kernel *k, walk w, uint32_t n)
{
    return w == STRIDED ? 2 * n : w == WINDOW ? n + k->window - 1 : n;
}

/* The input's place along one axis, v the output's; i counts the window. */
static const char *place(const kernel *k, walk w, const char *v, const char *i,
                         const char *size)
{
    switch (w) {
    case STRIDED:
        return arena_printf(p.arena, "%s * 2", v);
    case WINDOW:
        return arena_printf(p.arena, "%s + %s", v, i);
    case BORDERED:
        return arena_printf(p.arena, "%s + %s - 1", v, i);
    case CLAMPED:
        return arena_printf(p.arena, "min(%s + 1, %s - 1)", v, size);
    case TURNED:
        return arena_printf(p.arena, "%s - 1 - %s", size, v);
    default:
        (void)k;
        return v;
    }
}

static bool has_window(walk w)
{
    return w == WINDOW || w == BORDERED;
}

static const char *head_of(const kernel *k)
{
    switch (k->item) {
    case CHANNELS:
        return "    const int x = get_global_id(0), y = get_global_id(1);\n"
               "    const int b = get_global_id(2);\n\n"
               "    for (int f = 0; f < OUTPUT0_DIMS[1]; f++)\n";
    case LINE:
        return "    const int y = get_global_id(0), f = get_global_id(1);\n"
               "    const int b = get_global_id(2);\n\n"
               "    for (int x = 0; x < OUTPUT0_DIMS[3]; x++)\n";
    case COLUMN:
        return "    const int x = get_global_id(0), f = get_global_id(1);\n"
               "    const int b = get_global_id(2);\n\n"
               "    for (int y = 0; y < OUTPUT0_DIMS[2]; y++)\n";
    default:
        return "    const int x = get_global_id(0), y = get_global_id(1);\n"
               "    const int f = get_global_id(2) % OUTPUT0_DIMS[1];\n"
               "    const int b = get_global_id(2) / OUTPUT0_DIMS[1];\n\n";
    }
}

static const char *global_of(const kernel *k)
{
    static const char *const sizes[N_ITEMS] = {"X,Y,B*F", "X,Y,B", "Y,F,B",
                                               "X,F,B"};

    return sizes[k->item];
}

static void put_kernel(const kernel *k)
{
    const char *channel = k->f == OWN            ? "f"
                          : k->f == TURNED_ROUND ? "(OUTPUT0_DIMS[1] - 1 - f)"
                          : k->f == FIRST        ? "0"
                                                 : "c";
    const char *ix = place(k, k->x, "x", "i", "INPUT0_DIMS[3]");
    const char *iy = place(k, k->y, "y", "j", "INPUT0_DIMS[2]");
    str s = {0};

    str_puts(&s, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\n");
    str_printf(&s,
               "__kernel void moved(const __global INPUT0_TYPE *restrict in,\n"
               "                    %s__global OUTPUT0_TYPE *restrict out)\n"
               "{\n%s    {\n        float sum = 0;\n\n",
               k->slopes ? "const __global INPUT1_TYPE *restrict by, " : "",
               head_of(k));
    if (k->f == ALL)
        str_puts(&s, "        for (int c = 0; c < INPUT0_DIMS[1]; c++)\n");
    if (has_window(k->y))
        str_printf(&s, "        for (int j = 0; j < %u; j++)\n", k->window);
    if (has_window(k->x))
        str_printf(&s, "        for (int i = 0; i < %u; i++)\n", k->window);
    str_printf(&s, "        {\n            const int u = %s, v = %s;\n\n", iy,
               ix);
    if (k->x == BORDERED || k->y == BORDERED)
        str_puts(&s,
                 "            if (u >= 0 && u < INPUT0_DIMS[2] && v >= 0 && "
                 "v < INPUT0_DIMS[3])\n");
    str_printf(&s,
               "            sum += (float)in[INPUT0_OFFSET + b * "
               "INPUT0_PITCHES[0] + %s * INPUT0_PITCHES[1] +\n"
               "                u * INPUT0_PITCHES[2] + v * "
               "INPUT0_PITCHES[3]];\n        }\n",
               channel);
    if (k->slopes)
        str_puts(&s, "        sum *= (float)by[INPUT1_OFFSET + f * "
                     "INPUT1_PITCHES[1]];\n");
    if (k->condition)
        str_puts(&s, "        if (sum < 1e30f)\n");
    str_puts(&s, "        out[OUTPUT0_OFFSET + b * OUTPUT0_PITCHES[0] + f * "
                 "OUTPUT0_PITCHES[1] +\n            y * OUTPUT0_PITCHES[2] + x "
                 "* OUTPUT0_PITCHES[3]] = (OUTPUT0_TYPE)sum;\n    }\n}\n");
    if (getenv("VPU_SHOW"))
        fprintf(stderr, "%s", str_text(&s));
    terminal_text(&p, "moved.cl", str_text(&s));
    str_free(&s);
}

static void put_layer(const kernel *k)
{
    const char *first = global_of(k);

    terminal_text(
        &p, "gpu.xml",
        arena_printf(
            p.arena,
            "<CustomLayer name=\"Moved\" type=\"SimpleGPU\" version=\"1\">\n"
            "<Kernel entry=\"moved\"><Source filename=\"moved.cl\"/></Kernel>\n"
            "<Buffers>\n<Tensor arg-index=\"0\" type=\"input\" "
            "port-index=\"0\" format=\"%s\"/>\n%s"
            "<Tensor arg-index=\"%d\" type=\"output\" port-index=\"0\" "
            "format=\"%s\"/>\n</Buffers>\n<WorkSizes global=\"%s\"%s/>\n"
            "</CustomLayer>\n",
            k->in,
            k->slopes ? "<Tensor arg-index=\"1\" type=\"input\" "
                        "port-index=\"1\"/>\n"
                      : "",
            k->slopes ? 2 : 1, k->out, first,
            k->local ? arena_printf(p.arena, " local=\"%c,1,1\"", first[0])
                     : ""));
}

static const char *shapes_of(const kernel *k)
{
    const char *type = k->floats ? ":f32" : "";
    const char *text = arena_printf(
        p.arena, "--shape in0=%ux%ux%ux%u%s --shape out0=%ux%ux%ux%u%s",
        k->dims[0], k->dims[1], input_size(k, k->y, k->dims[2]),
        input_size(k, k->x, k->dims[3]), type, k->dims[0], k->dims[1],
        k->dims[2], k->dims[3], type);

    return k->slopes ? arena_printf(p.arena, "%s --shape in1=1x%ux1x1%s", text,
                                    k->dims[1], type)
                     : text;
}

static void expect_ok(uint64_t seed, const char *what)
{
    ck_assert_msg(p.status == 0, "seed %llu: %s: status %d\n%s%s",
                  (unsigned long long)seed, what, p.status, p.out, p.err);
}

/* What has to move: all of it but an input whose place depends on a condition
 * (min), and an output under one. */
static void expect_moves(const kernel *k, uint64_t seed)
{
    bool clamped = k->x == CLAMPED || k->y == CLAMPED;
    bool some = !k->condition || !clamped || k->slopes;

    ck_assert_msg(!some == !strstr(p.out, "cycles, form dma"), "seed %llu: %s",
                  (unsigned long long)seed, p.out);
    if (!strstr(p.out, "form dma, kernel"))
        return; /* the notes are those of the other form */
    ck_assert_msg(clamped == (strstr(p.out, "in0 stays in DDR") != NULL),
                  "seed %llu: %s", (unsigned long long)seed, p.out);
    ck_assert_msg(k->condition == (strstr(p.out, "out0 stays in DDR") != NULL),
                  "seed %llu: %s", (unsigned long long)seed, p.out);
}

/* Both forms are what the layer was; what each touches is its own. */
static void try_seed(uint64_t seed)
{
    static const char *const forms[] = {"plain", "best"};
    bool general;
    kernel k;

    make(&k, seed);
    put_kernel(&k);
    put_layer(&k);
    for (int i = 0; i < 2; i++) {
        terminal_run(&p,
                     arena_printf(p.arena, "port gpu.xml --to %s --form %s %s",
                                  forms[i], forms[i], shapes_of(&k)));
        expect_ok(seed, forms[i]);
        ck_assert_msg(strstr(p.out, "equal, bit for bit") != NULL, "%s", p.out);
        if (i)
            expect_moves(&k, seed);
        general = !strstr(p.out, "shapes given") && !strstr(p.out, "multiples");
        terminal_run(&p, arena_printf(p.arena, "check %s/layer.xml %s",
                                      forms[i], shapes_of(&k)));
        expect_ok(seed, "check");
        if (!general)
            continue;
        k.dims[2] += 2;
        k.dims[3] += 3;
        terminal_run(&p, arena_printf(p.arena,
                                      "diff gpu.xml --b-layer %s/layer.xml %s "
                                      "--outputs-only",
                                      forms[i], shapes_of(&k)));
        expect_ok(seed, "another shape");
        k.dims[2] -= 2;
        k.dims[3] -= 3;
    }
}

static uint64_t seeds(uint64_t *first)
{
    const char *s = getenv("VPU_SEEDS"), *colon = s ? strchr(s, ':') : NULL;

    *first = s ? strtoull(s, NULL, 10) : 0;
    return colon ? strtoull(colon + 1, NULL, 10) : 8;
}

START_TEST(equal_in_every_form)
{
    uint64_t first, n = seeds(&first);

    for (uint64_t i = 0; i < n; i++)
        try_seed(first + i);
}
END_TEST

/* --- named ones ------------------------------------------------------------ */

#define AT(t)                                                          \
    t "_OFFSET + b * " t "_PITCHES[0] + f * " t "_PITCHES[1] + y * " t \
      "_PITCHES[2] + x * " t "_PITCHES[3]"
#define IDS                                                  \
    "const int x = get_global_id(0), y = get_global_id(1), " \
    "f = get_global_id(2), b = 0;\n"
#define ARGUMENTS                                                   \
    "__kernel void moved(const __global INPUT0_TYPE *restrict in, " \
    "__global OUTPUT0_TYPE *restrict out)\n{\n"

typedef struct {
    const char *about;
    const char *before, *body; /* in front of the kernel; inside of it */
    const char *defines;       /* elements of Kernel */
    const char *options;       /* of the command */
    int status;
    const char *words; /* of what it prints */
} named;

static const named cases[] = {
    {"through a helper", "INPUT0_TYPE twice(INPUT0_TYPE v) { return v + v; }\n",
     IDS "out[" AT("OUTPUT0") "] = twice(in[" AT("INPUT0") "]);\n", "",
     "--form dma", 0, "form dma, kernel"},
    {"a helper that asks for sizes",
     "int width(void) { return INPUT0_DIMS[3]; }\n",
     IDS "out[" AT("OUTPUT0") "] = in[" AT("INPUT0") "] + width();\n", "", "",
     0, "for the shapes and parameters given alone"},
    {"a place from memory", "",
     IDS "const int k = (int)in[INPUT0_OFFSET + x * INPUT0_PITCHES[3]];\n"
         "out[" AT("OUTPUT0") "] = in[INPUT0_OFFSET + k * "
                              "INPUT0_PITCHES[3]];\n",
     "", "--form dma", 0,
     "in0 stays in DDR: line 6: it comes from a floating-point value"},
    {"a place from a float", "",
     IDS "const int k = (int)(x * 0.5f);\n"
         "out[" AT("OUTPUT0") "] = in[INPUT0_OFFSET + k * "
                              "INPUT0_PITCHES[3]];\n",
     "", "--form dma", 0, "it comes from a floating-point value"},
    {"without pitches", "",
     IDS "const int i = (f * INPUT0_DIMS[2] + y) * INPUT0_DIMS[3] + x;\n"
         "out[i] = in[i];\n",
     "", "--form dma", 5, "it is not made of this tensor's pitches alone"},
    {"a loop that ends early", "",
     IDS "float s = 0;\n"
         "for (int k = 0; k < INPUT0_DIMS[3]; k++) {\n"
         "    s += (float)in[" AT(
             "INPUT0") " - x * INPUT0_PITCHES[3] + k * "
                       "INPUT0_PITCHES[3]];\n"
                       "    if (s > 3)\n        break;\n}\n"
                       "out[" AT("OUTPUT0") "] = (OUTPUT0_TYPE)s;\n",
     "", "--form dma", 0, "equal, bit for bit"},
    {"a counter behind its loop", "",
     IDS "float s = 0;\nint k;\n"
         "for (k = 0; k < INPUT0_DIMS[3] - 1; k++)\n"
         "    s += (float)in[INPUT0_OFFSET + k * INPUT0_PITCHES[3]];\n"
         "s += (float)in[INPUT0_OFFSET + k * INPUT0_PITCHES[3]];\n"
         "out[" AT("OUTPUT0") "] = (OUTPUT0_TYPE)s;\n",
     "", "--form dma", 0, "it uses a counter outside of the loop's body"},
    {"a loop that reads in its condition", "",
     IDS "int k = 0;\n"
         "while ((float)in[INPUT0_OFFSET + k * INPUT0_PITCHES[3]] < 5 && "
         "k < INPUT0_DIMS[3] - 1)\n    k++;\n"
         "out[" AT("OUTPUT0") "] = (OUTPUT0_TYPE)k;\n",
     "", "--form dma", 0, "in0 stays in DDR"},
    {"a loop that counts what is next", "",
     IDS "float s = 0;\n"
         "for (int k = 0; k + 2 < INPUT0_DIMS[3]; k += 3)\n"
         "    s += (float)in[INPUT0_OFFSET + k * INPUT0_PITCHES[3]];\n"
         "out[" AT("OUTPUT0") "] = (OUTPUT0_TYPE)s;\n",
     "", "--form dma", 0, "equal, bit for bit"},
    {"a loop that is left behind its body", "",
     IDS
     "float s = 0;\nint k = 0;\n"
     "do {\n"
     "    s += (float)in[" AT(
         "INPUT0") " - x * INPUT0_PITCHES[3] + k * "
                   "INPUT0_PITCHES[3]];\n    k++;\n} while (k < INPUT0_DIMS[3]);\n"
                   "out[" AT("OUTPUT0") "] = (OUTPUT0_TYPE)s;\n",
     "", "--form dma", 0, "form dma, kernel"},
    {"every second column is stored", "",
     IDS "if (x < INPUT0_DIMS[3] / 2)\n"
         "    out[OUTPUT0_OFFSET + f * OUTPUT0_PITCHES[1] + y * "
         "OUTPUT0_PITCHES[2] + 2 * x * OUTPUT0_PITCHES[3]] = in[" AT(
             "INPUT0") "];\n",
     "", "--form dma", 0, "elements between those it stores stay as they are"},
    {"pointers of its own", "",
     IDS "const __global INPUT0_TYPE *from = in + INPUT0_OFFSET + f * "
         "INPUT0_PITCHES[1] + y * INPUT0_PITCHES[2];\n"
         "out[" AT("OUTPUT0") "] = from[x * INPUT0_PITCHES[3]];\n",
     "", "--form dma", 0, "form dma, kernel"},
    {"a parameter", "",
     IDS "out[" AT("OUTPUT0") "] = in[" AT("INPUT0") "] * BY;\n",
     "<Define name=\"BY\" param=\"by\" type=\"float\" default=\"2\"/>",
     "--param by=3", 0, "equal, bit for bit"},
    {"a default", "",
     IDS "out[" AT("OUTPUT0") "] = in[" AT("INPUT0") "] * BY;\n",
     "<Define name=\"BY\" param=\"by\" type=\"float\" default=\"2\"/>", "", 0,
     "parameter by is fixed at its default, 2"},
    {"a parameter of a directive", "",
     IDS "#if MODE == 1\nout[" AT("OUTPUT0") "] = in[" AT(
         "INPUT0") "];\n"
                   "#else\nout[" AT("OUTPUT0") "] = 7;\n#endif\n",
     "<Define name=\"MODE\" param=\"mode\" type=\"int\" default=\"0\"/>",
     "--param mode=1", 0, "parameter mode is fixed at 1, as given"},
    {"a list", "",
     IDS "out[" AT("OUTPUT0") "] = in[" AT("INPUT0") "] + L[1];\n",
     "<Define name=\"L\" param=\"list\" type=\"int[]\"/>", "--param list=1,2,3",
     0, "parameter list is fixed at 1,2,3, as given"},
    {"too much for a work-group", "",
     IDS "float s = 0;\nfor (int c = 0; c < INPUT0_DIMS[1]; c++)\n"
         "    s += (float)in[" AT(
             "INPUT0") " - f * INPUT0_PITCHES[1] + c * "
                       "INPUT0_PITCHES[1]];\n"
                       "out[" AT("OUTPUT0") "] = (OUTPUT0_TYPE)s;\n",
     "", "--form dma --shape in0=1x64x1x1024", 5,
     "the smallest work-group needs 133120 bytes of local memory, there are "
     "102400"},
    {"more than there are addresses", "",
     IDS "float s = 0;\n"
         "for (int c = 0; c < 1 << 30; c++) {\n"
         "    for (int l = 0; l < 1 << 30; l++) {\n"
         "        for (int k = 0; k < 1 << 30; k++) {\n"
         "            s += (float)in[INPUT0_OFFSET + c * INPUT0_PITCHES[1] + "
         "l * INPUT0_PITCHES[2] + k * INPUT0_PITCHES[3]];\n"
         "            if (k == INPUT0_DIMS[3] - 1)\n                break;\n"
         "        }\n        if (l == INPUT0_DIMS[2] - 1)\n"
         "            break;\n    }\n    if (c == INPUT0_DIMS[1] - 1)\n"
         "        break;\n}\nout[" AT("OUTPUT0") "] = (OUTPUT0_TYPE)s;\n",
     "", "--form dma", 0,
     "in0 stays in DDR: its part for a work-group is too large"},
    {"the arguments are a macro's",
     "#define ALL const __global INPUT0_TYPE *in, __global OUTPUT0_TYPE *out\n",
     NULL, "", "", 5, "kernel 'moved' has 1 arguments, the layer binds 2"}};
enum { N_CASES = sizeof cases / sizeof *cases };

static const named *named_case(const char *about)
{
    size_t i = 0;

    while (strcmp(cases[i].about, about))
        i++;
    return &cases[i];
}

static void put_named(const named *c)
{
    terminal_text(
        &p, "moved.cl",
        arena_printf(p.arena,
                     "#pragma OPENCL EXTENSION cl_khr_fp16 : "
                     "enable\n%s%s%s}\n",
                     c->before,
                     c->body ? ARGUMENTS : "__kernel void moved(ALL)\n{\n",
                     c->body ? c->body : "out[0] = in[0];\n"));
    terminal_text(
        &p, "gpu.xml",
        arena_printf(
            p.arena,
            "<CustomLayer name=\"Moved\" type=\"SimpleGPU\" version=\"1\">\n"
            "<Kernel entry=\"moved\"><Source filename=\"moved.cl\"/>%s"
            "</Kernel>\n<Buffers>\n"
            "<Tensor arg-index=\"0\" type=\"input\" port-index=\"0\"/>\n"
            "<Tensor arg-index=\"1\" type=\"output\" port-index=\"0\"/>\n"
            "</Buffers>\n<WorkSizes global=\"X,Y,F\"/>\n</CustomLayer>\n",
            c->defines));
}

START_TEST(says_what_moves)
{
    const named *c = &cases[_i];

    put_named(c);
    terminal_run(&p, arena_printf(p.arena, "port gpu.xml --to to %s %s",
                                  strstr(c->options, "--shape")
                                      ? ""
                                      : "--shape in0=1x3x5x16",
                                  c->options));
    ck_assert_msg(p.status == c->status &&
                      (strstr(p.out, c->words) || strstr(p.err, c->words)),
                  "%s: status %d, expected %d and '%s'\n%s%s", c->about,
                  p.status, c->status, c->words, p.out, p.err);
    ck_assert_int_eq(terminal_has(&p, "to/layer.xml"), c->status == 0);
}
END_TEST

/* What a user may get wrong. */
static const struct {
    const char *args, *words;
} mistakes[] = {
    {"port gpu.xml --shape in0=1x3x5x16", "--to says which folder to write"},
    {"port gpu.xml --to to", "the layer is moved for shapes given by hand"},
    {"port gpu.xml --to . --shape in0=1x3x5x16", "the layer's own files"},
    {"port gpu.xml --to moved.cl --shape in0=1x3x5x16", "moved.cl"},
    {"port gpu.xml --to to --shape in0=1x3x5x16 --pad in0=1,1,0,0",
     "no padding"},
    {"port gpu.xml --to to --shape in0=1x3x5x16 --form fast",
     "expected best, plain or dma"},
    {"port to/layer.xml --to again --shape in0=1x3x5x16",
     "is for the VPU already"}};

START_TEST(mistakes_are_told)
{
    put_named(&cases[0]);
    terminal_run(&p, "port gpu.xml --to to --shape in0=1x3x5x16");
    ck_assert_int_eq(p.status, 0);
    terminal_run(&p, mistakes[_i].args);
    terminal_expect(&p, 2, mistakes[_i].words);
    terminal_run(&p, "run gpu.xml --shape in0=1x3x5x16"); /* as it was */
    ck_assert_int_eq(p.status, 0);
}
END_TEST

/* The moved layer has the parameter, too. */
START_TEST(parameters_stay)
{
    put_named(named_case("a parameter"));
    terminal_run(&p, "port gpu.xml --to to --shape in0=1x3x5x16 --param by=3");
    ck_assert_int_eq(p.status, 0);
    terminal_run(&p, "diff gpu.xml --b-layer to/layer.xml --outputs-only "
                     "--shape in0=1x3x5x16 --param by=5");
    ck_assert_msg(p.status == 0, "%s%s", p.out, p.err);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("port");
    TCase *t = tcase_create("random");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, getenv("VPU_SEEDS") ? 3600 : 300);
    tcase_add_test(t, equal_in_every_form);
    suite_add_tcase(s, t);
    t = tcase_create("named");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, says_what_moves, 0, N_CASES);
    tcase_add_loop_test(t, mistakes_are_told, 0,
                        sizeof mistakes / sizeof *mistakes);
    tcase_add_test(t, parameters_stay);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
