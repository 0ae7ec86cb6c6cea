# The same kernel on halves and on floats: what half precision costs and saves.
import numpy as np
import vpusim

SOURCE = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void poly(__global const T *restrict x, __global T *restrict y)
{
    int i = get_global_id(0);
    T v = x[i];
    y[i] = ((v + (T)1) * v + (T)1) * v + (T)1;
}
"""
x = np.linspace(-2, 2, 1 << 14)
exact = ((x + 1) * x + 1) * x + 1
for dtype, name in ((np.float16, "half"), (np.float32, "float")):
    poly = vpusim.kernel(SOURCE, build_options=[f"-DT={name}"])
    run = poly(x.astype(dtype), vpusim.out(x.shape, dtype))
    assert run.output.dtype == dtype
    error = np.abs(run.output - exact).max()
    print(f"{name:<6} {run.cycles:>7} cycles, largest error {error:.2g}, "
          f"vectors of {run.json['stages'][0]['factor']}")
