# A search over a sweep's points: coordinate descent. Each point is computed once, also when the
# program is started again; `vpu sweep report` reads the same folder.
import os
import tempfile
import vpusim

folder = tempfile.mkdtemp()
layer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "leaky_relu.xml")
manifest = os.path.join(folder, "relu.manifest")
with open(manifest, "w") as f:
    f.write(f"run {layer} --param slope=0.1 --shape in0=1x16x32x32\n"
            "vary --shaves 1 2 4 7 8 12 16\n"
            "vary --order sequential reverse\n"
            "vary --set ddr_load_stall 100 140\n")

with vpusim.Sweep(manifest, os.path.join(folder, "points")) as sweep:
    best = {name: column.values[0] for name, column in sweep.columns.items()}
    low = sweep.evaluate(**best)["cycles"]
    changed = True
    while changed:
        changed = False
        for name, column in sweep.columns.items():
            for value in column.values:
                cycles = sweep.evaluate(**{**best, name: value})["cycles"]
                if cycles < low:
                    low, best, changed = cycles, {**best, name: value}, True
    points = sum(len(files) for _, _, files in os.walk(sweep.dir / "results"))
    every = 1
    for column in sweep.columns.values():
        every *= len(column.values)

print(f"{low} cycles with {best}")
print(f"{points} of {every} points were computed")
assert points < every

# With Optuna (pip install optuna):
#   study = optuna.create_study()
#   study.optimize(lambda t: sweep.evaluate(**sweep.suggest(t))["cycles"], n_trials=100)
