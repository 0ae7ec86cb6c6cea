/* Comparing tensors against a plain oracle: long double, and positions of
 * halves by their rank in a sorted list of all of them. VPU_DIFF_SPEED=1 prints
 * what 100 million elements take. */
#include "runtime/diff/compare.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static vpu_error err;
static diff_result r;

static uint64_t state;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static tensor_desc flat(tensor_dtype t, uint32_t n)
{
    return (tensor_desc){.dtype = t, .rank = 1, .dims = {n}};
}

static void compare(const tensor_desc *d, const void *a, const void *b,
                    const char *tolerance)
{
    diff_tolerance tol;

    ck_assert_msg(!diff_tolerance_parse(tolerance, &tol, &err), "%s", err.msg);
    ck_assert_msg(
        !diff_compare(&(const diff_pair){d, a, b}, &tol, NULL, &r, &err), "%s",
        err.msg);
}

/* --- the oracle ---------------------------------------------------------- */

static uint32_t rank_of[65536]; /* of halves that are no NaN, by value */

static int by_value(const void *pa, const void *pb)
{
    float a = tensor_f16_to_f32(*(const uint16_t *)pa);
    float b = tensor_f16_to_f32(*(const uint16_t *)pb);

    return (a > b) - (a < b);
}

static void rank_halves(void)
{
    static uint16_t all[65536];
    uint32_t n = 0, rank = 0;

    for (uint32_t h = 0; h < 65536; h++)
        if (!isnan(tensor_f16_to_f32((uint16_t)h)))
            all[n++] = (uint16_t)h;
    qsort(all, n, sizeof *all, by_value);
    for (uint32_t i = 0; i < n; i++) {
        if (i && by_value(&all[i - 1], &all[i]))
            rank++;
        rank_of[all[i]] = rank;
    }
}

/* Steps of nextafterf between two floats, near ones only. */
static uint64_t walk(float a, float b)
{
    uint64_t n = 0;

    for (; a != b; n++)
        a = nextafterf(a, b);
    return n;
}

typedef struct {
    uint64_t n_diff, first, worst, worst_ulp, classes[DIFF_ULP_CLASSES];
    long double sum, squares, most, ref;
    uint64_t wrong;
} oracle;

static uint32_t class_of(uint64_t ulp)
{
    uint32_t c = 0;

    for (; ulp; ulp /= 2)
        c++;
    return c;
}

/* Finite halves. */
static oracle judge(const uint16_t *a, const uint16_t *b, uint32_t n,
                    uint64_t ulp, long double abs, long double rel)
{
    oracle o = {0};
    long double worst = -1;
    uint64_t worst_ulp = 0;

    for (uint32_t i = 0; i < n; i++)
        o.ref = fmaxl(o.ref, fabsl(tensor_f16_to_f32(b[i])));
    for (uint32_t i = 0; i < n; i++) {
        long double x = tensor_f16_to_f32(a[i]), y = tensor_f16_to_f32(b[i]);
        long double d = fabsl(x - y);
        uint64_t u = (uint64_t)llabs((long long)rank_of[a[i]] - rank_of[b[i]]);

        o.classes[class_of(u)]++;
        o.sum += d;
        o.squares += d * d;
        o.most = fmaxl(o.most, d);
        o.wrong += d > 0.02L * o.ref;
        if (u <= ulp || d <= abs || d <= rel * fabsl(y))
            if (d != 0 || signbit(x) == signbit(y))
                continue;
        if (!o.n_diff++)
            o.first = i;
        if (d > worst) {
            worst = d;
            o.worst = i;
        }
        if (u > worst_ulp) {
            worst_ulp = u;
            o.worst_ulp = i;
        }
    }
    return o;
}

static void near(double got, long double want)
{
    ck_assert_msg(fabsl(got - want) <= 1e-12L * (1 + fabsl(want)),
                  "%.17g, expected %.17Lg", got, want);
}

/* --- tests --------------------------------------------------------------- */

static const struct {
    const char *text;
    uint64_t ulp;
    long double abs, rel;
} tolerances[] = {
    {"exact", 0, 0, 0},
    {"ulp=3", 3, 0, 0},
    {"abs=0.125", 0, 0.125L, 0},
    {"rel=0.25", 0, 0, 0.25L},
    {"rel=0.125,ulp=1000,abs=0.0078125", 1000, 0.0078125L, 0.125L}};

START_TEST(halves_as_the_oracle)
{
    enum { N = 5000 };
    static uint16_t a[N], b[N];
    tensor_desc d = flat(TENSOR_F16, N);
    oracle o;

    state = 77 + (uint64_t)_i;
    for (uint32_t i = 0; i < N; i++) {
        do
            b[i] = (uint16_t)rnd();
        while ((b[i] & 0x7c00) == 0x7c00);
        a[i] = b[i];
        if (rnd() % 3 == 0)
            a[i] = (uint16_t)(b[i] ^ (rnd() & 7));
        if (rnd() % 50 == 0)
            a[i] = (uint16_t)(rnd() & 0xfbff & ~0x400u);
        if ((a[i] & 0x7c00) == 0x7c00)
            a[i] = 0x8000;
    }
    a[17] = 0x8000;
    b[17] = 0;
    compare(&d, a, b, tolerances[_i].text);
    o = judge(a, b, N, tolerances[_i].ulp, tolerances[_i].abs,
              tolerances[_i].rel);
    ck_assert_uint_gt(o.n_diff, 1);
    ck_assert_uint_eq(r.n_diff, o.n_diff);
    ck_assert_uint_eq(r.first.index, o.first);
    ck_assert_uint_eq(r.worst.index, o.worst);
    ck_assert_uint_eq(r.worst_ulp.index, o.worst_ulp);
    ck_assert_mem_eq(r.ulp_classes, o.classes, sizeof o.classes);
    near(r.max_abs_b, o.ref);
    near(r.metrics.min_accuracy, o.most / o.ref * 100);
    near(r.metrics.average_accuracy, o.sum / N / o.ref * 100);
    near(r.metrics.l2, sqrtl(o.squares / N) / o.ref * 100);
    near(r.metrics.wrong, (long double)o.wrong / N * 100);
    ck_assert(!r.equal);
}
END_TEST

START_TEST(every_half_with_itself_and_its_neighbour)
{
    static uint16_t a[65536], b[65536];
    tensor_desc d = flat(TENSOR_F16, 65536);

    for (uint32_t i = 0; i < 65536; i++)
        a[i] = b[i] = (uint16_t)i;
    compare(&d, a, b, "");
    ck_assert(r.equal);
    ck_assert_uint_eq(r.n_nan_a, 2 * 1023);
    ck_assert_uint_eq(r.n_bits, 0);
    near(r.max_abs_b, 65504);
    compare(&d, a, b, "nan=never");
    ck_assert_uint_eq(r.n_diff, 2 * 1023);
    for (uint32_t i = 0; i < 65536; i++)
        b[i] = (uint16_t)(i ^ 1);
    compare(&d, a, b, "ulp=1");
    /* Infinity and the first NaN change places. */
    ck_assert_uint_eq(r.n_diff, 4);
    ck_assert_uint_eq(r.first.index, 0x7c00);
    ck_assert_uint_eq(r.max_ulp, 1);
}
END_TEST

START_TEST(floats_walk)
{
    float b[] = {1.0f, 0.0f, -0.0f, 0x1p-149f, 1e30f, -2.0f, 3.4028235e38f};
    enum { N = sizeof b / sizeof *b };
    tensor_desc d = flat(TENSOR_F32, N);
    uint64_t want[DIFF_ULP_CLASSES] = {0};
    float a[N];

    for (uint32_t i = 0; i < N; i++) {
        a[i] = b[i];
        for (uint32_t k = 0; k < 5 * i; k++)
            a[i] = nextafterf(a[i], 0.5f);
        want[class_of(walk(a[i], b[i]))]++;
    }
    compare(&d, a, b, "exact");
    ck_assert_mem_eq(r.ulp_classes, want, sizeof want);
    ck_assert_uint_eq(r.n_diff, N - 1);
    ck_assert_uint_eq(r.worst_ulp.index, N - 1);
    ck_assert_uint_eq(r.worst_ulp.ulp, 5 * (N - 1));
    compare(&d, a, b, "ulp=29");
    ck_assert_uint_eq(r.n_diff, 1);
}
END_TEST

START_TEST(integers_of_every_width)
{
    const int64_t big[2][3] = {{INT64_MIN, 5, -1}, {INT64_MAX, 5, 1}};
    const int8_t i8[2][3] = {{-128, 5, -1}, {127, 5, 1}};
    const uint8_t u8[2][3] = {{0, 5, 9}, {255, 5, 7}};
    const int16_t i16[2][3] = {{-32768, 5, 3}, {32767, 5, 1}};
    const uint16_t u16[2][3] = {{0, 5, 9}, {65535, 5, 7}};
    const int32_t i32[2][3] = {{INT32_MIN, 5, -1}, {INT32_MAX, 5, 1}};
    const struct {
        tensor_dtype t;
        const void *a, *b;
        uint64_t most;
    } rows[] = {{TENSOR_I64, big[0], big[1], UINT64_MAX},
                {TENSOR_I8, i8[0], i8[1], 255},
                {TENSOR_U8, u8[0], u8[1], 255},
                {TENSOR_I16, i16[0], i16[1], 65535},
                {TENSOR_U16, u16[0], u16[1], 65535},
                {TENSOR_I32, i32[0], i32[1], UINT32_MAX}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tensor_desc d = flat(rows[i].t, 3);

        compare(&d, rows[i].a, rows[i].b, "");
        ck_assert_uint_eq(r.n_diff, 2);
        ck_assert_uint_eq(r.max_ulp, rows[i].most);
        near(r.first.apart, (long double)rows[i].most);
        compare(&d, rows[i].a, rows[i].b, "ulp=2");
        ck_assert_uint_eq(r.n_diff, 1);
    }
}
END_TEST

START_TEST(policies)
{
    const float nan2 = -nanf("7");
    const float a[] = {0.0f, NAN, NAN, INFINITY, NAN, INFINITY, -INFINITY};
    const float b[] = {-0.0f, NAN, nan2, INFINITY, 1.0f, 3e38f, INFINITY};
    const struct {
        const char *text;
        uint64_t n_diff, first;
    } rows[] = {{"", 4, 0},
                {"zero=equal", 3, 4},
                {"zero=equal,nan=bits", 4, 2},
                {"zero=equal,nan=never", 5, 1},
                {"abs=1e30,rel=1e30,ulp=99999999999", 4, 0}};
    tensor_desc d = flat(TENSOR_F32, 7);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        compare(&d, a, b, rows[i].text);
        ck_assert_msg(r.n_diff == rows[i].n_diff, "%s: %d", rows[i].text,
                      (int)r.n_diff);
        ck_assert_uint_eq(r.first.index, rows[i].first);
        ck_assert_uint_eq(r.n_zero_sign, 1);
        ck_assert_uint_eq(r.n_nan_a, 3);
        ck_assert_uint_eq(r.n_nan_b, 2);
        ck_assert(isinf(r.metrics.l2) && isinf(r.metrics.min_accuracy));
    }
    ck_assert(isnan(r.worst.apart));
}
END_TEST

START_TEST(limits_of_mvnccheck)
{
    /* Of 100 values up to 10, one is 0.2 off: 2 % of 10, not more. */
    float a[100], b[100];
    tensor_desc d = flat(TENSOR_F32, 100);

    for (int i = 0; i < 100; i++)
        a[i] = b[i] = (float)(i % 11);
    a[3] = b[3] + 0.125f;
    compare(&d, a, b, "mvnc");
    ck_assert(r.equal);
    ck_assert_uint_eq(r.n_diff, 1);
    near(r.metrics.min_accuracy, 1.25L);
    near(r.metrics.average_accuracy, 0.0125L);
    near(r.metrics.l2, 0.125L);
    near(r.metrics.wrong, 0);
    a[3] = b[3] + 0.25f;
    compare(&d, a, b, "mvnc");
    ck_assert(!r.equal);
    near(r.metrics.wrong, 1);
    memset(b, 0, sizeof b);
    compare(&d, a, b, "mvnc");
    ck_assert(isinf(r.metrics.average_accuracy));
    compare(&d, b, b, "mvnc");
    ck_assert(r.equal && r.metrics.l2 == 0);
}
END_TEST

static uint64_t seen_first[8], n_seen, seen_n;

static void see(void *user, uint64_t first, uint32_t n,
                const uint8_t *different)
{
    (void)user;
    for (uint32_t i = 0; i < n; i++)
        if (different[i] && seen_n < 8)
            seen_first[seen_n++] = first + i;
    n_seen++;
}

START_TEST(watched_blocks)
{
    enum { N = 100003 };
    const uint64_t at[] = {0, 1, 5000, 70000, N - 1};
    uint8_t *a = calloc(2, N), *b = a + N;
    diff_tolerance tol = {0};
    tensor_desc d = flat(TENSOR_U8, N);

    n_seen = seen_n = 0;
    for (int i = 0; i < 5; i++)
        a[at[i]] = 9;
    ck_assert(!diff_compare(&(const diff_pair){&d, a, b}, &tol,
                            &(diff_watch){see, NULL}, &r, &err));
    ck_assert_uint_eq(seen_n, 5);
    ck_assert_mem_eq(seen_first, at, sizeof at);
    ck_assert_uint_eq(n_seen, 4);
    ck_assert_uint_eq(r.ulp_classes[0], N - 5);
    ck_assert_uint_eq(r.ulp_classes[4], 5);
    free(a);
}
END_TEST

START_TEST(symmetry)
{
    enum { N = 3000 };
    static float a[N], b[N];
    tensor_desc d = flat(TENSOR_F32, N);
    diff_result first;

    state = 5;
    for (int i = 0; i < N; i++) {
        uint32_t x = (uint32_t)rnd(), y = x ^ (uint32_t)(rnd() & 0x1ff);

        memcpy(&a[i], &x, 4);
        memcpy(&b[i], &y, 4);
    }
    compare(&d, a, b, "ulp=200");
    first = r;
    compare(&d, b, a, "ulp=200");
    ck_assert_uint_eq(r.n_diff, first.n_diff);
    ck_assert_uint_eq(r.first.index, first.first.index);
    ck_assert_mem_eq(r.ulp_classes, first.ulp_classes, sizeof r.ulp_classes);
    ck_assert_uint_eq(r.n_nan_a, first.n_nan_b);
}
END_TEST

START_TEST(single_elements)
{
    const uint16_t h[] = {0x3c00, 0x3c05, 0x8000, 0, 0x8001, 0x7c00, 0x7e00};
    const int64_t i[] = {INT64_MIN, INT64_MAX};
    bool nan;

    for (int x = 0; x < 6; x++)
        for (int y = 0; y < 6; y++) {
            uint32_t rx = rank_of[h[x]], ry = rank_of[h[y]];

            ck_assert_uint_eq(diff_ulp(TENSOR_F16, &h[x], &h[y], &nan),
                              rx > ry ? rx - ry : ry - rx);
            ck_assert(!nan);
        }
    ck_assert_uint_eq(diff_ulp(TENSOR_F16, &h[6], &h[0], &nan), 0);
    ck_assert(nan);
    ck_assert_uint_eq(diff_ulp(TENSOR_I64, &i[0], &i[1], &nan), UINT64_MAX);
    ck_assert(!nan);
}
END_TEST

START_TEST(bad_tolerances)
{
    static const char *const bad[] = {
        "ulp=",    "ulp=-1",    "abs=-1",     "abs=nan", "rel=inf",
        "rel",     "nan=maybe", "zero",       "ulp=1,",  ",",
        "ulp=1.5", "exact ",    "ulp=1;abs=2"};
    diff_tolerance t;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(diff_tolerance_parse(bad[i], &t, &err) == VPU_ERR_INVALID,
                      "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(err.msg, bad[i]));
    }
    t = (diff_tolerance){.absolute = (double)NAN};
    ck_assert_int_eq(diff_compare(&(const diff_pair){&(tensor_desc){0}, "", ""},
                                  &t, NULL, &r, &err),
                     VPU_ERR_INVALID);
}
END_TEST

START_TEST(unravels)
{
    tensor_desc plain = {.rank = 4, .dims = {2, 3, 4, 5}}, minor = plain;
    uint32_t at[4];

    diff_unravel(&plain, 119, at);
    ck_assert_mem_eq(at, ((uint32_t[]){1, 2, 3, 4}), sizeof at);
    diff_unravel(&plain, 27, at);
    ck_assert_mem_eq(at, ((uint32_t[]){0, 1, 1, 2}), sizeof at);
    minor.layout = TENSOR_CHANNEL_MINOR;
    /* ((1 * 4 + 2) * 5 + 3) * 3 + 1: b, y, x, f */
    diff_unravel(&minor, 100, at);
    ck_assert_mem_eq(at, ((uint32_t[]){1, 1, 2, 3}), sizeof at);
}
END_TEST

/* --- speed --------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void speed(tensor_dtype t, const char *what, uint32_t every)
{
    const uint32_t n = 100000000, bytes = tensor_dtype_bytes(t);
    tensor_desc d = flat(t, n);
    char *a = malloc((size_t)n * bytes), *b = malloc((size_t)n * bytes);
    double start;

    memset(a, 0x3c, (size_t)n * bytes);
    memset(b, 0x3c, (size_t)n * bytes);
    for (uint32_t i = 0; every && i < n; i += every)
        a[(size_t)i * bytes] ^= 3;
    start = seconds();
    compare(&d, a, b, "");
    printf("%s, %s: %.3f s for 100 million elements\n", tensor_dtype_name(t),
           what, seconds() - start);
    free(a);
    free(b);
}

START_TEST(speeds)
{
    speed(TENSOR_F16, "equal", 0);
    speed(TENSOR_F16, "1 of 5000 differs", 5000);
    speed(TENSOR_F16, "all differ", 1);
    speed(TENSOR_F32, "equal", 0);
    speed(TENSOR_F32, "all differ", 1);
    speed(TENSOR_U8, "all differ", 1);
    speed(TENSOR_I64, "equal", 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("diff_compare");
    TCase *tc = tcase_create("compare");
    SRunner *sr;
    int failed;

    rank_halves();
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, halves_as_the_oracle, 0,
                        sizeof tolerances / sizeof *tolerances);
    tcase_add_test(tc, every_half_with_itself_and_its_neighbour);
    tcase_add_test(tc, floats_walk);
    tcase_add_test(tc, integers_of_every_width);
    tcase_add_test(tc, policies);
    tcase_add_test(tc, limits_of_mvnccheck);
    tcase_add_test(tc, watched_blocks);
    tcase_add_test(tc, symmetry);
    tcase_add_test(tc, single_elements);
    tcase_add_test(tc, bad_tolerances);
    tcase_add_test(tc, unravels);
    if (getenv("VPU_DIFF_SPEED"))
        tcase_add_test(tc, speeds);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
