"""Layers and kernels as functions of arrays."""
from __future__ import annotations

import collections
import numbers
import threading
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._cdef import Space
from ._errors import InvalidError, MismatchError, UnsupportedError
from ._handle import Handle
from .context import Context
from .findings import Findings
from .graph import Graph, Operation, Shape, Tensor, dtype_of, on_all, shape_text
from .program import Argument, Kernel, Program
from .results import Result
from .timeline import Timeline

Array = np.ndarray[Any, Any]
RECENT = 4  # graphs that a layer keeps


class Prepared:
    """A finalized graph with the tensors that arrays go to and come from."""

    def __init__(self, graph: Graph) -> None:
        graph.finalize()
        self.graph = graph
        self.inputs = graph.inputs
        self.outputs = graph.outputs

    def take(self, values: Sequence[Any]) -> List[Any]:
        """Copies of arrays that fit the inputs; texts stay as they are."""
        if len(values) != len(self.inputs):
            names = ", ".join(t.name for t in self.inputs)
            raise MismatchError(f"{len(values)} inputs are given; there are {len(self.inputs)}: "
                                f"{names}")
        return [v if isinstance(v, str) else np.array(t.check(v))
                for t, v in zip(self.inputs, values)]

    def write(self, values: Sequence[Any]) -> None:
        """Sets all inputs; by the thread that holds the graph's guard."""
        for t, value in zip(self.inputs, values):
            if isinstance(value, str):
                t.fill(value)
            else:
                t.write(value)

    def check(self, values: Sequence[Any], **options: Any) -> Findings:
        """Under the checkers, without a run."""
        taken = self.take(values)

        def check() -> Findings:
            self.write(taken)
            return self.graph.check(**options)

        return on_all([self.graph._use()], check)

    def run(self, values: Sequence[Any]) -> "LayerResult":
        """One run, from arrays to arrays."""
        taken = self.take(values)
        handle = self.graph._use()

        def work() -> Tuple[Handle, List[Array], List[Array]]:
            self.write(taken)
            made = self.graph._run(handle)
            inputs = [t.read() if isinstance(v, str) else v for t, v in zip(self.inputs, taken)]
            return made, inputs, [t.read() for t in self.outputs]

        made, inputs, outputs = self.graph._transaction(work)
        self.graph._sink.drain()
        return LayerResult(self, made, inputs, outputs)


class LayerResult(Result):
    """What a run of a layer or of a kernel gave, and what it cost.

    Timeline, findings and profile are made when they are first asked for: the same inputs run
    again, on the same graph.
    """

    def __init__(self, prepared: Prepared, handle: Handle, inputs: List[Array],
                 outputs: List[Array]) -> None:
        super().__init__(prepared.graph, handle)
        self._prepared = prepared
        self._timeline: Optional[Timeline] = None
        self._findings: Optional[Findings] = None
        self._profile: Optional[List[Dict[str, Any]]] = None
        #: Copies of the inputs, in their order.
        self.inputs = inputs
        #: Copies of the outputs, in their order.
        self.outputs = outputs

    @property
    def output(self) -> Array:
        """The first output."""
        return self.outputs[0]

    def __getitem__(self, name: str) -> Array:
        """The output of that name."""
        for tensor, array in zip(self._prepared.outputs, self.outputs):
            if tensor.name == name:
                return array
        raise KeyError(name)

    def _again(self, work: Callable[[Handle], Any]) -> Any:
        """Does something with this run's inputs in the graph."""
        graph = self.graph
        handle = graph._use()

        def again() -> Any:
            self._prepared.write(self.inputs)
            return work(handle)

        made = graph._transaction(again)
        graph._sink.drain()
        return made

    @property
    def timeline(self) -> Timeline:
        """The timeline, in a notebook a picture."""
        if self._timeline is None:
            self._timeline = Timeline(
                lambda path: self._again(lambda h: self.graph._run(h, trace=path)),
                f"{self.cycles} cycles")
        return self._timeline

    @property
    def findings(self) -> Findings:
        """What the checkers find in the kernels."""
        if self._findings is None:
            self._findings = self._again(lambda h: self.graph.check())
        return self._findings

    @property
    def profile(self) -> List[Dict[str, Any]]:
        """Rows of cycles by source line; the context needs engine="interpreted"."""
        if self._profile is None:
            try:
                handle = self._again(lambda h: self.graph._run(h, profile=True))
            except InvalidError as error:
                raise UnsupportedError(f"{error}; make the layer with engine='interpreted'") \
                    from None
            self._profile = Result(self.graph, handle).profile
        return self._profile


class _Recent:
    """Graphs by what they were made for, the last few."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._made: "collections.OrderedDict[Any, Prepared]" = collections.OrderedDict()

    def get(self, key: Any, make: Callable[[], Prepared]) -> Prepared:
        with self._lock:
            prepared = self._made.get(key)
            if prepared:
                self._made.move_to_end(key)
                return prepared
            prepared = self._made[key] = make()
            while len(self._made) > self._most:
                self._made.popitem(last=False)
            return prepared

    def clear(self) -> None:
        with self._lock:
            self._made.clear()

    def __len__(self) -> int:
        return len(self._made)


class _Callable:
    """What Layer and Function share: a context, recent graphs, an end."""

    def __init__(self, context: Optional[Context], recent: int, options: Dict[str, Any]) -> None:
        if context and options:
            raise TypeError(f"{', '.join(options)}: options of the context that is given")
        self._owned = None if context else Context(**options)
        self.context: Context = context or self._owned  # type: ignore[assignment]
        self._recent = _Recent(recent)

    def close(self) -> None:
        """Lets go of all graphs; results stay."""
        self._recent.clear()
        if self._owned:
            self._owned.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Layer(_Callable):
    """A layer of a binding file as a function: `result = layer.run(x)`.

    `shapes` is a dict: {"in0": (1, 16, 24, 32), "out0": ((1, 16, 12, 16), "f32")}. What it does
    not name comes from the arrays of each run; a new shape makes a new graph, and the last few
    are kept. `params` is a dict, too. Further keywords are those of `Graph.layer` (`number`,
    `blobs`, `paddings`, `model`, `at`, `batch_by_item`), else of `Context` (`backend`, `shaves`,
    `engine` and so on).
    """

    _OWN = ("number", "blobs", "paddings", "model", "at", "batch_by_item")

    def __init__(self, bindings: Any, layer: Optional[str] = None, *,
                 shapes: Optional[Mapping[str, Any]] = None,
                 params: Optional[Mapping[str, Any]] = None, context: Optional[Context] = None,
                 recent: int = RECENT, **options: Any) -> None:
        own = {name: options.pop(name) for name in self._OWN if name in options}
        super().__init__(context, recent, options)
        self._how = {"bindings": bindings, "layer": layer, "params": dict(params or {}) or None,
                     **own}
        self.shapes = {name: shape_text(value) for name, value in (shapes or {}).items()}

    @property
    def number_of_graphs(self) -> int:
        """Graphs that are kept now."""
        return len(self._recent)

    def _key(self, i: int, value: Any) -> Any:
        """What of input i decides about the graph."""
        if isinstance(value, str) or f"in{i}" in self.shapes or self._how.get("model"):
            return None
        array = np.asarray(value)
        return array.shape, dtype_of(array.dtype)

    def prepare(self, *inputs: Any) -> Prepared:
        """The graph for such inputs."""
        key = tuple(self._key(i, value) for i, value in enumerate(inputs))

        def make() -> Prepared:
            shapes = dict(self.shapes)
            shapes.update((f"in{i}", shape_text(k)) for i, k in enumerate(key) if k)
            graph = Graph(self.context)
            graph.layer(shapes=shapes or None, **self._how)
            return Prepared(graph)

        return self._recent.get(key, make)

    def run(self, *inputs: Any) -> LayerResult:
        """Runs the layer. An input is an array, or a text as of `vpu run --input`: "zeros",
        "ramp", "random:SEED", "NAME.npy", "NAME.npz:ARRAY", "NAME.png"; for a text, `shapes`
        must name the input."""
        return self.prepare(*inputs).run(inputs)

    __call__ = run

    def check(self, *inputs: Any, **options: Any) -> Findings:
        """What the checkers find with these inputs, also where a run would end in a fault.

        Keywords are those of `Graph.check`: `checks`, `max_findings`, `orders` and so on.
        """
        return self.prepare(*inputs).check(inputs, **options)

    def __repr__(self) -> str:
        return f"<vpusim.Layer {self._how['layer'] or self._how['bindings']}>"


class out:
    """An argument that a kernel writes: a shape with a dtype for a new array, or an array, which
    gets the values."""

    def __init__(self, shape: Union[Shape, Array], dtype: Any = np.float16) -> None:
        self.array = shape if isinstance(shape, np.ndarray) else None
        if isinstance(shape, np.ndarray):
            self.shape: Tuple[int, ...] = shape.shape
            self.dtype = dtype_of(shape.dtype)
        else:
            self.shape = (shape,) if not isinstance(shape, Sequence) else tuple(shape)
            self.dtype = dtype_of(dtype)


class Function(_Callable):
    """A kernel as a function: arrays, `out(...)` and numbers in the order of its arguments.

    `global_size` is by default the number of elements of the first `out`; its first number is of
    get_global_id(0). An argument in local memory gets its number of bytes.
    """

    def __init__(self, kernel: Kernel, context: Optional[Context] = None, recent: int = RECENT,
                 owned: bool = False) -> None:
        super().__init__(context or kernel.program.context, recent, {})
        if owned:
            self._owned = self.context
        self.kernel = kernel

    def _describe(self, argument: Argument, value: Any) -> Any:
        """What of an argument decides about the graph."""
        if argument.space not in (Space.GLOBAL, Space.CONSTANT):
            if not isinstance(value, numbers.Real):
                raise TypeError(f"argument {argument.name} ({argument.type}) takes a number, not "
                                f"{type(value).__name__}")
            return value
        if isinstance(value, out):
            return "out", value.shape, value.dtype
        array = np.asarray(value)
        return "in", array.shape, dtype_of(array.dtype)

    def _make(self, described: Sequence[Any], launch: Dict[str, Any]) -> Prepared:
        graph = Graph(self.context)
        operation = graph.launch(self.kernel, **launch)
        for argument, value in zip(self.kernel.arguments, described):
            if isinstance(value, tuple):
                role, shape, dtype = value
                value = graph.tensor("input" if role == "in" else "output", shape, dtype,
                                     name=argument.name)
            operation.set(**{argument.name: value})
        return Prepared(graph)

    def prepare(self, *arguments: Any, global_size: Optional[Shape] = None,
                local_size: Optional[Shape] = None,
                max_shaves: int = 0) -> Tuple[Prepared, List[Any]]:
        """The graph for such arguments, and those that are its inputs."""
        known = self.kernel.arguments
        if len(arguments) != len(known):
            words = ", ".join(f"{a.type} {a.name}" for a in known)
            raise TypeError(f"{self.kernel.name} takes {len(known)} arguments ({words}), not "
                            f"{len(arguments)}")
        first = next((a for a in arguments if isinstance(a, out)), None)
        if global_size is None and first:
            global_size = int(np.prod(first.shape))
        launch = {"global_size": _frozen(global_size), "local_size": _frozen(local_size),
                  "max_shaves": max_shaves}
        described = [self._describe(a, v) for a, v in zip(known, arguments)]
        # As texts: 0.0 is not -0.0, and 1 is not 1.0.
        key = tuple(d if isinstance(d, tuple) else (type(d), repr(d)) for d in described)
        prepared = self._recent.get((key, tuple(launch.values())),
                                    lambda: self._make(described, launch))
        return prepared, [v for d, v in zip(described, arguments)
                          if isinstance(d, tuple) and d[0] == "in"]

    def run(self, *arguments: Any, **sizes: Any) -> LayerResult:
        """Runs the kernel; keywords are `global_size`, `local_size` and `max_shaves`."""
        prepared, inputs = self.prepare(*arguments, **sizes)
        result = prepared.run(inputs)
        outs = [a for a in arguments if isinstance(a, out)]
        for given, made in zip(outs, result.outputs):
            if given.array is not None:
                given.array[...] = made
        return result

    __call__ = run

    def check(self, *arguments: Any, global_size: Optional[Shape] = None,
              local_size: Optional[Shape] = None, max_shaves: int = 0,
              **options: Any) -> Findings:
        """What the checkers find, also where a run would end in a fault; changes no array.

        Further keywords are those of `Graph.check`: `checks`, `max_findings`, `orders` and so on.
        """
        prepared, inputs = self.prepare(*arguments, global_size=global_size,
                                        local_size=local_size, max_shaves=max_shaves)
        return prepared.check(inputs, **options)

    def __repr__(self) -> str:
        return f"<vpusim.Function of {self.kernel!r}>"


def _frozen(size: Optional[Shape]) -> Any:
    """A work size as a part of a key."""
    return tuple(size) if isinstance(size, Sequence) else size


def kernel(source: str, name: Optional[str] = None, *, context: Optional[Context] = None,
           build_options: Iterable[str] = (), **options: Any) -> Function:
    """A kernel of an OpenCL C text, as a function of arrays.

    Further keywords are those of `Context`: `backend`, `shaves` and so on.
    """
    if context and options:
        raise TypeError(f"{', '.join(options)}: options of the context that is given")
    where = context or Context(**options)
    program = Program(where, source, build_options=build_options)
    return Function(program.kernel(name), where, owned=context is None)
