/* vpu blob: the files a stick takes networks as. */
#include <stdio.h>
#include <string.h>

#include "runtime/cli/cli.h"
#include "runtime/usb/blob.h"
#include "runtime/usb/check.h"
#include "runtime/usb/release.h"
#include "sim/base/file.h"

static const char help[] =
    "usage: vpu blob show FILE\n"
    "       vpu blob verify FILE\n\n"
    "Graph blobs: what OpenVINO's MYRIAD plugin compiles a network to and "
    "loads into\n"
    "a stick (docs/formats.md).\n\n"
    "  show                    header, inputs, outputs, stages with their "
    "parameters\n"
    "                          and buffers, as text\n"
    "  verify                  whether everything in it agrees: sizes, "
    "offsets,\n"
    "                          cross references, kernels' metadata\n\n"
    "Exit status: 0 fine, 1 verify found something (a line each), 2 the file "
    "is not a\n"
    "blob or cannot be read.\n\n"
    "Example:\n"
    "  vpu blob show net.blob\n";

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

static int blob_main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    arena *a;
    int rc;

    if (strcmp(word, "show") && strcmp(word, "verify"))
        return cli_usage(
            &cli_blob, *word ? "no '%s': show or verify" : "%sshow or verify?",
            word);
    if (argc != 3)
        return cli_usage(&cli_blob, "%s takes one file", word);
    a = arena_create(0);
    rc = look(word, argv[2], a);
    arena_destroy(a);
    return rc;
}

const cli_command cli_blob = {"blob", "look at the graph blobs of a stick",
                              help, blob_main};
