/* Legal local sizes, against an enumerator that tries every number. */
#include <check.h>
#include <string.h>

#include "runtime/tune/candidates.h"

static arena *a;

static void setup(void)
{
    a = arena_create(0);
}

static void teardown(void)
{
    arena_destroy(a);
}

/* A kernel as far as its size matters. */
typedef struct {
    uint32_t global[3], own[3];
    uint32_t required[3];
    uint32_t arrays;       /* bytes of __local, multiples of 16 */
    uint32_t argument;     /* bytes of local_data */
    uint32_t item_bytes;   /* kept for each item, scalar */
    uint32_t factor_bytes; /* and for each 8 of dimension 0, vectorized; 0: the
                             kernel is not */
    uint32_t budget;
} form;

static const form forms[] = {
    {.global = {40, 24, 1}, .own = {40, 1, 1}, .budget = 102400},
    {.global = {1, 1, 1}, .own = {1, 1, 1}, .budget = 102400},
    {.global = {1024, 2, 3}, .own = {1, 2, 3}, .budget = 102400},
    {.global = {7, 600, 1}, .own = {7, 1, 1}, .budget = 102400},
    {.global = {12, 12, 12}, .own = {12, 12, 1}, .budget = 102400},
    {.global = {36, 8, 5},
     .own = {5, 3, 1},
     .budget = 102400}, /* no divisors */
    {.global = {640, 1, 1}, .own = {640, 1, 1}, .budget = 102400},
    {.global = {32, 8, 1},
     .own = {8, 8, 1},
     .required = {8, 8, 1},
     .budget = 102400},
    {.global = {32, 8, 4},
     .own = {8, 1, 1},
     .required = {0, 4, 0},
     .budget = 102400},
    {.global = {64, 16, 2},
     .own = {1, 1, 1},
     .item_bytes = 800,
     .budget = 102400}, /* 128 items */
    {.global = {64, 16, 2},
     .own = {1, 1, 1},
     .item_bytes = 800,
     .factor_bytes = 1600,
     .budget = 102400},
    {.global = {30, 4, 1},
     .own = {30, 1, 1},
     .arrays = 65536,
     .argument = 30000,
     .item_bytes = 64,
     .budget = 102400},
    {.global = {30, 4, 1},
     .own = {30, 1, 1},
     .arrays = 65536,
     .argument = 40000,
     .budget = 102400}}; /* nothing fits but its own */
enum { N_FORMS = sizeof forms / sizeof *forms };

static bool is_legal(const form *f, const uint32_t l[3])
{
    uint64_t items = 1, bytes = f->arrays + (f->argument + 15) / 16 * 16;

    for (int d = 0; d < 3; d++) {
        if (f->global[d] % l[d] || (f->required[d] && f->required[d] != l[d]))
            return false;
        items *= l[d];
    }
    if (f->factor_bytes && l[0] % 8 == 0)
        bytes += items / 8 * f->factor_bytes;
    else
        bytes += items * f->item_bytes;
    return items <= 512 && bytes <= f->budget;
}

static void make(const form *f, sim_kernel *k, sim_arg *arg, graph_launch *l,
                 graph_arg *bound)
{
    *arg = (sim_arg){.name = "row", .type = "half*", .space = SIM_ARG_LOCAL};
    *bound = (graph_arg){
        .name = "row", .kind = GRAPH_ARG_LOCAL, .bytes = f->argument};
    *k = (sim_kernel){.name = "k",
                      .args = arg,
                      .n_args = f->argument != 0,
                      .local_bytes = f->arrays};
    k->variants[SIM_SCALAR] = (sim_variant){
        .present = true, .factor = 1, .item_bytes = f->item_bytes};
    if (f->factor_bytes)
        k->variants[SIM_VECTORIZED] = (sim_variant){
            .present = true, .factor = 8, .item_bytes = f->factor_bytes};
    memcpy(k->reqd_local, f->required, sizeof k->reqd_local);
    *l = (graph_launch){.name = "l", .args = bound, .n_args = 1};
    memcpy(l->global, f->global, sizeof l->global);
    memcpy(l->local, f->own, sizeof l->local);
}

static size_t count(const tune_choice *list, size_t n, const uint32_t l[3],
                    uint32_t shaves)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += !memcmp(list[i].local, l, 3 * sizeof *l) &&
                 list[i].shaves == shaves;
    return found;
}

/* All legal ones, once each, and the launch's own in front. */
START_TEST(as_by_brute_force)
{
    const form *f = &forms[_i];
    size_t n, legal = 0;
    sim_kernel k;
    sim_arg arg;
    graph_arg bound;
    graph_launch l;
    const tune_choice *list;
    uint32_t s[3];

    make(f, &k, &arg, &l, &bound);
    list = tune_candidates(
        &(tune_space){.launch = &l, .kernel = &k, .local_bytes = f->budget}, a,
        &n);
    ck_assert_mem_eq(list[0].local, f->own, sizeof f->own);
    for (s[2] = 1; s[2] <= f->global[2]; s[2]++)
        for (s[1] = 1; s[1] <= f->global[1]; s[1]++)
            for (s[0] = 1; s[0] <= f->global[0]; s[0]++)
                if (is_legal(f, s)) {
                    ck_assert_uint_eq(count(list, n, s, 0), 1);
                    legal++;
                }
    ck_assert_uint_eq(n, legal + !is_legal(f, f->own));
    if (f->required[0])
        ck_assert_uint_eq(n, 1);
}
END_TEST

START_TEST(each_number_of_shaves)
{
    const form *f = &forms[4];
    size_t n, alone;
    sim_kernel k;
    sim_arg arg;
    graph_arg bound;
    graph_launch l;
    tune_space space = {.launch = &l, .kernel = &k, .local_bytes = f->budget};
    const tune_choice *list;

    make(f, &k, &arg, &l, &bound);
    tune_candidates(&space, a, &alone);
    space.max_shaves = 5;
    list = tune_candidates(&space, a, &n);
    ck_assert_uint_eq(n, 5 * alone);
    for (uint32_t s = 0; s < 5; s++)
        ck_assert_uint_eq(count(list, n, (uint32_t[]){6, 4, 1}, s), 1);
    space.max_shaves = 0;
    space.kernel = NULL; /* of a device that says nothing */
    tune_candidates(&space, a, &n);
    ck_assert_uint_eq(n, alone);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tune: legal sizes");
    TCase *t = tcase_create("candidates");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, as_by_brute_force, 0, N_FORMS);
    tcase_add_test(t, each_number_of_shaves);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
