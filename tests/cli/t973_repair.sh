#!/bin/sh
# TEST ranks=0 timeout=120
# tutti repair: what it says, its exit codes, and that verify and ls are content afterwards.  tests/dataset/t1269_repair.c tries the damage.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
bad=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
cd "$TUTTI_TEST_DIR" || exit 1
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
"$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$here/include" "$here/tests/cli/dataset_writer.c" -o writer \
    -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR" || exit 1

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

# json CONDITION: what the last one has said is JSON, and the condition holds for it
json() {
    python3 -c "import json, sys; o = json.load(open('out')); sys.exit(not ($1))" || { echo "not so: $1"; cat out; bad=1; }
}

./writer run </dev/null || exit 1
"$TUTTI_COMMAND" ls run --json >before || bad=1
expect 0 'run: nothing to do; 6 segments in 1 data file' repair run
expect 0 '' repair run --json
json 'o["segments"] == 6 and o["lost"] == 0 and not o["rebuilt"] and o["kept"] == "" and o["files"] == 1'
[ ! -e run/metadata.sqlite.damaged ] || bad=1

: >run/metadata.sqlite # gone to nothing
expect 1 'metadata are gone: tutti repair brings them back' verify run
expect 0 'run: metadata made anew; 6 segments' repair run
grep -q 'the old metadata are run/metadata.sqlite.damaged' out || { cat out; bad=1; }
expect 0 'run: ok; 6 segments' verify run
"$TUTTI_COMMAND" ls run --json >after || bad=1
cmp before after || bad=1

rm run/metadata.sqlite
expect 2 'metadata are gone' verify run
expect 0 '' repair run --json
json 'o["rebuilt"] and o["segments"] == 6 and o["kept"] == ""'
expect 0 'run: ok; 6 segments' verify run

cp -r run short
truncate -s -4096 short/data-000001.tutti
expect 1 '1 segment is lost: ' repair short
grep -q 'short: repaired; 5 segments' out || { cat out; bad=1; }
expect 0 'short: ok; 5 segments' verify short
expect 0 'nothing to do' repair short/metadata.sqlite

mkdir none
expect 2 'has no dataset' repair none
expect 2 '' repair nowhere
expect 2 'one dataset is needed' repair
expect 2 'is not for tutti repair' repair run --all
expect 0 'usage: tutti repair DIR' help repair
exit $bad
