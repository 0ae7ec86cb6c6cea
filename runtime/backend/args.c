/* Checks kernels' signatures against their bindings. */
#include "runtime/backend/args.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "sim/builtins/lacking.h"
#include "sim/builtins/routines.h"

static const char *arg_kind(const graph_arg *g)
{
    switch (g->kind) {
    case GRAPH_ARG_BUFFER:
        return "a tensor or data (global memory)";
    case GRAPH_ARG_LOCAL:
        return "local_data";
    case GRAPH_ARG_INT:
        return "an int scalar";
    case GRAPH_ARG_FLOAT:
        return "a float scalar";
    case GRAPH_ARG_BYTES:
        return "a value";
    default:
        return "nothing usable";
    }
}

static const char *space_name(sim_arg_space s)
{
    static const char *const names[] = {"", "__global ", "__constant ",
                                        "__local "};

    return names[s];
}

/* The element that a binding file has for the argument. */
static const char *binding_for(const sim_arg *p)
{
    switch (p->space) {
    case SIM_ARG_LOCAL:
        return "a Data of type=\"local_data\"";
    case SIM_ARG_SCALAR:
        return p->is_float ? "a Scalar of type=\"float\""
                           : "a Scalar of type=\"int\"";
    default:
        return "a Tensor, or a Data of type=\"data\"";
    }
}

static vpu_status mismatch(const backend_binding *b, const sim_arg *p,
                           const graph_arg *g, vpu_error *err)
{
    char line[16] = "";

    if (b->kernel->line)
        snprintf(line, sizeof line, ":%u", b->kernel->line);
    return err_at(err, VPU_ERR_MISMATCH, b->launch->file, g->line, 0,
                  "argument '%s' of kernel '%s' is %s%s in %s%s, but the "
                  "binding gives %s; expected %s",
                  p->name, b->kernel->name, space_name(p->space), p->type,
                  b->kernel->source, line, arg_kind(g), binding_for(p));
}

/* --- arguments without a binding ----------------------------------------- */

/* --- arguments by index -------------------------------------------------- */

/* As many on both sides, or a message that says which has none. */
static vpu_status check_count(const backend_binding *b, vpu_error *err)
{
    const graph_launch *l = b->launch;
    const sim_kernel *k = b->kernel;

    if (k->n_args > l->n_args)
        return err_at(err, VPU_ERR_INVALID, l->file, l->line, 0,
                      "argument %u of kernel '%s', '%s', has no Tensor with "
                      "arg-index=\"%u\"",
                      l->n_args, k->name, k->args[l->n_args].name, l->n_args);
    if (k->n_args < l->n_args)
        return err_at(err, VPU_ERR_INVALID, l->file, l->args[k->n_args].line, 0,
                      "arg-index=\"%u\", but kernel '%s' has %u argument%s",
                      k->n_args, k->name, k->n_args, k->n_args == 1 ? "" : "s");
    for (uint32_t i = 0; i < k->n_args; i++) {
        const sim_arg *p = &k->args[i];

        const lacking_row *no = lacking_find(p->type);

        if (no)
            return err_at(err, VPU_ERR_UNSUPPORTED, l->file, l->args[i].line, 0,
                          "argument %u of kernel '%s', '%s', is %s; a VPU has "
                          "no %s (%s): %s",
                          i, k->name, p->name, p->type, no->name, no->why,
                          no->instead);
        if (!l->program &&
            (p->space == SIM_ARG_SCALAR || p->space == SIM_ARG_LOCAL))
            return err_at(err, VPU_ERR_MISMATCH, l->file, l->args[i].line, 0,
                          "argument %u of kernel '%s', '%s', is %s%s; a "
                          "SimpleGPU layer binds pointers to global memory "
                          "alone, and gives numbers as macros (Define)",
                          i, k->name, p->name, space_name(p->space), p->type);
    }
    return VPU_OK;
}

static bool is_bound(const backend_binding *b, const sim_arg *p)
{
    for (uint32_t i = 0; i < b->launch->n_args; i++)
        if (!strcmp(b->launch->args[i].name, p->name))
            return true;
    return false;
}

static bool is_argument(const sim_kernel *k, const char *name)
{
    for (uint32_t i = 0; i < k->n_args; i++)
        if (!strcmp(k->args[i].name, name))
            return true;
    return false;
}

/* The binding element whose arg-name is none of the kernel's and nearest to
 * p's; NULL. */
static const graph_arg *misspelt(const backend_binding *b, const sim_arg *p)
{
    const graph_arg *found = NULL;
    nearest n = {.word = p->name};

    for (uint32_t i = 0; i < b->launch->n_args; i++) {
        const graph_arg *g = &b->launch->args[i];

        if (is_argument(b->kernel, g->name))
            continue;
        nearest_offer(&n, g->name);
        found = n.best == g->name ? g : found;
    }
    return found;
}

static vpu_status not_bound(const backend_binding *b, const sim_arg *p,
                            vpu_error *err)
{
    const graph_arg *like = misspelt(b, p);
    const sim_kernel *k = b->kernel;
    str names = {0}, others = {0};
    vpu_status st;

    for (uint32_t i = 0; i < k->n_args; i++)
        str_printf(&names, "%s%s", i ? ", " : "", k->args[i].name);
    for (uint32_t i = 0; i < b->launch->n_args; i++)
        if (!is_argument(k, b->launch->args[i].name))
            str_printf(&others, "%s'%s' (line %u)", others.n ? ", " : "",
                       b->launch->args[i].name, b->launch->args[i].line);
    if (like)
        st = err_at(err, VPU_ERR_INVALID, b->launch->file, like->line, 0,
                    "kernel '%s' has no argument '%s'; did you mean '%s', "
                    "which has no binding? Its arguments are %s",
                    k->name, like->name, p->name, str_text(&names));
    else
        st = err_at(err, VPU_ERR_INVALID, b->launch->file, b->launch->line, 0,
                    "argument '%s' of kernel '%s' has no binding; expected %s "
                    "with arg-name=\"%s\"%s%s",
                    p->name, k->name, binding_for(p), p->name,
                    others.n ? "; bound are arguments that the kernel does not "
                               "have: "
                             : "",
                    str_text(&others));
    str_free(&names);
    str_free(&others);
    return st;
}

static vpu_status bind_scalar(const backend_binding *b, const sim_arg *p,
                              const graph_arg *g, backend_arg *v,
                              vpu_error *err)
{
    bool is_int = g->kind == GRAPH_ARG_INT;
    int64_t i = g->integer;

    if (g->kind == GRAPH_ARG_BYTES) {
        if (g->bytes != p->bytes || g->bytes > sizeof v->raw)
            return mismatch(b, p, g, err);
        memcpy(v->raw, g->value, g->bytes);
        return VPU_OK;
    }
    if (!is_int && g->kind != GRAPH_ARG_FLOAT)
        return mismatch(b, p, g, err);
    if (p->is_float ? is_int && !g->converts : !is_int)
        return mismatch(b, p, g, err);
    if (p->is_float) {
        float f = is_int ? (float)g->integer : g->real;
        builtin_half h = (builtin_half)f;

        if (p->bytes == 2)
            memcpy(v->raw, &h, 2);
        else if (p->bytes == 4)
            memcpy(v->raw, &f, 4);
        else
            return mismatch(b, p, g, err);
        return VPU_OK;
    }
    if (p->bytes > 8)
        return mismatch(b, p, g, err);
    memcpy(v->raw, &i, p->bytes); /* little-endian: the low bytes */
    return VPU_OK;
}

/* Scalar types of OpenCL C as a tensor has them. */
static const struct {
    const char *name;
    uint32_t bytes;
    tensor_dtype dtype;
} scalar_types[] = {{"char", 1, TENSOR_I8},   {"uchar", 1, TENSOR_U8},
                    {"short", 2, TENSOR_I16}, {"ushort", 2, TENSOR_U16},
                    {"int", 4, TENSOR_I32},   {"uint", 4, TENSOR_I32},
                    {"long", 8, TENSOR_I64},  {"ulong", 8, TENSOR_I64},
                    {"half", 2, TENSOR_F16},  {"float", 4, TENSOR_F32}};
enum { N_SCALAR_TYPES = sizeof scalar_types / sizeof *scalar_types };

/* The scalar type behind "ushort*" or "half8*"; N_SCALAR_TYPES for structs and
 * names of the kernel's own. */
static unsigned scalar_type(const sim_arg *p)
{
    size_t n = strspn(p->type, "abcdefghijklmnopqrstuvwxyz");
    size_t digits = strspn(p->type + n, "0123456789");
    unsigned k = 0;

    if (p->type[n + digits] != '*')
        return N_SCALAR_TYPES;
    while (k < N_SCALAR_TYPES && (strlen(scalar_types[k].name) != n ||
                                  strncmp(p->type, scalar_types[k].name, n)))
        k++;
    return k;
}

bool backend_arg_type(const sim_arg *p, tensor_dtype *out)
{
    unsigned t = scalar_type(p);

    if (t < N_SCALAR_TYPES)
        *out = scalar_types[t].dtype;
    return t < N_SCALAR_TYPES;
}

static vpu_status wrong_type(const backend_binding *b, const sim_arg *p,
                             const graph_arg *g, vpu_error *err)
{
    const graph_buffer *x = &b->graph->buffers[g->buffer];
    unsigned t = scalar_type(p);

    return err_at(
        err, VPU_ERR_MISMATCH, b->launch->file, g->line, 0,
        "argument '%s' of kernel '%s' is %s%s in %s, but the tensor holds %s "
        "(--shape %.*s=…:%s gives it another type)",
        p->name, b->kernel->name, space_name(p->space), p->type,
        b->kernel->source, tensor_dtype_name(x->desc.dtype),
        (int)strcspn(x->name, "@"), x->name,
        t < N_SCALAR_TYPES ? tensor_dtype_name(scalar_types[t].dtype) : "TYPE");
}

/* Of a program: no memory object. */
static bool is_null(const graph_arg *g)
{
    static const uint32_t null;

    return g->kind == GRAPH_ARG_BYTES && g->bytes == sizeof null &&
           !memcmp(g->value, &null, sizeof null);
}

/* Kernels may take a tensor for something else of the same size, or read
 * several elements at once; scratch and data have no type of their own. Smaller
 * elements would be halves of numbers. */
static vpu_status bind_buffer(const backend_binding *b, const sim_arg *p,
                              const graph_arg *g, backend_arg *v,
                              vpu_error *err)
{
    const graph_buffer *x;
    uint32_t bytes, element = p->element_bytes;
    unsigned t = scalar_type(p);
    bool is_float, tensor_is_float;

    if (is_null(g))
        return VPU_OK; /* a scalar of zeros */
    if (g->kind != GRAPH_ARG_BUFFER)
        return mismatch(b, p, g, err);
    v->kind = BACKEND_ARG_BUFFER;
    v->buffer = g->buffer;
    v->offset = g->offset;
    v->items = g->items;
    v->written = g->written;
    x = &b->graph->buffers[g->buffer];
    v->bytes = g->bytes   ? g->bytes
               : g->items ? (uint32_t)(x->bytes / g->items)
                          : 0;
    if (x->untyped)
        return VPU_OK;
    bytes = tensor_dtype_bytes(x->desc.dtype);
    if (t < N_SCALAR_TYPES)
        element = scalar_types[t].bytes;
    is_float = t < N_SCALAR_TYPES && (scalar_types[t].dtype == TENSOR_F16 ||
                                      scalar_types[t].dtype == TENSOR_F32);
    tensor_is_float =
        x->desc.dtype == TENSOR_F16 || x->desc.dtype == TENSOR_F32;
    if (is_float && tensor_is_float && element != bytes)
        return wrong_type(b, p, g, err);
    if (x->role == GRAPH_CONST || !element || element == bytes)
        return VPU_OK;
    if (element < bytes)
        return wrong_type(b, p, g, err);
    if (t < N_SCALAR_TYPES)
        log_note(b->log,
                 "%s:%u: '%s' is %s%s: each element is %u of the tensor, which "
                 "holds %s",
                 b->launch->file, g->line, p->name, space_name(p->space),
                 p->type, element / bytes, tensor_dtype_name(x->desc.dtype));
    return VPU_OK;
}

/* Shipped bindings carry more than their kernels use: one line for all. */
static void note_unused(const backend_binding *b)
{
    const graph_launch *l = b->launch;
    const sim_kernel *k = b->kernel;
    uint32_t line = 0;
    str names = {0};

    for (uint32_t n = 0; n < l->n_args; n++) {
        bool used = false;

        for (uint32_t i = 0; i < k->n_args; i++)
            used |= !strcmp(l->args[n].name, k->args[i].name);
        if (used)
            continue;
        line = line ? line : l->args[n].line;
        str_printf(&names, "%s'%s'", names.n ? ", " : "", l->args[n].name);
    }
    if (names.n)
        log_note(b->log,
                 "%s:%u: kernel '%s' has no argument %s: ignored, as the real "
                 "runtime does",
                 l->file, line, k->name, str_text(&names));
    str_free(&names);
}

vpu_status backend_args_bind(const backend_binding *b, arena *a,
                             backend_arg **out, vpu_error *err)
{
    const sim_kernel *k = b->kernel;
    vpu_status st = VPU_OK;

    *out = arena_array(a, backend_arg, k->n_args + 1);
    if (b->launch->by_index)
        st = check_count(b, err);
    for (uint32_t i = 0; i < k->n_args && !st; i++) {
        const sim_arg *p = &k->args[i];
        backend_arg *v = &(*out)[i];
        const graph_arg *ga;

        if (b->launch->by_index)
            ga = &b->launch->args[i];
        else
            st = is_bound(b, p) ? graph_launch_arg(b->launch, p->name, &ga, err)
                                : not_bound(b, p, err);
        if (st)
            return st;
        switch (p->space) {
        case SIM_ARG_SCALAR:
            st = bind_scalar(b, p, ga, v, err);
            break;
        case SIM_ARG_LOCAL:
            if (ga->kind != GRAPH_ARG_LOCAL)
                st = mismatch(b, p, ga, err);
            v->kind = BACKEND_ARG_LOCAL;
            v->bytes = ga->bytes;
            break;
        default:
            st = bind_buffer(b, p, ga, v, err);
        }
    }
    if (!st && !b->launch->by_index)
        note_unused(b);
    return st;
}
