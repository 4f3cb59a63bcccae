# SPDX-License-Identifier: MIT
"""What `pft ctl` asks of a program while it runs."""
import os
import re
import subprocess

from harness import BUILD, Prompted, assert_adds_up, assert_counts, test

CTL = os.path.join(BUILD, "pft-ctl")
ALL = "leaf,outer,middle,inner,through"


def ctl(process, command, status=0):
    done = subprocess.run([CTL, str(process), command], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, "%s: status %d: %s" % (command, done.returncode, done.stderr)
    return done.stdout + done.stderr


def events(process):
    """How many were produced, as status says it."""
    return int(re.search(r"^events +(\d+) = ", ctl(process, "status"), re.M).group(1))


@test
def a_flush_puts_everything_into_the_file():
    program = Prompted(funcs=ALL)
    program.do("leaf 1000", "outer 10")
    ctl(program.pid, "flush")
    trace = program.outcome().trace()
    assert_counts(trace, leaf=1000, outer=10)
    assert_adds_up(trace, 2060)
    program.end()


@test
def a_flush_writes_no_call_that_may_turn_out_too_short():
    program = Prompted(funcs=ALL, min_duration="100s")
    program.do("hold 1")
    ctl(program.pid, "flush")
    trace = program.outcome().trace()
    assert_counts(trace, through=0)
    assert_adds_up(trace, 1)
    program.do("leaf 10")
    program.hear()
    trace = program.end().trace()
    assert_counts(trace, through=0, leaf=0)
    assert_adds_up(trace, 22)


@test
def status_says_mode_events_and_size():
    program = Prompted(funcs=ALL)
    program.do("leaf 700")
    ctl(program.pid, "flush")
    said = ctl(program.pid, "status")
    path = program.outcome().paths()[0]
    for line in ("mode +user", "overflow +wait", r"events +1400 = 1400 written \+ 0 filtered \+ 0 dropped",
                 "trace +%d bytes, %s" % (os.path.getsize(path), path)):
        assert re.search("^%s$" % line, said, re.M), "no %r in: %s" % (line, said)
    program.end()


@test
def the_link_beside_the_trace_names_the_process_too():
    program = Prompted(funcs=ALL)
    program.do("leaf 5")
    ctl(program.outcome().paths()[0].replace(".pftrace", ".session"), "flush")
    assert_counts(program.outcome().trace(), leaf=5)
    program.end()


@test
def what_is_asked_before_the_first_event_is_done_with_it():
    program = Prompted(funcs=ALL)
    assert "with the next event" in ctl(program.pid, "flush")
    program.do("leaf 5")
    assert events(program.pid) == 10
    program.end()


@test
def a_process_that_is_not_recorded_is_told_in_one_line():
    for process, why in ((os.getpid(), "no such process is being recorded"), ("/dev/null", "is no session"),
                         ("/nowhere", "is no session")):
        said = ctl(process, "status", status=1)
        assert why in said and said.count("\n") == 1, said


@test
def what_is_no_command_is_told_in_one_line():
    said = ctl(os.getpid(), "dance", status=2)
    assert "no such command" in said and said.count("\n") == 1, said


@test
def a_process_that_is_asked_all_the_time_records_as_ever():
    program = Prompted(funcs=ALL)
    for turn in range(1, 21):
        program.do("outer 100")
        ctl(program.pid, "flush" if turn % 2 else "status")
    assert_adds_up(program.end().trace(), 12000)
    assert_counts(program.outcome().trace(), outer=2000)
