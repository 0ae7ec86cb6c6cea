"""Finds libvpusim, opens it and checks that it belongs to this package."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, List, Tuple

import cffi

from . import _cdef

SONAME = "libvpusim.so.0"

ffi: Any = cffi.FFI()
ffi.cdef(_cdef.DECLARATIONS)


def _candidates() -> List[str]:
    """Where the library is looked for; a named one is the only candidate."""
    named = os.environ.get("VPUSIM_LIBRARY")
    if named:
        return [named]
    return [SONAME, str(Path(__file__).resolve().parent / SONAME)]


def _loaded_path(name: str) -> str:
    """The file that the loader took for a name."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.split(None, 5)[-1].strip()
                if os.path.basename(path).startswith("libvpusim.so"):
                    return path
    except OSError:
        pass
    return name


def _open() -> Tuple[Any, str]:
    failures = []
    for name in _candidates():
        try:
            library = ffi.dlopen(name)
        except OSError as error:
            failures.append(str(error).split("Additionally")[0].strip())
            continue
        return library, name if os.sep in name else _loaded_path(name)
    raise ImportError(
        "vpusim: the library libvpusim is not found; install it (make install, then ldconfig), "
        "or name its file in VPUSIM_LIBRARY:\n  " + "\n  ".join(failures))


def check_version(library_version: str, api_version: int, path: str) -> None:
    """Refuses a library of another release, and one that is older than the declarations."""
    if library_version.split(".")[:2] != _cdef.VERSION.split(".")[:2]:
        raise ImportError(f"vpusim: this package is version {_cdef.VERSION}, the library {path} "
                          f"is version {library_version}; install the same release of both")
    if api_version < _cdef.API_VERSION:
        raise ImportError(f"vpusim: this package needs API version {_cdef.API_VERSION}, the "
                          f"library {path} has {api_version}; install the library again")


lib, library_path = _open()
try:
    check_version(ffi.string(lib.vpu_version()).decode(), lib.vpu_api_version(), library_path)
except AttributeError as _error:
    raise ImportError(f"vpusim: {library_path} is no libvpusim: {_error}") from None


def text(pointer: Any) -> str:
    """A text of the library; an empty one for NULL."""
    return str(ffi.string(pointer), "utf-8", "replace") if pointer else ""
