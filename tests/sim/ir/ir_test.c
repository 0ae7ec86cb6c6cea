/* Graphs of blocks and names of functions, by hand. */
#include <check.h>
#include <llvm-c/IRReader.h>
#include <string.h>

#include "base/str.h"
#include "sim/ir/ir.h"

/* --- post-dominators ----------------------------------------------------- */

/* A block and its successors, by numbers; the entry is block 0. */
static const struct {
    const char *text;
    const char
        *after[5]; /* what every path from the block passes, itself too */
} graphs[] = {
    /* One block after the other. */
    {"b0: br label %b1\n"
     "b1: br label %b2\n"
     "b2: ret void\n",
     {"012", "12", "2"}},
    /* Two ways that meet. */
    {"b0: br i1 %c, label %b1, label %b2\n"
     "b1: br label %b3\n"
     "b2: br label %b3\n"
     "b3: ret void\n",
     {"03", "13", "23", "3"}},
    /* Two ways, each with an end of its own. */
    {"b0: br label %b1\n"
     "b1: br i1 %c, label %b2, label %b3\n"
     "b2: ret void\n"
     "b3: ret void\n",
     {"01", "1", "2", "3"}},
    /* A loop, left at its head; its body has a shortcut. */
    {"b0: br label %b1\n"
     "b1: br i1 %c, label %b2, label %b4\n"
     "b2: br i1 %c, label %b1, label %b3\n"
     "b3: br label %b1\n"
     "b4: ret void\n",
     {"014", "14", "124", "134", "4"}},
    /* Block 1 reaches no exit. */
    {"b0: br i1 %c, label %b1, label %b2\n"
     "b1: br label %b1\n"
     "b2: ret void\n",
     {"02", "012", "2"}},
};

START_TEST(post_dominators)
{
    LLVMContextRef c = LLVMContextCreate();
    arena *a = arena_create(0);
    const char *text =
        arena_printf(a, "define void @f(i1 %%c) {\n%s}\n", graphs[_i].text);
    LLVMModuleRef m;
    char *message = NULL;
    ir_word **pdom;
    ir_cfg cfg;

    ck_assert_msg(
        !LLVMParseIRInContext(c,
                              LLVMCreateMemoryBufferWithMemoryRangeCopy(
                                  text, strlen(text), "graph"),
                              &m, &message),
        "%s", message);
    ir_cfg_build(&cfg, LLVMGetNamedFunction(m, "f"), a);
    pdom = ir_post_dominators(&cfg, a);
    for (uint32_t b = 0; b < cfg.n_blocks; b++)
        for (uint32_t p = 0; p < cfg.n_blocks; p++)
            ck_assert_msg(ir_bit(pdom[b], p) == (strchr(graphs[_i].after[b],
                                                        '0' + (int)p) != NULL),
                          "block %u, passes %u: %d", b, p, ir_bit(pdom[b], p));
    LLVMDisposeModule(m);
    LLVMContextDispose(c);
    arena_destroy(a);
}
END_TEST

/* 130 blocks in a row: sets of more than two words. */
START_TEST(post_dominators_of_many_blocks)
{
    enum { N = 130 };
    LLVMContextRef c = LLVMContextCreate();
    LLVMModuleRef m = LLVMModuleCreateWithNameInContext("row", c);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(c);
    LLVMValueRef f = LLVMAddFunction(
        m, "f", LLVMFunctionType(LLVMVoidTypeInContext(c), NULL, 0, false));
    LLVMBasicBlockRef blocks[N];
    arena *a = arena_create(0);
    ir_word **pdom;
    ir_cfg cfg;

    for (uint32_t b = 0; b < N; b++)
        blocks[b] = LLVMAppendBasicBlockInContext(c, f, "");
    for (uint32_t b = 0; b < N; b++) {
        LLVMPositionBuilderAtEnd(builder, blocks[b]);
        if (b + 1 < N)
            LLVMBuildBr(builder, blocks[b + 1]);
        else
            LLVMBuildRetVoid(builder);
    }
    ir_cfg_build(&cfg, f, a);
    ck_assert_uint_eq(cfg.n_blocks, N);
    pdom = ir_post_dominators(&cfg, a);
    for (uint32_t b = 0; b < N; b++)
        for (uint32_t p = 0; p < N; p++)
            ck_assert_msg(ir_bit(pdom[b], p) == (p >= b), "%u, %u", b, p);
    LLVMDisposeBuilder(builder);
    LLVMDisposeModule(m);
    LLVMContextDispose(c);
    arena_destroy(a);
}
END_TEST

/* --- names of functions -------------------------------------------------- */

/* Each argument: its letter and its lanes. */
static const struct {
    const char *symbol, *name, *args;
} names[] = {
    {"main", "main", ""},
    {"_Z3foov", "foo", ""},
    {"_Z3fooif", "foo", "i1 f1"},
    {"_Z13get_global_idj", "get_global_id", "j1"},
    {"_Z3maxDv4_fS_", "max", "f4 f4"},
    {"_Z3maxDv16_tS_t", "max", "t16 t16 t1"},
    {"_Z3absDh", "abs", "H1"},
    {"_Z3absDv8_Dh", "abs", "H8"},
    {"_Z5fractfPU3AS1f", "fract", "f1 P1"},
    {"_Z6vload4jPKU3AS1i", "vload4", "j1 P1"},
    /* A type's name and what follows; its letters may look like digits. */
    {"_Z3foo5applei", "foo", "?1 i1"},
    {"_Z3foo5event5applecS_S0_", "foo", "?1 ?1 c1 ?1 ?1"},
    /* Names that are longer than what is there. */
    {"_Z9foo", "_Z9foo", ""},
    {"_Z0i", "_Z0i", ""},
    {"_Z3foo9apple", "foo", "?1"},
};

START_TEST(names_of_functions)
{
    ir_signature sig;
    str args = {0};

    ir_demangle(names[_i].symbol, &sig);
    ck_assert_uint_eq(sig.name_len, strlen(names[_i].name));
    ck_assert(!memcmp(sig.name, names[_i].name, sig.name_len));
    for (uint32_t i = 0; i < sig.n_args; i++)
        str_printf(&args, "%s%c%u", i ? " " : "", sig.args[i].letter,
                   sig.args[i].lanes);
    ck_assert_str_eq(str_text(&args), names[_i].args);
    str_free(&args);
}
END_TEST

/* --- runtime calls ------------------------------------------------------- */

static bool has(LLVMValueRef call, const char *attribute)
{
    unsigned kind =
        LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));

    return LLVMGetEnumAttributeAtIndex(LLVMGetCalledValue(call),
                                       LLVMAttributeFunctionIndex,
                                       kind) != NULL;
}

/* Every row can be built, and is found again. */
START_TEST(runtime_calls)
{
    call_id id = (call_id)_i;
    LLVMContextRef c = LLVMContextCreate();
    LLVMModuleRef m = LLVMModuleCreateWithNameInContext("calls", c);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(c), NULL, 0, false);
    LLVMValueRef f = LLVMAddFunction(m, "f", t), one, again, other;
    LLVMValueRef arg = LLVMConstInt(i32, 7, false);

    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(c, f, ""));
    if (call_is_numbered(id)) {
        one = ir_build_numbered(b, m, &(const ir_call){id, i32, &arg, 1}, 2);
        again = ir_build_numbered(b, m, &(const ir_call){id, i32, &arg, 1}, 2);
        other = ir_build_numbered(b, m, &(const ir_call){id, i32, &arg, 1}, 16);
        ck_assert_ptr_ne(LLVMGetCalledValue(one), LLVMGetCalledValue(other));
        ck_assert_int_eq(ir_call_id(other), id);
    } else {
        one = ir_build_call(b, m, &(const ir_call){id, i32, &arg, 1});
        again = ir_build_call(b, m, &(const ir_call){id, i32, &arg, 1});
    }
    ck_assert_int_eq(ir_call_id(one), id);
    ck_assert_int_eq(ir_call_id(again), id);
    ck_assert_ptr_eq(LLVMGetCalledValue(one), LLVMGetCalledValue(again));
    ck_assert_int_eq(has(one, "convergent"), call_is_collective(id));
    ck_assert_int_eq(has(one, "noreturn"), call_ends(id));
    ck_assert_int_eq(has(one, "speculatable"),
                     call_effect_of(id) == CALL_VALUE);
    ck_assert_int_eq(has(one, "nounwind"), call_effect_of(id) != CALL_ANYTHING);
    ck_assert(!has(one, "willreturn") || call_effect_of(id) != CALL_TESTS);
    ck_assert_int_eq(ir_call_id(LLVMBuildRetVoid(b)), CALL_NONE);
    ck_assert_int_eq(ir_call_id(arg), CALL_NONE);
    LLVMDisposeBuilder(b);
    LLVMDisposeModule(m);
    LLVMContextDispose(c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("intermediate representation");
    TCase *graph = tcase_create("graphs"), *name = tcase_create("names");
    TCase *call = tcase_create("runtime calls");
    SRunner *r;
    int failed;

    tcase_add_loop_test(graph, post_dominators, 0,
                        sizeof graphs / sizeof *graphs);
    tcase_add_test(graph, post_dominators_of_many_blocks);
    tcase_add_loop_test(name, names_of_functions, 0,
                        sizeof names / sizeof *names);
    tcase_add_loop_test(call, runtime_calls, 1, CALL_N);
    suite_add_tcase(s, call);
    suite_add_tcase(s, graph);
    suite_add_tcase(s, name);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
