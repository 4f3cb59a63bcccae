# SPDX-License-Identifier: MIT
"""Chrome trace JSON: strict, the same as the packets beside it, whole after a kill."""
import collections
import glob
import json
import os
import shutil
import subprocess

import chrome
import harness
from formats import in_json, in_packets, read
from harness import NotApplicable, fresh_directory, same, slow, test

LOST = "pftshim: events lost"
ALL = "leaf,outer,middle,inner,through*"


def json_paths(done):
    if harness.bare:
        raise NotApplicable("runs without the shim")
    found = glob.glob(os.path.join(glob.escape(done.directory), "executions", "*", "*.json"))
    return sorted(path for path in found if "/latest/" not in path)


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
def json_alone_of_a_program_that_is_replaced_leaves_no_session():
    done = same(["lineage", "exec"], funcs=ALL, format="json")
    assert len(json_paths(done)) == 2 and all("pftshim.produced" in read(path).other for path in json_paths(done))
    assert not glob.glob(os.path.join(done.directory, "executions", "*", "*.session"))


@test
def json_of_a_killed_program_is_whole_up_to_its_last_write():
    # Nobody writes when it is killed: it has slept.
    until_written = '[ -z "$PFT_TRACE_DIR" ] || until [ -s "$PFT_TRACE_DIR"/executions/latest/sh.*.json ]; do :; done'
    done = same(["/bin/sh", "-c", until_written + "; sleep 1; kill -9 $$"], mode="dev", format="json")
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


# ---- pft convert ------------------------------------------------------------------------------------

def convert(*argv):
    if harness.bare:
        raise NotApplicable("runs without the shim")
    return subprocess.run([os.path.join(harness.ROOT, "scripts", "pft"), "convert", *argv], capture_output=True,
                          text=True, env={**os.environ, "PFT_LIBRARY": harness.SHIM})


def assert_refuses(argv, words, status=2):
    done = convert(*argv)
    assert done.returncode == status and words in done.stderr and done.stderr.count("\n") == 1, (
        "status %d: %r" % (done.returncode, done.stderr))


def content(path):
    with open(path, "rb") as file:
        return file.read()


for what, (argv, how) in BOTH.items():
    def converts(argv=argv, how=how):
        done = same(argv, funcs=ALL, format="pftrace,json", **how)
        for packets, written in zip(done.paths(), json_paths(done)):
            output = packets + ".out"
            said = convert(packets, "-o", output)
            assert said.returncode == 0 and said.stderr == "pft: trace: %s\n" % output, said.stderr
            assert content(output) == content(written), "not what was written beside the packets: %s" % packets
    test(converts, "converting makes what would have been written: %s" % what)


@test
def convert_names_its_output_after_the_trace_and_replaces_none_unasked():
    path = same(["calls", 10], funcs=ALL).paths()[0]
    output = path[:-len(".pftrace")] + ".json"
    assert convert(path).returncode == 0
    before = content(output)
    read(output)
    with open(output, "w", encoding="utf-8") as file:
        file.write("mine")
    assert_refuses([path], "--force")
    assert content(output) == b"mine"
    assert convert("--force", path).returncode == 0
    assert content(output) == before


@test
def convert_refuses_in_one_line_what_is_no_trace_and_leaves_nothing():
    path = same(["calls", 10], funcs=ALL).paths()[0]
    whole = content(path)
    folder = fresh_directory()
    output = os.path.join(folder, "out.json")
    for bytes_, words in ((b"", "empty"), (b"{}", "no Perfetto trace"), (whole[:-1], "middle of a packet"),
                          (whole + b"x", "damaged")):
        trace = os.path.join(fresh_directory(), "bad.pftrace")
        with open(trace, "wb") as file:
            file.write(bytes_)
        assert_refuses([trace, "-o", output], words)
    assert_refuses([folder, "-o", output], "directory")
    assert_refuses(["/nonexistent", "-o", output], "No such file")
    assert_refuses(["--backwards", path], "no such option")
    assert_refuses([], "no trace is given")
    assert_refuses([path, path], "one trace at a time")
    assert_refuses([path, "-o", "/proc/nowhere/out.json"], "cannot be written", status=1)
    assert os.listdir(folder) == [], os.listdir(folder)


# ---- other people's programs ------------------------------------------------------------------------

SPEEDSCOPE = "1.25.0"


def speedscope_bundle(folder):
    if not (shutil.which("npm") and shutil.which("node")):
        raise NotApplicable("npm is not installed")
    if subprocess.run(["npm", "pack", "--silent", "speedscope@" + SPEEDSCOPE], cwd=folder,
                      capture_output=True, check=False).returncode != 0:
        raise NotApplicable("speedscope cannot be fetched")
    subprocess.run(["tar", "xzf", "speedscope-%s.tgz" % SPEEDSCOPE], cwd=folder, check=True)
    return glob.glob(os.path.join(folder, "package", "dist", "release", "speedscope-*.js"))[0]


@slow
def speedscope_shows_every_call():
    bundle = speedscope_bundle(fresh_directory())
    for argv in (["calls", 1000], ["coroutines"], ["short_threads", 20]):
        for path in json_paths(same(argv, mode="dev", funcs=ALL, format="json")):
            calls = collections.Counter(s["tid"] for s in read(path).slices)
            done = subprocess.run(["node", "tests/run/speedscope.js", bundle, path], capture_output=True, text=True)
            assert done.returncode == 0 and not done.stderr, done.stderr[:500]
            shown = [json.loads(line) for line in done.stdout.splitlines()]
            assert sorted(p["calls"] for p in shown) == sorted(calls.values()), shown
            assert all("(pid " in p["name"] and "(tid " in p["name"] for p in shown), shown
