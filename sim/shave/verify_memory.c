/* Finds which pieces of memory each pointer can lead to, collects the accesses
 * of each block as they happen in time, and compares every pair whose order
 * matters. Pipelined loops are run for one iteration more than they have
 * stages. */
#include "sim/shave/verify_memory.h"

#include <string.h>

#include "sim/ir/ir.h"
#include "sim/shave/verify_form.h"

/* --- where pointers lead: forwards from each piece of memory ---------------
 *
 * Piece OUTSIDE is what the function was given. Pointers that were loaded or
 * made from integers lead there, to NOWHERE and to each piece whose address was
 * stored or became an integer. The others are private arrays, program-scope
 * variables and restrict arguments. */

enum { OUTSIDE, NOWHERE, FIRST_PIECE };

typedef struct {
    arena *a;
    forms forms;
    LLVMValueRef fn;
    LLVMValueRef *pieces;
    size_t n_pieces, cap;
    ir_map reached; /* value -> bits of pieces */
    uint32_t words;
    ir_word *escaped; /* their addresses are in memory or integers */
    ir_map positions; /* instruction -> place in its block */
    ir_map blocks;    /* instruction's block -> number + 1 */
} checker;

static ir_word *bits_of(checker *c, LLVMValueRef v)
{
    ir_word *b = ir_map_get(&c->reached, v);

    if (!b) {
        b = ir_bits(c->a, (uint32_t)c->words * 64);
        ir_map_set(&c->reached, v, b);
    }
    return b;
}

static void add_piece(checker *c, LLVMValueRef v)
{
    *arena_append(c->a, c->pieces, c->n_pieces, c->cap) = v;
}

static bool noalias(LLVMValueRef fn, unsigned k)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);

    return LLVMGetEnumAttributeAtIndex(fn, k + 1, kind) != NULL;
}

static bool is_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

static void find_pieces(checker *c)
{
    LLVMModuleRef m = LLVMGetGlobalParent(c->fn);

    add_piece(c, NULL);
    add_piece(c, NULL);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
        add_piece(c, g);
    for (unsigned k = 0; k < LLVMCountParams(c->fn); k++)
        if (is_pointer(LLVMGetParam(c->fn, k)) && noalias(c->fn, k))
            add_piece(c, LLVMGetParam(c->fn, k));
    ir_each_block(b, c->fn)
        ir_each_inst(i, b) {
            if (LLVMIsAAllocaInst(i))
                add_piece(c, i);
        }
    c->words = (uint32_t)(c->n_pieces + 63) / 64;
    c->escaped = ir_bits(c->a, c->words * 64);
    ir_bit_set(c->escaped, OUTSIDE);
    ir_bit_set(c->escaped, NOWHERE);
}

/* Pointers that no operation on pointers makes. */
static bool comes_from_nowhere(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAlloca:
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze:
        return false;
    default:
        return is_pointer(i);
    }
}

static bool carries(LLVMValueRef user)
{
    LLVMOpcode op = LLVMIsAInstruction(user)    ? LLVMGetInstructionOpcode(user)
                    : LLVMIsAConstantExpr(user) ? LLVMGetConstOpcode(user)
                                                : LLVMRet;

    return is_pointer(user) && (op == LLVMGetElementPtr || op == LLVMBitCast ||
                                op == LLVMAddrSpaceCast || op == LLVMPHI ||
                                op == LLVMSelect || op == LLVMFreeze);
}

static bool only_touches(LLVMValueRef user, LLVMValueRef p)
{
    const char *callee;

    if (!LLVMIsAInstruction(user))
        return false;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
        return true;
    case LLVMStore:
        return LLVMGetOperand(user, 0) != p;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return LLVMGetOperand(user, 1) != p &&
               (LLVMIsAAtomicRMWInst(user) || LLVMGetOperand(user, 2) != p);
    case LLVMCall:
        callee = ir_callee(user);
        return !strncmp(callee, "llvm.mem", 8) ||
               !strncmp(callee, "llvm.lifetime", 13);
    default:
        return false;
    }
}

/* Marks all pointers made from start as leading to a piece. */
static void spread(checker *c, LLVMValueRef start, uint32_t piece)
{
    LLVMValueRef *list = NULL;
    size_t n = 0, cap = 0;

    if (ir_bit(bits_of(c, start), piece))
        return;
    ir_bit_set(bits_of(c, start), piece);
    *arena_append(c->a, list, n, cap) = start;
    for (size_t k = 0; k < n; k++)
        for (LLVMUseRef u = LLVMGetFirstUse(list[k]); u;
             u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);

            if (!carries(user)) {
                if (!only_touches(user, list[k]))
                    ir_bit_set(c->escaped, piece);
                continue;
            }
            if (ir_bit(bits_of(c, user), piece))
                continue;
            ir_bit_set(bits_of(c, user), piece);
            *arena_append(c->a, list, n, cap) = user;
        }
}

static void find_reach(checker *c)
{
    for (uint32_t k = FIRST_PIECE; k < c->n_pieces; k++)
        spread(c, c->pieces[k], k);
    for (unsigned k = 0; k < LLVMCountParams(c->fn); k++)
        if (is_pointer(LLVMGetParam(c->fn, k)) && !noalias(c->fn, k))
            spread(c, LLVMGetParam(c->fn, k), OUTSIDE);
    ir_each_block(b, c->fn)
        ir_each_inst(i, b) {
            for (uint32_t k = 0; comes_from_nowhere(i) && k < c->n_pieces; k++)
                if (ir_bit(c->escaped, k))
                    spread(c, i, k);
        }
}

/* --- accesses ------------------------------------------------------------ */

typedef struct {
    const isa_instr *in; /* as the program has it first */
    LLVMValueRef ir, p;
    LLVMBasicBlockRef block;
    uint32_t position; /* of ir in its block */
    uint32_t bytes;
    bool store, wild; /* wild: a call that may do anything to memory */
    uint32_t at;      /* bytes from p */
    const form *form;
} touch;

/* A touch as it happens: how often the loop had run, and when. */
typedef struct {
    const touch *what;
    uint32_t iteration;
    uint64_t time;
    uint32_t instr;
} event;

typedef struct {
    event *list;
    size_t n, cap;
} events;

static bool needs_no_memory(LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAttributeRef a =
        f && LLVMIsAFunction(f)
            ? LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind)
            : NULL;

    return a && !LLVMGetEnumAttributeValue(a);
}

static LLVMValueRef pointer_of(LLVMValueRef ir)
{
    return LLVMIsALoadInst(ir)    ? LLVMGetOperand(ir, 0)
           : LLVMIsAStoreInst(ir) ? LLVMGetOperand(ir, 1)
                                  : NULL;
}

/* What an operation does to memory; false: nothing of interest. Registers
 * spilled are the compiler's own, see spills_in_order. */
static bool touch_of(checker *c, const shave_program *p, uint32_t k, touch *out)
{
    const isa_instr *in = &p->fn.instrs[k];
    const shave_from *from = &p->from[k];
    unsigned flags = isa_ops[in->op].flags;

    *out = (touch){.in = in, .ir = from->ir, .at = from->at};
    if (!from->ir)
        return false;
    if (flags & (ISA_F_LOAD | ISA_F_STORE)) {
        out->p = pointer_of(from->ir);
        out->store = flags & ISA_F_STORE;
        out->bytes = isa_access_bytes((isa_op)in->op, (isa_type)in->type);
        out->form = out->p ? forms_of(&c->forms, out->p) : NULL;
        out->wild = !out->p;
    } else if (in->op == ISA_OP_call &&
               !(LLVMIsACallInst(from->ir) && needs_no_memory(from->ir))) {
        out->wild = out->store = true;
    } else {
        return false;
    }
    out->block = LLVMGetInstructionParent(from->ir);
    out->position = (uint32_t)(uintptr_t)ir_map_get(&c->positions, from->ir);
    return true;
}

static unsigned space_of(LLVMValueRef p)
{
    unsigned as = LLVMGetPointerAddressSpace(LLVMTypeOf(p));

    return as == AS_GLOBAL || as == AS_CONSTANT;
}

static bool common_piece(checker *c, LLVMValueRef p, LLVMValueRef q)
{
    const ir_word *a = ir_map_get(&c->reached, p);
    const ir_word *b = ir_map_get(&c->reached, q);
    const ir_word *x = a ? a : c->escaped, *y = b ? b : c->escaped;

    for (uint32_t w = 0; w < c->words; w++)
        if (x[w] & y[w])
            return true;
    return false;
}

/* May what p leads to lie in another address space than p says? */
static bool is_forged(checker *c, LLVMValueRef p)
{
    const ir_word *a = ir_map_get(&c->reached, p);

    return !a || ir_bit(a, NOWHERE);
}

/* Could b, `distance` iterations after a, touch a byte that a touches? */
static bool may_meet(checker *c, const touch *a, const touch *b,
                     uint32_t distance)
{
    form later;
    uint32_t apart;

    if (a->wild || b->wild)
        return true;
    if (space_of(a->p) != space_of(b->p) && !is_forged(c, a->p) &&
        !is_forged(c, b->p))
        return false;
    if (!common_piece(c, a->p, b->p))
        return false;
    if (!forms_later(&c->forms, b->form, b->block, distance, &later) ||
        !forms_difference(&later, a->form, &apart))
        return true;
    apart += b->at - a->at;
    return apart < a->bytes || 0u - apart < b->bytes;
}

/* --- order --------------------------------------------------------------- */

/* Must a happen before b? Pieces of one load may come in any order, pieces of
 * one store do not meet. */
static bool is_before(const event *a, const event *b)
{
    if (a->iteration != b->iteration)
        return a->iteration < b->iteration;
    return a->what->position < b->what->position;
}

static const char *in_order(checker *c, const events *list, uint32_t *instr)
{
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < list->n; k++) {
            const event *a = &list->list[i], *b = &list->list[k];

            if (!is_before(a, b) || a->time < b->time ||
                (!a->what->store && !b->what->store))
                continue;
            if (!may_meet(c, a->what, b->what, b->iteration - a->iteration))
                continue;
            *instr = b->instr;
            return "an access comes before one it must follow";
        }
    return NULL;
}

static const char *spills_in_order(const isa_function *f, const isa_block *b,
                                   const shave_from *from, uint32_t *instr)
{
    for (uint32_t i = b->first; i < b->first + b->n_instrs; i++)
        for (uint32_t k = b->first; k < i; k++) {
            const isa_instr *x = &f->instrs[k], *y = &f->instrs[i];
            unsigned fx = isa_ops[x->op].flags, fy = isa_ops[y->op].flags;
            unsigned both = ISA_F_LOAD | ISA_F_STORE;

            if (!(fx & both) || !(fy & both) || from[i].ir || from[k].ir ||
                !((fx | fy) & ISA_F_STORE) || x->imm != y->imm)
                continue;
            if ((x->seq < y->seq) == (x->cycle < y->cycle) &&
                x->cycle != y->cycle)
                continue;
            *instr = i - b->first;
            return "a spilled register is read or written too early";
        }
    return NULL;
}

static void add_event(checker *c, events *e, const touch *t, uint32_t iteration,
                      uint64_t time, uint32_t instr)
{
    *arena_append(c->a, e->list, e->n, e->cap) =
        (event){t, iteration, time, instr};
}

/* --- blocks -------------------------------------------------------------- */

static const char *check_block_of(const checker *c, const touch *t,
                                  LLVMBasicBlockRef home)
{
    (void)c;
    return t->block == home ? NULL : "an access stands in another block";
}

static const char *plain_block(checker *c, const shave_program *p, uint32_t b,
                               LLVMBasicBlockRef home, uint32_t *instr)
{
    const isa_block *x = &p->fn.blocks[b];
    const char *why = NULL;
    events e = {0};

    for (uint32_t k = 0; k < x->n_instrs && !why; k++) {
        touch t;

        if (!touch_of(c, p, x->first + k, &t))
            continue;
        *instr = k;
        why = check_block_of(c, &t, home);
        add_event(c, &e, arena_memdup(c->a, &t, sizeof t), 0, t.in->cycle, k);
    }
    if (!why)
        why = in_order(c, &e, instr);
    return why ? why : spills_in_order(&p->fn, x, p->from, instr);
}

/* One operation of a pipelined loop's body. */
typedef struct {
    touch t;
    uint32_t seen; /* how often it has happened */
} body_op;

static bool same_op(const touch *a, const touch *b)
{
    return a->ir == b->ir && a->at == b->at && a->store == b->store &&
           a->bytes == b->bytes && a->in->seq == b->in->seq;
}

/* A pipelined loop as it runs: its kernel's n operations, and what has happened
 * so far. */
typedef struct {
    const shave_program *p;
    body_op *body;
    size_t n;
    events e;
} loop_run;

/* Adds what happens in a block that starts at a time. */
static const char *run_block(checker *c, loop_run *r, uint32_t b,
                             uint64_t start)
{
    const isa_block *x = &r->p->fn.blocks[b];

    for (uint32_t k = 0; k < x->n_instrs; k++) {
        touch t;
        size_t i = 0;

        if (!touch_of(c, r->p, x->first + k, &t))
            continue;
        while (i < r->n && !same_op(&r->body[i].t, &t))
            i++;
        if (i == r->n)
            return "an access that the loop's kernel does not have";
        add_event(c, &r->e, &r->body[i].t, r->body[i].seen++,
                  start + t.in->cycle, k);
    }
    return NULL;
}

/* Prologue, kernel and epilogue as they run for one iteration more than there
 * are stages: every two iterations that overlap do so here. */
static const char *pipelined(checker *c, const shave_program *p, uint32_t b,
                             LLVMBasicBlockRef home, uint32_t *instr)
{
    const isa_block *x = &p->fn.blocks[b];
    loop_run r = {.p = p, .body = arena_array(c->a, body_op, x->n_instrs + 1)};
    uint32_t stages = x->n_stages ? x->n_stages : 1, trips = stages + 1;
    uint64_t now = x[-1].cycles;
    const char *why;

    for (uint32_t k = 0; k < x->n_instrs; k++)
        r.n += touch_of(c, p, x->first + k, &r.body[r.n].t);
    for (size_t k = 0; k < r.n; k++)
        if (r.body[k].t.block != home)
            return "an access stands in another block";
    why = run_block(c, &r, b - 1, 0);
    for (uint32_t k = 0; k < trips - (stages - 1) && !why; k++) {
        why = run_block(c, &r, b, now);
        now += x->cycles;
    }
    if (!why)
        why = run_block(c, &r, b + 1, now);
    for (size_t k = 0; k < r.n && !why; k++)
        if (r.body[k].seen != trips)
            why = "an access of a loop does not happen once an iteration";
    return why ? why : in_order(c, &r.e, instr);
}

/* --- is everything there? ------------------------------------------------ */

typedef struct {
    uint32_t plain, piped; /* bytes stored outside and in a pipelined loop */
} stored;

static const char *all_stores(checker *c, const shave_program *p,
                              const ir_word *reached)
{
    LLVMTargetDataRef td = c->forms.td;
    ir_map map;
    uint32_t n = 0;

    ir_map_init(&map, c->a);
    for (uint32_t b = 0; b < p->fn.n_blocks; b++)
        for (uint32_t k = 0; k < p->fn.blocks[b].n_instrs; k++) {
            uint32_t at = p->fn.blocks[b].first + k;
            touch t;
            stored *s;

            if (!touch_of(c, p, at, &t) || !t.store || t.wild)
                continue;
            s = ir_map_get(&map, t.ir);
            if (!s)
                ir_map_set(&map, t.ir, s = arena_new(c->a, stored));
            if (p->fn.blocks[b].kind == ISA_KERNEL)
                s->piped += t.bytes;
            else if (p->fn.blocks[b].kind == ISA_PLAIN &&
                     !(b + 1 < p->fn.n_blocks &&
                       p->fn.blocks[b + 1].kind == ISA_KERNEL) &&
                     !(b && p->fn.blocks[b - 1].kind == ISA_KERNEL))
                s->plain += t.bytes;
        }
    ir_each_block(b, c->fn) {
        bool live = ir_bit(reached, n++);

        ir_each_inst(i, b) {
            LLVMTypeRef t =
                LLVMIsAStoreInst(i) ? LLVMTypeOf(LLVMGetOperand(i, 0)) : NULL;
            const stored *s = t ? ir_map_get(&map, i) : NULL;
            uint32_t bytes = t ? (uint32_t)LLVMStoreSizeOfType(td, t) : 0;

            if (live && bytes &&
                (!s || s->plain != bytes || (s->piped && s->piped != bytes)))
                return "a store is missing";
        }
    }
    return NULL;
}

/* --- the whole ----------------------------------------------------------- */

static void number_instructions(checker *c)
{
    ir_each_block(b, c->fn) {
        uintptr_t n = 0;

        ir_each_inst(i, b)
            ir_map_set(&c->positions, i, (void *)++n);
    }
}

static const char *all_blocks(checker *c, const shave_program *p,
                              const ir_cfg *cfg, uint32_t *block,
                              uint32_t *instr)
{
    const char *why = NULL;

    for (uint32_t b = 0; b < p->fn.n_blocks && !why; b++) {
        const isa_block *x = &p->fn.blocks[b];
        bool framed = (b + 1 < p->fn.n_blocks && x[1].kind == ISA_KERNEL) ||
                      (b && x[-1].kind == ISA_KERNEL);

        *block = b;
        *instr = 0;
        if (x->kind == ISA_KERNEL)
            why = pipelined(c, p, b, cfg->blocks[p->block_ir[b]], instr);
        else if (!framed)
            why = plain_block(c, p, b, cfg->blocks[p->block_ir[b]], instr);
    }
    return why;
}

const char *verify_memory(LLVMValueRef fn, const shave_program *p,
                          uint32_t *block, uint32_t *instr)
{
    arena *a = arena_create(0);
    checker c = {.a = a, .fn = fn};
    const char *why;
    ir_cfg cfg;
    uint32_t *order;
    ir_word *reached;

    forms_init(&c.forms, LLVMGetModuleDataLayout(LLVMGetGlobalParent(fn)), a);
    ir_map_init(&c.reached, a);
    ir_map_init(&c.positions, a);
    ir_cfg_build(&cfg, fn, a);
    order = arena_array(a, uint32_t, cfg.n_blocks);
    reached = ir_bits(a, cfg.n_blocks);
    ir_post_order(&cfg, order, reached);
    number_instructions(&c);
    find_pieces(&c);
    find_reach(&c);
    why = all_blocks(&c, p, &cfg, block, instr);
    if (!why)
        why = all_stores(&c, p, reached);
    arena_destroy(a);
    return why;
}
