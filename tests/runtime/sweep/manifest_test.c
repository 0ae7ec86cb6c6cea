/* Manifests: which points they have, and what of them is refused. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "runtime/sweep/points.h"

static arena *a;

static void setup(void)
{
    a = arena_create(0);
}

static void teardown(void)
{
    arena_destroy(a);
}

static vpu_status parse(const char *text, sweep_manifest *m, vpu_error *err)
{
    return sweep_manifest_parse(&(const file_bytes){text, strlen(text), "m"}, a,
                                m, err);
}

/* "value,value: word word" a line. */
static const char *points_of(const char *text)
{
    sweep_manifest m;
    sweep_plan *p;
    sweep_value *values;
    vpu_error err;
    uint64_t n;
    str out = {.arena = a};

    ck_assert_msg(!parse(text, &m, &err), "%s", err.msg);
    ck_assert_msg(!sweep_points_count(&m, &n, &err), "%s", err.msg);
    p = sweep_plan_open(&m, a);
    values = arena_array(a, sweep_value, m.n_dims);
    for (uint64_t i = 0; i < n; i++) {
        sweep_words w;

        sweep_plan_values(p, i, values);
        w = sweep_point_words(&m, values, a);
        for (size_t d = 0; d < m.n_dims; d++)
            str_printf(&out, "%s%s", d ? "," : "",
                       sweep_value_text(&m.dims[d], &values[d], a));
        str_puts(&out, ":");
        for (size_t k = 0; k < w.n; k++)
            str_printf(&out, " %s", w.items[k]);
        str_puts(&out, "\n");
    }
    return str_text(&out);
}

static const struct {
    const char *text, *points;
} good[] = {
    {"run l.xml --layer A\n", "A: l.xml --layer A\n"},
    {"# a comment\n\n  run l.xml # and another\n", "l: l.xml\n"},
    {"run d/l.xml\\\n  --layer=B\n", "B: d/l.xml --layer=B\n"},
    {"run l.xml --param 'x=a b'\"c\"\\ d", "l: l.xml --param x=a bc d\n"},
    {"run l.xml --layer A\nrun m.xml --layer A\n",
     "A: l.xml --layer A\nA-2: m.xml --layer A\n"},
    {"run l.xml\nvary --shaves 1 2\nvary --order reverse sequential\n",
     "l,1,reverse: l.xml --shaves 1 --order reverse\n"
     "l,1,sequential: l.xml --shaves 1 --order sequential\n"
     "l,2,reverse: l.xml --shaves 2 --order reverse\n"
     "l,2,sequential: l.xml --shaves 2 --order sequential\n"},
    {"run l.xml\nvary --set k 1 2\n",
     "l,1: l.xml --set k=1\nl,2: l.xml --set k=2\n"},
    {"run l.xml\nvary --set k=1 k=2\n",
     "l,1: l.xml --set k=1\nl,2: l.xml --set k=2\n"},
    {"run l.xml\nvary --set k=1 j=2\n",
     "l,k=1: l.xml --set k=1\nl,j=2: l.xml --set j=2\n"},
    {"run l.xml\nvary --set k 0..1/3\n",
     "l,0: l.xml --set k=0\nl,0.5: l.xml --set k=0.5\n"
     "l,1: l.xml --set k=1\n"},
    {"run l.xml\nvary --set k=60..200/3\n",
     "l,60: l.xml --set k=60\nl,130: l.xml --set k=130\n"
     "l,200: l.xml --set k=200\n"},
    {"run l.xml\nvary --param b -1 1\n",
     "l,-1: l.xml --param b=-1\nl,1: l.xml --param b=1\n"},
    {"run l.xml\nvary --shape in0=1x2 | in0=1x4 --order reverse\n",
     "l,in0=1x2: l.xml --shape in0=1x2\n"
     "l,in0=1x4 --order reverse: l.xml --shape in0=1x4 --order reverse\n"},
    {"run l.xml\nvary -DN=1 | - | -DN=2 -DM\n",
     "l,-DN=1: l.xml -DN=1\nl,-: l.xml\nl,-DN=2 -DM: l.xml -DN=2 -DM\n"},
    {"run l.xml\nvary -DN=1 | -DN=2\n", "l,1: l.xml -DN=1\nl,2: l.xml -DN=2\n"},
    {"run l.xml\nvary -D N=1 N=2\n", "l,1: l.xml -D N=1\nl,2: l.xml -D N=2\n"},
    {"run l.xml\nname batch --batch whole | - \n",
     "l,whole: l.xml --batch whole\nl,-: l.xml\n"},
    {"run l.xml\nvary --layer A B\n",
     "l,A: l.xml --layer A\nl,B: l.xml --layer B\n"},
    {"run l.xml\nrun m.xml\nvary --shaves 1 2\nvary --set k 1 2 3\n"
     "method one-at-a-time\n",
     "l,1,1: l.xml --shaves 1 --set k=1\nm,1,1: m.xml --shaves 1 --set k=1\n"
     "l,2,1: l.xml --shaves 2 --set k=1\nl,1,2: l.xml --shaves 1 --set k=2\n"
     "l,1,3: l.xml --shaves 1 --set k=3\n"},
    {"run l.xml\nvary --at 8 16\nvary --shaves 1 2\nmethod halving at\n",
     "l,8,1: l.xml --at 8 --shaves 1\nl,8,2: l.xml --at 8 --shaves 2\n"},
};

START_TEST(has_points)
{
    ck_assert_str_eq(points_of(good[_i].text), good[_i].points);
}
END_TEST

/* Each of n values of a whole range once, when n samples are taken of it. */
START_TEST(latin_is_even)
{
    const char *text =
        points_of("run l.xml\nvary --shaves 1..16\n"
                  "vary --set k 0..1.0\nmethod latin 16 seed 3\n");
    bool seen[17] = {false}, part[16] = {false};
    const char *line = text;

    for (int i = 0; i < 16; i++) {
        unsigned shaves;
        double k;

        ck_assert_int_eq(sscanf(line, "l,%u,%lf:", &shaves, &k), 2);
        ck_assert(shaves >= 1 && shaves <= 16 && !seen[shaves]);
        ck_assert(k >= 0 && k < 1 && !part[(int)(k * 16)]);
        seen[shaves] = part[(int)(k * 16)] = true;
        line = strchr(line, '\n') + 1;
    }
    ck_assert(!*line);
}
END_TEST

/* By hand, from the definition: the first numbers of van der Corput's sequence
 * and of the second dimension. */
START_TEST(sobol_begins)
{
    ck_assert_str_eq(points_of("run l.xml\nvary --set j 0.0..1\n"
                               "vary --set k 0..1.0\nmethod sobol 4\n"),
                     "l,0.5,0.5: l.xml --set j=0.5 --set k=0.5\n"
                     "l,0.75,0.25: l.xml --set j=0.75 --set k=0.25\n"
                     "l,0.25,0.75: l.xml --set j=0.25 --set k=0.75\n"
                     "l,0.375,0.375: l.xml --set j=0.375 --set k=0.375\n");
}
END_TEST

/* In every dimension each of 2^k equal parts gets the same number of the first
 * 2^k - 1 points and the corner: a property of the sequence that a wrong
 * direction number breaks. */
START_TEST(sobol_is_even)
{
    enum { N = 64 };
    str text = {.arena = a};
    const char *line;
    int counts[10][N] = {{0}};

    str_puts(&text, "run l.xml\n");
    for (int d = 0; d < 10; d++)
        str_printf(&text, "vary --set k%d 0..1.0\n", d);
    str_printf(&text, "method sobol %d\n", N - 1);
    line = points_of(str_text(&text));
    for (int i = 0; i < N - 1; i++) {
        const char *at = line;

        for (int d = 0; d < 10; d++) {
            double x;

            at = strchr(at, ',') + 1;
            ck_assert_int_eq(sscanf(at, "%lf", &x), 1);
            counts[d][(int)(x * N)]++;
        }
        line = strchr(line, '\n') + 1;
    }
    for (int d = 0; d < 10; d++)
        for (int k = 0; k < N; k++)
            ck_assert_msg(counts[d][k] == (k != 0), "%d %d", d, k);
}
END_TEST

START_TEST(random_has_seeds)
{
    static const char form[] = "run l.xml\nvary --shaves 1 2 4 8\n"
                               "vary --set k 5..9\nmethod random 100 seed %d\n";
    const char *one = points_of(arena_printf(a, form, 1));

    ck_assert_str_eq(one, points_of(arena_printf(a, form, 1)));
    ck_assert_str_ne(one, points_of(arena_printf(a, form, 2)));
    for (int k = 5; k <= 9; k++)
        for (int shaves = 1; shaves <= 8; shaves *= 2)
            ck_assert(strstr(one, arena_printf(a, "l,%d,%d:", shaves, k)));
    ck_assert(!strstr(one, ",4:") && !strstr(one, ",10:"));
}
END_TEST

static const struct {
    const char *text, *says;
} bad[] = {
    {"", "m: error: no `run` line"},
    {"# nothing\n", "m: error: no `run` line"},
    {"run\n", "m:1: error: expected what stands behind `vpu run`"},
    {"run l.xml\n\nvari --shaves 1\n",
     "m:3: error: no line begins with 'vari'; "
     "did you mean vary?"},
    {"run l.xml\nvary\n", "m:2: error: expected an option of vpu run"},
    {"run l.xml\nvary shaves 1\n", "m:2: error: expected an option"},
    {"run l.xml\nvary --shaves\n", "m:2: error: --shaves has no values here"},
    {"run l.xml\nvary --shaves 1 | | 2\n", "m:2: error: an alternative without "
                                           "words"},
    {"run l.xml\nvary --shaves 1\nvary --shaves 2\n",
     "m:3: error: two columns are called shaves, the other is of line 2"},
    {"run l.xml\nname a/b --shaves 1\n", "m:2: error: 'a/b' names no column"},
    {"run l.xml\nname\n", "m:2: error: expected an option"},
    {"run l.xml\nvary --set k 1..5\n", "m:2: error: method grid needs a number "
                                       "of values here: 1..5/5"},
    {"run l.xml\nvary --set k 5..1/2\n", "m:2: error: the range 5..1 has no"},
    {"run l.xml\nvary --set k 1..5/1\n", "m:2: error: a range of 1 values"},
    {"run l.xml\nvary --set k 1 2..5\nmethod random 3\n",
     "m:2: error: a range without a number of values stands alone"},
    {"run l.xml\nvary --set k 2..5 1\nmethod random 3\n",
     "m:2: error: a range without a number of values stands alone"},
    {"run 'l.xml\n", "m:1: error: a quote ' is opened and never closed"},
    {"run l.xml\nmethod gird\n", "m:2: error: no method 'gird'; did you mean "
                                 "grid"},
    {"run l.xml\nmethod grid\nmethod grid\n",
     "m:3: error: a second method; the "
     "first is in line 2"},
    {"run l.xml\nmethod random\n",
     "m:2: error: expected a number up to 1000000 "
     "behind 'random', found the end"},
    {"run l.xml\nmethod random x\n", "m:2: error: expected a number up to "
                                     "1000000 behind 'random', found 'x'"},
    {"run l.xml\nmethod random 0\n", "m:2: error: 0 points"},
    {"run l.xml\nmethod random 5 sed 1\n",
     "m:2: error: unexpected 'sed'; `seed "
     "S`"},
    {"run l.xml\nmethod sobol 5 seed 1\n", "m:2: error: unexpected 'seed': the "
                                           "points of sobol have no seed"},
    {"run l.xml\nmethod halving\n", "m:2: error: expected the column"},
    {"run l.xml\nmethod halving shape\n", "m:2: error: no column 'shape'"},
    {"run l.xml\nvary --shape a=1\nmethod halving shape\n",
     "m:3: error: column shape has one value"},
};

START_TEST(is_refused)
{
    sweep_manifest m;
    vpu_error err = {0};

    ck_assert_int_eq(parse(bad[_i].text, &m, &err), VPU_ERR_PARSE);
    ck_assert_msg(!strncmp(err.msg, bad[_i].says, strlen(bad[_i].says)), "%s",
                  err.msg);
}
END_TEST

START_TEST(too_many)
{
    sweep_manifest m;
    vpu_error err = {0};
    uint64_t n;

    ck_assert(!parse("run l.xml\nvary --set j 0..1/1000\n"
                     "vary --set k 0..1/1000\nvary --shaves 1 2\n",
                     &m, &err));
    ck_assert_int_eq(sweep_points_count(&m, &n, &err), VPU_ERR_LIMIT);
    ck_assert_msg(strstr(err.msg, "more than 1000000 points"), "%s", err.msg);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sweep manifests");
    TCase *t = tcase_create("manifest");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, has_points, 0, sizeof good / sizeof *good);
    tcase_add_test(t, latin_is_even);
    tcase_add_test(t, sobol_begins);
    tcase_add_test(t, sobol_is_even);
    tcase_add_test(t, random_has_seeds);
    tcase_add_loop_test(t, is_refused, 0, sizeof bad / sizeof *bad);
    tcase_add_test(t, too_many);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
