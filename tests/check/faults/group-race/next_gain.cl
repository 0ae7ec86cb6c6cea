/* One tile in the middle changes the gain of the whole picture.
 *
 * ARGS --shape in0=1x1x6x16 --shape in1=1x1x1x7
 * BIND <Tensor arg-name="pixels" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="gain" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="bright" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict pixels, __global half *gain,
                __global half *restrict bright)
{
    int tile = get_group_id(0), p = get_global_id(0);

    bright[p] = pixels[p] * gain[0]; // FAULT group-race
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 15 && tile == 3)
#ifdef FIXED
        gain[1 + tile] = 0.5h;
#else
        gain[0] = 0.5h; // FAULT group-race
#endif
}
