#!/usr/bin/env bash
# simulate.sh NP PROGRAM [ARG...]   runs a program of build/smpi on NP ranks of a simulated machine (SimGrid's SMPI).
#
# The machine is described by variables:
#
#   SIMULATED_TOPOLOGY   fat-tree (default): leaf switches with 16 hosts and 8 links upwards
#                        dragonfly: at most 8 groups, all to all; groups of 8 routers with 4 hosts each, and of
#                        several chassis of 8 routers from 257 hosts on
#                        crossbar: every pair of hosts has its own path
#   SIMULATED_PER_HOST   ranks per host, neighbours in rank order (1)
#   SIMULATED_SECONDS    limit of real time for a run (300)
#   SIMULATED_MEMORY     limit of address space in GiB, of which little is touched (64)
#   SIMULATED_FLAGS      further arguments of smpirun
#
# The program runs in a temporary directory: paths of files must be absolute.
#
# A link transfers 12.5 GB/s with a latency of 500 ns; a host sends one message per 200 ns.  Computation takes no time:
# times include messages only and are reproducible.  Collective algorithms are selected explicitly: SMPI's selectors
# choose different algorithms for different numbers of ranks, and make the creation of communicators expensive.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
if [ $# -lt 2 ]; then
    sed -n '2s/^# //p' "$0" >&2
    exit 2
fi
np=$1 program=$(realpath "$2")
shift 2
topology=${SIMULATED_TOPOLOGY:-fat-tree} per_host=${SIMULATED_PER_HOST:-1}
hosts=$(((np + per_host - 1) / per_host))
work=$(mktemp -d "${TMPDIR:-/tmp}/tutti-simulated-XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM HUP

# Set `form` to the topology in SimGrid's notation, and `count` to its number of hosts, which is at least `hosts`.
case $topology in
fat-tree)
    leaves=$(((hosts + 15) / 16))
    form="topology='FAT_TREE' topo_parameters='2;16,$leaves;1,8;1,1'" count=$((16 * leaves))
    ;;
dragonfly) # groups, chassis, routers per chassis, hosts per router; each with the number of links
    # SimGrid connects a group to as many other groups as a chassis has routers.
    chassis=$(((hosts + 255) / 256)) groups=$(((hosts + 31) / 32))
    [ $groups -gt 1 ] || groups=2
    [ $groups -lt 8 ] || groups=8
    form="topology='DRAGONFLY' topo_parameters='$groups,4;$chassis,2;8,1;4'" count=$((groups * chassis * 32))
    ;;
crossbar) form='' count=$hosts ;;
*)
    echo "simulate.sh: SIMULATED_TOPOLOGY is '$topology': must be fat-tree, dragonfly or crossbar" >&2
    exit 2
    ;;
esac
cat >"$work/platform.xml" <<EOF
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="machine" prefix="host-" suffix="" radical="0-$((count - 1))" speed="1Gf"
    bw="12.5GBps" lat="500ns" loopback_bw="12.5GBps" loopback_lat="100ns" sharing_policy="SPLITDUPLEX"
    $form/>
</platform>
EOF
host=0
while [ "$host" -lt "$hosts" ]; do
    echo "host-$host:$per_host"
    host=$((host + 1))
done >"$work/hosts"

cd "$work" # smpirun leaves files in the current directory if it fails
ulimit -n "$(ulimit -Hn)"
ulimit -v $((${SIMULATED_MEMORY:-64} << 20))
# shellcheck disable=SC2086 # a list of words
timeout -k 5 "${SIMULATED_SECONDS:-300}" smpirun -np "$np" -platform "$work/platform.xml" -hostfile "$work/hosts" --cfg=smpi/tmpdir:"$work" \
    --cfg=smpi/errors-are-fatal:no --log=root.thres:warning --cfg=contexts/stack-size:512 \
    --cfg=smpi/simulate-computation:no --cfg=smpi/host-speed:1Gf --cfg=surf/precision:1e-12 \
    --cfg=smpi/bw-factor:"0:1" --cfg=smpi/lat-factor:"0:1" --cfg=smpi/os:0:2e-7:0 --cfg=smpi/ois:0:2e-7:0 --cfg=smpi/or:0:0:0 \
    --cfg=smpi/async-small-thresh:65536 --cfg=smpi/send-is-detached-thresh:1000000000 \
    --cfg=smpi/wtime:0 --cfg=smpi/test:0 --cfg=smpi/iprobe:5e-8 \
    --cfg=smpi/barrier:mpich --cfg=smpi/allgather:bruck --cfg=smpi/allreduce:rdb \
    --cfg=smpi/bcast:binomial_tree --cfg=smpi/reduce:binomial --cfg=smpi/reduce_scatter:mpich_rdb \
    --cfg=smpi/allgatherv:ring --cfg=smpi/alltoall:bruck --cfg=smpi/alltoallv:mpich \
    ${SIMULATED_FLAGS:-} "$program" "$@"
