# Two threads, each with a graph of its own in one context: cycles depend on neither.
import threading

import numpy as np
import vpusim

context = vpusim.Context()
cycles = {}


def work(name, factor):
    layer = vpusim.Layer("leaky_relu.xml", params={"slope": factor}, context=context)
    x = np.full((1, 8, 32, 32), -1, np.float16)
    for _ in range(20):
        run = layer.run(x)
        assert (run.output == np.float16(-factor)).all()
    cycles[name] = run.cycles


threads = [threading.Thread(target=work, args=(f"slope {f}", f)) for f in (0.25, 0.5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(cycles)
assert len(set(cycles.values())) == 1
