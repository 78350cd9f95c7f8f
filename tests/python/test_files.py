"""Files, accesses, plans, requests, parts, options and profiles, compared with bytes computed by NumPy.

SPDX-License-Identifier: BSD-3-Clause"""
import os
import unittest

import numpy as np

import tutti
from tutti import Access, File, Part


def blocks(rng, size, most=40):
    """Distribute blocks of bytes over ranks; return the owner of each byte, and offsets and lengths of each rank."""
    cuts = np.unique(rng.integers(1, 5000, most))
    starts, ends = np.concatenate([[0], cuts[:-1]]), cuts
    owner = rng.integers(size, size=len(starts))
    of = np.zeros(ends[-1], int)
    for s, e, o in zip(starts, ends, owner):
        of[s:e] = o
    return of, [(starts[owner == r], (ends - starts)[owner == r]) for r in range(size)]


def expect(path, whole):
    got = np.fromfile(path, np.uint8)
    np.testing.assert_array_equal(got[:len(whole)], whole)


def test_kinds_of_calls(comm, rng, path):
    """Test all calls that write and read the same bytes."""
    of, mine = blocks(rng, comm.size)
    access = Access.runs(*mine[comm.rank])
    for way in range(7):
        whole = rng.integers(256, size=len(of)).astype(np.uint8)
        x, y = whole[of == comm.rank], np.zeros((of == comm.rank).sum(), np.uint8)
        with File(comm, path, "rw") as f:
            if way == 0:
                assert f.write(access, x) == len(x) and f.read(access, y) == len(x)
            elif way == 1:
                with f.write_begin(access, x) as op:
                    pass
                with f.read_begin(access, y) as back:
                    pass
                assert op.count == back.count == len(x)
            elif way == 2:
                request = f.write_start(access, x)
                assert request.wait() == len(x) and request.done and request.test()
                with f.read_start(access, y) as request:
                    while not request.test():
                        pass
                assert request.count == len(x)
            elif way == 3:
                assert f.write_independent(access, x) == len(x)
                comm.barrier()
                assert f.read_independent(access, y) == len(x)
            elif way == 4:
                f.write_independent_start(access, x).wait()
                f.read_independent_start(access, y).wait()
            elif way == 5:
                with f.plan_write(access) as plan, f.plan_read(access) as back:
                    assert plan.run(x) == len(x) and "bytes" in plan.explanation and plan.size >= 0
                    back.start(y)
                    while not back.test():
                        pass
                    frozen = x.copy()
                    frozen.flags.writeable = False
                    plan.start(frozen)
                    assert plan.wait() == len(x) == back.run(y)
            else:
                request = f.write_start(access, x)
                request.abandon()
                assert request.done
                continue
            f.sync()
            comm.barrier()
            expect(path, whole)
            np.testing.assert_array_equal(x, y)
            assert f.size() == f.size_independent() == len(whole)
            last, all_ = f.stats()
            assert all_.operations >= last.operations >= 0 and isinstance(f.explain(), str)
    comm.barrier()
    expect(path, whole)  # an abandoned write is complete once the file is closed


def test_memory_with_gaps(comm, rng, path):
    """A view with gaps is written by a matching access, by all kinds of calls; the gaps are unchanged."""
    whole = rng.integers(99, size=(4 * comm.size, 7)).astype("i4")
    frame = np.full((9, 20), -1, "i4")
    inner = frame[1:5, 3:17:2]
    inner[...] = whole[4 * comm.rank:4 * comm.rank + 4]
    access = Access.of(inner, whole.shape, (4 * comm.rank, 0))
    with File(comm, path, "w+") as f:
        f.write_parts([Part(access, inner)])
        f.plan_write(access).run(inner)
        f.write(access, inner)
        back = np.full((9, 20), -1, "i4")
        f.read(access, back[1:5, 3:17:2])
        np.testing.assert_array_equal(back, frame)
    comm.barrier()
    np.testing.assert_array_equal(np.fromfile(path, "i4").reshape(whole.shape), whole)


def test_parts(comm, rng, path):
    """Test several variables with conversions, by all calls for parts."""
    n = 20
    a = Access.contiguous(comm.rank * n * 4, n * 4)
    b = Access.contiguous(comm.size * n * 4 + comm.rank * n * 2, n * 2)
    values, counts = rng.integers(-99, 99, n) * 1.0 + comm.rank, rng.integers(0, 99, n).astype(np.int64)
    for way in range(5):
        back, again = np.zeros(n), np.zeros(n, np.int64)
        parts = [Part(a, values, ">f4"), Part(b, counts, "<i2")]
        places = [Part(a, back, ">f4"), Part(b, again, "<i2")]
        with File(comm, path, "w+") as f:
            if way == 0:
                assert f.write_parts(parts) == n * 6 and f.read_parts(places) == n * 6
            elif way == 1:
                with f.write_parts_begin(parts):
                    pass
                with f.read_parts_begin(places):
                    pass
            elif way == 2:
                f.write_parts_start(parts).wait()
                f.read_parts_start(places).wait()
            elif way == 3:
                f.write_parts_independent(parts)
                f.read_parts_independent(places)
            else:
                plan, get = f.plan_write_parts(parts), f.plan_read_parts(places)
                assert plan.run_parts([values, counts]) == n * 6
                get.start_parts([back, again])
                get.wait()
            comm.barrier()
            raw = np.fromfile(path, np.uint8)
            first = raw[comm.rank * n * 4:][:n * 4].view(">f4")
            second = raw[comm.size * n * 4 + comm.rank * n * 2:][:n * 2].view("<i2")
            np.testing.assert_array_equal(first, values)
            np.testing.assert_array_equal(second, counts)
        np.testing.assert_array_equal(back, values)
        np.testing.assert_array_equal(again, counts)


def test_accesses(rng):
    """Compare queries of accesses with lists of bytes."""
    def listed(access):
        return [(p.file + i, p.memory + i) for p in access for i in range(p.bytes)]

    v = Access.vector(10, 3, 4, 7)
    assert listed(v) == [(10 + 7 * i + j, 4 * i + j) for i in range(3) for j in range(4)]
    assert (v.bytes, v.repeated, v.bounds, v.memory_bounds, v.runs_count) == (12, 0, (10, 28), (0, 12), 3)
    assert v.bytes_in(0, 18) == 5 and v.size > 0 and "4 bytes" in repr(v)
    assert Access.parse(v.serialise()) == v and hash(v.copy()) == hash(v) and v != Access.contiguous(0, 1)
    assert v.seek(5) == (18, 5, 3) and list(v.walk(8))[0].file == 24
    assert listed(v.shift(5, 2)) == [(f + 5, m + 2) for f, m in listed(v)]
    assert listed(v.clip(11, 20)) == [(f, m) for f, m in listed(v) if 11 <= f < 20]
    assert listed(v.tile(2, 100, 12)) == [(f + 100 * i, m + 12 * i) for i in range(2) for f, m in listed(v)]
    assert listed(Access.concat([v, v.shift(50)])) == [(f + 50 * i, m + 12 * i) for i in range(2) for f, m in listed(v)]
    assert listed(Access.contiguous(0, 12).join(v)) == [(i, f) for i, (f, _) in enumerate(listed(v))]
    assert listed(Access.indices(8, 2, [3, 0])) == [(8, 2), (9, 3), (14, 0), (15, 1)]
    assert listed(Access.pieces([5, 0], [0, 9], [2, 1])) == [(0, 9), (5, 0), (6, 1)]
    assert Access.pieces([0], None, [4]) == Access.contiguous(0, 4)
    x = rng.integers(256, size=12).astype(np.uint8)
    packed = v.pack(x, 2, 9)
    np.testing.assert_array_equal(packed, x[2:9])
    y = np.zeros(12, np.uint8)
    v.unpack(y, packed, 2)
    np.testing.assert_array_equal(y[2:9], x[2:9])
    whole = rng.integers(99, size=(6, 8)).astype("i2")
    block = whole[1:5, 2:8:2]
    file = tutti.section((4, 3), (0, 0), (4, 3), element_size=2)
    assert Access.section(file).bytes == 24
    assert Access.of(block, (4, 3), (0, 0)).memory_bounds[1] <= whole.nbytes


def test_views(comm, path):
    """Test MPI datatypes from mpi4py."""
    if not hasattr(comm, "Split"):
        raise unittest.SkipTest("datatypes are mpi4py's")
    from mpi4py import MPI
    kind = MPI.DOUBLE.Create_vector(4, 1, comm.size).Commit()
    view = tutti.View(comm.rank * 8, kind)
    access = view.access(0, 4, MPI.DOUBLE)
    assert access == Access.from_view(comm.rank * 8, kind, 0, 4, MPI.DOUBLE) and view.bounds[0] == 0
    with File(comm, path, "w") as f:
        f.write(access, np.arange(4.) + 10 * comm.rank)
    kind.Free()
    view.free()
    comm.barrier()
    got = np.fromfile(path).reshape(4, comm.size)
    np.testing.assert_array_equal(got, np.arange(4.)[:, None] + 10 * np.arange(comm.size))
    info = MPI.Info.Create()
    info["tutti_method"] = "two-phase"
    info["nobody_knows"] = "1"
    assert tutti.Options().update_from_info(info).method == "two-phase"


def test_looking_after(comm, path):
    with File(comm, path, "x", permissions=0o600, options={"method": "two-phase"}) as f:
        assert f.options().method == "two-phase" and os.stat(path).st_mode & 0o777 == 0o600
        f.change(tutti.Options(method="independent"))
        assert f.options()["method"] == "independent"
        f.preallocate(5000)
        f.resize(1234)
        assert f.size() == 1234
        f.atomic(True)
        f.write(Access.contiguous(0, 8 * (comm.rank == 0)), np.arange(1.))
        f.atomic(False)
        seen = []
        f.on_progress(lambda done, total, phase: seen.append((done, total, phase)))
        f.write(Access.contiguous(100000 * comm.rank, 100000), np.zeros(100000, np.uint8))
        f.on_progress(None)
        assert all(0 <= d <= t and p for d, t, p in seen)
    assert f.closed
    comm.barrier()
    if comm.rank == 0:
        File.delete(path)
    comm.barrier()
    assert not os.path.exists(path)


def test_options_and_profiles(path):
    rows = list(tutti.Options.rows())
    assert {"method", "exchange", "cb_buffer_size"} <= {r.name for r in rows}
    o = tutti.Options(environment=False, cb_buffer_size="4m", rmw=True)
    assert o.cb_buffer_size == "4m" or int(o.cb_buffer_size) == 4 << 20
    assert o["rmw"] in ("1", "on", "true", "yes") and o.as_dict().keys() == {r.name for r in rows}
    os.makedirs(path, exist_ok=True)
    p = tutti.Profile("tmpfs")
    assert p.as_dict()["cores"] == 2 and any(r["name"] == "vote" for r in p.rows())
    p["vote"] = 0.5
    name = f"{path}/profile.{os.getpid()}"
    p.save(name, path)
    assert tutti.Profile.load(path, name)["vote"] == 0.5 and tutti.Profile.filesystem(path)["mount"]
    forecast = p.predict(is_write=True, ranks=4, bytes=1 << 20, pieces=1000)
    assert forecast.seconds > 0 and forecast.method in ("independent", "list", "sieve", "root", "two-phase")
    assert tutti.Profile.path().endswith("profile")


def test_handle(comm, path):
    """A communicator is passed as a Fortran handle."""
    with File(comm.py2f(), path, "w") as f:
        f.write(Access.contiguous(comm.rank, 1), np.array([comm.rank], np.uint8))
    comm.barrier()
    expect(path, np.arange(comm.size))
    assert tutti.mpi.Comm(comm.py2f()).size == tutti.mpi.size_of(comm) == comm.size
    assert tutti.library_version().count(".") == 2
