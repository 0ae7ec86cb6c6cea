"""What an editor with clangd says of kernels, with the flags that `vpu init` writes.

Kernels of kernels/*/gpu are left out: SimpleGPU gives each a list of macros that its binding
names (types, sizes, pitches), without which they are no C; they are for OpenVINO's GPU plug-in,
and `vpu init` writes none.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile

import lsp

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KINDS = [[], ["--dma"], ["--two-stage"], ["--dma", "--two-stage"]]
SEVERITIES = {1: "error", 2: "warning"}

# Calls, and words of the documentation that is shown for each.
CALLS = [
    ("WorkGroupDmaCreateTransaction(g, l, 16, 0)", "a transfer of size bytes"),
    ("WorkGroupDmaCreateStrideTransaction(g, l, 4, 4, 8, 4, 16, 0)",
     "bytes from the start of a line to the start of the next"),
    ("WorkGroupDmaCreate3DTransaction(l, g, 4, 4, 8, 4, 2, 64, 64, 16, 0)",
     "bytes of the lines of one plane"),
    ("async_work_group_copy_2D2D(l, g, 4, 2, 4, 0, 0)",
     "elements skipped behind each line of the source"),
    ("async_work_group_copy_3D3D(l, g, 4, 2, 4, 0, 2, 8, 0, 0)",
     "elements skipped besides behind each plane"),
    ("async_work_group_copy(l, g, 8, 0)", "once for the"),
    ("async_work_group_strided_copy(l, g, 8, 2, 0)", "elements apart"),
    ("wait_group_events(1, &e)", "copies of the work-group are done"),
    ("prefetch(g, 8)", "will be read"),
    ("WorkItemDmaCreateTransaction(g, p, 16, 0)", "for the work-item alone"),
    ("WorkItemDmaCreateStrideTransaction(g, p, 4, 4, 8, 4, 16, 0)", "a transfer of lines"),
    ("WorkItemDmaCreate3DTransaction(g, p, 4, 4, 8, 4, 2, 64, 64, 16, 0)", "a transfer of planes"),
    ("WaitWorkItemDmaEvents(1, &w)", "transfers of the work-item are done"),
    ("l[0] = __builtin_shave_sau_sumx_f16_r(v)", "sum of the eight halves"),
]
HEAD = """__kernel void k(__global half *g, __local half *l, half8 v)
{
    half p[64];
    event_t e = 0;
    item_dma_event_t w = 0;
"""

# Lines that are wrong, and what is said of them.
MISTAKES = [
    ("l[0] = nonsense;", "undeclared identifier 'nonsense'"),
    ("WorkGroupDmaCreateTransaction(g, g, 16, 0);", "matching function for call"),
    ("double d = 1;", "cl_khr_fp64"),
    ("int4 x = (int2)(1, 2);", "incompatible type"),
    ("int unused;\n    return 1;", "should not return a value"),
]


def complaints(found):
    """Errors and warnings, each as one line."""
    return ["%s, line %d: %s" % (SEVERITIES[d["severity"]], d["range"]["start"]["line"] + 1,
                                 d["message"].split("\n")[0])
            for d in found if d.get("severity", 1) in SEVERITIES]


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def check_hovers(server, folder, say):
    path = os.path.join(folder, "calls.cl")
    text = HEAD + "".join("    %s;\n" % call for call, _ in CALLS) + "}\n"
    write(path, text)
    wrong = complaints(server.diagnostics(path))
    say(not wrong, "calls of all functions: nothing is found", "; ".join(wrong))
    for row, (call, words) in enumerate(CALLS):
        line = HEAD.count("\n") + row
        name = re.search(r"(\w+)\(", call)[1]
        column = text.split("\n")[line].index(name)
        shown = " ".join(server.hover(path, line, column + 2).replace("\\\n", " ").split())
        say(words in shown, "%s is explained" % name, "shown: %s" % shown[:300])
    target = server.ask("textDocument/definition", {
        "textDocument": {"uri": "file://" + path},
        "position": {"line": HEAD.count("\n"), "character": 6}})
    say([t["uri"].endswith("/vpusim/kernel.h") for t in target] == [True],
        "the definition is in vpusim/kernel.h", str(target))
    server.close(path)


def check_mistakes(server, folder, say):
    path = os.path.join(folder, "mistake.cl")
    for line, words in MISTAKES:
        wrong = complaints(server.diagnostics(path, HEAD + "    " + line + "\n}\n"))
        say(any(words in w for w in wrong), "found: %s" % line.split("\n")[-1].strip(),
            "; ".join(wrong) or "nothing")
        server.close(path)


def run(vpu, program, say, only):
    """All of it; `only`: kernels with that in their name."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="vpu-clangd-"))
    try:
        for kind in KINDS:
            name = "layer" + "".join(kind).replace("-", "_")
            made = subprocess.run([vpu, "init", name] + kind, cwd=folder, check=False,
                                  capture_output=True, text=True)
            if made.returncode:
                say(False, "vpu init %s %s" % (name, " ".join(kind)), made.stderr)
                return
            with lsp.Server(program, os.path.join(folder, name)) as server:
                wrong = complaints(server.diagnostics(
                    os.path.join(folder, name, name + ".cl")))
            say(not wrong, " ".join(["vpu init"] + kind), "; ".join(wrong))
        samples = os.path.join(folder, "samples")
        shutil.copytree(os.path.join(ROOT, "kernels"), os.path.join(samples, "kernels"))
        shutil.copytree(os.path.join(ROOT, "docs", "examples"), os.path.join(samples, "examples"))
        for name in ("compile_flags.txt", ".clangd"):
            shutil.copy(os.path.join(folder, "layer", name), samples)
        kernels = sorted(glob.glob(samples + "/kernels/*/*.cl") + glob.glob(samples + "/examples/*.cl"))
        say(len(kernels) > 40, "there are %d kernels" % len(kernels))
        with lsp.Server(program, samples) as server:
            for path in kernels:
                name = os.path.relpath(path, samples)
                if only and only not in name:
                    continue
                wrong = complaints(server.diagnostics(path))
                server.close(path)
                say(not wrong, name, "; ".join(wrong))
            wrong = []
            for language in ("c", "cpp"):
                wrong += complaints(server.diagnostics(kernels[0], language=language))
                server.close(kernels[0])
            say(not wrong, "the flags count, not the editor's name of the language", "; ".join(wrong))
            check_hovers(server, samples, say)
            check_mistakes(server, samples, say)
        # The flags are what makes the difference.
        os.remove(os.path.join(samples, "compile_flags.txt"))
        with lsp.Server(program, samples) as server:
            wrong = complaints(server.diagnostics(os.path.join(samples, "kernels/grn/grn_dma.cl")))
        say(wrong, "without the flags a sample has errors")
    except lsp.Failed as e:
        say(False, "clangd answers", str(e))
    finally:
        shutil.rmtree(folder)
