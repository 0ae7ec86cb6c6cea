/* Source lines of code that passes move. */
#include "sim/compiler/middle/places.h"

#include <llvm-c/DebugInfo.h>

#include "sim/ir/ir.h"

/* What passes keep of an instruction even where it may run less often than
 * before: its value's range, and this. A tuple, as LLVM wants it to be. */
static unsigned kind_of(LLVMModuleRef m)
{
    static const char name[] = "annotation";

    return LLVMGetMDKindIDInContext(LLVMGetModuleContext(m), name,
                                    sizeof name - 1);
}

void places_keep(LLVMModuleRef m)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    unsigned kind = kind_of(m);

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        ir_each_block(b, f)
            ir_each_inst(i, b) {
                LLVMMetadataRef at = LLVMInstructionGetDebugLoc(i);

                if (at && LLVMGetDebugLocLine(i) && !LLVMIsAPHINode(i))
                    LLVMSetMetadata(i, kind,
                                    LLVMMetadataAsValue(
                                        c, LLVMMDNodeInContext2(c, &at, 1)));
            }
}

void places_restore(LLVMModuleRef m)
{
    unsigned kind = kind_of(m);

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        ir_each_block(b, f)
            ir_each_inst(i, b) {
                LLVMValueRef kept = LLVMGetMetadata(i, kind), at;

                if (!kept)
                    continue;
                if (!LLVMGetDebugLocLine(i) &&
                    LLVMGetMDNodeNumOperands(kept) == 1) {
                    LLVMGetMDNodeOperands(kept, &at);
                    LLVMInstructionSetDebugLoc(i, LLVMValueAsMetadata(at));
                }
                LLVMSetMetadata(i, kind, NULL);
            }
}
