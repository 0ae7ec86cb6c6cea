"""How near what a stick computed is to what the CPU plug-in did."""
import numpy as np


def cosine(a, b):
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    n = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / n) if n else float(np.array_equal(a, b))


def top_differs(expected, got):
    """Rows of class scores whose best class is another one, although clear."""
    wrong = 0
    for e, g in zip(expected.reshape(len(expected), -1), got.reshape(len(got), -1)):
        second, first = np.sort(e)[-2:]
        if first - second > 0.01 * max(abs(first), abs(second)) and e.argmax() != g.argmax():
            wrong += 1
    return wrong


def detections(a):
    """Rows up to the one that ends them."""
    a = a.reshape(-1, 7).astype(np.float64)
    end = np.flatnonzero(a[:, 0] < 0)
    return a[:end[0]] if len(end) else a


def most(expected, got, value):
    """Rows that have a like one in the other array."""
    e, g = detections(expected), detections(got)
    alike = (np.abs(e[:, None] - g[None]).max(2, initial=0) <= value) if len(e) and len(g) \
        else np.zeros((len(e), len(g)))
    for a, n, what in ((alike.any(1), len(e), "expected"), (alike.any(0), len(g), "found")):
        if a.sum() < 0.9 * n:
            return "%d of %d detections that were %s have no like" % (n - a.sum(), n, what)
    return ""


def boxes(expected, got, value):
    """The same rows of detections, in any order."""
    def rows(a):
        a = detections(a)
        return a[np.lexsort((-a[:, 2], a[:, 1]))]
    e, g = rows(expected), rows(got)
    if len(e) != len(g):
        return "%d detections, expected %d" % (len(g), len(e))
    worst = np.abs(e - g).max(initial=0)
    return "" if worst <= value else "a detection is %g off" % worst


def one(kind, value, expected, got):
    if kind == "net":
        c = cosine(expected, got)
        return "" if c >= value else "cosine %.6f" % c
    if kind == "most":
        return most(expected, got, value)
    if kind == "boxes" and expected.shape[-1] == 7:
        return boxes(expected, got, value)
    e, g = expected.astype(np.float64), got.astype(np.float64)
    difference = np.abs(e - g)
    largest = np.abs(e).max(initial=0)
    limit = {"hw": value * largest, "abs": value, "rel": value * (np.abs(e) + largest / 1000),
             "boxes": value * max(1.0, largest / 100)}[kind]
    # Both are rounded where the stick gives halves.
    if got.dtype == np.float16 and value:
        limit = limit + np.spacing(np.abs(expected.astype(np.float16))).astype(np.float64) / 2
    worst = np.unravel_index((difference - limit).argmax(), e.shape)
    if difference[worst] <= np.broadcast_to(limit, e.shape)[worst]:
        return ""
    return "%s: %g, expected %g; %d of %d are off" % (
        list(map(int, worst)), g[worst], e[worst], (difference > limit).sum(), e.size)


def compare(tolerance, expected, got):
    """"" or what is wrong; both are dicts of arrays by name."""
    if set(expected) != set(got):
        return "outputs %s, expected %s" % (sorted(got), sorted(expected))
    classifier = tolerance.kind == "net" and "logits" in expected
    for name in sorted(expected):
        e, g = expected[name], got[name]
        if e.shape != g.shape:
            return "%s has shape %s, expected %s" % (name, g.shape, e.shape)
        if not np.isfinite(g).all():
            return name + " is not finite"
        if g.dtype == np.float16:
            e = e.astype(np.float16)
        if classifier and name != "logits":
            continue  # a cosine is taken before the SoftMax
        wrong = one(tolerance.kind, tolerance.value, e, g)
        if wrong:
            return name + ": " + wrong
    if classifier and top_differs(expected["logits"], got["logits"]):
        return "the best class is another one"
    return ""
