/* Parameters: Tensor, Data and Scalar elements. */
#include "runtime/config/layer_priv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/config/number.h"

static const char *const format_names[] = {"BYXF", "BFYX", "YXF",  "FYX",
                                           "BF",   "ANY",  "YXFB", "FYXB"};
static const char *const kind_names[] = {
    "input", "output",     "input_buffer", "output_buffer",
    "data",  "local_data", "int",          "float"};

const char *config_format_name(config_format f)
{
    return format_names[f];
}

static vpu_status read_format(const config_reader *r,
                              const config_xml_node *node, config_format *out)
{
    config_text t = config_get_text(node, "format");

    *out = CONFIG_BFYX;
    if (!t.text)
        return VPU_OK;
    if (!strcasecmp(t.text, "BFXY"))
        return config_refuse(r, CONFIG_RELEASES, t,
                             "refuse this spelling of the guide",
                             "format=\"%s\" is read as BFYX", t.text);
    for (size_t i = 0; i <= CONFIG_ANY; i++)
        if (!strcasecmp(t.text, format_names[i])) {
            *out = (config_format)i;
            if (*out != CONFIG_BF)
                return VPU_OK;
            return config_refuse(r, CONFIG_FLAT_RELEASES, t, "refuse it",
                                 "format=\"%s\" is new in 2020.4", t.text);
        }
    return config_fail(r, t.line, t.col,
                       "Tensor node has an invalid format '%s'; expected BFYX, "
                       "BYXF, FYX, YXF, BF or ANY",
                       t.text);
}

static vpu_status need_port(const config_reader *r, const config_xml_node *node,
                            config_binding *b)
{
    config_text t;
    vpu_status st = config_need_text(r, node, "port-index", &t);

    if (!st)
        st = config_get_int(r, node, "port-index", 0, &b->port);
    if (!st && b->kind == CONFIG_OUTPUT && b->port)
        st = config_fail(r, t.line, t.col,
                         "output port-index=\"%s\"; expected 0, a custom layer "
                         "has exactly one output",
                         t.text);
    return st;
}

/* Only what stands before the first comma of a buffer's size is used. */
static vpu_status read_buffer_size(const config_reader *r,
                                   const config_xml_node *node,
                                   config_binding *b)
{
    vpu_status st = config_need_text(r, node, "size", &b->size);
    const char *comma;

    if (st)
        return st;
    comma = strchr(b->size.text, ',');
    if (comma && r->form == CONFIG_FORM_NESTED) {
        config_warn(r, b->size.line, "size=\"%s\": only \"%.*s\" is used",
                    b->size.text, (int)(comma - b->size.text), b->size.text);
        b->size.text = arena_strndup(r->arena, b->size.text,
                                     (size_t)(comma - b->size.text));
    }
    return config_get_dim(r, node, &b->dim);
}

static vpu_status read_tensor(const config_reader *r,
                              const config_xml_node *node, config_binding *b)
{
    config_text type;
    vpu_status st = config_need_text(r, node, "type", &type);

    if (st)
        return st;
    if (!strcasecmp(type.text, "data")) {
        config_warn_attrs(r, node, "arg-name type source port-index format");
        b->kind = CONFIG_DATA;
        b->format = CONFIG_ANY;
        st =
            config_refuse(r, CONFIG_RELEASES, type,
                          "read no source here and cannot bind the argument",
                          "Tensor type=\"data\" is read as Data type=\"data\"");
        return st ? st : config_need_text(r, node, "source", &b->source);
    }
    for (b->kind = CONFIG_INPUT; b->kind <= CONFIG_OUTPUT_BUFFER; b->kind++)
        if (!strcasecmp(type.text, kind_names[b->kind]))
            break;
    if (b->kind > CONFIG_OUTPUT_BUFFER)
        return config_fail(r, type.line, type.col,
                           "Tensor node has an invalid type '%s'; expected "
                           "input, output, input_buffer, output_buffer or data",
                           type.text);
    st = need_port(r, node, b);
    if (!st)
        st = read_format(r, node, &b->format);
    if (b->kind == CONFIG_INPUT || b->kind == CONFIG_OUTPUT) {
        config_warn_attrs(r, node, "arg-name type port-index format");
        return st;
    }
    config_warn_attrs(r, node, "arg-name type port-index format size dim");
    return st ? st : read_buffer_size(r, node, b);
}

static vpu_status read_data(const config_reader *r, const config_xml_node *node,
                            config_binding *b)
{
    config_text type, dim = config_get_text(node, "dim");
    config_text source = config_get_text(node, "source");
    vpu_status st = config_need_text(r, node, "type", &type);

    if (st)
        return st;
    config_warn_attrs(r, node,
                      "arg-name type source dim size port-index "
                      "format");
    b->format = CONFIG_ANY;
    if (!strcasecmp(type.text, "data"))
        b->kind = CONFIG_DATA;
    else if (!strcasecmp(type.text, "local_data"))
        b->kind = CONFIG_LOCAL_DATA;
    else
        return config_fail(r, type.line, type.col,
                           "Data node has an invalid type '%s'; expected data "
                           "or local_data",
                           type.text);
    if (source.text && dim.text)
        return config_fail(r, source.line, source.col,
                           "Data node can only have source or dim, found both "
                           "(arg-name=\"%s\")",
                           b->arg);
    if (b->kind == CONFIG_DATA) {
        if (dim.text)
            return config_fail(r, dim.line, dim.col,
                               "Data type=\"data\" with dim; expected source, "
                               "the name of a blob (arg-name=\"%s\")",
                               b->arg);
        b->source = source;
        if (!source.text)
            return config_fail(r, node->line, node->col,
                               "Data node has no source or dim "
                               "(arg-name=\"%s\"); expected source, the name "
                               "of a blob",
                               b->arg);
        return VPU_OK;
    }
    if (source.text)
        return config_fail(r, source.line, source.col,
                           "Data type=\"local_data\" with source; expected dim "
                           "and size (arg-name=\"%s\")",
                           b->arg);
    if (!dim.text && r->form == CONFIG_FORM_NESTED)
        return config_fail(r, node->line, node->col,
                           "Data node has no source or dim (arg-name=\"%s\"); "
                           "expected dim, as in dim=\"input,0\"",
                           b->arg);
    st = config_need_text(r, node, "size", &b->size);
    return st ? st : config_get_dim(r, node, &b->dim);
}

/* "I0.X" and the like: the guide's way to write a port. */
static bool is_port_source(const char *s)
{
    size_t n;

    if (*s != 'I' && *s != 'O')
        return false;
    n = strspn(s + 1, "0123456789");
    return n && n <= 4 && s[1 + n] == '.' && s[2 + n] && !s[3 + n] &&
           strchr("bBfFyYxX", s[2 + n]);
}

static vpu_status check_source(const config_reader *r, const config_binding *b)
{
    config_value v;
    const char *s = b->source.text;

    if (is_port_source(s))
        return config_refuse(
            r, CONFIG_RELEASES, b->source,
            "do not know this form of the guide and read an output",
            "source=\"%s\" is read as %s %d, which is written "
            "source=\"%c.%c\" port-index=\"%d\"",
            s, *s == 'I' ? "input" : "output", atoi(s + 1), *s,
            s[strlen(s) - 1], atoi(s + 1));
    if (strchr(s, '.') && config_number_value(s, &v))
        return config_refuse(
            r, CONFIG_RELEASES, b->source,
            "take a text with a dot for a dimension and refuse it",
            "source=\"%s\" is read as a number", s);
    return VPU_OK;
}

static vpu_status read_scalar(const config_reader *r,
                              const config_xml_node *node, config_binding *b)
{
    config_text type;
    vpu_status st = config_need_text(r, node, "type", &type);

    if (st)
        return st;
    config_warn_attrs(r, node, "arg-name type port-index source");
    b->format = CONFIG_ANY;
    b->port = -1;
    if (!strcasecmp(type.text, "int"))
        b->kind = CONFIG_INT;
    else if (!strcasecmp(type.text, "float"))
        b->kind = CONFIG_FLOAT;
    else
        return config_fail(r, type.line, type.col,
                           "Scalar node has an invalid type '%s'; expected int "
                           "or float",
                           type.text);
    st = config_get_int(r, node, "port-index", -1, &b->port);
    if (!st)
        st = config_need_text(r, node, "source", &b->source);
    return st ? st : check_source(r, b);
}

vpu_status config_read_bindings(const config_reader *r,
                                const config_xml_node *parameters,
                                const config_binding **out, size_t *n)
{
    static const struct {
        const char *name;
        vpu_status (*read)(const config_reader *, const config_xml_node *,
                           config_binding *);
    } kinds[] = {
        {"Tensor", read_tensor}, {"Data", read_data}, {"Scalar", read_scalar}};
    enum { N_KINDS = sizeof kinds / sizeof *kinds };
    config_binding *items = NULL;
    size_t count = 0, cap = 0;

    *out = NULL;
    *n = 0;
    for (size_t k = 0; k < N_KINDS; k++)
        for (const config_xml_node *c = parameters->first; c; c = c->next) {
            config_binding *b;
            config_text arg;
            vpu_status st;

            if (strcmp(c->name, kinds[k].name))
                continue;
            st = config_need_text(r, c, "arg-name", &arg);
            if (st)
                return st;
            b = arena_append(r->arena, items, count, cap);
            *b = (config_binding){.arg = arg.text, .line = c->line};
            st = kinds[k].read(r, c, b);
            if (st)
                return st;
        }
    for (const config_xml_node *c = parameters->first; c; c = c->next)
        if (strcmp(c->name, "Tensor") && strcmp(c->name, "Data") &&
            strcmp(c->name, "Scalar"))
            config_warn(r, c->line, "unknown element %s is ignored", c->name);
    *out = items;
    *n = count;
    return VPU_OK;
}
