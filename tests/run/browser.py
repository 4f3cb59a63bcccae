# SPDX-License-Identifier: MIT
"""A headless Chromium, told what to do by chromedriver (W3C WebDriver, as JSON over HTTP on the loopback address).

It reaches no network but this machine: the pages that are tested must not ask for any, and what they ask for is
counted.
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the standard's name of a reference to an element
PATIENCE_S = 60

ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
             "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]

KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015",
        "Tab": "\ue004"}


def missing():
    """What is not installed, or None."""
    return next((name for name in ("chromium", "chromedriver") if not shutil.which(name)), None)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Browser:
    def __enter__(self):
        self._profile = tempfile.mkdtemp(prefix="pft-browser-")
        self._base = "http://127.0.0.1:%d" % free_port()
        self._driver = subprocess.Popen(["chromedriver", "--port=" + self._base.rsplit(":", 1)[1]],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            self._wait_for_driver()
            options = {"binary": shutil.which("chromium"), "args": ARGUMENTS + ["--user-data-dir=" + self._profile]}
            made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
            self._session = "/session/" + made["sessionId"]
            self._ask("POST", self._session + "/url", {"url": "about:blank"})  # not the browser's own first page
            self.asked_for()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_):
        try:
            self._ask("DELETE", self._session)
        finally:
            self._end()

    def _end(self):
        self._driver.terminate()
        self._driver.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _wait_for_driver(self):
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self._ask("GET", "/status")
            except OSError:
                assert time.monotonic() < end and self._driver.poll() is None, "chromedriver does not answer"
                time.sleep(0.05)

    def _ask(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self._base + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=PATIENCE_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError("chromedriver: " + json.load(error)["value"]["message"].splitlines()[0]) from None

    def _cdp(self, command, **params):
        return self._ask("POST", self._session + "/goog/cdp/execute", {"cmd": command, "params": params})

    # ---- the page ----

    def open(self, path):
        self.visit("file://" + os.path.abspath(path))

    def visit(self, url):
        self._ask("POST", self._session + "/url", {"url": url})

    def size(self, width, height):
        self._cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self._cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": name}, {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.until("return matchMedia('(prefers-color-scheme: %s)').matches" % name)

    def run(self, script, *args):
        """What the script, the body of a function, returns."""
        return self._ask("POST", self._session + "/execute/sync", {"script": script, "args": list(args)})

    def until(self, script, *args):
        """Waits until the script answers something true, and says what."""
        end = time.monotonic() + PATIENCE_S
        while True:
            found = self.run(script, *args)
            if found:
                return found
            assert time.monotonic() < end, "never came true: " + script
            time.sleep(0.05)

    def click(self, selector):
        self._ask("POST", "%s/element/%s/click" % (self._session, self._find(selector)))

    def type(self, selector, text):
        self._ask("POST", "%s/element/%s/value" % (self._session, self._find(selector)), {"text": text})

    def press(self, selector, *names):
        self.type(selector, "".join(KEYS[name] for name in names))

    def _find(self, selector):
        return self._ask("POST", self._session + "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"
                        ".map(e => e.innerText)", selector)

    # ---- what it did ----

    def said(self):
        """Lines of the console since this was asked last."""
        return ["%(level)s: %(message)s" % line for line in self._log("browser")]

    def asked_for(self):
        """Addresses that it asked for since this was asked last."""
        events = [json.loads(line["message"])["message"] for line in self._log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def _log(self, kind):
        return self._ask("POST", self._session + "/se/log", {"type": kind})

    def picture(self, path, whole=True):
        made = self._cdp("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(made["data"]))
