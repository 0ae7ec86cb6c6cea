/* Boxes of a YOLO head: logistic of the first two coordinates and of the score,
 * softmax or logistic of the classes. In float, with an exp that is rounded
 * once, and to half at the end. */
#include <math.h>

#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "num", error) ||
           vpu_plugin_lacks(layer, "coords", error) ||
           vpu_plugin_lacks(layer, "classes", error) ||
           vpu_plugin_lacks(layer, "do_softmax", error) ||
           vpu_plugin_keep(layer, self, error);
}

static float exp_float(float v)
{
    return (float)exp((double)v);
}

static float logistic(float v)
{
    return 1.0f / (1.0f + exp_float(-v));
}

/* A box at one pixel: n channels, step elements apart, of which the first are
 * coordinates, then the score, then the classes. */
typedef struct {
    size_t n, step, coords;
    int softmax; /* of the classes */
} shape;

/* Elements from `from` on become those from `to` on. */
static void region(const shape *box, const vpu_plugin_tensor *in, size_t from,
                   const vpu_plugin_tensor *out, size_t to)
{
    size_t n = box->n, step = box->step, coords = box->coords;
    float sum = 0, largest = -INFINITY;

    for (size_t c = coords + 1; c < n; c++)
        largest = fmaxf(largest, get(in, from + c * step));
    for (size_t c = coords + 1; c < n; c++)
        sum = sum + exp_float(get(in, from + c * step) - largest);
    for (size_t c = 0; c < n; c++) {
        float v = get(in, from + c * step);

        if (c > coords && box->softmax)
            v = exp_float(v - largest) / sum;
        else if (c < 2 || c >= coords)
            v = logistic(v);
        put(out, to + c * step, v);
    }
}

/* Number k of "4,0,1"; 0 when there is none. */
static size_t listed(const char *list, size_t k)
{
    for (; list && k; k--) {
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return list ? (size_t)strtoul(list, NULL, 10) : 0;
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    size_t num = (size_t)vpu_plugin_number(l, "num", 1);
    size_t coords = (size_t)vpu_plugin_number(l, "coords", 4);
    size_t n = coords + 1 + (size_t)vpu_plugin_number(l, "classes", 1);
    int softmax = vpu_plugin_number(l, "do_softmax", 1) != 0;
    size_t boxes = dim(out, 1) / n, plane = (size_t)dim(in, 2) * dim(in, 3);
    const shape each = {
        .n = n, .step = plane, .coords = coords, .softmax = softmax};

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    for (size_t i = 0; i < dim(out, 0) * boxes * plane; i++) {
        size_t p = i % plane, k = i / plane % boxes, b = i / plane / boxes;
        size_t box = softmax ? k : listed(vpu_plugin_text(l, "mask"), k);

        if (box >= num || num * n > dim(in, 1))
            return vpu_plugin_fail(error, "a box that the input does not have");
        region(&each, in, (b * num + box) * n * plane + p, out,
               (b * boxes + k) * n * plane + p);
    }
    return 0;
}

static const char *const types[] = {"RegionYolo", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "region",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = vpu_plugin_halves,
                                  .shape = NULL,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
