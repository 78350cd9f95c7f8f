#!/bin/sh
# TEST ranks=0 timeout=60
# The manual pages of section 3 are what the headers and the examples say today; `man FUNCTION` finds
# one for every public function, and every page that a page refers to is there.
# SPDX-License-Identifier: BSD-3-Clause
cd "$(dirname "$0")/../.." || exit 1
bad=0
python3 scripts/gen_api_man.py --check || bad=1
# said_by PATTERN: the pages that others name, as NAME.SECTION
said_by() {
    cat docs/man/*.[137] | grep -ohE "$1" | sed -E 's/\\f[BR]|\\|^\.BR |^\.so man3\///g; s/ ?\(([137])\)$/.\1/' | sort -u
}
for page in $(said_by '^\.so man3/.*|\\fBtutti[a-z_]*\\fR\(3\)|^\.BR tutti[^ ]* \([137]\)'); do
    [ -f "docs/man/$page" ] || { echo "docs/man/$page is referred to, and is not there"; bad=1; }
done
if command -v groff >/dev/null; then
    mkdir -p "${TUTTI_TEST_DIR:=$(mktemp -d)}"
    ln -sfn "$PWD/docs/man" "$TUTTI_TEST_DIR/man3"
    shown=$(cd "$TUTTI_TEST_DIR" && groff -man -Tascii -ww man3/tutti_plan_run.3 2>&1)
    case $shown in
    *"NULL is fine"*) ;;
    *) echo "the link tutti_plan_run.3 does not show its page: $shown"; bad=1 ;;
    esac
    # tables and code of comments stay what they are
    # shows PAGE LINE
    shows() {
        groff -man -Tascii -ww -rLL=100n "docs/man/$1" | sed 's/\x1b\[[0-9;]*m//g' | tr -s ' ' | grep -qxF " $2" ||
            { echo "$1 does not show the line '$2'"; bad=1; }
    }
    shows tutti_transfer.3 'none everything nothing tells the count'
    shows tutti_tiles.3 'while (tutti_tiles_next(t, &tile) == TUTTI_OK && tile.more)'
fi
exit $bad
