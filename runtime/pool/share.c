/* The two assignments of buffers to blobs, and which of them is taken. */
#include <stdlib.h>
#include <string.h>

#include "runtime/pool/manager.h"

/* A blob and the lives of its owners, sorted by their begin. */
typedef struct {
    uint32_t *owners; /* [n] buffers, in an arena */
    size_t n, cap;
    uint64_t bytes, alignment;
    uint64_t free_from; /* the last end of life */
    uint32_t number;    /* in the order they were made */
} shared;

typedef struct {
    arena *a;
    const pool_buffer *buffers;
    size_t n;
    shared *blobs; /* [n_blobs] */
    size_t n_blobs, cap;
    uint32_t *blob_of; /* [n] */
    uint64_t sum;
} assignment;

typedef struct {
    uint64_t bytes;
    uint32_t buffer;
} sized;

static int compare_sized(const void *left, const void *right)
{
    const sized *l = left, *r = right;

    if (l->bytes != r->bytes)
        return l->bytes > r->bytes ? -1 : 1;
    return l->buffer < r->buffer ? -1 : l->buffer > r->buffer;
}

/* Where a buffer stands among the owners of a blob: behind all that began
 * before. */
static size_t place_in(const assignment *s, const shared *b, uint32_t buffer)
{
    size_t low = 0, high = b->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->buffers[b->owners[middle]].begin < s->buffers[buffer].begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Owners do not overlap, so the neighbours in time are the only ones that may
 * be in the way. */
static bool is_free(const assignment *s, const shared *b, uint32_t buffer)
{
    const pool_buffer *it = &s->buffers[buffer];
    size_t at;

    if (b->free_from < it->begin)
        return true;
    at = place_in(s, b, buffer);
    return (at == 0 || s->buffers[b->owners[at - 1]].end < it->begin) &&
           (at == b->n || s->buffers[b->owners[at]].begin > it->end);
}

/* NULL = a new blob. */
static void give(assignment *s, shared *b, uint32_t buffer)
{
    const pool_buffer *it = &s->buffers[buffer];
    size_t at;

    if (!b) {
        b = arena_append(s->a, s->blobs, s->n_blobs, s->cap);
        *b = (shared){.number = (uint32_t)(s->n_blobs - 1)};
    }
    at = place_in(s, b, buffer);
    (void)arena_append(s->a, b->owners, b->n, b->cap);
    memmove(b->owners + at + 1, b->owners + at,
            (b->n - 1 - at) * sizeof *b->owners);
    b->owners[at] = buffer;
    if (it->bytes > b->bytes) {
        s->sum += it->bytes - b->bytes;
        b->bytes = it->bytes;
    }
    if (it->alignment > b->alignment)
        b->alignment = it->alignment;
    if (it->end > b->free_from)
        b->free_from = it->end;
    s->blob_of[buffer] = b->number;
}

static void by_size(assignment *s)
{
    sized *order = arena_array(s->a, sized, s->n);

    for (size_t i = 0; i < s->n; i++)
        order[i] = (sized){s->buffers[i].bytes, (uint32_t)i};
    qsort(order, s->n, sizeof *order, compare_sized);
    for (size_t i = 0; i < s->n; i++) {
        shared *found = NULL;

        for (size_t k = 0; k < s->n_blobs && !found; k++)
            if (is_free(s, &s->blobs[k], order[i].buffer))
                found = &s->blobs[k];
        give(s, found, order[i].buffer);
    }
}

/* Is blob l the better one for so many bytes? */
static bool is_better(const shared *l, const shared *r, uint64_t bytes)
{
    if ((l->bytes >= bytes) != (r->bytes >= bytes))
        return l->bytes >= bytes;
    return l->bytes >= bytes ? l->bytes < r->bytes : l->bytes > r->bytes;
}

static void by_begin(assignment *s)
{
    for (size_t i = 0; i < s->n; i++) {
        shared *found = NULL;

        for (size_t k = 0; k < s->n_blobs; k++) {
            shared *b = &s->blobs[k];

            if (b->free_from < s->buffers[i].begin &&
                (!found || is_better(b, found, s->buffers[i].bytes)))
                found = b;
        }
        give(s, found, (uint32_t)i);
    }
}

static int compare_shared(const void *left, const void *right)
{
    const shared *l = left, *r = right;

    if (l->bytes != r->bytes)
        return l->bytes > r->bytes ? -1 : 1;
    return l->owners[0] < r->owners[0] ? -1 : 1;
}

size_t pool_share(const pool_buffer *buffers, size_t n, arena *a,
                  uint32_t *blob_of, pool_blob **blobs)
{
    assignment ways[2], *s = &ways[0];
    uint32_t *place;

    for (int k = 0; k < 2; k++) {
        ways[k] = (assignment){.a = a, .buffers = buffers, .n = n};
        ways[k].blob_of = arena_array(a, uint32_t, n);
        (k ? by_begin : by_size)(&ways[k]);
    }
    if (ways[1].sum < ways[0].sum)
        s = &ways[1];
    if (s->n_blobs)
        qsort(s->blobs, s->n_blobs, sizeof *s->blobs, compare_shared);
    place = arena_array(a, uint32_t, s->n_blobs);
    *blobs = arena_array(a, pool_blob, s->n_blobs);
    for (size_t k = 0; k < s->n_blobs; k++) {
        const shared *b = &s->blobs[k];

        place[b->number] = (uint32_t)k;
        (*blobs)[k] = (pool_blob){b->bytes, b->alignment, b->n};
    }
    for (size_t i = 0; i < n; i++)
        blob_of[i] = place[s->blob_of[i]];
    return s->n_blobs;
}
