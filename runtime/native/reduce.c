/* Reductions: one value of all along some dims. */
#include "runtime/native/native_priv.h"

enum { ALL = 93, LEAST = 105, MOST = 112, SUM = 113, MEAN = 114 };

/* Dims that stay and dims that go, with the input's strides in elements. */
typedef struct {
    uint32_t n;
    uint64_t dims[BLOB_MAX_DIMS], strides[BLOB_MAX_DIMS], total;
} part;

typedef struct {
    part stays, goes;
} reduce;

static void add_dim(part *p, uint64_t n, uint64_t stride)
{
    p->total *= n;
    if (p->n && p->dims[p->n - 1] * p->strides[p->n - 1] == stride) {
        p->dims[p->n - 1] *= n;
        return;
    }
    p->dims[p->n] = n;
    p->strides[p->n++] = stride;
}

void native_make_reduce(native_maker *m)
{
    const uint32_t both = NATIVE_TYPE(BLOB_F16) | NATIVE_TYPE(BLOB_S32);
    const native_tensor *in = native_at(m, 0);
    const int32_t *axes = native_constant(m, 2);
    reduce *s = arena_new(m->arena, reduce);
    bool goes[BLOB_MAX_DIMS] = {0};
    uint64_t step = 1;

    m->op->state = s;
    native_flag(m, "keep_dims"); /* seen in the output's dims */
    native_need_type(m, 0, both);
    native_need_type(m, 1, NATIVE_TYPE(in->type));
    for (uint64_t k = 0; k < native_at(m, 2)->n && !m->st; k++)
        if (axes[k] < 0 || (uint32_t)axes[k] >= in->rank)
            native_bad(m, "axis %d of %u dims", axes[k], in->rank);
        else
            goes[axes[k]] = true;
    s->stays.total = s->goes.total = 1;
    for (uint32_t d = 0; d < in->rank && !m->st; step *= in->dims[d++])
        if (in->dims[d] > 1)
            add_dim(goes[d] ? &s->goes : &s->stays, in->dims[d], step);
    native_need_elements(m, 1, s->stays.total);
}

typedef struct {
    const reduce *s;
    uint32_t type;
    const float *in;
    const int32_t *whole; /* instead */
    float *out;
    int32_t *whole_out;
} job;

/* Element k of a part. */
static uint64_t place(const part *p, uint64_t k)
{
    uint64_t at = 0;

    for (uint32_t d = 0; d < p->n; k /= p->dims[d++])
        at += k % p->dims[d] * p->strides[d];
    return at;
}

static float reduce_one(uint32_t type, const part *p, const float *in)
{
    float v = type == LEAST  ? INFINITY
              : type == MOST ? -INFINITY
              : type == ALL  ? 1
                             : 0;

    for (uint64_t k = 0; k < p->total; k++) {
        float x = in[place(p, k)];

        switch (type) {
        case ALL:
            v = v != 0 && x != 0;
            break;
        case LEAST:
            v = x < v ? x : v;
            break;
        case MOST:
            v = x > v ? x : v;
            break;
        default:
            v += x;
        }
    }
    return type == MEAN ? v / (float)p->total : v;
}

static int32_t reduce_whole(uint32_t type, const part *p, const int32_t *in)
{
    int64_t v = type == LEAST  ? INT32_MAX
                : type == MOST ? INT32_MIN
                               : type == ALL;

    for (uint64_t k = 0; k < p->total; k++) {
        int64_t x = in[place(p, k)];

        switch (type) {
        case ALL:
            v = v && x;
            break;
        case LEAST:
            v = x < v ? x : v;
            break;
        case MOST:
            v = x > v ? x : v;
            break;
        default:
            v += x;
        }
    }
    return (int32_t)(uint32_t)(type == MEAN ? v / (int64_t)p->total : v);
}

static void run_range(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;
    const reduce *s = g->s;

    for (uint64_t k = first; k < end; k++) {
        uint64_t at = place(&s->stays, k);

        if (g->whole)
            g->whole_out[k] = reduce_whole(g->type, &s->goes, g->whole + at);
        else
            g->out[k] = reduce_one(g->type, &s->goes, g->in + at);
    }
}

void native_run_reduce(const native_job *j)
{
    const reduce *s = j->op->state;
    bool whole = native_of(j, 0)->type == BLOB_S32;
    job g = {.s = s, .type = j->op->type};

    if (whole) {
        g.whole = native_load_int(j, 0);
        g.whole_out = (int32_t *)(void *)native_room(j, s->stays.total);
    } else {
        g.in = native_load(j, 0);
        g.out = native_room(j, s->stays.total);
    }
    native_ranges(j, s->stays.total, 16384 / s->goes.total + 1, run_range, &g);
    if (whole)
        native_store_int(j, 1, g.whole_out);
    else
        native_store(j, 1, g.out);
}
