#!/bin/sh
# bench_papers.sh COMMAND DIR OUT   runs the experiments of `tutti bench` in DIR and in memory.
#
# Reports go to OUT.  What needs processors for itself runs on as many ranks as there are cores, the
# others on twice as many; meshes, as in the paper, on 8.  Overlap is measured on a slow disk too, where one
# can be had (root only).  BUDGET: seconds of the longest ones (240).  MPI, RANKS, MEMORY: another MPI, number of ranks, directory
# in memory.  PROFILE: a profile by `tutti tune`; without it the library's usual search decides, whatever
# TUTTI_PROFILE says.  The reports name the one that was used.
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
unset TUTTI_PROFILE
if [ -n "${PROFILE:-}" ]; then
    TUTTI_PROFILE=$(realpath "$PROFILE")
    export TUTTI_PROFILE
fi
slow=$(cd "$dir" && pwd)/slow
under= # a command that starts the others

# run RANKS NAME EXPERIMENT arguments...: one experiment, its reports in paper-NAME.*
run() {
    ranks=$1 name=$2
    shift 2
    echo "tutti bench $*"
    # shellcheck disable=SC2086 # words
    $under "$here/mpirun.sh" "${MPI:-openmpi}" "$ranks" "$command" bench "$@" \
        --json "$out/paper-$name.json" --csv "$out/paper-$name.csv" --html "$out/paper-$name.html"
}

# slow_disk ARGUMENTS: one is up at $slow until slow_down; 77: it cannot be had
slow_disk() {
    "$here/throttle.sh" up "$slow" "$@" || return
    trap '"$here/throttle.sh" down "$slow"' EXIT
    trap 'exit 130' INT TERM HUP
    under="$here/throttle.sh run $slow"
}

slow_down() {
    under=
    "$here/throttle.sh" down "$slow"
    trap - EXIT INT TERM HUP
}

# run_few_operations: sections where every request costs time
run_few_operations() {
    status=0
    slow_disk 1g 128m 400 || status=$?
    if [ "$status" = 77 ]; then
        echo "sections on a slow disk: left out"
        return 0
    fi
    [ "$status" = 0 ] || return "$status"
    run "$many" sections-throttled sections --dir "$slow" --part common --array 8m --rounds 3 \
        --direct-io 1 --iops 400
    slow_down
}

# run_slow: overlap where file access costs time and no processor.  Such a disk lets the bytes of some
# tenths of a second pass at once, so that what is written must be more.
run_slow() {
    status=0
    slow_disk 200m 512m || status=$?
    if [ "$status" = 77 ]; then
        echo "overlap on a slow disk: left out"
        return 0
    fi
    [ "$status" = 0 ] || return "$status"
    run "$few" overlap-throttled overlap --dir "$slow" --budget "$budget" \
        --size 16m --iterations 2
    slow_down
}

# run_mesh_hosts MESH: the configurations over hosts: a parallel file system behind links of two speeds, and a local
# directory of the host that gathers (the paper's NFS).
run_mesh_hosts() {
    for rate in 2gbit 100mbit; do
        status=0 loads=1,10,100
        [ $rate = 2gbit ] || loads=1,10,50
        "$here/bench_hosts.sh" --rate $rate --mpi "${MPI:-openmpi}" -- "$(realpath "$command")" bench mesh "$(realpath "$1")" \
            --part writes --rule own,idg --loads $loads --rounds 3 --budget "$((budget / 2))" \
            --dir "MOUNT,$(realpath "$dir")" --json "$(realpath "$out")/paper-mesh-hosts-$rate.json" || status=$?
        if [ "$status" = 77 ]; then
            echo "meshes over hosts: left out"
            return 0
        fi
        [ "$status" = 0 ] || return "$status"
    done
}

# run_meshes: counts of all devices, all configurations of one, by number of partitions and over hosts, rules of all
run_meshes() {
    meshes=$out/meshes
    if ! "$here/meshes.sh" "$meshes"; then
        echo "meshes of devices: left out, a box instead"
        run "$many" mesh mesh --dir "$dir" --budget "$budget"
        return 0
    fi
    set -- "$meshes/bjt.msh" "$meshes/mesa.msh" "$meshes/fingers.msh" "$meshes/power.msh"
    run 1 mesh-tables mesh "$@" --part tables
    run 8 mesh mesh "$3" --part writes --dir "$dir" --budget "$((budget * 3 / 2))"
    for ranks in 8 4; do
        name=mesh-rules
        [ $ranks = 8 ] || name=mesh-rules-$ranks
        run $ranks $name mesh "$@" --part writes --dir "$dir" --budget "$((budget * 3 / 4))" \
            --method independent,list --rule own,idg --loads 1,5,10,25,50,100 --rounds 21
    done
    run 14 mesh-partitions mesh "$3" --part writes --procs 4,7,8,10,14 --rule own,idg --dir "$dir" --loads 1,10,50,100 \
        --budget "$((budget * 3 / 2))" --rounds 15
    run_mesh_hosts "$2"
}

run "$many" steps steps --dir "$dir,$memory" --budget "$budget"
run "$few" overlap overlap --dir "$dir" --budget "$budget"
run_slow
run "$many" pipelines pipelines --dir "$dir,$memory" --budget "$budget"
run "$few" pipelines-direct pipelines --dir "$dir" --direct-io 1 --budget "$((budget / 2))"
run "$few" pipelines-shm pipelines --dir "$dir" --direct-io 1 --exchange shm --budget "$((budget / 2))"
run "$many" primitives primitives --dir "$dir,$memory" --budget "$budget"
run "$many" sections sections --dir "$dir" --budget "$((budget * 3 / 2))"
run_few_operations
run_meshes
run "$many" dataset dataset --part visible --dir "$memory" --budget "$((budget / 2))"
run "$many" dataset-disk dataset --part durable,buffers,meshes,commits,opening --size 8m --dir "$dir" \
    --budget "$((budget / 3))"
run "$few" auto auto --dir "$dir,$memory" --budget "$((budget * 7 / 4))"
