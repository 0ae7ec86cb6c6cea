/* Pictures as inputs: PNG and JPEG files as tensors of one or three channels.
 *
 * A picture has to have the input's width and height; nothing is resized.
 * Values are those that the file stores, 0 to 255 each: colour profiles and
 * gamma are not applied, nor is a camera's rotation. Samples of 16 bits become
 * 8, rounded; fewer bits are spread over the range; palettes become colours. */
#ifndef VPU_RUNTIME_GRAPH_PIXELS_H
#define VPU_RUNTIME_GRAPH_PIXELS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/file.h"
#include "runtime/graph/tensor.h"

#define PIXELS_MAX_FILE ((size_t)256 << 20) /* bytes of a picture's file */
#define PIXELS_MAX ((uint64_t)1 << 26)      /* pixels: 8192 x 8192 */

typedef enum { PIXELS_PNG, PIXELS_JPEG } pixels_kind;

enum { PIXELS_MAX_CHANNELS = 3 };

/* Numbers are for the input's channels in their order, or one for all. */
typedef struct {
    float mean[PIXELS_MAX_CHANNELS], scale[PIXELS_MAX_CHANNELS];
    unsigned n_mean, n_scale; /* 0 = not given: 0 and 1 */
    bool bgr;                 /* channel 0 is blue; else red */
    bool drop_alpha;          /* else a picture with transparency is refused */
    bool repeat_grey;         /* into all three channels; else refused */
} pixels_options;

/* "mean=104,117,123,scale=58,order=bgr,alpha=drop,grey=repeat", any of them in
 * any order: what has no '=' is a further number of the option before it. NULL
 * gives the defaults.
 *
 * VPU_ERR_INVALID  another option or value, one twice, a scale of 0; the
 * message has what can stand there */
vpu_status pixels_options_parse(const char *text, pixels_options *out,
                                vpu_error *err);

/* A picture as the tensor that want describes, in logical order; plain:
 * tensor_bytes of it. HW, CHW or NCHW with N = 1; each value is (pixel - mean)
 * / scale, computed in float and rounded to the element type. name is that of
 * the input, for messages. Any thread.
 *
 * VPU_ERR_MISMATCH     another width, height or number of channels
 * VPU_ERR_INVALID      elements that are not u8, f16 or f32, another shape; a
 *                      value that the type does not have: a fraction for u8,
 *                      infinity
 * VPU_ERR_PARSE        damaged, or it ends early
 * VPU_ERR_UNSUPPORTED  CMYK, transparency, samples of 12 bits; no libpng or
 *                      TurboJPEG on this machine
 * VPU_ERR_LIMIT        more than PIXELS_MAX */
vpu_status pixels_parse(const file_bytes *f, pixels_kind kind,
                        const pixels_options *o, const tensor_desc *want,
                        const char *name, void *plain, vpu_error *err);

#endif
