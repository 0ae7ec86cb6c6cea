/* The state of a stopped launch in words. */
#include "sim/exec/stuck.h"

/* The message holds 4096 bytes, a line takes up to 120. */
enum { MAX_LINES = 20 };

void stuck_group(const uint32_t groups[3], uint64_t linear, str *out)
{
    str_printf(out, "work-group (%llu, %llu, %llu)",
               (unsigned long long)(linear % groups[0]),
               (unsigned long long)(linear / groups[0] % groups[1]),
               (unsigned long long)(linear / groups[0] / groups[1]));
}

static bool running(const exec_shave *s)
{
    return s->running && s->scope.kind == FAULT_LIMIT;
}

static uint64_t share(const exec_shave *s)
{
    return s->done +
           (s->end > s->next ? (s->end - s->next - 1) / s->stride + 1 : 0);
}

static void report_shave(const exec_shave *s, uint32_t i, str *out)
{
    static const char *const phases[] = {[MACH_PRE] = "preload",
                                         [MACH_COMP] = "compute",
                                         [MACH_POST] = "postwrite"};

    str_printf(out, "\n  SHAVE %u: ", i);
    if (running(s)) {
        stuck_group(s->launch->groups, s->group, out);
        str_printf(out, ", %s phase, executes", phases[s->phase]);
        if (s->transfers)
            str_printf(out, " (%u DMA transfers started)", s->transfers);
    } else {
        str_puts(out, "between two work-groups");
    }
    str_printf(out, "; %llu of %llu done", (unsigned long long)s->done,
               (unsigned long long)share(s));
}

void stuck_report(const exec_shave *shaves, uint32_t n, str *out)
{
    uint32_t done = 0, lines = 0, left = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (shaves[i].next >= shaves[i].end)
            done++;
        else if (lines++ < MAX_LINES)
            report_shave(&shaves[i], i, out);
        else
            left++;
    }
    if (left)
        str_printf(out, "\n  %u more SHAVEs", left);
    if (done)
        str_printf(out, "\n  %u SHAVE%s: all work-groups done", done,
                   done == 1 ? "" : "s");
}

void stuck_list(const exec_shave *shaves, uint32_t n, exec_result *r)
{
    r->n_stuck = 0;
    for (uint32_t i = 0; i < n && r->n_stuck < EXEC_MAX_STUCK; i++)
        if (running(&shaves[i]))
            r->stuck[r->n_stuck++] = shaves[i].group;
}
