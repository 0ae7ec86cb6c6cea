"""Contexts: where things run; and the devices that there are."""
from __future__ import annotations

import collections
import logging
import os
import sys
import warnings
from typing import Any, Callable, Deque, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _options
from ._cdef import Capability, LogLevel
from ._errors import InvalidError, VpuWarning
from ._handle import Guard, Handle, Object, call
from ._library import ffi, lib, text

_logger = logging.getLogger("vpusim")


class Device(NamedTuple):
    """Something that can run graphs, or the reason why it cannot."""

    id: str  #: for `Context(backend=...)`
    name: str
    why_not: Optional[str]  #: None: it is usable

    @property
    def usable(self) -> bool:
        """Whether it can be used now."""
        return self.why_not is None


def devices() -> List[Device]:
    """Looks for whatever can run graphs now: the simulator, OpenCL devices, sticks."""
    out = ffi.new("vpu_devices **")
    call(Guard(), lib.vpu_devices_create, out)
    try:
        return [Device(text(lib.vpu_devices_id(out[0], i)), text(lib.vpu_devices_name(out[0], i)),
                       text(lib.vpu_devices_why_not(out[0], i)) or None)
                for i in range(lib.vpu_devices_count(out[0]))]
    finally:
        lib.vpu_devices_free(out[0])


def _text(value: str, name: str, keep: List[Any]) -> Any:
    """A text that lives as long as `keep`."""
    keep.append(ffi.new("char[]", _options.encode(value, name)))
    return keep[-1]


def _parameters(parameters: Mapping[str, Any], keep: List[Any]) -> Any:
    """Parameters of a kind: a type asks for a value, a number is the default, a text the value."""
    made = ffi.new("vpu_parameter[]", len(parameters))
    keep.append(made)
    for each, (name, value) in zip(made, parameters.items()):
        each.name = _text(name, "parameters", keep)
        if isinstance(value, str):
            each.expression = _text(value, name, keep)
        elif value not in (int, float):
            each.is_real, each.optional = isinstance(value, float), 1
            each.preset = value
        else:
            each.is_real = value is float
    return made


def _locals(sizes: Mapping[str, str], keep: List[Any]) -> Any:
    """Local memory of a kind."""
    made = ffi.new("vpu_local[]", len(sizes))
    keep.append(made)
    for each, (name, size) in zip(made, sizes.items()):
        each.argument = _text(name, "locals", keep)
        each.bytes = _text(str(size), name, keep)
    return made


def _print(printed: str) -> None:
    sys.stdout.write(printed)


class Sink:
    """Receives what the library tells; lives as long as objects of the context."""

    def __init__(self, printer: Callable[[str], Any]) -> None:
        self.printer = printer
        self.notes: Deque[Tuple[int, str]] = collections.deque()
        self.errors: Deque[BaseException] = collections.deque()
        self.me = ffi.new_handle(self)

    def drain(self) -> None:
        """Passes on what came during a call; raises what the print callable raised."""
        while self.notes:
            level, note = self.notes.popleft()
            if level == LogLevel.WARNING:
                warnings.warn(note, VpuWarning, stacklevel=_callers_level())
            else:
                _logger.info("%s", note)
        if self.errors:
            error = self.errors.popleft()
            self.errors.clear()
            raise error


def _callers_level() -> int:
    """Of warnings.warn: the first frame outside of this package."""
    level, frame = 1, sys._getframe(2)
    while frame and frame.f_globals.get("__name__", "").split(".")[0] == "vpusim":
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level + 1


def _on_log(user: Any, level: int, note: Any) -> None:
    ffi.from_handle(user).notes.append((level, text(note)))


def _on_print(user: Any, printed: Any, n: int) -> None:
    sink = ffi.from_handle(user)
    try:
        sink.printer(ffi.unpack(printed, n).decode("utf-8", "replace"))
    except BaseException as error:  # nothing may pass through C
        sink.errors.append(error)


_log_callback = ffi.callback("void(void *, vpu_log_level, const char *)", _on_log)
_print_callback = ffi.callback("void(void *, const char *, size_t)", _on_print)


class Context(Object):
    """Where graphs run.

    Keywords are the members of `vpu_context_options`: `shaves`, `threads`, `engine`
    ("interpreted"), `timing`, `order`, `seed`, `max_cycles`, `timeout`, `settings` (a dict),
    `build_options` (a list), `source_dir`, `machine`, `no_cache` and so on. `print` gets what
    kernels print, as text; without it that goes to sys.stdout. Warnings of the library become
    Python's, notes go to the logger "vpusim".
    """

    def __init__(self, backend: str = "sim", *, print: Optional[Callable[[str], Any]] = None,
                 **options: Any) -> None:
        for taken in ("log", "user"):
            if taken in options:
                raise TypeError(f"no option {taken!r}: warnings and logging have what it would get")
        self._sink = Sink(print or _print)
        made, keep = _options.fill("vpu_context_options", backend=backend, **options)
        made.log, made.print, made.user = _log_callback, _print_callback, self._sink.me
        out, guard = ffi.new("vpu_context **"), Guard()
        call(guard, lib.vpu_context_create, out, made)
        del keep
        self._handle = Handle(out[0], lib.vpu_context_free, guard, self._sink)
        self._sink.drain()

    @property
    def backend(self) -> str:
        """The id that it was made with."""
        return text(lib.vpu_context_backend(self._use().pointer))

    @property
    def capabilities(self) -> Capability:
        """What the backend can."""
        return Capability(lib.vpu_context_capabilities(self._use().pointer))

    @property
    def kinds(self) -> List[str]:
        """Kinds of operations that `Graph.add` knows, those of the library first."""
        handle = self._use()
        found: List[str] = []
        with handle.guard.lock:
            while True:
                name = text(lib.vpu_context_kind(handle.pointer, len(found)))
                if not name:
                    return found
                found.append(name)

    def register(self, name: str, *, inputs: Sequence[str], outputs: Sequence[str],
                 global_size: str, local_size: Optional[str] = None,
                 shapes: Sequence[str] = (), parameters: Optional[Mapping[str, Any]] = None,
                 locals: Optional[Mapping[str, str]] = None, **options: Any) -> None:
        """A kind of operation for `Graph.add`: a kernel whose shapes and sizes are expressions.

        `parameters`, in the order of the kernel's arguments: {"n": int} and {"f": float} ask for a
        value, {"f": 0.1} has a default, {"n": "in0_1"} is an expression. `locals` has the bytes of
        arguments in local memory, `shapes` a list of dims for each output; without it they are
        as input 0. Further keywords: `source` or `file`, `kernel`, `build_options`.
        docs/library.md explains.
        """
        if isinstance(shapes, str) or len(shapes) not in (0, len(outputs)):
            raise InvalidError(f"shapes must be a list with a text for each of {len(outputs)} "
                               "outputs")
        made, keep = _options.fill("vpu_kind", name=name, inputs=list(inputs),
                                   outputs=list(outputs), shapes=list(shapes) or None,
                                   local=local_size,
                                   **{"global": global_size}, **options)
        made.parameters = _parameters(parameters or {}, keep)
        made.n_parameters = len(parameters or {})
        made.locals, made.n_locals = _locals(locals or {}, keep), len(locals or {})
        handle = self._use()
        call(handle.guard, lib.vpu_context_register, handle.pointer, made)
        self._sink.drain()

    def register_layers(self, path: Union[str, "os.PathLike[str]", None] = None) -> None:
        """Layer types of a binding file, or of all in a folder, become kinds for `Graph.add`,
        which takes their inputs and their parameters as values. None: the samples that were
        installed with the library (GRN, MVN, Reorg and so on)."""
        handle = self._use()
        where = ffi.NULL if path is None else _options.encode(path, "path")
        call(handle.guard, lib.vpu_context_register_layers, handle.pointer, where)
        self._sink.drain()

    def __repr__(self) -> str:
        return "<vpusim.Context closed>" if self.closed else f"<vpusim.Context {self.backend}>"
