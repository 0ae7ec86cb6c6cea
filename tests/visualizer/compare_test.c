/* Two traces compared. What was put into them is kept in plain arrays, which
 * are the oracle for every number. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/trace/writer.h"
#include "visualizer/compare.h"
#include "visualizer/load.h"

enum { STAGES = 3, SHAVES = 3, GROUPS = 7 };

/* issue and stall of each group */
typedef struct {
    uint64_t part[STAGES][SHAVES][GROUPS][2];
    uint64_t stage[STAGES];
} put;

static uint64_t seed;

static uint64_t next_random(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

static void load(const char *path, tl_timeline *tl, view *v)
{
    vpu_error err;

    ck_assert_msg(!load_file(path, tl, &err), "%s", err.msg);
    ck_assert(!view_init(v, tl, &err));
    unlink(path);
}

static char *scratch(void)
{
    static char path[64];
    int fd;

    snprintf(path, sizeof path, "/tmp/compare_test-XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    return path;
}

/* names: of the stages. The groups' ids run over all SHAVEs. */
static void make(const char *const *names, put *p, tl_timeline *tl, view *v)
{
    trc_track device, stages, shaves[SHAVES];
    uint64_t at = 0;
    vpu_error err;
    trc_writer *w;
    char *path = scratch();

    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, path, &err));
    device = trc_track_group(w, 0, "device");
    stages = trc_track_slices(w, device, "stages", TRC_CYCLES);
    for (int i = 0; i < SHAVES; i++) {
        char name[24];

        snprintf(name, sizeof name, "SHAVE %d", i);
        shaves[i] = trc_track_slices(w, device, name, TRC_CYCLES);
    }
    for (int s = 0; s < STAGES; s++) {
        uint64_t end = at;

        for (int i = 0; i < SHAVES; i++) {
            uint64_t t = at;

            for (int g = 0; g < GROUPS; g++) {
                uint64_t *part = p->part[s][i][g];

                part[0] = 1 + next_random(90);
                part[1] = next_random(300);
                trc_begin(w, shaves[i], t,
                          &(trc_event){.name = "comp",
                                       .numbered = true,
                                       .number = (uint64_t)(i * GROUPS + g)});
                trc_slice(w, shaves[i], t, t + part[0],
                          &(trc_event){.name = "issue"});
                t += part[0];
                trc_slice(w, shaves[i], t, t + part[1],
                          &(trc_event){.name = "DDR stall"});
                t += part[1];
                trc_end(w, shaves[i], t, NULL, 0);
            }
            end = t > end ? t : end;
        }
        p->stage[s] = end - at;
        trc_slice(w, stages, at, end, &(trc_event){.name = names[s]});
        at = end + 10;
    }
    ck_assert(!trc_writer_commit(w, &err));
    load(path, tl, v);
}

static void check_groups(const compare *c, const put *a, const put *b, int s,
                         int t)
{
    for (int i = 0; i < SHAVES; i++) {
        uint64_t busy[2] = {0};
        const compare_row *shave =
            compare_find(c, COMPARE_SHAVE, (uint32_t)s, (uint32_t)i);

        for (int g = 0; g < GROUPS; g++) {
            const uint64_t *x = a->part[s][i][g], *y = b->part[t][i][g];
            const compare_row *r = compare_find(c, COMPARE_GROUP, (uint32_t)s,
                                                (uint32_t)(i * GROUPS + g));

            ck_assert(r && r->in[0] && r->in[1]);
            ck_assert_double_eq(r->time[0], (double)(x[0] + x[1]));
            ck_assert_double_eq(r->time[1], (double)(y[0] + y[1]));
            ck_assert_uint_eq(r->cause[0][TL_ISSUE], x[0]);
            ck_assert_uint_eq(r->cause[1][TL_DDR], y[1]);
            busy[0] += x[0] + x[1];
            busy[1] += y[0] + y[1];
        }
        ck_assert(shave != NULL);
        ck_assert_double_eq(shave->time[0], (double)busy[0]);
        ck_assert_double_eq(shave->time[1], (double)busy[1]);
    }
}

/* What each group that is put in loses, as far as A is at it from a to b. */
static double lost_by_hand(const put *x, const put *y, double a, double b)
{
    double begin = 0, lost = 0;

    for (int s = 0; s < STAGES; s++) {
        for (int i = 0; i < SHAVES; i++) {
            double t = begin;

            for (int g = 0; g < GROUPS; g++) {
                const uint64_t *p = x->part[s][i][g], *q = y->part[s][i][g];
                double takes = (double)(p[0] + p[1]);
                double from = fmax(t, a), to = fmin(t + takes, b);

                if (to > from)
                    lost +=
                        ((double)(q[0] + q[1]) - takes) * (to - from) / takes;
                t += takes;
            }
        }
        begin += (double)x->stage[s] + 10;
    }
    return lost;
}

static void check_lost(const compare *c, const put *a, const put *b)
{
    double end = (double)c->tl[0]->end;

    ck_assert_int_eq(c->steps_of, COMPARE_GROUP);
    ck_assert_double_eq_tol(compare_lost(c, 0, end), lost_by_hand(a, b, 0, end),
                            1e-6);
    for (int i = 0; i < 40; i++) {
        double from = (double)next_random(c->tl[0]->end + 50);
        double to = from + (double)next_random(200) + 0.5;

        ck_assert_double_eq_tol(compare_lost(c, from, to),
                                lost_by_hand(a, b, from, to), 1e-6);
    }
}

START_TEST(every_number_is_what_was_put_in)
{
    static const char *const names[] = {"conv", "norm", "conv"};
    tl_timeline tl[2];
    compare c;
    view v[2];
    put p[2];
    vpu_error err;

    seed = 99 + (uint64_t)_i;
    make(names, &p[0], &tl[0], &v[0]);
    make(names, &p[1], &tl[1], &v[1]);
    ck_assert(!compare_make(&v[0], &v[1], &c, &err));
    ck_assert_str_eq(c.unit, "cycles");
    ck_assert_uint_eq(c.n_pairs, STAGES);
    for (int s = 0; s < STAGES; s++) {
        const compare_row *r = compare_find(&c, COMPARE_STAGE, (uint32_t)s, 0);

        ck_assert_double_eq(r->time[0], (double)p[0].stage[s]);
        ck_assert_double_eq(r->time[1], (double)p[1].stage[s]);
        check_groups(&c, &p[0], &p[1], s, s);
    }
    check_lost(&c, &p[0], &p[1]);
    /* Losses fall, then gains fall; nothing equal is listed. */
    for (uint64_t i = 0; i < c.n_slower; i++) {
        const compare_row *r = &c.rows[c.slower[i]];
        const compare_row *next =
            i + 1 < c.n_slower ? &c.rows[c.slower[i + 1]] : NULL;
        double d = r->time[1] - r->time[0];
        double e = next ? next->time[1] - next->time[0] : 0;

        ck_assert(d != 0);
        ck_assert(!next || (d > 0 ? e <= d : e < 0 && e >= d));
    }
    compare_free(&c);
    for (int i = 0; i < 2; i++) {
        view_free(&v[i]);
        tl_free(&tl[i]);
    }
}
END_TEST

/* The n-th of a name with the n-th; what is left by place when both have as
 * many left. */
START_TEST(stages_find_each_other)
{
    static const char *const a[] = {"conv", "old", "conv"};
    static const char *const b[] = {"conv", "conv", "new"};
    static const char *const d[] = {"conv", "x", "y"};
    tl_timeline tl[3];
    view v[3];
    put p[3];
    compare c;
    vpu_error err;

    seed = 5;
    make(a, &p[0], &tl[0], &v[0]);
    make(b, &p[1], &tl[1], &v[1]);
    make(d, &p[2], &tl[2], &v[2]);
    ck_assert(!compare_make(&v[0], &v[1], &c, &err));
    ck_assert_uint_eq(c.n_pairs, 3);
    ck_assert_uint_eq(c.pairs[0].stage[1], 0);
    ck_assert_uint_eq(c.pairs[1].stage[1], 2); /* old with new */
    ck_assert_uint_eq(c.pairs[2].stage[1], 1);
    check_groups(&c, &p[0], &p[1], 1, 2);
    compare_free(&c);
    ck_assert(!compare_make(&v[0], &v[2], &c, &err));
    ck_assert_uint_eq(c.n_pairs, 3);
    ck_assert_uint_eq(c.pairs[1].stage[1], 1);
    ck_assert_uint_eq(c.pairs[2].stage[1], 2);
    compare_free(&c);
    for (int i = 0; i < 3; i++) {
        view_free(&v[i]);
        tl_free(&tl[i]);
    }
}
END_TEST

/* As from a stick: stages with times of their own, nothing else. */
START_TEST(recorded_times_of_stages_only)
{
    static const char *const names[] = {"conv", "norm", "pool"};
    tl_timeline tl[2];
    view v[2];
    put p;
    compare c;
    vpu_error err;
    trc_writer *w;
    trc_track t;
    char *path, *csv;
    arena *a = arena_create(0);
    char line[128];
    size_t n;

    seed = 12;
    make(names, &p, &tl[0], &v[0]);
    path = scratch();
    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, path, &err));
    t = trc_track_slices(w, trc_track_group(w, 0, "stick"), "stages", TRC_NS);
    trc_slice(w, t, 0, 7000, &(trc_event){.name = "norm"});
    trc_slice(w, t, 7000, 17000, &(trc_event){.name = "extra"});
    ck_assert(!trc_writer_commit(w, &err));
    load(path, &tl[1], &v[1]);
    ck_assert(!compare_make(&v[0], &v[1], &c, &err));
    /* norm is norm; conv and pool are gone, extra is new. */
    ck_assert_uint_eq(c.n_pairs, 4);
    ck_assert_double_eq(compare_find(&c, COMPARE_STAGE, 1, 0)->time[1], 4900);
    ck_assert(!compare_find(&c, COMPARE_STAGE, 0, 0)->in[1]);
    ck_assert(!compare_find(&c, COMPARE_STAGE, 3, 0)->in[0]);
    ck_assert_uint_eq(c.n_slower, 1);
    /* Stages stand in for groups; norm is what both have. */
    ck_assert_int_eq(c.steps_of, COMPARE_STAGE);
    ck_assert_double_eq_tol(compare_lost(&c, 0, 1e9), 4900 - (double)p.stage[1],
                            1e-6);
    compare_headline(&c, "old", "new", line, sizeof line);
    ck_assert_msg(!strncmp(line, "old is ", 7) &&
                      strstr(line, " times as fast as new"),
                  "%s", line);
    path = scratch();
    ck_assert(!compare_csv(&c, path, &err));
    ck_assert(!file_read(path, 1 << 20, a, &csv, &n, &err));
    unlink(path);
    snprintf(line, sizeof line, "\r\nstage,\"norm\",,%llu,4900,%lld,",
             (unsigned long long)p.stage[1], 4900 - (long long)p.stage[1]);
    ck_assert_msg(strstr(csv, line) != NULL, "%s not in %s", line, csv);
    /* No causes of a trace that has none. */
    ck_assert(strstr(csv, "\r\nstage,\"extra\",,,7000,,,,,,,,,,,\r\n") != NULL);
    compare_free(&c);
    arena_destroy(a);
    for (int i = 0; i < 2; i++) {
        view_free(&v[i]);
        tl_free(&tl[i]);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("compare");
    TCase *tc = tcase_create("compare");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_add_loop_test(tc, every_number_is_what_was_put_in, 0, 5);
    tcase_add_test(tc, stages_find_each_other);
    tcase_add_test(tc, recorded_times_of_stages_only);
    suite_add_tcase(s, tc);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
