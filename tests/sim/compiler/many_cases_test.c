/* Switches of very many cases: results against C on both engines, after the
 * same cycles, and code that scan.h finds nothing wrong in. */
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/rig.h"
#include "tests/support/scan.h"

enum { ITEMS = 4096, LOCAL = 64, WORDS = 61 };

/* Of what LLVM compiles well, of what it finds no more registers for, and of
 * what is too large for its good code. */
static const int counts[] = {40, 400, 2200};

/* Some cases share their statements, some go on into the next. */
static bool is_shared(int k)
{
    return k % 9 == 4;
}

static bool goes_on(int k)
{
    return k % 11 == 3;
}

static void write_kernel(str *s, int n)
{
    str_printf(s, "__kernel void k(__global const int *restrict in, __global "
                  "const int *restrict word, __global int *restrict out)\n{\n"
                  "    int i = get_global_id(0), v = in[i], r = v ^ 5;\n"
                  "    switch (v) {\n");
    for (int k = 0; k < n; k++) {
        str_printf(s, "    case %d:\n", k * 3 - 17);
        if (is_shared(k))
            continue;
        str_printf(s, "        r = r * %d + word[%d];\n", 2 * k + 3,
                   k * 5 % WORDS);
        if (!goes_on(k))
            str_puts(s, "        break;\n");
    }
    str_puts(s, "        break;\n    default: r -= word[2];\n    }\n"
                "    out[i] = r;\n}\n");
}

static uint32_t expected(int n, int32_t v, const int32_t *word)
{
    uint32_t r = (uint32_t)v ^ 5;
    int k = (v + 17) / 3;

    if (v < -17 || (v + 17) % 3 || k >= n)
        return r - (uint32_t)word[2];
    for (; k < n; k++) {
        if (is_shared(k))
            continue;
        r = r * (uint32_t)(2 * k + 3) + (uint32_t)word[k * 5 % WORDS];
        if (!goes_on(k))
            break;
    }
    return r;
}

START_TEST(many_cases)
{
    int n = counts[_i];
    str source = {0};
    int32_t *in, *word;
    uint32_t *out;
    const char *wrong;
    rig r;

    rig_open(&r);
    write_kernel(&source, n);
    rig_compile(&r, str_text(&source), "k");
    wrong = scan_object(r.kernel->object, r.kernel->object_bytes,
                        r.kernel->args_bytes, r.arena);
    ck_assert_msg(!wrong, "%d cases: %s", n, wrong);
    in = rig_buffer(&r, ITEMS * sizeof *in);
    word = rig_buffer(&r, WORDS * sizeof *word);
    out = rig_buffer(&r, ITEMS * sizeof *out);
    for (uint32_t k = 0; k < ITEMS; k++)
        in[k] = (int32_t)(rig_noise(k) % (uint32_t)(n * 3 + 40)) - 37;
    for (uint32_t k = 0; k < WORDS; k++)
        word[k] = (int32_t)rig_noise(k + 99999);
    rig_run_1d(&r, ITEMS / LOCAL, LOCAL);
    for (uint32_t k = 0; k < ITEMS; k++)
        ck_assert_msg(out[k] == expected(n, in[k], word),
                      "%d cases, case %d: %u instead of %u", n, in[k], out[k],
                      expected(n, in[k], word));
    str_free(&source);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernels: many cases");
    TCase *c = tcase_create("switches");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, many_cases, 0, sizeof counts / sizeof *counts);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
