#include "tests/runtime/native/stage_rig.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/tensor.h"

enum { BEHIND = 64, FILL = 0xa5, SHAKES = 12 };

uint32_t unit_below(stage_rig *r, uint32_t n)
{
    r->state = r->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(r->state >> 33) % n;
}

double unit_between(stage_rig *r, double least, double most)
{
    return least + (most - least) * unit_below(r, 1 << 20) / (1 << 20);
}

void unit_start(stage_rig *r, uint32_t type, bool gaps)
{
    *r = (stage_rig){.a = arena_create(0), .gaps = gaps, .state = type + 1};
    r->b.major = 6;
    r->s.type = type;
    r->s.params = r->words;
    r->s.buffers = r->buffers;
}

void unit_end(stage_rig *r)
{
    arena_destroy(r->a);
}

void unit_word(stage_rig *r, int64_t v)
{
    ck_assert_uint_lt(r->s.n_params, UNIT_WORDS);
    r->words[r->s.n_params++] = (uint32_t)v;
}

void unit_float(stage_rig *r, double v)
{
    float f = (float)v;
    uint32_t bits;

    memcpy(&bits, &f, 4);
    unit_word(r, bits);
}

/* --- tensors ------------------------------------------------------------- */

static uint32_t add(stage_rig *r, uint32_t place, uint32_t type, uint32_t order,
                    va_list ap)
{
    uint32_t t = r->s.n_buffers++, bytes = blob_type_bytes(type), step = bytes;
    blob_buffer *f = &r->buffers[t];
    blob_desc *d = &f->desc;

    ck_assert_uint_lt(t, UNIT_TENSORS);
    d->type = type;
    d->order = order;
    d->rank = stage_order_rank(order);
    d->dims_location = d->strides_location = BLOB_CONST;
    r->n[t] = 1;
    for (uint32_t i = 0; i < d->rank; i++) {
        if (r->gaps)
            step += bytes * unit_below(r, 3);
        d->dims[i] = va_arg(ap, uint32_t);
        d->strides[i] = step;
        step *= d->dims[i];
        r->n[t] *= d->dims[i];
    }
    f->location = place;
    f->offset = r->places[place] += BEHIND;
    r->places[place] += (uint32_t)blob_align(step, 4);
    r->v[t] = arena_array(r->a, double, r->n[t]);
    return t;
}

#define ADD(name, place)                                            \
    uint32_t name(stage_rig *r, uint32_t type, uint32_t order, ...) \
    {                                                               \
        va_list ap;                                                 \
        uint32_t t;                                                 \
                                                                    \
        va_start(ap, order);                                        \
        t = add(r, place, type, order, ap);                         \
        va_end(ap);                                                 \
        return t;                                                   \
    }

ADD(unit_in, BLOB_INPUT)
ADD(unit_out, BLOB_BSS)
ADD(unit_constant, BLOB_CONST)

void unit_dynamic(stage_rig *r, uint32_t t)
{
    blob_buffer *f = &r->buffers[t];
    uint32_t last = f->desc.rank - 1;

    f->data.bytes = f->desc.dims[last] * f->desc.strides[last];
    f->desc.dims_location = BLOB_OUTPUT;
    f->location = BLOB_OUTPUT;
    f->offset = r->places[BLOB_OUTPUT] += BEHIND;
    r->places[BLOB_OUTPUT] += f->data.bytes;
}

void unit_share(stage_rig *r, uint32_t in, uint32_t out, int behind)
{
    int bytes = (int)blob_type_bytes(r->buffers[in].desc.type);

    r->shared[in] = true;
    r->buffers[in].location = r->buffers[out].location;
    r->buffers[in].offset =
        (uint32_t)((int)r->buffers[out].offset + behind * bytes);
}

uint32_t unit_absent(stage_rig *r)
{
    uint32_t t = r->s.n_buffers++;

    r->buffers[t].desc =
        (blob_desc){.order = 3, .rank = 1, .dims = {1}, .strides = {2}};
    return t;
}

/* --- values -------------------------------------------------------------- */

double unit_rounded(uint32_t type, double v)
{
    switch (type) {
    case BLOB_F16:
        return (double)tensor_f16_to_f32(tensor_f32_to_f16((float)v));
    case BLOB_F32:
        return (double)(float)v;
    default:
        return floor(v);
    }
}

void unit_set(stage_rig *r, uint32_t t, uint64_t i, double v)
{
    r->v[t][i] = unit_rounded(r->buffers[t].desc.type, v);
}

void unit_fill(stage_rig *r, uint32_t t, double least, double most)
{
    for (uint64_t i = 0; i < r->n[t]; i++)
        unit_set(r, t, i, unit_between(r, least, most));
}

void unit_ints(stage_rig *r, uint32_t t, uint32_t n, ...)
{
    va_list ap;

    ck_assert_uint_eq(n, r->n[t]);
    va_start(ap, n);
    for (uint32_t i = 0; i < n; i++)
        unit_set(r, t, i, va_arg(ap, int));
    va_end(ap);
}

static uint32_t dim_of(const blob_desc *d, uint32_t letter)
{
    for (uint32_t i = 0; i < d->rank; i++)
        if ((d->order >> 4 * i & 15) == letter)
            return i;
    return UINT32_MAX;
}

uint32_t unit_size(const stage_rig *r, uint32_t t, uint32_t letter)
{
    uint32_t i = dim_of(&r->buffers[t].desc, letter);

    return i == UINT32_MAX ? 1 : r->buffers[t].desc.dims[i];
}

double *unit_at(const stage_rig *r, uint32_t t, uint32_t n, uint32_t c,
                uint32_t h, uint32_t w)
{
    const blob_desc *d = &r->buffers[t].desc;
    const uint32_t at[] = {0, w, h, c, n, 0};
    uint64_t i = 0, step = 1;

    for (uint32_t k = 0; k < d->rank; step *= d->dims[k++])
        i += at[d->order >> 4 * k & 15] * step;
    return &r->v[t][i];
}

/* --- running ------------------------------------------------------------- */

static void put(uint32_t type, double v, uint8_t *p)
{
    uint16_t h = tensor_f32_to_f16((float)v);
    float f = (float)v;
    int32_t i = type == BLOB_F32 || type == BLOB_F16 ? 0 : (int32_t)v;
    uint8_t b = (uint8_t)i;

    memcpy(p,
           type == BLOB_F16   ? (void *)&h
           : type == BLOB_F32 ? (void *)&f
           : type == BLOB_S32 ? (void *)&i
                              : (void *)&b,
           blob_type_bytes(type));
}

static double get(uint32_t type, const uint8_t *p)
{
    uint16_t h;
    float f;
    int32_t i;

    if (type == BLOB_F16) {
        memcpy(&h, p, 2);
        return (double)tensor_f16_to_f32(h);
    }
    if (type == BLOB_U8 || type == BLOB_I8)
        return type == BLOB_U8 ? *p : (int8_t)*p;
    memcpy(&f, p, 4);
    memcpy(&i, p, 4);
    return type == BLOB_F32 ? (double)f : i;
}

/* First byte of element i behind the tensor's. */
static uint64_t byte_of(const blob_desc *d, uint64_t i)
{
    uint64_t at = 0;

    for (uint32_t k = 0; k < d->rank; i /= d->dims[k++])
        at += i % d->dims[k] * d->strides[k];
    return at;
}

typedef struct {
    uint8_t *bytes[BLOB_N_LOCATIONS];
} areas;

static bool is_out(const blob_buffer *f)
{
    return f->location == BLOB_BSS || f->location == BLOB_OUTPUT;
}

/* Constants alone, or inputs, too. */
static void make_areas(stage_rig *r, areas *m, bool all)
{
    for (uint32_t i = 0; i < BLOB_N_LOCATIONS; i++) {
        m->bytes[i] = malloc(r->places[i] + BEHIND);
        memset(m->bytes[i], FILL, r->places[i] + BEHIND);
    }
    for (uint32_t t = 0; t < r->s.n_buffers; t++) {
        const blob_buffer *f = &r->buffers[t];

        if ((is_out(f) && !r->shared[t]) || (!all && f->location != BLOB_CONST))
            continue;
        for (uint64_t i = 0; i < r->n[t]; i++)
            put(f->desc.type, r->v[t][i],
                m->bytes[f->location] + f->offset + byte_of(&f->desc, i));
    }
}

static void free_areas(areas *m)
{
    for (uint32_t i = 0; i < BLOB_N_LOCATIONS; i++)
        free(m->bytes[i]);
}

/* The blob, with constants as they are in m. */
static void finish_blob(stage_rig *r, areas *m, blob_io *io)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t n = r->places[i ? BLOB_OUTPUT : BLOB_INPUT] + BEHIND;

        io[i] = (blob_io){.desc = {.type = BLOB_U8,
                                   .order = 3,
                                   .rank = 1,
                                   .dims = {n},
                                   .strides = {1}}};
    }
    r->b.inputs = io;
    r->b.outputs = io + 1;
    r->b.n_inputs = r->b.n_outputs = 1;
    r->b.bss_size = r->places[BLOB_BSS] + BEHIND;
    r->b.constants = m->bytes[BLOB_CONST];
    r->b.n_constants = r->places[BLOB_CONST] + BEHIND;
}

/* The last part first. */
static void backwards(void *user, uint32_t n,
                      void (*part)(void *arg, uint32_t i), void *arg)
{
    (void)user;
    while (n--)
        part(arg, n);
}

/* Given up, when it has been asked so many times. */
static bool given_up(void *user)
{
    uint32_t *left = user;

    return !*left || !--*left;
}

enum { FORWARDS = -2, BACKWARDS = -1 }; /* else: given up then */

static void run_on(const native_op *op, areas *m, int how)
{
    uint32_t left = how < 0 ? UINT32_MAX : (uint32_t)how;
    const native_threads threads = {backwards, how < 0 ? NULL : given_up,
                                    &left};
    arena *a = arena_create(0);
    uint32_t n = native_n_operands(op);
    void **data = arena_array(a, void *, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        const blob_buffer *f = native_operand_at(op, i)->buffer;

        data[i] = m->bytes[f->location] + f->offset;
    }
    native_run(op, data, a, how == FORWARDS ? NULL : &threads);
    arena_destroy(a);
}

/* Values of outputs; of all other bytes of their memory, the pattern. */
static void read_outputs(stage_rig *r, areas *m)
{
    for (uint32_t t = 0; t < r->s.n_buffers; t++) {
        const blob_buffer *f = &r->buffers[t];
        uint32_t bytes = blob_type_bytes(f->desc.type);

        for (uint64_t i = 0; is_out(f) && !r->shared[t] && i < r->n[t]; i++) {
            uint8_t *p =
                m->bytes[f->location] + f->offset + byte_of(&f->desc, i);

            r->v[t][i] = get(f->desc.type, p);
            memset(p, FILL, bytes);
        }
    }
    for (uint32_t t = 0; t < r->s.n_buffers; t++)
        if (r->shared[t])
            memset(m->bytes[r->buffers[t].location] + r->buffers[t].offset,
                   FILL, blob_desc_span(&r->buffers[t].desc));
    for (uint32_t l = BLOB_OUTPUT; l <= BLOB_BSS; l++)
        for (uint32_t i = 0; l != BLOB_CONST && i < r->places[l] + BEHIND; i++)
            if (m->bytes[l][i] != FILL)
                ck_abort_msg("byte %u is written", i);
}

/* --- damaged records ----------------------------------------------------- */

static uint32_t odd_number(stage_rig *r, uint32_t was)
{
    static const uint32_t odd[] = {
        0,          1,          2,          3,          7,
        255,        65535,      0x3f000000, 0x7f7fffff, 0x7fffffff,
        0x80000000, 0xfffffffe, 0xffffffff};
    uint32_t k = unit_below(r, 2 + sizeof odd / sizeof *odd);

    return k == 0 ? was + 1 : k == 1 ? was - 1 : odd[k - 2];
}

/* A change that a record may have met on its way. */
static void damage(stage_rig *r, blob_stage *s, uint32_t *words,
                   blob_buffer *buffers)
{
    blob_buffer *f = &buffers[s->n_buffers ? unit_below(r, s->n_buffers) : 0];
    uint32_t d = unit_below(r, f->desc.rank ? f->desc.rank : 1);

    switch (unit_below(r, 8)) {
    case 0:
        f->desc.type = unit_below(r, BLOB_N_TYPES);
        break;
    case 1:
        f->location = unit_below(r, BLOB_N_LOCATIONS);
        break;
    case 2:
        f->desc.dims[d] = odd_number(r, f->desc.dims[d]);
        break;
    case 3: /* what is taken from one dim is given to another */
        f->desc.dims[d] = 1;
        break;
    case 4:
        s->n_buffers -= s->n_buffers > 0;
        break;
    case 5:
        f->desc.rank = unit_below(r, f->desc.rank + 1);
        f->desc.order =
            f->desc.rank ? f->desc.order & ((1u << 4 * f->desc.rank) - 1) : 0;
        break;
    default:
        if (s->n_params)
            d = unit_below(r, s->n_params);
        words[d] = odd_number(r, words[d]);
    }
}

static void random_bytes(stage_rig *r, areas *m)
{
    for (uint32_t i = 0; i < BLOB_N_LOCATIONS; i++)
        for (uint32_t k = 0; i != BLOB_CONST && k < r->places[i]; k++)
            m->bytes[i][k] = (uint8_t)unit_below(r, 256);
}

/* Records that are nearly right, and any bytes in memory: what can be made can
 * run, or be given up, whatever comes of it (a sanitizer looks on). */
static void shake(stage_rig *r)
{
    for (uint32_t k = 0; k < SHAKES; k++) {
        arena *a = arena_create(0);
        blob_stage s = r->s;
        uint32_t *words = arena_memdup(a, r->words, sizeof r->words);
        blob_buffer *buffers = arena_memdup(a, r->buffers, sizeof r->buffers);
        vpu_error err = {0};
        native_op *op;
        areas m;
        blob_io io[2];

        s.params = words;
        s.buffers = buffers;
        damage(r, &s, words, buffers);
        if (k & 1)
            damage(r, &s, words, buffers);
        make_areas(r, &m, true);
        finish_blob(r, &m, io);
        if (k & 2)
            random_bytes(r, &m);
        if (!native_make(&r->b, &s, a, &op, &err))
            run_on(op, &m, k & 4 ? FORWARDS : (int)(k % 8));
        else
            ck_assert_int_ne(err.msg[0], 0);
        free_areas(&m);
        arena_destroy(a);
    }
}

void unit_run(stage_rig *r)
{
    areas one, other;
    blob_io io[2];
    native_op *op;

    make_areas(r, &one, true);
    make_areas(r, &other, true);
    finish_blob(r, &one, io);
    if (native_make(&r->b, &r->s, r->a, &op, &r->err))
        ck_abort_msg("%s", r->err.msg);
    run_on(op, &one, FORWARDS);
    run_on(op, &other, BACKWARDS);
    for (uint32_t i = 0; i < BLOB_N_LOCATIONS; i++)
        ck_assert_int_eq(
            memcmp(one.bytes[i], other.bytes[i], r->places[i] + BEHIND), 0);
    read_outputs(r, &one);
    free_areas(&one);
    free_areas(&other);
    shake(r);
}

const native_op *unit_make(stage_rig *r)
{
    areas m;
    blob_io *io = arena_array(r->a, blob_io, 2);
    native_op *op;

    make_areas(r, &m, true);
    finish_blob(r, &m, io);
    if (native_make(&r->b, &r->s, r->a, &op, &r->err))
        ck_abort_msg("%s", r->err.msg);
    free_areas(&m);
    r->b.constants = NULL;
    return op;
}

void unit_give_up(stage_rig *r, uint32_t asked)
{
    areas m;
    blob_io io[2];
    native_op *op;

    make_areas(r, &m, true);
    finish_blob(r, &m, io);
    if (native_make(&r->b, &r->s, r->a, &op, &r->err))
        ck_abort_msg("%s", r->err.msg);
    run_on(op, &m, (int)asked);
    read_outputs(r, &m);
    free_areas(&m);
}

void unit_fails(stage_rig *r, vpu_status st, const char *text)
{
    areas m;
    blob_io io[2];
    native_op *op;

    make_areas(r, &m, false);
    finish_blob(r, &m, io);
    ck_assert_int_eq(native_make(&r->b, &r->s, r->a, &op, &r->err), st);
    if (!strstr(r->err.msg, text))
        ck_abort_msg("\"%s\" has no \"%s\"", r->err.msg, text);
    free_areas(&m);
}

/* --- comparing ----------------------------------------------------------- */

void unit_near(double got, double want, double more)
{
    double least = ldexp(1, -24), allowed = fabs(want) * ldexp(1, -11) + least;

    if (isnan(want) && isnan(got))
        return;
    if (fabs(want) > 65519)
        want = copysign(INFINITY, want);
    if (!(got == want || fabs(got - want) <= allowed * 1.001 + more))
        ck_abort_msg("%.9g, expected %.9g", got, want);
}

void unit_all_near(const stage_rig *r, uint32_t t, const double *want,
                   double more)
{
    for (uint64_t i = 0; i < r->n[t]; i++) {
        double allowed = fabs(want[i]) * ldexp(1, -11) + ldexp(1, -24);

        if (!(fabs(r->v[t][i] - want[i]) <= allowed * 1.001 + more))
            ck_abort_msg("element %llu is %.9g, expected %.9g",
                         (unsigned long long)i, r->v[t][i], want[i]);
    }
}
