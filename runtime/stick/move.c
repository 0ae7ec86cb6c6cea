/* Moving elements. */
#include "runtime/stick/move.h"

#include <math.h>
#include <string.h>

#include "runtime/blob/stage.h"
#include "runtime/graph/tensor.h"

enum { NONE = BLOB_MAX_DIMS };

/* Which dim of d has this digit in its order. */
static uint32_t find_digit(const blob_desc *d, uint32_t digit)
{
    for (uint32_t i = 0; i < d->rank && i < BLOB_MAX_DIMS; i++)
        if ((d->order >> (4 * i) & 15) == digit)
            return i;
    return NONE;
}

static uint32_t source_dim(const blob_stage *s, uint32_t i)
{
    if (s->type == STAGE_PERMUTE)
        return s->params[i] < NONE ? s->params[i] : NONE;
    return find_digit(&s->buffers[0].desc,
                      s->buffers[1].desc.order >> (4 * i) & 15);
}

static bool is_static(const blob_desc *d)
{
    bool inside = !d->dims_location && !d->strides_location; /* up to 5.0 */

    return d->rank && d->rank <= BLOB_MAX_DIMS &&
           (inside || (d->dims_location == BLOB_CONST &&
                       d->strides_location == BLOB_CONST));
}

/* Those the vendor's compiler asks for. */
static bool converts(uint32_t from, uint32_t to)
{
    static const uint32_t pairs[][2] = {
        {BLOB_U8, BLOB_F16},  {BLOB_F16, BLOB_F32}, {BLOB_F32, BLOB_F16},
        {BLOB_S32, BLOB_F16}, {BLOB_F16, BLOB_S32}, {BLOB_S32, BLOB_U8}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] == from && pairs[i][1] == to)
            return true;
    return false;
}

vpu_status stick_move_of(const blob_stage *s, stick_move *out, vpu_error *err)
{
    const blob_desc *from = &s->buffers[0].desc, *to = &s->buffers[1].desc;

    if (!is_static(from) || !is_static(to))
        return err_set(err, VPU_ERR_UNSUPPORTED, "%s: dynamic or no dims",
                       stage_name(s->type));
    *out = (stick_move){.from_type = from->type,
                        .to_type = to->type,
                        .rank = to->rank,
                        .scale = 1};
    if (s->type == STAGE_CONVERT) {
        memcpy(&out->scale, &s->params[0], 4);
        memcpy(&out->bias, &s->params[1], 4);
    }
    if (from->type != to->type &&
        (s->type != STAGE_CONVERT || !converts(from->type, to->type)))
        return err_set(err, VPU_ERR_UNSUPPORTED, "%s from %s to %s",
                       stage_name(s->type), blob_type_name(from->type),
                       blob_type_name(to->type));
    for (uint32_t i = 0; i < to->rank; i++) {
        uint32_t k = source_dim(s, i);

        if (to->rank != from->rank || k >= from->rank ||
            from->dims[k] != to->dims[i] || !to->dims[i])
            return err_set(err, VPU_ERR_UNSUPPORTED,
                           "%s: dim %u of the result has no equal one in the "
                           "input",
                           stage_name(s->type), i);
        out->dims[i] = to->dims[i];
        out->from_strides[i] = from->strides[k];
        out->to_strides[i] = to->strides[i];
    }
    return VPU_OK;
}

uint64_t stick_move_span(const stick_move *m, bool to)
{
    uint64_t n = blob_type_bytes(to ? m->to_type : m->from_type);

    for (uint32_t i = 0; i < m->rank; i++) {
        uint64_t more = (uint64_t)(m->dims[i] - 1) *
                        (to ? m->to_strides[i] : m->from_strides[i]);

        n = n > UINT64_MAX - more ? UINT64_MAX : n + more;
    }
    return n;
}

static float load(uint32_t type, const uint8_t *p)
{
    uint16_t h;
    int32_t i;
    float f;

    switch (type) {
    case BLOB_F16:
        memcpy(&h, p, 2);
        return tensor_f16_to_f32(h);
    case BLOB_S32:
        memcpy(&i, p, 4);
        return (float)i;
    case BLOB_F32:
        memcpy(&f, p, 4);
        return f;
    case BLOB_I8:
        return (int8_t)*p;
    default:
        return *p;
    }
}

/* To integers: towards zero, held in range [?]. */
static int32_t whole(float v, int32_t least, int32_t most)
{
    return isnan(v)            ? 0
           : v <= (float)least ? least
           : v >= (float)most  ? most
                               : (int32_t)v;
}

static void store(uint32_t type, float v, uint8_t *p)
{
    uint16_t h;
    int32_t i;

    switch (type) {
    case BLOB_F16:
        h = tensor_f32_to_f16(v);
        memcpy(p, &h, 2);
        break;
    case BLOB_S32:
        i = whole(v, INT32_MIN, INT32_MAX);
        memcpy(p, &i, 4);
        break;
    case BLOB_F32:
        memcpy(p, &v, 4);
        break;
    case BLOB_I8:
        *p = (uint8_t)whole(v, -128, 127);
        break;
    default:
        *p = (uint8_t)whole(v, 0, 255);
    }
}

static void run_row(const stick_move *m, const uint8_t *from, uint8_t *to)
{
    uint32_t bytes = blob_type_bytes(m->from_type);
    bool plain = m->from_type == m->to_type && m->scale == 1 && m->bias == 0;

    for (uint32_t i = 0; i < m->dims[0]; i++) {
        if (plain) {
            memmove(to, from, bytes);
        } else {
            float v = load(m->from_type, from);

            if (m->scale != 1 || m->bias != 0)
                v = v * m->scale + m->bias; /* [?] */
            store(m->to_type, v, to);
        }
        from += m->from_strides[0];
        to += m->to_strides[0];
    }
}

void stick_move_run(const stick_move *m, const void *from, void *to)
{
    const uint8_t *src = (const uint8_t *)from + m->from_offset;
    uint8_t *dst = (uint8_t *)to + m->to_offset;
    uint32_t at[BLOB_MAX_DIMS] = {0}, d;

    do {
        uint64_t f = 0, t = 0;

        for (d = 1; d < m->rank; d++) {
            f += (uint64_t)at[d] * m->from_strides[d];
            t += (uint64_t)at[d] * m->to_strides[d];
        }
        run_row(m, src + f, dst + t);
        for (d = 1; d < m->rank && ++at[d] == m->dims[d]; d++)
            at[d] = 0;
    } while (d < m->rank);
}
