#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a .pftrace for the tests, from the wire format alone and on the standard library alone
(and the program zstd, where that has compressed it).

  trace.py TRACE...    one line of totals a file, then what is wrong with it; exit status 1 if anything is

It shares no code with the encoder, so that a mistake there cannot hide itself here. It understands what
the encoder may write, and calls everything else an error.
"""
import collections
import re
import struct
import subprocess
import sys
import zlib

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
DEFLATED, ZSTD = 50, 133  # fields of a packet that hold others
STATE_CLEARED, STATE_NEEDED = 1, 2
BOOTTIME = 6
SEQUENCE_CLOCKS = range(64, 128)
EVENT_NAMES, CATEGORIES, ANNOTATION_NAMES = 2, 1, 3
FUNCTION_NAMES, FRAMES, CALLSTACKS, BUILD_IDS, PATHS, MAPPINGS = 5, 6, 7, 16, 17, 19
NAMELESS = FRAMES, CALLSTACKS, MAPPINGS  # entries that are more than a name


ACCOUNT = re.compile(r"(?P<produced>\d+) events(?P<so_far> so far)? = (?P<written>\d+) written \+ (?P<filtered>\d+) filtered \+ "
                     r"(?P<dropped>\d+) dropped(?: \+ (?P<elsewhere>\d+) on other stacks)?")


COUNTS = ("produced", "written", "filtered", "dropped", "elsewhere")


class Malformed(Exception):
    pass


def varint(buf, at):
    byte = buf[at]
    if byte < 128:
        return byte, at + 1
    value, shift = byte & 127, 7
    while byte > 127:
        at += 1
        byte = buf[at]
        value |= (byte & 127) << shift
        shift += 7
    if shift > 70:
        raise Malformed("varint of more than ten bytes")
    return value, at + 1


def fields(buf):
    """The fields of one message as [(number, value)]; a value is an int or bytes."""
    found, at, end = [], 0, len(buf)
    try:
        while at < end:
            tag, at = varint(buf, at)
            wire = tag & 7
            if wire == 0:
                value, at = varint(buf, at)
            elif wire == 2:
                size, at = varint(buf, at)
                if at + size > end:
                    raise Malformed("field %d is cut off" % (tag >> 3))
                value, at = buf[at:at + size], at + size
            elif wire == 1:
                value, at = struct.unpack_from("<Q", buf, at)[0], at + 8
            elif wire == 5:
                value, at = struct.unpack_from("<I", buf, at)[0], at + 4
            else:
                raise Malformed("wire type %d" % wire)
            found.append((tag >> 3, value))
    except (IndexError, struct.error):
        raise Malformed("message is cut off") from None
    return found


def first(message, number, default=None):
    for n, value in message:
        if n == number:
            return value
    return default


def every(message, number):
    return [value for n, value in message if n == number]


def words(raw):
    return raw.decode("utf-8", "replace")


def decompressed(packet):
    """What is compressed in a packet, which holds nothing else then; None: nothing is."""
    kind, content = packet[0] if len(packet) == 1 else (None, None)
    if kind == DEFLATED:
        return zlib.decompress(content)
    if kind == ZSTD:  # the standard library does not know it
        return subprocess.run(["zstd", "-dc"], input=content, capture_output=True, check=True).stdout
    return None


class Slice:
    """One call. `end` is None while it is open; `parent` is the slice around it; `stack` and `end_stack` are the
    functions that it came from, the outermost first, as [(name or None, object)], or None."""
    __slots__ = ("name", "begin", "end", "depth", "parent", "track", "args", "category", "stack", "end_stack")

    def __init__(self, name, begin, parent, track, args, category):
        self.name, self.begin, self.end = name, begin, None
        self.parent, self.depth = parent, parent.depth + 1 if parent else 0
        self.track, self.args, self.category = track, args, category
        self.stack = self.end_stack = None


class Sequence:
    """What one packet sequence has said since its state was last cleared."""

    def __init__(self):
        self.valid = False
        self.clear()

    def clear(self):
        self.names = collections.defaultdict(dict)
        self.clocks = {}  # id -> [is incremental, unit in ns, last reading in ns, what leads to BOOTTIME]
        self.clock = self.track = None


class Trace:
    def __init__(self, path):
        self.path, self.errors = path, []
        self.packets = self.gaps = self.dropped = 0
        self.compressed = 0   # packets that held others
        self.slices, self.instants, self.counters = [], [], []
        self.tracks = {}      # uuid -> {"parent", "name", "pid", "tid", "process", "cmdline"}
        self.accounts = collections.defaultdict(list)  # uuid of a thread's track -> counts as of totals(), and "elsewhere"
        self.attributes = {}
        self.losses = []      # (ns, how many events, track) of each gap
        self.arrows = []      # (ns, flow, whether it ends here, track)
        self._sequences = collections.defaultdict(Sequence)
        self._events = []
        self._known = {}
        self._read()
        self._nest()
        self._lead()

    # ---- what tests ask ----

    def count(self, name):
        return sum(1 for s in self.slices if s.name == name)

    def counts(self):
        return collections.Counter(s.name for s in self.slices)

    def open(self):
        return [s for s in self.slices if s.end is None]

    def threads(self):
        """tid -> name, of the process that the trace is of: what it comes from is described as well."""
        pid = next((t["pid"] for t in self.tracks.values() if "process" in t), None)
        return {t["tid"]: t["name"] for t in self.tracks.values() if "tid" in t and pid in (t["pid"], None)}

    def thread_of(self, event):
        track = self.tracks.get(event.track)
        while track is not None and "tid" not in track:
            track = self.tracks.get(track.get("parent"))
        return track

    def totals(self):
        """How many begins and ends were "produced", "written", "filtered" and "dropped"."""
        names = ("produced", "written", "filtered", "dropped")
        return {n: self.attributes["pftshim." + n] for n in names if "pftshim." + n in self.attributes}

    def process(self):
        return next(t for t in self.tracks.values() if "process" in t)

    # ---- packets ----

    def _error(self, message, *args):
        if len(self.errors) < 50:
            self.errors.append("packet %d: %s" % (self.packets, message % args))

    def _read(self):
        with open(self.path, "rb") as file:
            data = file.read()
        try:
            self._packets(data)
        except (Malformed, IndexError) as what:
            self._error("%s", what)

    def _packets(self, data, inside=False):
        """Of the file, or of what was compressed in a packet."""
        at = 0
        while at < len(data):
            tag, at = varint(data, at)
            if tag != 10:
                raise Malformed("tag %d where a packet should begin" % tag)
            size, at = varint(data, at)
            if at + size > len(data):
                raise Malformed("the last packet is cut off")
            packet = fields(data[at:at + size])
            at += size
            squeezed = decompressed(packet)
            if squeezed is None:
                self._packet(packet)
            elif inside:
                raise Malformed("a packet is compressed twice")
            else:
                self.compressed += 1
                self._packets(squeezed, True)

    def _packet(self, packet):
        self.packets += 1
        sequence_id = first(packet, 10)
        sequence = self._sequences[sequence_id]
        flags = first(packet, 13, 0)
        lost = first(packet, 42)
        if lost is not None:
            self.gaps += 1
            self.dropped += lost
            sequence.valid = False
        if flags & STATE_CLEARED:
            sequence.clear()
            sequence.valid = True
        if flags & STATE_NEEDED and not sequence.valid:
            self._error("sequence %s relies on state that was never started", sequence_id)
            return
        event = snapshot = None
        for number, value in packet:
            if number == 11:
                event = value
            elif number == 59:
                self._defaults(sequence, fields(value))
            elif number == 6:
                snapshot = self._snapshot(sequence, fields(value))
            elif number == 12:
                self._intern(sequence, fields(value))
            elif number == 60:
                self._track(fields(value))
            elif number == 126:
                self._attributes(fields(value))
        if lost:
            self.losses.append((snapshot, lost, sequence.track))
        if event is not None:
            self._event(packet, sequence, event)

    def _defaults(self, sequence, defaults):
        sequence.clock = first(defaults, 58, sequence.clock)
        event = first(defaults, 11)
        if event is not None:
            sequence.track = first(fields(event), 11, sequence.track)

    def _snapshot(self, sequence, snapshot):
        """Its BOOTTIME."""
        clocks = [fields(raw) for raw in every(snapshot, 1)]
        boot_ns = next((first(c, 2) for c in clocks if first(c, 1) == BOOTTIME), None)
        if boot_ns is None:
            self._error("clock snapshot without BOOTTIME")
            return None
        for clock in clocks:
            unit_ns = first(clock, 4, 1)
            ns = first(clock, 2, 0) * unit_ns
            sequence.clocks[first(clock, 1)] = [bool(first(clock, 3, 0)), unit_ns, ns, boot_ns - ns]
        return boot_ns

    def _intern(self, sequence, data):
        for table, raw in data:
            entry = fields(raw)
            iid, name = first(entry, 1, 0), raw if table in NAMELESS else first(entry, 2, b"")
            if iid == 0:
                self._error("an interned entry of table %d has no iid", table)
            elif sequence.names[table].setdefault(iid, name) != name:
                self._error("iid %d of table %d means two things", iid, table)

    def _track(self, descriptor):
        uuid = first(descriptor, 1)
        track = self.tracks.setdefault(uuid, {"name": ""})
        track["parent"] = first(descriptor, 5, track.get("parent"))
        name = first(descriptor, 2, first(descriptor, 10))
        if name is not None:
            track["name"] = words(name)
        description = first(descriptor, 14)
        if description is not None:
            self._account(uuid, words(description))
        process, thread = first(descriptor, 3), first(descriptor, 4)
        if process is not None:
            process = fields(process)
            track.update(pid=first(process, 1), process=words(first(process, 6, b"")),
                         labels=[words(raw) for raw in every(process, 8)] or track.get("labels", []),
                         cmdline=[words(raw) for raw in every(process, 2)] or track.get("cmdline", []))
        if thread is not None:
            thread = fields(thread)
            track.update(pid=first(thread, 1), tid=first(thread, 2), name=words(first(thread, 5, b"")))
            if not track["pid"] or not track["tid"]:
                self._error("thread track without pid or tid")

    def _account(self, uuid, text):
        """Several threads that have one tid are one track, one after the other."""
        said = ACCOUNT.fullmatch(text)
        if not said:
            self._error("description %r of a track", text)
            return
        accounts = self.accounts[uuid]
        if accounts and accounts[-1]["so_far"]:
            accounts.pop()
        accounts.append({n: v if n == "so_far" else int(v or 0) for n, v in said.groupdict().items()})

    def account(self, uuid):
        """What became of all events of a thread's track."""
        return {n: sum(one[n] for one in self.accounts[uuid]) for n in COUNTS}

    def _attributes(self, attributes):
        for raw in every(attributes, 1):
            entry = fields(raw)
            value = first(entry, 2)
            self.attributes[words(first(entry, 1, b""))] = words(first(entry, 3, b"")) if value is None else value

    # ---- events ----

    def _time(self, packet, sequence):
        stamp, clock_id = first(packet, 8), first(packet, 58, sequence.clock)
        if stamp is None:
            self._error("event without a time")
            return 0
        if clock_id in (None, BOOTTIME):
            return stamp
        clock = sequence.clocks.get(clock_id)
        if clock is None:
            self._error("clock %s was never snapshotted on this sequence", clock_id)
            return 0
        incremental, unit_ns, last_ns, to_boot_ns = clock
        ns = stamp * unit_ns
        if incremental:
            ns += last_ns
            clock[2] = ns
        return ns + to_boot_ns

    def _event(self, packet, sequence, raw):
        known = self._known.get(raw)
        if known is None:
            event = fields(raw)
            known = self._known[raw] = (first(event, 9, 0), first(event, 10), first(event, 23), first(event, 11),
                                        every(event, 3), every(event, 22), every(event, 4), first(event, 56), event)
        kind, name_iid, name, track, category_iids, categories, annotations, stack_iid, event = known
        if name_iid is not None:
            name = self._look_up(sequence, EVENT_NAMES, name_iid)
        if kind in (BEGIN, INSTANT) and not name:
            self._error("event without a name")
        category = words(categories[0]) if categories else None
        if category_iids:
            iid = category_iids[0]
            category = words(self._look_up(sequence, CATEGORIES, iid if isinstance(iid, int) else iid[0]))
        track = sequence.track if track is None else track
        if track is None:
            self._error("event on no track")
        args = {}
        for annotation in annotations:
            self._annotate(args, sequence, fields(annotation))
        value = first(event, 30) if kind == COUNTER else None
        ns = self._time(packet, sequence)
        for number, flow in event:
            if number in (47, 48):
                self.arrows.append((ns, flow, number == 48, track))
        self._events.append((ns, len(self._events), kind, track,
                             words(name) if name else None, args, category, value,
                             None if stack_iid is None else self._stack(sequence, stack_iid)))

    def _stack(self, sequence, iid):
        stack = fields(self._look_up(sequence, CALLSTACKS, iid))
        if not every(stack, 2):
            self._error("callstack %d has no frames", iid)
        return [self._frame(sequence, fields(self._look_up(sequence, FRAMES, frame))) for frame in every(stack, 2)]

    def _frame(self, sequence, frame):
        function, mapping = first(frame, 2), fields(self._look_up(sequence, MAPPINGS, first(frame, 3, 0)))
        path = b"/".join(self._look_up(sequence, PATHS, part) for part in every(mapping, 7))
        start, end, bias = first(mapping, 4, 0), first(mapping, 5, 0), first(mapping, 6, 0)
        if not start <= first(frame, 4, 0) + bias < end:
            self._error("a frame lies outside of its mapping %r", path)
        if first(mapping, 2) is not None:
            self._look_up(sequence, BUILD_IDS, first(mapping, 2))
        name = None if function is None else words(self._look_up(sequence, FUNCTION_NAMES, function))
        return name, words(path).rsplit("/", 1)[-1]

    def _look_up(self, sequence, table, iid):
        name = sequence.names[table].get(iid)
        if name is None:
            self._error("iid %d of table %d is used before it is defined", iid, table)
        return name or b"?"

    def _annotate(self, args, sequence, annotation):
        name = first(annotation, 10)
        if name is None:
            name = self._look_up(sequence, ANNOTATION_NAMES, first(annotation, 1, 0))
        for number, value in annotation:
            if number == 2:
                args[words(name)] = bool(value)
            elif number in (3, 4, 7):
                args[words(name)] = value
            elif number == 6:
                args[words(name)] = words(value)

    def _nest(self):
        """Events to slices, as viewers do it: by time, equal times in the order of the file."""
        innermost = {}
        for ns, _, kind, track, name, args, category, value, stack in sorted(self._events, key=lambda e: e[:2]):
            if track not in self.tracks:
                self._error("event %r on track %s, which nothing describes", name, track)
            if kind == BEGIN:
                innermost[track] = Slice(name, ns, innermost.get(track), track, args, category)
                innermost[track].stack = stack
                self.slices.append(innermost[track])
                if innermost[track].depth >= 512:
                    self._error("slice %r is deeper than viewers go", name)
            elif kind == END:
                done = innermost.get(track)
                if done is None:
                    self._error("an end at %d closes nothing", ns)
                    continue
                done.end, done.end_stack = ns, stack
                done.args.update(args)
                innermost[track] = done.parent
            elif kind == INSTANT:
                self.instants.append(Slice(name, ns, innermost.get(track), track, args, category))
            elif kind == COUNTER:
                self.counters.append((ns, track, value))
            else:
                self._error("event of type %d", kind)
        self._events.clear()


    def _lead(self):
        """An arrow begins before it ends, as viewers want it."""
        under_way = set()
        for _, flow, ends, _ in sorted(self.arrows):
            if ends and flow not in under_way:
                self._error("arrow %d ends and has not begun", flow)
            elif ends:
                under_way.discard(flow)
            else:
                under_way.add(flow)


def main(paths):
    wrong = False
    for path in paths:
        trace = Trace(path)
        print("%s: %d packets, %d threads, %d slices (%d open), %d instants, %d gaps, %d errors" % (
            path, trace.packets, len(trace.threads()), len(trace.slices), len(trace.open()),
            len(trace.instants), trace.gaps, len(trace.errors)))
        for error in trace.errors:
            print("  " + error)
        wrong = wrong or bool(trace.errors)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
