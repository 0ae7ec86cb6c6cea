/* Every fault of faults/ is found at its line, and nothing in its fixed form.
 * With an argument: of the files whose path contains it. */
#include <check.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"

#define FAULTS "tests/check/faults"

enum { MAX_EXPECTED = 32, MAX_FILES = 512 };

typedef struct {
    char checker[32];
    unsigned line; /* 0 = none of the kernel's */
    bool seen;
} expected;

typedef struct {
    char path[256];
    str args, bind, size, checks;
    bool clean; /* no fault at all, the form without -DFIXED is the only one */
    expected want[MAX_EXPECTED];
    unsigned n;
} fault;

static char *files[MAX_FILES];
static int n_files;
static const char *only = ""; /* files whose path contains this */

/* --- files --------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    if (!d) {
        perror(dir);
        exit(1);
    }
    while ((e = readdir(d)) != NULL) {
        char path[512];
        size_t n = strlen(e->d_name);

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (n <= 3 || strcmp(e->d_name + n - 3, ".cl") != 0) {
            list(path);
        } else if (strstr(path, only)) {
            if (n_files == MAX_FILES)
                exit(1);
            files[n_files++] = strdup(path);
        }
    }
    closedir(d);
}

static void add_names(fault *f, const char *names, unsigned line)
{
    char text[256], *save = NULL;

    snprintf(text, sizeof text, "%s", names);
    for (char *w = strtok_r(text, " \t*/", &save); w;
         w = strtok_r(NULL, " \t*/", &save)) {
        ck_assert_uint_lt(f->n, MAX_EXPECTED);
        snprintf(f->want[f->n].checker, sizeof f->want[f->n].checker, "%s", w);
        f->want[f->n++].line = line;
    }
}

static void read_fault(const char *path, fault *f)
{
    arena *a = arena_create(0);
    bool in_head = true;
    unsigned line = 1;
    char *text, *next;
    size_t n;

    memset(f, 0, sizeof *f);
    snprintf(f->path, sizeof f->path, "%s", path);
    ck_assert_int_eq(file_read(path, 1 << 20, a, &text, &n, NULL), VPU_OK);
    for (; text && *text; text = next, line++) {
        const char *p = text + strspn(text, " /*"), *fault_at;

        next = strchr(text, '\n');
        if (next)
            *next++ = 0;
        fault_at = strstr(text, "FAULT ");
        if (fault_at)
            add_names(f, fault_at + 6, in_head ? 0 : line);
        else if (in_head && !strncmp(p, "ARGS ", 5))
            str_printf(&f->args, " %s", p + 5);
        else if (in_head && !strncmp(p, "BIND ", 5))
            str_printf(&f->bind, "%s\n", p + 5);
        else if (in_head && !strncmp(p, "SIZE ", 5))
            str_puts(&f->size, p + 5);
        else if (in_head && !strncmp(p, "CHECK ", 6))
            str_puts(&f->checks, p + 6);
        else if (in_head && !strncmp(p, "CLEAN", 5))
            f->clean = true;
        if (strstr(text, "*/"))
            in_head = false;
    }
    ck_assert_msg(f->clean == (f->n == 0), "%s: either FAULT or CLEAN", path);
    arena_destroy(a);
}

/* --- running ------------------------------------------------------------- */

static void write_layer(const fault *f, const char *dir)
{
    char path[256], cwd[512];
    str xml = {0};

    str_printf(&xml,
               "<CustomLayer name=\"T\" type=\"MVCL\" version=\"1\">\n"
               "<Kernel entry=\"k\"><Source filename=\"%s/%s\"/>\n"
               "<Parameters>\n%s</Parameters>\n"
               "<WorkSizes dim=\"input,0\" %s/>\n</Kernel></CustomLayer>\n",
               getcwd(cwd, sizeof cwd), f->path, str_text(&f->bind),
               str_text(&f->size));
    snprintf(path, sizeof path, "%s/layer.xml", dir);
    ck_assert_int_eq(file_write(path, xml.data, xml.n, NULL), VPU_OK);
    str_free(&xml);
}

static FILE *start(const fault *f, const char *dir, bool fixed)
{
    char command[4096];
    FILE *p;

    snprintf(command, sizeof command,
             "%s check %s/layer.xml %s --quiet --json --check %s %s",
             getenv("VPU") ? getenv("VPU") : "build/vpu", dir,
             str_text(&f->args), f->checks.n ? str_text(&f->checks) : "default",
             fixed ? "-DFIXED" : "");
    p = popen(command, "r");
    ck_assert_ptr_nonnull(p);
    return p;
}

static json_t *result(const fault *f, FILE *p)
{
    size_t n, cap = 1 << 20;
    char *out = calloc(1, cap);
    json_t *j;

    n = fread(out, 1, cap - 1, p);
    pclose(p);
    j = json_loads(out, 0, NULL);
    ck_assert_msg(j != NULL, "%s: %zu bytes: %s", f->path, n, out);
    free(out);
    return j;
}

static void check_faulty(fault *f, FILE *p)
{
    json_t *j = result(f, p), *x;
    size_t i;

    json_array_foreach(json_object_get(j, "findings"), i, x)
    {
        const char *check = json_string_value(json_object_get(x, "check"));
        const char *level = json_string_value(json_object_get(x, "level"));
        bool is_note = !strcmp(level, "note");
        char name[32];
        const char *file = json_string_value(json_object_get(x, "file"));
        size_t n = strlen(file);
        bool in_kernel = n > 3 && !strcmp(file + n - 3, ".cl");
        unsigned line =
            in_kernel ? (unsigned)json_integer_value(json_object_get(x, "line"))
                      : 0;
        unsigned k = 0;

        snprintf(name, sizeof name, "%s%s", is_note ? "note:" : "", check);
        while (k < f->n && (f->want[k].line != line ||
                            strcmp(f->want[k].checker, name) != 0))
            k++;
        ck_assert_msg(k < f->n, "%s:%u: unexpected %s: %s", f->path, line, name,
                      json_string_value(json_object_get(x, "message")));
        f->want[k].seen = true;
    }
    for (unsigned k = 0; k < f->n; k++)
        ck_assert_msg(f->want[k].seen, "%s:%u: no %s", f->path, f->want[k].line,
                      f->want[k].checker);
    json_decref(j);
}

static void check_fixed(const fault *f, FILE *p)
{
    json_t *j = result(f, p);
    json_t *list_of = json_object_get(j, "findings"), *x;

    x = json_array_get(list_of, 0);
    ck_assert_msg(json_array_size(list_of) == 0, "%s:%d: fixed, but %s: %s",
                  f->path, (int)json_integer_value(json_object_get(x, "line")),
                  json_string_value(json_object_get(x, "check")),
                  json_string_value(json_object_get(x, "message")));
    json_decref(j);
}

START_TEST(fault_and_twin)
{
    char dir[] = "/tmp/vpu-faults-XXXXXX", path[64];
    FILE *faulty, *fixed = NULL;
    fault f;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    read_fault(files[_i], &f);
    write_layer(&f, dir);
    faulty = start(&f, dir, false);
    if (!f.clean)
        fixed = start(&f, dir, true); /* side by side */
    check_faulty(&f, faulty);
    if (fixed)
        check_fixed(&f, fixed);
    snprintf(path, sizeof path, "%s/layer.xml", dir);
    unlink(path);
    rmdir(dir);
    str_free(&f.args);
    str_free(&f.bind);
    str_free(&f.size);
    str_free(&f.checks);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("faults");
    TCase *t = tcase_create("table");
    SRunner *r;
    int failed;

    if (argc > 1)
        only = argv[1];
    list(FAULTS);
    qsort(files, (size_t)n_files, sizeof *files, by_name);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, fault_and_twin, 0, n_files);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    for (int i = 0; i < n_files; i++)
        free(files[i]);
    return failed != 0;
}
