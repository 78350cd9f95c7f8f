#!/bin/sh
# TEST ranks=0 timeout=3600 cores=2
# Programs that write a dataset are killed at random times: each time the next run finds every
# segment complete and resumes.  crash_writer runs on several ranks and is killed during large puts and
# commits; crash_steps runs on one rank and is killed during all other operations, including repairs.
# Rounds: 6 of crash_writer and 24 of crash_steps (repairs: 6); tier=full: 60 and 1000; or CRASH_ROUNDS of each.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
for program in crash_writer crash_steps; do
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" "$top/tests/dataset/$program.c" -o $program \
        -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"
done
here=${TUTTI_TEST_SHM:-$PWD}
seed=${TUTTI_TEST_SEED:-$(date +%s)}
case ${TUTTI_TEST_TIER:-quick} in
full) several=${CRASH_ROUNDS:-60} one=${CRASH_ROUNDS:-1000} ;;
*) several=${CRASH_ROUNDS:-6} one=${CRASH_ROUNDS:-24} ;;
esac
echo "seed $seed"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
./crash_steps "$here/steps.tutti" "$one" "$seed"
./crash_steps "$here/repairs.tutti" "$several" "$seed" repair
round=0
while [ $round -lt "$several" ]; do
    round=$((round + 1))
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    # some rounds are killed within the first commit, some after many
    after=$((seed / 7 % 200000 / (1 + seed % 5) + 1))
    ranks=$((2 + seed / 3 % 2))
    if "$top/scripts/mpirun.sh" "$TUTTI_MPI" $ranks ./crash_writer crash.tutti $after >out 2>&1; then
        echo "round $round: was not killed" >&2
        exit 1
    fi
    if grep -q '^rank\|^segment\|of segment' out; then # the dataset that it opened was incomplete
        cat out >&2
        exit 1
    fi
done
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 ./crash_writer crash.tutti 0
