#!/usr/bin/env python3
"""Does vpu run find in a blob what a stick found? same.py VPU FOLDER...

Each folder has model.blob, in*.npy and out*.npy (session.py). Outputs must be
equal byte for byte. The last line counts.
"""
import glob
import os
import subprocess
import sys
import tempfile


def wrong(vpu, folder):
    words = [vpu, "run", os.path.join(folder, "model.blob"), "--quiet"]
    for path in sorted(glob.glob(os.path.join(folder, "in*.npy"))):
        words += ["--input", "%s=%s" % (os.path.basename(path)[2:-4], path)]
    with tempfile.TemporaryDirectory() as out:
        p = subprocess.run(words + ["--output", out], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, universal_newlines=True)
        if p.returncode:
            return "status %d: %s" % (p.returncode, p.stderr.strip())
        outputs = glob.glob(os.path.join(folder, "out*.npy"))
        for path in outputs:
            with open(path, "rb") as a, open(os.path.join(out, os.path.basename(path)), "rb") as b:
                if a.read() != b.read():
                    return "%s differs" % os.path.basename(path)
    return "" if outputs else "no outputs"


def main():
    vpu, folders = sys.argv[1], sys.argv[2:]
    bad = 0
    for folder in folders:
        why = wrong(vpu, folder)
        if why:
            bad += 1
            print("%s: %s" % (os.path.basename(folder), why))
    print("%d blobs give what the stick gave, %d do not" % (len(folders) - bad, bad))
    return bad != 0 or not folders


if __name__ == "__main__":
    sys.exit(main())
