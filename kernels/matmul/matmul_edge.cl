/* Tiled matrix product, C = A * B, on half matrices, for any M, N and K.
 *
 * As matmul.cl, with tiles that reach over the edge filled up with zeros and
 * the items outside C storing nothing. Adding zeros does not change a sum, so
 * the results are those of a plain triple loop. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define TILE 16

__kernel void matmul_edge(__global const half *restrict A,
                          __global const half *restrict B,
                          __global half *restrict C, int M, int K, int N)
{
    __local half a[TILE][TILE], b[TILE][TILE];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        a[ly][lx] = row < M && k0 + lx < K ? A[row * K + k0 + lx] : (half)0;
        b[ly][lx] =
            k0 + ly < K && column < N ? B[(k0 + ly) * N + column] : (half)0;
        barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += (float)a[ly][k] * (float)b[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (row < M && column < N)
        C[row * N + column] = convert_half(sum);
}
