#!/usr/bin/env python3
"""results.py BENCH.json... [--scaling TABLE.md]   prints docs/results.md from what `tutti bench` measured.

`make bench` calls it.  Ratios are of median times; smaller is better, and 1.00 is the conforming limit (writes) or the
better of the two bare references (reads).
SPDX-License-Identifier: BSD-3-Clause
"""
import json
import sys

INTRO = """# What this machine measures

Written by `make bench` (`scripts/results.py`); run it to get your own.  Two cores, shared with others: only ratios of things
that alternate in one run mean anything.  {settings}

- *Conforming limit*: every rank writes or reads one contiguous share in 4 MiB calls, open to close.
- *Bare references* for reads: `pread` of each piece, and a bare loop of shared staging; the better one counts.
- *fresh*: open, plan, move, close.  *reused*: move and close, with the file open and the plan made before.
- *mapping*: copying out of a mapped file, shown beside; a file that shrinks meanwhile would be a crash, so Tutti does not do it.
- Goals: writes 1.30 of the limit (irregular 1.60), reads 1.15 of the better bare reference.  A * marks what misses its goal.
"""


def entry(cell, name):
    for e in cell["entries"]:
        if e["name"] == name and e.get("available", True) and e.get("median"):
            return e
    return None


def ratio(cell, name, to):
    e, r = entry(cell, name), to and entry(cell, to)
    return e["median"] / r["median"] if e and r else None


def bare_of(cell):
    names = ["pread each piece", "bare shared staging"]
    found = [n for n in names if entry(cell, n)]
    return min(found, key=lambda n: entry(cell, n)["median"]) if found else None


def show(x, goal=None):
    if x is None:
        return "-"
    return f"{x:.2f}" + ("*" if goal and x > goal + 0.005 else "")


def peers_of(cells):
    names = []
    for c in cells:
        for e in c["entries"]:
            if e.get("kind") == "peer" and e["name"] not in names:
                names.append(e["name"])
    return names


def write_table(cells):
    peers = peers_of(cells)
    head = ["pattern", "limit MiB/s", "auto, fresh", "reused", "pwrite each piece", "bare staging"] + peers
    rows = [head, ["---"] + ["---:"] * (len(head) - 1)]
    for c in cells:
        limit = entry(c, "conforming limit")
        goal = c.get("goal") or 1.3
        rows.append([c["pattern"], f"{limit['mib_per_second']:.0f}",
                     show(ratio(c, "auto", "conforming limit"), goal),
                     show(ratio(c, "auto, reused plan", "conforming limit"), goal),
                     show(ratio(c, "pwrite each piece", "conforming limit")),
                     show(ratio(c, "bare shared staging", "conforming limit"))] +
                    [show(ratio(c, p, "conforming limit")) for p in peers])
    return rows


def read_table(cells):
    peers = peers_of(cells)
    head = ["pattern", "limit MiB/s", "auto / bare, fresh", "reused", "auto / limit", "bare / limit",
            "mapping / limit"] + [p + " / limit" for p in peers]
    rows = [head, ["---"] + ["---:"] * (len(head) - 1)]
    for c in cells:
        limit, bare = entry(c, "conforming limit"), bare_of(c)
        rows.append([c["pattern"], f"{limit['mib_per_second']:.0f}", show(ratio(c, "auto", bare), 1.15),
                     show(ratio(c, "auto, reused plan", bare), 1.15),
                     show(ratio(c, "auto", "conforming limit")), show(ratio(c, bare, "conforming limit")),
                     show(ratio(c, "bare mapping", "conforming limit"))] +
                    [show(ratio(c, p, "conforming limit")) for p in peers])
    return rows


def print_rows(rows):
    for r in rows:
        print("| " + " | ".join(r) + " |")
    print()


def main(args):
    scaling = None
    if "--scaling" in args:
        at = args.index("--scaling")
        scaling = open(args[at + 1], encoding="utf-8").read()
        del args[at:at + 2]
    runs = [json.load(open(name, encoding="utf-8")) for name in args]
    first = runs[0]
    print(INTRO.format(settings=f"{first['size_per_rank'] >> 20} MiB a rank; medians of "
                                f"{min(r['rounds'] for r in runs)} alternating rounds or more."))
    for r in runs:
        for fs in dict.fromkeys(c["file_system"] for c in r["cells"]):
            cells = [c for c in r["cells"] if c["file_system"] == fs]
            place = "tmpfs" if fs == "tmpfs" else f"page cache ({fs})"
            print(f"## {r['ranks']} ranks, {place}, {r['mpi']}\n")
            for op, table in (("write", write_table), ("read", read_table)):
                some = [c for c in cells if c["operation"] == op]
                if some:
                    print(f"{op.capitalize()}s, times over the limit's:\n" if op == "write" else "Reads:\n")
                    print_rows(table(some))
    if scaling:
        print("## Planning for many ranks\n\nOne process plays all ranks (`bench/plan_scaling.c`).\n")
        print(scaling)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
