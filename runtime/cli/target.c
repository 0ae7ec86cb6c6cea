/* Options that say which layer to run, and how; see target.h. */
#include "runtime/cli/target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "runtime/cli/offers.h"
#include "runtime/graph/io.h"
#include "runtime/import/layer.h"
#include "sim/compiler/front/budget.h"
#include "sim/compiler/store/kcache.h"

/* --- options ------------------------------------------------------------- */

void target_init(target_options *o)
{
    *o = (target_options){
        .how.timeout_s = BACKEND_HOST_SECONDS,
        .batch = -1,
        .compile = budget_or_default(NULL),
        .stick = {.stop = &cli_stop, .sessions = &cli_sessions}};
}

bool target_take_order(void *fields, const char *value, arena *a)
{
    target_options *o = fields;
    unsigned long long seed;

    (void)a;
    if (!strcmp(value, "sequential")) {
        o->how.order = EXEC_SEQUENTIAL;
    } else if (!strcmp(value, "reverse")) {
        o->how.order = EXEC_REVERSE;
    } else if (!strncmp(value, "random:", 7) && str_to_u64(value + 7, &seed)) {
        o->how.order = EXEC_RANDOM;
        o->how.seed = seed;
    } else {
        return false;
    }
    return true;
}

static bool take_engine(void *fields, const char *value, arena *a)
{
    target_options *o = fields;

    (void)a;
    o->how.engine =
        strcmp(value, "compiled") ? EXEC_INTERPRETED : EXEC_COMPILED;
    o->engine_given = true;
    return o->how.engine == EXEC_COMPILED || !strcmp(value, "interpreted");
}

static bool take_max_cycles(void *fields, const char *value, arena *a)
{
    target_options *o = fields;
    unsigned long long v;

    (void)a;
    if (!str_to_u64(value, &v))
        return false;
    o->how.max_cycles = v;
    return o->max_cycles_given = true;
}

static bool take_release(void *fields, const char *value, arena *a)
{
    target_options *o = fields;

    (void)a;
    return config_release_parse(value, &o->strict);
}

/* Of this process's cache: its folder is one for all that it compiles. */
static bool take_cache_size(void *fields, const char *value, arena *a)
{
    target_options *o = fields;
    unsigned long long bytes;

    (void)a;
    if (!str_to_bytes(value, &bytes))
        return false;
    kcache_limit(bytes);
    o->no_cache |= !bytes;
    return true;
}

#define AT(field) offsetof(target_options, field)

static const cli_option layer_rows[] = {
    {.kind = OPTION_HEADING, .help = "Which layer, with what:"},
    {"layer", "NAME", OPTION_TEXT, AT(layer), .offer = offers_layers,
     .help = "the CustomLayer, when the file binds several"},
    {"binding", "N", OPTION_COUNT, AT(binding),
     .help = "the Nth CustomLayer of that name in the file (default: the one "
             "that the vendor's compiler takes)"},
    {"model", "MODEL.xml", OPTION_TEXT, AT(model),
     .help = "take shapes, parameters and weights from an OpenVINO IR; --at "
             "NAME picks the layer, else all layers of bound types run in a "
             "row, with inputs 0\u2026 and outputs 0\u2026 in the order of "
             "the document"},
    {"custom", "FILE", OPTION_TEXT, AT(custom),
     .help = "of a network: a binding file for layers of it"},
    {"openvino", "DIR", OPTION_TEXT, AT(openvino),
     .help = "of a network: where the package is whose compiler it needs, a "
             "virtual environment, a folder of packages or a Python (default: "
             "VPU_OPENVINO, else python3)"},
    {"at", "NAME", OPTION_TEXT, AT(at),
     .help = "with --model: this layer of it"},
    {"shape", "in0=1x24x128x512[:f16]", OPTION_LIST, AT(shapes),
     .help = "shape of an input by hand, outermost first; out0=\u2026 where "
             "the output differs from input 0. Types: f16 (default) f32 i32 "
             "u8 i8 i16 u16 i64"},
    {"param", "NAME=VALUE", OPTION_LIST, AT(params),
     .help = "a layer parameter"},
    {"blob", "NAME=FILE.npy", OPTION_LIST, AT(blobs),
     .help =
         "a blob for Data bindings: f16, f32, or bytes (u8, i8), which stay "
         "as they are (a model has its own)"},
    {"pad", "in0=LEFT,RIGHT,TOP,BOTTOM", OPTION_LIST, AT(pads),
     .help = "elements in memory around an input, or out0, that a SimpleGPU "
             "kernel has to leave alone"},
    {"batch", "whole|device", OPTION_CHOICE, AT(batch),
     .help = "how a batch runs: each stage once over the whole tensor, or, as "
             "on the device, once per item with the work sizes of all items "
             "(default: device with a stick, else whole)"},
    {"release", "RELEASE", OPTION_OTHER, .take = take_release,
     .help = "refuse what that release's compiler refuses, 2019R3 to 2022.3 "
             "(default: a note)"},
    {"strict", "RELEASE", OPTION_OTHER, .take = take_release},
};
const cli_options target_layer_options = CLI_OPTIONS(layer_rows);

static const cli_option source_rows[] = {
    {"source-dir", "DIR", OPTION_TEXT, AT(source_dir),
     .help = "look for .cl files there first"},
    {"-D", "NAME[=VALUE]", OPTION_OTHER, AT(clang), .take = cli_take_define,
     .help = "a macro for the OpenCL preprocessor"},
    {"-I", "DIR", OPTION_OTHER, AT(clang), .take = cli_take_include,
     .help = "a folder for its #include"}};
const cli_options target_source_options = CLI_OPTIONS(source_rows);

static const cli_option input_rows[] = {
    {"input", "N=SPEC", OPTION_LIST, AT(inputs),
     .help = "input N: FILE.npy, FILE.npz[:ARRAY], FILE.png or FILE.jpg with "
             ":mean=M,scale=S behind it, zeros, ramp or random:SEED (default: "
             "random:N)"}};
const cli_options target_input_options = CLI_OPTIONS(input_rows);

static const cli_option shaves_rows[] = {
    {"shaves", "N", OPTION_COUNT, AT(how.n_shaves),
     .needs = BACKEND_MACHINE | BACKEND_STICK,
     .help = "SHAVEs to use (default: all 16; the vendor's plugin gives a "
             "network 7)"}};
const cli_options target_shaves_options = CLI_OPTIONS(shaves_rows);

static const cli_option machine_rows[] = {
    {"machine", "FILE", OPTION_TEXT, AT(machine), .needs = BACKEND_MACHINE,
     .help = "another machine description"},
    {"set", "KEY=VALUE", OPTION_LIST, AT(sets), .needs = BACKEND_MACHINE,
     .offer = offers_numbers,
     .help = "override one of its numbers (see vpu machine)"}};
const cli_options target_machine_options = CLI_OPTIONS(machine_rows);

static const cli_option order_rows[] = {
    {"order", "sequential|reverse|random:SEED", OPTION_OTHER,
     .take = target_take_order, .needs = BACKEND_MACHINE,
     .help = "order of the work-groups"}};
const cli_options target_order_options = CLI_OPTIONS(order_rows);

static const cli_option run_rows[] = {
    {"engine", "compiled|interpreted", OPTION_OTHER, .take = take_engine,
     .needs = BACKEND_MACHINE,
     .help = "how work-groups run: as host code (default), or bundle by "
             "bundle from the SHAVE program; same results, same cycles, much "
             "slower"},
    {"timing", "flow|transaction|none", OPTION_CHOICE, AT(how.timing),
     .needs = BACKEND_MACHINE,
     .help = "how cycles are found: DDR bandwidth shared between flows "
             "(default), every line of DDR an event, or not at all"},
    {"overruns", "fault|note", OPTION_CHOICE, AT(how.overruns),
     .needs = BACKEND_MACHINE,
     .help = "a write behind an array in local memory ends the run (default), "
             "or is noted, and the run goes on as on the device"},
    {"max-cycles", "N", OPTION_OTHER, .take = take_max_cycles,
     .needs = BACKEND_MACHINE,
     .help = "stop a launch when a SHAVE exceeds N cycles (default: 10 s of "
             "the device's time; 0 = never). Like --timeout it then says "
             "where each SHAVE is"}};
const cli_options target_run_options = CLI_OPTIONS(run_rows);

static const cli_option host_rows[] = {
    {"threads", "N", OPTION_COUNT, AT(how.n_threads),
     .help =
         "host threads (default: all); results and cycles do not depend on it"},
    {"timeout", "SECONDS", OPTION_SECONDS, AT(how.timeout_s),
     .help =
         "stop a launch after this much host time (default 3600, 0 = never)"}};
const cli_options target_host_options = CLI_OPTIONS(host_rows);

static const cli_option cache_rows[] = {
    {"no-cache", NULL, OPTION_FLAG, AT(no_cache), .help = "compile anew"},
    {"cache-size", "SIZE", OPTION_OTHER, .take = take_cache_size,
     .help = "compiled kernels kept on disk take at most so many bytes, with "
             "K, M or G behind them (default 512M; 0 = as --no-cache)"}};
const cli_options target_cache_options = CLI_OPTIONS(cache_rows);

static const cli_option quiet_rows[] = {
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "no notes"}};
const cli_options target_quiet_options = CLI_OPTIONS(quiet_rows);

static const cli_option recording_rows[] = {
    {"exact-source", NULL, OPTION_FLAG, AT(exact_source),
     .needs = BACKEND_RECORDED,
     .help = "compare with a recording only when kernels, work sizes and names "
             "are the recorded ones to the letter (default: a note says what "
             "differs)"}};
const cli_options target_recording_options = CLI_OPTIONS(recording_rows);

static const cli_option stick_rows[] = {
    {.kind = OPTION_HEADING,
     .help = "On a stick (backend usb; --shaves and --release, whose blob it "
             "gets, too):"}};
const cli_options target_stick_heading = CLI_OPTIONS(stick_rows);

static const cli_option how_rows[] = {
    {.kind = OPTION_HEADING, .help = "How it runs:"}};
const cli_options target_how_heading = CLI_OPTIONS(how_rows);

static const cli_option backend_rows[] = {
    {.kind = OPTION_HEADING,
     .help = "How it runs (machine, order and so on are of the simulator):"}};
const cli_options target_how_backend_heading = CLI_OPTIONS(backend_rows);

vpu_status target_take_words(target_options *o, char *const *words, int n_words,
                             vpu_error *err)
{
    if (!n_words)
        return err_set(err, VPU_ERR_INVALID, "no binding file");
    o->bindings = (const char *const *)words;
    o->n_bindings = (size_t)n_words;
    o->stick.release = o->strict;
    o->stick.n_shaves = o->how.n_shaves;
    if (o->model && o->shapes.n)
        return err_set(err, VPU_ERR_INVALID,
                       "--model and --shape exclude each other");
    if (o->model && o->layer)
        return err_set(err, VPU_ERR_INVALID,
                       "--model and --layer exclude each other; --at NAME "
                       "picks a layer of the model");
    if (o->model && o->blobs.n)
        return err_set(err, VPU_ERR_INVALID,
                       "--model and --blob exclude each other");
    if (o->at && !o->model)
        return err_set(err, VPU_ERR_INVALID, "--at needs --model");
    return VPU_OK;
}

int target_check(target_options *o, const cli_command *c, char *const *words,
                 int n_words)
{
    vpu_error err;

    return target_take_words(o, words, n_words, &err)
               ? cli_usage(c, "%s", err.msg)
               : CLI_OK;
}

/* --- binding ------------------------------------------------------------- */

/* What is compared with a stick is run as a stick runs it. */
static graph_batch batch_of(const target_options *o)
{
    if (o->batch >= 0)
        return (graph_batch)o->batch;
    return o->offered & BACKEND_STICK ? GRAPH_BATCH_DEVICE : GRAPH_BATCH_WHOLE;
}

static graph_texts texts_of(const options_list *l)
{
    return (graph_texts){(const char *const *)l->items, l->n};
}

graph_layer_texts target_texts(const target_options *o)
{
    return (graph_layer_texts){.bindings = {o->bindings, o->n_bindings},
                               .type = o->layer,
                               .only_type = o->only_type,
                               .number = o->binding,
                               .shapes = texts_of(&o->shapes),
                               .params = texts_of(&o->params),
                               .blobs = texts_of(&o->blobs),
                               .paddings = texts_of(&o->pads),
                               .custom = o->custom,
                               .openvino = o->openvino,
                               .model = o->model,
                               .at = o->at,
                               .release = o->strict,
                               .batch = batch_of(o)};
}

vpu_status target_bind(const target_options *o, arena *a, const log_sink *log,
                       target *t, vpu_error *err)
{
    const graph_layer_texts texts = target_texts(o);
    vpu_status st =
        backend_machine(o->machine, (const char *const *)o->sets.items,
                        o->sets.n, o->how.n_shaves, a, &t->desc, err);

    if (!st)
        st = import_layer_bind(&texts,
                               &(const import_config){.kernels = o->source_dir,
                                                      .no_cache = o->no_cache},
                               a, log, &t->layer, err);
    t->graph = t->layer.graph;
    return st || o->offered & BACKEND_PARAMS
               ? st
               : graph_check_params(&t->layer.request, a, err);
}

/* --- inputs -------------------------------------------------------------- */

/* The port and the text behind '=' of "N=SPEC". */
static vpu_status split_input(const char *text, arena *a, uint64_t *port,
                              const char **spec, vpu_error *err)
{
    const char *eq = strchr(text, '=');
    unsigned long long n;

    if (!eq || !str_to_u64(arena_strndup(a, text, (size_t)(eq - text)), &n))
        return err_set(
            err, VPU_ERR_INVALID,
            "--input %s: expected N=FILE, a .npy, .npz, .png or .jpg, "
            "or N=zeros|ramp|random:SEED",
            text);
    *port = n;
    *spec = eq + 1;
    return VPU_OK;
}

vpu_status target_input_spec(const target_options *o, uint32_t port, arena *a,
                             const char **spec, vpu_error *err)
{
    const char *text;
    vpu_status st = VPU_OK;
    uint64_t given;

    *spec = arena_printf(a, "random:%u", port);
    for (uint32_t i = 0; i < o->inputs.n && !st; i++) {
        st = split_input(o->inputs.items[i], a, &given, &text, err);
        if (!st && given == port)
            *spec = text; /* the last one counts */
    }
    return st;
}

vpu_status target_fill(const target_options *o, const graph_buffer *b, arena *a,
                       void *data, vpu_error *err)
{
    const char *spec;
    vpu_status st = target_input_spec(o, b->port, a, &spec, err);

    return st ? st : graph_input_fill(b, spec, data, err);
}

vpu_status target_fill_all(const target_options *o, const target *t,
                           const backend *b, arena *a, vpu_error *err)
{
    const graph *g = t->graph;
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

vpu_status target_check_ports(const target_options *o, arena *a,
                              bool (*has)(const void *user, uint64_t port),
                              const void *user, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < o->inputs.n && !st; i++) {
        const char *spec;
        uint64_t port;

        st = split_input(o->inputs.items[i], a, &port, &spec, err);
        if (!st && !has(user, port))
            st = err_set(err, VPU_ERR_INVALID,
                         "--input %s: the layer has no input %llu that its "
                         "kernels use",
                         o->inputs.items[i], (unsigned long long)port);
    }
    return st;
}

static bool graph_has(const void *user, uint64_t port)
{
    const graph *g = user;

    for (uint32_t k = 0; k < g->n_buffers; k++)
        if (g->buffers[k].role == GRAPH_INPUT && g->buffers[k].port == port)
            return true;
    return false;
}

vpu_status target_check_inputs(const target_options *o, const target *t,
                               arena *a, vpu_error *err)
{
    return target_check_ports(o, a, graph_has, t->graph, err);
}

vpu_status target_make_inputs(const target_options *o, const target *t,
                              arena *a, void *const **inputs, vpu_error *err)
{
    const graph *g = t->graph;
    void **list = arena_array(a, void *, g->n_buffers + 1);
    vpu_status st = target_check_inputs(o, t, a, err);

    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        void *data;

        if (g->buffers[i].role != GRAPH_INPUT)
            continue;
        data = arena_push(a, g->buffers[i].bytes, 1, 64);
        st = target_fill(o, &g->buffers[i], a, data, err);
        list[i] = data;
    }
    *inputs = list;
    return st;
}

/* As given, or 10 s of the machine's clock; 0 = none. */
static uint64_t cycle_limit(const target_options *o, const mach_desc *desc)
{
    return o->max_cycles_given ? o->how.max_cycles : backend_cycle_limit(desc);
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
                        .exact_source = o->exact_source,
                        .params = t->layer.params,
                        .n_params = t->layer.n_params,
                        .stick = &o->stick};

    c.how.max_cycles = cycle_limit(o, &t->desc);
    return c;
}
