#!/usr/bin/env python3
"""check_words.py [FILE|DIRECTORY...]   Refuse the phrases of the table below in messages, help, headers, comments and documentation.

Without arguments it checks all text files of the tree.  A phrase may be broken over lines of a comment, a
paragraph or a string.  There is no list of exceptions.
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
# phrase: replacement.  An underscore stands for any space, so that this file passes the check.
PHRASES = {
    "map_of_the_house": "source layout",
    "behind_your_back": "asynchronous, in the background",
    "there_whole_or_not_at_all": "atomic, committed atomically",
    "(?:goes|gone|go|going|went)_on_with": "resumes, continues",
    "whichever_had_the_trouble": "regardless of which rank failed",
    "nowhere_to_put": "argument X_out is NULL",
    "something_is_NULL": "argument NAME is NULL",
    "NULL_argument": "argument NAME is NULL",
    r"type_\S+_is_none": "unknown type N",
    "is_nothing_for": "cannot be converted to",
    "(?:is|are)_there_twice": "is a duplicate",
    "unless_said": "default:",
    "(?:is|are)_told": "is reported, returns, documents",
    "tells_how": "reports, returns, documents",
    "who_?ever": "the rank that, any program that",
    "no_?body": "no rank, no other program",
    "made_anew": "rebuilt",
    "taken_down": "recorded",
    "taken_away": "removed",
    "(?:dealt|deals|deal|dealing)_out": "distributed",
    "as_they_lie": "in rank order",
    "in_vain": "forever",
    "lies?_askew": "misaligned",
    "quiet_guest": "no output, aborts or signal handlers unless requested",
}
# The gap between two words: spaces, or a line break, which may be in a comment, between parts of a string, or continued.
GAP = r"(?:[ \t]+|[ \t]*(?:[\"'&\\\\][ \t]*)?\n[ \t]*(?:[*#!/&>]+[ \t]*|[a-z]?[\"'][ \t]*)?)"


def patterns():
    for phrase, use in PHRASES.items():
        text = phrase.replace("_?", "\0").replace("_", GAP).replace("\0", "")
        yield re.compile(rf"\b{text}\b", re.I), use


def files(arguments):
    if not arguments:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, capture_output=True, text=True, check=True)
        arguments = [TOP / name for name in listed.stdout.splitlines()]
    for path in map(pathlib.Path, arguments):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and not file.is_symlink() and b"\0" not in file.read_bytes():
                yield file


def main():
    found, checked = 0, 0
    compiled = list(patterns())
    for file in files(sys.argv[1:]):
        text, checked = file.read_text(encoding="utf-8", errors="replace"), checked + 1
        for pattern, use in compiled:
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                print(f"{file}:{line}: '{' '.join(match[0].split())}': use {use}")
                found += 1
    if not checked:
        sys.exit("check_words.py: no file was checked: pass tracked files")
    sys.exit(1 if found else 0)


main()
