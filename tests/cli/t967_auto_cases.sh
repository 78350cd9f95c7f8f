#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,asan cores=2
# tutti-experiments auto --cases: a few random cases; the seed is printed and gives the same cases again; sizes are
# limited in a slow directory; both profiles; the report has the regret and every case that is slower than the MPI
# library; wrong arguments.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"

tutti 1 tune --quick --out tuned.profile . || fail "tune: exit code $?"
mkdir -p slow
run() {
    experiment 2 auto --cases 4 --seed "$1" --quick --rounds 2 --procs 2 --dir ".,slow" --slow slow --tuned tuned.profile --json "$2" || fail "exit code $?"
}
run 7 one.json
grep -q '4 cases of seed 7' err || fail 'the seed is not printed'
grep -q 'Regret of auto over' out || fail 'no regret'
run 7 two.json
run 8 three.json
python3 - <<'END' || bad=1
import json
KEYS = ("directory", "pattern", "operation", "size", "ranks", "cold", "case_profile")
runs = [json.load(open(f"{n}.json", encoding="utf-8")) for n in ("one", "two", "three")]
cases = [[tuple(p[k] for k in KEYS) for p in r["points"]] for r in runs]
assert len(cases[0]) == 4 and cases[0] == cases[1] and cases[0] != cases[2], cases
assert all(r["failures"] == 0 and r["seed"] == s for r, s in zip(runs, (7, 7, 8)))
for key, few in (("directory", {".", "slow"}), ("case_profile", {"default", "tuned"}), ("cold", {False, True}), ("operation", {"write", "read"})):
    assert {p[key] for p in runs[0]["points"]} == few, key
names = {e["name"] for e in runs[0]["points"][0]["entries"]}
assert {"auto", "independent", "list", "sieve", "root", "shm", "two-phase", "MPI library"} <= names, names
END

# Check the intervals of tutti-report for invented times.
PYTHONPATH=$here/experiments PYTHONDONTWRITEBYTECODE=1 python3 - <<'END' || bad=1
from tutti_experiments import regret
from tutti_experiments.judgement import Judgement


def point(peer):
    def entry(name, seconds, kind="tutti"):
        return {"name": name, "kind": kind, "seconds": seconds, "failure": "", "available": True}
    return {"figure": "writes", "directory": "d", "pattern": "ior", "operation": "write", "size": 4096, "ranks": 2, "cold": False,
            "case_profile": "default", "entries": [entry("auto", [1.0] * 8), entry("list", [1.0] * 8), entry("MPI library", peer, "peer")]}


j = Judgement({"points": [point([0.5] * 8), point([0.9] * 4 + [1.1] * 4), point([2.0] * 8), point([0.5] * 3)], "rounds": 8, "series": 1, "write": True,
               "read": False, "procs": [], "directories": ["d"], "options": {"direct_io": "0"},
               "parts": [{"part": "cases", "directory": "d", "cases": 4, "seed": 3, "missing_pairs": 9}]})
regret.judge(j)
text = "\n".join(f["text"] for f in j.findings)
assert "4 cases of seed 3; 9 pairs" in text and "Of 3 cases with an interval, 1 have one" in text, text
assert text.count("Slower than the MPI library") == 1 and "native / Tutti 0.50" in text and "1 cases have fewer than 6 rounds" in text, text
END

for wrong in '--cases 0' '--cases many' '--slow x' '--tuned x'; do
    # shellcheck disable=SC2086 # two words
    experiment 1 auto $wrong
    [ $? -eq 2 ] || fail "auto $wrong: no exit code 2"
done
finish
