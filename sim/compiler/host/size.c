/* Sizes of transfers, without the wrap of 32-bit products: what a kernel means
 * by 65536 lines of 65536 bytes is not an empty copy. */
#include "sim/compiler/abi/hostabi.h"
#include "sim/compiler/host/hostcode_priv.h"

enum { MAX_DEPTH = 8 };

/* Wide enough for the product of two that are limited. */
static LLVMTypeRef wide(const host *h)
{
    return LLVMIntTypeInContext(h->context, 128);
}

static LLVMValueRef number(const host *h, int64_t v)
{
    return LLVMConstInt(wide(h), (unsigned long long)v, true);
}

static LLVMValueRef limited(host *h, LLVMValueRef v)
{
    LLVMValueRef most = number(h, (int64_t)1 << 33);
    LLVMValueRef least = number(h, -((int64_t)1 << 33));

    v = LLVMBuildSelect(h->builder,
                        LLVMBuildICmp(h->builder, LLVMIntSGT, v, most, ""),
                        most, v, "");
    return LLVMBuildSelect(h->builder,
                           LLVMBuildICmp(h->builder, LLVMIntSLT, v, least, ""),
                           least, v, "");
}

static bool is_product(LLVMValueRef v)
{
    return LLVMIsAInstruction(v) &&
           (LLVMGetInstructionOpcode(v) == LLVMMul ||
            (LLVMGetInstructionOpcode(v) == LLVMShl &&
             LLVMIsAConstantInt(LLVMGetOperand(v, 1)) &&
             LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1)) < 32));
}

/* v as a product of factors that are unsigned, or signed. */
static LLVMValueRef exact(host *h, LLVMValueRef v, bool is_signed, int depth)
{
    LLVMValueRef a, b;

    if (!is_product(v) || depth == MAX_DEPTH) {
        a = host_value(h, v);
        return is_signed ? LLVMBuildSExt(h->builder, a, wide(h), "")
                         : LLVMBuildZExt(h->builder, a, wide(h), "");
    }
    a = exact(h, LLVMGetOperand(v, 0), is_signed, depth + 1);
    if (LLVMGetInstructionOpcode(v) == LLVMShl)
        b = number(h, (int64_t)1
                          << LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1)));
    else
        b = exact(h, LLVMGetOperand(v, 1), is_signed, depth + 1);
    return limited(h, LLVMBuildMul(h->builder, a, b, ""));
}

static LLVMValueRef fits(host *h, LLVMValueRef v)
{
    return LLVMBuildAnd(
        h->builder, LLVMBuildICmp(h->builder, LLVMIntSGE, v, number(h, 0), ""),
        LLVMBuildICmp(h->builder, LLVMIntSLE, v, number(h, UINT32_MAX), ""),
        "");
}

LLVMValueRef host_size(host *h, LLVMValueRef i, unsigned k)
{
    LLVMValueRef device = LLVMGetOperand(i, k), v = host_operand(h, i, k), good;

    if (!is_product(device))
        return v;
    /* An optimiser may have made -a * -b of a * b. */
    good = LLVMBuildOr(h->builder, fits(h, exact(h, device, false, 0)),
                       fits(h, exact(h, device, true, 0)), "");
    return LLVMBuildSelect(h->builder, good, v,
                           LLVMConstInt(h->i32, SIM_DMA_TOO_LARGE, false), "");
}
