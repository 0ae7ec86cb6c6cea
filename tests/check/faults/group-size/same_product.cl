/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,4,1" local="4,4,1"
 * FAULT group-size
 */
#ifdef FIXED
#define SIZE 4, 4, 1
#else
#define SIZE 16, 1, 1
#endif

__kernel __attribute__((reqd_work_group_size(SIZE)))
void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_global_id(1) * get_global_size(0) + get_global_id(0);

    i += get_global_id(2) * get_global_size(0) * get_global_size(1);
    dst[i] = src[i];
}
