/* float to half, one element per work-item, with vstore_half: what a kernel
 * without the half type has to use. */
__kernel void cvtf32f16_store(__global const float *restrict src,
                              __global half *restrict dst)
{
    const int i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) *
                      get_global_size(0) +
                  get_global_id(0);

    vstore_half(src[i], i, dst);
}
