/* Tiled matrix product, C = A * B, on float matrices.
 *
 * A is M x K, B is K x N, C is M x N, all row-major. A work-group of 16 x 16
 * items makes one tile of C: for each step of 16 along K the items bring one
 * tile of A and one of B to local memory, wait for each other, and add 16
 * products each. Sums are float, in order of k. M, N and K are multiples of 16.
 */

#define TILE 16

__kernel void matmul_f32(__global const float *restrict A,
                         __global const float *restrict B,
                         __global float *restrict C, int K, int N)
{
    __local float a[TILE][TILE], b[TILE][TILE];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        a[ly][lx] = A[row * K + k0 + lx];
        b[ly][lx] = B[(k0 + ly) * N + column];
        barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += a[ly][k] * b[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    C[row * N + column] = sum;
}
