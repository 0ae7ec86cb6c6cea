/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
typedef struct {
    float v[4];
} quad;

__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    quad q[2];
    int i = get_global_id(0);

    q[0].v[0] = q[0].v[1] = q[0].v[2] = q[0].v[3] = src[i];
#ifdef FIXED
    q[i & 1] = q[0];
    dst[i] = q[i & 1].v[i & 3];
#else
    q[(i & 1) + 1] = q[0]; // FAULT bounds
    dst[i] = q[0].v[i & 3];
#endif
}
