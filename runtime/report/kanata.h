/* `vpu run --kanata`: one work-group's way through the pipeline, in the text
 * format of the viewer Konata (docs/formats.md). */
#ifndef VPU_RUNTIME_REPORT_KANATA_H
#define VPU_RUNTIME_REPORT_KANATA_H

#include <stdio.h>

#include "base/arena.h"
#include "sim/exec/observe.h"

typedef struct kanata kanata;

/* What its observer needs of a launch. */
enum { KANATA_NEEDS = EXEC_NEED_PROGRAM | EXEC_NEED_TIME };

/* Writes to f, the caller's, whose error flag tells whether that went well. At
 * most max_bundles bundles; what follows is left out. */
kanata *kanata_create(FILE *f, uint64_t group, uint64_t max_bundles);
void kanata_free(kanata *k); /* NULL is fine; f stays open */
/* NULL for NULL. */
const exec_observer *kanata_observer(const kanata *k);

#endif
