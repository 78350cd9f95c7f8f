"""user.py FILE: a user's program.  All ranks write an array, which NumPy and xarray read without MPI.
SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti
import xarray

comm, path = tutti.mpi.world(), sys.argv[1]
with tutti.Array.create(comm, path, (2 * comm.size, 3), "f8") as a:
    a.write(np.s_[2 * comm.rank:2 * comm.rank + 2], np.full((2, 3), comm.rank + .5))
if comm.rank == 0:
    wanted = np.repeat(np.arange(comm.size) + .5, 6).reshape(-1, 3)
    np.testing.assert_array_equal(tutti.open_array(path)[...], wanted)
    np.testing.assert_array_equal(xarray.open_dataset(path, engine="tutti")["array"], wanted)
    print(f"{tutti.__file__}: {comm.size} ranks wrote {wanted.size} numbers")
