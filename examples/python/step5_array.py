#!/usr/bin/env python3
"""Step 5.  An array in a file: every rank writes its part of a distribution, all ranks read the same slice, and the sum of the array is
computed piece by piece in less memory than the array needs.

SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti

ROWS, COLUMNS = 500, 300
comm = tutti.mpi.world()
tutti.mpi.abort_on_exception()
path = sys.argv[1] if len(sys.argv) > 1 else "step5.tta"
whole = np.arange(ROWS * COLUMNS, dtype=float).reshape(ROWS, COLUMNS)  # the expected contents

# Columns are distributed block-cyclically in blocks of 8; each rank writes its part in one call.
columns = tutti.Distribution((ROWS, COLUMNS), "none", ("block-cyclic", comm.size, 8))
mine = whole[np.ix_(*columns.indices(comm.rank))]
with tutti.Array.create(comm, path, (ROWS, COLUMNS), "f8", order="F") as a:
    a.write_part(columns, mine)

with tutti.Array.open(comm, path) as a:
    corner = a.read(np.s_[0:99:2, 10:20])  # all ranks request the same slice: it is read once
    total, rows = 0.0, slice(ROWS * comm.rank // comm.size, ROWS * (comm.rank + 1) // comm.size)
    pieces = a.partitions(comm.size, 64 << 10)
    for k in range(pieces):
        total += a.read((rows, a.partition(pieces, k)[1])).sum()
assert (corner == whole[0:99:2, 10:20]).all()
assert total == whole[rows].sum()
if comm.rank == 0:
    print(f"(99, 20) is {corner[-1, -1]:.0f}, in {pieces} pieces")
