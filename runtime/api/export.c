/* Graphs as blobs for sticks. */
#include "base/file.h"
#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "runtime/backend/binaries.h"

enum { MOST_SHAVES = 16 };

typedef struct {
    vpu_graph *g;
    const char *path;
    const vpu_graph_export_options *o;
    arena *a;
    str bytes;
} exporting;

static vpu_status release_of_layout(const char *layout, config_release *out,
                                    vpu_error *err)
{
    xlink_layout x;

    if (!xlink_layout_parse(layout, &x))
        return err_set(err, VPU_ERR_INVALID,
                       "xlink '%s' is no layout: expected A, B or C", layout);
    *out = xlink_last_release(x);
    return VPU_OK;
}

static vpu_status find_release(const exporting *x, config_release *out,
                               vpu_error *err)
{
    const vpu_context *c = x->g->context;

    if (x->o->release)
        return config_release_parse(x->o->release, out)
                   ? VPU_OK
                   : err_set(err, VPU_ERR_INVALID,
                             "release '%s': expected one of %s", x->o->release,
                             config_release_names());
    if (x->o->xlink)
        return release_of_layout(x->o->xlink, out, err);
    if (c->release) {
        *out = c->release;
        return VPU_OK;
    }
    if (c->stick.layout)
        return release_of_layout(c->stick.layout, out, err);
    *out = CONFIG_2022_3;
    return VPU_OK;
}

static vpu_status write_blob(void *user, vpu_error *err)
{
    exporting *x = user;
    const backend_config *c = &x->g->context->cfg;
    backend_blob_config cfg = {.binaries = {.source_dir = c->source_dir,
                                            .compile = c->compile,
                                            .log = c->log},
                               .n_shaves = x->o->shaves};
    blob b;
    vpu_status st = find_release(x, &cfg.release, err);

    x->a = arena_create(0);
    if (!st)
        st = backend_blob(&x->g->g, &cfg, x->a, &b, &x->bytes, err);
    return st ? st : file_write(x->path, x->bytes.data, x->bytes.n, err);
}

vpu_status vpu_graph_export(vpu_graph *self, const char *path,
                            const vpu_graph_export_options *options,
                            vpu_error *err)
{
    vpu_graph_export_options o;
    exporting x = {.g = self, .path = path, .o = &o};
    vpu_status st = api_need(self, "graph", err);

    if (!st)
        st = api_need(path, "path", err);
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_graph_export_options",
                              err);
    if (!st && o.shaves > MOST_SHAVES)
        st = err_set(err, VPU_ERR_INVALID, "shaves is %u; a stick has %d",
                     o.shaves, MOST_SHAVES);
    if (!st)
        st = api_graph_seal(self, err);
    if (!st)
        st =
            api_hosts_refuse(self, "a stick runs a graph only as a whole", err);
    if (st)
        return st;
    st = oom_guard(write_blob, &x, err);
    arena_destroy(x.a);
    str_free(&x.bytes);
    return st;
}
