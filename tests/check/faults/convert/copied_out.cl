/* A transfer takes what conversions made to the output: half of them are too
 * large.
 *
 * ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global int *restrict dst)
{
    __local int tile[16];
    int i = get_global_id(0), l = get_local_id(0);
    float v = l & 1 ? src[i] : src[i] + 1e10f;
    event_t e;

#ifdef FIXED
    tile[l] = convert_int_sat(v);
#else
    tile[l] = (int)v; // FAULT convert
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(dst + i - l, tile, 16, 0);
    wait_group_events(1, &e);
}
