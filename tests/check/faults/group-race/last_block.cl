/* ARGS --shape in0=1x1x4x16:i32 --shape in1=1x1x1x8:i32 --shape out0=1x1x1x4:i32 --input 1=zeros
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="state" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *state,
                __global int *restrict dst)
{
    int i = get_global_id(0), g = get_group_id(0), n;

    if (get_local_id(0))
        return;
#ifdef FIXED
    atomic_add(&state[1], src[i]);
    n = atomic_inc(&state[0]);
    dst[g] = n >= 0;
#else
    state[1 + g] = src[i]; /* the last group adds it up */
    n = atomic_inc(&state[0]);
    dst[g] = 0;
    if (n == 3)
        for (int k = 0; k < 4; k++)
            dst[g] += state[1 + k]; // FAULT group-race
#endif
}
