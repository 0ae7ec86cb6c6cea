/* Images in buffers, for kernels in OpenCL C: 2-D images and arrays of them,
 * with coordinates that are integers. docs/bindings.md, "Images in buffers".
 *
 * A kernel's image becomes a pointer to global memory. What is in it says a
 * macro of the image's name, or a build option:
 *
 *   #define in_image half, 64, 32      elements, width, height
 *   -Dout_image=half4,width,height,8   and layers; sizes may be arguments
 *
 * Elements stand row by row, layer by layer, without gaps. An element of one
 * number is the first channel, the others are 0, 0 and 1; one of four is all of
 * them. Numbers are what they are: 255 of uchar is 255, not 1; written ones are
 * rounded to even and saturate.
 *
 * Reads outside follow the sampler: CLK_ADDRESS_CLAMP_TO_EDGE takes the nearest
 * element, CLK_ADDRESS_CLAMP gives the border: 0, 0, 0 and 1, of elements of
 * four numbers 0. Without either nothing is said of them, nor of writes
 * outside. Layers are always clamped. A sampler stands at file scope or at the
 * begin of a kernel; as an argument it is an int. */
#ifndef VPU_IMAGES_H
#define VPU_IMAGES_H
#ifdef __OPENCL_C_VERSION__

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
/* "__constant sampler_t". */
#pragma clang diagnostic ignored "-Wduplicate-decl-specifier"

#define __read_only const
#define read_only const
#define __write_only
#define write_only
#define __read_write
#define read_write
#define image2d_t __global void *
#define image2d_array_t __global void *
#define sampler_t __constant int

/* --- what is in an image -------------------------------------------------- */

#define VPU_IMAGE_APPLY(f, ...) f(__VA_ARGS__)
#define VPU_IMAGE_TYPE_(type, ...) type
#define VPU_IMAGE_WIDTH_(type, width, ...) width
#define VPU_IMAGE_HEIGHT_(type, width, height, ...) height
#define VPU_IMAGE_LAYERS_(type, width, height, layers, ...) layers
/* Behind a list without layers stands a one. */
#define VPU_IMAGE_OF(f, image) VPU_IMAGE_APPLY(f, image##_image, 1, 1, 1, 1)
#define VPU_IMAGE_PLACE(image, sampler, at)                           \
    vpu_image_place(at, (int)(VPU_IMAGE_OF(VPU_IMAGE_WIDTH_, image)), \
                    (int)(VPU_IMAGE_OF(VPU_IMAGE_HEIGHT_, image)),    \
                    (int)(VPU_IMAGE_OF(VPU_IMAGE_LAYERS_, image)), sampler)

#define get_image_width(image) ((int)(VPU_IMAGE_OF(VPU_IMAGE_WIDTH_, image)))
#define get_image_height(image) ((int)(VPU_IMAGE_OF(VPU_IMAGE_HEIGHT_, image)))
#define get_image_depth(image) ((int)(VPU_IMAGE_OF(VPU_IMAGE_LAYERS_, image)))
#define get_image_array_size(image) \
    ((size_t)(VPU_IMAGE_OF(VPU_IMAGE_LAYERS_, image)))
#define get_image_dim(image) \
    ((int2)(get_image_width(image), get_image_height(image)))

/* --- places --------------------------------------------------------------- */

/* Of an element; -1: the border. */
static int __attribute__((overloadable))
vpu_image_place(int4 at, int width, int height, int layers, int sampler)
{
    bool edge = (sampler & 14) == CLK_ADDRESS_CLAMP_TO_EDGE;
    bool border = (sampler & 14) == CLK_ADDRESS_CLAMP;
    int x = edge ? clamp(at.x, 0, width - 1) : at.x;
    int y = edge ? clamp(at.y, 0, height - 1) : at.y;
    int z = clamp(at.z, 0, layers - 1);

    if (border && (x < 0 || y < 0 || x >= width || y >= height))
        return -1;
    return (z * height + y) * width + x;
}

static int __attribute__((overloadable))
vpu_image_place(int2 at, int width, int height, int layers, int sampler)
{
    return vpu_image_place((int4)(at, 0, 0), width, height, layers, sampler);
}

/* --- elements ------------------------------------------------------------- */

#define VPU_IMAGE_READ_AS(f, to, T)                                    \
    static to##4 __attribute__((overloadable)) vpu_image_read_##f(     \
        const __global T *p, int at)                                   \
    {                                                                  \
        return (to##4)(at < 0 ? (to)0 : convert_##to(p[at]), 0, 0, 1); \
    }                                                                  \
    static to##4 __attribute__((overloadable)) vpu_image_read_##f(     \
        const __global T##4 * p, int at)                               \
    {                                                                  \
        return at < 0 ? (to##4)(0) : convert_##to##4(p[at]);           \
    }

#define VPU_IMAGE_WRITE_AS(f, from, T, mode)                       \
    static void __attribute__((overloadable)) vpu_image_write_##f( \
        __global T *p, int at, from##4 v)                          \
    {                                                              \
        p[at] = convert_##T##mode(v.x);                            \
    }                                                              \
    static void __attribute__((overloadable)) vpu_image_write_##f( \
        __global T##4 * p, int at, from##4 v)                      \
    {                                                              \
        p[at] = convert_##T##4##mode(v);                           \
    }

#define VPU_IMAGE_READS(T)         \
    VPU_IMAGE_READ_AS(f, float, T) \
    VPU_IMAGE_READ_AS(h, half, T)  \
    VPU_IMAGE_READ_AS(i, int, T)   \
    VPU_IMAGE_READ_AS(ui, uint, T)

#define VPU_IMAGE_ELEMENTS(T, of_real, of_integer) \
    VPU_IMAGE_READS(T)                             \
    VPU_IMAGE_WRITE_AS(f, float, T, of_real)       \
    VPU_IMAGE_WRITE_AS(h, half, T, of_real)        \
    VPU_IMAGE_WRITE_AS(i, int, T, of_integer)      \
    VPU_IMAGE_WRITE_AS(ui, uint, T, of_integer)

VPU_IMAGE_ELEMENTS(half, , )
VPU_IMAGE_ELEMENTS(float, , )
VPU_IMAGE_ELEMENTS(char, _sat_rte, _sat)
VPU_IMAGE_ELEMENTS(uchar, _sat_rte, _sat)
VPU_IMAGE_ELEMENTS(short, _sat_rte, _sat)
VPU_IMAGE_ELEMENTS(ushort, _sat_rte, _sat)
VPU_IMAGE_ELEMENTS(int, _sat_rte, _sat)
VPU_IMAGE_ELEMENTS(uint, _sat_rte, _sat)

/* --- the standard's names ------------------------------------------------- */

#define VPU_IMAGE_READ3(f, image, sampler, at)                          \
    vpu_image_read_##f(                                                 \
        (const __global VPU_IMAGE_OF(VPU_IMAGE_TYPE_, image) *)(image), \
        VPU_IMAGE_PLACE(image, sampler, at))
#define VPU_IMAGE_READ2(f, image, at) \
    VPU_IMAGE_READ3(f, image, CLK_ADDRESS_NONE, at)
#define VPU_IMAGE_CHOOSE(a, b, c, chosen, ...) chosen
#define VPU_IMAGE_READ(f, ...)                                            \
    VPU_IMAGE_CHOOSE(__VA_ARGS__, VPU_IMAGE_READ3, VPU_IMAGE_READ2, none) \
    (f, __VA_ARGS__)
#define read_imagef(...) VPU_IMAGE_READ(f, __VA_ARGS__)
#define read_imageh(...) VPU_IMAGE_READ(h, __VA_ARGS__)
#define read_imagei(...) VPU_IMAGE_READ(i, __VA_ARGS__)
#define read_imageui(...) VPU_IMAGE_READ(ui, __VA_ARGS__)

#define VPU_IMAGE_WRITE(f, image, at, v)                          \
    vpu_image_write_##f(                                          \
        (__global VPU_IMAGE_OF(VPU_IMAGE_TYPE_, image) *)(image), \
        VPU_IMAGE_PLACE(image, CLK_ADDRESS_NONE, at), v)
#define write_imagef(image, at, v) VPU_IMAGE_WRITE(f, image, at, v)
#define write_imageh(image, at, v) VPU_IMAGE_WRITE(h, image, at, v)
#define write_imagei(image, at, v) VPU_IMAGE_WRITE(i, image, at, v)
#define write_imageui(image, at, v) VPU_IMAGE_WRITE(ui, image, at, v)

#else
struct vpu_image; /* to C there is nothing here */
#endif
#endif
