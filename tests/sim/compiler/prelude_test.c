/* The prelude declares what a kernel names; what it names in a way that no
 * search of its text finds is declared all the same, and messages are those of
 * a kernel that is given everything. */
#include <check.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "sim/builtins/prelude.h"
#include "sim/compiler/front/frontend.h"
#include "tests/support/rig.h"

enum { N_WAYS = 7 };

/* Ways to name the standard's copy, and a function without macro. */
static const struct {
    const char *what, *text, *option;
} ways[N_WAYS] = {
    {"by its name",
     "event_t e = async_work_group_copy(l, g, 4, 0); wait_group_events(1, &e);",
     "-DX=1"},
    {"by an option", "event_t e = COPY(l, g, 4, 0); wait_group_events(1, &e);",
     "-DCOPY=async_work_group_copy"},
    {"pasted together",
     "event_t e = PASTE(async_work_, group_copy)(l, g, 4, 0);"
     "wait_group_events(1, &e);",
     "-DPASTE(a,b)=a##b"},
    {"over two lines",
     "event_t e = async_work_\\\ngroup_copy(l, g, 4, 0);"
     "wait_group_events(1, &e);",
     "-DX=1"},
    {"from a file",
     "\n#include \"copy.h\"\nevent_t e = THE_COPY(l, g, 4, 0);"
     "wait_group_events(1, &e);",
     "-DX=1"},
    {"pasted, without a macro of the prelude",
     "PASTE(WorkGroupDma, CreateTransaction)(g, l, 16, 0);",
     "-DPASTE(a,b)=a##b"},
    {"by the name of a prefetch", "prefetch(g, 4);", "-DX=1"},
};

static char *kernel_with(arena *a, const char *text)
{
    return arena_printf(a,
                        "__kernel void k(__global float *g) {\n"
                        "__local float l[4];\n%s\n"
                        "g[get_global_id(0)] = l[0]; }\n",
                        text);
}

START_TEST(a_function_may_be_named_in_any_way)
{
    const char *options[] = {ways[_i].option, NULL};
    rig r;
    fe_unit u;
    fe_job job = {.path = NULL, .options = options, .n_options = 1};
    vpu_status st;

    rig_open(&r);
    options[1] = arena_printf(r.arena, "-I%s", r.dir);
    job.n_options = 2;
    job.path = file_join(r.arena, r.dir, "k.cl");
    job.text = kernel_with(r.arena, ways[_i].text);
    ck_assert(!file_write(file_join(r.arena, r.dir, "copy.h"),
                          "#define THE_COPY async_work_group_copy\n", 39,
                          NULL));
    st = fe_compile(&job, r.arena, &u, &r.err);
    ck_assert_msg(!st, "%s: %s", ways[_i].what, r.err.msg);
    ck_assert_uint_gt(u.n_bytes, 0);
    rig_close(&r);
}
END_TEST

/* The words of the prelude's macros, in a comment. */
static const char *all_names(arena *a)
{
    static const char mark[] = "__without_";
    str s = {.arena = a};
    uint32_t n = 0;

    str_puts(&s, "/*");
    for (const char *p = builtin_prelude_text(); (p = strstr(p, mark)); n++) {
        p += strlen(mark);
        str_printf(&s, " %.*s", (int)strcspn(p, " )\n"), p);
    }
    str_puts(&s, " */\n");
    ck_assert_uint_gt(n, 8);
    return str_text(&s);
}

/* What clang objects to: names alike, wrong arguments, none at all. */
static const char *const wrong[] = {
    "async_workgroup_copy(l, g, 4, 0);",
    "WorkGroupDmaCreateTransactions(g, l, 16, 0);",
    "PASTE(async_work_, group_copy)(l, l, 4, 0);",
    "PASTE(WorkItemDma, CreateTransaction)(g);",
    "prefetsh(g, 4);",
    "nothing_of_the_kind(g);",
};

START_TEST(a_message_is_that_of_a_kernel_with_everything)
{
    static const char *const options[] = {"-DPASTE(a,b)=a##b"};
    vpu_error few = {0}, all = {0};
    rig r;
    fe_unit u;
    fe_job job = {.path = "k.cl", .options = options, .n_options = 1};

    rig_open(&r);
    job.text = kernel_with(r.arena, wrong[_i]);
    ck_assert_int_eq(fe_compile(&job, r.arena, &u, &few), VPU_ERR_COMPILE);
    job.text = arena_printf(r.arena, "%s%s", job.text, all_names(r.arena));
    ck_assert_int_eq(fe_compile(&job, r.arena, &u, &all), VPU_ERR_COMPILE);
    ck_assert_str_eq(few.msg, all.msg);
    rig_close(&r);
}
END_TEST

/* Each name alone is enough for its function. */
START_TEST(a_name_brings_its_function)
{
    static const char *const calls[] = {
        "async_work_group_copy(l, g, 4, 0);",
        "async_work_group_strided_copy(l, g, 4, 2, 0);",
        "WorkGroupDmaCreateTransaction(g, l, 16, 0);",
        "WorkGroupDmaCreateStrideTransaction(g, l, 8, 8, 8, 8, 16, 0);",
        "WorkGroupDmaCreate3DTransaction(g, l, 8, 8, 8, 8, 1, 8, 8, 16, 0);",
        "async_work_group_copy_2D2D(l, g, 2, 2, 0, 0, 0);",
        "async_work_group_copy_3D3D(l, g, 2, 2, 0, 0, 1, 0, 0, 0);",
        "float p[4]; WorkItemDmaCreateTransaction(g, p, 16, 0);",
        "float p[4]; WorkItemDmaCreateStrideTransaction(g, p, 8, 8, 8, 8, 16,"
        " 0);",
        "float p[4]; WorkItemDmaCreate3DTransaction(g, p, 8, 8, 8, 8, 1, 8, 8,"
        " 16, 0);"};
    rig r;
    fe_unit u;
    fe_job job = {.path = "k.cl"};

    rig_open(&r);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        job.text = kernel_with(r.arena, calls[i]);
        ck_assert_msg(!fe_compile(&job, r.arena, &u, &r.err), "%s: %s",
                      calls[i], r.err.msg);
    }
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("prelude");
    TCase *c = tcase_create("prelude");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, a_function_may_be_named_in_any_way, 0, N_WAYS);
    tcase_add_loop_test(c, a_message_is_that_of_a_kernel_with_everything, 0,
                        sizeof wrong / sizeof *wrong);
    tcase_add_test(c, a_name_brings_its_function);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
