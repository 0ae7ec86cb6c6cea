/* A stretch of a timeline as a table for other programs. */
#ifndef VPU_VISUALIZER_EXPORT_H
#define VPU_VISUALIZER_EXPORT_H

#include <stdio.h>

#include "base/str.h"
#include "visualizer/view.h"

/* CSV (RFC 4180): every slice, at least in part inside the marked range or
 * else the visible stretch, of every row that is not hidden:
 * row,lane,name,begin,length in ticks, begin_ns,length_ns, then its arguments
 * as "key=value" words. VPU_ERR_IO, VPU_ERR_NOMEM */
vpu_status export_csv(const view *v, const char *path, vpu_error *err);

/* The selected slice as lines of "key: value", with all its arguments; the
 * marked range, if there is one. Empty: neither is there. */
void export_text(const view *v, str *out);

/* A field of CSV, in quotes. */
void export_quoted(FILE *f, const char *text);

#endif
