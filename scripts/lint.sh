#!/bin/sh
# lint.sh BUILD_DIR   run all checks that need no running program, in sequence; prints the failed checks.
# SPDX-License-Identifier: BSD-3-Clause
set -u
build=$1
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
export TUTTI_BUILD_DIR="$top/$build"
export TUTTI_TEST_DIR="$TUTTI_BUILD_DIR/lint"
failed=

# check NAME command...: run a command; record NAME if it fails
check() {
    name=$1
    shift
    printf '%-14s' "$name"
    if out=$("$@" 2>&1); then
        echo ok
    else
        echo "FAILED"
        echo "$out"
        failed="$failed $name"
    fi
}

for test in layers headers symbols format cppcheck clang scripts man api_man words; do
    check "$test" sh tests/project/t9??_$test.sh
done
check docs python3 scripts/check_docs.py # t920_readme.sh runs the programs of the README too
check words python3 scripts/check_words.py
check clang-tidy python3 scripts/check_clang.py "$build" clang-tidy
check budget python3 scripts/budget.py --check
python3 scripts/budget.py
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
