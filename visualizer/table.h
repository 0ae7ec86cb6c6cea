/* What took the time: the slices of a stretch and of some rows in groups, with
 * how often and how long each was. Without a display.
 *
 * Of a stretch [from, to):
 *   count, mean, p50, p99, min, max, histogram
 *          are of the slices that begin in it, each by its whole length
 *   total, share, causes
 *          are of the ticks that lie in it, whoever they belong to
 * so counts as well as totals of neighbouring stretches add up. A group of
 * which nothing begins in the stretch has a total and no lengths.
 *
 * p50 and p99 are lengths that occur: of n in order the one at n * 50 / 100,
 * rounded up. They need all lengths of a group at once, for which there is room
 * for TABLE_EXACT of them (16 MiB); groups of few slices have it first. Of the
 * others they are estimated from the histogram, at most a factor of 2 off, and
 * marked so.
 *
 * Counting is done in steps, for traces of many million slices; what was
 * counted last stays until the next result is there. Times are ticks. One
 * thread. */
#ifndef VPU_VISUALIZER_TABLE_H
#define VPU_VISUALIZER_TABLE_H

#include "visualizer/view.h"

/* What makes a group. */
typedef enum {
    TABLE_NAME,  /* name without its number, of rows of one kind */
    TABLE_STAGE, /* launches by the stage's name; of all that are in the
                    stretch, whatever rows are chosen */
    TABLE_PHASE, /* phases of work-groups, by stage */
    TABLE_CAUSE, /* what SHAVEs' cycles went to */
    TABLE_N_GROUPINGS
} table_grouping;

typedef enum {
    TABLE_BY_TOTAL,
    TABLE_BY_COUNT,
    TABLE_BY_SHARE,
    TABLE_BY_MEAN,
    TABLE_BY_P50,
    TABLE_BY_P99,
    TABLE_BY_MIN,
    TABLE_BY_MAX,
    TABLE_BY_NAME,
    TABLE_N_COLUMNS
} table_column;

/* Zeros: by name, the largest total first. */
typedef struct {
    table_grouping grouping;
    table_column column;
    bool reversed; /* least first; names: Z first */
} table_look;

enum {
    TABLE_BUCKETS = 64,    /* 0: no ticks; k: 2^(k-1) up to 2^k */
    TABLE_EXACT = 1 << 21, /* lengths kept for p50 and p99 */
    TABLE_MAX_LINES = 4096 /* groups; what has no place is in one more */
};

typedef struct {
    const char *name;   /* the timeline's, without a number */
    bool rest;          /* all groups that had no place */
    const char *stage;  /* of a phase; else NULL */
    const char *kernel; /* of a stage, the first of the name; else NULL */
    tl_row_kind kind;   /* of the rows */
    bool causes;        /* of their lane of causes */
    tl_class class;
    uint64_t count, total, whole; /* whole: lengths of those counted */
    uint64_t min, max, p50, p99;  /* 0 when count is */
    bool estimated;               /* p50 and p99 */
    double share; /* of the stretch, on all chosen rows of the kind */
    uint64_t histogram[TABLE_BUCKETS];
    uint64_t cause[TL_N_CAUSES]; /* stages and phases: of SHAVEs' ticks */
    view_slice longest;          /* that has ticks in the stretch or begins
                                    there; the first one of them */
} table_line;

typedef struct {
    bool there; /* something was counted */
    table_look look;
    uint64_t from, to;
    uint32_t *rows, n_rows; /* of the timeline: whose slices are counted */
    bool area;              /* they are those of a marked area */
    table_line *lines;      /* in the order of look */
    uint32_t n_lines;
    uint64_t n_slices; /* counted in all */
} table_result;

typedef struct table {
    table_result shown;
    struct table_work *work; /* being counted; NULL: nothing */
    uint64_t counted; /* what shown or work is of, as a hash; 0: of nothing */
    uint32_t first;   /* line at the top, for whoever shows it */
    bool failed;      /* memory ran out */
} table;

/* Zeros are an empty table. What is counted: the marked area, else the marked
 * range of all rows that are shown, else what is visible of them. Begins anew
 * when that is not what the table has or counts, and sorts. The view's timeline
 * must not change until the table is cleared. */
void table_want(table *t, const view *v, const table_look *look);
/* Counts that many slices more, or a group's lengths; whether there is more to
 * do. Sets failed when memory runs out. */
bool table_step(table *t, uint64_t slices);
/* All at once. VPU_ERR_NOMEM */
vpu_status table_make(table *t, const view *v, const table_look *look,
                      vpu_error *err);
void table_clear(table *t);
/* Of what is being counted, 0 to 1. */
double table_progress(const table *t);
/* The column that look is sorted by from now on; the same again: reversed. */
void table_sort_by(table_look *look, table_column column);

/* The line that a slice belongs to; UINT32_MAX: none. */
uint32_t table_line_of(const table_result *r, const view *v,
                       const view_slice *s);
/* The slice of a line that comes after the view's selection, round the end of
 * the stretch. False: there is none, or it is the line of the rest. */
bool table_next(const table_result *r, const view *v, uint32_t line,
                view_slice *out);

/* "SHAVE phase", "DMA": what a line's slices are. */
const char *table_kind(const table_line *l);
const char *table_grouping_name(table_grouping g);
const char *table_column_name(table_column c);
double table_mean(const table_line *l);

/* VPU_ERR_IO */
vpu_status table_csv(const table_result *r, const view *v, const char *path,
                     vpu_error *err);

#endif
