/* The pass pipeline. `build` has its steps in their order; middle_build runs
 * them a second time, without one loop pass, where that pass made integers of
 * more than 64 bits. */
#include "sim/compiler/middle/middle.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/builtins/lacking.h"
#include "sim/compiler/check/instrument.h"
#include "sim/compiler/check/rows.h"
#include "sim/compiler/check/taint.h"
#include "sim/compiler/debug/debug.h"
#include "sim/compiler/expand/expand.h"
#include "sim/compiler/expand/names.h"
#include "sim/compiler/middle/divide.h"
#include "sim/compiler/middle/flatten.h"
#include "sim/compiler/middle/hoist.h"
#include "sim/compiler/middle/middle_priv.h"
#include "sim/compiler/middle/narrow.h"
#include "sim/compiler/middle/places.h"
#include "sim/compiler/middle/structures.h"
#include "sim/compiler/middle/vectorize.h"
#include "sim/compiler/middle/workgroup.h"
#include "sim/ir/ir.h"

enum { CC_SPIR_KERNEL = 76 }; /* LLVM's number of the calling convention */

#define PRELOAD "__dma_preload_"
#define POSTWRITE "__dma_postwrite_"

#define INSTCOMBINE "instcombine<no-verify-fixpoint>"

static const char inline_passes[] =
    "always-inline,globaldce,function(sroa,early-cse,simplifycfg)";

/* Unrolling happens where the source asks for it and nowhere else. */
static const char item_passes[] =
    "function(sroa,early-cse<memssa>," INSTCOMBINE ",simplifycfg,"
    "loop-simplify,lcssa,loop(loop-rotate),loop-mssa(licm)," INSTCOMBINE ","
    "loop(indvars,loop-deletion),"
    "loop-unroll<O2;no-partial;no-peeling;no-runtime;no-upperbound;"
    "full-unroll-max=0>,sroa,early-cse<memssa>,gvn," INSTCOMBINE ",dse,"
    "simplifycfg,adce)";

/* What addresses of copies needed, and the kernel does not. */
static const char hoisted_passes[] =
    "function(early-cse<memssa>," INSTCOMBINE ",simplifycfg,adce)";

static const char first_group_passes[] =
    "function(sroa,early-cse<memssa>,simplifycfg," INSTCOMBINE ")";

/* Behind flatten. */
static const char group_passes[] =
    "function(simplifycfg,"
    "loop-simplify,lcssa,loop(loop-rotate),loop-mssa(licm),"
    "loop(indvars,loop-deletion)," INSTCOMBINE ",gvn,dse,loop-mssa(licm),"
    "loop(loop-reduce)," INSTCOMBINE ",early-cse<memssa>,simplifycfg,adce)";

vpu_status middle_run_passes(LLVMModuleRef m, const char *passes,
                             vpu_error *err)
{
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(m, passes, NULL, o);
    vpu_status st = VPU_OK;

    LLVMDisposePassBuilderOptions(o);
    if (e) {
        char *msg = LLVMGetErrorMessage(e);

        st = err_set(err, VPU_ERR_COMPILE, "optimiser: %s", msg);
        LLVMDisposeErrorMessage(msg);
    }
    return st;
}

/* indvars computes what a loop leaves without the loop, in integers as wide as
 * the product of its counts: more than 64 bits where these have 64. */
static const char indvars[] = "indvars,";

static vpu_status run_loop_passes(LLVMModuleRef m, const char *passes,
                                  bool narrow, arena *a, vpu_error *err)
{
    const char *at = strstr(passes, indvars);

    vpu_status st;

    if (narrow && at)
        passes = arena_printf(a, "%.*s%s", (int)(at - passes), passes,
                              at + strlen(indvars));
    places_keep(m);
    st = middle_run_passes(m, passes, err);
    places_restore(m);
    if (!st)
        narrow_loads(m);
    return st;
}

/* Is there an integer that no operation of a SHAVE takes? The scalar and the
 * vectorized variant have the same loops: where one has such an integer, the
 * other has it, too, built or not. */
static bool has_wide_integers(LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        ir_each_block(b, f)
            ir_each_inst(i, b) {
                LLVMTypeRef t = ir_element(LLVMTypeOf(i));

                if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind &&
                    LLVMGetIntTypeWidth(t) > 64)
                    return true;
            }
    return false;
}

/* --- which functions ----------------------------------------------------- */

static bool is_kernel(LLVMValueRef f)
{
    return !LLVMIsDeclaration(f) &&
           LLVMGetFunctionCallConv(f) == CC_SPIR_KERNEL;
}

static bool is_companion(const char *name)
{
    return !strncmp(name, PRELOAD, strlen(PRELOAD)) ||
           !strncmp(name, POSTWRITE, strlen(POSTWRITE));
}

/* The kernels of the module without their companions. */
static const char *const *kernels_of(LLVMModuleRef m, arena *a, uint32_t *n)
{
    const char **names = NULL;
    size_t length, count = 0, cap = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f)) {
        const char *name = LLVMGetValueName2(f, &length);

        if (is_kernel(f) && !is_companion(name))
            *arena_append(a, names, count, cap) = arena_strdup(a, name);
    }
    *n = (uint32_t)count;
    return names;
}

static const char *joined(const char *const *names, uint32_t n, arena *a)
{
    str list = {.arena = a};

    for (uint32_t i = 0; i < n; i++)
        str_printf(&list, "%s%s", i ? ", " : "", names[i]);
    return str_text(&list);
}

vpu_status middle_only_kernel(LLVMModuleRef m, const char *path, arena *a,
                              const char **out, vpu_error *err)
{
    uint32_t n;
    const char *const *names = kernels_of(m, a, &n);

    *out = n == 1 ? names[0] : NULL;
    return n == 1 ? VPU_OK
                  : err_at(err, VPU_ERR_COMPILE, path, 0, 0,
                           n ? "the file has the kernels %s; name one "
                               "(--kernel)"
                             : "the file has no kernel",
                           joined(names, n, a));
}

static vpu_status no_such_kernel(LLVMModuleRef m, const char *path,
                                 const char *entry, arena *a, vpu_error *err)
{
    uint32_t n;
    const char *const *names = kernels_of(m, a, &n);

    return err_at(err, VPU_ERR_COMPILE, path, 0, 0,
                  "no kernel named '%s'; the file has: %s", entry,
                  n ? joined(names, n, a) : "no kernels");
}

void middle_mark_inline(LLVMModuleRef m, const LLVMValueRef *keep, uint32_t n)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f)) {
        bool kept = false;

        if (LLVMIsDeclaration(f))
            continue;
        for (uint32_t i = 0; i < n; i++)
            kept |= keep[i] == f;
        ir_drop_attr(f, "noinline");
        ir_drop_attr(f, "optnone");
        LLVMSetLinkage(f, kept ? LLVMExternalLinkage : LLVMInternalLinkage);
        if (!kept)
            ir_attr(f, "alwaysinline", 0);
    }
}

static void drop_convergent(LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        ir_drop_attr(f, "convergent");
}

static vpu_status check_recursion(LLVMModuleRef m, const char *path,
                                  vpu_error *err)
{
    size_t n;

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        ir_each_block(b, f)
            ir_each_inst(i, b) {
                LLVMValueRef callee =
                    LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;

                if (!callee)
                    continue;
                if (!LLVMIsAFunction(callee))
                    return err_at(err, VPU_ERR_COMPILE, path,
                                  LLVMGetDebugLocLine(i),
                                  LLVMGetDebugLocColumn(i),
                                  "call through a function pointer");
                if (!LLVMIsDeclaration(callee))
                    return err_at(err, VPU_ERR_COMPILE, path,
                                  LLVMGetDebugLocLine(i),
                                  LLVMGetDebugLocColumn(i),
                                  "recursive call of '%s' (OpenCL C has no "
                                  "recursion)",
                                  LLVMGetValueName2(callee, &n));
            }
    return VPU_OK;
}

/* --- what the source says about the kernel ------------------------------- */

/* Operand i of the function's metadata node `kind`, NULL when absent. */
static LLVMValueRef metadata_operand(LLVMValueRef f, const char *kind,
                                     unsigned i)
{
    LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));
    unsigned id = LLVMGetMDKindIDInContext(c, kind, (unsigned)strlen(kind));
    LLVMValueMetadataEntry *list;
    LLVMValueRef ops[SIM_MAX_ARGS], r = NULL;
    size_t n;

    list = LLVMGlobalCopyAllMetadata(f, &n);
    for (size_t k = 0; k < n; k++) {
        LLVMValueRef node;

        if (LLVMValueMetadataEntriesGetKind(list, (unsigned)k) != id)
            continue;
        node = LLVMMetadataAsValue(
            c, LLVMValueMetadataEntriesGetMetadata(list, (unsigned)k));
        if (LLVMGetMDNodeNumOperands(node) > SIM_MAX_ARGS)
            continue;
        LLVMGetMDNodeOperands(node, ops);
        if (i < LLVMGetMDNodeNumOperands(node))
            r = ops[i];
    }
    LLVMDisposeValueMetadataEntries(list);
    return r;
}

static const char *metadata_string(LLVMValueRef f, const char *kind, unsigned i,
                                   arena *a)
{
    LLVMValueRef v = metadata_operand(f, kind, i);
    unsigned n = 0;
    const char *s = v ? LLVMGetMDString(v, &n) : NULL;

    return s ? arena_strndup(a, s, n) : "";
}

static uint32_t type_bytes(const char *type)
{
    static const struct {
        const char *name;
        uint32_t bytes;
    } sizes[] = {{"uchar", 1}, {"char", 1}, {"ushort", 2}, {"short", 2},
                 {"uint", 4},  {"int", 4},  {"ulong", 8},  {"long", 8},
                 {"half", 2},  {"float", 4}};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = strlen(sizes[i].name);
        unsigned lanes;

        if (strncmp(type, sizes[i].name, n))
            continue;
        lanes = (unsigned)strtoul(type + n, NULL, 10);
        if (lanes == 3)
            lanes = 4;
        return sizes[i].bytes * (lanes ? lanes : 1);
    }
    return 0;
}

/* 0 where f stands in a file that path includes. */
static uint32_t line_in(LLVMValueRef f, const char *path)
{
    unsigned n = 0;
    const char *file = LLVMGetDebugLocFilename(f, &n);
    size_t all = strlen(path);

    return file && n <= all && !memcmp(path + all - n, file, n)
               ? LLVMGetDebugLocLine(f)
               : 0;
}

static vpu_status describe_args(LLVMValueRef f, const middle_job *job,
                                sim_kernel *k, vpu_error *err)
{
    LLVMTargetDataRef td = LLVMGetModuleDataLayout(LLVMGetGlobalParent(f));
    const char *path = job->path;
    arena *a = job->a;
    uint32_t at = 0;

    k->line = line_in(f, path);
    k->n_args = LLVMCountParams(f);
    if (k->n_args > SIM_MAX_ARGS)
        return err_at(err, VPU_ERR_COMPILE, path, 0, 0,
                      "kernel '%s' has %u arguments, the limit is %d", k->name,
                      k->n_args, SIM_MAX_ARGS);
    k->args = arena_array(a, sim_arg, k->n_args + 1);
    for (uint32_t i = 0; i < k->n_args; i++) {
        LLVMValueRef p = LLVMGetParam(f, i);
        LLVMTypeRef t = LLVMTypeOf(p);
        sim_arg *g = &k->args[i];
        uint32_t align;

        g->name = metadata_string(f, "kernel_arg_name", i, a);
        g->type = metadata_string(f, "kernel_arg_type", i, a);
        g->bytes = (uint32_t)LLVMStoreSizeOfType(td, t);
        g->is_signed = g->type[0] != 'u';
        if (LLVMGetTypeKind(t) == LLVMPointerTypeKind) {
            unsigned as = LLVMGetPointerAddressSpace(t);

            g->object_bytes = structures_bytes(f, i);
            if (as == AS_PRIVATE && !job->mode.structures)
                return err_at(err, VPU_ERR_COMPILE, path, 0, 0,
                              "argument '%s' of kernel '%s' is a structure by "
                              "value; a custom layer's binding can give "
                              "buffers, ints and floats only",
                              g->name, k->name);
            g->space = as == AS_GLOBAL  ? SIM_ARG_GLOBAL
                       : as == AS_LOCAL ? SIM_ARG_LOCAL
                                        : SIM_ARG_CONSTANT;
            g->element_bytes = type_bytes(g->type);
            g->is_const =
                strstr(metadata_string(f, "kernel_arg_type_qual", i, a),
                       "const") != NULL;
        } else {
            LLVMTypeKind kind = LLVMGetTypeKind(ir_element(t));

            g->is_float = kind == LLVMHalfTypeKind || kind == LLVMFloatTypeKind;
        }
        align = g->bytes > 8   ? 16
                : g->bytes > 4 ? 8
                : g->bytes > 2 ? 4
                               : g->bytes;
        align = align ? align : 1;
        at = (at + align - 1) / align * align;
        g->offset = at;
        at += g->bytes;
    }
    k->args_bytes = (at + 15) & ~15u;
    for (unsigned d = 0; d < 3; d++) {
        LLVMValueRef v = metadata_operand(f, "reqd_work_group_size", d);

        if (v && LLVMIsAConstantInt(v))
            k->reqd_local[d] = (uint32_t)LLVMConstIntGetZExtValue(v);
    }
    return VPU_OK;
}

/* "float4" of a value's type; is_signed is looked at for integers. */
static void put_type(str *s, LLVMTypeRef t, bool is_signed)
{
    LLVMTypeRef e = ir_element(t);
    unsigned lanes =
        LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;
    unsigned bits =
        LLVMGetTypeKind(e) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(e) : 0;
    const char *name = LLVMGetTypeKind(e) == LLVMHalfTypeKind ? "half"
                       : bits == 8                            ? "char"
                       : bits == 16                           ? "short"
                       : bits == 32                           ? "int"
                       : bits == 64                           ? "long"
                                                              : "float";

    str_printf(s, "%s%s", bits && !is_signed ? "u" : "", name);
    if (lanes > 1)
        str_printf(s, "%u", lanes);
}

static const char *attributes_of(LLVMValueRef f, arena *a)
{
    static const char *const sizes[] = {"reqd_work_group_size",
                                        "work_group_size_hint"};
    LLVMValueRef v, is_signed;
    str s = {.arena = a};

    for (int k = 0; k < 2; k++)
        for (unsigned d = 0;
             d < 3 && (v = metadata_operand(f, sizes[k], d)) != NULL; d++) {
            if (!d)
                str_printf(&s, "%s%s(", s.n ? " " : "", sizes[k]);
            str_printf(&s, "%llu%s", LLVMConstIntGetZExtValue(v),
                       d == 2 ? ")" : ",");
        }
    v = metadata_operand(f, "vec_type_hint", 0);
    is_signed = metadata_operand(f, "vec_type_hint", 1);
    if (v) {
        str_printf(&s, "%svec_type_hint(", s.n ? " " : "");
        put_type(&s, LLVMTypeOf(v),
                 is_signed && LLVMConstIntGetZExtValue(is_signed));
        str_puts(&s, ")");
    }
    return str_text(&s);
}

static sim_signature signature_of(LLVMValueRef f, const char *name, arena *a)
{
    uint32_t n = LLVMCountParams(f);
    const char **qualifiers = arena_array(a, const char *, n + 1);

    for (uint32_t i = 0; i < n; i++)
        qualifiers[i] = metadata_string(f, "kernel_arg_type_qual", i, a);
    return (sim_signature){.name = name,
                           .attributes = attributes_of(f, a),
                           .qualifiers = qualifiers,
                           .n_args = n};
}

static const sim_signature *signatures_of(LLVMModuleRef m, arena *a,
                                          uint32_t *n)
{
    const char *const *names = kernels_of(m, a, n);
    sim_signature *out = arena_array(a, sim_signature, *n + 1);

    for (uint32_t i = 0; i < *n; i++)
        out[i] = signature_of(LLVMGetNamedFunction(m, names[i]), names[i], a);
    return out;
}

vpu_status middle_kernels(const middle_bitcode *b, arena *a,
                          const sim_signature **out, uint32_t *n,
                          vpu_error *err)
{
    LLVMModuleRef m = NULL;
    vpu_status st = ir_begin(err);
    LLVMContextRef c;

    if (st)
        return st;
    c = LLVMContextCreate();
    st = ir_parse(c, b->bytes, b->n, b->name, &m, err);
    if (!st) {
        *out = signatures_of(m, a, n);
        LLVMDisposeModule(m);
    }
    LLVMContextDispose(c);
    return st;
}

/* "in: __read_only image2d_t -> __global const half *in, with in_width …". */
static void put_buffer_form(str *s, const char *name, const char *type,
                            const char *access)
{
    if (!strcmp(type, "sampler_t")) {
        str_printf(s, "%s: sampler_t -> const int %s", name, name);
        return;
    }
    str_printf(s, "%s: __%s %s -> __global %shalf *%s, with %s_width", name,
               access, type, strcmp(access, "read_only") ? "" : "const ", name,
               name);
    if (strstr(type, "array") || strstr(type, "3d"))
        str_printf(s, ", %s_height and %s_depth", name, name);
    else
        str_printf(s, " and %s_height", name);
}

/* All images and samplers among the arguments, and what may stand for each. */
static vpu_status refuse_images(LLVMValueRef f, const char *path, arena *a,
                                vpu_error *err)
{
    const lacking_row *images = lacking_find("image2d_t");
    const lacking_row *samplers = lacking_find("sampler_t");
    size_t n_name;
    str s = {0};
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < LLVMCountParams(f); i++) {
        const char *type = metadata_string(f, "kernel_arg_type", i, a);
        const lacking_row *row = lacking_find(type);

        if (!row || (row != images && row != samplers))
            continue;
        str_puts(&s, s.n ? "; " : "");
        put_buffer_form(&s, metadata_string(f, "kernel_arg_name", i, a), type,
                        metadata_string(f, "kernel_arg_access_qual", i, a));
    }
    if (s.n)
        st = err_at(
            err, VPU_ERR_COMPILE, path, line_in(f, path), 0,
            "kernel '%s' takes images; a VPU has no images (%s). As "
            "buffers: %s. <vpusim/images.h> reads and writes such "
            "buffers as images (docs/bindings.md, \"Images in buffers\")",
            LLVMGetValueName2(f, &n_name), images->why, str_text(&s));
    str_free(&s);
    return st;
}

static void find_atomics(LLVMValueRef f, sim_kernel *k)
{
    ir_each_block(b, f)
        ir_each_inst(i, b)
            if ((LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) &&
                LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 0))) ==
                    AS_GLOBAL)
                k->global_atomics = true;
}

/* --- the steps ----------------------------------------------------------- */

static vpu_status pick(LLVMModuleRef m, const char *path, const char *entry,
                       arena *a, LLVMValueRef *fns, vpu_error *err)
{
    static const struct {
        const char *prefix;
        sim_variant_kind kind;
    } companions[] = {{PRELOAD, SIM_PRELOAD}, {POSTWRITE, SIM_POSTWRITE}};
    LLVMValueRef f = LLVMGetNamedFunction(m, entry);

    if (!f || !is_kernel(f))
        return no_such_kernel(m, path, entry, a, err);
    fns[SIM_SCALAR] = f;
    for (int i = 0; i < 2; i++) {
        LLVMValueRef g = LLVMGetNamedFunction(
            m, arena_printf(a, "%s%s", companions[i].prefix, entry));

        if (!g || !is_kernel(g))
            continue;
        if (LLVMGlobalGetValueType(g) != LLVMGlobalGetValueType(f))
            return err_at(err, VPU_ERR_COMPILE, path, 0, 0,
                          "%s%s does not have the arguments of '%s'",
                          companions[i].prefix, entry, entry);
        fns[companions[i].kind] = g;
    }
    return VPU_OK;
}

static bool source_has_vectors(LLVMModuleRef m, unsigned *line)
{
    size_t n;

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        if (!is_companion(LLVMGetValueName2(f, &n)) &&
            vectorize_source_has_vectors(f, line))
            return true;
    return false;
}

static const char *explain(arena *a, const char *path, unsigned line,
                           unsigned col, const char *why)
{
    if (line && col)
        return arena_printf(a, "%s:%u:%u: %s", path, line, col, why);
    if (line)
        return arena_printf(a, "%s:%u: %s", path, line, why);
    return arena_printf(a, "%s", why);
}

static void try_vectorize(LLVMValueRef f, const char *path, arena *a,
                          LLVMValueRef *out, unsigned *factor, sim_kernel *k)
{
    vectorize_result v;

    vectorize(f, a, &v);
    *factor = v.factor;
    *out = v.factor ? v.fn : NULL;
    if (!v.factor)
        k->not_vectorized = explain(a, path, v.line, v.col, v.reason);
}

/* The groups of the variants that run. All are known before the first is made:
 * which one runs depends on which there are. */
static void build_groups(LLVMValueRef *fns, const unsigned *factors,
                         bool observed, const middle_job *job, middle_unit *out)
{
    sim_kernel *k = job->kernel;

    for (int v = 0; v < SIM_N_VARIANTS; v++) {
        k->variants[v].present = fns[v] != NULL;
        k->variants[v].factor = fns[v] ? factors[v] : 0;
    }
    for (int v = 0; v < SIM_N_VARIANTS; v++) {
        workgroup g;

        if (!sim_runs_variant(k, (sim_variant_kind)v, job->local))
            continue;
        workgroup_build(fns[v], factors[v], observed, sim_variant_name(v),
                        job->a, &g);
        out->variants[v].fn = g.fn;
        out->variants[v].item_bytes = g.item_bytes;
    }
    for (int v = 0; v < SIM_N_VARIANTS; v++)
        if (fns[v])
            LLVMDeleteFunction(fns[v]);
}

/* "Do not unroll" says nothing new: nothing is unrolled uninvited. What LLVM
 * marks so from here on it has unrolled, and sim/shave pipelines those. */
static void forget_rolled(LLVMModuleRef m)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    unsigned kind = LLVMGetMDKindIDInContext(c, "llvm.loop", 9);

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        ir_each_block(b, f) {
            LLVMValueRef t = LLVMGetBasicBlockTerminator(b);

            if (t && ir_unroll_disabled(t))
                LLVMSetMetadata(t, kind, NULL);
        }
}

static vpu_status check_module(LLVMModuleRef m, const char *when,
                               vpu_error *err)
{
    char *msg = NULL;
    vpu_status st = VPU_OK;

    if (LLVMVerifyModule(m, LLVMReturnStatusAction, &msg))
        st = err_set(err, VPU_ERR_INTERNAL, "after %s: %.2000s", when, msg);
    LLVMDisposeMessage(msg);
    return st;
}

/* VPU_DUMP=PASS,… prints the module after that step, for people who work on
 * the compiler. */
static void dump(LLVMModuleRef m, const char *after)
{
    const char *want = getenv("VPU_DUMP");

    if (want && strstr(want, after)) {
        char *text = LLVMPrintModuleToString(m);

        fprintf(stderr, "; --- after %s\n%s\n", after, text);
        LLVMDisposeMessage(text);
    }
}

/* A module on its way to work-group functions. */
typedef struct {
    LLVMModuleRef m;
    const middle_job *job;
    bool narrow;
    arena *a;
    LLVMValueRef fns[SIM_N_VARIANTS]; /* NULL: no such variant */
    middle_unit *out;
    sim_kernel *k;
} building;

/* For a debugger: nothing but what makes host code possible. The scalar
 * promotion concerns what the source does not name: its variables have escaped
 * into calls. */
static vpu_status build_debug(building *u, vpu_error *err)
{
    const sim_debug *debug = u->job->mode.debug;
    LLVMValueRef *fns = u->fns;
    LLVMModuleRef m = u->m;
    static const unsigned factors[SIM_N_VARIANTS] = {1, 1, 1, 1};
    LLVMMetadataRef subprograms[SIM_N_VARIANTS] = {NULL};
    vpu_status st;

    debuginfo_mark_variables(m);
    st = middle_run_passes(m, "function(sroa)", err);
    if (!st)
        st = expand_builtins(m, u->job->path, err);
    if (!st)
        st = middle_run_passes(m, "function(sroa)", err);
    if (st)
        return st;
    find_atomics(fns[SIM_SCALAR], u->k);
    u->k->not_vectorized = "code for a debugger is not";
    for (int v = 0; v < SIM_N_VARIANTS; v++)
        if (fns[v]) {
            debuginfo_add_ids(fns[v], v == SIM_SCALAR && debug->stop ? debug->at
                                                                     : NULL);
            if (debug->lines)
                debuginfo_add_lines(fns[v], u->a, u->job->mode.lines);
            subprograms[v] = LLVMGetSubprogram(fns[v]);
        }
    dump(m, "items");
    build_groups(fns, factors, false, u->job, u->out);
    for (int v = 0; v < SIM_N_VARIANTS; v++)
        if (subprograms[v])
            LLVMSetSubprogram(u->out->variants[v].fn, subprograms[v]);
    dump(m, "groups");
    return check_module(m, "building work-groups", err);
}

/* For checking: what the source does is marked before anything is optimised, so
 * that all of it is still there to be told of. */
static vpu_status build_checked(building *u, vpu_error *err)
{
    static const unsigned factors[SIM_N_VARIANTS] = {1, 1, 1, 1};
    const middle_mode *mode = &u->job->mode;
    LLVMValueRef *fns = u->fns;
    LLVMModuleRef m = u->m;
    instrument *x = instrument_begin(m, u->job->path, u->k, mode->checking,
                                     mode->sites_arena, mode->sites);
    vpu_status st;

    for (int v = 0; v < SIM_N_VARIANTS; v++)
        if (fns[v]) {
            instrument_alignment(x, fns[v]);
            instrument_variables(x, fns[v], (sim_variant_kind)v);
        }
    st = middle_run_passes(m, "function(sroa)", err);
    if (!st)
        st = expand_builtins(m, u->job->path, err);
    if (!st)
        st = middle_run_passes(m, "function(sroa)", err);
    for (int v = 0; v < SIM_N_VARIANTS && !st; v++)
        if (fns[v])
            instrument_accesses(x, fns[v], (sim_variant_kind)v);
    if (!st)
        instrument_elements(x);
    for (int v = 0; v < SIM_N_VARIANTS && !st; v++)
        if (fns[v]) {
            instrument_intervals(x, fns[v]);
            if (mode->checking->taint)
                taint_follow(x, fns[v], (sim_variant_kind)v);
        }
    instrument_end(x);
    if (st)
        return st;
    dump(m, "instrument");
    forget_rolled(m);
    st = run_loop_passes(m, item_passes, u->narrow, u->a, err);
    if (st)
        return st;
    find_atomics(fns[SIM_SCALAR], u->k);
    u->k->not_vectorized = "code for checking is not";
    dump(m, "items");
    build_groups(fns, factors, true, u->job, u->out);
    dump(m, "groups");
    st = check_module(m, "building work-groups", err);
    if (!st)
        st = middle_run_passes(m, first_group_passes, err);
    for (int v = 0; v < SIM_N_VARIANTS && !st; v++)
        if (fns[v] && !mode->checking->taint && !mode->checking->barriers)
            rows_find(u->out->variants[v].fn, mode->sites, u->a);
    if (!st)
        st = check_module(m, "telling of rows", err);
    dump(m, "device");
    return st;
}

static vpu_status hoist_copies(building *u, vpu_error *err)
{
    hoist_result h;

    hoist(u->fns, u->a, u->k, &h);
    u->out->twice = h.arrays;
    u->out->n_twice = h.n_arrays;
    return u->k->hoisted ? middle_run_passes(u->m, hoisted_passes, err)
                         : VPU_OK;
}

static vpu_status build(building *u, vpu_error *err)
{
    const char *path = u->job->path;
    LLVMModuleRef m = u->m;
    LLVMValueRef *fns = u->fns;
    unsigned factors[SIM_N_VARIANTS] = {1, 1, 1, 1}, line = 0;
    bool vectors;
    vpu_status st;

    st = check_module(m, "the front end", err);
    if (!st)
        st = names_check(m, path, err);
    if (!st)
        st = pick(m, path, u->job->entry, u->a, fns, err);
    if (!st)
        st = refuse_images(fns[SIM_SCALAR], path, u->a, err);
    if (!st)
        st = describe_args(fns[SIM_SCALAR], u->job, u->k, err);
    if (st)
        return st;
    for (int v = 0; v < SIM_N_VARIANTS; v++)
        if (fns[v])
            fns[v] = structures_to_memory(fns[v], u->a);
    drop_convergent(m);
    middle_mark_inline(m, fns, SIM_N_VARIANTS);
    /* __builtin_expect is about branches that no SHAVE predicts. */
    st = middle_run_passes(m, "function(lower-expect),always-inline,globaldce",
                           err);
    if (!st)
        st = check_recursion(m, path, err);
    if (st)
        return st;
    if (u->job->mode.debug)
        return build_debug(u, err);
    if (u->job->mode.checking)
        return build_checked(u, err);
    vectors = source_has_vectors(m, &line);
    st = middle_run_passes(m, inline_passes, err);
    if (!st)
        st = expand_builtins(m, u->job->path, err);
    forget_rolled(m);
    if (!st)
        st = run_loop_passes(m, item_passes, u->narrow, u->a, err);
    if (!st)
        st = hoist_copies(u, err);
    if (st)
        return st;
    dump(m, "items");
    find_atomics(fns[SIM_SCALAR], u->k);
    if (vectors)
        u->k->not_vectorized =
            explain(u->a, path, line, 0, "the source uses vector types");
    else
        try_vectorize(fns[SIM_SCALAR], path, u->a, &fns[SIM_VECTORIZED],
                      &factors[SIM_VECTORIZED], u->k);
    build_groups(fns, factors, false, u->job, u->out);
    dump(m, "groups");
    st = check_module(m, "building work-groups", err);
    divisions_hide(m);
    if (!st)
        st = middle_run_passes(m, first_group_passes, err);
    if (!st)
        flatten(m);
    if (!st)
        st = run_loop_passes(m, group_passes, u->narrow, u->a, err);
    divisions_show(m);
    dump(m, "device");
    return st;
}

/* Takes m over. narrow: loops leave what they leave. */
static vpu_status try_build(LLVMModuleRef m, const middle_job *job, bool narrow,
                            middle_unit *out, vpu_error *err)
{
    building u = {
        .m = m, .job = job, .narrow = narrow, .a = job->a, .out = out};
    vpu_status st;

    u.k = job->kernel;
    *out = (middle_unit){.module = m};
    st = build(&u, err);
    if (st) {
        LLVMDisposeModule(m);
        out->module = NULL;
    }
    return st;
}

vpu_status middle_build(LLVMModuleRef m, const middle_job *job,
                        middle_unit *out, vpu_error *err)
{
    LLVMModuleRef copy = LLVMCloneModule(m);
    vpu_status st = try_build(m, job, false, out, err);

    if (!st && has_wide_integers(m)) {
        LLVMDisposeModule(m);
        return try_build(copy, job, true, out, err);
    }
    LLVMDisposeModule(copy);
    return st;
}
