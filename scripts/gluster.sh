#!/bin/sh
# gluster.sh   a parallel file system for tests: GlusterFS in private network namespaces (root only).
#
#   gluster.sh up DIR N [HOSTS]                  start servers of N bricks, with all data in DIR (new, absolute)
#   gluster.sh mount DIR HOST POINT [FLAG...]    mount the volume on a host at POINT (a directory)
#   gluster.sh set DIR NAME VALUE                set an option of the volume, e.g. performance.write-behind off
#   gluster.sh down DIR                          unmount and end everything; nothing remains
#
# HOSTS is a directory of hosts.sh: the servers are at the switch of these hosts, and each host reaches
# them over its own link, at any rate; HOST is 1, 2, ...  Without HOSTS the servers are at a
# switch without hosts.  HOST `here` is the machine itself: POINT is visible to all processes, and the client
# connects to the servers inside their namespace.  No process listens outside of it.
#
# By default a client caches names, sizes and pages for a second, and delays writes until the file
# is closed or flushed: hosts then do not see data of others, and an earlier write of one host may
# overwrite a later one of another.  Programs that share open files require that caches are off,
# which is the default here; GLUSTER_CACHES=1 (for `up` and `mount`) leaves them on.
#
# The servers (glusterd, and a glusterfsd per brick) have private mount and process namespaces as
# well: /run, /var/lib/glusterd and /var/log/glusterfs are in DIR, and all processes end with the first.
# If they are not stopped, they end themselves after HOSTS_LIFE seconds (600).
# Exit code 77: not supported.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
address=10.77.0.254
volume=tutti
caches=${GLUSTER_CACHES:-0}
life=${HOSTS_LIFE:-600}
# shellcheck disable=SC1091 # another file
. "$here/end_marked.sh"

usage() {
    sed -n '4,7s/^#  *//p' "$0" >&2
    exit 2
}

give_up() {
    echo "gluster.sh: no GlusterFS here: $*"
    exit 77
}

# fail WHAT [LOG]: print the reason and the end of the log; exit
fail() {
    echo "gluster.sh: $1" >&2
    [ ! -e "${2:-}" ] || tail -n 20 "$2" >&2
    exit 1
}

# await SECONDS command...: repeat a command until it succeeds, up to SECONDS
await() {
    tries=$(($1 * 20))
    shift
    while ! "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.05
    done
}

# is_there PID MARK: succeed if the process exists and has the mark; its id may have been reused
is_there() {
    is_marked "$1" "$2" && return
    echo "gluster.sh: process $1 of $2 has ended" >&2
    return 1
}

# on HOST command...: run a command on a host or at the switch; HOST `here`: on this machine, in the network of the switch
on() {
    hosts=$(cat "$dir/hosts-are")
    case $1 in
    here)
        shift
        switch=$(cat "$hosts/pid.switch")
        is_there "$switch" "HOSTS_MARK=$hosts" || return
        nsenter -t "$switch" -n -- "$@"
        ;;
    *) sh "$here/hosts.sh" on "$hosts" "$@" ;;
    esac
}

# find_server: set the id of glusterd's process
find_server() {
    for pid in $(marked "$mark"); do
        if [ "$(cat "/proc/$pid/comm")" = glusterd ]; then
            echo "$pid" >"$dir/pid"
            return
        fi
    done
    return 1
}

# ask ARGUMENT...: run the command `gluster` in the namespace of glusterd
ask() {
    server=$(cat "$dir/pid")
    is_there "$server" "$mark" || return
    nsenter -t "$server" -n -m -p -- timeout 60 gluster --mode=script --timeout=50 \
        --glusterd-sock=/run/gluster/glusterd.socket "$@"
}

# is_mounted HOST POINT: succeed if POINT is mounted, in any state; the kernel lists resolved paths, with \040
# for a space
is_mounted() {
    listed=$(echo "$2" | sed 's/ /\\040/g')
    if [ "$1" = here ]; then
        cat /proc/self/mounts
    else
        on "$1" cat /proc/self/mounts
    fi | cut -d' ' -f2 | grep -qxF -e "$listed"
}

# unmount HOST POINT: unmount, unless the host has ended and with it the mount
unmount() {
    is_mounted "$@" 2>/dev/null || return 0
    if [ "$1" = here ]; then
        timeout -k 1 10 umount "$2" 2>/dev/null || umount -l "$2"
    else
        on "$1" timeout -k 1 10 umount "$2" 2>/dev/null || on "$1" umount -l "$2"
    fi
}

down() {
    trap '' INT TERM HUP
    [ -e "$dir/is-gluster" ] || return 0
    code=0
    while read -r host point; do
        unmount "$host" "$point" || code=1
    done <"$dir/mounts"
    end_marked "$mark" || code=1
    [ ! -e "$dir/hosts" ] || sh "$here/hosts.sh" down "$dir/hosts" || code=1
    rm -rf --one-file-system "$dir" || code=1
    return $code
}

# write_start: write the configuration of glusterd, and the script that starts it with its files in DIR
write_start() {
    cat >"$dir/glusterd.vol" <<VOL
volume management
    type mgmt/glusterd
    option working-directory /var/lib/glusterd
    option run-directory /run/gluster
    option glusterd-sockfile /run/gluster/glusterd.socket
    option transport-type socket
    option transport.socket.bind-address $address
    option transport.socket.listen-port 24007
    option ping-timeout 0
    option event-threads 1
    option max-port 60999
end-volume
VOL
    cat >"$dir/start" <<START
set -eu
mkdir -p /var/lib/glusterd /var/log/glusterfs
mount --bind "$dir/run" /run
mount --bind "$dir/state" /var/lib/glusterd
mount --bind "$dir/log" /var/log/glusterfs
exec timeout -k 5 $life glusterd --no-daemon --volfile="$dir/glusterd.vol" \\
    --log-file="$dir/log/glusterd.log"
START
}

# serve: start glusterd and wait for it
serve() {
    write_start
    (
        export "${mark?}"
        on switch ip addr replace $address/24 dev br0
        on switch unshare --mount --pid --fork --mount-proc --kill-child sh "$dir/start"
    ) </dev/null >"$dir/log/start" 2>&1 &
    await 30 find_server || fail "glusterd does not start" "$dir/log/start"
    await 30 ask pool list || fail "glusterd does not answer" "$dir/log/glusterd.log"
}

# make_volume N: create a volume of N bricks in DIR/run, for which the servers use a short path
make_volume() {
    i=0
    set -- "$1" volume create $volume
    while [ $i -lt "$1" ]; do
        i=$((i + 1))
        mkdir "$dir/run/brick.$i"
        set -- "$@" "$address:/run/brick.$i"
    done
    shift
    ask "$@" force >"$dir/log/create" 2>&1 || fail "no volume" "$dir/log/create"
    if [ "$caches" = 0 ]; then
        ask volume set $volume performance.write-behind off performance.stat-prefetch off >"$dir/log/create"
    fi
    ask volume start $volume >"$dir/log/create" 2>&1 || fail "the volume does not start" "$dir/log/create"
}

check_means() {
    [ "$(id -u)" = 0 ] || give_up "only root may mount"
    for tool in glusterd glusterfs gluster mountpoint nsenter unshare; do
        command -v $tool >/dev/null || give_up "$tool is not installed (Debian: glusterfs-server)"
    done
    [ -c /dev/fuse ] || give_up "there is no /dev/fuse"
    case $dir in /run/* | /var/run/* | /var/lib/glusterd/* | /var/log/glusterfs/*)
        fail "$dir: the servers have a $dir of their own"
        ;;
    esac
}

# up N [HOSTS]: start the servers and create the volume
up() {
    check_means
    mkdir "$dir"
    : >"$dir/is-gluster"
    : >"$dir/mounts"
    trap '[ $? = 0 ] || down' EXIT
    trap 'exit 130' INT TERM HUP
    mkdir "$dir/log" "$dir/run" "$dir/run/gluster" "$dir/state"
    if ! setfattr -n trusted.tutti -v 1 "$dir/log" 2>/dev/null; then
        give_up "the file system of $dir keeps no extended attributes"
    fi
    echo "${2:-$dir/hosts}" >"$dir/hosts-are"
    [ $# = 2 ] || sh "$here/hosts.sh" up "$dir/hosts" 0 || exit
    serve
    make_volume "$1"
}

# mount_on HOST POINT FLAG...: start a client on a host and wait until it has the volume
mount_on() {
    host=$1 point=$(realpath "$2") log=$dir/log/client.$1
    shift 2
    [ "$caches" != 0 ] || set -- --entry-timeout=0 --attribute-timeout=0 --direct-io-mode=enable "$@"
    [ -e "$dir/is-gluster" ] || fail "$dir is not up"
    ! is_mounted "$host" "$point" || fail "something is mounted at $point already"
    echo "$host $point" >>"$dir/mounts"
    (
        export "${mark?}"
        on "$host" timeout -k 5 "$life" glusterfs --no-daemon --volfile-server=$address \
            --volfile-id=$volume --log-file="$log" "$@" "$point"
    ) </dev/null >"$log.start" 2>&1 &
    await 30 is_mounted "$host" "$point" || fail "host $host cannot mount it" "$log"
    # The mount point is mounted before the client can use the volume.
    await 30 on "$host" timeout 5 stat -f "$point" || fail "host $host cannot use it" "$log"
}

[ $# -ge 2 ] || usage
what=$1 dir=$2
shift 2
case $dir in /*) ;; *) usage ;; esac
mark=GLUSTER_MARK=$dir
case $what.$# in
up.[12]) up "$@" ;;
mount.[01]) usage ;;
mount.*) mount_on "$@" ;;
set.2) ask volume set $volume "$@" >/dev/null ;;
down.0) down ;;
*) usage ;;
esac
