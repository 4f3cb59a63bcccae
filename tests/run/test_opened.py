# SPDX-License-Identifier: MIT
"""Objects that are opened and closed while the program runs: the calls that they make are in the trace, from their
constructors on, and the loader sees the same callers as ever."""
import os
import shutil

import harness
from harness import NotApplicable, assert_closed, assert_counts, fresh_directory, program, same, shimmed, slow, test

PLUGIN = "libopened_plugin.so"
TWINS = ["libopened_twin_a.so", "libopened_twin_b.so"]
CALLS = "leaf,outer,middle,inner"


def opens(how, times, *libraries, **settings):
    trace = same(["opens", how, times, *libraries], **settings).trace()
    assert_closed(trace)
    return trace


def assert_plugin_recorded(how, times=3):
    trace = opens(how, times, PLUGIN, funcs=CALLS)
    assert_counts(trace, leaf=2 * times, outer=times, middle=times, inner=times)


@test
def an_opened_library_is_recorded_from_its_constructor_to_its_destructor():
    assert_plugin_recorded("lazy")


@test
def so_is_one_that_is_bound_at_once():
    assert_plugin_recorded("now")


@test
def and_one_that_joins_the_global_scope():
    assert_plugin_recorded("global")


@test
def and_one_that_binds_to_its_own_scope_first():
    assert_plugin_recorded("deepbind")


@test
def in_dev_mode_calls_of_an_opened_library_have_object_and_name():
    trace = opens("lazy", 5, PLUGIN, mode="dev")
    assert_counts(trace, **{"libcalls.so::leaf": 10, "libcalls.so::outer": 5, "libcalls.so::middle": 0})


@test
def a_library_in_another_namespace_is_recorded_before_its_functions_are_told():
    trace = opens("namespace", 3, PLUGIN, funcs=CALLS)
    assert_counts(trace, leaf=3, outer=3, middle=3, inner=3)  # the constructor has run by then


@test
def so_is_a_library_without_startup_code():
    trace = opens("lazy", 3, "libopened_bare.so", funcs="outer,inner")
    assert_counts(trace, outer=3, inner=3)


@test
def the_next_definition_is_that_behind_the_library_which_asks():
    trace = opens("lazy", 3, "libopened_next.so", funcs="inner,middle,dlsym")
    assert_counts(trace, middle=3, inner=3)


@test
def a_library_finds_its_neighbour_by_bare_name():
    directory = fresh_directory()
    shutil.copy(program("libopened_beside.so"), os.path.join(directory, "libhere.so"))
    shutil.copy(program("libopened_twin_a.so"), os.path.join(directory, "libbeside.so"))
    trace = opens("lazy", 3, os.path.join(directory, "libhere.so"), funcs="twin")
    assert_counts(trace, twin=3)


@test
def libraries_with_the_same_function_are_told_apart():
    trace = opens("lazy", 4, *TWINS, funcs="twin@libopened_twin_b.so")
    assert_counts(trace, twin=4)
    trace = opens("lazy", 4, *TWINS, mode="dev", funcs="twin")
    assert_counts(trace, **{"libopened_twin_a.so::twin": 4, "libopened_twin_b.so::twin": 4})


@test
def a_name_stands_for_what_it_leads_to_now():
    link = os.path.join(fresh_directory(), "libnow.so")
    libraries = [program(name) for name in [*TWINS, PLUGIN]]
    trace = same(["open_replaced", link, *libraries], funcs="twin,outer").trace()
    assert_counts(trace, twin=10, outer=5)


@test
def a_library_that_is_opened_elsewhere_is_recorded_there():
    trace = same(["open_moved", 20], mode="dev", funcs="twin").trace()
    assert_counts(trace, **{"libopened_twin_a.so::twin": 20, "libcalls.so::outer": 20, "libcalls.so::leaf": 20})
    assert_closed(trace)


@test
def errors_are_the_same_word_for_word():
    assert_counts(same(["open_errors"], funcs="inner").trace(), inner=1)


@test
def exceptions_leave_opened_libraries():
    trace = same(["throw_opened", 50], funcs="through,outer").trace()
    assert_counts(trace, through=50, outer=1)
    assert_closed(trace)


@test
def threads_open_and_close_at_once_and_children_too():
    traces = same(["open_threads", 100, 5], funcs=CALLS).traces()
    assert len(traces) == 6, "%d traces" % len(traces)
    total = sum((trace.counts() for trace in traces[1:]), traces[0].counts())
    assert total["outer"] == 205, total
    assert total["inner"] == 205, total


@test
def modules_that_the_c_library_opens_are_harmless():
    assert_closed(same(["converts"], mode="dev").trace())


@test
def thousands_of_openings_use_few_hooks():
    done = same(["opens", "lazy", 3000, PLUGIN, *TWINS], funcs=CALLS + ",twin", buffer="1M")
    assert_counts(done.trace(), leaf=6000, outer=3000, inner=3000, twin=6000)
    assert b"in use" not in done.stderr, done.stderr


@slow
def hundred_thousand_openings_use_few_hooks():
    trace = same(["opens", "lazy", 50000, PLUGIN, TWINS[0]], funcs="outer,twin", buffer="1M").trace()
    assert_counts(trace, outer=50000, twin=50000)


# ---- interpreters -----------------------------------------------------------------------------------

PYTHON = """
import json, ctypes, sqlite3, zlib, decimal
db = sqlite3.connect(":memory:")
db.execute("create table t(a)")
db.executemany("insert into t values(?)", [(n,) for n in range(100)])
print(db.execute("select sum(a) from t").fetchone(), json.dumps([1, {"a": None}]), zlib.crc32(b"x"))
print(ctypes.CDLL(None).abs(-5), decimal.Decimal(1) / 3)
"""

PERL = """
use POSIX; use List::Util qw(sum); use Data::Dumper; use Digest::MD5 qw(md5_hex); use Fcntl;
print sum(map { POSIX::floor($_ * 1.5) } 1..50), " ", md5_hex("x"), " ", Dumper([1]);
"""


def interpreter(path, option, text):
    if not os.path.exists(path):
        raise NotApplicable("no %s here" % path)
    return same([path, option, text], mode="dev").trace().counts()


@test
def extension_modules_of_python_are_recorded():
    counts = interpreter("/usr/bin/python3", "-c", PYTHON)
    assert counts["libsqlite3.so.0::sqlite3_step"] >= 100, counts.most_common(20)


@test
def modules_of_perl_are_recorded():
    counts = interpreter("/usr/bin/perl", "-e", PERL)
    assert counts, "nothing is recorded"
