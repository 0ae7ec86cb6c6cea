#include "sim/compiler/expand/names.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

/* --- a translation unit -------------------------------------------------- */

/* Prefixes of the intrinsics that reach selection, from clang's own built-ins
 * or as what they become; the first few vanish on the way. */
static const char *const intrinsics[] = {
    "llvm.dbg.",
    "llvm.lifetime.",
    "llvm.assume",
    "llvm.expect.",
    "llvm.memcpy.",
    "llvm.memmove.",
    "llvm.memset.",
    "llvm.prefetch.",
    "llvm.fabs.",
    "llvm.copysign.",
    "llvm.minnum.",
    "llvm.maxnum.",
    "llvm.floor.",
    "llvm.ceil.",
    "llvm.trunc.",
    "llvm.rint.",
    "llvm.round.",
    "llvm.roundeven.",
    "llvm.sqrt.",
    "llvm.nearbyint.",
    "llvm.abs.",
    "llvm.smin.",
    "llvm.smax.",
    "llvm.umin.",
    "llvm.umax.",
    "llvm.ctlz.",
    "llvm.cttz.",
    "llvm.ctpop.",
    "llvm.bswap.",
    "llvm.bitreverse.",
    "llvm.fshl.",
    "llvm.fshr.",
    "llvm.sadd.",
    "llvm.uadd.",
    "llvm.ssub.",
    "llvm.usub.",
    "llvm.smul.with.",
    "llvm.umul.with.",
    "llvm.vector.reduce.",
    "llvm.is.fpclass.",
    "llvm.fptosi.sat.",
    "llvm.fptoui.sat.",
    "llvm.experimental.noalias.scope.decl"};

static bool begins(const char *s, const char *prefix)
{
    return !strncmp(s, prefix, strlen(prefix));
}

static bool is_known_intrinsic(const char *name)
{
    for (size_t k = 0; k < sizeof intrinsics / sizeof *intrinsics; k++)
        if (begins(name, intrinsics[k]))
            return true;
    return false;
}

/* The prelude declares these without mangling. */
static bool is_plain(const char *symbol)
{
    static const char *const names[] = {
        "printf",
        "WaitWorkItemDmaEvents",
        "__builtin_shave_sau_sumx_f16_r",
        "__builtin_shave_sau_exp2_f16_l_r",
        "__builtin_shave_cmu_alignvec_rri_short8",
        "__builtin_shave_cmu_min_i32_rr_int"};

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(names[k], symbol))
            return true;
    return call_is_plain(call_find(symbol));
}

/* Where the source uses f first. */
static void place_of(LLVMValueRef f, unsigned *line, unsigned *col)
{
    *line = *col = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(f); u && !*line; u = LLVMGetNextUse(u))
        if (LLVMIsAInstruction(LLVMGetUser(u))) {
            *line = LLVMGetDebugLocLine(LLVMGetUser(u));
            *col = LLVMGetDebugLocColumn(LLVMGetUser(u));
        }
}

static vpu_status check_name(LLVMValueRef f, const char *path, vpu_error *err)
{
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    bool function = LLVMIsAFunction(f) != NULL;
    unsigned line, col;

    place_of(f, &line, &col);
    if (begins(name, "llvm.") &&
        (!function || !LLVMGetIntrinsicID(f) || !is_known_intrinsic(name)))
        return err_at(err, VPU_ERR_COMPILE, path, line, col,
                      "'%s' is nothing a SHAVE has", name);
    if (call_is_reserved(name) &&
        !(function && LLVMIsDeclaration(f) && is_plain(name)))
        return err_at(
            err, VPU_ERR_COMPILE, path, line, col,
            "the name '%s' is reserved: those that begin with " CALL_PREFIX
            " are the compiler's",
            name);
    return VPU_OK;
}

static vpu_status check_body(LLVMValueRef f, const char *path, vpu_error *err)
{
    ir_each_block(b, f)
        ir_each_inst(i, b) {
            if (LLVMGetInstructionOpcode(i) != LLVMCallBr &&
                !(LLVMIsACallInst(i) &&
                  LLVMIsAInlineAsm(LLVMGetCalledValue(i))))
                continue;
            return err_at(err, VPU_ERR_COMPILE, path, LLVMGetDebugLocLine(i),
                          LLVMGetDebugLocColumn(i),
                          "inline assembly: the SHAVE's is not public, and the "
                          "host's would be none");
        }
    return VPU_OK;
}

vpu_status names_check(LLVMModuleRef m, const char *path, vpu_error *err)
{
    vpu_status st = VPU_OK;
    size_t n;

    LLVMGetModuleInlineAsm(m, &n);
    if (n)
        return err_at(err, VPU_ERR_COMPILE, path, 0, 0,
                      "assembly between functions is not supported");
    if (LLVMGetFirstGlobalAlias(m) || LLVMGetFirstGlobalIFunc(m))
        return err_at(err, VPU_ERR_COMPILE, path, 0, 0,
                      "functions and variables with an alias attribute are "
                      "not supported");
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g && !st;
         g = LLVMGetNextGlobal(g))
        st = check_name(g, path, err);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f && !st;
         f = LLVMGetNextFunction(f)) {
        st = check_name(f, path, err);
        if (!st)
            st = check_body(f, path, err);
    }
    return st;
}

/* --- a call -------------------------------------------------------------- */

/* A form of builtins.def beside a call. */
typedef struct {
    LLVMValueRef call;
    const char *suffix;
    LLVMTypeRef bound; /* what F, G or T stands for */
    unsigned free;     /* lanes of N */
} matcher;

/* 'c' 's' 'i' 'l': integers of 8 to 64 bits, 'h' 'f', 'P', 'v' for void; '?'
 * for everything else. */
static char code_of(LLVMTypeRef t)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMVoidTypeKind:
        return 'v';
    case LLVMHalfTypeKind:
        return 'h';
    case LLVMFloatTypeKind:
        return 'f';
    case LLVMPointerTypeKind:
        return 'P';
    case LLVMIntegerTypeKind:
        switch (LLVMGetIntTypeWidth(t)) {
        case 8:
            return 'c';
        case 16:
            return 's';
        case 32:
            return 'i';
        case 64:
            return 'l';
        default:
            return '?';
        }
    default:
        return '?';
    }
}

static bool has_lanes(LLVMTypeRef t)
{
    unsigned n = ir_lanes(t);

    return n && (n <= 4 || n == 8 || n == 16);
}

static bool is_number(LLVMTypeRef t, const char *codes)
{
    char c = code_of(ir_element(t));

    return c != '?' && strchr(codes, c) && has_lanes(t);
}

static bool is_integer(LLVMTypeRef t, unsigned bits, unsigned lanes)
{
    return is_number(t, "csil") && ir_bits_of(ir_element(t)) == bits &&
           ir_lanes(t) == lanes;
}

/* "uchar8_sat" says char or uchar in 8 lanes. */
static bool is_named(LLVMTypeRef t, const char *name)
{
    static const struct {
        const char *name;
        char code;
    } rows[] = {{"char", 'c'}, {"short", 's'}, {"int", 'i'},
                {"long", 'l'}, {"half", 'h'},  {"float", 'f'}};

    name += *name == 'u';
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (begins(name, rows[k].name)) {
            unsigned long n = strtoul(name + strlen(rows[k].name), NULL, 10);

            return code_of(ir_element(t)) == rows[k].code &&
                   ir_lanes(t) == (n ? n : 1) && has_lanes(t);
        }
    return false;
}

/* Takes a letter off *p. */
static bool fits(matcher *m, const char **p, LLVMTypeRef t)
{
    unsigned bits = m->bound ? ir_bits_of(ir_element(m->bound)) : 0;
    unsigned lanes = m->bound ? ir_lanes(m->bound) : 0;
    char c = *(*p)++, *end;
    unsigned long n;

    switch (c) {
    case 'F':
        return t == m->bound && is_number(t, "hf");
    case 'G':
        return t == m->bound && is_number(t, "csil");
    case 'T':
        return t == m->bound && is_number(t, "csilhf");
    case 'e':
        return m->bound && t == ir_element(m->bound);
    case 'I':
        return is_integer(t, 32, lanes);
    case 'B':
        return is_integer(t, bits, lanes);
    case 'S':
        return is_integer(t, lanes == 1 ? 32 : bits, lanes);
    case 'D':
        return is_integer(t, 2 * bits, lanes);
    case 'N':
        m->free = ir_lanes(t);
        return m->bound && has_lanes(t) &&
               ir_element(t) == ir_element(m->bound);
    case 'U':
        return is_integer(t, bits, m->free);
    case 'A':
        return is_number(t, "csilhf") &&
               ir_lanes(t) == ir_lanes(LLVMTypeOf(m->call));
    case '=':
        return is_named(t, m->suffix);
    case '#':
        n = strtoul(m->suffix, NULL, 10);
        c = *(*p)++;
        return is_number(t, c == 'A' ? "csilhf" : (char[]){c, 0}) &&
               ir_lanes(t) == (n ? n : 1);
    default:
        n = strtoul(*p, &end, 10);
        *p = end;
        return code_of(ir_element(t)) == c && ir_lanes(t) == (n ? n : 1);
    }
}

/* Type k of the call: the result, then the arguments. */
static LLVMTypeRef type_at(LLVMValueRef call, unsigned k)
{
    return LLVMTypeOf(k ? LLVMGetOperand(call, k - 1) : call);
}

/* What the first F, G or T of the form stands for. */
static LLVMTypeRef find_bound(LLVMValueRef call, const char *form, size_t len)
{
    unsigned n = LLVMGetNumArgOperands(call), k = 0;

    for (size_t i = 0; i < len && k <= n; i++) {
        if (strchr("FGT", form[i]))
            return type_at(call, k);
        if (!strchr("()#.0123456789", form[i]))
            k++;
    }
    return NULL;
}

static bool is_form(LLVMValueRef call, const char *form, size_t len,
                    const char *suffix)
{
    matcher m = {
        .call = call, .suffix = suffix, .bound = find_bound(call, form, len)};
    unsigned n = LLVMGetNumArgOperands(call), k = 1;
    const char *p = form;

    if (!fits(&m, &p, LLVMTypeOf(call)) || *p++ != '(')
        return false;
    for (; k <= n && *p != ')' && *p != '.'; k++)
        if (!fits(&m, &p, type_at(call, k)))
            return false;
    return *p == '.' || (*p == ')' && k == n + 1);
}

/* A mangled letter says this much of a type. */
static bool agrees(LLVMTypeRef t, char letter, unsigned lanes)
{
    static const char codes[][2] = {
        {'c', 'c'}, {'h', 'c'}, {'a', 'c'}, {'s', 's'}, {'t', 's'}, {'i', 'i'},
        {'j', 'i'}, {'l', 'l'}, {'m', 'l'}, {'f', 'f'}, {'H', 'h'}, {'P', 'P'}};

    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
        if (codes[k][0] == letter)
            return code_of(ir_element(t)) == codes[k][1] &&
                   ir_lanes(t) == lanes;
    return false;
}

static bool is_as_mangled(LLVMValueRef call, const ir_signature *sig)
{
    char name[64] = "";

    if (sig->name_len < sizeof name)
        memcpy(name, sig->name, sig->name_len);
    if (is_plain(name) || !begins(ir_callee(call), "_Z") ||
        LLVMGetNumArgOperands(call) != sig->n_args)
        return false;
    for (unsigned k = 0; k < sig->n_args; k++)
        if (!agrees(type_at(call, k + 1), sig->args[k].letter,
                    sig->args[k].lanes))
            return false;
    return true;
}

const char *names_call_problem(LLVMValueRef call, const ir_signature *sig,
                               const char *types, const char *suffix)
{
    if (!is_plain(ir_callee(call)) && !is_as_mangled(call, sig))
        return "is declared with other types than its symbol says";
    while (*types) {
        size_t n = strcspn(types, " ");

        if (is_form(call, types, n, suffix))
            return NULL;
        types += n + (types[n] == ' ');
    }
    return "is declared with other types than the built-in's";
}
