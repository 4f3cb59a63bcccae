# SPDX-License-Identifier: MIT
"""A file system in memory by FUSE, that answers until it is told to hang: python3 frozen_fs.py DIRECTORY. It writes a
line when it is mounted; a line on its standard input, and from then on no request is answered. The file system is
gone, and who waits for it is let go, when the process ends.

It knows what a trace needs: directories, files that grow, links by name and renaming (linux/fuse.h, protocol 7.31).
"""
import ctypes
import errno
import os
import select
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, SETATTR, READLINK, SYMLINK, MKDIR, UNLINK, RENAME = 1, 2, 3, 4, 5, 6, 9, 10, 12
OPEN, WRITE, RELEASE, FLUSH, INIT, OPENDIR, RELEASEDIR, CREATE, INTERRUPT = 14, 16, 18, 25, 26, 27, 29, 35, 36
BATCH_FORGET, RENAME2 = 42, 45
SILENT = (FORGET, BATCH_FORGET, INTERRUPT)
ROOT = 1


class Node:
    def __init__(self, mode, target=b""):
        self.mode, self.target, self.entries, self.size = mode, target, {}, 0


class Memory:
    """What the file system holds, by number; files have a size and no content."""

    def __init__(self):
        self.nodes = {ROOT: Node(stat.S_IFDIR | 0o777)}
        self.last = ROOT

    def add(self, parent, name, node):
        entries = self.nodes[parent].entries
        if name in entries:
            raise OSError(errno.EEXIST, "")
        self.last += 1
        self.nodes[self.last] = node
        entries[name] = self.last
        return self.last

    def find(self, parent, name):
        if name not in self.nodes[parent].entries:
            raise OSError(errno.ENOENT, "")
        return self.nodes[parent].entries[name]


def attributes(memory, number):
    node = memory.nodes[number]
    return struct.pack("<QQQQQQIIIIIIIIII", number, node.size, (node.size + 511) // 512, 0, 0, 0, 0, 0, 0, node.mode, 1,
                       os.getuid(), os.getgid(), 0, 4096, 0)


def entry(memory, number):
    return struct.pack("<QQQQII", number, 0, 0, 0, 0, 0) + attributes(memory, number)


def name_of(body):
    return body.split(b"\0")[0]


def answer(memory, opcode, number, body):
    """The body of the answer to one request, or an OSError."""
    if opcode == INIT:
        return struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 0, 0, 1 << 17, 1, 32, 0, 0)
    if opcode == LOOKUP:
        return entry(memory, memory.find(number, name_of(body)))
    if opcode == GETATTR:
        return struct.pack("<QII", 0, 0, 0) + attributes(memory, number)
    if opcode == SETATTR:
        valid, _, _, size = struct.unpack_from("<IIQQ", body)
        if valid & 8:
            memory.nodes[number].size = size
        return struct.pack("<QII", 0, 0, 0) + attributes(memory, number)
    if opcode == MKDIR:
        return entry(memory, memory.add(number, name_of(body[8:]), Node(stat.S_IFDIR | 0o700)))
    if opcode == SYMLINK:
        name, target = body.split(b"\0")[:2]
        return entry(memory, memory.add(number, name, Node(stat.S_IFLNK | 0o777, target)))
    if opcode == READLINK:
        return memory.nodes[number].target
    if opcode == UNLINK:
        memory.find(number, name_of(body))
        del memory.nodes[number].entries[name_of(body)]
        return b""
    if opcode in (RENAME, RENAME2):
        to, = struct.unpack_from("<Q", body)
        name, new = body[8 if opcode == RENAME else 16:].split(b"\0")[:2]
        memory.nodes[to].entries[new] = memory.nodes[number].entries.pop(name)
        return b""
    if opcode == CREATE:
        made = memory.add(number, name_of(body[16:]), Node(stat.S_IFREG | 0o600))
        return entry(memory, made) + struct.pack("<QII", 0, 0, 0)
    if opcode in (OPEN, OPENDIR):
        return struct.pack("<QII", 0, 0, 0)
    if opcode == WRITE:
        _, offset, size = struct.unpack_from("<QQI", body)
        memory.nodes[number].size = max(memory.nodes[number].size, offset + size)
        return struct.pack("<II", size, 0)
    if opcode in (FLUSH, RELEASE, RELEASEDIR):
        return b""
    raise OSError(errno.ENOSYS, "")


def mount(directory):
    device = os.open("/dev/fuse", os.O_RDWR)
    options = "fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other" % (device, os.getuid(), os.getgid())
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"frozen", directory.encode(), b"fuse", 0, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), "no FUSE here")
    return device


def serve(device):
    memory = Memory()
    while True:
        ready, _, _ = select.select([device, 0], [], [])
        if 0 in ready:
            return
        request = os.read(device, 1 << 18)
        _, opcode, unique, number = struct.unpack_from("<IIQQ", request)
        if opcode in SILENT:
            continue
        try:
            body, error = answer(memory, opcode, number, request[40:]), 0
        except OSError as what:
            body, error = b"", -what.errno
        os.write(device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)


def main():
    device = mount(sys.argv[1])
    print("mounted", flush=True)
    serve(device)
    os.read(0, 1)  # hangs from here on, to the end
    print("hangs", flush=True)
    sys.stdin.read()


main()
