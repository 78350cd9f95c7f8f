#!/bin/sh
# TEST ranks=0 timeout=120 builds=mpich,asan cores=2
# tutti-experiments mesh: every rule and configuration writes the same bytes on 2 ranks, which the command verifies, and
# reports the same counts for a mesh in a file as `tutti mesh owners`; every figure and report; a missing mesh; wrong
# usage.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/../cli/common.sh"

rules=own,random,first,idg,idg2
experiment 2 mesh --quick --nodes 800 --rounds 1 --rule $rules --loads 3 --op all \
    --json m.json --csv m.csv --html m.html || fail "exit code $?"
grep -q 'Every byte was verified' out || fail 'no word of verification'
grep -q 'list, loads up to 50: own takes' out || fail 'no word of the goals'
python3 - <<'END' || bad=1
import csv, json
r = json.load(open("m.json", encoding="utf-8"))
assert r["experiment"] == "mesh" and r["failures"] == 0 and r["ranks"] == 2
rules, methods = "own random first idg idg2".split(), "root independent list two-phase auto".split()
shown = {x["id"]: x for x in r["figures"]}
for order in ("curve", "rcm", "file"):
    for what in ("intervals", "of a partition", "length", "length by partition"):
        x = shown[f"{what}, {order}"]
        assert x["rows"] == ["box, 8", "box, 16"] and x["columns"][:5] == rules, x
    for own, _, _, idg, idg2, *_ in shown[f"intervals, {order}"]["values"]:
        assert int(own) >= int(idg) >= int(idg2) >= 8, (order, own, idg, idg2)
for name in ("meshes", "replication", "balance", "balance, bytes", "balance, nodes", "inspector", "inspectors",
             "gain of idg", "gain of idg2, least", "box 2 rules with list"):
    assert shown[name]["rows"], name
assert shown["meshes"]["values"][0][:3] == ["729", "4184", "3072"], shown["meshes"]["values"]  # 9^3 nodes; 8^3 cells
for variant in ("written by own", "written by idg2", "read"):
    x = shown[f"box 2 {variant}"]
    assert x["rows"] == ["3"] and {"conforming", "auto", "auto, reused plan"} <= set(x["columns"]), x
    assert ("root: gathering" in x["columns"]) == (variant != "read"), x
    assert ("bare" in x["columns"]) == (variant != "read"), x
assert "bare" in shown["gain of idg"]["columns"], shown["gain of idg"]
assert len(r["points"]) == 2
for p in r["points"]:
    names = {e["name"] for e in p["entries"]}
    by = [" " + rule for rule in rules] if p["operation"] == "write" else [""]
    bare = {"bare" + b for b in by if b}
    assert names == {"conforming"} | bare | {m + b + plan for m in methods for b in by for plan in ("", ", reused plan")}
    assert p["bytes"] == 729 * 8 * int(p["pattern"].split()[-1]) and p["ranks"] == 2
    for e in p["entries"]:
        assert e["verified"] and not e["failure"] and len(e["seconds"]) == 1, (p["pattern"], e)
assert not [f for f in r["findings"] if f["grade"] == "failed"], r["findings"]
rows = list(csv.DictReader(open("m.csv", encoding="utf-8")))
assert {row["operation"] for row in rows} == {"read", "write"} and all(float(row["seconds"]) > 0 for row in rows)
text = open("m.html", encoding="utf-8").read()
assert "Filgueira" in text and text.count("<svg") == 8 and "http" not in text
END

# For a mesh in a file, one rank must report the same counts as `tutti mesh owners`.
cat >grid.py <<'END'
n = 7
at = lambda x, y: 1 + x + y * n
print("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d" % (n * n))
for k in range(n * n):
    print(k + 1, k % n, k // n, 0)
cells = [(x, y) for y in range(n - 1) for x in range(n - 1)]
print("$EndNodes\n$Elements\n%d" % len(cells))
for k, (x, y) in enumerate(cells):
    print(k + 1, 3, 2, 1, 1, at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1))
print("$EndElements")
END
python3 grid.py >grid.msh
experiment 1 mesh grid.msh --quick --partitions 3 --rounds 1 --json g.json || fail "grid: exit code $?"
grep -q 'Write times need as many ranks' out || fail 'no word of ranks'
tutti 1 mesh owners grid.msh --parts 3 --order curve --json || fail "owners: exit code $?"
python3 - <<'END' || bad=1
import json
ours, theirs = json.load(open("g.json", encoding="utf-8")), json.load(open("out", encoding="utf-8"))
x = next(x for x in ours["figures"] if x["id"] == "intervals, curve")
for rule, n in zip(x["columns"][:5], x["values"][0]):
    assert int(n) == theirs["rules"][rule]["intervals"], (rule, n, theirs)
assert x["rows"] == ["grid, 3"] and not ours["points"]
END

experiment 2 mesh nowhere.msh --quick
[ $? -eq 1 ] || fail 'a mesh that is not there: no exit code 1'
grep -q 'nowhere.msh' err || fail 'a mesh that is not there: no name'
if [ -z "${TUTTI_SANITIZE:-}" ]; then
    for wrong in '--part most' '--rule some --order curve' '--loads 1 --by hand' '-x'; do
        # shellcheck disable=SC2086 # words
        experiment 1 mesh $wrong
        [ $? -eq 2 ] || fail "$wrong: no exit code 2"
    done
fi
finish
