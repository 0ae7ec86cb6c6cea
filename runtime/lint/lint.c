/* Looks at one stage: finds and compiles its kernel and lets the checks look.
 */
#include "runtime/lint/lint.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/backend/source.h"
#include "runtime/lint/lint_priv.h"
#include "sim/compiler/kernel.h"

const lint_check_info lint_checks[LINT_N_CHECKS] = {
#define CHECK(id, name, summary, tip) {name, summary, tip},
#include "runtime/lint/checks.def"
#undef CHECK
};

static vpu_status bad_check(const char *name, int n, vpu_error *err)
{
    str list = {0};
    vpu_status st;

    for (int c = 0; c < LINT_N_CHECKS; c++)
        str_printf(&list, "%s%s", c ? ", " : "", lint_checks[c].name);
    st = err_set(err, VPU_ERR_INVALID,
                 "no check is called '%.*s'; expected all, none or some of %s",
                 n, name, str_text(&list));
    str_free(&list);
    return st;
}

vpu_status lint_checks_parse(const char *text, uint32_t *mask, vpu_error *err)
{
    *mask = 0;
    if (!strcmp(text, "none"))
        return VPU_OK;
    if (!strcmp(text, "all")) {
        *mask = (1u << LINT_N_CHECKS) - 1;
        return VPU_OK;
    }
    for (const char *s = text;; s++) {
        int n = (int)strcspn(s, ","), c = 0;

        while (c < LINT_N_CHECKS && (strlen(lint_checks[c].name) != (size_t)n ||
                                     strncmp(lint_checks[c].name, s, n)))
            c++;
        if (c == LINT_N_CHECKS)
            return bad_check(s, n, err);
        *mask |= 1u << c;
        s += n;
        if (!*s)
            return VPU_OK;
    }
}

bool lint_is_on(const lint_state *l, lint_check check)
{
    return l->cfg->checks >> check & 1;
}

void lint_add(lint_state *l, lint_finding f)
{
    for (size_t i = 0; i < l->n_findings; i++)
        if (l->findings[i].check == f.check && l->findings[i].line == f.line &&
            l->findings[i].col == f.col &&
            !strcmp(l->findings[i].path, f.path) &&
            !strcmp(l->findings[i].text, f.text))
            return;
    *arena_append(l->arena, l->findings, l->n_findings, l->cap_findings) = f;
}

void lint_report(lint_state *l, lint_check check, const char *path,
                 uint32_t line, uint32_t col, const char *fmt, ...)
{
    va_list ap;

    if (!lint_is_on(l, check))
        return;
    va_start(ap, fmt);
    lint_add(l, (lint_finding){check, path, line, col,
                               arena_vprintf(l->arena, fmt, ap)});
    va_end(ap);
}

void lint_report_at(lint_state *l, lint_check check, const lint_source_text *s,
                    size_t at, const char *fmt, ...)
{
    uint32_t line, col;
    va_list ap;

    if (!lint_is_on(l, check))
        return;
    lint_source_position(s, at, &line, &col);
    va_start(ap, fmt);
    lint_add(l, (lint_finding){check, s->path, line, col,
                               arena_vprintf(l->arena, fmt, ap)});
    va_end(ap);
}

/* --- kernels ------------------------------------------------------------- */

static vpu_status compile(lint_state *l, const lint_stage *s,
                          const kernel_source *source, const log_sink *log,
                          sim_kernel **k, const isa_function **programs,
                          vpu_error *err)
{
    const lint_config *c = l->cfg;
    const kernel_compile_options user = {.options = c->options,
                                         .n_options = c->n_options,
                                         .no_cache = c->no_cache,
                                         .limits = c->limits};
    const kernel_compile_config cfg = {
        .user = s->launch ? backend_source_options(s->launch, &user, l->arena)
                          : user,
        .log = log};
    vpu_status st = kernel_compile(source, &cfg, l->arena, k, err);

    return st ? st : kernel_programs(*k, l->arena, programs, err);
}

bool lint_variant(lint_state *l, const lint_stage *s, const char *text,
                  sim_kernel *k, const isa_function **programs)
{
    kernel_source source = {
        .path = s->src->path, .entry = s->kernel->name, .text = text};
    const char *at = s->joined ? strstr(s->joined, s->src->text) : NULL;
    vpu_error err = {0};
    sim_kernel *compiled;

    if (at)
        source.text = arena_printf(l->arena, "%.*s%s%s", (int)(at - s->joined),
                                   s->joined, text, at + s->src->length);
    if (compile(l, s, &source, NULL, &compiled, programs, &err))
        return false;
    *k = *compiled;
    return true;
}

const isa_function *lint_program(const isa_function *const *programs)
{
    return programs[SIM_VECTORIZED] ? programs[SIM_VECTORIZED]
                                    : programs[SIM_SCALAR];
}

static bool same_stem(const char *a, const char *b)
{
    size_t n = strcspn(file_basename(a), "."),
           m = strcspn(file_basename(b), ".");

    return n == m && !strncmp(file_basename(a), file_basename(b), n);
}

/* A file of the command line that is meant for the kernel. */
static vpu_status given_source(lint_state *l, const config_kernel *k,
                               bool *used, const char **out, vpu_error *err)
{
    const lint_config *c = l->cfg;
    vpu_status st = VPU_OK;

    *out = NULL;
    for (uint32_t i = 0; i < c->n_sources && !*out && !st; i++) {
        lint_source_kernel found;
        lint_source_text s;
        bool meant = false;

        for (size_t n = 0; n < k->n_sources; n++)
            meant |= same_stem(k->sources[n], c->sources[i]);
        st = lint_source_read(c->sources[i], l->arena, &s, err);
        if (!st && (meant ||
                    lint_source_find_kernel(&s, k->entry, l->arena, &found))) {
            *out = c->sources[i];
            used[i] = true;
        }
    }
    return st;
}

static vpu_status find_source(lint_state *l, const lint_stage *s, bool *used,
                              const char **out, vpu_error *err)
{
    const config_kernel *k = s->binding;
    const char *path;
    backend_source found;
    vpu_status st = given_source(l, k, used, out, err);

    if (st || *out)
        return st;
    st = backend_source_find(
        &(const backend_source_name){k->sources[0], l->cfg->source_dir,
                                     s->layer->path, k->line},
        l->arena, &found, err);
    if (st)
        return st;
    path = found.path;
    if (found.kind == SOURCE_OUR_BIN) {
        size_t stem = strlen(path) - strlen(file_basename(path)) +
                      strcspn(file_basename(path), ".");

        path = arena_printf(l->arena, "%.*s.cl", (int)stem, path);
        if (!file_exists(path))
            return err_set(err, VPU_ERR_UNSUPPORTED,
                           "%s: only compiled; lint needs the source (%s)",
                           found.path, path);
    }
    *out = path;
    return VPU_OK;
}

/* Is what the text shows what the compiler saw? */
static bool agrees(const lint_stage *s)
{
    if (s->in_src.n_params != s->kernel->n_args)
        return false;
    for (uint32_t i = 0; i < s->kernel->n_args; i++) {
        const lint_source_param *p = &s->in_src.params[i];

        if (strlen(s->kernel->args[i].name) != p->n_name ||
            strncmp(s->kernel->args[i].name, s->src->text + p->name, p->n_name))
            return false;
    }
    return true;
}

static const graph_launch *launch_of(const lint_state *l, const lint_stage *s)
{
    const graph *g = l->cfg->graph;

    for (uint32_t i = 0; g && i < g->n_launches; i++) {
        const graph_launch *x = &g->launches[i];

        if (x->line == s->binding->line && x->file &&
            !strcmp(x->file, s->layer->path) &&
            !strcmp(x->entry, s->binding->entry))
            return x;
    }
    return NULL;
}

/* The launch of a SimpleGPU layer with those of its files replaced that the
 * command line has others for. */
static graph_launch with_given(lint_state *l, const graph_launch *x, bool *used)
{
    const lint_config *c = l->cfg;
    const char **paths = arena_array(l->arena, const char *, x->n_sources);
    graph_launch out = *x;

    for (uint32_t i = 0; i < x->n_sources; i++) {
        paths[i] = x->sources[i];
        for (uint32_t k = 0; k < c->n_sources; k++)
            if (same_stem(x->sources[i], c->sources[k])) {
                paths[i] = c->sources[k];
                used[k] = true;
            }
    }
    out.sources = paths;
    return out;
}

/* The file among a SimpleGPU kernel's sources that shows it, else the first. */
static vpu_status find_shown(lint_state *l, const graph_launch *x,
                             lint_source_text *out, vpu_error *err)
{
    lint_source_kernel found;
    vpu_status st = VPU_OK;

    for (uint32_t i = x->n_sources; i-- && !st;) {
        backend_source file;

        st = backend_source_find(
            &(const backend_source_name){x->sources[i], l->cfg->source_dir,
                                         x->file, x->line},
            l->arena, &file, err);
        if (!st)
            st = lint_source_read(file.path, l->arena, out, err);
        if (!st && lint_source_find_kernel(out, x->entry, l->arena, &found))
            break;
    }
    return st;
}

static vpu_status open_gpu(lint_state *l, lint_stage *s, bool *used,
                           lint_source_text *src, kernel_source *source,
                           vpu_error *err)
{
    const graph_launch x = with_given(l, s->launch, used);
    backend_source joined;
    vpu_status st =
        backend_source_of(&x, 0, l->cfg->source_dir, l->arena, &joined, err);

    if (!st)
        st = find_shown(l, &x, src, err);
    if (st)
        return st;
    *source = backend_source_kernel(&joined, s->launch);
    s->joined = joined.text;
    return VPU_OK;
}

/* Without sizes there are no macros, and no kernel without them. */
static vpu_status needs_sizes(const lint_state *l, const lint_stage *s,
                              vpu_error *err)
{
    const config_file *f = l->cfg->binding;
    bool others = false;

    for (size_t i = 0; i < f->n_layers; i++)
        others |= f->layers[i].form != CONFIG_FORM_GPU;
    if (!l->cfg->graph && (!others || l->cfg->layer))
        return err_at(err, VPU_ERR_INVALID, s->layer->path, s->layer->line, 0,
                      "the macros of SimpleGPU layer %s follow from its sizes; "
                      "give them with --shape",
                      s->layer->type);
    log_note(l->cfg->log, "%s:%u: SimpleGPU layer %s is not looked at: %s",
             s->layer->path, s->layer->line, s->layer->type,
             l->cfg->graph ? "the sizes given are of another one"
                           : "its macros follow from sizes, and none are given "
                             "(--layer, --shape)");
    return VPU_OK;
}

vpu_status lint_look(lint_state *l, const config_layer *layer,
                     const config_kernel *k, bool *used, vpu_error *err)
{
    const isa_function *programs[SIM_N_VARIANTS] = {0};
    lint_stage s = {.layer = layer, .binding = k, .programs = programs};
    lint_source_text src;
    sim_kernel *kernel = NULL;
    kernel_source source = {.entry = k->entry};
    vpu_status st;

    s.launch = launch_of(l, &s);
    if (layer->form == CONFIG_FORM_GPU && !s.launch)
        return needs_sizes(l, &s, err);
    if (layer->form == CONFIG_FORM_GPU) {
        st = open_gpu(l, &s, used, &src, &source, err);
    } else {
        st = find_source(l, &s, used, &source.path, err);
        if (!st)
            st = lint_source_read(source.path, l->arena, &src, err);
    }
    if (!st)
        st = compile(l, &s, &source, l->cfg->log, &kernel, programs, err);
    if (st)
        return st;
    s.kernel = kernel;
    s.src = &src;
    s.shown = lint_source_find_kernel(&src, k->entry, l->arena, &s.in_src) &&
              agrees(&s);
    lint_check_args(l, &s);
    lint_check_ports(l, &s);
    lint_check_sizes(l, &s);
    lint_check_kernel(l, &s);
    return VPU_OK;
}
