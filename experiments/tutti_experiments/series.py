"""Results of the experiments pipelines and primitives: Table I and figures 1 to 4 of Feki and Gabriel.

The rounds of a point are grouped in series.  In each series every variant has one time: its minimum, as in the paper, or its median.
Tables count the series that a variant wins.
SPDX-License-Identifier: BSD-3-Clause"""
from .intervals import median
from .judgement import counts, entry_of, hidden, milliseconds, phase, size_text

ALGORITHMS = ["none", "comm", "write", "write-comm", "write-comm-2"]
PRIMITIVES = ["two-sided", "fence", "lock", "shm"]
PAPERS = PRIMITIVES[:3]
HIDDEN_GOAL = 70.0  # minimum overlap, in per cent of the shorter of exchange and file access


def benchmark(point):
    """Return the paper's name of the pattern, with the element size used here."""
    element = {"tile256": 256, "tile1m": 1 << 20}.get(point["pattern"])
    if not element:
        return {"ior": "IOR", "flash": "FLASH"}.get(point["pattern"], point["pattern"])
    while element > 1 and element > point["size"] // 8:
        element //= 2
    return f"Tile {size_text(element)}"


# ---- series

def series_of(j, point):
    """Return the number of complete series of a point; 1 if the only series is incomplete."""
    rounds = max((len(e["seconds"]) for e in point["entries"]), default=0)
    return rounds // j.r["rounds"] or int(rounds > 0)


def series_time(j, entry, series, by=min):
    """Return the time of an entry in a series; None if it was not measured."""
    seconds = entry["seconds"][series * j.r["rounds"]:(series + 1) * j.r["rounds"]] if entry else []
    return by(seconds) if seconds else None


def winners(j, names, by=min, **where):
    """Return (point, name of the fastest variant) of each series."""
    for p in j.points(**where):
        for s in range(series_of(j, p)):
            times = [(t, n) for n in names for t in [series_time(j, entry_of(p, n), s, by)] if t is not None]
            if times:
                yield p, min(times, key=lambda t: t[0])[1]


def put_wins(j, e, names, read, by=min):
    e.update(axis="benchmark", unit="series won", decimals=0)
    won = list(winners(j, names, by, directory=j.directory, read=read))
    for row in list(dict.fromkeys(benchmark(p) for p, _ in won)) + ["in all"] * bool(won):
        for name in names:
            e.put(row, name, sum(n == name and row in (benchmark(p), "in all") for p, n in won))


def share(j, names, read, *of):
    """Return the percentage of all series of the operation that the variants `of` win, over all directories."""
    won = [n for _, n in winners(j, names, read=read)]
    return 100 * sum(n in of for n in won) / len(won) if won else 0


def improvements(j, names, read, pattern, name):
    for p in j.points(None, j.directory, read):
        for s in range(series_of(j, p)) if p["pattern"] == pattern else []:
            none, variant = (series_time(j, entry_of(p, n), s) for n in (names[0], name))
            if none and variant:
                yield 100 * (none - variant) / none


def put_improvements(j, e, names, read, of_all):
    e.update(axis="benchmark", unit="% less time than without overlap")
    some = False
    for p in {p["pattern"]: p for p in j.points(None, j.directory, read)}.values():
        for name in names[1:]:
            better = [b for b in improvements(j, names, read, p["pattern"], name) if of_all or b > 0]
            some = some or bool(better)
            e.put(benchmark(p), name, sum(better) / len(better) if better else "-")
    if not some:  # omit a figure without bars
        e.update(rows=[], columns=[], values=[])


def put_times(e, row, point, least):
    for w in point["entries"]:
        if counts(w) and w["name"] != "exchange alone":
            e.put(row, w["name"], 1e3 * w["min"] if least else milliseconds(w))


# ---- pipelines

def shorter_phase(point):
    """Return the times of the exchange and of file access, and the shorter of both, which is the maximum that overlap can hide.  The
    exchange is timed with a store that transfers no data; the remaining time without overlap is file access."""
    none, alone = entry_of(point, "none"), entry_of(point, "exchange alone")
    if not none or not alone:
        return 0, 0, 0
    exchange, file = alone["median"], none["median"] - alone["median"]
    return exchange, file, min(exchange, file)


def show_times(j, read, more):
    points = [p for p in j.points(None, j.directory, read) if p["pattern"] == "tile1m"]
    name = benchmark(points[0]) if points else "Tile 1 MiB"
    for least in (True, False):
        e = j.figure("bars", ("times, least" if least else "times") + more[0],
                      f"{'Least execution' if least else 'Execution'} time of {name}{more[1]}", axis="processes", unit="milliseconds",
                      note="Feki and Gabriel's figure 1: the least time of all rounds, for two numbers of processes on two clusters: 6 % less time "
                      "on one, up to 34 % on the other." if least else "The same by medians, with 95 % intervals.")
        for p in points:
            put_times(e, str(p["ranks"]), p, least)
    e = j.figure("table", "split" + more[0], f"Where the time of {name} goes{more[1]}", axis="processes, algorithm", unit="milliseconds",
                  note="Means over ranks, medians over rounds of the library's statistics; waiting for other ranks is exchange. Only the algorithms "
                  "whose file access is synchronous: where it goes on behind its calls, the time in calls does not say how long it takes. The paper, "
                  "without overlap and with 576 processes: 93 % file access on the first cluster.")
    for p in points:
        for w in p["entries"]:
            if counts(w) and w["name"] in ("none", "comm"):
                row = f"{p['ranks']}, {w['name']}"
                e.put(row, "exchange", 1e3 * phase(w, "exchange"))
                e.put(row, "file", 1e3 * phase(w, "file"))
                e.put(row, "in all", 1e3 * w["median"])


def show_phases(j, read, more):
    """Show the phases of the cyclic engine with synchronous file access."""
    e = j.figure("table", "phases" + more[0], "Shares of the phases" + more[1], axis="benchmark, processes, algorithm", decimals=0, unit="% of the time",
                 note="Means over the aggregators, medians over rounds; the wait of other ranks for the file counts as file access, since they wait for "
                 "aggregators that are in it. The rest is planning, opening and closing.")
    for p in j.points(None, j.directory, read):
        for w in p["entries"]:
            if counts(w) and w["name"] in ("none", "comm") and w["median"] > 0:
                row = f"{benchmark(p)}, {p['ranks']}, {w['name']}"
                for which in ("exchange", "file"):
                    e.put(row, which, 100 * phase(w, which) / w["median"])


def show_hidden(j):
    e = j.figure("table", "hidden", "Hidden of the shorter phase", axis="benchmark, processes", decimals=0,
                  unit="% of the shorter of exchange and file access",
                  note="How much faster than without overlap, in per cent of the shorter phase: medians of the differences, round by round. 100: it "
                  "costs nothing. Exchange is the time with a store that moves nothing, file access the rest of the time without overlap.")
    for p in j.points(None, j.directory, False):
        exchange, file, shorter = shorter_phase(p)
        if shorter <= 0:
            continue
        row = f"{benchmark(p)}, {p['ranks']}"
        e.put(row, "exchange ms", 1e3 * exchange)
        e.put(row, "file ms", 1e3 * file)
        for name in ALGORITHMS[1:]:
            if entry_of(p, name):
                e.put(row, name, hidden(entry_of(p, "none"), entry_of(p, name), shorter))


def hypothesis_hidden(j, where, points):
    """Add a hypothesis: the share that write-comm-2 hides in each round, the median over the points."""
    pairs = [(entry_of(p, "none"), entry_of(p, "write-comm-2"), shorter_phase(p)[2]) for p in points]
    pairs = [(a["seconds"], b["seconds"], s) for a, b, s in pairs if a and b and s > 0]
    rounds = min((min(len(a), len(b)) for a, b, _ in pairs), default=0)
    j.hypothesis("write-comm-2 hides of the shorter of exchange and file access", where,
            [median([100 * (a[i] - b[i]) / s for a, b, s in pairs]) for i in range(rounds)], "%", "goal met", "goal missed", HIDDEN_GOAL)


def show_pipelines(j, read):
    more = (" reads", ", reads") if read else ("", "")
    put_wins(j, j.figure("table", "wins" + more[0], "Series in which each algorithm was fastest" + more[1],
                          note="By the least time of a series, as in Feki and Gabriel's Table I: none 59, comm 42, write 79, write-comm 95, "
                          "write-comm-2 77 of 352."), ALGORITHMS, read)
    put_wins(j, j.figure("table", "wins by median" + more[0], "The same by the median of each series" + more[1],
                          note="Less at the mercy of one lucky run than the least time."), ALGORITHMS, read, median)
    show_times(j, read, more)
    show_phases(j, read, more)
    if not read:
        show_hidden(j)
    put_improvements(j, j.figure("bars", "improvement" + more[0], "Improvement over no overlap, improved series only" + more[1],
                                  note="As in Feki and Gabriel's figures 2 and 3: series that got slower are left out. Between 3.7 and 9.2 % on one "
                                  "cluster, 8.6 and 22.3 % on the other."), ALGORITHMS, read, False)
    put_improvements(j, j.figure("bars", "improvement of all" + more[0], "Improvement over no overlap, all series" + more[1],
                                  note="The same with the series that got slower."), ALGORITHMS, read, True)
    points = j.points(None, j.directory, read)
    where = f"{j.directory}, {'reads' if read else 'writes'} of all benchmarks"
    for name in ALGORITHMS[1:]:
        j.hypothesis_faster(where, points, "none", name)
    j.hypothesis_faster(where, points, "MPI library", "auto")
    if j.r["options"]["direct_io"] not in ("0", "false") and not read:  # with O_DIRECT, file access uses hardly any processor time
        hypothesis_hidden(j, where, points)


def judge_pipelines(j):
    for read in j.operations():
        for j.directory in j.r["directories"]:
            show_pipelines(j, read)
        j.finding(f"Of all series of {'reads' if read else 'writes'}, {share(j, ALGORITHMS, read, 'none'):.0f} % were fastest without overlap, "
                  f"{share(j, ALGORITHMS, read, *ALGORITHMS[2:]):.0f} % with asynchronous file access (Feki and Gabriel, writes: 17 and 71 %).")


# ---- primitives

def show_primitives(j, read):
    more = (" reads", ", reads") if read else ("", "")
    put_wins(j, j.figure("bars", "wins" + more[0], "Series in which each of the paper's primitives was fastest" + more[1],
                          note="By the least time of a series, as in Feki and Gabriel's figure 4: messages won 75 % of all, fences 37 % of Tile 256 B. "
                          "All three go cycle by cycle, with the same windows and aggregators; shared memory goes as windows get ready."), PAPERS, read)
    put_wins(j, j.figure("bars", "wins with shm" + more[0], "The same with shared memory" + more[1]), PRIMITIVES, read)
    for least in (True, False):
        e = j.figure("bars", ("times, least" if least else "times") + more[0], ("Least execution times" if least else "Execution times") + more[1],
                      axis="benchmark, processes", unit="milliseconds",
                      note="The paper's measure: the least time of all rounds." if least else "Medians over all rounds, with 95 % intervals.")
        for p in j.points(None, j.directory, read):
            put_times(e, f"{benchmark(p)}, {p['ranks']}", p, least)
    for name in PRIMITIVES[1:]:
        j.hypothesis_faster(f"{j.directory}, {'reads' if read else 'writes'} of all benchmarks", j.points(None, j.directory, read), name, "two-sided")


def judge_primitives(j):
    for read in j.operations():
        for j.directory in j.r["directories"]:
            show_primitives(j, read)
        j.finding(f"Of the paper's three, messages were fastest in {share(j, PAPERS, read, 'two-sided'):.0f} % of all series of "
                  f"{'reads' if read else 'writes'} (there, writes: 75 %); with shared memory beside them, shared memory in "
                  f"{share(j, PRIMITIVES, read, 'shm'):.0f} %.")
