/* Values of outputs: their range, and what is no number any more. */
#include "runtime/report/outputs.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/json/jsontext.h"
#include "runtime/report/report_priv.h"

enum { HALF_VALUES = 1 << 16 };

/* --- counting ------------------------------------------------------------- */

typedef struct {
    report_values *v;
    double sum;
    uint64_t finite;
} counting;

static void begin(counting *c, report_values *v)
{
    *v = (report_values){.min = INFINITY, .max = -INFINITY};
    *c = (counting){.v = v};
}

/* So many elements of a finite value. */
static void add_finite(counting *c, double x, uint64_t times)
{
    c->finite += times;
    c->sum += x * (double)times;
    c->v->zero += x == 0 ? times : 0;
    c->v->min = x < c->v->min ? x : c->v->min;
    c->v->max = x > c->v->max ? x : c->v->max;
}

static void end(counting *c)
{
    c->v->finite = c->finite;
    c->v->mean = c->finite ? c->sum / (double)c->finite : 0;
}

/* Each of the 65,536 halves is looked at once, however many there are of it. */
static void of_halves(const uint16_t *x, uint64_t n, counting *c)
{
    static const uint16_t largest = 0x7bff, infinite = 0x7c00, normal = 0x400;
    arena *a = arena_create(0);
    uint64_t *times = arena_array(a, uint64_t, HALF_VALUES);

    for (uint64_t i = 0; i < n; i++)
        times[x[i]]++;
    for (uint32_t h = 0; h < HALF_VALUES; h++) {
        uint32_t size = h & 0x7fff;

        if (!times[h])
            continue;
        if (size > infinite) {
            c->v->nan += times[h];
        } else if (size == infinite) {
            c->v->inf += times[h];
        } else {
            add_finite(c, (double)tensor_f16_to_f32((uint16_t)h), times[h]);
            c->v->denormal += size && size < normal ? times[h] : 0;
            c->v->saturated += size == largest ? times[h] : 0;
        }
    }
    arena_destroy(a);
}

static void of_floats(const float *x, uint64_t n, counting *c)
{
    for (uint64_t i = 0; i < n; i++) {
        int kind = fpclassify(x[i]);

        if (kind == FP_NAN) {
            c->v->nan++;
        } else if (kind == FP_INFINITE) {
            c->v->inf++;
        } else {
            add_finite(c, (double)x[i], 1);
            c->v->denormal += kind == FP_SUBNORMAL;
            c->v->saturated += fabsf(x[i]) == FLT_MAX;
        }
    }
}

#define OF_INTEGERS(name, type, least, most)                      \
    static void name(const type *x, uint64_t n, counting *c)      \
    {                                                             \
        for (uint64_t i = 0; i < n; i++) {                        \
            add_finite(c, (double)x[i], 1);                       \
            c->v->saturated += x[i] == (least) || x[i] == (most); \
        }                                                         \
    }
/* Zero is no end of a range for numbers without sign: images have it. */
OF_INTEGERS(of_u8, uint8_t, UINT8_MAX, UINT8_MAX)
OF_INTEGERS(of_i8, int8_t, INT8_MIN, INT8_MAX)
OF_INTEGERS(of_i16, int16_t, INT16_MIN, INT16_MAX)
OF_INTEGERS(of_u16, uint16_t, UINT16_MAX, UINT16_MAX)
OF_INTEGERS(of_i32, int32_t, INT32_MIN, INT32_MAX)
OF_INTEGERS(of_i64, int64_t, INT64_MIN, INT64_MAX)

void report_values_of(tensor_dtype type, const void *data, uint64_t n,
                      report_values *out)
{
    counting c;

    begin(&c, out);
    switch (type) {
    case TENSOR_F16:
        of_halves(data, n, &c);
        break;
    case TENSOR_F32:
        of_floats(data, n, &c);
        break;
    case TENSOR_U8:
        of_u8(data, n, &c);
        break;
    case TENSOR_I8:
        of_i8(data, n, &c);
        break;
    case TENSOR_I16:
        of_i16(data, n, &c);
        break;
    case TENSOR_U16:
        of_u16(data, n, &c);
        break;
    case TENSOR_I32:
        of_i32(data, n, &c);
        break;
    case TENSOR_I64:
        of_i64(data, n, &c);
        break;
    case TENSOR_N_DTYPES:
        break;
    }
    end(&c);
}

/* Is any element NaN or infinite? The loops have no branches, so that a large
 * tensor costs little more than reading it. */
static bool has_special(tensor_dtype type, const void *data, uint64_t n)
{
    uint32_t any = 0;

    if (type == TENSOR_F16) {
        const uint16_t *x = data;

        for (uint64_t i = 0; i < n; i++)
            any |= (x[i] & 0x7c00u) == 0x7c00u;
    } else if (type == TENSOR_F32) {
        const uint32_t *x = data;

        for (uint64_t i = 0; i < n; i++)
            any |= (x[i] & 0x7f800000u) == 0x7f800000u;
    }
    return any != 0;
}

/* --- telling -------------------------------------------------------------- */

static uint64_t elements_of(const graph_buffer *b)
{
    return b->bytes / tensor_dtype_bytes(b->desc.dtype);
}

static bool is_output(const graph_buffer *b)
{
    return b->role == GRAPH_OUTPUT && !b->untyped;
}

static bool buffer_has_special(const report_source *r, uint32_t i)
{
    const graph_buffer *b = &r->graph->buffers[i];

    return !b->untyped && has_special(b->desc.dtype, backend_buffer(r->run, i),
                                      elements_of(b));
}

/* Where they come from: the first launch that writes some. Where buffers share
 * memory what was read is gone, and nobody knows. */
static void add_origin(const report_source *r, str *out)
{
    const graph *g = r->graph;

    for (uint32_t k = 0; k < g->n_launches && !g->shared_bytes; k++) {
        const graph_launch *l = &g->launches[k];
        bool reads = false, writes = false;

        for (uint32_t i = 0; i < l->n_args; i++) {
            const graph_arg *x = &l->args[i];
            bool some =
                x->kind == GRAPH_ARG_BUFFER && buffer_has_special(r, x->buffer);

            reads |= some && !x->written;
            writes |= some && x->written;
        }
        if (!writes)
            continue;
        if (reads)
            str_printf(out, ", some of them in what %s reads", l->name);
        else
            str_printf(out,
                       ", made of finite ones by %s: vpu check --checks "
                       "half,nan finds the line",
                       l->name);
        return;
    }
}

void report_outputs_text(const report_source *r, str *out)
{
    const graph *g = r->graph;

    for (uint32_t i = 0; i < g->n_buffers; i++) {
        const graph_buffer *b = &g->buffers[i];
        report_values v;

        if (!is_output(b) || !buffer_has_special(r, i))
            continue;
        report_values_of(b->desc.dtype, backend_buffer(r->run, i),
                         elements_of(b), &v);
        str_printf(out, "%s: %llu NaN, %llu infinite of %llu elements", b->name,
                   (unsigned long long)v.nan, (unsigned long long)v.inf,
                   (unsigned long long)elements_of(b));
        add_origin(r, out);
        str_puts(out, "\n");
    }
}

static json_t *u64(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static json_t *values_json(const report_source *r, uint32_t i)
{
    const graph_buffer *b = &r->graph->buffers[i];
    json_t *o = json_object();
    report_values v;

    report_values_of(b->desc.dtype, backend_buffer(r->run, i), elements_of(b),
                     &v);
    json_object_set_new(o, "name", jsontext_string(b->name));
    json_object_set_new(o, "type",
                        json_string(tensor_dtype_name(b->desc.dtype)));
    json_object_set_new(o, "elements", u64(elements_of(b)));
    json_object_set_new(o, "min", v.finite ? json_real(v.min) : json_null());
    json_object_set_new(o, "max", v.finite ? json_real(v.max) : json_null());
    json_object_set_new(o, "mean", v.finite ? json_real(v.mean) : json_null());
    json_object_set_new(o, "nan", u64(v.nan));
    json_object_set_new(o, "infinite", u64(v.inf));
    json_object_set_new(o, "denormal", u64(v.denormal));
    json_object_set_new(o, "zero", u64(v.zero));
    json_object_set_new(o, "saturated", u64(v.saturated));
    return o;
}

void report_outputs_json(const report_source *r, json_t *o)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < r->graph->n_buffers; i++)
        if (is_output(&r->graph->buffers[i]))
            json_array_append_new(list, values_json(r, i));
    json_object_set_new(o, "outputs", list);
}
