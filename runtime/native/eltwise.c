/* Operations on two tensors, element by element, of which either may repeat. */
#include <string.h>

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
    N_INPUTS = 3,
    GRAIN = 16384 /* elements of a part */
};

typedef struct {
    bool whole;    /* computed in integers */
    bool selects;  /* the mask's type says nothing about the others' */
    int32_t after; /* the merged activation */
    float a, b, slope, least, most;
    int32_t int_a, int_b, int_slope, int_least, int_most;
    /* Dims of the result; those that no input breaks count as one. */
    uint32_t rank;
    uint64_t dims[BLOB_MAX_DIMS + 1];
    uint64_t strides[N_INPUTS][BLOB_MAX_DIMS + 1]; /* elements; 0: repeats */
} eltwise;

/* Place in the record of input k. */
static uint32_t place(uint32_t k)
{
    return k ? k + 1 : 0;
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

/* May dim d of the result count with the one below? No input repeats in one of
 * the two only. */
static bool joins(const uint64_t *below, const uint64_t *here)
{
    for (uint32_t k = 0; k < N_INPUTS; k++)
        if (!below[k] != !here[k])
            return false;
    return true;
}

static void add_dim(eltwise *s, uint64_t n, const uint64_t *steps)
{
    uint64_t below[N_INPUTS];
    uint32_t last = s->rank - 1;

    for (uint32_t k = 0; k < N_INPUTS && s->rank; k++)
        below[k] = s->strides[k][last];
    if (s->rank && joins(below, steps)) {
        s->dims[last] *= n;
        return;
    }
    s->dims[s->rank] = n;
    for (uint32_t k = 0; k < N_INPUTS; k++)
        s->strides[k][s->rank] = steps[k];
    s->rank++;
}

static void walk_dims(native_maker *m, eltwise *s)
{
    const native_tensor *out = native_at(m, 1);
    uint64_t next[N_INPUTS] = {1, 1, 1};

    for (uint32_t d = 0; d < out->rank && !m->st; d++) {
        uint64_t steps[N_INPUTS] = {0};

        for (uint32_t k = 0; k < N_INPUTS; k++) {
            const native_tensor *t = native_at(m, place(k));
            uint32_t n = t->present && d < t->rank ? t->dims[d] : 1;

            if (n != 1 && n != out->dims[d])
                native_bad(m, "dim %u of %s is %u, expected 1 or %u", d,
                           t->operand.name, n, out->dims[d]);
            steps[k] = n == 1 ? 0 : next[k];
            next[k] *= n;
        }
        if (out->dims[d] > 1)
            add_dim(s, out->dims[d], steps);
    }
    if (!s->rank)
        add_dim(s, 1, (uint64_t[N_INPUTS]){0});
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
    for (uint32_t k = 0; k < n && !m->st; k++)
        if (native_at(m, place(k))->rank > native_at(m, 1)->rank)
            native_bad(m, "%s has %u dims, the output %u",
                       native_at(m, place(k))->operand.name,
                       native_at(m, place(k))->rank, native_at(m, 1)->rank);
    walk_dims(m, s);
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

/* Elements are of four bytes, floats or integers. */
typedef struct {
    const eltwise *s;
    uint32_t type;
    bool whole_mask;
    const uint32_t *in[N_INPUTS];
    uint32_t *out;
    uint64_t rows, pieces, piece; /* a row is cut into pieces */
} job;

static void select_row(const job *g, uint64_t n, uint32_t *out,
                       const uint32_t *const at[N_INPUTS],
                       const uint64_t steps[N_INPUTS])
{
    const uint32_t *mask = at[0], *p = at[1], *q = at[2];

    for (uint64_t i = 0; i < n; i++) {
        float v;
        bool takes = *mask != 0;

        memcpy(&v, mask, sizeof v);
        if (!g->whole_mask)
            takes = v != 0;
        out[i] = takes ? *p : *q;
        mask += steps[0];
        p += steps[1];
        q += steps[2];
    }
}

static void run_piece(const job *g, uint64_t row, uint64_t first, uint64_t end)
{
    const eltwise *s = g->s;
    const uint32_t *at[N_INPUTS];
    uint64_t steps[N_INPUTS], n = end - first;
    uint32_t *out = g->out + row * s->dims[0] + first;

    for (uint32_t k = 0; k < N_INPUTS; k++) {
        uint64_t rest = row, from = first * s->strides[k][0];

        for (uint32_t d = 1; d < s->rank; rest /= s->dims[d++])
            from += rest % s->dims[d] * s->strides[k][d];
        steps[k] = s->strides[k][0];
        at[k] = g->in[k] ? g->in[k] + from : NULL;
    }
    if (!at[1]) { /* of one input: the other is not looked at */
        at[1] = at[0];
        steps[1] = steps[0];
    }
    if (s->selects) {
        select_row(g, n, out, at, steps);
    } else if (s->whole) {
        whole_row(g->type, s, n, (int32_t *)out, (const int32_t *)at[0],
                  steps[0], (const int32_t *)at[1], steps[1]);
    } else {
        float *v = (float *)(void *)out;

        float_row(g->type, s, n, v, (const float *)(const void *)at[0],
                  steps[0], (const float *)(const void *)at[1], steps[1]);
        activate(s, n, v);
    }
}

static void run_pieces(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;

    for (uint64_t k = first; k < end; k++) {
        uint64_t from = k % g->pieces * g->piece, row = k / g->pieces;
        uint64_t left = g->s->dims[0] - from;

        run_piece(g, row, from, from + (left < g->piece ? left : g->piece));
    }
}

static const void *load(const native_job *j, uint32_t k, bool whole)
{
    return whole ? (const void *)native_load_int(j, place(k))
                 : (const void *)native_load(j, place(k));
}

void native_run_eltwise(const native_job *j)
{
    const eltwise *s = j->op->state;
    const native_tensor *out = native_of(j, 1);
    job g = {.s = s,
             .type = j->op->type,
             .whole_mask = native_of(j, 0)->type == BLOB_S32,
             .out = (uint32_t *)(void *)native_room(j, out->n)};

    for (uint32_t k = 0; k < N_INPUTS; k++)
        g.in[k] = load(j, k, k || !s->selects ? s->whole : g.whole_mask);
    g.piece = s->dims[0] < GRAIN ? s->dims[0] : GRAIN;
    g.pieces = (s->dims[0] + g.piece - 1) / g.piece;
    g.rows = out->n / s->dims[0];
    native_ranges(j, g.rows * g.pieces, GRAIN / g.piece, run_pieces, &g);
    if (s->whole)
        native_store_int(j, 1, (const int32_t *)g.out);
    else
        native_store(j, 1, (const float *)(const void *)g.out);
}
