"""Arrays, distributions and tiles, compared with NumPy arrays.

SPDX-License-Identifier: BSD-3-Clause"""
import numpy as np

import tutti
from tutti import Array, Distribution


def test_kinds(comm, rng, path):
    """Call create, open, raw, fill, resize, sync and inspect."""
    whole = rng.integers(99, size=(7, 5)).astype("i4")
    with Array.create(comm, path, (7, 5), "i4", order="F") as a:
        a.fill(3)
        assert (a.read() == 3).all() and a.order == "F" and a.ndim == 2
        a.write(np.s_[comm.rank::comm.size], whole[comm.rank::comm.size])
        a.sync()
        np.testing.assert_array_equal(a.read(), whole)
        np.testing.assert_array_equal(a.read(np.s_[2]), whole[2])
        np.testing.assert_array_equal(a.read_independent(np.s_[..., -1]), whole[..., -1])
        assert a.file.stats()[1].operations > 0
    info = Array.inspect(path)
    assert info[:3] == ((7, 5), np.dtype("i4"), "F") and info.distribution is None
    with Array.open(comm, path, "r+", shape=(7, 5), dtype="i4", order="F") as a:
        a.resize(8)
        assert a.shape == (7, 8) and (a.read(np.s_[:, 5:]) == 0).all()
        a.write_independent(np.s_[:, 5 if comm.rank == 0 else slice(0, 0)], np.zeros(7 if comm.rank == 0 else (7, 0), "i4"))
    with Array.raw(comm, path, "r", (7, 5), "i4", offset=info.offset, order="F") as a:
        np.testing.assert_array_equal(a.read(), whole)
    comm.barrier()
    np.testing.assert_array_equal(tutti.open_array(path)[:, :5], whole)
    with Array.create(comm, path + ".v", (3,), "V5") as a:
        a.write(np.s_[:] if comm.rank == 0 else np.s_[:0], np.array([b"abcde", b"fghij", b"klmno"], "V5")[:3 * (comm.rank == 0)])
        assert a.read()[1].tobytes() == b"fghij"


def test_collective_block(comm, rng, path):
    whole = rng.integers(99, size=(9, 4)).astype(float)
    with Array.create(comm, path, whole.shape, "f8") as a:
        a.prefetch(np.s_[:2])
        with a.collective():
            for row in range(comm.rank, 9, comm.size):  # the number of assignments differs between ranks
                a[row] = whole[row]
        np.testing.assert_array_equal(a.read(), whole)
        np.testing.assert_array_equal(a.read(np.s_[:2]), whole[:2])
        with a.collective():
            x = np.full(4, 5.0)
            if comm.rank == 0:
                a[3] = x
                a[:, 1] = 7
                a[4:6, ::2] = whole[4:6, ::2] * 2
            x[:] = 0  # earlier assignments are kept
        whole[3], whole[:, 1], whole[4:6, ::2] = 5, 7, whole[4:6, ::2] * 2
        np.testing.assert_array_equal(a.read(), whole)


def test_requests(comm, rng, path):
    whole = rng.integers(99, size=(12, 6)).astype("f4")
    with Array.create(comm, path, whole.shape, "f4") as a:
        mine = np.s_[comm.rank::comm.size, ::2]
        request = a.write_start(mine, whole[mine])
        while not request.wait_for(10):
            pass
        assert request.done and request.wait_for(0)
        rest = np.s_[comm.rank::comm.size, 1::2]
        with a.write_start(rest, whole[rest]):
            pass
        out = np.zeros((12, 6), "f4")
        with a.read_start(np.s_[...], out) as request:
            request.test()
        np.testing.assert_array_equal(out, whole)
        a.prefetch(np.s_[3:9])
        np.testing.assert_array_equal(a.read(np.s_[3:9]), whole[3:9])
        a.prefetch(np.s_[1:2])
        a.prefetch_drop()
        pieces = a.partitions(comm.size, 12 * 6 * 4)
        got = np.concatenate([a.read(a.partition(pieces, k)) for k in range(pieces)])
        np.testing.assert_array_equal(got, whole)


def test_distributions(comm, rng, path):
    n = comm.size
    whole = rng.integers(99, size=(11, 8)).astype("f8")
    kinds = [("none", ("block", n)), (("cyclic", n), "none"), (("block-cyclic", n, 2), "none"),
             (("ragged", np.sort(np.concatenate([[0, 11], rng.integers(0, 12, n - 1)]))), "none")]
    for number, dims in enumerate(kinds):
        d = Distribution(whole.shape, *dims)
        assert d.ranks == n and sum(int(np.prod(d.part(r))) for r in range(n)) == whole.size
        for _ in range(5):
            g = [int(rng.integers(e)) for e in whole.shape]
            rank, local = d.local(g)
            assert d.global_(rank, local) == tuple(g)
            assert [i[k] for i, k in zip(d.indices(rank), local)] == g
        mine = np.ascontiguousarray(whole[np.ix_(*d.indices(comm.rank))])
        with Array.create(comm, f"{path}.{number}", whole.shape, "f8", order="CF"[number % 2]) as a:
            a.write_part(d, mine)
            np.testing.assert_array_equal(a.read(), whole)
            np.testing.assert_array_equal(a.read_part(d), mine)
            half = Distribution((11, 4), *((dims[0], "none") if dims[0] != "none" else ("none", ("block", n))))
            part = a.read_part(half, within=np.s_[:, ::2])
            np.testing.assert_array_equal(part, whole[:, ::2][np.ix_(*half.indices(comm.rank))])
            with Array.create(comm, f"{path}.{number}.local", whole.shape, "f8", distribution=d) as b:
                seen = []
                a.copy_to(b, 1 << 12, lambda done, total, phase: seen.append(done))
                assert b.local_shape == mine.shape and b.distribution.ranks == n
                np.testing.assert_array_equal(b.read(), mine)
        info = Array.inspect(f"{path}.{number}.local")
        assert info.distribution.part(comm.rank) == mine.shape
        np.testing.assert_array_equal(tutti.open_array(f"{path}.{number}.local")[...], whole)
        d.free()


def test_tiles(comm, rng, path):
    """Test a stencil with halos, tile by tile: from one array to another, in place, and without an input array."""
    whole = rng.integers(99, size=(17, 10)).astype("f8")
    rows = np.s_[17 * comm.rank // comm.size:17 * (comm.rank + 1) // comm.size]
    padded = np.pad(whole, 1, "edge")
    smooth = padded[:-2, 1:-1] + padded[2:, 1:-1] + whole
    with Array.create(comm, path + ".a", whole.shape, "f8") as a, Array.create(comm, path + ".b", whole.shape, "f8", order="F") as b:
        with tutti.Tiles(None, a, budget=1 << 14, of=rows) as walk:
            for tile in walk:
                tile.output[...] = whole[tile.core]
        np.testing.assert_array_equal(a.read(), whole)
        for copy in (True, False):
            with a.tiles(b, budget=1 << 14, of=rows, tile=(4, 5), halo=(1, 0), copy=copy) as walk:
                for tile in walk:
                    if tile.output.size:
                        lo, top = tile.core[0].start, tile.frame[0].start
                        x = tile.input
                        up = x[np.maximum(np.arange(len(tile.output)) + lo - 1 - top, 0)]
                        down = x[np.minimum(np.arange(len(tile.output)) + lo + 1 - top, len(x) - 1)]
                        tile.output[...] = up + down + whole[tile.core]
                        del x
                assert walk.stats()["tiles"] >= 0
            np.testing.assert_array_equal(b.read(), smooth)
        with b.tiles(b, budget=1 << 14, of=rows) as walk:
            for tile in walk:
                tile.output *= 2
        np.testing.assert_array_equal(b.read(), 2 * smooth)
        with a.tiles(budget=1 << 14, tile=(1, 10)) as walk:
            total = sum(tile.input.sum() for tile in walk)
        assert total == whole.sum()


def test_slices():
    assert tutti.array.fortran_slice([1, 11], [99, 20], [2, 1]) == np.s_[0:99:2, 10:20]
    assert tutti.array.slice_shape(np.s_[2:9:3, ...], (10, 4)) == (3, 4)
