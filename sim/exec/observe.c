/* The needs of observers in words, and whether a launch meets them. */
#include "sim/exec/observe.h"

#include "sim/exec/exec.h"

static bool meets(exec_need need, const exec_options *how, const sim_kernel *k)
{
    switch (need) {
    case EXEC_NEED_PROGRAM:
        return how->engine == EXEC_INTERPRETED;
    case EXEC_NEED_HOST_CODE:
        return how->engine == EXEC_COMPILED;
    case EXEC_NEED_TIME:
        return how->timing != EXEC_NO_TIMING;
    case EXEC_NEED_FLOWS:
        return how->timing == EXEC_FLOWS;
    case EXEC_NEED_NO_TIME:
        return how->timing == EXEC_NO_TIMING;
    case EXEC_NEED_SITES:
        return !k || k->sites;
    case EXEC_NEED_ORDER: /* exec_run sees to it */
        break;
    }
    return true;
}

/* Several needs may fail at once: the first in this order is told. */
static const struct {
    exec_need need;
    const char *text;
} needs_text[] = {
    {EXEC_NEED_PROGRAM, "needs the interpreter: not with --engine compiled"},
    {EXEC_NEED_HOST_CODE, "needs host code: not with --engine interpreted"},
    {EXEC_NEED_TIME, "needs time: not with --timing none"},
    {EXEC_NEED_FLOWS, "works with --timing flow only"},
    {EXEC_NEED_NO_TIME, "counts no cycles: --timing none only"},
    {EXEC_NEED_SITES, "needs a kernel compiled for checking"}};

vpu_status exec_meets(const char *name, uint32_t needs, const exec_options *how,
                      const sim_kernel *kernel, vpu_error *err)
{
    for (size_t i = 0; i < sizeof needs_text / sizeof *needs_text; i++)
        if (needs & needs_text[i].need &&
            !meets(needs_text[i].need, how, kernel))
            return err_set(err, VPU_ERR_INVALID, "%s %s", name,
                           needs_text[i].text);
    return VPU_OK;
}
