#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi
# Verdicts of experiments: the best variant of a series, improvements, regret, bounds of a median, and gates, each
# compared with values computed by hand.
# SPDX-License-Identifier: BSD-3-Clause
top=$(cd "$(dirname "$0")/../.." && pwd)
PYTHONPATH=$top/experiments PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import math
from tutti_experiments import series, intervals, judgement, regret
from tutti_experiments.judgement import Figure, Judgement

NAMES = ["none", "one", "two"]
# Seconds of two benchmarks, three variants each, in two series of three rounds.
TIMES = {"ior": [[4, 9, 9, 8, 8, 8], [5, 5, 5, 6, 6, 6], [9, 2, 9, 9, 9, 9]],
         "tile256": [[1] * 6, [2] * 6, [3] * 6]}


def near(a, b):
    assert abs(a - b) < 1e-9, (a, b)


def entry(name, seconds, kind="tutti", **more):
    return dict({"name": name, "kind": kind, "seconds": seconds, "failure": "", "available": True}, **more)


def make():
    points = [{"figure": "overlap", "directory": ".", "pattern": p, "operation": "write", "size": 1 << 20, "ranks": 2,
               "entries": [entry(n, list(s)) for n, s in zip(NAMES, times)]} for p, times in TIMES.items()]
    return Judgement({"points": points, "parts": [], "rounds": 3, "series": 2})


def shown(j, put, *more):
    e = j.figure("table", "x", "x")
    put(j, e, NAMES, *more)
    return e


# wins: by minima, "two" (2) is the best in series 0 of IOR and "one" (6) in series 1; the medians are 9, 5, 9 and
# 8, 6, 9
j = make()
j.directory = "."
e = shown(j, series.put_wins, False)
for row, column, n in (("IOR", "none", 0), ("IOR", "one", 1), ("IOR", "two", 1), ("Tile 256 B", "none", 2), ("in all", "none", 2)):
    near(e.at(row, column)["value"], n)
near(series.share(j, NAMES, False, "one"), 25)
near(shown(j, series.put_wins, False, intervals.median).at("IOR", "one")["value"], 2)
assert not shown(j, series.put_wins, True)["rows"], "there are no reads"
j.directory = "elsewhere"
assert not shown(j, series.put_wins, False)["rows"]
for variant in j.r["points"][0]["entries"]:
    del variant["seconds"][2:]
assert series.series_of(j, j.r["points"][0]) == 1, "cut short: one series, not none"

# improvements: for "two", 4 -> 2 is 50 %, and 8 -> 9 is not counted; for "one", 8 -> 6 is 25 %, and 4 -> 5 is not
j = make()
j.directory = "."
e = shown(j, series.put_improvements, False, False)
near(e.at("IOR", "two")["value"], 50)
near(e.at("IOR", "one")["value"], 25)
assert e.at("Tile 256 B", "one") == "-", "nothing got better there"
e = shown(j, series.put_improvements, False, True)
near(e.at("IOR", "two")["value"], (50 - 12.5) / 2)
near(e.at("Tile 256 B", "two")["value"], -200)

# Check bounds of a median by the sign test.
for n, k in ((4, 0), (5, 1), (7, 1), (8, 2), (20, 6), (100, 42)):
    assert intervals.sign_rank(n, 0.05) == k, n
assert intervals.sign_rank(5, 0.025) == 0 and intervals.sign_rank(6, 0.025) == 1
assert 1940 < intervals.sign_rank(4000, 0.05) < 1955, "near the normal distribution's"
near(regret.lower_bound([8, 1, 7, 2, 6, 3, 5, 4]), 2)
near(regret.lower_bound([8, 1, 7, 2]), 0)

# the bounds of the median of seven values are the second and the sixth value
assert intervals.bounds([7, 1, 6, 2, 5, 3, 4]) == (2, 6) and intervals.bounds([2] * 5) == (2, 2)
assert intervals.bounds([7, 1, 6, 2]) == (1, 7), "too few: the least and the largest"
j = make()
j.hypothesis_faster("here", j.r["points"][1:], "two", "none")  # the ratio is 3 in all six rounds
j.hypothesis_faster("here", j.r["points"], "one", "none")
j.hypothesis_faster("here", j.r["points"], "two", "missing")
assert len(j.hypotheses) == 2 and j.hypotheses[0]["above"] == "none is faster than two"
near(j.hypotheses[0]["value"], 3)
# sqrt(5/4 * 2), sqrt(5/9 * 2), ..., sqrt(6/8 * 2): the median of 1.05 (twice), 1.22 (three times) and 1.58
near(j.hypotheses[1]["value"], math.sqrt(1.5))
assert j.hypotheses[1]["low"] <= j.hypotheses[1]["value"] <= j.hypotheses[1]["high"]
j.hypothesis("few", "here", [1, 2])
assert j.hypotheses[2]["low"] is None

# regret: rounds with even indices determine the best variant, rounds with odd indices measure the regret
point = {"entries": [entry("auto", [9, 2, 9, 2]), entry("list", [1, 4, 1, 4]), entry("shm", [2, 1, 2, 1])]}
assert regret.best_fixed(point)["name"] == "list"
value, low = regret.judge_regret(j.figure("rows", "r", "r"), "p", point)
near(value, -50)
assert low is None, "two rounds judge: too few"
# with six rounds of odd indices, the interval is from the smallest to the largest difference
ours = entry("auto", [1 + i / 100 if i % 2 else 9 for i in range(12)])
low, high, is_interval = regret.difference(ours, entry("list", [1.0] * 12))
near(low, 1)
near(high, 11)
assert is_interval and not regret.difference(ours, entry("list", [1.0] * 10))[2]

# failed variants are ignored; a violated gate is reported
point = {"entries": [entry("shm", [1])]}
assert judgement.entry_of(point, "shm")
point["entries"][0]["failure"] = "later"
assert not judgement.entry_of(point, "shm")
j.gate("it holds", True)
assert j.broken == 0
j.gate("it does not", False)
assert j.broken == 1 and [f["grade"] for f in j.findings] == ["met", "missed"]
END
