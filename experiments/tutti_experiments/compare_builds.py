#!/usr/bin/env python3
"""Compare two builds of the library: one program runs with the shared library of each, interleaved.

    compare_builds.py OLD NEW [--ranks N] [--pairs N] [--json FILE] -- PROGRAM [ARGUMENT...]

OLD and NEW are build directories of one MPI, such as build/openmpi.  PROGRAM prints JSON (cli/measure/standalone.h); an argument
'{}' is replaced by an empty directory, which is removed after each run.  --preload preloads libtutti-mpiio.so.  Each pair of runs,
whose order alternates, gives one ratio old / new of the medians per series and variant; above 1, the new build is faster.  The
bounds of the median are computed by resampling the pairs.
SPDX-License-Identifier: BSD-3-Clause
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "experiments")]
from tutti_experiments.intervals import median, ratio  # noqa: E402


def run_program(args, build):
    """Run the program once with the library of a build; return the median seconds by (series, variant)."""
    directory = tempfile.mkdtemp(prefix="tutti-compare.", dir=args.dir)
    command = [os.path.join(TOP, "scripts", "mpirun.sh"), args.mpi, str(args.ranks)]
    if args.preload:
        command += [os.path.join(TOP, "scripts", "preload.sh"), os.path.join(build, "libtutti-mpiio.so")]
    command += [directory if word == "{}" else word for word in args.program]
    environment = dict(os.environ, LD_LIBRARY_PATH=build, TUTTI_MPICH_YIELD=os.path.join(build, "libmpich_yield.so"))
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=args.timeout, check=True, env=environment)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return {(s["title"], v["name"]): median(v["seconds"]) for s in json.loads(done.stdout)["series"] for v in s["variants"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("old", type=os.path.abspath)
    parser.add_argument("new", type=os.path.abspath)
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--dir", default="/dev/shm")
    parser.add_argument("--preload", action="store_true", help="preload the drop-in of the build")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--json", help="write the samples to FILE")
    parser.add_argument("program", nargs="+")
    args = parser.parse_args()
    builds, samples = (args.old, args.new), ([], [])
    for pair in range(args.pairs):
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            samples[which].append(run_program(args, builds[which]))
    rows = []
    print("%-30s %10s %10s %9s  %s" % ("", "old ms", "new ms", "old / new", "95 % interval"))
    for key in samples[0][0]:
        old, new = ([run[key] for run in runs] for runs in samples)
        middle, low, high = ratio(old, new)
        rows.append({"series": key[0], "variant": key[1], "old": old, "new": new, "ratio": middle, "low": low, "high": high})
        print("%-30s %10.3f %10.3f %9.2f  %.2f - %.2f" % (" ".join(key), 1e3 * median(old), 1e3 * median(new), middle, low, high))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"ranks": args.ranks, "pairs": args.pairs, "program": args.program, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
