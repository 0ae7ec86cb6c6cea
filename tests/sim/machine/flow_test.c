/* Drawn flows: those whose queues were reckoned before against all of them
 * reckoned anew, and what a set says of its resources against its flows. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/flow.h"

enum { ROUNDS = 1000, ACTORS = 12, BANKS = 8 };

static uint32_t state;

static uint32_t draw(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * n >> 32);
}

/* Of few kinds, as the steps of one kernel are. */
static flow_need draw_need(uint32_t kinds)
{
    uint32_t kind = draw(kinds);
    flow_need need = {.bytes = 64 * (1 + kind % 4), .dma = kind % 7 == 6};

    for (uint32_t k = kind % 3 + 1; k--;) {
        uint32_t b = draw(BANKS);

        need.banks |= UINT32_C(1) << b;
        need.bank_busy[b] = 20 + kind;
        need.blocking[b] = need.dma ? 0 : (20 + kind) / (k + 1);
    }
    return need;
}

static void assert_sums(const flow_set *s)
{
    uint64_t queues = (UINT64_C(1) << FLOW_Q) / 16;

    for (uint32_t r = 0; r < FLOW_N_RESOURCES; r++) {
        uint64_t sum = 0;

        for (uint32_t k = 0; k < s->n_running; k++)
            sum += s->flows[s->running[k]].rate[r];
        ck_assert_uint_eq(s->demand[r], sum);
        ck_assert_uint_eq(s->over >> r & 1, sum > s->capacity[r]);
        ck_assert_uint_eq(s->queued >> r & 1, r != FLOW_BUS && sum > queues);
    }
}

static void assert_same(const flow_set *a, const flow_set *b)
{
    ck_assert_uint_eq(a->dirty, b->dirty);
    ck_assert_uint_eq(a->due, b->due);
    ck_assert_uint_eq(a->bank_lost, b->bank_lost);
    for (uint32_t i = 0; i < ACTORS; i++) {
        ck_assert_uint_eq(a->flows[i].speed, b->flows[i].speed);
        ck_assert_uint_eq(a->flows[i].finish, b->flows[i].finish);
        ck_assert_uint_eq(a->flows[i].lost, b->flows[i].lost);
    }
}

START_TEST(queues_are_recalled)
{
    flow_set *s = malloc(sizeof *s), *anew = malloc(sizeof *anew);
    bool runs[ACTORS] = {false};
    uint32_t kinds = 1 + (uint32_t)_i % 9, most = 2 + (uint32_t)_i % ACTORS;
    uint64_t now = 0;

    state = (uint32_t)_i * 7919 + 1;
    flow_init(s, UINT64_C(8) << FLOW_Q, BANKS);
    flow_init(anew, UINT64_C(8) << FLOW_Q, BANKS);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t i = draw(most < ACTORS ? most : ACTORS);
        flow_need need = draw_need(kinds);
        uint64_t work = 60 + draw(kinds) * 10;

        now += draw(40);
        if (s->dirty) {
            memset(anew->memos, 0, sizeof anew->memos);
            flow_share(s, now);
            flow_share(anew, now);
        }
        if (runs[i]) {
            flow_end(s, i, now);
            flow_end(anew, i, now);
        } else {
            flow_start(s, i, now, &need, work);
            flow_start(anew, i, now, &need, work);
        }
        runs[i] = !runs[i];
        assert_sums(s);
        assert_same(s, anew);
    }
    free(s);
    free(anew);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("flow");
    TCase *c = tcase_create("flow");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, queues_are_recalled, 0, 40);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
