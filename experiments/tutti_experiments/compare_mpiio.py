#!/usr/bin/env python3
"""Run an MPI-IO program with and without libtutti-mpiio.so, interleaved: both times and their ratio.

    compare_mpiio.py BUILD [--ranks 4,8] [--dir build/run,/dev/shm] [--pairs 7] [--size BYTES]
                     [--json FILE] [--program PROGRAM] [--pattern NAME,...] [--disk]

BUILD is a build directory (build/openmpi or build/mpich).  The program prints JSON (cli/measure/standalone.h) with a
series for each pattern and the variants write and read.  Each pair of runs (one native, one preloaded, in alternating
order) gives one ratio native / preloaded per point; above 1, Tutti is faster.  The bounds of the median are computed by
resampling the pairs.
SPDX-License-Identifier: BSD-3-Clause
"""
import argparse
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "experiments")]
from tutti_experiments.intervals import geometric, median, ratio  # noqa: E402

CONTIGUOUS = ("segmented", "small4k", "ior47008", "tile1m")  # patterns with one piece per rank and call, or pieces of 1 MiB


def run(args, build, ranks, path, preloaded):
    """Run the program once; return the seconds by (pattern, direction)."""
    mpi = os.path.basename(os.path.abspath(build))
    program = args.program or os.path.join(build, "experiments", "mpiio_patterns")
    command = [os.path.join(TOP, "scripts", "mpirun.sh"), mpi, str(ranks)]
    environment = dict(os.environ, TUTTI_MPICH_YIELD=os.path.join(build, "libmpich_yield.so"))
    if preloaded:
        command += [os.path.join(TOP, "scripts", "preload.sh"),
                    os.path.join(build, "libtutti-mpiio.so")]
    command += [program, path, "--size", str(args.size)]
    if args.pattern:
        command += ["--pattern", args.pattern]
    if args.disk:
        command += ["--disk"]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=args.timeout, check=True,
                          env=environment)
    points = [(s, v) for s in json.loads(done.stdout)["series"] for v in s["variants"]]
    return ({(s["title"], v["name"]): min(v["seconds"]) for s, v in points},
            {(s["title"], v["name"]): s["bytes"] for s, v in points})


def compare(args, build, ranks, directory):
    path = os.path.join(directory, "mpiio-patterns.%d" % os.getpid())
    both, sizes = [], {}
    for pair in range(args.pairs):
        order = (False, True) if pair % 2 == 0 else (True, False)
        result = {}
        for preloaded in order:
            result[preloaded], sizes = run(args, build, ranks, path, preloaded)
        both.append((result[False], result[True]))
        print("%s, %d ranks, %s: pair %d of %d" % (build, ranks, directory, pair + 1, args.pairs),
              end="\r", file=sys.stderr)
    points = []
    for key in both[0][0]:
        native = [pair[0][key] for pair in both]
        ours = [pair[1][key] for pair in both]
        mid, low, high = ratio(native, ours)
        points.append({"build": os.path.basename(os.path.abspath(build)), "ranks": ranks,
                       "dir": directory, "pattern": key[0], "direction": key[1],
                       "bytes": sizes[key], "native": median(native),
                       "tutti": median(ours), "ratio": mid, "low": low, "high": high})
    return points


def show(points):
    print("%-8s %5s %-12s %-12s %-5s %10s %10s %7s  %s" % (
        "MPI", "ranks", "where", "pattern", "", "native s", "Tutti s", "ratio", "95 % interval"))
    for p in points:
        print("%-8s %5d %-12s %-12s %-5s %10.4f %10.4f %7.2f  %.2f - %.2f%s" % (
            p["build"], p["ranks"], os.path.basename(p["dir"].rstrip("/")), p["pattern"],
            p["direction"], p["native"], p["tutti"], p["ratio"], p["low"], p["high"],
            "  SLOWER" if p["low"] < 0.95 else ""))
    pieces = [p["ratio"] for p in points if p["pattern"] not in CONTIGUOUS]
    print("geometric mean of the non-contiguous ones: %.2f; lower bound below 0.95: %d of %d" % (
        geometric(pieces), sum(p["low"] < 0.95 for p in points), len(points)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", nargs="+")
    parser.add_argument("--ranks", default="4,8")
    parser.add_argument("--dir", default="build/run,/dev/shm")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--size", type=int, default=8 << 20, help="bytes a rank")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--program")
    parser.add_argument("--pattern")
    parser.add_argument("--disk", action="store_true", help="writes are synced, reads find nothing cached")
    parser.add_argument("--json")
    args = parser.parse_args()
    points = []
    for build in args.build:
        for ranks in args.ranks.split(","):
            for directory in args.dir.split(","):
                os.makedirs(directory, exist_ok=True)
                points += compare(args, os.path.abspath(build), int(ranks), directory)
    show(points)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"mpiio": points}, f, indent=1)


if __name__ == "__main__":
    main()
