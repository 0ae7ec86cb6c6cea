/* What is known at a place in a function: registers, stack slots, flags.
 * Internal to scan. */
#ifndef VPU_TESTS_SUPPORT_SCAN_STATE_H
#define VPU_TESTS_SUPPORT_SCAN_STATE_H

#include "base/arena.h"
#include "tests/support/scan_decode.h"
#include "tests/support/scan_value.h"

/* What the last comparison compared. */
typedef struct {
    bool compared; /* left with right */
    bool made;     /* result, with zero */
    unsigned bits;
    scan_value left, right, result;
} scan_flags;

typedef struct {
    scan_base base; /* STACK or FRAME */
    int64_t at;
    uint32_t bytes; /* 4 or 8 */
    scan_value value;
} scan_slot;

typedef struct {
    bool reached;
    scan_value reg[SCAN_N_REGISTERS];
    scan_value log_n; /* what sim_wg holds */
    int64_t lowest;   /* rsp from STACK when FRAME was made; 0 = not made */
    scan_flags flags;
    scan_slot *slots; /* by base and place */
    size_t n_slots, cap_slots;
} scan_state;

void scan_copy(scan_state *to, const scan_state *from, arena *a);
bool scan_equal(const scan_state *a, const scan_state *b);

/* No place but those given later has this name from now on. */
void scan_forget_name(scan_state *s, uint32_t name);
/* Every place with the name of v has its interval from now on. */
void scan_learn(scan_state *s, scan_value v);

/* The bytes of the stack may have been written. */
void scan_forget_slots(scan_state *s, scan_base base, int64_t lo, int64_t hi);
void scan_put_slot(scan_state *s, scan_base base, int64_t at, uint32_t bytes,
                   scan_value v, arena *a);
scan_value scan_get_slot(const scan_state *s, scan_base base, int64_t at,
                         uint32_t bytes);

/* What holds in either; names: of `block`. Bounds that grow are taken from the
 * sorted limits when there are any. */
void scan_join(scan_state *to, const scan_state *from, uint32_t block,
               const int64_t *limits, size_t n_limits, arena *a);

#endif
