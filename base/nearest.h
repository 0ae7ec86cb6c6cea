/* The known name that a misspelt one is most like, for messages.
 *
 *   nearest n = {.word = "ddr_laod"};
 *
 *   for (each known name)
 *       nearest_offer(&n, name);
 *   n.best: "ddr_load_stall"; NULL when no name is like it
 *
 * A letter too many, too few, another one, or two that changed places are one
 * mistake each; capitals are none. Of every three letters one may be wrong. A
 * word of three letters or more may also be the beginning of a name, then its
 * first two letters do not count. Of equally near names the first one offered
 * counts.
 *
 * Any thread, each with its own nearest; allocates nothing. */
#ifndef VPU_BASE_NEAREST_H
#define VPU_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum { NEAREST_LONGEST = 63 }; /* of a longer name nothing is near */

typedef struct {
    const char *word;
    const char *best; /* as it was offered; NULL at first */
    size_t cost;      /* of best */
} nearest;

void nearest_offer(nearest *n, const char *name);

#endif
