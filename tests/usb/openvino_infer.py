#!/usr/bin/env python3
"""The vendor's host library, unmodified, against a virtual stick.

openvino_infer.py DIR: DIR holds cases, each a folder with model.xml, model.bin,
layers.xml with its kernels, and in0.npy; writes DIR/CASE/openvino.npy, the
output, and DIR/CASE/openvino.blob, what its compiler made of the model.
"""
import os
import sys

import numpy as np
from openvino.inference_engine import IECore


def run(ie, folder):
    ie.set_config({"MYRIAD_CUSTOM_LAYERS": os.path.join(folder, "layers.xml")}, "MYRIAD")
    net = ie.read_network(os.path.join(folder, "model.xml"), os.path.join(folder, "model.bin"))
    # Where the case says nothing the host converts floats on the stick.
    if not os.path.exists(os.path.join(folder, "f32")):
        for i in net.input_info.values():
            i.precision = "FP16"
        for o in net.outputs.values():
            o.precision = "FP16"
    loaded = ie.load_network(net, "MYRIAD")
    request = loaded.requests[0]
    name = next(iter(net.input_info))
    # Not through infer(): it takes the bits of halves for integers.
    buffer = request.input_blobs[name].buffer
    buffer[:] = np.load(os.path.join(folder, "in0.npy")).astype(buffer.dtype)
    request.infer()
    out = {k: v.buffer for k, v in request.output_blobs.items()}
    np.save(os.path.join(folder, "openvino.npy"), next(iter(out.values())).astype(np.float16))
    loaded.export(os.path.join(folder, "openvino.blob"))
    times = request.get_perf_counts()
    for name, t in times.items():
        if t["real_time"]:
            print(f"{os.path.basename(folder)}: {name} {t['layer_type']} {t['real_time']} us")


def main():
    top = sys.argv[1]
    ie = IECore()
    print("devices:", *ie.available_devices)
    for case in sorted(os.listdir(top)):
        run(ie, os.path.join(top, case))
        print(case, "done")


if __name__ == "__main__":
    main()
