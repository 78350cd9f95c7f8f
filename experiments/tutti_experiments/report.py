"""The text of a result of `tutti-experiments`, with findings and hypotheses.

SPDX-License-Identifier: BSD-3-Clause"""
import json
import os
import sys
import textwrap

from . import series, datasets, meshes, overlap, regret, sections, steps
from .judgement import Judgement

JUDGES = {"steps": steps.judge, "overlap": overlap.judge, "pipelines": series.judge_pipelines, "primitives": series.judge_primitives,
          "sections": sections.judge, "auto": regret.judge, "mesh": meshes.judge, "dataset": datasets.judge, "exodus": datasets.judge_exodus}


def load(path):
    """Load the result in a file ("-": standard input); for an experiment, add figures, findings, hypotheses and failed gates."""
    with sys.stdin if path == "-" else open(path, encoding="utf-8") as f:
        r = json.load(f)
    if "experiment" in r and "figures" not in r:
        j = Judgement(r)
        JUDGES[r["experiment"]](j)
        j.report_load()
        j.report_failures()
        j.report_outliers()
        j.report_rounds()
        r.update(figures=j.figures, findings=j.findings, hypotheses=j.hypotheses, broken=j.broken)
    return r


def value_text(value, decimals):
    return "-" if value is None else value if isinstance(value, str) else f"{value['value']:.{decimals}f}"


def turned(x):
    """Return the transposed table."""
    return dict(x, rows=x["columns"], columns=x["rows"], values=[list(c) for c in zip(*x["values"])])


def measured_lines(r):
    m = r["measured"]
    return [f"{m['date']}, host {m['host']}, {m['processors']} x {m['processor'] or 'processor'}, {m['kernel']}, load {m['load']:.1f}",
            *(f"{where}: {mount}" for where, mount in m["mounts"].items()), m["command"]]


# ---- text

def wrapped(text, indent=0):
    return textwrap.fill(text, int(os.environ.get("COLUMNS", 0)) or 100, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2),
                         break_long_words=False, break_on_hyphens=False) + "\n"


def table_lines(x):
    cells = [[""] + x["columns"]] + [[name] + [value_text(v, x["decimals"]) for v in row] for name, row in zip(x["rows"], x["values"])]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return ["  " + row[0].ljust(widths[0]) + "".join("  " + c.rjust(max(w, 5)) for c, w in zip(row[1:], widths[1:])) for row in cells]


def figure_table_text(x):
    text = f"{x['title']}{': ' if x['unit'] else ''}{x['unit']}\n" + (wrapped(x["note"], 2) if x["note"] else "")
    if not x["rows"]:
        return text + "  nothing could be measured\n\n"
    lines = min((table_lines(x), table_lines(turned(x))), key=lambda t: max(len(t[0]) - (int(os.environ.get("COLUMNS", 0)) or 100), 0))
    return text + "\n".join(lines) + "\n\n"


def hypothesis_text(c):
    said = "too few rounds" if c["low"] is None else c["above"] if c["low"] > c["than"] else c["below"] if c["high"] < c["than"] else \
        "no difference shown"
    bounds = "" if c["low"] is None else f" ({c['low']:.2f} to {c['high']:.2f})"
    return wrapped(f"{c['where']}: {c['what']}: {c['value']:.2f}{bounds} {c['unit']} of {c['rounds']} rounds: {said}", 2)


def text_of(r):
    text = f"{r['title']}\n{r['source']}\nTutti {r['version']}, {r['mpi']}, up to {r['most_ranks']} rank{'s' * (r['most_ranks'] != 1)}\n"
    text += "".join(map(wrapped, measured_lines(r))) + "\n"
    where = ""
    for x in r["figures"]:
        if x["directory"] not in ("", where):
            text += f"==== in {x['directory']}\n\n"
            where = x["directory"]
        text += figure_table_text(x)
    for f in r["findings"]:
        text += wrapped({"met": "goal met: ", "missed": "GOAL MISSED: "}.get(f["grade"], "") + f["text"])
    if r["hypotheses"]:
        text += wrapped("Hypotheses of this run: medians over rounds, 95 % intervals (bootstrap).  They are verdicts where a second run agrees (results.py).")
        text += "".join(map(hypothesis_text, r["hypotheses"])) + "\n"
    if r["failures"]:
        text += f"{r['failures']} FAILED, in {r['elapsed']:.1f} s.\n"
    elif r["points"]:
        text += f"Every byte was verified, in {r['elapsed']:.1f} s.\n"
    return text
