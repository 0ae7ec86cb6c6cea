/* Operations on two tensors, element by element, of which either may repeat. */
#include "runtime/native/native_priv.h"

enum {
    SUM = 12,
    PROD = 13,
    MAX = 14,
    DIV = 75,
    MIN = 76,
    SQUARED_DIFF = 77,
    EQUAL = 78,
    NOT_EQUAL = 79,
    GREATER = 80,
    GREATER_EQUAL = 81,
    LESS = 82,
    LESS_EQUAL = 83,
    NOT = 84,
    AND = 85,
    OR = 86,
    XOR = 87,
    POW = 88,
    FLOOR_MOD = 89,
    SELECT = 90,
    /* activations that are merged */
    RELU = 6,
    LEAKY_RELU = 44,
    CLAMP = 57,
    N_INPUTS = 3
};

typedef struct {
    bool whole;    /* computed in integers */
    bool selects;  /* the mask's type says nothing about the others' */
    int32_t after; /* the merged activation */
    float a, b, slope, least, most;
    int32_t int_a, int_b, int_slope, int_least, int_most;
    native_rows rows;
} eltwise;

/* Places in the record of the result and the inputs. */
static const uint32_t places[] = {1, 0, 2, 3};

static uint32_t place(uint32_t k)
{
    return places[1 + k];
}

/* --- making -------------------------------------------------------------- */

static bool gives_flags(uint32_t type)
{
    return type >= EQUAL && type <= XOR;
}

static void check_types(native_maker *m, eltwise *s)
{
    const uint32_t both = NATIVE_TYPE(BLOB_F16) | NATIVE_TYPE(BLOB_S32);
    uint32_t first = native_at(m, 0)->type;

    s->selects = m->op->type == SELECT;
    s->whole =
        s->selects ? native_at(m, 1)->type == BLOB_S32 : first == BLOB_S32;
    native_need_type(m, 0, both);
    if (s->selects)
        first = native_at(m, 2)->type;
    for (uint32_t k = s->selects ? 1 : 0; k < N_INPUTS; k++)
        if (native_at(m, place(k))->present)
            native_need_type(m, place(k), NATIVE_TYPE(first));
    /* Comparisons of halves may give integers. */
    native_need_type(m, 1,
                     gives_flags(m->op->type) ? both : NATIVE_TYPE(first));
}

static void read_params(native_maker *m, eltwise *s)
{
    bool whole = native_at(m, 0)->type == BLOB_S32;

    if (whole) {
        s->int_a = native_i32(m, "coeff1", INT32_MIN, INT32_MAX);
        s->int_b = native_i32(m, "coeff2", INT32_MIN, INT32_MAX);
    } else {
        s->a = native_f32(m, "coeff1");
        s->b = native_f32(m, "coeff2");
    }
    s->after = native_i32(m, "the operation behind", INT32_MIN, INT32_MAX);
    if (s->after >= 0 && s->after != RELU && s->after != LEAKY_RELU &&
        s->after != CLAMP)
        native_refuse(m, "stage %d merged behind it", s->after);
    if (whole) {
        s->int_slope = native_i32(m, "the slope", INT32_MIN, INT32_MAX);
        s->int_least = native_i32(m, "min", INT32_MIN, INT32_MAX);
        s->int_most = native_i32(m, "max", INT32_MIN, INT32_MAX);
    } else {
        s->slope = native_f32(m, "the slope");
        s->least = native_limit(m, "min");
        s->most = native_limit(m, "max");
    }
}

void native_make_eltwise(native_maker *m)
{
    eltwise *s = arena_new(m->arena, eltwise);
    uint32_t n = m->op->type == NOT ? 1 : m->op->type == SELECT ? 3 : 2;

    m->op->state = s;
    for (uint32_t k = 0; k < N_INPUTS; k++)
        if ((k < n) != native_at(m, place(k))->present)
            native_bad(m, "input %u is %s", k, k < n ? "absent" : "there");
    check_types(m, s);
    read_params(m, s);
    native_rows_make(m, places, 1 + N_INPUTS, &s->rows);
}

/* --- values -------------------------------------------------------------- */

static float floor_mod(float a, float b)
{
    return a - b * floorf(a / b);
}

/* Rows: `out` of n elements, inputs at steps of 0 or 1. */
#define ROW(value)                                       \
    for (uint64_t i = 0; i < n; i++, p += ps, q += qs) { \
        float a = *p, b = *q;                            \
        (void)a;                                         \
        (void)b;                                         \
        out[i] = (float)(value);                         \
    }                                                    \
    break

static void float_row(uint32_t type, const eltwise *s, uint64_t n, float *out,
                      const float *p, uint64_t ps, const float *q, uint64_t qs)
{
    switch (type) {
    case SUM:
        if (s->a == 1 && s->b == 1) {
            ROW(a + b);
        }
        ROW(s->a * a + s->b * b);
    case PROD:
        ROW(a * b);
    case MAX:
        ROW(a > b ? a : b);
    case DIV:
        ROW(a / b);
    case MIN:
        ROW(a < b ? a : b);
    case SQUARED_DIFF:
        ROW((a - b) * (a - b));
    case EQUAL:
        ROW(a == b);
    case NOT_EQUAL:
        ROW(a != b);
    case GREATER:
        ROW(a > b);
    case GREATER_EQUAL:
        ROW(a >= b);
    case LESS:
        ROW(a < b);
    case LESS_EQUAL:
        ROW(a <= b);
    case NOT:
        ROW(a == 0);
    case AND:
        ROW(a != 0 && b != 0);
    case OR:
        ROW(a != 0 || b != 0);
    case XOR:
        ROW((a != 0) != (b != 0));
    case POW:
        ROW(pow((double)a, (double)b));
    case FLOOR_MOD:
        ROW(floor_mod(a, b));
    }
}

/* Of 64 bits, of which the low half counts. */
static int64_t whole_value(uint32_t type, const eltwise *s, int64_t a,
                           int64_t b)
{
    switch (type) {
    case SUM:
        return (int64_t)((uint64_t)(s->int_a * a) + (uint64_t)(s->int_b * b));
    case PROD:
        return a * b;
    case MAX:
        return a > b ? a : b;
    case DIV: /* [?] by 0 */
        return b ? a / b : 0;
    case MIN:
        return a < b ? a : b;
    case SQUARED_DIFF:
        return (int64_t)((uint64_t)(a - b) * (uint64_t)(a - b));
    case EQUAL:
        return a == b;
    case NOT_EQUAL:
        return a != b;
    case GREATER:
        return a > b;
    case GREATER_EQUAL:
        return a >= b;
    case LESS:
        return a < b;
    case LESS_EQUAL:
        return a <= b;
    case NOT:
        return a == 0;
    case AND:
        return a && b;
    case OR:
        return a || b;
    case XOR:
        return !a != !b;
    case POW: {
        double v = pow((double)a, (double)b);

        return v >= 0x1p31 ? INT32_MAX : v <= -0x1p31 ? INT32_MIN : (int64_t)v;
    }
    default: { /* FLOOR_MOD */
        int64_t rest = b ? a % b : 0;

        return rest && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    }
}

static int32_t activate_int(const eltwise *s, int32_t v)
{
    if (s->after == CLAMP)
        return v < s->int_least  ? s->int_least
               : v > s->int_most ? s->int_most
                                 : v;
    if (s->after < 0 || v > 0)
        return v;
    return (int32_t)(uint32_t)((int64_t)v * s->int_slope);
}

static void whole_row(uint32_t type, const eltwise *s, uint64_t n, int32_t *out,
                      const int32_t *p, uint64_t ps, const int32_t *q,
                      uint64_t qs)
{
    for (uint64_t i = 0; i < n; i++, p += ps, q += qs)
        out[i] =
            activate_int(s, (int32_t)(uint32_t)whole_value(type, s, *p, *q));
}

static void activate(const eltwise *s, uint64_t n, float *v)
{
    for (uint64_t i = 0; s->after == CLAMP && i < n; i++)
        v[i] = native_clamp(v[i], s->least, s->most);
    for (uint64_t i = 0; s->after >= 0 && s->after != CLAMP && i < n; i++)
        v[i] = v[i] > 0 ? v[i] : s->slope != 0 ? v[i] * s->slope : 0;
}

/* --- running ------------------------------------------------------------- */

typedef struct {
    const eltwise *s;
    uint32_t type;
    uint32_t types[1 + N_INPUTS]; /* of elements */
} job;

/* Elements of four bytes, floats or integers. */
typedef union {
    float f[NATIVE_PIECE];
    int32_t i[NATIVE_PIECE];
} piece;

/* What repeats is read once; the step in v. */
static uint64_t read_piece(bool whole, uint32_t type, const uint8_t *at,
                           uint64_t stride, piece *v, uint64_t n)
{
    n = stride ? n : 1;
    if (whole)
        native_read_int(type, at, stride, v->i, n);
    else
        native_read(type, at, stride, v->f, n);
    return stride ? 1 : 0;
}

/* By a mask, which may be of another type than what is chosen. */
static void select_piece(const job *g, uint8_t *const *at,
                         const uint64_t *steps, uint64_t n)
{
    bool whole = g->s->whole, by_whole = g->types[1] == BLOB_S32;
    piece mask, a, b;
    uint64_t sm = read_piece(by_whole, g->types[1], at[1], steps[1], &mask, n);
    uint64_t sa = read_piece(whole, g->types[2], at[2], steps[2], &a, n);
    uint64_t sb = read_piece(whole, g->types[3], at[3], steps[3], &b, n);
    piece out;

    for (uint64_t i = 0; i < n; i++) {
        bool takes = by_whole ? mask.i[i * sm] != 0 : mask.f[i * sm] != 0;

        if (whole)
            out.i[i] = takes ? a.i[i * sa] : b.i[i * sb];
        else
            out.f[i] = takes ? a.f[i * sa] : b.f[i * sb];
    }
    if (whole)
        native_write_int(g->types[0], at[0], steps[0], out.i, n);
    else
        native_write(g->types[0], at[0], steps[0], out.f, n);
}

static void run_piece(void *arg, uint8_t *const *at, const uint64_t *steps,
                      uint64_t n)
{
    const job *g = arg;
    const eltwise *s = g->s;
    piece a, b, out;
    uint64_t sa, sb;

    if (s->selects) {
        select_piece(g, at, steps, n);
        return;
    }
    sa = read_piece(s->whole, g->types[1], at[1], steps[1], &a, n);
    sb = sa;
    if (at[2])
        sb = read_piece(s->whole, g->types[2], at[2], steps[2], &b, n);
    if (s->whole) {
        whole_row(g->type, s, n, out.i, a.i, sa, at[2] ? b.i : a.i, sb);
        native_write_int(g->types[0], at[0], steps[0], out.i, n);
    } else {
        float_row(g->type, s, n, out.f, a.f, sa, at[2] ? b.f : a.f, sb);
        activate(s, n, out.f);
        native_write(g->types[0], at[0], steps[0], out.f, n);
    }
}

void native_run_eltwise(const native_job *j)
{
    const eltwise *s = j->op->state;
    job g = {.s = s, .type = j->op->type};

    for (uint32_t k = 0; k < 1 + N_INPUTS; k++)
        g.types[k] = native_of(j, places[k])->type;
    native_rows_run(j, &s->rows, places, run_piece, &g);
}
