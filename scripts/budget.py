#!/usr/bin/env python3
"""budget.py [N]: the N (ten) longest functions and files, and how all of them are distributed.

Aims, not limits: functions of median <= 15 and p90 <= 45 lines, files <= 600 lines, <= 6 parameters.
A function is what begins in column 0 with a name and a parameter list and ends with } in column 0,
which is how clang-format leaves it; its length is counted from its name to its closing brace.
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import sys

top = pathlib.Path(__file__).resolve().parent.parent
count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
HEAD = re.compile(r"^(?!(?:typedef|struct|enum|union|return|else|#)\b)[A-Za-z_][^;={}]*?(\w+)\(([^;{}]*)\)"
                  r"(?:\s*TUTTI_\w+(?:\([^)]*\))?)*\s*\{", re.M)


def functions(path):
    text = path.read_text(encoding="utf-8")
    for head in HEAD.finditer(text):
        line_end = text.find("\n", head.end())
        if text[head.end():line_end].rstrip().endswith("}"):
            end = line_end
        else:
            end = text.find("\n}", head.end()) + 2
        first = text.count("\n", 0, head.start(1)) + 1
        lines = text.count("\n", head.start(1), end) + 1
        parameters = 0 if head[2].strip() in ("", "void") else len(split(head[2]))
        yield lines, parameters, f"{path.relative_to(top)}:{first}", head[1]


def split(parameters):
    """Parameters of a list: commas inside brackets do not count."""
    depth, parts = 0, [""]
    for c in parameters:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def report(folders, title):
    paths = sorted(p for f in folders for p in (top / f).rglob("*.c"))
    found = sorted((f for p in paths for f in functions(p)), reverse=True)
    if not found:
        return
    lengths = sorted(f[0] for f in found)
    p50, p90 = lengths[len(lengths) // 2], lengths[len(lengths) * 9 // 10]
    print(f"{title}: {len(paths)} files, {len(found)} functions, median {p50}, p90 {p90}, "
          f"longest {lengths[-1]} lines, {sum(n > 60 for n in lengths)} over 60")
    for lines, _, place, name in found[:count]:
        print(f"  {lines:5} lines  {place}  {name}")
    many = sorted((f[1:] for f in found if f[1] > 6), reverse=True)
    for parameters, place, name in many[:count]:
        print(f"  {parameters:5} parameters  {place}  {name}")
    sizes = sorted(((p.read_bytes().count(b"\n"), p) for p in paths), reverse=True)
    for lines, path in sizes[:count]:
        print(f"  {lines:5} lines  {path.relative_to(top)}" + ("  (over 600)" if lines > 600 else ""))


report(["src", "mpiio", "cli"], "libraries and command")
report(["tests", "bench", "examples"], "tests, benchmarks, examples")
