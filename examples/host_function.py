# A function of Python between two kernels, in clones for two threads; and a graph at several shapes.
import threading

import numpy as np
import vpusim

context = vpusim.Context()
graph = vpusim.Graph(context)
x, ordered = graph.input(64, "f32", "x"), graph.virtual(64, "f32")
relu = graph.add("relu", x)
sort = graph.host(lambda a, b: np.copyto(b, np.sort(a)), relu.outputs, [ordered], name="sort")
graph.add("scale", ordered, output_role="output", name="y", factor=2.0)
graph.finalize()

given = np.random.default_rng(1).standard_normal((2, 64)).astype(np.float32)
x.write(given[0])
run = graph.run()
print(f"{run.cycles} cycles, and {run.seconds_of(sort) * 1e6:.0f} us in Python")

instances = graph.instances(2)


def work(row):
    with instances.take() as mine:
        mine["x"].write(row)
        mine.run()
        np.testing.assert_array_equal(mine["y"].read(), 2 * np.sort(np.maximum(row, 0)))


threads = [threading.Thread(target=work, args=(row,)) for row in given]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

# Made at the largest shape, run at others in the same memory.
graph = vpusim.Graph(context)
x = graph.input((8, 256), "f16")
y = graph.add("softmax", x, output_role="output").outputs[0]
graph.finalize()
for items in (8, 4, 2):
    graph.resize({x: (items, 256)})
    x.fill("random:1")
    run = graph.run()
    assert y.shape == (items, 256)
    np.testing.assert_allclose(y.read().astype(np.float32).sum(axis=1), 1, atol=0.02)
    print(f"{items}x256: {run.cycles} cycles")
