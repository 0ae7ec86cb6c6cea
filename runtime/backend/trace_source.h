/* A stage's kernel in the trace: its text, and what a profile found of each
 * line. Track "source" of the group "vpusim", instants at the stage's begin:
 *
 *   text  file, line, text                   every line, once for each file
 *   cost  stage, file, line, phase, cycles   each profile row, causes and
 *         by cause, executions               "executions" as arguments
 *
 * file is the name without folders, so that traces do not depend on where
 * things lie. */
#ifndef VPU_RUNTIME_BACKEND_TRACE_SOURCE_H
#define VPU_RUNTIME_BACKEND_TRACE_SOURCE_H

#include "sim/exec/exec.h"

typedef struct {
    const char *stage;
    const char *path; /* of the source */
    const char *text; /* NULL: it is read from the path */
    bool again;       /* the text is in the trace already */
    uint64_t start_cycle;
    const exec_profile *profile; /* n 0: none */
} backend_trace_stage;

/* At the level summary nothing. A file that cannot be read, or is not text, is
 * left out. */
void backend_trace_source(trc_writer *w, const backend_trace_stage *s);

#endif
