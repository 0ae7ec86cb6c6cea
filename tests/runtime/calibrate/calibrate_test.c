/* The parts of a calibration: cases, statistics of noise, small matrices, the
 * command's words. Whether a machine is found: scripts/check-calibrate. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "runtime/calibrate/dense.h"
#include "runtime/calibrate/measure.h"
#include "runtime/stick/noise.h"
#include "tests/support/terminal.h"

/* --- cases ---------------------------------------------------------------- */

START_TEST(cases_are_told_apart)
{
    arena *a = arena_create(0);
    size_t n, few;
    const design_case *list = design_cases(16, a, &n);
    bool blocks[DESIGN_N_BLOCKS] = {0};

    ck_assert_uint_gt(n, 100);
    for (size_t i = 0; i < n; i++) {
        blocks[list[i].block] = true;
        ck_assert_uint_le(list[i].shaves, 16);
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(list[i].name, list[k].name);
    }
    for (int b = 0; b < DESIGN_N_BLOCKS; b++)
        ck_assert_msg(blocks[b], "%s", design_block_name((design_block)b));
    list = design_cases(1, a, &few);
    ck_assert_uint_lt(few, n);
    for (size_t i = 0; i < few; i++)
        ck_assert_uint_eq(list[i].shaves, 1);
    arena_destroy(a);
}
END_TEST

/* Every parameter of the table is one of the machine's, and takes its values.
 */
START_TEST(parameters_are_the_machines)
{
    arena *a = arena_create(0);
    size_t n;
    const design_param *list = design_params(&n);
    mach_desc d;

    ck_assert(!mach_desc_load(NULL, a, &d, NULL));
    for (size_t i = 0; i < n; i++) {
        const design_param *p = &list[i];
        double was = design_param_get(p, &d);
        double other = p->n_choices ? p->choices[0] : p->low;

        design_param_set(p, &d, other);
        ck_assert_msg(design_param_get(p, &d) == other, "%s", p->name);
        design_param_set(p, &d, was);
        ck_assert_msg(design_param_get(p, &d) == was, "%s", p->name);
        ck_assert_msg(p->n_choices || (p->low <= was && was <= p->high),
                      "%s: the built-in value is outside the search", p->name);
    }
    arena_destroy(a);
}
END_TEST

/* All cases of one SHAVE run in every order, and take the same time in each. */
START_TEST(times_do_not_depend_on_the_order)
{
    arena *a = arena_create(0);
    measure_config cfg = {.ops = backend_offering(BACKEND_MACHINE),
                          .run.device = "",
                          .n_shaves = 1,
                          .orders = 2,
                          .repeats = 1,
                          .seed = 7};
    measure_result r;
    vpu_error err;

    ck_assert_msg(!measure_run(&cfg, a, &r, &err), "%s", err.msg);
    ck_assert_uint_eq(r.n_times, 2);
    for (size_t i = 0; i < r.n_cases; i++) {
        ck_assert_uint_eq(r.times[i].n_used, 2);
        ck_assert_msg(r.times[i].seconds > 0 && r.times[i].error < 1e-9,
                      "%s: %g s, error %g", r.cases[i].name, r.times[i].seconds,
                      r.times[i].error);
    }
    arena_destroy(a);
}
END_TEST

/* --- noise ---------------------------------------------------------------- */

START_TEST(noise_is_normal)
{
    enum { N = 20000 };
    const stick_noise x = {3, 5}, other = {3, 6}, none = {0, 5};
    double sum = 0, squares = 0, beyond = 0;
    uint32_t equal = 0;

    for (uint64_t i = 0; i < N; i++) {
        double f = stick_noise_factor(&x, i) - 1;

        sum += f;
        squares += f * f;
        beyond += fabs(f) > 0.06;
        equal += f + 1 == stick_noise_factor(&other, i);
        ck_assert(fabs(f) <= 0.12 + 1e-12);
        ck_assert(f + 1 == stick_noise_factor(&x, i));
        ck_assert(stick_noise_factor(&none, i) == 1);
    }
    ck_assert_double_le(fabs(sum / N), 0.001);
    ck_assert_double_eq_tol(sqrt(squares / N), 0.03, 0.001);
    /* Two deviations: 4.55 % of a normal distribution are beyond. */
    ck_assert_double_eq_tol(beyond / N, 0.0455, 0.008);
    ck_assert_uint_eq(equal, 0);
}
END_TEST

static const struct {
    const char *text;
    bool ok;
    double percent;
    uint64_t seed;
} noises[] = {
    {"3", true, 3, 1},     {"2.5:9", true, 2.5, 9}, {"0", true, 0, 1},
    {"20:0", true, 20, 0}, {"", false, 0, 0},       {"x", false, 0, 0},
    {"3:", false, 0, 0},   {"3:x", false, 0, 0},    {"21", false, 0, 0},
    {"-1", false, 0, 0},   {"nan", false, 0, 0},    {"3:-1", false, 0, 0},
    {"3 :1", false, 0, 0}, {"inf", false, 0, 0}};

START_TEST(words_of_noise)
{
    stick_noise x = {77, 77};
    bool ok = stick_noise_parse(noises[_i].text, &x);

    ck_assert_msg(ok == noises[_i].ok, "'%s'", noises[_i].text);
    ck_assert(x.percent == (ok ? noises[_i].percent : 77));
    ck_assert_uint_eq(x.seed, ok ? noises[_i].seed : 77);
}
END_TEST

/* --- matrices ------------------------------------------------------------- */

enum { ROWS = 6 };

/* Symmetric and positive definite: the products of random rows, and a little
 * more on the diagonal. */
static void make(unsigned seed, double *a)
{
    double rows[ROWS][ROWS];

    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < ROWS; k++) {
            seed = seed * 1103515245u + 12345u;
            rows[i][k] = (double)(seed >> 16 & 0x7fff) / 0x4000 - 1;
        }
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < ROWS; k++) {
            a[i * ROWS + k] = i == k ? 0.01 : 0;
            for (int j = 0; j < ROWS; j++)
                a[i * ROWS + k] += rows[i][j] * rows[k][j];
        }
}

START_TEST(solved)
{
    double a[ROWS * ROWS], copy[ROWS * ROWS], b[ROWS] = {1, -2, 3, 0, 5, 0.5};
    double x[ROWS];

    make((unsigned)_i + 1, a);
    memcpy(copy, a, sizeof a);
    ck_assert(dense_solve(ROWS, copy, b, x));
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;

        for (int k = 0; k < ROWS; k++)
            sum += a[i * ROWS + k] * x[k];
        ck_assert_double_eq_tol(sum, b[i], 1e-8);
    }
    a[0] = -1;
    ck_assert(!dense_solve(ROWS, a, b, x));
}
END_TEST

START_TEST(decomposed)
{
    double a[ROWS * ROWS], copy[ROWS * ROWS], values[ROWS];
    double vectors[ROWS * ROWS];

    make((unsigned)_i + 1, a);
    memcpy(copy, a, sizeof a);
    dense_eigen(ROWS, copy, values, vectors);
    for (int e = 0; e < ROWS; e++) {
        double length = 0;

        for (int i = 0; i < ROWS; i++) {
            double sum = 0;

            for (int k = 0; k < ROWS; k++)
                sum += a[i * ROWS + k] * vectors[k * ROWS + e];
            ck_assert_double_eq_tol(sum, values[e] * vectors[i * ROWS + e],
                                    1e-9);
            length += vectors[i * ROWS + e] * vectors[i * ROWS + e];
        }
        ck_assert_double_eq_tol(length, 1, 1e-9);
        ck_assert_double_gt(values[e], 0);
    }
}
END_TEST

/* --- the command ---------------------------------------------------------- */

static const struct {
    const char *args;
    int status;
    const char *says;
} commands[] = {
    {"calibrate", 2, "--backend"},
    {"calibrate more", 2, "unexpected 'more'"},
    {"calibrate --backend sim --write d", 2, "one of them"},
    {"calibrate --backend sim --precision 0", 2, "--precision"},
    {"calibrate --backend nothing", 2, "nothing"},
    {"calibrate --backend null", 5, "tells no times"},
    {"calibrate --backend usb:unix:none", 2, "--xlink"},
    {"calibrate --backend sim --kernels none", 2, "chain_int"},
    {"calibrate --backend sim --shaves 17", 2, "17"},
    {"calibrate --write /proc/none", 2, "/proc/none"},
    {"stick --xlink C --listen unix:s --time-noise 99", 2, "time-noise"},
    {"stick --xlink C --listen unix:s --machine none.xml", 2, "none.xml"},
    {"stick --xlink C --listen unix:s --set clk_mhz=0", 2, "clk_mhz"}};

START_TEST(refused)
{
    terminal p;

    terminal_open(&p);
    terminal_run(&p, commands[_i].args);
    terminal_expect(&p, commands[_i].status, commands[_i].says);
    ck_assert_str_eq(terminal_files(&p, ""), "");
    terminal_close(&p);
}
END_TEST

START_TEST(written_for_clc)
{
    terminal p;
    size_t n, n_kernels;
    const design_kernel *list = design_kernels(&n_kernels);

    terminal_open(&p);
    terminal_run(&p, "calibrate --write set/of/kernels");
    terminal_expect(&p, 0, "");
    for (size_t i = 0; i < n_kernels; i++) {
        const char *name =
            arena_printf(p.arena, "set/of/kernels/%s.cl", list[i].name);
        const char *text = terminal_bytes(&p, name, &n);

        ck_assert_uint_eq(n, strlen(list[i].text));
        ck_assert_mem_eq(text, list[i].text, n);
    }
    ck_assert(terminal_has(&p, "set/of/kernels/compile.sh"));
    terminal_close(&p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("calibrate");
    TCase *c = tcase_create("calibrate");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_test(c, cases_are_told_apart);
    tcase_add_test(c, parameters_are_the_machines);
    tcase_add_test(c, times_do_not_depend_on_the_order);
    tcase_add_test(c, noise_is_normal);
    tcase_add_loop_test(c, words_of_noise, 0, sizeof noises / sizeof *noises);
    tcase_add_loop_test(c, solved, 0, 5);
    tcase_add_loop_test(c, decomposed, 0, 5);
    tcase_add_loop_test(c, refused, 0, sizeof commands / sizeof *commands);
    tcase_add_test(c, written_for_clc);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
