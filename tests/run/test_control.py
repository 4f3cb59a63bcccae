# SPDX-License-Identifier: MIT
"""Control flow that is not call and return, and registers: what a trampoline could break."""
import os
import shutil
import subprocess

import harness
from harness import NotApplicable, assert_adds_up, assert_closed, assert_counts, fresh_directory, program, same, slow, test

ALL = "leaf,outer,middle,inner,through*"
LLVM_UNWINDER = "/usr/lib/llvm-14/lib/libunwind.so.1"


@test
def exceptions_go_through_hooked_frames():
    trace = same(["throw"], funcs=ALL).trace()
    assert_counts(trace, through=2, through_again=2, through_third=1, leaf=6, outer=1)
    assert_closed(trace)


@test
def exceptions_go_through_hooked_frames_with_the_llvm_unwinder():
    if not os.path.exists(LLVM_UNWINDER):
        raise NotApplicable("no LLVM unwinder here")
    assert_closed(same(["throw"], funcs=ALL, behind=[LLVM_UNWINDER]).trace())
    assert_counts(same(["throw_loop", 2000], funcs=ALL, behind=[LLVM_UNWINDER]).trace(), through=2000)


@test
def exceptions_do_not_pile_up():
    trace = same(["throw_loop", 5000], funcs=ALL).trace()
    assert_counts(trace, through=5000, through_again=5000)
    assert max(s.depth for s in trace.slices) < 2, "frames of earlier rounds are still open"


@test
def longjmp_closes_what_it_skips():
    trace = same(["longjmp", 5000], funcs=ALL).trace()
    assert_counts(trace, through=5000, through_again=5000, leaf=1, outer=1)
    assert_closed(trace)
    assert max(s.depth for s in trace.slices) < 3, "frames of earlier rounds are still open"
    unwound = sum(1 for s in trace.slices if s.args.get("unwound"))
    assert unwound == 10000, "%d slices are marked as unwound" % unwound


@test
def a_handler_may_leave_by_siglongjmp_from_the_middle_of_recording():
    assert_closed(same(["siglongjmp", 20000], funcs=ALL).trace())


def assert_handler_recorded(*more):
    done = same(["altstack", 20000, *more], funcs="outer,middle,inner", buffer="8M")
    trace = done.trace()
    with open(done.side + "/handled") as side:
        handled = int(side.read())
    assert_counts(trace, outer=handled)
    assert trace.count("middle") == trace.count("inner") >= 20000 + handled, trace.counts()
    assert_closed(trace)


@test
def a_handler_records_itself_whatever_it_interrupts():
    assert_handler_recorded(1)


@test
def a_handler_on_the_smallest_alternate_stack_records_itself():
    assert_handler_recorded()


@test
def coroutines_leave_each_other_in_the_middle_of_calls():
    trace = same(["coroutines", 5], funcs=ALL).trace()
    assert_counts(trace, through=2, through_again=2, outer=10, leaf=6)
    assert_closed(trace)


@test
def coroutines_return_on_another_thread_than_they_were_called_on():
    trace = same(["coroutines", 5, 1], funcs=ALL).trace()
    assert_counts(trace, through=2, through_again=2, outer=10, leaf=6)
    assert_closed(trace)
    assert trace.totals()["dropped"] == 0, trace.totals()


def threads_steal(coroutines, stack_bytes, rounds):
    trace = same(["stealers", coroutines, stack_bytes, rounds], funcs=ALL).trace()
    assert_counts(trace, through=coroutines, through_again=coroutines, outer=coroutines * rounds)
    assert_closed(trace)
    assert trace.totals()["dropped"] == 0, trace.totals()
    wrong = [s.name for s in trace.slices if "unwound" in s.args]
    assert not wrong, "marked as unwound: %s" % wrong[:5]


@test
def threads_steal_coroutines_with_small_stacks_side_by_side():
    threads_steal(64, 16384, 8)


@test
def threads_steal_coroutines_with_the_smallest_stacks_side_by_side():
    threads_steal(64, 4096, 8)


@test
def threads_steal_ten_thousand_coroutines():
    threads_steal(10000, 16384, 2)


@test
def coroutines_are_thrown_away_in_the_middle_of_calls():
    trace = same(["thrown_away", 5000], funcs=ALL).trace()
    assert_counts(trace, through=5000, through_again=5000)
    left = trace.open()
    assert 0 < len(left) <= 2 * 64, "%d calls are open on 64 stacks" % len(left)
    assert all(s.args.get("unwound") for s in trace.slices if s.end is not None and s.name.startswith("through"))


@slow
def a_million_coroutines_are_thrown_away():
    assert_adds_up(same(["thrown_away", 1000000], funcs=ALL, min_duration="10s").trace(), 2 * 1000000, waits=True)


@test
def cancelled_and_exited_threads_unwind_through_hooked_frames():
    trace = same(["cancel"], funcs=ALL).trace()
    assert_counts(trace, through=200, through_again=200, leaf=200)
    assert_closed(trace)


@test
def a_tail_call_ends_one_slice_and_begins_the_next():
    trace = same(["tailcall", 1000], funcs="tail_?").trace()
    assert_counts(trace, tail_a=501, tail_b=500)
    assert_closed(trace)
    assert {s.depth for s in trace.slices} == {0}, "tail calls are nested"


@test
def a_recursion_of_a_hundred_thousand_returns():
    trace = same(["deep", 100000], funcs="recurse*", buffer="8M").trace()
    assert_counts(trace, recurse=250, recurse_further=250)
    assert trace.totals()["produced"] == 200002, trace.totals()
    assert_closed(trace)


@test
def backtrace_sees_main():
    assert_counts(same(["backtrace"], funcs=ALL).trace(), through=1, through_again=1)


@test
def nongnu_libunwind_sees_main():
    assert_counts(same(["unwind"], funcs=ALL).trace(), through=1, through_again=1)


@test
def gdb_sees_main():
    if not shutil.which("gdb"):
        raise NotApplicable("no gdb here")
    preload = [] if harness.bare else ["-ex", "set environment LD_PRELOAD " + harness.SHIM]
    done = harness.run(["gdb", "-batch", "-nx", "-ex", "set startup-with-shell off"] + preload + [
        "-ex", "break look", "-ex", "run", "-ex", "bt", "-ex", "kill", program("backtrace")],
        env=harness.settings("user", "through*", harness.fresh_directory(), {}))
    stack = done.stdout.decode()
    for name in ("look", "through_again", "deeper", "through ", "main"):
        assert name in stack, "no %s in: %s" % (name, stack[-1500:] + done.stderr.decode()[-500:])


@test
def every_kind_of_argument_and_result_goes_through():
    trace = same(["registers", 400], funcs="reg_*,printf,puts", buffer="16K").trace()
    assert_counts(trace, reg_doubles=400, reg_twenty=400, reg_big=400, reg_long_double=400)
    assert_closed(trace)


@test
def errno_is_what_the_function_made_of_it():
    trace = same(["errno", 5000], funcs="leaf,outer,open,open64", buffer="16K").trace()
    assert_counts(trace, leaf=5000, outer=5000, open=5000)


@test
def hooked_functions_call_back():
    trace = same(["callbacks"], funcs="qsort,leaf").trace()
    assert_counts(trace, qsort=1)
    parents = {s.parent.name for s in trace.slices if s.name == "leaf" and s.parent}
    assert parents == {"qsort"}, parents
    assert trace.count("leaf") > 5000


# ---- stacks that are copied away and back ----

COPIES = b" copies stacks away and back"


def copier(name):
    """The library of tests/programs/libcopies.c under the name of one that is known."""
    path = os.path.join(fresh_directory(), name)
    shutil.copy(program("libcopies.so"), path)
    return path


def assert_said_once(outcome, start):
    said = [line for line in outcome.said.splitlines() if line.startswith(b"pftshim: ")]
    assert len(said) == 1 and said[0].startswith(start) and COPIES in said[0], said


@test
def recording_ends_before_a_library_that_copies_stacks_runs():
    for name in ("_greenlet.so", "greenlet.cpython-36m.so", "continuation.so"):
        done = same(["copies", copier(name)], funcs=ALL, may_say=True)
        trace = done.trace()
        assert_said_once(done, b"pftshim: recording ends: ")
        assert_counts(trace, outer=1, through_again=1, through=0, leaf=0)
        assert [s.name for s in trace.open()] == ["through_again"], trace.open()
        assert_adds_up(trace, trace.totals()["produced"])


@test
def nothing_is_recorded_where_one_is_loaded_at_the_start():
    path = copier("_greenlet.so")
    done = same(["copies", path], behind=[path], funcs=ALL, may_say=True)
    if not harness.bare:
        assert_said_once(done, b"pftshim: not tracing: ")
        assert not done.paths(), done.paths()


GEVENT = """
import gevent, hashlib, zlib
done = []
def work(n):
    for turn in range(30):
        gevent.sleep(0)
        done.append((n, hashlib.sha256(zlib.compress(b"%d" % turn * 100)).hexdigest()))
gevent.joinall([gevent.spawn(work, n) for n in range(10)])
print(len(done), hashlib.sha256(repr(sorted(done)).encode()).hexdigest())
def deep(n):
    return sorted([3, 1, 2], key=lambda x: gevent.sleep(0) or x) if n == 0 else deep(n - 1)
print([job.get() for job in [gevent.spawn(deep, n) for n in range(40)]])
"""


@test
def gevent_runs_as_without():
    python = "/usr/bin/python3"
    if not os.path.exists(python) or subprocess.run([python, "-c", "import gevent"], capture_output=True).returncode:
        raise NotApplicable("no gevent here")
    for how in ({"mode": "user", "funcs": "read,write,Py*"}, {"mode": "dev", "min_duration": "20us"}):
        done = same([python, "-c", GEVENT], may_say=True, **how)
        done.trace()
        assert_said_once(done, b"pftshim: recording ends: ")


# ---- a million times; the filter keeps these traces small ----

@slow
def ten_million_tail_calls_take_no_stack():
    assert_adds_up(same(["tailcall", 10000000], funcs="tail_?", min_duration="10s").trace(), 2 * 10000001, waits=True)


@slow
def a_million_longjmps_over_hooked_frames():
    assert_adds_up(same(["longjmp", 1000000], funcs=ALL, min_duration="10s").trace(), 2 * (2 * 1000000 + 4), waits=True)


@slow
def a_hundred_thousand_exceptions_through_hooked_frames():
    assert_adds_up(same(["throw_loop", 100000], funcs=ALL, min_duration="10s").trace(), 2 * 2 * 100000, waits=True)


@slow
def a_million_calls_under_a_handler_that_jumps_out():
    trace = same(["siglongjmp", 1000000], funcs=ALL, min_duration="10s").trace()
    assert_closed(trace)
    assert_adds_up(trace, trace.totals()["produced"])
