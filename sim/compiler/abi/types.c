/* Names of types.h. */
#include "sim/compiler/abi/types.h"

const char *sim_variant_name(sim_variant_kind k)
{
    static const char *const names[] = {"scalar", "vectorized", "dma_preload",
                                        "dma_postwrite"};

    return k < SIM_N_VARIANTS ? names[k] : "unknown";
}
