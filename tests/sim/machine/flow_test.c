/* What a flow asks of the interface and of each bank, against plain integer
 * arithmetic: for small and for great numbers, and for each number of banks.
 * What a set says of its resources against its flows, and queues that were
 * reckoned before against all of them reckoned anew. */
#include "sim/machine/flow.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 400, ACTORS = 12, BANKS = 8 };

#define ONE (UINT64_C(1) << FLOW_Q)

static uint64_t state = 1;

static uint64_t draw(void)
{
    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 20;
}

/* Of up to so many bits, each length as often. */
static uint64_t draw_bits(uint32_t bits)
{
    return draw() & ((UINT64_C(1) << draw() % (bits + 1)) - 1);
}

static flow_need draw_need(uint32_t n_banks, uint32_t bits)
{
    flow_need n = {.bytes = draw_bits(bits), .requests = 1};

    for (uint32_t b = 0; b < n_banks; b++) {
        n.bank_busy[b] = draw() % 4 ? draw_bits(bits) : 0;
        n.banks |= (uint32_t)(n.bank_busy[b] != 0) << b;
    }
    /* busy * blocking is an integer of 64 bits. */
    n.requests += draw_bits(bits > 32 ? 20 : 22);
    n.blocking = draw() % (n.requests + 1);
    return n;
}

static uint64_t greatest(const flow_need *n, uint32_t n_banks, uint64_t work)
{
    for (uint32_t b = 0; b < n_banks; b++)
        work = n->bank_busy[b] > work ? n->bank_busy[b] : work;
    return n->bytes / 4 + 1 > work ? n->bytes / 4 + 1 : work;
}

static uint64_t rate(uint64_t amount, uint64_t work)
{
    return (amount * ONE + work - 1) / work;
}

static void expect_shares(uint32_t n_banks, uint32_t bits)
{
    static flow_set s;
    flow_need n = draw_need(n_banks, bits);
    /* So that neither the interface nor a bank makes it longer. */
    uint64_t work = greatest(&n, n_banks, draw_bits(bits) + 1), most = 0;

    flow_init(&s, 4 * ONE, n_banks);
    flow_start(&s, 3, 10, &n, work);
    ck_assert_uint_eq(s.flows[3].length, work);
    ck_assert_uint_eq(s.flows[3].finish, 10 + work);
    ck_assert_uint_eq(s.flows[3].rate[FLOW_BUS], rate(n.bytes, work));
    for (uint32_t b = 0; b < n_banks; b++) {
        ck_assert_uint_eq(s.flows[3].rate[b], rate(n.bank_busy[b], work));
        most = s.flows[3].rate[b] > most ? s.flows[3].rate[b] : most;
    }
    ck_assert_int_eq(s.flows[3].counted,
                     most > ONE / 4096 || rate(n.bytes, work) > ONE / 1024);
    for (uint32_t b = 0; b < n_banks && s.flows[3].counted; b++) {
        uint64_t blocking = n.bank_busy[b] * n.blocking / n.requests;
        bool used = s.flows[3].rate[b] != 0;

        ck_assert_uint_eq(s.demand[b], rate(n.bank_busy[b], work));
        ck_assert_uint_eq(s.at_banks[b].n_all, used);
        ck_assert_double_eq(ldexp(s.at_banks[b].rate[0], FLOW_Q),
                            (double)s.flows[3].rate[b]);
        ck_assert_double_eq(ldexp(s.at_banks[b].queue[0], 11),
                            (double)(blocking * ONE / work / 2));
    }
    flow_end(&s, 3, 10 + work);
    for (uint32_t b = 0; b < n_banks; b++) {
        ck_assert_uint_eq(s.demand[b], 0);
        ck_assert_uint_eq(s.at_banks[b].n_all, 0);
        ck_assert_double_eq(s.at_banks[b].rate[0], 0);
    }
}

START_TEST(shares)
{
    for (int i = 0; i < 4000; i++)
        expect_shares((uint32_t)draw() % (MACH_MAX_BANKS + 1), i % 4   ? 24
                                                               : i % 8 ? 32
                                                                       : 43);
}
END_TEST

/* A bank asked for all of the time, by as many cycles as fit. */
START_TEST(all_of_a_bank)
{
    for (uint32_t bits = 1; bits < 43; bits++) {
        static flow_set s;
        uint64_t work = (UINT64_C(1) << bits) + (bits & 1) - 1;
        flow_need n = {
            .banks = 3, .bank_busy = {work, work - 1}, .requests = 1};

        flow_init(&s, ONE, 2);
        flow_start(&s, 0, 0, &n, 1);
        ck_assert_uint_eq(s.flows[0].length, work);
        ck_assert_uint_eq(s.flows[0].rate[0], ONE);
        ck_assert_uint_eq(s.flows[0].rate[1], rate(work - 1, work));
    }
}
END_TEST

/* Of few kinds, as the steps of one kernel are. */
static flow_need draw_alike(uint32_t kinds)
{
    uint32_t kind = (uint32_t)(draw() % kinds);
    flow_need need = {.bytes = 64 * (1 + kind % 4),
                      .dma = kind % 7 == 6,
                      .requests = 1 + kind % 5};

    need.blocking = need.dma ? 0 : kind % (need.requests + 1);

    for (uint32_t k = kind % 3 + 1; k--;) {
        uint32_t b = (uint32_t)(draw() % BANKS);

        need.banks |= UINT32_C(1) << b;
        need.bank_busy[b] = 20 + kind;
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
    for (uint32_t b = 0; b < s->n_banks; b++) {
        uint32_t users = 0;

        for (uint32_t k = 0; k < s->n_running; k++)
            users += s->flows[s->running[k]].rate[b] > 0;
        ck_assert_uint_eq(s->met >> b & 1, users > 1);
    }
}

/* The other one the long way. Where finish times are other ones it is told. */
static void share_both(flow_set *s, flow_set *anew, uint64_t now)
{
    uint64_t before[ACTORS];
    bool differ = false, told;

    memset(anew->memos, 0, sizeof anew->memos);
    anew->slowed = true;
    for (uint32_t i = 0; i < ACTORS; i++)
        before[i] = s->flows[i].finish;
    told = flow_share(s, now);
    ck_assert(flow_share(anew, now));
    for (uint32_t i = 0; i < ACTORS; i++)
        differ |= s->flows[i].finish != before[i];
    ck_assert(told || !differ);
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

    state = (uint64_t)_i * 7919 + 1;
    flow_init(s, UINT64_C(8) << FLOW_Q, BANKS);
    flow_init(anew, UINT64_C(8) << FLOW_Q, BANKS);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t i = (uint32_t)(draw() % (most < ACTORS ? most : ACTORS));
        flow_need need = draw_alike(kinds);
        uint64_t work = 60 + draw() % kinds * 10;

        now += draw() % 40;
        if (s->dirty)
            share_both(s, anew, now);
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
    Suite *suite = suite_create("flow");
    TCase *t = tcase_create("flow");
    SRunner *runner;
    int failed;

    tcase_add_test(t, shares);
    tcase_add_test(t, all_of_a_bank);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, queues_are_recalled, 0, 40);
    suite_add_tcase(suite, t);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
