# SPDX-License-Identifier: MIT
"""The recording window: what PFT_START, PFT_STOP and `pft ctl` leave out, and what they do to what is open."""
import re

from harness import Prompted, assert_adds_up, assert_closed, assert_counts, same, test
from test_ctl import ctl, events

ALL = "leaf,outer,middle,inner,through"


def window(process):
    return re.search(r"^window +(\w+)$", ctl(process, "status"), re.M).group(1)


def instants(trace, name):
    return [i for i in trace.instants if i.name == name]


@test
def a_window_that_is_closed_records_nothing():
    trace = same(["calls", 1000], funcs=ALL, start="ctl").trace()
    assert_counts(trace, leaf=0, outer=0)
    assert_adds_up(trace, 0)
    assert not trace.instants and not trace.threads(), (trace.instants, trace.threads())


@test
def ctl_opens_and_closes_the_window():
    program = Prompted(funcs=ALL, start="ctl")
    program.do("leaf 10")
    assert window(program.pid) == "closed"
    ctl(program.pid, "start")
    assert window(program.pid) == "open"
    program.do("leaf 200")
    ctl(program.pid, "stop")
    program.do("leaf 10", "outer 10")
    assert events(program.pid) == 400
    ctl(program.pid, "start")
    program.do("outer 3")
    trace = program.end().trace()
    assert_counts(trace, leaf=200, outer=3)
    assert_adds_up(trace, 418)
    assert_closed(trace)


@test
def what_is_open_when_the_window_opens_has_no_slice():
    program = Prompted(funcs=ALL, start="ctl")
    program.do("hold 2", "hold 2", "leaf 1")
    ctl(program.pid, "start")
    program.do("leaf 7")
    program.hear()  # the inner one returns
    program.do("leaf 1")
    program.hear()
    trace = program.end().trace()
    assert_counts(trace, leaf=8, through=0)
    assert all(s.depth == 0 for s in trace.slices)
    assert_adds_up(trace, 16)


@test
def what_is_open_when_the_window_closes_ends_there():
    program = Prompted(funcs=ALL)
    program.do("hold 2", "hold 2", "leaf 5")
    ctl(program.pid, "stop")
    ctl(program.pid, "flush")
    trace = program.outcome().trace()
    assert_closed(trace)
    cut = instants(trace, "recording stopped")
    assert len(cut) == 1, trace.instants
    assert {s.end for s in trace.slices if s.name == "through"} == {cut[0].begin}
    program.do("leaf 5")
    program.hear()
    program.do("leaf 5")
    program.hear()
    trace = program.end().trace()
    assert_counts(trace, leaf=5, through=2)
    assert_adds_up(trace, 12)
    assert_closed(trace)


@test
def a_call_that_outlives_two_windows_has_a_slice_in_the_first():
    program = Prompted(funcs=ALL)
    program.do("hold 4", "hold 2", "leaf 1")
    ctl(program.pid, "stop")
    program.do("leaf 1")
    program.hear()  # the inner hold returns unseen
    ctl(program.pid, "start")
    program.do("outer 1", "hold 1", "leaf 1")
    program.hear()
    program.do("leaf 1")
    program.hear()  # the outer hold returns, whose slice has ended
    program.do("leaf 1")
    trace = program.end().trace()
    assert_counts(trace, leaf=4, outer=1, through=3)
    assert_closed(trace)
    totals = trace.totals()
    assert totals["produced"] == 2 + 2 + 6 + 4 + 2 + 1 + 2 and totals["filtered"] == 1 and totals["dropped"] == 0, totals


@test
def a_delay_opens_the_window():
    program = Prompted(funcs=ALL, start="200ms")
    program.do("leaf 1")
    while window(program.pid) == "closed":
        program.do("nap 20")
    program.do("leaf 50")
    trace = program.end().trace()
    assert_counts(trace, leaf=50)


@test
def a_delay_closes_the_window_counted_from_its_opening():
    program = Prompted(funcs=ALL, start="ctl", stop="200ms")
    program.do("leaf 1", "nap 400")
    ctl(program.pid, "start")
    assert window(program.pid) == "open"
    program.do("leaf 50")
    while window(program.pid) == "open":
        program.do("nap 20")
    program.do("leaf 1")
    trace = program.end().trace()
    assert_counts(trace, leaf=50)
    assert_closed(trace)


@test
def so_many_events_open_the_window():
    trace = same(["calls", 1000], funcs="leaf", start="1000events").trace()
    assert_counts(trace, leaf=500)


@test
def so_many_events_close_the_window():
    ring, count = 1024, 3000
    trace = same(["calls", 100000], funcs="leaf", stop="%devents" % count, buffer="16K").trace()
    assert count <= trace.totals()["produced"] <= count + ring, trace.totals()
    assert trace.totals()["dropped"] == 0, trace.totals()
    assert_closed(trace)


@test
def the_first_call_of_a_function_opens_the_window():
    program = Prompted(funcs="leaf", start="inn*")
    program.do("leaf 100", "outer 1", "leaf 10", "outer 1")
    trace = program.end().trace()
    assert_counts(trace, leaf=10, inner=2, outer=0)
    assert min(trace.slices, key=lambda s: s.begin).name == "inner"


@test
def the_first_call_of_a_function_closes_the_window():
    program = Prompted(funcs="leaf", stop="inner", buffer="1M")
    program.do("leaf 5000", "outer 1", "leaf 100", "outer 1")
    trace = program.end().trace()
    assert_counts(trace, leaf=5000, inner=0)
    assert_adds_up(trace, 10000)


@test
def a_window_between_two_functions_holds_what_lies_between():
    program = Prompted(funcs="leaf", start="through", stop="outer")
    program.do("leaf 3", "hold 1", "leaf 20")
    program.hear()
    program.do("outer 1", "leaf 3", "hold 1", "leaf 3")
    program.hear()
    assert_counts(program.end().trace(), leaf=20, through=1, outer=0)


@test
def every_thread_keeps_to_the_window():
    program = Prompted(funcs="leaf", start="ctl")
    program.do("thread 30")
    ctl(program.pid, "start")
    program.do("thread 40")
    ctl(program.pid, "stop")
    program.do("thread 30")
    trace = program.end().trace()
    assert_counts(trace, leaf=40)
    assert len(instants(trace, "thread begin")) == len(instants(trace, "thread end")) == 40, trace.instants
    assert_adds_up(trace, 80)


@test
def a_forked_child_goes_on_with_the_window_as_it_stands():
    for how, generations in (({"start": "through"}, 6), ({"stop": "through"}, 0)):
        traces = same(["fork"], funcs="leaf", **how).traces()
        assert sum(t.count("leaf") for t in traces) == generations, [t.counts() for t in traces]


@test
def threads_that_storm_through_a_closing_window_lose_nothing():
    for mode in ("wait", "drop"):
        trace = same(["storm", 4, 50000], funcs="leaf,inner", stop="20000events", overflow=mode, buffer="16K").trace()
        totals = trace.totals()
        assert totals["produced"] == totals["written"] + totals["filtered"] + totals["dropped"], totals
        assert totals["produced"] >= 20000, totals
        assert mode == "drop" or totals["dropped"] == 0, totals
        assert_closed(trace)


@test
def coroutines_keep_to_the_window():
    trace = same(["coroutines", 2000], funcs=ALL, start="1000events", stop="5000events", buffer="16K").trace()
    totals = trace.totals()
    assert totals["produced"] >= 5000 and totals["dropped"] == 0, totals
    assert_closed(trace)
