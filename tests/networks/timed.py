#!/usr/bin/env python3
"""Networks whose times on a stick are published, as graphs of ours:

timed.py VPU OUT [--only PATTERN]    compiles and runs them; prints the table
                                     of docs/networks.md, "Published times"

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
# "latency" one inference. fitted: the machine's parameters were chosen with it.
Row = namedtuple("Row", "number name build per ms fitted")


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


ROWS = [
    Row("N1", "ResNet-50 224", only_scores(w.resnet(50)), "image", 54.83, True),
    Row("N2", "MLP 784-256-256-256-10", mlp(256), "image", 0.348, True),
    Row("N3", "MLP 784-1024-1024-1024-10", mlp(1024), "image", 0.720, True),
    Row("N4", "CNV 16-32-64, 128", cnv((16, 32, 64), 128), "image", 0.688, True),
    Row("N5", "CNV 64-128-256, 512", cnv((64, 128, 256), 512), "image", 1.345, True),
    Row("N6", "ResNet-18 224", only_scores(w.resnet(18)), "latency", 19.7, True),
    Row("N12", "YOLOv8n 416", yolov8(0.25, 0.33, 1024), "latency", 56.9, True),
    Row("N13", "YOLOv8s 416", yolov8(0.5, 0.33, 1024), "latency", 111.9, False),
    Row("N14", "YOLOv8m 416", yolov8(0.75, 0.67, 768), "latency", 273.8, False),
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
    run = subprocess.run([vpu, "run", blob, "--json", "--quiet"], check=True,
                         stdout=subprocess.PIPE, universal_newlines=True)
    machine = subprocess.run([vpu, "machine", "--json"], check=True, stdout=subprocess.PIPE,
                             universal_newlines=True)
    report = json.loads(run.stdout)
    ms = report["ms"]
    if row.per == "latency":
        fixed = [p for p in json.loads(machine.stdout)["parameters"]
                 if p["name"] == "inference_fixed"][0]["value"]
        ms += fixed / report["clk_mhz"] / 1e3
    return ms, len(report["stages"])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("vpu")
    p.add_argument("out")
    p.add_argument("--only", default="*")
    a = p.parse_args()
    print("| # | network | stages | published ms | ours | off | |")
    print("|---|---|---|---|---|---|---|")
    errors = {True: [], False: []}
    for row in ROWS:
        if not fnmatch.fnmatch(row.number, a.only):
            continue
        ms, stages = ours(row, a.vpu, blob_of(row, a.out))
        off = ms / row.ms - 1
        errors[row.fitted].append(abs(off))
        print("| %s | %s | %d | %.3g %s | %.3g | %+.0f %% | %s |" % (
            row.number, row.name, stages, row.ms,
            "an image" if row.per == "image" else "latency", ms, 100 * off,
            "fitted" if row.fitted else ""), flush=True)
    for fitted, word in ((True, "fitted"), (False, "not fitted")):
        if errors[fitted]:
            print("\nMean absolute error of rows %s: %.1f %% (%d rows)." % (
                word, 100 * sum(errors[fitted]) / len(errors[fitted]), len(errors[fitted])))


if __name__ == "__main__":
    main()
