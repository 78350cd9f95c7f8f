#!/bin/sh
# TEST ranks=0 timeout=60 cores=0
# The slow disk of scripts/throttle.sh: direct access takes at least most of the expected time, bytes are correct, and
# nothing remains after success or failure.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
throttle=$top/scripts/throttle.sh
disk=$TUTTI_TEST_DIR/disk
group=tutti-throttle.$(printf %s "$disk" | cksum | cut -d' ' -f1)
failed=0
fail() {
    echo "$*"
    failed=1
}
trap 'trap "" INT TERM HUP; sh "$throttle" down "$disk"' EXIT
trap 'exit 130' INT TERM HUP

# nothing_left WHEN: check that no disk, loop device, mount or cgroup remains
nothing_left() {
    if [ -e "$disk" ] || [ -e "$disk.throttle" ] || losetup -a | grep -F "$disk" ||
        grep -F " $disk " /proc/mounts || find /sys/fs/cgroup -name "$group" 2>/dev/null | grep .; then
        fail "$1: something is left"
    fi
}

# milliseconds command...: run a command on the slow disk and print its duration
milliseconds() {
    start=$(date +%s%N)
    sh "$throttle" run "$disk" "$@" >"$TUTTI_TEST_DIR/log" 2>&1 || cat "$TUTTI_TEST_DIR/log" >&2
    echo $((($(date +%s%N) - start) / 1000000))
}

# slow WHAT command...: check the minimum duration of 16 MiB at 32 MiB/s; no maximum, since other programs may run
slow() {
    what=$1
    shift
    took=$(milliseconds "$@")
    [ "$took" -ge 400 ] || fail "$what: 16 MiB at 32 MiB/s took $took ms"
}

sh "$throttle" up "$disk" 32m 64m
code=$?
if [ $code != 0 ]; then
    nothing_left "not up"
    exit $code
fi
head -c 16777216 /dev/urandom >"$TUTTI_TEST_DIR/bytes"
slow "direct write" dd if="$TUTTI_TEST_DIR/bytes" of="$disk/a" bs=1M oflag=direct
slow "flushed write" dd if="$TUTTI_TEST_DIR/bytes" of="$disk/b" bs=1M conv=fsync
slow "direct read" dd if="$disk/a" of="$TUTTI_TEST_DIR/back" bs=1M iflag=direct
for file in "$TUTTI_TEST_DIR/back" "$disk/a" "$disk/b"; do
    cmp "$TUTTI_TEST_DIR/bytes" "$file" || fail "$file has wrong bytes"
done
[ "$(sh "$throttle" run "$disk" sh -c 'exit 5'; echo $?)" = 5 ] || fail "the exit code is lost"
! dd if=/dev/zero of="$disk/c" bs=1M count=200 2>/dev/null || fail "the disk is larger than it should be"

# `down` kills processes that use the disk.
sh "$throttle" run "$disk" sh -c 'cd "$0" && exec sleep 4243' "$disk" &
sleep 0.2
sh "$throttle" down "$disk" || fail "down failed"
wait $! 2>/dev/null
nothing_left "after down"

# Failures of `up`, and interruptions.
sh "$throttle" up "$disk" 32m 900000g >/dev/null
[ $? = 77 ] || fail "a disk of 900000 GiB is not refused"
nothing_left "not enough free space"
sh "$throttle" up "$disk" 32x 64m 2>/dev/null
[ $? = 2 ] || fail "32x is a rate?"
for delay in 0.005 0.02 0.04; do
    sh "$throttle" up "$disk" 32m 64m >/dev/null &
    sleep $delay
    kill $! 2>/dev/null
    wait $! 2>/dev/null && sh "$throttle" down "$disk"
    nothing_left "interrupted after $delay s"
done
exit $failed
