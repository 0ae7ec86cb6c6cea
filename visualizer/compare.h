/* Two traces of the same work: before and after a change, or simulated and
 * recorded on a device. Stages are aligned by name (the n-th of a name with the
 * n-th), those left over by place when both traces have as many; work-groups
 * by stage and number, SHAVEs by stage and number. A trace may have stages
 * only. */
#ifndef VPU_VISUALIZER_COMPARE_H
#define VPU_VISUALIZER_COMPARE_H

#include "visualizer/facts.h"
#include "visualizer/view.h"

typedef enum { COMPARE_STAGE, COMPARE_SHAVE, COMPARE_GROUP } compare_kind;

typedef enum {
    COMPARE_BOTH, /* A above B */
    COMPARE_A,
    COMPARE_B,
    COMPARE_OVERLAY, /* each row of A with B's below it, aligned */
    COMPARE_N_MODES
} compare_mode;

typedef struct {
    compare_kind kind;
    uint32_t stage;  /* of compare.pairs */
    uint32_t number; /* of the SHAVE or group */
    bool in[2];      /* there in A, in B */
    double time[2];  /* a stage: from begin to end; a SHAVE: what is not idle;
                        a group: its phases */
    uint64_t cause[2][TL_N_CAUSES]; /* ticks, as far as recorded */
    view_slice at[2];               /* group: its longest phase; stage: its
                                       slice; row UINT32_MAX = none */
} compare_row;

typedef struct {
    uint32_t stage[2]; /* of each trace's facts; UINT32_MAX = only in the
                          other */
} compare_pair;

/* From `at` (a tick of A) on B loses `rate` of the unit a tick of A; up to
 * there it has lost `sum`. */
typedef struct {
    double at, rate, sum;
} compare_step;

typedef struct {
    const tl_timeline *tl[2];
    const facts *facts[2];
    const char *unit; /* of times: "cycles", or "ns" when clocks differ */
    compare_pair *pairs;
    uint32_t n_pairs;
    uint32_t *pair_of[2]; /* by stage of each trace */
    compare_row *rows;    /* by kind, stage, number */
    uint64_t n_rows, cap_rows;
    uint32_t *slower; /* rows that differ: most lost first, then most gained */
    uint64_t n_slower;
    compare_step *steps; /* in order of time; what both traces have */
    uint64_t n_steps;
    compare_kind steps_of; /* groups; stages where there are none */
} compare;

/* VPU_ERR_NOMEM */
vpu_status compare_make(const view *a, const view *b, compare *out,
                        vpu_error *err);
void compare_free(compare *c);

/* NULL when there is none. */
const compare_row *compare_find(const compare *c, compare_kind kind,
                                uint32_t stage, uint32_t number);
/* The group or stage a slice of trace `side` belongs to; NULL when neither. */
const compare_row *compare_of_slice(const compare *c, int side,
                                    const view_slice *s);
/* What is added to a time of A to get the time of B that stands below it: that
 * of the group, or else of the stage at A's time t. */
double compare_shift(const compare *c, const compare_row *group, double t);
/* What B loses, below 0 gains, on what A does between two times of A: of a
 * group, or a stage, that A does a part of then, that part. Summed over all
 * SHAVEs, in the unit. */
double compare_lost(const compare *c, double from, double to);
/* For compare_make alone; false: no memory. */
bool compare_make_steps(compare *c);
/* "A is 1.17 times as fast as B", names in place of A and B; "both take the
 * same time". Of all stages together. */
void compare_headline(const compare *c, const char *a, const char *b, char *to,
                      size_t n);
/* "+12 %", "-96 %", "new", "gone". */
void compare_badge(const compare_row *r, char *to, size_t n);
/* The cause with the largest difference in the direction of the time's;
 * TL_N_CAUSES = not recorded. */
tl_class compare_reason(const compare_row *r);
/* "group 17 of GRN" */
void compare_name(const compare *c, const compare_row *r, char *to, size_t n);

/* All rows as a table. VPU_ERR_IO */
vpu_status compare_csv(const compare *c, const char *path, vpu_error *err);

#endif
