/* ARGS --shape in0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    int4 d = (int4)(1, 2, src[i], 4);

#ifdef FIXED
    d.z |= 1;
#endif
    int4 q = (int4)(100) / d; // FAULT divide
    dst[i] = q.x + q.y + q.z + q.w;
}
