#!/usr/bin/env python3
"""sidecar_reader.py FILE [SIDECAR]    compares an Exodus file with the checksums in its sidecar

Written from docs/reference/format.md alone, with sqlite3 and libxxhash.  Prints the number of blocks and bytes that
were compared; exits with 1 if a checksum does not match.
SPDX-License-Identifier: BSD-3-Clause"""
import ctypes
import ctypes.util
import sqlite3
import struct
import sys

BLOCK = 65536
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}


class Header:
    """Offsets in a netCDF classic file: end of the header, end of the fixed variables, and records."""

    def __init__(self, data):
        self.data, self.at, self.version = data, 4, data[3]
        assert data[:3] == b"CDF" and self.version in (1, 2, 5)
        self.records = self.count()
        self.list_tag()
        lengths = []
        for _ in range(self.count()):
            self.name()
            lengths.append(self.count())
        self.attributes()
        self.list_tag()
        self.fixed_end, starts, self.record_bytes = 0, [], 0
        for _ in range(self.count()):
            self.name()
            dims = [self.count() for _ in range(self.count())]
            self.attributes()
            size = SIZES[self.word()]
            self.count()  # skip vsize, which is redundant
            begin = self.number(">i" if self.version == 1 else ">q")
            for d in dims:
                size *= lengths[d] or 1
            if dims and lengths[dims[0]] == 0:
                starts.append(begin)
                self.record_bytes += (size + 3) // 4 * 4
            else:
                self.fixed_end = max(self.fixed_end, begin + (size + 3) // 4 * 4)
        self.end, self.record_begin = self.at, min(starts, default=0)

    def number(self, form):
        value, = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def word(self):
        return self.number(">i")

    def count(self):
        return self.number(">q" if self.version == 5 else ">i")

    def list_tag(self):
        self.word()

    def skip(self, size):
        bytes_n = size * self.count()
        self.at += (bytes_n + 3) // 4 * 4

    def name(self):
        self.skip(1)

    def attributes(self):
        self.list_tag()
        for _ in range(self.count()):
            self.name()
            self.skip(SIZES[self.word()])


def blocks(start, end, origin):
    """Divide the bytes from start to end at multiples of 64 KiB, counted from origin."""
    while start < end:
        stop = min(end, origin + ((start - origin) // BLOCK + 1) * BLOCK)
        yield start, stop
        start = stop


def main():
    xxh3 = ctypes.CDLL(ctypes.util.find_library("xxhash")).XXH3_64bits
    xxh3.restype, xxh3.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
    data = open(sys.argv[1], "rb").read()
    head = Header(data)
    db = sqlite3.connect(sys.argv[2] if sys.argv[2:] else sys.argv[1] + ".tutti")
    version, = db.execute("PRAGMA user_version").fetchone()
    word = 8 if head.version == 5 else 4
    header = data[:4] + bytes(word) + data[4 + word:head.end]
    stored, = db.execute("SELECT value FROM file WHERE key = 'header'").fetchone()
    assert version in (1, 2, 3) and xxh3(header, len(header)) == stored % 2**64, "another file"
    compared = count = wrong = 0
    for step, n, sums in db.execute("SELECT step, blocks, sums FROM sums ORDER BY step"):
        if step > head.records:
            continue
        start, end, origin = head.end, head.fixed_end, 0
        if step > 0:
            start = head.record_begin + (step - 1) * head.record_bytes
            end = start + head.record_bytes
            origin = start if version >= 3 else 0
        places = list(blocks(start, end, origin))
        assert len(places) == n == len(sums) // 8, f"step {step}: {n} sums of {len(places)} blocks"
        for (lo, hi), want in zip(places, struct.unpack(f"<{n}Q", sums)):
            if xxh3(data[lo:hi], hi - lo) != want:
                print(f"step {step}: bytes {lo} to {hi - 1} are damaged")
                wrong = 1
            compared += hi - lo
            count += 1
    print(f"version {version}: {count} blocks, {compared} bytes")
    sys.exit(wrong)


main()
