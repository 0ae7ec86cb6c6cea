#!/usr/bin/env python3
"""The networks of make check-openvino: networks.py [PATTERN] lists them.

One row a case. Weights come from the row's seed, rounded to FP16, so that a
stick and the CPU plug-in of the same package compute with the same numbers.
"""
import fnmatch
import sys
import zlib
from collections import namedtuple

import single as s
import whole as w

# How near a stage has to come to the CPU plug-in: a kind and a number.
#   hw    |difference| <= value * the largest output: a hardware stage
#   abs   |difference| <= value
#   rel   |difference| <= value * (|expected| + a thousandth of the largest)
#   net   cosine >= value; of classifiers the first output, and the same top 1
#   boxes rows of detections: the same labels, the numbers within value
#   most  of such rows: nine of ten, since rounding decides what is close to a threshold
Tolerance = namedtuple("Tolerance", "kind value")
HW = Tolerance("hw", 2.0 ** -9)
NET = Tolerance("net", 0.9999)
SAME = Tolerance("abs", 0.0)


def within(value):
    return Tolerance("abs", value)


def relative(value):
    return Tolerance("rel", value)


BOXES = Tolerance("boxes", 1e-2)
MOST = Tolerance("most", 2e-2)

# Options of a case:
#   io       what the host gives and takes: "f16", or "u8" in and "f32" out as it does when
#            nothing is said
#   config   of the plug-in;  hw: the hardware acceleration;  batch
#   edit     of the text of the IR, for what the builder does not let through
#   custom   its GRN layers are kernels of ours where a binding is given
#   quick    its blob is run by vpu run, too;  big: takes long
#   doubt    why the CPU plug-in's result is not what a stick is held to; it has to run
Case = namedtuple("Case", "name build tolerance seed options")
CASES = []


def case(name, build, tolerance, **options):
    CASES.append(Case(name, build, tolerance, zlib.crc32(name.encode()) & 0xffff, options))


def both(name, build, tolerance, soft=within(2e-2), **options):
    """With the hardware acceleration, and without."""
    case(name, build, tolerance, **options)
    case(name + "-sw", build, soft, hw=False, **options)


def add_whole():
    case("resnet18-64", w.resnet(18, 64, 100, 16), NET, quick=True)
    case("squeezenet-64", w.squeezenet(64, 100), NET, quick=True)
    case("mobilenet1-64", w.mobilenet1(0.25, 64, 100), NET, quick=True)
    case("mobilenet2-64", w.mobilenet2(0.5, 64, 100), NET, quick=True)
    case("yolo3-160", w.yolo3(160), NET)
    case("yolo2-160", w.yolo2(160), NET)
    case("encoder", w.encoder(), NET, quick=True)
    case("ssd", w.ssd(), MOST, quick=True)
    case("mlp", w.mlp(), NET, quick=True)
    case("cnv", w.cnv(), NET, quick=True)
    case("lstm-loop", w.lstm_loop(), within(1e-2), quick=True)
    case("lstm-loop-back", w.lstm_loop(forward=False), within(1e-2))
    case("lstm-loop-pure", w.lstm_loop(), within(1e-2),
         config={"MYRIAD_FORCE_PURE_TENSOR_ITERATOR": "YES"})
    case("lstm-loop-unrolled", w.lstm_loop(), within(1e-2),
         config={"MYRIAD_ENABLE_TENSOR_ITERATOR_UNROLLING": "YES"})
    case("resnet18", w.resnet(18), NET, big=True)
    case("squeezenet", w.squeezenet(), NET, big=True)
    case("mobilenet1", w.mobilenet1(), NET, big=True)
    case("mobilenet2", w.mobilenet2(), NET, big=True)
    case("yolo3", w.yolo3(), NET, big=True)
    case("yolo2", w.yolo2(), NET, big=True)
    case("resnet50", w.resnet(50), NET, big=True)
    case("resnet18-64-sw", w.resnet(18, 64, 100, 16), NET, hw=False)
    case("mobilenet1-64-sw", w.mobilenet1(0.25, 64, 100), NET, hw=False)
    case("squeezenet-64-sw", w.squeezenet(64, 100), NET, hw=False)
    case("mobilenet2-64-sw", w.mobilenet2(0.5, 64, 100), NET, hw=False)
    case("encoder-sw", w.encoder(), NET, hw=False)
    case("cnv-sw", w.cnv(), NET, hw=False)
    case("mlp-sw", w.mlp(), NET, hw=False)
    case("yolo3-160-sw", w.yolo3(160), NET, hw=False)
    case("resnet18-64-u8", w.resnet(18, 64, 100, 16), NET, io="u8")
    case("resnet18-64-batch4", w.resnet(18, 64, 100, 16), NET, batch=4)
    case("resnet18-64-stream1", w.resnet(18, 64, 100, 16), NET,
         config={"MYRIAD_THROUGHPUT_STREAMS": "1"})
    case("mobilenet2-stream1", w.mobilenet2(), NET, big=True,
         config={"MYRIAD_THROUGHPUT_STREAMS": "1"})
    case("screlu", s.screlu, HW, config={"MYRIAD_ENABLE_REPL_WITH_SCRELU": "YES"})
    case("custom-grn", s.custom_grn, NET, quick=True)
    for name, build in (("resnet18-64", w.resnet(18, 64, 100, 16)),
                        ("squeezenet-64", w.squeezenet(64, 100)),
                        ("mobilenet2-64", w.mobilenet2(0.5, 64, 100)),
                        ("yolo3-160", w.yolo3(160)), ("encoder", w.encoder())):
        case(name + "-custom", w.with_grn(build), NET, custom=True)
        case(name + "-custom-sw", w.with_grn(build), NET, custom=True, hw=False)


def add_convolutions():
    both("conv3x3", s.conv(), HW)
    both("conv3x3-relu", s.conv(act="relu"), HW, quick=True)
    both("conv1x1", s.conv(64, 96, 1, (14, 14)), HW)
    both("conv3x3-3", s.conv(3, 16, 3, (40, 56), stride=2, act="relu"), HW)
    for k in (2, 4, 5, 7, 9, 11, 15):
        both("conv%dx%d" % (k, k), s.conv(8, 16, k, (30, 34)), HW)
    both("conv3x5", s.conv(8, 16, (3, 5), (20, 26)), HW)
    both("conv1x7", s.conv(8, 16, (1, 7), (20, 26)), HW)
    both("conv7x1", s.conv(8, 16, (7, 1), (20, 26)), HW)
    both("conv17x17", s.conv(4, 8, 17, (30, 34)), HW)
    # Split in two by the compiler, which gives both halves the bias.
    both("conv1x16", s.conv(8, 16, (1, 16), (20, 33), pad=0, bias=False), HW)
    for stride in (2, 3, 4, 8):
        both("conv3x3-s%d" % stride, s.conv(8, 16, 3, (33, 41), stride=stride), HW)
    both("conv1x1-s2", s.conv(32, 16, 1, (28, 28), stride=2, pad=0), HW)
    both("conv3x3-s2x1", s.conv(8, 16, 3, (33, 41), stride=(2, 1)), HW)
    both("conv3x3-s9", s.conv(8, 16, 3, (33, 41), stride=9), HW)
    both("conv7x7-s2", s.conv(3, 32, 7, (64, 64), stride=2, act="relu"), HW)
    both("conv11x11-s4", s.conv(3, 32, 11, (67, 67), stride=4, pad=0, act="relu"), HW)
    for name, pad in (("none", 0), ("two", 2), ("left", (1, 1, 0, 0)), ("right", (0, 0, 1, 1)),
                      ("odd", (0, 1, 2, 1))):
        both("conv3x3-pad-" + name, s.conv(8, 16, 3, (18, 22), pad=pad), HW)
    both("conv3x3-same-s2", s.conv(8, 16, 3, (18, 22), stride=2, auto="same_upper"), HW)
    both("conv5x5-same", s.conv(8, 16, 5, (18, 22), stride=2, auto="same_lower"), HW)
    for d in (2, 3):
        both("conv3x3-d%d" % d, s.conv(8, 16, 3, (24, 26), dilation=d, pad=d), HW)
    case("conv3x3-d2-hw", s.conv(8, 16, 3, (24, 26), dilation=2, pad=2), HW,
         config={"MYRIAD_HW_DILATION": "YES"})
    for groups in (2, 4):
        both("conv3x3-g%d" % groups, s.conv(16, 32, 3, (20, 20), groups=groups), HW)
    for channels in (8, 16, 24, 64, 96):
        both("dw%d" % channels, s.conv(channels, channels, 3, (20, 28), groups=channels), HW)
    both("dw32-s2", s.conv(32, 32, 3, (28, 28), stride=2, groups=32, act="relu6"), HW)
    both("dw16-5x5", s.conv(16, 16, 5, (20, 28), groups=16), HW)
    both("dw16-d2", s.conv(16, 16, 3, (20, 28), groups=16, dilation=2, pad=2), HW)
    both("dw16-x2", s.conv(16, 32, 3, (20, 28), groups=16), HW)
    both("conv3x3-nobias", s.conv(bias=False), HW)
    for act in ("leaky", "relu6", "sigmoid", "tanh", "hswish", "mish"):
        both("conv3x3-" + act, s.conv(8, 16, 3, (20, 24), act=act), HW)
    for channels, outputs in ((1, 8), (1, 1), (3, 5), (5, 7), (7, 32), (17, 9), (33, 40),
                              (128, 16), (512, 8), (1024, 16)):
        both("conv3x3-%dto%d" % (channels, outputs),
             s.conv(channels, outputs, 3, (10, 12)), HW)
    both("conv1x1-2048", s.conv(2048, 64, 1, (7, 7)), HW)
    both("conv3x3-512x512", s.conv(512, 512, 3, (7, 7)), HW)
    for size in ((1, 1), (1, 40), (40, 1), (3, 3), (7, 5), (13, 13), (56, 56), (128, 96),
                 (200, 180)):
        both("conv3x3-%dx%d" % size, s.conv(4, 8, 3, size), HW)
    both("conv1x1-1x1", s.conv(64, 40, 1, (1, 1)), HW)
    both("conv3x3-pool", s.conv(8, 16, 3, (32, 32), act="relu", pool=(2, 2)), HW, quick=True)
    both("conv3x3-leaky-pool", s.conv(16, 32, 3, (26, 26), act="leaky", pool=(2, 2)), HW)
    both("conv3x3-pool-odd", s.conv(8, 16, 3, (31, 33), act="relu", pool=(2, 2)), HW)
    both("conv3x3-pool3", s.conv(8, 16, 3, (32, 32), act="relu", pool=(3, 2)), HW)
    both("conv3x3-u8", s.conv(3, 16, 3, (32, 32), act="relu"), HW, HW, io="u8")
    case("conv3x3-f32", s.conv(act="relu"), HW, io="f32", quick=True)
    case("conv3x3-batch4", s.conv(act="relu"), HW, batch=4)
    case("conv3x3-batch3", s.conv(8, 16, 3, (12, 12), batch=3), HW)
    case("conv3x3-nobatch", s.conv(8, 16, 3, (12, 12), batch=3), HW,
         config={"MYRIAD_DETECT_NETWORK_BATCH": "NO"})
    case("conv3x3-stream1", s.conv(16, 32, 3, (64, 64), act="relu"), HW,
         config={"MYRIAD_THROUGHPUT_STREAMS": "1"})
    both("chain", s.chain, HW)
    both("injected", s.injected, HW, quick=True)
    both("post-chain", s.clamp_power, within(1e-2))
    for k, stride, pad, groups in ((4, 2, 1, 1), (2, 2, 0, 1), (3, 2, 1, 1), (3, 1, 1, 1),
                                   (5, 3, 2, 1), (4, 2, 1, 16), (3, 2, 1, 4)):
        both("deconv%d-s%d-p%d-g%d" % (k, stride, pad, groups),
             s.deconv(16, 16, k, stride, pad, groups), HW,
             doubt="the compiler mixes the weights of groups" if groups == 4 else "")
    both("deconv3-s2-out1", s.deconv(16, 8, 3, 2, 1, 1, output_pad=1), HW)
    both("deconv16-s8", s.deconv(8, 4, 16, 8, 4, 1, (6, 7)), HW)
    for n, outputs in ((16, 10), (64, 64), (100, 37), (512, 1000), (1690, 100), (784, 256),
                       (4096, 8), (64, 1)):
        both("fc%dto%d" % (n, outputs), s.dense(n, outputs), HW)
    both("fc64to32-relu", s.dense(64, 32, act="relu"), HW)
    for batch in (2, 3, 10, 20):
        both("fc64to32-rows%d" % batch, s.dense(64, 32, batch), HW)


def add_pools():
    for kind, tolerance in (("max", SAME), ("avg", within(1.5e-3))):
        for k, stride, pad in ((2, 2, 0), (3, 2, 0), (3, 2, 1), (3, 1, 1), (2, 1, 0), (5, 2, 2),
                               (5, 3, 0), (7, 1, 0), (7, 7, 0), (13, 1, 6), (28, 1, 0)):
            name = "%spool%d-s%d-p%d" % (kind, k, stride, pad)
            # The hardware counts pads as zeros, whatever the network says.
            if kind == "avg" and pad:
                case(name, s.pool(kind, k, stride, pad, exclude=False), tolerance)
                case(name + "-sw", s.pool(kind, k, stride, pad), within(1e-2), hw=False)
            else:
                both(name, s.pool(kind, k, stride, pad), tolerance, within(1e-2))
        both(kind + "pool3-s2-ceil", s.pool(kind, 3, 2, 0, rounding="ceil"), tolerance,
             within(1e-2))
        both(kind + "pool2-s2-ceil", s.pool(kind, 2, 2, 0, size=(27, 25), rounding="ceil"),
             tolerance, within(1e-2))
        both(kind + "pool3-s2-p1-ceil", s.pool(kind, 3, 2, 1, rounding="ceil"), tolerance,
             within(1e-2))
        both(kind + "pool3x2", s.pool(kind, (3, 2), (3, 2), 0), tolerance, within(1e-2))
        both(kind + "pool2-s2x1", s.pool(kind, 2, (2, 1), 0), tolerance, within(1e-2))
    both("avgpool3-s1-all", s.pool("avg", 3, 1, 1, exclude=False), within(1.5e-3), within(1e-2))
    both("avgpool3-small", s.pool("avg", 3, 1, 1, size=(5, 5)), within(1.5e-3), within(1e-2))
    both("maxpool2-same", s.pool("max", 2, 1, 0, size=(13, 13), end=(1, 1)), SAME, within(1e-2))
    both("maxpool-wide", s.pool("max", 2, 2, 0, 3, (16, 200)), SAME, within(1e-2))
    for c, size in ((64, 7), (128, 14), (1000, 1), (7, 3)):
        both("global%d-%d" % (c, size), s.layer(lambda g, x: g.global_pool(x), (1, c, size, size)),
             within(2e-3), within(1e-2))


def add_activations():
    shapes = {"": s.IMAGE, "-odd": (1, 5, 7, 9), "-rows": (3, 10), "-line": (1, 1, 1, 37)}
    for name, tolerance, low, high in (
            ("relu", SAME, -3, 3), ("sigmoid", within(1e-3), -8, 8), ("tanh", within(1e-3), -4, 4),
            ("exp", relative(3e-3), -4, 4), ("log", within(1e-2), 0.05, 8),
            ("erf", within(1.2e-3), -3, 3), ("floor", SAME, -5, 5), ("ceiling", SAME, -5, 5),
            ("mish", within(1e-2), -5, 5), ("softplus", within(1e-2), -5, 5),
            ("hswish", within(1e-2), -5, 5), ("hsigmoid", within(1e-2), -5, 5),
            ("sqrt", relative(2e-3), 0.1, 9), ("negative", SAME, -3, 3), ("abs", SAME, -3, 3),
            ("sign", SAME, -3, 3), ("sin", within(2e-3), -3, 3), ("cos", within(2e-3), -3, 3)):
        for suffix, shape in shapes.items():
            if suffix and name not in ("relu", "sigmoid", "exp", "floor"):
                continue
            case(name + suffix, s.unary(name, low, high, shape), tolerance)
    for mode in ("half_to_even", "half_away_from_zero"):
        case("round-" + mode, s.layer(lambda g, x, m=mode: g.op.round(
            g.op.multiply(x, g.const([8.0])), m)), SAME)
    for mode in ("erf", "tanh"):
        case("gelu-" + mode, s.layer(lambda g, x, m=mode: g.op.gelu(x, m), low=-4, high=4),
             within(1e-2))
    case("elu", s.layer(lambda g, x: g.op.elu(x, 0.7), low=-4, high=4), within(8e-3))
    case("selu", s.layer(lambda g, x: g.op.selu(x, g.const([1.6]), g.const([1.05]))),
         within(8e-3))
    case("swish", s.layer(lambda g, x: g.op.swish(x, g.const(1.5)), low=-4, high=4), within(8e-3))
    case("leaky", s.layer(lambda g, x: g.op.prelu(x, g.const([0.1]))), within(1e-3))
    case("leaky-u", s.layer(lambda g, x: g.op.prelu(x, g.const([0.37]))), within(1e-3))
    case("prelu", s.layer(lambda g, x: g.op.prelu(x, g.normal((16,), 0.3))), within(1e-3))
    case("clamp", s.layer(lambda g, x: g.op.clamp(x, -0.5, 0.75)), within(1e-3))
    case("clamp0", s.layer(lambda g, x: g.op.clamp(x, 0.0, 0.75)), within(1e-3))
    for p in (-1.0, 0.5, 2.0, 3.0, 1.5):
        case("power%g" % p, s.layer(lambda g, x, p=p: g.op.power(x, g.const([p])), low=0.2,
                                    high=3), relative(3e-3))
    case("scale", s.layer(lambda g, x: g.op.multiply(x, g.normal((1, 16, 1, 1)))), within(5e-3))
    case("bias", s.layer(lambda g, x: g.op.add(x, g.normal((1, 16, 1, 1)))), within(2e-3))
    case("scaleshift", s.layer(lambda g, x: g.op.add(g.op.multiply(
        x, g.normal((1, 16, 1, 1))), g.normal((1, 16, 1, 1)))), within(5e-3))
    case("batchnorm", s.layer(lambda g, x: g.op.batch_norm_inference(
        x, g.normal((16,), 0.2, 1.0), g.normal((16,), 0.2), g.normal((16,), 0.2),
        g.const(g.rng.uniform(0.5, 2.0, 16)), 1e-3)), within(8e-3))
    for axis in (1, 2, 3):
        case("softmax%d" % axis, s.layer(lambda g, x, a=axis: g.op.softmax(x, a), low=-4, high=4),
             within(1e-3))
    case("softmax-rows", s.layer(lambda g, x: g.op.softmax(x, 1), (3, 100), -4, 4), within(1e-3))
    case("softmax-1000", s.layer(lambda g, x: g.op.softmax(x, 1), (1, 1000), -4, 4), within(1e-3))
    case("logsoftmax", s.layer(lambda g, x: g.op.log_softmax(x, 1), (2, 40), -4, 4), within(2e-2))
    case("fakequantize", s.layer(lambda g, x: g.op.fake_quantize(
        x, g.const([-1.0]), g.const([1.0]), g.const([-1.0]), g.const([1.0]), 256)), within(1e-2))


def add_elementwise():
    tolerance = {"power": 0.125, "divide": 8.4e-3, "floor_mod": 8.4e-3, "mod": 8.4e-3}
    broadcasts = {"": (s.IMAGE, s.IMAGE), "-channel": (s.IMAGE, (1, 16, 1, 1)),
                  "-plane": (s.IMAGE, (1, 1, 24, 32)), "-scalar": (s.IMAGE, (1,)),
                  "-row": ((1, 16, 1, 32), (1, 1, 24, 1)), "-rank": (s.IMAGE, (24, 32)),
                  "-major": ((4, 6, 5), (6, 1))}
    for name in ("add", "multiply", "maximum", "minimum", "subtract", "divide",
                 "squared_difference", "power", "floor_mod", "mod"):
        for suffix, (a, b) in broadcasts.items():
            if suffix and name not in ("add", "multiply", "maximum") and suffix != "-channel":
                continue
            low = 0.3 if name in ("power", "divide", "floor_mod", "mod") else -2.0
            case(name + suffix, s.two(name, a, b, low), within(tolerance.get(name, 8.4e-3)))
    for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"):
        case(name, s.two(name, levels=4), SAME)
        case(name + "-channel", s.two(name, s.IMAGE, (1, 16, 1, 1), levels=4), SAME)
        case(name + "-i32", s.two(name, (4, 30), (4, 30), -3, 4, levels=1, kind="i32"), SAME)
    for name in ("add", "multiply", "maximum", "minimum", "divide", "subtract"):
        case(name + "-i32", s.two(name, (4, 30), (4, 30), 1, 9, levels=1, kind="i32"), SAME)
    for name in ("logical_and", "logical_or", "logical_xor", "logical_not"):
        case(name, s.logic(name), SAME)
    case("select", s.select(), SAME)
    case("select-channel", s.select(s.IMAGE, (1, 16, 1, 1)), SAME)
    case("add-relu", lambda g: g.outputs(g.op.relu(g.op.add(g.input(s.IMAGE), g.input(s.IMAGE)))),
         within(8.4e-3))
    case("add3", lambda g: g.outputs(g.op.add(g.op.add(g.input(s.IMAGE), g.input(s.IMAGE)),
                                              g.input(s.IMAGE))), within(8.4e-3))


def add_norms():
    for size in (3, 5):
        case("lrn%d" % size, s.layer(lambda g, x, n=size: g.op.lrn(
            x, g.ints([1]), 1e-1, 0.75, 1.0, n), low=-3, high=3), within(1e-3))
    case("lrn-inner", s.layer(lambda g, x: g.op.lrn(x, g.ints([2, 3]), 1e-1, 0.75, 1.0, 3),
                              low=-3, high=3), within(1e-3))
    case("lrn-k2", s.layer(lambda g, x: g.op.lrn(x, g.ints([1]), 1e-4, 0.75, 2.0, 5)),
         within(1e-3))
    case("grn", s.named("GRN", opset="opset1", bias=1.0), within(1e-3))
    case("grn-odd", s.named("GRN", shape=(1, 5, 7, 9), opset="opset1", bias=0.5), within(1e-3))
    case("mvn-channel", s.mvn1(False, True), within(0.02))
    case("mvn-all", s.mvn1(True, True), within(0.02))
    case("mvn-mean", s.mvn1(False, False), within(0.02))
    case("mvn6", s.mvn([2, 3]), within(0.02))
    case("mvn6-all", s.mvn([1, 2, 3]), within(0.02))
    case("mvn6-rows", s.mvn([1], shape=(4, 50)), within(0.02))
    case("normalize", s.normalize([1]), within(1e-3))
    case("normalize-all", s.normalize([1, 2, 3]), within(1e-3))
    case("normalize-max", s.normalize([1], 1e-4, "max"), within(1e-3))
    case("normalize-rows", s.normalize([1], shape=(3, 40)), within(1e-3))


def add_resizes():
    small = (1, 8, 10, 12)
    for mode in ("nearest", "linear", "linear_onnx", "cubic"):
        for coordinates in ("half_pixel", "pytorch_half_pixel", "asymmetric",
                            "tf_half_pixel_for_nn", "align_corners"):
            for name, (h, w_) in (("up", (20, 24)), ("down", (5, 6)), ("odd", (17, 31))):
                if mode == "cubic" and name != "up":
                    continue
                case("interp-%s-%s-%s" % (mode, coordinates, name),
                     s.layer(lambda g, x, m=mode, c=coordinates, h=h, w=w_: g.resize(
                         x, h, w, m, c), small), within(0.07 if mode != "nearest" else 1e-3))
    for nearest in ("round_prefer_ceil", "floor", "ceil", "simple"):
        for coordinates in ("half_pixel", "asymmetric"):
            case("interp-nearest-%s-%s" % (coordinates, nearest),
                 s.layer(lambda g, x, n=nearest, c=coordinates: g.resize(
                     x, 17, 31, "nearest", c, n), small), within(1e-3))
    for mode in ("nearest", "linear"):
        for corners in (False, True):
            case("interp1-%s-%s" % (mode, "corners" if corners else "plain"),
                 s.layer(lambda g, x, m=mode, a=corners: g.node(
                     "Interpolate", [x, g.ints([20, 24])], "opset1", axes=[2, 3], mode=m,
                     align_corners=a, antialias=False, pads_begin=[0, 0, 0, 0],
                     pads_end=[0, 0, 0, 0]), small), within(0.07),
                 doubt="the blob does not say what the CPU plug-in does"
                 if (mode == "linear") != corners else "")


def add_moves():
    for mode in ("constant", "edge", "reflect", "symmetric"):
        case("pad-" + mode, s.pad(mode, (0, 1, 2, 3), (0, 2, 1, 4)), SAME)
        case("pad-%s-plane" % mode, s.pad(mode, (0, 0, 1, 1), (0, 0, 1, 1)), SAME)
    for axis, parts in ((1, 4), (2, 3), (3, 4)):
        case("split%d" % axis, s.split(axis, parts), SAME)
        case("split-concat%d" % axis, s.split_concat(axis, parts), SAME)
    case("concat1", s.concat(1, (1, 3, 10, 12), (1, 5, 10, 12)), SAME)
    case("concat2", s.concat(2, (1, 3, 10, 12), (1, 3, 4, 12)), SAME)
    case("concat3", s.concat(3, (1, 3, 10, 12), (1, 3, 10, 7), (1, 3, 10, 1)), SAME)
    case("concat-rows", s.concat(1, (2, 10), (2, 7)), SAME)
    for axis in (1, 2, 3):
        case("crop%d" % axis, s.crop(axis, 3, 11), SAME)
    case("tile", s.layer(lambda g, x: g.op.tile(x, g.ints([1, 2, 1, 3])), (1, 5, 6, 7)), SAME)
    case("tile-batch", s.layer(lambda g, x: g.op.tile(x, g.ints([2, 1])), (1, 9)), SAME)
    for order in ((0, 2, 3, 1), (0, 3, 1, 2), (0, 1, 3, 2), (0, 2, 1, 3), (0, 3, 2, 1)):
        case("transpose" + "".join(map(str, order)), s.transpose(list(order)), SAME)
    case("transpose-5d", s.transpose([0, 2, 4, 1, 3], (1, 3, 4, 5, 6)), SAME)
    case("transpose-rows", s.transpose([1, 0], (9, 14)), SAME)
    case("reshape", s.layer(lambda g, x: g.op.reshape(x, g.ints([1, 32, 12, 32]), False)), SAME)
    case("reshape-relu", s.layer(lambda g, x: g.op.relu(
        g.op.reshape(x, g.ints([16, 768]), False))), SAME)
    case("squeeze", s.layer(lambda g, x: g.op.squeeze(x, g.ints([0]))), SAME)
    case("unsqueeze", s.layer(lambda g, x: g.op.unsqueeze(x, g.ints([2])), (1, 5, 7)), SAME)
    for mode in ("blocks_first", "depth_first"):
        case("depthtospace-" + mode, s.layer(lambda g, x, m=mode: g.op.depth_to_space(x, m, 2)),
             SAME)
        case("spacetodepth-" + mode, s.layer(lambda g, x, m=mode: g.op.space_to_depth(x, m, 2)),
             SAME)
    case("shufflechannels", s.layer(lambda g, x: g.op.shuffle_channels(x, 1, 4)), SAME)
    case("reorg", s.layer(lambda g, x: g.op.reorg_yolo(x, [2])), SAME)
    case("convert-i32", s.convert_i32, SAME)
    case("f32", s.unary("sigmoid"), within(1e-3), io="f32")
    case("u8", s.unary("sqrt", 0, 255), within(5e-2), io="u8")
    for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min"):
        for axes in ([1], [2], [3], [2, 3], [1, 3], [0, 1, 2, 3]):
            case("%s-%s" % (name, "".join(map(str, axes))), s.reduce(name, axes),
                 within(8e-3) if name != "reduce_sum" else relative(8e-3))
        case(name + "-drop", s.reduce(name, [1, 2], False),
             within(8e-3) if name != "reduce_sum" else relative(8e-3))
    for name in ("reduce_l1", "reduce_l2", "reduce_prod"):
        case(name, s.reduce(name, [3]), relative(2e-2))
    case("reduce_and", lambda g: g.outputs(g.op.convert(g.op.reduce_logical_and(
        g.op.greater(g.input((1, 6, 5, 3)), g.const([-0.6])), g.ints([3]), True), "f32")), SAME)
    for k, axis, mode, sort, shape in (
            (5, 1, "max", "value", (1, 40)), (5, 1, "max", "index", (1, 40)),
            (3, 2, "min", "value", (2, 5, 20)), (1, 1, "max", "none", (1, 16, 8, 8)),
            (4, 1, "max", "value", (1, 16, 8, 8)), (20, 1, "max", "value", (1, 1000)),
            (3, 3, "max", "value", (1, 4, 8, 20))):
        case("topk%d-%d-%s-%s-%d" % (k, axis, mode, sort, len(shape)),
             s.top_k(k, axis, mode, sort, shape), SAME)
    for axis, indices in ((0, (5,)), (1, (5,)), (2, (2, 3)), (3, (7,))):
        shape = (6, 7, 8, 9)
        case("gather%d" % axis, s.gather(axis, indices, shape), SAME)
    case("gather-constant", s.gather(1, (5,), constant=True), SAME)
    case("gather-rows", s.gather(0, (4, 3), (20, 12)), SAME)
    case("gathernd", s.gather_nd(), SAME)
    case("gathernd-batch", s.gather_nd(1), SAME)
    for axis in (0, 1, 2):
        case("gatherelements%d" % axis, s.gather_elements(axis), SAME)
    case("scatterupdate", s.scatter("update"), SAME)
    case("scatterelements", s.scatter("elements"), SAME)
    case("stridedslice", s.slices([0, 1, 2, 3], [1, 15, 22, 30], [1, 2, 3, 1]), SAME)
    case("stridedslice-mask", s.slices([0, 1, 2, 3], [1, 15, 22, 30], [1, 2, 1, 3],
                                       begin_mask=[1, 0, 0, 1], end_mask=[1, 0, 1, 0]), SAME)
    case("stridedslice-back", s.slices([0, 0, 23, 0], [1, 16, 0, 32], [1, 1, -1, 1]), SAME)
    case("stridedslice-shrink", s.slices([0, 3, 0, 0], [1, 4, 24, 32], [1, 1, 1, 1],
                                         shrink=[0, 1, 0, 0]), SAME)
    case("stridedslice-new", s.slices([0, 0, 0], [0, 9, 8], [1, 2, 1], (9, 8), new=[1, 0, 0]),
         SAME)
    case("stridedslice-inputs", s.slices_of_inputs(), SAME)
    case("reversesequence", s.reverse_sequence, SAME)
    case("onehot", s.one_hot(), SAME)
    case("onehot0", s.one_hot(0), SAME)
    case("onehot1", s.one_hot(1), SAME)
    case("broadcast", s.broadcast((1, 16, 1, 1), [1, 16, 6, 8]), SAME)
    case("broadcast-rank", s.broadcast((6, 1), [3, 6, 8]), SAME)
    case("broadcast-two", s.broadcast((1, 6, 8), [3, 1, 8], "BIDIRECTIONAL"), SAME)
    case("nonzero", s.non_zero, SAME)
    for name, a, b, ta, tb in (("", (6, 40), (40, 24), False, False),
                               ("-ta", (40, 6), (40, 24), True, False),
                               ("-tb", (6, 40), (24, 40), False, True),
                               ("-batch", (3, 6, 40), (3, 40, 24), False, False),
                               ("-4d", (1, 4, 10, 16), (1, 4, 16, 10), False, False),
                               ("-broadcast", (1, 4, 10, 16), (1, 1, 16, 10), False, False)):
        case("gemm" + name, s.gemm(a, b, ta, tb), within(2e-2))
    both("conv3d", s.conv3d(), HW)
    both("conv3d-s2", s.conv3d(stride=2), HW)
    both("conv3d-1", s.conv3d(k=1, pad=0), HW)
    both("conv3d-d2", s.conv3d(dilation=2, pad=2), HW)
    both("conv3d-g2", s.conv3d(groups=2), HW)
    for kind in ("max", "avg"):
        both(kind + "pool3d", s.pool3d(kind), within(1.5e-3), within(1e-2))
        both(kind + "pool3d-3", s.pool3d(kind, 3, 2, 1), within(1.5e-3), within(1e-2))


def add_heads():
    case("region2", s.region_layer(True, 20), within(1e-3))
    case("region3", s.region_layer(False, 80, (0, 1, 2)), within(1e-3))
    case("region3-small", s.region_layer(False, 3, (3, 4, 5)), within(1e-3))
    case("detection", s.ssd_head(), BOXES)
    case("detection-keep", s.ssd_head(top_k=-1, keep_top_k=[10]), BOXES)
    case("detection-corner", s.ssd_head(code_type="caffe.PriorBoxParameter.CORNER"), BOXES)
    case("detection-size", s.ssd_head(), BOXES,
         edit=[("PriorBoxParameter.CENTER_SIZE", "PriorBoxParameter.CORNER_SIZE")])
    case("detection-target", s.ssd_head(variance_encoded_in_target=True), BOXES)
    case("detection-own", s.ssd_head(share_location=False), BOXES)
    case("detection-clip", s.ssd_head(clip_before_nms=True, clip_after_nms=True), BOXES)
    case("detection-label", s.ssd_head(decrease_label_id=True), BOXES,
         doubt="the CPU plug-in suppresses across classes then")
    case("proposal", s.proposal(), BOXES)
    case("proposal-tf", s.proposal(framework="tensorflow"), BOXES)
    case("proposal-norm", s.proposal(normalize=True), BOXES)
    case("roipooling", s.roi_pooling("max"), within(2.5e-3))
    case("roipooling-bilinear", s.roi_pooling("bilinear"), within(5e-3))
    case("psroipooling", s.psroi_pooling(), within(1.2e-2))
    case("roialign", s.roi_align(), within(5e-3))
    case("roialign-max", s.roi_align("max"), within(5e-3),
         doubt="the CPU plug-ins of 2021.4 and 2022 differ")
    case("nms", s.nms(), SAME)
    case("nms-center", s.nms("center"), SAME)
    case("exp-topk", s.detectron_topk(), within(0.0))
    case("exp-grid", s.detectron_grid(), within(1e-1),
         edit=[('flatten="true"', 'flatten="1"')])
    case("exp-features", s.detectron_features(), within(5e-3))
    case("exp-proposals", s.detectron_proposals(), BOXES)
    case("exp-detections", s.detectron_detections(), BOXES)
    case("lstm", s.lstm_cell(), within(1e-2))
    case("lstm-batch", s.lstm_cell(batch=3), within(1e-2))
    case("gru", s.gru_cell(), within(1e-2))
    for kind in ("lstm", "gru", "rnn"):
        case(kind + "-sequence", s.sequence(kind), within(1e-2))
    case("lstm-sequence-both", s.sequence("lstm", "bidirectional"), within(1e-2))
    case("loop", s.small_loop(), within(1e-2))
    case("ctc", s.ctc(), SAME)
    case("ctc-all", s.ctc(False), SAME)
    case("ctc-lengths", s.ctc_lengths(), SAME)
    case("ctc-lengths-all", s.ctc_lengths(False), SAME)


add_whole()
add_convolutions()
add_pools()
add_activations()
add_elementwise()
add_norms()
add_resizes()
add_moves()
add_heads()


def select(patterns):
    """The cases that one of the patterns matches; all without patterns."""
    return [c for c in CASES
            if not patterns or any(fnmatch.fnmatchcase(c.name, p) for p in patterns)]


if __name__ == "__main__":
    for found in select(sys.argv[1:]):
        print(found.name, found.tolerance.kind, found.tolerance.value, found.options or "")
