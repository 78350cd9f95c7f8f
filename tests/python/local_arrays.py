"""local_arrays.py DIRECTORY: writes arrays in local placement on 4 ranks, and their contents to NAME.npy.

SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np

import tutti

KINDS = {"cyclic": (("cyclic", 2), ("block-cyclic", 2, 3)), "blocks": (("block", 2), ("block", 2)),
         "ragged": (("ragged", [0, 1, 1, 9, 11]), "none")}
comm = tutti.mpi.world()
for number, (name, dims) in enumerate(KINDS.items()):
    whole = np.arange(11 * 13, dtype=">i4").astype("i4").reshape(11, 13) * (number + 1)
    d = tutti.Distribution(whole.shape, *dims)
    path = f"{sys.argv[1]}/{name}.tta"
    with tutti.Array.create(comm, path, whole.shape, whole.dtype, distribution=d, order="CF"[number % 2]) as a:
        a.write_part(d, np.ascontiguousarray(whole[np.ix_(*d.indices(comm.rank))]))
    if comm.rank == 0:
        np.save(path + ".npy", whole)
