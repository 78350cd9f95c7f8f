#!/usr/bin/env python3
"""budget.py [N]: the N (ten) longest functions and files, how all of them are distributed, and which
folders and files are cut into once-called paragraphs.

Aims, not limits: files <= 600 lines, <= 6 parameters, few once-called paragraphs: a function is an
idea that others may call or a step of an outline; what is called once and is short is read where it
is called.  A paragraph is a static function of at most 8 lines whose name occurs once besides its
definition and declarations, as a call.  One that is in a table, whose address is taken, that a macro
names, or that has variants under #if is not one.
A function is what begins in column 0 with a name and a parameter list and ends with } in column 0,
which is how clang-format leaves it; its length is counted from its name to its closing brace.
SPDX-License-Identifier: BSD-3-Clause"""
import collections
import pathlib
import re
import sys

top = pathlib.Path(__file__).resolve().parent.parent
count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
HEAD = re.compile(r"^(?!(?:typedef|struct|enum|union|return|else|#)\b)[A-Za-z_][^;={}]*?(\w+)\(([^;{}]*)\)"
                  r"(?:\s*TUTTI_\w+(?:\([^)]*\))?)*\s*\{", re.M)
PARAGRAPH = 8  # lines
COMMENT_OR_TEXT = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
MACRO = re.compile(r"^[ \t]*#[ \t]*define\b(?:[^\n]*\\\n)*[^\n]*", re.M)


def paragraphs(path):
    """The names of a file's once-called paragraphs."""
    text = COMMENT_OR_TEXT.sub(lambda m: "\n" * m[0].count("\n") or " ",
                               path.read_text(encoding="utf-8"))
    macros = " ".join(MACRO.findall(text))
    for lines, _, _, name in functions(path):
        word = rf"\b{name}\b"
        heads = re.findall(rf"^static\b[^;={{}}]*?{word}\([^;{{}}]*\)[^;{{}}]*([;{{])", text, re.M)
        if lines > PARAGRAPH or heads.count("{") != 1 or re.search(word, macros):
            continue
        if len(re.findall(word, text)) == len(heads) + 1 == len(re.findall(word + r"\(", text)):
            yield name


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


def report_paragraphs(folders):
    """Shares of all functions by top folder (src: by room too), and the files with most of them."""
    functions_in, once_in, worst = collections.Counter(), collections.Counter(), []
    for path in sorted(p for f in folders for p in (top / f).rglob("*.c")):
        once, parts = list(paragraphs(path)), path.relative_to(top).parts
        for place in {parts[0], "/".join(parts[:2]) if parts[0] == "src" else parts[0]}:
            functions_in[place] += sum(1 for _ in functions(path))
            once_in[place] += len(once)
        if once:
            worst.append((-len(once), "/".join(parts), once))
    print(f"once-called paragraphs (static, at most {PARAGRAPH} lines), share of all functions")
    for place in sorted(functions_in, key=lambda p: (folders.index(p.split("/")[0]), p)):
        n, k = functions_in[place], once_in[place]
        print(f"  {k:5} of {n:4} = {100 * k / n:4.1f} %  {place}" if n else f"      none  {place}")
    for k, place, once in sorted(worst)[:count]:
        print(f"  {-k:5} in {place}: {', '.join(once)}")


report(["src", "mpiio", "cli"], "libraries and command")
report(["tests", "experiments", "examples"], "tests, experiments, examples")
report_paragraphs(["src", "mpiio", "cli", "tests", "experiments", "examples"])
