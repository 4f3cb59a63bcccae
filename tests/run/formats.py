# SPDX-License-Identifier: MIT
"""A trace in both of its formats, Chrome JSON and packets: each slice as one says it, to be compared with the other."""
import collections

import chrome


def read(path):
    with open(path, "rb") as file:
        trace = chrome.Chrome(chrome.load(file.read()))
    assert not trace.errors, trace.errors[:5]
    return trace


def real_tid(trace, event):
    """Of the thread that a slice belongs to: a coroutine's track names it."""
    name = trace.threads.get((event["pid"], event["tid"]), "")
    return int(name.split(" of ")[1]) if name.startswith("coroutine ") else event["tid"]


def in_json(trace):
    return collections.Counter(
        (s["name"], s["ts"], s["dur"], s["depth"], s["parent"], real_tid(trace, s), s.get("cat"), str(s["args"]))
        for s in trace.slices)


def in_packets(trace):
    return collections.Counter(
        (s.name, s.begin, None if s.end is None else s.end - s.begin, s.depth, s.parent and s.parent.name,
         trace.thread_of(s)["tid"], s.category, str(s.args))
        for s in trace.slices)
