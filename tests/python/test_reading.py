"""tutti.open, open_array and netcdf compared with the command and NumPy.  No MPI.

SPDX-License-Identifier: BSD-3-Clause"""
import io
import json
import os
import pathlib
import shutil
import sqlite3

import numpy as np

import tutti
from writers import NetCDF, tutti as command

DATASETS = [d for d in os.environ.get("TUTTI_TEST_DATASETS", "").split(":") if d]
TESTS = pathlib.Path(__file__).resolve().parent.parent / "dataset"


def golden(path, which="golden"):
    os.makedirs(path)
    shutil.copy(TESTS / which / "data-000001.tutti", path)
    db = sqlite3.connect(os.path.join(path, "metadata.sqlite"))
    db.executescript((TESTS / which / "metadata.sql").read_text())
    db.close()
    return path


def random_key(rng, shape, fancy=True):
    """Return a random NumPy index."""
    key, lists = [], 0
    for n in shape:
        kind = rng.integers(6 if fancy else 4)
        if kind == 0 and n:
            key.append(int(rng.integers(-n, n)))
        elif kind <= 3:
            ends = [None if rng.integers(3) == 0 else int(rng.integers(-n - 2, n + 3)) for _ in range(2)]
            step = int(rng.integers(1, 4)) * (-1 if rng.integers(3) == 0 else 1)
            key.append(slice(*ends, step))
        elif kind == 4 and n and not lists:
            lists += 1
            key.append(rng.integers(-n, n, rng.integers(0, 5)))
        elif kind == 5 and not lists:
            lists += 1
            key.append(rng.integers(2, size=n).astype(bool))
        else:
            key.append(slice(None))
    if rng.integers(4) == 0:
        cut = int(rng.integers(len(key) + 1))
        key = key[:cut] + [Ellipsis]
    if fancy and rng.integers(4) == 0:
        key.insert(int(rng.integers(len(key) + 1)), None)
    return tuple(key)


def same(a, b):
    assert a.shape == b.shape and a.dtype == b.dtype.newbyteorder("="), (a.shape, b.shape, a.dtype, b.dtype)
    np.testing.assert_array_equal(a, b)


def check_slices(lazy, whole, rng, n=12):
    if whole.size:  # with an ellipsis NumPy returns an array, also for one element
        assert isinstance(lazy[(0,) * whole.ndim + (...,)], np.ndarray)
    same(lazy[...], whole)
    same(np.asarray(lazy), whole)
    for _ in range(n):
        key = random_key(rng, whole.shape)
        same(lazy[key], whole[key])


def test_golden(path):
    for which in ("golden", "golden_v2"):
        check_golden(tutti.open(golden(os.path.join(path, which), which)))


def check_golden(run):
    assert list(run) == ["heat", "flow", "count"] and len(run) == 3
    assert run.infos == {"title": "a tiny dataset"} and run["heat"].infos == {"seven": 7}
    assert [s.kind for s in run.segments] == ["topology", "state", "state"]
    assert run.segments[1].infos["dt"].tolist() == [0.5, 0.25, 0.125]
    assert run.times.tolist() == [0, 0.5] and run["heat"].indices.tolist() == [0, 1]
    assert run["heat"].units == "K" and run["heat"].long_name == "temperature"
    assert run["heat"].dims == ("time", "grid_0", "grid_1") and run["flow"].shape == (2, 2, 3, 2)
    assert run["heat"][...].tolist() == [[[0, .25, .5], [.75, 1, 1.25]], [[1, 1.25, 1.5], [1.75, -1.5, -1.5]]]
    assert run["flow"].dtype == np.float32 and run["flow"][1, 0, 0].tolist() == [12.5, 12.625]
    assert run["count"].at(1)[...].tolist() == [1000, 993, 986, 979, 972]
    assert run.segments[2].ids("nodes").tolist() == [40, 10, 30, 20, 50]
    assert run.latest().index == 1 and run.find(index=0).number == 1 and run.find(time=0.4).number == 1
    assert "heat" in run.segments[1] and "count" not in run.segments[2] and run.segments[2].topology == 0
    assert run.verify() == 356
    run.close()


def test_infos_of_bytes(path):
    """Test raw bytes, stored as text by version 1, and names that are not UTF-8."""
    run = tutti.open(golden(path, "golden_v1/archive"))
    assert run.infos == {"late": "late", "raw": b"\xff\0a\x80", "title": "a tiny archive"}
    run.close()
    with sqlite3.connect(os.path.join(path, "metadata.sqlite")) as db:
        db.execute("UPDATE infos SET value = CAST(value AS BLOB) WHERE name = 'raw'")
        db.execute("UPDATE infos SET name = CAST(x'ff41' AS TEXT) WHERE name = 'late'")
    db.close()
    with tutti.open(path) as run:
        assert run.infos["raw"] == b"\xff\0a\x80" and run.infos["\\xffA"] == "late"


def test_datasets(rng):
    """All variables of all segments have the values that `tutti dump` prints."""
    compared = 0
    for name in DATASETS:
        run, listed = tutti.open(name), json.loads(command("ls", "--json", name))
        assert [s.time for s in run.segments] == [s["time"] for s in listed["segments"]]
        for segment in run.segments[:1] + run.segments[-2:]:
            assert sorted(segment) == sorted(listed["segments"][segment.number]["variables"])
            for variable in segment:
                dumped = np.load(io.BytesIO(command("dump", name, "-v", variable, "-s", segment.number, "--as", "npy")))
                lazy = segment[variable]
                whole = dumped.reshape(lazy.shape).astype(lazy.dtype)
                check_slices(lazy, whole, rng, 4)
                if len(set(run[variable].shapes())) == 1:
                    at = run[variable].segments.index(segment)
                    same(run[variable][at], whole.astype(run[variable].dtype))
                compared += 1
        assert run.verify() > 0
    assert compared > 20 or not DATASETS, compared


def test_array(rng, path):
    """Compare arrays of all types and orders with the output of the command tutti."""
    os.makedirs(path)
    for kind in "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16".split():
        shape = tuple(int(n) for n in rng.integers(1, 7, rng.integers(1, 4)))
        whole = rng.integers(0, 100, shape).astype(kind)
        np.save(f"{path}/a.npy", np.array(whole, order="CF"[rng.integers(2)]))
        command("array", "write", f"{path}/a.tta", "--from", f"{path}/a.npy", "--create", "--force")
        a = tutti.open_array(f"{path}/a.tta")
        check_slices(a, whole, rng, 5)
        same(np.array(a.memmap()), whole)


def test_local_arrays(rng):
    """Test arrays in local placement, written with their values by tests/python/local_arrays.py."""
    for name in [n for n in os.environ.get("TUTTI_TEST_ARRAYS", "").split(":") if n]:
        check_slices(tutti.open_array(name), np.load(name + ".npy"), rng)


def test_netcdf(rng, path):
    os.makedirs(path)
    for version in (1, 2, 5):
        for records, streaming in ((0, False), (3, False), (2, True)):
            kinds = list("i1 i2 i4 f4 f8".split()) + (["u1", "u2", "u4", "i8", "u8"] if version == 5 else [])
            dims = {"time": 0, "x": 3, "y": 5, "letters": 4}
            variables = [(f"fixed_{k}", ["x", "y"], {"units": "m"}, rng.integers(0, 99, (3, 5)).astype(k)) for k in kinds]
            variables += [(f"steps_{k}", ["time", "y"], {}, rng.integers(0, 99, (records, 5)).astype(k)) for k in kinds]
            variables += [("text", ["x", "letters"], {}, np.frombuffer(b"abc\0de\0\0long", "S1").reshape(3, 4)),
                          ("number", [], {"of": np.array([1.5, 2.5]), "one": np.int16(7)}, np.array(8.5))]
            f = NetCDF(version, dims, {"title": "Exodus", "n": np.int32(4)}, variables, records, streaming)
            with open(f"{path}/a.nc", "wb") as out:
                out.write(f.bytes())
            got = tutti.netcdf.open(f"{path}/a.nc")
            assert got.attributes["title"] == "Exodus" and got.attributes["n"] == 4 and got.version == version
            assert got.dimensions == {"time": records, "x": 3, "y": 5, "letters": 4}
            for name, names, attributes, values in variables:
                assert got[name].dims == tuple(names) and got[name].attributes.keys() == attributes.keys()
                check_slices(got[name], values, rng, 2)
            assert tutti.netcdf.text(got["text"]) == ["abc", "de", "long"]
            assert got["number"].attributes["of"].tolist() == [1.5, 2.5]
    single = NetCDF(1, {"t": 0, "x": 3}, {}, [("v", ["t", "x"], {}, np.arange(6, dtype="i2").reshape(2, 3))], 2)
    with open(f"{path}/b.nc", "wb") as out:
        out.write(single.bytes())
    assert tutti.netcdf.open(f"{path}/b.nc")["v"][...].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_journal(path):
    """The transaction of a killed writer is rolled back in a copy of the metadata; the original is unchanged."""
    golden(path)
    meta = os.path.join(path, "metadata.sqlite")
    db = sqlite3.connect(meta, isolation_level=None)
    db.execute("PRAGMA cache_size=1")
    db.execute("BEGIN IMMEDIATE")
    for i in range(3000):
        db.execute("INSERT INTO infos VALUES(0,0,?,'bytes',100,?)", (f"junk{i}", "x" * 100))
    shutil.copytree(path, path + ".killed")
    db.execute("ROLLBACK")
    db.close()
    killed = path + ".killed"
    before = {f: open(os.path.join(killed, f), "rb").read() for f in sorted(os.listdir(killed))}
    assert len(before["metadata.sqlite-journal"]) > 1000
    with tutti.open(killed) as run:
        assert run.infos == {"title": "a tiny dataset"} and run.verify() == 356
    assert before == {f: open(os.path.join(killed, f), "rb").read() for f in sorted(os.listdir(killed))}


def test_damage_is_found(path):
    golden(path)
    data = os.path.join(path, "data-000001.tutti")
    for at, says in ((8192 + 5, "heat"), (8256 + 9, "flow"), (4096 + 3, "nodes:ids"), (8512 + 1, "trailer")):
        with open(data, "r+b") as f:
            f.seek(at)
            byte = f.read(1)
            f.seek(at)
            f.write(bytes([byte[0] ^ 1]))
        try:
            tutti.open(path).verify()
        except tutti.Error as error:
            assert error.name == "TUTTI_ERR_FORMAT" and says in str(error), error
        else:
            raise AssertionError(f"byte {at} was changed and no error was raised")
        with open(data, "r+b") as f:
            f.seek(at)
            f.write(byte)
    assert tutti.open(path).verify() == 356


def test_refresh(path):
    run = tutti.open(golden(path))
    assert not run.refresh()
    db = sqlite3.connect(os.path.join(path, "metadata.sqlite"))
    db.execute("DELETE FROM segments WHERE id = 3")
    db.execute("DELETE FROM sections WHERE segment = 3")
    db.execute("UPDATE dataset SET value = 2 WHERE key = 'generation'")
    db.commit()
    try:
        run["heat"][0]
    except tutti.Error as error:
        assert error.name == "TUTTI_ERR_STATE"
    else:
        raise AssertionError("segments were removed and no error was raised")
    assert run.refresh() and run["heat"].shape == (1, 2, 3)
