#!/bin/sh
# TEST ranks=0 timeout=60
# Numbers of tests are unique and inside the range of their module (table in CONTRIBUTING.md).  Tests that share a
# program define no global symbols that other tests define or use.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top/tests" || exit 1
failed=0

numbers() {
    find . -mindepth 2 -maxdepth 2 -name 't[0-9]*_*' | sed 's,\./\([^/]*\)/t\([0-9]*\)_.*,\2 \1,' | sort -n
}

twice=$(numbers | cut -d' ' -f1 | uniq -d)
[ -z "$twice" ] || { echo "numbers of several tests: $twice"; failed=1; }
# Read the rows of a table in CONTRIBUTING.md: | module[, module...] | from | to |
sed -n 's/^| *\([a-z, ]*[a-z]\) *| *\([0-9]*\) *| *\([0-9]*\) *|$/\2 \3 \1/p' ../CONTRIBUTING.md | tr -d ',' |
    awk '{ for (i = 3; i <= NF; i++) print $i, $1, $2 }' >"$TUTTI_TEST_DIR/ranges"
numbers | while read -r number module; do
    number=$(echo "$number" | sed 's/^0*\(.\)/\1/')
    awk -v module="$module" -v n="$number" '$1 == module && $2 <= n && n <= $3 { found = 1 } END { exit !found }' \
        "$TUTTI_TEST_DIR/ranges" || echo "$module: t$number is not a number of this module"
done >"$TUTTI_TEST_DIR/outside"
[ ! -s "$TUTTI_TEST_DIR/outside" ] || { cat "$TUTTI_TEST_DIR/outside"; failed=1; }

cd "$TUTTI_BUILD_DIR" || exit 1
sed -n 's/.*-Dmain=main_of_.* -o \([^ ]*\) .*/\1/p' compile_commands.json >"$TUTTI_TEST_DIR/objects"
[ -s "$TUTTI_TEST_DIR/objects" ] || { echo "no programs of several tests in $TUTTI_BUILD_DIR"; exit 1; }
xargs nm --defined-only --extern-only -A <"$TUTTI_TEST_DIR/objects" >"$TUTTI_TEST_DIR/names" || exit 1
awk '$NF !~ /^main_of_/ && $2 ~ /[TDBC]/ { print $1, $NF ": such a test needs own=1"; found = 1 } END { exit found }' \
    "$TUTTI_TEST_DIR/names" || failed=1
exit $failed
