#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi
# The handbook builds without a warning and has no broken links; a broken link is detected.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
for tool in sphinx-build:python3-sphinx mandoc:mandoc; do
    command -v "${tool%:*}" >/dev/null || { echo "skipped: there is no ${tool%:*} (package ${tool#*:})"; exit 77; }
done
for module in myst_parser:python3-myst-parser sphinx_rtd_theme:python3-sphinx-rtd-theme; do
    /usr/bin/python3 -c "import ${module%:*}" 2>/dev/null || { echo "skipped: package ${module#*:}"; exit 77; }
done
"$top/scripts/handbook.py" "$TUTTI_BUILD_DIR/generated/man" "$TUTTI_TEST_DIR/site"
grep -q 'tutti_file_write' "$TUTTI_TEST_DIR/site/searchindex.js" || { echo "search does not know functions"; exit 1; }
echo '<a href="nowhere.html">x</a> <a href="index.html#no-such-place">y</a>' >"$TUTTI_TEST_DIR/site/wrong.html"
"$top/scripts/handbook.py" --check "$TUTTI_TEST_DIR/site" >"$TUTTI_TEST_DIR/out" && { echo "wrong links are not found"; exit 1; }
[ "$(grep -c '^wrong.html: ' "$TUTTI_TEST_DIR/out")" = 2 ] || { cat "$TUTTI_TEST_DIR/out"; exit 1; }
