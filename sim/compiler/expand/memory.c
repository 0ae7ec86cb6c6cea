/* Built-ins on memory: vector loads and stores, copies, barriers, atomics. */
#include "sim/compiler/expand/expand_priv.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/compiler/expand/expand.h"

/* --- vector loads and stores --------------------------------------------- */

/* &p[offset * step] of elements of type e */
static LLVMValueRef element_ptr(xp *x, LLVMTypeRef e, LLVMValueRef p,
                                LLVMValueRef offset, unsigned step)
{
    LLVMValueRef i = LLVMBuildMul(x->builder, offset, xp_k32(x, step), "");

    return LLVMBuildGEP2(x->builder, e, p, &i, 1, "");
}

static LLVMValueRef load(xp *x, LLVMTypeRef t, LLVMValueRef p)
{
    LLVMValueRef l = LLVMBuildLoad2(x->builder, t, p, "");

    LLVMSetAlignment(l, ir_bits_of(ir_element(t)) / 8);
    return l;
}

void xp_store(xp *x, LLVMValueRef v, LLVMValueRef p)
{
    LLVMValueRef s = LLVMBuildStore(x->builder, v, p);

    LLVMSetAlignment(s, ir_bits_of(ir_element(LLVMTypeOf(v))) / 8);
}

LLVMValueRef x_vload(xp *x)
{
    LLVMTypeRef t = xp_result(x);

    return load(
        x, t,
        element_ptr(x, ir_element(t), xp_arg(x, 1), xp_arg(x, 0), ir_lanes(t)));
}

LLVMValueRef x_vstore(xp *x)
{
    LLVMValueRef v = xp_arg(x, 0);
    LLVMTypeRef t = LLVMTypeOf(v);

    xp_store(
        x, v,
        element_ptr(x, ir_element(t), xp_arg(x, 2), xp_arg(x, 1), ir_lanes(t)));
    return NULL;
}

/* The aligned forms keep three-element vectors four apart. */
static unsigned half_step(xp *x, const char *after)
{
    unsigned n = (unsigned)strtoul(after, NULL, 10);

    n = n ? n : 1;
    return n == 3 && strstr(x->name, "a_half") ? 4 : n;
}

LLVMValueRef x_vload_half(xp *x)
{
    LLVMTypeRef t = xp_result(x), h = LLVMHalfTypeInContext(x->context), ht = h;
    const char *after = strstr(x->name, "_half") + strlen("_half");

    if (ir_lanes(t) > 1)
        ht = LLVMVectorType(h, ir_lanes(t));
    return LLVMBuildFPExt(x->builder,
                          load(x, ht,
                               element_ptr(x, h, xp_arg(x, 1), xp_arg(x, 0),
                                           half_step(x, after))),
                          t, "");
}

LLVMValueRef x_vstore_half(xp *x)
{
    LLVMValueRef v = xp_arg(x, 0);
    LLVMTypeRef t = LLVMTypeOf(v), h = LLVMHalfTypeInContext(x->context),
                ht = h;
    const char *after = strstr(x->name, "_half") + strlen("_half");
    const char *mode = strstr(after, "_rt");

    if (ir_lanes(t) > 1)
        ht = LLVMVectorType(h, ir_lanes(t));
    if (mode && mode[3] != 'e')
        v = xp_lanewise(x, call_half_directed(mode[3]), v, ht);
    else
        v = LLVMBuildFPTrunc(x->builder, v, ht, "");
    if (!v)
        return NULL;
    xp_store(
        x, v,
        element_ptr(x, h, xp_arg(x, 2), xp_arg(x, 1), half_step(x, after)));
    return NULL;
}

/* --- synchronisation and copies ------------------------------------------ */

LLVMValueRef x_nothing(xp *x)
{
    (void)x;
    return NULL;
}

/* The runtime call that the row's data names, with as many of the arguments as
 * it takes. */
LLVMValueRef x_runtime(xp *x)
{
    call_id id = call_named(x->data);
    LLVMValueRef args[CALL_MAX_WORDS];
    unsigned n = call_words(id);

    for (unsigned k = 0; k < n; k++) {
        args[k] = xp_arg(x, k);
        if (LLVMGetTypeKind(LLVMTypeOf(args[k])) == LLVMPointerTypeKind)
            args[k] = LLVMBuildPtrToInt(x->builder, args[k], x->i32, "");
    }
    return xp_runtime(x, id, xp_result(x), args, n);
}

static LLVMValueRef line_of(xp *x)
{
    return xp_k32(x, LLVMGetDebugLocLine(x->call));
}

static uint32_t pointee_bytes(xp *x, unsigned i)
{
    /* Opaque pointers: the element type is only in the mangled name. */
    size_t n;
    const char *s = LLVMGetValueName2(LLVMGetCalledValue(x->call), &n);
    const char *p = s;
    unsigned seen = 0, lanes = 1;

    for (; *p; p++)
        if (*p == 'P' && !strncmp(p, "PU3AS", 5) && seen++ == i)
            break;
    if (!*p)
        return 0;
    p += 6;
    while (*p == 'K')
        p++;
    if (p[0] == 'D' && p[1] == 'v') {
        char *end;

        lanes = (unsigned)strtoul(p + 2, &end, 10);
        p = end + 1;
        lanes = lanes == 3 ? 4 : lanes;
    }
    if (p[0] == 'D' && p[1] == 'h')
        return 2 * lanes;
    switch (*p) {
    case 'c':
    case 'h':
        return lanes;
    case 's':
    case 't':
        return 2 * lanes;
    case 'i':
    case 'j':
    case 'f':
        return 4 * lanes;
    case 'l':
    case 'm':
        return 8 * lanes;
    }
    return 0;
}

typedef struct {
    LLVMValueRef src_width, dst_width, src_pitch, dst_pitch, bytes;
    LLVMValueRef planes, src_plane, dst_plane;
} copy_shape;

/* Every function that copies has the event to join as its last argument. */
static LLVMValueRef event_given(xp *x)
{
    LLVMValueRef event = xp_arg(x, x->n_args - 1);

    return LLVMIsUndef(event) ? xp_k32(x, 0) : event;
}

static LLVMValueRef emit_copy(xp *x, LLVMValueRef dst, LLVMValueRef src,
                              const copy_shape *s)
{
    unsigned dst_as = LLVMGetPointerAddressSpace(LLVMTypeOf(dst));
    LLVMValueRef args[SIM_DMA_N] = {
        [SIM_DMA_DST] = LLVMBuildPtrToInt(x->builder, dst, x->i32, ""),
        [SIM_DMA_SRC] = LLVMBuildPtrToInt(x->builder, src, x->i32, ""),
        [SIM_DMA_TO_CMX] =
            xp_k32(x, dst_as == AS_LOCAL || dst_as == AS_PRIVATE),
        [SIM_DMA_BYTES] = s->bytes,
        [SIM_DMA_SRC_WIDTH] = s->src_width,
        [SIM_DMA_DST_WIDTH] = s->dst_width,
        [SIM_DMA_SRC_PITCH] = s->src_pitch,
        [SIM_DMA_DST_PITCH] = s->dst_pitch,
        [SIM_DMA_PLANES] = s->planes,
        [SIM_DMA_SRC_PLANE] = s->src_plane,
        [SIM_DMA_DST_PLANE] = s->dst_plane,
        [SIM_DMA_LINE] = line_of(x),
        [SIM_DMA_EVENT] = event_given(x)};

    return xp_runtime(x, CALL_dma, x->i32, args, SIM_DMA_N);
}

static LLVMValueRef copy_flat(xp *x, LLVMValueRef dst, LLVMValueRef src,
                              LLVMValueRef bytes)
{
    copy_shape s = {bytes, bytes,        bytes,        bytes,
                    bytes, xp_k32(x, 1), xp_k32(x, 0), xp_k32(x, 0)};

    return emit_copy(x, dst, src, &s);
}

static LLVMValueRef times(xp *x, LLVMValueRef v, uint32_t n)
{
    return LLVMBuildMul(x->builder, v, xp_k32(x, n), "");
}

LLVMValueRef x_copy_1d(xp *x)
{
    return copy_flat(x, xp_arg(x, 0), xp_arg(x, 1),
                     times(x, xp_arg(x, 2), pointee_bytes(x, 0)));
}

/* The stride is on the global side, in elements. */
LLVMValueRef x_copy_strided(xp *x)
{
    uint32_t size = pointee_bytes(x, 0);
    LLVMValueRef one = xp_k32(x, size), pitch = times(x, xp_arg(x, 3), size);
    bool to_cmx =
        LLVMGetPointerAddressSpace(LLVMTypeOf(xp_arg(x, 0))) == AS_LOCAL;
    copy_shape s = {one,
                    one,
                    to_cmx ? pitch : one,
                    to_cmx ? one : pitch,
                    times(x, xp_arg(x, 2), size),
                    xp_k32(x, 1),
                    xp_k32(x, 0),
                    xp_k32(x, 0)};

    return emit_copy(x, xp_arg(x, 0), xp_arg(x, 1), &s);
}

LLVMValueRef x_dma_1d(xp *x)
{
    return copy_flat(x, xp_arg(x, 1), xp_arg(x, 0), xp_arg(x, 2));
}

LLVMValueRef x_dma_2d(xp *x)
{
    copy_shape s = {xp_arg(x, 2), xp_arg(x, 3), xp_arg(x, 4), xp_arg(x, 5),
                    xp_arg(x, 6), xp_k32(x, 1), xp_k32(x, 0), xp_k32(x, 0)};

    return emit_copy(x, xp_arg(x, 1), xp_arg(x, 0), &s);
}

LLVMValueRef x_dma_3d(xp *x)
{
    copy_shape s = {xp_arg(x, 2), xp_arg(x, 3), xp_arg(x, 4), xp_arg(x, 5),
                    xp_arg(x, 9), xp_arg(x, 6), xp_arg(x, 7), xp_arg(x, 8)};

    return emit_copy(x, xp_arg(x, 1), xp_arg(x, 0), &s);
}

/* 2021 generation: gaps behind lines and planes, in elements. */
static LLVMValueRef copy_gaps(xp *x, LLVMValueRef planes, LLVMValueRef src_gap,
                              LLVMValueRef dst_gap, LLVMValueRef src_plane_gap,
                              LLVMValueRef dst_plane_gap)
{
    uint32_t size = pointee_bytes(x, 0);
    LLVMValueRef line = times(x, xp_arg(x, 2), size), lines = xp_arg(x, 3);
    copy_shape s;

    s.src_width = s.dst_width = line;
    s.src_pitch = LLVMBuildAdd(x->builder, line, times(x, src_gap, size), "");
    s.dst_pitch = LLVMBuildAdd(x->builder, line, times(x, dst_gap, size), "");
    s.bytes = LLVMBuildMul(x->builder, line, lines, "");
    s.planes = planes;
    s.src_plane = LLVMBuildAdd(x->builder,
                               LLVMBuildMul(x->builder, s.src_pitch, lines, ""),
                               times(x, src_plane_gap, size), "");
    s.dst_plane = LLVMBuildAdd(x->builder,
                               LLVMBuildMul(x->builder, s.dst_pitch, lines, ""),
                               times(x, dst_plane_gap, size), "");
    return emit_copy(x, xp_arg(x, 0), xp_arg(x, 1), &s);
}

LLVMValueRef x_copy_2d2d(xp *x)
{
    return copy_gaps(x, xp_k32(x, 1), xp_arg(x, 4), xp_arg(x, 5), xp_k32(x, 0),
                     xp_k32(x, 0));
}

LLVMValueRef x_copy_3d3d(xp *x)
{
    return copy_gaps(x, xp_arg(x, 6), xp_arg(x, 4), xp_arg(x, 5), xp_arg(x, 7),
                     xp_arg(x, 8));
}

bool expand_reads_events(LLVMValueRef n)
{
    return LLVMIsAConstantInt(n) && LLVMConstIntGetZExtValue(n) <= 64;
}

/* Waits for the highest-numbered of the events; transfers end in order of their
 * numbers as far as a group can tell. */
LLVMValueRef x_wait(xp *x)
{
    LLVMValueRef n = xp_arg(x, 0), most = xp_k32(x, 0), args[2];
    LLVMTypeRef i32 = x->i32;
    uint64_t count;

    if (!expand_reads_events(n)) {
        most = xp_k32(x, UINT32_MAX); /* all of them */
    } else {
        count = LLVMConstIntGetZExtValue(n);
        for (uint32_t i = 0; i < count; i++) {
            LLVMValueRef at = xp_k32(x, i);
            LLVMValueRef p =
                LLVMBuildGEP2(x->builder, i32, xp_arg(x, 1), &at, 1, "");

            args[0] = most;
            args[1] = LLVMBuildLoad2(x->builder, i32, p, "");
            most = xp_intrinsic(x, "llvm.umax", &i32, 1, args, 2);
        }
    }
    xp_runtime(x, CALL_wait, LLVMVoidTypeInContext(x->context), &most, 1);
    return NULL;
}

LLVMValueRef x_atomic(xp *x)
{
    static const struct {
        const char *name;
        LLVMAtomicRMWBinOp s, u;
    } ops[] = {{"add", LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd},
               {"sub", LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpSub},
               {"inc", LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd},
               {"dec", LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpSub},
               {"and", LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd},
               {"or", LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr},
               {"xor", LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor},
               {"max", LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpUMax},
               {"min", LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMin},
               {"xchg", LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg}};
    LLVMValueRef v = x->n_args > 1 ? xp_arg(x, 1) : xp_k32(x, 1), r = NULL;
    bool fl = xp_is_float(LLVMTypeOf(v)); /* atomic_xchg(float) */

    if (fl)
        v = LLVMBuildBitCast(x->builder, v, x->i32, "");
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i].name, x->data))
            r = LLVMBuildAtomicRMW(
                x->builder, xp_is_signed(x, 1) ? ops[i].s : ops[i].u,
                xp_arg(x, 0), v, LLVMAtomicOrderingMonotonic, false);
    return fl ? LLVMBuildBitCast(x->builder, r, xp_result(x), "") : r;
}

LLVMValueRef x_cmpxchg(xp *x)
{
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(
        x->builder, xp_arg(x, 0), xp_arg(x, 1), xp_arg(x, 2),
        LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, false);

    return LLVMBuildExtractValue(x->builder, pair, 0, "");
}
