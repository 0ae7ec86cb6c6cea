/* Generated and loaded inputs, saved outputs. Values are made in logical order
 * and then moved to the buffer's layout. */
#include "runtime/graph/io.h"

#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "runtime/graph/npy.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Element i of a float or integer value; integers keep the low bits. */
static void store(tensor_dtype t, void *data, uint64_t i, float f, uint64_t v)
{
    switch (t) {
    case TENSOR_F16:
        ((uint16_t *)data)[i] = tensor_f32_to_f16(f);
        break;
    case TENSOR_F32:
        ((float *)data)[i] = f;
        break;
    case TENSOR_U8:
    case TENSOR_I8:
        ((uint8_t *)data)[i] = (uint8_t)v;
        break;
    case TENSOR_I16:
    case TENSOR_U16:
        ((uint16_t *)data)[i] = (uint16_t)v;
        break;
    case TENSOR_I64:
        ((uint64_t *)data)[i] = v;
        break;
    default:
        ((uint32_t *)data)[i] = (uint32_t)v;
    }
}

static void fill_ramp(const tensor_desc *d, void *data)
{
    uint64_t n = tensor_elements(d);

    for (uint64_t i = 0; i < n; i++)
        store(d->dtype, data, i, (float)(i % 256) / 256,
              i % 256 - (d->dtype == TENSOR_I8 ? 128 : 0));
}

static void fill_random(const tensor_desc *d, uint64_t state, void *data)
{
    uint64_t n = tensor_elements(d);
    uint32_t bits = 8 * tensor_dtype_bytes(d->dtype);

    for (uint64_t i = 0; i < n; i++) {
        uint64_t r = splitmix64(&state);

        store(d->dtype, data, i, (float)(r >> 40) * 0x1p-23f - 1,
              r >> (64 - bits));
    }
}

static vpu_status load(const graph_buffer *b, const char *path, arena *a,
                       void **plain, vpu_error *err)
{
    tensor t;
    vpu_status st = npy_read(path, a, &t, err);

    if (st)
        return st;
    if (t.desc.dtype != b->desc.dtype || t.desc.rank != b->desc.rank ||
        memcmp(t.desc.dims, b->desc.dims, t.desc.rank * sizeof *t.desc.dims))
        return err_set(err, VPU_ERR_MISMATCH, "%s: the file is %s, %s wants %s",
                       path, tensor_desc_text(a, &t.desc), b->name,
                       tensor_desc_text(a, &b->desc));
    *plain = t.data;
    return VPU_OK;
}

/* The elements spec asks for, in logical order, in a. */
static vpu_status make_plain(const graph_buffer *b, const char *spec, arena *a,
                             void **plain, vpu_error *err)
{
    size_t n = strlen(spec);
    unsigned long long seed;

    if (n > 4 && !strcmp(spec + n - 4, ".npy"))
        return load(b, spec, a, plain, err);
    *plain = arena_push(a, b->bytes, 1, 64);
    if (!strcmp(spec, "zeros"))
        return VPU_OK;
    if (!strcmp(spec, "ramp")) {
        fill_ramp(&b->desc, *plain);
        return VPU_OK;
    }
    if (!strncmp(spec, "random:", 7) && str_to_u64(spec + 7, &seed)) {
        fill_random(&b->desc, seed + b->port * 0x9e3779b97f4a7c15, *plain);
        return VPU_OK;
    }
    return err_set(err, VPU_ERR_INVALID,
                   "input '%s' for %s; expected zeros, ramp, random:SEED or a "
                   "file that ends in .npy",
                   spec, b->name);
}

vpu_status graph_input_fill(const graph_buffer *b, const char *spec, void *data,
                            vpu_error *err)
{
    arena *a = arena_create(0);
    tensor_desc plain_desc = b->desc;
    void *plain = NULL;
    vpu_status st = make_plain(b, spec, a, &plain, err);

    plain_desc.layout = TENSOR_PLAIN;
    if (!st)
        tensor_relayout(&plain_desc, plain, b->desc.layout, data);
    arena_destroy(a);
    return st;
}

vpu_status graph_output_save(const char *dir, const graph *g, void *const *data,
                             vpu_error *err)
{
    arena *a = arena_create(0);
    vpu_status st = file_mkdirs(dir, err);

    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        const graph_buffer *b = &g->buffers[i];
        tensor t = {b->desc, data[i]};

        if (b->role == GRAPH_OUTPUT)
            st = npy_write(arena_printf(a, "%s/%s.npy", dir, b->name), &t, err);
    }
    arena_destroy(a);
    return st;
}
