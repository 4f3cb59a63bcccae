# SPDX-License-Identifier: MIT
"""Programs that were built with a sanitizer, whose runtime interposes half of libc and must be ready first: they
run as without the shim, and a mistake is found all the same."""
import os
import re
import shutil
import subprocess

import harness
from harness import NotApplicable, assert_same, fresh_directory, run, shimmed, test

# What finds what: sanitizer -> a mistake of tests/programs/sanitized.c.
MISTAKES = {"address": "overflow", "thread": "race", "undefined": "integer", "leak": "leak", "memory": "unset"}
SHARED, STATIC = "shared", "static"
GCC_STATIC = {"address": "-static-libasan", "thread": "-static-libtsan", "undefined": "-static-libubsan"}
RUNTIMES = [("gcc", s, SHARED, []) for s in ("address", "thread", "undefined", "leak")]
RUNTIMES += [("gcc", s, STATIC, [flag]) for s, flag in GCC_STATIC.items()]
RUNTIMES += [("clang", s, STATIC, []) for s in MISTAKES]
RUNTIMES += [("clang", "address", SHARED, ["-shared-libsan"])]


def build(compiler, sanitizer, flags):
    path = os.path.join(fresh_directory(), "sanitized")
    argv = [compiler, "-g", "-O1", "-fsanitize=" + sanitizer, *flags, "-o", path, "tests/programs/sanitized.c",
            "-pthread"]
    if not shutil.which(compiler):
        raise NotApplicable("no %s here" % compiler)
    if "-shared-libsan" in flags:  # the loader does not look where clang keeps its runtimes
        runtime = subprocess.run([compiler, "-print-file-name=libclang_rt.asan-x86_64.so"], capture_output=True,
                                 text=True, check=True).stdout.strip()
        argv.append("-Wl,-rpath," + os.path.dirname(runtime))
    if subprocess.run(argv, capture_output=True).returncode:
        raise NotApplicable("%s has no such runtime" % compiler)
    return path


def summary(outcome):
    """The sanitizer's verdict. Its report also names addresses and process ids."""
    found = re.findall(rb"SUMMARY: .*|runtime error: .*", outcome.stderr)
    assert found, "no verdict in %r" % outcome.stderr[-500:]
    return found[0]


def assert_both_processes(traces):
    assert len(traces) == 2, traces
    # Which no runtime interposes or calls: what it interposes, a program with a static runtime calls in itself.
    counts = [sum(n for name, n in trace.counts().items() if name.endswith("getpgid")) for trace in traces]
    assert sorted(counts) == [0, 4], counts


def runs_as_without(compiler, sanitizer, flags):
    path = build(compiler, sanitizer, flags)
    plain = run([path])
    if plain.status != 0:
        raise NotApplicable("the program does not run here without the shim either")
    for how in ({"mode": "off"}, {"mode": "user", "funcs": "pthread_*,getpgid"}, {"mode": "dev"}):
        traced = shimmed([path], **how)
        assert_same(plain, traced)
        if how["mode"] != "off" and not harness.bare:
            assert_both_processes(traced.traces())
    mistake = MISTAKES[sanitizer]
    plain = run([path, mistake])
    traced = shimmed([path, mistake], mode="dev")
    assert traced.status == plain.status, "ends with %d, without the shim with %d" % (traced.status, plain.status)
    assert summary(traced) == summary(plain), "%r, without the shim %r" % (summary(traced), summary(plain))


for compiler, sanitizer, kind, flags in RUNTIMES:
    def sanitized(compiler=compiler, sanitizer=sanitizer, flags=flags):
        runs_as_without(compiler, sanitizer, flags)
    test(sanitized, "%s's %s sanitizer with a %s runtime" % (compiler, sanitizer, kind))
