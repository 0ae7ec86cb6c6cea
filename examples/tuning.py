# Tuning by hand: one kernel with several sizes of work-groups, and where the cycles go.
import numpy as np
import vpusim

SOURCE = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void square(__global const half *restrict x, __global half *restrict y)
{
    int i = get_global_id(0);
    y[i] = x[i] * x[i];
}
"""
square = vpusim.kernel(SOURCE)
x = np.random.default_rng(1).standard_normal(1 << 14).astype(np.float16)
causes = ("dispatch", "DDR stall", "store stall", "idle")
print(f"{'local':>6} {'cycles':>8} " + " ".join(f"{c:>12}" for c in causes))
table = {}
for local in (16, 64, 256, 1024):
    run = square(x, vpusim.out(x.shape), local_size=local)
    assert (run.output == x * x).all()
    table[local] = run.cycles
    total = sum(run.stalls.values())
    shares = " ".join(f"{100 * run.stalls[c] / total:>10.1f} %" for c in causes)
    print(f"{local:>6} {run.cycles:>8} {shares}")
best = min(table, key=table.get)
print(f"best: {best} work-items in a work-group")
