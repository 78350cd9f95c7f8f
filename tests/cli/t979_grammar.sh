#!/bin/sh
# TEST ranks=0 timeout=120
# One grammar for all commands: each command in the output of `tutti help --json` is called with -h, --help, --version,
# an unknown and a misspelled option, missing and extra operands, a wrong number, options after operands and after --,
# a value for a flag, and a full standard output.  The help of a command lists its options in at most 80 columns.
# SPDX-License-Identifier: BSD-3-Clause
set -u
cd "$TUTTI_TEST_DIR" || exit 1
"$TUTTI_COMMAND" help --json >tables || exit 1
exec python3 - "$TUTTI_COMMAND" tables <<'END'
import json
import os
import subprocess
import sys

tutti, bad, calls = sys.argv[1], 0, 0
environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}


def call(words, out=subprocess.PIPE):
    global calls
    calls += 1
    return subprocess.run([tutti, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True, check=False,
                          env=environment)


def expect(code, text, words, out=subprocess.PIPE):
    """Check the exit status of a command and that its output contains a text."""
    global bad
    done = call(words, out)
    said = (done.stdout or "") + done.stderr
    if done.returncode != code or text not in said:
        print(f"tutti {' '.join(words)}: exit status {done.returncode} (expected {code}), without '{text}':\n{said}")
        bad = 1
    return said


for group in json.load(open(sys.argv[2], encoding="utf-8")):
    for command in group["commands"]:
        name = command["name"]
        words = name.split()[1:]
        operands = [o for o in command["operands"].split() if not o.startswith("[")]
        unlimited = "..." in command["operands"]
        optional = command["operands"].count("[")
        see = f"see '{name} --help'"
        given = ["bash" if words == ["completion"] else f"operand{i}" for i in range(len(operands))]
        mine = [o for o in group["options"] if not o["commands"] or words[-1] in o["commands"].split(", ")]
        for option in ("-h", "--help"):
            said = expect(0, f"Usage: ", [*words, option])
            if f"{name} [OPTION]..." not in said:
                print(f"{name} {option} has no usage: {said}")
                bad = 1
        for line in said.split("\n"):
            if len(line) > 80:
                print(f"{name} --help has a line of {len(line)} columns: {line}")
                bad = 1
        for option in mine:
            if f"--{option['name']}" not in said:
                print(f"{name} --help has no --{option['name']}")
                bad = 1
        expect(0, "tutti 0.", [*words, "--version"])
        expect(2, "unknown option '--nosuch'", [*words, "--nosuch"])
        expect(2, see, [*words, "--nosuch"])
        expect(2, "did you mean '--version'?", [*words, "--verison"])
        expect(2, "takes no value", [*words, "--version=3"])
        expect(2, "unknown option '-Z'", [*words, "-Z"])
        expect(2, "never|auto|always", [*words, "--color", "sometimes"])
        expect(2, "never|auto|always", [*words, "--progress", "sometimes"])
        if operands:
            expect(2, f"missing operand {operands[0]}", words)
        if not unlimited:
            expect(2, "extra operand 'more'", [*words, *given, *["more"] * (optional + 1)])
        if words != ["run"]:  # there the option belongs to the program
            expect(2, "unknown option '--nosuch'", [*words, *given, "--nosuch"])
        said = call([*words, "--", *given, "--nosuch"] if words != ["run"] else [*words, "--dry-run", "--", "true", "--nosuch"])
        if "unknown option" in said.stderr:
            print(f"{name}: -- does not end the options: {said.stderr}")
            bad = 1
        for option in mine:
            if option["argument"] in ("N", "BYTES", "X", "LEVEL", "SECONDS"):
                expect(2, f"--{option['name']} 'x': must be", [*words, f"--{option['name']}", "x"])
                expect(2, f"--{option['name']} 'x': must be", [*words, f"--{option['name']}=x"])
            if option["argument"]:
                expect(2, f"option '--{option['name']}' needs a value", [*words, *(given if words != ["run"] else []), f"--{option['name']}"])
        with open("/dev/full", "w", encoding="utf-8") as full:
            expect(1, "cannot write standard output: No space left on device", [*words, "--help"], full)
for words in ([], ["nosuch"], ["array"], ["mesh", "nosuch"], ["exodus", "dfif"], ["help", "nosuch"], ["--nosuch", "ls"]):
    expect(2, "see 'tutti", words)
expect(2, "did you mean 'diff'?", ["exodus", "dfif"])
expect(2, "did you mean 'verify'?", ["verfy"])
if calls < 400:
    print(f"only {calls} calls")
    bad = 1
sys.exit(bad)
END
