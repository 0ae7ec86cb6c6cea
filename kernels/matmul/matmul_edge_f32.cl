/* Tiled matrix product, C = A * B, on float matrices, for any M, N and K.
 *
 * As matmul.cl, with tiles that reach over the edge filled up with zeros and
 * the items outside C storing nothing. Adding zeros does not change a sum, so
 * the results are those of a plain triple loop. */

#define TILE 16

__kernel void matmul_edge_f32(__global const float *restrict A,
                              __global const float *restrict B,
                              __global float *restrict C, int M, int K, int N)
{
    __local float a[TILE][TILE], b[TILE][TILE];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        a[ly][lx] = row < M && k0 + lx < K ? A[row * K + k0 + lx] : (float)0;
        b[ly][lx] =
            k0 + ly < K && column < N ? B[(k0 + ly) * N + column] : (float)0;
        barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += a[ly][k] * b[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (row < M && column < N)
        C[row * N + column] = sum;
}
