"""Graphs, tensors, operations, results."""
import gc
import json
import sys
import warnings

import numpy as np
import pytest

import vpusim

CHAIN = """__kernel void add(__global const float *a, __constant float *b, __global float *y)
{
    int i = get_global_id(0) + get_global_size(0) * get_global_id(1);
    y[i] = a[i] + b[i];
}
__kernel void square(__global const float *a, __global float *y, __local float *tmp)
{
    int i = get_global_id(0) + get_global_size(0) * get_global_id(1);
    tmp[get_local_id(0)] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = tmp[get_local_id(0)] * tmp[get_local_id(0)];
}
"""


def test_a_chain_of_kernels(context):
    rng = np.random.default_rng(1)
    x, c = rng.random((6, 40), np.float32), rng.random((6, 40), np.float32)
    program = vpusim.Program(context, CHAIN)
    graph = vpusim.Graph(context)
    tx, ty, tv = graph.input(x.shape, "f32"), graph.output(x.shape, "f32"), \
        graph.virtual(x.shape, np.float32)
    add = graph.launch(program.add, global_size=(40, 6), a=tx, b=graph.constant(c), y=tv)
    square = graph.launch(program["square"], global_size=(40, 6), local_size=(8, 1), a=tv, y=ty,
                          tmp=8 * 4)
    assert [t.name for t in add.outputs] == [tv.name]
    assert [t.name for t in square.inputs] == [tv.name]
    graph.finalize()
    tx.write(x)
    result = graph.run()
    np.testing.assert_array_equal(ty.read(), (x + c) ** 2)
    assert [launch.name for launch in result.launches] == ["add", "square"]
    assert sum(launch.cycles for launch in result.launches) == result.cycles > 0
    assert set(graph.memory) == {"apart", "bound", "planned"}
    assert graph.memory["planned"] >= x.nbytes
    assert graph.memory_text and "<svg" in graph.memory_svg


def test_kernels_tell_about_themselves(context):
    program = vpusim.Program(context, CHAIN, name="chain.cl")
    kernel = program.kernel("square")
    assert kernel.name == "square"
    assert [a.name for a in kernel.arguments] == ["a", "y", "tmp"]
    assert kernel.arguments[0].type == "float*"
    assert [a.space for a in kernel.arguments] == [vpusim.Space.GLOBAL, vpusim.Space.GLOBAL,
                                                   vpusim.Space.LOCAL]
    assert kernel.vector_factor >= 1
    assert (kernel.vector_factor == 1) == (kernel.not_vectorized is not None)
    assert kernel.local_bytes == 0
    assert "square" in repr(kernel)
    with pytest.raises(AttributeError, match="add"):
        program.subtract  # noqa: B018
    with pytest.raises(vpusim.CompileError, match="square"):
        program["subtract"]


def test_tensors(context):
    graph = vpusim.Graph(context)
    deep = graph.tensor("input", (2, 3, 4, 5, 6, 7), "u8", name="deep")
    assert (deep.shape, deep.dtype, deep.nbytes) == ((2, 3, 4, 5, 6, 7), np.uint8, 5040)
    assert deep.role is vpusim.Role.INPUT and graph["deep"].name == "deep"
    assert graph.output("2x3:i16").dtype == np.int16
    assert graph.input(4).dtype == np.float16
    with pytest.raises(KeyError):
        graph["shallow"]
    with pytest.raises(vpusim.InvalidError, match="dimensions"):
        graph.input((1,) * 7)
    with pytest.raises(vpusim.InvalidError, match="'deep' already"):
        graph.input(1, name="deep")
    with pytest.raises(vpusim.InvalidError, match="astype"):
        graph.input(1, np.float64)
    with pytest.raises(vpusim.InvalidError, match="finalize"):
        deep.array


@pytest.mark.parametrize("dtype", ["f16", "f32", "i32", "u8", "i8", "i16", "u16", "i64"])
def test_all_element_types_come_through(context, dtype):
    source = "__kernel void copy(__global const T *x, __global T *y)" \
             "{ int i = get_global_id(0); y[i] = x[i]; }"
    names = {"f16": "half", "f32": "float", "i32": "int", "u8": "uchar", "i8": "char",
             "i16": "short", "u16": "ushort", "i64": "long"}
    program = vpusim.Program(context, source, build_options=[f"-DT={names[dtype]}"])
    graph = vpusim.Graph(context)
    x, y = graph.input(16, dtype), graph.output(16, dtype)
    graph.launch(program.kernel(), global_size=16, x=x, y=y)
    graph.finalize()
    given = (np.arange(16) * 7 % 100).astype(x.dtype)
    x.write(given)
    graph.run()
    np.testing.assert_array_equal(y.read(), given)


def test_arguments_of_the_wrong_kind(context, scaling):
    graph = vpusim.Graph(context)
    kernel = vpusim.Program(context, "__kernel void k(__global int *y, int n, float f, "
                                     "__local int *t) { y[0] = n + f; }").kernel()
    operation = graph.launch(kernel)
    with pytest.raises(vpusim.MismatchError, match="int"):
        operation.set(n=1.5)
    with pytest.raises(TypeError, match="list"):
        operation.set(n=[1])
    with pytest.raises(vpusim.InvalidError, match="64 bits"):
        operation.set(n=2**70)
    with pytest.raises(vpusim.InvalidError, match="n"):
        operation.set(n=2**40)
    with pytest.raises(vpusim.InvalidError, match="no argument|'m'|like"):
        operation.set(m=1)
    with pytest.raises(vpusim.InvalidError, match="graph"):
        operation.set(y=scaling.y)
    operation.set(n=np.int32(4), f=1)
    with pytest.raises(vpusim.InvalidError, match="dimensions"):
        graph.launch(kernel, global_size=(1, 1, 1, 1))


# --- numpy


def test_views_share_memory(scaling):
    view = scaling.x.array
    assert view.dtype == np.float32 and view.shape == (64,)
    view[:] = 5
    np.testing.assert_array_equal(scaling.x.read(), np.full(64, 5, np.float32))
    out = scaling.y.array
    assert np.shares_memory(out, scaling.y.array)
    scaling.graph.run()
    np.testing.assert_array_equal(out, np.full(64, 15, np.float32))
    copy = scaling.y.read()
    out[0] = -1
    assert copy[0] == 15


def test_views_keep_the_graph_alive(context, new_scaling):
    made = new_scaling(context)
    made.graph.run()
    view, handle = made.y.array, made.graph._handle
    before = sys.getrefcount(handle)
    another = made.y.array[3:]
    assert sys.getrefcount(handle) == before + 1
    del another
    gc.collect()
    assert sys.getrefcount(handle) == before
    made.graph.close()
    with pytest.raises(vpusim.ClosedError):
        made.y.array
    del made
    gc.collect()
    # By nothing but `handle`, the view, and the argument of getrefcount.
    assert sys.getrefcount(handle) == 3
    del handle
    np.testing.assert_array_equal(view, 3 * np.arange(64, dtype=np.float32))


def test_write_says_what_to_do(scaling):
    good = np.arange(64, dtype=np.float32)
    for wrong, words in [(good.astype(np.float64), r"astype\(numpy.float32\)"),
                         (good.astype(">f4"), "byte order"),
                         (good.reshape(8, 8), r"shape \(8, 8\), the tensor \(64,\)"),
                         (list(range(64)), "astype")]:
        with pytest.raises(vpusim.MismatchError, match=words):
            scaling.x.write(wrong)
    scaling.x.write(np.arange(128, dtype=np.float32)[::2])
    np.testing.assert_array_equal(scaling.x.read(), np.arange(0, 128, 2))
    with pytest.raises(vpusim.InvalidError, match="input"):
        scaling.y.write(good)


def test_files(scaling, tmp_path):
    np.save(tmp_path / "x.npy", np.ones(64, np.float32))
    scaling.x.fill(str(tmp_path / "x.npy"))
    scaling.graph.run()
    scaling.y.save(tmp_path / "y.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.full(64, 3, np.float32))


# --- results


def test_results(scaling, context):
    result = scaling.graph.run()
    assert result.cycles == result.json["cycles"] == result.counters["cycles"]
    assert result.seconds == pytest.approx(result.cycles / 700e6)
    assert len(result.counters) == len(list(result.counters)) > 20
    with pytest.raises(KeyError):
        result.counters["stages"]
    stalls = result.stalls
    stage = result.json["stages"][0]
    assert stalls == stage["shave_cycles_by_cause"]
    assert sum(stalls.values()) == stage["cycles"] * stage["shaves"]
    assert "kernel scale" in result.report
    assert str(result.cycles) in repr(result)
    with pytest.raises(vpusim.UnsupportedError, match="interpreted"):
        result.profile
    scaling.x.fill("zeros")
    scaling.graph.run()
    scaling.graph.close()
    context.close()
    assert result.json["cycles"] == result.cycles  # tells of its own run


def test_html_is_small_and_still(scaling):
    from html.parser import HTMLParser
    result = scaling.graph.run()
    made = result._repr_html_()
    seen = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: seen.append((tag, dict(attributes)))
    parser.feed(made)
    tags = {tag for tag, _ in seen}
    assert {"table", "svg", "rect"} <= tags
    assert not tags & {"script", "style", "link", "img", "iframe"}
    assert not any(name.startswith("on") or name in ("src", "href")
                   for _, attributes in seen for name in attributes)
    assert f"{result.cycles:,}" in made and len(made) < 20_000
    wide = sum(float(a["width"]) for tag, a in seen if tag == "rect" and a["height"] == "24")
    assert wide == pytest.approx(640, abs=0.1)


def test_html_is_capped():
    from vpusim import _html
    stages = [{"name": f"<s{i}>", "kernel": None, "cycles": 1} for i in range(1000)]
    made = _html.result({"stages": stages}, 1000, 1e-3)
    assert len(made) < 20_000 and "960 more" in made and "<s1>" not in made


def test_traces(scaling, tmp_path):
    names = {"trace": "t.pftrace", "trace_json": "t.json", "vcd": "t.vcd"}
    plain = scaling.graph.run()
    traced = scaling.graph.run(**{k: tmp_path / v for k, v in names.items()})
    assert traced.cycles == plain.cycles
    json.loads((tmp_path / "t.json").read_text())
    vpusim.picture(tmp_path / "t.pftrace", png=tmp_path / "t.png", svg=tmp_path / "t.svg",
                   width=400, dark=True)
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "t.svg").read_text()


def test_printf_and_warnings(tmp_path):
    printed = []
    source = '__kernel void k(__global int *y) { y[0] = 1; printf("hello %d\\n", 42); }'
    with vpusim.Context(print=printed.append) as context:
        graph = vpusim.Graph(context)
        graph.launch(vpusim.Program(context, source).kernel(), y=graph.output(1, "i32"))
        graph.finalize()
        graph.run()
    assert "".join(printed) == "hello 42\n"


def test_printf_goes_to_stdout(capsys):
    k = vpusim.kernel('__kernel void k(__global int *y) { y[0] = 1; printf("hello\\n"); }')
    k(vpusim.out(1, "i32"))
    assert capsys.readouterr().out == "hello\n"


def test_what_print_raises_comes_out():
    def refuse(text):
        raise LookupError(text)
    k = vpusim.kernel('__kernel void k(__global int *y) { y[0] = 1; printf("no\\n"); }',
                      print=refuse)
    with pytest.raises(LookupError, match="no"):
        k(vpusim.out(1, "i32"))


def test_warnings_name_the_callers_line():
    sink = vpusim.Context()._sink
    sink.notes.append((int(vpusim.LogLevel.WARNING), "beware"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sink.drain()
    assert caught[0].category is vpusim.VpuWarning and caught[0].filename == __file__


def test_notes_are_logged(caplog, root):
    caplog.set_level("INFO", "vpusim")
    context = vpusim.Context()
    context._sink.notes.append((int(vpusim.LogLevel.NOTE), "by the way"))
    context._sink.drain()
    assert "by the way" in caplog.text


# --- kinds of operations, views, shared memory


def test_operations_of_kinds(context):
    assert {"relu", "add", "scale"} <= set(context.kinds)
    a, b = np.arange(-8, 8, dtype=np.float32), np.ones(16, np.float32)
    graph = vpusim.Graph(context)
    x, y, out = graph.input(16, "f32"), graph.input(16, "f32"), graph.output(16, "f32")
    with graph.composed("head") as head:
        total = graph.add("add", x, y)
        scaled = graph.add("scale", *total.outputs, factor=3.0, offset=0.5)
    last = graph.add("relu", *scaled.outputs, outputs=[out])
    assert scaled.name.startswith("head/")
    graph.finalize()
    x.write(a)
    y.write(b)
    result = graph.run()
    np.testing.assert_array_equal(out.read(), np.maximum(3 * (a + b) + 0.5, 0))
    assert result.cycles_of(head) + result.cycles_of(last) == result.cycles
    assert result.cycles_of(total) > 0 and result.seconds_of(last) > 0
    with pytest.raises(vpusim.InvalidError, match="relu"):
        vpusim.Graph(context).add("rellu")


def test_views_are_parts(context):
    graph = vpusim.Graph(context)
    x, out = graph.input((2, 4), "f32"), graph.output((4, 4), "f32")
    parts = [graph.view(out, (2 * i, 0), (2, 4)) for i in range(2)]
    for part, factor in zip(parts, (2.0, 5.0)):
        graph.add("scale", x, outputs=[part], factor=factor, offset=0.0)
    assert parts[1].parent.name == out.name and out.parent is None
    with pytest.raises(vpusim.InvalidError):
        graph.view(out, (3, 0), (2, 4))
    graph.finalize()
    a = np.arange(8, dtype=np.float32).reshape(2, 4)
    x.write(a)
    graph.run()
    np.testing.assert_array_equal(out.read(), np.concatenate([2 * a, 5 * a]))


def test_shared_arrays(scaling):
    a, b = np.full(64, 2, np.float32), np.zeros(64, np.float32)
    scaling.x.share(a)
    scaling.y.share(b)
    result = scaling.graph.run()
    np.testing.assert_array_equal(b, np.full(64, 6, np.float32))
    assert result.copied_bytes == 512
    a[:] = 5
    scaling.graph.run()
    assert (b == 15).all() and np.shares_memory(scaling.y.array, b)
    counts = [sys.getrefcount(array) for array in (a, b)]
    scaling.x.share(None)
    scaling.y.share(None)
    assert [sys.getrefcount(array) for array in (a, b)] == [n - 1 for n in counts]


def test_a_view_keeps_a_shared_array(scaling):
    scaling.y.share(np.zeros(64, np.float32))
    scaling.graph.run()
    view = scaling.y.array
    scaling.y.share(None)
    scaling.graph.close()
    gc.collect()
    np.testing.assert_array_equal(view, 3 * np.arange(64, dtype=np.float32))


def test_what_cannot_be_shared(scaling):
    good = np.zeros(64, np.float32)
    frozen = good.copy()
    frozen.flags.writeable = False
    for tensor, array, words in [(scaling.x, np.zeros(128, np.float32)[::2], "contiguous"),
                                 (scaling.x, good.astype(np.float16), "astype"),
                                 (scaling.x, [0.0] * 64, "astype"),
                                 (scaling.y, frozen, "read-only")]:
        with pytest.raises(vpusim.MismatchError, match=words):
            tensor.share(array)
    scaling.x.share(frozen)


def test_layers_and_kernels_in_one_graph(context, root):
    halve = vpusim.Program(context, """__kernel void halve(__global const half *x, __global half *y)
        { int i = get_global_id(0); y[i] = x[i] * 0.5h; }""").kernel()
    graph, shape = vpusim.Graph(context), (1, 16, 4, 8)
    x, v, y = graph.input(shape), graph.virtual(shape), graph.output(shape)
    graph.launch(halve, global_size=512, x=x, y=v)
    path = root / "kernels/grn/layer.xml"
    layer = graph.layer(path, "GRN", inputs=[v], output=y, params={"bias": 1.0}, name="norm")
    assert layer.name == "norm" and [t.name for t in layer.outputs] == [y.name]
    with pytest.raises(vpusim.InvalidError, match="layer"):
        layer.set(bias=1.0)
    graph.finalize()
    given = np.random.default_rng(3).standard_normal(shape).astype(np.float16)
    x.write(given)
    graph.run()
    apart = vpusim.Layer(path, "GRN", params={"bias": 1.0}).run(given / np.float16(2))
    np.testing.assert_array_equal(y.read(), apart.output)
    with pytest.raises(vpusim.InvalidError, match="finalized"):
        graph.launch(halve)


def test_tensors_of_closed_graphs_are_refused(context, scaling):
    other = vpusim.Graph(context)
    foreign = other.input(64, "f32")
    with pytest.raises(vpusim.InvalidError, match="graph"):
        scaling.graph.add("relu", foreign)
    other.close()
    graph = vpusim.Graph(context)
    for use in (lambda: graph.add("relu", foreign), lambda: graph.view(foreign, (0,), (1,)),
                lambda: graph.layer("none.xml", inputs=[foreign]),
                lambda: graph.layer("none.xml", output=foreign),
                lambda: graph.add("relu", graph.input(64, "f32"), outputs=[foreign]),
                lambda: foreign.read(), lambda: foreign.share(None), lambda: foreign.parent):
        with pytest.raises(vpusim.ClosedError):
            use()


def test_plans_come_with_finalize(context):
    with pytest.raises(vpusim.InvalidError, match="finalize"):
        vpusim.Graph(context).memory_text


def test_objects_show_themselves(context, scaling):
    assert repr(scaling.x) == "<vpusim.Tensor input x 64 float32>"
    assert repr(scaling.operation) == "<vpusim.Operation scale>"
    assert repr(context) == "<vpusim.Context sim>"
    assert scaling.graph.can & vpusim.Capability.TRACE
    assert repr(scaling.graph.run().counters).startswith("<vpusim.Counters ")


def test_kinds_of_ones_own(context):
    context.register("blend", inputs=["x"], outputs=["y"], global_size="in0_0",
                     parameters={"n": "in0_0", "f": float, "offset": 0.5, "k": 2},
                     locals={"tmp": "4 * in0_0"}, local_size="in0_0", shapes=["in0_0"],
                     source="""__kernel void blend(__global const VPU_IN0 *x, __global VPU_IN0 *y,
                                                   int n, float f, float offset, int k,
                                                   __local float *tmp)
                     {
                         int i = get_global_id(0);
                         tmp[get_local_id(0)] = f * x[i] + offset;
                         y[n - 1 - i] = tmp[get_local_id(0)] * k;
                     }""")
    assert "blend" in context.kinds
    graph = vpusim.Graph(context)
    x = graph.input(8, "f32")
    y = graph.add("blend", x, output_role="output", f=3.0).outputs[0]
    graph.finalize()
    a = np.arange(8, dtype=np.float32)
    x.write(a)
    graph.run()
    np.testing.assert_array_equal(y.read(), ((3 * a + 0.5) * 2)[::-1])
    with pytest.raises(vpusim.InvalidError, match="f"):
        vpusim.Graph(context).add("blend", vpusim.Graph(context).input(8, "f32"))
    with pytest.raises(TypeError, match="sauce"):
        context.register("k", inputs=["x"], outputs=["y"], global_size="1", sauce="")
    for shapes in ([], ["1", "2"], "1"):
        with pytest.raises(vpusim.InvalidError):
            context.register("k", inputs=["x"], outputs=["y"], global_size="1", shapes=shapes)
