/* See notes.h. */
#include "runtime/report/notes.h"

#include "runtime/advice/crowd.h"
#include "runtime/report/report_priv.h"
#include "sim/machine/cache.h"
#include "sim/machine/crowding.h"

/* Less of the time is not worth a sentence. */
#define WORTH_IT 0.1

enum { MAX_SIZES = 4 };

static str *add(report_notes *n, const char *id)
{
    report_note *to = &n->list[n->n++];

    *to = (report_note){.id = id};
    return &to->text;
}

void report_notes_free(report_notes *n)
{
    for (uint32_t i = 0; i < n->n; i++)
        str_free(&n->list[i].text);
}

static double shave_cycles(const backend_launch *s)
{
    return (double)s->exec.profile.cycles * s->n_shaves;
}

static double share_of_cause(const backend_launch *s, mach_cause c)
{
    return (double)report_cause_sum(s, c) / shave_cycles(s);
}

/* --- sets of L2 ---------------------------------------------------------- */

static void add_sets(const report_source *r, const backend_launch *s,
                     report_notes *n)
{
    double share = share_of_cause(s, MACH_CAUSE_DDR);
    mach_crowding c;
    str *text;

    if (share < WORTH_IT || !s->sample || !s->sample->n ||
        mach_crowding_of(r->desc, s->sample->n_shaves, s->sample->list,
                         s->sample->n, &c, NULL) ||
        !c.fills)
        return;
    share *= (double)c.avoidable / (double)c.fills;
    if (share < WORTH_IT || c.n_lines < 2)
        return;
    text = add(n, "l2-sets");
    str_printf(text,
               "%.0f %% of the time waits for lines that L2 had and gave up, "
               "because more than %u share a set: ",
               share * 100, c.n_ways);
    crowd_lines(s->sample, &c, text);
}

/* --- banks of DDR -------------------------------------------------------- */

static void add_banks(const report_source *r, const backend_launch *s,
                      report_notes *n)
{
    double share = (double)s->exec.profile.bank_wait_cycles / shave_cycles(s);
    str *text;

    if (share < WORTH_IT)
        return;
    text = add(n, "ddr-banks");
    str_printf(text,
               "%.0f %% of the time waits for banks of DDR that other SHAVEs "
               "keep busy",
               share * 100);
    if (!s->sample)
        return;
    str_puts(text, "; ");
    crowd_banks(s->sample, r->desc, text);
}

/* --- work-groups --------------------------------------------------------- */

static void add_uneven(const backend_launch *s, report_notes *n)
{
    double share = share_of_cause(s, MACH_CAUSE_IDLE);
    uint64_t most = 0, least = UINT64_MAX;

    for (uint32_t i = 0; i < s->n_shaves; i++) {
        uint64_t here = s->exec.profile.shave_groups[i];

        most = here > most ? here : most;
        least = here < least ? here : least;
    }
    if (share < WORTH_IT || most == least)
        return;
    str_printf(add(n, "uneven"),
               "%.0f %% of the time SHAVEs have nothing left to do: %llu "
               "work-groups are %llu for some SHAVEs and %llu for others",
               share * 100, (unsigned long long)s->exec.n_groups,
               (unsigned long long)most, (unsigned long long)least);
}

/* Divisors of the work-items along x that are multiples of the factor, largest
 * first. */
static uint32_t sizes_that_vectorize(uint64_t items, uint32_t factor,
                                     uint64_t sizes[MAX_SIZES])
{
    uint32_t n = 0;

    for (uint64_t groups = 1; groups <= items / factor && n < MAX_SIZES;
         groups++)
        if (items % groups == 0 && items / groups % factor == 0)
            sizes[n++] = items / groups;
    return n;
}

static void add_scalar(const graph_launch *l, const backend_launch *s,
                       report_notes *n)
{
    uint32_t factor = s->kernel->variants[SIM_VECTORIZED].factor, n_sizes;
    uint64_t sizes[MAX_SIZES];
    str *text;

    if (s->exec.variant != SIM_SCALAR || factor < 2 ||
        l->local[0] % factor == 0)
        return;
    text = add(n, "scalar");
    str_printf(text,
               "the scalar variant ran, as local size %u is no multiple of "
               "%u; ",
               l->local[0], factor);
    n_sizes = sizes_that_vectorize(l->global[0], factor, sizes);
    for (uint32_t i = 0; i < n_sizes; i++)
        str_printf(text, "%s%llu",
                   !i                 ? ""
                   : i + 1 == n_sizes ? " or "
                                      : ", ",
                   (unsigned long long)sizes[i]);
    if (n_sizes)
        str_puts(text, " would run the vectorized one");
    else
        str_printf(
            text, "no divisor of the global size %llu is, %llu would have some",
            (unsigned long long)l->global[0],
            (unsigned long long)(l->global[0] / factor + 1) * factor);
}

void report_notes_of(const report_source *r, uint32_t i, report_notes *n)
{
    const backend_launch *s = backend_launch_of(r->run, i);

    if (r->timing != EXEC_NO_TIMING && s->exec.profile.cycles) {
        add_sets(r, s, n);
        add_banks(r, s, n);
        add_uneven(s, n);
    }
    add_scalar(&r->graph->launches[i], s, n);
}
