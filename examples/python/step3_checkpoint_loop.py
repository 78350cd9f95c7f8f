#!/usr/bin/env python3
"""Step 3.  A checkpoint loop: the access pattern is the same in every time step, so the write is planned once and run for every step at
another offset.  At the end the statistics are printed.

SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti

STEPS, ITEMS, ITEM = 10, 4096, 64
comm = tutti.mpi.world()
tutti.mpi.abort_on_exception()
index = np.arange(ITEMS) * comm.size + comm.rank  # items are distributed cyclically; any list of indices is possible
state = np.empty(ITEMS * ITEM, np.uint8)

with tutti.File(comm, sys.argv[1] if len(sys.argv) > 1 else "step3.dat", "w") as f:
    with f.plan_write(tutti.Access.indices(0, ITEM, index)) as plan:
        for step in range(STEPS):
            state[:] = ord("a") + step
            plan.run(state, displacement=step * ITEMS * ITEM * comm.size)
        if comm.rank == 0:
            _, all_ = f.stats()
            print(f"{all_.bytes} bytes in {all_.operations} operations: plan {1e3 * all_.seconds_plan:.1f} ms, exchange "
                  f"{1e3 * all_.seconds_exchange:.1f} ms, file {1e3 * all_.seconds_file:.1f} ms\n  {plan.explanation}")
