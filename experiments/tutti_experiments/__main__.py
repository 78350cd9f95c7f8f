#!/usr/bin/env python3
"""tutti-report FILE.json [--html FILE] [--csv FILE] [--json FILE]   Print the results of `tutti bench`, `tutti-experiments` or a
program of experiments/ as text.  --html: also write a page with figures; --csv: one line per timed run; --json: JSON with figures,
findings and hypotheses.  FILE.json may be "-" for standard input.  Exit code 1: a method failed, or a gate of an experiment does
not hold.
SPDX-License-Identifier: BSD-3-Clause"""
import argparse
import csv
import importlib.util
import json
import os
import pathlib
import sys

PARENT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:1] = [str(PARENT), str(PARENT / "share/tutti")]  # PARENT is experiments/, or the prefix of an installed bin/tutti-report
from tutti_experiments import programs, report  # noqa: E402

SYSTEM = "/usr/bin/python3"
COLUMNS = ["directory", "file_system", "pattern", "operation", "kind", "entry", "ranks", "bytes", "round", "seconds", "mib_per_second"]


def write_csv(r, path):
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f)
        out.writerow(COLUMNS)
        for c in r.get("cells", r.get("points")):
            for e in c["entries"]:
                out.writerows([*(c[k] for k in COLUMNS[:4]), e["kind"], e["name"], c["ranks"], c["bytes"], i, f"{s:.9f}",
                               f"{c['bytes'] / s / 2 ** 20:.3f}"] for i, s in enumerate(e["seconds"]))


def main():
    parser = argparse.ArgumentParser(prog="tutti-report", description=__doc__.replace("SPDX-License-Identifier: BSD-3-Clause", ""))
    parser.add_argument("file")
    for name in ("--html", "--csv", "--json"):
        parser.add_argument(name)
    words = parser.parse_args()
    if words.html and not importlib.util.find_spec("matplotlib") and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM) and os.path.exists(SYSTEM):
        # The Python of the system has matplotlib if the package of the Linux distribution is installed.
        os.execv(SYSTEM, [SYSTEM] + sys.argv)
    r = report.load(words.file)
    if r["format"] == "tutti-program-1":
        print(programs.text_of(r), end="")
        return
    is_bench = r["format"] == "tutti-bench-1"
    if words.html:
        from tutti_experiments import page
        pathlib.Path(words.html).write_text((page.bench_page if is_bench else page.experiment_page)(r), encoding="utf-8")
    if words.csv:
        write_csv(r, words.csv)
    if words.json:
        pathlib.Path(words.json).write_text(json.dumps(r, indent=1), encoding="utf-8")
    if not is_bench:
        print(report.text_of(r), end="")
    elif not words.html and not words.csv:
        sys.exit("tutti-report: no text report for results of 'tutti bench': use --html FILE or --csv FILE")
    sys.exit(1 if r["failures"] or r.get("broken") else 0)


if __name__ == "__main__":
    main()
