"""Runs that Ctrl-C ends.

A KeyboardInterrupt reaches the main thread between two steps of Python only, and a run is a
single step. So what the main thread runs goes to a worker thread; the main thread waits, and
cancels when it is interrupted. Other threads get no KeyboardInterrupt and run things themselves.
A graph with functions of the host is run by the main thread, where Ctrl-C ends the function.

Handing over costs more than a short run. A graph whose last run was short is therefore run by the
main thread itself, while a watcher gets the numbers of signals that Python's own handler writes
(signal.set_wakeup_fd), and cancels on SIGINT. Handlers of other signals wait for the end then.
"""
from __future__ import annotations

import os
import queue
import select
import signal
import socket
import threading
import time
from typing import Any, Callable, Optional

from ._handle import Guard, late_interrupts, raise_late_interrupt

PAUSE = 0.05  # seconds between two attempts to cancel
SHORT = 0.002  # seconds of a run that is not worth a worker


class _Job:
    """One run."""

    __slots__ = ("work", "guard", "done", "state", "finished", "running", "stop", "value", "error")

    def __init__(self, work: Callable[[], Any], guard: Guard) -> None:
        self.work = work
        self.guard = guard
        self.done = threading.Lock()
        self.done.acquire()
        self.state = threading.Lock()  # for `running`
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
                    with self.state:
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
    with job.state:  # so that it is not the next run that is cancelled
        if job.running:
            cancel()


def _perform_all(jobs: "queue.SimpleQueue[_Job]") -> None:
    while True:
        jobs.get().perform()


class _Watcher:
    """Cancels the main thread's run on SIGINT."""

    def __init__(self) -> None:
        # Runs use the two by turns: the number of a signal that came during the run before and is
        # read late does not cancel the next one.
        pairs = [socket.socketpair() for _ in range(2)]
        self._reads = {reads.fileno(): reads for reads, _ in pairs}
        self._writes = {writes.fileno(): writes for _, writes in pairs}
        for writes in self._writes.values():
            writes.setblocking(False)
        self._turns = list(zip(self._reads, self._writes))
        self._turn = 0
        self.forward = -1  # who gets the numbers otherwise
        self.cancel: Optional[Callable[[], None]] = None  # there is a run
        self._state = threading.Lock()  # for `cancel` and `_turn`
        threading.Thread(target=self._watch, name="vpusim-signals", daemon=True).start()

    def _watch(self) -> None:
        poll = select.poll()
        for reads in self._reads:
            poll.register(reads, select.POLLIN)
        while True:
            for reads, _ in poll.poll():
                self._look_at(reads)

    def _look_at(self, reads: int) -> None:
        numbers = self._reads[reads].recv(64)
        forward = self.forward
        if forward != -1:
            try:
                os.write(forward, numbers)
            except OSError:
                pass
        with self._state:
            cancel = self.cancel if self._turns[self._turn][0] == reads else None
        while signal.SIGINT in numbers and cancel:
            # First a pause: the signal may have come at the very end of the run, which got it then.
            time.sleep(PAUSE)
            if not self._cancel(cancel):
                break

    def _cancel(self, cancel: Callable[[], None]) -> bool:
        """Cancels the run; whether it was still that one."""
        with self._state:
            if self.cancel is not cancel:
                return False
            cancel()
            return True

    def run(self, work: Callable[[], Any], cancel: Callable[[], None]) -> Any:
        """Does the work, on the main thread."""
        with self._state:
            self._turn = 1 - self._turn
            self.cancel = None  # of a run whose end a second Ctrl-C has cut short
        before = signal.set_wakeup_fd(self._turns[self._turn][1], warn_on_full_buffer=False)
        if before in self._writes:  # likewise
            before = self.forward
        try:
            self.forward, self.cancel = before, cancel
            return work()
        finally:
            with self._state:
                self.cancel = None
            signal.set_wakeup_fd(before)


_worker: Optional[_Worker] = None
_watcher: Optional[_Watcher] = None


def _forget_threads() -> None:
    global _worker, _watcher
    _worker = _watcher = None


os.register_at_fork(after_in_child=_forget_threads)


class Pace:
    """Of a graph: whether its last run was short."""

    __slots__ = ("is_short",)

    def __init__(self) -> None:
        self.is_short = False


def _free_worker() -> _Worker:
    """The worker, or another one where a signal's handler runs something meanwhile."""
    global _worker
    if _worker is None or _worker.busy:
        _worker = _Worker()
    return _worker


def _run_here(guard: Guard, work: Callable[[], Any], cancel: Callable[[], None]) -> Any:
    """On the main thread."""
    global _watcher
    if _watcher is None:
        _watcher = _Watcher()
    with guard.lock:
        made = _watcher.run(work, cancel)
    guard.bury()
    return made


def _run_there(guard: Guard, work: Callable[[], Any], cancel: Callable[[], None]) -> Any:
    """On a worker thread."""
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


def interruptible(pace: Pace, guard: Guard, work: Callable[[], Any],
                  cancel: Callable[[], None], stays: bool = False) -> Any:
    """Does the work under the guard; Ctrl-C cancels it.

    A caller that holds the guard is itself work that Ctrl-C cancels. Work that `stays` is for the main thread however long it takes, as far as that may be.
    """
    if threading.current_thread() is not threading.main_thread() or guard.lock._is_owned():
        with guard.lock:
            return work()
    is_nested = _watcher is not None and _watcher.cancel is not None  # in a signal's handler
    if not is_nested:
        guard.mend()
    if late_interrupts:
        raise_late_interrupt()
    begin = time.perf_counter()
    here = ((pace.is_short or stays) and signal.getsignal(signal.SIGINT) is signal.default_int_handler
            and not is_nested)
    pace.is_short = False
    made = (_run_here if here else _run_there)(guard, work, cancel)
    pace.is_short = time.perf_counter() - begin < SHORT
    return made
