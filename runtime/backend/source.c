/* Resolves kernel sources. */
#include "runtime/backend/source.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "sim/compiler/store/object.h"

enum { MAX_BIN = 64 << 20 };

static const char *with_cl(arena *a, const char *path)
{
    const char *dot = strrchr(file_basename(path), '.');

    return arena_printf(a, "%.*s.cl",
                        (int)(dot ? (size_t)(dot - path) : strlen(path)), path);
}

static bool is_cl(const char *path)
{
    size_t n = strlen(path);

    return n > 3 && !strcmp(path + n - 3, ".cl");
}

vpu_status backend_source_find(const backend_source_name *name, arena *a,
                               backend_source *out, vpu_error *err)
{
    const char *path = name->path;
    const char *beside = is_cl(path) ? path : with_cl(a, path), *in_dir = NULL;
    bool foreign = false, other = false;

    *out = (backend_source){0};
    if (!is_cl(path) && file_exists(path)) {
        char *data;
        vpu_status st = file_read(path, MAX_BIN, a, &data, &out->n_bytes, err);

        if (st)
            return st;
        out->file = (unsigned char *)data;
        switch (object_classify(out->file, out->n_bytes)) {
        case OBJECT_OURS:
            out->kind = SOURCE_OUR_BIN;
            out->path = path;
            return VPU_OK;
        case OBJECT_FOREIGN:
            foreign = true;
            break;
        case OBJECT_NOT_ELF:
            other = true;
            break;
        }
        *out = (backend_source){0}; /* its source is what counts */
    }
    out->kind = SOURCE_CL;
    if (name->source_dir) {
        in_dir = file_join(a, name->source_dir, file_basename(beside));
        out->path = in_dir;
        if (file_exists(in_dir))
            return VPU_OK;
    }
    out->path = beside;
    if (file_exists(beside))
        return VPU_OK;
    if (foreign)
        return err_at(err, VPU_ERR_UNSUPPORTED, name->binding, name->line, 0,
                      "%s: compiled by the vendor's clc for the SHAVE; the "
                      "simulator needs the source: put %s beside it or name "
                      "its folder with --source-dir",
                      path, file_basename(beside));
    if (other)
        return err_at(err, VPU_ERR_PARSE, name->binding, name->line, 0,
                      "%s: neither OpenCL C by its name, .cl, nor a compiled "
                      "kernel, which is an ELF file; looked for %s, too",
                      path, file_basename(beside));
    return err_at(err, VPU_ERR_IO, name->binding, name->line, 0,
                  "there is no kernel file %s; looked for %s%s%s%s", path,
                  in_dir ? in_dir : "", in_dir ? " and " : "", beside,
                  in_dir ? "" : " (--source-dir names another folder)");
}

/* --- launches ------------------------------------------------------------ */

uint32_t backend_source_count(const graph_launch *l)
{
    return l->text || l->given || l->bin || l->macros ? 1 : l->n_sources;
}

/* A name as a string of C. */
static void put_quoted(str *s, const char *name)
{
    str_puts(s, "\"");
    for (; *name; name++)
        if ((unsigned char)*name < ' ')
            str_printf(s, "\\%03o", (unsigned char)*name);
        else
            str_printf(s, "%s%c", *name == '"' || *name == '\\' ? "\\" : "",
                       *name);
    str_puts(s, "\"");
}

/* From p on behind a comment or a string, or behind one character. */
static const char *skip_piece(const char *p)
{
    const char *end = NULL;

    if (!strncmp(p, "//", 2)) {
        p += strcspn(p, "\n");
    } else if (!strncmp(p, "/*", 2)) {
        end = strstr(p + 2, "*/");
        p = end ? end + 2 : p + strlen(p);
    } else if (*p == '"' || *p == '\'') {
        char quote = *p++;

        while (*p && *p != quote && *p != '\n')
            p += *p == '\\' && p[1] ? 2 : 1;
        p += *p == quote;
    } else {
        p++;
    }
    return p;
}

/* Whether the text defines that kernel, as far as one sees without the
 * preprocessor. */
static bool defines_kernel(const char *text, const char *entry)
{
    bool kernel = false;
    size_t n;

    for (const char *p = text; *p;) {
        n = 0;
        while (isalnum((unsigned char)p[n]) || p[n] == '_')
            n++;
        if (!n) {
            kernel &= *p != ';' && *p != '{';
            p = skip_piece(p);
            continue;
        }
        if (kernel && n == strlen(entry) && !memcmp(p, entry, n) &&
            p[n + strspn(p + n, " \t\r\n")] == '(')
            return true;
        kernel |= (n == 6 && !memcmp(p, "kernel", n)) ||
                  (n == 8 && !memcmp(p, "__kernel", n));
        p += n;
    }
    return false;
}

/* *home: whether the kernel stands in it. */
static vpu_status put_file(str *s, const graph_launch *l, uint32_t i,
                           const char *source_dir, arena *a,
                           backend_source *out, bool *home, vpu_error *err)
{
    char *text;
    size_t n;
    vpu_status st = backend_source_find(
        &(const backend_source_name){l->sources[i], source_dir, l->file,
                                     l->line},
        a, out, err);

    if (!st && out->kind != SOURCE_CL)
        st = err_at(err, VPU_ERR_UNSUPPORTED, l->file, l->line, 0,
                    "%s is compiled: a SimpleGPU layer needs OpenCL C, whose "
                    "macros depend on its shapes",
                    out->path);
    if (!st)
        st = file_read(out->path, MAX_BIN, a, &text, &n, err);
    if (st)
        return st;
    if (strlen(text) != n)
        return err_at(err, VPU_ERR_COMPILE, out->path, 0, 0,
                      "a zero byte: not a text file");
    str_puts(s, "#line 1 ");
    put_quoted(s, out->path);
    /* An empty line behind it: the last may end with a backslash. */
    str_printf(s, "\n%s\n\n", text);
    *home = defines_kernel(text, l->entry);
    return VPU_OK;
}

/* The macros have no file: what is wrong in one shows where it is used. Lines
 * of a program have no file of their own: theirs is the kernel's, or the first.
 */
static vpu_status join_files(const graph_launch *l, const char *source_dir,
                             arena *a, backend_source *out, vpu_error *err)
{
    str s = {0};
    backend_source file;
    const char *path = NULL;
    vpu_status st = VPU_OK;
    bool found = false, home = false;

    str_puts(&s, "#line 1 ");
    put_quoted(&s, arena_printf(a, "<macros of %s>", l->type));
    str_puts(&s, "\n");
    str_puts(&s, l->private_macros);
    for (uint32_t i = 0; i < l->n_sources && !st; i++) {
        st = put_file(&s, l, i, source_dir, a, &file, &home, err);
        if (!path || (home && !found))
            path = file.path;
        found |= home;
    }
    *out = (backend_source){.kind = SOURCE_TEXT,
                            .path = path,
                            .text = arena_strdup(a, str_text(&s))};
    str_free(&s);
    return st;
}

static void take_linked(const graph_launch *l, arena *a, backend_source *out)
{
    kernel_part *parts = arena_array(a, kernel_part, l->n_linked + 1);

    for (uint32_t i = 0; i < l->n_linked; i++)
        parts[i] = (kernel_part){l->linked[i].name, l->linked[i].text,
                                 l->linked[i].options, l->linked[i].n_options};
    out->parts = parts;
    out->n_parts = l->n_linked;
}

vpu_status backend_source_of(const graph_launch *l, uint32_t i,
                             const char *source_dir, arena *a,
                             backend_source *out, vpu_error *err)
{
    *out = (backend_source){.path = l->sources[i]};
    if (l->text) {
        out->kind = SOURCE_TEXT;
        out->text = l->text;
        out->built_in = true;
        return VPU_OK;
    }
    if (l->given) {
        out->kind = SOURCE_TEXT;
        out->text = l->given;
        take_linked(l, a, out);
        return VPU_OK;
    }
    if (l->bin) {
        out->kind = SOURCE_OUR_BIN;
        out->file = l->bin;
        out->n_bytes = l->n_bin;
        return VPU_OK;
    }
    if (l->macros)
        return join_files(l, source_dir, a, out, err);
    return backend_source_find(&(const backend_source_name){l->sources[i],
                                                            source_dir, l->file,
                                                            l->line},
                               a, out, err);
}

kernel_source backend_source_kernel(const backend_source *s,
                                    const graph_launch *l)
{
    return (kernel_source){.path = s->path,
                           .entry = l->entry,
                           .text = s->text,
                           .parts = s->parts,
                           .n_parts = s->n_parts,
                           .bin = s->file,
                           .bin_bytes = s->n_bytes};
}

kernel_compile_options
backend_source_options(const graph_launch *l,
                       const kernel_compile_options *user, arena *a)
{
    kernel_compile_options out = *user;
    const char **all;

    if (l->text) {
        out.n_options = 0; /* those are for the user's kernels */
        return out;
    }
    if (!l->n_options)
        return out;
    all = arena_array(a, const char *, user->n_options + l->n_options);
    for (uint32_t i = 0; i < l->n_options; i++)
        all[i] = l->options[i];
    for (uint32_t i = 0; i < user->n_options; i++)
        all[l->n_options + i] = user->options[i];
    out.options = all;
    out.n_options = user->n_options + l->n_options;
    return out;
}
