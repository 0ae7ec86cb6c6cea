"""Each class of exceptions, where it can be had through the public interface."""
import os

import numpy as np
import pytest

import vpusim
from vpusim import _errors
from vpusim._library import ffi

IDENTITY = "__kernel void k(__global const float *x, __global float *y)" \
           "{ int i = get_global_id(0); y[i] = x[i]; }"


def run(source, **options):
    k = vpusim.kernel(source, **options)
    return k(np.zeros(4, np.float32), vpusim.out(4, "f32"))


def test_invalid():
    with pytest.raises(vpusim.InvalidError) as caught:
        vpusim.Context("abacus")
    assert isinstance(caught.value, (ValueError, vpusim.VpuError))
    assert caught.value.status is vpusim.Status.INVALID
    assert caught.value.file is None and caught.value.line is None


def test_io_is_an_os_error(tmp_path, context):
    with pytest.raises(OSError) as caught:
        vpusim.Program(context, file=tmp_path / "none.cl")
    assert isinstance(caught.value, vpusim.IoError) and "none.cl" in str(caught.value)


def test_parse_has_file_and_line(tmp_path):
    (tmp_path / "bad.xml").write_text("<CustomLayer\n<\n")
    with pytest.raises(vpusim.ParseError) as caught:
        vpusim.Layer(tmp_path / "bad.xml").run(np.zeros(4, np.float16))
    assert caught.value.file and caught.value.file.endswith("bad.xml")
    assert caught.value.line in (1, 2)


def test_compile_has_file_and_line(context):
    with pytest.raises(vpusim.CompileError) as caught:
        vpusim.Program(context, "__kernel void k(void)\n{\n    x = 1;\n}\n", name="k.cl").kernel()
    assert caught.value.file == "k.cl" and caught.value.line == 3
    assert caught.value.status is vpusim.Status.COMPILE


def test_unsupported():
    with vpusim.Context("null") as context:
        graph = vpusim.Graph(context)
        with pytest.raises(NotImplementedError) as caught:
            graph.check()
    assert isinstance(caught.value, vpusim.UnsupportedError)


def test_fault_names_the_line():
    with pytest.raises(vpusim.FaultError) as caught:
        run(IDENTITY.replace("x[i]", "x[i + 1000000000]"))
    assert caught.value.status is vpusim.Status.FAULT


def test_limit(context):
    with pytest.raises(vpusim.LimitError):
        run("__kernel void k(__global const float *x, __global float *y)"
            "{ while (x[0] == 0) y[0] += 1; }", max_cycles=100_000)


def test_mismatch(context):
    k = vpusim.kernel(IDENTITY, context=context)
    with pytest.raises(vpusim.MismatchError) as caught:
        k(np.zeros(4, np.float16), vpusim.out(4, "f32"))
    assert isinstance(caught.value, ValueError) and "x" in str(caught.value)


def test_undefined():
    with pytest.raises(vpusim.UndefinedError):
        run("__kernel __attribute__((reqd_work_group_size(4, 1, 1)))"
            "void k(__global const float *x, __global float *y)"
            "{ if (get_local_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE); y[0] = x[0]; }")


def test_plugin(tmp_path):
    with pytest.raises((vpusim.PluginError, vpusim.IoError)):
        run(IDENTITY, backend=f"host:{tmp_path}/none.so")


def test_stopped(endless):
    import threading
    threading.Timer(0.3, endless.cancel).start()
    with pytest.raises(vpusim.StoppedError):
        endless.run()


@pytest.mark.parametrize("status", [s for s in vpusim.Status if s])
def test_every_status_has_its_class(status):
    error = ffi.new("vpu_error *")
    error.msg, error.file, error.line, error.col = b"words", b"f.cl", 3, 4
    with pytest.raises(vpusim.VpuError, match="words") as caught:
        _errors.fail(int(status), error)
    made = caught.value
    assert type(made).status is status and type(made) is not vpusim.VpuError
    assert (made.status, made.file, made.line, made.column) == (status, "f.cl", 3, 4)


def test_unknown_statuses_are_errors():
    with pytest.raises(vpusim.VpuError, match="-99"):
        _errors.fail(-99, ffi.new("vpu_error *"))


def test_closed_objects_say_so(context, scaling):
    result = scaling.graph.run()
    for thing, use in [(result, lambda: result.report),
                       (scaling.graph, scaling.graph.run),
                       (scaling.graph, lambda: scaling.x.array),
                       (context, lambda: vpusim.Graph(context))]:
        thing.close()
        thing.close()
        with pytest.raises(vpusim.ClosedError, match="closed"):
            use()
    assert "closed" in repr(context)
    assert os.path.basename(vpusim.library_path)
