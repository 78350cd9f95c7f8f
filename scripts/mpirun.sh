#!/bin/sh
# mpirun.sh openmpi|mpich NP command...   runs a program on NP ranks of this machine.  (smpi: see simulate.sh.)
#
# Tests, `make run` and the examples in the docs use these settings: more ranks than cores are allowed
# (waiting ranks yield), root may run programs (containers), and messages use shared memory.  Both
# launchers listen on every network interface; with root permissions, they are therefore started in a
# network namespace that has only loopback.  MPIRUN_FLAGS: further flags; MPIRUN_PRELOAD: a library to
# preload for the ranks.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
if [ $# -lt 3 ]; then
    sed -n '2s/^# //p' "$0" >&2
    exit 2
fi
mpi=$1 np=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)

# first_of NAME...: print the first of these programs that exists
first_of() {
    for name; do
        if command -v "$name" >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
    echo "mpirun.sh: none of these programs exists: $*" >&2
    exit 127
}

# start COMMAND...: execute a command, if possible in a network namespace with only loopback
start() {
    if unshare -n ip link set lo up 2>/dev/null; then
        exec unshare -n sh -c 'ip link set lo up && exec "$@"' sh "$@"
    fi
    exec "$@"
}

case $mpi in
openmpi)
    launcher=$(first_of mpirun.openmpi mpirun)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PMIX_MCA_ptl_tcp_if_include=lo
    if [ -n "${MPIRUN_PRELOAD:-}" ]; then
        set -- -x LD_PRELOAD="$MPIRUN_PRELOAD${LD_PRELOAD:+:$LD_PRELOAD}" "$@"
    fi
    # shellcheck disable=SC2086 # MPIRUN_FLAGS is a list of words
    start "$launcher" --oversubscribe --bind-to none -np "$np" \
        --mca mpi_yield_when_idle 1 --mca pml ob1 --mca osc ^ucx --mca btl self,vader \
        --mca btl_vader_single_copy_mechanism none \
        --mca oob_tcp_if_include lo --mca btl_tcp_if_include lo ${MPIRUN_FLAGS:-} "$@"
    ;;
mpich)
    launcher=$(first_of mpiexec.mpich mpiexec)
    shim=${TUTTI_MPICH_YIELD:-$here/../build/mpich/libmpich_yield.so}
    preload=${LD_PRELOAD:-}
    case $shim in *' '*) # a space separates names in LD_PRELOAD: use LD_LIBRARY_PATH and the file name
        export LD_LIBRARY_PATH="${shim%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        [ ! -f "$shim" ] || preload=${shim##*/}${preload:+:$preload}
        shim=
        ;;
    esac
    [ ! -f "$shim" ] || preload=$shim${preload:+:$preload}
    [ -z "${MPIRUN_PRELOAD:-}" ] || preload=$MPIRUN_PRELOAD${preload:+:$preload}
    [ -z "$preload" ] || set -- -genv LD_PRELOAD "$preload" "$@"
    export UCX_TLS="${UCX_TLS:-sm,self}" UCX_NET_DEVICES="${UCX_NET_DEVICES:-lo}"
    # shellcheck disable=SC2086
    start "$launcher" -bind-to none -iface lo -np "$np" ${MPIRUN_FLAGS:-} "$@"
    ;;
smpi)
    exec "$here/simulate.sh" "$np" "$@"
    ;;
*)
    echo "mpirun.sh: unknown MPI '$mpi': must be openmpi, mpich or smpi" >&2
    exit 2
    ;;
esac
