#!/bin/sh
# hosts.sh   several hosts on one machine: MPI programs across a network (root only).
#
#   hosts.sh up DIR N [RATE]                     create N hosts; DIR (new, absolute) contains their state
#   hosts.sh rate DIR RATE [HOST...]             set the rate of links per direction (2gbit, 100mbit, none)
#   hosts.sh run DIR openmpi|mpich 2,1,3 command...   run with 2, 1 and 3 ranks on host 1, 2 and 3
#   hosts.sh on DIR HOST command...              run a command on a host (1, 2, ...), or at the switch
#   hosts.sh down DIR                            end all processes on the hosts; nothing remains
#
# A host is a process with private network, UTS and mount namespaces: it has a name, an address
# (10.77.0.I) and a private /dev/shm, and shares all other files.  The hosts are connected by a switch in
# a separate, isolated network namespace, outside of which nothing is visible, so that runs are
# independent.  Everything is removed when the processes end; if they are not stopped, they end
# themselves after HOSTS_LIFE seconds (600).  Every process is identified by a mark in its environment.
# A rate applies to each direction of a cable: a token bucket (tc tbf) at each end allows bursts of 1 ms.
# HOSTS_MAP (Open MPI): slot: ranks fill one host after the other; node: they are distributed cyclically.
# Exit code 77: not supported.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
net=10.77.0
life=${HOSTS_LIFE:-600}
# shellcheck disable=SC1091 # another file
. "$(dirname "$0")/end_marked.sh"

usage() {
    sed -n '4,8s/^#  *//p' "$0" >&2
    exit 2
}

down() {
    trap '' INT TERM HUP
    code=0
    end_marked "$mark" || code=1
    [ ! -e "$dir/is-hosts" ] || rm -rf "$dir" || code=1
    return $code
}

give_up() {
    echo "hosts.sh: no hosts here: $*"
    [ ! -e "$dir/is-hosts" ] || down || :
    exit 77
}

# inside WHO command...: run a command on a host, or at the switch
inside() {
    who=$1
    shift
    if [ ! -e "$dir/pid.$who" ]; then
        echo "hosts.sh: host '$who' does not exist in $dir" >&2
        return 1
    fi
    pid=$(cat "$dir/pid.$who")
    if ! is_marked "$pid" "$mark"; then # the process has ended, and another process may have its id
        echo "hosts.sh: host '$who' in $dir has ended" >&2
        return 1
    fi
    nsenter -t "$pid" -n -u -m -- "$@"
}

# hold WHO: start the process that keeps the namespaces of a host, or of the switch
hold() {
    # shellcheck disable=SC2016 # for the inner shell
    env "$mark" unshare --net --uts --mount sh -c '
        hostname "$1" && mount -t tmpfs -o size=256m tmpfs /dev/shm && ip link set lo up &&
            : >"$2" && exec sleep "$3"' sh "tutti-$$-$1" "$dir/ready.$1" "$life" \
        </dev/null >"$dir/log.$1" 2>&1 &
    echo $! >"$dir/pid.$1"
    until [ -e "$dir/ready.$1" ]; do
        kill -0 "$(cat "$dir/pid.$1")" 2>/dev/null || give_up "$(cat "$dir/log.$1")"
        sleep 0.02
    done
}

# wire I: create a cable from host I to the switch
wire() {
    inside switch ip link add "p$1" type veth peer name eth0 netns "$(cat "$dir/pid.$1")" &&
        inside switch ip link set "p$1" master br0 up &&
        inside "$1" ip addr add "$net.$1/24" dev eth0 &&
        inside "$1" ip link set eth0 up
}

# rate_check RATE: check that RATE is valid
rate_check() {
    case $1 in
    none) return ;;
    *[kmg]bit) number=${1%?bit} ;;
    *) number= ;;
    esac
    case $number in '' | 0* | *[!0-9]* | ???????*)
        echo "hosts.sh: rate is '$1': must be like 2gbit, 100mbit or 500kbit, or none" >&2
        exit 2
        ;;
    esac
}

# burst_of RATE: print the bytes of 1 ms at this rate, at least 16 KiB
burst_of() {
    case $1 in
    *kbit) bytes=$((${1%kbit} / 8)) ;;
    *mbit) bytes=$((${1%mbit} * 1000 / 8)) ;;
    *gbit) bytes=$((${1%gbit} * 1000000 / 8)) ;;
    esac
    [ "$bytes" -ge 16384 ] || bytes=16384
    echo "$bytes"
}

# shape WHO DEVICE RATE: limit the rate of packets sent at this end of a link
shape() {
    if [ "$3" != none ]; then
        inside "$1" tc qdisc replace dev "$2" root tbf rate "$3" burst "$(burst_of "$3")" latency 50ms
    elif inside "$1" tc qdisc show dev "$2" root | grep -q tbf; then
        inside "$1" tc qdisc del dev "$2" root
    fi
}

# rate RATE HOST...: set the rate at both ends of the hosts' cables
rate() {
    wanted=$1
    shift
    for i; do
        shape "$i" eth0 "$wanted" || return
        shape switch "p$i" "$wanted" || return
    done
}

# hosts_of: print the numbers of all hosts
hosts_of() {
    for file in "$dir"/pid.[0-9]*; do
        [ ! -e "$file" ] || echo "${file##*.}"
    done
}

# write_agent: write the script that a launcher calls instead of ssh, with the arguments HOST command...
write_agent() {
    cat >"$dir/agent" <<AGENT
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do
    case \$1 in -l | -p | -o) shift 2 ;; *) shift ;; esac
done
host=\${1##*.}
shift
pid=\$(cat "$dir/pid.\$host")
grep -qsazxF "$mark" "/proc/\$pid/environ" || exit 1
exec nsenter -t "\$pid" -n -u -m -- sh -c "\$*"
AGENT
    chmod +x "$dir/agent"
}

up() {
    [ "$(id -u)" = 0 ] || give_up "only root may make namespaces"
    for tool in ip tc unshare nsenter mount; do
        command -v $tool >/dev/null || give_up "$tool is not installed"
    done
    mkdir "$dir" "$dir/tmp"
    : >"$dir/is-hosts"
    trap 'down; exit 130' INT TERM HUP
    trap '[ $? = 0 ] || down' EXIT
    hold switch
    inside switch ip link add br0 type bridge 2>"$dir/log" || give_up "$(cat "$dir/log")"
    inside switch ip link set br0 up
    i=0
    while [ "$i" -lt "$1" ]; do
        i=$((i + 1))
        hold $i
        wire $i 2>"$dir/log" || give_up "$(cat "$dir/log")"
        rate "${2:-none}" $i 2>"$dir/log" || give_up "$(cat "$dir/log")"
    done
    write_agent
}

# launch MPI NP HOSTS command...: start the launcher on host 1
launch() {
    mpi=$1 np=$2 list=$3
    shift 3
    case $mpi in
    openmpi)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR="$dir/tmp" \
            inside 1 mpirun.openmpi --hostfile "$list" --map-by "${HOSTS_MAP:-slot}" --bind-to none \
            --mca plm_rsh_agent "$dir/agent" --mca orte_tmpdir_base "$dir/tmp" --mca pml ob1 \
            --mca osc ^ucx --mca btl self,vader,tcp --mca btl_vader_single_copy_mechanism none \
            --mca btl_tcp_if_include $net.0/24 --mca oob_tcp_if_include $net.0/24 \
            --mca mpi_yield_when_idle 1 -np "$np" "$@"
        ;;
    mpich)
        if [ -f "${TUTTI_MPICH_YIELD:-}" ]; then
            set -- -genv LD_PRELOAD "$TUTTI_MPICH_YIELD${LD_PRELOAD:+:$LD_PRELOAD}" -np "$np" "$@"
        else
            set -- -np "$np" "$@"
        fi
        UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 inside 1 mpiexec.mpich -f "$list" -launcher rsh \
            -launcher-exec "$dir/agent" -iface eth0 -bind-to none "$@"
        ;;
    *) usage ;;
    esac
}

stop_run() {
    trap '' INT TERM HUP
    end_marked "HOSTS_RUN=$dir.$$"
}

run() {
    mpi=$1 counts=$2
    shift 2
    np=0 i=0 between=" slots="
    [ "$mpi" = openmpi ] || between=":"
    list=$dir/list.$$
    for n in $(echo "$counts" | tr , ' '); do
        i=$((i + 1)) np=$((np + n))
        echo "$net.$i$between$n"
    done >"$list"
    # This run has its own mark, by which its remaining processes are ended.
    export HOSTS_MARK="$dir" HOSTS_RUN="$dir.$$"
    launch "$mpi" "$np" "$list" "$@" </dev/null &
    child=$!
    unset HOSTS_MARK HOSTS_RUN
    trap 'stop_run; exit 143' INT TERM HUP
    code=0
    wait $child || code=$?
    stop_run || [ $code != 0 ] || code=1
    exit $code
}

[ $# -ge 2 ] || usage
what=$1 dir=$2
shift 2
case $dir in /*) ;; *) usage ;; esac
mark=HOSTS_MARK=$dir
case $what.$# in
up.1) up "$1" ;;
up.2) rate_check "$2" && up "$1" "$2" ;;
rate.0 | on.0 | on.1) usage ;;
rate.*)
    rate_check "$1"
    # shellcheck disable=SC2046 # a list of numbers
    [ $# -gt 1 ] || set -- "$1" $(hosts_of)
    rate "$@"
    ;;
on.*)
    export HOSTS_MARK="$dir"
    inside "$@"
    ;;
run.[012]) usage ;;
run.*) run "$@" ;;
down.0) down ;;
*) usage ;;
esac
