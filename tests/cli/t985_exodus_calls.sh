#!/bin/sh
# TEST ranks=0 timeout=30
# docs/reference/exodus-calls.md lists exactly the functions of Debian's exodusII.h.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
header=/usr/include/exodusII.h
[ -e $header ] || { echo "no $header (Debian: libexodusii-dev)"; exit 77; }
cd "$TUTTI_TEST_DIR" || exit 1
python3 - "$here/docs/reference/exodus-calls.md" $header <<'END'
import re
import sys
page, header = open(sys.argv[1]).read(), re.sub(r"/\*.*?\*/", "", open(sys.argv[2]).read(), flags=re.S)
there = set(re.findall(r"\b(ex_[a-z0-9_]+)\s*\(", header))
told = set(re.findall(r"`(ex_[a-z0-9_]+)`", page.partition("## Files")[2]))
assert len(there) > 200, there
wrong = [f"{name}: not in the table" for name in sorted(there - told)] + [f"{name}: not in the header" for name in sorted(told - there)]
print("\n".join(wrong))
sys.exit(bool(wrong))
END
