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

void whatif_settle(mach_mem_counts *m)
{
    if (m->loads_behind > m->load_fills)
        m->loads_behind = m->load_fills;
    if (!m->loads_behind)
        m->lines_before = 0;
    if (m->store_fills > m->stores)
        m->store_fills = m->stores;
}

/* Lines that L2 has are no traffic. */
static void keep_lines(scalings *x, mach_mem_counts *m)
{
    uint32_t left = (uint32_t)scaled(&x->fills, m->load_fills);

    m->load_l2_hits += m->load_fills - left;
    m->load_fills = left;
    for (int b = 0; b < MACH_MAX_BANKS; b++)
        m->bank_lines[b] = (uint32_t)scaled(&x->lines, m->bank_lines[b]);
}

/* Banks take turns, from step to step, in what cannot be divided. */
static void spread(mach_mem_counts *m, uint32_t n_banks, uint32_t *next)
{
    uint64_t all = 0;

    for (int b = 0; b < MACH_MAX_BANKS; b++) {
        all += m->bank_lines[b];
        m->bank_lines[b] = 0;
    }
    for (uint32_t b = 0; b < n_banks; b++)
        m->bank_lines[b] = (uint32_t)(all / n_banks);
    for (uint64_t k = 0; k < all % n_banks; k++)
        m->bank_lines[(*next)++ % n_banks]++;
}

static void scale_shave(const mach_record *r, uint32_t shave, uint64_t n_groups,
                        const whatif_rest *left, mach_record *to)
{
    mach_record_cursor c = mach_record_steps(r, shave);
    scalings x = {.issue.by = left->issue,
                  .fills.by = left->fills,
                  .lines.by = left->lines};
    mach_step s;
    uint32_t next = shave;

    for (int i = 0; i < N_COUNTS; i++)
        x.memory[i].by = left->accesses;
    for (int b = 0; b < MACH_MAX_BANKS; b++)
        x.banks[b].by = left->accesses;
    while (mach_record_next(&c, &s)) {
        if (s.kind == MACH_STEP_GROUP && !n_groups--)
            return;
        scale_step(&x, &s);
        if (s.kind == MACH_STEP_RUN && left->fills < 1)
            keep_lines(&x, &s.detail.mem);
        if (s.kind == MACH_STEP_RUN && left->n_banks)
            spread(&s.detail.mem, left->n_banks, &next);
        if (s.kind == MACH_STEP_RUN)
            whatif_settle(&s.detail.mem);
        mach_record_add(to, shave, &s);
    }
}

mach_record *whatif_keep(const mach_record *r, const whatif_rest *left,
                         uint64_t n_groups)
{
    mach_record *to = mach_record_create(WHATIF_EDIT_BYTES);

    mach_record_begin(to, mach_record_launch(r));
    for (uint32_t i = 0; i < mach_record_launch(r)->n_shaves; i++)
        scale_shave(r, i, n_groups, left, to);
    return to;
}

mach_record *whatif_scaled(const mach_record *r, double issue, double accesses)
{
    const whatif_rest left = {issue, accesses, 1, 1, 0};

    return mach_record_complete(r) ? whatif_keep(r, &left, UINT64_MAX) : NULL;
}
