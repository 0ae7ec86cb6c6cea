/* vpu blob: the files a stick takes networks as. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "runtime/backend/binaries.h"
#include "runtime/blob/blob.h"
#include "runtime/blob/check.h"
#include "runtime/blob/network.h"
#include "runtime/blob/release.h"
#include "runtime/cli/target.h"
#include "runtime/import/show.h"

#define MAX_BLOB ((size_t)1 << 30)

/* The file, and whether what was read is written again as it is. */
static vpu_status load(const char *path, arena *a, blob *b, vpu_error *err)
{
    char *data;
    size_t n, at;
    str again = {0};
    vpu_status st = file_read(path, MAX_BLOB, a, &data, &n, err);

    if (!st && blob_find(data, n, &at)) {
        data += at;
        n -= at;
    }
    if (!st)
        st = blob_parse(data, n, path, a, b, err);
    if (!st)
        st = blob_build(b, &again, err);
    if (!st && (again.n != n || memcmp(again.data, data, n)))
        st = err_set(err, VPU_ERR_MISMATCH,
                     "%s: is not written again as it was read", path);
    str_free(&again);
    return st;
}

typedef struct {
    target_options t;
    config_release release;
    const char *output;
    bool json, full, dot; /* of show */
} make_options;

#define AT(field) offsetof(make_options, field)

/* --- show, verify -------------------------------------------------------- */

static const cli_option show_rows[] = {
    {.kind = OPTION_HEADING, .help = "Of show:"},
    {"full", NULL, OPTION_FLAG, AT(full),
     .help = "every field: params, strides, places in the file"},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "the same as JSON"},
    {"dot", NULL, OPTION_FLAG, AT(dot),
     .help = "a picture for Graphviz: dot -Tsvg"}};
static const cli_options show_options = CLI_OPTIONS(show_rows);

static int look(const char *word, const char *path, const make_options *o,
                arena *a)
{
    str text = {0};
    vpu_error err = {0};
    uint32_t n = 0;
    blob b;

    if (load(path, a, &b, &err))
        return cli_fail(&err);
    if (o->json) {
        jsontext_add(&text, blob_json(&b, a), JSONTEXT_EXACT);
    } else if (o->full) {
        blob_show(&b, a, &text);
    } else if (o->dot) {
        import_dot(&b, a, &text);
    } else if (!strcmp(word, "show")) {
        import_table(&b, a, &text);
    } else {
        n = blob_check(&b, a, &text);
        if (!n)
            str_printf(&text, "%s: blob %u.%u (OpenVINO %s), %u stages: fine\n",
                       path, b.major, b.minor,
                       blob_version_releases(b.major, b.minor), b.n_stages);
    }
    cli_put(stdout, str_text(&text), text.n);
    str_free(&text);
    return n ? CLI_DIFFERS : CLI_OK;
}

static int look_main(const char *word, int argc, char **argv, arena *a)
{
    make_options o = {0};
    options_line line = {.argc = argc, .argv = argv};
    const options_table table = {show_rows,
                                 sizeof show_rows / sizeof *show_rows, &o};
    vpu_error err;

    if (options_parse(&table, 1, &line, a, &err))
        return cli_usage(&cli_blob, "%s: %s", word, err.msg);
    if (line.n_words != 1)
        return cli_usage(&cli_blob, "%s takes one file", word);
    if ((o.json || o.full || o.dot) && strcmp(word, "show") != 0)
        return cli_usage(&cli_blob, "%s is for show",
                         o.json   ? "--json"
                         : o.full ? "--full"
                                  : "--dot");
    if (o.json + o.full + o.dot > 1)
        return cli_usage(&cli_blob, "--full, --json and --dot: one of them");
    return look(word, line.words[0], &o, a);
}

/* --- make ---------------------------------------------------------------- */

static bool take_release(void *fields, const char *value, arena *a)
{
    (void)a;
    return config_release_parse(value, &((make_options *)fields)->release);
}

static const cli_option rows[] = {
    {.kind = OPTION_HEADING, .help = "Of make:"},
    {"output", "FILE", OPTION_NAME, AT(output), .help = "the blob"},
    {"to", "FILE", OPTION_NAME, AT(output), .help = NULL},
    {"release", "R", OPTION_OTHER, .take = take_release,
     .help = "the OpenVINO release whose form it has, 2020.1 to 2022.3; the "
             "stick's firmware must be of the same"},
    {"shaves", "N", OPTION_COUNT, AT(t.how.n_shaves),
     .help = "SHAVEs of the network: 1 to 16 (default 7, and 9 slices of CMX; "
             "more than 7 take all 19)"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&show_options, 0},
                                   {&own_options, 0},
                                   TARGET_LAYER(AT(t)),
                                   {&cli_compile_options, AT(t.compile)},
                                   {&target_cache_options, AT(t)},
                                   {&target_quiet_options, AT(t)}};

static int parse(int argc, char **argv, make_options *o, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int c;

    *o = (make_options){0};
    target_init(&o->t);
    c = cli_parse(&cli_blob, o, &line, a);
    if (c)
        return c;
    if (o->json || o->full || o->dot)
        return cli_usage(&cli_blob, "%s is for show",
                         o->json   ? "--json"
                         : o->full ? "--full"
                                   : "--dot");
    if (!o->output)
        return cli_usage(&cli_blob, "--output says which file to write");
    if (!o->release)
        return cli_usage(&cli_blob, "--release says of which OpenVINO: %s",
                         config_release_names());
    if (o->t.how.n_shaves > 16)
        return cli_usage(&cli_blob, "--shaves %u: there are 16",
                         o->t.how.n_shaves);
    return target_check(&o->t, &cli_blob, line.words, line.n_words);
}

static vpu_status make(make_options *o, arena *a, const log_sink *log,
                       vpu_error *err)
{
    uint32_t shaves = o->t.how.n_shaves ? o->t.how.n_shaves : 7;
    network_config cfg = {.release = o->release,
                          .n_shaves = shaves,
                          .n_slices = shaves > 7 ? 19 : 9};
    backend_binaries_config bins = {.source_dir = o->t.source_dir,
                                    .compile = {.options = o->t.clang.items,
                                                .n_options = o->t.clang.n,
                                                .no_cache = o->t.no_cache,
                                                .limits = &o->t.compile},
                                    .log = log};
    network_kernel *kernels = NULL;
    target t = {0};
    str bytes = {0};
    blob b;
    vpu_status st;

    o->t.offered |= BACKEND_STICK; /* it is for one */
    st = target_bind(&o->t, a, log, &t, err);
    if (st)
        return st;
    st = backend_binaries(t.graph, &bins, a, &kernels, err);
    cfg.kernels = kernels;
    if (!st)
        st = network_blob(&cfg, t.graph, a, &b, err);
    if (!st)
        st = blob_build(&b, &bytes, err);
    if (!st)
        st = file_write(o->output, bytes.data, bytes.n, err);
    str_free(&bytes);
    return st;
}

static int make_main(int argc, char **argv, arena *a)
{
    make_options o;
    vpu_error err = {0};
    log_sink log;
    int rc = parse(argc, argv, &o, a);

    if (rc)
        return rc;
    log = cli_log(o.t.quiet);
    return make(&o, a, &log, &err) ? cli_fail(&err) : CLI_OK;
}

static int blob_main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    bool making = !strcmp(word, "make");
    arena *a;
    int rc;

    if (!*word)
        return cli_usage(&cli_blob, "show, verify or make?");
    if (!making && strcmp(word, "show") && strcmp(word, "verify"))
        return cli_usage(&cli_blob, "no '%s': show, verify or make", word);
    a = arena_create(0);
    rc = making ? make_main(argc - 1, argv + 1, a)
                : look_main(word, argc - 1, argv + 1, a);
    arena_destroy(a);
    return rc;
}

const cli_command cli_blob = {
    .name = "blob",
    .summary = "graph blobs of a stick: make, show",
    .head =
        "usage: vpu blob show FILE [--full|--json|--dot]\n"
        "       vpu blob verify FILE\n"
        "       vpu blob make LAYER.xml --release R --output FILE [OPTIONS]\n\n"
        "Graph blobs: what OpenVINO's MYRIAD plugin compiles a network to and loads into\n"
        "a stick (docs/formats.md).\n\n"
        "  show                    header, inputs, outputs, and a line a stage; with --full\n"
        "                          all that is in it\n"
        "  verify                  whether everything in it agrees: sizes, offsets,\n"
        "                          cross references, kernels' metadata\n"
        "  make                    a network of custom layers as a blob\n\n"
        "Exit status: 0 fine, 1 verify found something (a line each), 2 bad input.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Kernels are the .bin files the binding names, of the vendor's clc. Where only\n"
        "a .cl is there it is compiled here (2021.1 and later): such a blob is for the\n"
        "simulator, not for a stick, and a warning says so.\n\n"
        "Examples:\n"
        "  vpu blob make layer.xml --shape in0=1x3x64x64 --release 2021.4 --output net.blob\n"
        "  vpu blob show net.blob\n",
    .main = blob_main};
