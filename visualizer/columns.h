/* The slices of a lane in few bytes. Private to the visualizer.
 *
 * TL_BLOCK slices at a time are packed: each column of a block as differences
 * to its least value, in as many bytes as the largest needs: 0, 1, 2, 4 or 8.
 * So any slice is found without unpacking others. Slices of a block whose
 * arguments have the same names and kinds share columns of these. The last
 * slices of a lane, which may still change, lie unpacked in its tail. */
#ifndef VPU_VISUALIZER_COLUMNS_H
#define VPU_VISUALIZER_COLUMNS_H

#include "visualizer/timeline.h"

typedef struct {
    uint64_t begin, length;
    uint32_t number;      /* TL_NO_NUMBER: none */
    uint32_t shape;       /* of its arguments */
    uint32_t first_value; /* of them */
    uint16_t name;
} tl_tail_slice;

struct tl_tail {
    tl_tail_slice slices[TL_BLOCK];
    uint64_t *values, n_values, cap_values; /* of arguments */
};

/* A block, or the tail; class: of each name. */
void tl_spread_block(const tl_lane *l, uint64_t block, const uint8_t *class,
                     tl_spread *out);
/* Doubles *cap elements of size bytes; large ones move without copying. False:
 * no memory, everything as it was. */
bool tl_grow(void *items, uint64_t *cap, size_t size);
/* An empty tail for slice n_slices, the first of a block; what the tail held is
 * packed. False: no memory. */
bool tl_begin_block(tl_lane *l, uint64_t begin);
/* A class that the lane had not so far. False: no memory. */
bool tl_add_class(tl_lane *l, tl_class class);

/* Slice n_slices, without a length, behind the others. False: no memory. */
static inline bool tl_put_slice(tl_lane *l, uint64_t begin, tl_name name,
                                uint32_t number)
{
    uint64_t at = l->n_slices % TL_BLOCK;

    if (!at && !tl_begin_block(l, begin))
        return false;
    l->tail->slices[at] =
        (tl_tail_slice){.begin = begin,
                        .number = number,
                        .first_value = (uint32_t)l->tail->n_values,
                        .name = (uint16_t)name};
    l->has_numbers |= number != TL_NO_NUMBER;
    l->n_slices++;
    return true;
}

/* The last slice ends then; its class, by its name, has its length more. False:
 * no memory. */
static inline bool tl_put_end(tl_lane *l, uint64_t end, const uint8_t *class)
{
    tl_tail_slice *slice = &l->tail->slices[(l->n_slices - 1) % TL_BLOCK];
    uint8_t c = class[slice->name];
    uint32_t k = 0;

    slice->length = end - slice->begin;
    while (k < l->n_classes && l->class_at[k] != c)
        k++;
    if (k == l->n_classes && !tl_add_class(l, (tl_class)c))
        return false;
    l->now[c] += slice->length;
    return true;
}

/* Arguments of the last slice; they join those it has. False: no memory. */
bool tl_put_args(tl_lane *l, struct tl_shapes *shapes, const tl_args *args);
/* Sums of all before block b; those of classes that do not occur stay. */
void tl_block_sums(const tl_lane *l, uint64_t b, uint64_t sums[TL_N_CLASSES]);

/* Arguments of an instant as bytes, at most TL_ARG_BYTES(n) of them; how
 * many. */
#define TL_ARG_BYTES(n) (10 + (n) * 20)
size_t tl_pack_args(uint8_t *to, const tl_args *args);
size_t tl_unpack_args(const uint8_t *p, tl_arg *args, size_t cap);

#endif
