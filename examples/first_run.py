# A kernel given as a string, called with arrays: its values and its cycles.
import numpy as np
import vpusim

scale = vpusim.kernel("""
__kernel void scale(__global const float *x, __global float *y, float f)
{
    int i = get_global_id(0);
    y[i] = f * x[i];
}
""")
x = np.arange(1024, dtype=np.float32)
run = scale(x, vpusim.out(x.shape, x.dtype), 3.0)
assert (run.output == 3 * x).all()
print(f"y[5] = {run.output[5]:g} after {run.cycles} cycles")
for cause, cycles in run.stalls.items():
    print(f"  {cause:<12} {cycles:>8} cycles of all SHAVEs")
