# SPDX-License-Identifier: MIT
"""Random signatures of C and C++ functions, called through hooks and past them: the same, bit for bit."""
import os
import subprocess

import harness
import signatures
from harness import same, slow, test

COMPILERS = {"c": os.environ.get("CC", "gcc"), "cc": os.environ.get("CXX", "g++")}
RUNNER = os.path.join(harness.ROOT, "tests", "signatures", "runner.c")


def machine_vectors():
    """The widest vectors of this machine in bytes, and what tells the compiler to use them."""
    with open("/proc/cpuinfo") as file:
        flags = next(line.split() for line in file if line.startswith("flags"))
    if "avx512f" in flags:
        return 64, ["-mavx512f"]
    return (32, ["-mavx"]) if "avx" in flags else (16, [])


def start(directory, *argv):
    return subprocess.Popen(argv, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(*processes):
    for process in processes:
        said = process.communicate()[0]
        assert process.returncode == 0, " ".join(process.args) + "\n" + said[-1000:]


def build(functions, seed, vectors):
    """The program; beside it `signatures_now`, which binds all slots at start."""
    vector_bytes, flags = vectors
    where = os.path.join(harness.BUILD, "tests", "signatures", "%d-%d-%d" % (functions, seed, vector_bytes))
    signatures.write(where, signatures.generate(functions, seed, vector_bytes))
    compile_all = ["-O2", "-g", "-w", "-Wno-psabi", "-fPIC", "-I" + harness.ROOT, "-I."] + flags + ["-c"]
    for side in ("callees", "callers"):
        finish(*[start(where, compiler, *compile_all, "%s.%s" % (side, suffix), "-o", "%s_%s.o" % (side, suffix))
                 for suffix, compiler in COMPILERS.items()])
    finish(start(where, COMPILERS["c"], *compile_all, "tables.c"),
           start(where, COMPILERS["c"], *compile_all, RUNNER, "-o", "runner.o"))
    finish(start(where, COMPILERS["cc"], "-shared", "-o", "libsignatures.so", "callees_c.o", "callees_cc.o"))
    finish(*[start(where, COMPILERS["cc"], "-o", name, "runner.o", "tables.o", "callers_c.o", "callers_cc.o", "-L.",
                   "-lsignatures", "-Wl,-rpath,$ORIGIN", "-Wl,-z," + binding)
             for name, binding in (("signatures", "lazy"), ("signatures_now", "now"))])
    return os.path.join(where, "signatures")


def compare(program, rounds, **settings):
    """The program says itself what differed."""
    done = same([program, rounds], funcs="*sig_*", buffer="16K", **settings)
    assert done.stdout.endswith(b" 0 differences\n"), done.stdout[-300:].decode()
    return done


def assert_each_is_recorded(trace, functions, rounds):
    calls = sum(count for name, count in trace.counts().items() if "sig_" in name)
    assert calls == functions * rounds, "%d calls of %d" % (calls, functions * rounds)


_built = {}


def hundred():
    if not _built:
        _built["hundred"] = build(100, 1, machine_vectors())
    return _built["hundred"]


@test
def a_hundred_random_signatures_go_through_hooks_bit_for_bit():
    assert_each_is_recorded(compare(hundred(), 20).trace(), 100, 20)


@test
def a_hundred_random_signatures_go_through_when_bound_at_load():
    assert_each_is_recorded(compare(hundred() + "_now", 20).trace(), 100, 20)


@test
def a_hundred_random_signatures_go_through_in_dev_mode():
    assert_each_is_recorded(compare(hundred(), 20, mode="dev").trace(), 100, 20)


@test
def a_hundred_random_signatures_go_through_when_the_clock_is_read_by_a_call():
    assert_each_is_recorded(compare(hundred(), 20, clock="monotonic").trace(), 100, 20)


@test
def a_hundred_random_signatures_go_through_when_calls_are_dropped():
    compare(hundred(), 100, overflow="drop").trace()


@slow
def six_hundred_random_signatures_go_through_hooks_bit_for_bit():
    program = build(600, 2, machine_vectors())
    for name in (program, program + "_now"):
        assert_each_is_recorded(compare(name, 20).trace(), 600, 20)
        assert_each_is_recorded(compare(name, 20, clock="monotonic").trace(), 600, 20)


@slow
def three_hundred_random_signatures_without_wide_vectors():
    program = build(300, 3, (16, []))
    assert_each_is_recorded(compare(program, 20).trace(), 300, 20)
    compare(program, 1000, overflow="drop", min_duration="10s").trace()
