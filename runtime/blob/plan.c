/* Places tensors, constants and shapes. */
#include "runtime/blob/plan.h"

#include <string.h>

#include "base/oom.h"
#include "base/word.h"
#include "runtime/blob/stage.h"
#include "runtime/blob/wire.h"

/* What became of a tensor. */
typedef struct {
    uint64_t bytes, offset;
    uint32_t index; /* among inputs or outputs */
    blob_desc desc;
    bool shaped;
} place;

typedef struct {
    uint64_t at, bytes;
} free_range;

typedef struct {
    const plan *p;
    arena *a;
    place *at;
    free_range *free; /* of scratch, sorted, none touching another */
    uint32_t n_free;
    uint64_t end_bss, n_bss; /* of what is used now; the most ever */
    str consts;
    vpu_error *err;
} planner;

static vpu_status too_much(planner *w, const char *what)
{
    return err_set(w->err, VPU_ERR_LIMIT, "%s: more than 4 GiB", what);
}

static vpu_status measure(planner *w)
{
    for (uint32_t i = 0; i < w->p->n_tensors; i++) {
        const plan_tensor *t = &w->p->tensors[i];
        place *at = &w->at[i];
        uint64_t bytes = blob_type_bytes(t->type);

        at->desc =
            (blob_desc){t->type, t->order, t->rank, 0, 0, 0, 0, {0}, {0}};
        for (uint32_t k = 0; k < t->rank; k++) {
            at->desc.dims[k] = t->dims[k];
            at->desc.strides[k] = (uint32_t)bytes;
            bytes *= t->dims[k];
            if (bytes > UINT32_MAX)
                return too_much(w, "a tensor");
        }
        at->bytes = bytes;
    }
    return VPU_OK;
}

/* --- inputs and outputs -------------------------------------------------- */

/* The tensor of this location whose name comes next after the last; n_tensors
 * when there is none. */
static uint32_t next_by_name(const plan *p, blob_location where,
                             const char *last)
{
    uint32_t best = p->n_tensors;

    for (uint32_t i = 0; i < p->n_tensors; i++) {
        const plan_tensor *t = &p->tensors[i];

        if (t->location != where || t->part ||
            (last && strcmp(t->name, last) <= 0))
            continue;
        if (best == p->n_tensors || strcmp(t->name, p->tensors[best].name) < 0)
            best = i;
    }
    return best;
}

static uint32_t count(const plan *p, blob_location where)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_tensors; i++)
        n += p->tensors[i].location == where && !p->tensors[i].part;
    return n;
}

static vpu_status place_io(planner *w, blob_location where, blob_io **out,
                           uint32_t *n, uint32_t *size)
{
    const plan *p = w->p;
    uint32_t wanted = count(p, where), i;
    blob_io *list = arena_array(w->a, blob_io, wanted + 1);
    const char *last = NULL;
    uint64_t end = 0;

    for (*n = 0; (i = next_by_name(p, where, last)) < p->n_tensors; ++*n) {
        size_t length = strlen(last = p->tensors[i].name);

        if (length >= BLOB_MAX_NAME)
            return err_set(w->err, VPU_ERR_INVALID,
                           "a name of %zu bytes, at most %d", length,
                           BLOB_MAX_NAME - 1);
        w->at[i].index = *n;
        end = blob_align(end, BLOB_ALIGN);
        list[*n] = (blob_io){.offset = (uint32_t)end,
                             .name = last,
                             .name_bytes = (uint32_t)blob_align(
                                 length + p->release->name_terminated, 16)};
        end += w->at[i].bytes;
        if (end > UINT32_MAX)
            return too_much(w, "inputs or outputs");
    }
    if (*n != wanted)
        return err_set(w->err, VPU_ERR_INVALID, "two %s of one name",
                       where == BLOB_INPUT ? "inputs" : "outputs");
    *out = list;
    *size = (uint32_t)end;
    return VPU_OK;
}

/* --- memory -------------------------------------------------------------- */

static void add_aligned(str *s, const void *bytes, size_t n)
{
    static const char zeros[BLOB_ALIGN];

    str_add(s, bytes, n);
    str_add(s, zeros, blob_align(s->n, BLOB_ALIGN) - s->n);
}

/* An equal constant that has a place already. */
static uint32_t same_constant(const planner *w, uint32_t i)
{
    const plan_tensor *t = w->p->tensors;

    for (uint32_t k = 0; k < i; k++)
        if (t[k].location == BLOB_CONST && !t[k].part &&
            w->at[k].bytes == w->at[i].bytes &&
            !memcmp(t[k].bytes, t[i].bytes, w->at[i].bytes))
            return k;
    return i;
}

/* Best fit, as the vendor's compiler; behind everything when nothing fits. */
static uint64_t take_scratch(planner *w, uint64_t bytes)
{
    uint32_t best = w->n_free;
    uint64_t at;

    for (uint32_t i = 0; i < w->n_free; i++)
        if (w->free[i].bytes >= bytes &&
            (best == w->n_free || w->free[i].bytes < w->free[best].bytes))
            best = i;
    if (best == w->n_free) {
        at = w->end_bss;
        w->end_bss += bytes;
        if (w->end_bss > w->n_bss)
            w->n_bss = w->end_bss;
        return at;
    }
    at = w->free[best].at;
    w->free[best].at += bytes;
    w->free[best].bytes -= bytes;
    if (!w->free[best].bytes)
        memmove(&w->free[best], &w->free[best + 1],
                (--w->n_free - best) * sizeof *w->free);
    return at;
}

/* Joined with the free ranges beside it; at the end, it is none [I]. */
static void give_scratch(planner *w, uint64_t at, uint64_t bytes)
{
    uint32_t i = 0;

    while (i < w->n_free && w->free[i].at < at)
        i++;
    memmove(&w->free[i + 1], &w->free[i], (w->n_free++ - i) * sizeof *w->free);
    w->free[i] = (free_range){at, bytes};
    for (uint32_t k = i ? i - 1 : 0; k + 1 < w->n_free && k <= i;)
        if (w->free[k].at + w->free[k].bytes == w->free[k + 1].at) {
            w->free[k].bytes += w->free[k + 1].bytes;
            memmove(&w->free[k + 1], &w->free[k + 2],
                    (--w->n_free - k - 1) * sizeof *w->free);
        } else {
            k++;
        }
    if (w->free[w->n_free - 1].at + w->free[w->n_free - 1].bytes == w->end_bss)
        w->end_bss = w->free[--w->n_free].at;
}

/* The tensor that has the memory. */
static uint32_t whole_of(const plan *p, uint32_t i)
{
    return p->tensors[i].part ? p->tensors[i].whole : i;
}

/* A scratch tensor has its place from the first stage that names it to the
 * last. */
static void place_scratch(planner *w)
{
    const plan *p = w->p;
    uint32_t *last = arena_array(w->a, uint32_t, p->n_tensors + 1);
    bool *placed = arena_array(w->a, bool, p->n_tensors + 1);

    w->free = arena_array(w->a, free_range, p->n_tensors + 1);
    for (uint32_t s = 0; s < p->n_stages; s++)
        for (uint32_t k = 0; k < p->stages[s].n_tensors; k++)
            last[whole_of(p, p->stages[s].tensors[k])] = s;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        const uint32_t *list = p->stages[s].tensors;
        uint32_t n = p->stages[s].n_tensors;

        for (uint32_t k = 0; k < n; k++) {
            uint32_t i = whole_of(p, list[k]);

            if (p->tensors[i].location != BLOB_BSS || placed[i])
                continue;
            placed[i] = true;
            w->at[i].offset =
                take_scratch(w, blob_align(w->at[i].bytes, BLOB_ALIGN));
        }
        for (uint32_t k = 0; k < n; k++) {
            uint32_t i = whole_of(p, list[k]);

            if (p->tensors[i].location != BLOB_BSS || !placed[i] ||
                last[i] != s)
                continue;
            placed[i] = false; /* a stage may name it twice */
            give_scratch(w, w->at[i].offset,
                         blob_align(w->at[i].bytes, BLOB_ALIGN));
        }
    }
}

static vpu_status place_memory(planner *w)
{
    for (uint32_t i = 0; i < w->p->n_tensors; i++) {
        const plan_tensor *t = &w->p->tensors[i];
        place *at = &w->at[i];
        uint32_t same;

        if (t->location != BLOB_CONST || t->part)
            continue;
        same = same_constant(w, i);
        at->offset = w->at[same].offset;
        if (same == i) {
            at->offset = w->consts.n;
            add_aligned(&w->consts, t->bytes, at->bytes);
        }
        if (w->consts.n > UINT32_MAX)
            return too_much(w, "constants");
    }
    place_scratch(w);
    return w->n_bss > UINT32_MAX ? too_much(w, "scratch memory") : VPU_OK;
}

static uint32_t add_words(planner *w, const uint32_t *words, uint32_t n)
{
    uint32_t at = (uint32_t)w->consts.n;
    uint8_t b[4];

    for (uint32_t i = 0; i < n; i++) {
        word_set(b, words[i]);
        str_add(&w->consts, b, 4);
    }
    return at;
}

static const blob_desc *same_dims(const planner *w, const blob_desc *d)
{
    for (uint32_t i = 0; i < w->p->n_tensors; i++) {
        const blob_desc *other = &w->at[i].desc;

        if (w->at[i].shaped && other->order == d->order &&
            other->rank == d->rank &&
            !memcmp(other->dims, d->dims, sizeof d->dims))
            return other;
    }
    return NULL;
}

static void place_shape(planner *w, uint32_t i)
{
    place *at = &w->at[i];
    blob_desc *d = &at->desc;
    const blob_desc *same = NULL;

    if (at->shaped || w->p->release->major < 6)
        return;
    if (w->p->release->shared_dims)
        same = same_dims(w, d);
    d->dims_location = d->strides_location = BLOB_CONST;
    d->dims_at = same ? same->dims_at : add_words(w, d->dims, d->rank);
    d->strides_at = add_words(w, d->strides, d->rank);
    at->shaped = true;
}

/* Those stages use, then inputs nobody uses. */
static void place_shapes(planner *w)
{
    const plan *p = w->p;
    const char *last = NULL;
    uint32_t i;

    for (uint32_t s = 0; s < p->n_stages; s++)
        for (uint32_t k = 0; k < p->stages[s].n_tensors; k++)
            place_shape(w, p->stages[s].tensors[k]);
    while ((i = next_by_name(p, BLOB_INPUT, last)) < p->n_tensors) {
        place_shape(w, i);
        last = p->tensors[i].name;
    }
    for (last = NULL;
         (i = next_by_name(p, BLOB_OUTPUT, last)) < p->n_tensors;) {
        place_shape(w, i);
        last = p->tensors[i].name;
    }
}

/* --- the blob ------------------------------------------------------------ */

static void describe_io(const planner *w, blob_location where, blob_io *list)
{
    for (uint32_t i = 0; i < w->p->n_tensors; i++)
        if (w->p->tensors[i].location == where && !w->p->tensors[i].part)
            list[w->at[i].index].desc = w->at[i].desc;
}

static blob_buffer buffer_of(const planner *w, uint32_t i)
{
    const plan_tensor *t = &w->p->tensors[i];
    const place *at = &w->at[whole_of(w->p, i)];
    blob_buffer f = {.desc = w->at[i].desc,
                     .location = t->location,
                     .offset =
                         (uint32_t)at->offset + (t->part ? t->offset : 0)};

    if (blob_wire_owned(f.location))
        f.data = (blob_owner){at->index, (uint32_t)at->bytes};
    return f;
}

static void build_stages(const planner *w, blob *b)
{
    const plan *p = w->p;
    blob_stage *list = arena_array(w->a, blob_stage, p->n_stages + 1);

    for (uint32_t i = 0; i < p->n_stages; i++) {
        const plan_stage *s = &p->stages[i];
        bool dma = stage_is_dma(s->type), none = s->type == STAGE_NONE;
        blob_buffer *buffers = arena_array(w->a, blob_buffer, s->n_tensors + 1);

        for (uint32_t k = 0; k < s->n_tensors; k++)
            buffers[k] = buffer_of(w, s->tensors[k]);
        list[i] = (blob_stage){.type = s->type,
                               .n_shaves = dma || none ? 0 : p->n_shaves,
                               .params = s->params,
                               .n_params = s->n_params,
                               .buffers = buffers,
                               .n_buffers = s->n_tensors};
        b->has_hw |= stage_is_hw(s->type);
        b->has_dma |= dma;
        b->has_shave |= !dma && !stage_is_hw(s->type);
    }
    b->stages = list;
    b->n_stages = p->n_stages;
}

typedef struct {
    planner w;
    blob *out;
} planning;

static vpu_status plan_all(void *user, vpu_error *err)
{
    planning *x = user;
    planner *w = &x->w;
    blob *out = x->out;
    blob_io *inputs = NULL, *outputs = NULL;
    vpu_status st = measure(w);

    (void)err; /* w->err */
    if (!st)
        st =
            place_io(w, BLOB_INPUT, &inputs, &out->n_inputs, &out->inputs_size);
    if (!st)
        st = place_io(w, BLOB_OUTPUT, &outputs, &out->n_outputs,
                      &out->outputs_size);
    if (!st)
        st = place_memory(w);
    if (st)
        return st;
    place_shapes(w);
    describe_io(w, BLOB_INPUT, inputs);
    describe_io(w, BLOB_OUTPUT, outputs);
    out->inputs = inputs;
    out->outputs = outputs;
    build_stages(w, out);
    add_aligned(&w->consts, NULL, 0);
    out->bss_size = (uint32_t)w->n_bss;
    out->n_constants = (uint32_t)w->consts.n;
    out->constants = arena_memdup(w->a, str_text(&w->consts), w->consts.n);
    return VPU_OK;
}

static void free_constants(void *user)
{
    planning *x = user;

    str_free(&x->w.consts);
}

vpu_status plan_blob(const plan *p, arena *a, blob *out, vpu_error *err)
{
    planning x = {.w = {.p = p,
                        .a = a,
                        .at = arena_array(a, place, p->n_tensors + 1),
                        .err = err},
                  .out = out};

    *out = (blob){.major = p->release->major,
                  .minor = p->release->minor,
                  .batch = 1,
                  .n_slices = p->n_slices,
                  .n_shaves = p->n_shaves};
    return oom_finally(plan_all, free_constants, &x, err);
}
