/* Running a command and measuring it. */
#ifndef VPU_TESTS_BENCH_PROC_H
#define VPU_TESTS_BENCH_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROC_MAX_ARGS = 64, PROC_OUT_BYTES = 1 << 16 };

typedef struct {
    double wall_s;
    double cpu_s;             /* of the processors, user and system: only the
                                 sum is exact, its parts are told by ticks */
    bool alone;               /* from its begin to its end (quiet.h) */
    long peak_kib;            /* most memory it held */
    char out[PROC_OUT_BYTES]; /* what it printed, cut when longer */
} proc_result;

/* Run words, separated by single blanks, found by PATH. Its standard error is
 * ours. Exits with a message when it cannot be run or fails. It runs in a quiet
 * moment (quiet.h), more than once if need be. */
void proc_run(const char *words, proc_result *r);
/* The same of a program that may end with a status of up to worst. */
void proc_run_findings(const char *words, int worst, proc_result *r);
/* The same, once, and for the times-th time; false: it is to be done again. */
bool proc_run_once(const char *words, int worst, uint32_t times,
                   proc_result *r);
/* At once, whatever the moment. */
void proc_run_now(const char *words, int worst, proc_result *r);

double proc_median(double *values, size_t n); /* sorts values */

#endif
