/* Resolves kernel sources. */
#include "runtime/backend/source.h"

#include <string.h>

#include "base/file.h"
#include "sim/compiler/store/object.h"

enum { MAX_BIN = 64 << 20 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static const char *with_cl(arena *a, const char *path)
{
    const char *dot = strrchr(base_name(path), '.');

    return arena_printf(a, "%.*s.cl",
                        (int)(dot ? (size_t)(dot - path) : strlen(path)), path);
}

static bool is_cl(const char *path)
{
    size_t n = strlen(path);

    return n > 3 && !strcmp(path + n - 3, ".cl");
}

vpu_status backend_source_find(const backend_source_name *name, arena *a,
                               backend_source *out, vpu_error *err)
{
    const char *path = name->path;
    const char *beside = is_cl(path) ? path : with_cl(a, path), *in_dir = NULL;
    bool foreign = false;

    *out = (backend_source){0};
    if (!is_cl(path) && file_exists(path)) {
        char *data;
        vpu_status st = file_read(path, MAX_BIN, a, &data, &out->n_bytes, err);

        if (st)
            return st;
        out->file = (unsigned char *)data;
        switch (object_classify(out->file, out->n_bytes)) {
        case OBJECT_OURS:
            out->kind = SOURCE_OUR_BIN;
            out->path = path;
            return VPU_OK;
        case OBJECT_FOREIGN:
            foreign = true;
            break;
        case OBJECT_NOT_ELF:
            break;
        }
    }
    out->kind = SOURCE_CL;
    if (name->source_dir) {
        in_dir = file_join(a, name->source_dir, base_name(beside));
        out->path = in_dir;
        if (file_exists(in_dir))
            return VPU_OK;
    }
    out->path = beside;
    if (file_exists(beside))
        return VPU_OK;
    if (foreign)
        return err_at(err, VPU_ERR_UNSUPPORTED, name->binding, name->line, 0,
                      "%s: compiled by the vendor's clc for the SHAVE; the "
                      "simulator needs the source: put %s beside it or name "
                      "its folder with --source-dir",
                      path, base_name(beside));
    return err_at(err, VPU_ERR_IO, name->binding, name->line, 0,
                  "there is no kernel file %s; looked for %s%s%s%s", path,
                  in_dir ? in_dir : "", in_dir ? " and " : "", beside,
                  in_dir ? "" : " (--source-dir names another folder)");
}
