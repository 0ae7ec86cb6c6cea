/* Any bytes as a binding file; what parses is bound to fixed shapes, and the
 * sizes of SimpleGPU layers are computed for several. */
#include "runtime/config/gpu.h"
#include "runtime/config/layer.h"
#include "runtime/graph/bind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Small and large ones, where products do not fit. */
static void sizes_of(const config_layer *l)
{
    static const config_gpu_vars vars[] = {
        {{1, 8, 4, 6}}, {{0, 0, 0, 7}}, {{INT32_MAX, 65536, 3, INT32_MAX}}};
    const config_kernel *k = &l->kernels[0];
    uint32_t sizes[CONFIG_GPU_MAX_DIMS];
    vpu_error err;
    size_t count;

    for (size_t i = 0; i < sizeof vars / sizeof *vars; i++) {
        config_gpu_sizes(l, "global", k->global, &vars[i], sizes, &count, &err);
        config_gpu_sizes(l, "local", k->local, &vars[i], sizes, &count, NULL);
    }
}

/* With padding only SimpleGPU layers are bound. */
static void bind_all(const config_file *file, arena *a)
{
    graph_shape shapes[] = {
        {.desc = {.rank = 4, .dims = {1, 8, 4, 6}}},
        {.port = 1, .desc = {.rank = 2, .dims = {4, 6}}},
        {.output = true, .desc = {.rank = 4, .dims = {2, 3, 4, 5}}}};
    config_param params[] = {{"kernel", "3,3"}, {"bias", "0.5"}};
    graph_padding paddings[] = {
        {.left = 1, .right = 2, .top = 3, .bottom = 4},
        {.output = true, .left = 65535, .bottom = 65535}};
    graph_request q = {.binding = file,
                       .shapes = shapes,
                       .n_shapes = 1,
                       .params = params,
                       .n_params = 2};
    vpu_error err;
    graph *g;

    graph_bind(&q, a, NULL, &g, &err);
    q.type = file->layers[file->n_layers - 1].type;
    q.paddings = paddings;
    for (q.n_shapes = 1; q.n_shapes <= 3; q.n_shapes++) {
        q.n_paddings = q.n_shapes - 1;
        graph_bind(&q, a, NULL, &g, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const file_bytes text = {data, n, "f/x.xml"};
    arena *a = arena_create(0);
    config_file file, twice;
    vpu_error err;

    for (int r = CONFIG_EVERY_RELEASE; r <= CONFIG_2022_3; r += 4) {
        if (config_file_parse(&text, a, NULL, (config_release)r, &file, &err))
            continue;
        for (size_t i = 0; i < file.n_layers; i++)
            if (file.layers[i].form == CONFIG_FORM_GPU)
                sizes_of(&file.layers[i]);
        bind_all(&file, a);
        config_file_join((const config_file[]){file, file}, 2, a, NULL, &twice);
        bind_all(&twice, a);
    }
    arena_destroy(a);
    return 0;
}
