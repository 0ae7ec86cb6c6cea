/* Keeps in a record what a launch's own refill appends. */
#ifndef VPU_TESTS_SIM_MACHINE_RECORDED_H
#define VPU_TESTS_SIM_MACHINE_RECORDED_H

#include "sim/machine/engine.h"
#include "sim/machine/record.h"

typedef struct {
    mach_record *record;
    mach_refill *refill;
    void *user;
} recorded;

static inline vpu_status recorded_refill(void *user, mach_queue *queues,
                                         uint32_t n, vpu_error *err)
{
    recorded *x = user;
    uint32_t before[MACH_MAX_SHAVES];
    vpu_status st;

    for (uint32_t i = 0; i < n; i++)
        before[i] = queues[i].n - queues[i].head;
    st = x->refill(x->user, queues, n, err);
    for (uint32_t i = 0; i < n && !st; i++)
        mach_record_take(x->record, i,
                         queues[i].items + queues[i].head + before[i],
                         queues[i].n - queues[i].head - before[i]);
    mach_record_settle(x->record);
    return st;
}

/* mach_run of a launch whose steps r keeps. */
static inline vpu_status recorded_run(mach_record *r, const mach_desc *desc,
                                      mach_launch l, mach_profile *p,
                                      vpu_error *err)
{
    recorded x = {r, l.refill, l.user};
    vpu_status st;

    mach_record_begin(r, &l);
    l.refill = recorded_refill;
    l.user = &x;
    st = mach_run(desc, &l, NULL, p, err);
    if (st)
        mach_record_spoil(r);
    return st;
}

#endif
