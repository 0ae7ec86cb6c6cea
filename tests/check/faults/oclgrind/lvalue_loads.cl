/* ARGS --shape in0=1x1x1x16:f32 --shape in1=1x1x1x16:f32 --shape out0=1x1x1x16:f32
 * BIND <Tensor arg-name="in" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="rw" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="out" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
typedef struct {
    char kind;
    int from, to;
    char last;
} edge;

__kernel void k(__global float4 *in, __global float4 *rw, __global float4 *restrict out)
{
    int i = get_global_id(0);
    __global edge *edges = (__global edge *)in;
    float4 v = rw[i];

    edges[i].to = edges[i].from;
    rw[i].z = 42.f;
    rw[i].zy = (float2)(7.f, 42.f);
    rw[i].y = rw[i].z;
    rw[i].wzyx = rw[i];
    v.z = 1;
    out[i] = v;
    out[i].w = out[i].x;
}
