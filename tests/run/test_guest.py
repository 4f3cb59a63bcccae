# SPDX-License-Identifier: MIT
"""A guest in somebody else's process: descriptors, signals, allocator, other guests, wrong settings."""
import os

from harness import NotApplicable, assert_adds_up, assert_counts, fresh_directory, program, same, slow, test
import harness

ALL = "leaf,outer,middle,inner,through*"


@test
def descriptors_are_the_programs_own():
    same(["descriptors"], funcs=ALL)


@test
def a_program_that_counts_its_threads_finds_its_own():
    assert_counts(same(["census"], funcs="leaf").trace(), leaf=6)


@test
def sigwait_gets_each_signal():
    assert_counts(same(["sigwait"], funcs=ALL).trace(), leaf=18000)


@test
def signals_limits_and_directory_are_as_they_were():
    same(["state"], funcs=ALL)


@test
def an_allocator_calls_hooked_functions_under_its_lock():
    trace = same(["toy_malloc"], funcs=ALL).trace()
    assert trace.count("leaf") >= 20000, trace.counts()
    assert trace.count("outer") >= 20000, trace.counts()


@test
def a_second_preloaded_library_may_come_before():
    trace = same(["wrapped"], funcs="leaf,puts", before=[program("libwrapper.so")]).trace()
    assert trace.count("leaf") == 100, trace.counts()


@test
def a_second_preloaded_library_may_come_behind():
    trace = same(["wrapped"], funcs="leaf,puts", behind=[program("libwrapper.so")]).trace()
    assert trace.count("leaf") == 100, trace.counts()


@test
def another_library_may_want_to_be_the_first_of_all():
    for place in ({"before": [program("libfirst.so")]}, {"behind": [program("libfirst.so")]}):
        trace = same(["calls", 20], mode="dev", **place).trace()
        assert trace.count("libcalls.so::leaf") >= 20, trace.counts()
        assert_adds_up(trace, trace.totals()["produced"])


@slow
def an_allocator_may_be_preloaded_before_or_behind():
    for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
        path = os.path.join("/usr/lib/x86_64-linux-gnu", name)
        if not os.path.exists(path):
            raise NotApplicable("no %s here" % name)
        for place in ({"before": [path]}, {"behind": [path]}):
            trace = same(["short_threads", 50], mode="dev", **place).trace()
            assert_adds_up(trace, trace.totals()["produced"])


@test
def privileges_and_directory_are_given_up_and_recording_goes_on():
    trace = same(["privileges"], funcs=ALL).trace()
    assert_counts(trace, leaf=300)
    assert trace.count("outer") >= 100, trace.counts()


@test
def a_program_in_another_root_goes_on():
    assert_counts(same(["chroot"], funcs=ALL).trace(), outer=1, leaf=20000)


def under_limit(what, first):
    same(["limits", what, first], funcs=ALL, buffer="16K", may_say=True)


for what in ("file-size", "descriptors", "memory", "processes"):
    for first, when in ((0, "before the first call"), (3000, "later")):
        def limited(what=what, first=first):
            under_limit(what, first)
        test(limited, "a limit of %s set %s hurts nobody" % (what, when))


@test
def a_file_that_may_not_grow_is_said_once_in_whatever_form():
    for pft in ({"format": "json"}, {"format": "pftrace,json"}, {"max_size": "64K"}):
        for first in (0, 3000):
            done = same(["limits", "file-size", first], funcs=ALL, buffer="16K", may_say=True, **pft)
            said = getattr(done, "said", b"").decode()
            assert harness.bare or said.count("\n") == 1 and "File too large" in said, said


@test
def strict_seccomp_is_survived():
    same(["seccomp", 0], funcs=ALL)
    same(["seccomp", 3000], funcs=ALL, buffer="16K")


@test
def a_garbage_collector_finds_what_its_callers_hold_in_registers():
    same(["collects"], mode="dev")
    assert_counts(same(["collects"], funcs=ALL + ",GC_*,qsort").trace(), GC_gcollect=0, qsort=0, leaf=0)


@test
def mode_off_does_nothing_at_all():
    done = same(["quiet"], mode="off", funcs=ALL)
    assert os.listdir(done.directory) == [], os.listdir(done.directory)


WRONG = {
    "PFT_MODE": "sometimes",
    "PFT_FUNCS": "[",
    "PFT_BUFFER": "much",
    "PFT_OVERFLOW": "panic",
    "PFT_MIN_DURATION": "10 parsecs",
    "PFT_MAX_DEPTH": "501",
    "PFT_CLOCK": "sundial",
    "PFT_FORMAT": "papyrus",
    "PFT_PROCESSES": "cal[",
    "PFT_TRACE_DIR": "/proc/version",
}


def assert_refused(variable, value):
    if harness.bare:
        raise NotApplicable("runs without the shim")
    argv = [program("calls"), "10"]
    plain = harness.run(argv)
    done = harness.run(argv, [harness.SHIM], {"PFT_TRACE_DIR": fresh_directory(), "PFT_FUNCS": "leaf",
                                              variable: value})
    assert (done.stdout, done.status) == (plain.stdout, plain.status), done.stdout
    said = done.stderr.decode()
    assert said.count("\n") == 1 and said.startswith("pftshim: "), "it says %r" % said
    assert value in said, "it says %r" % said


for variable, value in WRONG.items():
    def refuse(variable=variable, value=value):
        assert_refused(variable, value)
    test(refuse, "a wrong %s gets one line and the program runs untraced" % variable)


@test
def nothing_stays_behind_but_the_traces():
    for argv in (["calls", 100], ["spawn"]):
        done = same(argv, funcs=ALL)
        done.traces()
        found = sorted(n for _, folders, files in os.walk(done.directory) for n in files)
        assert found and all(n.endswith(".pftrace") for n in found), found
