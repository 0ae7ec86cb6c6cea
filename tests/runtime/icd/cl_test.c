/* vpu cl: programs of OpenCL as users start them. The program here is vpu
 * itself, whose backend opencl is a host like any other. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "tests/support/terminal.h"

static terminal p;
static const char *root, *vpu;

static void setup(void)
{
    const char *given = getenv("VPU");

    terminal_open(&p);
    root = realpath(".", NULL);
    vpu = realpath(given ? given : "build/vpu", NULL);
    ck_assert_ptr_nonnull(vpu);
    terminal_text(&p, "seven.sh", "exit 7\n");
    terminal_text(&p, "killed.sh", "kill -9 $$\n");
}

static void teardown(void)
{
    terminal_close(&p);
}

/* --- the program's own ---------------------------------------------------- */

static const struct {
    const char *args;
    int status;
    const char *says;
} endings[] = {
    {"cl sh seven.sh", 7, "the program made no context on the device"},
    {"cl -- sh killed.sh", 137, "made no context"},
    {"cl ./nothing", 127, "./nothing: No such file"},
    {"cl", 2, "no program is given"},
    {"cl --shaves 17 true", 2, "--shaves 17: expected 1 to"},
    {"cl --shaves x true", 2, "--shaves x: expected 1 to"},
    {"cl --as fpga true", 2, "expected accelerator, gpu or cpu"},
    {"cl --set nix=1 true", 2, "nix"},
    {"cl --timeout -1 true", 2, "expected seconds"},
    {"cl --machine nothing.xml true", 2, "nothing.xml"},
    {"cl --nix true", 2, "unknown option"},
    {"cl --check=nix true", 2, "nix"},
    {"cl --check --order some true", 2, "--order some: expected all"},
    {"cl --check --order all:0 true", 2, "expected all, or all:N"},
    {"cl --order all true", 2, "are for --check"},
    {"cl --suppress f true", 2, "are for --check"},
    {"cl --check true", 0, "made no context"},
    {"cl --trace t --trace-level most true", 2, "summary, groups or full"},
};

START_TEST(ends_as_the_program_does)
{
    terminal_run(&p, endings[_i].args);
    ck_assert_msg(p.status == endings[_i].status &&
                      strstr(p.err, endings[_i].says),
                  "%d: %s", p.status, p.err);
}
END_TEST

START_TEST(what_it_is_asked_for)
{
    terminal_run(&p, arena_printf(p.arena,
                                  "cl --as gpu --set ddr_bytes=268435456 "
                                  "%s devices",
                                  vpu));
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert_msg(strstr(p.out, "MA2485 (vpusim)") &&
                      strstr(p.out, "256.0 MiB; half"),
                  "%s", p.out);
    ck_assert(!strstr(p.out, "pthread")); /* no other platform's */
}
END_TEST

/* --- launches ------------------------------------------------------------- */

static const char *const layers[] = {
    "grn/layer.xml --layer GRN --shape in0=1x24x16x32 --param bias=1",
    "grn/layer.xml --layer GRNDma --shape in0=1x24x16x32 --param bias=1",
    "grn/layer.xml --layer GRNAsync --shape in0=1x24x16x32 --param bias=1",
    "mvn/layer.xml --shape in0=1x4x8x16 --param eps=0.001"};

/* The driver has the VPU's functions and phases, and gives the same bits. */
START_TEST(samples)
{
    terminal_run(&p, arena_printf(p.arena,
                                  "cl --launches l.jsonl %s diff %s/kernels/%s "
                                  "--a sim --b opencl",
                                  vpu, root, layers[_i]));
    ck_assert_msg(p.status == 0 && strstr(p.out, "equal, bit for bit"), "%s%s",
                  p.out, p.err);
    ck_assert_msg(strstr(p.err, "vpu: cl: 1 context, "), "%s", p.err);
}
END_TEST

/* The line on standard error counts what the file has. */
START_TEST(launches_as_json)
{
    unsigned long long contexts, launches, cycles, all = 0, n = 0;
    const char *told, *line;
    size_t bytes;
    char *text;

    terminal_run(&p, arena_printf(p.arena,
                                  "cl --shaves 4 --launches l.jsonl %s run "
                                  "%s/kernels/%s --backend opencl",
                                  vpu, root, layers[3]));
    ck_assert_msg(p.status == 0, "%s", p.err);
    told = strstr(p.err, "vpu: cl: ");
    ck_assert_int_eq(sscanf(told, "vpu: cl: %llu context, %llu launches, %llu",
                            &contexts, &launches, &cycles),
                     3);
    text = arena_strdup(p.arena, terminal_bytes(&p, "l.jsonl", &bytes));
    while ((line = strsep(&text, "\n")) && *line) {
        json_t *j = json_loads(line, 0, NULL);

        ck_assert_msg(j != NULL, "%s", line);
        ck_assert_int_eq(json_integer_value(json_object_get(j, "shaves")), 4);
        all += (unsigned long long)json_integer_value(
            json_object_get(j, "cycles"));
        n++;
        json_decref(j);
    }
    ck_assert_uint_eq(contexts, 1);
    ck_assert_uint_eq(n, launches);
    ck_assert_uint_eq(all, cycles);
}
END_TEST

/* Cycles, and when each launch began, to the last one. */
START_TEST(the_same_every_time)
{
    size_t n, m;
    const char *first, *second;
    const char *command = arena_printf(
        p.arena,
        "cl --launches l.jsonl %s diff %s/kernels/%s --a sim --b opencl", vpu,
        root, layers[_i]);

    terminal_run(&p, command);
    first = terminal_bytes(&p, "l.jsonl", &n);
    terminal_run(&p, command);
    second = terminal_bytes(&p, "l.jsonl", &m);
    ck_assert_msg(n && n == m && !memcmp(first, second, n), "%s\n%s", first,
                  second);
}
END_TEST

/* --- checkers, files ------------------------------------------------------ */

#define OPENCL_RUN "%s run layer.xml --shape in0=1x1x4x16:f32 --backend opencl"

/* Reads one element too far, in line 4. */
static void beyond(void)
{
    terminal_text(&p, "k.cl",
                  "__kernel void k(__global const float *src,\n"
                  "                __global float *dst)\n"
                  "{\n"
                  "    dst[get_global_id(0)] = src[get_global_id(0) + 1];\n"
                  "}\n");
    terminal_text(
        &p, "layer.xml",
        "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">"
        "<Kernel entry=\"k\"><Source filename=\"k.cl\"/><Parameters>"
        "<Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "
        "format=\"BFYX\"/>"
        "<Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
        "format=\"BFYX\"/></Parameters>"
        "<WorkSizes dim=\"input,0\" global=\"X*Y,1,1\" local=\"16,1,1\"/>"
        "</Kernel></CustomLayer>");
}

/* Also without checkers the line is told, and the program hears of it. */
START_TEST(lines_of_faults)
{
    beyond();
    terminal_run(&p, arena_printf(p.arena, "cl " OPENCL_RUN, vpu));
    ck_assert_int_ne(p.status, 0);
    ck_assert_msg(strstr(p.err, "source.cl:4:") &&
                      strstr(p.err, "kernel 'k', work-group (3, 0, 0)") &&
                      strstr(p.err, "behind the end of buffer 1 (256 bytes)"),
                  "%s", p.err);
    terminal_run(
        &p, arena_printf(p.arena, "cl --check --findings f " OPENCL_RUN, vpu));
    ck_assert_msg(strstr(p.err, "source.cl:4:") && strstr(p.err, "[bounds]") &&
                      strstr(p.err, "dst[get_global_id(0)] = src"),
                  "%s", p.err);
    ck_assert(terminal_has(&p, "f"));
    terminal_text(&p, "known", "bounds k source.cl\n");
    terminal_run(
        &p,
        arena_printf(p.arena, "cl --check --suppress known " OPENCL_RUN, vpu));
    ck_assert_msg(!strstr(p.err, "[bounds]") && strstr(p.err, ", 0 findings"),
                  "%s", p.err);
}
END_TEST

/* --kernel chooses; a folder that cannot be made does not stop a program. */
START_TEST(files_of_launches)
{
    const char *run = arena_printf(
        p.arena, "%s run %s/kernels/%s --backend opencl", vpu, root, layers[3]);

    terminal_run(
        &p, arena_printf(p.arena, "cl --dump d --kernel mvn_apply %s", run));
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert(terminal_has(&p, "d/0001-mvn_apply.vpugraph"));
    ck_assert(!terminal_has(&p, "d/0002-mvn_apply.vpugraph"));
    terminal_run(&p, "check d/0001-mvn_apply.vpugraph");
    ck_assert_msg(p.status == 0, "%s%s", p.out, p.err);
    terminal_run(&p, "run d/0001-mvn_apply.vpugraph --shape in0=4");
    ck_assert_msg(p.status == 2 && strstr(p.err, "--shape is for layers"), "%s",
                  p.err);
    terminal_run(&p, "run d/0001-mvn_apply.vpugraph --backend opencl:0");
    ck_assert_msg(p.status != 0, "%s", p.out);
    terminal_run(&p, arena_printf(p.arena, "cl --dump /proc/d %s", run));
    ck_assert_msg(p.status == 0 && strstr(p.err, "/proc/d"), "%s", p.err);
}
END_TEST

/* The timeline has every launch, and is the same every time; of two processes
 * the second's has its number. */
START_TEST(timelines)
{
    const char *run = arena_printf(
        p.arena, "%s run %s/kernels/%s --backend opencl", vpu, root, layers[3]);
    const char *first, *second;
    size_t n, m;

    terminal_run(&p, arena_printf(p.arena, "cl --trace t %s", run));
    ck_assert_msg(p.status == 0, "%s", p.err);
    first = terminal_bytes(&p, "t", &n);
    terminal_run(&p, "trace summary t --json");
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert(memmem(first, n, "mvn_stats", 9) &&
              memmem(first, n, "mvn_apply", 9));
    terminal_run(&p, arena_printf(p.arena, "cl --trace u %s", run));
    second = terminal_bytes(&p, "u", &m);
    ck_assert_msg(n == m && !memcmp(first, second, n), "%zu, %zu bytes", n, m);
    terminal_text(
        &p, "two.sh",
        arena_printf(p.arena, "%s >/dev/null && %s >/dev/null\n", run, run));
    terminal_run(&p, "cl --trace v --trace-level summary sh two.sh");
    ck_assert_msg(p.status == 0 && strstr(p.err, "2 contexts, 4 launches"),
                  "%s", p.err);
    ck_assert_ptr_nonnull(strstr(terminal_files(&p, ""), "v."));
    ck_assert(terminal_has(&p, "v"));
    terminal_run(&p, arena_printf(p.arena, "cl --trace /proc/x %s", run));
    ck_assert_msg(p.status == 0 && strstr(p.err, "/proc/x"), "%s", p.err);
}
END_TEST

/* A kernel that does not end is ended, and the host hears of it. */
START_TEST(limits)
{
    terminal_run(&p, arena_printf(p.arena,
                                  "cl --max-cycles 1000 %s run %s/kernels/%s "
                                  "--backend opencl",
                                  vpu, root, layers[0]));
    ck_assert_int_ne(p.status, 0);
    ck_assert_msg(strstr(p.err, "cycles") &&
                      strstr(p.err, "1 launch (1 failed)"),
                  "%s", p.err);
}
END_TEST

/* The variable without the launcher; what is wrong with it is said. */
START_TEST(variable)
{
    setenv("VPU_CL", "--shaves 0", 1);
    terminal_run(&p, arena_printf(p.arena, "cl %s devices", vpu));
    ck_assert_msg(p.status == 0, "%s", p.err); /* the launcher's own counts */
    unsetenv("VPU_CL");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu cl");
    TCase *t = tcase_create("cl");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, ends_as_the_program_does, 0,
                        sizeof endings / sizeof *endings);
    tcase_add_test(t, what_it_is_asked_for);
    tcase_add_loop_test(t, samples, 0, sizeof layers / sizeof *layers);
    tcase_add_test(t, launches_as_json);
    tcase_add_loop_test(t, the_same_every_time, 0,
                        sizeof layers / sizeof *layers);
    tcase_add_test(t, lines_of_faults);
    tcase_add_test(t, files_of_launches);
    tcase_add_test(t, timelines);
    tcase_add_test(t, limits);
    tcase_add_test(t, variable);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
