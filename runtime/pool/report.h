/* A plan as text and as a picture. Both are the same for the same plan. */
#ifndef VPU_RUNTIME_POOL_REPORT_H
#define VPU_RUNTIME_POOL_REPORT_H

#include "base/str.h"
#include "runtime/pool/plan.h"

/* Rectangles of a picture when the caller has no wish. */
enum { POOL_MOST_RECTANGLES = 2000 };

/* plan is one of the n = plan->n items. names[n] may be NULL, and so may each
 * name: "item 7" then. What is written is appended to out. When memory is
 * short, base/oom.h says what happens. Not at the same time for one out. */

/* A table with a row for each item: name, bytes, offset, first and last step;
 * below it peak, lower bound, sum and what sharing saves. Control characters of
 * names are shown as \x1b and the like. */
void pool_report_text(const pool_item *items, const char *const *names,
                      const pool_plan *plan, str *out);

/* An SVG of 960 by 540: steps to the right, addresses upwards, for each item
 * with bytes a rectangle with a title, the lower bound as a dashed line. Of
 * more than `most` items (0 = POOL_MOST_RECTANGLES) the largest are drawn, and
 * a remark tells how many are not. */
void pool_report_svg(const pool_item *items, const char *const *names,
                     const pool_plan *plan, size_t most, str *out);

#endif
