/* The order in which sizes are tried comes from a simple picture of a launch:
 * its groups run in rounds, one on each SHAVE, and a group takes some time of
 * its own, some for each line of neighbouring items, and some for each vector.
 * How these weigh against each other is not known, so the size that looks best
 * is taken for several weights in turn, and then, by turns with those, the
 * neighbours of the best size so far. docs/tuning.md says how near that comes.
 */
#include "runtime/tune/search.h"

enum { RAPID_RUNS = 3, LEAST_RUNS = 4, PART = 10 /* of all */ };

/* What a group costs, in vectors. */
static const double weights[] = {1, 8, 0};
enum { N_WEIGHTS = sizeof weights / sizeof *weights };

typedef struct {
    const tune_search *s;
    arena *a;
    bool *tried; /* by choice */
    size_t n_tried;
    size_t best;
    uint64_t best_cost;
} searching;

static vpu_status try_one(searching *x, size_t i, vpu_error *err)
{
    uint64_t cost;
    vpu_status st = x->s->cost(x->s->user, i, &cost, err);

    x->tried[i] = true;
    x->n_tried++;
    if (!st && cost < x->best_cost) {
        x->best = i;
        x->best_cost = cost;
    }
    return st;
}

/* --- the picture ---------------------------------------------------------- */

/* Lines of items that are neighbours in memory, where dimension 0 is. */
static double lines_of(const tune_search *s, const uint32_t l[3])
{
    return l[0] < s->global[0]   ? (double)l[1] * l[2]
           : l[1] < s->global[1] ? l[2]
                                 : 1;
}

static double score(const tune_search *s, const uint32_t l[3], double weight)
{
    double groups = 1, items = (double)l[0] * l[1] * l[2];
    double shaves = s->shaves ? s->shaves : 1, rounds;

    for (int d = 0; d < 3; d++)
        groups *= s->global[d] / l[d];
    rounds = (double)(uint64_t)(groups / shaves);
    rounds += rounds * shaves < groups;
    if (s->factor > 1 && l[0] % s->factor == 0)
        items /= s->factor;
    return rounds * (weight + lines_of(s, l) + items);
}

/* Of sizes that look the same, the one that is longer along dimension 0, then
 * 1, then 2. */
static bool is_longer(const uint32_t a[3], const uint32_t b[3])
{
    for (int d = 0; d < 3; d++)
        if (a[d] != b[d])
            return a[d] > b[d];
    return false;
}

static bool are_neighbours(const uint32_t global[3], const uint32_t a[3],
                           const uint32_t b[3])
{
    int differing = -1;

    for (int d = 0; d < 3; d++)
        if (a[d] != b[d]) {
            uint32_t low = a[d] < b[d] ? a[d] : b[d];
            uint32_t high = a[d] < b[d] ? b[d] : a[d];

            if (differing >= 0)
                return false;
            differing = d;
            for (uint32_t i = low + 1; i < high; i++)
                if (global[d] % i == 0)
                    return false;
        }
    return differing >= 0;
}

/* The untried choice that looks best; n_choices: there is none. */
static size_t look(const searching *x, double weight, bool near)
{
    const tune_search *s = x->s;
    size_t found = s->n_choices;
    double lowest = 0;

    for (size_t i = 0; i < s->n_choices; i++) {
        const uint32_t *l = s->choices[i].local;
        double n;

        if (x->tried[i] ||
            (near && !are_neighbours(s->global, s->choices[x->best].local, l)))
            continue;
        n = score(s, l, weight);
        if (found < s->n_choices &&
            (n > lowest ||
             (n == lowest && !is_longer(l, s->choices[found].local))))
            continue;
        found = i;
        lowest = n;
    }
    return found;
}

/* --- the modes ------------------------------------------------------------ */

static size_t budget(const tune_search *s)
{
    size_t n = s->n_choices / PART;

    if (s->mode == TUNE_RAPID)
        n = RAPID_RUNS;
    else if (n < LEAST_RUNS)
        n = LEAST_RUNS;
    return n < s->n_choices ? n : s->n_choices;
}

static size_t pick(const searching *x, size_t turn)
{
    size_t later = turn - N_WEIGHTS, i = x->s->n_choices;

    if (turn < N_WEIGHTS)
        return look(x, weights[turn], false);
    if (later % 2 == 0)
        i = look(x, weights[0], true);
    return i < x->s->n_choices ? i
                               : look(x, weights[later / 2 % N_WEIGHTS], false);
}

static vpu_status search_some(searching *x, vpu_error *err)
{
    size_t n = budget(x->s);
    vpu_status st = VPU_OK;

    for (size_t turn = 0; x->n_tried < n && !st; turn++)
        st = try_one(x, pick(x, turn), err);
    return st;
}

static vpu_status search_all(searching *x, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (size_t i = 1; i < x->s->n_choices && !st; i++)
        st = try_one(x, i, err);
    return st;
}

vpu_status tune_search_run(const tune_search *s, size_t *best, vpu_error *err)
{
    searching x = {.s = s, .best_cost = s->own_cost, .n_tried = 1};
    vpu_status st;

    x.a = arena_create(0);
    x.tried = arena_array(x.a, bool, s->n_choices);
    x.tried[0] = true;
    st =
        s->mode == TUNE_EXHAUSTIVE ? search_all(&x, err) : search_some(&x, err);
    *best = x.best;
    arena_destroy(x.a);
    return st;
}
