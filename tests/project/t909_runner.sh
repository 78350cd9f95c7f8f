#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich cores=0
# The test runner returns exit codes, and kills a hanging test with all its ranks.  Each test of a common launch has its
# own environment, output and exit code, and the failure of a test does not affect other tests.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")" && pwd)

# expect CODE SECONDS RANKS command...: run a command as a test with this time limit; check its exit code
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
name=/dev/shm/tutti-shm-999999999-$$
expect 1 10 0 touch "$name"
[ ! -e "$name" ] || { echo "$name was left"; rm "$name"; exit 1; }
expect 124 1 0 sleep 4242
expect 124 2 2 sleep 4242

# ---- tests in a common launch
top=$(cd "$here/../.." && pwd)
program=$TUTTI_TEST_DIR/together
"mpicc.$TUTTI_MPI" -g -D_GNU_SOURCE -I"$top/tests" "$top/tests/support/together.c" "$here/together_tests.c" -ldl \
    -o "$program" || exit 1
"$top/scripts/run_together.sh" inner "$TUTTI_MPI" 2 untidy:20 tidy:20 skipped:20 fails:20 leaks:20 freed:20 \
    dies:20 hangs:2 last:20 -- "$program" >"$TUTTI_TEST_DIR/launch" 2>&1 || {
    echo "run_together.sh fails:"
    cat "$TUTTI_TEST_DIR/launch"
    exit 1
}

# result NAME CODE [WORDS]: check the result that ctest would report for a test, which must not run again
result() {
    out=$("$top/scripts/run_test.sh" "inner.$1.n2" 1 "$TUTTI_MPI" 0 echo ran again 2>&1)
    got=$?
    case $2 in
    dies) [ $got != 0 ] && [ $got != 77 ] ;;
    *) [ $got = "$2" ] ;;
    esac || { echo "$1: exit code $got, not $2: $out"; exit 1; }
    case $out in
    *"ran again"*) echo "$1 was not run: $out"; exit 1 ;;
    *"${3:-}"*) ;;
    *) echo "$1 does not say '$3': $out"; exit 1 ;;
    esac
}
result untidy 0 'untidy says second'
result tidy 0
result skipped 77
result fails 1
result leaks 1 '3 blocks of memory were not freed'
result freed 0
result dies dies
result hangs 124 'hangs: not finished after 2 s'
result last 0
[ "$("$top/scripts/run_test.sh" inner.tidy.n2 9 "$TUTTI_MPI" 0 echo alone)" = alone ] || { echo "an old result was shown"; exit 1; }

for comm in /proc/[0-9]*/cmdline; do
    if [ "$(tr '\0' ' ' 2>/dev/null <"$comm")" = "sleep 4242 " ]; then
        echo "a process was left over: $comm"
        exit 1
    fi
done
for left in "$TUTTI_TEST_DIR"/inner*; do
    [ ! -e "$left" ] || { echo "files were left over: $left"; exit 1; }
done
