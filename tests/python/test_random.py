"""Random slices, decompositions and conversions, compared with NumPy arrays.

SPDX-License-Identifier: BSD-3-Clause"""
import numpy as np

import tutti
from tutti import Access, Array, Dataset, Distribution, File, Part

TYPES = "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8".split()


def random_slice(rng, shape):
    key = []
    for n in shape:
        if rng.integers(6) == 0:
            key.append(int(rng.integers(-n, n)))
        else:
            lo, hi = (int(v) for v in np.sort(rng.integers(0, n + 1, 2)))
            key.append(slice(lo - n if lo and rng.integers(3) == 0 else lo, hi, int(rng.integers(1, 4))))
    cut = int(rng.integers(len(key) + 1))
    return tuple(key[:cut]) if rng.integers(4) == 0 else tuple(key)


def memory_for(rng, shape, dtype):
    """Return an array of this shape: contiguous, or a part of a larger array with strides; in C or Fortran order."""
    kind = rng.integers(4)
    if kind == 0:
        return np.zeros(shape, dtype, "CF"[rng.integers(2)])
    steps = [int(rng.integers(1, 3)) if kind > 1 else 1 for _ in shape]
    pad = rng.integers(0, 3, (2, len(shape)))
    frame = np.zeros([int(a) + n * s + int(b) for n, s, a, b in zip(shape, steps, *pad)], dtype, "CF"[int(kind == 3)])
    return frame[tuple(slice(int(a), int(a) + n * s, s) for n, s, a in zip(shape, steps, pad[0]))]


def test_array_slices(comm, rng, path):
    """All ranks write slices, and a model applies them in rank order where they overlap; then slices are read."""
    for case in range(5):
        shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 5)))
        dtype, order = np.dtype(TYPES[rng.integers(len(TYPES))]), "CF"[rng.integers(2)]
        model = np.zeros(shape, dtype)
        with Array.create(comm, f"{path}.{case}", shape, dtype, order=order) as a:
            for _ in range(3):
                keys = [random_slice(rng, shape) for _ in range(comm.size)]
                values = [rng.integers(0, 99, model[k].shape).astype(dtype) for k in keys]
                places = [memory_for(rng, v.shape, dtype) for v in values]
                for key, value in zip(keys, values):
                    model[key] = value
                mine = places[comm.rank]
                if mine.ndim:
                    mine[...] = values[comm.rank]
                else:
                    mine = values[comm.rank]
                if rng.integers(3) == 0:
                    with a.collective():
                        a[keys[comm.rank]] = mine
                elif rng.integers(3) == 0:
                    a.write_start(keys[comm.rank], mine).wait()
                else:
                    a.write(keys[comm.rank], mine)
                keys = [random_slice(rng, shape) for _ in range(comm.size)]
                outs = [memory_for(rng, model[k].shape, dtype) for k in keys]
                key, out = keys[comm.rank], outs[comm.rank]
                given = out.ndim and not any(isinstance(k, int) for k in key)
                np.testing.assert_array_equal(a.read(key, out if given else None), model[key])
        comm.barrier()
        np.testing.assert_array_equal(tutti.open_array(f"{path}.{case}")[...], model)


def random_dims(rng, shape, ranks):
    """Return a random distribution of a shape for a number of ranks."""
    grid = [1] * len(shape)
    rest, p = ranks, 2
    while rest > 1:
        while rest % p == 0:
            grid[rng.integers(len(grid))] *= p
            rest //= p
        p += 1
    out = []
    for n, procs in zip(shape, grid):
        kind = rng.integers(4)
        if procs == 1 and rng.integers(2):
            out.append("none")
        elif kind == 0:
            out.append(("block", procs))
        elif kind == 1:
            out.append(("cyclic", procs))
        elif kind == 2:
            out.append(("block-cyclic", procs, int(rng.integers(1, 4))))
        else:
            out.append(("ragged", np.sort(np.concatenate([[0, n], rng.integers(0, n + 1, procs - 1)]))))
    return out


def test_distributions(comm, rng, path):
    """Parts are written by one distribution and read by another, with global and local placement."""
    for case in range(3):
        shape = tuple(int(n) for n in rng.integers(1, 12, rng.integers(1, 4)))
        whole = rng.integers(0, 99, shape).astype(TYPES[rng.integers(len(TYPES))])
        d, e = (Distribution(shape, *random_dims(rng, shape, comm.size)) for _ in range(2))
        mine = memory_for(rng, d.part(comm.rank), whole.dtype)
        mine[...] = whole[np.ix_(*d.indices(comm.rank))]
        local = d if rng.integers(2) else None
        with Array.create(comm, f"{path}.{case}", shape, whole.dtype, order="CF"[rng.integers(2)], distribution=local) as a:
            a.write_part(d, mine)
            if local is None:
                got = a.read_part(e)
                np.testing.assert_array_equal(got, whole[np.ix_(*e.indices(comm.rank))])
            else:
                np.testing.assert_array_equal(a.read_part(d), whole[np.ix_(*d.indices(comm.rank))])
        comm.barrier()
        np.testing.assert_array_equal(tutti.open_array(f"{path}.{case}")[...], whole)


def test_conversions(comm, rng, path):
    """Test values of any type and byte order in the file and in memory."""
    for case in range(6):
        file = np.dtype("<>"[rng.integers(2)] + TYPES[rng.integers(len(TYPES))])
        memory, back = (np.dtype(TYPES[rng.integers(len(TYPES))]) for _ in range(2))
        n = int(rng.integers(1, 200))
        owner = rng.integers(comm.size, size=n)
        whole = rng.integers(0, 99, n)
        order = rng.permutation(n) if case % 2 else np.arange(n)
        at = order[owner[order] == comm.rank]
        access = Access.indices(0, file.itemsize, at)
        order = [p.file // file.itemsize + i for p in sorted(access, key=lambda p: p.memory)
                 for i in range(p.bytes // file.itemsize)]
        x, y = whole[order].astype(memory), np.zeros(len(at), back)
        with File(comm, f"{path}.{case}", "w+") as f:
            f.write_parts([Part(access, x, file)])
            f.read_parts([Part(access, y, file)])
        comm.barrier()
        np.testing.assert_array_equal(np.fromfile(f"{path}.{case}", file), whole)
        np.testing.assert_array_equal(y, whole[order])


def test_dataset(comm, rng, path):
    """Variables of random types, items and layouts are written and read by different random decompositions."""
    for case in range(3):
        shape = tuple(int(n) for n in rng.integers(1, 8, rng.integers(1, 4)))
        size = int(np.prod(shape))
        kinds = [("scalar", 1), ("vector", 3), ("symmetric", 6), ("tensor", 4), ("values", 2)]
        with Dataset(comm, f"{path}.{case}", "w+", level="visible") as d:
            d.grid("g", shape)
            wanted = {}
            for v in range(4):
                item, count = kinds[rng.integers(len(kinds))]
                components = {"symmetric": 3, "tensor": 2}.get(item, count)
                dtype = np.dtype("<>"[rng.integers(2)] + TYPES[rng.integers(len(TYPES))])
                layout = "ranked" if rng.integers(3) == 0 else "global"
                d.variable(f"v{v}", "g", dtype, item=item, components=components, layout=layout, fill=9,
                           compress=int(rng.integers(3)) if layout == "global" else 0)
                wanted[f"v{v}"] = rng.integers(0, 99, shape + ((count,) if count > 1 else ()))
            owner = rng.integers(comm.size, size=size)
            orders = [rng.permutation(np.flatnonzero(owner == r)) for r in range(comm.size)]
            put = d.decomposition("g", index=orders[comm.rank], whole=True)
            with d.state(case, 0.5):
                d.put(put, {name: np.ascontiguousarray(w.reshape(size, -1)[orders[comm.rank]].astype(
                    TYPES[rng.integers(len(TYPES))])) for name, w in wanted.items()})
            keys = [random_slice(rng, shape) for _ in range(comm.size)]
            key = keys[comm.rank]
            mine = d.decomposition("g", slice=key)
            for name, w in wanted.items():
                got = d.get(0, mine, name, dtype=TYPES[rng.integers(len(TYPES))])
                np.testing.assert_array_equal(got, w[key])
        comm.barrier()
        run = tutti.open(f"{path}.{case}")
        for name, w in wanted.items():
            np.testing.assert_array_equal(run[name][0], w)
        run.verify()
        run.close()
