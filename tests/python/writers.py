"""Datasets, arrays and netCDF files for tests of readers, written without the library under test.

Datasets and arrays are written by programs of the library (tests/cli, examples); `tutti dump` prints their contents.
netCDF files are written here, byte by byte.

SPDX-License-Identifier: BSD-3-Clause"""
import os
import struct
import subprocess

import numpy as np

CODES = {"i1": 1, "S1": 2, "i2": 3, "i4": 4, "f4": 5, "f8": 6, "u1": 7, "u2": 8, "u4": 9, "i8": 10, "u8": 11}


def tutti(*arguments):
    """Return the output of a command of Tutti."""
    done = subprocess.run([os.environ["TUTTI_COMMAND"], *map(str, arguments)], check=True, capture_output=True,
                          stdin=subprocess.DEVNULL)
    return done.stdout


class NetCDF:
    """A netCDF file in a classic format, with dimensions, attributes, and variables with their values."""

    def __init__(self, version, dimensions, attributes, variables, records=0, streaming=False):
        self.version, self.dimensions, self.records, self.streaming = version, dimensions, records, streaming
        self.attributes, self.variables = attributes, variables

    def count(self, n):
        return struct.pack(">q" if self.version == 5 else ">i", n)

    def name(self, text):
        raw = text.encode()
        return self.count(len(raw)) + raw + b"\0" * (-len(raw) % 4)

    def values(self, value):
        if isinstance(value, str):
            return CODES["S1"], len(value.encode()), value.encode()
        array = np.atleast_1d(value)
        return CODES[array.dtype.str[1:]], array.size, array.astype(array.dtype.newbyteorder(">")).tobytes()

    def attribute_list(self, attributes):
        if not attributes:
            return b"\0" * 4 + self.count(0)
        out = struct.pack(">I", 12) + self.count(len(attributes))
        for name, value in attributes.items():
            code, n, raw = self.values(value)
            out += self.name(name) + struct.pack(">I", code) + self.count(n) + raw + b"\0" * (-len(raw) % 4)
        return out

    def head(self, begins):
        records = self.count(self.records)
        out = b"CDF" + bytes([self.version]) + (b"\xff" * len(records) if self.streaming else records)
        out += struct.pack(">I", 10) + self.count(len(self.dimensions))
        for name, n in self.dimensions.items():
            out += self.name(name) + self.count(n)
        out += self.attribute_list(self.attributes) + struct.pack(">I", 11) + self.count(len(self.variables))
        ids = list(self.dimensions)
        for (name, dims, attributes, values), begin in zip(self.variables, begins):
            out += self.name(name) + self.count(len(dims)) + b"".join(self.count(ids.index(d)) for d in dims)
            size = values[0].nbytes if self.is_record(dims) and len(values) else values.nbytes
            out += self.attribute_list(attributes) + struct.pack(">I", CODES[values.dtype.str[1:]])
            out += self.count(-(-size // 4) * 4)
            out += struct.pack(">i" if self.version == 1 else ">q", begin)
        return out

    def is_record(self, dims):
        return bool(dims) and self.dimensions[dims[0]] == 0

    def bytes(self):
        size = len(self.head([0] * len(self.variables)))
        begins, body, at = [0] * len(self.variables), b"", size
        big = [v.astype(v.dtype.newbyteorder(">")) if v.dtype.kind != "S" else v for *_, v in self.variables]
        for i, (_, dims, _, _) in enumerate(self.variables):
            if not self.is_record(dims):
                raw = big[i].tobytes()
                begins[i], at = at, at + len(raw) + -len(raw) % 4
                body += raw + b"\0" * (-len(raw) % 4)
        recorded = [i for i, v in enumerate(self.variables) if self.is_record(v[1])]
        pad = len(recorded) > 1
        for i in recorded:
            one = big[i][0].nbytes if self.records else 0
            begins[i], at = at, at + one + (-one % 4 if pad else 0)
        for r in range(self.records):
            for i in recorded:
                raw = big[i][r].tobytes()
                body += raw + (b"\0" * (-len(raw) % 4) if pad else b"")
        return self.head(begins) + body
