/* Functions of one element, some with a number for each channel. */
#include "runtime/graph/tensor.h"
#include "runtime/native/native_priv.h"

enum {
    RELU = 6,
    BIAS = 9,
    PRELU = 10,
    SCALE = 15,
    SIGMOID = 20,
    TANH = 21,
    ELU = 23,
    POWER = 26,
    LEAKY_RELU = 44,
    BIAS_RELU = 45,
    BIAS_LEAKY_RELU = 46,
    SCALE_SHIFT = 47,
    CLAMP = 57,
    LOG = 92,
    EXP = 101,
    FLOOR = 102,
    ERF = 110,
    MISH = 131,
    GELU = 132,
    SOFT_PLUS = 134,
    SWISH = 135,
    H_SWISH = 137,
    CEILING = 138,
    ROUND = 140,
    ABS = 142,
    HALVES = 65536,
    GRAIN = 16384
};

typedef struct {
    float a, b, c;
} numbers;

typedef float function(const numbers *p, float x);

/* --- functions ----------------------------------------------------------- */

static float relu(const numbers *p, float x)
{
    return x > 0 ? x : p->a != 0 ? x * p->a : 0;
}

static float clamp(const numbers *p, float x)
{
    return native_clamp(x, p->a, p->b);
}

static float power(const numbers *p, float x)
{
    float base = p->a + p->b * x;

    if (p->c == 1)
        return base;
    if (p->c == 2)
        return base * base;
    return (float)pow((double)base, (double)p->c);
}

static float elu(const numbers *p, float x)
{
    return x >= 0 ? x : (float)((double)p->a * expm1((double)x));
}

static float sigmoid(const numbers *p, float x)
{
    (void)p;
    return native_sigmoid(x);
}

static float tangent(const numbers *p, float x)
{
    (void)p;
    return (float)tanh((double)x);
}

static float exponent(const numbers *p, float x)
{
    (void)p;
    return native_exp(x);
}

static float logarithm(const numbers *p, float x)
{
    (void)p;
    return (float)log((double)x);
}

static float error(const numbers *p, float x)
{
    (void)p;
    return (float)erf((double)x);
}

static float down(const numbers *p, float x)
{
    (void)p;
    return floorf(x);
}

static float up(const numbers *p, float x)
{
    (void)p;
    return ceilf(x);
}

static float even(const numbers *p, float x)
{
    (void)p;
    return rintf(x);
}

static float away(const numbers *p, float x)
{
    (void)p;
    return roundf(x);
}

/* ln(1 + e^x), without an overflow on the way. */
static double plus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static float soft_plus(const numbers *p, float x)
{
    (void)p;
    return (float)plus((double)x);
}

static float mish(const numbers *p, float x)
{
    (void)p;
    return (float)((double)x * tanh(plus((double)x)));
}

static float gelu(const numbers *p, float x)
{
    (void)p;
    return (float)(0.5 * (double)x *
                   (1 + erf((double)x * 0.70710678118654752)));
}

static float swish(const numbers *p, float x)
{
    return (float)((double)x / (1 + exp(-(double)p->a * (double)x)));
}

static float h_swish(const numbers *p, float x)
{
    (void)p;
    return x * native_clamp(x + 3, 0, 6) / 6;
}

static float absolute(const numbers *p, float x)
{
    (void)p;
    return fabsf(x);
}

typedef struct {
    function *of;
    numbers p;
    native_rows rows;
} postop;

static const uint32_t places[] = {1, 0};

static function *function_of(uint32_t type)
{
    static const struct {
        uint32_t type;
        function *of;
    } rows[] = {{RELU, relu},    {LEAKY_RELU, relu}, {CLAMP, clamp},
                {POWER, power},  {ELU, elu},         {SIGMOID, sigmoid},
                {TANH, tangent}, {EXP, exponent},    {LOG, logarithm},
                {ERF, error},    {FLOOR, down},      {CEILING, up},
                {MISH, mish},    {GELU, gelu},       {SOFT_PLUS, soft_plus},
                {SWISH, swish},  {H_SWISH, h_swish}, {ABS, absolute}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type)
            return rows[i].of;
    return NULL;
}

void native_make_postop(native_maker *m)
{
    postop *s = arena_new(m->arena, postop);

    m->op->state = s;
    native_need_halves(m);
    native_need_same(m, 0, 1);
    native_rows_make(m, places, 2, &s->rows);
    s->of = function_of(m->op->type);
    switch (m->op->type) {
    case RELU:
    case LEAKY_RELU:
        native_u32(m, "hasBias", 0, 0);
        s->p.a = native_f32(m, "the slope");
        break;
    case CLAMP:
        s->p.a = native_limit(m, "min");
        s->p.b = native_limit(m, "max");
        break;
    case POWER:
        s->p.a = native_f32(m, "bias");
        s->p.b = native_f32(m, "scale");
        s->p.c = native_f32(m, "power");
        break;
    case ELU:
        s->p.a = native_f32(m, "alpha");
        break;
    case SWISH:
        s->p.a = native_f32(m, "beta");
        break;
    case ROUND:
        s->of = native_u32(m, "mode", 0, 1) ? away : even;
    }
}

/* --- running ------------------------------------------------------------- */

typedef struct {
    const postop *s;
    float *table; /* by the bits of a half; NULL: none */
} mapping;

static void fill(void *arg, uint64_t first, uint64_t end)
{
    const mapping *g = arg;

    for (uint64_t k = first; k < end; k++)
        g->table[k] = g->s->of(&g->s->p, tensor_f16_to_f32((uint16_t)k));
}

static void map(void *arg, uint8_t *const *at, const uint64_t *steps,
                uint64_t n)
{
    const mapping *g = arg;
    numbers p = g->s->p;
    float v[NATIVE_PIECE];
    uint16_t bits[NATIVE_PIECE];

    native_read(BLOB_F16, at[1], steps[1], v, n);
    if (g->table)
        native_to_half(v, bits, n);
    for (uint64_t k = 0; k < n && g->table; k++)
        v[k] = g->table[bits[k]];
    for (uint64_t k = 0; k < n && g->s->of == relu; k++)
        v[k] = relu(&p, v[k]);
    for (uint64_t k = 0; k < n && !g->table && g->s->of != relu; k++)
        v[k] = g->s->of(&p, v[k]);
    native_write(BLOB_F16, at[0], steps[0], v, n);
}

void native_run_postop(const native_job *j)
{
    const postop *s = j->op->state;
    mapping g = {.s = s};

    /* There are only so many halves: of many elements, each is looked up. */
    if (s->rows.total > HALVES && s->of != relu && s->of != clamp) {
        g.table = native_room(j, HALVES);
        native_ranges(j, HALVES, GRAIN, fill, &g);
    }
    native_rows_run(j, &s->rows, places, map, &g);
}

/* --- with a number for each channel -------------------------------------- */

typedef struct {
    bool activates;
    float slope;
} channelwise;

void native_make_channelwise(native_maker *m)
{
    channelwise *s = arena_new(m->arena, channelwise);
    uint32_t type = m->op->type;

    m->op->state = s;
    native_need_halves(m);
    native_need_same(m, 0, 1);
    for (uint32_t i = 2; i < m->op->n_tensors; i++)
        native_need_elements(m, i, native_size(native_at(m, 0), NATIVE_C));
    s->activates = type == BIAS_RELU || type == BIAS_LEAKY_RELU;
    if (s->activates) {
        native_u32(m, "hasBias", 1, 1);
        s->slope = native_f32(m, "the slope");
    }
}

typedef struct {
    float *v;
    const float *scales, *biases, *slopes;
    uint64_t inner;
    uint32_t channels;
    const channelwise *s;
} channels;

static float of_channel(const channels *g, float x, uint32_t c)
{
    numbers slope = {g->slopes ? g->slopes[c] : g->s->slope, 0, 0};

    if (g->scales)
        x *= g->scales[c];
    if (g->biases)
        x += g->biases[c];
    return g->slopes || g->s->activates ? relu(&slope, x) : x;
}

static void map_channels(void *arg, uint64_t first, uint64_t end)
{
    const channels *g = arg;
    uint64_t left = g->inner - first % g->inner;
    uint32_t c = (uint32_t)(first / g->inner % g->channels);

    for (uint64_t k = first; k < end; k++) {
        g->v[k] = of_channel(g, g->v[k], c);
        if (--left == 0) {
            left = g->inner;
            c = c + 1 == g->channels ? 0 : c + 1;
        }
    }
}

void native_run_channelwise(const native_job *j)
{
    const native_tensor *t = native_of(j, 0);
    uint32_t dim = native_dim(t, NATIVE_C), type = j->op->type;
    const float *extra = native_load(j, 2);
    channels g = {.v = native_load(j, 0),
                  .inner = dim == NATIVE_NONE ? t->n : native_inner(t, dim),
                  .channels = native_size(t, NATIVE_C),
                  .s = j->op->state};

    if (type == PRELU)
        g.slopes = extra;
    else if (type == SCALE || type == SCALE_SHIFT)
        g.scales = extra;
    else
        g.biases = extra;
    if (type == SCALE_SHIFT)
        g.biases = native_load(j, 3);
    native_ranges(j, t->n, GRAIN, map_channels, &g);
    native_store(j, 1, g.v);
}

/* --- relu of a tensor and of its negative -------------------------------- */

typedef struct {
    uint32_t axis;
    float slope;
} both;

void native_make_screlu(native_maker *m)
{
    const native_tensor *in = native_at(m, 0), *out = native_at(m, 1);
    both *s = arena_new(m->arena, both);

    m->op->state = s;
    native_need_halves(m);
    s->slope = native_f32(m, "the slope");
    s->axis = native_axis(m, "the axis", 0);
    native_need_rank(m, 0, 1, BLOB_MAX_DIMS);
    native_need_rank(m, 1, in->rank, in->rank);
    for (uint32_t d = 0; d < in->rank && !m->st; d++)
        if (out->dims[d] != (d == s->axis ? 2 : 1) * (uint64_t)in->dims[d])
            native_bad(m, "dim %u of the output is %u, of the input %u", d,
                       out->dims[d], in->dims[d]);
    for (uint32_t i = 2; i < m->op->n_tensors && !m->st; i++)
        if (native_at(m, i)->present)
            native_need_elements(m, i, out->dims[s->axis]);
}

void native_run_screlu(const native_job *j)
{
    const both *s = j->op->state;
    const native_tensor *in = native_of(j, 0), *out = native_of(j, 1);
    const float *x = native_load(j, 0), *scales = native_load(j, 2);
    const float *biases = native_load(j, 3);
    uint64_t inner = native_inner(in, s->axis), n = in->dims[s->axis];
    numbers slope = {s->slope, 0, 0};
    float *v = native_room(j, out->n);

    for (uint64_t k = 0; k < out->n; k++) {
        uint64_t at = k / inner % (2 * n), outer = k / inner / (2 * n);
        float of = x[(outer * n + at % n) * inner + k % inner];

        of = at < n ? of : -of;
        if (scales)
            of *= scales[at];
        if (biases)
            of += biases[at];
        v[k] = relu(&slope, of);
    }
    native_store(j, 1, v);
}
