"""What a browser does with pages of vpu view --html, each a test: scripts/check-html runs them."""
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import png
from browser import Browser

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CAUSES = {"issue", "L2 stall", "DDR stall", "store stall", "DMA setup", "DMA wait", "dispatch", "idle"}
HOSTILE = ["</script><img src=x onerror=\"window.hostile=1\">", "<!--<script>", "\u2028\u2029",
           "a\"b\\c&lt;", "\x1b[31m\r\n", "__proto__", "]]></textarea>"]


# --- traces -----------------------------------------------------------------

def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def packet(body):
    return field(1, field(10, 1) + body)


def track(uuid, name):
    return packet(field(60, field(1, uuid) + field(2, name.encode())))


def slice_of(uuid, begin, end, name):
    """Perfetto's TracePacket with a TrackEvent, by its public field numbers."""
    head = field(11, uuid)
    return packet(field(8, begin) + field(11, field(9, 1) + head + field(23, name.encode()))) + \
        packet(field(8, end) + field(11, field(9, 2) + head))


# --- a page and its table ---------------------------------------------------

class Page:
    """The page of a trace, open in the browser, and what vpu view --csv says about the trace."""

    def __init__(self, vpu, browser, trace, more=()):
        self.b = browser
        self.html = trace + ".html"
        subprocess.run([vpu, "view", trace, "--html", self.html, *more], check=True)
        subprocess.run([vpu, "view", trace, "--csv", trace + ".csv"], check=True)
        self.slices = read_table(trace + ".csv")
        browser.size(1300, 900)
        browser.open(self.html)

    def text(self, name):
        """Of an element, "" when it is not there; without the spaces between digits."""
        got = self.b.ask("(document.getElementById(%s) || {textContent: ''}).textContent" % json.dumps(name))
        return got.replace("\u2009", "")

    def state(self, name):
        return self.b.ask("timeline.state." + name)

    def search(self, text):
        self.b.ask("document.activeElement.blur(), document.getElementById('query').value = ''")
        self.b.key("/")
        self.b.type(text)

    def place(self, s):
        return self.b.ask("timeline.place(%d, %d, %d)" % (s["at"], s["lane"], s["slice"]))

    def pixel(self, x, y):
        return tuple(self.b.ask(
            "(() => { const c = document.getElementById('canvas'), box = c.getBoundingClientRect(); return [...c"
            ".getContext('2d').getImageData(%d - box.left, %d - box.top, 1, 1).data].slice(0, 3); })()" % (x, y)))

    def click_first(self):
        """A click on the first phase of a SHAVE."""
        at = self.place([s for s in self.slices if s["row"] == "SHAVE 0" and not s["lane"]][0])
        self.b.click(at["x"], at["y"])

    def selected(self):
        return {"name": self.text("name"), "row": self.text("on"), "begin": first_number(self.text("begin")),
                "length": first_number(self.text("length"))}


def first_number(text):
    found = re.match(r"\d+", text)
    return int(found.group()) if found else None


def read_table(path):
    """Slices of the CSV with their places in the page: rows and lanes are in its order."""
    slices, rows, counts = [], [], {}
    with open(path, newline="", encoding="utf-8", errors="replace") as f:
        for line in csv.reader(f):
            if line[0] == "row":
                continue
            row, lane = line[0], int(line[1])
            if row not in rows:
                rows.append(row)
            n = counts.get((row, lane), 0)
            counts[row, lane] = n + 1
            slices.append({"row": row, "at": rows.index(row), "lane": lane, "slice": n, "name": line[2],
                           "begin": int(line[3]), "length": int(line[4]), "args": line[7]})
    return slices


def sums_of(slices, a, b):
    """Count and time in [a, b) by kind of row and name, as the table of a range has them."""
    found = {}
    for s in slices:
        begin, end = s["begin"], s["begin"] + s["length"]
        if begin >= b or (end <= a and begin < a):
            continue
        kind = ("local memory" if " local" in s["row"] else "SHAVE" if s["row"].startswith("SHAVE")
                else "DMA" if s["row"].startswith("DMA") else s["row"])
        base = re.sub(r" \d+$", "", s["name"])
        n, total = found.get((kind, base), (0, 0))
        found[kind, base] = (n + 1, total + min(end, b) - max(begin, a))
    return found


def holds(name, part):
    """Numbers match whole, case does not matter."""
    return re.search(re.escape(part) + (r"(?!\d)" if part[-1].isdigit() else ""), name, re.I) is not None


# --- tests ------------------------------------------------------------------

def loads_quietly(p):
    assert not p.b.problems, p.b.problems
    assert [u for u in p.b.requests if not u.startswith("data:")] == ["file://" + p.html], p.b.requests
    assert p.text("title") == "dma", p.text("title")
    end = max(s["begin"] + s["length"] for s in p.slices)
    assert first_number(p.text("total")) >= end, p.text("total")
    with open(p.html, encoding="utf-8") as f:
        page = f.read()
    assert not re.search(r"(src|href)=\"(?!data:)", page) and "http" not in page.replace("http-equiv", "")


def rows_of_the_table(p):
    names = p.b.ask("timeline.data.rows.filter(r => r.lanes.length).map(r => r.name)")
    assert names == list(dict.fromkeys(s["row"] for s in p.slices)), names
    n = p.b.ask("timeline.data.rows.reduce((n, r) => n + r.lanes.reduce((m, l) => m + l.n, 0), 0)")
    assert n == len(p.slices), n


def clicks_select_what_the_table_has(p):
    p.b.key("0")
    span, tried = p.state("to") - p.state("from"), 0
    wide = [s for s in p.slices if s["length"] > span / 200]
    for s in wide[::max(1, len(wide) // 40)]:
        at = p.place(s)
        if at["h"] <= 0:
            continue
        p.b.click(at["x"], at["y"])
        got = p.selected()
        assert got == {k: s[k] for k in got}, (got, s)
        tried += 1
    assert tried > 20, tried


def a_selection_has_its_arguments(p):
    s = [s for s in p.slices if s["name"] == "comp 17"][0]
    p.search("comp 17")
    p.b.key("Enter")
    assert p.selected()["begin"] == s["begin"], p.selected()
    panel = p.text("selection")
    for word in s["args"].split("; "):
        key, value = word.split("=")
        assert (key in CAUSES) or key + value in panel, (word, panel)
    causes = [w.split("=") for w in s["args"].split("; ") if w.split("=")[0] in CAUSES]
    for key, value in causes:
        assert key + value + " cycles" in panel, (key, value, panel)
    assert "grn_dma.cl:" in p.text("lines") and "%" in p.text("lines"), p.text("lines")
    assert "cycles" in p.text("slack") and p.text("path") in ("yes", "no") or "%" in p.text("path")


def search_counts_as_the_table(p):
    for text in ("comp", "comp 1", "comp 17", "DMA WAIT", "in", "group 16", "nothing like it"):
        p.search(text)
        n = sum(holds(s["name"], text) for s in p.slices)
        want = "no hits" if not n else "%d hit%s" % (n, "" if n == 1 else "s")
        assert p.text("hits") == want, (text, p.text("hits"), want)


def search_goes_round_in_order(p):
    p.search("group 3")
    hits = sorted((s for s in p.slices if holds(s["name"], "group 3")), key=lambda s: s["begin"])
    assert hits
    p.b.key("Enter")
    p.b.key("Escape")
    for s in hits[1:] + hits[:1]:
        p.b.key("n")
        assert p.selected()["begin"] == s["begin"], (p.selected(), s)
    p.b.key("N")
    assert p.selected()["begin"] == hits[-1]["begin"]


def wheel_and_keys_move(p):
    p.b.key("0")
    whole = (p.state("from"), p.state("to"))
    t = whole[0] + (whole[1] - whole[0]) * 0.3
    x = p.b.ask("timeline.time(%f)" % t)
    p.b.wheel(x, 300, -300)
    span = p.state("to") - p.state("from")
    assert span < (whole[1] - whole[0]) * 0.7, span
    assert abs(p.b.ask("timeline.time(%f)" % t) - x) < 1
    before = p.state("from")
    p.b.key("d")
    assert math.isclose(p.state("from"), before + span / 10, rel_tol=1e-9)
    p.b.key("a")
    assert math.isclose(p.state("from"), before, rel_tol=1e-9)
    p.b.mouse("mouseMoved", x, 300)
    p.b.key("w")
    assert math.isclose(p.state("to") - p.state("from"), span * 0.8, rel_tol=1e-9)
    assert abs(p.b.ask("timeline.time(%f)" % t) - x) < 1
    p.b.key("s")
    assert math.isclose(p.state("to") - p.state("from"), span, rel_tol=1e-9)
    p.b.drag(x, 300, x - 100, 300)
    assert abs(p.b.ask("timeline.time(%f)" % t) - (x - 100)) < 1
    p.b.key("Home")
    assert (p.state("from"), p.state("to")) == whole


def range_adds_up_as_the_table(p):
    p.b.key("0")
    for a, b in ((0.2, 0.5), (0.61, 0.42), (0.0, 1.0)):
        x0, x1 = (p.b.ask("timeline.time(timeline.data.end * %f)" % t) for t in (a, b))
        p.b.drag(x0, 300, x1, 320, shift=True)
        low, high = p.state("range")
        want = sums_of(p.slices, low, high)
        got = p.b.ask("[...document.querySelectorAll('#range tbody tr')].map(r => "
                      "[...r.children].map(c => c.textContent.replaceAll('\\u2009', '')))")
        rows_of = {}
        for s in p.slices:
            rows_of.setdefault("local memory" if " local" in s["row"] else s["row"].split(" ")[0]
                               if s["row"] not in ("stages", "critical path") else s["row"], set()).add(s["row"])
        assert len(got) == len(want), (len(got), len(want))
        for name, count, total, mean, share in got:
            n, sum_of = want[tuple(name.split(": ", 1))]
            assert (int(count), int(total)) == (n, sum_of), (name, count, total, n, sum_of)
            assert abs(float(mean) - sum_of / n) < 0.06, (name, mean)
            all_of = (high - low) * len(rows_of[name.split(": ", 1)[0]])
            assert abs(float(share[:-2]) - 100 * sum_of / all_of) < 0.06, (name, share, 100 * sum_of / all_of)
    p.b.key("m")


def colours_are_the_viewers(p):
    s = max((s for s in p.slices if s["name"] == "issue"), key=lambda s: s["length"])
    for dark, page in ((False, (255, 255, 255)), (True, (0x16, 0x19, 0x1d))):
        p.b.size(1300, 900, dark)
        p.search(" ")
        p.b.key("Escape")
        p.b.key("0")
        at = p.place(s)
        assert p.pixel(at["x"], at["y"]) == (0x00, 0x9e, 0x73), p.pixel(at["x"], at["y"])
        assert p.b.ask("getComputedStyle(document.body).backgroundColor") == "rgb(%d, %d, %d)" % page
        assert p.pixel(3, 150) == page, p.pixel(3, 150)
    p.b.key("t")
    assert p.b.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    p.b.size(1300, 900)


def slices_are_drawn_where_they_are(p):
    known = {"issue": 0x009e73, "DMA wait": 0xe69f00, "dispatch": 0x5f6368, "idle": 0xe9edf1, "DMA setup": 0xf0e442}
    p.b.key("Escape")
    p.b.key("0")
    tried = 0
    for s in [s for s in p.slices if s["lane"] == 1 and s["row"].startswith("SHAVE")]:
        a, b = (p.b.ask("timeline.time(%d)" % t) for t in (s["begin"], s["begin"] + s["length"]))
        if b - a < 8 or s["name"] not in known:
            continue
        rgb, y = known[s["name"]], p.place(s)["y"] + 6  # below its name
        bright = (rgb >> 16, rgb >> 8 & 255, rgb & 255)
        for x in (a + 2, b - 3):
            got = p.pixel(x, y)
            grid = any(abs(g - c) <= 128 for g, c in zip(got, bright))  # a line of the axis is half over it
            dark = all(abs(g - 0.7 * c) <= 1 for g, c in zip(got, bright))
            assert got == bright or (s["name"] == "DMA wait" and dark) or \
                (grid and abs(round(x) - nearest_tick(p, x)) <= 1), (s, x, got)
            tried += 1
    assert tried > 100, tried


def nearest_tick(p, x):
    """Where the axis has its line next to x: marks are the only columns of that colour at its height."""
    return p.b.ask(
        "(() => { const c = document.getElementById('canvas'), d = c.getContext('2d').getImageData(0, 17, c.width, 1)"
        ".data; let best = -99; for (let i = 162; i < c.width; i++) if (d[4 * i] === 0xb4 && d[4 * i + 1] === 0xbc && "
        "Math.abs(i - %f) < Math.abs(best - %f)) best = i; return best; })()" % (x, x))


def shrunk(lines):
    """Means of 4 x 4 pixels, so that a font may be drawn a little differently elsewhere."""
    return [[tuple(sum(lines[4 * y + i][4 * x + j][k] for i in range(4) for j in range(4)) // 16 for k in range(3))
             for x in range(len(lines[0]) // 4)] for y in range(len(lines) // 4)]


def looks_as_before(p):
    """The whole window, beside a picture that was looked at; few cells far apart, little on the whole."""
    path = os.path.join(ROOT, "tests", "html", "reference.png")
    p.b.size(1300, 900)
    p.search("comp 17")
    p.b.key("Enter")
    p.b.ask("document.activeElement.blur()")
    p.b.mouse("mouseMoved", 5, 890)
    got = shrunk(png.read(p.b.screenshot()))
    p.b.key("Escape")
    if os.environ.get("VPU_WRITE_REFERENCES"):
        with open(path, "wb") as f:
            f.write(png.write(len(got[0]), [b"".join(map(bytes, line)) for line in got]))
    with open(path, "rb") as f:
        wanted = png.read(f.read())
    assert len(got) == len(wanted) and len(got[0]) == len(wanted[0]), (len(got), len(wanted))
    apart = [max(abs(a - b) for a, b in zip(x, y)) for m, n in zip(got, wanted) for x, y in zip(m, n)]
    far = sum(a > 48 for a in apart)
    assert far * 1000 < 6 * len(apart) and sum(apart) < 2 * len(apart), (far, sum(apart), len(apart))


def narrow_windows_are_filled(p):
    for width, height in ((700, 600), (1600, 1000)):
        p.b.size(width, height)
        box = p.b.ask("(() => { const b = document.getElementById('canvas').getBoundingClientRect(); "
                      "return [b.width, b.height, document.getElementById('canvas').width, "
                      "document.documentElement.scrollWidth, document.documentElement.scrollHeight]; })()")
        assert box[0] == box[2] and box[3] <= width and box[4] <= height, box
        assert box[0] >= (700 if width == 700 else 1200) and box[1] >= 200, box
    p.b.size(1300, 900)


def help_and_units(p):
    p.b.key("?")
    assert p.b.ask("!document.getElementById('help').hidden") and "measure a range" in p.text("help")
    p.b.key("Escape")
    assert p.b.ask("document.getElementById('help').hidden")
    p.search("comp 17")
    p.b.key("Enter")
    p.b.key("Escape")
    for unit in ("cycles", "ns", "us", "ms", "auto"):
        p.b.key("u")
        assert p.state("unit") == unit
        assert first_number(p.text("begin")) == [s for s in p.slices if s["name"] == "comp 17"][0]["begin"]
    p.b.key("Escape")
    assert p.state("selection") is None and "Nothing selected" in p.text("selection")


def the_path_dims_the_rest(p):
    p.b.key("0")
    path = [s for s in p.slices if s["row"] == "critical path" and s["lane"] == 0]
    least = (p.state("to") - p.state("from")) / 300  # some pixels
    issues = [s for s in p.slices if s["name"] == "issue" and s["row"].startswith("SHAVE") and s["length"] > least]

    def is_on(s, way):
        """Whether the slice is on the path from end to end, or nowhere."""
        shave = re.match(r"SHAVE (\d+)", s["row"]).group(0) + " "
        on = sum(max(0, min(s["begin"] + s["length"], q["begin"] + q["length"]) - max(s["begin"], q["begin"]))
                 for q in path if q["name"].startswith(shave))
        return on == (s["length"] if way else 0)

    for dimmed in (False, True, False):
        assert p.state("dimmed") is dimmed
        for way in (False, True):
            found = [s for s in issues if is_on(s, way)]
            assert found or way
            for s in found[:3]:
                at = p.place(s)
                assert (p.pixel(at["x"], at["y"]) == (0x00, 0x9e, 0x73)) == (way or not dimmed), (s, dimmed)
        p.b.key("x")
    p.b.key("x")


def local_memory_unfolds(p):
    p.b.key("0")
    s = [s for s in p.slices if s["row"].startswith("SHAVE 3 local")][-1]
    assert p.place(s)["h"] == 0
    p.b.key("F")
    box = p.b.ask("(() => { const b = document.getElementById('canvas').getBoundingClientRect(); return b.bottom; })()")
    for _ in range(20):
        at = p.place(s)
        if at["y"] < box - 5:
            break
        p.b.call("Input.dispatchMouseEvent", type="mouseWheel", x=400, y=300, deltaX=0, deltaY=100, modifiers=2)
        p.b.settle()
    assert at["h"] > 0
    p.b.click(at["x"], at["y"])
    assert p.selected() == {k: s[k] for k in p.selected()}, (p.selected(), s)
    p.b.key("F")
    assert p.place(s)["h"] == 0


def nothing_was_said_or_asked_for(p):
    assert not p.b.problems, p.b.problems
    assert len([u for u in p.b.requests if not u.startswith("data:")]) == 1, p.b.requests


def hostile_names_are_text(p):
    assert not p.b.problems, p.b.problems
    assert p.b.ask("window.hostile === undefined && !document.querySelector('img')")
    assert p.b.ask("document.querySelectorAll('script').length") == 2
    for s in p.slices:
        at = p.place(s)
        p.b.click(at["x"], at["y"])
        assert p.selected()["begin"] == s["begin"], (p.selected(), s)
        name = p.b.ask("document.getElementById('name').textContent")
        want = HOSTILE[s["slice"]].replace("\x1b", "\\x1b").replace("\r", "\\x0d")
        assert name == want, (name, want)
    p.search("onerror")
    assert p.text("hits") == "1 hit", p.text("hits")
    assert not p.b.problems and p.b.ask("window.hostile === undefined && !document.querySelector('img')")


def a_million_and_more(p, counts):
    assert not p.b.problems, p.b.problems
    assert str(counts[0]) in p.text("summed") and "many" in p.text("summed"), p.text("summed")
    p.search("work")
    assert p.text("hits") == "%d hits" % counts[1], p.text("hits")
    p.b.ask("document.activeElement.blur()")
    p.b.key("0")
    x0, x1 = (p.b.ask("timeline.time(timeline.data.end * %f)" % t) for t in (0.25, 0.75))
    p.b.drag(x0, 70, x1, 70, shift=True)
    low, high = p.state("range")
    got = {r[0]: r[1:] for r in p.b.ask(
        "[...document.querySelectorAll('#range tbody tr')].map(r => [...r.children]"
        ".map(c => c.textContent.replaceAll('\\u2009', '')))")}
    n, total = sums_of(p.slices, low, high)["few", "work"]
    assert got["track: work"][:2] == [str(n), str(total)], (got, n, total)
    about = [v for k, v in got.items() if k != "track: work"]
    exact = sums_of(p.slices, low, high)["many", "tick"][1]
    assert len(about) == 1 and about[0][0] == "\u2013"
    assert abs(int(about[0][1].split(" ")[1]) - exact) < exact / 1000, (about, exact)


def advice_is_the_reports(p, report):
    """Beside the page of a run with findings: gains, places, texts and knobs of its report."""
    with open(report, encoding="utf-8") as f:
        wanted = json.load(f)["advice"]
    got = p.b.ask("[...document.querySelectorAll('#advice li')].map(i => [...i.children].map("
                  "c => c.textContent.replaceAll('\\u2009', '')))")
    assert len(wanted) > 1 and len(got) == len(wanted), (wanted, got)
    for a, b in zip(wanted, got):
        gain, whole = (int(n) for n in re.findall(r"(\d+) cycles", b[0]))
        assert (gain, whole) == (a["cycles"] - a["estimate"], a["cycles"]), (a, b)
        place = a["stage"] + (", %s:%d" % (os.path.basename(a["file"]), a["line"]) if a["line"] else "")
        assert b[1] == place + ": " + a["text"] and b[2].endswith(" --knob " + a["knob"]), (a, b)
    p.click_first()
    assert p.text("advice") == ""
    p.b.key("Escape")
    assert p.text("advice") != ""


# --- running them -----------------------------------------------------------

OF_A_RUN = [
    (loads_quietly, "opens from a file, with no error and no request"),
    (rows_of_the_table, "has the rows and slices of the table"),
    (clicks_select_what_the_table_has, "a click selects the slice that the table has there"),
    (a_selection_has_its_arguments, "arguments, causes, slack and source lines of the selection"),
    (search_counts_as_the_table, "search counts what the table has"),
    (search_goes_round_in_order, "n and N go through the hits, round the end"),
    (wheel_and_keys_move, "wheel, drag and keys zoom and move"),
    (range_adds_up_as_the_table, "the sums of a range are the table's"),
    (colours_are_the_viewers, "colours of the viewer, light and dark"),
    (slices_are_drawn_where_they_are, "each slice of causes has its colour from begin to end"),
    (looks_as_before, "looks as its reference picture"),
    (narrow_windows_are_filled, "fills windows of 700 and 1600 pixels"),
    (help_and_units, "help, units, nothing selected"),
    (the_path_dims_the_rest, "x dims what is not on the critical path"),
    (local_memory_unfolds, "F unfolds local memory, ctrl and wheel scroll"),
    (nothing_was_said_or_asked_for, "no error and no request until the end")]


def judge(say, only, what, test, *args):
    if only and only not in what:
        return
    try:
        test(*args)
        say(True, what)
    except Exception as e:  # pylint: disable=broad-except
        line = e.__traceback__
        while line.tb_next:
            line = line.tb_next
        say(False, what, "line %d: %s %s" % (line.tb_lineno, type(e).__name__, str(e)[:1500]))


def run(vpu, program, say, only):
    b = Browser(program)
    try:
        with tempfile.TemporaryDirectory() as folder:
            dma = os.path.join(folder, "dma.pftrace")
            subprocess.run([vpu, "run", os.path.join(ROOT, "kernels", "grn", "layer.xml"), "--layer", "GRNDma",
                            "--shape", "in0=1x16x64x512", "--param", "bias=1.0", "--input", "0=random:1",
                            "--profile", "--trace", dma], check=True, stdout=subprocess.DEVNULL)
            page = Page(vpu, b, dma)
            for test, what in OF_A_RUN:
                judge(say, only, what, test, page)
            ddr, out = os.path.join(folder, "ddr.pftrace"), os.path.join(folder, "out")
            subprocess.run([vpu, "run", os.path.join(ROOT, "kernels", "mvn", "layer.xml"), "--layer", "MVN", "--shape",
                            "in0=1x16x32x64", "--param", "eps=1e-5", "--output", out, "--trace", ddr],
                           check=True, stdout=subprocess.DEVNULL)
            judge(say, only, "advice is the report's", advice_is_the_reports, Page(vpu, b, ddr),
                  os.path.join(out, "report.json"))
            foreign = os.path.join(folder, "hostile</title><script>window.hostile=2<.pftrace".replace("/", "_"))
            with open(foreign, "wb") as f:
                f.write(track(1, HOSTILE[0]) + b"".join(
                    slice_of(1, 1000 * i, 1000 * i + 900, name) for i, name in enumerate(HOSTILE)))
            judge(say, only, "hostile names are text", hostile_names_are_text, Page(vpu, b, foreign))
            if not only or only in "a million and more slices":
                counts = (600000, 500000)
                many = os.path.join(folder, "many.pftrace")
                with open(many, "wb") as f:
                    f.write(track(1, "many") + track(2, "few"))
                    for i in range(counts[0]):
                        f.write(slice_of(1, 100 * i, 100 * i + 30 + i % 50, "tick"))
                    for i in range(counts[1]):
                        f.write(slice_of(2, 110 * i, 110 * i + 60 + i % 30, "work"))
                judge(say, only, "a million and more slices", a_million_and_more, Page(vpu, b, many), counts)
    finally:
        b.close()


if __name__ == "__main__":
    sys.exit("scripts/check-html runs these")
