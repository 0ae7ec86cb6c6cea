/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    int seen = atomic_or(data, 0);
#else
    int seen = i == 3 ? data[0] : 0; // FAULT race
#endif

    atomic_cmpxchg(data, 100 + i, 0x01000001);
    dst[i] = seen;
}
