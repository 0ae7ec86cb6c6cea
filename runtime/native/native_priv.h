/* What the files of stages share. Private to runtime/native.
 *
 * A family of stages has a file: for each row of native.def that names it a
 * `make` function, which reads the params in their order, checks them and the
 * tensors, and leaves what the run needs in op->state, and a `run` function.
 * Neither looks at bytes of the record itself. */
#ifndef VPU_RUNTIME_NATIVE_NATIVE_PRIV_H
#define VPU_RUNTIME_NATIVE_NATIVE_PRIV_H

#include <math.h>

#include "runtime/blob/stage.h"
#include "runtime/native/native.h"

enum { NATIVE_NONE = BLOB_MAX_DIMS };

/* Letters of order codes. */
enum { NATIVE_W = 1, NATIVE_H, NATIVE_C, NATIVE_N, NATIVE_D };

typedef struct {
    native_operand operand;
    bool present; /* false: stands for an absent one (Fake) */
    char kind;    /* letter of its row: i, o, t */
    uint32_t type, order, rank;
    uint32_t dims[BLOB_MAX_DIMS], strides[BLOB_MAX_DIMS]; /* minor first */
    uint64_t n;                                           /* elements */
    uint32_t number; /* among the operands */
} native_tensor;

typedef struct native_row native_row;
typedef struct native_job native_job;

struct native_op {
    const native_row *row;
    const blob_stage *stage;
    uint32_t type;
    native_tensor *tensors; /* in the record's order */
    uint32_t n_tensors, n_operands;
    const void *state; /* what make left for run */
    native_op *injected;
    uint32_t first_operand; /* of an injected one */
};

/* --- making -------------------------------------------------------------- */

typedef struct {
    const blob *blob;
    native_op *op;
    arena *arena;
    vpu_error *err;
    vpu_status st; /* the first problem; what follows it is not looked at */
    uint32_t at;   /* next word of params */
} native_maker;

struct native_row {
    uint32_t type;
    void (*make)(native_maker *m);
    void (*run)(const native_job *j);
    const char *buffers; /* see native.def */
    const char *how;
};

/* The params, one after the other. Out of range: VPU_ERR_PARSE with the name,
 * the value and the range; then, as after any problem, 0 is returned. */
uint32_t native_u32(native_maker *m, const char *name, uint32_t least,
                    uint32_t most);
int32_t native_i32(native_maker *m, const char *name, int32_t least,
                   int32_t most);
/* n of them behind a word that says n. */
void native_vector(native_maker *m, const char *name, uint32_t least,
                   uint32_t most, uint32_t n, uint32_t *out);
float native_f32(native_maker *m, const char *name);   /* no NaN, no infinity */
float native_limit(native_maker *m, const char *name); /* may be infinite */
bool native_flag(native_maker *m, const char *name);   /* 0 or not */
/* All params have been read; checked by native_make behind `make`, too. */
void native_params_end(native_maker *m);

void native_bad(native_maker *m, const char *fmt, ...) VPU_PRINTF(2, 3);
/* VPU_ERR_UNSUPPORTED */
void native_refuse(native_maker *m, const char *fmt, ...) VPU_PRINTF(2, 3);

/* Conditions on tensors, by their place in the record; one that is absent, or a
 * place behind the last, never meets them. */
const native_tensor *native_at(const native_maker *m, uint32_t i);
/* It is an output, though its place does not tell. */
void native_mark_written(native_maker *m, uint32_t i);
#define NATIVE_TYPE(t) (1u << (t))
void native_need_type(native_maker *m, uint32_t i, uint32_t types);
void native_need_rank(native_maker *m, uint32_t i, uint32_t least,
                      uint32_t most);
/* Dims equal in memory order, and orders. */
void native_need_same(native_maker *m, uint32_t i, uint32_t k);
/* Not more than the five dims that orders name; for native_load_planes. */
void native_need_planes(native_maker *m, uint32_t i);
void native_need_elements(native_maker *m, uint32_t i, uint64_t n);
/* The order that tensors of its rank have by default, which is the model's. */
void native_need_plain(native_maker *m, uint32_t i);
/* All inputs and outputs that are there are of type FP16. */
void native_need_halves(native_maker *m);
/* Its size of the dim of that letter. */
void native_need_size(native_maker *m, uint32_t i, uint32_t letter, uint64_t n);
/* An i32 that is the index of a dim of tensor i. */
uint32_t native_axis(native_maker *m, const char *name, uint32_t i);
/* The integers of a constant tensor, known when it is made; of one that is no
 * constant: VPU_ERR_UNSUPPORTED, NULL. */
const int32_t *native_constant(native_maker *m, uint32_t i);

/* --- dims ---------------------------------------------------------------- */

/* Memory index of the dim of that letter; NATIVE_NONE: it has none. */
uint32_t native_dim(const native_tensor *t, uint32_t letter);
/* Its size; 1 where it has none. */
uint32_t native_size(const native_tensor *t, uint32_t letter);
/* Elements of all dims below (and above) index i of the memory order. */
uint64_t native_inner(const native_tensor *t, uint32_t i);
uint64_t native_outer(const native_tensor *t, uint32_t i);

/* Multiply-adds of an operation, for its cost; of a pool, elements of windows.
 */
double native_conv_products(const native_op *op);
double native_pool_products(const native_op *op);
double native_gemm_products(const native_op *op);
double native_lstm_products(const native_op *op);

/* --- running ------------------------------------------------------------- */

struct native_job {
    const native_op *op;
    uint8_t *const *data; /* by operand */
    arena *arena;
    const native_threads *threads;
};

/* Asked at each output whose cost is a product of sizes: a blob from outside
 * may have a part of a stage run for days. */
static inline bool native_stopped(const native_job *j)
{
    return j->threads && j->threads->stopped &&
           j->threads->stopped(j->threads->user);
}

static inline const native_tensor *native_of(const native_job *j, uint32_t i)
{
    return &j->op->tensors[i];
}
/* First byte of tensor i, which is present. */
uint8_t *native_data(const native_job *j, uint32_t i);
/* Room for n values, zeroed, aligned to 64 bytes. */
float *native_room(const native_job *j, uint64_t n);

/* The elements in memory order (the minor dim fastest), without gaps, as floats
 * or, of S32, U8 and I8, as integers. Of an absent tensor: NULL. */
float *native_load(const native_job *j, uint32_t i);
int32_t *native_load_int(const native_job *j, uint32_t i);
/* The same back; halves are rounded to nearest even, floats to integers towards
 * zero and held in range [?]. */
void native_store(const native_job *j, uint32_t i, const float *v);
void native_store_int(const native_job *j, uint32_t i, const int32_t *v);

/* Elements that are only moved: as floats or, of integers, as integers. */
uint32_t *native_load_cells(const native_job *j, uint32_t i);
void native_store_cells(const native_job *j, uint32_t i, const uint32_t *v);

/* The same with the order N, C, D, H, W whatever the memory's: the last index
 * fastest, absent dims 1. */
typedef struct {
    uint32_t n, c, d, h, w;
} native_shape;
native_shape native_shape_of(const native_tensor *t);
float *native_load_planes(const native_job *j, uint32_t i);
void native_store_planes(const native_job *j, uint32_t i, const float *v);

/* Elements of several tensors side by side, dim by dim of the memory: of each
 * the bytes from one element to the next, 0 where it has one for all. Dims that
 * lie behind each other without a gap in all of them count as one. */
enum { NATIVE_ROWS = 4, NATIVE_PIECE = 2048 };
typedef struct {
    uint32_t n, rank;
    uint64_t dims[BLOB_MAX_DIMS + 1], total;
    uint64_t steps[NATIVE_ROWS][BLOB_MAX_DIMS + 1];
} native_rows;

/* Of the n tensors at these places in the record, the first the result's, whose
 * dims the others have, or 1; one that is absent repeats nothing. */
void native_rows_make(native_maker *m, const uint32_t *places, uint32_t n,
                      native_rows *out);
/* piece(arg, at, steps, n) for pieces of rows, of NATIVE_PIECE elements at
 * most: at has the first element of each tensor (NULL: it is absent). Inputs
 * that share memory with the result but are not the same elements are copied
 * before.
 */
typedef void native_piece(void *arg, uint8_t *const *at, const uint64_t *steps,
                          uint64_t n);
void native_rows_run(const native_job *j, const native_rows *r,
                     const uint32_t *places, native_piece *piece, void *arg);

/* n elements a stride apart as floats or integers, and back. */
void native_read(uint32_t type, const uint8_t *at, uint64_t stride, float *v,
                 uint64_t n);
void native_write(uint32_t type, uint8_t *at, uint64_t stride, const float *v,
                  uint64_t n);
void native_read_int(uint32_t type, const uint8_t *at, uint64_t stride,
                     int32_t *v, uint64_t n);
void native_write_int(uint32_t type, uint8_t *at, uint64_t stride,
                      const int32_t *v, uint64_t n);

/* part(arg, k) for k in [0, n), on the job's threads. */
void native_each(const native_job *j, uint32_t n,
                 void (*part)(void *arg, uint32_t k), void *arg);
/* part(arg, first, end) over [0, n) in pieces of about `grain`. */
void native_ranges(const native_job *j, uint64_t n, uint64_t grain,
                   void (*part)(void *arg, uint64_t first, uint64_t end),
                   void *arg);

/* An element of any type as a float, and back. */
float native_get(uint32_t type, const uint8_t *p);
void native_put(uint32_t type, float v, uint8_t *p);

/* The same bits on every host: of the functions of float, glibc has several. */
static inline float native_exp(float x)
{
    return (float)exp((double)x);
}

static inline float native_sigmoid(float x)
{
    return (float)(1 / (1 + exp(-(double)x)));
}

/* UINT64_MAX where it does not fit. */
static inline uint64_t native_times(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static inline float native_clamp(float x, float least, float most)
{
    return x < least ? least : x > most ? most : x;
}

/* half.c: n halves as floats and back, both ways exact or to nearest even. */
void native_from_half(const uint16_t *from, float *to, size_t n);
void native_to_half(const float *from, uint16_t *to, size_t n);

#define NATIVE(number, family, buffers, how)    \
    void native_make_##family(native_maker *m); \
    void native_run_##family(const native_job *j);
#include "runtime/native/native.def"

#endif
