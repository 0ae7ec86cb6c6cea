/* Translation units put together. */
#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>

#include "sim/compiler/middle/middle.h"
#include "sim/ir/ir.h"

/* The first message. */
static void keep_diagnostic(LLVMDiagnosticInfoRef d, void *user)
{
    vpu_error *err = user;
    char *text = LLVMGetDiagInfoDescription(d);

    if (LLVMGetDiagInfoSeverity(d) == LLVMDSError && !*err->msg)
        err_set(err, VPU_ERR_COMPILE, "%s", text);
    LLVMDisposeMessage(text);
}

static vpu_status link_in(LLVMContextRef c, const middle_bitcode *parts,
                          uint32_t n, LLVMModuleRef *all, vpu_error *err)
{
    vpu_status st = ir_parse(c, parts->bytes, parts->n, parts->name, all, err);

    for (uint32_t i = 1; i < n && !st; i++) {
        vpu_error why = {0};
        LLVMModuleRef m = NULL;

        st = ir_parse(c, parts[i].bytes, parts[i].n, parts[i].name, &m, err);
        if (st)
            break;
        LLVMContextSetDiagnosticHandler(c, keep_diagnostic, &why);
        if (LLVMLinkModules2(*all, m)) /* m goes */
            st = err_set(err, VPU_ERR_COMPILE, "%s: %s", parts[i].name,
                         *why.msg ? why.msg : "it does not fit the others");
    }
    return st;
}

vpu_status middle_link(const middle_bitcode *parts, uint32_t n, arena *a,
                       middle_bitcode *out, vpu_error *err)
{
    LLVMModuleRef all = NULL;
    vpu_status st = ir_begin(err);
    LLVMContextRef c;

    if (st)
        return st;
    c = LLVMContextCreate();
    st = link_in(c, parts, n, &all, err);
    if (!st) {
        LLVMMemoryBufferRef buf = LLVMWriteBitcodeToMemoryBuffer(all);

        out->name = parts->name;
        out->n = LLVMGetBufferSize(buf);
        out->bytes = arena_memdup(a, LLVMGetBufferStart(buf), out->n);
        LLVMDisposeMemoryBuffer(buf);
    }
    if (all)
        LLVMDisposeModule(all);
    LLVMContextDispose(c);
    return st;
}
