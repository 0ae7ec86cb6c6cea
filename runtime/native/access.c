/* Elements of tensors as arrays without gaps, and back. */
#include <math.h>
#include <string.h>

#include "runtime/graph/tensor.h"
#include "runtime/native/native_priv.h"

/* --- one element --------------------------------------------------------- */

float native_get(uint32_t type, const uint8_t *p)
{
    uint16_t h;
    int32_t i;
    float f;

    switch (type) {
    case BLOB_F16:
        memcpy(&h, p, 2);
        return tensor_f16_to_f32(h);
    case BLOB_S32:
        memcpy(&i, p, 4);
        return (float)i;
    case BLOB_F32:
        memcpy(&f, p, 4);
        return f;
    case BLOB_I8:
        return (int8_t)*p;
    default:
        return *p;
    }
}

/* To integers: towards zero, held in range [?]. */
static int32_t whole(float v, int32_t least, int32_t most)
{
    return isnan(v)            ? 0
           : v <= (float)least ? least
           : v >= (float)most  ? most
                               : (int32_t)v;
}

static int32_t held(int64_t v, int32_t least, int32_t most)
{
    return (int32_t)(v < least ? least : v > most ? most : v);
}

void native_put(uint32_t type, float v, uint8_t *p)
{
    uint16_t h;
    int32_t i;

    switch (type) {
    case BLOB_F16:
        h = tensor_f32_to_f16(v);
        memcpy(p, &h, 2);
        break;
    case BLOB_S32:
        i = whole(v, INT32_MIN, INT32_MAX);
        memcpy(p, &i, 4);
        break;
    case BLOB_F32:
        memcpy(p, &v, 4);
        break;
    case BLOB_I8:
        *p = (uint8_t)whole(v, -128, 127);
        break;
    default:
        *p = (uint8_t)whole(v, 0, 255);
    }
}

static int32_t get_int(uint32_t type, const uint8_t *p)
{
    int32_t i;

    if (type == BLOB_U8)
        return *p;
    if (type == BLOB_I8)
        return (int8_t)*p;
    if (type != BLOB_S32)
        return whole(native_get(type, p), INT32_MIN, INT32_MAX);
    memcpy(&i, p, 4);
    return i;
}

static void put_int(uint32_t type, int32_t v, uint8_t *p)
{
    if (type == BLOB_S32)
        memcpy(p, &v, 4);
    else if (type == BLOB_U8)
        *p = (uint8_t)held(v, 0, 255);
    else if (type == BLOB_I8)
        *p = (uint8_t)held(v, -128, 127);
    else
        native_put(type, (float)v, p);
}

/* --- rows ---------------------------------------------------------------- */

uint8_t *native_data(const native_job *j, uint32_t i)
{
    return j->data[native_of(j, i)->number];
}

float *native_room(const native_job *j, uint64_t n)
{
    return arena_push(j->arena, n, sizeof(float), 64);
}

enum { PART = 32768 }; /* elements of a part, about */

/* Which elements a walk goes over, and in what order: dims from the innermost
 * on, with strides in the tensor. */
typedef struct {
    uint32_t rank;
    uint64_t dims[BLOB_MAX_DIMS], strides[BLOB_MAX_DIMS];
} walk;

/* A dim more; one that lies behind the last without a gap counts with it. */
static void extend(walk *w, uint64_t n, uint64_t stride)
{
    uint32_t last = w->rank - 1;

    if (n == 1)
        return;
    if (w->dims[last] == 1) {
        w->dims[last] = n;
        w->strides[last] = stride;
    } else if (w->dims[last] * w->strides[last] == stride) {
        w->dims[last] *= n;
    } else {
        w->dims[w->rank] = n;
        w->strides[w->rank++] = stride;
    }
}

/* In memory order. */
static walk in_order(const native_tensor *t)
{
    walk w = {1, {1}, {blob_type_bytes(t->type)}};

    for (uint32_t i = 0; i < t->rank; i++)
        extend(&w, t->dims[i], t->strides[i]);
    return w;
}

static walk in_planes(const native_tensor *t)
{
    static const uint32_t letters[] = {NATIVE_W, NATIVE_H, NATIVE_D, NATIVE_C,
                                       NATIVE_N};
    walk w = {1, {1}, {blob_type_bytes(t->type)}};

    for (uint32_t i = 0; i < 5; i++) {
        uint32_t d = native_dim(t, letters[i]);

        if (d != NATIVE_NONE)
            extend(&w, t->dims[d], t->strides[d]);
    }
    return w;
}

typedef void row_fn(uint32_t type, uint8_t *at, uint64_t stride, void *values,
                    uint64_t n);

/* A walk over all of a tensor, and the values it meets, one behind the other.
 */
typedef struct {
    walk w;
    uint8_t *data;
    uint32_t type;
    row_fn *row;
    uint8_t *values;
    uint64_t inner; /* elements of an index of the slowest dim */
} passage;

/* Indices [first, end) of the slowest dim. */
static void pass_part(void *arg, uint64_t first, uint64_t end)
{
    const passage *g = arg;
    const walk *w = &g->w;
    uint32_t last = w->rank - 1, d;
    uint64_t at[BLOB_MAX_DIMS] = {0}, n = last ? w->dims[0] : end - first;
    uint8_t *values = g->values + 4 * g->inner * first;

    at[last] = first;
    do {
        uint8_t *p = g->data;

        for (d = 0; d < w->rank; d++)
            p += at[d] * w->strides[d];
        g->row(g->type, p, w->strides[0], values, n);
        values += 4 * n;
        for (d = 1; d < last && ++at[d] == w->dims[d]; d++)
            at[d] = 0;
    } while (d < last || (last && d == last && ++at[last] < end));
}

static void over(const native_job *j, const walk *w, uint8_t *data,
                 uint32_t type, row_fn *row, void *values)
{
    passage g = {*w, data, type, row, values, 1};

    for (uint32_t d = 0; d + 1 < w->rank; d++)
        g.inner *= w->dims[d];
    native_ranges(j, w->dims[w->rank - 1], PART / g.inner + 1, pass_part, &g);
}

static void load_row(uint32_t type, uint8_t *p, uint64_t stride, void *values,
                     uint64_t n)
{
    float *v = values;

    if (type == BLOB_F16 && stride == 2) {
        native_from_half((const uint16_t *)(const void *)p, v, n);
        return;
    }
    for (uint64_t i = 0; i < n; i++, p += stride)
        v[i] = native_get(type, p);
}

static void store_row(uint32_t type, uint8_t *p, uint64_t stride, void *values,
                      uint64_t n)
{
    const float *v = values;

    if (type == BLOB_F16 && stride == 2) {
        native_to_half(v, (uint16_t *)(void *)p, n);
        return;
    }
    for (uint64_t i = 0; i < n; i++, p += stride)
        native_put(type, v[i], p);
}

static void load_int_row(uint32_t type, uint8_t *p, uint64_t stride,
                         void *values, uint64_t n)
{
    int32_t *v = values;

    for (uint64_t i = 0; i < n; i++, p += stride)
        v[i] = get_int(type, p);
}

static void store_int_row(uint32_t type, uint8_t *p, uint64_t stride,
                          void *values, uint64_t n)
{
    const int32_t *v = values;

    for (uint64_t i = 0; i < n; i++, p += stride)
        put_int(type, v[i], p);
}

void native_read(uint32_t type, const uint8_t *at, uint64_t stride, float *v,
                 uint64_t n)
{
    load_row(type, (uint8_t *)(uintptr_t)at, stride, v, n);
}

void native_write(uint32_t type, uint8_t *at, uint64_t stride, const float *v,
                  uint64_t n)
{
    store_row(type, at, stride, (void *)(uintptr_t)v, n);
}

void native_read_int(uint32_t type, const uint8_t *at, uint64_t stride,
                     int32_t *v, uint64_t n)
{
    load_int_row(type, (uint8_t *)(uintptr_t)at, stride, v, n);
}

void native_write_int(uint32_t type, uint8_t *at, uint64_t stride,
                      const int32_t *v, uint64_t n)
{
    store_int_row(type, at, stride, (void *)(uintptr_t)v, n);
}

/* --- tensors ------------------------------------------------------------- */

static void *load(const native_job *j, uint32_t i, walk w, row_fn *row)
{
    const native_tensor *t = native_of(j, i);
    void *v = native_room(j, t->n);

    over(j, &w, native_data(j, i), t->type, row, v);
    return v;
}

static void store(const native_job *j, uint32_t i, walk w, row_fn *row,
                  const void *v)
{
    const native_tensor *t = native_of(j, i);

    over(j, &w, native_data(j, i), t->type, row, (void *)(uintptr_t)v);
}

float *native_load(const native_job *j, uint32_t i)
{
    const native_tensor *t = native_of(j, i);

    return t->present ? load(j, i, in_order(t), load_row) : NULL;
}

int32_t *native_load_int(const native_job *j, uint32_t i)
{
    const native_tensor *t = native_of(j, i);

    return t->present ? load(j, i, in_order(t), load_int_row) : NULL;
}

void native_store(const native_job *j, uint32_t i, const float *v)
{
    store(j, i, in_order(native_of(j, i)), store_row, v);
}

void native_store_int(const native_job *j, uint32_t i, const int32_t *v)
{
    store(j, i, in_order(native_of(j, i)), store_int_row, v);
}

uint32_t *native_load_cells(const native_job *j, uint32_t i)
{
    uint32_t type = native_of(j, i)->type;

    return type == BLOB_F16 || type == BLOB_F32
               ? (uint32_t *)(void *)native_load(j, i)
               : (uint32_t *)native_load_int(j, i);
}

void native_store_cells(const native_job *j, uint32_t i, const uint32_t *v)
{
    uint32_t type = native_of(j, i)->type;

    if (type == BLOB_F16 || type == BLOB_F32)
        native_store(j, i, (const float *)(const void *)v);
    else
        native_store_int(j, i, (const int32_t *)v);
}

native_shape native_shape_of(const native_tensor *t)
{
    return (native_shape){native_size(t, NATIVE_N), native_size(t, NATIVE_C),
                          native_size(t, NATIVE_D), native_size(t, NATIVE_H),
                          native_size(t, NATIVE_W)};
}

float *native_load_planes(const native_job *j, uint32_t i)
{
    const native_tensor *t = native_of(j, i);

    return t->present ? load(j, i, in_planes(t), load_row) : NULL;
}

void native_store_planes(const native_job *j, uint32_t i, const float *v)
{
    store(j, i, in_planes(native_of(j, i)), store_row, v);
}

/* --- threads ------------------------------------------------------------- */

void native_each(const native_job *j, uint32_t n,
                 void (*part)(void *arg, uint32_t k), void *arg)
{
    if (j->threads && n > 1) {
        j->threads->each(j->threads->user, n, part, arg);
        return;
    }
    for (uint32_t k = 0; k < n && !native_stopped(j); k++)
        part(arg, k);
}

typedef struct {
    void (*part)(void *arg, uint64_t first, uint64_t end);
    void *arg;
    uint64_t n, grain;
} ranges;

static void run_range(void *arg, uint32_t k)
{
    const ranges *r = arg;
    uint64_t first = k * r->grain;

    r->part(r->arg, first, r->n - first < r->grain ? r->n : first + r->grain);
}

void native_ranges(const native_job *j, uint64_t n, uint64_t grain,
                   void (*part)(void *arg, uint64_t first, uint64_t end),
                   void *arg)
{
    ranges r = {part, arg, n, grain};

    native_each(j, (uint32_t)((n + grain - 1) / grain), run_range, &r);
}
