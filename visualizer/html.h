/* A view as a page for browsers, in one file. */
#ifndef VPU_VISUALIZER_HTML_H
#define VPU_VISUALIZER_HTML_H

#include "visualizer/theme.h"
#include "visualizer/view.h"

enum { HTML_MAX_ITEMS = 1000000, HTML_BUCKETS = 4096 };

typedef struct {
    const char *title;   /* of the file */
    const theme *colors; /* to begin with; NULL = as the browser wants */
    uint64_t max_items;  /* slices and values of counters that the page has one
                            by one; 0 = HTML_MAX_ITEMS */
} html_options;

/* Writes all of the trace, and as what to begin with the view's stretch and
 * selection. The page loads nothing; what the trace's names hold is text in it,
 * whatever it looks like. When there are more than max_items, the rows with
 * most become sums of HTML_BUCKETS equal stretches each until the others fit,
 * and the page says which. The file appears whole or not at all.
 *
 * VPU_ERR_INVALID  the trace is longer than 2^53 ticks, which a page cannot
 *                  count
 * VPU_ERR_IO       cannot be written
 * VPU_ERR_NOMEM */
vpu_status html_write(const view *v, const html_options *o, const char *path,
                      vpu_error *err);

#endif
