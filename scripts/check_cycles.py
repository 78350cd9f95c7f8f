#!/usr/bin/env python3
"""check_cycles.py BUILD: checks the symbols that the objects of a build define and need.

  - a file of src/MODULE needs symbols of its own module and of modules before it only (calls of later
    modules by function pointers, such as the idle hook, are not seen; check_layers.py checks includes)
  - the files of a module form no cycle: there is an order in which they can be read; the same holds
    for the files of mpiio/ and of cli/
  - no private name (tutti__...) is defined in two files, nor a struct of that name in two headers

With --graph it prints the files of every module in that order, each with the files of its module that it uses.
SPDX-License-Identifier: BSD-3-Clause"""
import collections
import pathlib
import re
import subprocess
import sys

from check_layers import MODULES

top = pathlib.Path(__file__).resolve().parent.parent
wrong = []


def objects(build, target, tree):
    """Return {file of the tree: (symbols it defines, symbols it needs)}."""
    folder = build / "CMakeFiles" / f"{target}.dir" / tree
    found = {}
    for path in sorted(folder.rglob("*.o")):
        source = path.relative_to(folder).with_suffix("")
        if not (top / tree / source).is_file():
            continue  # the source of this object has been removed
        defined, needed = set(), set()
        for line in subprocess.run(["nm", "-P", str(path)], check=True, capture_output=True,
                                   text=True).stdout.splitlines():
            name, kind = line.split()[:2]
            if kind == "U":
                needed.add(name)
            elif kind.isupper():
                defined.add(name)
        found[str(source)] = (defined, needed)
    return found


def graph_of(found):
    home = {}
    for source, (defined, _) in found.items():
        for name in defined:
            if name in home and name.startswith("tutti"):
                wrong.append(f"{name} is defined in {home[name]} and in {source}")
            home[name] = source
    return {source: {home[n]: n for n in sorted(needed) if n in home and home[n] != source}
            for source, (_, needed) in found.items()}


def components(graph):
    """Return the strongly connected components; components that others need come first (Tarjan)."""
    index, low, stack, out = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(graph[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while not part or part[-1] != v:
                part.append(stack.pop())
            out.append(sorted(part))

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return out


def check_modules(graph):
    for source, needs in graph.items():
        module = source.split("/")[0]
        for other, name in needs.items():
            below = other.split("/")[0]
            if MODULES.index(below) > MODULES.index(module):
                wrong.append(f"src/{source} needs {name} of src/{other}: '{below}' is below '{module}'")


def check_cycles(graph):
    for part in components(graph):
        if len(part) == 1:
            continue
        wrong.append("cyclic dependency: " + ", ".join(part))
        for source in part:
            for other, name in graph[source].items():
                if other in part:
                    wrong.append(f"    {source} needs {name} of {other}")


def check_structs():
    """Report private structs defined in several headers, which could not be included together."""
    seen = collections.defaultdict(set)
    for path in sorted((top / "src").rglob("*.h")):
        for name in re.findall(r"^(?:typedef )?struct (tutti__\w+) \{", path.read_text(), re.M):
            seen[name].add(str(path.relative_to(top)))
        for name in re.findall(r"^\} (tutti__\w+);", path.read_text(), re.M):
            seen[name].add(str(path.relative_to(top)))
    for name, paths in seen.items():
        if len(paths) > 1:
            wrong.append(f"{name} is defined in {' and '.join(sorted(paths))}")


def main():
    build = pathlib.Path(sys.argv[-1])
    found = objects(build, "tutti_objects", "src")
    if not found:
        sys.exit(f"{sys.argv[-1]} has no objects of the library: build it first")
    graph = graph_of(found)
    if "--graph" in sys.argv:
        for part in components(graph):
            module = part[0].split("/")[0]
            for source in part:
                mine = sorted(o.split("/")[1] for o in graph[source] if o.startswith(module + "/"))
                print(f"{source:40}  {' '.join(mine)}")
    check_modules(graph)
    check_cycles(graph)
    check_cycles(graph_of(objects(build, "tutti_mpiio", "mpiio")))
    check_cycles(graph_of(objects(build, "tutti_measuring", "cli") | objects(build, "tutti_command", "cli")))
    check_structs()
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


main()
