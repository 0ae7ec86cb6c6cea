/* Builds and reads the compiled form of a kernel. */
#include "sim/compiler/artifact.h"

#include <jansson.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "sim/base/file.h"
#include "sim/compiler/debug.h"
#include "sim/compiler/hostcode.h"
#include "sim/ir/ir.h"
#include "sim/shave/shave.h"
#include "sim/compiler/middle.h"
#include "sim/compiler/neo.h"
#include "sim/compiler/object.h"
#include "sim/compiler/sizes.h"

/* The second half is for loops over work-items between barriers: which barrier
 * all items must reach, what does not depend on the item and what split_items.h
 * decides by pieces, is decided outside the loop; cycles become one addition to
 * wait for, or a multiplication where nothing else is left. */
static const char host_passes[] =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-simplify,lcssa,loop-mssa(licm),gvn,"
    "instcombine<no-verify-fixpoint>,loop(indvars),loop-unroll<O2;no-runtime>,"
    "instcombine<no-verify-fixpoint>,simplifycfg,adce,"
    "loop-simplify,lcssa,loop-mssa(licm,simple-loop-unswitch<nontrivial>),"
    "instcombine<no-verify-fixpoint>,jump-threading,simplifycfg,"
    "instcombine<no-verify-fixpoint>,loop-unroll<O2;no-runtime>,simplifycfg,"
    "instcombine<no-verify-fixpoint>,reassociate,loop-simplify,lcssa,"
    "loop-mssa(licm),instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop(indvars,loop-deletion),adce)";

void artifact_symbol(sim_variant_kind k, char out[32])
{
    snprintf(out, 32, "vpu_%s", sim_variant_name(k));
}

void artifact_hash(const void *data, size_t n, char out[33])
{
    XXH128_hash_t h = XXH3_128bits(data, n);

    snprintf(out, 33, "%016llx%016llx", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

static void init_llvm(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

const char *artifact_host_cpu(arena *a)
{
    char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    const char *r = arena_printf(a, "%s %s", cpu, features);

    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return r;
}

/* --- layout of program-scope data
 * ------------------------------------------------- */

typedef struct {
    uint8_t *out;
    LLVMTargetDataRef td;
    bool failed;
} flattener;

static void flatten(flattener *f, LLVMValueRef v, uint64_t at)
{
    LLVMTypeRef t = LLVMTypeOf(v);

    if (LLVMIsNull(v) || LLVMIsUndef(v))
        return; /* zero-filled */
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind: {
        uint64_t x = LLVMConstIntGetZExtValue(v);

        memcpy(f->out + at, &x, LLVMStoreSizeOfType(f->td, t));
        return;
    }
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind: {
        LLVMBool lost;
        double d = LLVMConstRealGetDouble(v, &lost);

        if (LLVMGetTypeKind(t) == LLVMFloatTypeKind) {
            float x = (float)d;

            memcpy(f->out + at, &x, 4);
        } else {
            __extension__ _Float16 x = (_Float16)d;

            memcpy(f->out + at, &x, 2);
        }
        return;
    }
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind: {
        bool array = LLVMGetTypeKind(t) == LLVMArrayTypeKind;
        uint64_t n = array ? LLVMGetArrayLength2(t) : LLVMGetVectorSize(t);
        uint64_t step = LLVMABISizeOfType(f->td, LLVMGetElementType(t));

        for (uint64_t i = 0; i < n; i++)
            flatten(f, LLVMGetAggregateElement(v, (unsigned)i), at + i * step);
        return;
    }
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(t); i++)
            flatten(f, LLVMGetAggregateElement(v, i),
                    at + LLVMOffsetOfElement(f->td, t, i));
        return;
    default:
        f->failed = true;
    }
}

/* "K.tile" is what clang calls array tile of kernel K. */
static const char *plain_name(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && dot[1] ? dot + 1 : name;
}

static vpu_status place_globals(LLVMModuleRef m, const char *path, arena *a,
                                sim_kernel *k, shave_layout *layout,
                                vpu_error *err)
{
    LLVMTargetDataRef td = LLVMGetModuleDataLayout(m);
    size_t n = 0, cap = 0, nl = 0, cl = 0, len;
    shave_global *globals = NULL;
    flattener f = {.td = td};
    uint64_t local = 0, constant = 0;

    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g)) {
        LLVMTypeRef t = LLVMGlobalGetValueType(g);
        uint64_t bytes = LLVMABISizeOfType(td, t), *at;
        unsigned as = LLVMGetPointerAddressSpace(LLVMTypeOf(g));
        const char *name = LLVMGetValueName2(g, &len);

        if (as != AS_LOCAL && as != AS_CONSTANT)
            return err_at(err, VPU_ERR_UNSUPPORTED, path, 0, 0,
                          "program-scope variable '%s' is neither __constant "
                          "nor __local",
                          name);
        at = as == AS_LOCAL ? &local : &constant;
        *at = (*at + 15) & ~UINT64_C(15);
        if (sizes_check_global(plain_name(name), as == AS_LOCAL, bytes,
                               *at + bytes, err))
            return VPU_ERR_LIMIT;
        *arena_append(a, globals, n, cap) =
            (shave_global){g, (uint32_t)*at, (uint32_t)bytes};
        if (as == AS_LOCAL)
            *arena_append(a, k->locals, nl, cl) =
                (sim_local_array){arena_strdup(a, plain_name(name)),
                                  (uint32_t)*at, (uint32_t)bytes};
        *at += bytes;
    }
    k->n_locals = (uint32_t)nl;
    k->local_bytes = (uint32_t)((local + 15) & ~UINT64_C(15));
    k->const_bytes = (uint32_t)constant;
    f.out = arena_push(a, constant + 8, 1, 16);
    for (size_t i = 0; i < n; i++)
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(globals[i].global)) ==
                AS_CONSTANT &&
            LLVMGetInitializer(globals[i].global))
            flatten(&f, LLVMGetInitializer(globals[i].global),
                    globals[i].offset);
    if (f.failed)
        return err_at(err, VPU_ERR_UNSUPPORTED, path, 0, 0,
                      "a __constant initializer holds an address");
    k->const_data = f.out;
    layout->globals = globals;
    layout->n_globals = (uint32_t)n;
    return VPU_OK;
}

/* --- the parts
 * -------------------------------------------------------------------- */

static vpu_status make_host_object(LLVMModuleRef m, bool debug, arena *a,
                                   uint8_t **out, size_t *n, vpu_error *err)
{
    char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName();
    char *features = LLVMGetHostCPUFeatures(), *msg = NULL;
    LLVMTargetRef target;
    LLVMTargetMachineRef tm = NULL;
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    LLVMMemoryBufferRef buf = NULL;
    LLVMErrorRef e;
    vpu_status st = VPU_OK;

    if (LLVMGetTargetFromTriple(triple, &target, &msg)) {
        st = err_set(err, VPU_ERR_UNSUPPORTED, "%s", msg);
        goto out;
    }
    tm = LLVMCreateTargetMachine(target, triple, cpu, features,
                                 debug ? LLVMCodeGenLevelNone
                                       : LLVMCodeGenLevelDefault,
                                 LLVMRelocPIC, LLVMCodeModelJITDefault);
    LLVMSetTarget(m, triple);
    {
        LLVMTargetDataRef td = LLVMCreateTargetDataLayout(tm);

        LLVMSetModuleDataLayout(m, td);
        LLVMDisposeTargetData(td);
    }
    e = LLVMRunPasses(m, debug ? "verify" : host_passes, tm, o);
    if (e) {
        char *text = LLVMGetErrorMessage(e);

        st = err_set(err, VPU_ERR_COMPILE, "host optimiser: %s", text);
        LLVMDisposeErrorMessage(text);
        goto out;
    }
    hostcode_close(m);
    if (getenv("VPU_DUMP") && strstr(getenv("VPU_DUMP"), "host"))
        LLVMDumpModule(m);
    if (LLVMTargetMachineEmitToMemoryBuffer(tm, m, LLVMObjectFile, &msg,
                                            &buf)) {
        st = err_set(err, VPU_ERR_COMPILE, "host code: %s", msg);
        goto out;
    }
    *n = LLVMGetBufferSize(buf);
    *out = arena_memdup(a, LLVMGetBufferStart(buf), *n);
    LLVMDisposeMemoryBuffer(buf);
out:
    LLVMDisposeMessage(msg);
    if (tm)
        LLVMDisposeTargetMachine(tm);
    LLVMDisposePassBuilderOptions(o);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return st;
}

static json_t *deps_json(const char *const *deps, uint32_t n)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < n; i++) {
        arena *t = arena_create(0);
        char *data, hash[33] = "";
        size_t len;

        if (!file_read(deps[i], 64 << 20, t, &data, &len, NULL))
            artifact_hash(data, len, hash);
        json_array_append_new(list, json_pack("[s,s]", deps[i], hash));
        arena_destroy(t);
    }
    return list;
}

static json_t *info_json(const sim_kernel *k, const char *const *deps,
                         uint32_t n_deps)
{
    json_t *args = json_array(), *variants = json_array();
    json_t *locals = json_array();

    for (uint32_t i = 0; i < k->n_args; i++) {
        const sim_arg *g = &k->args[i];

        json_array_append_new(
            args,
            json_pack("{s:s,s:s,s:i,s:i,s:i,s:i,s:b,s:b,s:b}", "name", g->name,
                      "type", g->type, "space", (int)g->space, "bytes",
                      (int)g->bytes, "offset", (int)g->offset, "element",
                      (int)g->element_bytes, "float", (int)g->is_float,
                      "signed", (int)g->is_signed, "const", (int)g->is_const));
    }
    for (int v = 0; v < SIM_N_VARIANTS; v++)
        json_array_append_new(
            variants, json_pack("{s:b,s:i,s:i,s:i,s:i}", "present",
                                (int)k->variants[v].present, "factor",
                                (int)k->variants[v].factor, "stack",
                                (int)k->variants[v].stack_bytes, "item",
                                (int)k->variants[v].item_bytes, "bundles",
                                (int)k->variants[v].n_bundles));
    for (uint32_t i = 0; i < k->n_locals; i++)
        json_array_append_new(
            locals, json_pack("{s:s,s:i,s:i}", "name", k->locals[i].name,
                              "offset", (int)k->locals[i].offset, "bytes",
                              (int)k->locals[i].bytes));
    return json_pack("{s:s,s:s,s:i,s:o,s:i,s:o,s:o,s:i,s:[i,i,i],s:b,s:s*,s:o}",
                     "kernel", k->name, "version", VPU_VERSION, "abi", SIM_ABI,
                     "args", args, "args_bytes", (int)k->args_bytes, "variants",
                     variants, "locals", locals, "local_bytes",
                     (int)k->local_bytes, "reqd_local", (int)k->reqd_local[0],
                     (int)k->reqd_local[1], (int)k->reqd_local[2], "atomics",
                     (int)k->global_atomics, "not_vectorized",
                     k->not_vectorized, "deps", deps_json(deps, n_deps));
}

/* A cycle a block, so that limits of cycles and time end loops here, too. */
static shave_program without_program(LLVMValueRef fn, arena *a)
{
    unsigned n = LLVMCountBasicBlocks(fn);
    shave_program p = {.costs = arena_array(a, shave_cost, n + 1)};

    for (unsigned b = 0; b < n; b++)
        p.costs[b].cycles = 1;
    return p;
}

/* Programs of all variants, and their host functions as kind says. */
static vpu_status make_code(middle_unit *mu, const shave_layout *layout,
                            artifact_host kind, const sim_sites *sites,
                            arena *a, sim_kernel *k, isa_function *programs,
                            uint32_t *n_programs, uint8_t **object,
                            size_t *n_object, vpu_error *err)
{
    LLVMModuleRef hm = LLVMModuleCreateWithNameInContext(
        "kernel", LLVMGetModuleContext(mu->module));
    vpu_status st = VPU_OK;

    if (kind == ARTIFACT_HOST_DEBUG)
        debug_begin_module(hm, mu->module);
    for (int v = 0; v < SIM_N_VARIANTS && !st; v++) {
        shave_program p;
        uint32_t stack;
        char symbol[32];

        if (!mu->variants[v].fn)
            continue;
        k->variants[v].present = true;
        k->variants[v].factor = mu->variants[v].factor;
        k->variants[v].item_bytes = mu->variants[v].item_bytes;
        artifact_symbol((sim_variant_kind)v, symbol);
        if (kind == ARTIFACT_HOST_DEBUG || kind == ARTIFACT_HOST_CHECKED) {
            p = without_program(mu->variants[v].fn, a);
            st = hostcode_add(hm, mu->variants[v].fn, symbol, &p, layout,
                              kind == ARTIFACT_HOST_DEBUG ? HOSTCODE_DEBUG
                                                          : HOSTCODE_CHECKED,
                              sites, &k->variants[v].stack_bytes, a, err);
            continue;
        }
        st = shave_build(mu->variants[v].fn,
                         sim_variant_name((sim_variant_kind)v), layout, a, &p,
                         err);
        if (st)
            break;
        programs[(*n_programs)++] = p.fn;
        for (uint32_t b = 0; b < p.fn.n_blocks; b++)
            k->variants[v].n_bundles += p.fn.blocks[b].cycles;
        k->variants[v].stack_bytes = p.fn.private_bytes;
        st = hostcode_add(hm, mu->variants[v].fn, symbol, &p, layout,
                          kind == ARTIFACT_HOST_LINES ? HOSTCODE_LINES
                                                      : HOSTCODE_PLAIN,
                          NULL, &stack, a, err);
    }
    if (!st && kind != ARTIFACT_NO_HOST)
        st = make_host_object(hm, kind == ARTIFACT_HOST_DEBUG, a, object,
                              n_object, err);
    LLVMDisposeModule(hm);
    return st;
}

static void pack(const sim_kernel *k, const isa_function *programs,
                 uint32_t n_programs, const char *bitcode, size_t n_bitcode,
                 const uint8_t *object, size_t n_object,
                 const char *const *deps, uint32_t n_deps, arena *a,
                 artifact *out)
{
    json_t *info = info_json(k, deps, n_deps);
    char *text = json_dumps(info, JSON_COMPACT | JSON_SORT_KEYS), *strings;
    size_t n_program = isa_encode(programs, n_programs, NULL, 0);
    size_t n_meta, n_strings;
    uint8_t *program = arena_push(a, n_program, 1, 16), *meta;

    isa_encode(programs, n_programs, program, n_program);
    neo_build(k, a, &meta, &n_meta, &strings, &n_strings);
    {
        object_section s[] = {{".neo_metadata", meta, n_meta},
                              {".neo_metadata.str", strings, n_strings},
                              {".vpusim.info", text, strlen(text)},
                              {".vpusim.ir", bitcode, n_bitcode},
                              {".vpusim.program", program, n_program},
                              {".vpusim.const", k->const_data, k->const_bytes},
                              {".vpusim.host", object, n_object}};

        out->file = object_build(s, object ? 7 : 6, a, &out->n_bytes);
    }
    free(text);
    json_decref(info);
}

static vpu_status parse_bitcode(LLVMContextRef c, const char *bitcode, size_t n,
                                const char *path, LLVMModuleRef *out,
                                vpu_error *err)
{
    LLVMMemoryBufferRef buf =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, n, path);
    bool bad = LLVMParseBitcodeInContext2(c, buf, out);

    LLVMDisposeMemoryBuffer(buf);
    return bad ? err_set(err, VPU_ERR_PARSE, "%s: damaged bitcode", path)
               : VPU_OK;
}

/* A bad bitcode must not end the process: diagnostics are swallowed, the parse
 * status says enough. */
static void ignore_diagnostic(LLVMDiagnosticInfoRef d, void *user)
{
    (void)d;
    (void)user;
}

vpu_status artifact_build(const char *bitcode, size_t n_bytes, const char *path,
                          const char *entry, const char *const *deps,
                          uint32_t n_deps, artifact_host kind,
                          const middle_mode *mode, arena *a, artifact *out,
                          vpu_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    LLVMContextRef c = LLVMContextCreate();
    LLVMModuleRef m;
    sim_kernel k = {.source = path};
    isa_function programs[SIM_N_VARIANTS];
    uint32_t n_programs = 0;
    shave_layout layout = {0};
    middle_unit mu = {0};
    uint8_t *object = NULL;
    size_t n_object = 0;
    vpu_status st;

    pthread_once(&once, init_llvm);
    LLVMContextSetDiagnosticHandler(c, ignore_diagnostic, NULL);
    st = parse_bitcode(c, bitcode, n_bytes, path, &m, err);
    if (st)
        goto out;
    if (!entry && !(entry = middle_only_kernel(m, a))) {
        LLVMDisposeModule(m);
        st = err_at(err, VPU_ERR_COMPILE, path, 0, 0,
                    "the file has no kernel or several; name one");
        goto out;
    }
    k.name = entry;
    st = sizes_check_private(m, path, err);
    if (st) {
        LLVMDisposeModule(m);
        goto out;
    }
    st = middle_build(m, path, entry, mode, a, &mu, &k, err);
    if (!st)
        st = place_globals(mu.module, path, a, &k, &layout, err);
    if (!st) {
        uint32_t *offsets = arena_array(a, uint32_t, k.n_args + 1);

        for (uint32_t i = 0; i < k.n_args; i++)
            offsets[i] = k.args[i].offset;
        layout.arg_offsets = offsets;
        st = make_code(&mu, &layout, kind, mode ? mode->sites : NULL, a, &k,
                       programs, &n_programs, &object, &n_object, err);
    }
    if (!st)
        pack(&k, programs, n_programs, bitcode, n_bytes, object, n_object, deps,
             n_deps, a, out);
    else if (st != VPU_ERR_COMPILE)
        err_in(err, st, "%s: kernel '%s'", path, entry);
out:
    if (mu.module)
        LLVMDisposeModule(mu.module);
    LLVMContextDispose(c);
    return st;
}

/* --- reading back
 * ------------------------------------------------------------------- */

static json_t *read_info(const uint8_t *file, size_t n)
{
    const uint8_t *data;
    size_t size;

    if (!object_find(file, n, ".vpusim.info", &data, &size))
        return NULL;
    return json_loadb((const char *)data, size, 0, NULL);
}

bool artifact_deps_hold(const uint8_t *file, size_t n)
{
    json_t *info = read_info(file, n), *d;
    bool hold = info != NULL;
    size_t i;

    json_array_foreach(json_object_get(info, "deps"), i, d)
    {
        const char *path = json_string_value(json_array_get(d, 0));
        const char *want = json_string_value(json_array_get(d, 1));
        arena *t = arena_create(0);
        char *data, hash[33] = "";
        size_t len;

        if (path && !file_read(path, 64 << 20, t, &data, &len, NULL))
            artifact_hash(data, len, hash);
        hold &= want && *want && !strcmp(want, hash);
        arena_destroy(t);
    }
    json_decref(info);
    return hold;
}

void artifact_wrap(const uint8_t *bin, size_t n_bytes, const char *const *deps,
                   uint32_t n_deps, arena *a, artifact *out)
{
    json_t *info = json_pack("{s:o}", "deps", deps_json(deps, n_deps));
    char *text = json_dumps(info, JSON_COMPACT);
    object_section sections[] = {{".vpusim.info", text, strlen(text)},
                                 {".vpusim.bin", bin, n_bytes}};

    out->file = object_build(sections, 2, a, &out->n_bytes);
    free(text);
    json_decref(info);
}

bool artifact_unwrap(const uint8_t *file, size_t n_bytes, const uint8_t **bin,
                     size_t *n)
{
    return object_find(file, n_bytes, ".vpusim.bin", bin, n) &&
           artifact_deps_hold(file, n_bytes);
}

static uint32_t get_u32(json_t *o, const char *key, bool *ok)
{
    json_t *v = json_object_get(o, key);
    json_int_t i = json_integer_value(v);

    if (!json_is_integer(v) || i < 0 || i > INT32_MAX)
        *ok = false;
    return (uint32_t)i;
}

static const char *get_string(json_t *o, const char *key, arena *a, bool *ok)
{
    const char *s = json_string_value(json_object_get(o, key));

    if (!s)
        *ok = false;
    return arena_strdup(a, s ? s : "");
}

static bool describe(json_t *info, arena *a, sim_kernel *k)
{
    json_t *args = json_object_get(info, "args"), *o;
    json_t *variants = json_object_get(info, "variants");
    json_t *locals = json_object_get(info, "locals");
    const char *why =
        json_string_value(json_object_get(info, "not_vectorized"));
    bool ok = true;
    size_t i;

    k->name = get_string(info, "kernel", a, &ok);
    k->n_args = (uint32_t)json_array_size(args);
    k->args = arena_array(a, sim_arg, k->n_args + 1);
    k->args_bytes = get_u32(info, "args_bytes", &ok);
    json_array_foreach(args, i, o)
    {
        sim_arg *g = &k->args[i];

        g->name = get_string(o, "name", a, &ok);
        g->type = get_string(o, "type", a, &ok);
        g->space = (sim_arg_space)get_u32(o, "space", &ok);
        g->bytes = get_u32(o, "bytes", &ok);
        g->offset = get_u32(o, "offset", &ok);
        g->element_bytes = get_u32(o, "element", &ok);
        g->is_float = json_is_true(json_object_get(o, "float"));
        g->is_signed = json_is_true(json_object_get(o, "signed"));
        g->is_const = json_is_true(json_object_get(o, "const"));
        ok &= g->space <= SIM_ARG_LOCAL && g->bytes <= 128 &&
              k->args_bytes <= 65536 &&
              (uint64_t)g->offset + g->bytes <= k->args_bytes;
    }
    ok &= json_array_size(variants) == SIM_N_VARIANTS;
    json_array_foreach(variants, i, o)
    {
        sim_variant *v = &k->variants[i % SIM_N_VARIANTS];

        v->present = json_is_true(json_object_get(o, "present"));
        v->factor = get_u32(o, "factor", &ok);
        v->stack_bytes = get_u32(o, "stack", &ok);
        v->item_bytes = get_u32(o, "item", &ok);
        v->n_bundles = get_u32(o, "bundles", &ok);
        ok &= !v->present || (v->factor >= 1 && v->factor <= 8);
    }
    k->n_locals = (uint32_t)json_array_size(locals);
    k->locals = arena_array(a, sim_local_array, k->n_locals + 1);
    json_array_foreach(locals, i, o)
    {
        k->locals[i].name = get_string(o, "name", a, &ok);
        k->locals[i].offset = get_u32(o, "offset", &ok);
        k->locals[i].bytes = get_u32(o, "bytes", &ok);
    }
    k->local_bytes = get_u32(info, "local_bytes", &ok);
    for (i = 0; i < 3; i++)
        k->reqd_local[i] = (uint32_t)json_integer_value(
            json_array_get(json_object_get(info, "reqd_local"), i));
    k->global_atomics = json_is_true(json_object_get(info, "atomics"));
    k->not_vectorized = arena_strdup(a, why);
    return ok && k->variants[SIM_SCALAR].present;
}

vpu_status artifact_read(const uint8_t *file, size_t n, arena *a, sim_kernel *k,
                         const uint8_t **host_object, size_t *host_bytes,
                         vpu_error *err)
{
    json_t *info = read_info(file, n);
    const uint8_t *data;
    size_t size;
    bool ok = info && describe(info, a, k);

    if (ok && object_find(file, n, ".vpusim.const", &data, &size)) {
        k->const_data = arena_memdup(a, data, size);
        k->const_bytes = (uint32_t)size;
    }
    if (ok && object_find(file, n, ".vpusim.program", &data, &size)) {
        k->program = arena_memdup(a, data, size);
        k->program_bytes = size;
    }
    *host_object = NULL;
    *host_bytes = 0;
    if (ok && json_integer_value(json_object_get(info, "abi")) == SIM_ABI)
        object_find(file, n, ".vpusim.host", host_object, host_bytes);
    json_decref(info);
    return ok ? VPU_OK
              : err_set(err, VPU_ERR_PARSE,
                        "not a compiled kernel of ours, "
                        "or damaged");
}
