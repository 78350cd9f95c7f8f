#!/bin/sh
# TEST ranks=0 timeout=60
# tutti diff --by id; --json of dump, plot, cp and export; a metadata file without its data files.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
for program in dataset_writer dataset_ids; do
    compile cli/$program.c $program || exit 1
done

# ---- diff --by id
./dataset_ids one 50 0 </dev/null && ./dataset_ids turned 50 13 </dev/null && ./dataset_ids hurt 50 31 170 </dev/null &&
    ./dataset_ids fewer 47 5 </dev/null || exit 1
expect 1 'numbers differ' diff one turned
expect 1 'numbers differ' diff one turned --by position
expect 0 '' diff one turned --by id
expect 1 'b: 2 of 200 numbers differ, by at most 86 (relative 1.012)' diff one hurt --by id
grep -q '85 and -1' out || { cat out; bad=1; }
expect 1 "3 entries only in one, the first has id 480" diff one fewer --by id
[ "$(wc -l <out)" -eq 1 ] || { cat out; bad=1; }
expect 1 "3 entries only in one" diff fewer one --by id --json
json 'not o["same"] and all(v["different"] == 0 for v in o["variables"]) and o["variables"][0]["numbers"] == 94'
expect 2 'position|id' diff one turned --by name

# ---- --json
./dataset_writer run </dev/null || exit 1
expect 0 '' dump run -v heat -s 1 --json
json 'o[0]["shape"] == [4, 6] and o[0]["values"] == list(range(24)) and o[0]["type"] == "float64"'
expect 0 '' dump run -v wave -s all --json
json 'len(o) == 1 and o[0]["values"][3] == [3, -0.5]'
expect 0 '' dump run -v count -s all --json
json '[x["values"][1] for x in o] == [1, 11, 21, 31] and o[3]["time"] == 1.5'
expect 2 'exclude each other' dump run -v count --json --as csv
expect 0 '' cp run copy --json
json 'o == {"path": "copy", "segments": 6, "variables": 5}'
expect 0 '' plot run -v heat --json
json 'o == {"files": ["heat.svg"]}'
expect 0 '' export run --csv -o all --json
json 'len(o["files"]) == 5 and "all-wave.csv" in o["files"]'
expect 0 '' export run --xdmf --json
json 'o["files"] == ["run.xmf"]'

# ---- the metadata file alone
mkdir alone
cp run/metadata.sqlite alone
expect 0 'alone: 6 segments, 5 variables' ls alone
expect 0 '' ls alone/metadata.sqlite --json
json 'len(o["segments"]) == 6 and o["variables"][0]["segments"] == 4'
expect 0 'float64 heat(grid)' show alone
expect 0 '' show alone --json
json 'len(o["segments"]) == 6'
expect 1 'No such file' dump alone -v heat
expect 1 'No such file' verify alone
[ "$(find alone | wc -l)" -eq 2 ] || { echo 'something was made there'; ls alone; bad=1; }
exit $bad
