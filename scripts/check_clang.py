#!/usr/bin/env python3
"""check_clang.py BUILD_DIR [clang-tidy]: looks at all of a build's sources with clang.

Without a second argument: does everything compile under clang -Wall -Wextra -Werror (no code is
made)?  With it: is it clean under .clang-tidy?  Exit code 77 if the tool is not installed.
SPDX-License-Identifier: BSD-3-Clause"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

build = pathlib.Path(sys.argv[1]).resolve()
tool = sys.argv[2] if len(sys.argv) > 2 else "clang"
if not shutil.which(tool):
    print(f"{tool} is not installed (Debian: apt-get install {tool})")
    sys.exit(77)


def clang_command(entry):
    """The compiler's command with clang in its place and without an output."""
    words = iter(shlex.split(entry["command"])[1:])
    command = ["clang", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    for word in words:
        if word in ("-o", "-MF", "-MT"):
            next(words)
        elif word not in ("-c", "-MD"):
            command.append(word)
    return command


def look(entry):
    if tool == "clang":
        command = clang_command(entry)
    else:
        command = [tool, "--quiet", "-p", str(build), entry["file"]]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    return done.returncode, done.stdout + (done.stderr if tool == "clang" else "")


entries = json.loads((build / "compile_commands.json").read_text())
entries = list({entry["file"]: entry for entry in entries}.values())
if tool != "clang":
    entries = [e for e in entries if "/tests/" not in e["file"]]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(look, entries))
for code, text in results:
    if code:
        print(text, end="")
sys.exit(1 if any(code for code, _ in results) else 0)
