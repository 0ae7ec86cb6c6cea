/* The pieces are trunc(x) and trunc(lshr(x, a multiple of 8)). */
#include "sim/compiler/middle/narrow.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>

#include "sim/ir/ir.h"

enum { MAX_BITS = 64 };

static unsigned bits_of(LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);

    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(t)
                                                     : 0;
}

/* A shift to the right by a constant number of bytes below the width. */
static bool is_byte_shift(LLVMValueRef i)
{
    LLVMValueRef by =
        LLVMIsAInstruction(i) && LLVMGetInstructionOpcode(i) == LLVMLShr
            ? LLVMGetOperand(i, 1)
            : NULL;

    return by && LLVMIsAConstantInt(by) &&
           LLVMConstIntGetZExtValue(by) < bits_of(i) &&
           LLVMConstIntGetZExtValue(by) % 8 == 0;
}

/* A piece of the integer from bit `from` on, all of whose bytes are its own. */
static bool is_piece(LLVMValueRef i, unsigned from, unsigned width)
{
    return LLVMIsATruncInst(i) && bits_of(i) <= MAX_BITS &&
           from + (bits_of(i) + 7) / 8 * 8 <= width;
}

static bool only_pieces(LLVMValueRef v, unsigned from, unsigned width)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        bool shift = !from && is_byte_shift(i) && LLVMGetOperand(i, 0) == v;

        if (shift ? !only_pieces(i,
                                 (unsigned)LLVMConstIntGetZExtValue(
                                     LLVMGetOperand(i, 1)),
                                 width)
                  : !is_piece(i, from, width))
            return false;
    }
    return true;
}

/* What is known of an address `bytes` behind one of that alignment. */
static unsigned alignment_at(unsigned align, unsigned bytes)
{
    while (bytes % align)
        align /= 2;
    return align;
}

/* The load's bytes that `piece` is, read where the load reads. */
static void load_piece(LLVMBuilderRef b, LLVMValueRef load, LLVMValueRef piece,
                       unsigned from)
{
    LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(load))));
    unsigned bits = (bits_of(piece) + 7) / 8 * 8;
    LLVMValueRef at = LLVMConstInt(LLVMInt32TypeInContext(c), from / 8, false);
    LLVMValueRef p, x;

    LLVMPositionBuilderBefore(b, load);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(load));
    p = LLVMBuildGEP2(b, LLVMInt8TypeInContext(c), LLVMGetOperand(load, 0), &at,
                      1, "");
    x = LLVMBuildLoad2(b, LLVMIntTypeInContext(c, bits), p, "");
    LLVMSetAlignment(x, alignment_at(LLVMGetAlignment(load), from / 8));
    if (bits != bits_of(piece))
        x = LLVMBuildTrunc(b, x, LLVMTypeOf(piece), "");
    LLVMReplaceAllUsesWith(piece, x);
}

static void split(LLVMBuilderRef b, LLVMValueRef load, LLVMValueRef v,
                  unsigned from)
{
    LLVMUseRef u;

    while ((u = LLVMGetFirstUse(v))) {
        LLVMValueRef i = LLVMGetUser(u);

        if (LLVMIsATruncInst(i))
            load_piece(b, load, i, from);
        else
            split(b, load, i,
                  (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)));
        LLVMInstructionEraseFromParent(i);
    }
}

void narrow_loads(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        ir_each_block(block, f) {
            LLVMValueRef next;

            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
                unsigned width = bits_of(i);

                next = LLVMGetNextInstruction(i);
                if (!LLVMIsALoadInst(i) || width <= MAX_BITS || width % 8 ||
                    LLVMGetVolatile(i) || !only_pieces(i, 0, width))
                    continue;
                split(b, i, i, 0);
                next = LLVMGetNextInstruction(i);
                LLVMInstructionEraseFromParent(i);
            }
        }
    LLVMDisposeBuilder(b);
}
