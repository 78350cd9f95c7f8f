#!/usr/bin/env python3
"""count_lines.py [COMMIT...]   Print the numbers of code lines and comment lines of the tracked sources, by directory.

Counts C, Fortran, Python, shell and CMake files outside tests/ and docs/; blank lines count as neither.
Without an argument the working tree is counted; with commits, one column of code lines for each.
SPDX-License-Identifier: BSD-3-Clause"""
import collections
import io
import re
import subprocess
import sys
import tarfile
import tokenize

KINDS = {".c": "c", ".h": "c", ".cpp": "c", ".inc": "fortran", ".f90": "fortran", ".F90": "fortran",
         ".py": "python", ".sh": "hash", ".cmake": "hash"}
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.S)


def kind_of(path, text):
    """Return the language of a file; None: not counted."""
    if path.startswith(("tests/", "docs/")):
        return None
    name = path.rsplit("/", 1)[-1]
    if name in ("CMakeLists.txt", "Makefile") or path == "bindings/fortran/interfaces.txt":
        return "hash"
    if "." in name:
        return KINDS.get(name[name.rindex("."):])
    return "hash" if text.startswith("#!") and "sh" in text.split("\n", 1)[0] else None


def without_python_comments(text):
    """Replace comments and strings that are statements (documentation) by blanks."""
    lines = text.split("\n")
    previous = tokenize.NEWLINE
    try:
        for t in tokenize.generate_tokens(io.StringIO(text).readline):
            documents = t.type == tokenize.STRING and previous in (
                tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL)
            if t.type == tokenize.COMMENT or documents:
                for row in range(t.start[0], t.end[0] + 1):
                    first = t.start[1] if row == t.start[0] else 0
                    lines[row - 1] = lines[row - 1][:first]
            if t.type not in (tokenize.COMMENT, tokenize.NL):
                previous = t.type
    except tokenize.TokenError:
        pass
    return "\n".join(lines)


def count(kind, text):
    """Return (code lines, comment lines) of one file."""
    filled = sum(1 for line in text.split("\n") if line.strip())
    if kind == "c":
        text = C_COMMENT.sub(lambda m: m[1] or "\n" * m[0].count("\n"), text)
    elif kind == "python":
        text = without_python_comments(text)
    else:
        sign = "!" if kind == "fortran" else "#"
        text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(sign))
    code = sum(1 for line in text.split("\n") if line.strip())
    return code, filled - code


def files_of(commit):
    """Yield (path, text) of the tracked files of a commit, or of the working tree."""
    if commit:
        archive = subprocess.run(["git", "archive", commit], stdout=subprocess.PIPE, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                if member.isfile():
                    yield member.name, tar.extractfile(member).read().decode("utf-8", "replace")
        return
    names = subprocess.run(["git", "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout
    for name in names.decode().split("\0")[:-1]:
        with open(name, encoding="utf-8", errors="replace") as f:
            yield name, f.read()


def totals(commit):
    code, comments = collections.Counter(), collections.Counter()
    for path, text in files_of(commit):
        kind = kind_of(path, text)
        if not kind:
            continue
        lines = count(kind, text)
        place = "/".join(path.split("/")[:-1][:2]) or "."
        code[place] += lines[0]
        comments[place] += lines[1]
    return code, comments


columns = [totals(c) for c in (sys.argv[1:] or [None])]
for place in sorted(set().union(*(code for code, _ in columns))):
    print(f"{place:24}" + "".join(f"{code[place]:10}" for code, _ in columns))
print(f"{'code lines':24}" + "".join(f"{sum(code.values()):10}" for code, _ in columns))
print(f"{'comments, percent':24}" + "".join(
    f"{100 * sum(c.values()) / (sum(c.values()) + sum(code.values())):10.1f}" for code, c in columns))
