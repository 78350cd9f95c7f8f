#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich
# The runner of tests itself: exit codes come through, and a hang is ended with all its ranks.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")" && pwd)

# expect CODE SECONDS RANKS command...
expect() {
    code=$1 seconds=$2 ranks=$3
    shift 3
    out=$("$here/../../scripts/run_test.sh" inner "$seconds" "$TUTTI_MPI" "$ranks" "$@" 2>&1)
    got=$?
    [ $got = "$code" ] || { echo "$* on $ranks ranks: exit code $got, not $code: $out"; exit 1; }
}

expect 0 10 0 true
expect 1 10 0 false
expect 77 10 0 sh -c 'exit 77'
# shellcheck disable=SC2016 # the inner shell expands it
expect 0 20 2 sh -c 'test -d "$TUTTI_TEST_DIR" && touch "$TUTTI_TEST_DIR/x"'
expect 3 20 2 sh -c 'exit 3'
expect 124 1 0 sleep 4242
expect 124 2 2 sleep 4242
for comm in /proc/[0-9]*/cmdline; do
    if [ "$(tr '\0' ' ' 2>/dev/null <"$comm")" = "sleep 4242 " ]; then
        echo "a process was left over: $comm"
        exit 1
    fi
done
[ ! -e "$TUTTI_TEST_DIR/inner" ] || { echo "files were left over"; exit 1; }
