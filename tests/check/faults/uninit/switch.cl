/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0), scale;

    switch (i & 3) {
    case 0:
        scale = 1;
        break;
    case 1:
    case 2:
        scale = 10;
        break;
#ifdef FIXED
    default:
        scale = 100;
#endif
    }
    dst[i] = src[i] * scale; // FAULT uninit
}
