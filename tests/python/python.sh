# shellcheck shell=sh disable=SC2154,SC2034 # needs; top
# Sourced by the scripts of this directory, after needs="MODULE[:PACKAGE] ...": set `python` to an interpreter with these
# modules, or skip the test and print the Debian packages of the missing modules (default: python3-MODULE).
# SPDX-License-Identifier: BSD-3-Clause
top=$(cd "$(dirname "$0")/../.." && pwd)
export PYTHONPATH="$TUTTI_BUILD_DIR/python" PYTHONDONTWRITEBYTECODE=1
for python in /usr/bin/python3 python3; do
    missing=
    for need in $needs; do
        module=${need%%:*} package=${need#*:}
        [ "$package" != "$need" ] || package=python3-$module
        $python -c "import $module" 2>/dev/null || missing="$missing $package"
    done
    [ -n "$missing" ] || break
done
if [ -n "$missing" ]; then
    echo "skipped, because these packages are not installed:$missing"
    exit 77
fi
