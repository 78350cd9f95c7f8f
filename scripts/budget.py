#!/usr/bin/env python3
"""budget.py [N]           print the N (default: 10) longest functions and files, and the shares of short functions
budget.py --check       print the shares below for src, mpiio and cli; exit with 1 if a limit is exceeded
budget.py --list DIR    print the functions of DIR that the shares count

The shares, of all functions of a directory:
  short     static functions of at most 8 lines with one caller
  one       static functions with one caller, of any length
  several   functions whose name is defined in more than one file
A function with one caller occurs once besides its definition and declarations, as a call.  Functions in
tables, functions whose address is taken or that a macro names, and variants under #if do not count.
A function starts in column 0 with a name and a parameter list and ends with } in column 0, as
clang-format leaves it; its length is counted from its name to its closing brace.
SPDX-License-Identifier: BSD-3-Clause"""
import collections
import pathlib
import re
import sys

top = pathlib.Path(__file__).resolve().parent.parent
count = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 10
LIMITS = {"short": 3.0, "one": 22.0, "several": 2.0, "p90": 40, "longest": 90, "parameters": 6, "file": 600}
HEAD = re.compile(r"^(?!(?:typedef|struct|enum|union|return|else|#)\b)[A-Za-z_][^;={}#\\]*?"
                  r"\b(?!__attribute__)(\w+)\(([^;{}#\\]*)\)(?:\s*TUTTI_\w+(?:\([^)]*\))?)*\s*\{", re.M)
PARAGRAPH = 8  # maximum lines of a short function
COMMENT_OR_TEXT = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
MACRO = re.compile(r"^[ \t]*#[ \t]*define\b(?:[^\n]*\\\n)*[^\n]*", re.M)


def one_caller(path, longest=PARAGRAPH):
    """Yield the names of the static functions of a file with one caller and at most `longest` lines."""
    text = COMMENT_OR_TEXT.sub(lambda m: "\n" * m[0].count("\n") or " ",
                               path.read_text(encoding="utf-8"))
    macros = " ".join(MACRO.findall(text))
    for lines, _, _, name in functions(path):
        word = rf"\b{name}\b"
        heads = re.findall(rf"^static\b[^;={{}}]*?{word}\([^;{{}}]*\)[^;{{}}]*([;{{])", text, re.M)
        if lines > longest or heads.count("{") != 1 or re.search(word, macros):
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
    """Split a parameter list at commas outside brackets."""
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
    """Print the shares by top directory (src: also by module), and the files with most short functions."""
    functions_in, once_in, worst = collections.Counter(), collections.Counter(), []
    for path in sorted(p for f in folders for p in (top / f).rglob("*.c")):
        once, parts = list(one_caller(path)), path.relative_to(top).parts
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


def names_in_several_files(paths):
    """Return {name: files} of the functions that several files define."""
    places = collections.defaultdict(list)
    for path in paths:
        for _, _, place, name in functions(path):
            places[name].append(place)
    return {name: at for name, at in places.items() if len({p.split(":")[0] for p in at}) > 1}


def measure(folder):
    """Return the values that LIMITS limits, for one directory."""
    paths = sorted((top / folder).rglob("*.c"))
    found = [f for p in paths for f in functions(p)]
    lengths = sorted(f[0] for f in found)
    share = 100 / len(found)
    return {"short": share * sum(len(list(one_caller(p))) for p in paths),
            "one": share * sum(len(list(one_caller(p, 1 << 30))) for p in paths),
            "several": share * sum(map(len, names_in_several_files(paths).values())),
            "p90": lengths[len(lengths) * 9 // 10],
            "longest": lengths[-1],
            "parameters": max(f[1] for f in found),
            "file": max(p.read_bytes().count(b"\n") for p in paths)}


def check(folders):
    """Print a table; return whether a limit is exceeded."""
    exceeded = False
    print(f"{'':8}" + "".join(f"{k:>12}" for k in LIMITS))
    for folder in folders:
        figures = measure(folder)
        over = {k for k in LIMITS if figures[k] > LIMITS[k]}
        exceeded |= bool(over)
        print(f"{folder:8}" + "".join(f"{figures[k]:11.4g}{'!' if k in over else ' '}" for k in LIMITS))
    print(f"{'limit':8}" + "".join(f"{v:11.4g} " for v in LIMITS.values()))
    return exceeded


def list_counted(folder):
    paths = sorted((top / folder).rglob("*.c"))
    for path in paths:
        short = set(one_caller(path))
        for name in one_caller(path, 1 << 30):
            print(f"{'short' if name in short else 'one':8}{path.relative_to(top)}  {name}")
    for name, at in sorted(names_in_several_files(paths).items()):
        print(f"several {name}: {', '.join(at)}")


if "--check" in sys.argv:
    sys.exit(check(["src", "mpiio", "cli"]))
if "--list" in sys.argv:
    list_counted(sys.argv[-1])
    sys.exit()
report(["src", "mpiio", "cli"], "libraries and command")
report(["tests", "experiments", "examples"], "tests, experiments, examples")
report_paragraphs(["src", "mpiio", "cli", "tests", "experiments", "examples"])
