"""Comparing: a layer with a function of numpy, or with another layer."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _options
from ._errors import InvalidError, MismatchError
from ._handle import Handle, Object, call
from ._library import ffi, lib, text
from .graph import Graph, on_all
from .layer import Layer, LayerResult, Prepared

Array = np.ndarray[Any, Any]
Tolerances = Union[str, Iterable[str]]


class _Rule(NamedTuple):
    """When two elements are equal, as of `vpu diff --tolerance`."""

    ulp: Optional[int] = None
    abs: Optional[float] = None
    rel: Optional[float] = None
    nan: str = "any"
    zero: str = "signed"


_WORDS = {"nan": ("any", "bits", "never"), "zero": ("signed", "equal")}


def _limit(name: str, value: str) -> Any:
    try:
        made: Any = int(value) if name == "ulp" else float(value)
    except ValueError:
        made = -1
    if not made >= 0:
        raise InvalidError(f"tolerance {name}={value}: not a number from 0 on")
    return made


def _parse_rule(spec: str) -> _Rule:
    found: Dict[str, Any] = {}
    for part in spec.split(","):
        name, _, value = part.partition("=")
        if part == "exact":
            continue
        if name in ("ulp", "abs", "rel"):
            found[name] = _limit(name, value)
        elif value in _WORDS.get(name, ()):
            found[name] = value
        else:
            raise InvalidError(f"tolerance '{part}' is none of exact, ulp=N, abs=X, rel=X, "
                               "nan=any|bits|never, zero=signed|equal")
    return _Rule(**found)


def _parse(tolerance: Tolerances) -> List[Tuple[Optional[str], _Rule]]:
    """Rules with the outputs that they are for; None: for all."""
    rules: List[Tuple[Optional[str], _Rule]] = []
    for spec in [tolerance] if isinstance(tolerance, str) else tolerance:
        name, equals, rest = spec.partition("=")
        word = name.split(",")[0]
        known = word == "exact" or word in _Rule._fields
        rules.append((None, _parse_rule(spec)) if known or not equals
                     else (name, _parse_rule(rest)))
    return rules


def _rule_for(rules: List[Tuple[Optional[str], _Rule]], output: str) -> _Rule:
    named = [rule for name, rule in rules if name in (None, output)]
    return named[-1] if named else _Rule()


def _steps(a: Array, b: Array) -> Array:
    """How many values of the type lie between two elements."""
    if a.dtype.kind == "f":
        kind = np.int16 if a.dtype.itemsize == 2 else np.int32
        low = np.int64(np.iinfo(kind).max)
        pair = []
        for x in (a, b):
            bits = x.view(kind).astype(np.int64)
            pair.append(np.where(bits < 0, -(bits & low), bits))
        a, b = pair
    a, b = a.astype(np.int64), b.astype(np.int64)
    p, q = a.view(np.uint64), b.view(np.uint64)
    steps: Array = np.where(a > b, p - q, q - p)
    return steps


def _close(a: Array, b: Array, rule: _Rule) -> Array:
    """Where elements are equal, apart from infinities, NaNs and zeros."""
    close: Array = a == b
    if rule.ulp is not None:
        close |= _steps(a, b) <= np.uint64(rule.ulp)
    p, q = a.astype(np.float64), b.astype(np.float64)
    if rule.abs is not None:
        close |= np.abs(p - q) <= rule.abs
    if rule.rel is not None:
        close |= np.abs(p - q) <= rule.rel * np.abs(q)
    return close


def _equal(a: Array, b: Array, rule: _Rule) -> Array:
    """Where elements are equal under a rule; flat arrays of one dtype."""
    with np.errstate(all="ignore"):
        equal = _close(a, b, rule)
    if a.dtype.kind != "f":
        return equal
    same_bits = a.view(f"u{a.dtype.itemsize}") == b.view(f"u{a.dtype.itemsize}")
    finite = np.isfinite(a) & np.isfinite(b)
    equal = np.where(finite, equal, same_bits)
    nan = np.isnan(a) & np.isnan(b)
    equal = np.where(nan, {"any": True, "bits": same_bits, "never": False}[rule.nan], equal)
    if rule.zero == "signed":
        equal &= ~((a == 0) & (b == 0)) | same_bits
    return equal


@dataclass(frozen=True)
class OutputComparison:
    """One output beside its reference."""

    name: str
    total: int  #: elements
    count: int  #: of them beyond the tolerance
    first: Optional[Tuple[int, ...]]  #: index of the first of these
    got: Any  #: its value
    wanted: Any  #: and what the reference has there
    largest: float  #: difference of all elements

    def __str__(self) -> str:
        if not self.count:
            return f"{self.name}: {self.total} elements agree, largest difference {self.largest:g}"
        index = ", ".join(map(str, self.first or ()))
        return (f"{self.name}: {self.count} of {self.total} elements differ, first [{index}]: "
                f"{self.got!s} instead of {self.wanted!s}, largest difference {self.largest:g}")


def _compare_output(name: str, got: Array, wanted: Any, rule: _Rule) -> OutputComparison:
    reference = np.asarray(wanted)
    if reference.shape != got.shape:
        raise MismatchError(f"{name} has shape {got.shape}, the reference's {reference.shape}")
    with np.errstate(over="ignore"):
        reference = np.ascontiguousarray(reference.astype(got.dtype))
    a, b = np.ascontiguousarray(got).reshape(-1), reference.reshape(-1)
    wrong = np.flatnonzero(~_equal(a, b, rule))
    with np.errstate(all="ignore"):
        distance = np.abs(a.astype(np.float64) - b.astype(np.float64))
    known = distance[np.isfinite(distance)]
    first = tuple(int(i) for i in np.unravel_index(wrong[0], got.shape)) if len(wrong) else None
    return OutputComparison(name, a.size, len(wrong), first,
                            got[first] if first is not None else None,
                            reference[first] if first is not None else None,
                            float(known.max()) if known.size else 0.0)


class Comparison:
    """A run beside a reference in numpy."""

    def __init__(self, result: LayerResult, outputs: List[OutputComparison]) -> None:
        #: The run that was compared.
        self.result = result
        self.outputs = outputs
        #: Elements beyond the tolerance.
        self.count = sum(o.count for o in outputs)
        #: Elements of all outputs.
        self.total = sum(o.total for o in outputs)
        self.equal = not self.count

    @property
    def worst(self) -> OutputComparison:
        """The first output that differs; else the first."""
        return next((o for o in self.outputs if o.count), self.outputs[0])

    @property
    def first(self) -> Optional[Tuple[int, ...]]:
        """Index of the first element that differs."""
        return self.worst.first

    @property
    def got(self) -> Any:
        """Its value."""
        return self.worst.got

    @property
    def wanted(self) -> Any:
        """The reference's value."""
        return self.worst.wanted

    @property
    def text(self) -> str:
        """A line for each output."""
        return "\n".join(map(str, self.outputs))

    @property
    def summary(self) -> str:
        """One line."""
        return str(self.worst)

    def __repr__(self) -> str:
        return f"<vpusim.Comparison {'equal' if self.equal else self.summary}>"


class Diff(Object):
    """Two graphs compared by the library, as `vpu diff` does."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        with handle.guard.lock:
            #: Whether all is equal within the tolerances.
            self.equal = bool(lib.vpu_diff_equal(handle.pointer))
            #: Elements beyond the tolerance.
            self.count = int(lib.vpu_diff_count(handle.pointer))
            #: Whether the graph takes more cycles than `max_slowdown` lets it.
            self.too_slow = bool(lib.vpu_diff_too_slow(handle.pointer))

    def _shown(self, function: Any) -> str:
        handle = self._use()
        with handle.guard.lock:
            return text(function(handle.pointer))

    @property
    def summary(self) -> str:
        """One line."""
        return self._shown(lib.vpu_diff_summary)

    @property
    def text(self) -> str:
        """The report of `vpu diff`."""
        return self._shown(lib.vpu_diff_text)

    @property
    def json(self) -> Dict[str, Any]:
        """The report of `vpu diff --json`."""
        return dict(json.loads(self._shown(lib.vpu_diff_json)))

    @property
    def junit(self) -> str:
        """The report as a test suite of JUnit's, XML."""
        return self._shown(lib.vpu_diff_junit)

    def __repr__(self) -> str:
        return f"<vpusim.Diff {'equal' if self.equal else self.summary}>"


def diff_graphs(graph: Graph, reference: Graph, *, tolerance: Tolerances = (),
                outputs_only: bool = False, heat_map: Any = None, max_slowdown: float = 0,
                slowdown_if_known: bool = False, cycle_budget: int = 0, groups: bool = True,
                verbose: bool = False) -> Diff:
    """Compares two graphs with the inputs of the first. Ctrl-C ends it.

    `max_slowdown`: the graph may take so many times the reference's cycles, in all and launch
    by launch; with `slowdown_if_known` only where both sides count cycles.
    `cycle_budget`: it may take so many cycles at most, 0 = any number. Without `groups` elements that differ are not traced back to work-groups, which takes a run more;
    `verbose` puts figures of tensors that agree into `Diff.text`.
    """
    tolerances = [tolerance] if isinstance(tolerance, str) else list(tolerance)
    options, keep = _options.fill("vpu_diff_options", tolerances=tolerances or None,
                                  outputs_only=outputs_only, heat_map=heat_map,
                                  max_slowdown=max_slowdown, slowdown_if_known=slowdown_if_known,
                                  cycle_budget=cycle_budget, no_groups=not groups,
                                  verbose=verbose)
    a, b = graph._use(), reference._use()
    if a is b:
        raise InvalidError("a graph cannot be compared with itself: make another one")
    out = ffi.new("vpu_diff **")

    def compare() -> Handle:
        call(a.guard, lib.vpu_diff_create, out, a.pointer, b.pointer, options)
        # Freeing a Diff lets go of both graphs, which is safe at any time.
        return Handle(out[0], lib.vpu_diff_free, a.guard, (graph._sink, reference._sink))

    made = Diff(on_all([a, b], compare))
    del keep
    graph._sink.drain()
    reference._sink.drain()
    return made


def _inputs_of(layer: Layer, inputs: Any) -> List[Any]:
    """The inputs as a list; without any, random numbers as of `vpu run`."""
    if inputs is None:
        n = sum(1 for name in layer.shapes if name.startswith("in"))
        if not n and not layer._how.get("model"):
            raise InvalidError("inputs are missing: give inputs=, or the layer shapes=")
        return [f"random:{i}" for i in range(n or len(layer.prepare().inputs))]
    return list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]


def _against_layer(layer: Layer, reference: Layer, inputs: List[Any], tolerance: Tolerances,
                   options: Dict[str, Any]) -> Diff:
    a, b = layer.prepare(*inputs), reference.prepare(*inputs)
    values = a.take(inputs)

    def compare() -> Diff:
        a.write(values)
        return diff_graphs(a.graph, b.graph, tolerance=tolerance, **options)

    return on_all([a.graph._use(), b.graph._use()], compare)


def _against_numpy(layer: Any, reference: Callable[..., Any], inputs: List[Any],
                   tolerance: Tolerances) -> Comparison:
    rules = _parse(tolerance)
    result = layer.run(*inputs)
    wanted = reference(*(np.array(x) for x in result.inputs))
    arrays = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
    if len(arrays) != len(result.outputs):
        raise MismatchError(f"the reference gives {len(arrays)} arrays; there are "
                            f"{len(result.outputs)} outputs")
    prepared: Prepared = result._prepared
    return Comparison(result, [
        _compare_output(t.name, got, want, _rule_for(rules, t.name))
        for t, got, want in zip(prepared.outputs, result.outputs, arrays)])


def diff(layer: Union[Layer, Graph], reference: Any, inputs: Any = None,
         tolerance: Tolerances = "exact", **options: Any) -> Union[Comparison, Diff]:
    """Compares a layer with a reference; that they differ raises nothing: `assert d.equal`.

    The reference is a function that gets the inputs as arrays and returns the outputs (they are
    rounded to the outputs' dtype), or another Layer; two graphs are compared, too. Tolerances
    have the words of `vpu diff --tolerance`: "exact", "ulp=1", "abs=1e-3,rel=0.01",
    "out0=ulp=2"; a list of them, where the last one for an output counts. Two layers
    or graphs have further keywords: `outputs_only`, `heat_map`, `max_slowdown`,
    `slowdown_if_known`, `cycle_budget`, `groups`, `verbose`.
    """
    if isinstance(layer, Graph):
        return diff_graphs(layer, reference, tolerance=tolerance, **options)
    values = _inputs_of(layer, inputs)
    if isinstance(reference, Layer):
        return _against_layer(layer, reference, values, tolerance, options)
    if options:
        raise TypeError(f"{', '.join(options)}: only for two layers or two graphs")
    return _against_numpy(layer, reference, values, tolerance)
