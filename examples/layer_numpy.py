# A layer of a binding file against its definition in numpy.
import numpy as np
import vpusim

SLOPE = 0.1


def leaky_relu(x):
    return np.where(x > 0, x, np.float32(SLOPE) * x.astype(np.float32))


layer = vpusim.Layer("leaky_relu.xml", params={"slope": SLOPE})
x = np.random.default_rng(1).standard_normal((1, 8, 32, 32)).astype(np.float16)
d = vpusim.diff(layer, leaky_relu, inputs=x, tolerance="ulp=1")
assert d.equal, d.text
print(d.text)
print(f"{d.result.cycles} cycles, {d.result.seconds * 1e6:.1f} us on the device")

# A definition that is wrong at one place: the result says where.
wrong = vpusim.diff(layer, lambda x: leaky_relu(x) + (np.arange(32) == 7), inputs=x)
assert not wrong.equal
print(wrong.summary)
