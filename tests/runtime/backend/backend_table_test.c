/* The table of backends: finding them, what they say of themselves, null and
 * the simulator through it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/backend/backend_rig.h"

static backend_rig r;

static void setup(void)
{
    layer_init(&r);
}

static void teardown(void)
{
    layer_fini(&r);
}

START_TEST(finds_by_name)
{
    const backend_ops *ops;
    const char *device;

    ck_assert(!backend_find("sim", &ops, &device, &r.err));
    ck_assert_str_eq(ops->name, "sim");
    ck_assert_str_eq(device, "");
    ck_assert(!backend_find("null:a:b", &ops, &device, &r.err));
    ck_assert_str_eq(ops->name, "null");
    ck_assert_str_eq(device, "a:b");
    ck_assert_int_eq(backend_find("si", &ops, &device, &r.err),
                     VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(r.err.msg, "'si'"));
    ck_assert_ptr_nonnull(strstr(r.err.msg, "null, sim"));
    ck_assert_int_eq(backend_find("", &ops, &device, &r.err), VPU_ERR_INVALID);
}
END_TEST

/* Every backend lists something; what is not usable has a reason, and what is
 * is found again by its id. */
START_TEST(probes_are_complete)
{
    for (int i = 0; backend_all[i]; i++) {
        backend_device *list;
        uint32_t n;

        ck_assert(!backend_all[i]->probe(r.arena, &list, &n, &r.err));
        ck_assert_uint_gt(n, 0);
        for (uint32_t k = 0; k < n; k++) {
            const backend_ops *ops;
            const char *device;

            ck_assert(!backend_find(list[k].id, &ops, &device, &r.err));
            ck_assert_ptr_eq(ops, backend_all[i]);
            ck_assert(list[k].usable ? list[k].name != NULL
                                     : list[k].why != NULL);
        }
    }
}
END_TEST

#define MVN "kernels/mvn/layer.xml", "MVN", "in0=1x3x5x8", "eps=0.001"

START_TEST(null_gives_zeros)
{
    unsigned char *out;
    uint64_t n;

    layer_bind(&r, MVN);
    ck_assert(!layer_open(&r, "null"));
    ck_assert(!layer_run(&r, "random:1", NULL));
    out = layer_read(&r, "out0", &n);
    ck_assert_uint_eq(n, 1 * 3 * 5 * 8 * 2);
    for (uint64_t i = 0; i < n; i++)
        ck_assert_uint_eq(out[i], 0);
    /* What was written is there. */
    out = layer_read(&r, "in0", &n);
    ck_assert(memcmp(out, (unsigned char[16]){0}, 16) != 0);
}
END_TEST

START_TEST(device_part_is_refused)
{
    layer_bind(&r, MVN);
    ck_assert_int_eq(layer_open(&r, "null:x"), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(r.err.msg, "'x'"));
    ck_assert_int_eq(layer_open(&r, "sim:0"), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(r.err.msg, "'0'"));
}
END_TEST

/* Through the table as through its own interface: bytes and cycles; launch by
 * launch as all at once, with what is in between to be read. */
START_TEST(sim_is_the_simulator)
{
    mach_desc desc;
    backend_config cfg = {.device = "", .desc = &desc};
    backend direct;
    backend_result all[2], one[2];
    unsigned char *out, *again, *stats;
    uint64_t n, n_stats;

    layer_bind(&r, MVN);
    ck_assert(!layer_open(&r, "sim"));
    ck_assert(r.ops->caps(r.self)->stages && r.ops->caps(r.self)->cycles);
    ck_assert(!r.ops->caps(r.self)->promoted);
    ck_assert(!layer_run(&r, "random:1", all));
    out = layer_read(&r, "out0", &n);

    ck_assert(!mach_desc_load(NULL, r.arena, &desc, &r.err));
    ck_assert(!backend_open(backend_offering(BACKEND_INSPECT), &cfg, r.graph,
                            &direct, &r.err));
    for (uint32_t i = 0; i < r.graph->n_buffers; i++)
        if (r.graph->buffers[i].role == GRAPH_INPUT)
            memcpy(backend_buffer(&direct, i), layer_read(&r, "in0", &n), n);
    ck_assert(!backend_run_all(&direct, r.graph, &r.err));
    for (uint32_t i = 0; i < r.graph->n_buffers; i++)
        if (r.graph->buffers[i].role == GRAPH_OUTPUT)
            ck_assert_mem_eq(backend_buffer(&direct, i), out, n);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t cycles = backend_launch_of(&direct, i)->exec.profile.cycles;

        ck_assert_uint_gt(cycles, 0);
        ck_assert_uint_eq(all[i].cycles, cycles);
        ck_assert_double_eq(all[i].seconds, mach_desc_seconds(&desc, cycles));
    }
    backend_close(&direct);

    ck_assert(!layer_open(&r, "sim"));
    for (uint32_t i = 0; i < r.graph->n_buffers; i++)
        if (r.graph->buffers[i].role == GRAPH_INPUT) {
            unsigned char *in = arena_array(r.arena, unsigned char, n);

            for (uint64_t k = 0; k < n; k++)
                in[k] = (unsigned char)(k * 7 % 60);
            ck_assert(!r.ops->write(r.self, i, in, &r.err));
        }
    ck_assert(!r.ops->run(r.self, 0, 1, &one[0], &r.err));
    stats = layer_read(&r, "buffer0", &n_stats);
    ck_assert(memcmp(stats, (unsigned char[16]){0}, 16) != 0);
    ck_assert(!r.ops->run(r.self, 1, 1, &one[1], &r.err));
    again = layer_read(&r, "out0", &n);
    ck_assert(memcmp(again, out, n) != 0);
    ck_assert(!layer_run(&r, "random:1", one));
    ck_assert_mem_eq(layer_read(&r, "out0", &n), out, n);
    ck_assert_uint_eq(one[0].cycles, all[0].cycles);
    ck_assert_uint_eq(one[1].cycles, all[1].cycles);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("table");
    Suite *s = suite_create("backend_table");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, finds_by_name);
    tcase_add_test(tc, probes_are_complete);
    tcase_add_test(tc, null_gives_zeros);
    tcase_add_test(tc, device_part_is_refused);
    tcase_add_test(tc, sim_is_the_simulator);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
