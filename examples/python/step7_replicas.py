#!/usr/bin/env python3
"""Step 7.  Ranks hold overlapping blocks of an array with ghost cells; copies of a cell have the same value.  The library chooses which
rank writes each cell, so that each rank writes few long pieces, and checks that the copies are equal.

SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti

ROWS, COLUMNS, GHOSTS = 120, 90, 3
comm = tutti.mpi.world()
tutti.mpi.abort_on_exception()
number = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
lo, hi = COLUMNS * comm.rank // comm.size, COLUMNS * (comm.rank + 1) // comm.size
held = np.ascontiguousarray(number[:, max(lo - GHOSTS, 0):hi + GHOSTS])
values = held * 0.5

with tutti.Replicas(comm, held.ravel(), value_bytes=8) as r, \
        tutti.File(comm, sys.argv[1] if len(sys.argv) > 1 else "step7.dat", "w+") as f:
    r.write(f, 0, values, check=True)
    back = np.zeros_like(values)
    r.read(f, 0, back)
    assert (back == values).all()
    if comm.rank == 0:
        stats = r.stats()
        print(f"{stats['items']} items, {stats['shared']} of them on several ranks, in {stats['intervals']} pieces")
