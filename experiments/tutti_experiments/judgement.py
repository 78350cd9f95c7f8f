"""The results of an experiment: figures (tables and plots), findings (sentences, some with a goal or a gate), and
hypotheses (a value with its 95 % interval, compared with a number; results.py derives verdicts from several runs).

SPDX-License-Identifier: BSD-3-Clause"""
from .intervals import LEAST, bounds, geometric, median

FAR = 3.0  # an outlier takes longer than this times the median


def size_text(size):
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{size:.{0 if size == int(size) or size >= 100 else 1}f} {units[0]}"


# ---- values

def number(value):
    return {"value": value, "low": value, "high": value}


def interval(values, factor=1.0):
    """Return the median with the bounds of its 95 % interval."""
    mid, (low, high) = median(values), bounds(values)
    return {"value": factor * mid, "low": factor * min(mid, low), "high": factor * max(mid, high)}


def quartiles(values, factor=1.0):
    from .intervals import quantile
    return {"value": factor * median(values), "low": factor * quantile(values, 0.25), "high": factor * quantile(values, 0.75)}


def rate(values, amount):
    """Return `amount` divided by the median."""
    t = interval(values)
    if t["low"] <= 0:
        return number(0)
    return {"value": amount / t["value"], "low": amount / t["high"], "high": amount / t["low"]}


def milliseconds(entry):
    return interval(entry["seconds"], 1e3)


def bandwidth(point, entry):
    return rate(entry["seconds"], point["bytes"] / 2 ** 20)


def phase(entry, which):
    """Return the median of one phase over all rounds, in seconds."""
    return median(entry.get("seconds_" + which, []))


def hidden(base, entry, seconds):
    """Return the time saved compared with `base`, in per cent of `seconds`; noise may give values above 100 or below 0."""
    return interval([100 * (a - b) / max(seconds, 1e-9) for a, b in zip(base["seconds"], entry["seconds"])])


# ---- points

def counts(entry):
    """Return whether the variant was measured and never failed."""
    return bool(entry["seconds"]) and not entry["failure"]


def find(entries, name):
    return next((e for e in entries if e["name"] == name and counts(e)), None)


def entry_of(point, name):
    return find(point["entries"], name)


def is_read(point):
    return point["operation"] == "read"


def half_median(entry, odd):
    """Return the median over the rounds with odd indices (for comparison) or even indices (for the choice); 0 without rounds."""
    return median(entry["seconds"][odd::2])


def best_of(entries):
    """Choose the fastest entry by the rounds with even indices.  Comparisons use the other rounds, so that noise does not favour it."""
    return min((e for e in entries if not e.get("rests")), key=lambda e: half_median(e, 0), default=None)


# ---- figures

class Figure(dict):
    """A table, as the JSON contains it; rows and columns are in the order in which they are first used."""

    def put(self, row, column, value):
        if row not in self["rows"]:
            self["rows"].append(row)
            self["values"].append([None] * len(self["columns"]))
        if column not in self["columns"]:
            self["columns"].append(column)
            for values in self["values"]:
                values.append(None)
        at = self["values"][self["rows"].index(row)]
        if at[self["columns"].index(column)] is None:
            at[self["columns"].index(column)] = value if isinstance(value, (dict, str)) else number(value)

    def at(self, row, column):
        return self["values"][self["rows"].index(row)][self["columns"].index(column)]


class Judgement:
    def __init__(self, result):
        self.r = result
        self.figures, self.findings, self.hypotheses = [], [], []
        self.broken = 0
        self.directory = ""

    def points(self, figure=None, directory=None, read=None):
        return [p for p in self.r["points"] if figure in (None, p["figure"]) and directory in (None, p["directory"]) and
                read in (None, is_read(p))]

    def parts(self, name, directory=None):
        return [p for p in self.r["parts"] if p["part"] == name and directory in (None, p["directory"])]

    def operations(self):
        """Return the chosen operations as a list, writes first; an element is whether the operation is a read."""
        return [read for read, chosen in ((False, self.r["write"]), (True, self.r["read"])) if chosen]

    def figure(self, kind, id, title, **more):
        e = Figure(id=id, directory=self.directory, kind=kind, title=title, note="", axis="", unit="", decimals=1, rows=[], columns=[],
                    values=[])
        e.update(more)
        self.figures.append(e)
        return e

    def finding(self, text, grade="plain"):
        self.findings.append({"grade": grade, "text": text})

    def goal(self, text, met, counts_here=True):
        self.finding(text, "plain" if not counts_here else "met" if met else "missed")

    def gate(self, text, holds):
        """Add a goal that also determines the exit status."""
        self.broken += not holds
        self.goal(text, holds)

    def hypothesis(self, what, where, values, unit="times", above="goal missed", below="goal met", than=1.0):
        if not values:
            return
        low, high = bounds(values) if len(values) >= LEAST else (None, None)
        self.hypotheses.append({"what": what, "where": where, "unit": unit, "above": above, "below": below, "value": median(values),
                            "low": low, "high": high, "than": than, "rounds": len(values)})

    def hypothesis_faster(self, where, points, slow, fast):
        """Add the ratio of the times of two variants, round by round: the geometric mean over the points that have both variants."""
        pairs = [(entry_of(p, slow), entry_of(p, fast)) for p in points]
        pairs = [(a["seconds"], b["seconds"]) for a, b in pairs if a and b]
        if not pairs:
            return
        rounds = min(len(s) for pair in pairs for s in pair)
        ratios = [geometric([max(a[i], 1e-9) / max(b[i], 1e-9) for a, b in pairs]) for i in range(rounds)]
        self.hypothesis(f"time of {slow} over that of {fast}{', geometric mean' if len(pairs) > 1 else ''}", where, ratios,
                   above=f"{fast} is faster than {slow}", below=f"{slow} is faster than {fast}")

    # ---- common part of all experiments

    def report_failures(self):
        seen = "".join(f["text"] for f in self.findings)
        for p in self.r["points"]:
            for e in p["entries"]:
                if e["failure"] and e["failure"] not in seen:
                    seen += e["failure"]
                    said = "FAILED" if e["available"] else "is not available"
                    self.finding(f"{e['name']} ({p['pattern']}, {p['ranks']} ranks) {said}: {e['failure'][:200]}",
                                 "failed" if e["available"] else "plain")
        for p in self.r["parts"]:
            for e in p.get("entries", []):
                if e["failure"]:
                    self.finding(f"{p['part']}, {e['name']}: FAILED: {e['failure'][:200]}", "failed")

    def report_outliers(self):
        every = [(p, e) for p in self.r["points"] for e in p["entries"] if len(e["seconds"]) >= 3]
        far = sum(s > FAR * e["median"] for _, e in every for s in e["seconds"])
        if far:
            p, e = max(every, key=lambda pe: pe[1]["max"] / pe[1]["median"])
            total = sum(len(e["seconds"]) for p in self.r["points"] for e in p["entries"])
            self.finding(f"Outliers: {far} of {total} times are more than {FAR:.0f} times their variant's median, the farthest "
                         f"{e['max'] / e['median']:.1f} times ({e['name']}, {p['pattern']} on {p['ranks']} ranks, {p['directory']}).")

    def report_load(self):
        m = self.r["measured"]
        if m["load"] > m["processors"]:
            self.finding(f"Warning: the load of {m['load']:.1f} before the run exceeds {m['processors']} cores; times are not reliable.")

    def report_rounds(self):
        wanted = self.r["rounds"] * self.r["series"]
        most = [max((len(e["seconds"]) for e in p["entries"]), default=0) for p in self.r["points"]]
        cut = [n for n in most if n < wanted]
        if cut:
            self.finding(f"{len(cut)} of {len(most)} points have fewer than {wanted} rounds, {min(cut)} at least: the budget was used up, "
                         "or they failed.")
