# The timeline of a run as pictures, and as a trace for `vpu view` or ui.perfetto.dev:
# files run.png, run.svg and run.pftrace in the current folder.
import os

import numpy as np
import vpusim

layer = vpusim.Layer("leaky_relu.xml", params={"slope": 0.1})
run = layer.run(np.ones((1, 8, 64, 64), np.float16))
for name in ("run.png", "run.svg", "run.pftrace"):
    run.timeline.save(name)
    print(f"{name}: {os.path.getsize(name)} bytes")
