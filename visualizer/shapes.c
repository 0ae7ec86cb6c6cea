/* A shape's child is found by an open hash table of parents and keys. */
#include "visualizer/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "visualizer/columns.h"

enum { FIRST_SLOTS = 64 };

tl_shapes *tl_shapes_create(void)
{
    tl_shapes *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->n_slots = FIRST_SLOTS;
    s->slots = calloc(s->n_slots, sizeof *s->slots);
    if (!s->slots || !tl_grow(&s->nodes, &s->cap, sizeof *s->nodes)) {
        tl_shapes_free(s);
        return NULL;
    }
    s->nodes[0] = (tl_shape){0};
    s->n = 1;
    return s;
}

void tl_shapes_free(tl_shapes *s)
{
    if (!s)
        return;
    free(s->nodes);
    free(s->slots);
    free(s);
}

uint64_t tl_shapes_bytes(const tl_shapes *s)
{
    return s->n * sizeof *s->nodes + s->n_slots * sizeof *s->slots;
}

/* Where it is, or would be. */
static uint32_t *slot_of(const tl_shapes *s, uint32_t parent, tl_arg_key key)
{
    uint64_t at = ((uint64_t)parent << 32 | key) * UINT64_C(0x9e3779b97f4a7c15);

    for (at >>= 32;; at++) {
        uint32_t *slot = &s->slots[at & (s->n_slots - 1)];

        if (!*slot ||
            (s->nodes[*slot].parent == parent && s->nodes[*slot].key == key))
            return slot;
    }
}

static int grow_slots(tl_shapes *s)
{
    uint32_t *slots = calloc(2 * (size_t)s->n_slots, sizeof *slots);

    if (!slots)
        return 0;
    free(s->slots);
    s->slots = slots;
    s->n_slots *= 2;
    for (uint32_t i = 1; i < s->n; i++)
        *slot_of(s, s->nodes[i].parent, s->nodes[i].key) = i;
    return 1;
}

static uint32_t add(tl_shapes *s, uint32_t parent, tl_arg_key key)
{
    enum { MOST = 1 << 30 }; /* slots are twice as many */
    uint32_t i = (uint32_t)s->n;

    if (s->n == MOST || (2 * s->n >= s->n_slots && !grow_slots(s)) ||
        (s->n == s->cap && !tl_grow(&s->nodes, &s->cap, sizeof *s->nodes)))
        return 0;
    s->nodes[i] =
        (tl_shape){.parent = parent, .key = key, .n = s->nodes[parent].n + 1};
    s->n++;
    return i;
}

uint32_t tl_shape_find(tl_shapes *s, uint32_t shape, tl_arg_key key)
{
    uint32_t found = *slot_of(s, shape, key);

    if (!found) {
        if (!(found = add(s, shape, key)))
            return 0;
        *slot_of(s, shape, key) = found;
    }
    s->nodes[shape].likely = found;
    return found;
}
