/* See explore.h. */
#include "tests/fidelity/explore.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const conflict conflicts[] = {
    {{R2, OF_16}, {{R2, OF_7}, {CURVE, OF_16}, {R1, OF_16}}, 3},
    {{R4, OF_16}, {{R3, OF_16}, {R2, OF_7}, {R8, OF_16}}, 3},
    {{R4, OF_7}, {{R3, OF_7}}, 1},
    {{R3_TEST, OF_16}, {{R2, OF_7}}, 1},
    {{R3_TEST, OF_7}, {{R2, OF_7}}, 1},
    {{R4_TEST, OF_16}, {{R2, OF_7}}, 1},
    {{R4_TEST, OF_7}, {{R2, OF_7}}, 1},
};
const int n_conflicts = sizeof conflicts / sizeof *conflicts;

const conflict *conflict_of(goal g)
{
    for (int i = 0; i < n_conflicts; i++)
        if (conflicts[i].missed.ratio == g.ratio &&
            conflicts[i].missed.of == g.of)
            return &conflicts[i];
    return NULL;
}

/* --- both ends of every range -------------------------------------------- */

static void print_values(FILE *f, const double *v, const double *base)
{
    for (int i = 0; i < N_RATIOS; i++) {
        if (!ratios[i].high)
            continue;
        if (isnan(v[i]))
            fprintf(f, " |");
        else if (base && v[i] / base[i] > 0.995 && v[i] / base[i] < 1.005)
            fprintf(f, " · |");
        else if (is_within(&ratios[i], v[i]))
            fprintf(f, " **%.*f** |", v[i] < 9.95 ? 2 : 1, v[i]);
        else
            fprintf(f, " %.*f |", v[i] < 9.95 ? 2 : 1, v[i]);
    }
    fprintf(f, "\n");
}

static void print_head(FILE *f, const char *what)
{
    fprintf(f, "| %s |", what);
    for (int i = 0; i < N_RATIOS; i++)
        if (ratios[i].high)
            fprintf(f, " %s |", ratios[i].id);
    fprintf(f, "\n|---|");
    for (int i = 0; i < N_RATIOS; i++)
        if (ratios[i].high)
            fprintf(f, "---:|");
    fprintf(f, "\n");
}

void print_sensitivity(FILE *f, const bench *b)
{
    outcomes base, v;
    char *rows = NULL;
    size_t n = 0;
    FILE *of_7 = open_memstream(&rows, &n);

    if (!of_7)
        fail("out of memory");
    measure_all(b, &base);
    print_head(f, "16 SHAVEs");
    fprintf(f, "| (as described) |");
    print_values(f, base.value[OF_16], NULL);
    print_head(of_7, "7 SHAVEs");
    fprintf(of_7, "| (as described) |");
    print_values(of_7, base.value[OF_7], NULL);
    for (int p = 0; p < n_parameters; p++)
        for (int end = 0; end < 2; end++) {
            double value = end ? parameters[p].high : parameters[p].low;
            bench with = *b;
            char more[1024];

            snprintf(more, sizeof more, "%s --set %s=%g", b->more,
                     parameters[p].name, value);
            with.more = more;
            measure_all(&with, &v);
            fprintf(f, "| %s = %g |", parameters[p].name, value);
            print_values(f, v.value[OF_16], base.value[OF_16]);
            fprintf(of_7, "| %s = %g |", parameters[p].name, value);
            print_values(of_7, v.value[OF_7], base.value[OF_7]);
        }
    fclose(of_7);
    fprintf(f, "\n%s", rows);
    free(rows);
}

/* --- searches ------------------------------------------------------------ */

enum { MAX_PARAMETERS = 32 };

/* NaN: as described. */
typedef struct {
    double value[MAX_PARAMETERS];
} machine;

typedef struct {
    machine at;
    double distance; /* 0: all inside */
    outcomes values;
} found;

static double draw(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*x >> 11) / (double)(UINT64_C(1) << 53);
}

/* A value of parameter p: anywhere in its range, or near `from`. */
static double value_of(const parameter *p, double from, double reach,
                       uint64_t *x)
{
    double low = p->low, high = p->high, v;

    if (p->kind == POWER_OF_TWO) {
        low = log2(low);
        high = log2(high);
        return exp2(floor(low + draw(x) * (high - low + 1)));
    }
    if (isnan(from))
        from = low + draw(x) * (high - low);
    v = from + (2 * draw(x) - 1) * reach * (high - low);
    v = fmin(fmax(v, low), high);
    return p->kind == WHOLE ? round(v) : round(v * 100) / 100;
}

/* Some parameters of m drawn anew: few, near where they were, or many. */
static machine next_machine(const machine *m, int turn, uint64_t *x)
{
    static const double reaches[] = {0.05, 0.15, 0.4, 1};
    double reach = reaches[turn % 4];
    int changes = 1 + (int)(draw(x) * (turn % 4 == 3 ? n_parameters : 4));
    machine next = *m;

    for (int i = 0; i < changes; i++) {
        int p = (int)(draw(x) * n_parameters);

        next.value[p] = value_of(&parameters[p], next.value[p], reach, x);
    }
    return next;
}

static void words_of(const machine *m, const char *more, char *text, size_t n)
{
    size_t at = (size_t)snprintf(text, n, "%s", more);

    for (int p = 0; p < n_parameters && at < n; p++)
        if (!isnan(m->value[p]))
            at += (size_t)snprintf(text + at, n - at, "%s--set %s=%g",
                                   at ? " " : "", parameters[p].name,
                                   m->value[p]);
}

/* How far outside, in logarithms: a ratio that is 1 % above counts 0.01. */
static double outside(const ratio *r, double v)
{
    return fmax(0, fmax(log(r->low / v), log(v / r->high)));
}

static void judge(const bench *b, const goal *goals, int n, found *f)
{
    char more[2048];
    bench with = *b;

    words_of(&f->at, b->more, more, sizeof more);
    with.more = more;
    measure_goals(&with, goals, n, &f->values);
    f->distance = 0;
    for (int i = 0; i < n; i++)
        f->distance += outside(&ratios[goals[i].ratio],
                               f->values.value[goals[i].of][goals[i].ratio]);
}

static found search(const bench *b, const goal *goals, int n_goals, int n)
{
    found best, other;
    uint64_t x = 1;

    for (int p = 0; p < MAX_PARAMETERS; p++)
        best.at.value[p] = NAN;
    judge(b, goals, n_goals, &best);
    for (int i = 0; i < n && best.distance > 0; i++) {
        other.at = next_machine(&best.at, i, &x);
        judge(b, goals, n_goals, &other);
        if (other.distance < best.distance)
            best = other;
    }
    return best;
}

static void print_goals(FILE *f, const goal *goals, int n)
{
    char id[16];

    for (int i = 0; i < n; i++) {
        print_id(goals[i], id);
        fprintf(f, "%s%s", i ? ", " : "", id);
    }
}

int print_conflicts(FILE *f, const bench *b, int n)
{
    int none = 0;

    fprintf(f,
            "| outside | with | the nearest of %d machines | its parameters "
            "|\n|---|---|---|---|\n",
            n);
    for (int i = 0; i < n_conflicts; i++) {
        const conflict *c = &conflicts[i];
        goal all[4];
        char text[2048], id[16];
        found best;

        all[0] = c->missed;
        memcpy(all + 1, c->with, sizeof c->with);
        best = search(b, all, 1 + c->n_with, n);
        fprintf(f, "| ");
        print_goals(f, &c->missed, 1);
        fprintf(f, " | ");
        print_goals(f, c->with, c->n_with);
        fprintf(f, " | ");
        for (int g = 0; g < 1 + c->n_with; g++) {
            print_id(all[g], id);
            fprintf(f, "%s%s %.3f", g ? ", " : "", id,
                    best.values.value[all[g].of][all[g].ratio]);
        }
        words_of(&best.at, "", text, sizeof text);
        fprintf(f, " | `%s` |\n", text);
        fflush(f);
        none += best.distance <= 0;
    }
    return none;
}
