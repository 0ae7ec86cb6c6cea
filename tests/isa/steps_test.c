/* The interpreter's steps: each form of each operation against isa_evaluate,
 * and random programs against the plain interpreter, which finds nothing out
 * beforehand. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/semantics.h"
#include "tests/isa/isa_oracle.h"
#include "tests/isa/isa_rig.h"
#include "tests/isa/plain.h"

static arena *mem;

static void setup(void)
{
    mem = arena_create(0);
}
static void teardown(void)
{
    arena_destroy(mem);
}

/* --- operations ---------------------------------------------------------- */

enum { ROUNDS = 40, AT = 16, OUT = 64, VECTORS = 2 };

/* A constant, which may be a shuffle's table, and one that gives zeros. */
static uint8_t vectors[VECTORS][ISA_VECTOR_BYTES] = {
    {31, 0, 255, 7, 8, 16, 17, 255, 15, 15, 1, 30, 29, 3, 2, 9},
    {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
     255}};
static uint8_t window[128];

static isa_function function_of(isa_block *b, isa_instr *in, uint32_t n)
{
    b->n_instrs = n;
    return (isa_function){.name = "one",
                          .blocks = b,
                          .n_blocks = 1,
                          .instrs = in,
                          .n_instrs = n,
                          .vectors = vectors,
                          .n_vectors = VECTORS};
}

/* Sources by class and number; sp or an immediate where it may be one. */
static void name_operands(isa_instr *in, unsigned how, const uint32_t *words)
{
    isa_op op = (isa_op)in->op;

    for (unsigned k = 0; k < isa_n_src(op); k++) {
        char class = isa_src_class(op, k);

        in->src[k] = class == 'v' ? (isa_operand){ISA_V, k}
                     : class == 'j' && how == 1
                         ? (isa_operand){ISA_IMM, words[k]}
                     : how == 2 && k == 0 ? (isa_operand){ISA_SP, 0}
                                          : (isa_operand){ISA_I, k};
    }
    in->dst[0] = (isa_operand){isa_dst_class(op, 0) == 'v' ? ISA_V : ISA_I, 9};
}

static bool is_allowed(isa_instr in)
{
    isa_block b = {.cycles = 100};
    isa_function f = function_of(&b, &in, 1);

    name_operands(&in, 0, NULL);
    return !isa_verify(&f, NULL, NULL);
}

/* What the operation makes of the registers that the window holds: vectors,
 * and words from 48 on. */
static isa_value step(isa_instr in, unsigned how, const uint32_t words[3])
{
    isa_instr all[16] = {0};
    uint32_t n = 0;
    isa_block b = {.cycles = AT + isa_ops[in.op].lat + 8};
    isa_function f;
    isa_env env = {.window = window, .sp = words[0]};
    isa_value got;

    for (uint32_t k = 0; k < 3; k++) {
        all[n++] = (isa_instr){.op = ISA_OP_ldv128,
                               .unit = ISA_UNIT_LSU0,
                               .cycle = 2 * k,
                               .dst = {{ISA_V, k}},
                               .src = {{ISA_IMM, 16 * k}}};
        all[n++] = (isa_instr){.op = ISA_OP_imov,
                               .unit = ISA_UNIT_IAU,
                               .cycle = 2 * k,
                               .dst = {{ISA_I, k}},
                               .src = {{ISA_IMM, words[k]}}};
    }
    name_operands(&in, how, words);
    in.cycle = AT;
    all[n++] = in;
    all[n++] = (isa_instr){
        .op = (uint8_t)(in.dst[0].kind == ISA_V ? ISA_OP_stv128 : ISA_OP_st),
        .unit = ISA_UNIT_LSU0,
        .type = in.dst[0].kind == ISA_V ? ISA_NO_TYPE : ISA_U32,
        .cycle = b.cycles - 8,
        .src = {in.dst[0], {ISA_IMM, OUT}}};
    all[n++] = (isa_instr){
        .op = ISA_OP_ret, .unit = ISA_UNIT_BRU, .cycle = b.cycles - 7};
    f = function_of(&b, all, n);
    ck_assert_ptr_null(isa_verify(&f, NULL, NULL));
    memset(window + OUT, 0, sizeof got);
    ck_assert_int_eq(isa_rig_run(mem, &f, env), ISA_DONE);
    memcpy(&got, window + OUT, sizeof got);
    return got;
}

/* Bits, but for NaNs of the type, of which any will do. */
static bool agree(isa_type t, const isa_value *x, const isa_value *y)
{
    oracle_bits a, b;
    bool same = true;

    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    for (unsigned k = 0; k < 128 / oracle_width(t); k++) {
        uint32_t p = oracle_lane(t, &a, k), q = oracle_lane(t, &b, k);

        same &= p == q || (oracle_is_real(t) && isnan(oracle_real(t, p)) &&
                           isnan(oracle_real(t, q)));
    }
    return same;
}

static void compare(const isa_instr *in, uint64_t *seed)
{
    isa_type t = isa_computes_in(in);
    isa_value src[ISA_MAX_SRC], want, got;
    uint32_t words[3];
    unsigned how = isa_rig_random(seed, 3);
    arena_mark before = arena_save(mem);

    for (unsigned k = 0; k < 48; k++)
        window[k] =
            (uint8_t)(isa_rig_random(seed, 3) ? isa_rig_random(seed, 256)
                                              : 0x7f + isa_rig_random(seed, 2));
    for (unsigned k = 0; k < 3; k++)
        words[k] = isa_rig_random(seed, 2) ? isa_rig_random(seed, 0xffffffff)
                                           : isa_rig_random(seed, 40);
    for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
        memset(&src[k], 0, sizeof src[k]);
        if (k < isa_n_src((isa_op)in->op) &&
            isa_src_class((isa_op)in->op, k) == 'v')
            memcpy(&src[k], window + 16 * k, sizeof src[k]);
        else
            memcpy(&src[k], &words[k], 4);
    }
    /* Only I registers and sp are read as sp is. */
    if (how == 2 && isa_src_class((isa_op)in->op, 0) == 'v')
        how = 0;
    want = isa_evaluate(in, vectors[in->imm], src);
    got = step(*in, how, words);
    ck_assert_msg(agree(t, &want, &got) || !memcmp(&want, &got, sizeof want),
                  "%s.%s.%s.%u", isa_ops[in->op].name, isa_type_names[in->type],
                  isa_type_names[in->from], in->sub);
    arena_restore(mem, before);
}

static bool computes(isa_op op)
{
    return isa_ops[op].lanes != ISA_LANES_none ||
           isa_ops[op].whole != ISA_WHOLE_none;
}

START_TEST(every_form)
{
    isa_instr in = {.op = (uint8_t)_i};
    uint64_t seed = (uint64_t)_i + 1;
    unsigned forms = 0;

    if (!computes((isa_op)_i))
        return;
    while (!(isa_ops[_i].units >> in.unit & 1))
        in.unit++;
    for (unsigned t = 0; t < ISA_N_TYPES; t++)
        for (unsigned from = 0; from < ISA_N_TYPES; from++)
            for (unsigned sub = 0; sub < ISA_VECTOR_BYTES; sub++) {
                in.type = (uint8_t)t;
                in.from = (uint8_t)from;
                in.sub = (uint8_t)sub;
                in.imm = isa_ops[_i].flags & ISA_F_TABLE ? (int)(sub % 2) : 0;
                if (!is_allowed(in))
                    continue;
                forms++;
                for (unsigned k = 0; k < ROUNDS; k++)
                    compare(&in, &seed);
            }
    ck_assert_uint_gt(forms, 0);
}
END_TEST

/* --- programs ------------------------------------------------------------ */

enum {
    BYTES = 1024,
    MOST_OPS = 400,
    MOST_BLOCKS = 12,
    RUNS = 60, /* blocks until somebody stops */
    TOLD = 1 << 18
};

/* What a run leaves behind. */
typedef struct {
    uint8_t window[BYTES];
    char told[TOLD];
    size_t n;
    unsigned blocks, calls;
    isa_outcome outcome;
} world;

static world a, b;

static void tell(world *w, const char *what, const uint64_t *x, size_t n)
{
    w->n += (size_t)snprintf(w->told + w->n, TOLD - w->n, "%s", what);
    for (size_t k = 0; k < n; k++)
        w->n += (size_t)snprintf(w->told + w->n, TOLD - w->n, " %llu",
                                 (unsigned long long)x[k]);
    ck_assert_uint_lt(w->n, TOLD);
}

#define TELL(w, what, ...)                         \
    tell(w, what, (const uint64_t[]){__VA_ARGS__}, \
         sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

static bool on_block(void *user, uint32_t block, uint32_t cycles)
{
    world *w = user;

    TELL(w, "\nblock", block, cycles);
    return ++w->blocks < RUNS;
}

static void on_global(void *user, uint32_t line, uint32_t addr, uint32_t bytes,
                      bool store)
{
    TELL(user, " access", line, addr, bytes, store);
}

static void on_bundle(void *user, uint64_t cycle, const isa_instr *in,
                      uint32_t n)
{
    TELL(user, " bundle", cycle, in->seq, n);
}

static bool on_call(void *user, uint32_t callee, const uint32_t *args,
                    uint32_t n, uint32_t line, uint32_t ret[2])
{
    world *w = user;

    TELL(w, " call", callee, line, n);
    for (uint32_t k = 0; k < n; k++)
        TELL(w, "", args[k]);
    ret[0] = n ? args[0] * 3 + callee : callee;
    ret[1] = n > 1 ? args[1] ^ line : 77;
    return ++w->calls % 13 != 0;
}

static bool is_real(unsigned t)
{
    return t == ISA_F16 || t == ISA_F32;
}

/* Few registers, so that results meet, and addresses inside of the window. Of
 * floats only bits are moved: any NaN is as good as another one. */
static isa_instr draw(uint64_t *seed, isa_op op)
{
    isa_instr in = isa_rig_instr(seed, op);
    const isa_op_info *row = &isa_ops[op];
    unsigned address = row->flags & ISA_F_LOAD ? 0 : 1;

    for (unsigned d = 0; d < ISA_MAX_DST; d++)
        if (in.dst[d].kind)
            in.dst[d].number %= 4;
    for (unsigned s = 0; s < ISA_MAX_SRC; s++)
        if (in.src[s].kind == ISA_I || in.src[s].kind == ISA_V)
            in.src[s].number %= 4;
    if (row->flags & (ISA_F_LOAD | ISA_F_STORE)) {
        in.src[address] =
            isa_rig_random(seed, 2)
                ? (isa_operand){ISA_SP, 0}
                : (isa_operand){ISA_IMM, 100 + isa_rig_random(seed, 16)};
        in.imm =
            (int32_t)isa_rig_random(seed, isa_rig_random(seed, 3) ? 16 : 400);
    }
    if (op == ISA_OP_ldarg)
        in.imm = (int32_t)isa_rig_random(seed, 12);
    if (op == ISA_OP_starg)
        in.imm = (int32_t)isa_rig_random(seed, 4);
    if (op == ISA_OP_rep && isa_rig_random(seed, 3))
        in.src[0] = (isa_operand){ISA_IMM, isa_rig_random(seed, 6)};
    if (op != ISA_OP_pred && op != ISA_OP_nop)
        in.predicated = !isa_rig_random(seed, 3);
    in.line = isa_rig_random(seed, 50);
    return in;
}

static bool is_wanted(const isa_instr *in)
{
    const isa_op_info *row = &isa_ops[in->op];

    return !computes((isa_op)in->op) ||
           !(is_real(in->type) || is_real(in->from) || is_real(row->as));
}

/* Adds one where the verifier takes it. Blocks behind number k move. */
static void add(isa_function *f, uint32_t k, isa_instr in)
{
    isa_block *to = &f->blocks[k];
    uint32_t at = to->first;

    if (f->n_instrs == MOST_OPS || !is_wanted(&in))
        return;
    while (at < to->first + to->n_instrs &&
           (f->instrs[at].cycle < in.cycle ||
            (f->instrs[at].cycle == in.cycle && f->instrs[at].unit <= in.unit)))
        at++;
    memmove(&f->instrs[at + 1], &f->instrs[at], (f->n_instrs - at) * sizeof in);
    f->instrs[at] = in;
    f->n_instrs++;
    to->n_instrs++;
    for (uint32_t n = k + 1; n < f->n_blocks; n++)
        f->blocks[n].first++;
    if (!isa_verify(f, NULL, NULL))
        return;
    f->n_instrs--;
    to->n_instrs--;
    memmove(&f->instrs[at], &f->instrs[at + 1], (f->n_instrs - at) * sizeof in);
    for (uint32_t n = k + 1; n < f->n_blocks; n++)
        f->blocks[n].first--;
}

/* Now and then something in that bundle for a branch to hang on. */
static void decide(isa_function *f, uint32_t k, uint64_t *seed, uint32_t cycle)
{
    isa_instr in = draw(seed, ISA_OP_pred);

    in.cycle = cycle;
    if (isa_rig_random(seed, 2))
        add(f, k, in);
}

static void fill(isa_function *f, uint32_t k, uint64_t *seed)
{
    isa_block *to = &f->blocks[k];

    for (uint32_t tries = 2 * to->cycles + 8; tries-- > 0;) {
        isa_instr in = draw(seed, (isa_op)isa_rig_random(seed, ISA_N_OPS));

        in.cycle = to->cycles ? isa_rig_random(seed, to->cycles) : 0;
        if (isa_ops[in.op].flags & ISA_F_BRANCH) {
            in.cycle = to->cycles - 1 - ISA_BRANCH_DELAY;
            decide(f, k, seed, in.cycle);
        }
        in.stage = (uint16_t)(to->kind == ISA_PLAIN
                                  ? 0
                                  : isa_rig_random(seed, to->n_stages));
        add(f, k, in);
    }
}

static isa_function program(uint64_t *seed)
{
    uint32_t ii = 1 + isa_rig_random(seed, 9),
             stages = 2 + isa_rig_random(seed, 3);
    uint32_t pad = isa_rig_random(seed, 3);
    isa_function f = {.name = "random",
                      .blocks = arena_array(mem, isa_block, MOST_BLOCKS),
                      .instrs = arena_array(mem, isa_instr, MOST_OPS + 1),
                      .vectors = vectors,
                      .n_vectors = VECTORS,
                      .callees = arena_array(mem, const char *, 2),
                      .n_callees = 2};

    while (f.n_blocks < 5)
        f.blocks[f.n_blocks++] = (isa_block){
            .cycles = isa_rig_random(seed, 3) ? 7 + isa_rig_random(seed, 20)
                                              : isa_rig_random(seed, 3),
            .n_stages = 1};
    f.blocks[f.n_blocks++] =
        (isa_block){0, 0, pad + (stages - 1) * ii, ISA_PROLOGUE, stages};
    f.blocks[f.n_blocks++] = (isa_block){0, 0, ii, ISA_KERNEL, stages};
    f.blocks[f.n_blocks++] =
        (isa_block){0, 0, (stages - 1) * ii + pad, ISA_EPILOGUE, stages};
    while (f.n_blocks < 11)
        f.blocks[f.n_blocks++] =
            (isa_block){.cycles = 7 + isa_rig_random(seed, 5), .n_stages = 1};
    for (uint32_t k = 0; k < f.n_blocks; k++)
        fill(&f, k, seed);
    for (uint32_t k = 0; k < f.n_instrs; k++)
        f.instrs[k].seq = isa_rig_random(seed, 30) * MOST_OPS + k;
    return f;
}

static isa_env environment(world *w, bool watched, uint64_t seed)
{
    static const uint8_t args[16] = {1, 0x82, 3, 4, 5, 6, 7, 0x88, 9};
    static const uint32_t group[4] = {100, 2, 0x80000001, 0xffffffff};

    memset(w, 0, sizeof *w);
    for (unsigned k = 0; k < BYTES; k++)
        w->window[k] = (uint8_t)isa_rig_random(&seed, 256);
    return (isa_env){.window = w->window,
                     .args = args,
                     .group = group,
                     .sp = 100,
                     .user = w,
                     .block = on_block,
                     .global = on_global,
                     .bundle = watched ? on_bundle : NULL,
                     .call = on_call};
}

/* With scratch that is as long as it must be, for a sanitizer to see. */
static isa_outcome run(const isa_function *f, isa_env env)
{
    const isa_memory m = isa_rig_memory(mem);
    const isa_code *code = isa_prepare(f, env.bundle, &m);
    isa_outcome outcome;

    ck_assert_ptr_nonnull(code);
    env.scratch = malloc(isa_scratch_size(code));
    ck_assert_ptr_nonnull(env.scratch);
    memset(env.scratch, 0x5a, isa_scratch_size(code));
    outcome = isa_run(code, &env);
    free(env.scratch);
    return outcome;
}

START_TEST(random_programs)
{
    uint64_t seed = (uint64_t)_i * 1000 + 5;

    for (unsigned k = 0; k < 20; k++) {
        arena_mark before = arena_save(mem);
        isa_function f = program(&seed);
        bool watched = k % 2;
        isa_env env = environment(&a, watched, seed);

        a.outcome = plain_run(&f, &env, mem);
        env = environment(&b, watched, seed);
        b.outcome = run(&f, env);
        ck_assert_int_eq(a.outcome, b.outcome);
        ck_assert_str_eq(a.told, b.told);
        ck_assert_mem_eq(a.window, b.window, BYTES);
        arena_restore(mem, before);
    }
}
END_TEST

static void *nothing(void *user, size_t n)
{
    uint32_t *left = user;

    return (*left)-- ? arena_push(mem, n, 1, 16) : NULL;
}

/* Whenever memory ends, there is no code rather than half of it. */
START_TEST(memory_is_short)
{
    uint64_t seed = 9;
    isa_function f = program(&seed);
    uint32_t left = 0;
    isa_memory m = {nothing, &left};
    uint32_t n = 0;

    while (!isa_prepare(&f, false, &m))
        left = ++n;
    ck_assert_uint_gt(n, 3);
    ck_assert_uint_lt(n, 20);
}
END_TEST

/* A result is followed through blocks that take no time, however many. */
START_TEST(very_many_empty_blocks)
{
    enum { BLOCKS = 500000 };
    isa_instr in = {.op = ISA_OP_fdiv,
                    .unit = ISA_UNIT_SAU,
                    .type = ISA_F32,
                    .dst = {{ISA_I, 1}},
                    .src = {{ISA_IMM, 1}, {ISA_IMM, 2}}};
    isa_function f = {.name = "empty",
                      .blocks = arena_array(mem, isa_block, BLOCKS),
                      .n_blocks = BLOCKS,
                      .instrs = &in,
                      .n_instrs = 1};
    isa_env env = environment(&a, false, 1);

    env.block = NULL;
    f.blocks[0] = (isa_block){.n_instrs = 1, .cycles = 1};
    for (uint32_t k = 1; k < BLOCKS; k++)
        f.blocks[k].first = 1;
    ck_assert_ptr_null(isa_verify(&f, NULL, NULL));
    ck_assert_int_eq(run(&f, env), ISA_FELL_OFF);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("isa steps");
    TCase *t = tcase_create("steps");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, every_form, 0, ISA_N_OPS);
    tcase_add_loop_test(t, random_programs, 0, 50);
    tcase_add_test(t, memory_is_short);
    tcase_add_test(t, very_many_empty_blocks);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
