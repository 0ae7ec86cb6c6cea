/* A kernel for each row of items.def. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define N 1200

#define ITEM(name, T, ...)                                                     \
    __kernel void name(__global const T *restrict src,                         \
                       __global T *restrict dst)                               \
    {                                                                          \
        const int i = get_global_id(0);                                        \
        __VA_ARGS__                                                            \
    }
#include "items.def"
