/* What a program reads of its work-group: the words of ldarg's ISA_GROUP area.
 */
#ifndef VPU_SIM_SHAVE_ABI_H
#define VPU_SIM_SHAVE_ABI_H

enum {
    SHAVE_WORD_IDS, /* group number, local size, number of groups, offset: three
                       each */
    SHAVE_WORD_LOCAL = 12, /* base of __local arrays of the program */
    SHAVE_WORD_KEPT,       /* of values kept across barriers */
    SHAVE_WORD_CONST,      /* of __constant data */
    SHAVE_N_WORDS
};

#endif
