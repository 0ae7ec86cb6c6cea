/* What part of a kernel's issue cycles goes to operations that another source
 * would not need: read off its SHAVE program, in which a cycle of a loop counts
 * more than one outside. An estimate: how often each block runs is not known.
 */
#ifndef VPU_RUNTIME_WHATIF_WASTE_H
#define VPU_RUNTIME_WHATIF_WASTE_H

#include "base/arena.h"
#include "isa/program.h"

typedef enum {
    WASTE_DIVISIONS, /* cycles of source lines that wait for a division or a
                        remainder of integers */
    WASTE_BRANCHES,  /* delay slots of branches without an operation */
    WASTE_SPILLS,    /* cycles that issue nothing but accesses of private
                        memory */
    WASTE_N_KINDS
} waste_kind;

/* 0 to 1. scratch: for what is needed on the way. */
double waste_share(const isa_function *f, waste_kind k, arena *scratch);
/* The source line with most of it; 0 = none has any. */
uint32_t waste_line(const isa_function *f, waste_kind k, arena *scratch);

#endif
