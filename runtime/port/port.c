/* Puts a layer of MVCL together from a SimpleGPU one. */
#include "runtime/port/port.h"

#include <ctype.h>
#include <string.h>

#include "runtime/backend/source.h"
#include "runtime/config/gpu.h"
#include "runtime/port/port_priv.h"

const char *port_form_name(port_form f)
{
    return f == PORT_DMA ? "dma" : "plain";
}

void port_note(port_state *p, const char *fmt, ...)
{
    vpu_error text;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&text, VPU_OK, fmt, ap);
    va_end(ap);
    *arena_append(p->a, p->notes, p->n_notes, p->cap_notes) =
        arena_strdup(p->a, text.msg);
}

/* --- the text ------------------------------------------------------------ */

bool port_text_has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        char before = at == text ? ' ' : at[-1], behind = at[n];

        if (!isalnum((unsigned char)before) && before != '_' &&
            !isalnum((unsigned char)behind) && behind != '_')
            return true;
    }
    return false;
}

bool port_has_word(const port_state *p, const char *word)
{
    for (size_t i = 0; i < p->n_files; i++)
        if (port_text_has_word(p->files[i].code, word))
            return true;
    for (size_t i = 0; i < p->kernel->n_defines; i++) {
        const config_define *d = &p->kernel->defines[i];

        if (port_text_has_word(d->name, word) ||
            (d->preset.text && port_text_has_word(d->preset.text, word)))
            return true;
    }
    return false;
}

const char *port_new_name(const port_state *p, const char *wish)
{
    const char *name = wish;
    bool taken = true;

    while (taken) {
        taken = port_has_word(p, name);
        for (size_t i = 0; i < p->n_scalars; i++)
            taken = taken || !strcmp(p->scalars[i].name, name);
        if (taken)
            name = arena_printf(p->a, "%s_", name);
    }
    return name;
}

static vpu_status read_files(port_state *p)
{
    const config_kernel *k = p->kernel;
    vpu_status st = VPU_OK;
    bool found = false;

    p->n_files = k->n_sources;
    p->files = arena_array(p->a, lint_source_text, p->n_files);
    for (size_t i = 0; i < p->n_files && !st; i++) {
        backend_source file;

        st = backend_source_find(
            &(const backend_source_name){k->sources[i], p->job->source_dir,
                                         p->job->layer->path, k->line},
            p->a, &file, p->err);
        if (!st)
            st = lint_source_read(file.path, p->a, &p->files[i], p->err);
        if (!st && !found &&
            lint_source_find_kernel(&p->files[i], k->entry, p->a, &p->sign)) {
            p->shown = i;
            found = true;
        }
    }
    if (!st && !found)
        st =
            err_at(p->err, VPU_ERR_UNSUPPORTED, p->job->layer->path, k->line, 0,
                   "the text of %s does not show the arguments of kernel "
                   "'%s': are they made by macros?",
                   p->files[0].path, k->entry);
    if (!st && p->sign.n_params != k->n_bindings)
        st = err_at(p->err, VPU_ERR_UNSUPPORTED, p->job->layer->path, k->line,
                    0, "kernel '%s' has %u arguments, the layer binds %zu",
                    k->entry, p->sign.n_params, k->n_bindings);
    return st;
}

/* --- tensors ------------------------------------------------------------- */

/* How many dims above 1 there are but the batch, and whether channels alone. */
static bool is_plain_anyway(const tensor_desc *d)
{
    uint32_t above = 0;

    for (uint32_t i = 1; i < d->rank; i++)
        above += d->dims[i] > 1;
    return above <= 1;
}

static vpu_status choose_format(port_state *p, port_tensor *t)
{
    bool batch_inside = t->gpu == CONFIG_YXFB || t->gpu == CONFIG_FYXB;
    bool minor = t->gpu == CONFIG_BYXF || t->gpu == CONFIG_YXFB;

    if (batch_inside && t->desc.rank && t->desc.dims[0] > 1)
        return err_at(p->err, VPU_ERR_UNSUPPORTED, p->job->layer->path,
                      p->kernel->line, 0,
                      "%s has format %s and a batch of %u: MVCL has no format "
                      "with the batch innermost",
                      t->word, config_format_name(t->gpu), t->desc.dims[0]);
    if (minor && t->desc.rank != 4 && !is_plain_anyway(&t->desc))
        return err_at(p->err, VPU_ERR_UNSUPPORTED, p->job->layer->path,
                      p->kernel->line, 0,
                      "%s is %s of format %s: MVCL brings tensors of rank 4 "
                      "into that order alone",
                      t->word, tensor_desc_text(p->a, &t->desc),
                      config_format_name(t->gpu));
    t->format = minor && t->desc.rank == 4 ? CONFIG_BYXF : CONFIG_BFYX;
    return VPU_OK;
}

static const graph_buffer *buffer_of(const port_state *p, graph_role role,
                                     uint32_t port)
{
    const graph *g = p->job->graph;

    for (uint32_t i = 0; i < g->n_buffers; i++)
        if (g->buffers[i].role == role && g->buffers[i].port == port)
            return &g->buffers[i];
    return NULL;
}

static vpu_status find_tensors(port_state *p)
{
    static const char *const letters[] = {"", "F", "BF", "FYX", "BFYX"};
    size_t n_inputs = 0;
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < p->job->request->n_shapes; i++) {
        const graph_shape *s = &p->job->request->shapes[i];

        if (!s->output && s->port >= n_inputs)
            n_inputs = s->port + 1;
    }
    p->n_tensors = n_inputs + 1;
    p->tensors = arena_array(p->a, port_tensor, p->n_tensors);
    for (size_t i = 0; i < p->n_tensors && !st; i++) {
        port_tensor *t = &p->tensors[i];
        const graph_buffer *b;

        t->output = i == n_inputs;
        t->port = t->output ? 0 : (uint32_t)i;
        t->macro =
            arena_printf(p->a, "%s%u", t->output ? "OUTPUT" : "INPUT", t->port);
        t->word = arena_printf(p->a, "%s%u", t->output ? "out" : "in", t->port);
        b = buffer_of(p, t->output ? GRAPH_OUTPUT : GRAPH_INPUT, t->port);
        for (size_t k = 0; k < p->job->request->n_shapes; k++) {
            const graph_shape *s = &p->job->request->shapes[k];

            if (s->output == t->output && s->port == t->port)
                t->desc = s->desc;
        }
        if (b)
            t->desc = b->desc;
        t->letters = letters[t->desc.rank];
        t->gpu = config_gpu_format(
            p->kernel, t->output ? CONFIG_OUTPUT : CONFIG_INPUT, t->port);
        st = choose_format(p, t);
    }
    return st;
}

port_tensor *port_tensor_of(const port_state *p, const config_binding *x)
{
    return x->kind == CONFIG_OUTPUT ? &p->tensors[p->n_tensors - 1]
                                    : &p->tensors[x->port];
}

/* --- the kernel ---------------------------------------------------------- */

/* From the bracket before the first argument to the one behind the last. */
static void argument_span(const port_state *p, size_t *first, size_t *end)
{
    const char *code = p->files[p->shown].code;
    int depth = 0;

    *first = p->sign.name + strcspn(code + p->sign.name, "(") + 1;
    for (*end = *first; code[*end]; (*end)++) {
        if (code[*end] == '(')
            depth++;
        else if (code[*end] == ')' && depth-- == 0)
            break;
    }
}

/* The text of argument i, without the comma. */
static const char *argument(const port_state *p, uint32_t i)
{
    const lint_source_text *f = &p->files[p->shown];
    size_t first, end, at;

    argument_span(p, &first, &end);
    at = i ? p->sign.params[i - 1].name + p->sign.params[i - 1].n_name : first;
    at += i ? strcspn(f->code + at, ",") + 1 : 0;
    if (i + 1 < p->sign.n_params) {
        end = p->sign.params[i].name + p->sign.params[i].n_name;
        end += strcspn(f->code + end, ",");
    }
    while (at < end && isspace((unsigned char)f->code[at]))
        at++;
    return arena_strndup(p->a, f->code + at, end - at);
}

/* The text with words exchanged. */
static void put_exchanged(str *out, const char *text, size_t n,
                          const char *const pairs[][2], size_t n_pairs)
{
    for (size_t i = 0; i < n;) {
        size_t word = 0, k = 0;

        while (i + word < n && (isalnum((unsigned char)text[i + word]) ||
                                text[i + word] == '_'))
            word++;
        while (k < n_pairs && (strlen(pairs[k][0]) != word ||
                               memcmp(pairs[k][0], text + i, word)))
            k++;
        if (word && k < n_pairs)
            str_puts(out, pairs[k][1]);
        else
            str_add(out, text + i, word ? word : 1);
        i += word ? word : 1;
    }
}

static const char *const to_local[][2] = {{"__global", "__local"},
                                          {"global", "__local"},
                                          {"__constant", "const __local"},
                                          {"constant", "const __local"}};
enum { N_TO_LOCAL = sizeof to_local / sizeof *to_local };

const char *port_arguments(const port_state *p, bool local)
{
    const char *text = p->files[p->shown].text;
    str s = {0};

    for (uint32_t i = 0; i < p->sign.n_params; i++) {
        const port_tensor *t = port_tensor_of(p, &p->kernel->bindings[i]);
        const char *one = argument(p, i);

        str_puts(&s, i ? ", " : "");
        if (local && t->moved)
            put_exchanged(&s, one, strlen(one), to_local, N_TO_LOCAL);
        else
            str_puts(&s, one);
    }
    for (uint32_t i = 0; i < p->sign.n_params && local; i++) {
        const port_tensor *t = port_tensor_of(p, &p->kernel->bindings[i]);
        const lint_source_param *x = &p->sign.params[i];
        const char *const pairs[][2] = {
            {arena_strndup(p->a, text + x->name, x->n_name), t->ddr},
            {"__constant", "const __global"},
            {"constant", "const __global"}};
        const char *one = argument(p, i);

        if (!t->moved)
            continue;
        str_puts(&s, ", ");
        put_exchanged(&s, one, strlen(one), pairs, 3);
    }
    for (size_t i = 0; i < p->n_scalars; i++)
        str_printf(&s, ", %s %s", p->scalars[i].type, p->scalars[i].name);
    return port_take(p->a, &s);
}

void port_put_sources(const port_state *p, const char *arguments,
                      bool local_body, bool lines, str *out)
{
    size_t first, end, body = p->sign.body, close = p->sign.end + 1;

    argument_span(p, &first, &end);
    for (size_t i = 0; i < p->n_files; i++) {
        const lint_source_text *f = &p->files[i];

        if (lines)
            str_puts(out, "#line 1\n");
        if (i == p->shown) {
            str_add(out, f->text, first);
            str_puts(out, arguments);
            str_add(out, f->text + end, body - end);
            if (local_body)
                put_exchanged(out, f->text + body, close - body, to_local,
                              N_TO_LOCAL);
            else
                str_add(out, f->text + body, close - body);
            str_add(out, f->text + close, f->length - close);
        } else {
            str_add(out, f->text, f->length);
        }
        if (f->length && f->text[f->length - 1] != '\n')
            str_puts(out, "\n");
    }
}

/* --- the binding --------------------------------------------------------- */

static const char *format_name(const port_tensor *t)
{
    if (t->desc.rank == 4)
        return config_format_name(t->format);
    return t->desc.rank == 3 ? "FYX" : "BF";
}

static void put_tensors(const port_state *p, str *out)
{
    const char *text = p->files[p->shown].text;

    for (size_t i = 0; i < p->kernel->n_bindings; i++) {
        const port_tensor *t = port_tensor_of(p, &p->kernel->bindings[i]);
        const lint_source_param *arg = &p->sign.params[i];

        const char *name = arena_strndup(p->a, text + arg->name, arg->n_name);

        str_printf(out,
                   "            <Tensor arg-name=\"%s\" type=\"%s\" "
                   "port-index=\"%u\" format=\"%s\"/>\n",
                   t->moved ? t->ddr : name, t->output ? "output" : "input",
                   t->port, format_name(t));
        if (t->moved)
            str_printf(out,
                       "            <Data arg-name=\"%s\" "
                       "type=\"local_data\" %s/>\n",
                       name, port_tile_size(p, t));
    }
}

static void put_scalars(const port_state *p, str *out)
{
    for (size_t i = 0; i < p->n_scalars; i++) {
        const port_scalar *s = &p->scalars[i];

        if (!s->source)
            continue;
        str_printf(out, "            <Scalar arg-name=\"%s\" type=\"%s\" ",
                   s->name, s->type);
        if (s->port >= 0)
            str_printf(out, "port-index=\"%d\" ", (int)s->port);
        str_puts(out, "source=\"");
        str_puts_markup(out, s->source);
        str_puts(out, "\"/>\n");
    }
}

void port_put_binding(const port_state *p, const port_sizes *sizes,
                      const char *file, str *out)
{
    str_puts(out, "<CustomLayer name=\"");
    str_puts_markup(out, p->job->layer->type);
    str_puts(out, "\" type=\"MVCL\" version=\"1\">\n    <Kernel entry=\"");
    str_puts_markup(out, p->kernel->entry);
    str_printf(out,
               "\">\n        <Source filename=\"%s\"/>\n        "
               "<Parameters>\n",
               file);
    put_tensors(p, out);
    put_scalars(p, out);
    str_printf(out,
               "        </Parameters>\n        <WorkSizes dim=\"%s\" "
               "global=\"%s\" local=\"%s\"/>\n    </Kernel>\n</CustomLayer>\n",
               sizes->dim, sizes->global, sizes->local);
}

/* --- both ---------------------------------------------------------------- */

const char *port_take(arena *a, str *s)
{
    const char *text = arena_strdup(a, str_text(s));

    str_free(s);
    return text;
}

vpu_status port_compiles(const port_state *p, const char *text,
                         const char *name, vpu_error *err)
{
    const kernel_source source = {
        .path = name, .entry = p->kernel->entry, .text = text};
    const kernel_compile_config cfg = {.user = *p->job->compile};
    sim_kernel *k = NULL;

    return kernel_compile(&source, &cfg, p->a, &k, err);
}

vpu_status port_begin(const port_job *job, arena *a, vpu_error *err,
                      port_state *p)
{
    vpu_status st;

    *p = (port_state){
        .job = job, .a = a, .err = err, .kernel = &job->layer->kernels[0]};
    st = read_files(p);
    return st ? st : find_tensors(p);
}

/* With sizes and parameters as arguments, or all of them fixed. */
static vpu_status write_plain(const port_job *job, bool fixed, arena *a,
                              port_result *out, vpu_error *err)
{
    port_state p;
    port_sizes sizes;
    str kernel = {0}, binding = {0};
    vpu_status st = port_begin(job, a, err, &p);

    p.fixed = fixed;
    if (!st) {
        port_macros(&p);
        port_find_sizes(&p, &sizes);
        out->name = arena_printf(a, "%s.cl", p.kernel->entry);
        str_printf(&kernel,
                   "/* CustomLayer %s, moved from type SimpleGPU to the VPU. "
                   "*/\n%s\n",
                   job->layer->type, str_text(&p.defines));
        port_put_sources(&p, port_arguments(&p, false), false, false, &kernel);
        port_put_binding(&p, &sizes, out->name, &binding);
        out->kernel = port_take(a, &kernel);
        out->binding = port_take(a, &binding);
        out->params = p.params;
        out->n_params = p.n_params;
        out->notes = p.notes;
        out->n_notes = p.n_notes;
        st = port_compiles(&p, out->kernel, out->name, err);
    }
    str_free(&p.defines);
    return st;
}

vpu_status port_layer(const port_job *job, port_form form, arena *a,
                      port_result *out, vpu_error *err)
{
    vpu_error why = {0};
    vpu_status st;

    *out = (port_result){0};
    if (form == PORT_DMA)
        return port_write_dma(job, a, out, err);
    st = write_plain(job, false, a, out, &why);
    if (st != VPU_ERR_COMPILE) {
        if (st && err)
            *err = why;
        return st;
    }
    return write_plain(job, true, a, out, err);
}
