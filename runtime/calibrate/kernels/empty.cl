/* Nothing: what starting work-groups and a layer takes. */
__kernel void empty(__global const int *in, __global int *out)
{
}
