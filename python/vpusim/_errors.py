"""Exceptions: one class for each group of statuses."""
from __future__ import annotations

import re
from typing import Any, Dict, NoReturn, Optional, Type

from ._cdef import Status
from ._library import text


class VpuError(Exception):
    """Something that the library refused or that failed; the base of all others.

    `status` says of which group, `file` and `line` where, as far as it is known.
    """

    status: Status = Status.INTERNAL
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None


class InvalidError(VpuError, ValueError):
    """An argument, an option or a file says something that cannot be."""

    status = Status.INVALID


class ClosedError(InvalidError):
    """The object is closed already."""


class ForkedError(InvalidError):
    """The object belongs to the parent of this process."""


class OutOfMemoryError(VpuError, MemoryError):
    """The host's memory is short."""

    status = Status.NOMEM


class IoError(VpuError, OSError):
    """A file, a device or a connection fails."""

    status = Status.IO


class ParseError(VpuError, ValueError):
    """A file or a text is malformed."""

    status = Status.PARSE


class UnsupportedError(VpuError, NotImplementedError):
    """The backend cannot do it."""

    status = Status.UNSUPPORTED


class FaultError(VpuError):
    """A kernel does what the device would not survive."""

    status = Status.FAULT


class LimitError(VpuError):
    """A limit is reached: time, cycles, or memory."""

    status = Status.LIMIT


class CompileError(VpuError):
    """A kernel does not compile; the message has the diagnostics."""

    status = Status.COMPILE


class MismatchError(VpuError, ValueError):
    """Shapes, element types or arguments do not agree."""

    status = Status.MISMATCH


class UndefinedError(VpuError):
    """A kernel does what has no meaning on the device."""

    status = Status.UNDEFINED


class UntestedError(VpuError):
    """A part of the model that nothing has tested."""

    status = Status.UNTESTED


class InternalError(VpuError):
    """A defect of the library."""

    status = Status.INTERNAL


class PluginError(VpuError):
    """A plug-in of the backend `host` failed."""

    status = Status.PLUGIN


class StoppedError(VpuError):
    """The run was cancelled."""

    status = Status.STOPPED


class VpuWarning(UserWarning):
    """What the library warns of."""


_CLASSES: Dict[int, Type[VpuError]] = {
    int(c.status): c
    for c in (InvalidError, OutOfMemoryError, IoError, ParseError, UnsupportedError, FaultError,
              LimitError, CompileError, MismatchError, UndefinedError, UntestedError,
              InternalError, PluginError, StoppedError)
}


#: A place in front of a message, which the library leaves there alone for kernels.
_PLACE = re.compile(r"([^:\n]+):(\d+):(?:(\d+):)? ")


def fail(status: int, error: Any) -> NoReturn:
    """Raises the exception of a status, with what the library says."""
    file, line, column = text(error.file), int(error.line), int(error.col)
    message = text(error.msg) or f"status {status}"
    place = _PLACE.match(message)
    if not file and place:
        file, line, column = place[1], int(place[2]), int(place[3] or 0)
    made = _CLASSES.get(status, VpuError)(message)
    try:
        made.status = Status(status)
    except ValueError:
        pass
    made.file = file or None
    made.line = line or None
    made.column = column or None
    raise made
