/* Programs as text, both ways: what one prints the other reads back, exactly.
 *
 *   function "scalar" private=64 spills=0
 *   vector 0: 000102030405060708090a0b0c0d0e0f
 *   callee 0: "exp.f32"
 *   block 0 plain cycles=12 stages=1
 *     0: LSU0.ldarg.u32 i3, args[8] #0 @7:12 || IAU.imov i4, 0 #1
 *     1: IAU.iadd i5, i3, 4 #2
 *     2..10: -
 *     11: ?CMU.icmp.s32.lt i5, i3, i4 #3 ^1
 *
 * One line is one bundle. A slot is UNIT.operation with its type, source type
 * and modifier as far as its row has them, then results, sources, and what imm
 * is: an address's offset ([i3 + 8]), args[8] and group[8] of ldarg, arg[0] of
 * starg, ret[0] of ldret, vector[0], callee[0], block[0]. The operation with no
 * unit is `nop`. In front, ? = predicated; behind, #seq, @line:col, ^stage,
 * cost=cycles; those that are 0 may be left out. ; starts a comment. Empty
 * bundles may be left out.
 *
 * Operands: i3, v3, sp, and immediates (signed or unsigned 32 bits, decimal or
 * 0x). A kernel's registers are whatever numbers they are: the text of a
 * virtual program reads back as well. */
#ifndef VPU_ISA_TEXT_H
#define VPU_ISA_TEXT_H

#include "isa/program.h"

/* Like snprintf: returns the length without the final 0, writes what fits. The
 * function must have passed isa_verify or isa_verify_virtual, or come from
 * isa_decode or isa_parse. */
size_t isa_print(const isa_function *f, char *out, size_t cap);

/* Pieces of it, for listings of another layout: what stands in front of the
 * blocks, a block's first line, an operation as in a bundle, and the marks
 * behind it ("#7 @7:12"). */
size_t isa_print_head(const isa_function *f, char *out, size_t cap);
size_t isa_print_block(const isa_function *f, uint32_t block, char *out,
                       size_t cap);
size_t isa_print_op(const isa_instr *in, char *out, size_t cap);
size_t isa_print_marks(const isa_instr *in, char *out, size_t cap);

enum { ISA_ERROR_BYTES = 160 };

/* All functions of a text. False: error says "line:col: what". The text's
 * syntax is checked, not whether the programs are sound. */
bool isa_parse(const char *text, size_t size, const isa_memory *mem,
               isa_function **fs, uint32_t *n, char error[ISA_ERROR_BYTES]);

#endif
