#include "tests/support/kernel_gen.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_LOOPS = 8 };

typedef struct {
    uint64_t state;
    str body;
    bool uniform;  /* control flow, inside ITEMS */
    bool arrays;   /* private arrays */
    bool in_items; /* item variables may be named */
    int indent, depth;
    int n_loops, loops[MAX_LOOPS]; /* loop variables in scope */
    int next_name;
} gen;

static uint32_t below(gen *g, uint32_t n)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)((z >> 33) % n);
}

#define put(g, ...) str_printf(&(g)->body, __VA_ARGS__)

static void line(gen *g)
{
    put(g, "\n%*s", g->indent * 4, "");
}

/* --- expressions -------------------------------------------------------------
 */

static void uint_expr(gen *g, int depth);
static void float_expr(gen *g, int depth);
static void half_expr(gen *g, int depth);
static void condition(gen *g, int depth);

/* The same for all items, or for all of dimension 0 inside ITEMS. */
static void uniform_uint(gen *g, int depth)
{
    static const char *const ops[] = {"+", "*", "^", "-", "&"};

    if (depth <= 0 || !below(g, 3)) {
        switch (below(g, g->in_items ? 5 : 4)) {
        case 0:
            put(g, "n");
            return;
        case 1:
            put(g, "%uu", below(g, 20));
            return;
        case 2:
            if (g->n_loops) {
                put(g, "k%d", g->loops[below(g, (uint32_t)g->n_loops)]);
                return;
            }
            put(g, "n");
            return;
        case 3:
            put(g, "(uint)L0");
            return;
        default:
            put(g, "(uint)ly");
            return;
        }
    }
    put(g, "(");
    uniform_uint(g, depth - 1);
    put(g, " %s ", ops[below(g, 5)]);
    uniform_uint(g, depth - 1);
    put(g, ")");
}

static void uint_leaf(gen *g)
{
    switch (below(g, g->arrays ? 13 : 11)) {
    case 0:
    case 1:
    case 2:
        put(g, "u%u", below(g, 4));
        return;
    case 3:
        put(g, "%uu", below(g, 2) ? below(g, 16) : below(g, UINT32_MAX));
        return;
    case 4:
        put(g, "in[i]");
        return;
    case 5:
        put(g, "(uint)bin[i]");
        return;
    case 6:
        put(g, "in[%d - i]", GEN_ITEMS - 1);
        return;
    case 7:
        put(g, "in[u%u & %du]", below(g, 4), GEN_ITEMS - 1);
        return;
    case 8:
        put(g, "(uint)%s", below(g, 2) ? "lx" : "i");
        return;
    case 9:
        put(g, "(uint)bin[(u%u + (uint)i) & %du]", below(g, 4), GEN_ITEMS - 1);
        return;
    case 10:
        uniform_uint(g, 1);
        return;
    default:
        put(g, "p[%s%u & 3]", below(g, 2) ? "u" : "", below(g, 4));
    }
}

static void binary(gen *g, int depth, const char *before, const char *between,
                   const char *after)
{
    put(g, "%s", before);
    uint_expr(g, depth);
    put(g, "%s", between);
    uint_expr(g, depth);
    put(g, "%s", after);
}

static void uint_expr(gen *g, int depth)
{
    static const char *const forms[][3] = {
        {"(", " + ", ")"},
        {"(", " - ", ")"},
        {"(", " * ", ")"},
        {"(", " ^ ", ")"},
        {"(", " & ", ")"},
        {"(", " | ", ")"},
        {"(", " << (", " & 31u))"},
        {"(", " >> (", " & 31u))"},
        {"(", " / (", " | 1u))"},
        {"(", " % (", " | 1u))"},
        {"MINU(", ", ", ")"},
        {"MAXU(", ", ", ")"},
        {"helper(", ", ", ")"},
        {"(uint)((int)", " >> (", " & 31u))"},
        {"(uint)((int)", " / (int)((", " & 1023u) + 1u))"},
        {"(uint)((int)", " % (int)((", " & 1023u) + 1u))"},
        {"(uint)(((ulong)", " * (ulong)", ") >> 32)"},
        {"(uint)(((ulong)", " + (ulong)", ") >> 1)"},
        {"(uint)(uchar)(", " + ", ")"},
        {"(uint)(int)(char)(", " - ", ")"},
        {"(uint)(ushort)(", " * ", ")"},
        {"(uint)(int)(short)(", " ^ ", ")"},
    };
    uint32_t n_forms = sizeof forms / sizeof *forms, pick;

    if (depth <= 0) {
        uint_leaf(g);
        return;
    }
    pick = below(g, n_forms + 5);
    if (pick < n_forms) {
        binary(g, depth - 1 - (int)below(g, 2), forms[pick][0], forms[pick][1],
               forms[pick][2]);
        return;
    }
    switch (pick - n_forms) {
    case 0:
        put(g, "F2U(");
        float_expr(g, depth - 1);
        break;
    case 1:
        put(g, "F2U((float)");
        half_expr(g, depth - 1);
        break;
    case 2:
        put(g, g->uniform ? "PICKU(" : "(");
        condition(g, depth - 1);
        put(g, g->uniform ? ", " : " ? ");
        uint_expr(g, depth - 2);
        put(g, g->uniform ? ", " : " : ");
        uint_expr(g, depth - 2);
        break;
    case 3:
        put(g, "(uint)(");
        condition(g, depth - 1);
        break;
    default:
        put(g, "~(");
        uint_expr(g, depth - 1);
    }
    put(g, ")");
}

static void float_expr(gen *g, int depth)
{
    static const char *const consts[] = {"1.5f", "-0.25f", "3.0f", "1e-3f",
                                         "0.1f", "100.0f", "-7.0f"};
    static const char *const ops[] = {"+", "-", "*", "/"};

    if (depth <= 0) {
        switch (below(g, 6)) {
        case 0:
        case 1:
            put(g, "f%u", below(g, 2));
            return;
        case 2:
            put(g, "fin[i]");
            return;
        case 3:
            put(g, "fin[u%u & %du]", below(g, 4), GEN_ITEMS - 1);
            return;
        case 4:
            put(g, "%s", consts[below(g, 7)]);
            return;
        default:
            put(g, "(float)(u%u & 0xffffu)", below(g, 4));
            return;
        }
    }
    switch (below(g, 10)) {
    case 0:
        put(g, "(- ");
        float_expr(g, depth - 1);
        break;
    case 1:
        put(g, "FABS(");
        float_expr(g, depth - 1);
        break;
    case 2:
        put(g, "SQRT(");
        float_expr(g, depth - 1);
        break;
    case 3:
        put(g, "((float)");
        half_expr(g, depth - 1);
        break;
    case 4:
        put(g, g->uniform ? "PICKF(" : "(");
        condition(g, depth - 1);
        put(g, g->uniform ? ", " : " ? ");
        float_expr(g, depth - 2);
        put(g, g->uniform ? ", " : " : ");
        float_expr(g, depth - 2);
        break;
    default:
        put(g, "(");
        float_expr(g, depth - 1);
        put(g, " %s ", ops[below(g, 4)]);
        float_expr(g, depth - 1);
    }
    put(g, ")");
}

static void half_expr(gen *g, int depth)
{
    static const char *const ops[] = {"HADD", "HSUB", "HMUL", "HDIV"};

    if (depth <= 0) {
        switch (below(g, 5)) {
        case 0:
        case 1:
            put(g, "h%u", below(g, 2));
            return;
        case 2:
            put(g, "HIN(i)");
            return;
        case 3:
            put(g, "HIN(u%u & %du)", below(g, 4), GEN_ITEMS - 1);
            return;
        default:
            put(g, "(half)%u.%uf", below(g, 9), below(g, 100));
            return;
        }
    }
    if (!below(g, 4)) {
        put(g, "((half)");
        float_expr(g, depth - 1);
        put(g, ")");
        return;
    }
    put(g, "%s(", ops[below(g, 4)]);
    half_expr(g, depth - 1);
    put(g, ", ");
    half_expr(g, depth - 1);
    put(g, ")");
}

static void condition(gen *g, int depth)
{
    static const char *const rel[] = {"<", "<=", "==", "!=", ">", ">="};
    static const char *const logic[] = {"&&", "||", "&", "|"};
    const char *r = rel[below(g, 6)];

    switch (below(g, 5)) {
    case 0:
        put(g, "(");
        float_expr(g, depth - 1);
        put(g, " %s ", r);
        float_expr(g, depth - 1);
        break;
    case 1:
        put(g, "((float)");
        half_expr(g, depth - 1);
        put(g, " %s (float)", r);
        half_expr(g, depth - 1);
        break;
    case 2:
        put(g, "((int)");
        uint_expr(g, depth - 1);
        put(g, " %s (int)", r);
        uint_expr(g, depth - 1);
        break;
    case 3:
        if (depth > 1) {
            put(g, "(");
            condition(g, depth - 2);
            put(g, " %s ", logic[g->uniform * 2 + below(g, 2)]);
            condition(g, depth - 2);
            break;
        }
        /* fallthrough */
    default:
        put(g, "(");
        uint_expr(g, depth - 1);
        put(g, " %s ", r);
        uint_expr(g, depth - 1);
    }
    put(g, ")");
}

/* --- statements
 * --------------------------------------------------------------- */

static void flow_condition(gen *g)
{
    if (!g->uniform && below(g, 3)) {
        condition(g, 2);
        return;
    }
    put(g, "((");
    uniform_uint(g, 2);
    put(g, " & 3u) %s %uu)", below(g, 2) ? "<" : "!=", below(g, 4));
}

static void assignment(gen *g)
{
    uint32_t pick = below(g, g->arrays ? 9 : 8);

    line(g);
    if (pick < 4) {
        put(g, "u%u %s= ", below(g, 4), pick ? "" : "^");
        uint_expr(g, 3);
    } else if (pick < 6) {
        put(g, "f%u = ", below(g, 2));
        float_expr(g, 3);
    } else if (pick < 8) {
        put(g, "h%u = ", below(g, 2));
        half_expr(g, 2);
    } else {
        put(g, "p[");
        uint_expr(g, 1);
        put(g, " & 3u] = ");
        uint_expr(g, 2);
    }
    put(g, ";");
}

static void store(gen *g)
{
    line(g);
    switch (below(g, 4)) {
    case 0:
        put(g, "out[i + %u * %d] ^= ", below(g, 2), GEN_ITEMS);
        uint_expr(g, 2);
        break;
    case 1:
        put(g, "out[%d - i] += ", 3 * GEN_ITEMS - 1);
        uint_expr(g, 2);
        break;
    case 2:
        put(g, "bout[i] = (uchar)");
        uint_expr(g, 2);
        break;
    default:
        put(g, "HOUT(i, ");
        half_expr(g, 2);
        put(g, ")");
    }
    put(g, ";");
}

static void block(gen *g, int n);

static void open_block(gen *g, int n)
{
    g->indent++;
    g->depth++;
    block(g, n);
    g->depth--;
    g->indent--;
    line(g);
    put(g, "}");
}

static void conditional(gen *g)
{
    line(g);
    put(g, "if (");
    flow_condition(g);
    put(g, ") {");
    open_block(g, 2);
    if (below(g, 2)) {
        put(g, " else {");
        open_block(g, 2);
    }
}

static void open_loop(gen *g, bool uniform)
{
    int k = g->next_name++;

    line(g);
    put(g, "for (uint k%d = 0; k%d < (", k, k);
    if (uniform)
        uniform_uint(g, 1);
    else
        uint_expr(g, 1);
    put(g, " & %uu); k%d++) {", below(g, 2) ? 7u : 3u, k);
    g->loops[g->n_loops++] = k;
}

static void loop(gen *g)
{
    open_loop(g, g->uniform || below(g, 2));
    if (!below(g, 3)) {
        g->indent++;
        line(g);
        put(g, "if (");
        flow_condition(g);
        put(g, ")\n%*s%s;", g->indent * 4 + 4, "",
            below(g, 2) ? "break" : "continue");
        g->indent--;
    }
    open_block(g, 2);
    g->n_loops--;
}

static void choice(gen *g)
{
    line(g);
    put(g, "switch ((");
    if (g->uniform)
        uniform_uint(g, 1);
    else
        uint_expr(g, 1);
    put(g, ") & 3u) {");
    for (int k = 0; k < 3; k++) {
        line(g);
        put(g, k < 2 ? "case %du:" : "default:", k);
        g->indent++;
        assignment(g);
        line(g);
        put(g, below(g, 4) ? "break;" : ";");
        g->indent--;
    }
    line(g);
    put(g, "}");
}

static void block(gen *g, int n)
{
    for (int k = 0; k < n; k++) {
        uint32_t pick = below(g, g->depth < 3 ? 12 : 7);

        if (pick < 6)
            assignment(g);
        else if (pick == 6)
            store(g);
        else if (pick < 9)
            conditional(g);
        else if (pick < 11 && g->n_loops < MAX_LOOPS - 1)
            loop(g);
        else
            choice(g);
    }
}

static void items(gen *g, int n)
{
    line(g);
    put(g, "ITEMS {");
    g->in_items = true;
    open_block(g, n);
    g->in_items = false;
}

/* Everyone writes its word, everyone reads somebody's. */
static void exchange(gen *g)
{
    static const char *const where[] = {"(l + 1) % L", "L - 1 - l",
                                        "0",           "(int)(u2 % (uint)L)",
                                        "l ^ (l & 1)", "L / 2"};

    items(g, 1 + (int)below(g, 3));
    line(g);
    put(g, "ITEMS { t[l] = u%u; s[l] = h0; }", below(g, 4));
    line(g);
    put(g, "SYNC");
    line(g);
    put(g, "ITEMS { u%u %s= t[%s]; h1 = s[%s]; }", below(g, 4),
        below(g, 2) ? "+" : "^", where[below(g, 6)], where[below(g, 6)]);
    line(g);
    put(g, "SYNC");
}

static void phases(gen *g, int n, int depth)
{
    for (int k = 0; k < n; k++)
        switch (depth ? below(g, 4) : 3) {
        case 0:
            open_loop(g, true);
            g->indent++;
            phases(g, 1 + (int)below(g, 2), depth - 1);
            g->n_loops--;
            g->indent--;
            line(g);
            put(g, "}");
            break;
        case 1:
            line(g);
            put(g, "if ((");
            uniform_uint(g, 2);
            put(g, " & 3u) != %uu) {", below(g, 4));
            g->indent++;
            phases(g, 1, depth - 1);
            g->indent--;
            line(g);
            put(g, "}");
            break;
        default:
            exchange(g);
        }
}

static void last_words(gen *g)
{
    line(g);
    put(g, "ITEMS {");
    g->indent++;
    if (!g->uniform) {
        line(g);
        put(g, "if (u%u & 1u)", below(g, 4));
        put(g, "\n%*sLEAVE;", g->indent * 4 + 4, "");
    }
    for (int k = 0; k < 4; k++) {
        line(g);
        put(g, "out[i + %d * %d] ^= u%d%s;", k < 2 ? k : k + 1, GEN_ITEMS, k,
            g->arrays && k == 2 ? " + p[0] + p[1] * 3u + p[3]" : "");
    }
    line(g);
    put(g, "out[i + 5 * %d] = WORD(f0) ^ WORD(f1) * 3u;", GEN_ITEMS);
    line(g);
    put(g, "HOUT(i, HADD(h0, h1));");
    g->indent--;
    line(g);
    put(g, "}\n");
}

/* --- the two languages
 * ---------------------------------------------------------- */

static const char shared[] =
    "#define MINU(a, b) ((a) < (b) ? (a) : (b))\n"
    "#define MAXU(a, b) ((a) > (b) ? (a) : (b))\n"
    "static uint helper(uint a, uint b)\n"
    "{\n    uint r = a ^ b << 7;\n\n"
    "    for (int k = 0; k < 3; k++)\n        r = r * 5u + (b >> k);\n"
    "    return r;\n}\n"
    "static uint f2u(float x)\n"
    "{\n    return x >= 0.0f && x < 65536.0f ? (uint)x : 7u;\n}\n"
    "#define F2U(x) f2u(x)\n"
    /* Both sides are always computed. */
    "static uint PICKU(bool c, uint a, uint b)\n"
    "{\n    return c ? a : b;\n}\n"
    "static float PICKF(bool c, float a, float b)\n"
    "{\n    return c ? a : b;\n}\n"
    /* NaN's sign and digits are nobody's promise. */
    "static uint word(float x)\n"
    "{\n    return x != x ? 0x7fc00000u : AS_UINT(x);\n}\n"
    "#define WORD(x) word(x)\n"
    "#define HOUT(i, x) hout[i] = half_word(x)\n";

static const char opencl_head[] = "#define AS_UINT(x) as_uint(x)\n"
                                  "#define ITEMS\n"
                                  "#define SYNC barrier(CLK_LOCAL_MEM_FENCE);\n"
                                  "#define LEAVE return\n"
                                  "#define HADD(a, b) ((a) + (b))\n"
                                  "#define HSUB(a, b) ((a) - (b))\n"
                                  "#define HMUL(a, b) ((a) * (b))\n"
                                  "#define HDIV(a, b) ((a) / (b))\n"
                                  "#define HIN(i) as_half(hin[i])\n"
                                  "#define FABS(x) fabs(x)\n"
                                  "#define SQRT(x) sqrt(x)\n";

static const char opencl_kernel[] =
    "static ushort half_word(half x)\n"
    "{\n    return x != x ? (ushort)0x7e00 : as_ushort(x);\n}\n"
    "__kernel void k(uint n, __global const uint *in,\n"
    "    __global const float *fin, __global const ushort *hin,\n"
    "    __global const uchar *bin, __global uint *out,\n"
    "    __global ushort *hout, __global uchar *bout,\n"
    "    __local uint *t, __local half *s)\n{\n"
    "    int lx = get_local_id(0), ly = get_local_id(1);\n"
    "    int L0 = get_local_size(0), L = L0 * get_local_size(1);\n"
    "    int l = ly * L0 + lx;\n"
    "    int i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
    "    uint u0 = in[i], u1 = i, u2 = l, u3 = 7u;\n"
    "    float f0 = fin[i], f1 = 0.5f;\n"
    "    half h0 = HIN(i), h1 = (half)2.0f;\n";

static const char c_head[] =
    "#include <math.h>\n#include <stdbool.h>\n#include <string.h>\n"
    "typedef unsigned char uchar;\ntypedef unsigned short ushort;\n"
    "typedef unsigned uint;\ntypedef unsigned long ulong;\n"
    "typedef _Float16 half;\n"
    "static uint AS_UINT(float x)\n"
    "{\n    uint r;\n    memcpy(&r, &x, 4);\n    return r;\n}\n"
    "static half HALF(ushort x)\n"
    "{\n    half r;\n    memcpy(&r, &x, 2);\n    return r;\n}\n"
    "#define ITEMS for (int l = 0; l < L; l++)\n"
    "#define SYNC\n"
    "#define LEAVE continue\n"
    "#define HADD(a, b) ((half)((float)(a) + (float)(b)))\n"
    "#define HSUB(a, b) ((half)((float)(a) - (float)(b)))\n"
    "#define HMUL(a, b) ((half)((float)(a) * (float)(b)))\n"
    "#define HDIV(a, b) ((half)((float)(a) / (float)(b)))\n"
    "#define HIN(i) HALF(hin[i])\n"
    "#define FABS(x) fabsf(x)\n"
    "#define SQRT(x) sqrtf(x)\n";

static const char c_kernel[] =
    "static ushort half_word(half x)\n"
    "{\n    ushort r;\n    memcpy(&r, &x, 2);\n"
    "    return x != x ? (ushort)0x7e00 : r;\n}\n"
    "typedef struct {\n    uint u0_, u1_, u2_, u3_, p_[4];\n"
    "    float f0_, f1_;\n    half h0_, h1_;\n} item;\n"
    "#define u0 it[l].u0_\n#define u1 it[l].u1_\n"
    "#define u2 it[l].u2_\n#define u3 it[l].u3_\n"
    "#define f0 it[l].f0_\n#define f1 it[l].f1_\n"
    "#define h0 it[l].h0_\n#define h1 it[l].h1_\n"
    "#define p it[l].p_\n"
    "#define lx (l % L0)\n#define ly (l / L0)\n"
    "#define i ((group_[1] * local[1] + ly) * groups[0] * L0 + \\\n"
    "           group_[0] * L0 + lx)\n"
    "void group(const int *group_, const int *groups, const int *local,\n"
    "    uint n, const uint *in, const float *fin, const ushort *hin,\n"
    "    const uchar *bin, uint *out, ushort *hout, uchar *bout)\n{\n"
    "    int L0 = local[0], L = L0 * local[1];\n"
    "    item it[512];\n    uint t[512];\n    half s[512];\n"
    "    ITEMS { u0 = in[i]; u1 = i; u2 = l; u3 = 7u;\n"
    "        f0 = fin[i]; f1 = 0.5f; h0 = HIN(i); h1 = (half)2.0f; }\n";

void gen_kernel(uint64_t seed, str *opencl, str *c)
{
    gen g = {.state = seed * 0x2545f4914f6cdd1d + 1, .indent = 1};

    g.uniform = seed & 1;
    g.arrays = !g.uniform && below(&g, 2);
    if (g.arrays)
        put(&g, "\n    ITEMS { for (int q = 0; q < 4; q++) p[q] = u0 + q; }");
    phases(&g, 1 + (int)below(&g, 3), 2);
    items(&g, 3);
    last_words(&g);
    *opencl = *c = (str){0};
    str_printf(opencl, "%s%s%s%s%s}\n", opencl_head, shared, opencl_kernel,
               g.arrays ? "    uint p[4];\n" : "", str_text(&g.body));
    str_printf(c, "%s%s%s%s}\n", c_head, shared, c_kernel, str_text(&g.body));
    str_free(&g.body);
}
