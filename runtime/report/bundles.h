/* `vpu run --trace-bundles`: one work-group's bundles in the timeline
 * (docs/formats.md, "Bundles in a trace").
 *
 * On the track "SHAVE n bundles", beside the SHAVE's own, a slice for each
 * bundle that issues something, where the SHAVE's track has the issue cycle in
 * which it issues. Its name are the operations, its arguments where they stand
 * and what they waited for. */
#ifndef VPU_RUNTIME_REPORT_BUNDLES_H
#define VPU_RUNTIME_REPORT_BUNDLES_H

#include "base/trace/writer.h"
#include "sim/exec/observe.h"

typedef struct bundles bundles;

/* What its observer needs of a launch. */
enum { BUNDLES_NEEDS = EXEC_NEED_PROGRAM | EXEC_NEED_TIME | EXEC_NEED_FLOWS };

/* Writes to w, the caller's. At most `most` bundles of the group, of all
 * launches together; what follows is left out, and the trace says so. */
bundles *bundles_create(trc_writer *w, uint64_t group, uint64_t most);
void bundles_free(bundles *b); /* NULL is fine */
/* NULL for NULL. */
const exec_observer *bundles_observer(const bundles *b);

#endif
