"""The fixture `vpu_case` of pytest: a layer against a function of numpy, within a budget.

    def test_grn(vpu_case):
        vpu_case("layer.xml", "GRN", shapes={"in0": (1, 16, 24, 32)}, params={"bias": 1.0},
                 reference=grn, tolerance="ulp=2", max_cycles=40_000)
"""
from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, List, Optional

import pytest
from _vpusim_pytest import vpu_case

__all__ = ["make_case", "vpu_case"]


def _check(layer: Any, inputs: Any, reference: Optional[Callable[..., Any]], tolerance: Any,
           max_cycles: Optional[int], complaints: List[str]) -> Any:
    """Runs the case; complaints get a line for each thing that is wrong."""
    from . import compare
    values = compare._inputs_of(layer, inputs)
    if reference is None:
        result = layer.run(*values)
    else:
        made = compare._against_numpy(layer, reference, values, tolerance)
        result = made.result
        complaints += [str(o) for o in made.outputs if o.count]
    if max_cycles is not None and result.cycles > max_cycles:
        complaints.append(f"cycles: {result.cycles:,} are more than the budget of "
                          f"{max_cycles:,} (x {result.cycles / max(max_cycles, 1):.2f})")
    return result


def _keep_picture(result: Any, path: Path) -> str:
    """Writes the timeline; says where it is, or why it is not there."""
    from ._errors import VpuError
    try:
        result.timeline.save(path)
        return f"timeline: {path}"
    except (VpuError, OSError) as error:
        return f"timeline: none: {error}"


def make_case(tmp_path: Path) -> Callable[..., Any]:
    """What the fixture gives: a function that runs a layer and fails the test where it is wrong or too slow.

    `layer` is a `vpusim.Layer` or a binding file, then with the keywords of Layer. Without a
    reference only the cycles are looked at. It returns the result.
    """
    cases = 0

    def case(layer: Any, name: Optional[str] = None, *, inputs: Any = None,
             reference: Optional[Callable[..., Any]] = None, tolerance: Any = "exact",
             max_cycles: Optional[int] = None, **options: Any) -> Any:
        nonlocal cases
        from .layer import Layer
        __tracebackhide__ = True
        if not isinstance(layer, Layer):
            layer = Layer(layer, name, **options)
        elif options or name:
            raise TypeError("a Layer is given: its options belong to it")
        cases += 1
        complaints: List[str] = []
        result = _check(layer, inputs, reference, tolerance, max_cycles, complaints)
        if complaints:
            complaints.append(_keep_picture(result, tmp_path / f"timeline{cases}.png"))
            pytest.fail(f"{layer!r}:\n  " + "\n  ".join(complaints), pytrace=False)
        return result

    return case
