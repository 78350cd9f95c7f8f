#!/bin/sh
# bench_papers.sh EXPERIMENTS TUTTI DIR OUT   runs the experiments of tutti-experiments in DIR and in memory.
#
# OUT is the directory for the reports of this run; experiments/tutti_experiments/results.py compares
# runs.  Experiments that need one core per rank run on as many ranks as there are cores, the others on
# twice as many; meshes, as in the paper, on 8.  All have at least seven rounds, and sizes for a total of
# 20 minutes on two cores.  With root permissions, some use a slow disk (scripts/throttle.sh) or several
# hosts (scripts/bench_hosts.sh).
#
# Variables: PARTS: names of experiments ("steps sections-cold"); default: all.  MPI, RANKS, MEMORY: another
# MPI, number of ranks, directory in memory.  PROFILE: a profile by `tutti tune`; by default the library
# searches its usual profiles, regardless of TUTTI_PROFILE.  The reports name the profile in use.
# Exit code 1: some experiments failed; reports of the others exist.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
if [ $# -ne 4 ]; then
    sed -n '2s/^# //p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
experiments=$1 tutti=$2 dir=$3 out=$4
cores=$(nproc)
few=${RANKS:-$((cores < 8 ? cores : 8))}
[ "$few" -gt 1 ] || few=2
many=$((few * 2))
memory=${MEMORY:-/dev/shm}
mkdir -p "$dir" "$out"
unset TUTTI_PROFILE
if [ -n "${PROFILE:-}" ]; then
    TUTTI_PROFILE=$(realpath "$PROFILE")
    export TUTTI_PROFILE
fi
slow=$(cd "$dir" && pwd)/slow
meshes=$(dirname "$dir")/meshes
under= # prefix of all commands
failed="" began=$(date +%s)

# wanted NAME: succeed if PARTS contains the experiment
wanted() {
    case " ${PARTS:-all} " in
    *" all "* | *" $1 "*) return 0 ;;
    esac
    return 1
}

# took NAME CODE SINCE: print a line about a completed part
took() {
    [ "$2" = 0 ] || failed="$failed $1"
    echo "$1: $(($(date +%s) - $3)) s$([ "$2" = 0 ] || echo ", exit code $2")"
}

# report NAME: write text, page and CSV of paper-NAME.json
report() {
    "$here/../experiments/tutti_experiments/__main__.py" "$out/paper-$1.json" --csv "$out/paper-$1.csv" --html "$out/paper-$1.html" \
        >"$out/paper-$1.txt" || status=$?
}

# run RANKS NAME EXPERIMENT arguments...: run an experiment; reports are paper-NAME.*, the output is in
# paper-NAME.txt
run() {
    ranks=$1 name=$2
    shift 2
    wanted "$name" || return 0
    since=$(date +%s) status=0
    # shellcheck disable=SC2086 # words
    $under "$here/mpirun.sh" "${MPI:-openmpi}" "$ranks" "$experiments" "$@" --json "$out/paper-$name.json" >/dev/null || status=$?
    report "$name"
    took "$name" $status "$since"
}

# slow_disk NAME ARGUMENTS: mount a slow disk at $slow until slow_down; fail if it is not supported, or NAME is not wanted
slow_disk() {
    name=$1
    wanted "$name" || return 1
    shift
    status=0
    "$here/throttle.sh" up "$slow" "$@" || status=$?
    if [ $status != 0 ]; then
        [ $status = 77 ] && echo "$name: left out" || failed="$failed $name"
        return 1
    fi
    trap '"$here/throttle.sh" down "$slow"' EXIT
    trap 'exit 130' INT TERM HUP
    under="$here/throttle.sh run $slow"
}

slow_down() {
    under=
    "$here/throttle.sh" down "$slow"
    trap - EXIT INT TERM HUP
}

# run_few_operations: measure Table 1 on a disk with few operations per second, with a profile of that disk
run_few_operations() {
    slow_disk sections-throttled 200m 128m 2000 || return 0
    tuned=$(realpath "$out")/profile-throttled before=${TUTTI_PROFILE:-}
    if $under "$here/mpirun.sh" "${MPI:-openmpi}" "$many" "$tutti" tune --quick --out "$tuned" "$slow" >"$out/tune.txt"; then
        export TUTTI_PROFILE="$tuned"
    fi
    run "$many" sections-throttled sections --dir "$slow" --part common --op read --array 32m --cold --rounds 11 --iops 2000
    unset TUTTI_PROFILE
    [ -z "$before" ] || export TUTTI_PROFILE="$before"
    slow_down
}

# run_slow: measure overlap with file access that takes time but no processor.  The disk transfers the bytes of a few
# tenths of a second at full speed, so that more bytes must be written.
run_slow() {
    slow_disk overlap-throttled 200m 512m || return 0
    run "$few" overlap-throttled overlap --dir "$slow" --procs "$few" --size 16m --iterations 2
    slow_down
}

# run_mesh_hosts MESH: measure the configurations on several hosts, with a parallel file system behind links, and with
# a local directory of the host that gathers (the paper's NFS).
run_mesh_hosts() {
    wanted mesh-hosts || return 0
    since=$(date +%s) status=0
    "$here/bench_hosts.sh" --rate 2gbit --mpi "${MPI:-openmpi}" -- "$(realpath "$experiments")" mesh "$(realpath "$1")" \
        --part writes --rule own,idg --plan reused --loads 1,50 --rounds 7 --dir "MOUNT,$(realpath "$dir")" \
        --json "$(realpath "$out")/paper-mesh-hosts.json" >/dev/null || status=$?
    if [ $status = 77 ]; then
        echo "mesh-hosts: left out"
        return 0
    fi
    report mesh-hosts
    took mesh-hosts $status "$since"
}

# run_meshes: measure counts of all meshes, all configurations of one mesh by number of partitions and on hosts, and the
# rules of all meshes
run_meshes() {
    if ! "$here/meshes.sh" "$meshes"; then
        echo "meshes of devices: left out, a box instead"
        run "$many" mesh mesh --dir "$dir"
        return 0
    fi
    set -- "$meshes/bjt.msh" "$meshes/mesa.msh" "$meshes/fingers.msh" "$meshes/power.msh"
    run 1 mesh-tables mesh "$@" --part tables
    run 8 mesh mesh "$3" --part writes --op write,read --rule own,idg --dir "$dir" --loads 1,10,50,100
    for ranks in 8 4; do
        run $ranks mesh-rules-$ranks mesh "$@" --part writes --dir "$dir" --method independent,list --rule own,random,first,idg \
            --loads 1,10,50,100
    done
    run 14 mesh-partitions mesh "$3" --part writes --procs 4,7,10,14 --rule own,idg --plan reused --dir "$dir" \
        --loads 1,50
    run_mesh_hosts "$2"
}

run "$many" steps steps --dir "$dir,$memory" --op write,read --procs "$few,$many" --files 4m,16m,64m
run "$few" overlap overlap --dir "$dir" --op write,read
run_slow
run "$many" pipelines pipelines --dir "$dir,$memory" --size 8m
run "$many" pipelines-reads pipelines --dir "$dir" --op read --size 8m --procs "$many"
run "$few" pipelines-direct pipelines --dir "$dir" --direct-io 1
run "$few" pipelines-shm pipelines --dir "$dir" --direct-io 1 --exchange shm
run "$many" primitives primitives --dir "$dir,$memory" --op write,read --size 8m --procs "$many"
run "$many" sections sections --dir "$dir" --part common
run "$many" sections-more sections --dir "$dir" --part overlapping,distinct,distributions --array 32m
run "$many" sections-cold sections --dir "$dir" --part common --op read --cold --rounds 15
run_few_operations
run_meshes
run "$many" dataset dataset --part visible --size 8m --dir "$memory"
run "$many" dataset-disk dataset --part durable,meshes,commits,opening --size 2m --dir "$dir"
run "$many" dataset-buffers dataset --part buffers --size 16m --dir "$dir"
run "$many" exodus exodus --dir "$dir"
run "$few" auto auto --dir "$dir,$memory" --size 4m --rounds 14
echo "in all: $(($(date +%s) - began)) s"
if [ -n "$failed" ]; then
    echo "failed:$failed" >&2
    exit 1
fi
