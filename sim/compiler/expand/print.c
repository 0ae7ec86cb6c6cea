/* printf: the item's local id and the arguments go to private memory, each
 * argument behind a word that says what it is (SIM_PRINT_TAG), and the engine
 * formats them. */
#include "sim/compiler/expand/expand_priv.h"

#include <llvm-c/Target.h>

#include "sim/compiler/abi/hostabi.h"

static LLVMValueRef buffer(xp *x, uint32_t bytes)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(x->builder);
    LLVMBasicBlockRef entry =
        LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(here));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(x->context);
    LLVMValueRef p;

    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(entry));
    p = LLVMBuildAlloca(b, LLVMArrayType2(x->i32, bytes / 4), "");
    LLVMDisposeBuilder(b);
    return p;
}

static LLVMValueRef at(xp *x, LLVMValueRef p, uint32_t offset)
{
    LLVMValueRef i = xp_k32(x, offset / 4);

    return LLVMBuildGEP2(x->builder, x->i32, p, &i, 1, "");
}

static LLVMValueRef local_id(xp *x, unsigned d)
{
    return xp_runtime(x, CALL_lid0 + d, x->i32, NULL, 0);
}

LLVMValueRef x_printf(xp *x)
{
    LLVMTargetDataRef td = LLVMGetModuleDataLayout(x->module);
    uint32_t bytes = SIM_PRINT_IDS * 4, offset = bytes;
    LLVMValueRef p, args[3];

    for (unsigned i = 1; i < x->n_args; i++)
        bytes +=
            4 +
            (((uint32_t)LLVMABISizeOfType(td, LLVMTypeOf(xp_arg(x, i))) + 3) &
             ~3u);
    p = buffer(x, bytes);
    for (unsigned d = 0; d < SIM_PRINT_IDS; d++)
        LLVMBuildStore(x->builder, local_id(x, d), at(x, p, 4 * d));
    for (unsigned i = 1; i < x->n_args; i++) {
        LLVMValueRef v = xp_arg(x, i), s;
        LLVMTypeRef e = ir_element(LLVMTypeOf(v));
        uint32_t size = (uint32_t)LLVMABISizeOfType(td, LLVMTypeOf(v));

        LLVMBuildStore(
            x->builder,
            xp_k32(x, SIM_PRINT_TAG(size, ir_bits_of(e) / 8, xp_is_float(e))),
            at(x, p, offset));
        s = LLVMBuildStore(x->builder, v, at(x, p, offset + 4));
        LLVMSetAlignment(s, 4);
        offset += 4 + ((size + 3) & ~3u);
    }
    args[0] = LLVMBuildPtrToInt(x->builder, xp_arg(x, 0), x->i32, "");
    args[1] = LLVMBuildPtrToInt(x->builder, p, x->i32, "");
    args[2] = xp_k32(x, x->n_args - 1);
    xp_runtime(x, CALL_printf, LLVMVoidTypeInContext(x->context), args, 3);
    return LLVMConstNull(xp_result(x));
}
