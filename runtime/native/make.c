/* From a stage's record to an operation: tensors, params, conditions. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/native/native_priv.h"

static const native_row rows[] = {
#define NATIVE(number, family, buffers, how) \
    {number, native_make_##family, native_run_##family, buffers, how},
#include "runtime/native/native.def"
};

static const struct {
    uint32_t type;
    const char *why;
} refused[] = {
#define REFUSED(number, why) {number, why},
#include "runtime/native/native.def"
    {UINT32_MAX, NULL}};

static const native_row *row_of(uint32_t type)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type)
            return &rows[i];
    return NULL;
}

bool native_runs(uint32_t type)
{
    return row_of(type) != NULL;
}

void native_stages(str *out)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        str_printf(out, "%4u %-24s %s\n", rows[i].type,
                   stage_name(rows[i].type), rows[i].how);
    for (size_t i = 0; refused[i].why; i++)
        str_printf(out, "%4u %-24s not run: %s\n", refused[i].type,
                   stage_name(refused[i].type), refused[i].why);
}

/* --- problems ------------------------------------------------------------ */

static void fail(native_maker *m, vpu_status st, const char *fmt, va_list ap)
{
    if (m->st)
        return;
    m->st = err_vset(m->err, st, fmt, ap);
}

void native_bad(native_maker *m, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail(m, VPU_ERR_PARSE, fmt, ap);
    va_end(ap);
}

void native_refuse(native_maker *m, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail(m, VPU_ERR_UNSUPPORTED, fmt, ap);
    va_end(ap);
}

/* --- params -------------------------------------------------------------- */

static uint32_t word(native_maker *m, const char *name)
{
    const blob_stage *s = m->op->stage;

    if (m->st)
        return 0;
    if (m->at >= s->n_params) {
        native_bad(m, "%s expected at word %u of params, which end there", name,
                   m->at);
        return 0;
    }
    return s->params[m->at++];
}

uint32_t native_u32(native_maker *m, const char *name, uint32_t least,
                    uint32_t most)
{
    uint32_t v = word(m, name);

    if (!m->st && (v < least || v > most))
        native_bad(m, "%s is %u, expected %u to %u", name, v, least, most);
    return m->st ? 0 : v;
}

int32_t native_i32(native_maker *m, const char *name, int32_t least,
                   int32_t most)
{
    int32_t v = (int32_t)word(m, name);

    if (!m->st && (v < least || v > most))
        native_bad(m, "%s is %d, expected %d to %d", name, v, least, most);
    return m->st ? 0 : v;
}

float native_limit(native_maker *m, const char *name)
{
    uint32_t bits = word(m, name);
    float v;

    memcpy(&v, &bits, sizeof v);
    if (!m->st && isnan(v))
        native_bad(m, "%s is no number", name);
    return m->st ? 0 : v;
}

void native_vector(native_maker *m, const char *name, uint32_t least,
                   uint32_t most, uint32_t n, uint32_t *out)
{
    native_u32(m, name, n, n);
    for (uint32_t i = 0; i < n; i++)
        out[i] = native_u32(m, name, least, most);
}

float native_f32(native_maker *m, const char *name)
{
    float v = native_limit(m, name);

    if (!m->st && !isfinite(v))
        native_bad(m, "%s is %f, expected a number", name, (double)v);
    return m->st ? 0 : v;
}

bool native_flag(native_maker *m, const char *name)
{
    return word(m, name) != 0;
}

void native_params_end(native_maker *m)
{
    if (!m->st && m->at != m->op->stage->n_params)
        native_bad(m, "%u words of params, expected %u", m->op->stage->n_params,
                   m->at);
}

/* --- tensors ------------------------------------------------------------- */

const native_tensor *native_at(const native_maker *m, uint32_t i)
{
    static const native_tensor none;

    return i < m->op->n_tensors ? &m->op->tensors[i] : &none;
}

static bool there(native_maker *m, uint32_t i)
{
    if (!m->st && !native_at(m, i)->present)
        native_bad(m, "buffer %u is absent", i);
    return !m->st;
}

void native_need_type(native_maker *m, uint32_t i, uint32_t types)
{
    uint32_t has = native_at(m, i)->type;

    if (there(m, i) && !(types & NATIVE_TYPE(has)))
        native_refuse(m, "%s is of type %s", native_at(m, i)->operand.name,
                      blob_type_name(has));
}

void native_need_rank(native_maker *m, uint32_t i, uint32_t least,
                      uint32_t most)
{
    uint32_t has = native_at(m, i)->rank;

    if (there(m, i) && (has < least || has > most))
        native_bad(m, "%s has %u dims, expected %u to %u",
                   native_at(m, i)->operand.name, has, least, most);
}

void native_need_same(native_maker *m, uint32_t i, uint32_t k)
{
    const native_tensor *p = native_at(m, i), *q = native_at(m, k);

    if (!there(m, i) || !there(m, k))
        return;
    if (p->rank != q->rank || p->order != q->order)
        native_bad(m, "%s is in order 0x%x, %s in 0x%x, expected one order",
                   p->operand.name, p->order, q->operand.name, q->order);
    for (uint32_t d = 0; d < p->rank && !m->st; d++)
        if (p->dims[d] != q->dims[d])
            native_bad(m, "dim %u is %u in %s and %u in %s, expected one size",
                       d, p->dims[d], p->operand.name, q->dims[d],
                       q->operand.name);
}

void native_need_planes(native_maker *m, uint32_t i)
{
    const native_tensor *t = native_at(m, i);

    if (!there(m, i))
        return;
    for (uint32_t d = 0; d < t->rank && d < BLOB_MAX_DIMS; d++)
        if ((t->order >> (4 * d) & 15) > NATIVE_D)
            native_bad(m, "%s is in order 0x%x, expected dims of W, H, C, N, D",
                       t->operand.name, t->order);
}

void native_need_elements(native_maker *m, uint32_t i, uint64_t n)
{
    const native_tensor *t = native_at(m, i);

    if (there(m, i) && t->n != n)
        native_bad(m, "%s has %" PRIu64 " elements, expected %" PRIu64,
                   t->operand.name, t->n, n);
}

void native_need_plain(native_maker *m, uint32_t i)
{
    static const uint32_t orders[] = {
        0, 0x3, 0x43, 0x321, 0x4321, 0x43521, 0x654321, 0x7654321, 0x87654321};
    const native_tensor *t = native_at(m, i);

    if (there(m, i) && t->rank && t->order != orders[t->rank])
        native_refuse(m, "%s is in order 0x%x", t->operand.name, t->order);
}

void native_need_halves(native_maker *m)
{
    for (uint32_t i = 0; i < m->op->n_tensors; i++)
        if (native_at(m, i)->present && native_at(m, i)->kind != 't')
            native_need_type(m, i, NATIVE_TYPE(BLOB_F16));
}

void native_need_size(native_maker *m, uint32_t i, uint32_t letter, uint64_t n)
{
    const native_tensor *t = native_at(m, i);

    if (there(m, i) && native_size(t, letter) != n)
        native_bad(m, "%s has size %u in dim %c, expected %" PRIu64,
                   t->operand.name, native_size(t, letter), "?WHCND"[letter],
                   n);
}

uint32_t native_axis(native_maker *m, const char *name, uint32_t i)
{
    uint32_t rank = native_at(m, i)->rank;

    return (uint32_t)native_i32(m, name, 0, rank ? (int32_t)rank - 1 : 0);
}

const int32_t *native_constant(native_maker *m, uint32_t i)
{
    const native_tensor *t = native_at(m, i);
    const uint8_t *at;
    int32_t *v;

    native_need_type(m, i, NATIVE_TYPE(BLOB_S32));
    native_need_rank(m, i, 0, 1);
    if (!m->st && t->operand.buffer->location != BLOB_CONST)
        native_refuse(m, "%s is no constant", t->operand.name);
    if (m->st)
        return NULL;
    v = arena_array(m->arena, int32_t, t->n);
    at = m->blob->constants + t->operand.buffer->offset;
    for (uint64_t k = 0; k < t->n; k++, at += t->rank ? t->strides[0] : 0)
        memcpy(&v[k], at, sizeof *v);
    return v;
}

/* --- dims ---------------------------------------------------------------- */

uint32_t native_dim(const native_tensor *t, uint32_t letter)
{
    for (uint32_t i = 0; i < t->rank && i < BLOB_MAX_DIMS; i++)
        if ((t->order >> (4 * i) & 15) == letter)
            return i;
    return NATIVE_NONE;
}

uint32_t native_size(const native_tensor *t, uint32_t letter)
{
    uint32_t i = native_dim(t, letter);

    return i == NATIVE_NONE ? 1 : t->dims[i];
}

uint64_t native_inner(const native_tensor *t, uint32_t i)
{
    uint64_t n = 1;

    for (uint32_t d = 0; d < i && d < t->rank && d < BLOB_MAX_DIMS; d++)
        n *= t->dims[d];
    return n;
}

uint64_t native_outer(const native_tensor *t, uint32_t i)
{
    uint64_t n = 1;

    for (uint32_t d = i + 1; d < t->rank && d < BLOB_MAX_DIMS; d++)
        n *= t->dims[d];
    return n;
}

/* --- the record ---------------------------------------------------------- */

/* Bytes that its location has; 0: there is no such place. */
static uint64_t room_of(const blob *b, const blob_buffer *f)
{
    switch (f->location) {
    case BLOB_INPUT:
        return f->data.index < b->n_inputs
                   ? blob_desc_bytes(&b->inputs[f->data.index].desc)
                   : 0;
    case BLOB_OUTPUT:
        return f->data.index < b->n_outputs
                   ? blob_desc_bytes(&b->outputs[f->data.index].desc)
                   : 0;
    case BLOB_CONST:
        return b->n_constants;
    case BLOB_BSS:
        return b->bss_size;
    case BLOB_CMX:
        return (uint64_t)b->n_slices * BLOB_SLICE;
    default:
        return 0;
    }
}

static bool is_static(const blob *b, const blob_desc *d)
{
    return b->major < 6 || (d->dims_location == BLOB_CONST &&
                            d->strides_location == BLOB_CONST);
}

/* Dims of an output that are an output themselves: there is room for those that
 * its strides and its memory allow. */
static bool has_room_only(const native_tensor *t)
{
    const blob_buffer *f = t->operand.buffer;

    return t->operand.written && f->location == BLOB_OUTPUT &&
           f->desc.dims_location != BLOB_CONST &&
           f->desc.strides_location == BLOB_CONST;
}

static void take_room(native_tensor *t)
{
    uint64_t end = blob_type_bytes(t->type);

    for (uint32_t i = 0; i < t->rank && i < BLOB_MAX_DIMS; i++) {
        bool last = i + 1 == t->rank || i + 1 == BLOB_MAX_DIMS;
        uint32_t next =
            last ? t->operand.buffer->data.bytes : t->strides[i + 1];

        t->dims[i] = t->strides[i] ? next / t->strides[i] : 0;
        end += t->dims[i] ? (uint64_t)(t->dims[i] - 1) * t->strides[i] : 0;
    }
    t->operand.span = end;
}

static void check_written(native_maker *m, const native_tensor *t)
{
    uint32_t at = t->operand.buffer->location;

    if (at == BLOB_CONST || at == BLOB_INPUT)
        native_bad(m, "%s is written at location %s", t->operand.name,
                   blob_location_name(at));
}

void native_mark_written(native_maker *m, uint32_t i)
{
    if (i >= m->op->n_tensors || !m->op->tensors[i].present)
        return;
    m->op->tensors[i].operand.written = true;
    check_written(m, &m->op->tensors[i]);
}

/* Within its memory, with strides that go over no element twice. */
static void check_tensor(native_maker *m, const native_tensor *t)
{
    const blob_buffer *f = t->operand.buffer;
    const char *name = t->operand.name;
    uint64_t least = blob_type_bytes(t->type);
    uint64_t room = room_of(m->blob, f);

    if (!least)
        native_bad(m, "%s has element type %u", name, t->type);
    else if (f->offset % least)
        native_bad(
            m, "%s: offset %u, expected whole elements of %" PRIu64 " bytes",
            name, f->offset, least);
    if (!is_static(m->blob, &f->desc) && !has_room_only(t)) {
        native_refuse(m, "%s has dims that are known when it runs", name);
        return;
    }
    if (t->rank > BLOB_MAX_DIMS || stage_order_rank(t->order) != t->rank) {
        native_bad(m, "%s has %u dims in order 0x%x", name, t->rank, t->order);
        return;
    }
    for (uint32_t i = 0; i < t->rank && i < BLOB_MAX_DIMS && !m->st; i++) {
        if (!t->dims[i] || t->strides[i] < least)
            native_bad(m,
                       "%s: dim %u has size %u and stride %u, expected a size "
                       "of at least 1 and a stride of at least %" PRIu64,
                       name, i, t->dims[i], t->strides[i], least);
        if (t->strides[i] % blob_type_bytes(t->type))
            native_bad(m, "%s: stride %u is %u, expected whole elements", name,
                       i, t->strides[i]);
        least = (uint64_t)t->strides[i] * t->dims[i];
    }
    if (!m->st && (f->offset > room || t->operand.span > room - f->offset))
        native_bad(m,
                   "%s: %" PRIu64 " bytes at %u of %s, expected them within "
                   "%" PRIu64,
                   name, t->operand.span, f->offset,
                   blob_location_name(f->location)
                       ? blob_location_name(f->location)
                       : "no place",
                   room);
    if (!m->st && t->operand.written)
        check_written(m, t);
}

static void take_tensor(native_maker *m, native_tensor *t, const blob_buffer *f,
                        const char *name, bool written)
{
    const blob_desc *d = &f->desc;

    *t = (native_tensor){.operand = {.buffer = f,
                                     .span = blob_desc_span(d),
                                     .written = written,
                                     .name = name},
                         .present = f->location != BLOB_NOWHERE,
                         .type = d->type,
                         .order = d->order,
                         .rank = d->rank,
                         .n = 1};
    memcpy(t->dims, d->dims, sizeof t->dims);
    memcpy(t->strides, d->strides, sizeof t->strides);
    if (!t->present)
        return;
    if (!is_static(m->blob, d) && has_room_only(t))
        take_room(t);
    check_tensor(m, t);
    for (uint32_t i = 0; i < t->rank && i < BLOB_MAX_DIMS && !m->st; i++)
        t->n *= t->dims[i];
    t->number = m->op->n_operands++;
}

/* The letter of the row for buffer i of n, which are not too few. */
static char letter_of(const char *row, uint32_t i, uint32_t n)
{
    const char *star = strchr(row, '*');
    uint32_t first = star ? (uint32_t)(star - row) - 1 : n;
    uint32_t last = star ? (uint32_t)strlen(star + 1) : 0;

    if (i < first)
        return row[i];
    return i < n - last ? row[first] : star[1 + i - (n - last)];
}

/* How many the row asks for at least, and whether more are fine. */
static uint32_t least_of(const char *row, bool *more)
{
    uint32_t n = 0;

    *more = strchr(row, '*') != NULL;
    for (; *row; row++)
        n += row[1] == '*' || *row == '*' ? 0 : 1;
    return n;
}

static const char *name_of(native_maker *m, char letter, uint32_t *counts)
{
    static const char *const bases[] = {"in", "out", "temp"};
    uint32_t which = letter == 'i' ? 0 : letter == 'o' ? 1 : 2;

    return arena_printf(m->arena, "%s%u", bases[which], counts[which]++);
}

static void take_tensors(native_maker *m)
{
    const blob_stage *s = m->op->stage;
    const char *row = m->op->row->buffers;
    uint32_t counts[3] = {0}, least;
    bool more;

    least = least_of(row, &more);
    if (s->n_buffers < least || (!more && s->n_buffers > least))
        native_bad(m, "%u buffers, expected %s%u", s->n_buffers,
                   more ? "at least " : "", least);
    m->op->tensors = arena_array(m->arena, native_tensor, s->n_buffers + 1);
    for (uint32_t i = 0; i < s->n_buffers && !m->st; i++) {
        native_tensor *t = &m->op->tensors[i];
        char letter = letter_of(row, i, s->n_buffers);
        char kind = (char)(letter | 0x20);

        m->op->n_tensors = i + 1;
        take_tensor(m, t, &s->buffers[i], name_of(m, kind, counts),
                    kind != 'i');
        t->kind = kind;
        if (!m->st && !t->present && letter == kind && kind != 't')
            native_bad(m, "%s is absent", t->operand.name);
    }
}

static vpu_status make(const blob *b, const blob_stage *s, arena *a,
                       native_op *op, vpu_error *err)
{
    native_maker m = {.blob = b, .op = op, .arena = a, .err = err};

    op->stage = s;
    op->type = s->type;
    take_tensors(&m);
    if (!m.st)
        op->row->make(&m);
    native_params_end(&m);
    return m.st ? err_in(err, m.st, "%s", stage_name(s->type)) : VPU_OK;
}

static vpu_status refuse(uint32_t type, vpu_error *err)
{
    for (size_t i = 0; refused[i].why; i++)
        if (refused[i].type == type)
            return err_set(err, VPU_ERR_UNSUPPORTED,
                           "stage type %u, %s, is not run: %s", type,
                           stage_name(type), refused[i].why);
    return err_set(err, VPU_ERR_UNSUPPORTED,
                   "stage type %u, %s, is not run here (vpu stick --stages)",
                   type, stage_name(type) ? stage_name(type) : "unknown");
}

vpu_status native_make(const blob *b, const blob_stage *s, arena *a,
                       native_op **out, vpu_error *err)
{
    native_op *op = arena_new(a, native_op);
    vpu_status st;

    op->row = row_of(s->type);
    if (!op->row)
        return refuse(s->type, err);
    st = make(b, s, a, op, err);
    if (!st && s->injected) {
        st = native_make(b, s->injected, a, &op->injected, err);
        if (st)
            return err_in(err, st, "injected stage");
    }
    *out = op;
    return st;
}

/* --- operands ------------------------------------------------------------ */

uint32_t native_n_operands(const native_op *op)
{
    return op->n_operands +
           (op->injected ? native_n_operands(op->injected) : 0);
}

const native_operand *native_operand_at(const native_op *op, uint32_t i)
{
    if (i >= op->n_operands)
        return native_operand_at(op->injected, i - op->n_operands);
    for (uint32_t k = 0;; k++)
        if (op->tensors[k].present && op->tensors[k].number == i)
            return &op->tensors[k].operand;
}

void native_run(const native_op *op, void *const *data, arena *a,
                const native_threads *threads)
{
    arena_mark mark = arena_save(a);
    native_job j = {op, (uint8_t *const *)data, a, threads};

    op->row->run(&j);
    arena_restore(a, mark);
    if (op->injected)
        native_run(op->injected, data + op->n_operands, a, threads);
}
