/* vpu suite and vpu record as a user runs them: what cases may be, what comes
 * out of good, different and broken ones, and that nothing takes others along.
 */
#include <check.h>
#include <libxml/parser.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "tests/kernels/program.h"

static arena *mem;
static char *dir, *cwd;

static void setup(void)
{
    char path[4096];

    mem = arena_create(0);
    dir = program_temp_dir(mem);
    cwd = arena_strdup(mem, getcwd(path, sizeof path));
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(mem);
}

static void put(const char *name, const char *text)
{
    const char *path = file_join(mem, dir, name);
    vpu_error err;

    ck_assert(!file_mkdirs(file_dirname(mem, path), NULL));
    ck_assert_msg(!file_write(path, text, strlen(text), &err), "%s", err.msg);
}

/* A case of a small GRN and the words given. */
static void put_grn(const char *name, const char *words)
{
    put(name, arena_printf(mem,
                           "# a case\n%s/kernels/grn/layer.xml --layer GRN\n"
                           "--shape in0=1x3x4x8 --param bias=1.0 %s\n",
                           cwd, words));
}

static int suite(const char *a, const char *b)
{
    program_args p;

    program_args_init(&p, mem, "suite", dir, NULL);
    if (a)
        program_args_add(&p, "%s", a);
    if (b)
        program_args_add(&p, "%s", b);
    return program_run(&p, dir);
}

static const char *out(void)
{
    size_t n;

    return program_file(mem, dir, "stdout", &n);
}

static const char *errors(void)
{
    size_t n;

    return program_file(mem, dir, "stderr", &n);
}

static void has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part), "no \"%s\" in:\n%s", part, text);
}

/* --- cases --------------------------------------------------------------- */

START_TEST(all_equal)
{
    put_grn("one.case", "--b sim");
    put_grn("sub/two.case", "--b sim --timing none");
    put_grn("sub/.hidden/three.case", "--b nothing");
    ck_assert_int_eq(suite(NULL, NULL), 0);
    has(out(), "one");
    has(out(), "sub/two");
    has(out(), "2 equal, 0 different, 0 failed\n");
    ck_assert_int_eq(suite("--filter=two", NULL), 0);
    has(out(), "1 equal, 0 different, 0 failed\n");
    ck_assert_int_eq(suite("--filter=two", "--list"), 0);
    ck_assert_str_eq(out(), "sub/two\n");
    ck_assert_int_eq(suite("--filter=four", NULL), 2);
}
END_TEST

START_TEST(paths_are_meant_from_the_case)
{
    size_t n;
    const char *xml = program_file(mem, "kernels/grn", "layer.xml", &n);
    const char *cl = program_file(mem, "kernels/grn", "grn.cl", &n);

    put("deep/er/layer.xml", xml);
    put("deep/er/grn.cl", cl);
    put("deep/er/x.case", "layer.xml --layer GRN --shape 'in0=1x3x4x8'\n"
                          "--param bias=1.0 \"--b\" s\\im # the end");
    ck_assert_int_eq(suite(NULL, NULL), 0);
}
END_TEST

START_TEST(each_outcome)
{
    put_grn("a.case", "--b sim");
    put_grn("b.case", "--b null");
    put_grn("c.case", "--b host:nothing.so");
    put_grn("d.case", "--b opencl --tolerance bent");
    ck_assert_int_eq(suite("--junit", file_join(mem, dir, "j.xml")), 2);
    has(out(), "1 equal, 1 different, 2 failed\n");
    has(out(), "DIFFERENT");
    has(out(), "out0: ");
    has(out(), "nothing.so");
    has(out(), "bent");
    ck_assert_int_eq(suite("--filter=b", "--quiet"), 1);
    ck_assert_int_eq(suite("--filter=a", "--quiet"), 0);
    ck_assert_str_eq(out(), "1 equal, 0 different, 0 failed\n");
}
END_TEST

static unsigned count(xmlNode *n, const char *name)
{
    unsigned k = 0;

    for (; n; n = n->next)
        k += (n->type == XML_ELEMENT_NODE &&
              !strcmp((const char *)n->name, name)) +
             count(n->children, name);
    return k;
}

/* The first element so named, in the document's order. */
static xmlNode *first(xmlNode *n, const char *name)
{
    for (; n; n = n->next) {
        xmlNode *below = first(n->children, name);

        if (n->type == XML_ELEMENT_NODE && !strcmp((const char *)n->name, name))
            return n;
        if (below)
            return below;
    }
    return NULL;
}

static void has_attribute(xmlNode *n, const char *name, const char *want)
{
    xmlChar *value = xmlGetProp(n, (const xmlChar *)name);

    ck_assert_msg(value && strstr((char *)value, want), "%s: %s without %s",
                  name, value ? (char *)value : "nothing", want);
    xmlFree(value);
}

START_TEST(junit)
{
    const char *file = file_join(mem, dir, "j.xml");
    xmlDoc *doc;

    put_grn("a.case", "--b sim");
    put_grn("b.case", "--b null");
    put_grn("c\x01\xff\xe2\x82\xac.case", "--b 'host:nothing\x1b\xc0.so'");
    ck_assert_int_eq(suite("--junit", file), 2);
    doc = xmlReadFile(file, NULL, 0);
    ck_assert_ptr_nonnull(doc);
    ck_assert_uint_eq(count(doc->children, "testcase"), 3);
    ck_assert_uint_eq(count(doc->children, "failure"), 1);
    ck_assert_uint_eq(count(doc->children, "error"), 1);
    has_attribute(first(doc->children, "testsuite"), "tests", "3");
    has_attribute(first(doc->children, "testsuite"), "failures", "1");
    has_attribute(first(doc->children, "testsuite"), "errors", "1");
    has_attribute(first(doc->children, "testcase"), "name", "a");
    has_attribute(first(doc->children, "failure")->parent, "name", "b");
    has_attribute(first(doc->children, "failure"), "message",
                  "out0: 96 of 96 differ");
    has_attribute(first(doc->children, "error"), "message", "nothing");
    xmlFreeDoc(doc);
    xmlCleanupParser();
}
END_TEST

static const char *const bad[][2] = {
    {"layer.xml --b 'sim", "bad.case:1: error: a quote ' is opened"},
    {"# nothing\n\n", "no words"},
    {"", "no words"},
};
enum { N_BAD = sizeof bad / sizeof *bad };

START_TEST(files_that_are_no_cases)
{
    put("bad.case", bad[_i][0]);
    ck_assert_int_eq(suite(NULL, NULL), 2);
    has(errors(), bad[_i][1]);
}
END_TEST

START_TEST(no_cases)
{
    ck_assert_int_eq(suite(NULL, NULL), 2);
    has(errors(), "no files *.case");
    put("x.txt", "words");
    ck_assert_int_eq(suite(file_join(mem, dir, "x.txt"), NULL), 2);
}
END_TEST

/* --- recordings ---------------------------------------------------------- */

START_TEST(record_and_replay)
{
    size_t n, m;
    char *first, *again;

    put_grn("r.case", "--b replay:grn.vpurec --tolerance ulp=1 --verbose");
    put_grn("other.case", "--b sim");
    ck_assert_int_eq(suite("--filter=r", NULL), 2);
    ck_assert_int_eq(suite("--update", NULL), 0);
    has(out(), "1 recorded, 0 failed\n"); /* the other has none */
    first = program_file(mem, dir, "grn.vpurec", &n);
    ck_assert_int_eq(suite(NULL, NULL), 0);
    ck_assert_int_eq(suite("--update", "--jobs=1"), 0);
    again = program_file(mem, dir, "grn.vpurec", &m);
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(first, again, n);
    /* Another parameter is not what was recorded. */
    put_grn("r.case", "--param bias=2.0 --b replay:grn.vpurec");
    ck_assert_int_eq(suite("--filter=r", NULL), 2);
    has(out(), "bias");
}
END_TEST

/* Options of the simulated machine where no side is simulated are a mistake,
 * not ignored. */
START_TEST(options_of_the_simulator_need_it)
{
    program_args p;

    program_args_init(&p, mem, "diff", "kernels/grn/layer.xml", "--layer=GRN",
                      "--shape=in0=1x3x4x8", "--param=bias=1.0", "--a=null",
                      "--b=null", NULL);
    ck_assert_int_eq(program_run(&p, dir), 0);
    program_args_add(&p, "--shaves=3");
    ck_assert_int_eq(program_run(&p, dir), 2);
    has(errors(), "--shaves");
    program_args_init(&p, mem, "record", "kernels/grn/layer.xml", "--layer=GRN",
                      "--shape=in0=1x3x4x8", "--param=bias=1.0",
                      "--backend=null", "--order=reverse", NULL);
    program_args_add(&p, "--to=%s/x.rec", dir);
    ck_assert_int_eq(program_run(&p, dir), 2);
    has(errors(), "--order");
    ck_assert(!file_exists(file_join(mem, dir, "x.rec")));
}
END_TEST

/* --- what goes wrong stays where it is ----------------------------------- */

static void build_plugin(const char *name, const char *body)
{
    char *source = arena_printf(mem, "%s.c", name), *command;

    put(source, arena_printf(mem,
                             "#include <stdlib.h>\n#include <unistd.h>\n"
                             "__attribute__((constructor)) static void go(void)"
                             "{ %s }\n",
                             body));
    command = arena_printf(mem, "cc -shared -fPIC -o %s/%s.so %s/%s", dir, name,
                           dir, source);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(crashes_and_hangs_spoil_one_case_each)
{
    build_plugin("crash", "abort();");
    build_plugin("hang", "for (;;) pause();");
    put_grn("a.case", "--b sim");
    put_grn("crash.case", "--b host:crash.so");
    put_grn("hang.case", "--b host:hang.so");
    put_grn("hang2.case", "--b host:hang.so");
    put_grn("z.case", "--b sim");
    ck_assert_int_eq(suite("--timeout=3", "--jobs=2"), 2);
    has(out(), "2 equal, 0 different, 3 failed\n");
}
END_TEST

/* Interrupted, it takes along what it started. */
START_TEST(an_interrupt_ends_all)
{
    const char *vpu = getenv("VPU");
    struct timespec moment = {.tv_nsec = 500000000};
    char marker[64];
    pid_t pid;
    int status;

    vpu = vpu ? vpu : "build/vpu";
    build_plugin("hang", "for (;;) pause();");
    put_grn("hang.case", "--b host:hang.so --timeout 1000");
    pid = fork();
    if (!pid) {
        ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
        execl(vpu, vpu, "suite", dir, (char *)NULL);
        _exit(9);
    }
    nanosleep(&moment, NULL);
    kill(pid, SIGTERM);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGTERM);
    nanosleep(&moment, NULL);
    /* The brackets keep the pattern from finding itself. */
    snprintf(marker, sizeof marker, "pgrep -f '[%c]%s' >/dev/null",
             strrchr(dir, '/')[1], strrchr(dir, '/') + 2);
    ck_assert_int_ne(system(marker), 0);
}
END_TEST

/* What ran until then is summed up, on standard output and for CI. */
START_TEST(an_interrupt_leaves_the_sum)
{
    const char *vpu = getenv("VPU"), *printed, *results;
    char *to = arena_strdup(mem, file_join(mem, dir, "stdout"));
    pid_t pid;
    int status;
    size_t n;

    vpu = vpu ? vpu : "build/vpu";
    results = arena_strdup(mem, file_join(mem, dir, "j.xml"));
    build_plugin("hang", "for (;;) pause();");
    put("stdout", "");
    put_grn("a.case", "--b sim");
    put_grn("hang.case", "--b host:hang.so --timeout 1000");
    put_grn("z.case", "--b sim");
    pid = fork();
    if (!pid) {
        ck_assert_ptr_nonnull(freopen(to, "w", stdout));
        execl(vpu, vpu, "suite", dir, "--jobs", "1", "--junit", results,
              (char *)NULL);
        _exit(9);
    }
    for (int i = 0; i < 2000 && !*program_file(mem, dir, "stdout", &n); i++)
        usleep(5000);
    kill(pid, SIGINT);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    printed = program_file(mem, dir, "stdout", &n);
    has(printed, "1/3 ok ");
    has(printed, "1 equal, 0 different, 0 failed; interrupted, 2 not run\n");
    results = program_file(mem, dir, "j.xml", &n);
    has(results, "skipped=\"2\"");
    has(results, "<skipped/>");
}
END_TEST

/* Not 0: dir/tmp has folders of ours. */
static int temporaries(void)
{
    return system(
        arena_printf(mem, "test -z \"$(find %s/tmp -name 'vpu-*')\"", dir));
}

/* What ends a suite, SIGKILL too, ends its cases so that they remove what they
 * made: here the files of a compilation. */
START_TEST(cases_remove_their_files)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGKILL};
    const char *vpu = getenv("VPU");
    str text = {0};
    size_t n;
    pid_t pid;

    vpu = vpu ? vpu : "build/vpu";
    str_puts(&text, program_file(mem, "kernels/grn", "grn.cl", &n));
    for (int i = 0; i < 40000; i++)
        str_printf(&text, "float f%d(float x) { return x * %d; }\n", i, i);
    put("src/grn.cl", str_text(&text));
    str_free(&text);
    put("tmp/mark/empty", "");
    put_grn("slow.case",
            arena_printf(mem, "--b sim --no-cache --source-dir %s/src", dir));
    pid = fork();
    if (!pid) {
        setenv("TMPDIR", file_join(mem, dir, "tmp"), 1);
        ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
        execl(vpu, vpu, "suite", dir, (char *)NULL);
        _exit(9);
    }
    for (int i = 0; i < 1000 && !temporaries(); i++)
        usleep(5000);
    ck_assert(temporaries());
    kill(pid, signals[_i]);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 500 && temporaries(); i++)
        usleep(10000);
    ck_assert(!temporaries());
}
END_TEST

/* The samples against their definitions: the first suite. */
START_TEST(samples)
{
    program_args p;

    program_args_init(&p, mem, "suite", "kernels", "--filter=-host", NULL);
    ck_assert_msg(!program_run(&p, dir), "%s%s", out(), errors());
    has(out(), ", 0 different, 0 failed\n");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("suite");
    Suite *s = suite_create("vpu suite");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, all_equal);
    tcase_add_test(t, paths_are_meant_from_the_case);
    tcase_add_test(t, each_outcome);
    tcase_add_test(t, junit);
    tcase_add_loop_test(t, files_that_are_no_cases, 0, N_BAD);
    tcase_add_test(t, no_cases);
    tcase_add_test(t, record_and_replay);
    tcase_add_test(t, options_of_the_simulator_need_it);
    tcase_add_test(t, crashes_and_hangs_spoil_one_case_each);
    tcase_add_test(t, an_interrupt_ends_all);
    tcase_add_test(t, an_interrupt_leaves_the_sum);
    tcase_add_loop_test(t, cases_remove_their_files, 0, 3);
    tcase_add_test(t, samples);
    suite_add_tcase(s, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
