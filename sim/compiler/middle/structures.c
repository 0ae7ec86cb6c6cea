/* A new function around the old one's blocks. */
#include "sim/compiler/middle/structures.h"

#include <llvm-c/Target.h>

#include <string.h>

#include "sim/ir/ir.h"

static LLVMTypeRef structure(LLVMValueRef f, uint32_t i)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAttributeRef by_value = LLVMGetEnumAttributeAtIndex(f, i + 1, kind);

    return by_value ? LLVMGetTypeAttributeValue(by_value) : NULL;
}

static LLVMTargetDataRef layout_of(LLVMValueRef f)
{
    return LLVMGetModuleDataLayout(LLVMGetGlobalParent(f));
}

uint32_t structures_bytes(LLVMValueRef f, uint32_t i)
{
    LLVMTypeRef t = structure(f, i);

    return t ? (uint32_t)LLVMABISizeOfType(layout_of(f), t) : 0;
}

static LLVMValueRef declare(LLVMValueRef f, LLVMTypeRef *types, uint32_t n,
                            arena *a)
{
    LLVMTypeRef old = LLVMGlobalGetValueType(f);
    LLVMValueMetadataEntry *list;
    size_t n_name, n_list;
    const char *name = arena_strdup(a, LLVMGetValueName2(f, &n_name));
    LLVMValueRef out = LLVMAddFunction(
        LLVMGetGlobalParent(f), "",
        LLVMFunctionType(LLVMGetReturnType(old), types, n, false));

    LLVMSetFunctionCallConv(out, LLVMGetFunctionCallConv(f));
    LLVMSetLinkage(out, LLVMGetLinkage(f));
    ir_copy_attrs_at(f, out, LLVMAttributeFunctionIndex);
    list = LLVMGlobalCopyAllMetadata(f, &n_list);
    for (unsigned k = 0; k < n_list; k++)
        LLVMGlobalSetMetadata(out, LLVMValueMetadataEntriesGetKind(list, k),
                              LLVMValueMetadataEntriesGetMetadata(list, k));
    LLVMDisposeValueMetadataEntries(list);
    LLVMSetValueName2(f, "", 0);
    LLVMSetValueName2(out, name, n_name);
    return out;
}

/* In front of all else: a variable with the bytes that p points to. */
static LLVMValueRef variable(LLVMBuilderRef b, LLVMTypeRef t, LLVMValueRef p,
                             LLVMTargetDataRef layout)
{
    LLVMValueRef v = LLVMBuildAlloca(b, t, "");
    unsigned align = LLVMABIAlignmentOfType(layout, t);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(t));

    LLVMSetAlignment(v, align);
    LLVMBuildMemCpy(b, v, align, p, align,
                    LLVMConstInt(i32, LLVMABISizeOfType(layout, t), false));
    return v;
}

static void move_body(LLVMValueRef from, LLVMValueRef to)
{
    LLVMBasicBlockRef block;

    while ((block = LLVMGetFirstBasicBlock(from))) {
        LLVMRemoveBasicBlockFromParent(block);
        LLVMAppendExistingBasicBlock(to, block);
    }
}

LLVMValueRef structures_to_memory(LLVMValueRef f, arena *a)
{
    uint32_t n = LLVMCountParams(f);
    LLVMTypeRef *types = arena_array(a, LLVMTypeRef, n + 1);
    LLVMTypeRef *structures = arena_array(a, LLVMTypeRef, n + 1);
    LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));
    bool any = false;
    LLVMBuilderRef b;
    LLVMValueRef out, first;

    for (uint32_t i = 0; i < n; i++) {
        structures[i] = structure(f, i);
        types[i] = structures[i] ? LLVMPointerTypeInContext(c, AS_CONSTANT)
                                 : LLVMTypeOf(LLVMGetParam(f, i));
        any |= structures[i] != NULL;
    }
    if (!any)
        return f;
    out = declare(f, types, n, a);
    move_body(f, out);
    first = LLVMGetFirstInstruction(LLVMGetFirstBasicBlock(out));
    b = LLVMCreateBuilderInContext(c);
    LLVMPositionBuilderBefore(b, first);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef old = LLVMGetParam(f, i), now = LLVMGetParam(out, i);
        size_t n_name;
        const char *name = LLVMGetValueName2(old, &n_name);

        LLVMSetValueName2(now, name, n_name);
        if (structures[i])
            now = variable(b, structures[i], now, layout_of(out));
        else
            ir_copy_attrs_at(f, out, i + 1);
        LLVMReplaceAllUsesWith(old, now);
    }
    LLVMDisposeBuilder(b);
    LLVMDeleteFunction(f);
    return out;
}
