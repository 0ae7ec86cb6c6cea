/* What commands that run a layer share: the options that say which layer, with
 * what, and how; binding it; filling its inputs. */
#ifndef VPU_RUNTIME_CLI_TARGET_H
#define VPU_RUNTIME_CLI_TARGET_H

#include <getopt.h>

#include "runtime/backend/backend.h"
#include "runtime/cli/cli.h"
#include "runtime/config/layer.h"
#include "runtime/config/model.h"
#include "runtime/graph/bind.h"
#include "runtime/graph/graph.h"

enum { TARGET_MAX_LIST = 64 };

typedef struct {
    const char *items[TARGET_MAX_LIST];
    uint32_t n;
} target_list;

/* As given on a command line. All-zero but for what target_init sets. */
typedef struct {
    const char *xml, *layer, *model, *at, *machine, *source_dir;
    target_list shapes, params, inputs, blobs, sets, clang;
    exec_options how; /* n_shaves 0 = all; max_cycles: see target_max_cycles */
    config_release strict;
    child_limits compile; /* of each process that compiles */
    bool engine_given, max_cycles_given, no_cache, quiet;
    backend_stick_options stick;
    const char *stick_only; /* an option that only sticks know was given */
    /* Some option that only the simulator knows was given: its name. */
    const char *sim_only;
} target_options;

/* Values of struct option.val below 512 are taken here; a command's own start
 * at TARGET_OWN. */
enum {
    TARGET_LAYER = 256,
    TARGET_MODEL,
    TARGET_AT,
    TARGET_SHAPE,
    TARGET_PARAM,
    TARGET_INPUT,
    TARGET_BLOB,
    TARGET_STRICT,
    TARGET_SOURCE_DIR,
    TARGET_SHAVES,
    TARGET_MACHINE,
    TARGET_SET,
    TARGET_ENGINE,
    TARGET_TIMING,
    TARGET_ORDER,
    TARGET_THREADS,
    TARGET_TIMEOUT,
    TARGET_MAX_CYCLES,
    TARGET_NO_CACHE,
    TARGET_CACHE_SIZE,
    TARGET_COMPILE_TIMEOUT,
    TARGET_COMPILE_MEMORY,
    TARGET_QUIET,
    TARGET_XLINK,
    TARGET_FIRMWARE,
    TARGET_XLINK_LOG,
    TARGET_TAKE_BOOTED,
    TARGET_OWN = 512
};

#define TARGET_LONG_COMPILE                                               \
    {"compile-timeout", required_argument, NULL, TARGET_COMPILE_TIMEOUT}, \
    {                                                                     \
        "compile-memory", required_argument, NULL, TARGET_COMPILE_MEMORY  \
    }
/* Entries for getopt_long's table; "D:I:" are its short options. */
#define TARGET_SHORT "D:I:"
#define TARGET_LONG                                                            \
    {"layer", required_argument, NULL, TARGET_LAYER},                          \
        {"model", required_argument, NULL, TARGET_MODEL},                      \
        {"at", required_argument, NULL, TARGET_AT},                            \
        {"shape", required_argument, NULL, TARGET_SHAPE},                      \
        {"param", required_argument, NULL, TARGET_PARAM},                      \
        {"input", required_argument, NULL, TARGET_INPUT},                      \
        {"blob", required_argument, NULL, TARGET_BLOB},                        \
        {"strict", required_argument, NULL, TARGET_STRICT},                    \
        {"source-dir", required_argument, NULL, TARGET_SOURCE_DIR},            \
        {"shaves", required_argument, NULL, TARGET_SHAVES},                    \
        {"machine", required_argument, NULL, TARGET_MACHINE},                  \
        {"set", required_argument, NULL, TARGET_SET},                          \
        {"engine", required_argument, NULL, TARGET_ENGINE},                    \
        {"timing", required_argument, NULL, TARGET_TIMING},                    \
        {"order", required_argument, NULL, TARGET_ORDER},                      \
        {"threads", required_argument, NULL, TARGET_THREADS},                  \
        {"timeout", required_argument, NULL, TARGET_TIMEOUT},                  \
        {"max-cycles", required_argument, NULL, TARGET_MAX_CYCLES},            \
        {"no-cache", no_argument, NULL, TARGET_NO_CACHE},                      \
        {"cache-size", required_argument, NULL, TARGET_CACHE_SIZE},            \
        TARGET_LONG_COMPILE, {"xlink", required_argument, NULL, TARGET_XLINK}, \
        {"firmware", required_argument, NULL, TARGET_FIRMWARE},                \
        {"xlink-log", optional_argument, NULL, TARGET_XLINK_LOG},              \
        {"take-booted", no_argument, NULL, TARGET_TAKE_BOOTED},                \
    {                                                                          \
        "quiet", no_argument, NULL, TARGET_QUIET                               \
    }

/* The part of a command's help for these options: which layer, with what; how
 * it runs. */
/* clang-format off */
#define TARGET_HELP_LAYER \
    "Which layer, with what:\n" \
    "  --layer NAME            the CustomLayer, when the file binds several\n" \
    "  --model MODEL.xml       take shapes, parameters and weights from an\n" \
    "                          OpenVINO IR; --at NAME picks the layer, else all\n" \
    "                          layers of bound types run in a row, with inputs 0…\n" \
    "                          and outputs 0… in the order of the document\n" \
    "  --shape in0=1x24x128x512[:f16]\n" \
    "                          shape of an input by hand, outermost first; out0=…\n" \
    "                          where the output differs from input 0. Types: f16\n" \
    "                          (default) f32 i32 u8 i8 i16 u16 i64\n" \
    "  --param NAME=VALUE      a layer parameter\n" \
    "  --blob NAME=FILE.npy    a blob for Data bindings, f16 or f32 (a model has its\n" \
    "                          own)\n" \
    "  --strict RELEASE        refuse what that release's compiler refuses, 2019R3\n" \
    "                          to 2022.3 (default: a note)\n" \
    "  --input N=SPEC          input N: FILE.npy, zeros, ramp or random:SEED\n" \
    "                          (default: random:N)\n" \
    "  --source-dir DIR        look for .cl files there first\n" \
    "  -D NAME[=VALUE], -I DIR for the OpenCL preprocessor\n"

#define TARGET_HELP_RUN \
    "  --shaves N              SHAVEs to use (default: all 16; the vendor's\n" \
    "                          plugin gives a network 7)\n" \
    "  --machine FILE          another machine description\n" \
    "  --set KEY=VALUE         override one of its numbers (see vpu machine)\n" \
    "  --order sequential|reverse|random:SEED\n" \
    "                          order of the work-groups\n" \
    "  --engine compiled|interpreted\n" \
    "                          how work-groups run: as host code (default), or\n" \
    "                          bundle by bundle from the SHAVE program; same\n" \
    "                          results, same cycles, much slower\n" \
    "  --timing flow|transaction|none\n" \
    "                          how cycles are found: DDR bandwidth shared\n" \
    "                          between flows (default), every line of DDR an\n" \
    "                          event, or not at all\n" \
    "  --threads N             host threads (default: all); results and cycles\n" \
    "                          do not depend on it\n" \
    "  --timeout SECONDS       stop a launch after this much host time\n" \
    "                          (default 3600, 0 = never)\n" \
    "  --max-cycles N          stop a launch when a SHAVE exceeds N cycles (default:\n" \
    "                          10 s of the device's time; 0 = never). Like\n" \
    "                          --timeout it then says where each SHAVE is\n" \
    CLI_HELP_COMPILE \
    "  --no-cache              compile anew\n" \
    "  --cache-size SIZE       compiled kernels kept on disk take at most so many\n" \
    "                          bytes, with K, M or G behind them (default 512M;\n" \
    "                          0 = as --no-cache)\n" \
    "  --quiet                 no notes\n" \
    "On a stick (backend usb; --shaves and --strict, whose blob it gets, too):\n" \
    "  --xlink A|B|C           layout of its packets, which its firmware decides: A up\n" \
    "                          to OpenVINO 2021.4.0, B 2021.4.2 and 2022.1, C from\n" \
    "                          2022.2 on (default: what --firmware is known to speak)\n" \
    "  --firmware FILE         usb-ma2x8x.mvcmd of an OpenVINO, to boot it with\n" \
    "  --take-booted           a stick that is booted already, too: it may be in use\n" \
    "  --xlink-log[=FILE]      every packet as a line, to FILE or standard error\n"
/* clang-format on */

/* A number from 1 to UINT32_MAX. False: text is none; *out stays. */
bool target_count(const char *text, uint32_t *out);
void target_init(target_options *o);
/* Take an option of getopt_long (its val and optarg). False: the value is not
 * one of those allowed, or there are too many. */
bool target_option(target_options *o, int c, const char *value, arena *a);
/* An option was given that is about simulated machines, which ops is not. */
bool target_sim_only(const target_options *o, const backend_ops *ops);
/* After the options: the binding file and what excludes each other. CLI_OK, or
 * the exit status after saying what is wrong. */
int target_check(target_options *o, const cli_command *c, int argc,
                 char **argv);

/* A layer bound: what a backend runs. */
typedef struct {
    config_file binding;
    config_model model;
    mach_desc desc;
    graph *g;
    /* "name=value": those given, then, of a single layer of a model, its own.
     */
    const char *const *params;
    uint32_t n_params;
} target;

/* Machine, binding, model, graph; everything in the arena.
 * Errors of mach_desc_load, config_file_read, config_model_read, graph_bind,
 * and VPU_ERR_INVALID for values that do not fit (message quotes them). */
vpu_status target_bind(const target_options *o, arena *a, const log_sink *log,
                       target *t, vpu_error *err);
/* What the options say of input buffer b, default random:N; see
 * graph_input_fill. VPU_ERR_INVALID: not "N=SPEC". */
vpu_status target_input(const target_options *o, const graph_buffer *b,
                        arena *a, const char **spec, vpu_error *err);
/* Fill data with what the options say of input buffer b; default random:N.
 * VPU_ERR_INVALID, and the errors of graph_input_fill. */
vpu_status target_fill(const target_options *o, const graph_buffer *b, arena *a,
                       void *data, vpu_error *err);
/* All inputs of an open backend, in place where it has BACKEND_INSPECT. Errors
 * as target_fill, and of backend_ops.write. */
vpu_status target_fill_all(const target_options *o, const target *t,
                           const backend *b, arena *a, vpu_error *err);
/* VPU_ERR_INVALID  an --input names a port the graph does not have */
vpu_status target_check_inputs(const target_options *o, const target *t,
                               arena *a, vpu_error *err);
/* The cycle limit: as given, or 10 s of the machine's clock; 0 = none. */
uint64_t target_max_cycles(const target_options *o, const mach_desc *desc);
/* A backend as the options describe it; log, print, and the device stay to be
 * set. o and t must outlive it. */
backend_config target_backend(const target_options *o, const target *t);

#endif
