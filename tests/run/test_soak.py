# SPDX-License-Identifier: MIT
"""Long runs: while servers are under load their memory stays flat, they gain no descriptors, and their traces, of which
a few segments are kept, take no more than so much of the disk."""
import glob
import http.client
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import harness
import trace as reader
from bounded import bytes_below
from harness import NotApplicable, fresh_directory, program, test
from real import free_port

SECONDS = int(os.environ.get("SOAK_SECONDS", "600"))
SEGMENT, KEPT = 1 << 20, 3
# What a segment may have too much: what the ring of one thread holds.
DISK_LIMIT = (KEPT + 1) * (SEGMENT + (1 << 19))
CLIENTS = 4
PAGE_BYTES = 20000
PAUSE_S = 0.02  # between two connections: threads that have ended wait for the flusher, and it for a processor


def descriptors(path):
    try:
        return len(os.listdir(path))
    except OSError:  # the thread has ended
        return 0


class Sample:
    """The flusher has a table of descriptors of its own; so has who made one for himself."""

    def __init__(self, server):
        with open("/proc/%d/status" % server.pid, encoding="ascii", errors="replace") as file:
            self.memory = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS:"))
        self.descriptors = max(descriptors(path) for path in glob.glob("/proc/%d/task/*/fd" % server.pid))
        session = glob.glob(os.path.join(server.directory, "executions", "*-*", "*.session"))
        assert len(session) == 1, "there is no session, or several: %s" % session
        self.session = os.stat(session[0]).st_blocks * 512
        self.disk = bytes_below(server.directory)


class Server:
    """A program under the shim, and the clients that load it. `port`: 0 for a program that loads itself."""

    def __init__(self, argv, how_to_end, port=0, cwd=None, **pft):
        self.directory, self.how_to_end, self.port = fresh_directory(), how_to_end, port
        self.name = os.path.basename(argv[0])
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "LD_"))}
        environment.update(LD_LIBRARY_PATH=harness.PROGRAMS, TEST_DIRECTORY=fresh_directory(), LD_PRELOAD=harness.SHIM,
                           **harness.settings(pft.pop("mode", "dev"), pft.pop("funcs", None), self.directory,
                                              {"max_size": "%d,%d" % (SEGMENT, KEPT), **pft}))
        self.process = subprocess.Popen(argv, env=environment, cwd=cwd, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid, self.samples, self.requests, self.failures = self.process.pid, [], 0, []
        self.clients = [threading.Thread(target=self.load, daemon=True) for _ in range(CLIENTS if port else 0)]
        self.is_over = threading.Event()

    def ask(self):
        """A connection for every few requests, as clients come and go."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for _ in range(20):
            connection.request("GET", "/page.html")
            answer = connection.getresponse()
            assert answer.status == 200 and len(answer.read()) == PAGE_BYTES, answer.status
            self.requests += 1
            if answer.will_close:
                break
        connection.close()
        time.sleep(PAUSE_S)

    def load(self):
        try:
            while not self.is_over.is_set():
                self.ask()
        except Exception as what:  # told when all is over
            self.failures.append(what)

    def start(self):
        for _ in range(600 if self.port else 0):
            try:
                self.ask()
                break
            except OSError:
                time.sleep(0.1)
        for client in self.clients:
            client.start()

    def look(self):
        assert self.process.poll() is None, "%s ended with %s" % (self.name, harness.name(self.process.returncode))
        self.samples.append(Sample(self))
        assert self.samples[-1].disk <= DISK_LIMIT, "%s: %d bytes on the disk" % (self.name, self.samples[-1].disk)

    def stop(self):
        self.is_over.set()
        for client in self.clients:
            client.join()

    def assert_flat(self):
        """The last half of the time takes no more than the quarter before it, but for how many threads waited for the
        flusher at once, and how many connections were just being closed, which is chance."""
        quarter = len(self.samples) // 4
        for what, slack in (("memory", 4 << 20), ("session", 2 << 20), ("descriptors", 4 * CLIENTS)):
            before = max(getattr(s, what) for s in self.samples[quarter:2 * quarter])
            after = max(getattr(s, what) for s in self.samples[2 * quarter:])
            assert after <= before + slack, "%s: %s grew from %d to %d" % (self.name, what, before, after)

    def end(self):
        self.process.send_signal(self.how_to_end)
        self.process.wait(60)
        if self.how_to_end == signal.SIGKILL:
            done = subprocess.run([os.path.join(harness.BUILD, "pft-recover"), self.directory], capture_output=True)
            assert done.returncode == 0, done.stderr

    def assert_is_right(self):
        paths = glob.glob(os.path.join(self.directory, "executions", "*-*", "*.pftrace"))
        harness.check(paths)
        last = max((reader.Trace(path).attributes for path in paths), key=lambda a: a["pftshim.segment"])
        assert len(paths) == KEPT and last["pftshim.segments_removed"] == last["pftshim.segment"] - KEPT > 0, last
        assert last["pftshim.dropped"] == 0, (self.name, last)
        assert not self.failures and (self.requests > SECONDS or not self.port), (self.failures[:3], self.requests)

    def remove(self):
        self.stop()
        self.process.kill()
        self.process.wait()


def page_directory():
    directory = fresh_directory()
    os.chmod(directory, 0o755)
    with open(os.path.join(directory, "page.html"), "w", encoding="ascii") as file:
        file.write("x" * PAGE_BYTES)
    return directory


def threads():
    return Server([program("killed"), "4", "64"], signal.SIGKILL, mode="user", funcs="leaf,through*")


def python():
    port = free_port()
    return Server(["/usr/bin/python3", "-m", "http.server", "-b", "127.0.0.1", str(port)], signal.SIGINT, port,
                  page_directory())


NGINX = """
daemon off; master_process off; pid nginx.pid; error_log stderr crit; events { worker_connections 64; }
http { access_log off; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u;
  scgi_temp_path s; server { listen 127.0.0.1:%d; root .; } }
"""


def nginx(path):
    port, directory = free_port(), page_directory()
    with open(os.path.join(directory, "nginx.conf"), "w", encoding="ascii") as file:
        file.write(NGINX % port)
    return Server([path, "-p", directory, "-c", "nginx.conf", "-e", "stderr"], signal.SIGQUIT, port, directory)


@test
def servers_under_load_are_recorded_for_long():
    if harness.bare:
        raise NotApplicable("runs without the shim")
    path = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    servers = [threads(), python()] + ([nginx(path)] if path else [])
    try:
        for server in servers:
            server.start()
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            time.sleep(SECONDS / 200)
            for server in servers:
                server.look()
        for server in servers:
            server.stop()
            server.assert_flat()
            server.end()
            server.assert_is_right()
    finally:
        for server in servers:
            server.remove()


if __name__ == "__main__":
    sys.exit(1 if harness.run_all(harness.tests, sys.argv[1:]) else 0)
