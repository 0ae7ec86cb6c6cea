/* The serialised form of programs. Little-endian words:
 *
 *   magic, version, functions; then each function:
 *     name, private_bytes, n_spills, n_vectors, n_callees, n_blocks, n_instrs,
 *     vectors (16 bytes each), callees (names),
 *     blocks (BLOCK_BYTES each), operations (INSTR_BYTES each)
 *   a name: length, bytes
 *
 * Readers refuse other versions: a program comes with the build that made it.
 */
#include <string.h>

#include "isa/program.h"

enum {
    MAGIC = 0x41535056, /* "VPSA" */
    VERSION = 2,
    BLOCK_BYTES = 17,
    INSTR_BYTES = 57
};

/* --- writing ------------------------------------------------------------- */

typedef struct {
    uint8_t *out;
    size_t cap, n;
} writer;

static void put8(writer *w, uint32_t x)
{
    if (w->n < w->cap)
        w->out[w->n] = (uint8_t)x;
    w->n++;
}

static void put16(writer *w, uint32_t x)
{
    put8(w, x & 255);
    put8(w, x >> 8 & 255);
}

static void put32(writer *w, uint32_t x)
{
    put16(w, x & 65535);
    put16(w, x >> 16);
}

static void put_name(writer *w, const char *s)
{
    size_t n = strlen(s);

    put32(w, (uint32_t)n);
    for (size_t k = 0; k < n; k++)
        put8(w, (uint8_t)s[k]);
}

static void put_operand(writer *w, isa_operand x)
{
    put8(w, x.kind);
    put32(w, x.number);
}

static void put_instr(writer *w, const isa_instr *i)
{
    put8(w, i->op);
    put8(w, i->unit);
    put8(w, i->type);
    put8(w, i->from);
    put8(w, i->sub);
    put8(w, i->predicated);
    put16(w, i->stage);
    for (unsigned k = 0; k < ISA_MAX_DST; k++)
        put_operand(w, i->dst[k]);
    for (unsigned k = 0; k < ISA_MAX_SRC; k++)
        put_operand(w, i->src[k]);
    put32(w, (uint32_t)i->imm);
    put32(w, i->cycle);
    put32(w, i->seq);
    put32(w, i->line);
    put32(w, i->col);
    put32(w, i->cost);
}

static void put_block(writer *w, const isa_block *b)
{
    put32(w, b->first);
    put32(w, b->n_instrs);
    put32(w, b->cycles);
    put8(w, b->kind);
    put32(w, b->n_stages);
}

static void put_function(writer *w, const isa_function *f)
{
    put_name(w, f->name);
    put32(w, f->private_bytes);
    put32(w, f->n_spills);
    put32(w, f->n_vectors);
    put32(w, f->n_callees);
    put32(w, f->n_blocks);
    put32(w, f->n_instrs);
    for (uint32_t k = 0; k < f->n_vectors; k++)
        for (unsigned b = 0; b < ISA_VECTOR_BYTES; b++)
            put8(w, f->vectors[k][b]);
    for (uint32_t k = 0; k < f->n_callees; k++)
        put_name(w, f->callees[k]);
    for (uint32_t k = 0; k < f->n_blocks; k++)
        put_block(w, &f->blocks[k]);
    for (uint32_t k = 0; k < f->n_instrs; k++)
        put_instr(w, &f->instrs[k]);
}

size_t isa_encode(const isa_function *fs, uint32_t n, uint8_t *out, size_t cap)
{
    writer w = {out, cap, 0};

    put32(&w, MAGIC);
    put32(&w, VERSION);
    put32(&w, n);
    for (uint32_t k = 0; k < n; k++)
        put_function(&w, &fs[k]);
    return w.n;
}

/* --- reading ------------------------------------------------------------- */

typedef struct {
    const uint8_t *in;
    size_t size, at;
    const isa_memory *mem;
    const char *why; /* the first problem; reading then gives zeros */
} reader;

static void bad(reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
}

static bool has(reader *r, size_t n)
{
    if (!r->why && n > r->size - r->at)
        bad(r, "the program ends too early");
    return !r->why;
}

static uint32_t get(reader *r, unsigned bytes)
{
    uint32_t x = 0;

    if (!has(r, bytes))
        return 0;
    for (unsigned k = 0; k < bytes; k++)
        x |= (uint32_t)r->in[r->at++] << 8 * k;
    return x;
}

/* A field below `limit`. */
static uint8_t get_below(reader *r, unsigned limit, const char *why)
{
    uint32_t x = get(r, 1);

    if (x < limit)
        return (uint8_t)x;
    bad(r, why);
    return 0;
}

/* n things of `bytes` here that take at least `least` each in the file, which
 * bounds what a damaged count can ask for. */
static void *room(reader *r, uint32_t n, size_t bytes, size_t least)
{
    void *p = NULL;

    if (r->why)
        return NULL;
    if (n > (r->size - r->at) / least)
        bad(r, "the program ends too early");
    else if (!(p = r->mem->alloc(r->mem->user, n ? n * bytes : 1)))
        bad(r, "out of memory");
    return p;
}

static const char *get_name(reader *r)
{
    uint32_t n = get(r, 4);
    char *s;

    if (!has(r, n))
        return NULL;
    s = r->mem->alloc(r->mem->user, (size_t)n + 1);
    if (!s) {
        bad(r, "out of memory");
        return NULL;
    }
    memcpy(s, r->in + r->at, n);
    s[n] = 0;
    r->at += n;
    if (strlen(s) != n)
        bad(r, "a name with a zero in it");
    return s;
}

static isa_operand get_operand(reader *r)
{
    isa_operand x;

    x.kind = get_below(r, ISA_IMM + 1, "there is no such kind of operand");
    x.number = get(r, 4);
    return x;
}

static void get_instr(reader *r, isa_instr *i)
{
    memset(i, 0, sizeof *i);
    i->op = get_below(r, ISA_N_OPS, "there is no such operation");
    i->unit = get_below(r, ISA_N_UNITS, "there is no such unit");
    i->type = get_below(r, ISA_N_TYPES, "there is no such type");
    i->from = get_below(r, ISA_N_TYPES, "there is no such type");
    i->sub =
        get_below(r, isa_n_subs((isa_op)i->op), "a modifier out of its range");
    i->predicated = get_below(r, 2, "a flag that is not 0 or 1");
    i->stage = (uint16_t)get(r, 2);
    for (unsigned k = 0; k < ISA_MAX_DST; k++)
        i->dst[k] = get_operand(r);
    for (unsigned k = 0; k < ISA_MAX_SRC; k++)
        i->src[k] = get_operand(r);
    i->imm = (int32_t)get(r, 4);
    i->cycle = get(r, 4);
    i->seq = get(r, 4);
    i->line = get(r, 4);
    i->col = get(r, 4);
    i->cost = get(r, 4);
}

static void get_block(reader *r, const isa_function *f, isa_block *b)
{
    b->first = get(r, 4);
    b->n_instrs = get(r, 4);
    b->cycles = get(r, 4);
    b->kind = get_below(r, ISA_EPILOGUE + 1, "there is no such kind of block");
    b->n_stages = get(r, 4);
    if (b->first > f->n_instrs || b->n_instrs > f->n_instrs - b->first)
        bad(r, "a block of operations that are not there");
}

static void get_vectors(reader *r, isa_function *f)
{
    size_t n = (size_t)f->n_vectors * ISA_VECTOR_BYTES;

    f->vectors = room(r, f->n_vectors, ISA_VECTOR_BYTES, ISA_VECTOR_BYTES);
    if (!has(r, n))
        return;
    memcpy(f->vectors, r->in + r->at, n);
    r->at += n;
}

static void get_function(reader *r, isa_function *f)
{
    memset(f, 0, sizeof *f);
    f->name = get_name(r);
    f->private_bytes = get(r, 4);
    f->n_spills = get(r, 4);
    f->n_vectors = get(r, 4);
    f->n_callees = get(r, 4);
    f->n_blocks = get(r, 4);
    f->n_instrs = get(r, 4);
    get_vectors(r, f);
    f->callees = room(r, f->n_callees, sizeof *f->callees, 4);
    for (uint32_t k = 0; k < f->n_callees && !r->why; k++)
        f->callees[k] = get_name(r);
    f->blocks = room(r, f->n_blocks, sizeof *f->blocks, BLOCK_BYTES);
    for (uint32_t k = 0; k < f->n_blocks && !r->why; k++)
        get_block(r, f, &f->blocks[k]);
    f->instrs = room(r, f->n_instrs, sizeof *f->instrs, INSTR_BYTES);
    for (uint32_t k = 0; k < f->n_instrs && !r->why; k++)
        get_instr(r, &f->instrs[k]);
}

const char *isa_decode(const uint8_t *in, size_t size, const isa_memory *mem,
                       isa_function **fs, uint32_t *n)
{
    reader r = {.in = in, .size = size, .mem = mem};

    *fs = NULL;
    *n = 0;
    if (get(&r, 4) != MAGIC)
        bad(&r, "not a SHAVE program");
    if (get(&r, 4) != VERSION)
        bad(&r, "a SHAVE program of another version");
    *n = get(&r, 4);
    *fs = room(&r, *n, sizeof **fs, 7 * 4);
    for (uint32_t k = 0; k < *n && !r.why; k++)
        get_function(&r, &(*fs)[k]);
    if (r.at < r.size)
        bad(&r, "bytes behind the program");
    if (r.why)
        *n = 0;
    return r.why;
}
