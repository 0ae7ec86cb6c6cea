/* --compile-timeout and --compile-memory, in every command that compiles. */
#include <check.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/support/terminal.h"

/* LLVM's part of compiling: loops that are unrolled and multiply. */
static const char slow_cl[] =
    "int mix(int x)\n{\n"
    "    _Pragma(\"unroll 512\") for (int i = 0; i < 4096; i++)\n"
    "        x = (x * 31 + i) ^ (x >> (i & 15));\n"
    "    return x;\n}\n"
    "int mix2(int x)\n{\n"
    "    _Pragma(\"unroll 64\") for (int i = 0; i < 512; i++) x += mix(x ^ "
    "i);\n"
    "    return x;\n}\n"
    "__kernel void k(__global int *d)\n{\n"
    "    _Pragma(\"unroll 64\") for (int i = 0; i < 256; i++)\n"
    "        d[i & 3] = mix2(d[i]);\n}\n";
/* clang's: 2^40 tokens. */
static const char macros_cl[] =
    "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(x))))\n"
    "#define C(x) B(B(B(B(x))))\n"
    "__kernel void k(__global int *d)\n{\n    C(d[0]++;)\n}\n";

static const char layer[] =
    "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">"
    "<Kernel entry=\"k\"><Source filename=\"k.cl\"/><Parameters>"
    "<Tensor arg-name=\"d\" type=\"output\" port-index=\"0\"/></Parameters>"
    "<WorkSizes dim=\"output,0\" global=\"X,1,1\" "
    "local=\"1,1,1\"/></Kernel></CustomLayer>";

#define SHAPE "--shape in0=1x1x4x16:i32 "
static const char *const commands[] = {
    "run l.xml " SHAPE "--output out",
    "check l.xml " SHAPE,
    "asm k.cl",
    "cc k.cl -o k.bin",
    "lint l.xml",
    "debug l.xml " SHAPE}; /* optimises nothing: clang alone is slow there */
enum {
    N_COMMANDS = sizeof commands / sizeof *commands,
    N_SLOW = N_COMMANDS - 1
};

static const char *command(int i)
{
    return commands[i < N_SLOW ? i : i - N_SLOW];
}

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "l.xml", layer);
}

static void teardown(void)
{
    terminal_close(&p);
}

static void run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    terminal_run(&p, arena_vprintf(p.arena, fmt, ap));
    va_end(ap);
}

static void expect(int status, const char *fragment)
{
    ck_assert_msg(p.status == status, "exit status %d, expected %d\n%s%s",
                  p.status, status, p.err, p.out);
    ck_assert_msg(strstr(p.err, fragment), "'%s' is not in\n%s", fragment,
                  p.err);
}

static void nothing_is_left(void)
{
    const char *left = terminal_files(&p, "l.xml\nk.cl\n");

    ck_assert_msg(!*left, "unexpected files:\n%s", left);
}

static double used(void)
{
    struct rusage r;

    getrusage(RUSAGE_CHILDREN, &r);
    return (double)r.ru_utime.tv_sec + (double)r.ru_stime.tv_sec +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* Two processes may each take a second; the rest of a command is short. */
START_TEST(time_is_limited)
{
    const char *source = _i < N_SLOW ? slow_cl : macros_cl;

    terminal_text(&p, "k.cl", source);
    run("%s --compile-timeout 1", command(_i));
    expect(7, "took more than 1 s of the processor's time");
    expect(7, "--compile-timeout");
    expect(7, "k.cl");
    ck_assert_msg(used() < 8, "%g s", used());
    nothing_is_left();
}
END_TEST

START_TEST(memory_is_limited)
{
    const char *source = _i < N_SLOW ? slow_cl : macros_cl;

    terminal_text(&p, "k.cl", source);
    run("%s --compile-timeout 100 --compile-memory 40M", command(_i));
    expect(7, "needed more than 40 MB of memory");
    expect(7, "--compile-memory");
    expect(7, "k.cl");
    nothing_is_left();
}
END_TEST

START_TEST(values_are_checked)
{
    static const char *const wrong[] = {
        "--compile-timeout -1", "--compile-timeout x", "--compile-timeout 1e99",
        "--compile-memory -1",  "--compile-memory 1X", "--compile-memory"};

    terminal_text(&p, "k.cl", "__kernel void k(__global int *d) { *d = 1; }\n");
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        run("%s %s", commands[_i], wrong[w]);
        ck_assert_msg(p.status == 2, "%s: status %d\n%s", wrong[w], p.status,
                      p.err);
    }
}
END_TEST

/* What fits is not changed by limits, and 0 is none. */
START_TEST(enough_is_enough)
{
    terminal_text(&p, "k.cl", "__kernel void k(__global int *d) { *d = 1; }\n");
    terminal_run(&p, "asm k.cl --compile-timeout 0 --compile-memory 0");
    ck_assert_msg(p.status == 0, "%s", p.err);
    terminal_run(&p, "asm k.cl --compile-timeout 30 --compile-memory 1G");
    ck_assert_msg(p.status == 0, "%s", p.err);
}
END_TEST

/* What is wrong with the source is told once, and no limit is advised. */
START_TEST(errors_are_no_limits)
{
    terminal_text(&p, "k.cl",
                  "int f(int n)\n{\n    return n ? f(n - 1) + n : 0;\n}\n"
                  "__kernel void k(__global int *d) { *d = f(*d); }\n");
    run("asm k.cl");
    ck_assert_int_eq(p.status, 2);
    ck_assert_str_eq(p.err, "k.cl:3:16: error: recursive call of 'f' (OpenCL C "
                            "has no recursion)\n");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("limits of compiling");
    TCase *c = tcase_create("limits of compiling");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, time_is_limited, 0, N_SLOW + N_COMMANDS);
    tcase_add_loop_test(c, memory_is_limited, 0, N_SLOW + N_COMMANDS);
    tcase_add_loop_test(c, values_are_checked, 0, N_COMMANDS);
    tcase_add_test(c, enough_is_enough);
    tcase_add_test(c, errors_are_no_limits);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
