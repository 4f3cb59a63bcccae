# SPDX-License-Identifier: MIT
"""What a program gives up, and programs that have others give it up: as without the shim, and all of it recorded."""
import os

import harness
from harness import NotApplicable, assert_counts, program, same, test

# Way (tests/programs/drops.c) -> calls of leaf() in the trace: 1000 before and after, and some on the way.
CALLS = {
    "user": 2000, "user_by_number": 2000, "user_and_return": 8000, "user_with_threads": 3000, "capabilities": 2000,
    "kept_capabilities": 2000, "all": 2000, "namespaces": 4000, "users": 2000,
}
# Recording ends before a filter comes.
FILTERED = {"filter": 1000, "filter_all_threads": 1000, "all_and_filter": 1000, "filter_fails": 1000}


def assert_gives_up(way, count):
    if os.geteuid() != 0:
        raise NotApplicable("has nothing to give up")
    for buffer in ("16K", "128K"):
        assert_counts(same(["drops", way], funcs="leaf", buffer=buffer).trace(), leaf=count)
    same(["drops", way], mode="dev", buffer="16K").traces()


for way, count in {**CALLS, **FILTERED}.items():
    def gives_up(way=way, count=count):
        assert_gives_up(way, count)
    test(gives_up, "a program that gives up %s does so as without the shim" % way.replace("_", " "))


@test
def a_handler_may_leave_what_the_flusher_is_stopped_around():
    for how in ({"funcs": "leaf"}, {"funcs": "leaf", "stacks": "all"}, {"mode": "dev"}):
        traces = same(["jumps"], **how).traces()
        counts = [t.count("leaf") + t.count("libcalls.so::leaf") for t in traces]
        assert max(counts) == 400 == sum(counts), counts


TOOLS = {
    "unshare -U": ["/usr/bin/unshare", "-U"],
    "unshare -Ur": ["/usr/bin/unshare", "-Ur"],
    "unshare of all": ["/usr/bin/unshare", "-m", "-u", "-i", "-n", "-p", "-f"],
    "nsenter": ["/usr/bin/nsenter", "-t", str(os.getpid()), "-m", "-u", "-i", "-n"],
    "setpriv": ["/usr/bin/setpriv", "--reuid=0", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all",
                "--no-new-privs"],
    "runuser": ["/usr/sbin/runuser", "-u", "root", "--"],
}

for name, tool in TOOLS.items():
    def is_used(tool=tool):
        if os.geteuid() != 0 or not os.path.exists(tool[0]) or harness.run(tool + ["/bin/true"]).status != 0:
            raise NotApplicable("no such tool here, or it may not")
        for how in ({"funcs": "leaf"}, {"mode": "dev"}):
            traces = same(tool + [program("calls"), 100], **how).traces()
            ours = [t for t in traces if t.process()["process"] == "calls"]
            assert len(ours) == 1 and ours[0].count("leaf") + ours[0].count("libcalls.so::leaf") == 100, ours
    test(is_used, "%s starts a program as without the shim" % name)


@test
def su_to_another_user_starts_a_program_that_may_not_write_there():
    """A line of each program says so."""
    su = "/bin/su"
    argv = [su, "-s", "/bin/sh", "nobody", "-c", "%s 10; id -u" % program("calls")]
    if os.geteuid() != 0 or not os.path.exists(su) or harness.run(argv).status != 0:
        raise NotApplicable("no su here, or it may not")
    for how in ({"funcs": "leaf"}, {"mode": "dev"}):
        done = same(argv, may_say=True, **how)
        assert {t.process()["process"] for t in done.traces()} == {"su"}
        said = done.said.decode().splitlines()
        assert said and all("not traced: Permission denied" in line for line in said), said


def numbers(*names):
    """Of x86-64."""
    return ",".join(str({"unshare": 272, "close_range": 436}[name]) for name in names)


@test
def descriptors_are_the_programs_own_where_the_kernel_refuses_to_part_them():
    for refused in (numbers("unshare"), numbers("close_range"), numbers("unshare", "close_range")):
        for argv in (["descriptors"], ["calls", 1000]):
            if argv == ["descriptors"] and refused == numbers("unshare", "close_range"):
                continue  # then they are among them, from 700 on
            done = same(["refused", refused, program(argv[0])] + argv[1:], funcs="leaf,outer")
            counts = {t.process()["process"]: t.count("leaf") + t.count("outer") for t in done.traces()}
            assert counts["refused"] == 1 and counts[argv[0]] >= 1000, counts


@test
def what_is_executed_behind_a_filter_is_not_recorded():
    """It kills for any call but those that the program needs."""
    for how in ({"funcs": "leaf"}, {"mode": "dev"}):
        done = same(["refused", "all", program("calls"), 100], **how)
        assert [t.process()["process"] for t in done.traces()] == ["refused"]
