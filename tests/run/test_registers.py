# SPDX-License-Identifier: MIT
"""The whole register file, random in every bit, at both ends of hooked calls."""
from harness import assert_counts, same, slow, test


def registers_are_kept(place, rounds, **settings):
    return same(["register_file", rounds, place], funcs="probe", buffer="16K", **settings)


@test
def every_register_keeps_every_bit_through_a_hooked_call():
    assert_counts(registers_are_kept("here", 1000).trace(), probe=1000)
    assert_counts(registers_are_kept("coroutine", 1000).trace(), probe=1000)


@test
def every_register_keeps_every_bit_when_the_clock_is_read_by_a_call():
    assert_counts(registers_are_kept("here", 1000, clock="monotonic").trace(), probe=1000)
    assert_counts(registers_are_kept("coroutine", 1000, clock="monotonic").trace(), probe=1000)


@test
def every_register_keeps_every_bit_when_calls_are_dropped():
    registers_are_kept("here", 3000, overflow="drop").trace()


@test
def every_register_keeps_every_bit_in_the_first_event_of_a_thread():
    assert_counts(registers_are_kept("new_thread", 30).trace(), probe=30)


@test
def every_register_keeps_every_bit_in_the_first_event_of_a_process():
    traces = registers_are_kept("new_process", 10).traces()
    assert sum(trace.count("probe") for trace in traces) == 10, [trace.counts() for trace in traces]


@slow
def every_register_keeps_every_bit_through_twenty_thousand_calls():
    for place in ("here", "coroutine"):
        registers_are_kept(place, 20000, min_duration="10s")
        registers_are_kept(place, 20000, min_duration="10s", clock="monotonic")
