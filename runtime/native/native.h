/* The stages of a blob that are no custom layers: what they compute.
 *
 * A stage becomes an operation once, when its record is checked against its
 * buffers; the operation then runs on the memory it is given, as often as
 * wanted. What a stage computes is in docs/networks.md, "Values": in
 * float, rounded once to half at the end, unless its row says otherwise.
 * The same input gives the same bytes, whatever the host and its threads. */
#ifndef VPU_RUNTIME_NATIVE_NATIVE_H
#define VPU_RUNTIME_NATIVE_NATIVE_H

#include "runtime/blob/blob.h"

typedef struct native_op native_op;

/* A tensor of an operation, as the record has it. */
typedef struct {
    const blob_buffer *buffer;
    uint64_t span; /* bytes from its first element to behind the last */
    bool written;
    const char *name; /* "in0", "out0", "temp0", "weights" */
} native_operand;

/* Check a stage, and what it injects. Everything is in a; b and s are borrowed.
 *
 * VPU_ERR_PARSE        params or buffers are not what the stage has: field,
 *                      value, what was expected
 * VPU_ERR_UNSUPPORTED  the stage is not run here (which, and why), or this form
 *                      of it is not */
vpu_status native_make(const blob *b, const blob_stage *s, arena *a,
                       native_op **out, vpu_error *err);

/* The tensors that are there, those of the injected stage last. */
uint32_t native_n_operands(const native_op *op);
const native_operand *native_operand_at(const native_op *op, uint32_t i);

/* Threads of the host for one run: calls part(arg, i) for i from 0 to n - 1, in
 * any order, on any of them, and returns when all have returned. */
typedef struct {
    void (*each)(void *user, uint32_t n, void (*part)(void *arg, uint32_t i),
                 void *arg);
    /* Is the run given up? What it has written by then does not matter. NULL:
     * it never is. */
    bool (*stopped)(void *user);
    void *user;
} native_threads;

/* Run it: data has the first byte of each operand. Scratch memory is taken from
 * a; a shortage leaves as oom.h says. No other thread uses a or the operands.
 * threads NULL: the caller's alone. */
void native_run(const native_op *op, void *const *data, arena *a,
                const native_threads *threads);

/* What is run, and what is not: a line each, "number  name  how". */
void native_stages(str *out);
/* Is the number in the table of stages that run? */
bool native_runs(uint32_t type);

#endif
