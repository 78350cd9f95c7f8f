#!/usr/bin/env python3
"""Step 1.  Four ranks write the quarters of a 512 x 512 array of doubles to one file.

SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti

comm = tutti.mpi.world()  # COMM_WORLD of mpi4py, if mpi4py is installed
tutti.mpi.abort_on_exception()
side = 2 if comm.size >= 4 else 1
n, row, col = 512 // side, comm.rank // side, comm.rank % side
mine = comm.rank + np.arange(n * n).reshape(n, n) * 1e-6
if row >= side:
    mine, row, col = mine[:0, :0], 0, 0  # ranks beyond the fourth write nothing

with tutti.File(comm, sys.argv[1] if len(sys.argv) > 1 else "step1.dat", "w") as f:
    f.write(tutti.Access.of(mine, (512, 512), (n * row, n * col)), mine)
