/* LLVM's ORC loads and links host objects; this names what they may call. */
#include "sim/compiler/jit.h"

#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <llvm-c/Target.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/builtins/routines.h"
#include "sim/compiler/artifact.h"

/* What LLVM's code generator falls back to on processors without F16C, and for
 * the operations it has no instruction for. */
extern float __extendhfsf2(sim_half);
extern sim_half __truncsfhf2(float);
extern sim_half __truncdfhf2(double);

static sim_half half_to_zero(float x)
{
    return sim_half_directed(x, 'z');
}
static sim_half half_up(float x)
{
    return sim_half_directed(x, 'p');
}
static sim_half half_down(float x)
{
    return sim_half_directed(x, 'n');
}

#define FLOAT_FROM(letter, mode, type, convert) \
    static float float_##letter##mode(type x)   \
    {                                           \
        return convert(x, #mode[0]);            \
    }
FLOAT_FROM(i, z, int64_t, sim_float_from_i64)
FLOAT_FROM(i, p, int64_t, sim_float_from_i64)
FLOAT_FROM(i, n, int64_t, sim_float_from_i64)
FLOAT_FROM(u, z, uint64_t, sim_float_from_u64)
FLOAT_FROM(u, p, uint64_t, sim_float_from_u64)
FLOAT_FROM(u, n, uint64_t, sim_float_from_u64)

#define ADDRESS(f) ((void *)(uintptr_t)(f))

typedef struct {
    LLVMOrcCSymbolMapPair pairs[256];
    size_t n;
    LLVMOrcLLJITRef jit;
} symbols;

static void add(symbols *s, const char *name, void *address)
{
    if (s->n == sizeof s->pairs / sizeof *s->pairs)
        return;
    s->pairs[s->n].Name = LLVMOrcLLJITMangleAndIntern(s->jit, name);
    s->pairs[s->n].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)address;
    s->pairs[s->n].Sym.Flags.GenericFlags =
        LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
    s->pairs[s->n++].Sym.Flags.TargetFlags = 0;
}

static void add_all(symbols *s, const sim_hooks *h)
{
    add(s, "vpu_hook_flush", ADDRESS(h->flush));
    add(s, "vpu_hook_dma", ADDRESS(h->dma));
    add(s, "vpu_hook_wait", ADDRESS(h->wait));
    add(s, "vpu_hook_touch", ADDRESS(h->touch));
    add(s, "vpu_hook_divergence", ADDRESS(h->divergence));
    add(s, "vpu_hook_limit", ADDRESS(h->limit));
    add(s, "vpu_hook_access", ADDRESS(h->access));
    add(s, "vpu_hook_block", ADDRESS(h->block));
    add(s, "vpu_hook_value", ADDRESS(h->value));
    add(s, "vpu_hook_array", ADDRESS(h->array));
    add(s, "vpu_hook_undef", ADDRESS(h->undef));
    add(s, "vpu_hook_barrier", ADDRESS(h->barrier));
    add(s, "vpu_hook_same", ADDRESS(h->same));
    add(s, "vpu_hook_event", ADDRESS(h->event));
    add(s, "vpu_hook_origins", ADDRESS(h->origins));
    add(s, "vpu_hook_taint", ADDRESS(h->taint));
    add(s, "vpu_hook_use", ADDRESS(h->use));
    add(s, "__vpu_half_z", ADDRESS(half_to_zero));
    add(s, "__vpu_half_p", ADDRESS(half_up));
    add(s, "__vpu_half_n", ADDRESS(half_down));
    add(s, "__vpu_float_iz", ADDRESS(float_iz));
    add(s, "__vpu_float_ip", ADDRESS(float_ip));
    add(s, "__vpu_float_in", ADDRESS(float_in));
    add(s, "__vpu_float_uz", ADDRESS(float_uz));
    add(s, "__vpu_float_up", ADDRESS(float_up));
    add(s, "__vpu_float_un", ADDRESS(float_un));
    add(s, "__vpu_nextafter_f16", ADDRESS(sim_half_nextafter));
    add(s, "__vpu_nextafter_f32", ADDRESS(nextafterf));
    add(s, "vpu_hook_print", ADDRESS(h->print));
    add(s, "vpu_hook_line", ADDRESS(h->line));
    add(s, "vpu_hook_var", ADDRESS(h->var));
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
    for (uint32_t i = 0; i < sim_n_routines; i++) {
        char name[48];

        snprintf(name, sizeof name, "__vpu_%s_f16", sim_routines[i].name);
        add(s, name, sim_routines[i].fn16);
        snprintf(name, sizeof name, "__vpu_%s_f32", sim_routines[i].name);
        add(s, name, sim_routines[i].fn32);
    }
}

static vpu_status report(LLVMErrorRef e, const char *what, vpu_error *err)
{
    char *msg = LLVMGetErrorMessage(e);

    err_set(err, VPU_ERR_COMPILE, "%s: %s", what, msg);
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

vpu_status jit_load(const uint8_t *object, size_t n, const sim_hooks *hooks,
                    sim_kernel *k, vpu_error *err)
{
    symbols s = {.n = 0};
    LLVMOrcJITDylibRef lib;
    LLVMErrorRef e;

    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    e = create(k->debug, &s.jit);
    if (e)
        return report(e, "ORC", err);
    k->jit = s.jit;
    lib = LLVMOrcLLJITGetMainJITDylib(s.jit);
    add_all(&s, hooks);
    e = LLVMOrcJITDylibDefine(lib, LLVMOrcAbsoluteSymbols(s.pairs, s.n));
    if (!e)
        e = LLVMOrcLLJITAddObjectFile(s.jit, lib,
                                      LLVMCreateMemoryBufferWithMemoryRangeCopy(
                                          (const char *)object, n, "kernel"));
    for (int v = 0; v < SIM_N_VARIANTS && !e; v++) {
        LLVMOrcExecutorAddress at;
        char name[32];

        if (!k->variants[v].present)
            continue;
        artifact_symbol((sim_variant_kind)v, name);
        e = LLVMOrcLLJITLookup(s.jit, &at, name);
        if (!e)
            k->variants[v].fn = (sim_wg_fn *)(uintptr_t)at;
    }
    if (e) {
        vpu_status st = report(e, "host code", err);

        jit_unload(k->jit);
        k->jit = NULL;
        return st;
    }
    return VPU_OK;
}

void jit_unload(void *jit)
{
    if (jit)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(jit));
}
