"""Replicas and meshes, compared with values computed by NumPy.

SPDX-License-Identifier: BSD-3-Clause"""
import numpy as np

import tutti
from tutti import File, Mesh, Replicas, mesh


def squares(n):
    """Return an n x n grid of squares: coordinates, types, start and nodes."""
    y, x = np.mgrid[:n + 1, :n + 1]
    xyz = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], 1) / n
    at = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    node = np.stack([at, at + 1, at + n + 2, at + n + 1], 1)
    return xyz, np.full(n * n, tutti.MESH_QUAD), np.arange(n * n + 1) * 4, node.ravel()


def test_replicas(comm, rng, path):
    """Every rank has a range of the items; the ranges of neighbouring ranks overlap."""
    n = 100
    lo, hi = max(0, n * comm.rank // comm.size - 3), min(n, n * (comm.rank + 1) // comm.size + 3)
    held = rng.permutation(n)
    held = held[(held >= lo) & (held < hi)]
    own = (held >= n * comm.rank // comm.size) & (held < n * (comm.rank + 1) // comm.size)
    for rule in ("idg2", "idg", "own", "first", "random"):
        with Replicas(comm, held, own=own, value_bytes=8, rule=rule, seed=5) as r, File(comm, path, "w+") as f:
            x = held * 1.5
            r.check(x)
            r.write(f, 16, x, check=True)
            y = np.zeros(len(held))
            r.read(f, 16, y)
            np.testing.assert_array_equal(x, y)
            assert r.bytes == 8 * n and (r.positions == 8 * held).all()
            stats = r.stats()
            assert stats["items"] == n and stats["ranks"] == comm.size
            assert r.share(comm.rank).items == (r.writers == comm.rank).sum() == r.write_access.bytes // 8
            assert r.read_access.bytes == 8 * len(held)
        comm.barrier()
        np.testing.assert_array_equal(np.fromfile(path, offset=16), np.arange(n) * 1.5)
    loads = held % 3  # items have different loads and given positions in memory
    with Replicas(comm, held, load=loads, value_bytes=4, memory_offsets=np.arange(len(held)) * 12) as r, \
            File(comm, path, "w+") as f:
        x = np.zeros((len(held), 3), "i4")
        for i, h in enumerate(held):
            x[i, :h % 3] = h
        r.write(f, 0, x)
    comm.barrier()
    np.testing.assert_array_equal(np.fromfile(path, "i4"), np.repeat(np.arange(n), np.arange(n) % 3))


def test_replicas_subset(comm, path):
    """Ranks that list some of the items pass positions; for all items with gaps they pass their number."""
    n = 40
    held = 3 * np.arange(n)[comm.rank::comm.size]
    with Replicas(comm, held) as r, File(comm, path, "w+") as f:
        r.write(f, 0, held * 1.5)
        try:
            r.read(f, 0, np.zeros(len(held)))
            assert False, "read although numbers have gaps"
        except tutti.Error as error:
            assert "no rank lists item 1:" in str(error), error
        with Replicas(comm, held, items=n) as whole:
            y = np.zeros(len(held))
            whole.read(f, 0, y)
            np.testing.assert_array_equal(y, held * 1.5)
        with Replicas(comm, [3 * 7, 3 * 30], positions=[8 * 7, 8 * 30]) as some:
            y = np.zeros(2)
            some.read(f, 0, y)
            np.testing.assert_array_equal(y, [31.5, 135])


def test_choose():
    writers, shares, stats = Replicas.choose([0, 1, 3, 4], [0, 0, 1, 1], 2)
    assert writers[0] == 0 and writers[2] == 1 and sum(s.items for s in shares) == 3 == stats["items"]
    assert tutti.replicas.rule_name(tutti.replicas.rule_of("own")) == "own"


def test_mesh(comm, rng, path):
    n = 12
    xyz, types, start, node = squares(n)
    if comm.rank:  # rank 0 has all data
        xyz, types, start, node = xyz[:0], types[:0], start[:1], node[:0]
    m = Mesh.make(comm, xyz, types, start, node, physical=np.full(len(types), 7))
    m.set_groups([mesh.Group(2, 7, "plate")])
    assert m.groups() == [(2, 7, "plate")]
    for kind in mesh.FORMATS:
        m.write(path, kind)
        with Mesh.open(comm, path) as again:
            assert again.describe()["elements"] == n * n and again.groups() == m.groups()
    m.renumber("curve")
    view = m.view()
    assert view.all_nodes == (n + 1) ** 2 and view.all_elements == n * n and len(view.node) == 4 * view.elements
    assert mesh.type_nodes(tutti.MESH_QUAD) == 4 and mesh.type_dim(tutti.MESH_TET) == 3
    assert mesh.type_name(tutti.MESH_TET) == "tetrahedron" and isinstance(mesh.has_metis(), bool)
    for by in mesh.BY:
        of = m.partition(comm.size, by, load=np.ones(view.nodes, int))
        assert m.partitioned_by == by or (by == "metis" and m.partitioned_by == "rcb")
        cut = m.cut(comm.size, of)
        assert cut["parts"] == comm.size and cut["total_nodes"] >= (n + 1) ** 2
    first, holder = m.classify(of)
    np.testing.assert_array_equal(holder[first[:-1]], of)
    with m.part(of) as part:
        m.free()
        assert part.all_nodes == (n + 1) ** 2 and part.own[:part.own_nodes].all()
        u = part.number.astype(float)
        u[part.own_nodes:] = -1
        part.exchange(u)
        np.testing.assert_array_equal(u, part.number)
        two = np.stack([u, 2 * u], 1)
        two[part.own_nodes:] = 0
        part.exchange(two)
        np.testing.assert_array_equal(two[:, 1], 2 * part.number)
        with Replicas(comm, part.number, own=part.own) as r, File(comm, path, "w") as f:
            r.write(f, 0, u, check=True)
    comm.barrier()
    np.testing.assert_array_equal(np.fromfile(path), np.arange((n + 1) ** 2))
