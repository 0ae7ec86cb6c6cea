/* Stages of a blob: their numbers, names and parameters. */
#ifndef VPU_RUNTIME_BLOB_STAGE_H
#define VPU_RUNTIME_BLOB_STAGE_H

#include "runtime/blob/blob.h"

enum {
    STAGE_NONE = 5,
    STAGE_COPY = 19,
    STAGE_PERMUTE = 34,
    STAGE_HW = 38,
    STAGE_OLD_CUSTOM = 68, /* of 2019 */
    STAGE_CONVERT = 111,
    STAGE_CUSTOM = 115,
    STAGE_LOOP_START = 119,
    STAGE_LOOP_END = 120
};

/* Name in the last compiler's table, NULL for numbers it does not have. */
const char *stage_name(uint32_t type);
/* Which unit runs it. */
bool stage_is_hw(uint32_t type);
bool stage_is_dma(uint32_t type);

/* Tags of a custom stage's arguments below the numbers of buffers. */
enum { STAGE_ARG_INT = -1, STAGE_ARG_FLOAT = -2, STAGE_ARG_LOCAL = -3 };

typedef struct {
    uint32_t value; /* int, bits of a float, bytes of local memory; 0 */
    int32_t tag;    /* one of the above, or a buffer's number */
} stage_arg;

/* Parameters of STAGE_CUSTOM, and of STAGE_OLD_CUSTOM, where groups are items
 * and kernel is its address.
 *
 * Buffers of the record: stage inputs, the last of them the kernel's file; then
 * stage outputs; then one temporary. */
typedef struct {
    uint32_t groups[3], local[3], offset[3];
    uint32_t max_shaves; /* 0 = no limit */
    uint32_t kernel;     /* index in the kernel file */
    uint32_t n_data;     /* inputs, input buffers and data the binding names */
    uint32_t n_buffers;  /* stage inputs and outputs, without the temporary */
    const stage_arg *args; /* of the kernel, in its order */
    uint32_t n_args;
} stage_custom;

/* False when s is not a custom stage or its parameters are not as many as they
 * say. args are put in a. */
bool stage_custom_read(const blob_stage *s, arena *a, stage_custom *out);
/* The parameters of either kind of custom stage, in a. */
void stage_custom_write(const stage_custom *c, uint32_t type, arena *a,
                        blob_stage *out);
/* Number of the buffer that is the kernel's file. */
static inline uint32_t stage_custom_elf(const stage_custom *c)
{
    return c->n_data;
}

/* Order code: dims as digits. The number of digits, 0 when one is repeated or a
 * gap is in them. */
uint32_t stage_order_rank(uint32_t order);
/* "NCHW", or the code in hex; a needs to live as long as the text. */
const char *stage_order_name(uint32_t order, arena *a);
/* The eight parameters of a Permute from one order to another of equal dims. */
void stage_permute_params(uint32_t from, uint32_t to, uint32_t out[8]);

const char *blob_type_name(uint32_t type); /* "FP16"; NULL when unknown */
uint32_t blob_type_bytes(uint32_t type);   /* 0 when unknown */
const char *blob_location_name(uint32_t location); /* NULL when unknown */
/* Bytes of a whole tensor: the major stride times its dim. One element without
 * dims. */
uint64_t blob_desc_bytes(const blob_desc *d);
/* From the first byte of the first element to behind the last one: of a view,
 * whose strides are those of a larger tensor, less than that. 0: a dim is. */
uint64_t blob_desc_span(const blob_desc *d);

#endif
