"""Changes the sources one small place at a time and asks the tests.

A change (mutant) that makes some test fail is killed; one that all tests pass
survives: either nothing checks that place, or the change means nothing. The
tree is copied to build/mutate, once for each job, so the user's own is left
alone; there only what changed is built again, and the tests that map.txt names
for the source are built and run one after the other until one fails.

Results are lines of text, one a mutant, in --results. A mutant is known by the
hash of its file, its source line's text and the change, wherever the line
moves. One that has its line there already is not tried again: so a run that was
broken off goes on where it was, and one with a larger --sample adds to it.

survivors.txt says, by that hash, of which survivors somebody found that no test
of make check can notice them, and why.
"""

import argparse
import hashlib
import json
import os
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# --- finding places ---------------------------------------------------------

TOKEN = re.compile(
    r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*(?![\w.]))
  | (?P<word>[A-Za-z_]\w*|\d[\w.]*(?:[eEpP][-+]?\d+\w*)?)
  | (?P<op><<=|>>=|\+\+|--|->|&&|\|\||<<|>>|<=|>=|==|!=|\+=|-=|\*=|/=|%=
         |&=|\|=|\^=|[-+*/%<>=!&|^~?:;,.(){}\[\]])
  | (?P<space>\s+)
  | (?P<other>.)
    """,
    re.S | re.X,
)

SWAPS = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
    "+=": ["-="], "-=": ["+="], "++": ["--"], "--": ["++"],
    "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"],
}
# What these operators are between values only; elsewhere they are a sign, a
# pointer, an address.
BINARY_ONLY = {"+", "-", "*", "&"}
KINDS = {
    "arithmetic": {"+", "-", "*", "/", "%", "+=", "-=", "++", "--", "<<", ">>",
                   "&", "|"},
    "comparison": {"<", "<=", ">", ">=", "==", "!="},
    "logical": {"&&", "||"},
}
TYPES = re.compile(
    r"^(?:const|static|struct|enum|union|unsigned|signed|void|bool|char|short|"
    r"int|long|float|double|size_t|ssize_t|s?u?int\w*_t|\w+_t|return|goto|case|"
    r"default|else|do|typedef|extern|__attribute__)\b"
)
STATEMENT = re.compile(
    r"^[ \t]+(?:[A-Za-z_*(][\w\->.\[\]()*+ ,&]*?"
    r"(?:[-+*/%&|^]|<<|>>)?=[^=].*|[a-z_]\w*\(.*\)|[\w\->.\[\]*()]+(?:\+\+|--)"
    r"|break|continue);[ \t]*(?:/\*.*\*/)?$"
)


def digest(*what):
    return hashlib.sha256("\0".join(map(str, what)).encode()).hexdigest()


class Mutant:
    def __init__(self, path, text, at, end, new, kind):
        self.path, self.at, self.end, self.new, self.kind = path, at, end, new, kind
        self.old = text[at:end]
        self.line = text.count("\n", 0, at) + 1
        start = text.rfind("\n", 0, at) + 1
        stop = text.find("\n", at)
        self.col = at - start + 1
        whole = text[start:stop if stop >= 0 else len(text)]
        # The how many-th line of this text it is: equal lines are told apart.
        nth = len(re.findall("^" + re.escape(whole) + "$", text[:start], re.M))
        self.hash = digest(path, whole, nth, self.col, kind, new)[:10]

    def key(self):
        return "%s:%d:%d %s %s" % (self.path, self.line, self.col, self.kind,
                                   self.hash)

    def shown(self):
        def one(s):
            return " ".join(s.split()) or "nothing"

        return "%s => %s" % (one(self.old), one(self.new))


def swapped(op, before):
    """What operator op may become behind the token `before`."""
    if op in BINARY_ONLY and not (
        before and (before[0] in ("number", "string") or before[1] in ")]"
                    or (before[0] == "word" and not TYPES.match(before[1])
                        and before[1] not in ("return", "sizeof")))
    ):
        return []
    return SWAPS.get(op, [])


def is_declarator(text, at):
    """Is the * at `at` part of a declaration: "char *p"? By this project's
    style a pointer has a blank before it and none behind, a product both."""
    return text[at] in "*&" and text[at + 1:at + 2] not in (" ", "\n")


ALLOCATES = re.compile(r"\b(?:arena_array|arena_push|calloc|malloc|realloc)\([^;]*\+ $")


ARRAY = re.compile(r"^\s*(?:static )?(?:const )?(?:struct |unsigned )?[a-zA-Z_]\w*"
                   r"(?: \*| )[^=()]*\w\[$")


def is_spare(text, at, end):
    """More room means nothing, less may: the 1 in arena_array(a, T, n + 1), the
    8 in a local array's declaration "char text[8];" without values."""
    start = max(text.rfind(c, 0, at) for c in ";{}")
    before = text[start + 1:at]
    if ARRAY.match(before):
        return re.match(r"\](?:\[[^]]*\])*\s*[;,]", text[end:]) and not \
            before.lstrip().startswith(("return", "case", "goto", "else"))
    return text[at] == "1" and ALLOCATES.search(before)


def places_of_tokens(path, text):
    before, depth = None, 0
    skip_until = -1
    for m in TOKEN.finditer(text):
        kind, value = m.lastgroup, m.group()
        if kind in ("space", "comment"):
            continue
        if value == "#" and not text[text.rfind("\n", 0, m.start()) + 1:m.start()].strip():
            end = m.end()
            while True:  # directives with continued lines
                end = text.find("\n", end)
                if end < 0 or text[end - 1] != "\\":
                    break
                end += 1
            skip_until = end if end >= 0 else len(text)
        if m.start() < skip_until:
            continue
        depth += (value == "{") - (value == "}")
        if depth > 0:
            if value == "!":
                yield Mutant(path, text, m.start(), m.end(), "", "negation")
            elif kind == "op" and not is_declarator(text, m.start()):
                for new in swapped(value, before):
                    name = next(k for k, ops in KINDS.items() if value in ops)
                    yield Mutant(path, text, m.start(), m.end(), new, name)
            elif kind == "number":
                digits = value.rstrip("uUlL")
                octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
                n = int(digits, 8 if octal else 0)
                spare = is_spare(text, m.start(), m.end())
                for d in (1, -1):
                    if n + d >= 0 and not (d > 0 and spare):
                        yield Mutant(path, text, m.start(), m.end(),
                                     str(n + d) + "u" * ("u" in value.lower()),
                                     "constant%+d" % d)
        before = (kind, value)


def places_of_statements(path, text):
    at, before = 0, ""
    for line in text.splitlines(keepends=True):
        body = line.strip()
        whole = re.search(r"(?:[;{}):]|\*/|\belse|\bdo)$", before)
        if whole and STATEMENT.match(line.rstrip("\n")) and not TYPES.match(body) and \
                not re.match(r"^[A-Za-z_]\w*(?: \*+| )\**[A-Za-z_]\w*(?:\[.*\])? = ", body):
            start = at + len(line) - len(line.lstrip())
            stop = at + line.rindex(";") + 1
            yield Mutant(path, text, start, stop, ";", "statement")
        at += len(line)
        before = body or before


def mutants_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    yield from places_of_tokens(path, text)
    yield from places_of_statements(path, text)


# --- trying them ---------------------------------------------------------------


def read_map():
    rows = []
    with open(os.path.join(HERE, "map.txt"), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                rows.append((words[0], words[1:]))
    return rows


def tests_for(rows, path):
    best = [r for r in rows if path.startswith(r[0])]
    return max(best, key=lambda r: len(r[0]))[1] if best else []


def program(test):
    return "build/release/tests/%s_test" % test.split(":")[0]


def limits(seconds):
    os.setpgid(0, 0)
    # Check's tests are in process groups of their own, which nobody ends when
    # the test program is ended for taking too long.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    # A shell has what runs in its background ignore them; tests send them.
    for s in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
        signal.signal(s, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The checkers reserve 16 GiB of addresses; what a mutant really takes is
    # taken back from it first where memory runs out.
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as f:
        f.write("1000")
    for what, most in ((resource.RLIMIT_DATA, 40 << 30),
                       (resource.RLIMIT_FSIZE, 8 << 30)):
        resource.setrlimit(what, (most, most))


def failed(tap):
    """Does Check's log of what was tested so far tell a failure?"""
    if not tap or not os.path.exists(tap):
        return False
    with open(tap, encoding="utf-8", errors="replace") as f:
        return any(line.startswith("not ok") for line in f)


def run(words, cwd, env, seconds, tap=None):
    """The exit status, 1 as soon as the log `tap` tells a failure; None: it took
    too long."""
    p = subprocess.Popen(words, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         preexec_fn=lambda: limits(int(seconds) + 1))
    end, status = time.monotonic() + seconds, None
    while status is None and time.monotonic() < end:
        try:
            status = p.wait(0.3 if tap else seconds)
        except subprocess.TimeoutExpired:
            status = 1 if failed(tap) else None
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    p.wait()
    return status


class Broken(Exception):
    """Nothing that a mutant did."""


class Tree:
    """A copy of the tracked files, with a build of its own."""

    def __init__(self, path):
        self.path = path
        self.out = os.path.join(path, "build/release")
        self.cache = os.path.join(path, "build/cache")
        self.env = dict(os.environ, VPU=os.path.join(self.out, "vpu"),
                        VPU_BUILD=self.out, XDG_CACHE_HOME=self.cache,
                        # A busy machine kills no mutant; `limit` ends a test.
                        CK_TIMEOUT_MULTIPLIER="20")
        self.env.pop("MAKEFLAGS", None)

    def copy(self):
        """Only what differs is written, so that little is built again."""
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True,
                               capture_output=True).stdout.decode().split("\0")
        for name in filter(None, names):
            source = os.path.join(ROOT, name)
            to = os.path.join(self.path, name)
            if not os.path.isfile(source):
                continue
            with open(source, "rb") as f:
                data = f.read()
            if os.path.exists(to):
                with open(to, "rb") as f:
                    if f.read() == data:
                        continue
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(source, to)

    def make(self, tests, jobs):
        words = ["make", "-s", "-j%d" % jobs, "CFLAGS=-w", "all", "plugins"]
        if shutil.which("ld.lld"):  # there is much to link
            words.append("LDFLAGS=-fuse-ld=lld")
        words += sorted({program(t) for t in tests})
        if "fidelity/fidelity" in tests:
            words.append("build/release/tests/fidelity/fidelity")
        return run(words, self.path, self.env, 1800) == 0

    def test(self, name, seconds):
        # What a mutant compiled is not what another would.
        shutil.rmtree(self.cache, ignore_errors=True)
        tap = os.path.join(self.path, "build/tap")
        if os.path.exists(tap):
            os.unlink(tap)
        start = time.monotonic()
        status = run([program(name)] + name.split(":")[1:], self.path,
                     dict(self.env, CK_TAP_LOG_FILE_NAME=tap), seconds, tap)
        return status, time.monotonic() - start

    def read(self, path):
        with open(os.path.join(self.path, path), encoding="utf-8") as f:
            return f.read()

    def write(self, path, text):
        """What is the same already is not built again."""
        if self.read(path) != text:
            with open(os.path.join(self.path, path), "w",
                      encoding="utf-8") as f:
                f.write(text)

    def judge(self, m, tests, times):
        """One of killed, timeout, survived, invalid; and by which test."""
        text = self.read(m.path)
        self.write(m.path, text[:m.at] + m.new + text[m.end:])
        try:
            for t in tests:
                # One by one: most mutants never come to the second test.
                if not self.make([t], 1):
                    return "invalid", "-"
                status, seconds = self.test(t, times.limit(t))
                if status != 0:
                    self.write(m.path, text)
                    times.check(self, t)
                    return "timeout" if status is None else "killed", t
                times.passed(t, seconds)
            return "survived", "-"
        finally:
            self.write(m.path, text)


def at_once(made, todo, do):
    """do(tree, x) for every x, each tree with one at a time."""
    waiting = queue.SimpleQueue()
    for x in todo:
        waiting.put(x)

    def work(tree):
        while True:
            try:
                x = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                do(tree, x)
            except Broken as e:
                broken.append(str(e))
                return

    broken = []
    threads = [threading.Thread(target=work, args=(t,)) for t in made]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if broken:
        sys.exit("scripts/mutate: " + "; ".join(broken))


class Times:
    """How long each test takes when it passes. One that did not yet in this run
    is tried without a change, too, before a mutant's failure counts."""

    def __init__(self, path):
        self.path, self.lock, self.took = path, threading.Lock(), {}
        self.good = set()
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.took = json.load(f)

    def limit(self, name):
        """Generous: another job may have the machine."""
        return 30 + 5 * self.took[name] if name in self.took else 600

    def of(self, names):
        return sum(self.took.get(name, 8) for name in names)

    def passed(self, name, seconds):
        with self.lock:
            self.took[name] = seconds
            self.good.add(name)
            with open(self.path, "w", encoding="utf-8") as f:
                json.dump(self.took, f, indent=1)

    def check(self, tree, name):
        if name in self.good:
            return
        if tree.make([name], 1):
            status, seconds = tree.test(name, 600)
            if status == 0:
                self.passed(name, seconds)
                return
        raise Broken("%s_test fails without any change" % name)


def trees(o):
    """One built copy for each job, without the tests."""
    made = [Tree(os.path.join(o.work, str(i))) for i in range(o.jobs)]
    for tree in made:
        if tree is not made[0] and not os.path.exists(tree.path):
            subprocess.run(["cp", "-a", made[0].path, tree.path], check=True)
        tree.copy()
        if not tree.make([], o.jobs):
            sys.exit("scripts/mutate: the copy in %s does not build" % tree.path)
    return made


def try_all(o, todo, rows, done):
    made, lock = trees(o), threading.Lock()
    times = Times(os.path.join(o.work, "times"))

    def try_one(tree, m):
        verdict, by = tree.judge(m, tests_for(rows, m.path), times)
        line = "%-8s %-22s %s  %s" % (verdict, by, m.key(), m.shown())
        with lock:
            done[m.hash] = line
            print(line, flush=True)
            with open(o.results, "a", encoding="utf-8") as f:
                f.write(line + "\n")

    # What is quickly known first: much is there when a run is broken off.
    at_once(made, sorted(todo, key=lambda m: times.of(tests_for(rows, m.path))),
            try_one)


# --- results --------------------------------------------------------------------


def read_results(path):
    """The last line about each mutant, by its hash."""
    done = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                words = line.split()
                if len(words) > 4 and words[0] != "#":
                    done[words[4]] = line.rstrip("\n")
    return done


def write_results(path, done):
    """One line a mutant, in the order of the sources."""
    def place(line):
        name, row, col = line.split()[2].split(":")
        return name, int(row), int(col), line

    with open(path, "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in sorted(done.values(), key=place))


def read_explained():
    with open(os.path.join(HERE, "survivors.txt"), encoding="utf-8") as f:
        return {line.split()[0] for line in f
                if line.strip() and not line.startswith("#")}


def summary(done):
    explained = read_explained()
    modules = {}
    for key, line in done.items():
        words = line.split()
        verdict = words[0]
        if verdict == "survived" and key in explained:
            verdict = "explained"
        elif key in explained:
            print("survivors.txt explains %s, which is %s" % (key, verdict))
        for name in (os.path.dirname(words[2].split(":")[0]), "all"):
            row = modules.setdefault(name, {})
            row[verdict] = row.get(verdict, 0) + 1
    for name in sorted(modules, key=lambda n: (n == "all", n)):
        row = modules[name]
        noticed = row.get("killed", 0) + row.get("timeout", 0)
        same, left = row.get("explained", 0), row.get("survived", 0)
        print("%-20s %4d valid, %4d noticed, %4d survived, %4d explained, "
              "%4d do not build" % (name, noticed + same + left, noticed, left,
                                    same, row.get("invalid", 0)))


def arguments():
    p = argparse.ArgumentParser(
        prog="scripts/mutate", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--sample", type=int, default=20, metavar="N",
                   help="try the first N of the shuffled mutants (default 20)")
    p.add_argument("--seed", type=int, default=1, help="of the shuffling")
    p.add_argument("--only", default="", metavar="PREFIX",
                   help="sources whose path begins so")
    p.add_argument("--results", default=os.path.join(HERE, "results.txt"))
    p.add_argument("--work", default=os.path.join(ROOT, "build/mutate"),
                   help="where the copies of the tree lie")
    p.add_argument("--jobs", type=int, default=os.cpu_count(),
                   help="mutants tried at a time (default: processors)")
    p.add_argument("--again", action="store_true",
                   help="try those that survived unexplained anew: there are "
                        "tests now")
    p.add_argument("--list", action="store_true",
                   help="show the mutants, try none")
    return p.parse_args()


def chosen(o):
    """All mutants in the order of sampling. A source that changes moves no other
    mutant's place in it."""
    names = subprocess.run(["git", "ls-files", "base/*.c", "isa/*.c",
                            "sim/*.c", "runtime/*.c"], cwd=ROOT, check=True,
                           capture_output=True).stdout.decode().split()
    all_of = [m for name in sorted(names) if name.startswith(o.only)
              for m in mutants_of(name)]
    all_of.sort(key=lambda m: digest(o.seed, m.hash))
    return all_of


def main():
    o = arguments()
    all_of, rows, done = chosen(o), read_map(), read_results(o.results)
    if o.again:
        left = {h for h in done if done[h].split()[0] == "survived"}
        left -= read_explained()
        mutants = [m for m in all_of if m.hash in left]
        again = {m.hash for m in mutants}
        done = {h: done[h] for h in done if h not in again}
    else:
        mutants = all_of[:o.sample]
    if not o.only:  # what the sources no longer have
        there = {m.hash for m in all_of}
        done = {h: done[h] for h in done if h in there}
    print("%d mutants of %d" % (len(mutants), len(all_of)), flush=True)
    if o.list:
        for m in mutants:
            print("%s  %s" % (m.key(), m.shown()))
        return
    todo = [m for m in mutants if m.hash not in done]
    for m in todo:
        if not tests_for(rows, m.path):
            sys.exit("scripts/mutate: tests/mutation/map.txt has no tests for "
                     + m.path)
    if todo:
        try_all(o, todo, rows, done)
    write_results(o.results, done)
    summary(done)


if __name__ == "__main__":
    main()
