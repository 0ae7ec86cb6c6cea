/* Shared by the files that write a sweep's points. */
#ifndef VPU_RUNTIME_SWEEP_STORE_PRIV_H
#define VPU_RUNTIME_SWEEP_STORE_PRIV_H

#include "base/str.h"
#include "runtime/sweep/store.h"

/* Appends the point as its line of points.jsonl. */
void sweep_point_put(const sweep_point *p, const sweep_manifest *m, str *out);

#endif
