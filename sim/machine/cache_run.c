/* Which parts of a list are repetitions, and which are looked up one by one. */
#include "sim/machine/cache_run.h"
#include "sim/machine/cache_priv.h"
#include "sim/machine/cache_rounds.h"
#include "sim/machine/cache_stream.h"
#include "sim/machine/cache_walk.h"

enum {
    FEW = 8,          /* accesses that are not worth a search */
    SHORT = 128,      /* a repetition that pays if it comes again */
    LONG = 384,       /* one that pays at once */
    STRETCH = 256,    /* from a search in vain to the next one */
    MAX_PATIENCE = 63 /* lists */
};

/* A repetition that is not in c->repeat yet; returns its accesses or 0. */
static size_t find(mach_cache *c, const uint64_t *list, size_t n)
{
    repetition *r = &c->repeat;
    size_t least = c->patience ? LONG : SHORT;
    size_t found = repeat_find(&c->l2, list, n, least, r);

    if (!found || !repeat_walk_rounds(r, &c->l1, &c->l2, c->places, found,
                                      c->fast & MACH_WAY_behind))
        return 0;
    r->streams.most = 0;
    if (c->fast & MACH_WAY_streams && r->enough)
        repeat_streams_plan(r, &c->l2);
    return found;
}

/* The repetition that list begins with; returns how many accesses were run, 0
 * if there is none. *pays: the search was worth its while. A short one is only
 * if it comes again, so after some that did not they are not looked for. */
static size_t try_repetition(mach_cache *c, const uint64_t *list, size_t n,
                             bool *pays)
{
    repetition *r = &c->repeat;
    uint64_t shift;
    size_t done = 0;

    if (r->state == REPEAT_LEFT)
        done = repeat_again(r, &c->l2, c->places, list, n, &shift);
    *pays |= done;
    if (!done && !c->skip) {
        shift = 0;
        done = find(c, list, n);
        *pays |= done >= LONG;
    }
    if (!done)
        return 0;
    r->shift = shift;
    r->ran = r->owed = 0;
    cache_rounds_run(c, list, done);
    if (done < n)
        cache_rounds_leave(c);
    return done;
}

/* Where a repetition is not found, it is looked for again a while later, each
 * time a longer one. */
static bool run_with_search(mach_cache *c, const uint64_t *list, size_t n)
{
    size_t stretch = STRETCH;
    bool pays = false;

    for (size_t done; n >= FEW; list += done, n -= done) {
        done = try_repetition(c, list, n, &pays);
        if (done) {
            stretch = STRETCH;
            continue;
        }
        done = n < stretch || c->skip ? n : stretch;
        cache_look_up(c, list, done);
        stretch *= 4;
    }
    cache_look_up(c, list, n);
    return pays;
}

/* After some lists in vain, more and more are not searched. */
static void search(mach_cache *c, const uint64_t *list, size_t n)
{
    if (run_with_search(c, list, n)) {
        c->patience = c->skip = 0;
    } else if (c->skip) {
        c->skip--;
    } else {
        if (c->patience < MAX_PATIENCE)
            c->patience = 4 * c->patience + 3;
        c->skip = c->patience;
    }
}

void cache_run_list(mach_cache *c, const uint64_t *list, size_t n)
{
    repetition *r = &c->repeat;
    size_t done = 0;

    if (!(c->fast & MACH_WAY_rounds)) {
        cache_look_up(c, list, n);
        return;
    }
    if (r->state == REPEAT_LIVE) {
        done = repeat_goes_on(r, list, n);
        cache_rounds_run(c, list, done);
        if (done == n)
            return;
        cache_rounds_leave(c);
    }
    search(c, list + done, n - done);
}
