/* Queues of steps against a plain list of the numbers they should hold: put in
 * at the end, taken from the front, moved from one to the other, with room
 * asked for at any time. */
#include "sim/machine/steps.h"

#include <check.h>
#include <stdlib.h>

enum { ACTS = 600, MOST = 1 << 16 };

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

/* A queue, and the numbers of the steps that should be in it. */
typedef struct {
    mach_queue q;
    uint64_t ids[MOST];
    uint32_t head, n;
} listed;

static void put(listed *l, uint64_t *id)
{
    mach_step *step = mach_queue_push(&l->q, MACH_STEP_RUN);

    ck_assert_ptr_nonnull(step);
    ck_assert_int_eq(step->kind, MACH_STEP_RUN);
    ck_assert_uint_eq(step->issue_cycles, 0);
    ck_assert_ptr_null(step->misses);
    step->id = l->ids[l->n++] = (*id)++;
}

static void take(listed *l, uint32_t n)
{
    l->q.head += n;
    l->head += n;
}

static void append(listed *to, listed *from)
{
    ck_assert(mach_queue_append(&to->q, &from->q));
    while (from->head < from->n)
        to->ids[to->n++] = from->ids[from->head++];
}

/* What is put in behind it stays where the queue is now. */
static void reserve(listed *l, uint32_t more, uint64_t *id)
{
    const mach_step *items;

    ck_assert(mach_queue_reserve(&l->q, more));
    items = l->q.items;
    for (uint32_t k = 0; k < more; k++)
        put(l, id);
    ck_assert_ptr_eq(l->q.items, items);
}

static void expect(const listed *l)
{
    ck_assert_uint_eq(l->q.n - l->q.head, l->n - l->head);
    ck_assert_uint_le(l->q.n, l->q.cap);
    for (uint32_t k = l->head; k < l->n; k++)
        ck_assert_uint_eq(l->q.items[l->q.head + k - l->head].id, l->ids[k]);
}

START_TEST(holds_what_was_put_in)
{
    listed *now = calloc(1, sizeof *now), *next = calloc(1, sizeof *next);
    uint32_t most = 2 + (uint32_t)_i * 13;
    uint64_t id = 1;

    state = (uint64_t)_i + 1;
    for (int act = 0; act < ACTS && now->n + most < MOST; act++) {
        listed *l = draw(2) ? now : next;

        switch (draw(4)) {
        case 0:
            for (uint32_t k = draw(most); k; k--)
                put(l, &id);
            break;
        case 1:
            take(l, draw(l->n - l->head + 1));
            break;
        case 2:
            reserve(l, draw(most), &id);
            break;
        default:
            if (next->n + most >= MOST - now->n)
                break;
            append(now, next);
        }
        expect(now);
        expect(next);
    }
    mach_queue_free(&now->q);
    mach_queue_free(&next->q);
    free(now);
    free(next);
}
END_TEST

/* As long as as many steps leave as come, the queue stays as long as it is. */
START_TEST(stays_short)
{
    mach_queue q = {0};

    for (uint32_t k = 0; k < 100000; k++) {
        ck_assert_ptr_nonnull(mach_queue_push(&q, MACH_STEP_GROUP));
        if (k >= 100)
            q.head++;
    }
    ck_assert_uint_le(q.cap, 512);
    mach_queue_free(&q);
}
END_TEST

START_TEST(more_than_there_can_be)
{
    mach_queue q = {0};

    mach_queue_push(&q, MACH_STEP_RUN)->id = 7;
    ck_assert(!mach_queue_reserve(&q, UINT32_MAX));
    ck_assert_uint_eq(q.n, 1);
    ck_assert_uint_eq(q.items[0].id, 7);
    mach_queue_free(&q);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue");
    TCase *t = tcase_create("queue");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(t, holds_what_was_put_in, 0, 40);
    tcase_add_test(t, stays_short);
    tcase_add_test(t, more_than_there_can_be);
    suite_add_tcase(suite, t);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
