#!/usr/bin/env python3
"""results.py --page PAGE.md FILE.json... [--scaling TABLE.md]   brings docs/results.md up to date.

`make bench` and `make bench-papers` call it with the files that `tutti bench` and its experiments have written.  The
page consists of parts, each behind a comment with its name: `bench`, and one for each experiment's file.  Parts that
the files tell of are written anew, the others stay.

In the part `bench`, ratios are of median times; smaller is better, and 1.00 is the conforming limit (writes) or the
better of the two bare references (reads).
SPDX-License-Identifier: BSD-3-Clause
"""
import pathlib
import re
import json
import sys

INTRO = """# What this machine measures

Written by `make bench` and `make bench-papers` (`scripts/results.py`); run them to get your own.  Two cores, shared with
others: only ratios of things that alternate in one run mean anything.  First, the limits of this machine; then
[the papers' experiments](#the-papers-experiments).  {settings}

- *Conforming limit*: every rank writes or reads one contiguous share in 4 MiB calls, open to close.
- *Bare references* for reads: `pread` of each piece, and a bare loop of shared staging; the better one counts.
- *fresh*: open, plan, move, close.  *reused*: move and close, with the file open and the plan made before.
- *mapping*: copying out of a mapped file, shown beside; a file that shrinks meanwhile would be a crash, so Tutti does not do it.
- Goals: writes 1.30 of the limit (irregular 1.60), reads 1.15 of the better bare reference.  A * marks what misses its goal.
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


def rows_text(rows):
    return "".join("| " + " | ".join(r) + " |\n" for r in rows) + "\n"


def bench_part(runs, scaling):
    first = runs[0]
    text = INTRO.format(settings=f"{first['size_per_rank'] >> 20} MiB a rank; medians of "
                                 f"{min(r['rounds'] for r in runs)} alternating rounds or more.") + "\n"
    for r in runs:
        for fs in dict.fromkeys(c["file_system"] for c in r["cells"]):
            cells = [c for c in r["cells"] if c["file_system"] == fs]
            place = "tmpfs" if fs == "tmpfs" else f"page cache ({fs})"
            text += f"## {r['ranks']} ranks, {place}, {r['mpi']}\n\n"
            for op, table in (("write", write_table), ("read", read_table)):
                some = [c for c in cells if c["operation"] == op]
                if some:
                    text += "Writes, times over the limit's:\n\n" if op == "write" else "Reads:\n\n"
                    text += rows_text(table(some))
    if scaling:
        text += "## Planning for many ranks\n\nOne process plays all ranks (`bench/plan_scaling.c`).\n\n"
        text += pathlib.Path(scaling).read_text(encoding="utf-8") + "\n"
    return text


# ---- the experiments

HEADING = """## The papers' experiments

What each experiment does, and how to read its tables: [experiments.md](experiments.md).  Values are medians over rounds in
which all ways alternate; `tutti bench` keeps quartiles and every single time in its JSON, and draws the figures in its HTML.

Where this machine differs from the papers' clusters, and why:

- **Non-collective writes are not slow here.**  On the papers' machines every small write was a request to a disk or a server; here
  a page cache takes it for the price of a system call and a copy.  Steps 1 to 5 pay for messages inside one node, which are copies
  too, so that they cost more than they save; the gain of one step over the other is there, the gain over non-collective writes is not.
  Shared staging, which has no messages, is what `auto` takes.
- **A thread that does everything (`all`) competes for two cores** with the computation and with the other ranks' threads, as it
  did on two of Dickens and Thakur's four machines.  File access alone (`io-only`) hides nearly everything where it costs time (the
  slow disk), part of it where a fast device is driven by the same processors (O_DIRECT), and nothing through the page cache, where
  writing is copying.
- **Overlap of exchange and file access** gains where file access waits for a device, and loses through the page cache, where both
  are work of the same cores.
- **Common sections are read once**, and the counts say so; times follow only where requests cost time.  Thakur and Choudhary's ratios
  (3.7, 4.7, 8.8, 10.5, 36, 1.6 on 16 processors) came from disks behind a network.  Here the page cache has the bytes for the second
  reader, and a small request costs a microsecond: less than the ranks' agreement.  On a disk that takes 400 operations a second, time falls
  as much as requests do.
- **Which copy of a node is written** decides how many requests there are, by as much as in Filgueira and others' Table 4 if nodes are numbered
  along a curve.  There a request was a message to a server, here it is a system call of a microsecond or two: times of `list` and
  `independent` fall by a third to two thirds while nodes have few values, and two-phase writes, which collect them anyway, hardly change.
  A bare loop of these calls, without any library, gains 1.5 on 8 ranks and 1.4 on 4 in the median of loads up to 50: with a reused plan the library
  gains as much, and the goal of 1.8 is beyond this machine.
  On GlusterFS over hosts, where a request is a message again (`scripts/bench_hosts.sh --rate 2gbit -- tutti bench mesh ...`), they fall by 2 to 4.
- **Fences and locks** are shared memory underneath on one node, so that they lose less against messages than over InfiniBand.

"""
ORDER = ["steps", "overlap", "pipelines", "primitives", "sections", "mesh", "dataset", "auto"]
DEVICES = "bjt.msh mesa.msh fingers.msh power.msh"  # of scripts/meshes.sh
BY_RULES = "--part writes --method independent,list --rule own,idg --loads 1,5,10,25,50,100"
OVER_HOSTS = "mesa.msh --part writes --rule own,idg --dir MOUNT,build/run"
ARGUMENTS = {  # by the name of the report, where these say more than the experiment's name
    "paper-mesh": "fingers.msh --part writes",
    "paper-mesh-tables": f"{DEVICES} --part tables",
    "paper-dataset": "--part visible --dir /dev/shm",
    "paper-dataset-disk": "--part durable,buffers,meshes,commits,opening --size 8m",
    "paper-mesh-partitions": "fingers.msh --part writes --procs 4,7,8,10,14 --rule own,idg --loads 1,10,50,100",
    "paper-mesh-hosts-2gbit": f"{OVER_HOSTS} --loads 1,10,100",
    "paper-mesh-hosts-100mbit": f"{OVER_HOSTS} --loads 1,10,50",
    "paper-mesh-rules": f"{DEVICES} {BY_RULES}",
    "paper-mesh-rules-4": f"{DEVICES} {BY_RULES}",
}
GRADES = {"met": "**Goal met.** ", "missed": "**Goal missed.** ", "failed": "**Failed.** ", "plain": ""}


def megabytes(n):
    return f"{n / (1 << 20):g} MiB"


def settings_of(r):
    said = [f"{r['mpi']}", f"up to {max((p['ranks'] for p in r['points']), default=r['ranks'])} ranks"]
    if r["array"]:
        said.append(f"an array of {megabytes(r['array'])}")
    if r["size_per_rank"]:
        said.append(f"{megabytes(r['size_per_rank'])} a rank")
    least = min((max(len(e["seconds"]) for e in p["entries"]) for p in r["points"]), default=r["rounds"])
    said.append(f"{least} rounds or more")
    if "profile" in r:
        said.append("built-in numbers" if r["profile"] == "built-in" else "a profile by `tutti tune`")
    return ", ".join(said)


def is_direct(r):
    return r["options"]["direct_io"] not in ("0", "no", "false")


def value_text(v, decimals):
    if v is None:
        return "-"
    return v if isinstance(v, str) else f"{v['value']:.{decimals}f}"


def exhibit_table(x):
    """Tables with many columns and few rows lie on their side."""
    cells = [[value_text(v, x["decimals"]) for v in row] for row in x["values"]]
    rows, columns = x["rows"], x["columns"]
    if len(columns) > 6 and len(columns) > len(rows):
        rows, columns, cells = columns, rows, [list(c) for c in zip(*cells)]
    return rows_text([[x["axis"]] + columns, ["---"] + ["---:"] * len(columns)] +
                     [[name] + row for name, row in zip(rows, cells)])


def exhibit_text(x):
    unit = f", {x['unit']}" if x["unit"] else ""
    return f"**{x['title']}**{unit}.  {x['note']}\n\n" + exhibit_table(x)


def place_of(r, directory):
    systems = {p["file_system"] for p in r["points"] if p["directory"] == directory}
    return f"{directory} ({', '.join(sorted(systems))})" if systems else directory


def experiment_part(r, name):
    where = ", O_DIRECT" if is_direct(r) else ""
    where += ", shared memory" if name.endswith("-shm") else ""
    where += ", slow disk" if "throttled" in name else ""
    where += f", over hosts with links of {name.split('-')[-1]}" if "-hosts-" in name else ""
    where += ", by number of partitions" if name.endswith("-partitions") else ""
    where += ", counts" if name.endswith("-tables") else ", rules of all meshes" if "-rules" in name else ""
    command = f"{r['experiment']} {ARGUMENTS.get(name, '')}".strip()
    text = f"### {r['title']}{where}\n\n{r['source']}  `tutti bench {command}`: {settings_of(r)}.\n\n"
    text += "".join(f"- {GRADES[f['grade']]}{f['text']}\n" for f in r["findings"])
    if r["failures"]:
        text += f"- **{r['failures']} failed.**\n"
    text += "- Every byte was verified.\n\n" if r["points"] and not r["failures"] else "\n"
    for directory in dict.fromkeys(x["directory"] for x in r["exhibits"]):
        if directory:
            text += f"#### {r['experiment']}, {place_of(r, directory)}{where}\n\n"
        text += "".join(exhibit_text(x) for x in r["exhibits"] if x["directory"] == directory and x["rows"])
    text = re.sub(r"[^ ,()`]*/tutti-hosts\.\w+/mount", "MOUNT", text)  # bench_hosts.sh has given it a name
    return text.replace(f"{pathlib.Path.cwd()}/", "")  # paths of this tree from its top


# ---- the page

def read_parts(page):
    """The parts of a page, by name; a page without marks is the part `bench`."""
    if not page.exists():
        return {}
    found = re.split(r"^<!-- part: (\S+) -->\n", page.read_text(encoding="utf-8"), flags=re.M)
    parts = {"bench": found[0]} if found[0].strip() else {}
    for name, text in zip(found[1::2], found[2::2]):
        text = re.sub(r"^## The papers' experiments\n.*?(?=^### )", "", text, flags=re.M | re.S)
        parts[name] = text.strip("\n") + "\n\n"
    return parts


def order_of(name):
    """bench first, then the experiments in their order, whatever else their file is called."""
    known = [i for i, e in enumerate(ORDER) if e in name]
    return (name != "bench", known[0] if known else len(ORDER), name)


def write_page(page, parts):
    text, headed = "", False
    for name in sorted(parts, key=order_of):
        text += f"<!-- part: {name} -->\n"
        if name != "bench" and not headed:
            text, headed = text + HEADING, True
        text += parts[name].strip("\n") + "\n\n"
    page.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def option(args, name):
    if name not in args:
        return None
    at = args.index(name)
    value = args[at + 1]
    del args[at:at + 2]
    return value


def main(args):
    page, scaling = pathlib.Path(option(args, "--page")), option(args, "--scaling")
    parts, benches = read_parts(page), []
    for name in args:
        r = json.load(open(name, encoding="utf-8"))
        if r["format"] == "tutti-experiment-1":
            stem = pathlib.Path(name).stem
            parts[stem] = experiment_part(r, stem)
        else:
            benches.append(r)
    if benches:
        parts["bench"] = bench_part(benches, scaling)
    write_page(page, parts)


if __name__ == "__main__":
    if len(sys.argv) < 4 or "--page" not in sys.argv:
        sys.exit(__doc__)
    main(sys.argv[1:])
