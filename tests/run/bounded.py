# SPDX-License-Identifier: MIT
"""Waits for a program within bounds: of time, of what it says, and of what is recorded of it. One that runs away
fails its test by a line, and takes neither the memory of who reads it nor the disk.
"""
import contextlib
import os
import signal
import subprocess
import threading
import time

TIMEOUT_S = 180
OUTPUT_LIMIT = 16 << 20   # bytes of one stream
TRACES_LIMIT = 128 << 20  # bytes of one run's traces: who reads them needs twenty times as much memory
LOOK_S = 0.2              # between two looks at the bounds


class Reader(threading.Thread):
    """Takes what comes out of a pipe, up to the limit."""

    def __init__(self, pipe):
        super().__init__(daemon=True)
        self.pipe, self.pieces, self.size = pipe, [], 0
        self.start()

    def run(self):
        while self.size <= OUTPUT_LIMIT:
            piece = os.read(self.pipe.fileno(), 1 << 16)
            if not piece:
                return
            self.pieces.append(piece)
            self.size += len(piece)


def write_all(pipe, data):
    try:
        with pipe:
            pipe.write(data)
    except BrokenPipeError:
        pass  # the program reads no more


def bytes_below(directory):
    """On the disk: files with holes count as what they hold."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except FileNotFoundError:
                pass  # removed meanwhile
    return total


def excess(readers, traces, deadline):
    """Which bound is exceeded, in words, or None."""
    if any(reader.size > OUTPUT_LIMIT for reader in readers):
        return "wrote more than %d MB" % (OUTPUT_LIMIT >> 20)
    if traces and bytes_below(traces) > TRACES_LIMIT:
        return "filled more than %d MB with traces" % (TRACES_LIMIT >> 20)
    if time.monotonic() > deadline:
        return "did not end within %d s" % TIMEOUT_S
    return None


def has_ended(process, threads):
    for thread in threads:
        thread.join(LOOK_S)
    if any(thread.is_alive() for thread in threads):
        return False
    try:
        process.wait(LOOK_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def communicate(process, stdin, traces):
    """stdout and stderr, to the end of `process`, which leads a session; `traces` is where its traces go. Beyond a
    bound it is killed, and that is an AssertionError."""
    deadline = time.monotonic() + TIMEOUT_S
    readers = [Reader(process.stdout), Reader(process.stderr)]
    writer = threading.Thread(target=write_all, args=(process.stdin, stdin), daemon=True)
    writer.start()
    ended = False
    while not ended:
        ended = has_ended(process, readers + [writer])
        too_much = excess(readers, traces, deadline)
        if too_much:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise AssertionError("%s %s, and was killed" % (" ".join(process.args), too_much))
    for reader in readers:
        reader.pipe.close()
    return [b"".join(reader.pieces) for reader in readers]
