"""tutti_headers: parse the declarations of the public headers, for generators of bindings.

The C preprocessor expands the tables (X macros) of include/tutti, with empty system headers, so that only Tutti's
declarations remain.  They are parsed by the patterns below.  A declaration that matches no pattern is an error, so that
new headers are never parsed in part.  header_comments parses the comments.
SPDX-License-Identifier: BSD-3-Clause"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

TOP = pathlib.Path(__file__).resolve().parent.parent
SYSTEM = ("limits.h", "stddef.h", "stdint.h", "mpi.h", "string.h")


@dataclass
class Variable:
    """A parameter or the field of a struct."""
    name: str
    base: str                    # type without const and stars: "tutti_file", "char", "tutti_progress_fn"
    stars: int = 0
    const: bool = False          # whether the type pointed to is const
    extent: int = 0              # number of elements of an array in a struct
    callback: bool = False       # whether the variable is a pointer to a function
    kind: str = ""               # normalized type: "const char*const*", "int(*)(void*, size_t)"


@dataclass
class Function:
    name: str
    header: str
    result: Variable
    parameters: list
    inline: bool = False
    calls: list = field(default_factory=list)    # the functions that an inline function calls


@dataclass
class Struct:
    name: str
    header: str
    fields: list = field(default_factory=list)   # empty for an opaque handle


def preprocess(*flags):
    with tempfile.TemporaryDirectory() as stubs:
        for name in SYSTEM:
            pathlib.Path(stubs, name).write_text("", encoding="ascii")
        source = "".join(f"#include <tutti/{p.name}>\n"
                         for p in sorted((TOP / "include/tutti").glob("*.h")))
        done = subprocess.run([*shlex.split(os.environ.get("CC") or "cc"), "-E", "-nostdinc", "-U__GNUC__",
                               f"-I{stubs}", f"-I{TOP}/include", *flags, "-x", "c", "-"],
                              input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"tutti_headers: {done.stderr}")
    return done.stdout


def declarations():
    """Yield (header, text) of every declaration, on one line, without the bodies of inline functions."""
    header, depth, text = "", 0, ""
    for line in preprocess().split("\n"):
        mark = re.match(r'# \d+ "(.*?)"', line)
        if mark:
            header = pathlib.Path(mark[1]).name
            continue
        for char in line:
            depth += (char == "{") - (char == "}")
            if depth == 0 and char in ";}" and (char == ";" or re.match(r"\s*static inline", text)):
                yield header, re.sub(r"\s+", " ", text).strip()
                text = ""
            else:
                text += char
        text += " "


def spell(kind):
    """Normalize a type: one space between words, no space before a star."""
    return re.sub(r"\s*\*\s*", "*", re.sub(r"\s+", " ", kind)).strip()


def variable(text):
    """Parse a declaration of one variable: "const char *name", "tutti_count shape[16]"."""
    callback = re.fullmatch(r"(.*?)\(\*(\w+)\)\s*\((.*)\)\s*", text)
    if callback:
        kinds = ", ".join(variable(p).kind for p in split(callback[3]))
        return Variable(callback[2], "void", 1, callback=True, kind=f"{spell(callback[1])}(*)({kinds})")
    found = re.fullmatch(r"\s*((?:const |unsigned |struct )*)(\w+)\s*((?:\*|const|\s)*)(\w*)\s*(?:\[(.*?)\])?\s*", text)
    if not found:
        sys.exit(f"tutti_headers: cannot parse '{text}'")
    words, base, stars, name, extent = found.groups()
    if base in ("const", "unsigned") or not name and not stars and words.strip() == "unsigned":
        sys.exit(f"tutti_headers: cannot parse '{text}'")
    if "unsigned" in words:
        base = f"unsigned {base}"
    pointers = stars.count("*") + (extent == "")
    return Variable(name, base, pointers, "const" in words, number(extent) if extent else 0,
                    kind=spell(f"{words} {found[2]} {stars}{'*' * (extent == '')}"))


def number(text):
    """Return the value of an integer constant expression without names."""
    if not re.fullmatch(r"[\s0-9()+*<-]+", text):
        sys.exit(f"tutti_headers: '{text}' is not a number")
    return int(eval(text))  # pylint: disable=eval-used


def split(text):
    """Split at commas outside parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [p.strip() for p in parts if p.strip()]


def fields_of(body):
    fields = []
    for line in body.split(";"):
        if not line.strip():
            continue
        first, *others = [line] if "(*" in line else split(line)
        fields.append(variable(first))
        kind = re.match(r"\s*((?:const |unsigned )*\w+)", first)[1]
        fields += [variable(f"{kind} {other}") for other in others]
    return fields


class Everything:
    """All that the headers declare."""

    def __init__(self):
        self.functions, self.structs, self.aliases = {}, {}, {}
        self.enums = {}                          # named enumerations: {constant: value}
        self.callbacks = {}                      # name: parameters of the void function
        self.constants = {}                      # name: (header, value), of enumerations and macros
        for header, text in declarations():
            self._take(header, text)
        macros = re.findall(r"^#define (TUTTI_[A-Z]\w*) \(?(-?\d+)\)?$", preprocess("-dM"), re.M)
        self.macros = {name: int(value) for name, value in sorted(macros)}
        for name, value in self.macros.items():
            header = next(p.name for p in sorted((TOP / "include/tutti").glob("*.h"))
                          if re.search(rf"define +{name}\b", p.read_text(encoding="ascii")))
            self.constants[name] = (header, value)

    def _take(self, header, text):
        alias = re.fullmatch(r"typedef (u?int\d+_t) (\w+)", text)
        enum = re.fullmatch(r"(?:typedef )?enum ?(\w*) ?\{(.*)\} ?(\w*)", text)
        struct = re.fullmatch(r"typedef struct (\w+) ?(?:\{(.*)\})? ?\w+", text)
        callback = re.fullmatch(r"typedef void (\w+_fn)\((.*)\)", text)
        function = re.match(r"(static inline )?(.*?)(\w+) ?\(([^{]*)\)(?: ?\{.*)?$", text)
        if alias:
            self.aliases[alias[2]] = alias[1]
        elif enum:
            value, values = -1, {}
            for row in split(enum[2]):
                name, _, given = row.partition("=")
                values[name.strip()] = value = number(given) if given else value + 1
            self.constants.update((name, (header, value)) for name, value in values.items())
            if enum[3]:
                self.enums[enum[3]] = values
        elif struct:
            known = self.structs.get(struct[1])
            if not known or struct[2]:
                self.structs[struct[1]] = Struct(struct[1], header, fields_of(struct[2] or ""))
        elif callback:
            self.callbacks[callback[1]] = [variable(p) for p in split(callback[2])]
        elif function:
            parameters = [] if function[4] == "void" else [variable(p) for p in split(function[4])]
            calls = re.findall(r"\b(tutti_\w+) ?\(", text.partition("{")[2])
            self.functions[function[3]] = Function(function[3], header, variable(function[2]), parameters,
                                                   bool(function[1]), calls)
        elif text:
            sys.exit(f"tutti_headers: cannot parse '{text}' in {header}")
