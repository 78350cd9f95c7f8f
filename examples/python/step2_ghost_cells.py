#!/usr/bin/env python3
"""Step 2.  Blocks of a 3-D array with ghost cells in memory: a NumPy view excludes the ghost cells, and nothing is copied.  The array
is written in slabs of one dimension, read in slabs of another, and compared.

SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti

SHAPE, GHOST = (40, 36, 32), 2
comm = tutti.mpi.world()
tutti.mpi.abort_on_exception()
places = np.arange(np.prod(SHAPE), dtype=np.float32).reshape(SHAPE)  # the value of an element is its index in the file


def slab(cut):
    """Return the slab of this rank along a dimension: its index and its start."""
    lo, hi = SHAPE[cut] * comm.rank // comm.size, SHAPE[cut] * (comm.rank + 1) // comm.size
    index = tuple(slice(lo, hi) if d == cut else slice(None) for d in range(3))
    return index, [s.start or 0 for s in index]


out, out_at = slab(0)
frame = np.zeros([n + 2 * GHOST for n in places[out].shape], np.float32)
inner = frame[GHOST:-GHOST, GHOST:-GHOST, GHOST:-GHOST]
inner[...] = places[out]
into, in_at = slab(2)
back = np.zeros(places[into].shape, np.float32)

with tutti.File(comm, sys.argv[1] if len(sys.argv) > 1 else "step2.dat", "w+") as f:
    f.write(tutti.Access.of(inner, SHAPE, out_at), inner)
    count = f.read(tutti.Access.of(back, SHAPE, in_at), back)
assert count == back.nbytes and (back == places[into]).all()
