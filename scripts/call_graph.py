#!/usr/bin/env python3
"""call_graph.py [write|cached|start|independent] [--list] [--check]   Print the functions that one call of the library enters.

Builds the library without optimisation and with every function reporting its entry (build/call_graph), runs
experiments/programs/call_graph.c on 4 ranks of Open MPI, and prints the number of functions that rank 0 entered during the chosen
call: per module, and the depth of the stack.  It also prints the calls from a module into a later one.  Only one is allowed: the idle
hook, by which a waiting rank advances other operations.  --list prints the functions in order of their first call.  --check fails if a
first write enters more than MOST functions, or if a call other than the hook enters a later module.
SPDX-License-Identifier: BSD-3-Clause"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys

from check_layers import MODULES

top = pathlib.Path(__file__).resolve().parent.parent
build = top / "build" / "call_graph"
ENGINE = ["file", "direct", "twophase", "engine", "collective"]
SHOWN = "--list" in sys.argv
MOST = {"engine": 88, "all": 330}  # maximum numbers of functions, including those that only some runs enter while waiting
HOOK = "comm/wait.c -> collective/request.c: requests_progress"


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def make():
    run("cmake", "-S", str(top), "-B", str(build), "-DTUTTI_MPI=openmpi", "-DTUTTI_CALL_GRAPH=ON",
        "-DTUTTI_WERROR=OFF", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", *(["-GNinja"] if shutil.which("ninja") else []))
    subprocess.run(["cmake", "--build", str(build), "--target", "experiments.call_graph"], check=True,
                   stdout=subprocess.DEVNULL)
    return build / "experiments" / "call_graph"


def inline_functions():
    """Return {function: module/header, or None for a public header} of inline functions, which addr2line may report in any file."""
    found = {}
    for path in sorted((top / "include").rglob("*.h")):
        found.update(dict.fromkeys(re.findall(r"^static inline [^(;]*?\b(\w+)\(", path.read_text(), re.M)))
    for path in sorted((top / "src").rglob("*.h")):
        for name in re.findall(r"^static inline [^(;]*?\b(\w+)\(", path.read_text(), re.M):
            found[name] = str(path.relative_to(top / "src"))
    return found


def places(program, addresses):
    """Return {address: (function, module/file)}."""
    inline = inline_functions()
    text = run("addr2line", "-f", "-e", str(program), input="\n".join(addresses))
    lines = text.splitlines()
    found = {}
    for address, name, place in zip(addresses, lines[::2], lines[1::2]):
        path = pathlib.Path(place.split(":")[0]).resolve()
        inside = path.is_relative_to(top / "src")
        place = str(path.relative_to(top / "src")) if inside else None
        found[address] = (name, inline.get(name, place))
    return found


def main():
    what = ([a for a in sys.argv[1:] if not a.startswith("-")] or ["write"])[0]
    program = make()
    out = run(str(top / "scripts" / "mpirun.sh"), "openmpi", "4", str(program), what,
              str(build / "call_graph.dat"))
    events = [line.split() for line in out.splitlines() if line[:2] in ("> ", "< ")]
    where = places(program, sorted({e[1] for e in events}))
    seen, stack, depth, up = {}, [], 0, collections.Counter()
    for kind, address in events:
        name, place = where[address]
        if kind == "<":
            if stack:
                stack.pop()
            continue
        stack.append((name, place))
        depth = max(depth, len(stack))
        if not place:
            continue
        seen.setdefault((place, name), len(seen))
        caller = next((p for n, p in reversed(stack[:-1]) if p), None)
        if caller and MODULES.index(place.split("/")[0]) > MODULES.index(caller.split("/")[0]):
            up[f"{caller} -> {place}: {name}"] += 1
    modules = collections.Counter(place.split("/")[0] for place, _ in seen)
    engine = sum(modules[r] for r in ENGINE)
    print(f"{what}: {len(seen)} functions in {len({p for p, _ in seen})} files, depth {depth}; "
          f"{engine} of them in {', '.join(ENGINE)}")
    print("  " + ", ".join(f"{r} {modules[r]}" for r in MODULES if modules[r]))
    for call, n in up.items():
        print(f"  into a later module, {n} times: {call}")
    if SHOWN:
        last = None
        for (place, name), _ in sorted(seen.items(), key=lambda item: item[1]):
            if place != last:
                print(f"  {place}")
            last = place
            print(f"      {name}")
    if "--check" in sys.argv and what == "write":
        wrong = [call for call in up if call != HOOK]
        if engine > MOST["engine"]:
            sys.exit(f"call_graph.py: the first write enters {engine} functions of {', '.join(ENGINE)}: at most {MOST['engine']} are allowed")
        if len(seen) > MOST["all"]:
            sys.exit(f"call_graph.py: the first write enters {len(seen)} functions: at most {MOST['all']} are allowed")
        if wrong:
            sys.exit(f"call_graph.py: calls into a later module: {', '.join(wrong)}; only the idle hook may do this")


main()
