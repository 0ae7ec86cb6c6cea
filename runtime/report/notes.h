/* What a launch's time went to that a user can do something about: a sentence
 * each, where it is a tenth of the time or more. */
#ifndef VPU_RUNTIME_REPORT_NOTES_H
#define VPU_RUNTIME_REPORT_NOTES_H

#include "runtime/report/report.h"

typedef struct {
    const char
        *id; /* for programs: "l2-sets", "ddr-banks", "uneven", "scalar" */
    str text;
} report_note;

enum { REPORT_MAX_NOTES = 4 };

typedef struct {
    report_note list[REPORT_MAX_NOTES];
    uint32_t n;
} report_notes;

/* Of launch i of a run with BACKEND_INSPECT. n: empty. */
void report_notes_of(const report_source *r, uint32_t i, report_notes *n);
void report_notes_free(report_notes *n);

#endif
