/* Expands calls of OpenCL built-ins, row by row of sim/builtins/builtins.def.
 *
 * An expander gets the call's operands and leaves a replacement value (NULL for
 * functions without one). Everything element-wise works on scalars and vectors
 * alike because LLVM's instructions do; routines are called lane by lane, as
 * the SHAVE's scalar unit would (docs/hardware.md, "SHAVE units"). */
#include "sim/compiler/expand/expand_priv.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/builtins/lacking.h"
#include "sim/compiler/expand/names.h"
#include "sim/ir/ir.h"

LLVMValueRef xp_arg(xp *x, unsigned i)
{
    return LLVMGetOperand(x->call, i);
}

LLVMTypeRef xp_result(xp *x)
{
    return LLVMTypeOf(x->call);
}

LLVMValueRef xp_k32(xp *x, uint32_t v)
{
    return LLVMConstInt(x->i32, v, false);
}

bool xp_is_float(LLVMTypeRef t)
{
    LLVMTypeKind k = LLVMGetTypeKind(ir_element(t));

    return k == LLVMHalfTypeKind || k == LLVMFloatTypeKind;
}

bool xp_is_signed(xp *x, unsigned i)
{
    return i < x->sig.n_args && strchr("csilx", x->sig.args[i].letter);
}

LLVMValueRef xp_splat(xp *x, LLVMValueRef v, LLVMTypeRef like)
{
    unsigned n = ir_lanes(like);
    LLVMValueRef one, idx[16], r;

    if (n == 1 || ir_lanes(LLVMTypeOf(v)) == n)
        return v;
    for (unsigned i = 0; i < n; i++)
        idx[i] = xp_k32(x, 0);
    r = LLVMGetUndef(LLVMVectorType(LLVMTypeOf(v), n));
    one = LLVMBuildInsertElement(x->builder, r, v, xp_k32(x, 0), "");
    return LLVMBuildShuffleVector(x->builder, one, r, LLVMConstVector(idx, n),
                                  "");
}

/* Argument i, spread to the result's lanes: fmax(float4, float). */
LLVMValueRef xp_wide(xp *x, unsigned i)
{
    return xp_splat(x, xp_arg(x, i), xp_result(x));
}

LLVMValueRef xp_real(xp *x, LLVMTypeRef like, double v)
{
    return xp_splat(x, LLVMConstReal(ir_element(like), v), like);
}

LLVMValueRef xp_int(xp *x, LLVMTypeRef like, uint64_t v)
{
    return xp_splat(x, LLVMConstInt(ir_element(like), v, false), like);
}

LLVMValueRef xp_intrinsic(xp *x, const char *name, LLVMTypeRef *over,
                          unsigned n_over, LLVMValueRef *args, unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(x->module, id, over, n_over);
    LLVMTypeRef t = LLVMIntrinsicGetType(x->context, id, over, n_over);

    return LLVMBuildCall2(x->builder, t, f, args, n, "");
}

LLVMValueRef xp_runtime(xp *x, call_id id, LLVMTypeRef ret, LLVMValueRef *args,
                        unsigned n)
{
    return ir_build_call(x->builder, x->module,
                         &(const ir_call){id, ret, args, n});
}

/* --- work-item functions ------------------------------------------------- */

static LLVMValueRef id_of(xp *x, call_id first, unsigned d)
{
    return xp_runtime(x, first + d, x->i32, NULL, 0);
}

static LLVMValueRef id_in(xp *x, const char *what, unsigned d)
{
    LLVMValueRef v;

    if (!strcmp(what, "global_id")) {
        v = LLVMBuildMul(x->builder, id_of(x, CALL_grp0, d),
                         id_of(x, CALL_lsz0, d), "");
        v = LLVMBuildAdd(x->builder, v, id_of(x, CALL_off0, d), "");
        return LLVMBuildAdd(x->builder, v, id_of(x, CALL_lid0, d), "");
    }
    if (!strcmp(what, "global_size"))
        return LLVMBuildMul(x->builder, id_of(x, CALL_ngrp0, d),
                            id_of(x, CALL_lsz0, d), "");
    return id_of(x, call_of_id(what, 0), d);
}

LLVMValueRef x_id(xp *x)
{
    LLVMValueRef dim = xp_arg(x, 0), v;

    v = xp_k32(x, !strcmp(x->data, "global_size") || call_id_beyond(x->data));
    if (LLVMIsAConstantInt(dim)) {
        uint64_t d = LLVMConstIntGetZExtValue(dim);

        return d < 3 ? id_in(x, x->data, (unsigned)d) : v;
    }
    for (unsigned d = 0; d < 3; d++)
        v = LLVMBuildSelect(
            x->builder,
            LLVMBuildICmp(x->builder, LLVMIntEQ, dim, xp_k32(x, d), ""),
            id_in(x, x->data, d), v, "");
    return v;
}

LLVMValueRef x_work_dim(xp *x)
{
    return id_of(x, CALL_dims0, 0);
}

/* --- the tables ---------------------------------------------------------- */

static const struct {
    const char *name;
    xp_expander *fn;
    const char *data, *types;
    bool family;
} rows[] = {
#define BUILTIN(name, fn, data, types) {#name, x_##fn, data, types, false},
#define FAMILY(name, fn, types) {#name, x_##fn, "", types, true},
#include "sim/builtins/builtins.def"
};

static xp_expander *find(xp *x)
{
    xp_expander *best = NULL;
    size_t best_n = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].name);

        if (rows[i].family ? strncmp(x->name, rows[i].name, n) || n < best_n
                           : strcmp(x->name, rows[i].name))
            continue;
        best = rows[i].fn;
        best_n = n;
        x->data = rows[i].data;
        x->types = rows[i].types;
        x->suffix = x->name + n;
        if (!rows[i].family)
            break;
    }
    return best;
}

static bool is_ours(const char *symbol)
{
    return !strncmp(symbol, "llvm.", 5) ||
           (call_is_reserved(symbol) && !call_is_plain(call_find(symbol)));
}

/* Longs where the built-in's 32 bits should be. */
static bool is_long_atomic(const xp *x)
{
    return !strncmp(x->name, "atom", 4) && x->sig.n_args > 1 &&
           (x->sig.args[1].letter == 'l' || x->sig.args[1].letter == 'm');
}

/* Why the call cannot be expanded; for what a VPU lacks, what to do instead. */
static vpu_status refuse(const xp *x, const char *path, vpu_error *err)
{
    const lacking_row *row =
        lacking_find(is_long_atomic(x) ? "atomic_long" : x->name);
    str why = {0};
    vpu_status st;

    if (x->problem)
        str_printf(&why, "'%s': %s", x->name, x->problem);
    else
        str_printf(&why,
                   "function '%s' is neither defined nor a supported built-in",
                   x->name);
    if (row)
        str_printf(&why, "; " LACKING_FORMAT, row->name, row->why,
                   row->instead);
    st = err_at(err, VPU_ERR_COMPILE, path, LLVMGetDebugLocLine(x->call),
                LLVMGetDebugLocColumn(x->call), "%s", str_text(&why));
    str_free(&why);
    return st;
}

static vpu_status expand_call(xp *x, const char *path, vpu_error *err)
{
    const char *symbol = ir_callee(x->call);
    xp_expander *fn;
    LLVMValueRef r;

    ir_demangle(symbol, &x->sig);
    snprintf(x->name, sizeof x->name, "%.*s", (int)x->sig.name_len,
             x->sig.name);
    x->n_args = LLVMGetNumArgOperands(x->call);
    x->problem = NULL;
    fn = find(x);
    if (!fn)
        return refuse(x, path, err);
    LLVMPositionBuilderBefore(x->builder, x->call);
    LLVMSetCurrentDebugLocation2(x->builder,
                                 LLVMInstructionGetDebugLoc(x->call));
    x->problem = names_call_problem(x->call, &x->sig, x->types, x->suffix);
    r = x->problem ? NULL : fn(x);
    if (!x->problem && LLVMGetFirstUse(x->call) &&
        (!r || LLVMTypeOf(r) != LLVMTypeOf(x->call)))
        x->problem = "gives a result of another type than it is declared with";
    if (x->problem)
        return refuse(x, path, err);
    if (r && LLVMGetFirstUse(x->call))
        LLVMReplaceAllUsesWith(x->call, r);
    LLVMInstructionEraseFromParent(x->call);
    return VPU_OK;
}

vpu_status expand_builtins(LLVMModuleRef m, const char *path, vpu_error *err)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    xp x = {.module = m, .context = c, .i32 = LLVMInt32TypeInContext(c)};
    vpu_status st = VPU_OK;

    x.builder = LLVMCreateBuilderInContext(c);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f && !st;
         f = LLVMGetNextFunction(f))
        ir_each_block(b, f) {
            LLVMValueRef next;

            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !st;
                 i = next) {
                LLVMValueRef callee;
                size_t n;

                next = LLVMGetNextInstruction(i);
                if (!LLVMIsACallInst(i))
                    continue;
                callee = LLVMGetCalledValue(i);
                if (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee) ||
                    is_ours(LLVMGetValueName2(callee, &n)))
                    continue;
                x.call = i;
                st = expand_call(&x, path, err);
            }
            if (st)
                break;
        }
    LLVMDisposeBuilder(x.builder);
    return st;
}
