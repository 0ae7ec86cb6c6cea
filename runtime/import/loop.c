/* LoopStart and LoopEnd: the stages between them, once an iteration. A rule of
 * either moves one slice of a tensor: to the body's buffer in front of an
 * iteration, from it behind. docs/networks.md,
 * "Loops". */
#include "runtime/blob/stage.h"
#include "runtime/import/import_priv.h"

typedef struct {
    int32_t axis, start, stride, end;
} rule;

enum { RULE_WORDS = 4, MAX_ITERATIONS = 1 << 20 };

static const rule *rule_at(const blob_stage *s, uint32_t first, uint32_t i)
{
    return (const rule *)(const void *)(s->params + first + RULE_WORDS * i);
}

/* The K rules behind `fixed` words, the last of which is K; each has two
 * buffers. */
static vpu_status check_rules(const blob_stage *s, uint32_t fixed,
                              vpu_error *err)
{
    uint32_t k;

    if (s->n_params < fixed)
        return err_set(err, VPU_ERR_PARSE,
                       "%s: %u words of params, expected at least %u",
                       stage_name(s->type), s->n_params, fixed);
    if ((int32_t)s->params[0] < 0)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s: as many iterations as data have it",
                       stage_name(s->type));
    if (!s->params[0] || s->params[0] > MAX_ITERATIONS)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s: %u iterations, expected 1 to %d",
                       stage_name(s->type), s->params[0], MAX_ITERATIONS);
    k = s->params[fixed - 1];
    if (k > s->n_params / RULE_WORDS || s->n_params != fixed + RULE_WORDS * k ||
        s->n_buffers != 2 * k)
        return err_set(err, VPU_ERR_PARSE,
                       "%s: %u rules, %u words of params and %u buffers do not "
                       "agree",
                       stage_name(s->type), k, s->n_params, s->n_buffers);
    return VPU_OK;
}

/* The slice of `whole` that iteration t has, shaped as part is. */
static vpu_status slice(const rule *r, const blob_buffer *whole,
                        const blob_buffer *part, uint32_t t, blob_buffer *out,
                        vpu_error *err)
{
    int64_t axis = r->axis, at, n;

    *out = *whole;
    if (whole->desc.rank != part->desc.rank || axis < 0 ||
        axis >= whole->desc.rank)
        return err_set(err, VPU_ERR_PARSE,
                       "axis %d of a tensor with %u dims, whose slices have %u",
                       r->axis, whole->desc.rank, part->desc.rank);
    n = part->desc.dims[axis];
    at = r->start < 0 ? (int64_t)whole->desc.dims[axis] + r->start : r->start;
    at += (int64_t)t * r->stride;
    if (r->stride < 0)
        at -= n - 1; /* it ends there */
    if (at < 0 || at + n > whole->desc.dims[axis])
        return err_set(err, VPU_ERR_PARSE,
                       "iteration %u takes %lld elements from %lld on of axis "
                       "%d, which has %u",
                       t, (long long)n, (long long)at, r->axis,
                       whole->desc.dims[axis]);
    out->desc.dims[axis] = (uint32_t)n;
    out->offset += (uint32_t)at * whole->desc.strides[axis];
    return VPU_OK;
}

/* The copies of the stage's rules for iteration t. */
static vpu_status copies(import_state *m, uint32_t i, uint32_t fixed,
                         uint32_t t, vpu_error *err)
{
    const blob_stage *s = &m->b->stages[i];
    bool start = s->type == STAGE_LOOP_START;
    vpu_status st = VPU_OK;

    for (uint32_t k = 0; k < s->params[fixed - 1] && !st; k++) {
        const rule *r = rule_at(s, fixed, k);
        const blob_buffer *whole = &s->buffers[2 * k],
                          *part = &s->buffers[2 * k + 1];
        blob_buffer *pair = arena_array(m->arena, blob_buffer, 2);
        blob_stage *copy = arena_new(m->arena, blob_stage);

        st = slice(r, whole, part, t, &pair[start ? 0 : 1], err);
        if (st)
            return err_in(err, st, "stage %u, %s, rule %u", i,
                          stage_name(s->type), k);
        pair[start ? 1 : 0] = *part;
        *copy = (blob_stage){
            .at = s->at, .type = STAGE_COPY, .buffers = pair, .n_buffers = 2};
        st = import_native(
            m, copy, i, arena_printf(m->arena, "stage %u, iteration %u", i, t),
            err);
    }
    return st;
}

vpu_status import_loop(import_state *m, uint32_t i, uint32_t end,
                       uint32_t *next, vpu_error *err)
{
    const blob_stage *s = &m->b->stages[i];
    vpu_status st = check_rules(s, 3, err);
    uint32_t last;

    if (st)
        return err_in(err, st, "stage %u", i);
    if (s->params[1] < 2 || s->params[1] > end - i)
        return err_set(err, VPU_ERR_PARSE,
                       "stage %u: LoopStart of %u stages, expected 2 to %u", i,
                       s->params[1], end - i);
    last = i + s->params[1] - 1;
    if (m->b->stages[last].type != STAGE_LOOP_END)
        return err_set(err, VPU_ERR_PARSE,
                       "stage %u: the loop ends with stage %u, which is %s", i,
                       last,
                       stage_name(m->b->stages[last].type)
                           ? stage_name(m->b->stages[last].type)
                           : "unknown");
    st = check_rules(&m->b->stages[last], 2, err);
    if (st)
        return err_in(err, st, "stage %u", last);
    if (++m->depth > IMPORT_MAX_LOOPS)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "stage %u: more than %d loops in one another", i,
                       IMPORT_MAX_LOOPS);
    for (uint32_t t = 0; t < s->params[0] && !st; t++) {
        st = copies(m, i, 3, t, err);
        if (!st)
            st = import_stages(m, i + 1, last, err);
        if (!st)
            st = copies(m, last, 2, t, err);
    }
    m->depth--;
    *next = last + 1;
    return st;
}
