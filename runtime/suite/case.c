/* Reading and finding case files; see case.h for the form. */
#include "runtime/suite/case.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"

enum { MAX_BYTES = 64 << 10, MAX_DEPTH = 16 };

typedef struct {
    const char *path;
    const char *at, *end;
    uint32_t line;
} scanner;

static void skip_blanks(scanner *s)
{
    while (s->at < s->end && strchr(" \t\r\n#", *s->at)) {
        if (*s->at == '#')
            while (s->at + 1 < s->end && s->at[1] != '\n')
                s->at++;
        s->line += *s->at == '\n';
        s->at++;
    }
}

/* The word at s->at, which is none of the blanks. */
static vpu_status read_word(scanner *s, str *word, vpu_error *err)
{
    uint32_t opened = s->line;
    char quote = 0;

    for (; s->at < s->end; s->at++) {
        char c = *s->at;

        s->line += c == '\n';
        if (c == '\\' && s->at + 1 < s->end && quote != '\'') {
            if (*++s->at != '\n')
                str_add(word, s->at, 1);
            s->line += *s->at == '\n';
        } else if (quote && c == quote) {
            quote = 0;
        } else if (!quote && (c == '"' || c == '\'')) {
            quote = c;
            opened = s->line;
        } else if (!quote && strchr(" \t\r\n", c)) {
            s->line -= c == '\n';
            return VPU_OK;
        } else {
            str_add(word, &c, 1);
        }
    }
    if (quote)
        return err_at(err, VPU_ERR_PARSE, s->path, opened, 0,
                      "a quote %c is opened and never closed", quote);
    return VPU_OK;
}

vpu_status case_parse(const file_bytes *text, const char *name, arena *a,
                      suite_case *out, vpu_error *err)
{
    const char *path = text->path;
    scanner s = {.path = path, .line = 1};
    size_t cap = 0;
    vpu_status st = VPU_OK;

    *out = (suite_case){.path = path, .name = name};
    if (memchr(text->data, 0, text->n))
        return err_at(err, VPU_ERR_PARSE, path, 0, 0,
                      "a zero byte: this is not a text file");
    out->dir = file_dirname(a, path);
    s.at = text->data;
    s.end = s.at + text->n;
    for (skip_blanks(&s); s.at < s.end && !st; skip_blanks(&s)) {
        str word = {0};

        st = read_word(&s, &word, err);
        *arena_append(a, out->words, out->n_words, cap) =
            arena_strdup(a, str_text(&word));
        str_free(&word);
    }
    if (!st && !out->n_words)
        st = err_at(err, VPU_ERR_PARSE, path, 0, 0,
                    "no words: expected what follows `vpu diff`");
    *arena_append(a, out->words, out->n_words, cap) = NULL;
    out->n_words--;
    return st;
}

static vpu_status read_case(const char *path, const char *name, arena *a,
                            suite_case *out, vpu_error *err)
{
    size_t n_bytes;
    char *text;
    vpu_status st = file_read(path, MAX_BYTES, a, &text, &n_bytes, err);

    return st ? st
              : case_parse(&(const file_bytes){text, n_bytes, path}, name, a,
                           out, err);
}

/* --- finding ------------------------------------------------------------- */

typedef struct {
    arena *a;
    suite_case *list;
    size_t n, cap;
    const char *root;
    vpu_error *err;
} search;

static bool is_case(const char *name)
{
    size_t n = strlen(name);

    return n > 5 && !strcmp(name + n - 5, ".case");
}

static vpu_status add_case(search *s, const char *path)
{
    size_t root = strlen(s->root);
    const char *name = path;
    suite_case c;
    vpu_status st;

    if (!strncmp(path, s->root, root) && path[root] == '/')
        name = path + root + 1;
    name = arena_strndup(s->a, name, strlen(name) - 5);
    st = read_case(path, name, s->a, &c, s->err);
    if (!st)
        *arena_append(s->a, s->list, s->n, s->cap) = c;
    return st;
}

static int no_dots(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static int by_bytes(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name); /* whatever the locale */
}

static vpu_status walk(search *s, const char *dir, int depth)
{
    struct dirent **names;
    int n = scandir(dir, &names, no_dots, by_bytes);
    vpu_status st = VPU_OK;

    if (n < 0)
        return err_set(s->err, VPU_ERR_IO, "%s: %s", dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path = file_join(s->a, dir, names[i]->d_name);
        struct stat info;

        if (!st && !lstat(path, &info)) {
            if (S_ISDIR(info.st_mode) && depth < MAX_DEPTH)
                st = walk(s, path, depth + 1);
            else if (!S_ISDIR(info.st_mode) && is_case(path))
                st = add_case(s, path);
        }
        free(names[i]);
    }
    free(names);
    return st;
}

vpu_status case_find(const char *path, arena *a, suite_case **out, size_t *n,
                     vpu_error *err)
{
    size_t length = strlen(path);
    search s = {.a = a, .err = err};
    struct stat info;
    vpu_status st;

    while (length > 1 && path[length - 1] == '/')
        length--;
    s.root = arena_strndup(a, path, length);
    if (stat(s.root, &info))
        return err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode)) {
        st = walk(&s, s.root, 0);
    } else if (is_case(s.root)) {
        st = add_case(&s, s.root);
    } else {
        return err_set(err, VPU_ERR_IO,
                       "%s: neither a folder nor a file NAME.case", path);
    }
    if (!st && !s.n)
        st = err_set(err, VPU_ERR_IO, "%s: no files *.case in it", path);
    *out = s.list;
    *n = s.n;
    return st;
}

const char *case_option(const suite_case *c, const char *option)
{
    size_t n = strlen(option);

    for (size_t i = 0; i < c->n_words; i++) {
        if (!strcmp(c->words[i], option))
            return c->words[i + 1];
        if (!strncmp(c->words[i], option, n) && c->words[i][n] == '=')
            return c->words[i] + n + 1;
    }
    return NULL;
}
