# SPDX-License-Identifier: MIT
"""After a kill: what was recorded is in the trace once the session was recovered from."""
import collections
import glob
import os
import random
import signal
import struct
import subprocess
import sys
import time

import harness
import trace as reader
from harness import NotApplicable, fresh_directory, program, slow, test

RECOVER = os.path.join(harness.BUILD, "pft-recover")
FUNCS = "leaf,through*"
CYCLE = [(1, "through"), (1, "through_again"), (1, "through_third"), (-1, "through_third"), (1, "through_third"),
         (-1, "through_third"), (-1, "through_again"), (-1, "through")]
WAIT = "pftshim: ring full"


class Process:
    """A program under the shim that is about to be killed."""

    def __init__(self, *argv, **pft):
        if harness.bare:
            raise NotApplicable("runs without the shim")
        self.directory, self.side = fresh_directory(), fresh_directory()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "LD_"))}
        environment.update(LD_LIBRARY_PATH=harness.PROGRAMS, TEST_DIRECTORY=self.side, LD_PRELOAD=harness.SHIM,
                           **harness.settings("user", FUNCS, self.directory, pft))
        self.process = subprocess.Popen([program(argv[0])] + [str(a) for a in argv[1:]], env=environment,
                                        stderr=subprocess.PIPE, start_new_session=True)

    def counts(self):
        """[(tid, points, slow cycles)] of the threads that have begun."""
        try:
            with open(os.path.join(self.side, "counts"), "rb") as file:
                return [c for c in struct.iter_unpack("<QQQ40x", file.read()) if c[1]]
        except FileNotFoundError:
            return []

    def await_threads(self, threads):
        limit = time.monotonic() + 60
        while len(self.counts()) < threads:
            assert self.process.poll() is None and time.monotonic() < limit, "the program does not begin"
            time.sleep(0.001)

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def path(self):
        paths = glob.glob(os.path.join(glob.escape(self.directory), "executions", "*-*", "*.pftrace"))
        assert len(paths) == 1, paths
        return paths[0]

    def link(self):
        return self.path().replace(".pftrace", ".session")

    def session(self):
        return os.path.realpath(self.link())


def recover(*paths):
    done = subprocess.run([RECOVER] + list(paths), capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def recovered(process):
    """The trace of a killed process, whole."""
    session = process.session()
    assert os.path.exists(session), "there is no session to recover from"
    status, said = recover(process.directory)
    assert status == 0 and " recovered " in said, "status %d: %s" % (status, said)
    assert not os.path.exists(session) and not os.path.lexists(process.link()), "the session is still there"
    trace = reader.Trace(process.path())
    assert not trace.errors, trace.errors[:5]
    totals = trace.totals()
    assert totals["written"] + totals["filtered"] + totals["dropped"] == totals["produced"], totals
    return trace


def by_thread(trace):
    """tid -> (name -> begins, name -> ends, names of what is open from the outermost in)."""
    found = collections.defaultdict(lambda: (collections.Counter(), collections.Counter(), []))
    for s in trace.slices:
        begins, ends, still_open = found[trace.thread_of(s)["tid"]]
        begins[s.name] += 1
        if s.end is None:
            still_open.append(s.name)
        else:
            ends[s.name] += 1
    return found


def after(events, depth_max):
    """What a trace must hold after so many events of one thread: as by_thread."""
    begins, ends, stack = collections.Counter(), collections.Counter(), []
    for i, (step, name) in enumerate(CYCLE):
        times = events // 8 + (i < events % 8)
        level = sum(s for s, _ in CYCLE[:i + 1]) + (step < 0)
        if level <= depth_max:
            (begins if step > 0 else ends)[name] += times
        if i < events % 8:
            stack.append(name) if step > 0 else stack.pop()
    return begins, ends, stack[:depth_max]


def waits(trace):
    return sum(2 - (s.end is None) for s in trace.slices if s.name == WAIT)


def without_waits(found):
    begins, ends, still_open = found
    return ({n: c for n, c in begins.items() if n != WAIT}, {n: c for n, c in ends.items() if n != WAIT},
            [n for n in still_open if n != WAIT])


def assert_holds_all(process, trace, depth_max=500):
    """Every event up to the kill, once; of each thread's event in flight either way."""
    found, produced = by_thread(trace), 0
    for tid, points, _ in process.counts():
        wanted = [after(events, depth_max) for events in (points - 1, points)]
        got = without_waits(found[tid])
        assert got in wanted, "thread %d at point %d: %s, wanted %s" % (tid, points, got, wanted)
        produced += points
    totals = trace.totals()
    least = produced - len(process.counts())
    assert totals["dropped"] == 0 and least <= totals["produced"] - waits(trace) <= produced, (
        "%s, %d to %d were recorded" % (totals, least, produced))


def kill_at_random(threads, burst, **pft):
    process = Process("killed", threads, burst, **pft)
    process.await_threads(threads)
    time.sleep(random.uniform(0, 0.03))
    process.kill()
    return process


def assert_survives_a_kill():
    process = kill_at_random(3, 16)
    assert_holds_all(process, recovered(process))


def assert_survives_a_kill_with_tiny_rings():
    process = kill_at_random(3, 400, buffer="16K")
    assert_holds_all(process, recovered(process))


def assert_survives_a_kill_with_a_greatest_depth():
    process = kill_at_random(2, 400, buffer="16K", max_depth="2")
    trace = recovered(process)
    assert_holds_all(process, trace, depth_max=2)
    assert trace.totals()["filtered"] >= sum(points // 2 - 4 for _, points, _ in process.counts()), trace.totals()


def assert_survives_a_kill_with_a_shortest_duration():
    process = kill_at_random(2, 400, buffer="16K", min_duration="1ms")
    trace = recovered(process)
    short = [s for s in trace.slices if s.end is not None and s.end - s.begin < 1000000]
    assert not short, "%d slices of %s are too short" % (len(short), {s.name for s in short})
    slow = sum(c[2] for c in process.counts())
    assert trace.count("through") >= slow, "%d slices of %d slow calls" % (trace.count("through"), slow)
    totals, points = trace.totals(), sum(c[1] for c in process.counts())
    filtered_waits = totals["produced"] - points
    assert totals["dropped"] == 0 and filtered_waits >= -2, "%s, %d points" % (totals, points)


KILLS = [assert_survives_a_kill, assert_survives_a_kill_with_tiny_rings, assert_survives_a_kill_with_a_greatest_depth,
         assert_survives_a_kill_with_a_shortest_duration]


@test
def what_was_recorded_before_a_kill_is_recovered():
    for _ in range(10):
        for survives in KILLS:
            survives()


@slow
def what_was_recorded_before_each_of_a_thousand_kills_is_recovered():
    for _ in range(250):
        for survives in KILLS:
            survives()


if __name__ == "__main__":
    chosen = harness.slow_tests if "--slow" in sys.argv else harness.tests
    sys.exit(1 if harness.run_all(chosen, [w for w in sys.argv[1:] if not w.startswith("--")]) else 0)
