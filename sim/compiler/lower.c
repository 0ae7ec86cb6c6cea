/* Instruction selection for the SHAVE and dependences for the scheduler. */
#include "sim/compiler/lower.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <string.h>

#include "sim/builtins/routines.h"
#include "sim/compiler/ir.h"
#include "sim/compiler/schedule.h"

/* One memory access of the block, for ordering. */
typedef struct {
    uint32_t instr;
    bool store;
    unsigned space;
    LLVMValueRef base; /* underlying object */
} access;

typedef struct {
    arena *a;       /* the program */
    arena *scratch; /* one block */
    LLVMTargetDataRef td;
    isa_instr *in; /* of the block */
    size_t n, cap;
    sched_edge *edges;
    size_t n_edges, edges_cap;
    access *mem;
    size_t n_mem, mem_cap;
    LLVMValueRef *origin; /* per instr: the IR value it gives, or NULL */
    size_t n_origin, origin_cap;
    ir_map reg;   /* IR value -> register + 1 */
    ir_map where; /* IR value -> instr of this block + 1 */
    uint32_t n_regs;
    uint32_t fence; /* last serial operation + 1 */
    uint32_t line, col;
} low;

static LLVMValueRef operand(LLVMValueRef i, unsigned k)
{
    return LLVMGetOperand(i, k);
}

static unsigned pieces(LLVMTypeRef t)
{
    unsigned bits = ir_bits_of(ir_element(t)) * ir_lanes(t);

    return bits <= 128 ? 1 : (bits + 127) / 128;
}

static uint32_t register_of(low *l, LLVMValueRef v)
{
    uintptr_t r = (uintptr_t)ir_map_get(&l->reg, v);

    if (!r) {
        r = ++l->n_regs;
        ir_map_set(&l->reg, v, (void *)r);
    }
    return (uint32_t)r - 1;
}

static void edge(low *l, uint32_t from, uint32_t to, uint32_t lat)
{
    *arena_append(l->scratch, l->edges, l->n_edges, l->edges_cap) =
        (sched_edge){from, to, lat};
}

static uint32_t lat_of(const low *l, uint32_t i)
{
    return l->in[i].cost ? l->in[i].cost : isa_ops[l->in[i].op].lat;
}

static void reads(low *l, uint32_t i, LLVMValueRef v)
{
    uintptr_t def = (uintptr_t)ir_map_get(&l->where, v);
    isa_instr *in = &l->in[i];

    if (LLVMIsConstant(v))
        return;
    if (in->n_src < ISA_MAX_SRC)
        in->src[in->n_src++] = register_of(l, v);
    if (def && def - 1 != i)
        edge(l, (uint32_t)def - 1, i, lat_of(l, (uint32_t)def - 1));
}

/* A new operation, giving v (NULL = nothing). */
static uint32_t op(low *l, isa_op o, LLVMValueRef v)
{
    isa_instr *in = arena_append(l->scratch, l->in, l->n, l->cap);
    uint32_t i = (uint32_t)l->n - 1;

    *in = (isa_instr){
        .op = (uint16_t)o, .dst = ISA_NO_REG, .line = l->line, .col = l->col};
    *arena_append(l->scratch, l->origin, l->n_origin, l->origin_cap) = v;
    if (l->fence && !(isa_ops[o].flags & ISA_F_SERIAL))
        edge(l, l->fence - 1, i, lat_of(l, l->fence - 1));
    if (v) {
        in->dst = register_of(l, v);
        ir_map_set(&l->where, v, (void *)(uintptr_t)(i + 1));
    }
    return i;
}

/* Everything before must have issued, everything behind waits. */
static uint32_t serial(low *l, isa_op o, LLVMValueRef v, uint32_t cost)
{
    uint32_t i = op(l, o, v);

    l->in[i].cost = cost;
    for (uint32_t k = l->fence ? l->fence - 1 : 0; k < i; k++)
        edge(l, k, i, lat_of(l, k));
    l->fence = i + 1;
    return i;
}

/* v costs nothing: it is another name for from. */
static void same(low *l, LLVMValueRef v, LLVMValueRef from)
{
    void *where = ir_map_get(&l->where, from);

    if (LLVMIsConstant(from))
        return;
    ir_map_set(&l->reg, v, (void *)(uintptr_t)(register_of(l, from) + 1));
    if (where)
        ir_map_set(&l->where, v, where);
}

/* n operations o reading the operands of i; the last one gives i. */
static void simple(low *l, LLVMValueRef i, isa_op o, unsigned n)
{
    unsigned n_ops = (unsigned)LLVMGetNumOperands(i);

    if (LLVMIsACallInst(i))
        n_ops--;
    for (unsigned k = 0; k < n; k++) {
        uint32_t at = op(l, o, k + 1 == n ? i : NULL);

        for (unsigned p = 0; p < n_ops; p++)
            reads(l, at, operand(i, p));
    }
}

/* --- memory
 * -------------------------------------------------------------------- */

static LLVMValueRef underlying(LLVMValueRef p)
{
    for (int depth = 0; depth < 64; depth++) {
        if (LLVMIsAGetElementPtrInst(p) || LLVMIsABitCastInst(p) ||
            LLVMIsAAddrSpaceCastInst(p) ||
            (LLVMIsAConstantExpr(p) &&
             LLVMGetConstOpcode(p) == LLVMGetElementPtr))
            p = LLVMGetOperand(p, 0);
        else
            break;
    }
    return p;
}

static bool has_noalias(LLVMValueRef arg)
{
    LLVMValueRef fn = LLVMGetParamParent(arg);
    unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7), k = 0;

    while (k < LLVMCountParams(fn) && LLVMGetParam(fn, k) != arg)
        k++;
    return LLVMGetEnumAttributeAtIndex(fn, k + 1, kind) != NULL;
}

static bool is_object(LLVMValueRef v)
{
    return LLVMIsAGlobalVariable(v) || LLVMIsAAllocaInst(v) ||
           (LLVMIsAArgument(v) && has_noalias(v));
}

static bool may_alias(const access *a, const access *b)
{
    if (a->space != b->space)
        return false;
    if (a->base == b->base)
        return true;
    /* restrict: what one such pointer reaches no other pointer does */
    return !is_object(a->base) && !is_object(b->base);
}

static void remember_access(low *l, uint32_t at, LLVMValueRef p, bool is_store)
{
    access x = {at, is_store, LLVMGetPointerAddressSpace(LLVMTypeOf(p)),
                underlying(p)};

    for (size_t k = 0; k < l->n_mem; k++) {
        const access *m = &l->mem[k];

        if (m->instr != at && (m->store || is_store) && may_alias(m, &x))
            edge(l, m->instr, at, 1);
    }
    *arena_append(l->scratch, l->mem, l->n_mem, l->mem_cap) = x;
}

static isa_op access_op(uint64_t bytes, bool is_store)
{
    static const isa_op ops[2][5] = {
        {ISA_OP_ld8, ISA_OP_ld16, ISA_OP_ld32, ISA_OP_ld64, ISA_OP_ld128},
        {ISA_OP_st8, ISA_OP_st16, ISA_OP_st32, ISA_OP_st64, ISA_OP_st128}};

    return ops[is_store][bytes <= 1   ? 0
                         : bytes <= 2 ? 1
                         : bytes <= 4 ? 2
                         : bytes <= 8 ? 3
                                      : 4];
}

static void memory(low *l, LLVMValueRef i, LLVMValueRef p, LLVMValueRef stored)
{
    LLVMTypeRef t = stored ? LLVMTypeOf(stored) : LLVMTypeOf(i);
    uint64_t bytes = LLVMStoreSizeOfType(l->td, t);

    do {
        uint64_t now = bytes > 16 ? 16 : bytes;
        uint32_t at;

        bytes -= now;
        at = op(l, access_op(now, stored), stored || bytes ? NULL : i);
        reads(l, at, p);
        if (stored)
            reads(l, at, stored);
        remember_access(l, at, p, stored);
    } while (bytes);
}

static void block_move(low *l, LLVMValueRef call)
{
    LLVMValueRef n = operand(call, 2);
    bool set = !strncmp(ir_callee(call), "llvm.memset", 11);
    uint64_t bytes = LLVMIsAConstantInt(n) ? LLVMConstIntGetZExtValue(n) : 64;
    uint64_t steps = bytes > 1 << 20 ? 1 << 16 : (bytes + 15) / 16;
    uint32_t at =
        serial(l, ISA_OP_call, NULL,
               (uint32_t)(steps * (set ? 1 : 2) + isa_ops[ISA_OP_ld128].lat));

    reads(l, at, operand(call, 0));
}

/* Constant offsets fold into the access; each variable index costs a scaling
 * (none for bytes) and an add. */
static void address(low *l, LLVMValueRef i)
{
    LLVMTypeRef t = LLVMGetGEPSourceElementType(i);
    LLVMValueRef base = operand(i, 0);
    bool varied = false;

    for (int k = 1; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef idx = operand(i, (unsigned)k);
        uint64_t size;
        uint32_t at;

        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            t = LLVMStructGetTypeAtIndex(
                t, (unsigned)LLVMConstIntGetZExtValue(idx));
            continue;
        }
        if (k > 1)
            t = LLVMGetElementType(t);
        if (LLVMIsConstant(idx))
            continue;
        size = LLVMABISizeOfType(l->td, t);
        if (size > 1) {
            at = op(l, size & (size - 1) ? ISA_OP_imul : ISA_OP_ilogic, NULL);
            reads(l, at, idx);
            l->in[at].dst = l->n_regs++;
        } else {
            at = UINT32_MAX;
        }
        if (at != UINT32_MAX) {
            uint32_t add = op(l, ISA_OP_iadd, i);

            l->in[add].src[l->in[add].n_src++] = l->in[at].dst;
            edge(l, at, add, lat_of(l, at));
            reads(l, add, base);
        } else {
            at = op(l, ISA_OP_iadd, i);
            reads(l, at, idx);
            reads(l, at, base);
        }
        varied = true;
    }
    if (!varied)
        same(l, i, base);
}

/* --- arithmetic
 * ---------------------------------------------------------------- */

static void integer(low *l, LLVMValueRef i, isa_op scalar, isa_op vector)
{
    LLVMTypeRef t = LLVMTypeOf(i);
    unsigned bits = ir_bits_of(ir_element(t));

    if (ir_lanes(t) > 1)
        simple(l, i, vector, pieces(t));
    else
        simple(l, i, scalar, bits > 32 ? (bits + 31) / 32 : 1);
}

static void floating(low *l, LLVMValueRef i, bool mul)
{
    LLVMTypeRef t = LLVMTypeOf(i);
    bool half = LLVMGetTypeKind(ir_element(t)) == LLVMHalfTypeKind;

    if (ir_lanes(t) == 1)
        simple(l, i, mul ? ISA_OP_sfmul : ISA_OP_sfadd, 1);
    else if (half)
        simple(l, i, mul ? ISA_OP_vfmul16 : ISA_OP_vfadd16, pieces(t));
    else
        simple(l, i, mul ? ISA_OP_vfmul32 : ISA_OP_vfadd32, pieces(t));
}

static void cast(low *l, LLVMValueRef i)
{
    LLVMTypeRef to = LLVMTypeOf(i), from = LLVMTypeOf(operand(i, 0));
    unsigned n = pieces(to) > pieces(from) ? pieces(to) : pieces(from);

    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMFPToSI:
    case LLVMFPToUI:
    case LLVMSIToFP:
    case LLVMUIToFP:
        simple(l, i, ISA_OP_cvt, n);
        return;
    case LLVMSExt:
    case LLVMZExt:
        if (ir_lanes(to) > 1)
            simple(l, i, ISA_OP_cvt, n);
        else
            simple(l, i, ISA_OP_ilogic, 1);
        return;
    case LLVMTrunc:
        if (ir_lanes(to) > 1) {
            simple(l, i, ISA_OP_cvt, n);
            return;
        }
        same(l, i, operand(i, 0));
        return;
    default: /* bits stay as they are */
        same(l, i, operand(i, 0));
    }
}

static void intrinsic(low *l, LLVMValueRef i, const char *name)
{
    static const struct {
        const char *prefix;
        isa_op op;
        bool per_lane;
    } rows[] = {
        {"llvm.sqrt", ISA_OP_sfspec, true},
        {"llvm.fabs", ISA_OP_viadd, false},
        {"llvm.copysign", ISA_OP_viadd, false},
        {"llvm.floor", ISA_OP_cvt, false},
        {"llvm.ceil", ISA_OP_cvt, false},
        {"llvm.trunc", ISA_OP_cvt, false},
        {"llvm.rint", ISA_OP_cvt, false},
        {"llvm.round", ISA_OP_cvt, false},
        {"llvm.fpto", ISA_OP_cvt, false},
        {"llvm.ct", ISA_OP_ilogic, true},
        {"llvm.fsh", ISA_OP_ilogic, true},
        {"llvm.vector.reduce", ISA_OP_sumx, false},
    };
    LLVMTypeRef t = LLVMTypeOf(i);

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (!strncmp(name, rows[k].prefix, strlen(rows[k].prefix))) {
            simple(l, i, rows[k].op,
                   rows[k].per_lane ? ir_lanes(t) : pieces(t));
            return;
        }
    if (LLVMGetTypeKind(t) != LLVMVoidTypeKind)
        simple(l, i, ISA_OP_cmp, pieces(t)); /* min, max, abs and the like */
}

static void call(low *l, LLVMValueRef i)
{
    const char *name = ir_callee(i);
    const sim_routine *r;
    LLVMTypeRef t = LLVMTypeOf(i);

    if (!strncmp(name, "llvm.mem", 8)) {
        block_move(l, i);
    } else if (!strncmp(name, "llvm.", 5)) {
        if (strncmp(name, "llvm.dbg", 8) &&
            strncmp(name, "llvm.lifetime", 13) &&
            strncmp(name, "llvm.assume", 11) &&
            strncmp(name, "llvm.experimental", 17))
            intrinsic(l, i, name);
    } else if ((r = sim_routine_find(name))) {
        uint32_t cost =
            LLVMGetTypeKind(t) == LLVMHalfTypeKind ? r->cost16 : r->cost32;
        uint32_t at;

        if (cost == isa_ops[ISA_OP_sfspec].lat) {
            simple(l, i, ISA_OP_sfspec, 1);
            return;
        }
        at = serial(l, ISA_OP_call, i, cost);
        for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++)
            reads(l, at, operand(i, k));
    } else if (!strncmp(name, "__vpu_half_", 11)) {
        simple(l, i, ISA_OP_cvt, 8); /* software path: hardware.md R10, EST */
    } else if (strcmp(name, "__vpu_divergence")) {
        uint32_t at =
            serial(l, ISA_OP_sync,
                   LLVMGetTypeKind(t) == LLVMVoidTypeKind ? NULL : i, 0);

        for (unsigned k = 0; k < LLVMGetNumArgOperands(i) && k < 4; k++)
            reads(l, at, operand(i, k));
    }
}

static void terminator(low *l, LLVMValueRef i)
{
    LLVMBasicBlockRef next = LLVMGetNextBasicBlock(LLVMGetInstructionParent(i));
    uint32_t at;

    if (LLVMIsAUnreachableInst(i))
        return;
    if (LLVMGetNumSuccessors(i) == 1 && LLVMGetSuccessor(i, 0) == next)
        return; /* falls through */
    for (unsigned k = 2; k < LLVMGetNumSuccessors(i); k++) {
        at = op(l, ISA_OP_icmp, NULL);
        reads(l, at, operand(i, 0));
    }
    at = op(l, ISA_OP_bra, NULL);
    if (LLVMGetNumSuccessors(i) > 1)
        reads(l, at, operand(i, 0));
}

static void instruction(low *l, LLVMValueRef i)
{
    l->line = LLVMGetDebugLocLine(i);
    l->col = LLVMGetDebugLocColumn(i);
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI:
    case LLVMAlloca:
        return; /* a register or an address that is there */
    case LLVMLoad:
        memory(l, i, operand(i, 0), NULL);
        return;
    case LLVMStore:
        memory(l, i, operand(i, 1), operand(i, 0));
        return;
    case LLVMGetElementPtr:
        address(l, i);
        return;
    case LLVMAdd:
    case LLVMSub:
        integer(l, i, ISA_OP_iadd, ISA_OP_viadd);
        return;
    case LLVMMul:
        integer(l, i, ISA_OP_imul, ISA_OP_vimul);
        return;
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        integer(l, i, ISA_OP_ilogic, ISA_OP_viadd);
        return;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        simple(l, i, ISA_OP_idiv, ir_lanes(LLVMTypeOf(i)));
        return;
    case LLVMFAdd:
    case LLVMFSub:
        floating(l, i, false);
        return;
    case LLVMFMul:
        floating(l, i, true);
        return;
    case LLVMFDiv:
        simple(l, i, ISA_OP_sfspec, ir_lanes(LLVMTypeOf(i)));
        return;
    case LLVMFRem:
        serial(l, ISA_OP_call, i, 40 * ir_lanes(LLVMTypeOf(i)));
        return;
    case LLVMFNeg:
        simple(l, i, ISA_OP_viadd, pieces(LLVMTypeOf(i)));
        return;
    case LLVMICmp:
        if (ir_lanes(LLVMTypeOf(i)) == 1) {
            simple(l, i, ISA_OP_icmp, 1);
            return;
        }
        simple(l, i, ISA_OP_cmp, pieces(LLVMTypeOf(operand(i, 0))));
        return;
    case LLVMFCmp:
        simple(l, i, ISA_OP_cmp, pieces(LLVMTypeOf(operand(i, 0))));
        return;
    case LLVMSelect:
        simple(l, i, ISA_OP_cmp, pieces(LLVMTypeOf(i)));
        return;
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
    case LLVMExtractValue:
    case LLVMInsertValue:
        simple(l, i, ISA_OP_mov, pieces(LLVMTypeOf(i)));
        return;
    case LLVMFreeze:
        same(l, i, operand(i, 0));
        return;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        serial(l, ISA_OP_sync, i, isa_ops[ISA_OP_ld32].lat + 2);
        return;
    case LLVMCall:
        call(l, i);
        return;
    case LLVMFence:
        return;
    default:
        if (LLVMIsATerminatorInst(i))
            terminator(l, i);
        else if (LLVMIsACastInst(i))
            cast(l, i);
        else
            simple(l, i, ISA_OP_mov, 1);
    }
}

static bool used_outside(LLVMValueRef v, LLVMBasicBlockRef b)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);

        if (LLVMIsAPHINode(user) || LLVMGetInstructionParent(user) != b)
            return true;
    }
    return false;
}

static void lower_block(low *l, LLVMBasicBlockRef b, isa_function *f,
                        isa_block *out, size_t *instrs_cap)
{
    unsigned char *lives_out;
    size_t n = f->n_instrs;

    l->n = l->cap = l->n_edges = l->edges_cap = l->n_mem = l->mem_cap = 0;
    l->n_origin = l->origin_cap = 0;
    l->fence = 0;
    ir_map_init(&l->where, l->scratch);
    ir_each_inst(i, b) instruction(l, i);
    lives_out = arena_array(l->scratch, unsigned char, l->n + 1);
    for (size_t k = 0; k < l->n; k++)
        lives_out[k] = l->origin[k] && used_outside(l->origin[k], b);
    out->cycles = schedule_block(l->in, (uint32_t)l->n, l->edges,
                                 (uint32_t)l->n_edges, lives_out, l->scratch);
    out->first = f->n_instrs;
    out->n = (uint32_t)l->n;
    for (size_t k = 0; k < l->n; k++)
        *arena_append(l->a, f->instrs, n, *instrs_cap) = l->in[k];
    f->n_instrs = (uint32_t)n;
}

vpu_status lower_function(LLVMValueRef fn, const char *name, arena *a,
                          isa_function *out, vpu_error *err)
{
    low l = {.a = a};
    size_t instrs_cap = 0;
    uint32_t k = 0, bad_block = 0, bad_instr = 0;
    const char *why;

    *out = (isa_function){.name = arena_strdup(a, name)};
    out->n_blocks = LLVMCountBasicBlocks(fn);
    out->blocks = arena_array(a, isa_block, out->n_blocks);
    l.td = LLVMGetModuleDataLayout(LLVMGetGlobalParent(fn));
    ir_map_init(&l.reg, a);
    ir_each_block(b, fn)
    {
        l.scratch = arena_create(0);
        l.in = NULL;
        lower_block(&l, b, out, &out->blocks[k++], &instrs_cap);
        arena_destroy(l.scratch);
    }
    why = isa_verify(out, &bad_block, &bad_instr);
    if (why)
        return err_set(
            err, VPU_ERR_MISMATCH, "%s: block %u, operation %u (%s): %s", name,
            bad_block, bad_instr,
            isa_ops[out->instrs[out->blocks[bad_block].first + bad_instr].op]
                .name,
            why);
    return VPU_OK;
}
