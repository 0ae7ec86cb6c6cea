/* Packing and finding: a block is packed when its last slice has its end, and
 * never touched again. */
#include "visualizer/columns.h"

#include <stdlib.h>
#include <string.h>

#include "visualizer/shapes.h"

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

/* A loop for each width, for the compiler's vectors. */
static inline uint8_t *put_some(uint8_t *restrict to,
                                const uint64_t *restrict values, unsigned n,
                                uint8_t width)
{
    if (width == 1) {
        for (unsigned i = 0; i < n; i++)
            to[i] = (uint8_t)values[i];
    } else if (width == 2) {
        uint16_t two[TL_BLOCK];

        for (unsigned i = 0; i < n; i++)
            two[i] = (uint16_t)values[i];
        memcpy(to, two, n * sizeof *two);
    } else if (width == 4) {
        uint32_t four[TL_BLOCK];

        for (unsigned i = 0; i < n; i++)
            four[i] = (uint32_t)values[i];
        memcpy(to, four, n * sizeof *four);
    } else if (width == 8) {
        memcpy(to, values, n * sizeof *values);
    }
    return to + n * width;
}

static uint8_t *put(uint8_t *to, const uint64_t values[TL_BLOCK], uint8_t width)
{
    return put_some(to, values, TL_BLOCK, width);
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

/* All of a column; loops as in put_some. */
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

/* --- blocks -------------------------------------------------------------- */

static inline uint64_t least_of(const uint64_t *values, unsigned n)
{
    uint64_t least = values[0];

    for (unsigned i = 1; i < n; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

static uint64_t least(const uint64_t values[TL_BLOCK])
{
    return least_of(values, TL_BLOCK);
}

static inline uint8_t reduce_some(uint64_t *values, unsigned n, uint64_t base)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < n; i++)
        all |= values[i] -= base;
    return width_of(all);
}

/* Less base; the bytes that each then needs. */
static uint8_t reduce(uint64_t values[TL_BLOCK], uint64_t base)
{
    return reduce_some(values, TL_BLOCK, base);
}

_Static_assert(TL_BLOCK == 32, "a bit of a mask for each slice");

/* The slices of the tail with the same shape as slice i. */
static uint32_t same_shape(const struct tl_tail *t, unsigned i)
{
    uint32_t mask = 0;

    for (unsigned k = 0; k < TL_BLOCK; k++)
        mask |= (uint32_t)(t->slices[k].shape == t->slices[i].shape) << k;
    return mask;
}

/* Arguments of slice i of a full tail. */
static unsigned count_args(const struct tl_tail *t, unsigned i)
{
    uint64_t end =
        i + 1 < TL_BLOCK ? t->slices[i + 1].first_value : t->n_values;

    return (unsigned)(end - t->slices[i].first_value);
}

/* One argument of n slices, whose values begin at `first`. */
static uint8_t *pack_values(const uint64_t *from, const uint32_t *first,
                            unsigned n, uint8_t *to)
{
    uint64_t values[TL_BLOCK], base = from[first[0]], differ = 0;
    uint8_t width;

    for (unsigned i = 0; i < n; i++) {
        values[i] = from[first[i]];
        differ |= values[i] ^ base;
    }
    if (differ)
        base = least_of(values, n);
    to = put_varint(to, base);
    *to++ = width = differ ? reduce_some(values, n, base) : 0;
    return n == TL_BLOCK ? put(to, values, width)
                         : put_some(to, values, n, width);
}

/* A shape, which slices have it, and for each argument a column: its least
 * value, a width, the rest. */
static bool pack_shape(tl_lane *l, unsigned i, uint32_t mask)
{
    const struct tl_tail *t = l->tail;
    unsigned n = count_args(t, i), n_slices = 0;
    uint32_t first[TL_BLOCK];
    uint8_t *to;

    for (uint32_t left = mask; left; left &= left - 1)
        first[n_slices++] = t->slices[__builtin_ctz(left)].first_value;
    if (!reserve(&l->args, l->n_args, &l->cap_args,
                 10 + sizeof mask + n * (10 + 1 + sizeof(uint64_t) * TL_BLOCK)))
        return false;
    to = put_varint(l->args + l->n_args, t->slices[i].shape);
    memcpy(to, &mask, sizeof mask);
    to += sizeof mask;
    for (unsigned k = 0; k < n; k++)
        to = pack_values(t->values + k, first, n_slices, to);
    l->n_args = (uint64_t)(to - l->args);
    return true;
}

static bool pack_args(tl_lane *l, tl_block *b)
{
    uint32_t left = UINT32_MAX;

    b->args = l->n_args;
    while (left) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint32_t mask = same_shape(l->tail, i);

        left &= ~mask;
        if (!l->tail->slices[i].shape)
            continue;
        if (!pack_shape(l, i, mask))
            return false;
        b->n_shapes++;
    }
    return true;
}

static bool pack_tail(tl_lane *l)
{
    const struct tl_tail *t = l->tail;
    uint64_t begins[TL_BLOCK], lengths[TL_BLOCK], names[TL_BLOCK],
        numbers[TL_BLOCK];
    tl_block b = {.packed = l->n_packed};
    uint8_t *to;

    for (int i = 0; i < TL_BLOCK; i++) {
        begins[i] = t->slices[i].begin;
        lengths[i] = t->slices[i].length;
        names[i] = t->slices[i].name;
        numbers[i] = t->slices[i].number + 1; /* modulo 2^32: none is least */
    }
    b.name = (uint16_t)least(names);
    b.number = (uint32_t)least(numbers);
    b.begin_width = reduce(begins, t->slices[0].begin);
    b.length_width = reduce(lengths, 0);
    b.name_width = reduce(names, b.name);
    b.number_width = reduce(numbers, b.number);
    if ((l->has_args && !pack_args(l, &b)) ||
        !reserve(&l->packed, l->n_packed, &l->cap_packed,
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
    return true;
}

/* A line of sums for the block that begins at t. */
static bool sum_before(tl_lane *l, uint64_t t)
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

/* A column more in its sums. They are laid out anew when their lines are full,
 * four times at most. */
bool tl_add_class(tl_lane *l, tl_class class)
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

bool tl_begin_block(tl_lane *l, uint64_t begin)
{
    if (!l->tail && !(l->tail = calloc(1, sizeof *l->tail)))
        return false;
    if (l->n_slices && l->n_blocks * TL_BLOCK < l->n_slices && !pack_tail(l))
        return false;
    l->tail->n_values = 0;
    return sum_before(l, begin);
}

uint64_t tl_begin(const tl_lane *l, uint64_t i)
{
    uint64_t at = i / TL_BLOCK;

    if (at >= l->n_blocks)
        return l->tail->slices[i % TL_BLOCK].begin;
    return l->block_begin[at] + get(l->packed + l->blocks[at].packed,
                                    l->blocks[at].begin_width, i % TL_BLOCK);
}

uint64_t tl_length(const tl_lane *l, uint64_t i)
{
    const tl_block *b;

    if (i / TL_BLOCK >= l->n_blocks)
        return l->tail->slices[i % TL_BLOCK].length;
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
        return l->tail->slices[i % TL_BLOCK].name;
    b = &l->blocks[i / TL_BLOCK];
    return b->name + (tl_name)get(names_at(l, b), b->name_width, i % TL_BLOCK);
}

uint32_t tl_number(const tl_lane *l, uint64_t i)
{
    const tl_block *b;

    if (i / TL_BLOCK >= l->n_blocks)
        return l->tail->slices[i % TL_BLOCK].number;
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
        for (uint64_t i = 0; i < out->n; i++) {
            out->begin[i] = l->tail->slices[i].begin;
            out->length[i] = l->tail->slices[i].length;
            out->class[i] = class[l->tail->slices[i].name];
        }
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

static void set_value(tl_arg *a, uint64_t value)
{
    if (a->kind == TL_ARG_REAL)
        memcpy(&a->real, &value, sizeof value);
    else if (a->kind == TL_ARG_UINT)
        a->number = value;
    else
        a->text = (tl_name)value;
}

size_t tl_pack_args(uint8_t *to, const tl_args *args)
{
    uint8_t *p = put_varint(to, args->n);

    for (size_t i = 0; i < args->n; i++) {
        p = put_varint(p, args->keys[i]);
        p = put_varint(p, args->values[i]);
    }
    return (size_t)(p - to);
}

size_t tl_unpack_args(const uint8_t *p, tl_arg *args, size_t cap)
{
    size_t n = get_varint(&p);

    n = n < cap ? n : cap;
    for (size_t i = 0; i < n; i++) {
        tl_arg_key key = (tl_arg_key)get_varint(&p);

        args[i] = (tl_arg){.name = key >> 2, .kind = key & 3};
        set_value(&args[i], get_varint(&p));
    }
    return n;
}

bool tl_put_args(tl_lane *l, tl_shapes *shapes, const tl_args *args)
{
    struct tl_tail *t = l->tail;
    uint32_t *shape = &t->slices[(l->n_slices - 1) % TL_BLOCK].shape;
    size_t room = TL_SLICE_ARGS - shapes->nodes[*shape].n;
    size_t n = args->n < room ? args->n : room;

    if (!n)
        return true;
    while (t->cap_values - t->n_values < n)
        if (!tl_grow(&t->values, &t->cap_values, sizeof *t->values))
            return false;
    for (size_t i = 0; i < n; i++) {
        if (!(*shape = tl_shape_with(shapes, *shape, args->keys[i])))
            return false;
        t->values[t->n_values++] = args->values[i];
    }
    l->has_args = true;
    return true;
}

/* Names and kinds, up to cap of them; how many. */
static size_t get_keys(const tl_shapes *s, uint32_t shape, tl_arg *args,
                       size_t cap)
{
    size_t n = s->nodes[shape].n;

    for (; shape; shape = s->nodes[shape].parent) {
        uint32_t i = s->nodes[shape].n - 1;
        tl_arg_key key = s->nodes[shape].key;

        if (i < cap)
            args[i] = (tl_arg){.name = key >> 2, .kind = key & 3};
    }
    return n < cap ? n : cap;
}

/* Of n slices that share columns, that with `rank` before it. */
static size_t get_args(const tl_shapes *s, uint32_t shape, const uint8_t *p,
                       unsigned n, unsigned rank, tl_arg *args, size_t cap)
{
    size_t n_args = get_keys(s, shape, args, cap);

    for (size_t k = 0; k < n_args; k++) {
        uint64_t base = get_varint(&p);
        uint8_t width = *p++;

        set_value(&args[k], base + get(p, width, rank));
        p += (size_t)width * n;
    }
    return n_args;
}

static const uint8_t *behind_args(const tl_shapes *s, uint32_t shape,
                                  const uint8_t *p, unsigned n)
{
    for (uint32_t k = 0; k < s->nodes[shape].n; k++) {
        get_varint(&p);
        p += 1 + (size_t)*p * n;
    }
    return p;
}

static size_t tail_args(const tl_shapes *s, const struct tl_tail *t, unsigned i,
                        tl_arg *args, size_t cap)
{
    size_t n = get_keys(s, t->slices[i].shape, args, cap);

    for (size_t k = 0; k < n; k++)
        set_value(&args[k], t->values[t->slices[i].first_value + k]);
    return n;
}

size_t tl_slice_args(const tl_timeline *tl, const tl_lane *l, uint64_t slice,
                     tl_arg *args, size_t cap)
{
    unsigned i = slice % TL_BLOCK;
    const tl_block *b;
    const uint8_t *p;

    if (!l->has_args)
        return 0;
    if (slice / TL_BLOCK >= l->n_blocks)
        return tail_args(tl->shapes, l->tail, i, args, cap);
    b = &l->blocks[slice / TL_BLOCK];
    p = l->args + b->args;
    for (unsigned k = 0; k < b->n_shapes; k++) {
        uint32_t shape = (uint32_t)get_varint(&p), mask;
        unsigned n;

        memcpy(&mask, p, sizeof mask);
        p += sizeof mask;
        n = (unsigned)__builtin_popcount(mask);
        if (mask >> i & 1)
            return get_args(
                tl->shapes, shape, p, n,
                (unsigned)__builtin_popcount(mask & ((UINT32_C(1) << i) - 1)),
                args, cap);
        p = behind_args(tl->shapes, shape, p, n);
    }
    return 0;
}
