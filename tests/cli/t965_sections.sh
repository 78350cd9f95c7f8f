#!/bin/sh
# TEST ranks=0 timeout=120 builds=mpich,asan cores=2
# tutti-experiments sections on 3 ranks: every variant of every section is verified, counts have the computed values,
# and gates hold; with a violated gate the exit status is 1; every report.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"

experiment 3 sections --quick --rounds 1 --json s.json --csv s.csv --html s.html || fail "exit code $?"
grep -q 'Every byte was verified' out || fail 'no word of verification'
grep -q 'common sections are read once: requests fall at least' out || fail 'no word of the gates'
python3 - <<'END' || bad=1
import csv, json
r = json.load(open("s.json", encoding="utf-8"))
assert r["experiment"] == "sections" and r["failures"] == 0 and r["ranks"] == 3
ids = {x["id"] for x in r["figures"]}
for part in ("common", "overlapping", "distinct"):
    for op in ("reads", "writes"):
        assert {f"{part} {op}", f"{part} {op}, counts"} <= ids, ids
assert {"distributions reads", "distributions writes, ratios", "table 1"} <= ids, ids
number = {"common": 6, "overlapping": 10, "distinct": 4, "distributions": 7}
for figure, n in number.items():
    for op in ("read", "write"):
        assert len([p for p in r["points"] if p["figure"] == figure and p["operation"] == op]) == n, (figure, op)
for p in r["points"]:
    variants = {e["name"]: e for e in p["entries"]}
    assert {"direct", "extended two-phase"} <= set(variants) and p["ranks"] == 3
    if p["figure"] != "distributions":
        more = {"read": {"direct, sieved", "extended, all holes", "default"},
                "write": {"extended two-phase, rmw", "default", "default, rmw"}}
        assert more[p["operation"]] <= set(variants), set(variants)
    for e in p["entries"]:
        assert e["verified"] and not e["failure"] and len(e["seconds"]) == 1, (p["pattern"], e)
    if p["figure"] != "common":
        continue
    op = p["operation"]
    d, e = (variants[w]["stats"] for w in ("direct", "extended two-phase"))
    # direct access has one request per column and rank, the extended method one per column for all three ranks
    assert d[f"file_{op}s"] == p["runs"] and e[f"file_{op}s"] * 3 == p["runs"], (p["pattern"], p["runs"], d, e)
    assert d[f"file_{op}_bytes"] == d["bytes"] == e["bytes"] == 3 * e[f"file_{op}_bytes"], (p["pattern"], d, e)
grades = [f["grade"] for f in r["findings"]]
assert grades.count("met") >= 3, r["findings"]
ratios = next(x for x in r["figures"] if x["id"] == "common reads, counts")
assert [row[ratios["columns"].index("in the paper")] for row in ratios["values"]] == \
    ["3.74", "4.69", "8.82", "10.46", "36.47", "1.61"]
rows = list(csv.DictReader(open("s.csv", encoding="utf-8")))
assert {row["operation"] for row in rows} == {"read", "write"} and all(float(row["seconds"]) > 0 for row in rows)
text = open("s.html", encoding="utf-8").read()
assert text.count("<svg") == 8 and "Thakur and Choudhary" in text and "http" not in text
END

# By the alias paper3, with O_DIRECT: sections of whole blocks.  Then a violated gate: holes between columns are read.
experiment 2 paper3 --quick --rounds 1 --part common --op read --array 8m --direct-io 1 || fail "direct: exit code $?"
grep -q 'I (1:512:1, 1:25:1)' out || fail 'no whole blocks'
experiment 2 sections --quick --rounds 1 --part common --op read --sieve-gap 64k
[ $? -eq 1 ] || fail 'a gate that does not hold should give exit code 1'
grep -q 'GOAL MISSED.*common sections are read once' out || fail 'no word of the gate'
if [ -z "${TUTTI_SANITIZE:-}" ]; then
    for wrong in '--part most' '--iops 0' '--array 3' '--pattern block2d'; do
        # shellcheck disable=SC2086 # two words
        experiment 1 sections $wrong
        [ $? -eq 2 ] || fail "$wrong: no exit code 2"
    done
fi
finish
