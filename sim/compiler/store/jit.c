/* LLVM's ORC loads and links host objects; this names what they may call. */
#include "sim/compiler/store/jit.h"

#include <elf.h>

#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <llvm-c/Target.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/builtins/calls.h"
#include "sim/compiler/store/artifact.h"

/* What LLVM's code generator falls back to on processors without F16C, and for
 * the operations it has no instruction for. */
extern float __extendhfsf2(builtin_half);
extern builtin_half __truncsfhf2(float);
extern builtin_half __truncdfhf2(double);

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

/* --- where the code lies ------------------------------------------------- */

/* The object's section of code, and where in it the symbol's function begins;
 * NULL: not as LLVM writes it. */
static const Elf64_Shdr *code_section(const uint8_t *object, size_t n,
                                      const char *symbol, uint64_t *offset)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)object;
    const Elf64_Shdr *all;

    if (n < sizeof *head || head->e_shoff > n ||
        head->e_shnum > (n - head->e_shoff) / sizeof *all)
        return NULL;
    all = (const Elf64_Shdr *)(object + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *t = &all[i], *names = &all[t->sh_link];
        const Elf64_Sym *list = (const Elf64_Sym *)(object + t->sh_offset);

        if (t->sh_type != SHT_SYMTAB || t->sh_link >= head->e_shnum)
            continue;
        for (uint64_t k = 0; k < t->sh_size / sizeof *list; k++)
            if (!strcmp((const char *)object + names->sh_offset +
                            list[k].st_name,
                        symbol) &&
                list[k].st_shndx < head->e_shnum) {
                *offset = list[k].st_value;
                return &all[list[k].st_shndx];
            }
    }
    return NULL;
}

/* All variants are in one section. */
static void note_code(const uint8_t *object, size_t n, sim_kernel *k)
{
    const Elf64_Shdr *section;
    uint64_t offset;
    char name[32];

    artifact_symbol(SIM_SCALAR, name);
    section = code_section(object, n, name, &offset);
    if (!section || !k->variants[SIM_SCALAR].fn)
        return;
    k->code = (const uint8_t *)(uintptr_t)k->variants[SIM_SCALAR].fn - offset;
    k->code_bytes = section->sh_size;
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

void jit_begin_llvm(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, init_llvm);
}

static void unload(void *jit)
{
    if (jit)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(jit));
}

static vpu_status load(const uint8_t *object, size_t n, const sim_hooks *hooks,
                       sim_kernel *k, vpu_error *err)
{
    symbols s = {.n = 0};
    LLVMOrcJITDylibRef lib;
    LLVMErrorRef e;

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

        unload(k->jit);
        k->jit = NULL;
        return st;
    }
    note_code(object, n, k);
    return VPU_OK;
}

vpu_status jit_load(const uint8_t *object, size_t n, const sim_hooks *hooks,
                    unsigned who, sim_kernel *k, vpu_error *err)
{
    const char *missing = missing_hook(hooks, who);
    vpu_status st;

    if (missing)
        return err_set(err, VPU_ERR_INTERNAL,
                       "the code of kernel '%s' may call the hook '%s', which "
                       "the table given for it does not have",
                       k->name, missing);
    jit_begin_llvm();
    pthread_mutex_lock(jit_lock());
    st = load(object, n, hooks, k, err);
    pthread_mutex_unlock(jit_lock());
    return st;
}

void jit_unload(void *jit)
{
    pthread_mutex_lock(jit_lock());
    unload(jit);
    pthread_mutex_unlock(jit_lock());
}
