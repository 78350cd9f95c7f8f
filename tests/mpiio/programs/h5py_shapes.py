"""h5py_shapes.py FILE: writes with parallel h5py (slices, chunks, compression, growing datasets, selections), and
reads everything back.

Uses only h5py.
SPDX-License-Identifier: BSD-3-Clause"""
import sys
import h5py
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
me, ranks = world.rank, world.size
ROWS, COLUMNS = 8, 13
whole = numpy.arange(ranks * ROWS * COLUMNS, dtype="f8").reshape(ranks * ROWS, COLUMNS)


def expect(condition, what):
    if not condition:
        print(f"rank {me}: {what}", file=sys.stderr)
        world.Abort(1)


def write(f):
    mine = slice(me * ROWS, (me + 1) * ROWS)
    plain = f.create_dataset("plain", whole.shape, "f8")
    plain[mine] = whole[mine]
    chunked = f.create_dataset("chunked", whole.shape, ">f4", chunks=(5, 4))
    with chunked.collective:
        chunked[me::ranks, :] = whole[me::ranks, :]
    packed = f.create_dataset("packed", whole.shape, "f8", chunks=(ROWS, COLUMNS), compression="gzip")
    with packed.collective:
        packed[mine] = whole[mine]
    growing = f.create_dataset("growing", (0, COLUMNS), "i4", maxshape=(None, COLUMNS), chunks=(3, COLUMNS))
    for step in range(3):
        growing.resize((step + 1) * ranks, axis=0)
        with growing.collective:
            growing[step * ranks + me] = numpy.arange(COLUMNS) + 100 * step + me
    for i in range(10):
        small = f.create_dataset(f"group{i % 3}/small{i}", (ranks,), "i8")
        small[me] = i * 1000 + me
        small.attrs["number"] = i


def read(f):
    turned = slice((ranks - 1 - me) * ROWS, (ranks - me) * ROWS)
    for name in ("plain", "chunked", "packed"):
        with f[name].collective:
            expect(numpy.array_equal(f[name][turned], whole[turned]), name)
        expect(numpy.array_equal(f[name][:, 3:7], whole[:, 3:7]), name + ", columns")
        expect(numpy.array_equal(f[name][1::3, 2], whole[1::3, 2]), name + ", strides")
    for i in range(10):
        expect(list(f[f"group{i % 3}/small{i}"]) == [i * 1000 + r for r in range(ranks)], f"small {i}")


with h5py.File(sys.argv[1], "w", driver="mpio", comm=world) as f:
    write(f)
with h5py.File(sys.argv[1], "r", driver="mpio", comm=world) as f:
    read(f)
