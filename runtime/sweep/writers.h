/* What writes a table, row by row. */
#ifndef VPU_RUNTIME_SWEEP_WRITERS_H
#define VPU_RUNTIME_SWEEP_WRITERS_H

#include "base/str.h"
#include "runtime/sweep/gather.h"

/* commit or abandon ends it; the file is there whole after commit, and as it
 * was after abandon. */
typedef struct sweep_writer {
    vpu_status (*row)(struct sweep_writer *w, const sweep_row *row,
                      vpu_error *err);
    vpu_status (*commit)(struct sweep_writer *w, vpu_error *err);
    void (*abandon)(struct sweep_writer *w);
} sweep_writer;

/* In the arena, for tables of that manifest. VPU_ERR_IO. */
vpu_status sweep_writer_csv(sweep_writer **out, const char *path,
                            const sweep_manifest *m, arena *a, vpu_error *err);
vpu_status sweep_writer_json(sweep_writer **out, const char *path,
                             const sweep_manifest *m, arena *a, vpu_error *err);
vpu_status sweep_writer_sqlite(sweep_writer **out, const char *path,
                               const sweep_manifest *m, arena *a,
                               vpu_error *err);

/* Appends a figure as tables have it, ten digits of what is not whole. */
void sweep_put_figure(str *out, const json_t *x);

#endif
