#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what the shim costs and prints one table: run.py BUILD. Works from the repository's root.

The unit is the price of two clock reads, measured in the same run as what is compared with it: that is
what no recorder of begin and end can do without, and it makes numbers of different machines comparable.
PFT_BENCH_CALLS sets the length of the storm.
"""
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 7
BUFFER_KIB = 64
STORM_CALLS = int(os.environ.get("PFT_BENCH_CALLS", 50_000_000))


class Bench:
    def __init__(self, build, directory):
        self.programs = os.path.join(build, "tests", "bench")
        self.shim = os.path.abspath(os.path.join(build, "libpftshim.so"))
        self.libraries = os.path.abspath(os.path.join(build, "tests", "programs"))
        self.directory = directory

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
        return size, {name: attribute(end, name) for name in ("produced", "written", "dropped")}

    def drop_traces(self):
        for path in self.traces():
            os.unlink(path)


def attribute(end, name):
    """A number among the trace attributes at the end of a file: field 1 is the key, field 2 the value."""
    found = list(re.finditer(re.escape(b"pftshim." + name.encode()) + rb"\x10([\x80-\xff]*[\x00-\x7f])", end))
    if not found:
        raise SystemExit("no attribute pftshim.%s at the end of the trace" % name)
    return sum((byte & 127) << 7 * i for i, byte in enumerate(found[-1][1]))


def cost_of_a_call(bench):
    plain, traced = [], []
    for _ in range(ROUNDS):
        plain.append(bench.run("calls"))
        traced.append(bench.run("calls", shim=True))
    bench.drop_traces()
    two_reads = statistics.median(reads for reads, _ in traced)
    return two_reads / 1000, (statistics.median(c for _, c in traced) - statistics.median(c for _, c in plain)) / 1000


def storm(bench):
    added = bench.run("storm", STORM_CALLS, shim=True, overflow="wait")[0] - bench.run("storm", STORM_CALLS)[0]
    size, totals = bench.take_trace()
    assert totals["produced"] >= 2 * STORM_CALLS, totals  # waiting for room is a slice as well
    return added / 1000, totals["produced"] - totals["written"], size / STORM_CALLS


def memory(bench, threads):
    plain = statistics.median(bench.run("memory", threads)[0] for _ in range(3))
    traced = statistics.median(bench.run("memory", threads, shim=True, buffer="%dK" % BUFFER_KIB)[0] for _ in range(3))
    bench.drop_traces()
    return traced - plain - threads * BUFFER_KIB


def main(build):
    with tempfile.TemporaryDirectory(prefix="pft-bench-") as directory:
        bench = Bench(build, directory)
        unit, call = cost_of_a_call(bench)
        sustained, lost, size = storm(bench)
        plain, off, user = bench.run("startup", bench.shim, directory, 200)
        rows = [
            ("two clock reads", "%.1f ns" % unit, 1),
            ("a call, added", "%.1f ns" % call, call / unit),
            ("a call in a storm, added", "%.1f ns" % sustained, sustained / unit),
            ("events lost of %d" % (2 * STORM_CALLS), "%d" % lost, None),
            ("a call in the trace", "%.1f bytes" % size, None),
            ("start and end of /bin/true", "%.0f us" % (plain / 1000), plain / unit),
            ("  added by mode off", "%.0f us" % ((off - plain) / 1000), (off - plain) / unit),
            ("  added by mode user", "%.0f us" % ((user - plain) / 1000), (user - plain) / unit),
            ("memory beside rings, 1 thread", "%.0f KiB" % memory(bench, 1), None),
            ("memory beside rings, 8 threads", "%.0f KiB" % memory(bench, 8), None),
        ]
    print("%-32s %14s %22s" % ("", "", "in two clock reads"))
    for what, value, ratio in rows:
        print("%-32s %14s %22s" % (what, value, "" if ratio is None else "%.2f" % ratio))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
