"""Graphs: tensors and operations, run as one."""
from __future__ import annotations

import contextlib
import queue
import operator
import os
from typing import (Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence,
                    Tuple, Union)

import numpy as np

from . import _host, _options
from ._cdef import MAX_RANK, Capability, Role, Space, TraceLevel, TuneMode, Type
from ._errors import ClosedError, InvalidError, LimitError, MismatchError, StoppedError
from ._handle import Handle, Guard, Object, call
from ._library import ffi, lib, text
from ._run import PAUSE, Pace, interruptible
from .context import Context
from .program import Argument, Kernel
from .results import Result
from .findings import Findings

Shape = Union[int, Sequence[int]]
PathLike = Union[str, "os.PathLike[str]"]

_DTYPES: Dict[int, Any] = {
    Type.F16: np.float16, Type.F32: np.float32, Type.I32: np.int32, Type.U8: np.uint8,
    Type.I8: np.int8, Type.I16: np.int16, Type.U16: np.uint16, Type.I64: np.int64,
}
_TYPES: Dict[Any, int] = {np.dtype(d): int(t) for t, d in _DTYPES.items()}
_NAMES: Dict[str, Any] = {t.name.lower(): np.dtype(_DTYPES[t]) for t in Type}
_REALS = ("half", "float")


def dtype_of(value: Any) -> np.dtype[Any]:
    """The dtype that a word ("f16"), or whatever numpy takes for one, means."""
    named = _NAMES.get(value) if isinstance(value, str) else None
    dtype: np.dtype[Any] = np.dtype(value) if named is None else named
    if dtype.newbyteorder("=") not in _TYPES:
        known = ", ".join(d.name for d in _TYPES)
        raise InvalidError(f"a tensor cannot have elements of {dtype}; there are {known}: "
                           "convert the array with .astype(...)")
    native: np.dtype[Any] = dtype.newbyteorder("=")
    return native


class _Memory:
    """The memory of a tensor, for numpy: it holds the graph's handle, arrays hold it."""

    def __init__(self, handle: Handle, shared: Any, address: int, tensor: "Tensor") -> None:
        self.handle = handle
        self.shared = shared
        self.__array_interface__ = {"version": 3, "data": (address, False), "shape": tensor.shape,
                                    "strides": tensor.strides, "typestr": tensor.dtype.str}


class Tensor:
    """A graph's input, output, constant, or what lies between; made by the graph.

    Shape, strides and bytes follow `Graph.resize`.
    """

    def __init__(self, graph: "Graph", pointer: Any) -> None:
        self.graph = graph
        self._pointer = pointer
        self.name = text(lib.vpu_tensor_name(pointer))
        self.role = Role(lib.vpu_tensor_role(pointer))
        self.dtype: np.dtype[Any] = np.dtype(_DTYPES[lib.vpu_tensor_type(pointer)])
        self._measure()

    def _measure(self) -> None:
        """Looks at the shape that it has now."""
        pointer, at = self._pointer, self.graph._resizes
        self._shape: Tuple[int, ...] = tuple(lib.vpu_tensor_dim(pointer, i)
                                             for i in range(lib.vpu_tensor_rank(pointer)))
        self._nbytes = int(lib.vpu_tensor_bytes(pointer))
        self._strides: Tuple[int, ...] = tuple(lib.vpu_tensor_stride(pointer, i)
                                               for i in range(len(self._shape)))
        self._at = at  # for other threads only now

    def _follow(self) -> "Tensor":
        """After a resize, while the graph is there, the shape is looked at anew."""
        graph = self.graph
        if self._at != graph._resizes and not graph.closed:
            with Object._use(graph).guard.lock:  # also in a function of the graph's own
                self._measure()
        return self

    @property
    def shape(self) -> Tuple[int, ...]:
        """Dims, outermost first."""
        return self._follow()._shape

    @property
    def nbytes(self) -> int:
        """Bytes of its elements alone, packed."""
        return self._follow()._nbytes

    @property
    def strides(self) -> Tuple[int, ...]:
        """Bytes from one element of each dim to the next."""
        return self._follow()._strides

    @property
    def offset(self) -> int:
        """Bytes from the beginning of its memory to the first element."""
        return int(lib.vpu_tensor_offset(self._pointer))

    @property
    def memory(self) -> "TensorMemory":
        """For an argument of a kernel that knows where elements are: all of the tensor's memory,
        padding with it. They begin `offset` bytes behind it, `strides` apart."""
        return TensorMemory(self)

    @property
    def packed(self) -> bool:
        """Whether the elements are in one piece of memory, as most kernels want them."""
        return bool(lib.vpu_tensor_is_packed(self._pointer))

    @property
    def valid(self) -> Tuple[slice, ...]:
        """The elements that mean something: `x.array[x.valid]` has them alone."""
        handle, region = self.graph._use(), ffi.new("vpu_region *")
        call(handle.guard, lib.vpu_tensor_valid, self._pointer, region)
        return tuple(slice(int(region.start[i]), int(region.end[i]))
                     for i in range(len(self.shape)))

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """An array on the tensor's own memory: nothing is copied.

        It is there for inputs and outputs of a finalized graph. It keeps the memory alive, also
        beyond the graph's `close`; every run changes an output's. After `Graph.resize` it is to be
        asked for again: arrays from before have their old shape, on memory whose elements lie
        as the new one says.
        """
        handle = self.graph._use()
        with handle.guard.lock:
            address = lib.vpu_tensor_data(self._pointer)
            self._follow()
        if not address:
            raise InvalidError(f"the tensor {self.name} ({self.role.name.lower()}) has no memory "
                               "to look at: inputs and outputs have, after graph.finalize()")
        return np.asarray(_Memory(handle, tuple(self.graph._shared.values()), int(ffi.cast("uintptr_t", address)),
                                  self))

    def check(self, array: Any) -> np.ndarray[Any, Any]:
        """The contents as a packed array; refuses another dtype, byte order or shape."""
        given = np.asarray(array)
        if given.dtype != self.dtype:
            if given.dtype.newbyteorder("=") == self.dtype:
                advice = "has the other byte order: pass x.astype(x.dtype.newbyteorder('='))"
            else:
                advice = (f"has elements of {given.dtype}, the tensor of {self.dtype}: pass "
                          f"x.astype(numpy.{self.dtype})")
            raise MismatchError(f"{self.name}: the array {advice}")
        if given.shape != self.shape:
            raise MismatchError(f"{self.name}: the array has shape {given.shape}, the tensor "
                                f"{self.shape}: reshape it, or make a tensor of that shape")
        return np.ascontiguousarray(given).reshape(self.shape)

    def write(self, array: Any) -> None:
        """Sets an input's contents for the runs that follow; the array is copied."""
        packed = self.check(array)
        handle = self.graph._use()
        call(handle.guard, lib.vpu_tensor_write, self._pointer,
             ffi.cast("void *", packed.ctypes.data), packed.nbytes)

    def fill(self, spec: str) -> None:
        """Sets an input's contents: "zeros", "ramp", "random:SEED", a file "NAME.npy",
        "NAME.npz:ARRAY", or a picture "NAME.png:mean=104,117,123,scale=58" (docs/inputs.md)."""
        handle = self.graph._use()
        call(handle.guard, lib.vpu_tensor_fill, self._pointer, _options.encode(spec, "spec"))

    def read(self) -> np.ndarray[Any, Any]:
        """A copy of the contents of an output after a run, or of an input."""
        handle = self.graph._use()
        made = np.empty(self.shape, self.dtype)
        call(handle.guard, lib.vpu_tensor_read, self._pointer,
             ffi.cast("void *", made.ctypes.data), made.nbytes)
        return made

    def share(self, array: Optional[np.ndarray[Any, Any]]) -> None:
        """From now on the contents of this input or output are those of the array itself.

        The array must fit exactly: nothing is converted or packed. The graph keeps it alive, until
        another is shared, or None for none.
        """
        handle = self.graph._use()
        address, nbytes = ffi.NULL, 0
        if array is not None:
            if self.check(array) is not array and not (isinstance(array, np.ndarray)
                                                       and array.flags.c_contiguous):
                raise MismatchError(f"{self.name}: memory that is shared must be contiguous: pass "
                                    "numpy.ascontiguousarray(x), and use that array then")
            if self.role != Role.INPUT and not array.flags.writeable:
                raise MismatchError(f"{self.name}: the array is read-only, a run writes it")
            address, nbytes = ffi.cast("void *", array.ctypes.data), array.nbytes
        with handle.guard.lock:
            call(handle.guard, lib.vpu_tensor_import, self._pointer, address, nbytes)
            self.graph._shared.pop(self.name, None)
            if array is not None:
                self.graph._shared[self.name] = array

    @property
    def parent(self) -> Optional["Tensor"]:
        """The tensor of which it is a view; None: it is none."""
        handle = self.graph._use()
        with handle.guard.lock:
            pointer = lib.vpu_tensor_parent(self._pointer)
        return Tensor(self.graph, pointer) if pointer else None

    def save(self, path: PathLike) -> None:
        """Writes the contents into a file NAME.npy."""
        handle = self.graph._use()
        call(handle.guard, lib.vpu_tensor_save, self._pointer, _options.encode(path, "path"))

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"<vpusim.Tensor {self.role.name.lower()} {self.name} {shape} {self.dtype}>"


class TensorMemory(NamedTuple):
    """A tensor's memory, padding with it."""

    tensor: Tensor


class Window(NamedTuple):
    """Some work-items of a launch: in each dimension from start on, below end, by work-groups."""

    start: Tuple[int, ...]
    end: Tuple[int, ...]
    step: Tuple[int, ...]
    part: int = 0
    parts: int = 1

    def split(self, dimension: int, part: int, parts: int) -> "Window":
        """Part number `part` of `parts`; all parts together are the window."""
        out = ffi.new("vpu_window *")
        call(Guard(), lib.vpu_window_split, ffi.new("vpu_window *", self), dimension, part, parts,
             out)
        return _window(out)


def _window(w: Any) -> Window:
    return Window(tuple(w.start), tuple(w.end), tuple(w.step), int(w.part), int(w.parts))


def _padding(pad: Optional[Sequence[Sequence[int]]],
             border: Union[None, str, float]) -> Dict[str, Any]:
    """The members of the options for padding and what is in it."""
    values: Dict[str, Any] = {}
    if pad is not None:
        rest = [0] * (MAX_RANK - len(pad))
        values.update(pad_before=[int(p[0]) for p in pad] + rest,
                      pad_after=[int(p[1]) for p in pad] + rest)
    if isinstance(border, str):
        values["border"] = border
    elif border is not None:
        values.update(border="constant", border_value=float(border))
    return values


class Operation:
    """A kernel's launch, or a layer; made by the graph."""

    def __init__(self, graph: "Graph", pointer: Any, kernel: Optional[Kernel] = None) -> None:
        self.graph = graph
        self.kernel = kernel
        self._pointer = pointer
        self.name = text(lib.vpu_operation_name(pointer))

    def set(self, **arguments: Any) -> "Operation":
        """Sets arguments by name: tensors, numbers, bytes of local memory."""
        for name, value in arguments.items():
            self._set(name, value)
        return self

    def _argument(self, name: str) -> Optional[Argument]:
        known = self.kernel.arguments if self.kernel else []
        return next((a for a in known if a.name == name), None)

    def _set(self, name: str, value: Any) -> None:
        argument = self._argument(name)
        tensor = value.tensor if isinstance(value, TensorMemory) else value
        owner = tensor.graph._use() if isinstance(tensor, Tensor) else None
        function, value = _setter(argument, name, value)
        handle = self.graph._use()
        call(handle.guard, function, self._pointer, _options.encode(name, "argument"), value)
        del owner  # until now

    def _bound(self, function: Any) -> List[Tensor]:
        handle = self.graph._use()
        found: List[Tensor] = []
        with handle.guard.lock:
            while True:
                pointer = function(self._pointer, len(found))
                if not pointer:
                    return found
                found.append(Tensor(self.graph, pointer))

    @property
    def inputs(self) -> List[Tensor]:
        """A layer's inputs; of a kernel the tensors that it reads alone."""
        return self._bound(lib.vpu_operation_input)

    @property
    def outputs(self) -> List[Tensor]:
        """A layer's outputs; of a kernel the tensors that it may write."""
        return self._bound(lib.vpu_operation_output)

    @property
    def window(self) -> Window:
        """All the work-items that may run; of an operation that is a launch of one kernel."""
        handle, out = self.graph._use(), ffi.new("vpu_window *")
        call(handle.guard, lib.vpu_operation_window, self._pointer, out)
        return _window(out)

    def _sizes(self, function: Any) -> Tuple[int, ...]:
        handle = self.graph._use()
        with handle.guard.lock:
            return tuple(int(function(self._pointer, i)) for i in range(3))

    @property
    def local_size(self) -> Tuple[int, ...]:
        """Work-items of a work-group, in three dimensions; of several launches, of the first one
        that is no conversion; zeros: there is none."""
        return self._sizes(lib.vpu_operation_local)

    @property
    def global_size(self) -> Tuple[int, ...]:
        """The same for all work-items."""
        return self._sizes(lib.vpu_operation_global)

    def run_on(self, window: Optional[Window]) -> None:
        """Runs that follow run the work-groups of the window alone; None: all of them."""
        handle, w = self.graph._use(), ffi.NULL
        if window is not None:
            w = ffi.new("vpu_window *", window)
        call(handle.guard, lib.vpu_operation_set_window, self._pointer, w)

    def __repr__(self) -> str:
        return f"<vpusim.Operation {self.name}>"


def _setter(argument: Optional[Argument], name: str, value: Any) -> Tuple[Any, Any]:
    """The function of the library for a value, and the value for it."""
    if isinstance(value, TensorMemory):
        return lib.vpu_operation_set_memory, value.tensor._pointer
    if isinstance(value, Tensor):
        return lib.vpu_operation_set_tensor, value._pointer
    if argument and argument.space == Space.LOCAL:
        return lib.vpu_operation_set_local, operator.index(value)
    if isinstance(value, (float, np.floating)) or (argument and argument.type in _REALS):
        if argument and argument.space == Space.VALUE and argument.type not in _REALS:
            raise MismatchError(f"argument {name} is of type {argument.type}: pass an int, "
                                f"not {value!r}")
        return lib.vpu_operation_set_real, float(value)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"argument {name} takes a tensor of the graph or a number, "
                        f"not {type(value).__name__}") from None
    if not -2**63 <= number < 2**63:
        raise InvalidError(f"argument {name}: {value} does not fit into 64 bits")
    return lib.vpu_operation_set_integer, number


def _dims(shape: Any) -> List[int]:
    """A shape as a list; a number is one of rank 1."""
    return list(shape) if isinstance(shape, Sequence) else [operator.index(shape)]


def sizes(value: Optional[Shape], name: str) -> List[int]:
    """Work sizes of three dimensions; 0 where none is given."""
    if value is None:
        return [0, 0, 0]
    given = list(value) if isinstance(value, Sequence) else [operator.index(value)]
    if not 0 < len(given) <= 3:
        raise InvalidError(f"{name} has {len(given)} dimensions, not 1 to 3")
    return given + [0] * (3 - len(given))


class Graph(Object):
    """Tensors and operations, in the order in which they run."""

    def __init__(self, context: Context) -> None:
        owner = context._use()
        out = ffi.new("vpu_graph **")
        call(owner.guard, lib.vpu_graph_create, out, owner.pointer)
        self._take(context, out[0])

    def _take(self, context: Context, pointer: Any) -> None:
        """A new graph of the library becomes this one."""
        self.context = context
        self._sink = context._sink
        self._pace = Pace()
        self._shared: Dict[str, Any] = {}  # arrays whose memory tensors use
        self._kernels: Dict[Any, Kernel] = {}  # of launches
        self._resizes = 0  # that were made
        self._has_hosts = False
        self._handle = Handle(pointer, lib.vpu_graph_free, Guard(), (self._sink, self._shared))
        self._sink.drain()

    @classmethod
    def load(cls, context: Context, path: PathLike) -> "Graph":
        """The graph that `save` has written, to be finalized and run as any other.

        Nothing can be added to it. The file need not stay.
        """
        owner = context._use()
        out = ffi.new("vpu_graph **")
        call(owner.guard, lib.vpu_graph_load, out, owner.pointer, _options.encode(path, "path"))
        made = cls.__new__(cls)
        made._take(context, out[0])
        return made

    def save(self, path: PathLike, compiled: bool = False) -> None:
        """Writes the graph into one file, with constants and kernels, without inputs' contents.

        With `compiled` kernels are in it as `vpu cc` makes them, for the simulator, which then
        needs no clang. Nothing can be added to the graph then.
        """
        self._into_file(lib.vpu_graph_save, path, "vpu_graph_save_options", compiled=compiled)

    def export(self, path: PathLike, release: Optional[str] = None, xlink: Optional[str] = None,
               shaves: int = 0) -> None:
        """Writes the graph as the blob that a stick gets.

        `release` is that of OpenVINO whose form the blob has ("2020.4"), or `xlink` the layout
        that the stick speaks ("A", "B", "C"); `shaves` are 7 where none are given. Nothing can be
        added to the graph then.
        """
        self._into_file(lib.vpu_graph_export, path, "vpu_graph_export_options", release=release,
                        xlink=xlink, shaves=shaves)

    def _into_file(self, function: Any, path: PathLike, struct: str, **values: Any) -> None:
        options, keep = _options.fill(struct, **values)
        handle = self._use()
        call(handle.guard, function, handle.pointer, _options.encode(path, "path"), options)
        del keep
        self._sink.drain()

    # --- tensors

    def tensor(self, role: Union[Role, str], shape: Optional[Union[Shape, str]] = None,
               dtype: Any = np.float16, *, name: Optional[str] = None,
               data: Any = None, pad: Optional[Sequence[Sequence[int]]] = None,
               border: Union[None, str, float] = None) -> Tensor:
        """A new tensor. The shape is a tuple, or a text "1x3x64x64:f32".

        `pad` is memory beside it that kernels may read, as numpy.pad has it: (before, after) of
        each dimension. An operation that reads the tensor finds in it what `border` says:
        "replicate", the nearest element, or a number.
        """
        values: Dict[str, Any] = {"name": name, "role": role, **_padding(pad, border)}
        if isinstance(shape, str):
            values["shape"] = shape
        else:
            dims = _dims(shape)
            if not 0 < len(dims) <= MAX_RANK:
                raise InvalidError(f"a tensor has 1 to {MAX_RANK} dimensions, not {len(dims)}: "
                                   "reshape the array")
            values.update(type=_TYPES[dtype_of(dtype)], rank=len(dims),
                          dims=dims + [0] * (MAX_RANK - len(dims)))
        options, keep = _options.fill("vpu_tensor_options", **values)
        if data is not None:
            options.data = ffi.cast("void *", data.ctypes.data)
        handle = self._use()
        out = ffi.new("vpu_tensor **")
        call(handle.guard, lib.vpu_graph_tensor, handle.pointer, options, out)
        del keep
        return Tensor(self, out[0])

    def input(self, shape: Union[Shape, str], dtype: Any = np.float16,
              name: Optional[str] = None) -> Tensor:
        """A tensor that the caller writes."""
        return self.tensor(Role.INPUT, shape, dtype, name=name)

    def output(self, shape: Union[Shape, str], dtype: Any = np.float16,
               name: Optional[str] = None) -> Tensor:
        """A tensor that the caller reads."""
        return self.tensor(Role.OUTPUT, shape, dtype, name=name)

    def virtual(self, shape: Union[Shape, str], dtype: Any = np.float16,
                name: Optional[str] = None) -> Tensor:
        """A tensor between operations; its memory is shared with others."""
        return self.tensor(Role.VIRTUAL, shape, dtype, name=name)

    def constant(self, array: Any, name: Optional[str] = None) -> Tensor:
        """A tensor with the contents of an array, which is copied."""
        given = np.asarray(array)
        packed = np.ascontiguousarray(given, dtype=dtype_of(given.dtype))
        return self.tensor(Role.CONSTANT, packed.shape, packed.dtype, name=name, data=packed)

    def view(self, parent: Tensor, start: Sequence[int], shape: Shape,
             name: Optional[str] = None) -> Tensor:
        """A part of a tensor as a tensor: what is written to one is in the other."""
        pad = [0] * MAX_RANK
        options, keep = _options.fill("vpu_view_options", name=name,
                                      start=(list(start) + pad)[:MAX_RANK],
                                      dims=(_dims(shape) + pad)[:MAX_RANK])
        handle, out = self._use(), ffi.new("vpu_tensor **")
        call(handle.guard, lib.vpu_graph_view, handle.pointer, _pointers([parent], keep)[0],
             options, out)
        del keep
        return Tensor(self, out[0])

    def _tensors(self, role: Role) -> List[Tensor]:
        handle = self._use()
        found: List[Tensor] = []
        with handle.guard.lock:
            while True:
                pointer = lib.vpu_graph_tensor_at(handle.pointer, int(role), len(found))
                if not pointer:
                    return found
                found.append(Tensor(self, pointer))

    @property
    def inputs(self) -> List[Tensor]:
        """Inputs in the order in which they were made."""
        return self._tensors(Role.INPUT)

    @property
    def outputs(self) -> List[Tensor]:
        """Outputs in the order in which they were made."""
        return self._tensors(Role.OUTPUT)

    def __getitem__(self, name: str) -> Tensor:
        handle = self._use()
        with handle.guard.lock:
            pointer = lib.vpu_graph_tensor_named(handle.pointer, _options.encode(name, "name"))
        if not pointer:
            raise KeyError(name)
        return Tensor(self, pointer)

    # --- operations

    def launch(self, kernel: Kernel, *, global_size: Optional[Shape] = None,
               local_size: Optional[Shape] = None, max_shaves: int = 0,
               name: Optional[str] = None, **arguments: Any) -> Operation:
        """A launch of a kernel, with its arguments by name.

        The first work size is of get_global_id(0), the innermost dimension of an array.
        """
        options, keep = _options.fill("vpu_launch_options", name=name, max_shaves=max_shaves)
        setattr(options, "global", sizes(global_size, "global_size"))
        options.local = sizes(local_size, "local_size")
        handle, program = self._use(), kernel.program._use()
        out = ffi.new("vpu_operation **")
        with program.guard.lock:
            call(handle.guard, lib.vpu_graph_add_kernel, handle.pointer, kernel._pointer, options,
                 out)
        del keep
        self._sink.drain()
        self._kernels[out[0]] = kernel
        return Operation(self, out[0], kernel).set(**arguments)

    def layer(self, bindings: Any, layer: Optional[str] = None, *,
              inputs: Sequence[Tensor] = (), output: Optional[Tensor] = None,
              **options: Any) -> Operation:
        """A layer of binding files. Keywords are the members of `vpu_layer_options`: `shapes`
        and `params` (dicts), `number`, `blobs`, `paddings`, `model`, `at` and so on."""
        if isinstance(options.get("shapes"), Mapping):
            options["shapes"] = {k: shape_text(v) for k, v in options["shapes"].items()}
        made, keep = _options.fill("vpu_layer_options", bindings=bindings, layer=layer, **options)
        if inputs:
            made.inputs, made.n_inputs = _pointers(inputs, keep), len(inputs)
        if output is not None:
            made.output = _pointers([output], keep)[0]
        handle = self._use()
        out = ffi.new("vpu_operation **")
        call(handle.guard, lib.vpu_graph_add_layer, handle.pointer, made, out)
        del keep
        self._sink.drain()
        return Operation(self, out[0])

    def add(self, kind: str, *inputs: Tensor, outputs: Sequence[Optional[Tensor]] = (),
            output_role: Union[Role, str] = Role.VIRTUAL, name: Optional[str] = None,
            **values: Any) -> Operation:
        """An operation of a kind that the context knows (`context.kinds`), with its numbers by
        name. Outputs that are not given are new tensors of the role."""
        role = Role[output_role.upper()] if isinstance(output_role, str) else output_role
        made, keep = _options.fill("vpu_add_options", name=name, output_role=int(role))
        if inputs:
            made.inputs, made.n_inputs = _pointers(inputs, keep), len(inputs)
        if outputs:
            made.outputs, made.n_outputs = _pointers(outputs, keep), len(outputs)
        made.values, made.n_values = _values(values, keep), len(values)
        handle, out = self._use(), ffi.new("vpu_operation **")
        call(handle.guard, lib.vpu_graph_add, handle.pointer, _options.encode(kind, "kind"), made,
             out)
        del keep
        self._sink.drain()
        return Operation(self, out[0])

    def host(self, function: Callable[..., Any], inputs: Sequence[Tensor] = (),
             outputs: Sequence[Tensor] = (), name: Optional[str] = None) -> Operation:
        """A Python function as an operation, called in each run between the operations around it.

        It gets an array for each input, which it cannot write, then one for each output, which it
        must fill: `graph.host(lambda x, y: numpy.sort(x, out=y), [x], [y])`. The arrays are the
        tensors' own memory, and are there until it returns: what is to stay must be copied. It
        must not use the graph that it is in. What it raises ends the run, and `run` raises that
        very exception, with a note of the operation's name (`__notes__`).

        It is called by the thread that called `run`; in the main thread Ctrl-C ends it. Where
        SIGINT has a handler of one's own, it is called by a worker thread instead. The graph keeps
        it, and so do its clones. Checks, comparisons, files and blobs refuse such a graph.
        """
        made, keep = _options.fill("vpu_host_options", name=name)
        for direction, tensors in (("inputs", inputs), ("outputs", outputs)):
            if tensors:
                setattr(made, direction, _pointers(tensors, keep))
                setattr(made, "n_" + direction, len(tensors))
        handle, out = self._use(), ffi.new("vpu_operation **")
        box = _host.Host(function, [(t.shape, t.dtype) for t in inputs],
                        [(t.shape, t.dtype) for t in outputs])
        made.function, made.user = _host.callback, box.me
        with handle.guard.lock:
            call(handle.guard, lib.vpu_graph_add_host, handle.pointer, made, out)
            handle.holds.append(box)
            self._has_hosts = True
        del keep
        operation = Operation(self, out[0])
        box.name = operation.name
        return operation

    @property
    def operations(self) -> List[Operation]:
        """Operations in the order in which they were added, composed ones before their parts."""
        handle = self._use()
        found: List[Operation] = []
        with handle.guard.lock:
            while True:
                pointer = lib.vpu_graph_operation_at(handle.pointer, len(found))
                if not pointer:
                    return found
                found.append(Operation(self, pointer, self._kernels.get(pointer)))

    def operation(self, name: str) -> Operation:
        """The first operation of that name; "cell/tanh" of a part."""
        handle = self._use()
        with handle.guard.lock:
            pointer = lib.vpu_graph_operation_named(handle.pointer, _options.encode(name, "name"))
        if not pointer:
            raise KeyError(name)
        return Operation(self, pointer, self._kernels.get(pointer))

    @contextlib.contextmanager
    def composed(self, name: str) -> Iterator[Operation]:
        """What is added in the `with` block is a part of one operation, called "NAME/PART"."""
        handle, out = self._use(), ffi.new("vpu_operation **")
        call(handle.guard, lib.vpu_graph_begin, handle.pointer, _options.encode(name, "name"), out)
        try:
            yield Operation(self, out[0])
        finally:
            call(handle.guard, lib.vpu_graph_end, out[0])

    # --- running

    def finalize(self) -> "Graph":
        """Verifies the graph, plans its memory, opens the device."""
        handle = self._use()
        call(handle.guard, lib.vpu_graph_finalize, handle.pointer)
        self._sink.drain()
        return self

    def run(self, *, trace: Optional[PathLike] = None, trace_json: Optional[PathLike] = None,
            vcd: Optional[PathLike] = None, trace_level: Union[TraceLevel, str, None] = None,
            trace_host: bool = False, profile: bool = False, profile_lines: int = 0,
            folded: Optional[PathLike] = None, kanata: Optional[PathLike] = None,
            kanata_group: int = 0, kanata_bundles: int = 0, output: Optional[PathLike] = None,
            repeat: int = 0, executors: int = 0, advise: bool = False,
            roofline: Optional[PathLike] = None,
            trace_bundles: Optional[int] = None) -> Result:
        """Runs all operations, `repeat` times (once). Ctrl-C ends the run.

        `trace`, `trace_json` and `vcd` are files for the timeline, `trace_level` says how much of
        it ("summary", "groups", "full"), `trace_host` adds a track of what the host did.
        `profile` counts cycles by source line, `folded` is a file for them as folded stacks, and
        `kanata` one for work-group `kanata_group` in the pipeline: these three need a context
        with engine="interpreted". `output` is a folder for all outputs, NAME.npy, and the report.
        Files and figures are of the last repetition. `executors` asks how so many inferences at
        once do (result.json). With `advise` result.advice says what would make launches faster.
        `roofline` is a file for a picture of them, .svg or .png. With `trace_bundles` the timeline
        has the bundles of that work-group, at most `kanata_bundles`, with engine="interpreted".
        """
        handle = self._use()
        options = {name: value for name, value in (
            ("trace", trace), ("trace_json", trace_json), ("vcd", vcd),
            ("trace_level", trace_level), ("trace_host", trace_host), ("profile", profile),
            ("profile_lines", profile_lines), ("folded", folded), ("kanata", kanata),
            ("kanata_group", kanata_group), ("kanata_bundles", kanata_bundles),
            ("output", output), ("repeat", repeat), ("executors", executors),
            ("advise", advise), ("roofline", roofline),
            ("trace_bundles", trace_bundles is not None),
            ("trace_bundles_group", trace_bundles)) if value}

        def work() -> Handle:
            return self._run(handle, **options)

        made = self._transaction(work)
        self._sink.drain()
        return Result(self, made)

    def _transaction(self, work: Any) -> Any:
        """Does several things of which a run is one, as the only thread."""
        handle = self._use()
        return interruptible(self._pace, handle.guard, work,
                             lambda: lib.vpu_graph_cancel(handle.pointer), self._has_hosts)

    def _run(self, handle: Handle, **values: Any) -> Handle:
        """A run, by the thread that holds the guard."""
        options: Any = ffi.NULL
        keep = None
        if values:
            options, keep = _options.fill("vpu_run_options", **values)
        out = ffi.new("vpu_result **")
        def work() -> None:
            call(handle.guard, lib.vpu_graph_run, handle.pointer, options, out)

        if self._has_hosts:
            _host.run(handle, work)
        else:
            work()
        del keep
        return Handle(out[0], lib.vpu_result_free, handle.guard, self._sink)

    def cancel(self) -> None:
        """From any thread: a run that is under way ends soon, with StoppedError."""
        lib.vpu_graph_cancel(super()._use().pointer)

    def check(self, *, checks: Optional[str] = None, max_findings: int = 0,
              orders: bool = False, random_orders: int = 0, seed: int = 0,
              strict_align: bool = False, suppress: Optional[PathLike] = None) -> Findings:
        """Looks at everything the kernels do with the inputs that are there.

        `checks` is a list as of `vpu check --checks`. `orders` tries other orders of work-groups,
        too, with so many random ones (4) from `seed` (1) on. With `strict_align` a vector whose
        address is no multiple of its size is an error, no note. `suppress` is a file of findings
        that are known and do not count, lines CHECKER KERNEL FILE[:LINE]. Ctrl-C ends it.
        """
        options, keep = _options.fill("vpu_check_options", checks=checks,
                                      max_findings=max_findings, orders=orders,
                                      random_orders=random_orders, seed=seed,
                                      strict_align=strict_align, suppress=suppress)
        handle = self._use()
        out = ffi.new("vpu_findings **")

        def check() -> Handle:
            call(handle.guard, lib.vpu_graph_check, out, handle.pointer, options)
            return Handle(out[0], lib.vpu_findings_free, handle.guard, self._sink)

        made = Findings(on_all([handle], check))
        del keep
        self._sink.drain()
        return made

    def _use(self) -> Handle:
        handle = super()._use()
        _host.refuse(handle)
        return handle

    # --- local sizes

    def tune(self, mode: Union[TuneMode, str] = TuneMode.NORMAL, *, shaves_too: bool = False,
             file: Optional[PathLike] = None) -> "Graph":
        """Finds the local size with which each launch is fastest, with the inputs that are there.

        The launches have the sizes then (`Operation.local_size`). `mode` says how many are tried:
        "rapid" a few, "normal" a tenth, "exhaustive" all; that with `shaves_too` each with each
        number of SHAVEs. What `file` has is not tuned again, what is found is added to it, and a
        context takes it (`Context(tuned=file)`). Ctrl-C ends it.
        """
        options, keep = _options.fill("vpu_tune_options", mode=mode, shaves_too=shaves_too,
                                      file=file)
        handle = self._use()

        def tune() -> None:
            call(handle.guard, lib.vpu_graph_tune, handle.pointer, options)

        self._transaction(lambda: _host.run(handle, tune))
        del keep
        self._sink.drain()
        return self

    # --- other shapes, several at once

    def resize(self, shapes: Mapping[Union[Tensor, str], Shape]) -> "Graph":
        """Other shapes for inputs, by tensor or name, in the memory that the graph has.

        The graph is finalized at its largest shapes. Those of other tensors follow, by the kinds
        of the operations (`Graph.add`); launches with sizes of their own and layers stay as they
        are, and refuse. Inputs that have changed are to be written again. On an error the graph
        is as it was.
        """
        keep: List[Any] = []
        tensors = [self[t] if isinstance(t, str) else t for t in shapes]
        made = ffi.new("vpu_shape[]", len(tensors))
        for each, shape in zip(made, shapes.values()):
            dims = _dims(shape)
            if not 0 < len(dims) <= MAX_RANK:
                raise InvalidError(f"a tensor has 1 to {MAX_RANK} dimensions, not {len(dims)}")
            each.rank, each.dims = len(dims), dims + [0] * (MAX_RANK - len(dims))
        handle = self._use()
        with handle.guard.lock:
            try:
                call(handle.guard, lib.vpu_graph_resize, handle.pointer,
                     _pointers(tensors, keep), made, len(tensors))
            finally:
                self._resizes += 1
        self._sink.drain()
        return self

    def clone(self, context: Optional[Context] = None) -> "Graph":
        """A graph like this one, with memory of its own, so that both can run at the same time.

        It is to be finalized itself, and its inputs are to be written. The context may be another
        one, also of another backend. Nothing can be added to either graph then.
        """
        where = context or self.context
        owner, handle, out = where._use(), self._use(), ffi.new("vpu_graph **")
        call(handle.guard, lib.vpu_graph_clone, out, handle.pointer, owner.pointer)
        made = type(self).__new__(type(self))
        made._take(where, out[0])
        made._use().holds.append(handle)
        made._has_hosts = self._has_hosts
        self._sink.drain()
        return made

    def instances(self, n: int) -> "Instances":
        """Clones of the graph, finalized, for threads that each take one, run it, and give it
        back."""
        if n < 1:
            raise InvalidError(f"{n} instances are asked for")
        return Instances([self.clone().finalize() for _ in range(n)])

    # --- memory of virtual tensors

    @property
    def memory(self) -> Dict[str, int]:
        """How virtual tensors share memory: bytes `apart`, `bound` and `planned`."""
        options, _ = _options.fill("vpu_memory_use")
        handle = self._use()
        call(handle.guard, lib.vpu_graph_memory, handle.pointer, options)
        return {name: int(getattr(options, name)) for name in _options.members("vpu_memory_use")}

    def _memory_shown(self, function: Any) -> str:
        handle = self._use()
        with handle.guard.lock:
            shown = function(handle.pointer)
            if not shown:
                raise InvalidError("the graph has no plan of its memory before graph.finalize()")
            return text(shown)

    @property
    def memory_text(self) -> str:
        """The plan of the memory as text."""
        return self._memory_shown(lib.vpu_graph_memory_text)

    @property
    def memory_svg(self) -> str:
        """The plan of the memory as a picture, SVG."""
        return self._memory_shown(lib.vpu_graph_memory_svg)

    @property
    def can(self) -> Capability:
        """What the backend can."""
        return self.context.capabilities


class Instances:
    """Graphs that threads take and give back; made by `Graph.instances`.

        with instances.take() as graph:
            graph["x"].write(x)
            graph.run()
            y = graph["y"].read()
    """

    def __init__(self, graphs: Sequence[Graph]) -> None:
        self._all = {id(graph): graph for graph in graphs}
        self._taken: Dict[int, Graph] = {}
        self._idle: "queue.SimpleQueue[Optional[Graph]]" = queue.SimpleQueue()  # None: closed
        self._closed = False
        for graph in graphs:
            self._idle.put(graph)

    def __len__(self) -> int:
        return len(self._all)

    def acquire(self, wait: bool = True) -> Graph:
        """A graph that nobody has, the caller's until it is released. With `wait`, from which
        Ctrl-C leads out, until there is one; else LimitError where others have all of them."""
        try:
            graph = self._idle.get(block=wait)
        except queue.Empty:
            raise LimitError(f"all {len(self)} instances are taken: release gives one back") \
                from None
        if graph is None:
            self._idle.put(None)  # for the next one who waits
            raise ClosedError("these Instances are closed")
        self._taken[id(graph)] = graph
        return graph

    def release(self, graph: Graph) -> None:
        """Gives a graph back, from any thread."""
        if id(graph) not in self._all:
            raise InvalidError("the graph is none of these instances")
        if self._taken.pop(id(graph), None) is None:
            raise InvalidError("the graph is not taken")
        if self._closed:
            graph.close()
        else:
            self._idle.put(graph)

    @contextlib.contextmanager
    def take(self, wait: bool = True) -> Iterator[Graph]:
        """A graph for the `with` block; `wait` as of `acquire`."""
        graph = self.acquire(wait)
        try:
            yield graph
        finally:
            self.release(graph)

    def close(self) -> None:
        """Frees graphs that nobody has, and the others when they are released."""
        self._closed = True
        with contextlib.suppress(queue.Empty):
            while True:
                graph = self._idle.get_nowait()
                if graph is not None:
                    graph.close()
        self._idle.put(None)

    def __enter__(self) -> "Instances":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<vpusim.Instances {len(self)}, taken {len(self._taken)}>"


class _OnAll:
    """Work on several graphs at once, under the guards of all."""

    def __init__(self, handles: Sequence[Handle], do: Callable[[], Any]) -> None:
        self.handles, self.do = handles, do
        #: In an order in which no two threads wait for each other.
        self.guards = sorted({h.guard for h in handles}, key=id)
        self.stop = self.has_all = False

    def work(self) -> Any:
        """Under the first guard."""
        with contextlib.ExitStack() as stack:
            for guard in self.guards[1:]:
                while not guard.acquire(timeout=PAUSE):
                    if self.stop:
                        raise StoppedError("cancelled")
                stack.callback(guard.release)
            self.has_all = True
            return self.do()

    def cancel(self) -> None:
        """From another thread."""
        self.stop = True
        for handle in self.handles if self.has_all else []:
            lib.vpu_graph_cancel(handle.pointer)


def on_all(handles: Sequence[Handle], do: Callable[[], Any]) -> Any:
    """What `do` gives, as the only thread that uses the graphs; Ctrl-C cancels them."""
    all_of = _OnAll(handles, do)
    return interruptible(Pace(), all_of.guards[0], all_of.work, all_of.cancel)


def run_split(graphs: Sequence[Graph], dimension: Optional[int] = None) -> List[Result]:
    """Runs equal graphs, mostly of a context each, as one on several devices.

    Of each launch each graph runs a part, along `dimension` of its work sizes or along the one
    with most work-groups. Inputs are those of the first graph, outputs are in all of them. The
    results are of the parts: a launch takes as long as its slowest one. Ctrl-C ends the run.
    """
    if not graphs:
        raise InvalidError("no graph is given")
    handles = [graph._use() for graph in graphs]
    options, keep = _options.fill("vpu_split_options",
                                  dimension=0 if dimension is None else dimension + 1)
    n, out = len(handles), ffi.new("vpu_result *[]", len(handles))

    def run() -> List[Handle]:
        call(handles[0].guard, lib.vpu_graph_run_split,
             ffi.new("vpu_graph *[]", [h.pointer for h in handles]), n, options, out)
        return [Handle(pointer, lib.vpu_result_free, h.guard, graph._sink)
                for pointer, h, graph in zip(out, handles, graphs)]

    made = on_all(handles, run)
    del keep
    for graph in graphs:
        graph._sink.drain()
    return [Result(graph, handle) for graph, handle in zip(graphs, made)]


def _pointers(tensors: Sequence[Optional[Tensor]], keep: List[Any]) -> Any:
    """An array of tensors for a call, in which none of their graphs goes."""
    keep += [t.graph._use() for t in tensors if t is not None]
    keep.append(ffi.new("vpu_tensor *[]",
                        [ffi.NULL if t is None else t._pointer for t in tensors]))
    return keep[-1]


def _values(values: Mapping[str, Any], keep: List[Any]) -> Any:
    """Numbers of an operation of a kind: integers, and the rest as reals."""
    made = ffi.new("vpu_value[]", len(values))
    keep.append(made)
    for each, (name, value) in zip(made, values.items()):
        keep.append(ffi.new("char[]", _options.encode(name, "name")))
        each.name = keep[-1]
        try:
            each.integer = operator.index(value)
        except TypeError:
            each.is_real, each.real = 1, float(value)
    return made


def shape_text(value: Any) -> str:
    """A shape as the library reads it: (1, 3, 8, 8), ((1, 3, 8, 8), "f32") or a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        value = (value.shape, value.dtype)
    value = tuple(value)
    dims, dtype = value if value and isinstance(value[0], Sequence) else (value, np.float16)
    return "x".join(str(operator.index(d)) for d in dims) + ":" + Type(
        _TYPES[dtype_of(dtype)]).name.lower()
