/* The sentences of rules.def. */
#include <inttypes.h>

#include "runtime/advice/advice_priv.h"
#include "runtime/advice/crowd.h"

static double share(const advice_case *c, mach_cause cause)
{
    const mach_profile *p = &c->run->exec.profile;
    double all = (double)p->cycles * c->run->n_shaves;

    return all > 0
               ? 100 * (double)mach_profile_sum(p, c->run->n_shaves, cause) /
                     all
               : 0;
}

static void put_bytes(str *out, uint64_t n)
{
    if (n < 10 << 10)
        str_printf(out, "%" PRIu64 " B", n);
    else
        str_printf(out, "%.1f KiB", (double)n / 1024);
}

static void put_groups(const advice_case *c, str *out)
{
    if (c->edited->n_groups != c->run->exec.n_groups)
        str_printf(out, ", in %" PRIu64 " work-groups instead of %" PRIu64,
                   c->edited->n_groups, c->run->exec.n_groups);
}

void say_dma(advice_case *c, str *out)
{
    double stalls = share(c, MACH_CAUSE_DDR) + share(c, MACH_CAUSE_L2) +
                    share(c, MACH_CAUSE_STORE);

    advice_place(c->run, c->a, &c->file, &c->line);
    str_printf(out,
               "%.0f %% of the SHAVEs' time waits for loads and stores of "
               "global memory; copy what a work-group needs by DMA, beside "
               "the work on its neighbours (",
               stalls);
    put_bytes(out, c->edited->in_bytes);
    str_puts(out, " in, ");
    put_bytes(out, c->edited->out_bytes);
    str_puts(out, " out");
    put_groups(c, out);
    str_puts(out, ")");
}

/* Why another number is better: what it saves most of. */
void say_groups(advice_case *c, str *out)
{
    const mach_profile *p = &c->run->exec.profile;
    uint64_t n = c->run->exec.n_groups, most = 0, least = UINT64_MAX;

    for (uint32_t i = 0; i < c->run->n_shaves; i++) {
        most = p->shave_groups[i] > most ? p->shave_groups[i] : most;
        least = p->shave_groups[i] < least ? p->shave_groups[i] : least;
    }
    switch (c->cause) {
    case MACH_CAUSE_DISPATCH:
        str_printf(out,
                   "%.0f %% of the SHAVEs' time begins launches and "
                   "work-groups, %" PRIu64 " of them; give each more to do",
                   share(c, c->cause), n);
        break;
    case MACH_CAUSE_IDLE:
        str_printf(out, "%.0f %% of the SHAVEs' time is idle",
                   share(c, c->cause));
        if (most != least)
            str_printf(out,
                       ": %" PRIu64 " work-groups are %" PRIu64
                       " for some SHAVEs and %" PRIu64 " for others",
                       n, most, least);
        str_puts(out, "; cut the work so that each SHAVE gets as much");
        break;
    default:
        str_printf(out,
                   "%.0f %% of the SHAVEs' time is %s; cut the work into "
                   "other work-groups",
                   share(c, c->cause), mach_cause_name(c->cause));
        break;
    }
    put_groups(c, out);
}

void say_phases(advice_case *c, str *out)
{
    const sim_kernel *k = c->run->kernel;

    str_printf(out, "%.0f %% of the SHAVEs' time waits for copies",
               share(c, MACH_CAUSE_DMA_WAIT));
    for (uint32_t i = 0; i < k->n_copies; i++) {
        if (!k->copies[i].why)
            continue;
        c->file = k->source ? k->source : "";
        c->line = k->copies[i].line;
        str_printf(out, " (that of line %u stands in no phase: %s)", c->line,
                   k->copies[i].why);
        break;
    }
    str_puts(out, "; make them at the beginning and the end of the kernel, so "
                  "that they run beside the work on its neighbours");
    put_groups(c, out);
}

void say_two_buffers(advice_case *c, str *out)
{
    str_printf(out,
               "preload, computation and postwrite take turns, as two times "
               "%u bytes of local memory do not fit; make the work-groups "
               "smaller (two times ",
               c->run->exec.local_bytes);
    put_bytes(out, c->edited->local_bytes / 2);
    put_groups(c, out);
    str_puts(out, ")");
}

void say_sets(advice_case *c, str *out)
{
    const exec_sample *x = c->run->sample;
    mach_crowding crowd;

    advice_place(c->run, c->a, &c->file, &c->line);
    str_puts(out, "lines leave L2 before they are used again, because too "
                  "many share a set");
    if (x &&
        !mach_crowding_of(c->desc, x->n_shaves, x->list, x->n, &crowd, NULL)) {
        str_printf(out, " (%u fit): ", crowd.n_ways);
        crowd_lines(x, &crowd, out);
    }
    str_puts(out, "; pad rows or planes so that distances are no multiple of "
                  "the cache's, use fewer of them at once, or another order");
}

void say_banks(advice_case *c, str *out)
{
    const mach_profile *p = &c->run->exec.profile;
    double all = (double)p->cycles * c->run->n_shaves;

    advice_place(c->run, c->a, &c->file, &c->line);
    str_printf(out,
               "%.0f %% of the SHAVEs' time waits for banks of DDR that other "
               "SHAVEs keep busy; ",
               all > 0 ? 100 * (double)p->bank_wait_cycles / all : 0);
    crowd_banks(c->run->sample, c->desc, out);
    str_printf(out,
               "; pad planes by a row (%llu bytes), take another order of the "
               "work-groups, or fewer SHAVEs",
               (unsigned long long)c->desc->ddr_row_bytes);
}

void say_layout(advice_case *c, str *out)
{
    (void)c;
    str_puts(out, "a stage of its own converts a tensor's layout; bind it in "
                  "the format that the model has (BFYX, the plug-in's), and "
                  "let the kernel step through it");
}

/* The line of the program that ran with most of it. */
static void find_waste(advice_case *c, waste_kind k)
{
    const isa_function *programs[SIM_N_VARIANTS] = {NULL}, *f;

    if (kernel_programs(c->run->kernel, c->a, programs, NULL))
        return;
    f = programs[c->run->exec.variant];
    c->line = f ? waste_line(f, k, c->a) : 0;
    c->file = c->line && c->run->kernel->source ? c->run->kernel->source : "";
}

/* What issue cycles an edit leaves out, of all that there are. */
static double issue_saved(const advice_case *c)
{
    uint32_t n = c->run->n_shaves;
    double before =
        (double)mach_profile_sum(&c->run->exec.profile, n, MACH_CAUSE_ISSUE);
    double after =
        (double)mach_profile_sum(&c->edited->profile, n, MACH_CAUSE_ISSUE);

    return before > 0 ? 100 * (1 - after / before) : 0;
}

void say_divisions(advice_case *c, str *out)
{
    find_waste(c, WASTE_DIVISIONS);
    str_printf(out,
               "some %.0f %% of the issue cycles are divisions and remainders "
               "of integers, which the SHAVE has no unit for; compute them "
               "once for many elements (a row a work-item), or count instead",
               issue_saved(c));
}

void say_spills(advice_case *c, str *out)
{
    find_waste(c, WASTE_SPILLS);
    str_printf(out,
               "some %.0f %% of the issue cycles move registers that do not "
               "fit to memory and back; unroll less, or keep fewer values",
               issue_saved(c));
}
