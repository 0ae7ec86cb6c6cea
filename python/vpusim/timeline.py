"""Timelines as pictures."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Tuple, Union

from . import _options
from ._handle import Guard, call
from ._library import lib

PathLike = Union[str, "os.PathLike[str]"]

WIDTH = 1200  # pixels
MOST_PNG, MOST_SVG = 4 << 20, 1 << 20  # bytes that a notebook gets


def picture(trace: PathLike, *, png: Optional[PathLike] = None, svg: Optional[PathLike] = None,
            width: int = 0, height: int = 0, dark: bool = False) -> None:
    """Writes the timeline in a trace file as a picture: PNG, SVG or both."""
    options, keep = _options.fill("vpu_picture_options", png=png, svg=svg, width=width,
                                  height=height, dark=dark)
    call(Guard(), lib.vpu_picture_write, _options.encode(trace, "trace"), options)
    del keep


class Timeline:
    """The timeline of a run, in a notebook a picture."""

    def __init__(self, record: Callable[[Path], Any], label: str) -> None:
        with tempfile.TemporaryDirectory(prefix="vpusim-") as folder:
            path = Path(folder) / "run.pftrace"
            record(path)
            #: The trace itself, in Perfetto's format.
            self.trace = path.read_bytes()
        self.label = label

    def _pictures(self, **options: Any) -> Tuple[bytes, bytes]:
        with tempfile.TemporaryDirectory(prefix="vpusim-") as folder:
            trace, png, svg = (Path(folder) / name for name in ("t.pftrace", "t.png", "t.svg"))
            trace.write_bytes(self.trace)
            picture(trace, png=png, svg=svg, **options)
            return png.read_bytes(), svg.read_bytes()

    def png(self, width: int = WIDTH, height: int = 0, dark: bool = False) -> bytes:
        """The picture as PNG."""
        return self._pictures(width=width, height=height, dark=dark)[0]

    def svg(self, width: int = WIDTH, height: int = 0, dark: bool = False) -> str:
        """The picture as SVG."""
        return self._pictures(width=width, height=height, dark=dark)[1].decode()

    def save(self, path: PathLike, **options: Any) -> None:
        """Writes the picture (.png, .svg), or the trace (any other name)."""
        where = Path(path)
        if where.suffix not in (".png", ".svg"):
            where.write_bytes(self.trace)
            return
        made = self._pictures(**{"width": WIDTH, **options})
        where.write_bytes(made[0] if where.suffix == ".png" else made[1])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        png, svg = self._pictures(width=WIDTH)
        bundle: Dict[str, Any] = {"text/plain": repr(self)}
        if len(png) <= MOST_PNG:
            bundle["image/png"] = png
        if len(svg) <= MOST_SVG:
            bundle["image/svg+xml"] = svg.decode()
        return bundle

    def __repr__(self) -> str:
        return f"<vpusim.Timeline {self.label}, trace of {len(self.trace)} bytes>"
