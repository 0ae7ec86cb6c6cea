/* vpu asm from outside: the listing is the program, says where everything comes
 * from and why it waits; errors name what was given. */
#include <check.h>
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "isa/text.h"
#include "runtime/report/listing.h"
#include "sim/compiler/kernel.h"
#include "tests/support/fields.h"
#include "tests/support/terminal.h"

/* Lines 1 to 7. */
static const char scale_cl[] =
    "__kernel void scale(__global const half *src, __global half *dst,\n"
    "                    float by, int n)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    for (int k = 0; k < n; k++)\n"
    "        dst[i * n + k] = exp(src[i * n + k]) * (half)by + (half)(i / n);\n"
    "}\n";
static const char two_cl[] =
    "__kernel void first(__global int *p) { p[get_global_id(0)] = 1; }\n"
    "__kernel void second(__global int *p)\n{\n"
    "    int i = get_global_id(0);\n"
    "    while (p[i]) p[i]--;\n}\n"
    "__kernel void third(__global int *p)\n{\n"
    "    int i = get_global_id(0);\n"
    "#ifdef LESS\n    p[i]--;\n#else\n    p[i] += MORE;\n#endif\n}\n";
static const char vectors_cl[] =
    "__kernel void vectors(__global float4 *p)\n{\n"
    "    p[get_global_id(0)] *= 2.0f;\n}\n";
static const char table_cl[] = "/* table: */\n"
                               "__kernel void table (__global int *p)\n{\n"
                               "    int t[64];\n"
                               "    for (int k = 0; k < 64; k++) t[k] = p[k];\n"
                               "    p[get_global_id(0)] = t[p[64] & 63];\n}\n";

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "scale.cl", scale_cl);
    terminal_text(&p, "two.cl", two_cl);
    terminal_text(&p, "vectors.cl", vectors_cl);
    terminal_text(&p, "table.cl", table_cl);
}

static void teardown(void)
{
    terminal_close(&p);
}

static void run(const char *args)
{
    terminal_run(&p, arena_printf(p.arena, "asm %s", args));
    ck_assert_msg(!p.status, "vpu asm %s: status %d\n%s", args, p.status,
                  p.err);
}

static void has(const char *fragment)
{
    ck_assert_msg(strstr(p.out, fragment), "'%s' is not in\n%s", fragment,
                  p.out);
}

static isa_function *parsed(const char *text, uint32_t *n)
{
    isa_memory mem = {arena_bytes, p.arena};
    char error[ISA_ERROR_BYTES];
    isa_function *fs;

    ck_assert_msg(isa_parse(text, strlen(text), &mem, &fs, n, error), "%s\n%s",
                  error, text);
    return fs;
}

static const char *printed(const isa_function *f)
{
    size_t n = isa_print(f, NULL, 0);
    char *s = arena_push(p.arena, n + 1, 1, 1);

    isa_print(f, s, n + 1);
    return s;
}

static const char *without_comments(const char *text)
{
    char *s = arena_strdup(p.arena, text), *to = s;

    for (const char *from = text; *from;) {
        if (*from == ';')
            from += strcspn(from, "\n");
        else
            *to++ = *from++;
    }
    *to = 0;
    return s;
}

/* --- the listing is the program ------------------------------------------ */

/* What the compiler made of the same file. */
static void compare(const char *path, const char *kernel)
{
    const isa_function *programs[SIM_N_VARIANTS];
    kernel_compile_config cfg = {.user.no_cache = true};
    kernel_source source = {.path = path, .entry = kernel};
    vpu_error err = {0};
    sim_kernel *k;
    uint32_t n, m, next = 0;
    isa_function *fs = parsed(p.out, &n);
    isa_function *plain = parsed(without_comments(p.out), &m);

    ck_assert_msg(!kernel_compile(&source, &cfg, p.arena, &k, &err), "%s",
                  err.msg);
    ck_assert(!kernel_programs(k, p.arena, programs, &err));
    ck_assert_uint_eq(n, m);
    for (int v = 0; v < SIM_N_VARIANTS; v++) {
        if (!programs[v])
            continue;
        ck_assert_uint_lt(next, n);
        ck_assert_ptr_null(isa_verify(&fs[next], NULL, NULL));
        ck_assert_str_eq(printed(&fs[next]), printed(programs[v]));
        ck_assert_str_eq(printed(&plain[next]), printed(programs[v]));
        next++;
    }
    ck_assert_uint_eq(next, n);
    kernel_release(k);
}

static bool stores(const char *op)
{
    size_t n = strcspn(op, ". ");

    for (int k = 0; k < ISA_N_OPS; k++)
        if (strlen(isa_ops[k].name) == n && !memcmp(isa_ops[k].name, op, n))
            return isa_ops[k].flags & ISA_F_STORE;
    ck_abort_msg("no operation: %.*s", (int)n, op);
}

/* A reason beside an operation fits it: its unit is the busy one, and of two
 * accesses in order one is a store. */
static void fits(const char *line, size_t n)
{
    const char *why = memmem(line, n, "; ", 2), *busy, *order, *op = line;
    size_t rest;

    if (!why)
        return;
    rest = n - (size_t)(why - line);
    while (op < why && !isupper((unsigned char)*op))
        op++;
    busy = memmem(why, rest, " busy", 5);
    if (busy)
        ck_assert_msg(!memcmp(op, why + 2, (size_t)(busy - why - 2)), "%.*s",
                      (int)n, line);
    order = memmem(why, rest, "memory order: ", 14);
    if (order)
        ck_assert_msg(stores(order + 14) || stores(strchr(op, '.') + 1), "%.*s",
                      (int)n, line);
}

/* Every gap has a reason, and no line is longer than a screen is wide. */
static void explained(void)
{
    for (const char *s = p.out; *s; s += strcspn(s, "\n") + 1) {
        size_t n = strcspn(s, "\n");
        const char *dash = memmem(s, n, ": -", 3);

        ck_assert_msg(*s == ';' || n < 140, "%.*s", (int)n, s);
        ck_assert_msg(*s == ';' || !dash || memchr(dash, ';', n - (dash - s)),
                      "%.*s", (int)n, s);
        if (*s != ';' && !dash)
            fits(s, n);
        /* Nothing but a branch has slots; a gap tells of what comes next. */
        if (*s != ';' && memmem(s, n, "its slots end with the block: ", 30)) {
            const char *op = s;

            while (*op == ';' || (op == s && dash))
                op += strcspn(op, "\n") + 1;
            ck_assert_msg(memmem(op, strcspn(op, "\n"), "BRU.", 4) != NULL,
                          "%.*s", (int)n, s);
        }
        if (!s[n])
            break;
    }
}

static const struct {
    const char *file, *kernel;
} samples[] = {
    {"grn/grn.cl", "grn"},
    {"grn/grn_async.cl", "grn_async"},
    {"grn/grn_dma.cl", "grn_dma"},
    {"grn/grn_vector.cl", "grn_vector"},
    {"correlation/correlation.cl", "correlation"},
    {"matmul/matmul.cl", "matmul"},
    {"ctc/ctc.cl", "ctc"},
    {"spatial_transformer/spatial_transformer.cl", "spatial_transformer"}};

START_TEST(listings)
{
    char here[1024];
    const char *path;

    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    path = arena_printf(p.arena, "%s/kernels/%s", here, samples[_i].file);
    run(arena_printf(p.arena, "%s --kernel %s", path, samples[_i].kernel));
    compare(path, samples[_i].kernel);
    explained();
    run(arena_printf(p.arena, "%s --kernel %s --source", path,
                     samples[_i].kernel));
    compare(path, samples[_i].kernel);
    explained();
}
END_TEST

START_TEST(says_what_it_is)
{
    run("scale.cl");
    has("; scale.cl: kernel scale, variant scalar\n");
    has("; scale.cl: kernel scale, variant vectorized, 8 work-items at once\n");
    has(" bundles, ");
    has(" of 32 I, ");
    has("private memory: ");
    has("; block  kind      cycles  operations  lines      then\n");
    has("function \"scalar\"");
    has("function \"vectorized\"");
    has("callee 0: \"__vpu_exp_f16\"");
    has("cycles=");
    has("returns\n");
    has("@6:"); /* a position of each operation */
    ck_assert_ptr_null(strstr(p.out, "for (int k"));
}
END_TEST

START_TEST(says_what_is_waited_for)
{
    run("scale.cl --variant scalar");
    has("; waits for i");
    has(" (ldarg at 0, 7)\n");
    has("; branch slots\n");
    has("; LSU busy\n");
    has("; waits for call __vpu_exp_f16 (14)\n");
    has("; calls ");
    has(" (idiv at "); /* 40 cycles, somewhere */
    ck_assert_ptr_null(strstr(p.out, "variant vectorized"));
}
END_TEST

START_TEST(source_lines)
{
    const char *line, *first;

    run("scale.cl --variant scalar --source");
    line = strstr(p.out, "; 5:     for (int k = 0; k < n; k++)\n");
    ck_assert_ptr_nonnull(line);
    ck_assert_ptr_null(strstr(line + 1, "; 5: ")); /* once */
    first = strstr(p.out, "@5:");
    ck_assert_ptr_nonnull(first);
    ck_assert(line < first);
}
END_TEST

START_TEST(only_one_variant)
{
    uint32_t n;

    run("scale.cl --variant vectorized");
    ck_assert_str_eq(parsed(p.out, &n)->name, "vectorized");
    ck_assert_uint_eq(n, 1);
}
END_TEST

/* The .bin has the same program; its source is the .cl beside it. */
START_TEST(of_a_bin)
{
    const char *of_source;

    run("scale.cl --variant scalar --source");
    of_source = strchr(p.out, '\n');
    terminal_run(&p, "cc scale.cl -o scale.bin");
    ck_assert_int_eq(p.status, 0);
    run("scale.bin --variant scalar --source");
    has("; scale.bin: kernel scale, variant scalar\n");
    ck_assert_str_eq(strchr(p.out, '\n'), of_source);
    run("scale.bin --kernel scale --explain");
    has("is vectorized: 8 work-items");
}
END_TEST

START_TEST(explains)
{
    run("scale.cl --explain");
    ck_assert_str_eq(p.out, "scale.cl: kernel 'scale' is vectorized: 8 "
                            "work-items of dimension 0 at once\n");
    run("two.cl --kernel second -DMORE=1 --explain");
    has("two.cl:5:");
    has("differs between items");
    ck_assert_uint_eq(strlen(p.out), strcspn(p.out, "\n") + 1);
    run("vectors.cl --explain");
    ck_assert_str_eq(p.out, "vectors.cl:3: the source uses vector types "
                            "(kernel 'vectors' is not vectorized)\n");
    /* A reason about the whole kernel: the kernel's line, if the source is
     * there. */
    terminal_run(&p, "cc table.cl -o alone.bin");
    run("table.cl --explain");
    ck_assert_int_eq(strncmp(p.out, "table.cl:2: a private array", 27), 0);
    run("alone.bin --explain");
    ck_assert_int_eq(strncmp(p.out, "alone.bin: a private array", 26), 0);
}
END_TEST

START_TEST(options_reach_the_compiler)
{
    run("two.cl --kernel third -DMORE=77 --variant scalar");
    has(", 77 ");
    run("two.cl --kernel third -D MORE=78 --variant scalar");
    has(", 78 ");
    run("two.cl --kernel third -D LESS --variant scalar -U MORE");
    has(", -1 ");
}
END_TEST

/* A pipelined loop: what arrives comes from the iteration before. */
START_TEST(pipelined_loops)
{
    static const char text[] = "function \"loop\" private=0 spills=0\n"
                               "block 0 prologue cycles=4 stages=2\n"
                               "  0: LSU0.ld.u16.global i1, [i2] #0\n"
                               "block 1 kernel cycles=4 stages=2\n"
                               "  0: LSU0.ld.u16.global i1, [i2] #0\n"
                               "  3: SAU.fmul.f16 i3, i1, i1 #1 ^1\n"
                               "block 2 epilogue cycles=7 stages=2\n"
                               "  3: SAU.fmul.f16 i3, i1, i1 #1 ^1\n";
    uint32_t n;
    const char *why;
    isa_function *f = parsed(text, &n);
    str out = {0};

    why = isa_verify(f, NULL, NULL);
    ck_assert_msg(!why, "%s", why);
    listing_print(f, NULL, &out);
    p.out = str_text(&out);
    has("; an iteration every 4 cycles, 2 at once\n");
    has("; waits for i1 (ld at 0, 7)\n");
    has("; the pipelined loop's pace\n");
    ck_assert_ptr_null(strstr(p.out, "held back"));
    explained();
    ck_assert_str_eq(printed(parsed(p.out, &n)), printed(f));
    str_free(&out);
}
END_TEST

/* --- bad input ----------------------------------------------------------- */

static const struct {
    const char *args;
    const char *want[3];
} bad[] = {
    {"", {"no kernel file", "vpu asm --help"}},
    {"scale.cl two.cl", {"one file", "scale.cl", "two.cl"}},
    {"scale.cl --variant fast",
     {"does not take 'fast'", "scalar", "vectorized"}},
    {"scale.cl --variant", {"--variant needs a value"}},
    {"scale.cl --kernel", {"--kernel needs a value"}},
    {"scale.cl -D", {"-D needs a value"}},
    {"scale.cl --fast", {"unknown option --fast"}},
    {"nowhere.cl", {"nowhere.cl"}},
    {"nowhere.bin", {"nowhere.bin"}},
    {"two.cl -DMORE=1", {"two.cl", "the kernels first, second, third"}},
    {"two.cl --kernel fourth -DMORE=1", {"fourth", "first", "third"}},
    {"two.cl --kernel third", {"two.cl:", "MORE"}},
    {"scale.cl --variant dma_preload", {"'scale'", "no variant dma_preload"}},
    {"two.cl --kernel second -DMORE=1 --variant vectorized",
     {"no variant vectorized", "two.cl:5:"}},
    {"text.bin", {"text.bin", "not a compiled kernel"}},
    {"foreign.bin", {"foreign.bin", "vendor"}},
    {"alone.bin --source", {"alone.cl"}},
    {"alone.bin --kernel other", {"alone.bin", "'other'", "scale"}},
};

START_TEST(bad_input)
{
    uint8_t elf[128] = {0x7f, 'E', 'L', 'F', 1, 1, 1};

    terminal_text(&p, "text.bin", "not ELF");
    terminal_file(&p, "foreign.bin", elf, sizeof elf);
    terminal_run(&p, "cc scale.cl -o alone.bin");
    terminal_run(&p, arena_printf(p.arena, "asm %s", bad[_i].args));
    /* A vendor's binary is fine, but not for us. */
    ck_assert_int_eq(p.status, strncmp(bad[_i].args, "foreign", 7) ? 2 : 5);
    ck_assert_str_eq(p.out, "");
    for (int k = 0; k < 3 && bad[_i].want[k]; k++)
        ck_assert_msg(strstr(p.err, bad[_i].want[k]), "'%s' is not in\n%s",
                      bad[_i].want[k], p.err);
}
END_TEST

/* A copy in, one behind a condition, one out. */
static const char copies_cl[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "__kernel void copies(__global const half *src, __global half *dst,\n"
    "                     int n)\n"
    "{\n"
    "    __local half row[8], more[8];\n"
    "    int x = get_local_id(0), first = get_group_id(0) * 8;\n"
    "    event_t e = async_work_group_copy(row, src + first, 8, 0);\n"
    "    wait_group_events(1, &e);\n"
    "    if (n > 1) {\n"
    "        e = async_work_group_copy(more, src, 8, 0);\n"
    "        wait_group_events(1, &e);\n"
    "        row[x] += more[x];\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    e = async_work_group_copy(dst + first, row, 8, 0);\n"
    "    wait_group_events(1, &e);\n"
    "}\n";
static const char copies_xml[] =
    "<CustomLayer name=\"Copies\" type=\"MVCL\" version=\"1\">\n"
    "<Kernel entry=\"copies\"><Source filename=\"copies.cl\"/></Kernel>\n"
    "<Parameters>\n"
    "<Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "<Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "<Scalar arg-name=\"n\" type=\"int\" port-index=\"0\" source=\"I.F\"/>\n"
    "</Parameters>\n"
    "<WorkSizes dim=\"input,0\" global=\"X*Y,1,1\" local=\"X,1,1\"/>\n"
    "</CustomLayer>\n";

#define STAYS "copies.cl:10: it is in a loop or behind a condition"

START_TEST(copies_are_told)
{
    json_error_t e;
    json_t *j, *list;

    terminal_file(&p, "copies.cl", copies_cl, strlen(copies_cl));
    terminal_file(&p, "copies.xml", copies_xml, strlen(copies_xml));
    terminal_run(&p, "asm copies.cl --explain");
    ck_assert_int_eq(p.status, 0);
    has("copies.cl:7: the copy into 'row' happens in the dma_preload phase\n"
        "copies.cl:10: the copy happens where it stands: it is in a loop or "
        "behind a condition\n"
        "copies.cl:15: the copy out of 'row' happens in the dma_postwrite "
        "phase\n");
    terminal_run(&p, "run copies.xml --shape in0=1x2x3x8");
    ck_assert_int_eq(p.status, 0);
    has("  copy in no phase           " STAYS "\n");
    terminal_run(&p, "run copies.xml --shape in0=1x2x3x8 --json");
    j = json_loads(p.out, 0, &e);
    list = json_object_get(json_array_get(json_object_get(j, "stages"), 0),
                           "copies");
    ck_assert_uint_eq(json_array_size(list), 3);
    for (int i = 0; i < 3; i++) {
        static const char *const phases[] = {"dma_preload", "compute",
                                             "dma_postwrite"};
        const json_t *c = json_array_get(list, (size_t)i);

        ck_assert_str_eq(fields_text(c, "phase"), phases[i]);
        ck_assert_str_eq(fields_text(c, "to"), i < 2 ? "local" : "global");
        ck_assert_int_eq(json_object_get(c, "why") != NULL, i == 1);
    }
    ck_assert_str_eq(fields_text(json_array_get(list, 1), "why"), STAYS);
    json_decref(j);
}
END_TEST

START_TEST(help)
{
    terminal_run(&p, "help asm");
    ck_assert_int_eq(p.status, 0);
    has("usage: vpu asm FILE.cl|FILE.bin");
    has("--explain");
    has("Examples:");
    terminal_run(&p, "--help");
    has("  asm ");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu asm");
    TCase *c = tcase_create("asm");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, listings, 0, sizeof samples / sizeof *samples);
    tcase_add_test(c, says_what_it_is);
    tcase_add_test(c, says_what_is_waited_for);
    tcase_add_test(c, source_lines);
    tcase_add_test(c, only_one_variant);
    tcase_add_test(c, of_a_bin);
    tcase_add_test(c, explains);
    tcase_add_test(c, pipelined_loops);
    tcase_add_test(c, options_reach_the_compiler);
    tcase_add_loop_test(c, bad_input, 0, sizeof bad / sizeof *bad);
    tcase_add_test(c, copies_are_told);
    tcase_add_test(c, help);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
