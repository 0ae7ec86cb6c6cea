"""make check-slurm: sweeps as jobs of a real Slurm."""
import os
import re
import shutil

from rig import GRN, say

# Twelve points, of which one reads a file that comes late and one can never end.
TWELVE = """# 12 points
run %s --layer GRN --param bias=1.0 --shape in0=1x8x8x16
name case --shaves 1 | --shaves 2 | --shaves 3 | --shaves 4 | --shaves 5 | --shaves 6 \\
    | --shaves 7 --max-cycles 10 | --shaves 8 --input 0=late.npy | --shaves 9 \\
    | --shaves 10 | --shaves 11 | --shaves 12
"""
NEVER, LATE = 6, 7
# Points that take seconds each.
SLOW = """run %s --layer GRN --param bias=1.0 --shape in0=1x64x256x512
vary --shaves 1 2 3 4 5 6 7 8
"""

HALVING = """run %s --layer GRN --param bias=1.0
name shape --shape in0=1x4x4x8 | --shape in0=1x4x8x16 | --shape in0=1x8x16x32
vary --shaves 1 2 4 8
method halving shape
"""
ROUNDS = 3


def missing_of(text):
    """Numbers of points that a message names."""
    return sorted(int(n) for n in re.findall(r"\bpoint (\d+)", text))


def frozen_late(r, name):
    for folder, _, names in os.walk("%s/%s/files" % (r.folder, name)):
        if "late.npy" in names:
            return os.path.join(folder, "late.npy")
    return None


def local(r):
    """The same manifest here: what Slurm's table must be."""
    r.write("twelve.sweep", TWELVE % GRN)
    made = r.run("run", GRN, "--layer", "GRN", "--param", "bias=1.0", "--shape",
                 "in0=1x8x8x16", "--input", "0=random:7", "--output", "late")
    found = [n for n in os.listdir(r.folder + "/late") if n.endswith(".npy")] \
        if made.returncode == 0 else []
    if not say(len(found) == 1, "an input for the late point", made.stderr):
        return False
    shutil.copy("%s/late/%s" % (r.folder, found[0]), r.folder + "/late.npy")
    done = r.sweep("run", "twelve.sweep", "--dir", "here", "--jobs", "2")
    table = r.gather("here", "here.csv", "--partial")
    return say(done.returncode == 1 and table.returncode == 0 and len(r.results("here")) == 11,
               "the sweep here: 11 results of 12", (done, table.stderr))


def scripts(r):
    plan = r.sweep("plan", "twelve.sweep", "--dir", "there")
    done = r.sweep("slurm", "there", "--tasks", "4", "--at-once", "2", "--cpus", "1", "--",
                   "--comment=a b\"c")
    text = r.read("there", "slurm", "array.sh") if done.returncode == 0 else ""
    wanted = ["--array=0-3%2", "--requeue", "--open-mode=append", "--signal=B:TERM@60",
              "--cpus-per-task=1", '"--comment=a b\\"c"', "/4\""]
    say(plan.returncode == 0 and all(w in text for w in wanted), "the script of four tasks",
        (plan.stderr, done.stderr, text))
    say(r.folder not in text, "the script names no folder", text)
    before = text
    again = r.sweep("slurm", "there", "--tasks", "3")
    say(again.returncode == 2 and "--replace" in again.stderr and
        r.read("there", "slurm", "array.sh") == before, "changed scripts are not overwritten",
        again.stderr)


def first(r):
    """Two points fail, one since its file is not there yet."""
    path = frozen_late(r, "there")
    os.rename(path, r.folder + "/kept.npy")
    done = r.sweep("submit", "there", "--wait")
    array, gather = r.jobs(done.stdout)
    say(done.returncode == 1 and "2 of 12 points" in done.stdout and array and gather,
        "the first submission: two points without a result, status 1",
        (done.stdout, done.stderr))
    states = r.states(array)
    say(sorted(states) == ["%s_%d" % (array, i) for i in range(4)], "four tasks", states)
    say(r.job(gather, "JobState") == "FAILED" and r.job(gather, "ExitCode") != "0:0",
        "the gather job fails", r.job(gather, "ExitCode"))
    log = r.logs("there", "gather-*.log")
    say(missing_of(log) == [NEVER, LATE], "it names both points", log)
    say(not os.path.exists(r.folder + "/there/table.csv"), "and writes no table")
    told = r.status("there")
    say(told["done"] == 10 and [f["point"] for f in told["failed"]] == [NEVER, LATE] and
        told["missing_by_stage"]["ended"] == 2, "vpu sweep status counts the same", told)
    text = r.sweep("status", "there")
    say(text.returncode == 1 and "point %d failed" % NEVER in text.stdout, "and says why",
        text.stdout)
    os.rename(r.folder + "/kept.npy", path)


def second(r):
    """Only what is missing is computed: all other files stay the same files."""
    before = r.results("there")
    done = r.sweep("submit", "there", "--wait")
    array, gather = r.jobs(done.stdout)
    after = r.results("there")
    say(done.returncode == 1 and "1 of 12 points" in done.stdout,
        "the second submission: one point without a result", (done.stdout, done.stderr))
    say(sorted(r.states(array)) == ["%s_%d" % (array, i % 4) for i in (NEVER, LATE)],
        "only the tasks of the two points run", r.states(array))
    say(len(after) == 11 and all(after.get(k) == before[k] for k in before),
        "one result more, the others untouched", sorted(after))
    say(missing_of(r.logs("there", "gather-%s.log" % gather)) == [NEVER],
        "the gather job names the one that never ends",
        r.logs("there", "gather-%s.log" % gather))


def tables(r):
    for name in ("here", "there"):
        done = r.gather(name, name + ".csv", "--json", name + ".json", "--partial")
        say(done.returncode == 0, "gather --partial of " + name, done.stderr)
        done = r.gather(name, "no.csv")
        say(done.returncode == 1 and missing_of(done.stdout + done.stderr) == [NEVER],
            "gather of %s fails and names the point" % name, (done.returncode, done.stderr))
    for end in ("csv", "json"):
        say(r.read("here." + end) == r.read("there." + end),
            "the tables of both are equal, " + end)
    here, there = r.results("here"), r.results("there")
    say({k: v[0] for k, v in here.items()} == {k: v[0] for k, v in there.items()},
        "and so is every result")


def mistakes(r):
    done = r.sweep("submit", "there", env=r.no_slurm)
    say(done.returncode == 2 and "sbatch: not in PATH" in done.stderr and
        "vpu sweep run there" in done.stderr, "no sbatch", done.stderr)
    done = r.sweep("status", "there", env=r.no_slurm)
    say(done.returncode == 1 and "11 have results" in done.stdout and
        "squeue: not in PATH" in done.stdout, "status without Slurm", done.stdout)
    os.makedirs(r.folder + "/empty")
    for what in ("slurm", "submit", "status"):
        done = r.sweep(what, "empty")
        say(done.returncode == 2 and "empty" in done.stderr, what + " of another folder",
            done.stderr)
    done = r.sweep("submit", "there", "--", "--partition=nowhere")
    say(done.returncode == 2 and "artition" in done.stderr and "--partition=NAME" in done.stderr
        and not done.stdout, "a partition that is not there", done.stderr)
    done = r.sweep("slurm", "there", "--replace", "--tasks", "4", "--", "--comment=a\nb")
    say(done.returncode == 2 and "0x0a" in done.stderr, "an option with a line's end",
        done.stderr)
    r.write("there/slurm/jobs.json", '{"submissions": [{"array": -1}]}')
    done = r.sweep("status", "there")
    say(done.returncode == 2 and "jobs.json" in done.stderr, "a damaged record", done.stderr)
    os.remove(r.folder + "/there/slurm/jobs.json")


def held(r):
    """Jobs that wait for a person are named, and a second submission waits for them."""
    done = r.sweep("submit", "there", "--", "--hold")
    array, gather = r.jobs(done.stdout)
    text = r.sweep("status", "there").stdout
    part = NEVER % 4
    say("job %s_%d is held: JobHeldUser; scontrol release %s_%d" % (array, part, array, part)
        in text and "1 in held" in text, "a held job is named", text)
    done = r.sweep("submit", "there")
    words = "jobs %s and %s of this sweep have not ended" % (array, gather)
    say(done.returncode == 2 and words in done.stderr, "no second submission beside the first",
        done.stderr)
    r.client("scancel", array, gather)
    say(r.until(lambda: "CANCELLED" in "".join(r.states(array).values())), "scancel ends it")


def pilot(r):
    """The pilot's results stay, and say how large the tasks shall be."""
    r.sweep("plan", "twelve.sweep", "--dir", "piloted")
    done = r.sweep("slurm", "piloted")
    kept = r.results("piloted")
    text = r.read("piloted", "slurm", "array.sh") if done.returncode == 0 else ""
    say(re.search(r"pilot: 4 points in [\d.]+ s, \d+ MiB", done.stdout) and len(kept) >= 3 and
        "#SBATCH --array=0-0\n" in text and re.search(r"--mem=\d+M\n", text) and
        re.search(r"--time=\d+\n", text), "a pilot of four points plans one task",
        (done.stdout, done.stderr, text))
    done = r.sweep("submit", "piloted", "--wait")
    after = r.results("piloted")
    say(done.returncode == 1 and len(after) == 11 and
        all(after[k] == kept[k] for k in kept), "whose results stay",
        (done.stdout, done.stderr))


def slow(r):
    """A task that is asked to end, one that is put back, and the table behind both."""
    r.write("slow.sweep", SLOW % GRN)
    r.sweep("plan", "slow.sweep", "--dir", "slow")
    r.sweep("slurm", "slow", "--tasks", "2")
    done = r.sweep("submit", "slow")
    array, gather = r.jobs(done.stdout)
    tasks = [array + "_0", array + "_1"]
    if not say(r.until(lambda: set(r.states(array).values()) == {"RUNNING"}),
               "two tasks run", (done.stderr, r.states(array))):
        return
    r.until(lambda: len(r.results("slow")) >= 1, pause=0.05)
    say(r.status("slow")["missing_by_stage"]["running"] >= 1, "status counts running points")
    r.client("scancel", "--batch", "--signal=TERM", tasks[0])
    r.client("scontrol", "requeue", tasks[1])
    say(r.until(lambda: r.states(array).get(tasks[0]) in ("COMPLETED", "FAILED"), 20),
        "a task that is asked to end ends in order", (r.states(array), r.logs("slow", "*.log")))
    say("points were done" in r.logs("slow", array + "_0.log") and not r.half_written("slow"),
        "and says how far it is, and leaves nothing half-written",
        (r.logs("slow", "*.log"), r.half_written("slow")))
    say(r.until(lambda: r.states(gather).get(gather) in ("COMPLETED", "FAILED"), 90),
        "the gather job waits for the task that was put back", r.states(array))
    missing = missing_of(r.logs("slow", "gather-*.log"))
    say(r.states(array).get(tasks[1]) == "COMPLETED" and not [p for p in missing if p % 2],
        "which computes all of its points at its second try", (r.states(array), missing))
    done = r.sweep("submit", "slow", "--wait") if missing else r.sweep("status", "slow")
    say(done.returncode == 0 and len(r.results("slow")) == 8 and
        os.path.exists(r.folder + "/slow/table.csv"),
        "a second submission ends with the whole table, status 0", (done.stdout, done.stderr))


def rounds(r):
    """Successive halving: a submission goes as far as results allow, the next one on."""
    r.write("halving.sweep", HALVING % GRN)
    r.sweep("run", "halving.sweep", "--dir", "halved")
    r.gather("halved", "halved.csv")
    r.sweep("plan", "halving.sweep", "--dir", "halving")
    r.sweep("slurm", "halving", "--tasks", "2")
    for n in range(1, ROUNDS + 1):
        done = r.sweep("submit", "halving", "--wait")
        if done.returncode != 1:
            break
    say(done.returncode == 0 and r.sweep("status", "halving").returncode == 0,
        "halving: the whole sweep in at most %d submissions" % ROUNDS,
        (n, done.stdout, done.stderr))
    say(r.read("halved.csv") == r.read("halving", "table.csv"), "and its table")


def run(r):
    if not local(r):
        return
    for case in (scripts, first, second, tables, mistakes, held, pilot, slow, rounds):
        case(r)
