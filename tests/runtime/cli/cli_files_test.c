/* The vpu program and files that are none: output that nobody takes, FIFOs,
 * inputs larger than memory, data that no device holds. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/add_layer.h"

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    add_layer_put(&p);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* --- output that nobody takes -------------------------------------------- */

static const char *const printing[] = {
    "--help",
    "--version",
    "help run",
    "run --help",
    ADD_RUN,
    ADD_RUN "--report json",
    "machine",
    "devices",
    "asm add.cl",
    "lint layer.xml --shape in0=1x2x4x16 --param bias=1",
    "check layer.xml --shape in0=1x2x4x16 --param bias=1",
    "diff layer.xml --shape in0=1x2x4x16 --param bias=1 --a sim --b sim",
    "blob show b.blob",
    "blob verify b.blob",
    "trace summary t.pftrace",
    "suite .",
    "suite . --list",
    "debug layer.xml --shape in0=1x2x4x16 --param bias=1 -x q"};
enum { N_PRINTING = sizeof printing / sizeof *printing };

static void expect_lost(const char *args, const char *how)
{
    terminal_run(&p, args);
    ck_assert_msg(p.status == 2, "%s: %s: exit status %d\n%s", args, how,
                  p.status, p.err);
    ck_assert_msg(strstr(p.err, "vpu: standard output: "), "%s: %s:\n%s", args,
                  how, p.err);
}

START_TEST(lost_output_is_an_error)
{
    const char *args = printing[_i];
    int ends[2];

    terminal_text(&p, "q", "help\nwhere\n");
    terminal_text(
        &p, "one.case",
        "layer.xml --shape in0=1x2x4x16 --param bias=1 --a sim --b sim\n");
    terminal_run(&p, ADD_RUN "--trace t.pftrace");
    terminal_expect(&p, 0, "");
    terminal_run(&p, "blob make layer.xml --shape in0=1x2x4x16 --param bias=1 "
                     "--release 2021.4 --to b.blob");
    terminal_expect(&p, 0, "");
    terminal_run(&p, args);
    ck_assert_msg(p.status < 2 && *p.out, "%s: %d %s", args, p.status, p.err);
    p.out_fd = open("/dev/full", O_WRONLY);
    expect_lost(args, "/dev/full");
    ck_assert(!pipe(ends));
    close(ends[0]);
    p.out_fd = ends[1];
    expect_lost(args, "a pipe nobody reads");
    p.out_fd = -1;
    expect_lost(args, "a closed one");
}
END_TEST

/* A quarter of a milliard lines, were they wanted. */
START_TEST(lost_output_ends_a_long_run)
{
    terminal_text(&p, "add.cl",
                  "__kernel void add(__global const half *src, __global half "
                  "*dst, float bias)\n"
                  "{ for (int i = 0; i < 1000; i++) printf(\"%d\\n\", i); }\n");
    p.out_fd = open("/dev/full", O_WRONLY);
    expect_lost("run layer.xml --shape in0=1x64x64x64 --param bias=1 "
                "--max-cycles 0",
                "/dev/full");
}
END_TEST

START_TEST(lost_files_are_errors)
{
    static const char *const options[] = {"--trace", "--trace-json", "--vcd",
                                          "--folded", "--kanata"};
    struct stat sb;

    terminal_run(&p,
                 arena_printf(p.arena, ADD_RUN "%s /dev/full", options[_i]));
    terminal_expect(&p, 2, "/dev/full: ");
    ck_assert(!stat("/dev/full", &sb) && S_ISCHR(sb.st_mode));
}
END_TEST

START_TEST(fifo_as_output)
{
    const char *path = arena_printf(p.arena, "%s/pipe", p.dir);
    char begin[64];
    struct stat sb;
    int fd;

    ck_assert(!mkfifo(path, 0600));
    terminal_run(&p, ADD_RUN "--trace-json pipe");
    terminal_expect(&p, 2, "pipe: cannot be written: nobody reads this FIFO");
    fd = open(path, O_RDONLY | O_NONBLOCK);
    terminal_run(&p, ADD_RUN "--trace-json pipe --trace-level summary");
    terminal_expect(&p, 0, "");
    ck_assert_int_gt(read(fd, begin, sizeof begin), 1);
    ck_assert_int_eq(begin[0], '{');
    ck_assert(!lstat(path, &sb) && S_ISFIFO(sb.st_mode));
    close(fd);
}
END_TEST

/* --- inputs that are no files -------------------------------------------- */

#define AS_BOUND " --shape in0=1x2x4x16 --param bias=1"

/* A FIFO nobody writes to, as each kind of input. */
static const struct {
    const char *fifo, *args;
} fifos[] = {{"pipe", "run pipe" AS_BOUND},
             {"add.cl", ADD_RUN},
             {"add.cl", "check layer.xml" AS_BOUND},
             {"add.cl", "lint layer.xml" AS_BOUND},
             {"add.bin", "run bin.xml" AS_BOUND},
             {"pipe.npy", ADD_RUN "--input 0=pipe.npy"},
             {"pipe.npy", ADD_RUN "--blob x=pipe.npy"},
             {"pipe", "run layer.xml --model pipe"},
             {"m.bin", "run layer.xml --model m.xml"},
             {"pipe", ADD_RUN "--machine pipe"},
             {"pipe", ADD_RUN "--backend replay:pipe"},
             {"pipe", ADD_RUN "--backend host:pipe"},
             {"pipe", ADD_RUN "--backend usb --firmware pipe"},
             {"pipe", "diff layer.xml --a sim --b replay:pipe" AS_BOUND},
             {"pipe", "check layer.xml --suppress pipe" AS_BOUND},
             {"pipe", "debug layer.xml -x pipe" AS_BOUND},
             {"pipe.case", "suite pipe.case"},
             {"pipe", "trace summary pipe"},
             {"pipe", "view pipe --png x.png"},
             {"pipe", "blob show pipe"},
             {"pipe", "asm pipe"},
             {"pipe", "cc pipe"}};
enum { N_FIFOS = sizeof fifos / sizeof *fifos };

START_TEST(fifo_as_input)
{
    const char *path = arena_printf(p.arena, "%s/%s", p.dir, fifos[_i].fifo);

    terminal_text(&p, "bin.xml", add_layer_of(&p, "add.bin"));
    terminal_text(&p, "m.xml", "<net name=\"n\" version=\"10\"/>");
    unlink(path);
    ck_assert(!mkfifo(path, 0600));
    terminal_run(&p, fifos[_i].args);
    terminal_expect(&p, 2,
                    arena_printf(p.arena, "%s: not a regular file but a FIFO",
                                 fifos[_i].fifo));
}
END_TEST

/* clang opens what is included itself. */
START_TEST(fifo_as_included_file)
{
    ck_assert(!mkfifo(arena_printf(p.arena, "%s/pipe.h", p.dir), 0600));
    terminal_text(
        &p, "add.cl",
        arena_printf(p.arena, "#include \"pipe.h\"\n%s", add_layer_cl));
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 2, "includes a FIFO");
    unlink(arena_printf(p.arena, "%s/pipe.h", p.dir));
    add_layer_files(&p, "");
}
END_TEST

/* What it was started with may be a pipe. */
START_TEST(own_pipe_as_trace)
{
    size_t n;

    terminal_run(&p, ADD_RUN "--trace t.pftrace");
    terminal_expect(&p, 0, "");
    ck_assert(!system(arena_printf(
        p.arena,
        "cat %s/t.pftrace | ${VPU:-build/vpu} trace summary /dev/stdin "
        ">%s/from_pipe",
        p.dir, p.dir)));
    terminal_run(&p, "trace summary t.pftrace");
    ck_assert_ptr_nonnull(
        strstr(terminal_bytes(&p, "from_pipe", &n), strchr(p.out, ':')));
}
END_TEST

/* Four GiB of zeros, of which nothing should be read that need not be. */
static const struct {
    const char *name, *args;
} sparse[] = {{"big", ADD_RUN "--backend replay:big"},
              {"big.npy", ADD_RUN "--input 0=big.npy"},
              {"m.bin", "run layer.xml --model m.xml --at x"},
              {"big", "run big" AS_BOUND},
              {"big", "trace summary big"},
              {"big", "asm big"}};
enum { N_SPARSE = sizeof sparse / sizeof *sparse };

START_TEST(large_file)
{
    const char *path = arena_printf(p.arena, "%s/%s", p.dir, sparse[_i].name);
    struct rusage used;

    terminal_text(&p, "m.xml", "<net name=\"n\" version=\"10\"/>");
    terminal_text(&p, sparse[_i].name, "");
    ck_assert(!truncate(path, (off_t)4 << 30));
    terminal_run(&p, sparse[_i].args);
    ck_assert_msg(p.status == 2 || p.status == 7, "%d %s", p.status, p.err);
    getrusage(RUSAGE_CHILDREN, &used);
    ck_assert_int_lt(used.ru_maxrss, 1 << 20); /* KiB */
}
END_TEST

/* --- data no device holds ------------------------------------------------ */

#define KERNEL(declared, body)                                            \
    declared "__kernel void add(__global const half *src, __global half " \
             "*dst, float bias)\n{\n" body "\n    dst[0] = t[(int)bias];\n}\n"

static const struct {
    const char *cl, *says;
} oversized[] = {
    {KERNEL("", "    char t[4294967295];\n    t[(int)src[0]] = 1;"),
     "a private array of 4294967295 bytes"},
    {KERNEL("", "    int t[400000000], u[400000000];\n"
                "    t[(int)src[0]] = 1; u[(int)src[1]] = 2; dst[1] = "
                "u[(int)bias];"),
     "a private array of 1600000000 bytes"},
    {KERNEL("", "    __local int t[1000000000];\n    t[(int)src[0]] = 1;"),
     "the __local variable 't' has 4000000000 bytes"},
    {KERNEL("__constant char t[1073741824] = {1};\n", ""),
     "the __constant variable 't' has 1073741824 bytes"},
};
enum { N_OVERSIZED = sizeof oversized / sizeof *oversized };

START_TEST(data_no_device_holds)
{
    struct rusage used;

    terminal_text(&p, "add.cl", oversized[_i].cl);
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 7, oversized[_i].says);
    getrusage(RUSAGE_CHILDREN, &used);
    ck_assert_int_lt(used.ru_maxrss, 1 << 20); /* KiB */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("files");
    TCase *c = tcase_create("files");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, lost_output_is_an_error, 0, N_PRINTING);
    tcase_add_test(c, lost_output_ends_a_long_run);
    tcase_add_loop_test(c, lost_files_are_errors, 0, 5);
    tcase_add_test(c, fifo_as_output);
    tcase_add_loop_test(c, fifo_as_input, 0, N_FIFOS);
    tcase_add_test(c, fifo_as_included_file);
    tcase_add_test(c, own_pipe_as_trace);
    tcase_add_loop_test(c, large_file, 0, N_SPARSE);
    tcase_add_loop_test(c, data_no_device_holds, 0, N_OVERSIZED);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
