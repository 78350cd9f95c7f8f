#!/bin/sh
# bench_papers.sh COMMAND DIR OUT   runs the experiments of `tutti bench` in DIR and in memory.
#
# Reports go to OUT.  What needs processors for itself runs on as many ranks as there are cores, the
# others on twice as many.  BUDGET: seconds of the longest ones (240).  MPI, RANKS, MEMORY: another
# MPI, number of ranks, directory in memory.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
if [ $# -ne 3 ]; then
    sed -n '2s/^# //p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
command=$1 dir=$2 out=$3
cores=$(nproc)
few=${RANKS:-$((cores < 8 ? cores : 8))}
[ "$few" -gt 1 ] || few=2
many=$((few * 2))
budget=${BUDGET:-240}
memory=${MEMORY:-/dev/shm}
mkdir -p "$dir" "$out"

# run RANKS NAME EXPERIMENT arguments...: one experiment, its reports in paper-NAME.*
run() {
    ranks=$1 name=$2
    shift 2
    echo "tutti bench $*"
    "$here/mpirun.sh" "${MPI:-openmpi}" "$ranks" "$command" bench "$@" \
        --json "$out/paper-$name.json" --csv "$out/paper-$name.csv" --html "$out/paper-$name.html"
}

run "$many" steps steps --dir "$dir,$memory" --budget "$budget"
run "$few" overlap overlap --dir "$dir" --budget "$budget"
run "$many" pipelines pipelines --dir "$dir,$memory" --budget "$budget"
run "$few" pipelines-direct pipelines --dir "$dir" --direct-io 1 --budget "$((budget / 2))"
run "$many" primitives primitives --dir "$dir,$memory" --budget "$budget"
run "$few" auto auto --dir "$dir,$memory" --budget "$budget"
