/* The planes of a picture are added up where nobody put a zero before.
 *
 * ARGS --shape in0=1x3x4x8 --shape out0=1x1x4x8
 * BIND <Tensor arg-name="planes" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="grey" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,Y,1" local="8,1,1"
 */
__kernel void k(__global const half *restrict planes, __global half *grey)
{
    int x = get_global_id(0), y = get_global_id(1);
    int w = get_global_size(0), area = w * get_global_size(1);
    __global half *pixel = grey + y * w + x;

#ifdef FIXED
    *pixel = 0;
#endif
    for (int c = 0; c < 3; c++)
        *pixel += planes[c * area + y * w + x] / 3; // FAULT uninit
}
