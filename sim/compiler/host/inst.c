/* Device instructions as host instructions; see hostcode.h.
 *
 * Nothing that a kernel computes may be undefined here, or LLVM would be free
 * to make of it what leaves the window (docs/sandbox.md): no undef and no
 * poison, no operation that can give them without being kept in bounds or
 * frozen, none of the kernel's promises (nuw, inbounds, assume, range, fast
 * math). Where the ISA says what happens (shifts, division), the same happens
 * here.
 *
 * Alignment is always one: misaligned vectors must work everywhere, and on the
 * host an unaligned access costs nothing. */
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <string.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/compiler/host/check.h"
#include "sim/compiler/host/hostcode_priv.h"

void host_fail(host *h, LLVMValueRef at, const char *what)
{
    if (!h->st)
        h->st = err_set(
            h->err, VPU_ERR_UNSUPPORTED, "line %u: %s has no host form yet",
            at && LLVMIsAInstruction(at) ? LLVMGetDebugLocLine(at) : 0, what);
}

static LLVMValueRef k32(host *h, uint32_t v)
{
    return LLVMConstInt(h->i32, v, false);
}

static LLVMValueRef k64(host *h, uint64_t v)
{
    return LLVMConstInt(h->i64, v, false);
}

LLVMTypeRef host_type(host *h, LLVMTypeRef t)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMPointerTypeKind:
        return h->i32;
    case LLVMVectorTypeKind:
        return LLVMVectorType(host_type(h, LLVMGetElementType(t)),
                              LLVMGetVectorSize(t));
    case LLVMArrayTypeKind:
        return LLVMArrayType2(host_type(h, LLVMGetElementType(t)),
                              LLVMGetArrayLength2(t));
    case LLVMStructTypeKind: {
        unsigned n = LLVMCountStructElementTypes(t);
        LLVMTypeRef *e = arena_array(h->arena, LLVMTypeRef, n + 1);

        LLVMGetStructElementTypes(t, e);
        for (unsigned i = 0; i < n; i++)
            e[i] = host_type(h, e[i]);
        return LLVMStructTypeInContext(h->context, e, n, LLVMIsPackedStruct(t));
    }
    default:
        return t;
    }
}

LLVMValueRef host_field_ptr(host *h, size_t offset)
{
    LLVMValueRef i = k64(h, offset);

    return LLVMBuildGEP2(h->builder, h->i8, h->wg, &i, 1, "");
}

LLVMValueRef host_load_field(host *h, LLVMTypeRef t, size_t offset)
{
    return LLVMBuildLoad2(h->builder, t, host_field_ptr(h, offset), "");
}

/* --- values -------------------------------------------------------------- */

static LLVMValueRef global_address(host *h, LLVMValueRef g)
{
    bool local = LLVMGetPointerAddressSpace(LLVMTypeOf(g)) == AS_LOCAL;

    for (uint32_t i = 0; i < h->layout->n_globals; i++)
        if (h->layout->globals[i].global == g)
            return LLVMBuildAdd(h->builder, h->bases[local ? 0 : 3],
                                k32(h, h->layout->globals[i].offset), "");
    host_fail(h, NULL,
              "a program-scope variable outside local and constant memory");
    return k32(h, 0);
}

static LLVMValueRef index_address(host *h, LLVMTypeRef t, LLVMValueRef gep)
{
    LLVMValueRef at = host_value(h, LLVMGetOperand(gep, 0));
    int n = LLVMGetNumOperands(gep);

    for (int k = 1; k < n; k++) {
        LLVMValueRef idx = LLVMGetOperand(gep, (unsigned)k);
        uint32_t size;

        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            unsigned f = (unsigned)LLVMConstIntGetZExtValue(idx);

            at = LLVMBuildAdd(
                h->builder, at,
                k32(h, (uint32_t)LLVMOffsetOfElement(h->td, t, f)), "");
            t = LLVMStructGetTypeAtIndex(t, f);
            continue;
        }
        if (k > 1)
            t = LLVMGetElementType(t);
        size = (uint32_t)LLVMABISizeOfType(h->td, t);
        idx =
            LLVMBuildIntCast2(h->builder, host_value(h, idx), h->i32, true, "");
        at = LLVMBuildAdd(h->builder, at,
                          LLVMBuildMul(h->builder, idx, k32(h, size), ""), "");
    }
    return at;
}

static LLVMValueRef constant_expr(host *h, LLVMValueRef v)
{
    LLVMOpcode op = LLVMGetConstOpcode(v);
    LLVMValueRef x;

    switch (op) {
    case LLVMGetElementPtr:
        return index_address(h, LLVMGetGEPSourceElementType(v), v);
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
        return host_value(h, LLVMGetOperand(v, 0));
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMTrunc:
        x = host_value(h, LLVMGetOperand(v, 0));
        return LLVMBuildIntCast2(h->builder, x, host_type(h, LLVMTypeOf(v)),
                                 false, "");
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMXor:
        return LLVMBuildBinOp(h->builder, op,
                              host_value(h, LLVMGetOperand(v, 0)),
                              host_value(h, LLVMGetOperand(v, 1)), "");
    default:
        host_fail(h, NULL, "a constant expression");
        return LLVMConstNull(host_type(h, LLVMTypeOf(v)));
    }
}

/* A constant with zeros where v says that anything will do. */
static LLVMValueRef defined(host *h, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    bool vector = LLVMIsAConstantVector(v) != NULL;
    unsigned n;
    LLVMValueRef *e;

    if (LLVMIsUndef(v))
        return LLVMConstNull(host_type(h, t));
    if (!vector && !LLVMIsAConstantArray(v) && !LLVMIsAConstantStruct(v))
        return v;
    n = (unsigned)LLVMGetNumOperands(v);
    e = arena_array(h->arena, LLVMValueRef, n + 1);
    for (unsigned k = 0; k < n; k++)
        e[k] = defined(h, LLVMGetOperand(v, k));
    return vector ? LLVMConstVector(e, n)
           : LLVMIsAConstantArray(v)
               ? LLVMConstArray2(LLVMGetElementType(t), e, n)
               : LLVMConstStructInContext(h->context, e, n,
                                          LLVMIsPackedStruct(t));
}

static bool has_address(LLVMValueRef v)
{
    bool found = false;

    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
        found |= LLVMIsAConstantExpr(LLVMGetOperand(v, k)) ||
                 LLVMIsAGlobalVariable(LLVMGetOperand(v, k));
    return found;
}

static LLVMValueRef vector_of_addresses(host *h, LLVMValueRef v)
{
    LLVMValueRef x = LLVMGetUndef(host_type(h, LLVMTypeOf(v)));

    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
        x = LLVMBuildInsertElement(h->builder, x,
                                   host_value(h, LLVMGetOperand(v, k)),
                                   LLVMConstInt(h->i32, k, false), "");
    return x;
}

/* The host value of a device value, at the builder's position. */
LLVMValueRef host_value(host *h, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    LLVMValueRef got = ir_map_get(&h->map, v);

    if (got || !LLVMIsConstant(v))
        return got;
    if (LLVMIsAGlobalVariable(v))
        return global_address(h, v);
    if (LLVMIsAConstantExpr(v))
        return constant_expr(h, v);
    if (LLVMIsAConstantPointerNull(v))
        return k32(h, 0);
    if (LLVMIsAConstantVector(v) && has_address(v))
        return vector_of_addresses(h, v);
    v = defined(h, v);
    if (host_type(h, LLVMTypeOf(v)) != LLVMTypeOf(v) ||
        LLVMTypeOf(v) != host_type(h, t))
        host_fail(h, NULL, "a constant made of addresses");
    return v;
}

LLVMValueRef host_operand(host *h, LLVMValueRef i, unsigned k)
{
    return host_value(h, LLVMGetOperand(i, k));
}

LLVMValueRef host_ptr(host *h, LLVMValueRef device)
{
    LLVMValueRef off = LLVMBuildZExt(h->builder, device, h->i64, "");

    return LLVMBuildInBoundsGEP2(h->builder, h->i8, h->window, &off, 1, "");
}

/* --- calls out ----------------------------------------------------------- */

void host_save_state(host *h)
{
    LLVMBuildStore(h->builder,
                   LLVMBuildLoad2(h->builder, h->i64, h->cycles, ""),
                   host_field_ptr(h, offsetof(sim_wg, cycles)));
    LLVMBuildStore(h->builder, LLVMBuildLoad2(h->builder, h->i64, h->log_n, ""),
                   host_field_ptr(h, offsetof(sim_wg, log_n)));
}

void host_restore_state(host *h)
{
    LLVMBuildStore(h->builder,
                   host_load_field(h, h->i64, offsetof(sim_wg, cycles)),
                   h->cycles);
    LLVMBuildStore(h->builder,
                   host_load_field(h, h->i64, offsetof(sim_wg, log_n)),
                   h->log_n);
    if (h->row.head)
        host_row_restore(h);
}

LLVMValueRef host_hook(host *h, const char *name, LLVMTypeRef ret,
                       LLVMValueRef *args, unsigned n)
{
    LLVMTypeRef types[HOST_HOOK_ARGS], t;

    if (h->sites)
        host_check_save(h);
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    t = LLVMFunctionType(ret, types, n, false);
    return LLVMBuildCall2(h->builder, t, ir_declare(h->module, name, t), args,
                          n, "");
}

void host_no_return(host *h, const char *name, LLVMValueRef *args, unsigned n)
{
    host_hook(h, name, LLVMVoidTypeInContext(h->context), args, n);
    ir_attr(LLVMGetNamedFunction(h->module, name), "noreturn", 0);
    ir_attr(LLVMGetNamedFunction(h->module, name), "cold", 0);
    LLVMBuildUnreachable(h->builder);
}

/* if (cond) { unlikely } ; leaves the builder in the unlikely block and returns
 * the block to go on in. */
LLVMBasicBlockRef host_unlikely(host *h, LLVMValueRef cond)
{
    LLVMBasicBlockRef rare =
        LLVMAppendBasicBlockInContext(h->context, h->fn, "");
    LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(h->context, h->fn, "");
    LLVMValueRef br = LLVMBuildCondBr(h->builder, cond, rare, on);
    LLVMMetadataRef w[3] = {
        LLVMMDStringInContext2(h->context, "branch_weights", 14),
        LLVMValueAsMetadata(k32(h, 1)), LLVMValueAsMetadata(k32(h, 1 << 20))};

    LLVMSetMetadata(br, LLVMGetMDKindIDInContext(h->context, "prof", 4),
                    LLVMMetadataAsValue(
                        h->context, LLVMMDNodeInContext2(h->context, w, 3)));
    LLVMPositionBuilderAtEnd(h->builder, rare);
    return on;
}

/* Nothing in the window changes. */
void host_flush(host *h)
{
    LLVMValueRef args[2] = {h->wg, h->log};

    host_save_state(h);
    host_hook(h, "vpu_hook_flush", LLVMVoidTypeInContext(h->context), args, 2);
    ir_attr(LLVMGetNamedFunction(h->module, "vpu_hook_flush"), "memory",
            IR_MEMORY_ARGUMENTS_AND_INACCESSIBLE);
    host_restore_state(h);
}

static void log_piece(host *h, LLVMValueRef device, uint32_t bytes, bool store)
{
    LLVMValueRef n, e, at;

    if (h->is_quiet)
        return;
    n = LLVMBuildLoad2(h->builder, h->i64, h->log_n, "");
    e = LLVMBuildZExt(h->builder, device, h->i64, "");
    e = LLVMBuildOr(h->builder, e, k64(h, SIM_LOG_ENTRY(0, bytes, store)), "");
    at = LLVMBuildInBoundsGEP2(h->builder, h->i64, h->log, &n, 1, "");
    LLVMBuildStore(h->builder, e, at);
    LLVMBuildStore(h->builder, LLVMBuildAdd(h->builder, n, k64(h, 1), ""),
                   h->log_n);
}

/* As the SHAVE makes the access: in pieces of 16 bytes and less. */
static void log_access(host *h, LLVMValueRef device, LLVMTypeRef t, bool store)
{
    uint8_t pieces[SHAVE_MAX_PIECES];
    uint32_t n = shave_pieces(h->td, t, pieces), at = 0;

    for (uint32_t k = 0; k < n; at += pieces[k++])
        log_piece(h, LLVMBuildAdd(h->builder, device, k32(h, at), ""),
                  pieces[k], store);
}

bool host_is_global(LLVMValueRef p)
{
    unsigned as = LLVMGetPointerAddressSpace(LLVMTypeOf(p));

    return as == AS_GLOBAL || as == AS_CONSTANT;
}

/* --- instructions -------------------------------------------------------- */

/* Volatile, so that it stays in front of the access. */
void host_track(host *h, LLVMValueRef i)
{
    uint32_t pos[2] = {LLVMGetDebugLocLine(i), LLVMGetDebugLocColumn(i)};
    size_t at[2] = {offsetof(sim_wg, line), offsetof(sim_wg, col)};

    if (!h->track_lines || !pos[0])
        return;
    for (int k = 0; k < 2; k++)
        LLVMSetVolatile(LLVMBuildStore(h->builder, k32(h, pos[k]),
                                       host_field_ptr(h, at[k])),
                        true);
}

static LLVMValueRef do_load(host *h, LLVMValueRef i)
{
    LLVMValueRef p = LLVMGetOperand(i, 0), at = host_value(h, p), v;
    LLVMTypeRef t = LLVMTypeOf(i);

    v = LLVMBuildLoad2(h->builder, host_type(h, t), host_ptr(h, at), "");
    LLVMSetAlignment(v, 1);
    if (host_is_global(p) && !h->sites)
        log_access(h, at, t, false);
    return v;
}

static void do_store(host *h, LLVMValueRef i)
{
    LLVMValueRef v = LLVMGetOperand(i, 0), p = LLVMGetOperand(i, 1), s;
    LLVMValueRef at = host_value(h, p);

    s = LLVMBuildStore(h->builder, host_value(h, v), host_ptr(h, at));
    LLVMSetAlignment(s, 1);
    if (host_is_global(p) && !h->sites)
        log_access(h, at, LLVMTypeOf(v), true);
}

static LLVMValueRef do_alloca(host *h, LLVMValueRef i)
{
    LLVMTypeRef t = LLVMGetAllocatedType(i);
    LLVMValueRef n = LLVMGetOperand(i, 0);
    uint64_t bytes = LLVMABISizeOfType(h->td, t);
    uint32_t align = ir_place_align(i);
    uint64_t at = ((uint64_t)h->stack + align - 1) & ~(uint64_t)(align - 1);

    if (!LLVMIsAConstantInt(n)) {
        host_fail(h, i, "an array of variable length");
        return k32(h, 0);
    }
    bytes *= LLVMConstIntGetZExtValue(n);
    if (at > UINT32_MAX / 2 || bytes > UINT32_MAX / 2 - at) {
        host_fail(h, i, "a private array of this size");
        return k32(h, 0);
    }
    h->stack = (uint32_t)((at + bytes + 15) & ~UINT64_C(15));
    return LLVMBuildAdd(h->builder, h->bases[1], k32(h, (uint32_t)at), "");
}

static LLVMValueRef do_cast(host *h, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    LLVMTypeRef t = host_type(h, LLVMTypeOf(i));
    LLVMValueRef v = host_operand(h, i, 0);

    if (op == LLVMPtrToInt || op == LLVMIntToPtr)
        return LLVMBuildIntCast2(h->builder, v, t, false, "");
    if (op == LLVMAddrSpaceCast)
        return v;
    if (op == LLVMBitCast && LLVMTypeOf(v) == t)
        return v;
    v = LLVMBuildCast(h->builder, op, v, t, "");
    return op == LLVMFPToSI || op == LLVMFPToUI
               ? LLVMBuildFreeze(h->builder, v, "")
               : v;
}

/* The number of a lane that there is. */
static LLVMValueRef lane_number(host *h, LLVMValueRef idx, LLVMTypeRef vector)
{
    LLVMValueRef n = host_value(h, idx);

    return LLVMBuildURem(
        h->builder, n,
        LLVMConstInt(LLVMTypeOf(n), LLVMGetVectorSize(vector), false), "");
}

static LLVMValueRef do_shuffle(host *h, LLVMValueRef i)
{
    unsigned n = LLVMGetNumMaskElements(i);
    LLVMValueRef *mask = arena_array(h->arena, LLVMValueRef, n), v;
    bool any = false;

    for (unsigned k = 0; k < n; k++) {
        int m = LLVMGetMaskValue(i, k);

        any |= m == LLVMGetUndefMaskElem();
        mask[k] = m == LLVMGetUndefMaskElem() ? LLVMGetUndef(h->i32)
                                              : k32(h, (uint32_t)m);
    }
    v = LLVMBuildShuffleVector(h->builder, host_operand(h, i, 0),
                               host_operand(h, i, 1), LLVMConstVector(mask, n),
                               "");
    return any ? LLVMBuildFreeze(h->builder, v, "") : v;
}

static LLVMValueRef do_atomic(host *h, LLVMValueRef i)
{
    LLVMValueRef p = LLVMGetOperand(i, 0), at = host_value(h, p), r;

    if (host_is_global(p) && !h->sites) {
        log_piece(h, at, 4, false);
        log_piece(h, at, 4, true);
    }
    if (LLVMIsAAtomicRMWInst(i))
        r = LLVMBuildAtomicRMW(h->builder, LLVMGetAtomicRMWBinOp(i),
                               host_ptr(h, at), host_operand(h, i, 1),
                               LLVMAtomicOrderingMonotonic, false);
    else
        r = LLVMBuildAtomicCmpXchg(h->builder, host_ptr(h, at),
                                   host_operand(h, i, 1), host_operand(h, i, 2),
                                   LLVMAtomicOrderingMonotonic,
                                   LLVMAtomicOrderingMonotonic, false);
    return r;
}

static void touch(host *h, LLVMValueRef p, LLVMValueRef n, bool store)
{
    LLVMValueRef args[4] = {h->wg, host_value(h, p), n, k32(h, store)};

    if (!host_is_global(p) || h->sites)
        return;
    host_flush(h); /* the cache hears of the accesses so far first */
    host_hook(h, "vpu_hook_touch", LLVMVoidTypeInContext(h->context), args, 4);
}

static void do_block_move(host *h, LLVMValueRef i, const char *name)
{
    LLVMValueRef dst = LLVMGetOperand(i, 0), src = LLVMGetOperand(i, 1), n, n32;

    n = host_operand(h, i, 2);
    n32 = LLVMBuildIntCast2(h->builder, n, h->i32, false, "");
    n = LLVMBuildZExt(h->builder, n32, h->i64, "");
    touch(h, dst, n32, true);
    if (!strncmp(name, "llvm.memset", 11)) {
        LLVMBuildMemSet(h->builder, host_ptr(h, host_value(h, dst)),
                        host_operand(h, i, 1), n, 1);
        return;
    }
    touch(h, src, n32, false);
    LLVMBuildMemMove(h->builder, host_ptr(h, host_value(h, dst)), 1,
                     host_ptr(h, host_value(h, src)), 1, n);
}

/* The same declaration, attributes included, in the host's module. */
static LLVMValueRef import(host *h, LLVMValueRef f)
{
    LLVMAttributeRef attrs[32];
    unsigned n = LLVMGetAttributeCountAtIndex(f, LLVMAttributeFunctionIndex);
    size_t len;
    const char *name = LLVMGetValueName2(f, &len);
    LLVMValueRef to = LLVMGetNamedFunction(h->module, name);

    if (to)
        return to;
    to = LLVMAddFunction(h->module, name, LLVMGlobalGetValueType(f));
    if (n <= 32) {
        LLVMGetAttributesAtIndex(f, LLVMAttributeFunctionIndex, attrs);
        for (unsigned i = 0; i < n; i++)
            LLVMAddAttributeAtIndex(to, LLVMAttributeFunctionIndex, attrs[i]);
    }
    return to;
}

LLVMValueRef host_scratch(host *h, LLVMTypeRef t)
{
    LLVMBasicBlockRef at = LLVMGetInsertBlock(h->builder);
    LLVMValueRef block;

    LLVMPositionBuilderBefore(
        h->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(h->fn)));
    block = LLVMBuildAlloca(h->builder, t, "");
    LLVMPositionBuilderAtEnd(h->builder, at);
    return block;
}

/* --- runtime calls, by the form of their hook ---------------------------- */

/* wg, with a log the log, then the call's arguments. */
static LLVMValueRef call_words_hook(host *h, LLVMValueRef i, const char *hook,
                                    bool logged, bool ends)
{
    LLVMBasicBlockRef dead;
    LLVMValueRef args[HOST_HOOK_ARGS] = {h->wg, h->log};
    unsigned at = logged ? 2 : 1, n = LLVMGetNumArgOperands(i);

    for (unsigned k = 0; k < n; k++)
        args[at + k] = host_operand(h, i, k);
    if (!ends)
        return host_hook(h, hook, LLVMTypeOf(i), args, at + n);
    dead = LLVMAppendBasicBlockInContext(h->context, h->fn, "");
    host_no_return(h, hook, args, at + n);
    LLVMPositionBuilderAtEnd(h->builder, dead); /* the unreachable follows */
    return NULL;
}

static LLVMValueRef hook_words(host *h, LLVMValueRef i, const char *hook,
                               bool ends)
{
    return call_words_hook(h, i, hook, false, ends);
}

static LLVMValueRef hook_logged(host *h, LLVMValueRef i, const char *hook,
                                bool ends)
{
    LLVMValueRef r;

    host_save_state(h);
    r = call_words_hook(h, i, hook, true, ends);
    host_restore_state(h);
    return r;
}

/* The arguments as sim_dma. */
static LLVMValueRef hook_block(host *h, LLVMValueRef i, const char *hook,
                               bool ends)
{
    LLVMValueRef args[3] = {h->wg, h->log}, r;

    (void)ends; /* a transfer returns */
    args[2] = host_scratch(h, LLVMArrayType2(h->i32, SIM_DMA_N));
    for (unsigned k = 0; k < SIM_DMA_N; k++) {
        LLVMValueRef idx = k32(h, k);

        LLVMBuildStore(h->builder,
                       k == SIM_DMA_BYTES ? host_size(h, i, k)
                                          : host_operand(h, i, k),
                       LLVMBuildGEP2(h->builder, h->i32, args[2], &idx, 1, ""));
    }
    host_save_state(h);
    r = host_hook(h, hook, h->i32, args, 3);
    host_restore_state(h);
    return r;
}

/* Items have met where the work-group pass ends their loops. */
static LLVMValueRef hook_none(host *h, LLVMValueRef i, const char *hook,
                              bool ends)
{
    (void)hook;
    (void)ends;
    host_fail(h, i, ir_callee(i));
    return NULL;
}

/* The column who: does control end there? */
enum { COLLECTIVE = false, EACH = false, END = true };

/* *v: its value, NULL when it has none. False: i is something else. */
static bool runtime_call(host *h, LLVMValueRef i, LLVMValueRef *v)
{
    switch (ir_call_id(i)) {
#define RUNTIME(name, who, form, hook, result, words, time, cost) \
    case CALL_##name:                                             \
        *v = hook_##form(h, i, "vpu_hook_" #hook, who);           \
        break;
#include "sim/builtins/calls.def"
    default:
        return false;
    }
    if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind)
        *v = NULL;
    return true;
}

/* --- calls --------------------------------------------------------------- */

/* 1 as a double, or as many as x has floats. */
static LLVMValueRef ones_like(host *h, LLVMValueRef x)
{
    LLVMValueRef one = LLVMConstReal(LLVMDoubleTypeInContext(h->context), 1.0),
                 *all;
    unsigned n;

    if (LLVMGetTypeKind(LLVMTypeOf(x)) != LLVMVectorTypeKind)
        return one;
    n = LLVMGetVectorSize(LLVMTypeOf(x));
    all = arena_array(h->arena, LLVMValueRef, n);
    for (unsigned k = 0; k < n; k++)
        all[k] = one;
    return LLVMConstVector(all, n);
}

static LLVMValueRef build_rsqrt(host *h, LLVMValueRef x)
{
    LLVMValueRef one = ones_like(h, x);
    LLVMTypeRef d = LLVMTypeOf(one);
    unsigned id = LLVMLookupIntrinsicID("llvm.sqrt", 9);
    LLVMValueRef v = LLVMBuildFPExt(h->builder, x, d, "");

    v = LLVMBuildCall2(h->builder, LLVMIntrinsicGetType(h->context, id, &d, 1),
                       LLVMGetIntrinsicDeclaration(h->module, id, &d, 1), &v, 1,
                       "");
    v = LLVMBuildFDiv(h->builder, one, v, "");
    return LLVMBuildFPTrunc(h->builder, v, LLVMTypeOf(x), "");
}

/* Routines that are exact sequences of host instructions need no call. The same
 * operations as in routines.c, so results do not change. */
static LLVMValueRef inline_routine(host *h, LLVMValueRef i)
{
    return ir_call_id(i) == CALL_rsqrt_f32
               ? build_rsqrt(h, host_operand(h, i, 0))
               : NULL;
}

static bool is_lane(LLVMValueRef number, unsigned k)
{
    return LLVMIsAConstantInt(number) && LLVMConstIntGetZExtValue(number) == k;
}

/* The vector whose lanes are those of i, each through that routine, as the
 * vectorizer takes apart what has no vector form; NULL: i is something else. */
static LLVMValueRef lanes_through(LLVMValueRef i, call_id routine)
{
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(i));
    LLVMValueRef all = NULL, call, lane;

    for (unsigned k = n; k-- > 0; i = LLVMGetOperand(i, 0)) {
        if (!LLVMIsAInsertElementInst(i) || !is_lane(LLVMGetOperand(i, 2), k))
            return NULL;
        call = LLVMGetOperand(i, 1);
        if (!LLVMIsACallInst(call) || ir_call_id(call) != routine)
            return NULL;
        lane = LLVMGetOperand(call, 0);
        if (!LLVMIsAExtractElementInst(lane) ||
            !is_lane(LLVMGetOperand(lane, 1), k) ||
            (all && LLVMGetOperand(lane, 0) != all))
            return NULL;
        all = LLVMGetOperand(lane, 0);
    }
    return LLVMGetVectorSize(LLVMTypeOf(all)) == n ? all : NULL;
}

/* A host's processor takes roots of several lanes at once. The lanes' own are
 * not needed then, and LLVM removes them; checkers look at each. */
static LLVMValueRef do_insert(host *h, LLVMValueRef i)
{
    LLVMValueRef all =
        h->sites || h->debug ? NULL : lanes_through(i, CALL_rsqrt_f32);

    if (all)
        return build_rsqrt(h, host_value(h, all));
    return LLVMBuildInsertElement(
        h->builder, host_operand(h, i, 0), host_operand(h, i, 1),
        lane_number(h, LLVMGetOperand(i, 2), LLVMTypeOf(i)), "");
}

/* Intrinsics whose second operand may declare a result undefined. */
static bool has_escape_clause(const char *name)
{
    return !strncmp(name, "llvm.abs.", 9) || !strncmp(name, "llvm.ctlz.", 10) ||
           !strncmp(name, "llvm.cttz.", 10);
}

/* The smaller or larger of two halves; NULL: i is something else. LLVM would
 * call the C library's fminf and fmaxf lane by lane, whose zero may be the
 * other one of two unlike zeros than isa/semantics.h says. */
static LLVMValueRef min_max_half(host *h, LLVMValueRef i, const char *name,
                                 LLVMValueRef *args)
{
    bool max = !strncmp(name, "llvm.maxnum.", 12);
    LLVMValueRef x = args[0], y = args[1], second, number;

    if (LLVMGetTypeKind(ir_element(LLVMTypeOf(i))) != LLVMHalfTypeKind ||
        (!max && strncmp(name, "llvm.minnum.", 12)))
        return NULL;
    second = LLVMBuildFCmp(h->builder, max ? LLVMRealULT : LLVMRealUGT, x, y,
                           ""); /* or one is a NaN */
    number = LLVMBuildFCmp(h->builder, LLVMRealORD, y, y, "");
    second = LLVMBuildAnd(h->builder, second, number, "");
    return LLVMBuildSelect(h->builder, second, y, x, "");
}

static LLVMValueRef do_call(host *h, LLVMValueRef i)
{
    const char *name = ir_callee(i);
    unsigned n = LLVMGetNumArgOperands(i);
    LLVMValueRef args[16], v;

    if (!strncmp(name, "llvm.lifetime", 13) || !strncmp(name, "llvm.dbg", 8) ||
        !strncmp(name, "llvm.assume", 11) ||
        !strncmp(name, "llvm.experimental.noalias", 25))
        return NULL;
    if (!strncmp(name, "llvm.memcpy", 11) ||
        !strncmp(name, "llvm.memmove", 12) ||
        !strncmp(name, "llvm.memset", 11)) {
        do_block_move(h, i, name);
        return NULL;
    }
    if (h->debug && host_debug_call(h, i))
        return NULL;
    if (h->sites && host_check_call(h, i, &v))
        return v;
    if (runtime_call(h, i, &v))
        return v;
    v = inline_routine(h, i);
    if (v)
        return v;
    if (n > 16 || !LLVMIsAFunction(LLVMGetCalledValue(i))) {
        host_fail(h, i, "a call through a pointer");
        return NULL;
    }
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef op = LLVMGetOperand(i, k);

        if (LLVMGetTypeKind(LLVMTypeOf(op)) == LLVMPointerTypeKind) {
            host_fail(h, i, name);
            return NULL;
        }
        args[k] = host_value(h, op);
    }
    if (has_escape_clause(name))
        args[1] = LLVMConstNull(LLVMTypeOf(args[1]));
    v = min_max_half(h, i, name, args);
    return v ? v
             : LLVMBuildCall2(h->builder, LLVMGetCalledFunctionType(i),
                              import(h, LLVMGetCalledValue(i)), args, n, "");
}

/* Integer division never traps on the device: by zero it gives 0, and the least
 * number over -1 is itself, without a rest (isa/ops.def). */
static LLVMValueRef do_divide(host *h, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    LLVMValueRef a = host_operand(h, i, 0), b = host_operand(h, i, 1), q;
    LLVMTypeRef t = LLVMTypeOf(b);
    LLVMValueRef zero = LLVMConstNull(t), ones = LLVMConstAllOnes(t), one;
    LLVMValueRef none = LLVMBuildICmp(h->builder, LLVMIntEQ, b, zero, ""),
                 minus;

    one = LLVMBuildSub(h->builder, zero, ones, "");
    b = LLVMBuildSelect(h->builder, none, one, b, "");
    if (op == LLVMUDiv || op == LLVMURem) {
        q = LLVMBuildBinOp(h->builder, op, a, b, "");
    } else {
        minus = LLVMBuildICmp(h->builder, LLVMIntEQ, b, ones, "");
        b = LLVMBuildSelect(h->builder, minus, one, b, "");
        q = LLVMBuildBinOp(h->builder, op, a, b, "");
        if (op == LLVMSDiv)
            q = LLVMBuildSelect(h->builder, minus,
                                LLVMBuildSub(h->builder, zero, a, ""), q, "");
    }
    return op == LLVMUDiv || op == LLVMSDiv
               ? LLVMBuildSelect(h->builder, none, zero, q, "")
               : q; /* x % 1 is 0 already */
}

/* Is i the step of a loop over work-items, `phi + step < local size`? That it
 * does not wrap is our promise, not the kernel's: the local size is a multiple
 * of the step. */
static bool is_item_step(LLVMValueRef i)
{
    LLVMBasicBlockRef b = LLVMGetInstructionParent(i);
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b), cmp, phi;

    if (LLVMGetInstructionOpcode(i) != LLVMAdd || !LLVMIsABranchInst(t) ||
        !LLVMIsConditional(t) || !ir_metadata(t, "vpu.items"))
        return false;
    cmp = LLVMGetCondition(t);
    phi = LLVMGetOperand(i, 0);
    return LLVMIsAICmpInst(cmp) && LLVMGetOperand(cmp, 0) == i &&
           LLVMGetICmpPredicate(cmp) == LLVMIntULT &&
           LLVMIsAArgument(LLVMGetOperand(cmp, 1)) && LLVMIsAPHINode(phi) &&
           LLVMIsAConstantInt(LLVMGetOperand(i, 1)) &&
           ir_incoming_from(phi, b) == i;
}

/* What a promise broken would make undefined. */
static void drop_promises(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
        LLVMSetNUW(i, false);
        LLVMSetNSW(i, false);
        break;
    case LLVMOr:
        LLVMSetIsDisjoint(i, false);
        break;
    default:
        if (LLVMCanValueUseFastMathFlags(i))
            LLVMSetFastMathFlags(i, LLVMFastMathNone);
    }
}

/* Is every lane of a shift's amount a number less than bits? */
static bool is_short_of(LLVMValueRef amount, unsigned bits)
{
    unsigned n = ir_lanes(LLVMTypeOf(amount));

    if (!LLVMIsConstant(amount))
        return false;
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef e =
            LLVMGetTypeKind(LLVMTypeOf(amount)) == LLVMVectorTypeKind
                ? LLVMGetAggregateElement(amount, k)
                : amount;

        if (!e || !LLVMIsAConstantInt(e) || LLVMConstIntGetZExtValue(e) >= bits)
            return false;
    }
    return true;
}

static LLVMValueRef splat_of(host *h, LLVMTypeRef t, uint64_t v)
{
    LLVMValueRef e[64], one = LLVMConstInt(ir_element(t), v, false);
    unsigned n = ir_lanes(t);

    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind)
        return one;
    if (n > 64) {
        host_fail(h, NULL, "a vector of more than 64 lanes");
        return LLVMConstNull(t);
    }
    for (unsigned k = 0; k < n; k++)
        e[k] = one;
    return LLVMConstVector(e, n);
}

/* By as much as there are bits and more: 0, or as by one less (isa/ops.def). */
static LLVMValueRef do_shift(host *h, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    LLVMValueRef a = host_operand(h, i, 0), n = host_operand(h, i, 1), r;
    LLVMTypeRef t = LLVMTypeOf(n);
    unsigned bits = LLVMGetIntTypeWidth(ir_element(t));
    LLVMValueRef zero = LLVMConstNull(t), fits;

    if (is_short_of(n, bits))
        return LLVMBuildBinOp(h->builder, op, a, n, "");
    fits = LLVMBuildICmp(h->builder, LLVMIntULT, n, splat_of(h, t, bits), "");
    n = LLVMBuildSelect(h->builder, fits, n,
                        op == LLVMAShr ? splat_of(h, t, bits - 1) : zero, "");
    r = LLVMBuildBinOp(h->builder, op, a, n, "");
    return op == LLVMAShr ? r : LLVMBuildSelect(h->builder, fits, r, zero, "");
}

static LLVMValueRef do_plain(host *h, LLVMValueRef i)
{
    LLVMValueRef copy;
    ir_map ops;

    /* Operands may need instructions of their own (addresses of globals), which
     * must come before the copy. */
    ir_map_init(&ops, h->arena);
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        ir_map_set(&ops, LLVMGetOperand(i, (unsigned)k),
                   host_operand(h, i, (unsigned)k));
    copy = ir_clone(h->builder, i, &ops);
    drop_promises(copy);
    if (is_item_step(i))
        LLVMSetNUW(copy, true);
    LLVMInstructionSetDebugLoc(copy,
                               h->debug ? LLVMInstructionGetDebugLoc(i) : NULL);
    return copy;
}

LLVMValueRef host_inst(host *h, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAlloca:
        return do_alloca(h, i);
    case LLVMLoad:
        host_track(h, i);
        return do_load(h, i);
    case LLVMStore:
        host_track(h, i);
        do_store(h, i);
        return NULL;
    case LLVMGetElementPtr:
        if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMPointerTypeKind) {
            host_fail(h, i, "a vector of addresses");
            return NULL;
        }
        return index_address(h, LLVMGetGEPSourceElementType(i), i);
    case LLVMICmp:
        return LLVMBuildICmp(h->builder, LLVMGetICmpPredicate(i),
                             host_operand(h, i, 0), host_operand(h, i, 1), "");
    case LLVMSelect:
        return LLVMBuildSelect(h->builder, host_operand(h, i, 0),
                               host_operand(h, i, 1), host_operand(h, i, 2),
                               "");
    case LLVMFreeze:
        return LLVMBuildFreeze(h->builder, host_operand(h, i, 0), "");
    case LLVMExtractElement:
        return LLVMBuildExtractElement(
            h->builder, host_operand(h, i, 0),
            lane_number(h, LLVMGetOperand(i, 1),
                        LLVMTypeOf(LLVMGetOperand(i, 0))),
            "");
    case LLVMInsertElement:
        return do_insert(h, i);
    case LLVMShuffleVector:
        return do_shuffle(h, i);
    case LLVMExtractValue:
        if (LLVMGetNumIndices(i) != 1)
            host_fail(h, i, "a nested structure value");
        return LLVMBuildExtractValue(h->builder, host_operand(h, i, 0),
                                     LLVMGetIndices(i)[0], "");
    case LLVMInsertValue:
        if (LLVMGetNumIndices(i) != 1)
            host_fail(h, i, "a nested structure value");
        return LLVMBuildInsertValue(h->builder, host_operand(h, i, 0),
                                    host_operand(h, i, 1), LLVMGetIndices(i)[0],
                                    "");
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        host_track(h, i);
        return do_atomic(h, i);
    case LLVMCall:
        host_track(h, i);
        return do_call(h, i);
    case LLVMFence:
        return NULL;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        return do_divide(h, i);
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        return do_shift(h, i);
    default:
        if (LLVMIsACastInst(i))
            return do_cast(h, i);
        return do_plain(h, i);
    }
}
