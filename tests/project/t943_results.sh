#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi
# results.py gives a verdict for synthetic files only if two runs at least an hour apart agree.  Its page is checked for one
# run and for two runs.
# SPDX-License-Identifier: BSD-3-Clause
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
PYTHONPATH=$top/experiments/tutti_experiments PYTHONDONTWRITEBYTECODE=1 python3 - "$top" <<'END'
import datetime
import json
import pathlib
import subprocess
import sys
import results

HOUR = datetime.datetime(2026, 1, 1)
NOON = HOUR + datetime.timedelta(hours=2)


def hypothesis(value, low, high, than=1, what="time of a over that of b"):
    return {"what": what, "where": "here", "unit": "times", "above": "b is faster", "below": "a is faster", "value": value,
            "low": low, "high": high, "than": than, "rounds": 7}


def check(hypotheses, expected, holds, dates=(HOUR, NOON), apart=60):
    got = results.verdict(hypotheses, dates, apart)
    assert got == (expected, holds), (hypotheses, got)


up, down, both = hypothesis(1.5, 1.2, 1.9), hypothesis(0.5, 0.4, 0.9), hypothesis(1.1, 0.9, 1.3)
check([up, hypothesis(1.3, 1.1, 1.6)], "b is faster", True)
check([down, hypothesis(0.8, 0.7, 0.99)], "a is faster", True)
check([up, down], results.NO_DIFFERENCE, False)
check([up, both], results.NO_DIFFERENCE, False)
check([both, both], results.NO_DIFFERENCE, False)
check([up, hypothesis(1.2, 1, 1.4)], results.NO_DIFFERENCE, False)  # the value is within the bounds of no difference
check([hypothesis(75, 71, 80, 70), hypothesis(90, 72, 95, 70)], "b is faster", True)
check([up, up, both], results.NO_DIFFERENCE, False, (HOUR, NOON, NOON))
check([up, up, up], "b is faster", True, (HOUR, NOON, NOON))
check([up], results.WAITS, False, (HOUR,))
check([up, None], results.WAITS, False, (HOUR, None))
check([up, up], results.WAITS, False, (HOUR, HOUR + datetime.timedelta(minutes=59)))
check([up, up], "b is faster", True, (HOUR, HOUR + datetime.timedelta(minutes=59)), 30)
check([up, hypothesis(1.5, None, None)], results.NO_BOUNDS, False)


def write(run, date, hypotheses, values):
    r = {"format": "tutti-experiment-1", "version": "0", "mpi": "MPI", "ranks": 4, "rounds": 7, "failures": 0,
         "experiment": "steps", "title": "Steps", "source": "After a paper.", "points": [], "hypotheses": hypotheses,
         "measured": {"date": date, "host": "h", "processor": "p", "processors": 2, "kernel": "k", "load": 0,
                      "command": "tutti-experiments steps --dir d", "mounts": {"d": "ext4 on /dev/x (rw)"}},
         "findings": [{"grade": "met", "text": "Counts hold (gate: 4)."}, {"grade": "plain", "text": "Gossip."},
                      {"grade": "plain", "text": "Outliers: 1 of 7."}],
         "figures": [{"id": "processes", "directory": "d", "kind": "lines", "title": "Bandwidth", "note": "As there.",
                       "axis": "processes", "unit": "MiB/s", "decimals": 0, "rows": ["2", "4"], "columns": ["step 1"],
                       "values": [[{"value": v, "low": v, "high": v}] for v in values]}]}
    pathlib.Path(run).mkdir(exist_ok=True)
    json.dump(r, open(f"{run}/paper-steps.json", "w", encoding="utf-8"))


# Parts of paths that depend on the tree or the run are removed or replaced.
assert results.tidy("x, /a/b/build/run/slow, y") == "x, build/run/slow, y"
assert results.tidy("/tmp/tutti-hosts.Ab1/mount, writes") == "MOUNT, writes"
assert results.tidy("ext4 on /dev/vda (rw); /dev/shm; build/run") == "ext4 on /dev/vda (rw); /dev/shm; build/run"


def page(*runs):
    subprocess.run([sys.argv[1] + "/experiments/tutti_experiments/results.py", "--page", "page.md", *runs], check=True)
    return pathlib.Path("page.md").read_text(encoding="utf-8")


other = hypothesis(1.05, 0.9, 1.2, what="time of c over that of d")
write("one", "2026-01-01T10:00:00Z", [up, other], [10, 20])
write("two", "2026-01-01T12:00:00Z", [hypothesis(1.4, 1.1, 1.6), other], [11, 20])
text = page("one")
assert "verdicts wait for a second run" in text and "**b is faster**" not in text and "| waits for a second run |" in text, text
text = page("one", "two")
summary = text[text.index("## Verdicts"):text.index("## Differences between this machine")]
assert "1 of 2 comparisons" in summary and "**b is faster**" in summary and "c over" not in summary, summary
assert "1.50 (1.20 to 1.90) | 1.40 (1.10 to 1.60)" in summary, summary
body = text[text.index("### steps"):]
assert "| no difference shown |" in body and "tutti-experiments steps --dir d" in body and "ext4 on /dev/x" in body, body
assert "| 2 | 10 / 11 |" in body and "| 4 | 20 |" in body, body
assert "Counts hold" in body and "Run 1: Outliers" in body and "Gossip" not in text
assert "2026-01-01T10:00:00Z" in text and "2026-01-01T12:00:00Z" in text
END
