/* Parts of launches: windows, their order, and one launch on several devices.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/api/api.h"

/* --- as numbers ----------------------------------------------------------- */

static const vpu_window whole = {
    .start = {2, 0, 5}, .end = {26, 7, 8}, .step = {4, 1, 3}};

static const struct {
    uint32_t start, end, step;
    const char *words; /* "": it is a part */
} rules[] = {
    /* Dimension 0, from 2 to 26 in steps of 4. */
    {2, 26, 4, ""},
    {6, 14, 4, ""},
    {22, 26, 4, ""},
    {0, 14, 4, "dimension 0 of the part starts at 0, outside of 2 to 26"},
    {26, 30, 4, "dimension 0 of the part starts at 26, outside"},
    {6, 6, 4, "dimension 0 of the part is 6 to 6"},
    {10, 6, 4, "dimension 0 of the part is 10 to 6"},
    {22, 30, 4, "dimension 0 of the part ends at 30, behind 26"},
    {6, 14, 2, "dimension 0 of the part has steps of 2, the whole window"},
    {6, 14, 0, "dimension 0 of the part has steps of 0"},
    {7, 15, 4, "dimension 0 of the part starts at 7, which is no whole"},
    {6, 16, 4, "dimension 0 of the part is 6 to 16 in steps of 4"},
};
enum { N_RULES = sizeof rules / sizeof *rules };

START_TEST(rules_of_splitting)
{
    vpu_window part = whole;

    part.start[0] = rules[_i].start;
    part.end[0] = rules[_i].end;
    part.step[0] = rules[_i].step;
    if (*rules[_i].words)
        api_fails(vpu_window_check(&whole, &part, &api_err), VPU_ERR_INVALID,
                  rules[_i].words);
    else
        api_ok(vpu_window_check(&whole, &part, &api_err));
}
END_TEST

START_TEST(parts_are_the_whole)
{
    for (uint32_t d = 0; d < 3; d++) {
        uint32_t steps = (whole.end[d] - whole.start[d]) / whole.step[d];
        vpu_window out;

        for (uint32_t parts = 1; parts <= steps; parts++) {
            uint32_t at = whole.start[d], least = UINT32_MAX, most = 0;

            for (uint32_t k = 0; k < parts; k++) {
                uint32_t n;

                api_ok(vpu_window_split(&whole, d, k, parts, &out, &api_err));
                api_ok(vpu_window_check(&whole, &out, &api_err));
                ck_assert_uint_eq(out.start[d], at);
                ck_assert_uint_eq(out.part, k);
                ck_assert_uint_eq(out.parts, parts);
                n = (out.end[d] - at) / whole.step[d];
                least = n < least ? n : least;
                most = n > most ? n : most;
                at = out.end[d];
            }
            ck_assert_uint_eq(at, whole.end[d]);
            ck_assert_uint_le(most - least, 1);
        }
        api_fails(vpu_window_split(&whole, d, 0, steps + 1, &out, &api_err),
                  VPU_ERR_INVALID, "steps, each part takes one or more");
        api_fails(vpu_window_split(&whole, d, 2, 2, &out, &api_err),
                  VPU_ERR_INVALID, "part 2 of 2");
    }
    api_fails(
        vpu_window_split(&whole, 3, 0, 1, &(vpu_window){.part = 0}, &api_err),
        VPU_ERR_INVALID, "dimension is 3");
}
END_TEST

/* From any place to the end, dimension 0 first. */
START_TEST(places_of_a_window_in_order)
{
    uint32_t list[6 * 7][3], n = 0, at[3];

    for (uint32_t y = whole.start[1]; y < whole.end[1]; y++)
        for (uint32_t x = whole.start[0]; x < whole.end[0]; x += 4) {
            list[n][0] = x;
            list[n][1] = y;
            list[n++][2] = whole.start[2];
        }
    for (uint32_t from = 0; from < n; from++) {
        memcpy(at, list[from], sizeof at);
        for (uint32_t i = from; i < n; i++) {
            ck_assert_mem_eq(at, list[i], sizeof at);
            ck_assert_uint_eq(vpu_window_next(&whole, at), i + 1 < n);
        }
        ck_assert_mem_eq(at, list[0], sizeof at);
    }
}
END_TEST

/* The last dim first, for 1 to 6 dims, with steps. */
START_TEST(places_of_a_region_in_order)
{
    static const vpu_region r = {.start = {1, 0, 2, 0, 3, 1},
                                 .end = {3, 2, 7, 1, 5, 6},
                                 .step = {0, 1, 3, 0, 1, 2}};
    uint32_t rank = (uint32_t)_i, at[VPU_MAX_RANK], wanted[VPU_MAX_RANK];
    uint32_t n = 0, all = 1;

    for (uint32_t d = 0; d < rank; d++) {
        uint32_t step = r.step[d] ? r.step[d] : 1;

        all *= (r.end[d] - r.start[d] + step - 1) / step;
    }
    memcpy(at, r.start, sizeof at);
    do {
        uint32_t i = n++;

        for (uint32_t d = rank; d--;) {
            uint32_t step = r.step[d] ? r.step[d] : 1;
            uint32_t count = (r.end[d] - r.start[d] + step - 1) / step;

            wanted[d] = r.start[d] + i % count * step;
            i /= count;
        }
        ck_assert_mem_eq(at, wanted, rank * sizeof *at);
    } while (vpu_region_next(&r, rank, at));
    ck_assert_uint_eq(n, all);
}
END_TEST

/* --- of launches ---------------------------------------------------------- */

/* What each work-item knows of where it is. */
static const char source[] =
    "__kernel void mark(__global int *out, int part, int parts)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
    "    int w = get_global_size(0), h = get_global_size(1);\n"
    "    int g = get_group_id(0) + 16 * get_group_id(1) +\n"
    "            256 * get_group_id(2);\n"
    "    int n = get_num_groups(0) + 16 * get_num_groups(1) +\n"
    "            256 * get_num_groups(2);\n"
    "    __global int *at = out + ((z * h + y) * w + x) * 4;\n"
    "    at[0] = g + 1;\n"
    "    at[1] = n;\n"
    "    at[2] = part + 1;\n"
    "    at[3] = parts;\n"
    "}\n"
    "__kernel void count(__global int *out)\n"
    "{\n"
    "    if (!get_local_id(0))\n"
    "        atomic_inc(out);\n"
    "}\n";

enum { W = 24, H = 6, D = 4, CELLS = W * H * D };

typedef struct {
    vpu_context *c;
    vpu_program *p;
    vpu_graph *g;
    vpu_operation *op;
    vpu_tensor *out;
} marking;

static void add(marking *m, const char *kernel, uint32_t n)
{
    vpu_launch_options o = VPU_LAUNCH_OPTIONS_INIT;
    const vpu_kernel *k;
    bool marks = !strcmp(kernel, "mark");

    api_ok(vpu_program_kernel(m->p, kernel, &k, &api_err));
    o.global[0] = W;
    o.global[1] = H;
    o.global[2] = D;
    o.local[0] = 4;
    o.local[1] = 2;
    o.local[2] = 1;
    o.part = marks ? "part" : NULL;
    o.parts = marks ? "parts" : NULL;
    m->out = api_tensor(m->g, "out", VPU_ROLE_OUTPUT, VPU_I32, n);
    api_ok(vpu_graph_add_kernel(m->g, k, &o, &m->op, &api_err));
    api_ok(vpu_operation_set_tensor(m->op, "out", m->out, &api_err));
}

static void open_on(marking *m, const char *kernel, uint32_t engine, uint32_t n)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;

    o.engine = engine;
    o.order = engine ? VPU_ORDER_RANDOM : 0;
    o.seed = 5;
    api_ok(vpu_context_create(&m->c, &o, &api_err));
    m->p = api_program(m->c, source);
    api_ok(vpu_graph_create(&m->g, m->c, &api_err));
    add(m, kernel, n);
    api_ok(vpu_graph_finalize(m->g, &api_err));
}

static void close_all(marking *m)
{
    vpu_graph_free(m->g);
    vpu_program_free(m->p);
    vpu_context_free(m->c);
}

static int *out_of(const marking *m)
{
    return vpu_tensor_data(m->out);
}

/* Items of the window are as they are in the whole launch, and others are as
 * they were, 0. */
static void expect_marks(const int *out, const vpu_window *w)
{
    for (uint32_t i = 0; i < CELLS; i++) {
        uint32_t at[3] = {i % W, i / W % H, i / W / H}, g, n = W / 4;
        bool in = true;

        for (int d = 0; d < 3; d++)
            in &= at[d] >= w->start[d] && at[d] < w->end[d];
        g = at[0] / 4 + 16 * (at[1] / 2) + 256 * at[2];
        n += 16 * (H / 2) + 256 * D;
        ck_assert_int_eq(out[4 * i], in ? (int)g + 1 : 0);
        ck_assert_int_eq(out[4 * i + 1], in ? (int)n : 0);
        ck_assert_int_eq(out[4 * i + 2], in ? (int)w->part + 1 : 0);
        ck_assert_int_eq(out[4 * i + 3], in ? (int)w->parts : 0);
    }
}

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

/* Engines and orders do not matter. */
START_TEST(windows_at_random)
{
    marking m;
    vpu_window all, w;

    seed = 7;
    open_on(&m, "mark", (uint32_t)_i, CELLS * 4);
    api_ok(vpu_operation_window(m.op, &all, &api_err));
    ck_assert_uint_eq(all.end[0], W);
    ck_assert_uint_eq(all.step[1], 2);
    for (int i = 0; i < (_i == VPU_ENGINE_INTERPRETED ? 4 : 30); i++) {
        w = all;
        for (uint32_t d = 0; d < 3; d++) {
            uint32_t steps = all.end[d] / all.step[d], from = below(steps);

            w.start[d] = from * all.step[d];
            w.end[d] = w.start[d] + (1 + below(steps - from)) * all.step[d];
        }
        w.parts = 1 + below(9);
        w.part = below(w.parts);
        memset(out_of(&m), 0, CELLS * 16);
        api_ok(vpu_operation_set_window(m.op, &w, &api_err));
        api_ok(vpu_graph_run(m.g, NULL, NULL, &api_err));
        expect_marks(out_of(&m), &w);
    }
    memset(out_of(&m), 0, CELLS * 16);
    api_ok(vpu_operation_set_window(m.op, NULL, &api_err));
    api_ok(vpu_graph_run(m.g, NULL, NULL, &api_err));
    expect_marks(out_of(&m), &all);
    close_all(&m);
}
END_TEST

/* A part takes time by its own work-groups. */
START_TEST(cycles_of_a_part)
{
    marking m;
    vpu_window all, half;
    vpu_result *r;
    uint64_t cycles[3];

    open_on(&m, "mark", 0, CELLS * 4);
    api_ok(vpu_operation_window(m.op, &all, &api_err));
    for (int i = 0; i < 3; i++) {
        api_ok(vpu_window_split(&all, 2, 0, 4, &half, &api_err));
        api_ok(vpu_operation_set_window(m.op, i ? &half : NULL, &api_err));
        api_ok(vpu_graph_run(m.g, NULL, &r, &api_err));
        cycles[i] = vpu_result_cycles(r);
        vpu_result_free(r);
    }
    ck_assert_uint_gt(cycles[1], 0);
    ck_assert_uint_lt(cycles[1], cycles[0]);
    ck_assert_uint_eq(cycles[1], cycles[2]);
    close_all(&m);
}
END_TEST

START_TEST(refused_windows)
{
    vpu_launch_options o = VPU_LAUNCH_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_operation *op;
    vpu_window w;
    marking m;

    open_on(&m, "mark", 0, CELLS * 4);
    api_ok(vpu_operation_window(m.op, &w, &api_err));
    w.end[1] = 5;
    api_fails(vpu_operation_set_window(m.op, &w, &api_err), VPU_ERR_INVALID,
              "dimension 1 of the part is 0 to 5");
    w.end[1] = 6;
    w.parts = w.part = 2;
    api_fails(vpu_operation_set_window(m.op, &w, &api_err), VPU_ERR_INVALID,
              "part 2 of 2");
    vpu_graph_free(m.g);
    api_ok(vpu_graph_create(&m.g, m.c, &api_err));
    api_ok(vpu_program_kernel(m.p, "mark", &k, &api_err));
    o.part = "parz";
    api_fails(vpu_graph_add_kernel(m.g, k, &o, &op, &api_err), VPU_ERR_INVALID,
              "no argument 'parz'");
    o.part = "out";
    api_fails(vpu_graph_add_kernel(m.g, k, &o, &op, &api_err), VPU_ERR_MISMATCH,
              "an int or uint");
    o.part = "part";
    api_ok(vpu_graph_add_kernel(m.g, k, &o, &op, &api_err));
    api_fails(vpu_operation_set_integer(op, "part", 1, &api_err),
              VPU_ERR_INVALID, "gets the number of the part");
    api_ok(vpu_operation_set_integer(op, "parts", 1, &api_err));
    api_ok(vpu_graph_begin(m.g, "c", &op, &api_err));
    api_fails(vpu_operation_window(op, &w, &api_err), VPU_ERR_INVALID,
              "no launch of one kernel");
    close_all(&m);
}
END_TEST

START_TEST(backends_that_run_launches_whole)
{
    vpu_context *c = api_context("null");
    api_scaling s;
    vpu_window w;

    ck_assert(!(vpu_context_capabilities(c) & VPU_CAN_RUN_PARTS));
    api_scaling_open(&s, c, 64, 2);
    api_ok(vpu_operation_window(s.operation, &w, &api_err));
    api_fails(vpu_operation_set_window(s.operation, &w, &api_err),
              VPU_ERR_UNSUPPORTED, "backend null runs launches whole");
    api_scaling_close(&s);
    vpu_context_free(c);
}
END_TEST

/* --- several devices ------------------------------------------------------ */

enum { MOST = 5, N = 960 };

/* Two operations, with a virtual tensor between them. */
static vpu_graph *chain(vpu_context *c)
{
    const vpu_value two = {"factor", 1, 0, 2};
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_tensor *x;
    vpu_operation *op;
    vpu_graph *g;

    api_ok(vpu_graph_create(&g, c, &api_err));
    x = api_tensor(g, "x", VPU_ROLE_INPUT, VPU_F32, N);
    o.inputs = &x;
    o.n_inputs = 1;
    o.values = &two;
    o.n_values = 1;
    api_ok(vpu_graph_add(g, "scale", &o, &op, &api_err));
    x = vpu_operation_output(op, 0);
    o.name = "y";
    o.values = NULL;
    o.n_values = 0;
    o.output_role = VPU_ROLE_OUTPUT;
    api_ok(vpu_graph_add(g, "relu", &o, &op, &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    return g;
}

START_TEST(split_over_devices)
{
    vpu_context *c[MOST];
    vpu_graph *g[MOST];
    vpu_result *alone, *r[MOST];
    float x[N], y[N];

    for (int i = 0; i < N; i++)
        x[i] = (float)((i * 37) % 101 - 50);
    for (int k = 0; k < MOST; k++) {
        c[k] = api_context(NULL);
        g[k] = chain(c[k]);
    }
    api_ok(vpu_tensor_write(vpu_graph_tensor_named(g[0], "x"), x, sizeof x,
                            &api_err));
    api_ok(vpu_graph_run(g[0], NULL, &alone, &api_err));
    for (size_t n = 1; n <= MOST; n++) {
        api_ok(vpu_graph_run_split(g, n, NULL, r, &api_err));
        for (size_t k = 0; k < n; k++) {
            api_ok(vpu_tensor_read(vpu_graph_tensor_named(g[k], "y"), y,
                                   sizeof y, &api_err));
            for (int i = 0; i < N; i++)
                ck_assert_float_eq(y[i], x[i] > 0 ? 2 * x[i] : 0);
            if (n == 1)
                ck_assert_uint_eq(vpu_result_cycles(r[k]),
                                  vpu_result_cycles(alone));
            else
                ck_assert_uint_lt(vpu_result_cycles(r[k]),
                                  vpu_result_cycles(alone));
            ck_assert_ptr_nonnull(vpu_result_json(r[k]));
            vpu_result_free(r[k]);
        }
    }
    vpu_result_free(alone);
    for (int k = 0; k < MOST; k++) {
        vpu_graph_free(g[k]);
        vpu_context_free(c[k]);
    }
}
END_TEST

/* More devices than work-groups, and every dimension. */
START_TEST(split_along_each_dimension)
{
    vpu_split_options o = VPU_SPLIT_OPTIONS_INIT;
    marking m[MOST];
    vpu_graph *g[MOST];

    for (int k = 0; k < MOST; k++) {
        open_on(&m[k], "mark", 0, CELLS * 4);
        g[k] = m[k].g;
    }
    for (o.dimension = 1; o.dimension <= 3; o.dimension++) {
        static const uint32_t groups[] = {W / 4, H / 2, D};
        uint32_t n = groups[o.dimension - 1];

        memset(out_of(&m[0]), 0, CELLS * 16);
        api_ok(vpu_graph_run_split(g, MOST, &o, NULL, &api_err));
        for (uint32_t i = 0; i < CELLS; i++) {
            uint32_t at[3] = {i % W / 4, i / W % H / 2, i / W / H};
            const int *out = out_of(&m[MOST - 1]) + 4 * i;
            uint32_t parts = n < MOST ? n : MOST;

            ck_assert_int_eq(out[3], (int)parts);
            /* Part k has groups n k / parts to n (k + 1) / parts. */
            ck_assert_uint_le(n * ((uint32_t)out[2] - 1) / parts,
                              at[o.dimension - 1]);
            ck_assert_uint_gt(n * (uint32_t)out[2] / parts,
                              at[o.dimension - 1]);
        }
    }
    for (int k = 0; k < MOST; k++)
        close_all(&m[k]);
}
END_TEST

/* Whose value would depend on the order of the parts. */
START_TEST(parts_that_write_the_same_element)
{
    marking m[2];
    vpu_graph *g[2];
    vpu_result *r[2];

    for (int k = 0; k < 2; k++) {
        open_on(&m[k], "count", 0, 4);
        g[k] = m[k].g;
    }
    api_fails(vpu_graph_run_split(g, 2, NULL, r, &api_err), VPU_ERR_UNSUPPORTED,
              "count cannot be split: part 1 and one before it both wrote "
              "element 0 of out");
    ck_assert_ptr_null(r[0]);
    ck_assert_ptr_null(r[1]);
    for (int k = 0; k < 2; k++)
        close_all(&m[k]);
}
END_TEST

START_TEST(graphs_that_cannot_run_as_one)
{
    vpu_context *c = api_context(NULL), *null = api_context("null");
    vpu_graph *g[2] = {chain(c), NULL};
    vpu_split_options o = VPU_SPLIT_OPTIONS_INIT;
    vpu_operation *op;
    marking m;
    vpu_window w;

    api_fails(vpu_graph_run_split(g, 0, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "no graph");
    api_fails(vpu_graph_run_split(g, 2, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "a graph is NULL");
    g[1] = g[0];
    api_fails(vpu_graph_run_split(g, 2, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "graphs 0 and 1 are one");
    api_fails(vpu_graph_run_split(g, 1, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "input x was never written");
    o.dimension = 4;
    api_fails(vpu_graph_run_split(g, 1, &o, NULL, &api_err), VPU_ERR_INVALID,
              "dimension is 4");
    open_on(&m, "mark", 0, CELLS * 4);
    g[1] = m.g;
    api_fails(vpu_graph_run_split(g, 2, NULL, NULL, &api_err), VPU_ERR_MISMATCH,
              "graph 1 differs from graph 0");
    api_ok(vpu_operation_window(m.op, &w, &api_err));
    api_ok(vpu_operation_set_window(m.op, &w, &api_err));
    api_fails(vpu_graph_run_split(&g[1], 1, NULL, NULL, &api_err),
              VPU_ERR_INVALID, "mark of graph 0 has a window of its own");
    g[1] = chain(null);
    api_fails(vpu_graph_run_split(&g[1], 1, NULL, NULL, &api_err),
              VPU_ERR_UNSUPPORTED, "backend null runs launches whole");
    (void)op;
    vpu_graph_free(g[0]);
    vpu_graph_free(g[1]);
    close_all(&m);
    vpu_context_free(c);
    vpu_context_free(null);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("windows");
    Suite *suite = suite_create("library: parts of launches");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, rules_of_splitting, 0, N_RULES);
    tcase_add_test(t, parts_are_the_whole);
    tcase_add_test(t, places_of_a_window_in_order);
    tcase_add_loop_test(t, places_of_a_region_in_order, 1, VPU_MAX_RANK + 1);
    tcase_add_loop_test(t, windows_at_random, 0, VPU_ENGINE_INTERPRETED + 1);
    tcase_add_test(t, cycles_of_a_part);
    tcase_add_test(t, refused_windows);
    tcase_add_test(t, backends_that_run_launches_whole);
    tcase_add_test(t, split_over_devices);
    tcase_add_test(t, split_along_each_dimension);
    tcase_add_test(t, parts_that_write_the_same_element);
    tcase_add_test(t, graphs_that_cannot_run_as_one);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
