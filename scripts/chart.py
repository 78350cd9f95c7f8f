#!/usr/bin/env python3
"""chart.py [--check]   Draw docs/performance.svg from the table of docs/performance.md.

Each row of the first table becomes a bar: time of the other library / time of Tutti.  The figures have one source, the table.
--check compares the figures in the picture with the table and draws nothing.  Needs matplotlib (Debian: python3-matplotlib).
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PICTURE = DOCS / "performance.svg"


def rows():
    """Return (label, ratio as written) of the rows of the table."""
    text = (DOCS / "performance.md").read_text(encoding="utf-8").split("\n## Comparison", 1)[1].split("\n## ", 1)[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [(f"{case}: {library}", ratio) for case, library, _, _, ratio, _ in cells[2:]]


def draw(data):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "tutti", "font.family": "sans-serif", "font.size": 10})
    values = [float(ratio) for _, ratio in data]
    figure, axes = plt.subplots(figsize=(8.4, 4.6))
    axes.barh(range(len(data)), [value - 1 for value in values], left=1, color=["#2b6cb0" if v >= 1 else "#c05621" for v in values])
    for place, (value, (_, ratio)) in enumerate(zip(values, data)):
        axes.text(max(value, 1) * 1.04, place, ratio, va="center")
    axes.set_yticks(range(len(data)), [label for label, _ in data])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(0.7, 30)
    axes.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("time of the other library / time of Tutti (one machine with 2 cores; 4 ranks unless stated)")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.patch.set_facecolor("white")
    figure.savefig(PICTURE, bbox_inches="tight", metadata={"Date": None})


def main():
    data = rows()
    if sys.argv[1:] != ["--check"]:
        draw(data)
    shown = re.findall(r">([^<>]+)</text>", PICTURE.read_text(encoding="utf-8"))
    missing = [text for row in data for text in row if text not in shown]
    if len(data) < 5:
        sys.exit(f"chart.py: the table of performance.md has {len(data)} rows: must have at least 5")
    if missing:
        sys.exit(f"{PICTURE.name} does not show the table of performance.md: {missing}; run scripts/chart.py")


main()
