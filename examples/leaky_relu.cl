#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void leaky_relu(__global const half *restrict x,
                         __global half *restrict y, float slope)
{
    size_t row = get_global_id(1) + get_global_size(1) * get_global_id(2);
    size_t i = get_global_id(0) + get_global_size(0) * row;

    y[i] = x[i] > 0 ? x[i] : (half)(slope * x[i]);
}
