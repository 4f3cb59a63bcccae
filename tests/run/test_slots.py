# SPDX-License-Identifier: MIT
"""Calls through every kind of slot that linkers make: each is recorded once, and addresses stay equal."""
import collections
import functools
import os
import shutil
import subprocess

from harness import (NotApplicable, PROGRAMS, assert_closed, assert_counts, bare, fresh_directory, program, same,
                     shimmed, test)
from test_calls import CALLS, assert_calls

TIMES = 50


@test
def calls_without_a_plt_are_recorded():
    assert_calls("calls_noplt")


@test
def calls_by_a_plt_for_indirect_branch_tracking_are_recorded():
    assert_calls("calls_ibt")


@test
def calls_of_a_library_that_is_not_linked_at_zero_are_recorded():
    assert_calls("calls_based")


@test
def functions_chosen_at_binding_are_recorded_without_a_plt():
    assert_counts(same(["ifunc_noplt"], funcs="picks").trace(), picks=100)


@test
def functions_chosen_at_binding_keep_their_address():
    assert_counts(same(["ifunc_address"], funcs="picks,own").trace(), picks=100, own=0)


@test
def each_caller_reaches_its_version_without_a_plt():
    assert_counts(same(["versions_noplt"], funcs="memcpy").trace(), memcpy=101)


@test
def thousands_of_slots_are_recorded():
    for name in "many", "many_now":
        trace = same([name], funcs="many_*").trace()
        assert_counts(trace, **{"many_%d" % i: 1 for i in range(5000)})
        assert_closed(trace)


# ---- addresses that are taken ----

def assert_leaf(name, times, **how):
    trace = same([name, TIMES], funcs="lea[f]", **how).trace()
    assert_counts(trace, leaf=times)
    assert_closed(trace)


@test
def a_call_is_recorded_beside_a_taken_address():
    """Once by the program and once by the library; pointers lead to the function itself."""
    assert_leaf("address", 2 * TIMES)


@test
def a_call_is_recorded_beside_a_taken_address_with_indirect_branch_tracking():
    assert_leaf("address_ibt", 2 * TIMES)


@test
def a_call_by_the_official_address_of_a_program_is_recorded_once():
    """The program's stub is the address, so calls through pointers, by whomever, are recorded there."""
    assert_leaf("address_nopie", 4 * TIMES)


@test
def a_call_without_a_plt_by_the_official_address_is_recorded_once():
    assert_leaf("address_nopie_noplt", 4 * TIMES)


@test
def dev_mode_records_the_same_calls_of_taken_addresses():
    for name, times in ("address", 2), ("address_ibt", 2), ("address_nopie", 4), ("address_nopie_noplt", 4):
        assert_counts(same([name, TIMES], mode="dev").trace(), **{"libcalls.so::leaf": times * TIMES})


@test
def a_call_is_recorded_beside_a_taken_address_in_a_library_that_comes_and_goes():
    assert_leaf("address_opened", TIMES)


@test
def what_needs_an_entry_hook_is_left_alone_and_said_where_it_is_named():
    argv = ["address_noplt", TIMES]
    assert_counts(same(argv, funcs="leaf,call_leaf", may_say=True).trace(), leaf=0, call_leaf=1)
    assert_counts(same(argv, funcs="lea*,call_leaf").trace(), leaf=0, call_leaf=1)
    for funcs, lines in ("leaf", 2), ("lea*", 0):
        said = shimmed([program("address_noplt"), str(TIMES)], funcs=funcs).stderr
        assert bare or said.count(b"need an entry hook") == lines, said


@test
def what_would_take_writing_to_code_is_left_alone_where_that_is_forbidden():
    done = same(["hardened", program("address"), TIMES], funcs="lea[f],call_leaf", may_say=True)
    if b"not supported" in done.stdout:
        raise NotApplicable("before Linux 6.3")
    counts = collections.Counter()
    for trace in done.traces():
        counts += trace.counts()
    assert counts == {"call_leaf": 1}, counts


# ---- other linkers ----

LINKERS = "bfd", "gold", "lld", "mold"
WAYS = [[], ["-Wl,-z,now"], ["-fno-plt"], ["-fno-pie", "-no-pie"]]


def link(linker, flags, directory):
    """The programs calls and address, and their libraries, in a directory of their own."""
    # DT_RPATH, other than DT_RUNPATH, is looked at before LD_LIBRARY_PATH.
    common = ["gcc", "-O2", "-I.", "-L" + directory, "-Wl,--disable-new-dtags,-rpath," + directory,
              "-fuse-ld=" + linker]
    shared = ["-fPIC", "-shared", "-fexceptions", "-fno-optimize-sibling-calls"] + [f for f in flags if "pie" not in f]
    for name, more in ("libcalls.so", shared), ("libaddress.so", shared), ("calls", flags + ["-lcalls"]), (
            "address", flags + ["-laddress", "-lcalls"]):
        source = "tests/programs/%s.c" % name.split(".")[0]
        subprocess.run(common + [source, "-o", os.path.join(directory, name)] + more, check=True)


def assert_linked(linker, flags):
    if not shutil.which("ld." + linker):
        raise NotApplicable("no such linker here")
    directory = fresh_directory()
    link(linker, flags, directory)
    trace = same([os.path.join(directory, "calls"), TIMES], funcs=CALLS).trace()
    assert_counts(trace, leaf=TIMES, outer=TIMES, middle=TIMES, inner=TIMES)
    times = 0 if "-fno-plt" in flags else 4 if "-no-pie" in flags else 2
    trace = same([os.path.join(directory, "address"), TIMES], funcs="lea[f]").trace()
    assert_counts(trace, leaf=times * TIMES)


for each in LINKERS:
    for way in WAYS:
        test(functools.partial(assert_linked, each, way), "what %s links is recorded%s" % (
            each, " with " + " ".join(way) if way else ""))


# ---- Rust ----

@test
def rust_calls_other_libraries_and_is_recorded():
    if not shutil.which("rustc"):
        raise NotApplicable("no rustc here")
    calls = os.path.join(fresh_directory(), "calls")
    subprocess.run(["rustc", "-O", "-L", PROGRAMS, "-o", calls, "tests/programs/calls.rs"], check=True)
    trace = same([calls, 100], funcs=CALLS).trace()
    assert_counts(trace, leaf=100, outer=100, middle=100, inner=100)
    assert_closed(trace)
