/* SoftMax. */
#include <math.h>

#include "runtime/native/native_priv.h"

void native_make_softmax(native_maker *m)
{
    uint32_t *axis = arena_new(m->arena, uint32_t);
    uint32_t rank = native_at(m, 0)->rank;

    native_need_type(m, 0, NATIVE_TYPE(BLOB_F16));
    native_need_type(m, 1, NATIVE_TYPE(BLOB_F16));
    native_need_same(m, 0, 1);
    *axis = native_u32(m, "axis", 0, rank ? rank - 1 : 0);
    m->op->state = axis;
}

typedef struct {
    float *v;
    uint64_t n, inner; /* elements of a line, and from one to the next */
} lines;

static void run_lines(void *arg, uint64_t first, uint64_t end)
{
    const lines *l = arg;

    for (uint64_t k = first; k < end; k++) {
        float *v = l->v + k / l->inner * l->inner * l->n + k % l->inner;
        float most = -INFINITY, sum = 0;

        for (uint64_t i = 0; i < l->n; i++)
            most = v[i * l->inner] > most ? v[i * l->inner] : most;
        for (uint64_t i = 0; i < l->n; i++)
            sum += v[i * l->inner] =
                (float)exp((double)(v[i * l->inner] - most));
        for (uint64_t i = 0; i < l->n; i++)
            v[i * l->inner] /= sum;
    }
}

void native_run_softmax(const native_job *j)
{
    const native_tensor *t = native_of(j, 0);
    uint32_t axis = *(const uint32_t *)j->op->state;
    lines l = {native_load(j, 0), t->rank ? t->dims[axis] : 1,
               native_inner(t, axis)};

    native_ranges(j, t->n / l.n, 256, run_lines, &l);
    native_store(j, 1, l.v);
}
