/* Shared by boxes.c (accesses, boxes), boxes_value.c (arithmetic on
 * coordinates), boxes_loops.c (counters, and what always runs) and
 * boxes_follow.c (from an instruction to its value). */
#ifndef VPU_SIM_COMPILER_MIDDLE_BOXES_PRIV_H
#define VPU_SIM_COMPILER_MIDDLE_BOXES_PRIV_H

#include "sim/compiler/middle/boxes.h"
#include "sim/ir/ir.h"

enum {
    BOXES_PARTS = 6,   /* of a value: a number, an offset, four pitches */
    BOXES_VARS = 6,    /* of a coordinate */
    BOXES_TEXT = 1000, /* of an expression */
    BOXES_DEPTH = 64,  /* of a value's operands */
    BOXES_RANGES = 32, /* ids and loops of a kernel */
    BOXES_NO_SYMBOL = -1
};

/* text + add. Without text it is a number. */
typedef struct {
    const char *text;
    int64_t add;
    bool fixed; /* the same in all groups: value is its value */
    int64_t value;
} boxes_expr;

/* base + sum of by[i] * (a number from 0 to below the count of range[i]). */
typedef struct {
    boxes_expr base;
    struct {
        uint8_t range;
        boxes_expr by; /* fixed */
    } vars[BOXES_VARS];
    uint32_t n_vars;
} boxes_coordinate;

/* Sum of symbols times coordinates; symbol: an argument, or BOXES_NO_SYMBOL. */
typedef struct {
    struct {
        int symbol;
        boxes_coordinate c;
    } parts[BOXES_PARTS];
    uint32_t n;
    int pointer;     /* the argument it points behind; -1: a number */
    const char *why; /* not known: the reason */
} boxes_value;

/* What a variable runs through: 0 to below count. A counter does so inside of
 * its loop; where the loop is left by a condition in its first block, there and
 * behind the loop it is one round further. */
typedef struct {
    boxes_expr count;
    bool counter; /* of loops[loop], else a local id */
    bool ahead;   /* the condition is in the loop's first block */
    size_t loop;
} boxes_range;

typedef struct {
    uint32_t header, latch;
    ir_word *blocks;
} boxes_loop;

typedef struct {
    const boxes_job *job;
    const boxes_local *local; /* by dimension */
    arena *a;
    LLVMValueRef fn;
    ir_cfg cfg;
    ir_word **pdom;
    boxes_loop *loops;
    size_t n_loops, cap_loops;
    boxes_range ranges[BOXES_RANGES]; /* the first three: local ids */
    uint32_t n_ranges;
    ir_map known; /* instruction -> value */
    unsigned depth;
} boxes_finder;

boxes_expr boxes_number(int64_t n);
bool boxes_is_number(const boxes_expr *e);
const char *boxes_text(const boxes_finder *f, const boxes_expr *e);
/* Whether it fits 32 bits and is not too long. */
bool boxes_is_sound(const boxes_expr *e);
boxes_expr boxes_plus(const boxes_finder *f, const boxes_expr *x,
                      const boxes_expr *y);
boxes_expr boxes_minus(const boxes_finder *f, const boxes_expr *x,
                       const boxes_expr *y);
boxes_expr boxes_times(const boxes_finder *f, const boxes_expr *x,
                       const boxes_expr *y);
/* x op y, "/" or "%", as the kernel computes it. */
boxes_expr boxes_divide(const boxes_finder *f, LLVMOpcode op,
                        const boxes_expr *x, const boxes_expr *y);

boxes_value boxes_unknown(const char *why);
boxes_value boxes_of_coordinate(const boxes_coordinate *c);
boxes_value boxes_of_expr(const boxes_expr *e);
boxes_value boxes_of_symbol(int symbol);
/* What a value is that is the same for the whole group; NULL: it is not. */
const boxes_expr *boxes_uniform(const boxes_value *v);
boxes_value boxes_add(const boxes_finder *f, const boxes_value *x,
                      const boxes_value *y);
boxes_value boxes_negate(const boxes_finder *f, const boxes_value *v);
boxes_value boxes_scale(const boxes_finder *f, const boxes_value *v,
                        const boxes_expr *by);
boxes_value boxes_multiply(const boxes_finder *f, const boxes_value *x,
                           const boxes_value *y);
boxes_value boxes_divide_values(const boxes_finder *f, LLVMOpcode op,
                                const boxes_value *x, const boxes_value *y);

void boxes_find_loops(boxes_finder *f);
/* A phi as the counter of its loop. */
boxes_value boxes_follow_phi(boxes_finder *f, LLVMValueRef phi);
/* Whether the block runs in every round of the loops around it, and these in
 * each work-item. Loops are left where they are counted alone. */
bool boxes_always_runs(const boxes_finder *f, uint32_t block);

/* Whether the counters in c are in the block what boxes_range says. */
bool boxes_counts_in(const boxes_finder *f, const boxes_coordinate *c,
                     uint32_t block);

boxes_value boxes_follow(boxes_finder *f, LLVMValueRef v);

#endif
