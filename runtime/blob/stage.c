/* Stage numbers and parameters. */
#include "runtime/blob/stage.h"

#include <string.h>

const char *stage_name(uint32_t type)
{
    switch (type) {
#define X(number, name) \
    case number:        \
        return name;
#include "runtime/blob/stage.def"
#undef X
    default:
        return NULL;
    }
}

bool stage_is_hw(uint32_t type)
{
    return type == STAGE_HW;
}

bool stage_is_dma(uint32_t type)
{
    return type == STAGE_COPY || type == STAGE_LOOP_START ||
           type == STAGE_LOOP_END;
}

/* --- custom stages ------------------------------------------------------- */

enum { FIXED = 14 }; /* words in front of the arguments */

bool stage_custom_read(const blob_stage *s, arena *a, stage_custom *out)
{
    const uint32_t *p = s->params;
    bool old = s->type == STAGE_OLD_CUSTOM;
    stage_arg *args;

    if ((s->type != STAGE_CUSTOM && !old) || s->n_params < FIXED ||
        (s->n_params - FIXED) % 2 || (s->n_params - FIXED) / 2 != p[13])
        return false;
    *out = (stage_custom){.max_shaves = p[9],
                          .kernel = p[old ? 11 : 10],
                          .n_data = p[old ? 10 : 11],
                          .n_buffers = p[12],
                          .n_args = p[13]};
    for (int i = 0; i < 3; i++) {
        out->groups[i] = p[i];
        out->local[i] = p[3 + i];
        out->offset[i] = p[6 + i];
    }
    out->args = args = arena_array(a, stage_arg, out->n_args + 1);
    for (uint32_t i = 0; i < out->n_args; i++)
        args[i] = (stage_arg){p[FIXED + 2 * i], (int32_t)p[FIXED + 2 * i + 1]};
    return true;
}

void stage_custom_write(const stage_custom *c, uint32_t type, arena *a,
                        blob_stage *out)
{
    bool old = type == STAGE_OLD_CUSTOM;
    uint32_t *p = arena_array(a, uint32_t, FIXED + 2 * (size_t)c->n_args);

    for (int i = 0; i < 3; i++) {
        p[i] = c->groups[i];
        p[3 + i] = c->local[i];
        p[6 + i] = c->offset[i];
    }
    p[9] = c->max_shaves;
    p[old ? 11 : 10] = c->kernel;
    p[old ? 10 : 11] = c->n_data;
    p[12] = c->n_buffers;
    p[13] = c->n_args;
    for (uint32_t i = 0; i < c->n_args; i++) {
        p[FIXED + 2 * i] = c->args[i].value;
        p[FIXED + 2 * i + 1] = (uint32_t)c->args[i].tag;
    }
    out->type = type;
    out->params = p;
    out->n_params = FIXED + 2 * c->n_args;
}

/* --- orders and types ---------------------------------------------------- */

static uint32_t digit(uint32_t order, uint32_t i)
{
    return order >> (4 * i) & 15;
}

uint32_t stage_order_rank(uint32_t order)
{
    uint32_t n = 0, seen = 0;

    while (n < 8 && digit(order, n)) {
        if (seen & 1u << digit(order, n))
            return 0;
        seen |= 1u << digit(order, n++);
    }
    return n < 8 && order >> (4 * n) ? 0 : n;
}

const char *stage_order_name(uint32_t order, arena *a)
{
    static const struct {
        uint32_t code;
        const char *name;
    } names[] = {{0x3, "C"},        {0x43, "NC"},     {0x321, "CHW"},
                 {0x213, "HWC"},    {0x231, "HCW"},   {0x4321, "NCHW"},
                 {0x4213, "NHWC"},  {0x4231, "NHCW"}, {0x43521, "NCDHW"},
                 {0x45213, "NDHWC"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == order)
            return names[i].name;
    return arena_printf(a, "0x%x", order);
}

void stage_permute_params(uint32_t from, uint32_t to, uint32_t out[8])
{
    for (uint32_t i = 0; i < 8; i++) {
        out[i] = UINT32_MAX;
        for (uint32_t k = 0; k < 8 && digit(to, i); k++)
            if (digit(from, k) == digit(to, i))
                out[i] = k;
    }
}

const char *blob_type_name(uint32_t type)
{
    static const char *const names[] = {"FP16", "U8", "S32", "FP32", "I8"};

    return type < BLOB_N_TYPES ? names[type] : NULL;
}

uint32_t blob_type_bytes(uint32_t type)
{
    static const uint32_t bytes[] = {2, 1, 4, 4, 1};

    return type < BLOB_N_TYPES ? bytes[type] : 0;
}

const char *blob_location_name(uint32_t location)
{
    static const char *const names[] = {"none",  "input", "output",
                                        "const", "bss",   "cmx"};

    return location < BLOB_N_LOCATIONS ? names[location] : NULL;
}

uint64_t blob_desc_bytes(const blob_desc *d)
{
    uint32_t last = d->rank - 1;

    if (!d->rank || d->rank > BLOB_MAX_DIMS)
        return blob_type_bytes(d->type);
    return (uint64_t)d->strides[last] * d->dims[last];
}

uint64_t blob_desc_span(const blob_desc *d)
{
    uint64_t n = blob_type_bytes(d->type);

    for (uint32_t i = 0; i < d->rank && i < BLOB_MAX_DIMS; i++) {
        uint64_t more;

        if (!d->dims[i])
            return 0;
        more = (uint64_t)(d->dims[i] - 1) * d->strides[i];
        n = n > UINT64_MAX - more ? UINT64_MAX : n + more;
    }
    return n;
}
