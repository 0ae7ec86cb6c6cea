/* Host code: LLVM's passes and its code generator, and what each is told. */
#include "sim/compiler/store/codegen.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

#include "sim/compiler/host/hostcode.h"
#include "sim/compiler/host/recompute.h"

/* From the second unrolling on they are for loops over work-items between
 * barriers: which barrier all items must reach, what does not depend on the
 * item and what split_items.h decides by pieces, is decided outside the loop;
 * cycles become one addition to wait for, or a multiplication where nothing
 * else is left. More of the same between them makes no kernel of kernels/ and
 * the bench faster. What code they make must be seen through (tests/support/
 * scan.h): vector code of such loops, and the log's bounds without the first
 * unrolling, are not. */
static const char host_passes[] =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-simplify,lcssa,loop-mssa(licm),gvn,"
    "instcombine<no-verify-fixpoint>,loop(indvars),loop-unroll<O2;no-runtime>,"
    "instcombine<no-verify-fixpoint>,"
    "loop-simplify,lcssa,loop-mssa(licm,simple-loop-unswitch<nontrivial>),"
    "jump-threading,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-unroll<O2;no-runtime>,simplifycfg,reassociate,"
    "loop-simplify,lcssa,loop-mssa(licm),instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop(indvars,loop-deletion),adce)";

/* What the host's processor has, without AVX512-FP16: LLVM 19 converts halves
 * to saturated shorts with it and makes -32768 of NaN, not 0. It comes last,
 * since AVX10 would switch it on again. */
static const char *host_features(arena *a)
{
    char *all = LLVMGetHostCPUFeatures();
    const char *r = arena_printf(
        a, "%s%s", all, strstr(all, "+avx512fp16") ? ",-avx512fp16" : "");

    LLVMDisposeMessage(all);
    return r;
}

/* A function of more blocks is not worth the better code: the time that LLVM
 * takes to find registers for it grows with the square of its blocks, 2 s for
 * so many, and its code runs half as fast without. */
enum { MANY_BLOCKS = 2048 };

typedef struct {
    LLVMTargetRef target;
    char *triple, *cpu;
    const char *features;
} host_target;

static LLVMTargetMachineRef code_generator(const host_target *t, bool good)
{
    return LLVMCreateTargetMachine(t->target, t->triple, t->cpu, t->features,
                                   good ? LLVMCodeGenLevelDefault
                                        : LLVMCodeGenLevelNone,
                                   LLVMRelocPIC, LLVMCodeModelJITDefault);
}

/* Of the function with the most. */
static unsigned most_blocks(LLVMModuleRef m)
{
    unsigned most = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f)) {
        unsigned n = LLVMCountBasicBlocks(f);

        most = n > most ? n : most;
    }
    return most;
}

vpu_status codegen_object(LLVMModuleRef m, bool debug, arena *a, uint8_t **out,
                          size_t *n, vpu_error *err)
{
    host_target t = {.triple = LLVMGetDefaultTargetTriple(),
                     .cpu = LLVMGetHostCPUName(),
                     .features = host_features(a)};
    char *msg = NULL;
    LLVMTargetMachineRef tm = NULL;
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    LLVMMemoryBufferRef buf = NULL;
    LLVMErrorRef e;
    vpu_status st = VPU_OK;

    if (LLVMGetTargetFromTriple(t.triple, &t.target, &msg)) {
        st = err_set(err, VPU_ERR_UNSUPPORTED, "%s", msg);
        goto out;
    }
    tm = code_generator(&t, !debug);
    LLVMSetTarget(m, t.triple);
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
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f && !debug;
         f = LLVMGetNextFunction(f))
        recompute_cheap_values(f, a);
    if (!debug && most_blocks(m) > MANY_BLOCKS) {
        LLVMDisposeTargetMachine(tm);
        tm = code_generator(&t, false);
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
    LLVMDisposeMessage(t.triple);
    LLVMDisposeMessage(t.cpu);
    return st;
}

/* What the code generator takes options for alone, of this process. Strength
 * reduction takes half of its time, and the middle's passes reduce the loops
 * already: timed runs are as fast without it, untimed ones up to 8 % slower.
 * No kernel is slower without a search for values that could move to other
 * registers. (A second scheduler takes as long, but without it the log's bounds
 * are not seen in some code: tests/support/scan.h.) */
void codegen_begin(void)
{
    static const char *const words[] = {
        "vpu",
        "-disable-lsr",
#ifdef __x86_64__
        "-disable-x86-domain-reassignment",
#endif
    };

    LLVMParseCommandLineOptions(sizeof words / sizeof *words, words, "");
}

/* --- for nothing ---------------------------------------------------------- */

/* What a kernel's host code has most of: a loop that counts cycles, calls when
 * there are too many, and works on vectors. */
static const char little[] =
    "define void @little(ptr noalias %cycles, ptr %data, i32 %n) nounwind {\n"
    "  br label %loop\n"
    "loop:\n"
    "  %i = phi i64 [ 0, %0 ], [ %next, %on ]\n"
    "  %before = phi i64 [ 0, %0 ], [ %now, %on ]\n"
    "  %at = getelementptr float, ptr %data, i64 %i\n"
    "  %x = load <4 x float>, ptr %at, align 1\n"
    "  %square = fmul <4 x float> %x, %x\n"
    "  store <4 x float> %square, ptr %at, align 1\n"
    "  %now = add i64 %before, 12\n"
    "  %many = icmp ugt i64 %now, 1000\n"
    "  br i1 %many, label %stop, label %on\n"
    "stop:\n"
    "  store i64 %now, ptr %cycles, align 8\n"
    "  call void @hook(ptr %cycles)\n"
    "  br label %on\n"
    "on:\n"
    "  %next = add i64 %i, 4\n"
    "  %end = zext i32 %n to i64\n"
    "  %more = icmp ult i64 %next, %end\n"
    "  br i1 %more, label %loop, label %out\n"
    "out:\n"
    "  store i64 %now, ptr %cycles, align 8\n"
    "  ret void\n"
    "}\n"
    "declare void @hook(ptr)\n";

void codegen_warm(void)
{
    LLVMContextRef c;
    arena *a;
    LLVMModuleRef m;
    char *msg = NULL;
    uint8_t *object;
    size_t n;

    if (getenv("VPU_DUMP")) /* what is shown is a kernel's */
        return;
    c = LLVMContextCreate();
    a = arena_create(0);
    /* The module takes the buffer. */
    if (!LLVMParseIRInContext(c,
                              LLVMCreateMemoryBufferWithMemoryRangeCopy(
                                  little, sizeof little - 1, "little"),
                              &m, &msg)) {
        codegen_object(m, false, a, &object, &n, NULL);
        LLVMDisposeModule(m);
    }
    LLVMDisposeMessage(msg);
    arena_destroy(a);
    LLVMContextDispose(c);
}
