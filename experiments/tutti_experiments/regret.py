"""The cost of the automatic choice of the library: `auto` compared with the best fixed method, and with the call of the MPI library.

The best fixed method is chosen on the odd rounds (the first, the third ...) and compared on the even rounds, so that chance does not make it the best.
Comparison with the MPI library: the ratios of both times, round by round, with a one-sided lower bound of their median by the sign test, which needs five rounds.
SPDX-License-Identifier: BSD-3-Clause"""
from .intervals import median, quantile, sign_bounds
from .judgement import best_of, counts, entry_of, half_median, is_read, quartiles, size_text

PATIENCE, TRIAL, TRIAL_PEER = 3.0, 3, 5  # must equal PATIENCE of exp_auto.c, BENCH_TRIAL and BENCH_TRIAL_PEER of bench.h
GOAL_MEDIAN, GOAL_MOST = 3.0, 10.0  # maximum regret in per cent: median, 95th percentile
GOAL_PEER = 0.95  # minimum of the lower bound of (time of the MPI library) / (time of Tutti)


def best_fixed(point):
    return best_of([e for e in point["entries"] if e["kind"] == "tutti" and e["name"] != "auto" and counts(e)])


def peer_of(point):
    return entry_of(point, "MPI library") or entry_of(point, "MPI library, page cache")


def lower_bound(values):
    """Return the one-sided lower 95 % bound of the median; 0 if there are too few values."""
    found = sign_bounds(values, 0.05)
    return found[0] if found else 0


def difference(ours, best):
    """Return (low, high, whether they are an interval) of the differences in per cent, over the rounds for comparison: the 95 % interval of
    their median, or their quartiles if there are too few rounds."""
    d = [100 * (a / b - 1) for a, b in list(zip(ours["seconds"], best["seconds"]))[1::2]]
    found = sign_bounds(d, 0.025)
    return (*(found or (quantile(d, 0.25), quantile(d, 0.75))), bool(found))


def row_of(j, p):
    if "case_profile" in p:
        return (f"{p['operation']} {p['pattern']} {size_text(p['size'])} on {p['ranks']}, {p['directory']}, {'cold' if p['cold'] else 'warm'}, "
                f"{p['case_profile']}")
    ranks = f" on {p['ranks']}" if len(j.r["procs"]) > 1 else ""
    where = f", {p['directory']}" if len(j.r["directories"]) > 1 else ""
    return f"{p['operation']} {p['pattern']}{ranks}{where}"


def judge_regret(e, row, point):
    """Return (the regret in per cent, the lower end of its interval or None); None if the regret is unknown."""
    ours, best = entry_of(point, "auto"), best_fixed(point)
    if not ours or not best or half_median(ours, 1) <= 0 or half_median(best, 1) <= 0:
        return None
    mine, other = half_median(ours, 1), half_median(best, 1)
    low, high, is_interval = difference(ours, best)
    e.put(row, "regret %", 100 * (mine / other - 1))
    e.put(row, "95 % interval", f"{low:.1f} to {high:.1f}" if is_interval else f"({low:.1f} to {high:.1f})")
    e.put(row, "auto ms", 1e3 * mine)
    e.put(row, "best ms", 1e3 * other)
    e.put(row, "best", best["name"])
    return 100 * (mine / other - 1), low if is_interval else None


def ratios_of(point):
    """Return the ratios of the times of the MPI library to those of auto, round by round."""
    ours, peer = entry_of(point, "auto"), peer_of(point)
    return [a / b for a, b in zip(peer["seconds"], ours["seconds"])] if ours and peer else []


def report_cases(j):
    """Report the drawn cases that are slower than the MPI library, with their 95 % intervals."""
    for part in j.parts("cases"):
        j.finding(f"{part['cases']} cases of seed {part['seed']}; {part['missing_pairs']} pairs of levels do not occur.")
        found = [(row_of(j, p), sign_bounds(ratios_of(p), 0.025), median(ratios_of(p))) for p in j.r["points"] if ratios_of(p)]
        bounded = [(row, bounds, mid) for row, bounds, mid in found if bounds]
        slower = [x for x in bounded if x[1][1] < GOAL_PEER]
        for row, (low, high), mid in sorted(slower, key=lambda x: x[2]):
            j.finding(f"Slower than the MPI library: {row}: native / Tutti {mid:.2f} (95 % interval {low:.2f} to {high:.2f}).")
        if bounded:
            j.goal(f"Of {len(bounded)} cases with an interval, {len(slower)} have one of native / Tutti that lies below {GOAL_PEER:.2f} (goal: none).",
                   not slower)
        if len(bounded) < len(found):
            j.finding(f"{len(found) - len(bounded)} cases have fewer than 6 rounds, and no interval.")


def judge_peer(e, row, point):
    """Return (ratios, lower bound of their median); the bound is 0 if there is none."""
    ours, peer = entry_of(point, "auto"), peer_of(point)
    if not ours or not peer:
        return [], 0
    ratios = ratios_of(point)
    e.put(row, "MPI / auto", quartiles(ratios))
    bound = lower_bound(ratios)
    if bound > 0:
        e.put(row, "lower bound", bound)
    return ratios, bound


def report_regret(j, regrets):
    if not regrets:
        j.finding("Regret needs at least 2 rounds.")
        return
    mid, most = median([r for r, _ in regrets]), quantile([r for r, _ in regrets], 0.95)
    j.goal(f"Regret of auto over {len(regrets)} points: median {mid:.1f} % (goal: at most {GOAL_MEDIAN:.0f} %), 95th percentile {most:.1f} % (goal: "
           f"at most {GOAL_MOST:.0f} %).", mid <= GOAL_MEDIAN and most <= GOAL_MOST)
    lows = [low for _, low in regrets if low is not None]
    if lows:
        j.finding(f"At {sum(low > 0 for low in lows)} of {len(lows)} points the 95 % interval of the differences to the best fixed method lies above 0; at "
                  "the others the regret may be noise.")


def report_resting(j):
    every = [e for p in j.r["points"] for e in p["entries"]]
    resting = sum(bool(e.get("rests")) for e in every)
    if resting:
        j.finding(f"{resting} of {sum(map(counts, every))} variants, over all points, were more than 1 + {(PATIENCE - 1) * TRIAL:.0f} / n times as slow as "
                  f"the fastest of their point after n rounds, n from {TRIAL} (the MPI library: more than {PATIENCE:.0f} times, after {TRIAL_PEER}) and "
                  "took no part in the others.")


def report_peer(j, ratios, found):
    if not ratios:
        return
    j.finding(f"The MPI library's own call takes {median(ratios):.2f} times as long as auto (median over all rounds of all points; lower 95 % bound "
              f"{lower_bound(ratios):.2f}, by the sign test).")
    behind = sum(b < GOAL_PEER for b in found)
    if j.r["options"]["direct_io"] not in ("0", "false"):
        j.finding("No goal: it goes through the page cache, auto does not.")
    elif found:
        j.goal(f"Of {len(found)} points, {behind} have a lower 95 % bound of that ratio below {GOAL_PEER:.2f} (goal: none); the least is "
               f"{min(found):.2f}.", not behind)
    else:
        j.finding("The lower bound needs at least 5 rounds.")


def hypothesis_all(j, read):
    """Return the medians over all points, per round: of the regret, and of the ratio of the MPI library."""
    where, regrets, peers = f"{'reads' if read else 'writes'} of all patterns", [], []
    variants = [(entry_of(p, "auto"), best_fixed(p), entry_of(p, "MPI library")) for p in j.r["points"] if is_read(p) == read]
    for i in range(j.r["rounds"]):
        def over(pairs):
            return [a["seconds"][i] / b["seconds"][i] for a, b in pairs if a and b and i < min(len(a["seconds"]), len(b["seconds"]))]
        regret = over((a, b) for a, b, _ in variants) if i % 2 else []
        peer = over((p, a) for a, _, p in variants)
        regrets += [100 * (median(regret) - 1)] if regret else []
        peers += [median(peer)] if peer else []
    j.hypothesis("regret of auto, median over points", where, regrets, "%", than=GOAL_MEDIAN)
    j.hypothesis("time of the MPI library over that of auto, median over points", where, peers, above="auto is faster than the MPI library",
            below="the MPI library is faster than auto")


def judge(j):
    regret = j.figure("rows", "regret", "Regret of auto", axis="point", unit="% more time than the best fixed method",
                       note="The best fixed method is chosen on the odd rounds, both are compared on the even ones. Below 0: auto was faster. The interval is that of the "
                       "median of the differences, round by round (sign test); in brackets, of fewer than 6 comparing rounds: their quartiles.")
    peer = j.figure("rows", "peer", "The MPI library's time over that of auto", axis="point", unit="times as long as auto", decimals=2,
                     note="Median and quartiles of the ratios, round by round; the lower bound holds with 95 % (sign test). Above 1: auto was faster.")
    regrets, ratios, found = [], [], []
    for p in j.r["points"]:
        r, (some, bound) = judge_regret(regret, row_of(j, p), p), judge_peer(peer, row_of(j, p), p)
        regrets += [r] if r else []
        ratios += some
        found += [bound] if bound > 0 else []
    report_regret(j, regrets)
    report_resting(j)
    if j.parts("cases"):
        report_cases(j)
    else:
        report_peer(j, ratios, found)
    for read in j.operations():
        hypothesis_all(j, read)
