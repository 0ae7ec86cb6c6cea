#!/usr/bin/env python3
"""What @NAME@ should compute, in NumPy: golden/in0.npy and golden/out0.npy.

@NAME@.case compares the kernel with them. Change the layer's meaning here first,
then run `python3 reference.py`.
"""
import os

import numpy as np

SHAPE = (@DIMS@)  # batch, channels, rows, columns
SLOPE = @VALUE@


def layer(x, slope):
    """In float, as the kernel: NumPy would round each step to a half."""
    x = x.astype(np.float32)
    return np.where(x < 0, x * np.float32(slope), x).astype(np.float16)


def main():
    """The input is any that has all kinds of elements, and always the same."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
    i = np.arange(np.prod(SHAPE), dtype=np.int64)
    x = ((i * 7919 % 2003 - 1001) / 256).astype(np.float16).reshape(SHAPE)
    os.makedirs(folder, exist_ok=True)
    np.save(os.path.join(folder, "in0.npy"), x)
    np.save(os.path.join(folder, "out0.npy"), layer(x, SLOPE))


if __name__ == "__main__":
    main()
