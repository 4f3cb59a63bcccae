# SPDX-License-Identifier: MIT
"""What is in a trace: calls, their nesting, names and times; and what happens when buffers are full."""
import statistics

from harness import assert_adds_up, assert_closed, assert_counts, same, slow, test

CALLS = "leaf,outer,middle,inner"


def assert_nested(trace, chain):
    """Each slice named in `chain` lies directly in one of the name before it."""
    for outer, inner in zip(chain, chain[1:]):
        parents = {s.parent.name if s.parent else None for s in trace.slices if s.name == inner}
        assert parents == {outer}, "%s lies in %s" % (inner, parents)


def assert_calls(name):
    trace = same([name, 100], funcs=CALLS).trace()
    assert_counts(trace, leaf=100, outer=100, middle=100, inner=100)
    assert_nested(trace, [None, "outer", "middle", "inner"])
    assert_closed(trace)


@test
def calls_nest_as_they_were_made_lazily_bound():
    assert_calls("calls")


@test
def calls_nest_as_they_were_made_bound_at_load():
    assert_calls("calls_now")


@test
def dev_mode_names_the_object_of_each_call():
    trace = same(["calls", 50], mode="dev").trace()
    assert_counts(trace, **{"libcalls.so::leaf": 50, "libcalls.so::outer": 50})


@test
def functions_chosen_at_binding_are_recorded():
    assert_counts(same(["ifunc"], funcs="picks").trace(), picks=100)


@test
def each_caller_reaches_its_version_of_a_symbol():
    assert_counts(same(["versions"], funcs="memcpy").trace(), memcpy=101)


@test
def selectors_choose_by_glob_object_and_exclusion():
    trace = same(["calls", 10], funcs="*@libcalls.so,-i*\n-leaf").trace()
    assert_counts(trace, outer=10, middle=10, inner=0, leaf=0)
    trace = same(["calls", 10], funcs="*@libnothing.so").trace()
    assert_counts(trace, outer=0, leaf=0)


@test
def a_track_has_the_real_pid_tid_and_command_line():
    trace = same(["calls", 7], funcs="leaf").trace()
    process = trace.process()
    assert list(trace.threads()) == [process["pid"]], "threads %s of %s" % (trace.threads(), process)
    assert process["cmdline"][1:] == ["7"], process
    assert trace.threads()[process["pid"]] == "calls", trace.threads()


def assert_times(**settings):
    done = same(["times"], funcs="through", **settings)
    calls = [s for s in done.trace().slices if s.name == "through"][1:]
    with open(done.side + "/times") as side:
        rows = [tuple(map(int, line.split())) for line in side]
    assert len(calls) == len(rows), "%d calls in the trace, %d made" % (len(calls), len(rows))
    for call, (before, inside, after) in zip(calls, rows):
        assert before - 2000 <= call.begin <= inside + 2000, "begin %d of %d..%d" % (call.begin, before, inside)
        assert inside - 2000 <= call.end <= after + 2000, "end %d of %d..%d" % (call.end, inside, after)
    late = statistics.median(call.begin - row[0] for call, row in zip(calls, rows))
    early = statistics.median(row[2] - call.end for call, row in zip(calls, rows))
    assert abs(late) < 2000 and abs(early) < 2000, "begins %d ns late, ends %d ns early" % (late, early)


@test
def begin_and_end_are_within_two_microseconds_of_boottime():
    assert_times()


@test
def begin_and_end_are_right_by_the_monotonic_clock_too():
    assert_times(clock="monotonic")


# ---- full buffers ----

STORM_THREADS, STORM_CALLS = 4, 20000
STORM_EVENTS = 2 * STORM_THREADS * (STORM_CALLS + 1)


def storm(**settings):
    return same(["storm", STORM_THREADS, STORM_CALLS], funcs="leaf,inner", buffer="16K", **settings).trace()


@test
def a_thread_with_a_full_buffer_waits_and_loses_nothing():
    trace = storm(overflow="wait")
    assert_counts(trace, leaf=STORM_THREADS * STORM_CALLS, inner=STORM_THREADS)
    assert_closed(trace)
    assert trace.totals()["dropped"] == 0, trace.totals()


@test
def what_is_dropped_is_counted_and_what_is_not_is_balanced():
    trace = storm(overflow="drop")
    assert_closed(trace)
    assert_adds_up(trace, STORM_EVENTS)
    written = 2 * (trace.count("leaf") + trace.count("inner"))
    assert written == trace.totals()["written"], "%d events in the trace, %s" % (written, trace.totals())
    assert trace.dropped == trace.totals()["dropped"], "gaps tell of %d, %s" % (trace.dropped, trace.totals())


@test
def overwriting_keeps_the_last():
    trace = storm(overflow="overwrite")
    assert_counts(trace, inner=STORM_THREADS)
    assert_closed(trace)
    assert_adds_up(trace, STORM_EVENTS)


@test
def short_calls_are_filtered_and_counted():
    trace = same(["storm", 2, 5000], funcs="leaf,inner", min_duration="1s", buffer="1M").trace()
    assert_counts(trace, leaf=0, inner=0)
    assert_adds_up(trace, 2 * 2 * 5001)


@test
def no_call_that_is_shorter_than_asked_is_in_the_trace():
    trace = same(["storm", STORM_THREADS, 500000], funcs="leaf,inner", min_duration="20us").trace()
    short = [(s.name, s.end - s.begin) for s in trace.slices if s.end is not None and s.end - s.begin < 20000]
    assert not short, short[:10]
    assert_adds_up(trace, 2 * STORM_THREADS * 500001, waits=True)


@test
def calls_that_are_too_deep_are_filtered_and_counted():
    trace = same(["calls", 100], funcs=CALLS, max_depth="2").trace()
    assert_counts(trace, outer=100, middle=100, leaf=100, inner=0)
    assert_adds_up(trace, 2 * 400)


@slow
def a_million_calls_in_four_threads_lose_nothing_with_the_smallest_buffer():
    trace = same(["storm", 4, 1000000], funcs="leaf,inner", buffer="16K", min_duration="10s").trace()
    assert_adds_up(trace, 2 * 4 * 1000001, waits=True)
    assert trace.totals()["dropped"] == 0, trace.totals()


# ---- every event is accounted for -------------------------------------------------------------------

ENDS = {
    "threads that come and go": (["short_threads", 200], {}),
    "calls that are dropped": (["storm", 4, 20000], {"overflow": "drop", "buffer": "16K"}),
    "calls that are overwritten": (["storm", 4, 20000], {"overflow": "overwrite", "buffer": "16K"}),
    "calls that are filtered": (["calls", 1000], {"min_duration": "1us", "max_depth": "2"}),
    "coroutines": (["coroutines", 50, 1], {}),
    "coroutines whose calls are dropped": (["coroutines", 5000, 1], {"overflow": "drop", "buffer": "16K"}),
    "exceptions": (["throw"], {}),
    "stacks": (["calls", 1000], {"stacks": "all"}),
}


def last_line_says_the_totals(argv, how):
    done = same(argv, funcs=CALLS + ",through*", verbose="1", may_say=True, **how)
    totals = done.trace().totals()
    said = done.said.decode().splitlines()[-1]
    assert "%(produced)d events = %(written)d written + %(filtered)d filtered + %(dropped)d dropped" % totals in said, (
        "%r, the trace: %s" % (said, totals))


for what, (argv, how) in ENDS.items():
    def says(argv=argv, how=how):
        last_line_says_the_totals(argv, how)
    test(says, "the last line of PFT_VERBOSE and the trace say the same: %s" % what)
