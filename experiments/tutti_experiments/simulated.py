#!/usr/bin/env python3
"""Simulated machines: time, messages and collective operations of the calls of Tutti.

Runs build/smpi/experiments/calls (scripts/build.sh smpi) on machines of SimGrid, prints a table per machine and writes
all values as JSON.  Each run is limited in time and memory; if a run exceeds a limit, the calls measured until then are shown.
SPDX-License-Identifier: BSD-3-Clause
"""
import argparse
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(options, hosts, per_host, topology):
    """Run the calls on one machine; return them as a list of dictionaries, and whether all have been measured."""
    environment = dict(os.environ, SIMULATED_TOPOLOGY=topology, SIMULATED_PER_HOST=str(per_host),
                       SIMULATED_SECONDS=str(options.seconds), SIMULATED_MEMORY=str(options.memory))
    command = [os.path.join(TOP, "scripts", "simulate.sh"), str(hosts * per_host),
               os.path.join(options.build, "experiments", "calls"), str(options.bytes)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        print(f"{topology}, {hosts} hosts x {per_host}: exit status {done.returncode}: "
              f"{done.stderr.strip()[:400]}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], done.returncode == 0


def table(topology, per_host, columns):
    """Print a machine: a row per call, a group of columns per number of hosts."""
    print(f"\n{topology}, {per_host} rank(s) per host: simulated microseconds / messages per rank / collective operations")
    print(f"{'call':28}" + "".join(f"{hosts:>22}" for hosts, _ in columns))
    names = [row["call"] for row in max((rows for _, rows in columns), key=len)]
    for name in names:
        cells = []
        for hosts, rows in columns:
            row = next((r for r in rows if r["call"] == name), None)
            cells.append("-" if row is None else
                         f"{row['us']:.1f} / {row['messages'] / (hosts * per_host):.1f} / {row['collectives']}")
        print(f"{name:28}" + "".join(f"{cell:>22}" for cell in cells))


def arguments():
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--hosts", default="64,256,1024", help="numbers of hosts (default: 64,256,1024)")
    parser.add_argument("--per-host", default="1,4", help="ranks per host (default: 1,4)")
    parser.add_argument("--topology", default="fat-tree,dragonfly", help="fat-tree, dragonfly, crossbar")
    parser.add_argument("--bytes", type=int, default=65536, help="per rank and variable (default: 65536)")
    parser.add_argument("--seconds", type=int, default=600, help="limit of a run in real time (default: 600)")
    parser.add_argument("--memory", type=int, default=64, help="limit of a run in GiB of address space (default: 64)")
    parser.add_argument("--build", default=os.path.join(TOP, "build", "smpi"), help="the build (default: build/smpi)")
    parser.add_argument("--json", help="file for all values")
    return parser.parse_args()


def main():
    """Run all machines; exit status 1 if a run failed."""
    options = arguments()
    results, failed = [], 0
    for topology in options.topology.split(","):
        for per_host in map(int, options.per_host.split(",")):
            columns = []
            for hosts in map(int, options.hosts.split(",")):
                rows, complete = run(options, hosts, per_host, topology)
                failed |= not complete
                if not rows:
                    continue
                columns.append((hosts, rows))
                results.append({"topology": topology, "hosts": hosts, "ranks_per_host": per_host, "bytes_per_rank": options.bytes,
                                "calls": rows})
            if columns:
                table(topology, per_host, columns)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"experiment": "simulated", "runs": results}, out, indent=1)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
