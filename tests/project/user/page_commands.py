#!/usr/bin/env python3
"""page_commands.py PAGE.md DIR   Print the commands of a page in their order, and write its programs to DIR.

Commands are lines of indented blocks that begin with a program; output in such blocks does not.  A block of Python is written to the
file that the line before names (`name.py`:) or, without such a line, becomes a command of its own.  A block of C is compiled.
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import sys

COMMAND = re.compile(r"(?: {4}|\t| {7})\s*((?:[A-Z_]+=\S+ )*(?:cc|cmake|gfortran|gmsh|mpirun|ncdump|python3|tutti|tutti-experiments) .*)")


def compiled(body, name, folder):
    (folder / f"{name}.c").write_text("#include <stdio.h>\n#include <stdlib.h>\n#include <tutti/tutti.h>\n" + body)
    return f"cc -Wall -Wextra -Werror -c -o {name}.o {name}.c $(pkg-config --cflags tutti)"


def main():
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    language, body, before, count = None, [], "", 0
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = re.match(r"```(\w*)", line)
        if fence and language is None:
            language, body = fence[1] or "text", []
        elif fence:
            name = f"{page.stem.replace('-', '_')}_{count}"
            count += 1
            if language == "python":
                named = re.match(r"`(\w+\.py)`:$", before)
                (folder / (named[1] if named else f"{name}.py")).write_text("\n".join(body) + "\n")
                if not named:
                    print(f"python3 {name}.py")
            elif language == "c":
                print(compiled("\n".join(body) + "\n", name, folder))
            language = None
        elif language is not None:
            body.append(line)
        elif found := COMMAND.match(line):
            print(re.sub(r" +# .*", "", found[1]))
        if line.strip() and language is None and not fence:
            before = line


main()
