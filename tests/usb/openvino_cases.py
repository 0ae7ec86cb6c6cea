#!/usr/bin/env python3
"""Write the cases that openvino_infer.py runs: openvino_cases.py VPU DIR

A model of one layer in IR version 10 each, a binding whose kernels are .bin
files made by VPU, and random input.
"""
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np

CASES = [
    # name, IR type and version, attributes, binding, layer in it, shape
    ("grn", "GRN", "opset1", {"bias": "1.0"}, "kernels/grn/layer.xml", "GRN", (1, 16, 24, 40)),
    ("grn_dma", "GRN", "opset1", {"bias": "1.0"}, "kernels/grn/layer.xml", "GRNDma", (1, 16, 24, 40)),
    ("mvn", "MVN", "opset2", {"eps": "0.001", "across_channels": "false", "normalize_variance": "true"},
     "kernels/mvn/layer.xml", "MVN", (1, 8, 24, 32)),
    # Floats outside: the host's compiler puts conversions around.
    ("grn_f32", "GRN", "opset1", {"bias": "1.0"}, "kernels/grn/layer.xml", "GRN", (1, 7, 10, 24)),
]

IR = """<?xml version="1.0"?>
<net name="{name}" version="10">
  <layers>
    <layer id="0" name="in" type="Parameter" version="opset1">
      <data shape="{shape}" element_type="f16"/>
      <output><port id="0" precision="FP16">{dims}</port></output>
    </layer>
    <layer id="1" name="{name}" type="{type}" version="{version}">
      <data {attributes}/>
      <input><port id="0">{dims}</port></input>
      <output><port id="1" precision="FP16">{dims}</port></output>
    </layer>
    <layer id="2" name="out" type="Result" version="opset1">
      <input><port id="0">{dims}</port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
  </edges>
</net>
"""


def binding(vpu, path, layer, as_type, folder):
    root = ET.fromstring("<layers>" + open(path).read() + "</layers>")
    found = next(x for x in root.findall("CustomLayer") if x.get("name") == layer)
    found.set("name", as_type)
    for kernel in found.findall("Kernel"):
        source = kernel.find("Source")
        name = source.get("filename")
        to = name.replace(".cl", ".bin")
        subprocess.run([vpu, "cc", os.path.join(os.path.dirname(path), name), "-o",
                        os.path.join(folder, to)], check=True)
        source.set("filename", to)
    ET.ElementTree(found).write(os.path.join(folder, "layers.xml"))


def main():
    vpu, top = sys.argv[1:]
    rng = np.random.default_rng(1)
    for name, kind, version, attributes, path, layer, shape in CASES:
        folder = os.path.join(top, name)
        os.makedirs(folder, exist_ok=True)
        binding(vpu, path, layer, kind, folder)
        with open(os.path.join(folder, "model.xml"), "w") as f:
            f.write(IR.format(
                name=name, type=kind, version=version, shape=",".join(map(str, shape)),
                dims="".join(f"<dim>{d}</dim>" for d in shape),
                attributes=" ".join(f'{k}="{v}"' for k, v in attributes.items())))
        open(os.path.join(folder, "model.bin"), "wb").close()
        if name.endswith("_f32"):
            open(os.path.join(folder, "f32"), "w").close()
        np.save(os.path.join(folder, "in0.npy"),
                rng.uniform(-2, 2, shape).astype(np.float16))


if __name__ == "__main__":
    main()
