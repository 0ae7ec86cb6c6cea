/* One stage in a blob of its own, on memory of its own: for tests of what it
 * computes. Tensors are arrays of doubles, without gaps, the fastest dim first,
 * whatever their strides in the stage's memory. */
#ifndef VPU_TESTS_RUNTIME_NATIVE_STAGE_RIG_H
#define VPU_TESTS_RUNTIME_NATIVE_STAGE_RIG_H

#include "runtime/blob/stage.h"
#include "runtime/native/native.h"

enum { UNIT_TENSORS = 24, UNIT_WORDS = 256 };

typedef struct {
    arena *a;
    blob b;
    blob_stage s;
    blob_buffer buffers[UNIT_TENSORS];
    uint32_t words[UNIT_WORDS];
    double *v[UNIT_TENSORS]; /* values: of inputs set, of outputs read */
    uint64_t n[UNIT_TENSORS];
    uint32_t places[BLOB_N_LOCATIONS]; /* bytes in use */
    bool shared[UNIT_TENSORS]; /* inputs that lie where an output does */
    bool gaps;                 /* strides of tensors that are added have gaps */
    uint64_t state;
    vpu_error err;
} stage_rig;

/* Numbers without an upper bit, from a seed that each start sets anew. */
uint32_t unit_below(stage_rig *r, uint32_t n);
double unit_between(stage_rig *r, double least, double most);

void unit_start(stage_rig *r, uint32_t type, bool gaps);
void unit_end(stage_rig *r);

void unit_word(stage_rig *r, int64_t v);
void unit_float(stage_rig *r, double v);

/* The next buffer; its number. dims: as many as the order has digits, the
 * fastest first. Inputs and constants are 0, to be filled. */
uint32_t unit_in(stage_rig *r, uint32_t type, uint32_t order, ...);
uint32_t unit_out(stage_rig *r, uint32_t type, uint32_t order, ...);
uint32_t unit_constant(stage_rig *r, uint32_t type, uint32_t order, ...);
uint32_t unit_absent(stage_rig *r);
/* That output, which has been added without gaps, gets its dims when it runs:
 * the record has its strides alone. */
void unit_dynamic(stage_rig *r, uint32_t t);

/* That input lies so many elements behind the beginning of that output, or
 * before it, without gaps. */
void unit_share(stage_rig *r, uint32_t in, uint32_t out, int behind);

/* Values between the two, rounded to the tensor's type; of integers, whole
 * ones. */
void unit_fill(stage_rig *r, uint32_t t, double least, double most);
void unit_set(stage_rig *r, uint32_t t, uint64_t i, double v);
/* n integers, given as ints. */
void unit_ints(stage_rig *r, uint32_t t, uint32_t n, ...);
/* v as a value of the type. */
double unit_rounded(uint32_t type, double v);

/* Size of the dim with that letter (1 W, 2 H, 3 C, 4 N, 5 D), 1 without. */
uint32_t unit_size(const stage_rig *r, uint32_t t, uint32_t letter);
/* The value at that place; dims that there are not are not looked at. */
double *unit_at(const stage_rig *r, uint32_t t, uint32_t n, uint32_t c,
                uint32_t h, uint32_t w);

/* Run it twice, once with its parts in another order: asserts that it can, that
 * both give the same bytes and that no others were written. Then records that
 * are much like it, of which nothing is asked but that they do no harm. */
void unit_run(stage_rig *r);
/* The stage, made but not run: for what needs no data. */
const native_op *unit_make(stage_rig *r);
/* Run it, given up when it has asked so many times. */
void unit_give_up(stage_rig *r, uint32_t asked);
/* Asserts that it cannot, with that status, and a message that has the text. */
void unit_fails(stage_rig *r, vpu_status st, const char *text);

/* Asserts that the two are a half's rounding apart, and `more`. */
void unit_near(double got, double want, double more);
void unit_all_near(const stage_rig *r, uint32_t t, const double *want,
                   double more);

#endif
