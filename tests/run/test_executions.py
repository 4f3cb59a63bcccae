# SPDX-License-Identifier: MIT
"""`pft ls`: what it says of executions and their processes is what the traces say. `pft clean`: what it removes, and
that nothing else goes.
"""
import json
import os
import pty
import shutil
import subprocess
import time

import harness
from harness import NotApplicable, Prompted, fresh_directory, program, shimmed, test

PFT = os.path.join(harness.ROOT, "scripts", "pft")


def pft(*arguments, directory=None, stdin=subprocess.DEVNULL):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "MONARCH_", "LD_"))}
    environment["PFT_LIBRARY"] = harness.SHIM
    if directory:
        environment["PFT_TRACE_DIR"] = directory
    return subprocess.run([PFT, *arguments], env=environment, stdin=stdin, capture_output=True, text=True, timeout=60)


def listed(directory, *arguments):
    done = pft("ls", "--format=json", *arguments, directory=directory)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout)


def text(directory, *arguments):
    done = pft("ls", *arguments, directory=directory)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def record(directory, execution, *argv, **settings):
    """Adds an execution to the directory."""
    if harness.bare:
        raise NotApplicable("runs without the shim")
    done = shimmed([program(argv[0]), *argv[1:]], funcs="leaf,outer", execution_id=execution, **settings)
    os.makedirs(os.path.join(directory, "executions"), exist_ok=True)
    path = os.path.join(directory, "executions", execution)
    shutil.move(os.path.join(done.directory, "executions", execution), path)
    return path


def make_old(path, seconds):
    then = time.time() - seconds
    for name in os.listdir(path):
        os.utime(os.path.join(path, name), (then, then), follow_symlinks=False)
    os.utime(path, (then, then))


def sizes(path):
    return sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))


def refuses(done, *words):
    assert done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1, done
    assert all(word in done.stderr for word in words), done.stderr


# ---- executions -------------------------------------------------------------------------------------

@test
def ls_lists_executions_by_the_time_of_their_last_change():
    directory = fresh_directory()
    for execution, age in (("middle", 7200), ("oldest", 10 * 86400), ("newest", 90)):
        make_old(record(directory, execution, "calls"), age)
    found = listed(directory)["executions"]
    assert [e["execution"] for e in found] == ["newest", "middle", "oldest"], found
    assert [e["program"] for e in found] == ["calls"] * 3, found
    for e in found:
        assert e["bytes"] == sizes(os.path.join(directory, "executions", e["execution"])), e
        assert (e["processes"], e["running"], e["killed"]) == (1, 0, 0), e
        assert abs(time.time() - e["age_s"] - e["written_s"]) < 60, e
    lines = text(directory)
    assert [line[:3] for line in lines[1:]] == [["1", "min", "1"], ["2", "h", "1"], ["10", "d", "1"]], lines
    assert [line[-2:] for line in lines[1:]] == [[e, "calls"] for e in ("newest", "middle", "oldest")], lines


@test
def ls_names_an_execution_by_its_first_program():
    if harness.bare:
        raise NotApplicable("runs without the shim")
    done = shimmed(["/bin/sh", "-c", "/bin/ls / >/dev/null; /bin/true; :"], mode="dev", execution_id="tree")
    found = listed(done.directory)["executions"]
    assert len(found) == 1 and (found[0]["program"], found[0]["processes"]) == ("sh", 3), found
    names = [p["program"] for p in listed(done.directory, "tree")["processes"]]
    assert names == ["sh", "ls", "true"], names


@test
def ls_refuses_a_directory_without_executions():
    directory = fresh_directory()
    refuses(pft("ls", directory=directory), directory, "no execution was recorded there")
    os.mkdir(os.path.join(directory, "executions"))
    refuses(pft("ls", directory=directory), directory, "no execution was recorded there")
    refuses(pft("ls", "latest", directory=directory), "latest", "no such execution")
    refuses(pft("ls", "night", directory=directory), "night", "no such execution")
    refuses(pft("ls", "../executions", directory=directory), "../executions")
    os.mkdir(os.path.join(directory, "executions", "night"))
    refuses(pft("ls", "night", directory=directory), "night", "holds no trace")
    refuses(pft("ls", "--format=xml", directory=directory), "xml", "text or json")
    refuses(pft("ls", "one", "two", directory=directory), "one execution at a time")


@test
def ls_shows_no_control_character_of_a_name():
    directory = fresh_directory()
    path = record(directory, "night", "calls")
    os.rename(path, os.path.join(directory, "executions", "a\x1b[31mb\n"))
    lines = text(directory)
    assert lines[1][-2:] == ["a?[31mb?", "calls"], lines
    assert listed(directory)["executions"][0]["execution"] == "a\x1b[31mb\n"


# ---- processes --------------------------------------------------------------------------------------

@test
def ls_says_of_a_process_what_its_trace_says():
    if harness.bare:
        raise NotApplicable("runs without the shim")
    done = shimmed([program("calls")], funcs="leaf,outer", execution_id="night", overflow="drop", buffer="16K")
    trace = done.trace()
    found = listed(done.directory, "night")["processes"]
    assert len(found) == 1, found
    process, totals = found[0], trace.totals()
    assert (process["events"], process["dropped"]) == (totals["produced"], totals["dropped"]), (process, totals)
    assert process["pid"] == int(os.path.basename(trace.path).split(".")[1]), process
    assert process["state"] == "ended" and process["files"] == [os.path.basename(trace.path)], process
    ends = [s.end for s in trace.slices if s.end is not None]
    spread = max(ends) - min(s.begin for s in trace.slices)
    assert process["duration_ns"] >= spread, (process, spread)
    assert abs(process["start_ns"] / 1e9 - time.time()) < 600, process
    line = text(done.directory, "night")[2]
    assert line[0] == str(process["pid"]) and line[-1] == process["process"], line
    for way in ("latest", os.path.dirname(trace.path), os.path.join(done.directory, "executions", "latest", "")):
        assert listed(done.directory, way)["processes"] == found, way


@test
def ls_says_of_a_process_what_its_json_says():
    if harness.bare:
        raise NotApplicable("runs without the shim")
    done = shimmed([program("calls")], funcs="leaf,outer", execution_id="night", format="json")
    process, = listed(done.directory, "night")["processes"]
    path = os.path.join(done.directory, "executions", "night", process["files"][0])
    with open(path, encoding="utf-8") as file:
        said = json.load(file)["otherData"]
    assert process["events"] == said["pftshim.produced"] and process["state"] == "ended", (process, said)
    assert process["pid"] == int(path.split(".")[-2]), process


@test
def ls_tells_who_runs_and_who_was_killed():
    prompted = Prompted(funcs="leaf", execution_id="night")
    directory = prompted.outcome().directory
    prompted.do("leaf 3")
    process, = listed(directory, "night")["processes"]
    assert (process["state"], process["pid"]) == ("running", prompted.pid) and "events" not in process, process
    found, = listed(directory)["executions"]
    assert (found["running"], found["killed"]) == (1, 0), found
    assert text(directory)[1][-2:] == ["1", "running"] and "running" in text(directory, "night")[2]
    prompted.kill()
    assert listed(directory, "night")["processes"][0]["state"] == "killed"
    assert listed(directory)["executions"][0]["killed"] == 1
    assert text(directory, "night")[-1][:2] == ["pft", "recover"]
    assert pft("recover", directory).returncode == 0
    process, = listed(directory, "night")["processes"]
    assert process["state"] == "ended" and process["events"] >= 6, process


# ---- clean ------------------------------------------------------------------------------------------

def old_ones(**ages):
    """A directory with an execution of each name, that many days old; the one named last is what `latest` leads to."""
    directory = fresh_directory()
    for execution, days in ages.items():
        make_old(record(directory, execution, "calls"), days * 86400 + 60)
        point_latest(directory, execution)
    return directory


def point_latest(directory, execution):
    link = os.path.join(directory, "executions", "latest")
    if os.path.lexists(link):
        os.unlink(link)
    os.symlink(execution, link)


def left(directory):
    return sorted(os.listdir(os.path.join(directory, "executions")))


def latest(directory):
    return os.readlink(os.path.join(directory, "executions", "latest"))


def cleaned(directory, *arguments, status=0):
    done = pft("clean", "--yes", *arguments, directory=directory)
    assert done.returncode == status, done
    return done


@test
def clean_removes_what_is_old():
    directory = old_ones(a=3, b=9, c=8)
    done = cleaned(directory, "--older-than=7d")
    assert left(directory) == ["a", "latest"] and latest(directory) == "a", left(directory)
    assert "removed 2 executions, " in done.stdout and not done.stderr, done
    assert "nothing is to be removed" in cleaned(directory, "--older-than=1w").stdout
    cleaned(directory, "--older-than=70h")
    assert left(directory) == [], left(directory)


@test
def clean_keeps_the_newest():
    directory = old_ones(a=3, b=2, c=1, d=4)
    cleaned(directory, "--keep", "2")
    assert left(directory) == ["b", "c", "latest"] and latest(directory) == "c"
    cleaned(directory, "--keep=1", "--older-than=5d")
    cleaned(directory, "--keep=2", "--older-than=1h")
    assert left(directory) == ["b", "c", "latest"]
    cleaned(directory, "--keep=0")
    assert left(directory) == []


@test
def clean_removes_what_is_named():
    directory = old_ones(a=3, b=2, c=1)
    cleaned(directory, "b")
    assert left(directory) == ["a", "c", "latest"] and latest(directory) == "c"
    cleaned(directory, "latest")
    assert left(directory) == ["a", "latest"] and latest(directory) == "a"
    for wrong in (["b"], ["a", "b"], [], ["--keep=1", "a"], ["--keep=some"], ["--older-than=7"], ["--older-than=d"],
                  ["../executions"], [".."], [""], ["--keep=-1"], ["--older-than=7dd"]):
        refuses(pft("clean", "--yes", *wrong, directory=directory))
    assert left(directory) == ["a", "latest"]


@test
def clean_asks_before_it_removes():
    directory = old_ones(a=3, b=2)
    done = pft("clean", "a", directory=directory)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--yes" in done.stderr and " a " in done.stdout, done
    for answer, stay in ((b"n\n", True), (b"\n", True), (b"\x04", True), (b"maybe\n", True), (b"y\n", False)):
        ours, theirs = pty.openpty()
        os.write(ours, answer)
        done = pft("clean", "a", directory=directory, stdin=theirs)
        os.close(ours)
        os.close(theirs)
        assert done.returncode == 0 and "remove 1 execution, " in done.stdout and "? [y/N] " in done.stdout, done
        assert ("a" in left(directory)) == stay, (answer, left(directory))
    assert left(directory) == ["b", "latest"]


@test
def clean_leaves_alone_whose_process_still_runs():
    prompted = Prompted(funcs="leaf", execution_id="night")
    directory = prompted.outcome().directory
    prompted.do("leaf 3")
    link, = [name for name in os.listdir(os.path.join(directory, "executions", "night")) if name.endswith(".session")]
    session = os.readlink(os.path.join(directory, "executions", "night", link))
    assert "still runs" in cleaned(directory, "night", status=1).stderr
    assert "still runs" in cleaned(directory, "--keep=0").stderr
    assert left(directory) == ["latest", "night"] and os.path.exists(session)
    prompted.do("leaf 3")
    prompted.kill()
    assert "killed" in cleaned(directory, "--keep=0").stdout
    assert left(directory) == [] and not os.path.exists(session)


@test
def clean_leaves_alone_what_is_not_of_pft():
    directory = old_ones(a=3)
    path = os.path.join(directory, "executions", "a")
    victim = os.path.join(fresh_directory(), "victim.pftrace")
    with open(victim, "w", encoding="utf-8") as file:
        file.write("mine")
    strangers = {"notes.txt": lambda at: open(at, "w", encoding="utf-8").close(), "folder.pftrace": os.mkdir,
                 "link.pftrace": lambda at: os.symlink(victim, at), "pipe.json": os.mkfifo,
                 ".pftrace": lambda at: open(at, "w", encoding="utf-8").close()}
    for name, make in strangers.items():
        make(os.path.join(path, name))
        before = sorted(os.listdir(path))
        done = cleaned(directory, "a", status=1)
        assert name in done.stderr and "pft did not make" in done.stderr and sorted(os.listdir(path)) == before, done
        (os.rmdir if name.startswith("folder") else os.unlink)(os.path.join(path, name))
    elsewhere = os.path.join(fresh_directory(), "elsewhere")
    shutil.copytree(path, elsewhere)
    os.symlink(elsewhere, os.path.join(directory, "executions", "link"))
    with open(os.path.join(directory, "executions", "file"), "w", encoding="utf-8"):
        pass
    refuses(pft("clean", "--yes", "link", directory=directory), "link")
    refuses(pft("clean", "--yes", "file", directory=directory), "file")
    cleaned(directory, "--keep=0")
    assert left(directory) == ["file", "link"] and os.listdir(elsewhere), left(directory)
    assert os.path.exists(victim)


@test
def clean_follows_a_sessions_link_to_its_own_session_only():
    directory = old_ones(a=3)
    path = os.path.join(directory, "executions", "a")
    victim = os.path.join(fresh_directory(), "pftshim.1.0")
    other = "/dev/shm/pftshim.%d.99" % os.getpid()
    name = os.listdir(path)[0].replace(".pftrace", ".session")
    with open(victim, "wb") as file:
        file.write(b"mine")
    try:
        shutil.copy(victim, other)
        for target in (victim, other, "/dev/shm/pftshim.0.0", "/dev/shm/../shm/pftshim.1"):
            os.makedirs(path, exist_ok=True)
            os.symlink(target, os.path.join(path, name))
            cleaned(directory, "a")
            assert not os.path.lexists(path) and os.path.exists(victim) and os.path.exists(other), target
    finally:
        os.unlink(other)


@test
def clean_leaves_alone_what_belongs_to_another_user():
    if os.geteuid() != 0:
        raise NotApplicable("needs root")
    directory = old_ones(a=3, b=2)
    path = os.path.join(directory, "executions", "a")
    os.chown(path, 65534, 65534)
    assert "belongs to another user" in cleaned(directory, "a", status=1).stderr
    os.chown(path, 0, 0)
    trace = os.path.join(path, os.listdir(path)[0])
    os.chown(trace, 65534, 65534)
    assert "pft did not make" in cleaned(directory, "a", status=1).stderr and os.path.exists(trace)
