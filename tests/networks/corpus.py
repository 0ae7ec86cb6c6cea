#!/usr/bin/env python3
"""Blobs of the vendor's compiler, with what the CPU plug-in computes:

corpus.py RELEASE OUT [--no-stick LIB] [--only PATTERN]... [--jobs N] [--lean]

Run by the Python of a release's virtual environment. Each case becomes the
folder OUT/RELEASE/CASE:

  model.xml, model.bin   the network
  cache.blob             as the plug-in left it in its cache folder
  model.blob             from the graph's magic on: what a stick is sent
  in_N_NAME.npy          the inputs in the blob's order, type and memory order
  out_N_NAME.npy         what the CPU plug-in computed of them, floats
  case.json              options, tolerance, stages; or why it was refused
"""
import argparse
import json
import os
import re
import shutil
import sys
import time
import traceback

import numpy as np

import graph
import networks
from blob import Blob, memory_order
from openvino.inference_engine import IECore

CPU = {"ENFORCE_BF16": "NO", "CPU_THREADS_NUM": "1"}
PRECISIONS = {"f16": "FP16", "f32": "FP32", "u8": "U8", "i32": "I32"}


def batched(data, batch):
    """More items, each the first one moved on: all differ."""
    return np.concatenate([np.roll(data, i, -1) for i in range(batch)]) if batch > 1 else data


def read(ie, path, case, device, data):
    """The network with the precisions a device is to be asked for."""
    net = ie.read_network(path + ".xml", path + ".bin")
    if case.options.get("batch", 1) > 1:
        net.batch_size = case.options["batch"]
    for name, i in net.input_info.items():
        kind = data[name][1]
        i.precision = PRECISIONS[kind] if device == "MYRIAD" else \
            "I32" if kind == "i32" else "FP32"
    for o in net.outputs.values():
        if device == "MYRIAD" and o.precision == "FP32" and case.options.get("io", "f16") == "f16":
            o.precision = "FP16"
    return net


def config(case):
    c = dict(case.options.get("config", {}))
    if case.options.get("hw") is False:
        c["MYRIAD_ENABLE_HW_ACCELERATION"] = "NO"
    return c


def compile_blob(ie, net, folder, case):
    """The blob lands in the cache folder although no stick is found."""
    cache = os.path.join(folder, "cache")
    shutil.rmtree(cache, ignore_errors=True)
    os.makedirs(cache)
    ie.set_config({"CACHE_DIR": cache}, "")
    message = ""
    try:
        ie.load_network(net, "MYRIAD", dict(config(case), VPU_MYRIAD_PLATFORM="VPU_MYRIAD_2480"))
    except Exception as e:  # whatever the plug-in throws is its answer
        message = str(e)
    ie.set_config({"CACHE_DIR": ""}, "")
    blobs = os.listdir(cache)
    if not blobs:
        shutil.rmtree(cache)
        return None, message
    to = os.path.join(folder, "cache.blob")
    os.replace(os.path.join(cache, blobs[0]), to)
    shutil.rmtree(cache)
    with open(to, "rb") as f:
        return Blob(f.read()), ""


def oracle(ie, path, case, data):
    net = read(ie, path, case, "CPU", data)
    loaded = ie.load_network(net, "CPU", CPU)
    return loaded.infer({k: batched(v[0], case.options.get("batch", 1)) for k, v in data.items()})


def layers(path):
    import xml.etree.ElementTree as ET
    return [[x.get("name"), x.get("type")] for x in ET.parse(path + ".xml").iter("layer")
            if x.get("type") not in ("Const", "Parameter", "Result")]


def edit(path, case):
    for old, new in case.options.get("edit", ()):
        with open(path + ".xml") as f:
            text = f.read()
        with open(path + ".xml", "w") as f:
            f.write(text.replace(old, new))


def doubts(outputs):
    """What would make the expected values worth little."""
    found = []
    for name, y in outputs.items():
        if not np.isfinite(y).all():
            found.append(name + ": not finite")
        elif np.abs(y).max(initial=0) > 65504:
            found.append(name + ": beyond FP16")
        elif y.size > 1 and np.ptp(y) == 0:
            found.append(name + ": constant")
    return found


def make(case, release, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    about = {"name": case.name, "release": release, "options": case.options, "seed": case.seed,
             "tolerance": {"kind": case.tolerance.kind, "value": case.tolerance.value}}
    path = os.path.join(folder, "model")
    try:
        data = graph.write(case.build, case.seed, path, case.options.get("io", "f16"))
        edit(path, case)
        about["layers"] = layers(path)
        ie = IECore()
        expected = {}
        try:
            expected = oracle(ie, path, case, data)
            about["doubts"] = doubts(expected)
        except Exception as e:
            about["no_oracle"] = str(e).strip()
        ie = IECore()
        since = time.time()
        blob, message = compile_blob(ie, read(ie, path, case, "MYRIAD", data), folder, case)
        about["compile_s"] = round(time.time() - since, 2)
        if blob is None:
            about["refused"] = re.sub(r"/\S*/(src/\S+)", r"\1", message.strip())
            return about
        with open(os.path.join(folder, "model.blob"), "wb") as f:
            f.write(blob.raw)
        about["stages"] = blob.stages
        about["batch"] = blob.batch
        for what, tensors in (("in", blob.inputs), ("out", blob.outputs)):
            about[what + "puts"] = [t._asdict() for t in tensors]
        for n, t in enumerate(blob.inputs):
            if t.name not in data:
                continue
            x = batched(data[t.name][0], case.options.get("batch", 1))
            np.save(os.path.join(folder, "in_%d_%s.npy" % (n, t.name)),
                    np.ascontiguousarray(memory_order(t, x)).astype(t.type))
        for n, t in enumerate(blob.outputs):
            name = t.name if t.name in expected else None
            if name is None and len(expected) == len(blob.outputs):
                name = sorted(expected)[n]
            if name is not None:
                np.save(os.path.join(folder, "out_%d_%s.npy" % (n, t.name.replace("/", "_"))),
                        np.ascontiguousarray(memory_order(t, expected[name])).astype(np.float32))
    except Exception as e:
        about["failed"] = "%s: %s" % (type(e).__name__, e)
        about["trace"] = traceback.format_exc()
    return about


def run(case, release, folder):
    """In a process of its own: a compiler that crashes is one case's matter."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.path.dirname(folder) + ".log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(null, 1)
        os.dup2(null, 2)
        about = make(case, release, folder)
        with open(os.path.join(folder, "case.json"), "w") as f:
            json.dump(about, f, indent=1)
        os._exit(0)
    return pid


def outcome(folder, case, status):
    try:
        with open(os.path.join(folder, "case.json")) as f:
            about = json.load(f)
    except OSError:
        about = {"name": case.name, "options": case.options,
                 "refused": "the compiler's process ended with status %d" % status}
        with open(os.path.join(folder, "case.json"), "w") as f:
            json.dump(about, f, indent=1)
    for word in ("failed", "refused", "no_oracle"):
        if word in about:
            return "%s: %s" % (word, about[word].strip().split("\n")[-1][:200])
    return "%d stages %s" % (len(about["stages"]), "; ".join(about["doubts"]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("release")
    p.add_argument("out")
    p.add_argument("--only", action="append", default=[])
    p.add_argument("--no-stick")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--lean", action="store_true", help="only case.json stays")
    p.add_argument("--keep", action="store_true", help="cases that are there are not made again")
    a = p.parse_args()
    if a.no_stick and a.no_stick not in os.environ.get("LD_PRELOAD", ""):
        os.environ["LD_PRELOAD"] = a.no_stick
        os.execv(sys.executable, [sys.executable] + sys.argv)
    top = os.path.join(a.out, a.release)
    os.makedirs(top, exist_ok=True)
    running = {}
    todo = [c for c in networks.select(a.only)
            if not (a.keep and os.path.exists(os.path.join(top, c.name, "case.json")))]
    while todo or running:
        while todo and len(running) < a.jobs:
            c = todo.pop(0)
            folder = os.path.join(top, c.name)
            running[run(c, a.release, folder)] = (c, folder)
        pid, status = os.wait()
        c, folder = running.pop(pid)
        os.makedirs(folder, exist_ok=True)
        print(c.name, outcome(folder, c, status), flush=True)
        for name in os.listdir(folder) if a.lean else ():
            if name != "case.json":
                os.remove(os.path.join(folder, name))


if __name__ == "__main__":
    main()
