"""The plug-in of pytest, in a pytest of its own."""
import pytest

CASE = """
import numpy as np

def grn(x):
    wide = x.astype(np.float32)
    return wide / np.sqrt(1 + (wide ** 2).sum(axis=1, keepdims=True))

def off(x):
    made = grn(x).astype(np.float16)
    made[0, 2, 1, 3] = 7
    return made

def case(vpu_case, reference, **more):
    return vpu_case({path!r}, "GRN", shapes={{"in0": (1, 16, 4, 8)}}, params={{"bias": 1.0}},
                    reference=reference, tolerance="ulp=1", **more)

def test_right(vpu_case):
    assert case(vpu_case, grn, max_cycles=1_000_000).cycles > 0

def test_wrong(vpu_case):
    case(vpu_case, off)

def test_slow(vpu_case):
    case(vpu_case, None, max_cycles=100)
"""


def test_cases_fail_with_readable_texts(pytester, root):
    pytester.makepyfile(CASE.format(path=str(root / "kernels/grn/layer.xml")))
    plugin = [] if is_installed() else ["-p", "vpusim.pytest_plugin"]
    done = pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines_random([
        "*out0: 1 of 512 elements differ, first *0, 2, 1, 3*: * instead of 7.0*",
        "*cycles: * are more than the budget of 100 (x *)",
        "*timeline: *timeline1.png"])
    pictures = [line.split("timeline: ")[1].strip() for line in done.outlines
                if "timeline: " in line]
    assert len(pictures) >= 2
    for path in pictures:
        with open(path, "rb") as f:
            assert f.read(4) == b"\x89PNG"


def test_other_tests_run_without_the_library(pytester, monkeypatch):
    monkeypatch.setenv("VPUSIM_LIBRARY", "/nowhere.so")
    pytester.makepyfile("def test_other(): pass\n\ndef test_ours(vpu_case): pass\n")
    plugin = [] if is_installed() else ["-p", "_vpusim_pytest"]
    done = pytester.runpytest_subprocess(*plugin, "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["*nowhere.so*"])


def is_installed():
    from importlib.metadata import PackageNotFoundError, distribution
    try:
        return any(e.group == "pytest11" for e in distribution("vpusim").entry_points)
    except PackageNotFoundError:
        return False


def test_a_layer_may_be_given(vpu_case, grn):
    import numpy as np
    x = np.ones((1, 16, 4, 8), np.float16)
    assert vpu_case(grn, inputs=x, reference=grn.reference, tolerance="ulp=1").output.any()
    with pytest.raises(TypeError):
        vpu_case(grn, inputs=x, shaves=3)


if not is_installed():
    from vpusim.pytest_plugin import vpu_case  # noqa: F401
