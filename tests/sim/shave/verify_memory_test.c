/* The verifier of memory order on programs made by hand: it must refuse what
 * reorders accesses that may meet, and nothing else. */
#include <check.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <string.h>

#include "sim/ir/ir.h"
#include "sim/shave/verify_memory.h"
#include "tests/support/rig.h"

/* --- a function and its accesses ----------------------------------------- */

typedef struct {
    arena *a;
    LLVMContextRef c;
    LLVMModuleRef m;
    LLVMValueRef fn;
    isa_instr instrs[64];
    shave_from from[64];
    isa_block blocks[4];
    uint32_t block_ir[4];
    shave_program p;
} hand;

static void open_hand(hand *h, const char *body, const char *end)
{
    static const char layout[] =
        "target datalayout = \"e-p:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-"
        "v96:128-v192:256-v256:256-v512:512-v1024:1024-G1\"\n"
        "declare void @unknown()\n"
        "@tile = internal addrspace(3) global [64 x i32] undef\n"
        "@other = internal addrspace(3) global [64 x i32] undef\n";
    LLVMMemoryBufferRef text;
    char *whole, *msg = NULL;

    *h = (hand){.a = arena_create(0), .c = LLVMContextCreate()};
    whole = arena_printf(h->a,
                         "%sdefine void @f(ptr addrspace(3) %%a, "
                         "ptr addrspace(3) noalias %%r, ptr addrspace(1) %%g, "
                         "i32 %%n, i32 %%w, i1 %%c) {\n%s%s}\n",
                         layout, body, end);
    text = LLVMCreateMemoryBufferWithMemoryRangeCopy(whole, strlen(whole), "t");
    ck_assert_msg(!LLVMParseIRInContext(h->c, text, &h->m, &msg), "%s\n%s", msg,
                  whole);
    h->fn = LLVMGetNamedFunction(h->m, "f");
    h->p.fn.blocks = h->blocks;
    h->p.fn.instrs = h->instrs;
    h->p.from = h->from;
    h->p.block_ir = h->block_ir;
}

static void close_hand(hand *h)
{
    LLVMDisposeModule(h->m);
    LLVMContextDispose(h->c);
    arena_destroy(h->a);
}

static isa_op op_of(LLVMValueRef i, uint32_t bytes)
{
    bool store = LLVMIsAStoreInst(i);

    if (LLVMIsACallInst(i))
        return ISA_OP_call;
    return bytes == 16 ? (store ? ISA_OP_stv128 : ISA_OP_ldv128)
                       : (store ? ISA_OP_st : ISA_OP_ld);
}

static void put(hand *h, LLVMValueRef i, uint32_t seq, uint32_t stage,
                uint32_t cycle)
{
    LLVMTypeRef t =
        LLVMIsAStoreInst(i) ? LLVMTypeOf(LLVMGetOperand(i, 0)) : LLVMTypeOf(i);
    uint32_t bytes =
        LLVMIsACallInst(i)
            ? 0
            : (uint32_t)LLVMStoreSizeOfType(LLVMGetModuleDataLayout(h->m), t);
    uint32_t k = h->p.fn.n_instrs++;

    ck_assert_uint_lt(k, 64);
    h->instrs[k] = (isa_instr){.op = (uint8_t)op_of(i, bytes),
                               .type = bytes == 1 ? ISA_U8 : ISA_U32,
                               .seq = seq,
                               .stage = (uint16_t)stage,
                               .cycle = cycle};
    h->from[k] = (shave_from){.ir = i};
}

static bool is_access(LLVMValueRef i)
{
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsACallInst(i);
}

/* --- one block: the last two accesses change places ---------------------- */

typedef struct {
    const char *body;
    bool free; /* they may */
} pair_case;

static const pair_case pairs[] = {
    {"store i32 1, ptr addrspace(3) %a\n"
     "%v = load i32, ptr addrspace(3) %a\n",
     false},
    {"%v = load i32, ptr addrspace(3) %a\n"
     "store i32 1, ptr addrspace(3) %a\n",
     false},
    {"store i32 2, ptr addrspace(3) %a\n"
     "store i32 1, ptr addrspace(3) %a\n",
     false},
    {"%v = load i32, ptr addrspace(3) %a\n"
     "%u = load i32, ptr addrspace(3) %a\n",
     true},
    {"%p = getelementptr i32, ptr addrspace(3) %a, i32 1\n"
     "store i32 1, ptr addrspace(3) %a\n"
     "%v = load i32, ptr addrspace(3) %p\n",
     true},
    {"%p = getelementptr i8, ptr addrspace(3) %a, i32 3\n"
     "store i32 1, ptr addrspace(3) %a\n"
     "%v = load i32, ptr addrspace(3) %p\n",
     false},
    {"%p = getelementptr i8, ptr addrspace(3) %a, i32 -15\n"
     "store i32 1, ptr addrspace(3) %a\n"
     "%v = load <4 x i32>, ptr addrspace(3) %p\n",
     false},
    {"%p = getelementptr i8, ptr addrspace(3) %a, i32 -16\n"
     "store i32 1, ptr addrspace(3) %a\n"
     "%v = load <4 x i32>, ptr addrspace(3) %p\n",
     true},
    /* indices */
    {"%m = add i32 %n, 1\n"
     "%p = getelementptr i32, ptr addrspace(3) %a, i32 %n\n"
     "%q = getelementptr i32, ptr addrspace(3) %a, i32 %m\n"
     "store i32 1, ptr addrspace(3) %p\n"
     "%v = load i32, ptr addrspace(3) %q\n",
     true},
    {"%x = shl i32 %n, 1\n"
     "%y = mul i32 %n, %w\n"
     "%i = add i32 %y, %x\n"
     "%z = add i32 %w, 2\n"
     "%j = mul i32 %z, %n\n"
     "%k = add i32 %j, 4\n"
     "%p = getelementptr i32, ptr addrspace(3) %a, i32 %i\n"
     "%q = getelementptr i32, ptr addrspace(3) %a, i32 %k\n"
     "store i32 1, ptr addrspace(3) %p\n"
     "%v = load i32, ptr addrspace(3) %q\n",
     true},
    {"%x = shl i32 %n, 1\n"
     "%p = getelementptr i32, ptr addrspace(3) %a, i32 %n\n"
     "%q = getelementptr i32, ptr addrspace(3) %a, i32 %x\n"
     "store i32 1, ptr addrspace(3) %p\n"
     "%v = load i32, ptr addrspace(3) %q\n",
     false},
    {"%x = or i32 %n, 1\n"
     "%p = getelementptr i32, ptr addrspace(3) %a, i32 %n\n"
     "%q = getelementptr i32, ptr addrspace(3) %a, i32 %x\n"
     "store i32 1, ptr addrspace(3) %p\n"
     "%v = load i32, ptr addrspace(3) %q\n",
     false},
    {"%t = trunc i32 %n to i16\n"
     "%u = add i16 %t, 1\n"
     "%x = zext i16 %t to i32\n"
     "%y = zext i16 %u to i32\n"
     "%z = add i32 %x, 1\n"
     "%p = getelementptr i32, ptr addrspace(3) %a, i32 %y\n"
     "%q = getelementptr i32, ptr addrspace(3) %a, i32 %z\n"
     "store i32 1, ptr addrspace(3) %p\n"
     "%v = load i32, ptr addrspace(3) %q\n",
     false},
    /* pieces of memory */
    {"store i32 1, ptr addrspace(3) %a\n"
     "%v = load i32, ptr addrspace(3) %r\n",
     true},
    {"store i32 1, ptr addrspace(3) %a\n"
     "%v = load i32, ptr addrspace(1) %g\n",
     true},
    {"store i32 1, ptr addrspace(3) %a\n"
     "%v = load i32, ptr addrspace(3) @tile\n",
     true},
    {"%p = getelementptr i32, ptr addrspace(3) @tile, i32 %n\n"
     "%q = getelementptr i32, ptr addrspace(3) @other, i32 %n\n"
     "store i32 1, ptr addrspace(3) %p\n"
     "%v = load i32, ptr addrspace(3) %q\n",
     true},
    {"%s = select i1 %c, ptr addrspace(3) @tile, ptr addrspace(3) @other\n"
     "store i32 1, ptr addrspace(3) %s\n"
     "%v = load i32, ptr addrspace(3) @other\n",
     false},
    {"%s = select i1 %c, ptr addrspace(3) %r, ptr addrspace(3) %a\n"
     "store i32 1, ptr addrspace(3) %s\n"
     "%v = load i32, ptr addrspace(3) %r\n",
     false},
    {"%s = select i1 %c, ptr addrspace(3) %a, ptr addrspace(3) @other\n"
     "store i32 1, ptr addrspace(3) %s\n"
     "%v = load i32, ptr addrspace(3) @tile\n",
     true},
    {"%x = alloca i32\n"
     "%y = alloca ptr\n"
     "store ptr %x, ptr %y\n"
     "%p = load ptr, ptr %y\n"
     "store i32 1, ptr %p\n"
     "%v = load i32, ptr %x\n",
     false},
    {"%x = alloca i32\n"
     "%y = alloca ptr\n"
     "%p = load ptr, ptr %y\n"
     "store i32 1, ptr %p\n"
     "%v = load i32, ptr %x\n",
     true},
    {"%x = alloca i32\n"
     "%k = ptrtoint ptr %x to i32\n"
     "%l = add i32 %k, %n\n"
     "%p = inttoptr i32 %l to ptr\n"
     "store i32 1, ptr %p\n"
     "%v = load i32, ptr %x\n",
     false},
    {"%x = alloca i32\n"
     "%k = ptrtoint ptr %x to i32\n"
     "%l = xor i32 %k, %n\n"
     "%p = inttoptr i32 %l to ptr addrspace(1)\n"
     "store i32 1, ptr addrspace(1) %p\n"
     "%v = load i32, ptr %x\n",
     false},
    {"%p = inttoptr i32 %n to ptr addrspace(3)\n"
     "store i32 1, ptr addrspace(3) %p\n"
     "%v = load i32, ptr addrspace(3) %a\n",
     false},
    {"%p = inttoptr i32 %n to ptr addrspace(3)\n"
     "store i32 1, ptr addrspace(3) %p\n"
     "%v = load i32, ptr addrspace(3) %r\n",
     true},
    {"store i32 1, ptr addrspace(3) %a\n"
     "call void @unknown()\n",
     false},
};

static void in_program(hand *h, bool swap)
{
    LLVMValueRef all[8];
    uint32_t n = 0;

    ir_each_inst(i, LLVMGetEntryBasicBlock(h->fn))
        if (is_access(i))
            all[n++] = i;
    h->p.fn.n_instrs = 0;
    for (uint32_t k = 0; k < n; k++)
        put(h, all[k], k, 0, k);
    if (swap) {
        h->instrs[n - 1].cycle = n - 2;
        h->instrs[n - 2].cycle = n - 1;
    }
    h->p.fn.n_blocks = 1;
    h->blocks[0] = (isa_block){.n_instrs = n, .cycles = n, .n_stages = 1};
}

START_TEST(two_accesses)
{
    const pair_case *t = &pairs[_i];
    uint32_t block, instr;
    const char *why;
    hand h;

    open_hand(&h, t->body, "ret void\n");
    in_program(&h, false);
    why = verify_memory(h.fn, &h.p, &block, &instr);
    ck_assert_msg(!why, "in order: %s\n%s", why, t->body);
    in_program(&h, true);
    why = verify_memory(h.fn, &h.p, &block, &instr);
    ck_assert_msg(!why == t->free, "swapped: %s\n%s", why ? why : "accepted",
                  t->body);
    close_hand(&h);
}
END_TEST

/* --- a pipelined loop ---------------------------------------------------- */

/* Access k of an iteration touches `bytes` at start + i * stride, i = 0, 1, …,
 * in cycle `time` of its iteration. */
typedef struct {
    int start;
    unsigned bytes, time;
    bool store;
} loop_access;

typedef struct {
    loop_access x[2];
    int stride;
    unsigned interval, stages;
} loop_case;

enum { TRIPS = 40, N_LOOPS = 4000 };

static unsigned pick(uint64_t *state, unsigned n)
{
    return rig_noise((*state)++) % n;
}

static loop_case random_loop(uint64_t seed)
{
    static const unsigned sizes[] = {1, 4, 16};
    uint64_t s = seed * 64;
    loop_case l = {.stride = (int)pick(&s, 41) - 20,
                   .interval = 1 + pick(&s, 4),
                   .stages = 1 + pick(&s, 5)};

    for (int k = 0; k < 2; k++) {
        l.x[k].start = (int)pick(&s, 60) - 30;
        l.x[k].bytes = sizes[pick(&s, 3)];
        l.x[k].store = k || pick(&s, 2);
        l.x[k].time = pick(&s, l.interval * l.stages);
    }
    return l;
}

/* By trying: does any access overtake one that it meets? */
static bool is_legal(const loop_case *l)
{
    for (int i = 0; i < TRIPS; i++)
        for (int j = i; j < TRIPS; j++)
            for (int a = 0; a < 2; a++)
                for (int b = i == j ? a + 1 : 0; b < 2; b++) {
                    const loop_access *x = &l->x[a], *y = &l->x[b];
                    int p = x->start + i * l->stride;
                    int q = y->start + j * l->stride;
                    bool meet = p < q + (int)y->bytes && q < p + (int)x->bytes;

                    if (meet && (x->store || y->store) &&
                        (unsigned)i * l->interval + x->time >=
                            (unsigned)j * l->interval + y->time)
                        return false;
                }
    return true;
}

static char *loop_text(arena *a, const loop_case *l)
{
    char *text = arena_printf(a,
                              "br label %%loop\nloop:\n"
                              "%%i = phi i32 [ %%n, %%0 ], [ %%j, %%loop ]\n"
                              "%%j = add i32 %%i, %d\n",
                              l->stride);

    for (int k = 0; k < 2; k++) {
        const loop_access *x = &l->x[k];
        const char *type = x->bytes == 1   ? "i8"
                           : x->bytes == 4 ? "i32"
                                           : "<4 x i32>";

        text = arena_printf(a,
                            "%s%%d%d = add i32 %%i, %d\n"
                            "%%p%d = getelementptr i8, ptr addrspace(3) %%a, "
                            "i32 %%d%d\n",
                            text, k, x->start, k, k);
        text = x->store ? arena_printf(a,
                                       "%sstore %s zeroinitializer, "
                                       "ptr addrspace(3) %%p%d\n",
                                       text, type, k)
                        : arena_printf(a,
                                       "%s%%v%d = load %s, "
                                       "ptr addrspace(3) %%p%d\n",
                                       text, k, type, k);
    }
    return text;
}

/* Prologue, kernel and epilogue; the plain loop stands behind them, as the
 * compiler leaves it. */
static void pipeline(hand *h, const loop_case *l, LLVMValueRef *inst)
{
    static const uint8_t kinds[] = {ISA_PROLOGUE, ISA_KERNEL, ISA_EPILOGUE,
                                    ISA_PLAIN};
    unsigned steps = l->stages - 1;

    for (unsigned b = 0; b < 4; b++) {
        unsigned rows = b == 1 || b == 3 ? 1 : steps;

        h->blocks[b] =
            (isa_block){.first = h->p.fn.n_instrs,
                        .cycles = b == 3 ? 2 : rows * l->interval,
                        .kind = steps || b == 1 ? kinds[b] : ISA_PLAIN,
                        .n_stages = b == 3 ? 1 : l->stages};
        h->block_ir[b] = 1;
        for (unsigned j = 0; j < rows; j++)
            for (unsigned k = 0; k < 2; k++) {
                unsigned at = l->x[k].time % l->interval;
                unsigned stage = l->x[k].time / l->interval;

                if (b == 3)
                    put(h, inst[k], k, 0, k);
                else if (b == 1 || (b ? stage > j : stage <= j))
                    put(h, inst[k], k, stage, j * l->interval + at);
            }
        h->blocks[b].n_instrs = h->p.fn.n_instrs - h->blocks[b].first;
    }
    h->p.fn.n_blocks = 4;
}

START_TEST(random_loops)
{
    unsigned legal = 0;

    for (uint64_t seed = 0; seed < N_LOOPS; seed++) {
        loop_case l = random_loop(seed);
        uint32_t block, instr, n = 0;
        LLVMValueRef inst[2];
        const char *why;
        bool want = is_legal(&l);
        hand h;

        arena *a = arena_create(0);

        open_hand(&h, loop_text(a, &l),
                  "br i1 %c, label %loop, label %end\nend:\nret void\n");
        ir_each_inst(i, LLVMGetNextBasicBlock(LLVMGetEntryBasicBlock(h.fn)))
            if (is_access(i))
                inst[n++] = i;
        pipeline(&h, &l, inst);
        why = verify_memory(h.fn, &h.p, &block, &instr);
        ck_assert_msg(!why == want,
                      "seed %llu: %s, by trying %s: stride %d, interval %u, "
                      "%u stages, %s %u bytes at %d in cycle %u, store %u "
                      "bytes at %d in cycle %u",
                      (unsigned long long)seed, why ? why : "accepted",
                      want ? "legal" : "not legal", l.stride, l.interval,
                      l.stages, l.x[0].store ? "store" : "load", l.x[0].bytes,
                      l.x[0].start, l.x[0].time, l.x[1].bytes, l.x[1].start,
                      l.x[1].time);
        legal += want;
        close_hand(&h);
        arena_destroy(a);
    }
    /* Both kinds were there. */
    ck_assert_uint_gt(legal, N_LOOPS / 8);
    ck_assert_uint_lt(legal, N_LOOPS - N_LOOPS / 8);
}
END_TEST

/* --- what is not there --------------------------------------------------- */

START_TEST(lost_and_strayed)
{
    static const char body[] = "store i32 1, ptr addrspace(3) %a\n"
                               "store i32 2, ptr addrspace(3) %r\n";
    uint32_t block, instr;
    hand h;

    open_hand(&h, body, "ret void\n");
    in_program(&h, false);
    ck_assert_ptr_null(verify_memory(h.fn, &h.p, &block, &instr));
    h.blocks[0].n_instrs = 1;
    ck_assert_ptr_nonnull(verify_memory(h.fn, &h.p, &block, &instr));
    close_hand(&h);
    open_hand(&h, body, "br label %next\nnext:\nret void\n");
    in_program(&h, false);
    h.block_ir[0] = 1;
    ck_assert_ptr_nonnull(verify_memory(h.fn, &h.p, &block, &instr));
    close_hand(&h);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("memory order");
    TCase *c = tcase_create("memory order");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, two_accesses, 0, sizeof pairs / sizeof *pairs);
    tcase_add_test(c, random_loops);
    tcase_add_test(c, lost_and_strayed);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
