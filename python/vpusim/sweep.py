"""Points of a sweep, one by one, for programs that search (docs/sweep.md)."""
from __future__ import annotations

import json
import os
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

from ._errors import ClosedError, InvalidError, VpuError

Value = Union[str, int, float]


class PointError(VpuError):
    """A point failed; the message says why."""


@dataclass(frozen=True)
class Choices:
    """A column whose values are those of a list."""

    values: Tuple[str, ...]


@dataclass(frozen=True)
class Range:
    """A column that takes any number from `low` to `high`, or any whole one."""

    low: float
    high: float
    whole: bool


class Sweep:
    """A manifest's points, evaluated where and when a search wants them.

        with vpusim.Sweep("grn.manifest", "grn") as sweep:
            figures = sweep.evaluate(shaves=4, ddr_load_stall=130)
            figures["cycles"]

    The folder `dir` is the one of `vpu sweep`: made from the manifest when it is not there, and
    what has a result in it, of another program or an earlier search, is not computed again.
    `columns` says which parameters there are. `program` is the vpu to start: else VPU of the
    environment, else vpu on the PATH. `timeout` is of a point, in seconds of the host's time.

    One thread at a time evaluates; for several points at once open the folder several times.
    """

    columns: Dict[str, Union[Choices, Range]]

    def __init__(self, manifest: "os.PathLike[str] | str | None", dir: "os.PathLike[str] | str", *,
                 program: Optional[str] = None, timeout: Optional[float] = None) -> None:
        self._program = program or os.environ.get("VPU") or "vpu"
        self._lock = threading.Lock()
        self._process: Optional[subprocess.Popen[str]] = None
        self.dir = Path(dir)
        if manifest is not None and not (self.dir / "points.jsonl").exists():
            self._plan(os.fspath(manifest))
        self._start(timeout)

    def evaluate(self, **parameters: Value) -> Dict[str, float]:
        """The figures of a point; a parameter that is not named has its first value.

        Raises PointError when the point fails, InvalidError for a parameter or a value that the
        manifest does not have.
        """
        with self._lock:
            answer = self._ask(parameters)
        if "error" in answer:
            raise InvalidError(answer["error"])
        if "failed" in answer:
            raise PointError(answer["failed"])
        return dict(answer["figures"])

    def suggest(self, trial: Any) -> Dict[str, Value]:
        """Parameters that an Optuna trial, or what behaves as one, suggests.

        Columns of a single value are left to their value.
        """
        out: Dict[str, Value] = {}
        for name, column in self.columns.items():
            if isinstance(column, Range):
                ask = trial.suggest_int if column.whole else trial.suggest_float
                kind = int if column.whole else float
                out[name] = ask(name, kind(column.low), kind(column.high))
            elif len(column.values) > 1:
                out[name] = trial.suggest_categorical(name, list(column.values))
        return out

    def close(self) -> None:
        """Ends the program that computes; what is computed stays in the folder."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin and process.stdout and process.stderr
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.wait()
        process.stdout.close()
        process.stderr.close()

    def __enter__(self) -> "Sweep":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            self.close()

    # --- the program ------------------------------------------------------------------------

    def _plan(self, manifest: str) -> None:
        done = subprocess.run([self._program, "sweep", "plan", manifest, "--dir", str(self.dir)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise InvalidError(_message(done.stderr))

    def _start(self, timeout: Optional[float]) -> None:
        words: List[str] = [self._program, "sweep", "serve", str(self.dir)]
        if timeout is not None:
            words += ["--timeout", str(timeout)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True, encoding="utf-8")
        self.columns = {c["name"]: Choices(tuple(c["choices"])) if "choices" in c else
                        Range(c["low"], c["high"], c["whole"])
                        for c in self._read()["columns"]}

    def _ask(self, parameters: Dict[str, Value]) -> Dict[str, Any]:
        if self._process is None:
            raise ClosedError("the sweep is closed")
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(parameters) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it says why where the answer would be
        try:
            return self._read()
        except KeyboardInterrupt:
            self._process.terminate()  # else the next question would get this one's answer
            self.close()
            raise

    def _read(self) -> Dict[str, Any]:
        assert self._process and self._process.stdout and self._process.stderr
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)  # type: ignore[no-any-return]
        message = _message(self._process.stderr.read())
        self.close()
        raise InvalidError(message)


def _message(text: str) -> str:
    """What the program said, without its name."""
    return text.strip().replace("vpu: ", "") or "the program ended without a word"
