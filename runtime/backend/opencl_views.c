/* Decides about promotion, buffer by buffer. */
#include "runtime/backend/opencl_views.h"

#include <string.h>

enum { UNSEEN, HALF, BITS };

bool opencl_arg_is_half(const sim_arg *p, const opencl_text *t)
{
    tensor_dtype type;
    size_t n = strcspn(p->type, "*");

    if (backend_arg_type(p, &type))
        return type == TENSOR_F16;
    for (uint32_t i = 0; i < t->n_half_names; i++)
        if (strlen(t->half_names[i]) == n &&
            !strncmp(t->half_names[i], p->type, n))
            return true;
    return false;
}

bool opencl_moves_words(const graph *g, const graph_launch *l,
                        const sim_kernel *k, const backend_arg *args)
{
    if (!l->text)
        return false;
    for (uint32_t i = 0; i < k->n_args; i++) {
        tensor_dtype type;

        if (args[i].kind == BACKEND_ARG_BUFFER &&
            backend_arg_type(&k->args[i], &type) && type == TENSOR_U16 &&
            g->buffers[args[i].buffer].desc.dtype == TENSOR_F16)
            return true;
    }
    return false;
}

typedef struct {
    const graph *g;
    const opencl_view *views;
    unsigned char *seen;      /* per buffer */
    const opencl_view **by;   /* who saw it so first */
    const sim_arg **argument; /* and as what */
} resolver;

static vpu_status see(resolver *r, uint32_t buffer, unsigned char what,
                      const opencl_view *v, const sim_arg *p, vpu_error *err)
{
    if (r->seen[buffer] == UNSEEN) {
        r->seen[buffer] = what;
        r->by[buffer] = v;
        r->argument[buffer] = p;
    }
    if (r->seen[buffer] == what)
        return VPU_OK;
    return err_at(err, VPU_ERR_UNSUPPORTED, v->launch->file, v->launch->line, 0,
                  "buffer '%s' is %s to kernel '%s' and %s to kernel '%s': "
                  "halves are floats here, because the device has no "
                  "cl_khr_fp16, and cannot be both",
                  r->g->buffers[buffer].name, r->argument[buffer]->type,
                  r->by[buffer]->kernel->name, p->type, v->kernel->name);
}

static vpu_status see_launch(resolver *r, const opencl_view *v, vpu_error *err)
{
    const opencl_text *t = v->text;
    bool bits_of_halves = false;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < v->kernel->n_args && !st; i++) {
        const sim_arg *p = &v->kernel->args[i];
        const graph_buffer *b;
        tensor_dtype type;
        bool half;

        if (v->args[i].kind != BACKEND_ARG_BUFFER)
            continue;
        b = &r->g->buffers[v->args[i].buffer];
        half = opencl_arg_is_half(p, t);
        if (!half && !b->untyped && b->desc.dtype == TENSOR_F16 && t->halves &&
            !backend_arg_type(p, &type))
            return err_at(err, VPU_ERR_UNSUPPORTED, v->launch->file,
                          v->launch->line, 0,
                          "argument '%s' of kernel '%s' is %s: halves in it "
                          "cannot become floats, which they are here because "
                          "the device has no cl_khr_fp16",
                          p->name, v->kernel->name, p->type);
        bits_of_halves |= !half && p->element_bytes <= 2;
        st = see(r, v->args[i].buffer, half ? HALF : BITS, v, p, err);
    }
    if (!st && bits_of_halves && t->half_cast_line)
        st = err_at(err, VPU_ERR_UNSUPPORTED, t->half_cast_file,
                    t->half_cast_line, 0,
                    "this cast may make halves of what kernel '%s' takes for "
                    "bits: halves are floats here, because the device has no "
                    "cl_khr_fp16",
                    v->kernel->name);
    return st;
}

/* Source and destination of a move are alike: from those somebody saw to those
 * nobody did. True when something changed. */
static bool spread(resolver *r, const opencl_view *v)
{
    uint32_t known = UINT32_MAX;
    bool changed = false;

    for (uint32_t i = 0; i < v->kernel->n_args; i++)
        if (v->args[i].kind == BACKEND_ARG_BUFFER &&
            r->seen[v->args[i].buffer] != UNSEEN)
            known = v->args[i].buffer;
    for (uint32_t i = 0; i < v->kernel->n_args && known != UINT32_MAX; i++) {
        uint32_t b = v->args[i].buffer;

        if (v->args[i].kind != BACKEND_ARG_BUFFER || r->seen[b] != UNSEEN)
            continue;
        r->seen[b] = r->seen[known];
        r->by[b] = r->by[known];
        r->argument[b] = r->argument[known];
        changed = true;
    }
    return changed;
}

/* All of a move's buffers hold the same by now, or it cannot be made. */
static vpu_status check_move(resolver *r, const opencl_view *v, vpu_error *err)
{
    unsigned char first = UNSEEN;

    for (uint32_t i = 0; i < v->kernel->n_args; i++) {
        uint32_t b = v->args[i].buffer;

        if (v->args[i].kind != BACKEND_ARG_BUFFER)
            continue;
        if (first != UNSEEN && r->seen[b] != first)
            return err_at(err, VPU_ERR_UNSUPPORTED, v->launch->file,
                          v->launch->line, 0,
                          "%s: tensor '%s' is half to one kernel and bits to "
                          "another: halves are floats here, because the device "
                          "has no cl_khr_fp16, and cannot be both",
                          v->launch->name, r->g->buffers[b].name);
        first = r->seen[b];
    }
    return VPU_OK;
}

vpu_status opencl_views_resolve(const graph *g, const opencl_view *views,
                                arena *a, bool **half, vpu_error *err)
{
    resolver r = {.g = g,
                  .views = views,
                  .seen = arena_array(a, unsigned char, g->n_buffers + 1),
                  .by = arena_array(a, const opencl_view *, g->n_buffers + 1),
                  .argument =
                      arena_array(a, const sim_arg *, g->n_buffers + 1)};
    vpu_status st = VPU_OK;
    bool changed = true;

    *half = arena_array(a, bool, g->n_buffers + 1);
    for (uint32_t i = 0; i < g->n_launches && !st; i++)
        if (!views[i].moves)
            st = see_launch(&r, &views[i], err);
    while (!st && changed) {
        changed = false;
        for (uint32_t i = 0; i < g->n_launches; i++)
            changed |= views[i].moves && spread(&r, &views[i]);
    }
    for (uint32_t i = 0; i < g->n_launches && !st; i++)
        if (views[i].moves)
            st = check_move(&r, &views[i], err);
    for (uint32_t i = 0; i < g->n_buffers; i++)
        (*half)[i] = r.seen[i] == HALF;
    return st;
}
