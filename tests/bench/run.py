#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what the shim costs and prints one table: run.py BUILD. Works from the repository's root.

The unit is the price of two clock reads, measured in the same run as what is compared with it: that is
what no recorder of begin and end can do without, and it makes numbers of different machines comparable.
Ends with status 1 when a bound is not held. PFT_BENCH_CALLS sets the length of the storm, whose trace
takes 26 bytes a call in TMPDIR.
"""
import collections
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 7
LIVES = 200
BUFFER_KIB = 64
STACK_DEPTHS = 0, 8, 32, 128  # frames beside those that main has
STORM_CALLS = int(os.environ.get("PFT_BENCH_CALLS", 50_000_000))
COMPRESS_CALLS = min(STORM_CALLS, 5_000_000)
MERGE_CALLS = min(STORM_CALLS, 8_000_000)

# What is promised.
LOST_MAX = 0
CALL_BYTES_MAX = 28
MEMORY_KIB_MAX = 3 * 1024

# `ns`: what the ratio to two clock reads is made of. `number` and `bound`: what is held against each other.
Row = collections.namedtuple("Row", "what measured ns number bound", defaults=(None, None, None))


class Bench:
    def __init__(self, build, directory):
        self.programs = os.path.join(build, "tests", "bench")
        self.shim = os.path.abspath(os.path.join(build, "libpftshim.so"))
        self.libraries = os.path.abspath(os.path.join(build, "tests", "programs"))
        self.directory = directory

    def merge(self, *paths):
        """How many seconds it took."""
        output = os.path.join(self.directory, "merged.pftrace")
        started = time.monotonic()
        subprocess.run([os.path.join(os.path.dirname(self.shim), "pft-merge"), "-o", output, *paths], check=True,
                       stderr=subprocess.DEVNULL)
        seconds = time.monotonic() - started
        os.unlink(output)
        return seconds

    def run(self, name, *argv, shim=False, **pft):
        """The numbers that a bench program prints."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "LD_"))}
        environment["LD_LIBRARY_PATH"] = self.libraries
        if shim:
            environment.update(LD_PRELOAD=self.shim, PFT_TRACE_DIR=self.directory, PFT_FUNCS="leaf")
            environment.update({"PFT_" + key.upper(): value for key, value in pft.items()})
        done = subprocess.run([os.path.join(self.programs, name)] + [str(a) for a in argv], env=environment,
                              stdout=subprocess.PIPE, text=True, check=True)
        return [float(word) for word in done.stdout.split()]

    def traced_size(self, *argv, **pft):
        """Bytes of what a program leaves."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "LD_"))}
        environment.update(LD_PRELOAD=self.shim, PFT_TRACE_DIR=self.directory,
                           **{"PFT_" + key.upper(): value for key, value in pft.items()})
        subprocess.run(argv, env=environment, check=True)
        size = sum(os.path.getsize(path) for path in self.traces())
        self.drop_traces()
        return size

    def traces(self):
        """Each once: `latest` is a second way to the newest."""
        found = glob.glob(os.path.join(self.directory, "executions", "*", "*.pftrace"))
        return {os.path.realpath(path) for path in found}

    def take_trace(self):
        """Size of the one trace that was written and its totals; it is removed."""
        path, = self.traces()
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            file.seek(max(size - 65536, 0))
            end = file.read()
        os.unlink(path)
        return size, {name: attribute(end, name) for name in ("produced", "written")}

    def drop_traces(self):
        for path in self.traces():
            os.unlink(path)


def attribute(end, name):
    """A number among the trace attributes at the end of a file: field 1 is the key, field 2 the value."""
    found = list(re.finditer(re.escape(b"pftshim." + name.encode()) + rb"\x10([\x80-\xff]*[\x00-\x7f])", end))
    if not found:
        raise SystemExit("no attribute pftshim.%s at the end of the trace" % name)
    return sum((byte & 127) << 7 * i for i, byte in enumerate(found[-1][1]))


# ---- what is measured -------------------------------------------------------------------------------

def calls(bench):
    """Bursts that fit into a ring. First of all rows: what two clock reads take."""
    plain, traced = [], []
    for _ in range(ROUNDS):
        plain.append(bench.run("calls"))
        traced.append(bench.run("calls", shim=True))
    bench.drop_traces()
    two_reads = statistics.median(reads for reads, _ in traced) / 1000
    call = (statistics.median(c for _, c in traced) - statistics.median(c for _, c in plain)) / 1000
    yield Row("two clock reads", "%.1f ns" % two_reads, two_reads)
    yield Row("a call, added (clock reads included)", "%.1f ns" % call, call)


def stacks(bench):
    """Calls by the depth of their stacks, which are known after the first: what a program does over and over."""
    for depth in STACK_DEPTHS:
        plain = statistics.median(bench.run("stacks", depth)[0] for _ in range(3))
        traced = statistics.median(bench.run("stacks", depth, shim=True, stacks="all")[0] for _ in range(3))
        bench.drop_traces()
        call = (traced - plain) / 1000
        yield Row("a call with its stack, %d deeper, added" % depth, "%.1f ns" % call, call)


def storm(bench):
    """Calls without a pause, waits for the flusher included."""
    if shutil.disk_usage(bench.directory).free < STORM_CALLS * CALL_BYTES_MAX:
        raise SystemExit("no room for the storm's trace in %s: set TMPDIR, or PFT_BENCH_CALLS to fewer than %d"
                         % (bench.directory, STORM_CALLS))
    plain, _ = bench.run("storm", STORM_CALLS)
    traced, _ = bench.run("storm", STORM_CALLS, shim=True, overflow="wait")
    size, totals = bench.take_trace()
    assert totals["produced"] >= 2 * STORM_CALLS, totals  # waiting for room is a slice as well
    added, lost, call_bytes = (traced - plain) / 1000, totals["produced"] - totals["written"], size / STORM_CALLS
    yield Row("a call in a storm of {:,}, added".format(STORM_CALLS), "%.1f ns" % added, added)
    yield Row("  events lost of {:,}".format(2 * STORM_CALLS), "%d" % lost, None, lost, LOST_MAX)
    yield Row("  a call in the trace file", "%.1f bytes" % call_bytes, None, call_bytes, CALL_BYTES_MAX)


def compression(bench):
    """What it saves of a real program's trace, and what it adds to the flusher's time in a storm."""
    sizes, flusher = {}, {}
    for way in "off", "deflate", "zstd":
        flusher[way] = bench.run("storm", COMPRESS_CALLS, shim=True, compress=way)[1]
        bench.drop_traces()
        sizes[way] = bench.traced_size("python3", "-c", "import decimal, json.tool, http.server", mode="dev",
                                       compress=way)
    for way in "deflate", "zstd":
        yield Row("the trace of a python3, by %s" % way, "1/%.1f" % (sizes["off"] / sizes[way]))
        yield Row("  the flusher's time, times", "%.1f" % (flusher[way] / flusher["off"]))


def merge(bench):
    bench.run("storm", MERGE_CALLS, shim=True)
    path, = bench.traces()
    again = shutil.copy(path, os.path.join(bench.directory, "again.pftrace"))
    bytes_ = 2 * os.path.getsize(path)
    yield Row("merging traces of a gigabyte", "%.1f s" % (bench.merge(path, again) * 1e9 / bytes_))
    os.unlink(again)
    bench.drop_traces()


def startup(bench):
    plain, off, user = bench.run("startup", bench.shim, bench.directory, LIVES)
    yield Row("/bin/true from start to end", "%.0f us" % (plain / 1000), plain)
    yield Row("  added with PFT_MODE=off", "%.0f us" % ((off - plain) / 1000), off - plain)
    yield Row("  added with PFT_MODE=user", "%.0f us" % ((user - plain) / 1000), user - plain)


def memory(bench):
    for threads in (1, 8):
        plain = statistics.median(bench.run("memory", threads)[0] for _ in range(3))
        traced = statistics.median(bench.run("memory", threads, shim=True, buffer="%dK" % BUFFER_KIB)[0]
                                   for _ in range(3))
        bench.drop_traces()
        kib = traced - plain - threads * BUFFER_KIB
        yield Row("memory beside the rings, %d thread%s" % (threads, "s" * (threads > 1)), "%.0f KiB" % kib, None,
                  kib, MEMORY_KIB_MAX)


# ---- what is printed --------------------------------------------------------------------------------

def say(row, unit_ns):
    ratio = "" if row.ns is None else ("{:,.2f}" if row.ns < 100 * unit_ns else "{:,.0f}").format(row.ns / unit_ns)
    over = "  OVER" if row.bound is not None and row.number > row.bound else ""
    bound = "" if row.bound is None else "%d" % row.bound
    print("{:<42} {:>11} {:>15} {:>8}{}".format(row.what, row.measured, ratio, bound, over).rstrip(), flush=True)
    return bool(over)


def main(build):
    unit_ns, over = None, False
    print("{:<42} {:>11} {:>15} {:>8}".format("", "measured", "two clock reads", "at most"))
    with tempfile.TemporaryDirectory(prefix="pft-bench-") as directory:
        bench = Bench(build, directory)
        for part in (calls, stacks, storm, compression, merge, startup, memory):
            for row in part(bench):
                unit_ns = unit_ns or row.ns
                over |= say(row, unit_ns)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
