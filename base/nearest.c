/* Damerau's and Levenshtein's distance, to each beginning of a name at once. */
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* out[j]: mistakes between a and the first j letters of b. */
static void distances(const char *a, size_t na, const char *b, size_t nb,
                      size_t *out)
{
    size_t lines[3][NEAREST_LONGEST + 1];
    size_t *before = lines[0], *last = lines[1], *line = lines[2];

    for (size_t j = 0; j <= nb; j++)
        line[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *oldest = before;

        before = last;
        last = line;
        line = oldest;
        line[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            line[j] = least(last[j], line[j - 1]) + 1;
            line[j] = least(line[j], last[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
                same(a[i - 2], b[j - 1]))
                line[j] = least(line[j], before[j - 2] + 1);
        }
    }
    memcpy(out, line, (nb + 1) * sizeof *out);
}

void nearest_offer(nearest *n, const char *name)
{
    size_t mistakes[NEAREST_LONGEST + 1];
    size_t length = strlen(n->word), all = strlen(name);

    if (length < 2 || length > NEAREST_LONGEST || all > NEAREST_LONGEST)
        return;
    distances(n->word, length, name, all, mistakes);
    /* A mistake weighs more than any number of letters that are missing at the
     * end. */
    for (size_t j = length < 3 ? all : 0; j <= all; j++) {
        size_t cost = mistakes[j] * (NEAREST_LONGEST + 1) + (all - j);
        size_t most = j < all ? (length - 2) / 3 : (length + 1) / 3;

        if (mistakes[j] <= most && (!n->best || cost < n->cost)) {
            n->best = name;
            n->cost = cost;
        }
    }
}
