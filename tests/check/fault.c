/* Reads the table of planted faults. */
#include "tests/check/fault.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"

#define FAULTS "tests/check/faults"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const char *dir, const char *only, char **files, int *n_files)
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
            list(path, only, files, n_files);
        } else if (strstr(path, only)) {
            if (*n_files == FAULT_MAX_FILES)
                exit(1);
            files[(*n_files)++] = strdup(path);
        }
    }
    closedir(d);
}

int fault_files(const char *only, char **files)
{
    int n = 0;

    list(FAULTS, only, files, &n);
    qsort(files, (size_t)n, sizeof *files, by_name);
    return n;
}

static void add_names(fault *f, const char *names, unsigned line)
{
    char text[256], *save = NULL;

    snprintf(text, sizeof text, "%s", names);
    for (char *w = strtok_r(text, " \t*/", &save); w;
         w = strtok_r(NULL, " \t*/", &save)) {
        ck_assert_uint_lt(f->n, FAULT_MAX_EXPECTED);
        snprintf(f->want[f->n].checker, sizeof f->want[f->n].checker, "%s", w);
        f->want[f->n++].line = line;
    }
}

void fault_read(const char *path, fault *f)
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

void fault_write_layer(const fault *f, const char *dir)
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

void fault_free(fault *f)
{
    str_free(&f->args);
    str_free(&f->bind);
    str_free(&f->size);
    str_free(&f->checks);
}

bool fault_see(fault *f, const char *checker, bool is_note, unsigned line)
{
    char name[40];
    unsigned k = 0;

    snprintf(name, sizeof name, "%s%s", is_note ? "note:" : "", checker);
    while (k < f->n &&
           (f->want[k].line != line || strcmp(f->want[k].checker, name) != 0))
        k++;
    if (k < f->n)
        f->want[k].seen = true;
    return k < f->n;
}
