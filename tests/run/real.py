# SPDX-License-Identifier: MIT
"""What the tests of real programs share: a task that is done without the shim, once with a selection in user mode
and once in dev mode, each time in a fresh directory of its own."""
import functools
import hashlib
import os
import random
import shutil
import socket
import stat

import harness
from harness import NotApplicable, assert_same, check

# What is long in dev mode is cut: the shortest calls are filtered, and that is tested on the way.
LONG = {"min_duration": "20us"}


@functools.lru_cache
def text(size):
    """Words that compress as prose does, the same in every run."""
    words = ["".join(random.Random(n).choices("etaoinshrdlu", k=2 + n % 9)) for n in range(700)]
    source = random.Random(7)
    lines = (" ".join(source.choices(words, k=9)) for _ in range(size // 50))
    return "\n".join(lines)[:size].encode()


def write(directory, name, content):
    with open(os.path.join(directory, name), "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def nothing(directory):
    pass


def prose(size):
    return lambda directory: write(directory, "prose.txt", text(size))


def files(**contents):
    """Prepares files; in their names _ stands for the dot."""
    def prepare(directory):
        for name, content in contents.items():
            write(directory, name.replace("_", "."), content)
    return prepare


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def snapshot(directory):
    """Names and contents of the regular files below a directory."""
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, directory)] = hashlib.sha256(file.read()).hexdigest()
    return found


def in_fresh_directory(prepare, go):
    directory = harness.fresh_directory()
    prepare(directory)
    outcome = go(directory)
    return outcome, snapshot(directory)


def is_there(program):
    if program.startswith("/"):
        return os.path.exists(program)
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def need(*programs):
    for program in programs:
        if not is_there(program):
            raise NotApplicable("no %s here" % program)


def compare(argv, prepare, funcs, files, env=None, processes=1, needs=(), filtered=LONG, user=None):
    """One task in the three ways. `files`: compare what it leaves behind; `processes`: at least so many traces;
    `needs`: programs beside argv[0]; `filtered`: settings that keep the trace of dev mode small; `user`: as harness.run."""
    need(argv[0], *needs)
    argv = [shutil.which(argv[0])] + argv[1:]
    plain, left = in_fresh_directory(prepare, lambda cwd: harness.run(argv, env=env, cwd=cwd, user=user))
    assert plain.status == 0, "the program itself: " + plain.stderr.decode("utf-8", "replace")[-500:]
    for how in ({"mode": "user", "funcs": funcs}, {"mode": "dev", **filtered}):
        traced, ours = in_fresh_directory(prepare,
                                          lambda cwd: harness.shimmed(argv, env=env, cwd=cwd, user=user, **how))
        try:
            assert_same(plain, traced)
            assert not files or ours == left, "leaves other files: %s" % {
                n for n in ours.keys() | left.keys() if ours.get(n) != left.get(n)}
            if not harness.bare:
                paths = traced.paths()
                assert len(paths) >= processes, "%d traces of %d processes" % (len(paths), processes)
                check(paths)
        except AssertionError as what:
            raise AssertionError("in %s mode: %s" % (how["mode"], what)) from None
