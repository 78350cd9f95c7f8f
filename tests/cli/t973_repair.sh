#!/bin/sh
# TEST ranks=0 timeout=120
# tutti repair: output and exit codes; verify and ls succeed afterwards.  tests/dataset/t1269_repair.c tests the kinds
# of damage.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
compile cli/dataset_writer.c writer || exit 1

./writer run </dev/null || exit 1
"$TUTTI_COMMAND" ls run --json >before || bad=1
expect 0 'run: nothing to do; 6 segments in 1 data file' repair run
expect 0 '' repair run --json
json 'o["segments"] == 6 and o["lost"] == 0 and not o["rebuilt"] and o["kept"] == "" and o["files"] == 1'
[ ! -e run/metadata.sqlite.damaged ] || bad=1

: >run/metadata.sqlite # truncated
expect 1 "no metadata: run 'tutti repair' to rebuild the metadata" verify run
expect 0 'run: metadata rebuilt; 6 segments' repair run
grep -q 'the old metadata are run/metadata.sqlite.damaged' out || { cat out; bad=1; }
expect 0 'run: ok; 6 segments' verify run
"$TUTTI_COMMAND" ls run --json >after || bad=1
cmp before after || bad=1

rm run/metadata.sqlite
expect 1 'but no metadata' verify run
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
expect 1 'does not contain a dataset' repair none
expect 1 '' repair nowhere
expect 2 'missing operand DIR' repair
expect 2 "does not apply to 'tutti repair'" repair run --all
expect 0 'Usage: tutti repair' help repair
exit $bad
