/* Where a kernel touches global memory most. */
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

static uint64_t weight_of(const isa_function *f, uint32_t line)
{
    uint64_t n = 0;

    for (uint32_t b = 0; b < f->n_blocks; b++)
        for (uint32_t k = 0; k < f->blocks[b].n_instrs; k++) {
            const isa_instr *in = &f->instrs[f->blocks[b].first + k];

            if (is_global(in) && in->line == line)
                n += loops_is_loop(f, b) ? LOOP_WEIGHT : 1;
        }
    return n;
}

static uint32_t busiest_line(const isa_function *f)
{
    uint64_t most = 0;
    uint32_t line = 0;

    for (uint32_t k = 0; k < f->n_instrs; k++) {
        uint32_t at = f->instrs[k].line;
        uint64_t n =
            at && at != line && is_global(&f->instrs[k]) ? weight_of(f, at) : 0;

        if (n > most || (n == most && n && at < line)) {
            most = n;
            line = at;
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
        *line = busiest_line(programs[l->exec.variant]);
    return *line != 0;
}
