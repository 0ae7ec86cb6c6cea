"""Sweeps: points one by one, with the folder of vpu sweep."""
from __future__ import annotations

import json
import os
import subprocess

import pytest

import vpusim
from conftest import ROOT

VPU = os.environ.get("VPU", "vpu")


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "m"
    path.write_text(f"run {ROOT}/kernels/grn/layer.xml --layer GRN\n"
                    "vary --shape in0=1x4x8x16 in0=1x4x16x16\nvary --shaves 1..16\n"
                    "vary --param bias 0.5..2\nmethod random 3\n")
    return path


def results(folder):
    return sorted(p.name for p in folder.glob("results/*/*.json"))


def test_evaluates_as_the_program(manifest, tmp_path):
    with vpusim.Sweep(manifest, tmp_path / "d") as sweep:
        figures = sweep.evaluate(shape="1x4x16x16", shaves=3, bias=0.75)
    out = subprocess.run([VPU, "run", f"{ROOT}/kernels/grn/layer.xml", "--layer", "GRN", "--param",
                          "bias=0.75", "--shape", "in0=1x4x16x16", "--shaves", "3", "--json", "--quiet"],
                         capture_output=True, check=True).stdout
    assert figures["cycles"] == json.loads(out)["cycles"]
    assert figures["used_shaves"] == 3


def test_columns(manifest, tmp_path):
    with vpusim.Sweep(manifest, tmp_path / "d") as sweep:
        assert sweep.columns == {"layer": vpusim.Choices(("GRN",)),
                                 "shape": vpusim.Choices(("1x4x8x16", "1x4x16x16")),
                                 "shaves": vpusim.Range(1, 16, True),
                                 "bias": vpusim.Range(0.5, 2, False)}


def test_equal_points_once(manifest, tmp_path):
    """Whoever has computed them: another object, the program."""
    folder = tmp_path / "d"
    with vpusim.Sweep(manifest, folder) as sweep:
        first = sweep.evaluate(shaves=2)
        kept = results(folder)
        assert len(kept) == 1
        stamp = (folder / "results" / kept[0][:2] / kept[0]).stat().st_mtime_ns
        assert sweep.evaluate(shaves=2) == first
    with vpusim.Sweep(None, folder) as sweep:
        assert sweep.evaluate(shaves=2) == first
    assert (folder / "results" / kept[0][:2] / kept[0]).stat().st_mtime_ns == stamp
    subprocess.run([VPU, "sweep", "run", folder, "--quiet"], check=True)
    assert len(results(folder)) == 4
    planned = json.loads((folder / "points.jsonl").read_text().splitlines()[0])["parameters"]
    with vpusim.Sweep(None, folder) as sweep:
        sweep.evaluate(**planned)
    assert len(results(folder)) == 4


def test_mistakes(manifest, tmp_path):
    with vpusim.Sweep(manifest, tmp_path / "d") as sweep:
        with pytest.raises(vpusim.InvalidError, match="did you mean shaves"):
            sweep.evaluate(shavez=1)
        with pytest.raises(vpusim.InvalidError, match="a whole number from 1 to 16"):
            sweep.evaluate(shaves=17)
        with pytest.raises(vpusim.InvalidError, match="no such value"):
            sweep.evaluate(shape="1x2")
        assert sweep.evaluate(shaves=1)["cycles"] > 0
    with pytest.raises(vpusim.ClosedError):
        sweep.evaluate()
    with pytest.raises(vpusim.InvalidError, match="no points.jsonl"):
        vpusim.Sweep(None, tmp_path)
    manifest.write_text("rum x\n")
    with pytest.raises(vpusim.InvalidError, match="did you mean run"):
        vpusim.Sweep(manifest, tmp_path / "e")


def test_failed_point(tmp_path):
    path = tmp_path / "m"
    path.write_text(f"run {ROOT}/kernels/grn/layer.xml --layer GRN --shape in0=1x4x8x16\n"
                    "vary --param bias=1 nix=1\n")
    with vpusim.Sweep(path, tmp_path / "d") as sweep:
        with pytest.raises(vpusim.PointError, match="nix"):
            sweep.evaluate(param="nix=1")
        assert sweep.evaluate(param="bias=1")["cycles"] > 0


class Trial:
    """As optuna.Trial, always the first or lowest value."""

    def suggest_int(self, name, low, high):
        assert isinstance(low, int) and isinstance(high, int)
        return low

    def suggest_float(self, name, low, high):
        return float(low)

    def suggest_categorical(self, name, choices):
        return choices[0]


def test_suggests(manifest, tmp_path):
    with vpusim.Sweep(manifest, tmp_path / "d") as sweep:
        assert sweep.suggest(Trial()) == {"shape": "1x4x8x16", "shaves": 1, "bias": 0.5}


def test_optuna(manifest, tmp_path):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    with vpusim.Sweep(manifest, tmp_path / "d") as sweep:
        study.optimize(lambda t: sweep.evaluate(**sweep.suggest(t))["cycles"], n_trials=10)
        assert study.best_value == sweep.evaluate(**study.best_params)["cycles"]
