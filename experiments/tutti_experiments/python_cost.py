#!/usr/bin/env python3
"""The overhead of Python: collective writes through the binding compared with the same calls from C, interleaved in one program.

    PYTHONPATH=build/openmpi/python TUTTI_LIBRARY=build/openmpi/libtutti.so scripts/mpirun.sh openmpi 4 /usr/bin/python3 \
        experiments/tutti_experiments/python_cost.py DIR [ROUNDS]

"C" is a small shared library, compiled here, with a function that repeats the same write and measures its time: its loop does not use
Python.  Large: 32 MiB per rank, blocks of 4 KiB distributed cyclically.  Tiny: 64 bytes per rank.  Results are medians over rounds.
SPDX-License-Identifier: BSD-3-Clause"""
import ctypes
import os
import pathlib
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent

import numpy as np  # noqa: E402
import tutti  # noqa: E402
from tutti import _c  # noqa: E402

LOOP = r"""
#include <time.h>
#include <tutti/tutti.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double file_loop(tutti_file *f, const tutti_access *a, const void *buf, int n) {
    const double start = now();
    for (int i = 0; i < n; i++)
        if (tutti_file_write(f, a, buf, NULL)) return -1;
    return now() - start;
}

double array_loop(tutti_array *a, const tutti_slice *s, const void *buf, int n) {
    const double start = now();
    for (int i = 0; i < n; i++)
        if (tutti_array_write(a, s, NULL, buf)) return -1;
    return now() - start;
}
"""


def compiled(comm, folder):
    """Compile the loops in C for the MPI of the library; return the loaded library."""
    made = os.path.join(folder, "python_cost_loop.so")
    if comm.rank == 0:
        source = made.replace(".so", ".c")
        pathlib.Path(source).write_text(LOOP, encoding="ascii")
        compiler = "mpicc.openmpi" if _c.is_openmpi else "mpicc.mpich"
        subprocess.run([compiler, "-O2", "-fPIC", "-shared", f"-I{TOP}/include", source, "-o", made], check=True)
    comm.barrier()
    loops = ctypes.CDLL(made)
    for loop in (loops.file_loop, loops.array_loop):
        loop.restype = ctypes.c_double
        loop.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    return loops


def measure_interleaved(comm, rounds, variants, n):
    """Return the seconds per call of each variant, on the slowest rank: medians over rounds."""
    times = {name: [] for name in variants}
    for _ in range(rounds):
        for name, variant in variants.items():
            comm.barrier()
            seconds = variant(n)
            times[name].append(max(comm.allgather(int(seconds * 1e9))) * 1e-9 / n)
    return {name: float(np.median(t)) for name, t in times.items()}


def timed(call):
    def variant(n):
        start = time.perf_counter()
        for _ in range(n):
            call()
        return time.perf_counter() - start
    return variant


def show(comm, what, t, unit, scale):
    if comm.rank == 0:
        print(f"{what:28} C {t['C'] * scale:9.2f} {unit}  Python {t['Python'] * scale:9.2f} {unit}  ratio "
              f"{t['Python'] / t['C']:.3f}  more {(t['Python'] - t['C']) * 1e6:6.1f} us a call", flush=True)


def main():
    comm = tutti.mpi.world()
    folder, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 9
    loops = compiled(comm, folder)
    path = os.path.join(folder, "python_cost.dat")
    for what, block, count, n, unit, scale in (("file, 32 MiB a rank", 4096, 8192, 1, "ms", 1e3),
                                               ("file, 64 bytes a rank", 64, 1, 200, "us", 1e6)):
        x = np.full(block * count, comm.rank, np.uint8)
        a = tutti.Access.vector(comm.rank * block, count, block, block * comm.size)
        with tutti.File(comm, path, "w+") as f:
            f.write(a, x)
            t = measure_interleaved(comm, rounds, {"C": lambda n: loops.file_loop(f._h, a._h, x.ctypes.data, n),
                                       "Python": timed(lambda: f.write(a, x))}, n)
        show(comm, what, t, unit, scale)
    for what, rows, n, unit, scale in (("array, 32 MiB a rank", 8192, 1, "ms", 1e3), ("array, 64 bytes a rank", 1, 200, "us", 1e6)):
        columns = 512 if rows > 1 else 8
        x = np.full((rows, columns), float(comm.rank))
        with tutti.Array.create(comm, path, (rows * comm.size, columns), "f8") as b:
            key = np.s_[comm.rank::comm.size]
            s = tutti.array.slice_of(key, b.shape)[0]
            b.write(key, x)
            t = measure_interleaved(comm, rounds, {"C": lambda n: loops.array_loop(b._h, ctypes.byref(s), x.ctypes.data, n),
                                       "Python": timed(lambda: b.write(key, x))}, n)
        show(comm, what, t, unit, scale)
    comm.barrier()
    if comm.rank == 0:
        for name in ("python_cost.dat", "python_cost_loop.so", "python_cost_loop.c"):
            os.remove(os.path.join(folder, name))


main()
