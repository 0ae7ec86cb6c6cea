/* Copy, Permute and Convert: elements to other places, orders and types. */
#include <string.h>

#include "runtime/native/native_priv.h"

typedef struct {
    uint32_t rank;
    uint32_t dims[BLOB_MAX_DIMS]; /* of the result, the fastest first */
    uint32_t from[BLOB_MAX_DIMS], to[BLOB_MAX_DIMS]; /* strides, bytes */
    float scale, bias;
} moving;

void native_make_none(native_maker *m)
{
    (void)m;
}

void native_run_none(const native_job *j)
{
    (void)j;
}

/* Those the vendor's compiler asks for. */
static bool converts(uint32_t from, uint32_t to)
{
    static const uint32_t pairs[][2] = {
        {BLOB_U8, BLOB_F16},  {BLOB_F16, BLOB_F32}, {BLOB_F32, BLOB_F16},
        {BLOB_S32, BLOB_F16}, {BLOB_F16, BLOB_S32}, {BLOB_S32, BLOB_U8},
        {BLOB_U8, BLOB_S32},  {BLOB_U8, BLOB_F32},  {BLOB_S32, BLOB_F32},
        {BLOB_F32, BLOB_S32}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] == from && pairs[i][1] == to)
            return true;
    return from == to;
}

static bool same_letters(const native_tensor *p, const native_tensor *q)
{
    for (uint32_t i = 0; i < p->rank; i++)
        if (native_dim(q, p->order >> (4 * i) & 15) == NATIVE_NONE)
            return false;
    return p->rank == q->rank;
}

/* Which dim of the input is dim i of the output: params of a Permute name it,
 * in a Copy and Convert it has the same letter; where letters differ, the same
 * place. */
static uint32_t source_of(native_maker *m, uint32_t i)
{
    const native_tensor *from = native_at(m, 0), *to = native_at(m, 1);

    if (m->op->type == STAGE_PERMUTE) {
        int32_t k = native_i32(m, "an index of a dim", -1, BLOB_MAX_DIMS - 1);

        return k < 0 ? NATIVE_NONE : (uint32_t)k;
    }
    return same_letters(from, to) ? native_dim(from, to->order >> (4 * i) & 15)
                                  : i;
}

void native_make_move(native_maker *m)
{
    const native_tensor *from = native_at(m, 0), *to = native_at(m, 1);
    moving *v = arena_new(m->arena, moving);

    *v = (moving){.rank = to->rank, .scale = 1};
    m->op->state = v;
    if (m->op->type == STAGE_CONVERT) {
        v->scale = native_f32(m, "scale");
        v->bias = native_f32(m, "bias");
        native_flag(m, "fromDetectionOutput");
        native_flag(m, "haveBatch");
    }
    if (from->rank != to->rank)
        native_bad(m, "%u dims in, %u out", from->rank, to->rank);
    if (m->op->type == STAGE_CONVERT ? !converts(from->type, to->type)
                                     : from->type != to->type)
        native_refuse(m, "from %s to %s", blob_type_name(from->type),
                      blob_type_name(to->type));
    for (uint32_t i = 0; i < to->rank && !m->st; i++) {
        uint32_t k = source_of(m, i);

        if (m->st)
            break;
        if (k >= from->rank || from->dims[k] != to->dims[i]) {
            native_bad(m,
                       "dim %u of the output, of size %u, has no equal one in "
                       "the input",
                       i, to->dims[i]);
            break;
        }
        v->dims[i] = to->dims[i];
        v->from[i] = from->strides[k];
        v->to[i] = to->strides[i];
    }
    for (uint32_t i = to->rank; m->op->type == STAGE_PERMUTE && i < 8; i++)
        if (native_i32(m, "an index of a dim", -1, BLOB_MAX_DIMS - 1) != -1)
            native_bad(m, "index %u names a dim, the output has %u", i,
                       to->rank);
}

/* --- running ------------------------------------------------------------- */

typedef struct {
    const moving *v;
    uint32_t from_type, to_type, bytes; /* bytes: of an element that stays */
    bool plain;
    const uint8_t *from;
    uint8_t *to;
} run;

static void copy_row(const run *r, const uint8_t *from, uint8_t *to)
{
    const moving *v = r->v;
    uint32_t n = v->dims[0];

    if (v->from[0] == r->bytes && v->to[0] == r->bytes) {
        memcpy(to, from, (size_t)n * r->bytes);
        return;
    }
    for (; n--; from += v->from[0], to += v->to[0])
        if (r->bytes == 2)
            memcpy(to, from, 2);
        else if (r->bytes == 4)
            memcpy(to, from, 4);
        else
            *to = *from;
}

static void convert_row(const run *r, const uint8_t *from, uint8_t *to)
{
    const moving *v = r->v;
    bool same = v->scale == 1 && v->bias == 0;

    for (uint32_t n = v->dims[0]; n--; from += v->from[0], to += v->to[0]) {
        float x = native_get(r->from_type, from);

        native_put(r->to_type, same ? x : x * v->scale + v->bias, to); /* [?] */
    }
}

/* One index of the outermost dim, or all where there is one dim. */
static void run_part(void *arg, uint32_t part)
{
    const run *r = arg;
    const moving *v = r->v;
    uint32_t at[BLOB_MAX_DIMS] = {0}, last = v->rank - 1, d;

    do {
        uint64_t f = 0, t = 0;

        if (last)
            at[last] = part;
        for (d = 1; d < v->rank; d++) {
            f += (uint64_t)at[d] * v->from[d];
            t += (uint64_t)at[d] * v->to[d];
        }
        (r->plain ? copy_row : convert_row)(r, r->from + f, r->to + t);
        for (d = 1; d < last && ++at[d] == v->dims[d]; d++)
            at[d] = 0;
    } while (d < last);
}

static bool overlap(const uint8_t *p, uint64_t n, const uint8_t *q, uint64_t k)
{
    return p < q + k && q < p + n;
}

void native_run_move(const native_job *j)
{
    const native_tensor *from = native_of(j, 0), *to = native_of(j, 1);
    const moving *v = j->op->state;
    run r = {.v = v,
             .from_type = from->type,
             .to_type = to->type,
             .bytes = blob_type_bytes(from->type),
             .plain = from->type == to->type && v->scale == 1 && v->bias == 0,
             .from = native_data(j, 0),
             .to = native_data(j, 1)};

    if (!v->rank)
        return;
    /* Where both share memory the input is read whole before. */
    if (overlap(r.from, from->operand.span, r.to, to->operand.span))
        r.from = arena_memdup(j->arena, r.from, from->operand.span);
    native_each(j, v->rank > 1 ? v->dims[v->rank - 1] : 1, run_part, &r);
}
