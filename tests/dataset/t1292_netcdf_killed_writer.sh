#!/bin/sh
# TEST ranks=0 timeout=3600 cores=2
# Writers of netCDF data files are killed at random times: the next writer finds the dataset in the state before or
# after the interrupted operation, resumes, and writes files that ncvalidator accepts.  The programs are those of
# t1264; t1270 tests power cuts.
# Rounds: 24 on one rank, 3 on several ranks; tier=full: 1000 and 60; or CRASH_ROUNDS of each.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
for program in crash_writer crash_steps; do
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -O1 -I"$top/include" "$top/tests/dataset/$program.c" -o $program \
        -L"$TUTTI_BUILD_DIR" -ltutti -ldl -Wl,-rpath,"$TUTTI_BUILD_DIR"
done
here=${TUTTI_TEST_SHM:-$PWD}
seed=${TUTTI_TEST_SEED:-$(date +%s)}
case ${TUTTI_TEST_TIER:-quick} in
full) several=${CRASH_ROUNDS:-60} one=${CRASH_ROUNDS:-1000} ;;
*) several=${CRASH_ROUNDS:-3} one=${CRASH_ROUNDS:-24} ;;
esac
echo "seed $seed"
export TEST_CONTAINER=netcdf
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
if command -v ncvalidator >/dev/null; then export TEST_VALIDATOR=1; fi
./crash_steps "$here/steps.tutti" "$one" "$seed"

round=0
while [ $round -lt "$several" ]; do
    round=$((round + 1))
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    after=$((seed / 7 % 200000 / (1 + seed % 5) + 1))
    if "$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 ./crash_writer crash.tutti $after >out 2>&1; then
        echo "round $round: was not killed" >&2
        exit 1
    fi
    if grep -q '^rank\|^segment\|of segment' out; then # the dataset that it opened was incomplete
        cat out >&2
        exit 1
    fi
done
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 ./crash_writer crash.tutti 0
for file in crash.tutti/*.nc; do
    [ -z "${TEST_VALIDATOR:-}" ] || ncvalidator "$file" >said || { cat said; exit 1; }
done
