#!/usr/bin/env python3
"""check_clang.py BUILD_DIR [clang|clang-tidy] [--not-installed]   Check the sources of a build with clang or clang-tidy.

clang (default): compile with -Wall -Wextra -Werror, without generating code.  clang-tidy: check with .clang-tidy.
--not-installed: only sources that are not part of the installation.  Exit code 77 if the tool is not installed.  Sources without
warnings are checked again only after a source or a command has changed (`make lint` after `make test`).
SPDX-License-Identifier: BSD-3-Clause"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

build = pathlib.Path(sys.argv[1]).resolve()
tool = sys.argv[2] if len(sys.argv) > 2 else "clang"
if not shutil.which(tool):
    print(f"{tool} is not installed (Debian: apt-get install {tool})")
    sys.exit(77)


def behind(entry):
    """Return options that find gcc's header of Fortran descriptors after all others; clang cannot use other headers of gcc."""
    if not re.search("/(bindings|generated)/fortran/", entry["file"]):
        return []
    of_gcc = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=False).stdout.strip()
    return ["-idirafter", of_gcc] if of_gcc else []


def clang_command(entry):
    """Return the compile command with clang as the compiler and without output."""
    words = iter(shlex.split(entry["command"])[1:])
    command = ["clang", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *behind(entry)]
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
        command = [tool, "--quiet", *(f"--extra-arg={word}" for word in behind(entry)), "-p", str(build), entry["file"]]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    return done.returncode, done.stdout + (done.stderr if tool == "clang" else "")


entries = json.loads((build / "compile_commands.json").read_text())
entries = list({e["file"]: e for e in entries if not e["file"].startswith(f"{build}/tests/")}.values())
entries = [e for e in entries if pathlib.Path(e["file"]).suffix == ".c"]
if "--not-installed" in sys.argv:
    top = str(pathlib.Path(__file__).resolve().parent.parent)
    entries = [e for e in entries if not e["file"].startswith(tuple(f"{top}/{d}/" for d in ("src", "cli", "mpiio", "bindings")))]
if tool != "clang":
    entries = [e for e in entries if "/tests/" not in e["file"]]


def fingerprint():
    """Return a hash of everything that the result depends on."""
    top = pathlib.Path(__file__).resolve().parent.parent
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    all_of_it = hashlib.sha256((json.dumps(entries, sort_keys=True) + version).encode())
    names = subprocess.run([top / "scripts/sources.sh"], capture_output=True, text=True, check=True).stdout.split()
    for name in names + [".clang-tidy", "scripts/check_clang.py", "scripts/gen_fortran.py", "scripts/tutti_headers.py"]:
        all_of_it.update(name.encode() + b"\0" + (top / name).read_bytes())
    return all_of_it.hexdigest()


clean = build / f"{tool}{'-rest' if '--not-installed' in sys.argv else ''}.clean"
now = fingerprint()
if clean.exists() and clean.read_text() == now:
    sys.exit(0)
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(look, entries))
for code, text in results:
    if code:
        print(text, end="")
if any(code for code, _ in results):
    sys.exit(1)
clean.write_text(now)
