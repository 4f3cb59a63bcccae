# SPDX-License-Identifier: MIT
"""Traces in segments: PFT_MAX_SIZE. Each is read alone, and all of them together hold what was recorded."""
import collections
import glob
import os

import chrome
import trace as reader
from harness import Prompted, fresh_directory, same, test
from test_ctl import ctl

ALL = "leaf,outer,middle,inner,through"


def segments(outcome):
    """The traces of one process, in order."""
    found = sorted(outcome.traces(), key=lambda t: t.attributes["pftshim.segment"])
    assert len(found) >= 2, "all is in one file"
    return found


def begins(trace):
    """Of calls, without what an earlier segment began."""
    return collections.Counter(s.name for s in trace.slices if "continued_ns" not in s.args)


def ends(trace):
    return collections.Counter(s.name for s in trace.slices if s.end is not None)


def together(count, traces):
    found = collections.Counter()
    for trace in traces:
        found += count(trace)
    return found


def assert_holds(traces, **calls):
    for count in begins, ends:
        found = together(count, traces)
        wrong = {n: (found[n], want) for n, want in calls.items() if found[n] != want}
        assert not wrong, "%s of calls (in all segments, made): %s" % (count.__name__, wrong)


def assert_counts_add_up(traces):
    """What each says of itself is in it, and the last one's totals are those of all."""
    before = traces[0].attributes["pftshim.written"] - traces[0].attributes["pftshim.segment_written"]
    for trace in traces:
        in_it = trace.attributes["pftshim.segment_written"]
        assert in_it == trace.totals()["written"] - before, (trace.path, trace.attributes)
        assert in_it == sum(begins(trace).values()) + sum(ends(trace).values()), (trace.path, in_it)
        before = trace.totals()["written"]


@test
def segments_hold_every_call_once():
    traces = segments(same(["calls", 10000], funcs=ALL, max_size="64K"))
    assert_holds(traces, leaf=10000, outer=10000, middle=10000, inner=10000)
    assert_counts_add_up(traces)
    assert [t.attributes["pftshim.segment"] for t in traces] == list(range(1, len(traces) + 1))
    assert traces[-1].attributes["pftshim.segments_removed"] == 0


@test
def segments_say_whose_they_are():
    traces = segments(same(["stacks", "threads", 3000], funcs=ALL, max_size="64K"))
    names = {tid: name for t in traces for tid, name in t.threads().items()}
    for trace in traces:
        assert trace.process()["process"] == "stacks" and trace.process()["cmdline"], trace.process()
        assert all(name == names[tid] for tid, name in trace.threads().items()), (trace.threads(), names)
        assert {trace.thread_of(s)["tid"] for s in trace.slices} <= set(trace.threads())


@test
def a_call_that_spans_segments_is_open_in_all_but_its_last():
    program = Prompted(funcs=ALL, max_size="64K")
    program.do("hold 3", "hold 2", "leaf 4000")
    ctl(program.pid, "flush")
    program.do("leaf 4000")
    program.hear()
    program.do("leaf 1", "leaf 1")
    program.hear()
    traces = segments(program.end())
    held = [[s for s in t.slices if s.name == "through"] for t in traces]
    if not held[-1]:  # it began behind their ends
        held.pop()
    assert len(held) > 1 and all([s.depth for s in slices] in ([0, 1], [0]) for slices in held), held
    for number, slices in enumerate(held):
        assert all(("continued_ns" in s.args) == (number > 0) for s in slices)
        last = number == len(held) - 1
        assert (slices[0].end is not None) == last, (number, slices[0].end)
        assert last or len(slices) == 2 and slices[1].end is None or len(held[number + 1]) == 1, number
    lasted = [(s.begin - s.args.get("continued_ns", 0), s.name) for t in traces for s in t.slices
              if s.name == "through"]
    assert len(set(lasted)) == 2, "they began at other times in other segments: %s" % sorted(set(lasted))
    assert_holds(traces, leaf=8002, through=2)


@test
def segments_begin_where_the_one_before_ends():
    program = Prompted(funcs=ALL, max_size="64K")
    program.do("hold 5")
    for _ in range(4):
        program.do("nap 300", "leaf 4000")
        ctl(program.pid, "flush")
    program.do("leaf 1")
    program.hear()
    traces = segments(program.end())
    last_ns = 0
    for trace in traces:
        first_ns = min(s.begin for s in trace.slices)
        assert first_ns >= last_ns - 300000000, "%s reaches back by %d ns" % (trace.path, last_ns - first_ns)
        last_ns = max(s.end or s.begin for s in trace.slices)


@test
def the_oldest_segments_go_when_so_many_are_kept():
    outcome = same(["calls", 20000], funcs=ALL, max_size="64K,3")
    traces = segments(outcome)
    last = traces[-1].attributes
    assert len(traces) == 3, outcome.paths()
    assert last["pftshim.segments_removed"] == last["pftshim.segment"] - 3 > 0, last
    here = sum(t.attributes["pftshim.segment_written"] for t in traces)
    assert last["pftshim.written"] == here + last["pftshim.events_removed"], (last, here)
    assert_counts_add_up(traces)
    assert last["pftshim.produced"] >= 160000


@test
def segments_of_json_are_whole_and_agree_with_those_of_packets():
    outcome = same(["calls", 3000], funcs=ALL, max_size="64K", format="pftrace,json")
    for trace in segments(outcome):
        with open(trace.path.replace(".pftrace", ".json"), "rb") as file:
            other = chrome.Chrome(chrome.load(file.read()))
        assert not other.errors, other.errors[:3]
        assert collections.Counter(s["name"] for s in other.slices) == trace.counts(), trace.path
        for name, value in trace.attributes.items():
            assert other.other[name] == value, (name, other.other[name], value)


@test
def segments_of_json_alone_hold_every_call_once():
    outcome = same(["calls", 3000], funcs=ALL, max_size="64K", format="json")
    paths = glob.glob(os.path.join(glob.escape(outcome.directory), "executions", "*-*", "*.json"))
    assert len(paths) > 2, paths
    found = collections.Counter()
    for path in paths:
        with open(path, "rb") as file:
            found.update(s["name"] for s in chrome.Chrome(chrome.load(file.read())).slices
                         if "continued_ns" not in s["args"])
    assert all(found[name] == 3000 for name in ("leaf", "outer", "middle", "inner")), found


@test
def coroutines_that_span_segments_are_shown_in_each():
    traces = segments(same(["coroutines", 3000], funcs=ALL, max_size="64K"))
    assert_holds(traces, outer=6000, middle=6000, inner=6000)
    names = [t.tracks[s.track]["name"] for t in traces for s in t.slices if "tid" not in t.tracks[s.track]]
    assert names and all(name.startswith("coroutine ") for name in names), set(names)


@test
def stacks_are_defined_in_each_segment():
    traces = segments(same(["stacks", "threads", 2000], funcs="leaf", stacks="all", max_size="64K"))
    for trace in traces:
        for s in trace.slices:
            assert s.name != "leaf" or s.stack and s.stack[-1][0], (trace.path, s.stack)


@test
def segments_that_are_joined_are_read_as_one():
    traces = segments(same(["calls", 5000], funcs=ALL, max_size="64K"))
    path = os.path.join(fresh_directory(), "joined.pftrace")
    with open(path, "wb") as joined:
        for trace in traces:
            with open(trace.path, "rb") as file:
                joined.write(file.read())
    whole = reader.Trace(path)
    assert not whole.errors, whole.errors[:3]
    assert_holds([whole], leaf=5000, outer=5000)


@test
def forked_children_write_segments_of_their_own():
    outcome = same(["fork_busy", 3], funcs=ALL, max_size="64K,2", mode="user")
    by_process = collections.defaultdict(list)
    for trace in outcome.traces():
        by_process[trace.process()["pid"]].append(trace)
    assert len(by_process) > 1, outcome.paths()
    for traces in by_process.values():
        assert len(traces) <= 2, [t.path for t in traces]


@test
def status_tells_the_segment():
    program = Prompted(funcs=ALL, max_size="64K")
    program.do("leaf 4000")
    ctl(program.pid, "flush")
    program.do("leaf 10")
    ctl(program.pid, "flush")
    said = ctl(program.pid, "status")
    path = program.outcome().paths()[0]
    assert path.endswith(".part2.pftrace"), program.outcome().paths()
    assert "trace     %d bytes, %s\nsegments  2, 0 removed\n" % (os.path.getsize(path), path) in said, (path, said)
    program.end()
