"""Tensors with padding, and parts of launches."""
import numpy as np
import pytest

import vpusim

SUM = """__kernel void sum(__global const int *in, __global int *out, int from, int row)
{
    int x = get_global_id(0), y = get_global_id(1), s = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            s += in[from + (y + j) * row + x + i];
    out[y * get_global_size(0) + x] = s;
}
"""


@pytest.mark.parametrize("border,mode", [("replicate", "edge"), (7, "constant")])
def test_borders_are_as_numpy_pads(context, border, mode):
    x = np.random.default_rng(3).integers(0, 1000, (6, 16), np.int32)
    graph = vpusim.Graph(context)
    given = graph.tensor("input", x.shape, np.int32, pad=[(1, 2), (1, 1)], border=border)
    made = graph.output(x.shape, np.int32)
    graph.launch(vpusim.Program(context, SUM).sum, global_size=(16, 6), **{"in": given.memory},
                 out=made, **{"from": given.offset // 4}, row=given.strides[0] // 4)
    given.write(x)
    graph.finalize()
    graph.run()
    wide = np.pad(x, 1, mode, **({"constant_values": border} if mode == "constant" else {}))
    wanted = sum(wide[j:j + 6, i:i + 16] for j in range(3) for i in range(3))
    np.testing.assert_array_equal(made.read(), wanted)
    np.testing.assert_array_equal(given.array, x)
    assert given.array.strides == given.strides == (72, 4)
    assert not given.packed and made.packed
    assert made.valid == (slice(0, 6), slice(0, 16))


def test_a_view_with_gaps_is_an_array(context):
    x = np.arange(24, dtype=np.int32).reshape(4, 6)
    graph = vpusim.Graph(context)
    whole, part = graph.input(x.shape, np.int32), graph.output((4, 2), np.int32)
    view = graph.view(whole, (0, 3), (4, 2))
    graph.add("copy", view, outputs=[part])
    with pytest.raises(vpusim.MismatchError, match="gaps or padding: in dim 0"):
        graph.add("relu", view)
    graph.finalize()
    whole.write(x)
    graph.run()
    np.testing.assert_array_equal(part.array, x[:, 3:5])
    np.testing.assert_array_equal(view.array, x[:, 3:5])


def test_parts_of_a_launch(context):
    mark = "__kernel void mark(__global int *out) { out[get_global_id(0)] += 1; }"
    graph = vpusim.Graph(context)
    out = graph.output((64,), np.int32)
    op = graph.launch(vpusim.Program(context, mark).mark, global_size=64, local_size=8, out=out)
    graph.finalize()
    assert op.window == ((0, 0, 0), (64, 1, 1), (8, 1, 1), 0, 1)
    for k in range(3):
        op.run_on(op.window.split(0, k, 3))
        graph.run()
    assert (out.read() == 1).all()
    op.run_on(op.window.split(0, 1, 4))
    graph.run()
    assert out.read().sum() == 64 + 16
    op.run_on(None)
    graph.run()
    assert out.read().sum() == 2 * 64 + 16
    with pytest.raises(vpusim.InvalidError, match="steps of 4"):
        op.run_on(op.window._replace(step=(4, 1, 1)))
