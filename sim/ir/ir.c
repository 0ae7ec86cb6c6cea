/* Helpers over LLVM's C API; see ir.h. */
#include "sim/ir/ir.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/late.h"
#include "sim/compiler/abi/types.h"

vpu_status ir_begin(vpu_error *err)
{
    return late_need("libLLVM", err);
}

static void ignore_diagnostic(LLVMDiagnosticInfoRef d, void *user)
{
    (void)d;
    (void)user;
}

vpu_status ir_parse(LLVMContextRef c, const char *bitcode, size_t n,
                    const char *name, LLVMModuleRef *out, vpu_error *err)
{
    LLVMMemoryBufferRef buf =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, n, name);
    bool bad;

    LLVMContextSetDiagnosticHandler(c, ignore_diagnostic, NULL);
    bad = LLVMParseBitcodeInContext2(c, buf, out);
    LLVMDisposeMemoryBuffer(buf);
    if (bad)
        *out = NULL;
    return bad ? err_set(err, VPU_ERR_PARSE, "%s: damaged bitcode", name)
               : VPU_OK;
}

void ir_map_init(ir_map *m, arena *a)
{
    *m = (ir_map){.arena = a};
}

static uint32_t slot_of(const ir_map *m, const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(h >> 32) & (m->cap - 1);

    while (m->keys[i] && m->keys[i] != key)
        i = (i + 1) & (m->cap - 1);
    return i;
}

void ir_map_set(ir_map *m, const void *key, void *value)
{
    uint32_t i;

    if ((m->n + 1) * 2 > m->cap) {
        ir_map old = *m;

        m->cap = old.cap ? old.cap * 2 : 64;
        m->keys = arena_array(m->arena, const void *, m->cap);
        m->values = arena_array(m->arena, void *, m->cap);
        for (uint32_t k = 0; k < old.cap; k++)
            if (old.keys[k]) {
                i = slot_of(m, old.keys[k]);
                m->keys[i] = old.keys[k];
                m->values[i] = old.values[k];
            }
    }
    i = slot_of(m, key);
    m->n += !m->keys[i];
    m->keys[i] = key;
    m->values[i] = value;
}

void *ir_map_get(const ir_map *m, const void *key)
{
    return m->cap ? m->values[slot_of(m, key)] : NULL;
}

static uint32_t *edges(arena *a, uint32_t n)
{
    return arena_array(a, uint32_t, n + 1);
}

void ir_cfg_build(ir_cfg *c, LLVMValueRef fn, arena *a)
{
    uint32_t *n_preds;

    *c = (ir_cfg){.n_blocks = LLVMCountBasicBlocks(fn)};
    c->blocks = arena_array(a, LLVMBasicBlockRef, c->n_blocks);
    LLVMGetBasicBlocks(fn, c->blocks);
    ir_map_init(&c->index, a);
    for (uint32_t i = 0; i < c->n_blocks; i++)
        ir_map_set(&c->index, c->blocks[i], (void *)(uintptr_t)(i + 1));
    c->preds = arena_array(a, uint32_t *, c->n_blocks);
    c->succs = arena_array(a, uint32_t *, c->n_blocks);
    n_preds = arena_array(a, uint32_t, c->n_blocks);
    for (uint32_t i = 0; i < c->n_blocks; i++) {
        LLVMValueRef t = LLVMGetBasicBlockTerminator(c->blocks[i]);
        uint32_t n = t ? LLVMGetNumSuccessors(t) : 0;

        c->succs[i] = edges(a, n);
        for (uint32_t s = 0; s < n; s++) {
            uint32_t to = ir_cfg_number(c, LLVMGetSuccessor(t, s));
            bool seen = false;

            for (uint32_t k = 1; k <= c->succs[i][0]; k++)
                seen |= c->succs[i][k] == to;
            if (!seen) {
                c->succs[i][++c->succs[i][0]] = to;
                n_preds[to]++;
            }
        }
    }
    for (uint32_t i = 0; i < c->n_blocks; i++)
        c->preds[i] = edges(a, n_preds[i]);
    for (uint32_t i = 0; i < c->n_blocks; i++)
        for (uint32_t k = 1; k <= c->succs[i][0]; k++) {
            uint32_t *p = c->preds[c->succs[i][k]];

            p[++p[0]] = i;
        }
}

uint32_t ir_cfg_number(const ir_cfg *c, LLVMBasicBlockRef b)
{
    return (uint32_t)(uintptr_t)ir_map_get(&c->index, b) - 1;
}

ir_word *ir_bits(arena *a, uint32_t n)
{
    return arena_array(a, ir_word, (n + 63) / 64);
}

static void visit(const ir_cfg *c, uint32_t b, ir_word *seen, uint32_t *order,
                  uint32_t *n)
{
    ir_bit_set(seen, b);
    for (uint32_t k = 1; k <= c->succs[b][0]; k++)
        if (!ir_bit(seen, c->succs[b][k]))
            visit(c, c->succs[b][k], seen, order, n);
    order[(*n)++] = b;
}

uint32_t ir_post_order(const ir_cfg *c, uint32_t *order, ir_word *seen)
{
    uint32_t n = 0;

    visit(c, 0, seen, order, &n);
    return n;
}

ir_word *ir_loop_blocks(const ir_cfg *c, uint32_t header, uint32_t latch,
                        arena *a)
{
    uint32_t *stack = arena_array(a, uint32_t, c->n_blocks + 1), top = 0;
    ir_word *in = ir_bits(a, c->n_blocks);

    ir_bit_set(in, header);
    if (latch != header)
        stack[top++] = latch;
    ir_bit_set(in, latch);
    while (top) {
        const uint32_t *p = c->preds[stack[--top]];

        if (!p[0])
            return NULL;
        for (uint32_t k = 1; k <= p[0]; k++)
            if (!ir_bit(in, p[k])) {
                ir_bit_set(in, p[k]);
                stack[top++] = p[k];
            }
    }
    return in;
}

ir_word **ir_post_dominators(const ir_cfg *c, arena *a)
{
    ir_word **pd = arena_array(a, ir_word *, c->n_blocks);
    uint32_t words = (c->n_blocks + 63) / 64;
    bool changed = true;

    for (uint32_t i = 0; i < c->n_blocks; i++) {
        pd[i] = ir_bits(a, c->n_blocks);
        if (c->succs[i][0])
            memset(pd[i], 0xff, words * sizeof(ir_word));
        else
            ir_bit_set(pd[i], i);
    }
    while (changed) {
        changed = false;
        for (uint32_t i = c->n_blocks; i-- > 0;)
            for (uint32_t w = 0; c->succs[i][0] && w < words; w++) {
                ir_word v = ~(ir_word)0;

                for (uint32_t k = 1; k <= c->succs[i][0]; k++)
                    v &= pd[c->succs[i][k]][w];
                if (w == i / 64)
                    v |= (ir_word)1 << i % 64;
                changed |= v != pd[i][w];
                pd[i][w] = v;
            }
    }
    return pd;
}

/* Itanium type grammar as far as OpenCL C uses it. Substitutable parts
 * (vectors, pointers, qualified types) are remembered in order of completion.
 */
typedef struct {
    const char *p;
    struct {
        char letter;
        uint8_t lanes;
    } subst[32];
    uint32_t n_subst;
} demangler;

static void remember(demangler *d, char letter, uint8_t lanes)
{
    if (d->n_subst < 32) {
        d->subst[d->n_subst].letter = letter;
        d->subst[d->n_subst++].lanes = lanes;
    }
}

static void type(demangler *d, char *letter, uint8_t *lanes)
{
    *lanes = 1;
    *letter = '?';
    switch (*d->p) {
    case '\0':
        return;
    case 'P': {
        d->p++;
        type(d, letter, lanes);
        *letter = 'P';
        *lanes = 1;
        remember(d, 'P', 1);
        return;
    }
    case 'U': { /* vendor qualifier: address space */
        char *end;
        unsigned long n = strtoul(d->p + 1, &end, 10);

        if (n > strlen(end)) {
            d->p = "";
            return;
        }
        d->p = end + n;
        type(d, letter, lanes);
        remember(d, *letter, *lanes);
        return;
    }
    case 'K':
    case 'V': {
        while (*d->p == 'K' || *d->p == 'V')
            d->p++;
        type(d, letter, lanes);
        /* "AS1K" + type is one substitution with its vendor qualifier; which
         * of the two clang counts does not matter for letters we look up. */
        return;
    }
    case 'S': {
        unsigned long i = 0;

        d->p++;
        if (*d->p != '_') {
            for (; *d->p && *d->p != '_'; d->p++)
                i = i * 36 + (unsigned long)(*d->p <= '9' ? *d->p - '0'
                                                          : *d->p - 'A' + 10);
            i++;
        }
        if (*d->p)
            d->p++;
        if (i < d->n_subst) {
            *letter = d->subst[i].letter;
            *lanes = d->subst[i].lanes;
        }
        return;
    }
    case 'D':
        if (d->p[1] == 'h') {
            *letter = 'H';
            d->p += 2;
        } else if (d->p[1] == 'v') {
            char *end;
            uint8_t inner, n = (uint8_t)strtoul(d->p + 2, &end, 10);

            d->p = *end ? end + 1 : end;
            type(d, letter, &inner);
            *lanes = n;
            remember(d, *letter, n);
        } else {
            d->p = "";
        }
        return;
    default:
        if (*d->p >= '0' && *d->p <= '9') {
            char *end;
            unsigned long n = strtoul(d->p, &end, 10);

            d->p = n > strlen(end) ? "" : end + n;
            remember(d, '?', 1);
        } else {
            *letter = *d->p++;
        }
    }
}

void ir_demangle(const char *symbol, ir_signature *out)
{
    demangler d = {.p = symbol};
    char *end;
    unsigned long n;

    memset(out, 0, sizeof *out);
    out->name = symbol;
    out->name_len = (uint32_t)strlen(symbol);
    if (strncmp(symbol, "_Z", 2))
        return;
    n = strtoul(symbol + 2, &end, 10);
    if (!n || n > strlen(end))
        return;
    out->name = end;
    out->name_len = (uint32_t)n;
    d.p = end + n;
    while (*d.p && out->n_args < IR_MAX_ARGS) {
        char letter;
        uint8_t lanes;

        type(&d, &letter, &lanes);
        if (letter == 'v')
            break;
        out->args[out->n_args].letter = letter;
        out->args[out->n_args++].lanes = lanes;
    }
}

static unsigned unsaturated_kind(LLVMValueRef call)
{
    static const char name[] = "vpu.unsaturated";
    LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(call));

    return LLVMGetMDKindIDInContext(c, name, sizeof name - 1);
}

void ir_mark_unsaturated(LLVMValueRef call)
{
    LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(call));

    if (!LLVMIsACallInst(call)) /* folded */
        return;
    LLVMSetMetadata(call, unsaturated_kind(call),
                    LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, NULL, 0)));
}

bool ir_unsaturated(LLVMValueRef call)
{
    return LLVMGetMetadata(call, unsaturated_kind(call)) != NULL;
}

const char *ir_callee(LLVMValueRef call)
{
    LLVMValueRef f;
    size_t n;

    if (!LLVMIsACallInst(call))
        return "";
    f = LLVMGetCalledValue(call);
    return f && LLVMIsAFunction(f) ? LLVMGetValueName2(f, &n) : "";
}

bool ir_is_arithmetic(LLVMOpcode op)
{
    switch (op) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        return true;
    default:
        return false;
    }
}

/* --- runtime calls ------------------------------------------------------- */

call_id ir_call_id(LLVMValueRef inst)
{
    return call_find(ir_callee(inst));
}

/* llvm::MemoryEffects: two bits, reads and writes, for what arguments point to,
 * for what nobody else can reach, and for everything else. */
enum {
    MEMORY_NONE = 0,
    MEMORY_INACCESSIBLE = 12,
    MEMORY_READS_ARGUMENTS = MEMORY_INACCESSIBLE | 1
};

static void add_effect(LLVMValueRef f, call_effect e)
{
    if (e != CALL_ANYTHING)
        ir_attr(f, "nounwind", 0);
    switch (e) {
    case CALL_ANYTHING:
    case CALL_TELLS:
        return;
    case CALL_VALUE:
        ir_attr(f, "memory", MEMORY_NONE);
        ir_attr(f, "willreturn", 0);
        ir_attr(f, "speculatable", 0);
        return;
    case CALL_MEETS:
        ir_attr(f, "convergent", 0);
        ir_attr(f, "noduplicate", 0);
        return;
    case CALL_ENDS:
        ir_attr(f, "noreturn", 0);
        ir_attr(f, "cold", 0);
        return;
    case CALL_TESTS:
        ir_attr(f, "memory", MEMORY_INACCESSIBLE);
        return;
    case CALL_OBSERVES:
    case CALL_READS:
    case CALL_MAKES:
        ir_attr(f, "willreturn", 0);
        ir_attr(f, "memory",
                e == CALL_OBSERVES ? MEMORY_INACCESSIBLE
                : e == CALL_READS  ? MEMORY_READS_ARGUMENTS
                                   : MEMORY_NONE);
        return;
    }
}

static LLVMValueRef build(LLVMBuilderRef b, LLVMModuleRef m, const char *name,
                          const ir_call *what)
{
    LLVMTypeRef types[16], t;
    LLVMValueRef f = LLVMGetNamedFunction(m, name);

    for (unsigned k = 0; k < what->n; k++)
        types[k] = LLVMTypeOf(what->args[k]);
    t = LLVMFunctionType(what->ret, types, what->n, false);
    if (!f) {
        f = ir_declare(m, name, t);
        add_effect(f, call_effect_of(what->id));
    }
    return LLVMBuildCall2(b, t, f, what->args, what->n, "");
}

LLVMValueRef ir_build_call(LLVMBuilderRef b, LLVMModuleRef m,
                           const ir_call *what)
{
    return build(b, m, call_symbol(what->id), what);
}

LLVMValueRef ir_build_numbered(LLVMBuilderRef b, LLVMModuleRef m,
                               const ir_call *what, unsigned number)
{
    char name[48];

    snprintf(name, sizeof name, "%s%u", call_symbol(what->id), number);
    return build(b, m, name, what);
}

/* --- instructions -------------------------------------------------------- */

uint32_t ir_place_align(LLVMValueRef array)
{
    uint32_t n = LLVMGetAlignment(array);

    return n < SIM_ALIGN ? SIM_ALIGN : n > SIM_MOST_ALIGN ? SIM_MOST_ALIGN : n;
}

unsigned ir_line_near(LLVMValueRef i)
{
    LLVMValueRef block = LLVMBasicBlockAsValue(LLVMGetInstructionParent(i));
    unsigned line = 0;

    for (; i && !line; i = LLVMGetPreviousInstruction(i))
        line = LLVMGetDebugLocLine(i);
    for (LLVMUseRef u = LLVMGetFirstUse(block); u && !line;
         u = LLVMGetNextUse(u))
        if (LLVMIsAInstruction(LLVMGetUser(u)))
            line = LLVMGetDebugLocLine(LLVMGetUser(u));
    return line;
}

LLVMValueRef ir_mapped(const ir_map *map, LLVMValueRef op)
{
    LLVMValueRef to = ir_map_get(map, op);

    return to ? to : op;
}

void ir_fill_phi(LLVMValueRef to, LLVMValueRef phi, const ir_map *values,
                 const ir_map *blocks, LLVMBasicBlockRef outside)
{
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef v = ir_mapped(values, LLVMGetIncomingValue(phi, k));
        LLVMBasicBlockRef from =
            ir_map_get(blocks, LLVMGetIncomingBlock(phi, k));

        from = from ? from : outside;
        LLVMAddIncoming(to, &v, &from, 1);
    }
}

LLVMValueRef ir_incoming_from(LLVMValueRef phi, LLVMBasicBlockRef block)
{
    for (unsigned k = LLVMCountIncoming(phi); k-- > 0;)
        if (LLVMGetIncomingBlock(phi, k) == block)
            return LLVMGetIncomingValue(phi, k);
    return NULL;
}

LLVMValueRef ir_step_of(LLVMValueRef phi, LLVMBasicBlockRef latch)
{
    LLVMValueRef next =
        LLVMIsAPHINode(phi) ? ir_incoming_from(phi, latch) : NULL;

    return next && LLVMIsABinaryOperator(next) &&
                   LLVMGetInstructionOpcode(next) == LLVMAdd &&
                   LLVMGetOperand(next, 0) == phi
               ? LLVMIsAConstantInt(LLVMGetOperand(next, 1))
               : NULL;
}

bool ir_counts_up(LLVMValueRef phi, LLVMBasicBlockRef latch, LLVMValueRef v)
{
    LLVMValueRef by = ir_step_of(phi, latch);

    return by && LLVMConstIntGetZExtValue(by) == 1 &&
           ir_incoming_from(phi, latch) == v;
}

LLVMValueRef ir_clone(LLVMBuilderRef b, LLVMValueRef inst, const ir_map *map)
{
    LLVMValueRef copy = LLVMInstructionClone(inst);
    int n = LLVMGetNumOperands(inst);

    LLVMInsertIntoBuilder(b, copy);
    /* Inserting gives the builder's position, which has none. */
    LLVMInstructionSetDebugLoc(copy, LLVMInstructionGetDebugLoc(inst));
    for (int i = 0; i < n; i++) {
        LLVMValueRef op = LLVMGetOperand(inst, (unsigned)i);

        if (op && !LLVMValueIsBasicBlock(op))
            LLVMSetOperand(copy, (unsigned)i, ir_mapped(map, op));
    }
    return copy;
}

LLVMValueRef ir_declare(LLVMModuleRef m, const char *name, LLVMTypeRef t)
{
    LLVMValueRef f = LLVMGetNamedFunction(m, name);

    return f ? f : LLVMAddFunction(m, name, t);
}

void ir_attr(LLVMValueRef fn, const char *name, uint64_t value)
{
    LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(fn));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(c, kind, value));
}

void ir_copy_attrs_at(LLVMValueRef from, LLVMValueRef to, unsigned at)
{
    LLVMAttributeRef attrs[64];
    unsigned count = LLVMGetAttributeCountAtIndex(from, at);

    if (count > 64)
        return;
    LLVMGetAttributesAtIndex(from, at, attrs);
    for (unsigned i = 0; i < count; i++)
        LLVMAddAttributeAtIndex(to, at, attrs[i]);
}

void ir_copy_param_attrs(LLVMValueRef from, LLVMValueRef to, unsigned n)
{
    for (unsigned k = 1; k <= n; k++)
        ir_copy_attrs_at(from, to, k);
}

void ir_drop_attr(LLVMValueRef fn, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMRemoveEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex, kind);
}

const char *ir_plain_name(LLVMValueRef global)
{
    size_t n;
    const char *name = LLVMGetValueName2(global, &n);
    const char *dot = strrchr(name, '.');

    return dot && dot[1] ? dot + 1 : name;
}

unsigned ir_lanes(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;
}

LLVMTypeRef ir_element(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

unsigned ir_bits_of(LLVMTypeRef t)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMHalfTypeKind:
        return 16;
    case LLVMFloatTypeKind:
    case LLVMPointerTypeKind:
        return 32;
    case LLVMDoubleTypeKind:
        return 64;
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(t);
    default:
        return 0;
    }
}

/* --- metadata ------------------------------------------------------------ */

LLVMValueRef ir_metadata(LLVMValueRef inst, const char *kind)
{
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
    LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(fn));

    return LLVMGetMetadata(
        inst, LLVMGetMDKindIDInContext(c, kind, (unsigned)strlen(kind)));
}

bool ir_unroll_disabled(LLVMValueRef branch)
{
    static const char mark[] = "llvm.loop.unroll.disable";
    LLVMValueRef loop = ir_metadata(branch, "llvm.loop"), ops[16], parts[4];
    int n = loop ? LLVMGetMDNodeNumOperands(loop) : 0;

    if (!n || n > 16)
        return false;
    LLVMGetMDNodeOperands(loop, ops);
    for (int k = 1; k < n; k++) {
        const char *text;
        unsigned len;

        if (!ops[k] || LLVMGetMDNodeNumOperands(ops[k]) < 1 ||
            LLVMGetMDNodeNumOperands(ops[k]) > 4)
            continue;
        LLVMGetMDNodeOperands(ops[k], parts);
        text = parts[0] ? LLVMGetMDString(parts[0], &len) : NULL;
        if (text && len == sizeof mark - 1 && !memcmp(text, mark, len))
            return true;
    }
    return false;
}
