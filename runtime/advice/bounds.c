/* See bounds.h. */
#include "runtime/advice/bounds.h"

static const struct {
    const char *name, *about;
} texts[] = {
#define BOUND(id, what, text) [BOUND_##id] = {what, text},
#include "runtime/advice/bounds.def"
};

const char *bound_name(bound_kind k)
{
    return texts[k].name;
}

const char *bound_about(bound_kind k)
{
    return texts[k].about;
}

static uint64_t most_of(const backend_launch *l, mach_cause c)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < l->n_shaves; i++)
        if (l->exec.profile.by_cause[i][c] > most)
            most = l->exec.profile.by_cause[i][c];
    return most;
}

static uint64_t ddr_cycles(uint64_t bytes, const mach_desc *desc)
{
    return (uint64_t)((double)bytes * (double)desc->clk_mhz / 1e3 /
                      desc->ddr_eff_bw);
}

bound_set bound_of(const backend_launch *l, const mach_desc *desc)
{
    const mach_profile *p = &l->exec.profile;
    const mach_mem_counts *m = &p->mem;
    uint64_t stalls = m->load_fills * desc->ddr_load_stall +
                      m->load_l2_hits * desc->l2_hit_stall +
                      m->load_l1_hits * desc->l1_hit_stall;
    bound_set b = {
        .cycles = {[BOUND_ISSUE] = most_of(l, MACH_CAUSE_ISSUE),
                   [BOUND_LATENCY] = stalls / l->n_shaves,
                   [BOUND_DDR] = ddr_cycles(p->ddr_bytes, desc),
                   [BOUND_DMA] = p->dma_busy_cycles / desc->dma_channels,
                   [BOUND_DISPATCH] =
                       most_of(l, MACH_CAUSE_DISPATCH) -
                       (most_of(l, MACH_CAUSE_DISPATCH) > desc->layer_fixed
                            ? desc->layer_fixed
                            : 0)}};

    for (int k = 0; k < BOUND_N_KINDS; k++) {
        b.cycles[k] += desc->layer_fixed;
        if (b.cycles[k] > b.cycles[b.binding])
            b.binding = (bound_kind)k;
    }
    return b;
}

double bound_amplification(const backend_launch *l)
{
    const mach_profile *p = &l->exec.profile;
    uint64_t asked =
        p->load_bytes + p->store_bytes + p->dma_in_bytes + p->dma_out_bytes;

    return asked ? (double)p->ddr_bytes / (double)asked : 0;
}

double bound_balance(const backend_launch *l)
{
    const mach_profile *p = &l->exec.profile;
    uint64_t most = 0, sum = 0;

    for (uint32_t i = 0; i < l->n_shaves; i++) {
        uint64_t busy = p->cycles - p->by_cause[i][MACH_CAUSE_IDLE];

        sum += busy;
        most = busy > most ? busy : most;
    }
    return most ? (double)sum / (double)most / l->n_shaves : 1;
}
