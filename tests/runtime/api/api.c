#include "tests/runtime/api/api.h"

#include <check.h>
#include <string.h>

#include "base/file.h"

vpu_error api_err;

void api_expect(vpu_status status, vpu_status wanted, const char *words,
                const char *call)
{
    ck_assert_msg(status == wanted, "%s: status %d (%s), not %d: %s", call,
                  status, vpu_status_text(status), wanted, api_err.msg);
    if (wanted) {
        ck_assert_msg(strstr(api_err.msg, words), "%s: no '%s' in: %s", call,
                      words, api_err.msg);
        ck_assert_int_eq(api_err.code, wanted);
    }
}

vpu_context *api_context(const char *backend)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;

    o.backend = backend;
    api_ok(vpu_context_create(&c, &o, &api_err));
    return c;
}

vpu_program *api_program(vpu_context *c, const char *source)
{
    vpu_program_options o = VPU_PROGRAM_OPTIONS_INIT;
    vpu_program *p;

    o.source = source;
    api_ok(vpu_program_create(&p, c, &o, &api_err));
    return p;
}

vpu_tensor *api_tensor(vpu_graph *g, const char *name, uint32_t role,
                       uint32_t type, uint32_t n)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *t;

    o.name = name;
    o.role = role;
    o.type = type;
    o.rank = 1;
    o.dims[0] = n;
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    return t;
}

vpu_operation *api_layer(vpu_graph *g, const char *dir, const char *source,
                         const char *text)
{
    static const char *const shapes[] = {"in0=1x1x1x16:f16"};
    vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
    arena *a = arena_create(0);
    const char *xml = file_join(a, dir, "layer.xml");
    const char *binding = arena_printf(
        a,
        "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">\n"
        "  <Kernel entry=\"k\"><Source filename=\"%s\"/><Parameters>\n"
        "    <Tensor arg-name=\"x\" type=\"input\" port-index=\"0\" "
        "format=\"BFYX\"/>\n"
        "    <Tensor arg-name=\"y\" type=\"output\" port-index=\"0\" "
        "format=\"BFYX\"/>\n"
        "  </Parameters><WorkSizes dim=\"input,0\" global=\"X,1,1\" "
        "local=\"1,1,1\"/></Kernel>\n"
        "</CustomLayer>\n",
        source);
    vpu_operation *op;

    ck_assert(!file_write(xml, binding, strlen(binding), NULL));
    if (text)
        ck_assert(
            !file_write(file_join(a, dir, source), text, strlen(text), NULL));
    o.bindings = &xml;
    o.n_bindings = 1;
    o.shapes = shapes;
    o.n_shapes = 1;
    api_ok(vpu_graph_add_layer(g, &o, &op, &api_err));
    arena_destroy(a);
    return op;
}

const char api_scale_source[] =
    "__kernel void scale(__global const float *x, __global float *y,\n"
    "                    float f)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    y[i] = x[i] * f;\n"
    "}\n";

void api_scaling_open(api_scaling *s, vpu_context *c, uint32_t n, double f)
{
    vpu_launch_options o = VPU_LAUNCH_OPTIONS_INIT;

    s->context = c;
    s->program = api_program(c, api_scale_source);
    api_ok(vpu_program_kernel(s->program, "scale", &s->kernel, &api_err));
    api_ok(vpu_graph_create(&s->graph, c, &api_err));
    s->x = api_tensor(s->graph, "x", VPU_ROLE_INPUT, VPU_F32, n);
    s->y = api_tensor(s->graph, "y", VPU_ROLE_OUTPUT, VPU_F32, n);
    o.global[0] = n;
    api_ok(
        vpu_graph_add_kernel(s->graph, s->kernel, &o, &s->operation, &api_err));
    api_ok(vpu_operation_set_tensor(s->operation, "x", s->x, &api_err));
    api_ok(vpu_operation_set_tensor(s->operation, "y", s->y, &api_err));
    api_ok(vpu_operation_set_real(s->operation, "f", f, &api_err));
}

void api_scaling_close(api_scaling *s)
{
    vpu_graph_free(s->graph);
    vpu_program_free(s->program);
}
