/* Sites, memory objects, and the calls before accesses; see instrument.h. */
#include "sim/compiler/check/instrument.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/compiler/check/instrument_priv.h"
#include "sim/compiler/expand/expand.h"

/* CLK_LOCAL_MEM_FENCE, CLK_GLOBAL_MEM_FENCE. */
enum { FENCE_LOCAL = 1, FENCE_GLOBAL = 2 };

/* Memory of the core is laid out in so many bytes, which is the most that it
 * moves at once. */
enum { CORE_ALIGN = 16 };

/* --- the tables ---------------------------------------------------------- */

static const char *file_of(instrument *x, LLVMMetadataRef loc)
{
    LLVMMetadataRef scope = LLVMDILocationGetScope(loc);
    LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
    unsigned n = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &n) : NULL;

    return n ? arena_strndup(x->arena, name, n) : x->path;
}

static void fill_place(instrument *x, LLVMMetadataRef loc, sim_place *p)
{
    LLVMMetadataRef in;

    *p = (sim_place){.file = x->path};
    if (!loc)
        return;
    p->file = file_of(x, loc);
    p->line = LLVMDILocationGetLine(loc);
    p->col = LLVMDILocationGetColumn(loc);
    in = LLVMDILocationGetInlinedAt(loc);
    if (in) {
        sim_place *outer = arena_new(x->arena, sim_place);

        fill_place(x, in, outer);
        p->in = outer;
    }
}

static sim_site *add_site(instrument *x, sim_site_kind kind, LLVMValueRef i,
                          uint32_t *number)
{
    sim_site *s =
        arena_append(x->arena, x->sites->sites, x->n_sites, x->cap_sites);

    *s = (sim_site){.kind = kind, .variant = (uint8_t)x->variant, .name = ""};
    fill_place(x, LLVMInstructionGetDebugLoc(i), &s->at);
    *number = (uint32_t)x->n_sites - 1;
    x->sites->n_sites = (uint32_t)x->n_sites;
    return s;
}

uint32_t instrument_site(instrument *x, sim_site_kind kind, LLVMValueRef i,
                         sim_variant_kind variant, uint32_t object)
{
    uint32_t n;

    x->variant = variant;
    add_site(x, kind, i, &n)->object = object;
    return n;
}

static uint32_t add_object(instrument *x, const void *key, sim_object o)
{
    *arena_append(x->arena, x->sites->objects, x->n_objects, x->cap_objects) =
        o;
    x->sites->n_objects = (uint32_t)x->n_objects;
    ir_map_set(&x->numbers, key, (void *)(uintptr_t)x->n_objects);
    return (uint32_t)x->n_objects - 1;
}

/* "acc.i" is acc, inlined. */
static const char *plain_name(instrument *x, LLVMValueRef v)
{
    size_t n;
    const char *s = LLVMGetValueName2(v, &n);

    if (LLVMIsAGlobalVariable(v))
        return arena_strdup(x->arena, ir_plain_name(v));
    return arena_strndup(x->arena, s, strcspn(s, "."));
}

/* Takes the bytes of t's fields, from `at` on, out of the padding. */
static void take_fields(instrument *x, LLVMTypeRef t, uint64_t at,
                        bool *padding)
{
    if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
        for (unsigned k = 0; k < LLVMCountStructElementTypes(t); k++)
            take_fields(x, LLVMStructGetTypeAtIndex(t, k),
                        at + LLVMOffsetOfElement(x->td, t, k), padding);
    } else if (LLVMGetTypeKind(t) == LLVMArrayTypeKind) {
        LLVMTypeRef e = LLVMGetElementType(t);

        for (uint64_t k = 0; k < LLVMGetArrayLength2(t); k++)
            take_fields(x, e, at + k * LLVMABISizeOfType(x->td, e), padding);
    } else {
        memset(padding + at, 0, LLVMStoreSizeOfType(x->td, t));
    }
}

static void find_padding(instrument *x, LLVMTypeRef t, sim_object *o)
{
    uint64_t n;
    bool *padding;

    while (LLVMGetTypeKind(t) == LLVMArrayTypeKind)
        t = LLVMGetElementType(t);
    if (LLVMGetTypeKind(t) != LLVMStructTypeKind)
        return;
    n = LLVMABISizeOfType(x->td, t);
    if (!n || n > 65536)
        return;
    padding = arena_array(x->arena, bool, n);
    memset(padding, 1, n);
    take_fields(x, t, 0, padding);
    o->padding = padding;
    o->padding_period = (uint32_t)n;
}

static uint32_t object_number(instrument *x, LLVMValueRef root)
{
    uintptr_t known = (uintptr_t)ir_map_get(&x->numbers, root);
    sim_object o = {.name = ""};

    if (known)
        return (uint32_t)known - 1;
    if (LLVMIsAGlobalVariable(root)) {
        LLVMTypeRef t = LLVMGlobalGetValueType(root);

        o.kind = LLVMGetPointerAddressSpace(LLVMTypeOf(root)) == AS_LOCAL
                     ? SIM_MEM_LOCAL
                     : SIM_MEM_CONSTANT;
        o.bytes = (uint32_t)LLVMABISizeOfType(x->td, t);
        o.name = plain_name(x, root);
        find_padding(x, t, &o);
    } else if (LLVMIsAAllocaInst(root)) {
        LLVMTypeRef t = LLVMGetAllocatedType(root);

        o.kind = SIM_MEM_PRIVATE;
        o.bytes = (uint32_t)LLVMABISizeOfType(x->td, t);
        o.name = plain_name(x, root);
        find_padding(x, t, &o);
    } else {
        return 0;
    }
    return add_object(x, root, o);
}

/* --- where pointers come from -------------------------------------------- */

enum { MAX_DEPTH = 64 };

/* The argument, array or variable all of whose bytes v may point into; NULL:
 * not one, or not known. *any: one found on another path already. */
static bool find_root(LLVMValueRef v, unsigned depth, ir_map *seen,
                      LLVMValueRef *root)
{
    if (depth > MAX_DEPTH)
        return false;
    if (LLVMIsAArgument(v) || LLVMIsAGlobalVariable(v) ||
        LLVMIsAAllocaInst(v)) {
        if (*root && *root != v)
            return false;
        *root = v;
        return true;
    }
    if (ir_map_get(seen, v))
        return true;
    ir_map_set(seen, v, v);
    if (call_is_access(ir_call_id(v)))
        return find_root(LLVMGetOperand(v, 1), depth + 1, seen, root);
    if (LLVMIsAPHINode(v)) {
        for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
            if (!find_root(LLVMGetIncomingValue(v, k), depth + 1, seen, root))
                return false;
        return true;
    }
    if (LLVMIsASelectInst(v))
        return find_root(LLVMGetOperand(v, 1), depth + 1, seen, root) &&
               find_root(LLVMGetOperand(v, 2), depth + 1, seen, root);
    if (LLVMIsAInstruction(v) || LLVMIsAConstantExpr(v))
        switch (LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v)
                                      : LLVMGetConstOpcode(v)) {
        case LLVMGetElementPtr:
        case LLVMBitCast:
        case LLVMAddrSpaceCast:
        case LLVMFreeze:
            return find_root(LLVMGetOperand(v, 0), depth + 1, seen, root);
        default:
            return false;
        }
    return false;
}

/* The argument, array or variable whose memory a pointer is into, or NULL. */
static LLVMValueRef root_of(instrument *x, LLVMValueRef pointer)
{
    LLVMValueRef root = NULL;
    ir_map seen;

    ir_map_init(&seen, x->arena);
    return find_root(pointer, 0, &seen, &root) ? root : NULL;
}

/* Steps of whole `align` bytes from memory that begins at a multiple of it:
 * arguments, and arrays no less aligned. */
static bool keeps_aligned(instrument *x, LLVMValueRef v, uint32_t align,
                          unsigned depth)
{
    if (LLVMIsAArgument(v))
        return true;
    if (LLVMIsAGlobalVariable(v) || LLVMIsAAllocaInst(v))
        return LLVMGetAlignment(v) >= align;
    if (depth > MAX_DEPTH || !(LLVMIsAGetElementPtrInst(v) ||
                               (LLVMIsAConstantExpr(v) &&
                                LLVMGetConstOpcode(v) == LLVMGetElementPtr)))
        return false;
    if (!keeps_aligned(x, LLVMGetOperand(v, 0), align, depth + 1))
        return false;
    for (LLVMTypeRef t = LLVMGetGEPSourceElementType(v);;
         t = LLVMGetElementType(t)) {
        if (LLVMGetTypeKind(t) == LLVMStructTypeKind ||
            LLVMABISizeOfType(x->td, t) % align)
            return false;
        if (LLVMGetTypeKind(t) != LLVMArrayTypeKind)
            return true;
    }
}

static uint32_t object_of(instrument *x, LLVMValueRef root)
{
    if (!root)
        return 0;
    if (LLVMIsAArgument(root)) {
        for (uint32_t k = 0; k < x->kernel->n_args; k++)
            if (LLVMGetParam(x->fn, k) == root)
                return 1 + k;
        return 0;
    }
    return object_number(x, root);
}

/* --- calls --------------------------------------------------------------- */

LLVMValueRef instrument_call(instrument *x, const ir_call *what,
                             LLVMValueRef at)
{
    LLVMValueRef call = ir_build_call(x->builder, x->module, what);

    LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(at));
    return call;
}

LLVMValueRef instrument_numbered(instrument *x, const ir_call *what,
                                 unsigned number, LLVMValueRef at)
{
    LLVMValueRef call = ir_build_numbered(x->builder, x->module, what, number);

    LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(at));
    return call;
}

LLVMValueRef instrument_k32(instrument *x, uint32_t n)
{
    return LLVMConstInt(x->i32, n, false);
}

/* --- variables ----------------------------------------------------------- */

static bool is_lifetime(LLVMValueRef i, const char *which)
{
    return LLVMIsACallInst(i) && !strncmp(ir_callee(i), which, strlen(which));
}

/* Will be a value, and nobody can tell that it was in memory. */
static bool is_promotable(LLVMValueRef array)
{
    LLVMTypeRef t = LLVMGetAllocatedType(array);
    LLVMTypeKind kind = LLVMGetTypeKind(t);

    if (kind == LLVMArrayTypeKind || kind == LLVMStructTypeKind)
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(array); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);

        if (LLVMIsALoadInst(i) && LLVMTypeOf(i) == t && !LLVMGetVolatile(i))
            continue;
        if (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == array &&
            LLVMTypeOf(LLVMGetOperand(i, 0)) == t && !LLVMGetVolatile(i))
            continue;
        if (is_lifetime(i, "llvm.lifetime"))
            continue;
        return false;
    }
    return true;
}

static LLVMValueRef first_value(instrument *x, LLVMTypeRef t, uint32_t site,
                                LLVMValueRef at)
{
    LLVMValueRef arg = instrument_k32(x, site);
    unsigned k = 0;

    for (; k < x->n_undef && x->undef[k] != t; k++)
        ;
    if (k == x->n_undef) {
        if (k == MAX_UNDEF_TYPES)
            return NULL;
        x->undef[x->n_undef++] = t;
    }
    return instrument_numbered(x, &(const ir_call){CALL_undef, t, &arg, 1}, k,
                               at);
}

/* At the builder's position the variable begins to exist. at: an instruction
 * with its line. */
static void begin_variable(instrument *x, LLVMValueRef v, LLVMValueRef at)
{
    bool value = is_promotable(v);
    uint32_t site;
    sim_site *s;

    s = add_site(x, value ? SITE_UNDEF : SITE_ARRAY, at, &site);
    s->name = plain_name(x, v);
    if (value) {
        LLVMValueRef u = first_value(x, LLVMGetAllocatedType(v), site, at);

        if (u)
            LLVMBuildStore(x->builder, u, v);
    } else {
        LLVMValueRef args[2] = {instrument_k32(x, site), v};

        s->object = object_number(x, v);
        s->bytes = x->sites->objects[s->object].bytes;
        instrument_call(
            x, &(const ir_call){CALL_check_array, x->void_type, args, 2}, at);
    }
}

static void instrument_variable(instrument *x, LLVMValueRef v,
                                LLVMValueRef behind)
{
    bool scoped = false;

    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u), next;

        if (!is_lifetime(i, "llvm.lifetime.start"))
            continue;
        next = LLVMGetNextInstruction(i);
        /* Clang gives the marker no line: the next instruction's is near. */
        LLVMPositionBuilderBefore(x->builder, next);
        begin_variable(x, v, LLVMInstructionGetDebugLoc(i) ? i : next);
        scoped = true;
    }
    if (scoped)
        return;
    LLVMPositionBuilderBefore(x->builder, behind);
    begin_variable(x, v, behind);
}

static bool is_wait(const char *callee)
{
    return call_find(callee) == CALL_wait_group_events ||
           !strcmp(callee, "WaitWorkItemDmaEvents");
}

/* Which events a wait is for shows before it is expanded: behind that there is
 * the last of them alone. */
static void tell_events(instrument *x, LLVMValueRef wait)
{
    LLVMValueRef n = LLVMGetOperand(wait, 0), list = LLVMGetOperand(wait, 1);
    LLVMValueRef root = root_of(x, list), args[4];
    uint32_t number;
    sim_site *s = add_site(x, SITE_WAIT, wait, &number);

    s->object = object_of(x, root);
    if (expand_reads_events(n))
        s->bytes = 4 * (uint32_t)LLVMConstIntGetZExtValue(n);
    s->by_item = !strcmp(ir_callee(wait), "WaitWorkItemDmaEvents");
    LLVMPositionBuilderBefore(x->builder, wait);
    args[0] = instrument_k32(x, number);
    args[1] = n;
    args[2] = list;
    args[3] = s->object ? root : LLVMConstPointerNull(LLVMTypeOf(list));
    instrument_call(
        x, &(const ir_call){CALL_check_events, x->void_type, args, 4}, wait);
}

/* What a built-in's expansion forgets. */
static void note_call(instrument *x, LLVMValueRef i)
{
    const char *callee = ir_callee(i);
    struct instrument_call_fact f = {.at = LLVMInstructionGetDebugLoc(i),
                                     .fences = FENCE_LOCAL | FENCE_GLOBAL};
    ir_signature sig;

    if (is_wait(callee))
        tell_events(x, i);
    ir_demangle(callee, &sig);
    f.by_item = strstr(callee, "WorkItemDma") != NULL;
    if (sig.name_len == 7 && !strncmp(sig.name, "barrier", 7) &&
        LLVMIsAConstantInt(LLVMGetOperand(i, 0)))
        f.fences = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)) &
                   (FENCE_LOCAL | FENCE_GLOBAL);
    else if (!f.by_item)
        return;
    *arena_append(x->arena, x->facts, x->n_facts, x->cap_facts) = f;
}

static void note_restrict(instrument *x, LLVMValueRef fn)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);

    for (uint32_t i = 0; i < x->kernel->n_args; i++)
        x->sites->objects[1 + i].restricted |=
            LLVMGetEnumAttributeAtIndex(fn, i + 1, kind) != NULL;
}

void instrument_variables(instrument *x, LLVMValueRef fn,
                          sim_variant_kind variant)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(fn);
    LLVMValueRef *list = NULL, behind;
    size_t n = 0, cap = 0;

    note_restrict(x, fn);
    if (x->what->barriers)
        return;
    x->fn = fn;
    x->variant = variant;
    ir_each_block(b, fn)
        ir_each_inst(i, b) {
            if (LLVMIsAAllocaInst(i))
                *arena_append(x->arena, list, n, cap) = i;
            if (LLVMIsACallInst(i))
                note_call(x, i);
        }
    behind = LLVMGetFirstInstruction(entry);
    while (LLVMIsAAllocaInst(behind))
        behind = LLVMGetNextInstruction(behind);
    for (size_t k = 0; k < n; k++)
        instrument_variable(x, list[k], behind);
}

/* --- accesses ------------------------------------------------------------ */

/* A pointer operand of i is checked: what it is used with. The site's number.
 */
static uint32_t check_pointer(instrument *x, LLVMValueRef i, unsigned operand,
                              sim_site_kind kind, LLVMTypeRef t, uint32_t align)
{
    LLVMValueRef p = LLVMGetOperand(i, operand), args[3], call;
    LLVMValueRef root = root_of(x, p);
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(p));
    uint32_t site, object = object_of(x, root);
    sim_site *s = add_site(x, kind, i, &site);

    s->object = object;
    s->bytes = (uint32_t)LLVMStoreSizeOfType(x->td, t);
    if (align > CORE_ALIGN)
        align = CORE_ALIGN;
    s->align = keeps_aligned(x, p, align, 0) ? 1 : align;
    s->element_bytes = ir_bits_of(ir_element(t)) / 8;
    if (kind != SITE_LOAD) {
        x->sites->objects[object].written = true;
        x->writes_unknown |= !object;
    }
    args[0] = instrument_k32(x, site);
    args[1] = p;
    /* A select of roots in other address spaces has none. */
    args[2] = object && LLVMTypeOf(root) == LLVMTypeOf(p)
                  ? root
                  : LLVMConstPointerNull(LLVMTypeOf(p));
    instrument_indices(x, i, p);
    LLVMPositionBuilderBefore(x->builder, i);
    call = instrument_call(
        x, &(const ir_call){call_of_space(space), LLVMTypeOf(p), args, 3}, i);
    LLVMSetOperand(i, operand, call);
    return site;
}

/* What it does depends on what it finds. */
static void check_exchange(instrument *x, LLVMValueRef i)
{
    LLVMValueRef expected = LLVMGetOperand(i, 1);
    uint32_t site;

    LLVMPositionBuilderBefore(x->builder, i);
    instrument_call(
        x, &(const ir_call){CALL_check_expected, x->void_type, &expected, 1},
        i);
    site = check_pointer(x, i, 0, SITE_ATOMIC, LLVMTypeOf(expected), 4);
    x->sites->sites[site].conditional = true;
}

static LLVMValueRef as_i32(instrument *x, LLVMValueRef p)
{
    return LLVMBuildPtrToInt(x->builder, p, x->i32, "");
}

static LLVMValueRef block_call(instrument *x, LLVMValueRef i, unsigned operand,
                               sim_site_kind kind, LLVMValueRef n)
{
    LLVMValueRef p = LLVMGetOperand(i, operand), args[4];
    LLVMValueRef root = root_of(x, p);
    uint32_t site, object = object_of(x, root);

    add_site(x, kind, i, &site)->object = object;
    if (kind == SITE_BLOCK_WRITE) {
        x->sites->objects[object].written = true;
        x->writes_unknown |= !object;
    }
    args[0] = instrument_k32(x, site);
    args[1] = as_i32(x, p);
    args[2] = object ? as_i32(x, root) : instrument_k32(x, 0);
    args[3] = n;
    return instrument_call(
        x, &(const ir_call){CALL_check_block, x->i32, args, 4}, i);
}

/* memset, memcpy, memmove: their length becomes 0 where they are wrong. */
static void check_block_move(instrument *x, LLVMValueRef i, bool reads)
{
    LLVMValueRef n = LLVMGetOperand(i, 2), n32, ok, zero;

    LLVMPositionBuilderBefore(x->builder, i);
    n32 = LLVMBuildIntCast2(x->builder, n, x->i32, false, "");
    if (reads) {
        ok = block_call(x, i, 1, SITE_BLOCK_READ, n32);
        ok = LLVMBuildAnd(x->builder, ok,
                          block_call(x, i, 0, SITE_BLOCK_WRITE, n32), "");
    } else {
        ok = block_call(x, i, 0, SITE_BLOCK_WRITE, n32);
    }
    zero = LLVMConstNull(LLVMTypeOf(n));
    ok = LLVMBuildICmp(x->builder, LLVMIntNE, ok, instrument_k32(x, 0), "");
    LLVMSetOperand(i, 2, LLVMBuildSelect(x->builder, ok, n, zero, ""));
}

static uint32_t check_collective(instrument *x, LLVMValueRef i,
                                 sim_site_kind kind)
{
    uint32_t site;
    LLVMValueRef arg;

    add_site(x, kind, i, &site);
    arg = instrument_k32(x, site);
    LLVMPositionBuilderBefore(x->builder, i);
    instrument_call(x, &(const ir_call){CALL_check_at, x->void_type, &arg, 1},
                    i);
    return site;
}

static LLVMValueRef copy_root(instrument *x, LLVMValueRef v, bool written)
{
    LLVMValueRef root = NULL;
    uint32_t object = 0;

    if (LLVMIsAPtrToIntInst(v) ||
        (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMPtrToInt))
        root = root_of(x, LLVMGetOperand(v, 0));
    object = object_of(x, root);
    if (written) {
        x->sites->objects[object].written = true;
        x->sites->objects[object].copied = true;
        x->writes_unknown |= !object;
        x->copies_unknown |= !object;
    }
    x->sites->objects[object].sent |= !written;
    return instrument_k32(x, object);
}

static struct instrument_call_fact fact_of(const instrument *x, LLVMValueRef i)
{
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(i);

    for (size_t k = 0; at && k < x->n_facts; k++)
        if (x->facts[k].at == at)
            return x->facts[k];
    return (struct instrument_call_fact){.fences = FENCE_LOCAL | FENCE_GLOBAL};
}

/* All items must give a transfer the same arguments. */
static void tell_arguments(instrument *x, LLVMValueRef i, uint32_t site)
{
    LLVMValueRef hash = instrument_k32(x, 2166136261u), args[2];

    LLVMPositionBuilderBefore(x->builder, i);
    for (unsigned k = 0; k < SIM_DMA_N; k++) {
        if (k == SIM_DMA_LINE)
            continue;
        hash = LLVMBuildXor(x->builder, hash, LLVMGetOperand(i, k), "");
        hash = LLVMBuildMul(x->builder, hash, instrument_k32(x, 16777619u), "");
    }
    args[0] = instrument_k32(x, site);
    args[1] = hash;
    instrument_call(x, &(const ir_call){CALL_check_same, x->void_type, args, 2},
                    i);
}

/* A transfer's line operand becomes its site. */
static void check_dma(instrument *x, LLVMValueRef i)
{
    uint32_t site;
    LLVMValueRef dst = copy_root(x, LLVMGetOperand(i, SIM_DMA_DST), true);
    LLVMValueRef src = copy_root(x, LLVMGetOperand(i, SIM_DMA_SRC), false);
    sim_site *s;

    site = check_collective(x, i, SITE_COPY);
    s = &x->sites->sites[site];
    s->object = (uint32_t)LLVMConstIntGetZExtValue(dst);
    s->from = (uint32_t)LLVMConstIntGetZExtValue(src);
    s->by_item = fact_of(x, i).by_item;
    LLVMSetOperand(i, SIM_DMA_LINE, instrument_k32(x, site));
    if (!x->what->barriers)
        tell_arguments(x, i, site);
}

static void check_barrier(instrument *x, LLVMValueRef i)
{
    uint32_t site = check_collective(x, i, SITE_BARRIER);

    x->sites->sites[site].fences = fact_of(x, i).fences;
}

static void check_wait(instrument *x, LLVMValueRef i)
{
    check_collective(x, i, SITE_WAIT);
}

/* The row's function check_name. */
#define COLLECTIVE(name)    \
    case CALL_##name:       \
        check_##name(x, i); \
        return true;
#define EACH(name)
#define END(name)
#define RUNTIME(name, who, form, hook, result, words, time, cost) who(name)

static bool check_collective_call(instrument *x, LLVMValueRef i)
{
    switch (ir_call_id(i)) {
#include "sim/builtins/calls.def"
    default:
        return false;
    }
}

static void check_call(instrument *x, LLVMValueRef i)
{
    const char *callee = ir_callee(i);

    if (!strncmp(callee, "llvm.memset", 11))
        check_block_move(x, i, false);
    else if (!strncmp(callee, "llvm.memcpy", 11) ||
             !strncmp(callee, "llvm.memmove", 12))
        check_block_move(x, i, true);
    else
        instrument_arithmetic(x, i);
}

static void check_access(instrument *x, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
        check_pointer(x, i, 0, SITE_LOAD, LLVMTypeOf(i), LLVMGetAlignment(i));
        return;
    case LLVMStore:
        check_pointer(x, i, 1, SITE_STORE, LLVMTypeOf(LLVMGetOperand(i, 0)),
                      LLVMGetAlignment(i));
        return;
    case LLVMAtomicCmpXchg:
        check_exchange(x, i);
        return;
    case LLVMAtomicRMW:
        check_pointer(x, i, 0, SITE_ATOMIC, LLVMTypeOf(LLVMGetOperand(i, 1)),
                      4);
        return;
    case LLVMCall:
        if (!check_collective_call(x, i))
            check_call(x, i);
        return;
    default:
        instrument_arithmetic(x, i);
    }
}

void instrument_accesses(instrument *x, LLVMValueRef fn,
                         sim_variant_kind variant)
{
    LLVMValueRef *list = NULL;
    size_t n = 0, cap = 0;

    x->fn = fn;
    x->variant = variant;
    ir_each_block(b, fn)
        ir_each_inst(i, b) {
            if (call_is_check(ir_call_id(i)))
                continue;
            *arena_append(x->arena, list, n, cap) = i;
        }
    for (size_t k = 0; k < n; k++)
        if (x->what->barriers)
            check_collective_call(x, list[k]);
        else
            check_access(x, list[k]);
}

/* --- alignment ----------------------------------------------------------- */

static bool is_packed_member(LLVMValueRef p)
{
    for (; LLVMIsAGetElementPtrInst(p); p = LLVMGetOperand(p, 0)) {
        LLVMTypeRef t = LLVMGetGEPSourceElementType(p);

        if (LLVMGetTypeKind(t) == LLVMStructTypeKind && LLVMIsPackedStruct(t))
            return true;
    }
    return false;
}

void instrument_alignment(instrument *x, LLVMValueRef fn)
{
    ir_each_block(b, fn)
        ir_each_inst(i, b) {
            bool load = LLVMIsALoadInst(i) != NULL;
            LLVMTypeRef t;
            unsigned natural;

            if (!load && !LLVMIsAStoreInst(i))
                continue;
            t = LLVMTypeOf(load ? i : LLVMGetOperand(i, 0));
            natural = LLVMABIAlignmentOfType(x->td, t);
            if (LLVMGetTypeKind(t) == LLVMVectorTypeKind &&
                LLVMGetAlignment(i) < natural &&
                !is_packed_member(LLVMGetOperand(i, load ? 0 : 1)))
                LLVMSetAlignment(i, natural);
        }
}

/* --- the whole ----------------------------------------------------------- */

instrument *instrument_begin(LLVMModuleRef m, const char *path,
                             const sim_kernel *k, const sim_checking *what,
                             arena *a, sim_sites *sites)
{
    instrument *x = arena_new(a, instrument);

    *x = (instrument){.arena = a,
                      .module = m,
                      .path = arena_strdup(a, path),
                      .kernel = k,
                      .what = what,
                      .sites = sites};
    *sites = (sim_sites){.tainted = what->taint};
    x->td = LLVMGetModuleDataLayout(m);
    x->context = LLVMGetModuleContext(m);
    x->i1 = LLVMInt1TypeInContext(x->context);
    x->i32 = LLVMInt32TypeInContext(x->context);
    x->i64 = LLVMInt64TypeInContext(x->context);
    x->void_type = LLVMVoidTypeInContext(x->context);
    x->builder = LLVMCreateBuilderInContext(x->context);
    ir_map_init(&x->numbers, a);
    ir_map_init(&x->converted, a);
    *arena_append(a, sites->sites, x->n_sites, x->cap_sites) =
        (sim_site){.at = {.file = x->path}, .name = ""};
    add_object(x, x, (sim_object){.name = ""});
    for (uint32_t i = 0; i < k->n_args; i++)
        add_object(x, &k->args[i],
                   (sim_object){.kind = SIM_MEM_ARG,
                                .index = i,
                                .local = k->args[i].space == SIM_ARG_LOCAL,
                                .name = arena_strdup(a, k->args[i].name)});
    return x;
}

void instrument_end(instrument *x)
{
    for (size_t i = 0; i < x->n_objects && x->writes_unknown; i++)
        x->sites->objects[i].written = true;
    LLVMDisposeBuilder(x->builder);
}
