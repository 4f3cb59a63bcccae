#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads Chrome trace JSON for the tests: strictly, by the standard library's parser.

  chrome.py TRACE...    every slice, instant, counter and flow as a JSON line, then what is wrong, on stderr

Nesting is found as chrome://tracing finds it: by time, and at equal times by the order in the file. Times are
nanoseconds and exact. It shares no code with the encoder.
"""
import decimal
import json
import sys


def once(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a name stands twice in %r" % names)
    return dict(pairs)


def no_constant(word):
    raise ValueError("%s is not JSON" % word)


def load(text):
    """A whole trace. Raises ValueError for what is not strict JSON."""
    return json.loads(text, object_pairs_hook=once, parse_float=decimal.Decimal, parse_constant=no_constant)


def mended(text):
    """What is whole in a trace that was cut anywhere: each event stands on a line of its own."""
    lines = text.split(b"\n")
    if len(lines) < 2 and not lines[0].endswith(b"["):
        return {"traceEvents": []}
    events = []
    for line in lines[1:]:
        try:
            events.append(load(line.rstrip(b",")))
        except ValueError:
            break
    return {"traceEvents": events}


def ns(micros):
    value = decimal.Decimal(micros) * 1000
    if value != int(value):
        raise ValueError("%s us has more than three decimals" % micros)
    return int(value)


class Chrome:
    def __init__(self, document):
        self.errors = []
        self.processes, self.threads = {}, {}  # pid -> name, (pid, tid) -> name
        self.slices, self.instants, self.counters, self.flows = [], [], [], []
        self.other = document.get("otherData", {})
        rows = {}
        for event in document["traceEvents"]:
            self._event(event, rows)
        for row in rows.values():
            self._nest(row)

    def _event(self, event, rows):
        phase, pid, tid = event["ph"], event["pid"], event["tid"]
        for name in ("pid", "tid"):
            if not isinstance(event[name], int):
                self.errors.append("%s is no number: %r" % (name, event))
        if phase == "M":
            kind, name = event["name"], event["args"]["name"]
            if kind == "process_name":
                self.processes[pid] = name
            elif kind == "thread_name":
                self.threads[pid, tid] = name
            else:
                self.errors.append("metadata %s" % kind)
            return
        shown = {"ph": phase, "name": event["name"], "ts": ns(event["ts"]), "pid": pid, "tid": tid,
                 "args": event.get("args", {})}
        if "cat" in event:
            shown["cat"] = event["cat"]
        if phase in "XB":
            shown["dur"] = ns(event["dur"]) if phase == "X" else None
            rows.setdefault((pid, tid), []).append(shown)
            self.slices.append(shown)
        elif phase == "i":
            if event["s"] not in ("t", "p", "g"):
                self.errors.append("scope %r" % event["s"])
            self.instants.append(shown)
        elif phase == "C":
            if not event["args"] or any(not isinstance(v, (int, decimal.Decimal)) for v in event["args"].values()):
                self.errors.append("counter %r has no number" % event["name"])
            self.counters.append(shown)
        elif phase in "stf":
            shown["id"] = event["id"]
            self.flows.append(shown)
        else:
            self.errors.append("phase %s" % phase)

    def _nest(self, row):
        stack = []
        for item in sorted(row, key=lambda s: s["ts"]):  # a stable sort
            end = None if item["dur"] is None else item["ts"] + item["dur"]
            while stack and stack[-1][1] is not None and stack[-1][1] <= item["ts"]:
                # One that took no time, at the end of its parent, is still in it.
                if end == item["ts"] == stack[-1][1] and stack[-1][0]["dur"]:
                    break
                stack.pop()
            if stack and stack[-1][1] is not None and (end is None or end > stack[-1][1]):
                self.errors.append("%r at %d ends after %r, in which it began" % (
                    item["name"], item["ts"], stack[-1][0]["name"]))
            item["depth"] = len(stack)
            item["parent"] = stack[-1][0]["name"] if stack else None
            stack.append((item, end))


def main(paths):
    wrong = False
    for path in paths:
        with open(path, "rb") as file:
            trace = Chrome(load(file.read()))
        for event in trace.slices + trace.instants + trace.counters + trace.flows:
            print(json.dumps(event, default=str))
        for error in trace.errors:
            print(error, file=sys.stderr)
        wrong = wrong or bool(trace.errors)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
