"""What the checkers have found."""
from __future__ import annotations

import json
from typing import Any, Dict, Iterator, NamedTuple

from ._handle import Handle, Object
from ._library import lib, text


class Finding(NamedTuple):
    """One finding; `times` says how often it happened."""

    checker: str
    text: str
    kernel: str
    file: str
    line: int
    times: int
    is_note: bool


class Findings(Object):
    """A sequence of findings. It is false when there are no errors among them."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        c = handle.pointer
        with handle.guard.lock:
            #: Findings that are no notes.
            self.error_count = int(lib.vpu_findings_error_count(c))
            #: Seconds of the host: of all, with compiling.
            self.seconds = float(lib.vpu_findings_seconds(c))
            #: Of the launches alone.
            self.launch_seconds = float(lib.vpu_findings_launch_seconds(c))
            self._items = tuple(
                Finding(text(lib.vpu_findings_checker(c, i)), text(lib.vpu_findings_text(c, i)),
                        text(lib.vpu_findings_kernel(c, i)), text(lib.vpu_findings_file(c, i)),
                        int(lib.vpu_findings_line(c, i)), int(lib.vpu_findings_times(c, i)),
                        bool(lib.vpu_findings_is_note(c, i)))
                for i in range(lib.vpu_findings_count(c)))

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        return self.error_count > 0

    def __getitem__(self, i: int) -> Finding:
        return self._items[i]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._items)

    def _shown(self, function: Any) -> str:
        handle = self._use()
        with handle.guard.lock:
            return text(function(handle.pointer))

    @property
    def report(self) -> str:
        """All findings, as `vpu check` prints them."""
        return self._shown(lib.vpu_findings_report)

    @property
    def json(self) -> Dict[str, Any]:
        """All findings as `vpu check --json` has them."""
        return dict(json.loads(self._shown(lib.vpu_findings_json)))

    @property
    def sarif(self) -> Dict[str, Any]:
        """All findings as SARIF."""
        return dict(json.loads(self._shown(lib.vpu_findings_sarif)))

    def __repr__(self) -> str:
        return f"<vpusim.Findings {len(self)}, errors {self.error_count}>"
