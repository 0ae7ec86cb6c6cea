/* A sweep's folder: its points, and what came of them.
 *
 *   DIR/sweep.manifest         as it was written
 *   DIR/points.jsonl           a point a line: number, name, parameters, words
 *   DIR/candidates.jsonl       of halving: the points of all rounds, of which
 *                              points.jsonl gets those that go on
 *   DIR/choices.jsonl          the manifest's choices, their words naming files
 *                              below files/
 *   DIR/files/                 what the points read; words name files from here
 *   DIR/program                the vpu that computes them
 *   DIR/results/ab/NAME.json   figures of the point of that name
 *   DIR/failed/ab/NAME.json    why its last try failed
 *   DIR/logs/                  for whoever runs it
 *
 * A name is a hash, so equal points share a result. Files appear whole, and any
 * number of processes may write results at once: equal points have equal bytes.
 * The folder may be moved. */
#ifndef VPU_RUNTIME_SWEEP_STORE_H
#define VPU_RUNTIME_SWEEP_STORE_H

#include <jansson.h>
#include <stdio.h>

#include "runtime/sweep/files.h"
#include "runtime/sweep/manifest.h"
#include "runtime/sweep/points.h"

#define SWEEP_POINTS "points.jsonl"
#define SWEEP_CANDIDATES "candidates.jsonl"

typedef struct {
    const char *dir; /* absolute */
    sweep_manifest manifest;
} sweep_store;

typedef struct {
    uint64_t number;
    char name[SWEEP_HASH];
    const char **texts; /* its value in each column of the manifest */
    sweep_words words;  /* behind `vpu run`, in DIR/files */
} sweep_point;

/* Opens a folder that sweep_store_plan made. In the arena.
 *
 * VPU_ERR_IO     no such folder, or not one of a sweep
 * VPU_ERR_PARSE  its manifest is damaged */
vpu_status sweep_store_open(const char *dir, arena *a, sweep_store *out,
                            vpu_error *err);

/* What is copied, and which files each choice uses. */
typedef struct {
    const char *program; /* file */
    sweep_files *files;
    sweep_file_set **sets; /* [dimension][choice] */
} sweep_frozen;

/* Makes the folder from a manifest whose words name files below files/ already:
 * copies, the program, points. text: the manifest as it was written. What a
 * plan that was cut short left there is overwritten.
 *
 * VPU_ERR_INVALID  dir is there, and in use for something else
 * VPU_ERR_LIMIT    too many points
 * VPU_ERR_IO */
vpu_status sweep_store_plan(const char *dir, const sweep_manifest *m,
                            const file_bytes *text, sweep_frozen *frozen,
                            arena *a, vpu_error *err);

/* The manifest of a folder, with words that name files below files/, and what
 * names are made of. */
typedef struct {
    sweep_manifest manifest;
    char identity[SWEEP_HASH];    /* of the program */
    char (**digests)[SWEEP_HASH]; /* [dimension][choice]: of its files */
} sweep_choices;

/* In the arena. VPU_ERR_IO, VPU_ERR_PARSE: choices.jsonl. */
vpu_status sweep_choices_read(const sweep_store *s, arena *a,
                              sweep_choices *out, vpu_error *err);
/* Any point of them, planned or not, by the texts of its values, one a column;
 * NULL: the first choice. Number 0; in the arena.
 *
 * VPU_ERR_INVALID  a column has no such value (message: which it has) */
vpu_status sweep_choices_point(const sweep_choices *c, const char *const *texts,
                               arena *a, sweep_point *out, vpu_error *err);

/* --- points, in their order ---------------------------------------------- */

typedef struct {
    const sweep_store *store;
    const char *path;
    FILE *f;
    char *line; /* heap */
    size_t cap, n;
    uint64_t number, at; /* of the next line, and where it begins */
} sweep_cursor;

/* name: SWEEP_POINTS or SWEEP_CANDIDATES. VPU_ERR_IO. */
vpu_status sweep_cursor_open(sweep_cursor *c, const sweep_store *s,
                             const char *name, arena *a, vpu_error *err);
/* The next point, in the arena; *more false at the end.
 *
 * VPU_ERR_PARSE  a line that is no point (path:line) */
vpu_status sweep_cursor_next(sweep_cursor *c, arena *a, sweep_point *out,
                             bool *more, vpu_error *err);
void sweep_cursor_close(sweep_cursor *c);
/* Opens c and tells of each point, which lasts until `look` returns; what the
 * arena had before stays. c is to be closed, also after an error. Errors as
 * above, and what `look` returns, which ends it. */
vpu_status sweep_cursor_each(
    sweep_cursor *c, const sweep_store *s, const char *name, arena *a,
    vpu_status (*look)(void *user, const sweep_point *p, vpu_error *err),
    void *user, vpu_error *err);
/* One line of points.jsonl; path and number are for messages. */
vpu_status sweep_point_parse(const char *line, size_t n,
                             const sweep_manifest *m, const char *path,
                             uint64_t number, arena *a, sweep_point *out,
                             vpu_error *err);

/* --- results -------------------------------------------------------------- */

/* The figures in n bytes of a result's file, if they are one of that name; a
 * new reference. */
json_t *sweep_result_parse(const char *bytes, size_t n, const char *name);
/* The figures of the point of that name, a new reference; NULL: there is no
 * result, or no whole one. */
json_t *sweep_store_result(const sweep_store *s, const char *name);
/* Why its last try failed, in the arena; NULL: it did not. */
const char *sweep_store_failure(const sweep_store *s, const char *name,
                                arena *a);
/* Keeps figures, and removes a failure. Takes the reference. VPU_ERR_IO. */
vpu_status sweep_store_put(const sweep_store *s, const char *name,
                           json_t *figures, vpu_error *err);
/* Keeps why a point has failed. VPU_ERR_IO. */
vpu_status sweep_store_put_failure(const sweep_store *s, const sweep_point *p,
                                   const char *why, vpu_error *err);

#endif
