/* Tensors of a graph: what they are, and their contents. */
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "runtime/graph/io.h"
#include "runtime/graph/npy.h"

/* vpu_type counts from 1 as tensor_dtype does from 0. */
static bool is_type(uint32_t type)
{
    return type >= VPU_F16 && type < VPU_F16 + TENSOR_N_DTYPES;
}

uint32_t vpu_type_bytes(uint32_t type)
{
    return is_type(type) ? tensor_dtype_bytes((tensor_dtype)(type - VPU_F16))
                         : 0;
}

const char *vpu_type_name(uint32_t type)
{
    return is_type(type) ? tensor_dtype_name((tensor_dtype)(type - VPU_F16))
                         : NULL;
}

/* --- making --------------------------------------------------------------- */

static vpu_status bad_shape(const char *text, vpu_error *err)
{
    return err_set(err, VPU_ERR_INVALID,
                   "shape '%s': expected 1 to %d dims and a type, something "
                   "like 1x24x128x512:f16",
                   text, VPU_MAX_RANK);
}

static vpu_status read_shape(vpu_tensor_options *o, vpu_error *err)
{
    const char *p = o->shape;
    tensor_dtype type = TENSOR_F16;

    if (o->type || o->rank)
        return err_set(err, VPU_ERR_INVALID,
                       "a shape, '%s', is given besides type and dims",
                       o->shape);
    for (;; p++) {
        size_t n = strspn(p, "0123456789");
        char digits[16];
        unsigned long long dim;

        if (!n || n >= sizeof digits || o->rank == VPU_MAX_RANK)
            return bad_shape(o->shape, err);
        memcpy(digits, p, n);
        digits[n] = 0;
        if (!str_to_u64(digits, &dim) || dim > UINT32_MAX)
            return bad_shape(o->shape, err);
        o->dims[o->rank++] = (uint32_t)dim;
        p += n;
        if (*p != 'x')
            break;
    }
    if (*p && (*p != ':' || !tensor_dtype_parse(p + 1, &type)))
        return bad_shape(o->shape, err);
    o->type = (uint32_t)type + VPU_F16;
    return VPU_OK;
}

static vpu_status check_shape(const vpu_tensor_options *o, vpu_error *err)
{
    uint64_t bytes = vpu_type_bytes(o->type);

    if (!bytes)
        return err_set(err, VPU_ERR_INVALID, "type %u is no vpu_type", o->type);
    if (!o->rank || o->rank > VPU_MAX_RANK)
        return err_set(err, VPU_ERR_INVALID,
                       "rank is %u; a tensor has 1 to %d dims", o->rank,
                       VPU_MAX_RANK);
    for (uint32_t i = 0; i < o->rank; i++) {
        if (!o->dims[i])
            return err_set(err, VPU_ERR_INVALID, "dims[%u] is 0", i);
        if (__builtin_mul_overflow(bytes, o->dims[i], &bytes) ||
            bytes > TENSOR_MAX_BYTES)
            return err_set(
                err, VPU_ERR_LIMIT,
                "the tensor takes more than %llu bytes, the device's "
                "address space",
                (unsigned long long)TENSOR_MAX_BYTES);
    }
    return VPU_OK;
}

static vpu_status check_role(const vpu_tensor_options *o, vpu_error *err)
{
    bool constant = o->role == VPU_ROLE_CONSTANT;

    if (!o->role || o->role > VPU_ROLE_VIRTUAL)
        return err_set(err, VPU_ERR_INVALID, "role %u is no vpu_role", o->role);
    if (constant != (o->data != NULL))
        return err_set(err, VPU_ERR_INVALID,
                       constant ? "a constant needs data"
                                : "data are given, but the tensor is no "
                                  "constant; vpu_tensor_write writes an input");
    return VPU_OK;
}

/* Of a shape that a tensor_desc has no room for the outer dims are one. */
static tensor_desc desc_of(const vpu_tensor_options *o)
{
    tensor_desc d = {.dtype = (tensor_dtype)(o->type - VPU_F16)};
    uint32_t outer = o->rank > TENSOR_MAX_RANK ? o->rank - TENSOR_MAX_RANK : 0;

    d.rank = o->rank - outer;
    for (uint32_t i = 0; i < d.rank; i++)
        d.dims[i] = o->dims[outer + i];
    for (uint32_t i = 0; i < outer; i++)
        d.dims[0] *= o->dims[i];
    return d;
}

static graph_role graph_role_of(uint32_t role)
{
    return role == VPU_ROLE_INPUT      ? GRAPH_INPUT
           : role == VPU_ROLE_OUTPUT   ? GRAPH_OUTPUT
           : role == VPU_ROLE_CONSTANT ? GRAPH_CONST
                                       : GRAPH_SCRATCH;
}

/* So that inputs filled at random differ from one another. */
static uint32_t next_port(const vpu_graph *g, uint32_t role)
{
    uint32_t n = 0;

    for (size_t i = 0; i < g->n_tensors; i++)
        n += g->tensors[i] && g->tensors[i]->role == role;
    return n;
}

typedef struct {
    vpu_graph *g;
    const vpu_tensor_options *o;
    vpu_tensor *made;
} making;

static vpu_status make_tensor(void *user, vpu_error *err)
{
    making *m = user;
    const vpu_tensor_options *o = m->o;
    vpu_graph *g = m->g;
    const char *name =
        o->name ? o->name : arena_printf(g->arena, "tensor%zu", g->n_tensors);
    api_new_tensor n = {.name = name,
                        .role = o->role,
                        .buffer = {.role = graph_role_of(o->role),
                                   .port = next_port(g, o->role),
                                   .desc = desc_of(o)}};

    if (vpu_graph_tensor_named(g, name))
        return err_set(err, VPU_ERR_INVALID,
                       "the graph has a tensor '%s' already", name);
    n.buffer.bytes = tensor_bytes(&n.buffer.desc);
    if (o->data)
        n.buffer.init = arena_memdup(g->arena, o->data, n.buffer.bytes);
    m->made = api_graph_add_buffer(g, &n);
    m->made->rank = o->rank;
    memcpy(m->made->dims, o->dims, sizeof o->dims);
    return VPU_OK;
}

vpu_status vpu_graph_tensor(vpu_graph *self, const vpu_tensor_options *options,
                            vpu_tensor **out, vpu_error *err)
{
    vpu_tensor_options o;
    making m = {.g = self, .o = &o};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(self, "graph", err);
    if (!st)
        st = api_need(options, "options", err);
    if (!st)
        st = api_graph_needs_open(self, err);
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_tensor_options", err);
    if (!st && o.shape)
        st = read_shape(&o, err);
    if (!st)
        st = check_shape(&o, err);
    if (!st)
        st = check_role(&o, err);
    if (!st)
        st = api_graph_change(self, make_tensor, &m, err);
    if (!st)
        *out = m.made;
    return st;
}

/* --- views ---------------------------------------------------------------- */

/* Within the parent, and without gaps. */
static vpu_status check_view(const vpu_tensor *parent,
                             const vpu_view_options *o, vpu_error *err)
{
    uint32_t cut = parent->rank, several = parent->rank;

    for (uint32_t i = 0; i < parent->rank; i++) {
        uint64_t end = (uint64_t)o->start[i] + o->dims[i];

        if (!o->dims[i] || end > parent->dims[i])
            return err_set(err, VPU_ERR_INVALID,
                           "dim %u of the view is %u from %u on; %s has %u "
                           "there",
                           i, o->dims[i], o->start[i], parent->name,
                           parent->dims[i]);
        if (o->dims[i] < parent->dims[i])
            cut = i;
        if (o->dims[i] > 1 && several == parent->rank)
            several = i;
    }
    if (cut < parent->rank && several < cut)
        return err_set(
            err, VPU_ERR_UNSUPPORTED,
            "the view of %s has gaps: it takes %u of %u in dim %u and "
            "%u in dim %u, in front of it",
            parent->name, o->dims[cut], parent->dims[cut], cut,
            o->dims[several], several);
    return VPU_OK;
}

typedef struct {
    vpu_graph *g;
    vpu_tensor *parent;
    const vpu_view_options *o;
    vpu_tensor *made;
} viewing;

static vpu_status make_view(void *user, vpu_error *err)
{
    viewing *v = user;
    vpu_graph *g = v->g;
    const vpu_tensor *p = v->parent;
    const char *name =
        v->o->name ? v->o->name : arena_printf(g->arena, "view%u", g->n_views);
    vpu_tensor *t = arena_new(g->arena, vpu_tensor);
    uint64_t step = vpu_type_bytes(p->type);

    if (vpu_graph_tensor_named(g, name))
        return err_set(err, VPU_ERR_INVALID,
                       "the graph has a tensor '%s' already", name);
    *t = (vpu_tensor){.graph = g,
                      .parent = v->parent,
                      .name = arena_strdup(g->arena, name),
                      .role = p->role,
                      .type = p->type,
                      .rank = p->rank,
                      .buffer = p->buffer,
                      .offset = p->offset,
                      .bytes = step,
                      .next = g->views};
    for (uint32_t i = p->rank; i--;) {
        t->dims[i] = v->o->dims[i];
        t->bytes *= t->dims[i];
        t->offset += v->o->start[i] * step;
        step *= p->dims[i];
    }
    g->views = t;
    g->n_views++;
    v->made = t;
    return VPU_OK;
}

vpu_status vpu_graph_view(vpu_graph *self, vpu_tensor *parent,
                          const vpu_view_options *options, vpu_tensor **out,
                          vpu_error *err)
{
    vpu_view_options o;
    viewing v = {self, parent, &o, NULL};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(self, "graph", err);
    if (!st)
        st = api_need(parent, "parent", err);
    if (!st && parent->graph != self)
        st = err_set(err, VPU_ERR_INVALID, "%s is of another graph",
                     parent->name);
    if (!st)
        st = api_graph_needs_open(self, err);
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_view_options", err);
    if (!st)
        st = check_view(parent, &o, err);
    if (!st)
        st = api_graph_change(self, make_view, &v, err);
    if (!st)
        *out = v.made;
    return st;
}

vpu_tensor *vpu_tensor_parent(const vpu_tensor *self)
{
    return self ? self->parent : NULL;
}

/* --- asking --------------------------------------------------------------- */

vpu_tensor *vpu_graph_tensor_at(vpu_graph *self, uint32_t role, size_t i)
{
    for (size_t k = 0; self && k < self->n_tensors; k++) {
        vpu_tensor *t = self->tensors[k];

        if (t && t->role == role && !i--)
            return t;
    }
    return NULL;
}

vpu_tensor *vpu_graph_tensor_named(vpu_graph *self, const char *name)
{
    vpu_tensor *labelled = NULL;

    for (size_t k = 0; self && name && k < self->n_tensors; k++) {
        vpu_tensor *t = self->tensors[k];

        if (t && !strcmp(t->name, name))
            return t;
        if (t && t->label && !strcmp(t->label, name))
            labelled = t;
    }
    for (vpu_tensor *t = self && name ? self->views : NULL; t; t = t->next)
        if (!strcmp(t->name, name))
            return t;
    return labelled;
}

const char *vpu_tensor_name(const vpu_tensor *self)
{
    return self ? self->name : NULL;
}

uint32_t vpu_tensor_role(const vpu_tensor *self)
{
    return self ? self->role : 0;
}

uint32_t vpu_tensor_type(const vpu_tensor *self)
{
    return self ? self->type : 0;
}

uint32_t vpu_tensor_rank(const vpu_tensor *self)
{
    return self ? self->rank : 0;
}

uint32_t vpu_tensor_dim(const vpu_tensor *self, uint32_t i)
{
    return self && i < self->rank ? self->dims[i] : 0;
}

size_t vpu_tensor_bytes(const vpu_tensor *self)
{
    return self ? self->bytes : 0;
}

/* --- contents ------------------------------------------------------------- */

vpu_tensor *api_tensor_root(vpu_tensor *t)
{
    while (t->parent)
        t = t->parent;
    return t;
}

static const vpu_tensor *root_of(const vpu_tensor *t)
{
    while (t->parent)
        t = t->parent;
    return t;
}

void *api_tensor_contents(const vpu_tensor *t)
{
    const vpu_tensor *root = root_of(t);
    char *all = root->imported ? root->imported : root->memory;

    return all ? all + t->offset : NULL;
}

static bool has_memory(const vpu_tensor *t)
{
    return t->role == VPU_ROLE_INPUT || t->role == VPU_ROLE_OUTPUT;
}

/* Memory of the host's, until a device's takes its place. */
static vpu_status give_memory(vpu_tensor *t, vpu_error *err)
{
    vpu_tensor *root = api_tensor_root(t);

    if (!api_tensor_contents(root) && !(root->memory = calloc(1, root->bytes)))
        return err_set(err, VPU_ERR_NOMEM, "no memory for the %llu bytes of %s",
                       (unsigned long long)root->bytes, root->name);
    return VPU_OK;
}

static vpu_status need_input(const vpu_tensor *t, vpu_error *err)
{
    vpu_status st = api_need(t, "tensor", err);

    return st || t->role == VPU_ROLE_INPUT
               ? st
               : err_set(err, VPU_ERR_INVALID, "%s is no input", t->name);
}

static vpu_status need_bytes(const vpu_tensor *t, size_t bytes, vpu_error *err)
{
    return bytes == t->bytes
               ? VPU_OK
               : err_set(err, VPU_ERR_MISMATCH,
                         "%zu bytes are given for %s, which has %llu", bytes,
                         t->name, (unsigned long long)t->bytes);
}

vpu_status vpu_tensor_write(vpu_tensor *self, const void *data, size_t bytes,
                            vpu_error *err)
{
    vpu_status st = need_input(self, err);

    if (!st)
        st = api_need(data, "data", err);
    if (!st)
        st = need_bytes(self, bytes, err);
    if (!st)
        st = give_memory(self, err);
    if (st)
        return st;
    memcpy(api_tensor_contents(self), data, bytes);
    api_tensor_root(self)->written = true;
    return VPU_OK;
}

typedef struct {
    vpu_tensor *t;
    const char *text; /* a description, or a path */
} filing;

/* The tensor as a buffer of its own. */
static graph_buffer buffer_of(const vpu_tensor *t)
{
    graph_buffer b = t->graph->g.buffers[t->buffer];

    if (t->parent) {
        vpu_tensor_options o = {.type = t->type, .rank = t->rank};

        memcpy(o.dims, t->dims, sizeof o.dims);
        b.name = t->name;
        b.desc = desc_of(&o);
        b.bytes = t->bytes;
    }
    return b;
}

static vpu_status fill(void *user, vpu_error *err)
{
    const filing *f = user;
    const graph_buffer b = buffer_of(f->t);

    return graph_input_fill(&b, f->text, api_tensor_contents(f->t), err);
}

vpu_status vpu_tensor_fill(vpu_tensor *self, const char *spec, vpu_error *err)
{
    filing f = {self, spec};
    vpu_status st = need_input(self, err);

    if (!st)
        st = api_need(spec, "spec", err);
    if (!st)
        st = give_memory(self, err);
    if (!st)
        st = oom_guard(fill, &f, err);
    if (!st)
        api_tensor_root(self)->written = true;
    return st;
}

/* An input or output that has contents. */
static vpu_status need_contents(const vpu_tensor *t, vpu_error *err)
{
    vpu_status st = api_need(t, "tensor", err);

    if (st)
        return st;
    if (!has_memory(t))
        return err_set(err, VPU_ERR_INVALID, "%s is neither input nor output",
                       t->name);
    if (t->role == VPU_ROLE_INPUT ? !root_of(t)->written : !t->graph->ran)
        return err_set(err, VPU_ERR_INVALID,
                       t->role == VPU_ROLE_INPUT
                           ? "%s was never written"
                           : "%s: the graph has not run yet",
                       t->name);
    return VPU_OK;
}

vpu_status vpu_tensor_read(vpu_tensor *self, void *data, size_t bytes,
                           vpu_error *err)
{
    vpu_status st = need_contents(self, err);

    if (!st)
        st = api_need(data, "data", err);
    if (!st)
        st = need_bytes(self, bytes, err);
    if (!st)
        memcpy(data, api_tensor_contents(self), bytes);
    return st;
}

void *vpu_tensor_data(vpu_tensor *self)
{
    vpu_tensor *root;

    if (!self || !has_memory(self))
        return NULL;
    root = api_tensor_root(self);
    if (!root->imported && !self->graph->open.ops)
        return NULL;
    /* The caller may write to it from now on. */
    root->written |= root->role == VPU_ROLE_INPUT;
    return api_tensor_contents(self);
}

vpu_status vpu_tensor_import(vpu_tensor *self, void *data, size_t bytes,
                             vpu_error *err)
{
    vpu_status st = api_need(self, "tensor", err);

    if (st)
        return st;
    if (!has_memory(self) || self->parent)
        return err_set(err, VPU_ERR_INVALID,
                       self->parent ? "%s is a view: its parent has its memory"
                                    : "%s is neither input nor output: the "
                                      "graph manages its memory",
                       self->name);
    if ((uintptr_t)data % vpu_type_bytes(self->type))
        return err_set(
            err, VPU_ERR_INVALID,
            "data for %s are not aligned to its elements of %u bytes",
            self->name, vpu_type_bytes(self->type));
    if (data && bytes < self->bytes)
        return err_set(err, VPU_ERR_MISMATCH,
                       "%zu bytes are imported for %s, which has %llu", bytes,
                       self->name, (unsigned long long)self->bytes);
    self->imported = data;
    self->written = self->role == VPU_ROLE_INPUT && data;
    return VPU_OK;
}

static vpu_status save(void *user, vpu_error *err)
{
    const filing *f = user;
    const tensor whole = {.desc = buffer_of(f->t).desc,
                          .data = api_tensor_contents(f->t)};

    return npy_write(f->text, &whole, err);
}

vpu_status vpu_tensor_save(vpu_tensor *self, const char *path, vpu_error *err)
{
    filing f = {self, path};
    vpu_status st = need_contents(self, err);

    if (!st)
        st = api_need(path, "path", err);
    return st ? st : oom_guard(save, &f, err);
}
