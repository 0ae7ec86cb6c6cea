"""Life of the library's objects: who may use one, and when it is freed.

A handle owns one object of C. Whatever needs the object (a Graph, an array on its memory) holds
the handle, so that `close` of one of them never takes memory from another. A guard is a lock that
the objects of one graph share. Objects that die while another thread is in a call wait in the
guard until that call ends: a garbage collector must not block.
"""
from __future__ import annotations

import collections
import os
import threading
import time
import weakref
from typing import Any, Callable, Deque, List, Optional, Tuple, TypeVar

from ._errors import ClosedError, ForkedError, fail
from ._library import ffi

_generation = 0  # of this process: how many forks lie behind it


def _forked() -> None:
    global _generation
    _generation += 1


os.register_at_fork(after_in_child=_forked)


class Guard:
    """A lock, and what is to be freed as soon as it is free."""

    __slots__ = ("lock", "_dead", "_generation")

    def __init__(self) -> None:
        #: For `with`, which no KeyboardInterrupt can leave locked: it is not written in Python.
        self.lock = threading.RLock()
        self._dead: Deque[Tuple[Callable[[Any], None], Any]] = collections.deque()
        self._generation = _generation

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As of a lock."""
        return self.lock.acquire(blocking, timeout)

    def release(self) -> None:
        """As of a lock; frees what died in the meantime."""
        self.lock.release()
        self.bury()

    def mend(self) -> None:
        """Gives up what a KeyboardInterrupt has left locked by this thread."""
        while self.lock._is_owned():  # type: ignore[attr-defined]
            self.lock.release()

    def free(self, function: Callable[[Any], None], pointer: Any) -> None:
        """Frees the object now, or when the call that is under way ends."""
        if self._generation == _generation:
            self._dead.append((function, pointer))
            self.bury()

    def bury(self) -> None:
        """Frees what died during a call."""
        while self._dead and self.lock.acquire(blocking=False):
            try:
                function, pointer = self._dead.popleft()
                function(pointer)
            except IndexError:
                pass
            finally:
                self.lock.release()


class Handle:
    """Owns an object of the library; `keep` lives as long as it.

    What may lead back to the handle, as a function of the user's, is in `holds` instead, where
    the garbage collector sees the circle.
    """

    __slots__ = ("pointer", "guard", "keep", "holds", "generation", "__weakref__")

    def __init__(self, pointer: Any, function: Callable[[Any], None], guard: Guard,
                 keep: Any = None) -> None:
        self.pointer = pointer
        self.guard = guard
        self.keep = keep
        self.holds: List[Any] = []
        self.generation = _generation
        weakref.finalize(self, _free, function, pointer, guard, keep)


#: When a Ctrl-C came while an object was freed, where Python drops exceptions.
late_interrupts: Deque[float] = collections.deque()


def raise_late_interrupt() -> None:
    """Raises a KeyboardInterrupt that was dropped just now: in a loop of short runs every one
    must end the loop."""
    came = late_interrupts.popleft()
    late_interrupts.clear()
    if time.monotonic() - came < 1:
        raise KeyboardInterrupt


def _free(function: Callable[[Any], None], pointer: Any, guard: Guard, keep: Any) -> None:
    del keep  # callbacks may come until the object is gone
    try:
        guard.free(function, pointer)
    except KeyboardInterrupt:
        late_interrupts.append(time.monotonic())


Self = TypeVar("Self", bound="Object")


class Object:
    """Base of what has a handle: `close`, and `with`."""

    _handle: Optional[Handle] = None

    def _use(self) -> Handle:
        """The handle, for the length of a call."""
        handle = self._handle
        if handle is None:
            raise ClosedError(f"this {type(self).__name__} is closed")
        if handle.generation != _generation:
            raise ForkedError(
                f"this {type(self).__name__} belongs to the parent process; make a new one here, "
                "or start processes with multiprocessing's method 'spawn'")
        return handle

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle is None

    def close(self) -> None:
        """Frees it as soon as nothing uses it; a second time does nothing."""
        self._handle = None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def call(guard: Guard, function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function of the library that takes a vpu_error behind its other arguments."""
    error = ffi.new("vpu_error *")
    with guard.lock:
        status = function(*arguments, error)
    guard.bury()
    if status:
        fail(status, error)
