#!/bin/sh
# TEST ranks=0 timeout=110 cores=0
# GlusterFS and four simulated hosts that mount the file system, each over its own link (scripts/gluster.sh): bytes that
# ranks on four hosts write collectively are correct on every host, also with O_DIRECT.  With the default caches of
# clients, collective writes are serialized, and collective reads return the written data.  The servers listen only in
# their namespace, and no process or mount remains afterwards.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
hosts=$top/scripts/hosts.sh
gluster=$top/scripts/gluster.sh
programs=$TUTTI_BUILD_DIR/tests/collective
here=$TUTTI_TEST_DIR/hosts volume=$TUTTI_TEST_DIR/gluster mount=$TUTTI_TEST_DIR/mount
runner=
failed=0
fail() {
    echo "$*"
    failed=1
}

# shellcheck disable=SC2317 # called by the trap
finish() {
    trap '' INT TERM HUP
    [ -z "$runner" ] || kill "$runner" 2>/dev/null
    wait
    sh "$gluster" down "$volume"
    sh "$hosts" down "$here"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# across WORD PROGRAM [VARIABLE=VALUE]: run on four hosts; the output must contain WORD
across() {
    env TUTTI_TEST_DIR="$mount" "${3:-A=b}" timeout -k 5 40 \
        sh "$hosts" run "$here" openmpi 1,1,1,1 "$programs/$2" 4 >"$TUTTI_TEST_DIR/out" 2>&1 &
    runner=$!
    wait $runner
    code=$?
    runner=
    if [ $code != 0 ] || ! grep -q "^$1: passed" "$TUTTI_TEST_DIR/out"; then
        fail "$2 ${3:-}: exit code $code"
        cat "$TUTTI_TEST_DIR/out"
    fi
}

# listens WHERE...: test whether port 24007 (5DC7) of glusterd has a listener there
listens() {
    "$@" cat /proc/self/net/tcp /proc/self/net/tcp6 | grep -q ':5DC7 [0-9A-F:]* 0A '
}

# begin CACHES: start the servers and a client on each host
begin() {
    export GLUSTER_CACHES="$1"
    sh "$gluster" up "$volume" 4 "$here" || exit
    for host in 1 2 3 4; do
        sh "$gluster" mount "$volume" $host "$mount" || exit 1
    done
}

# end: stop the servers; check that no mount remains on the hosts
end() {
    sh "$gluster" down "$volume" || fail "GlusterFS does not go down"
    for host in 1 2 3 4; do
        ! sh "$hosts" on "$here" $host mountpoint -q "$mount" || fail "still mounted on host $host"
    done
}

mkdir "$mount"
sh "$hosts" up "$here" 4 2gbit || exit
begin 0
! mountpoint -q "$mount" || fail "the mount of a host is seen outside"
listens sh "$hosts" on "$here" switch || fail "glusterd does not listen at the switch"
! listens env || fail "glusterd listens outside"

# One host writes, another reads immediately.
sh "$hosts" on "$here" 1 sh -c 'seq 100000 >"$0/numbers"' "$mount"
seq 100000 | sh "$hosts" on "$here" 3 cmp - "$mount/numbers" || fail "host 3 does not see what host 1 wrote"

across across t791_real_nodes
across seen t792_visible_after_close
sh "$hosts" rate "$here" 100mbit
across seen t792_visible_after_close TUTTI_DIRECT_IO=1

end

sh "$hosts" rate "$here" none
begin 1
across shared t794_visible_while_open
end
sh "$hosts" down "$here" || fail "the hosts do not go down"
if [ -e "$volume" ] || [ -e "$here" ] || [ -n "$(ls "$mount")" ] ||
    grep -lsazE "^(HOSTS|GLUSTER)_MARK=$TUTTI_TEST_DIR/" /proc/[0-9]*/environ; then
    fail "something is left"
fi
exit $failed
