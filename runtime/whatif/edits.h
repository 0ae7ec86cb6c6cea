/* What another form of a kernel would take: the recorded steps of a launch, cut
 * anew or with copies in place of loads, replayed.
 *
 * An edit keeps what the kernel has to do (issue cycles, bytes) and changes how
 * it is brought to the SHAVEs. Groups count as alike: the work of all is spread
 * evenly over the new ones. So the answer is an estimate of a program that
 * nobody has written yet, not the cycles of one. Of the numbers of work-groups
 * that fit the machine the best is taken. Of launches with thousands of groups
 * a part is replayed, and its pace taken for the whole. */
#ifndef VPU_RUNTIME_WHATIF_EDITS_H
#define VPU_RUNTIME_WHATIF_EDITS_H

#include "runtime/backend/backend.h"
#include "runtime/whatif/waste.h"
#include "sim/exec/sample.h"
#include "sim/machine/desc.h"
#include "sim/machine/record.h"

typedef enum {
    WHATIF_NO_EDIT,
#define WHATIF_EDIT(id, name, about) WHATIF_##id,
#include "runtime/whatif/edits.def"
    WHATIF_N_EDITS
} whatif_edit;

/* What edits of a launch have in common: its work, added up, and what a sample
 * of its groups takes as it is. The first edit that needs it works it out. */
typedef struct whatif_shared whatif_shared;
/* In the arena, as all that edits put there. */
whatif_shared *whatif_share(arena *a);

typedef struct {
    const mach_record *steps;
    /* Its first accesses: which bytes a group touches, and how often. NULL: not
     * known. */
    const exec_sample *sample;
    uint64_t n_items; /* work-items of the launch */
    uint64_t cycles;  /* it took on the machine of the edit; 0 = not known */
    /* It brings a tensor from the model's layout into the kernel's, or back; no
     * source of the user's. Only WHATIF_LAYOUT applies then. */
    bool conversion;
    double waste[WASTE_N_KINDS]; /* of the issue cycles */
    /* Of edits of these steps on one machine, by one thread at a time; NULL:
     * each works all out itself. */
    whatif_shared *shared;
} whatif_launch;

/* Does it cut the launch into other work-groups? */
bool whatif_edit_cuts(whatif_edit e);
/* Of launch l, which has run so, its steps kept. */
void whatif_launch_of(const graph_launch *l, const backend_launch *run,
                      arena *scratch, whatif_launch *out);

typedef struct {
    mach_profile profile;
    uint64_t n_groups;
    /* Of the local memory of a group, both copies counted where there are
     * two. */
    uint64_t local_bytes;
    uint64_t in_bytes, out_bytes; /* that a group copies */
} whatif_edited;

/* "dma-form"; the sentence of edits.def. */
const char *whatif_edit_name(whatif_edit e);
const char *whatif_edit_about(whatif_edit e);

/* The same steps with other amounts of work: issue cycles, and accesses to
 * memory with the lines they move, times these (0 to 1 each; rounded so that
 * the sums are right). NULL: r is not complete. */
mach_record *whatif_scaled(const mach_record *r, double issue, double accesses);

/* *possible: false where the edit does not apply: nothing to change, or no
 * number of groups that fits.
 *
 * VPU_ERR_INVALID  the steps are not complete
 * VPU_ERR_NOMEM
 * else             of mach_record_replay */
vpu_status whatif_edit_launch(const whatif_launch *l, whatif_edit e,
                              const mach_desc *desc, bool *possible,
                              whatif_edited *out, vpu_error *err);

#endif
