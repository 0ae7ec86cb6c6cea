/* Valid regions, and windows of operations that read around their place. */
#include "runtime/api/reach.h"

#include <string.h>

/* --- valid regions -------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

vpu_status vpu_tensor_valid(const vpu_tensor *self, vpu_region *out,
                            vpu_error *err)
{
    const vpu_tensor *root;
    vpu_status st = api_need(self, "tensor", err);

    if (!st)
        st = api_need(out, "out", err);
    if (st)
        return st;
    *out = (vpu_region){.step = {0}};
    root = api_tensor_root_of(self);
    for (uint32_t i = 0; i < self->rank; i++) {
        int64_t place = self->place[i], n = self->dims[i];
        int64_t start =
            least(most((int64_t)root->valid.start[i] - place, 0), n);
        int64_t end = least((int64_t)root->valid.end[i] - place, n);

        out->start[i] = (uint32_t)start;
        out->end[i] = (uint32_t)most(end, start);
    }
    return VPU_OK;
}

static bool is_all_valid(const vpu_tensor *t)
{
    vpu_region valid;

    vpu_tensor_valid(t, &valid, NULL);
    for (uint32_t i = 0; i < t->rank; i++)
        if (valid.start[i] || valid.end[i] != t->dims[i])
            return false;
    return true;
}

/* What was written of a tensor. Of a root that is written in views the region
 * is what all of them have left, where they are alike. */
static void set_valid(vpu_tensor *t, const vpu_region *valid)
{
    vpu_tensor *root = api_tensor_root(t);

    if (t == root) {
        root->valid = *valid;
        return;
    }
    for (uint32_t i = 0; i < t->rank; i++)
        if (valid->start[i] || valid->end[i] != t->dims[i]) {
            root->valid.start[i] = (uint32_t)most(
                root->valid.start[i], (int64_t)valid->start[i] + t->place[i]);
            root->valid.end[i] = (uint32_t)most(
                least(root->valid.end[i], (int64_t)valid->end[i] + t->place[i]),
                root->valid.start[i]);
        }
}

vpu_status api_reach_unknown(const vpu_call *c, vpu_error *err)
{
    const vpu_region none = {.step = {0}};
    bool all = true;

    (void)err;
    for (size_t i = 0; i < c->n_inputs; i++)
        all = all && is_all_valid(c->inputs[i]);
    for (size_t i = 0; i < c->n_outputs && !all; i++)
        set_valid(c->outputs[i], &none);
    return VPU_OK;
}

/* --- reach ---------------------------------------------------------------- */

/* Elements of one dim, from start on, below end; may be empty, or begin in
 * front of 0. */
typedef struct {
    int64_t start, end;
} range;

static bool same_shape(const vpu_tensor *a, const vpu_tensor *b)
{
    return a->rank == b->rank &&
           !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims);
}

/* Around which elements of dim i there is memory. */
static range with_memory(const vpu_tensor *t, uint32_t i)
{
    const vpu_tensor *root = api_tensor_root_of(t);
    int64_t place = t->place[i];

    return (range){-(int64_t)root->pad_before[i] - place,
                   (int64_t)root->dims[i] + root->pad_after[i] - place};
}

/* Around which that memory means something. */
static range with_meaning(const vpu_tensor *t, uint32_t i)
{
    const vpu_tensor *root = api_tensor_root_of(t);
    bool border = root->border > VPU_BORDER_UNDEFINED;
    int64_t place = t->place[i];
    range r = {(int64_t)root->valid.start[i] - place,
               (int64_t)root->valid.end[i] - place};

    if (border && !root->valid.start[i])
        r.start -= root->pad_before[i];
    if (border && root->valid.end[i] == root->dims[i])
        r.end += root->pad_after[i];
    return r;
}

static void narrow(range *x, range around, uint32_t reach)
{
    x->start = most(x->start, around.start + reach);
    x->end = least(x->end, around.end - reach);
}

typedef struct {
    vpu_operation *op;
    const vpu_call *c;
    const uint32_t *reach;
    range may_run[VPU_MAX_RANK], valid[VPU_MAX_RANK];
} following;

static void narrow_by_inputs(following *f)
{
    const vpu_tensor *out = f->c->outputs[0];

    for (uint32_t d = 0; d < out->rank; d++) {
        f->may_run[d] = f->valid[d] = (range){0, out->dims[d]};
        for (size_t i = 0; i < f->c->n_inputs; i++) {
            const vpu_tensor *t = f->c->inputs[i];

            if (!same_shape(t, out))
                continue;
            narrow(&f->may_run[d], with_memory(t, d), f->reach[d]);
            narrow(&f->valid[d], with_meaning(t, d), f->reach[d]);
        }
    }
}

/* Whole work-groups alone run: what is left of dim i along dimension d. */
static vpu_status narrow_window(following *f, uint32_t i, uint32_t d,
                                vpu_error *err)
{
    const graph_launch *l = api_operation_launch(f->op);
    int64_t step = l->local[d], global = l->global[d];
    range *may = &f->may_run[i];
    vpu_window *w = &f->op->window;

    if (may->start <= 0 && may->end >= global)
        return VPU_OK;
    may->start = (most(may->start, 0) + step - 1) / step * step;
    may->end = may->end >= global ? global : most(may->end, 0) / step * step;
    if (api_needs_windows(f->op->graph, NULL))
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "operation %s reads %u elements around its place in dim "
                       "%u: %s needs that much padding there, since backend %s "
                       "runs launches whole",
                       f->op->name, f->reach[i], i, f->c->inputs[0]->name,
                       f->op->graph->context->id);
    if (may->start >= may->end)
        return err_set(err, VPU_ERR_INVALID,
                       "operation %s reads %u elements around its place in dim "
                       "%u, where %s has too little padding: no work-group "
                       "of %u items is left (vpu_kind.local says how many)",
                       f->op->name, f->reach[i], i, f->c->inputs[0]->name,
                       l->local[d]);
    w->start[d] = (uint32_t)may->start;
    w->end[d] = (uint32_t)may->end;
    return VPU_OK;
}

/* Work-items are elements: of the last three dims one by one, with those in
 * front of them in the third. */
static vpu_status check_items(const following *f, vpu_error *err)
{
    const graph_launch *l = api_operation_launch(f->op);
    const vpu_tensor *t = f->c->outputs[0];
    uint64_t wanted[3] = {1, 1, 1};

    for (uint32_t i = 0; i < t->rank; i++) {
        uint32_t d = t->rank - 1 - i;

        wanted[d < 2 ? d : 2] *= t->dims[i];
        if (f->reach[i] && (d > 2 || (d == 2 && t->rank > 3)))
            return err_set(err, VPU_ERR_INVALID,
                           "operation %s reaches %u elements in dim %u of %u: "
                           "only of up to three dims the third from the end "
                           "has a reach",
                           f->op->name, f->reach[i], i, t->rank);
    }
    for (int d = 0; d < 3; d++)
        if (l->global[d] != wanted[d])
            return err_set(err, VPU_ERR_MISMATCH,
                           "operation %s has %u work-items in dimension %d; "
                           "with a reach they are elements, %llu",
                           f->op->name, l->global[d], d,
                           (unsigned long long)wanted[d]);
    return VPU_OK;
}

static vpu_status narrow_windows(following *f, vpu_error *err)
{
    uint32_t rank = f->c->outputs[0]->rank;
    vpu_status st = check_items(f, err);

    for (uint32_t d = 0; d < 3 && d < rank && !st; d++)
        if (f->reach[rank - 1 - d])
            st = narrow_window(f, rank - 1 - d, d, err);
    if (!st)
        api_window_take(api_operation_launch(f->op), &f->op->window);
    return st;
}

static bool reaches(const following *f)
{
    for (uint32_t i = 0; i < f->c->outputs[0]->rank; i++)
        if (f->reach[i])
            return true;
    return false;
}

vpu_status api_reach_follow(vpu_operation *op, const vpu_call *c,
                            const uint32_t reach[VPU_MAX_RANK], vpu_error *err)
{
    following f = {.op = op, .c = c, .reach = reach};
    vpu_region valid = {.step = {0}};
    vpu_status st = VPU_OK;

    if (!c->n_inputs || !same_shape(c->inputs[0], c->outputs[0]))
        return err_set(err, VPU_ERR_MISMATCH,
                       "operation %s has a reach, but output 0 has another "
                       "shape than input 0",
                       op->name);
    narrow_by_inputs(&f);
    if (reaches(&f))
        st = narrow_windows(&f, err);
    for (uint32_t i = 0; i < c->outputs[0]->rank; i++) {
        int64_t start = most(f.valid[i].start, f.may_run[i].start);
        int64_t end = least(f.valid[i].end, f.may_run[i].end);

        valid.start[i] = (uint32_t)most(start, 0);
        valid.end[i] = (uint32_t)most(end, valid.start[i]);
    }
    for (size_t i = 0; i < c->n_outputs && !st; i++)
        if (same_shape(c->outputs[i], c->outputs[0]))
            set_valid(c->outputs[i], &valid);
    return st;
}
