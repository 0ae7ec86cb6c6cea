/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="scratch" type="local_data" dim="input,0" size="64"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
__kernel void k(__global int *data, __global int *restrict dst,
                __local int *scratch)
{
    int l = get_local_id(0), old, before, got = 0;
    bool done = false;

    if (l == 0)
        scratch[0] = data[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 0; n < get_local_size(0); n++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        before = scratch[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!done) {
            old = atomic_cmpxchg(scratch, before, before + 1);
            if (old == before) {
                done = true;
                got = old + 1;
            }
        }
    }
    dst[l] = got;
}
