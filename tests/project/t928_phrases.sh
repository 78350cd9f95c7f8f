#!/bin/sh
# TEST ranks=0 timeout=60
# scripts/check_words.py: the tree has no refused phrase, and the script finds such phrases, also across the lines of a
# comment.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
python3 "$top/scripts/check_words.py" || exit 1
bad=0
# found TEXT: check that the script refuses a comment with this text
found() {
    printf '/* %b */\n' "$1" >try.c
    if python3 "$top/scripts/check_words.py" try.c >out; then
        echo "not found: $1"
        bad=1
    fi
}
no=no # the phrases are composed here, so that this file passes the check
found "${no}body writes it"
found "there is ${no}where to\\n * put the answer"
found "whom${no:+ }ever, who""ever waits"
found "the error is\\n * told by wait"
found "items are dealt\\n# out"
found "The map of\\n! the house"
printf 'fail("there is %s"\n     "to put it");\n' "${no}where" >try.c # a message in two parts
python3 "$top/scripts/check_words.py" try.c >out && { echo "not found in a string"; bad=1; }
for name in Makefile try.cff try.geo try.F90 try.yml; do
    printf '# %sbody writes it\n' "$no" >$name
    python3 "$top/scripts/check_words.py" $name >out && { echo "not found in $name"; bad=1; }
done
printf '/* The rank that fails takes part. */\n' >try.c
python3 "$top/scripts/check_words.py" try.c || { echo "a clean file is refused"; bad=1; }
exit $bad
