/* Barriers and what lives across them, against C that runs the items of a group
 * phase by phase. Every case runs in groups of several sizes, so that both the
 * scalar and the vectorized variant meet it. */
#include <check.h>
#include <string.h>

#include "tests/support/rig.h"

enum { GROUPS = 5, MAX_LOCAL = 33 };

/* One group of L items whose first has global number base. */
typedef void host_group(int *out, const int *in, int base, int L, int n);

/* In every kernel: i = global number, l = local number, L = local size,
 * t = L ints of local memory, n = 3. */
#define KERNEL(body)                                               \
    "#define SYNC barrier(CLK_LOCAL_MEM_FENCE)\n"                  \
    "__kernel void k(__global int *out, __global const int *in,\n" \
    "                __local int *t, int n)\n"                     \
    "{\n"                                                          \
    "    int i = get_global_id(0), l = get_local_id(0);\n"         \
    "    int L = get_local_size(0);\n" body "}\n"

#define HOST(name) \
    static void name(int *out, const int *in, int base, int L, int n)
#define ITEMS for (int l = 0, i = base; l < L; l++, i++)

HOST(reversed)
{
    (void)n;
    ITEMS out[i] = in[base + L - 1 - l] * 2 + in[i];
}

HOST(exchanged)
{
    (void)n;
    ITEMS out[i] = 5 + in[base + L - 1];
}

HOST(scan)
{
    int sum = 0;

    (void)n;
    ITEMS out[i] = sum += in[i] & 0xffff;
}

HOST(rotated)
{
    ITEMS
    {
        out[i] = in[i];
        for (int k = 1; k <= n; k++)
            out[i] = out[i] * 3 + in[base + (l + k) % L] * k;
    }
}

HOST(in_condition)
{
    (void)n;
    ITEMS out[i] = in[base + (l + 1) % L] + in[base + (l + 2) % L];
}

HOST(other_condition)
{
    ITEMS out[i] = in[i] + n;
}

HOST(first_of_group)
{
    (void)n;
    ITEMS out[i] = in[base] + 7 * in[base + L / 2] + l;
}

HOST(halves)
{
    (void)n;
    ITEMS
    {
        float f = (float)(in[i] & 255) * 0.5f;
        _Float16 h = (_Float16)(in[i] & 127);
        _Float16 m = (_Float16)(in[base + (l + 1) % L] & 127);

        h = (_Float16)(h * (_Float16)0.25f);
        h = (_Float16)(h + m);
        out[i] = (int)(f * 2) + (int)(float)h * 1000;
    }
}

HOST(vectors)
{
    (void)n;
    ITEMS
    {
        int next = in[base + (l + 1) % L] & 1023;
        int v[4] = {in[i] & 255, l, i, 7};

        out[i] = 0;
        for (int k = 0; k < 4; k++)
            out[i] += (v[k] + next) * (k + 1);
    }
}

HOST(threes)
{
    (void)n;
    ITEMS
    {
        int next = in[base + (l + 1) % L] & 1023;

        out[i] = (in[i] & 7) * next + (in[i] >> 3 & 7) * 100 + l * 10000;
    }
}

HOST(flags)
{
    (void)n;
    ITEMS
    {
        int a = in[i] & 1, b = (in[i] & 6) == 4;
        int next = in[base + (l + 1) % L];

        out[i] = (a ? next : -1) ^ (b ? 5 : 9) ^ (a && b);
    }
}

HOST(half_flags)
{
    (void)n;
    ITEMS
    {
        int mirrored = in[base + L - 1 - l] & 127;

        out[i] = (mirrored > 60 ? 1000 : 0) + (l + 1) % L;
    }
}

HOST(private_array)
{
    (void)n;
    ITEMS
    {
        int a[8], next = in[base + (l + 1) % L];

        for (int k = 0; k < 8; k++)
            a[k] = in[i] + k * l;
        a[next & 7] += 1000;
        out[i] = a[in[i] & 7] * 3 + a[next >> 3 & 7];
    }
}

HOST(private_pointer)
{
    (void)n;
    ITEMS
    {
        int a[8], next = in[base + (l + 1) % L];

        for (int k = 0; k < 8; k++)
            a[k] = in[i] * (k + 1);
        out[i] = a[in[i] & 7] + next;
    }
}

HOST(global_pointer)
{
    (void)n;
    ITEMS
    {
        const int *p = in[i] & 1 ? in + base : in + i;

        out[i] = *p + in[base + (l + 1) % L];
    }
}

HOST(loop_counter)
{
    (void)n;
    ITEMS
    {
        int sum = 0;

        for (int k = 0; k < 4; k++)
            for (int j = k; j < 4; j++)
                sum += in[base + (l + k * j) % L] * (k + 1) + j;
        out[i] = sum;
    }
}

HOST(tree)
{
    int sum = 0;

    (void)n;
    ITEMS sum += in[i];
    ITEMS out[i] = sum + l;
}

HOST(longs)
{
    (void)n;
    ITEMS
    {
        int64_t v = (int64_t)(in[i] & 0xffff) << 33 | (i & 255);

        v += in[base + (l + 1) % L] & 1;
        out[i] = (int)(v >> 33) + (int)(v & 1023);
    }
}

HOST(early_return)
{
    (void)n;
    ITEMS
    {
        if (in[i] & 1)
            continue;
        out[i] = in[i] & 2 ? l : in[i];
    }
}

HOST(varying_loops)
{
    (void)n;
    ITEMS
    {
        int sum = 0;

        for (int k = 0; k < (in[i] & 7); k++)
            sum += in[base + (l + k) % L];
        for (int k = 0; k < (in[base + (l + 1) % L] & 3); k++)
            sum ^= k * l;
        out[i] = sum;
    }
}

HOST(switched)
{
    ITEMS out[i] = n == 3 ? in[base + (l + 3) % L] : in[base + (l + 1) % L];
}

HOST(shared_cases)
{
    (void)n;
    ITEMS
    {
        int v = in[i] & 0xffff, w = v / 3;

        switch (in[i] & 7) {
        case 1:
        case 5:
            break;
        case 2:
            w = in[base + (l + 1) % L] % 1000;
            break;
        case 3:
            w = 0;
            break;
        default:
            w = v / 7;
        }
        out[i] = w + v;
    }
}

HOST(shared_uniform_cases)
{
    ITEMS
    {
        int w = i;

        switch (n) {
        case 1:
        case 3:
        case 4:
            break;
        case 2:
            w = in[i];
            break;
        default:
            w = in[0];
        }
        out[i] = w ^ in[base + (l + 1) % L];
    }
}

HOST(do_while)
{
    (void)n;
    ITEMS
    {
        int v = in[i] & 255, steps = 0;

        for (int k = 4; k; k >>= 1, steps++)
            v += k;
        out[i] = v * 8 + steps;
    }
}

HOST(static_local)
{
    (void)n;
    ITEMS
    {
        int v = in[base + L - 1 - l] & 255, w = in[base + (l + 1) % L] & 255;

        out[i] = v + w * 3;
    }
}

HOST(uniform_value)
{
    ITEMS out[i] = (in[0] / (n + 4)) % 1000 + in[base + (l + 1) % L];
}

static const struct {
    const char *name, *source;
    host_group *host;
} cases[] = {
    {"straight code",
     KERNEL("t[l] = in[i]; SYNC;"
            "out[i] = t[L - 1 - l] * 2 + t[l];"),
     reversed},
    {"value recomputed from ids",
     KERNEL("int at = L - 1 - l; t[l] = in[i]; SYNC;"
            "out[i] = t[at] * 2 + in[i];"),
     reversed},
    {"scan: barrier in a uniform loop, twice",
     KERNEL("int v = in[i] & 0xffff;"
            "for (int d = 1; d < L; d *= 2) {"
            "    t[l] = v; SYNC;"
            "    if (l >= d) v += t[l - d];"
            "    SYNC; }"
            "out[i] = v;"),
     scan},
    {"uniform loop from an argument",
     KERNEL("int v = in[i]; t[l] = v;"
            "for (int k = 1; k <= n; k++) {"
            "    SYNC; v = v * 3 + t[(l + k) % L] * k; }"
            "out[i] = v;"),
     rotated},
    {"unrolled loop of barriers",
     KERNEL("int v = in[i]; t[l] = v;\n#pragma unroll\n"
            "for (int k = 1; k <= 3; k++) {"
            "    SYNC; v = v * 3 + t[(l + k) % L] * k; }"
            "out[i] = v;"),
     rotated},
    {"inside a uniform condition",
     KERNEL("int v = 0; if (n > 2) { t[l] = in[i]; SYNC; v = t[(l + 1) % L];"
            "SYNC; v += t[(l + 2) % L]; } out[i] = v;"),
     in_condition},
    {"condition not taken",
     KERNEL("int v = in[i]; if (n > 5) { t[l] = v; SYNC; v = t[0]; }"
            "out[i] = v + n;"),
     other_condition},
    {"both sides of a uniform condition",
     KERNEL("int v; if (n == 3) { t[l] = in[i]; SYNC; v = t[(l + 3) % L]; }"
            "else { t[l] = in[i]; SYNC; v = t[(l + 1) % L]; } out[i] = v;"),
     switched},
    {"switch on an argument",
     KERNEL("int v = 0; t[l] = in[i]; switch (n) {"
            "case 1: SYNC; v = t[l]; break;"
            "case 3: SYNC; v = t[(l + 3) % L]; break;"
            "default: SYNC; v = t[0]; } out[i] = v;"),
     switched},
    {"cases that share their end",
     KERNEL("int v = in[i] & 0xffff, w = v / 3; t[l] = in[i]; SYNC;"
            "switch (in[i] & 7) { case 1: case 5: break;"
            "case 2: w = t[(l + 1) % L] % 1000; break;"
            "case 3: w = 0; break; default: w = v / 7; }"
            "SYNC; out[i] = w + v;"),
     shared_cases},
    {"uniform cases that share their end",
     KERNEL("int w = i; t[l] = in[i]; switch (n) {"
            "case 1: case 3: case 4: break; case 2: w = in[i]; break;"
            "default: w = in[0]; }"
            "SYNC; out[i] = w ^ t[(l + 1) % L];"),
     shared_uniform_cases},
    {"one item writes",
     KERNEL("if (l == 0) t[0] = in[i]; if (l == L / 2) t[L] = in[i]; SYNC;"
            "out[i] = t[0] + 7 * t[L] + l;"),
     first_of_group},
    {"uniform load after the barrier",
     KERNEL("t[l] = in[i]; SYNC; int a = t[0]; SYNC; t[l] = -1; SYNC;"
            "out[i] = a + 7 * in[i - l + L / 2] + l;"),
     first_of_group},
    {"uniform value computed before",
     KERNEL("int u = (in[0] / (n + 4)) % 1000; t[l] = in[i]; SYNC;"
            "out[i] = u + t[(l + 1) % L];"),
     uniform_value},
    {"floats and halves",
     KERNEL("float f = (in[i] & 255) * 0.5f; half h = (half)(in[i] & 127);"
            "h = h * (half)0.25f; __local half *s = (__local half *)t;"
            "s[l] = (half)(in[i] & 127); SYNC; h = h + s[(l + 1) % L];"
            "out[i] = (int)(f * 2) + (int)h * 1000;"),
     halves},
    {"vectors of four",
     KERNEL("int4 v = (int4)(in[i] & 255, l, i, 7); t[l] = in[i] & 1023;"
            "SYNC; v += t[(l + 1) % L]; SYNC;"
            "v *= (int4)(1, 2, 3, 4); out[i] = v.x + v.y + v.z + v.w;"),
     vectors},
    {"vectors of three",
     KERNEL("int3 v = (int3)(in[i] & 7, in[i] >> 3 & 7, l);"
            "t[l] = in[i] & 1023; SYNC; int next = t[(l + 1) % L];"
            "out[i] = v.x * next + v.y * 100 + v.z * 10000;"),
     threes},
    {"conditions",
     KERNEL("bool a = in[i] & 1, b = (in[i] & 6) == 4; t[l] = in[i]; SYNC;"
            "out[i] = (a ? t[(l + 1) % L] : -1) ^ (b ? 5 : 9) ^ (a & b);"),
     flags},
    {"conditions on halves",
     KERNEL("__local half *s = (__local half *)t; s[l] = (half)(in[i] & 127);"
            "SYNC; bool a = s[L - 1 - l] > (half)60; SYNC; s[l] = (half)l;"
            "SYNC; out[i] = (a ? 1000 : 0) + (int)s[(l + 1) % L];"),
     half_flags},
    {"private array",
     KERNEL("int a[8]; for (int k = 0; k < 8; k++) a[k] = in[i] + k * l;"
            "t[l] = in[i]; SYNC; int next = t[(l + 1) % L];"
            "a[next & 7] += 1000; SYNC;"
            "out[i] = a[in[i] & 7] * 3 + a[next >> 3 & 7];"),
     private_array},
    {"pointer into a private array",
     KERNEL("int a[8]; for (int k = 0; k < 8; k++) a[k] = in[i] * (k + 1);"
            "int *p = a + (in[i] & 7); *p += 1; t[l] = in[i]; SYNC;"
            "*p -= t[l] ? 1 : 1; SYNC; out[i] = *p + t[(l + 1) % L];"),
     private_pointer},
    {"pointer chosen among private arrays",
     KERNEL("int a[8], b[8]; for (int k = 0; k < 8; k++) {"
            "    a[k] = in[i] * (k + 1); b[k] = in[i] * (k + 1); }"
            "int *p = in[i] & 64 ? a : b; t[l] = in[i]; SYNC;"
            "out[i] = p[in[i] & 7] + t[(l + 1) % L];"),
     private_pointer},
    {"array without a name that only kept pointers lead to",
     KERNEL("int *a = (__private int[8]){0}, *p[2];"
            "for (int k = 0; k < 8; k++) a[k] = in[i] * (k + 1);"
            "p[0] = p[1] = a; t[l] = in[i]; SYNC;"
            "out[i] = p[t[0] & 1][in[i] & 7] + t[(l + 1) % L];"),
     private_pointer},
    {"global pointer",
     KERNEL("__global const int *p = in[i] & 1 ? in + (i - l) : in + i;"
            "t[l] = in[i]; SYNC; out[i] = *p + t[(l + 1) % L];"),
     global_pointer},
    {"nested loops with barriers",
     KERNEL("int sum = 0; for (int k = 0; k < 4; k++) {"
            "    t[l] = in[i]; SYNC;"
            "    for (int j = k; j < n + 1; j++) {"
            "        sum += t[(l + k * j) % L] * (k + 1) + j; SYNC; } SYNC; }"
            "out[i] = sum;"),
     loop_counter},
    {"reduction over any size",
     KERNEL("t[l] = in[i]; SYNC;"
            "for (int m = L; m > 1; m = (m + 1) / 2) {"
            "    int h = (m + 1) / 2;"
            "    if (l < m / 2) t[l] += t[l + h];"
            "    SYNC; }"
            "out[i] = t[0] + l;"),
     tree},
    {"longs",
     KERNEL("long v = (long)(in[i] & 0xffff) << 33 | (i & 255);"
            "t[l] = in[i] & 1; SYNC; v += t[(l + 1) % L];"
            "out[i] = (int)(v >> 33) + (int)(v & 1023);"),
     longs},
    {"early return without barriers",
     KERNEL("if (in[i] & 1) return; if (in[i] & 2) { out[i] = l; return; }"
            "out[i] = in[i];"),
     early_return},
    {"loops of different length between barriers",
     KERNEL("int sum = 0; t[l] = in[i]; SYNC;"
            "for (int k = 0; k < (in[i] & 7); k++) sum += t[(l + k) % L];"
            "SYNC; int m = t[(l + 1) % L] & 3;"
            "for (int k = 0; k < m; k++) sum ^= k * l;"
            "out[i] = sum;"),
     varying_loops},
    {"do-while",
     KERNEL("int v = in[i] & 255, k = 4, steps = 0;"
            "do { t[l] = v; SYNC; v = t[l] + k; k >>= 1; steps++; SYNC;"
            "} while (k > 0); out[i] = v * 8 + steps;"),
     do_while},
    {"what a compare and exchange found",
     KERNEL("if (l == 0) t[0] = 5; SYNC;"
            "int was = atomic_cmpxchg(t, 6, l); SYNC;"
            "if (l == L - 1) t[0] = in[i]; SYNC;"
            "out[i] = was + t[0];"),
     exchanged},
    {"arrays of the kernel's own",
     KERNEL("__local uchar s[40]; __local int w[40]; s[l] = in[i] & 255;"
            "w[l] = in[i] & 255; SYNC;"
            "out[i] = s[L - 1 - l] + w[(l + 1) % L] * 3;"),
     static_local},
};

static const int locals[] = {16, 8, 1, 7, 33};
enum { N_LOCALS = sizeof locals / sizeof *locals };

START_TEST(across_barriers)
{
    enum { N = GROUPS * MAX_LOCAL };
    int want[N], *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(&r, cases[_i].source, "k");
    out = rig_buffer(&r, sizeof want);
    in = rig_buffer(&r, sizeof want);
    rig_local(&r, 4 * (MAX_LOCAL + 1));
    rig_int(&r, 3);
    for (unsigned i = 0; i < N; i++)
        in[i] = (int)(rig_noise(i) >> 8);
    for (int k = 0; k < N_LOCALS; k++) {
        int L = locals[k];

        memset(want, 0x55, sizeof want);
        memset(out, 0x55, sizeof want);
        for (int g = 0; g < GROUPS; g++)
            cases[_i].host(want, in, g * L, L, 3);
        rig_run_1d(&r, GROUPS, (uint32_t)L);
        for (int i = 0; i < N; i++)
            ck_assert_msg(out[i] == want[i],
                          "%s, %s, groups of %d, element %d: %d, expected %d",
                          cases[_i].name, sim_variant_name(r.result.variant), L,
                          i, out[i], want[i]);
    }
    rig_close(&r);
}
END_TEST

/* A value that lives across a barrier is kept in words, for each item, and
 * nothing besides it. */
static const struct {
    const char *type;
    uint32_t bytes;
} kept[] = {{"uchar", 4}, {"half", 4}, {"int", 4},  {"ushort2", 4},
            {"long", 8},  {"int2", 8}, {"int4", 16}};

START_TEST(bytes_of_an_item)
{
    uint32_t few, many;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(r.arena,
                             KERNEL("%s v = ((__global const %s *)in)[i]; SYNC;"
                                    "((__global %s *)out)[i] = v;"),
                             kept[_i].type, kept[_i].type, kept[_i].type),
                "k");
    rig_buffer(&r, 16 * MAX_LOCAL);
    rig_buffer(&r, 16 * MAX_LOCAL);
    rig_local(&r, 16);
    rig_int(&r, 3);
    rig_run_1d(&r, 1, 1);
    few = r.result.local_bytes;
    rig_run_1d(&r, 1, MAX_LOCAL);
    many = r.result.local_bytes;
    ck_assert_uint_eq(many - few, (MAX_LOCAL - 1) * kept[_i].bytes);
    rig_close(&r);
}
END_TEST

/* --- divergence ---------------------------------------------------------- */

static const struct {
    const char *source;
    const char *line; /* of the barrier */
} divergent[] = {
    {"__kernel void k(__global int *out, int n)\n{\n"
     "    if (get_local_id(0) < n)\n"
     "        barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    out[get_global_id(0)] = n;\n}\n",
     ":4"},
    {"__kernel void k(__global int *out, int n)\n{\n"
     "    int l = get_local_id(0);\n"
     "    if (l == n)\n        return;\n"
     "    out[get_global_id(0)] = n;\n"
     "    barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    out[get_global_id(0)] += l;\n}\n",
     ":7"},
    {"__kernel void k(__global int *out, int n)\n{\n"
     "    for (int i = 0; i < (int)get_local_id(0) + n; i++)\n"
     "        barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    out[get_global_id(0)] = n;\n}\n",
     ":4"},
    {"__kernel void k(__global int *out, int n)\n{\n"
     "    if (get_local_id(0) == n)\n"
     "        barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    else\n"
     "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
     "    out[get_global_id(0)] = n;\n}\n",
     ""},
};

START_TEST(divergence_is_reported)
{
    rig r;
    vpu_status st;

    rig_open(&r);
    rig_compile(&r, divergent[_i].source, "k");
    rig_buffer(&r, 4096);
    rig_int(&r, 2);
    st = rig_run(&r, (uint32_t[]){3, 1, 1}, (uint32_t[]){8, 1, 1});
    ck_assert_msg(st == VPU_ERR_UNDEFINED, "%d: %s", st, r.err.msg);
    ck_assert_msg(strstr(r.err.msg, "k.cl:") &&
                      strstr(r.err.msg, divergent[_i].line) &&
                      strstr(r.err.msg, "kernel 'k', work-group (0, 0, 0)") &&
                      strstr(r.err.msg, "same barrier"),
                  "%s", r.err.msg);
    /* With one item there is nobody to disagree. */
    st = rig_run(&r, (uint32_t[]){3, 1, 1}, (uint32_t[]){1, 1, 1});
    ck_assert_msg(!st, "%s", r.err.msg);
    rig_close(&r);
}
END_TEST

/* --- dimensions ---------------------------------------------------------- */

static const char transposed[] =
    "__kernel void k(__global int *out, __local int *t)\n{\n"
    "    uint x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);\n"
    "    uint X = get_local_size(0), Y = get_local_size(1),\n"
    "         Z = get_local_size(2);\n"
    "    uint gx = get_global_id(0), gy = get_global_id(1),\n"
    "         gz = get_global_id(2);\n"
    "    uint at = (z * Y + y) * X + x;\n"
    "    int own[2] = {(int)gx, (int)(gy * 100 + gz)};\n"
    "    t[at] = gx + gy * 100 + gz * 10000;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    int other = t[X * Y * Z - 1 - at];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    t[at] = other;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[(gz * get_global_size(1) + gy) * get_global_size(0) + gx] =\n"
    "        t[at] * 3 + own[other & 1] + get_num_groups(1) +\n"
    "        get_group_id(2) * 7;\n}\n";

static const uint32_t shapes[][2][3] = {
    {{3, 1, 1}, {8, 1, 1}},  {{2, 3, 1}, {8, 4, 1}},  {{2, 3, 2}, {5, 3, 2}},
    {{1, 2, 5}, {16, 1, 3}}, {{4, 1, 3}, {1, 7, 1}},  {{2, 2, 2}, {3, 3, 3}},
    {{7, 5, 3}, {1, 1, 1}},  {{1, 1, 1}, {24, 3, 2}},
};

START_TEST(dimensions)
{
    const uint32_t *g = shapes[_i][0], *l = shapes[_i][1];
    uint32_t n[3], L = l[0] * l[1] * l[2];
    int *out;
    rig r;

    for (int d = 0; d < 3; d++)
        n[d] = g[d] * l[d];
    rig_open(&r);
    rig_compile(&r, transposed, "k");
    out = rig_buffer(&r, 4ull * n[0] * n[1] * n[2]);
    rig_local(&r, 4 * L);
    rig_run_3d(&r, g, l);
    for (uint32_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        uint32_t x = i % n[0], y = i / n[0] % n[1], z = i / n[0] / n[1];
        uint32_t at = (z % l[2] * l[1] + y % l[1]) * l[0] + x % l[0];
        uint32_t m = L - 1 - at;
        uint32_t ox = x - x % l[0] + m % l[0];
        uint32_t oy = y - y % l[1] + m / l[0] % l[1];
        uint32_t oz = z - z % l[2] + m / l[0] / l[1];
        int other = (int)(ox + oy * 100 + oz * 10000);
        int want = other * 3 + (int)(other & 1 ? y * 100 + z : x) + (int)g[1] +
                   (int)(z / l[2]) * 7;

        ck_assert_msg(out[i] == want,
                      "groups of %ux%ux%u, item %u,%u,%u: %d, expected %d",
                      l[0], l[1], l[2], x, y, z, out[i], want);
    }
    rig_close(&r);
}
END_TEST

/* --- limits -------------------------------------------------------------- */

static const char *const endless[] = {
    "__kernel void k(__global int *p) { while (1) ; }\n",
    "__kernel void k(__global int *p) { for (;;) p[get_global_id(0)]++; }\n",
    "__kernel void k(__global int *p) { while (p[0] == 0) p[1] = 0; }\n",
    "__kernel void k(__global int *p)\n{\n"
    "    for (;;) { p[get_global_id(0)]++; barrier(CLK_LOCAL_MEM_FENCE); "
    "}\n}\n",
    "__kernel void k(__global int *p)\n{\n"
    "    for (uint i = 0; i < 10; i = i & 7) p[get_global_id(0)] += i;\n}\n",
    "__kernel void k(__global int *p)\n{\n"
    "    __local int t[8]; event_t e;\n"
    "    while (p[0] == 0) { e = async_work_group_copy(t, p, 8, 0);\n"
    "        wait_group_events(1, &e); }\n}\n",
};

START_TEST(endless_kernels_stop)
{
    vpu_status st;
    rig r;

    rig_open(&r);
    rig_compile(&r, endless[_i], "k");
    rig_buffer(&r, 4096);
    r.max_cycles = 100000;
    st = rig_run(&r, (uint32_t[]){3, 1, 1}, (uint32_t[]){8, 1, 1});
    ck_assert_msg(st == VPU_ERR_LIMIT && strstr(r.err.msg, "kernel 'k'") &&
                      strstr(r.err.msg, "100000 cycles"),
                  "%d: %s", st, r.err.msg);
    r.max_cycles = 0;
    r.timeout_s = 0.2;
    st = rig_run(&r, (uint32_t[]){3, 1, 1}, (uint32_t[]){8, 1, 1});
    ck_assert_msg(st == VPU_ERR_LIMIT && strstr(r.err.msg, "kernel 'k'") &&
                      strstr(r.err.msg, "0.2 s"),
                  "%d: %s", st, r.err.msg);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernels: barriers");
    TCase *c = tcase_create("across barriers");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 30);
    tcase_add_loop_test(c, across_barriers, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(c, bytes_of_an_item, 0, sizeof kept / sizeof *kept);
    tcase_add_loop_test(c, divergence_is_reported, 0,
                        sizeof divergent / sizeof *divergent);
    tcase_add_loop_test(c, dimensions, 0, sizeof shapes / sizeof *shapes);
    tcase_add_loop_test(c, endless_kernels_stop, 0,
                        sizeof endless / sizeof *endless);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
