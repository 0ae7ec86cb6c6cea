/* The results of a sweep as one table: CSV, JSON, SQLite. Rows are in the order
 * of points, whatever computed them; memory does not depend on their number. */
#ifndef VPU_RUNTIME_SWEEP_GATHER_H
#define VPU_RUNTIME_SWEEP_GATHER_H

#include "runtime/sweep/figures.h"
#include "runtime/sweep/store.h"

enum { SWEEP_MISSING_NAMED = 10 };

typedef struct {
    const char *csv, *json; /* files; NULL = none */
    const char *sqlite;
    bool partial; /* rows of points without results are left out; else no file
                     is written when there are any */
} sweep_gather_config;

typedef struct {
    uint64_t points, missing; /* those of later rounds counted */
    uint64_t unplanned;       /* of missing: of rounds that are not planned */
    /* Of the first that are missing: numbers, and why the last try failed
     * (NULL: none has). */
    uint64_t named[SWEEP_MISSING_NAMED];
    const char *why[SWEEP_MISSING_NAMED];
    uint32_t n_named;
} sweep_gathered;

/* One point with its figures, NULL where there are none. */
typedef struct {
    const sweep_point *point;
    const json_t *figures[SWEEP_MAX_FIGURES];
} sweep_row;

/* Which figures are columns of the table, a flag each: all but those that no
 * point of the manifest can have. */
void sweep_find_columns(const sweep_manifest *m,
                        bool columns[SWEEP_MAX_FIGURES]);

/* Every point that has a result, in order; the row is valid during the call.
 * Fills *out, with texts in the arena. Errors of sweep_cursor_next, and each's.
 */
vpu_status sweep_each_row(const sweep_store *s,
                          vpu_status (*each)(void *user, const sweep_row *row,
                                             vpu_error *err),
                          void *user, arena *a, sweep_gathered *out,
                          vpu_error *err);

/* Writes the table. Points that are missing are counted in *out, and are no
 * error.
 *
 * VPU_ERR_IO     a file cannot be written
 * VPU_ERR_PARSE  points.jsonl is damaged */
vpu_status sweep_gather(const sweep_store *s, const sweep_gather_config *config,
                        arena *a, sweep_gathered *out, vpu_error *err);

#endif
