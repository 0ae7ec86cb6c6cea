"""Comparisons: rules by hand, layers against numpy and against each other."""
import numpy as np
import pytest

import vpusim
from vpusim import compare

INF, NAN = np.inf, np.nan
H = np.float16


def next_half(x, n=1):
    """n steps away from zero."""
    return (np.float16(x).view(np.uint16) + np.uint16(n)).view(np.float16)


@pytest.mark.parametrize("a, b, rule, equal", [
    (1, 1, "exact", True),
    (1, next_half(1), "exact", False),
    (1, next_half(1), "ulp=1", True),
    (1, next_half(1, 2), "ulp=1", False),
    (next_half(0), -next_half(0), "ulp=2", True),
    (next_half(0), -next_half(0), "ulp=1", False),
    (0.0, -0.0, "exact", False),
    (0.0, -0.0, "ulp=5", False),
    (0.0, -0.0, "zero=equal", True),
    (65504, INF, "ulp=1", False),
    (65504, INF, "abs=1e9", False),
    (INF, INF, "exact", True),
    (INF, -INF, "rel=9", False),
    (NAN, NAN, "exact", True),
    (NAN, NAN, "nan=never", False),
    (NAN, NAN, "nan=bits", True),
    (NAN, np.uint16(0x7e01).view(H), "nan=bits", False),
    (NAN, np.uint16(0x7e01).view(H), "nan=any", True),
    (NAN, 1, "abs=1e9", False),
    (1.5, 1, "abs=0.5", True),
    (1.5, 1, "abs=0.4", False),
    (1.5, 1, "rel=0.5", True),
    (1, 1.5, "rel=0.3", False),
    (1.5, 1, "ulp=1,rel=0.5", True),
])
def test_rules(a, b, rule, equal):
    pair = [np.array([x], np.float16) for x in (a, b)]
    assert bool(compare._equal(*pair, compare._parse_rule(rule))[0]) is equal


@pytest.mark.parametrize("dtype, a, b, n", [
    (np.int32, -2**31, 2**31 - 1, 2**32 - 1), (np.uint8, 0, 255, 255),
    (np.int64, -2**63, 2**63 - 1, 2**64 - 1), (np.float32, 1, 1 + 2**-23, 1),
])
def test_steps(dtype, a, b, n):
    pair = [np.array([x], dtype) for x in (a, b)]
    assert int(compare._steps(*pair)[0]) == int(compare._steps(*pair[::-1])[0]) == n


def test_rules_for_outputs():
    rules = compare._parse(["ulp=1", "out0=ulp=2", "out1=exact", "out0=abs=1"])
    assert compare._rule_for(rules, "out0").abs == 1
    assert compare._rule_for(rules, "out1").ulp is None
    assert compare._rule_for(rules, "out2").ulp == 1
    for wrong in ("close", "ulp=-1", "ulp=x", "nan=some", "ulp=1,close", "out0=close"):
        with pytest.raises(vpusim.InvalidError):
            compare._parse(wrong)


def test_against_numpy(grn):
    x = np.random.default_rng(2).standard_normal((1, 16, 4, 8)).astype(np.float16)
    good = vpusim.diff(grn, grn.reference, inputs=x, tolerance="ulp=1")
    assert good.equal and good.count == 0 and good.first is None and good.total == x.size
    assert good.result.cycles > 0 and "agree" in good.summary

    def wrong(x):
        made = grn.reference(x).astype(np.float16)
        made[0, 3, 2, 5] += 1
        made[0, 7, 0, 0] = 9
        return made

    bad = vpusim.diff(grn, wrong, inputs=[x], tolerance="ulp=1")
    assert not bad.equal and bad.count == 2 and bad.first == (0, 3, 2, 5)
    assert bad.got == good.result.output[bad.first]
    assert float(bad.wanted) == pytest.approx(float(bad.got) + 1, abs=2e-3)
    assert "2 of 512 elements differ, first [0, 3, 2, 5]" in bad.text


def test_random_inputs_by_default(root):
    layer = vpusim.Layer(root / "kernels/grn/layer.xml", "GRN", shapes={"in0": "1x4x2x8"},
                         params={"bias": 1.0})
    seen = []
    vpusim.diff(layer, lambda x: seen.append(x) or x)
    np.testing.assert_array_equal(seen[0], layer.run("random:0").inputs[0])


def test_what_cannot_be_compared(grn):
    x = np.ones((1, 16, 4, 8), np.float16)
    with pytest.raises(vpusim.MismatchError, match="shape"):
        vpusim.diff(grn, lambda x: x[0], inputs=x)
    with pytest.raises(vpusim.MismatchError, match="2 arrays"):
        vpusim.diff(grn, lambda x: (x, x), inputs=x)
    with pytest.raises(vpusim.InvalidError, match="inputs"):
        vpusim.diff(grn, lambda x: x)
    with pytest.raises(vpusim.InvalidError, match="close"):
        vpusim.diff(grn, lambda x: x, inputs=x, tolerance="close")
    with pytest.raises(TypeError, match="heat_map"):
        vpusim.diff(grn, lambda x: x, inputs=x, heat_map="h.png")


def test_two_layers(grn, root, tmp_path):
    x = np.random.default_rng(2).standard_normal((1, 16, 4, 8)).astype(np.float16)
    path = root / "kernels/grn/layer.xml"
    same = vpusim.diff(grn, vpusim.Layer(path, "GRN", params={"bias": 1.0}), inputs=x)
    assert same.equal and same.count == 0 and same.json and same.text
    other = vpusim.Layer(path, "GRN", params={"bias": 3.0})
    bad = vpusim.diff(grn, other, inputs=x, outputs_only=True, heat_map=tmp_path / "h.png")
    assert not bad.equal and bad.count > 100 and bad.summary
    assert (tmp_path / "h.png").exists()
    assert vpusim.diff(grn, other, inputs=x, tolerance=["exact", "out0=rel=9"],
                       outputs_only=True).equal
    with pytest.raises(vpusim.InvalidError, match="close"):
        vpusim.diff(grn, other, inputs=x, tolerance="close")


def test_two_threads_compare_the_same_layers_both_ways(grn, root):
    import threading
    other = vpusim.Layer(root / "kernels/grn/layer.xml", "GRN", params={"bias": 1.0})
    x, equal = np.ones((1, 16, 4, 8), np.float16), []

    def work(a, b):
        for _ in range(5):
            equal.append(vpusim.diff(a, b, inputs=x).equal)

    threads = [threading.Thread(target=work, args=pair, daemon=True)
               for pair in ((grn, other), (other, grn))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert equal == [True] * 10
    with pytest.raises(vpusim.InvalidError, match="itself"):
        vpusim.diff(grn, grn, inputs=x)


def test_two_graphs(context, new_scaling):
    a, b = new_scaling(context), new_scaling(context, f=2.0)
    made = vpusim.diff(a.graph, b.graph)
    assert made.count == 63  # 0 is 0
    made.close()
    with pytest.raises(vpusim.ClosedError):
        made.text
