"""Option structures of the library, filled from keywords.

The keywords are the members of the structure, so that what the header gains can be used at once.
"""
from __future__ import annotations

import enum
import os
from typing import Any, Dict, List, Mapping, Tuple, Type

from . import _cdef
from ._library import ffi

_ENUMS: Dict[str, Type[enum.IntEnum]] = {
    "engine": _cdef.Engine,
    "timing": _cdef.Timing,
    "order": _cdef.Order,
    "role": _cdef.Role,
    "type": _cdef.Type,
    "border": _cdef.Border,
    "trace_level": _cdef.TraceLevel,
    "mode": _cdef.TuneMode,
}


def encode(value: Any, name: str) -> bytes:
    """A text or a path as bytes for C."""
    try:
        made = os.fsencode(value)
    except TypeError:
        raise TypeError(f"{name} must be a text or a path, not {value!r}") from None
    if b"\0" in made:
        raise ValueError(f"{name} has a zero byte in it")
    return made


def members(struct: str) -> List[str]:
    """The keywords of a structure."""
    return [name for name, _ in ffi.typeof(struct).fields if name != "struct_size"]


def _number(name: str, value: Any) -> Any:
    """A number, or the name of one."""
    if isinstance(value, str) and name in _ENUMS:
        try:
            return int(_ENUMS[name][value.upper()])
        except KeyError:
            known = ", ".join(repr(m.name.lower()) for m in _ENUMS[name])
            raise ValueError(f"{name} is {value!r}, not one of {known}") from None
    return value


def _texts(name: str, value: Any) -> List[bytes]:
    """A list of texts; a mapping is one of NAME=VALUE, a single text one of itself."""
    if isinstance(value, Mapping):
        value = [f"{key}={item}" for key, item in value.items()]
    elif isinstance(value, (str, bytes, os.PathLike)):
        value = [value]
    return [encode(item, name) for item in value]


def fill(struct: str, **values: Any) -> Tuple[Any, List[Any]]:
    """The structure, and what must live as long as it."""
    fields = dict(ffi.typeof(struct).fields)
    made = ffi.new(struct + " *")
    made.struct_size = ffi.sizeof(struct)
    keep: List[Any] = []
    for name, value in values.items():
        if name not in fields or name == "struct_size":
            raise TypeError(f"no option {name!r}; there are {', '.join(members(struct))}")
        if value is None:
            continue
        kind = fields[name].type.cname
        if kind == "char *":
            value = ffi.new("char[]", encode(value, name))
            keep.append(value)
        elif kind == "char * *":
            items = [ffi.new("char[]", item) for item in _texts(name, value)]
            value = ffi.new("char *[]", items)
            keep += items + [value]
            if "n_" + name in fields:
                setattr(made, "n_" + name, len(items))
        elif fields[name].type.kind == "primitive":
            value = _number(name, value)
        try:
            setattr(made, name, value)
        except (TypeError, OverflowError) as error:
            raise type(error)(f"{name} is {value!r}: {error}") from None
    return made, keep
