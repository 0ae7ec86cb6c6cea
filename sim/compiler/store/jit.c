/* Names what host objects may call, and binds them: by our own loader, by
 * LLVM's ORC where a debugger is to know of the code, and on other processors.
 */
#include "sim/compiler/store/jit.h"

#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <llvm-c/Target.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/builtins/calls.h"
#include "sim/compiler/store/artifact.h"
#include "sim/compiler/store/loader.h"
#include "sim/ir/ir.h"

/* What LLVM's code generator falls back to on processors without F16C, and for
 * the operations it has no instruction for. */
extern float __extendhfsf2(builtin_half);
extern builtin_half __truncsfhf2(float);
extern builtin_half __truncdfhf2(double);

#define ADDRESS(f) ((void *)(uintptr_t)(f))

/* What kernels may call. */
typedef struct {
    struct {
        const char *name;
        void *address;
    } list[256];
    size_t n;
} symbols;

static void add(symbols *s, const char *name, void *address)
{
    if (s->n == sizeof s->list / sizeof *s->list)
        return;
    s->list[s->n].name = name;
    s->list[s->n++].address = address;
}

static void add_hooks(symbols *s, const sim_hooks *h)
{
#define HOOK(who, returns, name, parameters) \
    if (h->name)                             \
        add(s, "vpu_hook_" #name, ADDRESS(h->name));
#include "sim/compiler/abi/hooks.def"
#undef HOOK
}

/* The first hook such code calls that h does not have; NULL = none. */
static const char *missing_hook(const sim_hooks *h, unsigned who)
{
#define HOOK(caller, returns, name, parameters) \
    if ((who & SIM_HOOKS_##caller) && !h->name) \
        return #name;
#include "sim/compiler/abi/hooks.def"
#undef HOOK
    return NULL;
}

static void add_all(symbols *s, const sim_hooks *h)
{
    add_hooks(s, h);
    add(s, "__extendhfsf2", ADDRESS(__extendhfsf2));
    add(s, "__truncsfhf2", ADDRESS(__truncsfhf2));
    add(s, "__truncdfhf2", ADDRESS(__truncdfhf2));
    add(s, "memcpy", ADDRESS(memcpy));
    add(s, "memmove", ADDRESS(memmove));
    add(s, "memset", ADDRESS(memset));
    add(s, "sqrtf", ADDRESS(sqrtf));
    add(s, "fmodf", ADDRESS(fmodf));
    add(s, "floorf", ADDRESS(floorf));
    add(s, "ceilf", ADDRESS(ceilf));
    add(s, "truncf", ADDRESS(truncf));
    add(s, "rintf", ADDRESS(rintf));
    add(s, "roundf", ADDRESS(roundf));
    add(s, "fminf", ADDRESS(fminf));
    add(s, "fmaxf", ADDRESS(fmaxf));
    for (uint32_t id = CALL_NONE + 1; id < CALL_N; id++)
        if (call_code(id))
            add(s, call_symbol(id), call_code(id));
}

static void *find(void *user, const char *name)
{
    const symbols *s = user;

    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->list[i].name, name))
            return s->list[i].address;
    return NULL;
}

/* --- without LLVM --------------------------------------------------------- */

struct jit {
    loader *own; /* or NULL */
    LLVMOrcLLJITRef orc;
};

static vpu_status load_own(struct jit *j, const uint8_t *object, size_t n,
                           const symbols *known, const uint32_t *local,
                           sim_kernel *k, vpu_error *err)
{
    char name[32];
    vpu_status st = loader_open(object, n, find, (void *)known, &j->own, err);

    if (st)
        return st;
    for (int v = 0; v < SIM_N_VARIANTS; v++) {
        if (!sim_runs_variant(k, (sim_variant_kind)v, local))
            continue;
        artifact_symbol((sim_variant_kind)v, name);
        k->code = loader_code(j->own, name, &k->code_bytes);
        k->variants[v].fn =
            (sim_wg_fn *)(uintptr_t)loader_function(j->own, name);
        if (!k->variants[v].fn)
            return err_set(err, VPU_ERR_PARSE, "host object: no %s", name);
    }
    return VPU_OK;
}

/* --- with LLVM's ORC ------------------------------------------------------ */

static vpu_status report(LLVMErrorRef e, vpu_error *err)
{
    char *msg = LLVMGetErrorMessage(e);

    err_set(err, VPU_ERR_COMPILE, "host code: %s", msg);
    LLVMDisposeErrorMessage(msg);
    return VPU_ERR_COMPILE;
}

/* Loads as ORC does, and tells a debugger of each object. */
static LLVMOrcObjectLayerRef
debug_layer(void *user, LLVMOrcExecutionSessionRef session, const char *triple)
{
    LLVMOrcObjectLayerRef l =
        LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);

    (void)user;
    (void)triple;
    LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(
        l, LLVMCreateGDBRegistrationListener());
    return l;
}

static LLVMErrorRef create(bool debug, LLVMOrcLLJITRef *out)
{
    LLVMOrcLLJITBuilderRef b = NULL;

    if (debug) {
        b = LLVMOrcCreateLLJITBuilder();
        LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(b, debug_layer, NULL);
    }
    return LLVMOrcCreateLLJIT(out, b);
}

/* --- one thread of the process in LLVM at a time ------------------------- */

pthread_mutex_t *jit_lock(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    return &lock;
}

static void init_llvm(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

vpu_status jit_begin_llvm(vpu_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    vpu_status st = ir_begin(err);

    if (!st)
        pthread_once(&once, init_llvm);
    return st;
}

static LLVMErrorRef define(LLVMOrcLLJITRef orc, const symbols *known)
{
    LLVMOrcCSymbolMapPair pairs[sizeof known->list / sizeof *known->list];

    for (size_t i = 0; i < known->n; i++) {
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(orc, known->list[i].name);
        pairs[i].Sym.Address =
            (LLVMOrcExecutorAddress)(uintptr_t)known->list[i].address;
        pairs[i].Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported |
                                          LLVMJITSymbolGenericFlagsCallable;
        pairs[i].Sym.Flags.TargetFlags = 0;
    }
    return LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(orc),
                                 LLVMOrcAbsoluteSymbols(pairs, known->n));
}

static LLVMErrorRef load_orc(struct jit *j, const uint8_t *object, size_t n,
                             const symbols *known, const uint32_t *local,
                             sim_kernel *k)
{
    LLVMErrorRef e = create(k->debug, &j->orc);

    if (!e)
        e = define(j->orc, known);
    if (!e)
        e = LLVMOrcLLJITAddObjectFile(j->orc,
                                      LLVMOrcLLJITGetMainJITDylib(j->orc),
                                      LLVMCreateMemoryBufferWithMemoryRangeCopy(
                                          (const char *)object, n, "kernel"));
    for (int v = 0; v < SIM_N_VARIANTS && !e; v++) {
        LLVMOrcExecutorAddress at;
        char name[32];

        if (!sim_runs_variant(k, (sim_variant_kind)v, local))
            continue;
        artifact_symbol((sim_variant_kind)v, name);
        e = LLVMOrcLLJITLookup(j->orc, &at, name);
        if (!e)
            k->variants[v].fn = (sim_wg_fn *)(uintptr_t)at;
    }
    return e;
}

/* All variants are in one section. */
static void note_code(const uint8_t *object, size_t n, sim_kernel *k)
{
    uint64_t offset, bytes;
    char name[32];

    for (int v = 0; v < SIM_N_VARIANTS; v++) {
        sim_wg_fn *fn = k->variants[v].fn;

        artifact_symbol((sim_variant_kind)v, name);
        if (!fn || !loader_place(object, n, name, &offset, &bytes))
            continue;
        k->code = (const uint8_t *)(uintptr_t)fn - offset;
        k->code_bytes = bytes;
    }
}

static vpu_status load_with_llvm(struct jit *j, const uint8_t *object, size_t n,
                                 const symbols *known, const uint32_t *local,
                                 sim_kernel *k, vpu_error *err)
{
    vpu_status st = jit_begin_llvm(err);
    LLVMErrorRef e;

    if (st)
        return st;
    pthread_mutex_lock(jit_lock());
    e = load_orc(j, object, n, known, local, k);
    st = e ? report(e, err) : VPU_OK;
    pthread_mutex_unlock(jit_lock());
    if (!st)
        note_code(object, n, k);
    return st;
}

/* --- either --------------------------------------------------------------- */

vpu_status jit_load(const uint8_t *object, size_t n, const sim_hooks *hooks,
                    unsigned who, const uint32_t *local, sim_kernel *k,
                    vpu_error *err)
{
    const char *missing = missing_hook(hooks, who);
    symbols known = {.n = 0};
    vpu_status st;

    if (missing)
        return err_set(err, VPU_ERR_INTERNAL,
                       "the code of kernel '%s' may call the hook '%s', which "
                       "the table given for it does not have",
                       k->name, missing);
    add_all(&known, hooks);
    k->jit = calloc(1, sizeof *k->jit);
    if (!k->jit)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a kernel's code");
    st = k->debug ? VPU_ERR_UNSUPPORTED
                  : load_own(k->jit, object, n, &known, local, k, err);
    if (st == VPU_ERR_UNSUPPORTED)
        st = load_with_llvm(k->jit, object, n, &known, local, k, err);
    if (st) {
        jit_unload(k->jit);
        k->jit = NULL;
    }
    return st;
}

void jit_unload(struct jit *j)
{
    if (!j)
        return;
    loader_close(j->own);
    if (j->orc) {
        pthread_mutex_lock(jit_lock());
        LLVMConsumeError(LLVMOrcDisposeLLJIT(j->orc));
        pthread_mutex_unlock(jit_lock());
    }
    free(j);
}
