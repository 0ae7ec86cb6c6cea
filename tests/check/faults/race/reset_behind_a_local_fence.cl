/* The last pixel of a row clears what its neighbours scale by: the result is
 * the same in every order but those the fence should have ruled out.
 *
 * ARGS --shape in0=1x1x4x8 --shape in1=1x1x1x4
 * BIND <Tensor arg-name="rows" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="peak" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="scaled" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,Y,1" local="8,1,1"
 */
__kernel void k(__global const half *restrict rows, __global half *peak,
                __global half *restrict scaled)
{
    int x = get_local_id(0), y = get_group_id(1);

    scaled[y * 8 + x] = rows[y * 8 + x] / (1 + fabs(peak[y]));
#ifdef FIXED
    barrier(CLK_GLOBAL_MEM_FENCE);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (x == 7)
        peak[y] = 0; // FAULT race
}
