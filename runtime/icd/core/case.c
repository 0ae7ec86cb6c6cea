/* A launch of a program as a graph of its own: for the checkers, and as a file
 * that vpu run takes. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/oom.h"
#include "base/temp.h"
#include "runtime/backend/args.h"
#include "runtime/backend/whole.h"
#include "runtime/check/layer.h"
#include "runtime/check/suppress.h"
#include "runtime/graph/npy.h"
#include "runtime/graphfile/graphfile.h"
#include "runtime/icd/core/core_priv.h"

typedef struct {
    core_machine *m;
    const core_launch *l;
    arena *a;
    graph g;
    graph_launch launch;
    core_source *sources; /* with the folders of their headers */
    const char **names;   /* of the texts: each has its own */
    char **folders;       /* NULL = none */
    uint32_t n_sources;
} core_case;

/* --- buffers -------------------------------------------------------------- */

static bool points_into(const core_launch *l, uint32_t arg,
                        const core_object *o)
{
    const sim_arg *p = &l->kernel->args[arg];
    uint32_t at = l->values[arg].as.address;

    return p->space != SIM_ARG_SCALAR && p->space != SIM_ARG_LOCAL &&
           at >= o->address && at - o->address < o->bytes;
}

/* The elements that all arguments which point into it agree on. */
static bool type_of(const core_launch *l, const core_object *o,
                    tensor_dtype *out)
{
    bool any = false;

    for (uint32_t i = 0; i < l->kernel->n_args; i++) {
        tensor_dtype t;

        if (!points_into(l, i, o))
            continue;
        if (!backend_arg_type(&l->kernel->args[i], &t) || (any && t != *out) ||
            (l->values[i].as.address - o->address) % tensor_dtype_bytes(t))
            return false;
        *out = t;
        any = true;
    }
    return any && o->bytes % tensor_dtype_bytes(*out) == 0;
}

static const uint64_t *place_of(const core_case *c, uint32_t address)
{
    for (size_t i = 0; i < memory_count(c->m->mem); i++) {
        const memory_buffer *b = memory_buffer_at(c->m->mem, i);
        uint64_t at = b->packed + (address - b->address);

        if (address >= b->address && address - b->address < b->bytes)
            return arena_memdup(c->a, &at, sizeof at);
    }
    return NULL;
}

static void take_object(core_case *c, uint32_t i)
{
    const core_object *o = &c->l->objects[i];
    tensor_dtype type = TENSOR_U8;
    bool typed = type_of(c->l, o, &type), written = false;
    uint64_t n = o->bytes / (typed ? tensor_dtype_bytes(type) : 1);

    for (uint32_t k = 0; k < c->l->kernel->n_args; k++)
        written |=
            points_into(c->l, k, o) && core_writes(&c->l->kernel->args[k]);
    c->g.buffers[i] =
        (graph_buffer){.name = o->name,
                       .role = written ? GRAPH_OUTPUT : GRAPH_CONST,
                       .port = i,
                       .desc = {.dtype = typed ? type : TENSOR_U8,
                                .rank = 1,
                                .dims = {(uint32_t)n}},
                       .untyped = !typed,
                       .bytes = o->bytes,
                       .init = memory_window(c->m->mem) + o->address,
                       .init_written = o->written,
                       .place = place_of(c, o->address)};
}

/* --- arguments ------------------------------------------------------------ */

static void take_pointer(core_case *c, uint32_t i, graph_arg *x)
{
    static const uint32_t null;
    const core_launch *l = c->l;

    for (uint32_t k = 0; k < l->n_objects; k++)
        if (points_into(l, i, &l->objects[k])) {
            x->kind = GRAPH_ARG_BUFFER;
            x->buffer = k;
            x->offset = l->values[i].as.address - l->objects[k].address;
            x->written = core_writes(&l->kernel->args[i]);
            return;
        }
    x->kind = GRAPH_ARG_BYTES;
    x->value = &null;
    x->bytes = sizeof null;
}

static void take_arguments(core_case *c)
{
    const sim_kernel *k = c->l->kernel;
    graph_arg *args = arena_array(c->a, graph_arg, k->n_args + 1);

    for (uint32_t i = 0; i < k->n_args; i++) {
        const exec_value *v = &c->l->values[i];
        graph_arg *x = &args[i];

        x->name = k->args[i].name;
        if (k->args[i].space == SIM_ARG_SCALAR) {
            x->kind = GRAPH_ARG_BYTES;
            x->value = v->as.raw;
            x->bytes = k->args[i].bytes;
        } else if (k->args[i].space == SIM_ARG_LOCAL) {
            x->kind = GRAPH_ARG_LOCAL;
            x->bytes = v->as.bytes;
        } else {
            take_pointer(c, i, x);
        }
    }
    c->launch.args = args;
    c->launch.n_args = k->n_args;
}

/* --- the graph ------------------------------------------------------------ */

static void take_launch(core_case *c)
{
    const core_launch *l = c->l;
    graph_text *linked = arena_array(c->a, graph_text, c->n_sources);

    for (uint32_t i = 1; i < c->n_sources; i++)
        linked[i - 1] =
            (graph_text){c->names[i], c->sources[i].text, c->sources[i].options,
                         c->sources[i].n_options};

    c->launch = (graph_launch){.name = l->name,
                               .layer = l->name,
                               .type = "OpenCL",
                               .entry = l->kernel->name,
                               .given = c->sources->text,
                               .linked = linked,
                               .n_linked = c->n_sources - 1,
                               .sources = c->names,
                               .n_sources = 1,
                               .options = c->sources->options,
                               .n_options = c->sources->n_options,
                               .by_index = true,
                               .program = true,
                               .work_dim = l->work_dim,
                               .file = CORE_TEXT_NAME,
                               .line = l->kernel->line};
    memcpy(c->launch.local, l->local, sizeof l->local);
    memcpy(c->launch.offset, l->offset, sizeof l->offset);
    for (int d = 0; d < 3; d++)
        c->launch.global[d] = l->groups[d] * l->local[d];
    if (l->n_shaves < c->m->desc.num_shaves)
        c->launch.max_shaves = l->n_shaves;
}

/* The texts that the kernel's program was linked of: the first is
 * CORE_TEXT_NAME, as others are in messages of the compiler, the next ones are
 * told from it. */
static vpu_status take_sources(core_case *c, vpu_error *err)
{
    const core_unit *u = c->l->unit;
    vpu_status st = VPU_OK;

    c->sources =
        arena_memdup(c->a, u->sources, u->n_sources * sizeof *u->sources);
    c->names = arena_array(c->a, const char *, u->n_sources);
    c->folders = arena_array(c->a, char *, u->n_sources);
    while (c->n_sources < u->n_sources && !st) {
        uint32_t i = c->n_sources++;

        c->names[i] =
            i ? arena_printf(c->a, "source-%u.cl", i + 1) : CORE_TEXT_NAME;
        c->sources[i].text = core_text(c->sources[i].text, c->names[i], c->a);
        st = core_put_headers(&c->sources[i], c->a, &c->folders[i], err);
    }
    return st;
}

static vpu_status make_case(core_case *c, vpu_error *err)
{
    const core_launch *l = c->l;
    vpu_status st = take_sources(c, err);

    if (st)
        return st;
    take_launch(c);
    take_arguments(c);
    c->g =
        (graph){.layer = l->name,
                .type = "OpenCL",
                .form = "OpenCL",
                .batch = 1,
                .launches = &c->launch,
                .n_launches = 1,
                .n_buffers = l->n_objects,
                .buffers = arena_array(c->a, graph_buffer, l->n_objects + 1)};
    for (uint32_t i = 0; i < l->n_objects; i++)
        take_object(c, i);
    return VPU_OK;
}

typedef struct {
    core_case c;
    vpu_status (*work)(core_case *c, void *how, vpu_error *err);
    void *how;
} working;

static vpu_status work_on(void *user, vpu_error *err)
{
    working *w = user;
    vpu_status st;

    w->c.a = arena_create(0);
    st = make_case(&w->c, err);
    return st ? st : w->work(&w->c, w->how, err);
}

static vpu_status with_case(core_machine *m, const core_launch *l,
                            vpu_status (*work)(core_case *c, void *how,
                                               vpu_error *err),
                            void *how, vpu_error *err)
{
    working w = {.c = {.m = m, .l = l}, .work = work, .how = how};
    vpu_status st = oom_guard(work_on, &w, err);

    for (uint32_t i = 0; i < w.c.n_sources; i++)
        if (w.c.folders[i])
            temp_dir_remove(w.c.folders[i]);
    arena_destroy(w.c.a);
    return st;
}

/* --- checking ------------------------------------------------------------- */

typedef struct {
    const core_checking *how;
    core_findings *out;
    core_case *c;
    uint8_t **written; /* of each object: bits, after the last run; or NULL */
} checking;

/* Of the last run alone: only that one knows which stores put back what nobody
 * had written. */
static void keep_written(void *user, const check_session *s)
{
    checking *k = user;

    for (uint32_t i = 0; i < k->c->l->n_objects; i++)
        if (k->c->l->objects[i].written) {
            k->written[i] = arena_array(k->c->a, uint8_t,
                                        k->c->l->objects[i].bytes / 8 + 1);
            check_written_bits(s, i, k->written[i]);
        }
}

/* Without checkers that see accesses: all that it may write. */
static void assume_written(const core_case *c)
{
    for (uint32_t i = 0; i < c->l->n_objects; i++)
        if (c->l->objects[i].written && c->g.buffers[i].role == GRAPH_OUTPUT)
            memset(c->l->objects[i].written, 0xff,
                   (c->l->objects[i].bytes + 7) / 8);
}

static void take_written(checking *k)
{
    for (uint32_t i = 0; i < k->c->l->n_objects; i++)
        if (k->written[i])
            memcpy(k->c->l->objects[i].written, k->written[i],
                   (k->c->l->objects[i].bytes + 7) / 8);
}

/* Is it the first of its kind at its place in this process? */
static bool is_news(core_machine *m, const layer_check_shown *f, arena *a)
{
    const char *text =
        arena_printf(a, "%s %s %s:%u:%u %s", check_name(f->kind), f->kernel,
                     f->file, f->line, f->col, f->buffer);
    size_t n = strlen(text) + 1;
    core_told *x;

    for (x = m->told; x; x = x->next)
        if (!strcmp(x->text, text))
            return false;
    x = malloc(sizeof *x + n);
    if (!x)
        return true; /* told once more */
    memcpy(x->text, text, n);
    x->next = m->told;
    m->told = x;
    return true;
}

static void tell(core_case *c, const layer_check_report *r, checking *k)
{
    layer_check_shown *news =
        arena_array(c->a, layer_check_shown, r->n_findings + 1);
    layer_check_report of_news = *r;

    of_news.findings = news;
    of_news.n_findings = 0;
    for (uint32_t i = 0; i < r->n_findings; i++)
        if (is_news(c->m, &r->findings[i], c->a)) {
            k->out->n += !r->findings[i].note;
            news[of_news.n_findings++] = r->findings[i];
        }
    layer_check_print_findings(&of_news, &c->g, c->a, &k->out->text);
    layer_check_print_lines(&of_news, &k->out->json);
}

static vpu_status check(core_case *c, void *how, vpu_error *err)
{
    checking *k = how;
    layer_check_suppressions *known = NULL;
    layer_check_config cfg = {.run = {.device = "",
                                      .how = core_launch_of(c->l).how,
                                      .desc = &c->m->desc},
                              .ended = keep_written,
                              .fill_user = k};
    layer_check_report report;
    vpu_status st;

    k->c = c;
    k->written = arena_array(c->a, uint8_t *, c->l->n_objects + 1);
    cfg.orders = k->how->orders;
    cfg.n_random = k->how->n_random;
    cfg.seed = 1;
    st = check_set_parse(k->how->checks ? k->how->checks : "default",
                         &cfg.enabled, err);
    if (!st && k->how->suppress)
        st = layer_check_suppressions_read(k->how->suppress, c->a, &known, err);
    cfg.suppressions = known;
    if (!st)
        st = layer_check(&cfg, &c->g, c->a, &report, err);
    if (st || !check_set_accesses(cfg.enabled))
        assume_written(c);
    else
        take_written(k);
    if (!st)
        tell(c, &report, k);
    return st;
}

vpu_status core_check(core_machine *m, const core_launch *l,
                      const core_checking *how, core_findings *out,
                      vpu_error *err)
{
    checking k = {.how = how, .out = out};

    return with_case(m, l, check, &k, err);
}

/* --- files ---------------------------------------------------------------- */

/* The tensors that a graph's file has: what the launch writes. */
static void give_tensors(core_case *c, graphfile *f)
{
    graphfile_tensor *list =
        arena_array(c->a, graphfile_tensor, c->g.n_buffers + 1);
    uint32_t *outputs = arena_array(c->a, uint32_t, c->g.n_buffers + 1);
    graphfile_operation *op = arena_new(c->a, graphfile_operation);
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->g.n_buffers; i++) {
        const graph_buffer *b = &c->g.buffers[i];

        if (b->role != GRAPH_OUTPUT)
            continue;
        outputs[n] = n;
        list[n++] = (graphfile_tensor){.name = b->name,
                                       .buffer = i,
                                       .rank = 1,
                                       .dims = {b->desc.dims[0]},
                                       .parent = GRAPHFILE_NONE,
                                       .bytes = b->bytes};
    }
    *op = (graphfile_operation){.name = c->launch.name,
                                .n_launches = 1,
                                .outer = GRAPHFILE_NONE,
                                .outputs = outputs,
                                .n_outputs = n};
    f->tensors = list;
    f->n_tensors = n;
    f->operations = op;
    f->n_operations = 1;
}

static vpu_status dump(core_case *c, void *how, vpu_error *err)
{
    const backend_config cfg = {.device = ""};
    graph_launch whole;
    graphfile f = {0};
    vpu_status st = backend_whole(&cfg, &c->launch, false, c->a, &whole, err);

    if (st)
        return st;
    c->g.launches = &whole;
    give_tensors(c, &f);
    f.graph = c->g;
    return graphfile_write(how, &f, c->a, err);
}

vpu_status core_dump(core_machine *m, const core_launch *l, const char *path,
                     vpu_error *err)
{
    return with_case(m, l, dump, (void *)path, err);
}

static vpu_status put_results(core_case *c, void *how, vpu_error *err)
{
    const char *folder = how;
    vpu_status st = file_mkdirs(folder, err);

    for (uint32_t i = 0; i < c->g.n_buffers && !st; i++) {
        const graph_buffer *b = &c->g.buffers[i];
        const tensor t = {.desc = b->desc, .data = (void *)b->init};

        if (b->role == GRAPH_OUTPUT)
            st = npy_write(
                file_join(c->a, folder, arena_printf(c->a, "%s.npy", b->name)),
                &t, err);
    }
    return st;
}

vpu_status core_results(core_machine *m, const core_launch *l,
                        const char *folder, vpu_error *err)
{
    return with_case(m, l, put_results, (void *)folder, err);
}
