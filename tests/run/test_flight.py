# SPDX-License-Identifier: MIT
"""Flight recording: PFT_OVERFLOW=overwrite keeps the newest events in memory; what writes them, and when."""
import collections
import re

from harness import Prompted, assert_closed, same, test
from test_ctl import ctl, events

ALL = "leaf,outer,middle,inner,through"
KEEP = {"funcs": ALL, "overflow": "overwrite", "buffer": "16K"}  # a ring of 1024 events


def begins_and_ends(trace):
    return sum(2 - (s.end is None) for s in trace.slices)


def assert_is_written(trace):
    """What counts as written. Slices that are open where events were lost have an end for which there is no event."""
    totals = trace.totals()
    assert len(trace.slices) <= totals["written"] <= begins_and_ends(trace), (totals, begins_and_ends(trace))


def assert_accounts_for(trace, produced):
    """Each event is written, or lost and counted, also where it was lost."""
    totals = trace.totals()
    assert totals["produced"] == produced, (totals, produced)
    assert totals["filtered"] == 0 and totals["written"] + totals["dropped"] == produced, totals
    assert_is_written(trace)
    # An end whose begin was lost closes nothing, and is counted only.
    assert trace.dropped <= totals["dropped"] <= trace.dropped + trace.gaps * 10, (totals, trace.dropped, trace.gaps)


def triggers(trace):
    return [i for i in trace.instants if i.name == "trigger"]


def dumped(program):
    """The trace once the flusher has been round twice: what was asked for before has been done."""
    ctl(program.pid, "status")
    ctl(program.pid, "status")
    return program.outcome().trace()


@test
def a_dump_writes_what_the_rings_hold_and_recording_goes_on():
    program = Prompted(**KEEP)
    program.do("leaf 100", "outer 10")
    assert not dumped(program).slices
    ctl(program.pid, "dump")
    trace = program.outcome().trace()
    assert trace.counts() == {"leaf": 100, "outer": 10, "middle": 10, "inner": 10}, trace.counts()
    assert_accounts_for(trace, 260)
    program.do("leaf 5")
    trace = program.end().trace()
    assert trace.count("leaf") == 105
    assert_accounts_for(trace, 270)


@test
def several_dumps_nest_and_mark_what_was_lost_between_them():
    program = Prompted(**KEEP)
    for _ in range(5):
        program.do("outer 10", "leaf 3000", "outer 10")
        ctl(program.pid, "dump")
        ctl(program.pid, "dump")
    trace = program.end().trace()
    assert trace.gaps == 5, trace.gaps
    assert_closed(trace)
    assert trace.counts()["outer"] >= 50 and all(s.parent.name == "outer" for s in trace.slices if s.name == "middle")
    assert_accounts_for(trace, 5 * (3 * 2 * 20 + 6000))
    for s in trace.slices:
        assert s.parent is None or s.parent.begin <= s.begin and s.end <= s.parent.end, (s.name, s.begin)


@test
def a_call_that_is_open_at_a_dump_ends_in_a_later_one():
    program = Prompted(**KEEP)
    program.do("hold 2", "leaf 10")
    ctl(program.pid, "dump")
    assert [s.name for s in program.outcome().trace().open()] == ["through"]
    program.do("leaf 10")
    program.hear()
    trace = program.end().trace()
    assert_closed(trace)
    assert trace.counts() == {"through": 1, "leaf": 20} and not trace.gaps
    assert {s.depth for s in trace.slices if s.name == "leaf"} == {1}


@test
def a_call_that_takes_long_has_the_rings_written():
    program = Prompted(trigger="20ms", **KEEP)
    program.do("leaf 100", "nap 1")
    assert not dumped(program).slices
    program.do("nap 40")
    trace = dumped(program)
    assert trace.counts() == {"leaf": 100, "through": 2}, trace.counts()
    instant, = triggers(trace)
    slow = max((s for s in trace.slices if s.name == "through"), key=lambda s: s.end - s.begin)
    assert slow.end <= instant.begin and slow.track == instant.track and instant.category == "pftshim"
    program.do("leaf 10")
    trace = program.end().trace()
    assert trace.count("leaf") == 110 and len(triggers(trace)) == 1
    assert_accounts_for(trace, 224)


@test
def a_trigger_asks_for_overwriting_by_itself():
    program = Prompted(funcs=ALL, trigger="3600s")
    program.do("leaf 1")
    assert re.search("^overflow +overwrite$", ctl(program.pid, "status"), re.M)
    program.end()


@test
def only_calls_that_are_selected_trigger():
    program = Prompted(trigger="20ms:leaf,outer", **KEEP)
    program.do("leaf 100", "nap 40")
    assert not dumped(program).slices
    assert not triggers(program.end().trace())
    program = Prompted(trigger="20ms:*,-leaf", **KEEP)
    program.do("leaf 100", "nap 40")
    assert len(triggers(dumped(program))) == 1
    program.end()


@test
def a_burst_of_triggers_makes_few_dumps():
    program = Prompted(trigger="1ns", **KEEP)
    program.do("leaf 200000")
    trace = program.end().trace()
    assert 1 <= len(triggers(trace)) <= 2000, len(triggers(trace))
    assert_accounts_for(trace, 400000)


FLIGHTS = {
    "threads": (["stacks", "threads", 3000], {}),
    "coroutines": (["coroutines", 3000, 1], {}),
    "stacks": (["stacks", "threads", 3000], {"stacks": "all"}),
    "tail calls": (["tailcall"], {"funcs": "*@libtail*"}),
    "exceptions": (["unwind"], {}),
    "deep calls": (["deep", 2000], {}),
}

for what, (argv, how) in FLIGHTS.items():
    def is_right(argv=argv, how=how):
        trace = same(argv, **{**KEEP, "trigger": "1ns", **how}).trace()
        assert_is_written(trace)
        names = collections.Counter(s.name for s in trace.slices)
        assert "pftshim: ring full" not in names and "pftshim: unknown" not in names, names
    test(is_right, "dumps in the middle of everything are right: %s" % what)


@test
def dumps_go_on_in_segments():
    program = Prompted(max_size="64K", **KEEP)
    produced = 0
    for _ in range(10):
        program.do("leaf 1000")
        ctl(program.pid, "dump")
        produced += 2000
    assert events(program.pid) == produced
    traces = sorted(program.end().traces(), key=lambda t: t.attributes["pftshim.segment"])
    assert len(traces) >= 3
    totals = traces[-1].totals()
    assert totals["produced"] == produced and totals["written"] == sum(begins_and_ends(t) for t in traces), totals
