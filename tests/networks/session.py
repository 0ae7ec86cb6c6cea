#!/usr/bin/env python3
"""The vendor's host library and one stick, all through one session:

session.py RELEASE WORK --corpus DIR --stages N,N... [--only PATTERN]... [--big]

Run by the Python of a release's virtual environment, with a stick on the bus.
Networks and single stages (networks.py) whose stages the stick runs are compared
with the CPU plug-in of the same package; then what hosts do with networks.
DIR/CASE/case.json has the stages (corpus.py). The last line counts.
"""
import argparse
import gc
import json
import os
import sys
import time
import traceback
from types import SimpleNamespace

import numpy as np

import corpus
import graph
import networks
from blob import Blob, memory_order
from compare import compare
from openvino.inference_engine import IECore, StatusCode

BUSY_MS = 60000


class Count:
    def __init__(self, release):
        self.release = release
        self.passed = self.failed = 0

    def say(self, name, wrong=""):
        if wrong:
            self.failed += 1
            print("  FAIL %s: %s: %s" % (self.release, name, wrong), flush=True)
        else:
            self.passed += 1

    def check(self, name, function):
        """A check says what is wrong, or nothing, or raises."""
        try:
            wrong = function()
        except Exception as e:
            wrong = "%s: %s\n%s" % (type(e).__name__, str(e).strip(), traceback.format_exc())
        self.say(name, wrong)
        if not wrong:
            print("  ok   %s: %s" % (self.release, name), flush=True)


def prepare(case, work):
    """The network's files, its inputs, and what the CPU makes of them."""
    path = os.path.join(work, case.name)
    data = graph.write(case.build, case.seed, path, case.options.get("io", "f16"))
    corpus.edit(path, case)
    batch = case.options.get("batch", 1)
    inputs = {k: corpus.batched(v[0], batch) for k, v in data.items()}
    return SimpleNamespace(case=case, path=path, data=data, inputs=inputs)


def load(ie, p, requests=1, device="MYRIAD", **more):
    net = corpus.read(ie, p.path, p.case, "MYRIAD", p.data)
    config = corpus.config(p.case)
    config.update(more)
    return ie.load_network(net, device, config, num_requests=requests)


def start(request, inputs):
    """Not through infer(): it takes the bits of halves for integers."""
    for name, x in inputs.items():
        buffer = request.input_blobs[name].buffer
        buffer[:] = x.reshape(buffer.shape).astype(buffer.dtype)
    request.async_infer()


def wait(request):
    status = request.wait(BUSY_MS)
    if status != StatusCode.OK:
        raise RuntimeError("the inference ended with status %d" % status)
    return {k: np.array(v.buffer) for k, v in request.output_blobs.items()}


def infer(loaded, inputs):
    start(loaded.requests[0], inputs)
    return wait(loaded.requests[0])


def same(a, b):
    return set(a) == set(b) and all(a[k].tobytes() == b[k].tobytes() for k in a)


def keep(p, loaded, got, work, timed):
    """The blob, what went in and came out, and, if it is timed, the sum of the stages'
    times in microseconds: for vpu run, which has to find the same."""
    folder = os.path.join(work, "kept", p.case.name)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.blob")
    loaded.export(path)
    with open(path, "rb") as f:
        blob = Blob(f.read())
    for i, t in enumerate(blob.inputs):
        np.save(os.path.join(folder, "in%d.npy" % i), memory_order(
            t, p.inputs[t.name]).astype(t.type))
    for i, t in enumerate(blob.outputs):
        if t.name not in got:  # dims of another output, which hosts keep to themselves
            continue
        np.save(os.path.join(folder, "out%d.npy" % i), memory_order(t, got[t.name]))
    if not timed:
        return
    times = executed(loaded)
    with open(os.path.join(folder, "us"), "w") as f:
        print(sum(times.values()), len(times), blob.stage_count, file=f)


def run_case(ie, cpu, case, work, binding, keep_all):
    p = prepare(case, work)
    expected = corpus.oracle(cpu, p.path, case, p.data)
    timed = case.options.get("quick")
    custom = binding and case.options.get("custom")
    more = {"MYRIAD_CUSTOM_LAYERS": binding} if custom else {}
    if timed or custom:
        more.update(PERF_COUNT="YES", MYRIAD_PERF_REPORT_MODE="MYRIAD_PER_STAGE")
    loaded = load(ie, p, **more)
    got = infer(loaded, p.inputs)
    if custom and "Custom" not in [v["exec_type"] for v in
                                   loaded.requests[0].get_perf_counts().values()]:
        return "no stage is a custom one"
    if timed or keep_all:
        keep(p, loaded, got, work, timed)
    return "" if case.options.get("doubt") else compare(case.tolerance, expected, got)


def other_inputs(p, i):
    return {k: np.roll(v, i + 1, -1) for k, v in p.inputs.items()}


# What hosts do with networks.

def several_requests(ie, p):
    """Each has inputs of its own; all are on their way at once."""
    loaded = load(ie, p, 6)
    alone = []
    for i in range(6):
        alone.append(infer(loaded, other_inputs(p, i)))
    for _ in range(3):
        for i, r in enumerate(loaded.requests):
            start(r, other_inputs(p, i))
        for i, r in reversed(list(enumerate(loaded.requests))):
            if not same(wait(r), alone[i]):
                return "request %d has another result than alone" % i
    return ""


def two_networks(ie, p, q):
    a, b = load(ie, p, 2), load(ie, q, 2)
    alone = infer(a, p.inputs), infer(b, q.inputs)
    for _ in range(4):
        for k in range(2):
            start(a.requests[k], p.inputs)
            start(b.requests[k], q.inputs)
        for k in range(2):
            if not same(wait(b.requests[k]), alone[1]) or not same(wait(a.requests[k]), alone[0]):
                return "another result than alone"
    return ""


def reload(ie, p):
    first = None
    for _ in range(14):  # more than a stick holds at once
        loaded = load(ie, p)
        got = infer(loaded, p.inputs)
        if first is not None and not same(got, first):
            return "another result than at first"
        first = got
        del loaded
        gc.collect()
    return ""


def from_file(ie, p, work):
    loaded = load(ie, p)
    got = infer(loaded, p.inputs)
    path = os.path.join(work, "exported.blob")
    loaded.export(path)
    del loaded
    gc.collect()
    back = ie.import_network(path, "MYRIAD")
    return "" if same(infer(back, p.inputs), got) else "another result than before the export"


def executed(loaded):
    return {k: v["real_time"] for k, v in loaded.requests[0].get_perf_counts().items()
            if v["status"] == "EXECUTED"}


def stage_times(ie, p, stages):
    """Stages' times are there; those of a layer's stages add up to its own."""
    by_stage = load(ie, p, MYRIAD_PERF_REPORT_MODE="MYRIAD_PER_STAGE", PERF_COUNT="YES")
    infer(by_stage, p.inputs)
    a = executed(by_stage)
    by_layer = load(ie, p, MYRIAD_PERF_REPORT_MODE="MYRIAD_PER_LAYER", PERF_COUNT="YES")
    infer(by_layer, p.inputs)
    b = executed(by_layer)
    if len(a) != stages:
        return "%d stages have times, the blob has %d" % (len(a), stages)
    if not any(a.values()):
        return "all times are 0"
    # Each is cut to whole microseconds.
    if abs(sum(a.values()) - sum(b.values())) > len(a):
        return "stages take %d us, layers %d us" % (sum(a.values()), sum(b.values()))
    return ""


def split_network(g):
    """The vendor's compiler has no sine: the CPU gets it."""
    x = g.conv(g.input((1, 8, 16, 16)), 16, 3, act="relu")
    x = graph.op.sin(x)
    return g.outputs(g.conv(x, 8, 3))


def hetero(ie, cpu, work):
    case = networks.Case("hetero", split_network, networks.NET, 7, {})
    p = prepare(case, work)
    expected = corpus.oracle(cpu, p.path, case, p.data)
    net = corpus.read(ie, p.path, case, "CPU", p.data)
    devices = set(ie.query_network(net, "HETERO:MYRIAD,CPU").values())
    if devices != {"MYRIAD", "CPU"}:
        return "layers went to %s" % sorted(devices)
    loaded = ie.load_network(net, "HETERO:MYRIAD,CPU")
    return compare(case.tolerance, expected, infer(loaded, p.inputs))


def custom_layers(ie, cpu, case, binding, work):
    """Two of ten layers are kernels of ours: the network as without them."""
    p = prepare(case, work)
    expected = corpus.oracle(cpu, p.path, case, p.data)
    loaded = load(ie, p, MYRIAD_CUSTOM_LAYERS=binding, PERF_COUNT="YES",
                  MYRIAD_PERF_REPORT_MODE="MYRIAD_PER_STAGE")
    got = infer(loaded, p.inputs)
    kinds = [v["exec_type"] for v in loaded.requests[0].get_perf_counts().values()]
    if kinds.count("Custom") != 2:
        return "custom stages are missing among %s" % kinds
    return compare(case.tolerance, expected, got)


def new_interface(p, cpu, work):
    """The same through openvino.runtime, which 2022 has."""
    from openvino.runtime import AsyncInferQueue, Core
    core = Core()
    expected = list(corpus.oracle(cpu, p.path, p.case, p.data).values())[0]
    compiled = core.compile_model(core.read_model(p.path + ".xml"), "MYRIAD")
    request = compiled.create_infer_request()
    names = sorted(p.inputs)
    got = list(request.infer([p.inputs[n].astype(np.float32) for n in names]).values())
    wrong = compare(networks.NET, {"y": expected}, {"y": got[0]})
    if wrong:
        return wrong
    if not sum(i.real_time.total_seconds() for i in request.profiling_info):
        return "no times"
    results = {}
    queue = AsyncInferQueue(compiled, 4)
    queue.set_callback(lambda r, i: results.update(
        {i: np.array(r.get_output_tensor(0).data)}))
    for i in range(8):
        queue.start_async([other_inputs(p, i % 4)[n].astype(np.float32) for n in names], i)
    queue.wait_all()
    for i in range(4):
        if results[i].tobytes() != results[i + 4].tobytes():
            return "the same inputs have two results"
    back = core.import_model(compiled.export_model(), "MYRIAD")
    again = list(back.create_infer_request().infer(
        [p.inputs[n].astype(np.float32) for n in names]).values())
    return "" if np.array_equal(again[0], got[0]) else "another result than before the export"


def main():
    a = argparse.ArgumentParser()
    a.add_argument("release")
    a.add_argument("work")
    a.add_argument("--corpus", required=True)
    a.add_argument("--stages", required=True)
    a.add_argument("--only", action="append", default=[])
    a.add_argument("--quick", action="store_true", help="whole networks: only small ones")
    a.add_argument("--every", type=int, default=1, metavar="N",
                   help="only each N-th of the single stages")
    a.add_argument("--custom", help="a binding of GRN")
    a.add_argument("--keep", action="store_true", help="all blobs, not only those of networks")
    a.add_argument("--times", action="store_true", help="print what took long")
    a = a.parse_args()
    runs = {int(n) for n in a.stages.split(",")}
    os.makedirs(a.work, exist_ok=True)
    count = Count(a.release)
    ie, cpu = IECore(), IECore()
    if "MYRIAD" not in ie.available_devices:
        count.say("devices", "no stick among %s" % ie.available_devices)
    missing, left, here, done, singles = set(), 0, {}, 0, 0
    since = time.time()
    for case in networks.select(a.only):
        try:
            with open(os.path.join(a.corpus, case.name, "case.json")) as f:
                about = json.load(f)
        except OSError:
            continue
        if "stages" not in about or "no_oracle" in about:
            continue
        if not set(about["stages"]) <= runs:
            missing |= set(about["stages"]) - runs
            left += 1
            continue
        here[case.name] = (case, len(about["stages"]))
        if a.quick and case.options.get("big"):
            continue
        singles += 1
        if singles % a.every and case.tolerance.kind not in ("net", "most") and \
                not case.options.get("quick"):
            continue
        begin = time.time()
        try:
            wrong = run_case(ie, cpu, case, a.work, a.custom, a.keep)
        except Exception as e:
            wrong = "%s: %s" % (type(e).__name__, str(e).strip().split("\n")[-1])
        count.say(case.name, wrong)
        done += 1
        if a.times and time.time() - begin > 0.5:
            print("       %s took %.1f s" % (case.name, time.time() - begin))
    print("  %s   %s: %d networks and stages as the CPU plug-in computes them, %.0f s" % (
        "ok" if not count.failed else "--", a.release, done, time.time() - since))
    if left:
        print("  --   %s: %d more have stages that the stick does not run: %s" % (
            a.release, left, " ".join(map(str, sorted(missing)))), flush=True)
    usual = [here[n] for n in ("squeezenet-64", "resnet18-64", "mobilenet1-64", "conv3x3-relu",
                               "conv3x3-pool", "transpose0231", "transpose0132") if n in here]
    if len(usual) > 1 and not a.only:
        p, q = prepare(usual[0][0], a.work), prepare(usual[1][0], a.work)
        count.check("several requests at once", lambda: several_requests(ie, p))
        count.check("two networks at once", lambda: two_networks(ie, p, q))
        count.check("loaded again and again", lambda: reload(ie, p))
        count.check("exported and imported", lambda: from_file(ie, p, a.work))
        count.check("times of stages and layers",
                    lambda: stage_times(ie, p, blob_stages(ie, p, a.work)))
        if "conv3x3" in here:
            count.check("half on the CPU (HETERO)", lambda: hetero(ie, cpu, a.work))
        if a.custom and "custom-grn" in here:
            count.check("custom layers inside a network", lambda: custom_layers(
                ie, cpu, here["custom-grn"][0], a.custom, a.work))
        if graph.NEW:
            # A plug-in has a stick until it is unloaded.
            ie = None
            gc.collect()
            count.check("through openvino.runtime", lambda: new_interface(p, cpu, a.work))
    print("%d passed, %d failed" % (count.passed, count.failed), flush=True)
    return count.failed != 0


def blob_stages(ie, p, work):
    path = os.path.join(work, "stages.blob")
    load(ie, p).export(path)
    with open(path, "rb") as f:
        return Blob(f.read()).stage_count


if __name__ == "__main__":
    sys.exit(main())
