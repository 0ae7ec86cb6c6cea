/* Queues of steps against a plain list of the numbers they should hold: put in
 * at the end, taken from the front, moved from one to the other, with room
 * asked for at any time. */
#include "sim/machine/steps.h"

#include <check.h>
#include <stdlib.h>

enum { ACTS = 400, MOST = 1 << 12 };

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

/* A queue, and the numbers of the steps that should be in it: a ring. */
typedef struct {
    mach_queue q;
    uint64_t ids[MOST];
    uint32_t head, n;
} listed;

static uint32_t length(const listed *l)
{
    return l->n - l->head;
}

/* (An assertion is a system call: one for all there is to say.) */
static void put(listed *l, uint64_t *id)
{
    mach_step *step = mach_queue_push(&l->q, MACH_STEP_RUN);

    if (!step || step->kind != MACH_STEP_RUN || step->issue_cycles ||
        step->misses || step->n_misses)
        ck_abort_msg("step %llu is not new", (unsigned long long)*id);
    step->id = l->ids[l->n++ % MOST] = (*id)++;
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
        to->ids[to->n++ % MOST] = from->ids[from->head++ % MOST];
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
    bool same = l->q.n - l->q.head == length(l) && l->q.n <= l->q.cap;

    for (uint32_t k = 0; same && k < length(l); k++)
        same = l->q.items[l->q.head + k].id == l->ids[(l->head + k) % MOST];
    ck_assert(same);
}

START_TEST(holds_what_was_put_in)
{
    listed *now = calloc(1, sizeof *now), *next = calloc(1, sizeof *next);
    uint32_t most = 2 + (uint32_t)_i * 13;
    uint64_t id = 1;

    state = (uint64_t)_i + 1;
    for (int act = 0; act < ACTS; act++) {
        listed *l = draw(2) ? now : next;
        bool is_full = length(now) + length(next) + most > MOST;

        switch (is_full ? 1 : draw(4)) {
        case 0:
            for (uint32_t k = draw(most); k; k--)
                put(l, &id);
            break;
        case 1:
            take(l, draw(length(l) + 1));
            break;
        case 2:
            reserve(l, draw(most), &id);
            break;
        default:
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
        if (!mach_queue_push(&q, MACH_STEP_GROUP))
            ck_abort_msg("no memory");
        if (k >= 100)
            q.head++;
    }
    ck_assert_uint_le(q.cap, 512);
    /* Also where none is left. */
    for (uint32_t k = 0; k < 100000; k++) {
        if (!mach_queue_push(&q, MACH_STEP_GROUP))
            ck_abort_msg("no memory");
        q.head = q.n;
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
