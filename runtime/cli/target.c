/* Options that say which layer to run, and how; see target.h. */
#include "runtime/cli/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "runtime/graph/io.h"
#include "sim/compiler/front/budget.h"
#include "sim/compiler/store/kcache.h"

/* Of the device's time, per launch: no layer takes that long, and an endless
 * loop gets there in about as much time of ours. */
enum { DEFAULT_SECONDS = 10 };

/* --- options ------------------------------------------------------------- */

void target_init(target_options *o)
{
    *o = (target_options){
        .how.timeout_s = 3600,
        .compile = budget_or_default(NULL),
        .stick = {.stop = &cli_stop, .sessions = &cli_sessions}};
}

static bool push(target_list *l, const char *value)
{
    if (l->n == TARGET_MAX_LIST)
        return false;
    l->items[l->n++] = value;
    return true;
}

bool target_count(const char *text, uint32_t *out)
{
    unsigned long long v;

    if (!str_to_u64(text, &v) || !v || v > UINT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

static bool parse_order(const char *text, target_options *o)
{
    unsigned long long seed;

    if (!strcmp(text, "sequential"))
        o->how.order = EXEC_SEQUENTIAL;
    else if (!strcmp(text, "reverse"))
        o->how.order = EXEC_REVERSE;
    else if (!strncmp(text, "random:", 7) && str_to_u64(text + 7, &seed)) {
        o->how.order = EXEC_RANDOM;
        o->how.seed = seed;
    } else
        return false;
    return true;
}

/* Options that say how the simulator runs. */
static bool sim_option(target_options *o, int c, const char *value)
{
    unsigned long long v;

    switch (c) {
    case TARGET_SHAVES:
        o->sim_only = o->sim_only ? o->sim_only : "--shaves";
        return target_count(value, &o->how.n_shaves);
    case TARGET_MACHINE:
        o->sim_only = "--machine";
        o->machine = value;
        return true;
    case TARGET_SET:
        o->sim_only = "--set";
        return push(&o->sets, value);
    case TARGET_ENGINE:
        o->sim_only = "--engine";
        o->how.engine =
            strcmp(value, "compiled") ? EXEC_INTERPRETED : EXEC_COMPILED;
        o->engine_given = true;
        return o->how.engine == EXEC_COMPILED || !strcmp(value, "interpreted");
    case TARGET_TIMING:
        o->sim_only = "--timing";
        return exec_timing_parse(value, &o->how.timing);
    case TARGET_ORDER:
        o->sim_only = "--order";
        return parse_order(value, o);
    case TARGET_MAX_CYCLES:
        o->sim_only = "--max-cycles";
        if (!str_to_u64(value, &v))
            return false;
        o->how.max_cycles = v;
        return o->max_cycles_given = true;
    default:
        return false;
    }
}

/* Options that say how to talk to a stick. */
static bool stick_option(target_options *o, int c, const char *value)
{
    xlink_layout layout;

    switch (c) {
    case TARGET_XLINK:
        o->stick_only = "--xlink";
        o->stick.layout = value;
        return xlink_layout_parse(value, &layout);
    case TARGET_FIRMWARE:
        o->stick_only = "--firmware";
        o->stick.firmware = value;
        return *value;
    case TARGET_XLINK_LOG:
        o->stick_only = "--xlink-log";
        o->stick.log = value ? value : "-";
        return *o->stick.log;
    case TARGET_TAKE_BOOTED:
        o->stick_only = "--take-booted";
        return o->stick.take_booted = true;
    default:
        return false;
    }
}

/* Of this process's cache: its folder is one for all that it compiles. */
static bool set_cache_size(target_options *o, const char *value)
{
    unsigned long long bytes;

    if (!str_to_bytes(value, &bytes))
        return false;
    kcache_limit(bytes);
    o->no_cache |= !bytes;
    return true;
}

bool target_option(target_options *o, int c, const char *value, arena *a)
{
    switch (c) {
    case 'D':
    case 'I':
        return push(&o->clang, arena_printf(a, "-%c%s", c, value));
    case TARGET_LAYER:
        o->layer = value;
        return true;
    case TARGET_MODEL:
        o->model = value;
        return true;
    case TARGET_AT:
        o->at = value;
        return true;
    case TARGET_SHAPE:
        return push(&o->shapes, value);
    case TARGET_PARAM:
        return push(&o->params, value);
    case TARGET_INPUT:
        return push(&o->inputs, value);
    case TARGET_BLOB:
        return push(&o->blobs, value);
    case TARGET_STRICT:
        return config_release_parse(value, &o->strict);
    case TARGET_SOURCE_DIR:
        o->source_dir = value;
        return true;
    case TARGET_THREADS:
        return target_count(value, &o->how.n_threads);
    case TARGET_TIMEOUT:
        return str_to_f64(value, &o->how.timeout_s) && o->how.timeout_s >= 0 &&
               o->how.timeout_s <= 1e9;
    case TARGET_NO_CACHE:
        return o->no_cache = true;
    case TARGET_CACHE_SIZE:
        return set_cache_size(o, value);
    case TARGET_COMPILE_TIMEOUT:
        return cli_compile_time(value, &o->compile);
    case TARGET_COMPILE_MEMORY:
        return cli_compile_memory(value, &o->compile);
    case TARGET_QUIET:
        return o->quiet = true;
    default:
        return c >= TARGET_XLINK ? stick_option(o, c, value)
                                 : sim_option(o, c, value);
    }
}

bool target_sim_only(const target_options *o, const backend_ops *ops)
{
    uint32_t extras = backend_extras(ops);

    if (!o->sim_only || extras & BACKEND_MACHINE)
        return false;
    return !(extras & BACKEND_STICK) || strcmp(o->sim_only, "--shaves");
}

int target_check(target_options *o, const cli_command *c, int argc, char **argv)
{
    if (optind + 1 < argc)
        return cli_usage(c, "one binding file at a time ('%s', '%s')",
                         argv[optind], argv[optind + 1]);
    if (optind == argc)
        return cli_usage(c, "no binding file");
    o->xml = argv[optind];
    o->stick.release = o->strict;
    o->stick.n_shaves = o->how.n_shaves;
    if (o->model && o->shapes.n)
        return cli_usage(c, "--model and --shape exclude each other");
    if (o->model && o->layer)
        return cli_usage(c, "--model and --layer exclude each other; "
                            "--at NAME picks a layer of the model");
    if (o->model && o->blobs.n)
        return cli_usage(c, "--model and --blob exclude each other");
    if (o->at && !o->model)
        return cli_usage(c, "--at needs --model");
    return CLI_OK;
}

/* --- binding ------------------------------------------------------------- */

static vpu_status load_machine(const target_options *o, arena *a,
                               mach_desc *desc, vpu_error *err)
{
    vpu_status st = mach_desc_load(o->machine, a, desc, err);

    for (uint32_t i = 0; i < o->sets.n && !st; i++)
        st = mach_desc_set(desc, a, o->sets.items[i], err);
    if (!st && o->how.n_shaves > desc->num_shaves)
        st = err_set(err, VPU_ERR_INVALID, "--shaves %u: the machine has %llu",
                     o->how.n_shaves, (unsigned long long)desc->num_shaves);
    return st;
}

/* The model's layer that was bound, if it is one alone. */
static const config_model_layer *bound_layer(const target *t)
{
    for (size_t i = 0; i < t->model.n_layers; i++)
        if (!strcmp(t->model.layers[i].name, t->g->layer))
            return &t->model.layers[i];
    return NULL;
}

static void list_params(const target_options *o, arena *a, target *t)
{
    const config_model_layer *l = o->model ? bound_layer(t) : NULL;
    size_t n = 0, most = o->params.n + (l ? l->n_params : 0);
    const char **list = arena_array(a, const char *, most + 1);

    for (uint32_t i = 0; i < o->params.n; i++)
        list[n++] = o->params.items[i];
    for (size_t i = 0; l && i < l->n_params; i++)
        list[n++] =
            arena_printf(a, "%s=%s", l->params[i].name, l->params[i].value);
    t->params = list;
    t->n_params = (uint32_t)n;
}

vpu_status target_bind(const target_options *o, arena *a, const log_sink *log,
                       target *t, vpu_error *err)
{
    graph_shape shapes[TARGET_MAX_LIST];
    config_param params[TARGET_MAX_LIST];
    config_blob blobs[TARGET_MAX_LIST];
    graph_request q = {.binding = &t->binding,
                       .at = o->at,
                       .type = o->layer,
                       .shapes = shapes,
                       .n_shapes = o->shapes.n,
                       .blobs = blobs,
                       .n_blobs = o->blobs.n,
                       .params = params,
                       .n_params = o->params.n};
    vpu_status st = load_machine(o, a, &t->desc, err);

    if (!st)
        st = config_file_read(o->xml, a, log, o->strict, &t->binding, err);
    for (uint32_t i = 0; i < o->shapes.n && !st; i++)
        st = graph_shape_parse(o->shapes.items[i], &shapes[i], err);
    for (uint32_t i = 0; i < o->params.n && !st; i++)
        st = graph_param_parse(o->params.items[i], a, &params[i], err);
    for (uint32_t i = 0; i < o->blobs.n && !st; i++)
        st = graph_blob_read(o->blobs.items[i], a, &blobs[i], err);
    if (!st && o->model) {
        st = config_model_read(o->model, NULL, a, &t->model, err);
        q.model = &t->model;
    }
    if (!st)
        st = graph_bind(&q, a, log, &t->g, err);
    if (!st)
        list_params(o, a, t);
    return st;
}

/* --- inputs -------------------------------------------------------------- */

/* The port and the text behind '=' of "N=SPEC". */
static vpu_status split_input(const char *text, arena *a, uint64_t *port,
                              const char **spec, vpu_error *err)
{
    const char *eq = strchr(text, '=');
    unsigned long long n;

    if (!eq || !str_to_u64(arena_strndup(a, text, (size_t)(eq - text)), &n))
        return err_set(err, VPU_ERR_INVALID,
                       "--input %s: expected N=FILE.npy|zeros|ramp|random:SEED",
                       text);
    *port = n;
    *spec = eq + 1;
    return VPU_OK;
}

vpu_status target_input(const target_options *o, const graph_buffer *b,
                        arena *a, const char **spec, vpu_error *err)
{
    const char *text;
    vpu_status st = VPU_OK;
    uint64_t port;

    *spec = arena_printf(a, "random:%u", b->port);
    for (uint32_t i = 0; i < o->inputs.n && !st; i++) {
        st = split_input(o->inputs.items[i], a, &port, &text, err);
        if (!st && port == b->port)
            *spec = text; /* the last one counts */
    }
    return st;
}

vpu_status target_fill(const target_options *o, const graph_buffer *b, arena *a,
                       void *data, vpu_error *err)
{
    const char *spec;
    vpu_status st = target_input(o, b, a, &spec, err);

    return st ? st : graph_input_fill(b, spec, data, err);
}

vpu_status target_fill_all(const target_options *o, const target *t,
                           const backend *b, arena *a, vpu_error *err)
{
    const graph *g = t->g;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        arena_mark m = arena_save(a);
        void *data;

        if (g->buffers[i].role != GRAPH_INPUT)
            continue;
        data = b->ops->inspect ? backend_buffer(b, i)
                               : arena_push(a, g->buffers[i].bytes, 1, 64);
        st = target_fill(o, &g->buffers[i], a, data, err);
        if (!st && !b->ops->inspect)
            st = b->ops->write(b->self, i, data, err);
        arena_restore(a, m);
    }
    return st;
}

vpu_status target_check_inputs(const target_options *o, const target *t,
                               arena *a, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < o->inputs.n && !st; i++) {
        const char *spec;
        bool found = false;
        uint64_t port;

        st = split_input(o->inputs.items[i], a, &port, &spec, err);
        for (uint32_t k = 0; k < t->g->n_buffers && !st; k++)
            found |= t->g->buffers[k].role == GRAPH_INPUT &&
                     t->g->buffers[k].port == port;
        if (!st && !found)
            st = err_set(err, VPU_ERR_INVALID,
                         "--input %s: the layer has no input %llu that its "
                         "kernels use",
                         o->inputs.items[i], (unsigned long long)port);
    }
    return st;
}

uint64_t target_max_cycles(const target_options *o, const mach_desc *desc)
{
    return o->max_cycles_given ? o->how.max_cycles
                               : desc->clk_mhz * 1000000 * DEFAULT_SECONDS;
}

backend_config target_backend(const target_options *o, const target *t)
{
    backend_config c = {.device = "",
                        .source_dir = o->source_dir,
                        .compile = {.options = o->clang.items,
                                    .n_options = o->clang.n,
                                    .no_cache = o->no_cache,
                                    .limits = &o->compile},
                        .how = o->how,
                        .desc = &t->desc,
                        .params = t->params,
                        .n_params = t->n_params,
                        .stick = &o->stick};

    c.how.max_cycles = target_max_cycles(o, &t->desc);
    return c;
}
