#!/usr/bin/env python3
"""check_docs.py: check that what the documentation names exists.

Checked in README.md, CONTRIBUTING.md, CHANGELOG.md, docs/ and the hand-written manual pages:

  - links to files, and to headings in them
  - files in `backquotes` and in the lines of code blocks
  - names of C (tutti_..., TUTTI_...), error codes, options and their values, variables
  - targets of make
  - the version in manual pages

SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import subprocess
import sys

import gen_api_man

TOP = pathlib.Path(__file__).resolve().parent.parent
MODULES = ("include", "src", "bindings", "mpiio", "cli", "examples", "tests", "scripts", "cmake", "experiments", "docs")
# Patterns in the rules for names: they look like names of functions.
PATTERNS = {"tutti_object_verb", "tutti__object_verb"}

wrong = []


def texts(*folders):
    for folder in folders:
        for path in sorted((TOP / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".sh", ".py", ".cmake", ".in", ".map", ".txt"):
                yield path, path.read_text(encoding="utf-8")


HEADERS = "\n".join(text for _, text in texts("include"))
SOURCES = "\n".join(text for path, text in texts(*MODULES) if path != pathlib.Path(__file__).resolve())
SOURCES += (TOP / "CMakeLists.txt").read_text() + (TOP / "Makefile").read_text()
FILES = [str(p.relative_to(TOP)) for module in MODULES for p in (TOP / module).rglob("*")] + [
    p.name for p in TOP.iterdir()]
PUBLIC = set(re.findall(r"\btutti_\w+", re.sub(r"/\*.*?\*/", "", HEADERS, flags=re.S)))
for _name in ("tutti.F90", "exodus.inc"):
    PUBLIC |= set(re.findall(r"Only in Fortran: (\w+)", (TOP / "bindings/fortran" / _name).read_text(encoding="utf-8")))
PUBLIC |= set(re.findall(r"^own (\w+)", (TOP / "bindings/fortran/interfaces.txt").read_text(encoding="ascii"), re.M))
PAGES = {re.sub(r"\.[17](\.in)?$", "", p.name) for p in (TOP / "docs/man").glob("tutti*")} | gen_api_man.page_names() | {"tutti-options"}
MARKS = set(re.findall(r"\bTUTTI_\w+", SOURCES))
ERRORS = {"TUTTI_" + n for n in re.findall(r"X\((ERR_\w+),", HEADERS)}
TABLE = re.search(r"TUTTI_OPTION_TABLE\(X\)((?:.*\\\n)+.*)", HEADERS)[1]
OPTIONS = set(re.findall(r"X\([A-Z]+, (\w+),", TABLE))
CHOICES = {n: set(v.split("|")) for n, v in re.findall(r'TUTTI_CHOICES_(\w+) "(.*?)"', HEADERS)}
CHOICES["method_read"] = CHOICES["method"]
ALIASES = {a for row in re.findall(r'X\([A-Z]+, \w+, [^"]*?, "(.*?)"', TABLE) for a in row.split("|")}
VERSION = re.search(r'TUTTI_VERSION_STRING "(.*?)"', HEADERS)[1]
VARIABLES = {"TUTTI_" + n.upper() for n in OPTIONS}


def anchors(path):
    titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


def links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        # The build makes some manual pages from templates NAME.in.
        if not path.exists() and not path.with_name(path.name + ".in").exists():
            yield f"links to {target}, which is not there"
        elif anchor and anchor not in anchors(path):
            yield f"links to {target}, a heading that is not there"


def there(name):
    return any(f == name.rstrip("/") or f.endswith("/" + name.rstrip("/")) for f in FILES)


def files(text):
    """Check that files in backquotes exist, and paths in code blocks that begin with a directory of MODULES."""
    named = set(re.findall(r"`<?([\w.-]+(?:/[\w.-]+)*\.(?:h|c|py|sh|md|txt|cmake))>?`", text))
    for line in re.findall(r"^    +(.*)$", text, re.M):
        named |= set(re.findall(rf"(?<![\w/])(?:{'|'.join(MODULES)})/[\w./-]*", line))
    for name in sorted(named):
        if not re.search(r"NNN|MODULE|NAME", name) and f"`{name}`:\n\n```" not in text and not there(name):
            yield f"names {name}, which is not there"


def names(text):
    for name in sorted(set(re.findall(r"(?<![\w/])tutti_\w*\w(?![\w*/.-])", text))):
        known = PUBLIC | PAGES | PATTERNS | {"tutti_" + n for n in OPTIONS | ALIASES}
        if name not in known and not ("__" in name and re.search(rf"\b{name}\b", SOURCES)):
            yield f"names {name}, which neither a header nor a page has"
    for short in sorted(set(re.findall(r"`(_[a-z_]+)`", text))):
        if short != "_out" and not any(n.endswith(short) for n in PUBLIC):
            yield f"names {short}, which ends no public name"
    for name in sorted(set(re.findall(r"\bTUTTI_\w*[A-Z]\b", text))):
        known = ERRORS if name.startswith("TUTTI_ERR_") else MARKS | VARIABLES
        if name not in known:
            yield f"names {name}, which is not there"


def options(text):
    for name in re.findall(r"\boptions? `(\w+)`", text):
        if name not in OPTIONS:
            yield f"names the option {name}, which is not there"
    pairs = re.findall(r"`([a-z_]+)=([a-z-]+)`", text)
    pairs += [(n.lower(), v) for n, v in re.findall(r"\bTUTTI_([A-Z_]+)=([a-z-]+)\b(?![.:])", text)]
    for name, value in pairs:
        if name in CHOICES and value not in CHOICES[name]:
            yield f"sets {name} to {value}, which it cannot be"


def commands(text):
    for target in sorted(set(re.findall(r"(?:`|^ {4,})make ([a-z][a-z-]*)", text, re.M))):
        made = subprocess.run(["make", "-n", target], cwd=TOP, capture_output=True, text=True, check=False)
        if made.returncode:
            yield f"names `make {target}`: {made.stderr.strip()}"
    for script in sorted(set(re.findall(r"^ {4,}(?:[A-Z_]+=\S+ )*(scripts/\S+)", text, re.M))):
        if not (TOP / script).is_file() or not (TOP / script).stat().st_mode & 0o100:
            yield f"runs {script}, which is no command"


def excerpts(page, text):
    """Check that the C code of a tutorial step is an excerpt of its program."""
    lesson = re.match(r"lesson0?(\d+)$", page.stem)
    if not lesson:
        return
    program = next((TOP / "examples").glob(f"step{lesson[1]}_*.c")).read_text(encoding="utf-8")
    blocks = re.findall(r"^```c\n(.*?)^```", text, re.M | re.S)
    if not blocks:
        yield "shows nothing of its program"
    for block in blocks:
        if block not in program:
            yield f"shows code that its program does not have: {block.splitlines()[0].strip()}"


def without_old_names(text):
    """Return the text without the left column of tables `| old | new |`, which the changelog has for renamed functions."""
    def new_names(table):
        return "".join(f"|{row.split('|', 2)[2]}" for row in table[0].splitlines(keepends=True))
    return re.sub(r"^ *\| old \| new \|\n(?: *\|.*\n)+", new_names, text, flags=re.M)


def main():
    pages = [TOP / n for n in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")]
    pages += sorted((TOP / "docs").rglob("*.md")) + [TOP / "docs/man/tutti.7", TOP / "docs/man/tutti.1.in"]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if page.name == "CHANGELOG.md":
            text = without_old_names(text)
        checks = [names, options]
        if page.suffix == ".md":
            wrong.extend(f"{page.relative_to(TOP)} {w}" for check in (links, excerpts) for w in check(page, text))
            checks += [files, commands]
        else:
            if f'"Tutti {VERSION}"' not in text:
                wrong.append(f"{page.relative_to(TOP)} does not have version {VERSION}")
            text = re.sub(r"\\f.|\\(?=-)", "", text).replace(r"\~", " ")
        wrong.extend(f"{page.relative_to(TOP)} {w}" for check in checks for w in check(text))
    for name, pattern in (("CITATION.cff", rf"^version: {re.escape(VERSION)}$"), ("CHANGELOG.md", rf"^## {re.escape(VERSION)}\b")):
        if not re.search(pattern, (TOP / name).read_text(encoding="utf-8"), re.M):
            wrong.append(f"{name} does not have version {VERSION}")
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


main()
