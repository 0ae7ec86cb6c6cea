"""Graphs in files, layers of the samples, images, options of runs, checks and comparisons."""
import json
import os
import signal
import threading
import time
import xml.etree.ElementTree

import numpy as np
import pytest

import vpusim

NUMBERS = np.random.default_rng(11).standard_normal((4, 8)).astype(np.float32)


@pytest.fixture
def network(context):
    """tanh(x + c) of two operations, one of them a part."""
    graph = vpusim.Graph(context)
    x = graph.input((4, 8), "f32", "x")
    total = graph.add("add", x, graph.constant(NUMBERS))
    with graph.composed("head"):
        graph.add("tanh", *total.outputs, output_role="output", name="y")
    return graph


def run(graph):
    graph.finalize()
    graph.inputs[0].write(NUMBERS)
    result = graph.run()
    return result.cycles, graph.outputs[0].read()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_loaded_graph_is_the_saved_one(network, tmp_path, compiled):
    path = tmp_path / "g.vpugraph"
    network.save(path, compiled=compiled)
    with vpusim.Context() as other:
        loaded = vpusim.Graph.load(other, path)
        path.unlink()
        assert [o.name for o in loaded.operations] == [o.name for o in network.operations]
        with pytest.raises(vpusim.InvalidError):
            loaded.input(4)
        cycles, y = run(loaded)
    wanted_cycles, wanted = run(network)
    assert cycles == wanted_cycles
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_allclose(y, np.tanh(NUMBERS + NUMBERS), atol=1e-5)


def test_what_is_no_graph_is_refused(context, tmp_path):
    (tmp_path / "bad").write_bytes(b"no graph at all")
    with pytest.raises(vpusim.ParseError):
        vpusim.Graph.load(context, tmp_path / "bad")
    with pytest.raises(vpusim.IoError, match="none"):
        vpusim.Graph.load(context, tmp_path / "none")
    with pytest.raises(vpusim.InvalidError):
        vpusim.Graph(context).save(tmp_path / "empty")


def test_operations_have_names(network, scaling):
    assert [o.name for o in network.operations] == ["add", "head", "head/y"]
    assert network.operation("head/y").outputs[0].role is vpusim.Role.OUTPUT
    with pytest.raises(KeyError, match="foot"):
        network.operation("foot")
    assert scaling.graph.operations[0].kernel is scaling.operation.kernel


def test_graphs_become_blobs(context, root, tmp_path):
    shape = (1, 16, 4, 8)
    graph = vpusim.Graph(context)
    graph.layer(root / "kernels/grn/layer.xml", "GRN", shapes={"in0": shape},
                params={"bias": 1.0})
    made = {"a": {}, "b": {"release": "2021.1", "shaves": 4}, "c": {"xlink": "C"}}
    for name, options in made.items():
        with pytest.warns(vpusim.VpuWarning, match="on a stick"):
            graph.export(tmp_path / name, **options)
        assert (tmp_path / name).stat().st_size > 500
    assert (tmp_path / "a").read_bytes() != (tmp_path / "b").read_bytes()
    with pytest.raises(vpusim.InvalidError, match="2001.1"):
        graph.export(tmp_path / "d", release="2001.1")
    assert not (tmp_path / "d").exists()


# --- layers as kinds, images


@pytest.mark.parametrize("installed", [False, True])
def test_layer_types_are_kinds(context, root, grn, installed):
    assert "GRN" not in context.kinds
    try:
        context.register_layers(None if installed else root / "kernels/grn")
    except vpusim.IoError:
        pytest.skip("the library is not installed")
    assert "GRN" in context.kinds and "relu" in context.kinds
    graph = vpusim.Graph(context)
    x = graph.input((1, 16, 4, 8))
    y = graph.add("GRN", x, output_role="output", bias=1.0).outputs[0]
    graph.finalize()
    given = np.random.default_rng(2).standard_normal(x.shape).astype(np.float16)
    x.write(given)
    graph.run()
    np.testing.assert_allclose(y.read(), grn.reference(given), rtol=2e-3, atol=1e-3)
    with pytest.raises(vpusim.IoError, match="nowhere"):
        context.register_layers("/nowhere")


IMAGES = """#define x_image half, 8, 4
#define y_image half, 4, 8
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE
    | CLK_FILTER_NEAREST;
__kernel void turn(__read_only image2d_t x, __write_only image2d_t y)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageh(y, at.yx, read_imageh(x, nearest, at));
}
"""


def test_images_are_a_keyword(context):
    graph = vpusim.Graph(context)
    x, y = graph.input((4, 8)), graph.output((8, 4))
    kernel = vpusim.Program(context, IMAGES, images=True).kernel("turn")
    graph.launch(kernel, global_size=(8, 4), x=x, y=y)
    graph.finalize()
    x.write(NUMBERS.astype(np.float16))
    graph.run()
    np.testing.assert_array_equal(y.read(), NUMBERS.astype(np.float16).T)
    with pytest.raises(vpusim.VpuError):
        vpusim.Program(context, IMAGES).kernel("turn")


# --- runs


def test_repetitions(scaling):
    once = scaling.graph.run()
    result = scaling.graph.run(repeat=3)
    assert (len(once.repetitions), len(result.repetitions)) == (1, 3)
    assert result.cycles == once.cycles
    assert result.repetitions == pytest.approx([once.seconds] * 3)
    with pytest.raises(vpusim.InvalidError, match="65"):
        scaling.graph.run(repeat=65)


def test_advice(scaling):
    assert scaling.graph.run().advice == []
    result = scaling.graph.run(advise=True)
    assert "advice" in result.json
    for finding in result.advice:
        assert finding["estimate"] < finding["cycles"]
        assert finding["text"] and finding["knob"]


def test_inferences_at_once(scaling):
    result = scaling.graph.run(executors=1)
    at_once = result.json["executors"]
    assert at_once["count"] == 1
    assert at_once["period_ms"] == at_once["latency_ms"] > result.seconds * 1e3
    with pytest.raises(vpusim.InvalidError, match="2 executors"):
        scaling.graph.run(executors=2)  # all SHAVEs are one's


def test_outputs_in_a_folder(scaling, tmp_path):
    result = scaling.graph.run(output=tmp_path / "made")
    np.testing.assert_array_equal(np.load(tmp_path / "made/y.npy"), scaling.y.read())
    assert json.loads((tmp_path / "made/report.json").read_text())["cycles"] == result.cycles


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_inputs_from_archives(scaling, tmp_path, save):
    x = np.random.default_rng(5).standard_normal(64).astype(np.float32)
    save(tmp_path / "one.npz", x)
    save(tmp_path / "two.npz", x=x, objects=np.array([None]), other=-x)
    for spec, sign in ("one.npz", 1), ("one.npz:arr_0", 1), ("two.npz:x", 1), ("two.npz:other", -1):
        scaling.x.fill(str(tmp_path / spec))
        scaling.graph.run()
        np.testing.assert_array_equal(scaling.y.read(), np.float32(3) * sign * x)
    for spec, kind, words in [("two.npz", vpusim.InvalidError, "there are x, objects, other"),
                              ("two.npz:z", vpusim.InvalidError, "there are x, objects, other"),
                              ("two.npz:objects", vpusim.UnsupportedError, "O")]:
        with pytest.raises(kind, match=words):
            scaling.x.fill(str(tmp_path / spec))


def test_levels_of_timelines(scaling, tmp_path):
    sizes = []
    for level in ("summary", vpusim.TraceLevel.FULL):
        scaling.graph.run(trace=tmp_path / "t", trace_level=level)
        sizes.append((tmp_path / "t").stat().st_size)
    assert sizes[0] < sizes[1]
    with pytest.raises(ValueError, match="'summary', 'groups', 'full'"):
        scaling.graph.run(trace=tmp_path / "t", trace_level="half")
    scaling.graph.run(trace=tmp_path / "t", trace_host=True)
    assert (tmp_path / "t").stat().st_size > sizes[1]


def test_stacks_and_the_pipeline(new_scaling, tmp_path):
    with vpusim.Context(engine="interpreted") as context:
        graph = new_scaling(context).graph
        result = graph.run(folded=tmp_path / "f", kanata=tmp_path / "k", kanata_group=0,
                           kanata_bundles=50, profile=True, profile_lines=2)
        graph.run(trace_json=tmp_path / "t", trace_bundles=0)
    assert "scale" in (tmp_path / "f").read_text()
    assert (tmp_path / "k").read_text().startswith("Kanata")
    assert " bundles\"" in (tmp_path / "t").read_text()
    assert result.profile
    with pytest.raises(vpusim.InvalidError, match="engine|interpreted"):
        new_scaling(vpusim.Context()).graph.run(kanata=tmp_path / "k")


# --- checks and comparisons


def test_findings_that_are_known(tmp_path):
    late = vpusim.kernel("__kernel void late(__global const float *x, __global float *y)\n"
                         "{\n    int i = get_global_id(0);\n    y[i] = x[i + 1];\n}\n")
    arguments = np.zeros(64, np.float32), vpusim.out(64, "f32")
    found = late.check(*arguments, local_size=8)
    assert found and found.seconds >= found.launch_seconds > 0
    (tmp_path / "known").write_text("bounds late source.cl\n")
    assert not late.check(*arguments, suppress=tmp_path / "known", checks="bounds")
    (tmp_path / "known").write_text("bounds\n")
    with pytest.raises(vpusim.ParseError):
        late.check(*arguments, suppress=tmp_path / "known")
    with pytest.raises(TypeError, match="spelling"):
        late.check(*arguments, spelling=True)


def test_orders_and_alignment():
    loose = vpusim.kernel("__kernel void k(__global const float *x, __global float *y)\n"
                          "{ float4 v = *(__global const float4 *)(x + 1); y[0] = v.x; }")
    arguments = np.zeros(64, np.float32), vpusim.out(1, "f32")
    options = {"orders": True, "random_orders": 2, "seed": 7}
    assert loose.check(*arguments, strict_align=True, **options).error_count >= \
        loose.check(*arguments, **options).error_count


def test_slowdowns(new_scaling):
    fast, slow = vpusim.Context(), vpusim.Context(settings={"ddr_load_stall": 900})
    a, b = new_scaling(slow, 4096).graph, new_scaling(fast, 4096).graph
    diff = vpusim.diff(a, b, max_slowdown=1.0, groups=False, verbose=True)
    assert diff.equal and diff.too_slow
    assert not vpusim.diff(b, a, max_slowdown=1.0).too_slow
    suite = xml.etree.ElementTree.fromstring(diff.junit)
    assert suite.tag in ("testsuite", "testsuites")
    assert len(diff.text) > len(vpusim.diff(b, a).text)


def test_budgets_of_cycles(new_scaling, context):
    a, b = new_scaling(context, 4096).graph, new_scaling(context, 4096).graph
    cycles = a.run().cycles
    assert not vpusim.diff(a, b, cycle_budget=cycles).too_slow
    diff = vpusim.diff(a, b, cycle_budget=cycles - 1, groups=False)
    assert diff.equal and diff.too_slow
    assert f"{cycles} cycles, the budget is {cycles - 1}" in diff.summary


# --- local sizes


def test_tuning(new_scaling, context, tmp_path):
    made = new_scaling(context, 4096)
    before = made.graph.run().cycles
    outputs = made.y.read()
    assert made.graph.tune("exhaustive", file=tmp_path / "sizes") is made.graph
    np.testing.assert_array_equal(made.y.read(), outputs)
    after = made.graph.run().cycles
    assert after <= before and made.operation.global_size == (4096, 1, 1)
    with vpusim.Context(tuned=tmp_path / "sizes") as tuned:
        again = new_scaling(tuned, 4096)
        assert again.operation.local_size == made.operation.local_size
        assert again.graph.run().cycles == after
    with pytest.raises(vpusim.InvalidError, match="SHAVEs"):
        made.graph.tune("rapid", shaves_too=True)
    with pytest.raises(ValueError, match="'rapid', 'normal', 'exhaustive'"):
        made.graph.tune("quick")


def test_ctrl_c_ends_tuning(new_scaling, context):
    made = new_scaling(context, 1 << 16)
    began = time.monotonic()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        while time.monotonic() - began < 60:
            made.graph.tune("exhaustive")
    assert time.monotonic() - began < 30
    assert made.graph.run().cycles > 0
