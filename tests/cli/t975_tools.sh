#!/bin/sh
# TEST ranks=0 timeout=60
# tutti diff --by id; --json of dump, plot, cp and export; the metadata file alone, copied to an empty directory.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
bad=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
cd "$TUTTI_TEST_DIR" || exit 1
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
for program in dataset_writer dataset_ids; do
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$here/include" "$here/tests/cli/$program.c" -o $program \
        -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR" || exit 1
done

# expect CODE TEXT arguments...: the command ends with this code and says this
expect() {
    code=$1 text=$2
    shift 2
    "$TUTTI_COMMAND" "$@" >out 2>&1 </dev/null
    got=$?
    if [ $got -ne "$code" ] || { [ -n "$text" ] && ! grep -qF -e "$text" out; }; then
        echo "tutti $*: exit code $got (expected $code), without '$text':"
        cat out
        bad=1
    fi
}

json() {
    python3 -c "import json, sys; o = json.load(open('out')); sys.exit(not ($1))" || { echo "not so: $1"; cat out; bad=1; }
}

# ---- by id
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
expect 2 'id or position' diff one turned --by name

# ---- for programs
./dataset_writer run </dev/null || exit 1
expect 0 '' dump run -v heat -s 1 --json
json 'o[0]["shape"] == [4, 6] and o[0]["values"] == list(range(24)) and o[0]["type"] == "float64"'
expect 0 '' dump run -v wave -s all --json
json 'len(o) == 1 and o[0]["values"][3] == [3, -0.5]'
expect 0 '' dump run -v count -s all --json
json '[x["values"][1] for x in o] == [1, 11, 21, 31] and o[3]["time"] == 1.5'
expect 2 'not both' dump run -v count --json --as csv
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
