/* Contexts of SHAVEs, and whose turn it is. */
#include "sim/exec/interleave.h"

#include "base/oom.h"

#include <stdlib.h>
#include <ucontext.h>

enum { STACK_BYTES = 1 << 20 };

typedef struct {
    ucontext_t context;
    exec_shave *shave;
    void *stack;
    fault_scope *armed;  /* while others run */
    oom_scope *short_of; /* likewise */
    bool ended;
} turn_taker;

static _Thread_local ucontext_t scheduler;
static _Thread_local oom_scope *scheduler_short_of;
static _Thread_local turn_taker *running;

void exec_yield(void)
{
    turn_taker *t = running;

    if (!t)
        return;
    t->armed = fault_armed();
    fault_arm(NULL);
    t->short_of = oom_innermost();
    oom_switch(scheduler_short_of);
    swapcontext(&t->context, &scheduler);
    oom_switch(t->short_of);
    fault_arm(t->armed);
}

static void take_turns(void)
{
    turn_taker *t = running;

    exec_shave_run(t->shave);
    t->ended = true;
}

static bool prepare(turn_taker *t, exec_shave *s)
{
    t->shave = s;
    t->ended = s->queue->ended || s->scope.kind != FAULT_NONE;
    if (t->ended)
        return true;
    t->stack = malloc(STACK_BYTES);
    if (!t->stack || getcontext(&t->context))
        return false;
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = STACK_BYTES;
    t->context.uc_link = &scheduler;
    makecontext(&t->context, take_turns, 0);
    return true;
}

/* Whose turn is next behind `last`; n = nobody's. */
static uint32_t next_of(const turn_taker *list, uint32_t n, uint32_t last,
                        exec_turns turns, uint64_t *state)
{
    uint32_t from = last + 1;

    if (turns == EXEC_IN_RANDOM_TURN) {
        *state = *state * UINT64_C(6364136223846793005) +
                 UINT64_C(1442695040888963407);
        from = (uint32_t)((*state >> 33) % n);
    }
    for (uint32_t k = 0; k < n; k++)
        if (!list[(from + k) % n].ended)
            return (from + k) % n;
    return n;
}

vpu_status interleave_round(exec_shave *shaves, uint32_t n, exec_turns turns,
                            uint64_t *turn, vpu_error *err)
{
    turn_taker *list = calloc(n, sizeof *list);
    bool ready = list != NULL;

    scheduler_short_of = oom_innermost();
    for (uint32_t i = 0; i < n && ready; i++)
        ready = prepare(&list[i], &shaves[i]);
    for (uint32_t i = n - 1; ready;) {
        i = next_of(list, n, i, turns, turn);
        if (i == n)
            break;
        running = &list[i];
        swapcontext(&scheduler, &list[i].context);
        running = NULL;
    }
    for (uint32_t i = 0; i < n && list; i++)
        free(list[i].stack);
    free(list);
    return ready ? VPU_OK
                 : err_set(err, VPU_ERR_NOMEM,
                           "no memory for the stacks of %u SHAVEs", n);
}
