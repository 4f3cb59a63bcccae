# SPDX-License-Identifier: MIT
"""Where the trace and the session go: places that are full, gone, somebody else's, or that hang. The program is as
without the shim, one line says what is wrong, and what is lost is counted.

Each runs in a mount namespace of its own, which goes with what was mounted there; what it leaves is copied out.
"""
import collections
import glob
import os
import re
import stat
import subprocess
import sys

import harness
from harness import NotApplicable, assert_same, fresh_directory, program, test

ALL = "leaf,outer,middle,inner,through*"
RECOVER = os.path.join(harness.BUILD, "pft-recover")
SMALL = "mount -t tmpfs -o size=64k tmpfs $D"
NOBODY = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def may(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def in_namespace(before, argv, after, env):
    """$D is where traces go; $OUT, which is /mnt as well, is looked at afterwards."""
    script = """mount -t tmpfs tmpfs /dev/shm; mount --bind $OUT /mnt; mkdir -p $D; %s
        "$@"; status=$?
        { %s
        } >/dev/null 2>&1; exit $status""" % (before, after)
    return harness.run(["/usr/bin/unshare", "-m", "sh", "-c", script, "sh"] + argv, env=env)


def placed(argv, before="", after="cp -a $D/. $OUT", user=(), mode="user", funcs=ALL, default=False, **pft):
    """Without and with the shim. The outcome with it; `said` is what it said. `before` and `after` are commands."""
    if harness.bare:
        raise NotApplicable("runs without the shim")
    if os.geteuid() != 0 or not may("unshare", "-m", "true"):
        raise NotApplicable("needs root, to mount")
    argv = list(user) + ["/usr/bin/env"], [program(argv[0])] + [str(a) for a in argv[1:]]
    directories, out = [fresh_directory(), fresh_directory()], fresh_directory()
    for directory in directories + [os.path.dirname(out)] if user else []:
        os.chmod(directory, 0o711)
    plain, env = [{"D": os.path.join(d, "t"), "OUT": out, "RECOVER": RECOVER} for d in directories]
    plain = in_namespace(before, argv[0] + argv[1], ":", plain)
    pft = harness.settings(mode, funcs, env["D"], {"execution_id": "x", **pft})
    if default:
        del pft["PFT_TRACE_DIR"]
    preload = ["LD_PRELOAD=" + harness.SHIM] + ["%s=%s" % one for one in pft.items()]
    done = in_namespace(before, argv[0] + preload + argv[1], after, env)
    done.directory = out
    assert_same(plain, done, may_say=True)
    done.said = [line for line in done.said.decode().splitlines() if line.startswith("pftshim: ")]
    return done


def assert_says(done, *words):
    assert len(done.said) == 1, done.said
    for word in words:
        assert word in done.said[0], done.said


def totals_said(done):
    found = re.search(r"(\d+) events = (\d+) written \+ (\d+) filtered \+ (\d+) dropped", done.said[0])
    assert found, done.said
    return dict(zip(("produced", "written", "filtered", "dropped"), map(int, found.groups())))


def events_in(trace):
    return sum(1 + (s.end is not None) for s in trace.slices)


# ---- the directory of the trace ---------------------------------------------------------------------

@test
def a_full_disk_is_said_and_what_it_cost():
    for mode in ("user", "dev"):
        done = placed(["storm", 2, 20000], SMALL, mode=mode, after="""
            mount -o remount,size=32m $D; $RECOVER $D; cp -a $D/. $OUT""")
        assert_says(done, "not complete", "No space left on device", "kept for pft recover")
        # The accounts of threads that ended before have no place in it.
        said, trace = totals_said(done), harness.reader.Trace(done.paths()[0])
        assert not trace.errors, trace.errors[:5]
        assert said["produced"] >= 80004 and said["dropped"] > 0, said
        assert said["produced"] == said["written"] + said["filtered"] + said["dropped"], said
        assert trace.totals() == said, "%s, said %s" % (trace.totals(), said)
        assert events_in(trace) == said["written"] > 0, "%d events, %s" % (events_in(trace), said)


@test
def a_disk_that_was_full_from_the_start_is_said():
    done = placed(["calls", 100], SMALL + "; cat /dev/zero 2>/dev/null >$D/zeros")
    assert_says(done, "not complete", "No space left on device")
    assert totals_said(done) == {"produced": 800, "written": 0, "filtered": 0, "dropped": 800}, done.said


UNUSABLE = {
    "read-only": ("mount -t tmpfs -o ro tmpfs $D", "Read-only file system"),
    "without room for another file": ("mount -t tmpfs -o nr_inodes=1 tmpfs $D", "No space left on device"),
    "not to be written to": ("chmod 755 $D", "Permission denied"),
    "not a directory": ("rmdir $D; touch $D", "Not a directory"),
    "below a link that leads nowhere": ("rmdir $D; ln -s /nowhere $D", "No such file or directory"),
    "in a loop of links": ("rmdir $D; ln -s $D $D", "Too many levels of symbolic links"),
}

for what, (before, reason) in UNUSABLE.items():
    def cannot_be_used(before=before, reason=reason):
        user = NOBODY if reason == "Permission denied" else ()
        assert_says(placed(["calls", 100], before, user=user), "PFT_TRACE_DIR=", "not traced", reason)
    test(cannot_be_used, "a directory that is %s gets one line and the program runs untraced" % what)


# ---- shared memory ----------------------------------------------------------------------------------

NO_SHARED_MEMORY = {
    "read-only": "mount -t tmpfs -o ro tmpfs /dev/shm",
    "64 KiB small": "mount -t tmpfs -o size=64k tmpfs /dev/shm",
    "without room for a file": "mount -t tmpfs -o nr_inodes=1 tmpfs /dev/shm",
    "missing": "mount -t tmpfs tmpfs /dev; mknod -m 666 /dev/null c 1 3; mknod -m 666 /dev/zero c 1 5",
    "a file": "mount -t tmpfs tmpfs /dev; mknod -m 666 /dev/null c 1 3; touch /dev/shm",
}

for what, before in NO_SHARED_MEMORY.items():
    def serves_beside(before=before):
        for mode in ("user", "dev"):
            done = placed(["short_threads", 20], before, mode=mode, funcs="leaf")
            assert not done.said, done.said
            counts = done.trace().counts()
            assert counts["leaf"] + counts["libcalls.so::leaf"] == 20, counts
            assert not glob.glob(done.directory + "/executions/x/*.session"), "the session is still there"
        done = placed(["last", "signal", 9], before, funcs="leaf,inner", after="$RECOVER $D; cp -a $D/. $OUT")
        assert not done.said and done.trace().count("inner") == 1, done.trace().counts()
    test(serves_beside, "shared memory that is %s is done without" % what)


@test
def a_session_that_has_no_place_at_all_is_private_memory_and_that_is_said():
    done = placed(["calls", 100], "mount -t tmpfs -o ro tmpfs /dev/shm; mount -t tmpfs -o size=100k tmpfs $D")
    assert_says(done, "private memory")
    assert done.trace().count("leaf") == 100


@test
def shared_memory_that_fills_up_later_costs_threads_their_place_and_that_is_said():
    done = placed(["short_threads", 20], "mount -t tmpfs -o size=700k tmpfs /dev/shm", funcs="leaf")
    trace = done.trace()
    if done.said:
        assert_says(done, "counted as dropped")
    assert trace.totals()["dropped"] == 2 * (20 - trace.count("leaf")), trace.totals()
    harness.assert_adds_up(trace, 40)


# ---- what others have put there ---------------------------------------------------------------------

DEFAULT = "mount -t tmpfs -o mode=1777 tmpfs /tmp; "
PLANTED = {
    "the user's directory belongs to somebody else": (
        "mkdir /tmp/root; chown 65534 /tmp/root", "belongs to another user"),
    "the user's directory is somebody's link": (
        "mkdir -m 777 /tmp/trap; ln -s trap /tmp/root; chown -h 65534 /tmp/root", "belongs to another user"),
    "the user's directory is a file": ("touch /tmp/root", "Not a directory"),
    "executions belongs to somebody else": (
        "mkdir -p /tmp/root/pft_traces/executions; chown 65534 /tmp/root/pft_traces/executions",
        "belongs to another user"),
    "executions is a link": (
        "mkdir -p /tmp/root/pft_traces /tmp/trap; ln -s /tmp/trap /tmp/root/pft_traces/executions", "Not a directory"),
    "executions is a file": ("mkdir -p /tmp/root/pft_traces; touch /tmp/root/pft_traces/executions", "Not a directory"),
    "the execution belongs to somebody else": (
        "mkdir -p /tmp/root/pft_traces/executions/x; chown 65534 /tmp/root/pft_traces/executions/x",
        "belongs to another user"),
    "the execution is a link": (
        "mkdir -p /tmp/root/pft_traces/executions /tmp/trap; ln -s /tmp/trap /tmp/root/pft_traces/executions/x",
        "Not a directory"),
    "the execution is a file": (
        "mkdir -p /tmp/root/pft_traces/executions; touch /tmp/root/pft_traces/executions/x", "Not a directory"),
}

for what, (before, reason) in PLANTED.items():
    def refuses(before=before, reason=reason):
        if any(path.startswith("/tmp/") for path in (harness.BUILD, harness.ROOT)):
            raise NotApplicable("hides what is in /tmp")
        done = placed(["calls", 100], DEFAULT + before, default=True,
                      after="if [ -d /tmp/trap ]; then ls -A /tmp/trap >/mnt/trap; fi; ls /dev/shm >/mnt/shm")
        assert_says(done, "not traced", reason)
        for name in ("trap", "shm"):
            path = os.path.join(done.directory, name)
            assert not os.path.exists(path) or os.path.getsize(path) == 0, "something was made in " + name
    test(refuses, "when %s that is refused" % what)


def beside_what_is_planted(before, names):
    """A process whose names are planted has its trace under the next one. `before` runs in the execution's directory."""
    execution = "mkdir -m 700 -p $D/executions/x; cd $D/executions/x; echo mine >../../kept; %s; cd /" % before
    done = placed(["calls", 100], execution, process_name="p")
    assert not done.said, done.said
    path = os.path.join(done.directory, "executions", "x", "p.1.pftrace")
    harness.check([path])
    assert harness.reader.Trace(path).count("leaf") == 100
    with open(os.path.join(done.directory, "kept")) as kept:
        assert kept.read() == "mine\n", "a link was followed"
    for name in names:
        assert os.path.lexists(os.path.join(done.directory, "executions", "x", name)), name + " was removed"


@test
def what_is_planted_under_the_names_of_files_is_left_alone():
    for name in ("p.pftrace", "p.session"):
        beside_what_is_planted("ln -s ../../kept " + name, [name])
        beside_what_is_planted("ln -s /dev/shm/other " + name, [name])
        beside_what_is_planted("mkfifo " + name, [name])
        beside_what_is_planted("mkdir " + name, [name])


@test
def what_is_planted_as_latest_is_replaced_or_left_alone():
    for plant, replaced in (("ln -s kept latest", True), ("echo >latest", True), ("mkdir latest", False)):
        done = placed(["calls", 100], "mkdir -m 700 -p $D/executions; cd $D/executions; touch kept; %s; cd /" % plant)
        assert not done.said, done.said
        trace = [t for t in glob.glob(done.directory + "/executions/x/*.pftrace")]
        assert len(trace) == 1 and harness.reader.Trace(trace[0]).count("leaf") == 100
        latest = os.path.join(done.directory, "executions", "latest")
        assert os.path.islink(latest) == replaced and (not replaced or os.readlink(latest) == "x")
        assert sorted(os.listdir(os.path.dirname(latest))) == ["kept", "latest", "x"]


@test
def what_is_planted_under_the_sessions_names_is_left_alone():
    """The program has the shell's process number, which exec keeps."""
    plants = "cd /dev/shm; echo mine >kept; ln -s kept pftshim.$$.0; mkfifo pftshim.$$.1; echo mine >pftshim.$$.2; cd /"
    before = "cat >$D/run <<'EOF'\n%s; exec \"$@\"\nEOF\n" % plants
    done = placed(["calls", 100], before, user=["/bin/sh", "-c", "sh $D/run \"$@\"", "sh"],
                  after="cp -a $D/. $OUT; cp /dev/shm/kept $OUT; ls /dev/shm >$OUT/shm")
    assert not done.said, done.said
    assert done.trace().count("leaf") == 100
    for name in ("kept", "shm"):
        with open(os.path.join(done.directory, name)) as file:
            text = file.read()
        assert text == "mine\n" if name == "kept" else len(text.split()) == 4, text


# ---- what goes away ---------------------------------------------------------------------------------

class Running(harness.Prompted):
    """A program that is told what to do, while what is around it changes."""

    def traces(self):
        return glob.glob(os.path.join(self._directory, "executions", "*-*", "*.pftrace"))

    def end_without_waiting(self):
        """What it says up to its end, when that is not to be waited for."""
        self._process.stdin.close()
        assert self._process.stdout.read() == ""
        return self._process.stderr.read()

    def status(self):
        self._process.wait()
        self._patience.cancel()
        for session in glob.glob("/dev/shm/pftshim.%d.*" % self.pid):
            os.unlink(session)  # its link is where nothing answers
        return self._process.returncode


def assert_gone(running, events):
    done = running.end(may_say=True)
    said = done.stderr.decode()
    assert said.startswith("pftshim: the trace is gone, and %d events with it: " % events), said
    assert said.count("\n") == 1, said
    assert not glob.glob("/dev/shm/pftshim.%d.*" % running.pid), "the session is still there"


@test
def a_trace_that_is_removed_is_said_and_what_was_in_it():
    for buffer in ("16K", "128K"):
        running = Running(funcs="leaf", buffer=buffer)
        path, = running.traces()
        os.unlink(path)  # nobody has opened it yet
        running.do("leaf 20000")
        assert_gone(running, 40000)
    running = Running(funcs="leaf")
    running.do("leaf 10")
    path, = running.traces()
    while not os.path.getsize(path):
        pass
    harness.shutil.rmtree(running._directory)
    running.do("leaf 20000")
    done = running.end(may_say=True)
    assert b"the trace is gone, and 400" in done.stderr, done.stderr


@test
def a_directory_that_is_moved_takes_the_trace_along():
    running = Running(funcs="leaf")
    running.do("leaf 10")
    path, = running.traces()
    while not os.path.getsize(path):
        pass
    moved = os.path.dirname(path) + "-moved"
    os.rename(os.path.dirname(path), moved)
    running.do("leaf 20000")
    running.end()
    trace = harness.reader.Trace(glob.glob(moved + "/*.pftrace")[0])
    assert not trace.errors and trace.count("leaf") == 20010


@test
def a_pipe_that_stands_where_the_trace_was_gets_nothing_and_holds_nobody_up():
    for reader in (False, True):
        running = Running(funcs="leaf")
        path, = running.traces()
        os.unlink(path)
        os.mkfifo(path)
        pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if reader else None
        running.do("leaf 20000")
        assert_gone(running, 40000)
        if reader:
            assert os.read(pipe, 1) == b"", "something was written into it"
            os.close(pipe)
        assert stat.S_ISFIFO(os.lstat(path).st_mode)


# ---- what hangs -------------------------------------------------------------------------------------

class FrozenFiles:
    """A file system that hangs when it is told to."""

    def __init__(self):
        self.directory = fresh_directory()
        self._server = subprocess.Popen([sys.executable, os.path.join(harness.ROOT, "tests", "run", "frozen_fs.py"),
                                         self.directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        if self._server.stdout.readline() != "mounted\n":
            self._server.wait()
            raise NotApplicable("no FUSE here, or not for this user")

    def hang(self):
        self._server.stdin.write("\n")
        self._server.stdin.flush()
        assert self._server.stdout.readline() == "hangs\n"

    def end(self):
        self._server.kill()
        self._server.wait()
        subprocess.run(["umount", "-l", self.directory], check=False)


@test
def a_file_system_that_hangs_holds_nobody_up():
    """The kernel lets no process with a file there be reaped (fuse_flush), but the program has come to its end."""
    for commands in ([], ["leaf 20000"], ["leaf 20000", "thread 20", "leaf 20000"]):
        files = FrozenFiles()
        try:
            running = Running(funcs="leaf", buffer="16K", trace_dir=os.path.join(files.directory, "t"))
            running.do("leaf 10")
            files.hang()
            running.do(*commands)
            said = running.end_without_waiting()
        finally:
            files.end()
        assert running.status() == 0, harness.name(running.status())
        assert said.count("\n") == 1 and "not complete: Connection timed out" in said, said


@test
def a_file_system_that_hangs_before_the_first_event_holds_nobody_up():
    files = FrozenFiles()
    try:
        running = Running(funcs="leaf", trace_dir=os.path.join(files.directory, "t"))
        files.hang()
        said = running.end_without_waiting()
    finally:
        files.end()
    assert running.status() == 0 and "not complete: Connection timed out" in said, said


# ---- descriptors, and who may not be told -----------------------------------------------------------

@test
def a_program_that_starts_with_hardly_a_descriptor_left_gets_one_line_or_its_trace():
    said = set()
    for most in range(5, 10):
        few = ["/bin/sh", "-c", 'exec 3</dev/null; ulimit -n %d; exec "$@"' % most, "sh"]
        done = placed(["calls", 100], user=few)
        if done.said:
            assert_says(done, "not traced", "Too many open files")
        else:
            assert done.trace().count("leaf") == 100
        said.add(bool(done.said))
    assert said == {True, False}, "with any number of descriptors the same"


SECURE = "/lib/x86_64-linux-gnu/libpcprofile.so"  # that the loader preloads where it is told a name


def preloaded_into(mode):
    """cat with this mode, run by somebody else: whether the shim is in its process, and whether there is a trace."""
    script = """mount -t tmpfs -o mode=755 tmpfs $D; cp %s $D/shim; cp /bin/cat $D; chmod 4755 $D/shim; chmod %s $D/cat
        mkdir -m 777 $D/t; mount --bind $D/shim %s
        %s env LD_PRELOAD=%s PFT_MODE=dev PFT_TRACE_DIR=$D/t $D/cat /proc/self/maps; ls -A $D/t
        """ % (harness.SHIM, mode, SECURE, " ".join(NOBODY), os.path.basename(SECURE))
    directory = fresh_directory()
    os.chmod(directory, 0o711)
    os.chmod(os.path.dirname(directory), 0o711)
    done = harness.run(["/usr/bin/unshare", "-m", "sh", "-c", script], env={"D": directory})
    assert done.status == 0 and not done.stderr, done.stderr
    *maps, last = done.stdout.decode().splitlines()
    return any(os.path.basename(SECURE) in line for line in maps), last == "executions"


@test
def in_a_program_that_is_set_user_id_the_library_does_nothing():
    if harness.bare or os.geteuid() != 0 or not may("unshare", "-m", "true") or not os.path.exists(SECURE):
        raise NotApplicable("needs root, to mount over " + SECURE)
    assert preloaded_into("755") == (True, True)
    assert preloaded_into("4755") == (True, False)
