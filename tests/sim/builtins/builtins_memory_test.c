/* Built-ins on memory and about work-items: vloadn, vstoren and their half
 * forms, atomics, printf, work-item functions, work-item DMA. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/builtins/routines.h"
#include "tests/support/rig.h"

static const unsigned widths[] = {2, 3, 4, 8, 16};
static const char *const elements[] = {"char", "uchar", "short", "ushort",
                                       "int",  "uint",  "long",  "ulong",
                                       "half", "float"};
static const unsigned sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4};

static void noise(void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)p)[i] = (uint8_t)rig_noise(i);
}

/* Vectors move between global, local and private memory, at element
 * alignment: everything is off by one element. */
START_TEST(vload_vstore)
{
    unsigned type = (unsigned)_i / 2, width = widths[(type + 2 * (_i % 2)) % 5];
    unsigned size = sizes[type], n = 64 * width + 1;
    const char *t = elements[type];
    uint8_t *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(
                    r.arena,
                    "__kernel void k(__global %s *o, __global const %s *a)\n{\n"
                    "    int i = get_global_id(0), l = get_local_id(0);\n"
                    "    __local %s m[%u];\n    %s p[%u];\n"
                    "    vstore%u(vload%u(i, a + 1), l, m + 1);\n"
                    "    for (int n = 0; n < %u; n++) p[n] = 1;\n"
                    "    vstore%u(vload%u(l, m + 1), l & 1, p + 1);\n"
                    "    vstore%u(vload%u(l & 1, p + 1), i, o + 1);\n}\n",
                    t, t, t, 16 * width + 1, t, 2 * width + 1, width, width,
                    2 * width + 1, width, width, width, width),
                "k");
    out = rig_buffer(&r, (uint64_t)n * size);
    in = rig_buffer(&r, (uint64_t)n * size);
    noise(in, (size_t)n * size);
    rig_run_1d(&r, 4, 16);
    ck_assert(!memcmp(out + size, in + size, (size_t)(n - 1) * size));
    for (unsigned i = 0; i < size; i++)
        ck_assert_uint_eq(out[i], 0);
    rig_close(&r);
}
END_TEST

/* vload_halfn, vloada_halfn and vstore(a)_halfn in all roundings. */
START_TEST(vector_halves)
{
    static const char *const modes[] = {"", "_rte", "_rtz", "_rtp", "_rtn"};
    unsigned width = _i % 6 ? widths[_i % 6 - 1] : 1;
    const char *a = _i / 6 % 2 ? "a" : "", *mode = modes[_i / 12];
    unsigned apart = width == 3 && *a ? 4 : width, n = 4096;
    const char *w = "", *set = "v = x;";
    uint16_t *out, want;
    float *back, *in;
    rig r;

    if (width == 1 && *a)
        return; /* no such function */
    rig_open(&r);
    if (width > 1) {
        w = arena_printf(r.arena, "%u", width);
        set = arena_printf(r.arena, "v = vload%u(i, a);", width);
    } else {
        set = "v = a[i];";
    }
    rig_compile(
        &r,
        arena_printf(r.arena,
                     "__kernel void k(__global half *o, __global float *b, "
                     "__global const float *a)\n{\n"
                     "    int i = get_global_id(0);\n    float%s v;\n    %s\n"
                     "    vstore%s_half%s%s(v, i, o);\n"
                     "    v = vload%s_half%s(i, o);\n    %s\n}\n",
                     w, set, a, w, mode, a, w,
                     width > 1
                         ? arena_printf(r.arena, "vstore%u(v, i, b);", width)
                         : "b[i] = v;"),
        "k");
    out = rig_buffer(&r, n * apart * 2);
    back = rig_buffer(&r, n * width * 4);
    in = rig_buffer(&r, n * width * 4);
    memset(out, 0x77, n * apart * 2);
    for (unsigned i = 0; i < n * width; i++) {
        uint32_t bits = rig_noise(i);

        /* exponents around a half's, subnormals and overflow included */
        bits = (bits & 0x807fffff) | ((bits >> 23) % 48 + 98) << 23;
        if (i % 7 == 0)
            bits &= 0xffffe000;
        memcpy(&in[i], &bits, 4);
    }
    rig_run_1d(&r, n / 16, 16);
    for (unsigned i = 0; i < n * width; i++) {
        unsigned at = i / width * apart + i % width;
        builtin_half h = (builtin_half)in[i];
        float f = (float)h;

        memcpy(&want, &h, 2);
        /* step from the nearest to the neighbour, in sign and magnitude */
        if (_i / 12 >= 2 && f != in[i]) {
            bool up = _i / 12 == 3 || (_i / 12 == 2 && in[i] < 0);
            bool negative = in[i] < 0;

            if (up && f < in[i])
                want = (uint16_t)(negative ? want - 1 : want + 1);
            if (!up && f > in[i])
                want = (uint16_t)(negative ? want + 1 : want - 1);
        }
        ck_assert_msg(out[at] == want, "vstore%s_half%s%s(%a): %#x, not %#x", a,
                      w, mode, (double)in[i], out[at], want);
        memcpy(&h, &want, 2);
        ck_assert_msg(back[i] == (float)h, "vload%s_half%s(%#x): %a", a, w,
                      want, (double)back[i]);
    }
    for (unsigned i = 0; apart != width && i < n; i++)
        ck_assert_uint_eq(out[i * 4 + 3], 0x7777);
    rig_close(&r);
}
END_TEST

/* --- atomics ------------------------------------------------------------- */

static int64_t op(unsigned which, int64_t old, int64_t v)
{
    switch (which) {
    case 0:
        return old + v;
    case 1:
        return old - v;
    case 2:
        return v;
    case 3:
        return old + 1;
    case 4:
        return old - 1;
    case 5:
        return v < old ? v : old;
    case 6:
        return v > old ? v : old;
    case 7:
        return old & v;
    case 8:
        return old | v;
    case 9:
        return old ^ v;
    default:
        return old == v ? v + 5 : old;
    }
}

static const char *const calls[] = {
    "add(p, v)", "sub(p, v)", "xchg(p, v)",          "inc(p)",
    "dec(p)",    "min(p, v)", "max(p, v)",           "and(p, v)",
    "or(p, v)",  "xor(p, v)", "cmpxchg(p, v, v + 5)"};

/* Index: operation, type, place, prefix. */
START_TEST(atomic)
{
    unsigned which = (unsigned)_i % 11;
    bool is_signed = _i / 11 & 1, local = _i / 22 & 1, old_name = _i / 44 & 1;
    const char *t = is_signed ? "int" : "uint";
    uint32_t *out, *mem, *values;
    rig r;

    rig_open(&r);
    r.n_shaves = 1; /* one order */
    rig_compile(
        &r,
        arena_printf(r.arena,
                     "%s__kernel void k(__global %s *o, __global %s *m, "
                     "__global const %s *a)\n{\n"
                     "    int i = get_global_id(0);\n"
                     "    __local %s w[17];\n"
                     "    %s %s *p = %s;\n    %s v = a[i];\n"
                     "    *p = m[i + 1];\n"
                     "    o[i] = %s_%s;\n    m[i + 1] = *p;\n}\n",
                     old_name ? "#pragma OPENCL EXTENSION "
                                "cl_khr_global_int32_base_atomics : enable\n"
                              : "",
                     t, t, t, t, local ? "__local" : "__global", t,
                     local ? "w + get_local_id(0)" : "m + i + 1", t,
                     old_name ? "atom" : "atomic", calls[which]),
        "k");
    out = rig_buffer(&r, 256 * 4);
    mem = rig_buffer(&r, 257 * 4);
    values = rig_buffer(&r, 256 * 4);
    ck_assert_ptr_nonnull(out);
    for (unsigned i = 0; i < 256; i++) {
        values[i] = rig_noise(i);
        mem[i + 1] = i % 3 ? rig_noise(i + 1000) : values[i];
    }
    rig_run_1d(&r, 16, 16);
    for (unsigned i = 0; i < 256; i++) {
        uint32_t was = i % 3 ? rig_noise(i + 1000) : values[i];
        int64_t old = is_signed ? (int32_t)was : (int64_t)was;
        int64_t v = is_signed ? (int32_t)values[i] : (int64_t)values[i];

        ck_assert_uint_eq(out[i], was);
        ck_assert_uint_eq(mem[i + 1], (uint32_t)op(which, old, v));
    }
    rig_close(&r);
}
END_TEST

/* --- printf -------------------------------------------------------------- */

static void keep(void *user, const char *text, size_t n)
{
    str_add(user, text, n);
}

static const struct {
    const char *statement, *want;
} prints[] = {
    {"printf(\"plain %% text\\n\")", "plain % text\n"},
    {"printf(\"%d %i %u|%5d|%-5d|%05d|%+d\\n\", -7, 8, 9u, 42, 42, 42, 42)",
     "-7 8 9|   42|42   |00042|+42\n"},
    {"printf(\"%x %X %#x %o %#o\\n\", 255, 255, 255, 8, 8)",
     "ff FF 0xff 10 010\n"},
    {"printf(\"%.3d|%8.3d|% d\\n\", 5, 5, 5)", "005|     005| 5\n"},
    {"printf(\"%ld %lu %lx\\n\", -5000000000L, 18446744073709551615UL, "
     "0x123456789abcL)",
     "-5000000000 18446744073709551615 123456789abc\n"},
    {"printf(\"%hhd %hd %hhu %hhx %hx\\n\", (char)-1, (short)-2, (uchar)200, "
     "(char)-1, (short)-1)",
     "-1 -2 200 ff ffff\n"},
    {"printf(\"%hhd %hhx %hd\\n\", 511, 0x1234, 65537)", "-1 34 1\n"},
    {"printf(\"%f %.2f %e %g %a %8.3f|%-8.1f|\\n\", 1.5f, 2.25f, 12345.0f, "
     "0.0001f, 1.0f, 3.14159f, 2.5f)",
     "1.500000 2.25 1.234500e+04 0.0001 0x1p+0    3.142|2.5     |\n"},
    {"printf(\"%f %F %e\\n\", INFINITY, -INFINITY, NAN)", "inf -INF nan\n"},
    {"printf(\"%c%c|%3c|%-3c|\\n\", 'a', 98, 'c', 'd')", "ab|  c|d  |\n"},
    {"printf(\"%s|%8s|%-8s|%.2s\\n\", \"text\", \"right\", \"left\", "
     "\"cut\")",
     "text|   right|left    |cu\n"},
    {"printf(\"%v4d\\n\", (int4)(1, -2, 3, -4))", "1,-2,3,-4\n"},
    {"printf(\"%v4hld\\n\", (int4)(1, -2, 3, -4))", "1,-2,3,-4\n"},
    {"printf(\"%v2hlf %v3hlf\\n\", (float2)(1, 2), (float3)(1, 2, 3))",
     "1.000000,2.000000 1.000000,2.000000,3.000000\n"},
    {"printf(\"%6.2v4hlf|\\n\", (float4)(1, 2, 3, 4))",
     "  1.00,  2.00,  3.00,  4.00|\n"},
    {"printf(\"%v4hhu %v8hd\\n\", (uchar4)(1, 2, 255, 4), (short8)(-1))",
     "1,2,255,4 -1,-1,-1,-1,-1,-1,-1,-1\n"},
    {"printf(\"%v16hhx\\n\", (uchar16)(171))",
     "ab,ab,ab,ab,ab,ab,ab,ab,ab,ab,ab,ab,ab,ab,ab,ab\n"},
    {"printf(\"%#v2lx\\n\", (ulong2)(16, 17))", "0x10,0x11\n"},
    {"printf(\"%f %.1f\\n\", (half)1.5f, (half)0.25f)", "1.500000 0.2\n"},
    {"printf(\"%v4hf\\n\", (half4)(1, 2, 3, 0.5h))",
     "1.000000,2.000000,3.000000,0.500000\n"},
    {"int n = printf(\"x\"); printf(\"%d\\n\", n)", "x0\n"},
};

START_TEST(print)
{
    str text = {0};
    exec_launch l = {.name = "test",
                     .groups = {1, 1, 1},
                     .local = {1, 1, 1},
                     .how.n_shaves = 1,
                     .how.n_threads = 1,
                     .print = keep,
                     .print_user = &text};
    vpu_status st;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(r.arena, "__kernel void k(void)\n{\n    %s;\n}\n",
                             prints[_i].statement),
                "k");
    l.kernel = r.kernel;
    st = exec_run(r.mem, &r.desc, &l, &r.result, &r.err);
    ck_assert_msg(!st, "%s", r.err.msg);
    ck_assert_str_eq(str_text(&text), prints[_i].want);
    str_free(&text);
    rig_close(&r);
}
END_TEST

/* --- work-items ---------------------------------------------------------- */

START_TEST(work_items)
{
    /* Constant dimensions, one of a variable, and out of range. */
    static const char source[] =
        "#define ALL(d) get_global_id(d), get_local_id(d), get_group_id(d), "
        "get_global_size(d), get_local_size(d), get_num_groups(d), "
        "get_global_offset(d), get_work_dim()\n"
        "__kernel void k(__global uint8 *o, int one)\n{\n"
        "    int i = ((get_global_id(2) - get_global_offset(2)) * "
        "get_global_size(1) + get_global_id(1) - get_global_offset(1)) * "
        "get_global_size(0) + get_global_id(0) - get_global_offset(0);\n"
        "    o[8 * i] = (uint8)(ALL(0));\n"
        "    o[8 * i + 1] = (uint8)(ALL(1));\n"
        "    o[8 * i + 2] = (uint8)(ALL(2));\n"
        "    o[8 * i + 3] = (uint8)(ALL(3));\n"
        "    for (uint d = 0; d < 4; d++)\n"
        "        o[8 * i + 4 + d] = (uint8)(ALL(d * one));\n}\n";
    static const uint32_t groups[3] = {2, 3, 2};
    static const uint32_t offsets[2][3] = {{0, 0, 0}, {5, 70000, 1u << 31}};
    const uint32_t *offset = offsets[_i / 2];
    const uint32_t local[3] = {_i % 2 ? 16 : 3, 2, 2};
    const uint32_t size[3] = {groups[0] * local[0], 6, 4};
    uint32_t *out, n = size[0] * size[1] * size[2];
    rig r;

    rig_open(&r);
    rig_compile(&r, source, "k");
    out = rig_buffer(&r, n * 8 * 32);
    rig_int(&r, 1);
    memcpy(r.offset, offset, sizeof r.offset);
    rig_run_3d(&r, groups, local);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id[3] = {i % size[0], i / size[0] % size[1],
                          i / size[0] / size[1]};

        for (unsigned k = 0; k < 8; k++) {
            const uint32_t *got = out + ((size_t)i * 8 + k) * 8;
            unsigned d = k % 4;
            const uint32_t none[7] = {0, 0, 0, 1, 1, 1, 0};
            const uint32_t want[7] = {id[d % 3] + offset[d % 3],
                                      id[d % 3] % local[d % 3],
                                      id[d % 3] / local[d % 3],
                                      size[d % 3],
                                      local[d % 3],
                                      groups[d % 3],
                                      offset[d % 3]};

            for (unsigned f = 0; f < 7; f++)
                ck_assert_msg(got[f] == (d < 3 ? want : none)[f],
                              "function %u of dimension %u%s, item %u: %u", f,
                              d, k < 4 ? "" : " (variable)", i, got[f]);
            ck_assert_uint_eq(got[7], 3);
        }
    }
    rig_close(&r);
}
END_TEST

/* As many as the host says, and what does not fit them is refused. */
START_TEST(work_dimensions)
{
    static const uint32_t one[3] = {1, 1, 1}, deep[3] = {1, 1, 2};
    rig r;
    int *out;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global int *o)\n{\n"
                "    o[get_global_id(0)] = get_work_dim();\n}\n",
                "k");
    out = rig_buffer(&r, 4);
    for (uint32_t d = 0; d <= 3; d++) {
        r.work_dim = d;
        rig_run_3d(&r, one, one);
        ck_assert_int_eq(*out, d ? (int)d : 3);
    }
    r.work_dim = 2;
    ck_assert_int_eq(rig_run(&r, deep, one), VPU_ERR_INVALID);
    ck_assert_int_eq(rig_run(&r, one, deep), VPU_ERR_INVALID);
    r.work_dim = 4;
    ck_assert_int_eq(rig_run(&r, one, one), VPU_ERR_INVALID);
    r.work_dim = 0;
    r.offset[1] = UINT32_MAX;
    rig_run_3d(&r, one, one);
    r.offset[2] = UINT32_MAX;
    ck_assert_int_eq(rig_run(&r, deep, one), VPU_ERR_INVALID);
    ck_assert(strstr(r.err.msg, "ids have 32 bits"));
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("built-ins: memory");
    TCase *c = tcase_create("functions");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, vload_vstore, 0, 20);
    tcase_add_loop_test(c, vector_halves, 0, 60);
    tcase_add_loop_test(c, atomic, 0, 66); /* atom_ in global memory only */
    tcase_add_loop_test(c, print, 0, sizeof prints / sizeof *prints);
    tcase_add_loop_test(c, work_items, 0, 4);
    tcase_add_test(c, work_dimensions);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
