#!/bin/sh
# TEST ranks=0 timeout=100 builds=openmpi,mpich cores=2
# The MPI library's own MPI-IO and Tutti execute the same random sequence (t840_sequence.c): counts, positions, bytes
# read and the file are the same.  A sequence is only compared if the MPI library's results agree with the standard, as
# computed by the model (file_model.h), because both MPI libraries have defects; at least one sequence must be compared.
# SPDX-License-Identifier: BSD-3-Clause
set -u
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
program=$TUTTI_BUILD_DIR/tests/mpiio/t840_sequence
cd "$TUTTI_TEST_DIR" || exit 1
compared=0
failed=0

# play NAME RANKS COMMAND...: run a sequence; creates the file NAME and its sorted records NAME.log
play() {
    name=$1
    shift
    timeout 30 "$scripts/mpirun.sh" "$TUTTI_MPI" "$@" "$TUTTI_TEST_DIR/$name" >"$name.out" 2>&1 || return
    sort "$name".[0-9]* >"$name.log"
    rm "$name".[0-9]*
}

case $TUTTI_MPI in
openmpi) pairs='1:1 2:1 3:3 5:2 8:2' ;;
*) pairs='1:1 2:1 3:1 5:2 8:1' ;;
esac
export TUTTI_TEST_TAME=1 TUTTI_TEST_EVENTS=80 TUTTI_STATS=1
for pair in $pairs; do
    ranks=${pair%:*}
    export TUTTI_TEST_SEED="${pair#*:}"
    if ! TUTTI_TEST_NATIVE=1 play native "$ranks" "$program"; then
        echo "$ranks ranks, seed $TUTTI_TEST_SEED: the MPI library's own is wrong"
        head -n 3 native.out
        continue
    fi
    if ! play ours "$ranks" "$scripts/preload.sh" "$TUTTI_BUILD_DIR/libtutti-mpiio.so" "$program"; then
        echo "$ranks ranks, seed $TUTTI_TEST_SEED: ours is wrong"
        head -n 30 ours.out
        failed=1
        continue
    fi
    grep -q "tutti: '.*': $ranks ranks, open for " ours.out || { echo "ours did not go through the drop-in"; failed=1; }
    compared=$((compared + 1))
    for file in native native.log; do
        cmp "$file" "ours${file#native}" || failed=1
    done
    [ $failed = 0 ] || diff native.log ours.log | head -n 20
done
[ $compared -ge 3 ] || { echo "only $compared sequences were compared"; failed=1; }
exit $failed
