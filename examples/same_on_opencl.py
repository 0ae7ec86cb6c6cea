# The same layer on an OpenCL device (PoCL, say), compared element by element.
import numpy as np
import vpusim

usable = [d for d in vpusim.devices() if d.id.startswith("opencl:") and d.usable]
if not usable:
    print("no OpenCL device here; vpusim.devices() says why")
    raise SystemExit
x = np.random.default_rng(1).standard_normal((1, 8, 32, 32)).astype(np.float16)
ours = vpusim.Layer("leaky_relu.xml", params={"slope": 0.1})
theirs = vpusim.Layer("leaky_relu.xml", params={"slope": 0.1}, backend=usable[0].id)
d = vpusim.diff(ours, theirs, inputs=x, tolerance="ulp=1")
print(d.text)
assert d.equal
