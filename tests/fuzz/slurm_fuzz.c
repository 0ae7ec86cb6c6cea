/* Any bytes as what squeue prints, and as the files of a sweep's slurm/. */
#include <stdlib.h>

#include "runtime/sweep/squeue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    arena *a = arena_create(0);
    const file_bytes text = {data, n, "fuzz"};
    slurm_tasks tasks;
    slurm_record record;
    slurm_plan plan;
    vpu_error err;

    if (!slurm_tasks_parse(&text, a, &tasks, &err))
        for (size_t i = 0; i < tasks.n; i++)
            need(tasks.items[i].job && *tasks.items[i].state &&
                 tasks.items[i].stage != SLURM_GONE);
    if (!slurm_record_parse(&text, a, &record, &err))
        for (size_t i = 0; i < record.n; i++) {
            need(record.items[i].array && *record.items[i].parts);
            slurm_stage_of(&tasks, &record.items[i], 0);
        }
    if (!slurm_plan_parse(&text, &plan, &err))
        need(plan.n_tasks && plan.n_tasks <= SLURM_MAX_TASKS);
    arena_destroy(a);
    return 0;
}
