#!/bin/sh
# throttle.sh   a slow disk, for file access that takes time but no processor (root only).
#
#   throttle.sh up DIR RATE SIZE [IOPS]   mount a file system of SIZE bytes on a disk of RATE bytes/s at DIR
#   throttle.sh run DIR command...        run a command, and its child processes, with the slow disk
#   throttle.sh down DIR                  end remaining processes and remove the disk
#
# The disk is a loop device on a file next to DIR (which is absolute, and new or empty), with ext4 on it;
# RATE and SIZE take k, m, g (powers of 1024).  The control group blkio of cgroup v1 delays what the
# processes of `run` read and write there: direct access at once, buffered access when it is flushed;
# reads and writes have RATE each, and IOPS operations per second each, if given.  Data that the
# kernel flushes on its own is charged to the root of the groups, which is therefore limited for this disk
# too.  The file of the disk is allocated beforehand, so that it cannot fill the real disk.
# Exit code 77: not supported.
# SPDX-License-Identifier: BSD-3-Clause
set -eu

usage() {
    sed -n '4,6s/^#  *//p' "$0" >&2
    exit 2
}

# bytes_of TEXT: print the number of bytes of a text such as 64m
bytes_of() {
    number=${1%[kmg]}
    case $number in '' | 0* | *[!0-9]* | ????????????*)
        echo "throttle.sh: '$1' is not a number of bytes: must be like 512, 64k, 16m, 1g" >&2
        exit 2
        ;;
    esac
    case $1 in
    *k) echo $((number << 10)) ;;
    *m) echo $((number << 20)) ;;
    *g) echo $((number << 30)) ;;
    *) echo "$number" ;;
    esac
}

give_up() {
    echo "throttle.sh: no slow disk here: $*"
    exit 77
}

# groups: print the directory of the control groups of blkio
groups() {
    awk '$3 == "cgroup" && $4 ~ /(^|,)blkio(,|$)/ { print $2; exit }' /proc/mounts
}

# loops: print the loop devices on the file (one, or none)
loops() {
    [ ! -e "$state/image" ] || losetup -j "$state/image" | cut -d: -f1
}

# limit GROUP DEVICE read_bps|read_iops|write_bps|write_iops NUMBER: set a limit; 0: no limit
limit() {
    echo "$(cat "/sys/block/${2#/dev/}/dev") $4" >"$1/blkio.throttle.${3}_device"
}

# unlimit: remove the limits, so that no process waits for the disk
unlimit() {
    for device in $(loops); do
        for way in read_bps write_bps read_iops write_iops; do
            [ ! -d "$group" ] || limit "$group" "$device" $way 0 2>/dev/null || :
        done
        limit "$root" "$device" write_bps 0 2>/dev/null || :
        limit "$root" "$device" write_iops 0 2>/dev/null || :
    done
}

# end_members: end the processes of the group, and wait until it is empty, up to 30 s
end_members() {
    tries=600
    while [ $tries -gt 0 ]; do
        members=$(cat "$group/cgroup.procs")
        [ -n "$members" ] || return 0
        for pid in $members; do
            kill -KILL "$pid" 2>/dev/null || :
        done
        tries=$((tries - 1))
        sleep 0.05
    done
    echo "throttle.sh: processes are still running: $members" >&2
    return 1
}

# remove_group: remove the group; retry, since this may fail shortly after the end of its last process
remove_group() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        rmdir "$group" 2>/dev/null && return
        sleep 0.05
    done
    rmdir "$group"
}

# detach DEVICE: detach a loop device, after background work of the kernel has ended
detach() {
    losetup -d "$1" 2>/dev/null || :
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ "$(loops)" = "$1" ] || return 0
        sleep 0.1
    done
    echo "throttle.sh: $1 is still in use, perhaps in another mount namespace: it is released when the user ends" >&2
}

# unmount: unmount within a second, or lazily after the last use
unmount() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        mountpoint -q "$dir" || return 0
        timeout -k 1 30 umount "$dir" 2>/dev/null || sleep 0.1
    done
    echo "throttle.sh: $dir is in use by other processes: unmounted lazily" >&2
    umount -l "$dir"
}

down() {
    trap '' INT TERM HUP
    [ -e "$state/is-throttle" ] || return 0
    code=0
    unlimit
    if [ -d "$group" ]; then
        end_members || code=1
    fi
    if mountpoint -q "$dir"; then
        unmount || code=1
    fi
    for device in $(loops); do
        detach "$device" || code=1
    done
    if [ -d "$group" ]; then
        remove_group || code=1
    fi
    rm -f "$state/image" "$state/log" "$state/is-throttle" || code=1
    rmdir "$state" || code=1
    [ ! -d "$dir" ] || rmdir "$dir" || code=1
    return $code
}

# try command...: run a command; exit with its output if it fails
try() {
    "$@" >"$state/log" 2>&1 || give_up "$*: $(cat "$state/log")"
}

# make_disk BYTES: create the file, the loop device and the file system
make_disk() {
    free=$(($(stat -f -c '%a * %S' "$state")))
    [ $((free * 9 / 10)) -ge "$1" ] || give_up "not enough free space for $1 bytes beside $dir"
    try fallocate -l "$1" "$state/image"
    losetup --direct-io=on -f "$state/image" 2>"$state/log" || try losetup -f "$state/image"
    device=$(loops)
    # No journal and no deferred initialization, so that only the command uses the disk.
    try mkfs.ext4 -q -F -m 0 -O ^has_journal -E nodiscard,lazy_itable_init=0 "$device"
    try mount "$device" "$dir"
    mountpoint -q "$dir" || give_up "$dir is not mounted"
}

# undo: remove what `up` has created so far
undo() {
    rm -rf "$state.$$"
    [ "$(cat "$state/is-throttle" 2>/dev/null)" != $$ ] || down
}

# up BYTES_PER_SECOND BYTES OPERATIONS_PER_SECOND: create and mount the disk; 0 operations: no limit
up() {
    [ "$(id -u)" = 0 ] || give_up "only root may mount"
    for tool in losetup fallocate mkfs.ext4 mount mountpoint; do
        command -v $tool >/dev/null || give_up "$tool is not installed"
    done
    [ -n "$root" ] || give_up "the machine has no blkio of cgroup v1"
    [ ! -d "$dir" ] || rmdir "$dir"
    # The directory and the id of its owner appear at once, so that `undo` knows the owner after an interruption.
    trap '[ $? = 0 ] || undo' EXIT
    trap 'exit 130' INT TERM HUP
    mkdir "$state.$$"
    echo $$ >"$state.$$/is-throttle"
    mv -T "$state.$$" "$state"
    mkdir "$dir"
    try mkdir "$group"
    make_disk "$2"
    for way in read write; do
        try limit "$group" "$device" ${way}_bps "$1"
        [ "$3" = 0 ] || try limit "$group" "$device" ${way}_iops "$3"
    done
    try limit "$root" "$device" write_bps "$1"
    [ "$3" = 0 ] || try limit "$root" "$device" write_iops "$3"
}

run() {
    if ! mountpoint -q "$dir" || [ ! -d "$group" ]; then
        echo "throttle.sh: $dir is not mounted: run 'throttle.sh up' first" >&2
        exit 1
    fi
    echo $$ >"$group/cgroup.procs"
    exec "$@"
}

[ $# -ge 2 ] || usage
what=$1 dir=${2%/}
shift 2
case $dir in /*) ;; *) usage ;; esac
state=$dir.throttle
root=$(groups)
group=$root/tutti-throttle.$(printf %s "$dir" | cksum | cut -d' ' -f1)
case $what.$# in
up.2 | up.3)
    rate=$(bytes_of "$1")
    size=$(bytes_of "$2")
    operations=0
    [ $# = 2 ] || operations=$(bytes_of "$3")
    if [ "$size" -lt 16777216 ]; then
        echo "throttle.sh: disk size is $2: must be >= 16m" >&2
        exit 2
    fi
    up "$rate" "$size" "$operations"
    ;;
run.0) usage ;;
run.*) run "$@" ;;
down.0) down ;;
*) usage ;;
esac
