"""Changes the sources one small place at a time and asks the tests.

A change (mutant) that makes some test fail is killed; one that all tests pass
survives: either nothing checks that place, or the change means nothing. The
tree is copied to build/mutate/tree, so the user's own is left alone; there only
what changed is built again, and the tests that map.txt names for the source
run one after the other until one fails.

Results are lines of text, one a mutant, in --results. A mutant that has its
line there already is not tried again, as long as its source line is the same:
so a run that was broken off goes on where it was, and one with a larger
--sample adds to it. Of two lines about one mutant the later counts.
"""

import argparse
import hashlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
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
    r"default|else|do|typedef|extern)\b"
)
STATEMENT = re.compile(
    r"^[ \t]+(?:[A-Za-z_*(][\w\->.\[\]()*+ ,&]*?"
    r"(?:[-+*/%&|^]|<<|>>)?=[^=].*|[a-z_]\w*\(.*\)|[\w\->.\[\]*()]+(?:\+\+|--)"
    r"|break|continue);[ \t]*(?:/\*.*\*/)?$"
)


class Mutant:
    def __init__(self, path, text, at, end, new, kind):
        self.path, self.at, self.end, self.new, self.kind = path, at, end, new, kind
        self.old = text[at:end]
        self.line = text.count("\n", 0, at) + 1
        start = text.rfind("\n", 0, at) + 1
        stop = text.find("\n", at)
        self.col = at - start + 1
        whole = text[start:stop if stop >= 0 else len(text)]
        self.hash = hashlib.sha256(whole.strip().encode()).hexdigest()[:8]

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
            if kind == "op" and not is_declarator(text, m.start()):
                for new in swapped(value, before):
                    name = next(k for k, ops in KINDS.items() if value in ops)
                    yield Mutant(path, text, m.start(), m.end(), new, name)
            elif kind == "op" and value == "!" :
                yield Mutant(path, text, m.start(), m.end(), "", "negation")
            elif kind == "number":
                digits = value.rstrip("uUlL")
                octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
                n = int(digits, 8 if octal else 0)
                for d in (1, -1):
                    if n + d >= 0:
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


def limits():
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for what, most in ((resource.RLIMIT_DATA, 6 << 30),
                       (resource.RLIMIT_FSIZE, 2 << 30)):
        resource.setrlimit(what, (most, most))


def run(words, cwd, env, seconds):
    """The exit status; None: it took too long."""
    p = subprocess.Popen(words, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         preexec_fn=limits)
    try:
        status = p.wait(seconds)
    except subprocess.TimeoutExpired:
        status = None
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    p.wait()
    return status


class Tree:
    """A copy of the tracked files, with a build of its own."""

    def __init__(self, path, jobs):
        self.path, self.jobs = path, jobs
        self.out = os.path.join(path, "build/release")
        self.cache = os.path.join(path, "build/cache")
        self.env = dict(os.environ, VPU=os.path.join(self.out, "vpu"),
                        VPU_BUILD=self.out, XDG_CACHE_HOME=self.cache)
        self.env.pop("MAKEFLAGS", None)
        self.took = {}

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

    def make(self, tests):
        words = ["make", "-s", "-j%d" % self.jobs, "CFLAGS=-w", "all", "plugins"]
        words += ["build/release/tests/%s_test" % t for t in tests]
        if "fidelity/fidelity" in tests:
            words.append("build/release/tests/fidelity/fidelity")
        return run(words, self.path, self.env, 1800) == 0

    def test(self, name, seconds):
        # What a mutant compiled is not what another would.
        shutil.rmtree(self.cache, ignore_errors=True)
        start = time.monotonic()
        status = run(["build/release/tests/%s_test" % name], self.path,
                     self.env, seconds)
        return status, time.monotonic() - start

    def limit_of(self, name):
        """Generous, from what the test takes without a change."""
        if name not in self.took:
            status, took = self.test(name, 1800)
            if status != 0:
                sys.exit("scripts/mutate: %s_test fails without any change"
                         % name)
            self.took[name] = 20 + 5 * took
        return self.took[name]

    def write(self, path, text):
        with open(os.path.join(self.path, path), "w", encoding="utf-8") as f:
            f.write(text)


def judge(tree, m, text, tests):
    """One of killed, timeout, survived, invalid; and by which test."""
    tree.write(m.path, text[:m.at] + m.new + text[m.end:])
    try:
        if not tree.make(tests):
            return "invalid", "-"
        for t in tests:
            status, _ = tree.test(t, tree.took[t])
            if status is None:
                return "timeout", t
            if status != 0:
                return "killed", t
        return "survived", "-"
    finally:
        tree.write(m.path, text)


# --- results --------------------------------------------------------------------


def read_results(path):
    done = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if not line.startswith("#") and line.strip():
                    words = line.split()
                    done[" ".join(words[2:5])] = words[0]
    return done


def summary(done):
    modules = {}
    for key, verdict in done.items():
        module = os.path.dirname(key.split(":")[0])
        row = modules.setdefault(module, {})
        row[verdict] = row.get(verdict, 0) + 1
    for module in sorted(modules):
        row = modules[module]
        noticed = row.get("killed", 0) + row.get("timeout", 0)
        tried = noticed + row.get("survived", 0)
        print("%-20s %4d tried, %4d noticed, %4d survived"
              % (module, tried, noticed, tried - noticed))


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
    p.add_argument("--work", default=os.path.join(ROOT, "build/mutate/tree"),
                   help="where the copy of the tree lies")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--again", action="store_true",
                   help="try those that survived anew: there are tests now")
    p.add_argument("--list", action="store_true",
                   help="show the mutants, try none")
    return p.parse_args()


def chosen(o):
    names = subprocess.run(["git", "ls-files", "isa/*.c", "sim/*.c",
                            "runtime/*.c"], cwd=ROOT, check=True,
                           capture_output=True).stdout.decode().split()
    all_of = [m for name in sorted(names) if name.startswith(o.only)
              for m in mutants_of(name)]
    random.Random(o.seed).shuffle(all_of)
    return all_of[:o.sample], len(all_of)


def main():
    o = arguments()
    mutants, n = chosen(o)
    rows = read_map()
    done = read_results(o.results)
    print("%d mutants of %d" % (len(mutants), n))
    if o.list:
        for m in mutants:
            print("%s  %s" % (m.key(), m.shown()))
        return
    open_still = {"survived"} if o.again else set()
    todo = [m for m in mutants
            if m.key() not in done or done[m.key()] in open_still]
    tree = Tree(o.work, o.jobs)
    tree.copy()
    for m in todo:
        tests = tests_for(rows, m.path)
        if not tests:
            sys.exit("scripts/mutate: tests/mutation/map.txt has no tests for "
                     + m.path)
        with open(os.path.join(ROOT, m.path), encoding="utf-8") as f:
            text = f.read()
        if not tree.make(tests):
            sys.exit("scripts/mutate: the copy in %s does not build" % o.work)
        for t in tests:
            tree.limit_of(t)
        verdict, by = judge(tree, m, text, tests)
        done[m.key()] = verdict
        line = "%-8s %-22s %s  %s" % (verdict, by, m.key(), m.shown())
        print(line, flush=True)
        with open(o.results, "a", encoding="utf-8") as f:
            f.write(line + "\n")
    summary(done)


if __name__ == "__main__":
    main()
