#!/usr/bin/env python3
"""How fast networks run here, beside the CPU plug-in of the same package:

speed.py VPU OUT [--only PATTERN]

Host time of an inference with the timing model on, the median of nine; that of
the CPU plug-in with as many threads; the time of the device by the model; the
time to start and load; the memory of the process, less what the program takes
that only says its version, over what the blob needs. Figures
are of this machine: compare the columns of one run.
"""
import argparse
import fnmatch
import json
import os
import statistics
import subprocess
import sys
import time
from collections import namedtuple

import corpus
import graph
import whole as w
from openvino.inference_engine import IECore

NETWORKS = [("MobileNet v2 224", w.mobilenet2()), ("ResNet-50 224", w.resnet(50)),
            ("SqueezeNet 1.1 227", w.squeezenet()), ("Tiny YOLO v3 416", w.yolo3(416))]
REPEAT = 9


def prepare(name, build, out):
    folder = os.path.join(out, name.replace(" ", "_"))
    path, blob = os.path.join(folder, "model"), os.path.join(folder, "model.blob")
    os.makedirs(folder, exist_ok=True)
    case = namedtuple("Case", "options")({})
    data = graph.write(build, 1, path)
    if not os.path.exists(blob):
        ie = IECore()
        made, message = corpus.compile_blob(
            ie, corpus.read(ie, path, case, "MYRIAD", data), folder, case)
        if made is None:
            sys.exit("%s: the compiler refused it: %s" % (name, message))
        with open(blob, "wb") as f:
            f.write(made.raw)
    return path, blob, data, case


def cpu_ms(path, data, case):
    ie = IECore()
    net = ie.load_network(corpus.read(ie, path, case, "CPU", data), "CPU",
                          {"ENFORCE_BF16": "NO", "CPU_THREADS_NUM": str(os.cpu_count())})
    inputs = {k: v[0] for k, v in data.items()}
    times = []
    for _ in range(REPEAT + 2):
        begin = time.perf_counter()
        net.infer(inputs)
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times[2:])


def run(words):
    begin = time.perf_counter()
    p = subprocess.Popen(words, stdout=subprocess.PIPE, universal_newlines=True)
    text, _ = p.communicate()
    took = time.perf_counter() - begin
    if p.returncode:
        sys.exit("%s: status %d" % (" ".join(words), p.returncode))
    return json.loads(text), took


def ours(vpu, blob):
    report, many = run([vpu, "run", blob, "--json", "--quiet", "--repeat", str(REPEAT)])
    host = sum(s["host_run_s"] for s in report["stages"])  # medians
    _, one = run([vpu, "run", blob, "--json", "--quiet"])
    return 1e3 * host, report["ms"], 1e3 * (one - host)


def peak_memory(*command):
    words = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess." \
            "DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    return 1024 * int(subprocess.run(
        [sys.executable, "-c", words] + list(command), check=True,
        stdout=subprocess.PIPE, universal_newlines=True).stdout)


def needs(vpu, blob):
    text = subprocess.run([vpu, "blob", "show", "--json", blob], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout
    h = json.loads(text)["header"]
    return h["constant_bytes"] + h["scratch_bytes"] + h["input_bytes"] + h["output_bytes"] + \
        131072 * h["slices"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("vpu")
    p.add_argument("out")
    p.add_argument("--only", default="*")
    a = p.parse_args()
    print("| network | ms here | CPU plug-in | ratio | device ms | real time x | start and load ms "
          "| memory / blob's |")
    print("|---|---|---|---|---|---|---|---|")
    for name, build in NETWORKS:
        if not fnmatch.fnmatch(name, a.only):
            continue
        path, blob, data, case = prepare(name, build, a.out)
        host, device, load = ours(a.vpu, blob)
        cpu = cpu_ms(path, data, case)
        print("| %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.0f | %.1f |" % (
            name, host, cpu, host / cpu, device, host / device, load,
            (peak_memory(a.vpu, "run", blob, "--quiet") - peak_memory(a.vpu, "--version")) /
            needs(a.vpu, blob)), flush=True)


if __name__ == "__main__":
    main()
