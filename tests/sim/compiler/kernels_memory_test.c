/* Memory as kernels see it: strides and gathers, vectors at any alignment,
 * structures, tables, atomics, orders of groups and threads. */
#include <check.h>
#include <string.h>

#include "tests/support/rig.h"

enum { N = 640 };

/* --- access patterns: out[i] and in[…] of one type ----------------------- */

typedef int pattern(int i);

static int same_place(int i)
{
    return i;
}

static int reversed(int i)
{
    return N - 1 - i;
}

static int every_second(int i)
{
    return 2 * i % N;
}

static int first(int i)
{
    (void)i;
    return 0;
}

static int scattered(int i)
{
    return (i * 271 + 13) % N;
}

static int next_but(int i)
{
    return (i + 3) % N;
}

static const struct {
    const char *index;
    pattern *host;
} patterns[] = {
    {"i", same_place},
    {"N - 1 - i", reversed},
    {"2 * i % N", every_second},
    {"0", first},
    {"(i * 271 + 13) % N", scattered},
    {"(i + 3) % N", next_but},
    {"N - i - 1 - get_global_offset(0)", reversed},
    {"get_group_id(0) * get_local_size(0) + get_local_id(0)", same_place},
    {"table[i & 3] * 0 + i", same_place},
};
enum { N_PATTERNS = sizeof patterns / sizeof *patterns };
static const struct {
    const char *name;
    unsigned bytes;
} types[] = {{"uchar", 1}, {"short", 2}, {"half", 2},
             {"float", 4}, {"uint", 4},  {"ulong", 8}};
enum { N_TYPES = sizeof types / sizeof *types };

/* Loads with one pattern, stores with a permutation. */
START_TEST(access_patterns)
{
    const char *type = types[_i % N_TYPES].name;
    unsigned bytes = types[_i % N_TYPES].bytes;
    int load = _i / N_TYPES, store = load % 2; /* straight or reversed */
    uint8_t *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(r.arena,
                             "#define N %d\n"
                             "__constant int table[4] = {1, 2, 3, 4};\n"
                             "__kernel void k(__global %s *out,\n"
                             "                __global const %s *in)\n{\n"
                             "    int i = get_global_id(0);\n"
                             "    out[%s] = in[%s];\n}\n",
                             N, type, type, patterns[store].index,
                             patterns[load].index),
                "k");
    out = rig_buffer(&r, N * bytes);
    in = rig_buffer(&r, N * bytes);
    for (unsigned i = 0; i < N * bytes; i++)
        in[i] = (uint8_t)(rig_noise(i) & 0x3f); /* no NaN */
    for (uint32_t local = 16; local; local = local == 16 ? 5 : 0) {
        memset(out, 0xee, N * bytes);
        rig_run_1d(&r, N / local, local);
        ck_assert_int_eq(r.result.variant,
                         local == 16 ? SIM_VECTORIZED : SIM_SCALAR);
        for (int i = 0; i < N; i++)
            ck_assert_msg(
                !memcmp(out + (unsigned)patterns[store].host(i) * bytes,
                        in + (unsigned)patterns[load].host(i) * bytes, bytes),
                "%s: out[%s] = in[%s], groups of %u, item %d", type,
                patterns[store].index, patterns[load].index, local, i);
    }
    rig_close(&r);
}
END_TEST

/* --- kernels over ints with a C twin ------------------------------------- */

typedef void host_fn(int *out, const int *in, int i);

static int at(const int *in, int i)
{
    return in[((i % N) + N) % N];
}

static void window(int *out, const int *in, int i)
{
    int sum = 0;

    for (int k = -3; k <= 3; k++)
        sum += at(in, i + k) * (k + 4);
    out[i] = sum;
}

static void misaligned(int *out, const int *in, int i)
{
    const uint16_t *s = (const uint16_t *)in;
    uint32_t sum = 0;

    for (int k = 0; k < 8; k++)
        sum = sum * 3 + s[i + k];
    out[i] = (int)sum;
}

static void bytes_of(int *out, const int *in, int i)
{
    uint32_t v;

    memcpy(&v, (const char *)in + i, 4);
    out[i] = (int)v;
}

static void pairs(int *out, const int *in, int i)
{
    out[i] = (in[i] & 255) * 3 + (in[i] >> 8 & 255) + (short)(in[i] >> 16);
}

static void table(int *out, const int *in, int i)
{
    static const int t[] = {3, 1, 4, 1, 5, 9, 2, 6};

    out[i] = t[in[i] & 7] * 100 + t[i & 7];
}

/* Quarters, exact as half: 0.75, 1.25, -2.5, 8. */
static void table_of_halves(int *out, const int *in, int i)
{
    static const int quarters[] = {3, 5, -10, 32};

    out[i] = quarters[in[i] & 3] * 100 + quarters[i & 3];
}

static void table_of_records(int *out, const int *in, int i)
{
    static const int a[] = {1, -2, 3}, b[] = {40, 50, 60}, c[] = {7, 8, 9};
    int k = (in[i] & 255) % 3;

    out[i] = a[k] + b[k] * 100 + c[k] * 10000;
}

/* One lane of 16, and of 8, decides. */
static void any_and_all(int *out, const int *in, int i)
{
    out[i] = in[i] & 64 ? 15 : 0;
}

static void elements_of_64_bits(int *out, const int *in, int i)
{
    const int64_t v[4] = {(int64_t)in[i] * 3, (int64_t)in[i] * (1 << 20), -i,
                          77};
    int64_t e = v[in[i] >> 3 & 3];

    out[i] = (int)e ^ (int)(e >> 32);
}

static void halves(int *out, const int *in, int i)
{
    float f = (float)(in[i] & 2047) * 0.25f;
    _Float16 h = (_Float16)(f + 0.0625f);

    out[i] = (int)((float)h * 16);
}

static void elements(int *out, const int *in, int i)
{
    int v[4] = {in[i], i, 7, -1};

    v[in[i] & 3] += 10;
    out[i] = v[in[i] >> 2 & 3] + v[0] * 3;
}

static void swizzled(int *out, const int *in, int i)
{
    out[i] = (at(in, 4 * (i % 100) + 3) - at(in, 4 * (i % 100))) * 2 +
             at(in, 4 * (i % 100) + 1);
}

static void lanes_compared(int *out, const int *in, int i)
{
    out[i] = (in[i] > 1000 ? -1 : 0) + 2 * (i > 300 ? 5 : 9) +
             (in[i] > 1000 && i > 300 ? -1 : 0);
}

static void sums(int *out, const int *in, int i)
{
    int sum = 0;

    for (int k = 0; k < 37; k++)
        sum += at(in, i + k * 5) ^ k;
    out[i] = sum;
}

static void steps(int *out, const int *in, int i)
{
    uint32_t v = (uint32_t)in[i];
    int n = 0;

    for (; v > 1 && n < 50; n++)
        v = v & 1 ? v * 3 + 1 : v / 2;
    out[i] = n;
}

static const struct {
    const char *name, *text;
    host_fn *host;
} twins[] = {
    {"window",
     "int sum = 0; for (int k = -3; k <= 3; k++)"
     "    sum += in[(i + k + N) % N] * (k + 4); out[i] = sum;",
     window},
    {"window, unrolled",
     "int sum = 0;\n#pragma unroll\nfor (int k = -3; k <= 3; k++)"
     "    sum += in[(i + k + N) % N] * (k + 4); out[i] = sum;",
     window},
    {"vload8 at 2 bytes",
     "ushort8 v = vload8(0, (__global const ushort *)in + i); uint sum = 0;"
     "ushort a[8]; vstore8(v, 0, a);"
     "for (int k = 0; k < 8; k++) sum = sum * 3 + a[k]; out[i] = sum;",
     misaligned},
    {"ushort8 pointer at 2 bytes",
     "__global const ushort *p = (__global const ushort *)in + i;"
     "ushort8 v = *(__global const ushort8 *)p; uint sum = v.s0;"
     "sum = sum * 3 + v.s1; sum = sum * 3 + v.s2; sum = sum * 3 + v.s3;"
     "sum = sum * 3 + v.s4; sum = sum * 3 + v.s5; sum = sum * 3 + v.s6;"
     "out[i] = sum * 3 + v.s7;",
     misaligned},
    {"ushort8 in local memory at 2 bytes",
     "__local ushort t[1024]; int l = get_local_id(0);"
     "for (int k = 0; k < 8; k++)"
     "    t[l * 8 + 1 + k] = ((__global const ushort *)in)[i + k];"
     "ushort8 v = *(__local ushort8 *)(t + l * 8 + 1); uint sum = 0;"
     "for (int k = 0; k < 8; k++) sum = sum * 3 + v[k]; out[i] = sum;",
     misaligned},
    {"int at a byte",
     "out[i] = *(__global const int *)((__global const char *)in + i);",
     bytes_of},
    {"structure in private memory",
     "struct pair { uchar a, b; short c; } p;"
     "p.a = in[i]; p.b = in[i] >> 8; p.c = in[i] >> 16;"
     "struct pair q = p; struct pair *z = in[i] & 1 ? &p : &q;"
     "out[i] = z->a * 3 + z->b + z->c;",
     pairs},
    {"structure in local memory",
     "struct pair { uchar a; short c; uchar b; }; __local struct pair t[64];"
     "__local struct pair *p = &t[get_local_id(0)];"
     "p->a = in[i]; p->b = in[i] >> 8; p->c = in[i] >> 16;"
     "barrier(CLK_LOCAL_MEM_FENCE); out[i] = p->a * 3 + p->b + p->c;",
     pairs},
    {"union",
     "union { int i; uchar b[4]; short s[2]; } u; u.i = in[i];"
     "out[i] = u.b[0] * 3 + u.b[1] + u.s[1];",
     pairs},
    {"table", "out[i] = t8[in[i] & 7] * 100 + t8[i & 7];", table},
    {"table of a function's own",
     "__constant int own[] = {3, 1, 4, 1, 5, 9, 2, 6};"
     "out[i] = own[in[i] & 7] * 100 + t8[i & 7];",
     table},
    {"table in two dimensions",
     "out[i] = t2[in[i] >> 2 & 1][in[i] & 3] * 100 + t8[i & 7];", table},
    {"table of halves",
     "__constant half own[] = {0.75h, 1.25h, -2.5h, 8};"
     "__constant float floats[2][2] = {{0.75f, 1.25f}, {-2.5f, 8}};"
     "out[i] = (int)(own[in[i] & 3] * 4) * 100 +"
     "         (int)(floats[i >> 1 & 1][i & 1] * 4);",
     table_of_halves},
    {"table of vectors and structures",
     "struct record { char a; short b; int2 c; };"
     "__constant struct record own[3] = {{1, 40, (int2)(7, 0)},"
     "    {-2, 50, (int2)(8, 1)}, {3, 60, (int2)(9, 2)}};"
     "int n = (in[i] & 255) % 3;"
     "out[i] = own[n].a + own[n].b * 100 + own[n].c.x * 10000;",
     table_of_records},
    {"table behind helpers", "out[i] = look(in[i]) * 100 + look_inline(i);",
     table},
    {"vload_half, vstore_half",
     "float f = (in[i] & 2047) * 0.25f; half h; vstore_half(f + 0.0625f, 0, "
     "&h);"
     "out[i] = (int)(vload_half(0, &h) * 16);",
     halves},
    {"vstore_half4",
     "float f = (in[i] & 2047) * 0.25f; half h[4];"
     "vstore_half4((float4)(f, f + 1, f + 0.0625f, f), 0, h);"
     "float4 g = vload_half4(0, h); out[i] = (int)(g.z * 16);",
     halves},
    {"variable element",
     "int4 v = (int4)(in[i], i, 7, -1); v[in[i] & 3] += 10;"
     "out[i] = v[in[i] >> 2 & 3] + v.x * 3;",
     elements},
    {"any and all",
     "int16 k = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);"
     "int16 one = k == (int16)(in[i] & 15);"
     "int8 eight = k.lo == (int8)(in[i] & 7); int m = in[i] & 64 ? -1 : 0;"
     "out[i] = any(one & m) + 2 * all(~one | m) + 4 * any(eight & m) +"
     "         8 * all(~eight | m);",
     any_and_all},
    {"variable element of 64 bits",
     "long4 v = (long4)((long)in[i] * 3, (long)in[i] * (1 << 20), -i, 77);"
     "long e = v[in[i] >> 3 & 3]; out[i] = (int)e ^ (int)(e >> 32);",
     elements_of_64_bits},
    {"components",
     "int4 v = vload4(i % 100, in); v.xw = v.wx; int2 d = v.xy * 2;"
     "int4 z = v.wwww * 2; out[i] = d.x - z.y + v.y;",
     swizzled},
    {"vectors compared",
     "int2 v = (int2)(in[i], i), w = (int2)(1000, 300); int2 c = v > w;"
     "int2 z = v > w ? (int2)(1, 5) : (int2)(2, 9);"
     "out[i] = c.x + 2 * z.y + (c.x && c.y ? -1 : 0);",
     lanes_compared},
    {"reduction",
     "int sum = 0; for (int k = 0; k < 37; k++) sum += in[(i + k * 5) % N] ^ k;"
     "out[i] = sum;",
     sums},
    {"loop until a condition",
     "uint v = in[i]; int n = 0; for (; v > 1 && n < 50; n++)"
     "    v = v & 1 ? v * 3 + 1 : v / 2; out[i] = n;",
     steps},
};

START_TEST(like_c)
{
    int want[N], *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(r.arena,
                             "#define N %d\n"
                             "__constant int t8[] = {3, 1, 4, 1, 5, 9, 2, 6};\n"
                             "__constant static int t2[2][4] = {{3, 1, 4, 1},\n"
                             "                                 {5, 9, 2, 6}};\n"
                             "inline int look_inline(int i)\n"
                             "{ return t8[i & 7]; }\n"
                             "__attribute__((noinline)) int look(int i)\n"
                             "{ return look_inline(i); }\n"
                             "kernel void k(global int *out,\n"
                             "              global const int *in)\n{\n"
                             "    int i = get_global_id(0);\n%s\n}\n",
                             N, twins[_i].text),
                "k");
    out = rig_buffer(&r, sizeof want);
    in = rig_buffer(&r, sizeof want + 64);
    for (unsigned i = 0; i < N; i++)
        in[i] = (int)(rig_noise(i) >> 8 >> (i & 3) * 6);
    for (int i = 0; i < N; i++)
        twins[_i].host(want, in, i);
    for (uint32_t local = 16; local; local = local == 16 ? 5 : 0) {
        memset(out, 0xee, sizeof want);
        rig_run_1d(&r, N / local, local);
        for (int i = 0; i < N; i++)
            ck_assert_msg(out[i] == want[i],
                          "%s, %s, groups of %u, item %d: %d, expected %d",
                          twins[_i].name, sim_variant_name(r.result.variant),
                          local, i, out[i], want[i]);
    }
    rig_close(&r);
}
END_TEST

/* A structure that is copied as a block from and to global memory is traffic of
 * its bytes; local memory is none. */
START_TEST(structures_copied)
{
    enum { ITEMS = 8, BYTES = 256 };
    uint8_t *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "typedef struct { float a[64]; } block;\n"
                "__kernel void k(__global block *out,\n"
                "                __global const block *in, __local block *t)\n"
                "{\n"
                "    int i = get_global_id(0);\n"
                "    *t = in[i];\n"
                "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                "    out[i] = *t;\n"
                "}\n",
                "k");
    out = rig_buffer(&r, ITEMS * BYTES);
    in = rig_buffer(&r, ITEMS * BYTES);
    rig_local(&r, BYTES);
    for (unsigned i = 0; i < ITEMS * BYTES; i++)
        in[i] = (uint8_t)rig_noise(i);
    rig_run_1d(&r, ITEMS, 1);
    ck_assert_mem_eq(out, in, ITEMS * BYTES);
    ck_assert_uint_eq(r.result.profile.load_bytes, ITEMS * BYTES);
    ck_assert_uint_eq(r.result.profile.store_bytes, ITEMS * BYTES);
    rig_close(&r);
}
END_TEST

/* --- which variant runs -------------------------------------------------- */

static const struct {
    const char *text;
    unsigned factor; /* 0: never vectorized */
    const char *why;
} variants[] = {
    {"out[i] = in[i] + 1;", 4, NULL},
    {"((__global half *)out)[i] = ((__global const half *)in)[i];", 8, NULL},
    {"((__global uchar *)out)[i] = in[i];", 8, NULL},
    {"if (in[0] > 3) out[i] = in[i];", 4, NULL},
    {"for (int k = 0; k < in[0]; k++) out[i] += in[k];", 4, NULL},
    {"if (in[i] > 3) out[i] = in[0] / in[i];", 0, "control flow"},
    {"out[i] = in[i]; int4 v = vload4(0, in); out[i] += v.x;", 0, "vector"},
    {"typedef struct { int4 v; } four;"
     "four m = ((__global const four *)in)[i]; ((__global four *)out)[i] = m;",
     0, "vector types"},
    {"atomic_add(out, in[i]);", 0, "atomic"},
    {"out[0] = in[0];", 0, "no access"},
};

START_TEST(variant_chosen)
{
    unsigned f = variants[_i].factor;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(r.arena,
                             "__kernel void k(__global int *out,\n"
                             "                __global const int *in)\n{\n"
                             "    int i = get_global_id(0);\n    %s\n}\n",
                             variants[_i].text),
                "k");
    rig_buffer(&r, 4 * N);
    rig_buffer(&r, 4 * N);
    for (uint32_t local = 1; local < 35; local++) {
        rig_run_1d(&r, 2, local);
        ck_assert_msg(r.result.variant ==
                          (f && local % f == 0 ? SIM_VECTORIZED : SIM_SCALAR),
                      "%s in groups of %u: %s", variants[_i].text, local,
                      sim_variant_name(r.result.variant));
        ck_assert_uint_eq(r.result.factor, f && local % f == 0 ? f : 1);
    }
    if (f)
        ck_assert_ptr_null(r.kernel->not_vectorized);
    else
        ck_assert_msg(strstr(r.kernel->not_vectorized, variants[_i].why), "%s",
                      r.kernel->not_vectorized);
    rig_close(&r);
}
END_TEST

/* --- atomics ------------------------------------------------------------- */

START_TEST(atomics)
{
    enum { L = 8, GROUPS = 20 };
    uint32_t *out, *old, min = UINT32_MAX, max = 0, and = UINT32_MAX, or = 0,
                         xor = 0, sum = 0;
    int32_t *in, smin = INT32_MAX;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global uint *out, __global uint *old,\n"
                "                __global const int *in)\n{\n"
                "    __local uint n, most;\n"
                "    int i = get_global_id(0), l = get_local_id(0);\n"
                "    if (l == 0) n = most = 0;\n"
                "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                "    atomic_inc(&n); atomic_max(&most, (uint)in[i]);\n"
                "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                "    if (l == 0) atomic_add(&out[8], n + (most > 0));\n"
                "    old[atomic_inc(&out[0])] = 1;\n"
                "    atomic_add(&out[1], (uint)in[i]);\n"
                "    atomic_min(&out[2], (uint)in[i]);\n"
                "    atomic_max(&out[3], (uint)in[i]);\n"
                "    atomic_and(&out[4], (uint)in[i]);\n"
                "    atomic_or(&out[5], (uint)in[i]);\n"
                "    atomic_xor(&out[6], (uint)in[i]);\n"
                "    atomic_min((__global int *)&out[7], in[i]);\n"
                "    atomic_sub(&out[9], 3u); atomic_dec(&out[10]);\n"
                "    for (;;) {\n"
                "        uint v = out[11];\n"
                "        if (atomic_cmpxchg(&out[11], v, v * 5 + 1) == v)\n"
                "            break;\n    }\n"
                "    if (atomic_xchg(&out[12], 7) != 7) atomic_inc(&out[13]);\n"
                "}\n",
                "k");
    out = rig_buffer(&r, 64);
    old = rig_buffer(&r, 4 * L * GROUPS);
    in = rig_buffer(&r, 4 * L * GROUPS);
    out[2] = out[4] = UINT32_MAX;
    out[7] = INT32_MAX;
    out[9] = out[10] = 1000;
    for (unsigned i = 0; i < L * GROUPS; i++) {
        uint32_t v = rig_noise(i);

        in[i] = (int32_t)v;
        min = v < min ? v : min;
        max = v > max ? v : max;
        smin = in[i] < smin ? in[i] : smin;
        and &= v;
        or |= v;
        xor ^= v;
        sum += v;
    }
    r.n_threads = 2;
    rig_run_1d(&r, GROUPS, L);
    ck_assert(r.kernel->global_atomics);
    ck_assert_uint_eq(out[0], L * GROUPS);
    ck_assert_uint_eq(out[1], sum);
    ck_assert_uint_eq(out[2], min);
    ck_assert_uint_eq(out[3], max);
    ck_assert_uint_eq(out[4], and);
    ck_assert_uint_eq(out[5], or);
    ck_assert_uint_eq(out[6], xor);
    ck_assert_int_eq((int32_t)out[7], smin);
    ck_assert_uint_eq(out[8], (L + 1) * GROUPS);
    ck_assert_uint_eq(out[9], 1000u - 3 * L * GROUPS);
    ck_assert_uint_eq(out[10], 1000u - L * GROUPS);
    sum = 0;
    for (int i = 0; i < L * GROUPS; i++) {
        sum = sum * 5 + 1;
        ck_assert_uint_eq(old[i], 1);
    }
    ck_assert_uint_eq(out[11], sum);
    ck_assert_uint_eq(out[13], 1);
    rig_close(&r);
}
END_TEST

/* --- orders and threads -------------------------------------------------- */

START_TEST(order_and_threads)
{
    enum { GROUPS = 200, L = 8 };
    static uint32_t first_out[GROUPS * L];
    uint32_t *out;
    uint64_t cycles[4] = {0};
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global uint *out, __local uint *t)\n{\n"
                "    uint l = get_local_id(0), g = get_group_id(0), s = 0;\n"
                "    t[l] = g * 77 + l;\n"
                "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                "    for (uint k = 0; k < (g & 15) * 10; k++)\n"
                "        s = s * 3 + t[(l + k) & 7];\n"
                "    out[get_global_id(0)] = s;\n}\n",
                "k");
    out = rig_buffer(&r, sizeof first_out);
    rig_local(&r, 4 * L);
    for (unsigned run = 0; run < 16; run++) {
        r.order = (exec_order[]){EXEC_SEQUENTIAL, EXEC_REVERSE, EXEC_RANDOM,
                                 EXEC_RANDOM}[run / 4];
        r.seed = run / 4;
        r.n_threads = (run & 1) + 1;
        r.n_shaves = run & 2 ? 16 : 5;
        memset(out, 0, sizeof first_out);
        rig_run_1d(&r, GROUPS, L);
        if (!run)
            memcpy(first_out, out, sizeof first_out);
        ck_assert_msg(!memcmp(out, first_out, sizeof first_out), "run %u", run);
        if (run & 1)
            ck_assert_uint_eq(r.result.profile.cycles, cycles[run >> 1 & 1]);
        cycles[run >> 1 & 1] = r.result.profile.cycles;
    }
    rig_close(&r);
}
END_TEST

/* What a group leaves in local memory is not there for the next one. */
START_TEST(local_memory_is_undefined)
{
    uint32_t *out;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global uint *out, __local uint *t)\n{\n"
                "    out[get_global_id(0)] = t[get_local_id(0)];\n"
                "    t[get_local_id(0)] = 42;\n}\n",
                "k");
    out = rig_buffer(&r, 4 * 64);
    rig_local(&r, 4 * 8);
    rig_run_1d(&r, 8, 8);
    for (int i = 0; i < 64; i++)
        ck_assert_uint_eq(out[i], UINT32_MAX);
    rig_close(&r);
}
END_TEST

/* A window over a line starts before the line: lanes that are dropped may come
 * from in front of the first local array. Nothing may be written there. */
START_TEST(before_local_memory)
{
    const char *sources[] = {
        "__kernel void k(__global ushort *out, __local ushort *t, int cut)\n{\n"
        "    int l = get_local_id(0); t[l] = 100 + l;\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    ushort8 v = *(__local ushort8 *)(t + l - 3);\n"
        "    for (int i = 0; i < cut; i++) v[i] = 0;\n"
        "    vstore8(v, get_global_id(0), out);\n}\n",
        "__kernel void k(__global ushort *out, __local ushort *t, int cut)\n{\n"
        "    t[(int)get_local_id(0) - cut] = 1;\n"
        "    out[get_global_id(0)] = t[get_local_id(0)];\n}\n"};
    const uint32_t groups[3] = {9, 1, 1}, local[3] = {1, 1, 1};

    for (int writes = 0; writes < 2; writes++) {
        uint16_t *out;
        vpu_status st;
        rig r;

        rig_open(&r);
        rig_compile(&r, sources[writes], "k");
        out = rig_buffer(&r, 9 * 8 * sizeof *out);
        rig_local(&r, 32);
        rig_int(&r, 3);
        st = rig_run(&r, groups, local);
        ck_assert_int_eq(st, writes ? VPU_ERR_FAULT : VPU_OK);
        if (writes)
            ck_assert_msg(strstr(r.err.msg, "write outside mapped memory"),
                          "%s", r.err.msg);
        for (unsigned i = 0; !writes && i < 9 * 8; i += 8) {
            ck_assert_uint_eq(out[i + 2], 0);
            ck_assert_uint_eq(out[i + 3], 100);
        }
        rig_close(&r);
    }
}
END_TEST

/* What does not fit is listed to the last byte, and nothing else. */
START_TEST(too_much_local_memory)
{
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global int *out, __local int *t)\n{\n"
                "    __local int a[20000]; __local short b[15000];\n"
                "    int l = get_local_id(0);\n"
                "    a[l] = b[l] = t[l] = l;\n"
                "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                "    out[l] = a[7 - l] + b[7 - l] + t[7 - l];\n}\n",
                "k");
    rig_buffer(&r, 32);
    rig_local(&r, 64);
    ck_assert_int_eq(rig_run(&r, (uint32_t[]){1, 1, 1}, (uint32_t[]){8, 1, 1}),
                     VPU_ERR_LIMIT);
    ck_assert_str_eq(r.err.msg,
                     "test: kernel 'k' needs 110064 bytes of local memory per "
                     "work-group, the device has 102400:\n"
                     "     80000  __local array 'a'\n"
                     "     30000  __local array 'b'\n"
                     "        64  local_data 't'");
    rig_close(&r);
}
END_TEST

/* --- what a group's items share ------------------------------------------ */

/* What runs the items one after the other stays in registers: only the kernel's
 * own arrays are in memory. In code for checking even those are not shared, but
 * an item's own each. */
START_TEST(private_memory)
{
    static const sim_checking checking;
    const kernel_compile_config with_checks = {
        .user.no_cache = true, .checking = &checking, .hooks = &check_hooks};
    static const struct {
        const char *array;
        uint32_t bytes;
    } kernels[] = {{"", 0},
                   {"{ int a[8]; for (int j = 0; j < 8; j++) a[j] = l * j;"
                    "  n += a[n & 7]; }",
                    32}};

    for (int k = 0; k < 2; k++) {
        kernel_source source = {.entry = "k"};
        rig r;

        rig_open(&r);
        rig_compile(
            &r,
            arena_printf(r.arena,
                         "__kernel void k(__global int *out, __local int *t,\n"
                         "                int n)\n{\n"
                         "    int l = get_local_id(0), i = get_global_id(0);\n"
                         "    %s\n"
                         "    t[l] = out[i] + n;\n"
                         "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                         "    for (int j = l & 3; j < n; j++)\n"
                         "        out[i] += t[j];\n}\n",
                         kernels[k].array),
            "k");
        source.path = arena_printf(r.arena, "%s/k.cl", r.dir);
        ck_assert_msg(!kernel_compile(&source, &with_checks, r.arena,
                                      &r.checked[0], &r.err),
                      "%s", r.err.msg);
        ck_assert_uint_eq(r.kernel->variants[SIM_SCALAR].stack_bytes,
                          kernels[k].bytes);
        ck_assert_uint_eq(r.checked[0]->variants[SIM_SCALAR].stack_bytes, 0);
        rig_close(&r);
    }
}
END_TEST

/* A sum that is the same for all items is made once for the group, so that
 * between two barriers nothing is left to do for each: not even a cycle for a
 * further item behind each barrier. */
START_TEST(common_work_is_done_once)
{
    enum { TIMES = 64, FEW = 7, MANY = 63 };
    uint64_t cycles[2];
    int *out;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "#define SUM sum += t[sum & 3]; barrier(CLK_LOCAL_MEM_FENCE);\n"
                "#define FOUR(x) x x x x\n"
                "__kernel void k(__global int *out, __local int *t)\n{\n"
                "    int sum = 0;\n"
                "    t[get_local_id(0)] = 5;\n"
                "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                "    FOUR(FOUR(FOUR(SUM)))\n"
                "    out[get_global_id(0)] = sum;\n}\n",
                "k");
    out = rig_buffer(&r, 4 * MANY);
    rig_local(&r, 4 * MANY);
    for (int many = 0; many < 2; many++) {
        rig_run_1d(&r, 1, many ? MANY : FEW);
        ck_assert_int_eq(r.result.variant, SIM_SCALAR);
        cycles[many] = r.result.profile.cycles;
        for (int i = 0; i < (many ? MANY : FEW); i++)
            ck_assert_int_eq(out[i], TIMES * 5);
    }
    ck_assert_msg(cycles[1] - cycles[0] < (MANY - FEW) * TIMES,
                  "%llu cycles, %llu cycles", (unsigned long long)cycles[0],
                  (unsigned long long)cycles[1]);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernels: memory");
    TCase *c = tcase_create("memory");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 30);
    tcase_add_loop_test(c, access_patterns, 0, N_PATTERNS * N_TYPES);
    tcase_add_loop_test(c, like_c, 0, sizeof twins / sizeof *twins);
    tcase_add_test(c, structures_copied);
    tcase_add_loop_test(c, variant_chosen, 0,
                        sizeof variants / sizeof *variants);
    tcase_add_test(c, atomics);
    tcase_add_test(c, order_and_threads);
    tcase_add_test(c, local_memory_is_undefined);
    tcase_add_test(c, before_local_memory);
    tcase_add_test(c, too_much_local_memory);
    tcase_add_test(c, private_memory);
    tcase_add_test(c, common_work_is_done_once);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
