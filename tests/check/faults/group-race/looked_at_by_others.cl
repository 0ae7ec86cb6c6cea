/* Groups look at a word, with compare and exchange operations that fail; one
 * writes it plainly.
 *
 * ARGS --shape in0=1x1x4x16:i32 --shape in1=1x1x1x1:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="state" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *state,
                __global int *restrict dst)
{
    int i = get_global_id(0), found = 0;

    if (get_group_id(0) < 3)
        found = atomic_cmpxchg(state, 1 << 30, 1);
    else if (get_local_id(0) == 0)
#ifdef FIXED
        atomic_xchg(state, 2);
#else
        *state = 2; // FAULT group-race
#endif
    dst[i] = src[i] + found;
}
