/* For docs/memory.md: what a plan saves on well-known networks. With the
 * argument "time": how long plans of 10,000 items take, which no page has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/pool/lifetimes.h"
#include "tests/runtime/pool/networks.h"
#include "tests/support/random.h"

/* The same as lifetimes, in the order of the steps: the sum of the blobs. */
static uint64_t sum_of_blobs(const network *net)
{
    pool_manager *m = pool_manager_create();
    pool_group *g = pool_group_create(m);
    vpu_status st = VPU_OK;
    uint64_t sum;

    for (size_t step = 0; step < net->n && !st; step++) {
        st = pool_manage(g, step, NULL);
        for (size_t i = 0; i <= step && !st; i++)
            if (net->items[i].last == step)
                st = pool_end(g, i, net->items[i].bytes, 64, NULL);
    }
    if (st || pool_finalize(g, NULL))
        exit(1);
    sum = pool_usage_of(m).peak;
    pool_manager_destroy(m);
    return sum;
}

static void print_networks(void)
{
    static network net;

    printf("| network | tensors | sum, bytes | lower bound | plan | over the "
           "bound | blobs |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < n_networks; i++) {
        arena *a = arena_create(0);
        vpu_error err;
        pool_plan plan;
        uint64_t over;

        network_make(&networks[i], &net);
        if (pool_plan_make(net.items, net.n, a, &plan, &err)) {
            fprintf(stderr, "%s: %s\n", networks[i].name, err.msg);
            exit(1);
        }
        over = (plan.peak - plan.lower_bound) * 10000 / plan.lower_bound;
        printf("| %s | %zu | %llu | %llu | %llu | %llu.%02llu %% | %llu |\n",
               networks[i].name, net.n, (unsigned long long)plan.sum,
               (unsigned long long)plan.lower_bound,
               (unsigned long long)plan.peak, (unsigned long long)over / 100,
               (unsigned long long)over % 100,
               (unsigned long long)sum_of_blobs(&net));
        arena_destroy(a);
    }
}

static void print_times(uint32_t n)
{
    static const uint32_t lives[] = {1, 4, 30, 300, 3000, 10000};
    pool_item *items = calloc(n, sizeof *items);

    for (size_t k = 0; items && k < sizeof lives / sizeof *lives; k++) {
        uint64_t state = k;
        arena *a = arena_create(0);
        pool_plan plan;
        double start;

        for (uint32_t i = 0; i < n; i++) {
            uint32_t first = random_below(&state, n);

            items[i] =
                (pool_item){.bytes = random_below(&state, 1000000),
                            .alignment = 64,
                            .first = first,
                            .last = first + random_below(&state, lives[k])};
        }
        start = clock_seconds();
        pool_plan_make(items, n, a, &plan, NULL);
        printf("%u items, lives up to %5u steps: %.3f s, %.2f %% over\n", n,
               lives[k], clock_seconds() - start,
               100.0 * (double)(plan.peak - plan.lower_bound) /
                   (double)plan.lower_bound);
        arena_destroy(a);
    }
    free(items);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "time"))
        print_times(argc > 2 ? (uint32_t)atoi(argv[2]) : 10000);
    else
        print_networks();
    return 0;
}
