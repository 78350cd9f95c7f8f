"""Datasets with netCDF data files are written in parallel, read by tutti.open and by the engine for xarray, and
compared with the written values.

SPDX-License-Identifier: BSD-3-Clause"""
import glob
import os
import sqlite3
import struct

import numpy as np

import tutti
from tutti import Dataset

ROWS, COLUMNS, NODES, STATES = 9, 5, 7, 4
TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
FILL = -7


def share(comm, n):
    return slice(n * comm.rank // comm.size, n * (comm.rank + 1) // comm.size)


def ids_of(topology):
    return 100 * (topology + 1) + np.arange(NODES + topology)[::-1]


def values(comm, path, rng, indices_per_file=0):
    """Write two topologies with two states each; return the values of each variable in each segment."""
    told = []
    with Dataset(comm, path, "x+", level="visible", container="netcdf", indices_per_file=indices_per_file) as d:
        d.grid("grid", (ROWS, COLUMNS))
        d.grid("one", (1,))
        d.list("nodes")
        for t in TYPES:
            d.variable("n" + t, "grid", t)
        d.variable("half", "grid", "f8", fill=FILL, units="K", long_name="a half")
        d.variable("v", "nodes", "f4", item="vector", components=3)
        d.variable("x", "nodes", "f8")
        d.variable("energy", "one", "f8")
        d.set_info("title", "plate")
        d.set_info("range", np.array([1., 2.]), variable="x")
        mine, top = share(comm, ROWS), share(comm, ROWS // 2)
        rows = d.decomposition("grid", slice=np.s_[mine, :])
        few = d.decomposition("grid", slice=np.s_[top, :])
        one = d.decomposition("one", index=np.arange(1 if comm.rank == 0 else 0))
        for step in range(STATES):
            if step % 2 == 0:
                ids = ids_of(step // 2)
                x = rng.random(len(ids))
                with d.topology(step, step * 0.5):
                    d.ids("nodes", ids[share(comm, len(ids))])
                    nodes = d.decomposition("nodes", ids=ids[share(comm, len(ids))])
                    d.put(nodes, x=x[share(comm, len(ids))])
                told.append({"x": x})
            whole = rng.integers(0, 100, (ROWS, COLUMNS))
            half = np.full((ROWS, COLUMNS), float(FILL))
            half[:ROWS // 2] = rng.random((ROWS // 2, COLUMNS))
            vectors = rng.random((len(ids), 3)).astype("f4")
            with d.state(step, step * 0.5):
                d.put(rows, {"n" + t: whole[mine].astype(t) for t in TYPES})
                d.put(few, half=half[top])
                d.put(nodes, v=vectors[share(comm, len(ids))])
                d.put(one, energy=np.full(1 if comm.rank == 0 else 0, step + 0.25))
            told.append({**{"n" + t: whole.astype(t) for t in TYPES}, "half": half, "v": vectors,
                         "energy": np.array([step + 0.25])})
    return told


def compare(run, told):
    assert len(run.segments) == len(told)
    topologies = -1
    for segment, expected in zip(run.segments, told):
        assert set(segment) == set(expected), (list(segment), list(expected))
        topologies += segment.kind == "topology"
        np.testing.assert_array_equal(segment.ids("nodes"), ids_of(topologies))
        for name, value in expected.items():
            got = segment[name]
            assert got.dtype == value.dtype and got.shape == value.shape, (name, got.dtype, got.shape, value.shape)
            np.testing.assert_array_equal(got[...], value)


def test_reading(comm, rng, path):
    for per_file in (0, 1):
        name = f"{path}{per_file}"
        told = values(comm, name, rng, per_file)
        if comm.rank:
            continue
        assert len(glob.glob(name + "/data-*.nc")) >= 2 + 2 * per_file and not glob.glob(name + "/data-*.tutti")
        with tutti.open(name) as run:
            compare(run, told)
            assert run.infos == {"title": "plate"} and run["x"].infos["range"].tolist() == [1, 2]
            assert run["half"].fill == FILL and run["half"].units == "K" and run["half"].long_name == "a half"
            np.testing.assert_array_equal(run["ni2"][1:, ::2, -1], np.stack([t["ni2"] for t in told if "ni2" in t])[1:, ::2, -1])
            np.testing.assert_array_equal(run["energy"][:, 0], np.arange(STATES) + 0.25)
            np.testing.assert_array_equal(run.times, np.arange(STATES) * 0.5)
            assert run.verify() == sum(v.nbytes for t in told for v in t.values()) + 8 * sum(len(ids_of(t)) for t in (0, 1))
            memory = run.latest()["nf8"].memmap()
            assert memory.dtype == np.dtype(">f8") and memory.flags.writeable is False


def test_xarray(comm, rng, path):
    told = values(comm, path, rng)
    if comm.rank:
        return
    try:
        import xarray
    except ImportError:
        print("without xarray")
        return
    from tutti.xarray_backend import TuttiBackend
    states = [t for t in told if "half" in t]
    with xarray.open_dataset(path, engine=TuttiBackend, topology=3) as data:
        np.testing.assert_array_equal(data.half.values, np.stack([t["half"] for t in states[2:]]))
        np.testing.assert_array_equal(data.v.values, np.stack([t["v"] for t in states[2:]]))
        np.testing.assert_array_equal(data.x.values, told[3]["x"])
        assert data.attrs["title"] == "plate" and data.half.attrs["units"] == "K"
    with xarray.open_dataset(path, engine=TuttiBackend, drop_variables=["v", "x"]) as data:
        assert data.sizes["time"] == STATES and data.energy.sel(time=0.5).item() == 1.25
        for t in TYPES:
            np.testing.assert_array_equal(data["n" + t].values, np.stack([s["n" + t] for s in states]))


def error_of(function):
    try:
        function()
    except tutti.Error as error:
        return error
    raise AssertionError("nothing was raised")


def test_uncounted(comm, rng, path):
    """A commit whose record is not counted in the netCDF header is not part of the dataset."""
    told = values(comm, path, rng)
    if comm.rank:
        return
    last = sorted(glob.glob(path + "/data-*.nc"))[-1]
    with open(last, "r+b") as f:
        f.seek(4)
        records, = struct.unpack(">q", f.read(8))
        assert records == 2
        f.seek(4)
        f.write(struct.pack(">q", 1))
    with tutti.open(path) as run:
        compare(run, told[:-1])
        with open(last, "r+b") as f:
            f.seek(4)
            f.write(struct.pack(">q", 2))
        assert run.refresh()
        compare(run, told)


def test_damage(comm, rng, path):
    """The error message describes the damage."""
    values(comm, path, rng)
    if comm.rank:
        return
    with tutti.open(path) as run:
        row = run.latest()._row
        section = run._find_section(row.id, run._variable("half").id, 0)
    name = os.path.join(path, row.file)
    with open(name, "r+b") as f:
        f.seek(section.start)
        old = f.read(1)
        f.seek(section.start)
        f.write(bytes([old[0] ^ 1]))
    with tutti.open(path) as run:
        assert "'half' in segment 5: its checksum" in str(error_of(run.verify))
    os.truncate(name, section.start + 8)
    with tutti.open(path) as run:
        assert "its elements end at" in str(error_of(lambda: run.latest()["half"][...]))
    os.rename(name, name + ".away")
    with tutti.open(path) as run:
        error = error_of(lambda: run.latest()["half"][...])
        assert error.name == "TUTTI_ERR_NOT_FOUND" and row.file in str(error)
    for change, words in (("UPDATE files SET container = 'box'", "the container of the data file"),
                          ("UPDATE files SET container = 'tutti'", "of a data file with container 'tutti'"),
                          ("UPDATE files SET container = 'netcdf'; UPDATE segments SET trailer = trailer - 64",
                           "are inconsistent")):
        db = sqlite3.connect(path + "/metadata.sqlite")
        db.executescript(change)
        db.close()
        assert words in str(error_of(lambda: tutti.open(path)))
