# SPDX-License-Identifier: MIT
"""Runs inside gdb, stopped in deeper(): steps to look(), through the hooked call, and from its end back, and looks
at every instruction whether the frames from deeper() on are the right ones. Sourced by test_unwind.py."""
import gdb

EXPECTED = ["deeper", "through", "main"]


def names():
    frame, found = gdb.newest_frame(), []
    while frame is not None:
        found.append(frame.name())
        frame = frame.older()
    return found


def outer_functions(shown):
    """From deeper() on, without the trampoline, which has no name as a signal frame."""
    while shown and shown[0] != EXPECTED[0]:
        shown = shown[1:]
    return [name for name in shown if name and not name.startswith("pft_")]


def step_until(function):
    steps = wrong = 0
    while names()[0] != function:
        gdb.execute("stepi", to_string=True)
        shown = names()
        steps += 1
        if outer_functions(shown) != EXPECTED:
            wrong += 1
            print("at %#x: %s" % (gdb.newest_frame().pc(), shown))
    print("%d steps to %s, %d wrong" % (steps, function, wrong))


gdb.execute("stepi", to_string=True)
step_until("look")
gdb.execute("finish", to_string=True)  # it has much to do
step_until("deeper")
