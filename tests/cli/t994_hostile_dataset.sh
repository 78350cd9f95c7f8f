#!/bin/sh
# TEST ranks=0 timeout=120
# Datasets with impossible numbers in their metadata: every command reports an error, none is ended by a signal, and
# repair rebuilds the metadata from the data file.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
golden=$here/tests/dataset/golden

# harm SQL: create the directory d, a copy of the reference dataset with metadata changed by SQL
harm() {
    rm -rf d away other
    mkdir d
    cp "$golden/data-000001.tutti" d
    python3 -c 'import sqlite3, sys
db = sqlite3.connect("d/metadata.sqlite")
db.executescript(open(sys.argv[1]).read() + sys.argv[2])' "$golden/metadata.sql" "$1"
}

harm ''
expect 0 'd: ok; 3 segments' verify d
most=9223372036854775807
n=0
while read -r change; do
    n=$((n + 1))
    harm "$change"
    for command in verify 'cp other' repair; do
        name=${command%% *} more=
        [ "$command" = "$name" ] || more=${command#* }
        # shellcheck disable=SC2086 # words
        "$TUTTI_COMMAND" "$name" d $more >out 2>&1 </dev/null
        code=$?
        [ $code -le 2 ] || { fail "$change: tutti $command ends with $code"; }
        if [ "$name" = verify ] && [ $code -eq 0 ]; then fail "$change: verify finds nothing"; fi
    done
    expect 0 'd: ok; ' verify d
done <<END
UPDATE dataset SET value = $most WHERE key = 'generation';
UPDATE dataset SET value = $most WHERE key = 'serial';
UPDATE sections SET bytes = $most;
UPDATE sections SET bytes = -1;
UPDATE sections SET start = $most;
UPDATE sections SET list_segment = $most WHERE variable = 3;
UPDATE sizes SET shape = '4611686018427387904,4' WHERE space = 1;
UPDATE sizes SET shape = '4611686018427387904' WHERE space = 2;
UPDATE segments SET "end" = $most;
UPDATE segments SET start = -$most;
UPDATE segments SET trailer = $most;
UPDATE variables SET components = 2147483647;
END
[ "$n" -eq 12 ] || { echo "$n cases"; bad=1; }
exit "$bad"
