/* Vectors: literals, swizzles, as_type, shuffles, geometric functions, and the
 * VPU's own functions. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "sim/builtins/routines.h"
#include "tests/support/rig.h"

/* --- statements whose result is a list of ints --------------------------- */

static const struct {
    const char *statements; /* on __global int *o */
    int want[16];
    unsigned n;
} programs[] = {
    {"vstore4((int4)(1, (int2)(2, 3), 4), 0, o)", {1, 2, 3, 4}, 4},
    {"vstore4((int4)(one * 7), 0, o)", {7, 7, 7, 7}, 4},
    {"vstore8((int8)((int3)(one, 2, 3), (int4)(4, 5, 6, 7), 8), 0, o)",
     {1, 2, 3, 4, 5, 6, 7, 8},
     8},
    {"vstore16((int16)((int8)(one), (int4)(2), 3, 4, (int2)(5)), 0, o)",
     {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5, 5},
     16},
    {"int4 v = (int4)(1, 2, 3, 4) * one; vstore4(v.wzyx, 0, o)",
     {4, 3, 2, 1},
     4},
    {"int4 v = (int4)(1, 2, 3, 4) * one; v.xz = v.wy; vstore4(v, 0, o)",
     {4, 2, 2, 4},
     4},
    {"int8 v = (int8)(0, 1, 2, 3, 4, 5, 6, 7) * one; vstore4(v.hi, 0, o); "
     "vstore4(v.odd, 1, o); vstore2(v.lo.even, 4, o)",
     {4, 5, 6, 7, 1, 3, 5, 7, 0, 2},
     10},
    {"int16 v = 0; v.sF = 15; v.sa = one; v.s01 = (int2)(8, 9); vstore16(v, 0, "
     "o)",
     {8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 15},
     16},
    {"int3 v = (int3)(1, 2, 3) * one; vstore3(v.zxy, 0, o); o[3] = sizeof v",
     {3, 1, 2, 16},
     4},
    {"int4 v = (int4)(1, 2, 3, 4); ((int *)&v)[one] = 9; vstore4(v, 0, o)",
     {1, 9, 3, 4},
     4},
    {"int4 v = (int4)(5, 6, 7, 8); int s = 0; for (int n = 0; n < 4; n++) s = "
     "s * 10 + v[n * one]; o[0] = s",
     {5678},
     1},
    {"int4 a = (int4)(1, 5, 3, 7) * one, b = (int4)(4); vstore4(a < b, 0, o); "
     "vstore4(a == 5 ? b : -a, 1, o)",
     {-1, 0, -1, 0, -1, 4, -3, -7},
     8},
    {"int4 a = (int4)(0, 5, 0, 7) * one; vstore4(!a, 0, o); vstore4(a && "
     "(int4)(1), 1, o)",
     {-1, 0, -1, 0, 0, -1, 0, -1},
     8},
    {"int2 a = (int2)(1, 33) * one; vstore2((int2)(1) << a, 0, o)", {2, 2}, 2},
    {"o[0] = as_int(1.0f * one); o[1] = as_int((short2)(1, one)); o[2] = "
     "as_int(as_half4((short4)(1, 2, 3, 4)).xy)",
     {0x3f800000, 0x10001, 0x20001},
     3},
    {"uchar4 c = as_uchar4(0x04030201 * one); vstore4(convert_int4(c), 0, o)",
     {1, 2, 3, 4},
     4},
    {"int4 v = as_int4((short8)(1, 2, 3, 4, 5, 6, 7, 8)); vstore4(v, 0, o)",
     {0x20001, 0x40003, 0x60005, 0x80007},
     4},
    {"int3 v = as_int3((int4)(1, 2, 3, 4) * one); vstore3(v, 0, o); int4 w = "
     "as_int4(v); vstore3(w.xyz, 1, o)",
     {1, 2, 3, 1, 2, 3},
     6},
    {"long l = as_long((int2)(1, 2) * one); o[0] = (int)l; o[1] = l >> 32",
     {1, 2},
     2},
    {"uint4 m = (uint4)(3, 0, 6, 1) * one; vstore4(shuffle((int4)(10, 11, 12, "
     "13), m), 0, o)",
     {13, 10, 12, 11},
     4},
    {"uint8 m = (uint8)(3, 0, 6, 1, 7, 15, 4, 8); vstore8(shuffle2((int4)(10, "
     "11, 12, 13) * one, (int4)(20, 21, 22, 23), m), 0, o)",
     {13, 10, 22, 11, 23, 23, 20, 10},
     8},
    {"uint2 m = (uint2)(9, 17) * one; vstore2(shuffle((int8)(0, 1, 2, 3, 4, 5, "
     "6, 7), m), 0, o)",
     {1, 1},
     2},
    {"uchar16 m = (uchar16)(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, "
     "0); uchar16 v = (uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "
     "14, 15) * (uchar)one; vstore16(convert_int16(shuffle(v, m)), 0, o)",
     {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
     16},
    {"ushort4 m = (ushort4)(0, 2, 1, 3); half2 a = (half2)(1, 2) * (half)one, "
     "b = (half2)(3, 4); vstore4(convert_int4(shuffle2(a, b, m)), 0, o)",
     {1, 3, 2, 4},
     4},
    {"o[0] = any((int4)(0, 1, 2, 3) * one); o[1] = any((int4)(0, -one, 0, 0)); "
     "o[2] = all((int2)(-1, 1) * one); o[3] = all((int3)(-one)); o[4] = "
     "any((char)(-one)); o[5] = all((long2)(LONG_MIN, -one)); o[6] = "
     "any((short3)(0, 0, -one)); o[7] = all((uchar)1 - (char)2 * one)",
     {0, 1, 0, 1, 1, 1, 1, 1},
     8},
    {"char4 c = (char4)(1, -1, 0, -128) * (char)one; "
     "vstore4(convert_int4(select((char4)(5), (char4)(6), c)), 0, o); o[4] = "
     "select(5, 6, one); o[5] = select(5, 6, one - 1); o[6] = select(5L, 6L, "
     "(long)one); o[7] = select(5u, 6u, (uint)one)",
     {5, 6, 5, 6, 6, 5, 6, 6},
     8},
    {"vstore2(select((int2)(1, 2), (int2)(3, 4), (uint2)(0x80000000u * one, "
     "0x7fffffff)), 0, o)",
     {3, 2},
     2},
    {"o[0] = bitselect(0x0f0f, 0x3333, 0xff * one); vstore2(convert_int2("
     "bitselect((uchar2)(0xaa), (uchar2)(0x55), (uchar2)(0xf0, 0x0f))), 1, "
     "o + 0)",
     {0x0f33, 0, 0x5a, 0xa5},
     4},
    {"o[0] = __builtin_shave_cmu_min_i32_rr_int(one, -5); o[1] = "
     "__builtin_shave_cmu_min_i32_rr_int(3, 4 * one)",
     {-5, 3},
     2},
    {"short8 a = (short8)(0, 1, 2, 3, 4, 5, 6, 7) * (short)one, b = a + "
     "(short)8; vstore8(convert_int8("
     "__builtin_shave_cmu_alignvec_rri_short8(a, b, 6)), 0, o)",
     {3, 4, 5, 6, 7, 8, 9, 10},
     8},
    {"short8 a = (short8)(0, 1, 2, 3, 4, 5, 6, 7) * (short)one, b = a + "
     "(short)8; vstore8(convert_int8("
     "__builtin_shave_cmu_alignvec_rri_short8(a, b, 0)), 0, o)",
     {0, 1, 2, 3, 4, 5, 6, 7},
     8},
    {"half8 v = (half8)(1, 2, 3, 4, 5, 6, 7, 8) * (half)one; o[0] = "
     "__builtin_shave_sau_sumx_f16_r(v); o[1] = "
     "__builtin_shave_sau_exp2_f16_l_r((half)(5 * one)) ",
     {36, 32},
     2},
};

START_TEST(program)
{
    int *o;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(r.arena,
                             "__kernel void k(__global int *o, int one)\n{\n"
                             "    %s;\n}\n",
                             programs[_i].statements),
                "k");
    o = rig_buffer(&r, 64);
    rig_int(&r, 1);
    rig_run_1d(&r, 1, 1);
    for (unsigned i = 0; i < programs[_i].n; i++)
        ck_assert_msg(o[i] == programs[_i].want[i], "%s: [%u] %d, not %d",
                      programs[_i].statements, i, o[i], programs[_i].want[i]);
    rig_close(&r);
}
END_TEST

/* --- geometric ----------------------------------------------------------- */

enum { N_VECTORS = 1024 };

static double at(const void *p, bool half, size_t i)
{
    return half ? (double)((const builtin_half *)p)[i]
                : (double)((const float *)p)[i];
}

static void near(const char *what, double got, double want, double error)
{
    ck_assert_msg(fabs(got - want) <= error, "%s: %a, not %a by up to %a", what,
                  got, want, error);
}

/* Index: half, lanes - 1; a few functions at once. */
START_TEST(geometric)
{
    bool half = _i & 1;
    unsigned n = (unsigned)_i / 2 + 1;
    const char *t = half ? "half" : "float", *w = "", *load = "%c[i]";
    /* each operation's rounding, and a result's least place */
    double eps = half ? 0x1p-11 : 0x1p-24, tiny = half ? 0x1p-24 : 0x1p-149;
    void *o, *m, *a, *b;
    rig r;

    rig_open(&r);
    if (n > 1) {
        w = arena_printf(r.arena, "%u", n);
        load = arena_printf(r.arena, "vload%u(i, %%c)", n);
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    rig_compile(
        &r,
        arena_printf(
            r.arena,
            "__kernel void k(__global %s *o, __global %s *m, __global const %s "
            "*a, __global const %s *b)\n{\n    int i = get_global_id(0);\n"
            "    %s%s x = %s, y = %s, v;\n"
            "    o[4 * i] = dot(x, y);\n    o[4 * i + 1] = length(x);\n"
            "    o[4 * i + 2] = distance(x, y);\n"
            "    o[4 * i + 3] = %s;\n    v = normalize(x);\n    %s;\n"
            "    %s\n}\n",
            t, t, t, t, t, w, arena_printf(r.arena, load, 'a'),
            arena_printf(r.arena, load, 'b'),
            half ? "0" : "fast_distance(x, y) - fast_length(x - y)",
            n > 1 ? arena_printf(r.arena, "vstore%u(v, 2 * i, m)", n)
                  : "m[2 * i] = v",
            n == 3   ? "vstore3(cross(x, y), 2 * i + 1, m);"
            : n == 4 ? "vstore4(cross(x, y), 2 * i + 1, m);"
                     : ""),
        "k");
#pragma GCC diagnostic pop
    o = rig_buffer(&r, N_VECTORS * 4 * 4);
    m = rig_buffer(&r, N_VECTORS * 4 * 4 * 2);
    a = rig_buffer(&r, N_VECTORS * 4 * 4);
    b = rig_buffer(&r, N_VECTORS * 4 * 4);
    for (uint32_t i = 0; i < N_VECTORS * n; i++) {
        /* up to 2^14 squared overflows a half; vector 0 is zero */
        float x = (float)(int32_t)rig_noise(2 * i) *
                  (i / n % 3 ? 0x1p-28f : 0x1p-18f);
        float y = (float)(int32_t)rig_noise(2 * i + 1) * 0x1p-28f;

        if (i < n)
            x = 0;
        if (half) {
            ((builtin_half *)a)[i] = (builtin_half)x;
            ((builtin_half *)b)[i] = (builtin_half)y;
        } else {
            ((float *)a)[i] = x;
            ((float *)b)[i] = y;
        }
    }
    rig_run_1d(&r, N_VECTORS / 16, 16);
    for (uint32_t i = 0; i < N_VECTORS; i++) {
        double x[4] = {0}, y[4] = {0}, dot = 0, size = 0, squares = 0, far = 0;

        for (unsigned k = 0; k < n; k++) {
            x[k] = at(a, half, i * n + k);
            y[k] = at(b, half, i * n + k);
            dot += x[k] * y[k];
            size += fabs(x[k] * y[k]);
            squares += x[k] * x[k];
            far += (x[k] - y[k]) * (x[k] - y[k]);
        }
        if (!half || size < 60000)
            near("dot", at(o, half, 4 * i), dot, 2 * n * eps * size + tiny);
        near("length", at(o, half, 4 * i + 1), sqrt(squares),
             4 * eps * sqrt(squares) + tiny);
        near("distance", at(o, half, 4 * i + 2), sqrt(far),
             4 * eps * sqrt(far) + tiny);
        near("fast_distance", at(o, half, 4 * i + 3), 0, 8 * eps * sqrt(far));
        for (unsigned k = 0; k < n; k++)
            near("normalize", at(m, half, 2 * i * n + k),
                 squares > 0 ? x[k] / sqrt(squares) : 0, 4 * eps);
        for (unsigned k = 0; n >= 3 && k < n; k++) {
            unsigned p = (k + 1) % 3, q = (k + 2) % 3;
            double u = x[p] * y[q], v = x[q] * y[p];

            if (k == 3)
                near("cross", at(m, half, (2 * i + 1) * n + k), 0, 0);
            else if (!half || fabs(u) + fabs(v) < 60000)
                near("cross", at(m, half, (2 * i + 1) * n + k), u - v,
                     3 * eps * (fabs(u) + fabs(v)) + tiny);
        }
    }
    rig_close(&r);
}
END_TEST

/* --- work-item DMA ------------------------------------------------------- */

static const char dma_source[] =
    "#define COPY(how, src, dst, ...) do { item_dma_event_t e = \\\n"
    "    how(src, dst, __VA_ARGS__, 0); WaitWorkItemDmaEvents(1, &e); } \\\n"
    "    while (0)\n"
    "__kernel void k(__global uint *o, __global uint *a)\n{\n"
    "    int i = get_global_id(0);\n    uint p[16];\n"
    "    for (int n = 0; n < 16; n++) p[n] = 0;\n"
    "    if (KIND == 0) {\n"
    "        COPY(WorkItemDmaCreateTransaction, a + 16 * i, p, 64);\n"
    "        for (int n = 0; n < 16; n++) p[n] += i;\n"
    "        COPY(WorkItemDmaCreateTransaction, p, o + 16 * i, 64);\n"
    "    } else if (KIND == 1) { /* every other pair, together */\n"
    "        COPY(WorkItemDmaCreateStrideTransaction, a + 16 * i, p, 8, 8, 16, "
    "8, 32);\n"
    "        COPY(WorkItemDmaCreateStrideTransaction, p, o + 16 * i, 4, 4, 4, "
    "8, 32);\n"
    "    } else { /* two planes of two words, four words apart */\n"
    "        COPY(WorkItemDmaCreate3DTransaction, a + 16 * i, p, 4, 4, 8, 4, "
    "2, 32, 8, 8);\n"
    "        COPY(WorkItemDmaCreateTransaction, p, o + 16 * i, 64);\n"
    "    }\n}\n";

START_TEST(item_dma)
{
    uint32_t *o, *a;
    rig r;

    rig_open(&r);
    rig_compile(
        &r, arena_printf(r.arena, "#define KIND %d\n%s", _i, dma_source), "k");
    o = rig_buffer(&r, 20 * 64);
    a = rig_buffer(&r, 20 * 64);
    for (uint32_t i = 0; i < 20 * 16; i++)
        a[i] = rig_noise(i);
    rig_run_1d(&r, 20, 1);
    for (uint32_t i = 0; i < 20 * 16; i++) {
        uint32_t n = i % 16, from = i - n, want;

        if (_i == 0)
            want = a[i] + i / 16;
        else if (_i == 1) /* word n / 2 of p is word n / 4 * 4 + n / 2 % 2 */
            want = n % 2 ? 0 : a[from + n / 4 * 4 + n / 2 % 2];
        else
            want = n < 4 ? a[from + n / 2 * 8 + n % 2 * 2] : 0;
        ck_assert_msg(o[i] == want, "kind %d, word %u: %#x, not %#x", _i, i,
                      o[i], want);
    }
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("built-ins: vectors");
    TCase *c = tcase_create("functions");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, program, 0, sizeof programs / sizeof *programs);
    tcase_add_loop_test(c, geometric, 0, 8);
    tcase_add_loop_test(c, item_dma, 0, 3);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
