/* What a program reads of its work-group: the words of ldarg's ISA_GROUP area.
 */
#ifndef VPU_SIM_SHAVE_ABI_H
#define VPU_SIM_SHAVE_ABI_H

#include "sim/builtins/calls.h"

enum {
    SHAVE_WORD_IDS,               /* SIM_N_IDS of them, SIM_ID_… (calls.h) */
    SHAVE_WORD_LOCAL = SIM_N_IDS, /* base of __local arrays of the program */
    SHAVE_WORD_KEPT,              /* of values kept across barriers */
    SHAVE_WORD_CONST,             /* of __constant data */
    SHAVE_N_WORDS
};

#endif
