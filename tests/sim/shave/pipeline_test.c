/* Which loops are software-pipelined, in LLVM's own text. */
#include <check.h>
#include <llvm-c/IRReader.h>
#include <string.h>

#include "sim/shave/shave.h"

/* A sum over local memory; the twelve numbers are the work-group's. */
static const char text[] =
    "target datalayout = \"e-p:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-"
    "v96:128-v192:256-v256:256-v512:512-v1024:1024-G1\"\n"
    "define void @f(ptr addrspace(3) %%a, i32 %%from, i32 %%to,\n"
    "    i32 %%0, i32 %%1, i32 %%2, i32 %%3, i32 %%4, i32 %%5, i32 %%6,\n"
    "    i32 %%7, i32 %%8, i32 %%9, i32 %%10, i32 %%11, ptr noalias %%kept) {\n"
    "entry:\n"
    "  br label %%loop\n"
    "loop:\n"
    "  %%i = phi i32 [ %%from, %%entry ], [ %%next, %%loop ]\n"
    "  %%s = phi i32 [ 0, %%entry ], [ %%sum, %%loop ]\n"
    "  %%p = getelementptr i32, ptr addrspace(3) %%a, i32 %%i\n"
    "  %%v = load i32, ptr addrspace(3) %%p\n"
    "  %%sum = add i32 %%s, %%v\n"
    "  %%next = add i32 %%i, %d\n"
    "  %%more = icmp %s\n"
    "  br i1 %%more, label %%%s, label %%%s%s\n"
    "done:\n"
    "  store i32 %%sum, ptr addrspace(3) %%a\n"
    "  ret void\n"
    "}\n"
    "!0 = !{}\n";

static const struct {
    int step;
    const char *condition;
    bool leaves; /* when it holds */
    bool marked, pipelined;
} loops[] = {
    {1, "ult i32 %next, %to", false, true, true},
    {1, "ult i32 %next, %to", false, false, false},
    {4, "slt i32 %next, %to", false, true, true},
    {1, "ugt i32 %to, %next", false, true, true},
    {1, "sge i32 %next, %to", true, true, true},
    {-1, "sgt i32 %next, %to", false, true, true},
    {-8, "ugt i32 %next, %to", false, true, true},
    {-2, "slt i32 %to, %next", false, true, true},
    {-2, "sle i32 %next, %to", true, true, true},
    {2, "ne i32 %next, %to", false, true, true},
    {-2, "eq i32 %next, %to", true, true, true},
    /* The count would take a division. */
    {3, "slt i32 %next, %to", false, true, false},
    {-6, "sgt i32 %next, %to", false, true, false},
    /* Away from the limit: until numbers begin again. */
    {1, "sgt i32 %next, %to", false, true, false},
    {2, "ult i32 %to, %next", false, true, false},
    {-1, "slt i32 %next, %to", false, true, false},
    {-4, "ugt i32 %to, %next", false, true, false},
    /* The limit itself counts, which may be the last number there is. */
    {1, "sle i32 %next, %to", false, true, false},
    {-1, "sge i32 %next, %to", false, true, false},
    {1, "eq i32 %next, %to", false, true, false},
};

START_TEST(pipelined_loops)
{
    static const uint32_t offsets[] = {0, 4, 8};
    const shave_layout layout = {.arg_offsets = offsets};
    LLVMContextRef c = LLVMContextCreate();
    arena *a = arena_create(0);
    const char *whole = arena_printf(
        a, text, loops[_i].step, loops[_i].condition,
        loops[_i].leaves ? "done" : "loop", loops[_i].leaves ? "loop" : "done",
        loops[_i].marked ? ", !vpu.items !0" : "");
    LLVMModuleRef m;
    char *message = NULL;
    shave_program p;
    vpu_error err;

    ck_assert_msg(
        !LLVMParseIRInContext(c,
                              LLVMCreateMemoryBufferWithMemoryRangeCopy(
                                  whole, strlen(whole), "loop"),
                              &m, &message),
        "%s", message);
    ck_assert_msg(
        !shave_build(LLVMGetNamedFunction(m, "f"), "f", &layout, a, &p, &err),
        "%s", err.msg);
    ck_assert_msg((p.costs[1].loop_stages != 0) == loops[_i].pipelined,
                  "step %d, %s: %u stages", loops[_i].step, loops[_i].condition,
                  p.costs[1].loop_stages);
    LLVMDisposeModule(m);
    LLVMContextDispose(c);
    arena_destroy(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("software pipelining");
    TCase *c = tcase_create("loops");
    SRunner *r;
    int failed;

    tcase_add_loop_test(c, pipelined_loops, 0, sizeof loops / sizeof *loops);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
