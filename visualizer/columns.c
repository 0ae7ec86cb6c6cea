/* Packing and finding: a block is packed when its last slice has its end, and
 * never touched again. */
#include "visualizer/columns.h"

#include <stdlib.h>
#include <string.h>

bool tl_grow(void *items, uint64_t *cap, size_t size)
{
    uint64_t want = *cap ? *cap * 2 : 16;
    void *old, *p;

    memcpy(&old, items, sizeof old);
    p = realloc(old, want * size);
    if (!p)
        return false;
    memcpy(items, &p, sizeof p);
    *cap = want;
    return true;
}

static bool reserve(uint8_t **bytes, uint64_t used, uint64_t *cap, uint64_t n)
{
    while (*cap - used < n)
        if (!tl_grow(bytes, cap, 1))
            return false;
    return true;
}

/* --- numbers of 0, 1, 2, 4 or 8 bytes ------------------------------------ */

static uint8_t width_of(uint64_t most)
{
    return most > UINT32_MAX   ? 8
           : most > UINT16_MAX ? 4
           : most > UINT8_MAX  ? 2
           : most              ? 1
                               : 0;
}

static uint8_t *put(uint8_t *to, const uint64_t values[TL_BLOCK], uint8_t width)
{
    if (width == 8)
        memcpy(to, values, TL_BLOCK * sizeof *values);
    for (int i = 0; i < TL_BLOCK && width < 8; i++) {
        uint16_t two = (uint16_t)values[i];
        uint32_t four = (uint32_t)values[i];

        if (width == 1)
            to[i] = (uint8_t)values[i];
        else if (width == 2)
            memcpy(to + 2 * i, &two, 2);
        else if (width == 4)
            memcpy(to + 4 * i, &four, 4);
    }
    return to + TL_BLOCK * width;
}

static inline uint64_t get(const uint8_t *from, uint8_t width, uint64_t i)
{
    uint64_t eight;
    uint32_t four;
    uint16_t two;

    switch (width) {
    case 0:
        return 0;
    case 1:
        return from[i];
    case 2:
        memcpy(&two, from + 2 * i, 2);
        return two;
    case 4:
        memcpy(&four, from + 4 * i, 4);
        return four;
    default:
        memcpy(&eight, from + 8 * i, 8);
        return eight;
    }
}

/* All of a column; a loop for each width, for the compiler's vectors. */
static void get_all(const uint8_t *restrict from, uint8_t width, uint64_t base,
                    uint64_t *restrict to)
{
    if (width == 0) {
        for (int i = 0; i < TL_BLOCK; i++)
            to[i] = base;
    } else if (width == 1) {
        for (int i = 0; i < TL_BLOCK; i++)
            to[i] = base + from[i];
    } else if (width == 2) {
        uint16_t two[TL_BLOCK];

        memcpy(two, from, sizeof two);
        for (int i = 0; i < TL_BLOCK; i++)
            to[i] = base + two[i];
    } else {
        for (int i = 0; i < TL_BLOCK; i++)
            to[i] = base + get(from, width, (uint64_t)i);
    }
}

static const uint8_t *lengths_at(const tl_lane *l, const tl_block *b)
{
    return l->packed + b->packed + TL_BLOCK * b->begin_width;
}

static const uint8_t *names_at(const tl_lane *l, const tl_block *b)
{
    return lengths_at(l, b) + TL_BLOCK * b->length_width;
}

static void class_all(const uint8_t *names, const tl_block *b,
                      const uint8_t *class, uint8_t to[TL_BLOCK])
{
    if (b->name_width == 0)
        memset(to, class[b->name], TL_BLOCK);
    else if (b->name_width == 1)
        for (int i = 0; i < TL_BLOCK; i++)
            to[i] = class[b->name + names[i]];
    else
        for (int i = 0; i < TL_BLOCK; i++)
            to[i] = class[b->name + get(names, b->name_width, (uint64_t)i)];
}

static const uint8_t *numbers_at(const tl_lane *l, const tl_block *b)
{
    return names_at(l, b) + TL_BLOCK * b->name_width;
}

/* --- blocks -------------------------------------------------------------- */

static uint64_t least(const uint64_t values[TL_BLOCK])
{
    uint64_t n = values[0];

    for (int i = 1; i < TL_BLOCK; i++)
        n = values[i] < n ? values[i] : n;
    return n;
}

/* Less base; the bytes that each then needs. */
static uint8_t reduce(uint64_t values[TL_BLOCK], uint64_t base)
{
    uint64_t all = 0;

    for (int i = 0; i < TL_BLOCK; i++)
        all |= values[i] -= base;
    return width_of(all);
}

static bool pack_tail(tl_lane *l)
{
    const struct tl_tail *t = l->tail;
    uint64_t begins[TL_BLOCK], lengths[TL_BLOCK], names[TL_BLOCK],
        numbers[TL_BLOCK];
    tl_block b = {.packed = l->n_packed, .args = l->tail_args};
    uint8_t *to;

    memcpy(begins, t->begin, sizeof begins);
    memcpy(lengths, t->length, sizeof lengths);
    for (int i = 0; i < TL_BLOCK; i++) {
        names[i] = t->name[i];
        numbers[i] = t->number[i] + 1; /* modulo 2^32: none is least */
    }
    b.name = (uint16_t)least(names);
    b.number = (uint32_t)least(numbers);
    b.begin_width = reduce(begins, t->begin[0]);
    b.length_width = reduce(lengths, 0);
    b.name_width = reduce(names, b.name);
    b.number_width = reduce(numbers, b.number);
    if (!reserve(&l->packed, l->n_packed, &l->cap_packed,
                 sizeof begins + sizeof lengths + sizeof names +
                     sizeof numbers) ||
        (l->n_blocks == l->cap_blocks &&
         !tl_grow(&l->blocks, &l->cap_blocks, sizeof *l->blocks)))
        return false;
    to = put(l->packed + l->n_packed, begins, b.begin_width);
    to = put(to, lengths, b.length_width);
    to = put(to, names, b.name_width);
    to = put(to, numbers, b.number_width);
    l->n_packed = (uint64_t)(to - l->packed);
    l->blocks[l->n_blocks++] = b;
    l->tail_args = l->n_args;
    return true;
}

/* A line of sums for the block that begins at t. */
static bool begin_block(tl_lane *l, uint64_t t)
{
    uint64_t need = (l->n_block_begin + 1) * l->cap_classes;

    if (l->n_block_begin == l->cap_block_begin &&
        !tl_grow(&l->block_begin, &l->cap_block_begin, sizeof *l->block_begin))
        return false;
    while (l->cap_sums < need)
        if (!tl_grow(&l->sums, &l->cap_sums, sizeof *l->sums))
            return false;
    for (uint32_t k = 0; k < l->n_classes; k++)
        l->sums[need - l->cap_classes + k] = l->now[l->class_at[k]];
    l->block_begin[l->n_block_begin++] = t;
    return true;
}

/* A class that a lane had not so far: a column more in its sums. They are laid
 * out anew when their lines are full, four times at most. */
static bool add_class(tl_lane *l, tl_class class)
{
    uint8_t cap = l->cap_classes ? (uint8_t)(2 * l->cap_classes) : 1;

    if (l->n_classes == l->cap_classes) {
        while (l->cap_sums < l->n_block_begin * cap)
            if (!tl_grow(&l->sums, &l->cap_sums, sizeof *l->sums))
                return false;
        for (uint64_t b = l->n_block_begin; b-- > 0;)
            memmove(l->sums + b * cap, l->sums + b * l->cap_classes,
                    l->n_classes * sizeof *l->sums);
        l->cap_classes = cap;
    }
    for (uint64_t b = 0; b < l->n_block_begin; b++)
        l->sums[b * l->cap_classes + l->n_classes] = 0;
    l->class_at[l->n_classes++] = (uint8_t)class;
    return true;
}

void tl_block_sums(const tl_lane *l, uint64_t b, uint64_t sums[TL_N_CLASSES])
{
    const uint64_t *line = l->sums + b * l->cap_classes;

    for (uint32_t k = 0; k < l->n_classes; k++)
        sums[l->class_at[k]] = line[k];
}

/* --- slices -------------------------------------------------------------- */

bool tl_put_slice(tl_lane *l, uint64_t begin, tl_name name, uint32_t number)
{
    uint64_t at = l->n_slices % TL_BLOCK;

    if (!l->tail && !(l->tail = malloc(sizeof *l->tail)))
        return false;
    if (!at && ((l->n_slices && l->n_blocks * TL_BLOCK < l->n_slices &&
                 !pack_tail(l)) ||
                !begin_block(l, begin)))
        return false;
    l->tail->begin[at] = begin;
    l->tail->length[at] = 0;
    l->tail->name[at] = (uint16_t)name;
    l->tail->number[at] = number;
    l->has_numbers |= number != TL_NO_NUMBER;
    l->n_slices++;
    return true;
}

bool tl_put_end(tl_lane *l, uint64_t end, const uint8_t *class)
{
    uint64_t at = (l->n_slices - 1) % TL_BLOCK;
    uint64_t length = end - l->tail->begin[at];
    uint8_t c = class[l->tail->name[at]];
    uint32_t k = 0;

    l->tail->length[at] = length;
    while (k < l->n_classes && l->class_at[k] != c)
        k++;
    if (k == l->n_classes && !add_class(l, c))
        return false;
    l->now[c] += length;
    return true;
}

uint64_t tl_begin(const tl_lane *l, uint64_t i)
{
    uint64_t at = i / TL_BLOCK;

    if (at >= l->n_blocks)
        return l->tail->begin[i % TL_BLOCK];
    return l->block_begin[at] + get(l->packed + l->blocks[at].packed,
                                    l->blocks[at].begin_width, i % TL_BLOCK);
}

uint64_t tl_length(const tl_lane *l, uint64_t i)
{
    const tl_block *b;

    if (i / TL_BLOCK >= l->n_blocks)
        return l->tail->length[i % TL_BLOCK];
    b = &l->blocks[i / TL_BLOCK];
    return get(lengths_at(l, b), b->length_width, i % TL_BLOCK);
}

uint64_t tl_end(const tl_lane *l, uint64_t i)
{
    return tl_begin(l, i) + tl_length(l, i);
}

tl_name tl_name_of(const tl_lane *l, uint64_t i)
{
    const tl_block *b;

    if (i / TL_BLOCK >= l->n_blocks)
        return l->tail->name[i % TL_BLOCK];
    b = &l->blocks[i / TL_BLOCK];
    return b->name + (tl_name)get(names_at(l, b), b->name_width, i % TL_BLOCK);
}

uint32_t tl_number(const tl_lane *l, uint64_t i)
{
    const tl_block *b;

    if (i / TL_BLOCK >= l->n_blocks)
        return l->tail->number[i % TL_BLOCK];
    b = &l->blocks[i / TL_BLOCK];
    return b->number - 1 +
           (uint32_t)get(numbers_at(l, b), b->number_width, i % TL_BLOCK);
}

void tl_spread_block(const tl_lane *l, uint64_t block, const uint8_t *class,
                     tl_spread *out)
{
    const tl_block *b;

    if (block >= l->n_blocks) {
        out->n = l->n_slices - block * TL_BLOCK;
        memcpy(out->begin, l->tail->begin, out->n * sizeof *out->begin);
        memcpy(out->length, l->tail->length, out->n * sizeof *out->length);
        for (uint64_t i = 0; i < out->n; i++)
            out->class[i] = class[l->tail->name[i]];
        return;
    }
    b = &l->blocks[block];
    out->n = TL_BLOCK;
    get_all(l->packed + b->packed, b->begin_width, l->block_begin[block],
            out->begin);
    get_all(lengths_at(l, b), b->length_width, 0, out->length);
    class_all(names_at(l, b), b, class, out->class);
}

/* --- arguments ----------------------------------------------------------- */

static uint8_t *put_varint(uint8_t *p, uint64_t u)
{
    for (; u > 127; u >>= 7)
        *p++ = (uint8_t)(u | 128);
    *p++ = (uint8_t)u;
    return p;
}

static uint64_t get_varint(const uint8_t **p)
{
    uint64_t u = 0;

    for (int shift = 0;; shift += 7) {
        uint8_t c = *(*p)++;

        u |= (uint64_t)(c & 127) << shift;
        if (c < 128)
            return u;
    }
}

size_t tl_pack_args(uint8_t *to, const tl_arg *args, size_t n)
{
    uint8_t *p = put_varint(to, n);

    for (size_t i = 0; i < n; i++) {
        p = put_varint(p, (uint64_t)args[i].name << 2 | args[i].kind);
        if (args[i].kind == TL_ARG_REAL) {
            memcpy(p, &args[i].real, 8);
            p += 8;
        } else {
            p = put_varint(p, args[i].kind == TL_ARG_UINT ? args[i].number
                                                          : args[i].text);
        }
    }
    return (size_t)(p - to);
}

size_t tl_unpack_args(const uint8_t *p, tl_arg *args, size_t cap)
{
    size_t n = get_varint(&p);

    for (size_t i = 0; i < n && i < cap; i++) {
        uint64_t key = get_varint(&p);

        args[i] = (tl_arg){.name = (tl_name)(key >> 2), .kind = key & 3};
        if (args[i].kind == TL_ARG_REAL) {
            memcpy(&args[i].real, p, 8);
            p += 8;
        } else if (args[i].kind == TL_ARG_UINT) {
            args[i].number = get_varint(&p);
        } else {
            args[i].text = (tl_name)get_varint(&p);
        }
    }
    return n < cap ? n : cap;
}

bool tl_put_args(tl_lane *l, const tl_arg *args, size_t n)
{
    uint8_t packed[TL_ARG_BYTES(TL_MAX_ARGS)], *p;
    size_t size = tl_pack_args(packed, args, n < TL_MAX_ARGS ? n : TL_MAX_ARGS);

    if (!reserve(&l->args, l->n_args, &l->cap_args, size + 4))
        return false;
    p = l->args + l->n_args;
    *p++ = (uint8_t)((l->n_slices - 1) % TL_BLOCK);
    p = put_varint(p, size);
    memcpy(p, packed, size);
    l->n_args = (uint64_t)(p - l->args) + size;
    return true;
}

size_t tl_slice_args(const tl_lane *l, uint64_t slice, tl_arg *args, size_t cap)
{
    uint64_t at = slice / TL_BLOCK;
    const uint8_t *p, *end;
    size_t n = 0;

    if (!l->n_args)
        return 0;
    end = l->args + l->n_args;
    p = l->args + (at < l->n_blocks ? l->blocks[at].args : l->tail_args);
    if (at < l->n_blocks)
        end = l->args +
              (at + 1 < l->n_blocks ? l->blocks[at + 1].args : l->tail_args);
    while (p < end && n < cap) {
        uint8_t i = *p++;
        uint64_t size = get_varint(&p);

        if (i > slice % TL_BLOCK)
            break;
        if (i == slice % TL_BLOCK)
            n += tl_unpack_args(p, args + n, cap - n);
        p += size;
    }
    return n;
}
