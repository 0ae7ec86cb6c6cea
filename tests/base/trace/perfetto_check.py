#!/usr/bin/env python3
"""Perfetto's own message definitions against our traces.

perfetto_check.py VPU DIR: DIR holds NAME.pftrace and NAME.json of the same run.
The package `perfetto` decodes the first; everything below is worked out from
that decoding alone: fields all known, packets in order, slices nested, names
resolved, and what each SHAVE's time went to, against `vpu trace summary`. The
second must be the same events in Chrome's form.
"""
import json
import os
import subprocess
import sys
from collections import defaultdict

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def no_unknown(message, where):
    assert not len(UnknownFieldSet(message)), f"{where}: unknown fields"
    for field, value in message.ListFields():
        if field.type != field.TYPE_MESSAGE:
            continue
        for v in value if field.is_repeated else [value]:
            no_unknown(v, f"{where}.{field.name}")


def events_of(path):
    """(track name, kind, ns, name, value), in the order of the file."""
    trace = Trace()
    with open(path, "rb") as f:
        trace.ParseFromString(f.read())
    tracks, names, last, out = {}, {}, defaultdict(int), []
    assert trace.packet, "no packets"
    for n, p in enumerate(trace.packet):
        no_unknown(p, f"packet {n}")
        assert p.trusted_packet_sequence_id, f"packet {n}: no sequence"
        for e in p.interned_data.event_names:
            assert e.iid not in names, f"packet {n}: name {e.iid} twice"
            names[e.iid] = e.name
        if p.HasField("track_descriptor"):
            d = p.track_descriptor
            assert d.uuid not in tracks, f"packet {n}: track {d.uuid} twice"
            assert not d.parent_uuid or d.parent_uuid in tracks, f"packet {n}: parent"
            tracks[d.uuid] = (d.name, d.HasField("counter"))
        if not p.HasField("track_event"):
            continue
        e = p.track_event
        assert e.track_uuid in tracks, f"packet {n}: track {e.track_uuid}"
        track, counter = tracks[e.track_uuid]
        assert p.timestamp >= last[e.track_uuid], f"packet {n}: {track} goes back"
        last[e.track_uuid] = p.timestamp
        assert counter == (e.type == TrackEvent.TYPE_COUNTER), f"packet {n}: {track}"
        name = e.name if e.HasField("name") else names[e.name_iid] if e.name_iid else ""
        value = None
        if counter:
            value = (e.double_counter_value if e.HasField("double_counter_value")
                     else e.counter_value)
        out.append((track, e.type, p.timestamp, name, value))
    return out


def slices_of(events):
    """(track, begin, end, name, depth); asserts that slices nest."""
    open_, out = defaultdict(list), []
    for track, kind, ns, name, _ in events:
        if kind == TrackEvent.TYPE_SLICE_BEGIN:
            open_[track].append((ns, name))
        elif kind == TrackEvent.TYPE_SLICE_END:
            assert open_[track], f"{track}: an end without a begin at {ns}"
            begin, what = open_[track].pop()
            out.append((track, begin, ns, what, len(open_[track])))
    assert not any(open_.values()), "slices without an end"
    return out


def check_causes(vpu, path, slices):
    """Cycles by cause of each SHAVE, at 700 MHz, as the summary has them."""
    causes = {"issue", "L2 stall", "DDR stall", "store stall", "DMA setup", "DMA wait",
              "dispatch", "idle"}
    mine = defaultdict(lambda: defaultdict(int))
    cycle = lambda ns: ns // 1000 * 700 + (ns % 1000 * 700 + 999) // 1000
    for track, begin, end, name, _ in slices:
        if track.startswith("SHAVE ") and name in causes:
            mine[track][name] += cycle(end) - cycle(begin)
    theirs = json.loads(subprocess.run([vpu, "trace", "summary", path, "--json"],
                                       capture_output=True, check=True).stdout)["shaves"]
    assert theirs and set(theirs) == set(mine)
    for shave, sums in theirs.items():
        for cause, cycles in sums.items():
            assert mine[shave][cause] == cycles, f"{shave}, {cause}"
    return sum(sum(s.values()) for s in mine.values())


def check_chrome(path, events):
    """The same slices, counters and instants; well formed for Chrome."""
    with open(path) as f:
        data = json.load(f)
    rows = data["traceEvents"] if isinstance(data, dict) else data
    kinds = {"B": 0, "E": 0, "C": 0, "i": 0}
    depth, last = defaultdict(int), defaultdict(float)
    for r in rows:
        assert isinstance(r["ph"], str) and "pid" in r, r
        if r["ph"] not in kinds:
            continue
        kinds[r["ph"]] += 1
        assert r["ts"] >= 0, r
        if r["ph"] in "BE":
            key = (r["pid"], r["tid"])
            assert r["ts"] >= last[key], r
            last[key] = r["ts"]
            depth[key] += 1 if r["ph"] == "B" else -1
            assert depth[key] >= 0, r
    assert not any(depth.values())
    count = lambda kind: sum(e[1] == kind for e in events)
    assert kinds["B"] == kinds["E"] == count(TrackEvent.TYPE_SLICE_BEGIN)
    assert kinds["C"] == count(TrackEvent.TYPE_COUNTER)
    assert kinds["i"] == count(TrackEvent.TYPE_INSTANT)


def main():
    vpu, top = sys.argv[1:]
    passed = failed = 0
    for file in sorted(os.listdir(top)):
        name, ending = os.path.splitext(file)
        if ending != ".pftrace":
            continue
        path = os.path.join(top, file)
        try:
            events = events_of(path)
            slices = slices_of(events)
            what = f"{len(events)} events, {len(slices)} slices"
            if name.startswith("full"):
                what += f", {check_causes(vpu, path, slices)} cycles by cause"
            check_chrome(os.path.join(top, name + ".json"), events)
            print(f"  ok   {name}: {what}")
            passed += 1
        except AssertionError as e:
            print(f"  FAIL {name}: {e}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or not passed)


if __name__ == "__main__":
    main()
