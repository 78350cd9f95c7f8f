"""Results of the experiment mesh: Tables 3 and 4, figures 5, 6 and 8 to 11 of Filgueira, Singh, Isaila, Carretero and Garcia
Loureiro, Interval Data Grouping.

Gate: idg2 never has more intervals than idg.  Goals, for meshes ordered along the curve and partitioned by METIS: own has at least
four times as many intervals as idg; the median time ratio own / idg for loads up to 50 is at least 1.4 with list and 1.8 with
independent; for loads of 100 or more, idg takes at most 1.25 times as long as own.
SPDX-License-Identifier: BSD-3-Clause"""
from .intervals import median
from .judgement import entry_of, interval, is_read, milliseconds, phase

RULES = ["own", "random", "first", "idg", "idg2"]
ORDERS = {"curve": "Hilbert's curve", "rcm": "reverse Cuthill-McKee", "file": "the order of the file"}
REUSED = ", reused plan"
INTERVALS_GOAL, LARGE_GOAL, GOALS = 4.0, 1.25, {"list": 1.4, "independent": 1.8}
SMALL, LARGE = (1, 50), (100, 1 << 62)  # ranges of loads


def name_of(method, rule, reused):
    return f"{method}{' ' if rule else ''}{rule}{REUSED if reused else ''}"


def has_metis(j):
    return all(p["metis"] for p in j.parts("before"))


# ---- counts on one process

def show_meshes(j):
    e = j.figure("table", "meshes", "Table 3: the meshes", axis="mesh",
                  note='Edges are pairs of neighbours, which the paper\'s "Vertices" seem to be.  How far apart neighbours lie in each order: mean.')
    for m in j.parts("mesh"):
        for key in ("nodes", "edges", "elements"):
            e.put(m["mesh"], key, f"{m[key]}")
        e.put(m["mesh"], f"apart, {m['order']}", f"{m['distance']:.0f}")


def show_order(j, order, title):
    axis = "mesh, partitions"
    every = j.figure("table", f"intervals, {order}", f"Intervals of all partitions, {title}", axis=axis,
                      note="Runs of nodes with one writer.  In the paper own (Metis) has 2.92 to 7.66 times as many as IDG.")
    tables = [(j.figure("table", f"{id}, {order}", f"{text}, {title}", axis=axis, unit=unit), value) for id, text, unit, value in (
        ("of a partition", "Table 4: intervals of a partition", "their number by that of partitions", lambda d, s: s["intervals"] / d["partitions"]),
        ("length", "Mean length of an interval", "nodes by intervals", lambda d, s: s["mean_interval"]),
        ("length by partition", "Table 4: average length of an interval", "mean of the partitions' means, nodes", lambda d, s: s["mean_of_means"]))]
    ratios = []
    for d in (d for d in j.parts("division") if d["order"] == order):
        row, n = f"{d['mesh']}, {d['partitions']}", {rule: s["intervals"] for rule, s in d["rules"].items()}
        for rule in RULES:
            every.put(row, rule, f"{n[rule]}")
            for e, value in tables:
                e.put(row, rule, value(d, d["rules"][rule]))
        idg = max(n["idg"], 1)
        ratios.append(n["own"] / idg)
        every.put(row, "own/idg", f"{n['own'] / idg:.2f}")
        every.put(row, "idg2 saves %", f"{100 * (1 - n['idg2'] / idg):.1f}")
        if n["idg2"] > idg:
            j.broken += 1
            j.finding(f"{row}, {title}: idg2 has more intervals than idg (gate).", "failed")
    return ratios


def show_figures(j):
    axis, divisions = "mesh, partitions", [d for d in j.parts("division") if d["order"] == "curve"]
    e = j.figure("lines", "replication", "Figure 9: replication", axis="partitions", unit="% of the nodes are on several partitions")
    for d in divisions:
        e.put(str(d["partitions"]), d["mesh"], d["replication"])
    unit = "% (most - least) / mean of the {} that partitions write"
    for id, title, what, key, field, note in (
            ("balance", "Figure 10: balance", "nodes", "rules", "balance_items",
             "Formula (1), along the curve.  All nodes have the same load, so that it is the balance of bytes, too."),
            ("balance, bytes", "Figure 10 with uneven loads, by bytes", "bytes", "uneven", "balance_bytes",
             "Nodes of the lower half, along the longest edge of the bounding box, have five values, others one; partitions are weighted so."),
            ("balance, nodes", "Figure 10 with uneven loads, by nodes", "nodes", "uneven", "balance_items", "")):
        e = j.figure("table", id, title, axis=axis, unit=unit.format(what), note=note)
        for d in divisions:
            for rule in RULES:
                e.put(f"{d['mesh']}, {d['partitions']}", rule, 100 * d[key][rule][field])
    e = j.figure("table", "inspector", "Figure 11: time of the inspector", axis=axis, unit="milliseconds on one process", decimals=2,
                  note='Classification: which partitions hold each node, the paper\'s "time red".  The others: who writes each node, by rule.  Medians.')
    for d in divisions:
        for what in ["classification"] + RULES:
            e.put(f"{d['mesh']}, {d['partitions']}", what, 1e3 * median(d[what]))


def judge_tables(j):
    show_meshes(j)
    least = min((r for order, title in ORDERS.items() for r in show_order(j, order, title) if order == "curve"), default=None)
    show_figures(j)
    metis = j.r["by"] == "metis" and has_metis(j)
    if least is not None:
        j.goal(f"Along the curve own has at least {least:.2f} times as many intervals as idg (goal: {INTERVALS_GOAL:.1f}, divided by METIS)"
               f"{'' if metis else '; here without METIS'}.", least >= INTERVALS_GOAL, metis)
    if not has_metis(j):
        j.finding("METIS is not built in (Debian: libmetis-dev): partitions are by coordinate bisection.")


# ---- write times

def show_inspectors(j):
    e = j.figure("table", "inspectors", "Inspectors on the ranks", axis="mesh, ranks", unit="milliseconds",
                  note="Once for a partition, by all ranks: positions, writers and both accesses.")
    for p in j.r["points"]:
        same = [q["inspecting"] for q in j.r["points"] if (q["mesh"], q["ranks"]) == (p["mesh"], p["ranks"])]
        for rule in RULES:
            e.put(f"{p['mesh']}, {p['ranks']}", rule, 1e3 * median([i[rule] for i in same]))


def put_time(e, point, name, column):
    w = entry_of(point, name)
    if w:
        e.put(str(point["load"]), column, milliseconds(w))


def show_rule(j, points, where, read, rule):
    """Add the figure of the configurations with one rule, like figures 5 and 6 of the paper."""
    what = f"{'read' if read else 'written'}{' by ' if rule else ''}{rule}"
    e = j.figure("lines", f"{where[0]:.14} {where[1]} {what:.18}", f"{where[0]} on {where[1]} ranks: {what}", axis="load", unit="milliseconds", decimals=2,
                  note=f"Figures 5 and 6.  Making access and plan, and {'reading' if read else 'writing'}, to close; root: that is gathering, too.  With a "
                  "reused plan: from its start.  bare: one system call for each interval, no library.  The file is open.  Medians.")
    for p in points:
        put_time(e, p, "conforming", "conforming")
        for reused in (False, True):
            for method in j.r["methods"] + ["bare"]:
                name = name_of(method, rule, reused)
                put_time(e, p, name, name_of(method, "", reused))
                w = entry_of(p, name)
                if method == "root" and not read and w:  # the root's remaining time is gathering
                    e.put(str(p["load"]), "root: gathering" + (REUSED if reused else ""), 1e3 * max(0, w["median"] - phase(w, "file")))


def show_scene(j, points):
    read, where, rules = is_read(points[0]), (points[0]["mesh"], points[0]["ranks"]), j.r["rules"]
    for rule in [""] if read else rules:
        show_rule(j, points, where, read, rule)
    if not read and "list" in j.r["methods"]:
        e = j.figure("lines", f"{where[0]:.14} {where[1]} rules with list", f"{where[0]} on {where[1]} ranks: rules with list", axis="load",
                      unit="milliseconds", decimals=2, note="Figure 8.")
        for p in points:
            for reused in (False, True):
                for rule in rules:
                    put_time(e, p, name_of("list", rule, reused), name_of(rule, "", reused))


def gain(point, method, reused, rule):
    """Return (ratios of the times of own and `rule`, round by round; ratio of the minimum times, which depends less on other load), or None."""
    own, other = entry_of(point, name_of(method, "own", reused)), entry_of(point, name_of(method, rule, reused))
    if not own or not other:
        return None
    return [a / max(b, 1e-9) for a, b in zip(own["seconds"], other["seconds"])], own["min"] / max(other["min"], 1e-9)


def show_gain(j, rule, least):
    e = j.figure("table", f"gain of {rule}{', least' if least else ''}", f"Write times of own over those of {rule}{', least times' if least else ''}",
                  axis="mesh", decimals=2, note="The least times of all rounds, which a busy machine spoils less." if least
                  else "Medians of the ratios of both times, round by round.")
    for p in j.points(None, j.directory, False):
        for method in j.r["methods"] + ["bare"]:
            for reused in (False, True):
                found = gain(p, method, reused, rule)
                if found:
                    e.put(f"{p['pattern']}, {p['ranks']} ranks", name_of(method, "", reused), found[1] if least else interval(found[0]))


def goal_of(j, method):
    """Return the goal of a method for meshes ordered along the curve and partitioned by METIS; 0 if there is none."""
    return GOALS.get(method, 0) if j.r["order"] == "curve" and j.r["by"] == "metis" and has_metis(j) else 0


def judge_method(j, method, reused):
    goal, how = goal_of(j, method), method + (REUSED if reused else "")

    def gains(low, high):
        found = [gain(p, method, reused, "idg") for p in j.points(None, None, False) if p["ranks"] > 1 and low <= p["load"] <= high]
        return [median(r) for r in [f[0] for f in found if f]], [f[1] for f in found if f]
    rounds, least = gains(*SMALL)
    if rounds:
        j.goal(f"{how}, loads up to {SMALL[1]}: own takes {median(rounds):.2f} times as long as idg, median of {len(rounds)} points"
               f"{f' (goal: {goal:.1f})' if goal else ''}; from {min(rounds):.2f} to {max(rounds):.2f}; by the least times {median(least):.2f}.",
               median(rounds) >= goal, goal > 0)
    rounds, least = gains(*LARGE)
    if rounds:
        worst = 1 / max(min(rounds), 1e-9)
        j.goal(f"{how}, loads from {LARGE[0]}: idg takes at most {worst:.2f} times as long as own{f' (goal: {LARGE_GOAL:.2f})' if goal else ''}, median of "
               f"{len(rounds)} points {1 / max(median(rounds), 1e-9):.2f}; by the least times at most {1 / max(min(least), 1e-9):.2f}.",
               worst <= LARGE_GOAL, goal > 0)


def hypothesis_methods(j, slow, fast, read, loads):
    for where in j.r["directories"]:
        points = [p for p in j.points(None, where, read) if p["ranks"] > 1 and loads[0] <= p["load"] <= loads[1]]
        j.hypothesis_faster(f"{where}, {'reads' if read else 'writes'}, up to {j.r['most_ranks']} ranks, loads {'up to 50' if loads is SMALL else 'from 100'}",
                       points, slow, fast)


def judge_times(j):
    show_inspectors(j)
    for j.directory in j.r["directories"]:
        scenes = {}
        for p in j.points(None, j.directory):
            scenes.setdefault((p["mesh"], p["ranks"], is_read(p)), []).append(p)
        for points in scenes.values():
            show_scene(j, points)
        for rule in j.r["rules"] if j.r["write"] and "own" in j.r["rules"] else []:
            for least in (False, True):
                if rule != "own":
                    show_gain(j, rule, least)
    every = [(method, reused) for method in j.r["methods"] + ["bare"] for reused in (False, True)]
    for method, reused in every:
        judge_method(j, method, reused)
    for method, reused in every:
        if goal_of(j, method) > 0 or method == "bare":
            for loads in (SMALL, LARGE):
                hypothesis_methods(j, name_of(method, "own", reused), name_of(method, "idg", reused), False, loads)
    for method in j.r["methods"] if j.r["read"] else []:
        if method != "two-phase":
            hypothesis_methods(j, method, "two-phase", True, SMALL)


def judge(j):
    if j.parts("division"):
        judge_tables(j)
    if j.r["points"]:
        judge_times(j)
    elif j.r["ranks"] == 1:
        j.finding("Write times need as many ranks as partitions: mpirun -np 4 tutti-experiments mesh, or --part writes.")
    for p in j.parts("before"):
        j.finding(f"The machine has {j.r['measured']['processors']} cores; its load was {p['load']:.1f} before, {j.r['measured']['load']:.1f} afterwards, "
                  "this program included.")
