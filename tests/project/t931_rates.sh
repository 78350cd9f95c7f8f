#!/bin/sh
# TEST ranks=0 timeout=60 cores=0
# The links of simulated hosts (scripts/hosts.sh): both ends have the specified rate, also after a change; the network is
# isolated; nothing remains, also after an interruption.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
hosts=$top/scripts/hosts.sh
dir=$TUTTI_TEST_DIR/hosts
failed=0
fail() {
    echo "$*"
    failed=1
}
trap 'trap "" INT TERM HUP; sh "$hosts" down "$dir"' EXIT
trap 'exit 130' INT TERM HUP

# expect HOST RATE: check the rate at both ends of a link, in the format of tc (none: no shaping)
expect() {
    for end in "$1 eth0" "switch p$1"; do
        # shellcheck disable=SC2086 # where, and which device
        shown=$(sh "$hosts" on "$dir" ${end% *} tc qdisc show dev ${end#* } root)
        case $2.$shown in
        none.*tbf*) fail "$end: $shown, not free" ;;
        none.* | *."qdisc tbf "*" rate $2 "*) ;;
        *) fail "$end: $shown, not $2" ;;
        esac
    done
}

nothing_left() {
    if [ -e "$dir" ] || grep -lsazxF "HOSTS_MARK=$dir" /proc/[0-9]*/environ; then
        fail "$1: something is left"
    fi
}

sh "$hosts" up "$dir" 3 2gbit || exit
for host in 1 2 3; do
    expect $host 2Gbit
done
sh "$hosts" rate "$dir" 100mbit 2 || fail "the rate of host 2 cannot be changed"
expect 1 2Gbit
expect 2 100Mbit
sh "$hosts" rate "$dir" 500kbit || fail "the rates cannot be changed"
expect 1 500Kbit
expect 3 500Kbit
sh "$hosts" rate "$dir" none || fail "the rates cannot be removed"
expect 1 none
expect 2 none
for wrong in fast 0mbit 10 10mb -1gbit; do
    sh "$hosts" rate "$dir" "$wrong" 2>/dev/null
    [ $? = 2 ] || fail "$wrong is a rate?"
done
! sh "$hosts" rate "$dir" 1gbit 4 2>/dev/null || fail "there is no host 4"
for who in 1 switch; do
    routes=$(sh "$hosts" on "$dir" $who ip route show default)
    [ -z "$routes" ] || fail "a way out of $who: $routes"
done
devices=$(sh "$hosts" on "$dir" 1 ip -o link show | cut -d' ' -f2 | tr -d '\n')
case $devices in lo:eth0@*:) ;; *) fail "host 1 has $devices" ;; esac

# `down` ends processes on the hosts.
sh "$hosts" on "$dir" 2 sleep 4244 &
sleep 0.1
sh "$hosts" down "$dir" || fail "down failed"
wait $! 2>/dev/null
nothing_left "after down"
for delay in 0.03 0.1; do
    sh "$hosts" up "$dir" 8 1gbit >/dev/null &
    sleep $delay
    kill $! 2>/dev/null
    wait $! 2>/dev/null && sh "$hosts" down "$dir"
    nothing_left "interrupted after $delay s"
done
exit $failed
