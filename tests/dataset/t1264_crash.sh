#!/bin/sh
# TEST ranks=0 timeout=240 cores=2
# A loop that writes a dataset, killed at random instants on all ranks: each time the next run finds every segment whole and goes on.
# Rounds: 10, or CRASH_ROUNDS.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
"$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" "$top/tests/dataset/crash_writer.c" -o writer \
    -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"
seed=${TUTTI_TEST_SEED:-$(date +%s)}
echo "seed $seed"
round=0
while [ $round -lt "${CRASH_ROUNDS:-10}" ]; do
    round=$((round + 1))
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    # some rounds are killed within the first commit, some after many
    after=$((seed / 7 % 300000 / (1 + seed % 5) + 1))
    ranks=$((1 + seed / 3 % 3))
    if "$top/scripts/mpirun.sh" "$TUTTI_MPI" $ranks ./writer crash.tutti $after >out 2>&1; then
        echo "round $round: was not killed" >&2
        exit 1
    fi
    if grep -q '^rank\|^segment\|of segment' out; then # what it found was not whole
        cat out >&2
        exit 1
    fi
done
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 ./writer crash.tutti 0
