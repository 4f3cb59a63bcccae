# SPDX-License-Identifier: MIT
"""`pft report` of programs that are held up in one way, and of such that just are not."""
import glob
import json
import os
import subprocess

import chrome
from harness import BUILD, fresh_directory, same, shimmed, test

ALL = "leaf,outer,middle,inner,through*"


def report(paths, *options):
    return subprocess.run([os.path.join(BUILD, "pft-report"), *options, *paths], capture_output=True, timeout=60)


def reported(how, **settings):
    done = same(["bottlenecks", how], mode="dev", **{"funcs": "-clock_gettime", **settings})
    paths = done.paths()
    said = report(paths, "--format=json")
    assert said.returncode == 0 and not said.stderr, said.stderr
    return json.loads(said.stdout), paths, done


def types(found):
    return {(b["type"], b["place"].split("::")[-1]) for b in found["bottlenecks"]}


def assert_found(how, *bottleneck, **settings):
    found = types(reported(how, **settings)[0])
    assert bottleneck in found, found


def assert_not_found(how, kind, **settings):
    found = types(reported(how, **settings)[0])
    assert kind not in {t for t, _ in found}, found


@test
def a_report_finds_a_lock_that_is_waited_for():
    assert_found("lock", "lock_contention", "pthread_mutex_lock")


@test
def a_report_finds_no_fault_with_a_lock_that_is_free():
    assert_not_found("free", "lock_contention")


@test
def a_report_finds_reads_that_wait():
    assert_found("read", "blocking_io", "read")
    assert_not_found("ready", "blocking_io")


@test
def a_report_finds_a_long_sleep():
    assert_found("sleep", "sleep", "usleep")
    assert_not_found("doze", "sleep")


@test
def a_report_finds_a_descriptor_that_is_polled():
    assert_found("poll", "polling", "poll")
    assert_not_found("wait", "polling")


@test
def a_report_finds_a_function_that_takes_the_time():
    assert_found("sort", "cpu_bound", "qsort")
    assert_not_found("work", "cpu_bound")


@test
def a_report_finds_a_storm_of_short_calls():
    assert_found("storm", "call_storm", "leaf", buffer="64M")
    assert_not_found("few", "call_storm")


@test
def a_report_finds_a_phase_in_which_one_thread_works():
    assert_found("serial", "serial_phase", "all threads")
    assert_not_found("shared", "serial_phase")


@test
def a_report_finds_work_that_is_shared_unevenly():
    assert_found("uneven", "imbalance", "worker")
    assert_not_found("even", "imbalance")


@test
def a_report_finds_that_recording_held_the_program_up():
    for overflow in ("wait", "drop"):
        assert_found("storm", "recording", "pftshim", buffer="16K", overflow=overflow)
    assert_not_found("storm", "recording", buffer="64M")
    assert_not_found("few", "recording")


@test
def a_report_adds_up_what_the_trace_holds():
    found, _, done = reported("read")
    trace = done.trace()
    assert found["calls"] == len([s for s in trace.slices if s.end is not None])
    assert sum(f["not_returned"] for f in found["functions"]) == len(trace.open())
    for function in found["functions"]:
        calls = [s for s in trace.slices if s.name == function["name"]]
        durations = sorted(s.end - s.begin for s in calls if s.end is not None)
        assert function["calls"] == len(durations), (function, durations)
        if durations:
            assert (function["min_ns"], function["max_ns"]) == (durations[0], durations[-1]), function
            middle = durations[(len(durations) - 1) // 2]
            assert abs(function["p50_ns"] - middle) <= 0.03 * middle + 1, (function, middle)
    assert sum(node["self_ns"] for node in found["tree"]) == sum(f["self_ns"] for f in found["functions"])
    assert found["produced"] == found["written"] + found["filtered"] + found["dropped"]
    assert found["probe_inside_ns"] > 0
    assert len(found["threads"]) == len(trace.threads()) == 2


@test
def a_report_is_about_the_process_that_recorded():
    done = same(["fork"], mode="dev")
    for path in done.paths():
        found = json.loads(report([path], "--format=json").stdout)
        assert "%s.%d.pftrace" % (found["process"], found["pid"]) == os.path.basename(path), (found["process"], path)
        assert all(t["calls"] for t in found["threads"]), "the thread that forked is not of this process"


@test
def a_report_has_each_thread_once_whatever_it_calls_at_its_end():
    done = same(["/usr/bin/python3", "-c", "import threading\nfor _ in range(3):\n"
                 "    t = threading.Thread(target=lambda: None); t.start(); t.join()"], mode="dev")
    trace = done.trace()
    threads = json.loads(report(done.paths(), "--format=json").stdout)["threads"]
    begun = [trace.thread_of(i)["tid"] for i in trace.instants if i.name == "thread begin"]
    assert len(set(begun)) < len(begun), "no thread calls after its end"
    assert sorted(t["tid"] for t in threads) == sorted(set(begun)), threads


@test
def a_report_of_no_call_says_how_some_would_be_recorded():
    said = report(same(["bottlenecks", "sleep"]).paths()).stdout.decode()
    assert "no call was recorded: PFT_FUNCS" in said and "own time" not in said, said


@test
def a_report_says_what_memory_the_process_took():
    size = 64 << 20
    paths = same(["/usr/bin/python3", "-c", "bytearray(%d)" % size], mode="dev").paths()
    found = json.loads(report(paths, "--format=json").stdout)
    assert size < found["peak_rss_bytes"] < 2 * size, found["peak_rss_bytes"]
    small = json.loads(report(same(["/bin/true"], mode="dev").paths(), "--format=json").stdout)
    assert 0 < small["peak_rss_bytes"] < 8 << 20, "%d: of what ran before exec?" % small["peak_rss_bytes"]
    assert found["minor_faults"] > 0 and found["major_faults"] >= 0
    words = b"%s KiB of memory at most" % "{:,}".format(found["peak_rss_bytes"] >> 10).encode()
    assert words in report(paths).stdout, report(paths).stdout[:300]
    picture = json.loads(report(paths, "--format=chrome").stdout)["otherData"]
    assert picture["peak_rss_bytes"] == found["peak_rss_bytes"], picture


@test
def a_report_has_other_formats():
    paths = reported("read")[1]
    text = report(paths, "-n", "1").stdout.decode()
    assert "bottlenecks (" in text and "\nbottlenecks\n" in text, text
    picture = chrome.Chrome(chrome.load(report(paths, "--format=chrome").stdout))
    assert not picture.errors and picture.slices, picture.errors
    folded = report(paths, "--format=folded").stdout.decode().splitlines()
    assert folded and all(line.rsplit(" ", 1)[1].isdigit() for line in folded), folded


@test
def a_report_goes_into_a_file_and_replaces_none_unasked():
    paths = reported("read")[1]
    output = os.path.join(fresh_directory(), "report.json")
    assert report(paths, "--format=json", "-o", output).returncode == 0
    with open(output, "rb") as file:
        assert file.read() == report(paths, "--format=json").stdout
    refused = report(paths, "-o", output)
    assert refused.returncode == 2 and b"--force" in refused.stderr, refused
    assert report(paths, "--force", "-o", output).returncode == 0
    with open(output, "rb") as file:
        assert file.read() == report(paths).stdout
    assert report(["/dev/null"], "-o", output + ".none").returncode in (0, 2)
    assert os.listdir(os.path.dirname(output)) == ["report.json"], os.listdir(os.path.dirname(output))
    assert report(paths, "-o", "/proc/nowhere/report").returncode == 1
    link = output + ".link"
    os.symlink(output, link)
    refused = report(paths, "--force", "-o", link)
    assert refused.returncode == 2 and b"no regular file" in refused.stderr and os.path.islink(link), refused


@test
def a_report_is_sorted_as_asked():
    paths = reported("read")[1]
    for order, key in (("total", "total_corrected_ns"), ("calls", "calls"), ("longest", "max_ns")):
        found = json.loads(report(paths, "--format=json", "--sort", order).stdout)["functions"]
        assert found == sorted(found, key=lambda f: -f[key]), order


@test
def a_report_refuses_what_is_no_trace():
    for path in ("/bin/true", "/dev/null", "/tmp", "/nowhere"):
        said = report([path])
        assert said.returncode in (0, 2) and said.stderr.count(b"\n") == 1 and path.encode() in said.stderr, said
    for wrong in (["--format=xml"], ["--sort=name"], ["-n", "0"], ["--nothing"], []):
        said = report([], *wrong)
        assert said.returncode == 2 and said.stderr.count(b"\n") == 1, (wrong, said)


# ---- at exit ----------------------------------------------------------------------------------------

def written(done, ending):
    """What processes have written at exit: their traces' paths, without the ending, and the reports."""
    paths = glob.glob(os.path.join(glob.escape(done.directory), "executions", "*-*", "*.report" + ending))
    return {path[:-len(".report" + ending)]: open(path, encoding="utf-8").read() for path in paths}


def assert_equal(one, other, where):
    """Says of two values that differ where they do."""
    if isinstance(one, (dict, list)) and type(one) is type(other) and len(one) == len(other):
        for key in one if isinstance(one, dict) else range(len(one)):
            assert_equal(one[key], other[key], "%s[%r]" % (where, key))
    else:
        assert one == other, "%s: at exit %s, afterwards %s" % (where, str(one)[:200], str(other)[:200])


def assert_the_same_at_exit(argv, **pft):
    done = same(argv, report="json,folded,chrome,file", **pft)
    reports = written(done, ".json")
    assert sorted(reports) == sorted(path[:-len(".pftrace")] for path in done.paths()), reports.keys()
    for path, text in reports.items():
        afterwards = json.loads(report([path + ".pftrace"], "--format=json").stdout)
        assert_equal(json.loads(text), afterwards, os.path.basename(path))
    for ending, format in ((".txt", "text"), (".folded", "folded"), (".trace.json", "chrome")):
        for path, text in written(done, ending).items():
            afterwards = report([path + ".pftrace"], "--format=" + format).stdout.decode()
            assert_equal(text.splitlines(), afterwards.splitlines(), os.path.basename(path) + ending)
    return done


@test
def a_report_at_exit_says_what_one_of_the_trace_says():
    assert_the_same_at_exit(["bottlenecks", "lock"], mode="dev")
    assert_the_same_at_exit(["throw_loop", 500], funcs=ALL)
    assert_the_same_at_exit(["longjmp"], funcs=ALL)
    assert_the_same_at_exit(["short_threads"], funcs=ALL)


@test
def every_process_of_a_tree_reports():
    done = assert_the_same_at_exit(["spawn"], mode="dev")
    assert len(written(done, ".json")) > 2


@test
def a_report_at_exit_counts_calls_on_other_stacks():
    done = same(["coroutines", 5], funcs=ALL, report="json")
    (text,) = written(done, ".json").values()
    counts = done.trace().counts()
    found = {f["name"]: f["calls"] + f["not_returned"] for f in json.loads(text)["functions"]}
    assert found == {name: counts[name] for name in found} and len(found) > 2, (found, counts)


@test
def a_report_at_exit_counts_what_a_filter_leaves_out():
    done = same(["throw_loop", 500], funcs=ALL, report="json", min_duration="10s")
    (text,) = written(done, ".json").values()
    found = {f["name"]: f["calls"] for f in json.loads(text)["functions"]}
    assert found["through"] == 499 and not done.trace().count("through"), found


@test
def a_report_goes_to_stderr_behind_what_the_program_says():
    done = shimmed(["sh", "-c", "echo said >&2"], mode="dev", report="text")
    words = done.stderr.decode().splitlines()
    assert words[0] == "said" and words[1].startswith("sh (") and "bottlenecks" in done.stderr.decode(), done.stderr
    assert not done.stdout


@test
def a_report_is_lost_with_a_stderr_that_the_program_has_closed():
    done = shimmed(["sh", "-c", "exec 2>&-; exec 2>$TEST_DIRECTORY/own; echo said >&2"], mode="dev", report="text")
    with open(os.path.join(done.side, "own"), "rb") as own:
        assert own.read() == b"said\n" and not done.stderr and not done.status, done.stderr
