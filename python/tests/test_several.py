"""Graphs at other shapes, clones, instances, one graph on several devices."""
import gc
import os
import signal
import threading
import time
import weakref

import numpy as np
import pytest

import vpusim

RNG = np.random.default_rng(21)


class Wide:
    """y = tanh(relu(x)), of kinds, so that it follows shapes."""

    def __init__(self, context, shape=(8, 64)):
        self.graph = graph = vpusim.Graph(context)
        self.x = graph.input(shape, "f32", "x")
        relu = graph.add("relu", self.x)
        self.v = relu.outputs[0]
        self.y = graph.add("tanh", self.v, output_role="output", name="y").outputs[0]


def wanted(x):
    return np.tanh(np.maximum(x, 0))


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.fixture
def wide(context):
    made = Wide(context)
    made.graph.finalize()
    return made


def test_other_shapes(wide, context):
    full = floats(8, 64)
    wide.x.write(full)
    first = wide.graph.run()
    before = wide.y.array
    for rows, key in ((6, wide.x), (1, "x"), (8, wide.x)):
        assert wide.graph.resize({key: (rows, 64)}) is wide.graph
        assert wide.x.shape == wide.y.shape == wide.v.shape == (rows, 64)
        assert wide.x.nbytes == rows * 256 and wide.y.strides == (256, 4)
        with pytest.raises(vpusim.InvalidError):
            wide.graph.run()  # the input is to be written
        x = floats(rows, 64)
        wide.x.write(x)
        result = wide.graph.run()
        np.testing.assert_allclose(wide.y.read(), wanted(x), atol=1e-5)
        np.testing.assert_array_equal(wide.y.array, wide.y.read())
        assert wide.y.array.shape == (rows, 64)
        again = Wide(context, (rows, 64))
        again.graph.finalize()
        again.x.write(x)
        same = again.graph.run()  # but for where the tensors are in the memory
        np.testing.assert_array_equal(again.y.read(), wide.y.read())
        assert same.cycles == pytest.approx(result.cycles, rel=0.1)
    assert first.cycles == result.cycles
    assert before.shape == (8, 64) and np.shares_memory(before, wide.y.array)


def test_strides_follow(wide):
    wide.graph.resize({wide.x: (4, 32)})
    x = floats(4, 32)
    wide.x.array[...] = x
    wide.x.write(x)
    wide.graph.run()
    assert wide.y.strides == (128, 4) == wide.y.array.strides
    np.testing.assert_allclose(wide.y.array, wanted(x), atol=1e-5)


def test_shared_arrays_have_the_largest_shape(wide):
    x, y = floats(8, 64), np.zeros((8, 64), np.float32)
    wide.x.share(x)
    wide.y.share(y)
    wide.graph.resize({"x": (4, 64)})
    with pytest.raises(vpusim.MismatchError, match="bytes"):
        wide.y.share(np.zeros((4, 64), np.float32))
    again = floats(4, 64)
    wide.x.array[...] = again
    wide.graph.run()
    np.testing.assert_array_equal(x[:4], again)
    np.testing.assert_allclose(y[:4], wanted(again), atol=1e-5)
    assert wide.y.array.shape == (4, 64) and np.shares_memory(wide.y.array, y)


def test_shapes_that_cannot_be(wide, scaling, context):
    with pytest.raises(vpusim.LimitError, match="x"):
        wide.graph.resize({wide.x: (9, 64)})
    with pytest.raises(vpusim.MismatchError, match="dims"):
        wide.graph.resize({wide.x: (8, 8, 8)})
    with pytest.raises(vpusim.InvalidError, match="input"):
        wide.graph.resize({wide.y: (4, 64)})
    with pytest.raises(vpusim.InvalidError, match="graph"):
        wide.graph.resize({scaling.x: 4})
    with pytest.raises(vpusim.UnsupportedError, match="scale"):
        scaling.graph.resize({scaling.x: 32})
    with pytest.raises(KeyError, match="z"):
        wide.graph.resize({"z": 4})
    with pytest.raises(vpusim.InvalidError, match="finalize"):
        vpusim.Graph(context).resize({})
    for shape in ((), (1,) * 7):
        with pytest.raises(vpusim.InvalidError, match="1 to 6"):
            wide.graph.resize({wide.x: shape})
    assert wide.x.shape == (8, 64)
    wide.x.write(floats(8, 64))
    wide.graph.run()


def test_shapes_stay_when_the_graph_goes(wide):
    wide.graph.resize({"x": (2, 64)})
    wide.x.write(floats(2, 64))
    assert wide.x.shape == (2, 64)
    wide.graph.close()
    assert wide.x.shape == (2, 64) and "2x64" in repr(wide.x)


# --- clones


def test_clones_have_memory_of_their_own(wide):
    clone = wide.graph.clone()
    clone.finalize()
    a, b = floats(8, 64), floats(8, 64)
    wide.x.write(a)
    clone["x"].write(b)
    cycles = wide.graph.run().cycles
    assert clone.run().cycles == cycles
    np.testing.assert_allclose(wide.y.read(), wanted(a), atol=1e-5)
    np.testing.assert_allclose(clone["y"].read(), wanted(b), atol=1e-5)
    assert [o.name for o in clone.operations] == [o.name for o in wide.graph.operations]
    with pytest.raises(vpusim.InvalidError):
        clone.input(4)


def test_a_clone_keeps_what_it_needs(context):
    made = Wide(context)
    made.graph.finalize()
    gone = weakref.ref(made.graph._handle)
    clone = made.graph.clone().finalize()
    made.graph.close()
    context.close()
    del made
    gc.collect()
    x = floats(8, 64)
    clone["x"].write(x)
    clone.run()
    np.testing.assert_allclose(clone["y"].read(), wanted(x), atol=1e-5)
    del clone
    gc.collect()
    assert gone() is None


def test_clones_in_other_contexts(wide):
    x = floats(8, 64)
    wide.x.write(x)
    with vpusim.Context(shaves=1) as narrow:
        clone = wide.graph.clone(narrow).finalize()
        assert clone.context is narrow
        clone["x"].write(x)
        assert clone.run().cycles >= wide.graph.run().cycles
    np.testing.assert_array_equal(clone["y"].read(), wide.y.read())


# --- instances


def test_threads_take_instances(wide):
    wrong, most, lock, busy = [], [0], threading.Lock(), [0]
    with wide.graph.instances(3) as instances:
        assert len(instances) == 3

        def work(seed):
            x = np.random.default_rng(seed).standard_normal((8, 64)).astype(np.float32)
            for _ in range(5):
                with instances.take() as graph:
                    with lock:
                        busy[0] += 1
                        most[0] = max(most[0], busy[0])
                    graph["x"].write(x)
                    graph.run()
                    if not np.allclose(graph["y"].read(), wanted(x), atol=1e-5):
                        wrong.append(seed)
                    with lock:
                        busy[0] -= 1

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong and 1 <= most[0] <= 3
        assert "taken 0" in repr(instances)


def test_instances_are_given_back(wide):
    instances = wide.graph.instances(2)
    a, b = instances.acquire(), instances.acquire(wait=False)
    assert a is not b and a is not wide.graph
    with pytest.raises(vpusim.LimitError, match="all 2"):
        instances.acquire(wait=False)
    with pytest.raises(vpusim.InvalidError, match="none of"):
        instances.release(wide.graph)
    instances.release(a)
    with pytest.raises(vpusim.InvalidError, match="not taken"):
        instances.release(a)
    with pytest.raises(RuntimeError):
        with instances.take() as graph:
            assert graph is a
            raise RuntimeError
    assert instances.acquire(wait=False) is a
    with pytest.raises(vpusim.InvalidError, match="0 instances"):
        wide.graph.instances(0)


def test_closed_instances(wide):
    instances = wide.graph.instances(1)
    graph = instances.acquire()
    ended = []

    def wait():
        with pytest.raises(vpusim.ClosedError):
            instances.acquire()
        ended.append(1)

    threads = [threading.Thread(target=wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    instances.close()
    for thread in threads:
        thread.join(10)
    assert ended == [1, 1] and not graph.closed
    instances.release(graph)
    assert graph.closed


def interrupt_after(seconds):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_ctrl_c_ends_the_wait_for_an_instance(wide):
    instances = wide.graph.instances(1)
    with instances.take():
        interrupt_after(0.2)
        with pytest.raises(KeyboardInterrupt):
            instances.acquire()
    assert instances.acquire(wait=False)


# --- several devices


@pytest.mark.parametrize("dimension", [None, 0])
def test_one_graph_on_two_devices(new_scaling, dimension):
    alone = new_scaling(vpusim.Context(), 4096)
    whole = alone.graph.run()
    made = [new_scaling(vpusim.Context(), 4096) for _ in range(2)]
    x = floats(4096)
    made[0].x.write(x)
    results = vpusim.run_split([m.graph for m in made], dimension)
    assert len(results) == 2
    for m, result in zip(made, results):
        np.testing.assert_array_equal(m.y.read(), np.float32(3) * x)
        assert 0 < result.cycles < whole.cycles and result.graph is m.graph


def test_splits_that_cannot_be(new_scaling, context):
    a, b = new_scaling(context), new_scaling(context, 128)
    with pytest.raises(vpusim.MismatchError, match="differs"):
        vpusim.run_split([a.graph, b.graph])
    with pytest.raises(vpusim.InvalidError, match="are one"):
        vpusim.run_split([a.graph, a.graph])
    with pytest.raises(vpusim.InvalidError):
        vpusim.run_split([a.graph], 3)
    with pytest.raises(vpusim.InvalidError, match="no graph"):
        vpusim.run_split([])


def test_threads_split_the_same_graphs(new_scaling):
    """In either order: none waits for the other forever."""
    graphs = [new_scaling(vpusim.Context(), 512).graph for _ in range(2)]
    done = []

    def work(order):
        for _ in range(10):
            vpusim.run_split(order)
        done.append(1)

    graphs[1]["x"].write(graphs[0]["x"].read())
    threads = [threading.Thread(target=work, args=(order,), daemon=True)
               for order in (graphs, graphs[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert done == [1, 1]


def test_ctrl_c_ends_a_split(endless, new_scaling):
    other = endless.clone().finalize()
    for _ in range(2):
        interrupt_after(0.3)
        with pytest.raises(KeyboardInterrupt):
            vpusim.run_split([endless, other])
    endless.inputs[0].write(np.ones(1, np.int32))
    assert vpusim.run_split([endless, other])[0].cycles > 0
