# SPDX-License-Identifier: MIT
"""What the programs of `pft` write when a terminal reads it, and only then: colours, and how far they have come."""
import os
import pty
import re
import subprocess
import threading

from harness import BUILD, NotApplicable, fresh_directory, shimmed, program, test
import harness

LONG = 9 << 20  # bytes: from 8 MiB on progress is shown
ESCAPE = re.compile(rb"\x1b\[[0-9;]*[mK]")


class Terminal:
    """A pseudoterminal; what was written to it is in `text` after close()."""

    def __init__(self):
        self._ours, self.theirs = pty.openpty()
        self.text = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        try:
            while piece := os.read(self._ours, 65536):
                self.text += piece
        except OSError:  # EIO: nobody has the other end any more
            pass

    def close(self):
        os.close(self.theirs)
        self._reader.join()
        os.close(self._ours)
        self.text = self.text.replace(b"\r\n", b"\n")
        return self.text


def on_terminal(*argv, stdout=None, **variables):
    """(what it wrote to the terminal, the exit status); only stderr is the terminal if `stdout` is given."""
    terminal = Terminal()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    environment.update({"TERM": "xterm", **variables})
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=stdout or terminal.theirs, stderr=terminal.theirs,
                          env=environment, timeout=120)
    return terminal.close(), done.returncode


def recorded():
    if harness.bare:
        raise NotApplicable("runs without the shim")
    return shimmed([program("bottlenecks"), "sleep"], mode="dev").paths()[0]


def long_trace():
    """Traces one after the other are a trace."""
    path, long = recorded(), os.path.join(fresh_directory(), "long.pftrace")
    with open(path, "rb") as file:
        piece = file.read()
    with open(long, "wb") as file:
        for _ in range(LONG // len(piece) + 1):
            file.write(piece)
    return long


def percents(text):
    return [int(p) for p in re.findall(rb"(\d+) %\x1b\[K", text)]


REPORT, CONVERT, RECOVER = (os.path.join(BUILD, "pft-" + name) for name in ("report", "convert", "recover"))


@test
def long_work_says_on_a_terminal_how_far_it_has_come():
    long = long_trace()
    for argv in ([REPORT, long], [CONVERT, "-o", os.path.join(fresh_directory(), "out.json"), long], [RECOVER, long]):
        with open(os.devnull, "wb") as nowhere:
            said, status = on_terminal(*argv, stdout=nowhere)
        found = percents(said)
        assert status == 0 and len(found) >= 10, (argv, status, said[:500])
        assert found == sorted(found) and found[0] == 0, (argv, found)
        last = said.rindex(b"%\x1b[K")
        assert said[last + 4:].startswith(b"\r\x1b[K"), "it was not erased: %r" % said[last:]
        assert b"long.pftrace" in said, said[:200]


@test
def how_far_work_has_come_is_erased_before_an_error_is_said():
    long = long_trace()
    with open(long, "ab") as file:
        file.write(b"junk")
    said, status = on_terminal(CONVERT, "-o", os.path.join(fresh_directory(), "out.json"), long)
    assert status == 2 and said.split(b"\r\x1b[K")[-1].startswith(b"pft: "), said[-300:]


@test
def nobody_else_is_told_how_far_work_has_come():
    done = subprocess.run([REPORT, long_trace()], capture_output=True, timeout=120)
    assert done.returncode == 0 and not done.stderr and b"\x1b" not in done.stdout, done.stderr[:500]


@test
def a_report_has_colours_on_a_terminal_only():
    path = recorded()
    plain = subprocess.run([REPORT, path], capture_output=True, timeout=60, env={**os.environ, "TERM": "xterm"}).stdout
    assert b"\x1b" not in plain
    coloured = on_terminal(REPORT, path)[0]
    assert b"\x1b[1m" in coloured and ESCAPE.sub(b"", coloured) == plain, coloured[:500]
    assert on_terminal(REPORT, path, NO_COLOR="1")[0] == plain
    assert on_terminal(REPORT, path, TERM="dumb")[0] == plain
    assert on_terminal(REPORT, path, NO_COLOR="")[0] == coloured
    assert b"\x1b" not in on_terminal(REPORT, "--format=json", path)[0]
