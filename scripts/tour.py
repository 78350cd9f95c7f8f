#!/usr/bin/env python3
"""tour.py [--small] [--by metis|rcb] BUILD DIR REPORT   Demonstrate the library within a minute (`make run`), and write a page with figures:

  1. patterns that four ranks write and read, compared with the calls of the MPI library
  2. a mesh whose partitions share nodes: intervals if owners write the nodes, and with the writers chosen by idg2
  3. a dataset written on two ranks, verified and resumed on four, with the same values as without interruption

BUILD contains the command and the examples; files are written in DIR.  Values are medians, with the 95 % interval of the median in
brackets (of fewer than six runs: minimum and maximum; of ratios: by resampling rounds).  If the interval of a ratio contains 1, the
page says that no difference is shown.  The exit code is not 0 if idg2 has more than a third of the intervals of own.  --by: the
partitioner of the mesh (default: metis, or rcb if the library has no METIS).  --small: small sizes, for the tests.
SPDX-License-Identifier: BSD-3-Clause"""
import argparse
import base64
import html
import json
import math
import pathlib
import shutil
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOP / "experiments")]
from tutti_experiments import page  # noqa: E402
from tutti_experiments.intervals import median, ratio, sign_bounds  # noqa: E402

MPI, RANKS = "openmpi", 4
REPORT = TOP / "experiments/tutti_experiments/__main__.py"


# ---- running

def run(ranks, *command, quiet=False):
    """Print and run a command on this number of ranks (0: without mpirun); return its output."""
    words = [str(w) for w in command]
    shown = " ".join([f"mpirun -n {ranks}"] * (ranks > 0) + [pathlib.Path(words[0]).name] + words[1:])
    print(f"$ {shown}", flush=True)
    before = [str(TOP / "scripts/mpirun.sh"), MPI, str(ranks)] if ranks else []
    done = subprocess.run(before + words, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        sys.exit(f"{shown} failed with exit code {done.returncode}\n{done.stdout}{done.stderr}")
    if not quiet:
        print("".join(f"  {line}\n" for line in done.stdout.splitlines()), end="", flush=True)
    return done.stdout


# ---- figures

def bounds(values):
    """Return the 95 % interval of the median by the sign test; minimum and maximum if there are too few values."""
    return sign_bounds(values, 0.025) or (min(values), max(values))


def verdict(ours, theirs, name):
    """Return (text, class) for two lists of seconds of the same rounds."""
    if len(ours) < 5:
        return f"{median(theirs) / median(ours):.2f} times as fast as {name}, in too few rounds to tell", ""
    mid, low, high = ratio(theirs, ours)
    if low > 1:
        return f"{mid:.2f} times as fast as {name} ({low:.2f} to {high:.2f})", "yes"
    if high < 1:
        return f"{name} is {1 / mid:.2f} times as fast ({1 / high:.2f} to {1 / low:.2f})", "no"
    return f"no difference to {name} is shown ({low:.2f} to {high:.2f})", ""


# ---- pieces of the page

def bar_rows(rows, unit, scale):
    """Return bars of the medians of scale(seconds), with intervals.  rows: (name, seconds, whether Tutti was measured)."""
    most = max(max(scale(s) for s in bounds(seconds)) for _, seconds, _ in rows)
    text = ""
    for name, seconds, ours in rows:
        low, high = sorted(scale(s) for s in bounds(seconds))
        mid = scale(median(seconds))
        text += (f'<div class="row{" ours" if ours else ""}"><span class="n">{html.escape(name)}</span><span class="track">'
                 f'<span class="bar" style="width:{100 * mid / most:.1f}%"></span>'
                 f'<span class="w" style="left:{100 * low / most:.1f}%;width:{max(100 * (high - low) / most, .4):.1f}%"></span></span>'
                 f'<span class="v">{mid:,.{0 if mid >= 100 else 2}f} {unit}<br><small>{low:,.{0 if low >= 100 else 2}f} to '
                 f'{high:,.{0 if high >= 100 else 2}f}</small></span></div>\n')
    return text


def card(title, note, body, said=None):
    return page.card(title, note, body + (f'<p class="verdict {said[1]}">{html.escape(said[0])}</p>' if said else ""))


def picture(path, text, style):
    """Return a figure with a picture as the data of an <img>, so that styles of an SVG do not affect the page."""
    kind = {".svg": "svg+xml", ".png": "png"}[path.suffix]
    data = base64.b64encode(path.read_bytes()).decode()
    image = f'<img class="{style}" alt="{html.escape(text)}" src="data:image/{kind};base64,{data}">'
    return f"<figure>{image}<figcaption>{html.escape(text)}</figcaption></figure>"


def terms(*rows):
    """Return a list of the terms of the page with explanations."""
    return "<dl>" + "".join(f"<dt>{html.escape(word)}</dt><dd>{html.escape(text)}</dd>" for word, text in rows) + "</dl>"


# ---- 1: patterns

PATTERNS = {"block2d": "blocks of a 2-D array", "strided": "every fourth record of an array per rank", "flash": "24 variables of small cubes with ghost cells"}


def pattern_card(cell, note):
    """Return the card with the times of one operation on one pattern."""
    entries = {e["name"]: e["seconds"] for e in cell["entries"] if e["seconds"]}
    peer = f"MPI_File_{cell['operation']}_all"
    names = (("Tutti", "auto", True), ("Tutti, reused plan", "auto, reused plan", True), (peer, peer, False),
             ("contiguous, at best", "conforming limit", False))
    rows = [(shown, entries[name], ours) for shown, name, ours in names if name in entries]
    said = verdict(entries["auto"], entries[peer], peer)
    print(f"  {cell['operation']:5} {cell['pattern']:8} {said[0]}{note}")
    text = (f"{PATTERNS[cell['pattern']]}: {cell['bytes'] / 2 ** 20:.0f} MiB of {RANKS} ranks in {cell['runs']:,} pieces, {len(rows[0][1])} rounds{note}; "
            "bandwidth, longer is faster")
    return card(f"{cell['operation']} {cell['pattern']}{note}", text, bar_rows(rows, "MiB/s", lambda s: cell["bytes"] / 2 ** 20 / s), said)


def durable(tutti, out, small):
    """Return the card of a measurement that includes the device."""
    size = ["--size", "64k", "--rounds", "2"] if small else ["--size", "4m", "--rounds", "9", "--budget", "6"]
    run(RANKS, tutti, "bench", "--pattern", "block2d", "--op", "write", "--method", "auto", "--peers", "--fsync", *size, "--dir", out,
        "--json", out / "durable.json", quiet=True)
    return pattern_card(json.loads((out / "durable.json").read_text(encoding="utf-8"))["cells"][0], ", with fsync")


def patterns(tutti, out, to, small):
    size = ["--size", "64k", "--rounds", "2"] if small else ["--size", "4m", "--rounds", "15", "--budget", "18"]
    details = to.with_name(to.stem + "-patterns.html")
    run(RANKS, tutti, "bench", "--pattern", "block2d,strided,flash", "--method", "auto", "--peers", *size, "--dir", out,
        "--json", out / "patterns.json", quiet=True)
    run(0, REPORT, out / "patterns.json", "--html", details, quiet=True)
    result = json.loads((out / "patterns.json").read_text(encoding="utf-8"))
    cards = "".join(pattern_card(cell, "") for cell in result["cells"]) + durable(tutti, out, small)
    return (f'<h2>Patterns, beside the MPI library\'s own calls</h2><p>Four processes write and read one file; every byte is checked. Times are from the first '
            f'open to the last close. <b>These are figures of the page cache</b>: the data is in the memory of the kernel, not on the device. The card '
            f'<i>with fsync</i> includes the device. <a href="{details.name}">All times</a>.</p>'
            + terms(("block2d", "A 2-D array of 4-byte elements; each rank has one rectangular block."),
                    ("strided", "An array of 256-byte records; of four ranks each has every fourth record."),
                    ("flash", "Blocks of 8 x 8 x 8 doubles of 24 variables, as in the FLASH code; in memory each block has 4 layers of ghost cells around it."),
                    ("Tutti", "tutti_file_write or tutti_file_read with default options: the library plans and chooses the method."),
                    ("reused plan", "The plan of the access (which rank sends which bytes where) is made once and used in every round, as for output in every "
                     "time step."),
                    ("contiguous, at best", "The same number of bytes, but each rank writes or reads one contiguous share by plain system calls: a bound for any "
                     "method."))
            + f'<div class="grid">{cards}</div>'), result


# ---- 2: a mesh

def make_mesh(path, side):
    """Write a mesh of hexahedra, three quarters of a pipe, in Gmsh's format 2.2."""
    def number(i, j, k):
        return (i * side + j) * side + k + 1

    corners = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
    every = [(i, j, k) for i in range(side) for j in range(side) for k in range(side)]
    cells = [at for at in every if max(at) + 1 < side]
    with open(path, "w", encoding="ascii") as f:
        f.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(every)}\n")
        for i, j, k in every:
            angle, radius = 1.5 * math.pi * j / (side - 1), 1 + 1.2 * i / (side - 1)
            f.write(f"{number(i, j, k)} {radius * math.cos(angle):.6f} {radius * math.sin(angle):.6f} {2 * k / (side - 1):.6f}\n")
        f.write(f"$EndNodes\n$Elements\n{len(cells)}\n")
        for n, (i, j, k) in enumerate(cells):
            f.write(f"{n + 1} 5 2 1 1 " + " ".join(str(number(i + a, j + b, k + c)) for a, b, c in corners) + "\n")
        f.write("$EndElements\n")


def division(tutti, path, by):
    """Return (report of tutti mesh owners, partition and order of the mesh, intervals by rule); ends the program if idg2 saves too little."""
    order = ["--order", "curve", "--rule", "own,idg2"]
    owners = json.loads(run(0, tutti, "mesh", "owners", path, "--parts", RANKS, "--by", by, *order, "--json", quiet=True))
    count = {rule: owners["rules"][rule]["intervals"] for rule in ("own", "idg2")}
    if 3 * count["idg2"] > count["own"]:
        sys.exit(f"partitioner {owners['by']}: rule idg2 has {count['idg2']} intervals, rule own {count['own']}: expected at most a third")
    return owners, ["--by", owners["by"], *order], count  # the partitioner used: METIS may be missing


def mesh(tutti, out, to, small, by):
    make_mesh(out / "pipe.msh", 8 if small else 26)
    rounds = ["--rounds", "2"] if small else ["--rounds", "25", "--budget", "8"]
    details = to.with_name(to.stem + "-mesh.html")
    owners, how, count = division(tutti, out / "pipe.msh", by)
    run(0, tutti, "mesh", "plot", out / "pipe.msh", "--parts", RANKS, *how, "--out", out / "pipe.svg", quiet=True)
    run(RANKS, f"{tutti}-experiments", "mesh", out / "pipe.msh", "--part", "writes", *how, "--loads", "1", "--method", "independent,list", "--plan", "fresh",
        *rounds, "--dir", out, "--json", out / "mesh.json", quiet=True)
    run(0, REPORT, out / "mesh.json", "--html", details, quiet=True)
    result = json.loads((out / "mesh.json").read_text(encoding="utf-8"))
    entries = {e["name"]: e["seconds"] for e in result["points"][0]["entries"] if e["seconds"]}
    cards = ""
    for method in ("bare", "independent", "list"):
        own, idg2 = entries[f"{method} own"], entries[f"{method} idg2"]
        said = verdict(idg2, own, "the owners' choice")
        print(f"  mesh, {method:11} idg2: {said[0]}")
        what = {"bare": "a loop of system calls, one per interval", "independent": "one call per interval (method independent)",
                "list": "many intervals per call (method list)"}[method]
        cards += card(f"mesh write, {method}", f"{what}; {len(own)} rounds; time, shorter is faster",
                      bar_rows([("as owned", own, False), ("by idg2", idg2, True)], "ms", lambda s: 1e3 * s), said)
    name = {"metis": "METIS", "rcb": "recursive coordinate bisection"}.get(owners["by"], owners["by"])
    told = f"Here, divided by {name}, the file is written in {count['own']} intervals as owned and in {count['idg2']} by idg2."
    print(f"  mesh by {owners['by']}: {owners['nodes']} nodes, {owners['shared']} on borders; {count['own']} intervals as owned, {count['idg2']} by idg2")
    return (f'<h2>A mesh: which process writes a shared node?</h2><p>Partitions of a mesh share the nodes on their borders, and one process has to write each of '
            f'them. {told} These are figures of the page cache, too. <a href="{details.name}">All times</a>.</p>'
            + terms(("interval", "A run of nodes that follow each other in the file and are written by one process: one request, if nothing merges them."),
                    ("own", "Every node is written by the process that the partitioner made its owner."),
                    ("idg2", "Interval Data Grouping: a shared node is written by the process that makes the intervals longest, so that there are as few as "
                     "possible."))
            + '<div class="grid">'
            + card("which process writes which node", f"one colour per process; {owners['nodes']:,} nodes, divided by {name}, numbered along Hilbert's curve",
                   picture(out / "pipe.svg", "Below: the file from its first to its last node, one row per process; a row is coloured where its process writes, "
                           "as owned (own) and by idg2.", "white"))
            + f'<div class="stack">{cards}</div></div>')


# ---- 3: a dataset

def dataset(tutti, step6, out, small):
    steps = 150 if small else 400
    lines = []

    def say(ranks, *command):
        text = run(ranks, *command)
        name = " ".join([f"mpirun -n {ranks}"] * (ranks > 0) + [pathlib.Path(str(command[0])).name] + [str(c).replace(f"{out}/", "") for c in command[1:]])
        lines.append(f"$ {name}\n" + (text.replace(f"{out}/", "") or "(no difference)\n"))

    say(2, step6, out / "plate.tutti", steps)
    say(2, tutti, "verify", out / "plate.tutti")
    say(RANKS, step6, out / "plate.tutti", steps)
    say(RANKS, tutti, "verify", out / "plate.tutti")
    run(1, step6, out / "once.tutti", 2 * steps, quiet=True)
    say(0, tutti, "diff", out / "plate.tutti", out / "once.tutti")
    run(0, tutti, "plot", out / "plate.tutti", "-v", "temperature", "-s", "latest", "-o", out / "plate.png", quiet=True)
    run(0, tutti, "plot", out / "plate.tutti", "-v", "temperature", "-o", out / "plate.svg", quiet=True)
    return ('<h2>A dataset: written on 2 processes, verified, resumed on 4</h2><p>A plate whose hot middle cools down. Each state is committed atomically, with '
            'checksums and fsync. The second run reads the last state on twice as many processes; a run on one process without a stop has the same values, '
            'as <code>tutti diff</code> finds.</p><div class="grid">'
            + card("the last state", "tutti plot -v temperature -s latest",
                   picture(out / "plate.png", "96 x 96 grid cells; the colour bar is the temperature in K, from least to largest", "pixels"))
            + '<div class="stack">'
            + card("least, mean and largest temperature over time", "tutti plot -v temperature",
                   picture(out / "plate.svg", f"both runs, one after the other; 0.1 units of time per step, {2 * steps} steps, every tenth is written", "white"))
            + card("what was run", "", f"<pre>{html.escape(''.join(lines))}</pre>") + "</div></div>")


# ---- main

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--by", choices=("metis", "rcb"), default="metis")
    for name in ("build", "dir", "report"):
        parser.add_argument(name, type=pathlib.Path)
    words = parser.parse_args()
    build, out, to, small = words.build.resolve(), words.dir, words.report, words.small
    out.mkdir(parents=True, exist_ok=True)
    for name in ("plate.tutti", "once.tutti"):
        shutil.rmtree(out / name, ignore_errors=True)
    began = time.monotonic()
    tutti, step6 = build / "tutti", build / "tests/examples/step6_dataset"
    first, result = patterns(tutti, out, to, small)
    body = first + mesh(tutti, out, to, small, words.by) + dataset(tutti, step6, out, small)
    m = result["measured"]
    facts = (f"{m['date']}, {m['processors']} x {m['processor'] or 'processor'}, {m['kernel']}, load {m['load']:.1f}, {result['mpi']}, "
             f"{next(iter(m['mounts'].values()))}; Tutti {result['version']}")
    to.write_text(page.page("Tutti on this machine", f"{facts}. Figures are medians; whiskers and brackets are 95 % intervals of the median (of fewer than six "
                            "runs: minimum and maximum). Every byte "
                            "was verified.", body + "<h2>Again</h2><pre>make run          # this page\nmake run-heat     # finite elements, for ParaView\n"
                            "make run-bipolar  # a transistor\nmake bench        # all patterns</pre>"), encoding="utf-8")
    for name in ("plate.tutti", "once.tutti"):
        shutil.rmtree(out / name, ignore_errors=True)
    print(f"{time.monotonic() - began:.0f} s; report to open: {to.resolve()}")


if __name__ == "__main__":
    main()
