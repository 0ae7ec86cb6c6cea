/* Dependences among the operations of a block. */
#include "sim/shave/passes.h"

#include <string.h>

#include "sim/ir/ir.h"

uint32_t deps_latency(const isa_instr *i, unsigned dst)
{
    if (i->cost)
        return i->cost;
    return dst ? 1 : isa_ops[i->op].lat;
}

/* --- memory -------------------------------------------------------------- */

static bool is_access(const vp_op *o)
{
    return isa_ops[o->in.op].flags & (ISA_F_LOAD | ISA_F_STORE);
}

static bool is_store(const vp_op *o)
{
    return isa_ops[o->in.op].flags & ISA_F_STORE;
}

static uint32_t bytes_of(const isa_instr *i)
{
    return isa_access_bytes((isa_op)i->op, (isa_type)i->type);
}

/* The operand that holds the address. */
static isa_operand address_of(const isa_instr *i)
{
    return i->src[vp_address(i)];
}

bool deps_may_alias(const vp_op *a, const vp_op *b, bool same_base_value)
{
    isa_operand pa = address_of(&a->in), pb = address_of(&b->in);

    if ((a->in.sub == ISA_GLOBAL) != (b->in.sub == ISA_GLOBAL) &&
        !alias_is_forged(a->origin) && !alias_is_forged(b->origin))
        return false;
    if (vp_same(pa, pb) && (same_base_value || pa.kind == ISA_SP)) {
        int64_t at = a->in.imm, bt = b->in.imm;

        return at < bt + bytes_of(&b->in) && bt < at + bytes_of(&a->in);
    }
    return alias_may_meet(a->origin, b->origin);
}

/* --- all ----------------------------------------------------------------- */

typedef struct {
    const vp_block *b;
    arena *a;
    deps_list *out;
    /* Per register of the block, by position in `keys`. */
    ir_map last;         /* key -> last operation that wrote it + 1 */
    uint32_t *next_read; /* per operation and source: earlier reader of the
                            same register since its last write, + 1 */
    ir_map reader;  /* key -> last reading (operation * ISA_MAX_SRC + k) + 1 */
    uint32_t fence; /* last serial operation + 1 */
} deps;

static void add(deps *d, uint32_t from, uint32_t to, int32_t lat)
{
    if (from != to)
        *arena_append(d->a, d->out->list, d->out->n, d->out->cap) =
            (deps_edge){from, to, lat};
}

static void reads(deps *d, uint32_t i)
{
    const isa_instr *in = &d->b->ops[i].in;

    for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
        isa_operand x = in->src[k];
        uintptr_t def;

        if (!vp_is_reg(x))
            continue;
        def = (uintptr_t)ir_map_get(&d->last, vp_key(x));
        if (def) {
            const isa_instr *from = &d->b->ops[def - 1].in;
            unsigned r = vp_same(from->dst[0], x) ? 0 : 1;

            add(d, (uint32_t)def - 1, i, (int32_t)deps_latency(from, r));
        }
        d->next_read[i * ISA_MAX_SRC + k] =
            (uint32_t)(uintptr_t)ir_map_get(&d->reader, vp_key(x));
        ir_map_set(&d->reader, vp_key(x),
                   (void *)(uintptr_t)(i * ISA_MAX_SRC + k + 1));
    }
}

static void writes(deps *d, uint32_t i)
{
    const isa_instr *in = &d->b->ops[i].in;

    for (unsigned k = 0; k < ISA_MAX_DST; k++) {
        isa_operand x = in->dst[k];
        uintptr_t def, r;

        if (!vp_is_reg(x))
            continue;
        def = (uintptr_t)ir_map_get(&d->last, vp_key(x));
        if (def) {
            const isa_instr *old = &d->b->ops[def - 1].in;
            int32_t gap =
                (int32_t)deps_latency(old, vp_same(old->dst[0], x) ? 0 : 1) -
                (int32_t)deps_latency(in, k) + 1;

            add(d, (uint32_t)def - 1, i, gap < 1 ? 1 : gap);
        }
        for (r = (uintptr_t)ir_map_get(&d->reader, vp_key(x)); r;
             r = d->next_read[r - 1])
            add(d, (uint32_t)(r - 1) / ISA_MAX_SRC, i, 0);
        ir_map_set(&d->reader, vp_key(x), NULL);
        ir_map_set(&d->last, vp_key(x), (void *)(uintptr_t)(i + 1));
    }
}

/* Does a register keep its value since operation a read it? */
static bool unchanged(const deps *d, isa_operand x, uint32_t a)
{
    uintptr_t def;

    if (!vp_is_reg(x))
        return true;
    def = (uintptr_t)ir_map_get(&d->last, vp_key(x));
    return def <= a; /* last write before a; a itself may write it */
}

/* Accesses of a block in their order. before: for each, those that must be done
 * first, a bit each, of rows of so many words; NULL where there are too many.
 */
typedef struct {
    uint32_t *op, n;
    uint64_t *before;
    size_t words;
} access_list;

/* Rows for more accesses than these would take more memory than edges do. */
enum { MOST_ROWS = 1 << 15 };

static void list_accesses(const vp_block *b, arena *a, access_list *l)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->n_ops; i++)
        n += is_access(&b->ops[i]);
    *l = (access_list){.op = arena_array(a, uint32_t, n + 1),
                       .words = n / 64 + 1};
    if (n <= MOST_ROWS)
        l->before = arena_array(a, uint64_t, n * l->words + 1);
}

static bool is_before(const access_list *l, const uint64_t *row, uint32_t k)
{
    return l->before && row[k / 64] >> k % 64 & 1;
}

static void put_before(access_list *l, uint64_t *row, uint32_t k)
{
    if (!l->before)
        return;
    for (size_t w = 0; w <= k / 64; w++)
        row[w] |= l->before[k * l->words + w];
    row[k / 64] |= UINT64_C(1) << k % 64;
}

/* The latest first: what it waits for is done before, too, and needs no edge of
 * its own, which would be no longer than the way through. */
static void accesses(deps *d, uint32_t i, access_list *l)
{
    const vp_op *o = &d->b->ops[i];
    uint64_t *row = l->before ? l->before + l->n * l->words : NULL;

    for (uint32_t k = l->n; k-- > 0;) {
        const vp_op *m = &d->b->ops[l->op[k]];

        if ((!is_store(m) && !is_store(o)) || is_before(l, row, k))
            continue;
        if (!deps_may_alias(m, o, unchanged(d, address_of(&o->in), l->op[k])))
            continue;
        add(d, l->op[k], i, 1);
        put_before(l, row, k);
    }
    l->op[l->n++] = i;
}

static bool is_serial(const isa_instr *in)
{
    return isa_ops[in->op].flags & ISA_F_SERIAL;
}

/* Everything before must be done, everything behind waits. starg and ldret
 * belong to their call. */
static void serial(deps *d, uint32_t i)
{
    const isa_instr *in = &d->b->ops[i].in;

    if (d->fence)
        add(d, d->fence - 1, i,
            (int32_t)deps_latency(&d->b->ops[d->fence - 1].in, 0));
    if (!is_serial(in))
        return;
    for (uint32_t k = d->fence ? d->fence - 1 : 0; k < i; k++) {
        const isa_instr *p = &d->b->ops[k].in;

        add(d, k, i,
            isa_n_dst((isa_op)p->op) || p->cost ? (int32_t)deps_latency(p, 0)
                                                : 1);
    }
    d->fence = i + 1;
}

void deps_of_block(const vp_block *b, arena *a, deps_list *out)
{
    deps d = {.b = b, .a = a, .out = out};
    access_list mem;

    list_accesses(b, a, &mem);
    ir_map_init(&d.last, a);
    ir_map_init(&d.reader, a);
    d.next_read = arena_array(a, uint32_t, b->n_ops *ISA_MAX_SRC + 1);
    for (uint32_t i = 0; i < b->n_ops; i++) {
        reads(&d, i);
        if (is_access(&b->ops[i]))
            accesses(&d, i, &mem);
        writes(&d, i);
        serial(&d, i);
    }
}
