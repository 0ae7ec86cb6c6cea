/* Timelines as pictures. */
#include <string.h>

#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "visualizer/load.h"
#include "visualizer/picture.h"

typedef struct {
    const char *path;
    const vpu_picture_options *o;
    tl_timeline timeline;
    view v;
    bool loaded, viewed;
} drawing;

static vpu_status draw(void *user, vpu_error *err)
{
    drawing *d = user;
    const vpu_picture_options *o = d->o;
    const char *slash = strrchr(d->path, '/');
    const picture_options options = {.png = o->png,
                                     .svg = o->svg,
                                     .width = o->width,
                                     .height = o->height,
                                     .colors =
                                         o->dark ? &theme_dark : &theme_light};
    vpu_status st;

    d->loaded = true;
    st = load_file(d->path, &d->timeline, err);
    if (!st)
        st = view_init(&d->v, &d->timeline, err);
    d->viewed = !st;
    return st ? st
              : picture_write(&options, &d->v, slash ? slash + 1 : d->path,
                              NULL, NULL, err);
}

vpu_status vpu_picture_write(const char *trace,
                             const vpu_picture_options *options, vpu_error *err)
{
    vpu_picture_options o;
    drawing d = {.path = trace, .o = &o};
    vpu_status st = api_need(trace, "trace", err);

    if (!st)
        st =
            api_take_options(&o, sizeof o, options, "vpu_picture_options", err);
    if (!st && !o.png && !o.svg)
        st = err_set(err, VPU_ERR_INVALID,
                     "vpu_picture_options: neither png nor svg names a file");
    if (!st)
        st = oom_guard(draw, &d, err);
    if (d.viewed)
        view_free(&d.v);
    if (d.loaded)
        tl_free(&d.timeline);
    return st;
}
