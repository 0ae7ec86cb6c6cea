#!/usr/bin/env python3
"""Networks whose times on a stick are published, as graphs of ours:

timed.py VPU OUT [--only PATTERN] [--doc FILE]

Compiles and runs them, and prints the table of docs/networks.md, "Published times".

Run by the Python of OpenVINO 2021.4.2. Topologies are rebuilt from their papers
and repositories, weights are random: times do not depend on them.
"""
import argparse
import fnmatch
import json
import os
import subprocess
import sys
from collections import namedtuple

import corpus
import graph
import whole as w
from graph import op, shape_of
from openvino.inference_engine import IECore

# per: "image" a further image of a batch, without what an inference costs once;
# "latency" one inference; "1/FPS" what is published as latency of two at once, and
# is the time between two results. fitted: the machine's parameters were chosen with it.
# fps: published results a second of two inferences at once; None: not known.
Row = namedtuple("Row", "number name build per ms fitted fps")


def only_scores(build):
    """The same network with its scores alone."""
    def cut(g):
        return build(g)[1:]
    return cut


def mlp(width):
    return only_scores(w.mlp((784, width, width, width, 10)))


def cnv(widths, dense):
    def build(g):
        x = g.input((1, 3, 32, 32))
        for i, n in enumerate(widths):
            x = g.conv(g.conv(x, n, 3, pad=0, act="relu"), n, 3, pad=0, act="relu")
            if i < 2:
                x = g.max_pool(x, 2, 2)
        x = g.flat(x)
        x = g.dense(g.dense(x, dense, "relu"), dense, "relu")
        return g.outputs(op.softmax(g.dense(x, 10), 1), names=["prob"])
    return build


# --- detectors ----------------------------------------------------------------

def silu(g, x, n, k, stride=1):
    return op.swish(g.conv(x, n, k, stride=stride))


def halves(g, x):
    """The channels in two parts."""
    n = shape_of(x)[1]
    return [op.strided_slice(x, g.ints([0, i * n // 2, 0, 0]), g.ints([0, (i + 1) * n // 2, 0, 0]),
                             g.ints([1, 1, 1, 1]), [1, 0, 1, 1], [1, 0, 1, 1]) for i in (0, 1)]


def c2f(g, x, n, repeats, shortcut):
    c = n // 2
    parts = list(halves(g, silu(g, x, 2 * c, 1)))
    for _ in range(repeats):
        y = silu(g, silu(g, parts[-1], c, 3), c, 3)
        parts.append(op.add(parts[-1], y) if shortcut else y)
    return silu(g, op.concat(parts, 1), n, 1)


def sppf(g, x, n):
    parts = [silu(g, x, shape_of(x)[1] // 2, 1)]
    for _ in range(3):
        parts.append(g.max_pool(parts[-1], 5, 1, pad=2))
    return silu(g, op.concat(parts, 1), n, 1)


def doubled(g, x):
    h, w = shape_of(x)[2:]
    return g.resize(x, 2 * h, 2 * w, "nearest", "asymmetric", "floor")


def yolov8(width, depth, most, size=416, classes=80):
    def build(g):
        def channels(n):
            return int(min(n, most) * width + 7) // 8 * 8

        def repeats(n):
            return max(round(n * depth), 1)
        x = g.input((1, 3, size, size))
        x = silu(g, silu(g, x, channels(64), 3, 2), channels(128), 3, 2)
        x = c2f(g, x, channels(128), repeats(3), True)
        p3 = c2f(g, silu(g, x, channels(256), 3, 2), channels(256), repeats(6), True)
        p4 = c2f(g, silu(g, p3, channels(512), 3, 2), channels(512), repeats(6), True)
        x = c2f(g, silu(g, p4, channels(1024), 3, 2), channels(1024), repeats(3), True)
        p5 = sppf(g, x, channels(1024))
        n4 = c2f(g, op.concat([doubled(g, p5), p4], 1), channels(512), repeats(3), False)
        n3 = c2f(g, op.concat([doubled(g, n4), p3], 1), channels(256), repeats(3), False)
        m4 = c2f(g, op.concat([silu(g, n3, channels(256), 3, 2), n4], 1), channels(512),
                 repeats(3), False)
        m5 = c2f(g, op.concat([silu(g, m4, channels(512), 3, 2), p5], 1), channels(1024),
                 repeats(3), False)
        first = shape_of(n3)[1]
        boxes, scores = max(16, first // 4, 64), max(first, min(classes, 100))
        heads = []
        for level in (n3, m4, m5):
            b = g.conv(silu(g, silu(g, level, boxes, 3), boxes, 3), 64, 1)
            s = g.conv(silu(g, silu(g, level, scores, 3), scores, 3), classes, 1)
            heads.append(op.concat([b, op.sigmoid(s)], 1))
        return g.outputs(*heads, names=["p3", "p4", "p5"])
    return build


def depthwise(g, x, k, stride=1, act=True):
    c = shape_of(x)[1]
    y = g.conv(x, c, k, stride=stride, groups=c)
    return op.swish(y) if act else y


def attention(g, x):
    """Heads of 64 channels, keys of 32, as in PSA."""
    _, c, h, w_ = shape_of(x)
    heads = c // 64
    y = op.reshape(g.conv(x, 2 * c, 1), g.ints([1, heads, 128, h * w_]), False)
    q, k, v = op.variadic_split(y, g.ints(2), g.ints([32, 32, 64])).outputs()
    scores = op.matmul(q, k, True, False)
    scores = op.softmax(op.multiply(scores, g.const([32 ** -0.5])), 3)
    y = op.matmul(v, scores, False, True)
    y = op.reshape(y, g.ints([1, c, h, w_]), False)
    values = op.reshape(v, g.ints([1, c, h, w_]), False)
    return g.conv(op.add(y, depthwise(g, values, 3, act=False)), c, 1)


def psa(g, x, n):
    a, b = halves(g, silu(g, x, n, 1))
    b = op.add(b, attention(g, b))
    b = op.add(b, g.conv(silu(g, b, n, 1), n // 2, 1))
    return silu(g, op.concat([a, b], 1), n, 1)


def separable_head(g, level, boxes, scores, classes):
    """Boxes by convolutions, scores by ones that go over channels one by one."""
    b = g.conv(silu(g, silu(g, level, boxes, 3), boxes, 3), 64, 1)
    s = level
    for _ in range(2):
        s = silu(g, depthwise(g, s, 3), scores, 1)
    return op.concat([b, op.sigmoid(g.conv(s, classes, 1))], 1)


def yolov10n(size=416, classes=80):
    def build(g):
        def down(x, n):
            return depthwise(g, silu(g, x, n, 1), 3, 2, act=False)

        def inverted(x, n):
            """C2fCIB of one block with a large kernel."""
            a, b = halves(g, silu(g, x, n, 1))
            c = n // 2
            y = silu(g, depthwise(g, b, 3), 2 * c, 1)
            y = depthwise(g, silu(g, depthwise(g, y, 7), c, 1), 3)
            return silu(g, op.concat([a, b, op.add(b, y)], 1), n, 1)
        x = silu(g, silu(g, g.input((1, 3, size, size)), 16, 3, 2), 32, 3, 2)
        x = c2f(g, x, 32, 1, True)
        p3 = c2f(g, silu(g, x, 64, 3, 2), 64, 2, True)
        p4 = c2f(g, down(p3, 128), 128, 2, True)
        p5 = psa(g, sppf(g, c2f(g, down(p4, 256), 256, 1, True), 256), 256)
        n4 = c2f(g, op.concat([doubled(g, p5), p4], 1), 128, 1, False)
        n3 = c2f(g, op.concat([doubled(g, n4), p3], 1), 64, 1, False)
        m4 = c2f(g, op.concat([silu(g, n3, 64, 3, 2), n4], 1), 128, 1, False)
        m5 = inverted(op.concat([down(m4, 128), p5], 1), 256)
        return g.outputs(*(separable_head(g, x, 64, 80, classes) for x in (n3, m4, m5)),
                         names=["p3", "p4", "p5"])
    return build


def yolo11n(size=416, classes=80):
    def build(g):
        def bottleneck(x, c, middle):
            return op.add(x, silu(g, silu(g, x, middle, 3), c, 3))

        def c3k(x, c):
            y = silu(g, x, c // 2, 1)
            for _ in range(2):
                y = bottleneck(y, c // 2, c // 2)
            return silu(g, op.concat([y, silu(g, x, c // 2, 1)], 1), c, 1)

        def c3k2(x, n, deep, part=2):
            c = n // part
            a, b = halves(g, silu(g, x, 2 * c, 1))
            y = c3k(b, c) if deep else bottleneck(b, c, c // 2)
            return silu(g, op.concat([a, b, y], 1), n, 1)
        x = silu(g, silu(g, g.input((1, 3, size, size)), 16, 3, 2), 32, 3, 2)
        x = c3k2(x, 64, False, 4)
        p3 = c3k2(silu(g, x, 64, 3, 2), 128, False, 4)
        p4 = c3k2(silu(g, p3, 128, 3, 2), 128, True)
        x = c3k2(silu(g, p4, 256, 3, 2), 256, True)
        p5 = psa(g, sppf(g, x, 256), 256)
        n4 = c3k2(op.concat([doubled(g, p5), p4], 1), 128, False)
        n3 = c3k2(op.concat([doubled(g, n4), p3], 1), 64, False)
        m4 = c3k2(op.concat([silu(g, n3, 64, 3, 2), n4], 1), 128, False)
        m5 = c3k2(op.concat([silu(g, m4, 128, 3, 2), p5], 1), 256, True)
        return g.outputs(*(separable_head(g, x, 64, 80, classes) for x in (n3, m4, m5)),
                         names=["p3", "p4", "p5"])
    return build


def rep(g, x, n, stride=1):
    """A RepVGG block as it is deployed."""
    return g.conv(x, n, 3, stride=stride, act="relu")


def reps(g, x, n, repeats):
    for _ in range(repeats):
        x = rep(g, x, n)
    return x


def bep(g, x, n, repeats):
    """BepC3 of two thirds of the channels, of blocks of two with a branch around."""
    c = int(n * 2 / 3)
    y = g.conv(x, c, 1, act="relu")
    for _ in range(max(repeats // 2, 1)):
        y = op.add(y, rep(g, rep(g, y, c), c))
    return g.conv(op.concat([y, g.conv(x, c, 1, act="relu")], 1), n, 1, act="relu")


def upsampled(g, x, n):
    w = g.normal((shape_of(x)[1], n, 2, 2), 0.1)
    return op.convolution_backprop_data(x, w, [2, 2])


def yolov6(width, depth, stage=reps, bins=1, size=416, classes=80):
    """YOLOv6 of release 2: EfficientRep or its CSP form, RepPAN, decoupled heads."""
    def build(g):
        def channels(n):
            return int(n * width + 7) // 8 * 8

        def repeats(n):
            return max(round(n * depth), 1)
        x = g.input((1, 3, size, size))
        x = rep(g, x, channels(64), 2)
        levels = []
        for n, count in ((128, 6), (256, 12), (512, 18), (1024, 6)):
            x = stage(g, rep(g, x, channels(n), 2), channels(n), repeats(count))
            levels.append(x)
        parts = [g.conv(x, channels(1024) // 2, 1, act="relu")]
        for _ in range(3):
            parts.append(g.max_pool(parts[-1], 5, 1, pad=2))
        x = g.conv(op.concat(parts, 1), channels(1024), 1, act="relu")
        n = repeats(12)
        top = g.conv(x, channels(256), 1, act="relu")
        x = op.concat([upsampled(g, top, channels(256)), levels[2]], 1)
        middle = g.conv(stage(g, x, channels(256), n), channels(128), 1, act="relu")
        x = op.concat([upsampled(g, middle, channels(128)), levels[1]], 1)
        p3 = stage(g, x, channels(128), n)
        x = op.concat([g.conv(p3, channels(128), 3, stride=2, act="relu"), middle], 1)
        p4 = stage(g, x, channels(256), n)
        x = op.concat([g.conv(p4, channels(256), 3, stride=2, act="relu"), top], 1)
        p5 = stage(g, x, channels(512), n)
        heads = []
        for level in (p3, p4, p5):
            c = shape_of(level)[1]
            stem = silu(g, level, c, 1)
            scores = op.sigmoid(g.conv(silu(g, stem, c, 3), classes, 1))
            heads.append(op.concat([g.conv(silu(g, stem, c, 3), 4 * bins, 1), scores], 1))
        return g.outputs(*heads, names=["p3", "p4", "p5"])
    return build


def yolov7_tiny(size=416, classes=80):
    def build(g):
        def conv(x, n, k, stride=1):
            return g.conv(x, n, k, stride=stride, act="leaky")

        def elan(x, c, n):
            a, b = conv(x, c, 1), conv(x, c, 1)
            d = conv(b, c, 3)
            return conv(op.concat([conv(d, c, 3), d, b, a], 1), n, 1)
        x = conv(conv(g.input((1, 3, size, size)), 32, 3, 2), 64, 3, 2)
        x = elan(x, 32, 64)
        levels = []
        for c, n in ((64, 128), (128, 256), (256, 512)):
            x = elan(g.max_pool(x, 2, 2), c, n)
            levels.append(x)
        a, b = conv(x, 256, 1), conv(x, 256, 1)
        pools = [g.max_pool(b, k, 1, pad=k // 2) for k in (13, 9, 5)]
        x = conv(op.concat(pools + [b], 1), 256, 1)
        n5 = conv(op.concat([x, a], 1), 256, 1)
        x = op.concat([conv(levels[1], 128, 1), doubled(g, conv(n5, 128, 1))], 1)
        n4 = elan(x, 64, 128)
        x = op.concat([conv(levels[0], 64, 1), doubled(g, conv(n4, 64, 1))], 1)
        p3 = elan(x, 32, 64)
        p4 = elan(op.concat([conv(p3, 128, 3, 2), n4], 1), 64, 128)
        p5 = elan(op.concat([conv(p4, 256, 3, 2), n5], 1), 128, 256)
        heads = [op.sigmoid(g.conv(conv(p, 2 * shape_of(p)[1], 3), 3 * (classes + 5), 1))
                 for p in (p3, p4, p5)]
        return g.outputs(*heads, names=["p3", "p4", "p5"])
    return build


def deeplab(size=256, classes=21):
    """DeepLab v3 with MobileNet v2 and an output stride of 16: a pooled branch and one of 1x1;
    the best class of each pixel."""
    plan = [(1, 16, 1, 1, 1), (6, 24, 2, 2, 1), (6, 32, 3, 2, 1), (6, 64, 4, 2, 1), (6, 96, 3, 1, 1),
            (6, 160, 3, 1, 2), (6, 320, 1, 1, 2)]

    def build(g):
        x = g.conv(g.input((1, 3, size, size)), 32, 3, stride=2, act="relu6")
        for expand, n, count, stride, dilation in plan:
            for j in range(count):
                c = shape_of(x)[1]
                y = g.conv(x, c * expand, 1, act="relu6") if expand > 1 else x
                rate = dilation if (n, j) != (160, 0) else 1
                y = g.conv(y, c * expand, 3, stride=stride if not j else 1, pad=rate,
                           dilation=rate, groups=c * expand, act="relu6")
                y = g.conv(y, n, 1, gain=1.0)
                x = op.add(x, y) if shape_of(y) == shape_of(x) else y
        h, w_ = shape_of(x)[2:]
        pooled = g.resize(g.conv(g.global_pool(x), 256, 1, act="relu"), h, w_, "linear_onnx")
        x = op.concat([pooled, g.conv(x, 256, 1, act="relu")], 1)
        x = g.conv(g.conv(x, 256, 1, act="relu"), classes, 1)
        x = g.resize(x, size, size, "linear_onnx")
        best = op.topk(x, g.ints(1), 1, "max", "none")
        return g.outputs((best, 1), names=["labels"])
    return build


ROWS = [
    Row("N1", "ResNet-50 224", only_scores(w.resnet(50)), "image", 54.83, True, None),
    Row("N2", "MLP 784-256-256-256-10", mlp(256), "image", 0.348, True, None),
    Row("N3", "MLP 784-1024-1024-1024-10", mlp(1024), "image", 0.720, True, None),
    Row("N4", "CNV 16-32-64, 128", cnv((16, 32, 64), 128), "image", 0.688, True, None),
    Row("N5", "CNV 64-128-256, 512", cnv((64, 128, 256), 512), "image", 1.345, True, None),
    Row("N6", "ResNet-18 224", only_scores(w.resnet(18)), "latency", 19.7, True, 94.8),
    Row("N7", "DeepLab v3 (MobileNet v2) 256", deeplab(), "latency", 48.1, False, 36.5),
    Row("N8", "YOLOv6n R2 416", yolov6(0.25, 0.33), "latency", 29.3, False, 65.5),
    Row("N9", "YOLOv6t R2 416", yolov6(0.375, 0.33), "latency", 54.1, False, 35.8),
    Row("N10", "YOLOv6m R2 416", yolov6(0.75, 0.6, bep, 17), "latency", 190.2, False, 8.6),
    Row("N11", "YOLOv7-tiny 416", yolov7_tiny(), "latency", 37.6, False, 46.7),
    Row("N12", "YOLOv8n 416", yolov8(0.25, 0.33, 1024), "latency", 56.9, True, 31.3),
    Row("N13", "YOLOv8s 416", yolov8(0.5, 0.33, 1024), "latency", 111.9, False, 15.2),
    Row("N14", "YOLOv8m 416", yolov8(0.75, 0.67, 768), "latency", 273.8, False, 6.0),
    Row("N15", "YOLOv10n 416", yolov10n(), "1/FPS", 36.95, False, 27.07),
    Row("N16", "YOLO11n 416", yolo11n(), "1/FPS", 35.61, False, 28.08),
]


def blob_of(row, out):
    folder = os.path.join(out, row.number)
    blob = os.path.join(folder, "model.blob")
    if os.path.exists(blob):
        return blob
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model")
    case = namedtuple("Case", "options")({})
    data = graph.write(row.build, 1, path)
    ie = IECore()
    made, message = corpus.compile_blob(ie, corpus.read(ie, path, case, "MYRIAD", data), folder,
                                        case)
    if made is None:
        sys.exit("%s: the compiler refused it: %s" % (row.number, message))
    with open(blob, "wb") as f:
        f.write(made.raw)
    return blob


def ours(row, vpu, blob):
    """Milliseconds as published, results a second of two at once, stages."""
    run = subprocess.run([vpu, "run", blob, "--executors", "2", "--json", "--quiet"], check=True,
                         stdout=subprocess.PIPE, universal_newlines=True)
    machine = subprocess.run([vpu, "machine", "--json"], check=True, stdout=subprocess.PIPE,
                             universal_newlines=True)
    report = json.loads(run.stdout)
    fixed = [p for p in json.loads(machine.stdout)["parameters"]
             if p["name"] == "inference_fixed"][0]["value"] / report["clk_mhz"] / 1e3
    period = report["executors"]["period_ms"]
    ms = {"image": report["ms"], "latency": report["ms"] + fixed, "1/FPS": period}
    return ms[row.per], 1e3 / period, len(report["stages"])


def write_between(path, name, text):
    """TEXT between the markers NAME of a document."""
    begin, end = ("<!-- %s:%s -->\n" % (name, word) for word in ("begin", "end"))
    with open(path) as f:
        doc = f.read()
    head, rest = doc.split(begin)
    with open(path, "w") as f:
        f.write(head + begin + text + end + rest.split(end)[1])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("vpu")
    p.add_argument("out")
    p.add_argument("--only", default="*")
    p.add_argument("--doc", help="write the table between the markers networks of this file, too")
    a = p.parse_args()
    text = ""

    def say(line):
        nonlocal text
        print(line, flush=True)
        text += line + "\n"

    say("| # | network | stages | published ms | ours | off | | two at once, FPS | ours | off |")
    say("|---|---|---|---|---|---|---|---|---|---|")
    errors, rates = [], []
    for row in ROWS:
        if not fnmatch.fnmatch(row.number, a.only):
            continue
        ms, fps, stages = ours(row, a.vpu, blob_of(row, a.out))
        off = ms / row.ms - 1
        errors.append((row, abs(off)))
        rate = "| | |"
        if row.fps:
            rate = "%.3g | %.3g | %+.0f %% |" % (row.fps, fps, 100 * (fps / row.fps - 1))
            rates.append(abs(fps / row.fps - 1))
        say("| %s | %s | %d | %.3g %s | %.3g | %+.0f %% | %s| %s" % (
            row.number, row.name, stages, row.ms,
            "an image" if row.per == "image" else row.per, ms, 100 * off,
            "fitted " if row.fitted else "", rate))
    say("")
    for words, chosen in (
            ("milliseconds that were fitted", [e for r, e in errors if r.fitted]),
            ("milliseconds that were not", [e for r, e in errors if not r.fitted]),
            ("results a second, of which none was", rates)):
        if chosen:
            say("* Mean absolute error of the %d %s: %.1f %%" % (
                len(chosen), words, 100 * sum(chosen) / len(chosen)))
    if a.doc:
        write_between(a.doc, "networks", text)


if __name__ == "__main__":
    main()
