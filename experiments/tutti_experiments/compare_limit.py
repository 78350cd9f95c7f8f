#!/usr/bin/env python3
"""Compare collective access by libtutti-mpiio.so with the conforming limit, and contiguous access with the native library.

    compare_limit.py BUILD... [--ranks 4] [--size 32m,128m] [--dir DIR,...] [--pattern NAME,...] [--rounds 9] [--runs 3] [--json FILE]

BUILD is a build directory (build/openmpi or build/mpich).  experiments/programs/mpiio_patterns measures, round by round, the data calls
of each pattern and the conforming limit: every rank writes or reads one contiguous share of the same total in calls of 4 MiB, from
or into a touched buffer of full size.  Runs with and without the drop-in alternate, ROUNDS rounds in each of RUNS runs.
"/ limit" is the median of time / limit over the rounds, with quartiles; "native / Tutti" is the ratio of the medians of consecutive runs.
SPDX-License-Identifier: BSD-3-Clause
"""
import argparse
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "experiments")]
from tutti_experiments.intervals import median, quantile  # noqa: E402

PATTERNS = "ior,block2d,tile1m,cyclic4k,strided,flash,irregular64"
LIMIT = {"read": "limit", "write": "write limit"}


def run(args, build, path, size, preloaded):
    """Run the program once; return the samples of each pattern and variant."""
    command = [os.path.join(TOP, "scripts", "mpirun.sh"), os.path.basename(build), str(args.ranks)]
    if preloaded:
        command += [os.path.join(TOP, "scripts", "preload.sh"), os.path.join(build, "libtutti-mpiio.so")]
    command += [os.path.join(build, "experiments", "mpiio_patterns"), path, "--size", str(size), "--rounds", str(args.rounds),
                "--limit", "--writes", "--pattern", args.pattern if preloaded else "ior"]
    environment = dict(os.environ, LD_LIBRARY_PATH=build, TUTTI_MPICH_YIELD=os.path.join(build, "libmpich_yield.so"))
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=args.timeout, check=True, env=environment)
    return {s["title"]: {v["name"]: v["seconds"] for v in s["variants"]} for s in json.loads(done.stdout)["series"]}


def points_of(place, ours, native):
    """Return one point per pattern and direction, from the runs with and without libtutti-mpiio.so."""
    points = []
    for pattern in ours[0]:
        for direction, name in LIMIT.items():
            ratios = [a / b for r in ours for a, b in zip(r[pattern][direction], r[pattern][name])]
            points.append(dict(place, pattern=pattern, direction=direction, seconds=[s for r in ours for s in r[pattern][direction]],
                               limit=[s for r in ours for s in r[pattern][name]], ratio=median(ratios), low=quantile(ratios, 0.25),
                               high=quantile(ratios, 0.75)))
            if pattern == "ior":
                points[-1]["native"] = median([median(n[pattern][direction]) / median(o[pattern][direction])
                                               for n, o in zip(native, ours)])
    return points


def compare(args, build, directory, size):
    path = os.path.join(directory, "compare-limit.%d" % os.getpid())
    both = {False: [], True: []}
    for i in range(args.runs):
        for preloaded in (True, False) if i % 2 == 0 else (False, True):
            both[preloaded].append(run(args, build, path, size, preloaded))
    place = {"build": os.path.basename(build), "ranks": args.ranks, "dir": directory, "size": size}
    return points_of(place, both[True], both[False])


def show(points):
    print("%-8s %-12s %6s %-12s %-5s %9s %9s %7s  %-13s %s" % (
        "MPI", "directory", "MiB", "pattern", "", "Tutti ms", "limit ms", "/ limit", "quartiles", "native / Tutti"))
    for p in points:
        print("%-8s %-12s %6d %-12s %-5s %9.2f %9.2f %7.2f  %.2f - %.2f   %s" % (
            p["build"], os.path.basename(p["dir"].rstrip("/")), p["size"] >> 20, p["pattern"], p["direction"],
            1e3 * median(p["seconds"]), 1e3 * median(p["limit"]), p["ratio"], p["low"], p["high"],
            "%.2f" % p["native"] if "native" in p else ""))


def bytes_of(text):
    return int(text[:-1]) << 20 if text[-1] in "mM" else int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", nargs="+", type=os.path.abspath)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--size", default="32m", help="bytes per rank, such as 32m,128m")
    parser.add_argument("--dir", default="build/run,/dev/shm")
    parser.add_argument("--pattern", default=PATTERNS)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--json", help="write all samples to FILE")
    args = parser.parse_args()
    points = []
    for directory in args.dir.split(","):
        os.makedirs(directory, exist_ok=True)
        for size in args.size.split(","):
            for build in args.build:
                points += compare(args, build, directory, bytes_of(size))
    show(points)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"limit": points}, f, indent=1)


if __name__ == "__main__":
    main()
