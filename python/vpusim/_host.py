"""Functions of Python as operations of a graph.

The library calls one on the thread that called it. What the function raises is kept for that
thread, since nothing may pass through C, and is raised when the library has returned.
"""
from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from ._cdef import Status
from ._errors import InvalidError, VpuError
from ._handle import Handle
from ._library import ffi

Element = Tuple[Tuple[int, ...], "np.dtype[Any]"]  # shape and dtype of a tensor


class _State(threading.local):
    """Of a thread."""

    def __init__(self) -> None:
        self.handles: List[Handle] = []  #: of graphs that run, the innermost last
        self.raised: Optional[BaseException] = None


_state = _State()


class _Place:
    """A tensor's memory for numpy; arrays hold it, and it the graph."""

    def __init__(self, pointer: Any, element: Element, read_only: bool) -> None:
        self.handle = _state.handles[-1]
        shape, dtype = element
        self.__array_interface__ = {
            "version": 3, "data": (int(ffi.cast("uintptr_t", pointer)), read_only),
            "shape": shape, "typestr": dtype.str}


class Host:
    """A function with what it needs to be called."""

    def __init__(self, function: Callable[..., Any], inputs: Sequence[Element],
                 outputs: Sequence[Element]) -> None:
        if not callable(function):
            raise TypeError(f"a function is needed, not {type(function).__name__}")
        self.function = function
        self.inputs = inputs
        self.outputs = outputs
        self.name = "host"
        self.me = ffi.new_handle(self)

    def call(self, inputs: Any, outputs: Any) -> None:
        """Once, in a run."""
        given = [np.asarray(_Place(inputs[i], e, True)) for i, e in enumerate(self.inputs)]
        made = [np.asarray(_Place(outputs[i], e, False)) for i, e in enumerate(self.outputs)]
        value = self.function(*given, *made)
        if value is not None and not any(value is array for array in made):
            raise TypeError(f"the function writes its outputs and returns nothing, but it returned "
                            f"{type(value).__name__}: y[...] = x in place of return x")


def _on_call(user: Any, inputs: Any, outputs: Any, error: Any) -> int:
    host = ffi.from_handle(user)
    try:
        host.call(inputs, outputs)
    except BaseException as raised:
        _add_note(raised, f"in the operation {host.name}")
        raise
    return 0


def _add_note(raised: BaseException, note: str) -> None:
    """As of Python 3.11, for older ones, too."""
    with contextlib.suppress(AttributeError, TypeError):
        notes = getattr(raised, "__notes__", [])
        if note not in notes:
            raised.__notes__ = [*notes, note]  # type: ignore[attr-defined]


def _on_error(_: Any, raised: BaseException, __: Any) -> None:
    _state.raised = raised


callback = ffi.callback("vpu_status(void *, const void *const *, void *const *, vpu_error *)",
                        _on_call, error=int(Status.STOPPED), onerror=_on_error)


def run(handle: Handle, work: Callable[[], None]) -> None:
    """A run of a graph with functions, on this thread; raises what they raise."""
    handles = _state.handles
    n = len(handles)
    _state.raised = None
    try:
        handles.append(handle)
        work()
        return
    except VpuError:
        if _state.raised is None:
            raise
    finally:
        del handles[n:]  # no call comes before it, and so no KeyboardInterrupt
    raised, _state.raised = _state.raised, None
    raise raised


def refuse(handle: Handle) -> None:
    """Graphs are not used by their own functions."""
    if handle in _state.handles:
        raise InvalidError("a function of the host must not use the graph that it is in: it gets "
                           "its tensors as arrays")
