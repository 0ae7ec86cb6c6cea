/* One word per byte of device memory: what is known of it.
 *
 *   bits 0..2 and 6  what happened in the interval of the tag (shadow_kind)
 *   bit  3     INIT: somebody wrote it
 *   bit  4     OLD_READ: a group before the tag's read it, nobody wrote since;
 *              of ATOMIC, ATOMICS: a group before it used it atomically
 *   bit  5     WRITTEN: the tag's group wrote it
 *   bits 7..   the item that did it, as many bits as a group has items
 *   the rest   the tag: number of the interval between barriers, counted
 *              through all groups of the run
 *
 * A byte of CMX whose tag is before its group's first interval is what another
 * group left there.
 *
 * A compare and exchange that finds another value than it expects is a look:
 * it reads, but atomics of others are not in its way. */
#ifndef VPU_SIM_CHECK_SHADOW_H
#define VPU_SIM_CHECK_SHADOW_H

#include <stdint.h>

#include "sim/compiler/abi/hostabi.h"

/* Bit 6 of the kind; with what else there was: */
enum { SHADOW_LOOK = 64 };

typedef enum {
    SHADOW_NONE,
    SHADOW_READ = SIM_CHECK_READ,      /* by the item */
    SHADOW_MANY = SIM_CHECK_MANY,      /* by several items */
    SHADOW_WROTE = SIM_CHECK_WROTE,    /* by the item, last */
    SHADOW_ATOMIC = SIM_CHECK_SPECIAL, /* by the item, atomically */
    SHADOW_INCOMING,                   /* a transfer to it may be under way */
    SHADOW_OUTGOING,                   /* a transfer from it may be */
    SHADOW_ATOMICS,                    /* by several items, atomically */
    SHADOW_LOOKED = SHADOW_LOOK,       /* the item looked */
    SHADOW_READ_LOOKED,                /* READ, and others looked */
    SHADOW_MANY_LOOKED,                /* several items looked */
    SHADOW_BOTH,                       /* by the item, atomically and read */
    SHADOW_ATOMIC_LOOKED,              /* ATOMIC, and others looked */
    SHADOW_BOTH_LOOKED = SHADOW_ATOMICS | SHADOW_LOOK /* BOTH, others looked */
} shadow_kind;

enum {
    SHADOW_KIND = SIM_CHECK_KIND,
    SHADOW_INIT = SIM_CHECK_INIT,
    SHADOW_OLD_READ = 16,
    SHADOW_WRITTEN = SIM_CHECK_WRITTEN,
    SHADOW_ITEM_SHIFT = SIM_CHECK_ITEM_SHIFT
};

#endif
