import os
import numpy as np

os.makedirs("golden", exist_ok=True)
x = (np.arange(3 * 4 * 16) / 16).astype(np.float16).reshape(1, 3, 4, 16)
np.save("golden/in0.npy", x)
np.save("golden/out0.npy", (x.astype(np.float32) * 2 + 0.5).astype(np.float16))
