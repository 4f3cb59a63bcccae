# SPDX-License-Identifier: MIT
"""Where calls came from: PFT_STACKS. Frames are compared with what the programs' sources, and backtrace(3), say."""
from harness import assert_counts, same, test


def names(stack):
    return None if stack is None else [name for name, _ in stack]


def stacks_of(done, name, at_end=False):
    trace = done.trace()
    cut = trace.attributes.get("pftshim.stacks_cut", 0)
    assert cut == 0, "%d stacks are cut for want of room" % cut
    return [names(s.end_stack if at_end else s.stack) for s in trace.slices if s.name == name]


def behind(stack, function):
    """The frames that `function` called, itself included: what called it is the C library's business."""
    assert stack and function in stack, "%s is not in %s" % (function, stack)
    return stack[stack.index(function):]


def assert_no_frame_of_ours(done):
    for s in done.trace().slices:
        for name, object in s.stack or ():
            assert object != "libpftshim.so", "%s is a frame of %s" % (name, s.name)


@test
def stacks_are_what_backtrace_says():
    done = same(["stacks", "compared"], funcs="leaf,through", stacks="all")
    stack, = stacks_of(done, "leaf")
    with open(done.side + "/backtrace") as side:
        said = side.read().split()
    ours = behind(stack, "main")
    assert ours == [n for n in behind(said, "main") if n != "?"], "%s, and backtrace says %s" % (stack, said)
    assert len(ours) == 4 and len(stack) > 4, stack


@test
def stacks_are_none_unless_asked_for():
    trace = same(["stacks", "compared"], funcs="leaf,through").trace()
    assert_counts(trace, leaf=1, through=1)
    assert all(s.stack is None and s.end_stack is None for s in trace.slices)


@test
def stacks_of_selected_calls_are_taken_alone():
    done = same(["stacks", "compared"], funcs="leaf,through", stacks="t*,-x")
    assert stacks_of(done, "leaf") == [None]
    stack, = stacks_of(done, "through")
    assert behind(stack, "main") == ["main", "compared"], stack


@test
def stacks_lead_through_recorded_calls():
    done = same(["calls"], funcs="inner,middle,outer", stacks="all")
    assert_no_frame_of_ours(done)
    stacks = stacks_of(done, "inner")
    assert stacks and all(behind(s, "main") == ["main", "outer", "middle"] for s in stacks), stacks[:1]


@test
def stacks_of_a_deep_recursion_lose_their_outer_end():
    stack, = stacks_of(same(["stacks", "recursion", 200], funcs="leaf", stacks="all"), "leaf")
    assert behind(stack, "main")[2:] == ["descend"] * 201, stack
    stack, = stacks_of(same(["stacks", "recursion", 50000], funcs="leaf", stacks="all"), "leaf")
    assert set(stack) == {"descend"} and len(stack) == 256, stack


@test
def stacks_of_cxx_have_names_as_in_the_source():
    done = same(["stacks_cc"], funcs="leaf,through", stacks="all")
    second, first = stacks_of(done, "leaf")  # arguments are evaluated from the last one on
    assert first[-1] == "shapes::Box<long, 3>::call" and first[-2] == "main", first
    assert second[-1] == "catches" and second[-2] == "main", second


@test
def a_stack_is_cut_at_code_without_unwind_tables():
    stack, = stacks_of(same(["stacks", "untold"], funcs="leaf", stacks="all"), "leaf")
    assert stack == ["without_tables", "second"], stack


@test
def a_stack_is_cut_at_code_that_no_file_has():
    stacks = stacks_of(same(["stacks", "made", 50], funcs="leaf", stacks="all"), "leaf")
    assert stacks == [["first", "second"]] * 50, stacks[:2]


@test
def a_stack_whose_chain_is_led_astray_is_cut():
    stacks = stacks_of(same(["stacks", "crooked", 5], funcs="leaf", stacks="all"), "leaf")
    assert len(stacks) == 9 and all(s[-2:] == ["calls_crooked", "crooked"] for s in stacks), stacks


@test
def stacks_of_a_forked_child_are_its_own():
    done = same(["stacks", "forked"], funcs="leaf", stacks="all")
    for trace, count in zip(sorted(done.traces(), key=lambda t: -len(t.slices)), (2, 1)):
        stacks = [names(s.stack) for s in trace.slices if s.name == "leaf"]
        assert len(stacks) == count, stacks
        assert all(behind(s, "main") == ["main", "forked", "first", "second"] for s in stacks), stacks


@test
def stacks_of_calls_that_took_longer_are_taken_when_they_return():
    done = same(["stacks", "slow"], funcs="through", stacks=">30ms")
    stacks = stacks_of(done, "through", at_end=True)
    assert [s is not None for s in stacks] == [False, False, False, True, False], stacks
    assert behind(stacks[3], "main") == ["main", "slow"], stacks[3]
    assert stacks_of(done, "through") == [None] * 5


@test
def stacks_of_threads_begin_where_they_do():
    stacks = stacks_of(same(["stacks", "threads", 500], funcs="leaf", stacks="all"), "leaf")
    assert len(stacks) == 2000
    assert all(behind(s, "threads_first") == ["threads_first", "first", "second"] for s in stacks)
    assert len({tuple(s) for s in stacks}) == 1


@test
def stacks_of_a_handler_lead_through_the_signal():
    done = same(["altstack", 20000], funcs="outer,middle", stacks="outer")
    assert_no_frame_of_ours(done)
    stacks = stacks_of(done, "outer")
    # `handle` has left its frame to `outer`; what called it is the code that returns from handlers.
    whole = [s for s in stacks if s[-1] is None and "main" in s]
    assert stacks and len(whole) == len(stacks), "%d of %d: %s" % (
        len(whole), len(stacks), [s for s in stacks if s not in whole][:3])


@test
def stacks_of_coroutines_are_their_own():
    done = same(["coroutines", 20], funcs="outer,through*,leaf", stacks="all")
    stacks = stacks_of(done, "outer")
    assert stacks and all(behind(s, "body") == ["body", "through", "through_again", "leaves"] for s in stacks), stacks[:1]
    assert all("main" not in s for s in stacks)


@test
def stacks_go_on_while_libraries_come_and_go():
    stacks = stacks_of(same(["opened"], funcs="inner", stacks="all"), "inner")
    assert stacks and all(behind(s, "main") == ["main", "use", "outer", "middle"] for s in stacks), stacks[:1]


@test
def stacks_with_a_small_ring_lose_nothing():
    done = same(["stacks", "threads", 5000], funcs="leaf", stacks="all", buffer="16K")
    totals = done.trace().totals()
    assert totals["dropped"] == 0 and totals["produced"] == totals["written"] >= 40000, totals
