/* ARGS --shape in0=1x1x1x50:i32 --shape out0=1x1x1x2:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="part" type="local_data" dim="input,0" size="32"/>
 * SIZE global="16,1,1" local="8,1,1"
 * CLEAN
 */
__kernel void k(__global const int *restrict data,
                __global int *restrict dst, __local int *restrict part)
{
    int l = get_local_id(0), n = get_local_size(0), sum = 0;

    for (int i = get_global_id(0); i < 50; i += get_global_size(0))
        sum += data[i];
    part[l] = sum;
    for (int k = n / 2; k > 0; k /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < k)
            part[l] += part[l + k];
    }
    if (l == 0)
        dst[get_group_id(0)] = *part;
}
