# SPDX-License-Identifier: MIT
"""Runs programs with and without the shim and reads back what it wrote. Used by the tests in this folder.

A test is a function marked @test or, when it takes long, @slow; its name, or what it is called by test(), is
its sentence. It fails by an AssertionError, and the text of
that is what is printed. With --bare the shim is left out: this proves the programs, not the shim.
"""
import collections
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

import bounded
import trace as reader

ROOT = os.getcwd()
BUILD = os.path.abspath(os.environ.get("PFT_BUILD", "build"))
PROGRAMS = os.path.join(BUILD, "tests", "programs")
SHIM = os.path.join(BUILD, "libpftshim.so")
CHECKER = os.environ.get("PFT_CHECK_TRACE", os.path.join(ROOT, "..", "shared", "tools", "check_trace.py"))
CHECKER_LIMIT = 4 << 20  # it reads about 100,000 events a second

tests = []       # (sentence, function)
slow_tests = []  # likewise: what tests do, as often as it takes to meet a rare fault
bare = False
_scratch = None


class NotApplicable(Exception):
    """The machine lacks what the test needs, or the shim is left out."""


def test(function, sentence=None):
    tests.append((sentence or function.__name__.replace("_", " "), function))
    return function


def slow(function):
    slow_tests.append((function.__name__.replace("_", " "), function))
    return function


def fresh_directory():
    return tempfile.mkdtemp(dir=_scratch)


def scratch():
    """Where fresh directories lie."""
    return _scratch


def program(name):
    return os.path.join(PROGRAMS, name)


class Outcome:
    def __init__(self, stdout, stderr, status, directory):
        self.stdout, self.stderr, self.status, self.directory = stdout, stderr, status, directory

    def paths(self):
        """The traces that were written; `latest` is a second way to the same ones."""
        found = glob.glob(os.path.join(glob.escape(self.directory), "executions", "*", "*.pftrace"))
        return sorted(path for path in found if "/latest/" not in path)

    def traces(self):
        """All traces, read and found without fault."""
        if bare:
            raise NotApplicable("runs without the shim")
        paths = self.paths()
        check(paths)
        return [reader.Trace(path) for path in paths]

    def trace(self):
        traces = self.traces()
        assert len(traces) == 1, "%d traces where one was expected: %s" % (
            len(traces), [os.path.basename(t.path) for t in traces])
        return traces[0]


def assert_is_complete(trace):
    """Every event is accounted for, of the process and of each thread, and what was written is there."""
    totals = trace.totals()
    if not totals:  # the process was killed
        return
    assert totals["produced"] == totals["written"] + totals["filtered"] + totals["dropped"], totals
    said, pid = {uuid: trace.account(uuid) for uuid in trace.accounts}, trace.process()["pid"]
    lacking = [t["tid"] for uuid, t in trace.tracks.items() if "tid" in t and t["pid"] == pid and uuid not in said]
    assert not lacking, "threads without an account: %s" % lacking
    slices = collections.defaultdict(list)
    for s in trace.slices:
        slices[s.track].append(s)
    for uuid, account in said.items():
        events = account["produced"]
        assert sum(account.values()) == 2 * events, "thread %d: %s" % (trace.tracks[uuid]["tid"], account)
    if "pftshim.segment" in trace.attributes:  # what is said is of all of them
        return
    for uuid, account in said.items():
        assert_are_written(trace, account["written"], slices[uuid])
    unseated = totals["produced"] - sum(account["produced"] for account in said.values())
    assert 0 <= unseated <= totals["dropped"], "%s, but threads say: %s" % (totals, list(said.values())[:9])


def assert_are_written(trace, events, slices):
    """The slices of a thread's own track hold so many events. What was left by a throw, or was open at a gap or when
    the window closed, has an end for which there may have been none."""
    ends = [s for s in slices if s.end is not None]
    cut = trace.gaps or any(i.name == "recording stopped" for i in trace.instants)
    least = 0 if cut else sum(1 for s in ends if not s.args.get("unwound"))
    assert least <= events - len(slices) <= len(ends), "%d events in %d slices, %d to %d of them with an end" % (
        events, len(slices), least, len(ends))


def check(paths, joined=False):
    """`joined`: each holds several traces, whose totals are one each."""
    for path in paths:
        trace = reader.Trace(path)
        assert not trace.errors, "%s: %s" % (os.path.basename(path), "; ".join(trace.errors[:5]))
        if not joined:
            assert_is_complete(trace)
    small = [path for path in paths if os.path.getsize(path) < CHECKER_LIMIT]
    if small and os.path.exists(CHECKER):
        done = subprocess.run([sys.executable, CHECKER] + small, capture_output=True, text=True)
        assert done.returncode == 0, "check_trace: " + done.stderr[:500]


def hand_over(user, *directories):
    os.chmod(_scratch, 0o711)
    for directory in directories:
        os.chown(directory, user, user)


def run(argv, preload=(), env=None, stdin=b"", cwd=None, user=None):
    """One run of argv; `preload` are the objects of LD_PRELOAD, `user` the number of who it runs as, if another."""
    directory = fresh_directory()
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "LD_"))}
    environment.update(LD_LIBRARY_PATH=PROGRAMS, TEST_DIRECTORY=directory, **(env or {}))
    if preload:
        environment["LD_PRELOAD"] = ":".join(preload)
    become = {"user": user, "group": user, "extra_groups": []} if user else {}
    if user:
        hand_over(user, *{directory, cwd or directory, environment.get("PFT_TRACE_DIR", directory)})
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment, cwd=cwd, start_new_session=True, **become)
    stdout, stderr = bounded.communicate(process, stdin, environment.get("PFT_TRACE_DIR"))
    return Outcome(stdout, stderr, process.returncode, directory)


def settings(mode, funcs, directory, more):
    pft = {"PFT_MODE": mode, "PFT_TRACE_DIR": directory}
    if funcs:
        pft["PFT_FUNCS"] = funcs
    pft.update({"PFT_" + name.upper(): value for name, value in more.items()})
    return pft


def shimmed(argv, mode="user", funcs=None, before=(), behind=(), env=None, stdin=b"", cwd=None, user=None, **pft):
    """A run under the shim. `before` and `behind` are other objects to preload; pft: PFT_ settings."""
    directory = fresh_directory()
    preload = list(before) + ([] if bare else [SHIM]) + list(behind)
    done = run(argv, preload, {**(env or {}), **settings(mode, funcs, directory, pft)}, stdin, cwd, user)
    done.side, done.directory = done.directory, directory
    return done


class Prompted:
    """tests/programs/prompted under the shim: it calls when it is told to."""

    def __init__(self, mode="user", funcs=None, **pft):
        if bare:
            raise NotApplicable("runs without the shim")
        self._directory = fresh_directory()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "LD_"))}
        environment.update(settings(mode, funcs, self._directory, pft), LD_LIBRARY_PATH=PROGRAMS, LD_PRELOAD=SHIM)
        self._process = subprocess.Popen([program("prompted")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, env=environment, text=True)
        self.pid = self._process.pid
        self._patience = threading.Timer(bounded.TIMEOUT_S, self._process.kill)
        self._patience.daemon = True
        self._patience.start()
        self.hear()

    def do(self, *commands):
        """Tells it and waits until each is done (a "hold" until its call is there)."""
        for command in commands:
            self.tell(command)
            self.hear()

    def tell(self, command):
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()

    def hear(self):
        answer = self._process.stdout.readline()
        assert answer == "ok\n", "the program answers %r" % answer

    def outcome(self):
        """What there is by now."""
        return Outcome(b"", b"", None, self._directory)

    def kill(self):
        self._process.kill()
        self._process.communicate()
        self._patience.cancel()

    def end(self, may_say=False):
        stdout, stderr = self._process.communicate()
        self._patience.cancel()
        assert self._process.returncode == 0, name(self._process.returncode)
        assert may_say or not stderr, stderr
        return Outcome(stdout.encode(), stderr.encode(), 0, self._directory)


def name(status):
    return "signal %s" % signal.Signals(-status).name if status < 0 else "status %d" % status


def without_our_lines(text):
    return b"".join(line for line in text.splitlines(True) if not line.startswith(b"pftshim: "))


def assert_same(plain, traced, may_say=False):
    """The program's outcome. `may_say`: the shim has reason to say a line on stderr."""
    if may_say:
        traced.said = traced.stderr
        traced.stderr = without_our_lines(traced.stderr)
    assert plain.status == traced.status, "ends with %s, without the shim with %s\n%s" % (
        name(traced.status), name(plain.status), traced.stderr[-500:].decode("utf-8", "replace"))
    for stream in ("stdout", "stderr"):
        ours, theirs = getattr(traced, stream), getattr(plain, stream)
        assert ours == theirs, "%s differs: %r, without the shim %r" % (stream, ours[-300:], theirs[-300:])


def same(argv, before=(), behind=(), env=None, stdin=b"", may_say=False, **how):
    """Runs without and with the shim, and the program must not have noticed. The outcome under the shim."""
    argv = [program(argv[0]) if "/" not in argv[0] else argv[0]] + [str(a) for a in argv[1:]]
    plain = run(argv, list(before) + list(behind), env, stdin)
    assert b"FAILED" not in plain.stderr, "the program itself: " + plain.stderr.decode()
    traced = shimmed(argv, before=before, behind=behind, env=env, stdin=stdin, **how)
    assert_same(plain, traced, may_say)
    return traced


def assert_counts(trace, **expected):
    counts = trace.counts()
    wrong = {n: (counts[n], want) for n, want in expected.items() if counts[n] != want}
    assert not wrong, "calls (in trace, made): %s" % wrong


def assert_closed(trace):
    left = collections.Counter(s.name for s in trace.open())
    assert not left, "slices left open: %s" % dict(left)


def assert_adds_up(trace, produced, waits=False):
    """`waits`: threads may have waited for room, and each wait is a slice as well."""
    totals = trace.totals()
    extra = totals["produced"] - produced
    assert extra == 0 or waits and extra > 0 and extra % 2 == 0, "%s, but %d were produced" % (totals, produced)
    assert totals["written"] + totals["filtered"] + totals["dropped"] == totals["produced"], totals


def remove_sessions():
    """The memory that killed processes leave behind for the recovery lies outside of the scratch directory."""
    for link in glob.glob(os.path.join(_scratch, "**", "*.session"), recursive=True):
        target = os.path.realpath(link)
        if target.startswith("/dev/shm/pftshim.") and os.path.exists(target):
            os.unlink(target)


def run_all(chosen, patterns):
    """Runs those of the chosen tests whose names hold one of `patterns`. How many failed."""
    global _scratch
    failed = 0
    for sentence, function in chosen:
        if patterns and not any(p in sentence for p in patterns):
            continue
        _scratch = tempfile.mkdtemp(prefix="pft-test-")
        try:
            function()
            print("ok - %s" % sentence)
        except NotApplicable as why:
            print("ok - %s # %s" % (sentence, why))
        except Exception as what:  # a test that breaks has failed like any other
            failed += 1
            print("not ok - %s" % sentence)
            detail = str(what) if isinstance(what, AssertionError) else traceback.format_exc()
            print("".join("# %s\n" % line for line in detail.splitlines()), end="")
        finally:
            remove_sessions()
            shutil.rmtree(_scratch, ignore_errors=True)
        sys.stdout.flush()
    return failed
