#!/usr/bin/env python3
"""Reads a dataset with sqlite3 and NumPy alone, which shows that docs/reference/format.md is sufficient.

    reader.py DIRECTORY                      segments and their variables
    reader.py DIRECTORY SEGMENT VARIABLE     all entries, in the order of the space, as text
    reader.py DIRECTORY infos                infos of the dataset, one per line

SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import sqlite3
import sys

import numpy as np


class Dataset:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.db = sqlite3.connect(f"file:{self.path}/metadata.sqlite?mode=ro", uri=True)
        assert self.db.execute("PRAGMA application_id").fetchone()[0] == 0x54555454, "no dataset"
        self.db.text_factory = lambda raw: raw.decode(errors="backslashreplace")  # version 1 allowed any bytes
        assert self.db.execute("PRAGMA user_version").fetchone()[0] in (1, 2), "another version"

    def segments(self):
        return self.db.execute("SELECT id, kind, time_index, time FROM segments ORDER BY id").fetchall()

    def variables(self, segment):
        return [name for name, in self.db.execute(
            "SELECT name FROM variables v JOIN sections s ON s.variable = v.id"
            " WHERE s.segment = ? AND s.part = 0 ORDER BY v.id", (segment,))]

    def shape(self, space, segment):
        text, = self.db.execute("SELECT shape FROM sizes WHERE space = ? AND segment <= ?"
                                " ORDER BY segment DESC LIMIT 1", (space, segment)).fetchone()
        return [int(n) for n in text.split(",")]

    def bytes_of(self, segment, start, count):
        name, = self.db.execute("SELECT f.name FROM files f JOIN segments g ON g.file = f.id"
                                " WHERE g.id = ?", (segment,)).fetchone()
        with open(self.path / name, "rb") as f:
            f.seek(start)
            return f.read(count)

    def infos(self, segment=0, variable=0):
        """Return a dictionary of infos by name; a value is str, bytes or an array."""
        out = {}
        for name, kind, value in self.db.execute(
                "SELECT name, type, value FROM infos WHERE segment = ? AND variable = ? ORDER BY name", (segment, variable)):
            out[name] = value if kind == "bytes" else np.frombuffer(value, kind)
        return out

    def get(self, segment, variable):
        """Return all values as an array: shape of the space, then the values per item if there are several."""
        var, space, item, n, layout, order, fill, compress = self.db.execute(
            "SELECT id, space, item, components, layout, byte_order, fill, compress FROM variables"
            " WHERE name = ?", (variable,)).fetchone()
        if compress:
            sys.exit(f"'{variable}' is compressed: tutti cp --compress 0, or tutti export --zarr")
        numbers = {"symmetric": n * (n + 1) // 2, "tensor": n * n}.get(item, n)
        start, count, kind, list_segment, list_part = self.db.execute(
            "SELECT start, bytes, type, list_segment, list_part FROM sections"
            " WHERE segment = ? AND variable = ? AND part = 0", (segment, var)).fetchone()
        dtype = np.dtype("u1" if kind == "bytes" else kind).newbyteorder("<" if order == "little" else ">")
        data = self.bytes_of(segment, start, count)
        shape = self.shape(space, segment)
        if layout == "ranked":
            ranks, entries = np.frombuffer(data, "<i8", 2)
            values = np.frombuffer(data, dtype, entries * numbers, -(-(3 + ranks) * 8 // 64) * 64)
            lists, = self.db.execute("SELECT id FROM variables WHERE name ="
                                     " (SELECT name FROM spaces WHERE id = ?) || ':entries'", (space,)).fetchone()
            at, length = self.db.execute("SELECT start, bytes FROM sections WHERE segment = ? AND variable = ?"
                                         " AND part = ?", (list_segment, lists, list_part)).fetchone()
            position = np.frombuffer(self.bytes_of(list_segment, at, length), "<i8")
            whole = np.full((np.prod(shape), numbers), np.frombuffer(fill, "<f8")[0]).astype(dtype)
            whole[position] = values.reshape(-1, numbers)
        else:
            whole = np.frombuffer(data, dtype)
        return whole.reshape(shape + ([numbers] if numbers > 1 else []))


def main():
    d = Dataset(sys.argv[1])
    if len(sys.argv) == 2:
        for number, (segment, kind, index, time) in enumerate(d.segments()):
            print(number, kind, index, time, *d.variables(segment))
    elif sys.argv[2] == "infos":
        for name, value in d.infos().items():
            print(name, repr(value))
    else:
        np.savetxt(sys.stdout, d.get(d.segments()[int(sys.argv[2])][0], sys.argv[3]).reshape(-1), "%g")


main()
