#!/bin/sh
# TEST ranks=0 timeout=60
# clang-format 14 does not change the sources.
# SPDX-License-Identifier: BSD-3-Clause
cd "$(dirname "$0")/../.." || exit 1
if ! command -v clang-format >/dev/null; then
    echo "clang-format is not installed (Debian: apt-get install clang-format)"
    exit 77
fi
if ! clang-format --version | grep -q 'version 14\.'; then
    echo "the sources are formatted by clang-format 14; here is $(clang-format --version)"
    exit 77
fi
# Format all files with one process per core, since one process per file would be slower.
out=$(scripts/sources.sh | xargs -P "$(nproc)" -n 40 clang-format --dry-run --Werror 2>&1) || {
    echo "not as clang-format leaves them (make format):"
    echo "$out" | grep -o '^[^ :]*:[0-9]*' | sort -u | grep . || echo "$out"
    exit 1
}
