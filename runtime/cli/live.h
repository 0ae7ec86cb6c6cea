/* `vpu run --view`: a viewer beside the run. */
#ifndef VPU_RUNTIME_CLI_LIVE_H
#define VPU_RUNTIME_CLI_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

typedef struct {
    pid_t pid;        /* 0 = not started */
    const char *path; /* of the trace, in the arena */
    const char *dir;  /* ours, removed at the end; NULL = the trace is kept */
} live;

/* Where the trace goes: trace, or a temporary folder when that is NULL.
 * VPU_ERR_IO  no such folder can be made */
vpu_status live_prepare(live *l, const char *trace, arena *a, vpu_error *err);
/* Starts `vpu view --follow`. VPU_ERR_IO */
vpu_status live_start(live *l, vpu_error *err);
/* Waits until the window is closed, or ends it when the run has failed. The
 * viewer's exit status. A zeroed one is fine. */
int live_end(live *l, bool failed);

#endif
