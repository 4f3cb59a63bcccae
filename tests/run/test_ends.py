# SPDX-License-Identifier: MIT
"""The ends of a process, and of what is in it: the last call before each of them is in the trace, once."""
import glob
import os
import signal
import subprocess

import harness
from harness import assert_counts, same, test

FUNCS = "leaf,inner,through"

# Way to end (tests/programs/last.cc) -> calls of leaf() in the trace: one by main() and those on the way.
SAID = {
    "main": 2, "tls": 2, "thread_tls": 2, "thread_key": 4, "main_key": 4, "atexit": 2, "atexit_late": 3, "on_exit": 2,
    "at_quick_exit": 2, "library": 4, "library_closed": 4, "exit": 2, "_exit": 2, "_Exit": 2, "exit_by_number": 2,
    "thread_exit": 2, "thread__exit": 2, "thread_last": 2, "thread_cancelled": 2, "thread_hot": 2, "thread_waits": 2,
    "handler": 2, "exec_true": 2, "exec_fails": 2,
}

# Ends that nobody announces: what was not written yet is recovered.
UNSAID = {"exit_unseen": [], "abort": []}
UNSAID.update({"signal " + name: [getattr(signal, name).value] for name in (
    "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2",
    "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGIO", "SIGPWR",
    "SIGSYS")})


def assert_has_the_last(trace, leaves):
    assert_counts(trace, leaf=leaves, inner=1)
    last = max((s for s in trace.slices if s.name in ("leaf", "inner")), key=lambda s: s.begin)
    assert last.name == "inner" and last.end is not None, "the last call is %s" % last.name


def of_program(done, name):
    return [t for t in done.traces() if t.process()["process"] == name]


for way, count in SAID.items():
    def says(way=way, count=count):
        same(["last", way], mode="dev").traces()
        trace, = of_program(same(["last", way], funcs=FUNCS), "last")
        assert_has_the_last(trace, count)
    test(says, "the last call before the end by %s is in the trace" % way)


@test
def the_last_call_before_a_program_executes_itself_is_in_the_trace():
    traces = same(["last", "exec"], funcs=FUNCS).traces()
    assert len(traces) == 2, len(traces)
    for trace in traces:
        assert_has_the_last(trace, 2)


def recovered(done):
    """Its trace, when all that its process left was put into it."""
    if harness.bare:
        raise harness.NotApplicable("runs without the shim")
    said = subprocess.run([os.path.join(harness.BUILD, "pft-recover"), done.directory], capture_output=True, text=True,
                          timeout=60)
    assert said.returncode == 0 and said.stderr.count(" recovered ") == 1, said.stderr
    assert not glob.glob(os.path.join(done.directory, "executions", "*", "*.session")), "the session is still there"
    return done.trace()


for way, arguments in UNSAID.items():
    def leaves(way=way, arguments=arguments):
        for how in ({"mode": "dev"}, {"funcs": FUNCS}):
            done = same(["last", way.split()[0]] + arguments, **how)
            assert harness.bare or done.status < 0 or way == "exit_unseen", done.status
            trace = recovered(done)
        assert_has_the_last(trace, 2)
    test(leaves, "the last call before the end by %s is recovered" % way)


# ---- where the flusher does not get on --------------------------------------------------------------

def ends_though_frozen(way):
    done = same(["frozen", way], funcs="leaf", buffer="16K", may_say=True)
    said = done.said.decode()
    if way == "exec":  # nobody is there any more who could say it
        assert not said, said
    else:
        assert said.count("\n") == 1 and "the trace is not complete: Connection timed out" in said, said
    subprocess.run([os.path.join(harness.BUILD, "pft-recover"), done.directory], check=True, capture_output=True)
    # No child's: it would have to make files where nothing answers.
    trace, = [t for t in of_program(done, "frozen") if t.count("leaf")]
    totals = trace.totals()
    assert totals["produced"] == totals["written"] + totals["dropped"] == 2 * 26100, totals
    assert trace.count("leaf") == totals["written"] / 2 >= 600, "%s, %d calls" % (totals, trace.count("leaf"))


for way in ("return", "_exit", "quick_exit", "thread", "exec", "disturbed"):
    def though_frozen(way=way):
        ends_though_frozen(way)
    test(though_frozen, "a flusher that is stopped holds up neither a program nor its end by %s" % way)


@test
def a_signal_that_stops_the_flushers_thread_stops_the_process_and_no_more():
    running = harness.Prompted(funcs="leaf", buffer="16K")
    running.do("leaf 10")
    tasks = [int(t) for t in os.listdir("/proc/%d/task" % running.pid) if int(t) != running.pid]
    assert len(tasks) == 1, tasks
    for _ in range(3):
        os.kill(tasks[0], signal.SIGSTOP)
        running.tell("leaf 2000")
        os.kill(tasks[0], signal.SIGCONT)
        running.hear()
    assert_counts(running.end().trace(), leaf=6010)
