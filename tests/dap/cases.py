"""What an editor does with vpu dap, each a test: scripts/check-dap runs them."""
import json
import os
import re
import signal
import subprocess
import tempfile
import time

import rig

TWICE = """\
int twice(int x)
{
    int two = 2;
    return two * x;
}
__kernel void k(__global const half *src, __global half *dst)
{
    int l = get_local_id(0);
    int a = twice(l);
    printf("item %d\\n", l);
    dst[get_global_id(0)] = src[get_global_id(0)] + a;
}
"""
ENDLESS = """\
__kernel void k(__global const half *src, __global half *dst)
{
    int n = 0;
    while (src[0] == src[0])
        n++;
    dst[0] = n;
}
"""
LAYER = """\
<CustomLayer name="T" type="MVCL" version="1">
  <Kernel entry="k">
    <Source filename="k.cl"/>
    <Parameters>
      <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
      <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
    </Parameters>
    <WorkSizes dim="input,0" global="X,Y,1" local="8,1,1"/>
  </Kernel>
</CustomLayer>
"""


class Folder:
    """A layer of one kernel in a folder of its own."""

    def __init__(self, source):
        self.folder = tempfile.TemporaryDirectory(prefix="vpudap")
        for name, text in (("layer.xml", LAYER), ("k.cl", source)):
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as f:
                f.write(text)
        self.source = os.path.join(self.folder.name, "k.cl")

    def launch(self, **more):
        return dict({"program": "layer.xml", "cwd": self.folder.name, "args": ["--no-cache"],
                     "shapes": {"in0": "1x1x2x16"}}, **more)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.folder.cleanup()


def launch_and_condition(s):
    """launch, and a breakpoint with a condition"""
    s.launch(rig.grn(), lambda s: s.breakpoints(
        {"line": 22, "condition": "global_id[0] == 3 && c == 2"}))
    stop = s.stop("breakpoint")
    assert stop.hitBreakpointIds == ["1"], stop
    assert s.line() == 22
    assert s.value("c") == "2" and s.value("global_id[0]") == "3"
    assert s.ask("threads").threads[0].name == "SHAVE 0: group (0,0,0), item (3,0,0)"
    assert s.frames()[0].source.path == rig.GRN_CL


def breakpoints_move(s):
    """a breakpoint on a line without code moves, and says so"""
    s.launch(rig.grn(stopOnEntry=True))
    s.stop("entry")
    got = s.breakpoints({"line": 1}, {"line": 22}, {"line": 9999})
    assert [b.verified for b in got] == [True, True, False]
    assert got[0].line > 1 and got[1].line == 22
    assert "last line" in got[2].message, got[2]


def tensors(s):
    """a tensor's variables, paged"""
    s.launch(rig.grn(stopOnEntry=True))
    s.stop("entry")
    scope = s.scope("Tensors")
    assert scope.expensive
    whole = s.variables(scope.variablesReference)[0]
    assert whole.name == "in0" and whole.indexedVariables == 16
    part = s.variables(whole.variablesReference, filter="indexed", start=5, count=3)
    assert [v.name for v in part] == ["[0,5]", "[0,6]", "[0,7]"]
    row = s.variables(part[0].variablesReference, start=2, count=1)[0]
    cells = s.variables(row.variablesReference, start=6, count=100)
    assert [v.evaluateName for v in cells] == ["in0[0,5,2,6]", "in0[0,5,2,7]"]
    for cell in cells:
        assert cell.value == s.value(cell.evaluateName)


def steps(s):
    """step in, over and out of a function"""
    with Folder(TWICE) as t:
        s.launch(t.launch(), lambda s: s.breakpoints({"line": 9}, path=t.source))
        s.stop("breakpoint")
        s.ask("step_in", 1)
        s.stop("step")
        assert [f.name for f in s.frames()] == ["twice", "k"] and s.line() == 3
        assert s.frames()[1].line == 9
        s.ask("next", 1)
        s.stop("step")
        assert s.line() == 4
        s.ask("step_out", 1)
        s.stop("step")
        assert s.line() == 9 and len(s.frames()) == 1
        s.ask("next", 1)
        s.stop("step")
        assert s.line() == 10


def back(s):
    """stepBack to the same values"""
    s.launch(rig.grn(), lambda s: s.breakpoints(
        {"line": 22, "condition": "global_id[0] == 5 && c == 7"}))
    s.stop("breakpoint")
    before = s.locals()
    for _ in range(4):
        s.ask("next", 1)
        s.stop("step")
    assert s.locals() != before
    for _ in range(4):
        s.ask("step_back", 1)
        s.stop("step")
    assert s.line() == 22 and s.locals() == before


def reverse(s):
    """reverseContinue to the breakpoint before"""
    s.launch(rig.grn(), lambda s: s.breakpoints(
        {"line": 22, "condition": "c == 0 && local_id[0] % 3 == 0"}))
    seen = []
    for _ in range(4):
        s.stop("breakpoint")
        seen.append(s.value("global_id") + s.value("sum"))
        s.ask("continue_", 1)
    s.stop("breakpoint")
    for want in reversed(seen):
        s.ask("reverse_continue", 1)
        s.stop("breakpoint")
        assert s.value("global_id") + s.value("sum") == want


def data(s):
    """a data breakpoint on one element"""
    s.launch(rig.grn(stopOnEntry=True))
    s.stop("entry")
    argument = next(v for v in s.variables(s.scope("Arguments").variablesReference)
                    if v.name == "dst")
    plane = s.variables(argument.variablesReference, start=0, count=1)[0]
    row = s.variables(plane.variablesReference, start=0, count=1)[0]
    info = s.ask("data_breakpoint_info", "[0,0,0,6]",
                 variables_reference=row.variablesReference)
    assert info.dataId == "dst[0,0,0,6]" and info.accessTypes == ["write"], info
    got = s.ask("set_data_breakpoints", [{"dataId": info.dataId, "accessType": "write"}])
    assert got.breakpoints[0].verified
    s.ask("continue_", 1)
    stop = s.stop("data breakpoint")
    assert "was 0, is" in stop.text
    assert s.value("global_id") == "(6, 0, 0)" and s.value("dst[0,0,0,6]") != "0"


def disassembly(s):
    """200 rows of disassembly around the bundle"""
    s.launch(rig.grn(stopOnEntry=True, bundles=True))
    s.stop("entry")
    at = s.frames()[0].instructionPointerReference
    begin = time.monotonic()
    s.request("disassemble", {"memoryReference": at, "instructionOffset": -100,
                              "instructionCount": 200})
    rows = s.raw["instructions"]
    assert time.monotonic() - begin < 1
    assert len(rows) == 200 and rows[100]["address"] == at
    line = s.line()
    assert any(r.get("line") == line for r in rows)
    addresses = [int(r["address"], 16) for r in rows]
    assert addresses == list(range(addresses[0], addresses[0] + 200 * 16, 16))
    s.ask("next", 1, granularity="instruction")
    s.stop("step")
    assert s.frames()[0].instructionPointerReference != at


def leaves_while_running(s):
    """disconnect while the kernel runs"""
    with Folder(ENDLESS) as t:
        s.launch(t.launch())
        time.sleep(0.3)
        s.ask("disconnect")
        assert s.ends(1) == 0


def pauses(s):
    """pause, breakpoints and refusals while the kernel runs"""
    with Folder(ENDLESS) as t:
        s.launch(t.launch())
        try:
            s.ask("stack_trace", 1)
        except rig.Failed as why:
            assert str(why) == "notStopped"
        s.ask("pause", 1)
        s.stop("pause")
        first = int(s.value("n"))
        s.ask("continue_", 1)
        assert s.breakpoints({"line": 5, "condition": "n %% 1000 == 0 && n > %d" % first},
                             path=t.source)[0].verified
        s.stop("breakpoint")
        assert int(s.value("n")) % 1000 == 0


def prints(s):
    """a kernel's printf is events, and nothing strays on standard output"""
    with Folder(TWICE) as t:
        s.launch(t.launch())
        s.event("terminated")
        out = "".join(b.output for n, b in s.events if n == "output" and b.category == "stdout")
        assert out == "".join("item %d\n" % (i % 8) for i in range(32)), out
        s.ask("disconnect")
        assert s.ends(1) == 0


def logs(s):
    """a log message, and a count"""
    s.launch(rig.grn(), lambda s: s.breakpoints(
        {"line": 22, "hitCondition": ">= 20", "logMessage": "c is {c}"},
        {"line": 28, "hitCondition": "3"}))
    s.stop("breakpoint")
    assert s.value("local_id[0]") == "0" and s.line() == 28
    s.ask("continue_", 1)
    s.event("terminated")
    out = [b.output for n, b in s.events if n == "output"]
    assert out[:2] == ["c is 3\n", "c is 4\n"] and len(out) == 32 * 16 - 19, (out[:3], len(out))


def malformed(s):
    """malformed and unknown requests do not end the adapter"""
    s.event("initialized")
    for bad in (b"nonsense\r\n\r\n", b"Content-Length: 999999999999\r\n\r\n",
                b"Content-Length: 3\r\n\r\n{{{", b"Content-Length: 2\r\n\r\n[]",
                b"Content-Length: 20\r\n\r\n{\"type\":\"request\"}  "):
        s.process.stdin.write(bad)
    for command in ("attach", "restart", "goto", "readMemory", "nonsense"):
        try:
            s.request(command)
            raise AssertionError(command + " was not refused")
        except rig.Failed:
            pass
    assert s.ask("threads").threads[0].id == 1


def no_layer(s):
    """a launch that cannot be: an answer, and no end"""
    for key in ("initialized",):
        s.event(key)
    try:
        s.request("launch", {"program": "nowhere.xml"})
        raise AssertionError("was launched")
    except rig.Failed as why:
        assert "nowhere.xml" in str(why), why
    s.event("terminated")
    s.ask("disconnect")
    assert s.ends(1) == 0


def wrong_options(s):
    """options that are wrong: the message of the command line"""
    s.event("initialized")
    try:
        s.request("launch", rig.grn(args=["--layer", "GRN", "--sheep", "1"]))
        raise AssertionError("was launched")
    except rig.Failed as why:
        assert "--sheep" in str(why), why


SLOW = """\
#define A(x) x x x x x x x x x x
#define B(x) A(A(x))
__kernel void k(__global half *src, __global half *dst)
{
    float a = src[0];
    B(B(B(a = a * a + sin(a);)))
    dst[0] = a;
}
"""


def compiling(s, t):
    """A launch that has come to the compiler, which takes some seconds of clang's time."""
    s.event("initialized")
    s.client.send_request("launch", t.launch())
    s.send()
    until = time.monotonic() + 10
    while not s.children() and time.monotonic() < until:
        time.sleep(0.01)
    assert s.children(), "no compiler has begun"
    return s.children()


def gone(children):
    for pid in children:
        assert not os.path.exists("/proc/" + pid), "a child is left"


def leaves_while_compiling(s):
    """disconnect while the compiler runs"""
    with Folder(SLOW) as t:
        children = compiling(s, t)
        s.client.disconnect()
        s.send()
        assert s.ends(2) == 0
        gone(children)


def ends(s, what):
    """the end of the input ends it within a second: %s"""
    with Folder({"a kernel runs": ENDLESS, "a compiler runs": SLOW}.get(what, TWICE)) as t:
        if what == "a compiler runs":
            compiling(s, t)
        else:
            s.launch(t.launch(stopOnEntry=what == "it stands"))
            if what == "it stands":
                s.stop("entry")
        children = s.children()
        s.process.stdin.close()
        assert s.ends(1) == 0
        gone(children)


def signals(s):
    """SIGTERM ends it, and leaves no child"""
    s.launch(rig.grn(stopOnEntry=True))
    s.stop("entry")
    s.process.send_signal(signal.SIGTERM)
    assert s.ends(1) == -signal.SIGTERM


def extension(s):
    """VS Code's extension: it starts this adapter, its members are ours, its matcher matches"""
    with open(os.path.join(rig.ROOT, "editors", "vscode", "package.json"),
              encoding="utf-8") as f:
        gives = json.load(f)["contributes"]
    debugger = gives["debuggers"][0]
    assert [debugger["runtime"]] + debugger["args"] == ["vpu", "dap"]
    helped = subprocess.run([s.process.args[0], "dap", "--help"], capture_output=True,
                            text=True, check=True).stdout
    for name in debugger["configurationAttributes"]["launch"]["properties"]:
        assert re.search(r"(?m)^  (?:\w+, )*%s\b" % name, helped), name
    for group in gives["snippets"] + gives["grammars"]:
        with open(os.path.join(rig.ROOT, "editors", "vscode", group["path"]),
                  encoding="utf-8") as f:
            json.load(f)
    pattern = gives["problemMatchers"][0]["pattern"]
    with Folder("__kernel void k(__global half *src, __global half *dst)\n{\n"
                "    dst[0] = a;\n}\n") as t:
        done = subprocess.run([s.process.args[0], "run", "layer.xml", "--shape",
                               "in0=1x1x2x16", "--no-cache"], cwd=t.folder.name,
                              capture_output=True, text=True, check=False)
    found = [m for m in map(re.compile(pattern["regexp"]).match, done.stderr.splitlines()) if m]
    assert found and found[0].group(pattern["file"]) == "k.cl", done.stderr
    assert found[0].group(pattern["line"]) == "3"
    assert found[0].group(pattern["severity"]) == "error"


CASES = [launch_and_condition, breakpoints_move, tensors, steps, back, reverse, data,
         disassembly, leaves_while_running,
         leaves_while_compiling, pauses, prints, logs, malformed, no_layer,
         wrong_options, signals, extension]
ENDS = ["it stands", "a kernel runs", "a compiler runs"]


def run(vpu, say, only=None):
    tests = [(f.__doc__, f, ()) for f in CASES]
    tests += [(ends.__doc__ % what, ends, (what,)) for what in ENDS]
    for what, test, words in tests:
        if only and only not in what:
            continue
        s = rig.Session(vpu)
        try:
            test(s, *words)
            say(True, what)
        except (AssertionError, rig.Failed, subprocess.TimeoutExpired, OSError,
                AttributeError, KeyError, ValueError) as why:
            at = why.__traceback__
            while at.tb_next and at.tb_next.tb_frame.f_code.co_filename == __file__:
                at = at.tb_next
            say(False, what, "line %d: %s" % (at.tb_lineno, why))
        finally:
            s.close()
