"""A network under construction, on either API of OpenVINO.

2021.4 has the graph builder as `ngraph`, 2022 as `openvino.runtime`; opset7 is
in both with the same calls. What differs is here, and nowhere else.
"""
import logging

import numpy as np

# The builder's remark about nodes with one output, once for every call.
logging.disable(logging.WARNING)

try:
    from openvino.runtime import Model, op as classes, opset7 as op
    from openvino.runtime.passes import Manager
    from openvino.runtime.utils.node_factory import NodeFactory
    NEW = True
except ImportError:
    from ngraph import opset7 as op
    from ngraph.impl import Function
    from ngraph.utils import tensor_iterator_types as iterator
    from ngraph.utils.node_factory import NodeFactory
    from openvino.inference_engine import IENetwork
    NEW = False


def halves(a):
    """Values that FP16 has, as floats: the stick and the CPU get the same."""
    return np.asarray(a, np.float64).astype(np.float16).astype(np.float32)


class Graph:
    """What a builder gets: random numbers of its seed, inputs, constants, layers."""

    op = op

    def __init__(self, seed, io="f16"):
        self.io = io
        self.grn_every = self.convolutions = 0
        self.rng = np.random.default_rng(seed)
        self.parameters = []
        self.data = {}

    # Inputs and constants.

    def input(self, shape, low=-1.0, high=1.0, data=None, kind="f16"):
        """A network input; kind f16, f32, u8 or i32 is what the host is given."""
        name = "in%d" % len(self.parameters)
        if kind == "f16":
            kind = self.io
        if data is None and kind == "u8":
            low, high = 0, 256
        if data is None:
            data = self.rng.uniform(low, high, shape)
            data = np.floor(data) if kind in ("u8", "i32") else halves(data)
        data = np.asarray(data)
        dtype = np.int32 if kind == "i32" else np.float32
        p = op.parameter(list(data.shape), dtype, name=name)
        p.set_friendly_name(name)
        self.parameters.append(p)
        self.data[name] = (data.astype(dtype), kind)
        return p

    def const(self, values, dtype=np.float32):
        values = np.asarray(values)
        return op.constant(halves(values) if dtype == np.float32 else values.astype(dtype),
                           dtype)

    def ints(self, values):
        return op.constant(np.asarray(values, np.int64), np.int64)

    def normal(self, shape, scale=1.0, mean=0.0):
        return self.const(self.rng.standard_normal(shape) * scale + mean)

    def node(self, kind, inputs, opset="opset7", **attributes):
        """An operation by its name, for those that have no function or another one."""
        inputs = [i.output(0) if hasattr(i, "output") else i for i in inputs]
        return NodeFactory(opset).create(kind, inputs, attributes)

    # Layers of networks: weights as He would, so that activations neither die nor overflow.

    def conv(self, x, outputs, k, stride=1, pad=None, dilation=1, groups=1, bias=True,
             act=None, gain=2.0, auto=None):
        """Convolution, bias and activation; k, stride and dilation are numbers or (y, x)."""
        ky, kx = (k, k) if np.isscalar(k) else k
        s = [stride, stride] if np.isscalar(stride) else list(stride)
        d = [dilation, dilation] if np.isscalar(dilation) else list(dilation)
        channels = shape_of(x)[1]
        if pad is None:
            pad = [ky // 2, kx // 2]
        if np.isscalar(pad):
            pad = [pad, pad]
        begin, end = (list(pad[:2]), list(pad[2:])) if len(pad) == 4 else (list(pad), list(pad))
        scale = np.sqrt(gain / (channels // groups * ky * kx))
        more = [auto] if auto else []
        if groups == 1:
            w = self.normal((outputs, channels, ky, kx), scale)
            y = op.convolution(x, w, s, begin, end, d, *more)
        else:
            w = self.normal((groups, outputs // groups, channels // groups, ky, kx), scale)
            y = op.group_convolution(x, w, s, begin, end, d, *more)
        if bias:
            y = op.add(y, self.normal((1, outputs, 1, 1), 0.1))
        y = self.act(y, act)
        self.convolutions += 1
        if self.grn_every and self.convolutions % self.grn_every == 0:
            y = self.node("GRN", [y], "opset1", bias=1.0)
        return y

    def act(self, y, act):
        if act is None:
            return y
        if act == "relu":
            return op.relu(y)
        if act == "relu6":
            return op.clamp(y, 0.0, 6.0)
        if act == "leaky":
            return op.prelu(y, self.const([0.1]))
        return getattr(op, act)(y)

    def dense(self, x, outputs, act=None, gain=2.0, bias=True):
        n = shape_of(x)[-1]
        y = op.matmul(x, self.normal((outputs, n), np.sqrt(gain / n)), False, True)
        if bias:
            y = op.add(y, self.normal((1, outputs), 0.1))
        return self.act(y, act)

    def max_pool(self, x, k, stride, pad=0, end=None, rounding="floor", auto=None):
        p, e = [pad, pad], [pad, pad] if end is None else list(end)
        kk = [k, k] if np.isscalar(k) else list(k)
        ss = [stride, stride] if np.isscalar(stride) else list(stride)
        return op.max_pool(x, ss, p, e, kk, rounding, *([auto] if auto else []))

    def avg_pool(self, x, k, stride, pad=0, end=None, exclude=True, rounding="floor"):
        p, e = [pad, pad], [pad, pad] if end is None else list(end)
        kk = [k, k] if np.isscalar(k) else list(k)
        ss = [stride, stride] if np.isscalar(stride) else list(stride)
        return op.avg_pool(x, ss, p, e, kk, exclude, rounding)

    def global_pool(self, x):
        return op.reduce_mean(x, self.ints([2, 3]), True)

    def flat(self, x):
        shape = shape_of(x)
        return op.reshape(x, self.ints([shape[0], int(np.prod(shape[1:]))]), False)

    def resize(self, x, h, w, mode, coordinates="half_pixel", nearest="round_prefer_floor"):
        """Interpolate to H x W."""
        n = shape_of(x)
        inputs = [x, self.ints([h, w]), op.constant([h / n[2], w / n[3]], np.float32),
                  self.ints([2, 3])]
        return self.node("Interpolate", inputs, "opset4", mode=mode,
                         shape_calculation_mode="sizes", nearest_mode=nearest,
                         coordinate_transformation_mode=coordinates, antialias=False,
                         pads_begin=[0, 0, 0, 0], pads_end=[0, 0, 0, 0], cube_coeff=-0.75)

    def iterate(self, outer, body, results, time, forward=True):
        """A TensorIterator: outer[0] is sliced along axis 1, the others go round.

        The body's first results are what goes round; the last is put together
        along axis 1. Returns that, and what went round first at the end.
        """
        start, end, stride = (0, -1, 1) if forward else (-1, 0, -1)
        last = len(results) - 1
        if NEW:
            ti = classes.tensor_iterator()
            ti.set_function(Model(results, body, "body"))
            ti.set_sliced_input(body[0], outer[0].output(0), start, stride, 1, end, 1)
            for i in range(1, len(outer)):
                ti.set_merged_input(body[i], outer[i].output(0), results[i - 1].output(0))
            y = ti.get_concatenated_slices(results[last].output(0), start, stride, 1, end, 1)
            h = ti.get_iter_value(results[0].output(0), -1)
        else:
            ti = op.tensor_iterator(
                list(outer), iterator.GraphBody(body, results),
                [iterator.TensorIteratorSliceInputDesc(0, 0, start, stride, 1, end, 1)],
                [iterator.TensorIteratorMergedInputDesc(i, i, i - 1)
                 for i in range(1, len(outer))], [],
                [iterator.TensorIteratorBodyOutputDesc(0, 1, -1)],
                [iterator.TensorIteratorConcatOutputDesc(last, 0, start, stride, 1, end, 1)])
            y, h = ti.output(0), ti.output(1)
        ti.set_friendly_name("loop")
        return [op.result(y), op.result(h)]

    # Ends.

    def outputs(self, *nodes, names=None):
        """The results, named out0, out1 ...; a node may be (node, port)."""
        results = []
        for i, n in enumerate(nodes):
            node, port = n if isinstance(n, tuple) else (n, 0)
            if node.get_output_size() == 1:
                node.set_friendly_name(names[i] if names else "out%d" % i)
            results.append(op.result(node.output(port)))
        return results


def shape_of(node):
    return [int(d) for d in (node.get_output_shape(0) if hasattr(node, "get_output_shape")
                             else node.shape)]


def write(build, seed, path, io="f16"):
    """Build a network and write it as path.xml and path.bin; returns its inputs' data."""
    g = Graph(seed, io)
    results = build(g)
    if NEW:
        model = Model(results, g.parameters, "net")
        m = Manager()
        m.register_pass("Serialize", path + ".xml", path + ".bin")
        m.run_passes(model)
    else:
        net = IENetwork(Function.to_capsule(Function(results, g.parameters, "net")))
        net.serialize(path + ".xml", path + ".bin")
    return g.data
