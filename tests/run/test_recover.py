# SPDX-License-Identifier: MIT
"""After a kill: what was recorded is in the trace once the session was recovered from."""
import bisect
import collections
import glob
import os
import random
import signal
import struct
import subprocess
import sys
import time

import formats
import harness
import trace as reader
from harness import NotApplicable, fresh_directory, program, slow, test

RECOVER = os.path.join(harness.BUILD, "pft-recover")
FUNCS = "leaf,through*"
CYCLE = [(1, "through"), (1, "through_again"), (1, "through_third"), (-1, "through_third"), (1, "through_third"),
         (-1, "through_third"), (-1, "through_again"), (-1, "through")]
WAIT = "pftshim: ring full"


class Process:
    """A program under the shim that is about to be killed. `directory`: where its trace goes."""

    def __init__(self, *argv, directory=None, **pft):
        if harness.bare:
            raise NotApplicable("runs without the shim")
        self.directory, self.side = directory or fresh_directory(), fresh_directory()
        self.ending = ".json" if pft.get("format") == "json" else ".pftrace"
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

    def paths(self):
        name = "*.%d*%s" % (self.process.pid, self.ending)
        return glob.glob(os.path.join(glob.escape(self.directory), "executions", "*-*", name))

    def path(self):
        paths = self.paths()
        assert len(paths) == 1, paths
        return paths[0]

    def link(self):
        return self.path().replace(self.ending, ".session")

    def session(self):
        return os.path.realpath(self.link())


def recover(*paths):
    done = subprocess.run([RECOVER] + list(paths), capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def is_sample():
    """One in ten: what takes long is done to these."""
    return random.random() < 0.1


def whole(process):
    """The trace of a killed process that has been recovered."""
    trace = reader.Trace(process.path())
    assert not trace.errors, trace.errors[:5]
    harness.assert_is_complete(trace)
    assert trace.totals(), "it says no totals"
    if is_sample():
        harness.check([process.path()])
    return trace


def recover_whole(process):
    session = process.session()
    assert os.path.exists(session), "there is no session to recover from"
    status, said = recover(process.directory)
    assert status == 0 and " recovered " in said, "status %d: %s" % (status, said)
    assert not os.path.exists(session) and not os.path.lexists(process.link()), "the session is still there"


def recovered(process):
    recover_whole(process)
    return whole(process)


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
        if level <= depth_max and times:
            (begins if step > 0 else ends)[name] += times
        if i < events % 8:
            stack.append(name) if step > 0 else stack.pop()
    return +begins, +ends, stack[:depth_max]  # without those that there are none of


def events_of_waits(found):
    return sum(begins[WAIT] + ends[WAIT] for begins, ends, _ in found.values())


def without_waits(found):
    begins, ends, still_open = found
    return ({n: c for n, c in begins.items() if n != WAIT}, {n: c for n, c in ends.items() if n != WAIT},
            [n for n in still_open if n != WAIT])


def assert_holds_all(process, trace, depth_max=500):
    """Every event up to the kill, once; of each thread's event in flight either way."""
    assert_is_all(process, by_thread(trace), trace.totals(), depth_max)


def assert_is_all(process, found, totals, depth_max=500):
    produced = 0
    for tid, points, _ in process.counts():
        wanted = [after(events, depth_max) for events in (points - 1, points)]
        got = without_waits(found[tid])
        assert got in wanted, "thread %d at point %d: %s, wanted %s" % (tid, points, got, wanted)
        produced += points
    least = produced - len(process.counts())
    assert totals["dropped"] == 0 and least <= totals["produced"] - events_of_waits(found) <= produced, (
        "%s, %d to %d were recorded" % (totals, least, produced))


def kill_at_random(threads, burst, *end, within_s=0.03, **pft):
    process = Process("killed", threads, burst, *end, **pft)
    process.await_threads(threads)
    time.sleep(random.uniform(0, within_s))
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
    slow = sum(c[2] for c in process.counts())
    assert trace.count("through") >= slow, "%d slices of %d slow calls" % (trace.count("through"), slow)
    totals, points = trace.totals(), sum(c[1] for c in process.counts())
    assert totals["dropped"] == 0 and totals["produced"] >= points - 2, "%s, %d points" % (totals, points)
    assert totals["filtered"] >= totals["written"], "%s: most calls are short" % totals
    short = [(s.name, s.end - s.begin) for s in trace.slices if s.end is not None and s.end - s.begin < 1000000]
    assert all(name == WAIT for name, _ in short), short[:5]


def assert_survives_a_kill_with_stacks():
    process = kill_at_random(2, 16, stacks="all")
    trace = recovered(process)
    assert_holds_all(process, trace)
    lacking = [s.name for s in trace.slices if s.name != WAIT and not s.stack]
    assert not lacking, "%d slices of %d have no stack" % (len(lacking), len(trace.slices))


def assert_survives_a_kill_with_compression():
    for way in "deflate", "zstd":
        process = kill_at_random(3, 400, buffer="16K", compress=way)
        trace = recovered(process)
        assert_holds_all(process, trace)
        assert trace.compressed, "nothing is compressed"


def assert_survives_a_kill_on_other_stacks():
    process = kill_at_random(3, 100, "coroutines", buffer="16K")
    trace = recovered(process)
    assert_holds_all(process, trace)
    assert all("tid" not in trace.tracks[s.track] for s in trace.slices if s.name != WAIT)


# ---- JSON -------------------------------------------------------------------------------------------

def json_by_thread(trace):
    """As by_thread."""
    found = collections.defaultdict(lambda: (collections.Counter(), collections.Counter(), []))
    for s in sorted(trace.slices, key=lambda s: s["depth"]):
        begins, ends, still_open = found[formats.real_tid(trace, s)]
        begins[s["name"]] += 1
        if s["dur"] is None:
            still_open.append(s["name"])
        else:
            ends[s["name"]] += 1
    return found


def assert_json_holds_all(process, path):
    trace = formats.read(path)
    totals = {n: trace.other["pftshim." + n] for n in ("produced", "written", "filtered", "dropped")}
    assert totals["produced"] == totals["written"] + totals["filtered"] + totals["dropped"], totals
    assert_is_all(process, json_by_thread(trace), totals)
    return trace


def assert_survives_a_kill_as_json_alone():
    for end in ("", "coroutines"):
        process = kill_at_random(2, 100, end, buffer="16K", format="json")
        recover_whole(process)
        assert_json_holds_all(process, process.path())


def assert_survives_a_kill_as_packets_and_json():
    for end in ("", "coroutines"):
        process = kill_at_random(2, 100, end, buffer="16K", format="pftrace,json")
        trace = recovered(process)
        assert_holds_all(process, trace)
        json = assert_json_holds_all(process, process.path().replace(".pftrace", ".json"))
        odd = formats.in_json(json) - formats.in_packets(trace)
        assert not odd and len(json.slices) == len(trace.slices), "only in the JSON: %s" % list(odd)[:4]


# ---- losses -----------------------------------------------------------------------------------------

CALLERS = {"through": {None}, "through_again": {None, "through"}, "through_third": {None, "through_again"}}


def pieces(trace, track):
    """The events of a thread between its gaps: lists of (1 or -1, name). A slice that ends at a gap was cut off."""
    gaps = sorted(ns for ns, _, of in trace.losses if of == track)
    found, stack = [[] for _ in range(len(gaps) + 1)], []

    def leave(until):
        while stack and stack[-1] is not until:
            s = stack.pop()
            if s.end is not None and s.end not in gaps:
                found[bisect.bisect_left(gaps, s.end)].append((-1, s.name))

    for s in (s for s in trace.slices if s.track == track):
        leave(s.parent)
        found[bisect.bisect_right(gaps, s.begin)].append((1, s.name))
        stack.append(s)
    leave(None)
    return found


def is_piece_from(events, at):
    """Whether a thread that goes on at that place of the cycle makes these. What was open there ends unseen. At the
    end of a piece begins may be lost already, of which the next gap tells."""
    unseen, visible = sum(step for step, _ in CYCLE[:at]), 0
    for i, event in enumerate(events):
        while CYCLE[at % 8][0] < 0 and not visible and unseen:
            unseen, at = unseen - 1, at + 1
        if event != CYCLE[at % 8]:
            return all(step < 0 for step, _ in events[i:])
        visible, at = visible + event[0], at + 1
    return True


def assert_marks_losses_where_they_were(trace):
    for track in {s.track for s in trace.slices}:
        for events in pieces(trace, track):
            assert any(is_piece_from(events, at) for at in range(8)), "lost in between, unmarked: %s" % events[:40]


def assert_counts_losses(process, trace):
    """A dropped begin counts for its end as well, which may not have come: one a level."""
    points, threads = sum(c[1] for c in process.counts()), len(process.counts())
    produced = trace.totals()["produced"]
    assert points - threads <= produced <= points + 3 * threads, "%s, %d points" % (trace.totals(), points)
    for s in trace.slices:
        assert (s.parent and s.parent.name) in CALLERS[s.name], "%s in %s" % (s.name, s.parent.name)
    assert trace.dropped <= trace.totals()["dropped"], "more losses are marked than there were"
    assert_marks_losses_where_they_were(trace)
    assert bool(trace.gaps) == bool(trace.totals()["dropped"]), (trace.gaps, trace.totals())


def assert_survives_a_kill_while_events_are_dropped():
    process = kill_at_random(2, 0, within_s=0.003, buffer="16K", overflow="drop")
    assert_counts_losses(process, recovered(process))


def assert_survives_a_kill_while_the_oldest_are_overwritten():
    process = kill_at_random(2, 100, buffer="16K", overflow="overwrite")
    trace = recovered(process)
    assert_counts_losses(process, trace)
    found = by_thread(trace)
    for tid, points, _ in process.counts():
        begins, ends, still_open = found[tid]
        least = min(points, 1024 - 64) // 8 - 1  # cycles that a ring holds
        assert ends["through"] >= least, "thread %d at point %d: %s" % (tid, points, ends)
        assert still_open in [after(events, 500)[2] for events in (points - 1, points)], (points, still_open)


# ---- a window ---------------------------------------------------------------------------------------

CTL = os.path.join(harness.BUILD, "pft-ctl")


def ctl(process, command):
    done = subprocess.run([CTL, str(process.process.pid), command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def assert_survives_a_kill_in_a_pause():
    process = Process("killed", 2, 16)
    process.await_threads(2)
    time.sleep(random.uniform(0, 0.03))
    ctl(process, "stop")
    time.sleep(random.uniform(0, 0.01))
    process.kill()
    trace = recovered(process)
    assert not trace.open(), "the window closed them: %s" % [s.name for s in trace.open()]
    for tid, points, _ in process.counts():
        begins = without_waits(by_thread(trace)[tid])[0]
        around = 2 * sum(begins.values())
        assert around <= points + 3 and any(collections.Counter(begins) == after(n, 500)[0] for n in range(max(around - 8, 0), around + 9)), (
            "no number of events makes %s" % begins)


def assert_survives_a_kill_behind_a_pause():
    process = Process("killed", 2, 16)
    process.await_threads(2)
    for command in ("stop", "start"):
        ctl(process, command)
        time.sleep(random.uniform(0, 0.03))
    process.kill()
    trace = recovered(process)
    assert trace.totals()["dropped"] == 0, trace.totals()
    assert all((s.parent and s.parent.name) in CALLERS[s.name] for s in trace.slices if s.name != WAIT)


KILLS = [assert_survives_a_kill, assert_survives_a_kill_with_tiny_rings, assert_survives_a_kill_with_a_greatest_depth,
         assert_survives_a_kill_with_a_shortest_duration, assert_survives_a_kill_with_stacks, assert_survives_a_kill_with_compression,
         assert_survives_a_kill_on_other_stacks, assert_survives_a_kill_as_json_alone,
         assert_survives_a_kill_as_packets_and_json, assert_survives_a_kill_while_events_are_dropped,
         assert_survives_a_kill_while_the_oldest_are_overwritten, assert_survives_a_kill_in_a_pause,
         assert_survives_a_kill_behind_a_pause]


@test
def what_was_recorded_before_a_kill_is_recovered():
    for _ in range(10):
        for survives in KILLS:
            survives()


@test
def what_was_recorded_before_many_kills_at_once_is_recovered_at_once():
    directory = fresh_directory()
    processes = [Process("killed", 2, 100, directory=directory, execution_id="of-all-1", buffer="16K") for _ in range(8)]
    for process in processes:
        process.await_threads(2)
    for process in processes:
        process.kill()
    status, said = recover(directory)
    assert status == 0 and said.count(" recovered ") == len(processes), "status %d: %s" % (status, said)
    for process in processes:
        assert_holds_all(process, whole(process))
        assert not os.path.lexists(process.link())
    assert recover(directory) == (0, "")


@slow
def what_was_recorded_before_each_of_a_thousand_kills_is_recovered():
    for _ in range(1000 // len(KILLS)):
        for survives in KILLS:
            survives()


# ---- segments ---------------------------------------------------------------------------------------

class Segments:
    """The segments of a recovered trace as one: what assert_holds_all asks of a trace."""

    def __init__(self, paths):
        traces = sorted((reader.Trace(path) for path in paths), key=lambda t: t.attributes["pftshim.segment"])
        numbers = [t.attributes["pftshim.segment"] for t in traces]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers
        for trace in traces:
            assert not trace.errors, (trace.path, trace.errors[:5])
        self.last, self.removed = traces[-1], numbers[0] - 1
        self._thread_of = {id(s): t.thread_of(s) for t in traces for s in t.slices}
        # A slice that goes on is begun again: the last one shows whether it has ended.
        self.slices = [s for t in traces for s in t.slices if s.end is not None or t is self.last]
        self._made = sum(2 - (s.end is None) - ("continued_ns" in s.args) for t in traces for s in t.slices)

    def thread_of(self, event):
        return self._thread_of[id(event)]

    def totals(self):
        totals = self.last.totals()
        assert totals["produced"] == totals["written"] + totals["filtered"] + totals["dropped"], totals
        assert totals["written"] == self._made + self.last.attributes["pftshim.events_removed"], (totals, self._made)
        return totals


def kill_among_segments(**pft):
    process = Process("killed", 3, 400, buffer="16K", **pft)
    process.await_threads(3)
    time.sleep(random.uniform(0, 0.3))
    process.kill()
    return process


def recovered_segments(process):
    link = os.path.join(os.path.dirname(process.paths()[0]), "killed.%d.session" % process.process.pid)
    session = os.path.realpath(link)
    status, said = recover(process.directory)
    assert status == 0 and said.count(" recovered ") == 1, "status %d: %s" % (status, said)
    assert not os.path.exists(session) and not os.path.lexists(link), "the session is still there"
    before = {path: content(path) for path in process.paths()}
    assert recover(process.directory) == (0, ""), "the second time something is done"
    assert {path: content(path) for path in process.paths()} == before
    return Segments(process.paths())


@test
def what_was_recorded_before_a_kill_among_segments_is_recovered():
    several = 0
    for _ in range(10):
        process = kill_among_segments(max_size="64K")
        trace = recovered_segments(process)
        several += trace.last.attributes["pftshim.segment"] > 1
        assert trace.removed == 0
        assert_holds_all(process, trace)
    assert several, "each was killed in its first segment"


@test
def what_is_kept_of_the_segments_at_a_kill_is_recovered():
    removed = 0
    for _ in range(10):
        process = kill_among_segments(max_size="64K,2", format="pftrace,json")
        trace = recovered_segments(process)
        removed += trace.removed
        recorded = sum(points for _, points, _ in process.counts())
        assert trace.totals()["dropped"] == 0 and trace.totals()["produced"] >= recorded - 3, (trace.totals(), recorded)
        jsons = [formats.read(path.replace(".pftrace", ".json")) for path in process.paths()]
        assert all("pftshim.produced" in json.other for json in jsons), [json.other for json in jsons]
    assert removed, "none was killed after the first segment had gone"


@test
def what_was_recorded_compressed_before_a_kill_among_segments_is_recovered():
    for way in "deflate", "zstd":
        process = kill_among_segments(max_size="64K", compress=way)
        assert_holds_all(process, recovered_segments(process))


@test
def each_segment_leads_to_the_session():
    for pick in (0, -1):
        process = kill_among_segments(max_size="64K")
        path = sorted(process.paths(), key=lambda p: (len(p), p))[pick]
        status, said = recover(path)
        assert status == 0 and " recovered " in said, (path, said)
        assert_holds_all(process, Segments(process.paths()))


# ---- ends that nobody announces ---------------------------------------------------------------------

def ends_by(way, **pft):
    process = Process("exits", way, **pft)
    process.process.communicate(timeout=60)
    trace = recovered(process)
    left = collections.Counter(s.name for s in trace.open())
    assert trace.count("leaf") == 1 and left == {"through": 1, "through_again": 1}, (trace.counts(), left)
    assert trace.totals()["produced"] == 4, trace.totals()


for way in ("segv", "abort", "term", "kill"):
    def ends(way=way):
        ends_by(way)
    test(ends, "what was recorded before the end by %s is recovered" % way)

    def flight_ends(way=way):
        ends_by(way, overflow="overwrite", buffer="16K")
    test(flight_ends, "what the rings held at the end by %s is recovered" % way)


@test
def what_was_recorded_is_there_when_a_thread_or_a_handler_ends_the_process():
    for way in ("exit", "_exit"):
        process = Process("killed", 3, 16, way)
        process.process.communicate(timeout=60)
        trace = reader.Trace(process.path())
        assert not trace.errors and not os.path.lexists(process.link()), (way, trace.errors[:5])
        found = by_thread(trace)
        for tid, points, _ in process.counts():
            begins, ends, still_open = without_waits(found[tid])
            events = sum(begins.values()) + sum(ends.values())
            assert events <= points, "%s: thread %d recorded %d of %d" % (way, tid, events, points)
            assert (begins, ends, still_open) == after(events, 500), "%s: %s %s %s" % (way, begins, ends, still_open)


# ---- once, and only what is dead --------------------------------------------------------------------

def content(path, most=-1):
    with open(path, "rb") as file:
        return file.read(most)


def trace_with_losses(**how):
    """Of threads that call faster than is written; on a busy machine that may take a few tries."""
    for _ in range(30):
        process = Process("killed", 3, 0, "exit", buffer="16K", **how)
        process.process.communicate(timeout=60)
        harness.check([process.path()])
        trace = reader.Trace(process.path())
        if trace.gaps:
            return trace
    raise AssertionError("nothing was lost")


@test
def losses_are_marked_where_they_were():
    for how in ("drop", "overwrite"):
        trace = trace_with_losses(overflow=how)
        assert trace.totals()["dropped"] >= trace.dropped > 0, (trace.totals(), trace.dropped)
        assert_marks_losses_where_they_were(trace)


@test
def to_recover_twice_changes_nothing():
    process = kill_at_random(2, 16)
    recovered(process)
    before = content(process.path())
    assert recover(process.directory) == (0, "") and recover(process.path()) == (0, "")
    assert content(process.path()) == before


class Corpse:
    """What a killed process left, to be put back as often as one likes."""

    def __init__(self, process):
        self.trace, self.link, self.session = process.path(), process.link(), process.session()
        self.files = glob.glob(glob.escape(self.link[:-len(".session")]) + ".[pj]*")
        self.kept = [(path, os.path.join(fresh_directory(), "kept")) for path in self.files + [self.session]]
        for path, kept in self.kept:
            self.copy(path, kept)

    @staticmethod
    def copy(path, to):
        """Most of a session is holes."""
        subprocess.run(["cp", "--sparse=always", path, to], check=True)

    def put_back(self):
        for path, kept in self.kept:
            self.copy(kept, path)
        if not os.path.lexists(self.link):
            os.symlink(self.session, self.link)


def assert_survives_its_own_kill(process, kills):
    corpse = Corpse(process)
    recover_whole(process)
    whole_ = [content(path) for path in corpse.files]
    for _ in range(kills):
        corpse.put_back()
        recovering = subprocess.Popen([RECOVER, corpse.trace], stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, 0.02))
        recovering.kill()
        recovering.wait()
        status, said = recover(corpse.trace)
        if os.path.lexists(corpse.session):  # it was killed when only this was left to do
            status, said = recover(corpse.session)
        assert status == 0, said
        assert [content(path) for path in corpse.files] == whole_, "the trace is another one"
        assert not os.path.lexists(corpse.link) and not os.path.lexists(corpse.session)


@test
def to_recover_json_twice_changes_nothing():
    process = kill_at_random(2, 16, format="json")
    recover_whole(process)
    before = content(process.path())
    assert recover(process.directory) == (0, "") and recover(process.path()) == (0, "")
    assert content(process.path()) == before
    junk = os.path.join(fresh_directory(), "junk.json")
    with open(junk, "wb") as file:
        file.write(b"hello")
    told(junk, 2, "is no trace")


@test
def recovering_json_may_be_killed_and_done_again():
    for format_ in ("json", "pftrace,json"):
        process = Process("killed", 2, 400, buffer="16K", format=format_)
        process.await_threads(2)
        time.sleep(0.2)
        process.kill()
        assert_survives_its_own_kill(process, 15)


@test
def json_is_recovered_by_its_link_and_by_its_session():
    for path in (Process.link, Process.session, Process.path):
        process = kill_at_random(1, 16, format="json")
        status, said = recover(path(process))
        assert status == 0 and " recovered " in said, (status, said)
        assert_json_holds_all(process, process.path())


@test
def recovering_may_be_killed_and_done_again():
    process = Process("killed", 2, 400, buffer="16K")
    process.await_threads(2)
    time.sleep(0.2)  # for a commit: before the first, times are not exact
    process.kill()
    assert_survives_its_own_kill(process, 30)


@test
def what_still_runs_is_left_alone():
    process = Process("killed", 2, 16)
    process.await_threads(2)
    status, said = recover(process.path())
    assert status == 1 and said.count("\n") == 1 and "its process still runs" in said, (status, said)
    assert recover(process.session())[0] == 1
    assert recover(process.directory) == (0, "")
    process.kill()
    assert_holds_all(process, recovered(process))


@test
def a_link_to_the_session_of_another_trace_is_not_followed():
    process, other = kill_at_random(1, 16), kill_at_random(1, 16)
    session = process.session()
    os.unlink(process.link())
    os.symlink(other.session(), process.link())
    status, said = recover(process.path())
    assert status == 1 and "its session is gone" in said, (status, said)
    assert_holds_all(other, recovered(other))
    assert recover(session)[0] == 0 and not os.path.exists(session)


@test
def a_session_that_is_gone_is_told():
    process = kill_at_random(1, 16)
    os.unlink(process.session())
    status, said = recover(process.directory)
    assert status == 1 and "its session is gone" in said, (status, said)


@test
def what_is_neither_trace_nor_session_is_refused():
    process = kill_at_random(1, 16)
    junk, session = os.path.join(fresh_directory(), "junk"), content(process.session(), 9000)
    for bytes_ in (b"", b"hello", bytes(100000), session[:5000], b"x" + session[1:]):
        for path in (junk, junk + ".pftrace"):
            with open(path, "wb") as file:
                file.write(bytes_)
            if path == junk or bytes_:
                assert recover(path)[0] == 2, (path, bytes_[:10])
                assert content(path) == bytes_, "it was changed"
    assert recover(junk + ".nothing")[0] == 2
    assert_holds_all(process, recovered(process))


def told(path, status, words, **how):
    """What `pft recover` says of the path: one line that names it."""
    done = subprocess.run([RECOVER, path], capture_output=True, text=True, timeout=60, **how)
    assert done.returncode == status, "%s: status %d: %s" % (path, done.returncode, done.stderr)
    assert done.stderr.count("\n") == 1 and words in done.stderr and path in done.stderr, done.stderr


def changed_copy(path, at, bytes_):
    copy = os.path.join(fresh_directory(), "pftshim.copy")
    Corpse.copy(path, copy)
    with open(copy, "r+b") as file:
        file.seek(at)
        file.write(bytes_)
    return copy


@test
def a_session_that_cannot_be_used_is_told_in_one_line():
    process = kill_at_random(1, 16)
    session = process.session()
    told(changed_copy(session, 8, b"\x01\0\0\0"), 2, "another version of pftshim")
    told(changed_copy(session, 0, b"X"), 2, "is no session")
    told(changed_copy(session, 24, b"\xff" * 200), 2, "damaged session")
    for size in (0, 100, 8000):
        cut = changed_copy(session, 0, b"")
        os.truncate(cut, size)
        told(cut, 2, "is no session" if size < 8000 else "session")
    cut = changed_copy(session, 0, b"")
    os.truncate(cut, os.path.getsize(cut) - 4096)
    told(cut, 2, "the file has been cut")
    elsewhere = os.path.join(fresh_directory(), "pftshim.link")
    os.symlink(session, elsewhere)
    told(elsewhere, 1, "symbolic links")
    told("/nowhere/at-all", 2, "No such file")
    told("/dev/null", 1, "Invalid argument")
    assert_holds_all(process, recovered(process))


@test
def a_link_that_leads_elsewhere_is_told_in_one_line_and_nothing_is_changed():
    process = kill_at_random(1, 16)
    link, session, before = process.link(), process.session(), content(process.path())
    fifo, other = os.path.join(fresh_directory(), "fifo"), os.path.join(fresh_directory(), "other")
    os.mkfifo(fifo)
    with open(other, "wb") as file:
        file.write(b"mine\n" * 3000)
    for target, status in ((fifo, 1), (other, 2), (fresh_directory(), 1), ("/dev/zero", 1), (process.path(), 2)):
        os.unlink(link)
        os.symlink(target, link)
        for path in (process.path(), link):
            answer, said = recover(path)
            assert answer == status and said.count("\n") == 1, "%s: status %d: %s" % (target, answer, said)
    assert content(process.path()) == before and content(other) == b"mine\n" * 3000
    os.unlink(link)
    os.symlink(session, link)
    assert_holds_all(process, recovered(process))


@test
def what_one_may_not_read_or_write_is_told_in_one_line():
    if os.geteuid() != 0:
        raise NotApplicable("only root can become somebody else")
    process = kill_at_random(1, 16)
    folder = fresh_directory()
    program_ = os.path.join(folder, "pft-recover")
    subprocess.run(["cp", RECOVER, program_], check=True)
    paths = [process.session(), process.path()]
    for path in (folder, harness.scratch()):
        os.chmod(path, 0o755)
    for path in paths + [process.directory]:
        done = subprocess.run([program_, path], user=65534, group=65534, extra_groups=[], capture_output=True,
                              text=True, timeout=60)
        assert done.returncode in (1, 2) and done.stderr.count("\n") == 1 and path in done.stderr, (
            "%s: status %d: %s" % (path, done.returncode, done.stderr))
        assert "Permission denied" in done.stderr, done.stderr
    assert_holds_all(process, recovered(process))


@test
def a_trace_that_was_cut_at_any_byte_is_cut_to_its_last_whole_packet():
    process = Process("exits", "kill")
    process.process.communicate(timeout=60)
    recovered(process)
    whole_, ends, at = content(process.path()), [0], 0
    while at < len(whole_):
        size, at = reader.varint(whole_, at + 1)
        at += size
        ends.append(at)
    folder = fresh_directory()
    paths = [os.path.join(folder, "%d.pftrace" % cut) for cut in range(len(whole_) + 1)]
    for cut, path in enumerate(paths):
        with open(path, "wb") as file:
            file.write(whole_[:cut])
    status, said = recover(*paths)
    assert status == 0, said
    said = dict(line.split("pft: ")[1].split(": cut off the last ") for line in said.splitlines())
    for cut, path in enumerate(paths):
        best = max(end for end in ends if end <= cut)
        assert content(path) == whole_[:best], "cut at %d" % cut
        assert said.get(path, "").startswith("%d bytes" % (cut - best)) or cut == best, (cut, said.get(path))
    assert recover(folder) == (0, ""), "a second time"


@test
def a_trace_that_is_shorter_than_its_session_says_is_left_alone():
    process = Process("killed", 1, 400, buffer="16K")
    process.await_threads(1)
    while os.path.getsize(process.path()) < 10000:
        time.sleep(0.001)
    process.kill()
    os.truncate(process.path(), 5000)
    status, said = recover(process.path())
    assert status == 1 and "or shorter" in said and os.path.getsize(process.path()) == 5000, (status, said)
    assert os.path.exists(process.session())


# ---- by pft, and elsewhere --------------------------------------------------------------------------

PFT = os.path.join(harness.ROOT, "scripts", "pft")


@test
def pft_run_recovers_by_itself():
    if harness.bare:
        raise NotApplicable("runs without the shim")
    directory = fresh_directory()
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "LD_"))}
    environment.update(LD_LIBRARY_PATH=harness.PROGRAMS, PFT_LIBRARY=harness.SHIM)
    done = subprocess.run([PFT, "run", "--dir", directory, "--funcs", FUNCS, program("exits"), "kill"],
                          env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL and "; 4 events = 4 written" in done.stderr, (done.returncode, done.stderr)
    assert not glob.glob(os.path.join(directory, "executions", "*", "*.session"))
    assert reader.Trace(glob.glob(os.path.join(directory, "executions", "*-*", "*.pftrace"))[0]).count("leaf") == 1


def in_namespaces(options, script):
    """A shell script as root of namespaces of its own. Its output."""
    if os.geteuid() != 0 or subprocess.run(["unshare"] + options + ["true"], stderr=subprocess.DEVNULL).returncode:
        raise NotApplicable("needs root and namespaces")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "LD_"))}
    environment.update(LD_LIBRARY_PATH=harness.PROGRAMS, SHIM=harness.SHIM, RECOVER=RECOVER, D=fresh_directory(),
                       TEST_DIRECTORY=fresh_directory(), KILLED=program("killed"), EXITS=program("exits"),
                       T="env PFT_FUNCS=%s PFT_EXECUTION_ID=x LD_PRELOAD=%s" % (FUNCS, harness.SHIM))
    environment["T"] += " PFT_TRACE_DIR=" + environment["D"]
    done = subprocess.run(["unshare"] + options + ["sh", "-c", script], env=environment, capture_output=True, text=True,
                          timeout=60)
    return done.stdout + done.stderr, environment["D"]


@test
def all_of_a_users_sessions_are_recovered_without_an_argument():
    said, directory = in_namespaces(["-m"], """
        mount -t tmpfs tmpfs /dev/shm; $T $EXITS kill; $T $EXITS segv; echo junk >/dev/shm/pftshim.other
        $RECOVER; echo status $?; ls /dev/shm""")
    assert said.count("; 4 events = 4 written") == 2, said
    assert "status 2\n" in said or "status 2" in said, said
    assert not glob.glob(os.path.join(directory, "executions", "*", "*.session")), said
    assert said.rstrip().endswith("is no session") or "pftshim.other" in said, said


@test
def a_session_beside_its_trace_is_recovered():
    said, directory = in_namespaces(["-m"], """
        mount -t tmpfs -o ro tmpfs /dev/shm; $T $EXITS kill; ls -l $D/executions/x; $RECOVER $D; echo status $?""")
    assert "; 4 events = 4 written" in said and "status 0" in said, said
    assert not glob.glob(os.path.join(directory, "executions", "*", "*.session")), said


@test
def a_process_of_another_pid_namespace_is_seen_to_run():
    said, _ = in_namespaces(["-m"], """
        unshare -pf --mount-proc sh -c '$T $KILLED 1 16' & sleep 1
        while ! [ -s $TEST_DIRECTORY/counts ]; do sleep 0.1; done
        $RECOVER $D/executions/x/*.pftrace; echo status $?
        kill -9 $(pgrep -f "^$KILLED 1 16"); wait; $RECOVER $D; echo status $?""")
    assert "its process still runs\nstatus 1" in said.replace("status 1\n", "status 1\n") or (
        "its process still runs" in said and "status 1" in said), said
    assert "recovered " in said and "status 0" in said, said


if __name__ == "__main__":
    chosen = harness.slow_tests if "--slow" in sys.argv else harness.tests
    sys.exit(1 if harness.run_all(chosen, [w for w in sys.argv[1:] if not w.startswith("--")]) else 0)
