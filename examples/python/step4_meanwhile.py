#!/usr/bin/env python3
"""Step 4.  Overlap of computation and file access: the next step is computed in the `with` block of the write of the previous one.
The last step is written by a non-blocking operation.

SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti

N, STEPS = 1 << 18, 4
comm = tutti.mpi.world()
tutti.mpi.abort_on_exception()


def place_of(step):
    """Return an access to blocks of 1024 values, distributed cyclically, at the offset of a step."""
    piece = 1024 * 8
    return tutti.Access.vector(step * N * 8 * comm.size + comm.rank * piece, N // 1024, piece, piece * comm.size)


options = tutti.Options()
if options.background == "auto":
    options.background = "io-only"
now, then = np.arange(N, dtype=float), np.empty(N)
with tutti.File(comm, sys.argv[1] if len(sys.argv) > 1 else "step4.dat", "w", options) as f:
    for step in range(STEPS):  # two buffers alternate, because `now` must not be changed in the block
        with f.write_begin(place_of(step), now):
            np.multiply(now, 0.5, out=then)
            then += step + 1
        now, then = then, now
    request = f.write_start(place_of(STEPS), now)
    for part in range(10):
        if request.test():
            break
        np.multiply(now, 0.5, out=then)
    request.wait()
    if comm.rank == 0:
        _, all_ = f.stats()
        print(f"{all_.background} of {all_.operations} operations went on in the background")
