#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich cores=2
# A job creates no name of Tutti in /dev/shm at any time, so that jobs of two ranks leave no names if all ranks are killed
# (SIGKILL) at random times: 5 jobs, or 200 if TUTTI_TEST_TIER=full.  t603 kills 200 single processes.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != inside ]; then
    # Mount a /dev/shm that no other process uses.
    unshare -m true 2>/dev/null || { echo "skipped: mount namespaces are not available"; exit 77; }
    # shellcheck disable=SC2016 # the inner shell expands it
    exec unshare -m sh -c 'mount -t tmpfs tmpfs /dev/shm && TMPDIR=$TUTTI_TEST_DIR exec sh "$0" inside' "$0"
fi
kills=5
[ "${TUTTI_TEST_TIER:-quick}" != full ] || kills=200
"mpicc.$TUTTI_MPI" -o "$TUTTI_TEST_DIR/target" "$here/kill_target.c" || exit 1

run() {
    "$here/../../scripts/mpirun.sh" "$TUTTI_MPI" 2 "$here/../../scripts/preload.sh" \
        "$TUTTI_BUILD_DIR/libtutti-mpiio.so" "$TUTTI_TEST_DIR/target" "$@"
}
run "$TUTTI_TEST_DIR/file" 10 || exit 1

seed=${TUTTI_TEST_SEED:-$(date +%N | sed 's/^0*//')}

# kill_one NUMBER: start a job and kill its ranks after up to 120 ms of work
kill_one() {
    file=$TUTTI_TEST_DIR/file$1
    mkdir "$file.tmp" # a separate session directory per job avoids conflicts
    TMPDIR=$file.tmp run "$file" >"$file.out" 2>&1 &
    job=$!
    while ! { [ -s "$file.0" ] && [ -s "$file.1" ]; }; do
        kill -0 $job 2>/dev/null || { echo "the job ended by itself:"; cat "$file.out"; return 1; }
        sleep 0.02
    done
    sleep "0.$(printf %03d $(((seed + $1 * 7919) % 120)))"
    kill -KILL "$(cat "$file.0")" "$(cat "$file.1")" || { echo "the ranks ended by themselves:"; cat "$file.out"; return 1; }
    wait $job
    rm -rf "$file" "$file".*
    echo killed >>"$TUTTI_TEST_DIR/count"
}
i=0
while [ $i -lt $kills ]; do # run five jobs at a time, since launchers need a second to end
    for _ in 1 2 3 4 5; do
        i=$((i + 1))
        kill_one $i &
    done
    wait
done
[ "$(wc -l <"$TUTTI_TEST_DIR/count")" = $kills ] || exit 1
left=$(find /dev/shm -name '*tutti*')
[ -z "$left" ] || { echo "$kills jobs (seed $seed) left in /dev/shm: $left"; exit 1; }
