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

/* clang-format off */
static const char help[] =
    "usage: vpu blob show FILE\n"
    "       vpu blob verify FILE\n"
    "       vpu blob make LAYER.xml --release R --to FILE [OPTIONS]\n\n"
    "Graph blobs: what OpenVINO's MYRIAD plugin compiles a network to and loads into\n"
    "a stick (docs/formats.md).\n\n"
    "  show                    header, inputs, outputs, stages with their parameters\n"
    "                          and buffers, as text\n"
    "  verify                  whether everything in it agrees: sizes, offsets,\n"
    "                          cross references, kernels' metadata\n"
    "  make                    a network of custom layers as a blob\n\n"
    "Exit status: 0 fine, 1 verify found something (a line each), 2 bad input.\n\n"
    "Of make:\n"
    "  --to FILE               the blob\n"
    "  --release R             the OpenVINO release whose form it has, 2020.1 to\n"
    "                          2022.3; the stick's firmware must be of the same\n"
    "  --shaves N              SHAVEs of the network: 1 to 16 (default 7, and 9\n"
    "                          slices of CMX; more than 7 take all 19)\n"
    "Kernels are the .bin files the binding names, of the vendor's clc. Where only\n"
    "a .cl is there it is compiled here (2021.1 and later): such a blob is for the\n"
    "simulator, not for a stick, and a warning says so.\n\n"
    TARGET_HELP_LAYER
    "  --quiet                 no notes\n"
    "(--input has no meaning here; nor have the simulator's options.)\n\n"
    "Examples:\n"
    "  vpu blob make layer.xml --shape in0=1x3x64x64 --release 2021.4 --to net.blob\n"
    "  vpu blob show net.blob\n";
/* clang-format on */

#define MAX_BLOB ((size_t)1 << 30)

/* The file, and whether what was read is written again as it is. */
static vpu_status load(const char *path, arena *a, blob *b, vpu_error *err)
{
    char *data;
    size_t n;
    str again = {0};
    vpu_status st = file_read(path, MAX_BLOB, a, &data, &n, err);

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

static int look(const char *word, const char *path, arena *a)
{
    str text = {0};
    vpu_error err = {0};
    uint32_t n = 0;
    blob b;

    if (load(path, a, &b, &err))
        return cli_fail(&err);
    if (!strcmp(word, "show")) {
        blob_show(&b, a, &text);
    } else {
        n = blob_check(&b, a, &text);
        if (!n)
            str_printf(&text, "%s: blob %u.%u (OpenVINO %s), %u stages: fine\n",
                       path, b.major, b.minor,
                       blob_version_releases(b.major, b.minor), b.n_stages);
    }
    fputs(str_text(&text), stdout);
    str_free(&text);
    return n ? CLI_DIFFERS : CLI_OK;
}

/* --- make ---------------------------------------------------------------- */

typedef struct {
    target_options t;
    config_release release;
    const char *to;
} make_options;

enum { OPT_RELEASE = TARGET_OWN, OPT_TO };

static const struct option long_options[] = {
    TARGET_LONG,
    {"release", required_argument, NULL, OPT_RELEASE},
    {"to", required_argument, NULL, OPT_TO},
    {NULL, 0, NULL, 0}};

static bool apply(make_options *o, int c, arena *a)
{
    switch (c) {
    case OPT_RELEASE:
        return config_release_parse(optarg, &o->release);
    case OPT_TO:
        o->to = optarg;
        return *optarg;
    default:
        return target_option(&o->t, c, optarg, a);
    }
}

static int parse(int argc, char **argv, make_options *o, arena *a)
{
    int c, which = 0;

    *o = (make_options){0};
    target_init(&o->t);
    while ((c = getopt_long(argc, argv, TARGET_SHORT, long_options, &which)) !=
           -1) {
        if (c == '?')
            return cli_usage(&cli_blob, "bad command line");
        if (!apply(o, c, a))
            return cli_usage(&cli_blob, "--%s does not take '%s'",
                             c < 256 ? "D" : long_options[which].name, optarg);
        if (o->t.sim_only && c != TARGET_SHAVES && c >= TARGET_SHAVES &&
            c <= TARGET_MAX_CYCLES)
            return cli_usage(&cli_blob, "%s is for the simulator",
                             o->t.sim_only);
    }
    if (!o->to)
        return cli_usage(&cli_blob, "--to says which file to write");
    if (!o->release)
        return cli_usage(&cli_blob, "--release says of which OpenVINO: %s",
                         config_release_names());
    if (o->t.how.n_shaves > 16)
        return cli_usage(&cli_blob, "--shaves %u: there are 16",
                         o->t.how.n_shaves);
    return target_check(&o->t, &cli_blob, argc, argv);
}

static vpu_status make(const make_options *o, arena *a, const log_sink *log,
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
    vpu_status st = target_bind(&o->t, a, log, &t, err);

    if (st)
        return st;
    st = backend_binaries(t.g, &bins, a, &kernels, err);
    cfg.kernels = kernels;
    if (!st)
        st = network_blob(&cfg, t.g, a, &b, err);
    if (!st)
        st = blob_build(&b, &bytes, err);
    if (!st)
        st = file_write(o->to, bytes.data, bytes.n, err);
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
    if (!making && argc != 3)
        return cli_usage(&cli_blob, "%s takes one file", word);
    a = arena_create(0);
    rc = making ? make_main(argc - 1, argv + 1, a) : look(word, argv[2], a);
    arena_destroy(a);
    return rc;
}

const cli_command cli_blob = {"blob", "graph blobs of a stick: make, show",
                              help, blob_main};
