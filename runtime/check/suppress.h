/* A file of findings that are known and not wanted, one a line:
 *
 *   # a comment
 *   CHECKER KERNEL FILE[:LINE]
 *
 * "*" stands for any of the three; FILE is the path's end ("grn.cl", or
 * "grn/grn.cl"). docs/check.md. */
#ifndef VPU_RUNTIME_CHECK_SUPPRESS_H
#define VPU_RUNTIME_CHECK_SUPPRESS_H

#include "runtime/check/layer.h"

/* In the arena.
 * VPU_ERR_IO     cannot be read
 * VPU_ERR_PARSE  a line that is none of the above (names file and line) */
vpu_status layer_check_suppressions_read(const char *path, arena *a,
                                         layer_check_suppressions **out,
                                         vpu_error *err);
/* The same from n bytes of such a file; path for messages. */
vpu_status layer_check_suppressions_parse(const char *path, const char *bytes,
                                          size_t n, arena *a,
                                          layer_check_suppressions **out,
                                          vpu_error *err);
/* Does a line of the file name this finding? s may be NULL. */
bool layer_check_suppressed(const layer_check_suppressions *s,
                            const layer_check_shown *f);

#endif
