/* Groups of a launch that has stopped, run again. */
#include "runtime/backend/locate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A run whose results nobody looks at. */
static void silence(exec_launch *l)
{
    l->n_observers = 0;
    l->log = NULL;
    l->print = NULL;
}

/* Runs the faulting group again with code that tracks source lines; what it
 * writes is not looked at any more. Keeps the first message if it cannot. */
static void find_line(const backend_stopped *s, const sim_kernel *k,
                      vpu_error *err)
{
    exec_launch again = *s->launch;
    exec_result r;
    vpu_error with_line;

    again.kernel = k;
    /* Only host code notes lines, whatever ran when the fault came. */
    again.how.engine = EXEC_COMPILED;
    silence(&again);
    again.only_group = &s->result->fault_group;
    if (exec_run(s->mem, s->desc, &again, &r, &with_line) == VPU_ERR_FAULT)
        *err = with_line;
}

/* What a group alone may take to show where it is. */
enum { AGAIN_CYCLES = 20000000, AGAIN_SECONDS = 5 };

static VPU_PRINTF(2, 3) void append(vpu_error *err, const char *fmt, ...)
{
    size_t n = strlen(err->msg);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(err->msg + n, sizeof err->msg - n, fmt, ap);
    va_end(ap);
}

/* One group again, alone, with code that tracks source lines: a line of the
 * report on where it is after some time. First: its line goes in front. */
static void find_group(const backend_stopped *s, const sim_kernel *k,
                       unsigned long long group, bool first, vpu_error *err)
{
    exec_launch again = *s->launch;
    const uint32_t *n = again.groups;
    uint64_t only = group;
    exec_result r;
    vpu_status st;

    again.kernel = k;
    again.how.engine = EXEC_COMPILED;
    again.how.timing = EXEC_NO_TIMING;
    again.how.max_cycles = AGAIN_CYCLES;
    again.how.timeout_s = AGAIN_SECONDS;
    again.only_group = &only;
    silence(&again);
    st = exec_run(s->mem, s->desc, &again, &r, NULL);
    if (first && st == VPU_ERR_LIMIT && r.stuck_line) {
        err_in(err, VPU_ERR_LIMIT, "%s:%u:%u", k->source, r.stuck_line,
               r.stuck_col);
        err->line = r.stuck_line;
        err->col = r.stuck_col;
    }
    if (st == VPU_ERR_LIMIT && r.stuck_line)
        append(err,
               "\n  work-group (%llu, %llu, %llu), run again alone: after %d "
               "cycles in line %u:%u",
               group % n[0], group / n[0] % n[1], group / n[0] / n[1],
               AGAIN_CYCLES, r.stuck_line, r.stuck_col);
    else if (!st)
        append(err,
               "\n  work-group (%llu, %llu, %llu), run again alone: ends "
               "within %d cycles, so it is in no endless loop of its own",
               group % n[0], group / n[0] % n[1], group / n[0] / n[1],
               AGAIN_CYCLES);
}

void backend_locate(const backend_stopped *s, vpu_status st, vpu_error *err)
{
    const exec_result *r = s->result;
    sim_kernel *k;

    if ((st != VPU_ERR_FAULT && (st != VPU_ERR_LIMIT || !r->n_stuck)) ||
        s->track(s->user, &k))
        return;
    if (st == VPU_ERR_FAULT)
        find_line(s, k, err);
    else
        for (uint32_t i = 0; i < r->n_stuck; i++)
            find_group(s, k, r->stuck[i], i == 0, err);
    kernel_release(k);
}

/* --- guards -------------------------------------------------------------- */

vpu_status backend_check_guards(const memory *mem, const char *launch,
                                const char *kernel, vpu_error *err)
{
    uint32_t at;
    str where = {0};
    vpu_status st;

    if (!memory_check(mem, &at))
        return VPU_OK;
    memory_describe(mem, at, &where);
    st = err_set(err, VPU_ERR_FAULT,
                 "%s: kernel '%s' wrote outside a buffer: %s", launch, kernel,
                 str_text(&where));
    str_free(&where);
    return st;
}
