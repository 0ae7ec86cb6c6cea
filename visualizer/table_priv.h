/* What the table's files share. */
#ifndef VPU_VISUALIZER_TABLE_PRIV_H
#define VPU_VISUALIZER_TABLE_PRIV_H

#include "visualizer/table.h"

/* What makes a slice one of a line. */
typedef struct {
    const char *stage; /* the timeline's text; NULL: any */
    const char *name;
    tl_row_kind kind;
    bool causes;
} table_key;

/* Whether a lane has slices that the grouping counts. */
bool table_has_lane(table_grouping g, const tl_row *r, uint32_t lane);
table_key table_key_of(table_grouping g, const view *v, const tl_row *r,
                       uint32_t lane, uint64_t slice);
/* The first slice of a lane with ticks in the stretch or a begin there, and the
 * one behind the last. */
uint64_t table_first(const tl_lane *l, uint64_t from, uint64_t *behind);
/* Lines by look, and by name where they are alike. */
void table_order(table_result *r);
/* p50, p99 of n lengths in any order, which are moved about. */
void table_percentiles(table_line *l, uint64_t *lengths, uint64_t n);
/* The same from the histogram. */
void table_estimate(table_line *l);

#endif
