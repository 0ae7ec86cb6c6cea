"""OpenCL custom layers on a simulated Myriad X VPU, from Python.

    import numpy, vpusim
    scale = vpusim.kernel("__kernel void scale(__global const float *x, __global float *y,"
                          " float f) { int i = get_global_id(0); y[i] = f * x[i]; }")
    x = numpy.arange(1024, dtype=numpy.float32)
    run = scale(x, vpusim.out(x.shape, x.dtype), 3.0)
    run.output, run.cycles

docs/python.md explains; every class here says more in its own text.
"""
from __future__ import annotations

from . import _cdef
from ._cdef import API_VERSION, Capability, Engine, LogLevel, Order, Role, Space, Status, Timing
from ._cdef import TraceLevel, TuneMode, Type
from ._errors import (ClosedError, CompileError, FaultError, ForkedError, InternalError,
                      InvalidError, IoError, LimitError, MismatchError, OutOfMemoryError,
                      ParseError, PluginError, StoppedError, UndefinedError, UnsupportedError,
                      UntestedError, VpuError, VpuWarning)
from ._library import library_path
from .compare import Comparison, Diff, diff
from .context import Context, Device, devices
from .findings import Finding, Findings
from .graph import Graph, Instances, Operation, Tensor, Window, run_split
from .layer import Function, Layer, LayerResult, kernel, out
from .program import Argument, Kernel, Program
from .results import Counters, Launch, Result
from .sweep import Choices, PointError, Range, Sweep
from .timeline import Timeline, picture

__version__ = _cdef.VERSION

__all__ = [
    "API_VERSION", "Argument", "Capability", "Choices", "ClosedError", "Comparison", "CompileError",
    "Context", "Counters", "Device", "Diff", "Engine", "FaultError", "Finding", "Findings",
    "ForkedError", "Function", "Graph", "Instances", "InternalError", "InvalidError", "IoError", "Kernel",
    "Launch", "Layer", "LayerResult", "LimitError", "LogLevel", "MismatchError", "Operation",
    "Order", "OutOfMemoryError", "ParseError", "PluginError", "PointError", "Program", "Range", "Result", "Role", "Space",
    "Status", "StoppedError", "Sweep", "Tensor", "Timeline", "Timing", "TraceLevel",
    "TuneMode", "Type", "UndefinedError",
    "UnsupportedError", "UntestedError", "VpuError", "VpuWarning", "Window", "devices", "diff", "kernel",
    "library_path", "out", "picture", "run_split",
]
