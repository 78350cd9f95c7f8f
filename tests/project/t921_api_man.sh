#!/bin/sh
# TEST ranks=0 timeout=60
# The generated manual pages correspond to the current headers, examples and options, also if a build started with older
# ones: `man FUNCTION` finds a page with a description of every function that the library exports, tutti-options(7)
# describes every option, and every page that a page refers to exists.  The generator refuses functions without a
# description or a statement of collectivity, and incomplete sentences.
# SPDX-License-Identifier: BSD-3-Clause
cd "$(dirname "$0")/../.." || exit 1
bad=0
man=$TUTTI_BUILD_DIR/generated/man
mkdir -p "${TUTTI_TEST_DIR:=$(mktemp -d)}"
python3 -B scripts/gen_api_man.py "$TUTTI_TEST_DIR/now" || bad=1
diff -r -x '*.7' -x '*.1' "$TUTTI_TEST_DIR/now" "$man" || { echo "the build did not regenerate the manual pages"; bad=1; }
functions=$(nm -D --defined-only "$TUTTI_BUILD_DIR/libtutti.so" | sed -n 's/.* T \(tutti_[a-z0-9_]*\).*/\1/p')
[ "$(echo "$functions" | wc -l)" -gt 200 ] || { echo "the library exports too few functions: $functions"; bad=1; }
for name in $functions; do
    [ -f "$man/$name.3" ] || { echo "$name has no manual page"; bad=1; }
done
# The name of every function is followed by a description.  Pages of functions have the sections RETURN VALUE and, if the
# functions return codes, ERRORS.
# shellcheck disable=SC2086 # names are words
python3 - "$man" $functions <<'END' || bad=1
import pathlib
import re
import sys

man, wrong = pathlib.Path(sys.argv[1]), []
for name in sys.argv[2:]:
    page = man / f"{name}.3"
    text = page.read_text()
    if link := re.match(r"\.so man3/(\S+)", text):
        text = (man / link[1]).read_text()
    text = text.split(".SH DESCRIPTION", 1)[1].split(".SH EXAMPLE", 1)[0]
    if not re.search(rf"\\fB{name}\\fR\(\).*\n(?:\.PP\n)?[A-Z][^\n]{{8,}}", text):
        wrong.append(f"{name} is not described")
    if "tutti_err" in text and ".SH RETURN VALUE" not in text:
        wrong.append(f"the page of {name} has no RETURN VALUE")
for page in man.glob("*.3"):
    if re.search(r"TUTTI_API|TUTTI_MUST_USE", page.read_text()):
        wrong.append(f"{page.name} shows a macro of the headers")
print("\n".join(wrong))
sys.exit(bool(wrong))
END
# damaged SED TEXT: check that the generator refuses a header that is changed by SED with a message containing TEXT
mkdir -p "$TUTTI_TEST_DIR/tree/src"
cp -r scripts include examples "$TUTTI_TEST_DIR/tree" && cp -r src/store "$TUTTI_TEST_DIR/tree/src"
damaged() {
    sed "$1" include/tutti/dataset.h >"$TUTTI_TEST_DIR/tree/include/tutti/dataset.h"
    if python3 -B "$TUTTI_TEST_DIR/tree/scripts/gen_api_man.py" "$TUTTI_TEST_DIR/damaged" 2>"$TUTTI_TEST_DIR/said"; then
        echo "the generator accepts a header after: sed $1"
        bad=1
    fi
    grep -q "$2" "$TUTTI_TEST_DIR/said" || { cat "$TUTTI_TEST_DIR/said"; bad=1; }
}
damaged '/^\/\*\* Discard all segments/,/\*\//d' 'tutti_dataset_discard has no description'
damaged '/^\/\*\* Close a dataset/{n;d;}' 'tutti_dataset_close does not say whether it is collective'
damaged 's/Close a dataset and set the handle to NULL\./and set the handle to NULL/' 'tutti_dataset_close has a torn sentence'
"$TUTTI_BUILD_DIR/tutti" options --json | python3 -c '
import json, sys
page = open(sys.argv[1], encoding="ascii").read().replace("\\-", "-").split(".TP\n.B ")
shown = {entry.split("\n")[0]: entry for entry in page}
for option in json.load(sys.stdin):
    entry = shown.get(option["name"], "")
    for key in ("environment", "help", "default"):
        if option[key] not in entry:
            sys.exit("tutti-options(7) does not show the %s of %s" % (key, option["name"]))' "$man/tutti-options.7" || bad=1
# said_by PATTERN: print the pages to which other pages refer, as NAME.SECTION
said_by() {
    cat docs/man/*.[17] "$man"/*.[137] | grep -ohE "$1" | sed -E 's/\\f[BR]|\\|^\.BR |^\.so man3\///g; s/ ?\(([137])\)$/.\1/' | sort -u
}
for page in $(said_by '^\.so man3/.*|\\fBtutti[a-z_]*\\fR\(3\)|^\.BR tutti[^ ]* \([137]\)'); do
    [ -f "docs/man/$page" ] || [ -f "$man/$page" ] || { echo "$page does not exist, but a page refers to it"; bad=1; }
done
if command -v groff >/dev/null; then
    ln -sfn "$man" "$TUTTI_TEST_DIR/man3"
    shown=$(cd "$TUTTI_TEST_DIR" && groff -man -Tascii -ww man3/tutti_plan_run.3 2>&1)
    case $shown in
    *"A pending operation of the plan is abandoned"*) ;;
    *) echo "the link tutti_plan_run.3 does not show its page: $shown"; bad=1 ;;
    esac
    # shows PAGE LINE: check that a formatted page contains the line; tables and code in comments must not be reflowed
    shows() {
        groff -man -Tascii -ww -rLL=100n "$man/$1" | sed 's/\x1b\[[0-9;]*m//g' | tr -s ' ' | grep -qxF " $2" ||
            { echo "$1 does not show the line '$2'"; bad=1; }
    }
    shows tutti_transfer.3 'none plan, exchange, access - returns the count'
    shows tutti_tiles.3 'while (tutti_tiles_next(t, &tile) == TUTTI_OK && tile.more)'
fi
exit $bad
