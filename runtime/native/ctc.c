/* Labels of a sequence: the best class of each step, without repetitions and
 * without the class that stands for none. */
#include "runtime/native/native_priv.h"

typedef struct {
    uint32_t classes, steps, batch, blank;
    bool merges;
} ctc;

/* The first of the largest. */
static uint32_t best(const float *v, uint32_t n)
{
    uint32_t at = 0;

    for (uint32_t i = 1; i < n; i++)
        if (v[i] > v[at])
            at = i;
    return at;
}

void native_make_ctc(native_maker *m)
{
    ctc *s = arena_new(m->arena, ctc);
    const native_tensor *in = native_at(m, 0);

    m->op->state = s;
    native_need_halves(m);
    native_need_rank(m, 0, 3, 3);
    if (m->st)
        return;
    *s = (ctc){in->dims[0], in->dims[2], in->dims[1], in->dims[0] - 1, true};
    native_need_elements(m, 1, (uint64_t)s->steps * s->batch);
    native_need_elements(m, 2, (uint64_t)s->steps * s->batch);
}

/* Steps of a sequence: up to the first whose successor's indicator is 0. */
static uint32_t steps_of(const ctc *s, const float *indicators, uint32_t n)
{
    uint32_t t = 1;

    while (t < s->steps && indicators[(uint64_t)t * s->batch + n] != 0)
        t++;
    return t;
}

void native_run_ctc(const native_job *j)
{
    const ctc *s = j->op->state;
    const float *in = native_load(j, 0), *indicators = native_load(j, 1);
    float *out = native_room(j, native_of(j, 2)->n);

    for (uint32_t n = 0; n < s->batch; n++) {
        uint32_t steps = steps_of(s, indicators, n), last = UINT32_MAX;
        float *to = out + (uint64_t)n * s->steps;

        for (uint32_t t = 0; t < s->steps; t++)
            to[t] = -1;
        for (uint32_t t = 0; t < steps; t++) {
            uint32_t c = best(in + ((uint64_t)t * s->batch + n) * s->classes,
                              s->classes);

            if (c != s->blank && c != last)
                *to++ = (float)c;
            last = c;
        }
    }
    native_store(j, 2, out);
}

/* --- with lengths of the sequences --------------------------------------- */

void native_make_ctc_lengths(native_maker *m)
{
    ctc *s = arena_new(m->arena, ctc);
    const native_tensor *in = native_at(m, 0);
    const uint32_t integers = NATIVE_TYPE(BLOB_S32);

    m->op->state = s;
    native_need_type(m, 0, NATIVE_TYPE(BLOB_F16));
    for (uint32_t i = 1; i < 4; i++)
        if (native_at(m, i)->present)
            native_need_type(m, i, integers);
    native_need_rank(m, 0, 3, 3);
    s->merges = native_flag(m, "merge");
    s->blank = native_u32(m, "the blank", 0, UINT32_MAX);
    if (m->st)
        return;
    s->classes = in->dims[0];
    s->steps = in->dims[1];
    s->batch = in->dims[2];
    native_need_elements(m, 1, s->batch);
    native_need_elements(m, 2, (uint64_t)s->steps * s->batch);
    if (native_at(m, 3)->present)
        native_need_elements(m, 3, s->batch);
}

void native_run_ctc_lengths(const native_job *j)
{
    const ctc *s = j->op->state;
    const float *in = native_load(j, 0);
    const int32_t *lengths = native_load_int(j, 1);
    int32_t *out = (int32_t *)(void *)native_room(j, native_of(j, 2)->n);
    int32_t *found = (int32_t *)(void *)native_room(j, s->batch);

    for (uint32_t n = 0; n < s->batch; n++) {
        int32_t *to = out + (uint64_t)n * s->steps;
        uint32_t last = UINT32_MAX;

        for (uint32_t t = 0; t < s->steps; t++)
            to[t] = -1;
        for (uint32_t t = 0; t < s->steps && (int64_t)t < lengths[n]; t++) {
            uint32_t c = best(in + ((uint64_t)n * s->steps + t) * s->classes,
                              s->classes);

            if (c != s->blank && !(s->merges && c == last))
                to[found[n]++] = (int32_t)c;
            last = c;
        }
    }
    native_store_int(j, 2, out);
    if (native_of(j, 3)->present)
        native_store_int(j, 3, found);
}
