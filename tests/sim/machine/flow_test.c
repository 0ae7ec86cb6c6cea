/* What a flow asks of the interface and of each bank, against plain integer
 * arithmetic: for small and for great numbers, and for each number of banks. */
#include "sim/machine/flow.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

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

    for (uint32_t b = 0; b < n_banks; b++)
        n.bank_busy[b] = draw() % 4 ? draw_bits(bits) : 0;
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
        flow_need n = {.bank_busy = {work, work - 1}, .requests = 1};

        flow_init(&s, ONE, 2);
        flow_start(&s, 0, 0, &n, 1);
        ck_assert_uint_eq(s.flows[0].length, work);
        ck_assert_uint_eq(s.flows[0].rate[0], ONE);
        ck_assert_uint_eq(s.flows[0].rate[1], rate(work - 1, work));
    }
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
    suite_add_tcase(suite, t);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
