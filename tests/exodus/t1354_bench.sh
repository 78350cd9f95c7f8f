#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich cores=2
# tutti-experiments exodus on 2 ranks: the configurations of the paper and of Tutti, with netCDF and HDF5 if
# installed; all values are compared, and no files remain.  Also a small benchmark against PnetCDF and
# netCDF-4, in which every variant writes correct values.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/../cli/common.sh"

place=${TUTTI_TEST_SHM:-.}/place
mkdir -p "$place"
experiment 2 exodus --quick --rounds 1 --dir "$place" --json d.json || fail "exit code $?"
[ -z "$(ls "$place")" ] || fail 'something is left behind'
python3 - <<'END' || bad=1
import json
r = json.load(open("d.json", encoding="utf-8"))
assert r["experiment"] == "exodus" and r["failures"] == 0 and r["ranks"] == 2
table = {x["id"]: x for x in r["figures"]}["table 3"]
rows, columns = table["rows"], table["columns"]
assert rows[:3] == ["Exodus, 1 MB", "Exodus, 2 MB", "Exodus, 4 MB"], rows
for i, paper in enumerate((32.1, 45.4, 149.4)):
    assert table["values"][i][columns.index("the paper, one server")]["value"] == paper
    for column in ("one server, visible", "many servers, visible", "one server, durable", "many servers, durable"):
        assert table["values"][i][columns.index(column)]["value"] > 0, (i, column)
for row, values in zip(rows[3:], table["values"][3:]):
    assert row.endswith("directly, one process") and values[columns.index("one server, durable")]["value"] > 0, row
END
for wrong in '--part most' '--size 3'; do
    # shellcheck disable=SC2086 # two words
    experiment 1 exodus $wrong
    [ $? -eq 2 ] || fail "$wrong: no exit code 2"
done

peers=$TUTTI_BUILD_DIR/exodus_peers
if [ -x "$peers" ]; then
    for parts in '' --cubes; do
        # shellcheck disable=SC2086 # may be empty
        "$here/scripts/mpirun.sh" "$mpi" 3 "$peers" "$place" --nodes 12 --steps 2 --rounds 1 $parts >out 2>err ||
            fail "exodus_peers $parts"
        "$report" out | grep -q 'Tutti, by id' || fail "no table"
    done
    "$here/scripts/mpirun.sh" "$mpi" 2 "$peers" "$place" --sets 50 --rounds 1 >out 2>err || fail "exodus_peers --sets"
    [ -z "$(ls "$place")" ] || fail "something is left behind: $(ls "$place")"
fi
finish
