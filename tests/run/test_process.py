# SPDX-License-Identifier: MIT
"""Processes: the ways to end one, and the ways to start another."""
import collections
import os

import harness
from harness import assert_counts, same, slow, test

ALL = "leaf,outer,middle,inner,through*"

# Way to end -> calls of leaf() that the program makes. What ends without a word to anybody comes later.
COUNTED = {"return": 2, "exit": 2, "pthread_exit": 2, "thread": 3, "detached": 2}
ABRUPT = ["_exit", "quick_exit", "abort", "segv", "kill", "term"]


def ends_by(way):
    done = same(["exits", way], funcs=ALL)
    if way in COUNTED:
        assert_counts(done.trace(), leaf=COUNTED[way])


for way in list(COUNTED) + ABRUPT:
    def ends(way=way):
        ends_by(way)
    test(ends, "a process ends by %s as without the shim" % way)


def by_process(traces):
    traces = list(traces)
    pids = [t.process()["pid"] for t in traces]
    assert len(set(pids)) == len(pids), "two traces of one process: %s" % pids
    return traces


@test
def each_of_a_chain_of_children_has_its_trace():
    traces = by_process(same(["fork"], funcs=ALL).traces())
    assert len(traces) == 6, "%d traces of 6 processes" % len(traces)
    assert [t.count("leaf") for t in traces] == [1] * 6
    assert sum(t.count("inner") for t in traces) == 5


@test
def a_tree_of_processes_is_one_execution():
    for name in ("fork", "spawn"):
        executions = {os.path.dirname(path) for path in same([name], funcs=ALL).paths()}
        assert harness.bare or len(executions) == 1, "%s: %d executions" % (name, len(executions))


@test
def a_child_returns_from_calls_that_its_parent_began():
    traces = by_process(same(["fork_return"], funcs=ALL).traces())
    assert [t.count("leaf") for t in traces] == [2, 2], [t.counts() for t in traces]


def assert_forks_busy(count):
    traces = by_process(same(["fork_busy", count], funcs=ALL).traces())
    assert len(traces) == count + 1, "%d traces of %d processes" % (len(traces), count + 1)
    assert sorted(t.count("leaf") for t in traces) == [0] + [1] * count, "a child's call is missing"


@test
def fork_from_a_thread_while_others_record():
    assert_forks_busy(100)


@slow
def a_thousand_forks_from_a_thread_while_others_record():
    assert_forks_busy(1000)


@test
def a_daemon_has_a_trace_a_process():
    done = same(["daemon"], funcs=ALL)
    traces = by_process(t for t in done.traces() if t.packets)
    assert max(t.attributes.get("pftshim.produced", 0) for t in traces) == 2, [t.totals() for t in traces]
    assert len(done.paths()) == 3, "%d traces of 3 processes" % len(done.paths())


@test
def a_program_is_stopped_and_continued():
    traces = by_process(same(["stopped"], funcs=ALL).traces())
    assert sum(t.count("leaf") for t in traces) == 5000, [t.counts() for t in traces]


@test
def other_programs_are_started_in_every_way():
    done = same(["spawn"], funcs=ALL)
    total = sum((t.counts() for t in done.traces()), collections.Counter())
    assert total["leaf"] == 4 and total["outer"] == 1, total


def programs_of(done):
    return {t.process()["process"] for t in done.traces()}


@test
def programs_of_a_tree_are_selected_by_name():
    assert programs_of(same(["spawn"], funcs=ALL)) == {"spawn", "sh", "exe"}
    assert programs_of(same(["spawn"], funcs=ALL, processes="s*,-spawn")) == {"sh"}
    assert programs_of(same(["spawn"], funcs=ALL, processes="-sh")) == {"spawn", "exe"}


@test
def a_program_that_is_not_selected_leaves_no_mark():
    done = same(["quiet"], funcs=ALL, mode="dev", processes="-quiet")
    assert not os.listdir(done.directory), os.listdir(done.directory)
