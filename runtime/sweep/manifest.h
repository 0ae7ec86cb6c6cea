/* Manifests of sweeps: which layers run, and what is varied.
 *
 *   run layer.xml --layer GRN --param bias=1   words as behind `vpu run`
 *   vary --shaves 1 2 4 8 16                   a dimension: values of an option
 *   vary --set ddr_load_stall 60..200/5        values of one key, five of them
 *   vary --shape in0=1x16x8x8 | in0=1x16x16x16 --order reverse
 *                                              alternatives of several words
 *   name size --shape in0=1x16x8x8 | ...       the same, with a column's name
 *   method grid                                which points of all there are
 *
 * The grammar is in docs/sweep.md. Thread-safe; what comes out lives in the
 * arena that was given. */
#ifndef VPU_RUNTIME_SWEEP_MANIFEST_H
#define VPU_RUNTIME_SWEEP_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "runtime/sweep/words.h"

enum {
    SWEEP_MAX_BYTES = 1 << 20, /* of a manifest */
    SWEEP_MAX_DIMENSIONS = 64,
    SWEEP_MAX_CHOICES = 1 << 16, /* of a dimension */
    SWEEP_MAX_POINTS = 1000000
};

/* One alternative of a dimension. */
typedef struct {
    sweep_words words; /* that it puts behind `vpu run` */
    const char *text;  /* in the column */
    uint32_t line;
} sweep_choice;

/* The first dimension is that of the run lines; its column is "layer". */
typedef struct {
    const char *name; /* of the column */
    uint32_t line;
    sweep_choice *choices;
    size_t n;                 /* 0: a range, of which methods take numbers */
    const char *option, *key; /* of a range; key NULL = the value alone */
    double low, high;
    bool whole; /* numbers of the range have no fraction */
} sweep_dimension;

typedef enum {
    SWEEP_GRID,
    SWEEP_RANDOM,
    SWEEP_LATIN,
    SWEEP_SOBOL,
    SWEEP_ONE_AT_A_TIME,
    SWEEP_HALVING,
    SWEEP_N_METHODS
} sweep_method;

const char *sweep_method_name(sweep_method m);

typedef struct {
    const char *path;
    sweep_dimension *dims;
    size_t n_dims;
    sweep_method method;
    uint32_t method_line;
    uint32_t n_samples;    /* random, latin, sobol */
    uint64_t seed;         /* random, latin */
    size_t by;             /* halving: dimension of the rounds */
    const char *objective; /* halving: the figure that is to be small */
} sweep_manifest;

/* VPU_ERR_PARSE  not a manifest: "path:line: error: what, what to write" */
vpu_status sweep_manifest_parse(const file_bytes *text, arena *a,
                                sweep_manifest *out, vpu_error *err);
/* Also VPU_ERR_IO and VPU_ERR_LIMIT of file_read. */
vpu_status sweep_manifest_read(const char *path, arena *a, sweep_manifest *out,
                               vpu_error *err);

#endif
