# SPDX-License-Identifier: MIT
"""What the harness itself promises: a program that runs away is stopped, and the test that ran it fails."""
import bounded
import harness
from harness import test


def assert_is_stopped(command, why, **bounds):
    before = {name: getattr(bounded, name) for name in bounds}
    vars(bounded).update(bounds)
    try:
        harness.run(["sh", "-c", command], env={"PFT_TRACE_DIR": harness.fresh_directory()})
    except AssertionError as failure:
        assert str(failure).endswith(why + ", and was killed") and "\n" not in str(failure), failure
    else:
        raise AssertionError("it came to its end")
    finally:
        vars(bounded).update(before)


@test
def a_program_that_writes_without_end_is_stopped():
    assert_is_stopped("yes; sleep 60", "wrote more than 16 MB")
    assert_is_stopped("yes >&2; sleep 60", "wrote more than 16 MB")


@test
def a_program_whose_trace_grows_without_end_is_stopped():
    assert_is_stopped("yes > $PFT_TRACE_DIR/trace", "filled more than 1 MB with traces", TRACES_LIMIT=1 << 20)


@test
def a_program_that_does_not_end_is_stopped():
    assert_is_stopped("sleep 60", "did not end within 0 s", TIMEOUT_S=0)


@test
def a_program_may_read_nothing_and_close_its_output():
    done = harness.run(["sh", "-c", "exec 0<&- 1>&- 2>&-; sleep 0.3; exit 3"], stdin=b"x" * (1 << 20))
    assert (done.stdout, done.stderr, done.status) == (b"", b"", 3), done.status
