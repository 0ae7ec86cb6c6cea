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
    {"cl --link serial true", 2, "--link serial: expected usb3, usb2 or none"},
    {"cl --profile=0 true", 2, "--profile 0: expected a number of lines"},
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

/* Where a store that never changes left the loop over items, too. */
START_TEST(lines_of_moved_stores)
{
    beyond();
    terminal_text(&p, "k.cl",
                  "__kernel void k(__global const float *src,\n"
                  "                __global float *dst)\n"
                  "{\n"
                  "    dst[77777] = 3;\n"
                  "}\n");
    terminal_run(&p, arena_printf(p.arena, "cl " OPENCL_RUN, vpu));
    ck_assert_msg(strstr(p.err, "source.cl:4:"), "%s", p.err);
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

/* What enqueued a launch and what waited for it: rows of their own, in ns of
 * the device, where bytes between host and device take the link's time. */
START_TEST(threads_and_queues)
{
    static const char *const rows[] = {
        "\"thread 1\",0,\"wait\"", "\"thread 1\",0,\"mvn_stats\"",
        "\"queue 1\",0,\"mvn_stats\"", "\"queue 1\",0,\"mvn_apply\""};
    const char *run = arena_printf(
        p.arena, "%s run %s/kernels/%s --backend opencl", vpu, root, layers[3]);
    size_t n;

    for (int slow = 0; slow < 2; slow++) {
        const char *csv, *last = NULL;
        unsigned long long begin, cycles, begin_ns, ns;

        terminal_run(&p, arena_printf(p.arena, "cl --trace t --link %s %s",
                                      slow ? "usb2" : "usb3", run));
        ck_assert_msg(p.status == 0, "%s", p.err);
        terminal_run(&p, "view t --csv t.csv");
        ck_assert_msg(p.status == 0, "%s", p.err);
        csv = terminal_bytes(&p, "t.csv", &n);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            ck_assert_msg(strstr(csv, rows[i]) != NULL, "%s: %s", rows[i], csv);
        for (const char *at = csv; (at = strstr(at, "\"queue 1\",0,\"read"));)
            last = at++;
        ck_assert_ptr_nonnull(last);
        ck_assert_int_eq(sscanf(strchr(last + 12, ',') + 1,
                                "%llu,%llu,%llu,%llu", &begin, &cycles,
                                &begin_ns, &ns),
                         4);
        ck_assert_ptr_nonnull(strstr(last, "bytes=1024"));
        /* 1,024 bytes of 400 or 40 a microsecond, and a transfer's own. */
        ck_assert_uint_eq(ns, slow ? 125000 + 25600 : 60000 + 2560);
    }
}
END_TEST

static unsigned long long number(const json_t *o, const char *name)
{
    return (unsigned long long)json_integer_value(json_object_get(o, name));
}

/* Rows by line add up to the launches of a kernel, these to the program. */
static unsigned long long add_up(const json_t *kernel)
{
    unsigned long long sum = 0, loaded = 0;
    const json_t *row;
    size_t i;

    json_array_foreach(json_object_get(kernel, "profile"), i, row)
    {
        sum += number(row, "cycles");
        loaded += number(row, "load_bytes");
    }
    ck_assert_uint_eq(sum, number(kernel, "cycles") * number(kernel, "shaves"));
    ck_assert_uint_eq(loaded, number(kernel, "load_bytes"));
    return number(kernel, "cycles");
}

START_TEST(where_cycles_go)
{
    const char *run = arena_printf(
        p.arena, "%s run %s/kernels/%s --backend opencl --repeat 3", vpu, root,
        layers[3]);
    unsigned long long cycles = 0, launches = 0;
    json_t *all, *kernels, *k;
    size_t n, i;

    terminal_run(
        &p, arena_printf(p.arena, "cl --profile=2 --json j --trace t %s", run));
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert_msg(strstr(p.err, "kernel mvn_stats, ") &&
                      strstr(p.err, "source.cl:") &&
                      strstr(p.err, " more lines)"),
                  "%s", p.err);
    all = json_loads(terminal_bytes(&p, "j", &n), 0, NULL);
    kernels = json_object_get(all, "kernels");
    ck_assert_uint_eq(json_array_size(kernels), 2);
    json_array_foreach(kernels, i, k)
    {
        cycles += add_up(k);
        launches += number(k, "launches");
    }
    ck_assert_uint_eq(number(all, "cycles"), cycles);
    ck_assert_uint_eq(number(all, "launches"), launches);
    ck_assert_uint_ge(launches, 6);
    ck_assert_uint_eq(number(all, "contexts"), 1);
    json_decref(all);
    terminal_run(&p, arena_printf(p.arena, "cl --json j %s", run));
    ck_assert_msg(p.status == 0 && !strstr(p.err, "source.cl:"), "%s", p.err);
    all = json_loads(terminal_bytes(&p, "j", &n), 0, NULL);
    ck_assert_uint_eq(number(all, "cycles"), cycles); /* by either engine */
    json_decref(all);
    terminal_run(&p, arena_printf(p.arena, "cl --json /proc/j %s", run));
    ck_assert_msg(p.status == 0 && strstr(p.err, "/proc/j"), "%s", p.err);
}
END_TEST

/* Another build of the library compiles anew, in whichever program it is. */
START_TEST(builds_have_their_own_cache)
{
    unsigned first, again, other;

    terminal_text(
        &p, "go.sh",
        arena_printf(p.arena,
                     "d=$(dirname %s)\nmkdir b\n"
                     "cp -L $d/vpu $d/libvpusim-opencl.so $d/libvpusim.so.0 b\n"
                     "export XDG_CACHE_HOME=$PWD/c\n"
                     "run() {\n"
                     "    b/vpu cl %s run %s/kernels/%s --backend opencl "
                     ">/dev/null 2>&1\n"
                     "    ls c/vpusim | wc -l\n"
                     "}\n"
                     "run; run; touch b/libvpusim.so.0; run\n",
                     vpu, vpu, root, layers[3]));
    terminal_run(&p, "cl sh go.sh");
    ck_assert_msg(sscanf(p.out, "%u %u %u", &first, &again, &other) == 3 &&
                      first > 0,
                  "%s%s", p.out, p.err);
    ck_assert_uint_eq(again, first);
    ck_assert_uint_gt(other, first);
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
    tcase_add_test(t, lines_of_moved_stores);
    tcase_add_test(t, files_of_launches);
    tcase_add_test(t, timelines);
    tcase_add_test(t, threads_and_queues);
    tcase_add_test(t, where_cycles_go);
    tcase_add_test(t, builds_have_their_own_cache);
    tcase_add_test(t, limits);
    tcase_add_test(t, variable);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
