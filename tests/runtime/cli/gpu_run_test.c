/* SimpleGPU layers as a user runs them: padded tensors in each order, several
 * source and binding files, what is wrong with its place, every command. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fields.h"
#include "tests/support/terminal.h"

enum { N = 2 * 3 * 4 * 5 };

static terminal p;

/* Two source files: the macro of the first is used in the second. */
static const char help_cl[] =
    "#define AT(t, b, f, y, x)                                        \\\n"
    "    (t##_OFFSET + (b)*t##_PITCHES[0] + (f)*t##_PITCHES[1] +      \\\n"
    "     (y)*t##_PITCHES[2] + (x)*t##_PITCHES[3])\n"
    "/* for the kernel twice(src, dst) in the other file; */\n"
    "#define NOTHING \\";
static const char twice_cl[] =
    "__kernel void twice(__global const INPUT0_TYPE *restrict src,\n"
    "                    __global OUTPUT0_TYPE *restrict dst)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    int b = get_global_id(2) / OUTPUT0_DIMS[1];\n"
    "    int f = get_global_id(2) % OUTPUT0_DIMS[1];\n"
    "\n"
    "    dst[AT(OUTPUT0, b, f, y, x)] =\n"
    "        src[AT(INPUT0, b, f, y, x)] * FACTOR;\n"
    "}\n";

/* The name, the second source, the order of the input, that of the output. */
#define LAYER                                                       \
    "<CustomLayer name=\"%s\" type=\"SimpleGPU\" version=\"1\">\n"  \
    "  <Kernel entry=\"twice\">\n"                                  \
    "    <Source filename=\"help.cl\"/>\n"                          \
    "    <Source filename=\"%s\"/>\n"                               \
    "    <Define name=\"FACTOR\" type=\"float\" param=\"factor\" "  \
    "default=\"2\"/>\n"                                             \
    "  </Kernel>\n"                                                 \
    "  <Buffers>\n"                                                 \
    "    <Tensor arg-index=\"0\" type=\"input\" port-index=\"0\" "  \
    "format=\"%s\"/>\n"                                             \
    "    <Tensor arg-index=\"1\" type=\"output\" port-index=\"0\" " \
    "format=\"%s\"/>\n"                                             \
    "  </Buffers>\n"                                                \
    "  <WorkSizes global=\"X,Y,B*F\" local=\"1,2\"/>\n"             \
    "</CustomLayer>\n"

#define SHAPE "--shape in0=2x3x4x5:f32 "
#define PADS "--pad in0=1,2,1,1 --pad out0=0,1,2,0 "

static const char *layer(const char *name, const char *source, const char *in,
                         const char *out)
{
    return arena_printf(p.arena, LAYER, name, source, in, out);
}

static void put(const char *source, const char *in, const char *out)
{
    terminal_text(&p, "g.xml", layer("Twice", source, in, out));
}

/* in.npy: 0, 1, 2... as f32. */
static void put_input(void)
{
    char file[128 + 4 * N];
    float v[N];

    for (int i = 0; i < N; i++)
        v[i] = (float)i;
    memset(file, ' ', 128);
    memcpy(file, "\x93NUMPY\1\0\x76\0", 10);
    snprintf(file + 10, 118, "%-116s\n",
             "{'descr': '<f4', 'fortran_order': False, "
             "'shape': (2, 3, 4, 5), }");
    file[127] = '\n';
    memcpy(file + 128, v, sizeof v);
    terminal_file(&p, "in.npy", file, sizeof file);
}

/* out/out0.npy holds in.npy times factor. */
static void expect_times(float factor)
{
    size_t n;
    const char *file = terminal_bytes(&p, "out/out0.npy", &n);
    float v[N];

    ck_assert_uint_gt(n, sizeof v);
    memcpy(v, file + n - sizeof v, sizeof v);
    for (int i = 0; i < N; i++)
        ck_assert_msg(v[i] == factor * (float)i, "element %d is %g", i, v[i]);
}

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "help.cl", help_cl);
    terminal_text(&p, "twice.cl", twice_cl);
    put("twice.cl", "BYXF", "FYXB");
    put_input();
}

static void teardown(void)
{
    terminal_close(&p);
}

static void run(const char *args)
{
    terminal_run(&p, arena_printf(p.arena, "run g.xml " SHAPE "%s", args));
}

/* --- values -------------------------------------------------------------- */

static const char *const orders[][2] = {
    {"BFYX", "BFYX"}, {"BYXF", "BYXF"}, {"YXFB", "YXFB"}, {"FYXB", "FYXB"},
    {"ANY", "ANY"},   {"BFYX", "BYXF"}, {"BYXF", "YXFB"}, {"YXFB", "FYXB"},
    {"FYXB", "ANY"},  {"ANY", "BFYX"}};

START_TEST(padded_as_unpadded)
{
    put("twice.cl", orders[_i][0], orders[_i][1]);
    run(PADS "--input 0=in.npy --output out --quiet");
    terminal_expect(&p, 0, "layer Twice (gpu form)");
    expect_times(2);
    run("--input 0=in.npy --output out --param factor=3 --quiet");
    terminal_expect(&p, 0, "");
    expect_times(3);
}
END_TEST

START_TEST(padded_as_unpadded_bundle_by_bundle)
{
    run(PADS "--input 0=in.npy --output out --quiet --engine interpreted");
    terminal_expect(&p, 0, "");
    expect_times(2);
}
END_TEST

/* Shapes of other ranks; a batch; one element. */
static const char *const shapes[] = {"7",       "7x5",        "7x5x3",
                                     "1x1x1x1", "3x1x2x9",    "2x3x4x5:u8",
                                     "2x3x4x5", "2x3x2x7:i64"};

START_TEST(other_shapes)
{
    const char *pad = strchr(shapes[_i], 'x') ? "--pad in0=3,0,0,2" : "";

    terminal_text(&p, "g.xml",
                  arena_printf(p.arena, "%s",
                               layer("Twice", "twice.cl", "FYXB", "BYXF")));
    terminal_run(&p,
                 arena_printf(p.arena, "check g.xml --shape in0=%s %s --quiet",
                              shapes[_i], pad));
    /* 1,2 does not divide a Y of 1 or 3. */
    if (p.status)
        terminal_expect(&p, 2, "is not a multiple of the local size 2");
    else
        terminal_expect(&p, 0, "Twice: no findings");
}
END_TEST

static const char flat_cl[] =
    "__kernel void twice(__global const INPUT0_TYPE *restrict src,\n"
    "                    __global OUTPUT0_TYPE *restrict dst)\n"
    "{\n"
    "    int i = get_global_id(0) + get_global_size(0) * (get_global_id(1) +\n"
    "            get_global_size(1) * get_global_id(2));\n"
    "    dst[i] = src[i] * FACTOR;\n"
    "}\n";

/* A kernel that takes its tensors for unpadded ones in the host's order. */
START_TEST(ignored_pitches_are_found)
{
    terminal_text(&p, "flat.cl", flat_cl);
    put("flat.cl", "BFYX", "BFYX");
    terminal_run(&p, "check g.xml " SHAPE "--quiet");
    terminal_expect(&p, 0, "Twice: no findings");
    terminal_run(&p, "check g.xml " SHAPE "--quiet --pad in0=1,0,0,0");
    ck_assert_int_eq(p.status, 1);
    ck_assert_ptr_nonnull(
        strstr(p.out, "flat.cl:6:12: error: global memory gets bytes of 'src' "
                      "nobody wrote [uninit]\n"));
    terminal_run(&p, "check g.xml " SHAPE "--quiet --pad out0=1,0,0,0");
    ck_assert_int_eq(p.status, 1);
    ck_assert_ptr_nonnull(strstr(p.out, "nobody wrote [uninit]\n"));
    /* An order alone does no harm to a checker, but to the values. */
    put("flat.cl", "BYXF", "BFYX");
    terminal_text(&p, "right.xml", layer("Twice", "twice.cl", "BYXF", "BFYX"));
    terminal_run(&p, "diff g.xml " SHAPE "--quiet --b sim --b-layer right.xml");
    ck_assert_int_eq(p.status, 1);
    ck_assert_ptr_nonnull(strstr(p.out, "DIFFERENT: out0"));
}
END_TEST

/* --- places -------------------------------------------------------------- */

/* twice.cl with a piece replaced. */
static void spoil(const char *old, const char *by)
{
    const char *at = strstr(twice_cl, old);

    ck_assert_ptr_nonnull(at);
    terminal_text(&p, "twice.cl",
                  arena_printf(p.arena, "%.*s%s%s", (int)(at - twice_cl),
                               twice_cl, by, at + strlen(old)));
}

static const char *const engines[] = {"--quiet", "--quiet --engine interpreted",
                                      "--quiet --timing none"};

START_TEST(a_fault_names_the_second_file)
{
    spoil("y, x)] =", "y, x) + 5000] =");
    run(engines[_i]);
    terminal_expect(&p, 3, "vpu: kernel bug: twice.cl:8:");
    ck_assert_ptr_nonnull(strstr(p.err, "behind the end of out0@FYXB"));
    terminal_run(&p, "check g.xml " SHAPE "--quiet");
    ck_assert_int_eq(p.status, 1);
    ck_assert_ptr_nonnull(strstr(p.out, "twice.cl:8:"));
    ck_assert_ptr_nonnull(strstr(p.out, "[bounds]\n"
                                        "    dst[AT(OUTPUT0, b, f, y, x) + "
                                        "5000] =\n"));
}
END_TEST

START_TEST(compile_errors_name_their_file)
{
    spoil("OUTPUT0_DIMS", "OUTPUT1_DIMS");
    run("--quiet");
    terminal_expect(&p, 2,
                    "twice.cl:5:32: error: use of undeclared identifier "
                    "'OUTPUT1_DIMS'");
    spoil("FACTOR;", "FACTOR");
    run("--quiet");
    terminal_expect(&p, 2, "twice.cl:9:");
    spoil("", "");
    terminal_text(
        &p, "help.cl",
        arena_printf(p.arena, "%s\n\nint no() { return NUM; }\n", help_cl));
    run("--quiet");
    terminal_expect(&p, 2,
                    "help.cl:7:19: error: use of undeclared identifier "
                    "'NUM'");
    /* A value that is none: where it is used, and the macro. */
    terminal_text(&p, "help.cl", help_cl);
    run("--quiet --param factor=two");
    terminal_expect(&p, 2,
                    "twice.cl:9:39: error: use of undeclared identifier "
                    "'two'");
    ck_assert_ptr_nonnull(strstr(p.err, "<macros of Twice>:"));
}
END_TEST

START_TEST(odd_names)
{
    terminal_text(&p, "a \"b.cl", twice_cl);
    terminal_text(&p, "g.xml",
                  layer("a&quot;b\\&#10;c", "a &quot;b.cl", "BFYX", "BFYX"));
    run("--quiet --input 0=in.npy --output out");
    terminal_expect(&p, 0, "");
    expect_times(2);
    terminal_text(&p, "a \"b.cl", arena_printf(p.arena, "\n\n%s", flat_cl + 1));
    run("--quiet");
    terminal_expect(&p, 2, "a \"b.cl:3:");
}
END_TEST

/* The file's options: those of an OpenCL compiler, and no others. */
START_TEST(compiler_options)
{
    const char *good = layer("Twice", "twice.cl", "BFYX", "BFYX");
    const char *end = strstr(good, "  <WorkSizes");

#define OPTIONS(text)                                                      \
    arena_printf(p.arena, "%.*s<CompilerOptions options=\"" text "\"/>%s", \
                 (int)(end - good), good, end)
    spoil("FACTOR", "FACTOR * EXTRA + ONE - PLAIN");
    terminal_text(&p, "g.xml",
                  OPTIONS(" -cl-mad-enable\t-D EXTRA=2.0f -DPLAIN -D ONE "
                          "-I . -U D "));
    run("--quiet --input 0=in.npy --output out");
    terminal_expect(&p, 0, "");
    expect_times(4);
    /* Those of the command line come behind them. */
    run("--quiet --input 0=in.npy --output out -D EXTRA=1.5f");
    terminal_expect(&p, 0, "");
    expect_times(3);
    terminal_text(&p, "g.xml", OPTIONS("-include in.npy"));
    run("--quiet");
    terminal_expect(&p, 2, "'-include' is no option for kernels");
    terminal_text(&p, "g.xml", OPTIONS("-D"));
    run("--quiet");
    terminal_expect(&p, 2, "'-D' is no option for kernels");
}
END_TEST

/* Arrays of macros: a pointer leads to them, they give an array its elements,
 * their number is a constant. */
static const char arrays_cl[] =
    "__constant int count = sizeof(LIST) / sizeof(LIST[0]);\n"
    "int place(const int *pitches, int b, int f, int y, int x)\n"
    "{\n"
    "    return b * pitches[0] + f * pitches[1] + y * pitches[2] +\n"
    "           x * pitches[3];\n"
    "}\n"
    "__kernel void twice(__global const INPUT0_TYPE *restrict src,\n"
    "                    __global OUTPUT0_TYPE *restrict dst)\n"
    "{\n"
    "    float list[] = LIST;\n"
    "    const float *p = LIST;\n"
    "    int x = get_global_id(0), y = get_global_id(1), i = 0;\n"
    "    int b = get_global_id(2) / OUTPUT0_DIMS[1];\n"
    "    int f = get_global_id(2) % OUTPUT0_DIMS[1];\n"
    "    float factor = 0;\n"
    "    while (i < count) {\n"
    "        factor += list[i];\n"
    "        factor += *p++ + LIST[i++];\n"
    "    }\n"
    "    dst[OUTPUT0_OFFSET + place(OUTPUT0_PITCHES, b, f, y, x)] =\n"
    "        src[INPUT0_OFFSET + place(INPUT0_PITCHES, b, f, y, x)] * factor;\n"
    "}\n";

START_TEST(arrays)
{
    const char *good = layer("Twice", "arrays.cl", "BYXF", "FYXB");
    const char *define = strstr(good, "    <Define");

    terminal_text(&p, "arrays.cl", arrays_cl);
    terminal_text(&p, "g.xml",
                  arena_printf(p.arena,
                               "%.*s<Define name=\"LIST\" type=\"float[]\" "
                               "param=\"list\" default=\"1,2\"/>\n%s",
                               (int)(define - good), good, define));
    run(PADS "--quiet --input 0=in.npy --output out");
    terminal_expect(&p, 0, "");
    expect_times(9);
    run(PADS "--quiet --input 0=in.npy --output out --param list=1,1,1,0.5f");
    terminal_expect(&p, 0, "");
    expect_times(10.5f);
    /* The macros themselves are those of the plug-in. */
    terminal_run(&p, "cc --defines g.xml " SHAPE);
    terminal_expect(&p, 0, "#define LIST (float[]) {1,2}\n");
}
END_TEST

/* What a program of C would cut off. */
START_TEST(a_zero_byte)
{
    terminal_file(&p, "twice.cl", "int a;\0b", 8);
    run("--quiet");
    terminal_expect(&p, 2, "twice.cl: error: a zero byte: not a text file");
}
END_TEST

START_TEST(bad_bindings)
{
    const char *good = layer("Twice", "twice.cl", "BFYX", "BFYX");
    const char *end = strstr(good, "  </Buffers>");

#define MORE(tensor) \
    arena_printf(p.arena, "%.*s" tensor "%s", (int)(end - good), good, end)
    terminal_text(&p, "g.xml",
                  MORE("<Tensor arg-index=\"2\" type=\"input\" "
                       "port-index=\"0\" format=\"BFYX\"/>"));
    run("--quiet");
    terminal_expect(&p, 2,
                    "g.xml:10: error: arg-index=\"2\", but kernel 'twice' has "
                    "2 arguments\n");
    terminal_run(&p, "lint g.xml --quiet " SHAPE);
    ck_assert_int_eq(p.status, 1);
    ck_assert_ptr_nonnull(
        strstr(p.out, "g.xml:10:1: warning: arg-index=\"2\", but kernel "
                      "'twice' has 2 arguments: the layer does not run "
                      "[arg-unknown]"));
    spoil("restrict dst)", "restrict dst, float bias)");
    run("--quiet");
    terminal_expect(&p, 2,
                    "g.xml:10: error: argument 2 of kernel 'twice', 'bias', is "
                    "float; a SimpleGPU layer binds pointers to global memory "
                    "alone, and gives numbers as macros (Define)\n");
    put("twice.cl", "BFYX", "BFYX");
    run("--quiet");
    terminal_expect(&p, 2,
                    "g.xml:2: error: argument 2 of kernel 'twice', 'bias', has "
                    "no Tensor with arg-index=\"2\"\n");
    spoil("restrict dst)", "restrict dst, __local float *l)");
    terminal_text(&p, "g.xml",
                  MORE("<Tensor arg-index=\"2\" type=\"input\" "
                       "port-index=\"0\" format=\"BFYX\"/>"));
    run("--quiet");
    terminal_expect(&p, 2, "'l', is __local float*; a SimpleGPU layer binds");
    terminal_text(&p, "g.xml",
                  MORE("<Tensor arg-index=\"2\" type=\"input\" "
                       "port-index=\"1\" format=\"BFYX\"/>"));
    run("--quiet");
    terminal_expect(&p, 2,
                    "g.xml:10: error: argument 2 is bound to input port 1, but "
                    "layer Twice has 1 input\n");
}
END_TEST

START_TEST(an_input_without_a_tensor)
{
    run("--shape in1=2x2");
    terminal_expect(&p, 0, "");
    ck_assert_ptr_nonnull(
        strstr(p.err, "warning: g.xml:1: no Tensor binds input 1 of layer "
                      "Twice: the plug-in refuses such a layer\n"));
}
END_TEST

/* The arguments of a run, and what it says. */
static const struct {
    const char *args, *says;
} refused[] = {
    {"--pad in1=1,1,1,1", "g.xml:1: error: a padding of in1 is given, but "
                          "layer Twice has no such input\n"},
    {"--pad out1=1,1,1,1", "g.xml:1: error: a padding of out1 is given, but "
                           "layer Twice has no such output\n"},
    {"--pad in0=1,1,1", "vpu: padding 'in0=1,1,1': expected something like "
                        "in0=1,2,0,0 or out0=0,1,0,0: elements left, right, "
                        "above and below, each at most 65535\n"},
    {"--pad in0=-1,0,0,0", "vpu: padding 'in0=-1,0,0,0': expected"},
    {"--pad in0=65535,65535,65535,65535",
     "g.xml:1: error: f32 2x3x4x5 has more than 1073741824 elements with its "
     "padding\n"},
    {"--param facto=1", "vpu: parameter 'facto': nothing in g.xml looks at it; "
                        "did you mean 'factor'?\n"},
    {"--layer twice", "vpu: g.xml: binds no layer of type twice; did you mean "
                      "Twice? it binds Twice (line 1)\n"},
    {"--input 1=zeros", "the layer has no input 1 that its kernels use\n"},
    {"--shape out0=2x3x5x5",
     "g.xml:11: error: dimension 1: global size 5 is not a multiple of the "
     "local size 2, which an OpenCL device refuses (local=\"1,2\")\n"},
    {"--shape out0=2x3x4x5:i16", "the GPU plug-in has no type for such "
                                 "elements"}};

START_TEST(refuses)
{
    run(arena_printf(p.arena, "--quiet %s", refused[_i].args));
    terminal_expect(&p, 2, refused[_i].says);
}
END_TEST

/* --- several files ------------------------------------------------------- */

START_TEST(the_later_file_counts)
{
    terminal_text(&p, "sub/later.xml",
                  arena_printf(p.arena, "%s%s",
                               layer("Twice", "three.cl", "BFYX", "YXFB"),
                               layer("Other", "three.cl", "BFYX", "YXFB")));
    terminal_text(&p, "sub/help.cl", help_cl);
    terminal_text(&p, "sub/three.cl",
                  arena_printf(p.arena, "#define FACTOR 3\n%s", twice_cl));
    terminal_run(&p, "run g.xml sub/later.xml " SHAPE);
    terminal_expect(&p, 2,
                    "vpu: g.xml, sub/later.xml: binds several layer types: "
                    "Twice (sub/later.xml:1), Other (sub/later.xml:13); say "
                    "which one is meant (--layer)\n");
    terminal_run(&p, "run g.xml sub/later.xml --layer Twice --output out "
                     "--input 0=in.npy " SHAPE);
    terminal_expect(&p, 0, "");
    ck_assert_ptr_nonnull(
        strstr(p.err, "note: g.xml:1: CustomLayer Twice is replaced by the one "
                      "in sub/later.xml:1\n"));
    expect_times(3);
    terminal_run(&p, "run sub/later.xml g.xml --layer Twice --output out "
                     "--input 0=in.npy " SHAPE);
    terminal_expect(&p, 0, "");
    expect_times(2);
    terminal_run(&p, "check g.xml sub/later.xml --layer Twice " SHAPE);
    terminal_expect(&p, 0, "Twice: no findings");
    terminal_run(&p, "cc --defines g.xml sub/later.xml --layer Twice " SHAPE);
    terminal_expect(&p, 0, "#define OUTPUT0_FORMAT_YXFB \n");
    terminal_run(&p, "run g.xml nope.xml " SHAPE);
    terminal_expect(&p, 2, "nope.xml");
}
END_TEST

static const char mvcl[] =
    "<CustomLayer name=\"Add\" type=\"MVCL\" version=\"1\">\n"
    "  <Kernel entry=\"add\"><Source filename=\"add.cl\"/><Parameters>\n"
    "    <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\"/>\n"
    "    <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\"/>\n"
    "  </Parameters><WorkSizes dim=\"input,0\" global=\"X,Y,F\" "
    "local=\"1,1,1\"/></Kernel>\n</CustomLayer>\n";

START_TEST(beside_mvcl)
{
    terminal_text(&p, "add.cl",
                  "__kernel void add(__global const half *src,\n"
                  "                  __global half *dst) {\n"
                  "    int i = (get_global_id(2) * get_global_size(1) +\n"
                  "        get_global_id(1)) * get_global_size(0) +\n"
                  "        get_global_id(0);\n"
                  "    dst[i] = src[i] + 1;\n}\n");
    terminal_text(&p, "m.xml", mvcl);
    terminal_run(&p, "run m.xml --shape in0=1x3x4x5 --pad in0=1,1,1,1");
    terminal_expect(&p, 2,
                    "m.xml:1: error: a padding is given, but an MVCL layer has "
                    "no padded tensors (--pad is for SimpleGPU)\n");
    terminal_run(&p, "cc --defines m.xml --shape in0=1x3x4x5");
    terminal_expect(&p, 2,
                    "vpu: m.xml: --defines is for layers of type SimpleGPU; "
                    "those of type MVCL have no macros\n");
    terminal_run(&p, "run m.xml g.xml --layer add --shape in0=1x3x4x5");
    terminal_expect(&p, 0, "layer add (nested form)");
    terminal_run(&p, "run m.xml g.xml --layer Twice --quiet " SHAPE);
    terminal_expect(&p, 0, "layer Twice (gpu form)");
}
END_TEST

/* --- other commands ------------------------------------------------------ */

START_TEST(release_changes_nothing)
{
    const char *out;

    run("--quiet");
    out = p.out;
    run("--quiet --release 2019R3");
    ck_assert_str_eq(p.out, out);
    run("--quiet --release 2022.3");
    ck_assert_str_eq(p.out, out);
    terminal_expect(&p, 0, "");
}
END_TEST

/* Whole batches, whatever is asked for: the launch covers them. */
START_TEST(batch_changes_nothing)
{
    run("--quiet --batch device --input 0=in.npy --output out");
    terminal_expect(&p, 0, "");
    ck_assert_str_eq(p.err, "");
    expect_times(2);
}
END_TEST

START_TEST(no_blob)
{
    terminal_run(&p, "blob make g.xml --release 2021.4 --output b.blob " SHAPE);
    terminal_expect(&p, 5,
                    "vpu: unsupported feature: g.xml:2: error: layer Twice is "
                    "of type SimpleGPU, which a stick cannot run: its blobs "
                    "hold MVCL layers\n");
    ck_assert(!terminal_has(&p, "b.blob"));
}
END_TEST

START_TEST(lints)
{
    const char *text;

    terminal_run(&p, "lint g.xml");
    terminal_expect(&p, 2,
                    "g.xml:1: error: the macros of SimpleGPU layer Twice "
                    "follow from its sizes; give them with --shape\n");
    terminal_run(&p, "lint g.xml --quiet --checks arg-kind,arg-missing,"
                     "missing-restrict,port-index,format,work-size " SHAPE);
    terminal_expect(&p, 0, "no findings");
    /* Another file instead of one of them. */
    terminal_text(&p, "draft/twice.cl", arena_printf(p.arena, "%s", "\n\n"));
    terminal_run(&p, "lint g.xml draft/twice.cl --quiet " SHAPE);
    terminal_expect(&p, 2, "no kernel named 'twice'");
    text = strstr(twice_cl, "restrict src");
    terminal_text(&p, "draft/twice.cl",
                  arena_printf(p.arena, "\n%.*s%s", (int)(text - twice_cl),
                               twice_cl, text + strlen("restrict ")));
    terminal_run(&p, "lint g.xml draft/twice.cl --quiet --checks "
                     "missing-restrict " SHAPE);
    ck_assert_int_eq(p.status, 1);
    ck_assert_ptr_nonnull(strstr(p.out, "draft/twice.cl:2:"));
    terminal_run(&p, "lint g.xml other.cl " SHAPE);
    terminal_expect(&p, 2, "vpu: other.cl: no kernel of g.xml is in it");
    /* What no size is given for stands at the kernel. */
    text = layer("Twice", "twice.cl", "BFYX", "BFYX");
    terminal_text(&p, "g.xml",
                  arena_printf(p.arena, "%.*s</CustomLayer>",
                               (int)(strstr(text, "  <WorkSizes") - text),
                               text));
    spoil("restrict src", "src");
    terminal_run(&p, "lint g.xml --quiet --shape in0=1x1x1x28");
    ck_assert_int_eq(p.status, 1);
    ck_assert_ptr_nonnull(
        strstr(p.out, "g.xml:2:3: warning: local size 28 of dimension 0 is not "
                      "a multiple of 8: "));
    ck_assert_ptr_null(strstr(p.out, "g.xml:0"));
    ck_assert_ptr_nonnull(strstr(p.out, "twice.cl:1:"));
}
END_TEST

START_TEST(recorded_and_replayed)
{
    terminal_run(&p, "record g.xml --quiet --output r.vpurec " SHAPE PADS);
    terminal_expect(&p, 0, "");
    terminal_run(&p, "diff g.xml --quiet --b replay:r.vpurec " SHAPE PADS);
    terminal_expect(&p, 0, "bit for bit");
    spoil("* FACTOR", "* FACTOR + 1");
    terminal_run(&p, "diff g.xml --quiet --b replay:r.vpurec " SHAPE PADS);
    ck_assert_int_eq(p.status, 1);
    ck_assert_ptr_nonnull(strstr(p.out, "DIFFERENT: "));
}
END_TEST

START_TEST(debugged)
{
    terminal_text(&p, "cmds", "break twice.cl:8\nrun\nprint y\nlist\nquit\n");
    terminal_run(&p, "debug g.xml --quiet -x cmds " SHAPE PADS);
    terminal_expect(&p, 0, "twice.cl:8 in twice, item (0,0,0)");
    ck_assert_ptr_nonnull(
        strstr(p.out, "8 >\t    dst[AT(OUTPUT0, b, f, y, x)] =\n"));
    ck_assert_ptr_nonnull(strstr(p.out, "y = 0\n"));
}
END_TEST

START_TEST(profiled)
{
    run("--quiet --profile");
    terminal_expect(&p, 0, "twice.cl:8  dst[AT(OUTPUT0, b, f, y, x)]");
    ck_assert_ptr_null(strstr(p.out, "help.cl:"));
}
END_TEST

/* Launches in the report: the reorders are part of what it costs. */
START_TEST(reported)
{
    static const char *const names[] = {"Twice@reorder-input-data=0", "Twice",
                                        "Twice@reorder-output-data=0"};
    json_t *o, *stages;

    run("--quiet --json");
    terminal_expect(&p, 0, "");
    o = fields_read(p.out);
    stages = json_object_get(o, "stages");
    ck_assert_uint_eq(json_array_size(stages), 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(fields_text(json_array_get(stages, i), "name"),
                         names[i]);
    json_decref(o);
    put("twice.cl", "BFYX", "ANY");
    run("--quiet --json");
    o = fields_read(p.out);
    ck_assert_uint_eq(json_array_size(json_object_get(o, "stages")), 1);
    json_decref(o);
}
END_TEST

START_TEST(in_a_suite)
{
    terminal_text(&p, "right.xml", layer("Twice", "twice.cl", "ANY", "ANY"));
    terminal_text(&p, "a.case",
                  "g.xml\n" SHAPE "\n" PADS "\n--b sim\n"
                  "--b-layer right.xml\n");
    terminal_run(&p, "suite a.case");
    terminal_expect(&p, 0, "1 equal, 0 different, 0 failed");
}
END_TEST

START_TEST(macros_printed)
{
    const char *text;

    terminal_run(&p, "cc --defines g.xml " SHAPE PADS);
    terminal_expect(&p, 0,
                    "#define NUM_INPUTS 1\n"
                    "#define GLOBAL_WORKSIZE_SIZE 3\n"
                    "#define GLOBAL_WORKSIZE (ulong []){ 5,4,6, } \n"
                    "#define LOCAL_WORKSIZE_SIZE 2\n"
                    "#define LOCAL_WORKSIZE (ulong []){ 1,2, } \n"
                    "#define INPUT0_DIMS_SIZE 4\n"
                    "#define INPUT0_DIMS (int []){ 2,3,4,5, } \n");
    ck_assert_ptr_nonnull(
        strstr(p.out, "#define OUTPUT0_OFFSET 24\n#define FACTOR 2\n"));
    /* They can stand in front of the sources for any compiler. */
    text = p.out;
    terminal_text(
        &p, "all.cl",
        arena_printf(p.arena, "%s\n%s\n\n%s", text, help_cl, twice_cl));
    terminal_run(&p, "cc all.cl -o all.bin");
    terminal_expect(&p, 0, "");
    terminal_run(&p, "cc --defines g.xml");
    terminal_expect(&p, 2, "");
    ck_assert_str_eq(p.out, "");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gpu_run");
    TCase *t = tcase_create("gpu_run");
    SRunner *r;
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, padded_as_unpadded, 0,
                        sizeof orders / sizeof *orders);
    tcase_add_test(t, padded_as_unpadded_bundle_by_bundle);
    tcase_add_loop_test(t, other_shapes, 0, sizeof shapes / sizeof *shapes);
    tcase_add_test(t, ignored_pitches_are_found);
    tcase_add_loop_test(t, a_fault_names_the_second_file, 0,
                        sizeof engines / sizeof *engines);
    tcase_add_test(t, compile_errors_name_their_file);
    tcase_add_test(t, odd_names);
    tcase_add_test(t, compiler_options);
    tcase_add_test(t, arrays);
    tcase_add_test(t, a_zero_byte);
    tcase_add_test(t, bad_bindings);
    tcase_add_test(t, an_input_without_a_tensor);
    tcase_add_loop_test(t, refuses, 0, sizeof refused / sizeof *refused);
    tcase_add_test(t, the_later_file_counts);
    tcase_add_test(t, beside_mvcl);
    tcase_add_test(t, release_changes_nothing);
    tcase_add_test(t, batch_changes_nothing);
    tcase_add_test(t, no_blob);
    tcase_add_test(t, lints);
    tcase_add_test(t, recorded_and_replayed);
    tcase_add_test(t, debugged);
    tcase_add_test(t, profiled);
    tcase_add_test(t, reported);
    tcase_add_test(t, in_a_suite);
    tcase_add_test(t, macros_printed);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
