/* Bindings against the kernel's signature, and where they lead. */
#include <string.h>

#include "runtime/lint/lint_priv.h"

static const char *space_name(sim_arg_space s)
{
    static const char *const names[] = {"", "__global ", "__constant ",
                                        "__local "};

    return names[s];
}

static const char *kind_text(config_binding_kind k)
{
    switch (k) {
    case CONFIG_DATA:
        return "data in global memory";
    case CONFIG_LOCAL_DATA:
        return "local_data";
    case CONFIG_INT:
        return "an int scalar";
    case CONFIG_FLOAT:
        return "a float scalar";
    default:
        return "a tensor";
    }
}

static bool binds(const lint_stage *s, const config_binding *b, uint32_t arg)
{
    return s->layer->form == CONFIG_FORM_GPU
               ? (uint32_t)b->index == arg
               : !strcmp(s->kernel->args[arg].name, b->arg);
}

static const sim_arg *arg_of(const lint_stage *s, const config_binding *b)
{
    for (uint32_t i = 0; i < s->kernel->n_args; i++)
        if (binds(s, b, i))
            return &s->kernel->args[i];
    return NULL;
}

static bool right_kind(const config_binding *b, const sim_arg *p)
{
    switch (b->kind) {
    case CONFIG_INT:
    case CONFIG_FLOAT:
        return p->space == SIM_ARG_SCALAR;
    case CONFIG_LOCAL_DATA:
        return p->space == SIM_ARG_LOCAL;
    default:
        return p->space == SIM_ARG_GLOBAL || p->space == SIM_ARG_CONSTANT;
    }
}

/* Dimensions come as int whatever the binding says. */
static bool is_dimension(const config_binding *b)
{
    return b->source.text && strchr(b->source.text, '.');
}

static void check_scalar(lint_state *l, const lint_stage *s,
                         const config_binding *b, const sim_arg *p)
{
    bool as_int = b->kind == CONFIG_INT || is_dimension(b);

    if (p->bytes != 4)
        lint_report(l, LINT_ARG_TYPE, s->layer->path, b->line, 0,
                    "argument '%s' of kernel '%s' is %s, %u bytes; the binding "
                    "hands over 32 bits",
                    b->arg, s->kernel->name, p->type, p->bytes);
    else if (p->is_float == as_int)
        lint_report(l, LINT_ARG_TYPE, s->layer->path, b->line, 0,
                    "argument '%s' of kernel '%s' is %s, but the binding hands "
                    "over %s",
                    b->arg, s->kernel->name, p->type,
                    is_dimension(b) ? "a dimension, which is an int"
                    : as_int        ? "an int"
                                    : "a float");
}

static void check_binding(lint_state *l, const lint_stage *s,
                          const config_binding *b)
{
    const sim_arg *p = arg_of(s, b);

    if (!p && s->layer->form == CONFIG_FORM_GPU)
        lint_report(l, LINT_ARG_UNKNOWN, s->layer->path, b->line, 0,
                    "arg-index=\"%s\", but kernel '%s' has %u argument%s: the "
                    "layer does not run",
                    b->arg, s->kernel->name, s->kernel->n_args,
                    s->kernel->n_args == 1 ? "" : "s");
    else if (!p)
        lint_report(l, LINT_ARG_UNKNOWN, s->layer->path, b->line, 0,
                    "kernel '%s' has no argument '%s': the binding does "
                    "nothing",
                    s->kernel->name, b->arg);
    else if (!right_kind(b, p))
        lint_report(l, LINT_ARG_KIND, s->layer->path, b->line, 0,
                    "argument '%s' of kernel '%s' is %s%s, but the binding "
                    "gives %s",
                    p->name, s->kernel->name, space_name(p->space), p->type,
                    kind_text(b->kind));
    else if (p->space == SIM_ARG_SCALAR)
        check_scalar(l, s, b, p);
}

void lint_check_args(lint_state *l, const lint_stage *s)
{
    const config_kernel *k = s->binding;

    for (size_t i = 0; i < k->n_bindings; i++) {
        bool again = false;

        for (size_t j = 0; j < i; j++)
            again |= !strcmp(k->bindings[j].arg, k->bindings[i].arg);
        if (again)
            lint_report(
                l, LINT_ARG_DUPLICATE, s->layer->path, k->bindings[i].line, 0,
                "argument '%s' is bound more than once", k->bindings[i].arg);
        check_binding(l, s, &k->bindings[i]);
    }
    for (uint32_t i = 0; i < s->kernel->n_args; i++) {
        const sim_arg *p = &s->kernel->args[i];
        bool bound = false;

        for (size_t j = 0; j < k->n_bindings; j++)
            bound |= binds(s, &k->bindings[j], i);
        if (!bound)
            lint_report(l, LINT_ARG_MISSING, s->layer->path, k->line, 0,
                        "argument '%s' (%s%s) of kernel '%s' has no binding",
                        p->name, space_name(p->space), p->type,
                        s->kernel->name);
    }
}

/* --- ports and formats --------------------------------------------------- */

/* How many stages of the layer bind buffer `port` as `kind`, up to `last`. */
static unsigned stages_with(const config_layer *x, config_binding_kind kind,
                            int32_t port, const config_kernel *last)
{
    unsigned n = 0;

    for (size_t k = 0; k < x->n_kernels; k++) {
        const config_kernel *s = &x->kernels[k];

        if (s == last)
            break;
        for (size_t i = 0; i < s->n_bindings; i++)
            n += s->bindings[i].kind == kind && s->bindings[i].port == port;
    }
    return n;
}

static void check_buffers(lint_state *l, const lint_stage *s,
                          const config_binding *b)
{
    /* In the flat form the other stages are other CustomLayers. */
    if (s->layer->form == CONFIG_FORM_FLAT)
        return;
    if (b->kind == CONFIG_INPUT_BUFFER &&
        !stages_with(s->layer, CONFIG_OUTPUT_BUFFER, b->port, s->binding))
        lint_report(l, LINT_PORT_INDEX, s->layer->path, b->line, 0,
                    "'%s' reads buffer %d, which no stage before this one "
                    "writes",
                    b->arg, b->port);
    if (b->kind == CONFIG_OUTPUT_BUFFER &&
        stages_with(s->layer, CONFIG_OUTPUT_BUFFER, b->port, s->binding))
        lint_report(l, LINT_PORT_INDEX, s->layer->path, b->line, 0,
                    "'%s' writes buffer %d, which an earlier stage writes, "
                    "too: a buffer has one producer",
                    b->arg, b->port);
}

static void check_source(lint_state *l, const lint_stage *s,
                         const config_binding *b)
{
    const char *t = b->source.text;
    size_t n = t ? strcspn(t, ".") : 0;

    if ((b->kind != CONFIG_INT && b->kind != CONFIG_FLOAT) || !t || !t[n])
        return;
    if (strspn(t, "+-0123456789") >= n)
        lint_report(l, LINT_PORT_INDEX, s->layer->path, b->line, 0,
                    "source=\"%s\": the vendor's compiler takes a number with "
                    "a dot for a dimension; make it a parameter of the layer",
                    t);
    else if (strncmp(t, "I.", 2) && strncmp(t, "O.", 2))
        lint_report(l, LINT_PORT_INDEX, s->layer->path, b->line, 0,
                    "source=\"%s\" is read as a dimension of an output: only "
                    "\"I.\" is an input, and port-index says which",
                    t);
    else if (b->port < 0)
        lint_report(l, LINT_PORT_INDEX, s->layer->path, b->line, 0,
                    "source=\"%s\" needs a port-index", t);
}

/* The vendor's compiler keeps the order asked for under the port's number and
 * applies it to the stage's edge of that number. */
void lint_check_ports(lint_state *l, const lint_stage *s)
{
    const config_kernel *k = s->binding;
    int32_t edge = 0;

    if (s->layer->form == CONFIG_FORM_GPU)
        return; /* the GPU's plug-in has neither stages nor this habit */

    for (size_t i = 0; i < k->n_bindings; i++) {
        const config_binding *b = &k->bindings[i];

        check_buffers(l, s, b);
        check_source(l, s, b);
        if (b->kind != CONFIG_INPUT && b->kind != CONFIG_INPUT_BUFFER)
            continue;
        if (!edge && b->kind == CONFIG_INPUT && b->format == CONFIG_ANY)
            lint_report(l, LINT_FORMAT, s->layer->path, b->line, 0,
                        "'%s', the first input of the kernel, has format ANY: "
                        "the vendor's compiler then cannot split a batch",
                        b->arg);
        else if (b->kind == CONFIG_INPUT && b->port != edge &&
                 b->format != CONFIG_ANY && b->format != CONFIG_BF &&
                 arg_of(s, b))
            lint_report(l, LINT_FORMAT, s->layer->path, b->line, 0,
                        "'%s' is input %d of the layer but %d of the kernel: "
                        "the vendor's compiler brings number %d into order "
                        "%s, not this one",
                        b->arg, b->port, edge, b->port,
                        config_format_name(b->format));
        edge++;
    }
}
