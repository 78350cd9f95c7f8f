#!/bin/sh
# TEST ranks=0 timeout=120 builds=mpich,asan cores=2
# tutti-experiments dataset on 2 ranks: every part, with all values compared; every report; figures of Sandia and of
# Tutti; wrong usage; no files remain.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"

place=${TUTTI_TEST_SHM:-.}/place
mkdir -p "$place"
small=
[ -z "${TUTTI_SANITIZE:-}" ] || small='--part visible,buffers,commits,opening'
# shellcheck disable=SC2086 # lists of words
experiment 2 dataset --quick --rounds 1 $small --dir "$place" --json d.json --html d.html || fail "exit code $?"
[ -z "$(ls "$place")" ] || fail 'something is left behind'
python3 - <<'END' || bad=1
import json, os
r = json.load(open("d.json", encoding="utf-8"))
assert r["experiment"] == "dataset" and r["failures"] == 0 and r["ranks"] == 2
table = {x["id"]: x for x in r["figures"]}
some = {"variants, visible", "buffers", "buffers reads", "commits", "opening"}
if not os.environ.get("TUTTI_SANITIZE"):
    some |= {"variants, durable", "meshes", "meshes reads"}
assert set(table) == some, table.keys()
variants = table["variants, visible"]
assert len(variants["rows"]) == 14 and "limit" in variants["rows"], variants["rows"]
for name, row in zip(variants["rows"], variants["values"]):
    for column in ("write ms", "read ms", "of the limit"):
        assert row[variants["columns"].index(column)]["value"] > 0, (name, column)
b = table["buffers reads"]
assert len(b["rows"]) == 7 and all(cell["value"] > 0 for row in b["values"] for cell in row if cell), b
b = table["buffers"]
paper = [row[b["columns"].index("the paper, one server")]["value"] for row in b["values"]]
assert b["rows"] == ["1", "2", "4", "8", "12", "16", "28"] and paper == [63.0, 106.5, 149.3, 171.5, 182.6, 168.2, 176.8]
for row in b["values"] + table["buffers reads"]["values"]:
    assert row[b["columns"].index("one server")]["value"] > 0 and row[b["columns"].index("many servers")]["value"] > 0
assert all(f["grade"] == "plain" for f in r["findings"]), r["findings"]  # such small sizes give no verdict
text = open("d.html", encoding="utf-8").read()
assert "Sturtevant" in text and "<svg" in text and "http" not in text
END

experiment 2 paper5 --quick --rounds 1 --part visible --ways nodes --dir "$place" || fail "by its other name: exit code $?"
grep -q 'global, nodes, runs of 1 ' out || fail 'no nodes'
grep -q 'blocks' out && fail 'variants that were not requested'
if [ -z "${TUTTI_SANITIZE:-}" ]; then
    for wrong in '--part most' '--size 3' '--loads 1'; do
        # shellcheck disable=SC2086 # two words
        experiment 1 dataset $wrong
        [ $? -eq 2 ] || fail "$wrong: no exit code 2"
    done
fi
finish
