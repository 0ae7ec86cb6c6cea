/* Source variables and ids in device IR; see debug.h. */
#include "sim/compiler/debug/debug.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

enum { DW_ENCODING_UNSIGNED = 7 };

unsigned debuginfo_variable_kind(LLVMContextRef c)
{
    return LLVMGetMDKindIDInContext(c, "vpu.var", 7);
}

static bool of_prelude(LLVMMetadataRef var)
{
    LLVMMetadataRef file = LLVMDIVariableGetFile(var);
    unsigned n = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &n) : "";
    static const char tail[] = "prelude.h";

    return n >= sizeof tail - 1 &&
           !memcmp(name + n - (sizeof tail - 1), tail, sizeof tail - 1);
}

static void add_var(LLVMModuleRef m, LLVMBuilderRef b, LLVMValueRef address,
                    LLVMValueRef var, LLVMMetadataRef loc)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMValueRef call = ir_build_call(
        b, m,
        &(const ir_call){CALL_var, LLVMVoidTypeInContext(c), &address, 1});

    LLVMSetMetadata(call, debuginfo_variable_kind(c), var);
    LLVMInstructionSetDebugLoc(call, loc);
}

/* DWARF as LLVM writes it does not give the size of pointers: a debugger takes
 * them for the host's. The upper half is there for it, and zero. */
static LLVMValueRef widen_pointer(LLVMModuleRef m, LLVMBuilderRef b,
                                  LLVMValueRef array)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(c), t;
    LLVMTypeRef fields[2] = {LLVMGetAllocatedType(array), i32};
    LLVMValueRef wide;

    if (LLVMGetTypeKind(fields[0]) != LLVMPointerTypeKind)
        return array;
    t = LLVMStructTypeInContext(c, fields, 2, false);
    LLVMPositionBuilderBefore(b, array);
    LLVMSetCurrentDebugLocation2(b, NULL);
    wide = LLVMBuildAlloca(b, t, "");
    LLVMBuildStore(b, LLVMConstNull(i32),
                   LLVMBuildStructGEP2(b, t, wide, 1, ""));
    LLVMReplaceAllUsesWith(array, wide);
    LLVMInstructionEraseFromParent(array);
    return wide;
}

/* llvm.dbg.declare(address, variable, expression) */
static void mark(LLVMModuleRef m, LLVMBuilderRef b, LLVMValueRef declare)
{
    LLVMValueRef where = LLVMGetOperand(declare, 0), address = NULL;
    LLVMValueRef var = LLVMGetOperand(declare, 1), behind;

    if (LLVMGetMDNodeNumOperands(where) == 1)
        LLVMGetMDNodeOperands(where, &address);
    if (!address || !LLVMIsAInstruction(address) ||
        of_prelude(LLVMValueAsMetadata(var)))
        return;
    /* Where the array begins to be, so that the address is known from the
     * item's beginning on. What a function returns may be part of another
     * array: its address is known where it is computed. */
    if (LLVMIsAAllocaInst(address))
        address = widen_pointer(m, b, address);
    behind = address;
    do
        behind = LLVMGetNextInstruction(behind);
    while (LLVMIsAPHINode(behind));
    LLVMPositionBuilderBefore(b, behind);
    add_var(m, b, address, var, LLVMInstructionGetDebugLoc(declare));
}

void debuginfo_mark_variables(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));

    LLVMSetIsNewDbgInfoFormat(m, false);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        ir_each_block(block, f) {
            LLVMValueRef next;

            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
                const char *name = ir_callee(i);

                next = LLVMGetNextInstruction(i);
                if (strncmp(name, "llvm.dbg", 8) != 0)
                    continue;
                if (!strcmp(name, "llvm.dbg.declare"))
                    mark(m, b, i);
                LLVMInstructionEraseFromParent(i);
            }
        }
    LLVMDisposeBuilder(b);
}

/* The variable of that name; NULL: of any. */
static bool has_variable(LLVMValueRef fn, const char *name)
{
    unsigned kind =
        debuginfo_variable_kind(LLVMGetModuleContext(LLVMGetGlobalParent(fn)));

    ir_each_block(block, fn)
        ir_each_inst(i, block) {
            LLVMValueRef var = LLVMGetMetadata(i, kind), ops[16];
            const char *got;
            unsigned n = 0;

            if (var && !name)
                return true;
            if (!var || LLVMGetMDNodeNumOperands(var) > 16)
                continue;
            LLVMGetMDNodeOperands(var, ops);
            got = ops[1] ? LLVMGetMDString(ops[1], &n) : NULL;
            if (got && n == strlen(name) && !memcmp(got, name, n))
                return true;
        }
    return false;
}

/* Where the body of the source begins: behind what only prepares it. */
static LLVMValueRef first_statement(LLVMValueRef fn)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(fn);

    ir_each_inst(i, entry)
        if (LLVMGetDebugLocLine(i) && ir_call_id(i) != CALL_var)
            return i;
    return LLVMGetBasicBlockTerminator(entry);
}

static LLVMValueRef id_call(LLVMBuilderRef b, LLVMModuleRef m, call_id id)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(m));

    return ir_build_call(b, m, &(const ir_call){id, i32, NULL, 0});
}

/* first: the id's call for dimension 0; CALL_NONE = the global id. */
static LLVMValueRef id_value(LLVMBuilderRef b, LLVMModuleRef m, call_id first,
                             unsigned d)
{
    LLVMValueRef v;

    if (first)
        return id_call(b, m, first + d);
    v = LLVMBuildMul(b, id_call(b, m, CALL_grp0 + d),
                     id_call(b, m, CALL_lsz0 + d), "");
    v = LLVMBuildAdd(b, v, id_call(b, m, CALL_off0 + d), "");
    return LLVMBuildAdd(b, v, id_call(b, m, CALL_lid0 + d), "");
}

typedef struct {
    LLVMModuleRef m;
    LLVMBuilderRef b;
    LLVMDIBuilderRef d;
    LLVMMetadataRef sp, type, loc; /* type: uint3 */
} ids;

static void add_id(ids *x, const char *name, call_id first)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(x->m));
    LLVMTypeRef t = LLVMArrayType2(i32, 4);
    LLVMValueRef at = LLVMBuildAlloca(x->b, t, name);
    LLVMMetadataRef var;

    for (unsigned d = 0; d < 3; d++) {
        LLVMValueRef i = LLVMConstInt(i32, d, false);

        LLVMBuildStore(x->b, id_value(x->b, x->m, first, d),
                       LLVMBuildGEP2(x->b, i32, at, &i, 1, ""));
    }
    /* Of no line: that tells it from the source's variables. */
    var = LLVMDIBuilderCreateAutoVariable(x->d, x->sp, name, strlen(name),
                                          LLVMDIScopeGetFile(x->sp), 0, x->type,
                                          true, LLVMDIFlagZero, 0);
    add_var(x->m, x->b, at,
            LLVMMetadataAsValue(LLVMGetModuleContext(x->m), var), x->loc);
}

static void add_stop(ids *x, LLVMValueRef here, const uint32_t *at)
{
    LLVMContextRef c = LLVMGetModuleContext(x->m);
    LLVMTypeRef i1 = LLVMInt1TypeInContext(c);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
    LLVMValueRef it = LLVMConstInt(i1, 1, false), call;

    for (unsigned d = 0; d < 3; d++)
        it = LLVMBuildAnd(x->b, it,
                          LLVMBuildICmp(x->b, LLVMIntEQ,
                                        id_value(x->b, x->m, CALL_NONE, d),
                                        LLVMConstInt(i32, at[d], false), ""),
                          "");
    call = ir_build_call(
        x->b, x->m,
        &(const ir_call){CALL_stop, LLVMVoidTypeInContext(c), &it, 1});
    LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(here));
}

/* An array of the program, in CMX or constant memory, as if it were declared
 * in fn: DWARF's own form for it would need a host address known now. */
static void add_array(ids *x, LLVMValueRef global)
{
    LLVMContextRef c = LLVMGetModuleContext(x->m);
    LLVMTypeRef p = LLVMPointerTypeInContext(c, AS_PRIVATE);
    unsigned dbg = LLVMGetMDKindIDInContext(c, "dbg", 3), len = 0;
    LLVMValueMetadataEntry *list;
    LLVMValueRef pair[2], ops[32];
    LLVMMetadataRef var;
    const char *name;
    size_t n;

    list = LLVMGlobalCopyAllMetadata(global, &n);
    for (size_t k = 0; k < n; k++) {
        LLVMValueRef v = LLVMMetadataAsValue(
            c, LLVMValueMetadataEntriesGetMetadata(list, (unsigned)k));

        if (LLVMValueMetadataEntriesGetKind(list, (unsigned)k) != dbg ||
            LLVMGetMDNodeNumOperands(v) != 2)
            continue;
        LLVMGetMDNodeOperands(v, pair); /* variable, expression */
        if (!pair[0] || LLVMGetMDNodeNumOperands(pair[0]) > 32)
            continue;
        LLVMGetMDNodeOperands(pair[0], ops); /* scope, name, file, type … */
        name = ops[1] ? LLVMGetMDString(ops[1], &len) : NULL;
        if (!name || !ops[3])
            continue;
        var = LLVMValueAsMetadata(pair[0]);
        var = LLVMDIBuilderCreateAutoVariable(
            x->d, x->sp, name, len, LLVMDIVariableGetFile(var),
            LLVMDIVariableGetLine(var), LLVMValueAsMetadata(ops[3]), true,
            LLVMDIFlagZero, 0);
        add_var(x->m, x->b, LLVMConstAddrSpaceCast(global, p),
                LLVMMetadataAsValue(c, var), x->loc);
    }
    LLVMDisposeValueMetadataEntries(list);
}

void debuginfo_add_ids(LLVMValueRef fn, const uint32_t *at)
{
    static const struct {
        const char *name;
        call_id first;
    } variables[] = {{"global_id", CALL_NONE},
                     {"local_id", CALL_lid0},
                     {"group_id", CALL_grp0}};
    LLVMValueRef here = first_statement(fn);
    LLVMMetadataRef uint, three;
    ids x = {.m = LLVMGetGlobalParent(fn), .sp = LLVMGetSubprogram(fn)};
    LLVMContextRef c = LLVMGetModuleContext(x.m);

    x.b = LLVMCreateBuilderInContext(c);
    LLVMPositionBuilderBefore(x.b, here);
    LLVMSetCurrentDebugLocation2(x.b, NULL);
    /* Bitcode of a .bin has lines only: no unit for variables to be in. */
    if (x.sp && has_variable(fn, NULL)) {
        x.d = LLVMCreateDIBuilder(x.m);
        uint = LLVMDIBuilderCreateBasicType(x.d, "uint", 4, 32,
                                            DW_ENCODING_UNSIGNED, 0);
        three = LLVMDIBuilderGetOrCreateSubrange(x.d, 0, 3);
        x.type = LLVMDIBuilderCreateVectorType(x.d, 128, 128, uint, &three, 1);
        x.loc = LLVMDIBuilderCreateDebugLocation(
            c, LLVMDISubprogramGetLine(x.sp), 0, x.sp, NULL);
        for (int k = 0; k < 3; k++)
            if (!has_variable(fn, variables[k].name))
                add_id(&x, variables[k].name, variables[k].first);
        for (LLVMValueRef g = LLVMGetFirstGlobal(x.m); g;
             g = LLVMGetNextGlobal(g))
            add_array(&x, g);
        LLVMDisposeDIBuilder(x.d);
    }
    if (at)
        add_stop(&x, here, at);
    LLVMDisposeBuilder(x.b);
}
