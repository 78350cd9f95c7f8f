#!/usr/bin/env python3
"""Step 10.  A 3-D block with ghost cells is written to a dataset directly from the array that the program computes on, and read
back into one without ghost cells.

    step10_block.py [DIRECTORY]

SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti

SHAPE, GHOST = (24, 20, 16), 2
comm = tutti.mpi.world()
tutti.mpi.abort_on_exception()
lo, hi = SHAPE[0] * comm.rank // comm.size, SHAPE[0] * (comm.rank + 1) // comm.size
mine = np.s_[lo:hi, :, :]  # slabs along the first dimension
whole = np.arange(np.prod(SHAPE), dtype=float).reshape(SHAPE)  # the value of a cell is its position

u = np.full((hi - lo + 2 * GHOST, SHAPE[1] + 2 * GHOST, SHAPE[2] + 2 * GHOST), -1.0)
u[GHOST:-GHOST, GHOST:-GHOST, GHOST:-GHOST] = whole[mine]
with tutti.Dataset(comm, sys.argv[1] if len(sys.argv) > 1 else "step10.tutti", "w+") as d:
    d.grid("grid", SHAPE)
    d.variable("u", "grid", "f8")
    with_ghosts = d.decomposition("grid", slice=mine, slice_memory=(u.shape, (GHOST, GHOST, GHOST)))
    with d.state(0, 0.0):  # committed atomically
        d.put(with_ghosts, u=u)
    inner = d.get(d.latest(), d.decomposition("grid", slice=mine), "u")
    if not np.array_equal(inner, whole[mine]):
        sys.exit(f"rank {comm.rank}: wrong values were read")
    if comm.rank == 0:
        print(f"{SHAPE[0]} x {SHAPE[1]} x {SHAPE[2]} cells from {comm.size} ranks")
