#!/usr/bin/env python3
"""gen_python_api.py [--check]: writes bindings/python/tutti/_api.py from the public headers.

The table has every function, struct, enumeration, callback and number of include/tutti/*.h; the binding makes its ctypes
declarations of it and has none of its own.  The C preprocessor unfolds the headers' tables (X macros), with empty
system headers, so that nothing but Tutti's own declarations is left; those are few kinds of C, read by the patterns
below.  What is of no known kind is an error: a new header is in the table whole or not at all.

With --check nothing is written; the exit code is 1 if the table is not what the headers say.
SPDX-License-Identifier: BSD-3-Clause"""
import os
import pathlib
import pprint
import re
import shlex
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
OUT = TOP / "bindings/python/tutti/_api.py"
# not for callers: a table of operations that a store gives to the library
SKIP = {"tutti_store_ops", "tutti_store", "tutti_store_request"}


def preprocess(*flags):
    """All headers (they include what they need) without system headers, attributes and comments."""
    with tempfile.TemporaryDirectory() as stubs:
        for name in ("stddef.h", "stdint.h", "mpi.h", "string.h"):
            pathlib.Path(stubs, name).write_text("")
        source = "".join(f"#line 1 \"{p.name}\"\n#include <tutti/{p.name}>\n"
                         for p in sorted((TOP / "include/tutti").glob("*.h")))
        command = shlex.split(os.environ.get("CC") or "cc")
        done = subprocess.run([*command, "-E", "-nostdinc", "-U__GNUC__", f"-I{stubs}", f"-I{TOP}/include", *flags,
                               "-x", "c", "-"], input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"gen_python_api.py: {done.stderr}")
    return done.stdout


def numbers():
    """Macros that are whole numbers."""
    found = {}
    for name, value in re.findall(r"^#define (TUTTI_[A-Z]\w*) (.*)$", preprocess("-dM"), re.M):
        if re.fullmatch(r"\(?-?\d+\)?", value):
            found[name] = int(value.strip("()"))
    return found


def declarations():
    """(header, declaration) of each, as one line; bodies of inline functions stay."""
    header, text = "", []
    for line in preprocess().split("\n"):
        mark = re.match(r'# \d+ "(.*?)"', line)
        if mark:
            header = pathlib.Path(mark[1]).name
        elif line.strip():
            text.append(f"\x01{header}\x02{line}")
    text = "\n".join(text)
    depth = start = 0
    for i, c in enumerate(text):
        depth += (c in "{(") - (c in "})")
        body = c == "}" and "static inline" in text[start:i]
        if depth == 0 and (c == ";" or body):
            header = (re.findall("\x01(.*?)\x02", text[start:i]) or [header])[0]
            code = re.sub("\x01.*?\x02", " ", text[start:i + body])
            start = i + 1
            if code.strip():
                yield header, re.sub(r"\s+", " ", code).strip()


def spell(kind):
    """A type as it stands in the table: one space, none before a star."""
    return re.sub(r"\s*\*\s*", "*", re.sub(r"\s+", " ", kind)).strip()


def split_commas(text):
    parts, depth = [""], 0
    for c in text:
        depth += c in "({"
        depth -= c in ")}"
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


class Table:
    """What the headers say, by kind."""

    def __init__(self):
        self.numbers, self.enums, self.structs = numbers(), {}, {}
        self.opaque, self.callbacks, self.functions, self.inline = [], {}, {}, {}
        self.aliases = {}
        for header, code in declarations():
            self.take(header, code)

    def value(self, text):
        """A constant expression: numbers, constants, sums and products of them."""
        text = re.sub(r"\bTUTTI_\w+", lambda m: str(self.numbers[m[0]]), text)
        if not re.fullmatch(r"[-+*/() \d]*|\d+ *<< *\d+", text):
            sys.exit(f"gen_python_api.py: not a number: {text}")
        return eval(text)  # pylint: disable=eval-used  # digits and operators only

    def values(self, inner):
        at, out = 0, {}
        for part in split_commas(inner):
            name, _, value = part.partition("=")
            at = self.value(value) if value.strip() else at
            out[name.strip()] = self.numbers[name.strip()] = at
            at += 1
        return out

    def parameter(self, text):
        """(type, name); an array parameter is a pointer."""
        function = re.fullmatch(r"(.*)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)", text)
        if function:
            kinds = [self.parameter(p)[0] for p in split_commas(function[3])]
            return f"{spell(function[1])}(*)({', '.join(kinds)})", function[2]
        found = re.fullmatch(r"(.*?[\s*])(\w+)\s*((?:\[[^\]]*\])*)", text)
        if not found:
            sys.exit(f"gen_python_api.py: what parameter is '{text}'?")
        return spell(found[1]) + ("*" if found[3] else ""), found[2]

    def fields(self, inner):
        """(name, type, extents) of each; `a, b` and `*a, *b` share a type."""
        out = []
        for member in re.split(r";(?![^()]*\))", inner):
            member = member.strip()
            if not member:
                continue
            if "(" in member:
                kind, name = self.parameter(member)
                out.append((name, kind, ()))
                continue
            first, *others = split_commas(member)
            found = re.fullmatch(r"(.*?)(\**\s*\w+\s*(?:\[[^\]]*\])*)", first)
            base = found[1].strip()
            for one in [found[2], *others]:
                stars, name, extents = re.fullmatch(r"(\**)\s*(\w+)\s*((?:\[[^\]]*\])*)", one).groups()
                out.append((name, spell(base + stars),
                            tuple(self.value(e) for e in re.findall(r"\[([^\]]*)\]", extents))))
        return tuple(out)

    def function(self, code):
        result, name, inner = re.fullmatch(r"(.*?)(\w+) ?\((.*)\)", code).groups()
        inner = "" if inner.strip() == "void" else inner
        return name, (spell(result), tuple(self.parameter(p) for p in split_commas(inner)))

    def take(self, header, code):
        code = re.sub(r"\b(?:extern|TUTTI_MUST_USE)\b", "", code).strip()
        if re.match(r"static inline ", code):
            head, body = re.fullmatch(r"static inline (.*?) ?\{(.*)\}", code).groups()
            name, (result, parameters) = self.function(head)
            behind = re.findall(r"\b(tutti_\w+) ?\(", body)
            self.inline[name] = (header, result, parameters, tuple(behind))
        elif enum := re.fullmatch(r"(?:typedef )?enum ?(\w*) ?\{(.*)\} ?(\w*)", code):
            values = self.values(enum[2])
            if enum[3]:
                self.enums[enum[3]] = values
        elif struct := re.fullmatch(r"typedef struct (\w+) ?\{(.*)\} ?\1", code):
            if struct[1] not in SKIP:
                self.structs[struct[1]] = self.fields(struct[2])
        elif opaque := re.fullmatch(r"typedef struct (\w+) \1", code):
            self.opaque.append(opaque[1])
        elif alias := re.fullmatch(r"typedef (\w+) (\w+)", code):
            self.aliases[alias[2]] = alias[1]
        elif code.startswith("typedef"):
            name, of = self.function(code.removeprefix("typedef "))
            self.callbacks[name] = of
        elif code.endswith(")"):
            name, (result, parameters) = self.function(code)
            self.functions[name] = (header, result, parameters)
        else:
            sys.exit(f"gen_python_api.py: {header}: what is this? {code[:200]}")


def table_text():
    t = Table()
    opaque = sorted(set(t.opaque) - set(t.structs) - SKIP)
    version = re.search(r'VERSION_STRING "(.*?)"', (TOP / "include/tutti/types.h").read_text())[1]

    def show(name, what, says):
        text = pprint.pformat(what, width=118, compact=True, sort_dicts=False)
        return f"\n# {says}\n{name} = {text}\n"

    return ('"""The public interface of Tutti as a table.\n\n'
            "Written by scripts/gen_python_api.py from include/tutti/*.h; do not edit.\n"
            'SPDX-License-Identifier: BSD-3-Clause"""\n\n'
            f'VERSION = "{version}"\n'
            + show("NUMBERS", t.numbers, "constants: macros and enumerations")
            + show("ENUMS", t.enums, "enumerations that are types: constant by constant")
            + show("ALIASES", t.aliases, "other names of integer types")
            + show("OPAQUE", opaque, "handles")
            + show("STRUCTS", t.structs, "structs: (field, type, extents)")
            + show("CALLBACKS", t.callbacks, "functions that the library calls: (result, ((type, name), ...))")
            + show("FUNCTIONS", t.functions, "functions: (header, result, ((type, name), ...))")
            + show("INLINE", t.inline, "inline functions of headers, and the functions behind them"))


def main():
    text = table_text()
    have = OUT.read_text(encoding="ascii") if OUT.exists() else ""
    if "--check" in sys.argv[1:]:
        if text != have:
            sys.exit(f"{OUT.relative_to(TOP)} is not what scripts/gen_python_api.py makes; run it")
    elif text != have:
        OUT.write_text(text, encoding="ascii")


main()
