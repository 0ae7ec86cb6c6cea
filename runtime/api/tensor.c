/* Tensors of a graph: what they are, and their contents. */
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/api/layout.h"
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

const char *api_opencl_type(uint32_t type)
{
    static const char *const names[] = {
        "", "half", "float", "int", "uchar", "char", "short", "ushort", "long"};

    return names[type];
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
    const api_layout *layout;
    vpu_tensor *made;
} making;

/* A buffer is one piece: with gaps it is a row of elements. */
static graph_buffer buffer_for(const making *m)
{
    const vpu_tensor_options *o = m->o;
    graph_buffer b = {.role = graph_role_of(o->role),
                      .port = next_port(m->g, o->role),
                      .desc = desc_of(o),
                      .bytes = m->layout->bytes};

    if (!m->layout->is_packed) {
        b.desc.rank = 1;
        b.desc.dims[0] = (uint32_t)(b.bytes / vpu_type_bytes(o->type));
    }
    return b;
}

/* What the caller says of a new tensor, beyond its buffer. */
static void describe(const making *m, vpu_tensor *t)
{
    const vpu_tensor_options *o = m->o;

    t->rank = o->rank;
    t->bytes = vpu_type_bytes(o->type);
    for (uint32_t i = 0; i < o->rank; i++)
        t->bytes *= o->dims[i];
    memcpy(t->dims, o->dims, sizeof o->dims);
    memcpy(t->strides, m->layout->strides, sizeof t->strides);
    memcpy(t->pad_before, o->pad_before, sizeof o->pad_before);
    memcpy(t->pad_after, o->pad_after, sizeof o->pad_after);
    memcpy(t->valid.end, o->dims, sizeof o->dims);
    t->offset = m->layout->offset;
    t->has_gaps = !m->layout->is_packed;
    t->border = o->border ? o->border : VPU_BORDER_UNDEFINED;
    t->border_value = o->border_value;
}

/* A constant's bytes, in its own memory; what is beside them is 0. */
static const void *constant_of(const making *m, const vpu_tensor *t)
{
    char *all = arena_push(m->g->arena, m->layout->bytes, 1, 64);

    memset(all, 0, m->layout->bytes);
    api_layout_copy(t, all + t->offset, (char *)(uintptr_t)m->o->data, true);
    return all;
}

static vpu_status make_tensor(void *user, vpu_error *err)
{
    making *m = user;
    const vpu_tensor_options *o = m->o;
    vpu_graph *g = m->g;
    const char *name =
        o->name ? o->name : arena_printf(g->arena, "tensor%zu", g->n_tensors);
    api_new_tensor n = {.name = name, .role = o->role, .buffer = buffer_for(m)};

    if (vpu_graph_tensor_named(g, name))
        return err_set(err, VPU_ERR_INVALID,
                       "the graph has a tensor '%s' already", name);
    m->made = api_graph_add_buffer(g, &n);
    describe(m, m->made);
    if (o->data)
        g->g.buffers[m->made->buffer].init = constant_of(m, m->made);
    return VPU_OK;
}

vpu_status vpu_graph_tensor(vpu_graph *self, const vpu_tensor_options *options,
                            vpu_tensor **out, vpu_error *err)
{
    vpu_tensor_options o;
    api_layout layout;
    making m = {.g = self, .o = &o, .layout = &layout};
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
        st = api_layout_make(&o, &layout, err);
    if (!st)
        st = api_graph_change(self, make_tensor, &m, err);
    if (!st)
        *out = m.made;
    return st;
}

/* --- views ---------------------------------------------------------------- */

static vpu_status check_view(const vpu_tensor *parent,
                             const vpu_view_options *o, vpu_error *err)
{
    for (uint32_t i = 0; i < parent->rank; i++) {
        uint64_t end = (uint64_t)o->start[i] + o->dims[i];

        if (!o->dims[i] || end > parent->dims[i])
            return err_set(err, VPU_ERR_INVALID,
                           "dim %u of the view is %u from %u on; %s has %u "
                           "there",
                           i, o->dims[i], o->start[i], parent->name,
                           parent->dims[i]);
    }
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
                      .bytes = vpu_type_bytes(p->type),
                      .next = g->views};
    for (uint32_t i = 0; i < p->rank; i++) {
        t->dims[i] = v->o->dims[i];
        t->strides[i] = p->strides[i];
        t->place[i] = p->place[i] + v->o->start[i];
        t->bytes *= t->dims[i];
        t->offset += v->o->start[i] * p->strides[i];
    }
    t->has_gaps = api_tensor_root_of(p)->has_gaps || !api_layout_is_packed(t);
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
    return (vpu_tensor *)(uintptr_t)api_tensor_root_of(t);
}

const vpu_tensor *api_tensor_root_of(const vpu_tensor *t)
{
    while (t->parent)
        t = t->parent;
    return t;
}

void *api_tensor_memory(const vpu_tensor *t)
{
    const vpu_tensor *root = api_tensor_root_of(t);

    return root->imported ? root->imported : root->memory;
}

uint64_t api_tensor_memory_bytes(const vpu_tensor *t)
{
    return t->graph->g.buffers[t->buffer].bytes;
}

void *api_tensor_contents(const vpu_tensor *t)
{
    char *all = api_tensor_memory(t);

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

    uint64_t bytes = api_tensor_memory_bytes(root);

    if (!api_tensor_memory(root) && !(root->memory = calloc(1, bytes)))
        return err_set(err, VPU_ERR_NOMEM, "no memory for the %llu bytes of %s",
                       (unsigned long long)bytes, root->name);
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
    api_layout_copy(self, api_tensor_contents(self), (char *)(uintptr_t)data,
                    true);
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

    if (t->parent || t->has_gaps) {
        vpu_tensor_options o = {.type = t->type, .rank = t->rank};

        memcpy(o.dims, t->dims, sizeof o.dims);
        b.name = t->name;
        b.desc = desc_of(&o);
        b.bytes = t->bytes;
    }
    return b;
}

/* work on a packed copy of the tensor, which is taken back when it was filled.
 */
static vpu_status on_packed(const filing *f, bool fills,
                            vpu_status (*work)(const filing *f, void *data,
                                               vpu_error *err),
                            vpu_error *err)
{
    char *first = api_tensor_contents(f->t);
    arena *a;
    void *packed;
    vpu_status st;

    if (!f->t->has_gaps)
        return work(f, first, err);
    a = arena_create(0);
    packed = arena_push(a, f->t->bytes, 1, 64);
    if (!fills)
        api_layout_copy(f->t, first, packed, false);
    st = work(f, packed, err);
    if (!st && fills)
        api_layout_copy(f->t, first, packed, true);
    arena_destroy(a);
    return st;
}

static vpu_status fill_packed(const filing *f, void *data, vpu_error *err)
{
    const graph_buffer b = buffer_of(f->t);

    return graph_input_fill(&b, f->text, data, err);
}

static vpu_status fill(void *user, vpu_error *err)
{
    return on_packed(user, true, fill_packed, err);
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
    if (t->role == VPU_ROLE_INPUT ? !api_tensor_root_of(t)->written
                                  : !t->graph->ran)
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
        api_layout_copy(self, api_tensor_contents(self), data, false);
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
    if (data && bytes < api_tensor_memory_bytes(self))
        return err_set(err, VPU_ERR_MISMATCH,
                       "%zu bytes are imported for %s, which has %llu", bytes,
                       self->name,
                       (unsigned long long)api_tensor_memory_bytes(self));
    self->imported = data;
    self->written = self->role == VPU_ROLE_INPUT && data;
    return VPU_OK;
}

static vpu_status save_packed(const filing *f, void *data, vpu_error *err)
{
    const tensor whole = {.desc = buffer_of(f->t).desc, .data = data};

    return npy_write(f->text, &whole, err);
}

static vpu_status save(void *user, vpu_error *err)
{
    return on_packed(user, false, save_packed, err);
}

vpu_status vpu_tensor_save(vpu_tensor *self, const char *path, vpu_error *err)
{
    filing f = {self, path};
    vpu_status st = need_contents(self, err);

    if (!st)
        st = api_need(path, "path", err);
    return st ? st : oom_guard(save, &f, err);
}
