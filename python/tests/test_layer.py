"""Layers and kernels as functions of arrays."""
import threading

import numpy as np
import pytest

import vpusim

RNG = np.random.default_rng(5)


def halves(*shape):
    return RNG.standard_normal(shape).astype(np.float16)


def test_shapes_come_from_arrays(grn):
    for shape in [(1, 16, 4, 8), (1, 16, 6, 8), (1, 16, 4, 8)]:
        x = halves(*shape)
        result = grn.run(x)
        assert result.output.shape == shape and result.output.dtype == np.float16
        np.testing.assert_allclose(result.output, grn.reference(x), rtol=2e-3, atol=1e-3)
    assert grn.number_of_graphs == 2
    for i in range(8):
        grn.run(halves(1, 16, 4, 8 * (i + 1)))
    assert grn.number_of_graphs == 4


def test_warnings_of_the_library_name_this_line(grn):
    with pytest.warns(vpusim.VpuWarning, match="batch of 2") as caught:
        grn.run(halves(2, 16, 4, 8))
    assert caught[0].filename == __file__


def test_shapes_by_hand(root):
    layer = vpusim.Layer(root / "kernels/grn/layer.xml", "GRN",
                         shapes={"in0": (1, 16, 4, 8)}, params={"bias": 1.0})
    random = layer.run("random:7")
    again = layer(random.inputs[0])
    np.testing.assert_array_equal(random.output, again.output)
    assert random.cycles == again.cycles and layer.number_of_graphs == 1
    with pytest.raises(vpusim.MismatchError, match="shape"):
        layer.run(halves(1, 16, 4, 4))
    with pytest.raises(vpusim.MismatchError, match="1: in0"):
        layer.run("ramp", "ramp")
    with pytest.raises(vpusim.InvalidError, match="astype"):
        vpusim.Layer(root / "kernels/grn/layer.xml", "GRN").run(np.zeros((1, 1, 4, 4)))


def test_outputs_are_copies(grn):
    x = halves(1, 16, 4, 8)
    first = grn.run(x)
    kept = first.output.copy()
    x[:] = 0
    assert first.inputs[0].any()
    second = grn.run(x)
    np.testing.assert_array_equal(first.output, kept)
    assert not np.shares_memory(first.output, second.output)
    assert not second.output.any()
    assert first["out0"] is first.output
    with pytest.raises(KeyError):
        first["out1"]


def test_strided_inputs_are_copied(grn):
    x = halves(1, 8, 4, 16).transpose(0, 3, 2, 1)
    assert not x.flags.c_contiguous
    np.testing.assert_allclose(grn.run(x).output, grn.reference(x), rtol=2e-3, atol=1e-3)


def test_a_result_remembers_its_inputs(grn):
    """Timeline and findings are of this run, also after others."""
    first = grn.run(halves(1, 16, 4, 8))
    grn.run(np.zeros((1, 16, 4, 8), np.float16))
    timeline = first.timeline
    assert timeline is first.timeline and timeline.trace
    assert len(first.findings) == 0 and not first.findings
    out = first.graph.outputs[0].read()
    np.testing.assert_array_equal(out, first.output)
    grn.close()
    assert first.json["cycles"] == first.cycles


def test_timelines_are_pictures(grn, tmp_path):
    import struct
    timeline = grn.run(halves(1, 16, 4, 8)).timeline
    bundle = timeline._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/png", "image/svg+xml"}
    assert bundle["image/png"].startswith(b"\x89PNG")
    assert bundle["image/svg+xml"].count("</svg>") == 1 and "<script" not in bundle["image/svg+xml"]
    assert struct.unpack(">I", timeline.png(width=500)[16:20]) == (500,)
    for name in ("t.png", "t.svg", "t.pftrace"):
        timeline.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


def test_large_pictures_are_left_out(grn, monkeypatch):
    timeline = grn.run(halves(1, 16, 4, 8)).timeline
    monkeypatch.setattr(vpusim.timeline, "MOST_SVG", 100)
    assert set(timeline._repr_mimebundle_()) == {"text/plain", "image/png"}


def test_profiles_need_the_interpreter(grn, root):
    x = halves(1, 16, 2, 8)
    compiled = grn.run(x)
    with pytest.raises(vpusim.UnsupportedError, match="interpreted"):
        compiled.profile
    layer = vpusim.Layer(root / "kernels/grn/layer.xml", "GRN", params={"bias": 1.0},
                         engine="interpreted")
    result = layer.run(x)
    assert result.cycles == compiled.cycles
    np.testing.assert_array_equal(result.output, compiled.output)
    rows = result.profile
    assert sum(row["cycles"] for row in rows) == sum(result.stalls.values())
    assert {row["stage"] for row in rows} == {"GRN"}
    assert any(row.get("file") == "grn.cl" and row["line"] > 0 for row in rows)


def test_contexts_are_shared_or_owned(root):
    with vpusim.Context(shaves=4) as context:
        path = root / "kernels/grn/layer.xml"
        with vpusim.Layer(path, "GRN", params={"bias": 1}, context=context) as layer:
            assert layer.run(halves(1, 16, 4, 8)).json["stages"][0]["shaves"] == 4
        assert not context.closed
        with pytest.raises(TypeError, match="shaves"):
            vpusim.Layer(path, context=context, shaves=2)
    layer = vpusim.Layer(path, "GRN", shaves=2)
    layer.close()
    assert layer.context.closed


# --- kernels


def test_kernels_are_functions():
    scale = vpusim.kernel("__kernel void scale(__global const float *x, __global float *y, float f)"
                          "{ int i = get_global_id(0); y[i] = f * x[i]; }")
    x = np.arange(32, dtype=np.float32)
    result = scale(x, vpusim.out(x.shape, x.dtype), 2.5)
    np.testing.assert_array_equal(result.output, 2.5 * x)
    y = np.empty_like(x)
    scale(x, vpusim.out(y), 4, local_size=8)
    np.testing.assert_array_equal(y, 4 * x)
    assert result["y"] is result.output and "scale" in repr(scale)
    with pytest.raises(TypeError, match=r"3 arguments \(float\* x, float\* y, float f\)"):
        scale(x)
    with pytest.raises(vpusim.MismatchError):
        scale(x.astype(np.float16), vpusim.out(y), 4)
    with pytest.raises(vpusim.InvalidError):
        scale(x, vpusim.out(y), 4, local_size=7)


def test_halves_and_two_dimensions():
    source = """__kernel void turn(__global const half *x, __global half *y)
    {
        int c = get_global_id(0), r = get_global_id(1);
        y[c * get_global_size(1) + r] = x[r * get_global_size(0) + c];
    }"""
    x = halves(6, 16)
    result = vpusim.kernel(source)(x, vpusim.out((16, 6)), global_size=(16, 6))
    np.testing.assert_array_equal(result.output, x.T)
    assert result.output.dtype == np.float16


def test_recent_graphs_of_kernels():
    from vpusim.layer import RECENT
    k = vpusim.kernel("__kernel void k(__global int *y, int n) { y[get_global_id(0)] = n; }")
    for n in list(range(10)) * 2:
        assert k(vpusim.out(4, "i32"), n).output.tolist() == [n] * 4
    assert len(k._recent) == RECENT


def test_numbers_of_kernels_are_not_mixed_up():
    k = vpusim.kernel("__kernel void k(__global float *y, float f, int n) { y[0] = f; y[1] = n; }")
    assert not np.signbit(k(vpusim.out(2, "f32"), 0.0, 1, global_size=1).output[0])
    assert np.signbit(k(vpusim.out(2, "f32"), -0.0, 1, global_size=1).output[0])
    with pytest.raises(vpusim.MismatchError, match="int"):
        k(vpusim.out(2, "f32"), 0.0, 1.0, global_size=1)
    with pytest.raises(TypeError, match="takes a number, not ndarray"):
        k(vpusim.out(2, "f32"), 0.0, np.zeros(1), global_size=1)


def test_settings_of_the_machine(root):
    x = np.zeros((1, 16, 4, 8), np.float16)
    cycles = [vpusim.Layer(root / "kernels/grn/layer.xml", "GRN", params={"bias": 1.0},
                           settings={"ddr_load_stall": n}).run(x).cycles for n in (100, 900)]
    assert cycles[0] < cycles[1]


def test_kernels_in_a_context(context):
    k = vpusim.kernel("__kernel void k(__global int *y) { y[get_global_id(0)] = N; }",
                      context=context, build_options=["-DN=9"])
    assert k(vpusim.out(2, "i32")).output.tolist() == [9, 9]
    k.close()
    assert not context.closed
    with pytest.raises(TypeError, match="shaves"):
        vpusim.kernel("", context=context, shaves=1)


def test_checkers_find_a_planted_mistake():
    k = vpusim.kernel("__kernel void late(__global const float *x, __global float *y)\n"
                      "{\n    int i = get_global_id(0);\n    y[i] = x[i + 1];\n}\n")
    arguments = np.zeros(64, np.float32), vpusim.out(64, "f32")
    with pytest.raises(vpusim.FaultError) as caught:
        k(*arguments)
    assert (caught.value.file, caught.value.line) == ("source.cl", 4)
    findings = k.check(*arguments)
    assert findings and findings.error_count >= 1
    found = next(f for f in findings if f.checker == "bounds")
    assert (found.kernel, found.file, found.line) == ("late", "source.cl", 4)
    assert "source.cl:4" in findings.report
    assert findings.json["findings"] and findings.sarif["version"] == "2.1.0"
    findings.close()
    with pytest.raises(vpusim.ClosedError):
        findings.report


def test_layers_are_checked(grn):
    assert not grn.check(halves(1, 16, 4, 8))
    with pytest.raises(vpusim.InvalidError, match="spelling"):
        grn.check(halves(1, 16, 4, 8), checks="spelling")


def test_opencl_runs_the_same_program():
    if not any(d.id.startswith("opencl:") and d.usable for d in vpusim.devices()):
        pytest.skip("no OpenCL device")
    source = "__kernel void k(__global const float *x, __global float *y)" \
             "{ int i = get_global_id(0); y[i] = x[i] * x[i]; }"
    x = RNG.random(64, np.float32)
    runs = [vpusim.kernel(source, backend=b)(x, vpusim.out(64, "f32")) for b in ("sim", "opencl")]
    np.testing.assert_array_equal(runs[0].output, runs[1].output)
    assert runs[1].cycles == 0 and runs[1].seconds > 0
    with pytest.raises(vpusim.UnsupportedError):
        runs[1].findings


def test_other_threads_make_pictures(grn):
    made = []
    result = grn.run(halves(1, 16, 4, 8))
    thread = threading.Thread(target=lambda: made.append(result.timeline.png(width=300)))
    thread.start()
    thread.join()
    assert made[0].startswith(b"\x89PNG")
