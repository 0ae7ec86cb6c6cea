"""Runs that Ctrl-C ends.

A KeyboardInterrupt reaches the main thread between two steps of Python only, and a run is a
single step. So what the main thread runs goes to a worker thread; the main thread waits, and
cancels when it is interrupted. Other threads get no KeyboardInterrupt and run things themselves.
"""
from __future__ import annotations

import os
import queue
import threading
from typing import Any, Callable, Optional

from ._handle import Guard

PAUSE = 0.05  # seconds between two attempts to cancel


class _Job:
    """One run."""

    __slots__ = ("work", "guard", "done", "finished", "running", "stop", "value", "error")

    def __init__(self, work: Callable[[], Any], guard: Guard) -> None:
        self.work = work
        self.guard = guard
        self.done = threading.Lock()
        self.done.acquire()
        self.finished = self.running = self.stop = False
        self.value: Any = None
        self.error: Optional[BaseException] = None

    def _acquire(self) -> bool:
        """The guard, unless the job is to stop first."""
        if self.guard.acquire(blocking=False):
            return True
        while not self.stop:
            if self.guard.acquire(timeout=PAUSE):
                return True
        return False

    def perform(self) -> None:
        """On the worker thread. Once, though it may be queued twice."""
        if self.finished:
            return
        try:
            if self._acquire():
                try:
                    self.running = True
                    self.value = self.work()
                finally:
                    self.running = False
                    self.guard.release()
        except BaseException as error:  # belongs to the thread that waits
            self.error = error
        self.finished = True
        self.done.release()


class _Worker:
    """A thread that performs jobs, one at a time."""

    def __init__(self) -> None:
        self._jobs: "queue.SimpleQueue[_Job]" = queue.SimpleQueue()
        self.busy = False
        threading.Thread(target=_perform_all, args=(self._jobs,), name="vpusim",
                         daemon=True).start()

    def run(self, job: _Job, cancel: Callable[[], None]) -> None:
        """Returns when the job has ended; raises what interrupted the wait."""
        interrupt: Optional[BaseException] = None
        while not job.finished:
            try:
                # A second time when the first was interrupted, perhaps too early.
                self._jobs.put(job)
                while not job.finished:
                    job.done.acquire(timeout=PAUSE if interrupt else 3600)
                    if interrupt and not job.finished:
                        _stop(job, cancel)
            except BaseException as error:  # a signal's handler raised it
                interrupt = interrupt or error
                _stop(job, cancel)
        if interrupt:
            raise interrupt


def _stop(job: _Job, cancel: Callable[[], None]) -> None:
    job.stop = True
    if job.running:
        cancel()


def _perform_all(jobs: "queue.SimpleQueue[_Job]") -> None:
    while True:
        jobs.get().perform()


_worker: Optional[_Worker] = None


def _forget_worker() -> None:
    global _worker
    _worker = None


os.register_at_fork(after_in_child=_forget_worker)


def _free_worker() -> _Worker:
    """The worker, or another one where a signal's handler runs something meanwhile."""
    global _worker
    if _worker is None or _worker.busy:
        _worker = _Worker()
    return _worker


def interruptible(guard: Guard, work: Callable[[], Any], cancel: Callable[[], None]) -> Any:
    """Does the work under the guard, which the caller does not hold; Ctrl-C cancels it."""
    if threading.current_thread() is not threading.main_thread():
        with guard:
            return work()
    worker = _free_worker()
    job = _Job(work, guard)
    worker.busy = True
    try:
        worker.run(job, cancel)
    finally:
        worker.busy = False
    if job.error:
        try:
            raise job.error
        finally:
            job.error = None  # its traceback leads back to this frame
    return job.value
