#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich
# TUTTI_STATS=1 prints a table per file, TUTTI_EXPLAIN=1 prints errors, TUTTI_TRACE writes a trace, and
# TUTTI_MPIIO=off disables the drop-in.
# SPDX-License-Identifier: BSD-3-Clause
set -u
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
out=$TUTTI_TEST_DIR/out
failed=0

# run NAME VARIABLE=VALUE...: run the test program NAME on 2 ranks with the drop-in, with its output in $out
run() {
    program=$TUTTI_BUILD_DIR/tests/mpiio/$1
    shift
    env "$@" "$scripts/mpirun.sh" "$TUTTI_MPI" 2 "$scripts/preload.sh" \
        "$TUTTI_BUILD_DIR/libtutti-mpiio.so" "$program" >"$out" 2>&1
}

# says TEXT, says_not TEXT: check that the output contains TEXT, or does not
says() {
    grep -q "$1" "$out" || { echo "'$1' is not said:"; cat "$out"; failed=1; }
}
says_not() {
    if grep -q "$1" "$out"; then
        echo "'$1' is said:"
        cat "$out"
        failed=1
    fi
}

run t800_all_calls TUTTI_STATS=1
says "/smoke': 2 ranks"
says 'write collective .* calls .* MiB'
says 'read  non-blocking'
says 'write split'
says 'plan .* exchange .* file'
says 'plans made'
run t800_all_calls TUTTI_STATS=0
says_not 'tutti:'
run t807_handlers TUTTI_EXPLAIN=1
says "tutti: open of .*absent"
run t800_all_calls TUTTI_TRACE="$TUTTI_TEST_DIR/trace"
grep -q traceEvents "$TUTTI_TEST_DIR/trace" || { echo "no trace"; failed=1; }
run t800_all_calls TUTTI_STATS=1 TUTTI_MPIIO=off
says_not 'tutti:'
# Preload the library without a script, as in docs/reference/mpiio.md.  Names in LD_PRELOAD must not contain spaces.
drop_in=$TUTTI_BUILD_DIR/libtutti-mpiio.so
case $drop_in in *' '*) drop_in=${TMPDIR:-/tmp}/libtutti-mpiio.so && ln -s "$TUTTI_BUILD_DIR/libtutti-mpiio.so" "$drop_in" ;; esac
TUTTI_STATS=1 "$scripts/mpirun.sh" "$TUTTI_MPI" 2 env LD_PRELOAD="$drop_in" \
    "$TUTTI_BUILD_DIR/tests/mpiio/t800_all_calls" >"$out" 2>&1
says "/smoke': 2 ranks"
# printing a table is collective, but the variable may be set on only one rank
# shellcheck disable=SC2016
timeout 20 "$scripts/mpirun.sh" "$TUTTI_MPI" 2 sh -c \
    '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 1 ] && export TUTTI_STATS=1; exec "$@"' sh \
    "$scripts/preload.sh" "$TUTTI_BUILD_DIR/libtutti-mpiio.so" \
    "$TUTTI_BUILD_DIR/tests/mpiio/t800_all_calls" >"$out" 2>&1 || { echo "one rank: $?"; failed=1; }
says "/smoke': 2 ranks"
# The last line of the output reports the seconds in calls, as for `tutti run`.
run t800_all_calls TUTTI_MPIIO_REPORT=1
says '^tutti: active for [1-9][0-9]* files*; rank 0 was [0-9.]* s in calls'
[ "$(grep -c '^tutti: active' "$out")" = 1 ] || { echo "the summary must be printed once"; failed=1; }
run t800_all_calls TUTTI_MPIIO_REPORT=1 TUTTI_MPIIO=off
says '^tutti: not active'
for mode in on off; do
    : >"$TUTTI_TEST_DIR/times"
    run t800_all_calls TUTTI_MPIIO_TIMES="$TUTTI_TEST_DIR/times" TUTTI_MPIIO=$mode
    says_not 'tutti:'
    [ "$(grep -cE '^[0-9]+\.[0-9]{9} [1-9][0-9]*$' "$TUTTI_TEST_DIR/times")" = 2 ] ||
        { echo "$mode: not a line of each rank"; cat "$TUTTI_TEST_DIR/times"; failed=1; }
done
exit $failed
