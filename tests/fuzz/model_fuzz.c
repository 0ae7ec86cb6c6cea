/* Any bytes as a model with a small weights file; each layer is bound,
 * then all in a row. */
#include "runtime/config/model.h"

#include <string.h>

#include "runtime/graph/bind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char binding[] =
    "<CustomLayer name=\"A\" type=\"MVCL\" version=\"1\"><Kernel entry=\"k\">"
    "<Source filename=\"k.cl\"/><Parameters>"
    "<Tensor arg-name=\"i\" type=\"input\" port-index=\"0\" format=\"ANY\"/>"
    "<Tensor arg-name=\"o\" type=\"output\" port-index=\"0\" format=\"ANY\"/>"
    "<Data arg-name=\"w\" type=\"data\" source=\"weights\"/>"
    "<Scalar arg-name=\"s\" type=\"int\" port-index=\"0\" source=\"I.X\"/>"
    "</Parameters><WorkSizes dim=\"input,0\" global=\"X,Y,F\" local=\"1,1,1\"/>"
    "</Kernel></CustomLayer>";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char bin[64];
    arena *a = arena_create(0);
    config_model m;
    config_file file;
    vpu_error err;
    graph *g;

    if (!config_model_parse(&(const file_bytes){data, n, "m.xml"},
                            &(const file_bytes){bin, sizeof bin, "m.bin"}, a,
                            &m, &err) &&
        !config_file_parse(
            &(const file_bytes){binding, strlen(binding), "b.xml"}, a, NULL,
            CONFIG_EVERY_RELEASE, &file, &err))
        for (size_t i = 0; i <= m.n_layers; i++) {
            graph_request q = {.binding = &file,
                               .model = &m,
                               .at = i < m.n_layers ? m.layers[i].name : NULL};

            graph_bind(&q, a, NULL, &g, &err);
        }
    arena_destroy(a);
    return 0;
}
