/* Text to programs: one recursive descent, line ends are blanks. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/text.h"

typedef struct {
    const char *text, *at, *end;
    const isa_memory *mem;
    char *error; /* "" until the first problem, which ends reading */
    isa_function *f;
    uint32_t cap_vectors, cap_callees, cap_blocks, cap_instrs;
} parser;

typedef struct {
    const char *p;
    size_t n;
} word;

/* --- problems and memory ------------------------------------------------- */

static bool failed(const parser *p)
{
    return p->error[0];
}

static void fail(parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fail(parser *p, const char *at, const char *format, ...)
{
    unsigned line = 1, col = 1;
    va_list ap;
    int n;

    if (failed(p))
        return;
    for (const char *s = p->text; s < at; s++) {
        col = *s == '\n' ? 1 : col + 1;
        line += *s == '\n';
    }
    n = snprintf(p->error, ISA_ERROR_BYTES, "%u:%u: ", line, col);
    va_start(ap, format);
    vsnprintf(p->error + n, ISA_ERROR_BYTES - (size_t)n, format, ap);
    va_end(ap);
    p->at = p->end;
}

/* Place for one more of `size` bytes behind the n there are, zeroed. */
static void *append(parser *p, void *items, uint32_t n, uint32_t *cap,
                    size_t size)
{
    if (n == *cap) {
        uint32_t more = n ? 2 * n : 8;
        void *big = more > n ? p->mem->alloc(p->mem->user, more * size) : NULL;

        if (!big) {
            fail(p, p->at, "out of memory");
            return NULL;
        }
        if (n)
            memcpy(big, items, n * size);
        items = big;
        *cap = more;
    }
    memset((char *)items + n * size, 0, size);
    return items;
}

/* --- words --------------------------------------------------------------- */

static void skip(parser *p)
{
    while (p->at < p->end) {
        if (*p->at == ';')
            while (p->at < p->end && *p->at != '\n')
                p->at++;
        else if (strchr(" \t\r\n", *p->at) && *p->at)
            p->at++;
        else
            return;
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Letters, digits and _ at p->at; n = 0 when there are none. */
static word peek(parser *p)
{
    word w;

    skip(p);
    w.p = p->at;
    w.n = 0;
    while (w.p + w.n < p->end && (is_letter(w.p[w.n]) || is_digit(w.p[w.n])))
        w.n++;
    return w;
}

static bool is(word w, const char *s)
{
    return w.n == strlen(s) && !memcmp(w.p, s, w.n);
}

/* Takes s if the text goes on with it. */
static bool take(parser *p, const char *s)
{
    size_t n = strlen(s);

    skip(p);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, s, n))
        return false;
    p->at += n;
    return true;
}

static void expect(parser *p, const char *s)
{
    if (!take(p, s))
        fail(p, p->at, "'%s' expected", s);
}

static bool take_word(parser *p, const char *s)
{
    word w = peek(p);

    if (!is(w, s))
        return false;
    p->at += w.n;
    return true;
}

/* A word that is one of the names; their number when it is none. */
static unsigned one_of(parser *p, const char *const *names, unsigned n,
                       const char *what)
{
    word w = peek(p);

    for (unsigned k = 0; k < n; k++)
        if (*names[k] && is(w, names[k])) {
            p->at += w.n;
            return k;
        }
    fail(p, w.p, "%s expected", what);
    return 0;
}

static int digit(char c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

static uint32_t number(parser *p, uint32_t most)
{
    word w = peek(p);
    int base = w.n > 2 && w.p[0] == '0' && w.p[1] == 'x' ? 16 : 10;
    uint64_t v = 0;

    if (!w.n || !is_digit(*w.p)) {
        fail(p, w.p, "number expected");
        return 0;
    }
    for (size_t k = base == 16 ? 2 : 0; k < w.n; k++) {
        int d = digit(w.p[k]);

        if (d >= base) {
            fail(p, w.p, "number expected");
            return 0;
        }
        v = v * (unsigned)base + (unsigned)d;
        if (v > most) {
            fail(p, w.p, "number too large, at most %u", most);
            return 0;
        }
    }
    p->at += w.n;
    return (uint32_t)v;
}

static uint32_t field(parser *p, const char *name)
{
    if (!take_word(p, name))
        fail(p, p->at, "'%s=' expected", name);
    expect(p, "=");
    return number(p, UINT32_MAX);
}

/* "name", \hh for bytes that are not plain. */
static const char *name(parser *p)
{
    const char *start, *s;
    char *out;
    size_t n = 0;

    expect(p, "\"");
    for (start = s = p->at; s < p->end && *s != '"' && *s != '\n'; s++)
        continue;
    if (s == p->end || *s != '"') {
        fail(p, start, "a name without closing quote");
        return NULL;
    }
    out = p->mem->alloc(p->mem->user, (size_t)(s - start) + 1);
    if (!out) {
        fail(p, start, "out of memory");
        return NULL;
    }
    for (const char *c = start; c < s; c++) {
        int hi = c + 2 < s ? digit(c[1]) : 99,
            lo = c + 2 < s ? digit(c[2]) : 99;

        out[n++] = *c;
        if (*c != '\\')
            continue;
        if (hi > 15 || lo > 15 || !(hi | lo))
            fail(p, c, "\\ and two hexadecimal digits expected, not 00");
        out[n - 1] = (char)(hi * 16 + lo);
        c += 2;
    }
    out[n] = 0;
    if (!failed(p))
        p->at = s + 1;
    return out;
}

/* --- operations ---------------------------------------------------------- */

static isa_operand operand(parser *p)
{
    word w = peek(p);
    isa_operand x = {0};

    if (take(p, "-")) {
        x.kind = ISA_IMM;
        x.number = 0u - number(p, 0x80000000u);
    } else if (w.n && is_digit(*w.p)) {
        x.kind = ISA_IMM;
        x.number = number(p, UINT32_MAX);
    } else if (is(w, "sp")) {
        x.kind = ISA_SP;
        p->at += w.n;
    } else if (is(w, "_")) {
        p->at += w.n;
    } else if (w.n > 1 && (*w.p == 'i' || *w.p == 'v') && is_digit(w.p[1])) {
        x.kind = *w.p == 'i' ? ISA_I : ISA_V;
        p->at++;
        x.number = number(p, UINT32_MAX);
    } else {
        fail(p, w.p, "register, sp or number expected");
    }
    return x;
}

static isa_operand address(parser *p, int32_t *offset)
{
    isa_operand x;

    expect(p, "[");
    x = operand(p);
    *offset = 0;
    if (take(p, "+"))
        *offset = (int32_t)number(p, INT32_MAX);
    else if (take(p, "-"))
        *offset = (int32_t)(0u - number(p, 0x80000000u));
    expect(p, "]");
    return x;
}

/* name[number] where imm has a meaning of its own. */
static void indexed(parser *p, isa_instr *in)
{
    unsigned flags = isa_ops[in->op].flags;
    const char *what = flags & ISA_F_TABLE      ? "vector"
                       : flags & ISA_F_CALLEE   ? "callee"
                       : flags & ISA_F_TARGET   ? "block"
                       : in->op == ISA_OP_starg ? "arg"
                                                : "ret";
    bool minus;

    if (in->op == ISA_OP_ldarg) {
        in->sub =
            (uint8_t)one_of(p, isa_area_names, ISA_N_AREAS, "args or group");
    } else if (!take_word(p, what)) {
        fail(p, p->at, "'%s[' expected", what);
    }
    expect(p, "[");
    minus = take(p, "-");
    in->imm =
        (int32_t)(minus ? 0u - number(p, 0x80000000u) : number(p, INT32_MAX));
    expect(p, "]");
}

static void operands(parser *p, isa_instr *in)
{
    unsigned n_dst = isa_n_dst((isa_op)in->op), flags = isa_ops[in->op].flags;
    unsigned n = n_dst + isa_n_src((isa_op)in->op);
    unsigned base = flags & ISA_F_LOAD    ? 0
                    : flags & ISA_F_STORE ? 1
                                          : ISA_MAX_SRC;
    bool extra = flags & (ISA_F_TABLE | ISA_F_CALLEE | ISA_F_TARGET) ||
                 (flags & ISA_F_OFFSET && base == ISA_MAX_SRC);

    for (unsigned k = 0; k < n && !failed(p); k++) {
        if (k)
            expect(p, ",");
        if (k < n_dst)
            in->dst[k] = operand(p);
        else if (k - n_dst == base)
            in->src[k - n_dst] = address(p, &in->imm);
        else
            in->src[k - n_dst] = operand(p);
    }
    if (!extra)
        return;
    if (n)
        expect(p, ",");
    indexed(p, in);
}

static void modifier(parser *p, isa_instr *in)
{
    static const char *const senses[] = {"z", "nz"};
    static const struct {
        uint8_t sub;
        const char *const *names;
        const char *what;
    } named[] = {{ISA_SUB_SPACE, isa_space_names, "local, global or const"},
                 {ISA_SUB_COND, isa_cond_names, "comparison"},
                 {ISA_SUB_ROUND, isa_round_names, "rounding"},
                 {ISA_SUB_REDUCE, isa_reduce_names, "reduction"},
                 {ISA_SUB_SENSE, senses, "z or nz"}};
    isa_sub sub = isa_ops[in->op].sub;

    if (sub == ISA_SUB_NONE || sub == ISA_SUB_AREA)
        return;
    expect(p, ".");
    if (sub == ISA_SUB_LANE || sub == ISA_SUB_GROUP)
        in->sub = (uint8_t)number(p, isa_n_subs((isa_op)in->op) - 1);
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        if (named[k].sub == sub)
            in->sub = (uint8_t)one_of(
                p, named[k].names, isa_n_subs((isa_op)in->op), named[k].what);
}

static uint8_t type(parser *p)
{
    expect(p, ".");
    return (uint8_t)one_of(p, isa_type_names, ISA_N_TYPES, "type");
}

static void operation(parser *p, isa_instr *in)
{
    word w = peek(p);
    bool has_unit = false;
    unsigned op = 0;

    for (unsigned u = 0; u < ISA_N_UNITS && !has_unit; u++)
        if (is(w, isa_unit_names[u])) {
            in->unit = (uint8_t)u;
            has_unit = true;
            p->at += w.n;
            expect(p, ".");
        }
    w = peek(p);
    while (op < ISA_N_OPS && !is(w, isa_ops[op].name))
        op++;
    if (op == ISA_N_OPS || has_unit != (isa_ops[op].units != 0)) {
        fail(p, w.p,
             op == ISA_N_OPS ? "operation expected"
             : has_unit      ? "an operation without unit"
                             : "unit expected");
        return;
    }
    p->at += w.n;
    in->op = (uint8_t)op;
    if (isa_ops[op].types)
        in->type = type(p);
    if (isa_ops[op].flags & ISA_F_FROM)
        in->from = type(p);
    modifier(p, in);
    operands(p, in);
}

static void attributes(parser *p, isa_instr *in)
{
    for (;;) {
        if (take(p, "#")) {
            in->seq = number(p, UINT32_MAX);
        } else if (take(p, "@")) {
            in->line = number(p, UINT32_MAX);
            expect(p, ":");
            in->col = number(p, UINT32_MAX);
        } else if (take(p, "^")) {
            in->stage = (uint16_t)number(p, UINT16_MAX);
        } else if (is(peek(p), "cost")) {
            in->cost = field(p, "cost");
        } else {
            return;
        }
    }
}

/* --- functions ----------------------------------------------------------- */

static void bundle(parser *p, isa_block *b)
{
    uint32_t cycle = number(p, UINT32_MAX);

    if (take(p, ".."))
        number(p, UINT32_MAX);
    expect(p, ":");
    if (take(p, "-"))
        return;
    do {
        isa_function *f = p->f;
        isa_instr *in;

        f->instrs = append(p, f->instrs, f->n_instrs, &p->cap_instrs,
                           sizeof *f->instrs);
        if (failed(p))
            return;
        in = &f->instrs[f->n_instrs++];
        b->n_instrs++;
        in->cycle = cycle;
        in->predicated = take(p, "?");
        operation(p, in);
        attributes(p, in);
    } while (!failed(p) && take(p, "||"));
}

/* The number in front of a list's item, which must be the next one. */
static void item(parser *p, uint32_t expected)
{
    const char *at;
    uint32_t n;

    skip(p);
    at = p->at;
    n = number(p, UINT32_MAX);
    if (n != expected)
        fail(p, at, "number %u expected", expected);
}

static void block(parser *p)
{
    static const char *const kinds[] = {"plain", "prologue", "kernel",
                                        "epilogue"};
    isa_function *f = p->f;
    isa_block *b;
    word w;

    f->blocks =
        append(p, f->blocks, f->n_blocks, &p->cap_blocks, sizeof *f->blocks);
    if (failed(p))
        return;
    b = &f->blocks[f->n_blocks];
    item(p, f->n_blocks++);
    b->first = f->n_instrs;
    b->kind = (uint8_t)one_of(p, kinds, 4, "kind of block");
    b->cycles = field(p, "cycles");
    b->n_stages = field(p, "stages");
    for (w = peek(p); w.n && is_digit(*w.p); w = peek(p))
        bundle(p, b);
}

static void vector(parser *p)
{
    isa_function *f = p->f;
    word w;

    f->vectors = append(p, f->vectors, f->n_vectors, &p->cap_vectors,
                        sizeof *f->vectors);
    if (failed(p))
        return;
    item(p, f->n_vectors);
    expect(p, ":");
    w = peek(p);
    if (w.n != 2 * ISA_VECTOR_BYTES) {
        fail(p, w.p, "32 hexadecimal digits expected");
        return;
    }
    for (unsigned k = 0; k < ISA_VECTOR_BYTES; k++) {
        int hi = digit(w.p[2 * k]), lo = digit(w.p[2 * k + 1]);

        if (hi > 15 || lo > 15) {
            fail(p, w.p, "32 hexadecimal digits expected");
            return;
        }
        f->vectors[f->n_vectors][k] = (uint8_t)(hi * 16 + lo);
    }
    p->at += w.n;
    f->n_vectors++;
}

static void callee(parser *p)
{
    isa_function *f = p->f;

    f->callees = append(p, f->callees, f->n_callees, &p->cap_callees,
                        sizeof *f->callees);
    if (failed(p))
        return;
    item(p, f->n_callees);
    expect(p, ":");
    f->callees[f->n_callees++] = name(p);
}

static void function(parser *p, isa_function *f)
{
    p->f = f;
    p->cap_vectors = p->cap_callees = p->cap_blocks = p->cap_instrs = 0;
    if (!take_word(p, "function"))
        fail(p, p->at, "'function' expected");
    f->name = name(p);
    f->private_bytes = field(p, "private");
    f->n_spills = field(p, "spills");
    while (take_word(p, "vector"))
        vector(p);
    while (take_word(p, "callee"))
        callee(p);
    while (take_word(p, "block"))
        block(p);
}

bool isa_parse(const char *text, size_t size, const isa_memory *mem,
               isa_function **fs, uint32_t *n, char error[ISA_ERROR_BYTES])
{
    parser p = {.text = text,
                .at = text,
                .end = text + size,
                .mem = mem,
                .error = error};
    uint32_t cap = 0;

    *fs = NULL;
    *n = 0;
    error[0] = 0;
    for (skip(&p); p.at < p.end && !failed(&p); skip(&p)) {
        isa_function *f = append(&p, *fs, *n, &cap, sizeof **fs);

        if (failed(&p))
            break;
        *fs = f;
        function(&p, &f[(*n)++]);
    }
    if (failed(&p))
        *n = 0;
    return !failed(&p);
}
