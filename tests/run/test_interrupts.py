# SPDX-License-Identifier: MIT
"""Signals at every instruction of a hooked call, whose handlers record as well."""
from harness import assert_adds_up, assert_closed, same, slow, test


def interrupt(then, every, *stack, **settings):
    """The trace, and how often through() and leaf() were to be called."""
    done = same(["interrupt_step", then, every, *stack], funcs="leaf,outer,middle,inner,through*", **settings)
    trace = done.trace()
    with open(done.side + "/interrupted") as side:
        rounds, handled = map(int, side.read().split())
    assert_closed(trace)
    assert trace.totals()["dropped"] == 0, trace.totals()
    # One call of each kind comes before.
    assert trace.count("outer") == trace.count("middle") == trace.count("inner") == handled + 1, trace.counts()
    return trace, rounds + 1


def interrupt_and_return(*how, **settings):
    trace, calls = interrupt("return", *how, **settings)
    assert trace.count("through") == trace.count("leaf") == calls, (trace.counts(), calls)
    assert_adds_up(trace, 2 * len(trace.slices))


def interrupt_and_jump(*how, **settings):
    trace, calls = interrupt("jump", *how, **settings)
    assert trace.count("leaf") <= trace.count("through") <= calls, (trace.counts(), calls)


@test
def a_handler_records_at_every_instruction_of_recording():
    interrupt_and_return(1, clock="tsc")


@test
def a_handler_leaves_at_every_instruction_of_recording():
    interrupt_and_jump(1, clock="tsc")


@test
def a_handler_records_anywhere_in_the_slow_paths():
    interrupt_and_return(13, clock="monotonic")
    interrupt_and_return(13, 1)


@test
def a_handler_leaves_anywhere_in_the_slow_paths():
    interrupt_and_jump(13, clock="monotonic")
    interrupt_and_jump(13, 1)


@slow
def a_handler_records_at_every_second_instruction_of_the_slow_paths():
    interrupt_and_return(2, clock="monotonic")
    interrupt_and_return(2, 1)
    interrupt_and_return(2, 1, clock="monotonic")


@slow
def a_handler_leaves_at_every_second_instruction_of_the_slow_paths():
    interrupt_and_jump(2, clock="monotonic")
    interrupt_and_jump(2, 1)
    interrupt_and_jump(2, 1, clock="monotonic")
