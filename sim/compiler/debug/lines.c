/* Code for `vpu debug`: calls that tell where an item is and where its source
 * variables are, instead of DWARF. What they say travels as text: a program of
 * ours reads it (sim/exec/observe.h, exec_observer, has both forms). */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/compiler/debug/debug.h"

enum {
    TAG_POINTER = 0x0f,
    TAG_MEMBER = 0x0d,
    TAG_STRUCT = 0x13,
    TAG_UNION = 0x17
};
enum { MAX_PLACES = 4096, MAX_NESTED = 6, MAX_OPS = 64 };

/* A scope in one of the places it was inlined to. */
typedef struct {
    LLVMMetadataRef scope, at;
} place;

typedef struct {
    LLVMModuleRef m;
    LLVMContextRef c;
    LLVMBuilderRef b;
    place places[MAX_PLACES];
    uint32_t n;
    str *all;
} lines;

unsigned debuginfo_text_kind(LLVMContextRef c)
{
    return LLVMGetMDKindIDInContext(c, "vpu.text", 8);
}

static void set_text(lines *l, LLVMValueRef call, const str *text)
{
    LLVMMetadataRef s = LLVMMDStringInContext2(l->c, str_text(text), text->n);

    LLVMSetMetadata(
        call, debuginfo_text_kind(l->c),
        LLVMMetadataAsValue(l->c, LLVMMDNodeInContext2(l->c, &s, 1)));
}

/* Operand k of a node, NULL where there is none. */
static LLVMValueRef operand(LLVMContextRef c, LLVMMetadataRef node, unsigned k)
{
    LLVMValueRef v = LLVMMetadataAsValue(c, node), ops[MAX_OPS] = {NULL};
    unsigned n = (unsigned)LLVMGetMDNodeNumOperands(v);

    if (k >= n || n > MAX_OPS)
        return NULL;
    LLVMGetMDNodeOperands(v, ops);
    return ops[k];
}

static void put_name(LLVMContextRef c, LLVMMetadataRef node, unsigned k,
                     str *out)
{
    LLVMValueRef v = operand(c, node, k);
    unsigned n = 0;
    const char *s = v ? LLVMGetMDString(v, &n) : NULL;

    for (unsigned i = 0; s && i < n; i++)
        if ((unsigned char)s[i] >= ' ' && !strchr("{};=", s[i]))
            str_add(out, s + i, 1);
}

static bool is_function(LLVMMetadataRef scope)
{
    return LLVMGetMetadataKind(scope) == LLVMDISubprogramMetadataKind;
}

static LLVMMetadataRef parent_of(lines *l, LLVMMetadataRef scope)
{
    LLVMValueRef v = is_function(scope) ? NULL : operand(l->c, scope, 1);

    return v ? LLVMValueAsMetadata(v) : NULL;
}

static LLVMMetadataRef function_of(lines *l, LLVMMetadataRef scope)
{
    while (scope && !is_function(scope))
        scope = parent_of(l, scope);
    return scope;
}

static uint32_t number_of(lines *l, LLVMMetadataRef scope, LLVMMetadataRef at)
{
    for (uint32_t k = 0; k < l->n; k++)
        if (l->places[k].scope == scope && l->places[k].at == at)
            return k;
    if (l->n == MAX_PLACES)
        return MAX_PLACES;
    l->places[l->n] = (place){scope, at};
    return l->n++;
}

static bool in_prelude(LLVMMetadataRef loc)
{
    LLVMMetadataRef f = LLVMDIScopeGetFile(LLVMDILocationGetScope(loc));
    static const char tail[] = "prelude.h";
    unsigned n = 0;
    const char *name = f ? LLVMDIFileGetFilename(f, &n) : "";

    return n >= sizeof tail - 1 &&
           !memcmp(name + n - (sizeof tail - 1), tail, sizeof tail - 1);
}

/* The place in the user's source; NULL: there is none. */
static LLVMMetadataRef in_source(LLVMMetadataRef loc)
{
    while (loc && (in_prelude(loc) || !LLVMDILocationGetLine(loc)))
        loc = LLVMDILocationGetInlinedAt(loc);
    return loc;
}

static uint32_t depth_of(LLVMMetadataRef loc)
{
    uint32_t n = 0;

    while ((loc = LLVMDILocationGetInlinedAt(loc)))
        n++;
    return n;
}

/* "\tFILE\tFUNCTION" of a place. */
static void put_function(lines *l, LLVMMetadataRef loc, str *out)
{
    LLVMMetadataRef scope = LLVMDILocationGetScope(loc);
    LLVMMetadataRef file = LLVMDIScopeGetFile(scope);
    LLVMMetadataRef f = function_of(l, scope);
    unsigned n = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &n) : "";

    str_puts(out, "\t");
    str_add(out, name, n);
    str_puts(out, "\t");
    if (f)
        put_name(l->c, f, 2, out);
}

/* The scopes of one function on the way out; returns how many. */
static uint32_t put_scopes(lines *l, LLVMMetadataRef loc, const char *comma,
                           str *out)
{
    uint32_t n = 0;

    for (LLVMMetadataRef s = LLVMDILocationGetScope(loc); s;
         s = parent_of(l, s)) {
        str_printf(out, "%s%u", comma,
                   number_of(l, s, LLVMDILocationGetInlinedAt(loc)));
        comma = ",";
        n++;
    }
    return n;
}

/* The form of exec_observer.line, innermost scope and function first. */
static void site_text(lines *l, char kind, LLVMMetadataRef loc, str *out)
{
    str callers = {0};
    uint32_t n = 0;

    str_printf(out, "%c\t%u\t%u\t%u\t", kind, LLVMDILocationGetLine(loc),
               LLVMDILocationGetColumn(loc), depth_of(loc));
    for (LLVMMetadataRef at = loc; at; at = LLVMDILocationGetInlinedAt(at)) {
        if (n) {
            str_printf(&callers, "\t%u\t%u", n, LLVMDILocationGetLine(at));
            put_function(l, at, &callers);
        }
        n += put_scopes(l, at, n ? "," : "", out);
    }
    put_function(l, loc, out);
    str_puts(out, str_text(&callers));
    str_free(&callers);
}

static void put_type(lines *l, LLVMMetadataRef t, unsigned nested, str *out);

static void put_basic(LLVMMetadataRef t, str *out)
{
    size_t n = 0;
    const char *s = LLVMDITypeGetName(t, &n);
    unsigned bits = (unsigned)LLVMDITypeGetSizeInBits(t);
    bool real = s && ((n == 4 && !memcmp(s, "half", 4)) ||
                      (n == 5 && !memcmp(s, "float", 5)) ||
                      (n == 6 && !memcmp(s, "double", 6)));
    bool no_sign = s && ((n >= 8 && !memcmp(s, "unsigned", 8)) ||
                         (n == 4 && !memcmp(s, "uint", 4)) ||
                         (n >= 4 && !memcmp(s + n - 4, "bool", 4)) ||
                         (n >= 5 && !memcmp(s + n - 5, "_Bool", 5)));

    str_printf(out, "%c%u", real ? 'f' : no_sign ? 'u' : 'i', bits);
}

/* "v4:f32", "a3:a5:i32". */
static void put_array(lines *l, LLVMMetadataRef t, unsigned nested, str *out)
{
    LLVMValueRef list = operand(l->c, t, 4), base = operand(l->c, t, 3), dim[8];
    bool vector = LLVMDITypeGetFlags(t) & LLVMDIFlagVector;
    unsigned n = list ? (unsigned)LLVMGetMDNodeNumOperands(list) : 0;

    if (!base || !n || n > 8) {
        str_puts(out, "?0");
        return;
    }
    LLVMGetMDNodeOperands(list, dim);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef count = operand(l->c, LLVMValueAsMetadata(dim[k]), 0);
        long long c = count && LLVMIsAConstantInt(count)
                          ? LLVMConstIntGetSExtValue(count)
                          : 0;

        str_printf(out, "%c%lld:", vector ? 'v' : 'a', c > 0 ? c : 0);
    }
    put_type(l, LLVMValueAsMetadata(base), nested, out);
}

/* "{12;0 x=f32;4 y=v2:f32;}" */
static void put_struct(lines *l, LLVMMetadataRef t, unsigned nested, str *out)
{
    LLVMValueRef list = operand(l->c, t, 4), m[MAX_OPS];
    unsigned n = list ? (unsigned)LLVMGetMDNodeNumOperands(list) : 0;

    str_printf(out, "{%llu;",
               (unsigned long long)LLVMDITypeGetSizeInBits(t) / 8);
    if (n <= MAX_OPS && n)
        LLVMGetMDNodeOperands(list, m);
    for (unsigned k = 0; k < n && n <= MAX_OPS; k++) {
        LLVMMetadataRef f = LLVMValueAsMetadata(m[k]);
        LLVMValueRef base = operand(l->c, f, 3);

        if (!base)
            continue;
        str_printf(out, "%llu ",
                   (unsigned long long)LLVMDITypeGetOffsetInBits(f) / 8);
        put_name(l->c, f, 2, out);
        str_puts(out, "=");
        put_type(l, LLVMValueAsMetadata(base), nested, out);
        str_puts(out, ";");
    }
    str_puts(out, "}");
}

static void put_derived(lines *l, LLVMMetadataRef t, unsigned nested, str *out)
{
    LLVMValueRef base = operand(l->c, t, 3);
    bool pointer = LLVMGetDINodeTag(t) == TAG_POINTER;

    if (pointer)
        str_puts(out, "p:");
    if (!base)
        str_puts(out, "?0");
    else
        put_type(l, LLVMValueAsMetadata(base), nested, out);
}

static void put_type(lines *l, LLVMMetadataRef t, unsigned nested, str *out)
{
    unsigned tag = 0;

    switch (LLVMGetMetadataKind(t)) {
    case LLVMDIBasicTypeMetadataKind:
        put_basic(t, out);
        return;
    case LLVMDIDerivedTypeMetadataKind:
        if (nested < MAX_NESTED) {
            put_derived(l, t, nested + 1, out);
            return;
        }
        break;
    case LLVMDICompositeTypeMetadataKind:
        tag = LLVMGetDINodeTag(t);
        if (nested >= MAX_NESTED)
            break;
        if (tag == TAG_STRUCT || tag == TAG_UNION)
            put_struct(l, t, nested + 1, out);
        else if (LLVMDITypeGetSizeInBits(t) == 32 && tag == 0x04) /* enum */
            str_puts(out, "i32");
        else
            put_array(l, t, nested + 1, out);
        return;
    default:
        break;
    }
    str_printf(out, "?%llu",
               (unsigned long long)LLVMDITypeGetSizeInBits(t) / 8);
}

/* "SCOPE\tNAME\tLINE\tTYPE" */
static void note_variable(lines *l, LLVMValueRef call)
{
    unsigned kind = LLVMGetMDKindIDInContext(l->c, "vpu.var", 7);
    LLVMValueRef v = LLVMGetMetadata(call, kind), type;
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(call), var;
    str text = {0};

    if (!v || !loc)
        return;
    var = LLVMValueAsMetadata(v);
    str_printf(&text, "%u\t",
               number_of(l, LLVMDIVariableGetScope(var),
                         LLVMDILocationGetInlinedAt(loc)));
    put_name(l->c, var, 1, &text);
    str_printf(&text, "\t%u\t", LLVMDIVariableGetLine(var));
    type = operand(l->c, var, 3);
    if (type)
        put_type(l, LLVMValueAsMetadata(type), 0, &text);
    set_text(l, call, &text);
    str_free(&text);
}

static void emit(lines *l, char kind, LLVMMetadataRef loc, LLVMValueRef before)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(l->c);
    LLVMValueRef lid[3], call;
    str text = {0};

    LLVMPositionBuilderBefore(l->b, before);
    LLVMSetCurrentDebugLocation2(l->b, NULL);
    for (unsigned d = 0; d < 3; d++)
        lid[d] = ir_build_call(l->b, l->m,
                               &(const ir_call){CALL_lid0 + d, i32, NULL, 0});
    call = ir_build_call(
        l->b, l->m,
        &(const ir_call){CALL_line, LLVMVoidTypeInContext(l->c), lid, 3});
    site_text(l, kind, loc, &text);
    set_text(l, call, &text);
    str_add(l->all, str_text(&text), text.n + 1);
    str_free(&text);
}

static void add_events(lines *l, LLVMBasicBlockRef block, LLVMMetadataRef *last)
{
    LLVMMetadataRef at = NULL;
    LLVMValueRef next;
    unsigned line = 0;

    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        LLVMMetadataRef loc = in_source(LLVMInstructionGetDebugLoc(i));
        call_id id = ir_call_id(i);

        next = LLVMGetNextInstruction(i);
        if (LLVMIsAPHINode(i) || LLVMIsAAllocaInst(i) || id == CALL_var ||
            id == CALL_line || !strncmp(ir_callee(i), "llvm.lifetime", 13))
            continue;
        if (loc && (LLVMDILocationGetLine(loc) != line ||
                    LLVMDILocationGetInlinedAt(loc) != at)) {
            line = LLVMDILocationGetLine(loc);
            at = LLVMDILocationGetInlinedAt(loc);
            if (!LLVMIsAReturnInst(i))
                emit(l, 'l', loc, i);
        }
        *last = loc ? loc : *last;
        if (*last && call_is_collective(id))
            emit(l, 's', *last, i);
        if (*last && LLVMIsAReturnInst(i))
            emit(l, 'e', *last, i);
    }
}

void debuginfo_add_lines(LLVMValueRef fn, arena *a, str *all)
{
    LLVMMetadataRef last = NULL;
    lines *l = arena_new(a, lines);

    l->all = all;
    l->m = LLVMGetGlobalParent(fn);
    l->c = LLVMGetModuleContext(l->m);
    l->b = LLVMCreateBuilderInContext(l->c);
    ir_each_block(block, fn)
        ir_each_inst(i, block)
            if (ir_call_id(i) == CALL_var)
                note_variable(l, i);
    ir_each_block(block, fn)
        add_events(l, block, &last);
    LLVMDisposeBuilder(l->b);
}
