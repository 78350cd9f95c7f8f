#!/usr/bin/env python3
"""results.py --page PAGE.md RUN...   update docs/appendix/results.md: results that several runs of the papers' experiments confirm.
   results.py --page PAGE.md FILE.json... [--scaling PLAN_SCALING.json]   update the limits of this machine, measured by `tutti bench`.

A RUN is a directory with the files paper-*.json of one `make bench-papers`.  Experiments have hypotheses: a value with 95 %
bounds, and a number with which it is compared (1, or a goal).  The result in one run is *above*, *below*, or neither if the number
is within the bounds.  A hypothesis becomes a verdict if all runs have the same result, and two of them are at least an hour apart
(--apart MINUTES); otherwise the page gives the reason.

SPDX-License-Identifier: BSD-3-Clause
"""
import datetime
import json
import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent)]
from tutti_experiments import programs, report  # noqa: E402

# ---- verdicts

ABOVE, BELOW, NEITHER, UNBOUNDED = "above", "below", "neither", "unbounded"
NO_DIFFERENCE, NO_BOUNDS, WAITS = "no difference shown", "no bounds: too few rounds", "waits for a second run"


def says(hypothesis):
    """Return the result of a hypothesis in one run."""
    if hypothesis["low"] is None or hypothesis["high"] is None:
        return UNBOUNDED
    if hypothesis["low"] > hypothesis["than"]:
        return ABOVE
    return BELOW if hypothesis["high"] < hypothesis["than"] else NEITHER


def verdict(hypotheses, dates, apart=60):
    """Return (text, whether it is a verdict) for one hypothesis.  hypotheses: its results in the runs (None: missing); dates: those of the
    runs; apart: minimum distance of the dates in minutes."""
    made = [(c, d) for c, d in zip(hypotheses, dates) if c is not None]
    said = {says(c) for c, _ in made}
    if UNBOUNDED in said:
        return NO_BOUNDS, False
    if len(made) < 2 or max(d for _, d in made) - min(d for _, d in made) < datetime.timedelta(minutes=apart):
        return WAITS, False
    if len(said) > 1 or NEITHER in said:
        return NO_DIFFERENCE, False
    return made[0][0][said.pop()], True


def date_of(result):
    return datetime.datetime.strptime(result["measured"]["date"], "%Y-%m-%dT%H:%M:%SZ")


def collect(runs, stem, apart):
    """Return the rows of hypotheses with verdicts, from the files of one experiment in all runs (None: missing)."""
    def key_of(hypothesis):
        return tidy(hypothesis["where"]), hypothesis["what"]
    keys = dict.fromkeys(key_of(c) for r in runs if r for c in r["hypotheses"])
    rows = []
    for key in keys:
        hypotheses = [next((c for c in r["hypotheses"] if key_of(c) == key), None) if r else None for r in runs]
        text, holds = verdict(hypotheses, [date_of(r) if r else None for r in runs], apart)
        rows.append({"stem": stem, "where": key[0], "what": key[1], "hypotheses": hypotheses, "verdict": text, "holds": holds})
    return rows


# ---- text

def rows_text(rows):
    return "".join("| " + " | ".join(r) + " |\n" for r in rows) + "\n"


def figure_text(c):
    if c is None:
        return "-"
    digits = 0 if c["unit"] == "%" else 2
    if c["low"] is None:
        return f"{c['value']:.{digits}f}"
    return f"{c['value']:.{digits}f} ({c['low']:.{digits}f} to {c['high']:.{digits}f})"


def command_of(result):
    """Return the command of a result without the paths of reports."""
    return re.sub(r" --(json|csv|html) \S+", "", result["measured"]["command"])


def tidy(text):
    """Make paths relative to the source tree, and replace mount points, whose names differ between runs, by MOUNT."""
    text = re.sub(r"[^ ,()`|]*/tutti-hosts\.\w+/mount", "MOUNT", text)
    return re.sub(r"(?<![\w./-])/[^ ,()`|]*?/build/", "build/", text)


def unit_of(row):
    c = next(c for c in row["hypotheses"] if c)
    sign = "%" if c["unit"] == "%" else "x"
    return f"{c['than']:g} {sign}"


def hypotheses_table(rows, n, named):
    """Return a table of hypotheses in n runs; named: with a column for the name of the experiment, for the summary."""
    head = ["experiment"] if named else []
    head += ["where", "what", "compared with"] + [f"run {i + 1}" for i in range(n)] + ["verdict"]
    table = [head, ["---"] * len(head)]
    for r in rows:
        table.append(([f"[{r['stem']}](#{r['stem']})"] if named else []) + [r["where"], r["what"], unit_of(r)] +
                     [figure_text(c) for c in r["hypotheses"]] + [f"**{r['verdict']}**" if r["holds"] else r["verdict"]])
    return tidy(rows_text(table))


# ---- the papers

PAPERS = [  # (heading, stems of files), in the order of the page
    ("Paper 1: Dickens and Thakur, collective I/O in steps, and behind computation", "steps overlap"),
    ("Paper 2: Feki and Gabriel, overlap of exchange and file access", "pipelines primitives"),
    ("Paper 3: Thakur and Choudhary, sections of arrays", "sections"),
    ("Paper 4: Filgueira and others, Interval Data Grouping", "mesh"),
    ("Paper 5: Sturtevant and others, PDS/PIO", "dataset exodus"),
    ("No paper: cost of the automatic choice", "auto"),
]
SHOWN = {  # pattern of the ids of the figures that the page shows, by stem of the file; reports have all figures
    "steps": r"processes|files$|shares$|stagger",
    "overlap": r"^(independent|collective)",
    "overlap-throttled": r"^collective",
    "pipelines": r"^wins$|times, least|improvement$",
    "pipelines-direct": r"^wins$|times, least|improvement$",
    "pipelines-reads": r"^wins reads$",
    "pipelines-shm": r"^wins$",
    "primitives": r"^wins( reads)?$",
    "sections": r"^table 1",
    "sections-more": r"distributions reads$",
    "sections-cold": r"^table 1|common reads$",
    "sections-throttled": r"^table 1|common reads$",
    "mesh": r"by own$|read$|inspectors",
    "mesh-rules-8": r"rules with",
    "mesh-hosts": r"by own$",
    "mesh-tables": r"intervals, curve",
    "dataset": r"variants",
    "dataset-disk": r"meshes$|variants",
    "dataset-buffers": r"buffers",
    "exodus": r"table 3",
}
MOST_ROWS, MOST_COLUMNS = 16, 9  # maximum size of a table on the page; reports have larger tables
INTRO = """# Results of the papers' experiments

This page has the measured results of the papers' experiments on one machine.  `make bench-papers` writes it
(`experiments/tutti_experiments/results.py`); run it twice, an hour apart, to get your own.  [Experiments](experiments.md) describes each experiment and its
differences from the papers.  See also: [limits of this machine](results-limits.md), [Exodus results](exodus-results.md).

A *verdict* is a result on which all runs agree.  Its figure is the median over rounds in which all variants are interleaved, with 95 % intervals (bootstrap
over rounds).  The number that it is compared with is outside the bounds, on the same side, in every run.  Otherwise the result is *no difference shown*.

Times are from open to close, and every byte was verified.  Tables show medians of all runs, `a / b`, in the first directory.  Bounds, single times,
plots and the other directories are in the reports of each run (JSON, CSV, HTML, text).

"""
WHY = """## Differences between this machine and the clusters of the papers

- **Small requests are fast.**  On the machines of the papers every small write was a request to a disk or a server; with a page cache it is a
  system call and a copy.  Messages inside a node are copies too, so the five steps lose more by the exchange than they save.  Shared staging, which
  `auto` uses, has no messages.
- **Two cores do all the work.**  A thread that exchanges and writes competes with the computation.  Exchange and file access use the same
  cores, unless file access waits for a device (O_DIRECT, the slow disk).
- **The second reader finds the bytes in memory.**  Extended two-phase reads common sections once, as the counts show.  Times decrease only
  if nothing is cached (cold), or if requests take time (the slow disk).
- **Fences and locks** use shared memory on one node.

"""


def medians(values, decimals):
    texts = [report.value_text(v, decimals) for v in values]
    return texts[0] if len(set(texts)) == 1 else " / ".join(texts)


def figure_table(x, others):
    """Return the table of a figure with the values of the other runs (None: missing), transposed if that is narrower."""
    def value(o, row, column):
        if o is None or row not in o["rows"] or column not in o["columns"]:
            return None
        return o["values"][o["rows"].index(row)][o["columns"].index(column)]
    cells = [[medians([value(o, r, c) for o in [x] + others], x["decimals"]) for c in x["columns"]] for r in x["rows"]]
    rows, columns = x["rows"], x["columns"]
    if len(columns) > 6 and len(columns) > len(rows):
        rows, columns, cells = columns, rows, [list(c) for c in zip(*cells)]
    if len(rows) > MOST_ROWS or len(columns) > MOST_COLUMNS:
        return None
    return rows_text([[x["axis"]] + columns, ["---"] + ["---:"] * len(columns)] +
                     [[name] + row for name, row in zip(rows, cells)])


def same(x, y):
    return (x["id"], tidy(x["directory"])) == (y["id"], tidy(y["directory"]))


def figures_text(runs, stem):
    """Return the tables of the first directory; reports have those of other directories, and large tables."""
    first, wanted = next(r for r in runs if r), SHOWN.get(stem, r"^$")
    text, left = "", []
    shown = next((x["directory"] for x in first["figures"] if x["directory"]), "")
    for x in first["figures"]:
        if not x["rows"] or not re.search(wanted, x["id"]) or x["directory"] not in ("", shown):
            continue
        others = [next((o for o in r["figures"] if same(o, x)), None) if r else None for r in runs if r is not first]
        table = figure_table(x, others)
        if table is None:
            left.append(x["title"])
            continue
        where = f", {x['directory']}" if x["directory"] else ""
        unit = f", {x['unit']}" if x["unit"] else ""
        text += f"**{x['title']}**{where}{unit}:\n\n{table}"
    if left:
        text += f"Longer tables, in `paper-{stem}.html`: {'; '.join(left)}.\n\n"
    return tidy(text)


def remarks(runs):
    """Return gates, failures and outliers of the runs."""
    said = []
    for i, r in enumerate(runs):
        for f in r["findings"] if r else []:
            if "gate:" in f["text"]:
                said.append((f["text"] if f["grade"] == "met" else f"**Broken:** {f['text']}", i))
            elif f["grade"] == "failed" or f["text"].startswith("Outliers") or "fewer than" in f["text"]:
                said.append((f"Run {i + 1}: {f['text']}", i))
        if r and r["failures"]:
            said.append((f"**Run {i + 1}: {r['failures']} failed.**", i))
    return tidy("".join(f"- {text}\n" for text in dict.fromkeys(t for t, _ in said)))


def experiment_text(runs, stem, rows):
    first = next(r for r in runs if r)
    least = min((max(len(e["seconds"]) for e in p["entries"]) for r in runs if r for p in r["points"]), default=first["rounds"])
    text = f"### {stem}\n\n{first['title']}.  {first['source']}  {first['mpi']}, {first['ranks']} ranks, {least} rounds or more"
    mounts = "; ".join(f"{d}: {m}" for d, m in first["measured"]["mounts"].items())
    text += f"{'; ' + mounts if mounts else ''}.\n\n    {command_of(first)}\n\n"
    told = remarks(runs)
    text += told + ("\n" if told else "")
    others = [r for r in rows if not r["holds"]]
    held = len(rows) - len(others)
    if held:
        text += f"{held} verdict{'s' if held > 1 else ''} [above](#verdicts)" + ("; the others:\n\n" if others else ".\n\n")
    if others:
        text += hypotheses_table(others, len(runs), False)
    return tidy(text) + figures_text(runs, stem)


def paper_of(stem):
    for i, (_, names) in enumerate(PAPERS):
        if any(stem == n or stem.startswith(n + "-") for n in names.split()):
            return i
    return len(PAPERS) - 1


def order_of(stem):
    names = PAPERS[paper_of(stem)][1].split()
    return (paper_of(stem), next((i for i, n in enumerate(names) if stem == n or stem.startswith(n + "-")), 0), stem)


def runs_text(names, found):
    table = [["run", "from", "to", "host", "processors", "kernel", "Tutti"], ["---"] * 7]
    for i, name in enumerate(names):
        of = [r[i] for r in found.values() if r[i]]
        if not of:
            continue
        m = of[0]["measured"]
        dates = sorted(r["measured"]["date"] for r in of)
        table.append([f"{i + 1} (`{name}`)", dates[0], dates[-1], m["host"], f"{m['processors']} x {m['processor']}", m["kernel"],
                      of[0]["version"]])
    return tidy(rows_text(table))


def summary_text(all_rows, n):
    text = "## Verdicts\n\n"
    if not any(r["holds"] for r in all_rows):
        return text + "None yet: verdicts wait for a second run, an hour after the first.\n\n" if n < 2 else text + "None.\n\n"
    for i, (title, _) in enumerate(PAPERS):
        rows = [r for r in all_rows if paper_of(r["stem"]) == i]
        if not rows:
            continue
        held = [r for r in rows if r["holds"]]
        text += f"**{title}**: {len(held)} of {len(rows)} comparisons.\n\n"
        if held:
            text += hypotheses_table(held, n, True)
    return text


def papers_page(directories, apart):
    found = {}
    for i, d in enumerate(directories):
        for path in sorted(pathlib.Path(d).glob("paper-*.json")):
            try:
                r = report.load(path)
            except json.JSONDecodeError:
                print(f"{path} is not whole: left out", file=sys.stderr)
                continue
            found.setdefault(path.stem[len("paper-"):], [None] * len(directories))[i] = r
    rows = {stem: collect(runs, stem, apart) for stem, runs in found.items()}
    stems = sorted(found, key=order_of)
    text = INTRO + runs_text(directories, found)
    text += summary_text([r for stem in stems for r in rows[stem]], len(directories)) + WHY
    last = -1
    for stem in stems:
        if paper_of(stem) != last:
            last = paper_of(stem)
            text += f"## {PAPERS[last][0]}\n\n"
        text += experiment_text(found[stem], stem, rows[stem])
    return text


# ---- the limits of this machine: plain `tutti bench`

LIMITS = """# Limits of this machine

This page compares the default method with the fastest possible access on one machine.  `make bench` writes it
(`experiments/tutti_experiments/results.py`); run it to get your own.  Two cores, shared with other programs: only ratios of variants
that are interleaved in one run are meaningful.  {settings}

- *Conforming limit*: every rank writes or reads one contiguous share in 4 MiB calls, open to close.
- *Bare references* for reads: `pread` of each piece, and a bare loop of shared staging; the faster one counts.
- *fresh*: open, plan, transfer, close.  *reused*: transfer and close; the file is open and the plan exists.
- *mapping*: copying out of a mapped file, for comparison.  A mapped file that shrinks meanwhile would crash the program, so Tutti does not use mappings.
- Goals: writes 1.30 of the limit (irregular 1.60), reads 1.15 of the faster bare reference.  Values that miss their goal are marked with *.
"""


def entry(cell, name):
    for e in cell["entries"]:
        if e["name"] in (name, name + ", page cache") and e.get("available", True) and e.get("median"):
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
        goal = c.get("goal", 1.3)
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
        goal = c.get("goal", 1.15)
        rows.append([c["pattern"], f"{limit['mib_per_second']:.0f}", show(ratio(c, "auto", bare), goal),
                     show(ratio(c, "auto, reused plan", bare), goal),
                     show(ratio(c, "auto", "conforming limit")), show(ratio(c, bare, "conforming limit")),
                     show(ratio(c, "bare mapping", "conforming limit"))] +
                    [show(ratio(c, p, "conforming limit")) for p in peers])
    return rows


def bench_part(runs, scaling):
    first = runs[0]
    text = LIMITS.format(settings=f"{first['size_per_rank'] >> 20} MiB a rank; medians of "
                                 f"{min(r['rounds'] for r in runs)} alternating rounds or more.") + "\n"
    for r in runs:
        for fs in dict.fromkeys(c["file_system"] for c in r["cells"]):
            cells = [c for c in r["cells"] if c["file_system"] == fs]
            place = "tmpfs" if fs == "tmpfs" else f"page cache ({fs})"
            text += f"## {r['ranks']} ranks, {place}, {r['mpi']}\n\n"
            for op, table in (("write", write_table), ("read", read_table)):
                some = [c for c in cells if c["operation"] == op]
                if some:
                    text += "Writes, time / time of the limit:\n\n" if op == "write" else "Reads:\n\n"
                    text += rows_text(table(some))
    if scaling:
        text += "## Planning for many ranks\n\nOne process simulates all ranks (`experiments/programs/plan_scaling.c`).\n\n"
        text += programs.markdown(report.load(scaling)) + "\n"
    return text


# ---- the page

def option(args, name):
    if name not in args:
        return None
    at = args.index(name)
    value = args[at + 1]
    del args[at:at + 2]
    return value


def main(args):
    page, scaling, apart = pathlib.Path(option(args, "--page")), option(args, "--scaling"), option(args, "--apart")
    if pathlib.Path(args[0]).is_dir():
        text = papers_page(args, int(apart or 60))
    else:
        text = bench_part([json.load(open(name, encoding="utf-8")) for name in args], scaling)
    page.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 4 or "--page" not in sys.argv:
        sys.exit(__doc__)
    main(sys.argv[1:])
