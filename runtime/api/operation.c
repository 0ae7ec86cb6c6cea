/* Operations that are launches of one kernel, and their arguments. */
#include <math.h>
#include <string.h>

#include "base/nearest.h"
#include "base/oom.h"
#include "runtime/api/layout.h"
#include "runtime/backend/args.h"
#include "runtime/graph/convert.h"
#include "sim/builtins/routines.h"

enum { MAX_LOCAL = 512 };

/* --- sizes ---------------------------------------------------------------- */

static bool is_given(const uint32_t n[3])
{
    return n[0] || n[1] || n[2];
}

/* The largest size of dimension 0 that whole vectors fill and that leaves a
 * work-group for each SHAVE; where no size does, the smallest of whole vectors,
 * and where there is none of those, the largest. */
static uint32_t best_local(const vpu_kernel *k, const uint32_t global[3])
{
    const vpu_context *c = k->program->context;
    uint32_t factor = vpu_kernel_vector_factor(k), smallest = 0;
    uint64_t planes = (uint64_t)global[1] * global[2];
    uint64_t wanted =
        c->cfg.how.n_shaves ? c->cfg.how.n_shaves : c->desc.num_shaves;

    for (uint32_t n = MAX_LOCAL / factor * factor; n; n -= factor) {
        if (global[0] % n)
            continue;
        if (global[0] / n * planes >= wanted)
            return n;
        smallest = n;
    }
    return smallest ? smallest : graph_local_size(global[0], 1);
}

/* The work-group that nobody chose. */
static void choose_local(const vpu_kernel *k, const uint32_t global[3],
                         uint32_t local[3])
{
    const uint32_t *required = k->compiled->reqd_local;

    for (int d = 0; d < 3; d++)
        local[d] = required[0] ? required[d] : 1;
    if (!required[0])
        local[0] = best_local(k, global);
}

static vpu_status choose_sizes(const vpu_kernel *k, const vpu_launch_options *o,
                               uint32_t global[3], uint32_t local[3],
                               vpu_error *err)
{
    const uint32_t *required = k->compiled->reqd_local;

    for (int d = 0; d < 3; d++) {
        global[d] = o->global[d] ? o->global[d] : 1;
        local[d] = o->local[d] ? o->local[d] : 1;
    }
    if (!is_given(o->local))
        choose_local(k, global, local);
    for (int d = 0; d < 3; d++) {
        if (required[0] && local[d] != required[d])
            return err_set(err, VPU_ERR_INVALID,
                           "local[%d] is %u; kernel '%s' requires work-groups "
                           "of %u,%u,%u",
                           d, local[d], k->compiled->name, required[0],
                           required[1], required[2]);
        if (global[d] % local[d])
            return err_set(err, VPU_ERR_INVALID,
                           "global[%d] is %u, which local[%d], %u, does not "
                           "divide: the device has whole work-groups alone",
                           d, global[d], d, local[d]);
    }
    return VPU_OK;
}

vpu_status api_operation_take_sizes(vpu_operation *op,
                                    const vpu_launch_options *o, vpu_error *err)
{
    graph_launch *l = api_operation_launch(op);
    vpu_status st = choose_sizes(op->kernel, o, l->global, l->local, err);

    if (st)
        return st;
    op->window = api_window_all(l);
    op->in_part = false;
    api_window_take(l, &op->window);
    l->tuned = false;
    return VPU_OK;
}

/* --- the operation -------------------------------------------------------- */

typedef struct {
    vpu_graph *g;
    const vpu_kernel *k;
    const vpu_launch_options *o;
    uint32_t global[3], local[3];
    int32_t part, parts; /* arguments for the numbers of a part */
    vpu_operation *made;
} making;

static bool keeps(const vpu_graph *g, const vpu_program *p)
{
    for (size_t i = 0; i < g->n_programs; i++)
        if (g->programs[i] == p)
            return true;
    return false;
}

/* An argument without value, for the kernel's argument of that number. */
static graph_arg *make_args(arena *a, const sim_kernel *k)
{
    graph_arg *args = arena_array(a, graph_arg, k->n_args + 1);

    for (uint32_t i = 0; i < k->n_args; i++)
        args[i] = (graph_arg){.name = k->args[i].name,
                              .kind = GRAPH_ARG_BROKEN,
                              .why = "not set"};
    return args;
}

/* The argument that gets a number of the part, which is set from then on; below
 * 0: none. */
static vpu_status find_number(const sim_kernel *k, const char *name,
                              int32_t *out, vpu_error *err)
{
    *out = -1;
    for (uint32_t i = 0; name && i < k->n_args; i++) {
        const sim_arg *p = &k->args[i];

        if (strcmp(p->name, name))
            continue;
        if (p->space != SIM_ARG_SCALAR || p->is_float || p->bytes != 4)
            return err_set(err, VPU_ERR_MISMATCH,
                           "argument '%s' of kernel '%s' is %s; the number of "
                           "a part is an int or uint",
                           name, k->name, p->type);
        *out = (int32_t)i;
    }
    return !name || *out >= 0
               ? VPU_OK
               : err_set(err, VPU_ERR_INVALID,
                         "kernel '%s' has no argument '%s' for the number of "
                         "a part",
                         k->name, name);
}

static const char *number_name(const sim_kernel *k, int32_t argument)
{
    return argument < 0 ? NULL : k->args[argument].name;
}

static void give_number(vpu_operation *op, graph_arg *args, int32_t argument,
                        int64_t number)
{
    if (argument < 0)
        return;
    args[argument].kind = GRAPH_ARG_INT;
    args[argument].integer = number;
    op->set[argument] = true;
}

static vpu_status make_operation(void *user, vpu_error *err)
{
    making *m = user;
    vpu_graph *g = m->g;
    vpu_program *p = m->k->program;
    const sim_kernel *k = m->k->compiled;
    const char **sources = arena_array(g->arena, const char *, 2);
    graph_arg *args = make_args(g->arena, k);
    bool *set = arena_array(g->arena, bool, k->n_args + 1);
    graph_launch *l;
    vpu_operation *op;

    (void)err;
    if (!keeps(g, p))
        *arena_append(g->arena, g->programs, g->n_programs, g->programs_cap) =
            api_program_keep(p);
    sources[0] = p->path;
    op = api_graph_add_operation(g, m->o->name ? m->o->name : k->name);
    op->n_launches = 1;
    op->kernel = m->k;
    op->set = set;
    give_number(op, args, m->part, 0);
    give_number(op, args, m->parts, 1);
    l = api_graph_add_launch(g);
    *l = (graph_launch){.name = op->name,
                        .layer = op->name,
                        .type = k->name,
                        .entry = k->name,
                        .given = p->source,
                        .sources = sources,
                        .n_sources = 1,
                        .options = p->options,
                        .n_options = p->n_options,
                        .args = args,
                        .n_args = k->n_args,
                        .max_shaves = m->o->max_shaves,
                        .file = op->name};
    memcpy(l->global, m->global, sizeof l->global);
    memcpy(l->local, m->local, sizeof l->local);
    l->window.part_argument = number_name(k, m->part);
    l->window.parts_argument = number_name(k, m->parts);
    op->window = api_window_all(l);
    api_graph_describe(g, op->name, k->name);
    m->made = op;
    return VPU_OK;
}

vpu_status vpu_graph_add_kernel(vpu_graph *self, const vpu_kernel *kernel,
                                const vpu_launch_options *options,
                                vpu_operation **out, vpu_error *err)
{
    vpu_launch_options o;
    making m = {.g = self, .k = kernel, .o = &o};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(self, "graph", err);
    if (!st)
        st = api_need(kernel, "kernel", err);
    if (!st)
        st = api_graph_needs_open(self, err);
    if (!st && kernel->program->context != self->context)
        st = err_set(err, VPU_ERR_INVALID,
                     "kernel '%s' is of another context than the graph",
                     kernel->compiled->name);
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_launch_options", err);
    if (!st)
        st = choose_sizes(kernel, &o, m.global, m.local, err);
    if (!st)
        st = find_number(kernel->compiled, o.part, &m.part, err);
    if (!st)
        st = find_number(kernel->compiled, o.parts, &m.parts, err);
    if (!st)
        st = api_graph_change(self, make_operation, &m, err);
    if (!st)
        *out = m.made;
    return st;
}

/* --- arguments ------------------------------------------------------------ */

typedef struct {
    vpu_operation *op;
    const sim_arg *p;
    uint32_t index;
    graph_arg *to;
} argument;

static vpu_status no_argument(const vpu_operation *op, const char *name,
                              vpu_error *err)
{
    const sim_kernel *k = op->kernel->compiled;
    nearest n = {.word = name};

    for (uint32_t i = 0; i < k->n_args; i++)
        nearest_offer(&n, k->args[i].name);
    return err_set(err, VPU_ERR_INVALID,
                   "operation %s: kernel '%s' has no argument '%s'%s%s%s",
                   op->name, k->name, name, n.best ? "; did you mean '" : "",
                   n.best ? n.best : "", n.best ? "'?" : "");
}

static vpu_status find_argument(vpu_operation *op, const char *name,
                                argument *out, vpu_error *err)
{
    const sim_kernel *k;
    graph_launch *l;
    vpu_status st = api_need(op, "operation", err);

    if (!st)
        st = api_need(name, "argument", err);
    if (!st)
        st = api_graph_needs_open(op->graph, err);
    if (!st && op->is_host)
        st = err_set(err, VPU_ERR_INVALID,
                     "operation %s is a function of the host, which has no "
                     "arguments by name",
                     op->name);
    if (!st && !op->kernel)
        st = err_set(err, VPU_ERR_INVALID,
                     "operation %s is a layer: its binding gives its kernels' "
                     "arguments",
                     op->name);
    if (st)
        return st;
    k = op->kernel->compiled;
    l = api_operation_launch(op);
    for (uint32_t i = 0; i < k->n_args; i++)
        if (!strcmp(k->args[i].name, name)) {
            /* make_operation made them. */
            graph_arg *args = (graph_arg *)(uintptr_t)l->args;

            *out = (argument){op, &k->args[i], i, &args[i]};
            return VPU_OK;
        }
    return no_argument(op, name, err);
}

static vpu_status other_kind(const argument *x, const char *given,
                             const char *instead, vpu_error *err)
{
    static const char *const spaces[] = {"", "__global ", "__constant ",
                                         "__local "};

    return err_set(
        err, VPU_ERR_MISMATCH,
        "operation %s: argument '%s' of kernel '%s' is %s%s, not %s; "
        "%s sets it",
        x->op->name, x->p->name, x->op->kernel->compiled->name,
        spaces[x->p->space], x->p->type, given, instead);
}

static const char *setter_of(const sim_arg *p)
{
    switch (p->space) {
    case SIM_ARG_LOCAL:
        return "vpu_operation_set_local";
    case SIM_ARG_SCALAR:
        return p->is_float ? "vpu_operation_set_real"
                           : "vpu_operation_set_integer";
    default:
        return "vpu_operation_set_tensor";
    }
}

static void set(const argument *x, graph_arg value)
{
    value.name = x->p->name;
    *x->to = value;
    x->op->set[x->index] = true;
}

/* Kernels may read a tensor as vectors, or as unsigned numbers of its size. */
static vpu_status check_elements(const argument *x, const vpu_tensor *t,
                                 vpu_error *err)
{
    tensor_dtype wanted, has = (tensor_dtype)(t->type - VPU_F16);
    bool real, has_real = has == TENSOR_F16 || has == TENSOR_F32;

    if (!backend_arg_type(x->p, &wanted))
        return VPU_OK;
    real = wanted == TENSOR_F16 || wanted == TENSOR_F32;
    if (tensor_dtype_bytes(wanted) == tensor_dtype_bytes(has) &&
        real == has_real)
        return VPU_OK;
    return err_set(err, VPU_ERR_MISMATCH,
                   "operation %s: argument '%s' of kernel '%s' is %s, but "
                   "tensor %s holds %s",
                   x->op->name, x->p->name, x->op->kernel->compiled->name,
                   x->p->type, t->name, tensor_dtype_name(has));
}

typedef struct {
    const argument *x;
    vpu_tensor *t;
    bool whole; /* its root's memory, where a view has its parent around it */
} binding;

/* The elements of the root that a view is. */
static const graph_part *part_of(const vpu_tensor *t)
{
    graph_part *p;

    if (!t->parent)
        return NULL;
    p = arena_new(t->graph->arena, graph_part);
    p->rank = t->rank;
    memcpy(p->start, t->place, sizeof p->start);
    memcpy(p->dims, t->dims, sizeof p->dims);
    return p;
}

static vpu_status bind_tensor(void *user, vpu_error *err)
{
    const binding *b = user;
    const argument *x = b->x;
    const vpu_tensor *t = b->t;
    bool written = x->p->space == SIM_ARG_GLOBAL && !x->p->is_const &&
                   t->role != VPU_ROLE_INPUT && t->role != VPU_ROLE_CONSTANT;
    bool piece = t->parent && !b->whole;

    (void)err;
    if (written)
        api_operation_writes(x->op, b->t);
    else
        api_operation_reads(x->op, b->t);
    set(x, (graph_arg){.kind = GRAPH_ARG_BUFFER,
                       .buffer = t->buffer,
                       .offset = piece ? (uint32_t)t->offset : 0,
                       .bytes = piece ? (uint32_t)t->bytes : 0,
                       .part = part_of(t),
                       .written = written});
    return VPU_OK;
}

static vpu_status set_tensor(vpu_operation *operation, const char *name,
                             vpu_tensor *t, bool whole, vpu_error *err)
{
    argument x;
    binding b = {&x, t, whole};
    vpu_status st = find_argument(operation, name, &x, err);

    if (!st)
        st = api_need(t, "tensor", err);
    if (st)
        return st;
    if (x.p->space != SIM_ARG_GLOBAL && x.p->space != SIM_ARG_CONSTANT)
        return other_kind(&x, "a tensor", setter_of(x.p), err);
    if (t->graph != operation->graph)
        return err_set(err, VPU_ERR_INVALID,
                       "operation %s: tensor %s is of another graph",
                       operation->name, t->name);
    if (operation->set[x.index])
        return err_set(err, VPU_ERR_INVALID,
                       "operation %s: argument '%s' has its tensor already",
                       operation->name, name);
    st = check_elements(&x, t, err);
    if (!st && !whole)
        st = api_layout_refuse_gaps(
            t, operation->name,
            "vpu_operation_set_memory gives them to a kernel that knows of "
            "them, kind copy makes a tensor in one piece",
            err);
    return st ? st : oom_guard(bind_tensor, &b, err);
}

vpu_status vpu_operation_set_tensor(vpu_operation *operation, const char *name,
                                    vpu_tensor *t, vpu_error *err)
{
    return set_tensor(operation, name, t, false, err);
}

vpu_status vpu_operation_set_memory(vpu_operation *operation, const char *name,
                                    vpu_tensor *t, vpu_error *err)
{
    return set_tensor(operation, name, t, true, err);
}

/* Whether an integer type of so many bytes holds the value. */
static bool fits(const sim_arg *p, int64_t value)
{
    uint32_t bits = p->bytes * 8;

    if (bits >= 64)
        return p->is_signed || value >= 0;
    if (p->is_signed)
        return value >= -((int64_t)1 << (bits - 1)) &&
               value < (int64_t)1 << (bits - 1);
    return value >= 0 && value < (int64_t)1 << bits;
}

static bool is_number(const graph_window *w, const char *name)
{
    return (w->part_argument && !strcmp(w->part_argument, name)) ||
           (w->parts_argument && !strcmp(w->parts_argument, name));
}

vpu_status vpu_operation_set_integer(vpu_operation *operation, const char *name,
                                     int64_t value, vpu_error *err)
{
    argument x;
    vpu_status st = find_argument(operation, name, &x, err);

    if (st)
        return st;
    if (x.p->space != SIM_ARG_SCALAR || x.p->is_float || x.p->bytes > 8)
        return other_kind(&x, "an integer", setter_of(x.p), err);
    if (is_number(&operation->graph->g.launches[operation->launch].window,
                  name))
        return err_set(err, VPU_ERR_INVALID,
                       "operation %s: argument '%s' gets the number of the "
                       "part, nothing else",
                       operation->name, name);
    if (!fits(x.p, value))
        return err_set(
            err, VPU_ERR_INVALID,
            "operation %s: argument '%s' of kernel '%s' is %s, which "
            "does not hold %lld",
            operation->name, name, operation->kernel->compiled->name, x.p->type,
            (long long)value);
    set(&x, (graph_arg){.kind = GRAPH_ARG_INT, .integer = value});
    return VPU_OK;
}

vpu_status vpu_operation_set_real(vpu_operation *operation, const char *name,
                                  double value, vpu_error *err)
{
    argument x;
    vpu_status st = find_argument(operation, name, &x, err);

    if (st)
        return st;
    if (x.p->space != SIM_ARG_SCALAR || !x.p->is_float)
        return other_kind(&x, "a real number", setter_of(x.p), err);
    set(&x, (graph_arg){.kind = GRAPH_ARG_FLOAT,
                        .real = x.p->bytes == 2 ? (float)(builtin_half)value
                                                : (float)value});
    return VPU_OK;
}

vpu_status vpu_operation_set_local(vpu_operation *operation, const char *name,
                                   uint32_t bytes, vpu_error *err)
{
    argument x;
    vpu_status st = find_argument(operation, name, &x, err);

    if (st)
        return st;
    if (x.p->space != SIM_ARG_LOCAL)
        return other_kind(&x, "local memory", setter_of(x.p), err);
    if (!bytes)
        return err_set(err, VPU_ERR_INVALID,
                       "operation %s: argument '%s' is given 0 bytes",
                       operation->name, name);
    set(&x, (graph_arg){.kind = GRAPH_ARG_LOCAL, .bytes = bytes});
    return VPU_OK;
}
