/* Steps with less work. */
#include "runtime/whatif/edits_priv.h"

/* Multiplies, and hands what is lost by rounding on to the next. */
typedef struct {
    double by, left;
} scaling;

static uint64_t scaled(scaling *x, uint64_t n)
{
    double y = (double)n * x->by + x->left;
    uint64_t whole = (uint64_t)(y + 1e-6);

    x->left = y - (double)whole;
    return whole;
}

enum { N_COUNTS = 8 };

/* One for each field, so that each sum is right. */
typedef struct {
    scaling issue, memory[N_COUNTS], banks[MACH_MAX_BANKS];
    scaling fills; /* that stay, of those of loads */
    scaling lines; /* then, of the banks' lines */
} scalings;

static void scale_step(scalings *x, mach_step *s)
{
    mach_mem_counts *m = &s->detail.mem;
    uint32_t *const counts[] = {
        &m->load_l1_hits, &m->load_l2_hits, &m->load_fills,   &m->stores,
        &m->store_fills,  &m->write_backs,  &m->loads_behind, &m->lines_before};

    s->issue_cycles = scaled(&x->issue, s->issue_cycles);
    if (s->kind != MACH_STEP_RUN)
        return;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = (uint32_t)scaled(&x->memory[i], *counts[i]);
    for (int b = 0; b < MACH_MAX_BANKS; b++)
        m->bank_lines[b] = (uint32_t)scaled(&x->banks[b], m->bank_lines[b]);
}

/* Lines that L2 has are no whatif_traffic. */
static void keep_lines(scalings *x, mach_mem_counts *m)
{
    uint32_t left = (uint32_t)scaled(&x->fills, m->load_fills);

    m->load_l2_hits += m->load_fills - left;
    m->load_fills = left;
    for (int b = 0; b < MACH_MAX_BANKS; b++)
        m->bank_lines[b] = (uint32_t)scaled(&x->lines, m->bank_lines[b]);
}

static void scale_shave(const mach_record *r, uint32_t shave,
                        const whatif_rest *left, mach_record *to)
{
    mach_record_cursor c = mach_record_steps(r, shave);
    scalings x = {.issue.by = left->issue,
                  .fills.by = left->fills,
                  .lines.by = left->lines};
    mach_step s;

    for (int i = 0; i < N_COUNTS; i++)
        x.memory[i].by = left->accesses;
    for (int b = 0; b < MACH_MAX_BANKS; b++)
        x.banks[b].by = left->accesses;
    while (mach_record_next(&c, &s)) {
        scale_step(&x, &s);
        if (s.kind == MACH_STEP_RUN && left->fills < 1)
            keep_lines(&x, &s.detail.mem);
        mach_record_add(to, shave, &s);
    }
}

mach_record *whatif_keep(const mach_record *r, const whatif_rest *left)
{
    mach_record *to = mach_record_create(WHATIF_EDIT_BYTES);

    mach_record_begin(to, mach_record_launch(r));
    for (uint32_t i = 0; i < mach_record_launch(r)->n_shaves; i++)
        scale_shave(r, i, left, to);
    return to;
}

mach_record *whatif_scaled(const mach_record *r, double issue, double accesses)
{
    const whatif_rest left = {issue, accesses, 1, 1};

    return mach_record_complete(r) ? whatif_keep(r, &left) : NULL;
}
