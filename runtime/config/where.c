/* Where, as OpenVINO 2021.2 and later compare it. */
#include "runtime/config/where.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "runtime/config/number.h"

const char *config_param_get(const config_param *params, size_t n,
                             const char *name)
{
    while (n--)
        if (!strcmp(params[n].name, name))
            return params[n].value;
    return NULL;
}

typedef enum { EQ, NE, GE, LE, GT, LT } relation;

static const struct {
    const char *text;
    relation rel;
} relations[] = {
    {">=", GE}, {"<=", LE}, {"!=", NE}, {">", GT}, {"<", LT},
};

static bool holds(relation rel, float v, float r)
{
    switch (rel) {
    case EQ:
        return v == r;
    case NE:
        return v != r;
    case GE:
        return v >= r;
    case LE:
        return v <= r;
    case GT:
        return v > r;
    case LT:
        return v < r;
    }
    return false;
}

/* Earlier compilers: texts up to 2020.3, then integers up to 2021.1. */
static vpu_status check_release(const config_context *c, const config_where *w,
                                const char *value, relation rel, float v,
                                bool met)
{
    static const config_range cut = {CONFIG_2020_4, CONFIG_2021_1};
    vpu_status st = VPU_OK;

    if (v != truncf(v))
        st = config_refused_by(c, cut, w->value.line, w->value.col,
                               "cut the parameter to an integer",
                               "Where %s=\"%s\" is compared with \"%s\"",
                               w->name, w->value.text, value);
    if (!st && rel == EQ && met && strcasecmp(value, w->value.text))
        st = config_refused_by(c, CONFIG_FLAT_RELEASES, w->value.line,
                               w->value.col, "compare texts only",
                               "Where %s=\"%s\" equals \"%s\" as a number",
                               w->name, w->value.text, value);
    return st;
}

static vpu_status match_one(const config_layer *layer, const config_where *w,
                            const char *value, const config_context *c,
                            bool *met)
{
    config_value number;
    const char *text = w->value.text;
    relation rel = EQ;
    float v, r;

    if (!config_number_value(value, &number)) {
        *met = !strcasecmp(value, text);
        return VPU_OK;
    }
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (!strncmp(text, relations[i].text, strlen(relations[i].text))) {
            text += strlen(relations[i].text);
            rel = relations[i].rel;
            break;
        }
    if (!config_number_float(text, &r))
        return err_at(c->err, VPU_ERR_PARSE, layer->path, w->value.line,
                      w->value.col,
                      "Where %s=\"%s\": found no number, expected one "
                      "because the layer's parameter is \"%s\"",
                      w->name, w->value.text, value);
    v = number.is_float || number.too_large ? number.real
                                            : (float)number.integer;
    *met = holds(rel, v, r);
    return check_release(c, w, value, rel, v, *met);
}

vpu_status config_where_match(const config_layer *layer,
                              const config_param *params, size_t n_params,
                              const config_context *c,
                              const config_where **unmet)
{
    *unmet = NULL;
    for (size_t i = 0; i < layer->n_where && !*unmet; i++) {
        const config_where *w = &layer->where[i];
        const char *value = config_param_get(params, n_params, w->name);
        bool met = false;

        if (value) {
            vpu_status st = match_one(layer, w, value, c, &met);

            if (st)
                return st;
        }
        if (!met)
            *unmet = w;
    }
    return VPU_OK;
}
