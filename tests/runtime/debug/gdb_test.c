/* Kernels under gdb, driven in batch mode: where it stops, what it shows, and
 * that the results are those of an ordinary run. What a variable must be is
 * computed here from the item's id; the inputs are ramps. Without gdb, or where
 * it may not trace, only what needs none is tested, and that is said. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "tests/support/terminal.h"

#define XML                                                               \
    "<CustomLayer name=\"T\" type=\"MVCL\" version=\"1\">\n"              \
    "  <Kernel entry=\"twist\">\n"                                        \
    "    <Source filename=\"twist.cl\"/>\n"                               \
    "    <Parameters>\n"                                                  \
    "      <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "     \
    "format=\"BFYX\"/>\n"                                                 \
    "      <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "    \
    "format=\"BFYX\"/>\n"                                                 \
    "      <Scalar arg-name=\"bias\" type=\"float\" source=\"bias\"/>\n"  \
    "    </Parameters>\n"                                                 \
    "    <WorkSizes dim=\"input,0\" global=\"X,Y,1\" local=\"8,1,1\"/>\n" \
    "  </Kernel>\n"                                                       \
    "</CustomLayer>\n"

static const char twist_cl[] =
    "float scaled(float x, int by)\n" /* 1 */
    "{\n"                             /* 2 */
    "    float product = x * by;\n"   /* 3 */
    "    return product;\n"           /* 4 */
    "}\n"                             /* 5 */
    "__kernel void twist(__global const half *src, __global half *dst,\n"
    "                    float bias)\n"                         /* 7 */
    "{\n"                                                       /* 8 */
    "    __local half tile[8];\n"                               /* 9 */
    "    int l = get_local_id(0), g = get_global_id(0);\n"      /* 10 */
    "    int at = get_global_id(1) * get_global_size(0) + g;\n" /* 11 */
    "    float4 f = (float4)(g, 2, 3, 4);\n"                    /* 12 */
    "    half4 h = (half4)(0.5h, 1.5h, 2.5h, 3.5h);\n"          /* 13 */
    "    int mine[3];\n"                                        /* 14 */
    "\n"                                                        /* 15 */
    "    for (int i = 0; i < 3; i++)\n"                         /* 16 */
    "        mine[i] = 100 * l + i;\n"                          /* 17 */
    "    tile[l] = src[at];\n"                                  /* 18 */
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"                       /* 19 */
    "    float other = scaled(tile[7 - l], 2);\n"               /* 20 */
    "    f.x += other;\n"                                       /* 21 */
    "    dst[at] = (half)(f.x + bias + h.y + mine[1]);\n"       /* 22 */
    "}\n";

#define ARGS "layer.xml --shape in0=1x1x2x16 --param bias=0.25 --input 0=ramp"

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "layer.xml", XML);
    terminal_text(&p, "twist.cl", twist_cl);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* What a shell command in the directory prints, both streams. */
static const char *shell(const char *command, int *status)
{
    const char *vpu = getenv("VPU");
    char *path = realpath(vpu && *vpu ? vpu : "build/vpu", NULL);
    char *line = arena_printf(p.arena,
                              "{ cd %s && export VPU=%s XDG_CACHE_HOME=%s/.c "
                              "HOME=%s ASAN_OPTIONS=detect_leaks=0 && "
                              "%s ; } 2>&1",
                              p.dir, path, p.dir, p.dir, command);
    char *out = arena_push(p.arena, 1 << 16, 1, 1);
    FILE *f = popen(line, "r");
    size_t n;
    int st;

    ck_assert_ptr_nonnull(f);
    n = fread(out, 1, (1 << 16) - 1, f);
    out[n] = 0;
    st = pclose(f);
    free(path);
    if (status)
        *status = WIFEXITED(st) ? WEXITSTATUS(st) : 255;
    return out;
}

/* gdb around `vpu run --gdb`, with commands one a line. */
static const char *gdb(const char *commands, const char *more)
{
    terminal_text(&p, "commands", commands);
    return shell(arena_printf(p.arena,
                              "timeout 60 gdb -q -batch -nx "
                              "-iex 'set debuginfod enabled off' "
                              "-iex 'set breakpoint pending on' "
                              "-iex 'set width 0' "
                              "-iex 'set language c' "
                              "-x commands --args $VPU run " ARGS
                              " --gdb --quiet %s",
                              more),
                 NULL);
}

static void expect(const char *out, const char *want)
{
    ck_assert_msg(strstr(out, want) != NULL, "'%s' is not in\n%s", want, out);
}

static bool can_trace(void)
{
    return !system("gdb -q -batch -nx -ex run --args /bin/true 2>&1 | "
                   "grep -q 'exited normally'");
}

START_TEST(stops_at_a_line)
{
    const char *out = gdb("break twist.cl:11\nrun\nbt 1\nnext\nnext\n"
                          "info args\n",
                          "");

    expect(out, "Breakpoint 1, twist (");
    expect(out, "twist.cl:11\n11\t    int at = ");
    expect(out, "#0  twist (");
    expect(out, "\n12\t    float4 f = ");
    expect(out, "\n13\t    half4 h = ");
    expect(out, "\nbias = 0.25\n");
}
END_TEST

/* Behind the barrier, where every item's variables are in memory of its own:
 * the group's second row, item 3 of group 1, global id (11, 1). */
START_TEST(shows_variables)
{
    const char *out =
        gdb("break twist.cl:22 if global_id[0] == 11 && global_id[1] == 1\n"
            "run\nprint global_id\nprint local_id\nprint group_id\n"
            "print l\nprint at\nprint mine\nprint h\nwhatis f\nwhatis h\n"
            "print f[0] == 11 + other\n"
            "print sizeof(tile)\nnext\ncontinue\n",
            "");

    expect(out, "\n$1 = {11, 1, 0}\n$2 = {3, 0, 0}\n$3 = {1, 1, 0}\n"
                "$4 = 3\n$5 = 27\n$6 = {300, 301, 302}\n"
                "$7 = {0.5, 1.5, 2.5, 3.5}\n");
    expect(out, "type = float4\ntype = half4\n$8 = 1\n$9 = 16\n");
    expect(out, "exited normally");
}
END_TEST

/* Not under the address sanitizer, whose own memory is where the device's
 * addresses would be. */
#ifndef __SANITIZE_ADDRESS__
START_TEST(follows_pointers)
{
    const char *out = gdb("break twist.cl:22 if at == 18\nrun\n"
                          "print src[at] == tile[l]\n"
                          "print src[1] - src[0] == src[2] - src[1]\n"
                          "print tile[0] == src[16] && tile[7] == src[23]\n"
                          "print other == 2 * src[21]\n"
                          "whatis src\nnext\ncontinue\n",
                          "");

    expect(out, "\n$1 = 1\n$2 = 1\n$3 = 1\n$4 = 1\n");
    expect(out, "half *");
}
END_TEST
#endif

START_TEST(stops_where_memory_ends)
{
    const char *out;

    terminal_text(&p, "twist.cl",
                  "__kernel void twist(__global const half *src,\n"
                  "    __global half *dst, float bias)\n{\n"
                  "    int i = get_global_id(0) + 100000;\n"
                  "    dst[i] = src[0];\n}\n");
    out = gdb("run\nprint i\nhandle SIGSEGV nostop\ncontinue\n", "");
    expect(out, "SIGSEGV");
    expect(out, "twist.cl:5");
    expect(out, "\n$1 = 100000\n");
    expect(out, "behind the end of out0");
}
END_TEST

START_TEST(steps_into_functions)
{
    const char *out = gdb("break twist.cl:4 if by == 2\nrun\nbt 2\n"
                          "print product == x * by\n",
                          "");

    expect(out, "#0  scaled (");
    expect(out, "#1  twist (");
    expect(out, "twist.cl:20");
    expect(out, "\n$1 = 1\n");
}
END_TEST

/* The gdb that vpu starts shows the kernel's frames, and the simulator's where
 * one asks for them; finish leads to the caller. */
static void kernel_frames(const char *command)
{
    const char *out, *all;
    int status;

    terminal_text(&p, "commands",
                  "set width 0\nbreak twist.cl:4 if by == 2\nrun\nbt\n"
                  "echo all:\\n\nbt -no-filters\necho out:\\n\nfinish\n"
                  "quit\n");
    out = shell(arena_printf(p.arena,
                             "timeout 60 $VPU %s " ARGS
                             " --gdb --quiet < commands",
                             command),
                &status);
    expect(out, "#0  scaled (");
    expect(out, "#1  twist (");
    all = strstr(out, "all:\n");
    ck_assert_ptr_nonnull(all);
    ck_assert_msg(!memmem(out, (size_t)(all - out), "#2 ", 3), "%s", out);
    expect(all, "#2 ");
    expect(all, "exec_run");
    out = strstr(all, "out:\n");
    ck_assert_ptr_nonnull(out);
    expect(out, "twist (src=");
    expect(out, "twist.cl:20");
}

START_TEST(frames_of_run)
{
    kernel_frames("run");
}
END_TEST

START_TEST(frames_of_debug)
{
    kernel_frames("debug");
}
END_TEST

/* A binary holds lines, no variables. */
START_TEST(binary_has_lines)
{
    const char *out;
    int status;

    shell("$VPU cc twist.cl -o twist.bin && "
          "sed -i s/twist.cl/twist.bin/ layer.xml",
          &status);
    ck_assert_int_eq(status, 0);
    out = gdb("run\nbreak twist.cl:22\ncontinue\ndelete\ncontinue\n",
              "--break-at gid=9");
    expect(out, "SIGTRAP");
    expect(out, "\n10\t    int l = ");
    expect(out, "\n22\t    dst[at] = ");
    expect(out, "exited normally");
}
END_TEST

START_TEST(breaks_at_an_item)
{
    const char *out = gdb("run\nprint global_id\nprint src != 0\nnext\n"
                          "continue\n",
                          "--break-at gid=13,1");

    expect(out, "SIGTRAP");
    expect(out, "in twist (");
    expect(out, "\n10\t    int l = ");
    expect(out, "\n$1 = {13, 1, 0}\n$2 = 1\n11\t");
    expect(out, "exited normally");
}
END_TEST

START_TEST(same_results)
{
    int status;

    shell("$VPU run " ARGS " --quiet --output plain", &status);
    ck_assert_int_eq(status, 0);
    expect(gdb("run\n", "--output traced"), "exited normally");
    expect(shell("cmp plain/out0.npy traced/out0.npy && echo same", NULL),
           "same");
}
END_TEST

START_TEST(starts_gdb_itself)
{
    const char *out;

    terminal_text(&p, "commands",
                  "break twist.cl:11\nrun\nprint bias\nkill\nquit\n");
    out = shell("timeout 60 $VPU run " ARGS " --gdb < commands", NULL);
    expect(out, "twist.cl:11\n11\t    int at = ");
    expect(out, "$1 = 0.25");
}
END_TEST

static const struct {
    const char *args, *want;
} bad[] = {
    {"--break-at gid=1,2", "--break-at needs --gdb"},
    {"--gdb --break-at 1,2", "--break-at does not take '1,2'"},
    {"--gdb --break-at gid=", "--break-at does not take 'gid='"},
    {"--gdb --break-at gid=1,2,3,4", "does not take 'gid=1,2,3,4'"},
    {"--gdb --break-at gid=1,,3", "does not take 'gid=1,,3'"},
    {"--gdb --break-at gid=4294967296", "does not take"},
    {"--gdb --trace t", "--gdb and --trace exclude each other"},
    {"--gdb --profile", "--gdb and --profile exclude each other"},
    {"--gdb --engine interpreted", "--gdb and --engine interpreted"},
    {"--gdb --backend null", "--gdb is about the simulator"},
};

START_TEST(bad_options)
{
    terminal_run(&p, arena_printf(p.arena, "run " ARGS " %s", bad[_i].args));
    ck_assert_int_eq(p.status, 2);
    expect(p.err, bad[_i].want);
}
END_TEST

START_TEST(no_gdb)
{
    int status;
    const char *out = shell("PATH=/nowhere $VPU run " ARGS " --gdb", &status);

    ck_assert_int_eq(status, 2);
    expect(out, "vpu: --gdb: gdb is not installed");
}
END_TEST

START_TEST(no_such_item)
{
    expect(gdb("run\n", "--break-at gid=16"),
           "--break-at gid=16,0,0: no kernel of the run has this work-item");
}
END_TEST

/* What needs gdb. */
static const TTest **const traced_tests[] = {
    &stops_at_a_line,         &shows_variables,
#ifndef __SANITIZE_ADDRESS__
    &follows_pointers,
#endif
    &stops_where_memory_ends, &steps_into_functions, &breaks_at_an_item,
    &binary_has_lines,        &same_results,         &starts_gdb_itself,
    &frames_of_run,           &frames_of_debug,      &no_such_item,
};
#define N_TRACED (sizeof traced_tests / sizeof *traced_tests)

int main(void)
{
    Suite *s = suite_create("vpu run --gdb");
    TCase *c = tcase_create("gdb");
    SRunner *r = srunner_create(s);
    bool traced;
    int failed;

    traced = can_trace();
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, bad_options, 0, sizeof bad / sizeof *bad);
    tcase_add_test(c, no_gdb);
    for (size_t k = 0; traced && k < N_TRACED; k++)
        tcase_add_test(c, *traced_tests[k]);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    if (!traced) /* scripts/run-tests counts it */
        printf("skipped %zu: gdb is not installed or may not trace\n",
               N_TRACED);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
