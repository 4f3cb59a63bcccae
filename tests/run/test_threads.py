# SPDX-License-Identifier: MIT
"""Threads: their names, tracks, first and last events."""
import collections

from harness import assert_closed, assert_counts, same, test


@test
def each_thread_has_the_name_that_the_program_gave_it():
    done = same(["names"], funcs="leaf")
    trace = done.trace()
    threads = trace.threads()
    calls = collections.Counter(trace.thread_of(s)["tid"] for s in trace.slices)
    with open(done.side + "/names") as side:
        for line in side:
            tid, name, made = line.split()[0], " ".join(line.split()[1:-1]), line.split()[-1]
            assert threads.get(int(tid)) == name, "thread %s is %r, not %r" % (tid, threads.get(int(tid)), name)
            assert calls[int(tid)] == int(made), "%s made %s calls, %d are in the trace" % (
                name, made, calls[int(tid)])


@test
def the_only_call_of_a_short_thread_is_there():
    trace = same(["short_threads", 1000], funcs="leaf,inner").trace()
    assert_counts(trace, leaf=1000, inner=1000)
    begins = sum(1 for i in trace.instants if i.name == "thread begin")
    ends = sum(1 for i in trace.instants if i.name == "thread end")
    assert begins == 2001 and ends >= 2000, "%d threads begin, %d end" % (begins, ends)


@test
def keys_of_thread_specific_data_have_their_usual_numbers():
    same(["keys"], funcs="leaf").trace()


@test
def a_thread_with_the_smallest_stack_starts():
    assert_counts(same(["smallest_stack"], funcs="outer").trace(), outer=20000)


@test
def a_thread_that_a_constructor_starts_is_recorded():
    assert_counts(same(["early"], funcs="leaf").trace(), leaf=1000)


@test
def calls_of_constructors_and_destructors_are_there():
    trace = same(["late"], funcs="leaf").trace()
    assert_counts(trace, leaf=7)
    assert_closed(trace)
