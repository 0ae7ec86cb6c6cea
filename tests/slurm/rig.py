"""What the tests of `vpu sweep` on Slurm share: counting, the program, folders of sweeps."""
import glob
import json
import os
import re
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GRN = os.path.join(ROOT, "kernels", "grn", "layer.xml")

counts = {"passed": 0, "failed": 0, "skipped": 0}


def say(ok, what, why=""):
    counts["passed" if ok else "failed"] += 1
    print("  %s %s%s" % ("ok  " if ok else "FAIL", what,
                         "" if ok or not why else ": " + str(why)[-1500:]), flush=True)
    return ok


class Rig:
    """The program in a folder of its own, with or without a cluster's environment."""

    def __init__(self, vpu, folder, cluster):
        self.vpu = os.path.abspath(vpu)
        self.folder = folder
        self.cluster = cluster
        self.env = dict(cluster.env, TMPDIR=folder + "/tmp", XDG_CACHE_HOME=folder + "/cache")
        self.no_slurm = dict(self.env, PATH="/usr/bin:/bin")
        os.makedirs(folder + "/tmp")

    def run(self, *words, env=None, seconds=120):
        return subprocess.run([self.vpu] + list(words), cwd=self.folder, text=True,
                              env=env or self.env, capture_output=True, timeout=seconds,
                              check=False)

    def sweep(self, *words, **more):
        return self.run("sweep", *words, **more)

    def client(self, *words):
        return subprocess.run(list(words), cwd=self.folder, text=True, env=self.env,
                              capture_output=True, timeout=60, check=False)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)

    def read(self, *names):
        with open(os.path.join(self.folder, *names), encoding="utf-8") as f:
            return f.read()

    def results(self, name):
        """Of every result its bytes, and which file it is: one written anew is another."""
        found = {}
        for path in sorted(glob.glob("%s/%s/results/*/*.json" % (self.folder, name))):
            with open(path, "rb") as f:
                stat = os.stat(path)
                found[os.path.basename(path)] = (f.read(), stat.st_ino, stat.st_mtime_ns)
        return found

    def half_written(self, name):
        """Files beside the results, under the temporary names of results to be."""
        return [p for p in glob.glob("%s/%s/results/*/*" % (self.folder, name))
                if not p.endswith(".json")]

    def status(self, name):
        done = self.sweep("status", name, "--json")
        return json.loads(done.stdout)

    def gather(self, name, table, *more):
        return self.sweep("gather", name, "--csv", table, *more)

    def logs(self, name, pattern):
        return "".join(self.read(path) for path in
                       sorted(glob.glob("%s/%s/logs/%s" % (self.folder, name, pattern))))

    def jobs(self, text):
        """The numbers that `vpu sweep submit` prints."""
        found = re.search(r"array job (\d+):.*\n(?:.*\n)?gather job (\d+):", text)
        return (found.group(1), found.group(2)) if found else (None, None)

    def job(self, number, field):
        """A field of `scontrol show job`."""
        text = self.client("scontrol", "--oneliner", "show", "job", number).stdout
        found = re.search(r"\b%s=(\S+)" % field, text)
        return found.group(1) if found else ""

    def until(self, what, seconds=60, pause=0.2):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if what():
                return True
            time.sleep(pause)
        return False

    def states(self, job):
        """Of each task of an array its state."""
        text = self.client("squeue", "-h", "-r", "-t", "all", "-j", job, "-o", "%i %T").stdout
        return dict(line.split() for line in text.splitlines())
