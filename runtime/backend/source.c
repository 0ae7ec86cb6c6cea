/* Resolves kernel sources. */
#include "runtime/backend/source.h"

#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "sim/compiler/store/object.h"

enum { MAX_BIN = 64 << 20 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static const char *with_cl(arena *a, const char *path)
{
    const char *dot = strrchr(base_name(path), '.');

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
    bool foreign = false;

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
            break;
        }
    }
    out->kind = SOURCE_CL;
    if (name->source_dir) {
        in_dir = file_join(a, name->source_dir, base_name(beside));
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
                      path, base_name(beside));
    return err_at(err, VPU_ERR_IO, name->binding, name->line, 0,
                  "there is no kernel file %s; looked for %s%s%s%s", path,
                  in_dir ? in_dir : "", in_dir ? " and " : "", beside,
                  in_dir ? "" : " (--source-dir names another folder)");
}

/* --- launches ------------------------------------------------------------ */

uint32_t backend_source_count(const graph_launch *l)
{
    return l->text || l->bin || l->macros ? 1 : l->n_sources;
}

/* A name as a string of C. */
static void put_quoted(str *s, const char *name)
{
    str_puts(s, "\"");
    for (; *name; name++)
        str_printf(s, "%s%c", *name == '"' || *name == '\\' ? "\\" : "", *name);
    str_puts(s, "\"");
}

static vpu_status put_file(str *s, const graph_launch *l, uint32_t i,
                           const char *source_dir, arena *a,
                           backend_source *out, vpu_error *err)
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
    str_puts(s, "#line 1 ");
    put_quoted(s, out->path);
    str_printf(s, "\n%s\n", text);
    return VPU_OK;
}

/* The macros have no file: what is wrong in one shows where it is used. */
static vpu_status join_files(const graph_launch *l, const char *source_dir,
                             arena *a, backend_source *out, vpu_error *err)
{
    str s = {0};
    backend_source first = {0}, next;
    vpu_status st = VPU_OK;

    str_printf(&s, "#line 1 \"<macros of %s>\"\n%s", l->type, l->macros);
    for (uint32_t i = 0; i < l->n_sources && !st; i++)
        st = put_file(&s, l, i, source_dir, a, i ? &next : &first, err);
    *out = (backend_source){.kind = SOURCE_TEXT,
                            .path = first.path,
                            .text = arena_strdup(a, str_text(&s))};
    str_free(&s);
    return st;
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
