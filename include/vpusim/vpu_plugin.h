/* What a layer should compute, as a C plug-in: the `host` backend.
 *
 * A plug-in is a shared object that exports vpu_plugin_get (VPU_PLUGIN_EXPORT
 * writes it). It says which layer types it defines, takes a layer's parameters
 * and data, says which tensors it accepts, and computes the outputs:
 *
 *     cc -shared -fPIC -O2 -ffp-contract=off -I<prefix>/include \
 *         -o grn.so plugin.c -lm
 *
 * It runs in a process of its own, one for each call sequence
 *
 *     init, formats (perhaps several times), shape, execute, destroy
 *
 * on one thread. It may print; what it printed is shown when it fails. Inputs
 * and blobs are not writable. When it crashes or takes longer than the time
 * limit, its process ends and the caller reports that.
 *
 * This header needs nothing but C99 and is the whole interface. Functions
 * return 0 or, having put a message into error, another number. */
#ifndef VPU_RUNTIME_VPU_PLUGIN_H
#define VPU_RUNTIME_VPU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. A caller takes plug-ins of its own version. */
#define VPU_PLUGIN_ABI 1u

typedef enum {
    VPU_PLUGIN_F16,
    VPU_PLUGIN_F32,
    VPU_PLUGIN_I32,
    VPU_PLUGIN_U8,
    VPU_PLUGIN_I8,
    VPU_PLUGIN_I16,
    VPU_PLUGIN_U16,
    VPU_PLUGIN_I64
} vpu_plugin_dtype;

/* Dims are always in the order of the model (NCHW), outermost first; layout is
 * the order in memory. */
typedef enum {
    VPU_PLUGIN_PLAIN, /* as the dims stand, row-major */
    VPU_PLUGIN_MINOR  /* channels innermost: NHWC, HWC */
} vpu_plugin_layout;

#define VPU_PLUGIN_MAX_RANK 8

typedef struct {
    uint32_t dtype;  /* vpu_plugin_dtype */
    uint32_t layout; /* vpu_plugin_layout */
    uint32_t rank;   /* 0 = scalar */
    uint32_t dims[VPU_PLUGIN_MAX_RANK];
} vpu_plugin_desc;

typedef struct {
    vpu_plugin_desc desc;
    uint64_t bytes; /* elements times their size */
    void *data;     /* aligned to 64 bytes; halves are uint16_t */
} vpu_plugin_tensor;

typedef struct {
    const char *name, *value;
} vpu_plugin_param;

/* Weights and other data of the model. */
typedef struct {
    const char *name;
    const void *data;
    uint64_t bytes;
    uint32_t dtype;
} vpu_plugin_blob;

/* The layer to define; lives until destroy. */
typedef struct {
    const char *type, *name;
    const vpu_plugin_param *params;
    uint32_t n_params;
    const vpu_plugin_blob *blobs;
    uint32_t n_blobs;
} vpu_plugin_layer;

/* Where a message goes: at most bytes, the final zero included. */
typedef struct {
    char *text;
    size_t bytes;
} vpu_plugin_error;

/* abi must stay the first member, in every version. */
typedef struct {
    uint32_t abi;   /* VPU_PLUGIN_ABI */
    uint32_t bytes; /* sizeof(vpu_plugin) */
    const char *name, *version;
    const char *const *types; /* layer types it defines, any case; NULL ends */
    /* Take the layer; *self is given to all other functions. */
    int (*init)(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error);
    /* Are these element types and layouts fine? If not, floats are offered as
     * halves, then channels innermost. NULL = anything is. */
    int (*formats)(void *self, const vpu_plugin_desc *in, uint32_t n_in,
                   const vpu_plugin_desc *out, uint32_t n_out,
                   vpu_plugin_error *error);
    /* Shapes of the outputs from those of the inputs. out holds what the caller
     * has; shapes that only the caller can know are left as they are. Another
     * result than the caller's is an error that names both. NULL = as the
     * caller says. */
    int (*shape)(void *self, const vpu_plugin_desc *in, uint32_t n_in,
                 vpu_plugin_desc *out, uint32_t n_out, vpu_plugin_error *error);
    /* Compute all outputs; they are zeros before. */
    int (*execute)(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error);
    void (*destroy)(void *self); /* NULL = nothing to do */
} vpu_plugin;

/* The one exported symbol. abi is the caller's version; the table returned has
 * the plug-in's. */
typedef const vpu_plugin *vpu_plugin_get_fn(uint32_t abi);
#define VPU_PLUGIN_SYMBOL "vpu_plugin_get"
#define VPU_PLUGIN_EXPORT(table)                                             \
    __attribute__((visibility("default"))) const vpu_plugin *vpu_plugin_get( \
        uint32_t abi);                                                       \
    const vpu_plugin *vpu_plugin_get(uint32_t abi)                           \
    {                                                                        \
        (void)abi;                                                           \
        return &(table);                                                     \
    }

/* --- helpers: nothing a plug-in must use --------------------------------- */

/* Halves, round to nearest even; NaNs stay NaNs. */
static inline float vpu_plugin_half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, x = (h & 0x7fffu) << 13;
    float f;

    if ((h & 0x7c00u) == 0x7c00u) {
        x |= 0x7f800000u | sign;
        memcpy(&f, &x, sizeof f);
        return f;
    }
    memcpy(&f, &x, sizeof f); /* 2^112 too small, exactly */
    f *= 5192296858534827628530496329220096.0f;
    return sign ? -f : f;
}

static inline uint16_t vpu_plugin_float_to_half(float f)
{
    uint32_t x, sign, mant, half, rest, tie;
    int32_t exp;

    memcpy(&x, &f, sizeof x);
    sign = x >> 16 & 0x8000u;
    exp = (int32_t)(x >> 23 & 0xff) - 112;
    mant = x & 0x7fffffu;
    if ((x & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | mant >> 13);
    if (exp >= 31)
        return (uint16_t)(sign | 0x7c00u);
    if (exp <= 0) {
        uint32_t shift = (uint32_t)(14 - exp);

        if (shift > 24)
            return (uint16_t)sign;
        mant |= 0x800000u;
        half = mant >> shift;
        rest = mant & ((1u << shift) - 1);
        tie = 1u << (shift - 1);
    } else {
        half = (uint32_t)exp << 10 | mant >> 13;
        rest = mant & 0x1fffu;
        tie = 0x1000u;
    }
    half += rest > tie || (rest == tie && (half & 1));
    return (uint16_t)(sign | half);
}

/* As a computation in half leaves it. */
static inline float vpu_plugin_round(float f)
{
    return vpu_plugin_half_to_float(vpu_plugin_float_to_half(f));
}

static inline uint64_t vpu_plugin_elements(const vpu_plugin_desc *d)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < d->rank; i++)
        n *= d->dims[i];
    return n;
}

/* Element i of memory of any type as a float, and back, rounded once. */
static inline float vpu_plugin_read(const vpu_plugin_tensor *t, uint64_t i)
{
    switch (t->desc.dtype) {
    case VPU_PLUGIN_F16:
        return vpu_plugin_half_to_float(((const uint16_t *)t->data)[i]);
    case VPU_PLUGIN_F32:
        return ((const float *)t->data)[i];
    case VPU_PLUGIN_I32:
        return (float)((const int32_t *)t->data)[i];
    case VPU_PLUGIN_U8:
        return (float)((const uint8_t *)t->data)[i];
    case VPU_PLUGIN_I8:
        return (float)((const int8_t *)t->data)[i];
    case VPU_PLUGIN_I16:
        return (float)((const int16_t *)t->data)[i];
    case VPU_PLUGIN_U16:
        return (float)((const uint16_t *)t->data)[i];
    default:
        return (float)((const int64_t *)t->data)[i];
    }
}

/* f16 and f32 tensors; others are left alone. */
static inline void vpu_plugin_write(const vpu_plugin_tensor *t, uint64_t i,
                                    float v)
{
    if (t->desc.dtype == VPU_PLUGIN_F16)
        ((uint16_t *)t->data)[i] = vpu_plugin_float_to_half(v);
    else if (t->desc.dtype == VPU_PLUGIN_F32)
        ((float *)t->data)[i] = v;
}

/* Dim i; 1 beyond the rank. */
static inline uint32_t vpu_plugin_dim(const vpu_plugin_tensor *t, uint32_t i)
{
    return i < t->desc.rank ? t->desc.dims[i] : 1;
}

/* A parameter's text, NULL when there is none; the last of equal names. */
static inline const char *vpu_plugin_text(const vpu_plugin_layer *l,
                                          const char *name)
{
    for (uint32_t i = l->n_params; i-- > 0;)
        if (!strcmp(l->params[i].name, name))
            return l->params[i].value;
    return NULL;
}

static inline double vpu_plugin_number(const vpu_plugin_layer *l,
                                       const char *name, double otherwise)
{
    const char *text = vpu_plugin_text(l, name);

    return text ? strtod(text, NULL) : otherwise;
}

static inline const vpu_plugin_blob *
vpu_plugin_find_blob(const vpu_plugin_layer *l, const char *name)
{
    for (uint32_t i = 0; i < l->n_blobs; i++)
        if (!strcmp(l->blobs[i].name, name))
            return &l->blobs[i];
    return NULL;
}

static inline int vpu_plugin_fail(vpu_plugin_error *e, const char *message)
{
    snprintf(e->text, e->bytes, "%s", message);
    return 1;
}

/* --- ready-made members of the table */

/* An init for plug-ins whose self is the layer. */
static inline int vpu_plugin_keep(const vpu_plugin_layer *layer, void **self,
                                  vpu_plugin_error *error)
{
    (void)error;
    *self = (void *)(uintptr_t)layer;
    return 0;
}

/* 1, with a message, when the layer has no parameter of that name. */
static inline int vpu_plugin_lacks(const vpu_plugin_layer *l, const char *name,
                                   vpu_plugin_error *error)
{
    if (vpu_plugin_text(l, name))
        return 0;
    snprintf(error->text, error->bytes, "it has no parameter '%s'", name);
    return 1;
}

/* Whether all n tensors have this type and plain order. */
static inline int vpu_plugin_refuses(const vpu_plugin_desc *d, uint32_t n,
                                     uint32_t dtype, vpu_plugin_error *error)
{
    static const char *const names[] = {"f16", "f32", "i32", "u8",
                                        "i8",  "i16", "u16", "i64"};

    for (uint32_t i = 0; i < n; i++)
        if (d[i].dtype != dtype || d[i].layout != VPU_PLUGIN_PLAIN) {
            snprintf(error->text, error->bytes,
                     "tensor %u of %u is %s, expected %s in plain order", i, n,
                     d[i].dtype < 8 ? names[d[i].dtype] : "?", names[dtype]);
            return 1;
        }
    return 0;
}

/* A formats: all tensors are halves. */
static inline int vpu_plugin_halves(void *self, const vpu_plugin_desc *in,
                                    uint32_t n_in, const vpu_plugin_desc *out,
                                    uint32_t n_out, vpu_plugin_error *error)
{
    (void)self;
    return vpu_plugin_refuses(in, n_in, VPU_PLUGIN_F16, error) ||
           vpu_plugin_refuses(out, n_out, VPU_PLUGIN_F16, error);
}

/* A shape: every output as input 0. */
static inline int vpu_plugin_same_shape(void *self, const vpu_plugin_desc *in,
                                        uint32_t n_in, vpu_plugin_desc *out,
                                        uint32_t n_out, vpu_plugin_error *error)
{
    (void)self;
    if (!n_in)
        return vpu_plugin_fail(error, "no input");
    for (uint32_t i = 0; i < n_out; i++) {
        out[i].rank = in[0].rank;
        memcpy(out[i].dims, in[0].dims, sizeof out[i].dims);
    }
    return 0;
}

#ifdef __cplusplus
}
#endif

#endif
