# SPDX-License-Identifier: MIT
"""Traces that are written compressed: PFT_COMPRESS. They hold what they would hold without."""
import os
import subprocess

import harness
from harness import NotApplicable, Prompted, same, test
from test_ctl import ctl
from test_segments import assert_counts_add_up, assert_holds, segments

ALL = "leaf,outer,middle,inner,through"
WAYS = "deflate", "zstd"


def assert_is_compressed(trace):
    assert trace.compressed, "%s: nothing in it is compressed" % trace.path
    return trace


@test
def compressed_traces_hold_every_call():
    for way in WAYS:
        trace = assert_is_compressed(same(["calls", 10000], funcs=ALL, compress=way, buffer="4M").trace())
        assert trace.counts() == {"leaf": 10000, "outer": 10000, "middle": 10000, "inner": 10000}, trace.counts()
        assert not trace.open() and not trace.dropped, len(trace.open())
        plain = same(["calls", 10000], funcs=ALL).trace()
        assert not plain.compressed
        assert 4 * os.path.getsize(trace.path) < os.path.getsize(plain.path), os.path.getsize(trace.path)


@test
def compressed_traces_hold_coroutines_throws_stacks_and_forks():
    for way in WAYS:
        for argv, pft in ((["coroutines", 300], {}), (["throw"], {"mode": "dev"}), (["fork_busy", 2], {}),
                          (["stacks", "threads", 200], {"stacks": "all"}), (["short_threads"], {"mode": "dev"})):
            for trace in same(argv, funcs=ALL, compress=way, **pft).traces():
                assert trace.totals()["dropped"] == 0, trace.totals()


@test
def compressed_traces_hold_what_gaps_leave():
    for way in WAYS:
        outcome = same(["calls", 30000], funcs=ALL, compress=way, overflow="drop", buffer="16K")
        trace = assert_is_compressed(outcome.trace())
        totals = trace.totals()
        assert totals["dropped"] == trace.dropped and totals["produced"] == 240000, (totals, trace.dropped)


@test
def compressed_segments_hold_every_call_once():
    for way in WAYS:
        traces = segments(same(["calls", 40000], funcs=ALL, max_size="64K", compress=way))
        assert all(assert_is_compressed(t) for t in traces)
        assert_holds(traces, leaf=40000, outer=40000, middle=40000, inner=40000)
        assert_counts_add_up(traces)


@test
def a_compressed_trace_is_whole_after_a_flush():
    for way in WAYS:
        program = Prompted(funcs=ALL, compress=way)
        program.do("leaf 4000")
        ctl(program.pid, "flush")
        trace = assert_is_compressed(program.outcome().trace())
        assert trace.count("leaf") == 4000, trace.counts()
        program.end()


# ---- the commands -----------------------------------------------------------------------------------

def pft(*argv):
    done = subprocess.run([os.path.join(harness.ROOT, "scripts", "pft"), *argv], capture_output=True, text=True)
    assert done.returncode == 0, (argv, done.stderr)
    return done.stdout


@test
def the_commands_read_compressed_traces():
    if harness.bare:
        raise NotApplicable("runs without the shim")
    for way in WAYS:
        outcome = same(["calls", 3000], funcs=ALL, compress=way, buffer="4M")
        path = assert_is_compressed(outcome.trace()).path
        said = pft("report", path)
        assert "12,000 calls in 1 thread" in said, said
        said = pft("ls", os.path.dirname(path))
        assert " 24,0" in said, said
        output = os.path.join(harness.fresh_directory(), "out")
        pft("merge", "-o", output, path)
        merged = harness.reader.Trace(output)
        assert merged.count("leaf") == 3000 and not merged.compressed and not merged.errors, merged.errors
        pft("convert", "-o", output + ".json", path)
        with open(output + ".json", encoding="utf-8") as file:
            assert file.read().count('"name":"leaf"') == 3000


@test
def a_compressed_trace_that_is_cut_is_cut_back_to_a_whole_block():
    for way in WAYS:
        path = same(["calls", 20000], funcs=ALL, compress=way).trace().path
        with open(path, "rb") as file:
            whole = file.read()
        for cut in range(len(whole) - 1, len(whole) // 2, -(len(whole) // 37)):
            with open(path, "wb") as file:
                file.write(whole[:cut])
            pft("recover", path)
            trace = harness.reader.Trace(path)
            assert not trace.errors and os.path.getsize(path) <= cut, (cut, trace.errors)
            assert trace.compressed
