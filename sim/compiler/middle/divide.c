/* Divisions as calls and back. */
#include "sim/compiler/middle/divide.h"

#include <llvm-c/DebugInfo.h>

#include "sim/ir/ir.h"

static const struct {
    LLVMOpcode op;
    const char *name;
} rows[] = {{LLVMUDiv, "__vpu_udiv"},
            {LLVMSDiv, "__vpu_sdiv"},
            {LLVMURem, "__vpu_urem"},
            {LLVMSRem, "__vpu_srem"}};

enum { N_ROWS = sizeof rows / sizeof *rows };

static const char *hidden_name(LLVMValueRef i)
{
    for (int k = 0; k < N_ROWS; k++)
        if (LLVMGetInstructionOpcode(i) == rows[k].op)
            return rows[k].name;
    return NULL;
}

static void hide(LLVMModuleRef m, LLVMBuilderRef b, LLVMValueRef i)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(m));
    LLVMTypeRef types[2] = {i32, i32}, t;
    LLVMValueRef args[2] = {LLVMGetOperand(i, 0), LLVMGetOperand(i, 1)}, f, r;

    t = LLVMFunctionType(i32, types, 2, false);
    f = ir_declare(m, hidden_name(i), t);
    ir_attr(f, "nounwind", 0);
    ir_attr(f, "willreturn", 0);
    ir_attr(f, "speculatable", 0);
    ir_attr(f, "memory", 0); /* touches none */
    LLVMPositionBuilderBefore(b, i);
    r = LLVMBuildCall2(b, t, f, args, 2, "");
    LLVMInstructionSetDebugLoc(r, LLVMInstructionGetDebugLoc(i));
    LLVMReplaceAllUsesWith(i, r);
    LLVMInstructionEraseFromParent(i);
}

static void show(LLVMBuilderRef b, LLVMValueRef call, LLVMOpcode op)
{
    LLVMValueRef r;

    LLVMPositionBuilderBefore(b, call);
    r = LLVMBuildBinOp(b, op, LLVMGetOperand(call, 0), LLVMGetOperand(call, 1),
                       "");
    if (LLVMIsAInstruction(r))
        LLVMInstructionSetDebugLoc(r, LLVMInstructionGetDebugLoc(call));
    LLVMReplaceAllUsesWith(call, r);
    LLVMInstructionEraseFromParent(call);
}

static bool is_word(LLVMValueRef i)
{
    LLVMTypeRef t = LLVMTypeOf(i);

    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(t) == 32;
}

static void each(LLVMModuleRef m, bool hiding)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        ir_each_block(block, f)
        {
            LLVMValueRef next;

            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (hiding && hidden_name(i) && is_word(i) &&
                    !LLVMIsAConstantInt(LLVMGetOperand(i, 1)))
                    hide(m, b, i);
                for (int k = 0; !hiding && k < N_ROWS; k++)
                    if (LLVMIsACallInst(i) && ir_calls(i, rows[k].name)) {
                        show(b, i, rows[k].op);
                        break;
                    }
            }
        }
    LLVMDisposeBuilder(b);
}

void divisions_hide(LLVMModuleRef m)
{
    each(m, true);
}

void divisions_show(LLVMModuleRef m)
{
    each(m, false);
}
