/* Steps of a SHAVE that wait for the engine. */
#include "sim/machine/steps.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_STEPS = 256 };

/* Another place for what is in the queue; steps that have gone are not copied,
 * as realloc would. What is in front of an empty queue stays free. */
static bool move_queue(mach_queue *q, uint64_t cap)
{
    uint32_t n = q->n - q->head, head = n ? 0 : q->head;
    mach_step *items = cap <= UINT32_MAX ? malloc(cap * sizeof *items) : NULL;

    if (!items)
        return false;
    if (n)
        memcpy(items, q->items + q->head, n * sizeof *items);
    free(q->items);
    *q = (mach_queue){.items = items,
                      .n = head + n,
                      .cap = (uint32_t)cap,
                      .head = head,
                      .ended = q->ended};
    return true;
}

bool mach_queue_reserve(mach_queue *q, uint32_t more)
{
    uint32_t n = q->n - q->head;
    uint64_t least = (uint64_t)(n ? n : q->head) + more;
    uint64_t cap = q->cap ? q->cap : FIRST_STEPS;

    if (q->cap - q->n >= more)
        return true;
    if (q->head && q->head >= q->cap / 2 && q->cap - n >= more) {
        if (n)
            memmove(q->items, q->items + q->head, n * sizeof *q->items);
        q->n = n;
        q->head = 0;
        return true;
    }
    while (cap < least || cap == q->cap)
        cap *= 2;
    return move_queue(q, cap);
}

mach_step *mach_queue_push(mach_queue *q, mach_step_kind kind)
{
    mach_step *step;

    if (q->n == q->cap && !mach_queue_reserve(q, 1))
        return NULL;
    step = &q->items[q->n++];
    if (kind == MACH_STEP_RUN || kind == MACH_STEP_DMA)
        *step = (mach_step){.kind = kind};
    else /* all of the rest is long */
        memset(step, 0, offsetof(mach_step, detail));
    step->kind = kind;
    return step;
}

bool mach_queue_push_like(mach_queue *q, uint64_t id, const mach_step *run)
{
    mach_step *group = mach_queue_push(q, MACH_STEP_GROUP);

    if (!group)
        return false;
    group->id = id;
    group->like = run;
    return true;
}

static mach_step *last_group(const mach_queue *q)
{
    mach_step *last = &q->items[q->n - 1];

    return last->like ? last : last - 1;
}

bool mach_queue_join(mach_queue *q, uint64_t id)
{
    mach_step *group = last_group(q);
    uint64_t distance = group->more ? group->detail.distance : id - group->id;

    if (id - group->id != distance * (group->more + UINT64_C(1)) ||
        group->more == UINT32_MAX)
        return false;
    group->detail.distance = distance;
    group->more++;
    return true;
}

bool mach_queue_join_more(mach_queue *q, uint32_t n)
{
    mach_step *group = last_group(q);

    if (n > UINT32_MAX - group->more)
        return false;
    group->more += n;
    return true;
}

bool mach_queue_part(mach_queue *q, uint32_t at)
{
    uint64_t more = q->items[at].more;
    uint64_t distance = more ? q->items[at].detail.distance : 0;
    uint32_t here = mach_queue_items_of(q, at);
    const mach_step run = *mach_queue_run_of(q, at);
    uint64_t n = q->n - here + 2 * (more + 1);
    mach_step *items = q->items;

    if (n > UINT32_MAX)
        return false;
    if (n > q->cap && !(items = realloc(items, n * sizeof *items)))
        return false;
    q->items = items;
    q->cap = n > q->cap ? (uint32_t)n : q->cap;
    memmove(items + at + 2 + 2 * more, items + at + here,
            (q->n - at - here) * sizeof *items);
    q->n = (uint32_t)n;
    items[at].more = 0;
    items[at].like = NULL;
    for (uint64_t k = 0; k <= more; k++) {
        items[at + 2 * k] = items[at];
        items[at + 2 * k].id += k * distance;
        items[at + 2 * k + 1] = run;
    }
    return true;
}

/* Room in front of what is put into an empty queue. */
static uint32_t room_in_front(uint32_t cap, uint32_t left)
{
    uint32_t room = 2 * left + 16;

    return room < cap / 2 ? room : cap / 2;
}

/* The steps that q still has go in front of the new ones, since those are more.
 * Moved the other way, all steps would be. */
bool mach_queue_append(mach_queue *q, mach_queue *from)
{
    uint32_t left = q->n - q->head, more = from->n - from->head;
    mach_queue empty = *q;

    if (left > from->head) {
        uint64_t most = UINT64_C(2) * left + from->n;
        mach_step *items = from->items;

        if (most > from->cap) {
            if (most > UINT32_MAX ||
                !(items = realloc(items, most * sizeof *items)))
                return false;
            from->items = items;
            from->cap = (uint32_t)most;
        }
        if (more) /* a queue nothing was put in has no items at all */
            memmove(items + left, items + from->head, more * sizeof *items);
        from->head = left;
        from->n = left + more;
    }
    from->head -= left;
    if (left)
        memcpy(from->items + from->head, q->items + q->head,
               left * sizeof *q->items);
    *q = *from;
    *from = empty;
    from->n = from->head = room_in_front(from->cap, left);
    return true;
}

void mach_queue_free(mach_queue *q)
{
    for (uint32_t k = q->head; k < q->n; k++)
        free(q->items[k].misses);
    free(q->items);
}
