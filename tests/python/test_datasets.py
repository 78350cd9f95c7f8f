"""Datasets are written and read in parallel, and read back by tutti.open.

SPDX-License-Identifier: BSD-3-Clause"""
import gc
import io
import os
import shutil
import weakref

import numpy as np

import tutti
from tutti import Dataset


def rows_of(comm, n):
    return slice(n * comm.rank // comm.size, n * (comm.rank + 1) // comm.size)


def test_grid(comm, rng, path):
    whole = rng.integers(99, size=(10, 6)).astype(float)
    mine = rows_of(comm, 10)
    with Dataset(comm, path, "rw", level="visible") as d:
        d.grid("grid", (10, 6))
        d.variable("t", "grid", ">f4", units="K", long_name="temperature", fill=-1)
        d.variable("v", "grid", "i2", item="vector", components=2, compress=1)
        rows = d.decomposition("grid", slice=np.s_[mine, :], whole=True)
        assert rows.shape == whole[mine].shape and rows.entries == whole[mine].size
        np.testing.assert_array_equal(rows.positions(), np.arange(60).reshape(10, 6)[mine].ravel())
        for step in range(3):
            with d.state(step, step * 0.5):
                d.put(rows, t=whole[mine] + step, v=np.stack([whole[mine]] * 2, -1).astype("i8"))
                d.set_info("step", step, segment=step)
        d.begin("state", 3, 1.5)
        d.put_start(rows, {"t": whole[mine]}).wait()
        d.commit_start().wait()
        assert len(d) == 4 and d.latest() == 3 and d.find(index=1) == 1 and d.find(time=0.7) == 1
        np.testing.assert_array_equal(d.get(1, rows, "t", dtype="f8"), whole[mine] + 1)
        both = d.get(2, rows, "t", "v")
        assert both["v"].dtype == np.int16 and both["v"].shape == (*whole[mine].shape, 2)
        out = np.zeros_like(whole[mine])
        d.get_start(3, rows, {"t": out}).wait()
        np.testing.assert_array_equal(out, whole[mine])
        np.testing.assert_array_equal(d.follow(0, 3, rows, "t", "f8"), np.stack([whole[mine] + k for k in (0, 1, 2, 0)]))
        assert d.shape("grid") == (10, 6) and d.spaces()[0].shape == (10, 6)
        d.set_info("title", "of Python")
        d.set_info("numbers", [1.5, 2.5])
        d.set_info("raw", b"\xff\0a")
        d.set_info("gone", 1)
        d.set_info("gone", None)
        d.set_info("one", True, variable="t")
        assert d.info("title") == "of Python" and d.infos(variable="t") == {"one": 1}
        assert d.info("raw") == b"\xff\0a" and d.infos().keys() == {"title", "numbers", "raw"} and d.infos(segment=1) == {"step": 1}
        row = d.section(0, "t")
        assert row.bytes == 240 and row.raw_bytes == 240 and row.has_checksums
        chunks = d.chunks(0, "v")
        bounds = d.chunk_bounds(0, "v", 0, chunks["count"])
        assert bounds[0] < bounds[-1] and chunks["value_bytes"] == 2
        assert d.verify() > 0 and d.verify_segment(-1) >= 0 and d.verify_segment(0) > 0
        assert [s.kind for s in d.segments()] == ["state"] * 4
        variable = d.variables()[0]
        assert (variable.name, variable.units, variable.dtype, variable.fill) == ("t", "K", np.dtype(">f4"), -1)
        d.erase_after(2)
        assert len(d) == 3 and not d.refresh()
        rows.free()
    comm.barrier()
    run = tutti.open(path)
    np.testing.assert_array_equal(run["t"][...], np.stack([whole + k for k in range(3)]).astype("f4"))
    np.testing.assert_array_equal(run["v"][2, ..., 1], whole)
    assert run.infos["numbers"].tolist() == [1.5, 2.5] and run.infos["raw"] == b"\xff\0a" and run.verify() > 0


def test_refresh_other_items(comm, path):
    """A reader follows a writer that replaces the dataset by one whose variable has items of another length."""
    mine = rows_of(comm, 12)

    def written(items, **item):
        with Dataset(comm, path, "w+", level="visible") as d:
            d.grid("grid", (12,))
            d.variable("t", "grid", "f8", **item)
            with d.state(0, 0.0):
                d.put(d.decomposition("grid", slice=np.s_[mine]), t=items[mine])
        comm.barrier()

    one, two = np.arange(12.0), np.arange(24.0).reshape(12, 2)
    written(one)
    with Dataset(comm, path, "r") as reader:
        np.testing.assert_array_equal(reader.get(0, reader.decomposition("grid", slice=np.s_[mine]), "t"), one[mine])
        written(two, item="vector", components=2)
        assert reader.refresh()
        np.testing.assert_array_equal(reader.get(0, reader.decomposition("grid", slice=np.s_[mine]), "t"), two[mine])


def test_stats_and_progress(comm, path):
    """Statistics grow with each operation; a callback is called until it is removed, and its exception is raised by the call."""
    mine, seen = rows_of(comm, 4 * comm.size), []
    values = np.arange(4.0 * comm.size)[mine]

    def fail(*_):
        raise KeyError("progress")

    with Dataset(comm, path, "w+", level="visible") as d:
        d.grid("grid", (4 * comm.size,))
        d.variable("t", "grid", "f8")
        rows = d.decomposition("grid", slice=np.s_[mine])
        before = d.stats()
        d.on_progress(lambda done, total, phase: seen.append((done, total, phase)))
        with d.state(0, 0.0):
            d.put(rows, t=values)
        calls = len(seen)
        assert calls and all(0 <= done <= total and phase for done, total, phase in seen)
        written = d.stats()
        assert written.operations > before.operations
        d.on_progress(None)
        d.get(0, rows, "t")
        assert len(seen) == calls and d.stats().operations > written.operations
        for call in (lambda: d.get(0, rows, "t"), lambda: d.follow(0, 0, rows, "t")):
            d.on_progress(fail)
            try:
                call()
                raise AssertionError("the exception of a callback was lost")
            except KeyError:
                pass
            d.on_progress(None)
            np.testing.assert_array_equal(d.get(0, rows, "t"), values)


def test_started_put_keeps_arrays(comm, path):
    """The arrays of a started put are kept until the put is complete, even if the caller has deleted them."""
    mine = rows_of(comm, 12)
    with Dataset(comm, path, "w+", level="visible") as d:
        d.grid("grid", (12,))
        d.variable("t", "grid", "f8")
        rows = d.decomposition("grid", slice=np.s_[mine])
        d.begin("state", 0, 0.0)
        values = np.arange(12.0)[mine].copy()
        alive = weakref.ref(values)
        request = d.put_start(rows, {"t": values})
        del values
        gc.collect()
        assert alive() is not None
        request.wait()
        d.commit()
        np.testing.assert_array_equal(d.get(0, rows, "t"), np.arange(12.0)[mine])


def test_lists(comm, rng, path):
    """Test lists with ids, ranked and global variables, in a topology and states; decompositions by ids, by index, by both and
    in rank order."""
    n = 23
    ids = rng.permutation(1000)[:n]
    mine = rows_of(comm, n)
    values = rng.integers(99, size=n).astype("f8")
    deal = rng.permutation(n)[comm.rank::comm.size]
    with Dataset(comm, path, "x+", level="visible", indices_per_file=2) as d:
        d.list("nodes")
        d.variable("u", "nodes", "f8", layout="ranked", fill=-5)
        d.variable("w", "nodes", "f4")
        d.begin("topology", 0, 0.0)
        d.ids("nodes", ids[mine])
        d.begin_also("state", 0, 0.0)
        by_id = d.decomposition("nodes", ids=ids[deal], rule="first")
        d.put(by_id, u=values[deal], w=values[deal])
        d.commit()
        by_index = d.decomposition("nodes", index=deal)
        both = d.decomposition("nodes", index=deal, ids=ids[deal])
        lie = d.decomposition("nodes", n=len(values[mine]))
        memory = d.decomposition("nodes", index=deal, memory=np.arange(len(deal))[::-1].copy())
        half = d.decomposition("nodes", index=deal[:1])
        with d.state(1, 0.5):
            d.put({"u": half, "w": lie}, {"u": values[deal[:1]], "w": values[mine]})
        with d.state(2, 1.0):
            d.put(memory, w=values[deal][::-1].copy())
        np.testing.assert_array_equal(d.get(1, by_index, "u"), values[deal])
        np.testing.assert_array_equal(d.get(1, both, "w", dtype="f8"), values[deal])
        np.testing.assert_array_equal(d.get(3, lie, "w", dtype="f8"), values[mine])
        at = d.decomposition("nodes", index=deal, segment=1)
        np.testing.assert_array_equal(d.get(1, at, "u"), values[deal])
        with d.topology(5, 2.0):
            d.resize("nodes", 30)
        assert d.shape("nodes") == (30,) and d.shape("nodes", 1) == (n,) and d.spaces()[0].is_list
        d.begin("state", 6, 3.0)
        d.discard()
        d.put_type("w", "i4")
        lost = d.drop_oldest(8)
        assert lost is None and len(d) == 5
    comm.barrier()
    run = tutti.open(path)
    np.testing.assert_array_equal(run["u"].at(1)[...], values)
    got = run["u"].at(2)[...]
    heads = [rng_deal for rng_deal in range(n) if got[rng_deal] != -5]
    assert len(heads) <= comm.size and (got[heads] == values[heads]).all()
    np.testing.assert_array_equal(run["w"].at(3)[...], values)
    np.testing.assert_array_equal(run.segments[2].ids("nodes"), ids)
    assert run.verify() > 0


def test_archive_and_repair(comm, path):
    x = np.arange(5000.) + comm.rank
    with Dataset(comm, path, "w+", level="visible") as d:
        d.grid("line", (5000 * comm.size,))
        d.variable("x", "line")
        mine = d.decomposition("line", slice=np.s_[5000 * comm.rank:5000 * (comm.rank + 1)])
        for step in range(3):
            with d.state(step, step):
                d.put(mine, x=x + step)
        assert d.archive(0, 0, path + ".archive") >= 0
        assert d.segment(0).archived == path + ".archive"
        d.restore(0, 0, path + ".archive")
        stream = io.BytesIO()
        d.archive_stream(1, 1, stream, "a tape")
        assert d.segment(1).archived == "a tape"
        comm.barrier()
        looked = tutti.open(path)
        try:
            looked["x"].at(1)[0]
        except tutti.Error as error:
            assert "a tape" in str(error)
        else:
            raise AssertionError("an archived segment was read")
        looked.close()
        d.restore_stream(1, 1, io.BytesIO(stream.getvalue()))
        np.testing.assert_array_equal(d.get(1, mine, "x"), x + 1)
    comm.barrier()
    if comm.rank == 0:
        os.remove(os.path.join(path, "metadata.sqlite"))
    comm.barrier()
    report = Dataset.repair(comm, path)
    assert report["segments"] == 3 and report["rebuilt"] == 1
    with Dataset(comm, path) as d:
        mine = d.decomposition("line", slice=np.s_[5000 * comm.rank:5000 * (comm.rank + 1)])
        np.testing.assert_array_equal(d.get(2, mine, "x"), x + 2)
    if comm.rank == 0:
        shutil.rmtree(path)


def test_slice_memory(comm, rng, path):
    whole = rng.random((10, 6, 4))
    mine = rows_of(comm, 10)
    inner = np.s_[2:2 + mine.stop - mine.start, 1:7, 3:7]
    extents, origin = (mine.stop - mine.start + 3, 8, 9), (2, 1, 3)
    with Dataset(comm, path, "rw", level="visible") as d:
        d.grid("grid", (10, 6, 4))
        d.variable("t", "grid", "f8")
        d.variable("v", "grid", "f4", item="vector", components=2, layout="ranked")
        around = d.decomposition("grid", slice=np.s_[mine, :, :], slice_memory=(extents, origin))
        assert around.shape == extents and around.entries == whole[mine].size
        t = np.full(extents, -1.0)
        t[inner] = whole[mine]
        with d.state(0, 0.0):
            d.put(around, t=t, v=np.stack([t, 2 * t], -1))
        np.testing.assert_array_equal(d.get(0, d.decomposition("grid", slice=np.s_[mine, :, :]), "t"), whole[mine])
        back = np.full(extents + (2,), -5.0)
        d.get(0, around, out={"v": back})
        np.testing.assert_array_equal(back[inner], np.stack([whole[mine], 2 * whole[mine]], -1).astype("f4"))
        assert (back == -5).sum() == back.size - 2 * whole[mine].size
        np.testing.assert_array_equal(d.follow(0, 0, around, "t")[0][inner], whole[mine])
        for wrong in ((extents, (4, 1, 3)), (extents, (-1, 1, 3)), ((3, 3), (0, 0)), (extents, (0, 0, 6))):
            try:
                d.decomposition("grid", slice=np.s_[mine, :, :], slice_memory=wrong if comm.rank == comm.size - 1 else (extents, origin))
            except tutti.Error as error:
                assert error.name == "TUTTI_ERR_ARG" and "slice_memory" in error.message, error
            else:
                raise AssertionError(f"{wrong} was accepted")
    np.testing.assert_array_equal(tutti.open(path)["t"][0], whole)
