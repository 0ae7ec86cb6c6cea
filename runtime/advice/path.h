/* The critical path of a launch (sim/machine/critical.h) in figures: what each
 * of its cycles was waited for.
 *
 * Only what shortens the path shortens the launch, and by no more than that:
 * another path may be nearly as long. */
#ifndef VPU_RUNTIME_ADVICE_PATH_H
#define VPU_RUNTIME_ADVICE_PATH_H

#include "base/str.h"
#include "sim/machine/desc.h"
#include "sim/machine/record.h"

/* Causes of SHAVEs, but for DMA_WAIT and IDLE, which lead elsewhere; and: */
enum {
    PATH_TRANSFER = MACH_N_CAUSES, /* a channel moves what is waited for */
    PATH_CHANNELS,                 /* all channels move other data */
    PATH_N_KINDS
};

typedef struct {
    uint64_t cycles[PATH_N_KINDS]; /* they add up to the launch */
    uint64_t total;
    uint32_t shave;      /* where it ends */
    uint64_t slack_most; /* cycles before the end at which the first SHAVE is
                            done; the others are between */
    uint64_t group_slack[2]; /* of work-groups, least and most, in cycles */
} path_result;

const char *path_name(int kind);
/* Of a replay of r on that machine.
 *
 * VPU_ERR_LIMIT  too many steps to look at
 * else           of mach_record_replay */
vpu_status path_of(const mach_record *r, const mach_desc *desc,
                   path_result *out, vpu_error *err);
/* "DDR stall 62 % (grn.cl:18), dispatch 20 %, issue 18 %": what is a hundredth
 * or more, most first. where: behind stalls on memory; NULL = not known. */
void path_text(const path_result *p, const char *where, str *out);

#endif
