#!/bin/sh
# TEST ranks=0 timeout=900 cores=2
# Power cuts: everything that a writer does to its files is recorded, SQLite's part included; then the power is cut after some of the records
# (tier=full: after every one), and what was not synced is lost, torn or reordered.  Every segment whose commit had returned is there, no half
# one, and writing goes on.  And that the model finds something where syncs are left out.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
cc -std=gnu11 -Wall -Wextra -Werror -O1 -D_GNU_SOURCE -fPIC -shared "$top/tests/dataset/powercut_record.c" -o record.so -ldl -lpthread
for program in writer replay; do
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -O1 -I"$top/include" "$top/tests/dataset/powercut_$program.c" -o $program \
        -L"$TUTTI_BUILD_DIR" -ltutti -ldl -Wl,-rpath,"$TUTTI_BUILD_DIR"
done
here=${TUTTI_TEST_SHM:-$PWD}
seed=${TUTTI_TEST_SEED:-1270}
case ${TUTTI_TEST_TIER:-quick} in full) every=1 ;; *) every=30 ;; esac

# record RANKS LEVEL [FORGET]: a log of the writer
record() {
    rm -rf "$here/root" log
    mkdir "$here/root"
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" "$1" env TUTTI_STORE=posix LD_PRELOAD="$PWD/record.so" POWERCUT_ROOT="$here/root" \
        POWERCUT_LOG="$PWD/log" ${3:+POWERCUT_FORGET=1} ./writer "$here/root/d.tutti" "$2"
}

# replay EVERY: exit code 1 if a cut did harm
replay() {
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./replay log "$here/cut" "$1" "$seed" >out 2>&1
}

for ranks in 1 2; do
    record $ranks durable
    replay $every || { echo "$ranks ranks, seed $seed"; cat out; exit 1; }
    grep -q 'cuts, 0 did harm' out
    [ "$every" != 1 ] || cat out
done
# the model can find something: without syncs, with those of the database alone, there is harm
record 1 durable forget
if replay 20; then echo 'no syncs, no harm'; cat out; exit 1; fi
grep -q 'did harm' out
record 1 visible
if replay 20; then echo 'level visible, no harm'; cat out; exit 1; fi
grep -q 'did harm' out
rm -rf "$here/root" "$here/cut"
