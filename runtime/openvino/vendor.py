"""What the simulator asks of an OpenVINO package: run by the Python that has it.

compile IR FOLDER [KEY=VALUE]...   the vendor's compiler: net.blob, stages.json
cpu IR FOLDER NAME=FILE.npy...     the CPU plug-in with every layer as an output:
                                   outputs.json and a .npy a layer

Status 0; 3: the package is not there, or lacks what is needed; 1: it refused.
Standard error has one message.
"""
import json
import os
import re
import sys


def fail(status, text):
    sys.stderr.write(" ".join(str(text).split()) + "\n")
    sys.stderr.flush()
    os._exit(status)


def quietly(work):
    """Plug-ins print what they like: it goes nowhere."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        return work()
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)


def core():
    try:
        from openvino.inference_engine import IECore
    except Exception as e:
        fail(3, "no package openvino of 2021.4 to 2022.2 in %s: %s" % (sys.executable, e))
    return IECore()


def read(ie, ir):
    try:
        return ie.read_network(ir)
    except Exception as e:
        fail(1, "%s: %s" % (ir, e))


def stages(dot):
    """The compiler's own picture of what it made: stages by their place in the
    blob, what they were called, the layer they are of, and the network's name
    for what they write, of layers that became one the last one's."""
    nodes = dict(re.findall(r'\n +((?:data|stage)_\w+) \[.*?label="(.*?)"\n', dot, re.S))
    writes = {}
    for stage, data in re.findall(r"\n +(stage_\w+) -> (data_\w+) \[", dot):
        writes.setdefault(stage, []).append(data)
    found = {}
    for node, label in nodes.items():
        place = re.match(r"\[(-?\d+) / \d+\] Stage (.*?)\\l", label)
        if not place or int(place.group(1)) < 0:
            continue
        layer = re.search(r"\\l *origLayer = \[\\l +name = (.*?)\\l", label)
        found[int(place.group(1))] = {
            # Addresses in names are others every time.
            "name": re.sub(r"-?0x[0-9a-f]+|special::\S*", "", place.group(2)), "layer": layer.group(1) if layer else "",
            "writes": [original(nodes.get(d, "")) for d in writes.get(node, [])]}
    return [found.get(i, {"name": "", "layer": "", "writes": []})
            for i in range(max(found) + 1 if found else 0)]


def original(label):
    """The network's name of a tensor; "": a part of one, or one that the
    compiler made up."""
    name = re.match(r"Data (.*?)\\l", label)
    of = re.search(r"\\l *origData = \[\\l +name = (.*?)\\l", label)
    return of.group(1) if name and of and re.sub("@FP16$", "", name.group(1)) == of.group(1) else ""


def compile_network(ir, folder, words):
    ie = core()
    net = read(ie, ir)
    if "MYRIAD" not in plugins():
        fail(3, "the package of %s has no MYRIAD plug-in" % sys.executable)
    dot, cache = os.path.join(folder, "net.dot"), os.path.join(folder, "cache")
    os.makedirs(cache, exist_ok=True)
    config = {"VPU_MYRIAD_PLATFORM": "VPU_MYRIAD_2480",
              "MYRIAD_DUMP_INTERNAL_GRAPH_FILE_NAME": dot}
    for word in words:
        key, _, value = word.partition("=")
        config[key] = value
    half(net)

    def work():
        ie.set_config({"CACHE_DIR": cache}, "")
        # There is no stick: what comes of that is an error, behind the blob.
        try:
            ie.load_network(net, "MYRIAD", config)
        except Exception as e:
            return str(e)
        return ""
    message = quietly(work)
    blobs = os.listdir(cache)
    if not blobs:
        fail(1, "the vendor's compiler refused %s: %s" % (ir, message))
    os.replace(os.path.join(cache, blobs[0]), os.path.join(folder, "net.blob"))
    try:
        with open(dot) as f:
            made = stages(f.read())
    except OSError:
        made = []  # the blob is complete without its names
    with open(os.path.join(folder, "stages.json"), "w") as f:
        json.dump(made, f)


def half(net):
    """Inputs and outputs as halves, as the device computes: no conversions."""
    for i in net.input_info.values():
        if i.precision == "FP32":
            i.precision = "FP16"
    for o in net.outputs.values():
        if o.precision == "FP32":
            o.precision = "FP16"


def plugins():
    import openvino
    roots = [os.path.join(os.path.dirname(p), "libs") for p in
             [os.path.join(list(openvino.__path__)[0], "x")]]
    names = []
    for root in roots:
        for _, _, files in os.walk(os.path.dirname(root)):
            names += files
    return {"MYRIAD"} if any("myriad" in n.lower() and n.endswith((".so", ".dll")) or
                             "libmyriadPlugin" in n for n in names) else set()


def cpu(ir, folder, words):
    import numpy as np
    import ngraph
    ie = core()
    net = read(ie, ir)
    inputs = {}
    for word in words:
        name, _, path = word.partition("=")
        inputs[name] = np.load(path).astype(np.float32)
    function = ngraph.function_from_cnn(net)
    layers = [op for op in function.get_ordered_ops()
              if op.get_type_name() not in ("Constant", "Parameter", "Result")]
    for op in layers:
        for k in range(op.get_output_size()):
            try:
                net.add_outputs((op.get_friendly_name(), k))
            except Exception:
                pass  # an output already, or none that can be
    for name, i in net.input_info.items():
        i.precision = "FP32" if i.precision in ("FP16", "FP32") else i.precision
        if name in inputs and i.precision != "FP32":
            inputs[name] = inputs[name].astype({"I32": np.int32, "U8": np.uint8}
                                               .get(i.precision, np.float32))

    def work():
        try:
            loaded = ie.load_network(net, "CPU", {"ENFORCE_BF16": "NO"})
            return loaded.infer(inputs), ""
        except Exception as e:
            return None, str(e)
    values, message = quietly(work)
    if values is None:
        fail(1, "the CPU plug-in refused %s: %s" % (ir, message))
    index = {}
    for number, name in enumerate(sorted(values)):
        to = "layer%u.npy" % number
        np.save(os.path.join(folder, to), np.ascontiguousarray(values[name]).astype(np.float32))
        index[name] = to
    with open(os.path.join(folder, "outputs.json"), "w") as f:
        json.dump(index, f)


def main():
    command, ir, folder = sys.argv[1:4]
    {"compile": compile_network, "cpu": cpu}[command](ir, folder, sys.argv[4:])
    sys.stderr.flush()
    os._exit(0)  # plug-ins that end in order search for sticks once more


main()
