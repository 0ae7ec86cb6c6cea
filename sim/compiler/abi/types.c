/* Names of types.h; which variants a launch runs. */
#include "sim/compiler/abi/types.h"

const char *sim_variant_name(sim_variant_kind k)
{
    static const char *const names[] = {"scalar", "vectorized", "dma_preload",
                                        "dma_postwrite"};

    return k < SIM_N_VARIANTS ? names[k] : "unknown";
}

sim_variant_kind sim_pick_variant(const sim_kernel *k, const uint32_t local[3])
{
    const sim_variant *v = &k->variants[SIM_VECTORIZED];

    return v->present && local[0] % v->factor == 0 ? SIM_VECTORIZED
                                                   : SIM_SCALAR;
}

uint32_t sim_size_class(const uint32_t local[3])
{
    uint32_t x = SIM_MOST_FACTOR;

    while (local[0] % x)
        x /= 2;
    return x;
}

bool sim_runs_variant(const sim_kernel *k, sim_variant_kind v,
                      const uint32_t local[3])
{
    bool is_phase = v == SIM_PRELOAD || v == SIM_POSTWRITE;

    return k->variants[v].present &&
           (!local || is_phase || v == sim_pick_variant(k, local));
}

bool sim_lacks_code(const sim_kernel *k, const uint32_t local[3])
{
    bool lacks = false;

    for (int v = 0; v < SIM_N_VARIANTS; v++)
        lacks |= sim_runs_variant(k, (sim_variant_kind)v, local) &&
                 !k->variants[v].fn;
    return lacks;
}
