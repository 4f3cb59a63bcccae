# SPDX-License-Identifier: MIT
"""Traces made by hand, byte by byte. Used by the tests in this folder."""
import trace as reader


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def number(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(tag, value):
    """A field with a number, or with what bytes() makes."""
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    return number(tag << 3 | 2) + number(len(value)) + value


def packet(*fields, name=1):
    return field(name, b"".join(field(*f) for f in fields))


def split(data):
    """The packets of a trace, heads included."""
    found, at = [], 0
    while at < len(data):
        size, start = reader.varint(data, at + 1)
        found.append(data[at:start + size])
        at = start + size
    return found


def thread(uuid, pid, tid, name):
    descriptor = field(1, uuid) + field(4, field(1, pid) + field(2, tid) + field(5, name))
    return packet((10, 7), (13, 1), (60, descriptor))
