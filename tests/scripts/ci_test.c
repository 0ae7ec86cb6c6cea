/* The templates of docs/ci: their shell steps, taken out of the files as they
 * stand there, run on a layer that vpu init has made: right, wrong, slow, and
 * broken. What only a CI system can do is looked at as far as it is text.
 *
 * A step is what follows a line "# step: NAME": in YAML the block behind the
 * next line, which ends in "|", in a Containerfile the lines of a RUN. */
#include <check.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/terminal.h"

static terminal p;
static char *root;

static void setup(void)
{
    root = realpath(".", NULL);
    ck_assert_ptr_nonnull(root);
    terminal_open(&p);
}

static void teardown(void)
{
    terminal_close(&p);
    free(root);
}

/* --- taking steps out ----------------------------------------------------- */

static const char *const yamls[] = {"github.yml", "gitlab.yml"};
enum { N_YAMLS = 2 };
static const char container[] = "Containerfile";

static const char *template_of(const char *name)
{
    vpu_error err;
    size_t n;
    char *text;

    ck_assert_msg(!file_read(arena_printf(p.arena, "%s/docs/ci/%s", root, name),
                             1 << 16, p.arena, &text, &n, &err),
                  "%s", err.msg);
    return text;
}

static const char *line_after(const char *at)
{
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

/* Lines that are indented more than the one with the bar. */
static const char *block_of(const char *at)
{
    size_t outer = strspn(at, " "), end = strcspn(at, "\n");
    size_t inner;
    str s = {.arena = p.arena};

    ck_assert_msg(at[end - 1] == '|', "no block: %.*s", (int)end, at);
    at = line_after(at);
    inner = strspn(at, " ");
    ck_assert_uint_gt(inner, outer);
    for (; strspn(at, " ") >= inner && *at; at = line_after(at)) {
        size_t n = strcspn(at, "\n");

        str_add(&s, at + inner, n - inner);
        str_puts(&s, "\n");
    }
    return str_text(&s);
}

static const char *run_of(const char *at)
{
    str s = {.arena = p.arena};

    ck_assert_msg(!strncmp(at, "RUN ", 4), "%.40s", at);
    for (at += 4;; at = line_after(at)) {
        size_t n = strcspn(at, "\n");

        str_add(&s, at, n + 1);
        if (!n || at[n - 1] != '\\')
            return str_text(&s);
    }
}

static const char *step(const char *file, const char *name)
{
    const char *at =
        strstr(template_of(file), arena_printf(p.arena, "# step: %s\n", name));

    ck_assert_msg(at != NULL, "%s has no step %s", file, name);
    at = line_after(at);
    return file == container ? run_of(at) : block_of(at);
}

/* "LAYER: my_layer # …": up to the comment. */
static const char *variable(const char *file, const char *name)
{
    const char *at =
        strstr(template_of(file), arena_printf(p.arena, "  %s: ", name));
    size_t n;

    ck_assert_ptr_nonnull(at);
    at += strlen(name) + 4;
    n = strcspn(at, "#\n");
    while (n && at[n - 1] == ' ')
        n--;
    return arena_strndup(p.arena, at, n);
}

/* --- running them --------------------------------------------------------- */

static const char *output;

static int shell(const char *script)
{
    char *out = arena_push(p.arena, 1 << 15, 1, 1);
    FILE *f;
    int st;

    terminal_text(&p, "script", script);
    f = popen(arena_printf(p.arena,
                           "cd %s && PATH=%s/bin:$PATH LAYER='%s' WORDS='%s' "
                           "sh -e script 2>&1",
                           p.dir, p.dir, variable(yamls[0], "LAYER"),
                           variable(yamls[0], "WORDS")),
              "r");
    ck_assert_ptr_nonnull(f);
    out[fread(out, 1, (1 << 15) - 1, f)] = 0;
    st = pclose(f);
    output = out;
    return WIFEXITED(st) ? WEXITSTATUS(st) : 255;
}

static void step_is(const char *file, const char *name, int status)
{
    int found = shell(step(file, name));

    ck_assert_msg(found == status, "%s, step %s: status %d, not %d:\n%s", file,
                  name, found, status, output);
}

static void edit(const char *command)
{
    int status = shell(command);

    ck_assert_msg(!status, "%s: %s", command, output);
}

/* A repository with the layer; vpu, and a Python that has NumPy, on the PATH.
 */
static void repository(void)
{
    const char *vpu = getenv("VPU"), *layer = variable(yamls[0], "LAYER");

    edit(arena_printf(
        p.arena,
        "mkdir bin; ln -s \"$(realpath '%s/%s')\" bin/vpu\n"
        "python3 -c 'import numpy' || ln -s /usr/bin/python3 bin/python3\n"
        "vpu init %s",
        vpu && *vpu == '/' ? "" : root, vpu ? vpu : "build/vpu", layer));
    ck_assert_msg(
        strstr(output, arena_printf(p.arena, "vpu check layer.xml %s\n",
                                    variable(yamls[0], "WORDS"))),
        "WORDS are others than: %s", output);
}

static void suite_says(const char *counts)
{
    size_t n;
    const char *text = terminal_bytes(&p, "suite.xml", &n);
    xmlDoc *doc = xmlReadMemory(text, (int)n, "suite.xml", NULL, 0);

    ck_assert_msg(doc != NULL, "not well-formed: %s", text);
    ck_assert_str_eq((const char *)xmlDocGetRootElement(doc)->name,
                     "testsuite");
    ck_assert_msg(strstr(text, counts) != NULL, "no %s in %s", counts, text);
    xmlFreeDoc(doc);
}

/* How many results the file has; of the first, rule and file. */
static size_t sarif(const char *name, const char *rule)
{
    size_t n;
    const char *text = terminal_bytes(&p, name, &n), *uri;
    json_error_t why;
    json_t *all = json_loadb(text, n, 0, &why), *results, *one;

    ck_assert_msg(all != NULL, "%s: %s", name, why.text);
    ck_assert_str_eq(json_string_value(json_object_get(all, "version")),
                     "2.1.0");
    results = json_object_get(json_array_get(json_object_get(all, "runs"), 0),
                              "results");
    ck_assert(json_is_array(results));
    n = json_array_size(results);
    if (n) {
        one = json_array_get(results, 0);
        ck_assert_str_eq(json_string_value(json_object_get(one, "ruleId")),
                         rule);
        ck_assert(!json_unpack(one, "{s:[{s:{s:{s:s}}}]}", "locations",
                               "physicalLocation", "artifactLocation", "uri",
                               &uri));
        ck_assert_str_eq(uri, "my_layer/my_layer.cl");
    }
    json_decref(all);
    return n;
}

/* --- the steps ------------------------------------------------------------ */

START_TEST(a_layer_as_it_is_written)
{
    const char *file = yamls[_i];

    repository();
    step_is(file, "reference", 0);
    step_is(file, "suite", 0);
    suite_says("tests=\"1\" failures=\"0\" errors=\"0\"");
    step_is(file, "findings", 0);
    ck_assert_uint_eq(sarif("sarif/check.sarif", ""), 0);
    ck_assert_uint_eq(sarif("sarif/lint.sarif", ""), 0);
}
END_TEST

static const struct {
    const char *edit; /* of the layer's folder */
    int status;       /* of step suite */
    const char *counts, *why;
} broken[] = {
    {"sed -i 's/v < 0/v <= 1/' my_layer/my_layer.cl", 1,
     "tests=\"1\" failures=\"1\" errors=\"0\"", "DIFFERENT"},
    {"sed -i 's/--cycle-budget .*/--cycle-budget 15000/' "
     "my_layer/my_layer.case",
     1, "tests=\"1\" failures=\"1\" errors=\"0\"", "the budget is 15000"},
    /* Slower by itself: each item does its work many times over. */
    {"sed -i 's/ dst\\[i\\] = .*/ for (int k = 0; k < 200; k++) { barrier("
     "CLK_LOCAL_MEM_FENCE); dst[i] = (half)(v < 0 ? v * slope : v); }/' "
     "my_layer/my_layer.cl",
     1, "tests=\"1\" failures=\"1\" errors=\"0\"", "the budget is"},
    {"sed -i 's/dst.i. =/dst[i] ==/;s/;$/ ;;; (/' my_layer/my_layer.cl", 2,
     "tests=\"1\" failures=\"0\" errors=\"1\"", "FAILED"},
};
enum { N_BROKEN = sizeof broken / sizeof *broken };

START_TEST(a_layer_that_is_not)
{
    repository();
    edit(broken[_i].edit);
    for (int k = 0; k < N_YAMLS; k++) {
        step_is(yamls[k], "suite", broken[_i].status);
        ck_assert_msg(strstr(output, broken[_i].why), "%s", output);
        suite_says(broken[_i].counts);
    }
}
END_TEST

START_TEST(findings_fail)
{
    const char *file = yamls[_i];

    repository();
    edit("sed -i 's/width + x;/width + x + 1;/' my_layer/my_layer.cl");
    step_is(file, "findings", 1);
    ck_assert_uint_gt(sarif("sarif/check.sarif", "bounds"), 0);
    edit("sed -i 's/width + x + 1;/width + x;/;s/ restrict / /;s/"
         "\\*restrict/*/g' my_layer/my_layer.cl");
    step_is(file, "findings", 1);
    ck_assert_uint_eq(sarif("sarif/check.sarif", ""), 0);
    ck_assert_uint_gt(sarif("sarif/lint.sarif", "missing-restrict"), 0);
}
END_TEST

START_TEST(golden_files_of_another_reference)
{
    repository();
    edit("sed -i 's/^SLOPE = .*/SLOPE = 0.25/' my_layer/reference.py");
    step_is(yamls[_i], "reference", 1);
}
END_TEST

/* apt-get notes what it is asked for: packages that debian/control has. */
START_TEST(what_is_installed)
{
    static const char *const files[] = {"github.yml", "gitlab.yml", container};
    const char *file = files[_i];
    size_t n;
    const char *asked;

    edit("mkdir bin packages\n"
         "printf '#!/bin/sh\\necho \"$@\" >>apt.log\\n' >bin/apt-get\n"
         "printf '#!/bin/sh\\n' >bin/rm\n"
         "chmod +x bin/apt-get bin/rm\n"
         "touch packages/vpusim_1_amd64.deb packages/libvpusim0_1_amd64.deb "
         "packages/libvpusim-dev_1_amd64.deb");
    step_is(file == files[2] ? container : file, "install", 0);
    asked = terminal_bytes(&p, "apt.log", &n);
    ck_assert_str_eq(asked, "update\n"
                            "install -y --no-install-recommends python3-numpy "
                            "./packages/vpusim_1_amd64.deb "
                            "./packages/libvpusim0_1_amd64.deb\n");
    edit(arena_printf(p.arena,
                      "grep -qx 'Package: vpusim' %s/debian/control && grep "
                      "-qx 'Package: libvpusim0' %s/debian/control",
                      root, root));
}
END_TEST

/* --- the files ------------------------------------------------------------ */

START_TEST(both_systems_run_the_same)
{
    static const char *const names[] = {"install", "reference", "suite",
                                        "findings"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_str_eq(step(yamls[0], names[i]), step(yamls[1], names[i]));
    ck_assert_str_eq(variable(yamls[0], "LAYER"), variable(yamls[1], "LAYER"));
    ck_assert_str_eq(variable(yamls[0], "WORDS"), variable(yamls[1], "WORDS"));
}
END_TEST

/* What the steps write is what is uploaded; every command is in a step that
 * runs here. */
START_TEST(what_is_uploaded)
{
    const char *github = template_of(yamls[0]), *gitlab = template_of(yamls[1]);
    unsigned n = 0;

    ck_assert_ptr_nonnull(strstr(github, "sarif_file: sarif\n"));
    ck_assert_ptr_nonnull(strstr(github, "            suite.xml\n"));
    ck_assert_ptr_nonnull(strstr(gitlab, "junit: suite.xml\n"));
    ck_assert_ptr_nonnull(strstr(gitlab, "- sarif/\n"));
    for (const char *at = github; (at = strstr(at, "run: |")); at++)
        n++;
    ck_assert_uint_eq(n, 4);
    n = 0;
    for (const char *at = gitlab; (at = strstr(at, "- |\n")); at++)
        n++;
    ck_assert_uint_eq(n, 4);
    for (int i = 0; i < N_YAMLS; i++)
        ck_assert_ptr_null(strchr(template_of(yamls[i]), '\t'));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ci");
    TCase *c = tcase_create("templates");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 180);
    tcase_add_loop_test(c, a_layer_as_it_is_written, 0, N_YAMLS);
    tcase_add_loop_test(c, a_layer_that_is_not, 0, N_BROKEN);
    tcase_add_loop_test(c, findings_fail, 0, N_YAMLS);
    tcase_add_loop_test(c, golden_files_of_another_reference, 0, N_YAMLS);
    tcase_add_loop_test(c, what_is_installed, 0, 3);
    tcase_add_test(c, both_systems_run_the_same);
    tcase_add_test(c, what_is_uploaded);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
