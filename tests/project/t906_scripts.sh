#!/bin/sh
# TEST ranks=0 timeout=60
# All shell scripts pass shellcheck, and Python compiles all Python scripts, including the
# recipe for Spack.
# SPDX-License-Identifier: BSD-3-Clause
cd "$(dirname "$0")/../.." || exit 1
find . \( -path ./build -o -path ./.git \) -prune -o -name '*.py' -print | python3 -c '
import ast, sys
for name in sys.stdin.read().split("\n")[:-1]:
    ast.parse(open(name).read(), name)' || exit 1
if ! command -v shellcheck >/dev/null; then
    echo "shellcheck is not installed (Debian: apt-get install shellcheck)"
    exit 77
fi
find . \( -path ./build -o -path ./.git \) -prune -o \( -name '*.sh' -o -path ./.ci/run \) -print0 |
    xargs -0 -P "$(nproc)" -n 8 shellcheck -x
