"""Results of the experiment sections: Tables 1 and 2 and figure 2 of Thakur and Choudhary, sections and whole arrays by distribution.

Gates, which the exit status reports: a common section is transferred once, so that requests and bytes decrease at least by the number of
ranks; nothing is read outside the smallest section that contains the requests of all ranks; with --iops and O_DIRECT, times decrease
at least 0.8 times as much as requests.
SPDX-License-Identifier: BSD-3-Clause"""
from .intervals import median
from .judgement import best_of, counts, entry_of, is_read, milliseconds

DIRECT, SIEVED, EXTENDED, HOLES, DEFAULT = "direct", "direct, sieved", "extended two-phase", "extended, all holes", "default"
ENGINE, PEER, RMW = "same bytes, no array", "MPI library", ", rmw"
TIME_GOAL = 0.8  # minimum of (ratio of times) / (ratio of requests)
ENGINE_GOAL = COLD_GOAL = 1.1
ENOUGH = 0.5  # a gate judges times only if the requests of the direct method take at least this many seconds at the rate of --iops
PARTS = {"common": "All ranks want the same section: Thakur and Choudhary's Table 1, there on 16 processors.",
         "overlapping": "Each rank's section is shifted, p being the rank; row I is from Table 2 of that paper.",
         "distinct": "No element is wanted by two ranks."}


def direct_io(j):
    return j.r["options"]["direct_io"] not in ("0", "false")


class Comparison:
    """The requests and bytes of the direct and the extended method at a point, and their ratios."""

    def __init__(self, point):
        self.both = [entry_of(point, DIRECT), entry_of(point, EXTENDED)]
        self.holds = all(self.both)
        if self.holds:
            op = point["operation"]
            self.requests, self.bytes = ([e["stats"][f"file_{op}{what}"] for e in self.both] for what in ("s", "_bytes"))
            self.fewer = self.requests[0] / max(self.requests[1], 1)
            self.less = self.bytes[0] / max(self.bytes[1], 1)
            self.faster = self.both[0]["median"] / max(self.both[1]["median"], 1e-9)


def compared(points):
    return [(p, c) for p in points for c in [Comparison(p)] if c.holds]


# ---- figures

def put_times(e, point):
    for w in filter(counts, point["entries"]):
        e.put(point["pattern"], w["name"], milliseconds(w))


def show_part(j, part, read):
    op, points = "reads" if read else "writes", j.points(part, j.directory, read)
    n = points[0]["extent"] if points else 0
    times = j.figure("bars", f"{part} {op}", f"{part.capitalize()} sections, {op}", axis="section", unit="milliseconds",
                      note=f"{PARTS[part]} An array of {n} x {n} doubles, column-major, open beforehand: the call alone. Medians, 95 % intervals. {EXTENDED} "
                      f"reads one request for each column, as the paper's method does; {HOLES} reads what lies between columns along."
                      + (" Cold: fsync and posix_fadvise(DONTNEED) before each run." if j.r["cold"] else "")
                      + (" Rows are rounded to the blocks of O_DIRECT." if direct_io(j) and part != "distinct" else ""))
    table = j.figure("table", f"{part} {op}, counts", f"Requests and bytes of {part} sections, {op}", axis="section",
                      note='Of all ranks together, to the file system. "Fall by" is direct over extended'
                      + ("; in the paper: seconds of Direct over those of Extended Two-Phase" if part == "common" and read else "") + ".")
    for p in points:
        put_times(times, p)
    for p, c in compared(points):
        row = p["pattern"]
        table.put(row, "requests, direct", f"{c.requests[0]}")
        table.put(row, "extended", f"{c.requests[1]}")
        table.put(row, "fall by", f"{c.fewer:.1f}")
        table.put(row, "KiB, direct", f"{c.bytes[0] / 1024:.0f}")
        table.put(row, "KiB, extended", f"{c.bytes[1] / 1024:.0f}")
        table.put(row, "KiB fall by", f"{c.less:.1f}")
        table.put(row, "time falls by", f"{c.faster:.2f}")
        if p["paper_ratio"] > 0 and read:
            table.put(row, "in the paper", f"{p['paper_ratio']:.2f}")


def show_table_1(j):
    e = j.figure("table", "table 1", "Table 1: times of direct over those of extended two-phase", axis="section",
                  note="Common sections, reads; ratios of medians, the paper's of its seconds on 16 processors of an Intel Touchstone Delta.")
    for p in j.points("common", j.directory, True):
        for slow in (DIRECT, None, SIEVED, HOLES, DEFAULT):
            a, b = slow and entry_of(p, slow), entry_of(p, EXTENDED)
            if a and b:
                e.put(p["pattern"], f"{slow} / extended", f"{a['median'] / b['median']:.2f}")
            elif not slow:
                e.put(p["pattern"], "in the paper", f"{p['paper_ratio']:.2f}")


def show_distributions(j, read):
    op, points = "reads" if read else "writes", j.points("distributions", j.directory, read)
    n = points[0]["extent"] if points else 0
    times = j.figure("bars", f"distributions {op}", f"A whole array by distribution, {op}", axis="distribution", unit="milliseconds",
                      note=f"Thakur and Choudhary's figure 2: {n} x {n} doubles, column-major, from open to close. Column-block is the conforming "
                      "distribution: there both methods took the same time, and for all others two-phase took about as long, direct much longer, longest "
                      "row-cyclic.")
    ratios = j.figure("table", f"distributions {op}, ratios", f"Times of {op} over the conforming limit's", axis="distribution",
                       note=f'The limit: every rank has one contiguous share, in calls of 4 MiB. "{ENGINE}" is the engine below arrays, asked for the same '
                       "bytes.")
    for p in points:
        put_times(times, p)
        for w in p["entries"][1:]:
            if counts(w) and w.get("to_limit", 0) > 0:
                ratios.put(p["pattern"], w["name"], f"{w['to_limit']:.2f}")


# ---- gates

def judge_gates(j):
    ranks, where = j.r["most_ranks"], j.directory
    for read in (True, False):
        found = [c for _, c in compared(j.points("common", where, read))]
        if found:
            requests, size = min(c.fewer for c in found), min(c.less for c in found)
            j.gate(f"{where}: common sections are {'read' if read else 'written'} once: requests fall at least by {requests:.1f}, bytes by {size:.1f} "
                   f"(gate: {ranks}, the number of ranks).", requests >= ranks and size >= ranks)
    every = [(p, c) for p, c in compared(j.points(None, where)) if p["figure"] in PARTS]
    most = max((c.bytes[1] / p["bounding_bytes"] for p, c in every if is_read(p)), default=0)
    if most > 0:
        j.gate(f"{where}: extended two-phase reads at most {most:.3f} of the bytes of the smallest section that holds what all ranks want (gate: 1).",
               most <= 1)
    if j.r["iops"] <= 0 or not direct_io(j):
        return
    slow = [c.faster / c.fewer for _, c in every if c.requests[0] >= ENOUGH * j.r["iops"]]
    if slow:
        j.gate(f"{where}: at {j.r['iops']:g} operations a second, times fall at least {min(slow):.2f} times as much as requests (gate: {TIME_GOAL:.1f}; "
               f"{len(slow)} points with half a second of direct requests).", min(slow) >= TIME_GOAL)
    else:
        j.finding(f"{where}: no section makes enough requests for {j.r['iops']:g} operations a second.")


# ---- hypotheses

def hypothesis_default(j, point, where):
    """Add a hypothesis: the ratio of the default's time to that of the best variant, in the rounds for comparison."""
    ours = entry_of(point, DEFAULT)
    best = best_of([e for e in point["entries"] if e is not ours and counts(e)])
    if ours and best:
        j.hypothesis("time of the default over that of the best variant", where,
                [a / max(b, 1e-9) for a, b in list(zip(ours["seconds"], best["seconds"]))[1::2]],
                above="goal missed: more than 10 % above the best", below="goal met: within 10 % of the best", than=COLD_GOAL)
        j.finding(f"{where}: the best variant by the even rounds is {best['name']}.")


def hypothesis_part(j, part, read):
    points, each = j.points(part, j.directory, read), part == "common" and read
    place = f"{j.directory}{', cold' if j.r['cold'] else ''}"
    for p in points if each else []:
        where = f"{place}, {part} section {p['pattern']}"
        j.hypothesis_faster(where, [p], DIRECT, EXTENDED)
        if j.r["cold"]:
            hypothesis_default(j, p, where)
    where = f"{place}, {part} sections, {'reads' if read else 'writes'}"
    if not each:
        j.hypothesis_faster(where, points, DIRECT, EXTENDED)
    j.hypothesis_faster(where, points, EXTENDED, DEFAULT)
    if not read:
        j.hypothesis_faster(where, points, DEFAULT, DEFAULT + RMW)


def judge_distributions(j, read):
    """Check that array calls take no longer than the same access by the engine.  This is a goal, not a gate, since times are noisy."""
    points = [p for p in j.points("distributions", j.directory, read) if entry_of(p, EXTENDED) and entry_of(p, ENGINE)]
    op = "reads" if read else "writes"
    for slow in (DIRECT, PEER):
        j.hypothesis_faster(f"{j.directory}, whole arrays by distribution, {op}", points, slow, EXTENDED)
    if points:
        to_limit = median([entry_of(p, EXTENDED).get("to_limit", 0) for p in points])
        added = median([entry_of(p, EXTENDED)["median"] / entry_of(p, ENGINE)["median"] for p in points])
        j.goal(f"{j.directory}: {op} of whole arrays take {to_limit:.2f} times as long as the conforming limit, {added:.2f} times as long as the engine "
               f"asked for the same bytes (medians of {len(points)} distributions; goal: {ENGINE_GOAL:.1f} times the engine's).",
               added <= ENGINE_GOAL, not direct_io(j))


def judge(j):
    operations = sorted(j.operations(), reverse=True)  # reads come first
    for j.directory in j.r["directories"]:
        for part in PARTS:
            for read in operations if part in j.r["chosen_parts"] else []:
                show_part(j, part, read)
        for read in operations if "distributions" in j.r["chosen_parts"] else []:
            show_distributions(j, read)
            judge_distributions(j, read)
        judge_gates(j)
        if j.r["read"] and "common" in j.r["chosen_parts"]:
            show_table_1(j)
        for part in PARTS:
            for read in (True, False):
                hypothesis_part(j, part, read)
