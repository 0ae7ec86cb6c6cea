/* What a point's words have besides those of vpu run: --expect out0=FILE.npy,
 * the tensor that an output should be. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/cli/sweep.h"
#include "runtime/graph/npy.h"

int cli_sweep_arguments(const sweep_words *words, options_list *expects,
                        char **argv, arena *a)
{
    int n = 0;

    *expects = (options_list){0};
    argv[n++] = arena_strdup(a, "run");
    for (size_t i = 0; i < words->n; i++) {
        const char *w = words->items[i], *value = NULL;

        if (!strncmp(w, "--expect=", 9))
            value = w + 9;
        else if (!strcmp(w, "--expect") && i + 1 < words->n)
            value = words->items[++i];
        if (!value)
            argv[n++] = words->items[i];
        else if (expects->n < OPTION_MAX_LIST)
            expects->items[expects->n++] = value;
    }
    argv[n] = NULL;
    return n;
}

static double element(uint32_t type, const void *data, size_t i)
{
    switch (type) {
    case VPU_F16:
        return (double)tensor_f16_to_f32(((const uint16_t *)data)[i]);
    case VPU_F32:
        return (double)((const float *)data)[i];
    case VPU_I32:
        return ((const int32_t *)data)[i];
    case VPU_U8:
        return ((const uint8_t *)data)[i];
    case VPU_I8:
        return ((const int8_t *)data)[i];
    case VPU_I16:
        return ((const int16_t *)data)[i];
    case VPU_U16:
        return ((const uint16_t *)data)[i];
    default:
        return (double)((const int64_t *)data)[i];
    }
}

/* tensor_dtype and vpu_type have the same order. */
static uint32_t type_of(const tensor *t)
{
    return (uint32_t)t->desc.dtype + VPU_F16;
}

/* NaN where a number should be, or the other way round, is as wrong as can be;
 * JSON has no infinity. */
static double distance(double x, double y)
{
    double d = fabs(x - y);

    if (x == y || (isnan(x) && isnan(y)))
        return 0;
    return isfinite(d) ? d : DBL_MAX;
}

static vpu_status compare(vpu_tensor *got, const tensor *want, const char *text,
                          arena *a, double *worst, vpu_error *err)
{
    uint32_t type = vpu_tensor_type(got);
    size_t bytes = vpu_tensor_bytes(got);
    size_t n = bytes / vpu_type_bytes(type);
    void *data = arena_push(a, bytes, 1, 64);
    vpu_status st;

    if (n != tensor_elements(&want->desc))
        return err_set(err, VPU_ERR_MISMATCH,
                       "--expect %s: the file has %s, the output %zu elements",
                       text, tensor_desc_text(a, &want->desc), n);
    st = vpu_tensor_read(got, data, bytes, err);
    for (size_t i = 0; !st && i < n; i++) {
        double d = distance(element(type, data, i),
                            element(type_of(want), want->data, i));

        *worst = d > *worst ? d : *worst;
    }
    return st;
}

static vpu_status measure(const char *text, vpu_graph *g, arena *a,
                          double *worst, vpu_error *err)
{
    const char *eq = strchr(text, '=');
    vpu_tensor *out = eq ? vpu_graph_tensor_named(
                               g, arena_strndup(a, text, (size_t)(eq - text)))
                         : NULL;
    tensor want;
    vpu_status st;

    if (!out || vpu_tensor_role(out) != VPU_ROLE_OUTPUT)
        return err_set(err, VPU_ERR_INVALID,
                       "--expect %s: expected OUTPUT=FILE.npy, with an output "
                       "of the layer, out0 for one",
                       text);
    st = npy_read(eq + 1, a, &want, err);
    return st ? st : compare(out, &want, text, a, worst, err);
}

vpu_status cli_sweep_measure(const options_list *expects, vpu_graph *g,
                             arena *a, double *worst, vpu_error *err)
{
    vpu_status st = VPU_OK;

    *worst = 0;
    for (uint32_t i = 0; i < expects->n && !st; i++)
        st = measure(expects->items[i], g, a, worst, err);
    return st;
}
