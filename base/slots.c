/* See slots.h: at most half of the table is used, so keys are found in a few
 * steps. */
#include "base/slots.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <xxhash.h>

enum { FIRST = 64 };

/* Where the system has no random numbers yet, what others do not know either:
 * where the table lies, and when it was made. */
static void draw_seeds(slots *s)
{
    struct timespec now = {0};

    if (getrandom(s->seeds, sizeof s->seeds, GRND_NONBLOCK) !=
        sizeof s->seeds) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        s->seeds[0] = (uint64_t)(uintptr_t)s->at * UINT64_C(0x9e3779b97f4a7c15);
        s->seeds[1] = (uint64_t)now.tv_nsec * UINT64_C(0xd1342543de82ef95);
    }
    s->seeds[0] |= UINT64_C(1) << 63; /* a product with few bits mixes little */
    s->seeds[1] |= UINT64_C(1) << 63;
}

bool slots_init(slots *s)
{
    *s = (slots){.at = calloc(FIRST, sizeof *s->at), .n = FIRST};
    if (!s->at)
        return false;
    draw_seeds(s);
    return true;
}

void slots_free(slots *s)
{
    free(s->at);
    *s = (slots){0};
}

uint64_t slots_hash_bytes(const slots *s, const void *bytes, size_t n)
{
    return XXH3_64bits_withSeed(bytes, n, s->seeds[0]);
}

bool slots_reserve(slots *s, uint32_t n, slots_hash_of *hash, const void *user)
{
    slots more = *s;

    if (n < s->n / 2)
        return true;
    more.n = 2 * s->n;
    more.at = calloc(more.n, sizeof *more.at);
    if (!more.at)
        return false;
    for (uint32_t i = 1; i <= n; i++) {
        uint64_t at = hash(&more, user, i);

        while (*slots_at(&more, at))
            at++;
        *slots_at(&more, at) = i;
    }
    free(s->at);
    *s = more;
    return true;
}
