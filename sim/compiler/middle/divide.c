/* Divisions as calls and back. */
#include "sim/compiler/middle/divide.h"

#include <llvm-c/DebugInfo.h>

#include "sim/ir/ir.h"

static const struct {
    LLVMOpcode op;
    call_id id;
} rows[] = {
#define DIVISION(name, opcode) {LLVM##opcode, CALL_##name},
#include "sim/builtins/calls.def"
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static call_id hidden_as(LLVMValueRef i)
{
    for (int k = 0; k < N_ROWS; k++)
        if (LLVMGetInstructionOpcode(i) == rows[k].op)
            return rows[k].id;
    return CALL_NONE;
}

static void hide(LLVMModuleRef m, LLVMBuilderRef b, LLVMValueRef i)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(m));
    LLVMValueRef args[2] = {LLVMGetOperand(i, 0), LLVMGetOperand(i, 1)}, r;

    LLVMPositionBuilderBefore(b, i);
    r = ir_build_call(b, m, &(const ir_call){hidden_as(i), i32, args, 2});
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
        ir_each_block(block, f) {
            LLVMValueRef next;
            call_id id;

            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (hiding && hidden_as(i) && is_word(i) &&
                    !LLVMIsAConstantInt(LLVMGetOperand(i, 1)))
                    hide(m, b, i);
                id = hiding ? CALL_NONE : ir_call_id(i);
                for (int k = 0; id && k < N_ROWS; k++)
                    if (id == rows[k].id) {
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
