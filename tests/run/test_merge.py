# SPDX-License-Identifier: MIT
"""`pft merge`: one trace is the sum of its parts, an archive holds them as they are, what is wrong is refused."""
import collections
import json
import os
import stat
import subprocess
import tarfile
import zlib

import harness
import trace as reader
from harness import NotApplicable, check, fresh_directory, same, test
from packets import field, packet, split, thread, write

ALL = "leaf,outer,middle,inner,through*"
COUNTS = "produced", "written", "filtered", "dropped"


def merge(*argv, cwd=None):
    if harness.bare:
        raise NotApplicable("runs without the shim")
    return subprocess.run([os.path.join(harness.ROOT, "scripts", "pft"), "merge", *argv], capture_output=True,
                          text=True, cwd=cwd, env={**os.environ, "PFT_LIBRARY": harness.SHIM})


def merged(*argv):
    output = os.path.join(fresh_directory(), "merged.pftrace")
    done = merge("-o", output, *argv)
    assert done.returncode == 0, done.stderr
    return output, done.stderr


def content(path):
    with open(path, "rb") as file:
        return file.read()


def execution(done):
    return os.path.dirname(done.paths()[0])


# ---- what a trace holds -----------------------------------------------------------------------------

def slices(traces):
    """Every slice with its process and thread, where it lies and what it is in."""
    return collections.Counter(
        (s.track, (t.thread_of(s) or {}).get("tid"), s.name, s.category, s.begin, s.end, s.depth,
         s.parent and s.parent.name, str(s.args), str(s.stack))
        for t in traces for s in t.slices)


def instants(traces):
    return collections.Counter((i.track, i.name, i.begin) for t in traces for i in t.instants)


def arrows(traces):
    return collections.Counter(arrow for t in traces for arrow in t.arrows)


def tracks(traces):
    return {uuid: (track.get("pid"), track.get("tid"), track.get("parent"))
            for t in traces for uuid, track in t.tracks.items()}


def summary(path):
    done = subprocess.run([os.path.join(harness.BUILD, "pft-report"), "--format=json", path], capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout)


def functions(summaries):
    total = collections.Counter()
    for found in summaries:
        for function in found["functions"]:
            for key in ("calls", "not_returned", "total_ns", "self_ns"):
                total[function["name"], function["category"], key] += function[key]
    return total


def assert_is_sum(path, parts):
    check([path])
    whole, traces = reader.Trace(path), [reader.Trace(part) for part in parts]
    for what in slices, instants, arrows:
        odd = (what([whole]) - what(traces)) + (what(traces) - what([whole]))
        assert not odd, "%s only in one of both: %s" % (what.__name__, list(odd)[:3])
    assert tracks([whole]) == tracks(traces)
    assert whole.gaps == sum(t.gaps for t in traces) and whole.dropped == sum(t.dropped for t in traces)
    for count in COUNTS:
        assert whole.totals()[count] == sum(t.totals()[count] for t in traces), count
    assert functions([summary(path)]) == functions([summary(part) for part in parts])


# ---- one trace --------------------------------------------------------------------------------------

MERGED = {
    "children": (["fork"], {}),
    "programs that are started": (["spawn"], {"mode": "dev"}),
    "programs that replace themselves": (["/bin/sh", "-c", "/bin/true; exec /bin/sh -c /bin/true"], {"mode": "dev"}),
    "a child with losses": (["storm", 2, 20000], {"overflow": "drop", "buffer": "16K"}),
    "coroutines": (["coroutines"], {}),
    "stacks": (["calls", 100], {"mode": "dev", "stacks": "all"}),
}

for what, (argv, how) in MERGED.items():
    def adds_up(argv=argv, how=how):
        done = same(argv, funcs=ALL, **how)
        output, said = merged(execution(done))
        assert said == "pft: trace: %s\n" % output, said
        assert_is_sum(output, done.paths())
    test(adds_up, "a merged trace is the sum of its parts: %s" % what)


@test
def merging_executions_of_one_machine_keeps_every_call():
    paths = [path for _ in range(3) for path in same(["fork"], funcs=ALL).paths()]
    output, _ = merged(*reversed(paths))
    assert_is_sum(output, paths)
    assert content(output) == content(merged(*paths)[0]), "the order in which they are given makes a difference"


@test
def a_merged_trace_can_be_merged_again():
    one, other = (same(["fork"], funcs=ALL) for _ in range(2))
    output, _ = merged(merged(execution(one))[0], merged(execution(other))[0])
    assert_is_sum(output, one.paths() + other.paths())


@test
def a_merged_trace_says_what_its_members_agree_on():
    done = same(["fork"], funcs=ALL)
    whole, parts = reader.Trace(merged(execution(done))[0]), done.traces()
    for key in ("pftshim.version", "pftshim.mode", "pftshim.selectors"):
        assert whole.attributes[key] == parts[0].attributes[key], key
    assert "pftshim.parent_pid" not in whole.attributes, whole.attributes
    costs = [part.attributes["pftshim.probe_inside_ns"] for part in parts]
    assert min(costs) <= whole.attributes["pftshim.probe_inside_ns"] <= max(costs)


@test
def a_merge_of_a_trace_without_totals_has_none():
    paths = same(["fork"], funcs=ALL).paths()
    with open(paths[0], "rb") as file:
        packets = split(file.read())
    killed = write(os.path.join(fresh_directory(), "killed.pftrace"), b"".join(packets[:-1]))
    assert not reader.Trace(killed).totals()
    assert not reader.Trace(merged(killed, *paths[1:])[0]).totals()


# ---- segments ---------------------------------------------------------------------------------------

def joined_segments(outcome):
    traces = sorted(outcome.traces(), key=lambda t: t.attributes["pftshim.segment"])
    assert len(traces) > 2, "all is in one file"
    whole = reader.Trace(merged(execution(outcome))[0])
    check([whole.path])
    assert all("continued_ns" not in s.args for s in whole.slices)
    again = sum("continued_ns" in s.args for t in traces for s in t.slices)
    assert again == sum("continued_ns" in i.args for i in whole.instants)
    assert whole.totals() == traces[-1].totals()
    for key in "pftshim.segment_written",:
        assert whole.attributes[key] == sum(t.attributes[key] for t in traces), key
    return traces, whole


@test
def segments_of_a_process_become_one_trace():
    traces, whole = joined_segments(same(["calls", 5000], funcs=ALL, max_size="64K"))
    harness.assert_counts(whole, leaf=5000, outer=5000, middle=5000, inner=5000)
    assert max(s.depth for s in whole.slices) == max(s.depth for t in traces for s in t.slices)
    odd = instants([whole]) - instants(traces)
    assert sum(odd.values()) == sum("continued_ns" in i.args for i in whole.instants), odd


@test
def a_call_that_spans_segments_is_one_call_when_they_are_merged():
    program = harness.Prompted(funcs=ALL, max_size="64K")
    program.do("hold 3", "hold 2", "leaf 4000", "leaf 4000")
    program.hear()
    program.do("leaf 1", "leaf 1")
    program.hear()
    traces, whole = joined_segments(program.end())
    held = [s for s in whole.slices if s.name == "through"]
    assert [s.depth for s in held] == [0, 1] and all(s.end is not None for s in held), held
    assert [s.begin for s in held] == [s.begin for s in traces[0].slices if s.name == "through"]
    harness.assert_counts(whole, leaf=8002)


# ---- traces of other programs -----------------------------------------------------------------------

def call(uuid, ns, name_iid):
    return (packet((8, ns), (10, 7), (13, 2), (11, field(9, 1) + field(10, name_iid) + field(11, uuid))) +
            packet((8, ns + 5), (10, 7), (13, 2), (11, field(9, 2) + field(11, uuid))))


def foreign(uuid, pid, name):
    """Each names its sequence 7, and an event 1 on it."""
    names = packet((10, 7), (13, 2), (12, field(2, field(1, 1) + field(2, name))))
    return thread(uuid, pid, pid, b"t") + names + call(uuid, 1000 * pid, 1)


def made(*traces):
    folder = fresh_directory()
    return [write(os.path.join(folder, "%c.pftrace" % (97 + i)), data) for i, data in enumerate(traces)]


def names(path):
    return sorted((s.name, s.begin, s.end) for s in reader.Trace(path).slices)


@test
def merging_keeps_what_other_programs_call_by_one_id_apart():
    output, _ = merged(*made(foreign(1, 10, b"ours"), foreign(2, 11, b"theirs")))
    check([output])
    assert names(output) == [("ours", 10000, 10005), ("theirs", 11000, 11005)]


def zstd(data):
    return subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout


@test
def merging_reads_compressed_packets_and_knows_sequences_without_an_id():
    pair = foreign(1, 10, b"ours"), foreign(2, 11, b"theirs")
    squeezed = [packet((50, zlib.compress(pair[0]))), packet((133, zstd(pair[1])))]
    nameless = [b"".join(field(1, p[2:].replace(field(10, 7), b"")) for p in split(data)) for data in pair]
    for way in squeezed, nameless, [squeezed[0], nameless[1]]:
        output, _ = merged(*made(*way))
        check([output])
        assert names(output) == [("ours", 10000, 10005), ("theirs", 11000, 11005)]


@test
def merging_refuses_tracks_that_cannot_be_told_apart():
    assert_refuses(made(foreign(1, 10, b"a"), foreign(1, 11, b"b")), "names another track", "--tar")


@test
def merging_leaves_the_uuid_of_a_trace_out():
    uuid = packet((10, 7), (89, field(1, 5)))
    output, _ = merged(*made(uuid + foreign(1, 10, b"a"), foreign(2, 11, b"b")))
    assert field(89, field(1, 5)) not in content(output)
    assert len(names(output)) == 2


# ---- wrong inputs -----------------------------------------------------------------------------------

def assert_refuses(argv, *words, status=2):
    folder = fresh_directory()
    for output, before in (os.path.join(folder, "new"), None), (write(os.path.join(folder, "old"), b"mine"), b"mine"):
        done = merge("-o", output, *(["--force"] if before else []), *argv)
        assert done.returncode == status and done.stderr.count("\n") == 1, (done.returncode, done.stderr)
        assert all(word in done.stderr for word in words), done.stderr
        assert (content(output) if os.path.exists(output) else None) == before, "the output was touched"
    assert os.listdir(folder) == ["old"], os.listdir(folder)


@test
def merging_refuses_in_one_line_what_is_wrong():
    paths = same(["fork"], funcs=ALL).paths()
    folder = fresh_directory()
    whole = content(paths[0])
    for bad, words in ((b"", "is empty"), (b"{}", "is no Perfetto trace"), (b"\x0a", "is no Perfetto trace"),
                       (whole + b"x", "is damaged"), (whole + b"\x0a\x02\xff\xff", "is damaged"),
                       (packet((133, b"x")), "is damaged: what is compressed")):
        assert_refuses([paths[1], write(os.path.join(folder, "bad.pftrace"), bad)], "bad.pftrace: " + words)
    assert_refuses([fresh_directory()], "holds no trace")
    assert_refuses([os.path.dirname(os.path.dirname(os.path.dirname(paths[0])))], "holds executions")
    assert_refuses(["/nonexistent"], "No such file")
    assert_refuses([paths[0], paths[0]], "is given twice")
    assert_refuses(["--backwards", paths[0]], "no such option")
    assert_refuses([paths[0], "-o", "/proc/nowhere/out"], "cannot be written", status=1)


@test
def merging_refuses_other_versions_machines_and_boots():
    path = same(["calls", 3], funcs=ALL).paths()[0]
    data = content(path)
    version = reader.Trace(path).attributes["pftshim.version"].encode()
    machine = os.uname().nodename.encode()
    folder = fresh_directory()
    other = os.path.join(folder, "other.pftrace")
    for old, new, words in ((version, b"9" * len(version), "version"), (machine, b"M" * len(machine), "machine")):
        assert_refuses([path, write(other, data.replace(old, new))], words, "--tar")
    assert_refuses([path, write(other, b"".join(with_wall_clock(p, 10 ** 18) for p in split(data)))], "anew", "--tar")


def with_wall_clock(whole, ns):
    """The packet with other readings of CLOCK_REALTIME."""
    out = b""
    for tag, value in reader.fields(reader.fields(whole)[0][1]):
        if tag == 6:
            value = b"".join(
                field(t, field(1, 1) + field(2, ns) if t == 1 and reader.first(reader.fields(v), 1) == 1 else v)
                for t, v in reader.fields(value))
        out += field(tag, value)
    return field(1, out)


@test
def merging_replaces_nothing_unless_asked_to():
    done = same(["fork"], funcs=ALL)
    output = write(os.path.join(fresh_directory(), "mine"), b"mine")
    said = merge("-o", output, execution(done))
    assert said.returncode == 2 and "--force" in said.stderr and content(output) == b"mine", said
    assert merge("--force", "-o", output, execution(done)).returncode == 0
    assert_is_sum(output, done.paths())
    assert stat.S_IMODE(os.stat(output).st_mode) == 0o600


@test
def merging_names_its_output_after_the_execution():
    done = same(["fork"], funcs=ALL)
    folder = fresh_directory()
    assert merge(os.path.join(execution(done), ".."), cwd=folder).returncode == 2
    assert merge(os.path.join(os.path.dirname(execution(done)), "latest"), cwd=folder).returncode == 0
    assert merge("--tar", *done.paths()[:2], cwd=folder).returncode == 0
    assert sorted(os.listdir(folder)) == sorted([os.path.basename(execution(done)) + ".pftrace", "merged.tar"])


@test
def an_output_among_the_traces_is_no_part_of_the_next_merge():
    done = same(["fork"], funcs=ALL)
    paths, output = done.paths(), os.path.join(execution(done), "all.pftrace")
    for _ in range(2):
        assert merge("--force", "-o", output, execution(done)).returncode == 0
        assert_is_sum(output, paths)


@test
def merging_cuts_a_truncated_trace_at_its_last_whole_packet_and_says_so():
    paths = same(["fork"], funcs=ALL).paths()
    whole = content(paths[0])
    last = split(whole)[-1]
    folder = fresh_directory()
    repaired = write(os.path.join(folder, "whole.pftrace"), whole[:-len(last)])
    cut = write(os.path.join(folder, "cut.pftrace"), whole[:-1])
    for more in [], ["--tar"]:
        output, said = merged(*more, cut, *paths[1:])
        line = "cut.pftrace: ends in the middle of a packet; its last %d bytes are left out\n" % (len(last) - 1)
        assert line in said, said
        assert len(content(output)) > 0
    assert content(merged(cut, *paths[1:])[0]) == content(merged(repaired, *paths[1:])[0])


@test
def merging_an_execution_leaves_empty_traces_out_and_tells_of_those_that_are_not_complete():
    done = same(["fork"], funcs=ALL)
    paths = done.paths()
    write(os.path.join(execution(done), "zero.1.pftrace"), b"")
    os.symlink("/dev/shm/nothing", paths[0][:-len(".pftrace")] + ".session")
    output, said = merged(execution(done))
    assert "zero.1.pftrace: is empty and left out\n" in said, said
    assert os.path.basename(paths[0]) + ": is not complete" in said, said
    assert_is_sum(output, paths)


# ---- archives ---------------------------------------------------------------------------------------

def unpacked(path):
    with tarfile.open(path) as archive:
        members = {m.name: archive.extractfile(m).read() for m in archive.getmembers()}
        first = archive.getnames()[0]
    assert first == "perfetto_manifest.json", first
    return json.loads(members.pop(first))["perfetto_manifest"], members


@test
def an_archive_holds_the_traces_as_they_are_and_says_where_they_are_from():
    done = same(["fork"], funcs=ALL)
    output, said = merged("--tar", execution(done))
    manifest, members = unpacked(output)
    assert sorted(members.values()) == sorted(content(path) for path in done.paths())
    assert manifest["version"] == 1 and [f["path"] for f in manifest["files"]] == list(members)
    assert {f["machine"]["name"] for f in manifest["files"]} == {os.uname().nodename}
    assert manifest["trace_time"] == {"clock": "REALTIME", "file": next(iter(members))}
    assert content(output) == content(merged("--tar", execution(done))[0]), "not the same bytes"
    assert said == "pft: trace: %s\n" % output, said


@test
def an_archive_keeps_machines_and_boots_apart():
    path = same(["calls", 3], funcs=ALL).paths()[0]
    machine = os.uname().nodename.encode()
    data = content(path)
    folders = [fresh_directory() for _ in range(3)]
    for folder, bytes_ in zip(folders, (data, data.replace(machine, b"M" * len(machine)),
                                        b"".join(with_wall_clock(p, 10 ** 18) for p in split(data)))):
        write(os.path.join(folder, "same.1.pftrace"), bytes_)
    manifest, members = unpacked(merged("--tar", *folders)[0])
    assert [f["machine"]["name"] for f in manifest["files"]] == [
        machine.decode(), "M" * len(machine), machine.decode() + ", boot 2"]
    assert len(members) == 3 and len({f["path"] for f in manifest["files"]}) == 3


@test
def names_in_an_archive_differ_and_fit():
    folder = fresh_directory()
    long = "x" * 200 + ".pftrace"
    for name, data in (("a", foreign(1, 10, b"a")), ("b", foreign(1, 11, b"b"))):
        os.mkdir(os.path.join(folder, name))
        write(os.path.join(folder, name, long), data)
    manifest, members = unpacked(merged("--tar", os.path.join(folder, "a"), os.path.join(folder, "b"))[0])
    paths = [f["path"] for f in manifest["files"]]
    assert len(set(paths)) == 2 and paths == list(members) and all(len(p) <= 99 for p in paths), paths
    assert "machine" not in manifest["files"][0] and "trace_time" not in manifest, manifest
