"""The same case by the program, the library's own functions and layers: the same bytes and cycles."""
import json
import subprocess

import numpy as np
import pytest

import vpusim
from vpusim import _options
from vpusim._library import ffi, lib

CASES = {
    "grn": ("kernels/grn/layer.xml", "GRN", "1x16x24x32", {"bias": "1.0"}),
    "softmax": ("kernels/softmax/layer.xml", None, "1x21x16x24", {"axis": "1"}),
    "mvn": ("kernels/mvn/layer.xml", None, "1x3x16x24", {"eps": "0.001"}),
}


def by_program(vpu, root, case, folder):
    path, layer, shape, params = case
    command = [vpu, "run", path, f"--shape=in0={shape}", "--input=0=random:7",
               f"--output={folder}", "--quiet"]
    command += [f"--layer={layer}"] if layer else []
    command += [f"--param={k}={v}" for k, v in params.items()]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    return np.load(folder / "out0.npy"), json.loads((folder / "report.json").read_text())


def by_c(root, case):
    """The calls that a program in C makes, without the package's classes."""
    path, layer, shape, params = case
    error = ffi.new("vpu_error *")

    def ok(status):
        assert status == 0, ffi.string(error.msg)

    context, graph = ffi.new("vpu_context **"), ffi.new("vpu_graph **")
    operation, result = ffi.new("vpu_operation **"), ffi.new("vpu_result **")
    ok(lib.vpu_context_create(context, ffi.NULL, error))
    ok(lib.vpu_graph_create(graph, context[0], error))
    options, _keep = _options.fill("vpu_layer_options", bindings=root / path, layer=layer,
                                   shapes={"in0": shape}, params=params)
    ok(lib.vpu_graph_add_layer(graph[0], options, operation, error))
    ok(lib.vpu_graph_finalize(graph[0], error))
    ok(lib.vpu_tensor_fill(lib.vpu_operation_input(operation[0], 0), b"random:7", error))
    ok(lib.vpu_graph_run(graph[0], ffi.NULL, result, error))
    out = lib.vpu_operation_output(operation[0], 0)
    made = bytes(ffi.buffer(lib.vpu_tensor_data(out), lib.vpu_tensor_bytes(out)))
    cycles = lib.vpu_result_cycles(result[0])
    lib.vpu_result_free(result[0])
    lib.vpu_graph_free(graph[0])
    lib.vpu_context_free(context[0])
    return made, cycles


@pytest.mark.parametrize("name", CASES)
def test_the_same_bytes_and_cycles(vpu, root, tmp_path, name):
    case = CASES[name]
    path, layer, shape, params = case
    array, report = by_program(vpu, root, case, tmp_path)
    made, cycles = by_c(root, case)
    result = vpusim.Layer(root / path, layer, shapes={"in0": shape}, params=params).run("random:7")
    assert result.output.tobytes() == array.tobytes() == made
    assert result.output.dtype == array.dtype and result.output.shape == array.shape
    assert result.cycles == report["cycles"] == cycles > 0
    assert [s["shave_cycles_by_cause"] for s in result.stages] == \
        [s["shave_cycles_by_cause"] for s in report["stages"]]
