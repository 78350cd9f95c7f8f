"""Figures as SVG for a page, drawn by matplotlib; without matplotlib, pages have tables only.

Medians are bars, marks or lines; whiskers are their intervals.  The colour of text is set by the style sheet of the page, so that
figures are readable on light and dark screens.
SPDX-License-Identifier: BSD-3-Clause"""
import io
import math
import re

try:
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "tutti", "font.size": 8, "axes.spines.top": False,
                                "axes.spines.right": False, "axes.edgecolor": "#8a94a6", "xtick.color": "#8a94a6", "ytick.color": "#8a94a6"})
    from matplotlib.figure import Figure
except ImportError:
    Figure = None

WIDTH = 4.6  # width of a figure in inches
PALETTE = ["#d6402f", "#ec8a3a", "#c08a1e", "#15964f", "#0f8f9e", "#8757d6", "#d1479b", "#8a5a3c", "#6fd39b", "#8db0ff"]
COLOURS = {"auto": "#2f66e8", "conforming": "#8a94a6", "sequential": "#8a94a6", "none": "#8a94a6", "MPI library": "#5b6576",
           "MPI begin/end": "#5b6576"}  # colours of the variants, the same in all figures
KINDS = {"limit": "#8a94a6", "pieces": "#c08a1e", "staging": "#0f8f9e", "mapping": "#8757d6", "peer": "#5b6576"}
METHODS = {"auto": ("#2f66e8", "#8db0ff"), "two-phase": ("#15964f", "#6fd39b"), "independent": ("#d6402f",), "list": ("#ec8a3a",),
           "sieve": ("#d1479b",), "root": ("#8a5a3c",)}  # colours for a fresh plan and for a reused plan


def colour_of(name, index):
    return COLOURS.get(name, PALETTE[index % len(PALETTE)])


def entry_colour(e):
    return KINDS.get(e["kind"]) or METHODS[e["method"]][-1 if e["reused_plan"] else 0]


def svg_of(figure, label):
    """Return the element <svg> of a figure, without references to other resources."""
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", pad_inches=0.03, transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg"):], flags=re.S)
    text = re.sub(r"<defs>\s*<style.*?</defs>", "", text, count=1, flags=re.S)
    return re.sub(r"<svg [^>]*?(viewBox=\"[^\"]*\")[^>]*>", rf'<svg \1 role="img" aria-label="{label}">', text, count=1)


def marked(artists):
    """Give the artists that show data the id "data", which tests search for."""
    for a in artists:
        a.set_gid("data")


def spread(values):
    """Return the medians, and the lengths of whiskers below and above."""
    return [v["value"] for v in values], [[v["value"] - v["low"] for v in values], [v["high"] - v["value"] for v in values]]


def numbers(x, column):
    """Return (row, value) of the numeric cells of a column."""
    return [(i, row[column]) for i, row in enumerate(x["values"]) if isinstance(row[column], dict)]


def draw_lines(x, axes):
    for c, name in enumerate(x["columns"]):
        cells = numbers(x, c)
        if cells:
            mids, whiskers = spread([v for _, v in cells])
            marked(axes.errorbar([i for i, _ in cells], mids, whiskers, color=colour_of(name, c), marker="o", ms=3, lw=1.4, elinewidth=0.8,
                                 label=name).lines[:1])
    axes.set_xticks(range(len(x["rows"])), x["rows"])
    axes.set_xlabel(x["axis"])
    axes.set_ylabel(x["unit"])
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))


def draw_bars(x, axes, columns):
    """Draw horizontal bars, which have space for long names."""
    height = 0.85 / len(columns)
    for k, c in enumerate(columns):
        cells = numbers(x, c)
        if cells:
            mids, whiskers = spread([v for _, v in cells])
            marked(axes.barh([i + (k - (len(columns) - 1) / 2) * height for i, _ in cells], mids, height * 0.9, xerr=whiskers, ecolor="#8a94a6",
                             error_kw={"lw": 0.8}, color=colour_of(x["columns"][c], c) if len(columns) > 1 else COLOURS["auto"],
                             label=x["columns"][c]))
    axes.set_yticks(range(len(x["rows"])), x["rows"])
    axes.invert_yaxis()
    axes.axvline(0, color="#8a94a6", lw=0.8)
    axes.set_xlabel(x["unit"])


def figure_plot(x):
    """Return the figure as SVG; "" for a table, or without matplotlib."""
    if not Figure or x["kind"] == "table" or not x["rows"]:
        return ""
    columns = [0] if x["kind"] == "rows" else list(range(len(x["columns"])))
    height = 2.7 if x["kind"] == "lines" else 0.5 + len(x["rows"]) * (0.1 + 0.12 * len(columns))
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_subplot()
    if x["kind"] == "lines":
        draw_lines(x, axes)
    else:
        draw_bars(x, axes, columns)
    if len(columns) > 1:
        figure.legend(*axes.get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3, fontsize=7, frameon=False)
    return svg_of(figure, x["id"])


def cell_plot(cell):
    """Draw the bandwidths of the entries of a pattern; quartiles as whiskers, the limit as a line."""
    entries = [e for e in cell["entries"] if e["seconds"]]
    if not Figure or not entries:
        return ""
    mib = cell["bytes"] / 2 ** 20
    figure = Figure(figsize=(WIDTH, 0.4 + 0.24 * len(entries)))
    axes = figure.add_subplot()
    mids = [mib / e["median"] for e in entries]
    whiskers = [[m - mib / e["q3"] for m, e in zip(mids, entries)], [mib / e["q1"] - m for m, e in zip(mids, entries)]]
    marked(axes.barh(range(len(entries)), mids, 0.7, xerr=whiskers, ecolor="#8a94a6", error_kw={"lw": 0.8}, color=[entry_colour(e) for e in entries]))
    names = [e["name"] + (f" · {e['to_limit']:.2f}×" if e.get("to_limit") else "") for e in entries]
    axes.set_yticks(range(len(entries)), names)
    axes.invert_yaxis()
    axes.set_xlabel("MiB/s")
    if entries[0]["kind"] == "limit":
        axes.axvline(mids[0], color="#8a94a6", lw=0.8, ls="--")
    return svg_of(figure, f"bandwidth of {cell['pattern']}")


def goal_ratio(cell):
    """Return the goal as a ratio to the limit: the goal of reads refers to the faster bare reference."""
    if cell["operation"] == "write":
        return cell["goal"]
    return next((cell["goal"] * e["to_limit"] / e["to_bare"] for e in cell["entries"] if e.get("to_bare") and e.get("to_limit")), 0)


def ratio_plot(cells):
    """Draw the ratios of times to the limit: a line per pattern, a mark per entry."""
    if not Figure:
        return ""
    figure = Figure(figsize=(WIDTH, 0.7 + 0.36 * len(cells)))
    axes = figure.add_subplot()
    seen = set()
    for i, cell in enumerate(cells):
        for e in reversed(cell["entries"]):
            if e.get("to_limit"):
                name = e["name"] if e["kind"] != "tutti" else e["method"] + (", reused plan" if e["reused_plan"] else "")
                marked(axes.plot(e["to_limit"], i, "o" if e["kind"] == "tutti" else "s", color=entry_colour(e), ms=4.5,
                                 label=None if name in seen else name))
                seen.add(name)
        if goal_ratio(cell) > 0:
            axes.plot(goal_ratio(cell), i, "|", color="#c62f24", ms=12, mew=2, label=None if "goal" in seen else "goal")
            seen.add("goal")
    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    ticks = range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)
    axes.set_xticks([2.0 ** t for t in ticks], [f"1/{2 ** -t}" if t < 0 else f"{2 ** t}×" for t in ticks])
    axes.minorticks_off()
    axes.axvline(1, color="#8a94a6", lw=0.8)
    axes.set_yticks(range(len(cells)), [c["pattern"] for c in cells])
    axes.set_ylim(len(cells) - 0.5, -0.5)
    figure.legend(*axes.get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3, fontsize=7, frameon=False)
    return svg_of(figure, "times over the limit")
