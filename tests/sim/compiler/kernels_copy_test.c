/* Copies between DDR and CMX against a walk over bytes in plain C: both
 * generations (docs/hardware.md, "Copy calls"), preload and postwrite phases,
 * events. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/rig.h"

enum { BYTES = 4096 };

/* --- the plain walk ------------------------------------------------------ */

typedef struct {
    uint32_t src_width, dst_width, src_pitch, dst_pitch;
    uint32_t planes, src_plane, dst_plane, bytes;
} walk;

/* Byte by byte, as docs/hardware.md, "Copy calls", has it: each side walks its
 * own lines until the size is used up. */
static void walk_bytes(const walk *w, const uint8_t *src, uint8_t *dst)
{
    for (uint32_t p = 0; p < w->planes; p++)
        for (uint32_t k = 0; k < w->bytes; k++)
            dst[p * w->dst_plane + k / w->dst_width * w->dst_pitch +
                k % w->dst_width] =
                src[p * w->src_plane + k / w->src_width * w->src_pitch +
                    k % w->src_width];
}

/* --- calls and what they mean -------------------------------------------- */

/* The 2021 generation counts elements and gaps; in three dimensions the gaps
 * behind lines come before the number of planes. */
#define GAPS(e, n, lines, planes, sg, dg, spg, dpg) \
    {(e) * (n),                                     \
     (e) * (n),                                     \
     (e) * ((n) + (sg)),                            \
     (e) * ((n) + (dg)),                            \
     planes,                                        \
     (e) * (((n) + (sg)) * (lines) + (spg)),        \
     (e) * (((n) + (dg)) * (lines) + (dpg)),        \
     (e) * (n) * (lines)}
#define FLAT(bytes) {bytes, bytes, bytes, bytes, 1, 0, 0, bytes}

static const struct {
    const char *type, *call; /* of DST, SRC and event e */
    walk w;
} copies[] = {
    {"uchar", "async_work_group_copy(DST, SRC, 100, e)", FLAT(100)},
    {"half", "async_work_group_copy(DST, SRC, 77, e)", FLAT(154)},
    {"float", "async_work_group_copy(DST, SRC, 33, e)", FLAT(132)},
    {"ulong", "async_work_group_copy(DST, SRC, 9, e)", FLAT(72)},
    {"short4", "async_work_group_copy(DST, SRC, 5, e)", FLAT(40)},
    {"float3", "async_work_group_copy(DST, SRC, 5, e)", FLAT(80)},
    {"int", "async_work_group_copy(DST, SRC, 0, e)", FLAT(0)},
    {"int", "async_work_group_copy(DST, SRC, n + 20, e)", FLAT(92)},
    {"half", "WorkGroupDmaCreateTransaction(SRC, DST, 90, e)", FLAT(90)},
    {"half",
     "WorkGroupDmaCreateStrideTransaction(SRC, DST, 16, 16, 40, 16, 160, e)",
     {16, 16, 40, 16, 1, 0, 0, 160}},
    {"half",
     "WorkGroupDmaCreateStrideTransaction(SRC, DST, 16, 16, 16, 40, 160, e)",
     {16, 16, 16, 40, 1, 0, 0, 160}},
    {"uchar",
     "WorkGroupDmaCreateStrideTransaction(SRC, DST, 12, 20, 32, 24, 200, e)",
     {12, 20, 32, 24, 1, 0, 0, 200}},
    {"uchar",
     "WorkGroupDmaCreateStrideTransaction(SRC, DST, 7, 3, 9, 5, 100, e)",
     {7, 3, 9, 5, 1, 0, 0, 100}},
    {"int",
     "WorkGroupDmaCreateStrideTransaction(SRC, DST, 64, 64, 64, 64, 128, e)",
     {64, 64, 64, 64, 1, 0, 0, 128}},
    {"half",
     "WorkGroupDmaCreate3DTransaction(SRC, DST, 8, 8, 24, 8, 5, 200, 64, 48, "
     "e)",
     {8, 8, 24, 8, 5, 200, 64, 48}},
    {"uchar",
     "WorkGroupDmaCreate3DTransaction(SRC, DST, 6, 10, 12, 11, 3, 100, 80, "
     "30, e)",
     {6, 10, 12, 11, 3, 100, 80, 30}},
    {"half", "async_work_group_copy_2D2D(DST, SRC, 10, 7, 6, 0, e)",
     GAPS(2, 10, 7, 1, 6, 0, 0, 0)},
    {"half", "async_work_group_copy_2D2D(DST, SRC, 10, 7, 0, 3, e)",
     GAPS(2, 10, 7, 1, 0, 3, 0, 0)},
    {"uchar", "async_work_group_copy_2D2D(DST, SRC, 5, 20, 1, 2, e)",
     GAPS(1, 5, 20, 1, 1, 2, 0, 0)},
    {"ulong", "async_work_group_copy_2D2D(DST, SRC, n, 4, 2, 1, e)",
     GAPS(8, 3, 4, 1, 2, 1, 0, 0)},
    {"half", "async_work_group_copy_3D3D(DST, SRC, 6, 4, 2, 0, 3, 5, 0, e)",
     GAPS(2, 6, 4, 3, 2, 0, 5, 0)},
    {"float", "async_work_group_copy_3D3D(DST, SRC, 3, 4, 1, 2, 5, 3, 4, e)",
     GAPS(4, 3, 4, 5, 1, 2, 3, 4)},
    {"short", "async_work_group_copy_3D3D(DST, SRC, 1, 1, 0, 0, 30, 1, 2, e)",
     GAPS(2, 1, 1, 30, 0, 0, 1, 2)},
};
enum { N_COPIES = sizeof copies / sizeof *copies };

static uint8_t src_byte(unsigned i)
{
    return (uint8_t)(rig_noise(i) | 1);
}

/* Even: DDR to CMX. Odd: CMX to DDR. */
START_TEST(one_copy)
{
    static uint8_t want[BYTES];
    const walk *w = &copies[_i / 2].w;
    const char *type = copies[_i / 2].type, *call = copies[_i / 2].call;
    uint8_t *in, *out;
    bool to_cmx = _i % 2 == 0;
    rig r;

    rig_open(&r);
    rig_compile(
        &r,
        arena_printf(
            r.arena,
            "__kernel void k(__global uchar *out, __global const uchar *in,\n"
            "                __local uchar *t, uint n)\n{\n"
            "    size_t l = get_local_id(0), L = get_local_size(0);\n"
            "    for (size_t k = l; k < %d; k += L) t[k] = %s;\n"
            "    barrier(CLK_LOCAL_MEM_FENCE);\n"
            "    event_t e = 0;\n"
            "#define DST (%s %s *)%s\n#define SRC (%s const %s *)%s\n"
            "    e = %s;\n"
            "    wait_group_events(1, &e);\n"
            "%s}\n",
            BYTES, to_cmx ? "0" : "in[k]", to_cmx ? "__local" : "__global",
            type, to_cmx ? "t" : "out", to_cmx ? "__global" : "__local", type,
            to_cmx ? "in" : "t", call,
            to_cmx ? "    for (size_t k = l; k < 4096; k += L) out[k] = t[k];\n"
                   : ""),
        "k");
    out = rig_buffer(&r, BYTES);
    in = rig_buffer(&r, BYTES);
    rig_local(&r, BYTES);
    rig_int(&r, 3);
    for (unsigned i = 0; i < BYTES; i++)
        in[i] = src_byte(i);
    memset(want, 0, BYTES);
    walk_bytes(w, in, want);
    for (uint32_t local = 1; local <= 8; local += 7) {
        memset(out, 0, BYTES);
        rig_run_1d(&r, 1, local);
        for (unsigned i = 0; i < BYTES; i++)
            ck_assert_msg(out[i] == want[i],
                          "%s, %s, %u items: byte %u is %u, expected %u", call,
                          to_cmx ? "to CMX" : "to DDR", local, i, out[i],
                          want[i]);
        ck_assert_uint_eq(to_cmx ? r.result.profile.dma_in_bytes
                                 : r.result.profile.dma_out_bytes,
                          (uint64_t)w->bytes * w->planes);
    }
    rig_close(&r);
}
END_TEST

/* The stride of the standard's call is on the DDR side, in elements. */
START_TEST(strided_copy)
{
    int16_t *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(
        &r,
        "__kernel void k(__global short *out, __global const short *in)\n{\n"
        "    __local short t[40];\n"
        "    event_t e = async_work_group_strided_copy(t, in, 40, 5, 0);\n"
        "    wait_group_events(1, &e);\n"
        "    for (uint k = get_local_id(0); k < 40; k += get_local_size(0))\n"
        "        t[k] += 1;\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    e = async_work_group_strided_copy(out, t, 40, 3, e);\n"
        "    wait_group_events(1, &e);\n}\n",
        "k");
    out = rig_buffer(&r, 2 * 120);
    in = rig_buffer(&r, 2 * 200);
    for (int i = 0; i < 200; i++)
        in[i] = (int16_t)(i * 7);
    rig_run_1d(&r, 1, 8);
    for (int i = 0; i < 120; i++)
        ck_assert_int_eq(out[i], i % 3 ? 0 : i / 3 * 35 + 1);
    rig_close(&r);
}
END_TEST

/* Sizes and strides by number, lines of 64 bytes: n is what varies. */
static const struct {
    const char *call;
    int32_t n;
} outside[] = {
    {"async_work_group_copy(out, t, n, 0)", -1},
    {"async_work_group_copy(t, in, n, 0)", -1},
    {"WorkGroupDmaCreateTransaction(t, out, n, 0)", -2},
    {"WorkGroupDmaCreateStrideTransaction(in, t, 64, 64, n, 64, 256, 0)",
     INT32_MAX},
    {"WorkGroupDmaCreateStrideTransaction(t, out, 64, 64, 64, n, 256, 0)",
     INT32_MAX},
    {"WorkGroupDmaCreate3DTransaction(in, t, 64, 64, 64, 64, 3, n, 64, 64, 0)",
     INT32_MAX},
};
enum { N_OUTSIDE = sizeof outside / sizeof *outside };

/* Past the last address: an error of the kernel, at its line, and nothing of
 * ours is read or written. */
START_TEST(copy_beyond_all_addresses)
{
    const uint32_t one[3] = {1, 1, 1};
    rig r;

    rig_open(&r);
    rig_compile(
        &r,
        arena_printf(r.arena,
                     "__kernel void k(__global uchar *out, __global const "
                     "uchar *in, __local uchar *t, uint n)\n{\n"
                     "    event_t e =\n"
                     "        %s;\n"
                     "    wait_group_events(1, &e);\n}\n",
                     outside[_i].call),
        "k");
    rig_buffer(&r, BYTES);
    rig_buffer(&r, BYTES);
    rig_local(&r, BYTES);
    rig_int(&r, outside[_i].n);
    ck_assert_int_eq(rig_run(&r, one, one), VPU_ERR_FAULT);
    ck_assert_msg(strstr(r.err.msg, "k.cl:4: ") &&
                      strstr(r.err.msg, "copy that leaves"),
                  "%s", r.err.msg);
    rig_close(&r);
}
END_TEST

/* Products of 2^32 and a little more: no short copies instead. */
static const struct {
    const char *call;
    int32_t n, m;
} wrapping[] = {
    {"async_work_group_copy_2D2D(t, in, n, m, 0, 0, 0)", 65536, 65536},
    {"async_work_group_copy_2D2D(t, in, n, m, 0, 0, 0)", 1 << 20, 4097},
    {"async_work_group_copy_2D2D(out, t, n + 1, m + 1, 1, 1, 0)", 65535, 65535},
    {"async_work_group_copy_3D3D(t, in, n, m, 0, 0, 2, 0, 0, 0)", 65536, 65536},
    {"async_work_group_copy((__local int *)t, (__global const int *)in, n, 0)",
     (1 << 30) + 4, 0},
    {"async_work_group_strided_copy((__local int *)t, "
     "(__global const int *)in, n * m, 2, 0)",
     1 << 15, 1 << 15},
};
enum { N_WRAPPING = sizeof wrapping / sizeof *wrapping };

/* Compiled code only: the program has 32 bits to compute in. */
START_TEST(size_of_more_than_32_bits)
{
    const uint32_t one[3] = {1, 1, 1};
    rig r;

    rig_open(&r);
    rig_compile(
        &r,
        arena_printf(r.arena,
                     "__kernel void k(__global uchar *out, __global const "
                     "uchar *in, __local uchar *t, uint n, uint m)\n{\n"
                     "    event_t e =\n"
                     "        %s;\n"
                     "    wait_group_events(1, &e);\n}\n",
                     wrapping[_i].call),
        "k");
    rig_buffer(&r, BYTES);
    rig_buffer(&r, BYTES);
    rig_local(&r, BYTES);
    rig_int(&r, wrapping[_i].n);
    rig_int(&r, wrapping[_i].m);
    ck_assert_msg(rig_run(&r, one, one) == VPU_ERR_FAULT, "%s",
                  wrapping[_i].call);
    ck_assert_msg(strstr(r.err.msg, "k.cl:4: ") &&
                      strstr(r.err.msg, "copy that leaves"),
                  "%s", r.err.msg);
    rig_close(&r);
}
END_TEST

/* A stride may be negative: lines last to first. */
START_TEST(lines_backwards)
{
    uint8_t *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global uchar *out, __global const uchar "
                "*in, __local uchar *t, int n)\n{\n"
                "    event_t e = WorkGroupDmaCreateStrideTransaction(\n"
                "        in + 3 * 16, t, 16, 16, (size_t)n, 16, 64, 0);\n"
                "    wait_group_events(1, &e);\n"
                "    e = async_work_group_copy(out, t, 64, 0);\n"
                "    wait_group_events(1, &e);\n}\n",
                "k");
    out = rig_buffer(&r, 64);
    in = rig_buffer(&r, 64);
    rig_local(&r, 64);
    rig_int(&r, -16);
    for (int i = 0; i < 64; i++)
        in[i] = src_byte((unsigned)i);
    rig_run_1d(&r, 1, 1);
    for (int i = 0; i < 64; i++)
        ck_assert_uint_eq(out[i], in[(3 - i / 16) * 16 + i % 16]);
    rig_close(&r);
}
END_TEST

/* Copies in loops, two events in flight, arguments that live across barriers.
 */
START_TEST(copies_in_a_loop)
{
    enum { LINES = 12, W = 32, GROUPS = 3 };
    float *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(
        &r,
        "__kernel void k(__global float *out, __global const float *in,\n"
        "                int lines)\n{\n"
        "    __local float t[2][32], o[32];\n"
        "    event_t e[2];\n"
        "    int l = get_local_id(0), g = get_group_id(0);\n"
        "    float sum = 0;\n"
        "    in += g * lines * 32; out += g * lines * 32;\n"
        "    e[0] = async_work_group_copy(t[0], in, 32, 0);\n"
        "    for (int y = 0; y < lines; y++) {\n"
        "        if (y + 1 < lines)\n"
        "            e[(y + 1) & 1] = async_work_group_copy(\n"
        "                t[(y + 1) & 1], in + (y + 1) * 32, 32, 0);\n"
        "        wait_group_events(1, &e[y & 1]);\n"
        "        for (int x = l; x < 32; x += get_local_size(0)) {\n"
        "            sum += t[y & 1][x];\n"
        "            o[x] = t[y & 1][31 - x] + y;\n        }\n"
        "        barrier(CLK_LOCAL_MEM_FENCE);\n"
        "        event_t w = async_work_group_copy(out + y * 32, o, 32, 0);\n"
        "        wait_group_events(1, &w);\n    }\n"
        "    if (sum < 0) out[0] = sum;\n}\n",
        "k");
    out = rig_buffer(&r, 4 * LINES * W * GROUPS);
    in = rig_buffer(&r, 4 * LINES * W * GROUPS);
    rig_int(&r, LINES);
    for (int i = 0; i < LINES * W * GROUPS; i++)
        in[i] = (float)i;
    for (uint32_t local = 16; local; local = local == 16 ? 5 : 0) {
        memset(out, 0, 4 * LINES * W * GROUPS);
        rig_run_1d(&r, GROUPS, local);
        for (int i = 0; i < LINES * W * GROUPS; i++)
            ck_assert_msg(out[i] == in[i / W * W + 31 - i % W] +
                                        (float)(i / W % LINES),
                          "groups of %u, element %d: %g", local, i, out[i]);
    }
    rig_close(&r);
}
END_TEST

/* --- events -------------------------------------------------------------- */

/* Cycles waited for transfers of 8 bytes, and perhaps one of 16 KiB; a long
 * computation follows, by whose end there is nothing left to wait for. The
 * store before them keeps the copies from becoming a phase. */
static uint64_t wait_of(const char *body)
{
    char text[1000];
    uint64_t cycles = 0;
    rig r;

    snprintf(text, sizeof text,
             "__kernel void k(__global float *out, __global const float *in,\n"
             "                int n)\n{\n"
             "    __local float t[4096], s[8];\n"
             "    out[get_global_id(0)] = 0;\n"
             "    event_t a = async_work_group_copy(s, in, 2, 0), b;\n"
             "    %s\n"
             "    float x = s[get_local_id(0) & 1];\n"
             "    for (int k = 0; k < n; k++) x = x * x + k;\n"
             "    out[get_global_id(0)] = x;\n}\n",
             body);
    rig_open(&r);
    rig_compile(&r, text, "k");
    rig_buffer(&r, 64);
    rig_buffer(&r, 16384);
    rig_int(&r, 4096);
    rig_run_1d(&r, 1, 4);
    for (uint32_t i = 0; i < r.n_shaves; i++)
        cycles += r.result.profile.by_cause[i][MACH_CAUSE_DMA_WAIT];
    rig_close(&r);
    return cycles;
}

#define LONG "async_work_group_copy(t, in, n, "
#define SHORT "async_work_group_copy(s + 4, in, 2, "
static const struct {
    const char *copies;
    bool for_the_long_one;
} waits[] = {
    {"b = " LONG "0); wait_group_events(1, &b);", true},
    {"b = " LONG "0); wait_group_events(1, &a);", false},
    {LONG "a); wait_group_events(1, &a);", true},
    {"b = " LONG "a); wait_group_events(1, &b);", true},
    {"b = " SHORT "a); " LONG "b); wait_group_events(1, &a);", true},
    {"b = " SHORT "0); " LONG "b); wait_group_events(1, &a);", false},
    {"b = " SHORT "0); " LONG "b); wait_group_events(1, &b);", true},
    {"b = WorkGroupDmaCreateTransaction(in, t, n * 4, a);"
     "wait_group_events(1, &a);",
     true},
    {"b = async_work_group_copy_2D2D(t, in, n / 4, 4, 0, 0, a);"
     "wait_group_events(1, &a);",
     true},
    /* A wait for all there are is none for those that come. */
    {"wait_group_events(n / 4096, &a); a = " SHORT "0); b = " SHORT "0); " LONG
     "b); wait_group_events(1, &a); wait_group_events(1, &b);",
     true},
    /* More open events than are kept apart: too long a wait at worst. */
    {"event_t e[20]; for (int k = 0; k < 20; k++) {"
     "e[k] = " SHORT "0); " SHORT "e[k]); } " LONG "e[19]);"
     "wait_group_events(1, &e[19]);",
     true},
};

START_TEST(a_wait_is_for_what_joined)
{
    uint64_t is = wait_of(waits[_i].copies);
    uint64_t with_the_long = wait_of(waits[0].copies);

    ck_assert_msg((is * 2 > with_the_long) == waits[_i].for_the_long_one,
                  "%s: waits for %llu cycles, for the long one it is %llu",
                  waits[_i].copies, (unsigned long long)is,
                  (unsigned long long)with_the_long);
}
END_TEST

/* What joins an event returns it, whoever calls. */
START_TEST(an_event_is_returned)
{
    int *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global int *out, __global const int *in,\n"
                "                int n)\n{\n"
                "    __local int t[64];\n"
                "    event_t a = async_work_group_copy(t, in, 8, 0);\n"
                "    event_t b = async_work_group_copy(t + 8, in, 8, 0);\n"
                "    event_t c = async_work_group_copy(t + 16, in, 8, a);\n"
                "    event_t d = async_work_group_copy(t + 24, in, 8, b);\n"
                "    event_t e = async_work_group_copy(t + 32, in, 8, c);\n"
                "    event_t f = async_work_group_copy(t + 40, in, n, 0);\n"
                "    event_t all[3] = {a, b, f};\n"
                "    wait_group_events(3, all);\n"
                "    out[0] = a == c; out[1] = b == d; out[2] = a == e;\n"
                "    out[3] = a != b && f != a && f != b;\n"
                "    out[4] = a && b && f;\n}\n",
                "k");
    out = rig_buffer(&r, 64);
    in = rig_buffer(&r, 64);
    in[0] = 1;
    rig_int(&r, 8);
    rig_run_1d(&r, 1, 1);
    for (int i = 0; i < 5; i++)
        ck_assert_msg(out[i] == 1, "%d: %d", i, out[i]);
    rig_close(&r);
}
END_TEST

/* --- phases -------------------------------------------------------------- */

#define ARGS                                                      \
    "(__global half *src, __global half *dst, __local half *a,\n" \
    "    __local half *b, int w)\n"
#define PRELOAD                                                          \
    "__kernel void __dma_preload_k" ARGS "{\n"                           \
    "    WorkGroupDmaCreateStrideTransaction(\n"                         \
    "        src + get_group_id(0) * w + get_group_id(1) * 4 * 96, a,\n" \
    "        w * 2, w * 2, 96 * 2, w * 2, w * 4 * 2, 0);\n}\n"
#define POSTWRITE                                                        \
    "__kernel void __dma_postwrite_k" ARGS "{\n"                         \
    "    WorkGroupDmaCreateStrideTransaction(\n"                         \
    "        b, dst + get_group_id(0) * w + get_group_id(1) * 4 * 96,\n" \
    "        w * 2, w * 2, w * 2, 96 * 2, w * 4 * 2, 0);\n}\n"
#define INDEX                                             \
    "    int x = get_local_id(0), y = get_local_id(1);\n" \
    "    int i = (get_global_id(1)) * 96 + get_global_id(0);\n"

static const struct {
    const char *name, *text;
    int copies; /* of local_data: doubled when there are phases */
} phases[] = {
    {"both",
     PRELOAD POSTWRITE "__kernel void k" ARGS "{\n" INDEX
                       "    b[y * w + x] = a[y * w + x] * 2 + x;\n}\n",
     2},
    {"preload only",
     PRELOAD "__kernel void k" ARGS "{\n" INDEX
             "    dst[i] = a[y * w + x] * 2 + x;\n}\n",
     2},
    {"postwrite only",
     POSTWRITE "__kernel void k" ARGS "{\n" INDEX
               "    b[y * w + x] = src[i] * 2 + x;\n}\n",
     2},
    {"neither",
     "__kernel void k" ARGS "{\n" INDEX "    dst[i] = src[i] * 2 + x;\n}\n", 1},
    {"items that return early",
     PRELOAD POSTWRITE "__kernel void k" ARGS "{\n" INDEX
                       "    if (y > 3) return;\n"
                       "    b[y * w + x] = a[y * w + x] * 2 + x;\n}\n",
     2},
    {"signatures that differ in const",
     "__kernel void __dma_preload_k(__global const half *src,\n"
     "    __global half *dst, __local half *a, __local half *b, int w)\n{\n"
     "    WorkGroupDmaCreateStrideTransaction(\n"
     "        src + get_group_id(0) * w + get_group_id(1) * 4 * 96, a,\n"
     "        w * 2, w * 2, 96 * 2, w * 2, w * 4 * 2, 0);\n}\n" POSTWRITE
     "__kernel void k" ARGS "{\n" INDEX
     "    b[y * w + x] = a[y * w + x] * 2 + x;\n}\n",
     2},
};

START_TEST(with_phases)
{
    enum { X = 96, Y = 20 };
    static const uint32_t widths[] = {16, 12};
    _Float16 *src, *dst;
    rig r;

    rig_open(&r);
    rig_compile(&r, phases[_i].text, "k");
    for (int k = 0; k < 2; k++) {
        uint32_t w = widths[k];

        r.n_values = 0;
        src = rig_buffer(&r, X * Y * 2);
        dst = rig_buffer(&r, X * Y * 2);
        rig_local(&r, w * 4 * 2);
        rig_local(&r, w * 4 * 2);
        rig_int(&r, (int)w);
        for (int i = 0; i < X * Y; i++)
            src[i] = (_Float16)(float)(i % 500);
        for (r.order = EXEC_SEQUENTIAL; r.order <= EXEC_RANDOM; r.order++) {
            memset(dst, 0, X * Y * 2);
            rig_run_3d(&r, (uint32_t[]){X / w, Y / 4, 1},
                       (uint32_t[]){w, 4, 1});
            for (int i = 0; i < X * Y; i++) {
                float want = (float)(i % 500 * 2 + i % X % (int)w);

                ck_assert_msg((float)dst[i] == want,
                              "%s, %s, groups of %ux4, element %d: %g, "
                              "expected %g",
                              phases[_i].name,
                              sim_variant_name(r.result.variant), w, i,
                              (double)(float)dst[i], (double)want);
            }
            ck_assert_uint_eq(r.result.local_bytes,
                              (unsigned)phases[_i].copies * 2 *
                                  ((w * 8 + 15) & ~15u));
        }
    }
    rig_close(&r);
}
END_TEST

/* --- time ---------------------------------------------------------------- */

/* Cycles of a launch that copies 256 lines of 64 bytes, in DDR so many bytes
 * apart, into CMX or out of it. */
static uint64_t cycles_of_lines(unsigned apart, bool to_cmx)
{
    uint64_t cycles;
    rig r;

    rig_open(&r);
    r.desc.ddr_bank_hash = 0;
    rig_compile(
        &r,
        arena_printf(r.arena,
                     "__kernel void k(__global uchar *d)\n{\n"
                     "    __local uchar t[256 * 64];\n"
                     "    event_t e = WorkGroupDmaCreateStrideTransaction(\n"
                     "        %s, 64, 64, %u, %u, sizeof t, 0);\n"
                     "    wait_group_events(1, &e);\n}\n",
                     to_cmx ? "d, t" : "t, d", to_cmx ? apart : 64,
                     to_cmx ? 64 : apart),
        "k");
    rig_buffer(&r, 256 * apart);
    rig_run_1d(&r, 1, 1);
    cycles = r.result.profile.cycles;
    rig_close(&r);
    return cycles;
}

/* Each line in a row of its own of one bank, as banks are not hashed, or many
 * lines in a row. */
START_TEST(rows_of_ddr_take_time)
{
    ck_assert_uint_gt(cycles_of_lines(1 << 16, _i), cycles_of_lines(128, _i));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernels: copies");
    TCase *c = tcase_create("copies");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 30);
    tcase_add_loop_test(c, one_copy, 0, 2 * N_COPIES);
    tcase_add_loop_test(c, copy_beyond_all_addresses, 0, N_OUTSIDE);
    tcase_add_loop_test(c, size_of_more_than_32_bits, 0, N_WRAPPING);
    tcase_add_test(c, lines_backwards);
    tcase_add_test(c, strided_copy);
    tcase_add_test(c, copies_in_a_loop);
    tcase_add_loop_test(c, a_wait_is_for_what_joined, 0,
                        sizeof waits / sizeof *waits);
    tcase_add_test(c, an_event_is_returned);
    tcase_add_loop_test(c, with_phases, 0, sizeof phases / sizeof *phases);
    tcase_add_loop_test(c, rows_of_ddr_take_time, 0, 2);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
