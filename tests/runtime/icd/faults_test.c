/* Planted faults, launched by an OpenCL host program (vpu run on the driver),
 * are found at the lines where vpu check finds them. With an argument: those of
 * the files whose path contains it; without, every fourth file, since checkers
 * and lines are those of check/faults, which tries all. VPU_WHOLE in the
 * environment (make nightly): every one. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check/fault.h"

static char *files[FAULT_MAX_FILES];
static int n_files, step = 1;

/* Of the words for vpu run, those that are the driver's here. */
static void split_words(const fault *f, str *host, str *driver)
{
    static const char *const moved[] = {"--order", "--shaves"};
    char *text = strdup(f->args.n ? f->args.data : ""), *save = NULL;

    for (char *w = strtok_r(text, " \t", &save); w;
         w = strtok_r(NULL, " \t", &save)) {
        str *to = host;

        for (size_t i = 0; i < 2; i++)
            if (!strcmp(w, moved[i])) {
                to = driver;
                str_printf(to, " %s", w);
                w = strtok_r(NULL, " \t", &save);
                break;
            }
        str_printf(to, " %s", w);
    }
    free(text);
}

/* What the program writes to standard error is in `said`. */
static void run(const fault *f, const char *dir, char *said, size_t room)
{
    str host = {0}, driver = {0}, command = {0};
    FILE *p;

    split_words(f, &host, &driver);
    str_printf(&command,
               "build/vpu cl --check=%s --findings %s/found%s build/vpu run "
               "%s/layer.xml%s --backend opencl --quiet 2>&1 >/dev/null",
               f->checks.n ? f->checks.data : "default", dir,
               driver.n ? driver.data : "", dir, host.n ? host.data : "");
    p = popen(command.data, "r");
    ck_assert_ptr_nonnull(p);
    said[fread(said, 1, room - 1, p)] = 0;
    pclose(p);
    str_free(&host);
    str_free(&driver);
    str_free(&command);
}

/* What orders find has a line here, that of the kernel. */
static void see(fault *f, const char *line)
{
    json_t *x = json_loads(line, 0, NULL);
    const char *check, *level;
    unsigned at;

    ck_assert_msg(x != NULL, "%s: %s", f->path, line);
    check = json_string_value(json_object_get(x, "check"));
    level = json_string_value(json_object_get(x, "level"));
    at = (unsigned)json_integer_value(json_object_get(x, "line"));
    if (!strcmp(check, "order"))
        at = 0;
    ck_assert_msg(fault_see(f, check, !strcmp(level, "note"), at),
                  "%s: unexpected: %s", f->path, line);
    json_decref(x);
}

static void read_found(fault *f, const char *dir)
{
    char path[300], line[8192];
    FILE *p;

    snprintf(path, sizeof path, "%s/found", dir);
    p = fopen(path, "r");
    while (p && fgets(line, sizeof line, p))
        see(f, line);
    if (p)
        fclose(p);
    unlink(path);
}

/* The device takes no groups of so many items. */
static bool is_refused(const char *said)
{
    return strstr(said, " items are too large for MA2485") != NULL;
}

/* A host that asks the device first does not launch what it cannot run; one
 * whose launch fails does not read what it wrote. */
static bool is_due(const fault *f, const fault_expected *x, const char *said)
{
    bool fails = strstr(said, "1 launch (1 failed)") != NULL;

    if (is_refused(said))
        return false;
    if (!strcmp(x->checker, "local-memory"))
        return !strstr(said, "bytes of local memory, MA2485 (vpusim) has");
    return strcmp(x->checker, "unwritten") || f->n == 1 || !fails;
}

START_TEST(found_in_a_host)
{
    char dir[] = "/tmp/vpu-faults-XXXXXX", path[64], said[16384];
    fault f;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    fault_read(files[_i * step], &f);
    fault_write_layer(&f, dir);
    run(&f, dir, said, sizeof said);
    read_found(&f, dir);
    ck_assert_msg(strstr(said, "vpu: cl: 1 context, ") || is_refused(said),
                  "%s: %s", f.path, said);
    for (unsigned k = 0; k < f.n; k++)
        ck_assert_msg(f.want[k].seen || !is_due(&f, &f.want[k], said),
                      "%s:%u: no %s: %s", f.path, f.want[k].line,
                      f.want[k].checker, said);
    snprintf(path, sizeof path, "%s/layer.xml", dir);
    unlink(path);
    rmdir(dir);
    fault_free(&f);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("faults in OpenCL programs");
    TCase *t = tcase_create("table");
    SRunner *r;
    int failed;

    n_files = fault_files(argc > 1 ? argv[1] : "", files);
    if (argc == 1 && !getenv("VPU_WHOLE"))
        step = 4;
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, found_in_a_host, 0, (n_files + step - 1) / step);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    for (int i = 0; i < n_files; i++)
        free(files[i]);
    return failed != 0;
}
