/* Small things LLVM's C API leaves out: value maps, block numbering, cloning a
 * control-flow graph, reading a function name's argument types.
 *
 * Not thread safe; one LLVM context, one thread. */
#ifndef VPU_SIM_IR_IR_H
#define VPU_SIM_IR_IR_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "sim/builtins/calls.h"

/* The device's address spaces, as clang numbers them for spir. */
enum { AS_PRIVATE = 0, AS_GLOBAL = 1, AS_CONSTANT = 2, AS_LOCAL = 3 };

/* To be called before anything else of LLVM, which is loaded then
 * (base/late.h).
 *
 * VPU_ERR_UNSUPPORTED  it is not on this machine */
vpu_status ir_begin(vpu_error *err);

/* Bitcode as a module; *out is NULL if it is none. From here on the context's
 * diagnostics are swallowed: by itself LLVM would end the process.
 *
 * VPU_ERR_PARSE  the message begins with name */
vpu_status ir_parse(LLVMContextRef c, const char *bitcode, size_t n,
                    const char *name, LLVMModuleRef *out, vpu_error *err);

/* Pointer-keyed map to a pointer; NULL = absent. In an arena. */
typedef struct {
    arena *arena;
    const void **keys;
    void **values;
    uint32_t n, cap; /* cap is a power of two */
} ir_map;

void ir_map_init(ir_map *m, arena *a);
void ir_map_set(ir_map *m, const void *key, void *value);
void *ir_map_get(const ir_map *m, const void *key);

/* Blocks of a function in their order, and each block's number. */
typedef struct {
    LLVMBasicBlockRef *blocks;
    uint32_t n_blocks;
    ir_map index;              /* block -> number + 1 */
    uint32_t **preds, **succs; /* per block: [0] = count, then numbers */
} ir_cfg;

void ir_cfg_build(ir_cfg *c, LLVMValueRef fn, arena *a);
uint32_t ir_cfg_number(const ir_cfg *c, LLVMBasicBlockRef b);

/* Bit sets over block or value numbers. */
typedef uint64_t ir_word;
ir_word *ir_bits(arena *a, uint32_t n);
static inline bool ir_bit(const ir_word *b, uint32_t i)
{
    return b[i / 64] >> i % 64 & 1;
}
static inline void ir_bit_set(ir_word *b, uint32_t i)
{
    b[i / 64] |= (ir_word)1 << i % 64;
}

/* Blocks reachable from block 0 in post-order into order (c->n_blocks entries);
 * returns how many. Backwards it visits definitions before uses. seen gets
 * their bits. */
uint32_t ir_post_order(const ir_cfg *c, uint32_t *order, ir_word *seen);

/* Bits of the blocks from which block `latch` is reached without passing block
 * `header`, both of these included: the blocks of the loop from header to
 * latch. NULL: nothing leads to one of them, so the header is not in front of
 * all. */
ir_word *ir_loop_blocks(const ir_cfg *c, uint32_t header, uint32_t latch,
                        arena *a);

/* Post-dominators: pdom[b] has bit p when every path from b to an exit passes p
 * (b itself included). Blocks that reach no exit get all bits. */
ir_word **ir_post_dominators(const ir_cfg *c, arena *a);

/* Name and argument type letters of an Itanium-mangled OpenCL function. Each
 * argument: element letter ('c' 'h' 's' 't' 'i' 'j' 'l' 'm' 'f' 'd', 'H' =
 * half, 'P' = pointer, '?' = other), vector length (1 for scalars). */
enum { IR_MAX_ARGS = 16 };
typedef struct {
    const char *name; /* not terminated */
    uint32_t name_len;
    uint32_t n_args;
    struct {
        char letter;
        uint8_t lanes;
    } args[IR_MAX_ARGS];
} ir_signature;
/* Plain C names give their name and no arguments. */
void ir_demangle(const char *symbol, ir_signature *out);

/* The called function's name, "" for indirect calls. */
const char *ir_callee(LLVMValueRef call);
/* Marks a saturating conversion whose source asks for none: values out of range
 * are a mistake. */
void ir_mark_unsaturated(LLVMValueRef call);
bool ir_unsaturated(LLVMValueRef call);
/* Computes an integer from two, and cannot fail, whatever they are. */
bool ir_is_arithmetic(LLVMOpcode op);
/* Which runtime call inst is; CALL_NONE: any other instruction. */
call_id ir_call_id(LLVMValueRef inst);
/* A runtime call to build: what it returns, its n arguments, at most 16. */
typedef struct {
    call_id id;
    LLVMTypeRef ret;
    LLVMValueRef *args;
    unsigned n;
} ir_call;
/* At the builder's position; declares the function with what its row says the
 * optimiser may take for granted. */
LLVMValueRef ir_build_call(LLVMBuilderRef b, LLVMModuleRef m,
                           const ir_call *what);
/* The same of a numbered one. */
LLVMValueRef ir_build_numbered(LLVMBuilderRef b, LLVMModuleRef m,
                               const ir_call *what, unsigned number);

/* What an array, a variable of a function or of the program, lies at a multiple
 * of: SIM_ALIGN to SIM_MOST_ALIGN. */
uint32_t ir_place_align(LLVMValueRef array);

/* The source line of i, an instruction; without one, that of one before it in
 * its block or of a branch that leads there. 0: none. */
unsigned ir_line_near(LLVMValueRef i);

/* A copy of inst at the builder's position with operands looked up in map
 * (absent = unchanged). Not for phis and terminators. */
LLVMValueRef ir_clone(LLVMBuilderRef b, LLVMValueRef inst, const ir_map *map);
/* op looked up in map; itself when absent. */
LLVMValueRef ir_mapped(const ir_map *map, LLVMValueRef op);
/* `to`, the copy of phi, gets what phi gets, looked up in values, from the
 * copies of its blocks; from `outside` where a block has none. */
void ir_fill_phi(LLVMValueRef to, LLVMValueRef phi, const ir_map *values,
                 const ir_map *blocks, LLVMBasicBlockRef outside);
/* What phi already gets from block, or NULL. A block that comes in several
 * times (cases of a switch) must bring the same value each time. */
LLVMValueRef ir_incoming_from(LLVMValueRef phi, LLVMBasicBlockRef block);

/* The constant that is added to phi, of a block with this latch, in each
 * iteration; NULL: none is. */
LLVMValueRef ir_step_of(LLVMValueRef phi, LLVMBasicBlockRef latch);
/* Is v what phi is one iteration later, and that is phi + 1? */
bool ir_counts_up(LLVMValueRef phi, LLVMBasicBlockRef latch, LLVMValueRef v);

/* Declare (or find) a function of the module. */
LLVMValueRef ir_declare(LLVMModuleRef m, const char *name, LLVMTypeRef type);
/* Of the attribute "memory": touches what arguments point to and what nobody
 * else can reach. */
enum { IR_MEMORY_ARGUMENTS_AND_INACCESSIBLE = 15 };
/* Add an enum attribute by name ("nounwind", "memory" …) to a function. */
void ir_attr(LLVMValueRef fn, const char *name, uint64_t value);
/* Attributes at an index: LLVMAttributeFunctionIndex, 1 the first parameter. */
void ir_copy_attrs_at(LLVMValueRef from, LLVMValueRef to, unsigned at);
/* Attributes (restrict, alignment) of the first n parameters. */
void ir_copy_param_attrs(LLVMValueRef from, LLVMValueRef to, unsigned n);
void ir_drop_attr(LLVMValueRef fn, const char *name);

/* Metadata of a kind on an instruction, NULL when there is none. */
LLVMValueRef ir_metadata(LLVMValueRef inst, const char *kind);
/* Is this branch's loop marked "do not unroll"? LLVM's unroller leaves the mark
 * on what it has unrolled. */
bool ir_unroll_disabled(LLVMValueRef branch);

/* What the source calls a variable of the module: "K.tile" is what clang calls
 * array tile of kernel K. */
const char *ir_plain_name(LLVMValueRef global);

/* Lanes of a type, 1 for scalars; its element type. */
unsigned ir_lanes(LLVMTypeRef t);
LLVMTypeRef ir_element(LLVMTypeRef t);
/* Element type's bits; pointers are 32. */
unsigned ir_bits_of(LLVMTypeRef element);

#define ir_each_block(b, fn)                                  \
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; \
         b = LLVMGetNextBasicBlock(b))
#define ir_each_inst(i, block)                               \
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; \
         i = LLVMGetNextInstruction(i))

#endif
