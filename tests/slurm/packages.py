"""Slurm and munge from the distribution's packages, unpacked below build/slurm: nothing is
installed, so no daemon starts by itself and no root is needed."""
import os
import re
import shutil
import subprocess

WANTED = ["slurmctld", "slurmd", "slurm-client", "munge"]


def run(words, folder=None):
    try:
        return subprocess.run(words, capture_output=True, text=True, errors="replace",
                              timeout=600, check=False, cwd=folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(words, -1, "", str(error))


def missing_here():
    """The packages wanted and what they depend on, without what this machine has."""
    done = run(["apt-get", "-s", "install", "--no-install-recommends"] + WANTED)
    names = re.findall(r"(?m)^Inst (\S+)", done.stdout)
    return sorted(set(names + WANTED)) if done.returncode == 0 else None


def fetch(folder):
    names = missing_here()
    if names is None:  # a machine that has not asked for lists yet
        run(["apt-get", "update", "-q"])
        names = missing_here()
    if names is None:
        return "apt-get knows no packages " + " ".join(WANTED)
    done = run(["apt-get", "download", "-q"] + names, folder)
    if done.returncode:
        return done.stderr.strip()
    for name in sorted(os.listdir(folder)):
        if name.endswith(".deb"):
            done = run(["dpkg-deb", "-x", name, "root"], folder)
            if done.returncode:
                return done.stderr.strip()
    return None


def unpack(folder):
    """(root of the unpacked packages, None), or (None, why they cannot be had)."""
    root = os.path.join(folder, "root")
    if not os.path.exists(os.path.join(folder, "done")):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        why = fetch(folder)
        if why:
            return None, why
        with open(os.path.join(folder, "done"), "w", encoding="utf-8"):
            pass
    return root, None
