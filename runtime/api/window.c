/* Windows: parts of launches. */
#include <string.h>

#include "runtime/api/api_priv.h"

/* --- as numbers ----------------------------------------------------------- */

static vpu_status is_window(const vpu_window *w, const char *what,
                            vpu_error *err)
{
    vpu_status st = api_need(w, what, err);

    for (int d = 0; d < 3 && !st; d++)
        if (!w->step[d] || w->start[d] >= w->end[d] ||
            (w->end[d] - w->start[d]) % w->step[d])
            st = err_set(err, VPU_ERR_INVALID,
                         "dimension %d of %s is %u to %u in steps of %u: "
                         "expected one whole step or more",
                         d, what, w->start[d], w->end[d], w->step[d]);
    return st;
}

/* The five rules, of one dimension; the last of them is in is_window. */
static vpu_status check_dimension(const vpu_window *whole,
                                  const vpu_window *part, int d, vpu_error *err)
{
    if (part->step[d] != whole->step[d])
        return err_set(err, VPU_ERR_INVALID,
                       "dimension %d of the part has steps of %u, the whole "
                       "window steps of %u",
                       d, part->step[d], whole->step[d]);
    if (part->start[d] < whole->start[d] || part->start[d] >= whole->end[d])
        return err_set(err, VPU_ERR_INVALID,
                       "dimension %d of the part starts at %u, outside of %u "
                       "to %u",
                       d, part->start[d], whole->start[d], whole->end[d]);
    if (part->end[d] > whole->end[d])
        return err_set(err, VPU_ERR_INVALID,
                       "dimension %d of the part ends at %u, behind %u", d,
                       part->end[d], whole->end[d]);
    if ((part->start[d] - whole->start[d]) % whole->step[d])
        return err_set(err, VPU_ERR_INVALID,
                       "dimension %d of the part starts at %u, which is no "
                       "whole number of steps of %u behind %u",
                       d, part->start[d], whole->step[d], whole->start[d]);
    return VPU_OK;
}

vpu_status vpu_window_check(const vpu_window *whole, const vpu_window *part,
                            vpu_error *err)
{
    vpu_status st = is_window(whole, "the whole window", err);

    for (int d = 0; d < 3 && !st; d++) {
        st = api_need(part, "the part", err);
        if (!st)
            st = check_dimension(whole, part, d, err);
    }
    return st ? st : is_window(part, "the part", err);
}

vpu_status vpu_window_split(const vpu_window *whole, uint32_t dimension,
                            uint32_t part, uint32_t parts, vpu_window *out,
                            vpu_error *err)
{
    vpu_status st = is_window(whole, "the whole window", err);
    uint64_t steps;

    if (!st)
        st = api_need(out, "out", err);
    if (st)
        return st;
    if (dimension > 2)
        return err_set(err, VPU_ERR_INVALID,
                       "dimension is %u: a launch has 0 to 2", dimension);
    steps = (whole->end[dimension] - whole->start[dimension]) /
            whole->step[dimension];
    if (!parts || part >= parts || parts > steps)
        return err_set(err, VPU_ERR_INVALID,
                       "part %u of %u: dimension %u has %llu steps, each part "
                       "takes one or more",
                       part, parts, dimension, (unsigned long long)steps);
    *out = *whole;
    out->start[dimension] +=
        (uint32_t)(steps * part / parts) * whole->step[dimension];
    out->end[dimension] =
        whole->start[dimension] +
        (uint32_t)(steps * (part + 1) / parts) * whole->step[dimension];
    out->part = part;
    out->parts = parts;
    return VPU_OK;
}

/* The next place of one dimension; false: it begins anew, and the next
 * dimension moves. */
static bool move_on(uint32_t *at, uint32_t start, uint32_t end, uint32_t step)
{
    step = step ? step : 1;
    if (*at < end && step < end - *at) {
        *at += step;
        return true;
    }
    *at = start;
    return false;
}

uint32_t vpu_window_next(const vpu_window *w, uint32_t at[3])
{
    for (int d = 0; d < 3; d++)
        if (move_on(&at[d], w->start[d], w->end[d], w->step[d]))
            return 1;
    return 0;
}

uint32_t vpu_region_next(const vpu_region *r, uint32_t rank,
                         uint32_t at[VPU_MAX_RANK])
{
    for (uint32_t d = rank > VPU_MAX_RANK ? VPU_MAX_RANK : rank; d--;)
        if (move_on(&at[d], r->start[d], r->end[d], r->step[d]))
            return 1;
    return 0;
}

/* --- of operations -------------------------------------------------------- */

static vpu_status need_launch(const vpu_operation *op, vpu_error *err)
{
    vpu_status st = api_need(op, "operation", err);

    if (!st && !op->kernel)
        st = err_set(err, VPU_ERR_INVALID,
                     "operation %s is no launch of one kernel: a window is "
                     "about the work-groups of one",
                     op->name);
    return st;
}

vpu_window api_window_all(const graph_launch *l)
{
    vpu_window w = {.parts = 1};

    for (int d = 0; d < 3; d++) {
        w.end[d] = l->global[d];
        w.step[d] = l->local[d];
    }
    return w;
}

vpu_window api_window_of(const graph_launch *l)
{
    const graph_window *from = &l->window;
    vpu_window w = api_window_all(l);

    for (int d = 0; d < 3 && from->n[0]; d++) {
        w.start[d] = from->first[d] * l->local[d];
        w.end[d] = w.start[d] + from->n[d] * l->local[d];
    }
    w.part = from->part;
    w.parts = from->parts ? from->parts : 1;
    return w;
}

void api_window_take(graph_launch *l, const vpu_window *w)
{
    graph_window *to = &l->window;

    for (int d = 0; d < 3; d++) {
        to->first[d] = w->start[d] / w->step[d];
        to->n[d] = (w->end[d] - w->start[d]) / w->step[d];
    }
    if (!memcmp(w->end, l->global, sizeof w->end) && !w->start[0] &&
        !w->start[1] && !w->start[2])
        memset(to->n, 0, sizeof to->n);
    to->part = w->part;
    to->parts = w->parts;
}

vpu_status vpu_operation_window(const vpu_operation *operation, vpu_window *out,
                                vpu_error *err)
{
    vpu_status st = need_launch(operation, err);

    if (!st)
        st = api_need(out, "out", err);
    if (!st)
        *out = operation->window;
    return st;
}

vpu_status api_needs_windows(const vpu_graph *g, vpu_error *err)
{
    return backend_extras(g->context->ops) & BACKEND_WINDOW
               ? VPU_OK
               : err_set(err, VPU_ERR_UNSUPPORTED,
                         "backend %s runs launches whole: "
                         "vpu_context_capabilities has no VPU_CAN_RUN_PARTS",
                         g->context->id);
}

vpu_status vpu_operation_set_window(vpu_operation *operation,
                                    const vpu_window *window, vpu_error *err)
{
    vpu_window whole;
    vpu_status st = vpu_operation_window(operation, &whole, err);

    if (!st && window)
        st = vpu_window_check(&whole, window, err);
    if (!st && window && window->parts && window->part >= window->parts)
        st = err_set(err, VPU_ERR_INVALID, "part %u of %u parts", window->part,
                     window->parts);
    if (!st)
        st = api_needs_windows(operation->graph, err);
    if (st)
        return st;
    operation->in_part = window != NULL;
    api_window_take(api_operation_launch(operation), window ? window : &whole);
    return VPU_OK;
}
