/* A file of many layers, whose kernels vpu lint compiles side by side: what it
 * says comes in the order of the file, whatever ended first. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "tests/support/terminal.h"

enum { N_LAYERS = 9 };

static terminal p;

static void setup(void)
{
    terminal_open(&p);
}

/* Layers and their kernels, each with a warning of its number and an argument
 * nobody binds. The kernels of low number take longer to compile. */
static void write_layers(void)
{
    str xml = {0};

    for (int i = 0; i < N_LAYERS; i++) {
        str cl = {0};

        str_printf(&xml,
                   "<CustomLayer name=\"L%d\" type=\"MVCL\" version=\"1\">\n"
                   "<Kernel entry=\"k%d\"><Source filename=\"k%d.cl\"/>\n"
                   "<Parameters>\n"
                   "<Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
                   "format=\"BFYX\"/>\n"
                   "</Parameters>\n"
                   "<WorkSizes dim=\"output,0\" global=\"X\" local=\"1\"/>\n"
                   "</Kernel></CustomLayer>\n",
                   i, i, i);
        str_printf(&cl,
                   "#warning number %d\n"
                   "__kernel void k%d(__global half *restrict dst, int n)\n"
                   "{\n    float sum = 0;\n",
                   i, i);
        for (int k = 0; k < 8 * (N_LAYERS - i); k++)
            str_printf(&cl, "    sum = sin(sum + %d.5f);\n", k);
        str_printf(&cl, "    dst[get_global_id(0)] = sum + n;\n}\n");
        terminal_text(&p, arena_printf(p.arena, "k%d.cl", i), str_text(&cl));
        str_free(&cl);
    }
    terminal_text(&p, "l.xml", str_text(&xml));
    str_free(&xml);
}

/* How many of the layers' warnings are there, in order and alone. */
static int n_warnings(void)
{
    const char *at = p.err;
    int n = 0;

    while ((at = strstr(at, "number "))) {
        char *end;
        long found = strtol(at + strlen("number "), &end, 10);

        at = end;
        /* clang shows the line below its message, too. */
        if (found == n - 1)
            continue;
        ck_assert_msg(found == n, "%ld after %d:\n%s", found, n, p.err);
        n++;
    }
    return n;
}

START_TEST(what_is_said_comes_in_order)
{
    const char *at;

    write_layers();
    terminal_run(&p, "lint l.xml --no-cache --checks arg-missing");
    ck_assert_msg(p.status == 1, "%d\n%s%s", p.status, p.out, p.err);
    ck_assert_int_eq(n_warnings(), N_LAYERS);
    at = p.out;
    for (int i = 0; i < N_LAYERS; i++) {
        const char *name = arena_printf(p.arena, "of kernel 'k%d'", i);
        const char *found = strstr(at, name);

        ck_assert_msg(found, "no %s behind the one before:\n%s", name, p.out);
        at = found;
    }
    ck_assert_ptr_nonnull(
        strstr(p.out, arena_printf(p.arena, "\n%d findings\n", (int)N_LAYERS)));
}
END_TEST

/* A missing file is noticed at once, the kernel before it takes its time. */
START_TEST(the_first_error_of_the_file_is_told)
{
    write_layers();
    terminal_text(&p, "k2.cl",
                  "#warning number 2\n"
                  "__kernel void k2(__global half *dst) { dst[0] = mine; }\n");
    terminal_run(&p, "lint l.xml --no-cache --source-dir .");
    ck_assert_msg(p.status == 2 && strstr(p.err, "k2.cl:2:") &&
                      strstr(p.err, "'mine'"),
                  "%d\n%s%s", p.status, p.out, p.err);
    ck_assert_msg(n_warnings() == 3, "%s", p.err);
    ck_assert_int_eq(unlink(arena_printf(p.arena, "%s/k3.cl", p.dir)), 0);
    terminal_run(&p, "lint l.xml --no-cache");
    ck_assert_msg(p.status == 2 && strstr(p.err, "'mine'"), "%s", p.err);
    ck_assert_ptr_null(strstr(p.err, "k3.cl"));
}
END_TEST

static void teardown(void)
{
    terminal_close(&p);
}

int main(void)
{
    Suite *s = suite_create("lint stages");
    TCase *c = tcase_create("stages");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, what_is_said_comes_in_order);
    tcase_add_test(c, the_first_error_of_the_file_is_told);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? 1 : 0;
}
