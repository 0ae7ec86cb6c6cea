/* Reads and applies suppressions. */
#include "runtime/check/suppress.h"

#include <string.h>

#include "base/file.h"

enum { MAX_BYTES = 1 << 20 };

typedef struct {
    const char *checker, *kernel, *file;
    uint32_t line; /* 0 = any */
} rule;

struct layer_check_suppressions {
    rule *rules;
    size_t n, cap;
};

static bool known_checker(const char *name)
{
    for (int k = 0; k < CHECK_N; k++)
        if (!strcmp(name, check_name((check_kind)k)))
            return true;
    return !strcmp(name, "*");
}

/* "FILE:LINE" taken apart. False: LINE is none. */
static bool split_line(char *file, uint32_t *line)
{
    char *colon = strrchr(file, ':');
    unsigned long long n;

    *line = 0;
    if (!colon)
        return true;
    if (!str_to_u64(colon + 1, &n) || !n || n > UINT32_MAX)
        return false;
    *colon = 0;
    *line = (uint32_t)n;
    return true;
}

static vpu_status read_line(layer_check_suppressions *s, arena *a,
                            const char *path, uint32_t number, char *text,
                            vpu_error *err)
{
    char *save = NULL, *word[4];
    rule r;

    text[strcspn(text, "#")] = 0;
    for (int k = 0; k < 4; k++)
        word[k] = strtok_r(k ? NULL : text, " \t\r", &save);
    if (!word[0])
        return VPU_OK;
    if (!word[2] || word[3])
        return err_at(err, VPU_ERR_PARSE, path, number, 0,
                      "expected CHECKER KERNEL FILE[:LINE]");
    if (!known_checker(word[0]))
        return err_at(err, VPU_ERR_PARSE, path, number, 0,
                      "there is no checker '%s'", word[0]);
    r = (rule){word[0], word[1], word[2], 0};
    if (!split_line(word[2], &r.line))
        return err_at(err, VPU_ERR_PARSE, path, number, 0,
                      "'%s' does not end in a line number", word[2]);
    *arena_append(a, s->rules, s->n, s->cap) = r;
    return VPU_OK;
}

vpu_status layer_check_suppressions_parse(const char *path, const char *bytes,
                                          size_t n, arena *a,
                                          layer_check_suppressions **out,
                                          vpu_error *err)
{
    layer_check_suppressions *s = arena_new(a, layer_check_suppressions);
    char *text = arena_strndup(a, bytes, n), *next;
    uint32_t number = 1;
    vpu_status st = VPU_OK;

    if (strlen(text) != n)
        st = err_set(err, VPU_ERR_PARSE, "%s: not a text", path);
    for (; !st && text; text = next) {
        next = strchr(text, '\n');
        if (next)
            *next++ = 0;
        st = read_line(s, a, path, number++, text, err);
    }
    *out = st ? NULL : s;
    return st;
}

vpu_status layer_check_suppressions_read(const char *path, arena *a,
                                         layer_check_suppressions **out,
                                         vpu_error *err)
{
    char *text;
    size_t n;
    vpu_status st = file_read(path, MAX_BYTES, a, &text, &n, err);

    *out = NULL;
    return st ? st : layer_check_suppressions_parse(path, text, n, a, out, err);
}

/* `tail` is `path`, or what is behind one of its slashes. */
static bool ends_in(const char *path, const char *tail)
{
    size_t n = strlen(path), m = strlen(tail);

    return n >= m && !strcmp(path + n - m, tail) &&
           (n == m || path[n - m - 1] == '/');
}

static bool is(const char *want, const char *name)
{
    return !strcmp(want, "*") || !strcmp(want, name);
}

bool layer_check_suppressed(const layer_check_suppressions *s,
                            const layer_check_shown *f)
{
    for (size_t i = 0; s && i < s->n; i++) {
        const rule *r = &s->rules[i];

        if (is(r->checker, check_name(f->kind)) && is(r->kernel, f->kernel) &&
            (!strcmp(r->file, "*") || ends_in(f->file, r->file)) &&
            (!r->line || r->line == f->line))
            return true;
    }
    return false;
}
