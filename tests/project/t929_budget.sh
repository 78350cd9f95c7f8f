#!/bin/sh
# TEST ranks=0 timeout=60
# Lengths of functions and shares of functions with one caller are within the limits of scripts/budget.py, and the script
# refuses a function with seven parameters.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
python3 "$top/scripts/budget.py" --check
cd "$TUTTI_TEST_DIR"
mkdir -p scripts src/base mpiio cli
cp "$top/scripts/budget.py" scripts
for directory in src/base mpiio cli; do
    printf 'int first(int a) {\n    return a;\n}\nint second(int a) {\n    return a;\n}\n' > $directory/a.c
done
python3 scripts/budget.py --check > correct.txt || { cat correct.txt; exit 1; }
printf 'int third(int a, int b, int c, int d, int e, int f, int g) {\n    return a + b + c + d + e + f + g;\n}\n' >> src/base/a.c
if python3 scripts/budget.py --check > wrong.txt; then
    echo "seven parameters are accepted"
    exit 1
fi
