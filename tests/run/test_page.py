# SPDX-License-Identifier: MIT
"""The page of `pft report --html` in a browser: what a click or a key does, and that it needs nothing but itself."""
import json
import os
import re

import browser
import harness
from harness import BUILD, NotApplicable, fresh_directory, same, test
from test_report import report

ALL = "leaf,outer,middle,inner,through*"
FUNCTIONS = "#functions tbody tr"
NAMES = FUNCTIONS + " summary"
FRAMES = "return [...document.querySelectorAll('#flame g.frame')].map(g => g.getAttribute('name'))"
CURRENT = "return document.querySelector('#flame g.current')?.getAttribute('name')"


def page_of(traces, *options):
    path = os.path.join(fresh_directory(), "page.html")
    said = report(traces, "--html", path, *options)
    assert said.returncode == 0 and not said.stderr, said.stderr
    return path


def trace_of(argv, mode="dev", **how):
    if harness.bare:
        raise NotApplicable("runs without the shim")
    return same(argv, mode=mode, **how).paths()[0]


class Page(browser.Browser):
    """A page that is looked at. It must not have complained, nor asked for anything but itself."""

    def __init__(self, path):
        if browser.missing():
            raise NotApplicable("%s is not installed" % browser.missing())
        self._path = path

    def __enter__(self):
        super().__enter__()
        self.size(1280, 900)
        self.scheme("light")
        self.open(self._path)
        return self

    def __exit__(self, kind, *rest):
        try:
            if kind is None:
                assert not self.said(), self.said()
                asked = [url for url in self.asked_for() if url != "data:,"]
                assert asked == ["file://" + self._path], asked
        finally:
            super().__exit__(kind, *rest)

    def needs_flame_graph(self):
        if self.run("return typeof flamegraph === 'undefined'"):
            raise NotApplicable("npm was not there when the page was built")


def one_process():
    return trace_of(["calls", 1000], funcs=ALL)


@test
def a_page_holds_what_the_report_says():
    trace = trace_of(["bottlenecks", "lock"])
    expected = json.loads(report([trace], "--format=json").stdout)
    with Page(page_of([trace])) as page:
        assert page.texts("h2")[0] == "bottlenecks (%d)" % expected["pid"], page.texts("h2")
        assert page.texts("#command") == [expected["command_line"]]
        assert "{:,}".format(expected["calls"]) in page.texts("#facts dd"), page.texts("#facts dd")
        assert "%.1f MiB" % (expected["peak_rss_bytes"] / 2 ** 20) in page.texts("#facts dd")
        assert page.texts("#notes li") == []
        assert [t.split(": ")[1] for t in page.texts("#bottlenecks h3")] == [
            b["place"] for b in expected["bottlenecks"]]
        assert [b["evidence"] for b in expected["bottlenecks"]] == page.texts("#bottlenecks p:not(.hint)")
        assert len(page.texts("#recommendations li")) == len({b["suggestion"] for b in expected["bottlenecks"]}) > 0
        assert len(page.texts(FUNCTIONS)) == len(expected["functions"])
        assert len(page.texts("#slowest tbody tr")) == len(expected["slowest_calls"])
        assert page.texts("#threads strong") == [t["name"] for t in expected["threads"]]
        assert page.run("return document.querySelectorAll('#threads path.busy').length") == 2


@test
def a_page_sorts_functions_by_the_column_that_is_clicked():
    trace = one_process()
    functions = json.loads(report([trace], "--format=json").stdout)["functions"]
    keys = ["name", "self_corrected_ns", "self_ns", "total_corrected_ns", "calls", "mean_ns", "p50_ns", "p99_ns",
            "max_ns", "threads"]
    with Page(page_of([trace])) as page:
        for number, key in enumerate(keys, 1):
            head = "#functions th:nth-child(%d)" % number
            column = {f["name"]: f[key] for f in functions}
            for _ in range(2):
                page.click(head + " button")
                order = page.run("return document.querySelector(arguments[0]).ariaSort", head)
                shown = [column[name.removesuffix(" *")] for name in page.texts(NAMES)]
                if key == "name":
                    shown = [page.run("return arguments[0].map((n, i, all) => i === 0 ||"
                                      " all[i - 1].localeCompare(n, 'en'))", shown)]
                    assert set(shown[0][1:]) == {-1 if order == "ascending" else 1}, shown
                else:
                    assert shown == sorted(shown, reverse=order == "descending"), (key, order, shown)
        assert page.run("return document.querySelectorAll('#functions [aria-sort=none]').length") == len(keys) - 1
        page.press("#functions th:nth-child(5) button", "Enter")
        assert page.run("return document.querySelector('#functions th:nth-child(5)').ariaSort") == "descending"


@test
def a_page_filters_functions_by_text():
    with Page(page_of([one_process()])) as page:
        every = page.texts(NAMES)
        page.type("#functions-filter", "LE af")
        assert page.texts(NAMES) == [n for n in every if "le" in n.lower() and "af" in n.lower()] != every
        assert page.texts("#functions-count") == ["%d of %d" % (len(page.texts(NAMES)), len(every))]
        page.run("const filter = document.getElementById('functions-filter'); filter.value = '';"
                 "filter.dispatchEvent(new Event('input'))")
        assert page.texts(NAMES) == every


@test
def a_page_tells_who_calls_a_function():
    trace = one_process()
    functions = json.loads(report([trace], "--format=json").stdout)["functions"]
    called = next(f for f in functions if f["callers"])
    with Page(page_of([trace])) as page:
        page.needs_flame_graph()
        page.type("#functions-filter", called["name"])
        page.click("#functions tbody tr:not([hidden]) summary")
        page.until("return document.querySelector('details[open] button')")
        assert called["callers"][0]["name"] in page.texts("details[open] li")[0]
        page.click("details[open] button")
        found = page.run("return [...document.querySelectorAll('#flame g.frame')]"
                         ".filter(g => g.querySelector('rect').getAttribute('fill') === '#f5e663').map(g => g.getAttribute('name'))")
        assert set(found) == {page.run("return flameLabel(arguments[0])", called["name"])}, found


@test
def a_page_zooms_into_its_flame_graph_and_back():
    with Page(page_of([one_process()])) as page:
        page.needs_flame_graph()
        whole = page.run(FRAMES)
        width = "return document.querySelector('#flame g[name=\"%s\"] rect')?.getAttribute('width')"
        deep = page.until("return [...document.querySelectorAll('#flame g.frame')].map(g => g.__data__)"
                          ".filter(d => d.children && d.parent?.children.length > 1).map(d => flameLabel(d.data.name))[0]")
        narrow = float(page.until(width % deep))
        page.run("document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click'))",
                 '#flame g[name="%s"]' % deep)
        full = page.run("return document.getElementById('flame').clientWidth")
        page.until("return %s > 0.99 * arguments[0]" % (width % deep)[7:], full)
        assert narrow < 0.99 * full and len(page.run(FRAMES)) < len(whole)
        assert page.run(CURRENT) == deep and deep + ": " in page.texts("#flame-details")[0]
        page.click("#flame-reset")
        page.until("return %s < 0.99 * arguments[0]" % (width % deep)[7:], full)
        assert sorted(page.run(FRAMES)) == sorted(whole)


@test
def a_page_s_flame_graph_is_walked_by_keys():
    with Page(page_of([one_process()])) as page:
        page.needs_flame_graph()
        whole = page.run(FRAMES)
        page.press("#flame", "Down")
        assert page.run(CURRENT) == "all threads"
        page.press("#flame", "Down", "Right", "Left", "Down")
        assert page.run(CURRENT) != "all threads"
        page.press("#flame", "Enter")
        page.until("return document.querySelectorAll('#flame g.frame').length < arguments[0]", len(whole))
        page.press("#flame", "Escape")
        page.until("return document.querySelectorAll('#flame g.frame').length === arguments[0]", len(whole))


@test
def a_page_of_several_processes_switches_between_them():
    traces = [one_process(), trace_of(["bottlenecks", "serial"])]
    with Page(page_of(traces)) as page:
        choices = page.run("return [...document.querySelectorAll('#process option')].map(o => o.textContent)")
        assert [c.split(" (")[0] for c in choices] == ["calls", "bottlenecks"], choices
        page.click("#process option:nth-child(1)")
        first = page.texts(NAMES)
        page.click("#process option:nth-child(2)")
        assert page.texts("h2")[0].startswith("bottlenecks (") and page.texts(NAMES) != first
        assert len(page.texts("#bottlenecks h3")) == len(
            json.loads(report(traces[1:], "--format=json").stdout)["bottlenecks"]) > 0
        assert page.run("return document.title").startswith("bottlenecks (")
        page.click("#process option:nth-child(1)")
        assert page.texts(NAMES) == first
    with Page(page_of(traces[:1])) as page:
        assert page.texts("#process") == []


@test
def a_page_takes_no_name_for_markup():
    words = "</script><!--<script><b id=planted>\"'&amp;\x01\x7f\u2028\udcff</title>"
    trace = trace_of(["/bin/sh", "-c", ": " + words])
    path = page_of([trace])
    with open(path, "rb") as file:
        assert len(re.findall(rb"</script", file.read())) == 3  # its data, the library, its own
    with Page(path) as page:
        shown = page.run("return document.getElementById('command').textContent")
        assert shown == "/bin/sh -c : " + words.replace("\udcff", "\ufffd"), ascii(shown)
        assert page.run("return document.getElementById('planted')") is None


@test
def a_page_leaves_out_what_is_too_much_and_says_so():
    trace = trace_of(["many"], funcs="*")
    every = json.loads(report([trace], "--format=json").stdout)
    assert len(every["functions"]) > 1000, len(every["functions"])
    path = page_of([trace])
    assert os.path.getsize(path) < 3 << 20, os.path.getsize(path)
    with Page(path) as page:
        assert len(page.texts(FUNCTIONS)) == 1000
        assert any("1,000 of {:,}".format(len(every["functions"])) in note for note in page.texts("#notes li"))
    assert report([trace] * 201, "--format=html").returncode == 2


# The flame graph is as wide as its place, and so is what it is the whole of.
DRAWN = """
    const [place, all] = ['#flame', '#flame g.frame rect'].map((name) => document.querySelector(name));
    return !all || Math.abs(place.clientWidth - all.getAttribute('width')) < 2;
"""


# Of text and what is behind it, by the formula of WCAG 2.
CONTRASTS = """
    const level = (colour) => {
      const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map((v) => v / 255)
        .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
      const colour = getComputedStyle(element).backgroundColor;
      return colour === 'rgba(0, 0, 0, 0)' && element.parentElement ? ground(element.parentElement) : colour;
    };
    return [...document.querySelectorAll('p, dt, dd, h1, h2, h3, td, th, button, .severity, .told span, .axis, summary')]
      .filter((element) => element.innerText).map((element) => {
        const [one, other] = [level(getComputedStyle(element).color), level(ground(element))];
        return [element.innerText.slice(0, 30), (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)];
      }).filter(([, contrast]) => contrast < 4.5);
"""


@test
def a_page_is_readable_in_both_schemes_and_fits_a_narrow_window():
    path = page_of([trace_of(["bottlenecks", "lock"])])
    folder = os.path.join(BUILD, "page")
    with Page(path) as page:
        for scheme in ("light", "dark"):
            page.scheme(scheme)
            for width in (1280, 400):
                page.size(width, 1100)
                page.until(DRAWN)
                page.picture(os.path.join(folder, "report-%s-%d.png" % (scheme, width)))
                faint = page.run(CONTRASTS)
                assert not faint, (scheme, faint)
                assert page.run("return document.documentElement.scrollWidth") <= width
