/* Numbers found by what they stand for: an open hash table, for keys that come
 * from outside. Each table hashes with seeds of its own, which nobody outside
 * knows, so no file can be made whose keys all meet.
 *
 * The table has numbers alone; a caller keeps what they stand for, compares
 * keys itself, and looks from the first place of a key on:
 *
 *     for (uint64_t at = slots_hash(&s, key, 0);; at++) {
 *         uint32_t *slot = slots_at(&s, at);
 *
 *         if (!*slot || keys[*slot] == key)
 *             return slot;
 *     }
 *
 * Which number a key has does not depend on seeds. One thread at a time. */
#ifndef VPU_BASE_SLOTS_H
#define VPU_BASE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t *at; /* 0: free */
    uint64_t n;   /* a power of two */
    uint64_t seeds[2];
} slots;

/* An empty table; false: no memory, and slots_free is fine. */
bool slots_init(slots *s);
void slots_free(slots *s);

/* Of a key of two numbers. */
static inline uint64_t slots_hash(const slots *s, uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(a ^ s->seeds[0]) * (b ^ s->seeds[1]);

    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}
/* Of n bytes. */
uint64_t slots_hash_bytes(const slots *s, const void *bytes, size_t n);

static inline uint32_t *slots_at(const slots *s, uint64_t at)
{
    return &s->at[at & (s->n - 1)];
}

/* The hash of what a number stands for. */
typedef uint64_t slots_hash_of(const slots *s, const void *user, uint32_t i);
/* Makes room for one more than the numbers 1 to n, which the table has. Places
 * change. False: no memory, and nothing has changed. */
bool slots_reserve(slots *s, uint32_t n, slots_hash_of *hash, const void *user);

#endif
