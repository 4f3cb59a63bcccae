# SPDX-License-Identifier: MIT
"""Unwinders at every instruction of a hooked call."""
import os
import re
import subprocess

import harness
from harness import NotApplicable, assert_closed, assert_counts, same, slow, test

STEPPED = "leaf,outer,middle,inner,through*,tail_?,crooked"
SCENARIOS = ("first_event", "nested", "callbacks", "tail_calls", "misaligned", "abandoned_before_a_call",
             "abandoned_before_a_return", "coroutine", "thread")


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
    seen = visits(step_through(*SCENARIOS, "full", overflow="drop"))
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
