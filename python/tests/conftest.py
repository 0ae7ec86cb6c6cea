"""What the tests share: the repository's samples, a context, small kernels."""
from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

import vpusim

pytest_plugins = ["pytester"]

#: A shell ignores it for what runs in its background, and Python leaves it so.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]
SCALE = """__kernel void scale(__global const float *x, __global float *y, float f)
{
    int i = get_global_id(0);
    y[i] = f * x[i];
}
"""
ENDLESS = """__kernel void endless(__global const int *x, __global int *y)
{
    int i = 0;
    while (x[0] == 0)
        y[0] = i++;
}
"""


class Scaling:
    """y = f * x, of n floats: a graph of one operation."""

    def __init__(self, context, n=64, f=3.0):
        self.graph = vpusim.Graph(context)
        self.x = self.graph.input(n, "f32", "x")
        self.y = self.graph.output(n, "f32", "y")
        kernel = vpusim.Program(context, SCALE).kernel("scale")
        self.operation = self.graph.launch(kernel, global_size=n, x=self.x, y=self.y, f=f)
        self.graph.finalize()
        self.x.write(np.arange(n, dtype=np.float32))


@pytest.fixture
def context():
    with vpusim.Context() as made:
        yield made


@pytest.fixture
def scaling(context):
    return Scaling(context)


@pytest.fixture
def new_scaling():
    return Scaling


@pytest.fixture
def root():
    return ROOT


@pytest.fixture
def grn():
    """The sample layer, and its definition in numpy."""
    def reference(x):
        wide = x.astype(np.float32)
        return wide / np.sqrt(1 + (wide ** 2).sum(axis=1, keepdims=True))

    with vpusim.Layer(ROOT / "kernels/grn/layer.xml", "GRN", params={"bias": 1.0}) as layer:
        layer.reference = reference
        yield layer


@pytest.fixture
def endless(context):
    """A graph whose run ends when it is cancelled."""
    with vpusim.Context(max_cycles=2**64 - 1, timeout=-1) as patient:
        graph = vpusim.Graph(patient)
        x, y = graph.input(1, "i32"), graph.output(1, "i32")
        kernel = vpusim.Program(patient, ENDLESS).kernel()
        graph.launch(kernel, x=x, y=y)
        graph.finalize()
        x.fill("zeros")
        yield graph


@pytest.fixture
def vpu():
    """The program, for comparisons with it."""
    path = os.environ.get("VPU", str(ROOT / "build/vpu"))
    if not os.path.exists(path):
        pytest.skip(f"no program at {path}")
    return str(Path(path).resolve())


MAYBE = """__kernel void maybe(__global const int *x, __global int *y)
{
    int i = 0;
    do
        y[0] = i++;
    while (x[0] == 0);
}
"""


@pytest.fixture
def suddenly_endless():
    """A graph whose runs were short, so that the main thread runs it itself, and now is not."""
    with vpusim.Context(max_cycles=2**64 - 1, timeout=-1) as patient:
        graph = vpusim.Graph(patient)
        x, y = graph.input(1, "i32"), graph.output(1, "i32")
        graph.launch(vpusim.Program(patient, MAYBE).kernel(), x=x, y=y)
        graph.finalize()
        x.write(np.ones(1, np.int32))
        while not graph._pace.is_short:
            graph.run()
        x.write(np.zeros(1, np.int32))
        yield graph
