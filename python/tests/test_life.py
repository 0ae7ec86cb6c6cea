"""Lifetimes, threads, Ctrl-C, fork, many runs."""
import gc
import itertools
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import vpusim


def test_objects_go_in_any_order(new_scaling):
    names = ("context", "graph", "program", "result", "findings", "view")
    for order in itertools.islice(itertools.permutations(names), 0, None, 37):
        things = {"context": vpusim.Context()}
        made = new_scaling(things["context"])
        things["graph"], things["program"] = made.graph, made.operation.kernel.program
        things["result"] = made.graph.run()
        things["findings"] = made.graph.check()
        things["view"] = made.y.array
        del made
        for name in order:
            thing = things.pop(name)
            if name != "view":
                thing.close()
            del thing
        gc.collect()


def test_garbage_is_collected(new_scaling):
    context = vpusim.Context()
    made = new_scaling(context)
    result = made.graph.run()
    gone = [weakref.ref(x._handle) for x in (made.graph, context, result)]
    del made, context, result
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


def test_what_dies_during_a_run_is_freed_behind_it(endless):
    results = []

    def run():
        with pytest.raises(vpusim.StoppedError):
            endless.run()

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    guard = endless._use().guard
    calls = []
    began = time.monotonic()
    guard.free(lambda pointer: calls.append(pointer), 7)
    assert time.monotonic() - began < 0.1 and not calls
    endless.cancel()
    thread.join()
    assert calls == [7] and not results


def test_closing_while_another_thread_runs(endless):
    errors = []

    def run():
        try:
            endless.run()
        except vpusim.StoppedError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    handle = endless._use()
    endless.close()
    from vpusim._library import lib
    while thread.is_alive():
        lib.vpu_graph_cancel(handle.pointer)
        thread.join(0.05)
    assert len(errors) == 1


@pytest.mark.parametrize("shared", [False, True])
def test_eight_threads_count_the_same_cycles(new_scaling, shared):
    common = vpusim.Context() if shared else None
    cycles, barrier = [], threading.Barrier(8)

    def work():
        made = new_scaling(common or vpusim.Context(), n=512)
        barrier.wait()
        for _ in range(5):
            cycles.append(made.graph.run().cycles)
            np.testing.assert_array_equal(made.y.array, 3 * np.arange(512, dtype=np.float32))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cycles) == 40 and len(set(cycles)) == 1


def test_eight_threads_on_one_layer(grn):
    wrong = []

    def work(i):
        x = np.full((1, 16, 4, 8), i + 1, np.float16)
        for _ in range(5):
            got = grn.run(x).output
            if not np.allclose(got, grn.reference(x), rtol=2e-3):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- Ctrl-C


def interrupt_after(seconds):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_ctrl_c_ends_a_run(endless):
    for _ in range(2):
        began = time.monotonic()
        interrupt_after(0.3)
        with pytest.raises(KeyboardInterrupt):
            endless.run()
        assert time.monotonic() - began < 30
    endless.inputs[0].write(np.ones(1, np.int32))
    assert endless.run().cycles > 0  # the graph is as before


def test_ctrl_c_ends_checks_and_comparisons(endless):
    other = endless.clone()
    other.finalize()
    for work in (endless.check, lambda: vpusim.compare.diff_graphs(endless, other), endless.tune):
        began = time.monotonic()
        interrupt_after(0.3)
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.monotonic() - began < 30
    endless.inputs[0].write(np.ones(1, np.int32))
    assert endless.run().cycles > 0


def test_ctrl_c_ends_a_run_of_the_main_thread(suddenly_endless):
    began = time.monotonic()
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        suddenly_endless.run()
    assert time.monotonic() - began < 30
    assert signal.set_wakeup_fd(-1) == -1  # as before
    suddenly_endless.inputs[0].write(np.ones(1, np.int32))
    for _ in range(5):
        assert suddenly_endless.run().cycles > 0


def test_others_get_numbers_of_signals_too(suddenly_endless):
    import socket
    reads, writes = socket.socketpair()
    writes.setblocking(False)
    before = signal.set_wakeup_fd(writes.fileno(), warn_on_full_buffer=False)
    try:
        interrupt_after(0.3)
        with pytest.raises(KeyboardInterrupt):
            suddenly_endless.run()
    finally:
        assert signal.set_wakeup_fd(before) == writes.fileno()
    reads.settimeout(10)
    assert reads.recv(1)[0] == signal.SIGINT


def test_handlers_of_ones_own_get_a_worker(suddenly_endless):
    seen = []

    def handler(number, frame):
        seen.append(number)
        suddenly_endless.cancel()

    before = signal.signal(signal.SIGINT, handler)
    try:
        interrupt_after(0.3)
        with pytest.raises(vpusim.StoppedError):
            suddenly_endless.run()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]


def test_ctrl_c_while_another_thread_has_the_graph(endless):
    ended = []

    def run():
        try:
            endless.run()
        except vpusim.StoppedError:
            ended.append(1)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        endless.run()
    assert not ended  # the other's run goes on
    endless.cancel()
    thread.join()
    assert ended


def test_other_signals_run_their_handlers(endless):
    seen = []

    def handler(number, frame):
        seen.append(number)
        endless.cancel()

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(vpusim.StoppedError):
            endless.run()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [signal.SIGALRM]


def test_a_handler_may_run_graphs(endless, scaling):
    cycles = []

    def handler(number, frame):
        cycles.append(scaling.graph.run().cycles)
        endless.cancel()

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(vpusim.StoppedError):
            endless.run()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert cycles == [scaling.graph.run().cycles]


def test_a_program_ends_while_a_thread_runs(tmp_path):
    code = """
        import threading, time, sys
        sys.path.insert(0, {tests!r})
        import numpy, vpusim, conftest
        context = vpusim.Context(max_cycles=2**64 - 1)
        graph = vpusim.Graph(context)
        x, y = graph.input(1, "i32"), graph.output(1, "i32")
        graph.launch(vpusim.Program(context, conftest.ENDLESS).kernel(), x=x, y=y)
        graph.finalize()
        x.fill("zeros")
        threading.Thread(target=graph.run, daemon=True).start()
        time.sleep(0.3)
        print("end")
    """
    done = subprocess.run(
        [sys.executable, "-c",
         textwrap.dedent(code).format(tests=os.path.dirname(__file__))],
        capture_output=True, text=True, timeout=60)
    assert done.stdout == "end\n" and done.returncode == 0, done.stderr


# --- fork


def in_child(work):
    """The status of a child that does the work."""
    pid = os.fork()
    if not pid:
        status = 99
        try:
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_children_cannot_use_objects_of_their_parent(context, scaling, new_scaling):
    scaling.graph.run()  # there is a worker thread
    result = scaling.graph.run()

    def work():
        for use in (scaling.graph.run, lambda: scaling.x.array, lambda: result.report,
                    lambda: vpusim.Graph(context), scaling.graph.cancel):
            try:
                use()
                return 1
            except vpusim.ForkedError as error:
                if "spawn" not in str(error):
                    return 2
        scaling.graph.close()
        return 0

    assert in_child(work) == 0
    assert scaling.graph.run().cycles == result.cycles


def test_a_child_can_make_its_own(scaling, new_scaling):
    def work():
        made = new_scaling(vpusim.Context(threads=1))
        return 0 if made.graph.run().cycles == wanted else 3

    wanted = scaling.graph.run().cycles
    assert in_child(work) == 0


def test_a_fork_while_a_graph_runs(endless):
    thread = threading.Thread(target=lambda: pytest.raises(vpusim.StoppedError, endless.run))
    thread.start()
    time.sleep(0.2)

    def work():
        try:
            endless.run()
        except vpusim.ForkedError:
            return 0
        return 1

    assert in_child(work) == 0
    endless.cancel()
    thread.join()


# --- many


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def test_a_thousand_runs_without_growth(scaling):
    for _ in range(200):
        scaling.graph.run().json
    gc.collect()
    before = resident()
    for _ in range(1000):
        scaling.graph.run().json
    gc.collect()
    assert resident() - before < 1 << 20


def test_a_thousand_views_and_copies(scaling):
    big = np.ones(64, np.float32)
    before = None
    for i in range(1200):
        if i == 200:
            gc.collect()
            before = resident()
        scaling.x.write(big)
        scaling.x.array[0] = 2
        scaling.x.read()
    gc.collect()
    assert resident() - before < 1 << 20


def test_graphs_come_and_go(new_scaling):
    context = vpusim.Context()
    before = None
    for i in range(150):
        if i == 50:
            gc.collect()
            before = resident()
        new_scaling(context).graph.run()
    gc.collect()
    assert resident() - before < 4 << 20


STORM = """
import os, random, signal, sys, threading, time
sys.path.insert(0, {tests!r})
import conftest, vpusim, vpusim._run
if {worker}:
    vpusim._run.SHORT = -1
graph = conftest.Scaling(vpusim.Context(threads=1)).graph
sent = caught = 0
others = []

def kill():
    global sent
    for _ in range(100):
        time.sleep(0.01 + random.random() * 0.02)
        sent += 1
        os.kill(os.getpid(), signal.SIGINT)

thread = threading.Thread(target=kill)
thread.start()
while True:
    try:
        while thread.is_alive():
            try:
                graph.run()
            except Exception as error:
                others.append(error)
        break
    except KeyboardInterrupt:
        caught += 1
for _ in range(5):  # the first after an interruption goes to the worker
    try:
        graph.run()
    except KeyboardInterrupt:  # the last one, when it came while an object was freed
        caught += 1
print(sent, caught, others, signal.set_wakeup_fd(-1))
"""


@pytest.mark.parametrize("worker", [False, True])
def test_a_storm_of_ctrl_c(worker):
    """None is lost while short runs follow one another, none ends a run that it does not hit."""
    code = STORM.format(tests=os.path.dirname(__file__), worker=worker)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    sent, caught, others, fd = done.stdout.split()
    # Two that come together are one.
    assert int(sent) == 100 and int(caught) >= 50 and (others, fd) == ("[]", "-1"), done.stdout
