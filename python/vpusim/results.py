"""What one run of a graph cost."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, cast

from . import _html, _options
from ._errors import InvalidError, UnsupportedError
from ._handle import Handle, Object, call
from ._library import ffi, lib, text

if TYPE_CHECKING:
    from .graph import Graph, Operation


class Launch(NamedTuple):
    """A launch of a kernel, or a conversion between two."""

    name: str
    cycles: int
    seconds: float


class Counters(Mapping[str, float]):
    """Numbers of the report by their path: `counters["stages.0.cycles"]`.

    A number is looked up when it is asked for.
    """

    def __init__(self, result: "Result") -> None:
        self._result = result

    def __getitem__(self, path: str) -> float:
        handle, out = self._result._use(), ffi.new("double *")
        try:
            call(handle.guard, lib.vpu_result_counter, handle.pointer,
                 _options.encode(path, "path"), out)
        except InvalidError as error:
            raise KeyError(f"{path}: {error}") from None
        return float(out[0])

    def __iter__(self) -> Iterator[str]:
        handle, i = self._result._use(), 0
        while True:
            with handle.guard.lock:
                name = text(lib.vpu_result_counter_name(handle.pointer, i))
            if not name:
                return
            yield name
            i += 1

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<vpusim.Counters {len(self)}>"


class Result(Object):
    """Figures of a run. They stay, whatever happens to the graph."""

    def __init__(self, graph: "Graph", handle: Handle) -> None:
        self._handle = handle
        self.graph = graph
        #: Of all launches; 0: the backend counts none.
        self.cycles = int(lib.vpu_result_cycles(handle.pointer))
        #: On the device; where it has no clock, on the host's.
        self.seconds = float(lib.vpu_result_seconds(handle.pointer))

    @property
    def repetitions(self) -> List[float]:
        """Seconds of all launches of each of the runs that the result is of (`repeat`)."""
        handle = self._use()
        with handle.guard.lock:
            return [float(lib.vpu_result_repetition_seconds(handle.pointer, i))
                    for i in range(lib.vpu_result_repetitions(handle.pointer))]

    @property
    def advice(self) -> List[Dict[str, Any]]:
        """What would make launches faster, most first (docs/advice.md); of run(advise=True)."""
        return cast(List[Dict[str, Any]], self.json.get("advice", []))

    @property
    def launches(self) -> List[Launch]:
        """Launches in their order, with conversions between them."""
        handle = self._use()
        c = handle.pointer
        with handle.guard.lock:
            return [Launch(text(lib.vpu_result_launch_name(c, i)),
                           int(lib.vpu_result_launch_cycles(c, i)),
                           float(lib.vpu_result_launch_seconds(c, i)))
                    for i in range(lib.vpu_result_launch_count(c))]

    def cycles_of(self, operation: "Operation") -> int:
        """Of an operation's launches and of conversions for it; of a composed one, of its parts."""
        handle = self._use()
        operation.graph._use()
        with handle.guard.lock:
            return int(lib.vpu_result_operation_cycles(handle.pointer, operation._pointer))

    def seconds_of(self, operation: "Operation") -> float:
        """The same in seconds."""
        handle = self._use()
        operation.graph._use()
        with handle.guard.lock:
            return float(lib.vpu_result_operation_seconds(handle.pointer, operation._pointer))

    @property
    def copied_bytes(self) -> int:
        """Bytes copied from and to memory that tensors share with arrays."""
        return int(lib.vpu_result_copied_bytes(self._use().pointer))

    @property
    def counters(self) -> Counters:
        """All numbers of the report, by path."""
        self._use()
        return Counters(self)

    def _shown(self, function: Any) -> str:
        handle = self._use()
        with handle.guard.lock:
            shown = function(handle.pointer)
            if not shown:
                raise MemoryError("no memory for the report")
            return text(shown)

    @property
    def report(self) -> str:
        """The report of `vpu run`."""
        return self._shown(lib.vpu_result_text)

    @property
    def json(self) -> Dict[str, Any]:
        """The report of `vpu run --json`."""
        return dict(json.loads(self._shown(lib.vpu_result_json)))

    @property
    def stages(self) -> List[Dict[str, Any]]:
        """The stages in the report."""
        return cast(List[Dict[str, Any]], self.json.get("stages", []))

    @property
    def stalls(self) -> Dict[str, int]:
        """Cycles of all SHAVEs by cause, over all stages."""
        total: Dict[str, int] = {}
        for stage in self.stages:
            for cause, cycles in stage.get("shave_cycles_by_cause", {}).items():
                total[cause] = total.get(cause, 0) + cycles
        return total

    @property
    def profile(self) -> List[Dict[str, Any]]:
        """Rows of cycles by source line, of a run with `profile=True`."""
        rows = [dict(row, stage=stage["name"])
                for stage in self.stages for row in stage.get("profile", [])]
        if not rows:
            raise UnsupportedError("this run has no profile: use a context with "
                                   "engine='interpreted' and graph.run(profile=True)")
        return rows

    def _repr_html_(self) -> str:
        return _html.result(self.json, self.cycles, self.seconds)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.cycles} cycles, {self.seconds * 1e3:.6g} ms>"
