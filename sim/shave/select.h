/* Selection: IR instructions as operations on virtual registers. */
#ifndef VPU_SIM_SHAVE_SELECT_H
#define VPU_SIM_SHAVE_SELECT_H

#include <llvm-c/Target.h>

#include "sim/ir/ir.h"
#include "sim/shave/shave.h"
#include "sim/shave/vprog.h"

/* fn as a program with phis; block k of fn starts at p->blocks[first[k]].
 * p->private_bytes gets the private arrays.
 *
 * VPU_ERR_UNSUPPORTED  something without SHAVE form */
vpu_status select_function(LLVMValueRef fn, const shave_layout *layout,
                           arena *a, vprog *p, vpu_error *err);

/* --- between the files of selection -------------------------------------- */

/* A value: its parts in order. Scalars have one I register, 64-bit integers two
 * (low first), vectors V registers of 128 bits, vectors of 64-bit integers two
 * I registers a lane, structures the parts of their members. */
typedef struct {
    uint32_t n_parts;
    /* Vectors of i1 are masks, all bits of a lane or none; this is the lane's
     * width in bits. */
    uint8_t mask;
    int32_t addend; /* of an address: to be added to the part */
    isa_operand *parts;
} sel_value_parts;

/* A scalar or vector type, flattened. */
typedef struct {
    LLVMTypeKind kind; /* of the element */
    uint32_t bits, lanes;
} sel_shape;

typedef struct {
    arena *arena;
    vprog *program;
    LLVMValueRef fn;
    LLVMTargetDataRef td;
    const shave_layout *layout;
    ir_cfg cfg;
    uint32_t *first, *last; /* machine blocks of each basic block */
    ir_word *reached;       /* basic blocks */
    ir_map values;          /* LLVMValueRef -> sel_value_parts */
    ir_map constants; /* LLVMValueRef -> sel_value_parts, made in the head */
    alias *alias;
    vp_block head; /* goes in front of block 0 */
    vp_block *cur;
    LLVMValueRef inst; /* being selected */
    uint32_t line, col;
    vpu_error *err;
    vpu_status st;
} sel;

/* Remembers the first problem; building goes on with something harmless. */
void sel_fail(sel *s, const char *what);

sel_shape sel_type(LLVMTypeRef t);
/* Registers of one value of this type. */
uint32_t sel_parts(sel *s, LLVMTypeRef t);
/* The lane type of the tables. */
isa_type sel_isa_type(sel_shape t, bool is_signed);
bool sel_is_vector(LLVMTypeRef t); /* in V registers */
/* Bits without a meaning, of 8, 16 or 32. */
isa_type sel_uint(uint32_t bits);

sel_value_parts *sel_value(sel *s, LLVMValueRef v);
sel_value_parts *sel_new(sel *s,
                         LLVMTypeRef t); /* parts are set by the caller */
/* With parts of its own: those of another value are never to be changed, since
 * instructions share them. */
sel_value_parts sel_copy(sel *s, const sel_value_parts *x);
void sel_set(sel *s, LLVMValueRef v, sel_value_parts *x);
/* Part 0 of a scalar, addend added. */
isa_operand sel_scalar(sel *s, LLVMValueRef v);

/* Emission at the current block. Sources that must be registers become so. */
typedef struct {
    isa_op op;
    isa_type type, from;
    uint32_t sub;
    int32_t imm;
    uint32_t cost;
    const alias_origin *origin;
    uint32_t at;
} sel_op;

isa_operand sel_emit(sel *s, sel_op o, isa_operand a, isa_operand b,
                     isa_operand c);
#define SEL_NO ((isa_operand){0})
#define sel1(s, a, ...) sel_emit(s, (sel_op){__VA_ARGS__}, a, SEL_NO, SEL_NO)
#define sel2(s, a, b, ...) sel_emit(s, (sel_op){__VA_ARGS__}, a, b, SEL_NO)
#define sel3(s, a, b, c, ...) sel_emit(s, (sel_op){__VA_ARGS__}, a, b, c)
#define sel0(s, ...) sel_emit(s, (sel_op){__VA_ARGS__}, SEL_NO, SEL_NO, SEL_NO)

/* What a program can call; cost in cycles, 0 stands for one. */
typedef struct {
    const char *name;
    uint32_t cost;
} sel_routine;

/* n arguments in order, n_ret words back. */
void sel_call(sel *s, sel_routine r, const isa_operand *args, uint32_t n,
              isa_operand *ret, uint32_t n_ret);

/* Lanes (select_vector.c). A 64-bit lane is two operands. */
isa_operand sel_lane(sel *s, LLVMTypeRef t, const sel_value_parts *x,
                     uint32_t lane);
isa_operand sel_from_lanes(sel *s, isa_type t, const isa_operand *lanes,
                           uint32_t n);
/* A value of type t from its scalar lanes (those of i1 are 0 or 1); 64-bit
 * lanes are two operands. */
void sel_set_lanes(sel *s, LLVMTypeRef t, const isa_operand *lanes,
                   sel_value_parts *x);
sel_value_parts *sel_convert_lanes(sel *s, const isa_operand *parts,
                                   uint32_t lanes, isa_type from, isa_type to);
/* A mask's parts with lanes of another width. */
sel_value_parts *sel_mask(sel *s, const sel_value_parts *x, uint32_t lanes,
                          uint32_t bits);
bool sel_vector_inst(sel *s, LLVMValueRef i);

/* Memory (select_memory.c). */
bool sel_memory_inst(sel *s, LLVMValueRef i);
sel_value_parts *sel_index(sel *s, LLVMValueRef gep);

/* Calls, intrinsics, 64-bit arithmetic (select_call.c, select_wide.c). */
void sel_call_inst(sel *s, LLVMValueRef i);
bool sel_wide_inst(sel *s, LLVMValueRef i);
/* An address that the compiler knows, and what is computed of it. */
sel_value_parts *sel_constant_expr(sel *s, LLVMValueRef c);

/* One element-wise operation on registers of the given class. */
isa_operand sel_minmax(sel *s, bool vector, bool max, isa_type t, isa_operand a,
                       isa_operand b);
/* A narrow scalar with its upper bits right. */
isa_operand sel_extend(sel *s, isa_operand x, uint32_t bits, bool is_signed);
isa_cond sel_int_cond(LLVMIntPredicate p, bool *is_signed);
isa_cond sel_float_cond(LLVMRealPredicate p, int *always);

#endif
