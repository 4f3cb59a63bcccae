# SPDX-License-Identifier: MIT
"""Unwinders and a debugger, at every instruction of a hooked call."""
import os
import re
import shutil
import subprocess

import harness
from harness import NotApplicable, assert_closed, assert_counts, program, same, slow, test

STEPPED = "leaf,outer,middle,inner,through*,tail_?,crooked"
SCENARIOS = ("first_event", "nested", "callbacks", "tail_calls", "misaligned", "abandoned_before_a_call",
             "abandoned_before_a_return", "coroutine", "tail_calls_in_a_coroutine", "thread")


# ---- single steps -----------------------------------------------------------------------------------

def step_through(*scenarios, **settings):
    """Every walk found exactly the frames that were there. The outcome under the shim."""
    done = same(["unwind_step", *scenarios], funcs=STEPPED, buffer="16K", **settings)
    wrong = [line for line in done.stdout.decode().splitlines() if re.search("[1-9][0-9]* failures", line)]
    assert not wrong, wrong
    done.traces()
    return done


def visits(done, name="visits"):
    """Where in the shim the walks began."""
    with open(os.path.join(done.side, name)) as side:
        rows = [line.split() for line in side]
    return {int(offset, 16) for place, offset, _ in rows if place == "libpftshim.so"}


def command(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def trampoline_instructions():
    """address -> text, of all that lies between the thunks and the slow paths written in C."""
    symbols = [line.split() for line in command("nm", "-S", harness.SHIM).splitlines()]
    places = {fields[3]: (int(fields[0], 16), int(fields[1], 16)) for fields in symbols if len(fields) == 4}
    if "pft_enter" not in places:
        raise NotApplicable("the shim is stripped")
    code = command("objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % places["pft_enter"][0],
                   "--stop-address=%d" % sum(places["pft_enter_cold"]), harness.SHIM)
    return {int(line.split(":")[0], 16): line.strip() for line in code.splitlines() if line.startswith(" ")}


@test
def unwinders_see_every_frame_from_every_instruction_of_a_hooked_call():
    trace = step_through(*SCENARIOS).trace()
    assert_counts(trace, outer=4, through=3, crooked=1)
    assert_closed(trace)


@test
def unwinders_see_every_frame_when_the_clock_is_read_by_a_call():
    assert_closed(step_through(*SCENARIOS, clock="monotonic").trace())


@test
def unwinders_see_every_frame_when_the_buffer_is_full():
    step_through("first_event", "full", "callbacks", overflow="drop")
    step_through("first_event", "full", "callbacks", overflow="overwrite")


@test
def unwinders_have_seen_every_instruction_of_the_trampoline():
    if harness.bare:
        raise NotApplicable("runs without the shim")
    code = trampoline_instructions()
    seen = visits(step_through(*SCENARIOS, "full", overflow="drop", clock="tsc"))
    unseen = [code[address] for address in sorted(code.keys() - seen)]
    assert not unseen, "%d of %d:\n%s" % (len(unseen), len(code), "\n".join(unseen))


@test
def the_llvm_unwinder_is_among_them():
    if b"3 unwinders" not in same(["unwind_step"], funcs=STEPPED).stdout:
        raise NotApplicable("no LLVM unwinder here")


@slow
def unwinders_see_every_frame_while_a_call_waits_for_room():
    step_through("first_event", "wait_for_room")


@slow
def unwinders_see_every_frame_while_a_forked_child_starts_its_session():
    done = step_through("first_event", "child_calls", "child_returns")
    assert len(done.traces()) == 3, done.paths()


# ---- gdb --------------------------------------------------------------------------------------------

OURS = {"<signal handler called>", "pft_through"}  # the trampoline's frame


def gdb(*commands, name="backtrace", funcs="through*"):
    """What gdb says to the commands, as lines, with the program under the shim."""
    if not shutil.which("gdb"):
        raise NotApplicable("no gdb here")
    preload = [] if harness.bare else ["set environment LD_PRELOAD " + harness.SHIM]
    argv = ["gdb", "-batch", "-nx"]
    for line in ["set startup-with-shell off", "set width 0", *preload, *commands]:
        argv += ["-ex", line]
    done = harness.run(argv + [program(name)],
                       env=harness.settings("user", funcs, harness.fresh_directory(), {"clock": "tsc"}))
    return done.stdout.decode().splitlines() + done.stderr.decode().splitlines()


def frames(lines):
    """The functions that a backtrace names, innermost first."""
    found = [re.match(r"#\d+ +(?:0x[0-9a-f]+ in )?(<signal handler called>|[^ ]+)", line) for line in lines]
    return [match.group(1) for match in found if match]


@test
def gdb_shows_one_frame_of_ours_between_a_hooked_function_and_its_caller():
    shown = frames(gdb("break look", "run", "bt", "kill"))
    theirs = [name for name in shown if name not in OURS]
    assert theirs == ["look", "through_again", "deeper", "through", "main"], shown
    if not harness.bare:
        assert [name in OURS for name in shown] == [False, False, True, False, False, True, False], shown


@test
def gdb_goes_up_to_the_caller_of_a_hooked_function():
    lines = gdb("break look", "run", "frame function deeper", "info symbol $pc", "frame function main",
                "info symbol $pc", "kill")
    assert any(line.startswith("deeper + ") for line in lines), lines
    assert any(line.startswith("main + ") for line in lines), lines


@test
def gdb_finishes_what_a_hooked_function_called():
    lines = gdb("break look", "run", "finish", "info symbol $pc", "frame function deeper", "finish",
                "info symbol $pc", "continue")
    assert any(line.startswith("through_again + ") for line in lines), lines
    assert any(line.startswith("through + ") for line in lines), lines
    assert "Value returned is $2 = 2" in lines, lines
    assert any("exited normally" in line for line in lines), lines


@test
def gdb_finishes_a_hooked_function_in_its_caller():
    """And the calls that follow go where they should."""
    finish = ["finish"] if harness.bare else ["finish", "finish"]  # the trampoline is a frame as well
    lines = gdb("break leaf", "run", "delete", *finish, "info symbol $pc", "continue", name="calls", funcs="leaf")
    assert any(line.startswith("main + ") for line in lines), lines
    assert any("exited normally" in line for line in lines), lines


@test
def gdb_steps_over_a_hooked_call():
    lines = gdb("break deeper", "run", "step", "bt", "kill")
    assert "main" in frames(lines), lines


@test
def gdb_sees_main_from_every_instruction_of_a_hooked_call():
    lines = gdb("break deeper", "run", "source " + os.path.join(harness.ROOT, "tests/run/gdb_steps.py"), "kill")
    counts = [re.match("([0-9]+) steps to ([a-z]+), ([0-9]+) wrong", line) for line in lines]
    counts = {match.group(2): (int(match.group(1)), int(match.group(3))) for match in counts if match}
    assert counts.keys() == {"look", "deeper"}, lines[-10:]
    assert all(steps and not wrong for steps, wrong in counts.values()), counts
