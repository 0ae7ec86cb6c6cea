/* Draws random programs that the verifier accepts, reads programs from text,
 * and compares two of them field by field. */
#include "tests/isa/isa_rig.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

isa_memory isa_rig_memory(arena *a)
{
    return (isa_memory){arena_bytes, a};
}

isa_function *isa_rig_read(arena *a, const char *text)
{
    isa_memory mem = isa_rig_memory(a);
    char error[ISA_ERROR_BYTES];
    isa_function *f;
    uint32_t n;

    ck_assert_msg(isa_parse(text, strlen(text), &mem, &f, &n, error), "%s\n%s",
                  error, text);
    ck_assert_uint_eq(n, 1);
    return f;
}

/* --- random programs ----------------------------------------------------- */

enum { N_VECTORS = 3, N_CALLEES = 2, MAX_OPS = 400 };

isa_outcome isa_rig_run(arena *a, const isa_function *f, isa_env env)
{
    const isa_memory m = isa_rig_memory(a);
    const isa_code *code = isa_prepare(f, env.bundle, &m);

    ck_assert_ptr_nonnull(code);
    env.scratch = arena_push(a, isa_scratch_size(code), 1, 16);
    return isa_run(code, &env);
}

uint32_t isa_rig_random(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((*seed >> 32) * below) >> 32);
}

static uint32_t number(uint64_t *seed)
{
    static const uint32_t special[] = {0,           1,     4,     0xffffffffu,
                                       0x80000000u, 65535, 65536, 0xffff0001u};

    return isa_rig_random(seed, 2) ? special[isa_rig_random(seed, 8)]
                                   : isa_rig_random(seed, 0xffffffffu);
}

static isa_operand source(uint64_t *seed, char class)
{
    if (class == 'v')
        return (isa_operand){ISA_V, isa_rig_random(seed, ISA_N_VREGS)};
    switch (isa_rig_random(seed, class == 'j' ? 4 : 2)) {
    case 2:
        return (isa_operand){ISA_IMM, number(seed)};
    case 1:
        if (!isa_rig_random(seed, 4))
            return (isa_operand){ISA_SP, 0};
        /* fall through */
    default:
        return (isa_operand){ISA_I, isa_rig_random(seed, ISA_N_IREGS)};
    }
}

static int32_t immediate(uint64_t *seed, isa_op op)
{
    if (op == ISA_OP_ldarg)
        return (int32_t)isa_rig_random(seed, 100);
    if (isa_ops[op].flags & (ISA_F_LOAD | ISA_F_STORE))
        return (int32_t)number(seed);
    if (isa_ops[op].flags & ISA_F_OFFSET)
        return (int32_t)isa_rig_random(seed, ISA_MAX_CALL_RETS);
    if (isa_ops[op].flags & ISA_F_TABLE)
        return (int32_t)isa_rig_random(seed, N_VECTORS);
    if (isa_ops[op].flags & ISA_F_CALLEE)
        return (int32_t)isa_rig_random(seed, N_CALLEES);
    return 0;
}

isa_instr isa_rig_instr(uint64_t *seed, isa_op op)
{
    const isa_op_info *row = &isa_ops[op];
    isa_instr in = {.op = (uint8_t)op};

    if (row->types)
        in.type = (uint8_t)(1 + isa_rig_random(seed, ISA_N_TYPES - 1));
    if (row->flags & ISA_F_FROM)
        in.from = (uint8_t)(1 + isa_rig_random(seed, ISA_N_TYPES - 1));
    in.sub = (uint8_t)isa_rig_random(seed, isa_n_subs(op));
    for (unsigned u = 0; row->units; u++)
        if (row->units >> u & 1 && (row->all_units || !(row->units >> u >> 1) ||
                                    isa_rig_random(seed, 2))) {
            in.unit = (uint8_t)u;
            break;
        }
    for (unsigned k = 0; k < isa_n_dst(op); k++)
        in.dst[k] = isa_dst_class(op, k) == 'v'
                        ? (isa_operand){ISA_V, isa_rig_random(seed, 32)}
                        : (isa_operand){ISA_I, isa_rig_random(seed, 32)};
    for (unsigned k = 0; k < isa_n_src(op); k++)
        in.src[k] = source(seed, isa_src_class(op, k));
    in.imm = immediate(seed, op);
    in.seq = number(seed);
    if (isa_rig_random(seed, 2)) {
        in.line = number(seed);
        in.col = number(seed);
    }
    if (row->flags & ISA_F_SERIAL)
        in.cost = isa_rig_random(seed, 5);
    return in;
}

/* Would the operation be sound in a block of its own? */
static bool is_sound(const isa_function *f, isa_instr in)
{
    isa_function one = *f;
    isa_block b = {0, 1, 4000, ISA_PLAIN, 1};

    one.blocks = &b;
    one.n_blocks = 1;
    one.instrs = &in;
    one.n_instrs = 1;
    return !isa_verify(&one, NULL, NULL);
}

/* Adds the operation to the last block: at the last cycle there or as soon
 * after it as the verifier has nothing against it. */
static void place(isa_function *f, isa_instr in, uint64_t *seed)
{
    isa_block *b = &f->blocks[f->n_blocks - 1];
    isa_instr *at = &f->instrs[f->n_instrs];
    uint32_t cycle = b->n_instrs ? at[-1].cycle : 0, block, k;

    ck_assert_uint_lt(f->n_instrs, MAX_OPS);
    f->n_instrs++;
    b->n_instrs++;
    for (int tries = 0; tries < 300 && cycle < b->cycles; tries++) {
        in.cycle = cycle;
        *at = in;
        if (!isa_verify(f, &block, &k))
            return;
        if (isa_rig_random(seed, 2))
            cycle += isa_rig_random(seed, 4) ? 1 : 9;
    }
    f->n_instrs--;
    b->n_instrs--;
}

static isa_block *add_block(isa_function *f, isa_block_kind kind,
                            uint32_t cycles, uint32_t stages)
{
    f->blocks[f->n_blocks] = (isa_block){.first = f->n_instrs,
                                         .cycles = cycles,
                                         .kind = (uint8_t)kind,
                                         .n_stages = stages};
    return &f->blocks[f->n_blocks++];
}

/* A random form of the operation that the verifier takes, if luck has it. */
static void try_op(isa_function *f, isa_op op, uint64_t *seed)
{
    uint32_t n = f->n_instrs;
    isa_block *b = &f->blocks[f->n_blocks - 1];

    if (op == ISA_OP_pred && b->n_instrs &&
        f->instrs[f->n_instrs - 1].cycle + 1 < b->cycles) {
        /* Something for it to decide about, behind it in its bundle. */
        isa_instr in = isa_rig_instr(seed, op);
        uint32_t cycle = f->instrs[f->n_instrs - 1].cycle + 1;

        in.cycle = cycle;
        f->instrs[f->n_instrs++] = in;
        in = isa_rig_instr(seed, ISA_OP_imov);
        in.predicated = true;
        in.cycle = cycle;
        f->instrs[f->n_instrs++] = in;
        b->n_instrs += 2;
        if (isa_verify(f, NULL, NULL)) {
            b->n_instrs -= 2;
            f->n_instrs -= 2;
        }
        return;
    }
    for (int tries = 0; tries < 200 && f->n_instrs == n; tries++) {
        isa_instr in = isa_rig_instr(seed, op);

        if (is_sound(f, in))
            place(f, in, seed);
    }
}

static void straight(isa_function *f, uint64_t *seed, isa_op from, isa_op to)
{
    isa_block *b = add_block(f, ISA_PLAIN, 4000, isa_rig_random(seed, 2));
    uint32_t last;

    for (isa_op op = from; op < to; op++)
        if (!(isa_ops[op].flags & ISA_F_BRANCH))
            try_op(f, op, seed);
    last = b->n_instrs ? f->instrs[f->n_instrs - 1].cycle + 50 : 0;
    b->cycles = last + 1 + ISA_BRANCH_DELAY;
    if (isa_rig_random(seed, 4)) {
        static const isa_op ops[] = {ISA_OP_bra, ISA_OP_brc, ISA_OP_ret,
                                     ISA_OP_rep};
        isa_instr in = isa_rig_instr(seed, ops[isa_rig_random(seed, 4)]);

        in.cycle = last;
        f->instrs[f->n_instrs++] = in;
        b->n_instrs++;
        if (isa_verify(f, NULL, NULL)) {
            b->n_instrs--;
            f->n_instrs--;
        }
    }
}

/* Appends to block k, which is not the last one: those behind it move. */
static void grow(isa_function *f, uint32_t k, isa_instr in)
{
    isa_block *b = &f->blocks[k];
    bool sound;

    f->instrs[f->n_instrs++] = in;
    b->n_instrs++;
    for (uint32_t later = k + 1; later < f->n_blocks; later++)
        f->blocks[later].first++;
    sound = !isa_verify(f, NULL, NULL);
    f->n_instrs -= !sound;
    b->n_instrs -= !sound;
    for (uint32_t later = k + 1; later < f->n_blocks; later++)
        f->blocks[later].first -= !sound;
}

static void pipelined(isa_function *f, uint64_t *seed)
{
    enum { II = 8, STAGES = 3, PAD = 2 };
    uint32_t n = f->n_blocks;

    /* The three need each other, so all are there before they are filled. */
    add_block(f, ISA_PROLOGUE, PAD + (STAGES - 1) * II, STAGES);
    add_block(f, ISA_KERNEL, II, STAGES);
    add_block(f, ISA_EPILOGUE, (STAGES - 1) * II + PAD, STAGES);
    grow(f, n, isa_rig_instr(seed, ISA_OP_rep));
    for (uint32_t k = n; k < n + 3; k++)
        for (int tries = 0; tries < 30; tries++) {
            isa_instr in =
                isa_rig_instr(seed, (isa_op)isa_rig_random(seed, ISA_N_OPS));

            in.stage = (uint16_t)isa_rig_random(seed, STAGES);
            if (f->blocks[k].n_instrs)
                in.cycle =
                    f->instrs[f->n_instrs - 1].cycle + isa_rig_random(seed, 2);
            if (!(isa_ops[in.op].flags & ISA_F_BRANCH))
                grow(f, k, in);
        }
}

isa_function isa_rig_program(arena *a, uint64_t seed)
{
    isa_function f = {.name = "random \"one\"\\ \x01\xff",
                      .blocks = arena_array(a, isa_block, 20),
                      .instrs = arena_array(a, isa_instr, MAX_OPS + 8),
                      .vectors = arena_push(a, N_VECTORS, ISA_VECTOR_BYTES, 1),
                      .n_vectors = N_VECTORS,
                      .callees = arena_array(a, const char *, N_CALLEES),
                      .n_callees = N_CALLEES,
                      .private_bytes = number(&seed),
                      .n_spills = number(&seed)};

    for (uint32_t k = 0; k < N_VECTORS * ISA_VECTOR_BYTES; k++)
        f.vectors[k / ISA_VECTOR_BYTES][k % ISA_VECTOR_BYTES] =
            (uint8_t)(isa_rig_random(&seed, 9) ? isa_rig_random(&seed, 32)
                                               : 255);
    for (uint32_t k = 0; k < N_CALLEES; k++)
        f.callees[k] = arena_printf(a, "callee %u", k);
    for (unsigned part = 0; part < 4; part++)
        straight(&f, &seed, (isa_op)(ISA_N_OPS * part / 4),
                 (isa_op)(ISA_N_OPS * (part + 1) / 4));
    pipelined(&f, &seed);
    add_block(&f, ISA_PLAIN, 0, 1); /* something to go to */
    ck_assert_ptr_null(isa_verify(&f, NULL, NULL));
    return f;
}

/* --- equality ------------------------------------------------------------ */

static void same_operand(isa_operand x, isa_operand y)
{
    ck_assert_uint_eq(x.kind, y.kind);
    ck_assert_uint_eq(x.number, y.number);
}

static void same_instr(const isa_instr *x, const isa_instr *y)
{
    ck_assert_uint_eq(x->op, y->op);
    ck_assert_uint_eq(x->unit, y->unit);
    ck_assert_uint_eq(x->type, y->type);
    ck_assert_uint_eq(x->from, y->from);
    ck_assert_uint_eq(x->sub, y->sub);
    ck_assert_uint_eq(x->predicated, y->predicated);
    ck_assert_uint_eq(x->stage, y->stage);
    for (unsigned k = 0; k < ISA_MAX_DST; k++)
        same_operand(x->dst[k], y->dst[k]);
    for (unsigned k = 0; k < ISA_MAX_SRC; k++)
        same_operand(x->src[k], y->src[k]);
    ck_assert_int_eq(x->imm, y->imm);
    ck_assert_uint_eq(x->cycle, y->cycle);
    ck_assert_uint_eq(x->seq, y->seq);
    ck_assert_uint_eq(x->line, y->line);
    ck_assert_uint_eq(x->col, y->col);
    ck_assert_uint_eq(x->cost, y->cost);
}

void isa_rig_same(const isa_function *f, const isa_function *g)
{
    ck_assert_str_eq(f->name, g->name);
    ck_assert_uint_eq(f->private_bytes, g->private_bytes);
    ck_assert_uint_eq(f->n_spills, g->n_spills);
    ck_assert_uint_eq(f->n_vectors, g->n_vectors);
    ck_assert_uint_eq(f->n_callees, g->n_callees);
    ck_assert_uint_eq(f->n_blocks, g->n_blocks);
    ck_assert_uint_eq(f->n_instrs, g->n_instrs);
    for (uint32_t k = 0; k < f->n_vectors; k++)
        ck_assert_mem_eq(f->vectors[k], g->vectors[k], ISA_VECTOR_BYTES);
    for (uint32_t k = 0; k < f->n_callees; k++)
        ck_assert_str_eq(f->callees[k], g->callees[k]);
    for (uint32_t k = 0; k < f->n_blocks; k++) {
        const isa_block *x = &f->blocks[k], *y = &g->blocks[k];

        ck_assert_uint_eq(x->first, y->first);
        ck_assert_uint_eq(x->n_instrs, y->n_instrs);
        ck_assert_uint_eq(x->cycles, y->cycles);
        ck_assert_uint_eq(x->kind, y->kind);
        ck_assert_uint_eq(x->n_stages, y->n_stages);
    }
    for (uint32_t k = 0; k < f->n_instrs; k++)
        same_instr(&f->instrs[k], &g->instrs[k]);
}
