/* Tuned sizes as a change of the binding files that the layer comes from. */
#ifndef VPU_RUNTIME_TUNE_EDIT_H
#define VPU_RUNTIME_TUNE_EDIT_H

#include "runtime/config/layer.h"
#include "runtime/tune/tune.h"

/* One file. */
typedef struct {
    const char *path;
    const char *before, *after; /* its whole text */
} tune_edit;

typedef struct {
    tune_edit *files; /* those that change */
    size_t n_files, cap;
    /* What cannot be written, and what the reader of the new files should know;
     * a sentence each. */
    const char **notes;
    size_t n_notes, notes_cap;
} tune_edits;

/* The attribute `local` of WorkSizes anew for each launch of g that the report
 * gives another size. A dimension that stays keeps its expression, another one
 * becomes a number. Files are read again, and not written. Everything in the
 * arena. Errors of file_read. */
vpu_status tune_edits_make(const config_file *binding, const graph *g,
                           const tune_report *r, arena *a, tune_edits *out,
                           vpu_error *err);
/* As `diff -u` prints it; nothing when there are no changes. */
void tune_edits_diff(const tune_edits *e, str *out);
/* Each file whole or not at all. VPU_ERR_IO. */
vpu_status tune_edits_write(const tune_edits *e, vpu_error *err);

#endif
