/* The library's own kinds of operations (builtin.c). VPU_IN0, VPU_OUT0 and so on
 * are the element types; sums are in float. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* --- one element at a time ------------------------------------------------- */

#define UNARY(name, value)                                     \
    __kernel void name(__global const VPU_IN0 *restrict input, \
                       __global VPU_OUT0 *restrict output)     \
    {                                                          \
        size_t i = get_global_id(0);                           \
        VPU_IN0 x = input[i];                                  \
                                                               \
        output[i] = value;                                     \
    }

#ifdef VPU_IN0
/* Of views all of their root's memory is there. */
__kernel void copy(__global const VPU_IN0 *restrict input,
                   __global VPU_OUT0 *restrict output, int in, int out)
{
    size_t i = get_global_id(0);

    output[out + i] = input[in + i];
}

UNARY(convert, (VPU_OUT0)x)
UNARY(relu, x > 0 ? x : 0)
UNARY(sigmoid, (VPU_OUT0)(1.0f / (1.0f + exp(-(float)x))))
UNARY(tanh_, (VPU_OUT0)(1.0f - 2.0f / (exp(2.0f * (float)x) + 1.0f)))

__kernel void leaky_relu(__global const VPU_IN0 *restrict input,
                         __global VPU_OUT0 *restrict output, float slope)
{
    size_t i = get_global_id(0);
    VPU_IN0 x = input[i];

    output[i] = x > 0 ? x : (VPU_OUT0)(slope * (float)x);
}

__kernel void scale(__global const VPU_IN0 *restrict input,
                    __global VPU_OUT0 *restrict output, float factor,
                    float offset)
{
    size_t i = get_global_id(0);

    output[i] = (VPU_OUT0)(factor * (float)input[i] + offset);
}

#ifdef VPU_IN1
#define BINARY(name, value)                                \
    __kernel void name(__global const VPU_IN0 *restrict a, \
                       __global const VPU_IN1 *restrict b, \
                       __global VPU_OUT0 *restrict output) \
    {                                                      \
        size_t i = get_global_id(0);                       \
        VPU_IN0 x = a[i];                                  \
        VPU_IN1 y = b[i];                                  \
                                                           \
        output[i] = value;                                 \
    }

BINARY(add, x + y)
BINARY(subtract, x - y)
BINARY(multiply, x * y)
BINARY(maximum, x > y ? x : y)
BINARY(minimum, x < y ? x : y)
#endif

/* --- order and place ------------------------------------------------------- */

/* Output element (z, y, x) is at a sum of strides in the input: dimensions of the
 * output are the last two, and all others as two, outer ones and one. */
__kernel void permute(__global const VPU_IN0 *restrict input,
                      __global VPU_OUT0 *restrict output, int n0, int n1, int n2,
                      int n3, int s0, int s1, int s2, int s3, int s4, int s5)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int width = get_global_size(0), height = get_global_size(1);
    int d3 = z % n3, d2 = z / n3 % n2, d1 = z / n3 / n2 % n1;
    int d0 = z / n3 / n2 / n1;

    output[(z * height + y) * width + x] =
        input[d0 * s0 + d1 * s1 + d2 * s2 + d3 * s3 + y * s4 + x * s5];
}

/* Element (z, y, x) of tensors with strides. */
__kernel void copy_strided(__global const VPU_IN0 *restrict input,
                           __global VPU_OUT0 *restrict output, int in, int out,
                           int n0, int n1, int n2, int n3, int in0, int in1,
                           int in2, int in3, int in4, int in5, int out0,
                           int out1, int out2, int out3, int out4, int out5)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int d3 = z % n3, d2 = z / n3 % n2, d1 = z / n3 / n2 % n1;
    int d0 = z / n3 / n2 / n1;

    output[out + d0 * out0 + d1 * out1 + d2 * out2 + d3 * out3 + y * out4 +
           x * out5] = input[in + d0 * in0 + d1 * in1 + d2 * in2 + d3 * in3 +
                             y * in4 + x * in5];
}

#ifdef VPU_IN1
/* Rows of both inputs, one behind the other. */
__kernel void concat(__global const VPU_IN0 *restrict a,
                     __global const VPU_IN1 *restrict b,
                     __global VPU_OUT0 *restrict output, int row_a, int row_b)
{
    int x = get_global_id(0), row = get_global_id(1);

    output[row * (row_a + row_b) + x] =
        x < row_a ? a[row * row_a + x] : b[row * row_b + x - row_a];
}
#endif

/* --- sums ------------------------------------------------------------------- */

/* Along an axis of n elements, `inner` apart. */
__kernel void softmax(__global const VPU_IN0 *restrict input,
                      __global VPU_OUT0 *restrict output, int n, int inner)
{
    int at = get_global_id(1) * n * inner + get_global_id(0);
    float most = (float)input[at], sum = 0;

    for (int i = 1; i < n; i++)
        most = fmax(most, (float)input[at + i * inner]);
    for (int i = 0; i < n; i++)
        sum += exp((float)input[at + i * inner] - most);
    for (int i = 0; i < n; i++)
        output[at + i * inner] =
            (VPU_OUT0)(exp((float)input[at + i * inner] - most) / sum);
}

#ifdef VPU_IN1
/* Element (m, n) of the product; steps are the distances along the sum. */
__kernel void matmul(__global const VPU_IN0 *restrict a,
                     __global const VPU_IN1 *restrict b,
                     __global VPU_OUT0 *restrict output, int depth, int row_a,
                     int step_a, int column_b, int step_b, int plane_a,
                     int plane_b)
{
    int n = get_global_id(0), m = get_global_id(1), z = get_global_id(2);
    float sum = 0;

    for (int k = 0; k < depth; k++)
        sum += (float)a[z * plane_a + m * row_a + k * step_a] *
               (float)b[z * plane_b + n * column_b + k * step_b];
    output[(z * get_global_size(1) + m) * get_global_size(0) + n] =
        (VPU_OUT0)sum;
}

#ifdef VPU_IN2
__kernel void fully_connected(__global const VPU_IN0 *restrict input,
                              __global const VPU_IN1 *restrict weights,
                              __global const VPU_IN2 *restrict bias,
                              __global VPU_OUT0 *restrict output, int depth)
{
    int n = get_global_id(0), m = get_global_id(1);
    float sum = (float)bias[n];

    for (int k = 0; k < depth; k++)
        sum += (float)input[m * depth + k] * (float)weights[n * depth + k];
    output[m * get_global_size(0) + n] = (VPU_OUT0)sum;
}

__kernel void convolution(__global const VPU_IN0 *restrict input,
                          __global const VPU_IN1 *restrict weights,
                          __global const VPU_IN2 *restrict bias,
                          __global VPU_OUT0 *restrict output, int stride,
                          int pad, int channels, int height, int width, int rows,
                          int columns, int filters)
{
    int x = get_global_id(0), y = get_global_id(1);
    int f = get_global_id(2) % filters, b = get_global_id(2) / filters;
    float sum = (float)bias[f];

    for (int c = 0; c < channels; c++)
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < columns; k++) {
                int iy = y * stride + r - pad, ix = x * stride + k - pad;

                if (iy >= 0 && iy < height && ix >= 0 && ix < width)
                    sum += (float)input[((b * channels + c) * height + iy) *
                                            width + ix] *
                           (float)weights[((f * channels + c) * rows + r) *
                                              columns + k];
            }
    output[(get_global_id(2) * get_global_size(1) + y) * get_global_size(0) +
           x] = (VPU_OUT0)sum;
}
#endif
#endif
#endif
