/* The published performance ratios, and the runs that they are made of. Every
 * experiment is a plain `vpu run`; kernels that are not samples are in
 * tests/fidelity/kernels. docs/timing.md says which shapes were chosen, and
 * why.
 *
 * The functions end the process with a message when a run fails. */
#ifndef TESTS_FIDELITY_EXPERIMENTS_H
#define TESTS_FIDELITY_EXPERIMENTS_H

#include <stdbool.h>

typedef enum {
    R1,
    R1_LOADS,
    R1_INDEXED,
    R2,
    R3,
    R3_6,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
    R3_TEST,
    R4_TEST,
    R3_ISSUE,
    R4_ISSUE,
    R5_RAW,
    R5_THREE,
    R6_THREE,
    R7_THREE,
    CURVE,
    N_RATIOS
} ratio_id;

typedef struct {
    const char *id, *what;
    double low, high;     /* 0, 0: reported, without a window */
    bool is_of_16_shaves; /* says nothing of fewer */
} ratio;

extern const ratio ratios[N_RATIOS];

/* 16 SHAVEs are all, 7 what the vendor's plugin gives a network. */
typedef enum { OF_16, OF_7, N_COUNTS } shave_count;

/* One of the ratios with so many SHAVEs. */
typedef struct {
    ratio_id ratio;
    shave_count of;
} goal;

enum { MAX_SHAVES = 16 };

typedef struct {
    double value[N_COUNTS]
                [N_RATIOS];   /* NaN: was not asked for, or says nothing */
    double curve[MAX_SHAVES]; /* cycles of GRN on DDR with 1, 2, … */
} outcomes;

typedef struct {
    const char *vpu;
    const char *more; /* words for every run */
    bool small;       /* small shapes */
} bench;

/* All of them, and the curve. */
void measure_all(const bench *b, outcomes *out);
/* The first n goals alone. */
void measure_goals(const bench *b, const goal *goals, int n, outcomes *out);

bool is_within(const ratio *r, double v);
/* "R3" or "R3/7", in a buffer of 16 bytes. */
void print_id(goal g, char text[16]);

/* Ranges of parameters: docs/hardware.md, "Parameter ranges". */
typedef struct {
    const char *name;
    double low, high;
    enum { WHOLE, POWER_OF_TWO, REAL_NUMBER } kind;
} parameter;

extern const parameter parameters[];
extern const int n_parameters;

__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *fmt, ...);

#endif
