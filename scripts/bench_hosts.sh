#!/bin/sh
# bench_hosts.sh [FLAG...] -- PROGRAM ARGUMENT...   runs an MPI program on hosts with a parallel file system.
#
# Creates hosts with shaped links (hosts.sh), servers of GlusterFS at their switch, and on each host a
# client that mounts it (gluster.sh); runs the program on them; removes everything afterwards, also when
# interrupted.  The word MOUNT in the arguments, alone or before a slash or a comma, is replaced by
# the path of the mount.
#
#   --hosts N         number of hosts (4)            --rate LIST        rates of the links, with one run for
#   --ranks N         ranks per host (1)                                each, such as 100mbit,none (2gbit)
#   --bricks N        number of bricks (4)           --set NAME=VALUE   set an option of the volume
#   --mpi NAME        openmpi (default) or mpich     --time SECONDS     time limit of a run (900)
#   --caches 1        clients keep their default caches: other hosts see data late (gluster.sh)
#   --state DIR       directory of all data, including the files (a new one in TMPDIR or /var/tmp)
#
# Exit code: that of the first failed run; 124 if it exceeded the time limit; 77 if not supported.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
hosts=4 ranks=1 bricks=4 mpi=openmpi rates=2gbit settings='' seconds=900 state='' runner=''

usage() {
    sed -n '2s/^# *//p; 9,14s/^# *//p' "$0" >&2
    exit 2
}

is_number() {
    case $1 in '' | 0* | *[!0-9]* | ?????*) usage ;; esac
}

while [ $# -gt 1 ] && [ "$1" != -- ]; do
    case $1 in
    --hosts) hosts=$2 ;;
    --ranks) ranks=$2 ;;
    --bricks) bricks=$2 ;;
    --mpi) mpi=$2 ;;
    --rate) rates=$(echo "$2" | tr , ' ') ;;
    --set) settings="$settings $2" ;;
    --caches) export GLUSTER_CACHES="$2" ;;
    --time) seconds=$2 ;;
    --state) state=$2 ;;
    *) usage ;;
    esac
    shift 2
done
if [ $# -lt 2 ] || [ "$1" != -- ]; then usage; fi
shift
for number in "$hosts" "$ranks" "$bricks" "$seconds"; do
    is_number "$number"
done

# finish CODE: remove hosts, servers and clients; exit with CODE
finish() {
    trap '' INT TERM HUP
    code=$1
    [ -z "$runner" ] || kill "$runner" 2>/dev/null || :
    wait
    sh "$here/gluster.sh" down "$state/gluster" || code=1
    sh "$here/hosts.sh" down "$state/hosts" || code=1
    rmdir "$state/mount" "$state" || code=1
    exit "$code"
}

# make: create hosts, servers and clients
make() {
    sh "$here/hosts.sh" up "$state/hosts" "$hosts" || exit
    sh "$here/gluster.sh" up "$state/gluster" "$bricks" "$state/hosts" || exit
    for setting in $settings; do
        sh "$here/gluster.sh" set "$state/gluster" "${setting%%=*}" "${setting#*=}"
    done
    i=0 counts=''
    while [ $i -lt "$hosts" ]; do
        i=$((i + 1)) counts=$counts${counts:+,}$ranks
        sh "$here/gluster.sh" mount "$state/gluster" $i "$state/mount"
    done
}

# run_at RATE PROGRAM ARGUMENT...: run the program with links of this rate
run_at() {
    sh "$here/hosts.sh" rate "$state/hosts" "$1"
    echo "$hosts hosts, $ranks ranks each, links of $1, GlusterFS with $bricks bricks:"
    shift
    timeout -k 10 "$seconds" sh "$here/hosts.sh" run "$state/hosts" "$mpi" "$counts" "$@" &
    runner=$!
    code=0
    wait $runner || code=$?
    runner=''
    return $code
}

if [ -z "$state" ]; then
    state=$(mktemp -d "${TMPDIR:-/var/tmp}/tutti-hosts.XXXXXX")
else
    mkdir "$state"
    state=$(cd "$state" && pwd)
fi
trap 'finish $?' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$state/mount"
n=$#
for word; do
    case $word in MOUNT | MOUNT/* | MOUNT,*) word=$state/mount${word#MOUNT} ;; esac
    set -- "$@" "$word"
done
shift "$n"
# shellcheck disable=SC2086 # a list of rates
HOSTS_LIFE=$((seconds * $(set -- $rates && echo $#) + 120))
export HOSTS_LIFE
make
for rate in $rates; do
    code=0
    run_at "$rate" "$@" || code=$?
    [ $code = 0 ] || exit $code
done
