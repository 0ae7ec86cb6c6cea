# The checkers find a planted mistake, a race in local memory, and name its lines.
import numpy as np
import vpusim

reverse = vpusim.kernel("""
__kernel void reverse(__global const float *x, __global float *y, __local float *tmp)
{
    int i = get_local_id(0), n = get_local_size(0);
    tmp[i] = x[get_global_id(0)];
    /* Here a barrier is missing. */
    y[get_global_id(0)] = tmp[n - 1 - i];
}
""")
x = np.arange(64, dtype=np.float32)
findings = reverse.check(x, vpusim.out(64, "f32"), 16 * 4, local_size=16)
assert findings.error_count
for finding in findings:
    print(f"{finding.file}:{finding.line}: {finding.checker}: {finding.text}")
