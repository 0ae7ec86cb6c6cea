"""How much Python takes above C for a small prepared run: medians, in microseconds.

    PYTHONPATH=python VPUSIM_LIBRARY=build/release/libvpusim.so.0 python3 python/tests/overhead.py
"""
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNS = 5000


def in_c():
    """The median of the program overhead.c."""
    import vpusim
    library = os.path.realpath(vpusim.library_path)
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/overhead"
        subprocess.run(["cc", "-std=gnu11", "-O2", f"-I{HERE.parents[1]}/include",
                        str(HERE / "overhead.c"), "-o", program, library,
                        f"-Wl,-rpath,{os.path.dirname(library)}"], check=True)
        return float(subprocess.run([program], check=True, capture_output=True).stdout)


def median(run):
    """Of many runs."""
    spent = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        result = run()
        assert result.cycles
        del result
        spent.append(time.perf_counter() - begin)
    return sorted(spent)[RUNS // 2] * 1e6


def in_another_thread(run):
    """The same, where there is no Ctrl-C to wait for."""
    got = []
    thread = threading.Thread(target=lambda: got.append(median(run)))
    thread.start()
    thread.join()
    return got[0]


def main():
    """Prints a line for each way."""
    from conftest import Scaling
    import vpusim
    graph = Scaling(vpusim.Context(threads=1)).graph
    base = in_c()
    print(f"C                             {base:6.1f} us")
    for name, value in [("graph.run(), main thread", median(graph.run)),
                        ("graph.run(), another thread", in_another_thread(graph.run))]:
        print(f"{name:<29} {value:6.1f} us, {value - base:+.1f}")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
