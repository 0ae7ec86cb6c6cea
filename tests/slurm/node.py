"""make check-slurm-long: the node fails while a sweep is at work."""
from cluster import CRED_EXPIRE, SLURMD_TIMEOUT
from rig import GRN, say

# Points of some seconds, so that every task is busy for a while.
MANIFEST = """run %s --layer GRN --param bias=1.0 --shape in0=1x64x256x512
vary --shaves 1 2 3 4 5 6 7 8
vary --order sequential reverse
"""


def local(r):
    r.write("node.sweep", MANIFEST % GRN)
    done = r.sweep("run", "node.sweep", "--dir", "here", "--jobs", "2", seconds=300)
    table = r.gather("here", "here.csv", "--json", "here.json")
    return say(done.returncode == 0 and table.returncode == 0, "the sweep here",
               (done.stderr, table.stderr))


def fail(r, array):
    steps = r.cluster.kill_node()
    say(steps == 2, "slurmd, two steps and one of the tasks are killed", steps)
    down = r.until(lambda: r.cluster.node_state().rstrip("*") == "down",
                   6 * SLURMD_TIMEOUT + 60)
    say(down, "Slurm finds out", r.cluster.node_state())
    told = r.status("there")
    say(told["missing_by_stage"]["waiting"] > 0 and told["missing_by_stage"]["running"] == 0,
        "vpu sweep status: tasks wait", (told, r.states(array)))


def held_tasks(r):
    return ["%d_%d" % (t["job"], t["task"]) for t in r.status("there")["tasks"]
            if t["stage"] == "held"]


def back(r):
    """The node comes back as it is, and cannot begin what ran on it: a person is asked to
    look, and releases the tasks."""
    r.cluster.start_slurmd()
    say(r.until(lambda: held_tasks(r), 60 + 4 * CRED_EXPIRE), "tasks are held",
        r.status("there"))
    text = r.sweep("status", "there").stdout
    say("is held: launch failed requeued held; scontrol release" in text,
        "vpu sweep status says how to release them", text)
    r.cluster.clear_spool()


def ended(r, gather):
    for task in held_tasks(r):
        r.client("scontrol", "release", task)
    return r.states(gather).get(gather) in ("COMPLETED", "FAILED")


def run(r):
    if not local(r):
        return
    r.sweep("plan", "node.sweep", "--dir", "there")
    r.sweep("slurm", "there", "--tasks", "4")
    done = r.sweep("submit", "there")
    array, gather = r.jobs(done.stdout)
    if not say(r.until(lambda: len(r.results("there")) >= 2, 60, 0.05), "tasks are at work",
               (done.stdout, done.stderr)):
        return
    fail(r, array)
    back(r)
    say(r.until(lambda: ended(r, gather), 240 + 4 * CRED_EXPIRE, 1), "the sweep goes on",
        r.states(array))
    with open(r.cluster.dir + "/jobs.txt", encoding="utf-8") as f:
        text = f.read()
    say("NODE_FAIL" in text or "REQUEUE" in text, "Slurm's own record has the failure", text)
    say(r.job(gather, "ExitCode") == "0:0" and len(r.results("there")) == 16,
        "nothing is lost", (r.logs("there", "gather-*.log"), r.states(array)))
    here, there = r.results("here"), r.results("there")
    say({k: v[0] for k, v in here.items()} == {k: v[0] for k, v in there.items()},
        "every result is that of the sweep here")
    done = r.gather("there", "there.csv", "--json", "there.json")
    say(done.returncode == 0, "the table", done.stderr)
    for end in ("csv", "json"):
        say(r.read("here." + end) == r.read("there." + end), "is the one made here, " + end)
