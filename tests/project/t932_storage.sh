#!/bin/sh
# TEST ranks=0 timeout=110 cores=0
# The commands of docs/howto/storage.md work, section by section, with less data and with paths of this test.  A section is
# skipped if its first script exits with 77 because the machine lacks support.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
tmp=$TUTTI_TEST_DIR
failed=0

# shellcheck disable=SC2317 # called by the trap
finish() {
    trap '' INT TERM HUP
    sh scripts/gluster.sh down "$tmp/gluster"
    sh scripts/hosts.sh down "$tmp/hosts"
    sh scripts/throttle.sh down "$tmp/slow"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# Replace paths in two steps, since the paths of this test may contain the replaced words.
sed "s|/var/tmp|@TMP@|g; s|build/openmpi/|@BUILD@/|g; s|build/run|@TMP@/run|g
    s|@TMP@|$tmp|g; s|@BUILD@|$TUTTI_BUILD_DIR|g
    s/--size [0-9]*m/--size 256k/; s/--rounds [0-9]*/--rounds 1/" docs/howto/storage.md >"$tmp/page"
mkdir "$tmp/folder"
# Write one file per section with its heading as a comment, followed by its commands.
awk -v folder="$tmp/folder" '
    /^## / { out = sprintf("%s/%02d", folder, ++n); print "#" $0 >out }
    /^    / && out { print substr($0, 5) >out }' "$tmp/page"

lines=0
for section in "$tmp"/folder/*; do
    title=$(sed -n '1s/#* //p' "$section")
    while read -r line; do
        case $line in '#'*) continue ;; esac
        TMPDIR=$tmp timeout -k 5 50 sh -c "$line" </dev/null >"$tmp/log" 2>&1
        code=$?
        lines=$((lines + 1))
        if [ $code = 77 ]; then
            echo "$title: $(tail -n 1 "$tmp/log")"
            break
        elif [ $code != 0 ]; then
            echo "$title: exit code $code: $line"
            tail -n 30 "$tmp/log"
            failed=1
            break
        fi
    done <"$section"
done
if [ $lines -lt 7 ]; then
    echo "only $lines commands were found"
    failed=1
fi
exit $failed
