/* What a SimpleGPU kernel knows by macros, for a kernel of the VPU: sizes from
 * int arguments, parameters of the layer from int and float arguments. */
#include "runtime/port/port_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/gpu_defines.h"

static void add_scalar(port_state *p, const port_scalar *s)
{
    *arena_append(p->a, p->scalars, p->n_scalars, p->cap_scalars) = *s;
}

/* --- sizes --------------------------------------------------------------- */

static bool uses(const port_state *p, const port_tensor *t, const char *what)
{
    return port_has_word(p, arena_printf(p->a, "%s_%s", t->macro, what));
}

/* b, f, y, x: what the shape has, else 1. */
static void name_dims(port_state *p, port_tensor *t)
{
    static const char letters[] = "BFYX";

    t->needs_dims = p->all_dims || uses(p, t, "DIMS") || uses(p, t, "PITCHES");
    for (uint32_t i = 0; i < 4; i++) {
        port_scalar s = {.type = "int", .port = (int32_t)t->port};

        t->dims[i] = "1";
        if (i >= t->desc.rank)
            continue;
        t->dims[i] = arena_printf(p->a, "%u", t->desc.dims[i]);
        if (p->fixed || !t->needs_dims)
            continue;
        s.name =
            port_new_name(p, arena_printf(p->a, "%s_%c", t->word, letters[i]));
        s.source =
            arena_printf(p->a, "%c.%c", t->output ? 'O' : 'I', t->letters[i]);
        s.value = t->desc.dims[i];
        add_scalar(p, &s);
        t->dims[i] = s.name;
    }
}

const char *port_pitch(const port_state *p, const port_tensor *t,
                       const char *const dims[4], int d)
{
    const uint8_t *order = graph_gpu_order(t->format);
    const char *text = "1";

    for (int i = 0; order[i] != d; i++) {
        const char *dim = dims[order[i]];

        if (!strcmp(dim, "1"))
            continue;
        text =
            strcmp(text, "1") ? arena_printf(p->a, "%s * %s", text, dim) : dim;
    }
    return text;
}

/* An array literal cannot stand in a directive, so that one that asks for a
 * size does not compile rather than take it for 0. __private: to clang a
 * literal is in no address space, so that no pointer could lead to it. */
static void put_vector(str *out, const char *name, const char *type,
                       const char *const *items, size_t n)
{
    str_printf(out, "#define %s_SIZE %zu\n#define %s ((__private %s []){", name,
               n, name, type);
    for (size_t i = 0; i < n; i++)
        str_printf(out, "%s%s", i ? ", " : "", items[i]);
    str_puts(out, "})\n");
}

static void put_tensor(port_state *p, const port_tensor *t)
{
    static const char *const zeros[] = {"0", "0", "0", "0"};
    const char *pitches[4];
    str *out = &p->defines;

    for (int d = 0; d < 4; d++)
        pitches[d] =
            t->pitches[d] ? t->pitches[d] : port_pitch(p, t, t->dims, d);
    if (uses(p, t, "DIMS"))
        put_vector(out, arena_printf(p->a, "%s_DIMS", t->macro), "int", t->dims,
                   4);
    str_printf(out, "#define %s_TYPE %s\n#define %s_FORMAT_%s\n", t->macro,
               graph_gpu_type(t->desc.dtype), t->macro,
               config_format_name(t->gpu));
    if (uses(p, t, "LOWER_PADDING"))
        put_vector(out, arena_printf(p->a, "%s_LOWER_PADDING", t->macro), "int",
                   zeros, 4);
    if (uses(p, t, "UPPER_PADDING"))
        put_vector(out, arena_printf(p->a, "%s_UPPER_PADDING", t->macro), "int",
                   zeros, 4);
    if (uses(p, t, "PITCHES"))
        put_vector(out, arena_printf(p->a, "%s_PITCHES", t->macro), "int",
                   pitches, 4);
    if (uses(p, t, "OFFSET"))
        str_printf(out, "#define %s_OFFSET %s\n", t->macro,
                   t->offset ? t->offset : "0");
}

static size_t count_sizes(const char *list)
{
    size_t n = list != NULL;

    for (; list && *list; list++)
        n += *list == ',' && list[1];
    return n;
}

static void put_work_sizes(port_state *p)
{
    const graph_launch *l = port_launch(p);
    const char *sizes[3],
        *words[3] = {"get_global_size(0)", "get_global_size(1)",
                     "get_global_size(2)"};
    size_t n_global = count_sizes(p->kernel->global.text);
    size_t n_local = count_sizes(p->kernel->local.text);

    n_global = n_global ? n_global : 1;
    for (int i = 0; i < 3; i++) {
        sizes[i] = arena_printf(p->a, "%u", l->local[i]);
        if (p->fixed)
            words[i] = arena_printf(p->a, "%u", l->global[i]);
    }
    if (port_has_word(p, "GLOBAL_WORKSIZE") ||
        port_has_word(p, "GLOBAL_WORKSIZE_SIZE"))
        put_vector(&p->defines, "GLOBAL_WORKSIZE", "ulong", words, n_global);
    if (port_has_word(p, "LOCAL_WORKSIZE") ||
        port_has_word(p, "LOCAL_WORKSIZE_SIZE"))
        put_vector(&p->defines, "LOCAL_WORKSIZE", "ulong", sizes, n_local);
}

/* --- parameters ---------------------------------------------------------- */

static bool is_identifier(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_')
        return false;
    while (isalnum((unsigned char)*s) || *s == '_')
        s++;
    return !*s;
}

/* Whether the whole text is a number of that type. */
static bool is_number(const char *text, bool real)
{
    char *end;

    if (!*text || isspace((unsigned char)*text))
        return false;
    if (real)
        strtof(text, &end);
    else
        strtol(text, &end, 10);
    return end != text && !*end;
}

/* Whether a directive asks for the word: there it must be a number. */
static bool in_directive(const port_state *p, const char *word)
{
    for (size_t i = 0; i < p->n_files; i++)
        for (const char *l = p->files[i].code; *l;) {
            size_t n = strcspn(l, "\n"), blank = strspn(l, " \t");

            if (l[blank] == '#' && !memmem(l, n, "define", 6) &&
                port_text_has_word(arena_strndup(p->a, l, n), word))
                return true;
            l += n + (l[n] == '\n');
        }
    return false;
}

/* A value that each run of the VPU's layer may give anew: the type of Define
 * says how the kernel takes it. */
static bool is_scalar(const port_state *p, const config_define *d,
                      const char *value)
{
    return !p->fixed && value && !d->array && d->type &&
           is_identifier(d->name) && is_identifier(d->param.text) &&
           !in_directive(p, d->name) && is_number(value, *d->type == 'f');
}

static void put_define(port_state *p, const config_define *d)
{
    const graph_request *q = p->job->request;
    const char *given =
        d->param.text ? config_param_get(q->params, q->n_params, d->param.text)
                      : NULL;
    const char *value = given ? given : d->preset.text ? d->preset.text : "";
    port_scalar s = {.type = d->type, .port = -1, .source = d->param.text};

    if (d->array) {
        str_printf(&p->defines, "#define %s (__private %s[]) {%s}\n", d->name,
                   d->type, value);
    } else if (!is_scalar(p, d, given)) {
        str_printf(&p->defines, "#define %s %s\n", d->name, value);
    } else {
        s.name = port_new_name(p, d->param.text);
        s.value = *d->type == 'i' ? strtol(value, NULL, 10) : 0;
        *arena_append(p->a, p->params, p->n_params, p->cap_params) =
            d->param.text;
        add_scalar(p, &s);
        str_printf(&p->defines, "#define %s ((%s)(%s))\n", d->name, d->type,
                   s.name);
        return;
    }
    if (d->param.text && given)
        port_note(p, "parameter %s is fixed at %s, as given", d->param.text,
                  given);
    else if (d->param.text)
        port_note(p,
                  "parameter %s is fixed at its default, %s: MVCL has no "
                  "defaults (give --param %s=… and it stays a parameter)",
                  d->param.text, *value ? value : "nothing", d->param.text);
}

void port_macros(port_state *p)
{
    for (size_t i = 0; i < p->n_tensors; i++)
        name_dims(p, &p->tensors[i]);
    str_printf(&p->defines, "#define NUM_INPUTS %zu\n", p->n_tensors - 1);
    put_work_sizes(p);
    for (size_t i = 0; i < p->n_tensors; i++)
        put_tensor(p, &p->tensors[i]);
    for (size_t i = 0; i < p->kernel->n_defines; i++)
        put_define(p, &p->kernel->defines[i]);
    for (size_t i = 0; i < p->n_tensors; i++)
        if (p->tensors[i].desc.rank == 4 && p->tensors[i].desc.dims[0] > 1 &&
            !i)
            port_note(p,
                      "a device runs the layer once for each item of a batch, "
                      "with the work sizes of all of them: use it for a batch "
                      "of 1 there (here %u)",
                      p->tensors[i].desc.dims[0]);
    if (p->fixed)
        port_note(p, "the layer is for the shapes and parameters given alone");
}
