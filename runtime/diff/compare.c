/* Blocks that are equal byte for byte cost a memcmp and the search for the
 * largest |b|. Others are decoded into values and positions in the order of the
 * type, which one loop judges for all types. */
#include "runtime/diff/compare.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

enum { BLOCK = 1024 };

/* Decoded elements. order counts representable values up from 0; both zeros
 * are 0. What is beyond `infinity` is a NaN. */
typedef struct {
    double value[BLOCK];
    int64_t order[BLOCK];
} decoded;

typedef struct {
    const diff_tolerance *tol;
    tensor_dtype dtype;
    bool is_float;
    int64_t infinity; /* order of +infinity; INT64_MAX for integers */
    double wrong_from;
    uint64_t n_wrong;
    double sum, squares, largest; /* of |a - b| */
    bool broken;                  /* a NaN or infinity against something else */
    diff_result *r;
} state;

/* --- decoding ------------------------------------------------------------ */

/* Exact for all halves but NaN and infinity, which nobody reads as numbers: a
 * float with the half's bits, 2^112 too small. */
static double half_value(uint16_t h)
{
    uint32_t x = (uint32_t)(h & 0x7fff) << 13;
    float f;

    memcpy(&f, &x, sizeof f);
    f *= 0x1p112f;
    if ((h & 0x7fff) >= 0x7c00)
        f = (h & 0x7fff) == 0x7c00 ? INFINITY : NAN;
    return h & 0x8000 ? -(double)f : (double)f;
}

static void decode_f16(const void *p, uint32_t n, decoded *d)
{
    const uint16_t *h = p;

    for (uint32_t i = 0; i < n; i++) {
        int64_t m = h[i] & 0x7fff;

        d->order[i] = h[i] & 0x8000 ? -m : m;
        d->value[i] = half_value(h[i]);
    }
}

static void decode_f32(const void *p, uint32_t n, decoded *d)
{
    const uint32_t *bits = p;
    const float *f = p;

    for (uint32_t i = 0; i < n; i++) {
        int64_t m = bits[i] & 0x7fffffff;

        d->order[i] = bits[i] >> 31 ? -m : m;
        d->value[i] = (double)f[i];
    }
}

#define DEFINE_DECODE(name, type)                                    \
    static void decode_##name(const void *p, uint32_t n, decoded *d) \
    {                                                                \
        const type *x = p;                                           \
                                                                     \
        for (uint32_t i = 0; i < n; i++) {                           \
            d->order[i] = x[i];                                      \
            d->value[i] = (double)x[i];                              \
        }                                                            \
    }
DEFINE_DECODE(i32, int32_t)
DEFINE_DECODE(u8, uint8_t)
DEFINE_DECODE(i8, int8_t)
DEFINE_DECODE(i16, int16_t)
DEFINE_DECODE(u16, uint16_t)
DEFINE_DECODE(i64, int64_t)

static void (*const decode[TENSOR_N_DTYPES])(const void *, uint32_t,
                                             decoded *) = {
    [TENSOR_F16] = decode_f16, [TENSOR_F32] = decode_f32,
    [TENSOR_I32] = decode_i32, [TENSOR_U8] = decode_u8,
    [TENSOR_I8] = decode_i8,   [TENSOR_I16] = decode_i16,
    [TENSOR_U16] = decode_u16, [TENSOR_I64] = decode_i64,
};

/* --- the largest |b| ----------------------------------------------------- */

/* Magnitudes of floats are ordered like their bits. */
static double largest_f16(const uint16_t *h, uint64_t n)
{
    int16_t most = 0;

    for (uint64_t i = 0; i < n; i++) {
        int16_t m = (int16_t)(h[i] & 0x7fff);

        m = m < 0x7c00 ? m : 0;
        most = m > most ? m : most;
    }
    return half_value((uint16_t)most);
}

static double largest_f32(const uint32_t *bits, uint64_t n)
{
    int32_t most = 0;
    float f;

    for (uint64_t i = 0; i < n; i++) {
        int32_t m = (int32_t)(bits[i] & 0x7fffffff);

        m = m < 0x7f800000 ? m : 0;
        most = m > most ? m : most;
    }
    memcpy(&f, &most, sizeof f);
    return (double)f;
}

static double largest(tensor_dtype t, const void *b, uint64_t n)
{
    const char *p = b;
    double most = 0;
    decoded d;

    if (t == TENSOR_F16)
        return largest_f16(b, n);
    if (t == TENSOR_F32)
        return largest_f32(b, n);
    for (uint64_t i = 0; i < n; i += BLOCK) {
        uint32_t k = n - i < BLOCK ? (uint32_t)(n - i) : BLOCK;

        decode[t](p + i * tensor_dtype_bytes(t), k, &d);
        for (uint32_t j = 0; j < k; j++)
            most = fmax(most, fabs(d.value[j]));
    }
    return most;
}

/* --- judging ------------------------------------------------------------- */

static int64_t infinity_of(tensor_dtype t)
{
    return t == TENSOR_F16 ? 0x7c00 : t == TENSOR_F32 ? 0x7f800000 : INT64_MAX;
}

static bool beyond(int64_t order, int64_t limit)
{
    return order > limit || order < -limit;
}

static inline bool worse(const diff_result *r, const diff_element *e)
{
    return e->ulp > r->worst_ulp.ulp || !(e->apart <= r->worst.apart);
}

static void note(diff_result *r, const diff_element *e)
{
    double old = r->worst.apart;

    if (e->ulp > r->worst_ulp.ulp)
        r->worst_ulp = *e;
    if (isnan(e->apart) ? !isnan(old) : e->apart > old)
        r->worst = *e;
}

static inline uint32_t class_of(uint64_t ulp)
{
    double d = (double)(int64_t)ulp;
    uint64_t x;

    if (ulp >> 52)
        return (uint32_t)(64 - __builtin_clzll(ulp));
    memcpy(&x, &d, sizeof x); /* its exponent: faster than counting zeros */
    return ulp ? (uint32_t)(x >> 52) - 1022 : 0;
}

/* One of the two is a NaN or an infinity. */
static bool judge_special(state *s, diff_element *e, int64_t oa, int64_t ob,
                          bool same_bits)
{
    bool nan_a = beyond(oa, s->infinity), nan_b = beyond(ob, s->infinity);
    bool differ;

    s->r->n_nan_a += nan_a;
    s->r->n_nan_b += nan_b;
    if (nan_a || nan_b) {
        e->ulp = 0;
        e->apart = (double)NAN;
        differ = !nan_a || !nan_b || s->tol->nan == DIFF_NAN_NEVER ||
                 (s->tol->nan == DIFF_NAN_BITS && !same_bits);
    } else {
        s->r->ulp_classes[class_of(e->ulp)]++;
        if (e->ulp > s->r->max_ulp)
            s->r->max_ulp = e->ulp;
        differ = oa != ob;
        e->apart = differ ? (double)INFINITY : 0;
    }
    if (differ) {
        s->broken = true;
        s->n_wrong++;
    }
    return differ;
}

/* How far apart two blocks are: steps, and |a - b|, 0 where one is special. */
typedef struct {
    uint64_t ulp[BLOCK];
    double apart[BLOCK];
    uint8_t special[BLOCK];
} distances;

static void measure(const state *s, const decoded *a, const decoded *b,
                    uint32_t n, distances *d)
{
    const int64_t limit = s->is_float ? s->infinity - 1 : INT64_MAX;

    for (uint32_t i = 0; i < n; i++) {
        int64_t oa = a->order[i], ob = b->order[i];

        d->ulp[i] =
            oa > ob ? (uint64_t)oa - (uint64_t)ob : (uint64_t)ob - (uint64_t)oa;
        d->special[i] = s->is_float && (beyond(oa, limit) || beyond(ob, limit));
    }
    for (uint32_t i = 0; i < n; i++)
        d->apart[i] =
            s->is_float ? fabs(a->value[i] - b->value[i]) : (double)d->ulp[i];
    for (uint32_t i = 0; i < n; i++)
        if (d->special[i])
            d->apart[i] = 0;
}

static void add_up(state *s, const double *apart, uint32_t n)
{
    double sum = 0, squares = 0, most = s->largest, limit = s->wrong_from;
    uint64_t n_wrong = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += apart[i];
        squares += apart[i] * apart[i];
        most = apart[i] > most ? apart[i] : most;
        n_wrong += apart[i] > limit;
    }
    s->sum += sum;
    s->squares += squares;
    s->largest = most;
    s->n_wrong += n_wrong;
}

/* Two numbers, and not the same. */
static inline bool judge_number(const state *s, double b, double apart,
                                uint64_t ulp)
{
    const diff_tolerance *tol = s->tol;

    if (ulp)
        return ulp > tol->ulp && apart > tol->absolute &&
               apart > tol->relative * fabs(b);
    s->r->n_zero_sign++;
    return tol->zero == DIFF_ZERO_SIGNED;
}

static bool judge_block(state *s, uint64_t first, const char *a, const char *b,
                        uint32_t n, uint8_t *restrict different)
{
    uint32_t bytes = tensor_dtype_bytes(s->dtype);
    uint64_t max_ulp = 0, n_bits = 0, n_diff = 0;
    uint32_t classes[2][DIFF_ULP_CLASSES] = {0}; /* two: no waiting in line */
    decoded da, db;
    distances d;

    decode[s->dtype](a, n, &da);
    decode[s->dtype](b, n, &db);
    measure(s, &da, &db, n, &d);
    add_up(s, d.apart, n);
    for (uint32_t i = 0; i < n; i++) {
        diff_element e = {first + i, da.value[i], db.value[i], d.apart[i],
                          d.ulp[i]};
        bool same = !e.ulp && signbit(e.value_a) == signbit(e.value_b);

        if (d.special[i]) {
            same = !memcmp(a + (size_t)i * bytes, b + (size_t)i * bytes, bytes);
            different[i] = judge_special(s, &e, da.order[i], db.order[i], same);
        } else {
            classes[i % 2][class_of(e.ulp)]++;
            max_ulp = e.ulp > max_ulp ? e.ulp : max_ulp;
            different[i] = !same && judge_number(s, e.value_b, e.apart, e.ulp);
        }
        n_bits += !same;
        if (!different[i])
            continue;
        if (!s->r->n_diff && !n_diff)
            s->r->first = s->r->worst_ulp = s->r->worst = e;
        else if (worse(s->r, &e))
            note(s->r, &e);
        n_diff++;
    }
    for (uint32_t c = 0; c < DIFF_ULP_CLASSES; c++)
        s->r->ulp_classes[c] += (uint64_t)classes[0][c] + classes[1][c];
    s->r->n_bits += n_bits;
    s->r->n_diff += n_diff;
    if (max_ulp > s->r->max_ulp)
        s->r->max_ulp = max_ulp;
    return n_diff != 0;
}

/* Whether a block that is equal in every bit needs no closer look. */
static bool plain(const state *s, const char *b, uint32_t n)
{
    decoded d;
    int64_t most = 0;

    if (!s->is_float)
        return true;
    if (s->dtype == TENSOR_F16) {
        const uint16_t *h = (const void *)b;
        int16_t m = 0;

        for (uint32_t i = 0; i < n; i++) {
            int16_t x = (int16_t)(h[i] & 0x7fff);

            m = x > m ? x : m;
        }
        return m <= s->infinity;
    }
    decode[s->dtype](b, n, &d);
    for (uint32_t i = 0; i < n; i++) {
        int64_t o = d.order[i] < 0 ? -d.order[i] : d.order[i];

        most = o > most ? o : most;
    }
    return most <= s->infinity;
}

static void metrics(state *s)
{
    diff_result *r = s->r;
    diff_metrics *m = &r->metrics;
    double n = (double)r->n_elements, ref = r->max_abs_b;
    const diff_metrics *limit = &s->tol->limits;

    m->wrong = (double)s->n_wrong / n * 100;
    if (s->broken || (ref == 0 && s->largest > 0)) {
        m->min_accuracy = m->average_accuracy = m->l2 = (double)INFINITY;
    } else if (s->largest > 0) {
        m->min_accuracy = s->largest / ref * 100;
        m->average_accuracy = s->sum / n / ref * 100;
        m->l2 = sqrt(s->squares / n) / ref * 100;
    }
    r->equal = s->tol->by_metrics
                   ? m->min_accuracy <= limit->min_accuracy &&
                         m->average_accuracy <= limit->average_accuracy &&
                         m->wrong <= limit->wrong && m->l2 <= limit->l2
                   : !r->n_diff;
}

static vpu_status check(const tensor_desc *desc, const diff_tolerance *tol,
                        vpu_error *err)
{
    vpu_status st = tensor_desc_check(desc, err);

    if (st)
        return st;
    if (!(tol->absolute >= 0) || !(tol->relative >= 0))
        return err_set(err, VPU_ERR_INVALID,
                       "tolerances abs=%g and rel=%g: expected numbers of at "
                       "least 0",
                       tol->absolute, tol->relative);
    return VPU_OK;
}

vpu_status diff_compare(const diff_pair *pair, const diff_tolerance *tol,
                        const diff_watch *watch, diff_result *out,
                        vpu_error *err)
{
    const tensor_desc *desc = pair->desc;
    uint32_t bytes = tensor_dtype_bytes(desc->dtype);
    state s = {.tol = tol, .dtype = desc->dtype, .r = out};
    const char *pa = pair->a, *pb = pair->b;
    uint8_t different[BLOCK];
    vpu_status st;

    memset(out, 0, sizeof *out);
    st = check(desc, tol, err);
    if (st)
        return st;
    out->desc = *desc;
    out->n_elements = tensor_elements(desc);
    s.is_float = desc->dtype == TENSOR_F16 || desc->dtype == TENSOR_F32;
    s.infinity = infinity_of(desc->dtype);
    out->max_abs_b = largest(desc->dtype, pb, out->n_elements);
    s.wrong_from = DIFF_WRONG_FRACTION * out->max_abs_b;
    for (uint64_t i = 0; i < out->n_elements; i += BLOCK) {
        uint32_t n = out->n_elements - i < BLOCK
                         ? (uint32_t)(out->n_elements - i)
                         : BLOCK;
        const char *ba = pa + i * bytes, *bb = pb + i * bytes;

        if (!memcmp(ba, bb, (size_t)n * bytes) && plain(&s, bb, n))
            out->ulp_classes[0] += n;
        else if (judge_block(&s, i, ba, bb, n, different) && watch)
            watch->block(watch->user, i, n, different);
    }
    metrics(&s);
    return VPU_OK;
}

/* --- small things -------------------------------------------------------- */

uint64_t diff_ulp(tensor_dtype t, const void *a, const void *b, bool *nan)
{
    int64_t infinity = infinity_of(t), oa, ob;
    decoded d;

    decode[t](a, 1, &d);
    oa = d.order[0];
    decode[t](b, 1, &d);
    ob = d.order[0];
    *nan =
        infinity != INT64_MAX && (beyond(oa, infinity) || beyond(ob, infinity));
    if (*nan)
        return 0;
    return oa > ob ? (uint64_t)oa - (uint64_t)ob : (uint64_t)ob - (uint64_t)oa;
}

/* The number behind "name="; false when it is none or negative. */
static bool number_after(const char *word, size_t n_name, double *out)
{
    return str_to_f64(word + n_name, out) && *out >= 0 && isfinite(*out);
}

static bool tolerance_word(const char *w, diff_tolerance *t)
{
    unsigned long long ulp;

    if (!strncmp(w, "ulp=", 4)) {
        if (!str_to_u64(w + 4, &ulp))
            return false;
        t->ulp = ulp;
        return true;
    }
    if (!strncmp(w, "abs=", 4))
        return number_after(w, 4, &t->absolute);
    if (!strncmp(w, "rel=", 4))
        return number_after(w, 4, &t->relative);
    if (!strcmp(w, "mvnc")) {
        t->by_metrics = true;
        t->limits = DIFF_MVNC_LIMITS;
        return true;
    }
    static const struct {
        const char *word;
        int nan, zero;
    } policies[] = {{"nan=any", DIFF_NAN_ANY, -1},
                    {"nan=bits", DIFF_NAN_BITS, -1},
                    {"nan=never", DIFF_NAN_NEVER, -1},
                    {"zero=signed", -1, DIFF_ZERO_SIGNED},
                    {"zero=equal", -1, DIFF_ZERO_EQUAL},
                    {"exact", -1, -1}};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (!strcmp(w, policies[i].word)) {
            if (policies[i].nan >= 0)
                t->nan = (diff_nan)policies[i].nan;
            if (policies[i].zero >= 0)
                t->zero = (diff_zero)policies[i].zero;
            return true;
        }
    return false;
}

vpu_status diff_tolerance_parse(const char *text, diff_tolerance *out,
                                vpu_error *err)
{
    diff_tolerance t = {0};
    const char *p = text;
    char word[64];

    while (*p) {
        size_t n = strcspn(p, ",");

        if (n < sizeof word) {
            memcpy(word, p, n);
            word[n] = 0;
        }
        if (n >= sizeof word || !tolerance_word(word, &t))
            return err_set(err, VPU_ERR_INVALID,
                           "'%.*s' in tolerance '%s': expected ulp=N, abs=X, "
                           "rel=X (at least 0), nan=any|bits|never, "
                           "zero=signed|equal, mvnc or exact",
                           (int)(n < 60 ? n : 60), p, text);
        p += n;
        if (*p == ',' && !*++p)
            return err_set(err, VPU_ERR_INVALID,
                           "tolerance '%s' ends with a comma", text);
    }
    *out = t;
    return VPU_OK;
}

void diff_unravel(const tensor_desc *desc, uint64_t index, uint32_t *at)
{
    uint32_t order[TENSOR_MAX_RANK]; /* dims as in memory, outermost first */
    uint32_t channel = desc->rank > 3 ? 1 : 0, k = 0;
    bool minor = desc->layout == TENSOR_CHANNEL_MINOR && desc->rank >= 3;

    for (uint32_t i = 0; i < desc->rank; i++)
        if (!minor || i != channel)
            order[k++] = i;
    if (minor)
        order[k] = channel;
    for (uint32_t i = desc->rank; i-- > 0;) {
        uint32_t d = order[i];

        at[d] = (uint32_t)(index % desc->dims[d]);
        index /= desc->dims[d];
    }
}
