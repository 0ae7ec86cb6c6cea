/* What may be in a register: an interval, counted from something. Internal to
 * scan. */
#ifndef VPU_TESTS_SUPPORT_SCAN_VALUE_H
#define VPU_TESTS_SUPPORT_SCAN_VALUE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    SCAN_UNKNOWN, /* may be anything, an address, too */
    SCAN_NUMBER,  /* counted from zero; computed without addresses */
    /* The arguments of sim_wg_fn. */
    SCAN_WG,
    SCAN_WINDOW,
    SCAN_ARGS,
    SCAN_LOG,
    SCAN_STACK,   /* rsp at the entry */
    SCAN_FRAME,   /* rsp once it was aligned */
    SCAN_CALLER,  /* what register `of` held at the entry */
    SCAN_CODE,    /* offset in the function's section */
    SCAN_SECTION, /* offset in section `of` */
    SCAN_SYMBOL,  /* the address of relocation `of`'s symbol */
    /* What one adds up to the above in position-independent code. */
    SCAN_GOT,
    SCAN_GOT_FROM_CODE, /* less a place in the code */
    SCAN_FROM_GOT,      /* a place in section `of`, from the GOT */
    SCAN_SLOT_FROM_GOT, /* the GOT's entry for relocation `of` */
    SCAN_SLOT,
    /* An entry of a table in section `of`, at lo, lo + step, … hi. */
    SCAN_ENTRY,
    SCAN_TARGET /* such an entry added to where the table begins: at `from` */
} scan_base;

/* Values with the same name (not 0) are equal. */
typedef struct {
    scan_base base;
    int32_t of;
    uint32_t name;
    uint32_t step;
    int64_t lo, hi, from;
} scan_value;

#define SCAN_U32 INT64_C(0xffffffff)

scan_value scan_number(int64_t lo, int64_t hi);
scan_value scan_any_number(unsigned bits);
scan_value scan_at(scan_base base, int32_t of, int64_t offset);
scan_value scan_unknown(void);
bool scan_is_within(scan_value v, int64_t lo, int64_t hi); /* a number */
bool scan_is_constant(scan_value v);
bool scan_same(scan_value a, scan_value b); /* names apart */

/* The low bits alone. */
scan_value scan_low(scan_value v, unsigned bits);

scan_value scan_add(scan_value a, scan_value b);
scan_value scan_subtract(scan_value a, scan_value b);
scan_value scan_multiply(scan_value a, scan_value b);
scan_value scan_and(scan_value a, scan_value b);
scan_value scan_or(scan_value a, scan_value b);
scan_value scan_xor(scan_value a, scan_value b);
scan_value scan_shift_left(scan_value a, scan_value by);
scan_value scan_shift_right(scan_value a, scan_value by, bool is_signed);
scan_value scan_hull(scan_value a, scan_value b);

/* a, knowing that `a <condition> b` holds for their low `bits`; conditions as
 * in jumps: "b", "ae", "e", … */
scan_value scan_refine(scan_value a, const char *condition, scan_value b,
                       unsigned bits);
const char *scan_opposite(const char *condition);
const char *scan_swapped(const char *condition); /* NULL: has no such form */

#endif
