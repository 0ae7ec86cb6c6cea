/* The scripts that judge: one that overlooks something says yes for ever. Each
 * runs on a small tree of its own. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

/* Both streams of a shell command in the directory. */
static const char *shell(const char *command, int *status)
{
    char *line =
        arena_printf(p.arena, "{ cd %s && %s ; } 2>&1", p.dir, command);
    char *out = arena_push(p.arena, 1 << 14, 1, 1);
    FILE *f = popen(line, "r");
    int st;

    ck_assert_ptr_nonnull(f);
    out[fread(out, 1, (1 << 14) - 1, f)] = 0;
    st = pclose(f);
    *status = WIFEXITED(st) ? WEXITSTATUS(st) : 255;
    return out;
}

/* scripts/check-citations reads this file, too: no name of a page in it. */
#define MD ".md"

/* --- check-layers -------------------------------------------------------- */

static const struct {
    const char *line;
    bool uphill;
} includes[] = {
    {"#include \"base/err.h\"", false},
    {"#include \"near.h\"", false},
    {"#include <sys/stat.h>", false},
    {"#include <stdio.h>", false},
    {"#include <base/err.h>", false},
    {"#include \"runtime/graph/graph.h\"", true},
    {"#include <runtime/graph/graph.h>", true},
    {"  #  include <sim/compiler/kernel.h>", true},
    {"#\tinclude\t\"isa/isa.h\"", true},
    {"#include <tests/support/rig.h>", true},
};

START_TEST(layers)
{
    const char *out;
    int status;

    shell("mkdir -p isa base/trace visualizer runtime", &status);
    ck_assert_int_eq(status, 0);
    terminal_text(&p, "base/trace/new.h",
                  arena_printf(p.arena, "%s\n", includes[_i].line));
    out =
        shell(arena_printf(p.arena, "%s/scripts/check-layers", root), &status);
    ck_assert_msg(status == includes[_i].uphill, "%s: status %d, %s",
                  includes[_i].line, status, out);
    ck_assert_msg(!strstr(out, "base/trace/new.h: includes") ==
                      !includes[_i].uphill,
                  "%s: %s", includes[_i].line, out);
}
END_TEST

/* --- check-prefixes ------------------------------------------------------ */

/* Two folders, a with prefix one, b with prefix two; what stands in a header of
 * a, and words of the complaint about it; NULL = it is fine. */
static const struct {
    const char *text, *complaint;
} prefixes[] = {
    {"typedef int one;", NULL},
    {"typedef struct one_t { int two_f; } one_t;", NULL},
    {"static inline int one_f(int two_x) { return two_x; }", NULL},
    {"int one_f(void (*two_x)(void));", NULL},
    {"typedef struct { union { int x; }; } three;", "a/new.h: three has no"},
    {"struct three { int x; };", "a/new.h: three has no"},
    {"enum three { ONE_X };", "a/new.h: three has no"},
    {"typedef int (*three)(int);", "a/new.h: three has no"},
    {"typedef int three(int one_x);", "a/new.h: three has no"},
    {"int ones(int x);", "a/new.h: ones has no"},
    {"int two_f(int x);", "a/new.h: two_f has no"},
    {"static inline int three(void) { return 0; }", "a/new.h: three has no"},
    {"extern const int three[];", "a/new.h: three has no"},
    {"/* int three(void); */\n#define THREE int three(void);", NULL},
};

static const char *check_prefixes(const char *table, const char *text,
                                  int *status)
{
    shell("mkdir -p docs a b", status);
    ck_assert_int_eq(*status, 0);
    terminal_text(&p, "docs/layers" MD, table);
    terminal_text(&p, "a/old.h", "int one_old(void);\n");
    terminal_text(&p, "b/old.h", "int two_old(void);\n");
    terminal_text(&p, "a/new.h", text);
    return shell(arena_printf(p.arena, "%s/scripts/check-prefixes", root),
                 status);
}

START_TEST(prefix)
{
    const char *want = prefixes[_i].complaint, *out;
    int status;

    out = check_prefixes("| `a` | job | `one` | |\n| `b` | job | `two` | |\n",
                         prefixes[_i].text, &status);
    ck_assert_msg(status == !!want, "%s: status %d, %s", prefixes[_i].text,
                  status, out);
    ck_assert_msg(want ? strstr(out, want) != NULL : !*out, "%s: %s",
                  prefixes[_i].text, out);
}
END_TEST

/* Tables: a prefix with two owners, one below another folder's, one that no
 * name has, and no table at all. */
static const struct {
    const char *table, *complaint;
} owners[] = {
    {"| `a` | job | `one` | |\n| `b` | job | `one two` | |\n",
     "prefix one of b is one of a, too"},
    {"| `a` | job | `one` | |\n| `b` | job | `one_more two` | |\n",
     "prefix one_more of b is one of a, too"},
    {"| `a` | job | `one` | |\n| `b` | job | `three two` | |\n",
     "no name of b begins with its prefix three"},
    {"", "no table"},
};

START_TEST(owner)
{
    const char *out;
    int status;

    out = check_prefixes(owners[_i].table, "int one_f(void);", &status);
    ck_assert_int_eq(status, 1);
    ck_assert_msg(strstr(out, owners[_i].complaint) != NULL, "%s: %s",
                  owners[_i].table, out);
}
END_TEST

/* --- check-citations ----------------------------------------------------- */

/* One file of a small tree, and words of the one complaint about it; NULL = it
 * is fine. The script reads this file, too, so its texts have "@" for ".md" and
 * "~" for nothing. */
static const struct {
    const char *file, *text, *complaint;
} citations[] = {
    {"a.c", "/* docs/page@ */", NULL},
    {"a.c", "/* docs/page@, \"Left and right\". */", NULL},
    {"a.c", "/* docs/page@, \"Left\n * and right\". */", NULL},
    {"a.c", "/* docs/page@, \"Blobs\". */", NULL},
    {"a.c", "return \"see docs/page@, \\\"Blobs\\\"\";", NULL},
    {"a.c", "/* docs/page@, \"Right\". */", "has no such section"},
    {"a.c", "/* docs/page@,\n * \"Right\". */", "has no such section"},
    {"a.c", "/* docs/page@, \"Fenced\". */", "has no such section"},
    {"a.c", "/* docs/gone@. */", "names docs/gone" MD ", which does not"},
    {"a.c", "/* it ends in gone@", "names gone" MD ", which does not"},
    {"a.c", "/* docs/page@ 3.2 */", "by its number"},
    {"a.c", "/* docs/page@ sect~ion 13 */", "by its number"},
    {"a.c", "/* Sect~ion 4.6. */", "cites a section by its number"},
    {"a.c", "/* as dumps of the reference~. */", "not in the tree"},
    {"a.c", "/* its slots (~3.4). */", "by its number alone"},
    {"a.c", "x = floor(2.5) + g(3);", NULL},
    {"a.c", "/* section 0 is empty */", NULL},
    {"a.def", "OP(a, INF(\"hardware: CMX load\"))", NULL},
    {"a.def", "OP(a, INF(\"hardware: SHAVE units\"))", NULL},
    {"a.def", "OP(a, DOC(\"hardware: repeat loop; since M1\"))", NULL},
    {"a.def", "OP(a, INF(\"hardware: load\"))", "no section, row or bold"},
    {"a.def", "OP(a, INF(\"3.4 load\"))", "name a row of docs/hardware" MD},
    {"docs/a" MD, "see `docs/page@`, \"Blobs\"", NULL},
    {"docs/a" MD, "see `docs/page@`,\n\"Right\"", "has no such section"},
    {"docs/a" MD, "see `docs/page@` 3.2", "by its number"},
    {"docs/a" MD, "[it](page@#left-and-right)", NULL},
    {"docs/a" MD, "[it](page@#blobs-vpu-blob-make)", NULL},
    {"docs/a" MD, "[it](../a.txt) and [that](https://example.org/#x)", NULL},
    {"docs/a" MD, "[it](#twice-1)\n# Twice\n# Twice", NULL},
    {"docs/a" MD, "[it](#twice-1)\n# Twice", "has no such heading"},
    {"docs/a" MD, "[it](page@#right)", "has no such heading"},
    {"docs/a" MD, "![it](gone.png)", "links to gone.png, which does not"},
    {"docs/a" MD, "`[it](gone.png)`", NULL},
    {"docs/a" MD, "in `base/a.h`", "names base/a.h, which does not"},
    {"docs/a" MD, "in `base/err.h`", NULL},
    {"sim/check.def", "CHECK(A, \"copy_it (WaitForDmaEvents) before\")",
     "names WaitForDmaEvents(), which include/vpusim/kernel.h does not"},
    {"sim/check.def", "CHECK(A, \"wait_group_events before\")", NULL},
    {"runtime/a.c", "log(\"async_work_group_copy_4D\");",
     "names async_work_group_copy_4D()"},
    {"docs/a" MD, "`WorkGroupDmaCopyTransaction`",
     "names WorkGroupDmaCopyTransaction()"},
};

START_TEST(citation)
{
    const char *out, *file = citations[_i].file;
    const char *want = citations[_i].complaint;
    int status;

    shell("mkdir -p docs base include/vpusim && touch a.txt base/err.h",
          &status);
    ck_assert_int_eq(status, 0);
    terminal_text(&p, "include/vpusim/kernel.h",
                  "#define wait_group_events __wait\n");
    terminal_text(&p, "docs/page" MD,
                  "# Left *and* right\n```\n# Fenced\n```\n"
                  "## Blobs: `vpu blob make`\n");
    terminal_text(&p, "docs/hardware" MD,
                  "## SHAVE units\n* **repeat loop**: yes\n"
                  "| CMX load | 7 |\n");
    terminal_text(&p, file, citations[_i].text);
    shell(arena_printf(p.arena, "sed -i 's/@/.md/g;s/~//g' %s", file), &status);
    ck_assert_int_eq(status, 0);
    out = shell(arena_printf(p.arena, "%s/scripts/check-citations", root),
                &status);
    ck_assert_msg(status == !!want, "%s: status %d, %s", citations[_i].text,
                  status, out);
    ck_assert_msg(want ? strstr(out, want) != NULL : !*out, "%s: %s",
                  citations[_i].text, out);
}
END_TEST

/* --- docs ---------------------------------------------------------------- */

/* A page of the small tree; the exit status of --check and words of its output;
 * the page after it was written again, NULL = that fails. */
static const struct {
    const char *page;
    int status;
    const char *says, *again;
} pages[] = {
    {"<!-- output: echo 1 -->\n```\n1\n```\nend\n", 0, "",
     "<!-- output: echo 1 -->\n```\n1\n```\nend\n"},
    {"<!-- output: echo 1 -->\n```\n2\n3\n```\nend\n", 1, "-3\n",
     "<!-- output: echo 1 -->\n```\n1\n```\nend\n"},
    {"<!-- output: echo 1 -->\n```\n```\n", 1, "+1\n",
     "<!-- output: echo 1 -->\n```\n1\n```\n"},
    {"<!-- output: echo\n  build/vpu -->\n```\n$ vpu\n```\n", 1, "+./other\n",
     "<!-- output: echo\n  build/vpu -->\n```\n$ vpu\n./other\n```\n"},
    {"<!-- output: echo '| 1 |' -->\n| 2 |\n| 3 |\n\nend\n", 1, "-| 3 |\n",
     "<!-- output: echo '| 1 |' -->\n| 1 |\n\nend\n"},
    {"```\nunmarked\n```\n", 0, "", "```\nunmarked\n```\n"},
    {"<!-- output: echo 1; exit 3 -->\n```\n1\n```\n", 1, "ended with", NULL},
    {"<!-- output: true -->\n```\n1\n```\n", 1, "0 lines", NULL},
    {"<!-- output: echo 1 -->\ntext\n", 1, "no block", NULL},
    {"<!-- output: echo 1 -->\n```\n1\n", 1, "has no end", NULL},
};

START_TEST(page)
{
    const char *out;
    int status;

    shell(arena_printf(p.arena,
                       "mkdir docs scripts && cp %s/scripts/docs scripts",
                       root),
          &status);
    ck_assert_int_eq(status, 0);
    terminal_text(&p, "README.md", "# Nothing marked\n");
    terminal_text(&p, "docs/a" MD, pages[_i].page);
    out = shell("scripts/docs --check ./other", &status);
    ck_assert_msg(status == pages[_i].status, "%s: status %d, %s",
                  pages[_i].page, status, out);
    ck_assert_msg(strstr(out, pages[_i].says) != NULL, "%s: %s", pages[_i].page,
                  out);
    ck_assert_str_eq(shell("cat docs/a" MD, &status), pages[_i].page);
    shell("scripts/docs ./other", &status);
    ck_assert_int_eq(status, pages[_i].again ? 0 : 1);
    ck_assert_str_eq(shell("cat docs/a" MD, &status),
                     pages[_i].again ? pages[_i].again : pages[_i].page);
}
END_TEST

/* The program of the build that is tested. */
static const char *tested_vpu(void)
{
    const char *vpu = getenv("VPU");

    return vpu && *vpu ? vpu : arena_printf(p.arena, "%s/build/vpu", root);
}

/* The repository's own pages. */
START_TEST(pages_are_current)
{
    const char *out;
    int status;

    out = shell(arena_printf(p.arena, "cd %s && scripts/docs --check %s", root,
                             tested_vpu()),
                &status);
    ck_assert_msg(!status, "make docs writes them again:\n%s", out);
}
END_TEST

/* --- run-tests ----------------------------------------------------------- */

static const struct {
    const char *tests, *want;
    int status;
} runs[] = {
    {"./whole", "3 passed, 0 failed, 0 skipped", 0},
    {"./whole ./part", "5 passed, 0 failed, 7 skipped", 0},
    {"./whole ./bad", "5 passed, 1 failed, 0 skipped", 1},
    {"./part ./gone", "2 passed, 1 failed, 7 skipped", 1},
    {"./late", "3 passed, 1 failed, 0 skipped", 1},
};

/* A test program that prints this and ends with that status. */
static void program(const char *name, const char *text, int status)
{
    int st;

    terminal_text(&p, name,
                  arena_printf(p.arena,
                               "#!/bin/sh\ncat <<EOF\n%s\nEOF\nexit %d\n", text,
                               status));
    shell(arena_printf(p.arena, "chmod +x %s", name), &st);
    ck_assert_int_eq(st, 0);
}

START_TEST(sums)
{
    const char *out;
    int status;

    program("whole", "100%: Checks: 3, Failures: 0, Errors: 0", 0);
    program("part",
            "100%: Checks: 2, Failures: 0, Errors: 0\n"
            "skipped 4: no gdb\nskipped 3: no display\nnot skipped 9: a word",
            0);
    program("bad", "66%: Checks: 3, Failures: 1, Errors: 0", 1);
    program("late", "100%: Checks: 3, Failures: 0, Errors: 0", 1);
    program("gone", "Killed", 137);
    out = shell(arena_printf(p.arena, "%s/scripts/run-tests o %s", root,
                             runs[_i].tests),
                &status);
    ck_assert_int_eq(status, runs[_i].status);
    ck_assert_msg(strstr(out, arena_printf(p.arena, "\n%s\n", runs[_i].want)) !=
                      NULL,
                  "'%s' is not in\n%s", runs[_i].want, out);
}
END_TEST

/* --- bench-docs ----------------------------------------------------------- */

static const char output_of_bench[] =
    "{\"slices\": 1000, \"open_s\": 0.25, \"memory_mib\": 7, "
    "\"frame_p99_ms\": 1.5}\n"
    "                      ours   theirs\n"
    "a kernel               2.50     9.00\n"
    "vpu: a line of the program's own\n"
    "b kernel               3.50     8.00\n"
    "\n"
    "the other table        ours\n"
    "c kernel               4.50\n"
    "     100000 one-item groups   5.5 ms\n"
    "    1000000 one-item groups   6.5 ms\n";

/* Documents with tables of an older run, and a block that is none. */
static void write_documents(void)
{
    static const char *const others[] = {"README", "docs/speed", "docs/timing"};

    terminal_text(&p, "docs/viewer" MD,
                  "| 1,000 | 9.9 s | 9 MiB | 9.9 ms |\n| 2,000 | x |\n");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        terminal_text(&p, arena_printf(p.arena, "%s" MD, others[i]),
                      "```sh\nthe other table        ours\n```\n"
                      "\n```\n                      ours   theirs\n"
                      "a kernel               1.00     1.00\n```\nwords\n"
                      "```\n     100000 one-item groups   1.1 ms\n```\n");
}

static const char *bench_docs(const char *output, int *status)
{
    int made;

    shell("mkdir -p docs", &made);
    write_documents();
    terminal_text(&p, "output", output);
    return shell(arena_printf(p.arena, "%s/scripts/bench-docs output", root),
                 status);
}

START_TEST(tables_of_a_run)
{
    int status;
    const char *out = bench_docs(output_of_bench, &status);

    ck_assert_msg(!status, "%s", out);
    out = shell("cat docs/speed" MD " docs/viewer" MD, &status);
    ck_assert_str_eq(out, "```sh\nthe other table        ours\n```\n"
                          "\n```\n                      ours   theirs\n"
                          "a kernel               2.50     9.00\n"
                          "b kernel               3.50     8.00\n```\nwords\n"
                          "```\n     100000 one-item groups   5.5 ms\n"
                          "    1000000 one-item groups   6.5 ms\n```\n"
                          "| 1,000 | 0.2 s | 7 MiB | 1.5 ms |\n"
                          "| 2,000 | x |\n");
}
END_TEST

START_TEST(no_run_at_all)
{
    int status;
    const char *out = bench_docs("a kernel 2.50 9.00\n", &status);

    ck_assert_int_eq(status, 1);
    ck_assert_msg(strstr(out, "no table of this output") != NULL, "%s", out);
}
END_TEST

/* --- deps ---------------------------------------------------------------- */

/* An apt-get that another one keeps out for its first calls, or that finds no
 * package; it and its kin are the first of the path. */
static const char *install_with(const char *apt_get, int *status)
{
    static const char *const others[] = {"dpkg-query", "exit 1", "sudo",
                                         "exec \"$@\""};

    terminal_text(&p, "bin/apt-get",
                  arena_printf(p.arena, "#!/bin/sh\n%s\n", apt_get));
    for (int i = 0; i < 4; i += 2)
        terminal_text(&p, arena_printf(p.arena, "bin/%s", others[i]),
                      arena_printf(p.arena, "#!/bin/sh\n%s\n", others[i + 1]));
    return shell(arena_printf(p.arena,
                              "chmod +x bin/* && echo 0 >calls && "
                              "PATH=\"$PWD/bin:$PATH\" %s/scripts/deps",
                              root),
                 status);
}

static const struct {
    const char *apt_get;
    int status;
    const char *says, *says_not;
} installs[] = {
    {"exit 0", 0, "installing: gcc", "waiting"},
    {"n=$(($(cat calls) + 1)); echo $n >calls\n"
     "[ $n -gt 2 ] || { echo 'E: Could not get lock /var/lib/apt/lists/lock. "
     "It is held by process 7 (apt-get)' >&2; exit 100; }",
     0, "waiting for another apt-get", "failed"},
    {"[ $1 = update ] && exit\nn=$(($(cat calls) + 1)); echo $n >calls\n"
     "[ $n -gt 1 ] || { echo 'E: Unable to lock directory "
     "/var/cache/apt/archives/' >&2; exit 100; }",
     0, "waiting for another apt-get", "failed"},
    {"echo 'E: Unable to locate package gcc' >&2; exit 100", 1,
     "E: Unable to locate package gcc", "waiting"},
};

START_TEST(locks)
{
    int status;
    const char *out = install_with(installs[_i].apt_get, &status);

    ck_assert_msg(status == installs[_i].status, "%d: %s", status, out);
    ck_assert_msg(strstr(out, installs[_i].says) != NULL, "%s", out);
    ck_assert_msg(!strstr(out, installs[_i].says_not), "%s", out);
}
END_TEST

/* --- installing ---------------------------------------------------------- */

/* All that is needed is there: the samples' cases run from another folder; and
 * nothing of it stays. */
START_TEST(installed)
{
    static const char *const files[] = {
        "usr/bin/vpu",
        "usr/include/vpu_plugin.h",
        "usr/lib/vpusim/plugins/grn.so",
        "usr/share/vpusim/kernels/grn/layer.xml",
        "usr/share/doc/vpusim/LICENSE",
        "usr/share/doc/vpusim/examples/race.cl",
        "usr/lib/vpusim/libvpusim-opencl.so",
        "vendors/vpusim.icd",
        "rules/70-vpusim.rules"};
    const char *make =
        arena_printf(p.arena,
                     "make -s -C %s DESTDIR=$PWD/x PREFIX=/usr UDEVDIR=/rules "
                     "ICDDIR=/vendors",
                     root);
    int status;
    const char *out =
        shell(arena_printf(p.arena, "%s install 2>&1", make), &status);

    ck_assert_msg(!status, "%s", out);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        ck_assert_msg(terminal_has(&p, arena_printf(p.arena, "x/%s", files[i])),
                      "%s", files[i]);
    out = shell("x/usr/bin/vpu suite x/usr/share/vpusim/kernels --filter "
                "grn/grn-host 2>&1",
                &status);
    ck_assert_msg(!status && strstr(out, "1 equal"), "%s", out);
    out = shell(
        arena_printf(p.arena, "%s uninstall 2>&1 && find x -type f", make),
        &status);
    ck_assert_msg(!status && !strstr(out, "x/"), "%s", out);
}
END_TEST

/* A message names no file that is not installed. */
START_TEST(without_clang)
{
    int status;
    const char *out =
        shell(arena_printf(p.arena,
                           "PATH=/nowhere %s cc %s/kernels/grn/grn.cl "
                           "--output k.bin 2>&1",
                           tested_vpu(), root),
              &status);

    ck_assert_int_eq(status, 2);
    ck_assert_msg(strstr(out, "clang-19, which compiles kernels, is not "
                              "installed; expected it on the PATH") != NULL,
                  "%s", out);
}
END_TEST

/* What was compiled once runs without the compiler, for checking, too. */
static const char *const cached[] = {
    "run %s --layer GRN --shape in0=1x3x4x8 --param bias=1",
    "check %s --layer GRN --shape in0=1x3x4x8 --param bias=1", "lint %s"};

START_TEST(compiled_once)
{
    const char *words =
        arena_printf(p.arena, cached[_i],
                     arena_printf(p.arena, "%s/kernels/grn/layer.xml", root));
    const char *run = arena_printf(p.arena, "XDG_CACHE_HOME=$PWD/cache %s %s",
                                   tested_vpu(), words);
    int first, second, third;
    const char *with = shell(run, &first);
    const char *without =
        shell(arena_printf(p.arena, "PATH=/nowhere %s", run), &second);

    ck_assert_msg(first == second && !strcmp(with, without),
                  "%d: %s\nwithout clang %d: %s", first, with, second, without);
    with = shell(arena_printf(p.arena, "PATH=/nowhere %s --no-cache", run),
                 &third);
    ck_assert_msg(third == 2 || strstr(with, "not installed"), "%s", with);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("scripts");
    TCase *c = tcase_create("scripts");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 300);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, layers, 0, sizeof includes / sizeof *includes);
    tcase_add_loop_test(c, prefix, 0, sizeof prefixes / sizeof *prefixes);
    tcase_add_loop_test(c, owner, 0, sizeof owners / sizeof *owners);
    tcase_add_loop_test(c, citation, 0, sizeof citations / sizeof *citations);
    tcase_add_loop_test(c, page, 0, sizeof pages / sizeof *pages);
    tcase_add_test(c, pages_are_current);
    tcase_add_test(c, tables_of_a_run);
    tcase_add_test(c, no_run_at_all);
    tcase_add_loop_test(c, locks, 0, sizeof installs / sizeof *installs);
    tcase_add_test(c, installed);
    tcase_add_test(c, without_clang);
    tcase_add_loop_test(c, compiled_once, 0, 3);
    tcase_add_loop_test(c, sums, 0, sizeof runs / sizeof *runs);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
