/* See shapes.h. */
#include "visualizer/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "visualizer/columns.h"

tl_shapes *tl_shapes_create(void)
{
    tl_shapes *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    if (!slots_init(&s->slots) ||
        !tl_grow(&s->nodes, &s->cap, sizeof *s->nodes)) {
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
    slots_free(&s->slots);
    free(s);
}

uint64_t tl_shapes_bytes(const tl_shapes *s)
{
    return s->n * sizeof *s->nodes + s->slots.n * sizeof *s->slots.at;
}

/* Where it is, or would be. */
static uint32_t *slot_of(const tl_shapes *s, uint32_t parent, tl_arg_key key)
{
    for (uint64_t at = slots_hash(&s->slots, parent, key);; at++) {
        uint32_t *slot = slots_at(&s->slots, at);

        if (!*slot ||
            (s->nodes[*slot].parent == parent && s->nodes[*slot].key == key))
            return slot;
    }
}

static uint64_t hash_of(const slots *s, const void *user, uint32_t i)
{
    const tl_shape *nodes = user;

    return slots_hash(s, nodes[i].parent, nodes[i].key);
}

static uint32_t add(tl_shapes *s, uint32_t parent, tl_arg_key key)
{
    enum { MOST = 1 << 30 }; /* slots are twice as many */
    uint32_t i = (uint32_t)s->n;

    if (s->n == MOST || !slots_reserve(&s->slots, i - 1, hash_of, s->nodes) ||
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
