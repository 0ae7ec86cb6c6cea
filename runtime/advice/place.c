/* Where a kernel touches global memory most. */
#include <stdlib.h>
#include <string.h>

#include "runtime/advice/advice_priv.h"
#include "runtime/lint/loops.h"

static uint64_t stall_of(const exec_profile_row *r)
{
    return r->cycles[MACH_CAUSE_L2] + r->cycles[MACH_CAUSE_DDR] +
           r->cycles[MACH_CAUSE_STORE];
}

static uint32_t profiled_line(const exec_profile *p)
{
    uint64_t most = 0;
    uint32_t line = 0;

    for (uint32_t i = 0; i < p->n; i++)
        if (p->rows[i].place == EXEC_AT_LINE && stall_of(&p->rows[i]) > most) {
            most = stall_of(&p->rows[i]);
            line = p->rows[i].line;
        }
    return line;
}

static bool is_global(const isa_instr *in)
{
    return isa_ops[in->op].sub == ISA_SUB_SPACE && in->sub == ISA_GLOBAL;
}

/* An access of a loop counts as much as so many outside of loops. */
enum { LOOP_WEIGHT = 16 };

typedef struct {
    uint32_t line;
    uint64_t weight;
} line_weight;

static int by_line(const void *a, const void *b)
{
    const line_weight *x = a, *y = b;

    return x->line < y->line ? -1 : x->line > y->line;
}

/* Accesses to global memory with a line, each by itself; returns how many. */
static uint32_t weigh(const isa_function *f, line_weight *out)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < f->n_blocks; b++) {
        uint64_t weight = loops_is_loop(f, b) ? LOOP_WEIGHT : 1;

        for (uint32_t k = 0; k < f->blocks[b].n_instrs; k++) {
            const isa_instr *in = &f->instrs[f->blocks[b].first + k];

            if (is_global(in) && in->line)
                out[n++] = (line_weight){in->line, weight};
        }
    }
    return n;
}

/* The one with most accesses, those in loops counted for several; of those with
 * as many, the first. */
static uint32_t busiest_line(const isa_function *f, arena *a)
{
    line_weight *all = arena_array(a, line_weight, f->n_instrs + 1);
    uint32_t n = weigh(f, all), line = 0;
    uint64_t most = 0, sum = 0;

    qsort(all, n, sizeof *all, by_line);
    for (uint32_t k = 0; k < n; k++) {
        sum = k && all[k - 1].line == all[k].line ? sum + all[k].weight
                                                  : all[k].weight;
        if (sum > most) {
            most = sum;
            line = all[k].line;
        }
    }
    return line;
}

bool advice_place(const backend_launch *l, arena *a, const char **file,
                  uint32_t *line)
{
    const isa_function *programs[SIM_N_VARIANTS] = {NULL};

    *file = l->kernel->source ? l->kernel->source : "";
    *line = profiled_line(&l->profile);
    if (!*line && !kernel_programs(l->kernel, a, programs, NULL) &&
        programs[l->exec.variant])
        *line = busiest_line(programs[l->exec.variant], a);
    return *line != 0;
}
