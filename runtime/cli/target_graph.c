/* Options of a command as a context, a layer and inputs; see target_graph.h. */
#include "runtime/cli/target_graph.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cli/ending.h"
#include "runtime/graphfile/graphfile.h"

/* --- words --------------------------------------------------------------- */

/* 0 has a meaning of its own in the library's options: the default. */
static double limit_or_none(double seconds)
{
    return seconds > 0 ? seconds : -1;
}

static uint64_t bytes_or_none(uint64_t bytes)
{
    return bytes ? bytes : UINT64_MAX;
}

static vpu_context_options context_of(const target_options *o, const char *id)
{
    vpu_context_options c = VPU_CONTEXT_OPTIONS_INIT;

    c.backend = id;
    c.machine = o->machine;
    c.settings = (const char *const *)o->sets.items;
    c.n_settings = o->sets.n;
    c.shaves = o->how.n_shaves;
    c.threads = o->how.n_threads;
    c.engine = (uint32_t)o->how.engine + VPU_ENGINE_COMPILED;
    c.timing = (uint32_t)o->how.timing + VPU_TIMING_FLOW;
    c.order = (uint32_t)o->how.order + VPU_ORDER_SEQUENTIAL;
    c.seed = o->how.seed;
    if (o->max_cycles_given)
        c.max_cycles = bytes_or_none(o->how.max_cycles);
    c.timeout = limit_or_none(o->how.timeout_s);
    c.allow_overruns = o->how.overruns == EXEC_OVERRUN_NOTE;
    c.print_prefix = o->how.print_prefix;
    c.no_cache = o->no_cache;
    c.source_dir = o->source_dir;
    c.build_options = (const char *const *)o->clang.items;
    c.n_build_options = o->clang.n;
    c.release = o->strict ? config_release_name(o->strict) : NULL;
    c.firmware = o->stick.firmware;
    c.xlink = o->stick.layout;
    c.xlink_log = o->stick.log;
    c.take_booted = o->stick.take_booted;
    c.compile_timeout = limit_or_none(o->compile.seconds);
    c.compile_memory = bytes_or_none(o->compile.bytes);
    c.exact_source = o->exact_source;
    c.keep_conversions = 1; /* as the vendor's compiler leaves them */
    cli_context_log(&c, o->quiet);
    return c;
}

static vpu_layer_options layer_of(const target_options *o)
{
    graph_layer_texts t = target_texts(o);
    vpu_layer_options l = VPU_LAYER_OPTIONS_INIT;

    l.bindings = t.bindings.items;
    l.n_bindings = t.bindings.n;
    l.layer = t.type;
    l.any_layer = t.only_type;
    l.number = t.number;
    l.shapes = t.shapes.items;
    l.n_shapes = t.shapes.n;
    l.params = t.params.items;
    l.n_params = t.params.n;
    l.blobs = t.blobs.items;
    l.n_blobs = t.blobs.n;
    l.paddings = t.paddings.items;
    l.n_paddings = t.paddings.n;
    l.custom = t.custom;
    l.openvino = t.openvino;
    l.model = t.model;
    l.at = t.at;
    l.batch_by_item = t.batch == GRAPH_BATCH_DEVICE;
    l.batch_whole = !l.batch_by_item;
    l.any_params = (o->offered & BACKEND_PARAMS) != 0;
    return l;
}

target_words target_words_of(const target_options *o, const char *id)
{
    return (target_words){context_of(o, id), layer_of(o)};
}

/* --- a graph ------------------------------------------------------------- */

/* A graph's file has all that the options would say of a layer. */
static vpu_status load(const target_options *o, const char *path,
                       target_graph *out, vpu_error *err)
{
    const struct {
        bool given;
        const char *name;
    } of_layers[] = {
        {o->layer, "--layer"},     {o->binding, "--binding"},
        {o->model, "--model"},     {o->at, "--at"},
        {o->custom, "--custom"},   {o->shapes.n, "--shape"},
        {o->params.n, "--param"},  {o->blobs.n, "--blob"},
        {o->pads.n, "--pad"},      {o->batch >= 0, "--batch"},
        {o->clang.n, "-D and -I"}, {o->source_dir, "--source-dir"}};

    for (size_t i = 0; i < sizeof of_layers / sizeof *of_layers; i++)
        if (of_layers[i].given)
            return err_set(err, VPU_ERR_INVALID,
                           "%s: a graph's file, which has all of it already: "
                           "%s is for layers",
                           path, of_layers[i].name);
    return vpu_graph_load(&out->graph, out->context, path, err);
}

vpu_status target_graph_open(const target_options *o, const target_words *w,
                             arena *a, target_graph *out, vpu_error *err)
{
    vpu_status st;

    *out = (target_graph){.o = o, .arena = a};
    st = vpu_context_create(&out->context, &w->context, err);
    if (st)
        return st;
    ending_interrupts(out->context);
    if (w->layer.n_bindings == 1 && graphfile_is_one(w->layer.bindings[0]))
        return load(o, w->layer.bindings[0], out, err);
    st = vpu_graph_create(&out->graph, out->context, err);
    return st ? st
              : vpu_graph_add_layer(out->graph, &w->layer, &out->layer, err);
}

void target_graph_close(target_graph *t)
{
    vpu_graph_free(t->graph);
    ending_forgets(t->context);
    vpu_context_free(t->context);
    *t = (target_graph){0};
}

/* --- inputs -------------------------------------------------------------- */

/* The number of input i, which is called "in<number>"; NULL: it has not so
 * many. */
static vpu_tensor *input_at(vpu_graph *g, size_t i, uint32_t *port)
{
    vpu_tensor *x = vpu_graph_tensor_at(g, VPU_ROLE_INPUT, i);

    if (x)
        *port = (uint32_t)strtoul(vpu_tensor_name(x) + strlen("in"), NULL, 10);
    return x;
}

vpu_status target_graph_fill(void *user, vpu_graph *g, vpu_error *err)
{
    const target_graph *t = user;
    vpu_status st = VPU_OK;
    vpu_tensor *x;
    uint32_t port;

    for (size_t i = 0; !st && (x = input_at(g, i, &port)); i++) {
        arena_mark m = arena_save(t->arena);
        const char *spec;

        st = target_input_spec(t->o, port, t->arena, &spec, err);
        if (!st)
            st = vpu_tensor_fill(x, spec, err);
        arena_restore(t->arena, m);
    }
    return st;
}

static bool has_input(const void *user, uint64_t wanted)
{
    const target_graph *t = user;
    uint32_t port;

    for (size_t i = 0; input_at(t->graph, i, &port); i++)
        if (port == wanted)
            return true;
    return false;
}

vpu_status target_graph_check_inputs(const target_graph *t, vpu_error *err)
{
    return target_check_ports(t->o, t->arena, has_input, t, err);
}
