/* How virtual tensors share memory, told. */
#include <string.h>

#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "runtime/pool/report.h"

static bool is_planned(const vpu_graph *g)
{
    return g && g->open.ops;
}

vpu_status api_give_memory_use(vpu_memory_use is, vpu_memory_use *out,
                               vpu_error *err)
{
    vpu_memory_use use;
    vpu_status st = api_need(out, "out", err);

    if (!st)
        st = api_take_options(&use, sizeof use, out, "vpu_memory_use", err);
    if (st)
        return st;
    is.struct_size = out->struct_size;
    memcpy(out, &is, is.struct_size);
    return VPU_OK;
}

vpu_status vpu_graph_memory(const vpu_graph *self, vpu_memory_use *out,
                            vpu_error *err)
{
    vpu_status st = api_need(self, "graph", err);

    return st ? st
              : api_give_memory_use(
                    (vpu_memory_use){.apart = self->sharing.plan.sum,
                                     .bound = self->sharing.plan.lower_bound,
                                     .planned = self->sharing.plan.peak},
                    out, err);
}

static vpu_status print(void *user, vpu_error *err)
{
    vpu_graph *g = user;
    const graph_sharing *s = &g->sharing;
    str text = {.arena = g->arena}, svg = {.arena = g->arena};

    (void)err;
    pool_report_text(s->items, s->names, &s->plan, &text);
    pool_report_svg(s->items, s->names, &s->plan, 0, &svg);
    g->memory_svg = str_text(&svg);
    g->memory_text = str_text(&text);
    return VPU_OK;
}

const char *vpu_graph_memory_text(vpu_graph *self)
{
    if (!is_planned(self) ||
        (!self->memory_text && oom_guard(print, self, NULL)))
        return NULL;
    return self->memory_text;
}

const char *vpu_graph_memory_svg(vpu_graph *self)
{
    return vpu_graph_memory_text(self) ? self->memory_svg : NULL;
}
