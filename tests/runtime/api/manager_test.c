/* Memory that callers share out: lifetimes, blobs, sets for several runs. */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/api/api.h"

static vpu_memory_manager *m;
static vpu_memory_group *g;

static void setup(void)
{
    api_ok(vpu_memory_manager_create(&m, &api_err));
    api_ok(vpu_memory_group_create(&g, m, &api_err));
}

static void teardown(void)
{
    vpu_memory_manager_free(m);
}

enum { A, B, C };

static void manage(uint64_t key)
{
    api_ok(vpu_memory_group_manage(g, key, &api_err));
}

static void end(uint64_t key, uint64_t bytes, uint64_t alignment)
{
    api_ok(vpu_memory_group_end(g, key, bytes, alignment, &api_err));
}

/* a and b live at the same time, c begins when a has ended. */
static void three_buffers(void)
{
    manage(A);
    manage(B);
    end(A, 12, 8);
    manage(C);
    end(B, 128, 16);
    end(C, 32, 0);
    api_ok(vpu_memory_group_finalize(g, &api_err));
}

static void expect_blob(size_t i, uint64_t bytes, uint64_t alignment,
                        size_t owners)
{
    vpu_blob of_group, of_all;

    api_ok(vpu_memory_group_blob(g, i, &of_group, &api_err));
    api_ok(vpu_memory_manager_blob(m, i, &of_all, &api_err));
    ck_assert_uint_eq(of_group.bytes, bytes);
    ck_assert_uint_eq(of_group.alignment, alignment);
    ck_assert_uint_eq(of_group.owners, owners);
    ck_assert_uint_eq(of_all.bytes, bytes);
}

START_TEST(lifetimes_registered_in_a_group)
{
    vpu_memory_use use = VPU_MEMORY_USE_INIT;
    vpu_blob blob;

    three_buffers();
    ck_assert_uint_eq(vpu_memory_group_blob_count(g), 2);
    ck_assert_uint_eq(vpu_memory_manager_blob_count(m), 2);
    expect_blob(0, 128, 16, 1);
    expect_blob(1, 32, 8, 2);
    ck_assert_uint_eq(vpu_memory_group_mapping_count(g), 3);
    api_ok(vpu_memory_manager_use(m, &use, &api_err));
    ck_assert_uint_eq(use.apart, 12 + 128 + 32);
    ck_assert_uint_eq(use.planned, 128 + 32);
    api_fails(vpu_memory_group_blob(g, 2, &blob, &api_err), VPU_ERR_INVALID,
              "blob 2: there are 2");
}
END_TEST

START_TEST(a_group_that_is_released)
{
    three_buffers();
    api_ok(vpu_memory_group_release(g, &api_err));
    ck_assert_uint_eq(vpu_memory_group_mapping_count(g), 0);
    ck_assert_uint_eq(vpu_memory_manager_blob_count(m), 0);
    three_buffers(); /* the keys are free again */
    ck_assert_uint_eq(vpu_memory_group_mapping_count(g), 3);
}
END_TEST

START_TEST(calls_that_do_not_fit)
{
    vpu_blob blob;
    uint32_t set;
    void *p;

    manage(A);
    api_fails(vpu_memory_group_manage(g, A, &api_err), VPU_ERR_INVALID, "");
    api_fails(vpu_memory_group_end(g, B, 1, 0, &api_err), VPU_ERR_INVALID, "");
    api_fails(vpu_memory_group_end(g, A, 1, 3, &api_err), VPU_ERR_INVALID, "");
    api_fails(vpu_memory_group_finalize(g, &api_err), VPU_ERR_INVALID, "");
    api_fails(vpu_memory_manager_acquire(m, 0, &set, &api_err), VPU_ERR_INVALID,
              "");
    api_fails(vpu_memory_group_address(g, A, 0, &p, &api_err), VPU_ERR_INVALID,
              "");
    api_fails(vpu_memory_group_blob(NULL, 0, &blob, &api_err), VPU_ERR_INVALID,
              "group is NULL");
    api_fails(vpu_memory_group_blob(g, 0, &blob, &api_err), VPU_ERR_INVALID,
              "blob 0: there are 0");
    api_fails(vpu_memory_manager_blob(m, 0, &blob, &api_err), VPU_ERR_INVALID,
              "blob 0: there are 0");
    api_fails(vpu_memory_manager_populate(m, 1, &(vpu_allocator){0}, &api_err),
              VPU_ERR_INVALID, "lacks one of its two functions");
    ck_assert_uint_eq(vpu_memory_manager_set_count(NULL), 0);
}
END_TEST

START_TEST(sizes_of_more_than_64_bits)
{
    manage(A);
    manage(B);
    end(A, UINT64_MAX - 8, 0);
    api_fails(vpu_memory_group_end(g, B, 9, 0, &api_err), VPU_ERR_LIMIT,
              "do not fit 64 bits");
    end(B, 8, 0); /* B lives on */
    api_ok(vpu_memory_group_finalize(g, &api_err));
    api_fails(vpu_memory_manager_populate(m, 1, NULL, &api_err), VPU_ERR_NOMEM,
              "no memory");
    ck_assert_uint_eq(vpu_memory_manager_set_count(m), 0);
}
END_TEST

/* --- an allocator of the caller's ----------------------------------------- */

typedef struct {
    int taken, given, most;
    uint64_t bytes;
} counting;

static void *count_take(void *user, uint64_t bytes, uint64_t alignment)
{
    counting *x = user;

    if (x->taken == x->most)
        return NULL;
    x->taken++;
    x->bytes += bytes;
    return aligned_alloc(alignment < 64 ? 64 : alignment,
                         (bytes + 63) / 64 * 64);
}

static void count_give(void *user, void *p, uint64_t bytes)
{
    counting *x = user;

    x->given++;
    x->bytes -= bytes;
    free(p);
}

START_TEST(every_byte_goes_through_the_allocator)
{
    counting x = {.most = 3};
    const vpu_allocator own = {count_take, count_give, &x};

    three_buffers();
    api_fails(vpu_memory_manager_populate(m, 2, &own, &api_err), VPU_ERR_NOMEM,
              "");
    ck_assert_int_eq(x.given, 3); /* what there was is given back */
    ck_assert_uint_eq(vpu_memory_manager_set_count(m), 0);
    x = (counting){.most = 100};
    api_ok(vpu_memory_manager_populate(m, 5, &own, &api_err));
    ck_assert_int_eq(x.taken, 10);
    ck_assert_uint_eq(x.bytes, 5 * (128 + 32));
    ck_assert_uint_eq(vpu_memory_manager_set_count(m), 5);
    api_fails(vpu_memory_group_release(g, &api_err), VPU_ERR_INVALID, "");
    api_ok(vpu_memory_manager_clear(m, &api_err));
    ck_assert_int_eq(x.given, 10);
    ck_assert_uint_eq(x.bytes, 0);
    ck_assert_uint_eq(vpu_memory_manager_set_count(m), 0);
}
END_TEST

/* --- several runs at the same time ---------------------------------------- */

enum { SETS = 3, THREADS = 8, RUNS = 40 };

/* Buffers that live together are apart, and a set is one thread's. */
static void *run(void *user)
{
    uint8_t own = (uint8_t)(1 + *(int *)user);
    vpu_error err;

    for (int i = 0; i < RUNS; i++) {
        uint32_t set;
        void *a, *b, *c;

        ck_assert_int_eq(vpu_memory_manager_acquire(m, 1, &set, &err), VPU_OK);
        ck_assert_int_eq(vpu_memory_group_address(g, A, set, &a, &err), VPU_OK);
        ck_assert_int_eq(vpu_memory_group_address(g, B, set, &b, &err), VPU_OK);
        ck_assert_int_eq(vpu_memory_group_address(g, C, set, &c, &err), VPU_OK);
        ck_assert_ptr_eq(a, c);
        ck_assert_uint_eq((uintptr_t)b % 16, 0);
        memset(a, own, 12);
        memset(b, -own, 128);
        for (int k = 0; k < 12; k++)
            ck_assert_uint_eq(((uint8_t *)a)[k], own);
        memset(c, own, 32);
        for (int k = 0; k < 128; k++)
            ck_assert_uint_eq(((uint8_t *)b)[k], (uint8_t)-own);
        ck_assert_int_eq(vpu_memory_manager_give_back(m, set, &err), VPU_OK);
    }
    return NULL;
}

START_TEST(sets_for_several_runs)
{
    pthread_t id[THREADS];
    int number[THREADS];
    uint32_t set[SETS + 1];

    three_buffers();
    api_ok(vpu_memory_manager_populate(m, SETS, NULL, &api_err));
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        ck_assert_int_eq(pthread_create(&id[i], NULL, run, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    for (int i = 0; i < SETS; i++)
        api_ok(vpu_memory_manager_acquire(m, 0, &set[i], &api_err));
    api_fails(vpu_memory_manager_acquire(m, 0, &set[SETS], &api_err),
              VPU_ERR_LIMIT, "");
    api_fails(vpu_memory_manager_clear(m, &api_err), VPU_ERR_INVALID, "");
    for (int i = 0; i < SETS; i++)
        api_ok(vpu_memory_manager_give_back(m, set[i], &api_err));
    api_fails(vpu_memory_manager_give_back(m, 0, &api_err), VPU_ERR_INVALID,
              "");
    api_ok(vpu_memory_manager_clear(m, &api_err));
}
END_TEST

/* Buffers that the manager shares out are a graph's tensors. */
START_TEST(memory_of_the_manager_in_a_graph)
{
    vpu_context *c = api_context(NULL);
    api_scaling s;
    uint32_t set;
    void *x, *y;

    manage(A);
    manage(B);
    end(A, 256, 1024);
    end(B, 256, 64);
    api_ok(vpu_memory_group_finalize(g, &api_err));
    api_ok(vpu_memory_manager_populate(m, 1, NULL, &api_err));
    api_ok(vpu_memory_manager_acquire(m, 0, &set, &api_err));
    api_ok(vpu_memory_group_address(g, A, set, &x, &api_err));
    api_ok(vpu_memory_group_address(g, B, set, &y, &api_err));
    ck_assert_uint_eq((uintptr_t)x % 1024, 0);
    api_scaling_open(&s, c, 64, 3);
    api_ok(vpu_tensor_import(s.x, x, 256, &api_err));
    api_ok(vpu_tensor_import(s.y, y, 256, &api_err));
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    for (int i = 0; i < 64; i++)
        ((float *)x)[i] = (float)i;
    api_ok(vpu_graph_run(s.graph, NULL, NULL, &api_err));
    for (int i = 0; i < 64; i++)
        ck_assert_float_eq(((float *)y)[i], 3 * (float)i);
    api_scaling_close(&s);
    api_ok(vpu_memory_manager_give_back(m, set, &api_err));
    vpu_context_free(c);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("manager");
    Suite *suite = suite_create("library: memory that callers share out");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, lifetimes_registered_in_a_group);
    tcase_add_test(t, a_group_that_is_released);
    tcase_add_test(t, calls_that_do_not_fit);
    tcase_add_test(t, sizes_of_more_than_64_bits);
    tcase_add_test(t, every_byte_goes_through_the_allocator);
    tcase_add_test(t, sets_for_several_runs);
    tcase_add_test(t, memory_of_the_manager_in_a_graph);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
