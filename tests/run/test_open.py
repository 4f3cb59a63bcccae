# SPDX-License-Identifier: MIT
"""`pft open`: the trace is handed to whoever knows the address, once, and to nobody else."""
import glob
import hashlib
import http.client
import http.server
import os
import socket
import subprocess
import threading
import urllib.parse

import browser
import harness
import trace as reader
from harness import NotApplicable, fresh_directory, program, shimmed, test
from test_executions import PFT, refuses


class Opened:
    """A `pft open` that waits for the viewer."""

    def __init__(self, *arguments, **variables):
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("PFT_", "MONARCH_", "LD_")) and k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        environment.update(PFT_LIBRARY=harness.SHIM, **variables)
        self.process = subprocess.Popen([PFT, "open", "--port=0", "--timeout=60", *arguments], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.url = urllib.parse.urlsplit(self.address.partition("#!/?url=")[2])

    def ask(self, method="GET", path=None, **headers):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=60)
        connection.request(method, path or self.url.path, headers=headers)
        answer = connection.getresponse()
        answer.body = answer.read()
        connection.close()
        return answer

    def ends(self):
        said = self.process.communicate(timeout=60)
        return self.process.returncode, *said


def recorded(*argv, **settings):
    if harness.bare:
        raise NotApplicable("runs without the shim")
    return shimmed(argv or [program("calls")], mode="dev", **settings)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def big():
    """A trace that no socket takes at once."""
    path = os.path.join(fresh_directory(), "big trace.pftrace")
    with open(path, "wb") as file:
        for _ in range(1000):
            file.write(b"\x0a\xff\x7f" + bytes(16383))
    return path


@test
def open_hands_a_trace_over_once():
    path = recorded().paths()[0]
    opened = Opened(path)
    assert opened.address.startswith("https://ui.perfetto.dev/#!/?url=http://127.0.0.1:"), opened.address
    assert opened.url.path.endswith("/" + os.path.basename(path)) and len(opened.url.path.split("/")[1]) == 32, opened.url
    answer = opened.ask("OPTIONS", Origin="https://ui.perfetto.dev")
    assert answer.status == 204 and answer.headers["Access-Control-Allow-Private-Network"] == "true"
    answer = opened.ask("HEAD")
    assert answer.status == 200 and answer.headers["Content-Length"] == str(os.path.getsize(path))
    answer = opened.ask()
    assert answer.status == 200 and answer.body == content(path)
    assert answer.headers["Access-Control-Allow-Origin"] == "https://ui.perfetto.dev"
    status, _, said = opened.ends()
    assert status == 0 and said.endswith("pft: the viewer has fetched the trace\n"), (status, said)


@test
def open_makes_another_address_each_time():
    path = recorded().paths()[0]
    both = [Opened(path), Opened(path)]
    assert both[0].url.path != both[1].url.path
    assert both[1].ask(path=both[0].url.path).status == 404
    for opened in both:
        opened.ask()
        assert opened.ends()[0] == 0


@test
def open_serves_nothing_else_and_nowhere_else():
    path = recorded().paths()[0]
    opened = Opened(path)
    folder, name = opened.url.path.rsplit("/", 1)
    for other in ("/", "/" + name, folder, folder + "/", folder + "/../" + name, opened.url.path + "/..", "/etc/passwd"):
        answer = opened.ask(path=other)
        assert answer.status == 404 and not answer.body and "Access-Control-Allow-Origin" not in answer.headers, other
    for method in ("POST", "PUT", "DELETE"):
        assert opened.ask(method).status == 405
    with socket.socket() as other:
        assert other.connect_ex(("127.0.0.2", opened.url.port)) != 0
    opened.ask()
    assert opened.ends()[0] == 0


@test
def open_waits_for_a_fetch_that_comes_to_its_end():
    path = big()
    opened = Opened(path)
    assert opened.url.path.endswith("/big_trace.pftrace"), opened.url
    silent = [socket.create_connection((opened.url.hostname, opened.url.port)) for _ in range(20)]
    silent[-1].sendall(b"GET ")
    with socket.create_connection((opened.url.hostname, opened.url.port)) as cut:
        cut.sendall(b"GET %s HTTP/1.1\r\n\r\n" % opened.url.path.encode())
        assert cut.recv(100)
    answer = opened.ask()
    assert answer.status == 200 and answer.body == content(path)
    assert opened.ends()[0] == 0
    for one in silent:
        one.close()


@test
def open_gives_up_in_the_end():
    path = recorded().paths()[0]
    opened = Opened("--timeout=0", path)
    status, _, said = opened.ends()
    assert status == 1 and "was not fetched within 0 s" in said, (status, said)


@test
def open_says_that_its_port_is_in_use():
    path = recorded().paths()[0]
    opened = Opened(path)
    other = Opened("--port=%d" % opened.url.port, path)
    status, out, said = other.ends()
    assert status == 1 and not out and said.count("\n") == 1 and str(opened.url.port) in said, (status, said)
    opened.ask()
    assert opened.ends()[0] == 0


@test
def open_shows_all_processes_of_an_execution():
    done = recorded("/bin/sh", "-c", "/bin/ls / >/dev/null; /bin/true; :", execution_id="tree")
    scratch = fresh_directory()
    for what in ([], ["tree"], [os.path.join(done.directory, "executions", "latest")]):
        opened = Opened(*what, PFT_TRACE_DIR=done.directory, TMPDIR=scratch)
        merged = os.path.join(fresh_directory(), "merged.pftrace")
        assert not os.listdir(scratch) and opened.url.path.endswith("/tree.pftrace"), (os.listdir(scratch), opened.url)
        with open(merged, "wb") as file:
            file.write(opened.ask().body)
        assert opened.ends()[0] == 0
        together, parts = reader.Trace(merged), done.traces()
        assert not together.errors and len(parts) == 3, together.errors
        assert len(together.slices) == sum(len(part.slices) for part in parts), what


@test
def open_shows_json_where_there_is_nothing_else():
    done = recorded(execution_id="night", format="json")
    opened = Opened("night", PFT_TRACE_DIR=done.directory)
    path, = glob.glob(os.path.join(done.directory, "executions", "night", "*.json"))
    assert opened.ask().body == content(path) and opened.url.path.endswith(".json")
    assert opened.ends()[0] == 0


@test
def open_refuses_what_is_no_trace():
    path, junk, empty = recorded().paths()[0], os.path.join(fresh_directory(), "junk"), fresh_directory()
    with open(junk, "wb") as file:
        file.write(b"hello, world")
    for wrong in ([junk], ["/dev/null"], ["/nowhere"], [empty], [path, path], ["--port=x", path], ["--port=65536", path],
                  ["--timeout=-1", path], ["--viewer=ui.perfetto.dev", path], ["--viewer=https://", path],
                  ["--dir", empty], ["--dir"], ["--viewer=http://a b", path]):
        done = subprocess.run([PFT, "open", *wrong], env={**os.environ, "PFT_LIBRARY": harness.SHIM},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        refuses(done)


@test
def open_starts_a_browser_where_there_is_one():
    path, bin_ = recorded().paths()[0], fresh_directory()
    told = os.path.join(bin_, "told")
    os.mkfifo(told)
    with open(os.path.join(bin_, "xdg-open"), "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\necho "$1" >%s\n' % told)
    os.chmod(file.name, 0o755)
    for how in ({"DISPLAY": ":0"}, {"WAYLAND_DISPLAY": "wayland-0"}):
        opened = Opened(path, PATH=bin_ + ":" + os.environ["PATH"], **how)
        with open(told, encoding="utf-8") as file:
            assert file.read() == opened.address + "\n"
        opened.ask()
        assert opened.ends() == (0, "", "pft: the viewer has fetched the trace\n")
    for arguments, how in (([], {}), (["--no-browser"], {"DISPLAY": ":0"})):
        opened = Opened(*arguments, path, PATH=bin_ + ":" + os.environ["PATH"], **how)
        opened.ask()
        status, _, said = opened.ends()
        assert status == 0 and "open this address in a browser" in said, said


# ---- a browser's own rules --------------------------------------------------------------------------

VIEWER = b"""<!doctype html><script>
const hex = hash => Array.from(new Uint8Array(hash), byte => byte.toString(16).padStart(2, "0")).join("");
fetch(new URLSearchParams(location.hash.slice(3)).get("url"))
    .then(answer => answer.arrayBuffer()).then(bytes => crypto.subtle.digest("SHA-256", bytes))
    .then(hash => { window.fetched = hex(hash); }, why => { window.fetched = "failed"; });
</script>"""


class Viewer(http.server.BaseHTTPRequestHandler):
    """A page that fetches what its address names, as the viewer does."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(VIEWER)

    def log_message(self, *_):
        pass


@test
def open_hands_a_trace_to_the_viewers_page_in_a_browser_and_to_no_other():
    if browser.missing():
        raise NotApplicable("needs " + browser.missing())
    path = recorded().paths()[0]
    digest = hashlib.sha256(content(path)).hexdigest()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Viewer) as viewer, browser.Browser() as page:
        threading.Thread(target=viewer.serve_forever, daemon=True).start()
        home = "http://127.0.0.1:%d" % viewer.server_port
        opened = Opened("--viewer=" + home, path)
        page.visit(opened.address)
        assert page.until("return window.fetched") == digest
        assert opened.ends()[0] == 0
        opened = Opened(path)
        page.visit(opened.address.replace("https://ui.perfetto.dev", home + "/other"))
        assert page.until("return window.fetched") == "failed"
        opened.ask()
        opened.ends()
        viewer.shutdown()
