# SPDX-License-Identifier: MIT
"""Processes: the ways to end one, and the ways to start another."""
import collections
import glob
import os
import shutil

import bounded
import harness
from harness import assert_closed, assert_counts, same, slow, test

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


def executions_of(done):
    return len({os.path.dirname(path) for path in done.paths()})


@test
def a_tree_of_processes_is_one_execution():
    for name in ("fork", "spawn"):
        executions = executions_of(same([name], funcs=ALL))
        assert harness.bare or executions == 1, "%s: %d executions" % (name, executions)


@test
def a_child_returns_from_calls_that_its_parent_began():
    traces = by_process(same(["fork_return"], funcs=ALL).traces())
    assert [t.count("leaf") for t in traces] == [2, 2], [t.counts() for t in traces]


def sessions_of(directory):
    """Those in memory whose traces lie there."""
    found = []
    for path in glob.glob("/dev/shm/pftshim.*"):
        try:
            with open(path, "rb") as file:
                if directory.encode() in file.read(8192):
                    found.append(path)
        except FileNotFoundError:
            pass  # somebody else's
    return found


def assert_forks_busy(count, threads=1):
    done = same(["fork_busy", count, threads], funcs=ALL)
    traces = by_process(done.traces())
    assert len(traces) == count + 1 and executions_of(done) == 1, "%d traces of %d processes" % (len(traces), count + 1)
    parent = max(traces, key=lambda t: len(t.threads()))
    with open(os.path.join(done.side, "side"), encoding="ascii") as file:
        calls, own_sessions = (int(word) for word in file.read().split())
    assert parent.count("outer") == calls and parent.totals()["dropped"] == 0, (parent.counts(), calls)
    assert len(parent.threads()) == threads + 3, parent.threads()
    assert_closed(parent)
    assert all(t.count("leaf") == (t is not parent) for t in traces), "a child's call is missing"
    assert own_sessions == (count + 2) // 3, "%d of %d children had a session of their own" % (own_sessions, count)
    assert not sessions_of(done.directory), "left in memory: %s" % sessions_of(done.directory)
    names = {os.path.basename(path) for path in glob.glob(os.path.join(glob.escape(done.directory), "executions", "*-*", "*"))}
    assert names == {os.path.basename(t.path) for t in traces}, "left behind: %s" % list(names)[:5]
    return done


@test
def fork_from_threads_while_others_record():
    assert_forks_busy(100, 3)


@slow
def ten_thousand_forks_from_threads_while_others_record():
    for _ in range(10):
        done = assert_forks_busy(1000, 4)
        assert bounded.bytes_below(done.directory) < 16 << 20, "a child's trace takes more than 16 KB"
        shutil.rmtree(done.directory)


@test
def each_process_of_a_daemon_has_its_trace_whole():
    done = same(["daemon"], funcs=ALL)
    traces = by_process(done.traces())
    assert [t.count("leaf") for t in traces] == [1, 1, 1] and executions_of(done) == 1, [t.counts() for t in traces]
    assert all(t.totals()["produced"] == 2 for t in traces), [t.totals() for t in traces]
    assert sorted(str(t.attributes.get("pftshim.parent")) for t in traces) == ["None", "daemon", "daemon"]
    ends = {b["pid"] for _, b in arrows(joined(traces))}
    assert len(ends) == 2 and ends < {t.process()["pid"] for t in traces}, ends
    assert not sessions_of(done.directory), sessions_of(done.directory)


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
def a_tree_whose_first_program_is_not_selected_is_one_execution():
    lineage = harness.program("lineage")
    script = "%s; %s system; { setsid %s & } | cat; exec %s exec" % ((lineage,) * 4)
    for mode in ("user", "dev"):
        done = same(["/bin/sh", "-c", script], funcs=ALL, processes="lineage", mode=mode)
        assert len(done.traces()) == 6 and executions_of(done) == 1, done.paths()
    done = same(["spawn"], funcs=ALL, processes="sh")
    assert len(done.paths()) == 8 and executions_of(done) == 1, done.paths()


@test
def two_trees_whose_first_programs_are_not_selected_are_two_executions():
    done = [same(["/bin/sh", "-c", harness.program("lineage") + "; :"], funcs=ALL, processes="lineage")
            for _ in range(2)]
    assert len({os.path.basename(os.path.dirname(path)) for one in done for path in one.paths()}) == 2


@test
def a_program_that_is_not_selected_leaves_no_mark():
    done = same(["quiet"], funcs=ALL, mode="dev", processes="-quiet")
    assert not os.listdir(done.directory), os.listdir(done.directory)


# ---- the tree ---------------------------------------------------------------------------------------

def joined(traces):
    """All of them in one file, as `cat` makes it."""
    path = os.path.join(harness.fresh_directory(), "joined.pftrace")
    with open(path, "wb") as out:
        for t in traces:
            with open(t.path, "rb") as one:
                out.write(one.read())
    harness.check([path], joined=True)
    return harness.reader.Trace(path)


def arrows(trace):
    """(where it leaves, where it ends) of each arrow: tracks."""
    left = {flow: track for _, flow, ends, track in trace.arrows if not ends}
    return [(trace.tracks[left[flow]], trace.tracks[track]) for _, flow, ends, track in trace.arrows if ends]


def assert_named(trace, parent):
    process, execution = parent.process(), os.path.basename(os.path.dirname(parent.path))
    assert trace.attributes["pftshim.parent_pid"] == process["pid"], trace.attributes
    assert trace.attributes["pftshim.parent"] == process["process"], trace.attributes
    assert trace.attributes["pftshim.parent_execution"] == execution, trace.attributes
    assert "child of %s (%d)" % (process["process"], process["pid"]) in trace.process()["labels"], trace.process()


@test
def a_forked_child_names_its_parent_and_an_arrow_leads_to_it():
    traces = {t.process()["pid"]: t for t in same(["fork"], funcs=ALL).traces()}
    children = [t for t in traces.values() if t.attributes["pftshim.parent_pid"] in traces]
    assert len(children) == len(traces) - 1 == 5
    for child in children:
        assert_named(child, traces[child.attributes["pftshim.parent_pid"]])
    found = arrows(joined(traces.values()))
    assert sorted((a["pid"], b["pid"]) for a, b in found) == sorted(
        (t.attributes["pftshim.parent_pid"], t.process()["pid"]) for t in children), found
    assert all(a["tid"] == a["pid"] and b["tid"] == b["pid"] for a, b in found), found


# Way to come from another process -> how many do, besides the first; what lies between for a shell is its own.
WAYS = {"fork": 1, "_Fork": 1, "clone": 1, "chain": 5, "vfork": 1, "posix_spawn": 1, "system": 2, "popen": 2}


def comes_by(way):
    done = same(["lineage", way], funcs=ALL)
    traces = {t.process()["pid"]: t for t in by_process(done.traces())}
    children = [t for t in traces.values() if t.attributes["pftshim.parent_pid"] in traces]
    assert len(children) == WAYS[way] == len(traces) - 1 and executions_of(done) == 1, done.paths()
    for child in children:
        assert_named(child, traces[child.attributes["pftshim.parent_pid"]])
    for t in traces.values():
        assert t.count("leaf") == (t.process()["process"] == "lineage"), t.counts()
        assert_closed(t)
    found = arrows(joined(traces.values()))
    assert sorted((a["pid"], b["pid"]) for a, b in found) == sorted(
        (t.attributes["pftshim.parent_pid"], t.process()["pid"]) for t in children), found


for way in WAYS:
    def comes(way=way):
        comes_by(way)
    test(comes, "a process that comes by %s has a trace of its own, its parent and an arrow" % way)


@test
def a_child_that_starts_a_thread_before_all_else_has_a_place_for_both():
    traces = by_process(same(["lineage", "threaded"], funcs=ALL).traces())
    child = max(traces, key=lambda t: len(t.threads()))
    leaves = collections.Counter(child.thread_of(s)["tid"] for s in child.slices)
    assert sorted(leaves.values()) == [1, 2], leaves
    assert_closed(child)


@test
def what_is_executed_in_a_process_follows_in_the_same_execution():
    for way, calls in (("exec", 2), ("bare", 1)):
        done = same(["lineage", way], funcs=ALL)
        before, behind = sorted(done.traces(), key=lambda t: "pftshim.before_exec" in t.attributes)
        assert executions_of(done) == 1 and before.process()["pid"] == behind.process()["pid"]
        assert behind.attributes["pftshim.before_exec"] == "lineage"
        assert (before.count("leaf"), behind.count("leaf")) == (calls, 1), (before.counts(), behind.counts())
        found = arrows(joined((before, behind)))
        assert [(a["pid"], b["pid"]) for a, b in found] == [(before.process()["pid"],) * 2], found


@test
def an_arrow_leaves_from_the_thread_that_forks():
    traces = by_process(same(["fork_busy", 20], funcs=ALL).traces())
    parent = max(traces, key=lambda t: len(t.threads()))
    found = arrows(joined(traces))
    assert len({b["pid"] for _, b in found}) == len(found) == 20, found
    tids = {a["tid"] for a, _ in found}
    assert len(tids) == 1 and tids < set(parent.threads()) - {parent.process()["pid"]}, tids


@test
def programs_name_what_they_come_from_however_they_were_started():
    traces = same(["spawn"], funcs=ALL).traces()
    by_name = {t.process()["process"]: t for t in traces if "pftshim.parent" not in t.attributes}
    assert set(by_name) == {"spawn", "exe"}, "the first program, and what it executes at its end"
    assert by_name["exe"].attributes["pftshim.before_exec"] == "spawn"
    assert by_name["exe"].process()["pid"] == by_name["spawn"].process()["pid"]
    others = [t for t in traces if t not in by_name.values()]
    assert collections.Counter(t.attributes["pftshim.parent"] for t in others) == {"spawn": 5, "exe": 5}
    for t in others:
        assert_named(t, by_name[t.attributes["pftshim.parent"]])
    found = arrows(joined(traces))
    ends = {b["pid"] for _, b in found}
    assert len(found) == len(traces) - 1 and ends == {t.process()["pid"] for t in traces}, found


@test
def a_process_in_a_pid_namespace_tells_both_pids():
    for proc in ([], ["--mount-proc"]):
        done = same(["/usr/bin/unshare", "-pf"] + proc + [harness.program("calls"), 10], funcs=ALL)
        if done.status != 0:
            raise harness.NotApplicable("may not make a namespace")
        trace = next(t for t in done.traces() if t.process()["process"] == "calls")
        outer = trace.attributes["pftshim.outer_pid"]
        assert trace.process()["pid"] == 1 and outer > 1, trace.attributes
        assert "outside pid %d" % outer in trace.process()["labels"], trace.process()
        assert trace.attributes["pftshim.before_exec"] == "unshare"
