# SPDX-License-Identifier: MIT
"""`pft diff`: a function that is slower is found, two runs of one program do not differ, and the status says so."""
import json
import os
import subprocess

import harness
from harness import NotApplicable, fresh_directory, same, test
from packets import field, packet, thread, write


def diff(*argv):
    if harness.bare:
        raise NotApplicable("runs without the shim")
    return subprocess.run([os.path.join(harness.ROOT, "scripts", "pft"), "diff", *argv], capture_output=True,
                          text=True, env={**os.environ, "PFT_LIBRARY": harness.SHIM})


def compared(*argv, status):
    done = diff("--format=json", *argv)
    assert done.returncode == status and not done.stderr, (done.returncode, done.stderr, done.stdout)
    found = json.loads(done.stdout)
    assert found["slower"] == (status == 1)
    return {f["name"]: f for f in found["functions"]}, found


def ran(calls, steady_ns, changed_ns):
    return same(["paces", calls, steady_ns, changed_ns], funcs="steady,changed").paths()[0]


# ---- programs ---------------------------------------------------------------------------------------

@test
def a_function_that_is_slower_is_told_from_one_that_is_not():
    before, after = ran(400, 20000, 20000), ran(400, 20000, 2000000)
    found, _ = compared(before, after, status=1)
    assert found["changed"]["change"] == "slower" and found["steady"]["change"] in ("none", "unsure"), found
    assert next(iter(found)) == "changed", "not the first one"
    assert found["changed"]["after"]["p50_ns"] >= 1900000 and found["changed"]["chance"] < 0.01, found
    found, _ = compared(after, before, status=0)
    assert found["changed"]["change"] == "faster" and found["steady"]["change"] in ("none", "unsure"), found


@test
def two_runs_of_one_program_do_not_differ():
    one, other = (same(["calls", 2000], mode="dev").paths()[0] for _ in range(2))
    for pair in (one, other), (other, one), (one, one):
        found, _ = compared(*pair, status=0)
        assert {f["change"] for f in found.values()} <= {"none", "unsure"}, found


@test
def a_slower_function_is_found_in_several_runs_of_few_calls():
    before, after = ([ran(1, 0, ns) for _ in range(3)] for ns in (20_000_000, 400_000_000))
    found, whole = compared("--noise=50%", *before, "--", *after, status=1)
    assert found["changed"]["change"] == "slower" and whole["before"]["runs"] == whole["after"]["runs"] == 3, whole
    found, _ = compared("--noise=50%", before[0], after[0], status=0)
    assert found["changed"]["change"] == "unsure", found


@test
def functions_that_appear_count_as_slower_and_those_that_vanish_do_not():
    without, with_ = ran(200, 20000, 0), ran(200, 20000, 500000)
    found, _ = compared(without, with_, status=1)
    assert found["changed"]["change"] == "appeared" and found["changed"]["before"]["calls"] == 0, found
    found, _ = compared(with_, without, status=0)
    assert found["changed"]["change"] == "vanished" and found["changed"]["after"]["calls"] == 0, found


@test
def executions_of_several_processes_are_compared_as_a_whole():
    one, other = (same(["fork"], mode="dev") for _ in range(2))
    folders = [os.path.dirname(done.paths()[0]) for done in (one, other)]
    found, whole = compared("--threshold=1000%", *folders, status=0)
    assert whole["before"]["processes"] == len(one.paths()) > 1
    for name, function in found.items():
        calls = sum(s.name == name and s.end is not None for trace in one.traces() for s in trace.slices)
        assert function["before"]["calls"] == calls, (name, calls, function)


@test
def an_execution_in_segments_is_compared_once_it_is_merged():
    paths = same(["calls", 5000], funcs="leaf,outer", max_size="64K").paths()
    output = os.path.join(fresh_directory(), "merged.pftrace")
    subprocess.run([os.path.join(harness.BUILD, "pft-merge"), "-o", output, *paths], check=True, capture_output=True)
    found, _ = compared(output, output, status=0)
    assert len(paths) > 1 and all(f["before"]["calls"] == 5000 for f in found.values()), found


@test
def waits_for_the_recorder_are_no_function():
    before = same(["storm", 1, 1000], funcs="leaf").paths()[0]
    after = same(["storm", 1, 300000], funcs="leaf", buffer="16K").paths()[0]
    found, whole = compared("--threshold=1000%", "--min=1000s", before, after, status=0)
    assert set(found) == {"leaf"}, found
    waits = [s for s in harness.reader.Trace(after).slices if s.name == "pftshim: ring full"]
    assert waits and whole["after"]["waited_for_recorder_ns"] == sum(s.end - s.begin for s in waits), whole
    assert "waited for the recorder" in diff(before, after).stdout


# ---- traces with known times ------------------------------------------------------------------------

NAMES = b"", b"first", b"second"


def made(*calls):
    """A trace of [(name iid, durations in ns)], one call after the other."""
    interned = b"".join(field(2, field(1, i) + field(2, NAMES[i])) for i in range(1, len(NAMES)))
    data, ns = thread(1, 10, 10, b"t") + packet((10, 7), (13, 2), (12, interned)), 1000
    for iid, durations in calls:
        for duration in durations:
            data += packet((8, ns), (10, 7), (13, 2), (11, field(9, 1) + field(10, iid) + field(11, 1)))
            ns += duration
            data += packet((8, ns), (10, 7), (13, 2), (11, field(9, 2) + field(11, 1)))
    return write(os.path.join(fresh_directory(), "made.pftrace"), data)


def about(ns, calls=200):
    """Durations around ns that always come out the same."""
    return [ns + ns * (i * 7919 % 21 - 10) // 100 for i in range(calls)]


@test
def a_change_is_beyond_both_limits():
    before, after = made((1, about(100_000)), (2, about(50_000))), made((1, about(150_000)), (2, about(50_000)))
    found, _ = compared(before, after, status=1)
    assert [f["change"] for f in found.values()] == ["slower", "none"], found
    for side, ns in ("before", 100_000), ("after", 150_000):
        assert found["first"][side]["calls"] == 200, found
        assert found["first"][side]["total_ns"] == found["first"][side]["self_ns"] == sum(about(ns)), found
    assert abs(found["first"]["before"]["p50_ns"] - 100_000) < 3000
    assert abs(found["first"]["after"]["p99_ns"] - 165_000) < 5000
    for limit in "--threshold=60%", "--min=20ms", "--noise=40%":
        compared(limit, before, after, status=0)
    compared("--threshold=45%", "--min=9ms", before, after, status=1)


@test
def a_phase_in_which_everything_was_slow_is_no_change():
    calm, phase = [100_000] * 200, [100_000] * 150 + [400_000] * 50
    found, _ = compared(made((1, calm)), made((1, phase)), status=0)
    assert found["first"]["change"] == "unsure", found


@test
def a_comparison_for_people_shows_what_changed():
    before, after = made((1, about(100_000)), (2, about(50_000))), made((1, about(200_000)), (2, about(25_000)))
    done = diff(before, after)
    assert done.returncode == 1 and not done.stderr, done
    assert "first\n" in done.stdout and "  slower\n" in done.stdout and "  faster\n" in done.stdout, done.stdout
    assert "1 slower, 1 faster, 0 appeared, 0 vanished, by 5.0 % and 1.0 ms or more\n" in done.stdout, done.stdout
    assert done.stdout.index("first") < done.stdout.index("second") and "\033" not in done.stdout
    assert "and 1 more; -n 2 shows all" in diff("-n", "1", before, after).stdout


# ---- wrong inputs -----------------------------------------------------------------------------------

def assert_refuses(argv, words):
    done = diff(*argv)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, (
        "status %d: %r" % (done.returncode, done.stderr))


@test
def comparing_refuses_in_one_line_what_is_wrong():
    good = made((1, about(1000)))
    with open(good, "rb") as file:
        whole = file.read()
    folder = fresh_directory()
    bad = os.path.join(folder, "bad.pftrace")
    for bytes_, words in ((b"", "is empty"), (b"{}", "no Perfetto trace"), (whole[:-1], "middle of a packet"),
                          (whole + b"x", "damaged"), (thread(1, 10, 10, b"t"), "holds no event")):
        write(bad, bytes_)
        assert_refuses([good, bad], words)
        assert_refuses([bad, good], words)
        assert_refuses([good, folder], words)
    assert_refuses([good, fresh_directory()], "holds no trace")
    assert_refuses([good, "/nonexistent"], "No such file")
    for argv in [], [good], [good, good, good]:
        assert_refuses(argv, "two runs are compared")
    for argv in ["--"], [good, "--"], ["--", good]:
        assert_refuses(argv, "both sides")
    for option in "--threshold=5", "--min=5", "--noise=-1%", "--format=xml", "--rows=0":
        assert_refuses([option, good, good], option)
    assert_refuses(["--sideways", good, good], "no such option")


@test
def comparing_refuses_other_versions():
    path = same(["calls", 10], funcs="leaf").paths()[0]
    with open(path, "rb") as file:
        data = file.read()
    version = harness.reader.Trace(path).attributes["pftshim.version"].encode()
    other = write(os.path.join(fresh_directory(), "other.pftrace"), data.replace(version, b"9" * len(version)))
    assert_refuses([path, other], "version " + "9" * len(version))
