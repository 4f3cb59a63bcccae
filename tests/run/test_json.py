# SPDX-License-Identifier: MIT
"""Chrome trace JSON: strict, the same as the packets beside it, whole after a kill."""
import collections
import glob
import os
import shutil
import subprocess

import chrome
import harness
from harness import NotApplicable, assert_counts, same, test

LOST = "pftshim: events lost"
ALL = "leaf,outer,middle,inner,through*"


def json_paths(done):
    if harness.bare:
        raise NotApplicable("runs without the shim")
    found = glob.glob(os.path.join(glob.escape(done.directory), "executions", "*", "*.json"))
    return sorted(path for path in found if "/latest/" not in path)


def read(path):
    with open(path, "rb") as file:
        trace = chrome.Chrome(chrome.load(file.read()))
    assert not trace.errors, trace.errors[:5]
    return trace


def real_tid(trace, event):
    """Of the thread that a slice belongs to: a coroutine's track names it."""
    name = trace.threads.get((event["pid"], event["tid"]), "")
    return int(name.split(" of ")[1]) if name.startswith("coroutine ") else event["tid"]


def in_json(trace):
    return collections.Counter(
        (s["name"], s["ts"], s["dur"], s["depth"], s["parent"], real_tid(trace, s), s.get("cat"), str(s["args"]))
        for s in trace.slices)


def in_packets(trace):
    return collections.Counter(
        (s.name, s.begin, None if s.end is None else s.end - s.begin, s.depth, s.parent and s.parent.name,
         trace.thread_of(s)["tid"], s.category, str(s.args))
        for s in trace.slices)


def assert_agree(done):
    packets = done.traces()
    traces = [read(path) for path in json_paths(done)]
    assert len(traces) == len(packets), "%d files of JSON, %d of packets" % (len(traces), len(packets))
    for ours, theirs in zip(traces, packets):
        odd = (in_json(ours) - in_packets(theirs)) + (in_packets(theirs) - in_json(ours))
        assert not odd, "only in one of both: %s" % list(odd)[:4]
        assert sorted((i["name"], i["ts"]) for i in ours.instants if i["name"] != LOST) == sorted(
            (i.name, i.begin) for i in theirs.instants)
        numbers = {n: v for n, v in ours.other.items() if isinstance(v, int)}
        assert numbers == {n: v for n, v in theirs.attributes.items() if isinstance(v, int)}, numbers
        names = {tid: name for (_, tid), name in ours.threads.items()}
        assert all(names.get(tid) == name for tid, name in theirs.threads().items() if name), names


BOTH = {
    "a program": (["calls", 1000], {"mode": "dev"}),
    "threads": (["short_threads", 50], {}),
    "exceptions": (["throw"], {"mode": "dev"}),
    "longjmp": (["longjmp"], {"mode": "dev"}),
    "coroutines": (["coroutines"], {}),
    "children": (["fork"], {}),
    "programs that are started": (["spawn"], {"mode": "dev"}),
    "a short ring whose events are dropped": (["storm", 2, 20000], {"overflow": "drop", "buffer": "16K"}),
    "filters": (["calls", 1000], {"mode": "dev", "min_duration": "2us", "max_depth": "3"}),
}

for what, (argv, how) in BOTH.items():
    def agree(argv=argv, how=how):
        assert_agree(same(argv, funcs=ALL, format="pftrace,json", **how))
    test(agree, "both formats of one run agree: %s" % what)


@test
def json_is_written_alone():
    done = same(["calls", 1000], funcs="leaf", format="json")
    paths = json_paths(done)
    assert len(paths) == 1 and not done.paths(), "%s and %s" % (paths, done.paths())
    trace = read(paths[0])
    counts = collections.Counter(s["name"] for s in trace.slices)
    assert counts["leaf"] > 0 and 2 * sum(counts.values()) + len(trace.instants) >= trace.other["pftshim.written"] > 0
    left = [n for _, _, files in os.walk(done.directory) for n in files]
    assert left == [os.path.basename(paths[0])], left


@test
def json_of_a_program_that_is_replaced_is_whole():
    done = same(["/bin/sh", "-c", "exec /bin/true"], mode="dev", format="pftrace,json")
    assert_agree(done)
    assert any(s["dur"] is None and "exec" in s["name"] for p in json_paths(done) for s in read(p).slices)


@test
def json_of_a_killed_program_is_whole_up_to_its_last_write():
    until_written = '[ -z "$PFT_TRACE_DIR" ] || until [ -s "$PFT_TRACE_DIR"/executions/latest/sh.*.json ]; do :; done'
    done = same(["/bin/sh", "-c", until_written + "; kill -9 $$"], mode="dev", format="json")
    trace = read(json_paths(done)[0])
    assert trace.slices and "pftshim.produced" not in trace.other


@test
def json_goes_on_after_the_program_has_changed_its_root_or_identity():
    if os.geteuid() != 0:
        raise NotApplicable("only root can")
    for argv in (["chroot"], ["privileges"]):
        assert_agree(same(argv, funcs=ALL, format="pftrace,json"))


@test
def json_that_was_cut_anywhere_has_what_is_whole_before_the_cut():
    with open(json_paths(same(["calls", 3], funcs=ALL, format="json"))[0], "rb") as file:
        text = file.read()
    whole = chrome.load(text)["traceEvents"]
    for size in range(len(text)):
        events = chrome.mended(text[:size])["traceEvents"]
        assert events == whole[:len(events)] and len(events) >= text[:size].count(b"},\n{"), size


@test
def jq_reads_the_json():
    if not shutil.which("jq"):
        raise NotApplicable("jq is not installed")
    path = json_paths(same(["calls", 100], funcs=ALL, format="json"))[0]
    done = subprocess.run(["jq", "-e", '.displayTimeUnit == "ms" and (.traceEvents | length > 100)', path],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@test
def names_of_every_kind_reach_the_json():
    done = same(["names"], funcs="leaf", format="pftrace,json")
    assert_agree(done)
