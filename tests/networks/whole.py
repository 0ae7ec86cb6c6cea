"""Whole networks, of published shapes, with random weights."""
import numpy as np

from graph import op, shape_of


def ends(g, logits, shape=None):
    """Class scores and their SoftMax: the first is what a cosine is taken of."""
    return g.outputs(logits, op.softmax(logits, 1), names=["logits", "prob"])


def with_grn(build, every=4):
    """A network with a GRN, which may be a custom layer, behind each so many convolutions."""
    def built(g):
        g.grn_every = every
        return build(g)
    return built


def squeezenet(size=227, classes=1000):
    """SqueezeNet 1.1."""
    def fire(g, x, squeeze, expand):
        s = g.conv(x, squeeze, 1, act="relu")
        return op.concat([g.conv(s, expand, 1, act="relu"), g.conv(s, expand, 3, act="relu")], 1)

    def build(g):
        x = g.input((1, 3, size, size))
        x = g.conv(x, 64, 3, stride=2, pad=0, act="relu")
        x = g.max_pool(x, 3, 2, rounding="ceil")
        x = fire(g, fire(g, x, 16, 64), 16, 64)
        x = g.max_pool(x, 3, 2, rounding="ceil")
        x = fire(g, fire(g, x, 32, 128), 32, 128)
        x = g.max_pool(x, 3, 2, rounding="ceil")
        x = fire(g, fire(g, x, 48, 192), 48, 192)
        x = fire(g, fire(g, x, 64, 256), 64, 256)
        x = g.conv(x, classes, 1, act="relu")
        return ends(g, g.flat(g.global_pool(x)))
    return build


def resnet(depth, size=224, classes=1000, width=64):
    """ResNet-18 and -50; the branch that is added is scaled so that sums do not grow."""
    blocks = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3), 10: (1, 1, 1, 1)}[depth]
    deep = depth >= 50

    def block(g, x, n, stride):
        if deep:
            y = g.conv(x, n, 1, act="relu")
            y = g.conv(y, n, 3, stride=stride, act="relu")
            y = g.conv(y, n * 4, 1, gain=0.5)
        else:
            y = g.conv(x, n, 3, stride=stride, act="relu")
            y = g.conv(y, n, 3, gain=0.5)
        if shape_of(y) != shape_of(x):
            x = g.conv(x, shape_of(y)[1], 1, stride=stride, pad=0, gain=1.0)
        return op.relu(op.add(y, x))

    def build(g):
        x = g.input((1, 3, size, size))
        x = g.conv(x, width, 7, stride=2, act="relu")
        x = g.max_pool(x, 3, 2, pad=1)
        for i, count in enumerate(blocks):
            for j in range(count):
                x = block(g, x, width << i, 2 if i and not j else 1)
        return ends(g, g.dense(g.flat(g.global_pool(x)), classes, gain=4.0))
    return build


def mobilenet1(alpha=1.0, size=224, classes=1000):
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + \
        [(1024, 2), (1024, 1)]

    def build(g):
        x = g.input((1, 3, size, size))
        x = g.conv(x, int(32 * alpha), 3, stride=2, act="relu6")
        for n, stride in plan:
            c = shape_of(x)[1]
            x = g.conv(x, c, 3, stride=stride, groups=c, act="relu6")
            x = g.conv(x, int(n * alpha), 1, act="relu6")
        return ends(g, g.dense(g.flat(g.global_pool(x)), classes, gain=4.0))
    return build


def mobilenet2(alpha=1.0, size=224, classes=1000):
    plan = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
            (6, 160, 3, 2), (6, 320, 1, 1)]

    def build(g):
        x = g.input((1, 3, size, size))
        x = g.conv(x, int(32 * alpha), 3, stride=2, act="relu6")
        for t, n, count, stride in plan:
            for j in range(count):
                c, out = shape_of(x)[1], int(n * alpha)
                y = g.conv(x, c * t, 1, act="relu6") if t > 1 else x
                s = stride if j == 0 else 1
                y = g.conv(y, c * t, 3, stride=s, groups=c * t, act="relu6")
                y = g.conv(y, out, 1, gain=1.0)
                x = op.add(y, x) if s == 1 and c == out else y
        x = g.conv(x, int(1280 * max(alpha, 1.0)), 1, act="relu6")
        return ends(g, g.dense(g.flat(g.global_pool(x)), classes, gain=4.0))
    return build


VOC = [1.08, 1.19, 3.42, 4.41, 6.63, 11.38, 9.42, 5.11, 16.62, 10.52]
COCO = [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319]


def region(g, x, classes, soft, mask):
    return op.region_yolo(x, 4, classes, 5 if soft else 6, soft, mask, 1, 3,
                          [float(a) for a in (VOC if soft else COCO)])


def yolo2(size=416):
    """Tiny YOLO v2, 20 classes."""
    def build(g):
        x = g.input((1, 3, size, size))
        for n in (16, 32, 64, 128, 256):
            x = g.max_pool(g.conv(x, n, 3, act="leaky"), 2, 2)
        x = g.conv(x, 512, 3, act="leaky")
        x = g.max_pool(x, 2, 1, pad=0, end=(1, 1), auto="same_upper")
        x = g.conv(g.conv(x, 1024, 3, act="leaky"), 512, 3, act="leaky")
        x = g.conv(x, 125, 1)
        return g.outputs(region(g, x, 20, True, []), names=["region"])
    return build


def yolo3(size=416):
    """Tiny YOLO v3, 80 classes, two scales."""
    def build(g):
        x = g.input((1, 3, size, size))
        for n in (16, 32, 64, 128):
            x = g.max_pool(g.conv(x, n, 3, act="leaky"), 2, 2)
        fine = g.conv(x, 256, 3, act="leaky")
        x = g.conv(g.max_pool(fine, 2, 2), 512, 3, act="leaky")
        x = g.max_pool(x, 2, 1, pad=0, end=(1, 1), auto="same_upper")
        x = g.conv(g.conv(x, 1024, 3, act="leaky"), 256, 1, act="leaky")
        coarse = g.conv(g.conv(x, 512, 3, act="leaky"), 255, 1)
        up = g.conv(x, 128, 1, act="leaky")
        h, w = (2 * d for d in shape_of(up)[2:])
        up = g.resize(up, h, w, "nearest")
        y = g.conv(op.concat([up, fine], 1), 256, 3, act="leaky")
        y = g.conv(y, 255, 1)
        return g.outputs(region(g, coarse, 80, False, [3, 4, 5]),
                         region(g, y, 80, False, [0, 1, 2]), names=["coarse", "fine"])
    return build


def encoder(size=96, width=16):
    """Down by strides, up by deconvolution and interpolation, with a skip each."""
    def build(g):
        x = g.input((1, 3, size, size))
        a = g.conv(x, width, 3, act="relu")
        b = g.conv(a, width * 2, 3, stride=2, act="relu")
        c = g.conv(b, width * 4, 3, stride=2, act="relu")
        d = g.conv(c, width * 4, 3, act="relu")
        w = g.normal((width * 4, width * 2, 4, 4), np.sqrt(2.0 / (width * 4 * 4)))
        u = op.relu(op.convolution_backprop_data(d, w, [2, 2], None, [1, 1], [1, 1]))
        u = g.conv(op.concat([u, b], 1), width * 2, 3, act="relu")
        u = g.resize(u, size, size, "linear_onnx", "asymmetric")
        u = g.conv(op.concat([u, a], 1), width, 3, act="relu")
        return g.outputs(g.conv(u, 4, 1, gain=1.0), names=["mask"])
    return build


def ssd(size=128, classes=5):
    """A detection head on a small network: PriorBox on one scale, clustered on the other."""
    def build(g):
        image = g.input((1, 3, size, size))
        x = g.conv(image, 16, 3, stride=2, act="relu")
        for n, s in ((32, 2), (64, 2)):
            c = shape_of(x)[1]
            x = g.conv(g.conv(x, c, 3, stride=s, groups=c, act="relu"), n, 1, act="relu")
        first = x
        second = g.conv(x, 64, 3, stride=2, act="relu")
        loc, conf, priors = [], [], []
        for i, f in enumerate((first, second)):
            h, w = shape_of(f)[2:]
            if i == 0:
                attributes = {
                    "min_size": [20.0], "max_size": [40.0], "aspect_ratio": [2.0], "flip": True,
                    "clip": False, "step": 0.0, "offset": 0.5, "variance": [0.1, 0.1, 0.2, 0.2],
                    "scale_all_sizes": True, "density": [], "fixed_ratio": [], "fixed_size": []}
                p = op.prior_box(g.ints([h, w]), g.ints([size, size]), attributes)
            else:
                attributes = {
                    "width": [30.0, 60.0, 90.0], "height": [60.0, 30.0, 90.0], "clip": False,
                    "step_widths": 16.0, "step_heights": 16.0, "step": 16.0, "offset": 0.5,
                    "variance": [0.1, 0.1, 0.2, 0.2]}
                p = op.prior_box_clustered(g.ints([h, w]), g.ints([size, size]), attributes)
            n = shape_of(p)[-1] // 4 // (h * w)
            priors.append(op.unsqueeze(p, g.ints([0])))
            for what, to in ((4, loc), (classes, conf)):
                y = g.conv(f, n * what, 3, gain=1.0)
                y = op.transpose(y, g.ints([0, 2, 3, 1]))
                to.append(g.flat(y))
        loc, conf, priors = (op.concat(v, a) for v, a in ((loc, 1), (conf, 1), (priors, 2)))
        count = shape_of(loc)[1] // 4
        conf = op.reshape(conf, g.ints([1, count, classes]), False)
        conf = g.flat(op.softmax(op.multiply(conf, g.const([3.0])), 2))
        return g.outputs(detection(g, loc, conf, priors, classes), names=["detections"])
    return build


def detection(g, loc, conf, priors, classes, **other):
    attributes = {
        "num_classes": classes, "background_label_id": 0, "top_k": 100,
        "variance_encoded_in_target": False, "keep_top_k": [50],
        "code_type": "caffe.PriorBoxParameter.CENTER_SIZE", "share_location": True,
        "nms_threshold": 0.45, "confidence_threshold": 0.3, "clip_after_nms": False,
        "clip_before_nms": False, "decrease_label_id": False, "normalized": True,
        "input_height": 1, "input_width": 1, "objectness_score": 0.0}
    attributes.update(other)
    return op.detection_output(loc, conf, priors, attributes)


def mlp(layers=(784, 256, 256, 256, 10)):
    def build(g):
        x = g.input((1, layers[0]))
        for n in layers[1:-1]:
            x = g.dense(x, n, "relu")
        return ends(g, g.dense(x, layers[-1], gain=4.0))
    return build


def cnv():
    """The CNV of published accelerators, for images of 32 x 32."""
    def build(g):
        x = g.input((1, 3, 32, 32))
        for i, n in enumerate((64, 128, 256)):
            x = g.conv(x, n, 3, pad=0, act="relu")
            x = g.conv(x, n, 3, pad=0, act="relu")
            if i < 2:
                x = g.max_pool(x, 2, 2)
        x = g.flat(x)
        x = g.dense(g.dense(x, 512, "relu"), 512, "relu")
        return ends(g, g.dense(x, 10, gain=4.0))
    return build


def lstm_loop(time=6, inputs=32, hidden=24, forward=True, batch=1):
    """A TensorIterator over an LSTMCell."""
    def build(g):
        x = g.input((batch, time, inputs))
        h = g.input((batch, hidden))
        c = g.input((batch, hidden))
        w = g.normal((4 * hidden, inputs), 1.0 / np.sqrt(inputs))
        r = g.normal((4 * hidden, hidden), 1.0 / np.sqrt(hidden))
        b = g.normal((4 * hidden,), 0.1)
        body = [op.parameter([batch, 1, inputs], np.float32),
                op.parameter([batch, hidden], np.float32),
                op.parameter([batch, hidden], np.float32)]
        cell = op.lstm_cell(op.squeeze(body[0], g.ints([1])), body[1], body[2], w, r, b, hidden)
        ho, co = cell.output(0), cell.output(1)
        results = [op.result(ho), op.result(co), op.result(op.unsqueeze(ho, g.ints([1])))]
        return g.iterate((x, h, c), body, results, time, forward)
    return build
