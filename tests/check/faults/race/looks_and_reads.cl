/* Compare and exchange operations that fail change nothing: items may read
 * plainly beside them, and other items change the word atomically.
 *
 * ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y,1,1" local="16,1,1"
 * CLEAN
 */
__kernel void k(__global int *src, __global int *restrict dst)
{
    __local int still, busy;
    int l = get_local_id(0), i = get_global_id(0), found;

    if (l == 0)
        still = busy = 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    found = l % 2 ? still : atomic_cmpxchg(&still, 5, l);
    found += atomic_cmpxchg(&busy, 1 << 20, l);
    if (l % 3 == 0)
        atomic_inc(&busy);
    found += atomic_cmpxchg(src, 1 << 30, l);
    if (l == 4)
        found += *src;
    dst[i] = found;
}
