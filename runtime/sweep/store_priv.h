/* Shared by the files that write a sweep's points. */
#ifndef VPU_RUNTIME_SWEEP_STORE_PRIV_H
#define VPU_RUNTIME_SWEEP_STORE_PRIV_H

#include "base/str.h"
#include "runtime/sweep/store.h"

/* Appends the point as its line of points.jsonl. */
void sweep_point_put(const sweep_point *p, const sweep_manifest *m, str *out);

/* The point's name, from its words and values. */
void sweep_point_name(const sweep_choices *c, const sweep_value *values,
                      const sweep_words *words, char out[SWEEP_HASH]);

/* Writes choices.jsonl, with the hash of each choice's files, and fills *out.
 * VPU_ERR_IO. */
vpu_status sweep_choices_write(const char *dir, const sweep_manifest *m,
                               const sweep_frozen *z, arena *a,
                               sweep_choices *out, vpu_error *err);

#endif
