/* Any bytes as a binding file; what parses is bound to a fixed shape. */
#include "runtime/config/layer.h"
#include "runtime/graph/bind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    arena *a = arena_create(0);
    graph_shape in = {.desc = {.rank = 4, .dims = {1, 8, 4, 6}}};
    config_param params[] = {{"kernel", "3,3"}, {"bias", "0.5"}};
    config_file file;
    graph_request q = {.binding = &file,
                       .shapes = &in,
                       .n_shapes = 1,
                       .params = params,
                       .n_params = 2};
    vpu_error err;
    graph *g;

    for (int r = CONFIG_EVERY_RELEASE; r <= CONFIG_2022_3; r += 4)
        if (!config_file_parse(&(const file_bytes){data, n, "f/x.xml"}, a, NULL,
                               (config_release)r, &file, &err))
            graph_bind(&q, a, NULL, &g, &err);
    arena_destroy(a);
    return 0;
}
