/* What code for a debugger has besides: DWARF, a stop where one item begins,
 * and the calls that tell `vpu debug` of lines and variables; see
 * hostcode_priv.h.
 *
 * A variable's address is a value that the work-group builder moves about: an
 * array of the item's own where several regions need it. So the host function
 * keeps the address in a slot of its frame, and DWARF says "where the slot
 * points to". */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "sim/compiler/debug/debug.h"
#include "sim/compiler/host/hostcode_priv.h"

/* A compile unit's list of program-scope variables among its operands. They are
 * variables of each kernel instead (add_array). */
enum { UNIT_GLOBALS = 6 };

enum { DW_OP_DEREF = 6, DWARF_VERSION = 4 };

static void add_flag(LLVMModuleRef m, const char *name, uint32_t value)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(m));

    LLVMAddModuleFlag(m, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(LLVMConstInt(i32, value, false)));
}

void hostcode_begin_debug(LLVMModuleRef to, LLVMModuleRef device)
{
    unsigned n = LLVMGetNamedMetadataNumOperands(device, "llvm.dbg.cu");
    LLVMContextRef c = LLVMGetModuleContext(to);
    LLVMValueRef units[16];

    LLVMSetIsNewDbgInfoFormat(to, true);
    add_flag(to, "Debug Info Version", LLVMDebugMetadataVersion());
    add_flag(to, "Dwarf Version", DWARF_VERSION);
    if (n > 16)
        return;
    LLVMGetNamedMetadataOperands(device, "llvm.dbg.cu", units);
    for (unsigned i = 0; i < n; i++)
        LLVMReplaceMDNodeOperandWith(units[i], UNIT_GLOBALS,
                                     LLVMMDNodeInContext2(c, NULL, 0));
    for (unsigned i = 0; i < n; i++)
        LLVMAddNamedMetadataOperand(to, "llvm.dbg.cu", units[i]);
}

void host_debug_begin_function(host *h)
{
    LLVMSetSubprogram(h->fn, LLVMGetSubprogram(h->from));
    LLVMAddAttributeAtIndex(
        h->fn, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(h->context, "frame-pointer", 13, "all", 3));
    ir_attr(h->fn, "uwtable", 2);
    ir_attr(h->fn, "noinline", 0);
    ir_attr(h->fn, "optnone", 0);
}

static host_slot *slot_of(host *h, LLVMMetadataRef var, LLVMMetadataRef loc)
{
    LLVMBasicBlockRef at = LLVMGetInsertBlock(h->builder);
    LLVMDIBuilderRef d;
    uint64_t deref = DW_OP_DEREF;
    host_slot *s;

    for (size_t k = 0; k < h->n_slots; k++)
        if (h->slots[k].var == var && h->slots[k].loc == loc)
            return &h->slots[k];
    s = arena_append(h->arena, h->slots, h->n_slots, h->cap_slots);
    LLVMPositionBuilderBefore(
        h->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(h->fn)));
    *s = (host_slot){var, loc, LLVMBuildAlloca(h->builder, h->ptr, "")};
    LLVMPositionBuilderAtEnd(h->builder, at);
    d = LLVMCreateDIBuilder(h->module);
    LLVMDIBuilderInsertDeclareRecordAtEnd(
        d, s->slot, var, LLVMDIBuilderCreateExpression(d, &deref, 1), loc, at);
    LLVMDisposeDIBuilder(d);
    return s;
}

static void do_stop(host *h, LLVMValueRef i)
{
    unsigned id = LLVMLookupIntrinsicID("llvm.debugtrap", 14);
    LLVMTypeRef t = LLVMIntrinsicGetType(h->context, id, NULL, 0);
    LLVMBasicBlockRef on = host_unlikely(h, host_operand(h, i, 0));

    LLVMBuildCall2(h->builder, t,
                   LLVMGetIntrinsicDeclaration(h->module, id, NULL, 0), NULL, 0,
                   "");
    LLVMBuildBr(h->builder, on);
    LLVMPositionBuilderAtEnd(h->builder, on);
}

static LLVMValueRef text_of(host *h, LLVMValueRef i)
{
    LLVMValueRef node = LLVMGetMetadata(i, debuginfo_text_kind(h->context)), op;
    const char *s;
    unsigned n = 0;

    if (!node || LLVMGetMDNodeNumOperands(node) != 1)
        return NULL;
    LLVMGetMDNodeOperands(node, &op);
    s = LLVMGetMDString(op, &n);
    return s ? LLVMBuildGlobalStringPtr(h->builder,
                                        arena_strndup(h->arena, s, n), "")
             : NULL;
}

static void do_line(host *h, LLVMValueRef i)
{
    LLVMValueRef args[5] = {h->wg, text_of(h, i)};

    if (!args[1])
        return;
    for (unsigned k = 0; k < 3; k++)
        args[2 + k] = host_operand(h, i, k);
    host_hook(h, "vpu_hook_line", LLVMVoidTypeInContext(h->context), args, 5);
}

/* With a text for sim_debug.lines; else for DWARF. */
static void do_var(host *h, LLVMValueRef i)
{
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(i);
    LLVMValueRef var = LLVMGetMetadata(i, debuginfo_variable_kind(h->context)),
                 at;
    LLVMValueRef args[3] = {h->wg, text_of(h, i)};

    if (args[1]) {
        args[2] = host_ptr(h, host_operand(h, i, 0));
        host_hook(h, "vpu_hook_var", LLVMVoidTypeInContext(h->context), args,
                  3);
        return;
    }
    if (!loc || !var)
        return;
    LLVMSetCurrentDebugLocation2(h->builder, NULL);
    at = host_ptr(h, host_operand(h, i, 0));
    LLVMBuildStore(h->builder, at,
                   slot_of(h, LLVMValueAsMetadata(var), loc)->slot);
}

/* The row's function do_name. */
bool host_debug_call(host *h, LLVMValueRef i)
{
    switch (ir_call_id(i)) {
#define DEBUG(name)      \
    case CALL_##name:    \
        do_##name(h, i); \
        return true;
#include "sim/builtins/calls.def"
    default:
        return false;
    }
}
