#!/usr/bin/env python3
"""A Slurm cluster of one node on this machine, for tests.

    tests/slurm/cluster.py COMMAND [WORDS]   runs COMMAND with sbatch, squeue … in its PATH

Real munged, slurmctld and slurmd on loopback, all files in a temporary folder, on ports of
their own, without systemd, cgroups and accounting, as root or as any user. At the end,
however it comes, they and all that their jobs started are ended."""
import ctypes
import glob
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import packages

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NODE = "n1"
CPUS = 2
UP_SECONDS = 40
# Of a node that does not answer until it counts as failed.
SLURMD_TIMEOUT = 10
# Until a requeued job may begin again; Slurm's default is two minutes.
CRED_EXPIRE = 5
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

CONF = """
ClusterName=vpusim
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={d_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={dir}/m/socket,cred_expire={cred_expire}
PluginDir={plugins}
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/ctld.pid
SlurmdPidFile={dir}/d.pid
SlurmctldLogFile={dir}/ctld.log
SlurmdLogFile={dir}/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={dir}/jobs.txt
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,sched_interval=2,bf_interval=2
SlurmdTimeout={slurmd_timeout}
KillWait=5
ReturnToService=2
MailProg=/bin/true
MaxArraySize=1001
NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=16384 State=UNKNOWN
PartitionName=main Nodes={node} Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def parents():
    """Of every process, its parent."""
    of = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        of[int(path.split("/")[2])] = int(text[text.rindex(")") + 2:].split()[1])
    return of


def descendants(of_pid):
    of, found = parents(), []
    todo = [of_pid]
    while todo:
        pid = todo.pop()
        below = [child for child, parent in of.items() if parent == pid]
        found += below
        todo += below
    return found


def libc_prctl(what, value):
    ctypes.CDLL(None, use_errno=True).prctl(what, value, 0, 0, 0)


class Failed(Exception):
    pass


class Cluster:
    """with Cluster(root) as c: c.env is the environment of clients."""

    def __init__(self, root, keep=None):
        self.root = root
        self.keep = keep  # a folder for the logs of one that failed
        self.daemons = {}
        self.dir = None
        self.lib = glob.glob(root + "/usr/lib/*/slurm-wlm")[0]
        # Slurm's own, and what the machine lacks.
        libraries = [self.lib, os.path.dirname(self.lib)]
        self.env = dict(os.environ, PATH="%s/usr/bin:%s" % (root, os.environ["PATH"]),
                        LD_LIBRARY_PATH=":".join(libraries))
        for name in list(self.env):
            if name.startswith(("SLURM_", "SBATCH_", "SQUEUE_")):
                del self.env[name]

    # --- starting ---------------------------------------------------------------------

    def configure(self):
        d = self.dir
        for name in ("m", "state", "spool"):
            os.mkdir("%s/%s" % (d, name), 0o755)
        with open(d + "/m/key", "wb") as f:
            os.chmod(d + "/m/key", 0o400)
            f.write(secrets.token_bytes(64))
        ports = free_ports(2)
        with open(d + "/slurm.conf", "w", encoding="utf-8") as f:
            f.write(CONF.format(dir=d, host=socket.gethostname().split(".")[0],
                                user=pwd.getpwuid(os.getuid()).pw_name,
                                plugins=self.lib, node=NODE, cpus=CPUS, ctld_port=ports[0],
                                d_port=ports[1], cred_expire=CRED_EXPIRE,
                                slurmd_timeout=SLURMD_TIMEOUT))
        self.env["SLURM_CONF"] = d + "/slurm.conf"

    def daemon(self, name):
        """Debian adds -wlm; later releases do not."""
        return sorted(glob.glob("%s/usr/sbin/%s*" % (self.root, name)))[0]

    def start(self, name, words):
        def child():
            libc_prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

        with open("%s/%s.out" % (self.dir, name), "ab") as out:
            self.daemons[name] = subprocess.Popen(  # pylint: disable=consider-using-with
                words, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                preexec_fn=child, start_new_session=True, cwd=self.dir)

    def start_munged(self):
        m = self.dir + "/m"
        self.start("munged", [self.daemon("munged"), "--foreground", "--force",
                              "--key-file", m + "/key", "--socket", m + "/socket",
                              "--pid-file", m + "/pid", "--log-file", m + "/log",
                              "--seed-file", m + "/seed"])

    def start_slurmd(self):
        self.start("slurmd", [self.daemon("slurmd"), "-D",
                              "-f", self.dir + "/slurm.conf",
                              "-d", self.daemon("slurmstepd")])

    def wait(self, what, done, seconds=UP_SECONDS):
        end = time.monotonic() + seconds
        while not done():
            dead = [n for n, p in self.daemons.items() if p.poll() is not None]
            if dead or time.monotonic() > end:
                raise Failed("%s: %s" % (what, "%s ended" % dead[0] if dead
                                         else "not within %d s" % seconds))
            time.sleep(0.1)

    def client(self, *words, seconds=30):
        return subprocess.run(words, env=self.env, capture_output=True, text=True,
                              timeout=seconds, check=False)

    def node_state(self):
        return self.client("sinfo", "-h", "-o", "%T").stdout.strip()

    def __enter__(self):
        libc_prctl(PR_SET_CHILD_SUBREAPER, 1)
        # Short: the name of a socket has room for 107 bytes.
        self.dir = tempfile.mkdtemp(prefix="vs", dir="/tmp")
        try:
            os.chmod(self.dir, 0o755)
            self.configure()
            self.start_munged()
            self.wait("munged", lambda: os.path.exists(self.dir + "/m/socket"))
            self.start("slurmctld", [self.daemon("slurmctld"), "-D", "-i",
                                     "-f", self.dir + "/slurm.conf"])
            self.start_slurmd()
            self.wait("the node", lambda: self.node_state() == "idle")
        except BaseException:
            self.stop()
            raise
        return self

    # --- ending -----------------------------------------------------------------------

    def __exit__(self, *why):
        self.stop()

    def kill_node(self):
        """As when a machine loses its power, the daemon, the steps and what they run: all
        at once. But one job's script lives on, as it does when only its step is killed,
        and works on beside the job's second try."""
        slurmd = self.daemons.pop("slurmd")
        steps = [pid for pid in descendants(os.getpid())
                 if os.path.basename(command(pid)).startswith("slurmstepd")]
        below = [descendants(pid) for pid in steps]
        for pid in [slurmd.pid] + steps + sum(below[1:], []):
            kill(pid, signal.SIGKILL)
        slurmd.wait()
        return len(steps)

    def clear_spool(self):
        """What a person does on a broken node: a killed step's folder makes slurmd refuse
        the job's second try, and Slurm holds the job."""
        for path in glob.glob(self.dir + "/spool/job*"):
            shutil.rmtree(path, ignore_errors=True)

    def stop(self):
        for name in ("slurmd", "slurmctld", "munged"):
            p = self.daemons.get(name)
            if p and p.poll() is None:
                p.terminate()
        end = time.monotonic() + 5
        for p in self.daemons.values():
            try:
                p.wait(max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
        # Steps and jobs are ours now, since their parents are gone.
        left = descendants(os.getpid())
        while left:
            for pid in left:
                kill(pid, signal.SIGKILL)
            reap()
            left = descendants(os.getpid())
            time.sleep(0.02)
        try:
            if self.keep:
                keep_logs(self.dir, self.keep)
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)


def command(pid):
    try:
        return os.readlink("/proc/%d/exe" % pid)
    except OSError:
        return ""


def kill(pid, sig):
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        pass


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def keep_logs(folder, to):
    os.makedirs(to, exist_ok=True)
    for path in glob.glob(folder + "/*.log") + glob.glob(folder + "/*.out") + \
            glob.glob(folder + "/*.txt") + glob.glob(folder + "/m/log"):
        shutil.copy(path, to)


def end_in_order():
    """A signal is an exception, so that what `with` opened is closed."""
    def on_signal(number, _frame):
        raise SystemExit(128 + number)

    for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(sig, on_signal)


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) > 1 else 2
    root, why = packages.unpack(os.path.join(ROOT, "build", "slurm"))
    if not root:
        print("cluster: Slurm's packages cannot be had: " + why, file=sys.stderr)
        return 2
    end_in_order()
    try:
        with Cluster(root, os.path.join(ROOT, "build", "slurm-logs")) as c:
            return subprocess.run(sys.argv[1:], env=c.env, check=False).returncode
    except Failed as error:
        print("cluster: %s; build/slurm-logs has what the daemons said" % error,
              file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
