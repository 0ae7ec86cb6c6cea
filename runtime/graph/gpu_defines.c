/* Writes the macros of a SimpleGPU layer. */
#include "runtime/graph/gpu_defines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const uint8_t *graph_gpu_order(config_format f)
{
    static const uint8_t orders[][4] = {[CONFIG_BFYX] = {3, 2, 1, 0},
                                        [CONFIG_BYXF] = {1, 3, 2, 0},
                                        [CONFIG_YXFB] = {0, 1, 3, 2},
                                        [CONFIG_FYXB] = {0, 3, 2, 1}};

    return orders[f];
}

vpu_status graph_gpu_place(graph_gpu_tensor *t, vpu_error *err)
{
    uint64_t pitch = 1, most = TENSOR_MAX_BYTES / tensor_dtype_bytes(t->dtype);

    if (most > UINT32_MAX) /* pitches and offsets have 32 bits */
        most = UINT32_MAX;
    t->at.offset = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t d = graph_gpu_order(t->format)[i];
        uint64_t whole = (uint64_t)t->lower[d] + t->dims[d] + t->upper[d];

        t->at.pitches[d] = (uint32_t)pitch;
        t->at.offset += (uint32_t)(pitch * t->lower[d]);
        if (__builtin_mul_overflow(pitch, whole, &pitch) || pitch > most)
            return err_set(err, VPU_ERR_LIMIT,
                           "the tensor has more than %" PRIu64
                           " elements with its padding",
                           most);
    }
    t->elements = pitch;
    return VPU_OK;
}

const char *graph_gpu_type(tensor_dtype t)
{
    static const char *const names[TENSOR_N_DTYPES] = {
        [TENSOR_F16] = "half", [TENSOR_F32] = "float", [TENSOR_I32] = "int",
        [TENSOR_U8] = "uchar", [TENSOR_I8] = "char",   [TENSOR_I64] = "long"};

    return names[t];
}

typedef struct {
    str *out;
    const char *space; /* in front of an array's type */
} writer;

/* NAME_SIZE and NAME: an array literal. */
static void put_vector(const writer *w, const char *name, const char *type,
                       const uint32_t *items, size_t n)
{
    str_printf(w->out, "#define %s_SIZE %zu\n#define %s (%s%s []){ ", name, n,
               name, w->space, type);
    for (size_t i = 0; i < n; i++)
        str_printf(w->out, "%u,", items[i]);
    str_puts(w->out, " } \n");
}

static void put_tensor(const writer *w, const char *who,
                       const graph_gpu_tensor *t)
{
    const struct {
        const char *name;
        const uint32_t *items;
    } vectors[] = {{"LOWER_PADDING", t->lower},
                   {"UPPER_PADDING", t->upper},
                   {"PITCHES", t->at.pitches}};
    char name[64];

    snprintf(name, sizeof name, "%s_DIMS", who);
    put_vector(w, name, "int", t->dims, 4);
    str_printf(w->out, "#define %s_TYPE %s\n#define %s_FORMAT_%s \n", who,
               graph_gpu_type(t->dtype), who, config_format_name(t->format));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        snprintf(name, sizeof name, "%s_%s", who, vectors[i].name);
        put_vector(w, name, "int", vectors[i].items, 4);
    }
    str_printf(w->out, "#define %s_OFFSET %u\n", who, t->at.offset);
}

static void put_built_in(const writer *w, const graph_gpu_layer *l)
{
    char name[32];

    str_printf(w->out, "#define NUM_INPUTS %zu\n", l->n_inputs);
    put_vector(w, "GLOBAL_WORKSIZE", "ulong", l->global, l->n_global);
    put_vector(w, "LOCAL_WORKSIZE", "ulong", l->local, l->n_local);
    for (size_t i = 0; i < l->n_inputs; i++) {
        snprintf(name, sizeof name, "INPUT%zu", i);
        put_tensor(w, name, &l->inputs[i]);
    }
    put_tensor(w, "OUTPUT0", &l->output);
}

static vpu_status put_define(const writer *w, const graph_gpu_layer *l,
                             const config_define *d, vpu_error *err)
{
    const char *value = NULL;

    if (d->param.text)
        value = config_param_get(l->params, l->n_params, d->param.text);
    if (!value && d->preset.text)
        value = d->preset.text;
    if (!value && d->param.text)
        return err_at(err, VPU_ERR_INVALID, l->layer->path, d->param.line,
                      d->param.col,
                      "Define %s: the layer has no parameter '%s', and there "
                      "is no default; give it with --param %s=…",
                      d->name, d->param.text, d->param.text);
    value = value ? value : "";
    /* A backslash at the end, too, would take the next macro away. */
    if (strpbrk(value, "\r\n") ||
        (*value && value[strlen(value) - 1] == '\\' && !d->array))
        return err_at(err, VPU_ERR_INVALID, l->layer->path, d->line, d->col,
                      "Define %s: its value goes over the end of a line",
                      d->name);
    if (d->array)
        str_printf(w->out, "#define %s (%s%s[]) {%s}\n", d->name, w->space,
                   d->type, value);
    else
        str_printf(w->out, "#define %s %s\n", d->name, value);
    return VPU_OK;
}

vpu_status graph_gpu_defines(const graph_gpu_layer *l, bool private_arrays,
                             str *out, vpu_error *err)
{
    const writer w = {out, private_arrays ? "__private " : ""};
    const config_kernel *k = &l->layer->kernels[0];
    vpu_status st = VPU_OK;

    put_built_in(&w, l);
    for (size_t i = 0; i < k->n_defines && !st; i++)
        st = put_define(&w, l, &k->defines[i], err);
    return st;
}
