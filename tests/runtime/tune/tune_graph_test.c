/* Graphs tuned on devices of the tests' own, and keys of their launches. */
#include <check.h>
#include <stddef.h>
#include <string.h>

#include "runtime/tune/key.h"
#include "runtime/tune/tune.h"
#include "tests/runtime/backend/bound.h"

static arena *a;
static bound b;
static vpu_error err;
static atomic_bool cancel;

static const bound_request grn = {.folder = "grn",
                                  .layer = "GRN",
                                  .shapes = {"in0=1x16x24x40"},
                                  .params = {"bias=1.0"}};

static void setup(void)
{
    a = arena_create(0);
    bound_layer(a, &grn, &b);
    atomic_store(&cancel, false);
}

static void teardown(void)
{
    arena_destroy(a);
}

static vpu_status fill(void *user, const backend *open, vpu_error *e)
{
    vpu_status st = VPU_OK;

    (void)user;
    for (uint32_t i = 0; i < b.graph->n_buffers && !st; i++)
        if (b.graph->buffers[i].role == GRAPH_INPUT)
            st = open->ops->write(open->self, i, b.data[i], e);
    return st;
}

static vpu_status fill_and_cancel(void *user, const backend *open, vpu_error *e)
{
    atomic_store(&cancel, true);
    return fill(user, open, e);
}

static tune_config config(tune_mode mode)
{
    return (tune_config){.run = {.device = "", .desc = &b.desc},
                         .ops = backend_offering(BACKEND_MACHINE),
                         .mode = mode,
                         .fill = fill};
}

START_TEST(on_the_simulator)
{
    tune_config cfg = config(TUNE_EXHAUSTIVE);
    tune_report r;
    tune_file f = {.n = 0};
    const tune_row *row;

    cfg.file = &f;
    cfg.file_arena = a;
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err), VPU_OK);
    ck_assert_uint_eq(r.n_rows, 1);
    ck_assert(r.cycles);
    row = r.rows;
    /* 8 divisors of 40 and 8 of 24, without 40x24 (20x24 is 480 items). */
    ck_assert_uint_eq(row->n_candidates, 63);
    ck_assert_uint_eq(row->n_trials, 63);
    ck_assert_uint_eq(r.runs, 63);
    ck_assert_uint_eq(row->factor, 8);
    ck_assert_mem_eq(row->before.local, ((uint32_t[]){40, 1, 1}), 12);
    ck_assert_mem_eq(row->best.local, b.graph->launches[0].local, 12);
    for (size_t i = 0; i < row->n_trials; i++)
        if (row->trials[i].outcome == TUNE_RAN)
            ck_assert_uint_le(row->cost_best, row->trials[i].cost);
    ck_assert_uint_eq(f.n, 1);
    ck_assert_uint_eq(f.rows[0].cost, row->cost_best);
    ck_assert_str_eq(f.rows[0].entry, "grn");
}
END_TEST

/* The same key, and the tuned size for another binding of the same layer. */
START_TEST(a_file_is_applied)
{
    tune_config cfg = config(TUNE_EXHAUSTIVE);
    tune_report r;
    tune_file f = {.n = 0}, none = {.n = 0};
    bound other;
    uint32_t n;

    cfg.file = &f;
    cfg.file_arena = a;
    cfg.shaves_too = true;
    cfg.run.how.n_shaves = 2;
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err), VPU_OK);
    bound_layer(a, &grn, &other);
    ck_assert_int_eq(
        tune_apply(&none, cfg.ops, &cfg.run, other.graph, a, &n, &err), 0);
    ck_assert_uint_eq(n, 0);
    ck_assert_uint_eq(other.graph->launches[0].local[0], 40);
    for (int i = 0; i < 2; i++) { /* the second changes nothing */
        ck_assert_int_eq(
            tune_apply(&f, cfg.ops, &cfg.run, other.graph, a, &n, &err), 0);
        ck_assert_uint_eq(n, 1);
        ck_assert_mem_eq(other.graph->launches[0].local,
                         b.graph->launches[0].local, 12);
        ck_assert_uint_eq(other.graph->launches[0].max_shaves,
                          b.graph->launches[0].max_shaves);
    }
    /* Tuned again it is known, whatever number of SHAVEs it has now. */
    f.rows[0].choice.shaves = 1;
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err), VPU_OK);
    ck_assert_uint_eq(b.graph->launches[0].max_shaves, 1);
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err), VPU_OK);
    ck_assert(r.rows[0].known);
    ck_assert_uint_eq(r.runs, 0);
    ck_assert_uint_eq(f.n, 1);
    f.rows[0].choice.shaves = 0;
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err), VPU_OK);
    ck_assert_uint_eq(b.graph->launches[0].max_shaves, 0);
}
END_TEST

START_TEST(cancelled)
{
    tune_config cfg = config(TUNE_NORMAL);
    tune_file f = {.n = 0};
    tune_report r;

    cfg.run.how.cancel = &cancel;
    cfg.fill = fill_and_cancel;
    cfg.file = &f;
    cfg.file_arena = a;
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err), VPU_ERR_STOPPED);
    ck_assert_ptr_nonnull(strstr(err.msg, "GRN: cancelled"));
    ck_assert_mem_eq(b.graph->launches[0].local, ((uint32_t[]){40, 1, 1}), 12);
    ck_assert(!b.graph->launches[0].tuned);
    ck_assert_uint_eq(f.n, 0);
}
END_TEST

/* --- other devices -------------------------------------------------------- */

static tune_config on_canned(canned *c, tune_mode mode)
{
    tune_config cfg = config(mode);

    cfg.ops = &canned_ops;
    cfg.run.print_user = c;
    return cfg;
}

START_TEST(seconds_decide)
{
    canned *c;
    tune_config cfg;
    tune_report r;

    bound_simulate(&b);
    c = canned_new(&b, true);
    c->caps.cycles = false;
    c->caps.timed = true;
    cfg = on_canned(c, TUNE_EXHAUSTIVE);
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err), VPU_OK);
    ck_assert(!r.cycles);
    ck_assert_uint_eq(r.rows[0].cost_best, 500000000); /* ns */
    ck_assert_uint_eq(r.rows[0].n_trials, 63);
    ck_assert_uint_eq(r.rows[0].factor, 0);
    /* All are equal: its own size stays. */
    ck_assert_mem_eq(r.rows[0].best.local, ((uint32_t[]){40, 1, 1}), 12);
}
END_TEST

START_TEST(devices_that_do_not_do)
{
    canned *c = canned_new(&b, false);
    tune_config cfg = on_canned(c, TUNE_NORMAL);
    tune_report r;

    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err),
                     VPU_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.msg, "as a whole"));
    c->caps.stages = true;
    c->caps.cycles = false;
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err),
                     VPU_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.msg, "neither cycles nor a clock"));
    c->caps.cycles = true;
    c->fail_at = 0;
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err), VPU_ERR_FAULT);
    ck_assert_str_eq(err.msg, "launch 0 fails");
    cfg.shaves_too = true;
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err), VPU_ERR_INVALID);
    cfg.mode = TUNE_EXHAUSTIVE;
    ck_assert_int_eq(tune_graph(&cfg, b.graph, a, &r, &err), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "no number of SHAVEs"));
}
END_TEST

/* --- keys ----------------------------------------------------------------- */

/* Without what pads it. */
enum { KEY_BYTES = offsetof(tune_key, global) + 3 * sizeof(uint32_t) };

static tune_key key_of(const tune_config *cfg, const bound *x)
{
    tune_key k;

    ck_assert_int_eq(tune_key_of(cfg->ops, &cfg->run, x->graph,
                                 &x->graph->launches[0], a, &k, &err),
                     VPU_OK);
    return k;
}

START_TEST(what_a_key_depends_on)
{
    static const bound_request changed[] = {
        {"grn", "GRN", {"in0=1x16x24x20"}, {"bias=1.0"}, 0},
        {"grn", "GRN", {"in0=1x8x24x40"}, {"bias=1.0"}, 0},
        {"grn", "GRN", {"in0=1x16x24x40"}, {"bias=2.0"}, 0}};
    tune_config cfg = config(TUNE_NORMAL);
    const tune_key own = key_of(&cfg, &b);
    mach_desc other = b.desc;
    tune_key k;

    for (int i = 0; i < 3; i++) {
        bound x;

        bound_layer(a, &changed[i], &x);
        k = key_of(&cfg, &x);
        ck_assert_uint_eq(k.kernel, own.kernel);
        ck_assert_uint_eq(k.machine, own.machine);
        ck_assert_uint_ne(k.arguments, own.arguments);
        ck_assert_uint_eq(k.global[0], i ? 40 : 20);
    }
    b.graph->launches[0].local[0] = 8; /* what is tuned is no part of it */
    k = key_of(&cfg, &b);
    ck_assert_mem_eq(&k, &own, KEY_BYTES);
    b.graph->buffers[0].name = "another";
    cfg.run.desc = NULL; /* the default machine, as before */
    cfg.run.how.n_threads = 3;
    cfg.run.how.n_shaves = (uint32_t)b.desc.num_shaves;
    k = key_of(&cfg, &b);
    ck_assert_mem_eq(&k, &own, KEY_BYTES);
    ck_assert_int_eq(mach_desc_set(&other, a, "ddr_eff_bw=7.4", &err), VPU_OK);
    cfg.run.desc = &other;
    ck_assert_uint_ne(key_of(&cfg, &b).machine, own.machine);
    cfg = config(TUNE_NORMAL);
    cfg.run.how.n_shaves = 7;
    ck_assert_uint_ne(key_of(&cfg, &b).machine, own.machine);
    cfg = config(TUNE_NORMAL);
    cfg.ops = &canned_ops;
    ck_assert_uint_ne(key_of(&cfg, &b).machine, own.machine);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tune: graphs");
    TCase *t = tcase_create("graphs");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, on_the_simulator);
    tcase_add_test(t, a_file_is_applied);
    tcase_add_test(t, cancelled);
    tcase_add_test(t, seconds_decide);
    tcase_add_test(t, devices_that_do_not_do);
    tcase_add_test(t, what_a_key_depends_on);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
