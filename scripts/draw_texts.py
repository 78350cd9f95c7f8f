#!/usr/bin/env python3
"""draw_texts.py messages|comments SEED [N]   Print N (default: 100) random messages or comments for a reader to review.

Messages are texts of errors in C, Python and shell outside tests/.  Comments are those of all tracked sources; each is printed with the
code before it on its line.  The same seed draws the same texts from the same tree.
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import random
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
CALL = re.compile(r"\b(?:\w*_(?:CHECK|FAIL)|\w*error\w*|\w*_fail\w*|usage\w*)\(|\braise \w+\(|\bsys\.exit\((?=f?[\"'])|\becho (?=[^\n]*>&2)")
C_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)
LINE_COMMENT = {".py": re.compile(r'"""(?:.|\n)*?"""|(?:^[ \t]*# [^\n]*\n)+|[ \t]# [^\n"\']*$', re.M), ".f90": re.compile(r"(?:^[ \t]*! [^\n]*\n)+", re.M)}
LINE_COMMENT[".sh"] = LINE_COMMENT[".cmake"] = re.compile(r"(?:^[ \t]*# [^\n]*\n)+", re.M)
NOT_REVIEWED = re.compile(r"/\* (?:TEST|clang-format|----) |/\*\*?[@<]?\W*\*/|/\*\*@[{}]\*/|[#!] TEST ")


def argument_text(text, at):
    """Return the argument list that starts at `at`, up to its closing parenthesis, or the rest of a shell line."""
    if text[at - 1] != "(":
        return text[at:text.index("\n", at)]
    depth, i = 1, at
    while depth and i < len(text):
        token = C_TOKEN.match(text, i)
        if token:
            i = token.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        i += 1
    return text[at:i - 1]


def messages(name, text):
    if name.startswith("tests/") or "." not in name and not text.startswith("#!"):
        return
    for call in CALL.finditer(text):
        argument = argument_text(text, call.end())
        if re.search(r"[\"'][^\"']*\w \w", argument):
            yield call.start(), "", " ".join((call[0] + argument).split())


def comments(name, text):
    suffix = pathlib.Path(name).suffix
    if suffix in (".c", ".h"):
        found = (m for m in C_TOKEN.finditer(text) if m[0].startswith("/*"))
    elif suffix in LINE_COMMENT:
        found = LINE_COMMENT[suffix].finditer(text)
    else:
        return
    for m in found:
        if not NOT_REVIEWED.match(m[0].lstrip()):
            yield m.start(), text[text.rfind("\n", 0, m.start()) + 1:m.start()].strip(), m[0].strip("\n")


def main():
    kinds = {"messages": messages, "comments": comments}
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in kinds or not all(word.isdigit() for word in sys.argv[2:]):
        sys.exit(__doc__.split("\n", maxsplit=1)[0])
    names = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True, check=True).stdout.splitlines()
    texts = []
    for name in names:
        data = (TOP / name).read_bytes() if (TOP / name).is_file() else b"\0"
        if b"\0" in data:
            continue
        text = data.decode("utf-8", "replace")
        texts += [(name, text.count("\n", 0, at) + 1, before, found) for at, before, found in kinds[sys.argv[1]](name, text)]
    random.Random(int(sys.argv[2])).shuffle(texts)
    count = int(sys.argv[3]) if len(sys.argv) == 4 else 100
    print(f"{min(count, len(texts))} of {len(texts)} {sys.argv[1]}, seed {sys.argv[2]}")
    for i, (name, line, before, found) in enumerate(texts[:count], 1):
        print(f"\n[{i}] {name}:{line}   {before}\n{found}")


main()
