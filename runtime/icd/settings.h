/* What users say of the device: VPU_CL, a line of options as vpu cl takes them.
 */
#ifndef VPU_RUNTIME_ICD_SETTINGS_H
#define VPU_RUNTIME_ICD_SETTINGS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/trace/writer.h"
#include "sim/machine/desc.h"

enum { ICD_MOST_SETTINGS = 64 };

typedef struct {
    mach_desc desc; /* with all that is said of it */
    uint32_t shaves;
    int as;                        /* which word of the row: 0, 1, 2 */
    uint32_t link_rate, link_each; /* between host and device: bytes per us, us
                                      a transfer takes besides; rate 0: no time
                                      but the DDR's */
    uint64_t max_cycles;           /* 0 = none */
    double timeout_s;              /* 0 = none */
    const char *check;    /* which checkers; "" = the default; NULL = none */
    const char *suppress; /* NULL = none */
    uint32_t n_random;    /* orders of each kind that are tried; 0 = none */
    const char *dump;     /* a folder; NULL = none */
    const char *const *kernels; /* that check, dump and profile are for; none =
                                   all */
    uint32_t n_kernels;
    uint32_t profile;         /* lines of a kernel's table; 0 = none */
    const char *json, *trace; /* files; NULL = none */
    trc_level trace_level;
    const char *launches, *findings, *proof; /* files; NULL = none */
} icd_settings;

/* The next word, without its quotes; NULL: no more. Changes the text. */
char *icd_next_word(char **text);

/* In the arena.
 *
 * VPU_ERR_INVALID  an unknown option, a value that is missing or not taken
 * else             of mach_desc_load and mach_desc_set */
vpu_status icd_settings_read(const char *text, arena *a, icd_settings *out,
                             vpu_error *err);

#endif
