#!/usr/bin/env python3
"""gen_command_man.py TABLES TEMPLATE OUT   Write the manual page of a command: TEMPLATE with SYNOPSIS and OPTIONS.

TABLES is the output of `tutti help --json`.  A line  .\\" SYNOPSIS WORD...  of the template becomes the usage of commands, a line
.\\" OPTIONS WORD [without COMMAND]  the options of a group, except those of one command.  WORD is the name of a group, or of a command in a
group without a name.
SPDX-License-Identifier: BSD-3-Clause"""
import json
import re
import sys


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def group_of(groups, word):
    for group in groups:
        names = [group["name"]] if group["name"] else [c["name"].split()[-1] for c in group["commands"]]
        if word in names:
            return group
    raise SystemExit(f"gen_command_man.py: unknown group or command '{word}'")


def synopsis(group, word):
    lines = []
    for command in group["commands"]:
        if not group["name"] and command["name"].split()[-1] != word:
            continue
        parallel = "[\\fBmpirun \\-n\\fR \\fIN\\fR] " if command["parallel"] else ""
        operands = ("[\\fB\\-\\-\\fR] " if command["stops"] else "") + re.sub(r"\w+", lambda m: f"\\fI{m[0]}\\fR", command["operands"])
        lines.append(f"{parallel}\\fB{roff(command['name'])}\\fR [\\fIOPTION\\fR]... {operands}".rstrip())
    return "\n.br\n".join(lines)


def names_of(o):
    names = f"\\fB\\-{o['letter']}\\fR, " if o["letter"] else ""
    names += f"\\fB\\-\\-{roff(o['name'])}\\fR"
    if o["argument"]:
        names += " " + re.sub(r"[A-Z]+", lambda m: f"\\fI{m[0]}\\fR", roff(o["argument"]))
    return names


def text_of(o):
    commands = f"\\fB{o['commands']}\\fR: " if o["commands"] else ""
    default = f" (default: {roff(o['default'])})" if o["default"] else ""
    text = roff(o["help"])
    text = text if commands else text[0].upper() + text[1:]
    return f"{commands}{text}{default}."


def options(group, word, without=None):
    known = {c["name"].split()[-1] for c in group["commands"]}
    rows = [o for o in group["options"] if o["help"]]
    if group["library"]:
        rows.append({"letter": "", "name": "NAME", "argument": "VALUE", "default": "", "commands": "",
                     "help": "set an option of the library; see tutti-options(7)"})
    assert word in known or word == group["name"]
    entries = {}  # options with the same name share an entry
    for o in rows:
        of = [c for c in o["commands"].split(", ") if c != without]
        if of:
            entries.setdefault(names_of(o), []).append(text_of({**o, "commands": ", ".join(of)}))
    return "\n".join(f".TP\n{names}\n" + "\n.br\n".join(texts) for names, texts in entries.items())


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        groups = json.load(f)
    out = []
    with open(sys.argv[2], encoding="utf-8") as f:
        for line in f.read().splitlines():
            asked = re.fullmatch(r'\.\\" (SYNOPSIS|OPTIONS) (.*)', line)
            if not asked:
                out.append(line)
            elif asked[1] == "OPTIONS":
                word, *rest = asked[2].split(" without ")
                out.append(options(group_of(groups, word), word, *rest))
            else:
                out.append("\n.br\n".join(synopsis(group_of(groups, w), w) for w in asked[2].split()))
    with open(sys.argv[3], "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


main()
