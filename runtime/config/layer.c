/* The structure of a binding file: CustomLayer, Kernel, Source, WorkSizes,
 * Where, in both forms. Parameters are read by binding.c. */
#include "runtime/config/layer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/nearest.h"
#include "runtime/config/layer_priv.h"
#include "runtime/config/number.h"

const char *config_form_name(config_form form)
{
    static const char *const names[] = {"nested", "flat", "gpu"};

    return names[form];
}

config_expr config_text_expr(config_text t, const char *path)
{
    return (config_expr){.text = t.text,
                         .length = strlen(t.text),
                         .path = path,
                         .line = t.line,
                         .col = t.col};
}

vpu_status config_fail(const config_reader *r, uint32_t line, uint32_t col,
                       const char *fmt, ...)
{
    vpu_error why;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&why, VPU_ERR_PARSE, fmt, ap);
    va_end(ap);
    return err_at(r->err, VPU_ERR_PARSE, r->path, line, col, "%s", why.msg);
}

static config_range readers_of(config_form form)
{
    return form == CONFIG_FORM_FLAT  ? CONFIG_FLAT_RELEASES
           : form == CONFIG_FORM_GPU ? CONFIG_RELEASES
                                     : CONFIG_NESTED_RELEASES;
}

bool config_layer_is_for(const config_layer *l, const char *type)
{
    return !(l->form == CONFIG_FORM_GPU ? strcmp(l->type, type)
                                        : strcasecmp(l->type, type));
}

config_context config_layer_context(const config_layer *l,
                                    config_release strict, const log_sink *log,
                                    vpu_error *err)
{
    return (config_context){strict, readers_of(l->form), l->path, log, err};
}

vpu_status config_refuse(const config_reader *r, config_range by, config_text t,
                         const char *what, const char *fmt, ...)
{
    config_context c = {r->strict, readers_of(r->form), r->path, r->log,
                        r->err};
    vpu_error text;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&text, VPU_OK, fmt, ap);
    va_end(ap);
    return config_refused_by(&c, by, t.line, t.col, what, "%s", text.msg);
}

void config_warn(const config_reader *r, uint32_t line, const char *fmt, ...)
{
    vpu_error text;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&text, VPU_OK, fmt, ap);
    va_end(ap);
    log_warn(r->log, "%s:%u: %s", r->path, line, text.msg);
}

config_text config_get_text(const config_xml_node *node, const char *name)
{
    const config_xml_attr *a = config_xml_attr_get(node, name);

    return a ? (config_text){a->value, a->line, a->col} : (config_text){0};
}

static bool is_one_of(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = words; *p; p += strspn(p, " ")) {
        size_t len = strcspn(p, " ");

        if (len == n && !memcmp(p, word, n))
            return true;
        p += len;
    }
    return false;
}

vpu_status config_need_text(const config_reader *r, const config_xml_node *node,
                            const char *name, config_text *out)
{
    /* As like as misspelt ones are; who writes one means it. */
    static const char alike[] = "arg-index arg-name port-index";
    nearest like = {.word = name};

    *out = config_get_text(node, name);
    if (out->text)
        return VPU_OK;
    for (size_t i = 0; i < node->n_attrs; i++)
        if (!is_one_of(alike, node->attrs[i].name))
            nearest_offer(&like, node->attrs[i].name);
    return config_fail(r, node->line, node->col,
                       "node %s is missing mandatory attribute %s%s%s%s",
                       node->name, name, like.best ? "; is it '" : "",
                       like.best ? like.best : "",
                       like.best ? "', misspelt?" : "");
}

vpu_status config_get_int(const config_reader *r, const config_xml_node *node,
                          const char *name, int32_t min, int32_t *out)
{
    config_text t = config_get_text(node, name);
    int32_t v;

    if (!t.text)
        return VPU_OK;
    if (!config_number_int_whole(t.text, &v))
        return config_fail(r, t.line, t.col,
                           "%s=\"%s\" is not an integer of 32 bits", name,
                           t.text);
    if (v < min)
        return config_fail(r, t.line, t.col, "%s=\"%s\"; expected at least %d",
                           name, t.text, (int)min);
    *out = v;
    return VPU_OK;
}

vpu_status config_get_dim(const config_reader *r, const config_xml_node *node,
                          config_dim *out)
{
    config_text t = config_get_text(node, "dim");
    size_t word;
    bool fits;
    int32_t index = 0;

    *out = (config_dim){.line = node->line};
    if (!t.text)
        return r->form == CONFIG_FORM_FLAT
                   ? VPU_OK
                   : config_need_text(r, node, "dim", &t);
    out->line = t.line;
    word = strcspn(t.text, ",");
    out->output = word == 6 && !strncasecmp(t.text, "output", 6);
    if (!out->output && (word != 5 || strncasecmp(t.text, "input", 5)))
        return config_fail(r, t.line, t.col,
                           "invalid dim source '%.*s' in dim=\"%s\"; expected "
                           "input or output, as in dim=\"input,0\"",
                           (int)word, t.text, t.text);
    if (!t.text[word]) {
        if (r->form == CONFIG_FORM_FLAT)
            return VPU_OK;
        return config_fail(r, t.line, t.col,
                           "dim=\"%s\" has no index; expected one, as in "
                           "dim=\"%s,0\"",
                           t.text, t.text);
    }
    if (!config_number_int(t.text + word + 1, &index, &fits) || !fits ||
        index < 0)
        return config_fail(r, t.line, t.col,
                           "dim=\"%s\": '%s' is not a tensor index", t.text,
                           t.text + word + 1);
    out->index = (uint32_t)index;
    return VPU_OK;
}

void config_warn_attrs(const config_reader *r, const config_xml_node *node,
                       const char *known)
{
    for (size_t i = 0; i < node->n_attrs; i++)
        if (!is_one_of(known, node->attrs[i].name))
            config_warn(r, node->attrs[i].line,
                        "unknown attribute %s of %s is ignored",
                        node->attrs[i].name, node->name);
}

void config_warn_children(const config_reader *r, const config_xml_node *node,
                          const char *known)
{
    for (const config_xml_node *c = node->first; c; c = c->next)
        if (!is_one_of(known, c->name))
            config_warn(r, c->line, "unknown element %s in %s is ignored",
                        c->name, node->name);
}

/* Any empty attribute anywhere in a CustomLayer is an error. The tree is at
 * most CONFIG_XML_MAX_DEPTH deep. */
static vpu_status refuse_empty(const config_reader *r,
                               const config_xml_node *node)
{
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < node->n_attrs; i++)
        if (!*node->attrs[i].value)
            return config_fail(r, node->attrs[i].line, node->attrs[i].col,
                               "custom layer %s has node %s with an empty "
                               "attribute %s",
                               r->layer, node->name, node->attrs[i].name);
    for (const config_xml_node *c = node->first; c && !st; c = c->next)
        st = refuse_empty(r, c);
    return st;
}

/* The only child of that name. */
static vpu_status only_child(const config_reader *r,
                             const config_xml_node *node, const char *name,
                             const config_xml_node **out)
{
    nearest like = {.word = name};

    *out = NULL;
    for (const config_xml_node *c = node->first; c; c = c->next) {
        if (strcmp(c->name, name))
            continue;
        if (*out)
            return config_fail(r, c->line, c->col,
                               "found several definitions of the parameter %s "
                               "in %s; the first is in line %u",
                               name, node->name, (*out)->line);
        *out = c;
    }
    if (*out)
        return VPU_OK;
    for (const config_xml_node *c = node->first; c; c = c->next)
        nearest_offer(&like, c->name);
    return config_fail(r, node->line, node->col,
                       "required parameter %s is not found in %s%s%s%s", name,
                       node->name, like.best ? "; is it '" : "",
                       like.best ? like.best : "",
                       like.best ? "', misspelt?" : "");
}

vpu_status config_read_sources(const config_reader *r,
                               const config_xml_node *node, config_kernel *k)
{
    const char **paths = NULL;
    size_t n = 0, cap = 0;

    for (const config_xml_node *c = node->first; c; c = c->next) {
        config_text name;
        vpu_status st;

        if (strcmp(c->name, "Source"))
            continue;
        st = config_need_text(r, c, "filename", &name);
        if (!st && !*name.text)
            st = config_fail(r, name.line, name.col,
                             "filename of Source is empty");
        if (st)
            return st;
        config_warn_attrs(r, c, "filename");
        *arena_append(r->arena, paths, n, cap) =
            file_join(r->arena, r->dir, name.text);
    }
    if (!n)
        return config_fail(r, node->line, node->col,
                           "required parameter Source is not found in %s",
                           node->name);
    k->sources = paths;
    k->n_sources = n;
    return VPU_OK;
}

static vpu_status read_sizes(const config_reader *r,
                             const config_xml_node *node, const char *name,
                             config_text *out)
{
    vpu_status st = config_need_text(r, node, name, out);
    config_expr list, parts[3];
    size_t n;

    if (st)
        return st;
    list = config_text_expr(*out, r->path);
    return config_expr_split(&list, 3, parts, &n, r->err);
}

/* Parameters and WorkSizes, children of Kernel or of CustomLayer. */
static vpu_status read_body(const config_reader *r, const config_xml_node *node,
                            config_kernel *k)
{
    const config_xml_node *parameters, *sizes;
    vpu_status st = only_child(r, node, "Parameters", &parameters);

    if (!st)
        st = only_child(r, node, "WorkSizes", &sizes);
    if (!st)
        st = config_read_bindings(r, parameters, &k->bindings, &k->n_bindings);
    if (!st)
        st = config_get_dim(r, sizes, &k->dim);
    if (!st)
        st = read_sizes(r, sizes, "global", &k->global);
    if (!st)
        st = read_sizes(r, sizes, "local", &k->local);
    if (!st) {
        config_warn_attrs(r, parameters, "");
        config_warn_attrs(r, sizes, "dim global local");
        config_warn_children(r, sizes, "");
    }
    return st;
}

/* A stage number is read as a decimal real and truncated. */
static vpu_status read_stage(const config_reader *r,
                             const config_xml_node *node, bool required,
                             int32_t *out)
{
    config_text t = config_get_text(node, "stage");
    config_value v;

    if (!t.text && required)
        return config_fail(r, node->line, node->col,
                           "each kernel should be provided with 'stage' "
                           "attribute when there are several");
    if (!t.text)
        return VPU_OK;
    if (!config_number_value(t.text, &v) || v.too_large ||
        (v.is_float ? !(v.real > -1 && v.real < 65536)
                    : v.integer < 0 || v.integer > 65535))
        return config_fail(r, t.line, t.col,
                           "stage=\"%s\"; expected a number from 0 to 65535",
                           t.text);
    *out = v.is_float ? (int32_t)v.real : v.integer;
    return VPU_OK;
}

static vpu_status read_kernel(const config_reader *r,
                              const config_xml_node *node, config_kernel *k)
{
    config_text entry;
    int32_t shaves = 0;
    vpu_status st = config_need_text(r, node, "entry", &entry);

    k->line = node->line;
    k->entry = entry.text;
    if (!st)
        st = config_get_int(r, node, "max-shaves", 0, &shaves);
    if (!st)
        st = config_read_sources(r, node, k);
    k->max_shaves = (uint32_t)shaves;
    return st;
}

static int by_stage(const void *a, const void *b)
{
    const config_kernel *x = a, *y = b;

    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static vpu_status check_stages(const config_reader *r, const config_kernel *k,
                               size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i && k[i].stage == k[i - 1].stage)
            return config_fail(r, k[i].line, 0,
                               "found duplicating stage id %u; the other is "
                               "in line %u",
                               k[i].stage, k[i - 1].line);
        if (k[i].stage != i && !i)
            return config_fail(r, k[i].line, 0,
                               "stage 0 is not found; the lowest is %u",
                               k[i].stage);
        if (k[i].stage != i)
            return config_fail(r, k[i].line, 0,
                               "kernels should have stage id from 0 to %zu, "
                               "found %u",
                               n - 1, k[i].stage);
    }
    return VPU_OK;
}

/* What CustomLayer/@max-shaves promises in the guide; only the flat form's
 * compilers honour it. The vendor's own files of the nested form have it, so it
 * is no error for a release that ignores it: then it is ignored here, too. */
static vpu_status layer_shaves(const config_reader *r,
                               const config_xml_node *node, config_kernel *k,
                               size_t n)
{
    config_text t = config_get_text(node, "max-shaves");
    int32_t shaves = 0;
    vpu_status st = config_get_int(r, node, "max-shaves", 0, &shaves);

    bool ignored = r->strict >= CONFIG_NESTED_RELEASES.first;

    if (!st && t.text) {
        config_context c = {CONFIG_EVERY_RELEASE, readers_of(r->form), r->path,
                            r->log, r->err};

        st =
            config_refused_by(&c, CONFIG_NESTED_RELEASES, t.line, t.col,
                              "ignore it: write it on Kernel",
                              "max-shaves=\"%s\" on CustomLayer %s", t.text,
                              ignored ? "is ignored" : "holds for its kernels");
    }
    if (st || !t.text || ignored)
        return st;
    for (size_t i = 0; i < n; i++)
        if (!k[i].max_shaves)
            k[i].max_shaves = (uint32_t)shaves;
    return VPU_OK;
}

static vpu_status read_nested(const config_reader *r,
                              const config_xml_node *node, config_layer *out)
{
    config_kernel *kernels = NULL;
    size_t n = 0, cap = 0, total = 0;
    vpu_status st;

    for (const config_xml_node *c = node->first; c; c = c->next)
        total += !strcmp(c->name, "Kernel");
    for (const config_xml_node *c = node->first; c; c = c->next) {
        config_kernel *k;
        int32_t stage = 0;

        if (strcmp(c->name, "Kernel"))
            continue;
        k = arena_append(r->arena, kernels, n, cap);
        *k = (config_kernel){0};
        st = read_kernel(r, c, k);
        if (!st && total > 1)
            st = read_stage(r, c, true, &stage);
        if (!st)
            st = read_body(r, c, k);
        if (st)
            return st;
        k->stage = (uint32_t)stage;
        config_warn_attrs(r, c, "entry stage max-shaves");
        config_warn_children(r, c, "Source Parameters WorkSizes");
    }
    if (!n)
        return config_fail(r, node->line, node->col,
                           "required parameter Kernel is not found in %s",
                           node->name);
    qsort(kernels, n, sizeof *kernels, by_stage);
    config_warn_attrs(r, node, "name type version max-shaves");
    config_warn_children(r, node, "Kernel Where");
    out->kernels = kernels;
    out->n_kernels = n;
    st = check_stages(r, kernels, n);
    return st ? st : layer_shaves(r, node, kernels, n);
}

static vpu_status read_flat(const config_reader *r, const config_xml_node *node,
                            config_layer *out)
{
    config_kernel *k = arena_new(r->arena, config_kernel);
    const config_xml_node *kernel;
    vpu_status st = only_child(r, node, "Kernel", &kernel);

    if (!st)
        st = read_kernel(r, kernel, k);
    if (!st)
        st = read_body(r, node, k);
    if (!st)
        st = read_stage(r, node, false, &out->stage);
    if (!st)
        st = layer_shaves(r, node, k, 1);
    if (st)
        return st;
    config_warn_attrs(r, kernel, "entry max-shaves");
    config_warn_children(r, kernel, "Source");
    config_warn_attrs(r, node, "name type version stage max-shaves");
    config_warn_children(r, node, "Kernel Parameters WorkSizes Where");
    k->stage = out->stage > 0 ? (uint32_t)out->stage : 0;
    out->kernels = k;
    out->n_kernels = 1;
    return VPU_OK;
}

static vpu_status read_where(const config_reader *r,
                             const config_xml_node *node, config_layer *out)
{
    const config_xml_node *where = config_xml_child(node, "Where");
    config_where *items;
    vpu_status st = VPU_OK;

    if (!where)
        return VPU_OK;
    items = arena_array(r->arena, config_where, where->n_attrs);
    for (size_t i = 0; i < where->n_attrs && !st; i++) {
        config_text t = config_get_text(where, where->attrs[i].name);

        items[i] = (config_where){where->attrs[i].name, t};
        if (strchr("<>", *t.text) || !strncmp(t.text, "!=", 2))
            st = config_refuse(r, CONFIG_FLAT_RELEASES, t, "compare texts only",
                               "Where %s=\"%s\" has an operator", items[i].name,
                               t.text);
    }
    out->where = items;
    out->n_where = where->n_attrs;
    for (const config_xml_node *c = where->next; c; c = c->next)
        if (!strcmp(c->name, "Where"))
            config_warn(r, c->line,
                        "only the first Where of a CustomLayer counts; this "
                        "one is ignored");
    return st;
}

/* Which form the layer is in; mixing them is an error. */
static vpu_status find_form(const config_reader *r, const config_xml_node *node,
                            config_form *out)
{
    const config_xml_node *flat = config_xml_child(node, "Parameters");
    const config_xml_node *nested = NULL;

    if (!flat)
        flat = config_xml_child(node, "WorkSizes");
    for (const config_xml_node *c = node->first; c && !nested; c = c->next)
        if (!strcmp(c->name, "Kernel")) {
            nested = config_xml_child(c, "Parameters");
            if (!nested)
                nested = config_xml_child(c, "WorkSizes");
        }
    *out = flat ? CONFIG_FORM_FLAT : CONFIG_FORM_NESTED;
    if (flat && nested)
        return config_fail(r, flat->line, flat->col,
                           "%s stands in CustomLayer, but %s in line %u in "
                           "Kernel; expected both in the same place",
                           flat->name, nested->name, nested->line);
    return VPU_OK;
}

static vpu_status read_head(config_reader *r, const config_xml_node *node,
                            config_layer *out)
{
    static const char gpu_type[] = "SimpleGPU";
    config_text name, type, version;
    int32_t number = 0;
    bool is_gpu;
    vpu_status st;

    if (strcasecmp(node->name, "CustomLayer"))
        return config_fail(r, node->line, node->col,
                           "found element %s; expected CustomLayer",
                           node->name);
    st = config_need_text(r, node, "name", &name);
    if (st)
        return st;
    r->layer = name.text;
    type = config_get_text(node, "type");
    is_gpu = type.text && !strcmp(type.text, gpu_type);
    if (!is_gpu)
        st = refuse_empty(r, node);
    if (!st)
        st = config_need_text(r, node, "type", &type);
    if (!st && is_gpu && !*name.text)
        return config_fail(r, name.line, name.col, "name is empty");
    if (!st && !is_gpu && strcasecmp(type.text, "MVCL"))
        return config_fail(r, type.line, type.col,
                           "type is not MVCL, but %s (CustomLayer %s)%s",
                           type.text, name.text,
                           strcasecmp(type.text, gpu_type)
                               ? "; expected MVCL or SimpleGPU"
                               : "; expected SimpleGPU, to the letter");
    if (!st)
        st = config_need_text(r, node, "version", &version);
    if (!st)
        st = config_get_int(r, node, "version", INT32_MIN, &number);
    if (!st && number != 1)
        return config_fail(r, version.line, version.col,
                           "only version 1 is supported, found %s",
                           version.text);
    *out = (config_layer){
        .type = name.text, .stage = -1, .path = r->path, .line = node->line};
    if (is_gpu)
        out->form = CONFIG_FORM_GPU;
    return st;
}

/* The guide shows the flat form in every edition, so its readers are told even
 * though no compiler of that form refuses it. */
static vpu_status check_form(config_reader *r, const config_xml_node *node)
{
    config_context c = {r->strict, CONFIG_RELEASES, r->path, r->log, r->err};

    if (r->form_told[r->form])
        return VPU_OK;
    r->form_told[r->form] = true;
    if (r->form == CONFIG_FORM_FLAT)
        return config_refused_by(
            &c, CONFIG_NESTED_RELEASES, node->line, node->col,
            "refuse it (\"Required parameter Parameters is not found\")",
            "CustomLayer is in the flat form (told once per file)");
    c.readers = CONFIG_NESTED_RELEASES;
    return config_refused_by(
        &c, CONFIG_FLAT_RELEASES, node->line, node->col,
        "know the flat form only",
        "CustomLayer is in the nested form (told once per file)");
}

static vpu_status read_inside(const config_reader *r,
                              const config_xml_node *node, config_layer *out)
{
    vpu_status st;

    if (out->form == CONFIG_FORM_GPU)
        return config_read_gpu(r, node, out);
    st = read_where(r, node, out);
    if (st)
        return st;
    return out->form == CONFIG_FORM_FLAT ? read_flat(r, node, out)
                                         : read_nested(r, node, out);
}

/* Notes about a layer that nobody chooses are noise: they wait in it. */
typedef struct {
    const log_sink *log;
    arena *arena;
    const char **list;
    size_t n, cap;
} kept_notes;

static void keep(void *user, log_level level, const char *text)
{
    kept_notes *k = user;

    if (level == LOG_NOTE)
        *arena_append(k->arena, k->list, k->n, k->cap) =
            arena_strdup(k->arena, text);
    else if (k->log)
        k->log->line(k->log->user, level, text);
}

void config_layer_tell(const config_layer *l, const log_sink *log)
{
    for (size_t i = 0; i < l->n_notes; i++)
        log_note(log, "%s", l->notes[i]);
}

static vpu_status read_layer(config_reader *r, const config_xml_node *node,
                             config_layer *out)
{
    kept_notes notes = {.log = r->log, .arena = r->arena};
    const log_sink keeper = {.line = keep, .user = &notes};
    config_reader inside;
    vpu_status st = read_head(r, node, out);

    r->form = out->form;
    if (!st && out->form != CONFIG_FORM_GPU) {
        st = find_form(r, node, &r->form);
        if (!st)
            st = check_form(r, node);
        out->form = r->form;
    }
    if (st)
        return st;
    inside = *r;
    inside.log = &keeper;
    st = read_inside(&inside, node, out);
    out->notes = notes.list;
    out->n_notes = notes.n;
    return st;
}

/* A later SimpleGPU layer of the name. */
static const config_layer *replacement(const config_layer *layers, size_t n,
                                       size_t i)
{
    for (size_t k = i + 1; k < n; k++)
        if (layers[i].form == CONFIG_FORM_GPU &&
            layers[k].form == CONFIG_FORM_GPU &&
            !strcmp(layers[i].type, layers[k].type))
            return &layers[k];
    return NULL;
}

/* The number of layers that are left. */
static size_t drop_replaced(config_layer *layers, size_t n, const log_sink *log)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        const config_layer *by = replacement(layers, n, i);

        if (by)
            log_note(log,
                     "%s:%u: CustomLayer %s is replaced by the one in %s:%u",
                     layers[i].path, layers[i].line, layers[i].type, by->path,
                     by->line);
        else
            layers[left++] = layers[i];
    }
    return left;
}

void config_file_join(const config_file *files, size_t n, arena *a,
                      const log_sink *log, config_file *out)
{
    config_layer *layers;
    const char *path = "";
    size_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += files[i].n_layers;
    layers = arena_array(a, config_layer, total);
    total = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(layers + total, files[i].layers,
               files[i].n_layers * sizeof *layers);
        total += files[i].n_layers;
        path =
            i ? arena_printf(a, "%s, %s", path, files[i].path) : files[i].path;
    }
    *out = (config_file){path, layers, drop_replaced(layers, total, log),
                         n ? files[0].strict : CONFIG_EVERY_RELEASE};
}

/* The word of every kernel; no binding file has it. */
static bool has_kernel(const file_bytes *text)
{
    return memmem(text->data, text->n, "__kernel", 8) != NULL;
}

vpu_status config_file_parse(const file_bytes *text, arena *a,
                             const log_sink *log, config_release strict,
                             config_file *out, vpu_error *err)
{
    static const config_xml_limits limits = {CONFIG_LAYER_MAX_BYTES,
                                             CONFIG_LAYER_MAX_ELEMENTS};
    config_reader r = {.path = arena_strdup(a, text->path),
                       .dir = file_dirname(a, text->path),
                       .arena = a,
                       .log = log,
                       .err = err,
                       .strict = strict};
    config_layer *layers = NULL;
    size_t n_layers = 0, cap = 0;
    config_xml_node *roots;
    vpu_status st;

    *out = (config_file){0};
    st = config_xml_parse(text, &limits, a, &roots, err);
    if (st)
        return st;
    for (const config_xml_node *c = roots; c; c = c->next) {
        config_layer *l = arena_append(a, layers, n_layers, cap);

        st = read_layer(&r, c, l);
        if (st)
            return st;
    }
    if (!n_layers)
        return err_at(err, VPU_ERR_PARSE, r.path, 0, 0,
                      "found no element; expected CustomLayer%s",
                      has_kernel(text) ? ". It looks like OpenCL C: a binding "
                                         "file names it with "
                                         "<Source filename=\"\u2026\"/>"
                                       : "");
    n_layers = drop_replaced(layers, n_layers, log);
    *out = (config_file){r.path, layers, n_layers, strict};
    return VPU_OK;
}

vpu_status config_file_read(const char *path, arena *a, const log_sink *log,
                            config_release strict, config_file *out,
                            vpu_error *err)
{
    char *data;
    size_t n;
    vpu_status st = file_read(path, CONFIG_LAYER_MAX_BYTES, a, &data, &n, err);

    *out = (config_file){0};
    return st ? st
              : config_file_parse(&(const file_bytes){data, n, path}, a, log,
                                  strict, out, err);
}
