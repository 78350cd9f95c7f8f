#!/usr/bin/env python3
"""Step 6.  A dataset: a heat equation that commits every tenth step.  If it is run again, it continues from the last committed step, on any
number of ranks and after any crash.

    step6_dataset.py [DIRECTORY [STEPS]]

Every rank computes its own rows; it reads ghost rows from the last state of the dataset.  A real program would
exchange them by MPI, and write less often.
SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti

N, EVERY = 96, 10
comm = tutti.mpi.world()
tutti.mpi.abort_on_exception()
path = sys.argv[1] if len(sys.argv) > 1 else "step6.tutti"
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 50
first, last = N * comm.rank // comm.size, N * (comm.rank + 1) // comm.size
low, high = max(first - EVERY, 0), min(last + EVERY, N)  # ten steps need ten rows on each side


def step(t):
    """Compute a step; each step invalidates one more ghost row."""
    t[1:-1, 1:-1] = 0.25 * (t[:-2, 1:-1] + t[2:, 1:-1] + t[1:-1, :-2] + t[1:-1, 2:])


with tutti.Dataset(comm, path, "rw") as d:
    d.grid("grid", (N, N))
    d.variable("temperature", "grid", "f8", units="K", long_name="temperature")
    mine = d.decomposition("grid", slice=np.s_[first:last, :])
    wide = d.decomposition("grid", slice=np.s_[low:high, :])
    i, j = np.mgrid[low:high, :N]
    t, at = np.where((i > N // 3) & (j > N // 3), 100.0, 20.0), 0
    if d.latest() is not None:  # continue from the last state
        at = d.segment(d.latest()).index
        t = d.get(d.latest(), wide, "temperature")
    begun = at
    while at < begun + steps:
        for _ in range(EVERY):
            step(t)
        at += EVERY
        with d.state(at, 0.1 * at):  # committed atomically
            d.put(mine, temperature=t[first - low:last - low])
        t = d.get(d.latest(), wide, "temperature")
    if first <= N // 2 < last:
        print(f"steps {begun} to {at} in {path}; {t[N // 2 - low, N // 2]:.6f} K in the middle")
