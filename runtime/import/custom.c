/* Custom stages: their kernel, their arguments. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/blob/meta.h"
#include "runtime/blob/stage.h"
#include "runtime/import/import_priv.h"
#include "sim/compiler/store/object.h"

enum { MAX_SOURCE = 16 << 20 };

/* --- the kernel ---------------------------------------------------------- */

static int cl_file(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > 3 && !strcmp(e->d_name + n - 3, ".cl");
}

static bool word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

/* Whether the text has name and '(' behind it; the compiler knows better. */
static bool mentions(const char *text, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = text; (p = strstr(p, name)); p++)
        if ((p == text || !word_char(p[-1])) &&
            p[n + strspn(p + n, " \t\r\n")] == '(')
            return true;
    return false;
}

/* Files that may have the kernel, by name. */
static vpu_status find_sources(import_state *x, const char *kernel,
                               graph_launch *out, vpu_error *err)
{
    const char *dir = x->c->kernels, **list;
    struct dirent **names;
    int n;

    if (!dir)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "kernel '%s' is another compiler's: --kernels DIR says "
                       "where its .cl file is",
                       kernel);
    n = scandir(dir, &names, cl_file, alphasort);
    if (n < 0)
        return err_set(err, VPU_ERR_IO, "%s: cannot be read: %s", dir,
                       strerror(errno));
    list = arena_array(x->arena, const char *, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
        const char *path = file_join(x->arena, dir, names[i]->d_name);
        arena_mark mark = arena_save(x->arena);
        char *text;
        size_t bytes;
        bool has =
            !file_read(path, MAX_SOURCE, x->arena, &text, &bytes, NULL) &&
            mentions(text, kernel);

        arena_restore(x->arena, mark);
        if (has)
            list[out->n_sources++] = path;
        free(names[i]);
    }
    free(names);
    out->sources = list;
    return out->n_sources
               ? VPU_OK
               : err_set(err, VPU_ERR_UNSUPPORTED,
                         "no .cl file in %s has a kernel '%s'", dir, kernel);
}

static vpu_status find_kernel(import_state *x, const blob_buffer *f,
                              const stage_custom *u, meta_kernel *m,
                              graph_launch *out, vpu_error *err)
{
    uint64_t n = blob_desc_bytes(&f->desc);
    const uint8_t *file = x->b->constants + f->offset; /* blob_check saw it */
    const char **name = arena_array(x->arena, const char *, 1);
    vpu_status st =
        meta_read_nth(&(const file_bytes){file, n, "the kernel's file"},
                      u->kernel, x->arena, m, err);

    if (st)
        return st;
    if (m->n_args != u->n_args)
        return err_set(err, VPU_ERR_PARSE, "%u arguments, kernel '%s' has %u",
                       u->n_args, m->name, m->n_args);
    out->entry = m->name;
    if (object_classify(file, n) != OBJECT_OURS ||
        (x->c->from_sources && x->c->kernels &&
         !find_sources(x, m->name, out, NULL)))
        return out->n_sources ? VPU_OK : find_sources(x, m->name, out, err);
    out->sources = NULL;
    *name = "the kernel's file";
    out->sources = name;
    out->n_sources = 1;
    out->bin = file;
    out->n_bin = n;
    return VPU_OK;
}

/* --- arguments ----------------------------------------------------------- */

static vpu_status buffer_argument(import_state *x, const blob_stage *s,
                                  const stage_custom *u, uint32_t number,
                                  graph_arg *out, vpu_error *err)
{
    const blob_buffer *f = &s->buffers[number];
    out->kind = GRAPH_ARG_BUFFER;
    out->written = number > stage_custom_elf(u);
    out->offset = f->offset;
    if (!import_place(x, f, &out->buffer) ||
        (out->written &&
         (out->buffer == x->constants || f->location == BLOB_INPUT)))
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "argument '%s': a buffer at location %u", out->name,
                       f->location);
    return VPU_OK;
}

static vpu_status arguments(import_state *x, const blob_stage *s,
                            const stage_custom *u, const meta_kernel *m,
                            graph_launch *out, vpu_error *err)
{
    graph_arg *list = arena_array(x->arena, graph_arg, u->n_args + 1);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < u->n_args && !st; i++) {
        const stage_arg *from = &u->args[i];
        graph_arg *to = &list[i];

        to->name = m->args[i];
        switch (from->tag) {
        case STAGE_ARG_INT:
            to->kind = GRAPH_ARG_INT;
            to->integer = (int32_t)from->value;
            /* A dimension that the binding declares float looks the same. */
            to->converts = true;
            break;
        case STAGE_ARG_FLOAT:
            to->kind = GRAPH_ARG_FLOAT;
            memcpy(&to->real, &from->value, 4);
            break;
        case STAGE_ARG_LOCAL:
            to->kind = GRAPH_ARG_LOCAL;
            to->bytes = from->value;
            break;
        default:
            st = buffer_argument(x, s, u, (uint32_t)from->tag, to, err);
        }
    }
    out->args = list;
    out->n_args = u->n_args;
    return st;
}

static vpu_status sizes(const stage_custom *u, graph_launch *out,
                        vpu_error *err)
{
    for (int i = 0; i < 3; i++) {
        uint64_t global = (uint64_t)u->groups[i] * u->local[i];

        if (u->offset[i])
            return err_set(err, VPU_ERR_UNSUPPORTED, "a global offset of %u",
                           u->offset[i]);
        if (global > UINT32_MAX)
            return err_set(err, VPU_ERR_UNSUPPORTED, "%u groups of %u items",
                           u->groups[i], u->local[i]);
        out->global[i] = (uint32_t)global;
        out->local[i] = u->local[i];
    }
    return VPU_OK;
}

vpu_status import_custom(import_state *x, const blob_stage *s, const char *name,
                         graph_launch *out, vpu_error *err)
{
    stage_custom u;
    meta_kernel m;
    vpu_status st;

    *out = (graph_launch){
        .name = name, .layer = name, .type = "Custom", .file = "the blob"};
    if (!stage_custom_read(s, x->arena, &u))
        return err_set(err, VPU_ERR_PARSE, "no custom stage's parameters");
    st = sizes(&u, out, err);
    out->max_shaves = u.max_shaves;
    if (s->n_shaves && (!u.max_shaves || s->n_shaves < u.max_shaves))
        out->max_shaves = s->n_shaves;
    if (!st)
        st =
            find_kernel(x, &s->buffers[stage_custom_elf(&u)], &u, &m, out, err);
    return st ? st : arguments(x, s, &u, &m, out, err);
}
