"""Single stages: every operation that the vendor's compiler makes a stage of."""
import numpy as np

from graph import op
from whole import COCO, VOC, detection

IMAGE = (1, 16, 24, 32)


def unary(name, low=-3.0, high=3.0, shape=IMAGE):
    return lambda g: g.outputs(getattr(op, name)(g.input(shape, low, high)))


def named(kind, low=-3.0, high=3.0, shape=IMAGE, opset="opset7", **attributes):
    return lambda g: g.outputs(g.node(kind, [g.input(shape, low, high)], opset, **attributes))


def layer(function, shape=IMAGE, low=-1.0, high=1.0):
    """One input, a function of (graph, input)."""
    def build(g):
        y = function(g, g.input(shape, low, high))
        return g.outputs(*y) if isinstance(y, tuple) and isinstance(y[0], tuple) else g.outputs(y)
    return build


def conv(channels=16, outputs=32, k=3, size=(32, 32), pool=None, batch=1, low=-1.0, **more):
    def build(g):
        x = g.input((batch, channels) + tuple(size), low)
        y = g.conv(x, outputs, k, **more)
        if pool:
            y = g.max_pool(y, *pool)
        return g.outputs(y)
    return build


def deconv(channels=16, outputs=8, k=4, stride=2, pad=1, groups=1, size=(12, 10), output_pad=0):
    def build(g):
        x = g.input((1, channels) + tuple(size))
        scale = np.sqrt(2.0 * stride * stride / (channels // groups * k * k))
        args = [[stride] * 2, None, [pad] * 2, [pad] * 2, [1, 1], "explicit", [output_pad] * 2]
        if groups == 1:
            w = g.normal((channels, outputs, k, k), scale)
            return g.outputs(op.convolution_backprop_data(x, w, *args))
        w = g.normal((groups, channels // groups, outputs // groups, k, k), scale)
        return g.outputs(op.group_convolution_backprop_data(x, w, *args))
    return build


def pool(kind, k, stride, pad=0, channels=16, size=(28, 28), **more):
    def build(g):
        x = g.input((1, channels) + tuple(size))
        return g.outputs(getattr(g, kind + "_pool")(x, k, stride, pad, **more))
    return build


def dense(n, outputs, batch=1, **more):
    return lambda g: g.outputs(g.dense(g.input((batch, n)), outputs, **more))


def two(name, a=IMAGE, b=IMAGE, low=-2.0, high=2.0, levels=None, kind="f16"):
    """An element-wise operation; with levels, values that are often equal."""
    def build(g):
        def values(shape):
            if levels is None:
                return None
            return g.rng.integers(low, high, shape) if kind == "i32" else \
                np.round(g.rng.uniform(low, high, shape) * levels) / levels
        x = g.input(a, low, high, values(a), kind)
        y = g.input(b, low, high, values(b), kind)
        z = getattr(op, name)(x, y)
        return g.outputs(number(z))
    return build


def number(z):
    """Booleans as floats: what hosts can ask for."""
    kind = str(z.get_element_type())
    return op.convert(z, "f32") if "bool" in kind else z


def logic(name):
    def build(g):
        n = 1 if name == "logical_not" else 2
        z = getattr(op, name)(*[op.greater(g.input(IMAGE), g.const([0.0])) for _ in range(n)])
        return g.outputs(op.convert(z, "f32"))
    return build


def select(shape=IMAGE, a=IMAGE, b=IMAGE):
    def build(g):
        mask = op.greater(g.input(shape), g.const([0.0]))
        return g.outputs(op.select(mask, g.input(a), g.input(b)))
    return build


def reduce(name, axes, keep=True, shape=IMAGE):
    return layer(lambda g, x: getattr(op, name)(x, g.ints(axes), keep), shape)


def top_k(k, axis, mode="max", sort="value", shape=IMAGE):
    def build(g):
        # No two are equal: which of them is first is not told.
        n = int(np.prod(shape))
        x = g.input(shape, data=g.rng.permutation(n).reshape(shape)[...] / 8.0
                    if n <= 2048 else None)
        y = op.topk(x, g.ints(k), axis, mode, sort)
        return g.outputs((y, 0), (y, 1))
    return build


def gather(axis, indices, shape=IMAGE, constant=False):
    def build(g):
        x = g.input(shape)
        n = shape[axis]
        i = g.rng.integers(0, n, indices)
        i = g.const(i, np.int32) if constant else g.input(indices, data=i, kind="i32")
        return g.outputs(op.gather(x, i, g.ints(axis)))
    return build


def gather_nd(batch_dims=0):
    def build(g):
        x = g.input((4, 6, 8))
        if batch_dims:
            i = g.rng.integers(0, 6, (4, 3, 1))
        else:
            i = np.stack([g.rng.integers(0, 4, (5,)), g.rng.integers(0, 6, (5,))], 1)
        return g.outputs(g.node("GatherND", [x, g.input(i.shape, data=i, kind="i32")], "opset5",
                                batch_dims=batch_dims))
    return build


def gather_elements(axis):
    def build(g):
        shape = (4, 6, 8)
        index = [4, 6, 8]
        index[axis] = 3
        i = g.rng.integers(0, shape[axis], index)
        return g.outputs(g.node("GatherElements", [g.input(shape),
                                                   g.input(i.shape, data=i, kind="i32")],
                                "opset6", axis=axis))
    return build


def scatter(kind, axis=1):
    def build(g):
        if kind == "update":
            x = g.input((10, 6))
            i = g.input((3,), data=g.rng.permutation(10)[:3], kind="i32")
            return g.outputs(op.scatter_update(x, i, g.input((3, 6)), g.const([0], np.int32)))
        x = g.input((4, 10, 6))
        i = np.stack([np.stack([g.rng.permutation(10)[:3] for _ in range(6)], 1)
                      for _ in range(4)])
        i = g.input(i.shape, data=i, kind="i32")
        return g.outputs(op.scatter_elements_update(x, i, g.input((4, 3, 6)),
                                                    g.const([axis], np.int32)))
    return build


def slices(begin, end, stride, shape=IMAGE, begin_mask=None, end_mask=None, new=None, shrink=None):
    n = len(begin)
    def build(g):
        return g.outputs(op.strided_slice(
            g.input(shape), g.ints(begin), g.ints(end), g.ints(stride), begin_mask or [0] * n,
            end_mask or [0] * n, new or [0] * n, shrink or [0] * n, [0] * n))
    return build


def slices_of_inputs():
    """Bounds that are known when it runs only."""
    def build(g):
        x = g.input((8, 12))
        b = g.input((2,), data=[1, 2], kind="i32")
        e = g.input((2,), data=[7, 11], kind="i32")
        return g.outputs(op.strided_slice(x, b, e, g.const([1, 1], np.int32), [0, 0], [0, 0],
                                          [0, 0], [0, 0], [0, 0]))
    return build


def region_layer(soft, classes, mask=()):
    def build(g):
        n = 5 if soft else len(mask)
        x = g.input((1, n * (classes + 5), 13, 13), -3, 3)
        return g.outputs(op.region_yolo(x, 4, classes, 5 if soft else 6, soft, list(mask), 1, 3,
                                        [float(a) for a in (VOC if soft else COCO)]))
    return build


def rois(g, n, size, fields=5):
    """Boxes in an image, (batch, x0, y0, x1, y1) each."""
    a = g.rng.uniform(0, size * 0.6, (n, 2))
    b = a + g.rng.uniform(size * 0.1, size * 0.4, (n, 2))
    boxes = np.concatenate([np.zeros((n, 1)), np.round(a), np.round(b)], 1)
    return boxes[:, 5 - fields:]


def roi_pooling(method, scale=0.0625):
    def build(g):
        x = g.input((1, 16, 14, 14))
        if method == "bilinear":
            r = np.concatenate([np.zeros((6, 1)), rois(g, 6, 1.0, 4) * 0 + np.array(
                [0.1, 0.2, 0.7, 0.9]) + np.linspace(0, 0.09, 6)[:, None]], 1)
            scale_ = 1.0
        else:
            r, scale_ = rois(g, 6, 224), scale
        return g.outputs(op.roi_pooling(x, g.input(r.shape, data=np.float32(np.float16(r))),
                                        [6, 6], scale_, method))
    return build


def psroi_pooling():
    def build(g):
        x = g.input((1, 4 * 9, 14, 14))
        r = rois(g, 6, 224)
        return g.outputs(op.psroi_pooling(x, g.input(r.shape, data=r), 4, 3, 0.0625, 1, 1,
                                          "average"))
    return build


def roi_align(mode="avg", sampling=2):
    def build(g):
        x = g.input((1, 16, 14, 14))
        r = rois(g, 6, 224, 4)
        i = g.const(np.zeros(6), np.int32)
        return g.outputs(op.roi_align(x, g.input(r.shape, data=r), i, 6, 6, sampling, 0.0625, mode))
    return build


def proposal(**other):
    attributes = {"base_size": 16, "pre_nms_topn": 100, "post_nms_topn": 20, "nms_thresh": 0.7,
                  "feat_stride": 16, "min_size": 8, "ratio": [0.5, 1.0, 2.0],
                  "scale": [2.0, 4.0], "clip_before_nms": True, "clip_after_nms": False,
                  "normalize": False, "box_size_scale": 1.0, "box_coordinate_scale": 1.0,
                  "framework": ""}
    attributes.update(other)
    kinds = {int: np.uint32, float: np.float32, bool: bool, str: str}
    attributes = {k: [np.float32(a) for a in v] if isinstance(v, list) else kinds[type(v)](v)
                  for k, v in attributes.items()}

    def build(g):
        # Few enough scores that no two are the same half.
        cls = g.input((1, 12, 8, 8), data=np.linspace(0.02, 1, 768)[
            g.rng.permutation(768)].reshape(1, 12, 8, 8).astype(np.float16))
        box = g.input((1, 24, 8, 8), -0.2, 0.2)
        info = g.const([128.0, 128.0, 1.0])
        y = op.proposal(cls, box, info, attributes)
        return g.outputs((y, 0), (y, 1))
    return build


def ssd_head(n=64, classes=5, **other):
    """DetectionOutput by itself: boxes on a grid, scores that differ."""
    def build(g):
        share = other.get("share_location", True)
        loc = g.input((1, n * 4 * (1 if share else classes)), -0.5, 0.5)
        scores = np.linspace(0.05, 0.95, n * classes)[g.rng.permutation(n * classes)]
        conf = g.input((1, n * classes), data=scores.reshape(1, -1).astype(np.float16))
        side = int(np.sqrt(n))
        y, x = np.mgrid[0:side, 0:side] / side
        boxes = np.stack([x, y, x + 2.0 / side, y + 2.0 / side], -1).reshape(-1)
        priors = np.stack([boxes, np.tile([0.1, 0.1, 0.2, 0.2], n)])[None]
        if other.get("variance_encoded_in_target"):
            priors = priors[:, :1]
        return g.outputs(detection(g, loc, conf, g.const(priors), classes, **other))
    return build


def nms(encoding="corner"):
    def build(g):
        n = 40
        a = g.rng.uniform(0, 0.6, (1, n, 2))
        size = g.rng.uniform(0.1, 0.4, (1, n, 2))
        boxes = np.concatenate([a, a + size] if encoding == "corner" else [a, size], 2)
        scores = np.linspace(0.05, 0.95, 3 * n)[g.rng.permutation(3 * n)].reshape(1, 3, n)
        y = op.non_max_suppression(
            g.input(boxes.shape, data=np.float32(np.float16(boxes))),
            g.input(scores.shape, data=np.float32(np.float16(scores))),
            g.ints(5), g.const(0.5), g.const(0.25), None, encoding, False, "i32")
        return g.outputs((y, 0))
    return build


def lstm_cell(inputs=32, hidden=24, batch=1):
    def build(g):
        x, h, c = (g.input((batch, n)) for n in (inputs, hidden, hidden))
        y = op.lstm_cell(x, h, c, g.normal((4 * hidden, inputs), inputs ** -0.5),
                         g.normal((4 * hidden, hidden), hidden ** -0.5),
                         g.normal((4 * hidden,), 0.1), hidden)
        return g.outputs((y, 0), (y, 1))
    return build


def gru_cell(inputs=32, hidden=24):
    def build(g):
        x, h = g.input((1, inputs)), g.input((1, hidden))
        return g.outputs(op.gru_cell(x, h, g.normal((3 * hidden, inputs), inputs ** -0.5),
                                     g.normal((3 * hidden, hidden), hidden ** -0.5),
                                     g.normal((3 * hidden,), 0.1), hidden))
    return build


def sequence(kind, direction="forward", time=6, inputs=32, hidden=24):
    gates = {"lstm": 4, "gru": 3, "rnn": 1}[kind]

    def build(g):
        n = 2 if direction == "bidirectional" else 1
        x, h = g.input((1, time, inputs)), g.input((1, n, hidden))
        more = [g.input((1, n, hidden))] if kind == "lstm" else []
        y = getattr(op, kind + "_sequence")(
            x, h, *more, g.const([time], np.int32),
            g.normal((n, gates * hidden, inputs), inputs ** -0.5),
            g.normal((n, gates * hidden, hidden), hidden ** -0.5),
            g.normal((n, gates * hidden), 0.1), hidden, direction)
        return g.outputs((y, 0), (y, 1))
    return build


def small_loop(time=5):
    """A TensorIterator whose body is no recurrent cell."""
    def build(g):
        x, h = g.input((1, time, 24)), g.input((1, 24))
        body = [op.parameter([1, 1, 24], np.float32), op.parameter([1, 24], np.float32)]
        y = op.tanh(op.add(op.squeeze(body[0], g.ints([1])), op.multiply(body[1], g.const([0.5]))))
        return g.iterate((x, h), body,
                         [op.result(y), op.result(op.unsqueeze(y, g.ints([1])))], time)
    return build


def ctc(merge=True):
    def build(g):
        t, n, c = 12, 1, 6
        p = g.input((t, n, c), data=g.rng.dirichlet(np.ones(c) * 0.3, (t, n)).astype(np.float16))
        mask = np.ones((t, n))
        mask[9:] = 0
        return g.outputs(op.ctc_greedy_decoder(p, g.input((t, n), data=mask), merge))
    return build


def ctc_lengths(merge=True):
    def build(g):
        n, t, c = 2, 12, 6
        p = g.input((n, t, c), data=g.rng.dirichlet(np.ones(c) * 0.3, (n, t)).astype(np.float16))
        y = op.ctc_greedy_decoder_seq_len(p, g.input((n,), data=[12, 9], kind="i32"),
                                          g.const(c - 1, np.int32), merge)
        return g.outputs((y, 0), (y, 1))
    return build


def gemm(a, b, ta=False, tb=False):
    def build(g):
        k = a[-2] if ta else a[-1]
        return g.outputs(op.matmul(g.input(a), g.input(b, -2.0 / k ** 0.5, 2.0 / k ** 0.5), ta, tb))
    return build


def conv3d(channels=4, outputs=8, k=3, size=(6, 10, 12), stride=1, pad=1, groups=1, dilation=1):
    def build(g):
        x = g.input((1, channels) + size)
        scale = np.sqrt(2.0 / (channels // groups * k ** 3))
        if groups == 1:
            y = op.convolution(x, g.normal((outputs, channels) + (k,) * 3, scale), [stride] * 3,
                               [pad] * 3, [pad] * 3, [dilation] * 3)
        else:
            y = op.group_convolution(
                x, g.normal((groups, outputs // groups, channels // groups) + (k,) * 3, scale),
                [stride] * 3, [pad] * 3, [pad] * 3, [dilation] * 3)
        return g.outputs(op.add(y, g.normal((1, outputs, 1, 1, 1), 0.1)))
    return build


def pool3d(kind, k=2, stride=2, pad=0):
    def build(g):
        x = g.input((1, 4, 6, 10, 12))
        more = [True] if kind == "avg" else []
        return g.outputs(getattr(op, kind + "_pool")(x, [stride] * 3, [pad] * 3, [pad] * 3,
                                                     [k] * 3, *more))
    return build


def normalize(axes, eps=1e-3, mode="add", shape=IMAGE):
    return layer(lambda g, x: op.normalize_l2(x, g.ints(axes), eps, mode), shape)


def mvn(axes, variance=True, eps=1e-3, shape=IMAGE):
    return layer(lambda g, x: op.mvn(x, g.ints(axes), variance, eps, "inside_sqrt"), shape, -2, 3)


def mvn1(across, variance, eps=1e-3):
    return named("MVN", -2, 3, opset="opset2", across_channels=across,
                 normalize_variance=variance, eps=eps)


def detectron_topk():
    def build(g):
        r = rois(g, 20, 200, 4)
        s = np.linspace(0.1, 0.9, 20)[g.rng.permutation(20)].astype(np.float16)
        return g.outputs(g.node("ExperimentalDetectronTopKROIs",
                                [g.input(r.shape, data=r), g.input((20,), data=s)], "opset6",
                                max_rois=8))
    return build


def detectron_grid():
    def build(g):
        priors = g.input((3, 4), data=np.round(g.rng.uniform(-40, 40, (3, 4))))
        feat, image = g.input((1, 8, 6, 10)), g.input((1, 3, 96, 160))
        return g.outputs(g.node("ExperimentalDetectronPriorGridGenerator", [priors, feat, image],
                                "opset6", flatten=True, h=0, w=0, stride_x=16.0, stride_y=16.0))
    return build


def detectron_features():
    def build(g):
        r = rois(g, 8, 200, 4)
        y = g.node("ExperimentalDetectronROIFeatureExtractor",
                   [g.input(r.shape, data=r), g.input((1, 8, 56, 56)), g.input((1, 8, 28, 28))],
                   "opset6", output_size=7, sampling_ratio=2, pyramid_scales=[4, 8],
                   aligned=False)
        return g.outputs((y, 0), (y, 1))
    return build


def detectron_proposals():
    def build(g):
        h, w, n = 8, 10, 3
        y, x, _ = np.mgrid[0:h, 0:w, 0:n] * 16
        size = np.array([16, 32, 48])
        anchors = np.stack([x - size, y - size, x + size, y + size], -1).reshape(-1, 4)
        s = np.linspace(0.02, 0.98, n * h * w)[g.rng.permutation(n * h * w)]
        y = g.node("ExperimentalDetectronGenerateProposalsSingleImage",
                   [g.input((3,), data=[128, 160, 1]), g.input(anchors.shape, data=anchors),
                    g.input((4 * n, h, w), -0.3, 0.3),
                    g.input((n, h, w), data=s.reshape(n, h, w).astype(np.float16))],
                   "opset6", min_size=4.0, nms_threshold=0.7, pre_nms_count=100,
                   post_nms_count=20)
        return g.outputs((y, 0), (y, 1))
    return build


def detectron_detections():
    def build(g):
        n, classes = 20, 4
        r = rois(g, n, 120, 4)
        s = g.rng.dirichlet(np.ones(classes) * 0.5, n)
        y = g.node("ExperimentalDetectronDetectionOutput",
                   [g.input(r.shape, data=r), g.input((n, classes * 4), -0.5, 0.5),
                    g.input((n, classes), data=s.astype(np.float16)),
                    g.input((1, 3), data=[[128, 160, 1]])],
                   "opset6", score_threshold=0.05, nms_threshold=0.5, num_classes=classes,
                   post_nms_count=20, max_detections_per_image=10,
                   class_agnostic_box_regression=False,
                   max_delta_log_wh=4.135, deltas_weights=[10.0, 10.0, 5.0, 5.0])
        return g.outputs((y, 0), (y, 1), (y, 2))
    return build


def transpose(order, shape=IMAGE):
    return layer(lambda g, x: op.transpose(x, g.ints(order)), shape)


def crop(axis, begin, end, shape=IMAGE):
    b, e = [0] * 4, list(shape)
    b[axis], e[axis] = begin, end
    return layer(lambda g, x: op.strided_slice(x, g.ints(b), g.ints(e), g.ints([1] * 4), [0] * 4,
                                               [0] * 4), shape)


def split_concat(axis, parts, shape=IMAGE):
    """Parts in another order: views, and copies into a view."""
    def build(g):
        s = op.split(g.input(shape), g.ints(axis), parts)
        return g.outputs(op.concat([s.output(i) for i in reversed(range(parts))], axis))
    return build


def concat(axis, *shapes):
    return lambda g: g.outputs(op.concat([g.input(s) for s in shapes], axis))


def split(axis, parts, shape=IMAGE):
    def build(g):
        s = op.split(g.input(shape), g.ints(axis), parts)
        return g.outputs(*[(s, i) for i in range(parts)])
    return build


def pad(mode, begin, end, shape=IMAGE, value=0.5):
    more = {}
    return layer(lambda g, x: op.pad(x, g.ints(begin), g.ints(end), mode,
                                     g.const(value) if mode == "constant" else None, **more), shape)


def convert_i32(g):
    return g.outputs(op.convert(g.input(IMAGE, -20, 20), "i32"))


def one_hot(axis=-1, depth=7):
    def build(g):
        i = g.input((3, 5), data=g.rng.integers(0, depth, (3, 5)), kind="i32")
        return g.outputs(op.one_hot(i, g.const(depth, np.int32), g.const(2.0), g.const(-0.5), axis))
    return build


def broadcast(shape, target, mode="NUMPY"):
    return layer(lambda g, x: op.broadcast(x, g.ints(target), None, mode), shape)


def non_zero(g):
    x = g.input((4, 6), data=(g.rng.uniform(0, 1, (4, 6)) > 0.6) * 1.0)
    return g.outputs(op.non_zero(x, "i32"))


def reverse_sequence(g):
    x = g.input((3, 8, 5))
    # The compiler takes lengths as halves only.
    n = g.input((3,), data=[3, 8, 5])
    return g.outputs(op.reverse_sequence(x, n, 0, 1))


def clamp_power(g):
    """Post operations one behind another, on what a convolution left."""
    x = g.conv(g.input((1, 8, 16, 16)), 16, 3)
    x = op.sigmoid(x)
    x = op.power(x, g.const([2.0]))
    x = op.multiply(op.add(x, g.const([0.25])), g.const([3.0]))
    return g.outputs(op.hswish(x))


def injected(g):
    """A branch beside convolutions: what a hardware stage may carry with it."""
    x = g.input((1, 16, 32, 32))
    a = g.conv(x, 32, 3, act="relu")
    b = g.conv(a, 32, 3)
    c = op.tanh(g.conv(a, 32, 1))
    return g.outputs(op.relu(op.add(b, c)))


def chain(g):
    """Convolutions whose data need more than the on-chip memory."""
    x = g.input((1, 3, 160, 160))
    x = g.conv(x, 48, 3, act="relu")
    x = g.conv(x, 48, 3, act="relu")
    return g.outputs(g.conv(x, 16, 1))


def custom_grn(g):
    """Ten layers, two of which (GRN) may be bound to custom kernels."""
    x = g.input((1, 3, 32, 32))
    x = g.conv(x, 16, 3, act="relu")
    x = g.node("GRN", [x], "opset1", bias=1.0)
    x.set_friendly_name("grn_first")
    x = g.max_pool(g.conv(x, 32, 3, act="relu"), 2, 2)
    x = g.node("GRN", [x], "opset1", bias=1.0)
    x.set_friendly_name("grn_second")
    x = g.conv(x, 32, 3, act="relu")
    y = g.dense(g.flat(g.global_pool(x)), 10)
    return g.outputs(y, op.softmax(y, 1), names=["logits", "prob"])


def screlu(g):
    """Both halves of a convolution's values, each rectified."""
    x = g.conv(g.input((1, 8, 16, 16)), 8, 3)
    y = op.concat([x, op.negative(x)], 1)
    y = op.add(op.multiply(y, g.normal((1, 16, 1, 1), 0.2, 1.0)), g.normal((1, 16, 1, 1), 0.1))
    return g.outputs(op.relu(y))
