/* Sums over variables and allocas; see sizes.h. */
#include "sim/compiler/store/sizes.h"

#define MAX_CONSTANT ((uint64_t)256 << 20)
#define MAX_LOCAL ((uint64_t)1 << 30)
#define MAX_PRIVATE ((uint64_t)2 << 30)

vpu_status sizes_check_global(const char *name, bool local, uint64_t bytes,
                              uint64_t total, vpu_error *err)
{
    uint64_t most = local ? MAX_LOCAL : MAX_CONSTANT;
    const char *space = local ? "__local" : "__constant";

    if (bytes <= most && total <= most)
        return VPU_OK;
    return err_set(err, VPU_ERR_LIMIT,
                   "the %s variable '%s' has %llu bytes; all %s variables of a "
                   "kernel together may have %llu MiB",
                   space, name, (unsigned long long)bytes, space,
                   (unsigned long long)most >> 20);
}

/* Of the first use that has one: a variable itself has none. */
static uint32_t line_of(LLVMValueRef variable)
{
    for (LLVMUseRef u = LLVMGetFirstUse(variable); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);

        if (LLVMIsAInstruction(user) && LLVMGetDebugLocLine(user))
            return LLVMGetDebugLocLine(user);
    }
    return 0;
}

static vpu_status check_function(LLVMValueRef f, LLVMTargetDataRef td,
                                 const char *path, vpu_error *err)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(f);
    uint64_t total = 0;

    for (LLVMValueRef i = LLVMGetFirstInstruction(entry); i;
         i = LLVMGetNextInstruction(i)) {
        uint64_t bytes;

        if (!LLVMIsAAllocaInst(i))
            continue;
        bytes = LLVMABISizeOfType(td, LLVMGetAllocatedType(i));
        total += bytes;
        if (bytes > MAX_PRIVATE || total > MAX_PRIVATE)
            return err_at(err, VPU_ERR_LIMIT, path, line_of(i), 0,
                          "a private array of %llu bytes; all of a work-item "
                          "together may have %llu MiB",
                          (unsigned long long)bytes,
                          (unsigned long long)MAX_PRIVATE >> 20);
    }
    return VPU_OK;
}

vpu_status sizes_check_private(LLVMModuleRef m, const char *path,
                               vpu_error *err)
{
    LLVMTargetDataRef td = LLVMGetModuleDataLayout(m);
    vpu_status st = VPU_OK;

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f && !st;
         f = LLVMGetNextFunction(f))
        if (LLVMCountBasicBlocks(f))
            st = check_function(f, td, path, err);
    return st;
}
