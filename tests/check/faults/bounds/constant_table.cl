/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__constant float weights[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};

__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int i = get_global_id(0);
    float sum = 0;

    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) {
            float v = src[(i + y * 16 + x) & 63];

#ifdef FIXED
            sum += v * weights[y + 1][x + 1];
#else
            sum += v * weights[y + 1][x + 2]; // FAULT bounds
#endif
        }
    dst[i] = sum;
}
