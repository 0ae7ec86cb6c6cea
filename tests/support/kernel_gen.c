/* Draws statements and expressions at random and writes them as text. */
#include "tests/support/kernel_gen.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_LOOPS = 8 };

/* What a kernel may have beside scalars. All but the first two keep it from
 * being vectorized. */
enum {
    TABLES = 1, /* __constant arrays and structures */
    SWAPS = 2,  /* __local arrays behind two pointers that change places */
    ARRAYS = 4,
    POINTERS = 8, /* chosen, swapped, stored and loaded again; with ARRAYS */
    RECORDS = 16, /* structures copied and pointed to, unions */
    VECTORS = 32,
    VOLATILES = 64,
    ALL = 127
};

typedef struct {
    uint64_t state;
    str body;
    bool uniform; /* control flow, inside ITEMS */
    unsigned has;
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

/* --- expressions --------------------------------------------------------- */

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

/* A word that one of the kernel's features keeps; false: it has not got the one
 * that came up. */
static bool kept_word(gen *g)
{
    static const char *const names[] = {"pp", "pq", "vp"};
    static const char *const fields[] = {"a", "b", "c[1]", "e[0]", "e[1]"};

    switch (below(g, 8) & 7) {
    case 0:
        put(g, g->has & TABLES ? "TAB[u%u & 15u]" : "u%u", below(g, 4));
        return true;
    case 1:
        if (g->has & TABLES)
            put(g, "(uint)RECS[u%u & 3u].%s", below(g, 4), fields[below(g, 5)]);
        return g->has & TABLES;
    case 2:
        if (g->has & ARRAYS)
            put(g, "p[%s%u & 3]", below(g, 2) ? "u" : "", below(g, 4));
        return g->has & ARRAYS;
    case 3:
    case 4:
        if (g->has & POINTERS)
            put(g, "%s[u%u & 3u]", names[below(g, 3)], below(g, 4));
        return g->has & POINTERS;
    case 5:
        if (g->has & RECORDS)
            put(g, "(uint)%s.%s", below(g, 2) ? "ra" : "rb",
                fields[below(g, 5)]);
        return g->has & RECORDS;
    case 6:
        if (g->has & VECTORS)
            put(g, "LANE(w%u, u%u & 3u)", below(g, 2), below(g, 4));
        return g->has & VECTORS;
    default:
        if (g->has & VOLATILES)
            put(g, "vv");
        return g->has & VOLATILES;
    }
}

static void uint_leaf(gen *g)
{
    if (g->in_items && g->has && !below(g, 3) && kept_word(g))
        return;
    switch (below(g, 11)) {
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
    default:
        uniform_uint(g, 1);
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

/* --- statements ---------------------------------------------------------- */

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

static void index_of(gen *g)
{
    put(g, "[");
    uint_expr(g, 1);
    put(g, " & 3u]");
}

static void change_pointers(gen *g)
{
    static const char *const names[] = {"pp", "pq", "vp"};
    const char *a = names[below(g, 3)], *b = names[below(g, 3)];

    switch (below(g, 5)) {
    case 0:
        put(g, "%s = ", a);
        condition(g, 1);
        put(g, " ? p : q;");
        return;
    case 1:
        put(g, "{ uint *x_ = %s; %s = %s; %s = x_; }", a, a, b, b);
        return;
    case 2:
        put(g, "{ uint *x_ = ");
        condition(g, 1);
        put(g, " ? %s : %s; x_", a, b);
        index_of(g);
        put(g, " += ");
        uint_expr(g, 1);
        put(g, "; u%u ^= %s[u%u & 3u]; }", below(g, 4), b, below(g, 4));
        return;
    default:
        put(g, "%s", a);
        index_of(g);
        put(g, " %s= ", below(g, 2) ? "" : "^");
        uint_expr(g, 2);
        put(g, ";");
    }
}

static void change_records(gen *g)
{
    static const char *const fields[] = {"a", "b", "c[2]", "e[0]", "e[1]"};
    const char *a = below(g, 2) ? "ra" : "rb", *b = below(g, 2) ? "ra" : "rb";

    switch (below(g, g->has & TABLES ? 6 : 5)) {
    case 0:
        put(g, "%s = %s;", a, b);
        return;
    case 1:
        put(g, "{ rec *x_ = ");
        condition(g, 1);
        put(g, " ? &ra : &rb; x_->%s += ", fields[below(g, 5)]);
        uint_expr(g, 1);
        put(g, "; %s = *x_; }", a);
        return;
    case 2:
        put(g, "{ union { uint w; ushort h[2]; uchar b[4]; } x_; x_.w = ");
        uint_expr(g, 1);
        put(g, "; x_.%s", below(g, 2) ? "h[u0 & 1u]" : "b[u1 & 3u]");
        put(g, " = ");
        uint_expr(g, 1);
        put(g, "; u%u = x_.w; }", below(g, 4));
        return;
    case 3:
        put(g, "%s.d = ", a);
        float_expr(g, 1);
        put(g, "; f%u += %s.d;", below(g, 2), b);
        return;
    case 5:
        put(g, "%s = RECS[u%u & 3u];", a, below(g, 4));
        return;
    default:
        put(g, "%s.%s = ", a, fields[below(g, 5)]);
        uint_expr(g, 2);
        put(g, ";");
    }
}

static void change_vectors(gen *g)
{
    static const char ops[] = "+-*^&|";

    put(g, "w%u = ", below(g, 2));
    switch (below(g, 4)) {
    case 0:
        put(g, "V4(");
        for (int k = 0; k < 4; k++) {
            put(g, k ? ", " : "");
            uint_expr(g, 1);
        }
        put(g, ");");
        return;
    case 1:
        put(g, "VLOAD(u%u & %du, in);", below(g, 4), GEN_ITEMS / 4 - 1);
        return;
    case 2:
        put(g, "REV(w%u); LANE(w%u, u%u & 3u) = ", below(g, 2), below(g, 2),
            below(g, 4));
        uint_expr(g, 1);
        put(g, ";");
        return;
    default:
        put(g, "w0 %c w1 %c w%u;", ops[below(g, 6)], ops[below(g, 6)],
            below(g, 2));
    }
}

/* A statement about one of the kernel's features; false: not about the one that
 * came up. */
static bool change_kept(gen *g)
{
    switch (below(g, 5)) {
    case 0:
        if (g->has & ARRAYS) {
            put(g, "%s", below(g, 2) ? "p" : "q");
            index_of(g);
            put(g, " = ");
            uint_expr(g, 2);
            put(g, ";");
        }
        return g->has & ARRAYS;
    case 1:
        if (g->has & POINTERS)
            change_pointers(g);
        return g->has & POINTERS;
    case 2:
        if (g->has & RECORDS)
            change_records(g);
        return g->has & RECORDS;
    case 3:
        if (g->has & VECTORS)
            change_vectors(g);
        return g->has & VECTORS;
    default:
        if (g->has & VOLATILES) {
            put(g, "vv = ");
            uint_expr(g, 2);
            put(g, "; vv += vv;");
        }
        return g->has & VOLATILES;
    }
}

static void assignment(gen *g)
{
    uint32_t pick = below(g, 8);

    line(g);
    if (g->has & ~(TABLES | SWAPS) && below(g, 2) && change_kept(g))
        return;
    if (pick < 4) {
        put(g, "u%u %s= ", below(g, 4), pick ? "" : "^");
        uint_expr(g, 3);
    } else if (pick < 6) {
        put(g, "f%u = ", below(g, 2));
        float_expr(g, 3);
    } else {
        put(g, "h%u = ", below(g, 2));
        half_expr(g, 2);
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

/* Two local arrays behind pointers that change places. */
static void swap_locals(gen *g)
{
    line(g);
    put(g, "SYNC");
    line(g);
    put(g, "ITEMS { nxt[l] = cur[%s] * 3u + u%u; }",
        below(g, 2) ? "(l + 1) % L" : "L - 1 - l", below(g, 4));
    line(g);
    put(g, "SYNC");
    line(g);
    put(g, "{ LOCAL uint *x_ = cur; cur = nxt; nxt = x_; }");
    line(g);
    put(g, "ITEMS { nxt[l] ^= u%u; u%u = cur[l] + nxt[l] + %s[l]; }",
        below(g, 4), below(g, 4), below(g, 2) ? "tx" : "ty");
}

/* Structures through local memory. */
static void pass_records(gen *g)
{
    line(g);
    put(g, "ITEMS { lr[l] = %s; }", below(g, 2) ? "ra" : "rb");
    line(g);
    put(g, "SYNC");
    line(g);
    put(g, "ITEMS { rb = lr[%s]; }", below(g, 2) ? "(l + 1) % L" : "0");
    line(g);
    put(g, "SYNC");
}

static void phases(gen *g, int n, int depth)
{
    for (int k = 0; k < n; k++)
        switch (depth ? below(g, 6) : 3) {
        case 4:
            if (g->has & SWAPS)
                swap_locals(g);
            else
                exchange(g);
            break;
        case 5:
            if (g->has & RECORDS)
                pass_records(g);
            else
                exchange(g);
            break;
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
        put(g, "out[i + %d * %d] ^= u%d;", k < 2 ? k : k + 1, GEN_ITEMS, k);
    }
    line(g);
    put(g, "out[i + 6 * %d] ^= LEFT;", GEN_ITEMS);
    line(g);
    put(g, "out[i + 5 * %d] = WORD(f0) ^ WORD(f1) * 3u;", GEN_ITEMS);
    line(g);
    put(g, "HOUT(i, HADD(h0, h1));");
    g->indent--;
    line(g);
    put(g, "}\n");
}

/* --- the two languages --------------------------------------------------- */

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
    "#define HOUT(i, x) hout[i] = half_word(x)\n"
    "typedef struct {\n    uint a;\n    ushort b;\n    uchar c[3];\n"
    "    float d;\n    uint e[2];\n} rec;\n"
    "CONSTANT uint TAB[16] = {3u, 1u, 4u, 1u, 5u, 9u, 2u, 6u, 5u, 35u, 89u,\n"
    "    7932u, 0x80000000u, 46u, 2643u, 0xffffffffu};\n"
    "CONSTANT rec RECS[4] = {{1u, 2u, {3u, 4u, 5u}, 0.5f, {6u, 7u}},\n"
    "    {10u, 20u, {30u, 40u, 50u}, -1.5f, {60u, 70u}},\n"
    "    {0xffffffffu, 0xffffu, {255u, 0u, 1u}, 100.0f, {0u, 9u}},\n"
    "    {77u, 8u, {9u, 1u, 2u}, 0.0f, {0x12345678u, 3u}}};\n";

static const char opencl_head[] =
    "#define CONSTANT __constant\n"
    "#define LOCAL __local\n"
    "#define AS_UINT(x) as_uint(x)\n"
    "#define ITEMS\n"
    "#define SYNC barrier(CLK_LOCAL_MEM_FENCE);\n"
    "#define LEAVE return\n"
    "#define HADD(a, b) ((a) + (b))\n"
    "#define HSUB(a, b) ((a) - (b))\n"
    "#define HMUL(a, b) ((a) * (b))\n"
    "#define HDIV(a, b) ((a) / (b))\n"
    "#define HIN(i) as_half(hin[i])\n"
    "#define FABS(x) fabs(x)\n"
    "#define SQRT(x) sqrt(x)\n"
    "#define V4(a, b, c, d) ((uint4)(a, b, c, d))\n"
    "#define VLOAD(k, p) vload4(k, p)\n"
    "#define REV(v) ((v).s3210)\n"
    "#define LANE(v, k) (((uint *)&(v))[k])\n"
    "static ushort half_word(half x)\n"
    "{\n    return x != x ? (ushort)0x7e00 : as_ushort(x);\n}\n";

static const char opencl_kernel[] =
    "(uint n, __global const uint *in,\n"
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
    "typedef uint uint4 __attribute__((vector_size(16)));\n"
    "#define CONSTANT static const\n"
    "#define LOCAL\n"
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
    "#define SQRT(x) sqrtf(x)\n"
    "#define V4(a, b, c, d) ((uint4){a, b, c, d})\n"
    "static uint4 VLOAD(uint k, const uint *p)\n"
    "{\n    uint4 v;\n    memcpy(&v, p + 4 * k, 16);\n    return v;\n}\n"
    "#define REV(v) ((uint4){(v)[3], (v)[2], (v)[1], (v)[0]})\n"
    "#define LANE(v, k) ((v)[k])\n"
    "static ushort half_word(half x)\n"
    "{\n    ushort r;\n    memcpy(&r, &x, 2);\n"
    "    return x != x ? (ushort)0x7e00 : r;\n}\n";

/* Behind what both languages share, whose names these would change. */
static const char c_names[] =
    "typedef struct {\n    uint u0_, u1_, u2_, u3_, p_[4], q_[4];\n"
    "    float f0_, f1_;\n    half h0_, h1_;\n"
    "    uint *pp_, *pq_, *volatile vp_;\n    volatile uint vv_;\n"
    "    rec ra_, rb_;\n    uint4 w0_, w1_;\n} item;\n"
    "#define u0 it[l].u0_\n#define u1 it[l].u1_\n"
    "#define u2 it[l].u2_\n#define u3 it[l].u3_\n"
    "#define f0 it[l].f0_\n#define f1 it[l].f1_\n"
    "#define h0 it[l].h0_\n#define h1 it[l].h1_\n"
    "#define p it[l].p_\n#define q it[l].q_\n"
    "#define pp it[l].pp_\n#define pq it[l].pq_\n#define vp it[l].vp_\n"
    "#define vv it[l].vv_\n#define ra it[l].ra_\n#define rb it[l].rb_\n"
    "#define w0 it[l].w0_\n#define w1 it[l].w1_\n"
    "#define lx (l % L0)\n#define ly (l / L0)\n"
    "#define i ((group_[1] * local[1] + ly) * groups[0] * L0 + \\\n"
    "           group_[0] * L0 + lx)\n";

static const char c_kernel[] =
    "(const int *group_, const int *groups, const int *local,\n"
    "    uint n, const uint *in, const float *fin, const ushort *hin,\n"
    "    const uchar *bin, uint *out, ushort *hout, uchar *bout)\n{\n"
    "    int L0 = local[0], L = L0 * local[1];\n"
    "    item it[512];\n    uint t[512];\n    half s[512];\n"
    "    ITEMS { u0 = in[i]; u1 = i; u2 = l; u3 = 7u;\n"
    "        f0 = fin[i]; f1 = 0.5f; h0 = HIN(i); h1 = (half)2.0f; }\n";

/* Per feature: what a kernel declares, in OpenCL and in C, where items begin
 * with it, and a word of what it leaves. */
static const struct {
    unsigned feature;
    const char *opencl, *c, *begin, *left;
} features[] = {
    {SWAPS, "    __local uint tx[64], ty[64], *cur = tx, *nxt = ty;\n",
     "    uint tx[64], ty[64], *cur = tx, *nxt = ty;\n",
     "tx[l] = u0; ty[l] = u1;", "+ cur[l] * 5u + nxt[l]"},
    {ARRAYS, "    uint p[4], q[4];\n", "",
     "for (int k = 0; k < 4; k++) { p[k] = u0 + k; q[k] = u1 ^ k; }",
     "+ p[0] + p[1] * 3u + q[3]"},
    {POINTERS, "    uint *pp, *pq, *volatile vp;\n", "",
     "pp = p; pq = q; vp = q;", "+ pp[2] + pq[1] * 7u + vp[3]"},
    {RECORDS, "    rec ra, rb;\n    __local rec lr[64];\n", "    rec lr[64];\n",
     "ra.a = u0; ra.b = (ushort)u0; ra.c[0] = 1u; ra.c[1] = (uchar)u0; "
     "ra.c[2] = 3u; ra.d = f0; ra.e[0] = u1; ra.e[1] = 2u; rb = ra;",
     "+ ra.a + (uint)rb.b + rb.e[1] + (uint)ra.c[1] + WORD(rb.d)"},
    {VECTORS, "    uint4 w0, w1;\n", "",
     "w0 = V4(u0, u1, u2, u3); w1 = V4(u2, u2, u0, 9u);",
     "+ LANE(w0, 0) + LANE(w1, 2) * 3u"},
    {VOLATILES, "    volatile uint vv;\n", "", "vv = u0;", "+ vv"},
};
enum { N_FEATURES = sizeof features / sizeof *features };

static unsigned pick_features(gen *g)
{
    unsigned has = below(g, ALL + 1);

    if (g->uniform)
        has &= TABLES | SWAPS;
    if (has & POINTERS)
        has |= ARRAYS;
    return has;
}

void gen_file(uint64_t seed, unsigned n, str *opencl, str *c)
{
    *opencl = *c = (str){0};
    str_printf(opencl, "%s%s", opencl_head, shared);
    str_printf(c, "%s%s%s", c_head, shared, c_names);
    for (unsigned k = 0; k < n; k++) {
        gen g = {.state = (seed + k) * 0x2545f4914f6cdd1d + 1, .indent = 1};

        g.uniform = (seed + k) & 1;
        g.has = pick_features(&g);
        phases(&g, 1 + (int)below(&g, 3), 2);
        items(&g, 3);
        last_words(&g);
        str_printf(opencl, "#undef LEFT\n#define LEFT (0u");
        str_printf(c, "#undef LEFT\n#define LEFT (0u");
        for (int f = 0; f < N_FEATURES; f++)
            if (g.has & features[f].feature) {
                str_puts(opencl, features[f].left);
                str_puts(c, features[f].left);
            }
        str_printf(opencl, ")\n__kernel void k%u%s", k, opencl_kernel);
        str_printf(c, ")\nvoid group%u%s", k, c_kernel);
        for (int f = 0; f < N_FEATURES; f++)
            if (g.has & features[f].feature) {
                str_puts(opencl, features[f].opencl);
                str_puts(c, features[f].c);
            }
        for (int f = 0; f < N_FEATURES; f++)
            if (g.has & features[f].feature) {
                str_printf(opencl, "    ITEMS { %s }\n", features[f].begin);
                str_printf(c, "    ITEMS { %s }\n", features[f].begin);
            }
        str_printf(opencl, "%s}\n", str_text(&g.body));
        str_printf(c, "%s}\n", str_text(&g.body));
        str_free(&g.body);
    }
}
