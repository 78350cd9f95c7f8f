#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi
# In every procedure of the module with `ierr`, ierr directly follows the required arguments and precedes the optional
# ones: a positional argument after the required ones is always ierr.
# SPDX-License-Identifier: BSD-3-Clause
set -u
cd "$(dirname "$0")/../../bindings/fortran" || exit 1
exec python3 - tutti.F90 "$TUTTI_BUILD_DIR/generated/fortran/declarations.inc" "$TUTTI_BUILD_DIR/generated/fortran/interfaces.inc" exodus.inc exodus_procedures.inc <<'PYTHON'
import re
import sys

WORD = r"(?:integer|real|type|class|character|logical|procedure)"


def procedures(text):
    """Yield (name, arguments, optional arguments) of each subroutine."""
    text = re.sub(r"&\s*\n\s*", "", re.sub(r"^\s*!.*\n", "", text, flags=re.M))
    for head in re.finditer(r"^ *subroutine (\w+)\(([^)]*)\)", text, re.M):
        body = text[head.end():text.index("end subroutine", head.end())]
        optional = set()
        for line in re.finditer(rf"^ *{WORD}\b([^\n]*?)::([^\n!]*)", body, re.M):
            if re.search(r"\boptional\b", line[1]):
                optional |= {v.strip() for v in re.sub(r"\([^)]*\)", "", line[2]).split(",")}
        yield head[1], [a.strip() for a in head[2].split(",") if a.strip()], optional


wrong = []


def check(path, name, arguments, optional):
    if "ierr" not in optional:
        wrong.append(f"{path}: {name}: ierr is not optional")
    at = arguments.index("ierr")
    for a in arguments[:at]:
        if a in optional:
            wrong.append(f"{path}: {name}: the optional argument {a} is before ierr")
    for a in arguments[at + 1:]:
        if a not in optional:
            wrong.append(f"{path}: {name}: the required argument {a} is behind ierr")


count = 0
for path in sys.argv[1:]:
    with open(path, encoding="ascii") as f:
        for name, arguments, optional in procedures(f.read()):
            if "ierr" in arguments:
                count += 1
                check(path, name, arguments, optional)
found = len(wrong)
check("self", "test", ["a", "type", "ierr"], {"type", "ierr"})
if len(wrong) != found + 1:
    sys.exit("the test does not notice an optional argument before ierr")
print("\n".join(wrong[:found]) or f"{count} procedures")
sys.exit(1 if found or count < 200 else 0)
PYTHON
