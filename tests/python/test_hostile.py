"""Damaged files give an Error or values, but no other exception and no crash.

SPDX-License-Identifier: BSD-3-Clause"""
import os
import shutil
import sqlite3
import struct

import numpy as np

import tutti
from tutti._array_file import fnv
from test_reading import DATASETS, golden
from writers import NetCDF


def use_run(path):
    """Call all query functions."""
    run = tutti.open(path)
    try:
        repr(run)
        run.infos, run.spaces, run.times
        for segment in run.segments:
            repr(segment)
            segment.infos, segment.topology
            for name in segment:
                segment[name][...]
        for name in run:
            variable = run[name]
            repr(variable)
            variable.infos, variable.shapes(), variable.dtype
            for space in run.spaces:
                for segment in run.segments:
                    segment.shape(space)
                    segment.ids(space)
        run.verify()
    finally:
        run.close()


def harmless(function, *arguments):
    """Return 1 if the file was refused.  Any exception except Error and KeyError is a failure."""
    try:
        function(*arguments)
    except (tutti.Error, KeyError):
        return 1
    return 0


def mutate(rng, data):
    """Return the data with a few bytes changed, a piece removed, or truncated."""
    data = bytearray(data)
    kind = rng.integers(4)
    if kind == 0 and len(data) > 8:
        del data[int(rng.integers(len(data))):]
    elif kind == 1 and len(data) > 8:
        at = int(rng.integers(len(data)))
        del data[at:at + int(rng.integers(1, 64))]
    else:
        for _ in range(int(rng.integers(1, 9))):
            data[int(rng.integers(len(data)))] = int(rng.choice([0, 1, 127, 128, 255, rng.integers(256)]))
    return bytes(data)


def test_metadata_bytes(rng, path):
    golden(path)
    meta = os.path.join(path, "metadata.sqlite")
    with open(meta, "rb") as f:
        good = f.read()
    seen = 0
    for _ in range(80):
        with open(meta, "wb") as f:
            f.write(mutate(rng, good))
        seen += harmless(use_run, path)
    assert seen > 8


def test_metadata_values(rng, path):
    """Test values that SQLite accepts, but that are invalid metadata."""
    golden(path)
    meta = os.path.join(path, "metadata.sqlite")
    with open(meta, "rb") as f:
        good = f.read()
    values = [None, -1, 0, 1, 7, 2 ** 62, -2 ** 63, 2 ** 63 - 1, 1.5, float("inf"), "", "x", "9" * 18, "2,3,4", "../../etc/passwd",
              b"", b"\xff" * 8, "9223372036854775807", "1000000000,1000000000", 4096, 65536]
    columns = []
    with sqlite3.connect(meta) as db:
        for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            columns += [(table, row[1]) for row in db.execute(f"PRAGMA table_info({table})")]
    db.close()
    seen = 0
    for _ in range(100):
        with open(meta, "wb") as f:
            f.write(good)
        db = sqlite3.connect(meta)
        for _ in range(int(rng.integers(1, 3))):
            table, column = columns[rng.integers(len(columns))]
            try:
                rows = [r[0] for r in db.execute(f"SELECT {column} FROM {table}")]
                if rows:
                    db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?",
                               (values[rng.integers(len(values))], rows[rng.integers(len(rows))]))
            except (sqlite3.Error, OverflowError):
                pass
        db.commit()
        db.close()
        seen += harmless(use_run, path)
    assert seen > 20


def test_data_bytes(rng, path):
    """Test damaged data files, also of compressed datasets, with damaged headers and chunk tables."""
    for source in [None] + DATASETS[:1]:
        shutil.rmtree(path, ignore_errors=True)
        if source:
            shutil.copytree(source, path)
        else:
            golden(path)
        data = os.path.join(path, "data-000001.tutti")
        with open(data, "rb") as f:
            good = f.read()
        for _ in range(8 if source else 40):
            with open(data, "wb") as f:
                f.write(mutate(rng, good))
            harmless(use_run, path)


def test_chunks(rng, path):
    """Each number in the header of a compressed section is damaged."""
    names = [d for d in DATASETS if d.endswith("types.tutti")]
    for name in names:
        shutil.copytree(name, path)
        run = tutti.open(path)
        section = run._meta.section_rows("variable = ? AND part = 0", run._by_name["u2"].id)[0]
        run.close()
        data = os.path.join(path, "data-000001.tutti")
        with open(data, "r+b") as f:
            for word in range(10):
                for value in (-1, 0, 1, 2, 3, 1 << 31, 1 << 62, -(1 << 63), int(rng.integers(1 << 20))):
                    f.seek(section.start + 8 * word)
                    good = f.read(8)
                    f.seek(section.start + 8 * word)
                    f.write(struct.pack("<q", value))
                    f.flush()
                    harmless(lambda: tutti.open(path).segments[-1]["u2"][5:9])
                    f.seek(section.start + 8 * word)
                    f.write(good)
                    f.flush()
        assert tutti.open(path).segments[-1]["u2"][...].size


def test_arrays(rng, path):
    header = bytearray(2048)
    header[:8] = bytes.fromhex("895454410d0a1a0a")
    struct.pack_into("<IIQIIII", header, 8, 1, 0, 1, 10, 0, 1, 2)
    struct.pack_into("<QQQQII", header, 40, 8, 4096, 48, 0, 0, 0)
    struct.pack_into("<16Q", header, 80, 2, 3, *[0] * 14)
    struct.pack_into("<Q", header, 2040, fnv(header[:2040]))
    good = bytes(header) * 2 + np.arange(6.).tobytes()
    with open(path, "wb") as f:
        f.write(good)
    assert tutti.open_array(path)[...].tolist() == [[0, 1, 2], [3, 4, 5]]
    seen = 0
    for i in range(80):
        bad = bytearray(header)
        if i % 2:
            bad = bytearray(mutate(rng, bytes(header))[:2048].ljust(2048, b"\0"))
        else:
            word = int(rng.integers(2, 60))
            struct.pack_into("<I", bad, 4 * word, int(rng.choice([0, 1, 2, 3, 255, 2 ** 31, 2 ** 32 - 1])))
        struct.pack_into("<Q", bad, 2040, fnv(bad[:2040]))
        with open(path, "wb") as f:
            f.write(bytes(bad) * 2 + good[4096:])
        seen += harmless(lambda: tutti.open_array(path)[...])
    assert seen > 15


def test_netcdf(rng, path):
    variables = [("v", ["x", "y"], {"units": "m"}, np.arange(15.).reshape(3, 5)),
                 ("t", ["time"], {}, np.arange(2.)), ("u", ["time", "x"], {}, np.arange(6, dtype="i2").reshape(2, 3))]
    seen = 0
    for version in (1, 2, 5):
        good = NetCDF(version, {"time": 0, "x": 3, "y": 5}, {"title": "t"}, variables, 2).bytes()
        for _ in range(50):
            with open(path, "wb") as f:
                f.write(mutate(rng, good[:300]) + good[300:])
            seen += harmless(lambda: [v[...] for v in tutti.netcdf.open(path).values()])
    assert seen > 30


def test_not_there(path):
    for function in (tutti.open, tutti.open_array, tutti.netcdf.open):
        try:
            function(path)
        except tutti.Error as error:
            assert error.name == "TUTTI_ERR_NOT_FOUND" and error.file, error
        else:
            raise AssertionError("it is not there")
    os.makedirs(path)
    assert harmless(tutti.open, path) and harmless(tutti.open_array, path) and harmless(tutti.netcdf.open, path)
    os.mkfifo(path + ".pipe")
    assert harmless(tutti.open_array, path + ".pipe") and harmless(tutti.netcdf.open, path + ".pipe")


def test_shrinks(path):
    """Reading a file that was truncated after it was opened raises an Error; a memory map would crash the program."""
    run = tutti.open(golden(path))
    lazy = run.segments[2]["heat"]
    assert lazy[0, 0] == 1
    with open(os.path.join(path, "data-000001.tutti"), "r+b") as f:
        f.truncate(8192)
    assert harmless(lambda: lazy[0, 0]) and harmless(lambda: run["heat"][...])
